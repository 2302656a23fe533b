/*
 * Snapshots of a node, and opening it when files are damaged or missing.
 */
#include <string.h>

#include "cluster/node.h"
#include "cluster/node_int.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"
#include "os/os_file.h"
#include "unit/cluster/node_rig.h"

/* --- snapshots --- */

static void run_until_snapshots(struct node_rig *r, uint64_t count)
{
    while (node_rig_status(r).snapshot_count < count) {
        assert_int_equal(node_rig_propose(r, 512), ERR_OK);
    }
}

static bool is_small(struct node_rig *r)
{
    struct node_status s = node_rig_status(r);
    return s.log_entries_memory < 400 && s.log_bytes < 3 * r->config.snapshot_log_bytes;
}

static void snapshots__keep_log_and_memory_small(void **state)
{
    struct node_rig *r = *state;
    r->config.snapshot_log_bytes = 64 << 10;
    node_rig_open(r);
    for (uint64_t round = 1; round <= 5; round++) {
        run_until_snapshots(r, round);
        struct node_status s = node_rig_status(r);
        assert_true(s.snapshot_index > 0);
        assert_int_equal(s.snapshot_term, s.term);
        /* Other threads take the snapshot and remove the files, while entries are added. */
        while (!is_small(r)) {
            assert_int_equal(node_rig_propose(r, 512), ERR_OK);
        }
    }
    node_snapshot_soon(r->node);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
    uint64_t hash = r->toy.state.hash;
    uint64_t count = r->toy.state.count;
    node_rig_close(r);
    r->config.snapshot_log_bytes = 1 << 20; /* no more snapshots */
    node_rig_open(r); /* this removes the checkpoint of a snapshot that the close ended */
    /* Two checkpoints and their manifests. */
    assert_int_equal(tmpdir_count(tmpdir_path(&r->dir, "snapshots").z, ""), 4);
    assert_int_equal(r->toy.restores, 0); /* the state is newer than the snapshot */
    assert_int_equal(r->toy.applies, 0);
    node_rig_close(r);
    node_rig_lose_state(r);
    node_rig_open(r);
    assert_int_equal(r->toy.restores, 1);
    assert_true(r->toy.applies < 400);
    assert_int_equal(r->toy.state.hash, hash);
    assert_int_equal(r->toy.state.count, count);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
}

static void snapshot_soon__takes_one_at_the_next_entry(void **state)
{
    struct node_rig *r = *state;
    node_rig_open(r);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
    assert_int_equal(r->toy.checkpoints, 0);
    node_snapshot_soon(r->node);
    run_until_snapshots(r, 1);
    assert_int_equal(r->toy.checkpoints, 1);
    assert_int_equal(node_rig_status(r).snapshot_count, 1);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(node_rig_propose(r, 8), ERR_OK);
    }
    assert_int_equal(node_rig_status(r).snapshot_count, 1); /* one snapshot, not one per proposal */
}

static void barrier_cb(struct raft_barrier *req, int status)
{
    assert_int_equal(status, 0);
    *(bool *)req->data = true;
}

/* Raft writes its own entries, which the state machine never receives. */
static void snapshot__that_ends_with_an_entry_of_rafts_own_is_a_start(void **state)
{
    struct node_rig *r = *state;
    bool passed = false;
    struct raft_barrier barrier = {.data = &passed};
    node_rig_open(r);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(node_rig_propose(r, 8), ERR_OK);
    }
    raft_set_snapshot_threshold(&r->node->raft, 1); /* the last entry made one due */
    assert_int_equal(raft_barrier(&r->node->raft, &barrier, barrier_cb), 0);
    while (!passed || node_rig_status(r).snapshot_count == 0) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_true(node_rig_status(r).snapshot_index > r->toy.state.applied_index);
    node_rig_close(r);
    node_rig_lose_state(r);
    node_rig_open(r);
    assert_int_equal(r->toy.restores, 1);
    assert_int_equal(r->toy.state.count, 3);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
}

static void snapshot__that_fails_is_tried_again_and_cuts_nothing(void **state)
{
    struct node_rig *r = *state;
    r->config.snapshot_log_bytes = 16 << 10;
    log_configure(LOG_LEVEL_COUNT, LOG_TEXT);
    node_rig_open(r);
    uv_mutex_lock(&r->toy.lock);
    r->toy.refuses_checkpoints = true;
    uv_mutex_unlock(&r->toy.lock);
    unsigned checkpoints = 0;
    while (checkpoints < 3) {
        assert_int_equal(node_rig_propose(r, 512), ERR_OK);
        uv_mutex_lock(&r->toy.lock);
        checkpoints = r->toy.checkpoints;
        uv_mutex_unlock(&r->toy.lock);
    }
    assert_int_equal(node_rig_status(r).snapshot_count, 0);
    assert_int_equal(node_rig_status(r).snapshot_index, 0);
    uv_mutex_lock(&r->toy.lock);
    r->toy.refuses_checkpoints = false;
    uv_mutex_unlock(&r->toy.lock);
    run_until_snapshots(r, 1);
    uint64_t hash = r->toy.state.hash;
    node_rig_close(r);
    node_rig_lose_state(r);
    r->config.snapshot_log_bytes = 1 << 30; /* none is in progress during the count */
    node_rig_open(r);
    assert_int_equal(r->toy.state.hash, hash);
    /* Every snapshot has a manifest and a checkpoint: failed and interrupted ones are removed. */
    struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
    size_t left = tmpdir_count(dir.z, "");
    assert_true(left == 2 || left == 4);
}

static void log_in_memory__is_counted_once(void **state)
{
    struct node_rig *r = *state;
    enum { ENTRIES = 20, BYTES = 512, OWN_BYTES = 512 /* Raft's own entries */ };
    node_rig_open(r);
    for (unsigned i = 0; i < ENTRIES; i++) {
        assert_int_equal(node_rig_propose(r, BYTES), ERR_OK);
    }
    uint64_t bytes = node_rig_status(r).log_bytes_memory;
    assert_in_range(bytes, ENTRIES * BYTES, ENTRIES * BYTES + OWN_BYTES);
    node_rig_close(r);
    node_rig_lose_state(r);
    node_rig_open(r); /* this applies all entries again */
    assert_int_equal(r->toy.applies, ENTRIES);
    bytes = node_rig_status(r).log_bytes_memory;
    assert_in_range(bytes, ENTRIES * BYTES, ENTRIES * BYTES + OWN_BYTES);
}

static void close__waits_for_a_snapshot_under_way(void **state)
{
    struct node_rig *r = *state;
    node_rig_open(r);
    for (unsigned i = 0; i < 5; i++) {
        node_snapshot_soon(r->node);
        struct node_rig_proposal a;
        node_rig_start(r, &a, 8);
        while (!a.done) {
            (void)uv_run(&r->loop, UV_RUN_ONCE);
        }
        node_rig_close(r); /* the snapshot may be in any phase */
        node_rig_open(r);
    }
    uint64_t hash = r->toy.state.hash;
    node_rig_close(r);
    node_rig_lose_state(r);
    node_rig_open(r);
    assert_int_equal(r->toy.state.hash, hash);
}

/* --- damaged or lost disks --- */

static void take_snapshot(struct node_rig *r)
{
    node_rig_open(r);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(node_rig_propose(r, 64), ERR_OK);
    }
    node_snapshot_soon(r->node);
    run_until_snapshots(r, 1);
    node_rig_close(r);
}

static void open__refuses_a_damaged_manifest(void **state)
{
    struct node_rig *r = *state;
    struct err err;
    take_snapshot(r);
    struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
    struct os_file_path path = tmpdir_find(dir.z, "", 1); /* listed after its folder */
    tmpdir_flip_bit(path.z, 40);
    assert_int_equal(node_rig_try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, ".manifest"));
}

static void open__refuses_a_damaged_checkpoint_when_it_is_needed(void **state)
{
    struct node_rig *r = *state;
    struct err err;
    take_snapshot(r);
    struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
    struct os_file_path checkpoint = tmpdir_find(dir.z, "", 0);
    struct os_file_path file = os_file_join(checkpoint.z, "state");
    tmpdir_flip_bit(file.z, 3);
    node_rig_open(r); /* the damage is not noticed */
    node_rig_close(r);
    node_rig_lose_state(r);
    assert_int_equal(node_rig_try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "/state"));
    assert_int_equal(r->toy.restores, 0);
}

static void open__refuses_a_damaged_log(void **state)
{
    struct node_rig *r = *state;
    struct err err;
    node_rig_open(r);
    for (unsigned i = 0; i < 50; i++) {
        assert_int_equal(node_rig_propose(r, 512), ERR_OK);
    }
    node_rig_close(r);
    struct os_file_path dir = tmpdir_path(&r->dir, "log");
    struct os_file_path path = tmpdir_find(dir.z, "log-", 1);
    tmpdir_flip_bit(path.z, 1000);
    assert_int_equal(node_rig_try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "log-"));
    assert_non_null(strstr(err.msg, "offset"));
}

/* A power failure has lost the end of a log that was not flushed, after the state was stored. */
static void open__fills_up_a_log_that_the_state_has_overtaken(void **state)
{
    struct node_rig *r = *state;
    struct err err;
    node_rig_open(r);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
    node_rig_close(r);
    r->toy.state.applied_index = 5000;
    assert_int_equal(node_rig_try_open(r, &err),
                     ERR_CORRUPT); /* a durable log cannot have lost entries */
    assert_non_null(strstr(err.msg, "5000"));
    r->config.durable = false;
    node_rig_open(r);
    struct node_rig_proposal a;
    node_rig_start(r, &a, 8);
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
    struct node_rig *r = *state;
    struct err err;
    r->toy.state.applied_index = 500;
    assert_int_equal(node_rig_try_open(r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "500"));
    node_rig_lose_state(r); /* the failed attempt has written nothing */
    node_rig_open(r);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
}

static void open__lets_one_process_in(void **state)
{
    struct node_rig *r = *state;
    struct node_rig other = *r;
    struct err err;
    node_rig_open(r);
    assert_int_equal(node_rig_try_open(&other, &err), ERR_CONFLICT);
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
    struct node_rig *r = *state;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(config_rows); i++) {
        ROW(config_rows[i].name);
        r->config = config_rows[i].config;
        r->config.dir = r->dir.path;
        assert_int_equal(node_rig_try_open(r, &err), ERR_VALIDATION);
    }
    r->config = node_config_default();
    char path[1000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    r->config.id = 1;
    r->config.address = "a";
    r->config.dir = path;
    assert_int_equal(node_rig_try_open(r, &err), ERR_VALIDATION);
}

/* A leader applies entries while it makes a checkpoint. A node that received the checkpoint may be
 * restarted before it has these entries. */
static void open__takes_a_checkpoint_that_has_more_than_its_snapshot(void **state)
{
    struct node_rig *r = *state;
    struct err err;
    node_rig_open(r);
    node_rig_add_voter(r);
    node_rig_close(r);
    take_snapshot(r);
    uint64_t ahead = r->toy.state.applied_index += 50;
    r->toy.checkpoint_index = ahead - 1;
    assert_int_equal(node_rig_try_open(r, &err),
                     ERR_CORRUPT); /* the state is not from this checkpoint */
    r->toy.checkpoint_index = ahead;
    assert_int_equal(node_rig_try_open(r, &err), ERR_OK);
    assert_true(disk_io_last_index(r->node->disk) < ahead); /* no entries are made up */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, node_rig_setup, node_rig_teardown)

TEST_GROUP(node_snapshots, TEST(snapshots__keep_log_and_memory_small),
           TEST(snapshot_soon__takes_one_at_the_next_entry),
           TEST(snapshot__that_ends_with_an_entry_of_rafts_own_is_a_start),
           TEST(snapshot__that_fails_is_tried_again_and_cuts_nothing),
           TEST(log_in_memory__is_counted_once), TEST(close__waits_for_a_snapshot_under_way),
           TEST(open__refuses_a_damaged_manifest),
           TEST(open__refuses_a_damaged_checkpoint_when_it_is_needed),
           TEST(open__refuses_a_damaged_log),
           TEST(open__fills_up_a_log_that_the_state_has_overtaken),
           TEST(open__does_not_start_a_new_log_under_an_old_state),
           TEST(open__takes_a_checkpoint_that_has_more_than_its_snapshot),
           TEST(open__lets_one_process_in), TEST(open__refuses_settings_that_cannot_work));
