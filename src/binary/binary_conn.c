/*
 * A connection: splits received bytes into frames, sends responses, and closes.
 *
 * Before authentication, the server stores at most one auth frame of a client, and disconnects it
 * after BINARY_AUTH_MS. Afterwards it stores at most one incomplete frame, charged to the memory of
 * requests, for up to BINARY_FRAME_MS.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/pack.h"
#include "binary/binary_int.h"
#include "engine/engine_leader.h"

enum {
    READ_BYTES = 64 * 1024,
    OUT_KEPT_BYTES = 16 * 1024, /* memory that a connection keeps for its next responses */
};

/* The end */

static void leave_unsent(struct binary_conn *c)
{
    struct binary_conn **at = &c->binary->unsent;
    while (c->unsent && *at != c) {
        at = &(*at)->unsent_next;
    }
    if (c->unsent) {
        *at = c->unsent_next;
        c->unsent = false;
    }
}

static void free_conn(struct binary_conn *c)
{
    struct binary *b = c->binary;
    *(c->prev == NULL ? &b->conns : &c->prev->next) = c->next;
    if (c->next != NULL) {
        c->next->prev = c->prev;
    }
    b->conn_count--;
    leave_unsent(c);
    binary_claim__free(c);
    buf_deinit(&c->in);
    buf_deinit(&c->out);
    buf_deinit(&c->texts);
    free(c);
    binary__conn_gone(b);
}

static void process(struct binary_conn *c);

bool binary_conn__is_full(const struct binary_conn *c)
{
    return c->out.len + c->writing_bytes > BINARY_OUT_BYTES_MAX;
}

void binary_conn__settle(struct binary_conn *c)
{
    if (c->closed && c->calls == 0 && !binary_claim__is_busy(c) && c->writing == NULL) {
        free_conn(c);
    } else if (!c->closing && !c->reading) {
        process(c);
    }
}

static void handle_closed(uv_handle_t *handle)
{
    struct binary_conn *c = handle->data;
    if (--c->open_handles == 0) {
        c->closed = true;
        binary_conn__settle(c);
    }
}

void binary_conn__close(struct binary_conn *c)
{
    if (!c->closing) {
        c->closing = true;
        binary_claim__leave(c);
        uv_close((uv_handle_t *)&c->tcp, handle_closed);
        uv_close((uv_handle_t *)&c->timer, handle_closed);
    }
}

/* Writing */

/* Responses report finished work, so the budget counts them but does not refuse them. */
static void release_out(struct binary_conn *c)
{
    buf_deinit(&c->out);
    c->out.owed = true;
}

/* Output was sent, so there may be room again. */
static void go_on(struct binary_conn *c)
{
    if (!c->closing) {
        binary_claim__go_on(c);
    }
    binary_conn__settle(c);
}

static void forget_writing(struct binary_conn *c)
{
    budget_give(c->binary->config.budget, c->writing_bytes);
    free(c->writing);
    c->writing = NULL;
    c->writing_bytes = 0;
}

static void written(uv_write_t *req, int status)
{
    struct binary_conn *c = req->data;
    forget_writing(c);
    if (status != 0) {
        binary_conn__close(c);
    } else {
        binary_conn__flush(c);
    }
    go_on(c);
}

/* The socket is full: libuv sends the rest later. */
static void send_later(struct binary_conn *c, size_t from)
{
    uv_buf_t bytes = uv_buf_init(NULL, (unsigned)(c->out.len - from));
    bytes.base = c->writing = malloc(bytes.len);
    CHECK(c->writing != NULL);
    c->writing_bytes = bytes.len;
    budget_force(c->binary->config.budget, bytes.len);
    memcpy(c->writing, c->out.ptr + from, bytes.len);
    release_out(c);
    c->write.data = c;
    if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &bytes, 1, written) != 0) {
        forget_writing(c);
        binary_conn__close(c);
    }
}

static void send_out(struct binary_conn *c)
{
    if (c->closing || c->writing != NULL) {
        return; /* sent after the write in progress */
    }
    if (c->out.overflow) {
        binary_conn__close(c); /* out of memory: the response is incomplete */
        return;
    }
    bool was_full = binary_conn__is_full(c);
    if (c->out.len > 0) {
        uv_buf_t bytes = uv_buf_init(c->out.ptr, (unsigned)c->out.len);
        int sent = uv_try_write((uv_stream_t *)&c->tcp, &bytes, 1);
        if (sent < 0 && sent != UV_EAGAIN) {
            binary_conn__close(c);
            return;
        }
        size_t from = sent > 0 ? (size_t)sent : 0;
        if (from < c->out.len) {
            send_later(c, from);
            return;
        }
        buf_clear(&c->out);
    }
    if (c->out.cap > OUT_KEPT_BYTES) {
        release_out(c);
    }
    if (c->last) {
        binary_conn__close(c);
    } else if (was_full) {
        go_on(c);
    }
}

void binary_conn__flush(struct binary_conn *c)
{
    if (!c->unsent && !c->closing) {
        c->unsent = true;
        c->unsent_next = c->binary->unsent;
        c->binary->unsent = c;
    }
}

void binary_conn__send_all(struct binary *b)
{
    while (b->unsent != NULL) {
        struct binary_conn *c = b->unsent;
        b->unsent = c->unsent_next;
        c->unsent = false;
        send_out(c);
    }
}

void binary_conn__error(struct binary_conn *c, uint32_t number, struct str text)
{
    size_t begin = binary_message_begin(&c->out, BINARY_ERROR, number);
    buf_add_utf8(&c->out, text);
    binary_message_finish(&c->out, begin);
}

void binary_conn__outcome(struct binary_conn *c, uint32_t number, enum err_code code)
{
    struct engine_leader leader;
    bool away = code == ERR_LEADER_UNAVAILABLE;
    if (away && !c->sent_away) {
        bool known = engine_leader(c->binary->config.engine, &leader) && !leader.self;
        size_t begin = binary_message_begin(&c->out, BINARY_NOT_LEADER, number);
        buf_add_str(&c->out, known ? str_from_z(leader.http_url) : STR_EMPTY);
        binary_message_finish(&c->out, begin);
    }
    c->sent_away = away || (c->sent_away && code != ERR_OK);
}

/* Reading */

static void take_auth(struct binary_conn *c, uint32_t number, struct str payload)
{
    enum { OK, REFUSED };
    struct str token;
    struct err err;
    bool fine =
        binary_message_auth(payload, &token, &err) == ERR_OK && binary_auth__admit(c, token);
    size_t begin = binary_message_begin(&c->out, BINARY_AUTH | BINARY_ANSWER, number);
    pack_u8(&c->out, fine ? OK : REFUSED);
    pack_u8(&c->out, fine ? binary_auth__role(c) : 0);
    binary_message_finish(&c->out, begin);
    c->last = !fine;
    if (!fine) {
        binary_auth__refused(c, BINARY_AUTH);
    }
}

static void take_frame(struct binary_conn *c, const struct binary_message_head *head,
                       struct str payload)
{
    if (head->type == BINARY_AUTH) {
        take_auth(c, head->number, payload);
    } else if (!binary_auth__is_known(c)) {
        binary_conn__error(c, head->number, binary_auth__why_not(c));
        binary_auth__refused(c, head->type);
        c->last = true;
    } else if (head->type == BINARY_PING) {
        size_t begin = binary_message_begin(&c->out, BINARY_PING | BINARY_ANSWER, head->number);
        binary_message_finish(&c->out, begin);
    } else if (!binary_auth__may(c, head->type)) {
        binary_conn__error(c, head->number, str_from_z(binary_auth__denied));
        binary_auth__refused(c, head->type);
    } else if (head->type == BINARY_SUBSCRIBE) {
        binary_claim__subscribe(c, head->number, payload);
    } else {
        binary_call__take(c, head, payload);
    }
}

/* A client that has not authenticated may send only frames of the size of an auth frame. */
static bool is_too_large(struct binary_conn *c, const struct binary_message_head *head)
{
    bool stranger = binary_auth__is_stranger(c);
    if (head->len <= (stranger ? BINARY_MESSAGE_AUTH_BYTES : BINARY_MESSAGE_BYTES_MAX)) {
        return false;
    }
    if (stranger && head->type != BINARY_AUTH) {
        binary_conn__error(c, head->number, binary_auth__why_not(c));
        binary_auth__refused(c, head->type);
    } else {
        binary_conn__error(c, head->number, STR("the frame is too large"));
    }
    return true;
}

/* Process the next received frame. False if none is complete or none may be processed now. */
static bool take_next(struct binary_conn *c, size_t *at)
{
    struct binary_message_head head;
    struct str rest = str_from(c->in.ptr + *at, c->in.len - *at);
    if (c->last || c->ended || c->closing || c->calls >= BINARY_CALLS_MAX ||
        binary_conn__is_full(c) || !binary_message_head(rest, &head)) {
        return false;
    }
    if (is_too_large(c, &head)) {
        c->last = true;
        return false;
    }
    if (rest.len - BINARY_MESSAGE_HEAD < head.len) {
        return false;
    }
    *at += BINARY_MESSAGE_HEAD + head.len;
    take_frame(c, &head, str_from(rest.ptr + BINARY_MESSAGE_HEAD, head.len));
    return true;
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    static _Thread_local char room[READ_BYTES];
    struct binary_conn *c = handle->data;
    bool stranger = binary_auth__is_stranger(c);
    (void)suggested;
    *out =
        uv_buf_init(room, stranger ? BINARY_MESSAGE_HEAD + BINARY_MESSAGE_AUTH_BYTES : sizeof room);
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct binary_conn *c = stream->data;
    if (n == UV_EOF) { /* all complete frames were processed, or reading would be paused */
        c->ended = true;
        binary_claim__leave(c);
        process(c);
        return;
    }
    if (n < 0) {
        binary_conn__close(c);
        return;
    }
    buf_add(&c->in, bytes->base, (size_t)n);
    if (c->in.overflow) {
        binary_conn__error(c, 0, STR("the server has reached its memory limit for requests"));
        c->last = true;
        buf_deinit(&c->in);
    }
    process(c);
}

/* Time */

static void timer_cb(uv_timer_t *timer)
{
    struct binary_conn *c = timer->data;
    if (!c->was_stranger || binary_auth__is_stranger(c)) {
        binary_conn__close(c);
    }
    c->was_stranger = false; /* the server needs no credentials since then */
}

static void set_timer(struct binary_conn *c, uint64_t ms)
{
    CHECK(uv_timer_start(&c->timer, timer_cb, ms, 0) == 0);
}

/* Set the deadline for what the client has to finish: authentication, a frame, or reading the last
 * response. While reading is paused, an incomplete frame is not the client's fault. */
static void watch_time(struct binary_conn *c, bool took_frame)
{
    if (c->was_stranger && binary_auth__is_stranger(c)) {
        return; /* the timer for authentication is running */
    }
    bool owes = c->last || (c->reading && c->in.len > 0);
    if (c->was_stranger || took_frame || !owes) {
        c->was_stranger = false;
        CHECK(uv_timer_stop(&c->timer) == 0);
    }
    if (owes && !uv_is_active((uv_handle_t *)&c->timer)) {
        set_timer(c, BINARY_FRAME_MS);
    }
}

/* Process all complete frames. Then read on, or pause until there is room for more. */
static void process(struct binary_conn *c)
{
    size_t at = 0;
    while (take_next(c, &at)) {
    }
    if (at > 0) {
        memmove(c->in.ptr, c->in.ptr + at, c->in.len - at);
        c->in.len -= at;
        if (c->in.len == 0) {
            buf_deinit(&c->in); /* an idle connection holds no memory */
        }
    }
    c->last = c->last || (c->ended && c->calls == 0);
    binary_conn__flush(c);
    if (c->closing) {
        return;
    }
    bool wants = !c->last && !c->ended && c->calls < BINARY_CALLS_MAX && !binary_conn__is_full(c);
    if (wants && !c->reading) {
        CHECK(uv_read_start((uv_stream_t *)&c->tcp, alloc_cb, read_cb) == 0);
    } else if (!wants && c->reading) {
        CHECK(uv_read_stop((uv_stream_t *)&c->tcp) == 0);
    }
    c->reading = wants;
    watch_time(c, at > 0);
}

/* Find the client's address. If it has disconnected already, the address stays empty and is not
 * local. */
static void find_address(struct binary_conn *c)
{
    struct http_addr from = {.len = sizeof from.sockaddr};
    int len = sizeof from.sockaddr;
    if (uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&from.sockaddr, &len) == 0) {
        from.len = (socklen_t)len;
        c->address = http_addr_text(&from, c->address_text);
        c->is_local = str_starts_with(c->address, STR("127.")) || str_eq(c->address, STR("::1"));
    }
}

void binary_conn__accept(struct binary *b)
{
    struct binary_conn *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->binary = b;
    buf_init(&c->in, BINARY_MESSAGE_BYTES_MAX + BINARY_MESSAGE_HEAD + READ_BYTES);
    buf_set_budget(&c->in, b->config.budget);
    buf_init(&c->out, SIZE_MAX / 2); /* limited by BINARY_OUT_BYTES_MAX and the calls in progress */
    buf_set_budget(&c->out, b->config.budget);
    release_out(c);
    buf_init(&c->texts, SIZE_MAX / 2); /* limited by the size of a key */
    c->tcp.data = c;
    c->timer.data = c;
    CHECK(uv_tcp_init(&b->loop, &c->tcp) == 0);
    CHECK(uv_timer_init(&b->loop, &c->timer) == 0);
    c->open_handles = 2;
    c->next = b->conns;
    if (b->conns != NULL) {
        b->conns->prev = c;
    }
    b->conns = c;
    b->conn_count++;
    if (uv_accept((uv_stream_t *)&b->listener, (uv_stream_t *)&c->tcp) != 0 || b->stopping ||
        b->conn_count > BINARY_CONNS_MAX) {
        binary_conn__close(c);
        return;
    }
    (void)uv_tcp_nodelay(&c->tcp, 1);
    find_address(c);
    c->was_stranger = binary_auth__is_stranger(c);
    if (c->was_stranger) {
        set_timer(c, BINARY_AUTH_MS);
    }
    process(c);
}
