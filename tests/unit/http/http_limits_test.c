#include "http/http_limits.h"

#include "http_world.h"
#include "lib/expect.h"
#include "lib/test.h"

/* Expect a refusal in the contract's format, and then the end of the connection. */
static void expect_refusal(struct net_client *c, int status, const char *body)
{
    struct net_answer a;
    assert_true(net_client_answer(c, false, &a));
    assert_int_equal(a.status, status);
    expect_str(a.body, str_from_z(body));
    expect_str(net_client_header(&a, STR("content-type")), STR("application/json"));
    expect_str(net_client_header(&a, STR("connection")), STR("close"));
    expect_str(net_client_header(&a, STR("x-every")), STR("answer"));
    net_client_read_all(c);
    assert_false(c->reset);
    assert_int_equal(c->in.len, 0);
}

static void http_limits__are_answered_with_their_status(void **state)
{
    (void)state;
    /* clang-format off */
    static const struct {
        const char *name;
        const char *request;
        int status;
        const char *body;
    } rows[] = {
        {"a long line", "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\n" H "\r\n", 414,
         "{\"error\":\"the request line is too long\",\"code\":\"URI_TOO_LONG\"}\n"},
        {"a long head", "GET / HTTP/1.1\r\n" H "X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n", 431,
         "{\"error\":\"the request head is too long\",\"code\":\"HEADERS_TOO_LARGE\"}\n"},
        {"many headers", "GET / HTTP/1.1\r\n" H "a:\r\nb:\r\nc:\r\nd:\r\ne:\r\n\r\n", 431,
         "{\"error\":\"too many headers\",\"code\":\"HEADERS_TOO_LARGE\"}\n"},
        {"a bad request", "GET / HTTP/1.1\r\nHost : t\r\n\r\n", 400,
         "{\"error\":\"a header name is not well-formed\",\"code\":\"VALIDATION_ERROR\"}\n"},
        {"a bad target", "GET zz HTTP/1.1\r\n" H "\r\n", 400,
         "{\"error\":\"the request target is not well-formed\",\"code\":\"VALIDATION_ERROR\"}\n"},
        {"another version", "GET / HTTP/3.0\r\n" H "\r\n", 505,
         "{\"error\":\"the HTTP version is not supported\",\"code\":\"UNSUPPORTED\"}\n"},
        {"another coding", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip\r\n\r\n", 501,
         "{\"error\":\"the only supported transfer coding is chunked\",\"code\":\"UNSUPPORTED\"}\n"},
        {"another expectation", "POST / HTTP/1.1\r\n" H "Expect: magic\r\n\r\n", 417,
         "{\"error\":\"the only supported expectation is 100-continue\",\"code\":\"VALIDATION_ERROR\"}\n"},
        {"a bad chunk", "POST /echo HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400,
         "{\"error\":\"a chunk size is not well-formed\",\"code\":\"VALIDATION_ERROR\"}\n"},
        {"long extensions", "POST /echo HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1;aaaaaaaaaaaaaaaa\r\n", 400,
         "{\"error\":\"the chunk extensions are too long\",\"code\":\"VALIDATION_ERROR\"}\n"},
    };
    /* clang-format on */
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.request_line_bytes = 60;
    limits.header_bytes = 90;
    limits.header_count = 5;
    limits.chunk_extension_bytes = 16;
    struct http_world w;
    http_fixture_open(&w.f, &limits, 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        net_client_open(&w.c, w.f.port);
        http_world_say(&w, rows[i].request);
        expect_refusal(&w.c, rows[i].status, rows[i].body);
        net_client_close(&w.c);
    }
    assert_int_equal(http_fixture_stats(&w.f).protocol_errors, COUNT_OF(rows));
    http_fixture_close(&w.f, 20000);
}

static void http_limits__refuse_in_the_order_of_the_pipeline(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET / HTTP/1.1\r\nHost : t\r\n\r\n"
                       "GET /hello HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "first");
    http_world_expect(&w, 200, "first");
    expect_refusal(&w.c, 400,
                   "{\"error\":\"a header name is not well-formed\","
                   "\"code\":\"VALIDATION_ERROR\"}\n");
    assert_int_equal(http_fixture_count(&w.f, FIXTURE_STARTED), 1);
    http_world_close(&w);
}

static void http_limits__give_one_answer_when_the_body_breaks_after_it(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\n"
                       "POST /hello HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\nxyz\r\n");
    http_fixture_wait(&w.f, FIXTURE_STARTED, 2);
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_world_expect(&w, 200, "a");
    http_world_expect(&w, 200, "hello");
    http_world_expect_end(&w);
    http_world_close(&w);
}

static void http_limits__tell_the_handler_when_its_body_breaks(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w,
                   "POST /hold/h HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
    http_fixture_wait(&w.f, FIXTURE_BODY, 1);
    http_world_say(&w, "bad\n");
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    expect_refusal(&w.c, 400,
                   "{\"error\":\"a line ends without a carriage return\","
                   "\"code\":\"VALIDATION_ERROR\"}\n");
    http_world_close(&w);
}

static void http_limits__let_a_handler_finish_what_was_refused(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, "POST /keep/k HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    http_fixture_do(&w.f, "k", FIXTURE_COLLECT, "");
    http_world_say(&w, "xyz\r\n");
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    expect_refusal(&w.c, 400,
                   "{\"error\":\"a chunk size is not well-formed\","
                   "\"code\":\"VALIDATION_ERROR\"}\n");
    http_fixture_do(&w.f, "k", FIXTURE_ANSWER, "too late");
    http_world_close(&w);
}

static void http_limits__answer_408_to_a_head_that_comes_too_slowly(void **state)
{
    (void)state;
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.header_timeout_ms = 20;
    http_world_open(&w, &limits);
    http_world_say(&w, "GET /hello HTTP/1.1\r\n" H "\r\nGET /he");
    http_world_expect(&w, 200, "hello");
    expect_refusal(&w.c, 408,
                   "{\"error\":\"the request head arrived too slowly\","
                   "\"code\":\"REQUEST_TIMEOUT\"}\n");
    http_world_close(&w);
}

static void http_limits__answer_408_to_a_body_that_comes_too_slowly(void **state)
{
    (void)state;
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.body_timeout_ms = 20;
    http_world_open(&w, &limits);
    http_world_say(&w, "POST /echo HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhel");
    expect_refusal(&w.c, 408,
                   "{\"error\":\"the request body arrived too slowly\","
                   "\"code\":\"REQUEST_TIMEOUT\"}\n");
    http_world_close(&w);
}

static void http_limits__close_silent_connections_silently(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *said;
        size_t answers;
    } rows[] = {
        {"nothing said", "", 0},
        {"half a preface", "PRI * HT", 0},
        {"after an answer", "GET /hello HTTP/1.1\r\n" H "\r\n", 1},
        {"a body that nobody wants", "POST /hello HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\nabc",
         1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_world w;
        struct http_limits limits = HTTP_LIMITS_DEFAULT;
        limits.idle_timeout_ms = 20;
        limits.header_timeout_ms = 20;
        ROW(rows[i].name);
        http_world_open(&w, &limits);
        http_world_say(&w, rows[i].said);
        for (size_t n = 0; n < rows[i].answers; n++) {
            http_world_expect(&w, 200, "hello");
        }
        http_world_expect_end(&w);
        http_world_close(&w);
    }
}

static void http_limits__do_not_hurry_parked_requests(void **state)
{
    (void)state;
    struct http_world w;
    struct net_client other;
    struct net_answer a;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.idle_timeout_ms = 5;
    limits.header_timeout_ms = 5;
    limits.body_timeout_ms = 5;
    limits.write_timeout_ms = 5;
    http_world_open(&w, &limits);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    /* Three other connections time out while the first one waits. */
    for (int i = 0; i < 3; i++) {
        net_client_open(&other, w.f.port);
        net_client_read_all(&other);
        net_client_close(&other);
    }
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "patience");
    assert_true(net_client_answer(&w.c, false, &a));
    expect_str(a.body, STR("patience"));
    http_world_close(&w);
}

static void http_limits__cut_off_a_client_that_takes_nothing(void **state)
{
    (void)state;
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.write_timeout_ms = 20;
    http_world_open(&w, &limits);
    net_client_read_slowly(&w.c);
    http_world_say(&w, "GET /flow?n=50000000 HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    assert_int_equal(http_fixture_stats(&w.f).connections_cut, 1);
    http_world_close(&w);
}

static void http_limits__turn_connections_away(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned total, per_address;
        int status;
        const char *body;
    } rows[] = {
        {"in total", 2, 100, 503, "{\"error\":\"too many connections\",\"code\":\"UNHEALTHY\"}\n"},
        {"per address", 100, 2, 429,
         "{\"error\":\"too many connections from this address\",\"code\":\"RATE_LIMITED\"}\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_world w;
        struct net_client second;
        struct net_client third;
        struct net_answer a;
        struct http_limits limits = HTTP_LIMITS_DEFAULT;
        limits.connections = rows[i].total;
        limits.connections_per_address = rows[i].per_address;
        ROW(rows[i].name);
        http_world_open(&w, &limits);
        net_client_open(&second, w.f.port);
        net_client_open(&third, w.f.port);
        expect_refusal(&third, rows[i].status, rows[i].body);
        net_client_close(&third);
        assert_int_equal(http_fixture_stats(&w.f).connections_refused, 1);
        /* A released place can be used again. */
        net_client_close(&second);
        for (bool admitted = false; !admitted;) {
            net_client_open(&third, w.f.port);
            net_client_send(&third, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
            admitted = net_client_answer(&third, false, &a) && a.status == 200;
            net_client_close(&third);
        }
        http_world_close(&w);
    }
}

static void http_limits__refuse_requests_past_their_number(void **state)
{
    (void)state;
    struct http_world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.loop_requests = 2;
    http_world_open(&w, &limits);
    struct net_client other;
    net_client_open(&other, w.f.port);
    http_world_say(&w, "GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    net_client_send(&other, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    expect_refusal(&other, 503,
                   "{\"error\":\"too many requests in progress\",\"code\":\"UNHEALTHY\"}\n");
    net_client_close(&other);
    net_client_close(&w.c);
    http_fixture_wait(&w.f, FIXTURE_GONE, 2);
    http_world_close(&w);
}

static void http_limits__hold_only_so_many_bodies(void **state)
{
    (void)state;
    struct http_world w;
    struct net_client other;
    struct net_answer a;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.loop_body_bytes = 10;
    http_world_open(&w, &limits);
    net_client_open(&other, w.f.port);
    http_world_say(&w, "POST /echo HTTP/1.1\r\n" H "Content-Length: 9\r\n\r\n12345678");
    http_fixture_wait(&w.f, FIXTURE_STARTED, 1);
    net_client_send(&other, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"));
    assert_true(net_client_answer(&other, false, &a));
    assert_int_equal(a.status, 503);
    http_world_say(&w, "9");
    assert_true(net_client_answer(&w.c, false, &a));
    expect_str(a.body, STR("123456789"));
    net_client_send(&other, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"));
    assert_true(net_client_answer(&other, false, &a));
    assert_int_equal(a.status, 200); /* the room was released */
    net_client_close(&other);
    http_world_close(&w);
}

/* All requests share one budget. Heads and bodies that do not fit into it are refused with 503. */
static void http_limits__refuse_when_the_budget_is_spent(void **state)
{
    (void)state;
    enum { BUDGET = 1 << 20, BODY = 1000 };
    struct http_fixture f;
    struct net_client c;
    struct net_answer a;
    struct budget budget;
    struct buf request;
    struct http_listen listen = {.address = "127.0.0.1:0"};
    struct http_server_config config = {.listen = &listen,
                                        .listen_count = 1,
                                        .threads = 1,
                                        .limits = HTTP_LIMITS_DEFAULT,
                                        .budget = &budget};
    budget_init(&budget, BUDGET);
    http_fixture_open_config(&f, &config);
    buf_init(&request, 1 << 16);
    buf_printf(&request, "POST /echo HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n%0*d", BODY, BODY,
               0);
    for (unsigned i = 0; i < 3; i++) {
        bool spent = i == 1;
        net_client_open(&c, f.port);
        if (spent) {
            budget_force(&budget, BUDGET);
        }
        net_client_send(&c, buf_str(&request));
        assert_true(net_client_answer(&c, false, &a));
        assert_int_equal(a.status, spent ? 503 : 200);
        assert_int_equal(a.body.len == BODY, !spent);
        if (spent) {
            budget_give(&budget, BUDGET);
        }
        net_client_close(&c);
    }
    assert_true(atomic_load(&budget.refused) > 0);
    buf_deinit(&request);
    http_fixture_close(&f, 1000);
    assert_int_equal(atomic_load(&budget.used_bytes), 0);
}

TEST_GROUP(http_limits, cmocka_unit_test(http_limits__are_answered_with_their_status),
           cmocka_unit_test(http_limits__refuse_in_the_order_of_the_pipeline),
           cmocka_unit_test(http_limits__give_one_answer_when_the_body_breaks_after_it),
           cmocka_unit_test(http_limits__tell_the_handler_when_its_body_breaks),
           cmocka_unit_test(http_limits__let_a_handler_finish_what_was_refused),
           cmocka_unit_test(http_limits__answer_408_to_a_head_that_comes_too_slowly),
           cmocka_unit_test(http_limits__answer_408_to_a_body_that_comes_too_slowly),
           cmocka_unit_test(http_limits__close_silent_connections_silently),
           cmocka_unit_test(http_limits__do_not_hurry_parked_requests),
           cmocka_unit_test(http_limits__cut_off_a_client_that_takes_nothing),
           cmocka_unit_test(http_limits__turn_connections_away),
           cmocka_unit_test(http_limits__refuse_requests_past_their_number),
           cmocka_unit_test(http_limits__hold_only_so_many_bodies),
           cmocka_unit_test(http_limits__refuse_when_the_budget_is_spent));
