/*
 * Fuzz: cron expressions. The next match is after the given time and matches the expression, and
 * there is no match in between.
 */
#include "core/cron.h"

#include <stdint.h>

#include "base/check.h"
#include "lib/tzif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool matches(const struct cron *c, struct civil t)
{
    int weekday = civil_weekday(civil_to_days(t.year, t.month, t.day));
    bool day = (c->days >> t.day & 1) != 0, of_week = (c->weekdays >> weekday & 1) != 0;
    bool both = c->any_day || c->any_weekday;
    return (c->seconds >> t.second & 1) != 0 && (c->minutes >> t.minute & 1) != 0 &&
           (c->hours >> t.hour & 1) != 0 && (c->months >> t.month & 1) != 0 &&
           (both ? day && of_week : day || of_week);
}

static void check_civil(const struct cron *c)
{
    /* Starts near the end of a year and the end of a leap February. */
    static const struct civil starts[] = {{2026, 2, 11, 10, 7, 33}, {2027, 12, 31, 23, 59, 58}};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct civil next;
        if (!cron_next_civil(c, starts[i], &next)) {
            continue;
        }
        int64_t from_s = civil_to_s(starts[i]), to_s = civil_to_s(next);
        CHECK(civil_is_valid(next));
        CHECK(to_s > from_s);
        CHECK(matches(c, next));
        /* Check only as much as is fast. */
        int64_t begin_s = to_s - from_s > 5000 ? to_s - 5000 : from_s + 1;
        for (int64_t s = begin_s; s < to_s; s++) {
            CHECK(!matches(c, civil_from_s(s)));
        }
    }
}

static struct zone *make_zone(void)
{
    static const int32_t none = 0;
    struct zone *z;
    struct err err;
    struct buf b;
    buf_init(&b, 4096);
    tzif_build(&b, &(struct tzif){
                       .offsets_s = &none, .type_count = 1, .rule = "CET-1CEST,M3.5.0,M10.5.0/3"});
    CHECK(zone_new(buf_str(&b), &z, &err) == ERR_OK);
    buf_deinit(&b);
    return z;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cron c;
    struct err err = {0};
    if (cron_parse(str_from(data, size), &c, &err) != ERR_OK) {
        CHECK(err.code == ERR_VALIDATION);
        CHECK(err.msg[0] != '\0');
        return 0;
    }
    if (c.every_ms == 0) {
        check_civil(&c);
    }
    struct zone *z = make_zone();
    const struct wall created = {.ns = 1770804000 * NS_PER_S + 1};
    /* The two days of 2026 on which clocks change, one second before the change. */
    static const int64_t starts_s[] = {1774745999, 1792889999};
    for (size_t i = 0; i < COUNT_OF(starts_s); i++) {
        struct wall at = {.ns = starts_s[i] * NS_PER_S}, next;
        for (unsigned k = 0; k < 5 && cron_next(&c, z, created, at, &next); k++) {
            CHECK(next.ns > at.ns);
            at = next;
        }
    }
    zone_free(z);
    return 0;
}
