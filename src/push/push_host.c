/*
 * Hosts: their slots for calls, the circuit breaker, and the state that push_hosts publishes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "push/push_int.h"

enum {
    FAILURES_OPEN = 10, /* consecutive failures that open the breaker */
    /* Time between the starts of two calls while the breaker is open. It does not grow with each
     * failure: a job ends when its attempts are used up, and its attempts wait for this. It does
     * not depend on the end of the last call, which may hang for minutes although the next one
     * would not. */
    OPEN_MS = 1000,
    HOSTS_KEPT = 4096, /* above it, hosts without calls are forgotten */
    LATENCY_SHARE = 8, /* weight of the last call in the moving average: one eighth */
};

static bool is_open(const struct push_host *h)
{
    return h->failures >= FAILURES_OPEN;
}

/* There may be a free slot. */
static void has_place(struct courier_line *line)
{
    struct push_host *h = CONTAINER_OF(line, struct push_host, line);
    h->sender->wanted = true;
}

struct push_host *push_host__need(struct push_sender *s, struct str name)
{
    struct map_node *n = map_find(&s->hosts, name);
    if (n != NULL) {
        return CONTAINER_OF(n, struct push_host, node);
    }
    struct push_host *h = calloc(1, sizeof *h + name.len + 1);
    CHECK(h != NULL);
    if (name.len > 0) { /* empty for jobs without a URL */
        memcpy(h->name, name.ptr, name.len);
    }
    h->node.key = str_from(h->name, name.len);
    h->sender = s;
    h->shown.latency_us = -1;
    courier_line_init(&h->line, s->courier, h->node.key, has_place);
    uv_mutex_lock(&s->hosts_lock);
    map_add(&s->hosts, &h->node);
    uv_mutex_unlock(&s->hosts_lock);
    return h;
}

bool push_host__may_call(const struct push_host *h, uint64_t now_ms)
{
    return !is_open(h) || (h->reserved == NULL && now_ms >= h->open_until_ms);
}

struct push_call *push_host__reserve(struct push_host *h, uint64_t now_ms)
{
    if (!push_host__may_call(h, now_ms)) {
        return NULL;
    }
    struct push_call *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    if (!courier_begin(&h->line, &c->place, now_ms)) {
        free(c);
        return NULL;
    }
    c->sender = h->sender;
    c->host = h;
    c->next = h->reserved;
    h->reserved = c;
    h->calls++;
    return c;
}

void push_host__began(struct push_call *c)
{
    struct push_host *h = c->host;
    c->under_way = true;
    c->answers = h->answers;
    uv_mutex_lock(&h->sender->hosts_lock);
    h->shown.in_flight++;
    if (is_open(h)) {
        h->open_until_ms = uv_now(&h->sender->loop) + OPEN_MS;
        h->shown.probe_at.ns = c->started_at.ns + OPEN_MS * NS_PER_MS;
    }
    uv_mutex_unlock(&h->sender->hosts_lock);
}

void push_host__release(struct push_call *c, enum courier_end how)
{
    struct push_host *h = c->host;
    CHECK(h->calls > 0);
    h->calls--;
    if (c->under_way) {
        uv_mutex_lock(&h->sender->hosts_lock);
        h->shown.in_flight--;
        uv_mutex_unlock(&h->sender->hosts_lock);
    }
    courier_end(&c->place, how);
    arena_free(c->arena);
    free(c);
}

/* Update the published state. */
static void note(struct push_host *h, const struct command_push_end *end)
{
    struct push_host_shown *n = &h->shown;
    int64_t took_us = (end->ended_at.ns - end->started_at.ns) / NS_PER_US;
    bool ok = end->outcome == JOB_OUTCOME_COMPLETED;
    uv_mutex_lock(&h->sender->hosts_lock);
    n->succeeded += ok ? 1 : 0;
    n->failed += ok ? 0 : 1;
    n->failures = h->failures;
    if (!is_open(h)) {
        n->probe_at = WALL_NONE;
    } else if (n->probe_at.ns == 0) {
        n->probe_at.ns = end->ended_at.ns + OPEN_MS * NS_PER_MS;
    }
    n->latency_us =
        n->latency_us < 0 ? took_us : n->latency_us + (took_us - n->latency_us) / LATENCY_SHARE;
    n->called_at = end->started_at;
    if (!ok) {
        struct str text = str_is_utf8(end->error) ? end->error : STR("the call failed");
        text = str_at_most(text, sizeof n->error);
        memcpy(n->error, text.ptr, text.len);
        n->error_bytes = text.len;
        n->error_at = end->ended_at;
    }
    uv_mutex_unlock(&h->sender->hosts_lock);
}

void push_host__heard(struct push_call *c, bool answered, const struct command_push_end *end)
{
    struct push_host *h = c->host;
    struct push_sender *s = h->sender;
    bool was_open = is_open(h);
    if (answered) {
        h->answers++;
        h->failures = 0;
    } else if (h->answers == c->answers) { /* no call was answered since this one started */
        h->failures++;
    }
    if (is_open(h) != was_open) {
        h->open_until_ms = uv_now(&s->loop) + OPEN_MS;
        PUSH_COUNT(s, hosts_open, was_open ? -1 : 1);
        s->wanted = true;
    }
    note(h, end);
}

static void forget(struct push_host *h)
{
    struct push_sender *s = h->sender;
    if (is_open(h)) {
        PUSH_COUNT(s, hosts_open, -1);
    }
    map_remove(&s->hosts, &h->node);
    courier_line_deinit(&h->line);
    free(h);
}

static void sweep_one(struct map_node *n, void *data)
{
    struct push_host *h = CONTAINER_OF(n, struct push_host, node);
    (void)data;
    if (h->calls == 0) {
        forget(h);
    }
}

void push_host__sweep(struct push_sender *s)
{
    if (s->hosts.count > HOSTS_KEPT) {
        uv_mutex_lock(&s->hosts_lock);
        map_each(&s->hosts, sweep_one, NULL);
        uv_mutex_unlock(&s->hosts_lock);
    }
}

void push_host__open(struct push_sender *s)
{
    CHECK(uv_mutex_init(&s->hosts_lock) == 0);
    map_init(&s->hosts);
}

/* The lock remains, because push_hosts may still be called. It then finds no hosts. */
void push_host__close(struct push_sender *s)
{
    uv_mutex_lock(&s->hosts_lock);
    map_each(&s->hosts, sweep_one, NULL);
    CHECK(s->hosts.count == 0);
    map_deinit(&s->hosts);
    map_init(&s->hosts);
    uv_mutex_unlock(&s->hosts_lock);
}

struct tell {
    void (*each)(void *data, const struct push_host_seen *h);
    void *data;
    struct wall now;
};

static void tell_one(struct map_node *n, void *data)
{
    const struct tell *t = data;
    const struct push_host_shown *h = &CONTAINER_OF(n, struct push_host, node)->shown;
    bool open = h->probe_at.ns != 0;
    bool waits = open && h->in_flight == 0 && t->now.ns < h->probe_at.ns;
    if (n->key.len == 0) {
        return; /* jobs without a URL */
    }
    const struct push_host_seen seen = {
        .name = n->key,
        .in_flight = h->in_flight,
        .succeeded = h->succeeded,
        .failed = h->failed,
        .breaker = waits  ? PUSH_BREAKER_OPEN
                   : open ? PUSH_BREAKER_HALF_OPEN
                          : PUSH_BREAKER_CLOSED,
        .failures = h->failures,
        .probe_at = waits ? h->probe_at : WALL_NONE,
        .latency_us = h->latency_us,
        .called_at = h->called_at,
        .error = str_from(h->error, h->error_bytes),
        .error_at = h->error_at,
    };
    t->each(t->data, &seen);
}

void push_hosts(struct push_sender *s, void (*each)(void *data, const struct push_host_seen *h),
                void *data)
{
    struct tell t = {.each = each, .data = data, .now = engine_time(s->config.engine)};
    uv_mutex_lock(&s->hosts_lock);
    map_each(&s->hosts, tell_one, &t);
    uv_mutex_unlock(&s->hosts_lock);
}
