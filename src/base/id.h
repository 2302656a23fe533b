/*
 * Id: the identity of a job, batch, schedule and everything else with a prefix below; 128 bits,
 * shown as 26 characters.
 *
 * An id is built from the log position of its creation, not from a random number: the time of the
 * entry in milliseconds (48 bits), the entry's index (48 bits) and a number inside the entry (32
 * bits). The index makes it unique without coordination. Time never runs backwards, so ids sort by
 * creation, in memory, in RocksDB and as text.
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

/* Read an id from ID_BYTES bytes. */
static inline struct id id_from_bytes(const void *bytes)
{
    struct id id;
    memcpy(id.b, bytes, ID_BYTES);
    return id;
}

struct id id_make(struct wall at, uint64_t index, uint32_t number);

/* Return the creation time in milliseconds. */
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

/* Return a number in the order of the ids of one log, but with fewer bits: of two ids, the one with
 * the lower rank is older; with equal ranks, compare the ids. Ids of two logs (after a restore) are
 * sorted by rank in the same way on all nodes, but not by time. */
uint64_t id_rank(struct id id);

/* Hash an id. Ids that were created together are inserted, found and removed together. Their hashes
 * are neighbouring values, so that a hash table finds eight of them with one memory access. */
uint64_t id_hash(struct id id);

/* Write prefix and digits to out, which has room for ID_TEXT_MAX; returns the length. */
size_t id_format(struct id id, struct str prefix, char *out);

/* False if s is not the prefix and 26 digits as written by id_format. */
ATTR_NODISCARD bool id_parse(struct str s, struct str prefix, struct id *out);

/* Decode the next ID_BYTES; ID_NONE, and bad, if bytes are missing. */
struct id id_unpack(struct unpack *u);
