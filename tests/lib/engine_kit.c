#include "lib/engine_kit.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "log/log.h"
#include "store/store_job.h"

/* Far more than anything here needs, even under a sanitizer on a busy machine. */
#define PATIENCE_NS (60 * (uint64_t)NS_PER_S)

/* The client's thread */

static void client_main(void *data)
{
    struct engine_kit *k = data;
    CHECK(uv_loop_init(&k->loop) == 0);
    mailbox_open(&k->box, &k->loop);
    uv_sem_post(&k->ready);
    CHECK(uv_run(&k->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&k->box);
    CHECK(uv_loop_close(&k->loop) == 0);
}

struct errand {
    struct msg msg;
    void (*fn)(void *data);
    void *data;
    uv_sem_t over;
};

static void deliver_errand(struct msg *m)
{
    struct errand *e = CONTAINER_OF(m, struct errand, msg);
    e->fn(e->data);
    uv_sem_post(&e->over);
}

void engine_kit_on_client(struct engine_kit *k, void (*fn)(void *data), void *data)
{
    struct errand e = {.msg.deliver = deliver_errand, .fn = fn, .data = data};
    CHECK(uv_sem_init(&e.over, 0) == 0);
    bool posted = mailbox_post(&k->box, &e.msg);
    CHECK(posted);
    uv_sem_wait(&e.over);
    uv_sem_destroy(&e.over);
}

static void wait_for_move(struct engine_kit *k, const char *what)
{
    if (uv_cond_timedwait(&k->moved, &k->lock, PATIENCE_NS) != 0) {
        check_fatal("waited in vain for %s", what);
    }
}

/* The feed. The kit records only that something changed. */

static void end_feed(struct engine_kit *k)
{
    engine_feed_close(k->feed);
    k->feed = NULL;
    k->feed_ends = false;
    uv_sem_post(&k->feed_over);
}

static void taken(struct engine_take *t);

static void woken(void *data)
{
    struct engine_kit *k = data;
    if (k->taking) {
        return; /* notified before the current take was handled; that take has the change */
    }
    k->taking = true;
    k->take = (struct engine_take){.max = 1024, .done = taken, .data = k};
    engine_feed_take(k->feed, &k->take);
}

static void taken(struct engine_take *t)
{
    struct engine_kit *k = t->data;
    k->taking = false;
    engine_take_deinit(t);
    uv_mutex_lock(&k->lock);
    k->changes++;
    uv_cond_broadcast(&k->moved);
    uv_mutex_unlock(&k->lock);
    if (k->feed_ends) {
        end_feed(k);
    } else if (t->behind > 0) {
        woken(k);
    }
}

static void want_feed_end(void *data)
{
    struct engine_kit *k = data;
    k->feed_ends = true;
    if (!k->taking) {
        end_feed(k);
    }
}

/* Opening and closing */

static void open_feed(void *data)
{
    struct engine_kit *k = data;
    k->feed = engine_feed_open(k->engine, &k->box, woken, k);
}

void engine_kit_start_engine(struct engine_kit *k)
{
    struct err err;
    CHECK(k->engine == NULL);
    if (engine_open(&k->config, &k->engine, &err) != ERR_OK) {
        check_fatal("open the engine: %s", err.msg);
    }
    CHECK(engine_leads(k->engine));
    engine_kit_on_client(k, open_feed, k);
}

void engine_kit_stop_engine(struct engine_kit *k)
{
    engine_kit_on_client(k, want_feed_end, k);
    uv_sem_wait(&k->feed_over);
    engine_close(k->engine);
    k->engine = NULL;
}

struct engine_kit *engine_kit_open(void (*configure)(struct engine_config *config))
{
    struct engine_kit *k = calloc(1, sizeof *k);
    CHECK(k != NULL);
    log_configure(LOG_ERROR, LOG_TEXT);
    k->dir = tmpdir_new();
    k->config = engine_config_default();
    k->config.data_dir = k->dir.path;
    k->config.node.durable = false;
    k->config.node.segment_bytes = 1 << 20;
    k->config.free_bytes_min = 0;
    if (configure != NULL) {
        configure(&k->config);
    }
    CHECK(uv_mutex_init(&k->lock) == 0);
    CHECK(uv_cond_init(&k->moved) == 0);
    CHECK(uv_sem_init(&k->ready, 0) == 0);
    CHECK(uv_sem_init(&k->held, 0) == 0);
    CHECK(uv_sem_init(&k->let_go, 0) == 0);
    CHECK(uv_sem_init(&k->held_over, 0) == 0);
    CHECK(uv_sem_init(&k->feed_over, 0) == 0);
    k->last = calloc(1, sizeof *k->last);
    CHECK(k->last != NULL);
    engine_kit_op_init(k->last, k);
    CHECK(uv_thread_create(&k->thread, client_main, k) == 0);
    uv_sem_wait(&k->ready);
    engine_kit_start_engine(k);
    return k;
}

static void close_box(void *data)
{
    struct engine_kit *k = data;
    mailbox_close(&k->box);
}

void engine_kit_close(struct engine_kit *k)
{
    if (k->engine != NULL) {
        engine_kit_stop_engine(k);
    }
    engine_kit_on_client(k, close_box, k);
    CHECK(uv_thread_join(&k->thread) == 0);
    uv_mutex_destroy(&k->lock);
    uv_cond_destroy(&k->moved);
    uv_sem_destroy(&k->ready);
    uv_sem_destroy(&k->held);
    uv_sem_destroy(&k->let_go);
    uv_sem_destroy(&k->held_over);
    uv_sem_destroy(&k->feed_over);
    engine_kit_op_deinit(k->last);
    free(k->last);
    tmpdir_remove(&k->dir);
    free(k);
}

/* Holding the core thread */

static void run_hold(struct engine_call *call, struct machine *m)
{
    struct engine_kit *k = call->data;
    (void)m;
    uv_sem_post(&k->held);
    uv_sem_wait(&k->let_go);
}

static void hold_done(struct engine_call *call)
{
    struct engine_kit *k = call->data;
    uv_sem_post(&k->held_over);
}

void engine_kit_hold(struct engine_kit *k)
{
    k->hold = (struct engine_call){.run = run_hold, .done = hold_done, .data = k};
    bool runs = engine_run(k->engine, &k->hold);
    CHECK(runs);
    uv_sem_wait(&k->held);
}

void engine_kit_release(struct engine_kit *k)
{
    uv_sem_post(&k->let_go);
    uv_sem_wait(&k->held_over);
}

/* Operations */

void engine_kit_op_init(struct engine_kit_op *o, struct engine_kit *k)
{
    *o = (struct engine_kit_op){.kit = k, .reply_to = &k->box};
    engine_op_init(&o->op);
}

void engine_kit_op_deinit(struct engine_kit_op *o)
{
    engine_op_deinit(&o->op);
    arena_freep(&o->arena);
}

static void op_done(struct engine_op *op)
{
    struct engine_kit_op *o = op->data;
    struct engine_kit *k = o->kit;
    uv_mutex_lock(&k->lock);
    o->done_count++;
    o->done_place = ++k->done_total;
    uv_cond_broadcast(&k->moved);
    uv_mutex_unlock(&k->lock);
}

void engine_kit_start(struct engine_kit_op *o, const struct command *c, int64_t park_ms)
{
    struct err err;
    o->op.done = op_done;
    o->op.data = o;
    o->op.reply_to = o->reply_to;
    o->op.park_ms = park_ms;
    o->done_count = 0;
    if (engine_op_prepare(o->kit->engine, &o->op, c, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    engine_submit(o->kit->engine, &o->op);
}

void engine_kit_wait(struct engine_kit_op *o)
{
    struct engine_kit *k = o->kit;
    uv_mutex_lock(&k->lock);
    while (o->done_count == 0 || o->cancels_open > 0) {
        wait_for_move(k, "a command's end");
    }
    uv_mutex_unlock(&k->lock);
    o->result = (struct result){0};
    if (o->op.err.code == ERR_OK) {
        arena_freep(&o->arena);
        o->arena = arena_new(SIZE_MAX);
        bool decoded = result_decode(buf_str(&o->op.result), o->arena, &o->result);
        CHECK(decoded);
    }
}

static void deliver_cancel(struct msg *m)
{
    struct engine_kit_op *o = CONTAINER_OF(m, struct engine_kit_op, cancel_msg);
    struct engine_kit *k = o->kit;
    if (o->done_count == 0) {
        engine_cancel(k->engine, &o->op);
    }
    uv_mutex_lock(&k->lock);
    o->cancels_open--; /* o may be freed after this */
    uv_cond_broadcast(&k->moved);
    uv_mutex_unlock(&k->lock);
}

void engine_kit_cancel(struct engine_kit_op *o)
{
    o->cancel_msg.deliver = deliver_cancel;
    uv_mutex_lock(&o->kit->lock);
    o->cancels_open++;
    uv_mutex_unlock(&o->kit->lock);
    bool posted = mailbox_post(&o->kit->box, &o->cancel_msg);
    CHECK(posted);
}

const struct result *engine_kit_do(struct engine_kit *k, const struct command *c)
{
    engine_kit_start(k->last, c, 0);
    engine_kit_wait(k->last);
    if (k->last->op.err.code != ERR_OK) {
        check_fatal("%s: %s", command_word(c->type), k->last->op.err.msg);
    }
    return &k->last->result;
}

static const struct result *must(struct engine_kit *k, const struct command *c)
{
    const struct result *r = engine_kit_do(k, c);
    if (r->code != ERR_OK) {
        check_fatal("%s: " STR_FMT, command_word(c->type), STR_ARG(r->message));
    }
    return r;
}

struct command_new engine_kit_new_job(const char *queue)
{
    return (struct command_new){.job = {.queue = str_from_z(queue),
                                        .payload = STR("{\"n\":1}"),
                                        .priority = JOB_PRIORITY_NORMAL,
                                        .backoff = JOB_BACKOFF_FIXED,
                                        .max_retries = JOB_MAX_RETRIES,
                                        .retry_base_ms = 1}};
}

struct id engine_kit_put(struct engine_kit *k, struct command_new job)
{
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    return must(k, &c)->items[0].id;
}

struct id engine_kit_enqueue(struct engine_kit *k, const char *queue)
{
    return engine_kit_put(k, engine_kit_new_job(queue));
}

struct command engine_kit_claim_command(struct str *queue, uint32_t count)
{
    enum { LEASE_MS = 3600 * 1000 }; /* longer than the slowest test on the busiest machine */
    return (struct command){
        .type = COMMAND_CLAIM,
        .claim = {.queues = queue, .queue_count = 1, .lease_ms = LEASE_MS, .count = count}};
}

struct id engine_kit_claim(struct engine_kit *k, const char *queue)
{
    struct str name = str_from_z(queue);
    struct command c = engine_kit_claim_command(&name, 1);
    const struct result *r = must(k, &c);
    return r->count == 0 ? ID_NONE : r->items[0].id;
}

void engine_kit_ack(struct engine_kit *k, struct id id)
{
    struct command_ack_item item = {.id = id};
    (void)must(k, &(struct command){.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}});
}

void engine_kit_fail(struct engine_kit *k, struct id id)
{
    (void)must(k, &(struct command){.type = COMMAND_FAIL, .fail = {.id = id, .error = STR("no")}});
}

void engine_kit_job(struct engine_kit *k, enum command_job_action action, struct id id)
{
    (void)must(k, &(struct command){.type = COMMAND_JOBS,
                                    .jobs = {.action = action, .ids = &id, .count = 1}});
}

void engine_kit_queue(struct engine_kit *k, enum command_queue_action action, const char *name,
                      uint32_t number)
{
    struct command c = {.type = COMMAND_QUEUE,
                        .queue = {.action = action, .name = str_from_z(name)}};
    if (action == COMMAND_QUEUE_CONCURRENCY) {
        c.queue.max = number;
    } else if (action == COMMAND_QUEUE_THROTTLE) {
        c.queue.rate = 1;
        c.queue.window_ms = number;
    }
    (void)must(k, &c);
}

/* Reading */

enum job_state engine_kit_state(struct engine_kit *k, struct id id)
{
    enum job_state state = JOB_STATE_COUNT;
    struct buf doc;
    buf_init(&doc, SIZE_MAX);
    if (engine_read_job(k->engine, id, &doc)) {
        struct job j;
        struct err err;
        enum err_code code = store_job_decode(id, buf_str(&doc), &j, &err);
        CHECK(code == ERR_OK);
        state = j.state;
    }
    buf_deinit(&doc);
    return state;
}

void engine_kit_wait_state(struct engine_kit *k, struct id id, enum job_state state)
{
    for (;;) {
        uv_mutex_lock(&k->lock);
        uint64_t seen = k->changes;
        uv_mutex_unlock(&k->lock);
        if (engine_kit_state(k, id) == state) {
            return;
        }
        uv_mutex_lock(&k->lock);
        while (k->changes == seen) {
            wait_for_move(k, "a job's change");
        }
        uv_mutex_unlock(&k->lock);
    }
}

struct engine_status engine_kit_status(struct engine_kit *k)
{
    struct engine_status status;
    engine_status(k->engine, &status);
    return status;
}

uint64_t engine_kit_parked(struct engine_kit *k)
{
    return engine_kit_status(k).parked_ops;
}
