/*
 * Submission: ops from other threads, one by one or collected in an outbox, and their cancellation.
 */
#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_hint.h"
#include "engine/engine_op_int.h"
#include "os/os_clock.h"

static void deliver_submit(struct msg *m)
{
    struct engine_op *op = CONTAINER_OF(m, struct engine_op, msg);
    engine_pipe__enqueue(op->engine, op);
}

void engine_outbox_flush(struct engine_outbox *outbox)
{
    struct msg *m = outbox->first;
    if (m == NULL) {
        CHECK(outbox->count == 0);
        return;
    }
    CHECK(outbox->count > 0);
    CHECK(outbox->last->next == NULL);
    engine_op__count_in(outbox->engine, outbox->count, outbox->bytes);
    outbox->first = NULL; /* before posting: the callers may submit again at once */
    outbox->count = 0;
    outbox->bytes = 0;
    if (mailbox_post_chain(&outbox->engine->box, m, outbox->last)) {
        return;
    }
    while (m != NULL) {
        struct msg *next = m->next;
        engine_op__refuse(outbox->engine, CONTAINER_OF(m, struct engine_op, msg), ERR_STOPPING);
        m = next;
    }
}

static size_t outbox_enough(const struct engine_outbox *outbox)
{
    size_t half = outbox->clients / 2;
    return half < ENGINE_OUTBOX_OPS_MIN   ? ENGINE_OUTBOX_OPS_MIN
           : half < ENGINE_OUTBOX_OPS_MAX ? half
                                          : ENGINE_OUTBOX_OPS_MAX;
}

static void outbox_add(struct engine_outbox *outbox, struct engine_op *op)
{
    struct msg *m = &op->msg;
    CHECK(!op->arrived);
    CHECK(outbox->engine == op->engine);
    CHECK((outbox->first == NULL) == (outbox->count == 0));
    m->next = NULL;
    op->arrived = true;
    if (outbox->first == NULL) {
        outbox->first = m;
    } else {
        outbox->last->next = m;
    }
    outbox->last = m;
    outbox->bytes += op->command.len;
    if (++outbox->count >= outbox_enough(outbox)) {
        engine_outbox_flush(outbox);
    }
}

/* The larger hint of the two limits. */
static uint32_t retry_hint(const struct engine *e, uint64_t ops, uint64_t bytes)
{
    uint64_t random_number = (uint64_t)os_clock_mono().ns / 64;
    uint32_t by_ops = engine_hint_ms(ops, e->config.pending_ops_max, random_number);
    uint32_t by_bytes = engine_hint_ms(bytes, LIMIT_PENDING_BYTES, random_number);
    return by_ops > by_bytes ? by_ops : by_bytes;
}

bool engine_admits(struct engine *e, const struct engine_outbox *outbox, uint32_t *out_retry_ms,
                   struct err *err)
{
    /* The core does not know yet about ops in the outbox. */
    uint64_t ops = atomic_load(&e->pending_ops) + (outbox == NULL ? 0 : outbox->count);
    uint64_t bytes = atomic_load(&e->pending_bytes) + (outbox == NULL ? 0 : outbox->bytes);
    if (ops < e->config.pending_ops_max && bytes <= LIMIT_PENDING_BYTES) {
        return true;
    }
    atomic_fetch_add(&e->overload_total, 1);
    *out_retry_ms = retry_hint(e, ops, bytes);
    (void)err_set(err, ERR_OVERLOADED, "raft apply overloaded: pending queue is full");
    return false;
}

void engine_submit(struct engine *e, struct engine_op *op)
{
    CHECK(op->done != NULL);
    op->engine = e;
    op->waiting_since_ns = os_clock_mono().ns;
    if (!op->admitted && !engine_admits(e, op->outbox, &op->retry_after_ms, &op->err)) {
        engine_op__finish(e, op);
        return;
    }
    op->msg.deliver = deliver_submit;
    if (op->outbox != NULL) {
        outbox_add(op->outbox, op);
        return;
    }
    engine_op__arrive(e, op);
    if (!mailbox_post(&e->box, &op->msg)) {
        engine_op__refuse(e, op, ERR_STOPPING);
    }
}

static void deliver_cancel(struct msg *m)
{
    struct engine_op *op = CONTAINER_OF(m, struct engine_op, cancel_msg);
    op->cancelled = true;
    if (op->parked) {
        engine_park__cancel(op->engine, op);
    }
    engine_op__return_cancel(op);
}

void engine_cancel(struct engine *e, struct engine_op *op)
{
    CHECK(op->reply_to != NULL);
    if (op->cancel_sent || op->is_done) {
        return;
    }
    if (op->outbox != NULL) {
        engine_outbox_flush(op->outbox); /* the cancellation must not overtake its op */
    }
    op->cancel_sent = true;
    op->cancel_msg.deliver = deliver_cancel;
    if (!mailbox_post(&e->box, &op->cancel_msg)) {
        op->cancel_back = true; /* stopping: every op ends anyway */
    }
}
