/*
 * Pushed jobs, and word of those that are cancelled.
 *
 * A subscription has one claim at a time, which waits in the engine for a job as any fetch does.
 * Its jobs are pushed and cost credits; while there are credits and the client reads, the next one
 * follows. Whoever is gone when jobs come for it does not get them: they go back.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "binary/binary_int.h"
#include "store/store_event.h"

enum {
    SUBSCRIPTION_BYTES_MAX = 128 * 1024, /* 255 names of queues */
    JOBS_BYTES_MAX = 256 << 20,          /* 512 of the largest size */
    WAIT_S = 60,
    DEFAULT_LEASE_MS = 30000,
    MS_PER_S = 1000,
};

struct binary_claim {
    struct binary_conn *conn;
    struct arena *arena; /* of the subscription, which it is in */
    struct svc_caller who;
    struct binary_message_subscribe in;
    uint32_t number;
    uint32_t credits;
    struct engine_op op;
    bool used, busy;
    struct str next; /* a subscription that takes its place when the claim is back; else empty */
    char *next_bytes;
    uint32_t next_number;
};

/* Jobs that a client has */

static void free_held(struct binary *b, struct binary_held *h)
{
    map_remove(&b->held, &h->node);
    *(h->prev == NULL ? &h->conn->held : &h->prev->next) = h->next;
    if (h->next != NULL) {
        h->next->prev = h->prev;
    }
    free(h);
    if (b->held.count == 0) {
        engine_watch_listen(b->watch, false);
    }
}

static struct str key_of(const struct id *id)
{
    return str_from(id->b, sizeof id->b);
}

static void hold(struct binary_conn *c, struct id id)
{
    struct binary *b = c->binary;
    struct binary_held *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    h->conn = c;
    h->id = id;
    h->node.key = key_of(&h->id);
    struct map_node *old = map_find(&b->held, h->node.key);
    if (old != NULL) { /* its lease ran out, and somebody else has it now */
        free_held(b, CONTAINER_OF(old, struct binary_held, node));
    }
    if (b->held.count == 0) {
        b->events_seen = engine_watch_next(b->watch);
        engine_watch_listen(b->watch, true);
    }
    map_add(&b->held, &h->node);
    h->next = c->held;
    if (c->held != NULL) {
        c->held->prev = h;
    }
    c->held = h;
}

void binary_claim__forget(struct binary_conn *c, struct str id)
{
    struct id job;
    struct map_node *node =
        id_parse(id, ID_JOB, &job) ? map_find(&c->binary->held, key_of(&job)) : NULL;
    if (node != NULL && CONTAINER_OF(node, struct binary_held, node)->conn == c) {
        free_held(c->binary, CONTAINER_OF(node, struct binary_held, node));
    }
}

/* What happens to a job that is held: is the worker to stop, or is there nothing to say any more?
 */
static bool ends_work(enum store_event_type type)
{
    return type == STORE_EVENT_CANCELLED || type == STORE_EVENT_DELETED ||
           type == STORE_EVENT_RECLAIMED || type == STORE_EVENT_EXPIRED ||
           type == STORE_EVENT_HELD || type == STORE_EVENT_MOVED;
}

static bool look_at(void *data, const struct store_event *e)
{
    struct binary *b = data;
    char text[ID_TEXT_MAX];
    b->events_seen = e->seq + 1;
    if (b->held.count == 0 || !ends_work(e->type)) {
        return b->held.count > 0;
    }
    struct map_node *node = map_find(&b->held, key_of(&e->job));
    if (node != NULL) {
        struct binary_conn *c = CONTAINER_OF(node, struct binary_held, node)->conn;
        size_t begin = binary_message_begin(&c->out, BINARY_CANCELLED, 0);
        pack_u16(&c->out, 1);
        binary_message_text(&c->out, str_from(text, id_format(e->job, ID_JOB, text)));
        binary_message_finish(&c->out, begin);
        free_held(b, CONTAINER_OF(node, struct binary_held, node));
        binary_conn__flush(c);
    }
    return true;
}

void binary_claim__events(void *binary)
{
    struct binary *b = binary;
    if (b->held.count > 0 && b->events_seen < engine_watch_next(b->watch)) {
        store_event_read(engine_store(b->config.engine), b->events_seen - 1, look_at, b);
    }
}

/* Claiming */

static void claim(struct binary_claim *s);

static void push_jobs(struct binary_claim *s, const struct result *r)
{
    struct binary_conn *c = s->conn;
    size_t begin = binary_message_begin(&c->out, BINARY_JOBS, s->number);
    size_t count_at = c->out.len;
    uint16_t count = 0;
    pack_u16(&c->out, 0);
    for (uint32_t i = 0; i < r->count; i++) {
        ATTR_UNINITIALIZED struct svc_work_fetched job;
        struct err err;
        if (svc_work_fetched(&s->who, &r->items[i], &job, &err) == ERR_OK) {
            binary_message_job(&c->out, &job);
            hold(c, job.id);
            count++;
        }
    }
    if (!c->out.overflow) {
        memcpy(c->out.ptr + count_at, &(uint16_t){htole16(count)}, sizeof count);
    }
    binary_message_finish(&c->out, begin);
    s->credits -= r->count < s->credits ? r->count : s->credits;
    binary_conn__flush(c);
}

static void refuse(struct binary_claim *s, const struct err *err)
{
    s->credits = 0; /* the client subscribes again, or knows better */
    if (err->code == ERR_LEADER_UNAVAILABLE) {
        s->conn->sent_away = false; /* each subscription is answered */
        binary_conn__outcome(s->conn, s->number, err->code);
    } else {
        binary_conn__error(s->conn, s->number, str_from_z(err->msg));
    }
    binary_conn__flush(s->conn);
}

static void take_answer(struct binary_claim *s)
{
    ATTR_UNINITIALIZED struct result r;
    struct arena *arena = arena_new_budget(JOBS_BYTES_MAX, s->conn->binary->config.budget);
    struct err err;
    arena_owe(arena);
    s->who.arena = arena;
    if (s->op.err.code != ERR_OK) {
        refuse(s, &s->op.err);
    } else if (!result_decode(buf_str(&s->op.result), arena, &r)) {
        (void)err_set(&err, ERR_INTERNAL, "the engine's answer cannot be read");
        refuse(s, &err);
    } else if (r.code != ERR_OK) {
        (void)err_set(&err, r.code, STR_FMT, STR_ARG(r.message));
        refuse(s, &err);
    } else if (r.count > 0) {
        binary_conn__outcome(s->conn, s->number, ERR_OK);
        push_jobs(s, &r);
    }
    s->who.arena = s->arena;
    arena_free(arena);
}

static void open_claim(struct binary_conn *c, uint32_t number, struct str payload,
                       uint32_t credits);

/* The subscription that came meanwhile takes over, with the credits that were left. */
static void replace(struct binary_claim *s)
{
    struct binary_conn *c = s->conn;
    char *bytes = s->next_bytes;
    struct str payload = s->next;
    uint32_t number = s->next_number;
    uint32_t credits = s->credits;
    s->next_bytes = NULL;
    binary_claim__free(c);
    open_claim(c, number, payload, credits);
    free(bytes);
}

static void claim_done(struct engine_op *op)
{
    struct binary_claim *s = op->data;
    struct binary_conn *c = s->conn;
    s->busy = false;
    if (c->closing) {
        (void)engine_give_back(c->binary->config.engine, op);
    } else {
        take_answer(s);
        if (s->next_bytes != NULL) {
            replace(s);
        } else {
            claim(s);
        }
    }
    binary_conn__settle(c);
}

static void claim(struct binary_claim *s)
{
    struct binary_conn *c = s->conn;
    struct binary *b = c->binary;
    ATTR_UNINITIALIZED struct command command;
    struct err err;
    int64_t wait_ms;
    if (s->busy || s->credits == 0 || c->closing || binary_conn__is_full(c) || b->stopping) {
        return;
    }
    if (!binary_auth__is_known(c)) {
        binary_conn__close(c); /* its key was taken away */
        return;
    }
    uint32_t lease_ms = s->in.lease_ms > 0 ? s->in.lease_ms : DEFAULT_LEASE_MS;
    struct svc_work_fetch fetch = {
        .queues = s->in.queues,
        .queues_count = s->in.queue_count,
        .worker_id = s->in.worker_id,
        .timeout = WAIT_S,
        .lease_duration = (lease_ms + MS_PER_S - 1) / MS_PER_S,
        .count = s->credits < LIMIT_CLAIM_COUNT ? s->credits : LIMIT_CLAIM_COUNT,
    };
    struct arena *arena = arena_new_budget(SUBSCRIPTION_BYTES_MAX, b->config.budget);
    struct svc_caller who = binary_auth__caller(c, arena);
    if (s->used) {
        engine_op_deinit(&s->op);
    }
    engine_op_init(&s->op);
    s->used = true;
    buf_set_budget(&s->op.result, b->config.budget);
    s->op.result.owed = true;
    s->op.done = claim_done;
    s->op.data = s;
    s->op.reply_to = &b->mailbox;
    s->op.lane = &b->lane;
    if (svc_work_claim(&who, &fetch, &command, &wait_ms, &err) == ERR_OK) {
        s->op.park_ms = wait_ms;
        err.code = engine_op_prepare(b->config.engine, &s->op, &command, &err);
    }
    arena_free(arena);
    if (err.code != ERR_OK) {
        refuse(s, &err);
        return;
    }
    s->busy = true;
    engine_submit(b->config.engine, &s->op);
}

static void open_claim(struct binary_conn *c, uint32_t number, struct str payload, uint32_t credits)
{
    struct arena *arena = arena_new_budget(SUBSCRIPTION_BYTES_MAX, c->binary->config.budget);
    struct binary_claim *s = arena_need(arena, sizeof *s, _Alignof(max_align_t));
    struct err err;
    *s = (struct binary_claim){.conn = c, .arena = arena, .number = number, .credits = credits};
    s->who = binary_auth__caller(c, arena);
    c->claim = s;
    payload = arena_str(arena, payload);
    if (binary_message_subscribe(&s->who, payload, &s->in, &err) != ERR_OK) {
        refuse(s, &err);
        return;
    }
    s->credits += s->in.credits;
    s->credits = s->credits < BINARY_CREDITS_MAX ? s->credits : BINARY_CREDITS_MAX;
    claim(s);
}

/* Each one grants credits; what it asks for takes the place of what was asked for before. */
void binary_claim__subscribe(struct binary_conn *c, uint32_t number, struct str payload)
{
    struct binary_claim *s = c->claim;
    if (s == NULL || !s->busy) {
        uint32_t credits = s != NULL ? s->credits : 0;
        binary_claim__free(c);
        open_claim(c, number, payload, credits);
        return;
    }
    /* The claim under way asks for something else, or for fewer: it comes back first. */
    if (s->next_bytes != NULL) { /* one that waits already: its credits count */
        struct binary_message_subscribe before;
        struct arena *arena = arena_new(SUBSCRIPTION_BYTES_MAX);
        struct svc_caller who = binary_auth__caller(c, arena);
        struct err err;
        if (binary_message_subscribe(&who, s->next, &before, &err) == ERR_OK) {
            s->credits += before.credits;
        }
        arena_free(arena);
        free(s->next_bytes);
    }
    s->next_bytes = malloc(payload.len > 0 ? payload.len : 1);
    CHECK(s->next_bytes != NULL);
    memcpy(s->next_bytes, payload.ptr, payload.len);
    s->next = str_from(s->next_bytes, payload.len);
    s->next_number = number;
    engine_cancel(c->binary->config.engine, &s->op);
}

void binary_claim__go_on(struct binary_conn *c)
{
    if (c->claim != NULL) {
        claim(c->claim);
    }
}

void binary_claim__leave(struct binary_conn *c)
{
    while (c->held != NULL) {
        free_held(c->binary, c->held);
    }
    if (c->claim != NULL && c->claim->busy) {
        engine_cancel(c->binary->config.engine, &c->claim->op);
    }
}

bool binary_claim__is_busy(const struct binary_conn *c)
{
    return c->claim != NULL && c->claim->busy;
}

void binary_claim__free(struct binary_conn *c)
{
    struct binary_claim *s = c->claim;
    if (s != NULL) {
        CHECK(!s->busy);
        if (s->used) {
            engine_op_deinit(&s->op);
        }
        free(s->next_bytes);
        c->claim = NULL;
        arena_free(s->arena); /* the claim is in it */
    }
}
