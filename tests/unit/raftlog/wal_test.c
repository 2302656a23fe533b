#include "raftlog/wal.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "lib/test.h"
#include "log/log.h"
#include "raftlog/wal_int.h"
#include "unit/raftlog/wal_rig.h"

static int setup(void **state)
{
    static struct wal_rig r;
    log_configure(LOG_ERROR, LOG_TEXT);
    wal_rig_init(&r);
    *state = &r;
    return 0;
}

static int teardown(void **state)
{
    wal_rig_deinit(*state);
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

static void reopen(struct wal_rig *r)
{
    wal_rig_close(r);
    wal_rig_open(r);
}

/* --- the life of entries --- */

static void wal__is_empty_in_an_empty_folder(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_assert_content(r, 1, 0, 0);
    reopen(r);
    wal_rig_assert_content(r, 1, 0, 0);
    wal_rig_close(r);
    r->covered_index = 41; /* a snapshot was installed, and no entry follows it */
    wal_rig_open(r);
    wal_rig_assert_content(r, 42, 41, 0);
}

static void wal__gives_back_what_was_appended(void **state)
{
    struct wal_rig *r = *state;
    static const size_t sizes[] = {0, 1, 7, 8, 9, 100, 1000};
    wal_rig_open(r);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        wal_rig_append(r, 3, sizes[i]);
    }
    wal_rig_wait(r);
    reopen(r);
    wal_rig_assert_content(r, 1, 3 * COUNT_OF(sizes), 1);
    for (size_t i = 0; i < r->content.count; i++) {
        assert_int_equal(r->content.entry[i].buf.len, sizes[i / 3]);
    }
}

static void wal__goes_on_through_many_segments_and_reopenings(void **state)
{
    struct wal_rig *r = *state;
    for (uint64_t round = 1; round <= 5; round++) {
        wal_rig_open(r);
        wal_rig_assert_content(r, 1, (round - 1) * 60, 1);
        for (unsigned i = 0; i < 20; i++) {
            wal_rig_append(r, 3, 200);
        }
        wal_rig_wait(r);
        wal_rig_close(r);
    }
    assert_true(tmpdir_count(r->dir.path, "log-") > 10);
}

static void wal__flushes_once_for_everything_that_waits(void **state)
{
    struct wal_rig *r = *state;
    r->config.segment_bytes = 1 << 20;
    wal_rig_open(r);
    wal_rig_append(r, 1, 100);
    wal_rig_wait(r);
    uint64_t before = wal_status(r->wal)->flush_count;
    wal_rig_append(r, 2000, 64); /* more than one batch */
    wal_rig_wait(r);
    assert_int_equal(wal_status(r->wal)->flush_count, before + 1);
    reopen(r);
    wal_rig_assert_content(r, 1, 2001, 1);
}

static void wal__does_not_flush_when_it_need_not_be_durable(void **state)
{
    struct wal_rig *r = *state;
    r->config.durable = false;
    r->config.segment_bytes = 1 << 20;
    wal_rig_open(r);
    for (unsigned i = 0; i < 10; i++) {
        wal_rig_append(r, 1, 100);
        wal_rig_wait(r);
    }
    assert_int_equal(wal_status(r->wal)->flush_count, 0);
    reopen(r);
    wal_rig_assert_content(r, 1, 10, 1);
}

static void wal__makes_room_for_an_entry_larger_than_a_segment(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 2, 1000);
    wal_rig_append(r, 2, 100000);
    wal_rig_append(r, 2, 1000);
    wal_rig_wait(r);
    reopen(r);
    wal_rig_assert_content(r, 1, 6, 1);
    /* The file of a large entry is not kept for reuse, because it has the wrong size. */
    wal_rig_append(r, 20, 1000);
    wal_rig_drop(r, 20);
    wal_rig_wait(r);
    r->covered_index = 20;
    wal_rig_close(r);
    struct os_file_names names;
    struct err err;
    assert_int_equal(os_file_list(r->dir.path, &names, &err), ERR_OK);
    for (size_t i = 0; i < names.count; i++) {
        struct os_file_path path = tmpdir_path(&r->dir, names.name[i]);
        struct os_file_info info;
        assert_int_equal(os_file_stat(path.z, &info, &err), ERR_OK);
        if (strcmp(names.name[i], "key") != 0) {
            assert_int_equal(info.size, r->config.segment_bytes);
        }
    }
    os_file_names_clear(&names);
}

static uint64_t size_of_segment(const struct wal_rig *r, unsigned generation)
{
    char name[32];
    struct os_file_info info;
    struct err err;
    assert_in_range(snprintf(name, sizeof name, "log-%016x", generation), 1, sizeof name - 1);
    assert_int_equal(os_file_stat(tmpdir_path(&r->dir, name).z, &info, &err), ERR_OK);
    return info.size;
}

/* The log is not closed: a stop would end the preparation of the third segment. */
static void a_new_log__begins_with_small_segments(void **state)
{
    struct wal_rig *r = *state;
    r->config.segment_bytes = 64 << 20;
    wal_rig_open(r);
    wal_rig_append(r, 21, 1 << 20);
    wal_rig_wait(r);
    assert_int_equal(size_of_segment(r, 1), 4 << 20);
    assert_int_equal(size_of_segment(r, 2), 16 << 20);
    assert_int_equal(size_of_segment(r, 3), 64 << 20);
    reopen(r);
    wal_rig_assert_content(r, 1, 21, 1);
}

/* The space left in a segment varies byte by byte from nothing to more than a record, with
 * truncations in the same write, and with operations submitted all at once or one by one. */
static void a_segment__may_end_at_any_offset(void **state)
{
    struct wal_rig *r = *state;
    for (size_t bytes = 3800; bytes <= WAL_SEGMENT_BYTES_MIN; bytes++) {
        wal_rig_open(r);
        uint64_t last = r->next_index - 1;
        wal_rig_assert_content(r, r->content.first_index, last, 1);
        wal_rig_append(r, 1, bytes);
        if (bytes % 2 == 0) {
            wal_rig_wait(r);
        }
        wal_rig_append(r, 2, 0);
        wal_rig_truncate(r, last + 3); /* the last of the two */
        wal_rig_append(r, 1, bytes % 40);
        wal_rig_drop(r, last);
        wal_rig_wait(r);
        assert_int_equal(r->next_index, last + 4);
        wal_rig_close(r);
        r->covered_index = last;
    }
}

/* --- calls from inside done --- */

struct closer {
    struct wal_op op;
    struct wal_rig *rig;
    bool full;
    unsigned closed_count; /* or how often to submit again */
};

static void closer_closed(void *data)
{
    struct closer *c = data;
    c->rig->wal = NULL;
    c->rig->started = false;
    c->closed_count++;
}

static void close_from_done(struct wal_op *op)
{
    struct closer *c = CONTAINER_OF(op, struct closer, op);
    wal_close(c->rig->wal, closer_closed, c);
    fault_arm(FAULT_DISK_WRITE_FULL, c->full ? 1 : 0);
    assert_int_equal(c->closed_count, 0); /* not called inside wal_close */
}

/* clang-format off */
static const struct {
    const char *name;
    unsigned before, behind; /* entries, submitted in the same turn */
    bool full;               /* is the disk full from then on? */
} closings[] = {
    {"alone",                                    0,  0, false},
    {"with others around it",                    2,  2, false},
    {"with others that wait for segments",       2, 40, false},
    {"with others that there is no space for",   2, 40, true},
};
/* clang-format on */

static void close__may_come_from_inside_a_done(void **state)
{
    struct wal_rig *r = *state;
    for (size_t i = 0; i < COUNT_OF(closings); i++) {
        ROW(closings[i].name);
        struct closer c = {
            .op = {.kind = WAL_DROP, .done = close_from_done}, .rig = r, .full = closings[i].full};
        bool full = closings[i].full;
        wal_rig_open(r);
        uint64_t last = r->next_index - 1;
        wal_rig_append(r, 1, 1000);
        wal_rig_wait(r);
        log_configure(full ? LOG_LEVEL_COUNT : LOG_ERROR, LOG_TEXT); /* it logs this as an error */
        wal_rig_append(r, 1 + closings[i].before, 100);
        wal_submit(r->wal, &c.op);
        wal_rig_append(r, 1 + closings[i].behind, 1000);
        uint64_t all = r->next_index - 1;
        wal_content_clear(&r->content);
        assert_int_equal(uv_run(&r->loop, UV_RUN_DEFAULT), 0);
        assert_int_equal(c.closed_count, 1);
        assert_int_equal(r->pending, 0);
        fault_reset();
        log_configure(LOG_ERROR, LOG_TEXT);
        wal_rig_open(r);
        uint64_t found = r->next_index - 1;
        wal_rig_assert_content(r, 1, found, 1);
        assert_true(found >= last + 2 + closings[i].before);
        assert_true(full ? found < all : found == all);
        wal_rig_close(r);
    }
}

/* Writing the zeros of such a large segment takes a while, and longer on a slow disk. */
static void close__does_not_wait_for_a_segment_that_nobody_needs(void **state)
{
    struct wal_rig *r = *state;
    r->config.segment_bytes = WAL_SEGMENT_BYTES_MAX;
    wal_rig_open(r);
    wal_rig_close(r);
    assert_int_equal(tmpdir_count(r->dir.path, "log-"), 0);
    r->config.segment_bytes = WAL_SEGMENT_BYTES_MIN;
    wal_rig_open(r);
    wal_rig_append(r, 3, 100);
    wal_rig_wait(r);
    reopen(r);
    wal_rig_assert_content(r, 1, 3, 1);
}

static void submit_from_done(struct wal_op *op)
{
    struct closer *c = CONTAINER_OF(op, struct closer, op);
    if (--c->closed_count > 0) {
        wal_submit(c->rig->wal, op); /* the same op, which is ours again */
        wal_rig_append(c->rig, 3, 900);
    }
}

static void submit__may_come_from_inside_a_done(void **state)
{
    struct wal_rig *r = *state;
    struct closer c = {
        .op = {.kind = WAL_DROP, .done = submit_from_done}, .rig = r, .closed_count = 30};
    wal_rig_open(r);
    wal_submit(r->wal, &c.op);
    while (c.closed_count > 0 || r->pending > 0) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    reopen(r);
    wal_rig_assert_content(r, 1, 29 * 3, 1);
}

/* --- removing entries --- */

static void truncate__removes_a_suffix_for_good(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 40, 300); /* several segments */
    wal_rig_truncate(r, 11);
    r->term = 2;
    wal_rig_append(r, 5, 300);
    wal_rig_wait(r);
    reopen(r);
    assert_int_equal(r->content.count, 15);
    for (uint64_t i = 1; i <= 15; i++) {
        wal_rig_assert_entry(&r->content.entry[i - 1], i, i <= 10 ? 1 : 2);
    }
    wal_rig_truncate(r, 1);
    wal_rig_wait(r);
    reopen(r);
    wal_rig_assert_content(r, 1, 0, 0);
}

static void truncate__is_in_order_with_the_appends_around_it(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    for (unsigned i = 0; i < 30; i++) { /* all in the queue at once */
        wal_rig_append(r, 4, 50);
        wal_rig_truncate(r, r->next_index - 2);
    }
    wal_rig_wait(r);
    reopen(r);
    wal_rig_assert_content(r, 1, 60, 1);
}

static void drop__recycles_segments_and_keeps_the_rest(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 100, 300);
    wal_rig_wait(r);
    size_t files = tmpdir_count(r->dir.path, "log-");
    wal_rig_drop(r, 90);
    wal_rig_wait(r);
    r->covered_index = 90;
    reopen(r); /* the files have been processed by then */
    assert_true(r->content.first_index > 1);
    assert_true(r->content.first_index <= 91);
    wal_rig_assert_content(r, r->content.first_index, 100, 1);
    assert_true(tmpdir_count(r->dir.path, "log-") < files);
    size_t spares = tmpdir_count(r->dir.path, "spare-");
    assert_true(spares > 0 && spares <= WAL_SPARES_MAX);
    assert_true(wal_status(r->wal)->log_bytes < 30 * 400);
}

/* Recycled segments are full of old entries with plausible indexes. */
static void recycled_segments__never_show_their_old_entries(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    for (uint64_t round = 0; round < 30; round++) {
        wal_rig_append(r, 24, 300);
        wal_rig_wait(r);
        wal_rig_drop(r, r->next_index - 3);
        wal_rig_wait(r);
        r->covered_index = r->next_index - 3;
        uint64_t last = r->next_index - 1;
        reopen(r);
        assert_int_equal(r->content.first_index + r->content.count, last + 1);
        wal_rig_assert_content(r, r->content.first_index, last, 1);
        assert_true(r->content.count < 40);
    }
    assert_true(tmpdir_count(r->dir.path, "") < 10);
}

static bool prepared;

static void prepare(struct wal_op *op)
{
    assert_int_equal(op->kind, WAL_RESET);
    prepared = true;
}

static void reset__removes_everything_and_goes_on_elsewhere(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 50, 300);
    prepared = false;
    wal_rig_reset(r, 1001, prepare);
    r->term = 5;
    wal_rig_append(r, 3, 300);
    wal_rig_wait(r);
    assert_true(prepared);
    r->covered_index = 1000;
    reopen(r);
    wal_rig_assert_content(r, 1001, 1003, 5);
    wal_rig_reset(r, 2000, NULL);
    wal_rig_wait(r);
    r->covered_index = 1999;
    reopen(r);
    wal_rig_assert_content(r, 2000, 1999, 0);
}

static void now__writes_before_there_is_a_thread(void **state)
{
    struct wal_rig *r = *state;
    struct err err;
    assert_int_equal(wal_rig_try(r, &err), ERR_OK);
    for (uint64_t i = 1; i <= 30; i++) {
        struct raft_entry e = wal_rig_entry(i, 1, 300);
        assert_int_equal(wal_append_now(r->wal, i, &e, 1, &err), ERR_OK);
        raft_free(e.buf.base);
    }
    wal_rig_close(r);
    assert_int_equal(wal_rig_try(r, &err), ERR_OK);
    wal_rig_assert_content(r, 1, 30, 1);
    assert_int_equal(wal_reset_now(r->wal, 100, &err), ERR_OK);
    wal_rig_close(r);
    r->covered_index = 99;
    wal_rig_open(r);
    wal_rig_assert_content(r, 100, 99, 1);
}

static void open__fits_to_another_segment_size(void **state)
{
    struct wal_rig *r = *state;
    static const uint64_t sizes[] = {4096, 16384, 8192};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        r->config.segment_bytes = sizes[i];
        wal_rig_open(r);
        wal_rig_assert_content(r, 1, 40 * i, 1);
        wal_rig_append(r, 40, 300);
        wal_rig_wait(r);
        wal_rig_close(r);
    }
}

/* --- disks that fail --- */

/* Write entries in a child process, with a fault armed. Returns the child's wait status. */
static int append_in_child(struct wal_rig *r, enum fault point, unsigned nth)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct err err;
        (void)signal(SIGABRT, SIG_DFL);
        int null = open("/dev/null", O_WRONLY); /* hides its last messages */
        if (null < 0 || dup2(null, STDERR_FILENO) < 0) {
            _exit(1);
        }
        if (wal_rig_try(r, &err) != ERR_OK) {
            _exit(2);
        }
        fault_arm(point, nth);
        for (uint64_t index = 1; index <= 20; index++) {
            struct raft_entry e = wal_rig_entry(index, 1, 800);
            if (wal_append_now(r->wal, index, &e, 1, &err) != ERR_OK) {
                _exit(3);
            }
        }
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static const struct {
    const char *name;
    enum fault point;
} fatal_faults[] = {
    {"a write gives EIO", FAULT_DISK_WRITE},
    {"a write is short and then gives EIO", FAULT_DISK_WRITE_SHORT},
    {"a flush gives EIO", FAULT_DISK_FLUSH},
};

/* Whichever write or flush fails, the process stops, and what was written before is intact. */
static void a_disk_that_fails__stops_the_process(void **state)
{
    struct wal_rig *r = *state;
    for (size_t i = 0; i < COUNT_OF(fatal_faults); i++) {
        ROW(fatal_faults[i].name);
        for (unsigned nth = 1; nth <= 20; nth += 3) {
            int status = append_in_child(r, fatal_faults[i].point, nth);
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), SIGABRT);
            struct err err;
            if (wal_rig_try(r, &err) != ERR_OK) {
                fail_msg("%s", err.msg);
            }
            /* Each entry took one write and one flush, and so did the seal after each fourth
             * entry. */
            assert_true(r->content.count + r->content.count / 4 + 1 >= nth);
            wal_rig_assert_content(r, 1, r->content.count, 1);
            wal_rig_close(r);
            assert_int_equal(os_file_remove_tree(r->dir.path, &err), ERR_OK);
            assert_int_equal(os_file_make_dirs(r->dir.path, &err), ERR_OK);
        }
    }
}

static bool space_is_low(struct wal_rig *r)
{
    return wal_status(r->wal)->low_space;
}

static bool space_is_back(struct wal_rig *r)
{
    return !wal_status(r->wal)->low_space;
}

static void a_full_disk__holds_writes_up_until_there_is_space(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 2, 300);
    wal_rig_wait(r);
    fault_arm(FAULT_DISK_WRITE_FULL, 1);
    wal_rig_append(r, 30, 300);
    wal_rig_until(r, space_is_low);
    assert_int_equal(r->pending, 1); /* not done, and not failed */
    fault_reset();
    wal_rig_wait(r);
    wal_rig_until(r, space_is_back);
    reopen(r);
    wal_rig_assert_content(r, 1, 32, 1);
}

static bool next_is_ready(struct wal_rig *r)
{
    return r->wal->ready != NULL;
}

static void a_full_disk__may_hold_up_the_seal_of_a_segment(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 11, 300);
    wal_rig_wait(r);
    wal_rig_until(r, next_is_ready);
    fault_arm(FAULT_DISK_WRITE_FULL, 1);
    wal_rig_append(r, 1, 300); /* does not fit any more */
    wal_rig_until(r, space_is_low);
    assert_int_equal(r->pending, 1);
    fault_reset();
    wal_rig_wait(r);
    wal_rig_until(r, space_is_back);
    reopen(r);
    wal_rig_assert_content(r, 1, 12, 1);
}

static void a_full_disk__gives_back_what_waits_when_closed(void **state)
{
    struct wal_rig *r = *state;
    wal_rig_open(r);
    wal_rig_append(r, 2, 300);
    wal_rig_wait(r);
    fault_arm(FAULT_DISK_WRITE_FULL, 1);
    wal_rig_append(r, 1, 300);
    wal_rig_append(r, 30, 300);
    wal_rig_until(r, space_is_low);
    log_configure(LOG_LEVEL_COUNT, LOG_TEXT); /* it logs this as an error */
    wal_rig_close(r);
    assert_int_equal(r->pending, 0);
    fault_reset();
    wal_rig_open(r);
    wal_rig_assert_content(r, 1, 2, 1);
}

static void little_space__is_noticed_and_passes(void **state)
{
    struct wal_rig *r = *state;
    r->config.free_bytes_min = 1;
    fault_arm(FAULT_DISK_SPACE_LOW, 1);
    wal_rig_open(r);
    assert_true(wal_status(r->wal)->low_space); /* from the start */
    wal_rig_append(r, 30, 300);                 /* writes still succeed */
    wal_rig_wait(r);
    fault_reset();
    wal_rig_until(r, space_is_back);
    fault_arm(FAULT_DISK_SPACE_LOW, 1);
    while (!wal_status(r->wal)->low_space) { /* checked with each new segment */
        wal_rig_append(r, 10, 300);
        wal_rig_wait(r);
    }
    fault_reset();
    wal_rig_until(r, space_is_back);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(wal, TEST(wal__is_empty_in_an_empty_folder), TEST(wal__gives_back_what_was_appended),
           TEST(wal__goes_on_through_many_segments_and_reopenings),
           TEST(wal__flushes_once_for_everything_that_waits),
           TEST(wal__does_not_flush_when_it_need_not_be_durable),
           TEST(wal__makes_room_for_an_entry_larger_than_a_segment),
           TEST(a_new_log__begins_with_small_segments), TEST(a_segment__may_end_at_any_offset),
           TEST(close__may_come_from_inside_a_done), TEST(submit__may_come_from_inside_a_done),
           TEST(close__does_not_wait_for_a_segment_that_nobody_needs),
           TEST(truncate__removes_a_suffix_for_good),
           TEST(truncate__is_in_order_with_the_appends_around_it),
           TEST(drop__recycles_segments_and_keeps_the_rest),
           TEST(recycled_segments__never_show_their_old_entries),
           TEST(reset__removes_everything_and_goes_on_elsewhere),
           TEST(now__writes_before_there_is_a_thread), TEST(open__fits_to_another_segment_size),
           TEST(a_disk_that_fails__stops_the_process),
           TEST(a_full_disk__holds_writes_up_until_there_is_space),
           TEST(a_full_disk__may_hold_up_the_seal_of_a_segment),
           TEST(a_full_disk__gives_back_what_waits_when_closed),
           TEST(little_space__is_noticed_and_passes));
