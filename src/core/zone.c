#include "core/zone.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/pack.h"
#include "core/zone_rule.h"

enum {
    TZIF_RESERVED = 15,
    TZIF_TYPE_BYTES = 6,
    TZIF_TYPES_MAX = 256,             /* a type is a byte */
    OFFSETS_MAX = TZIF_TYPES_MAX + 2, /* plus two of the rule */
    OFFSET_S_MAX = 26 * 3600,         /* in both directions; more than RFC 8536 allows */
};

struct change {
    int64_t at_s;
    int64_t offset_s; /* from this change on */
};

struct zone {
    int64_t first_offset_s; /* before the first change */
    bool has_rule;          /* the rule applies after the last change */
    struct zone_rule rule;
    int64_t offsets_s[OFFSETS_MAX]; /* every offset of the zone, once */
    size_t offset_count;
    size_t count;
    struct change changes[]; /* in chronological order */
};

/* The fields of a header that are used: the version and six counts. */
struct header {
    uint8_t version;
    uint32_t ut_count;
    uint32_t standard_count;
    uint32_t leap_count;
    uint32_t change_count;
    uint32_t type_count;
    uint32_t name_bytes;
};

static struct header take_header(struct unpack *u)
{
    struct header h = {0};
    if (!str_eq(unpack_bytes(u, 4), STR("TZif"))) {
        u->bad = true;
    }
    h.version = unpack_u8(u);
    (void)unpack_bytes(u, TZIF_RESERVED);
    h.ut_count = unpack_u32_be(u);
    h.standard_count = unpack_u32_be(u);
    h.leap_count = unpack_u32_be(u);
    h.change_count = unpack_u32_be(u);
    h.type_count = unpack_u32_be(u);
    h.name_bytes = unpack_u32_be(u);
    return h;
}

/* Skip the data after the first header: it has 32-bit times, for old readers. */
static void skip_old_data(struct unpack *u, const struct header *h)
{
    const uint64_t change_bytes = 4 + 1, leap_bytes = 4 + 4;
    (void)unpack_bytes(u, h->change_count * change_bytes +
                              (uint64_t)h->type_count * TZIF_TYPE_BYTES + h->name_bytes +
                              h->leap_count * leap_bytes + h->standard_count + h->ut_count);
}

/* Return the offset of a type. Sets bad if the type does not exist or its offset is invalid. */
static int64_t type_offset(struct unpack *u, struct str types, uint8_t type)
{
    if (u->bad || (size_t)type * TZIF_TYPE_BYTES >= types.len) {
        u->bad = true;
        return 0;
    }
    struct unpack one = unpack_from(str_from_offset(types, (size_t)type * TZIF_TYPE_BYTES));
    int64_t offset_s = (int32_t)unpack_u32_be(&one);
    u->bad = offset_s <= -OFFSET_S_MAX || offset_s >= OFFSET_S_MAX;
    return offset_s;
}

static void add_offset(struct zone *z, int64_t offset_s)
{
    for (size_t i = 0; i < z->offset_count; i++) {
        if (z->offsets_s[i] == offset_s) {
            return;
        }
    }
    CHECK(z->offset_count < OFFSETS_MAX);
    z->offsets_s[z->offset_count++] = offset_s;
}

static struct zone *zone_alloc(size_t change_count)
{
    struct zone *z = calloc(1, sizeof *z + change_count * sizeof z->changes[0]);
    CHECK(z != NULL);
    return z;
}

/* Read the changes and their offsets. */
static struct zone *take_changes(struct unpack *u, const struct header *h)
{
    struct unpack times = unpack_from(unpack_bytes(u, (size_t)h->change_count * 8));
    struct unpack kinds = unpack_from(unpack_bytes(u, h->change_count));
    struct str types = unpack_bytes(u, (size_t)h->type_count * TZIF_TYPE_BYTES);

    if (u->bad || h->type_count == 0 || h->type_count > TZIF_TYPES_MAX) {
        u->bad = true;
        return zone_alloc(0);
    }
    struct zone *z = zone_alloc(h->change_count);
    z->first_offset_s = type_offset(u, types, 0);
    add_offset(z, z->first_offset_s);
    for (; z->count < h->change_count && !u->bad; z->count++) {
        struct change *c = &z->changes[z->count];
        c->at_s = (int64_t)unpack_u64_be(&times);
        c->offset_s = type_offset(u, types, unpack_u8(&kinds));
        add_offset(z, c->offset_s);
        if (z->count > 0 && c->at_s <= c[-1].at_s) {
            u->bad = true;
        }
    }
    return z;
}

/* Read the rule after the data. If it is empty, the future is unknown. */
static void take_rule(struct unpack *u, struct zone *z)
{
    struct str rest = unpack_bytes(u, unpack_left(u));
    if (u->bad || rest.len < 2 || rest.ptr[0] != '\n' || rest.ptr[rest.len - 1] != '\n') {
        u->bad = true;
        return;
    }
    struct str text = str_from(rest.ptr + 1, rest.len - 2);
    if (text.len == 0) {
        return;
    }
    z->has_rule = zone_rule_parse(text, &z->rule);
    u->bad = !z->has_rule;
    add_offset(z, z->rule.offset_s);
    if (z->rule.has_dst) {
        add_offset(z, z->rule.dst_offset_s);
    }
}

enum err_code zone_new(struct str tzif, struct zone **out, struct err *err)
{
    struct unpack u = unpack_from(tzif);
    struct header h = take_header(&u);

    if (!u.bad && h.version < '2') {
        return err_set(err, ERR_VALIDATION, "the time zone file is of an old version");
    }
    skip_old_data(&u, &h);
    h = take_header(&u);
    if (!u.bad && h.leap_count > 0) {
        return err_set(err, ERR_VALIDATION, "the time zone has leap seconds");
    }
    ATTR_CLEANUP(zone_freep) struct zone *z = take_changes(&u, &h);
    (void)unpack_bytes(&u, (size_t)h.name_bytes + h.standard_count + h.ut_count);
    take_rule(&u, z);
    if (u.bad) {
        return err_set(err, ERR_VALIDATION, "the time zone file is damaged");
    }
    *out = TAKE(z);
    return ERR_OK;
}

struct zone *zone_new_utc(void)
{
    struct zone *z = zone_alloc(0);
    add_offset(z, 0);
    return z;
}

void zone_free(struct zone *z)
{
    free(z);
}

void zone_freep(struct zone **z)
{
    zone_free(*z);
    *z = NULL;
}

/* Count the changes up to an instant, inclusive. */
static size_t changes_until(const struct zone *z, int64_t instant_s)
{
    size_t low = 0, high = z->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (z->changes[middle].at_s <= instant_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t zone_offset_s(const struct zone *z, int64_t instant_s)
{
    size_t n = changes_until(z, instant_s);
    if (n == z->count && z->has_rule) {
        return zone_rule_offset_s(&z->rule, instant_s);
    }
    return n == 0 ? z->first_offset_s : z->changes[n - 1].offset_s;
}

int64_t zone_next_change_s(const struct zone *z, int64_t instant_s)
{
    size_t n = changes_until(z, instant_s);
    if (n < z->count) {
        return z->changes[n].at_s;
    }
    return z->has_rule ? zone_rule_next_change_s(&z->rule, instant_s) : INT64_MAX;
}

unsigned zone_instants(const struct zone *z, int64_t local_s, int64_t out_s[static 2])
{
    int64_t found[2] = {INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < z->offset_count; i++) {
        int64_t instant_s = local_s - z->offsets_s[i];
        if (zone_offset_s(z, instant_s) != z->offsets_s[i]) {
            continue;
        }
        if (instant_s < found[0]) {
            found[1] = found[0];
            found[0] = instant_s;
        } else if (instant_s < found[1]) {
            found[1] = instant_s;
        }
    }
    memcpy(out_s, found, sizeof found);
    return (found[0] < INT64_MAX ? 1U : 0U) + (found[1] < INT64_MAX ? 1U : 0U);
}

int64_t zone_first_instant(const struct zone *z, int64_t local_s)
{
    int64_t found[2];
    if (zone_instants(z, local_s, found) > 0) {
        return found[0];
    }
    /* Every clock reaches local_s at most 26 hours before or after that time in UTC. So one of
     * the changes in this range jumps over it. */
    int64_t at_s = local_s - OFFSET_S_MAX;
    do {
        at_s = zone_next_change_s(z, at_s);
        CHECK(at_s < INT64_MAX);
    } while (at_s + zone_offset_s(z, at_s) <= local_s);
    return at_s;
}
