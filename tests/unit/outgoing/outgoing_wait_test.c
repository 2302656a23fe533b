#include "outgoing/outgoing_wait.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/expect.h"
#include "lib/test.h"

/* A server in a child process that sends one answer. The request that it received is read from a
 * pipe. */
struct peer {
    pid_t pid;
    int asked_fd;
    char url[64];
};

static void serve(int listener, int asked, const char *answer, bool linger)
{
    char room[4096];
    int fd = accept(listener, NULL, NULL);
    size_t len = 0;
    while (len < sizeof room) {
        ssize_t n = recv(fd, room + len, sizeof room - len, 0);
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
        if (memmem(room, len, "\r\n\r\n", 4) != NULL && memmem(room, len, "more", 4) == NULL) {
            break;
        }
        if (memmem(room, len, "and more", 8) != NULL) {
            break;
        }
    }
    (void)!write(asked, room, len);
    (void)!write(fd, answer, strlen(answer));
    if (linger) {
        (void)recv(fd, room, sizeof room, 0); /* until the client disconnects */
    }
    _exit(0);
}

static struct peer peer_open(const char *answer, bool linger)
{
    struct peer p;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int ends[2];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(pipe(ends), 0);
    p.pid = fork();
    assert_true(p.pid >= 0);
    if (p.pid == 0) {
        (void)close(ends[0]);
        serve(listener, ends[1], answer, linger);
    }
    (void)close(listener);
    (void)close(ends[1]);
    p.asked_fd = ends[0];
    (void)snprintf(p.url, sizeof p.url, "http://127.0.0.1:%d/x", ntohs(at.sin_port));
    return p;
}

static void peer_close(struct peer *p, struct buf *asked)
{
    char room[4096];
    ssize_t n = 0;
    while ((n = read(p->asked_fd, room, sizeof room)) > 0) {
        if (asked != NULL) {
            buf_add(asked, room, (size_t)n);
        }
    }
    (void)close(p->asked_fd);
    assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}

static void run__sends_method_headers_and_body(void **state)
{
    (void)state;
    static const struct {
        const char *method, *body, *line, *sent; /* sent: a part of the request */
    } rows[] = {
        {"GET", "", "GET /x HTTP/1.1\r\n", "X-Test: yes\r\n"},
        {"POST", "", "POST /x HTTP/1.1\r\n", "Content-Length: 0\r\n"},
        {"POST", "{} and more", "POST /x HTTP/1.1\r\n", "\r\n\r\n{} and more"},
        {"PUT", "{} and more", "PUT /x HTTP/1.1\r\n", "Content-Length: 11\r\n"},
        {"DELETE", "", "DELETE /x HTTP/1.1\r\n", "X-Test: yes\r\n"},
        {"DELETE", "{} and more", "DELETE /x HTTP/1.1\r\n", "\r\n\r\n{} and more"},
    };
    static const char *const headers[] = {"X-Test: yes", NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outgoing_wait *w = outgoing_wait_new();
        struct peer p = peer_open("HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello", false);
        struct buf asked;
        ROW(rows[i].line);
        buf_init(&asked, 1 << 16);
        struct outgoing_wait_call call = {.method = rows[i].method,
                                          .url = p.url,
                                          .headers = headers,
                                          .body = str_from_z(rows[i].body),
                                          .limit_bytes = 100};
        assert_true(outgoing_wait_run(w, &call, -1));
        assert_int_equal(call.err.code, ERR_OK);
        assert_int_equal(call.status, 201);
        expect_str(buf_str(&call.answer), STR("hello"));
        outgoing_wait_clear(&call);
        outgoing_wait_free(w);
        peer_close(&p, &asked);
        buf_add_char(&asked, '\0');
        assert_true(str_starts_with(buf_str(&asked), str_from_z(rows[i].line)));
        assert_non_null(strstr(asked.ptr, rows[i].sent));
        assert_null(strstr(asked.ptr, "Expect"));
        buf_deinit(&asked);
    }
}

static void run__refuses_an_answer_past_its_limit(void **state)
{
    (void)state;
    struct outgoing_wait *w = outgoing_wait_new();
    struct peer p = peer_open("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false);
    struct outgoing_wait_call call = {.method = "GET", .url = p.url, .limit_bytes = 4};
    assert_true(outgoing_wait_run(w, &call, -1));
    assert_int_equal(call.err.code, ERR_TOO_LARGE);
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    peer_close(&p, NULL);
}

static void run__fails_without_a_whole_answer(void **state)
{
    (void)state;
    static const char *const answers[] = {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
                                          "nonsense\r\n\r\n"};
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct outgoing_wait *w = outgoing_wait_new();
        struct peer p = peer_open(answers[i], false);
        ROW(answers[i]);
        struct outgoing_wait_call call = {.method = "GET", .url = p.url, .limit_bytes = 100};
        assert_true(outgoing_wait_run(w, &call, -1));
        assert_int_equal(call.err.code, ERR_IO);
        assert_true(call.err.msg[0] != '\0');
        outgoing_wait_clear(&call);
        outgoing_wait_free(w);
        peer_close(&p, NULL);
    }
}

static void run__fails_where_nobody_listens_and_on_what_is_no_url(void **state)
{
    (void)state;
    static const char *const urls[] = {"http://127.0.0.1:1/", "nonsense://x", "http://",
                                       "file:///"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct outgoing_wait *w = outgoing_wait_new();
        ROW(urls[i]);
        struct outgoing_wait_call call = {.method = "GET", .url = urls[i], .limit_bytes = 100};
        assert_true(outgoing_wait_run(w, &call, -1));
        assert_int_equal(call.err.code, ERR_IO);
        assert_int_equal(call.status, 0);
        outgoing_wait_clear(&call);
        outgoing_wait_free(w);
    }
}

static void run__ends_when_the_descriptor_is_readable(void **state)
{
    (void)state;
    struct outgoing_wait *w = outgoing_wait_new();
    struct peer p = peer_open("", true); /* never answers */
    struct outgoing_wait_call call = {.method = "GET", .url = p.url, .limit_bytes = 100};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_false(outgoing_wait_run(w, &call, ends[0]));
    assert_false(call.done);
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)kill(p.pid, SIGKILL);
    peer_close(&p, NULL);
}

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct buf *got = call->data;
    buf_add_str(got, piece);
    return memmem(got->ptr, got->len, "enough", 6) == NULL;
}

static void stream__gives_pieces_until_it_is_enough(void **state)
{
    (void)state;
    struct outgoing_wait *w = outgoing_wait_new();
    /* The stream has no end: only the return value of on_piece ends it. */
    struct peer p = peer_open("HTTP/1.1 200 OK\r\n\r\nsome and enough", true);
    struct buf got;
    buf_init(&got, 1000);
    struct outgoing_wait_call call = {
        .method = "GET", .url = p.url, .on_piece = on_piece, .data = &got};
    assert_true(outgoing_wait_run(w, &call, -1));
    assert_int_equal(call.err.code, ERR_OK);
    assert_int_equal(call.status, 200);
    expect_str(buf_str(&got), STR("some and enough"));
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    peer_close(&p, NULL);
    buf_deinit(&got);
}

static void stream__fails_when_the_server_is_silent(void **state)
{
    (void)state;
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\n\r\nsome", ""};
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct outgoing_wait *w = outgoing_wait_new();
        struct peer p = peer_open(answers[i], true);
        struct buf got;
        ROW(answers[i]);
        buf_init(&got, 1000);
        struct outgoing_wait_call call = {
            .method = "GET", .url = p.url, .silence_ms = 50, .on_piece = on_piece, .data = &got};
        assert_true(outgoing_wait_run(w, &call, -1));
        assert_int_equal(call.err.code, ERR_IO);
        assert_non_null(strstr(call.err.msg, "sent nothing for 0.05 s"));
        outgoing_wait_clear(&call);
        outgoing_wait_free(w);
        peer_close(&p, NULL);
        buf_deinit(&got);
    }
}

static void stream__keeps_a_refusal_instead(void **state)
{
    (void)state;
    struct outgoing_wait *w = outgoing_wait_new();
    struct peer p = peer_open("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", false);
    struct buf got;
    buf_init(&got, 1000);
    struct outgoing_wait_call call = {
        .method = "GET", .url = p.url, .limit_bytes = 100, .on_piece = on_piece, .data = &got};
    assert_true(outgoing_wait_run(w, &call, -1));
    assert_int_equal(call.status, 404);
    expect_str(buf_str(&call.answer), STR("gone"));
    assert_int_equal(got.len, 0);
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    peer_close(&p, NULL);
    buf_deinit(&got);
}

static void conversation__ends_where_nobody_speaks_http2(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "", "nonsense", "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\n\r\n"};
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct outgoing_wait *w = outgoing_wait_new();
        struct peer p = peer_open(answers[i], false);
        struct buf got;
        ROW(answers[i]);
        buf_init(&got, 1000);
        struct outgoing_wait_call call = {.method = "POST",
                                          .url = p.url,
                                          .limit_bytes = 100,
                                          .streams = true,
                                          .body = STR("first"),
                                          .on_piece = on_piece,
                                          .data = &got};
        /* Only the peer can end the call: the body stays open, and there is no timeout. */
        assert_true(outgoing_wait_run(w, &call, -1));
        assert_true(call.err.code != ERR_OK || call.status != 200);
        assert_false(call.unreached);
        assert_int_equal(got.len, 0);
        outgoing_wait_say(&call, STR("to nobody"));
        outgoing_wait_clear(&call);
        outgoing_wait_free(w);
        peer_close(&p, NULL);
        buf_deinit(&got);
    }
}

static void conversation__tells_when_nobody_was_reached(void **state)
{
    (void)state;
    struct outgoing_wait *w = outgoing_wait_new();
    struct outgoing_wait_call call = {
        .method = "POST", .url = "http://127.0.0.1:1/", .limit_bytes = 100, .streams = true};
    assert_true(outgoing_wait_run(w, &call, -1));
    assert_int_equal(call.err.code, ERR_IO);
    assert_true(call.unreached);
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
}

TEST_GROUP(outgoing_wait, cmocka_unit_test(run__sends_method_headers_and_body),
           cmocka_unit_test(run__refuses_an_answer_past_its_limit),
           cmocka_unit_test(run__fails_without_a_whole_answer),
           cmocka_unit_test(run__fails_where_nobody_listens_and_on_what_is_no_url),
           cmocka_unit_test(run__ends_when_the_descriptor_is_readable),
           cmocka_unit_test(stream__gives_pieces_until_it_is_enough),
           cmocka_unit_test(stream__fails_when_the_server_is_silent),
           cmocka_unit_test(stream__keeps_a_refusal_instead),
           cmocka_unit_test(conversation__ends_where_nobody_speaks_http2),
           cmocka_unit_test(conversation__tells_when_nobody_was_reached));
