/*
 * Tell: sends a new commit index to the followers at once.
 *
 * libraft sends it with the next entries or the next heartbeat. Without further entries, a follower
 * therefore applies an acknowledged entry up to two heartbeats late. So when no entry is in
 * progress, each member that has the last entry is sent an append without entries, like a
 * heartbeat. While there are further entries, nothing is sent: they carry the commit index.
 *
 * Belongs to the thread of the loop.
 */
#pragma once

#include <raft.h>

enum { TELL_MEMBERS_MAX = 16 }; /* further members get it with heartbeats */

struct tell {
    struct raft *raft;
    struct {
        raft_id id;
        raft_index index; /* the last commit index sent */
    } members[TELL_MEMBERS_MAX];
};

void tell_init(struct tell *t, struct raft *raft);

/* Call after each event while guard_ready is true: then the last committed entry is of the current
 * term. */
void tell_look(struct tell *t);
