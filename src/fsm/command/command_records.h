/*
 * Command_records: the commands that change schedules and webhooks, which are records created by
 * clients. A part of command.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/pack.h"
#include "store/store_record.h"

/* Idempotency key: a repetition within a day gets the first response; empty: none. */
struct command_once {
    struct str key;
    uint64_t hash; /* of the request body: a repetition must have the same */
};

struct command_schedule_put {
    struct id id;                    /* none: create */
    struct wall expected_updated_at; /* of the record that is changed; 0 for a new one */
    struct store_schedule schedule;  /* the machine sets created_at, updated_at, last_run */
};

struct command_schedule_delete {
    struct id id;
};

struct command_schedule_fire {
    struct id id;
    bool manual;               /* run once now, without changing the next run */
    struct wall expected_next; /* the due time of this run */
    struct wall next;          /* the one after, computed by the leader */
    struct command_once once;  /* of a manual run */
};

/* Create or replace. */
struct command_webhook_put {
    struct str id;    /* internal name; empty: the machine creates one in the webhook's namespace */
    bool keep_secret; /* keep the existing secret and ignore the one in this record */
    /* The machine sets created_at, the position and the result of the last delivery. */
    struct store_webhook webhook;
};

struct command_webhook_delete {
    struct str id;
};

struct command_webhook_mark_item {
    struct str id;
    struct wall created_at; /* identifies the webhook: a later one with this id is not changed */
    uint64_t position;      /* never decreases */
    bool attempted;         /* the next three are set */
    uint32_t status;
    struct str error;
    struct wall at;
};

struct command_webhook_mark {
    struct command_webhook_mark_item *items;
    size_t count;
};

/* command_webhook.c */
struct command;
void command_schedule__encode_put(const struct command *c, struct buf *out);
void command_schedule__decode_put(struct unpack *u, struct arena *a, struct command *c);
void command_schedule__encode_delete(const struct command *c, struct buf *out);
void command_schedule__decode_delete(struct unpack *u, struct arena *a, struct command *c);
void command_schedule__encode_fire(const struct command *c, struct buf *out);
void command_schedule__decode_fire(struct unpack *u, struct arena *a, struct command *c);
void command_webhook__encode_put(const struct command *c, struct buf *out);
void command_webhook__decode_put(struct unpack *u, struct arena *a, struct command *c);
void command_webhook__encode_delete(const struct command *c, struct buf *out);
void command_webhook__decode_delete(struct unpack *u, struct arena *a, struct command *c);
void command_webhook__encode_mark(const struct command *c, struct buf *out);
void command_webhook__decode_mark(struct unpack *u, struct arena *a, struct command *c);
