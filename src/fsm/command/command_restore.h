/*
 * Command_restore: restores a part of a backup (http-api.md 20.4).
 *
 * Restored items keep their ids, states, counters and times. Existing items are not changed, except
 * that queues get the settings of the backup and sums of usage are raised. So the same part can be
 * restored twice. A job comes before its rows.
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
#include "store/store_tally.h"

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
    COMMAND_RESTORE_TALLY,
    COMMAND_RESTORE_KIND_LAST = COMMAND_RESTORE_TALLY
};

/* Added to the kind on the wire. */
enum { COMMAND_RESTORE_SUMMED = 0x20, COMMAND_RESTORE_ANY_ID = 0x40 };

struct command_restore_item {
    enum command_restore_kind kind;
    bool any_id;  /* schedule, batch, job, policy: restore it even if the time in its id is in the
                     future */
    bool summed;  /* usage: the sums of the backup contain it. Written, as tallies are, only if all
                     members can read version 16 of entries */
    struct id id; /* of the schedule, batch, policy or job; of a row: its job */
    struct str name; /* of the queue or budget record; of a webhook: its id; of a tally: its key */
    uint32_t place;  /* position of a row among those of its kind, from 0 */
    struct wall unique_until; /* job: it holds its unique key until then; 0: it does not */
    union {
        struct store_queue queue; /* settings, created_at, failures; the rest is counted again */
        struct store_schedule schedule;
        struct store_batch batch;
        /* The rows that it counts follow. order and version are assigned again. */
        struct job job;
        struct store_error error;
        struct store_iteration iteration;
        struct store_usage usage;
        struct store_webhook webhook; /* starts after the newest event */
        struct store_policy policy;
        struct store_access_frame budget;
        struct store_tally tally; /* raises what is stored, member by member */
    };
};

struct command_restore {
    struct command_restore_item *items;
    size_t count;
};

/* The highest value of a restored lease token or counter. It continues to grow, and must still fit
 * into a JSON number and into the next restore. */
#define COMMAND_RESTORE_COUNTER_MAX (UINT64_C(1) << 52)

/* For command_check.c: the name of a counter above this limit; NULL if there is none. */
const char *command_restore__large_counter(const struct command_restore_item *it);

/* For command.c. */
void command_restore__encode(const struct command_restore *r, struct buf *out);
void command_restore__decode(struct unpack *u, struct arena *a, struct command_restore *r);
