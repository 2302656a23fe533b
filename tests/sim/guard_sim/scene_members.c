/*
 * Scenes about memberships that are not committed, or that another membership has replaced.
 */
#include "sim/guard_sim/scene.h"

static void ignore_change(struct raft_change *change, int status)
{
    (void)change;
    (void)status;
}

/* Node 0, which leads, adds node 3. */
static void add_newcomer(struct sim *sim, struct sim_node *n)
{
    reach(sim, raft_add(n->raft, &n->change, 4, "4", ignore_change) == 0);
}

static unsigned member_count(const struct sim_node *n)
{
    return n->raft->configuration.n;
}

/* The leader applies an entry while the membership after it is being written to the disk. */
bool scene_undecided_snapshot(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 4, .off = off});
    struct sim_node *n = &sim->node[0];
    raft_set_snapshot_threshold(n->raft, 1);
    reach(sim, sim_submit(sim, n, 8) != 0);
    n->disk_ms = 3000;
    add_newcomer(sim, n);
    (void)sim_run(sim, 1000);
    reach(sim, n->raft->configuration_uncommitted_index != 0);
    bool early = n->disk.has_snapshot && n->disk.snapshot.configuration.n == 4;
    n->disk_ms = 10;
    (void)sim_run(sim, 4000);
    reach(sim, n->raft->configuration_uncommitted_index == 0);
    bool later = n->disk.has_snapshot && n->disk.snapshot.configuration.n == 4;
    return scene_end(sim, !early && later);
}

static enum sim_fate entries_of_1_miss_0(struct sim *sim, unsigned from, unsigned to,
                                         const struct raft_message *m)
{
    (void)sim;
    bool has_entries = m->type == RAFT_IO_APPEND_ENTRIES && m->append_entries.n_entries > 0;
    return from == 1 && to == 0 && has_entries ? SIM_LOST : SIM_SENT;
}

/* After a restart, raft assumes that the last membership in its log is committed. */
bool scene_undecided_snapshot_after_restart(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 4, .off = off});
    struct sim_node *n = &sim->node[0];
    raft_index index = sim_last_index(n) + 1;
    sim_partition(sim, 0x06);
    add_newcomer(sim, n);
    reach(sim, scene_until_stored(sim, 0, index));
    sim_crash(sim, n, 0);
    reach(sim, sim_run(sim, 100)); /* so that no message about it is left in the network */
    sim->options.snapshot_threshold = 1;
    sim_restart(sim, n);
    sim_heal(sim);
    sim->fate = entries_of_1_miss_0;
    reach(sim, sim_elect(sim, 1, SCENE_MS));
    (void)sim_run(sim, 500);
    reach(sim, n->raft->last_applied == index - 1);
    bool early = n->disk.has_snapshot && n->disk.snapshot.configuration.n == 4;
    sim->fate = NULL;
    (void)sim_run(sim, 3000);
    return scene_end(sim, !early && member_count(n) == 3);
}

/* Only node 0 has the new member in its log. Node 0 is cut off, and node 1 overwrites that entry.
 */
static struct sim *overruled(const struct sim_options *options, bool restarts)
{
    struct sim *sim = scene_new(options);
    struct sim_node *n = &sim->node[0];
    raft_index index = sim_last_index(n) + 1;
    sim_partition(sim, 0x06);
    add_newcomer(sim, n);
    reach(sim, scene_until_stored(sim, 0, index));
    if (restarts) {
        sim_crash(sim, n, 0);
        sim_restart(sim, n);
    }
    reach(sim, sim_elect(sim, 1, SCENE_MS));
    reach(sim, sim_until_leader(sim, SCENE_MS));
    for (unsigned i = 0; i < 10; i++) {
        reach(sim, sim_submit(sim, &sim->node[1], 8) != 0);
        reach(sim, scene_until_applied(sim, 1, sim_last_index(&sim->node[1])));
    }
    sim_heal(sim);
    (void)sim_run(sim, 3000);
    return sim;
}

static bool has_caught_up(const struct sim *sim)
{
    return sim->node[0].raft->last_applied == sim->node[1].raft->last_applied;
}

/* Raft rolls back to the previous membership, whose entry is no longer in the log. */
bool scene_member_cut(unsigned off)
{
    const struct sim_options options = {.voters = 3, .nodes = 4, .off = off, .compacted = true};
    struct sim *sim = overruled(&options, false);
    return scene_end(sim, has_caught_up(sim) && member_count(&sim->node[0]) == 3 &&
                              sim->count.member_cuts == 1);
}

/* Raft does not know that it must roll back a membership. */
bool scene_member_cut_after_restart(unsigned off)
{
    const struct sim_options options = {.voters = 3, .nodes = 4, .off = off};
    struct sim *sim = overruled(&options, true);
    return scene_end(sim, has_caught_up(sim) && member_count(&sim->node[0]) == 3);
}

/* Raft still refers to an uncommitted membership of a log that it has dropped. */
bool scene_member_replaced_by_snapshot(unsigned off)
{
    const struct sim_options options = {
        .voters = 3, .nodes = 4, .off = off, .compacted = true, .snapshot_threshold = 3};
    struct sim *sim = overruled(&options, false);
    const struct raft *r = sim->node[0].raft;
    reach(sim, sim->count.installs == 1);
    return scene_end(sim, has_caught_up(sim) && r->configuration.n == 3 &&
                              r->configuration_uncommitted_index == 0);
}
