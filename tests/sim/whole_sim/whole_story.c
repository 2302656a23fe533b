/*
 * A story, decided by its seed. Members and settings are chosen first. Then clients send requests
 * while faults occur. Finally everything is repaired, and the cluster must settle: every request is
 * answered, every member has the same bytes, and they match what the clients know.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "base/check.h"
#include "sim/whole_sim/kv_disk.h"
#include "sim/whole_sim/whole.h"

enum {
    STORY_MS = 40 * 1000,
    CALM_MS = 120 * 1000,
    ELECTION_MS = 200,
    ENTRIES_MAX = SIM_INDEX_MAX - 512, /* leaves room for entries of the calm phase */
    ARENA_BYTES = 1 << 20,
};

static struct whole *whole_of(struct sim_story *s)
{
    return CONTAINER_OF(s, struct whole, story);
}

/* ---- faults in addition to those of lib/sim_upset.h ---- */

static void upset_net(struct sim_story *s)
{
    struct sim_net *net = &s->sim->net;
    *net = (struct sim_net){.late_ms = 1 + sim_upset_below(s, 200)};
    net->lost = sim_upset_below(s, 3) == 0 ? sim_upset_below(s, 150) : 0;
    net->twice = sim_upset_below(s, 2) == 0 ? sim_upset_below(s, 200) : 0;
    net->late = sim_upset_below(s, 2) == 0 ? sim_upset_below(s, 300) : 0;
    sim_upset_trace(s, "of a thousand messages %u are lost, %u come twice, %u up to %u ms late",
                    net->lost, net->twice, net->late, net->late_ms);
}

static void upset_crash_torn(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    if (!n->down) {
        sim_upset_trace(s, "crash of %u in the middle of a write", n->index + 1);
        sim_crash_torn(s->sim, n);
    }
}

static void upset_full(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    n->full = !n->full && sim_upset_below(s, 2) == 0;
    sim_upset_trace(s, "the disk of %u is %s", n->index + 1, n->full ? "full" : "not full");
}

/* The disk reports an error. The process stops and is restarted. */
static void upset_failed_write(struct sim_story *s)
{
    struct sim_node *n = sim_upset_node(s);
    if (!n->down && sim_upset_below(s, 3) == 0) {
        sim_upset_trace(s, "the next write of %u fails", n->index + 1);
        n->write_fails = true;
    }
}

static void upset_clock(struct sim_story *s)
{
    static const int64_t jumps_ms[] = {50, 2000, 30 * 1000, 300 * 1000, 24 * 3600 * 1000};
    struct whole_node *n = &whole_of(s)->node[sim_upset_below(s, s->nodes)];
    int64_t ms = jumps_ms[sim_upset_below(s, COUNT_OF(jumps_ms))];
    ms = (int64_t)rng_below(&s->rng, (uint64_t)ms) * (sim_upset_below(s, 2) == 0 ? 1 : -1);
    n->clock_off_ns = ms * NS_PER_MS;
    n->clock_ppm = (int64_t)sim_upset_below(s, 2000) - 1000;
    sim_upset_trace(s, "the clock of %u is off by %lld ms", (unsigned)(n - whole_of(s)->node) + 1,
                    (long long)ms);
}

/* clang-format off */
static const struct sim_upset upsets[] = {
    {3, sim_upset_partition},
    {5, sim_upset_cut_leader},
    {5, sim_upset_heal},
    {3, sim_upset_direction},
    {3, sim_upset_latency},
    {3, sim_upset_disk},
    {2, sim_upset_crash},
    {2, upset_crash_torn},
    {6, sim_upset_restart},
    {2, sim_upset_transfer},
    {4, sim_upset_members},
    {4, upset_net},
    {2, upset_full},
    {1, upset_failed_write},
    {3, upset_clock},
};
/* clang-format on */

/* ---- the run ---- */

static struct sim_options options_of(struct whole *w, uint64_t seed)
{
    static const unsigned chunk_bytes[] = {0, 600, 3000};
    static const unsigned queue_bytes[] = {0, 4000, 20000};
    struct sim_options o = {.seed = seed, .host = &whole_node_host, .host_data = w};
    o.off = w->off & ((1U << GUARD_RULE_COUNT) - 1);
    o.voters = whole_below(w, 3) == 0 ? 5 : 3;
    o.nodes = o.voters + 1;
    o.election_ms = ELECTION_MS;
    o.pre_vote = whole_below(w, 4) != 0;
    o.compacted = true; /* otherwise the fixture copies the log at every step */
    o.async_snapshots = whole_below(w, 4) != 0;
    o.snapshot_threshold = whole_below(w, 6) == 0 ? 0 : 5 + whole_below(w, 60);
    o.snapshot_trailing = whole_below(w, 20);
    o.chunk_bytes = chunk_bytes[whole_below(w, COUNT_OF(chunk_bytes))];
    o.queue_bytes = queue_bytes[whole_below(w, COUNT_OF(queue_bytes))];
    o.disk_forgets = !whole_on(w, WHOLE_FLUSHED);
    o.ballot_forgets = !whole_on(w, WHOLE_BALLOT);
    o.torn_counts = !whole_on(w, WHOLE_TORN);
    o.log_unfit = !whole_on(w, WHOLE_FIT);
    return o;
}

static struct whole *whole_new(uint64_t seed, unsigned off, bool trace)
{
    struct whole *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->off = off;
    w->story = (struct sim_story){.rng = rng_from(seed ^ 0x40e5), .trace = trace};
    w->arena = arena_new(ARENA_BYTES);
    map_init(&w->names);
    map_init(&w->tokens);
    map_init(&w->markers);
    map_init(&w->leases);
    map_init(&w->notes);
    struct sim_options options = options_of(w, seed);
    w->story.nodes = options.nodes;
    w->sim = w->story.sim = sim_new(&options);
    return w;
}

static void whole_free(struct whole *w)
{
    sim_free(w->sim);
    whole_truth_free(w);
    whole_ledger_free(w);
    whole_client_free(w);
    arena_free(w->arena);
    free(w);
}

/* Process one event, and the work of nodes and clients that it causes. False on a violation. */
static bool step(struct whole *w)
{
    bool ok = sim_step(w->sim);
    for (unsigned i = 0; ok && i < w->story.nodes; i++) {
        struct sim_node *n = &w->sim->node[i];
        if (n->write_failed && n->fatal_count > 0 && !n->down) {
            n->fatal_count = 0;
            sim_crash(w->sim, n, 0);
        }
        whole_node_look(w, &w->node[i]);
    }
    for (unsigned i = 0; ok && i < WHOLE_CLIENTS; i++) {
        whole_client_step(w, &w->client[i]);
    }
    return ok && w->sim->violation[0] == '\0';
}

/* ---- the end ---- */

static bool is_member(const struct sim_node *leader, const struct sim_node *n)
{
    const struct raft_configuration *c = &leader->raft->configuration;
    for (unsigned i = 0; i < c->n; i++) {
        if (c->servers[i].id == n->raft->id) {
            return c->servers[i].role != RAFT_SPARE;
        }
    }
    return false;
}

static bool is_at_rest(struct whole *w, const struct sim_node *leader)
{
    if (leader == NULL || whole_client_any_open(w)) {
        return false;
    }
    uint64_t index = machine_applied_index(whole_node_of(leader)->machine);
    for (unsigned i = 0; i < w->story.nodes; i++) {
        const struct sim_node *n = &w->sim->node[i];
        if (is_member(leader, n) &&
            (n->down || machine_applied_index(whole_node_of(n)->machine) != index)) {
            return false;
        }
    }
    return index == w->last_seen;
}

static void check_end(struct whole *w, const struct sim_node *leader)
{
    uint64_t digest = machine_digest(whole_node_of(leader)->machine);
    for (unsigned i = 0; i < w->story.nodes; i++) {
        const struct sim_node *n = &w->sim->node[i];
        if (is_member(leader, n) && machine_digest(whole_node_of(n)->machine) != digest) {
            sim_violation(w->sim, "node %u has stored other bytes than node %u in the end", i + 1,
                          leader->index + 1);
        }
    }
    whole_ledger_check(w, whole_node_of(leader));
}

static void calm_down(struct whole *w)
{
    for (unsigned i = 0; i < w->story.nodes; i++) {
        w->sim->node[i].full = false;
        w->sim->node[i].write_fails = false;
        w->node[i].clock_off_ns = 0;
    }
    w->sim->net = (struct sim_net){0};
    w->calm = true;
    sim_upset_calm(&w->story);
    raft_time end = w->sim->fixture.time + CALM_MS;
    while (step(w)) {
        const struct sim_node *leader = sim_leader(w->sim);
        if (is_at_rest(w, leader)) {
            check_end(w, leader);
            return;
        }
        if (w->sim->fixture.time >= end) {
            sim_violation(w->sim, "the cluster does not come to rest");
        }
        for (unsigned i = 0; i < w->story.nodes; i++) {
            if (w->sim->node[i].down) {
                sim_restart(w->sim, &w->sim->node[i]);
            }
        }
    }
}

static void add(struct whole_counts *sum, const struct whole_counts *c)
{
    sum->ops += c->ops;
    sum->answered += c->answered;
    sum->asked_again += c->asked_again;
    sum->unknown += c->unknown;
    sum->refused += c->refused;
    sum->ticks += c->ticks;
    sum->renewals += c->renewals;
    sum->checkpoints += c->checkpoints;
    sum->restores += c->restores;
    sum->answered_again += c->answered_again;
}

static void add_sim(struct sim_counts *sum, const struct sim_counts *c)
{
    sum->steps += c->steps;
    sum->acked += c->acked;
    sum->leaders += c->leaders;
    sum->crashes += c->crashes;
    sum->cuts += c->cuts;
    sum->installs += c->installs;
    sum->member_cuts += c->member_cuts;
    sum->transfers += c->transfers;
    sum->changes += c->changes;
    sum->lost += c->lost;
    sum->twice += c->twice;
    sum->late += c->late;
    sum->torn += c->torn;
    sum->half_installs += c->half_installs;
}

bool whole_story(uint64_t seed, unsigned off, bool trace, struct whole_counts *sum,
                 struct sim_counts *sim_sum)
{
    struct whole *w = whole_new(seed, off, trace);
    raft_time next_upset = ELECTION_MS * 2;
    while (w->sim->fixture.time < STORY_MS && w->last_seen < ENTRIES_MAX && step(w)) {
        raft_time now = w->sim->fixture.time;
        if (now >= next_upset) {
            sim_upset_any(&w->story, upsets, COUNT_OF(upsets));
            next_upset = now + whole_below(w, whole_below(w, 2) == 0 ? 50 : 800);
        }
    }
    if (w->sim->violation[0] == '\0') {
        calm_down(w);
    }
    add(sum, &w->count);
    add_sim(sim_sum, &w->sim->count);
    bool ok = w->sim->violation[0] == '\0';
    if (ok) {
        whole_free(w); /* after a violation raft's memory may be damaged */
    } else {
        printf("\nseed %llu, at %llu ms: %s\n", (unsigned long long)seed, w->sim->fixture.time,
               w->sim->violation);
    }
    kv_disk_clear();
    return ok;
}
