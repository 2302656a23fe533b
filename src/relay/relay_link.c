/*
 * One connection to another node: HTTP/2, in clear text by prior knowledge or by TLS.
 *
 * nghttp2 calls back while it reads; owners are never called inside such a callback. A node that
 * does not answer a ping counts as gone, and its requests have failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/url.h"
#include "relay/relay_int.h"

enum {
    CONNECT_MS = 2000,
    LOOK_MS = 1000,   /* interval of the checks */
    SILENT_MS = 2000, /* idle time with requests in progress, before a ping */
    DEAD_MS = 6000,   /* idle time after which the node counts as gone */
    STREAMS_MAX = 1000,
    FIELDS_MAX = 160,
    CONNECTION_WINDOW = 16 << 20,
};

/* Callbacks of nghttp2 */

static struct relay_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

static void fail(struct relay_stream *s, bool untouched)
{
    if (!s->ended && !s->failed) {
        s->failed = true;
        s->untouched = untouched;
        relay__stir(s->relay, s);
    }
}

static bool keep(struct relay_stream *s, struct http_header *rows, size_t *count, size_t max,
                 struct http_header row)
{
    if (*count == max) {
        return false;
    }
    rows[*count] = (struct http_header){.name = arena_str(s->arena, row.name),
                                        .value = arena_str(s->arena, row.value)};
    return rows[(*count)++].name.len == row.name.len && arena_error(s->arena) == ERR_OK;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static int on_header_cb(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                        size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                        void *data)
{
    struct relay_stream *s = stream_of(session, frame->hd.stream_id);
    struct http_header row = {.name = str_from(name, name_len),
                              .value = str_from(value, value_len)};
    int64_t status;
    (void)flags, (void)data;
    if (s == NULL) {
        return 0;
    }
    if (str_eq(row.name, STR(":status"))) {
        s->status = str_to_i64(row.value, &status) && status >= 200 ? (int)status : 0;
        return 0;
    }
    if (s->status == 0) {
        return 0; /* headers of an interim response */
    }
    bool kept = !s->head_done ? keep(s, s->headers, &s->header_count, RELAY_HEADERS_MAX, row)
                              : keep(s, s->trailers, &s->trailer_count, RELAY_TRAILERS_MAX, row);
    return kept ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* the stream is reset */
}

static int on_data_cb(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                      size_t len, void *data)
{
    struct relay_stream *s = stream_of(session, id);
    (void)flags, (void)data;
    if (s == NULL) {
        (void)nghttp2_session_consume(session, id, len);
        return 0;
    }
    buf_add(&s->in, bytes, len);
    relay__stir(s->relay, s);
    return buf_error(&s->in) == ERR_OK ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_frame_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct relay_stream *s = stream_of(session, frame->hd.stream_id);
    (void)data;
    if (s == NULL) {
        return 0;
    }
    if (frame->hd.type == NGHTTP2_HEADERS && s->status != 0) {
        s->head_done = true;
        relay__stir(s->relay, s);
    }
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && s->status != 0) {
        s->ended = true;
        relay__stir(s->relay, s);
    }
    return 0;
}

/* The node may have answered before it read the whole request: the response is still complete. */
static int on_close_cb(nghttp2_session *session, int32_t id, uint32_t error, void *data)
{
    struct relay_stream *s = stream_of(session, id);
    (void)data;
    if (s != NULL) {
        fail(s, error == NGHTTP2_REFUSED_STREAM);
        s->closed = true;
    }
    return 0;
}

static int on_sent_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    struct relay_stream *s = stream_of(session, frame->hd.stream_id);
    (void)data;
    if (s != NULL && frame->hd.type == NGHTTP2_HEADERS) {
        s->head_sent = true;
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static ssize_t read_body_cb(nghttp2_session *session, int32_t id, uint8_t *out, size_t len,
                            uint32_t *flags, nghttp2_data_source *source, void *data)
{
    struct relay_stream *s = source->ptr;
    (void)session, (void)id, (void)data;
    bool whole = s->body_sent == s->body.len;
    struct str rest = whole ? str_from(s->out.ptr + s->out_sent, s->out.len - s->out_sent)
                            : str_from_offset(s->body, s->body_sent);
    size_t n = rest.len < len ? rest.len : len;
    if (n > 0) {
        memcpy(out, rest.ptr, n);
    }
    if (!whole) {
        s->body_sent += n;
    } else if (n > 0) {
        s->out_sent += n;
        if (s->out_sent == s->out.len) {
            buf_clear(&s->out);
            s->out_sent = 0;
        }
        if (s->taken != NULL) {
            s->taken(s, n);
        }
    }
    if (s->body_sent == s->body.len && s->out_sent == s->out.len) {
        if (!s->body_open) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
        } else if (n == 0) {
            s->body_waits = true;
            return NGHTTP2_ERR_DEFERRED;
        }
    }
    return (ssize_t)n;
}

static nghttp2_session *new_session(struct relay_link *l)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    nghttp2_session *session = NULL;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, RELAY_WINDOW_BYTES},
    };
    CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
    CHECK(nghttp2_option_new(&option) == 0);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header_cb);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_cb);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_cb);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close_cb);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent_cb);
    CHECK(nghttp2_session_client_new2(&session, callbacks, l, option) == 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    CHECK(nghttp2_submit_settings(session, 0, settings, COUNT_OF(settings)) == 0);
    CHECK(nghttp2_session_set_local_window_size(session, 0, 0, CONNECTION_WINDOW) == 0);
    return session;
}

/* Closing */

static void release(struct relay_link *l)
{
    CHECK(l->holders > 0);
    if (--l->holders == 0) {
        nghttp2_session_del(l->session);
        relay_tls__close(l);
        buf_deinit(&l->flying);
        relay__release(l->relay);
        free(l);
    }
}

static void handle_closed(uv_handle_t *handle)
{
    release(handle->data);
}

void relay_link__close(struct relay_link *l)
{
    if (l->state == LINK_CLOSING) {
        return;
    }
    if (l->state == LINK_RESOLVING) {
        (void)uv_cancel((uv_req_t *)&l->resolve);
    }
    l->state = LINK_CLOSING;
    struct relay_link **at = &l->relay->links;
    while (*at != l) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = l->next;
    while (l->streams != NULL) {
        struct relay_stream *s = l->streams;
        fail(s, !s->head_sent);
        relay_link__forget(s);
    }
    uv_close((uv_handle_t *)&l->tcp, handle_closed);
    uv_close((uv_handle_t *)&l->timer, handle_closed);
}

void relay_link__forget(struct relay_stream *s)
{
    struct relay_link *l = s->link;
    CHECK(l != NULL);
    if (l->state != LINK_CLOSING) {
        (void)nghttp2_session_set_stream_user_data(l->session, s->id, NULL);
        /* Bytes that were not taken must not block the window of other streams. */
        (void)nghttp2_session_consume(l->session, s->id, s->in.len);
    }
    *s->prev = s->next;
    if (s->next != NULL) {
        s->next->prev = s->prev;
    }
    s->link = NULL;
    l->stream_count--;
}

void relay_link__reset(struct relay_stream *s)
{
    struct relay_link *l = s->link;
    if (!s->closed && l->state != LINK_CLOSING) {
        (void)nghttp2_submit_rst_stream(l->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    }
    relay_link__forget(s);
}

/* Writing */

static void written_cb(uv_write_t *req, int status)
{
    struct relay_link *l = req->data;
    l->writing = false;
    buf_clear(&l->flying);
    if (l->state == LINK_OPEN) {
        if (status != 0) {
            relay_link__close(l);
        } else {
            relay_link__flush(l);
        }
    }
    release(l);
}

/* Collect the output to be written next; false if the session is broken. */
static bool collect(struct relay_link *l)
{
    enum { ENOUGH = 256 << 10 };
    const uint8_t *bytes = NULL;
    size_t sum = 0;
    ssize_t n = 0;
    bool ready = l->ssl == NULL || relay_tls__is_ready(l);
    while (ready && sum < ENOUGH && (n = nghttp2_session_mem_send(l->session, &bytes)) > 0) {
        sum += (size_t)n;
        if (l->ssl == NULL) {
            buf_add(&l->flying, bytes, (size_t)n);
        } else if (!relay_tls__write(l, str_from(bytes, (size_t)n))) {
            return false;
        }
    }
    if (l->ssl != NULL) {
        relay_tls__take(l, &l->flying);
    }
    return n >= 0;
}

void relay_link__flush(struct relay_link *l)
{
    if (l->state != LINK_OPEN || l->writing) {
        return;
    }
    if (!collect(l)) {
        relay_link__close(l);
        return;
    }
    if (l->flying.len > 0) {
        uv_buf_t b = uv_buf_init(l->flying.ptr, (unsigned)l->flying.len);
        l->write.data = l;
        if (uv_write(&l->write, (uv_stream_t *)&l->tcp, &b, 1, written_cb) != 0) {
            relay_link__close(l);
            return;
        }
        l->writing = true;
        l->holders++;
    }
}

/* Reading */

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct relay_link *l = handle->data;
    (void)suggested;
    *out = uv_buf_init(l->relay->room, RELAY_ROOM_BYTES);
}

/* False if the connection must be closed. */
static bool take_bytes(struct relay_link *l, struct str bytes)
{
    struct relay *r = l->relay;
    ssize_t n;
    if (l->ssl == NULL) {
        return nghttp2_session_mem_recv(l->session, (const uint8_t *)bytes.ptr, bytes.len) ==
               (ssize_t)bytes.len;
    }
    if (!relay_tls__feed(l, bytes)) {
        return false;
    }
    while ((n = relay_tls__read(l, r->plain, RELAY_ROOM_BYTES)) > 0) {
        if (nghttp2_session_mem_recv(l->session, (const uint8_t *)r->plain, (size_t)n) != n) {
            return false;
        }
    }
    return n == 0;
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *b)
{
    struct relay_link *l = stream->data;
    struct relay *r = l->relay;
    if (n > 0) {
        l->heard_ms = uv_now(r->loop);
        l->pinged = false;
        if (!take_bytes(l, str_from(b->base, (size_t)n))) {
            n = -1;
        }
    }
    relay__tell(r);
    if (n < 0 || (nghttp2_session_check_request_allowed(l->session) == 0 && l->stream_count == 0)) {
        relay_link__close(l);
    }
}

/* Timeouts */

static void timer_cb(uv_timer_t *timer)
{
    struct relay_link *l = timer->data;
    struct relay *r = l->relay;
    uint64_t silent_ms = uv_now(r->loop) - l->heard_ms;
    if (l->state != LINK_OPEN || (l->pinged && silent_ms > DEAD_MS)) {
        relay_link__close(l);
    } else if (l->stream_count > 0 && silent_ms > SILENT_MS && !l->pinged) {
        l->pinged = true;
        (void)nghttp2_submit_ping(l->session, NGHTTP2_FLAG_NONE, NULL);
        relay_link__flush(l);
    }
}

/* Opening */

static void connected_cb(uv_connect_t *req, int status)
{
    struct relay_link *l = req->data;
    if (l->state == LINK_CONNECTING) {
        if (status != 0 || uv_read_start((uv_stream_t *)&l->tcp, alloc_cb, read_cb) != 0) {
            relay_link__close(l);
        } else {
            l->state = LINK_OPEN;
            l->heard_ms = uv_now(l->relay->loop);
            (void)uv_tcp_nodelay(&l->tcp, 1);
            CHECK(uv_timer_start(&l->timer, timer_cb, LOOK_MS, LOOK_MS) == 0);
            relay_link__flush(l);
        }
    }
    release(l);
}

static void resolved_cb(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct relay_link *l = req->data;
    if (l->state == LINK_RESOLVING) {
        l->state = LINK_CONNECTING;
        l->connect.data = l;
        if (status != 0 || found == NULL ||
            uv_tcp_connect(&l->connect, &l->tcp, found->ai_addr, connected_cb) != 0) {
            relay_link__close(l);
        } else {
            l->holders++;
        }
    }
    uv_freeaddrinfo(found);
    release(l);
}

static bool open_tls(struct relay_link *l, const char *host)
{
    struct relay *r = l->relay;
    if (r->context == NULL) {
        r->context = relay_tls__context(r->ca_file);
        r->plain = malloc(RELAY_ROOM_BYTES);
        CHECK(r->plain != NULL);
    }
    return relay_tls__open(l, host);
}

static bool resolve(struct relay_link *l)
{
    struct url url;
    const char *why;
    char host[256], port[8];
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    if (!url_parse(l->url, &url, &why) || url.host.len >= sizeof host) {
        return false;
    }
    memcpy(host, url.host.ptr, url.host.len);
    host[url.host.len] = '\0';
    if (url.tls && !open_tls(l, host)) {
        return false;
    }
    (void)snprintf(port, sizeof port, "%u", url.port);
    l->resolve.data = l;
    return uv_getaddrinfo(l->relay->loop, &l->resolve, resolved_cb, host, port, &hints) == 0;
}

static struct str without_scheme(struct str url)
{
    for (size_t i = 0; i + 2 < url.len; i++) {
        if (memcmp(url.ptr + i, "://", 3) == 0) {
            return str_from_offset(url, i + 3);
        }
    }
    return url;
}

struct relay_link *relay_link__open(struct relay *r, struct str url)
{
    struct relay_link *l = calloc(1, sizeof *l + url.len);
    CHECK(l != NULL);
    memcpy(l->texts, url.ptr, url.len);
    l->relay = r;
    l->url = str_from(l->texts, url.len);
    l->authority = without_scheme(l->url);
    l->session = new_session(l);
    buf_init(&l->flying, SIZE_MAX);
    CHECK(uv_tcp_init(r->loop, &l->tcp) == 0);
    CHECK(uv_timer_init(r->loop, &l->timer) == 0);
    l->tcp.data = l;
    l->timer.data = l;
    l->holders = 2;
    r->holders++;
    l->next = r->links;
    r->links = l;
    if (resolve(l)) {
        l->holders++;
        CHECK(uv_timer_start(&l->timer, timer_cb, CONNECT_MS, 0) == 0);
    } else {
        l->state = LINK_CONNECTING; /* no lookup is in progress, so there is none to cancel */
        CHECK(uv_timer_start(&l->timer, timer_cb, 0, 0) == 0);
    }
    return l;
}

bool relay_link__has_room(const struct relay_link *l)
{
    return l->state != LINK_CLOSING && l->stream_count < STREAMS_MAX &&
           nghttp2_session_check_request_allowed(l->session) != 0;
}

/* Streams */

static nghttp2_nv field(struct str name, struct str value)
{
    /* nghttp2 copies them, but its type has no const. */
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name.ptr,
                        .value = (uint8_t *)(uintptr_t)value.ptr,
                        .namelen = name.len,
                        .valuelen = value.len};
}

void relay_link__submit(struct relay_link *l, struct relay_stream *s,
                        const struct relay_request *request)
{
    nghttp2_nv fields[4 + FIELDS_MAX];
    size_t count = 0;
    fields[count++] = field(STR(":method"), request->method);
    fields[count++] = field(STR(":scheme"), l->ssl == NULL ? STR("http") : STR("https"));
    fields[count++] = field(STR(":authority"), l->authority);
    fields[count++] = field(STR(":path"), request->target);
    for (size_t i = 0; i < request->header_count && i < FIELDS_MAX; i++) {
        fields[count++] = field(request->headers[i].name, request->headers[i].value);
    }
    const nghttp2_data_provider body = {.source.ptr = s, .read_callback = read_body_cb};
    bool has_body = request->body.len > 0 || request->body_open;
    s->link = l;
    s->prev = &l->streams;
    s->next = l->streams;
    if (s->next != NULL) {
        s->next->prev = &s->next;
    }
    l->streams = s;
    l->stream_count++;
    s->id = nghttp2_submit_request(l->session, NULL, fields, count, has_body ? &body : NULL, s);
    if (s->id < 0) {
        s->closed = true;
        fail(s, true);
    }
}

void relay_link__go_on(struct relay_stream *s)
{
    if (s->body_waits && !s->closed) {
        s->body_waits = false;
        (void)nghttp2_session_resume_data(s->link->session, s->id);
    }
}

void relay_link__consumed(struct relay_stream *s, size_t n)
{
    (void)nghttp2_session_consume(s->link->session, s->id, n);
}
