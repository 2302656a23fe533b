#include "svc/svc_bulk.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "base/fault.h"
#include "fsm/command/result.h"
#include "log/log.h"
#include "os/os_clock.h"

enum {
    RETRY_MS = 50,        /* delay after the first failure; doubled after each further one */
    RETRY_MS_MAX = 5000,  /* maximum delay */
    FAILURES_MAX = 100,   /* failures in a row with temporary errors: eight minutes */
    REFUSALS_MAX = 4,     /* the same, if the command cannot be proposed */
    PAUSE_MS_MAX = 200,   /* maximum pause between two steps */
    STATUS_PASSES = 429,  /* from this HTTP status on, errors are temporary */
    NEWS_UNDER_WAY = 256, /* for one watch; if more are undelivered, news are dropped */
    ARENA_BYTES = 1 << 20,
    RECORD_BYTES_MAX = 1 << 20,
};

/* An operation that could not continue, and the time of its retry. */
struct slow {
    struct id id;
    unsigned failures; /* in a row */
    int64_t at_ms;
};

struct svc_bulk {
    struct svc_bulk_config config;
    uv_thread_t thread;
    uv_loop_t loop;
    struct mailbox box;
    uv_sem_t opened;
    uv_timer_t keepalive_timer; /* runs while there are watches */
    uv_timer_t retry_timer;
    struct msg stop_msg;
    struct engine_notifier *news; /* the engine notifies of new operations and of leadership */
    struct svc_bulk_watch *watches;

    /* the work in progress, one piece at a time */
    bool busy;
    bool ending; /* the submitted command ends the operation as failed */
    bool again;  /* look again when the current work is done */
    bool closing;
    struct engine_call call;
    struct engine_op op;
    struct svc_bulk_page page;
    struct arena *arena; /* texts of the operation and of a step's result */
    struct machine_bulk task;
    bool found;
    struct id last;    /* the operation whose turn was last */
    struct id started; /* the last one for which SVC_BULK_STARTED was published */
    int64_t submitted_ms;
    int64_t look_ms; /* when the look began */
    struct slow slow[LIMIT_BULK_OPEN];
    size_t slow_count;
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
        return; /* its loop is far behind; later news replace this one anyway */
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
    if (n.type == SVC_BULK_STARTED) {
        n.status = STORE_BULK_RUNNING; /* the record has this status after the first step */
    }
    size_t len = rec->error.len < sizeof n.error ? rec->error.len : sizeof n.error - 1;
    if (len > 0) {
        memcpy(n.error, rec->error.ptr, len);
    }
    return n;
}

/* Send the current state of an operation to its watches. */
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
    struct store_bulk rec = {.status = STORE_BULK_CANCELLED}; /* if it was deleted meanwhile */
    buf_init(&value, RECORD_BYTES_MAX);
    if (!svc_bulk_read(b->config.engine, w->task, &value, &rec)) {
        log_info("bulk operation no longer exists");
    }
    bool queued = rec.status == STORE_BULK_QUEUED;
    struct svc_bulk_news n = news_of(&rec, queued ? SVC_BULK_STARTED : SVC_BULK_PROGRESS);
    if (b->watches == NULL) {
        uint64_t period = (uint64_t)b->config.keepalive_ms;
        CHECK(uv_timer_start(&b->keepalive_timer, on_keepalive, period, period) == 0);
    }
    w->next = b->watches;
    b->watches = w;
    if (!queued || id_eq(b->started, w->task)) { /* otherwise SVC_BULK_STARTED is its first news */
        post_news(w, &n);
    }
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
    w->leave_msg.deliver = deliver_ended; /* after all news */
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

/* The current work is done: close, look again, or stay idle. */
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

static int64_t now_ms(void)
{
    return os_clock_mono().ns / NS_PER_MS;
}

static void wake_after(struct svc_bulk *b, int64_t ms)
{
    if (!b->closing) {
        int code = uv_timer_start(&b->retry_timer, on_retry, (uint64_t)(ms > 0 ? ms : 0), 0);
        CHECK(code == 0); /* fails only for a closing handle */
    }
}

/* Operations that fail */

static struct slow *find_slow(struct svc_bulk *b, struct id id)
{
    for (size_t i = 0; i < b->slow_count; i++) {
        if (id_eq(b->slow[i].id, id)) {
            return &b->slow[i];
        }
    }
    return NULL;
}

static void forget_slow(struct svc_bulk *b, struct slow *s)
{
    if (s != NULL) {
        *s = b->slow[--b->slow_count];
    }
}

/* Forget operations that ended while they waited for a retry: the retry is due, but the look did
 * not find them. */
static void forget_ended(struct svc_bulk *b)
{
    for (size_t i = b->slow_count; i > 0; i--) {
        if (b->slow[i - 1].at_ms <= b->look_ms) {
            forget_slow(b, &b->slow[i - 1]);
        }
    }
}

/* Time of the earliest retry; INT64_MAX if there is none. */
static int64_t next_slow_ms(const struct svc_bulk *b)
{
    int64_t at = INT64_MAX;
    for (size_t i = 0; i < b->slow_count; i++) {
        at = b->slow[i].at_ms < at ? b->slow[i].at_ms : at;
    }
    return at;
}

/* Record a failure of the current operation and schedule its retry. Returns the failures in a
 * row. */
static unsigned note_failure(struct svc_bulk *b)
{
    struct slow *s = find_slow(b, b->task.id);
    if (s == NULL) {
        if (b->slow_count == LIMIT_BULK_OPEN) {
            forget_slow(b, &b->slow[0]);
        }
        s = &b->slow[b->slow_count++];
        *s = (struct slow){.id = b->task.id};
    }
    s->failures++;
    int64_t delay = RETRY_MS;
    for (unsigned i = 1; i < s->failures && delay < RETRY_MS_MAX; i++) {
        delay *= 2;
    }
    s->at_ms = now_ms() + (delay < RETRY_MS_MAX ? delay : RETRY_MS_MAX);
    return s->failures;
}

static void give_up(struct svc_bulk *b, const char *error);

/* Retry the operation later, up to max times; then it fails. */
static void failed(struct svc_bulk *b, const char *error, unsigned max)
{
    unsigned failures = note_failure(b);
    if (failures == 1) {
        log_warn("bulk operation delayed", LOG_Z("error", error));
    }
    if (failures > max) {
        give_up(b, error);
    } else {
        go_on(b); /* other operations continue meanwhile */
    }
}

static void step_done(struct engine_op *op)
{
    struct svc_bulk *b = op->data;
    bool ending = b->ending;
    struct result r;
    b->ending = false;
    if (op->err.code != ERR_OK && ending) {
        (void)note_failure(b);
        go_on(b);
        return;
    }
    if (op->err.code != ERR_OK) {
        /* Overloaded, no space, stopping, or the outcome is unknown. The retry reads it from the
         * state. */
        failed(b, op->err.msg, FAILURES_MAX);
        return;
    }
    if (!result_decode(buf_str(&op->result), b->arena, &r)) {
        UNREACHABLE("a step answers in a few bytes");
    }
    publish(b, b->task.id, SVC_BULK_PROGRESS);
    if (r.code != ERR_OK) {
        /* The operation has advanced, was cancelled or has ended; or it cannot continue. */
        struct err err;
        (void)err_set(&err, r.code, STR_FMT, STR_ARG(r.message));
        failed(b, err.msg, FAILURES_MAX);
        return;
    }
    forget_slow(b, find_slow(b, b->task.id));
    int64_t took = now_ms() - b->submitted_ms;
    if (took == 0 || b->closing) {
        go_on(b);
    } else {
        rest(b);
        wake_after(b, took < PAUSE_MS_MAX ? took : PAUSE_MS_MAX);
    }
}

static void submit(struct svc_bulk *b, const struct command *c)
{
    struct err err;
    bool step = c->type == COMMAND_BULK_STEP;
    b->ending = !step;
    b->submitted_ms = now_ms();
    if (step && FAULT(BULK_STEP)) {
        failed(b, "made to fail", REFUSALS_MAX);
    } else if (engine_op_prepare(b->config.engine, &b->op, c, &err) == ERR_OK) {
        engine_submit(b->config.engine, &b->op);
    } else if (step) {
        failed(b, err.msg, REFUSALS_MAX);
    } else {
        log_error("bulk operation cannot be ended", LOG_Z("error", err.msg));
        (void)note_failure(b);
        go_on(b);
    }
}

static void give_up(struct svc_bulk *b, const char *error)
{
    struct str text = str_from_z(error);
    struct command c = {.type = COMMAND_BULK_END, .bulk_end = {.id = b->task.id}};
    log_warn("bulk operation abandoned", LOG_Z("error", error));
    /* The message may have been truncated inside a UTF-8 character. */
    c.bulk_end.error = str_is_utf8(text) ? text : STR("the operation failed");
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

/* Submit a step with the next stored list of ids. */
static void take_list(struct svc_bulk *b)
{
    char key[STORE_BULK_KEY_BYTES];
    struct buf list;
    store_record_bulk_key(b->task.id, store_bulk_next_list(&b->task.rec), key);
    buf_init(&list, sizeof b->page.ids);
    if (!store_get(engine_store(b->config.engine), STORE_KIND_BULK, str_from(key, sizeof key),
                   &list)) {
        /* A step consumed this list after the look. */
        buf_deinit(&list);
        failed(b, "a list of job ids is missing", FAILURES_MAX);
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
        submit_step(b, p->ids, p->count);
    } else if (p->err.code == ERR_OVERLOADED) {
        failed(b, p->err.msg, UINT_MAX); /* the view is late: no limit */
    } else if (err_http_status(p->err.code) < STATUS_PASSES) {
        give_up(b, p->err.msg);
    } else {
        failed(b, p->err.msg, FAILURES_MAX);
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
        give_up(b, "this server has no search index");
        return;
    }
    p->bulk = b;
    p->filter = b->task.rec.filter;
    p->ns = b->task.rec.ns;
    p->scope = b->task.rec.scope;
    p->after = b->task.rec.cursor;
    p->until = b->task.id;
    p->reply_to = &b->box;
    p->count = 0;
    p->err.code = ERR_OK;
    b->config.find(b->config.find_data, p);
}

static bool is_slow(struct svc_bulk *b, struct id id)
{
    const struct slow *s = find_slow(b, id);
    return s != NULL && s->at_ms > b->look_ms;
}

/* Select the next operation, on the core thread. Skips those that wait for a retry. */
static void core_look(struct engine_call *call, struct machine *m)
{
    struct svc_bulk *b = call->data;
    struct id after = b->last;
    b->found = false;
    for (unsigned i = 0; i <= LIMIT_BULK_OPEN && !b->found; i++) {
        if (!machine_next_bulk(m, after, &b->task)) {
            return;
        }
        after = b->task.id;
        b->found = !is_slow(b, after);
    }
    if (b->found) {
        struct store_bulk *rec = &b->task.rec;
        arena_reset(b->arena);
        rec->ns = arena_str(b->arena, rec->ns);
        rec->scope = arena_str(b->arena, rec->scope);
        rec->filter = arena_str(b->arena, rec->filter);
        rec->queue = rec->reason = rec->error = STR_EMPTY;
    }
}

static void looked(struct engine_call *call)
{
    struct svc_bulk *b = call->data;
    if (!b->found || b->closing) {
        forget_ended(b);
        rest(b);
        if (!b->busy && b->slow_count > 0) {
            wake_after(b, next_slow_ms(b) - now_ms());
        }
        return;
    }
    b->last = b->task.id;
    if (b->task.rec.status == STORE_BULK_QUEUED && !id_eq(b->started, b->task.id)) {
        b->started = b->task.id; /* published once, even if the first step is retried */
        publish(b, b->task.id, SVC_BULK_STARTED);
    }
    if (store_bulk_is_queue(&b->task.rec)) {
        submit_step(b, NULL, 0); /* the state machine selects the jobs */
    } else if (b->task.rec.lists > 0) {
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
    b->look_ms = now_ms();
    b->call =
        (struct engine_call){.run = core_look, .done = looked, .reply_to = &b->box, .data = b};
    if (!engine_run(b->config.engine, &b->call)) {
        rest(b);
    }
}

/* Notification from the engine. */
static void told(void *data)
{
    struct svc_bulk *b = data;
    b->again = b->busy;
    look(b);
}

/* Message of svc_bulk_changed. */
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
    engine_notifier_close(b->news);
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
    b->news = engine_notifier_open(b->config.engine, &b->box, told, b);
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
