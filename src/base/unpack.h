/*
 * Unpack: decodes what pack.h encoded.
 *
 * The input is untrusted: reads never go past the end. After the first bad read, every further read
 * returns zero and `bad` stays set, so that a caller decodes a whole record and checks once.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct unpack {
    const uint8_t *at;
    const uint8_t *end;
    bool bad; /* a read went past the end, or found an invalid value */
};

static inline struct unpack unpack_from(struct str s)
{
    const uint8_t *at = (const uint8_t *)s.ptr;
    return (struct unpack){.at = at, .end = at == NULL ? NULL : at + s.len};
}

static inline size_t unpack_left(const struct unpack *u)
{
    return (size_t)(u->end - u->at);
}

/* Copy n bytes to out. If there are fewer, out is zeroed and bad is set. */
static inline void unpack_take(struct unpack *u, void *out, size_t n)
{
    if (u->bad || unpack_left(u) < n) {
        u->bad = true;
        memset(out, 0, n);
        return;
    }
    memcpy(out, u->at, n);
    u->at += n;
}

static inline uint8_t unpack_u8(struct unpack *u)
{
    uint8_t v;
    unpack_take(u, &v, sizeof v);
    return v;
}

/* Read a byte that may be at most max. */
static inline uint8_t unpack_choice(struct unpack *u, uint8_t max)
{
    uint8_t v = unpack_u8(u);
    if (v > max) {
        u->bad = true;
        return 0;
    }
    return v;
}

static inline bool unpack_bool(struct unpack *u)
{
    return unpack_choice(u, 1) == 1;
}

static inline uint16_t unpack_u16(struct unpack *u)
{
    uint16_t v;
    unpack_take(u, &v, sizeof v);
    return le16toh(v);
}

static inline uint32_t unpack_u32(struct unpack *u)
{
    uint32_t v;
    unpack_take(u, &v, sizeof v);
    return le32toh(v);
}

static inline uint64_t unpack_u64(struct unpack *u)
{
    uint64_t v;
    unpack_take(u, &v, sizeof v);
    return le64toh(v);
}

static inline int64_t unpack_i64(struct unpack *u)
{
    return (int64_t)unpack_u64(u);
}

/* A varint of more than one byte, or an invalid one. */
uint64_t unpack_varint_long(struct unpack *u);

static inline uint64_t unpack_varint(struct unpack *u)
{
    return u->at < u->end && *u->at < 0x80 && !u->bad ? *u->at++ : unpack_varint_long(u);
}

uint64_t unpack_u64_be(struct unpack *u);
uint32_t unpack_u32_be(struct unpack *u);

/* Return a view of the decoded bytes. If they are incomplete, it is empty and bad is set. */
struct str unpack_text(struct unpack *u);
struct str unpack_bytes(struct unpack *u, size_t n);

/* True if no read failed and nothing is left over. */
bool unpack_done(const struct unpack *u);
