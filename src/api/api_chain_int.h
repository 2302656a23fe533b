/*
 * Chains as clients write them, and as they are stored (http-api.md 6.8, 6.9).
 *
 * What is stored is chain_config, an object that travels with every job of a chain. The names of
 * queues in it are internal ones, so that steps stay in their namespace; callers are shown the
 * names that they wrote.
 */
#pragma once

#include "api/api_int.h"

/* A step, or a handler. */
struct api_chain_step {
    struct str queue;
    struct str payload;
};

struct api_chain {
    struct api_chain_step *steps;
    size_t steps_count;
    struct str on_failure; /* raw: an object, a queue's name, or a word */
    struct api_chain_step *on_exit;
};

extern const struct json_schema api_chain__schema;

/* The stored form of a definition, in the call's arena. False, with err, when it cannot be; what
 * the machine refuses is not checked here. */
ATTR_NODISCARD bool api_chain__define(struct api_call *c, const struct api_chain *chain,
                                      struct str *out, struct err *err);

/* The stored form of a chain_config that the caller sends by hand: in the default namespace it is
 * kept as it is, in others the names in it are theirs. Empty stays empty. */
ATTR_NODISCARD bool api_chain__adopt(struct api_call *c, struct str raw, struct str *out,
                                     struct err *err);

/* The same with "depends_on", the ids of waits_for (16 bytes each). */
struct str api_chain__add_dependencies(struct api_call *c, struct str config, struct str waits_for);

/* The member chain_config as the caller may see it; left out when there is none. */
void api_chain__write(struct json_write *w, const struct api_call *c, struct str config);
