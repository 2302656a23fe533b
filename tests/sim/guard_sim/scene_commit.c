/*
 * Scenes about what a leader may count as committed.
 */
#include "sim/guard_sim/scene.h"

static bool has_entries(const struct raft_message *m)
{
    return m->type == RAFT_IO_APPEND_ENTRIES && m->append_entries.n_entries > 0;
}

/* ---- a longer log ---- */

/* Entries of node 2 reach only node 3. Heartbeats reach every node. */
static enum sim_fate entries_of_2_reach_3(struct sim *sim, unsigned from, unsigned to,
                                          const struct raft_message *m)
{
    (void)sim;
    return from == 2 && to != 3 && has_entries(m) ? SIM_LOST : SIM_SENT;
}

/* Node 0 leads and replicates four entries to node 1 only. Both are cut off. Node 2 wins the
 * election with 3 and 4. Its heartbeat reaches node 1, whose log is longer. Before node 1 answers,
 * node 2 has two new entries, which reach node 3. Counting node 1 as well makes three copies where
 * there are two. Then 2 and 3 are cut off, and the others continue without those entries. */
static bool longer_log(unsigned off, bool matches_unchecked)
{
    struct sim *sim = scene_new(&(struct sim_options){
        .voters = 5, .nodes = 5, .off = off, .matches_unchecked = matches_unchecked});
    raft_index last = sim_last_index(&sim->node[0]);
    sim_partition(sim, 0x03);
    for (unsigned i = 0; i < 4; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
    }
    reach(sim, scene_until_stored(sim, 1, last + 4));

    sim->fate = entries_of_2_reach_3;
    sim_partition(sim, 0x1e);
    reach(sim, sim_elect(sim, 2, SCENE_MS));
    for (unsigned i = 0; i < 2 && guard_ready(&sim->node[2].guard); i++) {
        reach(sim, sim_submit(sim, &sim->node[2], 8) != 0);
    }
    (void)sim_run(sim, 600);

    sim->fate = NULL;
    sim_partition(sim, 0x13);
    reach(sim, sim_elect(sim, 1, SCENE_MS));
    (void)sim_run(sim, 1000);
    return scene_end(sim, true);
}

bool scene_lost_write(unsigned off)
{
    return longer_log(off, true);
}

bool scene_longer_log(unsigned off)
{
    return longer_log(off, false);
}

/* ---- entries of older terms ---- */

/* Until node 0 leads again, only the entries of node 4 are lost. After that, the entries of node
 * 0's new term are lost. */
static enum sim_fate entries_of_new_terms_are_lost(struct sim *sim, unsigned from, unsigned to,
                                                   const struct raft_message *m)
{
    const raft_term *old_term = sim->data;
    (void)to;
    if (!has_entries(m) || (from != 0 && from != 4)) {
        return SIM_SENT;
    }
    unsigned last = m->append_entries.n_entries - 1;
    return m->append_entries.entries[last].term > *old_term ? SIM_LOST : SIM_SENT;
}

/* Figure 8 of the Raft paper. Node 0 replicates an entry to node 1. Node 4 wins a term and has
 * another entry at the same index. Node 0 wins a third term and replicates the old entry to node 2.
 * Now three of five nodes have it, but node 4 can still win with 2 and 3 and overwrite it. */
static bool figure_8(unsigned off, unsigned disk_ms)
{
    struct sim *sim = scene_new(&(struct sim_options){
        .voters = 5, .nodes = 5, .off = off, .chunk_bytes = 1, .matches_unchecked = true});
    raft_term term = sim->node[0].raft->current_term;
    raft_index index = sim_last_index(&sim->node[0]) + 1;
    sim->fate = entries_of_new_terms_are_lost;
    sim->data = &term;
    sim_partition(sim, 0x03);
    reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
    reach(sim, scene_until_stored(sim, 1, index));

    sim_partition(sim, 0x1c);
    reach(sim, sim_elect(sim, 4, SCENE_MS));
    if (guard_ready(&sim->node[4].guard)) {
        reach(sim, sim_submit(sim, &sim->node[4], 8) != 0);
    }
    reach(sim, scene_until_stored(sim, 4, index));

    sim_partition(sim, 0x07);
    sim->node[0].disk_ms = disk_ms;
    reach(sim, sim_elect(sim, 0, SCENE_MS));
    reach(sim, scene_until_stored(sim, 2, index));
    (void)sim_run(sim, 600);

    sim->fate = NULL;
    sim_partition(sim, 0x1c);
    reach(sim, sim_elect(sim, 4, SCENE_MS));
    (void)sim_run(sim, 3000);
    return scene_end(sim, true);
}

bool scene_older_term(unsigned off)
{
    return figure_8(off, 10);
}

/* The same, but the entry of the new term is not yet on the leader's own disk when the answers
 * arrive. */
bool scene_slow_leader_disk(unsigned off)
{
    return figure_8(off, 60 * 1000);
}

static bool is_acked(struct sim *sim, void *arg)
{
    const uint64_t *value = arg;
    return sim_is_acked(sim, *value);
}

/* The new leader has an acknowledged entry in its log, but does not know yet that it is committed.
 * A read or write now would use an old state. */
bool scene_ready_after_barrier(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    uint64_t value = sim_submit(sim, &sim->node[0], 8);
    reach(sim, sim_until(sim, is_acked, &value, SCENE_MS));
    sim_partition(sim, 0x06);
    reach(sim, sim_elect(sim, 1, SCENE_MS));
    bool at_once = guard_ready(&sim->node[1].guard);
    reach(sim, sim_until_leader(sim, SCENE_MS));
    (void)sim_run(sim, 1000);
    return scene_end(sim, !at_once && guard_ready(&sim->node[1].guard));
}

/* ---- late answers ---- */

static enum sim_fate entries_of_2_miss_1(struct sim *sim, unsigned from, unsigned to,
                                         const struct raft_message *m)
{
    (void)sim;
    return from == 2 && to == 1 && has_entries(m) ? SIM_LOST : SIM_SENT;
}

/* Node 1 is writing an entry of the old leader when the first message of the new leader arrives. */
bool scene_late_answer(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 5, .nodes = 5, .off = off});
    raft_index index = sim_last_index(&sim->node[0]) + 1;
    sim->node[1].disk_ms = 3000;
    sim_partition(sim, 0x03);
    reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
    reach(sim, sim_run(sim, 100));
    reach(sim, sim_last_index(&sim->node[1]) == index && sim->node[1].writes == 1);

    sim->fate = entries_of_2_miss_1;
    sim_partition(sim, 0x1e);
    reach(sim, sim_elect(sim, 2, SCENE_MS));
    reach(sim, sim->node[1].writes == 1);
    (void)sim_run(sim, 4000);
    reach(sim, sim->node[1].writes == 0);
    return scene_end(sim, true);
}
