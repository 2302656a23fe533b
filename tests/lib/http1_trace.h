/*
 * Http1_trace: run the HTTP/1 parser over an input and record every event.
 *
 * Two runs over the same bytes, split differently, must record the same. It is a header, because
 * each fuzz target is a single file.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/check.h"
#include "http/http1_head.h"
#include "http/http1_parser.h"

struct http1_trace {
    const struct http_limits *limits;
    struct http1_parser parser;
    struct buf pending; /* passed in and not consumed yet */
    struct buf body;
    struct buf *out;
    bool over;
};

static inline void http1_trace_problem(struct http1_trace *t, struct http_problem problem)
{
    CHECK(problem.status >= 400);
    buf_printf(t->out, "error %d %s\n", problem.status, problem.text);
    t->over = true;
}

static inline void http1_trace_head(struct http1_trace *t)
{
    ATTR_CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
    struct str text = arena_str(arena, t->parser.span);
    struct http_header *headers =
        ARENA_ARRAY(arena, struct http_header, t->parser.header_count + 1);
    struct http_known_slots known = {0};
    struct http1_head head;
    struct http_problem problem;
    CHECK(headers != NULL);
    CHECK(text.len <= t->limits->header_bytes);
    CHECK(t->parser.header_count <= t->limits->header_count);
    if (!http1_head_parse(text, headers, t->parser.header_count, &known, &head, &problem)) {
        http1_trace_problem(t, problem);
        return;
    }
    buf_printf(t->out, "head " STR_FMT " " STR_FMT " HTTP/1.%d length=%lld%s%s%s\n",
               STR_ARG(head.method_name), STR_ARG(head.target), head.protocol == HTTP_1_1,
               (long long)head.content_length, head.keep_alive ? " keep-alive" : "",
               head.expect_continue ? " expect" : "", head.upgrade_h2c ? " h2c" : "");
    for (size_t i = 0; i < head.header_count; i++) {
        buf_printf(t->out, "  " STR_FMT "=" STR_FMT "\n", STR_ARG(head.headers[i].name),
                   STR_ARG(head.headers[i].value));
    }
    http1_parser_body(&t->parser, head.content_length);
}

/* Process all events in the pending bytes. */
static inline void http1_trace_drain(struct http1_trace *t)
{
    for (;;) {
        size_t used = 0;
        enum http1_event event =
            t->over ? HTTP1_MORE : http1_parser_next(&t->parser, buf_str(&t->pending), &used);
        CHECK(used <= t->pending.len);
        if (event == HTTP1_HEAD) {
            http1_trace_head(t);
        } else if (event == HTTP1_BODY) {
            CHECK(t->parser.span.len > 0);
            buf_add_str(&t->body, t->parser.span);
        } else if (event == HTTP1_END) {
            buf_printf(t->out, "body %zu ", t->body.len);
            buf_add_str(t->out, buf_str(&t->body));
            buf_add_str(t->out, STR("\nend\n"));
            buf_clear(&t->body);
        } else if (event == HTTP1_ERROR) {
            http1_trace_problem(t, t->parser.problem);
        }
        t->pending.len -= used;
        if (used > 0) {
            memmove(t->pending.ptr, t->pending.ptr + used, t->pending.len);
        }
        if (event == HTTP1_MORE || event == HTTP1_ERROR) {
            return;
        }
    }
}

/* Pass in the first bytes at once and the rest in pieces of the given size (at least 1). */
static inline void http1_trace_run(const struct http_limits *limits, struct str input, size_t first,
                                   size_t piece, struct buf *out)
{
    struct http1_trace t = {.limits = limits, .out = out};
    http1_parser_init(&t.parser, limits);
    buf_init(&t.pending, SIZE_MAX);
    buf_init(&t.body, SIZE_MAX);
    buf_init(out, SIZE_MAX);
    for (size_t at = 0; at < input.len && !t.over;) {
        size_t n = at == 0 && first > 0 ? first : piece;
        n = n < input.len - at ? n : input.len - at;
        buf_add_str(&t.pending, str_from(input.ptr + at, n));
        at += n;
        http1_trace_drain(&t);
    }
    if (!t.over) {
        /* Record how much of an incomplete body was parsed. */
        buf_printf(out, "more %zu\n", t.body.len);
    }
    buf_deinit(&t.pending);
    buf_deinit(&t.body);
}
