#include "engine/engine_now.h"

#include "log/log.h"

enum {
    BEHIND_WARN_MS = 1000,
    BEHIND_PACE = 2,
    WARN_EVERY_S = 60,
    HELD_WITHIN_S = 60, /* a clock that is being corrected keeps its offset this long */
};

#define DAY_NS        (86400LL * NS_PER_S)
#define BEHIND_MAX_NS DAY_NS        /* if further behind, time does not wait for the clock */
#define START_JUMP_NS (31 * DAY_NS) /* a machine may have been off this long */
#define FIRST_REAL_NS (1704067200LL * NS_PER_S) /* 2024: an earlier clock was never set */

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The time without reading the wall clock. */
static int64_t steady_time(const struct engine_now *n, struct mono mono, struct wall state)
{
    return n->begun ? max_of(n->last.ns + max_of(mono.ns - n->at.ns, 0), state.ns) : state.ns;
}

/* How far the wall clock may be ahead of the steady time. */
static int64_t allowed_jump(const struct engine_now *n, int64_t steady_ns)
{
    if (n->max_jump_ns == 0 || n->accepted || steady_ns < FIRST_REAL_NS) {
        return INT64_MAX;
    }
    return n->begun ? n->max_jump_ns : max_of(n->max_jump_ns, START_JUMP_NS);
}

/* Has the wall clock kept this offset for long enough? */
static bool has_held(struct engine_now *n, struct wall clock, struct mono mono)
{
    int64_t claim_ns = clock.ns - mono.ns;
    int64_t off_ns = claim_ns - n->offer_ns;
    if (!n->offered || off_ns > HELD_WITHIN_S * NS_PER_S || off_ns < -HELD_WITHIN_S * NS_PER_S) {
        n->offered = true;
        n->offer_ns = claim_ns;
        n->offered_at = mono;
    }
    return mono.ns - n->offered_at.ns >= n->max_jump_ns;
}

static bool may_warn(struct engine_now *n, struct mono mono)
{
    if (n->warned && mono.ns - n->warned_at.ns < WARN_EVERY_S * NS_PER_S) {
        return false;
    }
    n->warned = true;
    n->warned_at = mono;
    return true;
}

static void say_behind(struct engine_now *n, struct mono mono)
{
    int64_t behind_ms = engine_now_behind_ms(n);
    if (behind_ms > 0 && !n->warned_behind && may_warn(n, mono)) {
        n->warned_behind = true;
        log_warn(
            "clock behind state", LOG_I64("behind_ms", behind_ms),
            LOG_Z("meaning",
                  behind_ms * NS_PER_MS <= BEHIND_MAX_NS
                      ? "the server clock runs at half speed until the system clock has caught up"
                      : "the server continues with its own time"));
    } else if (n->off_ns >= 0) {
        n->warned_behind = false;
    }
}

static void say_ahead(struct engine_now *n, struct mono mono)
{
    if (n->offered && !n->warned_ahead && may_warn(n, mono)) {
        n->warned_ahead = true;
        log_warn("clock jumped ahead", LOG_I64("ahead_ms", n->off_ns / NS_PER_MS),
                 LOG_I64("max_clock_jump_ms", n->max_jump_ns / NS_PER_MS),
                 LOG_Z("meaning",
                       "the server continues with its previous time until the system clock has "
                       "been stable for "
                       "max-clock-jump; \"corvo admin accept-clock\" accepts it at once"));
    } else if (!n->offered && n->warned_ahead) {
        n->warned_ahead = false;
        log_info("system clock and server time agree again",
                 LOG_I64("off_ms", n->off_ns / NS_PER_MS));
    }
}

/* The wall clock is ahead of the steady time: return the clock's time, or the steady time while
 * the clock is not trusted. */
static int64_t take_ahead(struct engine_now *n, struct wall clock, struct mono mono,
                          int64_t steady_ns)
{
    int64_t jump_ns = clock.ns - steady_ns;
    if (jump_ns > allowed_jump(n, steady_ns) && !has_held(n, clock, mono)) {
        return steady_ns;
    }
    if (jump_ns > n->max_jump_ns && steady_ns >= FIRST_REAL_NS) {
        n->leapt = true;
        n->leapt_at = mono;
    }
    n->offered = false;
    return clock.ns;
}

struct wall engine_now_next(struct engine_now *n, struct wall clock, struct mono mono,
                            struct wall state)
{
    int64_t steady_ns = steady_time(n, mono, state);
    int64_t now_ns;
    if (clock.ns >= steady_ns) {
        now_ns = take_ahead(n, clock, mono, steady_ns);
    } else {
        n->offered = false;
        int64_t waiting_ns = n->begun ? n->last.ns + (steady_ns - n->last.ns) / BEHIND_PACE : 0;
        waiting_ns = max_of(waiting_ns, max_of(n->last.ns, state.ns));
        now_ns = steady_ns - clock.ns > BEHIND_MAX_NS ? steady_ns : max_of(waiting_ns, clock.ns);
    }
    n->last.ns = now_ns;
    n->at = mono;
    n->begun = true;
    n->accepted = false;
    n->off_ns = clock.ns - now_ns;
    say_ahead(n, mono);
    say_behind(n, mono);
    return n->last;
}

void engine_now_accept(struct engine_now *n)
{
    n->accepted = true;
}

bool engine_now_is_settled(const struct engine_now *n, struct mono mono)
{
    return !n->leapt || mono.ns - n->leapt_at.ns >= n->max_jump_ns;
}

int64_t engine_now_ahead_ms(const struct engine_now *n)
{
    return n->offered ? n->off_ns / NS_PER_MS : 0;
}

int64_t engine_now_behind_ms(const struct engine_now *n)
{
    int64_t behind_ms = -n->off_ns / NS_PER_MS;
    return behind_ms >= BEHIND_WARN_MS ? behind_ms : 0;
}
