/*
 * Fuzz: an HTTP/2 connection, from its preface to its end: frames, header compression, flow
 * control, and the handlers that run meanwhile. The server's network thread runs in this thread.
 * The input is a list of steps of a client, so that well-formed frames are as likely as malformed
 * ones. Whatever was sent, the connection ends, and all its objects and memory are released.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "http/http2_int.h"
#include "http/http_listener_int.h"
#include "http/http_loop_int.h"
#include "log/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TURNS_MAX = 1000, /* turns of the loop within which a connection must end */
    PIECE_BYTES = 700,
    PIECES = 40, /* of a streamed answer: more than the limits allow at once */
    BUDGET_BYTES = 1 << 20,
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static const char upgrade[] =
    "GET /answer HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings"
    "\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";

/* Handlers, selected by the first letter of the path */

static void answer_text(struct http_request *req, int status, struct str body)
{
    const struct http_header headers[] = {{STR("x-odd"), STR("a\r\nb")}};
    struct http_response r = {.status = status,
                              .content_type = STR("text/plain"),
                              .headers = headers,
                              .header_count = 1,
                              .body = body};
    http_request_answer(req, &r);
}

static void collected(struct http_request *req, enum http_body_result result)
{
    answer_text(req, result == HTTP_BODY_COMPLETE ? 200 : 413, req->body);
}

/* Write pieces until the output is full. Called again when it is writable. */
static void flow(struct http_request *req)
{
    static const char piece[PIECE_BYTES];
    uintptr_t left = (uintptr_t)req->data;
    while (left > 0) {
        enum http_write wrote = http_request_write(req, str_from(piece, sizeof piece));
        if (wrote == HTTP_WRITE_GONE) {
            return; /* the gone handler is called next */
        }
        if (wrote == HTTP_WRITE_FULL) {
            req->data = (void *)left;
            return;
        }
        left--;
    }
    const struct http_header trailer = {STR("x-end"), STR("1")};
    http_request_end(req, &trailer, 1);
}

static void take_body(struct http_request *req, struct str bytes)
{
    http_request_consume(req, bytes.len);
}

static void body_over(struct http_request *req)
{
    answer_text(req, 200, STR("over"));
}

static const struct http_handlers flow_handlers = {.gone = http_request_drop, .writable = flow};
static const struct http_handlers body_handlers = {
    .gone = http_request_drop, .body = take_body, .body_end = body_over};
static const struct http_handlers park_handlers = {.gone = http_request_drop};

static void on_request(void *data, struct http_request *req)
{
    (void)data;
    size_t count;
    (void)http_request_params(req, &count);
    req->on = &park_handlers;
    switch (req->path.len > 1 ? req->path.ptr[1] : 0) {
    case 'c':
        http_request_collect(req, 2000, collected);
        return;
    case 's':
        req->on = &body_handlers;
        http_request_stream(req);
        return;
    case 'f':
        req->on = &flow_handlers;
        req->data = (void *)(uintptr_t)PIECES;
        http_request_begin(req, &(struct http_response){.status = 200});
        flow(req);
        return;
    case 'p':
        return; /* until the client disconnects */
    case 'd':
        http_request_drop(req);
        return;
    default:
        answer_text(req, 200, req->path);
    }
}

/* The server */

static struct budget budget;
static struct http_server_config config;
static struct http_loop loop;
static struct http_listener *listener;

static void open_server(void)
{
    static const struct http_listen listen = {.address = "127.0.0.1:0"};
    struct err err;
    log_configure(LOG_ERROR, LOG_TEXT);
    budget_init(&budget, BUDGET_BYTES);
    config = (struct http_server_config){.listen = &listen,
                                         .listen_count = 1,
                                         .limits = HTTP_LIMITS_DEFAULT,
                                         .budget = &budget,
                                         .on_request = on_request};
    /* Small limits, so that short inputs exceed them. */
    config.limits.request_line_bytes = 96;
    config.limits.header_bytes = 512;
    config.limits.header_count = 8;
    config.limits.drain_bytes = 64;
    config.limits.body_window_bytes = 65535;
    config.limits.stream_output_bytes = 4096;
    config.limits.output_bytes = 8192;
    config.limits.h2_streams = 16;
    config.limits.h2_reset_burst = 20;
    config.limits.h2_frame_bytes = 1 << 14;
    config.limits.arena_bytes = 8192;
    loop.config = &config;
    loop.limits = &config.limits;
    loop.self = uv_thread_self();
    http_loop__init(&loop);
    CHECK(http_listener__new(&config, &loop, 1, &listener, &err) == ERR_OK);
    loop.listener = listener;
    http_listener__start(listener);
}

static void run(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        (void)uv_run(&loop.uv, UV_RUN_NOWAIT);
    }
}

/* The client */

struct client {
    int fd;
    uint8_t *at, *end; /* of the input */
};

static int connect_client(void)
{
    const struct http_addr *to = http_listener__addr(listener, 0);
    struct linger hard = {.l_onoff = 1};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK(connect(fd, (const struct sockaddr *)&to->sockaddr, to->len) == 0);
    /* Close with a reset, so that no port remains in TIME_WAIT. */
    CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard) == 0);
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    return fd;
}

static void send_bytes(struct client *c, const void *bytes, size_t n)
{
    (void)!send(c->fd, bytes, n, MSG_NOSIGNAL);
}

static void read_all(struct client *c)
{
    char room[4096];
    while (recv(c->fd, room, sizeof room, 0) > 0) {
    }
}

static uint8_t next(struct client *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

/* Consume up to n bytes of the input. */
static struct str take(struct client *c, size_t n)
{
    size_t left = (size_t)(c->end - c->at);
    struct str s = str_from(c->at, n < left ? n : left);
    c->at += s.len;
    return s;
}

/* stream is the number of the client's stream, which has an odd id. */
static void send_frame(struct client *c, uint8_t type, uint8_t flags, uint8_t stream,
                       struct str payload)
{
    uint8_t head[9] = {(uint8_t)(payload.len >> 16),
                       (uint8_t)(payload.len >> 8),
                       (uint8_t)payload.len,
                       type,
                       flags,
                       0,
                       0,
                       (uint8_t)(stream >> 7),
                       (uint8_t)(stream << 1 | 1)};
    if (type == NGHTTP2_SETTINGS || type == NGHTTP2_PING || type == NGHTTP2_GOAWAY ||
        (type == NGHTTP2_WINDOW_UPDATE && stream == 0)) {
        head[7] = head[8] = 0; /* these belong to the connection */
    }
    send_bytes(c, head, sizeof head);
    send_bytes(c, payload.ptr, payload.len);
}

/* Send complete headers: GET or POST, a path of one letter, and bytes of the input. */
static void send_request(struct client *c, uint8_t stream, uint8_t choice)
{
    static const char letters[] = "acsfpda*";
    uint8_t block[300] = {(choice & 8) != 0 ? 0x83 : 0x82, 0x86, 0x04, 2, '/'};
    size_t n = 5;
    block[n++] = (uint8_t)letters[choice & 7];
    struct str more = take(c, next(c));
    if (more.len > 0) {
        memcpy(block + n, more.ptr, more.len);
        n += more.len;
    }
    uint8_t flags =
        (uint8_t)(NGHTTP2_FLAG_END_HEADERS | ((choice & 16) != 0 ? NGHTTP2_FLAG_END_STREAM : 0));
    send_frame(c, NGHTTP2_HEADERS, flags, stream, str_from(block, n));
}

static void send_data(struct client *c, uint8_t stream, uint8_t choice)
{
    static const char zeros[16384];
    send_frame(c, NGHTTP2_DATA, choice & 1, stream, str_from(zeros, (size_t)(choice >> 1) * 129));
}

static void step(struct client *c)
{
    uint8_t what = next(c);
    uint8_t stream = next(c);
    uint8_t choice = next(c);
    switch (what & 7) {
    case 0:
        send_frame(c, choice & 15, next(c), stream, take(c, next(c)));
        return;
    case 1:
    case 2:
        send_request(c, stream, choice);
        return;
    case 3:
        send_data(c, stream, choice);
        return;
    case 4: { /* raw bytes */
        struct str raw = take(c, choice);
        send_bytes(c, raw.ptr, raw.len);
        return;
    }
    case 5: {
        const uint8_t increment[4] = {choice & 0x80, 0, choice, stream};
        send_frame(c, NGHTTP2_WINDOW_UPDATE, 0, what >> 4, str_from(increment, sizeof increment));
        return;
    }
    case 6:
        read_all(c);
        run(2);
        return;
    default:
        run(1U + (what >> 6));
        if (choice == 0xff) {
            (void)shutdown(c->fd, SHUT_WR);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (listener == NULL) {
        open_server();
    }
    struct client c = {.fd = connect_client(),
                       .at = (uint8_t *)(uintptr_t)data,
                       .end = (uint8_t *)(uintptr_t)data + size};
    uint8_t how = next(&c);
    if ((how & 3) == 1) {
        send_bytes(&c, upgrade, sizeof upgrade - 1);
        run(3);
    }
    if ((how & 3) != 3) {
        send_bytes(&c, preface, sizeof preface - 1);
        send_frame(&c, NGHTTP2_SETTINGS, 0, 0, STR_EMPTY);
    }
    while (c.at < c.end) {
        step(&c);
    }
    run(3);
    if ((how & 4) != 0) {
        read_all(&c);
        run(2);
    }
    (void)close(c.fd);
    for (unsigned i = 0; i < TURNS_MAX && loop.conn_count > 0; i++) {
        run(1);
    }
    CHECK(loop.conn_count == 0);
    run(1);
    CHECK(loop.exchanges == NULL);
    CHECK(loop.body_bytes == 0);
    /* Only memory that the thread keeps for the next connection remains. */
    size_t spare = loop.spare_count * 16 * 1024 + loop.blocks.count * 8 * 1024;
    CHECK(atomic_load(&budget.used_bytes) <= spare);
    return 0;
}
