#include "cli/cli_when.h"

#include <stdlib.h>
#include <time.h>

#include "core/timestamp.h"
#include "lib/expect.h"
#include "lib/test.h"

static void moments__are_understood(void **state)
{
    static const struct {
        const char *text;
        bool ahead;
        const char *want; /* NULL: refused */
    } rows[] = {
        {"2026-02-11T10:00:00Z", false, "2026-02-11T10:00:00Z"},
        {"2026-02-11", false, "2026-02-11T00:00:00Z"},
        {"now", false, "2026-03-05T12:30:00Z"},
        {"1h", false, "2026-03-05T11:30:00Z"},
        {"1h", true, "2026-03-05T13:30:00Z"},
        {"-1h30m", true, "2026-03-05T11:00:00Z"},
        {"+5m", false, "2026-03-05T12:35:00Z"},
        {"today", false, "2026-03-05T00:00:00Z"},
        {"yesterday 2:00", false, "2026-03-04T02:00:00Z"},
        {"tomorrow 9:00", true, "2026-03-06T09:00:00Z"},
        {"tomorrow 25:00", true, NULL},
        {"tomorrow at nine", true, NULL},
        {"soon", true, NULL},
        {"", true, NULL},
    };
    struct wall now;
    struct err err;
    (void)state;
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    tzset();
    assert_int_equal(timestamp_parse(STR("2026-03-05T12:30:00Z"), &now, &err), ERR_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct wall got = WALL_NONE;
        struct wall want;
        ROW(rows[i].text);
        bool good = cli_when_parse(str_from_z(rows[i].text), now, rows[i].ahead, &got);
        assert_int_equal(good, rows[i].want != NULL);
        if (good) {
            assert_int_equal(timestamp_parse(str_from_z(rows[i].want), &want, &err), ERR_OK);
            assert_int_equal(got.ns, want.ns);
        }
    }
}

TEST_GROUP(cli_when, cmocka_unit_test(moments__are_understood));
