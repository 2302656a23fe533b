/*
 * Compare: hold the machine against the model.
 *
 * Whatever differs is printed, with the seed and the entry in front and the entry's commands behind
 * the first difference, and counted. The callers look at the count.
 */
#pragma once

#include "fsm/machine.h"
#include "sim/model_sim/model.h"

struct compare {
    uint64_t seed;
    uint64_t entry; /* index of the one that was applied last */
    struct model *model;
    struct machine *machine;
    const struct command *commands; /* of the entry */
    size_t command_count;
    unsigned mismatches;
};

/* Something differs. */
void compare_miss(struct compare *c, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* The answer to the command with the number i of the entry. */
void compare_result(struct compare *c, size_t i, const struct result *want,
                    const struct result *got);

/* After an entry: its events, all jobs that were touched in it, the counters of the queues, what is
 * due next. changed are the ids that the machine told. */
void compare_entry(struct compare *c, const struct id *changed, size_t changed_count);

/* Everything there is. */
void compare_all(struct compare *c);
