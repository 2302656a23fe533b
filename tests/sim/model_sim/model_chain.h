/*
 * Model_chain: the chains that are played, each as the text that a job carries and as what it says,
 * so that the model need not read JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { MODEL_CHAIN_STEPS_MAX = 3 };

/* Where a job is made, and what its payload overrides. No queue: no such handler. */
struct model_chain_target {
    struct str queue, payload;
};

struct model_chain {
    struct str config;
    size_t step_count;
    struct model_chain_target steps[MODEL_CHAIN_STEPS_MAX];
    struct model_chain_target on_failure, on_exit;
    bool on_failure_continue;
};

extern const struct model_chain model_chain_table[];
extern const size_t model_chain_count;

/* The chain of a job's configuration, which may have more members behind those of the text. NULL
 * when it is none. */
const struct model_chain *model_chain_find(struct str config);
