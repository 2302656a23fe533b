/*
 * Outcomes on their way to the log: those that arrive while earlier batches are written share the
 * next batch. Also the hourly removal of named jobs that ended long ago.
 */
#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "push/push_int.h"

enum {
    BATCH_MAX = 256,
    BATCH_BYTES = 4 << 20, /* size of its texts at which a batch is full */
    BUSY_MAX = 4,          /* batches being written */
    AGAIN_MS = 200,
    PURGE_FIRST_MS = 60 * 1000,
    PURGE_MS = 3600 * 1000,
};

static struct push_batch *batch_new(struct push_sender *s);

static void batch_free(struct push_batch *b)
{
    engine_op_deinit(&b->op);
    arena_free(b->arena);
    free(b->items);
    free(b);
}

/* Errors that may pass: the batch is submitted again while this node leads. */
static bool is_worth_retrying(enum err_code code)
{
    return code == ERR_OVERLOADED || code == ERR_NO_SPACE;
}

static void batch_done(struct engine_op *op)
{
    struct push_batch *b = op->data;
    struct push_sender *s = b->sender;
    s->batches_busy--;
    if (is_worth_retrying(op->err.code) && s->leads) {
        b->next = s->waiting;
        s->waiting = b;
        s->retry_ms = uv_now(&s->loop) + AGAIN_MS;
    } else {
        if (op->err.code != ERR_OK && op->err.code != ERR_LEADER_UNAVAILABLE &&
            op->err.code != ERR_STOPPING) {
            log_warn("delivery results not recorded", LOG_U64("count", b->count),
                     LOG_Z("error", op->err.msg),
                     LOG_Z("meaning", "the deliveries count as lost when their leases end"));
        }
        s->ends -= b->count;
        batch_free(b);
        s->wanted |= s->more;
    }
    push__step(s);
}

static void submit(struct push_batch *b)
{
    struct push_sender *s = b->sender;
    struct command c = {.type = COMMAND_PUSH_FINISH};
    struct err err;
    c.push_finish.keep_ms = s->config.keep_ms;
    c.push_finish.items = b->items;
    c.push_finish.count = b->count;
    s->batches_busy++;
    if (engine_op_prepare(s->config.engine, &b->op, &c, &err) != ERR_OK) {
        log_error("delivery results not recorded", LOG_Z("error", err.msg));
        s->batches_busy--;
        s->ends -= b->count;
        batch_free(b);
        return;
    }
    engine_submit(s->config.engine, &b->op);
}

static struct push_batch *batch_new(struct push_sender *s)
{
    struct push_batch *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->sender = s;
    b->arena = arena_new(SIZE_MAX);
    b->items = calloc(BATCH_MAX, sizeof *b->items);
    CHECK(b->items != NULL);
    engine_op_init(&b->op);
    b->op.done = batch_done;
    b->op.reply_to = &s->box;
    b->op.data = b;
    return b;
}

void push_finish__add(struct push_sender *s, const struct command_push_end *end)
{
    if (s->filling != NULL &&
        (s->filling->count == BATCH_MAX || arena_used_bytes(s->filling->arena) > BATCH_BYTES)) {
        struct push_batch *full = TAKE(s->filling);
        full->next = s->waiting;
        s->waiting = full;
    }
    if (s->filling == NULL) {
        s->filling = batch_new(s);
    }
    struct push_batch *b = s->filling;
    struct command_push_end *e = &b->items[b->count++];
    *e = *end;
    e->error = arena_str(b->arena, str_is_utf8(end->error) ? end->error : STR("the call failed"));
    e->result = arena_str(b->arena, end->result);
    s->ends++;
}

static void purge_done(struct engine_op *op)
{
    struct push_sender *s = op->data;
    struct arena *a = arena_new(LIMIT_ENTRY_BYTES);
    struct result r = {0};
    bool ok =
        op->err.code == ERR_OK && result_decode(buf_str(&op->result), a, &r) && r.code == ERR_OK;
    bool more = ok && r.more;
    s->purge_busy = false;
    s->purge_cursor = more ? r.cursor : ID_NONE;
    s->purge_due_ms = uv_now(&s->loop) + (more ? AGAIN_MS : PURGE_MS);
    arena_free(a);
    push__step(s);
}

static void purge(struct push_sender *s)
{
    struct command c = {.type = COMMAND_NAMED_PURGE};
    struct err err;
    c.named_purge.retention_ms = s->config.keep_ms;
    c.named_purge.cursor = s->purge_cursor;
    s->purge_due_ms = uv_now(&s->loop) + PURGE_MS;
    if (engine_op_prepare(s->config.engine, &s->purge_op, &c, &err) == ERR_OK) {
        s->purge_busy = true;
        engine_submit(s->config.engine, &s->purge_op);
    }
}

void push_finish__step(struct push_sender *s)
{
    uint64_t now_ms = uv_now(&s->loop);
    while (s->waiting != NULL && s->batches_busy < BUSY_MAX && now_ms >= s->retry_ms) {
        struct push_batch *b = s->waiting;
        s->waiting = b->next;
        submit(b);
    }
    if (s->filling != NULL && s->batches_busy < BUSY_MAX && now_ms >= s->retry_ms) {
        submit(TAKE(s->filling));
    }
    if (s->leads && !s->stopping && !s->purge_busy && s->config.keep_ms > 0 &&
        now_ms >= s->purge_due_ms) {
        purge(s);
    }
}

bool push_finish__is_idle(const struct push_sender *s)
{
    return s->ends == 0 && !s->purge_busy;
}

void push_finish__open(struct push_sender *s)
{
    engine_op_init(&s->purge_op);
    s->purge_op.done = purge_done;
    s->purge_op.reply_to = &s->box;
    s->purge_op.data = s;
    s->purge_due_ms = uv_now(&s->loop) + PURGE_FIRST_MS;
}

void push_finish__close(struct push_sender *s)
{
    engine_op_deinit(&s->purge_op);
}
