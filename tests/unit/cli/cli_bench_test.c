#include "cli/bench/cli_bench.h"

#include <math.h>

#include "lib/test.h"
#include "unit/cli/cli_kit.h"

static void rows__are_of_phases_that_both_have(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *baseline, *current, *change, *ratio;
        bool shown, whole;
    } wanted[] = {
        {"ops/sec", "1000", "1500", "+50.0%", "1.50", true, false},
        {"p99", "2.00ms", "500\u00b5s", "-75.0%", "0.25", true, false},
        {"ops/sec", "1000", "1500", "+50.0%", "1.50", true, true},
        {"p50", "10\u00b5s", "30\u00b5s", "+200.0%", "3.00", true, true},
        {"p99", "2.00ms", "500\u00b5s", "-75.0%", "0.25", true, true},
        {"ops_per_sec", "1000", "1500", "+50.0%", "1.5", false, true},
        {"p50_us", "10", "30", "+200.0%", "3", false, true},
        {"p99_us", "2000", "500", "-75.0%", "0.25", false, true},
    };
    struct cli_bench_pair pair;
    pair.baseline =
        STR("{\"enqueue\":{\"ops_per_sec\":1000,\"p50_us\":10,\"p99_us\":2000,\"max_us\":9},"
            "\"lifecycle\":{\"ops_per_sec\":7,\"p99_us\":1}}");
    pair.current = STR("{\"enqueue\":{\"ops_per_sec\":1500,\"p50_us\":30,\"p99_us\":500},"
                       "\"combined\":{\"ops_per_sec\":7,\"p99_us\":1}}");
    struct str *rows = NULL;
    struct cli_kit k;
    cli_kit_open(&k);
    for (size_t i = 0, at = 0; i < COUNT_OF(wanted); i++) {
        ROW(wanted[i].metric);
        pair.whole = wanted[i].whole;
        size_t count = cli_bench_rows(&k.cli, &pair, wanted[i].shown, &rows);
        assert_int_equal(count, pair.whole ? 3 : 2);
        expect_str(cli_member_text(&k.cli, rows[at], "phase"), STR("enqueue"));
        expect_str(cli_member_text(&k.cli, rows[at], "metric"), str_from_z(wanted[i].metric));
        expect_str(cli_member_text(&k.cli, rows[at], "baseline"), str_from_z(wanted[i].baseline));
        expect_str(cli_member_text(&k.cli, rows[at], "current"), str_from_z(wanted[i].current));
        expect_str(cli_member_text(&k.cli, rows[at], "change"), str_from_z(wanted[i].change));
        expect_str(cli_member_text(&k.cli, rows[at], "ratio"), str_from_z(wanted[i].ratio));
        at = at + 1 == count ? 0 : at + 1;
    }
    cli_kit_close(&k);
}

static void rows__a_baseline_of_nothing_has_no_change(void **state)
{
    (void)state;
    struct str *rows = NULL;
    struct cli_kit k;
    struct cli_bench_pair pair = {.baseline = STR("{\"combined\":{\"ops_per_sec\":0}}"),
                                  .current = STR("{\"combined\":{\"ops_per_sec\":5}}")};
    cli_kit_open(&k);
    assert_int_equal(cli_bench_rows(&k.cli, &pair, true, &rows), 1);
    expect_str(cli_member_text(&k.cli, rows[0], "change"), STR("-"));
    expect_str(cli_member_text(&k.cli, rows[0], "ratio"), STR("-"));
    assert_int_equal(cli_bench_rows(&k.cli, &pair, false, &rows), 1);
    assert_int_equal(cli_member(rows[0], "ratio").type, JSON_TYPE_NULL);
    pair = (struct cli_bench_pair){.baseline = STR("[1,2"), .current = STR("null")};
    assert_int_equal(cli_bench_rows(&k.cli, &pair, true, &rows), 0);
    cli_kit_close(&k);
}

static void compare__warns_when_the_runs_differ(void **state)
{
    (void)state;
    static const struct {
        const char *current, *warning; /* NULL: none */
    } rows[] = {
        {"{\"combined\":{\"ops_per_sec\":1},"
         "\"server\":{ \"nodes\": 1 },\"config\":{\"jobs\":9}}",
         NULL},
        {"{\"combined\":{\"ops_per_sec\":1},"
         "\"server\":{\"nodes\":3},\"config\":{\"jobs\":9}}",
         "Warning: the servers"},
        {"{\"combined\":{\"ops_per_sec\":1},"
         "\"server\":{\"nodes\":1},\"config\":{\"jobs\":8}}",
         "Warning: the benchmarks"},
        {"{\"enqueue\":{\"ops_per_sec\":1}}", "Warning: the reports have no phase in common"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        ROW(rows[i].current);
        cli_kit_open(&k);
        assert_int_equal(cli_kit_parse(&k, "bench"), ERR_OK);
        struct cli_bench_pair pair = {.baseline =
                                          STR("{\"combined\":{\"ops_per_sec\":1},"
                                              "\"server\":{\"nodes\":1},\"config\":{\"jobs\":9}}"),
                                      .current = str_from_z(rows[i].current)};
        cli_bench_compare(&k.cli, &pair);
        struct str text = cli_kit_output(&k);
        const char *wanted = rows[i].warning == NULL ? "Warning: " : rows[i].warning;
        assert_int_equal(memmem(text.ptr, text.len, wanted, strlen(wanted)) != NULL,
                         rows[i].warning != NULL);
        cli_kit_close(&k);
    }
}

static void quantile__is_one_of_the_values(void **state)
{
    (void)state;
    double values[] = {5, 1, 4, 2, 3};
    static const struct {
        double share, value;
    } rows[] = {{0, 1}, {0.5, 3}, {0.9, 5}, {1, 5}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(fabs(cli_bench_quantile(values, 5, rows[i].share) - rows[i].value) < 1e-12);
    }
    assert_true(fabs(cli_bench_quantile(values, 0, 0.5)) < 1e-12);
}

static void fill__cost_is_per_thousand_jobs(void **state)
{
    (void)state;
    struct load_result *r = calloc(1, sizeof *r);
    struct cli_bench_phase p = {.name = "enqueue"};
    struct cli_bench_usage before[2] = {{true, 1000000000, 10 << 20}, {true, 0, 0}};
    struct cli_bench_usage after[2] = {{true, 2000000000, 12 << 20}, {true, 100000000, 0}};
    assert_non_null(r);
    r->took_ns = 4000000000;
    r->completed = r->total = 2000;
    load_histogram_add(&r->latency, 1500000, 2000);
    cli_bench_fill(&p, r, before, after);
    const struct {
        double is, wanted;
    } rows[] = {
        {p.ops_per_sec, 500},       {p.avg_us, 1500},
        {p.p50_us, 1500},           {p.stddev_us, 0},
        {p.server_cpu_pct, 25},     {p.server_cpu_ms_per_1000, 500},
        {p.server_rss_mb, 12},      {p.server_heap_kb_per_1000, 1024},
        {p.generator_cpu_pct, 2.5}, {p.generator_cpu_ms_per_1000, 50},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(fabs(rows[i].is - rows[i].wanted) < 1e-6);
    }
    struct cli_kit k;
    cli_kit_open(&k);
    struct str json = cli_bench_phase_json(&k.cli, &p);
    assert_int_equal(cli_member_int(json, "completed"), 2000);
    assert_int_equal(cli_member(json, "server_cv_pct").text.len, 0); /* it was not reported */
    cli_kit_close(&k);
    /* A server that was restarted in between reports less than before. */
    after[0].cpu_ns = 5;
    p = (struct cli_bench_phase){0};
    cli_bench_fill(&p, r, before, after);
    assert_true(fabs(p.server_cpu_pct) < 1e-12);
    free(r);
}

TEST_GROUP(cli_bench, cmocka_unit_test(rows__are_of_phases_that_both_have),
           cmocka_unit_test(rows__a_baseline_of_nothing_has_no_change),
           cmocka_unit_test(compare__warns_when_the_runs_differ),
           cmocka_unit_test(quantile__is_one_of_the_values),
           cmocka_unit_test(fill__cost_is_per_thousand_jobs));
