#include "lib/sim_upset.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/check.h"
#include "cluster/transfer.h"

void sim_upset_trace(const struct sim_story *s, const char *fmt, ...)
{
    if (s->trace) {
        va_list args;
        va_start(args, fmt);
        printf("  %6llu ms  ", s->sim->fixture.time);
        (void)vprintf(fmt, args);
        printf("\n");
        va_end(args);
    }
}

struct sim_node *sim_upset_node(struct sim_story *s)
{
    return &s->sim->node[sim_upset_below(s, s->nodes)];
}

struct sim_node *sim_upset_leader(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    for (unsigned i = 0; i < s->nodes; i++) {
        struct sim_node *candidate = &s->sim->node[(n->index + i) % s->nodes];
        if (!candidate->down && guard_ready(&candidate->guard) &&
            !transfer_is_on(&candidate->transfer)) {
            return candidate;
        }
    }
    return NULL;
}

/* ---- faults ---- */

/* Split the nodes into two groups that cannot communicate. */
static void cut_between(struct sim_story *s, unsigned mask)
{
    for (unsigned a = 0; a < s->nodes; a++) {
        for (unsigned b = a + 1; b < s->nodes; b++) {
            sim_link(s->sim, a, b, ((mask >> a) & 1U) == ((mask >> b) & 1U));
        }
    }
}

void sim_upset_partition(struct sim_story *s)
{
    unsigned mask = sim_upset_below(s, 1U << s->nodes);
    sim_upset_trace(s, "partition %#x", mask);
    cut_between(s, mask);
}

/* Partition the leader with at most two others, often too few. Writes are still submitted to it. */
void sim_upset_cut_leader(struct sim_story *s)
{
    struct sim_node *leader = sim_upset_leader(s);
    if (leader != NULL) {
        unsigned mask = 1U << leader->index | 1U << sim_upset_below(s, s->nodes) |
                        1U << sim_upset_below(s, s->nodes);
        sim_upset_trace(s, "leader %u is left with %#x", leader->index + 1, mask);
        cut_between(s, mask);
    }
}

void sim_upset_heal(struct sim_story *s)
{
    sim_upset_trace(s, "heal");
    sim_heal(s->sim);
}

void sim_upset_direction(struct sim_story *s)
{
    unsigned a = sim_upset_below(s, s->nodes);
    unsigned b = sim_upset_below(s, s->nodes);
    if (a != b) {
        sim_upset_trace(s, "messages from %u to %u are lost", a + 1, b + 1);
        raft_fixture_saturate(&s->sim->fixture, a, b);
    }
}

void sim_upset_latency(struct sim_story *s)
{
    unsigned ms = 1 + sim_upset_below(s, sim_upset_below(s, 4) == 0 ? 150 : 20);
    struct sim_node *n = sim_upset_node(s);
    n->send_ms = sim_upset_below(s, 3) == 0 ? sim_upset_below(s, 30) : 0;
    sim_upset_trace(s, "messages of %u take %u and %u ms", n->index + 1, n->send_ms, ms);
    raft_fixture_set_network_latency(&s->sim->fixture, n->index, ms);
}

void sim_upset_disk(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    n->disk_ms = 1 + sim_upset_below(s, sim_upset_below(s, 3) == 0 ? 300 : 20);
    n->work_ms = 1 + sim_upset_below(s, 100);
    sim_upset_trace(s, "writes of %u take %u ms, snapshots %u ms", n->index + 1, n->disk_ms,
                    n->work_ms);
}

void sim_upset_crash(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    if (!n->down) {
        unsigned kept = sim_upset_below(s, 4);
        sim_upset_trace(s, "crash of %u, %u entries were written", n->index + 1, kept);
        sim_crash(s->sim, n, kept);
    }
}

void sim_upset_restart(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    if (n->down) {
        sim_upset_trace(s, "restart of %u", n->index + 1);
        sim_restart(s->sim, n);
    }
}

void sim_upset_transfer(struct sim_story *s)
{
    struct sim_node *n = sim_upset_leader(s);
    struct err err;
    raft_id target = 1 + sim_upset_below(s, s->nodes);
    if (n != NULL && !transfer_is_on(&n->transfer) &&
        transfer_start(&n->transfer, target, &err) == ERR_OK) {
        sim_upset_trace(s, "%u hands over to %llu", n->index + 1, target);
    }
}

static void change_cb(struct raft_change *change, int status)
{
    struct sim_node *n = change->data;
    n->change_busy = false;
    n->sim->count.changes += status == 0;
}

static int role_of(const struct raft *r, raft_id id)
{
    for (unsigned i = 0; i < r->configuration.n; i++) {
        if (r->configuration.servers[i].id == id) {
            return r->configuration.servers[i].role;
        }
    }
    return -1;
}

static unsigned voter_count(const struct raft *r)
{
    unsigned count = 0;
    for (unsigned i = 0; i < r->configuration.n; i++) {
        count += r->configuration.servers[i].role == RAFT_VOTER;
    }
    return count;
}

/* Move a node to its next role: add it, make it a standby, make it a voter, and finally remove it.
 * The leader itself is not changed: in production it transfers leadership before. */
void sim_upset_members(struct sim_story *s)
{
    struct sim_node *n = sim_upset_leader(s);
    const struct raft_fixture_server *who = &s->sim->fixture.servers[sim_upset_below(s, s->nodes)];
    if (n == NULL || n->change_busy || n->raft->id == who->id) {
        return;
    }
    n->change.data = n;
    int role = role_of(n->raft, who->id);
    int rv = 0;
    switch (role) {
    case RAFT_SPARE:
        rv = raft_assign(n->raft, &n->change, who->id, RAFT_STANDBY, change_cb);
        break;
    case RAFT_STANDBY:
        rv = raft_assign(n->raft, &n->change, who->id, RAFT_VOTER, change_cb);
        break;
    case RAFT_VOTER:
        if (voter_count(n->raft) < 2) {
            return;
        }
        rv = raft_remove(n->raft, &n->change, who->id, change_cb);
        break;
    default:
        rv = raft_add(n->raft, &n->change, who->id, who->address, change_cb);
        break;
    }
    n->change_busy = rv == 0;
    sim_upset_trace(s, "%u changes the role of %llu from %d: %s", n->index + 1, who->id, role,
                    rv == 0 ? "begun" : raft_strerror(rv));
}

/* ---- selection ---- */

void sim_upset_any(struct sim_story *s, const struct sim_upset *upsets, size_t count)
{
    unsigned total = 0;
    for (size_t i = 0; i < count; i++) {
        total += upsets[i].weight;
    }
    unsigned at = sim_upset_below(s, total);
    for (size_t i = 0; i < count; i++) {
        if (at < upsets[i].weight) {
            upsets[i].happens(s);
            return;
        }
        at -= upsets[i].weight;
    }
}

void sim_upset_calm(struct sim_story *s)
{
    struct sim *sim = s->sim;
    sim_upset_trace(s, "calm");
    sim_heal(sim);
    for (unsigned i = 0; i < s->nodes; i++) {
        raft_fixture_set_network_latency(&sim->fixture, i, 5);
        sim->node[i].disk_ms = 2;
        sim->node[i].work_ms = 20;
        sim->node[i].send_ms = 0;
        if (sim->node[i].down) {
            sim_restart(sim, &sim->node[i]);
        }
    }
}
