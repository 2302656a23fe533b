#include "http/http_loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "http/http2_int.h"
#include "http/http_listener_int.h"
#include "http/http_loop_int.h"
#include "log/log.h"

enum {
    TICK_MS_MAX = 500,
    TICK_MS_MIN = 5,
    ROUNDS_MAX = 4, /* per turn; an answer may make room for a request, and so on */
};

struct mailbox *http_loop_mailbox(struct http_loop *loop)
{
    return &loop->mailbox;
}

uv_loop_t *http_loop_uv(struct http_loop *loop)
{
    return &loop->uv;
}

unsigned http_loop_index(const struct http_loop *loop)
{
    return loop->index;
}

size_t http_loop_conn_count(const struct http_loop *loop)
{
    return loop->conn_count;
}

bool http_loop_stopping(const struct http_loop *loop)
{
    return loop->stopping;
}

/* ---- the end of a turn ---- */

static bool has_work(const struct http_loop *loop)
{
    return loop->turn_first != NULL || loop->later_first != NULL;
}

/* Process each listed connection. Connections added meanwhile wait for the next round. */
static void run_turns(struct http_loop *loop)
{
    struct http_conn *c = TAKE(loop->turn_first);
    loop->turn_last = &loop->turn_first;
    while (c != NULL) {
        struct http_conn *next = c->turn_next;
        c->in_turn = false;
        http_conn__turn(c);
        c = next;
    }
}

static void run_later(struct http_loop *loop)
{
    struct http_exchange *x = TAKE(loop->later_first);
    loop->later_last = &loop->later_first;
    while (x != NULL) {
        struct http_exchange *next = x->later_next;
        x->later = false;
        http_exchange__step(x);
        x = next;
    }
}

static void run_recycling(struct http_loop *loop)
{
    struct http_exchange *x = TAKE(loop->ended_exchanges);
    while (x != NULL) {
        struct http_exchange *next = x->next;
        if (x->later) {
            x->next = loop->ended_exchanges; /* still in the list for the next round */
            loop->ended_exchanges = x;
        } else {
            http_exchange__recycle(x);
        }
        x = next;
    }
}

static void close_handles(struct http_loop *loop)
{
    loop->closed = true;
    mailbox_close(&loop->mailbox);
    uv_close((uv_handle_t *)&loop->end_of_turn, NULL);
    uv_close((uv_handle_t *)&loop->again, NULL);
    uv_close((uv_handle_t *)&loop->tick, NULL);
}

/* Close the loop if nothing is left that could return to this thread. */
static void maybe_close(struct http_loop *loop)
{
    bool over = loop->stopping && !has_work(loop) && loop->conn_count == 0 &&
                loop->exchange_count == 0 &&
                (loop->listener == NULL || http_listener__is_idle(loop->listener));
    if (!over || loop->closed) {
        return;
    }
    if (loop->config->on_loop_stop != NULL) {
        loop->config->on_loop_stop(loop->config->data, loop);
    }
    close_handles(loop);
}

static void again_cb(uv_idle_t *idle)
{
    (void)idle; /* being active is enough: the loop does not block */
}

static void tell_turn(struct http_loop *loop)
{
    if (loop->config->on_loop_turn != NULL) {
        loop->config->on_loop_turn(loop->config->data, loop);
    }
}

static void end_of_turn_cb(uv_prepare_t *prepare)
{
    struct http_loop *loop = prepare->data;
    for (unsigned i = 0; i < ROUNDS_MAX && has_work(loop); i++) {
        run_later(loop);
        tell_turn(loop); /* other threads process the input while answers are written */
        log_flush();     /* write log lines before the answers that they concern */
        run_turns(loop);
    }
    run_recycling(loop);
    tell_turn(loop);
    log_flush();
    /* Streaming to a fast client could continue forever: poll the loop in between. */
    CHECK((has_work(loop) ? uv_idle_start(&loop->again, again_cb) : uv_idle_stop(&loop->again)) ==
          0);
    maybe_close(loop);
}

/* ---- time ---- */

static void tick_cb(uv_timer_t *timer)
{
    struct http_loop *loop = timer->data;
    uint64_t now_ms = http_loop__now_ms(loop);
    bool cut = loop->stopping && now_ms >= loop->stop_ms;
    struct http_exchange *next_x = NULL;
    for (struct http_exchange *x = loop->exchanges; x != NULL; x = next_x) {
        next_x = x->next;
        http_exchange__expire(x, now_ms);
    }
    for (struct http_conn *c = loop->conns; c != NULL; c = c->next) {
        if (cut) {
            http_conn__doom(c);
        } else {
            http_conn__expire(c, now_ms);
        }
    }
}

/* At most a quarter of the shortest timeout. */
static uint64_t tick_ms(const struct http_limits *limits)
{
    const uint32_t timeouts[] = {limits->header_timeout_ms, limits->body_timeout_ms,
                                 limits->idle_timeout_ms, limits->write_timeout_ms,
                                 limits->linger_timeout_ms};
    uint64_t ms = TICK_MS_MAX;
    for (size_t i = 0; i < COUNT_OF(timeouts); i++) {
        ms = timeouts[i] / 4 < ms ? timeouts[i] / 4 : ms;
    }
    return ms < TICK_MS_MIN ? TICK_MS_MIN : ms;
}

/* ---- messages ---- */

struct stop_msg {
    struct msg msg;
    struct http_loop *loop;
    uint32_t timeout_ms;
};

static void stop_deliver(struct msg *m)
{
    struct stop_msg *stop = CONTAINER_OF(m, struct stop_msg, msg);
    struct http_loop *loop = stop->loop;
    loop->stopping = true;
    loop->stop_ms = http_loop__now_ms(loop) + stop->timeout_ms;
    free(stop);
    if (loop->listener != NULL) {
        http_listener__stop(loop->listener);
    }
    for (struct http_exchange *x = loop->exchanges; x != NULL; x = x->next) {
        http_exchange__later(x);
    }
    for (struct http_conn *c = loop->conns; c != NULL; c = c->next) {
        http_conn__stop(c);
    }
    /* The tick closes the remaining connections. With a short timeout, a regular tick would be too
     * late. */
    uint64_t left_ms = loop->stop_ms - http_loop__now_ms(loop);
    uint64_t every_ms = uv_timer_get_repeat(&loop->tick);
    CHECK(uv_timer_start(&loop->tick, tick_cb, left_ms < every_ms ? left_ms : every_ms,
                         TICK_MS_MIN) == 0);
}

void http_loop__stop(struct http_loop *loop, uint32_t timeout_ms)
{
    struct stop_msg *stop = calloc(1, sizeof *stop);
    CHECK(stop != NULL);
    stop->msg.deliver = stop_deliver;
    stop->loop = loop;
    stop->timeout_ms = timeout_ms;
    CHECK(mailbox_post(&loop->mailbox, &stop->msg));
}

struct tls_msg {
    struct msg msg;
    struct http_loop *loop;
    SSL_CTX *context;
};

static void tls_deliver(struct msg *m)
{
    struct tls_msg *tls = CONTAINER_OF(m, struct tls_msg, msg);
    SSL_CTX_free(tls->loop->tls);
    tls->loop->tls = tls->context;
    free(tls);
}

void http_loop__set_tls(struct http_loop *loop, SSL_CTX *context)
{
    struct tls_msg *tls = calloc(1, sizeof *tls);
    CHECK(tls != NULL);
    tls->msg.deliver = tls_deliver;
    tls->loop = loop;
    tls->context = context;
    if (!mailbox_post(&loop->mailbox, &tls->msg)) {
        SSL_CTX_free(context);
        free(tls);
    }
}

/* ---- the thread ---- */

static void thread_main(void *data)
{
    struct http_loop *loop = data;
    char name[16];
    loop->self = uv_thread_self();
    (void)snprintf(name, sizeof name, "http.%u", loop->index);
    (void)pthread_setname_np(pthread_self(), name);
    /* Writing to a socket that the client has closed must fail, not raise a signal. */
    sigset_t pipe_signal;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);

    if (loop->config->on_loop_start != NULL) {
        loop->config->on_loop_start(loop->config->data, loop);
    }
    if (loop->listener != NULL) {
        http_listener__start(loop->listener);
    }
    struct log_batch lines;
    log_collect(&lines);
    CHECK(uv_run(&loop->uv, UV_RUN_DEFAULT) == 0);
    log_collect(NULL);
    loop->ended(loop);
}

void http_loop__init(struct http_loop *loop)
{
    loop->turn_last = &loop->turn_first;
    loop->later_last = &loop->later_first;
    loop->blocks.budget = loop->config->budget;
    loop->read_room = malloc(HTTP_LOOP_READ_BYTES);
    loop->plain_room = malloc(HTTP_LOOP_READ_BYTES);
    CHECK(loop->read_room != NULL);
    CHECK(loop->plain_room != NULL);
    loop->h2 = http2__shared_new(loop->config);
    CHECK(uv_loop_init(&loop->uv) == 0);
    /* No thread runs the loop yet, so the current thread may set it up. */
    mailbox_open(&loop->mailbox, &loop->uv);
    CHECK(uv_prepare_init(&loop->uv, &loop->end_of_turn) == 0);
    CHECK(uv_idle_init(&loop->uv, &loop->again) == 0);
    CHECK(uv_timer_init(&loop->uv, &loop->tick) == 0);
    loop->end_of_turn.data = loop;
    loop->tick.data = loop;
    CHECK(uv_prepare_start(&loop->end_of_turn, end_of_turn_cb) == 0);
    uint64_t every_ms = tick_ms(loop->limits);
    CHECK(uv_timer_start(&loop->tick, tick_cb, every_ms, every_ms) == 0);
}

void http_loop__start(struct http_loop *loop)
{
    CHECK(uv_thread_create(&loop->thread, thread_main, loop) == 0);
}

void http_loop__deinit(struct http_loop *loop, bool started)
{
    if (started) {
        CHECK(uv_thread_join(&loop->thread) == 0);
    } else {
        close_handles(loop);
        CHECK(uv_run(&loop->uv, UV_RUN_DEFAULT) == 0);
    }
    CHECK(loop->exchanges == NULL);
    while (loop->spare != NULL) {
        struct http_exchange *x = loop->spare;
        loop->spare = x->next;
        http_exchange__free(x);
    }
    mailbox_deinit(&loop->mailbox);
    CHECK(uv_loop_close(&loop->uv) == 0);
    http_out_cache_clear(&loop->blocks);
    http2__shared_free(loop->h2);
    SSL_CTX_free(loop->tls);
    free(loop->read_room);
    free(loop->plain_room);
}
