/*
 * Guard_store: passes on the entries and snapshots that raft stores.
 *
 * Each write remembers the request that caused it. Raft responds to that request when the write is
 * complete, and by then the term and the leader may have changed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/check.h"
#include "cluster/guard_int.h"

/* Give each entry its own memory. Raft counts references to entries. But to see whether memory
 * shared by several entries is still in use, it checks only its log, not messages being sent. */
static void entries_split(struct raft_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct raft_entry *e = &entries[i];
        void *batch = e->batch;
        if (batch == NULL) {
            continue;
        }
        void *own = raft_malloc(e->buf.len > 0 ? e->buf.len : 1);
        CHECK(own != NULL);
        memcpy(own, e->buf.base, e->buf.len);
        e->buf.base = own;
        e->batch = NULL;
        if (i + 1 == n || entries[i + 1].batch != batch) {
            raft_free(batch);
        }
    }
}

static uint64_t bytes_of(const struct raft_entry *entries, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += entries[i].buf.len;
    }
    return bytes;
}

/* NOLINTNEXTLINE(readability-function-size): raft's signature */
int guard_store__load(struct raft_io *io, raft_term *term, raft_id *voted_for,
                      struct raft_snapshot **snapshot, raft_index *start_index,
                      struct raft_entry *entries[], size_t *n_entries)
{
    struct guard *g = guard__of(io);
    int rv = g->below.load(io, term, voted_for, snapshot, start_index, entries, n_entries);
    if (rv != 0) {
        return rv;
    }
    if (guard__on(g, GUARD_BATCH)) {
        entries_split(*entries, *n_entries);
    }
    g->log_bytes = bytes_of(*entries, *n_entries);
    return 0;
}

/* Tell raft that an append has ended, with the limit for its answer. */
static void append_end(struct guard_append *a, int status)
{
    struct guard *g = a->guard;
    a->answer.late = a->term != g->raft->current_term;
    g->answer = a->answers ? &a->answer : NULL;
    a->cb(a->req, status);
    g->answer = NULL;
    free(a);
}

static void append_cb(struct raft_io_append *below, int status)
{
    struct guard_append *a = below->data;
    struct guard *g = a->guard;
    CHECK(g->appends == a); /* raft assumes that appends complete in order */
    g->appends = a->next;
    a->next = NULL;

    if (g->closing) {
        /* Raft is unavailable and only releases memory now. On a failure it would also truncate
         * its log, and underflow when a later append ends after an earlier one. */
        append_end(a, 0);
        return;
    }
    if (status != 0) {
        guard__stop(g, GUARD_STORED, "entries could not be written");
    }
    if (g->stopped) {
        a->next = g->parked;
        g->parked = a;
    } else {
        append_end(a, status);
    }
    guard__event_over(g);
}

int guard_store__append(struct raft_io *io, struct raft_io_append *req,
                        const struct raft_entry entries[], unsigned n, raft_io_append_cb cb)
{
    struct guard *g = guard__of(io);
    struct guard_append *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    *a = (struct guard_append){.guard = g, .req = req, .cb = cb, .term = g->raft->current_term};
    a->below.data = a;
    if (g->answer != NULL) {
        a->answers = true;
        a->answer = *g->answer;
    }
    int rv = g->below.append(io, &a->below, entries, n, append_cb);
    if (rv != 0) {
        free(a);
        guard__stop(g, GUARD_STORED, "the log refused entries");
        return rv;
    }
    g->log_bytes += bytes_of(entries, n); /* raft has put them into its log */
    struct guard_append **tail = &g->appends;
    while (*tail != NULL) {
        tail = &(*tail)->next;
    }
    *tail = a;
    return 0;
}

int guard_store__truncate(struct raft_io *io, raft_index index)
{
    struct guard *g = guard__of(io);
    if (guard__on(g, GUARD_CALM)) {
        CHECK(g->appends == NULL);
    }
    /* Raft removes them after this call. */
    uint64_t bytes = guard_log__bytes_from(g->raft, index);
    CHECK(g->log_bytes >= bytes);
    g->log_bytes -= bytes;
    int rv = g->below.truncate(io, index);
    if (rv != 0) {
        guard__stop(g, GUARD_STORED, "the log could not be truncated");
    }
    return rv;
}

static void put_end(struct guard_put *p, int status)
{
    struct guard *g = p->guard;
    struct guard_answer answer = {.late = p->term != g->raft->current_term,
                                  .cap = p->snapshot.index};
    g->put = NULL;
    if (p->installs && status == 0 && guard__on(g, GUARD_INSTALL)) {
        /* The log with the uncommitted membership is gone, but raft still refers to it. */
        g->raft->configuration_uncommitted_index = 0;
    }
    g->answer = p->installs ? &answer : NULL;
    p->cb(p->req, status);
    g->answer = NULL;
    g->log_bytes = guard_log__bytes_from(g->raft, 1);
    if (p->installs && g->closing) {
        raft_free(p->snapshot.bufs); /* raft does not free it on this path */
    }
    free(p);
}

static void put_cb(struct raft_io_snapshot_put *below, int status)
{
    struct guard_put *p = below->data;
    struct guard *g = p->guard;
    if (g->closing) {
        put_end(p, RAFT_CANCELED);
        return;
    }
    if (p->installs && status != 0) {
        guard__stop(g, GUARD_STORED, "a snapshot could not be installed");
    }
    if (g->stopped) {
        p->parked = true;
    } else {
        bool installed = p->installs && status == 0;
        put_end(p, status);
        if (installed && g->raft->last_stored == 0) {
            guard__stop(g, GUARD_STORED, "the state machine could not load a snapshot");
        }
    }
    guard__event_over(g);
}

int guard_store__snapshot_put(struct raft_io *io, unsigned trailing,
                              struct raft_io_snapshot_put *req,
                              const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
    struct guard *g = guard__of(io);
    CHECK(g->put == NULL);
    struct guard_put *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    *p = (struct guard_put){.guard = g, .req = req, .cb = cb, .snapshot = *snapshot};
    p->below.data = p;
    p->term = g->raft->current_term;
    p->installs = g->raft->last_stored == 0; /* the same test that raft uses */
    if (p->installs && g->install_term != 0) {
        /* deliver_install raised the term. */
        p->snapshot.term = g->install_term;
        g->raft->log.snapshot.last_term = g->install_term;
    }
    int rv = g->below.snapshot_put(io, trailing, &p->below, &p->snapshot, put_cb);
    if (rv != 0) {
        if (p->installs) {
            guard__stop(g, GUARD_STORED, "a snapshot could not be installed");
        }
        free(p);
        return rv;
    }
    g->put = p;
    return 0;
}

bool guard_store__is_undecided(const struct raft *r)
{
    /* After a start raft treats the last membership in its log as committed, hence the second
     * test. */
    return r->configuration_uncommitted_index != 0 || r->configuration_index > r->last_applied;
}

/* RAFT_BUSY makes raft try again after a later entry. Any other failure would make a follower
 * unavailable for good, although it has lost nothing. */
int guard_store__fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct guard *g = CONTAINER_OF(fsm, struct guard, fsm);
    if (guard_store__is_undecided(g->raft) && guard__on(g, GUARD_SNAPSHOT)) {
        return RAFT_BUSY;
    }
    return g->fsm_below->snapshot(fsm, bufs, n_bufs) == 0 ? 0 : RAFT_BUSY;
}

void guard_store__release(struct guard *g)
{
    while (g->parked != NULL) {
        struct guard_append *a = g->parked;
        g->parked = a->next;
        append_end(a, 0);
    }
    if (g->put != NULL && g->put->parked) {
        put_end(g->put, RAFT_CANCELED);
    }
}
