#include "engine/engine_now.h"

#include "log/log.h"

enum { BEHIND_WARN_MS = 1000, BEHIND_PACE = 2 };

static void say(struct engine_now *n, struct wall clock)
{
    int64_t behind_ms = (n->last.ns - clock.ns) / NS_PER_MS;
    if (behind_ms >= BEHIND_WARN_MS && !n->warned) {
        n->warned = true;
        log_warn("clock behind state", LOG_I64("behind_ms", behind_ms),
                 LOG_Z("meaning", "time passes at half the pace until the clock has caught up"));
    } else if (behind_ms <= 0) {
        n->warned = false;
    }
}

struct wall engine_now_next(struct engine_now *n, struct wall clock, struct mono mono,
                            struct wall state)
{
    int64_t passed_ns = n->begun ? mono.ns - n->at.ns : 0;
    struct wall now = {.ns = n->last.ns + passed_ns / BEHIND_PACE};
    now = state.ns > now.ns ? state : now;
    n->last = clock.ns > now.ns ? clock : now;
    n->at = mono;
    n->begun = true;
    say(n, clock);
    return n->last;
}
