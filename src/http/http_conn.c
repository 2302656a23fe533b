#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "http/http1_int.h"
#include "http/http2_int.h"
#include "http/http_conn_int.h"
#include "http/http_listener_int.h"
#include "http/http_loop_int.h"

enum {
    PIECES_MAX = 32,              /* per system call */
    TLS_RECORD_BYTES = 16 * 1024, /* encrypted at a time: the maximum record */
    UNSENT_BYTES = 128 * 1024,    /* limit of unsent bytes in the kernel */
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE_LEN = sizeof preface - 1 };

static void move(struct http_conn *c, enum http_conn_state to)
{
    static const unsigned allowed[] = {
        [HTTP_CONN_OPEN] = 1U << HTTP_CONN_FINISHING | 1U << HTTP_CONN_CLOSED,
        [HTTP_CONN_FINISHING] = 1U << HTTP_CONN_LINGERING | 1U << HTTP_CONN_CLOSED,
        [HTTP_CONN_LINGERING] = 1U << HTTP_CONN_CLOSED,
        [HTTP_CONN_CLOSED] = 0,
    };
    CHECK((allowed[c->state] & 1U << to) != 0);
    c->state = to;
}

static uv_stream_t *stream_of(struct http_conn *c)
{
    return (uv_stream_t *)&c->tcp;
}

/* ---- closing ---- */

void http_conn__queue(struct http_conn *c)
{
    struct http_loop *loop = c->loop;
    if (!c->in_turn) {
        c->in_turn = true;
        c->turn_next = NULL;
        *loop->turn_last = c;
        loop->turn_last = &c->turn_next;
    }
}

void http_conn__finish(struct http_conn *c, bool linger)
{
    if (c->state == HTTP_CONN_OPEN) {
        move(c, HTTP_CONN_FINISHING);
        c->linger = linger;
    }
    http_conn__queue(c);
}

void http_conn__doom(struct http_conn *c)
{
    c->doomed = true;
    http_conn__queue(c);
}

void http_conn__cut(struct http_conn *c)
{
    if (!c->doomed) {
        HTTP_LOOP_COUNT(c->loop, connections_cut, 1);
    }
    http_conn__doom(c);
}

static void list_add(struct http_loop *loop, struct http_conn *c)
{
    c->next = loop->conns;
    if (c->next != NULL) {
        c->next->prev = c;
    }
    loop->conns = c;
    loop->conn_count++;
    HTTP_LOOP_COUNT(loop, connections_open, 1);
}

static void list_remove(struct http_loop *loop, struct http_conn *c)
{
    if (c->prev != NULL) {
        c->prev->next = c->next;
    } else {
        loop->conns = c->next;
    }
    if (c->next != NULL) {
        c->next->prev = c->prev;
    }
    loop->conn_count--;
    HTTP_LOOP_COUNT(loop, connections_open, -1);
}

/* libuv has finished with the socket and all its writes. */
static void closed_cb(uv_handle_t *handle)
{
    struct http_conn *c = handle->data;
    CHECK(!c->in_turn);
    http_out_clear(&c->out);
    http_out_clear(&c->wire);
    if (c->tls.ssl != NULL) {
        http_tls_close(&c->tls);
    }
    list_remove(c->loop, c);
    http_listener__give_back(c->slot);
    free(c);
}

/* No further answer can be sent: notify the remaining exchanges. */
static void leave_protocol(struct http_conn *c)
{
    if (c->proto != NULL) {
        c->proto->lost(c);
        c->proto = NULL;
    }
}

static void close_now(struct http_conn *c)
{
    move(c, HTTP_CONN_CLOSED);
    leave_protocol(c);
    uv_close((uv_handle_t *)&c->tcp, closed_cb);
}

static void shutdown_cb(uv_shutdown_t *req, int status)
{
    struct http_conn *c = req->data;
    if (status != 0 && c->state != HTTP_CONN_CLOSED) {
        http_conn__doom(c);
    }
}

/* Everything is written: shut down the sending side, and wait for the client to read and close. */
static void begin_linger(struct http_conn *c)
{
    move(c, HTTP_CONN_LINGERING);
    c->lingering_ms = http_loop__now_ms(c->loop);
    c->shutdown.data = c;
    if (uv_shutdown(&c->shutdown, stream_of(c), shutdown_cb) != 0) {
        http_conn__doom(c);
    }
}

/* ---- output ---- */

static void write_cb(uv_write_t *req, int status)
{
    struct http_conn *c = req->data;
    c->writing = false;
    if (c->state == HTTP_CONN_CLOSED) {
        return;
    }
    if (status != 0) {
        http_conn__doom(c);
        return;
    }
    http_out_sent(c->tls.ssl != NULL ? &c->wire : &c->out, c->writing_bytes);
    HTTP_LOOP_COUNT(c->loop, bytes_written, c->writing_bytes);
    http_conn__queue(c);
}

static void encrypt_output(struct http_conn *c)
{
    size_t room = c->loop->limits->output_bytes;
    while (c->out.bytes > 0 && c->wire.bytes < room) {
        struct str plain = http_out_first(&c->out);
        if (plain.len > TLS_RECORD_BYTES) {
            plain.len = TLS_RECORD_BYTES;
        }
        if (!http_tls_write(&c->tls, plain)) {
            http_conn__doom(c);
            return;
        }
        http_out_sent(&c->out, plain.len);
        http_tls_take(&c->tls, &c->wire);
    }
    http_tls_take(&c->tls, &c->wire);
}

/* Pass to libuv what the socket does not accept now; it stays in out until write_cb. */
static void write_rest(struct http_conn *c, struct http_out *out)
{
    ATTR_UNINITIALIZED uv_buf_t pieces[PIECES_MAX];
    unsigned count = http_out_pieces(out, pieces, PIECES_MAX);
    c->writing_bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        c->writing_bytes += pieces[i].len;
    }
    c->write.data = c;
    c->progress_ms = http_loop__now_ms(c->loop);
    if (uv_write(&c->write, stream_of(c), pieces, count, write_cb) != 0) {
        http_conn__doom(c);
        return;
    }
    c->writing = true;
}

/* Write out to the socket, as far as the socket accepts it. */
static void write_out(struct http_conn *c, struct http_out *out)
{
    while (!c->writing && !c->doomed && out->bytes > 0) {
        ATTR_UNINITIALIZED uv_buf_t pieces[PIECES_MAX];
        unsigned count = http_out_pieces(out, pieces, PIECES_MAX);
        int n = uv_try_write(stream_of(c), pieces, count);
        if (n == UV_EAGAIN) {
            write_rest(c, out);
        } else if (n < 0) {
            http_conn__doom(c);
        } else {
            http_out_sent(out, (size_t)n);
            HTTP_LOOP_COUNT(c->loop, bytes_written, n);
        }
    }
}

static void flush(struct http_conn *c)
{
    if (c->tls.ssl == NULL) {
        write_out(c, &c->out);
        return;
    }
    do {
        encrypt_output(c);
        write_out(c, &c->wire);
    } while (c->out.bytes > 0 && !c->writing && !c->doomed);
}

/* ---- input ---- */

/* Detect the protocol from the first bytes. Bytes that match the HTTP/2 preface need not be
 * kept: they are known. */
static void find_protocol(struct http_conn *c, struct str bytes)
{
    size_t i = 0;
    while (i < bytes.len && c->preface_len < PREFACE_LEN &&
           bytes.ptr[i] == preface[c->preface_len]) {
        c->preface_len++;
        i++;
    }
    if (i == bytes.len && c->preface_len < PREFACE_LEN) {
        return;
    }
    if (c->preface_len == PREFACE_LEN) {
        http2__open(c);
    } else {
        http1__open(c);
    }
    if (c->preface_len > 0) {
        c->proto->input(c, str_from(preface, c->preface_len));
    }
    c->proto->input(c, str_from_offset(bytes, i));
}

static void plain_input(struct http_conn *c, struct str bytes)
{
    if (c->state != HTTP_CONN_OPEN || c->doomed) {
        return; /* an earlier record of the same input has closed the connection */
    }
    if (c->proto == NULL) {
        find_protocol(c, bytes);
    } else {
        c->proto->input(c, bytes);
    }
}

static void on_eof(struct http_conn *c)
{
    c->eof = true;
    if (c->state == HTTP_CONN_OPEN && c->proto != NULL && !c->doomed) {
        c->proto->eof(c);
    } else if (c->state != HTTP_CONN_FINISHING) {
        http_conn__doom(c);
    }
}

static void tls_input(struct http_conn *c, struct str bytes)
{
    int n;
    http_conn__queue(c); /* OpenSSL may have output, whatever happens to the input */
    http_tls_feed(&c->tls, bytes);
    while ((n = http_tls_read(&c->tls, c->loop->plain_room, HTTP_LOOP_READ_BYTES)) > 0) {
        plain_input(c, str_from(c->loop->plain_room, (size_t)n));
    }
    if (n < 0) {
        http_conn__finish(c, true); /* OpenSSL has an alert to send */
    } else if (http_tls_is_over(&c->tls)) {
        on_eof(c);
    }
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct http_conn *c = handle->data;
    (void)suggested;
    *buf = uv_buf_init(c->loop->read_room, HTTP_LOOP_READ_BYTES);
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

/* Read, unless the input cannot be processed now. */
static void update_reading(struct http_conn *c)
{
    bool want =
        !c->eof && (c->state != HTTP_CONN_OPEN || c->proto == NULL || c->proto->wants_input(c));
    if (want == c->reading) {
        return;
    }
    c->reading = want;
    if (!want) {
        (void)uv_read_stop(stream_of(c));
    } else if (uv_read_start(stream_of(c), alloc_cb, read_cb) != 0) {
        http_conn__doom(c);
    }
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct http_conn *c = stream->data;
    if (n == 0 || c->state == HTTP_CONN_CLOSED) {
        return;
    }
    if (n < 0) {
        /* libuv has stopped reading. */
        c->reading = false;
        if (n == UV_EOF) {
            on_eof(c);
        } else {
            http_conn__doom(c);
        }
        http_conn__queue(c);
    } else {
        HTTP_LOOP_COUNT(c->loop, bytes_read, n);
        struct str bytes = str_from(buf->base, (size_t)n);
        if (c->state != HTTP_CONN_OPEN) {
            /* discarded */
        } else if (c->tls.ssl != NULL) {
            tls_input(c, bytes);
        } else {
            plain_input(c, bytes);
        }
        update_reading(c); /* libuv would keep reading */
    }
}

/* ---- called by the loop ---- */

/* Everything is written: is the connection finished? */
static void after_last_byte(struct http_conn *c)
{
    if (c->tls.ssl != NULL) {
        http_tls_end(&c->tls);
        flush(c); /* a few bytes; losing them does no harm */
    }
    if (c->doomed) {
        return; /* the next round closes it */
    }
    if (!c->linger || c->eof) {
        close_now(c);
    } else if (!c->writing) {
        begin_linger(c);
    }
}

void http_conn__turn(struct http_conn *c)
{
    bool more = false;
    if (!c->doomed && c->state == HTTP_CONN_OPEN && c->proto != NULL) {
        more = c->proto->turn(c);
    }
    if (!c->doomed && c->state == HTTP_CONN_FINISHING) {
        leave_protocol(c);
    }
    if (!c->doomed && c->state <= HTTP_CONN_FINISHING) {
        flush(c);
    }
    if (c->doomed) {
        if (c->state != HTTP_CONN_CLOSED) {
            close_now(c);
        }
        return;
    }
    size_t unwritten = http_conn__unwritten(c);
    if (c->state == HTTP_CONN_OPEN && c->proto != NULL &&
        unwritten < c->loop->limits->stream_output_bytes / 2) {
        c->proto->drained(c);
    }
    if (more && unwritten < c->loop->limits->output_bytes) {
        http_conn__queue(c);
    } else if (c->state == HTTP_CONN_FINISHING && unwritten == 0 && !c->writing) {
        after_last_byte(c);
    }
    if (c->state != HTTP_CONN_CLOSED) {
        update_reading(c);
    }
}

void http_conn__stop(struct http_conn *c)
{
    if (c->state == HTTP_CONN_OPEN && c->proto != NULL) {
        c->proto->stop(c);
    } else if (c->state == HTTP_CONN_OPEN) {
        http_conn__doom(c); /* the client has not sent a byte yet */
    }
}

/* Has the client read nothing for too long? */
static bool is_stuck(struct http_conn *c, uint64_t now_ms)
{
    size_t left = uv_stream_get_write_queue_size(stream_of(c));
    if (left != c->writing_left) {
        c->writing_left = left;
        c->progress_ms = now_ms;
    }
    return now_ms - c->progress_ms > c->loop->limits->write_timeout_ms;
}

/* Is the client too slow to send its request, or to close after the last answer? */
static bool is_late(const struct http_conn *c, uint64_t now_ms)
{
    const struct http_limits *limits = c->loop->limits;
    if (c->state == HTTP_CONN_LINGERING) {
        return now_ms - c->lingering_ms > limits->linger_timeout_ms;
    }
    return c->state == HTTP_CONN_OPEN && c->proto == NULL &&
           now_ms - c->opened_ms > limits->header_timeout_ms;
}

void http_conn__expire(struct http_conn *c, uint64_t now_ms)
{
    if (c->writing && is_stuck(c, now_ms)) {
        http_conn__cut(c);
    } else if (is_late(c, now_ms)) {
        http_conn__doom(c);
    } else if (c->state == HTTP_CONN_OPEN && c->proto != NULL) {
        c->proto->expire(c, now_ms);
    }
}

/* Limit the unsent bytes in the kernel, which would otherwise buffer megabytes for a client that
 * does not read. Bytes that are sent but not acknowledged do not count, so throughput is not
 * affected. Failure is harmless. */
static void keep_little_unsent(int fd)
{
    const int bytes = UNSENT_BYTES;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

void http_conn__open(struct http_loop *loop, struct http_slot *slot)
{
    struct http_conn *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->loop = loop;
    c->slot = slot;
    c->opened_ms = http_loop__now_ms(loop);
    c->peer = http_addr_text(&slot->addr, c->peer_text);
    http_out_init(&c->out, &loop->blocks);
    http_out_init(&c->wire, &loop->blocks);
    CHECK(uv_tcp_init(&loop->uv, &c->tcp) == 0);
    c->tcp.data = c;
    list_add(loop, c);
    HTTP_LOOP_COUNT(loop, connections, 1);
    if (uv_tcp_open(&c->tcp, slot->fd) != 0) {
        (void)close(slot->fd);
        http_conn__doom(c);
        return;
    }
    keep_little_unsent(slot->fd);
    if (slot->tls) {
        http_tls_open(&c->tls, loop->tls);
    }
    if (loop->stopping) {
        http_conn__doom(c);
    }
    http_conn__queue(c);
}
