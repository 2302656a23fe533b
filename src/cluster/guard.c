#include "cluster/guard.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "cluster/guard_int.h"

/* ---- what raft must not see: messages are dropped as if the network had lost them ---- */

static void message_drop(struct raft_message *m)
{
    if (m->type == RAFT_IO_APPEND_ENTRIES) {
        struct raft_append_entries *a = &m->append_entries;
        if (a->n_entries > 0) {
            raft_free(a->entries[0].batch); /* one for all, as raft itself assumes */
        }
        raft_free(a->entries);
        a->entries = NULL;
        a->n_entries = 0;
    } else if (m->type == RAFT_IO_INSTALL_SNAPSHOT) {
        raft_configuration_close(&m->install_snapshot.conf);
        raft_free(m->install_snapshot.data.base);
    }
}

bool guard__installing(const struct guard *g)
{
    return g->put != NULL && g->put->installs;
}

/* What raft has in memory is not on the disk yet: it must not stand for election with it, and its
 * log must not be rewritten under what is being stored. */
static bool must_be_calm(const struct guard *g)
{
    return (g->appends != NULL || guard__installing(g)) && guard__on(g, GUARD_CALM);
}

/* ---- stopping ---- */

void guard__stop(struct guard *g, enum guard_rule rule, const char *reason)
{
    if (!g->stopped && !g->closing && guard__on(g, rule)) {
        g->stopped = true;
        g->stopped_by = rule;
        g->reason = reason;
    }
}

/* ---- role and term ---- */

bool guard_ready(const struct guard *g)
{
    const struct raft *r = g->raft;
    if (r->state != RAFT_LEADER || g->stopped) {
        return false;
    }
    if (!guard__on(g, GUARD_BARRIER)) {
        return true;
    }
    return g->barrier_term == r->current_term && r->last_applied >= g->barrier_index;
}

static void barrier_cb(struct raft_barrier *barrier, int status)
{
    struct guard *g = barrier->data;
    (void)status; /* raft's applied index says it */
    g->barrier_busy = false;
}

/* Open the term that raft has just begun to lead. What fails is tried again after the next event:
 * while a transfer is being given up, raft refuses. */
static void open_term(struct guard *g)
{
    struct raft *r = g->raft;
    if (r->state != RAFT_LEADER) {
        g->barrier_term = 0;
        return;
    }
    bool opened = g->barrier_term == r->current_term;
    if (opened || g->barrier_busy || !guard__on(g, GUARD_BARRIER)) {
        return;
    }
    g->barrier.data = g;
    if (raft_barrier(r, &g->barrier, barrier_cb) == 0) {
        g->barrier_busy = true;
        g->barrier_term = r->current_term;
        g->barrier_index = g->barrier.index;
    }
}

/* ---- acknowledgements that come before the leader has stored its first entry ---- */

struct guard_peer *guard__peer(struct guard *g, raft_id id)
{
    for (struct guard_peer *p = g->peers; p != NULL; p = p->next) {
        if (p->id == id) {
            return p;
        }
    }
    struct guard_peer *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    p->id = id;
    p->next = g->peers;
    g->peers = p;
    return p;
}

static bool term_is_opening(const struct guard *g)
{
    const struct raft *r = g->raft;
    if (r->state != RAFT_LEADER || !guard__on(g, GUARD_BARRIER)) {
        return false;
    }
    return g->barrier_term != r->current_term || r->last_stored < g->barrier_index;
}

/* Keep the success for later. Raft sees that the peer is there, and nothing else. */
static void hold_ack(struct guard *g, struct raft_message *m)
{
    struct raft_append_entries_result *result = &m->append_entries_result;
    bool is_success = result->rejected == 0 && result->term == g->raft->current_term;
    if (is_success && term_is_opening(g) && guard__on(g, GUARD_HOLD_ACKS)) {
        struct guard_peer *peer = guard__peer(g, m->server_id);
        if (peer->held_index < result->last_log_index) {
            peer->held_index = result->last_log_index;
        }
        result->last_log_index = 0;
    }
}

static void release_acks(struct guard *g)
{
    if (term_is_opening(g)) {
        return;
    }
    for (struct guard_peer *p = g->peers; p != NULL; p = p->next) {
        struct raft_message m = {
            .type = RAFT_IO_APPEND_ENTRIES_RESULT,
            .server_id = p->id,
            .server_address = "",
            .append_entries_result = {.term = g->raft->current_term,
                                      .last_log_index = p->held_index},
        };
        p->held_index = 0;
        if (m.append_entries_result.last_log_index != 0 && g->raft->state == RAFT_LEADER) {
            g->recv_cb(g->io, &m);
        }
    }
}

/* ---- delivery ---- */

/* Cut the conflicting entries off the log on the disk, and let raft learn about it from there. */
static void cut_members(struct guard *g, raft_index index)
{
    int rv = g->below.truncate(g->io, index);
    if (rv == 0) {
        guard__stop(g, GUARD_MEMBERS, "a membership was cut off the log");
    } else {
        guard__stop(g, GUARD_STORED, "the log could not be cut");
    }
}

static void deliver_append(struct guard *g, struct raft_message *m)
{
    struct raft_append_entries *a = &m->append_entries;
    raft_index conflict = guard_log__conflict(g->raft, a);
    if (conflict != 0 && must_be_calm(g)) {
        /* As a mere heartbeat: the term and the leader are heard, the entries come again. */
        message_drop(m);
    } else if (conflict > g->raft->commit_index && guard__on(g, GUARD_MEMBERS) &&
               guard_log__has_change_from(g->raft, conflict)) {
        message_drop(m);
        cut_members(g, conflict);
        return;
    }
    struct guard_answer answer = {.cap = a->prev_log_index + a->n_entries};
    if (a->leader_commit > answer.cap) {
        a->leader_commit = answer.cap;
    }
    g->answer = &answer;
    g->recv_cb(g->io, m);
    g->answer = NULL;
}

static void deliver_install(struct guard *g, struct raft_message *m)
{
    struct raft_install_snapshot *s = &m->install_snapshot;
    struct guard_answer answer = {.cap = s->last_index};
    raft_term local_term = guard_log__term_at(g->raft, s->last_index);
    if (local_term > s->last_term && guard__on(g, GUARD_INSTALL)) {
        /* Raft takes a log with a younger entry there for one that has the snapshot. It is the
         * entry of a leader that lost. guard_store__snapshot_put puts the true term back. */
        g->install_term = s->last_term;
        s->last_term = local_term + 1;
    }
    g->answer = &answer;
    g->recv_cb(g->io, m);
    g->answer = NULL;
    g->install_term = 0;
}

/* Keep a snapshot until the entries that are being stored are. The leader would offer it again only
 * after a long time. */
static void install_hold(struct guard *g, struct raft_message *m)
{
    char *address = strdup(m->server_address);
    CHECK(address != NULL);
    if (g->install.type != 0) {
        message_drop(&g->install);
        free(g->install_address);
    }
    g->install = *m;
    g->install.server_address = g->install_address = address;
}

static void install_release(struct guard *g)
{
    if (g->install.type != 0 && g->appends == NULL) {
        struct raft_message m = g->install;
        char *address = g->install_address;
        g->install.type = 0;
        deliver_install(g, &m);
        free(address);
    }
}

/* Raft lets the target of a transfer have a second vote in a term. */
static bool is_second_vote(const struct guard *g, const struct raft_request_vote *v)
{
    const struct raft *r = g->raft;
    return !v->pre_vote && v->term == r->current_term && r->voted_for != 0 &&
           r->voted_for != v->candidate_id;
}

static void deliver(struct guard *g, struct raft_message *m)
{
    switch (m->type) {
    case RAFT_IO_APPEND_ENTRIES:
        deliver_append(g, m);
        return;
    case RAFT_IO_INSTALL_SNAPSHOT:
        if (must_be_calm(g) && g->appends != NULL) {
            install_hold(g, m);
        } else {
            deliver_install(g, m);
        }
        return;
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        hold_ack(g, m);
        break;
    case RAFT_IO_REQUEST_VOTE:
        if (m->request_vote.disrupt_leader && guard__installing(g) && must_be_calm(g)) {
            return;
        }
        if (is_second_vote(g, &m->request_vote) && guard__on(g, GUARD_VOTE)) {
            return;
        }
        break;
    case RAFT_IO_TIMEOUT_NOW:
        if (must_be_calm(g)) {
            return;
        }
        break;
    default:
        break;
    }
    g->recv_cb(g->io, m);
}

/* ---- the functions in raft_io ---- */

static void recv_cb(struct raft_io *io, struct raft_message *m)
{
    struct guard *g = guard__of(io);
    if (g->stopped || g->closing) {
        message_drop(m);
        return;
    }
    deliver(g, m);
    guard__event_over(g);
}

static void tick_cb(struct raft_io *io)
{
    struct guard *g = guard__of(io);
    bool swallow = must_be_calm(g) && g->raft->state != RAFT_LEADER;
    if (!g->stopped && !g->closing && !swallow) {
        g->tick_cb(io);
    }
    guard__event_over(g);
}

static int start(struct raft_io *io, unsigned msecs, raft_io_tick_cb tick, raft_io_recv_cb recv)
{
    struct guard *g = guard__of(io);
    g->tick_cb = tick;
    g->recv_cb = recv;
    return g->below.start(io, msecs, tick_cb, recv_cb);
}

/* Leave everything as it was, so that raft can be started again on the same raft_io. */
static void uninstall(struct guard *g)
{
    g->io->start = g->below.start;
    g->io->close = g->below.close;
    g->io->send = g->below.send;
    g->io->append = g->below.append;
    g->io->truncate = g->below.truncate;
    g->io->snapshot_put = g->below.snapshot_put;
    g->raft->fsm = g->fsm_below;
    g->raft->data = NULL;
}

static void closed_cb(struct raft_io *io)
{
    struct guard *g = guard__of(io);
    CHECK(g->appends == NULL);
    CHECK(g->put == NULL);
    while (g->peers != NULL) {
        struct guard_peer *p = g->peers;
        CHECK(p->queued_bytes == 0);
        g->peers = p->next;
        free(p);
    }
    uninstall(g);
    g->close_cb(io); /* g may be gone after this */
}

static void close_io(struct raft_io *io, raft_io_close_cb cb)
{
    struct guard *g = guard__of(io);
    g->closing = true;
    g->close_cb = cb;
    if (g->install.type != 0) {
        message_drop(&g->install);
        free(g->install_address);
        g->install.type = 0;
    }
    guard_store__release(g);
    guard_send__cancel(g);
    g->below.close(io, closed_cb);
}

/* ---- after each event ---- */

static void tell(struct guard *g)
{
    const struct raft *r = g->raft;
    bool ready = guard_ready(g);
    bool changed = g->seen_state != r->state || g->seen_term != r->current_term ||
                   g->seen_ready != ready;
    g->seen_state = r->state;
    g->seen_term = r->current_term;
    g->seen_ready = ready;
    if (g->hooks.delivered != NULL) {
        g->hooks.delivered(g->hooks.data);
    }
    if (changed && !g->closing) {
        g->hooks.state_changed(g->hooks.data);
    }
}

void guard__event_over(struct guard *g)
{
    if (!g->closing && !g->stopped) {
        install_release(g);
        open_term(g);
        release_acks(g);
        if (g->raft->state == RAFT_UNAVAILABLE) {
            guard__stop(g, GUARD_STORED, "raft gave up");
        }
    }
    guard_send__settle(g);
    if (g->closing) {
        return;
    }
    if (!g->stopped) {
        tell(g);
    } else if (!g->told) {
        g->told = true;
        g->hooks.fatal(g->hooks.data, g->stopped_by, g->reason);
    }
}

void guard_look(struct guard *g)
{
    guard__event_over(g);
}

void guard_install(struct guard *g, struct raft_io *io, struct raft *raft,
                   const struct guard_hooks *hooks)
{
    CHECK(raft->io == io);
    CHECK(raft->state == RAFT_UNAVAILABLE);
    CHECK(hooks->state_changed != NULL);
    CHECK(hooks->fatal != NULL);
    *g = (struct guard){
        .queue_bytes = LIMIT_PEER_QUEUE_BYTES,
        .chunk_bytes = LIMIT_PEER_CHUNK_BYTES,
        .raft = raft,
        .io = io,
        .below = *io,
        .fsm = *raft->fsm,
        .fsm_below = raft->fsm,
        .hooks = *hooks,
    };
    raft->data = g;
    raft->fsm = &g->fsm;
    g->fsm.snapshot = guard_store__fsm_snapshot;
    io->start = start;
    io->close = close_io;
    io->send = guard_send__send;
    io->append = guard_store__append;
    io->truncate = guard_store__truncate;
    io->snapshot_put = guard_store__snapshot_put;
}
