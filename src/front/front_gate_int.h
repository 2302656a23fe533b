/*
 * Front_gate_int: shared by the gate and the requests that use it.
 */
#pragma once

#include <stddef.h>

#include "engine/engine_leader.h"
#include "front/front_gate.h"
#include "relay/relay.h"

struct front_forward;
struct front_told;

struct front_gate {
    struct front_shared *shared;
    uv_loop_t *loop;
    struct relay *relay;
    struct engine_leader leader;
    uint64_t leaderless_ms; /* since when there is no leader; 0: there is one */

    /* requests (front_forward.c) */
    uv_timer_t timer;
    bool ticking;
    struct front_forward *first;
    size_t waiting, stopping, limited; /* limited: those with a deadline */
    uint64_t warned_ms;                /* when a failure was last logged */

    /* messages */
    struct front_told *told;
    size_t told_count;
};

/* Find the current leader. Its id is 0 if there is none, or none that can be reached. */
void front_gate__look(struct front_gate *g);
