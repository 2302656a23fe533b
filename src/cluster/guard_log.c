/*
 * Guard_log: queries about the log that raft has in memory.
 *
 * raft.h declares struct raft_log, but no functions to read it. It is a ring buffer: the entry at
 * offset + 1 is at front, and the last one is just before back.
 */
#include "base/check.h"
#include "cluster/guard_int.h"

static size_t log_count(const struct raft_log *l)
{
    return l->front <= l->back ? l->back - l->front : l->size - l->front + l->back;
}

static const struct raft_entry *log_entry(const struct raft_log *l, raft_index index)
{
    if (index <= l->offset || index > l->offset + log_count(l)) {
        return NULL;
    }
    return &l->entries[(l->front + (size_t)(index - l->offset - 1)) % l->size];
}

raft_index guard_log__last_index(const struct raft *r)
{
    return r->log.offset + log_count(&r->log);
}

raft_term guard_log__term_at(const struct raft *r, raft_index index)
{
    const struct raft_entry *entry = log_entry(&r->log, index);
    if (entry != NULL) {
        return entry->term;
    }
    bool is_snapshot = index != 0 && index == r->log.snapshot.last_index;
    return is_snapshot && index <= guard_log__last_index(r) ? r->log.snapshot.last_term : 0;
}

raft_index guard_log__conflict(const struct raft *r, const struct raft_append_entries *entries)
{
    raft_index prev = entries->prev_log_index;
    bool follows = prev == 0 || guard_log__term_at(r, prev) == entries->prev_log_term;
    if (entries->term < r->current_term || !follows) {
        return 0;
    }
    for (unsigned i = 0; i < entries->n_entries; i++) {
        raft_term term = guard_log__term_at(r, prev + 1 + i);
        if (term != 0 && term != entries->entries[i].term) {
            return prev + 1 + i;
        }
    }
    return 0;
}

uint64_t guard_log__bytes_from(const struct raft *r, raft_index index)
{
    raft_index first = r->log.offset + 1;
    uint64_t bytes = 0;
    for (raft_index i = index > first ? index : first; i <= guard_log__last_index(r); i++) {
        bytes += log_entry(&r->log, i)->buf.len;
    }
    return bytes;
}

bool guard_log__has_change_from(const struct raft *r, raft_index index)
{
    CHECK(index > 0);
    for (raft_index i = index; i <= guard_log__last_index(r); i++) {
        const struct raft_entry *entry = log_entry(&r->log, i);
        if (entry != NULL && entry->type == RAFT_CHANGE) {
            return true;
        }
    }
    return false;
}
