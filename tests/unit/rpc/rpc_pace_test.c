#include "lib/expect.h"
#include "rpc/rpc_pace_int.h"

enum { START_MS = 1000 };

/* A frame begins at START_MS and is answered at answered_ms. The next one may begin at
 * earliest_ms. */
static const struct {
    const char *name;
    uint32_t fps;
    int64_t strike_ms;
    unsigned strikes; /* before the frame */
    int64_t answered_ms;
    bool is_strike;
    int64_t earliest_ms;
} rows[] = {
    {"no limits", 0, 5, 0, 1001, false, 1001},
    {"the pace counts from the start", 500, 5, 0, 1001, false, 1002},
    {"a slow frame has used its time", 500, 5, 0, 1100, false, 1100},
    {"a strike delays after the pace", 500, 5, 0, 1001, true, 1007},
    {"a strike delays after the answer", 500, 5, 0, 1100, true, 1105},
    {"without a pace too", 0, 5, 0, 1100, true, 1105},
    {"every strike counts", 500, 5, 3, 1100, true, 1120},
    {"a good frame forgets them", 500, 5, 3, 1100, false, 1100},
    {"up to half a second", 500, 100, 8, 1100, true, 1600},
    {"no delay", 500, 0, 8, 1100, true, 1100},
};

static int64_t ms(int64_t n)
{
    return n * NS_PER_MS;
}

static void test_earliest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct rpc_pace p = {
            .fps_max = rows[i].fps, .strike_ms = rows[i].strike_ms, .strikes = rows[i].strikes};
        rpc_pace__begin(&p, (struct mono){ms(START_MS)});
        rpc_pace__answer(&p, (struct mono){ms(rows[i].answered_ms)}, rows[i].is_strike);
        assert_int_equal(rpc_pace__earliest(&p).ns, ms(rows[i].earliest_ms));
        assert_int_equal(p.strikes, rows[i].is_strike ? rows[i].strikes + 1 : 0);
    }
    assert_int_equal(rpc_pace__earliest(&(struct rpc_pace){0}).ns, 0);
}

TEST_GROUP(rpc_pace, cmocka_unit_test(test_earliest));
