/*
 * Throughput: how many jobs were processed, per minute and since the start.
 *
 * Counts applied commands at the time of the entry, so that nodes that have applied the same
 * entries report the same numbers. In memory only: a newly opened machine starts with zeros and
 * counts what it applies. No decision depends on it.
 */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "store/store_event.h"

enum throughput_kind {
    THROUGHPUT_ENQUEUED,  /* jobs made, by whatever way */
    THROUGHPUT_COMPLETED, /* jobs that came to their good end */
    THROUGHPUT_FAILED,    /* attempts that failed, reported or timed out */
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

/* All zeros is a good beginning. A value: whoever wants to look at it later copies it. */
struct throughput {
    struct {
        uint64_t total;
        uint64_t entries; /* in which it happened at least once */
        struct wall last; /* the time of the last of them; 0 before the first */
    } of[THROUGHPUT_KIND_COUNT];

    /* private */
    struct throughput_minute minutes[THROUGHPUT_MINUTES]; /* a ring, by number */
    unsigned slot;                                        /* of the entry's minute */
    struct wall now;
    uint64_t entry;
    uint64_t last_entry[THROUGHPUT_KIND_COUNT];
};

/* An entry of this time begins; times do not run backwards. */
void throughput_begin(struct throughput *t, struct wall now);

/* Something happened in the entry. */
void throughput_add(struct throughput *t, enum throughput_kind kind);

/* The same, by the event that tells of it; those that are not counted are passed over. */
void throughput_add_event(struct throughput *t, enum store_event_type type);

/* The counts of the minute with this number, as far as they are kept. */
struct throughput_minute throughput_minute(const struct throughput *t, int64_t number);

/* The number of the minute that a moment is in. */
static inline int64_t throughput_minute_number(struct wall at)
{
    return at.ns / (60 * NS_PER_S);
}
