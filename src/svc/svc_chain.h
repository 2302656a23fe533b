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

extern const struct json_schema svc_chain_schema; /* of a definition and of the stored form */

/* Convert a definition to the stored form. Does not repeat the checks of the state machine. */
ATTR_NODISCARD enum err_code svc_chain_define(const struct svc_caller *who,
                                              const struct svc_chain *chain, struct str *out,
                                              struct err *err);

/* Convert a raw chain_config from the caller to the stored form, with the checks of a definition.
 * Unknown members are kept. depends_on is left out: svc_chain_add_dependencies adds it. A restore
 * keeps it, and in the default namespace keeps everything, because the server that wrote the backup
 * may have stored anything. Empty stays empty. */
ATTR_NODISCARD enum err_code svc_chain_adopt(const struct svc_caller *who, struct str raw,
                                             struct str *out, struct err *err);

/* Check the jobs that a chain will create as every new job: jobs may be put into their queues, and
 * their payloads are within the server's limit. config is the stored form; field is its name in the
 * request. Do not call for a chain from a backup, which may be older than these rules. */
ATTR_NODISCARD enum err_code svc_chain_check(const struct svc_caller *who, const char *field,
                                             struct str config, struct err *err);

/* Add "depends_on" to a config without it, with the ids in waits_for (16 bytes each). */
ATTR_NODISCARD enum err_code svc_chain_add_dependencies(const struct svc_caller *who,
                                                        struct str config, struct str waits_for,
                                                        struct str *out, struct err *err);

/* Write a non-empty stored chain_config as the caller may see it: one JSON value. */
void svc_chain_show(const struct svc_caller *who, struct str config, struct json_write *w);
/* The same including the credentials of its steps, for a backup with secrets. */
void svc_chain_show_whole(const struct svc_caller *who, struct str config, struct json_write *w);
/* Does the output of svc_chain_show lack credentials of a step or a handler? */
bool svc_chain_is_redacted(struct str config);
/* Does a step or a handler have a queue outside the caller's namespace? svc_chain_show cannot show
 * the namespace of that queue. */
bool svc_chain_is_foreign(const struct svc_caller *who, struct str config);
