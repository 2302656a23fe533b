#include "cli/cli_time.h"

#include <stdio.h>

#include "base/attr.h"

size_t cli_time_relative(struct wall at, struct wall now, char *out)
{
    static const struct {
        int64_t s;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
    int64_t distance = 0;
    if (__builtin_sub_overflow(at.ns, now.ns, &distance)) {
        distance = at.ns > now.ns ? INT64_MAX : -INT64_MAX;
    }
    int64_t s = (distance < 0 ? -distance : distance) / NS_PER_S;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (s >= units[i].s) {
            int n =
                snprintf(out, CLI_TIME_TEXT_MAX, "%s%lld%s%s", distance > 0 ? "in " : "",
                         (long long)(s / units[i].s), units[i].name, distance > 0 ? "" : " ago");
            return n < 0 ? 0 : (size_t)n;
        }
    }
    return (size_t)snprintf(out, CLI_TIME_TEXT_MAX, "now");
}
