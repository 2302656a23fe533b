/*
 * Sim_check: invariants that are checked after every step.
 *
 *   - No two nodes apply different entries at one index, and no term has two leaders.
 *   - A new leader has every acknowledged entry in its log, and once it accepts writes, in its
 *     state.
 *   - The entries that the leader counts as replicated to a follower are on that follower's disk,
 *     and are the same.
 *   - A commit index never decreases while a node lives, and a vote is not changed within a term.
 *   - The guard's owner has been notified of every change.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "lib/sim.h"

/* Record a violation. Only the first one is kept. */
void sim_violation(struct sim *sim, const char *fmt, ...)
{
    if (sim->violation[0] == '\0') {
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(sim->violation, sizeof sim->violation, fmt, args);
        va_end(args);
    }
}

void sim_check_applied(struct sim_node *n, raft_index index, uint64_t value)
{
    struct sim *sim = n->sim;
    CHECK(index < SIM_INDEX_MAX);
    if (sim->truth[index] == 0) {
        sim->truth[index] = value;
    } else if (sim->truth[index] != value) {
        sim_violation(sim, "node %u applies %llu at index %llu, another one applied %llu",
                      n->index + 1, (unsigned long long)value, index,
                      (unsigned long long)sim->truth[index]);
    }
}

void sim_check_acked(struct sim *sim, raft_index index, uint64_t value)
{
    CHECK(index < SIM_INDEX_MAX);
    if (sim->truth[index] != value) {
        sim_violation(sim, "value %llu is acknowledged at index %llu, where %llu stands",
                      (unsigned long long)value, index, (unsigned long long)sim->truth[index]);
    }
    sim->acked[index] = value;
    sim->count.acked++;
    if (sim->highest_acked < index) {
        sim->highest_acked = index;
    }
}

void sim_check_vote(struct sim_node *n, raft_id vote)
{
    const struct sim_disk *d = &n->disk;
    if (d->vote != 0 && d->vote != vote) {
        sim_violation(n->sim, "node %u votes for %llu and %llu in term %llu", n->index + 1, d->vote,
                      vote, d->term);
    }
}

static size_t log_count(const struct raft_log *l)
{
    return l->front <= l->back ? l->back - l->front : l->size - l->front + l->back;
}

raft_index sim_last_index(const struct sim_node *n)
{
    return n->raft->log.offset + log_count(&n->raft->log);
}

raft_term sim_term_at(const struct sim_node *n, raft_index index)
{
    const struct raft_log *l = &n->raft->log;
    if (index > l->offset && index <= l->offset + log_count(l)) {
        return l->entries[(l->front + (size_t)(index - l->offset - 1)) % l->size].term;
    }
    return index == l->snapshot.last_index ? l->snapshot.last_term : 0;
}

/* The state machine does not apply barriers and memberships, so compare terms, too. */
static void check_history(struct sim_node *n)
{
    struct sim *sim = n->sim;
    const struct raft *r = n->raft;
    if (r->state == RAFT_UNAVAILABLE) {
        sim_violation(sim, "node %u has given up", n->index + 1);
        return;
    }
    if (r->commit_index < n->seen_commit) {
        sim_violation(sim, "the commit index of node %u goes from %llu back to %llu", n->index + 1,
                      n->seen_commit, r->commit_index);
    }
    n->seen_commit = r->commit_index;
    while (n->checked_index < r->last_applied) {
        raft_index index = ++n->checked_index;
        raft_term term = sim_term_at(n, index);
        CHECK(index < SIM_INDEX_MAX);
        if (term == 0) {
            continue; /* the entry was in a snapshot */
        }
        if (sim->truth_term[index] == 0) {
            sim->truth_term[index] = term;
        } else if (sim->truth_term[index] != term) {
            sim_violation(sim, "node %u commits index %llu of term %llu, another one of term %llu",
                          n->index + 1, index, term, sim->truth_term[index]);
        }
    }
}

/* Called once per node and term, when the node becomes leader. */
static void check_election(struct sim_node *n)
{
    struct sim *sim = n->sim;
    const struct raft *r = n->raft;
    CHECK(r->current_term < SIM_TERM_MAX);
    raft_id *leader = &sim->leader_of[r->current_term];
    if (*leader != 0 && *leader != r->id) {
        sim_violation(sim, "nodes %llu and %llu both lead in term %llu", *leader, r->id,
                      r->current_term);
    }
    *leader = r->id;
    sim->count.leaders++;
    if (sim->highest_term < r->current_term) {
        sim->highest_term = r->current_term;
    }
    for (raft_index i = 1; i <= sim->highest_acked; i++) {
        raft_term term = i < r->log.snapshot.last_index ? sim->truth_term[i] : sim_term_at(n, i);
        if (sim->acked[i] != 0 && term != sim->truth_term[i]) {
            sim_violation(sim, "node %u leads in term %llu without the acknowledged entry %llu",
                          n->index + 1, r->current_term, i);
        }
    }
}

static void check_state(struct sim_node *n)
{
    struct sim *sim = n->sim;
    for (raft_index i = 1; i <= sim->highest_acked; i++) {
        if (sim->acked[i] != 0 && n->value[i] != sim->acked[i]) {
            sim_violation(sim, "node %u may be written to without the acknowledged entry %llu",
                          n->index + 1, i);
        }
    }
}

static void check_matches(struct sim_node *n)
{
    struct sim *sim = n->sim;
    const struct raft *r = n->raft;
    for (unsigned i = 0; i < r->configuration.n; i++) {
        raft_index match = r->leader_state.progress[i].match_index;
        const struct sim_node *peer = &sim->node[r->configuration.servers[i].id - 1];
        bool in_snapshot = peer->disk.has_snapshot && match < peer->disk.snapshot.index;
        if (match == 0 || in_snapshot) {
            continue;
        }
        raft_term ours = sim_term_at(n, match);
        raft_term theirs = sim_disk_term_at(&peer->disk, match);
        if (ours == 0) {
            ours = sim->truth_term[match];
        }
        if (theirs != ours) {
            sim_violation(sim,
                          "leader %llu of term %llu counts on node %u having entry %llu of term "
                          "%llu, its disk has %llu",
                          r->id, r->current_term, peer->index + 1, match, ours, theirs);
        }
    }
}

static void check_told(struct sim_node *n)
{
    const struct raft *r = n->raft;
    if (n->told_state != r->state || n->told_term != r->current_term ||
        n->told_ready != guard_ready(&n->guard)) {
        sim_violation(n->sim, "the owner of node %u was not told of a change", n->index + 1);
    }
}

void sim_check(struct sim *sim)
{
    for (unsigned i = 0; i < sim->options.nodes; i++) {
        struct sim_node *n = &sim->node[i];
        if (n->down || n->guard.stopped) {
            continue;
        }
        check_history(n);
        check_told(n);
        if (n->raft->state != RAFT_LEADER) {
            n->checked_ready = false;
            continue;
        }
        if (n->checked_term != n->raft->current_term) {
            n->checked_term = n->raft->current_term;
            check_election(n);
        }
        bool ready = guard_ready(&n->guard) && n->raft->current_term == sim->highest_term;
        if (ready && !n->checked_ready) {
            n->checked_ready = true;
            check_state(n);
        }
        if (n->raft->current_term == sim->highest_term && !sim->options.matches_unchecked) {
            check_matches(n);
        }
    }
}
