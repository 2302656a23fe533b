#include "lib/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/check.h"
#include "base/hash.h"

enum { ELECTION_MS = 1000, HEARTBEAT_MS = 100, NEVER = 1 << 30 };

static unsigned election_ms(const struct sim *sim)
{
    return sim->options.election_ms != 0 ? sim->options.election_ms : ELECTION_MS;
}

/* ---- the state machine ---- */

static uint64_t value_of(const struct sim *sim, const struct raft_buffer *buf)
{
    uint64_t value;
    memcpy(&value, buf->base, sizeof value);
    return sim->options.host == NULL ? value : hash_bytes(0, buf->base, buf->len) | 1;
}

static int fsm_apply(struct raft_fsm *fsm, const struct raft_buffer *buf, void **result)
{
    struct sim_node *n = fsm->data;
    raft_index index = raft_last_applied(n->raft) + 1;
    uint64_t value = value_of(n->sim, buf);
    sim_check_applied(n, index, value);
    n->value[index] = value;
    if (n->sim->options.host != NULL) {
        n->sim->options.host->apply(n, index, buf);
    }
    *result = NULL;
    return 0;
}

/* The number of the host's checkpoint, followed by the values up to the last applied index. */
static int fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct sim_node *n = fsm->data;
    const struct sim_options *o = &n->sim->options;
    size_t count = (size_t)(n->raft->last_applied + 1);
    size_t len = (count + 1) * sizeof n->value[0];
    uint64_t checkpoint = o->host != NULL && !o->async_snapshots ? o->host->checkpoint(n) : 0;
    *n_bufs = 1;
    *bufs = raft_malloc(sizeof **bufs);
    CHECK(*bufs != NULL);
    (*bufs)[0] = (struct raft_buffer){.base = raft_malloc(len), .len = len};
    CHECK((*bufs)[0].base != NULL);
    memcpy((*bufs)[0].base, &checkpoint, sizeof checkpoint);
    memcpy((uint64_t *)(*bufs)[0].base + 1, n->value, count * sizeof n->value[0]);
    return 0;
}

/* Create the host's checkpoint now. The host may have applied more entries since fsm_snapshot. */
static int fsm_snapshot_async(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct sim_node *n = fsm->data;
    (void)n_bufs;
    if (n->sim->options.host != NULL) {
        uint64_t checkpoint = n->sim->options.host->checkpoint(n);
        memcpy((*bufs)[0].base, &checkpoint, sizeof checkpoint);
    }
    return 0;
}

static int fsm_snapshot_finalize(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    (void)fsm;
    raft_free((*bufs)[0].base);
    raft_free(*bufs);
    *bufs = NULL;
    *n_bufs = 0;
    return 0;
}

static int fsm_restore(struct raft_fsm *fsm, struct raft_buffer *buf)
{
    struct sim_node *n = fsm->data;
    size_t count = buf->len / sizeof n->value[0] - 1;
    uint64_t checkpoint;
    CHECK(count <= SIM_INDEX_MAX);
    memset(n->value, 0, sizeof n->value);
    memcpy(&checkpoint, buf->base, sizeof checkpoint);
    memcpy(n->value, (const uint64_t *)buf->base + 1, count * sizeof n->value[0]);
    if (checkpoint != 0) {
        n->sim->options.host->restore(n, count - 1, checkpoint);
    }
    for (raft_index i = 1; i < count; i++) {
        if (n->value[i] != 0) {
            sim_check_applied(n, i, n->value[i]);
        }
    }
    raft_free(buf->base);
    return 0;
}

/* ---- nodes ---- */

static void state_changed(void *data)
{
    struct sim_node *n = data;
    n->told_state = n->raft->state;
    n->told_term = n->raft->current_term;
    n->told_ready = guard_ready(&n->guard);
}

static void delivered(void *data)
{
    struct sim_node *n = data;
    const struct sim_options *o = &n->sim->options;
    transfer_step(&n->transfer);
    if (o->log_bytes != 0 && o->snapshot_threshold != 0) { /* as the engine does */
        bool is_long = n->guard.log_bytes > o->log_bytes / 2;
        raft_set_snapshot_threshold(n->raft, is_long ? 1 : o->snapshot_threshold);
        if (is_long) {
            guard_snapshot_soon(&n->guard);
        }
    }
}

static void fatal(void *data, enum guard_rule rule, const char *reason)
{
    struct sim_node *n = data;
    n->fatal_rule = rule;
    n->fatal_count++;
    n->restart = rule == GUARD_MEMBERS;
    n->sim->count.member_cuts += n->restart;
    if (!n->restart && !n->write_failed) {
        sim_violation(n->sim, "node %u stops: %s", n->index + 1, reason);
    }
}

static void transfer_done(struct transfer *t, bool moved)
{
    struct sim_node *n = t->data;
    n->sim->count.transfers += moved;
}

/* Set up the guard around a raft that is initialized, and start it. */
static void node_start(struct sim_node *n)
{
    const struct sim_options *o = &n->sim->options;
    const struct guard_hooks hooks = {
        .data = n, .state_changed = state_changed, .delivered = delivered, .fatal = fatal};
    guard_install(&n->guard, n->io, n->raft, &hooks);
    n->guard.off = o->off;
    n->guard.chunk_bytes = o->chunk_bytes != 0 ? o->chunk_bytes : n->guard.chunk_bytes;
    n->guard.queue_bytes = o->queue_bytes != 0 ? o->queue_bytes : n->guard.queue_bytes;
    n->guard.log_bytes_max = o->log_bytes;
    transfer_init(&n->transfer, n->raft);
    n->transfer.data = n;
    n->transfer.done = transfer_done;
    unsigned ms = election_ms(n->sim);
    raft_set_election_timeout(n->raft, ms);
    raft_set_heartbeat_timeout(n->raft, ms / 4 < HEARTBEAT_MS ? ms / 4 : HEARTBEAT_MS);
    raft_set_install_snapshot_timeout(n->raft, 5 * ms);
    raft_set_pre_vote(n->raft, o->pre_vote);
    raft_set_snapshot_threshold(n->raft,
                                o->snapshot_threshold != 0 ? o->snapshot_threshold : NEVER);
    raft_set_snapshot_trailing(n->raft, o->snapshot_trailing);
    n->seen_commit = 0;
    n->checked_index = 0;
    n->checked_term = 0;
    if (o->host != NULL) {
        o->host->start(n);
    }
    CHECK(raft_start(n->raft) == 0);
    guard_look(&n->guard);
}

static void step(struct sim *sim)
{
    (void)raft_fixture_step(&sim->fixture);
    sim->count.steps++;
    sim_check(sim);
}

/* The fixture copies some messages only when it sends them, so send them all before a crash. */
static void send_all(struct sim *sim, const struct sim_node *n)
{
    CHECK(!n->down);
    while (n->sends > 0) {
        step(sim);
    }
}

static void forget_promises(struct sim_node *n)
{
    struct sim *sim = n->sim;
    if (sim->options.disk_forgets) {
        uint64_t count = rng_below(&sim->rng, 4);
        count = count < n->disk.count ? count : n->disk.count;
        sim_disk_cut(&n->disk, n->disk.first + n->disk.count - count);
    }
    if (sim->options.ballot_forgets) {
        n->disk.vote = 0;
    }
}

/* Only what is on the disk survives. */
static void crash(struct sim *sim, struct sim_node *n)
{
    forget_promises(n);
    sim->count.crashes++;
    n->down = true;
    sim->fixture.servers[n->index].alive = false;
    raft_close(n->raft, NULL);
    struct raft_fixture_server *server = &sim->fixture.servers[n->index];
    CHECK(raft_init(n->raft, n->io, &n->fsm, server->id, server->address) == 0);
    memset(n->value, 0, sizeof n->value);
    n->change_busy = false;
    n->write_failed = false;
    if (sim->options.host != NULL) {
        sim->options.host->stop(n);
    }
}

void sim_crash(struct sim *sim, struct sim_node *n, unsigned kept)
{
    send_all(sim, n);
    sim_io_keep(n, kept);
    crash(sim, n);
}

void sim_crash_torn(struct sim *sim, struct sim_node *n)
{
    send_all(sim, n);
    sim_io_tear(n);
    crash(sim, n);
}

void sim_restart(struct sim *sim, struct sim_node *n)
{
    CHECK(n->down);
    n->down = false;
    n->restart = false;
    sim->fixture.servers[n->index].alive = true;
    node_start(n);
}

static void node_init(struct sim *sim, unsigned index)
{
    struct sim_node *n = &sim->node[index];
    n->sim = sim;
    n->index = index;
    n->disk_ms = 10;
    n->work_ms = 20;
    n->fsm = (struct raft_fsm){
        .version = sim->options.async_snapshots ? 3 : 1,
        .data = n,
        .apply = fsm_apply,
        .snapshot = fsm_snapshot,
        .restore = fsm_restore,
        .snapshot_finalize = fsm_snapshot_finalize,
        .snapshot_async = fsm_snapshot_async,
    };
    sim->fixture.servers[index].io.version = 2;
    CHECK(raft_fixture_grow(&sim->fixture, &n->fsm) == 0);
    n->raft = raft_fixture_get(&sim->fixture, index);
    n->io = &sim->fixture.servers[index].io;
    sim_io_install(n);
}

struct sim *sim_new(const struct sim_options *options)
{
    struct sim *sim = calloc(1, sizeof *sim);
    CHECK(sim != NULL);
    CHECK(options->nodes <= SIM_NODES_MAX);
    CHECK(options->voters <= options->nodes);
    sim->options = *options;
    sim->rng = rng_from(options->seed);
    CHECK(raft_fixture_initialize(&sim->fixture) == 0);
    for (unsigned i = 0; i < options->nodes; i++) {
        node_init(sim, i);
    }
    struct raft_configuration members;
    raft_configuration_init(&members);
    for (unsigned i = 0; i < options->voters; i++) {
        const struct raft_fixture_server *server = &sim->fixture.servers[i];
        CHECK(raft_configuration_add(&members, server->id, server->address, RAFT_VOTER) == 0);
    }
    for (unsigned i = 0; i < options->voters; i++) {
        CHECK(raft_bootstrap(sim->node[i].raft, &members) == 0);
    }
    raft_configuration_close(&members);
    for (unsigned i = 0; i < options->nodes; i++) {
        node_start(&sim->node[i]);
    }
    return sim;
}

void sim_free(struct sim *sim)
{
    if (sim == NULL) {
        return;
    }
    for (unsigned i = 0; i < sim->options.nodes; i++) {
        if (!sim->node[i].down) {
            sim_crash(sim, &sim->node[i], 0);
        }
    }
    raft_fixture_close(&sim->fixture);
    for (unsigned i = 0; i < sim->options.nodes; i++) {
        sim_disk_free(&sim->node[i].disk);
    }
    free(sim);
}

/* ---- time ---- */

bool sim_step(struct sim *sim)
{
    step(sim);
    for (unsigned i = 0; i < sim->options.nodes; i++) {
        struct sim_node *n = &sim->node[i];
        if (n->restart && !n->down) {
            sim_io_flush_cut(n);
            sim_crash(sim, n, 0);
            sim_restart(sim, n);
        }
    }
    return sim->violation[0] == '\0';
}

bool sim_until(struct sim *sim, bool (*is_so)(struct sim *sim, void *arg), void *arg, unsigned ms)
{
    raft_time end = sim->fixture.time + ms;
    while (!is_so(sim, arg)) {
        if (sim->fixture.time >= end || !sim_step(sim)) {
            return false;
        }
    }
    return true;
}

bool sim_run(struct sim *sim, unsigned ms)
{
    raft_time end = sim->fixture.time + ms;
    while (sim->fixture.time < end) {
        if (!sim_step(sim)) {
            return false;
        }
    }
    return true;
}

/* ---- leaders ---- */

struct sim_node *sim_leader(struct sim *sim)
{
    struct sim_node *leader = NULL;
    for (unsigned i = 0; i < sim->options.nodes; i++) {
        struct sim_node *n = &sim->node[i];
        bool leads = !n->down && guard_ready(&n->guard);
        if (leads && (leader == NULL || leader->raft->current_term < n->raft->current_term)) {
            leader = n;
        }
    }
    return leader;
}

static bool has_leader(struct sim *sim, void *arg)
{
    (void)arg;
    return sim_leader(sim) != NULL;
}

bool sim_until_leader(struct sim *sim, unsigned ms)
{
    return sim_until(sim, has_leader, NULL, ms);
}

void sim_election_timeout(struct sim *sim, unsigned node, unsigned ms)
{
    struct sim_node *n = &sim->node[node];
    n->election_ms = ms;
    if (!n->down && n->raft->state == RAFT_FOLLOWER) {
        n->raft->follower_state.randomized_election_timeout = ms;
    } else if (!n->down && n->raft->state == RAFT_CANDIDATE) {
        n->raft->candidate_state.randomized_election_timeout = ms;
    }
}

static bool leads(struct sim *sim, void *arg)
{
    const unsigned *node = arg;
    return sim->node[*node].raft->state == RAFT_LEADER;
}

static bool does_not_lead(struct sim *sim, void *arg)
{
    return !leads(sim, arg);
}

bool sim_elect(struct sim *sim, unsigned node, unsigned ms)
{
    if (!sim_until(sim, does_not_lead, &node, ms)) {
        return false;
    }
    for (unsigned i = 0; i < sim->options.nodes; i++) {
        struct raft *r = sim->node[i].raft;
        sim_election_timeout(sim, i, election_ms(sim) * (i == node ? 1 : 100));
        if (r->state == RAFT_FOLLOWER) {
            /* Raft does not vote while it remembers a leader, until its election timeout. */
            r->follower_state.current_leader.id = 0;
        }
    }
    return sim_until(sim, leads, &node, ms);
}

/* ---- writes ---- */

static void write_cb(struct raft_apply *apply, int status, void *result)
{
    struct sim_write *w = apply->data;
    (void)result;
    if (status == 0) {
        sim_check_acked(w->sim, apply->index, w->value);
    }
    if (w->done != NULL) {
        w->done(w->data, status == 0, apply->index);
    }
    free(w);
}

bool sim_propose(struct sim_node *n, struct raft_buffer entry,
                 void (*done)(void *data, bool committed, raft_index index), void *data)
{
    struct sim_write *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    *w = (struct sim_write){
        .sim = n->sim, .value = value_of(n->sim, &entry), .done = done, .data = data};
    w->apply.data = w;
    if (raft_apply(n->raft, &w->apply, &entry, 1, write_cb) != 0) {
        free(w);
        return false;
    }
    return true; /* w may be freed here */
}

uint64_t sim_submit(struct sim *sim, struct sim_node *n, size_t bytes)
{
    CHECK(bytes >= sizeof(uint64_t) && bytes % 8 == 0);
    struct sim_write *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->sim = sim;
    w->value = ++sim->last_value;
    w->apply.data = w;
    struct raft_buffer buf = {.base = raft_calloc(1, bytes), .len = bytes};
    CHECK(buf.base != NULL);
    memcpy(buf.base, &w->value, sizeof w->value);
    uint64_t value = w->value;
    if (raft_apply(n->raft, &w->apply, &buf, 1, write_cb) != 0) {
        raft_free(buf.base);
        free(w);
        return 0;
    }
    return value; /* w may be freed here */
}

bool sim_is_acked(const struct sim *sim, uint64_t value)
{
    for (raft_index i = 1; i <= sim->highest_acked; i++) {
        if (sim->acked[i] == value) {
            return true;
        }
    }
    return false;
}

/* ---- the network ---- */

void sim_deliver(struct sim_node *to, const struct sim_node *from, struct raft_message *m)
{
    m->server_id = from->raft->id;
    m->server_address = from->raft->address;
    to->recv(to->io, m);
    sim_check(to->sim);
}

void sim_link(struct sim *sim, unsigned a, unsigned b, bool up)
{
    if (up) {
        raft_fixture_desaturate(&sim->fixture, a, b);
        raft_fixture_desaturate(&sim->fixture, b, a);
    } else {
        raft_fixture_saturate(&sim->fixture, a, b);
        raft_fixture_saturate(&sim->fixture, b, a);
    }
}

void sim_partition(struct sim *sim, unsigned mask)
{
    for (unsigned a = 0; a < sim->options.nodes; a++) {
        for (unsigned b = a + 1; b < sim->options.nodes; b++) {
            sim_link(sim, a, b, ((mask >> a) & (mask >> b) & 1U) != 0);
        }
    }
}

void sim_heal(struct sim *sim)
{
    for (unsigned a = 0; a < sim->options.nodes; a++) {
        for (unsigned b = a + 1; b < sim->options.nodes; b++) {
            sim_link(sim, a, b, true);
        }
    }
}
