/*
 * Scenes about votes and the transfer of leadership.
 */
#include "sim/guard_sim/scene.h"

static enum sim_fate timeout_now_is_lost(struct sim *sim, unsigned from, unsigned to,
                                         const struct raft_message *m)
{
    (void)sim;
    (void)from;
    (void)to;
    return m->type == RAFT_IO_TIMEOUT_NOW ? SIM_LOST : SIM_SENT;
}

static void ask_for_vote(struct sim *sim, struct sim_node *of, unsigned candidate, raft_term term)
{
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};
    m.request_vote.term = term;
    m.request_vote.candidate_id = candidate + 1;
    m.request_vote.last_log_index = sim_last_index(of);
    m.request_vote.last_log_term = sim_term_at(of, sim_last_index(of));
    m.request_vote.disrupt_leader = true;
    sim_deliver(of, &sim->node[candidate], &m);
}

/* Node 0 is transferring leadership to node 1 when it votes for node 2. Raft would vote for node 1,
 * too. */
bool scene_second_vote(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 5, .nodes = 5, .off = off});
    struct sim_node *n = &sim->node[0];
    struct err err;
    sim->fate = timeout_now_is_lost;
    reach(sim, transfer_start(&n->transfer, 2, &err) == ERR_OK);
    reach(sim, sim_run(sim, 200));
    reach(sim, n->raft->transfer != NULL);
    raft_term term = n->raft->current_term + 1;
    sim_partition(sim, 0);
    ask_for_vote(sim, n, 2, term);
    reach(sim, n->raft->voted_for == 3);
    ask_for_vote(sim, n, 1, term);
    return scene_end(sim, n->raft->voted_for == 3);
}

static void ignore_transfer(struct raft_transfer *request)
{
    (void)request;
}

static bool leads_1(struct sim *sim, void *arg)
{
    (void)arg;
    return sim_leader(sim) == &sim->node[1];
}

/* The target has received everything and is still writing. libraft sends it TimeoutNow at once,
 * without effect. transfer.c sends the next one after the target has confirmed the entries. */
bool scene_transfer_to_a_slow_target(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *n = &sim->node[0];
    struct raft_transfer request = {0};
    struct err err;
    sim->node[1].disk_ms = 300;
    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, raft_transfer(n->raft, &request, 2, ignore_transfer) == 0);
    reach(sim, sim_run(sim, 2000));
    reach(sim, n->raft->transfer == NULL && guard_ready(&n->guard));

    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, transfer_start(&n->transfer, 2, &err) == ERR_OK);
    reach(sim, sim_until(sim, leads_1, NULL, SCENE_MS));
    return scene_end(sim, sim->count.transfers == 1 && !transfer_is_on(&n->transfer));
}

static bool is_over(struct sim *sim, void *arg)
{
    (void)arg;
    return !transfer_is_on(&sim->node[0].transfer);
}

bool scene_transfer_is_given_up(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *n = &sim->node[0];
    struct err err;
    sim->fate = timeout_now_is_lost;
    reach(sim, transfer_start(&n->transfer, 9, &err) == ERR_NOT_FOUND);
    reach(sim, transfer_start(&n->transfer, 1, &err) == ERR_NOT_FOUND);
    reach(sim, transfer_start(&n->transfer, 2, &err) == ERR_OK);
    reach(sim, transfer_start(&n->transfer, 3, &err) == ERR_CONFLICT);
    reach(sim, sim_until(sim, is_over, NULL, SCENE_MS));
    bool still_leads = guard_ready(&n->guard) && sim_submit(sim, n, 8) != 0;
    return scene_end(sim, still_leads && sim->count.transfers == 0 &&
                              n->transfer.tries == TRANSFER_TRIES_MAX);
}
