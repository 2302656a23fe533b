#include "core/cron.h"

#include <stdio.h>

#include "core/timestamp.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "lib/tzif.h"

static struct cron cron_of(const char *text)
{
    struct cron c;
    struct err err;
    if (cron_parse(str_from_z(text), &c, &err) != ERR_OK) {
        fail_msg("%s: %s", text, err.msg);
    }
    return c;
}

static struct wall moment(const char *text)
{
    struct wall at;
    struct err err;
    assert_int_equal(timestamp_parse(str_from_z(text), &at, &err), ERR_OK);
    return at;
}

static struct zone *zone_by_rule(const char *rule)
{
    static const int32_t none = 0;
    struct zone *z;
    struct err err;
    struct buf b;
    buf_init(&b, 1 << 16);
    tzif_build(&b, &(struct tzif){.offsets_s = &none, .type_count = 1, .rule = rule});
    assert_int_equal(zone_new(buf_str(&b), &z, &err), ERR_OK);
    buf_deinit(&b);
    return z;
}

static void parse__accepts_the_grammar(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *same_as;
    } rows[] = {
        {"* * * * *", "0 * * * * *"},
        {"  0\t0  *  *  *  ", "0 0 * * *"},
        {"? ? ? ? ?", "* * * * *"},
        {"*/15 * * * *", "0,15,30,45 * * * *"},
        {"5/15 * * * *", "5,20,35,50 * * * *"},
        {"10-20/5 * * * *", "10,15,20 * * * *"},
        {"0 0 1,15 * *", "0 0 15,1 * *"},
        {"0 0 * jan,FEB,Dec *", "0 0 * 1,2,12 *"},
        {"0 0 * mar-may *", "0 0 * 3-5 *"},
        {"0 0 * * mon-FRI", "0 0 * * 1-5"},
        {"0 0 * * 7", "0 0 * * 7,0"},
        {"0 0 * * 5-7", "0 0 * * 5-7,0"},
        {"0 0 * * 1/2", "0 0 * * 1,3,5"},
        {"* * * * */1", "* * * * *"},
        {"0/99999999999 * * * *", "0 * * * *"},
        {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
        {"@monthly", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"},
        {"@daily", "0 0 * * *"},
        {"@midnight", "0 0 * * *"},
        {"@hourly", "0 * * * *"},
        {" @every  1m30s ", "@every 90s"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        struct cron a = cron_of(rows[i].text), b = cron_of(rows[i].same_as);
        assert_true(a.every_ms == b.every_ms);
        assert_true(a.seconds == b.seconds && a.minutes == b.minutes && a.hours == b.hours);
        assert_true(a.days == b.days && a.months == b.months && a.weekdays == b.weekdays);
        assert_true(a.any_day == b.any_day && a.any_weekday == b.any_weekday);
    }
}

static void parse__refuses_everything_else(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "*",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "-1 * * * *",
        "+1 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 0 *",
        "* * * 13 *",
        "* * * * 8",
        "60 * * * * *",
        "5-1 * * * *",
        "* * * * fri-sun",
        "*/0 * * * *",
        "*/-1 * * * *",
        "*/ * * * *",
        "*/x * * * *",
        "1- * * * *",
        "-5 * * * *",
        "1-2-3 * * * *",
        "*-5 * * * *",
        "1,,2 * * * *",
        ", * * * *",
        "1, * * * *",
        "jan * * * *",
        "* * * january *",
        "* * * * L",
        "0 0 15W * *",
        "99999999999999999999 * * * *",
        "@reboot",
        "@daily x",
        "@every",
        "@every ",
        "@every 999ms",
        "@every -5s",
        "@every soon",
        "@",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        struct cron c;
        struct err err;
        assert_int_equal(cron_parse(str_from_z(rows[i]), &c, &err), ERR_VALIDATION);
        assert_non_null(strstr(err.msg, "cron: "));
    }
}

static void parse__says_which_field(void **state)
{
    (void)state;
    struct cron c;
    struct err err;
    assert_int_equal(cron_parse(STR("0 0 31-40 * *"), &c, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "cron: '31-40' is not a day of month (1 to 31)");
}

static void next__finds_the_first_match_in_utc(void **state)
{
    (void)state;
    static const struct {
        const char *cron;
        const char *after;
        const char *next; /* NULL: no match */
    } rows[] = {
        {"* * * * *", "2026-02-11T10:00:00Z", "2026-02-11T10:01:00Z"},
        {"* * * * *", "2026-02-11T10:00:59.999Z", "2026-02-11T10:01:00Z"},
        {"* * * * * *", "2026-02-11T10:00:00.5Z", "2026-02-11T10:00:01Z"},
        {"*/20 * * * * *", "2026-12-31T23:59:40Z", "2027-01-01T00:00:00Z"},
        {"30 10 * * *", "2026-02-11T10:30:00Z", "2026-02-12T10:30:00Z"},
        {"30 10 * * *", "2026-02-11T10:29:59Z", "2026-02-11T10:30:00Z"},
        {"0 0 1 * *", "2026-02-11T10:00:00Z", "2026-03-01T00:00:00Z"},
        {"0 0 31 * *", "2026-02-11T10:00:00Z", "2026-03-31T00:00:00Z"},
        {"0 0 31 * *", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"},
        {"0 0 29 2 *", "2026-02-11T10:00:00Z", "2028-02-29T00:00:00Z"},
        {"0 9 * * 1-5", "2026-02-13T09:00:00Z", "2026-02-16T09:00:00Z"}, /* from a Friday */
        {"0 9 * * 0", "2026-02-11T10:00:00Z", "2026-02-15T09:00:00Z"},
        {"0 9 * * 7", "2026-02-11T10:00:00Z", "2026-02-15T09:00:00Z"},
        {"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"},
        /* if both day fields are restricted, either may match */
        {"0 0 13 * 5", "2026-02-11T10:00:00Z", "2026-02-13T00:00:00Z"},
        {"0 0 13 * 5", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"},
        {"0 0 20 * 1", "2026-02-17T00:00:00Z", "2026-02-20T00:00:00Z"},
        /* a step above 1 is a restriction, too */
        {"0 0 */10 * 1", "2026-02-11T10:00:00Z", "2026-02-16T00:00:00Z"},
        {"0 0 */1 * 1", "2026-02-11T10:00:00Z", "2026-02-16T00:00:00Z"},
        /* no match in five years */
        {"0 0 30 2 *", "2026-02-11T10:00:00Z", NULL},
        {"0 0 31 4,6,9,11 *", "2026-02-11T10:00:00Z", NULL},
        {"0 0 29 2 *", "2096-03-01T00:00:00Z", NULL},
    };
    struct zone *utc = zone_new_utc();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].cron);
        struct cron c = cron_of(rows[i].cron);
        struct wall next;
        bool any = cron_next(&c, utc, moment(rows[i].after), moment(rows[i].after), &next);
        assert_int_equal(any, rows[i].next != NULL);
        if (any) {
            char text[TIMESTAMP_TEXT_MAX];
            expect_str(str_from(text, timestamp_format(next, text)), str_from_z(rows[i].next));
        }
    }
    zone_free(utc);
}

/* Days on which clocks change: the sequence of due times. */
static void next__handles_jumps_of_the_clock(void **state)
{
    (void)state;
    static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
    static const char lord_howe[] = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0";
    static const struct {
        const char *name;
        const char *rule;
        const char *cron;
        const char *after;
        const char *next[4];
    } rows[] = {
        {"on the other days",
         berlin,
         "30 2 * * *",
         "2026-03-27T12:00:00Z",
         {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
        {"several that are jumped over are due once",
         berlin,
         "*/20 * * * *",
         "2026-03-29T00:35:00Z",
         {"2026-03-29T00:40:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:20:00Z"}},
        {"one that is jumped over and one right after the jump are due once",
         berlin,
         "0 2,3 * * *",
         "2026-03-28T12:00:00Z",
         {"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T01:00:00Z"}},
        {"what is shown twice is due the first time",
         berlin,
         "30 2 * * *",
         "2026-10-24T12:00:00Z",
         {"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
        {"and not again, asked in the second hour",
         berlin,
         "30 2 * * *",
         "2026-10-25T01:10:00Z",
         {"2026-10-26T01:30:00Z"}},
        {"every minute pauses for the hour that is repeated",
         berlin,
         "* * * * *",
         "2026-10-25T00:58:00Z",
         {"2026-10-25T00:59:00Z", "2026-10-25T02:00:00Z", "2026-10-25T02:01:00Z"}},
        {"every second too, asked in the middle of it",
         berlin,
         "* * * * * *",
         "2026-10-25T01:00:00Z",
         {"2026-10-25T02:00:00Z", "2026-10-25T02:00:01Z"}},
        {"a jump of half an hour",
         lord_howe,
         "15 2 * * *",
         "2026-10-03T00:00:00Z",
         {"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct zone *z = zone_by_rule(rows[i].rule);
        struct cron c = cron_of(rows[i].cron);
        struct wall at = moment(rows[i].after);
        for (size_t k = 0; k < COUNT_OF(rows[i].next) && rows[i].next[k] != NULL; k++) {
            char text[TIMESTAMP_TEXT_MAX];
            assert_true(cron_next(&c, z, at, at, &at));
            expect_str(str_from(text, timestamp_format(at, text)), str_from_z(rows[i].next[k]));
        }
        zone_free(z);
    }
}

static void every__counts_from_creation(void **state)
{
    (void)state;
    static const struct {
        const char *after;
        const char *next;
    } rows[] = {
        {"2026-02-11T10:00:00.25Z", "2026-02-11T10:01:30.25Z"},
        {"2026-02-11T10:01:30.249Z", "2026-02-11T10:01:30.25Z"},
        {"2026-02-11T10:01:30.25Z", "2026-02-11T10:03:00.25Z"},
        {"2026-02-11T11:00:00Z", "2026-02-11T11:00:00.25Z"},
        {"2026-02-11T09:00:00Z", "2026-02-11T10:01:30.25Z"}, /* before it was created */
    };
    struct cron c = cron_of("@every 90s");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].after);
        struct wall next;
        char text[TIMESTAMP_TEXT_MAX];
        assert_true(
            cron_next(&c, NULL, moment("2026-02-11T10:00:00.25Z"), moment(rows[i].after), &next));
        expect_str(str_from(text, timestamp_format(next, text)), str_from_z(rows[i].next));
    }
    struct civil t;
    assert_false(cron_next_civil(&c, (struct civil){2026, 1, 1, 0, 0, 0}, &t));
    struct wall far = {.ns = INT64_MAX}, next;
    assert_false(cron_next(&c, NULL, (struct wall){.ns = 1}, far, &next));
}

/* A second, simple implementation of matching, for fields with one value or "*". */
static bool matches(const int want[5], struct civil t)
{
    int weekday = civil_weekday(civil_to_days(t.year, t.month, t.day));
    bool day = want[2] < 0 || want[2] == t.day;
    bool of_week = want[4] < 0 || want[4] == weekday;
    bool either = want[2] >= 0 && want[4] >= 0;
    return (want[0] < 0 || want[0] == t.minute) && (want[1] < 0 || want[1] == t.hour) &&
           (want[3] < 0 || want[3] == t.month) && (either ? day || of_week : day && of_week);
}

/* A random expression, as text and as the wanted value of each field. -1: any value. */
static void random_cron(struct rng *rng, int want[5], struct buf *out)
{
    static const int low[5] = {0, 0, 1, 1, 0};
    static const uint64_t count[5] = {60, 24, 28, 12, 7};
    for (unsigned f = 0; f < 5; f++) {
        bool star = rng_below(rng, 2) == 0;
        want[f] = star ? -1 : low[f] + (int)rng_below(rng, count[f]);
        if (star) {
            buf_add_str(out, STR("* "));
        } else {
            buf_printf(out, "%d ", want[f]);
        }
    }
    buf_add_char(out, '\0');
}

static void next__is_the_first_of_all_minutes_that_match(void **state)
{
    (void)state;
    struct rng rng = rng_from(4);
    for (unsigned round = 0; round < 60; round++) {
        int want[5];
        struct buf b;
        buf_init(&b, 256);
        random_cron(&rng, want, &b);
        struct cron c = cron_of(b.ptr);
        int64_t start_s = 1770768000 + (int64_t)rng_below(&rng, 100000000) / 60 * 60;
        struct civil found;
        assert_true(cron_next_civil(&c, civil_from_s(start_s), &found));
        int64_t s = start_s + 60;
        while (!matches(want, civil_from_s(s))) {
            s += 60;
        }
        assert_true(civil_to_s(found) == s);
        buf_deinit(&b);
    }
}

static void pass__knows_jumps_of_the_clock(void **state)
{
    (void)state;
    static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
    static const char new_york[] = "EST5EDT,M3.2.0,M11.1.0";
    static const char lord_howe[] = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0";
    static const char santiago[] = "<-04>4<-03>,M9.1.6/24,M4.1.6/24";
    static const struct {
        const char *name;
        const char *rule;
        const char *cron;
        const char *after;
        const char *next[4];
    } rows[] = {
        {"what is jumped over is not due",
         berlin,
         "30 2 * * *",
         "2026-03-27T12:00:00Z",
         {"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"}},
        {"what is shown twice is due twice",
         berlin,
         "30 2 * * *",
         "2026-10-24T12:00:00Z",
         {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}},
        {"the second time, when the next one is a year away on the same offset",
         new_york,
         "30 1 1 11 *",
         "2026-11-01T05:30:00Z",
         {"2026-11-01T06:30:00Z", "2027-11-01T05:30:00Z"}},
        {"the first second after a jump",
         berlin,
         "0 3 * * *",
         "2026-03-29T00:00:00Z",
         {"2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"}},
        {"the only day of the month on which it is jumped over",
         santiago,
         "30 0 * 9 0",
         "2026-10-01T00:00:00Z",
         {"2027-09-12T03:30:00Z", "2027-09-19T03:30:00Z"}},
        {"a jump of half an hour",
         lord_howe,
         "15 2 * 10 0",
         "2026-10-01T00:00:00Z",
         {"2026-10-10T15:15:00Z", "2026-10-17T15:15:00Z"}},
        {"a day that is jumped over every year",
         lord_howe,
         "15 2 1-7 10 *",
         "2026-10-03T15:00:00Z",
         {"2026-10-04T15:15:00Z"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct zone *z = zone_by_rule(rows[i].rule);
        struct cron c = cron_of(rows[i].cron);
        struct wall at = moment(rows[i].after);
        for (size_t k = 0; k < COUNT_OF(rows[i].next) && rows[i].next[k] != NULL; k++) {
            char text[TIMESTAMP_TEXT_MAX];
            assert_true(cron_next_pass(&c, z, at, &at));
            expect_str(str_from(text, timestamp_format(at, text)), str_from_z(rows[i].next[k]));
        }
        zone_free(z);
    }
}

static void pass__is_the_first_of_all_minutes_that_match(void **state)
{
    (void)state;
    static const char *const rules[] = {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3",
                                        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
                                        "<-04>4<-03>,M9.1.6/24,M4.1.6/24"};
    struct rng rng = rng_from(5);
    for (unsigned round = 0; round < 80; round++) {
        int want[5];
        struct buf b;
        struct wall found;
        buf_init(&b, 256);
        random_cron(&rng, want, &b);
        struct cron c = cron_of(b.ptr);
        struct zone *z = zone_by_rule(rules[round % COUNT_OF(rules)]);
        int64_t s = 1770768000 + (int64_t)rng_below(&rng, 100000000) / 60 * 60;
        assert_true(cron_next_pass(&c, z, (struct wall){.ns = s * NS_PER_S}, &found));
        do {
            s += 60;
        } while (!matches(want, civil_from_s(s + zone_offset_s(z, s))));
        assert_true(found.ns == s * NS_PER_S);
        zone_free(z);
        buf_deinit(&b);
    }
}

TEST_GROUP(cron, cmocka_unit_test(parse__accepts_the_grammar),
           cmocka_unit_test(parse__refuses_everything_else),
           cmocka_unit_test(parse__says_which_field),
           cmocka_unit_test(next__finds_the_first_match_in_utc),
           cmocka_unit_test(next__handles_jumps_of_the_clock),
           cmocka_unit_test(every__counts_from_creation),
           cmocka_unit_test(next__is_the_first_of_all_minutes_that_match),
           cmocka_unit_test(pass__knows_jumps_of_the_clock),
           cmocka_unit_test(pass__is_the_first_of_all_minutes_that_match));
