/*
 * Command_restore: restores a part of a backup (http-api.md 20.4).
 *
 * Restored items keep their ids, states, counters and times. Existing items are not changed, so the
 * same part can be restored twice. A job comes before its rows.
 *
 * The time in an id can be in the future, because the clock was wrong where the id was created or
 * the clock here is behind. Such items are skipped, unless any_id is set; old logs do not set it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/unpack.h"
#include "core/job.h"
#include "store/store_access.h"
#include "store/store_record.h"
#include "store/store_rows.h"

/* The numbers are on the wire. */
enum command_restore_kind {
    COMMAND_RESTORE_QUEUE = 1,
    COMMAND_RESTORE_SCHEDULE,
    COMMAND_RESTORE_BATCH,
    COMMAND_RESTORE_JOB,
    COMMAND_RESTORE_ERROR,
    COMMAND_RESTORE_ITERATION,
    COMMAND_RESTORE_USAGE,
    COMMAND_RESTORE_WEBHOOK,
    COMMAND_RESTORE_POLICY,
    COMMAND_RESTORE_BUDGET,
    COMMAND_RESTORE_KIND_LAST = COMMAND_RESTORE_BUDGET
};

/* Beside the kind, on the wire. */
enum { COMMAND_RESTORE_ANY_ID = 0x40 };

struct command_restore_item {
    enum command_restore_kind kind;
    bool any_id;              /* schedule, batch, job and policy: whatever time is in its id */
    struct id id;             /* of the schedule, batch, policy or job; rows: of their job */
    struct str name;          /* of the queue; of the webhook its id; of the budget's record */
    uint32_t place;           /* of a row among those of its kind, from 0 */
    struct wall unique_until; /* job: it holds its unique key so long; 0: it does not */
    union {
        struct store_queue queue; /* settings, creation and failures; the rest is counted */
        struct store_schedule schedule;
        struct store_batch batch;
        /* Its counts of rows are those that follow; order and version are not kept. */
        struct job job;
        struct store_error error;
        struct store_iteration iteration;
        struct store_usage usage;
        struct store_webhook webhook; /* begins behind the newest event */
        struct store_policy policy;
        struct store_access_frame budget;
    };
};

struct command_restore {
    struct command_restore_item *items;
    size_t count;
};

/* The highest value that a restored lease token or counter may have. Counting goes on from there,
 * and what it comes to must fit a number of JSON and the next restore. */
#define COMMAND_RESTORE_COUNTER_MAX (UINT64_C(1) << 52)

/* For command_check.c: the counter that is above it; NULL: none. */
const char *command_restore__large_counter(const struct command_restore_item *it);

/* For command.c. */
void command_restore__encode(const struct command_restore *r, struct buf *out);
void command_restore__decode(struct unpack *u, struct arena *a, struct command_restore *r);
