/*
 * Scene: a short script that demonstrates one defect of libraft, or its absence.
 *
 * A scene receives the guard rules that are off and returns whether all invariants held. It must
 * reach its critical point in both cases. The conditions on the way are checked with reach(), which
 * stops the process if the script itself is wrong. Nodes are numbered from 0, as in struct sim.
 */
#pragma once

#include <stdio.h>

#include "base/check.h"
#include "lib/sim.h"

typedef bool (*scene_fn)(unsigned off);

#define OFF(rule) (1U << (rule))

enum { SCENE_MS = 10 * 1000 };

/* Check that the script has reached this point. A violation on the way is also a valid result. */
static inline void reach(const struct sim *sim, bool reached)
{
    CHECK(reached || sim->violation[0] != '\0');
}

/* End a scene and return whether it holds. */
static inline bool scene_end(struct sim *sim, bool holds)
{
    if (sim->violation[0] != '\0') {
        (void)fprintf(stderr, "    %s\n", sim->violation);
        return false; /* after a violation raft's memory may be damaged */
    }
    sim_free(sim);
    return holds;
}

/* A simulation in which node 0 leads and accepts writes, and all nodes have the same entries. */
struct sim *scene_new(const struct sim_options *options);

/* Step until the entry is on the node's disk, or until the node has applied it. */
bool scene_until_stored(struct sim *sim, unsigned node, raft_index index);
bool scene_until_applied(struct sim *sim, unsigned node, raft_index index);

/* what counts as committed */
bool scene_lost_write(unsigned off);
bool scene_longer_log(unsigned off);
bool scene_older_term(unsigned off);
bool scene_slow_leader_disk(unsigned off);
bool scene_late_answer(unsigned off);
bool scene_ready_after_barrier(unsigned off);

/* storing */
bool scene_election_while_writing(unsigned off);
bool scene_timeout_now_while_writing(unsigned off);
bool scene_install_while_writing(unsigned off);
bool scene_answer_to_nobody(unsigned off);
bool scene_failed_write(unsigned off);
bool scene_failed_write_of_leader(unsigned off);
bool scene_install_over_younger_entry(unsigned off);
bool scene_compacted_follower(unsigned off);

/* membership */
bool scene_undecided_snapshot(unsigned off);
bool scene_undecided_snapshot_after_restart(unsigned off);
bool scene_member_cut(unsigned off);
bool scene_member_cut_after_restart(unsigned off);
bool scene_member_replaced_by_snapshot(unsigned off);

/* sending */
bool scene_stalled_peer(unsigned off);
bool scene_long_probe(unsigned off);
bool scene_long_stream(unsigned off);

/* memory */
bool scene_shared_memory(unsigned off);
bool scene_long_log(unsigned off);

/* groups of one, and elections */
bool scene_same_term_again(unsigned off);
bool scene_promoted_without_knowing(unsigned off);
bool scene_old_term_and_best_log(unsigned off);

/* votes and transfers */
bool scene_second_vote(unsigned off);
bool scene_transfer_to_a_slow_target(unsigned off);
bool scene_transfer_is_given_up(unsigned off);
