/*
 * Documents as JSON: a job as clients see it, and members that are left out when they are empty.
 */
#pragma once

#include "base/clock.h"
#include "core/job.h"
#include "json/json_write.h"
#include "store/store.h"
#include "store/store_record.h"

struct api_call;

void api_document__job(struct json_write *w, const struct api_call *c, const struct job *j,
                       struct store *store);
/* The members of a job's document but for its errors, inside an object. */
void api_document__job_members(struct json_write *w, const struct api_call *c, const struct job *j);
void api_document__summary(struct json_write *w, const struct api_call *c, const struct job *j,
                           struct store *store);
void api_document__fetched(struct json_write *w, const struct api_call *c, const struct job *j);
void api_document__time(struct json_write *w, const char *key, struct wall at);  /* left out at 0 */
void api_document__text(struct json_write *w, const char *key, struct str text); /* … when empty */
void api_document__raw(struct json_write *w, const char *key, struct str json);
void api_document__id(struct json_write *w, const char *key, struct id id, struct str prefix);
void api_document__i64(struct json_write *w, const char *key, int64_t v);
void api_document__bool(struct json_write *w, const char *key, bool v);
void api_document__usd(struct json_write *w, const char *key, int64_t nusd);
void api_document__tokens(struct json_write *w, const struct store_tokens *t);
