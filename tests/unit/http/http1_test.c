#include <string.h>
#include <sys/socket.h>

#include "http_world.h"
#include "lib/expect.h"
#include "lib/test.h"

static void http1__keeps_the_connection_for_further_requests(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    for (int i = 0; i < 3; i++) {
        http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\n");
        http_world_expect(&w, 200, "hello");
    }
    assert_int_equal(http_fixture_stats(&w.f).connections, 1);
    assert_int_equal(http_fixture_stats(&w.f).requests, 3);
    http_world_close(&w);
}

static void http1__shows_the_handler_what_came(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w,
                   "GET /info/a%20b?x=1&q=c+d HTTP/1.1\r\n" H "x-test: v\r\nCookie: k=v\r\n\r\n");
    http_world_expect(
        &w, 200,
        "method=0 GET path=/info/a b raw=/info/a%20b q=c d http=1.1 test=v cookie=k=v "
        "peer=127.0.0.1 length=0");
    http_world_say(&w, "DELETE http://t/info HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc");
    http_world_expect(&w, 200,
                      "method=3 DELETE path=/info raw=/info q=- http=1.1 test=- cookie=- "
                      "peer=127.0.0.1 length=3");
    http_world_say(&w, "OPTIONS /info HTTP/1.0\r\nConnection: keep-alive\r\nX-Test: w\r\n\r\n");
    http_world_expect(&w, 200,
                      "method=4 OPTIONS path=/info raw=/info q=- http=1.0 test=w cookie=- "
                      "peer=127.0.0.1 length=0");
    http_world_close(&w);
}

static void http1__answers_pipelined_requests_in_order(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n"
                       "POST /echo HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\nwait"
                       "GET /stream?n=2 HTTP/1.1\r\n" H "\r\nGET /hello HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_STARTED, 5);
    http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "second");
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "first");
    http_world_expect(&w, 200, "first");
    http_world_expect(&w, 200, "second");
    http_world_expect(&w, 200, "wait");
    http_world_expect(&w, 200, "data: x\n\ndata: x\n\n");
    http_world_expect(&w, 200, "hello");
    http_world_close(&w);
}

static void http1__starts_no_more_requests_than_the_pipeline_holds(void **state)
{
    (void)state;
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.pipeline = 2;
    http_world_open(&w, &limits);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n"
                       "GET /park/c HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "b");
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_world_expect(&w, 200, "a");
    http_world_expect(&w, 200, "b");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 3);
    http_fixture_do(&w.f, "c", FIXTURE_ANSWER, "c");
    http_world_expect(&w, 200, "c");
    http_world_close(&w);
}

/* An answer that waits for the one before it counts as output that the client has not read. */
static void http1__starts_no_request_while_held_answers_are_large(void **state)
{
    (void)state;
    struct http_world w;
    struct net_client other;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.output_bytes = 16;
    http_world_open(&w, &limits);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "larger than that");
    struct net_answer answer;
    net_client_open(&other, w.f.port);
    for (int i = 0; i < 2; i++) { /* the loop has processed what was sent before */
        net_client_send(&other, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
        assert_true(net_client_answer(&other, false, &answer));
        if (i == 0) {
            http_world_say(&w, "GET /park/c HTTP/1.1\r\n" H "\r\n");
        }
    }
    assert_int_equal(http_fixture_count(&w.f, FIXTURE_STARTED), 4);
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_world_expect(&w, 200, "a");
    http_world_expect(&w, 200, "larger than that");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 3);
    http_fixture_do(&w.f, "c", FIXTURE_ANSWER, "c");
    http_world_expect(&w, 200, "c");
    net_client_close(&other);
    http_world_close(&w);
}

static void http1__takes_bodies_however_they_come(void **state)
{
    (void)state;
    /* clang-format off */
    static const struct {
        const char *name;
        const char *part[4];
        const char *body;
    } rows[] = {
        {"with a length", {"POST /echo HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello"}, "hello"},
        {"collected twice", {"POST /again HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n", "he", "llo"}, "hello"},
        {"a length in parts", {"POST /echo HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n", "he", "llo"}, "hello"},
        {"chunked", {"POST /echo HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n"}, "hello"},
        {"chunked in parts", {"POST /echo HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n3\r", "\nhel\r\n", "2\r\nlo\r\n0", "\r\n\r\n"}, "hello"},
        {"empty", {"POST /echo HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n"}, ""},
        {"none", {"POST /echo HTTP/1.1\r\n" H "\r\n"}, ""},
        {"not read", {"POST /hello HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n", "GET /", ""}, "hello"},
    };
    /* clang-format on */
    struct http_world w;
    http_world_open(&w, NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        for (size_t p = 0; p < COUNT_OF(rows[i].part) && rows[i].part[p] != NULL; p++) {
            http_world_say(&w, rows[i].part[p]);
        }
        http_world_expect(&w, 200, rows[i].body);
    }
    /* All requests used one connection, so each body ended where it should. */
    assert_int_equal(http_fixture_stats(&w.f).connections, 1);
    http_world_close(&w);
}

static void http1__tells_the_handler_of_a_body_that_is_too_large(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *request;
        bool keeps;
    } rows[] = {
        {"said before", "POST /echo?limit=3 HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\nabcd", true},
        {"seen when it comes",
         "POST /echo?limit=3 HTTP/1.1\r\n" H
         "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
         true},
        {"too large to be read",
         "POST /echo?limit=3 HTTP/1.1\r\n" H "Content-Length: 10000000\r\n\r\nabcd", false},
        {"collected again", "POST /again?limit=3 HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\nabcd",
         true},
        {"collected again before its end",
         "POST /again?limit=3 HTTP/1.1\r\n" H
         "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n",
         true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_world w;
        struct net_answer a;
        ROW(rows[i].name);
        http_world_open(&w, NULL);
        http_world_say(&w, rows[i].request);
        assert_true(net_client_answer(&w.c, false, &a));
        assert_int_equal(a.status, 413);
        if (rows[i].keeps) {
            http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\n");
            http_world_expect(&w, 200, "hello");
        } else {
            expect_str(net_client_header(&a, STR("connection")), STR("close"));
            http_world_expect_end(&w);
        }
        http_world_close(&w);
    }
}

static void http1__reads_some_of_a_body_that_nobody_wants(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *rest; /* of a request that is answered at once */
        const char *connection;
        bool keeps;
    } rows[] = {
        {"a length", "Content-Length: 8\r\n\r\n12345678", "", true},
        {"a longer one", "Content-Length: 9\r\n\r\n123456789", "close", false},
        {"chunks", "Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n4\r\n5678\r\n0\r\n\r\n", "",
         true},
        {"longer ones", "Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n5\r\n56789\r\n0\r\n\r\n",
         "", false},
        {"what is no chunk", "Transfer-Encoding: chunked\r\n\r\nx\r\n", "", false},
    };
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.drain_bytes = 8;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_world w;
        struct net_answer a;
        ROW(rows[i].name);
        http_world_open(&w, &limits);
        http_world_say(&w, "POST /hello HTTP/1.1\r\n" H);
        http_world_say(&w, rows[i].rest);
        assert_true(net_client_answer(&w.c, false, &a));
        expect_str(a.body, STR("hello"));
        expect_str(net_client_header(&a, STR("connection")), str_from_z(rows[i].connection));
        if (rows[i].keeps) {
            http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\n");
            http_world_expect(&w, 200, "hello");
        } else {
            http_world_expect_end(&w);
        }
        http_world_close(&w);
    }
}

static void http1__continues_only_when_the_handler_wants_the_body(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w,
                   "POST /echo HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.status, 100);
    http_world_say(&w, "ok");
    http_world_expect(&w, 200, "ok");

    /* A client that sends its body without waiting needs no 100. */
    http_world_say(&w, "POST /late/x HTTP/1.1\r\n" H
                       "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nok");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_do(&w.f, "x", FIXTURE_COLLECT, "");
    assert_true(net_client_answer(&w.c, false, &a));
    if (a.status == 100) {
        assert_true(net_client_answer(&w.c, false, &a)); /* sent before the body was read */
    }
    assert_int_equal(a.status, 200);

    /* The body is not wanted: no 100, and the connection is closed, because the client may or may
     * not send the body. */
    http_world_say(&w, "POST /hello HTTP/1.1\r\n" H
                       "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.status, 200);
    expect_str(net_client_header(&a, STR("connection")), STR("close"));
    http_world_expect_end(&w);
    http_world_close(&w);
}

static void http1__holds_the_invitation_back_until_it_is_its_turn(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w,
                   "GET /park/a HTTP/1.1\r\n" H "\r\n"
                   "POST /echo HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    http_fixture_wait(&w.f, FIXTURE_STARTED, 2);
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_world_expect(&w, 200, "a");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.status, 100);
    http_world_say(&w, "ok");
    http_world_expect(&w, 200, "ok");
    http_world_close(&w);
}

static void http1__lets_the_handler_decide_about_the_body_later(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "POST /late/x HTTP/1.1\r\n" H
                       "Content-Length: 5\r\n\r\nhelloGET /hello HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_do(&w.f, "x", FIXTURE_COLLECT, "");
    http_world_expect(&w, 200, "hello");
    http_world_expect(&w, 200, "hello");
    http_world_close(&w);
}

static void http1__streams_chunk_by_chunk(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /push/s HTTP/1.1\r\n" H "\r\n");
    /* The headers arrive at once, before any of the body is written. */
    assert_true(net_client_read_until(&w.c, STR("\r\n\r\n")));
    http_fixture_do(&w.f, "s", FIXTURE_WRITE, "one");
    assert_true(net_client_read_until(&w.c, STR("3\r\none\r\n")));
    http_fixture_do(&w.f, "s", FIXTURE_WRITE, "three");
    http_fixture_do(&w.f, "s", FIXTURE_END, "");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_true(a.chunked);
    assert_int_equal(a.chunks, 2);
    expect_str(a.body, STR("onethree"));
    expect_str(net_client_header(&a, STR("connection")), STR("keep-alive"));

    http_world_say(&w, "GET /stream?n=3 HTTP/1.1\r\n" H "\r\n");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.chunks, 3);
    http_world_close(&w);
}

static void http1__echoes_a_streamed_body(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w, "POST /bidi HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    assert_true(net_client_read_until(&w.c, STR("ab\r\n")));
    http_world_say(&w, "1\r\nc\r\n0\r\n\r\n");
    assert_true(net_client_answer(&w.c, false, &a));
    expect_str(a.body, STR("abc"));
    http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\n");
    http_world_expect(&w, 200, "hello");
    http_world_close(&w);
}

static void http1__stops_reading_a_body_that_is_not_consumed(void **state)
{
    (void)state;
    enum { TOTAL = 24 << 20 };
    static char zeros[1 << 16];
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.body_window_bytes = 100000;
    http_world_open(&w, &limits);
    char head[128];
    (void)snprintf(head, sizeof head, "POST /hold/h HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n",
                   TOTAL);
    http_world_say(&w, head);
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    size_t sent = 0;
    /* The server does not read, so the kernel's buffers fill up until nothing more can be sent. */
    for (unsigned idle = 0; idle < 200 && sent < TOTAL;) {
        size_t n = net_client_try_send(&w.c, str_from(zeros, sizeof zeros));
        sent += n;
        idle = n == 0 ? idle + 1 : 0;
    }
    http_fixture_wait(&w.f, FIXTURE_BODY, limits.body_window_bytes);
    assert_true(sent < TOTAL);
    assert_true(http_fixture_count(&w.f, FIXTURE_BODY) <
                limits.body_window_bytes + 2 * limits.input_bytes);
    /* The transfer continues when the handler consumes the body. */
    http_fixture_do(&w.f, "h", FIXTURE_CONSUME, "");
    while (sent < TOTAL) {
        size_t left = TOTAL - sent;
        size_t n = left < sizeof zeros ? left : sizeof zeros;
        net_client_send(&w.c, str_from(zeros, n));
        sent += n;
    }
    http_fixture_wait(&w.f, FIXTURE_ENDED, 1);
    assert_int_equal(http_fixture_count(&w.f, FIXTURE_BODY), TOTAL);
    http_fixture_do(&w.f, "h", FIXTURE_ANSWER, "all");
    http_world_expect(&w, 200, "all");
    http_world_close(&w);
}

static void http1__answers_head_without_a_body(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w, "HEAD /hello HTTP/1.1\r\n" H "\r\nHEAD /stream?n=2 HTTP/1.1\r\n" H "\r\n"
                       "HEAD /static HTTP/1.1\r\n" H "\r\nGET /hello HTTP/1.1\r\n" H "\r\n");
    assert_true(net_client_answer(&w.c, true, &a));
    expect_str(net_client_header(&a, STR("content-length")), STR("5"));
    assert_true(net_client_answer(&w.c, true, &a));
    assert_int_equal(a.status, 200);
    assert_true(net_client_answer(&w.c, true, &a));
    expect_str(net_client_header(&a, STR("content-length")), STR("1048576"));
    http_world_expect(&w, 200, "hello");
    http_world_close(&w);
}

static void http1__sends_no_body_where_the_status_has_none(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w,
                   "GET /status?code=204 HTTP/1.1\r\n" H "\r\nGET /status?code=304 HTTP/1.1\r\n" H
                   "\r\nGET /status?code=404 HTTP/1.1\r\n" H "\r\n");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.status, 204);
    expect_str(net_client_header(&a, STR("content-length")), STR_EMPTY);
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.status, 304);
    http_world_expect(&w, 404, "x");
    http_world_close(&w);
}

static void http1__sends_large_static_bodies(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /static HTTP/1.1\r\n" H "\r\nGET /hello HTTP/1.1\r\n" H "\r\n");
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.body.len, FIXTURE_STATIC_BYTES);
    http_world_expect(&w, 200, "hello");
    http_world_close(&w);
}

static void http1__ends_the_connection_when_one_side_asks(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *request;
        int status;
        const char *body;
    } rows[] = {
        {"the client", "GET /hello HTTP/1.1\r\n" H "Connection: close\r\n\r\n", 200, "hello"},
        {"an old client", "GET /hello HTTP/1.0\r\n\r\n", 200, "hello"},
        {"an old client that streams", "GET /stream?n=1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
         200, "data: x\n\n"},
        {"the handler", "GET /close HTTP/1.1\r\n" H "\r\n", 505, ""},
        {"with more behind it",
         "GET /hello HTTP/1.1\r\n" H "Connection: close\r\n\r\nGET /hello HTTP/1.1\r\n" H "\r\n",
         200, "hello"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_world w;
        struct net_answer a;
        ROW(rows[i].name);
        http_world_open(&w, NULL);
        http_world_say(&w, rows[i].request);
        assert_true(net_client_answer(&w.c, false, &a));
        assert_int_equal(a.status, rows[i].status);
        expect_str(a.body, str_from_z(rows[i].body));
        expect_str(net_client_header(&a, STR("connection")), STR("close"));
        assert_false(a.chunked);
        http_world_expect_end(&w);
        http_world_close(&w);
    }
}

static void http1__tells_the_handler_once_when_the_client_has_gone(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *request;
        bool abort;
    } rows[] = {
        {"closed while parked", "GET /park/p HTTP/1.1\r\n" H "\r\n", false},
        {"reset while parked", "GET /park/p HTTP/1.1\r\n" H "\r\n", true},
        {"closed while streaming", "GET /push/p HTTP/1.1\r\n" H "\r\n", false},
        {"closed in the body", "POST /hold/p HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nab", false},
        {"closed before the body is looked at",
         "POST /late/p HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nab", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_world w;
        ROW(rows[i].name);
        http_world_open(&w, NULL);
        http_world_say(&w, rows[i].request);
        http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
        if (rows[i].abort) {
            net_client_abort(&w.c);
        } else {
            net_client_close(&w.c);
        }
        http_fixture_wait(&w.f, FIXTURE_GONE, 1);
        http_world_close(&w);
    }
}

static void http1__tells_every_pipelined_request_that_the_client_has_gone(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n"
                       "GET /push/c HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 3);
    net_client_close(&w.c);
    http_fixture_wait(&w.f, FIXTURE_GONE, 3);
    assert_int_equal(http_fixture_stats(&w.f).requests_gone, 3);
    http_world_close(&w);
}

static void http1__ends_the_connection_where_a_dropped_answer_would_be(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n"
                       "GET /park/c HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 3);
    http_fixture_do(&w.f, "b", FIXTURE_DROP, "");
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_world_expect(&w, 200, "a");
    http_fixture_wait(&w.f, FIXTURE_GONE, 1); /* c can no longer be answered */
    http_world_expect_end(&w);
    http_world_close(&w);
}

static void http1__cuts_an_answer_that_is_dropped_half_way(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /push/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    http_fixture_do(&w.f, "a", FIXTURE_DROP, "");
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    assert_false(net_client_answer(&w.c, false, &a));
    http_world_close(&w);
}

static void http1__tells_requests_behind_a_closing_answer_at_once(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    http_fixture_do(&w.f, "a", FIXTURE_CLOSE, "last");
    /* The client is still connected and has not closed its side. */
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    http_world_expect(&w, 200, "last");
    http_world_expect_end(&w);
    http_world_close(&w);
}

static void http1__keeps_a_request_for_its_handler_when_the_client_has_gone(void **state)
{
    (void)state;
    struct http_world w;
    struct net_client other;
    struct net_answer a;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /keep/k HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    net_client_abort(&w.c);
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    /* Run the loop once more, so that the connection is freed. */
    net_client_open(&other, w.f.port);
    net_client_send(&other, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    assert_true(net_client_answer(&other, false, &a));
    net_client_close(&other);
    assert_int_equal(http_fixture_stats(&w.f).requests_in_flight, 1);
    http_fixture_do(&w.f, "k", FIXTURE_ANSWER, "to nobody");
    http_world_close(&w);
}

static void http1__holds_little_of_a_body_that_nobody_wants_yet(void **state)
{
    (void)state;
    static char zeros[1 << 16];
    static const char *const requests[] = {
        "POST /late/x HTTP/1.1\r\n" H "Content-Length: 100000000\r\n\r\n",
        "POST /late/x HTTP/1.1\r\n" H "Content-Length: 100000000\r\nConnection: close\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct http_world w;
        http_world_open(&w, NULL);
        http_world_say(&w, requests[i]);
        http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
        size_t sent = 0;
        for (unsigned idle = 0; idle < 200 && sent < 50000000;) {
            size_t n = net_client_try_send(&w.c, str_from(zeros, sizeof zeros));
            sent += n;
            idle = n == 0 ? idle + 1 : 0;
        }
        assert_true(http_fixture_stats(&w.f).bytes_read < 1000000);
        net_client_close(&w.c);
        http_fixture_do(&w.f, "x", FIXTURE_DROP, "");
        http_world_close(&w);
    }
}

static void http1__answers_a_client_that_has_shut_only_its_side(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\n");
    net_client_shut(&w.c);
    http_world_expect(&w, 200, "hello");
    http_world_expect_end(&w);
    http_world_close(&w);
}

static void http1__tells_handlers_that_the_client_has_shut_its_side(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /stay/a HTTP/1.1\r\n" H "\r\nGET /stay/b HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    net_client_shut(&w.c);
    http_fixture_wait(&w.f, FIXTURE_SHUT, 2);
    /* Both can still be answered. */
    http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "b");
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_world_expect(&w, 200, "a");
    http_world_expect(&w, 200, "b");
    http_world_expect_end(&w);
    assert_int_equal(http_fixture_stats(&w.f).requests_gone, 0);
    http_world_close(&w);
}

static void http1__lets_a_slow_reader_be_cut_off(void **state)
{
    (void)state;
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.stream_output_bytes = 1 << 18;
    http_world_open(&w, &limits);
    net_client_read_slowly(&w.c);
    http_world_say(&w, "GET /flood HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_FULL, 1);
    net_client_read_all(&w.c);
    /* The client has received an incomplete answer. */
    struct net_answer a;
    assert_false(net_client_answer(&w.c, false, &a));
    http_world_close(&w);
}

static void http1__says_when_there_is_room_again(void **state)
{
    (void)state;
    struct http_world w;
    struct net_answer a;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.stream_output_bytes = 1 << 16;
    http_world_open(&w, &limits);
    http_world_say(&w, "GET /flow?n=20000000 HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_FULL, 1);
    assert_true(net_client_answer(&w.c, false, &a));
    assert_int_equal(a.body.len, 20000000);
    assert_true(http_fixture_count(&w.f, FIXTURE_WRITABLE) > 0);
    http_world_close(&w);
}

static void http1__starts_nothing_while_much_is_unread(void **state)
{
    (void)state;
    enum { REQUESTS = 60 };
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.output_bytes = 1 << 16;
    http_world_open(&w, &limits);
    for (int i = 0; i < REQUESTS; i++) {
        http_world_say(&w, "GET /static HTTP/1.1\r\n" H "\r\n");
    }
    for (int i = 0; i < REQUESTS; i++) {
        struct net_answer a;
        assert_true(net_client_answer(&w.c, false, &a));
        assert_int_equal(a.body.len, FIXTURE_STATIC_BYTES);
        /* The client has i + 1 whole answers; a few more fit into the kernel's buffers. */
        assert_true(http_fixture_count(&w.f, FIXTURE_STARTED) <= (uint64_t)i + 16);
    }
    http_world_close(&w);
}

/* Receive and discard until the connection ends. Nothing is copied, so it is faster than any
 * writer. */
static void drain(void *data)
{
    struct net_client *c = data;
    while (recv(c->fd, NULL, 1 << 22, MSG_TRUNC) > 0) {
    }
}

static void http1__serves_others_while_it_streams_to_a_fast_reader(void **state)
{
    (void)state;
    struct http_world w;
    struct net_client greedy;
    struct net_answer a;
    uv_thread_t reader;
    http_world_open(&w, NULL);
    net_client_open(&greedy, w.f.port);
    /* Far more than could be sent before the other requests are answered. */
    net_client_send(&greedy, STR("GET /flow/x?n=1000000000000 HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    assert_int_equal(uv_thread_create(&reader, drain, &greedy), 0);
    for (int i = 0; i < 20; i++) {
        http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\n");
        assert_true(net_client_answer(&w.c, false, &a));
    }
    http_fixture_do(&w.f, "/x", FIXTURE_DROP, "");
    assert_int_equal(uv_thread_join(&reader), 0);
    net_client_close(&greedy);
    http_world_close(&w);
}

static void http1__speaks_on_several_threads(void **state)
{
    (void)state;
    enum { CLIENTS = 12 };
    struct http_fixture f;
    struct net_client clients[CLIENTS];
    http_fixture_open(&f, NULL, 3);
    for (size_t i = 0; i < CLIENTS; i++) {
        net_client_open(&clients[i], f.port);
        net_client_send(&clients[i], STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        struct net_answer a;
        assert_true(net_client_answer(&clients[i], false, &a));
        assert_int_equal(a.status, 200);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct http_stats stats;
        http_server_stats(f.server, i, &stats);
        assert_int_equal(stats.connections, CLIENTS / 3);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        net_client_close(&clients[i]);
    }
    http_fixture_close(&f, 20000);
}

TEST_GROUP(http1, cmocka_unit_test(http1__keeps_the_connection_for_further_requests),
           cmocka_unit_test(http1__shows_the_handler_what_came),
           cmocka_unit_test(http1__answers_pipelined_requests_in_order),
           cmocka_unit_test(http1__starts_no_more_requests_than_the_pipeline_holds),
           cmocka_unit_test(http1__starts_no_request_while_held_answers_are_large),
           cmocka_unit_test(http1__takes_bodies_however_they_come),
           cmocka_unit_test(http1__tells_the_handler_of_a_body_that_is_too_large),
           cmocka_unit_test(http1__reads_some_of_a_body_that_nobody_wants),
           cmocka_unit_test(http1__continues_only_when_the_handler_wants_the_body),
           cmocka_unit_test(http1__holds_the_invitation_back_until_it_is_its_turn),
           cmocka_unit_test(http1__lets_the_handler_decide_about_the_body_later),
           cmocka_unit_test(http1__streams_chunk_by_chunk),
           cmocka_unit_test(http1__echoes_a_streamed_body),
           cmocka_unit_test(http1__stops_reading_a_body_that_is_not_consumed),
           cmocka_unit_test(http1__answers_head_without_a_body),
           cmocka_unit_test(http1__sends_no_body_where_the_status_has_none),
           cmocka_unit_test(http1__sends_large_static_bodies),
           cmocka_unit_test(http1__ends_the_connection_when_one_side_asks),
           cmocka_unit_test(http1__tells_the_handler_once_when_the_client_has_gone),
           cmocka_unit_test(http1__tells_every_pipelined_request_that_the_client_has_gone),
           cmocka_unit_test(http1__ends_the_connection_where_a_dropped_answer_would_be),
           cmocka_unit_test(http1__cuts_an_answer_that_is_dropped_half_way),
           cmocka_unit_test(http1__tells_requests_behind_a_closing_answer_at_once),
           cmocka_unit_test(http1__keeps_a_request_for_its_handler_when_the_client_has_gone),
           cmocka_unit_test(http1__holds_little_of_a_body_that_nobody_wants_yet),
           cmocka_unit_test(http1__answers_a_client_that_has_shut_only_its_side),
           cmocka_unit_test(http1__tells_handlers_that_the_client_has_shut_its_side),
           cmocka_unit_test(http1__lets_a_slow_reader_be_cut_off),
           cmocka_unit_test(http1__says_when_there_is_room_again),
           cmocka_unit_test(http1__starts_nothing_while_much_is_unread),
           cmocka_unit_test(http1__serves_others_while_it_streams_to_a_fast_reader),
           cmocka_unit_test(http1__speaks_on_several_threads));
