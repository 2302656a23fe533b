#include "http/http1_encode.h"

#include "base/buf.h"
#include "lib/test.h"

/* Return the bytes of out and empty it. */
static struct buf take_all(struct http_out *out)
{
    struct buf all;
    buf_init(&all, SIZE_MAX);
    while (out->bytes > 0) {
        struct str first = http_out_first(out);
        buf_add_str(&all, first);
        http_out_sent(out, first.len);
    }
    return all;
}

static void check_all(struct http_out *out, const char *want)
{
    struct buf all = take_all(out);
    buf_add_char(&all, '\0');
    assert_string_equal(all.ptr, want);
    buf_deinit(&all);
}

static void http1_encode_head__writes_each_framing(void **state)
{
    (void)state;
    static const struct http_header extra[] = {
        {{"X-A", 3}, {"1", 1}},
        {{"X-Empty", 7}, {NULL, 0}},
    };
    static const struct http_response r = {.status = 200,
                                           .content_type = {"text/plain", 10},
                                           .headers = extra,
                                           .header_count = COUNT_OF(extra)};
    static const struct http_response bare = {.status = 204};
    /* clang-format off */
#define WHEN {"now", 3}
    static const struct {
        struct http1_answer answer;
        const char *text;
    } rows[] = {
        {{&r, HTTP1_LENGTH, 0, {NULL, 0}, WHEN, {NULL, 0}, {NULL, 0}},
         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\nDate: now\r\nX-A: 1\r\nX-Empty: \r\n\r\n"},
        {{&r, HTTP1_LENGTH, UINT64_MAX, {"close", 5}, WHEN, {NULL, 0}, {NULL, 0}},
         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 18446744073709551615\r\nDate: now\r\nConnection: close\r\nX-A: 1\r\nX-Empty: \r\n\r\n"},
        {{&r, HTTP1_CHUNKED, 0, {"keep-alive", 10}, WHEN, {"X-All: yes\r\n", 12}, {NULL, 0}},
         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nDate: now\r\nConnection: keep-alive\r\nX-A: 1\r\nX-Empty: \r\nX-All: yes\r\n\r\n"},
        {{&r, HTTP1_CLOSE, 0, {"close", 5}, WHEN, {NULL, 0}, {NULL, 0}},
         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: now\r\nConnection: close\r\nX-A: 1\r\nX-Empty: \r\n\r\n"},
        {{&r, HTTP1_LENGTH, 3, {NULL, 0}, WHEN, {NULL, 0}, {"abc", 3}},
         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nDate: now\r\nX-A: 1\r\nX-Empty: \r\n\r\nabc"},
        {{&bare, HTTP1_NO_BODY, 7, {NULL, 0}, WHEN, {NULL, 0}, {NULL, 0}}, "HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n"},
    };
#undef WHEN
    /* clang-format on */
    struct http_block_cache cache = {0};
    struct http_out out;
    http_out_init(&out, &cache);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        http1_encode_head(&out, &rows[i].answer);
        check_all(&out, rows[i].text);
    }
    http_out_cache_clear(&cache);
}

static void http1_encode_head__lets_no_value_break_the_framing(void **state)
{
    (void)state;
    static const struct http_header headers[] = {
        {{"X-Echo", 6}, {"a\r\nSet-Cookie: b\r\n\r\n<html>", 26}},
        {{"Content-Length", 14}, {"5", 1}},
        {{"connection", 10}, {"upgrade", 7}},
        {{"Transfer-Encoding", 17}, {"gzip", 4}},
    };
    static const struct http_response r = {
        .status = 599, .headers = headers, .header_count = COUNT_OF(headers)};
    struct http1_answer answer = {
        .response = &r, .framing = HTTP1_LENGTH, .length = 1, .date = STR("now")};
    struct http_block_cache cache = {0};
    struct http_out out;
    http_out_init(&out, &cache);
    http1_encode_head(&out, &answer);
    check_all(&out, "HTTP/1.1 599 Unknown\r\nContent-Length: 1\r\nDate: now\r\n"
                    "X-Echo: a  Set-Cookie: b    <html>\r\n\r\n");
    http_out_cache_clear(&cache);
}

static void http1_encode_chunk__writes_one_chunk_and_the_last(void **state)
{
    (void)state;
    static const struct http_header trailers[] = {{{"grpc-status", 11}, {"0", 1}}};
    struct http_block_cache cache = {0};
    struct http_out out;
    http_out_init(&out, &cache);
    http1_encode_chunk(&out, STR("0123456789abcdef!"));
    check_all(&out, "11\r\n0123456789abcdef!\r\n");
    http1_encode_last(&out, NULL, 0);
    check_all(&out, "0\r\n\r\n");
    http1_encode_last(&out, trailers, COUNT_OF(trailers));
    check_all(&out, "0\r\ngrpc-status: 0\r\n\r\n");
    http_out_cache_clear(&cache);
}

TEST_GROUP(http1_encode, cmocka_unit_test(http1_encode_head__writes_each_framing),
           cmocka_unit_test(http1_encode_head__lets_no_value_break_the_framing),
           cmocka_unit_test(http1_encode_chunk__writes_one_chunk_and_the_last));
