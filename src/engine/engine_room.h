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

#include "cluster/node_members.h"
#include "engine/engine_space.h"
#include "engine/engine_told.h"

enum {
    ENGINE_ROOM_FRESH_MS = 5000, /* what a member told longer ago no longer counts */
    ENGINE_ROOM_AGAIN_MS = 5000, /* between two attempts */
};

/* A node reported its level; a number that this version does not know allows less. */
void engine_room_heard(struct engine_told *t, uint64_t id, uint8_t level, int64_t now_ms);

/* The id of the member that should lead instead of this node, which leads at the level `own`. 0:
 * none. */
uint64_t engine_room_choose(const struct engine_told *t, const struct node_member *members,
                            size_t count, enum engine_space_level own, int64_t now_ms);
