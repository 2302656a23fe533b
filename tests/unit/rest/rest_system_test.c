/*
 * The system endpoints over a real engine and real sockets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/check.h"
#include "json/json_scan.h"
#include "lib/expect.h"
#include "lib/net_client.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"
#include "loop/mailbox.h"
#include "rest/describe/rest_docs_int.h"
#include "rest/rest_int.h"

struct fixture {
    struct tmpdir dir;
    struct engine *engine;
    struct rest *rest;
    struct http_server *server;
    struct net_client client;
    struct net_answer answer;
};

static void open_server(struct fixture *f, bool docs)
{
    struct rest_config config = rest_config_default();
    struct http_listen listen = {.address = "127.0.0.1:0"};
    struct err err;
    config.engine = f->engine;
    config.version = "9.8.7";
    config.docs_enabled = docs;
    f->rest = rest_new(&config);
    struct http_server_config http = {
        .listen = &listen, .listen_count = 1, .threads = 2, .limits = HTTP_LIMITS_DEFAULT};
    rest_attach(f->rest, &http);
    CHECK(http_server_open(&http, &f->server, &err) == ERR_OK);
    rest_set_server(f->rest, f->server, "http://127.0.0.1");
    net_client_open(&f->client, http_server_port(f->server, 0));
}

static void close_server(struct fixture *f)
{
    net_client_close(&f->client);
    http_server_stop(f->server, 1000);
    http_server_free(f->server);
    rest_free(f->rest);
}

static int setup(void **state)
{
    struct engine_config config = engine_config_default();
    struct fixture *f = calloc(1, sizeof *f);
    struct err err;
    CHECK(f != NULL);
    log_configure(LOG_ERROR, LOG_TEXT);
    f->dir = tmpdir_new();
    config.data_dir = f->dir.path;
    config.node.durable = false;
    config.node.segment_bytes = 1 << 20;
    config.free_bytes_min = 0;
    CHECK(engine_open(&config, &f->engine, &err) == ERR_OK);
    open_server(f, true);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    close_server(f);
    engine_close(f->engine);
    tmpdir_remove(&f->dir);
    free(f);
    return 0;
}

/* Send a request and wait for the answer. Returns its body. */
static struct str ask(struct fixture *f, const char *method, const char *path, const char *headers,
                      const char *body)
{
    struct buf request;
    buf_init(&request, 1 << 16);
    buf_printf(&request, "%s %s HTTP/1.1\r\nHost: test\r\n%sContent-Length: %zu\r\n\r\n%s", method,
               path, headers, strlen(body), body);
    net_client_send(&f->client, buf_str(&request));
    buf_deinit(&request);
    assert_true(net_client_answer(&f->client, strcmp(method, "HEAD") == 0, &f->answer));
    return f->answer.body;
}

static struct str get(void **state, const char *path)
{
    return ask(*state, "GET", path, "", "");
}

static int status_of(void **state, const char *path)
{
    struct fixture *f = *state;
    (void)get(state, path);
    return f->answer.status;
}

static void system__is_healthy_and_ready(void **state)
{
    static const char *const paths[] = {"/healthz", "/readyz", "/healthz?ready=1"};
    for (unsigned i = 0; i < COUNT_OF(paths); i++) {
        ROW(paths[i]);
        expect_str(get(state, paths[i]),
                   STR("{\"status\":\"ok\",\"raft_state\":\"Leader\",\"leader\":true}\n"));
    }
    expect_str(get(state, "/livez"), STR("{\"status\":\"ok\"}\n"));
    expect_str(get(state, "/api/v1/info"),
               STR("{\"server_version\":\"9.8.7\",\"api_version\":\"9.8.7\"}\n"));
}

static void system__answers_json_or_text_on_every_page(void **state)
{
    static const char *const paths[] = {"/api/v1/cluster/status", "/api/v1/metrics/throughput",
                                        "/api/v1/debug/runtime", "/api/v1/workers",
                                        "/openapi.json"};
    struct fixture *f = *state;
    struct err err;
    for (unsigned i = 0; i < COUNT_OF(paths); i++) {
        ROW(paths[i]);
        struct str body = get(state, paths[i]);
        assert_int_equal(f->answer.status, 200);
        expect_str(net_client_header(&f->answer, STR("Content-Type")), STR("application/json"));
        assert_int_equal(json_scan_check(body, &err), ERR_OK);
    }
    assert_true(str_starts_with(get(state, "/metrics"), STR("# HELP corvo_")));
    expect_str(net_client_header(&f->answer, STR("Content-Type")),
               STR("text/plain; version=0.0.4; charset=utf-8"));
    (void)ask(f, "HEAD", "/api/v1/metrics", "", "");
    assert_int_equal(f->answer.status, 200);
}

/* Expect the ids and queues of the listed workers, in order. */
static void expect_workers(struct fixture *f, const char *headers, const char *want)
{
    char got[256] = "";
    size_t len = 0;
    struct json_value v;
    struct json_value id;
    struct json_value queues;
    struct json_scan s = json_scan_from(ask(f, "GET", "/api/v1/workers", headers, ""));
    assert_true(json_scan_enter_array(&s));
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        assert_true(json_scan_member(v.text, STR("id"), &id));
        assert_true(json_scan_member(v.text, STR("queues"), &queues));
        len += (size_t)snprintf(got + len, sizeof got - len, STR_FMT STR_FMT " ", STR_ARG(id.text),
                                STR_ARG(queues.text));
    }
    expect_str(str_from_z(got), str_from_z(want));
}

/* Enqueue a job and fetch it, so that the fetch does not wait. */
static void fetch_as(struct fixture *f, const char *headers, const char *queue, const char *body)
{
    char job[64];
    (void)snprintf(job, sizeof job, "{\"queue\":\"%s\"}", queue);
    (void)ask(f, "POST", "/api/v1/enqueue", headers, job);
    assert_int_equal(f->answer.status, 201);
    (void)ask(f, "POST", "/api/v1/fetch", headers, body);
    assert_int_equal(f->answer.status, 200);
}

static void system__lists_workers_by_namespace_the_last_one_first(void **state)
{
    struct fixture *f = *state;
    fetch_as(f, "", "a", "{\"queues\":[\"a\",\"b\"],\"worker_id\":\"w1\"}");
    fetch_as(f, "X-Corvo-Namespace: acme\r\n", "q\\\"",
             "{\"queues\":[\"q\\\"\"],\"worker_id\":\"w2\",\"hostname\":\"h\"}");
    expect_workers(f, "", "\"w2\"\"[\\\"acme::q\\\\\\\"\\\"]\" \"w1\"\"[\\\"a\\\",\\\"b\\\"]\" ");
    expect_workers(f, "X-Corvo-Namespace: acme\r\n", "\"w2\"\"[\\\"q\\\\\\\"\\\"]\" ");
    expect_workers(f, "X-Corvo-Namespace: other\r\n", "");
}

static uint64_t sum_of(struct str minutes, struct str what, unsigned *out_count)
{
    struct json_scan s = json_scan_from(minutes);
    struct json_value v;
    struct json_value n;
    int64_t number = 0;
    uint64_t sum = 0;
    *out_count = 0;
    assert_true(json_scan_enter_array(&s));
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        assert_true(json_scan_member(v.text, what, &n));
        assert_true(json_value_i64(n, &number));
        sum += (uint64_t)number;
        *out_count += 1;
    }
    return sum;
}

static void system__counts_jobs_whatever_way_they_came(void **state)
{
    struct fixture *f = *state;
    unsigned count;
    uint64_t before = sum_of(get(state, "/api/v1/metrics/throughput"), STR("enqueued"), &count);
    (void)ask(f, "POST", "/api/v1/enqueue", "", "{\"queue\":\"n\"}");
    assert_int_equal(f->answer.status, 201);
    (void)ask(f, "POST", "/api/v1/enqueue/batch", "",
              "{\"jobs\":[{\"queue\":\"n\"},{\"queue\":\"n\"}]}");
    assert_int_equal(f->answer.status, 201);
    (void)ask(f, "POST", "/api/v1/webhooks/n", "", "any");
    assert_int_equal(f->answer.status, 201);
    uint64_t after = sum_of(get(state, "/api/v1/metrics/throughput"), STR("enqueued"), &count);
    assert_int_equal(count, 60);
    assert_int_equal(after - before, 4);
}

static void system__shows_only_the_queues_of_the_namespace(void **state)
{
    struct fixture *f = *state;
    (void)ask(f, "POST", "/api/v1/enqueue", "X-Corvo-Namespace: acme\r\n", "{\"queue\":\"mine\"}");
    assert_int_equal(f->answer.status, 201);
    struct str page = ask(f, "GET", "/api/v1/metrics", "X-Corvo-Namespace: acme\r\n", "");
    const char *own = "corvo_queue_jobs{queue=\"mine\",state=\"pending\"} 1\n";
    assert_non_null(memmem(page.ptr, page.len, own, strlen(own)));
    assert_null(memmem(page.ptr, page.len, "queue=\"n\"", 9));
}

static void system__serves_a_page_that_may_run_nothing_else(void **state)
{
    struct fixture *f = *state;
    expect_str(get(state, "/docs"), rest_docs_page);
    expect_str(net_client_header(&f->answer, STR("Cache-Control")), STR("no-cache"));
    struct str policy = net_client_header(&f->answer, STR("Content-Security-Policy"));
    assert_true(str_starts_with(policy, STR("default-src 'none'; ")));
    assert_null(memmem(policy.ptr, policy.len, "unsafe", 6));
    assert_null(memmem(rest_docs_page.ptr, rest_docs_page.len, "http://", 7));
    assert_null(memmem(rest_docs_page.ptr, rest_docs_page.len, "https://", 8));
    (void)get(state, "/openapi.json");
    expect_str(net_client_header(&f->answer, STR("Cache-Control")), STR("public, max-age=300"));
    assert_int_equal(status_of(state, "/"), 302);
    expect_str(net_client_header(&f->answer, STR("Location")), STR("/ui/"));
}

/* Check that the policy contains the SHA-256 hash of the text between two tags. */
static void expect_allowed(struct str policy, const char *from, const char *to)
{
    const char *begin = memmem(rest_docs_page.ptr, rest_docs_page.len, from, strlen(from));
    assert_non_null(begin);
    begin += strlen(from);
    const char *end =
        memmem(begin, (size_t)(rest_docs_page.ptr + rest_docs_page.len - begin), to, strlen(to));
    assert_non_null(end);
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned char text[64];
    unsigned hash_len = 0;
    CHECK(EVP_Digest(begin, (size_t)(end - begin), hash, &hash_len, EVP_sha256(), NULL) == 1);
    int n = EVP_EncodeBlock(text, hash, (int)hash_len);
    assert_non_null(memmem(policy.ptr, policy.len, text, (size_t)n));
}

static void system__allows_the_page_its_own_style_and_script(void **state)
{
    struct str policy = str_from_z(rest_docs_page_policy);
    (void)state;
    expect_allowed(policy, "<style>", "</style>");
    expect_allowed(policy, "<script>", "</script>");
}

static void system__has_no_docs_when_they_are_off(void **state)
{
    struct fixture *f = *state;
    close_server(f);
    open_server(f, false);
    assert_int_equal(status_of(state, "/docs"), 404);
    assert_int_equal(status_of(state, "/openapi.json"), 404);
    assert_int_equal(status_of(state, "/healthz"), 200);
    close_server(f);
    open_server(f, true);
}

static void system__bears_clients_that_do_not_wait(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 20; i++) {
        struct net_client hasty;
        net_client_open(&hasty, http_server_port(f->server, 0));
        net_client_send(&hasty, STR("GET /api/v1/metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
        net_client_abort(&hasty);
    }
    assert_int_equal(status_of(state, "/api/v1/metrics"), 200);
}

/* A call that blocks the core thread, like a slow disk. */
struct stall {
    struct engine_call call;
    uv_loop_t loop;
    struct mailbox box;
    uv_sem_t begun, over;
};

static void stall_run(struct engine_call *call, struct machine *m)
{
    struct stall *s = call->data;
    (void)m;
    uv_sem_post(&s->begun);
    uv_sem_wait(&s->over);
}

static void stall_done(struct engine_call *call)
{
    struct stall *s = call->data;
    mailbox_close(&s->box);
}

static void system__is_healthy_while_the_core_thread_waits(void **state)
{
    struct fixture *f = *state;
    struct stall s = {.call = {.run = stall_run, .done = stall_done}};
    assert_int_equal(uv_sem_init(&s.begun, 0), 0);
    assert_int_equal(uv_sem_init(&s.over, 0), 0);
    assert_int_equal(uv_loop_init(&s.loop), 0);
    mailbox_open(&s.box, &s.loop);
    s.call.reply_to = &s.box;
    s.call.data = &s;
    assert_true(engine_run(f->engine, &s.call));
    uv_sem_wait(&s.begun);
    expect_str(get(state, "/healthz"),
               STR("{\"status\":\"ok\",\"raft_state\":\"Leader\",\"leader\":true}\n"));
    uv_sem_post(&s.over);
    (void)uv_run(&s.loop, UV_RUN_DEFAULT);
    mailbox_deinit(&s.box);
    assert_int_equal(uv_loop_close(&s.loop), 0);
    uv_sem_destroy(&s.begun);
    uv_sem_destroy(&s.over);
}

TEST_GROUP_FIXTURE(rest_system, setup, teardown, cmocka_unit_test(system__is_healthy_and_ready),
                   cmocka_unit_test(system__is_healthy_while_the_core_thread_waits),
                   cmocka_unit_test(system__answers_json_or_text_on_every_page),
                   cmocka_unit_test(system__lists_workers_by_namespace_the_last_one_first),
                   cmocka_unit_test(system__counts_jobs_whatever_way_they_came),
                   cmocka_unit_test(system__shows_only_the_queues_of_the_namespace),
                   cmocka_unit_test(system__serves_a_page_that_may_run_nothing_else),
                   cmocka_unit_test(system__allows_the_page_its_own_style_and_script),
                   cmocka_unit_test(system__has_no_docs_when_they_are_off),
                   cmocka_unit_test(system__bears_clients_that_do_not_wait));
