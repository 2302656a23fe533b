/*
 * Kv_batch_int: a batch, for the code that commits it. It knows nothing of RocksDB, so that a store
 * in memory can use the same batches (tests/sim/whole_sim/kv_disk.c).
 */
#pragma once

#include "base/buf.h"
#include "kv/kv.h"

struct kv_batch {
    size_t family_count; /* of its store */
    struct buf records;  /* kv_record.h */
    size_t count;
};

struct kv_batch *kv_batch__new(size_t family_count);
void kv_batch__clear(struct kv_batch *b); /* after a commit */
