/*
 * Ops: commands on their way. Preparing one, counting it as pending, and returning it to its
 * caller.
 */
#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_op_int.h"

void engine_op_init(struct engine_op *op)
{
    memset(op, 0, offsetof(struct engine_op, err));
    err_clear(&op->err);
    buf_init_room(&op->command, LIMIT_OP_BYTES, op->command_room, sizeof op->command_room);
    /* The result of a claim of 512 large jobs is larger than any command. */
    buf_init_room(&op->result, SIZE_MAX, op->result_room, sizeof op->result_room);
    op->end = heap_node_out();
}

void engine_op_deinit(struct engine_op *op)
{
    CHECK(!op->parked);
    buf_deinit(&op->command);
    buf_deinit(&op->result);
    arena_freep(&op->claim_arena);
}

static void note_enqueue(struct engine_op *op, const struct command_enqueue *c)
{
    const struct str *queue = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct job *j = &c->jobs[i].job;
        if (j->scheduled_at.ns != 0 || j->waits_for.len > 0 || j->push.len > 0) {
            continue; /* not for workers, or not yet claimable */
        }
        queue = queue == NULL ? &j->queue : queue;
        op->feeds_jobs += str_eq(*queue, j->queue) ? 1 : 0;
    }
    op->feeds = queue == NULL ? 0 : map_hash(*queue);
}

/* Record how many jobs the command adds to a queue, for the claims that may follow it
 * (engine_follow.c). */
static void note_feeds(struct engine_op *op, const struct command *c)
{
    op->feeds_jobs = 0;
    if (c->type == COMMAND_ENQUEUE) {
        note_enqueue(op, &c->enqueue);
    } else if (c->type == COMMAND_QUEUE && c->queue.action == COMMAND_QUEUE_RESUME) {
        op->feeds_jobs = UINT32_MAX;
        op->feeds = map_hash(c->queue.name);
    }
}

/* Decode the claim and keep it: the park reads its queues repeatedly. */
static enum err_code keep_claim(struct engine_op *op, struct err *err)
{
    struct command decoded;
    struct arena *arena = op->arena;
    if (arena == NULL) {
        arena_freep(&op->claim_arena);
        op->claim_arena = arena = arena_new(LIMIT_OP_BYTES);
    }
    if (command_decode(buf_str(&op->command), arena, &decoded, err) != ERR_OK) {
        return err->code;
    }
    op->claim = decoded.claim;
    return ERR_OK;
}

enum err_code engine_op_prepare(struct engine *e, struct engine_op *op, const struct command *c,
                                struct err *err)
{
    CHECK(c->type == COMMAND_CLAIM || op->park_ms == 0);
    if (command_check(c, &e->config.limits, err) != ERR_OK) {
        return err->code;
    }
    buf_clear(&op->command);
    buf_clear(&op->result);
    command_encode(c, &op->command);
    if (op->command.overflow) {
        return err_set(err, ERR_TOO_LARGE, "the operation is larger than %d bytes", LIMIT_OP_BYTES);
    }
    op->type = c->type;
    op->use = engine_space_use(c);
    op->steps_left = c->type == COMMAND_QUEUE ? c->queue.steps_max : 0;
    err_clear(&op->err);
    op->retry_after_ms = 0;
    op->begun = op->postponed = op->cancelled = op->is_done = op->cancel_sent = op->cancel_back =
        false;
    op->waited = false;
    op->step = 0;
    op->ticket = 0;
    note_feeds(op, c);
    return op->park_ms > 0 ? keep_claim(op, err) : ERR_OK;
}

/* Pending ops and bytes. Counted in batches where many ops come and go: each update from another
 * thread moves the cache line. */

void engine_op__count_in(struct engine *e, uint64_t ops, uint64_t bytes)
{
    atomic_fetch_add(&e->pending_ops, ops);
    atomic_fetch_add(&e->pending_bytes, bytes);
}

static void count_out(struct engine *e, uint64_t ops, uint64_t bytes)
{
    CHECK(atomic_fetch_sub(&e->pending_ops, ops) >= ops);
    CHECK(atomic_fetch_sub(&e->pending_bytes, bytes) >= bytes);
}

void engine_op__arrive(struct engine *e, struct engine_op *op)
{
    CHECK(!op->arrived);
    op->arrived = true;
    engine_op__count_in(e, 1, op->command.len);
}

void engine_op__leave(struct engine *e, struct engine_op *op)
{
    if (op->arrived) {
        op->arrived = false;
        count_out(e, 1, op->command.len);
    }
}

/* Back to the caller. */

static void call_done(struct engine_op *op)
{
    /* A cancellation in transit still refers to op: wait until it has returned. */
    if (op->is_done && (!op->cancel_sent || op->cancel_back)) {
        CHECK(!op->parked);
        op->done(op); /* may free op */
    }
}

static void deliver_done(struct msg *m)
{
    struct engine_op *op = CONTAINER_OF(m, struct engine_op, msg);
    op->is_done = true;
    call_done(op);
}

static void deliver_cancel_back(struct msg *m)
{
    struct engine_op *op = CONTAINER_OF(m, struct engine_op, cancel_msg);
    op->cancel_back = true;
    call_done(op);
}

void engine_op__return_cancel(struct engine_op *op)
{
    op->cancel_msg.deliver = deliver_cancel_back;
    bool posted = mailbox_post(op->reply_to, &op->cancel_msg);
    CHECK(posted);
}

static void send_back(struct engine_op *op)
{
    op->msg.deliver = deliver_done;
    if (op->reply_to == NULL) {
        deliver_done(&op->msg);
    } else {
        /* Fails if the caller closed its mailbox before its ops were done, which is an error of
         * the caller. */
        bool posted = mailbox_post(op->reply_to, &op->msg);
        CHECK(posted);
    }
}

void engine_op__finish(struct engine *e, struct engine_op *op)
{
    engine_op__leave(e, op);
    send_back(op);
}

static void post_replies(struct engine *e, struct engine_replies *r)
{
    if (r->box != NULL) {
        /* Count out before the callers learn of it and submit their next ops. */
        count_out(e, r->ops, r->bytes);
        bool posted = mailbox_post_chain(r->box, r->first, r->last);
        CHECK(posted);
        *r = (struct engine_replies){0};
    }
}

void engine_op__finish_together(struct engine *e, struct engine_op *op)
{
    if (op->reply_to == NULL) {
        engine_op__finish(e, op);
        return;
    }
    struct engine_replies *r = e->replies;
    while (r < e->replies + ENGINE_REPLIES - 1 && r->box != NULL && r->box != op->reply_to) {
        r++;
    }
    if (r->box != op->reply_to) {
        post_replies(e, r); /* more mailboxes than rows: reuse the last row */
        *r = (struct engine_replies){.box = op->reply_to, .first = &op->msg};
    } else {
        r->last->next = &op->msg;
    }
    r->last = &op->msg;
    op->msg.deliver = deliver_done;
    if (op->arrived) {
        op->arrived = false;
        r->ops++;
        r->bytes += op->command.len;
    }
}

void engine_op__post_replies(struct engine *e)
{
    for (unsigned i = 0; i < ENGINE_REPLIES; i++) {
        post_replies(e, &e->replies[i]);
    }
}

void engine_op__fail(struct engine *e, struct engine_op *op, const struct err *why)
{
    op->err = *why;
    if (op->begun) {
        (void)err_set(&op->err, ERR_UNKNOWN_OUTCOME, "interrupted between two steps: %s", why->msg);
    }
    engine_op__finish(e, op);
}

void engine_op__refuse(struct engine *e, struct engine_op *op, enum err_code code)
{
    struct err why;
    (void)err_set_default(&why, code);
    engine_op__fail(e, op, &why);
}
