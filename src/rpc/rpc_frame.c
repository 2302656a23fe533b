#include <stdio.h>

#include "base/url.h"
#include "engine/engine_ask.h"
#include "engine/engine_leader.h"
#include "rpc/rpc_frame_int.h"
#include "svc/svc_enqueue.h"
#include "svc/svc_work.h"

static const char *const part_names[RPC_FRAME_PARTS] = {"ack", "ack", "fetch", "enqueue",
                                                        "enqueue"};

static const struct str overloaded = {.ptr = "OVERLOADED: ", .len = 12};

bool rpc_frame__is_empty(const struct rpc_frame *in)
{
    return in->ack_count == 0 && in->fetch_count <= 0 && in->enqueue_count == 0;
}

bool rpc_frame__may_idle(const struct rpc_frame_work *w)
{
    return w->in.fetch_count > 0 && w->in.ack_count == 0 && w->in.enqueue_count == 0 &&
           w->may_wait && w->idle_ms > 0;
}

/* Can a client connect to the URL? Not if its host is a wildcard. */
static bool can_be_dialled(struct str url)
{
    struct url parts;
    const char *why;
    return url_parse(url, &parts, &why) && !str_eq(parts.host, STR("0.0.0.0")) &&
           !str_eq(parts.host, STR("::"));
}

bool rpc_frame__is_elsewhere(const struct rpc *rpc)
{
    const struct front_shared *front = rpc->config.front;
    return front != NULL && !engine_leads(front->engine) && engine_ask_has_peers(front->engine);
}

bool rpc_frame__is_leaders(struct rpc_frame_work *w)
{
    struct engine_leader leader;
    if (!rpc_frame__is_elsewhere(w->rpc)) {
        return false;
    }
    bool known = engine_leader(w->rpc->config.front->engine, &leader) && !leader.self;
    w->out = (struct rpc_frame_answer){.request_id = w->in.request_id, .error = STR("NOT_LEADER")};
    w->out.leader_addr = STR("");
    if (known && can_be_dialled(str_from_z(leader.http_url))) {
        w->out.leader_addr = arena_str(w->who.arena, str_from_z(leader.http_url));
    }
    return true;
}

/* Errors */

/* Set the error of a part, unless it has one. An overload gets the time after which to retry
 * (rpc.md 9). */
static void fail_part(struct rpc_frame_work *w, enum rpc_frame_part part, enum err_code code,
                      struct str message, uint32_t hint_ms)
{
    struct buf text;
    if (w->errors[part].len > 0) {
        return;
    }
    buf_init(&text, 1024);
    buf_printf(&text, "%s%s: ", code == ERR_OVERLOADED ? overloaded.ptr : "", part_names[part]);
    buf_add_utf8(&text, message);
    if (code == ERR_OVERLOADED) {
        buf_printf(&text, " (retry_after_ms=%u)", rpc_status_retry_ms(code, hint_ms));
    }
    arena_owe(w->who.arena); /* the response must not fail for lack of memory */
    w->errors[part] = arena_str(w->who.arena, buf_str(&text));
    buf_deinit(&text);
}

static void fail(struct rpc_frame_work *w, enum rpc_frame_part part, enum err_code code,
                 struct str message)
{
    fail_part(w, part, code, message, 0);
}

static void fail_err(struct rpc_frame_work *w, enum rpc_frame_part part, const struct err *err)
{
    fail(w, part, err->code, str_from_z(err->msg));
}

static void finish(struct rpc_frame_work *w)
{
    for (size_t i = 0; i < RPC_FRAME_PARTS && w->out.error.len == 0; i++) {
        w->out.error = w->errors[i];
    }
    w->struck = w->out.error.len > 0 && !str_starts_with(w->out.error, overloaded);
    w->done(w);
}

/* Operations */

static void next_step(struct rpc_frame_work *w);

static void op_done(struct front_op *op, const struct result *r)
{
    struct rpc_frame_op *o = op->data;
    struct rpc_frame_work *w = o->work;
    if (o->part == RPC_FRAME_FETCH && op->op.waited) {
        atomic_fetch_add_explicit(&w->rpc->idle_fetches, 1, memory_order_relaxed);
    }
    if (r == NULL) {
        fail_part(w, o->part, op->op.err.code, str_from_z(op->op.err.msg), op->op.retry_after_ms);
    } else if (r->code != ERR_OK) {
        fail(w, o->part, r->code, r->message);
    } else {
        o->on_result(w, r);
    }
    next_step(w);
}

static void submit(struct rpc_frame_work *w, struct rpc_frame_op *o, enum rpc_frame_part part,
                   const struct command *command, int64_t wait_ms,
                   void (*on_result)(struct rpc_frame_work *w, const struct result *r))
{
    ATTR_UNINITIALIZED struct err err;
    o->work = w;
    o->part = part;
    o->on_result = on_result;
    o->op.data = o;
    o->op.client = w->client;
    if (front_op_send(&o->op, w->who.arena, command, wait_ms, op_done, &err) != ERR_OK) {
        fail_err(w, part, &err);
    }
}

/* Acks */

static void acked(struct rpc_frame_work *w, const struct result *r)
{
    w->out.acked = (int32_t)r->affected;
}

static void start_acks(struct rpc_frame_work *w)
{
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    size_t count = 0;
    struct svc_work_ack *acks =
        SVC_CALLER_ROOM(&w->who, struct svc_work_ack, w->in.ack_count, &err);
    if (acks == NULL) {
        fail_err(w, RPC_FRAME_ACK, &err);
        return;
    }
    for (size_t i = 0; i < w->in.ack_count; i++) {
        if (rpc_work__ack(&w->who, &w->in.acks[i], &acks[count], &err) == ERR_OK) {
            count++;
        } else {
            fail_err(w, RPC_FRAME_ACK_PARSE, &err);
        }
    }
    if (count == 0) {
        return;
    }
    if (rpc_work__acks(&w->who, acks, count, &command, &err) != ERR_OK) {
        fail_err(w, RPC_FRAME_ACK, &err);
    } else if (command.ack.count > 0) {
        submit(w, &w->ack, RPC_FRAME_ACK, &command, 0, acked);
    }
}

/* Fetch */

static void fetched(struct rpc_frame_work *w, const struct result *r)
{
    struct err err;
    if (r->count == 0) {
        return;
    }
    if (rpc_work__jobs(&w->who, r, &w->out.jobs, &err) == ERR_OK) {
        w->out.job_count = r->count;
    } else {
        fail_err(w, RPC_FRAME_FETCH, &err);
    }
}

static void start_fetch(struct rpc_frame_work *w)
{
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    int64_t wait_ms;
    struct rpc_fetch in = {.queues = w->in.queues,
                           .queue_count = w->in.queue_count,
                           .worker_id = w->in.worker_id,
                           .hostname = w->in.hostname,
                           .lease_duration = w->in.lease_duration,
                           .count = w->in.fetch_count};
    struct svc_work_fetch fetch = rpc_work__fetch(&in);
    if (in.queue_count == 0) {
        fail(w, RPC_FRAME_FETCH, ERR_VALIDATION, STR("at least one queue is required"));
    } else if (svc_work_claim(&w->who, &fetch, &command, &wait_ms, &err) != ERR_OK) {
        fail_err(w, RPC_FRAME_FETCH, &err);
    } else {
        submit(w, &w->fetch, RPC_FRAME_FETCH, &command, rpc_frame__may_idle(w) ? w->idle_ms : 0,
               fetched);
    }
}

/* Enqueues */

static void enqueued(struct rpc_frame_work *w, const struct result *r)
{
    struct err err;
    w->out.enqueued_job_ids = SVC_CALLER_ROOM(&w->who, struct str, r->count, &err);
    for (uint32_t i = 0; i < r->count && w->out.enqueued_job_ids != NULL; i++) {
        struct svc_enqueued job = svc_enqueue_answer(&w->who, &r->items[i], STR_EMPTY);
        if (rpc_work__id(&w->who, job.job, &w->out.enqueued_job_ids[i], &err) != ERR_OK) {
            w->out.enqueued_job_ids = NULL;
        }
    }
    if (w->out.enqueued_job_ids != NULL) {
        w->out.enqueued_count = r->count;
    } else {
        fail_err(w, RPC_FRAME_ENQUEUE, &err);
    }
}

static enum err_code enqueue_command(struct rpc_frame_work *w, const struct svc_enqueue_job *jobs,
                                     size_t count, struct command *out, struct err *err)
{
    if (svc_enqueue_list(&w->who, count, out, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < count; i++) {
        if (svc_enqueue_put(&w->who, out, i, &jobs[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static void start_enqueues(struct rpc_frame_work *w)
{
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    size_t count = 0;
    if (!w->may_enqueue) {
        (void)err_set(&err, ERR_FORBIDDEN, "forbidden");
        fail_err(w, RPC_FRAME_ENQUEUE, &err);
        return;
    }
    struct svc_enqueue_job *jobs =
        SVC_CALLER_ROOM(&w->who, struct svc_enqueue_job, w->in.enqueue_count, &err);
    if (jobs == NULL) {
        fail_err(w, RPC_FRAME_ENQUEUE, &err);
        return;
    }
    for (size_t i = 0; i < w->in.enqueue_count; i++) {
        if (rpc_work__job(&w->who, &w->in.enqueues[i], &jobs[count], &err) == ERR_OK) {
            count++;
        } else {
            fail_err(w, RPC_FRAME_ENQUEUE_PARSE, &err);
        }
    }
    if (count > 0 && enqueue_command(w, jobs, count, &command, &err) != ERR_OK) {
        fail_err(w, RPC_FRAME_ENQUEUE, &err);
    } else if (count > 0) {
        submit(w, &w->enqueue, RPC_FRAME_ENQUEUE, &command, 0, enqueued);
    }
}

/* Steps */

/* Called after each operation: starts the enqueues when acks and fetch are done, then ends. */
static void next_step(struct rpc_frame_work *w)
{
    if (w->ack.op.busy || w->fetch.op.busy || w->enqueue.op.busy) {
        return;
    }
    if (w->in.enqueue_count > 0 && !w->enqueued) {
        w->enqueued = true;
        start_enqueues(w);
        if (w->enqueue.op.busy) {
            return;
        }
    }
    finish(w);
}

void rpc_frame__run(struct rpc_frame_work *w)
{
    w->out.request_id = w->in.request_id;
    w->who.names = &rpc_work__frame_names;
    if (w->in.ack_count > 0) {
        start_acks(w);
    }
    if (w->in.fetch_count > 0) {
        start_fetch(w);
    }
    next_step(w);
}

void rpc_frame__saturate(struct rpc_frame_work *w)
{
    w->out.request_id = w->in.request_id;
    w->out.error = STR("OVERLOADED: lifecycle stream saturated");
    atomic_fetch_add_explicit(&w->rpc->overloads, 1, memory_order_relaxed);
    finish(w);
}

void rpc_frame__cancel(struct rpc_frame_work *w)
{
    front_op_hurry(&w->fetch.op);
}

void rpc_frame__deinit(struct rpc_frame_work *w)
{
    front_op_deinit(&w->ack.op);
    front_op_deinit(&w->fetch.op);
    front_op_deinit(&w->enqueue.op);
}
