#include "sim/guard_sim/scene.h"

struct where {
    unsigned node;
    raft_index index;
};

static bool is_stored(struct sim *sim, void *arg)
{
    const struct where *w = arg;
    return sim_disk_term_at(&sim->node[w->node].disk, w->index) != 0;
}

bool scene_until_stored(struct sim *sim, unsigned node, raft_index index)
{
    struct where w = {.node = node, .index = index};
    return sim_until(sim, is_stored, &w, SCENE_MS);
}

static bool is_applied(struct sim *sim, void *arg)
{
    const struct where *w = arg;
    return sim->node[w->node].raft->last_applied >= w->index;
}

bool scene_until_applied(struct sim *sim, unsigned node, raft_index index)
{
    struct where w = {.node = node, .index = index};
    return sim_until(sim, is_applied, &w, SCENE_MS);
}

struct sim *scene_new(const struct sim_options *options)
{
    struct sim *sim = sim_new(options);
    reach(sim, sim_elect(sim, 0, SCENE_MS));
    reach(sim, sim_until_leader(sim, SCENE_MS));
    reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
    for (unsigned i = 0; i < options->voters; i++) {
        reach(sim, scene_until_applied(sim, i, sim_last_index(&sim->node[0])));
    }
    return sim;
}
