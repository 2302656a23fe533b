/*
 * Simulation: a Raft group under a network and machines that keep failing.
 *
 * Each seed is one story: three or five voters and a newcomer, values being written, and at random
 * moments partitions, lost directions, slow links and disks, crashes that lose what was not
 * flushed, snapshots, transfers of leadership, and the newcomer being added, promoted and removed.
 * After every step the invariants of lib/sim_check.c must hold. In the end everything is repaired,
 * and the group must come to rest and take a write: a guard that prevents progress would be easy to
 * have.
 *
 *   cluster_sim                         300 seeds, then one search with all guards off, which must
 *                                       find a violation: the simulation can fail
 *   cluster_sim SEED                    one seed
 *   cluster_sim --from A --count N      a range
 *   cluster_sim … --off MASK            with these guard rules off (bits of enum guard_rule)
 *   cluster_sim … --trace               say what happens
 *
 * The seed is the only input: the same seed tells the same story on every machine.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/check.h"
#include "base/str.h"
#include "lib/sim.h"

enum {
    SEEDS = 300,
    STORY_MS = 100 * 1000,
    WRITES_MAX = 6000, /* leaves room for barriers in SIM_INDEX_MAX */
    CALM_MS = 120 * 1000,
    RULES_ALL = (1 << GUARD_RULE_COUNT) - 1,
};

struct story {
    struct sim *sim;
    struct rng rng;
    unsigned nodes;
    unsigned writes;
    bool trace;
};

static void trace(const struct story *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void trace(const struct story *s, const char *fmt, ...)
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

static unsigned below(struct story *s, unsigned n)
{
    return (unsigned)rng_below(&s->rng, n);
}

static struct sim_node *any_node(struct story *s)
{
    return &s->sim->node[below(s, s->nodes)];
}

/* Any node that believes it may be written to, also one that has been replaced. */
static struct sim_node *any_leader(struct story *s)
{
    struct sim_node *n = any_node(s);
    for (unsigned i = 0; i < s->nodes; i++) {
        struct sim_node *candidate = &s->sim->node[(n->index + i) % s->nodes];
        if (!candidate->down && guard_ready(&candidate->guard) &&
            !transfer_is_on(&candidate->transfer)) {
            return candidate;
        }
    }
    return NULL;
}

static void write_values(struct story *s)
{
    struct sim_node *n = any_leader(s);
    unsigned count = 1 + below(s, 3);
    for (unsigned i = 0; n != NULL && i < count && s->writes < WRITES_MAX; i++) {
        s->writes += sim_submit(s->sim, n, (size_t)8 * (1 + below(s, 12))) != 0;
    }
}

/* ---- what goes wrong ---- */

/* Two groups that do not hear each other. */
static void cut_between(struct story *s, unsigned mask)
{
    for (unsigned a = 0; a < s->nodes; a++) {
        for (unsigned b = a + 1; b < s->nodes; b++) {
            sim_link(s->sim, a, b, ((mask >> a) & 1U) == ((mask >> b) & 1U));
        }
    }
}

static void upset_partition(struct story *s)
{
    unsigned mask = below(s, 1U << s->nodes);
    trace(s, "partition %#x", mask);
    cut_between(s, mask);
}

/* The leader keeps some of the others, often too few, and is written to all the same. */
static void upset_leader(struct story *s)
{
    struct sim_node *leader = any_leader(s);
    if (leader != NULL) {
        unsigned mask = 1U << leader->index | 1U << below(s, s->nodes) | 1U << below(s, s->nodes);
        trace(s, "leader %u is left with %#x", leader->index + 1, mask);
        cut_between(s, mask);
    }
}

static void upset_heal(struct story *s)
{
    trace(s, "heal");
    sim_heal(s->sim);
}

static void upset_direction(struct story *s)
{
    unsigned a = below(s, s->nodes);
    unsigned b = below(s, s->nodes);
    if (a != b) {
        trace(s, "messages from %u to %u are lost", a + 1, b + 1);
        raft_fixture_saturate(&s->sim->fixture, a, b);
    }
}

static void upset_latency(struct story *s)
{
    unsigned ms = 1 + below(s, below(s, 4) == 0 ? 150 : 20);
    struct sim_node *n = any_node(s);
    n->send_ms = below(s, 3) == 0 ? below(s, 30) : 0;
    trace(s, "messages of %u take %u and %u ms", n->index + 1, n->send_ms, ms);
    raft_fixture_set_network_latency(&s->sim->fixture, n->index, ms);
}

static void upset_disk(struct story *s)
{
    struct sim_node *n = any_node(s);
    n->disk_ms = 1 + below(s, below(s, 3) == 0 ? 300 : 20);
    n->work_ms = 1 + below(s, 100);
    trace(s, "writes of %u take %u ms, snapshots %u ms", n->index + 1, n->disk_ms, n->work_ms);
}

static void upset_crash(struct story *s)
{
    struct sim_node *n = any_node(s);
    if (!n->down) {
        unsigned kept = below(s, 4);
        trace(s, "crash of %u, %u entries were written", n->index + 1, kept);
        sim_crash(s->sim, n, kept);
    }
}

static void upset_restart(struct story *s)
{
    struct sim_node *n = any_node(s);
    if (n->down) {
        trace(s, "restart of %u", n->index + 1);
        sim_restart(s->sim, n);
    }
}

static void upset_transfer(struct story *s)
{
    struct sim_node *n = any_leader(s);
    struct err err;
    raft_id target = 1 + below(s, s->nodes);
    if (n != NULL && !transfer_is_on(&n->transfer) &&
        transfer_start(&n->transfer, target, &err) == ERR_OK) {
        trace(s, "%u hands over to %llu", n->index + 1, target);
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

/* One more step for some node: add it, let it stand by, let it vote; then away with it. The leader
 * itself stays, as in production, where it hands over before. */
static void upset_members(struct story *s)
{
    struct sim_node *n = any_leader(s);
    const struct raft_fixture_server *who = &s->sim->fixture.servers[below(s, s->nodes)];
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
    trace(s, "%u changes the role of %llu from %d: %s", n->index + 1, who->id, role,
          rv == 0 ? "begun" : raft_strerror(rv));
}

/* clang-format off */
static const struct upset {
    unsigned weight;
    void (*happens)(struct story *s);
} upsets[] = {
    {3, upset_partition},
    {5, upset_leader},
    {4, upset_heal},
    {3, upset_direction},
    {3, upset_latency},
    {3, upset_disk},
    {2, upset_crash},
    {4, upset_restart},
    {1, upset_transfer},
    {4, upset_members},
};
/* clang-format on */

static void upset_any(struct story *s)
{
    unsigned total = 0;
    for (size_t i = 0; i < COUNT_OF(upsets); i++) {
        total += upsets[i].weight;
    }
    unsigned at = below(s, total);
    for (size_t i = 0; i < COUNT_OF(upsets); i++) {
        if (at < upsets[i].weight) {
            upsets[i].happens(s);
            return;
        }
        at -= upsets[i].weight;
    }
}

/* ---- the end ---- */

static bool is_at_rest(struct sim *sim, void *arg)
{
    const uint64_t *value = arg;
    struct sim_node *leader = sim_leader(sim);
    if (leader == NULL || !sim_is_acked(sim, *value)) {
        return false;
    }
    for (unsigned i = 0; i < leader->raft->configuration.n; i++) {
        const struct raft_server *server = &leader->raft->configuration.servers[i];
        const struct sim_node *n = &sim->node[server->id - 1];
        if (server->role != RAFT_SPARE && n->raft->last_applied != leader->raft->last_applied) {
            return false;
        }
    }
    return true;
}

static bool has_leader_to_write(struct sim *sim, void *arg)
{
    struct sim_node **leader = arg;
    *leader = sim_leader(sim);
    return *leader != NULL && !transfer_is_on(&(*leader)->transfer);
}

/* Repair everything; the group must recover by itself. A leader may still lose a last election. */
static void calm_down(struct story *s)
{
    struct sim *sim = s->sim;
    trace(s, "calm");
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
    raft_time end = sim->fixture.time + CALM_MS;
    while (sim->violation[0] == '\0') {
        struct sim_node *leader = NULL;
        if (sim->fixture.time >= end) {
            sim_violation(sim, "the group does not recover");
        } else if (sim_until(sim, has_leader_to_write, &leader, CALM_MS)) {
            uint64_t value = sim_submit(sim, leader, 8);
            if (value != 0 && sim_until(sim, is_at_rest, &value, 10 * 1000)) {
                return;
            }
        }
    }
}

static struct sim_options options_of(struct story *s, uint64_t seed, unsigned off)
{
    static const unsigned chunk_bytes[] = {0, 200, 600};
    static const unsigned queue_bytes[] = {0, 1000, 4000};
    struct sim_options o = {.seed = seed, .off = off};
    o.voters = below(s, 2) == 0 ? 3 : 5;
    o.nodes = o.voters + 1;
    o.election_ms = 200;
    o.pre_vote = below(s, 4) != 0;
    o.compacted = below(s, 8) != 0; /* otherwise the fixture copies the log at every step */
    o.async_snapshots = below(s, 2) == 0;
    o.snapshot_threshold = below(s, 5) == 0 ? 0 : 5 + below(s, 60);
    o.snapshot_trailing = below(s, 20);
    o.chunk_bytes = chunk_bytes[below(s, COUNT_OF(chunk_bytes))];
    o.queue_bytes = queue_bytes[below(s, COUNT_OF(queue_bytes))];
    return o;
}

/* The counts of all runs, and their number. */
struct totals {
    unsigned seeds;
    struct sim_counts sum;
};

static void totals_add(struct totals *t, const struct sim_counts *c)
{
    t->seeds++;
    t->sum.steps += c->steps;
    t->sum.acked += c->acked;
    t->sum.leaders += c->leaders;
    t->sum.crashes += c->crashes;
    t->sum.cuts += c->cuts;
    t->sum.installs += c->installs;
    t->sum.member_cuts += c->member_cuts;
    t->sum.transfers += c->transfers;
    t->sum.changes += c->changes;
}

/* False on a violation. */
static bool run_seed(uint64_t seed, unsigned off, bool with_trace, struct totals *totals)
{
    struct story s = {.rng = rng_from(seed ^ 0x5eed), .trace = with_trace};
    struct sim_options options = options_of(&s, seed, off);
    s.nodes = options.nodes;
    s.sim = sim_new(&options);
    raft_time next_write = 0;
    raft_time next_upset = 0;
    while (s.sim->fixture.time < STORY_MS && sim_step(s.sim)) {
        raft_time now = s.sim->fixture.time;
        if (now >= next_write) {
            write_values(&s);
            next_write = now + below(&s, 80);
        }
        if (now >= next_upset) {
            upset_any(&s);
            next_upset = now + below(&s, below(&s, 2) == 0 ? 50 : 800);
        }
    }
    calm_down(&s);
    totals_add(totals, &s.sim->count);
    bool ok = s.sim->violation[0] == '\0';
    if (!ok) {
        printf("\nseed %" PRIu64 ", step %u: %s\n", seed, s.sim->count.steps, s.sim->violation);
    } else {
        sim_free(s.sim); /* after a violation raft's memory may not be in order either */
    }
    return ok;
}

/* In a process of its own: without guards libraft may do anything, crash included. */
static bool fails_without_guards(void)
{
    (void)fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct totals totals = {0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            if (!run_seed(seed, RULES_ALL, false, &totals)) {
                (void)fflush(stdout);
                _exit(1);
            }
        }
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    bool found = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    printf("%s\n", found ? "a violation, as it must be" : "nothing: the simulation sees nothing");
    return found;
}

struct arguments {
    int64_t from, count, off;
    bool trace;
    bool by_hand; /* somebody wants something in particular */
};

static bool arguments_parse(int argc, char **argv, struct arguments *out)
{
    *out = (struct arguments){.from = 1, .count = SEEDS, .by_hand = argc > 1};
    const struct {
        const char *name;
        int64_t *value;
    } options[] = {{"--from", &out->from}, {"--count", &out->count}, {"--off", &out->off}};
    for (int i = 1; i < argc; i++) {
        int64_t *value = NULL;
        for (size_t k = 0; k < COUNT_OF(options); k++) {
            value = strcmp(argv[i], options[k].name) == 0 ? options[k].value : value;
        }
        if (strcmp(argv[i], "--trace") == 0) {
            out->trace = true;
        } else if (value != NULL) {
            i++;
            if (i == argc || !str_to_i64(str_from_z(argv[i]), value)) {
                return false;
            }
        } else {
            out->count = 1;
            if (!str_to_i64(str_from_z(argv[i]), &out->from)) {
                return false;
            }
        }
    }
    return true;
}

static void print_totals(const struct totals *totals)
{
    const struct sim_counts *sum = &totals->sum;
    printf("leaders %u, crashes %u, logs cut %u, snapshots installed %u, memberships changed %u, "
           "cut off %u, leadership handed over %u\n",
           sum->leaders, sum->crashes, sum->cuts, sum->installs, sum->changes, sum->member_cuts,
           sum->transfers);
    printf("seeds %u, steps %u, acknowledged %u\n", totals->seeds, sum->steps, sum->acked);
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct totals totals = {0};
    unsigned failed = 0;
    if (!arguments_parse(argc, argv, &a)) {
        (void)fprintf(stderr, "usage: cluster_sim [SEED | --from A --count N] [--off RULES] "
                              "[--trace]\n");
        return 2;
    }
    for (int64_t i = 0; i < a.count; i++) {
        bool end_of_line = i % 20 == 19 || i + 1 == a.count || a.trace;
        printf("%" PRId64 "%s", a.from + i, end_of_line ? "\n" : " ");
        (void)fflush(stdout); /* the last number is the seed, should the process not survive it */
        failed += !run_seed((uint64_t)(a.from + i), (unsigned)a.off, a.trace, &totals);
    }
    if (!a.by_hand) {
        printf("with all guards off:\n");
        failed += !fails_without_guards();
    }
    print_totals(&totals);
    return failed == 0 ? 0 : 1;
}
