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

/* What the word stands for, without case; nothing stands for 0. A word that is not known is
 * refused with the code, the field and the words that are. */
ATTR_NODISCARD enum err_code svc_names_find(const struct json_word *words, struct str word,
                                            const char *field, enum err_code code, int *out,
                                            struct err *err);

/* The internal name of a queue, a schedule or a webhook as the caller names it in a field. */
ATTR_NODISCARD enum err_code svc_names_internal(const struct svc_caller *who, const char *field,
                                                struct str visible, struct str *out,
                                                struct err *err);
/* The same of a queue that jobs are put into. ERR_VALIDATION for the queue of the Scheduled-DB API,
 * whose jobs do not come this way, and for "default::x" and "acme::", which only old data contains:
 * they belong to no namespace that a caller could be in. A restore may name all of them. */
ATTR_NODISCARD enum err_code svc_names_target(const struct svc_caller *who, const char *field,
                                              struct str visible, struct str *out, struct err *err);
/* The name as the caller sees it. */
struct str svc_names_visible(const struct svc_caller *who, struct str internal);
bool svc_names_is_visible(const struct svc_caller *who, struct str internal);

/* The document of a job that exists and that the caller may see, put into doc, which *out points
 * into; false when there is none. Any thread. */
ATTR_NODISCARD bool svc_names_read_job(const struct svc_caller *who, struct id id, struct buf *doc,
                                       struct job *out);
/* The same by the id's text; ERR_NOT_FOUND when there is none. */
ATTR_NODISCARD enum err_code svc_names_job(const struct svc_caller *who, struct str text,
                                           struct buf *doc, struct job *out, struct err *err);

/* Whether it is an id that the caller may name. In the default namespace that is every id, whether
 * there is such a job or not; in others only that of a job of theirs. */
ATTR_NODISCARD bool svc_names_may_name(const struct svc_caller *who, struct str text,
                                       struct id *out);
/* The same; ERR_NOT_FOUND when it is not. */
ATTR_NODISCARD enum err_code svc_names_job_id(const struct svc_caller *who, struct str text,
                                              struct id *out, struct err *err);
