#include "http/http_server.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "http/http_loop.h"
#include "http_fixture.h"
#include "lib/expect.h"
#include "lib/net_client.h"
#include "lib/test.h"

#define H "Host: t\r\n"

/* For servers that get no request. */
static void no_request(void *data, struct http_request *req)
{
    (void)data;
    http_request_drop(req);
}

static void http_server_open__refuses_what_it_cannot_do(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct http_listen listen;
        size_t count;
        const char *cert, *key;
        enum err_code code;
    } rows[] = {
        {"no address", {NULL, false}, 0, NULL, NULL, ERR_VALIDATION},
        {"no port", {"127.0.0.1", false}, 1, NULL, NULL, ERR_VALIDATION},
        {"an address of somebody else", {"192.0.2.1:0", false}, 1, NULL, NULL, ERR_IO},
        {"TLS without files", {"127.0.0.1:0", true}, 1, NULL, NULL, ERR_VALIDATION},
        {"TLS with missing files", {"127.0.0.1:0", true}, 1, "/no/cert", "/no/key", ERR_IO},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_server_config config = {
            .listen = &rows[i].listen,
            .listen_count = rows[i].count,
            .limits = HTTP_LIMITS_DEFAULT,
            .tls_cert_file = rows[i].cert,
            .tls_key_file = rows[i].key,
            .on_request = no_request,
        };
        struct http_server *server = NULL;
        struct err err = {0};
        ROW(rows[i].name);
        assert_int_equal(http_server_open(&config, &server, &err), rows[i].code);
        assert_null(server);
        assert_true(err.msg[0] != '\0');
    }
}

static void http_server_open__refuses_a_port_that_is_taken(void **state)
{
    (void)state;
    struct http_fixture f;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    http_fixture_open(&f, &limits, 1);
    char address[64];
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", f.port);
    struct http_listen listen_on = {.address = address};
    struct http_server_config config = {
        .listen = &listen_on,
        .listen_count = 1,
        .limits = limits,
        .on_request = no_request,
    };
    struct http_server *server = NULL;
    struct err err = {0};
    assert_int_equal(http_server_open(&config, &server, &err), ERR_IO);
    assert_non_null(strstr(err.msg, address));
    http_fixture_close(&f, 0);
}

static void http_server_open__listens_on_every_address(void **state)
{
    (void)state;
    static const struct http_listen listen_on[] = {{.address = "127.0.0.1:0"}, {.address = ":0"}};
    struct http_server_config config = {.listen = listen_on,
                                        .listen_count = COUNT_OF(listen_on),
                                        .threads = 2,
                                        .limits = HTTP_LIMITS_DEFAULT};
    struct http_fixture f;
    http_fixture_open_config(&f, &config);
    for (size_t i = 0; i < COUNT_OF(listen_on); i++) {
        struct net_client c;
        struct net_answer a;
        net_client_open(&c, http_server_port(f.server, i));
        net_client_send(&c, STR("GET /info HTTP/1.1\r\n" H "\r\n"));
        assert_true(net_client_answer(&c, false, &a));
        /* The address of an IPv4 client on an IPv6 socket is reported as IPv4. */
        assert_non_null(memmem(a.body.ptr, a.body.len, "peer=127.0.0.1 ", 15));
        net_client_close(&c);
    }
    http_fixture_close(&f, 20000);
}

static void http_server_stop__tells_parked_requests_and_sends_their_answers(void **state)
{
    (void)state;
    struct http_fixture f;
    struct net_client idle;
    struct net_client parked;
    struct net_answer a;
    http_fixture_open(&f, NULL, 1);
    f.answer_when_stopping = true;
    net_client_open(&idle, f.port);
    net_client_open(&parked, f.port);
    net_client_send(&idle, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    assert_true(net_client_answer(&idle, false, &a));
    net_client_send(&parked,
                    STR("GET /park/a HTTP/1.1\r\n" H "\r\nGET /park/b HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&f, FIXTURE_PARKED, 2);

    http_fixture_stop(&f, 20000);
    assert_false(net_client_answer(&idle, false, &a));
    assert_true(net_client_answer(&parked, false, &a));
    expect_str(a.body, STR("early"));
    assert_true(net_client_answer(&parked, false, &a));
    expect_str(a.body, STR("early"));
    expect_str(net_client_header(&a, STR("connection")), STR("close"));
    net_client_read_all(&parked);
    net_client_close(&parked);
    net_client_close(&idle);
    http_fixture_wait(&f, FIXTURE_STOPPING, 2);
    assert_int_equal(http_fixture_count(&f, FIXTURE_GONE), 0);
    http_fixture_free(&f);
}

static void http_server_stop__cuts_what_does_not_finish_in_time(void **state)
{
    (void)state;
    struct http_fixture f;
    struct net_client c;
    http_fixture_open(&f, NULL, 2);
    net_client_open(&c, f.port);
    net_client_send(&c, STR("GET /park/a HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&f, FIXTURE_PARKED, 1);
    http_fixture_stop(&f, 10);
    http_fixture_wait(&f, FIXTURE_GONE, 1);
    assert_int_equal(http_fixture_count(&f, FIXTURE_STOPPING), 1);
    net_client_read_all(&c);
    net_client_close(&c);
    http_fixture_free(&f);
}

static void http_server_stop__finishes_what_is_under_way(void **state)
{
    (void)state;
    struct http_fixture f;
    struct net_client c;
    struct net_answer a;
    http_fixture_open(&f, NULL, 1);
    net_client_open(&c, f.port);
    net_client_send(&c, STR("POST /late/x HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\nha"));
    http_fixture_wait(&f, FIXTURE_PARKED, 1);
    http_fixture_stop(&f, 20000);
    http_fixture_wait(&f, FIXTURE_STOPPING, 1);
    http_fixture_do(&f, "x", FIXTURE_COLLECT, "");
    net_client_send(&c, STR("lf"));
    assert_true(net_client_answer(&c, false, &a));
    expect_str(a.body, STR("half"));
    expect_str(net_client_header(&a, STR("connection")), STR("close"));
    net_client_read_all(&c);
    net_client_close(&c);
    http_fixture_free(&f);
}

static void http_server_stop__accepts_no_more(void **state)
{
    (void)state;
    struct http_fixture f;
    struct net_client c;
    struct net_client late;
    struct net_answer a;
    http_fixture_open(&f, NULL, 1);
    net_client_open(&c, f.port);
    net_client_send(&c, STR("GET /park/a HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&f, FIXTURE_PARKED, 1);
    net_client_open(&late, f.port);
    http_fixture_stop(&f, 20000);
    http_fixture_wait(&f, FIXTURE_STOPPING, 1);
    /* A connection opened just before the stop, accepted or not, is closed without an answer. */
    net_client_send(&late, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    assert_false(net_client_answer(&late, false, &a));
    net_client_close(&late);
    http_fixture_do(&f, "a", FIXTURE_ANSWER, "last");
    assert_true(net_client_answer(&c, false, &a));
    net_client_close(&c);
    http_fixture_free(&f);
}

static void http_server__waits_when_there_are_no_file_descriptors(void **state)
{
    (void)state;
    struct http_fixture f;
    struct net_client early;
    struct net_client late = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct net_answer a;
    http_fixture_open(&f, NULL, 1);
    net_client_open(&early, f.port);
    net_client_send(&early, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    assert_true(net_client_answer(&early, false, &a));

    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    /* Not 0, because poll fails if it receives more descriptors than the limit. */
    struct rlimit none = {.rlim_cur = 1, .rlim_max = before.rlim_max};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(f.port)};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int connected = connect(late.fd, (struct sockaddr *)&in, sizeof in);
    /* Accepted connections are served meanwhile. */
    while (http_fixture_stats(&f).accept_pauses == 0) {
        net_client_send(&early, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
        assert_true(net_client_answer(&early, false, &a));
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(connected, 0);
    buf_init(&late.in, SIZE_MAX);
    buf_init(&late.answer, SIZE_MAX);
    net_client_send(&late, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    assert_true(net_client_answer(&late, false, &a));
    net_client_close(&late);
    net_client_close(&early);
    http_fixture_close(&f, 20000);
}

struct loop_counts {
    uv_mutex_t lock;
    unsigned started, stopped;
};

static void count_start(void *data, struct http_loop *loop)
{
    struct loop_counts *counts = data;
    uv_mutex_lock(&counts->lock);
    counts->started += 1U << http_loop_index(loop);
    uv_mutex_unlock(&counts->lock);
    assert_ptr_equal(http_loop_uv(loop)->data, NULL);
    assert_false(http_loop_stopping(loop));
}

static void count_stop(void *data, struct http_loop *loop)
{
    struct loop_counts *counts = data;
    uv_mutex_lock(&counts->lock);
    counts->stopped += 1U << http_loop_index(loop);
    uv_mutex_unlock(&counts->lock);
    assert_true(http_loop_stopping(loop));
}

static void http_server__starts_and_stops_each_loop_once(void **state)
{
    (void)state;
    static const struct http_listen listen_on = {.address = "127.0.0.1:0"};
    struct loop_counts counts = {0};
    assert_int_equal(uv_mutex_init(&counts.lock), 0);
    struct http_server_config config = {.listen = &listen_on,
                                        .listen_count = 1,
                                        .threads = 3,
                                        .limits = HTTP_LIMITS_DEFAULT,
                                        .data = &counts,
                                        .on_request = no_request,
                                        .on_loop_start = count_start,
                                        .on_loop_stop = count_stop};
    struct http_server *server;
    struct err err;
    assert_int_equal(http_server_open(&config, &server, &err), ERR_OK);
    http_server_stop(server, 0);
    http_server_stop(server, 0); /* a second call has no effect */
    http_server_free(server);
    assert_int_equal(counts.started, 7);
    assert_int_equal(counts.stopped, 7);
    uv_mutex_destroy(&counts.lock);
}

TEST_GROUP(http_server, cmocka_unit_test(http_server_open__refuses_what_it_cannot_do),
           cmocka_unit_test(http_server_open__refuses_a_port_that_is_taken),
           cmocka_unit_test(http_server_open__listens_on_every_address),
           cmocka_unit_test(http_server_stop__tells_parked_requests_and_sends_their_answers),
           cmocka_unit_test(http_server_stop__cuts_what_does_not_finish_in_time),
           cmocka_unit_test(http_server_stop__finishes_what_is_under_way),
           cmocka_unit_test(http_server_stop__accepts_no_more),
           cmocka_unit_test(http_server__waits_when_there_are_no_file_descriptors),
           cmocka_unit_test(http_server__starts_and_stops_each_loop_once));
