#include "push/push.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "push/push_int.h"

struct push_config push_config_default(void)
{
    return (struct push_config){
        .lease_ms = 5LL * 60 * 1000,
        .keep_ms = 30LL * 24 * 3600 * 1000,
        .calls_max = 2048,
        .host_calls_max = 256,
        .drain_ms = 10000,
        .slot_ms = 10000,
    };
}

static void timer_cb(uv_timer_t *timer)
{
    struct push_sender *s = timer->data;
    if (uv_now(&s->loop) >= s->due_ms) {
        s->due_ms = UINT64_MAX;
        s->wanted = true;
    }
    push__step(s);
}

static void soonest(uint64_t *due, uint64_t at)
{
    *due = at < *due ? at : *due;
}

static void arm(struct push_sender *s)
{
    uint64_t now_ms = uv_now(&s->loop);
    uint64_t due_ms = courier_due_ms(s->courier);
    soonest(&due_ms, s->due_ms);
    soonest(&due_ms, s->stopping ? UINT64_MAX : push_log__due_ms(s));
    if (s->waiting != NULL || s->filling != NULL) {
        soonest(&due_ms, s->retry_ms > now_ms ? s->retry_ms : UINT64_MAX);
    }
    if (s->leads && !s->purge_busy && s->config.keep_ms > 0) {
        soonest(&due_ms, s->purge_due_ms);
    }
    if (s->stopping) {
        soonest(&due_ms, s->drain_until_ms);
    }
    if (due_ms == UINT64_MAX) {
        (void)uv_timer_stop(&s->timer);
    } else {
        uint64_t in_ms = due_ms > now_ms ? due_ms - now_ms : 0;
        CHECK(uv_timer_start(&s->timer, timer_cb, in_ms, 0) == 0);
    }
}

static void show(struct push_sender *s)
{
    struct courier_numbers n = courier_numbers(s->courier);
    atomic_store(&s->counters.slow, n.slow);
    atomic_store(&s->counters.hosts_hung, n.hosts_hung);
}

/* Only the leader delivers. When this node loses leadership, its running calls are aborted. */
static void follow(struct push_sender *s)
{
    bool leads = engine_leads(s->config.engine);
    if (leads != s->leads) {
        s->leads = leads;
        s->wanted = leads;
        if (!leads) {
            push_call__abort_all(s, false);
        }
        if (leads) { /* the contract requires this text */
            log_info("CLUSTER READY", LOG_STR("node_id", s->config.node_id),
                     LOG_Z("meaning", "this node leads and makes the calls of jobs"));
        } else if (!s->stopping) {
            log_warn("leadership lost", LOG_Z("meaning", "the calls of jobs are broken off"));
        }
    }
}

static void wind_up(struct push_sender *s)
{
    if (s->calls.count > 0 && (uv_now(&s->loop) >= s->drain_until_ms || !s->leads)) {
        push_call__abort_all(s, s->leads);
        push_finish__step(s);
        s->drain_until_ms = UINT64_MAX;
    }
    if (s->calls.count > 0 || s->look_busy || s->claim_busy || s->log.busy ||
        !push_finish__is_idle(s) || s->closing) {
        return;
    }
    s->closing = true;
    outgoing_close(s->outgoing);
    engine_push_close(s->push);
    engine_notifier_close(s->notifier);
    uv_close((uv_handle_t *)&s->timer, NULL);
    mailbox_close(&s->box);
}

void push__step(struct push_sender *s)
{
    if (s->closing) {
        return;
    }
    follow(s);
    courier_turn(s->courier, uv_now(&s->loop));
    push_finish__step(s);
    push_claim__step(s);
    push_host__sweep(s);
    show(s);
    if (s->stopping) {
        wind_up(s);
    } else {
        push_log__step(s);
    }
    if (!s->closing) {
        arm(s);
    }
}

static void told(void *data)
{
    push__step(data);
}

static void ready(void *data)
{
    struct push_sender *s = data;
    s->wanted = true;
    push__step(s);
}

static void gone(void *data, struct id job)
{
    struct push_sender *s = data;
    struct map_node *n = map_find(&s->calls, str_from(job.b, ID_BYTES));
    if (n != NULL) {
        push_meter__aborted(CONTAINER_OF(n, struct push_call, node));
        push_call__abort(CONTAINER_OF(n, struct push_call, node));
        s->wanted |= s->more;
        push__step(s);
    }
}

static void lost(void *data, struct str name, uint32_t attempt, bool last)
{
    const struct push_sender *s = data;
    if (s->leads) { /* every node is told */
        push_log__lost(name, attempt, last);
    }
}

static void deliver_stop(struct msg *m)
{
    struct push_sender *s = CONTAINER_OF(m, struct push_sender, stop_msg);
    s->stopping = true;
    s->drain_until_ms = uv_now(&s->loop) + (uint64_t)s->config.drain_ms;
    push__step(s);
}

static struct courier_config places(const struct push_config *config)
{
    struct courier_config c = courier_config_default();
    c.calls_max = config->calls_max;
    c.fast_max = config->calls_max / 2 + config->calls_max % 2;
    c.slow_max = config->calls_max - config->calls_max / 4;
    c.host_max = config->host_calls_max < c.fast_max ? config->host_calls_max : c.fast_max;
    c.new_max = c.host_max < 32 ? c.host_max : 32;
    c.hung_max = 2;
    return c;
}

static void standing_known(struct engine_call *call)
{
    struct push_sender *s = call->data;
    push_log__known(s);
    push__step(s);
}

static void sender_main(void *data)
{
    struct push_sender *s = data;
    struct courier_config courier = places(&s->config);
    struct outgoing_config outgoing = {.guard = s->config.guard,
                                       .connections_max = s->config.calls_max,
                                       .kept_max = s->config.calls_max,
                                       .body_ms = LIMIT_PUSH_BODY_MS,
                                       .http2 = true,
                                       .user_agent = s->config.user_agent};
    struct engine_push_told push = {.ready = ready, .gone = gone, .lost = lost, .data = s};
    (void)pthread_setname_np(pthread_self(), "push");
    CHECK(uv_loop_init(&s->loop) == 0);
    mailbox_open(&s->box, &s->loop);
    CHECK(uv_timer_init(&s->loop, &s->timer) == 0);
    s->timer.data = s;
    push_host__open(s);
    map_init(&s->calls);
    s->outgoing = outgoing_open(&s->loop, &outgoing);
    s->courier = courier_new(&courier);
    push_claim__open(s);
    push_finish__open(s);
    push_log__open(s, standing_known);
    s->notifier = engine_notifier_open(s->config.engine, &s->box, told, s);
    s->push = engine_push_open(s->config.engine, &s->box, &push);
    uv_sem_post(&s->opened);
    push__step(s);
    CHECK(uv_run(&s->loop, UV_RUN_DEFAULT) == 0);
    push_finish__close(s);
    push_claim__close(s);
    push_host__close(s);
    map_deinit(&s->calls);
    courier_free(s->courier);
    mailbox_deinit(&s->box);
    CHECK(uv_loop_close(&s->loop) == 0);
}

struct push_sender *push_open(const struct push_config *config)
{
    struct push_sender *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->config = *config;
    (void)snprintf(s->worker, sizeof s->worker, "push:" STR_FMT, STR_ARG(config->node_id));
    CHECK(uv_sem_init(&s->opened, 0) == 0);
    CHECK(uv_thread_create(&s->thread, sender_main, s) == 0);
    uv_sem_wait(&s->opened);
    return s;
}

void push_stop(struct push_sender *s)
{
    if (s == NULL) {
        return;
    }
    s->stop_msg.deliver = deliver_stop;
    bool posted = mailbox_post(&s->box, &s->stop_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&s->thread) == 0);
}

void push_free(struct push_sender *s)
{
    if (s != NULL) {
        uv_sem_destroy(&s->opened);
        uv_mutex_destroy(&s->hosts_lock);
        free(s);
    }
}

void push_stats(const struct push_sender *s, struct push_stats *out)
{
#define GET(name) out->name = atomic_load(&s->counters.name);
    PUSH_STATS_LIST(GET)
#undef GET
}
