#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/check.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "rest/rest_numbers_int.h"

static const struct rest_route *route_of(enum http_method method, const char *pattern)
{
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        if (r->method == method && strcmp(r->pattern, pattern) == 0) {
            return r;
        }
    }
    fail_msg("there is no route %s", pattern);
    return NULL;
}

static size_t number_of(const struct rest_route *route)
{
    size_t i = 0;
    while (rest_router__route(i) != route) {
        i++;
    }
    return i + 1;
}

/* Return the numbers of a leader without load. */
static struct rest_numbers quiet_numbers(const struct engine_config *settings)
{
    static struct engine_cluster_status alone;
    return (struct rest_numbers){
        .cluster = &alone,
        .now = {.ns = 1000 * NS_PER_S},
        .done_until = {.ns = 1000 * NS_PER_S},
        .node_id = "node-1",
        .raft_store = "segment",
        .settings = settings,
        .engine = {.node = {.role = "Leader", .leads = true, .durable = true, .leader_id = 1}},
    };
}

static struct buf written(const struct rest_metrics *m, const struct rest_numbers *v)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    rest_metrics__write(m, v, route_of(HTTP_GET, "/api/v1/metrics"), &out);
    buf_add_char(&out, '\0');
    assert_false(out.overflow);
    return out;
}

/* Expect a line of exactly this text on the page. */
static void expect_line(const struct buf *page, const char *line)
{
    char whole[512];
    (void)snprintf(whole, sizeof whole, "\n%s\n", line);
    if (strstr(page->ptr, whole) == NULL) {
        fail_msg("there is no line: %s", line);
    }
}

static void expect_no_text(const struct buf *page, const char *text)
{
    if (strstr(page->ptr, text) != NULL) {
        fail_msg("there is: %s", text);
    }
}

static void metrics__writes_buckets_that_add_up(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    const struct rest_route *get = route_of(HTTP_GET, "/api/v1/jobs/{id}");
    static const int64_t took_ms[] = {0, 1, 2, 7, 7, 99, 3000, 60000};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(took_ms); i++) {
        rest_metrics__begin(m);
        rest_metrics__end(m,
                          (struct rest_metrics_what){.route = number_of(get), .method = HTTP_GET},
                          i == 0 ? 404 : 200, took_ms[i] * NS_PER_MS);
    }
    struct buf page = written(m, &v);
#define ROUTE "{method=\"GET\",route=\"/api/v1/jobs/:id\"}"
#define BUCKET(le)                                                                                 \
    "corvo_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/v1/jobs/"              \
    ":id\",le=\"" le "\"} "
    expect_line(&page, "# TYPE corvo_http_request_duration_seconds histogram");
    expect_line(&page, BUCKET("0.001") "2");
    expect_line(&page, BUCKET("0.005") "3");
    expect_line(&page, BUCKET("0.01") "5");
    expect_line(&page, BUCKET("0.05") "5");
    expect_line(&page, BUCKET("0.1") "6");
    expect_line(&page, BUCKET("2.5") "6");
    expect_line(&page, BUCKET("5") "7");
    expect_line(&page, BUCKET("10") "7");
    expect_line(&page, BUCKET("+Inf") "8");
    expect_line(&page, "corvo_http_request_duration_seconds_sum" ROUTE " 63.116000000");
    expect_line(&page, "corvo_http_request_duration_seconds_count" ROUTE " 8");
    expect_line(&page, "corvo_http_requests_total" ROUTE " 8");
    expect_line(&page, "corvo_http_request_errors_total" ROUTE " 1");
#undef BUCKET
#undef ROUTE
    buf_deinit(&page);
    rest_metrics__free(m);
}

static void metrics__has_one_row_per_method_for_what_means_no_route(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        rest_metrics__begin(m);
        rest_metrics__end(m, (struct rest_metrics_what){.route = 0, .method = HTTP_POST}, 404, 0);
    }
    rest_metrics__begin(m);
    rest_metrics__end(m, (struct rest_metrics_what){.route = 0, .method = HTTP_METHOD_OTHER}, 405,
                      0);
    struct buf page = written(m, &v);
    expect_line(&page, "corvo_http_requests_total{method=\"POST\",route=\"/unknown\"} 3");
    expect_line(&page, "corvo_http_requests_total{method=\"OTHER\",route=\"/unknown\"} 1");
    expect_line(&page, "corvo_http_request_errors_total{method=\"POST\",route=\"/unknown\"} 3");
    expect_no_text(&page, "method=\"PUT\"");
    buf_deinit(&page);
    rest_metrics__free(m);
}

static void metrics__counts_what_is_in_flight_and_what_was_throttled(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    const struct rest_route *post = route_of(HTTP_POST, "/api/v1/enqueue");
    (void)state;
    rest_metrics__begin(m);
    rest_metrics__begin(m);
    rest_metrics__begin(m);
    rest_metrics__throttled(
        m, (struct rest_metrics_what){.route = number_of(post), .method = HTTP_POST});
    rest_metrics__end(m, (struct rest_metrics_what){.route = number_of(post), .method = HTTP_POST},
                      429, 5);
    struct buf page = written(m, &v);
    expect_line(&page, "corvo_http_requests_in_flight 2");
    expect_line(&page,
                "corvo_rate_limit_throttled_total{method=\"POST\",route=\"/api/v1/enqueue\"} 1");
    /* The metrics route itself is listed with zeros. An unused route is not listed. */
    expect_line(&page, "corvo_http_requests_total{method=\"GET\",route=\"/api/v1/metrics\"} 0");
    expect_no_text(&page, "route=\"/api/v1/fetch\"");
    buf_deinit(&page);
    rest_metrics__free(m);
}

static void metrics__escapes_labels(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    struct rest_numbers_queue queues[] = {
        {.name = STR("a \"b\" \\c\nd é"), .count = {[JOB_PENDING] = 3, [JOB_CANCELLED] = 9}},
        {.name = STR("plain"), .count = {[JOB_PENDING] = 2, [JOB_DEAD] = 1}},
    };
    (void)state;
    v.queues = queues;
    v.queue_count = COUNT_OF(queues);
    struct buf page = written(m, &v);
    expect_line(&page, "corvo_queue_jobs{queue=\"a \\\"b\\\" \\\\c\\nd é\",state=\"pending\"} 3");
    expect_line(&page, "corvo_queue_jobs{queue=\"plain\",state=\"dead\"} 1");
    expect_line(&page, "corvo_jobs{state=\"pending\"} 5");
    expect_line(&page, "corvo_queues_total 2");
    expect_no_text(&page, "state=\"cancelled\"");
    buf_deinit(&page);
    rest_metrics__free(m);
}

static void metrics__says_when_the_queues_do_not_fit(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    (void)state;
    v.cut = true;
    struct buf page = written(m, &v);
    expect_line(&page, "corvo_metrics_errors_total 1");
    expect_no_text(&page, "corvo_queues_total");
    buf_deinit(&page);
    rest_metrics__free(m);
}

static void metrics__shows_numbers_of_the_engine(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    (void)state;
    v.engine.node.snapshot_count = 1;
    v.engine.node.snapshot_index = 77;
    v.engine.queue_times.count[0] = 4;
    v.engine.queue_times.count[ENGINE_TIMES_BUCKETS - 1] = 1;
    v.engine.queue_times.sum_ns = 2500000001;
    v.throughput.of[THROUGHPUT_ENQUEUED].total = 12;
    v.engine.ticks = 9;
    struct buf page = written(m, &v);
    expect_line(&page, "corvo_scheduler_reclaim_total 9");
    expect_line(&page, "corvo_scheduler_expire_total 9");
    expect_line(&page, "corvo_throughput_enqueued_total 12");
    expect_line(&page, "corvo_raft_state 2");
    expect_line(&page, "corvo_durable 1");
    expect_line(&page, "corvo_raft_snapshot_latest_index 77");
    expect_line(&page, "corvo_raft_queue_time_seconds_bucket{le=\"0.00005\"} 4");
    expect_line(&page, "corvo_raft_queue_time_seconds_bucket{le=\"1\"} 4");
    expect_line(&page, "corvo_raft_queue_time_seconds_bucket{le=\"+Inf\"} 5");
    expect_line(&page, "corvo_raft_queue_time_seconds_sum 2.500000001");
    expect_line(&page, "corvo_raft_queue_time_seconds_count 5");
    expect_line(&page, "corvo_scheduler_last_promote_seconds 1000");
    expect_line(&page, "corvo_scheduler_last_purge_seconds 0");
    buf_deinit(&page);

    v.done_until = (struct wall){.ns = 900 * NS_PER_S}; /* something is due since then */
    v.throughput.of[THROUGHPUT_PURGED].last = (struct wall){.ns = 800 * NS_PER_S};
    v.engine.node.role = "Shutdown";
    page = written(m, &v);
    expect_line(&page, "corvo_scheduler_last_promote_seconds 900");
    expect_line(&page, "corvo_scheduler_last_purge_seconds 800");
    expect_line(&page, "corvo_raft_state 3");
    buf_deinit(&page);
    rest_metrics__free(m);
}

/* Each family appears once, with its help and type, and there is no sample outside a family. */
static void metrics__keeps_to_the_text_format(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct rest_metrics *m = rest_metrics__new();
    struct buf page = written(m, &v);
    char family[128] = "";
    unsigned families = 0;
    (void)state;
    assert_int_equal(page.ptr[page.len - 2], '\n');
    for (char *line = page.ptr; *line != '\0'; line = strchr(line, '\n') + 1) {
        char name[128] = "";
        char type_line[256];
        size_t len = strcspn(line, "\n");
        assert_true(len > 0);
        if (memcmp(line, "# HELP ", 7) == 0) {
            len = strcspn(line + 7, " ");
            assert_true(len < sizeof family);
            memcpy(family, line + 7, len);
            family[len] = '\0';
            int n = snprintf(type_line, sizeof type_line, "# TYPE %s ", family);
            char *type = strstr(page.ptr, type_line);
            assert_ptr_equal(type, strchr(line, '\n') + 1);
            assert_null(strstr(type + n, type_line));
            families++;
        } else if (line[0] != '#') {
            len = strcspn(line, " {");
            assert_true(len < sizeof name);
            memcpy(name, line, len);
            assert_true(strncmp(name, family, strlen(family)) == 0);
            assert_true(strncmp(name, "corvo_", 6) == 0);
        }
    }
    assert_true(families > 60);
    buf_deinit(&page);
    rest_metrics__free(m);
}

struct counting {
    struct rest_metrics *metrics;
    size_t route;
};

static void count_many(void *data)
{
    const struct counting *c = data;
    for (unsigned i = 0; i < 10000; i++) {
        rest_metrics__begin(c->metrics);
        rest_metrics__end(
            c->metrics, (struct rest_metrics_what){.route = c->route, .method = HTTP_GET}, 200, 1);
    }
}

static void metrics__loses_nothing_between_threads(void **state)
{
    struct engine_config settings = engine_config_default();
    struct rest_numbers v = quiet_numbers(&settings);
    struct counting c = {.metrics = rest_metrics__new(),
                         .route = number_of(route_of(HTTP_GET, "/livez"))};
    uv_thread_t threads[4];
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(threads); i++) {
        CHECK(uv_thread_create(&threads[i], count_many, &c) == 0);
    }
    struct buf page = written(c.metrics, &v); /* while they count */
    buf_deinit(&page);
    for (unsigned i = 0; i < COUNT_OF(threads); i++) {
        CHECK(uv_thread_join(&threads[i]) == 0);
    }
    page = written(c.metrics, &v);
    expect_line(&page, "corvo_http_requests_total{method=\"GET\",route=\"/livez\"} 40000");
    expect_line(&page, "corvo_http_requests_in_flight 0");
    buf_deinit(&page);
    rest_metrics__free(c.metrics);
}

TEST_GROUP(rest_metrics, cmocka_unit_test(metrics__writes_buckets_that_add_up),
           cmocka_unit_test(metrics__has_one_row_per_method_for_what_means_no_route),
           cmocka_unit_test(metrics__counts_what_is_in_flight_and_what_was_throttled),
           cmocka_unit_test(metrics__escapes_labels),
           cmocka_unit_test(metrics__says_when_the_queues_do_not_fit),
           cmocka_unit_test(metrics__shows_numbers_of_the_engine),
           cmocka_unit_test(metrics__keeps_to_the_text_format),
           cmocka_unit_test(metrics__loses_nothing_between_threads));
