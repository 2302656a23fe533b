/*
 * Documents of the Scheduled-DB face (scheduler.md 2.3, 2.6, 5, 21.3).
 */
#include "api/sdb/api_sdb_int.h"
#include "base/check.h"
#include "fsm/command/push_target.h"
#include "json/json_scan.h"

static const char *const words[API_SDB_STATUS_COUNT] = {
    [API_SDB_PENDING] = "pending",     [API_SDB_IN_PROGRESS] = "in_progress",
    [API_SDB_COMPLETED] = "completed", [API_SDB_FAILED] = "failed",
    [API_SDB_TIMEOUT] = "timeout",     [API_SDB_CANCELLED] = "cancelled",
};

const char *api_sdb_show__word(enum api_sdb_status status)
{
    return words[status];
}

bool api_sdb_show__parse(struct str word, enum api_sdb_status *out)
{
    for (unsigned i = 0; i < API_SDB_STATUS_COUNT; i++) {
        if (str_eq(word, str_from_z(words[i]))) {
            *out = (enum api_sdb_status)i;
            return true;
        }
    }
    return false;
}

enum api_sdb_status api_sdb_show__status(const struct job *j)
{
    enum job_outcome failure = job_last_failure(j);
    if (failure != JOB_OUTCOME_NONE) { /* until its next try begins, if there is one */
        return failure == JOB_OUTCOME_TIMEOUT ? API_SDB_TIMEOUT : API_SDB_FAILED;
    }
    switch (j->state) {
    case JOB_ACTIVE:
        return API_SDB_IN_PROGRESS;
    case JOB_COMPLETED:
        return API_SDB_COMPLETED;
    case JOB_CANCELLED:
        return API_SDB_CANCELLED;
    case JOB_SCHEDULED:
    case JOB_PENDING:
    case JOB_HELD:
        return API_SDB_PENDING;
    case JOB_RETRYING:
    case JOB_DEAD:
    case JOB_STATE_COUNT:
    default:
        UNREACHABLE("a job has one of the states, and two of them are of those that failed");
    }
}

static void write_seconds(struct json_write *w, const char *key, struct wall at)
{
    api_document__i64(w, key, at.ns / NS_PER_S);
}

static void write_seconds_if_set(struct json_write *w, const char *key, struct wall at)
{
    if (at.ns != 0) {
        write_seconds(w, key, at);
    }
}

/* A time that was asked for; one that is too late to be held is in a tag. */
static void write_asked(struct json_write *w, const char *key, const struct job *j, struct wall at,
                        const char *tag)
{
    struct json_value v;
    int64_t asked;
    if (at.ns == API_SDB_LATEST && json_scan_member(j->tags, str_from_z(tag), &v) &&
        v.type == JSON_TYPE_STRING && v.text.len > 2 &&
        str_to_i64(str_from(v.text.ptr + 1, v.text.len - 2), &asked)) {
        api_document__i64(w, key, asked);
    } else {
        write_seconds(w, key, at);
    }
}

/* A text member of an object, if it is there. */
static void write_member(struct json_write *w, const char *key, struct str object, const char *name)
{
    struct json_value v;
    if (json_scan_member(object, str_from_z(name), &v) && v.type == JSON_TYPE_STRING &&
        v.text.len > 2) {
        json_write_key(w, str_from_z(key));
        json_write_raw(w, v.text);
    }
}

/* n: what it was just made of, which spares reading it from what is stored; NULL: not known. */
static void write_job(struct json_write *w, const struct job *j, const struct api_sdb_new *n)
{
    bool recurring = j->cron.len > 0;
    json_write_object(w);
    api_document__text(w, "id", j->name);
    api_document__text(w, "type", recurring ? STR("recurrente") : STR("unico"));
    if (recurring) {
        write_asked(w, "created_at", j, j->due_at, "timestamp");
        api_document__text(w, "cron_expression", j->cron);
        if (j->cron_until.ns != 0) {
            write_asked(w, "last_date", j, j->cron_until, "last_date");
        }
    } else {
        write_asked(w, "timestamp", j, j->due_at, "timestamp");
        write_seconds(w, "created_at", j->created_at);
        if (n == NULL) {
            write_member(w, "cron_expression", j->tags, "cron_expression");
        } else {
            api_document__text(w, "cron_expression", n->cron);
        }
    }
    if (n == NULL) {
        write_member(w, "webhook_url", j->push, "url");
    } else {
        api_document__text(w, "webhook_url", n->url);
    }
    if (!str_eq(j->payload, STR("null"))) {
        api_document__raw(w, "payload", j->payload);
    }
    if (recurring) {
        write_asked(w, "next_run", j, j->due_at, "timestamp");
        write_seconds(w, "registered_at", j->created_at);
    }
    json_write_end(w);
}

void api_sdb_show__job(struct json_write *w, const struct job *j)
{
    write_job(w, j, NULL);
}

void api_sdb_show__new(struct json_write *w, const struct job *j, const struct api_sdb_new *n)
{
    write_job(w, j, n);
}

struct attempts {
    struct json_write *w;
    bool recurring;
};

static void write_attempt(void *data, const struct store_try *t)
{
    const struct attempts *a = data;
    struct json_write *w = a->w;
    json_write_object(w);
    api_document__i64(w, "attempt_num", t->attempt);
    write_seconds(w, "start_time", t->started_at);
    write_seconds_if_set(w, "end_time", t->ended_at);
    api_document__text(w, "node_id", t->node);
    api_document__text(w, "status", str_from_z(job_outcome_name(t->outcome)));
    api_document__i64_if_set(w, "http_status", t->http_status);
    api_document__i64_if_set(w, "response_time_ms", t->answer_ms);
    api_document__text(w, "error_message", t->error);
    api_document__text(w, "error_type", str_from_z(store_rows_try_word(t->error_type)));
    if (a->recurring) {
        write_seconds(w, "scheduled_for", t->due_at);
    }
    json_write_end(w);
}

void api_sdb_show__attempts(struct json_write *w, const struct job *j, struct store *store)
{
    struct attempts a = {.w = w, .recurring = j->cron.len > 0};
    api_document__array(w, "attempts");
    if (j->try_count > 0) {
        store_rows_each_try(store, j->id, write_attempt, &a);
    }
    json_write_end(w);
}

static struct wall ended_at(const struct job *j)
{
    switch (api_sdb_show__status(j)) {
    case API_SDB_COMPLETED:
        return j->completed_at;
    case API_SDB_CANCELLED:
        return j->cancelled_at;
    case API_SDB_FAILED:
        return j->failed_at;
    case API_SDB_PENDING:
    case API_SDB_IN_PROGRESS:
    case API_SDB_TIMEOUT:
    case API_SDB_STATUS_COUNT:
    default:
        return WALL_NONE;
    }
}

void api_sdb_show__state(struct json_write *w, const struct job *j, struct store *store)
{
    static const struct str prefix = {.ptr = "push:", .len = 5};
    json_write_object(w);
    api_document__text(w, "job_id", j->name);
    api_document__text(w, "status", str_from_z(words[api_sdb_show__status(j)]));
    api_document__i64(w, "attempt_count", j->attempt);
    write_seconds(w, "created_at", j->created_at);
    write_seconds_if_set(w, "first_attempt_at", j->first_try_at);
    write_seconds_if_set(w, "last_attempt_at", j->started_at);
    write_seconds_if_set(w, "completed_at", ended_at(j));
    write_seconds_if_set(w, "cancelled_at", j->cancelled_at);
    api_document__text(w, "cancellation_reason", j->cancel_reason);
    if (j->state == JOB_ACTIVE && str_starts_with(j->worker_id, prefix)) {
        api_document__text(w, "executing_node_id", str_from_offset(j->worker_id, prefix.len));
    }
    api_sdb_show__attempts(w, j, store);
    json_write_end(w);
}
