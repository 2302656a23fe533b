/*
 * Command_push: jobs that the server delivers itself, and jobs with names chosen by clients
 * (scheduler.md 21.4). A part of command.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/unpack.h"
#include "core/job.h"
#include "store/store_rows.h"

struct command;
struct command_new;

/* One line: the jobs of a queue and priority that are delivered to one host. */
struct command_push_line {
    struct str queue;
    struct str host;
    uint8_t priority;
    uint32_t count; /* maximum number of jobs */
};

/* Claims jobs for delivery: they become active, with a lease held by this node. A node calls a
 * target only after this command has been applied. */
struct command_push_claim {
    struct str node;
    int64_t lease_ms; /* minimum; longer if the job's call may take longer */
    struct command_push_line *lines;
    size_t count;
};

/* How a call ended. */
struct command_push_end {
    struct id id;
    uint64_t lease_token;
    enum job_outcome outcome; /* none: nothing was called, only the run is closed */
    enum store_try_error error_type;
    uint32_t http_status;
    uint32_t answer_ms;
    struct wall started_at, ended_at;
    int64_t retry_after_ms; /* requested by the target; 0: none */
    struct wall next;       /* recurring: next run, computed by the leader; 0: none */
    struct str error;
    struct str result; /* JSON; empty: none */
};

struct command_push_finish {
    int64_t keep_ms; /* older attempts are removed */
    struct command_push_end *items;
    size_t count;
};

/* From this version of named_put on, the job has no name, and the machine assigns one. */
enum { COMMAND_PUSH_GIVES_NAME = 2 };

/* Create a job with a name, unless the name is in use or the queue has reached its capacity. A job
 * without a name gets the name derived from its id (base/id_uuid.h). */
struct command_named_put {
    struct command_new *job; /* one job; definition and counted_bytes are set even without a name */
    uint64_t bytes_max, count_max;
};

/* Remove named jobs that ended longer ago than this. */
struct command_named_purge {
    int64_t retention_ms;
    struct id cursor; /* where the last step stopped */
};

/* For command_check.c. An empty target means that the job has none. */
struct command_limits;
/* is_target: the target has already been checked; do not check it again. */
ATTR_NODISCARD enum err_code command_push__check_target(struct str json, bool is_target,
                                                        struct err *err);
ATTR_NODISCARD enum err_code command_push__check_claim(const struct command *c,
                                                       const struct command_limits *limits,
                                                       struct err *err);
ATTR_NODISCARD enum err_code command_push__check_finish(const struct command *c,
                                                        const struct command_limits *limits,
                                                        struct err *err);
ATTR_NODISCARD enum err_code command_push__check_put(const struct command *c,
                                                     const struct command_limits *limits,
                                                     struct err *err);

/* For command.c. */
void command_push__encode_claim(const struct command *c, struct buf *out);
void command_push__decode_claim(struct unpack *u, struct arena *a, struct command *c);
void command_push__encode_finish(const struct command *c, struct buf *out);
void command_push__decode_finish(struct unpack *u, struct arena *a, struct command *c);
void command_push__encode_put(const struct command *c, struct buf *out);
void command_push__decode_put(struct unpack *u, struct arena *a, struct command *c);
void command_push__encode_purge(const struct command *c, struct buf *out);
void command_push__decode_purge(struct unpack *u, struct arena *a, struct command *c);
