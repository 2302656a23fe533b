/*
 * Command_access: the commands that change access records (http-api.md 3, 17.3, 18, 19), and the
 * one that writes the audit log. A part of command.h.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/unpack.h"
#include "store/store_access.h"

struct command;
struct command_limits;

/* What must hold for the change to happen. The numbers are on the wire. */
enum command_access_rule {
    COMMAND_ACCESS_ANY,
    COMMAND_ACCESS_NEW,   /* the record must not exist, else ERR_CONFLICT */
    COMMAND_ACCESS_THERE, /* the record must exist, else ERR_NOT_FOUND */
    /* The record must not have changed since its author read it, else ERR_CONFLICT. Only if all
     * members can read version 18 of entries. */
    COMMAND_ACCESS_SAME,
};

/* A record to write or delete. The machine stores the body unchanged, but adds an id to a new
 * budget. Its author defines the format. */
struct command_access_item {
    char kind; /* STORE_ACCESS_… */
    enum command_access_rule rule;
    uint64_t seen; /* COMMAND_ACCESS_SAME: what was read (command_access_seen) */
    bool deletes;
    struct str name;
    struct str body;
};

/* Either all changes are made or, if a rule is violated, none. */
struct command_access {
    struct command_access_item *items;
    size_t count;
};

struct command_audit {
    int64_t retention_ms; /* older entries are removed; 0: no limit by age */
    struct store_audit *items;
    size_t count;
};

/* A number for the body of a record that was read. */
uint64_t command_access_seen(struct str body);

/* For command.c and command_check.c. */
void command_access__encode(const struct command *c, struct buf *out);
void command_access__decode(struct unpack *u, struct arena *a, struct command *c);
void command_access__encode_audit(const struct command *c, struct buf *out);
void command_access__decode_audit(struct unpack *u, struct arena *a, struct command *c);
enum err_code command_access__check(const struct command *c, const struct command_limits *limits,
                                    struct err *err);
/* Check one record that is to be written. */
enum err_code command_access__check_record(char kind, struct str name, struct str body,
                                           struct err *err);
enum err_code command_access__check_audit(const struct command *c,
                                          const struct command_limits *limits, struct err *err);
