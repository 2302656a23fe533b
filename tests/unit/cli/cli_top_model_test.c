#include "cli/top/cli_top_model.h"

#include <stdlib.h>

#include "cli/top/cli_top_read.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "unit/cli/cli_kit.h"

#define MINUTE_NS (60 * NS_PER_S)

static struct mono at_ms(int64_t ms)
{
    return (struct mono){ms * NS_PER_MS};
}

/* A sample with one queue. */
static struct cli_top_sample one_queue(const char *name, int64_t stored, int64_t completed)
{
    struct cli_top_sample s = {.queue_count = 1};
    s.queues = calloc(1, sizeof *s.queues);
    assert_non_null(s.queues);
    cli_top_model_text(s.queues[0].name, sizeof s.queues[0].name, str_from_z(name));
    s.queues[0].stored = stored;
    s.queues[0].counts[CLI_TOP_COMPLETED] = completed;
    return s;
}

static struct cli_top_model *new_model(void)
{
    struct cli_top_model *m = malloc(sizeof *m);
    assert_non_null(m);
    cli_top_model_init(m);
    return m;
}

static void free_model(struct cli_top_model *m)
{
    cli_top_model_deinit(m);
    free(m);
}

static void rates__are_growth_over_time_and_never_negative(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t stored, completed, ms; /* of the second sample; the first has 100 and 50 at 0 */
        int64_t in, out;
    } rows[] = {
        {"ten more of each in two seconds", 110, 60, 2000, 300, 300},
        {"nothing happened", 100, 50, 2000, 0, 0},
        {"completed jobs were purged", 60, 10, 2000, 0, 0},
        {"rounded", 101, 50, 7000, 9, 0},
        {"no time has passed", 101, 50, 0, 60000, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_top_model *m = new_model();
        struct cli_top_sample first = one_queue("q", 100, 50);
        struct cli_top_sample second = one_queue("q", rows[i].stored, rows[i].completed);
        ROW(rows[i].name);
        cli_top_model_take(m, &first, at_ms(0));
        assert_int_equal(cli_top_model_rate(&m->now.queues[0].in), -1);
        cli_top_model_take(m, &second, at_ms(rows[i].ms));
        assert_int_equal(cli_top_model_rate(&m->now.queues[0].in), rows[i].in);
        assert_int_equal(cli_top_model_rate(&m->now.queues[0].out), rows[i].out);
        free_model(m);
    }
}

static void rates__are_of_the_last_five_samples_and_the_trend_of_sixty(void **state)
{
    (void)state;
    struct cli_top_model *m = new_model();
    int64_t total = 0;
    for (int64_t i = 0; i < 70; i++) {
        total += i;
        struct cli_top_sample s = one_queue("q", total, 0);
        cli_top_model_take(m, &s, at_ms(i * 60000));
    }
    const struct cli_top_trend *in = &m->now.queues[0].in;
    assert_int_equal(in->count, CLI_TOP_TREND);
    assert_int_equal(in->values[0], 10);
    assert_int_equal(in->values[CLI_TOP_TREND - 1], 69);
    assert_int_equal(cli_top_model_rate(in), 67);
    free_model(m);
}

static void rates__follow_a_queue_by_its_name(void **state)
{
    (void)state;
    struct cli_top_model *m = new_model();
    struct cli_top_sample a = one_queue("a", 10, 0);
    struct cli_top_sample b = one_queue("b", 20, 0);
    cli_top_model_take(m, &a, at_ms(0));
    cli_top_model_take(m, &b, at_ms(1000));
    assert_int_equal(cli_top_model_rate(&m->now.queues[0].in), -1);
    free_model(m);
}

static struct cli_top_sample minutes(int64_t first, size_t count, const int64_t *done)
{
    struct cli_top_sample s = {.minute_count = count};
    for (size_t i = 0; i < count; i++) {
        s.minutes[i].at.ns = (first + (int64_t)i) * MINUTE_NS;
        s.minutes[i].counts[CLI_TOP_DONE] = done[i];
    }
    return s;
}

static void flow__counts_what_minutes_grew_by(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t first; /* minute of the second sample; the first has {5, 7, 3} from minute 10 */
        size_t count;
        int64_t done[4];
        int64_t per_min; /* thirty seconds later */
    } rows[] = {
        {"the same minute", 10, 3, {5, 7, 4}, 2},
        {"the next minute began", 11, 3, {7, 4, 6}, 14},
        {"late counts of the minute before", 11, 3, {8, 3, 0}, 2},
        {"the server counts anew", 10, 3, {0, 0, 0}, 0},
        {"a long pause", 100, 2, {3, 4}, 14},
        {"an older minute than was known", 9, 4, {9, 5, 7, 3}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_top_model *m = new_model();
        struct cli_top_sample first = minutes(10, 3, (int64_t[]){5, 7, 3});
        struct cli_top_sample second = minutes(rows[i].first, rows[i].count, rows[i].done);
        ROW(rows[i].name);
        cli_top_model_take(m, &first, at_ms(0));
        assert_int_equal(cli_top_model_flow(m, CLI_TOP_DONE), 7); /* the last complete minute */
        cli_top_model_take(m, &second, at_ms(30000));
        assert_int_equal(cli_top_model_flow(m, CLI_TOP_DONE), rows[i].per_min);
        free_model(m);
    }
}

static void failures__are_the_newest_first_and_a_death_completes_one(void **state)
{
    (void)state;
    struct cli_top_model *m = new_model();
    struct cli_top_failure f = {.attempt = 1};
    for (int64_t i = 1; i <= CLI_TOP_FAILURES_MAX + 3; i++) {
        f.seq = i;
        (void)snprintf(f.job, sizeof f.job, "job_%lld", (long long)i);
        cli_top_model_fail(m, &f);
    }
    assert_int_equal(m->failure_count, CLI_TOP_FAILURES_MAX);
    assert_int_equal(m->failures[0].seq, CLI_TOP_FAILURES_MAX + 3);
    assert_int_equal(m->failures[CLI_TOP_FAILURES_MAX - 1].seq, 4);
    struct cli_top_failure death = {.seq = 100, .dead = true};
    (void)snprintf(death.job, sizeof death.job, "job_10");
    cli_top_model_fail(m, &death);
    assert_int_equal(m->failures[0].seq, CLI_TOP_FAILURES_MAX + 3);
    assert_true(m->failures[CLI_TOP_FAILURES_MAX + 3 - 10].dead);
    /* A death without a recorded failure. */
    (void)snprintf(death.job, sizeof death.job, "job_1");
    cli_top_model_fail(m, &death);
    assert_int_equal(m->failures[0].seq, 100);
    free_model(m);
}

static struct cli_top_sample three_queues(void)
{
    static const struct {
        const char *name;
        int64_t pending, active, dead;
    } rows[] = {{"Mail.out", 5, 0, 1}, {"mail.in", 5, 2, 0}, {"reports", 9, 1, 3}};
    struct cli_top_sample s = {.queue_count = COUNT_OF(rows)};
    s.queues = calloc(COUNT_OF(rows), sizeof *s.queues);
    assert_non_null(s.queues);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cli_top_model_text(s.queues[i].name, sizeof s.queues[i].name, str_from_z(rows[i].name));
        s.queues[i].counts[CLI_TOP_PENDING] = rows[i].pending;
        s.queues[i].counts[CLI_TOP_ACTIVE] = rows[i].active;
        s.queues[i].counts[CLI_TOP_DEAD] = rows[i].dead;
    }
    return s;
}

static void arrange__filters_and_sorts(void **state)
{
    (void)state;
    static const struct {
        enum cli_top_sort sort;
        const char *filter;
        const char *names;
    } rows[] = {
        {CLI_TOP_BY_NAME, "", "Mail.out mail.in reports "},
        {CLI_TOP_BY_PENDING, "", "reports Mail.out mail.in "},
        {CLI_TOP_BY_ACTIVE, "", "mail.in reports Mail.out "},
        {CLI_TOP_BY_DEAD, "", "reports Mail.out mail.in "},
        {CLI_TOP_BY_RATE, "", "Mail.out mail.in reports "},
        {CLI_TOP_BY_NAME, "MAIL", "Mail.out mail.in "},
        {CLI_TOP_BY_ACTIVE, "mail", "mail.in Mail.out "},
        {CLI_TOP_BY_NAME, "reports", "reports "},
        {CLI_TOP_BY_NAME, "reports.", ""},
    };
    struct cli_top_model *m = new_model();
    struct cli_top_sample s = three_queues();
    cli_top_model_take(m, &s, at_ms(0));
    assert_int_equal(m->totals[CLI_TOP_PENDING], 19);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf names;
        ROW(rows[i].names);
        buf_init(&names, 1024);
        cli_top_model_arrange(m, rows[i].sort, str_from_z(rows[i].filter));
        for (size_t k = 0; k < m->shown_count; k++) {
            buf_printf(&names, "%s ", m->shown[k]->name);
        }
        expect_str(buf_str(&names), str_from_z(rows[i].names));
        buf_deinit(&names);
    }
    cli_top_model_arrange(m, CLI_TOP_BY_PENDING, STR_EMPTY);
    assert_int_equal(cli_top_model_find(m, "mail.in"), 2);
    assert_int_equal(cli_top_model_find(m, "none"), m->shown_count);
    free_model(m);
}

static void health__is_by_the_last_heartbeat(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *health;
    } rows[] = {{-5, "healthy"}, {60, "healthy"}, {61, "stale"}, {300, "stale"}, {301, "offline"}};
    struct wall now = {1800000000LL * NS_PER_S};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_top_worker w = {.heartbeat = {now.ns - rows[i].s * NS_PER_S}};
        assert_string_equal(cli_top_model_health(&w, now), rows[i].health);
    }
    assert_string_equal(cli_top_model_health(&(struct cli_top_worker){.active = 1}, now),
                        "offline");
}

static void numbers__are_five_characters_at_most(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        const char *text;
    } rows[] = {
        {-1, "-"},        {0, "0"},         {999, "999"},        {1000, "1.0k"},
        {1250, "1.2k"},   {9949, "9.9k"},   {9950, "10k"},       {99999, "100k"},
        {999499, "999k"}, {999500, "1.0M"}, {123456789, "123M"}, {INT64_MAX, "9.2E"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[CLI_TOP_NUMBER_BYTES];
        assert_string_equal(cli_top_model_number(rows[i].n, text), rows[i].text);
    }
}

static void ages__have_one_unit(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *text;
    } rows[] = {{-3, "0s"},    {0, "0s"},    {59, "59s"},   {60, "1m"},
                {3599, "59m"}, {3600, "1h"}, {86400, "1d"}, {86400LL * 500, "500d"}};
    struct wall now = {1800000000LL * NS_PER_S};
    char text[CLI_TOP_NUMBER_BYTES];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct wall then = {now.ns - rows[i].s * NS_PER_S};
        assert_string_equal(cli_top_model_age(then, now, text), rows[i].text);
    }
    assert_string_equal(cli_top_model_age(WALL_NONE, now, text), "-");
}

static void spark__has_a_character_per_value(void **state)
{
    (void)state;
    static const struct {
        int64_t values[8];
        size_t count;
        const char *plain, *blocks;
    } rows[] = {
        {{0}, 0, "", ""},
        {{0, 0}, 2, "__", "▁▁"},
        {{0, 1, 7}, 3, "_.#", "▁▂█"},
        {{0, 1, 2, 3, 4, 5, 6, 6}, 8, "_:-=+*##", "▁▃▄▅▆▇██"},
        {{INT64_MAX, 1, -4}, 3, "#._", "█▂▁"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].plain);
        buf_init(&b, 256);
        cli_top_model_spark(&b, rows[i].values, rows[i].count, false);
        expect_str(buf_str(&b), str_from_z(rows[i].plain));
        buf_clear(&b);
        cli_top_model_spark(&b, rows[i].values, rows[i].count, true);
        expect_str(buf_str(&b), str_from_z(rows[i].blocks));
        buf_deinit(&b);
    }
}

static void text__is_cut_between_characters(void **state)
{
    (void)state;
    char out[6];
    cli_top_model_text(out, sizeof out, STR("abcdefg"));
    assert_string_equal(out, "abcde");
    cli_top_model_text(out, sizeof out, STR("abc\u20acd"));
    assert_string_equal(out, "abc");
    cli_top_model_text(out, sizeof out, STR("ab\u20ac"));
    assert_string_equal(out, "ab\u20ac");
    cli_top_model_text(out, sizeof out, STR_EMPTY);
    assert_string_equal(out, "");
}

/* Reading */

static void read__takes_what_is_there(void **state)
{
    (void)state;
    static const struct str documents[CLI_TOP_DOC_COUNT] = {
        [CLI_TOP_DOC_QUEUES] = STR(
            "[{\"name\":\"b\",\"paused\":true,\"pending\":3,\"dead\":1,\"enqueued\":9,\"failed\":2,"
            "\"oldest_pending_at\":\"2026-01-01T00:00:00Z\"},{\"name\":7,\"pending\":\"many\"}]"),
        [CLI_TOP_DOC_WORKERS] =
            STR("[{\"id\":\"w\",\"hostname\":null,\"queues\":\"[\\\"a\\\",\\\"b\\\"]\","
                "\"last_heartbeat\":\"2026-01-01T00:00:00Z\",\"active_jobs\":4}]"),
        [CLI_TOP_DOC_CLUSTER] = STR("{\"mode\":\"cluster\",\"nodes\":[{},{}],\"applied_total\":8,"
                                    "\"apply_time_hist\":{\"count\":1,\"p99\":\"2ms\"},"
                                    "\"pipeline_stats\":{\"log_flushes_total\":6}}"),
        [CLI_TOP_DOC_THROUGHPUT] = STR("[{\"minute\":\"2026-01-01T00:00:00Z\",\"enqueued\":1,"
                                       "\"completed\":2,\"failed\":3},null]"),
    };
    struct cli_kit k;
    struct cli_top_sample s;
    cli_kit_open(&k);
    cli_top_read_sample(&k.cli, documents, &s);
    assert_int_equal(s.queue_count, 2);
    assert_string_equal(s.queues[0].name, "b");
    assert_true(s.queues[0].paused);
    assert_int_equal(s.queues[0].counts[CLI_TOP_PENDING], 3);
    assert_int_equal(s.queues[0].stored, 9);
    assert_int_equal(s.queues[0].oldest.ns, 1767225600LL * NS_PER_S);
    assert_int_equal(s.queues[1].counts[CLI_TOP_PENDING], 0);
    assert_int_equal(s.worker_count, 1);
    assert_string_equal(s.workers[0].queues, "a, b");
    assert_string_equal(s.workers[0].host, "");
    assert_int_equal(s.workers[0].active, 4);
    assert_int_equal(s.cluster.nodes, 2);
    assert_int_equal(s.cluster.flushes, 6);
    assert_string_equal(s.cluster.apply_p99, "2ms");
    assert_string_equal(s.cluster.wait_p99, "");
    assert_int_equal(s.minute_count, 2);
    assert_int_equal(s.minutes[0].counts[CLI_TOP_FAILED], 3);
    cli_top_model_drop(&s);
    cli_kit_close(&k);
}

static void read__makes_failures_of_events(void **state)
{
    (void)state;
    static const struct {
        const char *event;
        bool is_failure, dead;
    } rows[] = {
        {"{\"seq\":4,\"type\":\"failed\",\"job_id\":\"j\",\"queue\":\"q\",\"at_ns\":5,"
         "\"data\":{\"attempt\":2,\"error\":\"no\"}}",
         true, false},
        {"{\"seq\":4,\"type\":\"dead\",\"job_id\":\"j\"}", true, true},
        {"{\"seq\":4,\"type\":\"completed\",\"job_id\":\"j\"}", false, false},
        {"[]", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        struct cli_top_failure f = {.dead = false};
        ROW(rows[i].event);
        cli_kit_open(&k);
        bool is = cli_top_read_event(&k.cli, str_from_z(rows[i].event), &f);
        assert_int_equal(is, rows[i].is_failure);
        assert_int_equal(f.dead, rows[i].dead);
        if (is) {
            assert_int_equal(f.seq, 4);
            assert_string_equal(f.job, "j");
        }
        cli_kit_close(&k);
    }
}

TEST_GROUP(cli_top_model, cmocka_unit_test(rates__are_growth_over_time_and_never_negative),
           cmocka_unit_test(rates__are_of_the_last_five_samples_and_the_trend_of_sixty),
           cmocka_unit_test(rates__follow_a_queue_by_its_name),
           cmocka_unit_test(flow__counts_what_minutes_grew_by),
           cmocka_unit_test(failures__are_the_newest_first_and_a_death_completes_one),
           cmocka_unit_test(arrange__filters_and_sorts),
           cmocka_unit_test(health__is_by_the_last_heartbeat),
           cmocka_unit_test(numbers__are_five_characters_at_most),
           cmocka_unit_test(ages__have_one_unit),
           cmocka_unit_test(spark__has_a_character_per_value),
           cmocka_unit_test(text__is_cut_between_characters),
           cmocka_unit_test(read__takes_what_is_there),
           cmocka_unit_test(read__makes_failures_of_events));
