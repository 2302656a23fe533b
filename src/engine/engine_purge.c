/*
 * Pace of the purge. No request waits for a purge, but every request waits for the core thread.
 * While there is other work, a purge takes a twentieth of the time. A purge that does not finish at
 * this pace takes more, up to all of the time when the next one is due: at any load, removal keeps
 * up with the jobs that end. On an idle server, it takes half of the time.
 */
#include "engine/engine_purge.h"

enum {
    SHARE_LEAST = 50, /* in thousandths of the time */
    SHARE_QUIET = 500,
    SHARE_ALL = 1000,
    QUIET = 100, /* commands */
    REST_MS_MAX = 1000,
};

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t engine_purge_rest_ms(const struct engine_purge_step *s)
{
    int64_t share = at_least(s->passed_ms * SHARE_ALL / at_least(s->interval_ms, 1), SHARE_LEAST);
    share = s->others < QUIET ? at_least(share, SHARE_QUIET) : share;
    int64_t rest_ms = share >= SHARE_ALL ? 0 : s->took_ms * (SHARE_ALL - share) / share;
    return rest_ms < REST_MS_MAX ? rest_ms : REST_MS_MAX;
}
