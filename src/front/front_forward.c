#include "front/front_forward.h"

#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_ask.h"
#include "front/front_gate_int.h"
#include "http/http_field.h"
#include "http/http_loop.h"
#include "log/log.h"

enum {
    LOOK_MS = 20,             /* how often to check for the leader while requests wait for it */
    RETRY_MS = 50,            /* before the same node is tried again */
    PATIENCE_MS = 3000,       /* without a leader, for a request that cannot have taken effect */
    PATIENCE_SENT_MS = 10000, /* for one that may have */
    STOP_MS = 1000,           /* while this node stops */
    SETTLE_MS = 2000,         /* for this node to apply a change before its response */
    CATCH_UP_MS = 200,        /* the same, before a read */
    WARN_EVERY_MS = 1000,     /* between warnings that the leader could not be reached */
    HOLD_BYTES = 64 << 10,    /* responses below this size are sent as a whole, or not at all */
    HEADERS_MAX = 160,
    OWN_HEADERS = 5, /* of these, the headers that this node adds */
};

/* End */

/* Does it wait for the timer? */
static unsigned waits(const struct front_forward *f)
{
    return f->state == FORWARD_WAITING || f->state == FORWARD_APPLYING ? 1 : 0;
}

static void set_state(struct front_forward *f, enum front_forward_state state)
{
    f->gate->waiting -= waits(f);
    f->state = state;
    f->gate->waiting += waits(f);
}

/* The request goes back to the owner, or is finished. */
static void let_go(struct front_forward *f)
{
    struct front_gate *g = f->gate;
    set_state(f, FORWARD_RELAYING);
    relay_stream_deinit(&f->stream);
    *f->prev = f->next;
    if (f->next != NULL) {
        f->next->prev = f->prev;
    }
    g->stopping -= f->stop_ms != 0 ? 1 : 0;
    g->limited -= f->deadline_ms != 0 ? 1 : 0;
    if (g->first == NULL) {
        (void)uv_timer_stop(&g->timer);
        g->ticking = false;
    }
}

static void warn(const struct front_forward *f, const char *message)
{
    struct front_gate *g = f->gate;
    uint64_t now_ms = uv_now(g->loop);
    if (g->warned_ms == 0 || now_ms - g->warned_ms > WARN_EVERY_MS) {
        g->warned_ms = now_ms;
        log_warn("leader proxy failed", LOG_STR("target", f->sent_url), LOG_Z("error", message));
    }
}

static void end(struct front_forward *f, enum err_code code, const char *message)
{
    struct err err;
    let_go(f);
    (void)err_set(&err, code, "%s", message);
    f->ops->failed(f->data, &err);
}

static void fail(struct front_forward *f, enum err_code code, const char *message)
{
    warn(f, message);
    atomic_fetch_add_explicit(&f->gate->shared->failed_total, 1, memory_order_relaxed);
    end(f, code, message);
}

static bool may_have_happened(const struct front_forward *f)
{
    return f->touched && !id_is_none(f->operation);
}

static void give_up(struct front_forward *f)
{
    if (may_have_happened(f)) {
        struct err err;
        (void)err_set_default(&err, ERR_UNKNOWN_OUTCOME);
        fail(f, ERR_UNKNOWN_OUTCOME, err.msg);
    } else {
        fail(f, ERR_LEADER_UNAVAILABLE,
             f->sent_count > 0 ? "leader proxy unavailable" : err_text(ERR_LEADER_UNAVAILABLE));
    }
}

/* Sending */

static void moved(struct relay_stream *s);

/* Headers that belong to this connection or this node are not forwarded. */
static bool is_handed_on(struct str name)
{
    static const char *const own[] = {"host",
                                      "content-length",
                                      "x-corvo-forwarded",
                                      "x-request-id",
                                      "x-corvo-peer",
                                      "x-corvo-node",
                                      "expect",
                                      "x-corvo-index",
                                      "x-corvo-outcome",
                                      "x-corvo-proxy-stream",
                                      "x-corvo-operation"};
    for (size_t i = 0; i < COUNT_OF(own); i++) {
        if (str_eq_nocase(name, str_from_z(own[i]))) {
            return false;
        }
    }
    return !http_field_is_connections(name);
}

static struct str lower(struct arena *a, struct str text)
{
    char *out = arena_need(a, text.len + 1, 1);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return str_from(out, text.len);
}

static size_t put_headers(const struct front_forward *f, struct http_header *out)
{
    const struct http_request *req = f->req;
    const struct front_peer_key *key = &f->gate->shared->key;
    size_t count = 0;
    for (size_t i = 0; i < req->header_count && count < HEADERS_MAX - OWN_HEADERS; i++) {
        if (is_handed_on(req->headers[i].name) &&
            (f->span == NULL || !str_eq_nocase(req->headers[i].name, STR("traceparent")))) {
            out[count++] = (struct http_header){.name = lower(req->arena, req->headers[i].name),
                                                .value = req->headers[i].value};
        }
    }
    out[count++] = (struct http_header){STR("x-corvo-forwarded"), STR("1")};
    out[count++] = (struct http_header){STR("x-request-id"), f->request_id};
    out[count++] = (struct http_header){FRONT_NODE_HEADER, str_from_z(f->gate->shared->node_id)};
    if (f->span != NULL) {
        char *room = arena_need(req->arena, TRACE_PARENT_BYTES, 1);
        out[count++] =
            (struct http_header){STR("traceparent"), trace_context_format(&f->span->context, room)};
    }
    if (key->is_set) {
        struct front_peer peer = {.address = f->client_address,
                                  .operation = f->operation,
                                  .since = f->touched ? f->since : 0};
        out[count++] =
            (struct http_header){FRONT_PEER_HEADER, front_peer_sign(key, &peer, req->method_name,
                                                                    req->target, req->arena)};
    }
    return count;
}

static void body_taken(struct relay_stream *s, size_t n)
{
    struct front_forward *f = s->data;
    http_request_consume(f->req, n);
}

static void send_off(struct front_forward *f)
{
    struct front_gate *g = f->gate;
    struct http_header *headers =
        arena_need(f->req->arena, sizeof(struct http_header) * HEADERS_MAX, _Alignof(max_align_t));
    struct relay_request request = {.url = str_from_z(g->leader.http_url),
                                    .method = f->req->method_name,
                                    .target = f->req->target,
                                    .headers = headers,
                                    .header_count = put_headers(f, headers),
                                    .body = f->collected ? f->req->body : STR_EMPTY,
                                    .body_open = f->streams};
    relay_stream_deinit(&f->stream);
    f->stream = (struct relay_stream){
        .moved = moved, .taken = body_taken, .data = f, .arena = f->req->arena};
    atomic_fetch_add_explicit(f->sent_count++ == 0 ? &g->shared->forwarded_total
                                                   : &g->shared->retried_total,
                              1, memory_order_relaxed);
    f->sent_to = g->leader.id;
    f->sent_url = arena_str(f->req->arena, request.url);
    set_state(f, FORWARD_SENT);
    relay_send(g->relay, &f->stream, &request);
    if (f->streams && !f->reading) {
        f->reading = true;
        http_request_stream(f->req);
    }
}

static void wait_for_leader(struct front_forward *f)
{
    struct front_gate *g = f->gate;
    set_state(f, FORWARD_WAITING);
    if (f->lost_ms == 0) {
        f->lost_ms = uv_now(g->loop);
    }
}

/* Send the request to the leader, or wait until there is one. */
static void try_leader(struct front_forward *f)
{
    struct front_gate *g = f->gate;
    front_gate__look(g);
    if (g->leader.self) {
        let_go(f);
        f->ops->here(f->data);
    } else if (g->leader.id != 0) {
        send_off(f);
    } else {
        wait_for_leader(f);
    }
}

/* The request was sent, and the outcome is not known. */
static void lost(struct front_forward *f, bool untouched)
{
    f->touched = f->touched || !untouched;
    relay_stream_deinit(&f->stream);
    f->retry_ms = uv_now(f->gate->loop) + RETRY_MS;
    wait_for_leader(f);
    if (f->reading) {
        give_up(f); /* the part of its body that was forwarded is gone */
    }
}

/* Time */

/* A request that was sent may have taken effect even if its connection still stands. */
static bool is_out_of_patience(const struct front_forward *f, uint64_t now_ms)
{
    bool is_sent = may_have_happened(f) || (f->state == FORWARD_SENT && !id_is_none(f->operation));
    uint64_t patience = is_sent ? PATIENCE_SENT_MS : PATIENCE_MS;
    uint64_t since = f->state == FORWARD_WAITING ? f->lost_ms : f->gate->leaderless_ms;
    return since != 0 && now_ms - since > patience;
}

static bool is_applied(const struct front_forward *f)
{
    return engine_ask_applied(f->gate->shared->engine) >= f->index;
}

static void finish_whole(struct front_forward *f);

/* The wait for this node to apply the entry is over. */
static void applied(struct front_forward *f)
{
    if (f->stream.ended) {
        finish_whole(f);
    } else {
        let_go(f);
        f->ops->here(f->data);
    }
}

static void look_at_applied(struct front_forward *f, uint64_t now_ms)
{
    if (is_applied(f) || now_ms >= f->apply_ms || f->stop_ms != 0) {
        applied(f);
    }
}

static void look_at(struct front_forward *f, uint64_t now_ms)
{
    const struct engine_leader *l = &f->gate->leader;
    if (f->state == FORWARD_APPLYING) {
        look_at_applied(f, now_ms);
        return;
    }
    if (f->deadline_ms != 0 && now_ms >= f->deadline_ms && f->state <= FORWARD_SENT) {
        end(f, ERR_DEADLINE, err_text(ERR_DEADLINE));
        return;
    }
    if (f->state == FORWARD_SENT && (l->self || (l->id != 0 && l->id != f->sent_to))) {
        lost(f, false);
        return;
    }
    if (f->stop_ms != 0 && now_ms >= f->stop_ms && f->state <= FORWARD_SENT) {
        f->touched = f->touched || f->state == FORWARD_SENT;
        fail(f, ERR_STOPPING, err_text(ERR_STOPPING));
        return;
    }
    if (f->state == FORWARD_SENT && is_out_of_patience(f, now_ms)) {
        f->touched = true;
        give_up(f);
        return;
    }
    if (f->state == FORWARD_WAITING) {
        if (is_out_of_patience(f, now_ms)) {
            give_up(f);
        } else if (now_ms >= f->retry_ms && (l->self || l->id != 0)) {
            try_leader(f);
        }
    }
}

static void tick(uv_timer_t *timer)
{
    struct front_gate *g = timer->data;
    uint64_t now_ms = uv_now(g->loop);
    uint64_t before = g->leader.id;
    struct front_forward *next;
    front_gate__look(g);
    if (g->waiting == 0 && g->stopping == 0 && g->limited == 0 && g->leader.id == before &&
        g->leaderless_ms == 0 && !g->leader.self) {
        return;
    }
    for (struct front_forward *f = g->first; f != NULL; f = next) {
        next = f->next;
        look_at(f, now_ms);
    }
}

/* The response */

static bool header_of(const struct relay_stream *s, struct str name, struct str *out)
{
    for (size_t i = 0; i < s->header_count; i++) {
        if (str_eq(s->headers[i].name, name)) {
            *out = s->headers[i].value;
            return true;
        }
    }
    return false;
}

/* Headers that this node writes itself, or that are meant for nodes, are not relayed. */
static bool is_relayed(struct str name)
{
    return !str_starts_with(name, STR("access-control-")) && !str_eq(name, STR("date")) &&
           !str_eq(name, STR("content-type")) && !str_eq(name, STR("content-length")) &&
           !str_eq(name, FRONT_PEER_HEADER_INDEX) && !str_eq(name, FRONT_PEER_HEADER_OUTCOME) &&
           !str_eq(name, STR("x-corvo-forwarded"));
}

/* Remember the entry of the write: reads on this node wait until it is applied. */
static void note_index(struct front_forward *f)
{
    struct front_shared *shared = f->gate->shared;
    struct str text;
    int64_t index;
    if (header_of(&f->stream, FRONT_PEER_HEADER_INDEX, &text) && str_to_i64(text, &index) &&
        index > 0) {
        uint_fast64_t seen = atomic_load(&shared->told_index);
        f->index = (uint64_t)index;
        while (seen < (uint64_t)index &&
               !atomic_compare_exchange_weak(&shared->told_index, &seen, (uint64_t)index)) {
        }
    }
}

static void fill_response(const struct front_forward *f, struct http_header *rows,
                          struct http_response *out)
{
    const struct relay_stream *s = &f->stream;
    size_t count = 0;
    *out = (struct http_response){.status = s->status};
    (void)header_of(s, STR("content-type"), &out->content_type);
    for (size_t i = 0; i < s->header_count && count < HTTP_RESPONSE_HEADERS_MAX - 1; i++) {
        if (is_relayed(s->headers[i].name)) {
            rows[count++] = s->headers[i];
        }
    }
    rows[count++] = (struct http_header){STR("X-Corvo-Forwarded"), STR("1")};
    out->headers = rows;
    out->header_count = count;
}

static void finish_whole(struct front_forward *f)
{
    struct http_header rows[HTTP_RESPONSE_HEADERS_MAX];
    struct http_response response;
    fill_response(f, rows, &response);
    response.body = buf_str(&f->stream.in);
    struct buf body = f->stream.in;
    f->stream.in = (struct buf){0};
    let_go(f);
    f->ops->answers(f->data, response.status);
    http_request_answer(f->req, &response); /* frees the forward */
    buf_deinit(&body);
}

static void drop(struct front_forward *f)
{
    let_go(f);
    f->ops->gone(f->data);
}

/* The leader is lost in the middle of its response. */
static void cut(struct front_forward *f)
{
    warn(f, "the response was cut off");
    let_go(f);
    f->ops->cut(f->data);
}

static void pump(struct front_forward *f)
{
    struct relay_stream *s = &f->stream;
    if (s->in.len > 0) {
        enum http_write w = http_request_write(f->req, buf_str(&s->in));
        if (w == HTTP_WRITE_FULL) {
            return; /* continues when the client can be written to */
        }
        f->ops->passed(f->data, buf_str(&s->in));
        relay_take(s, s->in.len);
    }
    if (s->ended) {
        struct http_header trailers[RELAY_TRAILERS_MAX];
        size_t count = s->trailer_count;
        memcpy(trailers, s->trailers, sizeof trailers);
        int status = s->status;
        let_go(f);
        f->ops->answers(f->data, status);
        http_request_end(f->req, trailers, count);
    } else if (s->failed) {
        cut(f);
    }
}

static bool is_event_stream(const struct relay_stream *s)
{
    struct str type;
    return header_of(s, STR("content-type"), &type) &&
           str_starts_with(type, STR("text/event-stream"));
}

static void open_answer(struct front_forward *f)
{
    struct http_header rows[HTTP_RESPONSE_HEADERS_MAX];
    struct http_response response;
    fill_response(f, rows, &response);
    f->opened = true;
    set_state(f, FORWARD_RELAYING);
    http_request_begin(f->req, &response);
    pump(f);
}

static void apply_until(struct front_forward *f, uint64_t patience_ms)
{
    f->apply_ms = uv_now(f->gate->loop) + patience_ms;
    set_state(f, FORWARD_APPLYING);
}

static void moved(struct relay_stream *s)
{
    struct front_forward *f = s->data;
    struct str outcome;
    if (f->state == FORWARD_APPLYING) {
        return; /* the response is complete */
    }
    if (f->opened) {
        pump(f);
        return;
    }
    if (s->failed) {
        lost(f, s->untouched);
        return;
    }
    if (s->status < 200) {
        return;
    }
    if (header_of(s, FRONT_PEER_HEADER_OUTCOME, &outcome)) {
        lost(f, str_eq(outcome, STR("none")));
        return;
    }
    note_index(f);
    if (s->ended && s->trailer_count == 0 && f->settles && !is_applied(f)) {
        apply_until(f, SETTLE_MS);
    } else if (s->ended && s->trailer_count == 0) {
        finish_whole(f);
    } else if (s->ended || f->streams || s->in.len >= HOLD_BYTES || is_event_stream(s)) {
        open_answer(f);
    }
}

/* Events of the request */

static void on_gone(struct http_request *req)
{
    drop(req->data);
}

static void on_stopping(struct http_request *req)
{
    struct front_forward *f = req->data;
    if (f->stop_ms == 0) {
        f->stop_ms = uv_now(f->gate->loop) + STOP_MS;
        f->gate->stopping++;
    }
}

static void on_body(struct http_request *req, struct str bytes)
{
    struct front_forward *f = req->data;
    relay_write(&f->stream, bytes);
}

static void on_body_end(struct http_request *req)
{
    struct front_forward *f = req->data;
    relay_write_end(&f->stream);
}

static void on_writable(struct http_request *req)
{
    struct front_forward *f = req->data;
    pump(f);
}

static const struct http_handlers handlers = {.gone = on_gone,
                                              .stopping = on_stopping,
                                              .body = on_body,
                                              .body_end = on_body_end,
                                              .writable = on_writable};

static void begin(struct front_forward *f)
{
    if (f->touched) { /* the new leader may not have applied it yet */
        f->retry_ms = uv_now(f->gate->loop) + RETRY_MS;
        wait_for_leader(f);
    } else {
        try_leader(f);
    }
}

static void body_collected(struct http_request *req, enum http_body_result result)
{
    struct front_forward *f = req->data;
    if (result != HTTP_BODY_COMPLETE) {
        let_go(f);
        f->ops->too_large(f->data, result);
        return;
    }
    f->collected = true;
    begin(f);
}

/* Add the request to the list of the gate and start its timer. */
static void enter(struct front_gate *g, struct front_forward *f)
{
    f->gate = g;
    f->state = FORWARD_COLLECTING;
    f->opened = false;
    f->index = 0;
    f->prev = &g->first;
    f->next = g->first;
    if (f->next != NULL) {
        f->next->prev = &f->next;
    }
    g->first = f;
    g->limited += f->deadline_ms != 0 ? 1 : 0;
    f->req->on = &handlers;
    f->req->data = f;
    if (!g->ticking) {
        g->ticking = true;
        CHECK(uv_timer_start(&g->timer, tick, LOOK_MS, LOOK_MS) == 0);
    }
    f->stop_ms = 0;
    if (http_loop_stopping(f->req->loop)) {
        on_stopping(f->req);
    }
}

void front_forward_start(struct front_gate *g, struct front_forward *f)
{
    enter(g, f);
    if (!f->streams && !f->collected && f->req->content_length != 0) {
        http_request_collect(f->req, f->body_max, body_collected);
    } else {
        begin(f);
    }
}

bool front_forward_is_behind(const struct front_shared *shared)
{
    return engine_ask_applied(shared->engine) <
           atomic_load_explicit(&shared->told_index, memory_order_relaxed);
}

void front_forward_catch_up(struct front_gate *g, struct front_forward *f)
{
    enter(g, f);
    f->index = atomic_load_explicit(&g->shared->told_index, memory_order_relaxed);
    apply_until(f, CATCH_UP_MS);
}
