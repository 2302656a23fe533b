/*
 * Pack: the bytes of everything that outlives a process or leaves it.
 *
 * Numbers are little-endian and fixed; small counts and lengths are varints (7 bits per byte, low
 * bits first); text is a varint length and its bytes. Keys that must sort as numbers are
 * big-endian. The encoder trusts its caller; the decoder trusts nobody: it never reads past the
 * end, and after the first bad read every further one gives zero and `bad` stays set, so that a
 * caller decodes a whole record and looks once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

void pack_u8(struct buf *b, uint8_t v);
void pack_u16(struct buf *b, uint16_t v);
void pack_u32(struct buf *b, uint32_t v);
void pack_u64(struct buf *b, uint64_t v);
void pack_i64(struct buf *b, int64_t v);
void pack_f64(struct buf *b, double v);
void pack_varint(struct buf *b, uint64_t v);
void pack_text(struct buf *b, struct str s);
void pack_u64_be(struct buf *b, uint64_t v);
void pack_u32_be(struct buf *b, uint32_t v);

struct unpack {
    const uint8_t *at;
    const uint8_t *end;
    bool bad; /* a read went past the end, or found what cannot be */
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

uint8_t unpack_u8(struct unpack *u);
uint16_t unpack_u16(struct unpack *u);
uint32_t unpack_u32(struct unpack *u);
uint64_t unpack_u64(struct unpack *u);
int64_t unpack_i64(struct unpack *u);
double unpack_f64(struct unpack *u);
uint64_t unpack_varint(struct unpack *u);
uint64_t unpack_u64_be(struct unpack *u);
uint32_t unpack_u32_be(struct unpack *u);

/* A view into what is being decoded; empty and bad when it is not all there. */
struct str unpack_text(struct unpack *u);
struct str unpack_bytes(struct unpack *u, size_t n);

/* True when all went well and nothing is left over. */
bool unpack_done(const struct unpack *u);
