/*
 * Simulation: a Raft group on unreliable networks and machines.
 *
 * Each seed is one story: three or five voters, a new node and a sequence of writes. At random
 * moments there are partitions, links that fail in one direction, slow links and disks, crashes
 * that lose data that was not flushed, snapshots and transfers of leadership, and the new node is
 * added, promoted and removed. After every step the invariants of lib/sim_check.c must hold. At the
 * end everything is repaired, and the group must settle and accept a write: otherwise a guard that
 * prevents all progress would pass.
 *
 *   cluster_sim                         300 seeds, then one search with all guards off, which must
 *                                       find a violation: it proves that the simulation can fail
 *   cluster_sim SEED                    one seed
 *   cluster_sim --from A --count N      a range
 *   cluster_sim … --off MASK            with these guard rules off (bits of enum guard_rule)
 *   cluster_sim … --trace               print what happens
 *
 * The seed is the only input. The same seed produces the same story on every machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/check.h"
#include "base/str.h"
#include "lib/sim_upset.h"

enum {
    SEEDS = 300,
    STORY_MS = 100 * 1000,
    WRITES_MAX = 6000, /* leaves room for barriers in SIM_INDEX_MAX */
    CALM_MS = 120 * 1000,
    RULES_ALL = (1 << GUARD_RULE_COUNT) - 1,
};

struct story {
    struct sim_story common;
    unsigned writes;
};

static void write_values(struct story *s)
{
    struct sim_story *c = &s->common;
    struct sim_node *n = sim_upset_leader(c);
    unsigned count = 1 + sim_upset_below(c, 3);
    for (unsigned i = 0; n != NULL && i < count && s->writes < WRITES_MAX; i++) {
        s->writes += sim_submit(c->sim, n, (size_t)8 * (1 + sim_upset_below(c, 12))) != 0;
    }
}

/* clang-format off */
static const struct sim_upset upsets[] = {
    {3, sim_upset_partition},
    {5, sim_upset_cut_leader},
    {4, sim_upset_heal},
    {3, sim_upset_direction},
    {3, sim_upset_latency},
    {3, sim_upset_disk},
    {2, sim_upset_crash},
    {4, sim_upset_restart},
    {1, sim_upset_transfer},
    {4, sim_upset_members},
};
/* clang-format on */

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

/* Repair everything. The group must recover without help. A leader may still lose one last
 * election. */
static void calm_down(struct sim_story *s)
{
    struct sim *sim = s->sim;
    sim_upset_calm(s);
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

static struct sim_options options_of(struct sim_story *s, uint64_t seed, unsigned off)
{
    static const unsigned chunk_bytes[] = {0, 200, 600};
    static const unsigned queue_bytes[] = {0, 1000, 4000};
    static const unsigned log_bytes[] = {0, 100, 1000};
    struct sim_options o = {.seed = seed, .off = off};
    o.voters = sim_upset_below(s, 2) == 0 ? 3 : 5;
    o.nodes = o.voters + 1;
    o.election_ms = 200;
    o.pre_vote = sim_upset_below(s, 4) != 0;
    o.compacted =
        sim_upset_below(s, 8) != 0; /* otherwise the fixture copies the log at every step */
    o.async_snapshots = sim_upset_below(s, 2) == 0;
    o.snapshot_threshold = sim_upset_below(s, 5) == 0 ? 0 : 5 + sim_upset_below(s, 60);
    o.snapshot_trailing = sim_upset_below(s, 20);
    o.chunk_bytes = chunk_bytes[sim_upset_below(s, COUNT_OF(chunk_bytes))];
    o.queue_bytes = queue_bytes[sim_upset_below(s, COUNT_OF(queue_bytes))];
    o.log_bytes = o.snapshot_threshold == 0 ? 0 : log_bytes[seed % COUNT_OF(log_bytes)];
    return o;
}

/* Number of runs, and the sums of their counts. */
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
    struct story s = {.common = {.rng = rng_from(seed ^ 0x5eed), .trace = with_trace}};
    struct sim_story *c = &s.common;
    struct sim_options options = options_of(c, seed, off);
    c->nodes = options.nodes;
    c->sim = sim_new(&options);
    raft_time next_write = 0;
    raft_time next_upset = 0;
    while (c->sim->fixture.time < STORY_MS && sim_step(c->sim)) {
        raft_time now = c->sim->fixture.time;
        if (now >= next_write) {
            write_values(&s);
            next_write = now + sim_upset_below(c, 80);
        }
        if (now >= next_upset) {
            sim_upset_any(c, upsets, COUNT_OF(upsets));
            next_upset = now + sim_upset_below(c, sim_upset_below(c, 2) == 0 ? 50 : 800);
        }
    }
    calm_down(c);
    totals_add(totals, &c->sim->count);
    bool ok = c->sim->violation[0] == '\0';
    if (!ok) {
        printf("\nseed %" PRIu64 ", step %u: %s\n", seed, c->sim->count.steps, c->sim->violation);
    } else {
        sim_free(c->sim); /* after a violation raft's memory may be damaged */
    }
    return ok;
}

/* Run in a child process: without guards libraft may do anything, including a crash. */
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
    bool by_hand; /* there are arguments */
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
        (void)fflush(stdout); /* the last number printed is the seed, if the process crashes */
        failed += !run_seed((uint64_t)(a.from + i), (unsigned)a.off, a.trace, &totals);
    }
    if (!a.by_hand) {
        printf("with all guards off:\n");
        failed += !fails_without_guards();
    }
    print_totals(&totals);
    return failed == 0 ? 0 : 1;
}
