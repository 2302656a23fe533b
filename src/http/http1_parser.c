#include "http/http1_parser.h"

#include <string.h>

#include "base/check.h"
#include "http/http1_head.h"
#include "http/http_field.h"

enum {
    CHUNK_DIGITS_MAX = 15, /* 2^60 bytes: no sum of sizes can overflow */
    EMPTY_LINES_MAX = 4,
};

void http1_parser_init(struct http1_parser *p, const struct http_limits *limits)
{
    /* Otherwise a long first line would give 414 or 431, depending on how reads split it. */
    CHECK(limits->request_line_bytes <= limits->header_bytes);
    *p = (struct http1_parser){.limits = limits, .state = HTTP1_AT_HEAD};
}

static enum http1_event fail(struct http1_parser *p, int status, const char *text)
{
    p->state = HTTP1_AT_FAILURE;
    p->problem = (struct http_problem){.status = status, .text = text};
    return HTTP1_ERROR;
}

/* Skip empty lines before a request (RFC 9112, 2.2), up to a limit: some clients end a body with
 * one, but none needs thousands. Returns the number of bytes. */
static size_t skip_empty_lines(struct http1_parser *p, struct str in)
{
    size_t used = 0;
    while (p->scanned == 0 && p->skipped < EMPTY_LINES_MAX && in.len - used >= 2 &&
           memcmp(in.ptr + used, "\r\n", 2) == 0) {
        p->skipped++;
        used += 2;
    }
    return used;
}

/* Find the empty line that ends a head, continuing where the last call stopped. */
static enum http1_event pass_lines(struct http1_parser *p, struct str in, size_t *used)
{
    const struct http_limits *limits = p->limits;
    size_t line = p->line, lines = p->lines, scanned = p->scanned, end;
    for (;;) {
        const char *lf = memchr(in.ptr + scanned, '\n', in.len - scanned);
        end = lf == NULL ? in.len : (size_t)(lf - in.ptr) + 1;
        if (lines == 0 && end > limits->request_line_bytes) {
            return fail(p, 414, "the request line is too long");
        }
        if (end > limits->header_bytes) {
            return fail(p, 431, "the request head is too long");
        }
        if (lf == NULL) {
            p->line = line;
            p->lines = lines;
            p->scanned = end;
            return HTTP1_MORE;
        }
        if (end - line < 2 || lf[-1] != '\r') {
            return fail(p, 400, "a line ends without a carriage return");
        }
        if (end - line == 2) {
            break;
        }
        line = scanned = end;
        lines++;
        if (lines > (size_t)limits->header_count + 1) {
            return fail(p, 431, "too many headers");
        }
    }
    p->span = str_from(in.ptr, end);
    p->header_count = lines - 1;
    *used += end;
    p->state = HTTP1_AT_FRAMING;
    return HTTP1_HEAD;
}

static enum http1_event next_head(struct http1_parser *p, struct str in, size_t *used)
{
    *used = skip_empty_lines(p, in);
    in = str_from_offset(in, *used);
    bool maybe_empty_line = p->skipped < EMPTY_LINES_MAX && in.len == 1 && in.ptr[0] == '\r';
    if (in.len == 0 || maybe_empty_line) {
        return HTTP1_MORE;
    }
    /* One byte may be enough to refuse the input: TLS on a plain port sends no line end. */
    if (http_field_token_len(str_from(in.ptr, 1)) == 0) {
        return fail(p, 400, "the request line is not well-formed");
    }
    return pass_lines(p, in, used);
}

void http1_parser_body(struct http1_parser *p, int64_t content_length)
{
    CHECK(p->state == HTTP1_AT_FRAMING);
    p->scanned = p->line = p->lines = 0;
    p->skipped = 0;
    p->extension_bytes = p->trailer_bytes = 0;
    if (content_length < 0) {
        p->state = HTTP1_AT_CHUNK_SIZE;
    } else {
        p->state = HTTP1_AT_LENGTH;
        p->left = (uint64_t)content_length;
    }
}

uint64_t http1_parser_left(const struct http1_parser *p)
{
    switch (p->state) {
    case HTTP1_AT_HEAD:
    case HTTP1_AT_CHUNK_SIZE:
    case HTTP1_AT_CHUNK_END:
    case HTTP1_AT_TRAILER:
        return 0;
    case HTTP1_AT_LENGTH:
    case HTTP1_AT_CHUNK_DATA:
        return p->left;
    case HTTP1_AT_FRAMING:
    case HTTP1_AT_FAILURE:
    default:
        return UINT64_MAX;
    }
}

/* Return the available part of the remaining body. */
static enum http1_event take_body(struct http1_parser *p, struct str in, size_t *used)
{
    if (in.len == 0) {
        return HTTP1_MORE;
    }
    *used = p->left < in.len ? (size_t)p->left : in.len;
    p->span = str_from(in.ptr, *used);
    p->left -= *used;
    return HTTP1_BODY;
}

static enum http1_event next_length(struct http1_parser *p, struct str in, size_t *used)
{
    if (p->left > 0) {
        return take_body(p, in, used);
    }
    p->state = HTTP1_AT_HEAD;
    return HTTP1_END;
}

/* The value of a lower- or upper-case hex digit, or 16. */
static unsigned hex_digit(char c)
{
    unsigned digit = (unsigned)(unsigned char)c - '0';
    unsigned letter = ((unsigned)(unsigned char)c | 0x20U) - 'a';
    return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

/* Parse a chunk's first line, without its line end: hex digits, and perhaps ";extensions". */
static enum http1_event take_chunk_size(struct http1_parser *p, struct str line)
{
    uint64_t size = 0;
    size_t digits = 0;
    while (digits < line.len && digits <= CHUNK_DIGITS_MAX && hex_digit(line.ptr[digits]) < 16) {
        size = size * 16 + hex_digit(line.ptr[digits]);
        digits++;
    }
    struct str extension = str_from_offset(line, digits);
    if (digits == 0 || digits > CHUNK_DIGITS_MAX ||
        (extension.len > 0 && extension.ptr[0] != ';') ||
        http_field_value_len(extension) != extension.len) {
        return fail(p, 400, "a chunk size is not well-formed");
    }
    p->extension_bytes += extension.len;
    if (p->extension_bytes > p->limits->chunk_extension_bytes) {
        return fail(p, 400, "the chunk extensions are too long");
    }
    p->left = size;
    p->state = size == 0 ? HTTP1_AT_TRAILER : HTTP1_AT_CHUNK_DATA;
    return HTTP1_MORE;
}

/* Find a line of at most max bytes, including its end; *line is returned without the end. False if
 * the line is incomplete or invalid, with *event set accordingly. */
static bool find_line(struct http1_parser *p, struct str in, size_t max, struct str *line,
                      enum http1_event *event)
{
    *event = HTTP1_MORE;
    if (in.len == 0) {
        return false;
    }
    const char *lf = memchr(in.ptr, '\n', in.len < max ? in.len : max);
    if (lf == NULL) {
        if (in.len >= max) {
            *event = fail(p, 400, "a chunk header or trailer line is too long");
        }
        return false;
    }
    size_t len = (size_t)(lf - in.ptr);
    if (len == 0 || lf[-1] != '\r') {
        *event = fail(p, 400, "a line ends without a carriage return");
        return false;
    }
    *line = str_from(in.ptr, len - 1);
    return true;
}

static enum http1_event next_chunk_size(struct http1_parser *p, struct str in, size_t *used)
{
    struct str line;
    enum http1_event event;
    size_t max = CHUNK_DIGITS_MAX + 1 + p->limits->chunk_extension_bytes + 2;
    if (!find_line(p, in, max, &line, &event)) {
        return event;
    }
    *used = line.len + 2;
    return take_chunk_size(p, line);
}

static enum http1_event next_chunk_data(struct http1_parser *p, struct str in, size_t *used)
{
    enum http1_event event = take_body(p, in, used);
    if (p->left == 0) {
        p->state = HTTP1_AT_CHUNK_END;
    }
    return event;
}

static enum http1_event next_chunk_end(struct http1_parser *p, struct str in, size_t *used)
{
    if ((in.len >= 1 && in.ptr[0] != '\r') || (in.len >= 2 && in.ptr[1] != '\n')) {
        return fail(p, 400, "a chunk does not match its size");
    }
    if (in.len >= 2) {
        *used = 2;
        p->state = HTTP1_AT_CHUNK_SIZE;
    }
    return HTTP1_MORE;
}

/* Trailers must be well-formed but are ignored, so that no header can be smuggled in. */
static enum http1_event next_trailer(struct http1_parser *p, struct str in, size_t *used)
{
    struct str line;
    enum http1_event event;
    if (!find_line(p, in, p->limits->header_bytes - p->trailer_bytes, &line, &event)) {
        return event;
    }
    *used = line.len + 2;
    if (line.len == 0) {
        p->state = HTTP1_AT_HEAD;
        p->lines = 0;
        return HTTP1_END;
    }
    struct http_header header;
    if (http1_head_line(str_from(in.ptr, *used), &header, &p->problem) == 0) {
        p->state = HTTP1_AT_FAILURE;
        return HTTP1_ERROR;
    }
    p->trailer_bytes += *used;
    p->lines++;
    if (p->lines > p->limits->header_count) {
        return fail(p, 431, "too many headers");
    }
    return HTTP1_MORE;
}

static enum http1_event next_nothing(struct http1_parser *p, struct str in, size_t *used)
{
    (void)in;
    (void)used;
    CHECK(p->state == HTTP1_AT_FAILURE);
    return HTTP1_ERROR;
}

enum http1_event http1_parser_next(struct http1_parser *p, struct str in, size_t *out_used)
{
    static enum http1_event (*const steps[])(struct http1_parser *, struct str, size_t *) = {
        [HTTP1_AT_HEAD] = next_head,
        [HTTP1_AT_FRAMING] = next_nothing,
        [HTTP1_AT_LENGTH] = next_length,
        [HTTP1_AT_CHUNK_SIZE] = next_chunk_size,
        [HTTP1_AT_CHUNK_DATA] = next_chunk_data,
        [HTTP1_AT_CHUNK_END] = next_chunk_end,
        [HTTP1_AT_TRAILER] = next_trailer,
        [HTTP1_AT_FAILURE] = next_nothing,
    };
    *out_used = 0;
    for (;;) {
        size_t used = 0;
        enum http1_state before = p->state;
        enum http1_event event = steps[before](p, str_from_offset(in, *out_used), &used);
        *out_used += used;
        /* A step that only advances, for instance past a chunk size, is not an event. */
        bool moved = used > 0 || p->state != before;
        if (event != HTTP1_MORE || !moved || *out_used == in.len) {
            return event;
        }
    }
}
