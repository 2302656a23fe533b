/*
 * HTTP/1.1: one request at a time on a connection.
 */
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/digits.h"
#include "load/load_int.h"

static void open_conn(struct load_conn *c)
{
    buf_clear(&c->in);
}

static void close_conn(struct load_conn *c)
{
    buf_clear(&c->in);
}

static void put_request(struct load_conn *c, struct load_client *client)
{
    const struct load_plan *plan = client->thread->run->plan;
    char digits[DIGITS_MAX];
    struct buf *out = &c->out;
    buf_add_str(out, STR("POST "));
    buf_add_str(out, str_from_z(client->path));
    buf_add_str(out, STR(" HTTP/1.1\r\nhost: "));
    buf_add_str(out, str_from_z(plan->authority));
    for (size_t i = 0; i < plan->header_count; i++) {
        buf_add_str(out, STR("\r\n"));
        buf_add_str(out, str_from_z(plan->headers[i].name));
        buf_add_str(out, STR(": "));
        buf_add_str(out, str_from_z(plan->headers[i].value));
    }
    buf_add_str(out, STR("\r\ncontent-length: "));
    buf_add(out, digits, (size_t)(digits_put(digits, client->body.len) - digits));
    buf_add_str(out, STR("\r\n\r\n"));
    buf_add_str(out, buf_str(&client->body));
    CHECK(!out->overflow);
}

/* Return the value of a header field; empty if there is none. */
static struct str field(struct str head, struct str name)
{
    while (head.len > 0) {
        const char *end = memchr(head.ptr, '\n', head.len);
        size_t line = end == NULL ? head.len : (size_t)(end - head.ptr) + 1;
        if (line > name.len && head.ptr[name.len] == ':' &&
            strncasecmp(head.ptr, name.ptr, name.len) == 0) {
            return str_trim(str_from(head.ptr + name.len + 1, line - name.len - 1));
        }
        head = str_from_offset(head, line);
    }
    return STR_EMPTY;
}

/* Parse "proc;dur=0.490" to nanoseconds; -1 if invalid. */
int64_t load_http1_timing(struct str timing)
{
    static const char key[] = "dur=";
    const char *at = timing.len == 0 ? NULL : memmem(timing.ptr, timing.len, key, sizeof key - 1);
    const char *end = timing.ptr + timing.len;
    int64_t value = 0;
    int64_t unit = NS_PER_MS;
    bool point = false;
    if (at == NULL) {
        return -1;
    }
    for (at += sizeof key - 1; at < end && (*at == '.' || (*at >= '0' && *at <= '9')); at++) {
        if (*at == '.') {
            point = true;
        } else if (!point && value < INT32_MAX) {
            value = value * 10 + (*at - '0');
        } else if (point && unit > 1) {
            value = value * 10 + (*at - '0');
            unit /= 10;
        }
    }
    return value * unit;
}

/* Return the status in "HTTP/1.1 200 OK"; 0 if the line is invalid. */
static int status_of(struct str head)
{
    int64_t status = 0;
    if (head.len < 12 || !str_starts_with(head, STR("HTTP/1.")) ||
        !str_to_i64(str_from(head.ptr + 9, 3), &status) || status < 100) {
        return 0;
    }
    return (int)status;
}

/* Pass a complete response to the client. False if the bytes are not HTTP. */
static bool take_answer(struct load_conn *c, struct load_client *client)
{
    struct str in = buf_str(&c->in);
    const char *end = in.ptr == NULL ? NULL : memmem(in.ptr, in.len, "\r\n\r\n", 4);
    if (end == NULL) {
        return true;
    }
    struct str head = str_from(in.ptr, (size_t)(end - in.ptr) + 4);
    struct str text = field(head, STR("content-length"));
    int64_t length = 0;
    int status = status_of(head);
    if (status == 0 || (text.len > 0 && (!str_to_i64(text, &length) || length < 0)) ||
        field(head, STR("transfer-encoding")).len > 0) {
        return false;
    }
    if (in.len - head.len < (size_t)length) {
        return true;
    }
    client->status = status;
    client->server_ns = load_http1_timing(field(head, STR("server-timing")));
    buf_add(&client->answer, in.ptr + head.len, (size_t)length);
    buf_clear(&c->in);
    client->next_answered = c->answered;
    c->answered = client;
    return true;
}

static bool take_input(struct load_conn *c, struct str bytes)
{
    struct load_client *client = c->clients[0];
    buf_add_str(&c->in, bytes);
    return !c->in.overflow && client->state == CLIENT_SENT && take_answer(c, client);
}

const struct load_wire load_http1_wire = {
    .open = open_conn, .close = close_conn, .request = put_request, .input = take_input};
