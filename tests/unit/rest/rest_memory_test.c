/*
 * Memory that runs out during a request: for every route and at every allocation, there is an
 * answer. If it is 413 or 431, the state is unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_table.h"
#include "base/check.h"
#include "base/fault.h"
#include "json/json_scan.h"
#include "lib/net_client.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"
#include "rest/rest_int.h"
#include "svc/svc_bulk.h"

#define BUDGET_BYTES ((size_t)512 << 20)

struct fixture {
    struct tmpdir dir;
    struct budget budget;
    struct engine *engine;
    struct view *view;
    struct svc_bulk *bulk;
    struct auth_table *auth; /* without keys: the server stays open */
    struct rest *rest;
    struct http_server *server;
    char job[ID_TEXT_MAX + 1]; /* a new job for each try */
};

static void open_server(struct fixture *f)
{
    struct rest_config config = rest_config_default();
    struct http_listen listen = {.address = "127.0.0.1:0"};
    struct err err;
    config.engine = f->engine;
    config.view = f->view;
    config.bulk = f->bulk;
    config.auth = f->auth;
    config.budget = &f->budget;
    config.limiter.enabled = false;
    f->rest = rest_new(&config);
    struct http_server_config http = {
        .listen = &listen, .listen_count = 1, .threads = 1, .limits = HTTP_LIMITS_DEFAULT};
    rest_attach(f->rest, &http);
    CHECK(http_server_open(&http, &f->server, &err) == ERR_OK);
    rest_set_server(f->rest, f->server, "http://127.0.0.1");
}

static int setup(void **state)
{
    struct engine_config config = engine_config_default();
    struct view_config view = view_config_default();
    struct svc_bulk_config bulk = svc_bulk_config_default();
    struct fixture *f = calloc(1, sizeof *f);
    struct err err;
    CHECK(f != NULL);
    log_configure(LOG_ERROR, LOG_TEXT);
    f->dir = tmpdir_new();
    budget_init(&f->budget, BUDGET_BYTES);
    config.data_dir = f->dir.path;
    config.node.durable = false;
    config.node.segment_bytes = 1 << 20;
    config.node.free_bytes_min = 0;
    CHECK(engine_open(&config, &f->engine, &err) == ERR_OK);
    view.engine = f->engine;
    view.dir = f->dir.path;
    CHECK(view_open(&view, &f->view, &err) == ERR_OK);
    bulk.engine = f->engine;
    bulk.find = rest_bulk_filter_find;
    bulk.find_data = f->view;
    f->bulk = svc_bulk_open(&bulk);
    f->auth = auth_table_new();
    open_server(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_stop(f->server, 1000);
    http_server_free(f->server);
    rest_free(f->rest);
    auth_table_free(f->auth);
    svc_bulk_close(f->bulk);
    view_close(f->view);
    engine_close(f->engine);
    /* All memory has been released, however the requests ended. */
    assert_int_equal(atomic_load(&f->budget.used_bytes), 0);
    tmpdir_remove(&f->dir);
    free(f);
    return 0;
}

/* Send one request on a new connection. Copies the body of the answer to out and returns its
 * status. */
static int ask(struct fixture *f, const char *method, const char *path, const char *headers,
               const char *body, struct buf *out)
{
    struct net_client client;
    struct net_answer answer;
    struct buf request;
    net_client_open(&client, http_server_port(f->server, 0));
    buf_init(&request, 1 << 22);
    buf_printf(&request, "%s %s HTTP/1.1\r\nHost: test\r\n%sContent-Length: %zu\r\n\r\n", method,
               path, headers, strlen(body));
    buf_add_str(&request, str_from_z(body));
    net_client_send(&client, buf_str(&request));
    buf_deinit(&request);
    assert_true(net_client_answer(&client, strcmp(method, "HEAD") == 0, &answer));
    buf_clear(out);
    buf_add_str(out, answer.body);
    net_client_close(&client);
    return answer.status;
}

/* Request bodies; %s is the job. Other routes receive "{}" or no body. */
/* clang-format off */
static const struct {
    const char *pattern;
    const char *body;
} bodies[] = {
#define JOB "{\"queue\":\"q\",\"payload\":{\"a\":\"\\u00e9\"},\"tags\":{\"a\":\"b\",\"c\":\"d\"},\"unique_key\":\"\\u0041\","       \
            "\"priority\":\"high\",\"expire_after\":\"1h\",\"chain\":{\"steps\":[{\"queue\":\"q\",\"payload\":{}},{\"queue\":\"r\"}]," \
            "\"on_failure\":{\"queue\":\"q\"},\"on_exit\":{\"queue\":\"q\"}},\"agent\":{\"max_iterations\":3}}"
    {"/api/v1/enqueue",               JOB},
    {"/api/v1/enqueue/batch",         "{\"jobs\":[" JOB ",{\"queue\":\"q\",\"depends_on\":[\"%s\",\"%s\"]},{\"queue\":\"r\"}],\"batch\":{\"callback_queue\":\"q\"}}"},
    {"/api/v1/webhooks/{queue}",      "not json"},
    {"/api/v1/fetch",                 "{\"queues\":[\"n\\u0041\",\"q\"],\"worker_id\":\"w\"}"},
    {"/api/v1/fetch/batch",           "{\"queues\":[\"q\"],\"worker_id\":\"w\",\"count\":2,\"timeout\":0}"},
    {"/api/v1/ack/{job_id}",          "{\"result\":{\"a\":1},\"next\":{\"queues\":[\"q\"],\"worker_id\":\"\\u0041\"}}"},
    {"/api/v1/ack/batch",             "{\"acks\":[{\"job_id\":\"%s\",\"result\":{}},{\"job_id\":\"%s\"}],\"next\":{\"queues\":[\"q\"],\"count\":2}}"},
    {"/api/v1/fail/{job_id}",         "{\"error\":\"\\u0041\",\"backtrace\":\"b\"}"},
    {"/api/v1/heartbeat",             "{\"worker_id\":\"w\",\"jobs\":{\"%s\":{\"progress\":{\"p\":1}}}}"},
    {"/api/v1/jobs/{id}/move",        "{\"queue\":\"r\"}"},
    {"/api/v1/jobs/{id}/hold",        "{\"reason\":\"\\u0041\"}"},
    {"/api/v1/jobs/bulk-get",         "{\"job_ids\":[\"%s\",\"%s\"]}"},
    {"/api/v1/jobs/bulk",             "{\"job_ids\":[\"%s\",\"%s\"],\"action\":\"move\",\"move_to_queue\":\"r\"}"},
    {"/api/v1/jobs/search",           "{\"queue\":\"q\",\"state\":[\"pending\"],\"tags\":{\"a\":\"b\"},\"limit\":5}"},
    {"/api/v1/queues/{name}/concurrency", "{\"max\":5}"},
    {"/api/v1/queues/{name}/throttle", "{\"rate\":5,\"window_ms\":100}"},
    {"/api/v1/schedules",             "{\"name\":\"s\",\"queue\":\"q\",\"cron\":\"0 0 1 1 *\",\"payload\":{\"a\":1}}"},
    {"/api/v1/schedules/{id}",        "{\"cron\":\"0 0 2 1 *\"}"},
    {"/api/v1/webhooks",              "{\"url\":\"http://192.0.2.1/\",\"events\":[\"job.completed\",\"job.failed\"]}"},
    {"/api/v1/approval-policies",     "{\"name\":\"p\",\"queue\":\"nowhere\"}"},
    {"/api/v1/batch",                 "{\"callback_queue\":\"q\"}"},
    {"/api/v1/admin/restore",         "{\"namespace\":\"default\",\"jobs\":[{\"queue\":\"q\",\"payload\":{}}]}"},
};
/* clang-format on */

/* Append the text, with the job instead of each %s. */
static void put_text(struct buf *out, struct str text, const char *job)
{
    while (text.len > 0) {
        if (str_starts_with(text, STR("%s"))) {
            buf_add_str(out, str_from_z(job));
            text = str_from_offset(text, 2);
        } else {
            buf_add_char(out, text.ptr[0]);
            text = str_from_offset(text, 1);
        }
    }
    buf_add_char(out, '\0');
}

static const char *body_of(const struct rest_route *route)
{
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        if (strcmp(bodies[i].pattern, route->pattern) == 0 && route->method != HTTP_GET &&
            route->method != HTTP_DELETE) {
            return bodies[i].body;
        }
    }
    return (route->flags & ROUTE_BODY) != 0 ? "{}" : "";
}

/* Append the pattern as a path, with the names of objects that the bodies create. */
static void put_path(struct buf *out, const char *pattern, const char *job)
{
    struct str rest = str_from_z(pattern);
    bool of_job = strstr(pattern, "/jobs/") != NULL || strstr(pattern, "{job_id}") != NULL;
    bool of_schedule = strstr(pattern, "/schedules/") != NULL;
    while (rest.len > 0) {
        if (rest.ptr[0] == '{') {
            (void)str_cut(&rest, '}');
            buf_add_str(out, of_job ? str_from_z(job) : of_schedule ? STR("%73") : STR("%71"));
        } else {
            buf_add_char(out, rest.ptr[0]);
            rest = str_from_offset(rest, 1);
        }
    }
    if (strcmp(pattern, "/api/v1/search/fulltext") == 0) {
        buf_add_str(out, STR("?q=%61"));
    } else {
        buf_add_str(out, STR("?limit=5&tag=a:%62&tags=a:%62&queue=q"));
    }
    buf_add_char(out, '\0');
}

static void make_job(struct fixture *f, const char *headers)
{
    struct buf answer;
    struct json_value id;
    buf_init(&answer, 1 << 16);
    assert_int_equal(ask(f, "POST", "/api/v1/enqueue", headers, "{\"queue\":\"q\"}", &answer), 201);
    assert_true(json_scan_member(str_trim(buf_str(&answer)), STR("job_id"), &id));
    assert_true(id.text.len < sizeof f->job + 2);
    (void)snprintf(f->job, sizeof f->job, "%.*s", (int)id.text.len - 2, id.text.ptr + 1);
    buf_deinit(&answer);
}

static uint64_t state_hash(struct fixture *f)
{
    struct engine_status status;
    engine_status(f->engine, &status);
    return status.state_hash;
}

/* Headers for creating the job, and for the request. */
struct caller {
    const char *making, *asking;
};

/* Send the request with the nth allocation failing. False if there are fewer allocations. */
static bool fails(struct fixture *f, const struct rest_route *route, const struct caller *caller,
                  unsigned nth)
{
    bool streams = strstr(route->answer, "event-stream") != NULL;
    struct buf path;
    struct buf body;
    struct buf answer;
    struct err err;
    buf_init(&path, 1 << 16);
    buf_init(&body, 1 << 16);
    buf_init(&answer, 64 << 20);
    make_job(f, caller->making);
    put_path(&path, route->pattern, f->job);
    put_text(&body, str_from_z(body_of(route)), f->job);
    uint64_t before = state_hash(f);
    fault_arm(FAULT_ARENA, nth);
    int status = ask(f, streams ? "HEAD" : rest_router__method(route->method), path.ptr,
                     caller->asking, body.ptr, &answer);
    bool reached = !fault_passes(FAULT_ARENA);
    fault_reset();
    assert_true(status >= 200 && status < 600);
    assert_true(status != 500);
    if (status == 413 || status == 431) {
        assert_true(reached);
        assert_true(state_hash(f) == before);
        assert_true(streams || json_scan_check(str_trim(buf_str(&answer)), &err) == ERR_OK);
    }
    buf_deinit(&path);
    buf_deinit(&body);
    buf_deinit(&answer);
    return reached;
}

static void memory__that_runs_out_is_an_answer_on_every_route(void **state)
{
    struct fixture *f = *state;
    static const struct caller headers[] = {
        {"", ""},
        {"X-Corvo-Namespace: ns\r\n", "X-Corvo-Namespace: ns\r\nIdempotency-Key: k\r\n"
                                      "Cookie: a=b; corvo_api_key=%61\r\n"},
    };
    unsigned tries = 0;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *route = rest_router__route(i);
        ROW(route->pattern);
        for (size_t k = 0; k < COUNT_OF(headers); k++) {
            unsigned nth = 1;
            while (fails(f, route, &headers[k], nth)) {
                nth++;
            }
            assert_true(nth > 2); /* the head of a request alone needs two */
            tries += nth;
        }
    }
    print_message("    %u tries on %zu routes\n", tries, rest_router__count());
}

/* A batch that once crashed the server: it is well-formed and below every limit, but decoding it
 * takes more memory than a request may have. */
static void memory__of_one_request_is_bounded(void **state)
{
    enum { JOBS = 1250, EMPTY = 1000 };
    struct fixture *f = *state;
    struct buf body;
    struct buf answer;
    uint64_t before = state_hash(f);
    buf_init(&body, 16 << 20);
    buf_init(&answer, 1 << 20);
    buf_add_str(&body, STR("{\"jobs\":["));
    for (unsigned i = 0; i < JOBS; i++) {
        buf_add_str(&body, STR("{\"queue\":\"q\",\"depends_on\":["));
        for (unsigned k = 0; k < EMPTY; k++) {
            buf_add_str(&body, k == 0 ? STR("\"\"") : STR(",\"\""));
        }
        buf_add_str(&body, STR("]},"));
    }
    for (unsigned i = 0; i < 3000; i++) {
        buf_add_str(&body, i == 0 ? STR("{\"queue\":\"q\"}") : STR(",{\"queue\":\"q\"}"));
    }
    buf_add_str(&body, STR("]}"));
    assert_false(body.overflow);
    buf_add_char(&body, '\0');
    int status = ask(f, "POST", "/api/v1/enqueue/batch", "", body.ptr, &answer);
    assert_int_equal(status, 413);
    assert_true(state_hash(f) == before);
    buf_deinit(&body);
    buf_deinit(&answer);
}

/* While others hold the whole budget, a request that needs memory is refused. Afterwards it
 * succeeds. */
static void memory__of_all_requests_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct buf body;
    struct buf answer;
    buf_init(&body, 1 << 20);
    buf_init(&answer, 1 << 20);
    make_job(f, "");
    buf_printf(&body, "{\"queue\":\"q\",\"payload\":\"%0*d\"}", 100000, 0);
    buf_add_char(&body, '\0');
    uint64_t before = state_hash(f);
    budget_force(&f->budget, BUDGET_BYTES);
    int status = ask(f, "POST", "/api/v1/enqueue", "", body.ptr, &answer);
    budget_give(&f->budget, BUDGET_BYTES);
    /* 503: not even the head had room. It has room if memory of earlier requests is kept. */
    assert_true(status == 429 || status == 503);
    assert_true(state_hash(f) == before);
    assert_true(atomic_load(&f->budget.refused) > 0);
    assert_int_equal(ask(f, "POST", "/api/v1/enqueue", "", body.ptr, &answer), 201);
    buf_deinit(&body);
    buf_deinit(&answer);
}

TEST_GROUP_FIXTURE(rest_memory, setup, teardown,
                   cmocka_unit_test(memory__that_runs_out_is_an_answer_on_every_route),
                   cmocka_unit_test(memory__of_one_request_is_bounded),
                   cmocka_unit_test(memory__of_all_requests_is_bounded));
