#include "lib/net_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/test.h"

enum { DEADLINE_MS = 20000 }; /* only a hanging test waits this long */

void net_client_open(struct net_client *c, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *c = (struct net_client){0};
    buf_init(&c->in, SIZE_MAX);
    buf_init(&c->answer, SIZE_MAX);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(c->fd >= 0);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
}

void net_client_close(struct net_client *c)
{
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
    c->fd = -1;
    buf_deinit(&c->in);
    buf_deinit(&c->answer);
}

void net_client_abort(struct net_client *c)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
    net_client_close(c);
}

void net_client_shut(struct net_client *c)
{
    assert_int_equal(shutdown(c->fd, SHUT_WR), 0);
}

void net_client_read_slowly(struct net_client *c)
{
    int small = 4096;
    assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
}

static void wait_for(struct net_client *c, short events)
{
    struct pollfd p = {.fd = c->fd, .events = events};
    int n = poll(&p, 1, DEADLINE_MS);
    if (n == 0) {
        fail_msg("the server did not %s in time", events == POLLIN ? "answer" : "read");
    }
}

size_t net_client_try_send(struct net_client *c, struct str bytes)
{
    ssize_t n = send(c->fd, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) {
        c->reset = true;
    }
    return n < 0 ? 0 : (size_t)n;
}

void net_client_send(struct net_client *c, struct str bytes)
{
    while (bytes.len > 0 && !c->reset) {
        size_t n = net_client_try_send(c, bytes);
        bytes = str_from_offset(bytes, n);
        if (n == 0 && !c->reset) {
            wait_for(c, POLLOUT);
        }
    }
}

bool net_client_read(struct net_client *c)
{
    char room[8192];
    if (c->eof) {
        return false;
    }
    wait_for(c, POLLIN);
    ssize_t n = recv(c->fd, room, sizeof room, MSG_DONTWAIT);
    if (n > 0) {
        buf_add(&c->in, room, (size_t)n);
        return true;
    }
    c->reset |= n < 0;
    c->eof = true;
    return false;
}

void net_client_read_all(struct net_client *c)
{
    while (net_client_read(c)) {
    }
}

/* Position of the first part in s, or SIZE_MAX. */
static size_t find(struct str s, struct str part)
{
    const char *at = s.len == 0 ? NULL : memmem(s.ptr, s.len, part.ptr, part.len);
    return at == NULL ? SIZE_MAX : (size_t)(at - s.ptr);
}

struct str net_client_header(const struct net_answer *answer, struct str name)
{
    struct str rest = answer->head;
    for (;;) {
        size_t end = find(rest, STR("\r\n"));
        if (end == SIZE_MAX || end == 0) {
            return STR_EMPTY;
        }
        struct str line = str_from(rest.ptr, end);
        if (line.len > name.len && line.ptr[name.len] == ':' &&
            str_eq_nocase(str_from(line.ptr, name.len), name)) {
            return str_trim(str_from_offset(line, name.len + 1));
        }
        rest = str_from_offset(rest, end + 2);
    }
}

/* Read until there are at least n bytes. False if the connection ends first. */
static bool need(struct net_client *c, size_t n)
{
    while (c->in.len < n) {
        if (!net_client_read(c)) {
            return false;
        }
    }
    return true;
}

/* Read until part appears at or after from. Sets *at to the end of part. */
static bool need_text(struct net_client *c, size_t from, struct str part, size_t *at)
{
    for (;;) {
        size_t found =
            c->in.len < from ? SIZE_MAX : find(str_from_offset(buf_str(&c->in), from), part);
        if (found != SIZE_MAX) {
            *at = from + found + part.len;
            return true;
        }
        if (!net_client_read(c)) {
            return false;
        }
    }
}

bool net_client_read_until(struct net_client *c, struct str text)
{
    size_t end;
    return need_text(c, 0, text, &end);
}

static size_t hex_number(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len && s.ptr[i] != '\r'; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = strchr(digits, s.ptr[i]);
        assert_non_null(digit);
        n = n * 16 + (size_t)(digit - digits);
    }
    return n;
}

/* Join the chunks from at on in place. Sets *end to the end of the answer. */
static bool join_chunks(struct net_client *c, size_t at, struct net_answer *out, size_t *end)
{
    size_t body_end = at;
    for (;;) {
        size_t line_end;
        if (!need_text(c, at, STR("\r\n"), &line_end)) {
            return false;
        }
        size_t size = hex_number(str_from(c->in.ptr + at, line_end - at));
        if (size == 0) {
            /* Trailers, if any, belong to the end. */
            if (!need_text(c, line_end - 2, STR("\r\n\r\n"), end)) {
                return false;
            }
            out->body.len = body_end;
            return true;
        }
        if (!need(c, line_end + size + 2)) {
            return false;
        }
        memmove(c->in.ptr + body_end, c->in.ptr + line_end, size);
        body_end += size;
        at = line_end + size + 2;
        out->chunks++;
    }
}

bool net_client_answer(struct net_client *c, bool bodyless, struct net_answer *out)
{
    size_t head_len;
    *out = (struct net_answer){0};
    if (!need_text(c, 0, STR("\r\n\r\n"), &head_len)) {
        return false;
    }
    out->head = str_from(c->in.ptr, head_len);
    int64_t status = 0;
    assert_true(str_starts_with(out->head, STR("HTTP/1.1 ")));
    assert_true(str_to_i64(str_from(out->head.ptr + 9, 3), &status));
    out->status = (int)status;
    int64_t length = 0;
    struct str length_text = net_client_header(out, STR("content-length"));
    bool has_length = length_text.len > 0 && str_to_i64(length_text, &length);
    out->chunked = str_eq(net_client_header(out, STR("transfer-encoding")), STR("chunked"));
    size_t end = head_len;
    size_t body_end;
    if (bodyless || status == 100 || status == 101 || status == 204 || status == 304) {
        body_end = head_len;
    } else if (out->chunked) {
        if (!join_chunks(c, head_len, out, &end)) {
            return false;
        }
        body_end = out->body.len;
    } else if (has_length) {
        if (!need(c, head_len + (size_t)length)) {
            return false;
        }
        end = body_end = head_len + (size_t)length;
    } else {
        net_client_read_all(c);
        end = body_end = c->in.len;
    }
    /* Copy the answer, because the bytes after it move to the front for the next answer. */
    buf_deinit(&c->answer);
    buf_add(&c->answer, c->in.ptr, body_end);
    out->head = str_from(c->answer.ptr, head_len);
    out->body = str_from(c->answer.ptr + head_len, body_end - head_len);
    c->in.len -= end;
    memmove(c->in.ptr, c->in.ptr + end, c->in.len);
    return true;
}
