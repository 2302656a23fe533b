#include "backup/backup_verify.h"
#include "base/limits.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/backup/rest_backup_push.h"
#include "store/store_rows.h"
#include "svc/svc_chain.h"

/* Maximum size of a job's members after its rows: chain and target with credentials, ids, numbers,
 * times. */
enum {
    MEMBERS_BEHIND_BYTES = LIMIT_RESULT_BYTES + LIMIT_PUSH_BYTES + 64 * LIMIT_DEPENDS_ON + 4096
};

/* Rows. Each kind is an array, which is opened when its first row is written. */

enum row_kind { ROW_ERROR, ROW_ITERATION, ROW_USAGE, ROW_KIND_COUNT };

static const char *const row_keys[ROW_KIND_COUNT] = {"errors", "iterations", "usage"};

struct row {
    enum row_kind kind;
    const void *rec; /* stored record */
};

/* Rows of one kind; the oldest may be omitted. */
struct row_sum {
    uint64_t count, bytes;
    uint64_t count_over, bytes_over; /* omit rows until both are within their limits */
};

struct rows {
    struct json_write *w; /* NULL: only measure the rows */
    struct id job;
    uint64_t first_summed;
    int open; /* the kind of the array that is open; -1: none */
    struct row_sum sums[ROW_KIND_COUNT];
    uint64_t left_out;
};

static void write_tokens(struct json_write *w, const struct store_tokens *t)
{
    rest_document__tokens(w, t);
    rest_document__i64_if_set(w, "cost_nusd", t->cost_nusd); /* the exact cost */
}

static void put_iteration(struct json_write *w, const struct store_iteration *it)
{
    json_write_object(w);
    rest_document__i64(w, "id", (int64_t)it->row);
    rest_document__i64(w, "iteration", it->iteration);
    rest_document__text(w, "status", str_from_z(rest_document__iteration_word(it->status)));
    rest_document__raw(w, "checkpoint", it->checkpoint);
    rest_document__text(w, "hold_reason", it->hold_reason);
    rest_document__raw(w, "result", it->result);
    write_tokens(w, &it->tokens);
    rest_document__time(w, "created_at", it->created_at);
    json_write_end(w);
}

static void put_usage(struct json_write *w, const struct store_usage *u, bool in_sums)
{
    json_write_object(w);
    rest_document__i64(w, "id", (int64_t)u->row);
    rest_document__i64(w, "attempt", u->attempt);
    rest_document__text(w, "phase", u->phase == STORE_PHASE_ACK ? STR("ack") : STR("heartbeat"));
    write_tokens(w, &u->tokens);
    rest_document__time(w, "created_at", u->created_at);
    if (in_sums) {
        rest_document__bool(w, "in_sums", true);
    }
    json_write_end(w);
}

static void put_row(struct json_write *w, const struct rows *r, struct row row)
{
    const struct store_usage *u = row.rec;
    switch ((int)row.kind) {
    case ROW_ERROR:
        rest_document__error(w, r->job, row.rec);
        break;
    case ROW_ITERATION:
        put_iteration(w, row.rec);
        break;
    default:
        put_usage(w, u, u->row >= r->first_summed);
    }
}

static uint64_t row_bytes(const struct rows *r, struct row row)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    struct json_write w = json_write_to(&b);
    put_row(&w, r, row);
    uint64_t bytes = b.len + 1; /* and a comma */
    buf_deinit(&b);
    return bytes;
}

static void visit(struct rows *r, struct row row)
{
    struct row_sum *sum = &r->sums[row.kind];
    if (r->w == NULL) {
        sum->count++;
        sum->bytes += row_bytes(r, row);
        return;
    }
    if (sum->count_over > 0 || sum->bytes_over > 0) {
        uint64_t bytes = row_bytes(r, row);
        sum->count_over -= sum->count_over > 0 ? 1 : 0;
        sum->bytes_over -= bytes < sum->bytes_over ? bytes : sum->bytes_over;
        r->left_out++;
        return;
    }
    if (r->open != (int)row.kind) {
        if (r->open >= 0) {
            json_write_end(r->w);
        }
        r->open = (int)row.kind;
        rest_document__array(r->w, row_keys[row.kind]);
    }
    put_row(r->w, r, row);
}

static void visit_error(void *data, const struct store_error *e)
{
    visit(data, (struct row){ROW_ERROR, e});
}

static void visit_iteration(void *data, const struct store_iteration *it)
{
    visit(data, (struct row){ROW_ITERATION, it});
}

static void visit_usage(void *data, const struct store_usage *u)
{
    visit(data, (struct row){ROW_USAGE, u});
}

static void each_row(struct rows *r, struct store_snapshot *sn)
{
    struct store_rows_visitor visitor = {
        .data = r, .error = visit_error, .iteration = visit_iteration, .usage = visit_usage};
    store_snapshot_each_row(sn, r->job, &visitor);
}

/* Could the rows exceed what a restore accepts, if each had its maximum size? */
static bool may_be_too_large(const struct job *j, uint64_t room)
{
    const uint64_t tokens = 4096; /* numbers, times and names, with escapes */
    const uint64_t error = 6ULL * (LIMIT_ERROR_BYTES + LIMIT_BACKTRACE_BYTES) + tokens;
    const uint64_t iteration = 2ULL * LIMIT_RESULT_BYTES + 6ULL * LIMIT_REASON_BYTES + tokens;
    uint64_t most =
        j->error_count * error + j->iteration_count * iteration + j->usage_count * tokens;
    return most > room || j->iteration_count > LIMIT_RESTORE_ROWS ||
           j->usage_count > LIMIT_RESTORE_ROWS;
}

/* Decide how many of the oldest rows are omitted. Iterations first, because they are the
 * largest. */
static void plan_rows(struct rows *r, struct store_snapshot *sn, uint64_t room)
{
    static const enum row_kind order[] = {ROW_ITERATION, ROW_ERROR, ROW_USAGE};
    struct rows measure = {.job = r->job, .first_summed = r->first_summed, .open = -1};
    uint64_t bytes = 0;
    each_row(&measure, sn);
    for (unsigned k = 0; k < ROW_KIND_COUNT; k++) {
        bytes += measure.sums[k].bytes;
    }
    uint64_t over = bytes > room ? bytes - room : 0;
    for (unsigned i = 0; i < COUNT_OF(order); i++) {
        const struct row_sum *measured = &measure.sums[order[i]];
        struct row_sum *sum = &r->sums[order[i]];
        sum->count_over =
            measured->count > LIMIT_RESTORE_ROWS ? measured->count - LIMIT_RESTORE_ROWS : 0;
        sum->bytes_over = over < measured->bytes ? over : measured->bytes;
        over -= sum->bytes_over;
    }
}

/* Write the rows of a job, whose element has `bytes` bytes so far. Returns how many rows were
 * omitted. */
static uint64_t write_rows(struct json_write *w, const struct job *j, struct store_snapshot *sn,
                           uint64_t first_summed, size_t bytes)
{
    struct rows rows = {.w = w, .job = j->id, .first_summed = first_summed, .open = -1};
    uint64_t used = (uint64_t)bytes + MEMBERS_BEHIND_BYTES;
    uint64_t room = used < BACKUP_VERIFY_TEXT_BYTES ? BACKUP_VERIFY_TEXT_BYTES - used : 0;
    if (j->error_count == 0 && j->iteration_count == 0 && j->usage_count == 0) {
        return 0;
    }
    if (may_be_too_large(j, room)) {
        plan_rows(&rows, sn, room);
    }
    each_row(&rows, sn);
    if (rows.open >= 0) {
        json_write_end(w);
    }
    return rows.left_out;
}

/* The time until which j holds its unique key; 0 if it does not hold one. */
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

/* Write a chain with the credentials of its steps, which the job's document omits. */
static void write_chain(struct json_write *w, const struct svc_caller *who, const struct job *j)
{
    struct buf shown;
    buf_init(&shown, SIZE_MAX);
    struct json_write to = json_write_to(&shown);
    svc_chain_show(who, j->chain_config, &to);
    if (svc_chain_is_redacted(buf_str(&shown))) {
        json_write_key(w, STR("chain_config"));
        svc_chain_show_whole(who, j->chain_config, w);
    }
    buf_deinit(&shown);
}

/* Write the member "restore": data that the document omits. */
static void write_rest(struct json_write *w, const struct svc_caller *who, const struct job *j,
                       struct store_snapshot *sn, bool secrets)
{
    rest_document__i64_if_set(w, "lease_token", (int64_t)j->lease_token);
    if (j->batch_counted) {
        rest_document__bool(w, "batch_counted", true);
    }
    rest_document__time(w, "unique_until", unique_until(j, sn));
    rest_document__i64_if_set(w, "max_cost_nusd", j->agent.max_cost_nusd);
    rest_document__i64_if_set(w, "total_cost_nusd", j->agent.total_cost_nusd);
    write_waits(w, j->waits_for);
    if (j->chain_config.len > 0 && svc_chain_is_foreign(who, j->chain_config)) {
        rest_document__bool(w, "chain_leaves", true);
    }
    rest_backup_push__write(w, j, secrets);
    if (secrets && j->chain_config.len > 0) {
        write_chain(w, who, j);
    }
}

uint64_t rest_backup_job__write(struct json_write *w, const struct rest_call *c,
                                const struct job *j, struct store_snapshot *sn,
                                const struct rest_backup_options *options)
{
    struct svc_caller who = rest_call__caller(c);
    size_t from = w->out->len;
    who.urgencies = false; /* a backup does not depend on the client */
    json_write_object(w);
    rest_document__job_members(w, &who, j);
    uint64_t left_out = write_rows(w, j, sn, options->first_summed, w->out->len - from);
    rest_document__object(w, "restore");
    write_rest(w, &who, j, sn, options->secrets);
    rest_document__i64_if_set(w, "rows_left_out", (int64_t)left_out);
    json_write_end(w);
    json_write_end(w);
    return left_out;
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

/* Includes the secret, because a restored webhook must sign as before. */
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
    if (!id_is_none(b->callback_job)) {
        rest_document__id(w, "callback_job", b->callback_job, ID_JOB);
    }
    if (b->owner.scope.len > 0) {
        rest_document__text(w, "queue_scope", b->owner.scope);
    }
    rest_document__time(w, "created_at", b->created_at);
    rest_document__time(w, "finished_at", b->finished_at);
    json_write_end(w);
}
