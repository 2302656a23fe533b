/*
 * Scenes about groups that begin with one voter, and about elections that no node could win.
 */
#include "sim/guard_sim/scene.h"

static void ignore_change(struct raft_change *change, int status)
{
    (void)change;
    (void)status;
}

/* Node 0 is the only voter. Node 1 is a standby and has all entries. */
static struct sim *one_and_standby(unsigned off)
{
    struct sim *sim = sim_new(&(struct sim_options){.voters = 1, .nodes = 2, .off = off});
    struct sim_node *n = &sim->node[0];
    reach(sim, sim_until_leader(sim, SCENE_MS));
    reach(sim, raft_add(n->raft, &n->change, 2, "2", ignore_change) == 0);
    reach(sim, scene_until_applied(sim, 0, sim_last_index(n)));
    reach(sim, raft_assign(n->raft, &n->change, 2, RAFT_STANDBY, ignore_change) == 0);
    reach(sim, scene_until_applied(sim, 0, sim_last_index(n)));
    reach(sim, scene_until_applied(sim, 1, sim_last_index(n)));
    reach(sim, sim_run(sim, 200)); /* so that node 0 has the confirmation */
    return sim;
}

/* Two entries reach the standby but not the voter's own disk. After a restart, the voter writes
 * other entries at their indexes. In the same term, the difference would not be detected. */
bool scene_same_term_again(unsigned off)
{
    struct sim *sim = one_and_standby(off);
    struct sim_node *n = &sim->node[0];
    n->disk_ms = 3000;
    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, scene_until_stored(sim, 1, sim_last_index(n)));
    sim_crash(sim, n, 0);
    n->disk_ms = 10;
    sim_restart(sim, n);
    reach(sim, sim_until_leader(sim, SCENE_MS));
    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, sim_submit(sim, n, 8) != 0);
    (void)sim_run(sim, 2000);
    return scene_end(sim, n->raft->last_applied == sim->node[1].raft->last_applied);
}

/* The voter promotes the standby and crashes before the standby learns of it. */
bool scene_promoted_without_knowing(unsigned off)
{
    struct sim *sim = one_and_standby(off);
    struct sim_node *n = &sim->node[0];
    raft_index index = sim_last_index(n) + 1;
    sim_partition(sim, 0);
    reach(sim, raft_assign(n->raft, &n->change, 2, RAFT_VOTER, ignore_change) == 0);
    reach(sim, scene_until_stored(sim, 0, index));
    sim_crash(sim, n, 0);
    reach(sim, sim_run(sim, 100));
    sim_restart(sim, n);
    sim_heal(sim);
    bool leads = sim_until_leader(sim, SCENE_MS);
    return scene_end(sim, leads);
}

/* Node 0 has the longest log but an old term. Node 1 has a newer term but lacks entries. Node 2 is
 * down. Each refuses to vote for the other, and with pre-vote no term increases. */
bool scene_old_term_and_best_log(unsigned off)
{
    struct sim *sim =
        scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off, .pre_vote = true});
    struct sim_node *n = &sim->node[0];
    raft_index index = sim_last_index(n) + 1;
    sim_partition(sim, 0);
    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, scene_until_stored(sim, 0, index));
    sim_crash(sim, &sim->node[2], 0);
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};
    m.request_vote.term = n->raft->current_term + 5;
    m.request_vote.candidate_id = 3;
    m.request_vote.disrupt_leader = true;
    sim_deliver(&sim->node[1], &sim->node[2], &m);
    reach(sim, sim->node[1].raft->current_term == n->raft->current_term + 5);
    reach(sim, sim_run(sim, 3000));
    sim_heal(sim);
    sim_election_timeout(sim, 0, 1000);
    sim_election_timeout(sim, 1, 1300);
    bool leads = sim_until_leader(sim, SCENE_MS);
    return scene_end(sim, leads);
}
