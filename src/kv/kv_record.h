/*
 * Kv_record: one write as bytes, as stored in a batch and in the window.
 *
 * u8 kind · u8 family · u16 bytes of the key · u32 bytes of the value · key · value, little-endian.
 * The state hash is computed from these bytes (docs/formats/documents.md). They are never written
 * to disk, so a reader can trust them.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum kv_record_kind {
    KV_RECORD_PUT = 1,
    KV_RECORD_PUT_NEW, /* a put of a key that the family does not contain */
    KV_RECORD_DELETE,
    KV_RECORD_DELETE_RANGE, /* from key (included) to value (excluded) */
};

struct kv_record {
    enum kv_record_kind kind;
    unsigned family;
    struct str key;
    struct str value;
};

void kv_record_add(struct buf *out, const struct kv_record *r);

/* Read the record at `at`. Returns the address of the next record. */
const char *kv_record_read(const char *at, struct kv_record *out);
