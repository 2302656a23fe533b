/*
 * Id: the identity of a job, batch, schedule and whatever else has a prefix below; 128 bits, shown
 * as 26 characters.
 *
 * An id is made from where its creation stands in the log, not from a random number: the time of
 * the entry in milliseconds (48 bits), the entry's index (48 bits) and a number inside the entry
 * (32 bits). The index makes it unique without anybody asking; time that never runs backwards makes
 * it sort by creation, in memory, in RocksDB and as text.
 *
 * Text: a prefix such as "job_" and 26 digits of lower-case base 32 (0-9, a-z without i l o u).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/unpack.h"

enum {
    ID_BYTES = 16,
    ID_TEXT_LEN = 26,
    ID_PREFIX_MAX = 7,
    ID_TEXT_MAX = ID_PREFIX_MAX + ID_TEXT_LEN
};

struct id {
    uint8_t b[ID_BYTES]; /* big-endian: memcmp is the order of creation */
};

#define ID_NONE ((struct id){.b = {0}})

/* The kinds of id and their prefixes. */
#define ID_JOB      STR("job_")
#define ID_BATCH    STR("batch_")
#define ID_CHAIN    STR("chn_")
#define ID_SCHEDULE STR("sched_")
#define ID_WEBHOOK  STR("wh_")
#define ID_BULK     STR("bulk_")
#define ID_POLICY   STR("apol_")
#define ID_BUDGET   STR("budget_")

/* The id whose ID_BYTES bytes are there. */
static inline struct id id_from_bytes(const void *bytes)
{
    struct id id;
    memcpy(id.b, bytes, ID_BYTES);
    return id;
}

struct id id_make(struct wall at, uint64_t index, uint32_t number);

/* The milliseconds of the time that it was made from. */
int64_t id_ms(struct id id);

static inline bool id_eq(struct id a, struct id b)
{
    return memcmp(a.b, b.b, ID_BYTES) == 0;
}

static inline int id_cmp(struct id a, struct id b)
{
    return memcmp(a.b, b.b, ID_BYTES);
}

static inline bool id_is_none(struct id id)
{
    return id_eq(id, ID_NONE);
}

/* A number that sorts as the ids of one log do, as far as it goes: of two ids the one with the
 * lower rank came first; with equal ranks, compare them. Ids of two logs (a restore) sort by rank
 * in the same way everywhere, but not by time. */
uint64_t id_rank(struct id id);

/* Ids that were made together are put in, looked for and taken out together. They get neighbouring
 * values, so that a table of slots finds eight of them with one look into memory. */
uint64_t id_hash(struct id id);

/* prefix and digits into out, which has room for ID_TEXT_MAX; returns the length. */
size_t id_format(struct id id, struct str prefix, char *out);

/* False when s is not the prefix and 26 digits that id_format could have written. */
ATTR_NODISCARD bool id_parse(struct str s, struct str prefix, struct id *out);

/* The next ID_BYTES of what is being decoded; none, and bad, when they are not all there. */
struct id id_unpack(struct unpack *u);
