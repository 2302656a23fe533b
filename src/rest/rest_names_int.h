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

/* Does the client use the second API generation (X-Corvo-Api: 2)? */
bool rest_names__is_second(const struct rest_call *c);
/* Convert a number to a priority: 0 to 2 in the order of the words, as in v0.3, or 0 to 100 for
 * clients of the second generation. */
ATTR_NODISCARD bool rest_names__priority(const struct rest_call *c, int64_t number, int *out,
                                         struct err *err);
/* The same for a member read with JSON_NUMBER_APART; words are already converted. */
ATTR_NODISCARD bool rest_names__priority_apart(const struct rest_call *c, int *priority,
                                               struct err *err);

/* Look up a word, ignoring case; an empty word gives 0. False if it is unknown. */
ATTR_NODISCARD bool rest_names__word(const struct json_word *words, struct str word, int *out);

/* Convert the caller's name of a queue, a schedule or a webhook in a field to the internal name.
 * False, with err, if the caller may not use it. */
ATTR_NODISCARD bool rest_names__internal(struct rest_call *c, const char *field, struct str visible,
                                         struct str *out, struct err *err);
/* The same for a queue that jobs are put into (svc_names_target). */
ATTR_NODISCARD bool rest_names__target(struct rest_call *c, const char *field, struct str visible,
                                       struct str *out, struct err *err);
/* Convert an internal name to the caller's name. */
struct str rest_names__visible(const struct rest_call *c, struct str internal);
bool rest_names__is_visible(const struct rest_call *c, struct str internal);
/* Is the name in the caller's namespace? For names other than those of queues, to which a scope
 * does not apply. */
bool rest_names__is_of_namespace(const struct rest_call *c, struct str internal);
/* Convert a prefix of the caller's names to the prefix of the internal names. */
struct str rest_names__prefix(struct rest_call *c, struct str visible);

/* Read a job that the caller may see; *out points into doc. False if there is no such job. Any
 * thread. */
ATTR_NODISCARD bool rest_names__read_job_by_id(const struct rest_call *c, struct id id,
                                               struct buf *doc, struct job *out);
