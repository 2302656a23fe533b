/*
 * HTTP/2 without TLS, by prior knowledge: many clients on one connection, a stream for each
 * request.
 *
 * nghttp2 calls back while it reads; no client continues inside such a call. A client whose stream
 * has ended is put on the list of the connection, and the loop continues it.
 */
#include <string.h>

#include <nghttp2/nghttp2.h>

#include "base/check.h"
#include "load/load_int.h"

enum { WINDOW_BYTES = 8 << 20 };

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static int on_header_cb(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                        size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                        void *data)
{
    struct str key = str_from(name, name_len);
    struct str text = str_from(value, value_len);
    bool is_status = str_eq(key, STR(":status"));
    bool is_grpc = !is_status && str_eq(key, STR("grpc-status"));
    bool is_timing = !is_status && !is_grpc && str_eq(key, STR("server-timing"));
    int64_t status = 0;
    (void)flags;
    (void)data;
    if (!is_status && !is_grpc && !is_timing) {
        return 0;
    }
    struct load_client *client = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (client != NULL && is_timing) {
        client->server_ns = load_http1_timing(text);
    } else if (client != NULL && str_to_i64(text, &status)) {
        client->status = is_grpc ? load_rpc__status(status) : (int)status;
    }
    return 0;
}

static bool is_streaming(const struct load_client *client)
{
    return client->thread->run->plan->protocol == LOAD_STREAM;
}

static void answered(struct load_conn *c, struct load_client *client)
{
    client->next_answered = c->answered;
    c->answered = client;
}

static int on_data_cb(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                      const uint8_t *bytes, size_t len, void *data)
{
    struct load_client *client = nghttp2_session_get_stream_user_data(session, stream_id);
    (void)flags;
    if (client != NULL) {
        buf_add(&client->answer, bytes, len);
        if (is_streaming(client) && load_rpc__is_whole(buf_str(&client->answer))) {
            client->status = 200;
            answered(data, client);
        }
    }
    return 0;
}

static int on_close_cb(nghttp2_session *session, int32_t stream_id, uint32_t error, void *data)
{
    struct load_conn *c = data;
    struct load_client *client = nghttp2_session_get_stream_user_data(session, stream_id);
    if (client == NULL) {
        return 0;
    }
    bool lost = error != NGHTTP2_NO_ERROR || is_streaming(client);
    client->stream_id = 0;
    if (!is_streaming(client) || client->state == CLIENT_SENT) {
        client->status = lost && client->status < 400 ? 0 : client->status;
        answered(c, client);
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static ssize_t read_body_cb(nghttp2_session *session, int32_t stream_id, uint8_t *out, size_t len,
                            uint32_t *flags, nghttp2_data_source *source, void *data)
{
    struct load_client *client = source->ptr;
    size_t left = client->body.len - client->body_sent;
    size_t n = left < len ? left : len;
    (void)session;
    (void)stream_id;
    (void)data;
    memcpy(out, client->body.ptr + client->body_sent, n);
    client->body_sent += n;
    if (is_streaming(client)) {
        return n > 0 ? (ssize_t)n : NGHTTP2_ERR_DEFERRED; /* until the next frame */
    }
    if (client->body_sent == client->body.len) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)n;
}

/* Append the session's output to c->out. */
static void pump(struct load_conn *c)
{
    const uint8_t *bytes = NULL;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(c->session, &bytes)) > 0) {
        buf_add(&c->out, bytes, (size_t)n);
    }
    CHECK(n == 0 && !c->out.overflow);
}

static void open_conn(struct load_conn *c)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_session *session = NULL;
    nghttp2_option *option = NULL;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES},
    };
    CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header_cb);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_cb);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close_cb);
    CHECK(nghttp2_option_new(&option) == 0);
    /* Validation in the generator costs the server: they share the processors. */
    nghttp2_option_set_no_http_messaging(option, 1);
    CHECK(nghttp2_session_client_new2(&session, callbacks, c, option) == 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    CHECK(nghttp2_submit_settings(session, 0, settings, COUNT_OF(settings)) == 0);
    CHECK(nghttp2_session_set_local_window_size(session, 0, 0, WINDOW_BYTES) == 0);
    c->session = session;
    pump(c);
}

static void close_conn(struct load_conn *c)
{
    for (size_t i = 0; i < c->client_count; i++) {
        c->clients[i]->stream_id = 0;
    }
    nghttp2_session_del(c->session);
    c->session = NULL;
}

/* Names are constants; values stay valid until the client has its response. */
static nghttp2_nv pair(const char *name, const char *value)
{
    /* The library only reads them, but its type has no const. */
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .value = (uint8_t *)(uintptr_t)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value),
                        .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

static void put_request(struct load_conn *c, struct load_client *client)
{
    const struct load_plan *plan = client->thread->run->plan;
    nghttp2_nv fields[4 + LOAD_HEADERS_MAX];
    size_t count = 0;
    nghttp2_data_provider body = {.source.ptr = client, .read_callback = read_body_cb};
    if (is_streaming(client) && client->stream_id != 0) {
        CHECK(nghttp2_session_resume_data(c->session, client->stream_id) == 0);
        pump(c);
        return;
    }
    fields[count++] = pair(":method", "POST");
    fields[count++] = pair(":scheme", "http");
    fields[count++] = pair(":authority", plan->authority);
    fields[count++] = pair(":path", client->path);
    for (size_t i = 0; i < plan->header_count; i++) {
        fields[count++] = pair(plan->headers[i].name, plan->headers[i].value);
    }
    client->stream_id = nghttp2_submit_request(c->session, NULL, fields, count, &body, client);
    CHECK(client->stream_id > 0);
    pump(c);
}

static bool take_input(struct load_conn *c, struct str bytes)
{
    ssize_t n = nghttp2_session_mem_recv(c->session, (const uint8_t *)bytes.ptr, bytes.len);
    if (n < 0 || (size_t)n != bytes.len) {
        return false;
    }
    pump(c);
    /* After a GOAWAY, or when the stream ids are used up, another connection is needed. */
    return nghttp2_session_check_request_allowed(c->session) != 0;
}

const struct load_wire load_http2_wire = {
    .open = open_conn, .close = close_conn, .request = put_request, .input = take_input};
