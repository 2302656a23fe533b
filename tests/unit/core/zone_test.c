#include "core/zone.h"

#include "core/civil.h"
#include "core/zone_rule.h"
#include "lib/exact.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tzif.h"

enum { HOUR = 3600 };

static int64_t at(int year, int month, int day, int hour, int minute)
{
    return civil_to_s((struct civil){year, month, day, hour, minute, 0});
}

static struct zone *zone_of(const struct tzif *t)
{
    struct buf b;
    struct zone *z;
    struct err err;
    buf_init(&b, 1 << 16);
    tzif_build(&b, t);
    if (zone_new(buf_str(&b), &z, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    buf_deinit(&b);
    return z;
}

static struct zone *zone_by_rule(const char *rule)
{
    static const int32_t none = 0;
    return zone_of(&(struct tzif){.offsets_s = &none, .type_count = 1, .rule = rule});
}

static void rule__says_the_offset_of_every_moment(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        struct civil utc;
        int offset_s;
    } rows[] = {
        {"UTC0", {2026, 7, 1, 0, 0, 0}, 0},
        {"<-03>3", {2026, 7, 1, 0, 0, 0}, -3 * HOUR},
        {"<+0530>-5:30", {2026, 7, 1, 0, 0, 0}, 5 * HOUR + 1800},
        {"LMT-0:53:28", {2026, 7, 1, 0, 0, 0}, 53 * 60 + 28},
        /* northern hemisphere */
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2026, 1, 15, 0, 0, 0}, HOUR},
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2026, 3, 29, 0, 59, 59}, HOUR},
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2026, 3, 29, 1, 0, 0}, 2 * HOUR},
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2026, 10, 25, 0, 59, 59}, 2 * HOUR},
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2026, 10, 25, 1, 0, 0}, HOUR},
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2100, 7, 1, 0, 0, 0}, 2 * HOUR},
        /* southern hemisphere, with half an hour */
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", {2026, 1, 1, 0, 0, 0}, 11 * HOUR},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", {2026, 7, 1, 0, 0, 0}, 10 * HOUR + 1800},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", {2026, 12, 31, 23, 0, 0}, 11 * HOUR},
        /* the offset of the other time is smaller */
        {"IST-1GMT0,M10.5.0,M3.5.0/1", {2026, 1, 1, 0, 0, 0}, 0},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", {2026, 7, 1, 0, 0, 0}, HOUR},
        /* more than a day after the named day */
        {"IST-2IDT,M3.4.4/26,M10.5.0", {2026, 3, 26, 23, 59, 59}, 2 * HOUR},
        {"IST-2IDT,M3.4.4/26,M10.5.0", {2026, 3, 27, 0, 0, 0}, 3 * HOUR},
        /* before the named day */
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", {2026, 3, 29, 0, 59, 59}, -2 * HOUR},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", {2026, 3, 29, 1, 0, 0}, -HOUR},
        /* all year round */
        {"XXX3EDT4,0/0,J365/23", {2026, 1, 1, 0, 0, 0}, -4 * HOUR},
        {"XXX3EDT4,0/0,J365/23", {2026, 12, 31, 23, 59, 59}, -4 * HOUR},
        {"XXX3EDT4,0/0,J365/23", {2027, 1, 1, 4, 0, 0}, -4 * HOUR},
        /* days of the year, without and with the leap day */
        {"AAA0BBB,J60/0,J300/0", {2024, 2, 29, 23, 59, 59}, 0},
        {"AAA0BBB,J60/0,J300/0", {2024, 3, 1, 0, 0, 0}, HOUR},
        {"AAA0BBB,59/0,300/0", {2024, 2, 29, 0, 0, 0}, HOUR},
        {"AAA0BBB,59/0,300/0", {2023, 2, 28, 23, 59, 59}, 0},
        {"AAA0BBB,59/0,300/0", {2023, 3, 1, 0, 0, 0}, HOUR},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].rule);
        struct zone *z = zone_by_rule(rows[i].rule);
        assert_int_equal(zone_offset_s(z, civil_to_s(rows[i].utc)), rows[i].offset_s);
        zone_free(z);
    }
}

static void rule__that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "C-1",
        "CET",
        "CET-1CEST",
        "CET-1CE",
        "<+01-1",
        "CET-25",
        "CET-1:60",
        "CET-1:0:60",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,M0.1.0,M10.5.0",
        "CET-1CEST,J0,J365",
        "CET-1CEST,366,1",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3x",
        "CET-1CEST,M3.5,M10.5.0",
        "-1",
        "CET-1CEST,M3.5.0,",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        struct zone_rule rule;
        assert_false(zone_rule_parse(str_from_z(rows[i]), &rule));
    }
}

/* Clocks were 30 minutes ahead, then an hour, then two for a summer. Nothing is known about later
 * times. */
static const int32_t offsets[] = {1800, HOUR, 2 * HOUR};
static const struct tzif_change changes[] = {{1000000, 1}, {2000000, 2}, {3000000, 1}};
static const struct tzif plain = {.offsets_s = offsets,
                                  .type_count = COUNT_OF(offsets),
                                  .changes = changes,
                                  .change_count = COUNT_OF(changes),
                                  .rule = ""};

static void offset__comes_from_the_changes(void **state)
{
    (void)state;
    static const struct {
        int64_t instant_s;
        int offset_s;
    } rows[] = {
        {-5000000000, 1800}, {999999, 1800},      {1000000, HOUR}, {1999999, HOUR},
        {2000000, 2 * HOUR}, {2999999, 2 * HOUR}, {3000000, HOUR}, {5000000000, HOUR},
    };
    struct zone *z = zone_of(&plain);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(zone_offset_s(z, rows[i].instant_s), rows[i].offset_s);
    }
    zone_free(z);
}

static void offset__comes_from_the_rule_after_the_last_change(void **state)
{
    (void)state;
    struct tzif ruled = plain;
    ruled.rule = "CET-1CEST,M3.5.0,M10.5.0/3";
    struct zone *z = zone_of(&ruled);
    assert_int_equal(zone_offset_s(z, 999999), 1800);
    assert_int_equal(zone_offset_s(z, at(2026, 1, 1, 0, 0)), HOUR);
    assert_int_equal(zone_offset_s(z, at(2026, 7, 1, 0, 0)), 2 * HOUR);
    zone_free(z);
}

static void instants__are_none_one_or_two(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct civil local;
        unsigned count;
        struct civil utc[2];
        struct civil first;
    } rows[] = {
        {"winter", {2026, 1, 1, 12, 0, 0}, 1, {{2026, 1, 1, 11, 0, 0}}, {2026, 1, 1, 11, 0, 0}},
        {"summer", {2026, 7, 1, 12, 0, 0}, 1, {{2026, 7, 1, 10, 0, 0}}, {2026, 7, 1, 10, 0, 0}},
        {"just before the jump",
         {2026, 3, 29, 1, 59, 59},
         1,
         {{2026, 3, 29, 0, 59, 59}},
         {2026, 3, 29, 0, 59, 59}},
        {"jumped over, first", {2026, 3, 29, 2, 0, 0}, 0, {{0}}, {2026, 3, 29, 1, 0, 0}},
        {"jumped over, last", {2026, 3, 29, 2, 59, 59}, 0, {{0}}, {2026, 3, 29, 1, 0, 0}},
        {"just after the jump",
         {2026, 3, 29, 3, 0, 0},
         1,
         {{2026, 3, 29, 1, 0, 0}},
         {2026, 3, 29, 1, 0, 0}},
        {"just before it is shown twice",
         {2026, 10, 25, 1, 59, 59},
         1,
         {{2026, 10, 24, 23, 59, 59}},
         {2026, 10, 24, 23, 59, 59}},
        {"twice, first",
         {2026, 10, 25, 2, 0, 0},
         2,
         {{2026, 10, 25, 0, 0, 0}, {2026, 10, 25, 1, 0, 0}},
         {2026, 10, 25, 0, 0, 0}},
        {"twice, last",
         {2026, 10, 25, 2, 59, 59},
         2,
         {{2026, 10, 25, 0, 59, 59}, {2026, 10, 25, 1, 59, 59}},
         {2026, 10, 25, 0, 59, 59}},
        {"just after",
         {2026, 10, 25, 3, 0, 0},
         1,
         {{2026, 10, 25, 2, 0, 0}},
         {2026, 10, 25, 2, 0, 0}},
    };
    struct zone *z = zone_by_rule("CET-1CEST,M3.5.0,M10.5.0/3");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        int64_t found[2];
        int64_t local_s = civil_to_s(rows[i].local);
        assert_int_equal(zone_instants(z, local_s, found), rows[i].count);
        for (unsigned k = 0; k < rows[i].count; k++) {
            assert_int_equal(found[k], civil_to_s(rows[i].utc[k]));
        }
        assert_int_equal(zone_first_instant(z, local_s), civil_to_s(rows[i].first));
    }
    zone_free(z);
}

static void instants__follow_the_changes_too(void **state)
{
    (void)state;
    struct zone *z = zone_of(&plain);
    int64_t found[2];
    /* At 1000000 clocks jump 30 minutes ahead, at 3000000 an hour back. */
    assert_int_equal(zone_instants(z, 1000000 + 1800 + 5, found), 0);
    assert_int_equal(zone_first_instant(z, 1000000 + 1800 + 5), 1000000);
    assert_int_equal(zone_instants(z, 3000000 + HOUR, found), 2);
    assert_int_equal(found[0], 3000000 - HOUR);
    assert_int_equal(found[1], 3000000);
    zone_free(z);
}

static void utc__needs_no_file(void **state)
{
    (void)state;
    struct zone *z = zone_new_utc();
    int64_t found[2];
    assert_int_equal(zone_offset_s(z, 12345), 0);
    assert_int_equal(zone_instants(z, 12345, found), 1);
    assert_int_equal(found[0], 12345);
    zone_freep(&z);
    assert_null(z);
    zone_free(NULL);
}

static void refuse(struct str bytes, const char *message)
{
    struct zone *z = NULL;
    struct err err;
    assert_int_equal(zone_new(bytes, &z, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, message);
    assert_null(z);
}

static void new__refuses_damaged_bytes(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 16);
    tzif_build(&b, &plain);
    for (size_t len = 0; len < b.len; len++) {
        struct str cut = exact_copy(b.ptr, len);
        refuse(cut, "the time zone file is damaged");
        exact_free(cut);
    }
    const size_t second = 44 + 10; /* where the second header begins */
    static const struct {
        const char *name;
        size_t at;
        char byte;
        const char *message;
    } rows[] = {
        {"magic", 0, 'X', "the time zone file is damaged"},
        {"version", 4, '\0', "the time zone file is of an old version"},
        {"second magic", second, 'X', "the time zone file is damaged"},
        {"leap seconds", second + 31, 1, "the time zone has leap seconds"},
        {"no types", second + 39, 0, "the time zone file is damaged"},
        {"many changes", second + 32, 1, "the time zone file is damaged"},
        {"changes not in order", second + 44 + 4, 1, "the time zone file is damaged"},
        {"unknown type", second + 44 + 24, 9, "the time zone file is damaged"},
        {"offset too large", second + 44 + 24 + 3, 1, "the time zone file is damaged"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        char before = b.ptr[rows[i].at];
        b.ptr[rows[i].at] = rows[i].byte;
        refuse(buf_str(&b), rows[i].message);
        b.ptr[rows[i].at] = before;
    }
    buf_add_char(&b, 'x');
    refuse(buf_str(&b), "the time zone file is damaged");
    buf_deinit(&b);
}

TEST_GROUP(zone, cmocka_unit_test(rule__says_the_offset_of_every_moment),
           cmocka_unit_test(rule__that_is_none_is_refused),
           cmocka_unit_test(offset__comes_from_the_changes),
           cmocka_unit_test(offset__comes_from_the_rule_after_the_last_change),
           cmocka_unit_test(instants__are_none_one_or_two),
           cmocka_unit_test(instants__follow_the_changes_too), cmocka_unit_test(utc__needs_no_file),
           cmocka_unit_test(new__refuses_damaged_bytes));
