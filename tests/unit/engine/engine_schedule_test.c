#include "engine/engine_schedule.h"

#include <stdlib.h>

#include "core/timestamp.h"
#include "lib/expect.h"
#include "lib/test.h"

static struct wall moment(const char *text)
{
    struct wall at;
    struct err err;
    assert_int_equal(timestamp_parse(str_from_z(text), &at, &err), ERR_OK);
    return at;
}

static void recurring__has_exactly_five_fields(void **state)
{
    static const struct {
        const char *spec;
        const char *error; /* NULL: valid */
    } rows[] = {
        {"0 9 * * *", NULL},
        {"  0\t9  * * *\n", NULL},
        {"TZ=UTC 0 9 * * *", NULL},
        {"0 9 * * 6/7", NULL},
        {"0 9 * * 00-06", NULL},
        {"0 0 9 * * *", "expected exactly 5 fields, found 6"},
        {"0\t0 9 * * *", "expected exactly 5 fields, found 6"},
        {"0 9 * *\t*\t*", "expected exactly 5 fields, found 6"},
        {"0 9 * *", "expected exactly 5 fields, found 4"},
        {"TZ=UTC 0 0 9 * * *", "expected exactly 5 fields, found 6"},
        {"TZ=UTC", "expected exactly 5 fields, found 0"},
        {"@daily", "expected exactly 5 fields, found 1"},
        {"@every 90s", "expected exactly 5 fields, found 2"},
        {"@every 1s 2 3 4", "cron: @every: '1s 2 3 4' is not a duration"},
        {"0 9 * * 7", "day of week: expected 0 to 6, got 7"},
        {"0 9 * * 07", "day of week: expected 0 to 6, got 7"},
        {"0 9 * * 0-007/2", "day of week: expected 0 to 6, got 7"},
        {"0 9 * * 1,07", "day of week: expected 0 to 6, got 7"},
        {"0 9 1, * *", "a list has an empty item"},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct wall next;
        struct err err = {0};
        ROW(rows[i].spec);
        enum err_code code = engine_schedule_recurring(str_from_z(rows[i].spec),
                                                       moment("2026-11-19T08:00:00Z"), &next, &err);
        assert_int_equal(code, rows[i].error == NULL ? ERR_OK : ERR_VALIDATION);
        assert_string_equal(err.msg, rows[i].error == NULL ? "" : rows[i].error);
    }
}

/* A new job must have a time zone that this node knows. A job that exists runs on without it, and
 * with an expression that an older version accepted. */
static void recurring__does_not_end_without_its_time_zone(void **state)
{
    static const struct {
        const char *spec;
        enum err_code created, again;
        const char *next; /* of the job that exists; "": none */
    } rows[] = {
        {"TZ=UTC 0 9 * * *", ERR_OK, ERR_OK, "2026-11-19T09:00:00Z"},
        {"TZ=Asia/Tokyo 0 9 * * *", ERR_OK, ERR_OK, "2026-11-20T00:00:00Z"},
        {"TZ=Atlantis/Capital 0 9 * * *", ERR_VALIDATION, ERR_NOT_FOUND, "2026-11-19T09:00:00Z"},
        {"CRON_TZ=Atlantis/Capital 0 0 30 2 *", ERR_VALIDATION, ERR_NOT_FOUND, ""},
        {"TZ=UTC 0 0 30 2 *", ERR_OK, ERR_OK, ""},
        {"TZ=UTC 0\t0 10 * * *", ERR_VALIDATION, ERR_OK, "2026-11-19T10:00:00Z"},
        {"TZ=UTC 0 9 * * 07", ERR_VALIDATION, ERR_OK, "2026-11-22T09:00:00Z"},
        {"no expression", ERR_VALIDATION, ERR_VALIDATION, ""},
    };
    const struct wall after = moment("2026-11-19T08:00:00Z");
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct str spec = str_from_z(rows[i].spec);
        struct wall next = WALL_NONE;
        struct err err;
        ROW(rows[i].spec);
        assert_int_equal(engine_schedule_recurring(spec, after, &next, &err), rows[i].created);
        next = WALL_NONE;
        assert_int_equal(engine_schedule_again(spec, after, &next, &err), rows[i].again);
        assert_int_equal(next.ns, *rows[i].next == '\0' ? 0 : moment(rows[i].next).ns);
    }
}

/* A zone of the environment that does not exist is not the fault of who creates a job. */
static void recurring__goes_by_utc_in_a_local_zone_that_is_not_known(void **state)
{
    static const struct {
        const char *local;
        enum err_code known;
        const char *next;
    } rows[] = {
        {"", ERR_OK, "2026-11-19T09:00:00Z"},
        {"Asia/Tokyo", ERR_OK, "2026-11-20T00:00:00Z"},
        {":Asia/Tokyo", ERR_OK, "2026-11-20T00:00:00Z"},
        {":", ERR_OK, "2026-11-19T09:00:00Z"},
        {":/etc/localtime", ERR_VALIDATION, "2026-11-19T09:00:00Z"},
        {"Atlantis/Capital", ERR_VALIDATION, "2026-11-19T09:00:00Z"},
    };
    const struct wall after = moment("2026-11-19T08:00:00Z");
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct wall next = WALL_NONE;
        struct err err;
        ROW(rows[i].local);
        assert_int_equal(setenv("TZ", rows[i].local, 1), 0); /* NOLINT(concurrency-mt-unsafe) */
        assert_int_equal(engine_schedule_local(&err), rows[i].known);
        assert_int_equal(engine_schedule_recurring(STR("0 9 * * *"), after, &next, &err), ERR_OK);
        assert_int_equal(next.ns, moment(rows[i].next).ns);
    }
    assert_int_equal(unsetenv("TZ"), 0); /* NOLINT(concurrency-mt-unsafe) */
}

TEST_GROUP(engine_schedule, cmocka_unit_test(recurring__has_exactly_five_fields),
           cmocka_unit_test(recurring__does_not_end_without_its_time_zone),
           cmocka_unit_test(recurring__goes_by_utc_in_a_local_zone_that_is_not_known));
