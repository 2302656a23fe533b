/*
 * Rpc_pace: when a lifecycle stream may begin its next frame (rpc.md 11.2, steps 1, 2 and 11).
 *
 *   start ----- 1/fps -----> [strike delay] --> next frame      if answered earlier
 *   start ------------- answer --> [strike delay] --> next frame
 *
 * Pure: the caller passes the time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* All zeros until the first frame, except what the owner sets. */
struct rpc_pace {
    /* set by the owner */
    uint32_t fps_max;  /* frames per second; 0: no limit */
    int64_t strike_ms; /* delay per strike, up to half a second in total */
    /* result */
    unsigned strikes; /* consecutive frames that failed */
    /* private */
    struct mono started, answered; /* the previous frame */
};

void rpc_pace__begin(struct rpc_pace *p, struct mono now);                  /* a frame begins */
void rpc_pace__answer(struct rpc_pace *p, struct mono now, bool is_strike); /* it was answered */

/* The earliest time at which the next frame may begin. */
struct mono rpc_pace__earliest(const struct rpc_pace *p);
