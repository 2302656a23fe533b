/*
 * Svc_chain: chains as clients write them, and as they are stored (http-api.md 6.8, 6.9).
 *
 * The stored form is chain_config, a JSON object that is part of every job of a chain. It contains
 * internal queue names, so that steps stay in their namespace. Callers see the names that they
 * wrote.
 */
#pragma once

#include "json/json_schema.h"
#include "json/json_write.h"
#include "svc/svc_caller.h"
#include "svc/svc_push.h"

/* A step, or a handler. */
struct svc_chain_step {
    struct str queue;
    struct str payload;
    struct svc_push *push; /* the server delivers its job; NULL: a worker fetches it */
};

struct svc_chain {
    struct svc_chain_step *steps;
    size_t steps_count;
    struct str on_failure; /* JSON: an object, a queue's name, or a word */
    struct svc_chain_step *on_exit;
};

extern const struct json_schema svc_chain_schema; /* of a definition, and of what is stored */

/* The stored form of a definition; what the machine refuses is not checked here. */
ATTR_NODISCARD enum err_code svc_chain_define(const struct svc_caller *who,
                                              const struct svc_chain *chain, struct str *out,
                                              struct err *err);

/* The stored form of a chain_config that the caller sends by hand: in the default namespace it is
 * kept as it is, in others the names in it are theirs. Empty stays empty. */
ATTR_NODISCARD enum err_code svc_chain_adopt(const struct svc_caller *who, struct str raw,
                                             struct str *out, struct err *err);

/* What holds for every job holds for those that a chain is to make: their queue takes jobs, and
 * their payloads have the limit of the server. The config is the one that is to be stored; field is
 * its name in the request. Not for a chain that a backup has: it was made when it was made. */
ATTR_NODISCARD enum err_code svc_chain_check(const struct svc_caller *who, const char *field,
                                             struct str config, struct err *err);

/* The same config with "depends_on", the ids of waits_for (16 bytes each). */
ATTR_NODISCARD enum err_code svc_chain_add_dependencies(const struct svc_caller *who,
                                                        struct str config, struct str waits_for,
                                                        struct str *out, struct err *err);

/* A stored chain_config, which is not empty, as the caller may see it: one JSON value. */
void svc_chain_show(const struct svc_caller *who, struct str config, struct json_write *w);
/* The same with the credentials of its steps: for a backup that is to contain them. */
void svc_chain_show_whole(const struct svc_caller *who, struct str config, struct json_write *w);
/* Has a step or a handler of a chain that was shown a target without its credentials? */
bool svc_chain_is_redacted(struct str config);
