#include "engine/engine_purge.h"

#include "lib/test.h"

static void engine_purge__takes_little_and_more_when_it_gets_late(void **state)
{
    static const struct {
        const char *name;
        struct engine_purge_step step; /* took, passed, interval, others */
        int64_t rest_ms;
    } rows[] = {
        {"a twentieth of the time", {10, 0, 3600000, 1000}, 190},
        {"until a twentieth of the interval is over", {10, 180000, 3600000, 1000}, 190},
        {"then more", {10, 360000, 3600000, 1000}, 90},
        {"half-way", {10, 1800000, 3600000, 1000}, 10},
        {"when the next one is due, all of it", {10, 3600000, 3600000, 1000}, 0},
        {"and later", {10, 9000000, 3600000, 1000}, 0},
        {"half of the time while nobody else works", {10, 0, 3600000, 99}, 10},
        {"and more when it gets late then, too", {10, 2700000, 3600000, 99}, 3},
        {"a step that took long", {500, 0, 3600000, 1000}, 1000},
        {"a step that took no time", {0, 0, 3600000, 1000}, 0},
        {"no interval", {10, 1, 0, 1000}, 0},
        {"a clock that stood", {10, 0, 0, 1000}, 190},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(engine_purge_rest_ms(&rows[i].step), rows[i].rest_ms);
    }
}

TEST_GROUP(engine_purge, cmocka_unit_test(engine_purge__takes_little_and_more_when_it_gets_late));
