#include <stdlib.h>
#include <string.h>

#include <nghttp2/nghttp2.h>

#include "base/base64url.h"
#include "base/check.h"
#include "http/http2_int.h"
#include "http/http_conn_int.h"
#include "http/http_exchange_int.h"
#include "http/http_loop_int.h"

/* These nghttp2 calls fail only if memory runs out or arguments are invalid. */
static void must(int rc)
{
    CHECK(rc == 0);
}

/* ---- the lists ---- */

static void streams_add(struct http2 *h, struct http_exchange *x)
{
    x->h2.waiting = false;
    x->h2.prev = NULL;
    x->h2.next = h->streams;
    if (x->h2.next != NULL) {
        x->h2.next->h2.prev = x;
    }
    h->streams = x;
    h->stream_count++;
}

static void waiting_add(struct http2 *h, struct http_exchange *x)
{
    x->h2.waiting = true;
    x->h2.next = NULL;
    x->h2.prev = h->waiting_last;
    if (h->waiting_last != NULL) {
        h->waiting_last->h2.next = x;
    } else {
        h->waiting_first = x;
    }
    h->waiting_last = x;
    h->stream_count++;
}

static void list_remove(struct http2 *h, struct http_exchange *x)
{
    struct http_exchange *prev = x->h2.prev;
    struct http_exchange *next = x->h2.next;
    if (prev != NULL) {
        prev->h2.next = next;
    } else if (x->h2.waiting) {
        h->waiting_first = next;
    } else {
        h->streams = next;
    }
    if (next != NULL) {
        next->h2.prev = prev;
    } else if (x->h2.waiting) {
        h->waiting_last = prev;
    }
    h->stream_count--;
}

/* The stream of x is closed by nghttp2, or the connection has ended: release x. */
static void let_go(struct http2 *h, struct http_exchange *x)
{
    list_remove(h, x);
    h->queued_bytes -= x->h2.pieces.bytes;
    http_out_clear(&x->h2.pieces);
    http_exchange__detach(x);
    http_exchange__gone(x);
}

/* ---- callbacks of nghttp2 ---- */

/* The exchange of the stream; NULL if it has been released. */
static struct http_exchange *exchange_of(nghttp2_session *session, int32_t stream_id)
{
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static bool is_request_head(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int begin_headers_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct http2 *h = data;
    h->head_stream = frame->hd.stream_id;
    h->head_ms = http_loop__now_ms(h->conn->loop);
    if (is_request_head(frame)) {
        struct http_exchange *x = http_exchange__new(h->conn, &http2_answer__ops);
        x->h2.stream_id = frame->hd.stream_id;
        http_out_init(&x->h2.pieces, &h->conn->loop->blocks);
        streams_add(h, x);
        must(nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, x));
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static int header_cb(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *data)
{
    (void)flags;
    (void)data;
    struct http_exchange *x = exchange_of(session, frame->hd.stream_id);
    if (is_request_head(frame) && x != NULL) {
        http2_head__field(x, str_from(name, name_len), str_from(value, value_len));
    }
    return 0; /* trailers are ignored, so that no header can be smuggled in */
}

/* Has the client read enough of its answers to start another request? */
static bool can_start(const struct http2 *h)
{
    return h->queued_bytes + http_conn__unwritten(h->conn) < h->conn->loop->limits->output_bytes;
}

static void on_head(struct http2 *h, struct http_exchange *x, bool ended)
{
    struct http_problem problem = http2_head__complete(x, ended);
    if (problem.status != 0) {
        x->ops->refuse(x, problem);
    } else if (h->waiting_first == NULL && can_start(h)) {
        http_exchange__start(x);
    } else {
        list_remove(h, x);
        waiting_add(h, x);
    }
}

static int frame_recv_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct http2 *h = data;
    struct http_exchange *x = NULL;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        h->head_stream = 0;
    }
    if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) {
        x = exchange_of(session, frame->hd.stream_id);
    }
    if (x == NULL) {
        return 0;
    }
    bool ended = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (is_request_head(frame)) {
        x->body_complete = ended;
        on_head(h, x, ended);
    }
    if (ended) {
        http_exchange__body_end(x);
    }
    return 0;
}

/* The answer is sent: tell the client to stop sending its body. */
static void end_linger(nghttp2_session *session, struct http_exchange *x)
{
    x->h2.lingers = false;
    must(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, x->h2.stream_id, NGHTTP2_NO_ERROR));
    http_conn__queue(x->conn);
}

/* Count body bytes that no handler wants. */
static void linger_on(nghttp2_session *session, struct http_exchange *x, size_t len)
{
    if (x != NULL && x->h2.lingers) {
        x->h2.lingering_bytes += len;
        if (x->h2.lingering_bytes > x->loop->limits->drain_bytes) {
            end_linger(session, x);
        }
    }
}

static int data_chunk_cb(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                         const uint8_t *bytes, size_t len, void *data)
{
    (void)flags;
    (void)data;
    struct http_exchange *x = exchange_of(session, stream_id);
    must(nghttp2_session_consume_connection(session, len));
    bool unwanted = x == NULL || x->refused || (x->started && x->finished);
    if (unwanted) {
        must(nghttp2_session_consume_stream(session, stream_id, len));
        linger_on(session, x, len);
    } else {
        http_exchange__body(x, str_from(bytes, len));
    }
    return 0;
}

/* After the whole answer, the rest of the body is not needed. The stream is not reset at once,
 * because some clients discard an answer that a reset follows directly. */
static int frame_send_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct http2 *h = data;
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    struct http_exchange *x = ends ? exchange_of(session, frame->hd.stream_id) : NULL;
    if (x != NULL && !x->body_complete) {
        x->h2.lingers = true;
        x->h2.lingering_ms = http_loop__now_ms(h->conn->loop);
    }
    return 0;
}

/* A stream was reset before its answer. Many resets are an attack: each costs the server a whole
 * request and the client almost nothing. */
static void count_reset(struct http2 *h)
{
    const struct http_limits *limits = h->conn->loop->limits;
    uint64_t now_ms = http_loop__now_ms(h->conn->loop);
    uint64_t earned = (now_ms - h->reset_ms) * limits->h2_reset_per_s / 1000;
    if (earned > 0) {
        h->reset_ms = now_ms;
        h->reset_tokens += earned;
        if (h->reset_tokens > limits->h2_reset_burst) {
            h->reset_tokens = limits->h2_reset_burst;
        }
    }
    if (h->reset_tokens > 0) {
        h->reset_tokens--;
        return;
    }
    HTTP_LOOP_COUNT(h->conn->loop, connections_cut, 1);
    must(nghttp2_session_terminate_session(h->session, NGHTTP2_ENHANCE_YOUR_CALM));
}

static int stream_close_cb(nghttp2_session *session, int32_t stream_id, uint32_t error_code,
                           void *data)
{
    struct http2 *h = data;
    struct http_exchange *x = exchange_of(session, stream_id);
    if (stream_id == h->head_stream) {
        h->head_stream = 0; /* the rest of the head is skipped */
    }
    if (x == NULL) {
        return 0;
    }
    bool early = error_code != NGHTTP2_NO_ERROR || !x->started || !x->finished;
    let_go(h, x);
    if (early) {
        count_reset(h);
    }
    return 0;
}

static int invalid_frame_cb(nghttp2_session *session, const nghttp2_frame *frame, int code,
                            void *data)
{
    struct http2 *h = data;
    (void)session;
    (void)frame;
    (void)code;
    HTTP_LOOP_COUNT(h->conn->loop, protocol_errors, 1);
    return 0;
}

struct http2_shared *http2__shared_new(const struct http_server_config *config)
{
    const struct http_limits *limits = &config->limits;
    struct http2_shared *shared = calloc(1, sizeof *shared);
    CHECK(shared != NULL);
    must(nghttp2_session_callbacks_new(&shared->callbacks));
    nghttp2_session_callbacks *c = shared->callbacks;
    nghttp2_session_callbacks_set_on_begin_headers_callback(c, begin_headers_cb);
    nghttp2_session_callbacks_set_on_header_callback(c, header_cb);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, frame_recv_cb);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, data_chunk_cb);
    nghttp2_session_callbacks_set_on_frame_send_callback(c, frame_send_cb);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, stream_close_cb);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, invalid_frame_cb);
    must(nghttp2_option_new(&shared->options));
    nghttp2_option_set_no_auto_window_update(shared->options, 1);
    nghttp2_option_set_no_closed_streams(shared->options, 1);
    /* nghttp2 counts some of the same streams as count_reset. Its limit must be reached later, or
     * there would be two GOAWAY frames, the later one with more streams. */
    nghttp2_option_set_stream_reset_rate_limit(shared->options,
                                               2 * (uint64_t)limits->h2_reset_burst,
                                               2 * (uint64_t)limits->h2_reset_per_s);
    for (size_t i = 0; i < HTTP_COMMON_SETS; i++) {
        shared->common[i] = http2_common__make(config->common[i].headers, config->common[i].count);
    }
    return shared;
}

void http2__shared_free(struct http2_shared *shared)
{
    if (shared != NULL) {
        nghttp2_session_callbacks_del(shared->callbacks);
        nghttp2_option_del(shared->options);
        for (size_t i = 0; i < HTTP_COMMON_SETS; i++) {
            free(shared->common[i].memory);
        }
        free(shared);
    }
}

/* ---- the protocol ---- */

static void http2_input(struct http_conn *c, struct str bytes)
{
    struct http2 *h = c->session;
    h->input_ms = http_loop__now_ms(c->loop);
    if (bytes.len == 0) {
        return;
    }
    ssize_t n = nghttp2_session_mem_recv(h->session, (const uint8_t *)bytes.ptr, bytes.len);
    if (n < 0) {
        HTTP_LOOP_COUNT(c->loop, protocol_errors, 1);
        http_conn__cut(c);
    }
    http_conn__queue(c); /* nghttp2 may have frames to send, and streams may have to start */
}

static void http2_eof(struct http_conn *c)
{
    http_conn__finish(c, false);
}

/* Move frames from nghttp2 to the connection. True if it stopped because output_bytes are
 * unwritten. */
static bool pull_frames(struct http2 *h)
{
    struct http_conn *c = h->conn;
    while (http_conn__unwritten(c) < c->loop->limits->output_bytes) {
        const uint8_t *bytes;
        ssize_t n = nghttp2_session_mem_send(h->session, &bytes);
        if (n < 0) {
            http_conn__cut(c);
            return false;
        }
        if (n == 0) {
            return false;
        }
        http_out_add(&c->out, str_from(bytes, (size_t)n));
    }
    return true;
}

static bool http2_turn(struct http_conn *c)
{
    struct http2 *h = c->session;
    while (h->waiting_first != NULL && can_start(h)) {
        struct http_exchange *x = h->waiting_first;
        list_remove(h, x);
        streams_add(h, x);
        if (!x->refused) {
            http_exchange__start(x);
        }
    }
    bool more = pull_frames(h);
    if (nghttp2_session_want_read(h->session) == 0 && nghttp2_session_want_write(h->session) == 0) {
        http_conn__finish(c, true);
    }
    return more;
}

static void http2_drained(struct http_conn *c)
{
    (void)c; /* each stream tracks its own pieces */
}

/* Always: the client may send the window update that answers are waiting for. */
static bool http2_wants_input(const struct http_conn *c)
{
    (void)c;
    return true;
}

static void say_goaway(struct http2 *h)
{
    int32_t last = nghttp2_session_get_last_proc_stream_id(h->session);
    must(nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0));
    http_conn__queue(h->conn);
}

static void http2_stop(struct http_conn *c)
{
    say_goaway(c->session);
}

static void expire_lingering(struct http2 *h, uint64_t now_ms)
{
    uint32_t timeout_ms = h->conn->loop->limits->linger_timeout_ms;
    for (struct http_exchange *x = h->streams; x != NULL; x = x->h2.next) {
        if (x->h2.lingers && now_ms - x->h2.lingering_ms > timeout_ms) {
            end_linger(h->session, x);
        }
    }
}

static void http2_expire(struct http_conn *c, uint64_t now_ms)
{
    struct http2 *h = c->session;
    const struct http_limits *limits = c->loop->limits;
    expire_lingering(h, now_ms);
    bool reads_nothing = h->queued_bytes > 0 && now_ms - h->progress_ms > limits->write_timeout_ms;
    bool head_is_late = h->head_stream != 0 && now_ms - h->head_ms > limits->header_timeout_ms;
    if (reads_nothing || head_is_late) {
        http_conn__cut(c);
    } else if (h->stream_count == 0 && now_ms - h->input_ms > limits->idle_timeout_ms) {
        say_goaway(h);
    }
}

static void http2_lost(struct http_conn *c)
{
    struct http2 *h = c->session;
    while (h->stream_count > 0) {
        let_go(h, h->streams != NULL ? h->streams : h->waiting_first);
    }
    CHECK(h->queued_bytes == 0);
    nghttp2_session_del(h->session);
    free(h);
}

static const struct http_proto http2_proto = {
    .input = http2_input,
    .eof = http2_eof,
    .turn = http2_turn,
    .drained = http2_drained,
    .wants_input = http2_wants_input,
    .stop = http2_stop,
    .expire = http2_expire,
    .lost = http2_lost,
};

static struct http2 *session_new(struct http_conn *c)
{
    struct http_loop *loop = c->loop;
    struct http2 *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    h->conn = c;
    h->input_ms = h->progress_ms = h->reset_ms = http_loop__now_ms(loop);
    h->reset_tokens = loop->limits->h2_reset_burst;
    must(nghttp2_session_server_new2(&h->session, loop->h2->callbacks, h, loop->h2->options));
    return h;
}

/* Send the server's settings; from now on this protocol owns the connection. */
static void session_begin(struct http2 *h)
{
    const struct http_limits *limits = h->conn->loop->limits;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->h2_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)limits->body_window_bytes},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, (uint32_t)limits->h2_frame_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)limits->header_bytes},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    must(nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, COUNT_OF(settings)));
    must(nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0,
                                               (int32_t)limits->h2_connection_window));
    h->conn->proto = &http2_proto;
    h->conn->session = h;
    http_conn__queue(h->conn);
}

void http2__open(struct http_conn *c)
{
    session_begin(session_new(c));
}

bool http2__open_upgraded(struct http_conn *c, struct http_exchange *x, struct str settings)
{
    uint8_t payload[33 * 6]; /* more settings than nghttp2 accepts in one frame */
    size_t len;
    if (base64url_room(settings.len) > sizeof payload ||
        !base64url_decode(settings, payload, &len)) {
        return false;
    }
    struct http2 *h = session_new(c);
    if (nghttp2_session_upgrade2(h->session, payload, len, x->req.head, x) != 0) {
        nghttp2_session_del(h->session);
        free(h);
        return false;
    }
    http_out_add(&c->out, STR("HTTP/1.1 101 Switching Protocols\r\n"
                              "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"));
    session_begin(h);
    x->ops = &http2_answer__ops;
    x->req.protocol = HTTP_2;
    x->h2 = (struct http2_part){.stream_id = 1};
    http_out_init(&x->h2.pieces, &c->loop->blocks);
    streams_add(h, x);
    http_exchange__start(x);
    return true;
}
