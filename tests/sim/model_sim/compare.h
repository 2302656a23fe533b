/*
 * Compare: compare the machine with the model.
 *
 * Every difference is counted and printed, with the seed and the entry before it. The entry's
 * commands are printed after the first difference. The callers check the count.
 */
#pragma once

#include "fsm/machine.h"
#include "sim/model_sim/model.h"

struct compare {
    uint64_t seed;
    uint64_t entry; /* index of the last applied entry */
    struct model *model;
    struct machine *machine;
    const struct command *commands; /* of the entry */
    size_t command_count;
    unsigned mismatches;
};

/* Record a difference. */
void compare_miss(struct compare *c, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* Compare the result of command i of the entry. */
void compare_result(struct compare *c, size_t i, const struct result *want,
                    const struct result *got);

/* Called after an entry: compare its events, all jobs that it changed, the counters of the queues
 * and the next due times. changed are the ids that the machine reported. */
void compare_entry(struct compare *c, const struct id *changed, size_t changed_count);

/* Compare the complete state. */
void compare_all(struct compare *c);
