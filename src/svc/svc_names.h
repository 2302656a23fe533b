/*
 * Svc_names: the queues of a namespace, and the jobs that its callers can see (http-api.md 2.5,
 * 3.4).
 *
 * In the default namespace, the internal name of a queue is its name, and everything is visible. In
 * any other namespace, it is "<namespace>::<name>", and only queues with this prefix are visible.
 */
#pragma once

#include <stdbool.h>

#include "core/job.h"
#include "json/json_schema.h"
#include "svc/svc_caller.h"

/* Look up a word, ignoring case; an empty word gives 0. An unknown word gives `code`, with a
 * message that names the field and the known words. */
ATTR_NODISCARD enum err_code svc_names_find(const struct json_word *words, struct str word,
                                            const char *field, enum err_code code, int *out,
                                            struct err *err);

/* Convert the caller's name of a queue, a schedule or a webhook in a field to the internal name. */
ATTR_NODISCARD enum err_code svc_names_internal(const struct svc_caller *who, const char *field,
                                                struct str visible, struct str *out,
                                                struct err *err);
/* The same for a queue that jobs are put into. ERR_VALIDATION for the queue of the Scheduled-DB
 * API, which only that API uses, and for names such as "default::x" and "acme::", which only old
 * data contains: no caller's namespace has them. A restore may use all of these. */
ATTR_NODISCARD enum err_code svc_names_target(const struct svc_caller *who, const char *field,
                                              struct str visible, struct str *out, struct err *err);
/* Convert an internal name to the caller's name. */
struct str svc_names_visible(const struct svc_caller *who, struct str internal);
bool svc_names_is_visible(const struct svc_caller *who, struct str internal);

/* Read a job that the caller may see; *out points into doc. False if there is no such job. Any
 * thread. */
ATTR_NODISCARD bool svc_names_read_job(const struct svc_caller *who, struct id id, struct buf *doc,
                                       struct job *out);
/* The same for the text of an id; ERR_NOT_FOUND if there is no such job. */
ATTR_NODISCARD enum err_code svc_names_job(const struct svc_caller *who, struct str text,
                                           struct buf *doc, struct job *out, struct err *err);

/* Parse a job id that the caller may use; false otherwise. In the default namespace without a scope
 * this is every valid id, even if the job does not exist; elsewhere only that of a visible job. */
ATTR_NODISCARD bool svc_names_may_name(const struct svc_caller *who, struct str text,
                                       struct id *out);
/* The same; ERR_NOT_FOUND instead of false. */
ATTR_NODISCARD enum err_code svc_names_job_id(const struct svc_caller *who, struct str text,
                                              struct id *out, struct err *err);
