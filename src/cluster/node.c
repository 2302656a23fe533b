#include "cluster/node.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "cluster/node_int.h"
#include "log/log.h"
#include "raftlog/members.h"
#include "raftlog/snapshots.h"

enum {
    DEPTH_ALONE = 1,
    DEPTH_CLUSTER = 4,
    INSTALL_TIMEOUT_MS = 5 * 1000, /* then offered again; the download resumes */
    LOG_MEMORY_SNAPSHOTS = 8,      /* limit of the log in memory, in snapshot intervals… */
    LOG_MEMORY_MIN = 64 << 20,     /* …or in bytes, if that is more */
};

struct node_config node_config_default(void)
{
    return (struct node_config){
        .bootstrap = true,
        .durable = true,
        .segment_bytes = 16 << 20,
        .snapshot_log_bytes = 128 << 20,
        .free_bytes_min = 128 << 20,
        .heartbeat_ms = 100,
        .election_ms = 1000,
    };
}

/* --- proposals --- */

/* Call done for all completed proposals. A done callback may propose again; that one is
 * completed next time. */
static void flush_finished(struct node *n)
{
    struct node_propose *p = n->finished;
    n->finished = NULL;
    n->finished_end = &n->finished;
    while (p != NULL) {
        struct node_propose *next = p->next;
        p->done(p); /* may free p */
        p = next;
    }
}

static void finish(struct node *n, struct node_propose *p)
{
    p->next = NULL;
    *n->finished_end = p;
    n->finished_end = &p->next;
}

static void maybe_closed(struct node *n);

static void finished_deliver(struct msg *m)
{
    struct node *n = CONTAINER_OF(m, struct node, finished_msg);
    n->finished_posted = false;
    flush_finished(n);
    maybe_closed(n);
}

/* Report completed proposals in the next turn of the loop. */
static void finish_later(struct node *n)
{
    if (!n->finished_posted && n->finished != NULL) {
        n->finished_posted = true;
        CHECK(mailbox_post(&n->box, &n->finished_msg));
    }
}

/* Raft is in the middle of a call: record the outcome here; the guard's hook reports it later. */
static void apply_cb(struct raft_apply *apply, int status, void *result)
{
    struct node_propose *p = CONTAINER_OF(apply, struct node_propose, apply);
    (void)result;
    if (status != 0) {
        (void)err_set(&p->err, ERR_UNKNOWN_OUTCOME,
                      "the write may or may not have happened: log entry %" PRIu64 ": %s", p->index,
                      raft_strerror(status));
        p->err.sys = status;
    }
    finish(p->node, p);
}

/* The reason to refuse a proposal without asking Raft; ERR_OK if there is none. */
static enum err_code refusal(const struct node *n, bool frees, struct err *err)
{
    if (n->closing) {
        return err_set_default(err, ERR_STOPPING);
    }
    if (!node_leads(n)) {
        return err_set_default(err, ERR_LEADER_UNAVAILABLE);
    }
    if (transfer_is_on(&n->transfer)) {
        return err_set(err, ERR_LEADER_UNAVAILABLE, "leadership is being handed over");
    }
    const struct wal_status *wal = disk_io_wal_status(n->disk);
    if (wal->full || (wal->low_space && !frees)) {
        return err_set(err, ERR_NO_SPACE,
                       "the disk is nearly full: less than %" PRIu64 " bytes are free",
                       n->free_bytes_min);
    }
    if (n->guard.log_bytes > n->log_memory_max) {
        return err_set(err, ERR_NO_SPACE,
                       "the log in memory has %" PRIu64 " bytes, because no snapshot could be "
                       "taken",
                       n->guard.log_bytes);
    }
    return ERR_OK;
}

void node_propose(struct node *n, struct node_propose *p)
{
    CHECK(p->done != NULL);
    CHECK(p->len > 0);
    CHECK(p->len % 8 == 0);
    p->node = n;
    p->index = 0;
    p->err = (struct err){.code = ERR_OK};
    char *bytes = TAKE(p->bytes);
    struct raft_buffer buf = {.base = bytes, .len = p->len};
    enum err_code code = refusal(n, p->frees, &p->err);
    if (code == ERR_OK) {
        int rc = raft_apply(&n->raft, &p->apply, &buf, 1, apply_cb);
        if (rc == 0) {
            p->index = p->apply.index;
            return; /* Raft owns the bytes now */
        }
        (void)err_set(&p->err, ERR_LEADER_UNAVAILABLE, "%s", raft_strerror(rc));
    }
    free(bytes);
    finish(n, p);
    finish_later(n);
}

unsigned node_depth(const struct node *n)
{
    return members_voter_count(&n->raft.configuration) <= 1 ? DEPTH_ALONE : DEPTH_CLUSTER;
}

bool node_leads(const struct node *n)
{
    return node__leads(n);
}

/* --- transfer of leadership --- */

static void transfer_done(struct transfer *t, bool moved)
{
    struct node *n = CONTAINER_OF(t, struct node, transfer);
    log_info(moved ? "leadership_handed_over" : "leadership_kept", LOG_U64("target", t->target),
             LOG_U64("tries", t->tries));
    n->transferred(n->transferred_data, moved);
}

/* The other voter with the most entries; 0 if there is none. */
static raft_id furthest_voter(const struct raft *r)
{
    raft_id found = 0;
    raft_index most = 0;
    for (unsigned i = 0; i < r->configuration.n; i++) {
        const struct raft_server *server = &r->configuration.servers[i];
        raft_index match = r->leader_state.progress[i].match_index;
        if (server->id != r->id && server->role == RAFT_VOTER && (found == 0 || match > most)) {
            found = server->id;
            most = match;
        }
    }
    return found;
}

enum err_code node_transfer(struct node *n, uint64_t target, void (*done)(void *data, bool moved),
                            void *data, struct err *err)
{
    if (!node_leads(n)) {
        return err_set_default(err, ERR_LEADER_UNAVAILABLE);
    }
    target = target != 0 ? target : furthest_voter(&n->raft);
    if (transfer_start(&n->transfer, target, err) != ERR_OK) {
        return err->code;
    }
    n->transferred = done;
    n->transferred_data = data;
    return ERR_OK;
}

/* --- the guard's hooks, after each event --- */

static void state_changed(void *data)
{
    struct node *n = data;
    bool leads = node_leads(n);
    if (leads == n->leads) {
        return;
    }
    n->leads = leads;
    log_info(leads ? "became leader" : "no longer leader", LOG_U64("term", n->raft.current_term),
             LOG_U64("index", raft_last_applied(&n->raft)));
    n->fsm.leads_changed(n->fsm.data, leads);
}

static void delivered(void *data)
{
    struct node *n = data;
    flush_finished(n);
    transfer_step(&n->transfer);
    node_members__look(n);
    if (node_leads(n)) {
        tell_look(&n->tell);
    }
    raft_id leader_id = 0;
    const char *address = NULL;
    raft_leader(&n->raft, &leader_id, &address);
    if (leader_id != n->leader_id) {
        n->leader_id = leader_id;
        if (n->fsm.leader_changed != NULL) {
            n->fsm.leader_changed(n->fsm.data, leader_id);
        }
    }
    bool stands = raft_state(&n->raft) == RAFT_CANDIDATE;
    if (stands != n->stands) {
        n->stands = stands;
        if (n->fsm.stands_changed != NULL) {
            n->fsm.stands_changed(n->fsm.data, stands);
        }
    }
}

static void cut_closed_cb(struct raft *raft)
{
    struct node *n = CONTAINER_OF(raft, struct node, raft);
    check_fatal("raft was stopped by rule %d: %s", (int)GUARD_MEMBERS, n->cut);
}

/* Raft's state in memory can no longer be trusted, but the disk can: a restart reads it again. A
 * truncation of the log reaches the disk while Raft closes; after a disk failure there is
 * nothing to wait for. */
static void fatal(void *data, enum guard_rule rule, const char *reason)
{
    struct node *n = data;
    if (rule != GUARD_MEMBERS) {
        check_fatal("raft was stopped by rule %d: %s", (int)rule, reason);
    }
    n->cut = reason;
    n->closing = true;
    raft_close(&n->raft, cut_closed_cb);
}

/* --- opening --- */

static enum err_code check_config(const struct node_config *c, struct err *err)
{
    size_t address_len = c->address == NULL ? 0 : strlen(c->address);
    if (c->id == 0 || address_len == 0 || address_len > MEMBERS_ADDRESS_BYTES_MAX) {
        return err_set(err, ERR_VALIDATION, "a node needs an id and an address of at most %d bytes",
                       MEMBERS_ADDRESS_BYTES_MAX);
    }
    if (c->segment_bytes < WAL_SEGMENT_BYTES_MIN || c->segment_bytes > WAL_SEGMENT_BYTES_MAX ||
        c->segment_bytes % 8 != 0) {
        return err_set(err, ERR_VALIDATION,
                       "the size of a log segment must be %d to %d bytes and a multiple of 8",
                       WAL_SEGMENT_BYTES_MIN, WAL_SEGMENT_BYTES_MAX);
    }
    if (c->snapshot_log_bytes == 0 || c->heartbeat_ms == 0 || c->election_ms <= c->heartbeat_ms ||
        c->election_ms > INT_MAX / 2) {
        return err_set(err, ERR_VALIDATION,
                       "heartbeat, election timeout and log size between snapshots must not be 0, "
                       "and the election timeout must be longer than the heartbeat");
    }
    return ERR_OK;
}

static enum err_code bootstrap(struct node *n, const struct node_config *config, struct err *err)
{
    struct raft_configuration members;
    raft_configuration_init(&members);
    CHECK(raft_configuration_add(&members, config->id, config->address, RAFT_VOTER) == 0);
    enum err_code code = disk_io_bootstrap(n->disk, &members, err);
    raft_configuration_close(&members);
    return code;
}

/* Is the state ahead of the log only because it is a leader's checkpoint? A checkpoint is made
 * while entries are applied, so it may contain entries after the index of its snapshot. The leader
 * sends those entries again. */
static bool is_from_checkpoint(struct node *n, uint64_t applied)
{
    const struct manifest *newest = disk_io_manifest(n->disk);
    uint64_t index = 0;
    struct err err;
    if (newest == NULL || newest->index > disk_io_last_index(n->disk) ||
        n->fsm.checkpoint_index == NULL) {
        return false;
    }
    struct os_file_path path = snapshots_path(disk_io_snapshots_dir(n->disk), newest->checkpoint);
    return n->fsm.checkpoint_index(n->fsm.data, path.z, &index, &err) == ERR_OK && applied <= index;
}

/* Check that the state is not ahead of the log, except as above. A log that was not flushed may
 * have lost its end in a power failure, after the state applied and stored those entries. A group
 * of one may continue: the state has the effects of the lost entries, so no-op entries replace
 * them. With a durable log this is an error, because the disk must have failed. *out_fill is the
 * index up to which the log has to be filled; 0 if not. */
static enum err_code check_state(struct node *n, bool bootstraps, uint64_t *out_fill,
                                 struct err *err)
{
    uint64_t applied = n->fsm.applied_index(n->fsm.data);
    uint64_t last = disk_io_last_index(n->disk);
    *out_fill = 0;
    if (applied <= last) {
        return ERR_OK;
    }
    struct raft_configuration members;
    if (disk_io_members(n->disk, &members, err) != ERR_OK) {
        return err->code;
    }
    bool alone = bootstraps || members.n == 1;
    raft_configuration_close(&members);
    if (!alone && is_from_checkpoint(n, applied)) {
        return ERR_OK;
    }
    if (n->durable || !alone) {
        return err_set(err, ERR_CORRUPT,
                       "the state has entry %" PRIu64 ", but the log ends with entry %" PRIu64 "%s",
                       applied, last,
                       alone ? "; start with --durable=false to accept the loss of later entries"
                             : "; remove this node's data and let it rejoin");
    }
    log_warn("log behind state", LOG_U64("log_index", last), LOG_U64("applied_index", applied));
    *out_fill = applied;
    return ERR_OK;
}

/* If the id is only assumed, check that it is a member of the group in the log. */
static enum err_code check_id(const struct node *n, const struct node_config *config,
                              struct err *err)
{
    struct raft_configuration members;
    if (!config->id_assumed) {
        return ERR_OK;
    }
    if (disk_io_members(n->disk, &members, err) != ERR_OK) {
        return err->code;
    }
    bool found = members.n == 0;
    for (unsigned i = 0; i < members.n; i++) {
        found = found || members.servers[i].id == config->id;
    }
    raft_configuration_close(&members);
    return found ? ERR_OK
                 : err_set(err, ERR_CORRUPT,
                           "the file 'identity' is missing in the data directory: restore it from "
                           "a copy, or remove the node from the cluster and rejoin with an empty "
                           "directory");
}

struct look {
    const struct node *n;
    uint64_t applied;
};

static enum err_code look_at_entry(void *data, uint64_t index, struct str entry, struct err *err)
{
    const struct look *l = data;
    struct err why;
    if (index <= l->applied || l->n->fsm.knows_entry(l->n->fsm.data, entry, &why) == ERR_OK) {
        return ERR_OK;
    }
    /* Its checksum is right, so this is no damage. */
    return err_set(err, ERR_UNSUPPORTED,
                   "entry %" PRIu64 " of the log was written by a newer version of the server, "
                   "install that again: %s",
                   index, why.msg);
}

/* Check that this version can read the log, which a newer version may have written. */
static enum err_code check_entries(const struct node *n, struct err *err)
{
    struct look l = {.n = n, .applied = n->fsm.applied_index(n->fsm.data)};
    return n->fsm.knows_entry == NULL ? ERR_OK
                                      : disk_io_each_command(n->disk, look_at_entry, &l, err);
}

/* All steps of opening that can fail. Undoing them does not need the loop. */
static enum err_code open_disk(struct node *n, const struct node_config *config, struct err *err)
{
    const struct disk_io_config disk = {.dir = config->dir,
                                        .segment_bytes = config->segment_bytes,
                                        .free_bytes_min = config->free_bytes_min,
                                        .durable = config->durable};
    if (disk_io_open(&disk, &n->disk, err) != ERR_OK) {
        return err->code;
    }
    const struct manifest *newest = disk_io_manifest(n->disk);
    if (check_id(n, config, err) != ERR_OK ||
        (newest != NULL && node_state__restore(n, newest, err) != ERR_OK)) {
        return err->code;
    }
    bool bootstraps = config->bootstrap && disk_io_is_pristine(n->disk);
    if (bootstraps && config->joined) {
        log_warn(
            "waiting for the cluster",
            LOG_Z("meaning", "this node has joined a cluster and has no data of it yet: it does "
                             "not start a new one"),
            LOG_Z("remedy", "start the other nodes, or empty the data directory to start a new "
                            "cluster"));
        bootstraps = false;
    }
    uint64_t fill;
    if (check_state(n, bootstraps, &fill, err) != ERR_OK || check_entries(n, err) != ERR_OK ||
        (bootstraps && bootstrap(n, config, err) != ERR_OK)) {
        return err->code;
    }
    return disk_io_fill(n->disk, fill, err);
}

static void start(struct node *n, const struct node_config *config)
{
    const struct guard_hooks hooks = {
        .data = n, .state_changed = state_changed, .delivered = delivered, .fatal = fatal};
    struct disk_io_host host = {.loop = n->loop, .box = &n->box};
    mailbox_open(&n->box, n->loop);
    if (n->peers != NULL) {
        const struct peers_reader reader = {
            .data = n->fsm.data, .entry = n->fsm.knows_entry, .state = n->fsm.knows_state};
        peers_attach(n->peers, &n->box);
        peers_set_reader(n->peers, &reader);
        n->transport = peers_transport(n->peers);
        host.transport = &n->transport;
    }
    for (size_t i = 0; i < COUNT_OF(n->end); i++) {
        CHECK(uv_timer_init(n->loop, &n->end[i]) == 0);
        n->end[i].data = n;
    }
    disk_serve_attach(n->disk, &host, &n->io);
    n->raft_fsm = node_state__fsm(n);
    CHECK(raft_init(&n->raft, &n->io, &n->raft_fsm, config->id, config->address) == 0);
    raft_set_heartbeat_timeout(&n->raft, config->heartbeat_ms);
    raft_set_election_timeout(&n->raft, config->election_ms);
    raft_set_install_snapshot_timeout(&n->raft, INSTALL_TIMEOUT_MS);
    raft_set_snapshot_threshold(&n->raft, UINT_MAX);
    raft_set_pre_vote(&n->raft, true);
    guard_install(&n->guard, &n->io, &n->raft, &hooks);
    n->guard.log_bytes_max = n->log_memory_max;
    transfer_init(&n->transfer, &n->raft);
    tell_init(&n->tell, &n->raft);
    n->transfer.done = transfer_done;
    uv_update_time(n->loop); /* reading the disk took time; Raft's timers start now */
    int rc = raft_start(&n->raft);
    if (rc != 0) {
        check_fatal("start raft: %s: %s", raft_strerror(rc), raft_errmsg(&n->raft));
    }
    uv_update_time(n->loop);
    guard_look(&n->guard);
}

static uint64_t log_memory_max(const struct node_config *config)
{
    uint64_t usual = LOG_MEMORY_SNAPSHOTS * config->snapshot_log_bytes;
    usual = usual < LOG_MEMORY_MIN ? LOG_MEMORY_MIN : usual;
    return config->log_memory_max > 0 ? config->log_memory_max : usual;
}

static void node_freep(struct node **n)
{
    if (*n != NULL) {
        disk_io_free((*n)->disk);
        free(*n);
    }
}

enum err_code node_open(uv_loop_t *loop, const struct node_config *config,
                        const struct node_fsm *fsm, struct node **out_node, struct err *err)
{
    if (check_config(config, err) != ERR_OK) {
        return err->code;
    }
    ATTR_CLEANUP(node_freep) struct node *n = calloc(1, sizeof *n);
    CHECK(n != NULL);
    n->loop = loop;
    n->fsm = *fsm;
    n->snapshot_log_bytes = config->snapshot_log_bytes;
    n->free_bytes_min = config->free_bytes_min;
    n->log_memory_max = log_memory_max(config);
    n->durable = config->durable;
    n->finished_end = &n->finished;
    n->finished_msg.deliver = finished_deliver;
    if (open_disk(n, config, err) != ERR_OK ||
        (config->peers != NULL &&
         peers_open(loop, config->peers, config->dir, &n->peers, err) != ERR_OK)) {
        return err->code;
    }
    start(n, config);
    *out_node = TAKE(n);
    return ERR_OK;
}

/* --- closing --- */

static void ended_cb(uv_handle_t *handle)
{
    struct node *n = handle->data;
    void (*closed)(void *data) = n->closed;
    void *data = n->closed_data;
    mailbox_deinit(&n->box);
    free(n);
    closed(data);
}

static void ending_cb(uv_handle_t *handle)
{
    struct node *n = handle->data;
    uv_close((uv_handle_t *)&n->end[1], ended_cb);
}

/* Completes a close when nothing is pending any more. All conditions are listed here. The
 * mailbox does not report when the loop is done with it, but handles closed together end in the
 * same turn of the loop, so the turn after that is late enough. */
static void maybe_closed(struct node *n)
{
    if (n->raft_closed && !n->finished_posted && n->finished == NULL && !n->ending) {
        n->ending = true;
        mailbox_close(&n->box);
        uv_close((uv_handle_t *)&n->end[0], ending_cb);
    }
}

static void raft_closed_cb(struct raft *raft)
{
    struct node *n = CONTAINER_OF(raft, struct node, raft);
    disk_io_free(TAKE(n->disk));
    n->raft_closed = true;
    if (n->leads) {
        n->leads = false;
        n->fsm.leads_changed(n->fsm.data, false);
    }
    finish_later(n);
    maybe_closed(n);
}

void node_close(struct node *n, void (*closed)(void *data), void *data)
{
    if (n->cut != NULL) {
        return; /* the node is closing because of a fatal error */
    }
    CHECK(!n->closing);
    n->closing = true;
    n->closed = closed;
    n->closed_data = data;
    raft_close(&n->raft, raft_closed_cb);
    finish_later(n);
}

/* --- status --- */

uint64_t node_applied(const struct node *n)
{
    return n->closing ? 0 : n->raft.last_applied;
}

static const char *role(int state)
{
    switch (state) {
    case RAFT_LEADER:
        return "Leader";
    case RAFT_CANDIDATE:
        return "Candidate";
    case RAFT_FOLLOWER:
        return "Follower";
    default:
        return "Shutdown";
    }
}

void node_status(struct node *n, struct node_status *out)
{
    const struct raft_log *log = &n->raft.log;
    *out = (struct node_status){.role = "Shutdown", .durable = n->durable};
    if (n->closing) {
        return; /* Raft's memory may be freed */
    }
    const struct wal_status *wal = disk_io_wal_status(n->disk);
    const struct manifest *newest = disk_io_manifest(n->disk);
    raft_id leader_id = 0;
    const char *leader_address = NULL;
    raft_leader(&n->raft, &leader_id, &leader_address);
    *out = (struct node_status){
        .role = role(raft_state(&n->raft)),
        .leads = node_leads(n),
        .durable = n->durable,
        .low_space = wal->low_space,
        .full = wal->full,
        .term = n->raft.current_term,
        .leader_id = leader_id,
        .last_index = raft_last_index(&n->raft),
        .commit_index = n->raft.commit_index,
        .applied_index = raft_last_applied(&n->raft),
        .snapshot_index = newest == NULL ? 0 : newest->index,
        .snapshot_term = newest == NULL ? 0 : newest->term,
        .snapshot_count = n->snapshot_count,
        .flush_count = wal->flush_count,
        .log_bytes = wal->log_bytes,
        .log_entries_memory =
            log->front <= log->back ? log->back - log->front : log->size - log->front + log->back,
        .log_bytes_memory = n->guard.log_bytes,
        .log_memory_max = n->log_memory_max,
        .snapshot_bytes = disk_io_snapshot_bytes(n->disk),
        .snapshot_failures = n->snapshot_failures,
    };
    (void)snprintf(out->snapshot_error, sizeof out->snapshot_error, "%s",
                   n->snapshot_failures > 0 ? n->snapshot_err.msg : "");
}

struct node_flushes node_take_flushes(struct node *n)
{
    const struct wal_status *wal = disk_io_wal_status(n->disk);
    return (struct node_flushes){.count = wal->flush_count,
                                 .ns = wal->flush_ns,
                                 .longest_ns = disk_io_take_longest_flush(n->disk)};
}

void node_snapshot_soon(struct node *n)
{
    n->snapshot_soon = true;
}

static void nudged_cb(struct raft_barrier *barrier, int status)
{
    struct node *n = barrier->data;
    (void)status; /* if it failed, another node is leader */
    n->nudging = false;
}

void node_snapshot_now(struct node *n)
{
    if (n->closing || n->snapshot != NULL || n->nudging) {
        return;
    }
    n->snapshot_soon = true;
    node_state__consider_snapshot(n);
    if (node_leads(n) && !transfer_is_on(&n->transfer)) {
        n->nudge.data = n;
        n->nudging = raft_barrier(&n->raft, &n->nudge, nudged_cb) == 0;
    } else {
        guard_snapshot_soon(&n->guard);
    }
}

void node_need_space(struct node *n, uint64_t free_bytes_min)
{
    if (!n->closing) {
        n->free_bytes_min = free_bytes_min;
        disk_io_need_space(n->disk, free_bytes_min);
    }
}
