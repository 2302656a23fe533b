/*
 * Documents of the Scheduled-DB API (scheduler.md 2.3, 2.6, 5, 21.3).
 */
#include "base/check.h"
#include "base/id_uuid.h"
#include "fsm/command/push_target.h"
#include "json/json_scan.h"
#include "rest/sdb/rest_sdb_int.h"

static const char *const words[REST_SDB_STATUS_COUNT] = {
    [REST_SDB_PENDING] = "pending",     [REST_SDB_IN_PROGRESS] = "in_progress",
    [REST_SDB_COMPLETED] = "completed", [REST_SDB_FAILED] = "failed",
    [REST_SDB_TIMEOUT] = "timeout",     [REST_SDB_CANCELLED] = "cancelled",
};

const char *rest_sdb_show__word(enum rest_sdb_status status)
{
    return words[status];
}

bool rest_sdb_show__parse(struct str word, enum rest_sdb_status *out)
{
    for (unsigned i = 0; i < REST_SDB_STATUS_COUNT; i++) {
        if (str_eq(word, str_from_z(words[i]))) {
            *out = (enum rest_sdb_status)i;
            return true;
        }
    }
    return false;
}

enum rest_sdb_status rest_sdb_show__status(const struct job *j)
{
    enum job_outcome failure = job_last_failure(j);
    if (failure != JOB_OUTCOME_NONE) { /* until its next attempt begins, if there is one */
        return failure == JOB_OUTCOME_TIMEOUT ? REST_SDB_TIMEOUT : REST_SDB_FAILED;
    }
    switch (j->state) {
    case JOB_ACTIVE:
        return REST_SDB_IN_PROGRESS;
    case JOB_COMPLETED:
        return REST_SDB_COMPLETED;
    case JOB_CANCELLED:
        return REST_SDB_CANCELLED;
    case JOB_SCHEDULED:
    case JOB_PENDING:
    case JOB_HELD:
        return REST_SDB_PENDING;
    case JOB_RETRYING:
    case JOB_DEAD:
    case JOB_STATE_COUNT:
    default:
        UNREACHABLE("a job has one of the states, and two of them are of those that failed");
    }
}

static inline void write_seconds(struct json_write *w, const char *key, struct wall at)
{
    rest_document__i64(w, key, at.ns / NS_PER_S);
}

static inline void write_seconds_if_set(struct json_write *w, const char *key, struct wall at)
{
    if (at.ns != 0) {
        write_seconds(w, key, at);
    }
}

/* A requested time in seconds. One beyond the range of struct wall is in a tag. */
static int64_t asked_s(const struct job *j, struct wall at, struct str tag)
{
    struct json_value v;
    int64_t asked;
    if (at.ns == REST_SDB_LATEST && json_scan_member(j->tags, tag, &v) &&
        v.type == JSON_TYPE_STRING && v.text.len > 2 &&
        str_to_i64(str_from(v.text.ptr + 1, v.text.len - 2), &asked)) {
        return asked;
    }
    return at.ns / NS_PER_S;
}

/* Write a string member of an object, if it exists. */
static void write_member(struct json_write *w, struct str key, struct str object, struct str name)
{
    struct json_value v;
    if (json_scan_member(object, name, &v) && v.type == JSON_TYPE_STRING && v.text.len > 2) {
        json_write_key(w, key);
        json_write_raw(w, v.text);
    }
}

/* n is the request that the job was just created from, which saves decoding stored values; NULL:
 * read them from the job. */
static void write_job(struct json_write *w, const struct job *j, const struct rest_sdb_new *n)
{
    bool recurring = j->cron.len > 0;
    json_write_object(w);
    rest_document__text(w, "id", j->name);
    rest_document__raw(w, "type", recurring ? STR("\"recurrente\"") : STR("\"unico\""));
    if (recurring) {
        rest_document__i64(w, "created_at", asked_s(j, j->due_at, STR("timestamp")));
        rest_document__text(w, "cron_expression", j->cron);
        if (j->cron_until.ns != 0) {
            rest_document__i64(w, "last_date", asked_s(j, j->cron_until, STR("last_date")));
        }
    } else {
        rest_document__i64(w, "timestamp", asked_s(j, j->due_at, STR("timestamp")));
        write_seconds(w, "created_at", j->created_at);
        if (n == NULL) {
            write_member(w, STR("cron_expression"), j->tags, STR("cron_expression"));
        } else {
            rest_document__text(w, "cron_expression", n->cron);
        }
    }
    if (n == NULL) {
        write_member(w, STR("webhook_url"), j->push, STR("url"));
    } else {
        rest_document__text(w, "webhook_url", n->url);
    }
    if (!str_eq(j->payload, STR("null"))) {
        rest_document__raw(w, "payload", j->payload);
    }
    if (recurring) {
        rest_document__i64(w, "next_run", asked_s(j, j->due_at, STR("timestamp")));
        write_seconds(w, "registered_at", j->created_at);
    }
    json_write_end(w);
}

void rest_sdb_show__job(struct json_write *w, const struct job *j)
{
    write_job(w, j, NULL);
}

/* Does not read the job: it is stored as sent, and its id has the creation time. */
void rest_sdb_show__new(struct json_write *w, struct rest_sdb_creation *made, struct id id)
{
    struct job *j = &made->room.job;
    if (j->name.len == 0 && id_uuid_put(id, made->name)) {
        j->name = str_from(made->name, sizeof made->name);
    }
    j->created_at.ns = id_ms(id) * NS_PER_MS;
    j->due_at = j->scheduled_at;
    write_job(w, j, &made->asked);
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
    rest_document__i64(w, "attempt_num", t->attempt);
    write_seconds(w, "start_time", t->started_at);
    write_seconds_if_set(w, "end_time", t->ended_at);
    rest_document__text(w, "node_id", t->node);
    rest_document__text(w, "status", str_from_z(job_outcome_name(t->outcome)));
    rest_document__i64_if_set(w, "http_status", t->http_status);
    rest_document__i64_if_set(w, "response_time_ms", t->answer_ms);
    rest_document__text(w, "error_message", t->error);
    rest_document__text(w, "error_type", str_from_z(store_rows_try_word(t->error_type)));
    if (a->recurring) {
        write_seconds(w, "scheduled_for", t->due_at);
    }
    json_write_end(w);
}

void rest_sdb_show__attempts(struct json_write *w, const struct job *j, struct store *store)
{
    struct attempts a = {.w = w, .recurring = j->cron.len > 0};
    rest_document__array(w, "attempts");
    if (j->try_count > 0) {
        store_rows_each_try(store, j->id, write_attempt, &a);
    }
    json_write_end(w);
}

static struct wall ended_at(const struct job *j)
{
    switch (rest_sdb_show__status(j)) {
    case REST_SDB_COMPLETED:
        return j->completed_at;
    case REST_SDB_CANCELLED:
        return j->cancelled_at;
    case REST_SDB_FAILED:
        return j->failed_at;
    case REST_SDB_PENDING:
    case REST_SDB_IN_PROGRESS:
    case REST_SDB_TIMEOUT:
    case REST_SDB_STATUS_COUNT:
    default:
        return WALL_NONE;
    }
}

void rest_sdb_show__state(struct json_write *w, const struct job *j, struct store *store)
{
    static const struct str prefix = {.ptr = "push:", .len = 5};
    json_write_object(w);
    rest_document__text(w, "job_id", j->name);
    rest_document__text(w, "status", str_from_z(words[rest_sdb_show__status(j)]));
    rest_document__i64(w, "attempt_count", j->attempt);
    write_seconds(w, "created_at", j->created_at);
    write_seconds_if_set(w, "first_attempt_at", j->first_try_at);
    write_seconds_if_set(w, "last_attempt_at", j->started_at);
    write_seconds_if_set(w, "completed_at", ended_at(j));
    write_seconds_if_set(w, "cancelled_at", j->cancelled_at);
    rest_document__text(w, "cancellation_reason", j->cancel_reason);
    if (j->state == JOB_ACTIVE && str_starts_with(j->worker_id, prefix)) {
        rest_document__text(w, "executing_node_id", str_from_offset(j->worker_id, prefix.len));
    }
    rest_sdb_show__attempts(w, j, store);
    json_write_end(w);
}
