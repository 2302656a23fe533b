/*
 * Tzif: builds the bytes of a time zone file, for tests that must not depend on the machine's
 * files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/pack.h"
#include "base/str.h"

struct tzif_change {
    int64_t at_s;
    uint8_t type;
};

struct tzif {
    const int32_t *offsets_s; /* of the types */
    size_t type_count;
    const struct tzif_change *changes;
    size_t change_count;
    const char *rule;
};

static inline void tzif_header(struct buf *out, const struct tzif *t)
{
    buf_add_str(out, STR("TZif2"));
    for (unsigned i = 0; i < 15; i++) {
        pack_u8(out, 0);
    }
    pack_u32_be(out, 0); /* UT indicators */
    pack_u32_be(out, 0); /* standard indicators */
    pack_u32_be(out, 0); /* leap seconds */
    pack_u32_be(out, (uint32_t)t->change_count);
    pack_u32_be(out, (uint32_t)t->type_count);
    pack_u32_be(out, 4); /* bytes of names */
}

/* A file of version 2 whose first part, of version 1, is empty. */
static inline void tzif_build(struct buf *out, const struct tzif *t)
{
    static const int32_t none = 0;
    const struct tzif old = {.offsets_s = &none, .type_count = 1};
    tzif_header(out, &old);
    buf_add_str(out, STR("\0\0\0\0\0\0ABC\0"));
    tzif_header(out, t);
    for (size_t i = 0; i < t->change_count; i++) {
        pack_u64_be(out, (uint64_t)t->changes[i].at_s);
    }
    for (size_t i = 0; i < t->change_count; i++) {
        pack_u8(out, t->changes[i].type);
    }
    for (size_t i = 0; i < t->type_count; i++) {
        pack_u32_be(out, (uint32_t)t->offsets_s[i]);
        pack_u8(out, 0);
        pack_u8(out, 0);
    }
    buf_add_str(out, STR("ABC\0"));
    buf_add_char(out, '\n');
    buf_add_str(out, str_from_z(t->rule));
    buf_add_char(out, '\n');
}
