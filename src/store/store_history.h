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

/* The numbers are on disk; the words are the contract's. */
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

/* Bounds of the histograms: 0 to 3 ms one by one, then four per doubling; the last has the rest.
 * They are on disk. */
enum { STORE_HISTORY_BUCKETS = 120 };

struct store_history_times {
    uint64_t count;
    uint64_t sum_ms;
    uint64_t max_ms;
    uint64_t
        used[2]; /* a bit for each bucket that is not 0: few are, and a cell is written often */
    uint32_t bucket[STORE_HISTORY_BUCKETS];
};

struct store_history {
    uint64_t count[STORE_HISTORY_COUNTS];
    uint64_t depth;     /* pending jobs at the last change; 0 for a namespace */
    uint64_t depth_max; /* the most that there were */
    uint64_t workers;   /* known at the last change; of all queues only */
    /* When the oldest pending job was created, in ms since 1970, at the last change; 0: there was
     * none. And the greatest age that it had at a change. Not kept for a namespace. */
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

/* The least time that lies in the bucket. */
uint64_t store_history_bound_ms(unsigned bucket);

/* The time below which a share (0 to 1000 thousandths) of the jobs lies, as the upper bound of its
 * bucket and at most the largest that was seen; 0 when there were none. */
uint64_t store_history_quantile_ms(const struct store_history_times *t, unsigned thousandths);

/* Add what happened in b, which is later than a. */
void store_history_merge(struct store_history *a, const struct store_history *b);

/* The age of the oldest pending job at a moment: it goes on growing while nothing happens. */
uint64_t store_history_age_ms(const struct store_history *h, int64_t at_ms);

/* With the oldest job, or as it was before that was kept. */
void store_history_encode(const struct store_history *h, bool oldest, struct buf *out);
ATTR_NODISCARD bool store_history_decode(struct str bytes, struct store_history *out);

/* The open cell of a name: its minute (since 1970) and what is in it; false when there is none. */
bool store_history_open_get(struct store *s, struct str name, uint32_t *out_minute,
                            struct store_history *out);
void store_history_open_put(struct store *s, struct str name, uint32_t minute,
                            const struct store_history *h);
void store_history_open_delete(struct store *s, struct str name);

/* A closed cell that was committed, and the bytes that it takes; false when there is none. */
bool store_history_get(struct store *s, enum store_history_step step, uint32_t number,
                       struct str name, struct store_history *out, size_t *out_bytes);
/* Returns the bytes that it takes. */
size_t store_history_put(struct store *s, enum store_history_step step, uint32_t number,
                         struct str name, const struct store_history *h);

/* Delete committed cells of the step, the oldest first and up to max of them, while there are more
 * bytes than bytes_max or the cell is older than keep_from. Returns the bytes that went. *from is
 * where the oldest may be, and is moved on. */
struct store_history_bounds {
    uint32_t keep_from;
    uint64_t bytes_max;
    unsigned max;
};
uint64_t store_history_trim(struct store *s, enum store_history_step step, uint32_t *from,
                            uint64_t bytes, struct store_history_bounds bounds);

/* The bytes that the closed cells take in all, per step. */
void store_history_sizes_get(struct store *s, uint64_t out_bytes[STORE_HISTORY_STEPS]);
void store_history_sizes_put(struct store *s, const uint64_t bytes[STORE_HISTORY_STEPS]);

/* The cell in which something happened last: its number, and what is in it. False when there is
 * none. Any thread. */
bool store_history_last(struct store *s, struct str name, enum store_history_step step,
                        uint32_t *out_number, struct store_history *out);

/* The last cell before another one, which is not the open one or later than it: searched by minutes
 * back to the hour and then by hours, which are kept longer, as many as those are kept. */
struct store_history_back {
    enum store_history_step step;
    uint32_t before; /* what is to be looked at… */
    uint32_t left;   /* …and how many hours of it */
};
struct store_history_back store_history_back(enum store_history_step step, uint32_t number);
/* A piece of the search; false when it is to be called again. *out is the cell, or empty when there
 * is none. Any thread. */
bool store_history_back_step(struct store *s, struct str name, struct store_history_back *b,
                             struct store_history *out);

/* Call fn for every cell of the name in the range, in order, the open one included. Any thread. */
struct store_history_range {
    enum store_history_step step;
    uint32_t from, before;
};
void store_history_each(struct store *s, struct str name, struct store_history_range range,
                        void (*fn)(void *data, uint32_t number, const struct store_history *h),
                        void *data);
