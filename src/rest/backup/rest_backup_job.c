#include "base/check.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/backup/rest_backup_push.h"
#include "store/store_rows.h"

/* Rows: each kind is an array that begins with its first row. */

struct rows {
    struct json_write *w;
    struct id job;
    char open; /* the kind of the array that is open */
};

static void open_rows(struct rows *r, char kind, const char *key)
{
    if (r->open == kind) {
        return;
    }
    if (r->open != '\0') {
        json_write_end(r->w);
    }
    r->open = kind;
    rest_document__array(r->w, key);
}

static void write_tokens(struct json_write *w, const struct store_tokens *t)
{
    rest_document__tokens(w, t);
    rest_document__i64_if_set(w, "cost_nusd", t->cost_nusd); /* exactly */
}

static void write_error(void *data, const struct store_error *e)
{
    struct rows *r = data;
    open_rows(r, STORE_ROW_ERROR, "errors");
    rest_document__error(r->w, r->job, e);
}

static void write_iteration(void *data, const struct store_iteration *it)
{
    struct rows *r = data;
    open_rows(r, STORE_ROW_ITERATION, "iterations");
    json_write_object(r->w);
    rest_document__i64(r->w, "id", (int64_t)it->row);
    rest_document__i64(r->w, "iteration", it->iteration);
    rest_document__text(r->w, "status", str_from_z(rest_document__iteration_word(it->status)));
    rest_document__raw(r->w, "checkpoint", it->checkpoint);
    rest_document__text(r->w, "hold_reason", it->hold_reason);
    rest_document__raw(r->w, "result", it->result);
    write_tokens(r->w, &it->tokens);
    rest_document__time(r->w, "created_at", it->created_at);
    json_write_end(r->w);
}

static void write_usage(void *data, const struct store_usage *u)
{
    struct rows *r = data;
    open_rows(r, STORE_ROW_USAGE, "usage");
    json_write_object(r->w);
    rest_document__i64(r->w, "id", (int64_t)u->row);
    rest_document__i64(r->w, "attempt", u->attempt);
    rest_document__text(r->w, "phase", u->phase == STORE_PHASE_ACK ? STR("ack") : STR("heartbeat"));
    write_tokens(r->w, &u->tokens);
    rest_document__time(r->w, "created_at", u->created_at);
    json_write_end(r->w);
}

/* Until when j holds its unique key; 0 when it does not. */
static struct wall unique_until(const struct job *j, struct store_snapshot *sn)
{
    struct store_lock lock;
    struct str value;
    struct buf key;
    if (j->unique_key.len == 0) {
        return WALL_NONE;
    }
    buf_init(&key, STORE_LOCK_KEY_BYTES_MAX);
    bool holds =
        store_snapshot_record(sn, STORE_KIND_LOCK,
                              store_record_lock_key(j->queue, j->unique_key, &key), &value) &&
        store_record_decode_lock(value, &lock) && id_eq(lock.job, j->id);
    buf_deinit(&key);
    return holds ? lock.expires_at : WALL_NONE;
}

static void write_waits(struct json_write *w, struct str ids)
{
    char text[ID_TEXT_MAX];
    if (ids.len == 0) {
        return;
    }
    rest_document__array(w, "waits_for");
    for (size_t i = 0; i < ids.len / ID_BYTES; i++) {
        size_t len = id_format(id_from_bytes(ids.ptr + i * ID_BYTES), ID_JOB, text);
        json_write_str(w, str_from(text, len));
    }
    json_write_end(w);
}

/* What the document does not say. */
static void write_rest(struct json_write *w, const struct job *j, struct store_snapshot *sn,
                       bool secrets)
{
    rest_document__object(w, "restore");
    rest_document__i64_if_set(w, "lease_token", (int64_t)j->lease_token);
    if (j->batch_counted) {
        rest_document__bool(w, "batch_counted", true);
    }
    rest_document__time(w, "unique_until", unique_until(j, sn));
    rest_document__i64_if_set(w, "max_cost_nusd", j->agent.max_cost_nusd);
    rest_document__i64_if_set(w, "total_cost_nusd", j->agent.total_cost_nusd);
    write_waits(w, j->waits_for);
    rest_backup_push__write(w, j, secrets);
    json_write_end(w);
}

void rest_backup_job__write(struct json_write *w, const struct rest_call *c, const struct job *j,
                            struct store_snapshot *sn, bool secrets)
{
    struct rows rows = {.w = w, .job = j->id};
    struct store_rows_visitor visitor = {
        .data = &rows, .error = write_error, .iteration = write_iteration, .usage = write_usage};
    json_write_object(w);
    struct svc_caller who = rest_call__caller(c);
    who.urgencies = false; /* a backup is the same for everybody */
    rest_document__job_members(w, &who, j);
    if (j->error_count > 0 || j->iteration_count > 0 || j->usage_count > 0) {
        store_snapshot_each_row(sn, j->id, &visitor);
    }
    if (rows.open != '\0') {
        json_write_end(w);
    }
    write_rest(w, j, sn, secrets);
    json_write_end(w);
}

void rest_backup_job__write_queue(struct json_write *w, const struct rest_call *c, struct str name,
                                  const struct store_queue *q)
{
    json_write_object(w);
    rest_document__text(w, "name", rest_names__visible(c, name));
    rest_document__bool(w, "paused", q->paused);
    rest_document__i64_if_set(w, "max_concurrency", q->max_concurrency);
    if (q->throttle_rate > 0) {
        rest_document__i64(w, "rate_limit", q->throttle_rate);
        rest_document__i64(w, "rate_window_ms", q->throttle_window_ms);
    }
    rest_document__time(w, "created_at", q->created_at);
    rest_document__i64_if_set(w, "failed", (int64_t)q->failures);
    json_write_end(w);
}

void rest_backup_job__write_schedule(struct json_write *w, const struct rest_call *c, struct id id,
                                     const struct store_schedule *s, bool secrets)
{
    json_write_object(w);
    rest_document__id(w, "id", id, ID_SCHEDULE);
    rest_document__text(w, "name", rest_names__visible(c, s->name));
    rest_document__text(w, "queue", rest_names__visible(c, s->queue));
    rest_document__text(w, "cron", s->cron);
    rest_document__text(w, "timezone", s->timezone);
    rest_document__raw(w, "payload", s->payload);
    rest_document__text(w, "unique_key", s->unique_key);
    rest_document__raw(w, "tags", s->tags);
    rest_document__i64(w, "max_retries", s->max_retries);
    rest_document__i64(w, "priority", s->priority);
    rest_document__bool(w, "enabled", s->enabled);
    rest_document__time(w, "last_run", s->last_run);
    rest_document__time(w, "next_run", s->next_run);
    rest_document__time(w, "created_at", s->created_at);
    rest_document__time(w, "updated_at", s->updated_at);
    rest_backup_push__write_target(w, s->push, secrets);
    json_write_end(w);
}

/* With its secret, because a restored one must sign as before. */
void rest_backup_job__write_webhook(struct json_write *w, const struct rest_call *c, struct str id,
                                    const struct store_webhook *h)
{
    json_write_object(w);
    rest_document__text(w, "id", rest_names__visible(c, id));
    rest_document__text(w, "url", h->url);
    rest_webhooks__write_events(w, h->events);
    rest_document__text(w, "secret", h->secret);
    rest_document__bool(w, "enabled", h->enabled);
    rest_document__i64(w, "retry_limit", h->retry_limit);
    if (h->scope.len > 0) {
        rest_document__text(w, "queue_scope", h->scope);
    }
    rest_document__time(w, "created_at", h->created_at);
    json_write_end(w);
}

void rest_backup_job__write_batch(struct json_write *w, const struct rest_call *c, struct id id,
                                  const struct store_batch *b)
{
    json_write_object(w);
    rest_document__id(w, "id", id, ID_BATCH);
    rest_document__i64(w, "total", (int64_t)b->total);
    rest_document__i64(w, "pending", (int64_t)b->pending);
    rest_document__i64(w, "succeeded", (int64_t)b->succeeded);
    rest_document__i64(w, "failed", (int64_t)b->failed);
    rest_document__bool(w, "sealed", b->sealed);
    rest_document__text(w, "callback_queue", rest_names__visible(c, b->callback_queue));
    rest_document__raw(w, "callback_payload", b->callback_payload);
    if (b->owner.scope.len > 0) {
        rest_document__text(w, "queue_scope", b->owner.scope);
    }
    rest_document__time(w, "created_at", b->created_at);
    rest_document__time(w, "finished_at", b->finished_at);
    json_write_end(w);
}
