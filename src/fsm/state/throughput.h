/*
 * Throughput: how many jobs were processed, per minute and since the start.
 *
 * Counts applied commands at the time of the entry, so that nodes that have applied the same
 * entries report the same numbers. In memory only: a newly opened machine starts with zeros and
 * counts what it applies. The totals leave out entries that were in the log when the process
 * started: how many of them are applied again depends on how the last process ended, and a counter
 * that starts with them looks like a burst of jobs. No decision depends on any of this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_event.h"

enum throughput_kind {
    THROUGHPUT_ENQUEUED,  /* jobs created in any way */
    THROUGHPUT_COMPLETED, /* jobs completed */
    THROUGHPUT_FAILED,    /* attempts that failed or timed out */
    THROUGHPUT_PROMOTED,
    THROUGHPUT_RECLAIMED,
    THROUGHPUT_EXPIRED,
    THROUGHPUT_PURGED,
    THROUGHPUT_KIND_COUNT
};

enum { THROUGHPUT_MINUTES = 60 };

struct throughput_minute {
    int64_t number; /* minutes since 1970 */
    uint64_t count[THROUGHPUT_KIND_COUNT];
};

/* Starts zeroed. A plain value: copy it to read it later. */
struct throughput {
    struct {
        uint64_t total;   /* since the start */
        uint64_t entries; /* number of entries in which it happened, since the start */
        struct wall last; /* time of the last such entry; 0: none yet */
    } of[THROUGHPUT_KIND_COUNT];

    /* private */
    struct throughput_minute minutes[THROUGHPUT_MINUTES]; /* a ring, by number */
    unsigned slot;                                        /* of the entry's minute */
    struct wall now;
    uint64_t entry;
    bool repeated; /* the entry is from before the start */
    uint64_t last_entry[THROUGHPUT_KIND_COUNT];
};

/* Begin an entry with this time. Times never decrease. repeated: it is from before the start, and
 * the totals leave it out. */
void throughput_begin(struct throughput *t, struct wall now, bool repeated);

/* Count one occurrence in the entry. */
void throughput_add(struct throughput *t, enum throughput_kind kind);

/* The same, by event type. Types that are not counted are ignored. */
void throughput_add_event(struct throughput *t, enum store_event_type type);

/* The counts of the minute with this number; zeros if it is no longer kept. */
struct throughput_minute throughput_minute(const struct throughput *t, int64_t number);

/* The number of the minute that contains this time. */
static inline int64_t throughput_minute_number(struct wall at)
{
    return at.ns / (60 * NS_PER_S);
}
