/*
 * Scenes about long messages and peers that do not read them.
 */
#include "sim/guard_sim/scene.h"

enum { QUEUE_LIMIT = 4000, STALLED_MAX = 2 * QUEUE_LIMIT, CHUNK_LIMIT = 2000, VALUE_BYTES = 400 };

/* The messages that node 2 was sent, or that wait for it. */
struct watched {
    uint64_t stalled_bytes;
    uint64_t largest_bytes;
    bool has_accepted;
    unsigned refusals; /* after the first success */
};

static uint64_t entries_bytes(const struct raft_message *m)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < m->append_entries.n_entries; i++) {
        bytes += m->append_entries.entries[i].buf.len;
    }
    return bytes;
}

static enum sim_fate stalls(struct sim *sim, unsigned from, unsigned to,
                            const struct raft_message *m)
{
    struct watched *w = sim->data;
    if (from != 0 || to != 2 || m->type != RAFT_IO_APPEND_ENTRIES) {
        return SIM_SENT;
    }
    w->stalled_bytes += entries_bytes(m);
    return SIM_STALLED;
}

bool scene_stalled_peer(unsigned off)
{
    struct watched w = {0};
    struct sim *sim = scene_new(
        &(struct sim_options){.voters = 3, .nodes = 3, .off = off, .queue_bytes = QUEUE_LIMIT});
    sim->fate = stalls;
    sim->data = &w;
    for (unsigned i = 0; i < 100; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], VALUE_BYTES) != 0);
        (void)sim_run(sim, 20);
    }
    (void)sim_run(sim, 200);
    reach(sim, sim->count.acked > 100); /* node 1 is enough for a majority */
    return scene_end(sim, w.stalled_bytes <= STALLED_MAX);
}

static enum sim_fate measures(struct sim *sim, unsigned from, unsigned to,
                              const struct raft_message *m)
{
    struct watched *w = sim->data;
    if (to == 2 && m->type == RAFT_IO_APPEND_ENTRIES && w->largest_bytes < entries_bytes(m)) {
        w->largest_bytes = entries_bytes(m);
    }
    if (from == 2 && m->type == RAFT_IO_APPEND_ENTRIES_RESULT) {
        bool refuses = m->append_entries_result.rejected != 0;
        w->has_accepted = w->has_accepted || !refuses;
        w->refusals += refuses && w->has_accepted;
    }
    return SIM_SENT;
}

/* Node 2 was down while 100 entries were written. */
static struct sim *catching_up(unsigned off, struct watched *w)
{
    struct sim *sim = scene_new(
        &(struct sim_options){.voters = 3, .nodes = 3, .off = off, .chunk_bytes = CHUNK_LIMIT});
    sim_crash(sim, &sim->node[2], 0);
    for (unsigned i = 0; i < 100; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], VALUE_BYTES) != 0);
    }
    reach(sim, scene_until_applied(sim, 0, sim_last_index(&sim->node[0])));
    sim->fate = measures;
    sim->data = w;
    sim_restart(sim, &sim->node[2]);
    return sim;
}

bool scene_long_probe(unsigned off)
{
    struct watched w = {0};
    struct sim *sim = catching_up(off, &w);
    reach(sim, scene_until_applied(sim, 2, sim_last_index(&sim->node[0])));
    return scene_end(sim, w.largest_bytes <= CHUNK_LIMIT);
}

/* More entries are written meanwhile. They must be sent after the pieces, or node 2 refuses them.
 */
bool scene_long_stream(unsigned off)
{
    struct watched w = {0};
    struct sim *sim = catching_up(off, &w);
    sim->node[0].send_ms = 7;
    for (unsigned i = 0; i < 100; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], VALUE_BYTES) != 0);
        (void)sim_run(sim, 5);
    }
    reach(sim, scene_until_applied(sim, 2, sim_last_index(&sim->node[0])));
    return scene_end(sim, w.largest_bytes <= CHUNK_LIMIT && w.refusals == 0);
}
