#include "engine/engine_now.h"

#include "lib/test.h"
#include "log/log.h"

/* clang-format off */
static const struct {
    const char *name;
    struct { int64_t clock, mono, state, expected; } step[5]; /* in seconds; from 0 on: no more */
} rows[] = {
    {"a clock that runs is believed",
     {{1000, 1, 900, 1000}, {1001, 2, 1000, 1001}, {1002, 3, 1001, 1002}}},
    {"a clock that jumps ahead is believed",
     {{1000, 1, 900, 1000}, {37000, 2, 1000, 37000}, {37001, 3, 37000, 37001}}},
    {"a clock that is set back is waited for at half the pace",
     {{1000, 1, 900, 1000}, {900, 3, 1000, 1001}, {940, 43, 1001, 1021}, {1100, 203, 1021, 1101}, {1110, 213, 1101, 1110}}},
    {"a state from later is gone on from",
     {{1000, 1, 9000, 9000}, {1010, 11, 9000, 9005}, {1012, 13, 9005, 9006}}},
    {"a state that is restored from later is, too",
     {{1000, 1, 900, 1000}, {1010, 11, 9000, 9000}, {1030, 31, 9000, 9010}}},
    {"what passed while another led is not counted",
     {{1000, 1, 900, 1000}, {8000, 7001, 8001, 8001}, {8004, 7005, 8001, 8004}}},
    {"time stands still for no time",
     {{1000, 1, 900, 1000}, {1000, 1, 1000, 1000}, {999, 1, 1000, 1000}}},
};
/* clang-format on */

static void now__never_goes_back_and_never_stands_still(void **state)
{
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct engine_now n = {0};
        for (size_t k = 0; k < COUNT_OF(rows[i].step) && rows[i].step[k].clock > 0; k++) {
            struct wall clock = {.ns = rows[i].step[k].clock * NS_PER_S};
            struct mono mono = {.ns = rows[i].step[k].mono * NS_PER_S};
            struct wall before = {.ns = rows[i].step[k].state * NS_PER_S};
            struct wall now = engine_now_next(&n, clock, mono, before);
            assert_int_equal(now.ns, rows[i].step[k].expected * NS_PER_S);
        }
    }
    log_configure(LOG_INFO, LOG_AUTO);
}

TEST_GROUP(engine_now, cmocka_unit_test(now__never_goes_back_and_never_stands_still));
