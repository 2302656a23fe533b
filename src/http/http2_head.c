/*
 * Receives the head of an HTTP/2 request, field by field. See http2_int.h.
 */
#include <string.h>

#include "http/http2_int.h"
#include "http/http_exchange_int.h"
#include "http/http_limits.h"
#include "http/http_loop_int.h"

enum {
    HEADERS_FIRST = 16,  /* initial number of rows */
    FIELD_OVERHEAD = 32, /* added per field by RFC 9113 */
};

/* Record a problem; the first one is kept. */
static void set_problem(struct http_exchange *x, struct http_problem problem)
{
    if (x->h2.problem.status == 0) {
        x->h2.problem = problem;
    }
}

static void head_problem(struct http_exchange *x, int status, const char *text)
{
    set_problem(x, (struct http_problem){.status = status, .text = text});
}

/* Return room for one more row; NULL if the arena is full. */
static struct http_header *next_row(struct http_exchange *x)
{
    struct http_request *req = &x->req;
    if (req->header_count == x->h2.header_max) {
        size_t max = x->h2.header_max == 0 ? HEADERS_FIRST : x->h2.header_max * 2;
        struct http_header *more = ARENA_ARRAY(req->arena, struct http_header, max);
        if (more == NULL) {
            return NULL;
        }
        if (req->header_count > 0) {
            memcpy(more, x->h2.headers, req->header_count * sizeof *more);
        }
        x->h2.headers = more;
        x->h2.header_max = max;
        req->headers = more;
    }
    return &x->h2.headers[req->header_count];
}

static void add_header(struct http_exchange *x, struct str name, struct str value)
{
    struct http_header *row = next_row(x);
    if (row == NULL) {
        set_problem(x, http_exchange__no_memory(x));
        return;
    }
    row->name = name;
    row->value = value;
    x->req.header_count++;
}

static bool is_within_limits(struct http_exchange *x, struct str name, struct str value)
{
    const struct http_limits *limits = x->loop->limits;
    x->h2.header_bytes += name.len + value.len + FIELD_OVERHEAD;
    if (str_eq(name, STR(":path")) && value.len > limits->request_line_bytes) {
        head_problem(x, 414, "the request line is too long");
    } else if (x->h2.header_bytes > limits->header_bytes) {
        head_problem(x, 431, "the request head is too long");
    } else if (x->req.header_count >= limits->header_count) {
        head_problem(x, 431, "too many headers");
    }
    return x->h2.problem.status == 0;
}

void http2_head__field(struct http_exchange *x, struct str name, struct str value)
{
    struct http_request *req = &x->req;
    if (!is_within_limits(x, name, value)) {
        return; /* the field is decoded only for the compression state */
    }
    struct str copy = arena_str(req->arena, value);
    if (copy.len != value.len) {
        set_problem(x, http_exchange__no_memory(x));
    } else if (str_eq(name, STR(":method"))) {
        req->method_name = copy;
    } else if (str_eq(name, STR(":path"))) {
        req->target = copy;
    } else if (str_eq(name, STR(":authority"))) {
        add_header(x, STR("host"), copy);
    } else if (str_eq(name, STR("expect")) && !str_eq_nocase(value, STR("100-continue"))) {
        head_problem(x, 417, "the only supported expectation is 100-continue");
    } else if (name.ptr[0] != ':') {
        x->h2.expect |= str_eq(name, STR("expect"));
        x->h2.cookies += str_eq(name, STR("cookie"));
        add_header(x, arena_str(req->arena, name), copy);
        if (arena_error(req->arena) != ERR_OK) {
            set_problem(x, http_exchange__no_memory(x));
        }
    }
}

/* Join the cookie headers into one (RFC 9113, 8.2.3). */
static void join_cookies(struct http_exchange *x)
{
    struct http_request *req = &x->req;
    size_t size = 0;
    for (size_t i = 0; i < req->header_count; i++) {
        size += str_eq(req->headers[i].name, STR("cookie")) ? req->headers[i].value.len + 2 : 0;
    }
    char *joined = arena_alloc(req->arena, size, 1);
    if (joined == NULL) {
        set_problem(x, http_exchange__no_memory(x));
        return;
    }
    size_t len = 0;
    size_t rows = 0;
    for (size_t i = 0; i < req->header_count; i++) {
        struct http_header *row = &x->h2.headers[i];
        if (!str_eq(row->name, STR("cookie"))) {
            x->h2.headers[rows++] = *row;
            continue;
        }
        if (len > 0) {
            joined[len++] = ';';
            joined[len++] = ' ';
        }
        if (row->value.len > 0) {
            memcpy(joined + len, row->value.ptr, row->value.len);
            len += row->value.len;
        }
    }
    x->h2.headers[rows++] =
        (struct http_header){.name = STR("cookie"), .value = str_from(joined, len)};
    req->header_count = rows;
}

struct http_problem http2_head__complete(struct http_exchange *x, bool ended)
{
    struct http_request *req = &x->req;
    struct http_problem problem;
    struct str length;
    req->protocol = HTTP_2;
    req->content_length = ended ? 0 : -1;
    if (x->h2.cookies > 1) {
        join_cookies(x);
    }
    for (size_t i = 0; i < req->header_count; i++) {
        http_known_note(&req->known, http_known_of(req->headers[i].name), i);
    }
    if (!ended && http_request_known(req, HTTP_KNOWN_CONTENT_LENGTH, &length) &&
        !str_to_i64(length, &req->content_length)) {
        head_problem(x, 400, "content-length is not a number");
    }
    if (str_eq(req->method_name, STR("CONNECT"))) {
        head_problem(x, 501, "this server is not a proxy");
    } else if (!http_exchange__set_target(x, req->method_name, req->target, &problem)) {
        set_problem(x, problem);
    }
    return x->h2.problem;
}
