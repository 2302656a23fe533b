/*
 * Simulation: the state machine compared with a model of it.
 *
 *   model_sim                             the seeds that are always run
 *   model_sim SEED                        one seed, to analyze a mismatch
 *   model_sim --from A --count N --ops M other seeds, with M operations each on average
 *   model_sim --trace …                   print every command and its result
 *
 * The seed, which is printed first, decides everything: the commands, the clock, the restarts. The
 * model (model_sim/model.h) is written from the contract and does not use the machine's code. Both
 * receive the same random commands (model_sim/generate.h). Their results and their states must be
 * equal (model_sim/compare.h), and the machine must reach the same state no matter how often it is
 * reopened (model_sim/run.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/model_sim/run.h"

enum { SEEDS = 32, OPERATIONS = 16000 };

struct options {
    int64_t from, count, operations;
    bool trace;
};

static bool parse(int argc, char **argv, struct options *out)
{
    int at = 1;
    if (at < argc && strcmp(argv[at], "--trace") == 0) {
        out->trace = true;
        at++;
    }
    if (at + 1 == argc) {
        out->count = 1;
        return str_to_i64(str_from_z(argv[at]), &out->from) && out->from >= 0;
    }
    for (int i = at; i < argc; i += 2) {
        static const char *const names[] = {"--from", "--count", "--ops"};
        int64_t *const values[] = {&out->from, &out->count, &out->operations};
        size_t k = 0;
        while (k < COUNT_OF(names) && strcmp(argv[i], names[k]) != 0) {
            k++;
        }
        if (k == COUNT_OF(names) || i + 1 == argc ||
            !str_to_i64(str_from_z(argv[i + 1]), values[k])) {
            return false;
        }
    }
    return out->from >= 0 && out->count > 0 && out->operations > 0;
}

int main(int argc, char **argv)
{
    struct options o = {.from = 1, .count = SEEDS, .operations = OPERATIONS};
    if (!parse(argc, argv, &o)) {
        (void)fprintf(stderr,
                      "usage: model_sim [--trace] [SEED | [--from A] [--count N] [--ops M]]\n");
        return 2;
    }
    struct run_options options = {.operations = (uint64_t)o.operations, .trace = o.trace};
    struct run_totals totals = {.seeds = 0};
    for (int64_t seed = o.from; seed < o.from + o.count; seed++) {
        (void)printf("seed %" PRId64 "\n", seed);
        (void)fflush(stdout);
        if (!run_seed((uint64_t)seed, &options, &totals)) {
            (void)printf("model: seed %" PRId64 " failed\n", seed);
            return 1;
        }
    }
    (void)printf("model: seeds %" PRIu64 ", operations %" PRIu64 ", restarts %" PRIu64
                 ", cut commands %" PRIu64 "\n",
                 totals.seeds, totals.operations, totals.restarts, totals.cuts);
    return 0;
}
