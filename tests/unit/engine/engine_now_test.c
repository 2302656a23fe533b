#include "engine/engine_now.h"

#include "lib/test.h"
#include "log/log.h"

enum { BASE_S = 1750000000, JUMP_S = 3600, DAY_S = 86400, YEAR_S = 365 * DAY_S };

/* clang-format off */
static const struct {
    const char *name;
    /* in seconds, relative to BASE_S; a monotonic time of 0 ends the list */
    struct { int64_t clock, mono, state, expected; bool unsettled; } step[6];
} rows[] = {
    {"a clock that runs is believed",
     {{1000, 1, 900, 1000, false}, {1001, 2, 1000, 1001, false}, {1002, 3, 1001, 1002, false}}},
    {"a clock that leaps by less than the bound is believed",
     {{1000, 1, 900, 1000, false}, {4500, 2, 1000, 4500, false}, {4501, 3, 4500, 4501, false}}},
    {"a clock that leaps further is not, and time goes on without it",
     {{1000, 1, 900, 1000, false}, {1000 + 8 * DAY_S, 2, 1000, 1001, false}, {1010 + 10 * YEAR_S, 12, 1001, 1011, false}, {1012, 13, 1011, 1012, false}}},
    {"the same after it ran for a while by the monotonic clock alone",
     {{1000, 1, 900, 1000, false}, {1000 + JUMP_S + 100, 101, 1000, 1100 + JUMP_S, false}, {9000000, 102 + JUMP_S, 1000, 1101 + 2 * JUMP_S, false}}},
    {"it is believed when it has held for as long as the bound, and nothing is purged for a while",
     {{1000, 1, 900, 1000, false}, {1000 + YEAR_S, 2, 1000, 1001, false}, {1000 + YEAR_S + JUMP_S - 1, 1 + JUMP_S, 1001, 1000 + JUMP_S, false},
      {1000 + YEAR_S + JUMP_S, 2 + JUMP_S, 1001, 1000 + YEAR_S + JUMP_S, true}, {1001 + YEAR_S + 2 * JUMP_S, 1 + 2 * JUMP_S, 1001, 1001 + YEAR_S + 2 * JUMP_S, true},
      {1002 + YEAR_S + 2 * JUMP_S, 2 + 2 * JUMP_S, 1001, 1002 + YEAR_S + 2 * JUMP_S, false}}},
    {"one that claims something else meanwhile begins anew",
     {{1000, 1, 900, 1000, false}, {1000 + YEAR_S, 2, 1000, 1001, false}, {1000 + 2 * YEAR_S, 1802, 1001, 2801, false}, {2800 + 2 * YEAR_S, 3602, 2801, 4601, false},
      {4600 + 2 * YEAR_S, 5402, 2801, 4600 + 2 * YEAR_S, true}}},
    {"one that was right in between, too",
     {{1000, 1, 900, 1000, false}, {1000 + YEAR_S, 2, 1000, 1001, false}, {1002, 3, 1001, 1002, false}, {1000 + YEAR_S + JUMP_S, 3 + JUMP_S, 1001, 1002 + JUMP_S, false}}},
    {"a machine that sleeps is awake later, and its clock too",
     {{1000, 1, 900, 1000, false}, {1000 + DAY_S, 1 + DAY_S, 1000, 1000 + DAY_S, false}}},
    {"a machine may have been off for a week, but nothing is purged at once",
     {{8 * DAY_S, 1, 0, 8 * DAY_S, true}, {8 * DAY_S + 1, 2, 0, 8 * DAY_S + 1, true}, {8 * DAY_S + JUMP_S, 1 + JUMP_S, 0, 8 * DAY_S + JUMP_S, false}}},
    {"it has not been for years",
     {{10 * YEAR_S, 1, 500, 500, false}, {10 * YEAR_S + 1, 2, 500, 501, false}, {503, 3, 501, 503, false}, {504, 4, 501, 504, false}}},
    {"a state from nowhere believes all, as does one of a clock that was never set",
     {{1000, 1, -BASE_S, 1000, false}, {1001, 2, 1000, 1001, false}}},
    {"a clock that is set once the machine has asked for the time",
     {{5 - BASE_S, 1, -BASE_S, 5 - BASE_S, false}, {1000, 2, 5 - BASE_S, 1000, false}}},
    {"a clock that is set back is waited for at half the pace",
     {{1000, 1, 900, 1000, false}, {900, 3, 1000, 1001, false}, {940, 43, 1001, 1021, false}, {1100, 203, 1021, 1101, false}, {1110, 213, 1101, 1110, false}}},
    {"a state from later is gone on from",
     {{1000, 1, 9000, 9000, false}, {1010, 11, 9000, 9005, false}, {1012, 13, 9005, 9006, false}}},
    {"one from years later goes on at the usual pace",
     {{1000, 1, 10 * YEAR_S, 10 * YEAR_S, false}, {1010, 11, 10 * YEAR_S, 10 * YEAR_S + 10, false}, {2010, 1011, 10 * YEAR_S, 10 * YEAR_S + 1010, false}}},
    {"a state that is restored from later is, too",
     {{1000, 1, 900, 1000, false}, {1010, 11, 9000, 9000, false}, {1030, 31, 9000, 9010, false}}},
    {"what passed while another led is not counted",
     {{1000, 1, 900, 1000, false}, {8000, 7001, 8001, 8001, false}, {8004, 7005, 8001, 8004, false}}},
    {"time stands still for no time",
     {{1000, 1, 900, 1000, false}, {1000, 1, 1000, 1000, false}, {999, 1, 1000, 1000, false}}},
};
/* clang-format on */

static struct wall at_s(int64_t s)
{
    return (struct wall){.ns = (BASE_S + s) * NS_PER_S};
}

static struct mono mono_s(int64_t s)
{
    return (struct mono){.ns = s * NS_PER_S};
}

static void now__never_goes_back_leaps_or_stands_still(void **state)
{
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct engine_now n = {.max_jump_ns = JUMP_S * NS_PER_S};
        for (size_t k = 0; k < COUNT_OF(rows[i].step) && rows[i].step[k].mono > 0; k++) {
            struct mono mono = mono_s(rows[i].step[k].mono);
            struct wall now =
                engine_now_next(&n, at_s(rows[i].step[k].clock), mono, at_s(rows[i].step[k].state));
            assert_int_equal(now.ns / NS_PER_S - BASE_S, rows[i].step[k].expected);
            assert_int_equal(engine_now_is_settled(&n, mono), !rows[i].step[k].unsettled);
        }
    }
    log_configure(LOG_INFO, LOG_AUTO);
}

static void now__tells_how_far_the_clock_is_off(void **state)
{
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    struct engine_now n = {.max_jump_ns = JUMP_S * NS_PER_S};
    (void)engine_now_next(&n, at_s(1000), mono_s(1), at_s(900));
    assert_int_equal(engine_now_ahead_ms(&n), 0);
    assert_int_equal(engine_now_behind_ms(&n), 0);
    (void)engine_now_next(&n, at_s(10000), mono_s(2), at_s(1000));
    assert_int_equal(engine_now_ahead_ms(&n), 8999000);
    (void)engine_now_next(&n, at_s(500), mono_s(3), at_s(1000));
    assert_int_equal(engine_now_ahead_ms(&n), 0);
    assert_int_equal(engine_now_behind_ms(&n), 501500);
    log_configure(LOG_INFO, LOG_AUTO);
}

static void operator__has_the_last_word_about_a_leap(void **state)
{
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    struct engine_now n = {.max_jump_ns = JUMP_S * NS_PER_S};
    (void)engine_now_next(&n, at_s(1000), mono_s(1), at_s(900));
    (void)engine_now_next(&n, at_s(YEAR_S), mono_s(2), at_s(1000));
    engine_now_accept(&n);
    assert_int_equal(engine_now_next(&n, at_s(YEAR_S + 1), mono_s(3), at_s(1000)).ns,
                     at_s(YEAR_S + 1).ns);
    assert_false(engine_now_is_settled(&n, mono_s(3)));
    assert_int_equal(engine_now_ahead_ms(&n), 0);
    /* Only one jump was accepted. */
    assert_int_equal(engine_now_next(&n, at_s(2 * YEAR_S), mono_s(4), at_s(1000)).ns,
                     at_s(YEAR_S + 2).ns);
    log_configure(LOG_INFO, LOG_AUTO);
}

static void no_bound__believes_every_clock(void **state)
{
    (void)state;
    struct engine_now n = {0};
    (void)engine_now_next(&n, at_s(1000), mono_s(1), at_s(900));
    assert_int_equal(engine_now_next(&n, at_s(YEAR_S), mono_s(2), at_s(1000)).ns, at_s(YEAR_S).ns);
    assert_true(engine_now_is_settled(&n, mono_s(2)));
}

TEST_GROUP(engine_now, cmocka_unit_test(now__never_goes_back_leaps_or_stands_still),
           cmocka_unit_test(now__tells_how_far_the_clock_is_off),
           cmocka_unit_test(operator__has_the_last_word_about_a_leap),
           cmocka_unit_test(no_bound__believes_every_clock));
