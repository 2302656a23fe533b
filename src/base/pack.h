/*
 * Pack: the bytes of everything that outlives a process or leaves it.
 *
 * Numbers are little-endian and fixed; small counts and lengths are varints (7 bits per byte, low
 * bits first); text is a varint length and its bytes. Keys that must sort as numbers are
 * big-endian. What is packed is read with unpack.h, which comes along.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/unpack.h" /* IWYU pragma: export */

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
