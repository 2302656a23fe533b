/*
 * Engine_room: which other node should lead, because it has disk space and this one has not. A part
 * of engine.h.
 *
 * Every node repeatedly tells the others what its disk space allows (engine_space.h). A leader
 * whose disk is nearly full would refuse new jobs, though other members could accept them, so it
 * hands leadership over. A target must allow more than the leader does: then leadership cannot go
 * back and forth while all disks fill up.
 *
 * Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "cluster/node_members.h"
#include "engine/engine_space.h"

enum {
    ENGINE_ROOM_FRESH_MS = 5000, /* what a member told longer ago no longer counts */
    ENGINE_ROOM_AGAIN_MS = 5000, /* between two attempts */
};

struct engine_room {
    struct {
        uint64_t id;
        uint8_t level; /* enum engine_space_level, or a number of a later version: allows less */
        int64_t at_ms;
    } told[LIMIT_NODES];
    size_t count;
};

/* A node reported its level. */
void engine_room_heard(struct engine_room *r, uint64_t id, uint8_t level, int64_t now_ms);

/* The id of the member that should lead instead of this node, which leads at the level `own`. 0:
 * none. */
uint64_t engine_room_choose(const struct engine_room *r, const struct node_member *members,
                            size_t count, enum engine_space_level own, int64_t now_ms);
