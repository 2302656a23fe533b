#include <stdio.h>
#include <string.h>

#include "h2_client.h"
#include "http_fixture.h"
#include "lib/expect.h"
#include "lib/test.h"

struct world {
    struct http_fixture f;
    struct h2_client c;
};

/* If limits is NULL, the defaults apply. */
static void open_world(struct world *w, const struct http_limits *limits)
{
    http_fixture_open(&w->f, limits, 1);
    h2_client_open(&w->c, w->f.port);
}

static void close_world(struct world *w)
{
    h2_client_close(&w->c);
    http_fixture_close(&w->f, 20000);
}

static size_t get(struct world *w, const char *path)
{
    return h2_client_request(&w->c, "GET", path, STR_EMPTY, false);
}

static void expect_answer(struct world *w, size_t stream, int status, struct str body)
{
    struct h2_stream *s = &w->c.streams[stream];
    h2_client_finish(&w->c, stream);
    assert_int_equal(s->status, status);
    expect_str(buf_str(&s->body), body);
    assert_int_equal(s->error_code, NGHTTP2_NO_ERROR);
}

static bool has_line(const struct buf *text, const char *line)
{
    return text->len > 0 && memmem(text->ptr, text->len, line, strlen(line)) != NULL;
}

static void http2__answers_by_prior_knowledge(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = get(&w, "/hello");
    expect_answer(&w, s, 200, STR("hello"));
    assert_true(has_line(&w.c.streams[s].headers, "content-length: 5\n"));
    assert_int_equal(w.c.settings[NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS], 2048);
    assert_int_equal(w.c.settings[NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE], 1 << 20);
    assert_int_equal(w.c.settings[NGHTTP2_SETTINGS_MAX_FRAME_SIZE], 1 << 20);
    close_world(&w);
}

static void http2__answers_after_an_upgrade(void **state)
{
    (void)state;
    struct world w;
    http_fixture_open(&w.f, NULL, 1);
    h2_client_open_upgrade(&w.c, w.f.port, "/info?q=x");
    expect_answer(&w, 0, 200,
                  STR("method=0 GET path=/info raw=/info q=x http=2 test=- cookie=- "
                      "peer=127.0.0.1 length=0"));
    size_t s = h2_client_request(&w.c, "POST", "/echo", STR("body"), false);
    expect_answer(&w, s, 200, STR("body"));
    close_world(&w);
}

static void http2__ignores_an_upgrade_it_cannot_make(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *request;
        const char *body;
    } rows[] = {
        {"bad settings",
         "GET /hello HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
         "HTTP2-Settings: ***\r\n\r\n",
         "hello"},
        {"settings of an odd length",
         "GET /hello HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
         "HTTP2-Settings: AAMA\r\n\r\n",
         "hello"},
        {"with a body",
         "POST /echo HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
         "HTTP2-Settings: AAMAAABk\r\nContent-Length: 2\r\n\r\nok",
         "ok"},
        {"not asked for properly", "GET /hello HTTP/1.1\r\nHost: t\r\nUpgrade: h2c\r\n\r\n",
         "hello"},
    };
    struct http_fixture f;
    http_fixture_open(&f, NULL, 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct net_client c;
        struct net_answer a;
        ROW(rows[i].name);
        net_client_open(&c, f.port);
        net_client_send(&c, str_from_z(rows[i].request));
        assert_true(net_client_answer(&c, false, &a));
        assert_int_equal(a.status, 200);
        expect_str(a.body, str_from_z(rows[i].body));
        net_client_close(&c);
    }
    http_fixture_close(&f, 20000);
}

static void http2__shows_the_handler_what_came(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = h2_client_request_with(&w.c, "/info/a%20b?q=%41", "x-test", "v");
    expect_answer(&w, s, 200,
                  STR("method=0 GET path=/info/a b raw=/info/a%20b q=A http=2 test=v "
                      "cookie=a=1; b=2 peer=127.0.0.1 length=0"));
    close_world(&w);
}

static void http2__runs_many_streams_at_once(void **state)
{
    (void)state;
    enum { STREAMS = 1000 };
    struct world w;
    open_world(&w, NULL);
    /* The server's settings allow this many streams, but the client must receive them first. */
    expect_answer(&w, get(&w, "/hello"), 200, STR("hello"));
    size_t parked = get(&w, "/park/p");
    size_t first = w.c.count;
    for (size_t i = 0; i < STREAMS; i++) {
        (void)h2_client_request(&w.c, "POST", "/echo", STR("payload"), false);
    }
    for (size_t i = 0; i < STREAMS; i++) {
        expect_answer(&w, first + i, 200, STR("payload"));
    }
    assert_false(w.c.streams[parked].closed);
    http_fixture_do(&w.f, "p", FIXTURE_ANSWER, "late");
    expect_answer(&w, parked, 200, STR("late"));
    assert_int_equal(http_fixture_stats(&w.f).connections, 1);
    close_world(&w);
}

static void http2__streams_both_ways(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = h2_client_request(&w.c, "POST", "/bidi", STR_EMPTY, true);
    /* The headers of the answer arrive before the first byte of the request's body is sent. */
    while (w.c.streams[s].status == 0) {
        assert_true(h2_client_step(&w.c));
    }
    h2_client_more(&w.c, s, STR("one"), false);
    h2_client_wait_body(&w.c, s, 3);
    h2_client_more(&w.c, s, STR("two"), false);
    h2_client_wait_body(&w.c, s, 6);
    h2_client_more(&w.c, s, STR("three"), true);
    expect_answer(&w, s, 200, STR("onetwothree"));
    close_world(&w);
}

static void http2__sends_each_write_as_a_frame_and_trailers(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = get(&w, "/stream?n=3");
    expect_answer(&w, s, 200, STR("data: x\n\ndata: x\n\ndata: x\n\n"));
    assert_int_equal(w.c.streams[s].data_frames, 3);
    expect_str(buf_str(&w.c.streams[s].trailers), STR("x-sum: done\n"));
    s = get(&w, "/stream?n=0");
    expect_answer(&w, s, 200, STR(""));
    expect_str(buf_str(&w.c.streams[s].trailers), STR("x-sum: done\n"));
    close_world(&w);
}

static void http2__sends_whole_answers_with_trailers(void **state)
{
    (void)state;
    enum { ANSWERS = 600 }; /* NAMES_EVERY is less: the names enter the table again */
    struct world w;
    open_world(&w, NULL);
    for (int i = 0; i < ANSWERS; i++) {
        char path[32];
        char line[32];
        (void)snprintf(path, sizeof path, "/whole/%d", i);
        (void)snprintf(line, sizeof line, "x-request-id: %d\n", i);
        size_t s = get(&w, path);
        expect_answer(&w, s, 200, str_from_z(path + sizeof "/whole/" - 1));
        assert_true(has_line(&w.c.streams[s].headers, line));
        assert_true(has_line(&w.c.streams[s].headers, "x-every: answer\n"));
        assert_false(has_line(&w.c.streams[s].headers, "content-length"));
        expect_str(buf_str(&w.c.streams[s].trailers), STR("x-sum: done\n"));
    }
    close_world(&w);
}

static void http2__sends_each_frame_when_it_is_written(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = get(&w, "/push/p");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_do(&w.f, "p", FIXTURE_WRITE, "one");
    h2_client_wait_body(&w.c, s, 3);
    http_fixture_do(&w.f, "p", FIXTURE_WRITE, "two");
    h2_client_wait_body(&w.c, s, 6);
    http_fixture_do(&w.f, "p", FIXTURE_END, "");
    expect_answer(&w, s, 200, STR("onetwo"));
    close_world(&w);
}

static void http2__answers_head_and_bodyless_statuses(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = h2_client_request(&w.c, "HEAD", "/hello", STR_EMPTY, false);
    expect_answer(&w, s, 200, STR(""));
    assert_true(has_line(&w.c.streams[s].headers, "content-length: 5\n"));
    s = get(&w, "/status?code=204");
    expect_answer(&w, s, 204, STR(""));
    assert_false(has_line(&w.c.streams[s].headers, "content-length"));
    s = h2_client_request(&w.c, "HEAD", "/stream?n=2", STR_EMPTY, false);
    expect_answer(&w, s, 200, STR(""));
    close_world(&w);
}

static void http2__writes_only_headers_that_http2_has(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = get(&w, "/splice");
    expect_answer(&w, s, 200, STR(""));
    assert_true(has_line(&w.c.streams[s].headers, "x-echo: a  set-cookie: b\n"));
    assert_false(has_line(&w.c.streams[s].headers, "connection"));
    close_world(&w);
}

static void http2__refuses_what_is_past_a_limit(void **state)
{
    (void)state;
    static char long_path[200] = "/";
    static char long_value[600];
    memset(long_path + 1, 'a', sizeof long_path - 2);
    memset(long_value, 'v', sizeof long_value - 1);
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.request_line_bytes = 100;
    limits.header_bytes = 500;
    limits.header_count = 12;
    open_world(&w, &limits);
    /* Send both before the server's settings arrive: nghttp2 sends no more headers than they
     * allow. */
    size_t path = get(&w, long_path);
    size_t value = h2_client_request_with(&w.c, "/hello", "x-test", long_value);
    expect_answer(&w, path, 414,
                  STR("{\"error\":\"the request line is too long\",\"code\":\"URI_TOO_LONG\"}\n"));
    expect_answer(
        &w, value, 431,
        STR("{\"error\":\"the request head is too long\",\"code\":\"HEADERS_TOO_LARGE\"}\n"));
    /* The connection still works. */
    expect_answer(&w, get(&w, "/hello"), 200, STR("hello"));
    close_world(&w);
}

static void http2__continues_only_when_the_handler_wants_the_body(void **state)
{
    (void)state;
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.linger_timeout_ms = 20; /* unwanted bodies are never sent */
    open_world(&w, &limits);
    size_t s = h2_client_request_expecting(&w.c, "/echo", "100-Continue");
    while (w.c.streams[s].interim == 0) {
        assert_true(h2_client_step(&w.c));
    }
    assert_int_equal(w.c.streams[s].interim, 100);
    h2_client_more(&w.c, s, STR("ok"), true);
    expect_answer(&w, s, 200, STR("ok"));

    s = h2_client_request_expecting(&w.c, "/hello", "100-continue");
    expect_answer(&w, s, 200, STR("hello"));
    assert_int_equal(w.c.streams[s].interim, 0);

    s = h2_client_request_expecting(&w.c, "/echo", "magic");
    expect_answer(&w, s, 417,
                  STR("{\"error\":\"the only supported expectation is 100-continue\","
                      "\"code\":\"VALIDATION_ERROR\"}\n"));
    close_world(&w);
}

static void http2__reads_on_for_a_moment_after_an_early_answer(void **state)
{
    (void)state;
    static char much[3000];
    static const struct {
        const char *name;
        size_t bytes; /* sent after the answer */
        bool end;
        bool reset;
    } rows[] = {
        {"little, and the end", 1000, true, false},
        {"much", sizeof much, false, true},
        {"nothing", 0, false, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        struct http_limits limits = HTTP_LIMITS_DEFAULT;
        ROW(rows[i].name);
        limits.drain_bytes = 2000;
        limits.linger_timeout_ms = rows[i].bytes == 0 ? 20 : 1000000;
        open_world(&w, &limits);
        size_t s = h2_client_request(&w.c, "POST", "/hello", STR("ab"), true);
        h2_client_wait_body(&w.c, s, 5);
        if (rows[i].bytes > 0) {
            h2_client_more(&w.c, s, str_from(much, rows[i].bytes), rows[i].end);
        }
        expect_answer(&w, s, 200, STR("hello"));
        assert_int_equal(w.c.streams[s].reset, rows[i].reset);
        expect_answer(&w, get(&w, "/hello"), 200, STR("hello"));
        close_world(&w);
    }
}

static void http2__cuts_a_client_whose_head_comes_too_slowly(void **state)
{
    (void)state;
    /* HEADERS without END_HEADERS; half of a HEADERS frame; trailers without END_HEADERS. */
    static const struct {
        const char *name;
        struct str bytes;
    } rows[] = {
        {"no end", {"\0\0\1\1\1\0\0\0\1\x82", 10}},
        {"half a frame", {"\0\0\4\1\5\0\0\0\1\x82\x84", 11}},
        {"half a trailer",
         {"\0\0\xc\1\4\0\0\0\1\x83\x86\x44\5/echo\x41\1t\0\0\1\1\1\0\0\0\1\x93", 31}},
    };
    struct http_fixture f;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.header_timeout_ms = 20;
    http_fixture_open(&f, &limits, 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct net_client c;
        ROW(rows[i].name);
        net_client_open(&c, f.port);
        net_client_send(&c, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
        net_client_send(&c, rows[i].bytes);
        net_client_read_all(&c);
        net_client_close(&c);
    }
    assert_int_equal(http_fixture_stats(&f).connections_cut, COUNT_OF(rows));
    http_fixture_close(&f, 20000);
}

static void http2__tells_the_handler_of_a_body_that_is_too_large(void **state)
{
    (void)state;
    static char body[100000];
    struct world w;
    open_world(&w, NULL);
    size_t s = h2_client_request(&w.c, "POST", "/echo?limit=10", str_from(body, sizeof body), true);
    h2_client_finish(&w.c, s);
    assert_int_equal(w.c.streams[s].status, 413);
    assert_int_equal(w.c.streams[s].error_code, NGHTTP2_NO_ERROR);
    expect_answer(&w, get(&w, "/hello"), 200, STR("hello"));
    close_world(&w);
}

static void http2__takes_large_bodies(void **state)
{
    (void)state;
    static char body[1 << 20];
    for (size_t i = 0; i < sizeof body; i++) {
        body[i] = (char)('a' + i % 23);
    }
    struct world w;
    open_world(&w, NULL);
    size_t one = h2_client_request(&w.c, "POST", "/echo", str_from(body, sizeof body), false);
    size_t two = h2_client_request(&w.c, "POST", "/echo", str_from(body, sizeof body), false);
    expect_answer(&w, one, 200, str_from(body, sizeof body));
    expect_answer(&w, two, 200, str_from(body, sizeof body));
    close_world(&w);
}

static void http2__refuses_a_body_that_there_is_no_room_for(void **state)
{
    (void)state;
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.loop_body_bytes = 10;
    open_world(&w, &limits);
    size_t collected = h2_client_request(&w.c, "POST", "/echo", STR("more than ten"), false);
    expect_answer(&w, collected, 503, STR("refused"));
    /* Before the handler has decided about the body, the server itself must refuse it. */
    size_t late = h2_client_request(&w.c, "POST", "/late/x", STR("more than ten"), false);
    expect_answer(&w, late, 503,
                  STR("{\"error\":\"too many request bodies in memory\","
                      "\"code\":\"UNHEALTHY\"}\n"));
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    expect_answer(&w, h2_client_request(&w.c, "POST", "/echo", STR("ten"), false), 200, STR("ten"));
    close_world(&w);
}

static void http2__lets_the_handler_decide_about_the_body_later(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = h2_client_request(&w.c, "POST", "/late/x", STR("before"), true);
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    h2_client_more(&w.c, s, STR(" between"), false);
    http_fixture_do(&w.f, "x", FIXTURE_COLLECT, "");
    h2_client_more(&w.c, s, STR(" after"), true);
    expect_answer(&w, s, 200, STR("before between after"));
    close_world(&w);
}

static void http2__stops_one_stream_that_is_not_consumed_and_no_other(void **state)
{
    (void)state;
    enum { TOTAL = 3 << 20 };
    static char body[TOTAL];
    struct world w;
    open_world(&w, NULL);
    expect_answer(&w, get(&w, "/hello"), 200, STR("hello"));
    size_t held = h2_client_request(&w.c, "POST", "/hold/h", str_from(body, sizeof body), false);
    http_fixture_wait(&w.f, FIXTURE_BODY, 1 << 20);
    for (int i = 0; i < 10; i++) {
        size_t s = h2_client_request(&w.c, "POST", "/echo", STR("other"), false);
        expect_answer(&w, s, 200, STR("other"));
    }
    assert_int_equal(http_fixture_count(&w.f, FIXTURE_BODY), 1 << 20); /* the stream's window */
    http_fixture_do(&w.f, "h", FIXTURE_CONSUME, "");
    while (w.c.streams[held].to_send.len > 0) {
        assert_true(h2_client_step(&w.c)); /* the server reopens the window in several frames */
    }
    http_fixture_wait(&w.f, FIXTURE_ENDED, 1);
    http_fixture_do(&w.f, "h", FIXTURE_ANSWER, "all");
    expect_answer(&w, held, 200, STR("all"));
    close_world(&w);
}

static void http2__tells_the_handler_once_when_the_stream_is_reset(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t a = get(&w, "/park/a");
    size_t b = h2_client_request(&w.c, "POST", "/hold/b", STR("x"), true);
    size_t c = get(&w, "/push/c");
    size_t d = get(&w, "/park/d");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 4);
    size_t reset[] = {a, b, c};
    for (size_t i = 0; i < COUNT_OF(reset); i++) {
        assert_int_equal(nghttp2_submit_rst_stream(w.c.session, NGHTTP2_FLAG_NONE,
                                                   w.c.streams[reset[i]].id, NGHTTP2_CANCEL),
                         0);
        h2_client_flush(&w.c);
        http_fixture_wait(&w.f, FIXTURE_GONE, i + 1);
    }
    http_fixture_do(&w.f, "d", FIXTURE_ANSWER, "still here");
    expect_answer(&w, d, 200, STR("still here"));
    close_world(&w);
}

static void http2__tells_every_handler_when_the_connection_is_lost(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    (void)get(&w, "/park/a");
    (void)get(&w, "/push/b");
    (void)h2_client_request(&w.c, "POST", "/hold/c", STR("x"), true);
    (void)h2_client_request(&w.c, "POST", "/late/d", STR("x"), true);
    http_fixture_wait(&w.f, FIXTURE_PARKED, 4);
    net_client_abort(&w.c.net);
    http_fixture_wait(&w.f, FIXTURE_GONE, 4);
    close_world(&w);
}

static void http2__resets_a_dropped_stream(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = get(&w, "/drop");
    h2_client_finish(&w.c, s);
    assert_int_equal(w.c.streams[s].error_code, NGHTTP2_CANCEL);
    s = get(&w, "/push/p");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_do(&w.f, "p", FIXTURE_DROP, "");
    h2_client_finish(&w.c, s);
    assert_int_equal(w.c.streams[s].error_code, NGHTTP2_INTERNAL_ERROR);
    expect_answer(&w, get(&w, "/hello"), 200, STR("hello"));
    close_world(&w);
}

static void http2__goes_on_when_a_slow_reader_reads(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    size_t s = get(&w, "/flow?n=5000000");
    /* The client's window is 64 KiB, so the server must wait before the client's first step. */
    http_fixture_wait(&w.f, FIXTURE_FULL, 1);
    h2_client_finish(&w.c, s);
    assert_int_equal(w.c.streams[s].body.len, 5000000);
    assert_true(http_fixture_count(&w.f, FIXTURE_WRITABLE) > 0);
    close_world(&w);
}

static void http2__starts_nothing_while_much_is_unread(void **state)
{
    (void)state;
    enum { STREAMS = 40 };
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.output_bytes = 2 << 20;
    open_world(&w, &limits);
    for (size_t i = 0; i < STREAMS; i++) {
        (void)get(&w, "/static");
    }
    /* The client reads nothing, so most requests must wait. One of them is cancelled meanwhile. */
    http_fixture_wait(&w.f, FIXTURE_STARTED, 2);
    assert_true(http_fixture_count(&w.f, FIXTURE_STARTED) < STREAMS / 2);
    assert_int_equal(nghttp2_submit_rst_stream(w.c.session, NGHTTP2_FLAG_NONE,
                                               w.c.streams[STREAMS - 2].id, NGHTTP2_CANCEL),
                     0);
    for (size_t i = 0; i < STREAMS; i++) {
        h2_client_finish(&w.c, i);
        if (i != STREAMS - 2) {
            assert_int_equal(w.c.streams[i].body.len, FIXTURE_STATIC_BYTES);
        }
    }
    close_world(&w);
}

static void http2__cuts_off_a_client_that_takes_nothing(void **state)
{
    (void)state;
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.write_timeout_ms = 20;
    open_world(&w, &limits);
    (void)get(&w, "/flow?n=5000000");
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    close_world(&w);
}

static void http2__ends_a_connection_that_keeps_resetting(void **state)
{
    (void)state;
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.h2_reset_burst = 10;
    limits.h2_reset_per_s = 0;
    open_world(&w, &limits);
    /* A reset after the answer does not count. */
    for (int i = 0; i < 8; i++) {
        size_t s = get(&w, "/hello");
        expect_answer(&w, s, 200, STR("hello"));
        char reset[] = "\0\0\4\3\0\0\0\0\0\0\0\0\x8";
        reset[8] = (char)w.c.streams[s].id;
        net_client_send(&w.c.net, str_from(reset, sizeof reset - 1));
    }
    for (int i = 0; i < 30; i++) {
        size_t s = get(&w, "/park/p");
        assert_int_equal(nghttp2_submit_rst_stream(w.c.session, NGHTTP2_FLAG_NONE,
                                                   w.c.streams[s].id, NGHTTP2_CANCEL),
                         0);
        h2_client_flush(&w.c);
    }
    h2_client_read_all(&w.c);
    assert_int_equal(w.c.goaways, 1);
    assert_int_equal(w.c.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(http_fixture_count(&w.f, FIXTURE_STARTED) < 20);
    close_world(&w);
}

static void http2__ends_a_connection_that_makes_no_sense(void **state)
{
    (void)state;
    struct http_fixture f;
    struct net_client c;
    http_fixture_open(&f, NULL, 1);
    net_client_open(&c, f.port);
    net_client_send(&c, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthis is not a frame at all, sorry"));
    net_client_read_all(&c);
    net_client_close(&c);
    http_fixture_close(&f, 20000);
}

static void http2__finds_the_preface_however_it_is_cut(void **state)
{
    (void)state;
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    static const char settings[] = "\0\0\0\4\0\0\0\0\0";
    struct http_fixture f;
    http_fixture_open(&f, NULL, 1);
    for (size_t cut = 1; cut < sizeof preface - 1; cut += 5) {
        struct net_client c;
        net_client_open(&c, f.port);
        net_client_send(&c, str_from(preface, cut));
        net_client_send(&c, str_from(preface + cut, sizeof preface - 1 - cut));
        net_client_send(&c, str_from(settings, 9));
        while (c.in.len < 9) {
            assert_true(net_client_read(&c));
        }
        assert_int_equal(c.in.ptr[3], NGHTTP2_SETTINGS);
        net_client_close(&c);
    }
    /* A request can begin like the preface without being HTTP/2. */
    struct net_client c;
    struct net_answer a;
    net_client_open(&c, f.port);
    net_client_send(&c, STR("P"));
    net_client_send(&c, STR("OST /hello HTTP/1.1\r\nHost: t\r\n\r\n"));
    assert_true(net_client_answer(&c, false, &a));
    assert_int_equal(a.status, 200);
    net_client_close(&c);
    http_fixture_close(&f, 20000);
}

static void http2__says_goaway_when_the_server_stops(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, NULL);
    w.f.answer_when_stopping = false;
    size_t s = get(&w, "/park/p");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_stop(&w.f, 20000);
    http_fixture_wait(&w.f, FIXTURE_STOPPING, 1);
    while (w.c.goaways == 0) {
        assert_true(h2_client_step(&w.c));
    }
    assert_int_equal(w.c.goaway_code, NGHTTP2_NO_ERROR);
    http_fixture_do(&w.f, "p", FIXTURE_ANSWER, "last words");
    expect_answer(&w, s, 200, STR("last words"));
    h2_client_read_all(&w.c);
    h2_client_close(&w.c);
    http_fixture_free(&w.f);
}

static void http2__ends_idle_connections(void **state)
{
    (void)state;
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.idle_timeout_ms = 20;
    open_world(&w, &limits);
    h2_client_read_all(&w.c);
    assert_true(w.c.goaways > 0);
    assert_int_equal(w.c.goaway_code, NGHTTP2_NO_ERROR);
    close_world(&w);
}

TEST_GROUP(http2, cmocka_unit_test(http2__answers_by_prior_knowledge),
           cmocka_unit_test(http2__answers_after_an_upgrade),
           cmocka_unit_test(http2__ignores_an_upgrade_it_cannot_make),
           cmocka_unit_test(http2__shows_the_handler_what_came),
           cmocka_unit_test(http2__runs_many_streams_at_once),
           cmocka_unit_test(http2__streams_both_ways),
           cmocka_unit_test(http2__sends_each_write_as_a_frame_and_trailers),
           cmocka_unit_test(http2__sends_whole_answers_with_trailers),
           cmocka_unit_test(http2__sends_each_frame_when_it_is_written),
           cmocka_unit_test(http2__answers_head_and_bodyless_statuses),
           cmocka_unit_test(http2__writes_only_headers_that_http2_has),
           cmocka_unit_test(http2__refuses_what_is_past_a_limit),
           cmocka_unit_test(http2__continues_only_when_the_handler_wants_the_body),
           cmocka_unit_test(http2__reads_on_for_a_moment_after_an_early_answer),
           cmocka_unit_test(http2__cuts_a_client_whose_head_comes_too_slowly),
           cmocka_unit_test(http2__tells_the_handler_of_a_body_that_is_too_large),
           cmocka_unit_test(http2__takes_large_bodies),
           cmocka_unit_test(http2__refuses_a_body_that_there_is_no_room_for),
           cmocka_unit_test(http2__lets_the_handler_decide_about_the_body_later),
           cmocka_unit_test(http2__stops_one_stream_that_is_not_consumed_and_no_other),
           cmocka_unit_test(http2__tells_the_handler_once_when_the_stream_is_reset),
           cmocka_unit_test(http2__tells_every_handler_when_the_connection_is_lost),
           cmocka_unit_test(http2__resets_a_dropped_stream),
           cmocka_unit_test(http2__goes_on_when_a_slow_reader_reads),
           cmocka_unit_test(http2__starts_nothing_while_much_is_unread),
           cmocka_unit_test(http2__cuts_off_a_client_that_takes_nothing),
           cmocka_unit_test(http2__ends_a_connection_that_keeps_resetting),
           cmocka_unit_test(http2__ends_a_connection_that_makes_no_sense),
           cmocka_unit_test(http2__finds_the_preface_however_it_is_cut),
           cmocka_unit_test(http2__says_goaway_when_the_server_stops),
           cmocka_unit_test(http2__ends_idle_connections));
