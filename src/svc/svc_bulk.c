#include "svc/svc_bulk.h"

#include <pthread.h>
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "fsm/result.h"
#include "log/log.h"
#include "os/os_clock.h"

enum {
    RETRY_MS = 50,        /* after a failure that may pass */
    FAILURES_MAX = 200,   /* one behind the other, of the finder */
    STATUS_PASSES = 429,  /* an HTTP status from which on a failure is not the caller's fault */
    NEWS_UNDER_WAY = 256, /* for one who watches: past it, some are left out */
    ARENA_BYTES = 1 << 20,
    RECORD_BYTES_MAX = 1 << 20,
};

struct svc_bulk {
    struct svc_bulk_config config;
    uv_thread_t thread;
    uv_loop_t loop;
    struct mailbox box;
    uv_sem_t opened;
    uv_timer_t keepalive_timer; /* runs while somebody watches */
    uv_timer_t retry_timer;
    struct msg stop_msg;
    struct engine_watch *news; /* of the engine's: there may be something to do */
    struct svc_bulk_watch *watches;

    /* what is under way, one thing at a time */
    bool busy;
    bool again; /* there may be more to do than was seen when it began */
    bool closing;
    struct engine_call call;
    struct engine_op op;
    struct svc_bulk_page page;
    struct arena *arena; /* texts of the operation, and of the answer to a step */
    struct machine_bulk task;
    bool found;
    struct id last;    /* the operation that had its turn */
    struct id started; /* the last one that was said to begin */
    unsigned failures;
};

struct svc_bulk_config svc_bulk_config_default(void)
{
    return (struct svc_bulk_config){.keepalive_ms = 15000};
}

bool svc_bulk_read(struct engine *e, struct id id, struct buf *value, struct store_bulk *out)
{
    char key[STORE_BULK_KEY_BYTES];
    store_record_bulk_key(id, 0, key);
    return store_get(engine_store(e), STORE_KIND_BULK, str_from(key, sizeof key), value) &&
           store_record_decode_bulk(buf_str(value), out);
}

/* News */

static void deliver_news(struct msg *m)
{
    struct svc_bulk_news *n = CONTAINER_OF(m, struct svc_bulk_news, msg);
    struct svc_bulk_watch *w = n->watch;
    atomic_fetch_sub(&w->under_way, 1);
    w->told(w, n);
    free(n);
}

static void post_news(struct svc_bulk_watch *w, const struct svc_bulk_news *like)
{
    if (atomic_load(&w->under_way) >= NEWS_UNDER_WAY && like->type != SVC_BULK_OVER) {
        return; /* its loop is far behind; the next one says more anyway */
    }
    struct svc_bulk_news *n = malloc(sizeof *n);
    CHECK(n != NULL);
    *n = *like;
    n->watch = w;
    n->msg.deliver = deliver_news;
    atomic_fetch_add(&w->under_way, 1);
    bool posted = mailbox_post(w->reply_to, &n->msg);
    CHECK(posted);
}

static struct svc_bulk_news news_of(const struct store_bulk *rec, enum svc_bulk_news_type type)
{
    struct svc_bulk_news n = {.type = store_bulk_is_over(rec) ? SVC_BULK_OVER : type,
                              .status = rec->status,
                              .total = rec->total,
                              .processed = rec->processed,
                              .affected = rec->affected,
                              .errors = rec->errors,
                              .at = os_clock_wall()};
    size_t len = rec->error.len < sizeof n.error ? rec->error.len : sizeof n.error - 1;
    if (len > 0) {
        memcpy(n.error, rec->error.ptr, len);
    }
    return n;
}

/* Tell those who watch the operation how it stands now. */
static void publish(struct svc_bulk *b, struct id id, enum svc_bulk_news_type type)
{
    struct buf value;
    struct store_bulk rec;
    struct svc_bulk_watch *w = b->watches;
    while (w != NULL && !id_eq(w->task, id)) {
        w = w->next;
    }
    if (w == NULL) {
        return;
    }
    buf_init(&value, RECORD_BYTES_MAX);
    if (svc_bulk_read(b->config.engine, id, &value, &rec)) {
        struct svc_bulk_news n = news_of(&rec, type);
        for (; w != NULL; w = w->next) {
            if (id_eq(w->task, id)) {
                post_news(w, &n);
            }
        }
    }
    buf_deinit(&value);
}

static void on_keepalive(uv_timer_t *t)
{
    struct svc_bulk *b = t->data;
    struct svc_bulk_news n = {.type = SVC_BULK_KEEPALIVE};
    for (struct svc_bulk_watch *w = b->watches; w != NULL; w = w->next) {
        post_news(w, &n);
    }
}

static void deliver_join(struct msg *m)
{
    struct svc_bulk_watch *w = CONTAINER_OF(m, struct svc_bulk_watch, join_msg);
    struct svc_bulk *b = w->bulk;
    struct buf value;
    struct store_bulk rec = {.status = STORE_BULK_CANCELLED}; /* when it was forgotten just now */
    buf_init(&value, RECORD_BYTES_MAX);
    if (!svc_bulk_read(b->config.engine, w->task, &value, &rec)) {
        log_info("bulk watched too late");
    }
    struct svc_bulk_news n = news_of(&rec, SVC_BULK_PROGRESS);
    if (b->watches == NULL) {
        uint64_t period = (uint64_t)b->config.keepalive_ms;
        CHECK(uv_timer_start(&b->keepalive_timer, on_keepalive, period, period) == 0);
    }
    w->next = b->watches;
    b->watches = w;
    post_news(w, &n);
    buf_deinit(&value);
}

static void deliver_ended(struct msg *m)
{
    struct svc_bulk_watch *w = CONTAINER_OF(m, struct svc_bulk_watch, leave_msg);
    w->ended(w);
}

static void deliver_leave(struct msg *m)
{
    struct svc_bulk_watch *w = CONTAINER_OF(m, struct svc_bulk_watch, leave_msg);
    struct svc_bulk *b = w->bulk;
    struct svc_bulk_watch **at = &b->watches;
    while (*at != w) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = w->next;
    if (b->watches == NULL) {
        CHECK(uv_timer_stop(&b->keepalive_timer) == 0);
    }
    w->leave_msg.deliver = deliver_ended; /* behind all news */
    bool posted = mailbox_post(w->reply_to, &w->leave_msg);
    CHECK(posted);
}

void svc_bulk_watch(struct svc_bulk *b, struct svc_bulk_watch *w)
{
    w->bulk = b;
    atomic_init(&w->under_way, 0);
    w->join_msg.deliver = deliver_join;
    bool posted = mailbox_post(&b->box, &w->join_msg);
    CHECK(posted);
}

void svc_bulk_unwatch(struct svc_bulk_watch *w)
{
    w->leave_msg.deliver = deliver_leave;
    bool posted = mailbox_post(&w->bulk->box, &w->leave_msg);
    CHECK(posted);
}

/* The work */

static void look(struct svc_bulk *b);
static void close_handles(struct svc_bulk *b);

static void on_retry(uv_timer_t *t)
{
    look(t->data);
}

/* Nothing is under way any more. */
static void rest(struct svc_bulk *b)
{
    b->busy = false;
    if (b->closing) {
        close_handles(b);
    } else if (b->again) {
        look(b);
    }
}

static void go_on(struct svc_bulk *b)
{
    b->again = true;
    rest(b);
}

static void try_later(struct svc_bulk *b)
{
    rest(b);
    if (!b->closing) {
        CHECK(uv_timer_start(&b->retry_timer, on_retry, RETRY_MS, 0) == 0);
    }
}

static void step_done(struct engine_op *op)
{
    struct svc_bulk *b = op->data;
    struct result r;
    if (op->err.code != ERR_OK) {
        /* Too busy, not the leader, stopping, or nobody knows what became of it: the state does. */
        try_later(b);
        return;
    }
    if (!result_decode(buf_str(&op->result), b->arena, &r)) {
        UNREACHABLE("a step answers in a few bytes");
    }
    /* A refusal says that the operation is elsewhere than we thought: cancelled, or done. */
    publish(b, b->task.id, SVC_BULK_PROGRESS);
    go_on(b);
}

static void submit(struct svc_bulk *b, const struct command *c)
{
    struct err err;
    if (engine_op_prepare(b->config.engine, &b->op, c, &err) != ERR_OK) {
        log_error("bulk step refused", LOG_Z("error", err.msg));
        try_later(b);
        return;
    }
    engine_submit(b->config.engine, &b->op);
}

static void give_up(struct svc_bulk *b, const char *error)
{
    struct str text = str_from_z(error);
    struct command c = {.type = COMMAND_BULK_END, .bulk_end = {.id = b->task.id}};
    /* A message may have been cut inside a character. */
    c.bulk_end.error = str_is_utf8(text) ? text : STR("the jobs cannot be found");
    submit(b, &c);
}

static void submit_step(struct svc_bulk *b, struct id *ids, size_t count)
{
    struct command c = {.type = COMMAND_BULK_STEP,
                        .bulk_step = {.id = b->task.id,
                                      .step = b->task.rec.steps,
                                      .last = count<LIMIT_BULK_CHUNK, .cursor = count> 0
                                                  ? ids[count - 1]
                                                  : b->task.rec.cursor,
                                      .ids = ids,
                                      .count = count}};
    submit(b, &c);
}

/* The list of the next step. */
static void take_list(struct svc_bulk *b)
{
    char key[STORE_BULK_KEY_BYTES];
    struct buf list;
    store_record_bulk_key(b->task.id, store_bulk_next_list(&b->task.rec), key);
    buf_init(&list, sizeof b->page.ids);
    if (!store_get(engine_store(b->config.engine), STORE_KIND_BULK, str_from(key, sizeof key),
                   &list)) {
        /* A step of this very list went by between the look and now. */
        buf_deinit(&list);
        try_later(b);
        return;
    }
    b->page.count = list.len / ID_BYTES;
    memcpy(b->page.ids, list.ptr, list.len);
    buf_deinit(&list);
    submit_step(b, b->page.ids, b->page.count);
}

static void deliver_found(struct msg *m)
{
    struct svc_bulk_page *p = CONTAINER_OF(m, struct svc_bulk_page, msg);
    struct svc_bulk *b = p->bulk;
    if (p->err.code == ERR_OK) {
        b->failures = 0;
        submit_step(b, p->ids, p->count);
        return;
    }
    /* One that is only late is waited for as long as it takes. */
    bool late = p->err.code == ERR_OVERLOADED;
    if (err_http_status(p->err.code) < STATUS_PASSES || (!late && ++b->failures > FAILURES_MAX)) {
        give_up(b, p->err.msg);
    } else {
        try_later(b);
    }
}

void svc_bulk_found(struct svc_bulk_page *page)
{
    page->msg.deliver = deliver_found;
    bool posted = mailbox_post(&page->bulk->box, &page->msg);
    CHECK(posted);
}

static void find_page(struct svc_bulk *b)
{
    struct svc_bulk_page *p = &b->page;
    if (b->config.find == NULL) {
        give_up(b, "this server cannot search");
        return;
    }
    p->bulk = b;
    p->filter = b->task.rec.filter;
    p->ns = b->task.rec.ns;
    p->after = b->task.rec.cursor;
    p->until = b->task.id;
    p->reply_to = &b->box;
    p->count = 0;
    p->err.code = ERR_OK;
    b->config.find(b->config.find_data, p);
}

/* On the core thread: whose turn is it? */
static void core_look(struct engine_call *call, struct machine *m)
{
    struct svc_bulk *b = call->data;
    b->found = machine_next_bulk(m, b->last, &b->task);
    if (b->found) {
        struct store_bulk *rec = &b->task.rec;
        arena_reset(b->arena);
        rec->ns = arena_str(b->arena, rec->ns);
        rec->filter = arena_str(b->arena, rec->filter);
        rec->queue = rec->reason = rec->error = STR_EMPTY;
    }
}

static void looked(struct engine_call *call)
{
    struct svc_bulk *b = call->data;
    if (!b->found || b->closing) {
        rest(b);
        return;
    }
    b->last = b->task.id;
    if (b->task.rec.status == STORE_BULK_QUEUED && !id_eq(b->started, b->task.id)) {
        b->started = b->task.id; /* said once, however often its first step is tried */
        publish(b, b->task.id, SVC_BULK_STARTED);
    }
    if (b->task.rec.lists > 0) {
        take_list(b);
    } else {
        find_page(b);
    }
}

static void look(struct svc_bulk *b)
{
    if (b->busy || b->closing || !engine_leads(b->config.engine)) {
        return;
    }
    b->busy = true;
    b->again = false;
    b->call =
        (struct engine_call){.run = core_look, .done = looked, .reply_to = &b->box, .data = b};
    if (!engine_run(b->config.engine, &b->call)) {
        rest(b);
    }
}

/* The engine has news. */
static void told(void *data)
{
    struct svc_bulk *b = data;
    b->again = b->busy;
    look(b);
}

/* Word that an operation was changed by somebody else. */
struct change {
    struct msg msg;
    struct svc_bulk *bulk;
    struct id id;
};

static void deliver_change(struct msg *m)
{
    struct change *c = CONTAINER_OF(m, struct change, msg);
    publish(c->bulk, c->id, SVC_BULK_PROGRESS);
    free(c);
}

void svc_bulk_changed(struct svc_bulk *b, struct id id)
{
    struct change *c = malloc(sizeof *c);
    CHECK(c != NULL);
    *c = (struct change){.msg.deliver = deliver_change, .bulk = b, .id = id};
    if (!mailbox_post(&b->box, &c->msg)) {
        free(c);
    }
}

/* The thread */

static void close_handles(struct svc_bulk *b)
{
    CHECK(b->watches == NULL);
    engine_watch_close(b->news);
    uv_close((uv_handle_t *)&b->keepalive_timer, NULL);
    uv_close((uv_handle_t *)&b->retry_timer, NULL);
    mailbox_close(&b->box);
}

static void deliver_stop(struct msg *m)
{
    struct svc_bulk *b = CONTAINER_OF(m, struct svc_bulk, stop_msg);
    b->closing = true;
    if (!b->busy) {
        close_handles(b);
    }
}

static void thread_main(void *data)
{
    struct svc_bulk *b = data;
    (void)pthread_setname_np(pthread_self(), "bulk");
    CHECK(uv_loop_init(&b->loop) == 0);
    mailbox_open(&b->box, &b->loop);
    CHECK(uv_timer_init(&b->loop, &b->keepalive_timer) == 0);
    CHECK(uv_timer_init(&b->loop, &b->retry_timer) == 0);
    b->keepalive_timer.data = b->retry_timer.data = b;
    b->news = engine_watch_open(b->config.engine, &b->box, told, b);
    uv_sem_post(&b->opened);
    look(b);
    CHECK(uv_run(&b->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&b->box);
    CHECK(uv_loop_close(&b->loop) == 0);
}

struct svc_bulk *svc_bulk_open(const struct svc_bulk_config *config)
{
    struct svc_bulk *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->config = *config;
    b->arena = arena_new(ARENA_BYTES);
    engine_op_init(&b->op);
    b->op.done = step_done;
    b->op.reply_to = &b->box;
    b->op.data = b;
    CHECK(uv_sem_init(&b->opened, 0) == 0);
    CHECK(uv_thread_create(&b->thread, thread_main, b) == 0);
    uv_sem_wait(&b->opened);
    return b;
}

void svc_bulk_close(struct svc_bulk *b)
{
    if (b == NULL) {
        return;
    }
    b->stop_msg.deliver = deliver_stop;
    bool posted = mailbox_post(&b->box, &b->stop_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&b->thread) == 0);
    uv_sem_destroy(&b->opened);
    engine_op_deinit(&b->op);
    arena_free(b->arena);
    free(b);
}
