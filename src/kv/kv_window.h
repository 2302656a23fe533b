/*
 * Kv_window: the newest commits, in memory, with only the last write of each key.
 *
 * Most writes of a job server are soon overwritten: a job is stored, claimed and finished within
 * moments. The window combines such writes; a document that was created and removed is not written
 * at all. The owner reads the window first and writes it to the store as a whole, so that the store
 * always has the state of one commit.
 *
 * Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "kv/kv_record.h"

struct kv_window_key;

struct kv_window {
    struct buf bytes;           /* the records of all commits, one behind the other */
    struct kv_window_key *keys; /* each key once, in the order in which they came */
    size_t count;
    size_t room;
    uint32_t *slots;   /* by the hash of family and key: its number among the keys, plus 1 */
    size_t slot_count; /* a power of two */
    struct buf ranges; /* where in bytes the deletions of ranges are: size_t each */
};

void kv_window_init(struct kv_window *w);
void kv_window_deinit(struct kv_window *w);

/* The writes of one commit, in their order. */
void kv_window_add(struct kv_window *w, struct str records);

enum kv_window_answer {
    KV_WINDOW_UNKNOWN, /* the store knows */
    KV_WINDOW_GONE,
    KV_WINDOW_HAS,
};

/* What the commits in the window did to a key. The value lives until the next change. */
enum kv_window_answer kv_window_find(const struct kv_window *w, unsigned family, struct str key,
                                     struct str *out_value);

/* Bytes that it holds; 0 when there is nothing to write. */
size_t kv_window_bytes(const struct kv_window *w);

/* What has to be done to the store: ranges first, then family by family, because what is written
 * together is found in the processor's cache. Of the families in `sorted` (bit n: family n) keys
 * that begin with the same byte come together and in order, so that each is written near the last.
 */
void kv_window_each(const struct kv_window *w, unsigned family_count, unsigned sorted,
                    void (*fn)(void *data, const struct kv_record *r), void *data);

/* The last write of each key of a family, a deletion for each that the store may have: what a walk
 * has to put on top of the store, where no range of the family was deleted. */
void kv_window_each_of(const struct kv_window *w, unsigned family,
                       void (*fn)(void *data, const struct kv_record *r), void *data);

/* Was a range of keys of this family deleted? */
bool kv_window_has_range(const struct kv_window *w, unsigned family);

void kv_window_clear(struct kv_window *w);
