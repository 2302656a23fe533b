#include "cluster/guard.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "cluster/guard_int.h"

/* ---- stopping ---- */

void guard__stop(struct guard *g, enum guard_rule rule, const char *reason)
{
    if (!g->stopped && !g->closing && guard__on(g, rule)) {
        g->stopped = true;
        g->stopped_by = rule;
        g->stopped_at = g->io->time(g->io);
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
    (void)status; /* guard_ready checks raft's applied index instead */
    g->barrier_busy = false;
}

static bool is_only_voter(const struct raft *r)
{
    unsigned others = 0;
    for (unsigned i = 0; i < r->configuration.n; i++) {
        const struct raft_server *server = &r->configuration.servers[i];
        others += server->role == RAFT_VOTER && server->id != r->id;
    }
    return others == 0;
}

/* A group of one elects itself without a new term. After a crash it could then write different
 * entries at indexes for which a stand-by already has entries of the same term, and raft could not
 * tell them apart. So begin a new term, before any message announces the leadership. */
static bool renew_term(struct guard *g)
{
    struct raft *r = g->raft;
    raft_term term = r->current_term + 1;
    if (g->io->set_term(g->io, term) != 0 || g->io->set_vote(g->io, r->id) != 0) {
        guard__stop(g, GUARD_STORED, "the term could not be written");
        return false;
    }
    r->current_term = term;
    r->voted_for = r->id;
    return true;
}

/* Submit the first entry of a term in which raft became leader. A failure is retried after the next
 * event: raft refuses while a transfer is being aborted. */
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
    bool renews = g->seen_state != RAFT_LEADER && is_only_voter(r) && guard__on(g, GUARD_TERM);
    if (renews && !renew_term(g)) {
        return;
    }
    g->barrier.data = g;
    if (raft_barrier(r, &g->barrier, barrier_cb) == 0) {
        g->barrier_busy = true;
        g->barrier_term = r->current_term;
        g->barrier_index = g->barrier.index;
    }
}

/* ---- acknowledgements received before the leader has stored its first entry ---- */

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

/* Save the acknowledgement for later, and clear its index: raft sees only that the peer is up. */
void guard__hold_ack(struct guard *g, struct raft_message *m)
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
        raft_index index = p->held_index;
        p->held_index = 0;
        if (index != 0 && g->raft->state == RAFT_LEADER) {
            struct raft_message m = {
                .type = RAFT_IO_APPEND_ENTRIES_RESULT, .server_id = p->id, .server_address = ""};
            m.append_entries_result = (struct raft_append_entries_result){
                .term = g->raft->current_term, .last_log_index = index};
            g->recv_cb(g->io, &m);
        }
    }
}

/* ---- the functions in raft_io ---- */

static void recv_cb(struct raft_io *io, struct raft_message *m)
{
    struct guard *g = guard__of(io);
    if (g->stopped || g->closing) {
        guard_recv__drop(m);
        return;
    }
    guard_recv__deliver(g, m);
    guard__event_over(g);
}

static void tick_cb(struct raft_io *io)
{
    struct guard *g = guard__of(io);
    bool swallow = guard_recv__must_be_calm(g) && g->raft->state != RAFT_LEADER;
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

/* Restore the original functions, so that raft can be started again on the same raft_io. */
static void uninstall(struct guard *g)
{
    g->io->load = g->below.load;
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
    g->close_cb(io); /* may free g */
}

static void close_io(struct raft_io *io, raft_io_close_cb cb)
{
    struct guard *g = guard__of(io);
    g->closing = true;
    g->close_cb = cb;
    if (g->install.type != 0) {
        guard_recv__drop(&g->install);
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
    bool changed =
        g->seen_state != r->state || g->seen_term != r->current_term || g->seen_ready != ready;
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

static void tell_stop(struct guard *g)
{
    raft_time since = g->io->time(g->io) - g->stopped_at;
    bool is_time = g->stopped_by != GUARD_MEMBERS || since >= g->raft->heartbeat_timeout;
    if (is_time && !g->told) {
        g->told = true;
        g->hooks.fatal(g->hooks.data, g->stopped_by, g->reason);
    }
}

void guard__event_over(struct guard *g)
{
    if (!g->closing && !g->stopped) {
        guard_recv__release(g);
        open_term(g);
        release_acks(g);
        if (g->raft->state == RAFT_UNAVAILABLE) {
            guard__stop(g, GUARD_STORED, "raft stopped");
        }
    }
    guard_send__settle(g);
    if (g->closing) {
        return;
    }
    if (g->stopped) {
        tell_stop(g);
    } else {
        tell(g);
    }
}

void guard_snapshot_soon(struct guard *g)
{
    g->snapshot_wanted = true;
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
    io->load = guard_store__load;
    io->start = start;
    io->close = close_io;
    io->send = guard_send__send;
    io->append = guard_store__append;
    io->truncate = guard_store__truncate;
    io->snapshot_put = guard_store__snapshot_put;
}
