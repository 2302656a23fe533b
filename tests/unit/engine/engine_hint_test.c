#include "engine/engine_hint.h"

#include "lib/expect.h"
#include "lib/test.h"

/* The table of rpc.md 9: score = 1 + 8 · backlog / limit. */
static void engine_hint__grows_with_the_backlog(void **state)
{
    static const struct {
        const char *name;
        uint64_t backlog, limit;
        uint32_t ms_min, ms_max;
    } rows[] = {
        {"nothing: score 1", 0, 1600, 1, 2},
        {"just below a score of 5", 799, 1600, 1, 2},
        {"a score of 5", 800, 1600, 2, 3},
        {"just below a score of 8", 1399, 1600, 2, 3},
        {"a score of 8", 1400, 1600, 5, 7},
        {"full: a score of 9", 1600, 1600, 5, 7},
        {"just below a score of 12", 2199, 1600, 5, 7},
        {"a score of 12", 2200, 1600, 10, 12},
        {"many times the limit", 1000000, 1600, 10, 12},
        {"no limit that anything could be below", 0, 0, 10, 12},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t lowest = UINT32_MAX;
        uint32_t highest = 0;
        ROW(rows[i].name);
        for (uint64_t random_number = 0; random_number < 12; random_number++) {
            uint32_t ms = engine_hint_ms(rows[i].backlog, rows[i].limit, random_number);
            lowest = ms < lowest ? ms : lowest;
            highest = ms > highest ? ms : highest;
        }
        assert_int_equal(lowest, rows[i].ms_min);
        assert_int_equal(highest, rows[i].ms_max);
    }
}

TEST_GROUP(engine_hint, cmocka_unit_test(engine_hint__grows_with_the_backlog));
