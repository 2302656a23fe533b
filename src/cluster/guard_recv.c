/*
 * Guard_recv: filters the messages that raft receives.
 *
 * A message that raft must not see is dropped, as if the network had lost it, or kept until raft
 * may see it. All others are delivered together with a limit for their answer (struct
 * guard_answer).
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster/guard_int.h"

static void entries_drop(struct raft_append_entries *a)
{
    if (a->n_entries > 0) {
        raft_free(a->entries[0].batch); /* one allocation for all entries, as raft itself assumes */
    }
    raft_free(a->entries);
    a->entries = NULL;
    a->n_entries = 0;
}

void guard_recv__drop(struct raft_message *m)
{
    if (m->type == RAFT_IO_APPEND_ENTRIES) {
        entries_drop(&m->append_entries);
    } else if (m->type == RAFT_IO_INSTALL_SNAPSHOT) {
        raft_configuration_close(&m->install_snapshot.conf);
        raft_free(m->install_snapshot.data.base);
    }
}

static bool is_installing(const struct guard *g)
{
    return g->put != NULL && g->put->installs;
}

bool guard_recv__must_be_calm(const struct guard *g)
{
    return (g->appends != NULL || is_installing(g)) && guard__on(g, GUARD_CALM);
}

/* Truncate the conflicting entries in the log on disk, then stop: raft reads the log at its
 * restart. */
static void cut_members(struct guard *g, raft_index index)
{
    int rv = g->below.truncate(g->io, index);
    if (rv == 0) {
        guard__stop(g, GUARD_MEMBERS, "a membership change was truncated from the log");
    } else {
        guard__stop(g, GUARD_STORED, "the log could not be truncated");
    }
}

/* Skip entries that this node's snapshot covers. Raft can no longer compare them: it always refuses
 * a message that begins inside the snapshot, and appends the entries of one that begins at the
 * first entry again. Entries in a snapshot are committed, so every leader has the same ones. */
static void skip_compacted(struct guard *g, struct raft_append_entries *a)
{
    const struct raft *r = g->raft;
    raft_index known = r->log.snapshot.last_index;
    bool comparable = guard_log__term_at(r, a->prev_log_index) != 0;
    if (a->term < r->current_term || a->prev_log_index >= known || comparable) {
        return;
    }
    raft_index gap = known - a->prev_log_index;
    unsigned skipped = gap < a->n_entries ? (unsigned)gap : a->n_entries;
    a->prev_log_index = known;
    a->prev_log_term = r->log.snapshot.last_term;
    if (skipped < a->n_entries) {
        a->n_entries -= skipped;
        memmove(a->entries, a->entries + skipped, a->n_entries * sizeof a->entries[0]);
    } else {
        entries_drop(a);
    }
}

/* Is the log in memory too long for more entries? A snapshot shortens it, or the end of a write. If
 * neither can, raft gets more: it may need them to commit what it has. */
static bool log_is_too_long(const struct guard *g)
{
    const struct raft *r = g->raft;
    bool shrinks = r->last_applied > r->log.snapshot.last_index && !guard_store__is_undecided(r);
    return g->log_bytes_max > 0 && g->log_bytes > g->log_bytes_max &&
           (shrinks || g->appends != NULL) && guard__on(g, GUARD_LOG);
}

/* Remove the entries that are new. The leader sends them again with each heartbeat, or a snapshot
 * once it does not have them any more. */
static void drop_new(const struct guard *g, struct raft_append_entries *a)
{
    raft_index last = guard_log__last_index(g->raft);
    raft_index known = last > a->prev_log_index ? last - a->prev_log_index : 0;
    if (known == 0) {
        entries_drop(a);
    } else if (known < a->n_entries) {
        a->n_entries = (unsigned)known; /* the memory of all entries is freed with the first */
    }
}

/* Deliver a message without new entries, and let raft apply its last entry again: it then considers
 * a snapshot. The state machine skips the entry, and everything else that raft does for it has no
 * second effect on a follower. */
static void deliver_again(struct guard *g, struct raft_message *m)
{
    struct raft_append_entries *a = &m->append_entries;
    struct raft *r = g->raft;
    raft_index last = r->last_applied;
    bool is_calm = !guard_recv__must_be_calm(g) && r->snapshot.pending.term == 0 && g->put == NULL;
    if (r->state == RAFT_FOLLOWER && is_calm && last > r->log.snapshot.last_index && last > 1 &&
        r->commit_index == last && r->last_stored >= last && guard_log__term_at(r, last) != 0) {
        g->snapshot_wanted = false;
        r->last_applied--;
        r->commit_index--;
        a->leader_commit = a->leader_commit > last ? a->leader_commit : last;
    }
    g->recv_cb(g->io, m);
    if (r->commit_index < last) { /* raft refused the message */
        CHECK(r->last_applied < last);
        r->last_applied = last;
        r->commit_index = last;
    }
}

static void deliver_append(struct guard *g, struct raft_message *m)
{
    struct raft_append_entries *a = &m->append_entries;
    struct guard_answer answer = {.cap = a->prev_log_index + a->n_entries};
    if (guard__on(g, GUARD_COMPACTED)) {
        skip_compacted(g, a);
    }
    raft_index conflict = guard_log__conflict(g->raft, a);
    if (conflict != 0 && guard_recv__must_be_calm(g)) {
        /* Deliver it as a heartbeat: raft sees the term and the leader. The leader sends the
         * entries again. */
        entries_drop(a);
        answer.cap = a->prev_log_index;
    } else if (conflict > g->raft->commit_index && guard__on(g, GUARD_MEMBERS) &&
               guard_log__has_change_from(g->raft, conflict)) {
        guard_recv__drop(m);
        cut_members(g, conflict);
        return;
    } else if (conflict == 0 && log_is_too_long(g)) {
        drop_new(g, a);
        answer.cap = a->prev_log_index + a->n_entries;
    }
    if (a->leader_commit > answer.cap) {
        a->leader_commit = answer.cap;
    }
    g->answer = &answer;
    bool is_new = a->prev_log_index + a->n_entries > guard_log__last_index(g->raft);
    if (g->snapshot_wanted && conflict == 0 && !is_new) {
        deliver_again(g, m);
    } else {
        g->recv_cb(g->io, m);
    }
    g->answer = NULL;
}

static void deliver_install(struct guard *g, struct raft_message *m)
{
    struct raft_install_snapshot *s = &m->install_snapshot;
    struct guard_answer answer = {.cap = s->last_index};
    raft_term local_term = guard_log__term_at(g->raft, s->last_index);
    if (local_term > s->last_term && guard__on(g, GUARD_INSTALL)) {
        /* Raft assumes that a log with a newer entry at that index covers the snapshot. But that
         * entry was never committed. So raise the term; guard_store__snapshot_put restores the real
         * one. */
        g->install_term = s->last_term;
        s->last_term = local_term + 1;
    }
    g->answer = &answer;
    g->recv_cb(g->io, m);
    g->answer = NULL;
    g->install_term = 0;
}

/* True while entries are being stored, or while raft takes a snapshot itself and would ignore this
 * one. */
static bool install_must_wait(const struct guard *g)
{
    bool busy = g->appends != NULL || g->raft->snapshot.pending.term != 0;
    return busy && guard__on(g, GUARD_CALM);
}

/* Keep the message: the leader would offer the snapshot again only after a long time. */
static void install_hold(struct guard *g, struct raft_message *m)
{
    char *address = strdup(m->server_address);
    CHECK(address != NULL);
    if (g->install.type != 0) {
        guard_recv__drop(&g->install);
        free(g->install_address);
    }
    g->install = *m;
    g->install.server_address = g->install_address = address;
}

void guard_recv__release(struct guard *g)
{
    if (g->install.type != 0 && !install_must_wait(g)) {
        struct raft_message m = g->install;
        char *address = g->install_address;
        g->install.type = 0;
        deliver_install(g, &m);
        free(address);
    }
}

static struct raft_server *own_server(struct raft *r)
{
    for (unsigned i = 0; i < r->configuration.n; i++) {
        if (r->configuration.servers[i].id == r->id) {
            return &r->configuration.servers[i];
        }
    }
    return NULL;
}

/* Raft grants the target of a transfer a second vote in the same term. */
static bool is_second_vote(const struct guard *g, const struct raft_request_vote *v)
{
    const struct raft *r = g->raft;
    return r->transfer != NULL && !v->pre_vote && v->term == r->current_term && r->voted_for != 0 &&
           r->voted_for != v->candidate_id;
}

/* Raft does not vote while it remembers a leader, and forgets the leader only when it becomes a
 * candidate, which a stand-by never does. The intended rule is: no vote within an election timeout
 * after the leader's last message. */
static void forget_leader(struct raft *r)
{
    raft_time silence = r->io->time(r->io) - r->election_timer_start;
    if (r->state == RAFT_FOLLOWER && silence >= r->election_timeout) {
        r->follower_state.current_leader.id = 0;
    }
}

/* This node does not vote for a candidate with an older log. If there is no leader, it could win
 * itself: become a candidate at the next tick instead of waiting for the timer. */
static void stand_instead(struct raft *r, const struct raft_request_vote *v)
{
    raft_index last = guard_log__last_index(r);
    raft_term term = guard_log__term_at(r, last);
    bool is_older =
        v->last_log_term < term || (v->last_log_term == term && v->last_log_index < last);
    if (is_older && r->state == RAFT_FOLLOWER && r->follower_state.current_leader.id == 0) {
        r->election_timer_start =
            r->io->time(r->io) - r->follower_state.randomized_election_timeout;
    }
}

/* The candidate's membership decides whether our vote counts, and may be newer than ours: a leader
 * that crashed while it promoted this node needs its vote to lead again. Raft does not vote while
 * it is a stand-by in its own membership, so it is made a voter for this one message. */
static void deliver_request_vote(struct guard *g, struct raft_message *m)
{
    struct raft_server *self = guard__on(g, GUARD_STANDBY) ? own_server(g->raft) : NULL;
    if (self == NULL) {
        g->recv_cb(g->io, m);
        return;
    }
    int role = self->role;
    forget_leader(g->raft);
    self->role = RAFT_VOTER;
    g->recv_cb(g->io, m); /* does not touch the membership */
    self->role = role;
    stand_instead(g->raft, &m->request_vote);
}

void guard_recv__deliver(struct guard *g, struct raft_message *m)
{
    switch (m->type) {
    case RAFT_IO_APPEND_ENTRIES:
        deliver_append(g, m);
        return;
    case RAFT_IO_INSTALL_SNAPSHOT:
        if (install_must_wait(g)) {
            install_hold(g, m);
        } else {
            deliver_install(g, m);
        }
        return;
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        guard__hold_ack(g, m);
        break;
    case RAFT_IO_REQUEST_VOTE:
        if (m->request_vote.disrupt_leader && is_installing(g) && guard_recv__must_be_calm(g)) {
            return;
        }
        if (is_second_vote(g, &m->request_vote) && guard__on(g, GUARD_VOTE)) {
            return;
        }
        deliver_request_vote(g, m);
        return;
    case RAFT_IO_TIMEOUT_NOW:
        if (guard_recv__must_be_calm(g)) {
            return;
        }
        break;
    default:
        break;
    }
    g->recv_cb(g->io, m);
}
