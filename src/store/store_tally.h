/*
 * Store_tally: sums of the usage that workers report, per time bucket (docs/formats/documents.md).
 *
 * A cell is one bucket of one name: a queue with a model and a provider, or a queue with a tag. It
 * is kept when the jobs that reported the usage are moved or removed. Every report is counted in a
 * short bucket, which is kept for about a day, and in an hour, which is kept for months.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "store/store.h"

struct store_tally {
    int64_t input, output, cache_creation, cache_read; /* tokens */
    int64_t cost_nusd;
    int64_t reports;
};

/* Add b to a. Members are never negative; a sum that is too large becomes INT64_MAX. */
void store_tally_add(struct store_tally *a, const struct store_tally *b);

/* Set each member of a to the maximum of a and b. */
void store_tally_raise(struct store_tally *a, const struct store_tally *b);

enum store_tally_series {
    STORE_TALLY_PARTS, /* parts of an hour, by model and provider */
    STORE_TALLY_HOURS,
    STORE_TALLY_TAG_PARTS, /* parts of an hour, by tag */
    STORE_TALLY_TAG_HOURS,
    STORE_TALLY_SERIES
};

/* Return the number of the bucket that contains a time, counted from 1970. */
int64_t store_tally_number(enum store_tally_series series, struct wall at);
/* The length of a bucket of the series, and the number of buckets that are kept. */
int64_t store_tally_seconds(enum store_tally_series series);
uint32_t store_tally_kept(enum store_tally_series series);

struct store_tally_name {
    struct str queue;         /* internal name; "<namespace>::" or empty: unknown */
    struct str first, second; /* model and provider; or the tag's key and value */
};

/* The key of a cell, after its kind. */
enum { STORE_TALLY_KEY_BYTES_MAX = 2048 };
void store_tally_key(enum store_tally_series series, uint32_t number,
                     const struct store_tally_name *name, struct buf *out);
/* The prefix of every key of a bucket. */
enum { STORE_TALLY_PREFIX_BYTES = 5 };
void store_tally_prefix(enum store_tally_series series, uint32_t number,
                        char out[STORE_TALLY_PREFIX_BYTES]);
/* Decode a key; the texts of the name are views of it. */
ATTR_NODISCARD bool store_tally_decode_key(struct str key, enum store_tally_series *out_series,
                                           uint32_t *out_number, struct store_tally_name *out);

void store_tally_encode(const struct store_tally *t, struct buf *out);
ATTR_NODISCARD bool store_tally_decode(struct str bytes, struct store_tally *out);

/* Read a committed cell. False if there is none. */
bool store_tally_get(struct store *s, struct str key, struct store_tally *out);
void store_tally_put(struct store *s, struct str key, const struct store_tally *t);

/* The start of counting. Reports before it are added to the cells when their job is removed. */
struct store_tally_start {
    bool known;
    struct wall at;
    uint64_t row; /* of the first report that was counted */
};
struct str store_tally_start_key(void); /* key of its record, after the kind */
void store_tally_encode_start(const struct store_tally_start *start, struct buf *out);
/* False if the key is not that of this record, or the value cannot be read. */
ATTR_NODISCARD bool store_tally_decode_start(struct str key, struct str value,
                                             struct store_tally_start *out);
/* Any thread. */
struct store_tally_start store_tally_start_get(struct store *s);
void store_tally_start_put(struct store *s, const struct store_tally_start *start);

/* Delete committed cells of the series that are older than keep_from, oldest first and at most max.
 * *from is a lower bound of the oldest cell, and is updated. */
void store_tally_trim(struct store *s, enum store_tally_series series, uint32_t *from,
                      uint32_t keep_from, unsigned max);

/* A walk over the buckets from `next` on and before `before`, a few per call: parts of hours, or
 * hours. With tags, the tag cells of each bucket follow its other cells. All cells of a bucket are
 * read at the same moment. */
struct store_tally_walk {
    bool hours, tags;
    uint32_t next, before;
};
/* Call fn for the cells of the next buckets. False if there are no more. Any thread. */
bool store_tally_each(struct store *s, struct store_tally_walk *w,
                      void (*fn)(void *data, bool is_tag, const struct store_tally_name *name,
                                 const struct store_tally *t),
                      void *data);
