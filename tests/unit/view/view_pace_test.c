/*
 * When the writer pauses in favor of requests, and for how long.
 */
#include "lib/test.h"
#include "os/os_clock.h"
#include "view/view_pace_int.h"

#define MS NS_PER_MS

static void view_pace__gives_way_where_it_should(void **state)
{
    static const struct {
        const char *name;
        struct view_turn turn;
        int64_t rest_ms;
    } rows[] = {
        {"processors to spare", {8 * MS, 40 * MS, 31 * MS, true, 1000, 60000}, 0},
        {"a crowd", {8 * MS, 40 * MS, 29 * MS, true, 1000, 60000}, 140},
        {"a crowd, and no jobs", {8 * MS, 40 * MS, 29 * MS, false, 1000, 60000}, 0},
        {"a crowd, and somebody asked", {8 * MS, 40 * MS, 29 * MS, true, 1000, 4999}, 0},
        {"half-way to late", {8 * MS, 40 * MS, 9 * MS, true, 50000, 60000}, 21},
        {"late", {8 * MS, 40 * MS, 9 * MS, true, 100000, 60000}, 8},
        {"half-way to the end of patience", {8 * MS, 40 * MS, 9 * MS, true, 1050000, 60000}, 2},
        {"too far behind", {8 * MS, 40 * MS, 9 * MS, true, 2000000, 60000}, 0},
        {"further behind than that", {8 * MS, 40 * MS, 9 * MS, true, 9000000, 60000}, 0},
        {"a turn that took long", {1000 * MS, 2000 * MS, 1000 * MS, true, 0, 60000}, 1000},
        {"no time has passed", {0, 0, 0, true, 1000, 60000}, 0},
        {"clocks that differ a little", {8 * MS, 40 * MS, 41 * MS, true, 1000, 60000}, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(view_pace__rule(&rows[i].turn), rows[i].rest_ms);
    }
}

static void view_pace__looks_more_often_while_somebody_asks(void **state)
{
    struct view_pace p = {.asked_ns = os_clock_mono().ns - 3600 * NS_PER_S};
    (void)state;
    assert_int_equal(view_pace__linger_ms(&p, 100), 100);
    assert_int_equal(view_pace__linger_ms(&p, 0), 0);
    p.asked_ns = os_clock_mono().ns + 3600 * NS_PER_S; /* the future: the test may be slow */
    assert_int_equal(view_pace__linger_ms(&p, 100), 25);
    assert_int_equal(view_pace__linger_ms(&p, 0), 0);
}

static void view_pace__is_pressed_after_a_rest_that_nobody_minds(void **state)
{
    int64_t now = os_clock_mono().ns;
    int64_t long_ago = now - 3600 * NS_PER_S;
    int64_t lately = now + 3600 * NS_PER_S; /* the future: the test may be slow */
    const struct {
        const char *name;
        struct view_pace pace;
        bool pressed;
    } rows[] = {
        {"it has never rested", {.asked_ns = long_ago}, false},
        {"it rested long ago", {.asked_ns = long_ago, .rested_ns = long_ago}, false},
        {"it rested lately", {.asked_ns = long_ago, .rested_ns = lately}, true},
        {"it rested lately, and somebody asks", {.asked_ns = lately, .rested_ns = lately}, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(view_pace__is_pressed(&rows[i].pace), rows[i].pressed);
    }
}

static void view_pace__a_question_waits_long_unless_jobs_change_all_the_time(void **state)
{
    static const struct {
        const char *name;
        int64_t at_ms;   /* end of a turn, then a question */
        uint64_t behind; /* changes left after the turn */
        int64_t wait_ms;
    } rows[] = {
        {"nothing waits", 1000, 0, 500},     {"a burst", 3500, 100000, 500},
        {"it continues", 5499, 100000, 500}, {"for long", 5500, 256, 20},
        {"and longer", 7499, 256, 20},       {"nearly caught up", 7600, 255, 500},
        {"but not for long", 7700, 256, 20}, {"caught up for long", 9700, 0, 500},
        {"a new burst", 9800, 256, 500},     {"with slow turns", 11800, 256, 20},
        {"caught up", 11900, 0, 500},        {"no turn for long", 13900, 256, 500},
    };
    struct view_flood f = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mono now = {.ns = rows[i].at_ms * MS};
        ROW(rows[i].name);
        view_pace__turned(&f, rows[i].behind, now);
        assert_int_equal(view_pace__wait_ms(&f, rows[i].behind, now, 500), rows[i].wait_ms);
        assert_int_equal(view_pace__wait_ms(&f, rows[i].behind, now, 0), 0);
    }
}

TEST_GROUP(view_pace, cmocka_unit_test(view_pace__gives_way_where_it_should),
           cmocka_unit_test(view_pace__looks_more_often_while_somebody_asks),
           cmocka_unit_test(view_pace__is_pressed_after_a_rest_that_nobody_minds),
           cmocka_unit_test(view_pace__a_question_waits_long_unless_jobs_change_all_the_time));
