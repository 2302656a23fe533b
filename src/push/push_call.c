/*
 * One call: from the committed claim to its outcome.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_schedule.h"
#include "json/json_write.h"
#include "log/log.h"
#include "push/push_int.h"

enum { ERROR_BYTES = 512 };

/* When a recurring job runs next. Its expression was valid when the job was created. If this node
 * cannot parse it all the same, the job ends. Without its time zone, it runs by UTC. */
static struct wall next_of(struct push_sender *s, const struct job *j)
{
    struct wall next = WALL_NONE;
    struct err err;
    if (j->cron.len == 0) {
        return next;
    }
    enum err_code code = engine_schedule_again(j->cron, engine_time(s->config.engine), &next, &err);
    if (code != ERR_OK) {
        log_error(code == ERR_NOT_FOUND ? "recurring job by UTC" : "recurring job ended",
                  LOG_STR("job", j->name), LOG_Z("error", err.msg));
    }
    return next;
}

/* Remove the call from the sender's accounts, without freeing it. */
static void leave(struct push_call *c)
{
    map_remove(&c->sender->calls, &c->node);
    c->sender->bytes -= c->bytes;
}

static void end(struct push_call *c, struct command_push_end *out)
{
    struct push_sender *s = c->sender;
    out->id = c->job.id;
    out->lease_token = c->job.lease_token;
    out->started_at = c->started_at;
    out->ended_at = engine_time(s->config.engine);
    out->next = next_of(s, &c->job);
    if (out->outcome == JOB_OUTCOME_COMPLETED) {
        PUSH_COUNT(s, completed, 1);
    } else if (out->outcome == JOB_OUTCOME_FAILED) {
        PUSH_COUNT(s, failed, 1);
    }
    push_meter__ended(c, out);
    push_log__ended(c, out);
    push_finish__add(s, out);
}

/* Classify by the cause, never by the text of a message. */
static enum store_try_error class_of(const struct outgoing_request *r)
{
    if (r->timed_out) {
        return STORE_TRY_ERROR_TIMEOUT;
    }
    if (r->no_name) {
        return STORE_TRY_ERROR_DNS;
    }
    return r->no_peer ? STORE_TRY_ERROR_CONNECTION : STORE_TRY_ERROR_UNKNOWN;
}

/* The job's result: the part of the response that is kept. Named jobs have none, because their API
 * has no field for it. */
static struct str result_of(struct push_call *c, const struct outgoing_request *r)
{
    struct buf b;
    if (c->job.name.len > 0) {
        return STR_EMPTY;
    }
    buf_init(&b, LIMIT_RESULT_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    json_write_key(&w, STR("status"));
    json_write_i64(&w, r->status);
    json_write_key(&w, STR("answer_ms"));
    json_write_i64(&w, r->answer_ms);
    if (c->target.keep_answer) {
        json_write_key(&w, STR("body"));
        json_write_str(&w, str_at_most(buf_str(&r->answer), LIMIT_PUSH_ANSWER_BYTES));
    }
    json_write_end(&w);
    json_write_finish(&w);
    struct str result = b.overflow ? STR_EMPTY : arena_str(c->arena, buf_str(&b));
    buf_deinit(&b);
    return result;
}

/* The delay that the target requests, at most the longest delay between two attempts of the job. */
static int64_t retry_after_ms(const struct push_call *c, const struct outgoing_request *r)
{
    int64_t asked_ms = (int64_t)r->retry_after_s * 1000;
    int64_t most_ms = c->job.retry_max_ms;
    return most_ms > 0 && asked_ms > most_ms ? most_ms : asked_ms;
}

static void request_done(struct outgoing_request *r)
{
    struct push_call *c = r->data;
    struct push_sender *s = c->sender;
    bool answered = r->answered; /* the body does not matter */
    struct command_push_end e = {.outcome = JOB_OUTCOME_FAILED};
    char text[ERROR_BYTES];
    if (answered) {
        e.http_status = (uint32_t)r->status;
        e.answer_ms = r->answer_ms;
        e.retry_after_ms = retry_after_ms(c, r);
        e.result = result_of(c, r);
    }
    if (answered && r->status < c->target.success_below) {
        e.outcome = JOB_OUTCOME_COMPLETED;
    } else if (answered) {
        (void)snprintf(text, sizeof text, "webhook returned status %d", r->status);
        e.error = str_from_z(text);
        e.error_type = STORE_TRY_ERROR_HTTP;
    } else {
        e.error = str_from_z(r->err.msg);
        e.error_type = class_of(r);
    }
    bool hung = r->timed_out && !answered;
    PUSH_COUNT(s, in_flight, -1);
    leave(c);
    end(c, &e);
    push_host__heard(c, answered || r->err.code == ERR_FORBIDDEN, &e);
    outgoing_request_deinit(r);
    push_host__release(c, hung ? COURIER_HUNG : COURIER_ANSWERED);
    s->wanted |= s->more;
    push__step(s);
}

/* End the attempt without a call. */
static void close_at_once(struct push_call *c, enum job_outcome outcome, enum store_try_error type,
                          struct str error)
{
    struct command_push_end e = {.outcome = outcome, .error_type = type, .error = error};
    leave(c);
    end(c, &e);
    push_host__release(c, COURIER_BROKEN);
}

static bool is_used_up(const struct job *j)
{
    uint32_t most = j->max_retries > 1 ? j->max_retries : 1;
    return j->attempt > most;
}

void push_call__start(struct push_call *c)
{
    struct push_sender *s = c->sender;
    struct err err;
    c->started_at = engine_time(s->config.engine);
    if (c->job.cron.len > 0 && is_used_up(&c->job)) {
        close_at_once(c, JOB_OUTCOME_NONE, STORE_TRY_ERROR_NONE, STR_EMPTY);
        return;
    }
    if (push_target_read(c->job.push, c->arena, &c->target, &err) != ERR_OK) {
        close_at_once(c, JOB_OUTCOME_FAILED, STORE_TRY_ERROR_UNKNOWN, str_from_z(err.msg));
        return;
    }
    if (c->target.url.len == 0) {
        close_at_once(c, JOB_OUTCOME_COMPLETED, STORE_TRY_ERROR_NONE, STR_EMPTY);
        return;
    }
    if (str_has_control(c->target.url)) { /* a NUL would end it: another URL would be called */
        close_at_once(c, JOB_OUTCOME_FAILED, STORE_TRY_ERROR_UNKNOWN,
                      STR("the URL contains a control character"));
        return;
    }
    push_request__make(c);
    c->request.once = true; /* a call is exactly one attempt */
    c->request.done = request_done;
    c->request.data = c;
    PUSH_COUNT(s, calls, 1);
    PUSH_COUNT(s, in_flight, 1);
    push_host__began(c);
    outgoing_start(s->outgoing, &c->request);
}

void push_call__abort(struct push_call *c)
{
    struct push_sender *s = c->sender;
    outgoing_cancel(&c->request);
    outgoing_request_deinit(&c->request);
    PUSH_COUNT(s, in_flight, -1);
    PUSH_COUNT(s, aborted, 1);
    leave(c);
    push_host__release(c, COURIER_BROKEN);
}

static void abort_one(struct map_node *n, void *data)
{
    struct push_call *c = CONTAINER_OF(n, struct push_call, node);
    const bool *tell = data;
    if (*tell) {
        struct command_push_end e = {.outcome = JOB_OUTCOME_FAILED,
                                     .error_type = STORE_TRY_ERROR_CANCELLED,
                                     .error = STR("the server was stopped during the call")};
        end(c, &e);
    }
    push_call__abort(c);
}

void push_call__abort_all(struct push_sender *s, bool tell)
{
    map_each(&s->calls, abort_one, &tell);
}
