/*
 * Model_chain: the chains that are used, each as the configuration that a job contains and in
 * decoded form, so that the model does not parse JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { MODEL_CHAIN_STEPS_MAX = 3 };

/* The queue of a new job and the values that override its payload. Without a queue: no such
 * handler. */
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

/* The chain of a job's configuration, which may have additional members at the end. NULL if there
 * is none. */
const struct model_chain *model_chain_find(struct str config);
