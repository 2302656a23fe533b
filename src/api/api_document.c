/*
 * Documents as clients see them (http-api.md 4).
 */
#include "api/api_document_int.h"
#include "base/check.h"
#include "core/timestamp.h"
#include "fsm/command/push_target.h"
#include "svc/svc_chain.h"
#include "svc/svc_enqueue.h"
#include "svc/svc_names.h"
#include "svc/svc_work.h"

void api_document__time(struct json_write *w, const char *key, struct wall at)
{
    char text[TIMESTAMP_TEXT_MAX];
    if (at.ns != 0) {
        size_t len = timestamp_format(at, text);
        json_write_key(w, str_from_z(key));
        json_write_str(w, str_from(text, len));
    }
}

void api_document__text(struct json_write *w, const char *key, struct str text)
{
    if (text.len > 0) {
        json_write_key(w, str_from_z(key));
        json_write_str(w, text);
    }
}

void api_document__raw(struct json_write *w, const char *key, struct str json)
{
    if (json.len > 0) {
        json_write_key(w, str_from_z(key));
        json_write_raw(w, json);
    }
}

void api_document__id(struct json_write *w, const char *key, struct id id, struct str prefix)
{
    char text[ID_TEXT_MAX + 2] = "\"";
    if (!id_is_none(id)) {
        size_t end = 1 + id_format(id, prefix, text + 1);
        text[end++] = '"';
        json_write_key(w, str_from_z(key));
        json_write_raw(w, str_from(text, end)); /* it has nothing to escape */
    }
}

void api_document__i64(struct json_write *w, const char *key, int64_t v)
{
    json_write_key(w, str_from_z(key));
    json_write_i64(w, v);
}

void api_document__bool(struct json_write *w, const char *key, bool v)
{
    json_write_key(w, str_from_z(key));
    json_write_bool(w, v);
}

void api_document__array(struct json_write *w, const char *key)
{
    json_write_key(w, str_from_z(key));
    json_write_array(w);
}

void api_document__object(struct json_write *w, const char *key)
{
    json_write_key(w, str_from_z(key));
    json_write_object(w);
}

void api_document__usd(struct json_write *w, const char *key, int64_t nusd)
{
    if (nusd != 0) {
        json_write_key(w, str_from_z(key));
        json_write_f64(w, (double)nusd / (double)JOB_NUSD_PER_USD);
    }
}

void api_document__i64_if_set(struct json_write *w, const char *key, int64_t v)
{
    if (v != 0) {
        api_document__i64(w, key, v);
    }
}

void api_document__tokens(struct json_write *w, const struct store_tokens *t)
{
    api_document__i64_if_set(w, "input_tokens", t->input);
    api_document__i64_if_set(w, "output_tokens", t->output);
    api_document__i64_if_set(w, "cache_creation_tokens", t->cache_creation);
    api_document__i64_if_set(w, "cache_read_tokens", t->cache_read);
    api_document__text(w, "model", t->model);
    api_document__text(w, "provider", t->provider);
    api_document__usd(w, "cost_usd", t->cost_nusd);
}

static void write_agent(struct json_write *w, const struct job_agent *a)
{
    api_document__object(w, "agent");
    api_document__i64_if_set(w, "max_iterations", a->max_iterations);
    api_document__usd(w, "max_cost_usd", a->max_cost_nusd);
    api_document__text(w, "iteration_timeout", a->timeout);
    api_document__i64_if_set(w, "iteration", a->iteration);
    api_document__usd(w, "total_cost_usd", a->total_cost_nusd);
    json_write_end(w);
}

void api_document__error(struct json_write *w, struct id job, const struct store_error *e)
{
    json_write_object(w);
    api_document__i64(w, "id", (int64_t)e->row);
    api_document__id(w, "job_id", job, ID_JOB);
    api_document__i64(w, "attempt", e->attempt);
    json_write_key(w, STR("error"));
    json_write_str(w, e->error);
    api_document__text(w, "backtrace", e->backtrace);
    api_document__time(w, "created_at", e->created_at);
    json_write_end(w);
}

const char *api_document__iteration_word(enum store_iteration_status status)
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
        api_document__array(w, "errors");
    }
    api_document__error(w, errors->job, e);
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
    api_document__text(w, "parent_id", j->parent_id);
    api_document__text(w, "chain_id", j->chain_id);
    if (j->has_chain_step) {
        api_document__i64(w, "chain_step", j->chain_step);
    }
}

static void write_origin(struct json_write *w, const struct svc_caller *who, const struct job *j)
{
    api_document__text(w, "unique_key", j->unique_key);
    if (j->unique_key.len > 0) {
        api_document__i64_if_set(w, "unique_period", j->unique_period_s);
    }
    api_document__id(w, "batch_id", j->batch_id, ID_BATCH);
    write_family(w, j);
    if (j->chain_config.len > 0) {
        json_write_key(w, STR("chain_config"));
        svc_chain_show(who, j->chain_config, w);
    }
    api_document__id(w, "schedule_id", j->schedule_id, ID_SCHEDULE);
}

static void write_times(struct json_write *w, const struct job *j)
{
    api_document__time(w, "lease_expires_at", j->lease_expires_at);
    api_document__time(w, "scheduled_at", j->scheduled_at);
    api_document__time(w, "expire_at", j->expire_at);
    api_document__time(w, "created_at", j->created_at);
    api_document__time(w, "started_at", j->started_at);
    api_document__time(w, "completed_at", j->completed_at);
    api_document__time(w, "failed_at", j->failed_at);
    api_document__time(w, "cancelled_at", j->cancelled_at);
}

static void write_push(struct json_write *w, const struct job *j)
{
    if (j->push.len == 0) {
        return;
    }
    json_write_key(w, STR("push"));
    push_target_show(j->push, w);
    api_document__time(w, "due_at", j->due_at);
    api_document__text(w, "name", j->name);
    api_document__text(w, "cron", j->cron);
    api_document__time(w, "cron_until", j->cron_until);
    api_document__text(w, "cancel_reason", j->cancel_reason);
    api_document__text(w, "last_outcome", str_from_z(job_outcome_name(j->outcome)));
}

static void write_try(void *data, const struct store_try *t)
{
    struct json_write *w = data;
    json_write_object(w);
    api_document__i64(w, "attempt", t->attempt);
    api_document__text(w, "outcome", str_from_z(job_outcome_name(t->outcome)));
    api_document__i64_if_set(w, "http_status", t->http_status);
    api_document__i64(w, "answer_ms", t->answer_ms);
    api_document__time(w, "due_at", t->due_at);
    api_document__time(w, "started_at", t->started_at);
    api_document__time(w, "ended_at", t->ended_at);
    api_document__text(w, "node_id", t->node);
    api_document__text(w, "error_type", str_from_z(store_rows_try_word(t->error_type)));
    api_document__text(w, "error", t->error);
    json_write_end(w);
}

static void write_tries(struct json_write *w, const struct job *j, struct store *store)
{
    if (j->push.len > 0) {
        api_document__array(w, "push_attempts");
        store_rows_each_try(store, j->id, write_try, w);
        json_write_end(w);
    }
}

void api_document__job_members(struct json_write *w, const struct svc_caller *who,
                               const struct job *j)
{
    api_document__id(w, "id", j->id, ID_JOB);
    api_document__text(w, "queue", svc_names_visible(who, j->queue));
    api_document__text(w, "state", str_from_z(job_state_name(j->state)));
    api_document__raw(w, "payload", j->payload);
    api_document__i64(w, "priority", svc_enqueue_priority(who, j->priority));
    api_document__i64(w, "attempt", j->attempt);
    api_document__i64(w, "max_retries", j->max_retries);
    api_document__text(w, "retry_backoff", str_from_z(job_backoff_name(j->backoff)));
    api_document__i64(w, "retry_base_delay_ms", j->retry_base_ms);
    api_document__i64(w, "retry_max_delay_ms", j->retry_max_ms);
    write_origin(w, who, j);
    api_document__text(w, "worker_id", j->worker_id);
    api_document__text(w, "hostname", j->hostname);
    api_document__raw(w, "tags", j->tags);
    api_document__raw(w, "progress", j->progress);
    api_document__raw(w, "checkpoint", j->checkpoint);
    api_document__raw(w, "result", j->result);
    write_times(w, j);
    if (j->is_agent) {
        write_agent(w, &j->agent);
    }
    api_document__text(w, "hold_reason", j->hold_reason);
    write_push(w, j);
}

void api_document__job(struct json_write *w, const struct svc_caller *who, const struct job *j,
                       struct store *store)
{
    json_write_object(w);
    api_document__job_members(w, who, j);
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

void api_document__last_error(const struct job *j, struct store *store, struct buf *out)
{
    if (j->error_count > 0) {
        store_rows_each_error(store, j->id, keep_newest, out);
    }
}

static void write_last_error(struct json_write *w, const struct job *j, struct store *store)
{
    struct buf newest;
    buf_init(&newest, SIZE_MAX);
    api_document__last_error(j, store, &newest);
    api_document__text(w, "last_error", buf_str(&newest));
    buf_deinit(&newest);
}

void api_document__summary(struct json_write *w, const struct svc_caller *who, const struct job *j,
                           struct store *store)
{
    json_write_object(w);
    api_document__id(w, "id", j->id, ID_JOB);
    api_document__text(w, "queue", svc_names_visible(who, j->queue));
    api_document__text(w, "state", str_from_z(job_state_name(j->state)));
    api_document__raw(w, "payload", j->payload);
    api_document__i64(w, "priority", svc_enqueue_priority(who, j->priority));
    api_document__i64(w, "attempt", j->attempt);
    api_document__i64(w, "max_retries", j->max_retries);
    api_document__text(w, "unique_key", j->unique_key);
    api_document__id(w, "batch_id", j->batch_id, ID_BATCH);
    api_document__text(w, "worker_id", j->worker_id);
    api_document__raw(w, "tags", j->tags);
    write_family(w, j);
    api_document__time(w, "scheduled_at", j->scheduled_at);
    api_document__time(w, "expire_at", j->expire_at);
    api_document__time(w, "created_at", j->created_at);
    api_document__time(w, "started_at", j->started_at);
    api_document__time(w, "completed_at", j->completed_at);
    api_document__time(w, "failed_at", j->failed_at);
    api_document__raw(w, "progress", j->progress);
    api_document__text(w, "hold_reason", j->hold_reason);
    if (j->is_agent) {
        write_agent(w, &j->agent);
    }
    write_last_error(w, j, store);
    json_write_end(w);
}

void api_document__fetched(struct json_write *w, const struct svc_work_fetched *j)
{
    json_write_object(w);
    api_document__id(w, "job_id", j->id, ID_JOB);
    api_document__text(w, "queue", j->queue);
    api_document__raw(w, "payload", j->payload);
    api_document__i64(w, "attempt", j->attempt);
    api_document__i64(w, "max_retries", j->max_retries);
    api_document__i64(w, "lease_duration", j->lease_s);
    api_document__i64(w, "lease_token", (int64_t)j->lease_token);
    api_document__raw(w, "checkpoint", j->checkpoint);
    api_document__raw(w, "tags", j->tags);
    if (j->is_agent) {
        write_agent(w, &j->agent);
    }
    json_write_end(w);
}
