/*
 * Engine_now: the time that a leader puts into entries and compares due times with.
 *
 * It is the system's clock as long as that can be believed, and never goes back, because the
 * state's time does not.
 *
 * - A clock that leaps ahead by more than max_jump of what the monotonic clock says is not
 * believed: time goes on by the monotonic clock. It is believed once it has claimed the same for
 * max_jump, or when an operator says so. Otherwise a minute with a wrong clock would purge, expire
 * and start what is due in years, and nothing brings that back.
 * - At a start there is no monotonic clock to compare with, and a machine may have been off for
 *   days: then a month more than the state has is believed.
 * - When the clock is set back, or the state comes from a time that the clock has not reached, time
 *   goes on at half the pace until the clock has caught up. If it stood still instead, leases would
 *   not end and retries not come. When more than a day is missing that would last too long: time
 *   goes on at the usual pace then, as far ahead as it is.
 *
 * Whatever was believed beyond max_jump, nothing is to be purged for as long after it
 * (engine_now_is_settled).
 *
 * A value without a lock; for the core thread.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"

struct engine_now {
    int64_t max_jump_ns; /* set by the owner; 0: every clock is believed */
    /* private */
    struct wall last; /* given out */
    struct mono at;   /* when */
    bool begun;
    /* a time that is claimed and not believed */
    bool offered;
    int64_t offer_ns; /* the clock less the monotonic one */
    struct mono offered_at;
    bool accepted; /* by an operator: what the clock says next */
    /* the last one that was */
    bool leapt;
    struct mono leapt_at;
    /* what is said in the log, once a minute at most */
    bool warned_ahead, warned_behind, warned;
    struct mono warned_at;
    int64_t off_ns; /* the clock less what was given out last */
};

/* The time, from what the clocks say and what time the state has. mono goes on while the machine
 * sleeps. */
struct wall engine_now_next(struct engine_now *n, struct wall clock, struct mono mono,
                            struct wall state);

/* An operator says that the clock is right. */
void engine_now_accept(struct engine_now *n);

/* Whether there was no leap for max_jump. */
bool engine_now_is_settled(const struct engine_now *n, struct mono mono);

/* How far the clock is ahead of the time that was given out last, because it is not believed; 0
 * when it is. And how far behind, when that is more than a moment. */
int64_t engine_now_ahead_ms(const struct engine_now *n);
int64_t engine_now_behind_ms(const struct engine_now *n);
