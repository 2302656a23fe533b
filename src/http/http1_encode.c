#include "http/http1_encode.h"

#include <string.h>

#include "base/check.h"
#include "base/digits.h"
#include "http/http_field.h"
#include "http/http_status.h"

enum {
    /* "HTTP/1.1 200 ", the four headers that the server writes, line ends and the empty line */
    HEAD_FIXED_MAX = 192,
};

static char *put(char *at, struct str s)
{
    if (s.len > 0) {
        memcpy(at, s.ptr, s.len);
    }
    return at + s.len;
}

/* Write a value and its line end. */
static char *put_value(char *at, struct str value)
{
    http_field_copy_value(at, value);
    return put(at + value.len, STR("\r\n"));
}

/* Names are constants in the program, so an invalid one is a bug that any test finds. Headers of
 * the connection are written by the server only. */
static bool may_write(const struct http_header *header)
{
    CHECK(header->name.len > 0);
    DCHECK(http_field_token_len(header->name) == header->name.len);
    return !http_field_is_connections(header->name);
}

static size_t headers_size(const struct http_header *headers, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += headers[i].name.len + headers[i].value.len + 4;
    }
    return size;
}

static char *put_headers(char *at, const struct http_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (may_write(&headers[i])) {
            at = put_value(put(put(at, headers[i].name), STR(": ")), headers[i].value);
        }
    }
    return at;
}

void http1_encode_headers(struct buf *out, const struct http_header *headers, size_t count)
{
    char *begin = buf_reserve(out, headers_size(headers, count) + 1);
    CHECK(begin != NULL);
    out->len += (size_t)(put_headers(begin, headers, count) - begin);
}

static char *put_framing(char *at, const struct http1_answer *answer)
{
    switch (answer->framing) {
    case HTTP1_LENGTH:
        at = digits_put(put(at, STR("Content-Length: ")), answer->length);
        return put(at, STR("\r\n"));
    case HTTP1_CHUNKED:
        return put(at, STR("Transfer-Encoding: chunked\r\n"));
    case HTTP1_CLOSE:
    case HTTP1_NO_BODY:
    default:
        return at;
    }
}

void http1_encode_head(struct http_out *out, const struct http1_answer *answer)
{
    const struct http_response *r = answer->response;
    struct str reason = http_status_reason(r->status);
    CHECK(r->status >= 200);
    CHECK(r->status <= 599);

    size_t max = HEAD_FIXED_MAX + reason.len + r->content_type.len + answer->date.len +
                 answer->connection.len + answer->common.len + answer->body.len +
                 headers_size(r->headers, r->header_count);
    char *begin = http_out_reserve(out, max);
    char *at = put(begin, STR("HTTP/1.1 "));
    at = digits_put_padded(at, (uint64_t)r->status, 3);
    at = put(put(put(at, STR(" ")), reason), STR("\r\n"));
    if (r->content_type.len > 0) {
        at = put_value(put(at, STR("Content-Type: ")), r->content_type);
    }
    at = put_framing(at, answer);
    at = put(put(put(at, STR("Date: ")), answer->date), STR("\r\n"));
    if (answer->connection.len > 0) {
        at = put_value(put(at, STR("Connection: ")), answer->connection);
    }
    at = put_headers(at, r->headers, r->header_count);
    at = put(put(at, answer->common), STR("\r\n"));
    at = put(at, answer->body);
    CHECK((size_t)(at - begin) <= max);
    http_out_commit(out, (size_t)(at - begin));
}

void http1_encode_chunk(struct http_out *out, struct str bytes)
{
    CHECK(bytes.len > 0);
    char *begin = http_out_reserve(out, bytes.len + DIGITS_MAX + 4);
    char *at = put(digits_put_hex(begin, bytes.len), STR("\r\n"));
    at = put(put(at, bytes), STR("\r\n"));
    http_out_commit(out, (size_t)(at - begin));
}

void http1_encode_last(struct http_out *out, const struct http_header *trailers, size_t count)
{
    char *begin = http_out_reserve(out, headers_size(trailers, count) + 5);
    char *at = put_headers(put(begin, STR("0\r\n")), trailers, count);
    at = put(at, STR("\r\n"));
    http_out_commit(out, (size_t)(at - begin));
}
