/*
 * Engine_now: the time that a leader puts into entries and compares due times with.
 *
 * It follows the system clock as long as that is plausible. It never goes back, because the time of
 * the state does not.
 *
 * - If the clock jumps ahead of the monotonic clock by more than max_jump, the jump is ignored and
 *   time follows the monotonic clock. The jump is accepted after the clock has kept it for
 *   max_jump, or when an operator confirms it. Otherwise a clock that is wrong for a minute would
 *   purge, expire and start jobs that are due in years, and that cannot be undone.
 * - At start there is no monotonic clock to compare with, and the machine may have been off for
 *   days. The clock is then accepted if it is at most a month ahead of the state.
 * - If the clock is set back, or the state has a time that the clock has not reached, time runs at
 *   half speed until the clock has caught up. If it stopped instead, leases would not end and
 *   retries would not start. If more than a day is missing, this would take too long, and time runs
 *   at normal speed from where it is.
 *
 * After a jump beyond max_jump is accepted, nothing may be purged for the same length of time
 * (engine_now_is_settled).
 *
 * A plain value without a lock, for the core thread.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"

struct engine_now {
    int64_t max_jump_ns; /* set by the owner; 0: accept every time */
    /* private */
    struct wall last; /* last time returned… */
    struct mono at;   /* …and when */
    bool begun;
    /* a system time that is not accepted */
    bool offered;
    int64_t offer_ns; /* system clock minus monotonic clock */
    struct mono offered_at;
    bool accepted; /* by an operator: the next time of the clock */
    /* the last accepted jump */
    bool leapt;
    struct mono leapt_at;
    /* log lines, at most one a minute */
    bool warned_ahead, warned_behind, warned;
    struct mono warned_at;
    int64_t off_ns; /* system clock minus the last time returned */
};

/* Compute the time from both clocks and the time of the state. mono must continue while the machine
 * is suspended. */
struct wall engine_now_next(struct engine_now *n, struct wall clock, struct mono mono,
                            struct wall state);

/* An operator accepts the system clock. */
void engine_now_accept(struct engine_now *n);

/* Has the last jump been accepted for at least max_jump? */
bool engine_now_is_settled(const struct engine_now *n, struct mono mono);

/* How far the system clock is ahead of the last time returned because it is not accepted, or 0; and
 * how far it is behind, or 0 if that is negligible. */
int64_t engine_now_ahead_ms(const struct engine_now *n);
int64_t engine_now_behind_ms(const struct engine_now *n);
