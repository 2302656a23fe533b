#include "engine/engine_schedule.h"

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

/* A new job must have a time zone that this node knows. A job that exists runs on without
 * it. */
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

TEST_GROUP(engine_schedule, cmocka_unit_test(recurring__does_not_end_without_its_time_zone));
