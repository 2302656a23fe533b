/*
 * Documents as clients see them (http-api.md 4).
 */
#include "base/check.h"
#include "core/timestamp.h"
#include "fsm/command/push_target.h"
#include "rest/rest_document_int.h"
#include "svc/svc_chain.h"
#include "svc/svc_enqueue.h"
#include "svc/svc_names.h"
#include "svc/svc_work.h"

void rest_document__usd(struct json_write *w, const char *key, int64_t nusd)
{
    json_write_key(w, str_from_z(key));
    json_write_f64(w, (double)nusd / (double)JOB_NUSD_PER_USD);
}

static void usd_if_set(struct json_write *w, const char *key, int64_t nusd)
{
    if (nusd != 0) {
        rest_document__usd(w, key, nusd);
    }
}

void rest_document__tokens(struct json_write *w, const struct store_tokens *t)
{
    rest_document__i64_if_set(w, "input_tokens", t->input);
    rest_document__i64_if_set(w, "output_tokens", t->output);
    rest_document__i64_if_set(w, "cache_creation_tokens", t->cache_creation);
    rest_document__i64_if_set(w, "cache_read_tokens", t->cache_read);
    rest_document__text(w, "model", t->model);
    rest_document__text(w, "provider", t->provider);
    usd_if_set(w, "cost_usd", t->cost_nusd);
}

static void write_agent(struct json_write *w, const struct job_agent *a)
{
    rest_document__object(w, "agent");
    rest_document__i64_if_set(w, "max_iterations", a->max_iterations);
    usd_if_set(w, "max_cost_usd", a->max_cost_nusd);
    rest_document__text(w, "iteration_timeout", a->timeout);
    rest_document__i64_if_set(w, "iteration", a->iteration);
    usd_if_set(w, "total_cost_usd", a->total_cost_nusd);
    json_write_end(w);
}

void rest_document__error(struct json_write *w, struct id job, const struct store_error *e)
{
    json_write_object(w);
    rest_document__i64(w, "id", (int64_t)e->row);
    rest_document__id(w, "job_id", job, ID_JOB);
    rest_document__i64(w, "attempt", e->attempt);
    json_write_key(w, STR("error"));
    json_write_str(w, e->error);
    rest_document__text(w, "backtrace", e->backtrace);
    rest_document__text(w, "worker_version", e->version);
    rest_document__time(w, "created_at", e->created_at);
    json_write_end(w);
}

void rest_document__add_time(struct json_write *w, struct str key, struct wall at)
{
    char text[TIMESTAMP_TEXT_MAX];
    size_t len = timestamp_format(at, text);
    json_write_key(w, key);
    json_write_str(w, str_from(text, len));
}

struct str rest_document__quoted_id(struct id id, struct str prefix,
                                    char room[static REST_DOCUMENT_ID_ROOM])
{
    room[0] = '"';
    size_t end = 1 + id_format(id, prefix, room + 1); /* contains nothing to escape */
    room[end++] = '"';
    return str_from(room, end);
}

void rest_document__add_id(struct json_write *w, struct str key, struct id id, struct str prefix)
{
    char room[REST_DOCUMENT_ID_ROOM];
    json_write_key(w, key);
    json_write_raw(w, rest_document__quoted_id(id, prefix, room));
}

const char *rest_document__iteration_word(enum store_iteration_status status)
{
    static const char *const words[] = {[STORE_ITERATION_CONTINUE] = "continue",
                                        [STORE_ITERATION_DONE] = "done",
                                        [STORE_ITERATION_HOLD] = "hold"};
    return words[status];
}

struct errors {
    struct json_write *w;
    struct id job;
    bool any;
};

static void write_error(void *data, const struct store_error *e)
{
    struct errors *errors = data;
    struct json_write *w = errors->w;
    if (!errors->any) {
        errors->any = true;
        rest_document__array(w, "errors");
    }
    rest_document__error(w, errors->job, e);
}

static void write_errors(struct json_write *w, const struct job *j, struct store *store)
{
    struct errors errors = {.w = w, .job = j->id};
    if (j->error_count > 0) {
        store_rows_each_error(store, j->id, write_error, &errors);
    }
    if (errors.any) {
        json_write_end(w);
    }
}

static void write_family(struct json_write *w, const struct job *j)
{
    rest_document__text(w, "parent_id", j->parent_id);
    rest_document__text(w, "chain_id", j->chain_id);
    if (j->has_chain_step) {
        rest_document__i64(w, "chain_step", j->chain_step);
    }
}

static void write_origin(struct json_write *w, const struct svc_caller *who, const struct job *j)
{
    rest_document__text(w, "unique_key", j->unique_key);
    if (j->unique_key.len > 0) {
        rest_document__i64_if_set(w, "unique_period", j->unique_period_s);
    }
    rest_document__id(w, "batch_id", j->batch_id, ID_BATCH);
    write_family(w, j);
    if (j->chain_config.len > 0) {
        json_write_key(w, STR("chain_config"));
        svc_chain_show(who, j->chain_config, w);
    }
    rest_document__id(w, "schedule_id", j->schedule_id, ID_SCHEDULE);
}

static void write_times(struct json_write *w, const struct job *j)
{
    rest_document__time(w, "lease_expires_at", j->lease_expires_at);
    rest_document__time(w, "scheduled_at", j->scheduled_at);
    rest_document__time(w, "expire_at", j->expire_at);
    rest_document__time(w, "created_at", j->created_at);
    rest_document__time(w, "started_at", j->started_at);
    rest_document__time(w, "completed_at", j->completed_at);
    rest_document__time(w, "failed_at", j->failed_at);
    rest_document__time(w, "cancelled_at", j->cancelled_at);
}

static void write_push(struct json_write *w, const struct job *j)
{
    if (j->push.len == 0) {
        return;
    }
    json_write_key(w, STR("push"));
    push_target_show(j->push, w);
    rest_document__time(w, "due_at", j->due_at);
    rest_document__text(w, "name", j->name);
    rest_document__text(w, "cron", j->cron);
    rest_document__time(w, "cron_until", j->cron_until);
    rest_document__text(w, "cancel_reason", j->cancel_reason);
    rest_document__text(w, "last_outcome", str_from_z(job_outcome_name(j->outcome)));
}

static void write_try(void *data, const struct store_try *t)
{
    struct json_write *w = data;
    json_write_object(w);
    rest_document__i64(w, "attempt", t->attempt);
    rest_document__text(w, "outcome", str_from_z(job_outcome_name(t->outcome)));
    rest_document__i64_if_set(w, "http_status", t->http_status);
    rest_document__i64(w, "answer_ms", t->answer_ms);
    rest_document__time(w, "due_at", t->due_at);
    rest_document__time(w, "started_at", t->started_at);
    rest_document__time(w, "ended_at", t->ended_at);
    rest_document__text(w, "node_id", t->node);
    rest_document__text(w, "error_type", str_from_z(store_rows_try_word(t->error_type)));
    rest_document__text(w, "error", t->error);
    json_write_end(w);
}

static void write_tries(struct json_write *w, const struct job *j, struct store *store)
{
    if (j->push.len > 0) {
        rest_document__array(w, "push_attempts");
        store_rows_each_try(store, j->id, write_try, w);
        json_write_end(w);
    }
}

void rest_document__job_members(struct json_write *w, const struct svc_caller *who,
                                const struct job *j)
{
    rest_document__id(w, "id", j->id, ID_JOB);
    rest_document__text(w, "queue", svc_names_visible(who, j->queue));
    rest_document__text(w, "state", str_from_z(job_state_name(j->state)));
    rest_document__raw(w, "payload", j->payload);
    rest_document__i64(w, "priority", svc_enqueue_priority(who, j->priority));
    rest_document__i64(w, "attempt", j->attempt);
    rest_document__i64(w, "max_retries", j->max_retries);
    rest_document__text(w, "retry_backoff", str_from_z(job_backoff_name(j->backoff)));
    rest_document__i64(w, "retry_base_delay_ms", j->retry_base_ms);
    rest_document__i64(w, "retry_max_delay_ms", j->retry_max_ms);
    write_origin(w, who, j);
    rest_document__text(w, "worker_id", j->worker_id);
    rest_document__text(w, "hostname", j->hostname);
    rest_document__raw(w, "tags", j->tags);
    rest_document__raw(w, "progress", j->progress);
    rest_document__raw(w, "checkpoint", j->checkpoint);
    rest_document__raw(w, "result", j->result);
    write_times(w, j);
    if (j->is_agent) {
        write_agent(w, &j->agent);
    }
    rest_document__text(w, "hold_reason", j->hold_reason);
    write_push(w, j);
}

void rest_document__job(struct json_write *w, const struct svc_caller *who, const struct job *j,
                        struct store *store)
{
    json_write_object(w);
    rest_document__job_members(w, who, j);
    write_errors(w, j, store);
    write_tries(w, j, store);
    json_write_end(w);
}

static void keep_newest(void *data, const struct store_error *e)
{
    struct buf *newest = data;
    buf_clear(newest);
    buf_add_str(newest, e->error);
}

void rest_document__last_error(const struct job *j, struct store *store, struct buf *out)
{
    if (j->error_count > 0) {
        store_rows_each_error(store, j->id, keep_newest, out);
    }
}

static void write_last_error(struct json_write *w, const struct job *j, struct store *store)
{
    struct buf newest;
    buf_init(&newest, SIZE_MAX);
    rest_document__last_error(j, store, &newest);
    rest_document__text(w, "last_error", buf_str(&newest));
    buf_deinit(&newest);
}

void rest_document__summary(struct json_write *w, const struct svc_caller *who, const struct job *j,
                            struct store *store)
{
    json_write_object(w);
    rest_document__id(w, "id", j->id, ID_JOB);
    rest_document__text(w, "queue", svc_names_visible(who, j->queue));
    rest_document__text(w, "state", str_from_z(job_state_name(j->state)));
    rest_document__raw(w, "payload", j->payload);
    rest_document__i64(w, "priority", svc_enqueue_priority(who, j->priority));
    rest_document__i64(w, "attempt", j->attempt);
    rest_document__i64(w, "max_retries", j->max_retries);
    rest_document__text(w, "unique_key", j->unique_key);
    rest_document__id(w, "batch_id", j->batch_id, ID_BATCH);
    rest_document__text(w, "worker_id", j->worker_id);
    rest_document__raw(w, "tags", j->tags);
    write_family(w, j);
    rest_document__time(w, "scheduled_at", j->scheduled_at);
    rest_document__time(w, "expire_at", j->expire_at);
    rest_document__time(w, "created_at", j->created_at);
    rest_document__time(w, "started_at", j->started_at);
    rest_document__time(w, "completed_at", j->completed_at);
    rest_document__time(w, "failed_at", j->failed_at);
    rest_document__raw(w, "progress", j->progress);
    rest_document__text(w, "hold_reason", j->hold_reason);
    if (j->is_agent) {
        write_agent(w, &j->agent);
    }
    write_last_error(w, j, store);
    json_write_end(w);
}

void rest_document__fetched(struct json_write *w, const struct svc_work_fetched *j)
{
    json_write_object(w);
    rest_document__id(w, "job_id", j->id, ID_JOB);
    rest_document__text(w, "queue", j->queue);
    rest_document__raw(w, "payload", j->payload);
    rest_document__i64(w, "attempt", j->attempt);
    rest_document__i64(w, "max_retries", j->max_retries);
    rest_document__i64(w, "lease_duration", j->lease_s);
    rest_document__i64(w, "lease_token", (int64_t)j->lease_token);
    rest_document__raw(w, "checkpoint", j->checkpoint);
    rest_document__raw(w, "tags", j->tags);
    if (j->is_agent) {
        write_agent(w, &j->agent);
    }
    json_write_end(w);
}
