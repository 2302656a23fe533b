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
    /* Clearing and deleting go in steps: the answer to one says where the next goes on. */
    struct id cursor;
    struct id until; /* only jobs with ids below; none: those that exist now */
    bool in_done;    /* the cursor is among the jobs that are over */
    /* not part of the bytes */
    bool small_step;    /* LIMIT_BULK_QUEUE_JOBS instead of LIMIT_TICK_JOBS */
    uint32_t steps_max; /* then the answer says where to go on; 0: to the end */
};

/* Clear or delete a queue as a bulk operation. What a COMMAND_QUEUE has begun goes on where that
 * stopped. */
struct command_bulk_queue {
    enum command_queue_action action; /* COMMAND_QUEUE_CLEAR or COMMAND_QUEUE_DELETE */
    struct str name;
    struct str ns; /* of the caller, who may ask how far it is */
    struct id cursor;
    struct id until; /* none: nothing has begun */
    bool in_done;
};

/* For command.c. */
void command_queue__encode(const struct command_queue *q, struct buf *out);
void command_queue__decode(struct unpack *u, struct command_queue *q);
void command_queue__encode_bulk(const struct command_bulk_queue *b, struct buf *out);
void command_queue__decode_bulk(struct unpack *u, struct command_bulk_queue *b);
