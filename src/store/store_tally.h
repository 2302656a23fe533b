/*
 * Store_tally: sums of the usage that workers report, per time bucket (docs/formats/documents.md).
 *
 * A cell is one bucket of one name: a queue with a model and a provider, or a queue with a tag. It
 * stays when the jobs that reported it are moved or removed. Every report is in a short bucket,
 * which is kept for a day or so, and in an hour, which is kept for months.
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

/* None of them is negative; what does not fit is the largest number. */
void store_tally_add(struct store_tally *a, const struct store_tally *b);

/* Each of them is the larger one of the two. */
void store_tally_raise(struct store_tally *a, const struct store_tally *b);

enum store_tally_series {
    STORE_TALLY_PARTS, /* of an hour, by model and provider */
    STORE_TALLY_HOURS,
    STORE_TALLY_TAG_PARTS, /* by tag */
    STORE_TALLY_TAG_HOURS,
    STORE_TALLY_SERIES
};

/* The bucket that a time is in, since 1970. */
int64_t store_tally_number(enum store_tally_series series, struct wall at);
/* How long a bucket of the series is, and how many of them are kept. */
int64_t store_tally_seconds(enum store_tally_series series);
uint32_t store_tally_kept(enum store_tally_series series);

struct store_tally_name {
    struct str queue;         /* internal name; "<namespace>::" or empty: not known */
    struct str first, second; /* model and provider; or the tag's key and value */
};

/* The key of a cell behind its kind. */
enum { STORE_TALLY_KEY_BYTES_MAX = 2048 };
void store_tally_key(enum store_tally_series series, uint32_t number,
                     const struct store_tally_name *name, struct buf *out);
/* What every key of the bucket begins with. */
enum { STORE_TALLY_PREFIX_BYTES = 5 };
void store_tally_prefix(enum store_tally_series series, uint32_t number,
                        char out[STORE_TALLY_PREFIX_BYTES]);
/* The name's texts are views of the key. */
ATTR_NODISCARD bool store_tally_decode_key(struct str key, enum store_tally_series *out_series,
                                           uint32_t *out_number, struct store_tally_name *out);

void store_tally_encode(const struct store_tally *t, struct buf *out);
ATTR_NODISCARD bool store_tally_decode(struct str bytes, struct store_tally *out);

/* A committed cell; false when there is none. */
bool store_tally_get(struct store *s, struct str key, struct store_tally *out);
void store_tally_put(struct store *s, struct str key, const struct store_tally *t);

/* Where counting began. Reports before it are not in the cells until their job goes. */
struct store_tally_start {
    bool known;
    struct wall at;
    uint64_t row; /* of the first report that was counted */
};
struct str store_tally_start_key(void); /* of its record, behind the kind */
void store_tally_encode_start(const struct store_tally_start *start, struct buf *out);
/* False when the key is not the one of this record, or its value cannot be read. */
ATTR_NODISCARD bool store_tally_decode_start(struct str key, struct str value,
                                             struct store_tally_start *out);
/* Any thread. */
struct store_tally_start store_tally_start_get(struct store *s);
void store_tally_start_put(struct store *s, const struct store_tally_start *start);

/* Delete committed cells of the series from before keep_from, the oldest first and up to max of
 * them. *from is where the oldest may be, and is moved on. */
void store_tally_trim(struct store *s, enum store_tally_series series, uint32_t *from,
                      uint32_t keep_from, unsigned max);

/* A walk over buckets, a few at a time: of the parts of hours or of whole ones, from `next` on and
 * before `before`. With tags: their cells, too, behind those of the same bucket. All cells of a
 * bucket are of one moment. */
struct store_tally_walk {
    bool hours, tags;
    uint32_t next, before;
};
/* Call fn for the cells of the next buckets. False when there are no more. Any thread. */
bool store_tally_each(struct store *s, struct store_tally_walk *w,
                      void (*fn)(void *data, bool is_tag, const struct store_tally_name *name,
                                 const struct store_tally *t),
                      void *data);
