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
    struct buf bytes;           /* the records of all commits, one after another */
    struct kv_window_key *keys; /* each key once, in the order of its first write */
    size_t count;
    size_t room;
    uint32_t *slots;   /* by the hash of family and key: its number among the keys, plus 1 */
    size_t slot_count; /* a power of two */
    struct buf ranges; /* offsets in bytes of the range deletions: size_t each */
};

void kv_window_init(struct kv_window *w);
void kv_window_deinit(struct kv_window *w);

/* Add the writes of one commit, in order. */
void kv_window_add(struct kv_window *w, struct str records);

enum kv_window_answer {
    KV_WINDOW_UNKNOWN, /* not in the window: read the store */
    KV_WINDOW_GONE,
    KV_WINDOW_HAS,
};

/* The effect of the commits in the window on a key. The value is valid until the next change. */
enum kv_window_answer kv_window_find(const struct kv_window *w, unsigned family, struct str key,
                                     struct str *out_value);

/* Size of the window; 0 if there is nothing to write. */
size_t kv_window_bytes(const struct kv_window *w);

/* Call fn for each write that the store needs: ranges first, then family by family, which uses the
 * processor's cache best. In the families in `sorted` (bit n: family n), keys with the same first
 * byte are grouped and sorted, so that each write is close to the previous one. */
void kv_window_each(const struct kv_window *w, unsigned family_count, unsigned sorted,
                    void (*fn)(void *data, const struct kv_record *r), void *data);

/* Call fn for the last write of each key of a family, including deletions of keys that the store
 * may contain. An iterator merges these with the store. Not valid if a range of the family was
 * deleted. */
void kv_window_each_of(const struct kv_window *w, unsigned family,
                       void (*fn)(void *data, const struct kv_record *r), void *data);

/* Was a range of keys of this family deleted? */
bool kv_window_has_range(const struct kv_window *w, unsigned family);

void kv_window_clear(struct kv_window *w);
