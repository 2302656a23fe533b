/*
 * Pushed jobs.
 *
 * A subscription has one claim at a time, which waits in the engine for jobs like any other fetch.
 * Each pushed job costs a credit. While there are credits and the client reads, another claim
 * follows. If the client has disconnected when jobs are claimed for it, they are returned to their
 * queues.
 *
 * A subscription that repeats the previous one only adds credits; the waiting claim is kept.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "base/unpack.h"
#include "binary/binary_int.h"

enum {
    SUBSCRIPTION_BYTES_MAX = 128 * 1024, /* enough for 255 names of queues */
    CREDITS_BYTES = 2,                   /* at the start of the payload */
    WAIT_S = 60,
    DEFAULT_LEASE_MS = 30000,
    MS_PER_S = 1000,
};

struct binary_claim {
    struct binary_conn *conn;
    struct arena *arena;       /* contains the subscription itself */
    struct arena *claim_arena; /* for one claim; reset for each */
    struct str words;          /* the payload without the credits */
    struct svc_caller who;
    struct binary_message_subscribe in;
    uint32_t number;
    uint32_t credits;
    struct engine_op op;
    bool used, busy;
    struct str next; /* replaces the subscription when the claim has ended; else empty */
    char *next_bytes;
    uint32_t next_number;
};

/* Claiming */

static void claim(struct binary_claim *s);

static void push_jobs(struct binary_claim *s, const struct result *r)
{
    struct binary_conn *c = s->conn;
    for (uint32_t i = 0; i < r->count; i++) {
        binary_held__end_before(c->binary, r->items[i].id);
    }
    size_t begin = binary_message_begin(&c->out, BINARY_JOBS, s->number);
    size_t count_at = c->out.len;
    uint16_t count = 0;
    pack_u16(&c->out, 0);
    for (uint32_t i = 0; i < r->count; i++) {
        ATTR_UNINITIALIZED struct svc_work_fetched job;
        struct err err;
        if (svc_work_fetched(&s->who, &r->items[i], &job, &err) == ERR_OK) {
            binary_message_job(&c->out, &job);
            binary_held__add(c, job.id, job.lease_token);
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
    s->credits = 0; /* until the client subscribes again */
    if (err->code == ERR_LEADER_UNAVAILABLE) {
        s->conn->sent_away = false; /* every subscription gets a response */
        binary_conn__outcome(s->conn, s->number, err->code);
    } else {
        binary_conn__error(s->conn, s->number, str_from_z(err->msg));
    }
    binary_conn__flush(s->conn);
}

static void take_answer(struct binary_claim *s)
{
    ATTR_UNINITIALIZED struct result r;
    struct arena *arena = s->conn->binary->answer;
    struct err err;
    arena_reset(arena);
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
    arena_reset(arena);
}

static void open_claim(struct binary_conn *c, uint32_t number, struct str payload,
                       uint32_t credits);

/* Replace the subscription by the one received meanwhile. The remaining credits are kept. */
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

/* Does the client still have the rights it subscribed with? Its key may have changed. */
static enum err_code check_caller(const struct binary_claim *s, struct err *err)
{
    struct binary_conn *c = s->conn;
    if (!binary_auth__may(c, BINARY_SUBSCRIBE)) {
        return err_set(err, ERR_FORBIDDEN, "%s", binary_auth__denied);
    }
    if (!str_eq(s->who.ns, c->who.ns) || !str_eq(s->who.scope, c->who.scope)) {
        return err_set(err, ERR_FORBIDDEN,
                       "the namespace or the queues of the credential have changed: subscribe "
                       "again");
    }
    return ERR_OK;
}

static void claim_done(struct engine_op *op)
{
    struct binary_claim *s = op->data;
    struct binary_conn *c = s->conn;
    struct err err;
    s->busy = false;
    bool leaves = c->closing || c->ended;
    if (!leaves && !binary_auth__is_known(c)) {
        binary_conn__close(c); /* its key was revoked while the claim waited */
        leaves = true;
    }
    bool refused = !leaves && check_caller(s, &err) != ERR_OK;
    if (leaves || refused) {
        (void)engine_give_back(c->binary->config.engine, op);
    } else {
        take_answer(s);
    }
    if (!leaves && s->next_bytes != NULL) {
        replace(s);
    } else if (refused) {
        refuse(s, &err);
    } else if (!leaves) {
        claim(s);
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
    if (s->busy || s->credits == 0 || c->closing || c->ended || binary_conn__is_full(c) ||
        b->stopping) {
        return;
    }
    if (!binary_auth__is_known(c)) {
        binary_conn__close(c); /* its key was revoked */
        return;
    }
    if (budget_is_spent(b->config.budget)) { /* claimed jobs would need more memory */
        (void)err_set(&err, ERR_OVERLOADED, "the server has reached its memory limit for requests");
        refuse(s, &err);
        return;
    }
    if (check_caller(s, &err) != ERR_OK) {
        refuse(s, &err);
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
    if (s->used) {
        engine_op_deinit(&s->op);
    }
    arena_reset(s->claim_arena);
    struct svc_caller who = binary_auth__caller(c, s->claim_arena);
    engine_op_init(&s->op);
    s->used = true;
    buf_set_budget(&s->op.result, b->config.budget);
    s->op.result.owed = true;
    s->op.done = claim_done;
    s->op.data = s;
    s->op.arena = s->claim_arena;
    s->op.reply_to = &b->mailbox;
    s->op.outbox = &b->outbox;
    if (svc_work_claim(&who, &fetch, &command, &wait_ms, &err) == ERR_OK) {
        s->op.park_ms = wait_ms;
        err.code = engine_op_prepare(b->config.engine, &s->op, &command, &err);
    }
    if (err.code != ERR_OK) {
        refuse(s, &err);
        return;
    }
    s->busy = true;
    engine_submit(b->config.engine, &s->op);
}

static void add_credits(struct binary_claim *s, uint32_t credits)
{
    s->credits += credits;
    s->credits = s->credits < BINARY_CREDITS_MAX ? s->credits : BINARY_CREDITS_MAX;
}

static void open_claim(struct binary_conn *c, uint32_t number, struct str payload, uint32_t credits)
{
    struct arena *arena = arena_new_budget(SUBSCRIPTION_BYTES_MAX, c->binary->config.budget);
    struct binary_claim *s = arena_need(arena, sizeof *s, _Alignof(max_align_t));
    struct err err;
    *s = (struct binary_claim){.conn = c, .arena = arena, .number = number, .credits = credits};
    s->claim_arena = arena_new_budget(SUBSCRIPTION_BYTES_MAX, c->binary->config.budget);
    s->who = binary_auth__caller(c, arena);
    c->claim = s;
    payload = arena_str(arena, payload);
    if (binary_message_subscribe(&s->who, payload, &s->in, &err) != ERR_OK) {
        refuse(s, &err);
        return;
    }
    s->words = str_from_offset(payload, CREDITS_BYTES);
    add_credits(s, s->in.credits);
    claim(s);
}

/* Is it the same subscription as before, by the same caller? */
static bool is_same(const struct binary_claim *s, struct str payload)
{
    const struct auth_caller *who = &s->conn->who;
    return payload.len > CREDITS_BYTES && s->words.len > 0 && s->next_bytes == NULL &&
           str_eq(str_from_offset(payload, CREDITS_BYTES), s->words) &&
           str_eq(s->who.ns, who->ns) && str_eq(s->who.scope, who->scope);
}

/* Every subscription adds credits, and its other fields replace the previous ones. */
void binary_claim__subscribe(struct binary_conn *c, uint32_t number, struct str payload)
{
    struct binary_claim *s = c->claim;
    struct unpack credits = unpack_from(payload);
    if (s != NULL && is_same(s, payload)) {
        s->number = number;
        add_credits(s, unpack_u16(&credits));
        claim(s); /* does nothing if one is in progress: another one follows it */
        return;
    }
    if (s == NULL || !s->busy) {
        uint32_t left = s != NULL ? s->credits : 0;
        binary_claim__free(c);
        open_claim(c, number, payload, left);
        return;
    }
    /* The claim in progress is for something else: cancel it and wait for it. */
    if (s->next_bytes != NULL) { /* keep the credits of the one that is waiting already */
        struct unpack before = unpack_from(s->next);
        s->credits += unpack_u16(&before);
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
    binary_held__forget_all(c);
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
        arena_free(s->claim_arena);
        arena_free(s->arena); /* the subscription is in it */
    }
}
