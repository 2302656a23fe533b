/*
 * Requests to a real server over persistent connections: bodies in both directions, failures,
 * cancellation.
 */
#include "relay/relay.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "http/http_server.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

struct world {
    struct http_server *server;
    char url[64];
    uv_loop_t loop;
    struct relay *relay;
    uv_prepare_t turn;
    atomic_uint gone; /* requests whose clients disconnected */
};

static struct world *world;

/* The server: /echo returns the body, /park never answers, any other path returns "hello". */

static void echo(struct http_request *req, enum http_body_result result)
{
    assert_int_equal(result, HTTP_BODY_COMPLETE);
    http_request_answer(req, &(struct http_response){.status = 200, .body = req->body});
}

static void parked_gone(struct http_request *req)
{
    atomic_fetch_add(&world->gone, 1);
    http_request_drop(req);
}

static const struct http_handlers handlers = {.gone = parked_gone};

static void on_request(void *data, struct http_request *req)
{
    static const struct http_header header = {{.ptr = "X-Test", .len = 6},
                                              {.ptr = "yes", .len = 3}};
    (void)data;
    req->on = &handlers;
    if (str_eq(req->path, STR("/echo"))) {
        http_request_collect(req, 64 << 20, echo);
    } else if (!str_eq(req->path, STR("/park"))) {
        http_request_answer(
            req, &(struct http_response){
                     .status = 201, .headers = &header, .header_count = 1, .body = STR("hello")});
    }
}

/* The loop */

static void turn_cb(uv_prepare_t *prepare)
{
    (void)prepare;
    relay_flush(world->relay);
}

static int setup(void **state)
{
    struct err err;
    struct http_listen listen = {.address = "127.0.0.1:0"};
    struct http_server_config config = {.listen = &listen,
                                        .listen_count = 1,
                                        .threads = 1,
                                        .limits = HTTP_LIMITS_DEFAULT,
                                        .on_request = on_request};
    world = calloc(1, sizeof *world);
    assert_non_null(world);
    assert_int_equal(http_server_open(&config, &world->server, &err), ERR_OK);
    (void)snprintf(world->url, sizeof world->url, "http://127.0.0.1:%u",
                   http_server_port(world->server, 0));
    assert_int_equal(uv_loop_init(&world->loop), 0);
    world->relay = relay_open(&world->loop, NULL);
    assert_int_equal(uv_prepare_init(&world->loop, &world->turn), 0);
    assert_int_equal(uv_prepare_start(&world->turn, turn_cb), 0);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    relay_close(world->relay);
    uv_close((uv_handle_t *)&world->turn, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    http_server_stop(world->server, 0);
    http_server_free(world->server);
    free(world);
    return 0;
}

/* One request */

struct asked {
    struct relay_stream stream;
    struct buf answer;
    bool over;
};

static void moved(struct relay_stream *s)
{
    struct asked *a = s->data;
    buf_add_str(&a->answer, buf_str(&s->in));
    relay_take(s, s->in.len);
    a->over = s->ended || s->failed;
}

static void begin(struct asked *a, struct arena *arena, const char *url, const char *path,
                  struct str body)
{
    *a = (struct asked){.stream = {.moved = moved, .data = a, .arena = arena}};
    buf_init(&a->answer, 64 << 20);
    struct relay_request request = {
        .url = str_from_z(url), .method = STR("POST"), .target = str_from_z(path), .body = body};
    relay_send(world->relay, &a->stream, &request);
}

static void run_until_over(const struct asked *a)
{
    while (!a->over) {
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    }
}

static void end(struct asked *a)
{
    relay_stream_deinit(&a->stream);
    buf_deinit(&a->answer);
}

static void answers__come_whole(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct asked a;
    (void)state;
    for (unsigned i = 0; i < 3; i++) { /* over the same connection */
        begin(&a, arena, world->url, "/hello", STR_EMPTY);
        run_until_over(&a);
        assert_true(a.stream.ended);
        assert_int_equal(a.stream.status, 201);
        assert_true(str_eq(buf_str(&a.answer), STR("hello")));
        bool found = false;
        for (size_t h = 0; h < a.stream.header_count; h++) {
            found = found || (str_eq(a.stream.headers[h].name, STR("x-test")) &&
                              str_eq(a.stream.headers[h].value, STR("yes")));
        }
        assert_true(found);
        end(&a);
    }
    struct http_stats stats;
    http_server_stats(world->server, 0, &stats);
    assert_int_equal(stats.connections, 1);
    arena_free(arena);
}

/* Bodies larger than every window, in both directions, several at once. */
static void bodies__are_not_bounded_by_windows(void **state)
{
    enum { BYTES = 9 << 20, COUNT = 3 };
    struct arena *arena = arena_new(1 << 20);
    char *bytes = malloc(BYTES);
    struct asked a[COUNT];
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (char)(i * 7 + i / 1000);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        begin(&a[i], arena, world->url, "/echo", str_from(bytes, BYTES - i));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        run_until_over(&a[i]);
        assert_true(a[i].stream.ended);
        assert_true(str_eq(buf_str(&a[i].answer), str_from(bytes, BYTES - i)));
        end(&a[i]);
    }
    free(bytes);
    arena_free(arena);
}

static void nobody_there__is_untouched(void **state)
{
    static const char *const urls[] = {"http://127.0.0.1:1", "nonsense", "https://127.0.0.1:1"};
    struct arena *arena = arena_new(1 << 20);
    struct asked a;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        begin(&a, arena, urls[i], "/hello", STR_EMPTY);
        run_until_over(&a);
        assert_true(a.stream.failed);
        assert_true(a.stream.untouched);
        end(&a);
    }
    arena_free(arena);
}

/* Write a self-signed certificate for 127.0.0.1, and its key, as PEM. */
static void write_certificate(const char *cert_file, const char *key_file)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    assert_true(key != NULL && cert != NULL);
    assert_int_equal(X509_set_version(cert, 2), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(cert), 1), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), -60));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 3600));
    X509_NAME *subject = X509_get_subject_name(cert);
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)"node", -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(cert, subject), 1);
    assert_int_equal(X509_set_pubkey(cert, key), 1);
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    assert_non_null(names);
    assert_int_equal(X509_add_ext(cert, names, -1), 1);
    X509_EXTENSION_free(names);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    FILE *file = fopen(cert_file, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, cert), 1);
    assert_int_equal(fclose(file), 0);
    file = fopen(key_file, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

/* A request over TLS fails unless the CA file verifies the node's certificate. */
static void tls__is_for_those_that_are_trusted(void **state)
{
    struct tmpdir dir = tmpdir_new();
    struct os_file_path cert = tmpdir_path(&dir, "cert");
    struct os_file_path key = tmpdir_path(&dir, "key");
    struct err err;
    struct http_server *server;
    char url[64];
    struct relay *relay = world->relay;
    struct arena *arena = arena_new(1 << 20);
    char *bytes = calloc(1, 3 << 20);
    struct asked a;
    (void)state;
    assert_non_null(bytes);
    write_certificate(cert.z, key.z);
    struct http_listen listen = {.address = "127.0.0.1:0", .tls = true};
    struct http_server_config config = {.listen = &listen,
                                        .listen_count = 1,
                                        .threads = 1,
                                        .limits = HTTP_LIMITS_DEFAULT,
                                        .tls_cert_file = cert.z,
                                        .tls_key_file = key.z,
                                        .on_request = on_request};
    assert_int_equal(http_server_open(&config, &server, &err), ERR_OK);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u", http_server_port(server, 0));
    begin(&a, arena, url, "/hello", STR_EMPTY);
    run_until_over(&a);
    assert_true(a.stream.failed && a.stream.untouched);
    end(&a);
    world->relay = relay_open(&world->loop, cert.z);
    begin(&a, arena, url, "/echo", str_from(bytes, 3 << 20));
    run_until_over(&a);
    assert_true(a.stream.ended);
    assert_true(str_eq(buf_str(&a.answer), str_from(bytes, 3 << 20)));
    end(&a);
    relay_close(world->relay);
    world->relay = relay;
    http_server_stop(server, 0);
    http_server_free(server);
    free(bytes);
    arena_free(arena);
    tmpdir_remove(&dir);
}

/* A request over TLS to a server without TLS fails. */
static void other_protocol__fails(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct asked a;
    char url[80];
    (void)state;
    (void)snprintf(url, sizeof url, "https%s", world->url + 4);
    begin(&a, arena, url, "/hello", STR_EMPTY);
    run_until_over(&a);
    assert_true(a.stream.failed);
    end(&a);
    arena_free(arena);
}

static void cancelled__is_told_to_the_server(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct asked parked, after;
    struct http_stats stats;
    (void)state;
    atomic_store(&world->gone, 0);
    begin(&parked, arena, world->url, "/park", STR_EMPTY);
    do {
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
        http_server_stats(world->server, 0, &stats);
    } while (stats.requests_in_flight == 0);
    end(&parked);
    while (atomic_load(&world->gone) == 0) {
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    }
    begin(&after, arena, world->url, "/hello", STR_EMPTY);
    run_until_over(&after);
    assert_true(after.stream.ended);
    end(&after);
    arena_free(arena);
}

TEST_GROUP_FIXTURE(relay, setup, teardown, cmocka_unit_test(answers__come_whole),
                   cmocka_unit_test(bodies__are_not_bounded_by_windows),
                   cmocka_unit_test(nobody_there__is_untouched),
                   cmocka_unit_test(other_protocol__fails),
                   cmocka_unit_test(tls__is_for_those_that_are_trusted),
                   cmocka_unit_test(cancelled__is_told_to_the_server));
