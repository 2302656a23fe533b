#include <stdio.h>

#include "http/http_loop.h"
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

/* Errors */

/* The first error of a part is the one that counts. */
static void fail(struct rpc_frame_work *w, enum rpc_frame_part part, enum err_code code,
                 struct str message)
{
    struct buf text;
    if (w->errors[part].len > 0) {
        return;
    }
    buf_init(&text, 1024);
    buf_printf(&text, "%s%s: " STR_FMT, code == ERR_OVERLOADED ? overloaded.ptr : "",
               part_names[part], STR_ARG(message));
    arena_owe(w->who.arena); /* an answer is owed, this one included */
    w->errors[part] = arena_str(w->who.arena, buf_str(&text));
    buf_deinit(&text);
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

static void op_done(struct engine_op *op)
{
    struct rpc_frame_op *o = op->data;
    struct rpc_frame_work *w = o->work;
    ATTR_UNINITIALIZED struct result r;
    o->busy = false;
    arena_owe(w->who.arena);
    if (*w->gone && engine_give_back(w->rpc->config.engine, op)) {
        next_step(w);
        return;
    }
    if (op->err.code != ERR_OK) {
        fail_err(w, o->part, &op->err);
    } else if (!result_decode(buf_str(&op->result), w->who.arena, &r)) {
        fail(w, o->part, ERR_INTERNAL, STR("the engine's answer cannot be read"));
    } else if (r.code != ERR_OK) {
        fail(w, o->part, r.code, r.message);
    } else {
        o->on_result(w, &r);
    }
    next_step(w);
}

static void submit(struct rpc_frame_work *w, struct rpc_frame_op *o, enum rpc_frame_part part,
                   const struct command *command, int64_t wait_ms,
                   void (*on_result)(struct rpc_frame_work *w, const struct result *r))
{
    ATTR_UNINITIALIZED struct err err;
    engine_op_init(&o->op);
    buf_set_budget(&o->op.result, w->rpc->config.budget);
    o->op.result.owed = true;
    o->used = true;
    o->work = w;
    o->part = part;
    o->on_result = on_result;
    o->op.done = op_done;
    o->op.data = o;
    o->op.arena = w->who.arena;
    o->op.reply_to = http_loop_mailbox(w->loop);
    o->op.lane = w->lane;
    o->op.park_ms = wait_ms;
    if (engine_op_prepare(w->rpc->config.engine, &o->op, command, &err) != ERR_OK) {
        fail_err(w, part, &err);
        return;
    }
    o->busy = true;
    engine_submit(w->rpc->config.engine, &o->op);
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
        SVC_CALLER_ARRAY(&w->who, struct svc_work_ack, w->in.ack_count, &err);
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
    if (svc_work_ack_many(&w->who, acks, count, &command, &err) != ERR_OK) {
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
    bool alone = w->in.ack_count == 0 && w->in.enqueue_count == 0;
    if (in.queue_count == 0) {
        fail(w, RPC_FRAME_FETCH, ERR_VALIDATION, STR("at least one queue is required"));
    } else if (svc_work_claim(&w->who, &fetch, &command, &wait_ms, &err) != ERR_OK) {
        fail_err(w, RPC_FRAME_FETCH, &err);
    } else {
        submit(w, &w->fetch, RPC_FRAME_FETCH, &command,
               alone && w->may_wait ? w->rpc->config.idle_fetch_ms : 0, fetched);
    }
}

/* Enqueues */

static void enqueued(struct rpc_frame_work *w, const struct result *r)
{
    struct err err;
    w->out.enqueued_job_ids = SVC_CALLER_ARRAY(&w->who, struct str, r->count, &err);
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
    struct svc_enqueue_job *jobs =
        SVC_CALLER_ARRAY(&w->who, struct svc_enqueue_job, w->in.enqueue_count, &err);
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

/* After each operation that ends: enqueues follow when acks and fetch are done, then the end. */
static void next_step(struct rpc_frame_work *w)
{
    if (w->ack.busy || w->fetch.busy || w->enqueue.busy) {
        return;
    }
    if (w->in.enqueue_count > 0 && !w->enqueue.used) {
        start_enqueues(w);
        w->enqueue.used = true;
        if (w->enqueue.busy) {
            return;
        }
    }
    finish(w);
}

void rpc_frame__run(struct rpc_frame_work *w)
{
    w->out.request_id = w->in.request_id;
    if (w->in.ack_count > 0) {
        start_acks(w);
    }
    if (w->in.fetch_count > 0) {
        start_fetch(w);
    }
    next_step(w);
}

void rpc_frame__cancel(struct rpc_frame_work *w)
{
    if (w->fetch.busy && w->fetch.op.park_ms > 0) {
        engine_cancel(w->rpc->config.engine, &w->fetch.op);
    }
}

void rpc_frame__deinit(struct rpc_frame_work *w)
{
    struct rpc_frame_op *ops[] = {&w->ack, &w->fetch, &w->enqueue};
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        if (ops[i]->work != NULL) { /* it was initialised */
            engine_op_deinit(&ops[i]->op);
        }
    }
}
