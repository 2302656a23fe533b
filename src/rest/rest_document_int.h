/*
 * Rest_document: jobs as clients see them, in JSON; empty members are omitted.
 */
#pragma once

#include "base/clock.h"
#include "base/id.h"
#include "core/job.h"
#include "json/json_write.h"
#include "store/store.h"
#include "store/store_rows.h"

struct svc_caller;
struct svc_work_fetched;

/* A job as GET /jobs/{id} shows it, with its errors. */
void rest_document__job(struct json_write *w, const struct svc_caller *who, const struct job *j,
                        struct store *store);
/* The same members without the errors, inside an open object. */
void rest_document__job_members(struct json_write *w, const struct svc_caller *who,
                                const struct job *j);
/* As searches show it, and as a fetch returns it. */
void rest_document__summary(struct json_write *w, const struct svc_caller *who, const struct job *j,
                            struct store *store);
void rest_document__fetched(struct json_write *w, const struct svc_work_fetched *j);

/* Parts of these: an error entry, the message of the newest one, the word for the end of an
 * iteration. */
void rest_document__error(struct json_write *w, struct id job, const struct store_error *e);
void rest_document__last_error(const struct job *j, struct store *store, struct buf *out);
const char *rest_document__iteration_word(enum store_iteration_status status);

/* An id as a JSON string, to write with rest_document__raw. */
enum { REST_DOCUMENT_ID_ROOM = ID_TEXT_MAX + 2 };
struct str rest_document__quoted_id(struct id id, struct str prefix,
                                    char room[static REST_DOCUMENT_ID_ROOM]);

/* Write a member. Numbers and booleans are always written, except by …_if_set; others are left out
 * if they are 0, empty or no id. Inline, so that the compiler knows the length of the key. */
static inline void rest_document__i64(struct json_write *w, const char *key, int64_t v)
{
    json_write_key(w, str_from_z(key));
    json_write_i64(w, v);
}

static inline void rest_document__i64_if_set(struct json_write *w, const char *key, int64_t v)
{
    if (v != 0) {
        rest_document__i64(w, key, v);
    }
}

static inline void rest_document__bool(struct json_write *w, const char *key, bool v)
{
    json_write_key(w, str_from_z(key));
    json_write_bool(w, v);
}

static inline void rest_document__text(struct json_write *w, const char *key, struct str text)
{
    if (text.len > 0) {
        json_write_key(w, str_from_z(key));
        json_write_str(w, text);
    }
}

static inline void rest_document__raw(struct json_write *w, const char *key, struct str json)
{
    if (json.len > 0) {
        json_write_key(w, str_from_z(key));
        json_write_raw(w, json);
    }
}

void rest_document__add_time(struct json_write *w, struct str key, struct wall at);
static inline void rest_document__time(struct json_write *w, const char *key, struct wall at)
{
    if (at.ns != 0) {
        rest_document__add_time(w, str_from_z(key), at);
    }
}

void rest_document__add_id(struct json_write *w, struct str key, struct id id, struct str prefix);
static inline void rest_document__id(struct json_write *w, const char *key, struct id id,
                                     struct str prefix)
{
    if (!id_is_none(id)) {
        rest_document__add_id(w, str_from_z(key), id, prefix);
    }
}

void rest_document__usd(struct json_write *w, const char *key, int64_t nusd); /* even 0 */
/* Open a member that is an array or an object; end it with json_write_end. */
static inline void rest_document__array(struct json_write *w, const char *key)
{
    json_write_key(w, str_from_z(key));
    json_write_array(w);
}

static inline void rest_document__object(struct json_write *w, const char *key)
{
    json_write_key(w, str_from_z(key));
    json_write_object(w);
}

void rest_document__tokens(struct json_write *w, const struct store_tokens *t);
