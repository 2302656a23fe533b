#include "cluster/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/fault.h"
#include "base/hash.h"
#include "cluster/node_int.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"

/* A state machine that stores the number of applied entries and a hash over all of them. A
 * checkpoint is one file. It has a lock, because checkpoints are made on another thread. */
struct toy {
    uv_mutex_t lock;
    struct {
        uint64_t applied_index, count, hash;
    } state;
    unsigned applies, checkpoints, restores; /* calls in this life */
    uint64_t checkpoint_index; /* of the newest checkpoint, if that is newer than its snapshot */
    bool refuses_checkpoints;
    bool leads;
    unsigned leads_changes;
};

/* A node, its loop and its toy, which outlives the node. */
struct rig {
    struct tmpdir dir;
    struct node_config config;
    uv_loop_t loop;
    struct toy toy;
    struct node *node;
    bool closed;
};

static void toy_apply(void *data, uint64_t index, struct str entry)
{
    struct toy *t = data;
    uv_mutex_lock(&t->lock);
    assert_true(index > t->state.applied_index);
    t->state.applied_index = index;
    t->state.count++;
    t->state.hash = hash_bytes(t->state.hash, entry.ptr, entry.len);
    t->applies++;
    uv_mutex_unlock(&t->lock);
}

static uint64_t toy_applied_index(void *data)
{
    struct toy *t = data;
    return t->state.applied_index;
}

static enum err_code toy_checkpoint(void *data, const char *dir, struct err *err)
{
    struct toy *t = data;
    struct os_file_path path = os_file_join(dir, "state");
    if (os_file_make_dirs(dir, err) != ERR_OK) {
        return err->code;
    }
    uv_mutex_lock(&t->lock);
    t->checkpoints++;
    bool refuse = t->refuses_checkpoints;
    __typeof__(t->state) copy = t->state;
    uv_mutex_unlock(&t->lock);
    if (refuse) {
        return err_set(err, ERR_STORE, "not now");
    }
    return os_file_replace(path.z, str_from(&copy, sizeof copy), err);
}

static enum err_code toy_restore(void *data, const char *dir, struct err *err)
{
    struct toy *t = data;
    struct os_file_path path = os_file_join(dir, "state");
    struct buf bytes;
    buf_init(&bytes, 1024);
    enum err_code code = os_file_read(path.z, &bytes, err);
    if (code == ERR_OK) {
        assert_int_equal(bytes.len, sizeof t->state);
        memcpy(&t->state, bytes.ptr, sizeof t->state);
        t->restores++;
    }
    buf_deinit(&bytes);
    return code;
}

static enum err_code toy_checkpoint_index(void *data, const char *dir, uint64_t *out_index,
                                          struct err *err)
{
    (void)dir;
    (void)err;
    *out_index = ((const struct toy *)data)->checkpoint_index;
    return ERR_OK;
}

static void toy_leads_changed(void *data, bool leads)
{
    struct toy *t = data;
    assert_true(leads != t->leads);
    t->leads = leads;
    t->leads_changes++;
}

static int setup(void **state)
{
    static struct rig r;
    log_configure(LOG_ERROR, LOG_TEXT);
    r = (struct rig){.dir = tmpdir_new(), .config = node_config_default()};
    r.config.dir = r.dir.path;
    r.config.id = 1;
    r.config.address = "127.0.0.1:0";
    r.config.segment_bytes = 8192;
    r.config.heartbeat_ms = 5;
    r.config.election_ms = 50;
    CHECK(uv_mutex_init(&r.toy.lock) == 0);
    CHECK(uv_loop_init(&r.loop) == 0);
    *state = &r;
    return 0;
}

static enum err_code try_open(struct rig *r, struct err *err)
{
    const struct node_fsm fsm = {.data = &r->toy,
                                 .apply = toy_apply,
                                 .applied_index = toy_applied_index,
                                 .checkpoint = toy_checkpoint,
                                 .restore = toy_restore,
                                 .checkpoint_index = toy_checkpoint_index,
                                 .leads_changed = toy_leads_changed};
    r->toy.applies = r->toy.checkpoints = r->toy.restores = 0;
    r->closed = false;
    return node_open(&r->loop, &r->config, &fsm, &r->node, err);
}

static void run_until_leads(struct rig *r)
{
    while (!r->toy.leads) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_true(node_leads(r->node));
}

static void open_node(struct rig *r)
{
    struct err err = {0};
    if (try_open(r, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    run_until_leads(r);
}

static void closed_cb(void *data)
{
    struct rig *r = data;
    r->closed = true;
    r->node = NULL;
}

static void close_node(struct rig *r)
{
    node_close(r->node, closed_cb, r);
    CHECK(uv_run(&r->loop, UV_RUN_DEFAULT) == 0);
    assert_true(r->closed);
    assert_false(r->toy.leads);
}

static int teardown(void **state)
{
    struct rig *r = *state;
    if (r->node != NULL) {
        close_node(r);
    }
    CHECK(uv_loop_close(&r->loop) == 0);
    uv_mutex_destroy(&r->toy.lock);
    tmpdir_remove(&r->dir);
    fault_reset();
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

/* Simulate the loss of the state machine's disk. */
static void lose_state(struct rig *r)
{
    memset(&r->toy.state, 0, sizeof r->toy.state);
}

struct proposal {
    struct node_propose p;
    struct rig *rig;
    bool done;
    bool inside; /* node_propose has not returned yet */
};

static void proposal_done(struct node_propose *p)
{
    struct proposal *a = CONTAINER_OF(p, struct proposal, p);
    assert_false(a->inside);
    assert_false(a->done);
    assert_false(a->rig->closed);
    a->done = true;
}

static void start_proposal(struct rig *r, struct proposal *a, size_t len)
{
    *a = (struct proposal){.rig = r, .inside = true};
    a->p.bytes = malloc(len);
    CHECK(a->p.bytes != NULL);
    memset(a->p.bytes, (int)(r->toy.state.count % 251), len);
    a->p.len = len;
    a->p.done = proposal_done;
    node_propose(r->node, &a->p);
    a->inside = false;
}

/* Propose and wait. Returns the error code. */
static enum err_code propose(struct rig *r, size_t len)
{
    struct proposal a;
    start_proposal(r, &a, len);
    while (!a.done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    return a.p.err.code;
}

static struct node_status status_of(struct rig *r)
{
    struct node_status s;
    node_status(r->node, &s);
    return s;
}

/* --- entries --- */

static void node__applies_what_is_proposed_in_order(void **state)
{
    struct rig *r = *state;
    open_node(r);
    assert_int_equal(node_depth(r->node), 1);
    struct proposal a[20];
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        start_proposal(r, &a[i], 64);
    }
    while (!a[COUNT_OF(a) - 1].done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        assert_true(a[i].done);
        assert_int_equal(a[i].p.err.code, ERR_OK);
        assert_int_equal(a[i].p.index, a[0].p.index + i);
    }
    assert_int_equal(r->toy.state.count, COUNT_OF(a));
    struct node_status s = status_of(r);
    assert_string_equal(s.role, "Leader");
    assert_true(s.leads);
    assert_true(s.durable);
    assert_false(s.low_space);
    assert_true(s.term > 0);
    assert_int_equal(s.leader_id, 1);
    assert_int_equal(s.applied_index, a[COUNT_OF(a) - 1].p.index);
    assert_int_equal(s.commit_index, s.last_index);
    assert_true(s.flush_count > 0);
    assert_true(s.log_bytes > COUNT_OF(a) * 64);
    close_node(r);
    assert_int_equal(r->toy.leads_changes, 2);
}

static void node__hands_over_only_what_the_state_lacks(void **state)
{
    struct rig *r = *state;
    open_node(r);
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(propose(r, 8 + 8 * i), ERR_OK);
    }
    uint64_t hash = r->toy.state.hash;
    close_node(r);
    open_node(r); /* the state is complete */
    assert_int_equal(r->toy.applies, 0);
    assert_int_equal(r->toy.state.hash, hash);
    close_node(r);
    lose_state(r);
    open_node(r);
    assert_int_equal(r->toy.applies, 30);
    assert_int_equal(r->toy.state.hash, hash);
    assert_int_equal(propose(r, 8), ERR_OK);
    assert_int_equal(r->toy.state.count, 31);
}

static void node__does_not_flush_when_it_need_not_be_durable(void **state)
{
    struct rig *r = *state;
    r->config.durable = false;
    r->config.segment_bytes = 1 << 20;
    open_node(r);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(propose(r, 64), ERR_OK);
    }
    assert_int_equal(status_of(r).flush_count, 0);
    assert_false(status_of(r).durable);
}

static void propose__is_refused_while_nobody_leads(void **state)
{
    struct rig *r = *state;
    struct err err;
    r->config.bootstrap = false; /* it waits to be added to a group */
    assert_int_equal(try_open(r, &err), ERR_OK);
    assert_false(node_leads(r->node));
    assert_int_equal(propose(r, 8), ERR_LEADER_UNAVAILABLE);
    assert_string_equal(status_of(r).role, "Follower");
    close_node(r);
    assert_int_equal(r->toy.leads_changes, 0);
    /* An empty node may still found a group. After that, it does not need the setting. */
    r->config.bootstrap = true;
    open_node(r);
    close_node(r);
    r->config.bootstrap = false;
    open_node(r);
}

static bool space_is_back(struct rig *r)
{
    return !status_of(r).low_space;
}

static void propose__is_refused_while_space_is_low(void **state)
{
    struct rig *r = *state;
    r->config.free_bytes_min = 4096;
    fault_arm(FAULT_DISK_SPACE_LOW, 1);
    open_node(r); /* a new leader's own entry is written all the same */
    assert_true(status_of(r).low_space);
    struct proposal a;
    start_proposal(r, &a, 8);
    while (!a.done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_int_equal(a.p.err.code, ERR_NO_SPACE);
    assert_non_null(strstr(a.p.err.msg, "4096"));
    fault_reset();
    while (!space_is_back(r)) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_int_equal(propose(r, 8), ERR_OK);
}

static void close__ends_what_is_under_way(void **state)
{
    struct rig *r = *state;
    open_node(r);
    struct proposal a[8];
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        start_proposal(r, &a[i], 64);
    }
    node_close(r->node, closed_cb, r);
    struct proposal late;
    start_proposal(r, &late, 64);
    assert_string_equal(status_of(r).role, "Shutdown");
    CHECK(uv_run(&r->loop, UV_RUN_DEFAULT) == 0);
    assert_true(r->closed);
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        assert_true(a[i].done);
        assert_int_equal(a[i].p.err.code, ERR_UNKNOWN_OUTCOME);
        assert_non_null(strstr(a[i].p.err.msg, "may or may not have happened: log entry "));
    }
    assert_true(late.done);
    assert_int_equal(late.p.err.code, ERR_STOPPING);
    open_node(r); /* an unknown outcome: here the entries were stored */
    assert_int_equal(r->toy.state.count, COUNT_OF(a));
}

/* --- snapshots --- */

static void run_until_snapshots(struct rig *r, uint64_t count)
{
    while (status_of(r).snapshot_count < count) {
        assert_int_equal(propose(r, 512), ERR_OK);
    }
}

static void snapshots__keep_log_and_memory_small(void **state)
{
    struct rig *r = *state;
    r->config.snapshot_log_bytes = 64 << 10;
    open_node(r);
    for (uint64_t round = 1; round <= 5; round++) {
        run_until_snapshots(r, round);
        struct node_status s = status_of(r);
        assert_true(s.snapshot_index > 0);
        assert_int_equal(s.snapshot_term, s.term);
        assert_true(s.log_entries_memory < 400);
        assert_true(s.log_bytes < 3 * r->config.snapshot_log_bytes);
    }
    node_snapshot_soon(r->node);
    assert_int_equal(propose(r, 8), ERR_OK);
    uint64_t hash = r->toy.state.hash;
    uint64_t count = r->toy.state.count;
    close_node(r);
    r->config.snapshot_log_bytes = 1 << 20; /* no more snapshots */
    open_node(r); /* this removes the checkpoint of a snapshot that the close ended */
    /* Two checkpoints and their manifests. */
    assert_int_equal(tmpdir_count(tmpdir_path(&r->dir, "snapshots").z, ""), 4);
    assert_int_equal(r->toy.restores, 0); /* the state is newer than the snapshot */
    assert_int_equal(r->toy.applies, 0);
    close_node(r);
    lose_state(r);
    open_node(r);
    assert_int_equal(r->toy.restores, 1);
    assert_true(r->toy.applies < 400);
    assert_int_equal(r->toy.state.hash, hash);
    assert_int_equal(r->toy.state.count, count);
    assert_int_equal(propose(r, 8), ERR_OK);
}

static void snapshot_soon__takes_one_at_the_next_entry(void **state)
{
    struct rig *r = *state;
    open_node(r);
    assert_int_equal(propose(r, 8), ERR_OK);
    assert_int_equal(r->toy.checkpoints, 0);
    node_snapshot_soon(r->node);
    run_until_snapshots(r, 1);
    assert_int_equal(r->toy.checkpoints, 1);
    assert_int_equal(status_of(r).snapshot_count, 1);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(propose(r, 8), ERR_OK);
    }
    assert_int_equal(status_of(r).snapshot_count, 1); /* one snapshot, not one per proposal */
}

static void barrier_cb(struct raft_barrier *req, int status)
{
    assert_int_equal(status, 0);
    *(bool *)req->data = true;
}

/* Raft writes its own entries, which the state machine never receives. */
static void snapshot__that_ends_with_an_entry_of_rafts_own_is_a_start(void **state)
{
    struct rig *r = *state;
    bool passed = false;
    struct raft_barrier barrier = {.data = &passed};
    open_node(r);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(propose(r, 8), ERR_OK);
    }
    raft_set_snapshot_threshold(&r->node->raft, 1); /* the last entry made one due */
    assert_int_equal(raft_barrier(&r->node->raft, &barrier, barrier_cb), 0);
    while (!passed || status_of(r).snapshot_count == 0) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_true(status_of(r).snapshot_index > r->toy.state.applied_index);
    close_node(r);
    lose_state(r);
    open_node(r);
    assert_int_equal(r->toy.restores, 1);
    assert_int_equal(r->toy.state.count, 3);
    assert_int_equal(propose(r, 8), ERR_OK);
}

static void snapshot__that_fails_is_tried_again_and_cuts_nothing(void **state)
{
    struct rig *r = *state;
    r->config.snapshot_log_bytes = 16 << 10;
    log_configure(LOG_LEVEL_COUNT, LOG_TEXT);
    open_node(r);
    uv_mutex_lock(&r->toy.lock);
    r->toy.refuses_checkpoints = true;
    uv_mutex_unlock(&r->toy.lock);
    unsigned checkpoints = 0;
    while (checkpoints < 3) {
        assert_int_equal(propose(r, 512), ERR_OK);
        uv_mutex_lock(&r->toy.lock);
        checkpoints = r->toy.checkpoints;
        uv_mutex_unlock(&r->toy.lock);
    }
    assert_int_equal(status_of(r).snapshot_count, 0);
    assert_int_equal(status_of(r).snapshot_index, 0);
    uv_mutex_lock(&r->toy.lock);
    r->toy.refuses_checkpoints = false;
    uv_mutex_unlock(&r->toy.lock);
    run_until_snapshots(r, 1);
    uint64_t hash = r->toy.state.hash;
    close_node(r);
    lose_state(r);
    r->config.snapshot_log_bytes = 1 << 30; /* none is in progress during the count */
    open_node(r);
    assert_int_equal(r->toy.state.hash, hash);
    /* Every snapshot has a manifest and a checkpoint: failed and interrupted ones are removed. */
    struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
    size_t left = tmpdir_count(dir.z, "");
    assert_true(left == 2 || left == 4);
}

static void close__waits_for_a_snapshot_under_way(void **state)
{
    struct rig *r = *state;
    open_node(r);
    for (unsigned i = 0; i < 5; i++) {
        node_snapshot_soon(r->node);
        struct proposal a;
        start_proposal(r, &a, 8);
        while (!a.done) {
            (void)uv_run(&r->loop, UV_RUN_ONCE);
        }
        close_node(r); /* the snapshot may be in any phase */
        open_node(r);
    }
    uint64_t hash = r->toy.state.hash;
    close_node(r);
    lose_state(r);
    open_node(r);
    assert_int_equal(r->toy.state.hash, hash);
}

/* --- damaged or lost disks --- */

static void take_snapshot(struct rig *r)
{
    open_node(r);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(propose(r, 64), ERR_OK);
    }
    node_snapshot_soon(r->node);
    run_until_snapshots(r, 1);
    close_node(r);
}

static void open__refuses_a_damaged_manifest(void **state)
{
    struct rig *r = *state;
    struct err err;
    take_snapshot(r);
    struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
    struct os_file_path path = tmpdir_find(dir.z, "", 1); /* listed after its folder */
    tmpdir_flip_bit(path.z, 40);
    assert_int_equal(try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, ".manifest"));
}

static void open__refuses_a_damaged_checkpoint_when_it_is_needed(void **state)
{
    struct rig *r = *state;
    struct err err;
    take_snapshot(r);
    struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
    struct os_file_path checkpoint = tmpdir_find(dir.z, "", 0);
    struct os_file_path file = os_file_join(checkpoint.z, "state");
    tmpdir_flip_bit(file.z, 3);
    open_node(r); /* the damage is not noticed */
    close_node(r);
    lose_state(r);
    assert_int_equal(try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "/state"));
    assert_int_equal(r->toy.restores, 0);
}

static void open__refuses_a_damaged_log(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_node(r);
    for (unsigned i = 0; i < 50; i++) {
        assert_int_equal(propose(r, 512), ERR_OK);
    }
    close_node(r);
    struct os_file_path dir = tmpdir_path(&r->dir, "log");
    struct os_file_path path = tmpdir_find(dir.z, "log-", 1);
    tmpdir_flip_bit(path.z, 1000);
    assert_int_equal(try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "log-"));
    assert_non_null(strstr(err.msg, "offset"));
}

/* A power failure has lost the end of a log that was not flushed, after the state was stored. */
static void open__fills_up_a_log_that_the_state_has_overtaken(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_node(r);
    assert_int_equal(propose(r, 8), ERR_OK);
    close_node(r);
    r->toy.state.applied_index = 5000;
    assert_int_equal(try_open(r, &err), ERR_CORRUPT); /* a durable log cannot have lost entries */
    assert_non_null(strstr(err.msg, "5000"));
    r->config.durable = false;
    open_node(r);
    struct proposal a;
    start_proposal(r, &a, 8);
    while (!a.done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_int_equal(a.p.err.code, ERR_OK);
    assert_true(a.p.index > 5000);
    assert_int_equal(r->toy.state.applied_index, a.p.index); /* the entry was applied */
}

/* Only the node's folder is gone. The state would silently skip the entries of a new, empty log. */
static void open__does_not_start_a_new_log_under_an_old_state(void **state)
{
    struct rig *r = *state;
    struct err err;
    r->toy.state.applied_index = 500;
    assert_int_equal(try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "500"));
    lose_state(r); /* the failed attempt has written nothing */
    open_node(r);
    assert_int_equal(propose(r, 8), ERR_OK);
}

static void open__lets_one_process_in(void **state)
{
    struct rig *r = *state;
    struct rig other = *r;
    struct err err;
    open_node(r);
    assert_int_equal(try_open(&other, &err), ERR_CONFLICT);
}

/* clang-format off */
static const struct {
    const char *name;
    struct node_config config;
} config_rows[] = {
    {"no id",                {.id = 0, .address = "a", .segment_bytes = 8192, .snapshot_log_bytes = 1, .heartbeat_ms = 1, .election_ms = 2}},
    {"no address",           {.id = 1, .address = "",  .segment_bytes = 8192, .snapshot_log_bytes = 1, .heartbeat_ms = 1, .election_ms = 2}},
    {"a tiny segment",       {.id = 1, .address = "a", .segment_bytes = 100,  .snapshot_log_bytes = 1, .heartbeat_ms = 1, .election_ms = 2}},
    {"an odd segment",       {.id = 1, .address = "a", .segment_bytes = 8193, .snapshot_log_bytes = 1, .heartbeat_ms = 1, .election_ms = 2}},
    {"no snapshots",         {.id = 1, .address = "a", .segment_bytes = 8192, .snapshot_log_bytes = 0, .heartbeat_ms = 1, .election_ms = 2}},
    {"no heartbeat",         {.id = 1, .address = "a", .segment_bytes = 8192, .snapshot_log_bytes = 1, .heartbeat_ms = 0, .election_ms = 2}},
    {"a rushed election",    {.id = 1, .address = "a", .segment_bytes = 8192, .snapshot_log_bytes = 1, .heartbeat_ms = 2, .election_ms = 2}},
};
/* clang-format on */

static void open__refuses_settings_that_cannot_work(void **state)
{
    struct rig *r = *state;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(config_rows); i++) {
        ROW(config_rows[i].name);
        r->config = config_rows[i].config;
        r->config.dir = r->dir.path;
        assert_int_equal(try_open(r, &err), ERR_VALIDATION);
    }
    r->config = node_config_default();
    char path[1000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    r->config.id = 1;
    r->config.address = "a";
    r->config.dir = path;
    assert_int_equal(try_open(r, &err), ERR_VALIDATION);
}

/* --- transfer of leadership --- */

struct handover {
    bool over, moved;
};

static void handed_over(void *data, bool moved)
{
    struct handover *h = data;
    assert_false(h->over);
    *h = (struct handover){.over = true, .moved = moved};
}

static void transfer__needs_another_voter(void **state)
{
    struct rig *r = *state;
    struct handover h = {0};
    struct err err;
    open_node(r);
    assert_int_equal(node_transfer(r->node, 0, handed_over, &h, &err), ERR_NOT_FOUND);
    assert_int_equal(node_transfer(r->node, 1, handed_over, &h, &err), ERR_NOT_FOUND);
    assert_int_equal(node_transfer(r->node, 2, handed_over, &h, &err), ERR_NOT_FOUND);
    assert_int_equal(propose(r, 64), ERR_OK);
    assert_false(h.over);
}

static void changed_cb(struct raft_change *change, int status)
{
    assert_int_equal(status, 0);
    *(bool *)change->data = true;
}

/* Add a second member, which is unreachable, as a voter. */
static void add_voter(struct rig *r)
{
    struct raft *raft = &r->node->raft;
    bool added = false;
    struct raft_change change = {.data = &added};
    assert_int_equal(raft_add(raft, &change, 2, "127.0.0.1:1", changed_cb), 0);
    while (!added) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    raft->configuration.servers[1].role = RAFT_VOTER;
}

static void transfer__refuses_proposals_until_it_is_given_up(void **state)
{
    struct rig *r = *state;
    struct handover h = {0};
    struct err err;
    open_node(r);
    add_voter(r);
    assert_int_equal(node_transfer(r->node, 0, handed_over, &h, &err), ERR_OK);
    assert_false(h.over);
    assert_int_equal(node_transfer(r->node, 2, handed_over, &h, &err), ERR_CONFLICT);
    assert_int_equal(propose(r, 64), ERR_LEADER_UNAVAILABLE);
    while (!h.over) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_false(h.moved);
}

static void transfer__does_not_keep_a_node_from_closing(void **state)
{
    struct rig *r = *state;
    struct handover h = {0};
    struct err err;
    open_node(r);
    add_voter(r);
    assert_int_equal(node_transfer(r->node, 2, handed_over, &h, &err), ERR_OK);
    close_node(r);
    assert_false(h.over);
}

/* --- when Raft must not continue --- */

/* A leader applies entries while it makes a checkpoint. A node that received the checkpoint may be
 * restarted before it has these entries. */
static void open__takes_a_checkpoint_that_has_more_than_its_snapshot(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_node(r);
    add_voter(r);
    close_node(r);
    take_snapshot(r);
    uint64_t ahead = r->toy.state.applied_index += 50;
    r->toy.checkpoint_index = ahead - 1;
    assert_int_equal(try_open(r, &err), ERR_CORRUPT); /* the state is not from this checkpoint */
    r->toy.checkpoint_index = ahead;
    assert_int_equal(try_open(r, &err), ERR_OK);
    assert_true(disk_io_last_index(r->node->disk) < ahead); /* no entries are made up */
}

static struct rig *cut_rig;

enum { CUT_ENTRIES = 20 };

static void cut_under_way(void)
{
    static struct proposal under_way[CUT_ENTRIES];
    struct rig *r = cut_rig;
    CHECK(uv_loop_fork(&r->loop) == 0);
    open_node(r);
    for (unsigned i = 0; i < CUT_ENTRIES; i++) {
        start_proposal(r, &under_way[i], 4096);
    }
    r->node->guard.hooks.fatal(r->node, GUARD_MEMBERS,
                               "a membership change was truncated from the log");
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
}

/* Entries that are being written reach the disk before the process ends. */
static void fatal__lets_what_is_under_way_reach_the_disk(void **state)
{
    struct rig *r = *state;
    cut_rig = r;
    expect_abort(cut_under_way);
    open_node(r); /* it becomes leader, so all entries in the log are applied */
    assert_int_equal(r->toy.state.count, CUT_ENTRIES);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(node, TEST(node__applies_what_is_proposed_in_order),
           TEST(node__hands_over_only_what_the_state_lacks),
           TEST(node__does_not_flush_when_it_need_not_be_durable),
           TEST(propose__is_refused_while_nobody_leads),
           TEST(propose__is_refused_while_space_is_low), TEST(close__ends_what_is_under_way),
           TEST(snapshots__keep_log_and_memory_small),
           TEST(snapshot_soon__takes_one_at_the_next_entry),
           TEST(snapshot__that_ends_with_an_entry_of_rafts_own_is_a_start),
           TEST(snapshot__that_fails_is_tried_again_and_cuts_nothing),
           TEST(close__waits_for_a_snapshot_under_way), TEST(open__refuses_a_damaged_manifest),
           TEST(open__refuses_a_damaged_checkpoint_when_it_is_needed),
           TEST(open__refuses_a_damaged_log),
           TEST(open__fills_up_a_log_that_the_state_has_overtaken),
           TEST(open__does_not_start_a_new_log_under_an_old_state),
           TEST(open__takes_a_checkpoint_that_has_more_than_its_snapshot),
           TEST(open__lets_one_process_in), TEST(open__refuses_settings_that_cannot_work),
           TEST(transfer__needs_another_voter),
           TEST(transfer__refuses_proposals_until_it_is_given_up),
           TEST(transfer__does_not_keep_a_node_from_closing),
           TEST(fatal__lets_what_is_under_way_reach_the_disk));
