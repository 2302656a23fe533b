#include "cluster/disk_io.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/fault.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"
#include "raftlog/members.h"
#include "raftlog/snapshots.h"

/* A member's folder and its disk_io, called by the test in place of Raft. */
struct rig {
    struct tmpdir dir;
    struct disk_io_config config;
    uv_loop_t loop;
    struct mailbox box;
    struct disk_io *disk;
    struct raft_io io;
    /* results of load */
    raft_term term;
    raft_id vote;
    struct raft_snapshot *snapshot;
    raft_index start_index;
    struct raft_entry *entries;
    size_t n_entries;
    /* results of callbacks */
    unsigned ticks, appended, put, got, worked;
    int status;
    struct raft_snapshot *got_snapshot;
};

static int setup(void **state)
{
    static struct rig r;
    log_configure(LOG_ERROR, LOG_TEXT);
    r = (struct rig){.dir = tmpdir_new()};
    r.config = (struct disk_io_config){
        .dir = r.dir.path, .segment_bytes = WAL_SEGMENT_BYTES_MIN, .durable = true};
    CHECK(uv_loop_init(&r.loop) == 0);
    *state = &r;
    return 0;
}

static int teardown(void **state)
{
    struct rig *r = *state;
    disk_io_free(TAKE(r->disk));
    CHECK(uv_loop_close(&r->loop) == 0);
    tmpdir_remove(&r->dir);
    fault_reset();
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

static void open_disk(struct rig *r)
{
    struct err err = {0};
    if (disk_io_open(&r->config, &r->disk, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
}

static void tick(struct raft_io *io)
{
    struct rig *r = io->data;
    r->ticks++;
}

static void recv_none(struct raft_io *io, struct raft_message *message)
{
    (void)io;
    (void)message;
}

/* Start serving an open folder. */
static void serve(struct rig *r)
{
    const struct disk_io_host host = {.loop = &r->loop, .box = &r->box};
    mailbox_open(&r->box, &r->loop);
    disk_serve_attach(r->disk, &host, &r->io);
    r->io.data = r;
    assert_int_equal(r->io.init(&r->io, 1, "here"), 0);
    assert_int_equal(r->io.load(&r->io, &r->term, &r->vote, &r->snapshot, &r->start_index,
                                &r->entries, &r->n_entries),
                     0);
    assert_int_equal(r->io.start(&r->io, 1, tick, recv_none), 0);
}

static void snapshot_free(struct raft_snapshot *s)
{
    if (s != NULL) {
        raft_configuration_close(&s->configuration);
        raft_free(s->bufs[0].base);
        raft_free(s->bufs);
        raft_free(s);
    }
}

static void closed_cb(struct raft_io *io)
{
    struct rig *r = io->data;
    disk_io_free(TAKE(r->disk));
    mailbox_close(&r->box);
}

static void close_disk(struct rig *r)
{
    for (size_t i = 0; i < r->n_entries; i++) {
        raft_free(r->entries[i].buf.base);
    }
    raft_free(r->entries);
    r->entries = NULL;
    r->n_entries = 0;
    snapshot_free(TAKE(r->snapshot));
    r->io.close(&r->io, closed_cb);
    CHECK(uv_run(&r->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&r->box);
}

static void reopen(struct rig *r)
{
    close_disk(r);
    open_disk(r);
    serve(r);
}

static void run_until(struct rig *r, const unsigned *counter, unsigned value)
{
    while (*counter < value) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
}

static void append_cb(struct raft_io_append *req, int status)
{
    struct rig *r = req->data;
    r->status = status;
    r->appended++;
}

/* Append one entry of 8 bytes and wait. */
static void append(struct rig *r, raft_term term)
{
    struct raft_io_append req = {.data = r};
    char bytes[8] = "entry.";
    struct raft_entry e = {
        .term = term, .type = RAFT_COMMAND, .buf = {.base = bytes, .len = sizeof bytes}};
    unsigned before = r->appended;
    assert_int_equal(r->io.append(&r->io, &req, &e, 1, append_cb), 0);
    assert_int_equal(r->appended, before); /* never called from inside append */
    run_until(r, &r->appended, before + 1);
    assert_int_equal(r->status, 0);
}

static struct raft_configuration one_member(void)
{
    struct raft_configuration c;
    raft_configuration_init(&c);
    CHECK(raft_configuration_add(&c, 1, "here", RAFT_VOTER) == 0);
    return c;
}

static void bootstrap(struct rig *r)
{
    struct raft_configuration c = one_member();
    struct err err;
    assert_int_equal(disk_io_bootstrap(r->disk, &c, &err), ERR_OK);
    raft_configuration_close(&c);
}

/* Make the bytes of a manifest at this index, with an empty checkpoint. Allocated by raft_malloc.
 */
static struct raft_buffer manifest_bytes(uint64_t index, uint64_t term)
{
    struct raft_configuration c = one_member();
    struct snapshots_id id = snapshots_new_id(index);
    struct buf members;
    struct buf bytes;
    buf_init(&members, MEMBERS_BYTES_MAX);
    members_encode(&c, &members);
    struct manifest m = {.index = index,
                         .term = term,
                         .checkpoint = str_from_z(id.z),
                         .members = buf_str(&members),
                         .members_index = 1};
    buf_init(&bytes, MANIFEST_BYTES_MAX);
    manifest_encode(&m, &bytes);
    buf_deinit(&members);
    raft_configuration_close(&c);
    struct raft_buffer out = {.len = bytes.len};
    out.base = buf_take(&bytes);
    return out;
}

static void put_cb(struct raft_io_snapshot_put *req, int status)
{
    struct rig *r = req->data;
    r->status = status;
    r->put++;
}

static void put_snapshot(struct rig *r, uint64_t index, uint64_t term, unsigned trailing)
{
    struct raft_buffer bytes = manifest_bytes(index, term);
    struct raft_snapshot s = {
        .index = index, .term = term, .configuration_index = 1, .bufs = &bytes, .n_bufs = 1};
    struct raft_io_snapshot_put req = {.data = r};
    unsigned before = r->put;
    assert_int_equal(r->io.snapshot_put(&r->io, trailing, &req, &s, put_cb), 0);
    assert_int_equal(r->put, before);
    run_until(r, &r->put, before + 1);
    assert_int_equal(r->status, 0);
    raft_free(bytes.base);
}

/* --- start --- */

static void disk__is_pristine_until_it_is_bootstrapped(void **state)
{
    struct rig *r = *state;
    struct raft_configuration c = one_member();
    struct err err;
    open_disk(r);
    assert_true(disk_io_is_pristine(r->disk));
    assert_int_equal(disk_io_recover(r->disk, &c, &err), ERR_CONFLICT);
    bootstrap(r);
    assert_false(disk_io_is_pristine(r->disk));
    assert_int_equal(disk_io_bootstrap(r->disk, &c, &err), ERR_CONFLICT);
    serve(r);
    assert_int_equal(r->term, 1);
    assert_int_equal(r->vote, 0);
    assert_null(r->snapshot);
    assert_int_equal(r->start_index, 1);
    assert_int_equal(r->n_entries, 1);
    assert_int_equal(r->entries[0].type, RAFT_CHANGE);
    reopen(r);
    assert_int_equal(r->n_entries, 1);
    assert_int_equal(r->io.bootstrap(&r->io, &c), RAFT_BUSY);
    assert_int_equal(r->io.recover(&r->io, &c), RAFT_BUSY);
    close_disk(r);
    raft_configuration_close(&c);
}

/* Bootstrap and recover through the functions that Raft calls. */
static void io__bootstraps_and_recovers_before_it_is_started(void **state)
{
    struct rig *r = *state;
    const struct disk_io_host host = {.loop = &r->loop, .box = &r->box};
    struct raft_configuration c = one_member();
    open_disk(r);
    mailbox_open(&r->box, &r->loop);
    disk_serve_attach(r->disk, &host, &r->io);
    r->io.data = r;
    assert_int_equal(r->io.recover(&r->io, &c), RAFT_IOERR);
    assert_int_equal(r->io.bootstrap(&r->io, &c), 0);
    assert_int_equal(r->io.bootstrap(&r->io, &c), RAFT_CANTBOOTSTRAP);
    assert_int_equal(r->io.recover(&r->io, &c), 0);
    close_disk(r); /* without a start */
    open_disk(r);
    assert_int_equal(disk_io_last_index(r->disk), 2);
    raft_configuration_close(&c);
}

static void bootstrap__is_done_again_after_a_crash_in_it(void **state)
{
    struct rig *r = *state;
    struct raft_configuration c = one_member();
    struct err err;
    open_disk(r);
    fault_arm(FAULT_DISK_WRITE_FULL, 1); /* the term is stored by then, but not the entry */
    assert_int_equal(disk_io_bootstrap(r->disk, &c, &err), ERR_NO_SPACE);
    fault_reset();
    disk_io_free(TAKE(r->disk));
    open_disk(r);
    assert_true(disk_io_is_pristine(r->disk));
    bootstrap(r);
    assert_int_equal(disk_io_last_index(r->disk), 1);
    raft_configuration_close(&c);
}

static void recover__appends_the_members_that_are_left(void **state)
{
    struct rig *r = *state;
    struct raft_configuration c = one_member();
    struct raft_configuration now;
    struct err err;
    CHECK(raft_configuration_add(&c, 2, "there", RAFT_VOTER) == 0);
    open_disk(r);
    assert_int_equal(disk_io_bootstrap(r->disk, &c, &err), ERR_OK);
    raft_configuration_close(&c);
    c = one_member();
    assert_int_equal(disk_io_recover(r->disk, &c, &err), ERR_OK);
    disk_io_free(TAKE(r->disk));
    open_disk(r);
    assert_int_equal(disk_io_last_index(r->disk), 2);
    assert_int_equal(disk_io_members(r->disk, &now, &err), ERR_OK);
    assert_int_equal(now.n, 1);
    raft_configuration_close(&now);
    raft_configuration_close(&c);
}

static void fill__adds_entries_without_effect(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_disk(r);
    bootstrap(r);
    assert_int_equal(disk_io_fill(r->disk, 500, &err), ERR_OK);
    assert_int_equal(disk_io_last_index(r->disk), 500);
    serve(r);
    reopen(r);
    assert_int_equal(r->n_entries, 500);
    for (size_t i = 1; i < r->n_entries; i++) {
        assert_int_equal(r->entries[i].type, RAFT_BARRIER);
        assert_int_equal(r->entries[i].term, 1);
    }
    close_disk(r);
}

static void open__lets_one_process_in(void **state)
{
    struct rig *r = *state;
    struct disk_io *second = NULL;
    struct err err;
    open_disk(r);
    assert_int_equal(disk_io_open(&r->config, &second, &err), ERR_CONFLICT);
    assert_non_null(strstr(err.msg, "lock"));
}

static void open__refuses_a_log_without_its_ballot(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_disk(r);
    bootstrap(r);
    disk_io_free(TAKE(r->disk));
    struct os_file_path ballot = tmpdir_path(&r->dir, "ballot");
    assert_int_equal(unlink(ballot.z), 0);
    assert_int_equal(disk_io_open(&r->config, &r->disk, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "ballot"));
}

static void lose_log(struct rig *r)
{
    struct os_file_path log = tmpdir_path(&r->dir, "log");
    struct err err;
    assert_int_equal(os_file_remove_tree(log.z, &err), ERR_OK);
}

static void open__refuses_a_node_that_voted_and_has_no_log(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_disk(r);
    bootstrap(r);
    serve(r);
    assert_int_equal(r->io.set_vote(&r->io, 1), 0);
    close_disk(r);
    lose_log(r);
    for (int durable = 0; durable <= 1; durable++) {
        r->config.durable = durable;
        assert_int_equal(disk_io_open(&r->config, &r->disk, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.msg, "log' is missing"));
    }
}

/* Entries after the snapshot were acknowledged, and only the log had them. */
static void open__refuses_a_snapshot_without_the_log_behind_it(void **state)
{
    struct rig *r = *state;
    struct err err;
    open_disk(r);
    bootstrap(r);
    serve(r);
    append(r, 1);
    put_snapshot(r, 2, 1, 1);
    append(r, 1);
    close_disk(r);
    lose_log(r);
    assert_int_equal(disk_io_open(&r->config, &r->disk, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "log' is missing"));
    assert_non_null(strstr(err.msg, "everything after entry 2"));
    assert_int_equal(disk_io_open(&r->config, &r->disk, &err), ERR_CORRUPT); /* still refused */
    /* Without durability, this loss is allowed. */
    r->config.durable = false;
    open_disk(r);
    assert_int_equal(disk_io_last_index(r->disk), 2);
}

/* The older files still exist and are consistent. Only the last one can show that a newer one is
 * missing. */
static void open__refuses_a_log_without_its_newest_segment(void **state)
{
    struct rig *r = *state;
    struct os_file_path log = tmpdir_path(&r->dir, "log");
    struct err err;
    open_disk(r);
    bootstrap(r);
    assert_int_equal(disk_io_fill(r->disk, 500, &err), ERR_OK);
    disk_io_free(TAKE(r->disk));
    struct os_file_path newest = tmpdir_find(log.z, "log-", tmpdir_count(log.z, "log-") - 1);
    assert_int_equal(unlink(newest.z), 0);
    for (unsigned again = 0; again < 2; again++) {
        assert_int_equal(disk_io_open(&r->config, &r->disk, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.msg, strrchr(newest.z, '/') + 1));
        assert_non_null(strstr(err.msg, "is missing"));
        assert_non_null(strstr(err.msg, log.z));
    }
    r->config.durable = false;
    open_disk(r);
    assert_true(disk_io_last_index(r->disk) < 500);
    disk_io_free(TAKE(r->disk));
    r->config.durable = true;
    open_disk(r);
}

/* --- serving --- */

static void term_and_vote__are_there_after_a_restart(void **state)
{
    struct rig *r = *state;
    open_disk(r);
    bootstrap(r);
    serve(r);
    assert_int_equal(r->io.set_term(&r->io, 5), 0);
    assert_int_equal(r->io.set_vote(&r->io, 3), 0);
    reopen(r);
    assert_int_equal(r->term, 5);
    assert_int_equal(r->vote, 3);
    assert_int_equal(r->io.set_term(&r->io, 6), 0);
    reopen(r);
    assert_int_equal(r->term, 6);
    assert_int_equal(r->vote, 0); /* a vote is valid for one term only */
    close_disk(r);
}

static void a_ballot_that_cannot_be_stored__stops_the_process(void **state)
{
    struct rig *r = *state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) { /* no thread runs before start */
        const struct disk_io_host host = {.loop = &r->loop, .box = &r->box};
        int null = open("/dev/null", O_WRONLY);
        (void)signal(SIGABRT, SIG_DFL);
        if (null < 0 || dup2(null, STDERR_FILENO) < 0) {
            _exit(1);
        }
        open_disk(r);
        disk_serve_attach(r->disk, &host, &r->io);
        fault_arm(FAULT_DISK_META_WRITE, 1);
        (void)r->io.set_term(&r->io, 9);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void entries__are_appended_and_truncated(void **state)
{
    struct rig *r = *state;
    open_disk(r);
    bootstrap(r);
    serve(r);
    for (unsigned i = 0; i < 5; i++) {
        append(r, 1);
    }
    assert_int_equal(r->io.truncate(&r->io, 4), 0);
    append(r, 1);
    reopen(r);
    assert_int_equal(r->start_index, 1);
    assert_int_equal(r->n_entries, 4);
    append(r, 1); /* appends after the last entry */
    reopen(r);
    assert_int_equal(r->n_entries, 5);
    close_disk(r);
}

static void ticks__come_and_messages_find_nobody(void **state)
{
    struct rig *r = *state;
    struct raft_io_send req = {0};
    struct raft_message m = {
        .type = RAFT_IO_TIMEOUT_NOW, .server_id = 2, .server_address = "there"};
    open_disk(r);
    serve(r);
    run_until(r, &r->ticks, 3);
    assert_int_equal(r->io.send(&r->io, &req, &m, NULL), RAFT_NOCONNECTION);
    assert_true(r->io.time(&r->io) > 0);
    for (unsigned i = 0; i < 100; i++) {
        int n = r->io.random(&r->io, 1000, 2000);
        assert_true(n >= 1000 && n < 2000);
    }
    close_disk(r);
}

static int work(struct raft_io_async_work *req)
{
    (void)req;
    return 42;
}

static void work_cb(struct raft_io_async_work *req, int status)
{
    struct rig *r = req->data;
    r->status = status;
    r->worked++;
}

static void work__is_done_on_the_pool_before_closing_ends(void **state)
{
    struct rig *r = *state;
    struct raft_io_async_work req = {.data = r, .work = work};
    open_disk(r);
    serve(r);
    assert_int_equal(r->io.async_work(&r->io, &req, work_cb), 0);
    close_disk(r);
    assert_int_equal(r->worked, 1);
    assert_int_equal(r->status, 42);
}

/* --- snapshots --- */

static void get_cb(struct raft_io_snapshot_get *req, struct raft_snapshot *snapshot, int status)
{
    struct rig *r = req->data;
    r->status = status;
    r->got_snapshot = snapshot;
    r->got++;
}

static void own_snapshot__is_stored_and_the_log_stays(void **state)
{
    struct rig *r = *state;
    struct raft_io_snapshot_get get = {.data = r};
    open_disk(r);
    bootstrap(r);
    serve(r);
    assert_int_equal(r->io.snapshot_get(&r->io, &get, get_cb), 0);
    run_until(r, &r->got, 1);
    assert_int_equal(r->status, RAFT_NOTFOUND);
    for (unsigned i = 0; i < 9; i++) {
        append(r, 1);
    }
    put_snapshot(r, 8, 1, 2);
    append(r, 1);
    assert_int_equal(r->io.snapshot_get(&r->io, &get, get_cb), 0);
    run_until(r, &r->got, 2);
    assert_int_equal(r->status, 0);
    assert_int_equal(r->got_snapshot->index, 8);
    assert_int_equal(r->got_snapshot->configuration.n, 1);
    snapshot_free(r->got_snapshot);
    reopen(r);
    assert_int_equal(r->snapshot->index, 8);
    assert_int_equal(r->snapshot->term, 1);
    assert_int_equal(r->snapshot->configuration_index, 1);
    assert_int_equal(r->snapshot->configuration.n, 1);
    assert_int_equal(r->snapshot->n_bufs, 1);
    assert_int_equal(r->start_index + r->n_entries, 12);
    close_disk(r);
}

static void leaders_snapshot__replaces_the_log_in_order(void **state)
{
    struct rig *r = *state;
    open_disk(r);
    bootstrap(r);
    serve(r);
    for (unsigned i = 0; i < 30; i++) {
        append(r, 1);
    }
    assert_int_equal(r->io.set_term(&r->io, 4), 0);
    put_snapshot(r, 20, 3, 0);
    append(r, 4);
    append(r, 4);
    reopen(r);
    assert_int_equal(r->snapshot->index, 20);
    assert_int_equal(r->start_index, 21);
    assert_int_equal(r->n_entries, 2);
    assert_int_equal(r->entries[0].term, 4);
    close_disk(r);
}

static void a_snapshot_that_is_none__is_refused(void **state)
{
    struct rig *r = *state;
    struct raft_io_snapshot_put req = {.data = r};
    struct raft_buffer bytes = manifest_bytes(8, 1);
    struct raft_snapshot s = {
        .index = 9, .term = 1, .configuration_index = 1, .bufs = &bytes, .n_bufs = 1};
    open_disk(r);
    bootstrap(r);
    serve(r);
    assert_int_equal(r->io.snapshot_put(&r->io, 1, &req, &s, put_cb), RAFT_MALFORMED);
    s.index = 8;
    bytes.len--;
    assert_int_equal(r->io.snapshot_put(&r->io, 1, &req, &s, put_cb), RAFT_MALFORMED);
    s.n_bufs = 0;
    assert_int_equal(r->io.snapshot_put(&r->io, 1, &req, &s, put_cb), RAFT_MALFORMED);
    raft_free(bytes.base);
    close_disk(r);
}

static const struct {
    const char *name;
    uint64_t index, term;        /* of a manifest that exists when the node starts */
    uint64_t start_index, count; /* of the log after that; it had entries 1 to 10 of term 1 */
} install_rows[] = {
    {"of an entry in the log", 6, 1, 6, 5}, /* older entries remain only on disk */
    {"of the last entry", 10, 1, 10, 1},
    {"of another entry in that place", 6, 2, 7, 0},
    {"of an entry behind the log", 11, 1, 12, 0},
    {"of an entry far behind the log", 900, 2, 901, 0},
};

/* A crash between storing the leader's snapshot and replacing the log. */
static void a_log_that_a_snapshot_replaced__does_not_come_back(void **state)
{
    struct rig *r = *state;
    for (size_t i = 0; i < COUNT_OF(install_rows); i++) {
        ROW(install_rows[i].name);
        struct err err;
        open_disk(r);
        bootstrap(r);
        serve(r);
        assert_int_equal(r->io.set_term(&r->io, 2), 0);
        for (unsigned n = 1; n < 10; n++) {
            append(r, 1);
        }
        close_disk(r);
        struct raft_buffer bytes = manifest_bytes(install_rows[i].index, install_rows[i].term);
        struct os_file_path dir = tmpdir_path(&r->dir, "snapshots");
        assert_int_equal(snapshots_store(dir.z, str_from(bytes.base, bytes.len), &err), ERR_OK);
        raft_free(bytes.base);
        for (unsigned again = 0; again < 2; again++) {
            open_disk(r);
            serve(r);
            assert_int_equal(r->start_index, install_rows[i].start_index);
            assert_int_equal(r->n_entries, install_rows[i].count);
            close_disk(r);
        }
        assert_int_equal(os_file_remove_tree(r->dir.path, &err), ERR_OK);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(disk_io, TEST(disk__is_pristine_until_it_is_bootstrapped),
           TEST(io__bootstraps_and_recovers_before_it_is_started),
           TEST(bootstrap__is_done_again_after_a_crash_in_it),
           TEST(recover__appends_the_members_that_are_left),
           TEST(fill__adds_entries_without_effect), TEST(open__lets_one_process_in),
           TEST(open__refuses_a_node_that_voted_and_has_no_log),
           TEST(open__refuses_a_snapshot_without_the_log_behind_it),
           TEST(open__refuses_a_log_without_its_newest_segment),
           TEST(open__refuses_a_log_without_its_ballot),
           TEST(term_and_vote__are_there_after_a_restart),
           TEST(a_ballot_that_cannot_be_stored__stops_the_process),
           TEST(entries__are_appended_and_truncated), TEST(ticks__come_and_messages_find_nobody),
           TEST(work__is_done_on_the_pool_before_closing_ends),
           TEST(own_snapshot__is_stored_and_the_log_stays),
           TEST(leaders_snapshot__replaces_the_log_in_order),
           TEST(a_snapshot_that_is_none__is_refused),
           TEST(a_log_that_a_snapshot_replaced__does_not_come_back));
