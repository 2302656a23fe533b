/*
 * Store_history: counters per minute and per hour, for each queue and for all queues
 * (docs/formats/documents.md).
 *
 * A cell is one time bucket of one name: counters, the number of pending jobs at its end, and
 * histograms of waiting and running times. Cells can be added exactly, so hours are sums of
 * minutes, and any step is a sum of either.
 *
 * The name is a queue's internal name, "" for all queues, or "<namespace>::" for the queues of a
 * namespace. The minute in which a name was last active is its open cell and not yet in the two
 * series; reading adds it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "store/store.h"

/* The numbers are on disk; the words are part of the contract. */
#define STORE_HISTORY_LIST(X)                                                                      \
    X(ENQUEUED, 0, "enqueued")                                                                     \
    X(STARTED, 1, "started")                                                                       \
    X(COMPLETED, 2, "completed")                                                                   \
    X(FAILED, 3, "failed")                                                                         \
    X(RETRIED, 4, "retried")                                                                       \
    X(DEAD, 5, "dead")                                                                             \
    X(CANCELLED, 6, "cancelled")                                                                   \
    X(EXPIRED, 7, "expired")

enum store_history_count {
#define STORE_HISTORY_ENUM(name, number, word) STORE_HISTORY_##name = (number),
    STORE_HISTORY_LIST(STORE_HISTORY_ENUM)
#undef STORE_HISTORY_ENUM
        STORE_HISTORY_COUNTS
};

/* The buckets of the histograms: one each for 0 to 3 ms, then four per power of two. The last one
 * has no upper bound. They are on disk. */
enum { STORE_HISTORY_BUCKETS = 120 };

struct store_history_times {
    uint64_t count;
    uint64_t sum_ms;
    uint64_t max_ms;
    uint64_t used[2]; /* a bit for each bucket that is not 0 */
    uint32_t bucket[STORE_HISTORY_BUCKETS];
};

struct store_history {
    uint64_t count[STORE_HISTORY_COUNTS];
    uint64_t depth;     /* pending jobs at the last change; 0 for a namespace */
    uint64_t depth_max; /* maximum of pending jobs */
    uint64_t workers;   /* known at the last change; only in the cell of all queues */
    /* Creation time of the oldest pending job at the last change, in ms since 1970, 0: none; and
     * the greatest age at any change. Both are 0 for a namespace. */
    uint64_t oldest_at_ms;
    uint64_t oldest_max_ms;
    struct store_history_times wait, run;
};

enum store_history_step { STORE_HISTORY_MINUTE, STORE_HISTORY_HOUR, STORE_HISTORY_STEPS };

/* Seconds of a step. */
static inline int64_t store_history_seconds(enum store_history_step step)
{
    return step == STORE_HISTORY_MINUTE ? 60 : 3600;
}

void store_history_time_add(struct store_history_times *t, int64_t ms);

/* Return the lower bound of a bucket. */
uint64_t store_history_bound_ms(unsigned bucket);

/* Return a quantile, in thousandths: the upper bound of its bucket, but at most the maximum. 0 if
 * there are no values. */
uint64_t store_history_quantile_ms(const struct store_history_times *t, unsigned thousandths);

/* Add b, which is later than a, to a. */
void store_history_merge(struct store_history *a, const struct store_history *b);

/* Return the age of the oldest pending job at a time. It grows even if nothing changes. */
uint64_t store_history_age_ms(const struct store_history *h, int64_t at_ms);

/* oldest: write the newer version, with the oldest job. */
void store_history_encode(const struct store_history *h, bool oldest, struct buf *out);
ATTR_NODISCARD bool store_history_decode(struct str bytes, struct store_history *out);

/* Read the open cell of a name and its minute (since 1970). False if there is none. */
bool store_history_open_get(struct store *s, struct str name, uint32_t *out_minute,
                            struct store_history *out);
void store_history_open_put(struct store *s, struct str name, uint32_t minute,
                            const struct store_history *h);
void store_history_open_delete(struct store *s, struct str name);

/* Read a committed closed cell, and its size. False if there is none. */
bool store_history_get(struct store *s, enum store_history_step step, uint32_t number,
                       struct str name, struct store_history *out, size_t *out_bytes);
/* Returns the size of the cell. */
size_t store_history_put(struct store *s, enum store_history_step step, uint32_t number,
                         struct str name, const struct store_history *h);

/* Delete committed cells of the step, oldest first and at most max, that are older than keep_from
 * or exceed bytes_max. Returns the bytes deleted. *from is a lower bound of the oldest cell, and is
 * updated. */
struct store_history_bounds {
    uint32_t keep_from;
    uint64_t bytes_max;
    unsigned max;
};
uint64_t store_history_trim(struct store *s, enum store_history_step step, uint32_t *from,
                            uint64_t bytes, struct store_history_bounds bounds);

/* The total size of the closed cells, per step. */
void store_history_sizes_get(struct store *s, uint64_t out_bytes[STORE_HISTORY_STEPS]);
void store_history_sizes_put(struct store *s, const uint64_t bytes[STORE_HISTORY_STEPS]);

/* Read the last cell of a name, and its number. False if there is none. Any thread. */
bool store_history_last(struct store *s, struct str name, enum store_history_step step,
                        uint32_t *out_number, struct store_history *out);

/* A search for the last cell before another one: by minutes back to the full hour, then by hours,
 * which are kept longer. The given cell must be older than the open one. */
struct store_history_back {
    enum store_history_step step;
    uint32_t before; /* the next cell to read is before this one… */
    uint32_t left;   /* …and this many hours are left to search */
};
struct store_history_back store_history_back(enum store_history_step step, uint32_t number);
/* One step of the search; returns false if it must be called again. *out is the cell, or empty if
 * there is none. Any thread. */
bool store_history_back_step(struct store *s, struct str name, struct store_history_back *b,
                             struct store_history *out);

/* Call fn for each cell of the name in the range, in order, including the open one. Any thread. */
struct store_history_range {
    enum store_history_step step;
    uint32_t from, before;
};
void store_history_each(struct store *s, struct str name, struct store_history_range range,
                        void (*fn)(void *data, uint32_t number, const struct store_history *h),
                        void *data);
