#include "h2_client.h"

#include <stdlib.h>
#include <string.h>

#include "lib/expect.h"
#include "lib/test.h"

static struct h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static int header_cb(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *data)
{
    struct h2_stream *s = stream_of(session, frame->hd.stream_id);
    (void)flags;
    (void)data;
    if (s == NULL) {
        return 0;
    }
    bool head = frame->headers.cat == NGHTTP2_HCAT_RESPONSE ||
                (frame->headers.cat == NGHTTP2_HCAT_HEADERS && s->status == 0);
    struct str n = str_from(name, name_len);
    struct str v = str_from(value, value_len);
    int64_t status;
    if (str_eq(n, STR(":status")) && str_to_i64(v, &status)) {
        *(status < 200 ? &s->interim : &s->status) = (int)status;
    } else {
        buf_printf(head ? &s->headers : &s->trailers, STR_FMT ": " STR_FMT "\n", STR_ARG(n),
                   STR_ARG(v));
    }
    return 0;
}

static int data_cb(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t len, void *data)
{
    struct h2_stream *s = stream_of(session, id);
    (void)flags;
    (void)data;
    if (s != NULL) {
        buf_add(&s->body, bytes, len);
    }
    return 0;
}

static int frame_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct h2_client *c = data;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        c->goaways++;
        c->goaway_code = frame->goaway.error_code;
    } else if (frame->hd.type == NGHTTP2_SETTINGS) {
        for (size_t i = 0; i < frame->settings.niv; i++) {
            int32_t number = frame->settings.iv[i].settings_id;
            if (number < (int32_t)COUNT_OF(c->settings)) {
                c->settings[number] = frame->settings.iv[i].value;
            }
        }
    }
    struct h2_stream *s = stream_of(session, frame->hd.stream_id);
    if (s != NULL) {
        s->data_frames += frame->hd.type == NGHTTP2_DATA && frame->hd.length > 0;
        s->reset |= frame->hd.type == NGHTTP2_RST_STREAM;
    }
    return 0;
}

static int close_cb(nghttp2_session *session, int32_t id, uint32_t error_code, void *data)
{
    struct h2_client *c = data;
    struct h2_stream *s = stream_of(session, id);
    if (s != NULL) {
        s->closed = true;
        s->error_code = error_code;
        c->closed_count++;
    }
    return 0;
}

static void session_open(struct h2_client *c)
{
    nghttp2_session_callbacks *callbacks;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header_cb);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_cb);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_cb);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, close_cb);
    assert_int_equal(nghttp2_session_client_new(&c->session, callbacks, c), 0);
    nghttp2_session_callbacks_del(callbacks);
    c->streams = calloc(H2_STREAMS_MAX, sizeof *c->streams);
    assert_non_null(c->streams);
}

static struct h2_stream *stream_new(struct h2_client *c)
{
    assert_true(c->count < H2_STREAMS_MAX);
    struct h2_stream *s = &c->streams[c->count++];
    buf_init(&s->headers, SIZE_MAX);
    buf_init(&s->trailers, SIZE_MAX);
    buf_init(&s->body, SIZE_MAX);
    return s;
}

void h2_client_open(struct h2_client *c, uint16_t port)
{
    *c = (struct h2_client){0};
    net_client_open(&c->net, port);
    session_open(c);
    assert_int_equal(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, NULL, 0), 0);
}

void h2_client_open_upgrade(struct h2_client *c, uint16_t port, const char *path)
{
    /* SETTINGS_MAX_CONCURRENT_STREAMS = 100, and the same in base64url. */
    static const uint8_t settings[] = {0, 3, 0, 0, 0, 100};
    char text[256];
    struct net_answer a;
    *c = (struct h2_client){0};
    net_client_open(&c->net, port);
    (void)snprintf(text, sizeof text,
                   "GET %s HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                   "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
                   path);
    net_client_send(&c->net, str_from_z(text));
    assert_true(net_client_answer(&c->net, true, &a));
    assert_int_equal(a.status, 101);
    expect_str(net_client_header(&a, STR("upgrade")), STR("h2c"));
    session_open(c);
    struct h2_stream *s = stream_new(c);
    s->id = 1;
    assert_int_equal(nghttp2_session_upgrade2(c->session, settings, sizeof settings, 0, s), 0);
    assert_int_equal(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, NULL, 0), 0);
    h2_client_flush(c);
    /* The bytes after the 101 answer are HTTP/2. */
    assert_int_equal(
        nghttp2_session_mem_recv(c->session, (const uint8_t *)c->net.in.ptr, c->net.in.len),
        c->net.in.len);
    buf_clear(&c->net.in);
}

void h2_client_close(struct h2_client *c)
{
    for (size_t i = 0; i < c->count; i++) {
        buf_deinit(&c->streams[i].headers);
        buf_deinit(&c->streams[i].trailers);
        buf_deinit(&c->streams[i].body);
    }
    free(c->streams);
    nghttp2_session_del(c->session);
    net_client_close(&c->net);
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static ssize_t read_cb(nghttp2_session *session, int32_t id, uint8_t *buf, size_t length,
                       uint32_t *flags, nghttp2_data_source *source, void *data)
{
    struct h2_stream *s = source->ptr;
    size_t n = s->to_send.len < length ? s->to_send.len : length;
    (void)session;
    (void)id;
    (void)data;
    if (n == 0 && s->open_ended) {
        s->waiting = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    if (n > 0) {
        memcpy(buf, s->to_send.ptr, n);
        s->to_send = str_from_offset(s->to_send, n);
    }
    if (s->to_send.len == 0 && !s->open_ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)n;
}

static nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .namelen = strlen(name),
                        .value = (uint8_t *)(uintptr_t)value,
                        .valuelen = strlen(value)};
}

static size_t submit(struct h2_client *c, nghttp2_nv *rows, size_t count, struct str body,
                     bool open_ended)
{
    struct h2_stream *s = stream_new(c);
    nghttp2_data_provider provider = {.source = {.ptr = s}, .read_callback = read_cb};
    bool has_body = body.len > 0 || open_ended;
    s->to_send = body;
    s->open_ended = open_ended;
    s->id = nghttp2_submit_request(c->session, NULL, rows, count, has_body ? &provider : NULL, s);
    assert_true(s->id > 0);
    h2_client_flush(c);
    return c->count - 1;
}

size_t h2_client_request(struct h2_client *c, const char *method, const char *path, struct str body,
                         bool open_ended)
{
    nghttp2_nv rows[] = {nv(":method", method), nv(":scheme", "http"), nv(":path", path),
                         nv(":authority", "t")};
    return submit(c, rows, COUNT_OF(rows), body, open_ended);
}

size_t h2_client_request_with(struct h2_client *c, const char *path, const char *name,
                              const char *value)
{
    nghttp2_nv rows[] = {nv(":method", "GET"),  nv(":scheme", "http"), nv(":path", path),
                         nv(":authority", "t"), nv("cookie", "a=1"),   nv("cookie", "b=2"),
                         nv(name, value)};
    return submit(c, rows, COUNT_OF(rows), STR_EMPTY, false);
}

size_t h2_client_request_expecting(struct h2_client *c, const char *path, const char *what)
{
    nghttp2_nv rows[] = {nv(":method", "POST"), nv(":scheme", "http"), nv(":path", path),
                         nv(":authority", "t"), nv("expect", what)};
    return submit(c, rows, COUNT_OF(rows), STR_EMPTY, true);
}

void h2_client_more(struct h2_client *c, size_t stream, struct str body, bool end)
{
    struct h2_stream *s = &c->streams[stream];
    while (!s->waiting) {
        assert_true(h2_client_step(c));
    }
    s->to_send = body;
    s->open_ended = !end;
    s->waiting = false;
    assert_int_equal(nghttp2_session_resume_data(c->session, s->id), 0);
    h2_client_flush(c);
}

void h2_client_flush(struct h2_client *c)
{
    for (;;) {
        const uint8_t *bytes;
        ssize_t n = nghttp2_session_mem_send(c->session, &bytes);
        assert_true(n >= 0);
        if (n == 0) {
            return;
        }
        net_client_send(&c->net, str_from(bytes, (size_t)n));
    }
}

bool h2_client_step(struct h2_client *c)
{
    h2_client_flush(c);
    if (!net_client_read(&c->net)) {
        return false;
    }
    ssize_t n = nghttp2_session_mem_recv(c->session, (const uint8_t *)c->net.in.ptr, c->net.in.len);
    assert_int_equal(n, c->net.in.len);
    buf_clear(&c->net.in);
    h2_client_flush(c);
    return true;
}

void h2_client_finish(struct h2_client *c, size_t stream)
{
    while (!c->streams[stream].closed) {
        assert_true(h2_client_step(c));
    }
}

void h2_client_wait_body(struct h2_client *c, size_t stream, size_t bytes)
{
    while (c->streams[stream].body.len < bytes) {
        assert_true(h2_client_step(c));
    }
}

void h2_client_read_all(struct h2_client *c)
{
    while (h2_client_step(c)) {
    }
}
