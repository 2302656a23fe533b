/*
 * Requests to a test server on a thread, with every way in which a request can end.
 */
#include "outgoing/outgoing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "lib/expect.h"
#include "lib/test.h"

enum { REQUEST_MAX = 1 << 16, BODY_MS = 50 };

/* The server accepts one connection and sends the same reply to each request on it. Without a
 * reply, it sends nothing until the client disconnects. */
struct fixture {
    uv_loop_t loop;
    struct outgoing *client;
    int listener;
    unsigned port;
    uv_thread_t thread;
    bool serving;
    const char *reply;
    const char *next_reply; /* from the second request on; NULL: the same */
    bool closes;            /* the connection, after the reply */
    const char *goodbye;    /* sent after it, before the end; NULL: none */
    uv_sem_t parts;         /* posted when the server is to say it */
    atomic_bool parted;     /* the client has closed its side of a connection */
    unsigned requests;      /* received so far */
    char seen[REQUEST_MAX]; /* the next request */
    char last[REQUEST_MAX]; /* the last whole request */
    char url[128];
    unsigned done;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    CHECK(f != NULL);
    CHECK(uv_loop_init(&f->loop) == 0);
    CHECK(uv_sem_init(&f->parts, 0) == 0);
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(f->listener, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(listen(f->listener, 8) == 0);
    CHECK(getsockname(f->listener, (struct sockaddr *)&at, &len) == 0);
    f->port = ntohs(at.sin_port);
    (void)snprintf(f->url, sizeof f->url, "http://127.0.0.1:%u/path?q=1", f->port);
    struct outgoing_config config = {
        .connections_max = 4, .body_ms = BODY_MS, .user_agent = "test/1"};
    f->client = outgoing_open(&f->loop, &config);
    *state = f;
    return 0;
}

/* Close the client, and with its connection the server. Then the test may read what it received. */
static void finish(struct fixture *f)
{
    if (f->client != NULL) {
        outgoing_close(TAKE(f->client));
        CHECK(uv_run(&f->loop, UV_RUN_DEFAULT) == 0);
    }
    if (f->serving) {
        CHECK(uv_thread_join(&f->thread) == 0);
        f->serving = false;
    }
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    finish(f);
    CHECK(uv_loop_close(&f->loop) == 0);
    (void)close(f->listener);
    uv_sem_destroy(&f->parts);
    free(f);
    return 0;
}

/* Read up to the blank line and a body of Content-Length bytes. False at the end of the
 * connection. */
static bool read_request(struct fixture *f, int fd)
{
    size_t have = 0;
    for (;;) {
        f->seen[have] = '\0';
        const char *end = strstr(f->seen, "\r\n\r\n");
        const char *length = strstr(f->seen, "Content-Length: ");
        int64_t body = 0;
        if (end != NULL && length != NULL && length < end) {
            length += strlen("Content-Length: ");
            CHECK(str_to_i64(str_from(length, strcspn(length, "\r")), &body));
        }
        if (end != NULL && have >= (size_t)(end + 4 - f->seen) + (size_t)body) {
            return true;
        }
        ssize_t n = read(fd, f->seen + have, sizeof f->seen - 1 - have);
        if (n <= 0) {
            return false;
        }
        have += (size_t)n;
    }
}

static void serve_one(struct fixture *f)
{
    int fd = accept(f->listener, NULL, NULL);
    CHECK(fd >= 0);
    while (read_request(f, fd)) {
        f->requests++;
        memcpy(f->last, f->seen, sizeof f->last);
        const char *reply = f->requests > 1 && f->next_reply != NULL ? f->next_reply : f->reply;
        if (reply != NULL) {
            ssize_t n = write(fd, reply, strlen(reply));
            CHECK(n > 0);
        }
        if (f->closes) {
            break;
        }
        if (f->goodbye != NULL) {
            uv_sem_wait(&f->parts);
            ssize_t n = write(fd, f->goodbye, strlen(f->goodbye));
            CHECK(n > 0);
            CHECK(shutdown(fd, SHUT_WR) == 0);
        }
    }
    atomic_store(&f->parted, true);
    (void)close(fd);
}

static void serve(void *data)
{
    struct fixture *f = data;
    serve_one(f);
    if (f->goodbye != NULL) {
        f->goodbye = NULL;
        serve_one(f);
    }
}

static void start_server(struct fixture *f, const char *reply)
{
    f->reply = reply;
    f->serving = true;
    CHECK(uv_thread_create(&f->thread, serve, f) == 0);
}

static void done(struct outgoing_request *r)
{
    struct fixture *f = r->data;
    f->done++;
}

static struct outgoing_request request(struct fixture *f, const char *url)
{
    return (struct outgoing_request){.method = "POST",
                                     .url = url,
                                     .body = STR("{\"a\":1}"),
                                     .timeout_ms = 20000,
                                     .answer_limit = 1000,
                                     .done = done,
                                     .data = f};
}

/* Run the request to its end. */
static void run(struct fixture *f, struct outgoing_request *r)
{
    unsigned before = f->done;
    outgoing_start(f->client, r);
    assert_int_equal(f->done, before); /* not called inside outgoing_start */
    while (f->done == before) {
        (void)uv_run(&f->loop, UV_RUN_ONCE);
    }
    assert_int_equal(f->done, before + 1);
}

static void request__brings_an_answer_and_keeps_the_connection(void **state)
{
    struct fixture *f = *state;
    start_server(f, "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello");
    for (unsigned i = 0; i < 3; i++) {
        struct outgoing_request r = request(f, f->url);
        r.headers[0] = (struct outgoing_header){"X-One", STR("1\r\nX-Two: 2")};
        r.header_count = 1;
        run(f, &r);
        assert_int_equal(r.err.code, ERR_OK);
        assert_int_equal(r.status, 201);
        expect_str(buf_str(&r.answer), STR("hello"));
        outgoing_request_deinit(&r);
    }
    finish(f);
    assert_int_equal(f->requests, 3); /* all on the only connection that it accepts */
    assert_non_null(strstr(f->last, "POST /path?q=1 HTTP/1.1\r\n"));
    assert_non_null(strstr(f->last, "User-Agent: test/1\r\n"));
    assert_non_null(strstr(f->last, "X-One: 1  X-Two: 2\r\n"));
    assert_non_null(strstr(f->last, "\r\n\r\n{\"a\":1}"));
    assert_null(strstr(f->last, "Expect"));
}

static void wait_until_parted(struct fixture *f)
{
    while (!atomic_load(&f->parted)) {
        (void)uv_run(&f->loop, UV_RUN_ONCE);
    }
}

/* As with TLS, where a server says goodbye. libcurl would take the bytes for a sign of life. */
static void request__does_not_use_a_connection_that_was_closed(void **state)
{
    struct fixture *f = *state;
    f->goodbye = "bye";
    start_server(f, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    for (unsigned i = 0; i < 2; i++) {
        struct outgoing_request r = request(f, f->url);
        r.once = true;
        run(f, &r);
        assert_int_equal(r.err.code, ERR_OK);
        assert_int_equal(r.status, 200);
        outgoing_request_deinit(&r);
        if (i == 0) {
            uv_sem_post(&f->parts);
            wait_until_parted(f);
        }
    }
    finish(f);
    assert_int_equal(f->requests, 2);
}

static void request__keeps_its_connection_for_a_time(void **state)
{
    struct fixture *f = *state;
    outgoing_close(f->client);
    struct outgoing_config config = {.connections_max = 4, .kept_ms = 20, .user_agent = "test/1"};
    f->client = outgoing_open(&f->loop, &config);
    start_server(f, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    struct outgoing_request r = request(f, f->url);
    run(f, &r);
    assert_int_equal(r.status, 200);
    outgoing_request_deinit(&r);
    wait_until_parted(f);
}

static void request__does_not_follow_a_redirect(void **state)
{
    struct fixture *f = *state;
    start_server(f,
                 "HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    struct outgoing_request r = request(f, f->url);
    run(f, &r);
    assert_int_equal(r.err.code, ERR_OK);
    assert_int_equal(r.status, 307);
    outgoing_request_deinit(&r);
}

static void request__stops_at_the_limit_of_the_answer(void **state)
{
    struct fixture *f = *state;
    start_server(f, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    struct outgoing_request r = request(f, f->url);
    r.answer_limit = 4;
    run(f, &r);
    assert_int_equal(r.err.code, ERR_TOO_LARGE);
    assert_int_equal(r.status, 200);
    outgoing_request_deinit(&r);
}

static void request__ends_in_time(void **state)
{
    struct fixture *f = *state;
    start_server(f, NULL);
    struct outgoing_request r = request(f, f->url);
    r.timeout_ms = 30;
    run(f, &r);
    assert_int_equal(r.err.code, ERR_IO);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err.msg, "timed out"));
    outgoing_request_deinit(&r);
}

/* The head arrives, but the rest of the body never does. */
static void request__waits_so_long_for_a_body(void **state)
{
    struct fixture *f = *state;
    start_server(f, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
    struct outgoing_request r = request(f, f->url);
    run(f, &r);
    assert_int_equal(r.err.code, ERR_IO);
    assert_int_equal(r.status, 200);
    assert_true(r.timed_out);
    expect_str(buf_str(&r.answer), STR("hel"));
    outgoing_request_deinit(&r);
}

/* A response is there once its head is complete, whatever becomes of its body. */
static void request__is_answered_by_a_whole_head(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *reply;
        int status; /* 0: not answered */
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 200},
        {"HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nhel", 302}, /* leads nowhere */
        {"HTTP/1.1 302 Found\r\nLocation:\r\nContent-Length: 5\r\n\r\nhel", 302},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", 0},
        {"HTTP/1.1 200 OK\r\n", 0},
        {"HTTP/1.1 100 Continue\r\n\r\n", 0},
        {"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 5\r\n\r\nhel", 0},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct outgoing_request r = request(f, f->url);
        ROW(rows[i].reply);
        start_server(f, rows[i].reply);
        r.timeout_ms = 200;
        r.redirects_max = 1;
        run(f, &r);
        assert_int_equal(r.err.code, ERR_IO);
        assert_true(r.timed_out);
        assert_int_equal(r.answered, rows[i].status != 0);
        assert_int_equal(r.status, rows[i].status);
        outgoing_request_deinit(&r);
        CHECK(uv_thread_join(&f->thread) == 0); /* the client has closed the connection */
        f->serving = false;
    }
}

static void request__is_not_answered_by_a_part_of_a_head(void **state)
{
    struct fixture *f = *state;
    struct outgoing_request r = request(f, f->url);
    f->closes = true;
    start_server(f, "HTTP/1.1 200 OK\r\nContent-Le");
    run(f, &r);
    assert_int_equal(r.err.code, ERR_IO);
    assert_true(r.no_peer);
    assert_false(r.answered);
    assert_int_equal(r.status, 0);
    outgoing_request_deinit(&r);
}

/* The delay that a redirect asks for says nothing about the request that follows it. */
static void request__is_told_to_wait_by_the_last_response(void **state)
{
    struct fixture *f = *state;
    struct outgoing_request r = request(f, f->url);
    f->next_reply = "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n";
    start_server(f, "HTTP/1.1 307 Away\r\nLocation: /b\r\nRetry-After: 60\r\n"
                    "Content-Length: 0\r\n\r\n");
    r.redirects_max = 1;
    run(f, &r);
    assert_int_equal(r.status, 503);
    assert_int_equal(r.retry_after_s, 0);
    outgoing_request_deinit(&r);
    f->next_reply = NULL;
}

static void request__may_be_cancelled(void **state)
{
    struct fixture *f = *state;
    start_server(f, NULL);
    struct outgoing_request sent = request(f, f->url);
    struct outgoing_request fresh = request(f, f->url);
    struct outgoing_request broken = request(f, "http://127.0.0.1:1/");
    static const char too_long[REQUEST_MAX];
    broken.headers[0] = (struct outgoing_header){"X-Long", str_from(too_long, sizeof too_long)};
    broken.header_count = 1;
    outgoing_start(f->client, &sent);
    for (unsigned i = 0; i < 5; i++) {
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    outgoing_start(f->client, &fresh);
    outgoing_start(f->client, &broken);
    struct outgoing_request *all[] = {&sent, &fresh, &broken};
    for (unsigned i = 0; i < COUNT_OF(all); i++) {
        outgoing_cancel(all[i]);
        outgoing_request_deinit(all[i]);
    }
    (void)uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(f->done, 0);
}

static void request__says_why_it_could_not(void **state)
{
    struct fixture *f = *state;
    static const char *const urls[] = {"http://127.0.0.1:1/", "ftp://127.0.0.1/",
                                       "file:///etc/passwd",  "http://",
                                       "nonsense://x",        "http://no.such.name.invalid/"};
    for (unsigned i = 0; i < COUNT_OF(urls); i++) {
        struct outgoing_request r = request(f, urls[i]);
        ROW(urls[i]);
        run(f, &r);
        assert_int_equal(r.err.code, ERR_IO);
        assert_int_equal(r.status, 0);
        assert_true(r.err.msg[0] != '\0');
        outgoing_request_deinit(&r);
    }
    struct outgoing_request r = request(f, f->url);
    memset(f->seen, 'x', sizeof f->seen);
    r.headers[0] = (struct outgoing_header){"X-Long", str_from(f->seen, REQUEST_MAX)};
    r.header_count = 1;
    run(f, &r);
    assert_int_equal(r.err.code, ERR_IO);
    outgoing_request_deinit(&r);
}

static void request__asks_the_guard_for_every_address(void **state)
{
    struct fixture *f = *state;
    struct outgoing_guard *guard;
    struct err err;
    assert_int_equal(outgoing_guard_new(STR("127.0.0.0/8, ::1"), STR_EMPTY, &guard, &err), ERR_OK);
    outgoing_close(f->client);
    struct outgoing_config config = {.guard = guard, .connections_max = 4, .user_agent = "test/1"};
    f->client = outgoing_open(&f->loop, &config);
    char by_name[128];
    (void)snprintf(by_name, sizeof by_name, "http://localhost:%u/", f->port);
    const char *const urls[] = {f->url, by_name, "http://169.254.169.254/"};
    for (unsigned i = 0; i < COUNT_OF(urls); i++) {
        struct outgoing_request r = request(f, urls[i]);
        ROW(urls[i]);
        run(f, &r);
        assert_int_equal(r.err.code, ERR_FORBIDDEN);
        assert_non_null(strstr(r.err.msg, "is not allowed"));
        outgoing_request_deinit(&r);
    }
    outgoing_close(f->client);
    struct outgoing_config open = {.connections_max = 4, .user_agent = "test/1"};
    f->client = outgoing_open(&f->loop, &open);
    outgoing_guard_free(guard);
}

/* Not even on a connection kept from a request that was allowed. */
static void request__of_a_guest_goes_to_no_private_address(void **state)
{
    struct fixture *f = *state;
    struct outgoing_guard *guard;
    struct err err;
    assert_int_equal(outgoing_guard_new(STR_EMPTY, STR_EMPTY, &guard, &err), ERR_OK);
    outgoing_close(f->client);
    struct outgoing_config config = {.guard = guard, .connections_max = 4, .user_agent = "test/1"};
    f->client = outgoing_open(&f->loop, &config);
    start_server(f, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    for (unsigned i = 0; i < 2; i++) {
        struct outgoing_request r = request(f, f->url);
        r.guest = i == 1;
        run(f, &r);
        assert_int_equal(r.err.code, r.guest ? ERR_FORBIDDEN : ERR_OK);
        assert_int_equal(r.status, r.guest ? 0 : 200);
        assert_true(!r.guest || strstr(r.err.msg, "is not allowed for this namespace") != NULL);
        outgoing_request_deinit(&r);
    }
    finish(f);
    assert_int_equal(f->requests, 1);
    outgoing_guard_free(guard);
}

#define OUTGOING_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
TEST_GROUP(outgoing, OUTGOING_TEST(request__brings_an_answer_and_keeps_the_connection),
           OUTGOING_TEST(request__does_not_use_a_connection_that_was_closed),
           OUTGOING_TEST(request__keeps_its_connection_for_a_time),
           OUTGOING_TEST(request__does_not_follow_a_redirect),
           OUTGOING_TEST(request__stops_at_the_limit_of_the_answer),
           OUTGOING_TEST(request__ends_in_time), OUTGOING_TEST(request__waits_so_long_for_a_body),
           OUTGOING_TEST(request__is_answered_by_a_whole_head),
           OUTGOING_TEST(request__is_not_answered_by_a_part_of_a_head),
           OUTGOING_TEST(request__is_told_to_wait_by_the_last_response),
           OUTGOING_TEST(request__may_be_cancelled), OUTGOING_TEST(request__says_why_it_could_not),
           OUTGOING_TEST(request__asks_the_guard_for_every_address),
           OUTGOING_TEST(request__of_a_guest_goes_to_no_private_address));
