/*
 * Command_queue: operators' actions on a queue, as commands (http-api.md 12): pause, limits, clear
 * and delete. Clear and delete happen immediately or as a bulk operation in the background.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/str.h"
#include "base/unpack.h"

/* The numbers are on the wire. */
enum command_queue_action {
    COMMAND_QUEUE_PAUSE = 1,
    COMMAND_QUEUE_RESUME,
    COMMAND_QUEUE_CONCURRENCY,
    COMMAND_QUEUE_THROTTLE,
    COMMAND_QUEUE_UNTHROTTLE,
    COMMAND_QUEUE_CLEAR,
    COMMAND_QUEUE_DELETE,
    COMMAND_QUEUE_ACTION_LAST = COMMAND_QUEUE_DELETE
};

struct command_queue {
    enum command_queue_action action;
    struct str name;
    uint32_t max;  /* concurrency; 0 removes the limit */
    uint32_t rate; /* throttle */
    int64_t window_ms;
    /* Clear and delete work in steps: the result of a step tells where the next one starts. */
    struct id cursor;
    struct id until; /* only jobs with smaller ids; none: the jobs that exist now */
    bool in_done;    /* the cursor is in the family of finished jobs */
    /* not encoded: */
    bool small_step;    /* LIMIT_BULK_QUEUE_JOBS instead of LIMIT_TICK_JOBS */
    uint32_t steps_max; /* maximum number of steps; 0: until the end */
};

/* Clear or delete a queue as a bulk operation. Can continue where a COMMAND_QUEUE stopped. */
struct command_bulk_queue {
    enum command_queue_action action; /* COMMAND_QUEUE_CLEAR or COMMAND_QUEUE_DELETE */
    struct str name;
    struct str ns; /* of the caller, who may read its progress */
    struct id cursor;
    struct id until; /* none: nothing has been done yet */
    bool in_done;
};

/* For command.c. */
void command_queue__encode(const struct command_queue *q, struct buf *out);
void command_queue__decode(struct unpack *u, struct command_queue *q);
void command_queue__encode_bulk(const struct command_bulk_queue *b, struct buf *out);
void command_queue__decode_bulk(struct unpack *u, struct command_bulk_queue *b);
