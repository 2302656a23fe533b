/*
 * Reads that are pipelined behind writes.
 */
#include "http_world.h"
#include "lib/test.h"

#define POST(path) "POST " path " HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n"
#define GET(path)  "GET " path " HTTP/1.1\r\n" H "\r\n"

/* A client that pipelines a read behind a write expects to read what it wrote. */
static void http1_pipeline__starts_a_read_when_the_writes_before_it_are_answered(void **state)
{
    (void)state;
    struct http_world w;
    struct net_client other;
    struct net_answer answer;
    http_world_open(&w, NULL);
    http_world_say(&w, GET("/park/r") POST("/park/a") POST("/park/b") GET("/park/c") POST("/park/d")
                           GET("/hello"));
    http_fixture_wait(&w.f, FIXTURE_PARKED, 3);
    net_client_open(&other, w.f.port);
    for (unsigned i = 0; i < 2; i++) { /* by the second, the loop has processed the answer to b */
        net_client_send(&other, STR(GET("/hello")));
        assert_true(net_client_answer(&other, false, &answer));
        assert_int_equal(http_fixture_count(&w.f, FIXTURE_STARTED), 4 + i);
        assert_int_equal(http_fixture_count(&w.f, FIXTURE_PARKED), 3);
        if (i == 0) {
            http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "b"); /* a is not answered yet */
        }
    }
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 5); /* c, and d behind it; r is still parked */
    http_fixture_do(&w.f, "d", FIXTURE_ANSWER, "d");
    http_fixture_do(&w.f, "c", FIXTURE_ANSWER, "c");
    http_fixture_do(&w.f, "r", FIXTURE_ANSWER, "r");
    http_world_expect(&w, 200, "r");
    http_world_expect(&w, 200, "a");
    http_world_expect(&w, 200, "b");
    http_world_expect(&w, 200, "c");
    http_world_expect(&w, 200, "d");
    http_world_expect(&w, 200, "hello");
    net_client_close(&other);
    http_world_close(&w);
}

static void http1_pipeline__answers_what_waited_when_the_client_shut_its_side(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, POST("/stay/a") GET("/hello") POST("/stay/b") GET(
                           "/hello") "POST /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nend");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    net_client_shut(&w.c);
    http_fixture_wait(&w.f, FIXTURE_SHUT, 1);
    http_fixture_do(&w.f, "a", FIXTURE_ANSWER, "a");
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    http_fixture_wait(&w.f, FIXTURE_SHUT, 2);
    http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "b");
    http_world_expect(&w, 200, "a");
    http_world_expect(&w, 200, "hello");
    http_world_expect(&w, 200, "b");
    http_world_expect(&w, 200, "hello");
    http_world_expect(&w, 200, "end");
    http_world_expect_end(&w);
    http_world_close(&w);
}

static void http1_pipeline__forgets_what_waited_when_the_client_goes(void **state)
{
    (void)state;
    struct http_world w;
    http_world_open(&w, NULL);
    http_world_say(&w, POST("/park/a") GET("/hello") POST("/park/b"));
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    net_client_abort(&w.c);
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    assert_int_equal(http_fixture_count(&w.f, FIXTURE_STARTED), 1);
    http_world_close(&w);
}

TEST_GROUP(http1_pipeline,
           cmocka_unit_test(http1_pipeline__starts_a_read_when_the_writes_before_it_are_answered),
           cmocka_unit_test(http1_pipeline__answers_what_waited_when_the_client_shut_its_side),
           cmocka_unit_test(http1_pipeline__forgets_what_waited_when_the_client_goes));
