/*
 * StreamLifecycle (rpc.md 11): frames of a client, answered one after the other.
 *
 *        +-------- answer accepted by the connection --------+
 *        v                                                   |
 *   [READING] --frame--> [PACED] --time--> [WAITING] --slot--> [GRANTED] --> [WORKING]
 *        |                                                   |
 *   half-close, error, deadline: the end                client gone: when its work is done
 *
 * Data sent ahead is limited by the HTTP/2 window; `ahead` keeps what has arrived. So a client
 * cannot make the server hold more than that window and one message. Each frame has its own arena,
 * so that an idle stream holds almost no memory.
 */
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "http/http_loop.h"
#include "os/os_clock.h"
#include "rpc/rpc_envelope.h"
#include "rpc/rpc_frame_int.h"
#include "rpc/rpc_gzip.h"
#include "rpc/rpc_pace_int.h"
#include "rpc/rpc_slot_int.h"

enum state { READING, PACED, GRANTED, WAITING, WORKING, SENDING, OVER };

struct rpc_stream {
    struct rpc_call *call; /* invalid when OVER */
    struct rpc *rpc;
    struct rpc_envelope_reader reader;
    struct buf ahead; /* received, not consumed */
    size_t ahead_at;
    enum state state;
    bool half_closed;
    bool full;            /* out of memory for received data: the current frame is the last */
    bool stepping, again; /* step() is running; it was called again meanwhile */
    struct rpc_pace pace;
    struct mono deadline;    /* ns is INT64_MAX without one */
    struct mono waits_until; /* end of the wait for a slot; ns is INT64_MAX without a limit */
    uv_timer_t timer;        /* for the pace, the slot and the deadline */
    struct rpc_frame_work *work;
    struct rpc_slot slot; /* of the frame */
};

static void step(struct rpc_stream *s);

/* The current frame */

static void free_work(struct rpc_stream *s)
{
    if (s->work != NULL) {
        struct arena *arena = s->work->who.arena;
        rpc_frame__deinit(s->work);
        arena_pool_give(&s->slot.loop->arenas, arena); /* the work is in this arena */
        s->work = NULL;
    }
}

/* Decode the message and create its work. */
static enum err_code make_work(struct rpc_stream *s, struct str message, bool compressed,
                               struct err *err)
{
    struct rpc_call *c = s->call;
    struct arena *arena = arena_pool_take(
        &s->slot.loop->arenas, 2 * s->rpc->config.message_bytes_max, s->rpc->config.budget);
    struct rpc_frame_work *w = arena_need(arena, sizeof *w, _Alignof(max_align_t));
    *w = (struct rpc_frame_work){.rpc = s->rpc,
                                 .client = &c->client,
                                 .who = c->who,
                                 .may_enqueue = c->peer.may_enqueue,
                                 .may_wait = !s->half_closed,
                                 .idle_ms = s->rpc->config.idle_fetch_ms,
                                 .data = s};
    w->who.arena = arena;
    s->work = w;
    struct str kept;
    if (compressed && message.len > 0) {
        size_t limit = s->rpc->config.message_bytes_max;
        if (rpc_gzip_inflate(rpc_call__gzip(c), message, limit, arena, &kept, err) != ERR_OK) {
            return err->code;
        }
        return rpc_call__decode(c, kept, arena, &w->in, err);
    }
    kept = arena_str(arena, message);
    if (kept.len != message.len) {
        return svc_caller_refuse_full(arena, err);
    }
    return rpc_call__decode(c, kept, arena, &w->in, err);
}

/* Ends */

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* The caller finishes the request, before or after this. */
static void close_stream(struct rpc_stream *s)
{
    CHECK(s->state != WORKING);
    s->state = OVER;
    free_work(s);
    rpc_envelope_reader_deinit(&s->reader);
    buf_deinit(&s->ahead);
    atomic_fetch_sub(&s->rpc->streams_open, 1);
    uv_close((uv_handle_t *)&s->timer, timer_closed);
}

static void end(struct rpc_stream *s, enum rpc_status status, struct str message)
{
    struct rpc_call *c = s->call;
    close_stream(s);
    c->req->on = &rpc_answer__ending;
    rpc_answer__end(c, status, message);
}

static void end_err(struct rpc_stream *s, enum rpc_status status, const struct err *err)
{
    struct buf words;
    buf_init(&words, 2 * sizeof err->msg);
    rpc_answer__words(err, 0, &words);
    end(s, status, buf_str(&words));
    buf_deinit(&words);
}

static void end_full(struct rpc_stream *s)
{
    struct err err;
    (void)err_set(&err, ERR_OVERLOADED, "the server has reached its memory limit for requests");
    end_err(s, RPC_RESOURCE_EXHAUSTED, &err);
}

static bool is_late(const struct rpc_stream *s)
{
    return s->deadline.ns != INT64_MAX && os_clock_mono().ns >= s->deadline.ns;
}

static void end_late(struct rpc_stream *s)
{
    end(s, RPC_DEADLINE_EXCEEDED, STR("the deadline has passed"));
}

/* Working and answering */

static void sent(struct rpc_call *c)
{
    struct rpc_stream *s = c->data;
    bool elsewhere = s->work->out.leader_addr.ptr != NULL;
    rpc_pace__answer(&s->pace, os_clock_mono(), s->work->struck);
    free_work(s);
    s->state = READING;
    if (elsewhere) {
        end(s, RPC_OK, STR_EMPTY);
    } else if (s->pace.strikes >= s->rpc->config.stream_strikes_max) {
        end(s, RPC_ABORTED, STR("too many consecutive errors"));
    } else if (is_late(s)) {
        end_late(s);
    } else {
        step(s);
    }
}

static void respond(struct rpc_stream *s)
{
    CHECK(s->work != NULL);
    s->state = SENDING;
    rpc_answer__send(s->call, &s->work->out, sent);
}

static void worked(struct rpc_frame_work *w)
{
    struct rpc_stream *s = w->data;
    struct rpc_call *c = s->call;
    s->state = SENDING;
    rpc_slot__give(&s->slot);
    if (c->client.gone) {
        close_stream(s);
        rpc_answer__drop(c);
    } else {
        respond(s);
    }
}

/* Time */

static void timer_fired(uv_timer_t *timer);

static void set_timer(struct rpc_stream *s, int64_t until_ns)
{
    int64_t at = until_ns < s->deadline.ns ? until_ns : s->deadline.ns;
    int64_t ms = (at - os_clock_mono().ns + NS_PER_MS - 1) / NS_PER_MS;
    if (at < INT64_MAX) {
        int rc = uv_timer_start(&s->timer, timer_fired, ms > 0 ? (uint64_t)ms : 0, 0);
        CHECK(rc == 0);
    }
}

/* Answer the frame without doing any of its work (rpc.md 11.2, step 5). */
static void give_up_slot(struct rpc_stream *s)
{
    CHECK(s->work != NULL);
    rpc_slot__give(&s->slot);
    s->state = WORKING;
    s->work->done = worked;
    rpc_frame__saturate(s->work);
}

/* After the deadline the timer is not set again: a frame in progress stops waiting, and sent() ends
 * the stream. */
static void timer_fired(uv_timer_t *timer)
{
    struct rpc_stream *s = timer->data;
    if (!is_late(s) && s->state == WAITING && os_clock_mono().ns >= s->waits_until.ns) {
        set_timer(s, INT64_MAX);
        give_up_slot(s);
    } else if (!is_late(s)) {
        set_timer(s, s->state == WAITING ? s->waits_until.ns : INT64_MAX);
        step(s);
    } else if (s->state == WORKING) {
        s->work->may_wait = false;
        rpc_frame__cancel(s->work);
    } else if (s->state != SENDING) {
        rpc_slot__give(&s->slot);
        end_late(s);
    }
}

/* Reading */

/* Read the next message from the received data. False if it is incomplete or the stream is over. */
static bool read_message(struct rpc_stream *s, struct str *out, bool *out_compressed)
{
    size_t taken;
    unsigned flags = 0;
    struct str bytes = str_from(s->ahead.ptr + s->ahead_at, s->ahead.len - s->ahead_at);
    struct err err;
    enum rpc_envelope_result result = rpc_envelope_take(&s->reader, bytes, &taken, &flags, out);
    s->ahead_at += taken;
    http_request_consume(s->call->req, taken);
    if (result == RPC_ENVELOPE_BAD_FLAGS) {
        end(s, RPC_INTERNAL, STR("the envelope has flags that are not known"));
    } else if (result == RPC_ENVELOPE_TOO_LARGE) {
        (void)rpc_too_large(s->rpc, &err);
        end_err(s, RPC_RESOURCE_EXHAUSTED, &err);
    } else if (s->reader.body.overflow) {
        end_full(s);
    } else if (result == RPC_ENVELOPE_MESSAGE && (flags & RPC_ENVELOPE_COMPRESSED) != 0 &&
               !s->call->gzip_in) {
        end(s, RPC_INTERNAL, STR("compressed message without compression support"));
    } else if (result == RPC_ENVELOPE_MESSAGE && (flags & RPC_ENVELOPE_END) != 0) {
        s->half_closed = true;
        s->ahead_at = s->ahead.len; /* ignore what follows */
        return false;
    }
    *out_compressed = (flags & RPC_ENVELOPE_COMPRESSED) != 0;
    return result == RPC_ENVELOPE_MESSAGE && s->state != OVER;
}

static bool has_bytes(const struct rpc_stream *s)
{
    return s->ahead_at < s->ahead.len;
}

/* READING: read a frame if one is complete. End the stream if no more can come. */
static void read_frame(struct rpc_stream *s)
{
    struct str message;
    struct err err;
    bool compressed;
    if (s->full) {
        end_full(s);
        return;
    }
    if (has_bytes(s) && read_message(s, &message, &compressed)) {
        if (make_work(s, message, compressed, &err) == ERR_OK) {
            s->state = PACED;
        } else {
            end_err(s, err.code == ERR_PARSE ? RPC_INVALID_ARGUMENT : rpc_status_of(err.code),
                    &err);
        }
    }
    if (s->state == READING && !has_bytes(s)) {
        buf_deinit(&s->ahead);
        s->ahead_at = 0;
        bool cut = rpc_envelope_is_partial(&s->reader) && !http_loop_stopping(s->call->req->loop);
        if (s->half_closed && cut) {
            end(s, RPC_INVALID_ARGUMENT, STR("incomplete envelope"));
        } else if (s->half_closed) {
            end(s, RPC_OK, STR_EMPTY);
        }
    }
}

/* A stream may be open for days, so its credential is checked for each frame. */
static void start_work(struct rpc_stream *s)
{
    ATTR_UNINITIALIZED struct err err;
    CHECK(s->work != NULL);
    if (front_client_recheck(&s->call->client, &err) != ERR_OK) {
        rpc_slot__give(&s->slot);
        end_err(s, rpc_status_of(err.code), &err);
        return;
    }
    s->state = WORKING;
    s->work->done = worked;
    if (rpc_frame__may_idle(s->work)) {
        rpc_slot__give(&s->slot); /* waiting for a job needs no slot */
    }
    rpc_frame__run(s->work); /* the stream may be over after this */
}

static void granted(struct rpc_slot *slot)
{
    struct rpc_stream *s = slot->data;
    s->state = GRANTED;
    step(s);
}

/* PACED: begin the frame when its time has come and it has a slot. */
static void begin_frame(struct rpc_stream *s)
{
    struct mono earliest = rpc_pace__earliest(&s->pace);
    struct mono now = os_clock_mono();
    if (now.ns < earliest.ns) {
        set_timer(s, earliest.ns);
        return;
    }
    rpc_pace__begin(&s->pace, now);
    if (rpc_frame__is_leaders(s->work)) {
        respond(s);
    } else if (rpc_frame__is_empty(&s->work->in) || rpc_slot__take(&s->slot)) {
        start_work(s);
    } else {
        int64_t limit_ms = s->rpc->config.stream_acquire_ms;
        s->state = WAITING;
        s->waits_until.ns = limit_ms == 0 ? INT64_MAX : now.ns + limit_ms * NS_PER_MS;
        set_timer(s, s->waits_until.ns);
    }
}

/* A loop and not a recursion: a client may have sent thousands of frames that need no waiting. */
static void step(struct rpc_stream *s)
{
    if (s->stepping) {
        s->again = true;
        return;
    }
    s->stepping = true;
    do {
        enum state before = s->state;
        s->again = false;
        if (s->state == READING) {
            read_frame(s);
        } else if (s->state == PACED) {
            begin_frame(s);
        } else if (s->state == GRANTED) {
            start_work(s);
        }
        s->again = s->again || (s->state != before && s->state <= PACED);
    } while (s->again && s->state != OVER);
    s->stepping = false; /* the stream's memory lives until its timer is closed */
}

/* Callbacks of the request */

/* Finish the current frame without waiting. */
static void hurry(struct rpc_stream *s)
{
    if (s->work != NULL) {
        s->work->may_wait = false;
    }
    if (s->state == WORKING) {
        rpc_frame__cancel(s->work);
    } else {
        step(s);
    }
}

static void on_body(struct http_request *req, struct str bytes)
{
    struct rpc_call *c = req->data;
    struct rpc_stream *s = c->data;
    if (s->state == OVER || s->full || s->half_closed) {
        return;
    }
    if (s->ahead_at > 0 && has_bytes(s)) {
        memmove(s->ahead.ptr, s->ahead.ptr + s->ahead_at, s->ahead.len - s->ahead_at);
        s->ahead.len -= s->ahead_at;
        s->ahead_at = 0;
    }
    buf_add_str(&s->ahead, bytes);
    if (s->ahead.overflow) {
        s->full = true;
        buf_deinit(&s->ahead);
        s->ahead_at = 0;
        hurry(s);
        return;
    }
    step(s);
}

static void on_body_end(struct http_request *req)
{
    struct rpc_call *c = req->data;
    struct rpc_stream *s = c->data;
    s->half_closed = true;
    step(s);
}

static void on_gone(struct http_request *req)
{
    struct rpc_call *c = req->data;
    struct rpc_stream *s = c->data;
    c->client.gone = true;
    if (s->state == WORKING) {
        rpc_frame__cancel(s->work); /* worked() continues */
        return;
    }
    rpc_slot__give(&s->slot);
    close_stream(s);
    rpc_answer__drop(c);
}

/* The stream ends after the current frame. */
static void on_stopping(struct http_request *req)
{
    struct rpc_call *c = req->data;
    struct rpc_stream *s = c->data;
    s->half_closed = true;
    hurry(s);
}

static const struct http_handlers handlers = {.gone = on_gone,
                                              .stopping = on_stopping,
                                              .body = on_body,
                                              .body_end = on_body_end,
                                              .writable = rpc_answer__writable};

/* No stream is opened: send the address of the leader (11.1, step 2). */

static void redirected(struct rpc_call *c)
{
    rpc_answer__end(c, RPC_OK, STR_EMPTY);
}

static bool redirects(struct rpc_call *c)
{
    struct rpc_frame_work *w = arena_need(c->req->arena, sizeof *w, _Alignof(max_align_t));
    *w = (struct rpc_frame_work){.rpc = c->rpc, .who = c->who};
    if (!rpc_frame__is_leaders(w)) {
        return false;
    }
    c->req->on = &rpc_answer__ending;
    rpc_answer__begin(c);
    rpc_answer__send(c, &w->out, redirected);
    return true;
}

void rpc_stream__open(struct rpc_call *c)
{
    struct rpc *rpc = c->rpc;
    uint64_t open = atomic_fetch_add(&rpc->streams_open, 1) + 1;
    if (rpc->config.streams_max > 0 && open > rpc->config.streams_max) {
        atomic_fetch_sub(&rpc->streams_open, 1);
        if (!redirects(c)) {
            rpc_answer__fail(c, RPC_RESOURCE_EXHAUSTED, STR("too many open lifecycle streams"), 0);
        }
        return;
    }
    if (!rpc_frame__is_elsewhere(rpc)) {
        atomic_fetch_add_explicit(&rpc->streams_total, 1, memory_order_relaxed);
    }
    struct rpc_stream *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->call = c;
    s->rpc = rpc;
    s->pace = (struct rpc_pace){.fps_max = rpc->config.stream_fps_max,
                                .strike_ms = rpc->config.stream_strike_ms};
    s->slot =
        (struct rpc_slot){.rpc = rpc, .loop = rpc_call__loop(c), .granted = granted, .data = s};
    s->deadline.ns = INT64_MAX;
    if (c->timeout_ms < INT64_MAX / NS_PER_MS / 2) {
        s->deadline.ns = c->peer.started.ns + c->timeout_ms * NS_PER_MS;
    }
    unsigned allowed = RPC_ENVELOPE_COMPRESSED;
    if (c->format->protocol == RPC_CONNECT) {
        allowed |= RPC_ENVELOPE_END;
    }
    rpc_envelope_reader_init(&s->reader, rpc->config.message_bytes_max, allowed);
    buf_set_budget(&s->reader.body, rpc->config.budget);
    buf_init(&s->ahead, SIZE_MAX); /* limited by the HTTP/2 window */
    buf_set_budget(&s->ahead, rpc->config.budget);
    int rc = uv_timer_init(http_loop_uv(c->req->loop), &s->timer);
    CHECK(rc == 0);
    s->timer.data = s;
    c->data = s;
    c->req->on = &handlers;
    rpc_answer__begin(c);
    set_timer(s, INT64_MAX);
    http_request_stream(c->req);
}
