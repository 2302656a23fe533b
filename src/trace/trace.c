#include "trace/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "outgoing/outgoing.h"
#include "trace/trace_int.h"

enum {
    BATCH_MAX = 512, /* spans sent at once */
    HELD_MAX = 8192, /* spans in memory; further ones are dropped */
    BATCH_BYTES_MAX = BATCH_MAX * TRACE_SPAN_BYTES_MAX + 4096,
    SEND_MS = 10000, /* limit of one attempt */
    ATTEMPTS_MAX = 5,
    RETRY_MS_MAX = 30000,
    ANSWER_BYTES_MAX = 64 << 10,
    PRINT_MS = 1000, /* how long a full pipe is waited for */
    WARN_MS = 60000, /* minimum time between two warnings */
};

struct trace {
    struct trace_config config;
    uint64_t seed; /* of the ids */
    atomic_uint_fast64_t ids;
    atomic_uint_fast64_t dropped;
    atomic_uint held; /* spans that were posted and are not sent or dropped */
    uv_thread_t thread;
    uv_sem_t opened;
    struct mailbox box;
    struct msg close_msg;
    /* below: used by the thread only */
    uv_loop_t loop;
    uv_timer_t timer; /* runs out: send what was collected, or try again */
    uv_timer_t close_timer;
    struct outgoing *outgoing;
    struct outgoing_request request;
    struct trace_done *waiting, **waiting_end;
    size_t waiting_count;
    struct trace_done *batch; /* being sent, as body */
    struct buf body;
    unsigned attempts; /* to send the batch */
    struct err why;    /* why the last attempt failed; ERR_OK: it did not */
    bool sending;      /* the request is in progress */
    bool closing;
    struct mono close_until;
    uint64_t warned_ms; /* when the last warning was logged; 0: never */
    uint64_t warned_of; /* spans that had been dropped then */
};

struct trace_config trace_config_default(void)
{
    return (struct trace_config){.version = "",
                                 .node_id = "",
                                 .user_agent = "corvo",
                                 .linger_ms = 1000,
                                 .retry_ms = 1000,
                                 .close_ms = 5000};
}

/* ---- spans in progress ---- */

/* A number that does not repeat. Not zero. */
static uint64_t new_number(struct trace *t)
{
    uint64_t n = hash_u64(t->seed + atomic_fetch_add(&t->ids, 1));
    return n == 0 ? 1 : n;
}

static void begin(struct trace *t, struct trace_span *out)
{
    uint64_t id = new_number(t);
    memcpy(out->parent, out->context.span, sizeof out->parent);
    memcpy(out->context.span, &id, sizeof out->context.span);
    out->trace = t;
    out->started = os_clock_wall();
    out->began = os_clock_mono();
}

bool trace_begin(struct trace *t, struct str traceparent, struct trace_span *out)
{
    if (!trace_context_parse(traceparent, &out->context)) {
        uint64_t id[2] = {new_number(t), new_number(t)};
        out->context = (struct trace_context){.sampled = true};
        memcpy(out->context.trace, id, sizeof out->context.trace);
    }
    if (out->context.sampled) {
        begin(t, out);
    }
    return out->context.sampled;
}

void trace_begin_inside(const struct trace_span *outer, struct trace_span *out)
{
    out->context = outer->context;
    begin(outer->trace, out);
}

/* ---- finished spans ---- */

static void drop(struct trace *t, unsigned count)
{
    atomic_fetch_add(&t->dropped, count);
}

uint64_t trace_dropped(const struct trace *t)
{
    return atomic_load(&t->dropped);
}

static void deliver_done(struct msg *m);

static bool may_hold(struct trace *t)
{
    if (atomic_fetch_add(&t->held, 1) < HELD_MAX) {
        return true;
    }
    atomic_fetch_sub(&t->held, 1);
    drop(t, 1);
    return false;
}

static void post(struct trace_done *d)
{
    d->took_ns = os_clock_mono().ns - d->span.began.ns;
    d->msg.deliver = deliver_done;
    bool posted = mailbox_post(&d->trace->box, &d->msg);
    CHECK(posted); /* no span ends after trace_close */
}

void trace_end_request(const struct trace_span *s, struct str method, struct str path, int status)
{
    enum { STATUS_FAILED = 500 };
    if (may_hold(s->trace)) {
        struct trace_done *d = trace_span__new(s, TRACE_REQUEST, method, path, STR_EMPTY);
        d->number = status;
        d->failed = status >= STATUS_FAILED;
        post(d);
    }
}

void trace_end_apply(const struct trace_span *s, unsigned op_type, struct str error)
{
    if (may_hold(s->trace)) {
        struct trace_done *d = trace_span__new(s, TRACE_APPLY, STR_EMPTY, STR_EMPTY, error);
        d->number = op_type;
        d->failed = error.len > 0;
        post(d);
    }
}

/* ---- sending ---- */

static void go_on(struct trace *t);

static void timer_cb(uv_timer_t *timer)
{
    go_on(timer->data);
}

static void set_timer(struct trace *t, uint64_t ms)
{
    CHECK(uv_timer_start(&t->timer, timer_cb, ms, 0) == 0);
}

/* Free a list; returns the number of spans. */
static unsigned free_spans(struct trace *t, struct trace_done *d)
{
    unsigned count = 0;
    while (d != NULL) {
        struct trace_done *next = d->next;
        free(d);
        d = next;
        count++;
    }
    atomic_fetch_sub(&t->held, count);
    return count;
}

/* Move up to BATCH_MAX spans from those that wait to the batch. */
static void take_batch(struct trace *t)
{
    struct trace_done **at = &t->waiting;
    for (size_t i = 0; i < BATCH_MAX && *at != NULL; i++) {
        at = &(*at)->next;
        t->waiting_count--;
    }
    t->batch = t->waiting;
    t->waiting = *at;
    *at = NULL;
    if (t->waiting == NULL) {
        t->waiting_end = &t->waiting;
    }
}

/* Warn of dropped spans, at most once a minute. */
static void warn(struct trace *t)
{
    uint64_t now_ms = uv_now(&t->loop);
    uint64_t dropped = trace_dropped(t);
    if (dropped > t->warned_of && (t->warned_ms == 0 || now_ms >= t->warned_ms + WARN_MS)) {
        bool failed = t->why.code != ERR_OK;
        log_warn("trace spans dropped", LOG_U64("spans", dropped - t->warned_of),
                 LOG_Z("reason", failed ? t->why.msg : "there are more than can be sent"));
        t->warned_of = dropped;
        t->warned_ms = now_ms;
    }
}

/* The batch was sent, or given up, for the reason in t->why. */
static void end_batch(struct trace *t)
{
    unsigned count = free_spans(t, t->batch);
    t->batch = NULL;
    t->attempts = 0;
    buf_clear(&t->body);
    drop(t, t->why.code == ERR_OK ? 0 : count);
    warn(t);
    go_on(t);
}

static void print_batch(struct trace *t)
{
    struct mono until = {.ns = os_clock_mono().ns + PRINT_MS * NS_PER_MS};
    if (t->closing && t->close_until.ns < until.ns) {
        until = t->close_until;
    }
    err_clear(&t->why);
    for (const struct trace_done *d = t->batch; d != NULL && t->why.code == ERR_OK; d = d->next) {
        buf_clear(&t->body);
        trace_text__add(&t->config, d, &t->body);
        if (!trace_print__write(buf_str(&t->body), until)) {
            (void)err_set(&t->why, ERR_IO, "standard output is not read");
        }
    }
    end_batch(t);
}

static bool is_worth_retrying(const struct outgoing_request *r)
{
    return r->err.code != ERR_OK || r->status == 429 || r->status == 502 || r->status == 503 ||
           r->status == 504;
}

static uint64_t retry_ms(const struct trace *t, const struct outgoing_request *r)
{
    uint64_t ms = (uint64_t)t->config.retry_ms << (t->attempts - 1);
    uint64_t asked_ms = (uint64_t)r->retry_after_s * 1000;
    ms = ms < asked_ms ? asked_ms : ms;
    return ms < RETRY_MS_MAX ? ms : RETRY_MS_MAX;
}

static void sent(struct outgoing_request *r)
{
    struct trace *t = r->data;
    bool ok = r->err.code == ERR_OK && r->status >= 200 && r->status < 300;
    bool again = !ok && is_worth_retrying(r) && t->attempts < ATTEMPTS_MAX && !t->closing;
    uint64_t wait_ms = again ? retry_ms(t, r) : 0;
    t->why = r->err;
    if (!ok && r->err.code == ERR_OK) {
        (void)err_set(&t->why, ERR_IO, "the collector answered with status %d", r->status);
    }
    t->sending = false;
    outgoing_request_deinit(r);
    if (again) {
        set_timer(t, wait_ms);
    } else {
        end_batch(t);
    }
}

static void send_batch(struct trace *t)
{
    t->attempts++;
    t->sending = true;
    t->request = (struct outgoing_request){
        .method = "POST",
        .url = t->config.url,
        .headers = {{"Content-Type", STR("application/x-protobuf")}},
        .header_count = 1,
        .body = buf_str(&t->body),
        .timeout_ms = SEND_MS,
        .answer_limit = ANSWER_BYTES_MAX,
        .done = sent,
        .data = t,
    };
    outgoing_start(t->outgoing, &t->request);
}

static void begin_batch(struct trace *t)
{
    take_batch(t);
    if (t->config.url == NULL) {
        print_batch(t);
        return;
    }
    trace_otlp__encode(&t->config, t->batch, &t->body);
    CHECK(!t->body.overflow); /* TRACE_SPAN_BYTES_MAX is the largest span */
    send_batch(t);
}

static void close_handles(struct trace *t)
{
    outgoing_close(t->outgoing);
    mailbox_close(&t->box);
    uv_close((uv_handle_t *)&t->timer, NULL);
    uv_close((uv_handle_t *)&t->close_timer, NULL);
}

/* Do what is due: the timer has run out, a batch has ended, or there are enough spans for one. */
static void go_on(struct trace *t)
{
    if (t->sending) {
        return;
    }
    (void)uv_timer_stop(&t->timer);
    if (t->batch != NULL) {
        send_batch(t);
    } else if (t->waiting != NULL) {
        begin_batch(t);
    } else if (t->closing) {
        close_handles(t);
    }
}

static void deliver_done(struct msg *m)
{
    struct trace_done *d = CONTAINER_OF(m, struct trace_done, msg);
    struct trace *t = d->trace;
    *t->waiting_end = d;
    t->waiting_end = &d->next;
    t->waiting_count++;
    if (t->batch != NULL) {
        return; /* the end of the batch goes on */
    }
    if (t->waiting_count >= BATCH_MAX) {
        go_on(t);
    } else if (uv_is_active((uv_handle_t *)&t->timer) == 0) {
        set_timer(t, t->config.linger_ms);
    }
}

/* ---- the thread ---- */

/* The time for the end is over: give up what is left. */
static void close_timer_cb(uv_timer_t *timer)
{
    struct trace *t = timer->data;
    if (t->sending) {
        t->sending = false;
        outgoing_cancel(&t->request);
        outgoing_request_deinit(&t->request);
    }
    drop(t, free_spans(t, t->waiting));
    t->waiting = NULL;
    (void)err_set(&t->why, ERR_STOPPING, "the server has stopped");
    end_batch(t);
}

static void deliver_close(struct msg *m)
{
    struct trace *t = CONTAINER_OF(m, struct trace, close_msg);
    t->closing = true;
    t->close_until.ns = os_clock_mono().ns + (int64_t)t->config.close_ms * NS_PER_MS;
    CHECK(uv_timer_start(&t->close_timer, close_timer_cb, t->config.close_ms, 0) == 0);
    go_on(t);
}

static void thread_main(void *data)
{
    struct trace *t = data;
    struct outgoing_config outgoing = {.connections_max = 1, .user_agent = t->config.user_agent};
    (void)pthread_setname_np(pthread_self(), "trace");
    CHECK(uv_loop_init(&t->loop) == 0);
    mailbox_open(&t->box, &t->loop);
    CHECK(uv_timer_init(&t->loop, &t->timer) == 0);
    CHECK(uv_timer_init(&t->loop, &t->close_timer) == 0);
    t->timer.data = t->close_timer.data = t;
    t->outgoing = outgoing_open(&t->loop, &outgoing);
    uv_sem_post(&t->opened);
    CHECK(uv_run(&t->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&t->box);
    CHECK(uv_loop_close(&t->loop) == 0);
}

struct trace *trace_open(const struct trace_config *config)
{
    struct trace *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    t->config = *config;
    t->waiting_end = &t->waiting;
    buf_init(&t->body, BATCH_BYTES_MAX);
    os_clock_random(&t->seed, sizeof t->seed);
    CHECK(uv_sem_init(&t->opened, 0) == 0);
    CHECK(uv_thread_create(&t->thread, thread_main, t) == 0);
    uv_sem_wait(&t->opened);
    return t;
}

void trace_close(struct trace *t)
{
    if (t == NULL) {
        return;
    }
    t->close_msg.deliver = deliver_close;
    bool posted = mailbox_post(&t->box, &t->close_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&t->thread) == 0);
    buf_deinit(&t->body);
    uv_sem_destroy(&t->opened);
    free(t);
}
