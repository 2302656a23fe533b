/*
 * Rest_names: names, namespaces and ids, for the caller of a call.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"
#include "json/json_schema.h"

struct rest_call;

extern const struct json_word rest_names__priorities[]; /* for JSON_WORD */

/* Clients of the second generation say so: X-Corvo-Api: 2. */
bool rest_names__is_second(const struct rest_call *c);
/* The priority that a number stands for: 0 to 2 for the words in their order, as in v0.3, or 0 to
 * 100 for a client of the second generation. */
ATTR_NODISCARD bool rest_names__priority(const struct rest_call *c, int64_t number, int *out,
                                         struct err *err);
/* The same for a member that is read with JSON_NUMBER_APART; a word is what it is. */
ATTR_NODISCARD bool rest_names__priority_apart(const struct rest_call *c, int *priority,
                                               struct err *err);

/* What the word stands for, without case; nothing stands for 0. False when it is not known. */
ATTR_NODISCARD bool rest_names__word(const struct json_word *words, struct str word, int *out);

/* The internal name of a queue, a schedule or a webhook as the caller names it in a field; false,
 * with err, when it may not. */
ATTR_NODISCARD bool rest_names__internal(struct rest_call *c, const char *field, struct str visible,
                                         struct str *out, struct err *err);
/* The same of a queue that jobs are put into (svc_names_target). */
ATTR_NODISCARD bool rest_names__target(struct rest_call *c, const char *field, struct str visible,
                                       struct str *out, struct err *err);
/* The name as the caller sees it. */
struct str rest_names__visible(const struct rest_call *c, struct str internal);
bool rest_names__is_visible(const struct rest_call *c, struct str internal);
/* Is the name one of the caller's namespace? For names that are not of queues: a scope says nothing
 * about them. */
bool rest_names__is_of_namespace(const struct rest_call *c, struct str internal);
/* What the internal names begin with that the caller sees beginning with this. */
struct str rest_names__prefix(struct rest_call *c, struct str visible);

/* The document of a job that exists and that the caller may see, put into doc, which *out points
 * into; false when there is none. Any thread. */
ATTR_NODISCARD bool rest_names__read_job_by_id(const struct rest_call *c, struct id id,
                                               struct buf *doc, struct job *out);
