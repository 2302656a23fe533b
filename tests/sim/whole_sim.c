/*
 * Simulation of whole clusters. Their nodes run the real state machine on the real store, behind
 * the real guard and libraft, and have clients. Disks, networks and clocks are simulated.
 *
 * Each seed is one story, with three or five voters and a new node. Six clients enqueue (single
 * jobs, lists, with unique keys, into batches), claim, acknowledge, fail, renew and cancel, through
 * any node. If they receive no answer, they repeat the request under the same name. Meanwhile
 * messages are lost, duplicated, delayed and reordered. Links break, also in one direction. Nodes
 * crash, also in the middle of a write, and lose what was not flushed. Disks are slow, full, or
 * fail. Clocks drift and jump. Members are added and removed, leadership is transferred, snapshots
 * are taken and installed. The invariants of lib/sim_check.c are checked after every step, those of
 * whole_truth.c at every applied entry, and those of whole_ledger.c at the end.
 *
 * Replaced by simulations are RocksDB (by whole_sim/kv_disk.h), the files of the log
 * (lib/sim_disk.c stores entries, and the bytes of a torn write are encoded by raftlog/segment.c),
 * and the engine's threads (whole.h lists the rules that are repeated here). These parts have other
 * crash tests: wal_crash_test.c, kv_crash_test.c, integration/crash.
 *
 *   whole_sim                         500 seeds, then for each rule seeds with the rule off, of
 *                                     which one must fail: only then does the simulation test it
 *   whole_sim SEED                    one seed
 *   whole_sim --from A --count N      a range
 *   whole_sim … --off RULE            without this rule, named as in the table below
 *   whole_sim … --trace               print what happens
 *
 * The seed is the only input. The same seed produces the same story on every machine.
 */
#include "sim/whole_sim/whole.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/check.h"
#include "base/str.h"
#include "log/log.h"

enum {
    SEEDS = 500,
    SEARCH = 1000, /* number of seeds without a rule; one of them must fail */
};

/* A rule, and the first seed that fails without it. If the stories have changed, a later seed
 * fails, or --off finds a new one. */
struct rule {
    unsigned rule;
    const char *word;
    unsigned seed; /* 0: no story fails without it; the comment gives the reason */
};

/* clang-format off */
static const struct rule rules[] = {
    {WHOLE_NAMES,       "names",       1},
    {WHOLE_STAMP,       "stamp",       1},
    {WHOLE_RENEW,       "renew",       1},
    {WHOLE_FLUSHED,     "flushed",     1},
    {WHOLE_BALLOT,      "ballot",      11},
    {WHOLE_TORN,        "torn",        1},
    {WHOLE_ATOMIC,      "atomic",      1},
    {WHOLE_CHECKPOINT,  "checkpoint",  1},
    {WHOLE_APPLIED,     "applied",     1},
    {WHOLE_FIT,         "fit",         40},
    {GUARD_BARRIER,     "barrier",     1},
    {GUARD_HONEST,      "honest",      1},
    {GUARD_CALM,        "calm",        25},
    {GUARD_ADDRESS,     "address",     11},
    {GUARD_STORED,      "stored",      1},
    {GUARD_MEMBERS,     "members",     1},
    {GUARD_CHUNK,       "chunk",       1},
    {GUARD_TERM,        "term",        159},
    /* No story fails without these rules. No node stops reading for long, memory that is freed too
     * early is not detected without a sanitizer, and the other rules need combinations of events
     * that are too rare. Each has a scene in guard_sim. */
    {GUARD_QUEUE,       "queue",       0},
    {GUARD_SNAPSHOT,    "snapshot",    0},
    {GUARD_VOTE,        "vote",        0},
    {GUARD_INSTALL,     "install",     0},
    {GUARD_PRE_VOTE,    "pre_vote",    0},
    {GUARD_STANDBY,     "standby",     0},
    {GUARD_BATCH,       "batch",       0},
    {GUARD_HOLD_ACKS,   "hold_acks",   0},
    {GUARD_LATE,        "late",        0},
    {GUARD_COMPACTED,   "compacted",   0},
    {GUARD_LOG,         "log",         0},
};
/* clang-format on */
_Static_assert(COUNT_OF(rules) == WHOLE_RULE_COUNT, "every rule has a row");

struct totals {
    unsigned seeds;
    struct whole_counts whole;
    struct sim_counts sim;
};

static void print_totals(const struct totals *t)
{
    const struct whole_counts *w = &t->whole;
    const struct sim_counts *s = &t->sim;
    printf("leaders %u, crashes %u, torn writes %u, logs cut %u, memberships changed %u, cut off "
           "%u, leadership handed over %u\n",
           s->leaders, s->crashes, s->torn, s->cuts, s->changes, s->member_cuts, s->transfers);
    printf("messages lost %u, doubled %u, late %u; checkpoints %u, snapshots installed %u, "
           "half installed %u, states replaced %u\n",
           s->lost, s->twice, s->late, w->checkpoints, s->installs, s->half_installs, w->restores);
    printf("requests %u, answered %u, asked again %u, found done %u, refused %u, outcome unknown "
           "%u; ticks %u, renewals %u\n",
           w->ops, w->answered, w->asked_again, w->answered_again, w->refused, w->unknown, w->ticks,
           w->renewals);
    printf("seeds %u, steps %u, entries acknowledged %u\n", t->seeds, s->steps, s->acked);
}

/* Runs in which these events never happen prove nothing. */
static bool is_eventful(const struct totals *t)
{
    const struct sim_counts *s = &t->sim;
    const struct whole_counts *w = &t->whole;
    return s->crashes > 0 && s->torn > 0 && s->cuts > 0 && s->installs > 0 &&
           s->half_installs > 0 && s->changes > 0 && s->transfers > 0 && s->lost > 0 &&
           s->twice > 0 && s->late > 0 && w->restores > 0 && w->answered_again > 0 &&
           w->renewals > 0 && w->ticks > 0 && w->unknown > 0;
}

static bool run(uint64_t seed, unsigned off, bool trace, struct totals *t)
{
    t->seeds++;
    return whole_story(seed, off, trace, &t->whole, &t->sim);
}

/* Run in a child process: without the rule libraft may do anything, including a crash. */
static bool shows(const struct rule *rule)
{
    (void)fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct totals totals = {0};
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        (void)dup2(null, STDERR_FILENO);
        for (unsigned seed = rule->seed; seed < rule->seed + SEARCH; seed++) {
            if (!run(seed, 1U << rule->rule, false, &totals)) {
                (void)fflush(stdout);
                _exit(1);
            }
        }
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    bool found = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    printf("  without %s: %s\n", rule->word,
           !found              ? "nothing, so it is not tested"
           : WIFEXITED(status) ? "a violation, as it must be"
                               : "the process ends, as it must");
    return found;
}

static bool all_rules_show(void)
{
    bool all = true;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        all = (rules[i].seed == 0 || shows(&rules[i])) && all;
    }
    return all;
}

struct arguments {
    int64_t from, count;
    unsigned off;
    bool trace;
    bool by_hand; /* there are arguments */
};

static bool rule_parse(const char *word, unsigned *out)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (strcmp(rules[i].word, word) == 0) {
            *out |= 1U << rules[i].rule;
            return true;
        }
    }
    return false;
}

static bool arguments_parse(int argc, char **argv, struct arguments *out)
{
    *out = (struct arguments){.from = 1, .count = SEEDS, .by_hand = argc > 1};
    for (int i = 1; i < argc; i++) {
        bool ok = true;
        if (strcmp(argv[i], "--trace") == 0) {
            out->trace = true;
        } else if (strcmp(argv[i], "--off") == 0) {
            ok = ++i < argc && rule_parse(argv[i], &out->off);
        } else if (strcmp(argv[i], "--from") == 0) {
            ok = ++i < argc && str_to_i64(str_from_z(argv[i]), &out->from);
        } else if (strcmp(argv[i], "--count") == 0) {
            ok = ++i < argc && str_to_i64(str_from_z(argv[i]), &out->count);
        } else {
            out->count = 1;
            ok = str_to_i64(str_from_z(argv[i]), &out->from);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

static void say_how_to_look(int64_t seed, unsigned off)
{
    printf("to look at it: whole_sim %" PRId64 " --trace", seed);
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if ((off & 1U << rules[i].rule) != 0) {
            printf(" --off %s", rules[i].word);
        }
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct totals totals = {0};
    unsigned failed = 0;
    if (!arguments_parse(argc, argv, &a)) {
        (void)fprintf(stderr, "usage: whole_sim [SEED | --from A --count N] [--off RULE]... "
                              "[--trace]\n");
        return 2;
    }
    log_configure(LOG_ERROR, LOG_TEXT); /* suppress warnings about clocks that jump */
    for (int64_t i = 0; i < a.count; i++) {
        bool end_of_line = i % 20 == 19 || i + 1 == a.count || a.trace;
        printf("%" PRId64 "%s", a.from + i, end_of_line ? "\n" : " ");
        (void)fflush(stdout); /* the last number printed is the seed, if the process crashes */
        if (!run((uint64_t)(a.from + i), a.off, a.trace, &totals)) {
            say_how_to_look(a.from + i, a.off);
            failed++;
        }
    }
    print_totals(&totals);
    if (!a.by_hand) {
        failed += !is_eventful(&totals);
        failed += !all_rules_show();
    }
    return failed == 0 ? 0 : 1;
}
