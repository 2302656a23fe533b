/*
 * Tell: followers hear of a new commit index at once.
 *
 * libraft tells them with the next entries, or with the next heartbeat; without further entries a
 * follower applies, and tells its clients of, what was acknowledged up to two heartbeats ago. So
 * when nothing more is under way, each member that has the last entry is sent an append without
 * entries, as a heartbeat is. While entries follow one another, nothing is sent: they tell it.
 *
 * Belongs to the thread of the loop.
 */
#pragma once

#include <raft.h>

enum { TELL_MEMBERS_MAX = 16 }; /* others are told by heartbeats */

struct tell {
    struct raft *raft;
    struct {
        raft_id id;
        raft_index index; /* the last one told */
    } members[TELL_MEMBERS_MAX];
};

void tell_init(struct tell *t, struct raft *raft);

/* After each event of a node that leads: everything that is committed is of its own term. */
void tell_look(struct tell *t);
