/*
 * Spans from many threads to a collector, and what is said of a span. The API tests check what a
 * collector receives.
 */
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "lib/test.h"
#include "trace/trace_int.h"

enum { THREADS = 4, SPANS = 5000 };

/* Nobody listens on port 1. */
static struct trace_config nobody(void)
{
    struct trace_config config = trace_config_default();
    config.url = "http://127.0.0.1:1/v1/traces";
    config.linger_ms = 1;
    config.retry_ms = 1;
    return config;
}

static void end_many(void *data)
{
    struct trace *t = data;
    for (unsigned i = 0; i < SPANS; i++) {
        struct trace_span request;
        struct trace_span apply;
        CHECK(trace_begin(t, STR_EMPTY, &request));
        trace_begin_inside(&request, &apply);
        trace_end_apply(&apply, 1, STR_EMPTY);
        trace_end_request(&request, STR("GET"), STR("/"), 200);
    }
}

static void spans__are_dropped_rather_than_kept_for_ever(void **state)
{
    const struct trace_config config = nobody();
    struct trace *t = trace_open(&config);
    uv_thread_t threads[THREADS];
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(uv_thread_create(&threads[i], end_many, t), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(uv_thread_join(&threads[i]), 0);
    }
    assert_true(trace_dropped(t) <= THREADS * SPANS * 2);
    assert_true(trace_dropped(t) >= THREADS * SPANS * 2 - 8192);
    trace_close(t);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(uint64_t));
}

static void ids__do_not_repeat(void **state)
{
    const struct trace_config config = nobody();
    struct trace *t = trace_open(&config);
    uint64_t *ids = calloc(SPANS, sizeof *ids);
    (void)state;
    assert_non_null(ids);
    for (unsigned i = 0; i < SPANS; i++) {
        struct trace_span s;
        assert_true(trace_begin(t, STR_EMPTY, &s));
        memcpy(&ids[i], s.context.span, sizeof ids[i]);
    }
    qsort(ids, SPANS, sizeof *ids, compare);
    for (unsigned i = 1; i < SPANS; i++) {
        assert_true(ids[i] != ids[i - 1]);
    }
    free(ids);
    trace_close(t);
}

/* The largest request span, and the largest one of an operation. */
static void span__is_not_larger_than_its_limit(void **state)
{
    static char text[4096];
    const struct trace_config config = nobody();
    struct trace *t = trace_open(&config);
    struct trace_span s;
    (void)state;
    assert_true(trace_begin(t, STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), &s));
    for (enum trace_kind kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        static const char *const fills[] = {"x", "\xc3\xa9", "\xff"};
        for (unsigned i = 0; i < COUNT_OF(fills); i++) {
            struct buf none;
            struct buf one;
            size_t width = strlen(fills[i]);
            for (size_t at = 0; at + width <= sizeof text; at += width) {
                memcpy(text + at, fills[i], width);
            }
            struct str all = str_from(text, sizeof text);
            bool request = kind == TRACE_REQUEST;
            struct trace_done *d = trace_span__new(&s, kind, request ? all : STR_EMPTY,
                                                   request ? all : STR_EMPTY, all);
            d->number = INT64_MIN;
            d->failed = true;
            assert_true(str_is_utf8(d->method) && str_is_utf8(d->path) && str_is_utf8(d->error));
            assert_true(d->error.len <= TRACE_ERROR_BYTES_MAX && d->error.len > 500);
            buf_init(&none, SIZE_MAX);
            buf_init(&one, SIZE_MAX);
            trace_otlp__encode(&config, NULL, &none);
            trace_otlp__encode(&config, d, &one);
            assert_true(one.len - none.len <= TRACE_SPAN_BYTES_MAX);
            buf_deinit(&one);
            buf_deinit(&none);
            free(d);
        }
    }
    trace_close(t);
}

TEST_GROUP(trace, cmocka_unit_test(spans__are_dropped_rather_than_kept_for_ever),
           cmocka_unit_test(ids__do_not_repeat),
           cmocka_unit_test(span__is_not_larger_than_its_limit));
