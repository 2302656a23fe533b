/*
 * Explain: why a job, or the jobs of a queue, are not running.
 *
 * Every reason is an object with a code for programs, a message for people, and details. The state
 * in memory is copied on the core thread (fsm/explain.h); the documents of related jobs are read
 * here.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "core/timestamp.h"
#include "fsm/explain.h"
#include "rest/rest_int.h"
#include "rest/rest_numbers_int.h"

enum { DEPENDENCIES_MAX = 20, MESSAGE_BYTES_MAX = 8192 };

struct explanation {
    struct id id;
    struct str queue; /* internal name */
    struct wall now;
    struct explain_job job; /* when a queue is explained, only its queue member */
    struct json_write *w;
    bool blocked; /* a reason prevents the next claim */
};

/* A time as text, for messages. */
struct moment {
    char text[TIMESTAMP_TEXT_MAX];
    size_t len;
};

static struct moment moment_of(struct wall at)
{
    struct moment m;
    m.len = timestamp_format(at, m.text);
    return m;
}

#define MOMENT_ARG(m) (int)(m).len, (m).text

/* Begin a reason; the caller writes details and ends it. */
static void begin_reason(struct json_write *w, const char *code, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
static void begin_reason(struct json_write *w, const char *code, const char *fmt, ...)
{
    char text[MESSAGE_BYTES_MAX];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CHECK(n >= 0);
    json_write_object(w);
    rest_document__text(w, "code", str_from_z(code));
    rest_document__text(w, "message",
                        str_from(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1));
}

/* The queue's reasons */

static void write_holder(struct json_write *w, struct rest_call *c, struct id id)
{
    struct job j;
    struct buf doc;
    buf_init(&doc, SIZE_MAX);
    json_write_object(w);
    rest_document__id(w, "job_id", id, ID_JOB);
    if (rest_names__read_job_by_id(c, id, &doc, &j)) {
        rest_document__text(w, "worker_id", j.worker_id);
        rest_document__text(w, "hostname", j.hostname);
        rest_document__time(w, "started_at", j.started_at);
        rest_document__time(w, "lease_expires_at", j.lease_expires_at);
    }
    json_write_end(w);
    buf_deinit(&doc);
}

static void explain_limit(struct rest_call *c, const struct explanation *e, struct str name)
{
    const struct explain_queue *q = &e->job.queue;
    uint64_t active = q->settings.count[JOB_ACTIVE];
    begin_reason(e->w, "concurrency_limit",
                 "queue \"" STR_FMT "\" has %" PRIu64 " active jobs; its limit is %" PRIu32,
                 STR_ARG(name), active, q->settings.max_concurrency);
    rest_document__i64(e->w, "max_concurrency", q->settings.max_concurrency);
    rest_document__i64(e->w, "active", (int64_t)active);
    rest_document__array(e->w, "held_by");
    for (uint32_t i = 0; i < q->holder_count; i++) {
        write_holder(e->w, c, q->holders[i]);
    }
    json_write_end(e->w);
    rest_document__bool(e->w, "held_by_more", active > q->holder_count);
    json_write_end(e->w);
}

static void explain_throttle(const struct explanation *e, struct str name)
{
    const struct explain_queue *q = &e->job.queue;
    struct moment until = moment_of(q->throttled_until);
    begin_reason(e->w, "throttled",
                 "queue \"" STR_FMT "\" starts at most %" PRIu32
                 " jobs per %lld ms; next start at %.*s",
                 STR_ARG(name), q->settings.throttle_rate,
                 (long long)q->settings.throttle_window_ms, MOMENT_ARG(until));
    rest_document__i64(e->w, "rate_limit", q->settings.throttle_rate);
    rest_document__i64(e->w, "rate_window_ms", q->settings.throttle_window_ms);
    rest_document__time(e->w, "until", q->throttled_until);
    json_write_end(e->w);
}

static void explain_pause(const struct explanation *e, struct str name)
{
    begin_reason(e->w, "queue_paused", "queue \"" STR_FMT "\" is paused", STR_ARG(name));
    json_write_end(e->w);
}

static void explain_budget(struct explanation *e, const struct explain_budget *b)
{
    struct moment until = moment_of(b->until);
    if (!b->exceeded) {
        return;
    }
    begin_reason(e->w, "over_budget", STR_FMT "; fetches %s%s%.*s", STR_ARG(b->reason),
                 b->refuses ? "are refused" : "hold jobs instead of handing them out",
                 b->until.ns != 0 ? " until " : "", b->until.ns != 0 ? (int)until.len : 0,
                 until.text);
    rest_document__text(e->w, "on_exceed", b->refuses ? STR("reject") : STR("hold"));
    rest_document__time(e->w, "until", b->until);
    json_write_end(e->w);
    e->blocked = true;
}

/* Add a reason if no worker fetches from the queue, or none has lately. */
static void explain_workers(const struct explanation *e, struct str name)
{
    const struct explain_queue *q = &e->job.queue;
    if (q->worker_count == 0) {
        begin_reason(e->w, "no_worker",
                     "no worker seen in the last 24 hours fetches from queue \"" STR_FMT "\"",
                     STR_ARG(name));
        json_write_end(e->w);
        return;
    }
    struct wall last = q->workers[0].last_heartbeat;
    if (wall_add_ms(last, REST_NUMBERS_ACTIVE_MS).ns <= e->now.ns) {
        struct moment at = moment_of(last);
        begin_reason(e->w, "no_worker",
                     "no worker has fetched from queue \"" STR_FMT "\" since %.*s", STR_ARG(name),
                     MOMENT_ARG(at));
        rest_document__time(e->w, "last_heartbeat", last);
        json_write_end(e->w);
    }
}

/* Add the reasons that apply to every job of the queue. */
static void explain_rules(struct rest_call *c, struct explanation *e)
{
    const struct explain_queue *q = &e->job.queue;
    struct str name = rest_names__visible(c, e->queue);
    if (q->settings.paused) {
        explain_pause(e, name);
    }
    if (q->at_limit) {
        explain_limit(c, e, name);
    }
    if (q->throttled_until.ns != 0) {
        explain_throttle(e, name);
    }
    explain_budget(e, &q->budget);
    e->blocked = e->blocked || q->settings.paused || q->at_limit || q->throttled_until.ns != 0;
    explain_workers(e, name);
}

static void write_workers(struct json_write *w, const struct explain_queue *q)
{
    rest_document__array(w, "workers");
    for (uint32_t i = 0; i < q->worker_count; i++) {
        json_write_object(w);
        rest_document__text(w, "id", q->workers[i].id);
        rest_document__text(w, "hostname", q->workers[i].hostname);
        rest_document__time(w, "last_heartbeat", q->workers[i].last_heartbeat);
        json_write_end(w);
    }
    json_write_end(w);
    rest_document__i64(w, "workers_total", (int64_t)q->workers_total);
}

/* The job's own reasons */

/* The state of a job that others wait for, as a word. */
static const char *state_of(struct rest_call *c, struct id id)
{
    struct job j;
    struct buf doc;
    buf_init(&doc, SIZE_MAX);
    bool found = rest_names__read_job_by_id(c, id, &doc, &j);
    const char *word = found ? job_state_name(j.state) : "missing";
    buf_deinit(&doc);
    return word;
}

static void explain_dependencies(struct rest_call *c, struct explanation *e)
{
    struct str ids = e->job.job.waits_for;
    size_t count = ids.len / ID_BYTES;
    begin_reason(e->w, "dependencies", "waiting for %zu %s to complete", count,
                 count == 1 ? "job" : "jobs");
    rest_document__array(e->w, "waits_for");
    for (size_t i = 0; i < count && i < DEPENDENCIES_MAX; i++) {
        struct id id = id_from_bytes(ids.ptr + i * ID_BYTES);
        json_write_object(e->w);
        rest_document__id(e->w, "job_id", id, ID_JOB);
        rest_document__text(e->w, "state", str_from_z(state_of(c, id)));
        json_write_end(e->w);
    }
    json_write_end(e->w);
    rest_document__i64(e->w, "count", (int64_t)count);
    json_write_end(e->w);
    e->blocked = true;
}

static void explain_line(struct explanation *e)
{
    const struct explain_job *x = &e->job;
    if (!x->in_line || x->ahead == 0) {
        return;
    }
    begin_reason(e->w, "behind_others", "%s%" PRIu64 " %s ahead in the queue",
                 x->ahead_is_least ? "at least " : "", x->ahead,
                 x->ahead == 1 ? "job is" : "jobs are");
    json_write_end(e->w);
}

static void explain_pending(struct rest_call *c, struct explanation *e)
{
    if (e->job.job.waits_for.len > 0) {
        explain_dependencies(c, e);
    }
    explain_budget(e, &e->job.budget);
    explain_rules(c, e);
    explain_line(e);
}

/* Add the reason of a job that waits for a time or for an approval. The queue may delay it
 * further. */
static void explain_waiting(struct rest_call *c, struct explanation *e)
{
    const struct job *j = &e->job.job;
    struct moment due = moment_of(j->scheduled_at);
    if (j->state == JOB_SCHEDULED) {
        begin_reason(e->w, "not_due", "not due until %.*s", MOMENT_ARG(due));
        rest_document__time(e->w, "until", j->scheduled_at);
    } else if (j->state == JOB_RETRYING) {
        begin_reason(e->w, "retrying",
                     "attempt %" PRIu32 " of %" PRIu32 " failed; next attempt at %.*s", j->attempt,
                     j->max_retries, MOMENT_ARG(due));
        rest_document__time(e->w, "until", j->scheduled_at);
        rest_document__i64(e->w, "attempt", j->attempt);
        rest_document__i64(e->w, "max_retries", j->max_retries);
    } else {
        begin_reason(e->w, "held",
                     j->hold_reason.len > 0 ? "held until someone approves or rejects it: " STR_FMT
                                            : "held until someone approves or rejects it" STR_FMT,
                     STR_ARG(j->hold_reason));
        rest_document__text(e->w, "hold_reason", j->hold_reason);
    }
    json_write_end(e->w);
    e->blocked = true;
    if (e->job.queue.settings.paused) {
        explain_pause(e, rest_names__visible(c, e->queue));
    }
}

static void explain_active(struct explanation *e)
{
    const struct job *j = &e->job.job;
    struct moment until = moment_of(j->lease_expires_at);
    begin_reason(e->w, "leased", "worker \"" STR_FMT "\" is running it; the lease ends at %.*s",
                 STR_ARG(j->worker_id), MOMENT_ARG(until));
    rest_document__text(e->w, "worker_id", j->worker_id);
    rest_document__text(e->w, "hostname", j->hostname);
    rest_document__time(e->w, "started_at", j->started_at);
    rest_document__time(e->w, "until", j->lease_expires_at);
    json_write_end(e->w);
    e->blocked = true;
}

static void explain_finished(struct rest_call *c, struct explanation *e)
{
    const struct job *j = &e->job.job;
    struct wall at = j->state == JOB_COMPLETED ? j->completed_at
                     : j->state == JOB_DEAD    ? j->failed_at
                                               : j->cancelled_at;
    struct moment when = moment_of(at);
    struct buf error;
    buf_init(&error, SIZE_MAX);
    if (j->state == JOB_DEAD) {
        rest_document__last_error(j, engine_store(c->rest->config.engine), &error);
    }
    begin_reason(e->w, "finished", "finished: %s%s%.*s%s" STR_FMT, job_state_name(j->state),
                 at.ns != 0 ? " at " : "", at.ns != 0 ? (int)when.len : 0, when.text,
                 error.len > 0 ? ": " : "", STR_ARG(buf_str(&error)));
    rest_document__time(e->w, "at", at);
    rest_document__text(e->w, "last_error", buf_str(&error));
    json_write_end(e->w);
    buf_deinit(&error);
    e->blocked = true;
}

static void explain_state(struct rest_call *c, struct explanation *e)
{
    switch ((int)e->job.job.state) {
    case JOB_PENDING:
        explain_pending(c, e);
        break;
    case JOB_ACTIVE:
        explain_active(e);
        break;
    case JOB_SCHEDULED:
    case JOB_RETRYING:
    case JOB_HELD:
        explain_waiting(c, e);
        break;
    default:
        explain_finished(c, e);
    }
}

/* Responses */

static void write_position(struct json_write *w, const struct explain_job *x)
{
    if (x->in_line) {
        rest_document__object(w, "position");
        rest_document__i64(w, "ahead", (int64_t)x->ahead);
        rest_document__bool(w, "at_least", x->ahead_is_least);
        json_write_end(w);
    }
}

static void answer_job(struct rest_call *c)
{
    struct explanation *e = c->data;
    if (!e->job.found || !rest_names__is_visible(c, e->job.job.queue)) {
        rest_call__fail(c, ERR_NOT_FOUND, "job \"" STR_FMT "\" not found", STR_ARG(c->param[0]));
        return;
    }
    e->queue = e->job.job.queue;
    struct json_write w = rest_call__json(c);
    e->w = &w;
    json_write_object(&w);
    rest_document__id(&w, "job_id", e->id, ID_JOB);
    rest_document__text(&w, "queue", rest_names__visible(c, e->queue));
    rest_document__text(&w, "state", str_from_z(job_state_name(e->job.job.state)));
    rest_document__array(&w, "reasons");
    explain_state(c, e);
    json_write_end(&w);
    rest_document__bool(&w, "runnable", !e->blocked);
    write_position(&w, &e->job);
    rest_document__time(&w, "expire_at", e->job.job.expire_at);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void look_at_job(struct rest_call *c, struct machine *m)
{
    struct explanation *e = c->data;
    explain_job(m, e->id, e->now, c->arena, &e->job);
}

static void handle_job(struct rest_call *c)
{
    struct explanation *e = REST_NEW(c, struct explanation);
    c->data = e;
    e->now = engine_time(c->rest->config.engine);
    if (!id_parse(c->param[0], ID_JOB, &e->id)) {
        rest_call__fail(c, ERR_NOT_FOUND, "job \"" STR_FMT "\" not found", STR_ARG(c->param[0]));
        return;
    }
    rest_call__on_core(c, look_at_job, answer_job);
}

static void write_counts(struct json_write *w, const struct explain_queue *q)
{
    static const enum job_state shown[] = {JOB_PENDING, JOB_ACTIVE, JOB_SCHEDULED, JOB_RETRYING,
                                           JOB_HELD};
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        rest_document__i64(w, job_state_name(shown[i]), (int64_t)q->settings.count[shown[i]]);
    }
    rest_document__i64(w, "in_line", (int64_t)q->waiting);
}

/* Add reasons if no job is in line. Pending jobs that are not in line wait for other jobs. */
static void explain_waiting_jobs(struct explanation *e)
{
    const struct explain_queue *q = &e->job.queue;
    uint64_t waiting = q->settings.count[JOB_PENDING] - q->waiting;
    if (waiting > 0) {
        begin_reason(e->w, "dependencies", "%" PRIu64 " pending %s for other jobs to complete",
                     waiting, waiting == 1 ? "job is waiting" : "jobs are waiting");
        rest_document__i64(e->w, "count", (int64_t)waiting);
        json_write_end(e->w);
    }
    if (q->waiting == 0) {
        begin_reason(e->w, "empty", "no job is ready to run");
        json_write_end(e->w);
        e->blocked = true;
    }
}

static void answer_queue(struct rest_call *c)
{
    struct explanation *e = c->data;
    if (!e->job.queue.known) {
        rest_call__fail(c, ERR_NOT_FOUND, "queue \"" STR_FMT "\" not found",
                        STR_ARG(rest_names__visible(c, e->queue)));
        return;
    }
    struct json_write w = rest_call__json(c);
    e->w = &w;
    json_write_object(&w);
    rest_document__text(&w, "queue", rest_names__visible(c, e->queue));
    rest_document__array(&w, "reasons");
    explain_rules(c, e);
    explain_waiting_jobs(e);
    json_write_end(&w);
    rest_document__bool(&w, "runnable", !e->blocked);
    write_counts(&w, &e->job.queue);
    write_workers(&w, &e->job.queue);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void look_at_queue(struct rest_call *c, struct machine *m)
{
    struct explanation *e = c->data;
    explain_queue(m, e->queue, e->now, c->arena, &e->job.queue);
}

static void handle_queue(struct rest_call *c)
{
    struct explanation *e = REST_NEW(c, struct explanation);
    struct err err;
    c->data = e;
    e->now = engine_time(c->rest->config.engine);
    if (!rest_names__internal(c, "queue", c->param[0], &e->queue, &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__on_core(c, look_at_queue, answer_queue);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern                          roles      flags in    handler       cost  answer                                     doc */
    {HTTP_GET, "/api/v1/jobs/{id}/explain",      ROLES_AOR, 0,    NULL, handle_job,   NULL, "200 {job_id, state, runnable, reasons}",  "Explain why a job is not running."},
    {HTTP_GET, "/api/v1/queues/{name}/explain",  ROLES_AOR, 0,    NULL, handle_queue, NULL, "200 {queue, runnable, reasons}",          "Explain why a queue hands out no jobs."},
};
/* clang-format on */

const struct rest_routes rest_explain_routes = {.rows = rows, .count = COUNT_OF(rows)};
