/*
 * When the writer gives way, and for how long.
 */
#include "lib/test.h"
#include "view/view_pace_int.h"

static void view_pace__gives_way_where_it_should(void **state)
{
    static const struct {
        const char *name;
        struct view_turn turn;
        int64_t rest_ms;
    } rows[] = {
        {"processors to spare", {8 * NS_PER_MS, 2, 2, true, 1000, 60000}, 0},
        {"a crowd", {8 * NS_PER_MS, 3, 2, true, 1000, 60000}, 140},
        {"a crowd, and no jobs", {8 * NS_PER_MS, 3, 2, false, 1000, 60000}, 0},
        {"a crowd, and somebody asked", {8 * NS_PER_MS, 3, 2, true, 1000, 4999}, 0},
        {"half-way to late", {8 * NS_PER_MS, 9, 2, true, 50000, 60000}, 21},
        {"late", {8 * NS_PER_MS, 9, 2, true, 100000, 60000}, 8},
        {"half-way to the end of patience", {8 * NS_PER_MS, 9, 2, true, 1050000, 60000}, 2},
        {"too far behind", {8 * NS_PER_MS, 9, 2, true, 2000000, 60000}, 0},
        {"further behind than that", {8 * NS_PER_MS, 9, 2, true, 9000000, 60000}, 0},
        {"a turn that took long", {NS_PER_S, 9, 2, true, 0, 60000}, 1000},
        {"the system does not say", {8 * NS_PER_MS, 0, 2, true, 1000, 60000}, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(view_pace__rule(&rows[i].turn), rows[i].rest_ms);
    }
}

TEST_GROUP(view_pace, cmocka_unit_test(view_pace__gives_way_where_it_should));
