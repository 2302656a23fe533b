/*
 * The variables and flags of Scheduled-DB (scheduler.md 15): what each sets, and what happens to an
 * invalid value.
 */
#include "server/settings.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "lib/test.h"

enum { TEXT_BYTES = 128 };
enum kind { TEXT, YES, NUMBER, REAL, NOTHING };

/* If bad is NULL, every value is valid. */
static const struct row {
    const char *variable, *flag; /* NULL: there is none */
    const char *good;
    enum kind kind;
    size_t offset;
    const char *text; /* the resulting value; durations in milliseconds */
    const char *bad;
} rows[] = {
/* clang-format off */
#define AT(member) offsetof(struct settings, member)
    {"NODE_ID",                     "--node-id",                     "a",         TEXT,    AT(node_id), "a", NULL},
    {"DATA_DIR",                    "--data-dir",                    "/x",        TEXT,    AT(data_dir), "/x", NULL},
    {"HTTP_HOST",                   "--http-host",                   "10.0.0.1",  TEXT,    AT(bind), "10.0.0.1:8080", NULL},
    {"HTTP_PORT",                   "--http-port",                   "81",        TEXT,    AT(bind), ":81", "x"},
    {"RAFT_HOST",                   "--raft-host",                   "10.0.0.1",  TEXT,    AT(raft_bind), "10.0.0.1:9000", NULL},
    {"RAFT_PORT",                   "--raft-port",                   "7000",      TEXT,    AT(raft_bind), ":7000", "70000"},
    {"RAFT_ADVERTISE_HOST",         "--raft-advertise-host",         "n1.x",      TEXT,    AT(raft_advertise), "n1.x:9000", NULL},
    {"PEERS",                       "--peers",                       " a:1 , b:2", TEXT,   AT(join), "a:1,b:2", NULL},
    {"STATIC_PEERS",                NULL,                            "a:1",       TEXT,    AT(join), "a:1", NULL},
    {"BOOTSTRAP_EXPECT",            "--bootstrap-expect",            "1",         NUMBER,  AT(bootstrap_expect), "1", "x"},
    {"DISCOVERY_STRATEGY",          "--discovery-strategy",          "dns_srv",   TEXT,    AT(discover), "kubernetes_dns_srv", NULL},
    {"DISCOVERY_STRATEGY",          "--discovery-strategy",          "none",      TEXT,    AT(discover), "", NULL},
    {"DISCOVERY_STRATEGY",          "--discovery-strategy",          "gossip",    TEXT,    AT(discover), "gossip", NULL},
    {"KUBERNETES_NAMESPACE",        "--kubernetes-namespace",        "a",         TEXT,    AT(kubernetes_namespace), "a", NULL},
    {"KUBERNETES_SERVICE_NAME",     "--kubernetes-service-name",     "a",         TEXT,    AT(kubernetes_service), "a", NULL},
    {"SLOT_GAP",                    "--slot-gap",                    "20s",       NUMBER,  AT(slot_gap_ms), "20000", "x"},
    {"JOB_EXECUTION_TIMEOUT",       "--execution-timeout",           "1h",        NUMBER,  AT(execution_timeout_ms), "3600000", "5"},
    {"JOB_INPROGRESS_TIMEOUT",      "--inprogress-timeout",          "1d",        NUMBER,  AT(inprogress_timeout_ms), "86400000", "soon"},
    {"MAX_EXECUTION_ATTEMPTS",      "--max-attempts",                "7",         NUMBER,  AT(max_attempts), "7", "none"},
    {"EXECUTION_HISTORY_RETENTION", "--history-retention",           "2h",        NUMBER,  AT(history_retention_ms), "7200000", "x"},
    {"HEALTH_FAILURE_THRESHOLD",    "--health-failure-threshold",    "0.5",       REAL,    AT(health_failure_threshold), "0.5", "2"},
    {"QUEUE_MEMORY_LIMIT",          "--queue-memory-limit",          "2GB",       TEXT,    AT(queue_memory_limit), "2GB", NULL},
    {"QUEUE_MEMORY_PERCENT",        "--queue-memory-percent",        "20",        NUMBER,  AT(queue_memory_percent), "20", "x"},
    {"QUEUE_JOB_LIMIT",             "--queue-job-limit",             "9",         NUMBER,  AT(queue_job_limit), "9", "x"},
    {"ENABLE_COLD_SPILLING",        "--enable-cold-spilling",        "T",         NOTHING, 0, "", "maybe"},
    {"COLD_SPILLING_HOT_WINDOW",    "--cold-spilling-hot-window",    "48h",       NOTHING, 0, "", "x"},
    {"COLD_SPILLING_CHECK_INTERVAL", "--cold-spilling-check-interval", "5m",      NOTHING, 0, "", "x"},
    {"HTW_LEVEL0_GRANULARITY",      "--htw-level0-granularity",      "0",         NOTHING, 0, "", "x"},
    {"HTW_LEVEL1_GRANULARITY",      "--htw-level1-granularity",      "1s",        NOTHING, 0, "", "x"},
    {"HTW_LEVEL2_GRANULARITY",      "--htw-level2-granularity",      "1h",        NOTHING, 0, "", "x"},
    {"HTW_LEVEL0_BUCKETS",          "--htw-level0-buckets",          "360",       NOTHING, 0, "", "x"},
    {"HTW_LEVEL1_BUCKETS",          "--htw-level1-buckets",          "24",        NOTHING, 0, "", "x"},
    {"HTW_LEVEL2_BUCKETS",          "--htw-level2-buckets",          "365",       NOTHING, 0, "", "x"},
    {"HTTP_READ_TIMEOUT",           "--http-read-timeout",           "1500ms",    NUMBER,  AT(http_read_timeout_ms), "1500", "x"},
    {"HTTP_READ_HEADER_TIMEOUT",    "--http-read-header-timeout",    "2s",        NUMBER,  AT(http_header_timeout_ms), "2000", "x"},
    {"HTTP_WRITE_TIMEOUT",          "--http-write-timeout",          "2s",        NUMBER,  AT(http_write_timeout_ms), "2000", "x"},
    {"HTTP_IDLE_TIMEOUT",           "--http-idle-timeout",           "60s",       NUMBER,  AT(http_idle_timeout_ms), "60000", "x"},
    {"MAX_REQUEST_BODY_SIZE",       "--max-request-body-size",       "-1",        NUMBER,  AT(max_request_body_size), "0", "10MB"},
    {"AUTH_TOKEN",                  "--auth-token",                  "a",         TEXT,    AT(auth_token), "a", NULL},
    {"LOG_LEVEL",                   NULL,                            "WARN",      TEXT,    AT(log_level), "WARN", NULL},
    {"RAFT_APPLY_TIMEOUT",          NULL,                            "5s",        NOTHING, 0, "", "x"},
    {"RAFT_TRANSPORT_TIMEOUT",      NULL,                            "10s",       NOTHING, 0, "", "x"},
    {"CLUSTER_SIZE",                NULL,                            "3",         NOTHING, 0, "", NULL},
    {"POD_IP",                      NULL,                            "10.0.0.1",  TEXT,    AT(pod_ip), "10.0.0.1", NULL},
    {"POD_NAME",                    NULL,                            "a-0",       TEXT,    AT(pod), "a-0", NULL},
    {"HOSTNAME",                    NULL,                            "a-0",       TEXT,    AT(pod), "a-0", NULL},
    {"POD_NAMESPACE",               NULL,                            "a",         TEXT,    AT(pod_namespace), "a", NULL},
    {"NAMESPACE",                   NULL,                            "a",         TEXT,    AT(pod_namespace), "a", NULL},
    {"HOST_IP",                     NULL,                            "10.0.0.1",  NOTHING, 0, "", NULL},
    {"DNS_DOMAIN",                  NULL,                            "a.b",       TEXT,    AT(discover_domain), "a.b", NULL},
    {"GOSSIP_BIND_ADDR",            NULL,                            "10.0.0.1",  TEXT,    AT(gossip_bind), "10.0.0.1:7946", NULL},
    {"GOSSIP_PORT",                 NULL,                            "7947",      TEXT,    AT(gossip_bind), ":7947", "x"},
    {"GOSSIP_SEEDS",                NULL,                            "a:1,b:2",   TEXT,    AT(gossip_seeds), "a:1,b:2", NULL},
    {"AUTO_JOIN",                   NULL,                            "true",      NOTHING, 0, "", NULL},
    {"KUBERNETES_IN_CLUSTER",       NULL,                            "true",      NOTHING, 0, "", NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT", NULL,                            "disabled",  NOTHING, 0, "", NULL},
    {"ENVIRONMENT",                 NULL,                            "dev",       NOTHING, 0, "", NULL},
    {"HEALTH_CHECK_INTERVAL",       NULL,                            "5s",        NOTHING, 0, "", NULL},
    {"CLUSTER_NAME",                NULL,                            "a",         NOTHING, 0, "", NULL},
    {"METRICS_PORT",                NULL,                            "9090",      TEXT,    AT(metrics_bind), ":9090", "x"},
    {"WEBHOOK_BEARER_TOKEN",        NULL,                            "a",         TEXT,    AT(webhook_bearer_token), "a", NULL},
    {"WORKER_MAX_CONCURRENCY",      NULL,                            "100",       NUMBER,  AT(push_max_calls), "100", "0"},
    {"RETRY_BACKOFF",               NULL,                            "linear",    TEXT,    AT(scheduler_backoff), "linear", "never"},
    {"RETRY_BASE_DELAY",            NULL,                            "6s",        NUMBER,  AT(scheduler_retry_base_ms), "6000", "x"},
    {"RETRY_MAX_DELAY",             NULL,                            "1m",        NUMBER,  AT(scheduler_retry_max_ms), "60000", "x"},
    {"HEALTH_OK_WORD",              NULL,                            "ok",        TEXT,    AT(health_ok_word), "ok", NULL},
    {"LEAVE_ON_SHUTDOWN",           NULL,                            "TRUE",      YES,     AT(leave_on_shutdown), "true", "maybe"},
    {"SHUTDOWN_DRAIN",              NULL,                            "1s",        NUMBER,  AT(shutdown_drain_ms), "1000", "x"},
    {"SPLIT_BRAIN_EXIT",            NULL,                            "false",     NOTHING, 0, "", NULL},
    {"GOSSIP_SECRET",               NULL,                            "a",         TEXT,    AT(gossip_secret), "a", NULL},
    {"OUTGOING_ALLOW",              NULL,                            "10.0.0.0/8", TEXT,   AT(outgoing_allow), "10.0.0.0/8", NULL},
#undef AT
    /* clang-format on */
};

static int setup(void **state)
{
    *state = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

/* Build a list like argv of main, from words separated by |. */
static char **list_of(struct arena *arena, const char *words, int *out_count)
{
    enum { WORDS_MAX = 16 };
    struct str rest = str_from_z(words);
    char **list = ARENA_ARRAY(arena, char *, WORDS_MAX);
    assert_non_null(list);
    *out_count = 0;
    while (rest.len > 0) {
        assert_true(*out_count < WORDS_MAX - 1);
        list[(*out_count)++] = arena_strz(arena, str_cut(&rest, '|'));
    }
    list[*out_count] = NULL;
    return list;
}

static enum err_code read_with(struct arena *arena, const char *arguments, const char *environment,
                               struct settings *out, struct err *err)
{
    int argc;
    int ignored;
    char **argv = list_of(arena, arguments, &argc);
    return settings_read(argc, argv, list_of(arena, environment, &ignored), arena, out, err);
}

static struct settings must_read(struct arena *arena, const char *arguments,
                                 const char *environment)
{
    struct settings s;
    struct err err = {0};
    if (read_with(arena, arguments, environment, &s, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    return s;
}

static void show(const struct row *row, const struct settings *s, char out[static TEXT_BYTES])
{
    const void *at = (const char *)s + row->offset;
    out[0] = '\0';
    switch (row->kind) {
    case TEXT:
        (void)snprintf(out, TEXT_BYTES, STR_FMT, STR_ARG(*(const struct str *)at));
        break;
    case YES:
        (void)snprintf(out, TEXT_BYTES, "%s", *(const bool *)at ? "true" : "false");
        break;
    case NUMBER:
        (void)snprintf(out, TEXT_BYTES, "%" PRIi64, *(const int64_t *)at);
        break;
    case REAL:
        (void)snprintf(out, TEXT_BYTES, "%g", *(const double *)at);
        break;
    case NOTHING:
    default:
        break;
    }
}

static void expect(const struct row *row, const struct settings *s, const char *text,
                   const char *by)
{
    char is[TEXT_BYTES];
    show(row, s, is);
    if (strcmp(is, text) != 0) {
        fail_msg("%s: '%s' instead of '%s'", by, is, text);
    }
}

static void variables__are_understood(void **state)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char pair[TEXT_BYTES];
        (void)snprintf(pair, sizeof pair, "%s=%s", rows[i].variable, rows[i].good);
        struct settings s = must_read(*state, "", pair);
        expect(&rows[i], &s, rows[i].text, pair);
    }
}

static void flags__are_understood(void **state)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].flag != NULL) {
            char pair[TEXT_BYTES];
            (void)snprintf(pair, sizeof pair, "%s=%s", rows[i].flag, rows[i].good);
            struct settings s = must_read(*state, pair, "");
            expect(&rows[i], &s, rows[i].text, pair);
        }
    }
}

/* A variable that is empty or has an invalid value has no effect. */
static void variables__without_sense_change_nothing(void **state)
{
    const struct settings usual = must_read(*state, "", "");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const values[] = {"", rows[i].bad};
        for (size_t k = 0; k < COUNT_OF(values) && values[k] != NULL; k++) {
            char pair[TEXT_BYTES];
            (void)snprintf(pair, sizeof pair, "%s=%s", rows[i].variable, values[k]);
            struct settings s = must_read(*state, "", pair);
            char was[TEXT_BYTES];
            show(&rows[i], &usual, was);
            expect(&rows[i], &s, was, pair);
        }
    }
}

static void flags__without_sense_end_the_start_by_name(void **state)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].bad != NULL && rows[i].flag != NULL) {
            char pair[TEXT_BYTES];
            struct settings s;
            struct err err = {0};
            (void)snprintf(pair, sizeof pair, "%s=%s", rows[i].flag, rows[i].bad);
            assert_int_equal(read_with(*state, pair, "", &s, &err), ERR_VALIDATION);
            assert_non_null(strstr(err.msg, rows[i].flag + 2));
        }
    }
}

/* Invalid texts, from any source. If accepted, they would have no effect, or fail later. */
#define NETWORKS_4   "10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1,"
#define NETWORKS_16  NETWORKS_4 NETWORKS_4 NETWORKS_4 NETWORKS_4
#define NETWORKS_64  NETWORKS_16 NETWORKS_16 NETWORKS_16 NETWORKS_16
#define NETWORKS_256 NETWORKS_64 NETWORKS_64 NETWORKS_64 NETWORKS_64

static struct err refuse_text(struct arena *arena, const char *name, const char *value,
                              const char *expected)
{
    char pair[4096];
    struct settings s;
    struct err err = {0};
    (void)snprintf(pair, sizeof pair, "--%s=%s", name, value);
    if (read_with(arena, pair, "", &s, &err) != ERR_VALIDATION) {
        fail_msg("%s is accepted", pair);
    }
    assert_non_null(strstr(err.msg, name));
    if (strstr(err.msg, expected) == NULL) {
        fail_msg("%s: %s", pair, err.msg);
    }
    return err;
}

static void texts__without_the_right_form_end_the_start_by_name(void **state)
{
    static const struct {
        const char *name, *value, *expected;
    } bad[] = {
        {"node-id", "", "1 to 64 visible ASCII characters"},
        {"node-id", "a b", "1 to 64 visible ASCII characters"},
        {"node-id", "a/b", "1 to 64 visible ASCII characters"},
        {"bind", "8080", "expected an address"},
        {"bind", "", "expected an address"},
        {"scheduler-bind", "foo", "expected an address"},
        {"metrics-bind", "127.0.0.1:99999", "expected an address"},
        {"rpc-bind", ":x", "expected an address"},
        {"raft-bind", "foo", "expected an address such as :9000"},
        {"raft-bind", "10.0.0.1:", "expected an address such as :9000"},
        {"webhook-deny", "foo", "networks such as 10.0.0.0/8, got 'foo'"},
        {"webhook-allow", "10.0.0.0/33", "got '10.0.0.0/33'"},
        {"outgoing-allow", "10.0.0.0/8,foo", "got 'foo'"},
        {"trusted-proxies", "localhost", "got 'localhost'"},
        {"trusted-proxies", NETWORKS_256 "10.0.0.1", "at most 256 networks, got '10.0.0.1,"},
        {"retention", "1x", "a duration such as 500ms, 2s or 1h30m, got '1x'"},
        {"log-format", "xml", "auto, text or json, got 'xml'"},
        {"features", "audti", "audit, rbac, namespaces and sso, got 'audti'"},
        {"features", "audit,rbca", "got 'rbca'"},
        {"http-advertise", "foo", "http://10.0.0.1:8080"},
        {"http-advertise", "http://a b", "http://10.0.0.1:8080"},
        {"http-advertise", "http://a:99999", "http://10.0.0.1:8080"},
        {"http-advertise", "http://a/b", "without a path"},
        {"raft-advertise", "foo", "10.0.0.1:9000"},
        {"raft-advertise", "http://a:1", "10.0.0.1:9000"},
        {"raft-advertise", ":9000", "10.0.0.1:9000"},
        {"raft-advertise-host", "a:9000", "without a port"},
        {"join", "http://a:1,foo bar", "got 'foo bar'"},
        {"join", "a:b", "got 'a:b'"},
        {"discover-dns-server", "dns.example", "an IPv4 address such as 10.0.0.53"},
        {"discover-dns-server", "[::1]:53", "an IPv4 address such as 10.0.0.53"},
        {"discover-dns-server", "10.0.0.53:x", "an IPv4 address such as 10.0.0.53"},
        {"kubernetes-api", "foo", "https://10.0.0.1:6443"},
        {"segment-bytes", "65537", "a multiple of 8"},
        {"segment-bytes", "1073741832", "65536 to 1073741824"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        (void)refuse_text(*state, bad[i].name, bad[i].value, bad[i].expected);
    }
}

static void secrets__without_the_right_form_are_not_shown(void **state)
{
    static const struct {
        const char *name, *value, *expected;
        const char *part; /* of the value; occurs nowhere else in the error */
    } bad[] = {
        {"admin-password", "hunter\n", "no blanks at its ends", "hunter"},
        {"admin-password", " hunter", "no blanks at its ends", "hunter"},
        {"admin-password", "hun\tter", "control characters", "hun"},
        {"cluster-secret", "0123456789abcdef\r\n", "no blanks at its ends", "0123"},
        {"gossip-secret", "0123456789abcdef ", "no blanks at its ends", "0123"},
        {"auth-token", "0123 ", "no blanks at its ends", "0123"},
        {"auth-token", "\n", "no blanks at its ends", "\n"},
        {"webhook-bearer-token", "0123\nX-Evil: 1", "control characters", "0123"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct err err = refuse_text(*state, bad[i].name, bad[i].value, bad[i].expected);
        if (strstr(err.msg, bad[i].part) != NULL) {
            fail_msg("%s is shown: %s", bad[i].name, err.msg);
        }
    }
}

static void texts__of_the_right_form_are_taken(void **state)
{
    static const char *const good[] = {
        "--admin-password=two words",
        "--features=Audit, rbac,",
        "--node-id=node-1.a_b",
        "--http-advertise=https://jobs.example.com",
        "--http-advertise=http://[::1]:8080",
        "--raft-advertise=[::1]:9000",
        "--raft-advertise=n1.corvo:9000",
        "--raft-advertise-host=[::1]",
        "--join=http://a:1/ , b:2,c,[::1]:3,fe80::1",
        "--discover-dns-server=10.0.0.53",
        "--discover-dns-server=10.0.0.53:5353",
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        (void)must_read(*state, good[i], "");
    }
}

static void later_sources__win(void **state)
{
    struct settings s = must_read(*state, "",
                                  "HTTP_HOST=10.0.0.1|HTTP_PORT=81|RAFT_HOST=10.0.0.1|"
                                  "RAFT_PORT=7000|QUEUE_JOB_LIMIT=5|CORVO_BIND=:82|"
                                  "CORVO_QUEUE_JOB_LIMIT=6");
    assert_true(str_eq(s.bind, STR(":82")));
    assert_true(str_eq(s.raft_bind, STR("10.0.0.1:7000")));
    assert_true(s.raft_bind_given);
    assert_int_equal(s.queue_job_limit, 6);
    s = must_read(*state, "--http-port|83|--queue-job-limit=7",
                  "CORVO_BIND=127.0.0.1:82|QUEUE_JOB_LIMIT=5");
    assert_true(str_eq(s.bind, STR("127.0.0.1:83")));
    assert_int_equal(s.queue_job_limit, 7);
    s = must_read(*state, "", "PEERS=a:1|STATIC_PEERS=b:1|CORVO_JOIN=c:1");
    assert_true(str_eq(s.join, STR("c:1")));
    s = must_read(*state, "", "STATIC_PEERS=b:1|PEERS=a:1");
    assert_true(str_eq(s.join, STR("a:1")));
}

/* Numbers that select the default are replaced by it, so that the log shows what is in force. */
static void numbers__that_select_the_default_are_replaced(void **state)
{
    struct settings usual = must_read(*state, "", "");
    struct settings s =
        must_read(*state,
                  "--queue-job-limit=-1|--queue-memory-percent=101|--stream-max-inflight=0|"
                  "--stream-max-fps=-1|--stream-strike-limit=0|--max-request-body-size=-1",
                  "");
    assert_int_equal(s.queue_job_limit, usual.queue_job_limit);
    assert_int_equal(s.queue_memory_percent, usual.queue_memory_percent);
    assert_int_equal(s.stream_max_inflight, usual.stream_max_inflight);
    assert_int_equal(s.stream_max_fps, usual.stream_max_fps);
    assert_int_equal(s.stream_strike_limit, usual.stream_strike_limit);
    assert_int_equal(s.max_request_body_size, 0);
    s = must_read(*state, "--stream-max-fps=0|--queue-memory-percent=100", "");
    assert_int_equal(s.stream_max_fps, 0);
    assert_int_equal(s.queue_memory_percent, 100);
}

static void pods__are_known_by_their_environment(void **state)
{
    struct settings s =
        must_read(*state, "",
                  "DISCOVERY_STRATEGY=kubernetes|KUBERNETES_SERVICE_NAME=jobs|POD_IP=10.0.0.9|"
                  "RAFT_ADVERTISE_HOST=elsewhere|RAFT_PORT=7000|CLUSTER_DOMAIN=here.local|"
                  "NAMESPACE=a|POD_NAMESPACE=b");
    assert_true(str_eq(s.raft_advertise, STR("10.0.0.9:7000")));
    assert_true(str_eq(s.discover_domain, STR("here.local")));
    assert_true(str_eq(s.pod_namespace, STR("b")));
    s = must_read(
        *state, "",
        "DISCOVERY_STRATEGY=dns|KUBERNETES_SERVICE_NAME=jobs.x|CLUSTER_DOMAIN=here.local");
    assert_true(str_eq(s.discover_name, STR("jobs.x")));
    assert_true(s.discover_domain.len == 0); /* the name is complete */
}

static void peers__are_found_at_their_api(void **state)
{
    struct settings s =
        must_read(*state, "--peers|n1:7000,n2:7000",
                  "CLUSTER_NODE_1=n1:7000,n1:8080|CLUSTER_NODE_10=n2:7000, n2:8081");
    assert_true(str_eq(s.join, STR("n1:8080,n2:8081")));
}

TEST_GROUP_FIXTURE(settings, setup, teardown, cmocka_unit_test(variables__are_understood),
                   cmocka_unit_test(flags__are_understood),
                   cmocka_unit_test(variables__without_sense_change_nothing),
                   cmocka_unit_test(flags__without_sense_end_the_start_by_name),
                   cmocka_unit_test(texts__without_the_right_form_end_the_start_by_name),
                   cmocka_unit_test(secrets__without_the_right_form_are_not_shown),
                   cmocka_unit_test(texts__of_the_right_form_are_taken),
                   cmocka_unit_test(later_sources__win),
                   cmocka_unit_test(numbers__that_select_the_default_are_replaced),
                   cmocka_unit_test(pods__are_known_by_their_environment),
                   cmocka_unit_test(peers__are_found_at_their_api));
