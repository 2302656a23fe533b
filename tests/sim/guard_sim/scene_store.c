/*
 * Scenes about entries and snapshots that are not stored yet, or whose writes fail.
 */
#include <string.h>

#include "sim/guard_sim/scene.h"

static void ignore_change(struct raft_change *change, int status)
{
    (void)change;
    (void)status;
}

/* Node 0 leads, and writes of node 1 take long. */
static struct sim *slow_writer(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 4, .off = off});
    sim->node[1].disk_ms = 3000;
    return sim;
}

static struct sim *writing(unsigned off)
{
    struct sim *sim = slow_writer(off);
    reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
    reach(sim, sim_run(sim, 100));
    reach(sim, sim->node[1].writes == 1);
    return sim;
}

/* Raft adopts a membership when its entry has been written, unless it is a candidate by then. It
 * could become a leader that does not know a membership in its own log. */
bool scene_election_while_writing(unsigned off)
{
    struct sim *sim = slow_writer(off);
    struct sim_node *n = &sim->node[1];
    raft_index index = sim_last_index(&sim->node[0]) + 1;
    reach(sim, raft_add(sim->node[0].raft, &sim->node[0].change, 4, "4", ignore_change) == 0);
    reach(sim, scene_until_stored(sim, 2, index));
    reach(sim, n->writes == 1);
    sim_partition(sim, 0x0e);
    reach(sim, sim_elect(sim, 1, SCENE_MS));
    (void)sim_run(sim, 4000);
    return scene_end(sim, n->raft->configuration.n == 4);
}

bool scene_timeout_now_while_writing(unsigned off)
{
    struct sim *sim = writing(off);
    struct sim_node *n = &sim->node[1];
    struct raft_message m = {.type = RAFT_IO_TIMEOUT_NOW};
    m.timeout_now.term = n->raft->current_term;
    m.timeout_now.last_log_index = sim_last_index(n);
    m.timeout_now.last_log_term = sim_term_at(n, sim_last_index(n));
    sim_deliver(n, &sim->node[0], &m);
    return scene_end(sim, n->raft->state == RAFT_FOLLOWER);
}

/* A snapshot with this last entry and its value. */
static struct raft_message snapshot_of(struct sim *sim, raft_term term, raft_index index,
                                       raft_term index_term, uint64_t value)
{
    struct raft_message m = {.type = RAFT_IO_INSTALL_SNAPSHOT};
    struct raft_install_snapshot *s = &m.install_snapshot;
    s->term = term;
    s->last_index = index;
    s->last_term = index_term;
    s->conf_index = 1;
    raft_configuration_init(&s->conf);
    for (unsigned i = 0; i < sim->options.voters; i++) {
        const struct raft_fixture_server *server = &sim->fixture.servers[i];
        CHECK(raft_configuration_add(&s->conf, server->id, server->address, RAFT_VOTER) == 0);
    }
    s->data.len = (size_t)(index + 2) * sizeof value;
    uint64_t *data = raft_malloc(s->data.len);
    CHECK(data != NULL);
    data[0] = 0; /* no checkpoint of a host */
    memcpy(data + 1, sim->truth, (size_t)(index + 1) * sizeof value);
    data[1 + index] = value;
    s->data.base = data;
    return m;
}

/* Raft already has all entries of the snapshot in memory, and confirms it before they are on disk.
 */
bool scene_install_while_writing(unsigned off)
{
    struct sim *sim = writing(off);
    struct sim_node *leader = &sim->node[0];
    raft_index index = sim_last_index(leader);
    reach(sim, leader->raft->last_applied == index);
    struct raft_message m = snapshot_of(sim, leader->raft->current_term, index,
                                        sim_term_at(leader, index), sim->truth[index]);
    sim_deliver(&sim->node[1], leader, &m);
    (void)sim_run(sim, 4000);
    reach(sim, sim->node[1].writes == 0);
    return scene_end(sim, leader->raft->leader_state.progress[1].match_index == index);
}

static bool is_candidate(struct sim *sim, void *arg)
{
    (void)arg;
    return sim->node[1].raft->state == RAFT_CANDIDATE;
}

/* While an entry is being written, the node becomes a candidate, and then a follower without a
 * leader. When the write ends, raft answers a leader that does not exist. */
bool scene_answer_to_nobody(unsigned off)
{
    struct sim *sim = writing(off);
    struct sim_node *n = &sim->node[1];
    sim_partition(sim, 0);
    sim_election_timeout(sim, 1, 1000);
    reach(sim, sim_until(sim, is_candidate, NULL, 2500));
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};
    m.request_vote.term = n->raft->current_term + 1;
    m.request_vote.candidate_id = 3;
    m.request_vote.last_log_index = sim_last_index(n);
    m.request_vote.last_log_term = n->raft->current_term;
    sim_deliver(n, &sim->node[2], &m);
    reach(sim, n->raft->state == RAFT_FOLLOWER && n->writes == 1);
    sim_election_timeout(sim, 1, 100 * 1000);
    (void)sim_run(sim, 3000);
    reach(sim, n->writes == 0);
    return scene_end(sim, true);
}

/* Raft keeps the entry in memory, and the next entry is written after a gap. */
bool scene_failed_write(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *n = &sim->node[1];
    n->write_fails = true;
    for (unsigned i = 0; i < 2; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
        (void)sim_run(sim, 1000);
    }
    reach(sim, n->write_failed);
    return scene_end(sim, n->fatal_count == 1 && n->fatal_rule == GUARD_STORED);
}

/* Raft forgets the entry, which the other nodes have, and writes another one of the same term at
 * its index. */
bool scene_failed_write_of_leader(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *n = &sim->node[0];
    n->write_fails = true;
    reach(sim, sim_submit(sim, n, 8) != 0);
    (void)sim_run(sim, 200);
    reach(sim, n->write_failed);
    if (guard_ready(&n->guard)) {
        (void)sim_submit(sim, n, 8);
    }
    (void)sim_run(sim, 1000);
    return scene_end(sim, n->fatal_count == 1 && n->fatal_rule == GUARD_STORED);
}

static enum sim_fate entries_of_2_are_lost(struct sim *sim, unsigned from, unsigned to,
                                           const struct raft_message *m)
{
    (void)sim;
    (void)to;
    bool has_entries = m->type == RAFT_IO_APPEND_ENTRIES && m->append_entries.n_entries > 0;
    return from == 2 && has_entries ? SIM_LOST : SIM_SENT;
}

/* Node 2 was leader for a short time and has an entry of a newer term, at an index where the group
 * has committed an entry of an older term. Raft compares the terms and assumes that it already has
 * the snapshot. */
bool scene_install_over_younger_entry(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *n = &sim->node[2];
    raft_term old_term = sim->node[0].raft->current_term;
    raft_index index = sim_last_index(&sim->node[0]) + 1;
    sim->fate = entries_of_2_are_lost;
    sim_partition(sim, 0x06);
    reach(sim, sim_elect(sim, 2, SCENE_MS));
    reach(sim, scene_until_stored(sim, 2, index));
    sim_partition(sim, 0);
    struct raft_message m =
        snapshot_of(sim, n->raft->current_term + 1, index, old_term, ++sim->last_value);
    sim_deliver(n, &sim->node[0], &m);
    (void)sim_run(sim, 500);
    const struct raft_snapshot *s = &n->disk.snapshot;
    return scene_end(sim, n->disk.has_snapshot && s->index == index && s->term == old_term &&
                              sim_term_at(n, index) == old_term &&
                              n->value[index] == sim->last_value);
}

static enum sim_fate answers_of_1_are_lost(struct sim *sim, unsigned from, unsigned to,
                                           const struct raft_message *m)
{
    (void)sim;
    (void)to;
    return from == 1 && m->type == RAFT_IO_APPEND_ENTRIES_RESULT ? SIM_LOST : SIM_SENT;
}

/* The follower has replaced entries by a snapshot, but its answers were lost, so the leader does
 * not know that it has them. The leader goes back further and further, down to the first entry. */
bool scene_compacted_follower(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *leader = &sim->node[0];
    struct sim_node *n = &sim->node[1];
    sim->fate = answers_of_1_are_lost;
    raft_set_snapshot_threshold(n->raft, 1);
    raft_index known = leader->raft->leader_state.progress[1].match_index;
    for (unsigned i = 0; i < 5; i++) {
        reach(sim, sim_submit(sim, leader, 8) != 0);
    }
    reach(sim, scene_until_applied(sim, 1, sim_last_index(leader)));
    reach(sim, sim_run(sim, 200));
    reach(sim, n->raft->log.snapshot.last_index > known && n->raft->log.offset > known);
    raft_fixture_disconnect(&sim->fixture, 0, 1);
    reach(sim, sim_run(sim, 300));
    raft_fixture_reconnect(&sim->fixture, 0, 1);
    sim->fate = NULL;
    (void)sim_run(sim, 3000);
    raft_index match = leader->raft->leader_state.progress[1].match_index;
    return scene_end(sim, match == sim_last_index(leader));
}
