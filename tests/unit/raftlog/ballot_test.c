#include "raftlog/ballot.h"

#include "base/fault.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "log/log.h"

enum { SECOND_COPY = 4096 };

static int setup(void **state)
{
    static struct tmpdir t;
    log_configure(LOG_ERROR, LOG_TEXT); /* hide the repairs, which are tested here */
    t = tmpdir_new();
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_remove(*state);
    fault_reset();
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

static void assert_ballot(const char *path, uint64_t term, uint64_t vote)
{
    struct ballot b = {0};
    struct err err;
    int fd = -1;
    assert_int_equal(ballot_open(path, &fd, &b, &err), ERR_OK);
    os_file_close(fd);
    assert_int_equal(b.term, term);
    assert_int_equal(b.vote, vote);
}

static void store(const char *path, uint64_t term, uint64_t vote)
{
    struct ballot b = {0};
    struct err err;
    int fd = -1;
    assert_int_equal(ballot_open(path, &fd, &b, &err), ERR_OK);
    b.term = term;
    b.vote = vote;
    assert_int_equal(ballot_store(fd, &b, &err), ERR_OK);
    os_file_close(fd);
}

static void ballot__is_all_zero_in_a_new_file(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "ballot");
    assert_ballot(path.z, 0, 0);
    assert_ballot(path.z, 0, 0);
}

static void ballot__is_what_was_stored_last(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "ballot");
    for (uint64_t term = 1; term < 20; term++) {
        store(path.z, term, term * 3);
        assert_ballot(path.z, term, term * 3);
    }
}

static void ballot__survives_the_loss_of_either_copy(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "ballot");
    for (uint64_t offset = 0; offset < 40; offset++) {
        store(path.z, 7 + offset, 3);
        tmpdir_flip_bit(path.z, offset);
        assert_ballot(path.z, 7 + offset, 3); /* and repairs the copy */
        tmpdir_flip_bit(path.z, SECOND_COPY + offset);
        assert_ballot(path.z, 7 + offset, 3);
    }
}

/* A crash after the first copy: the change may have happened or not, but never in part. */
static void ballot__takes_the_newer_copy_after_a_crash_between_them(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "ballot");
    struct buf before;
    struct buf after;
    store(path.z, 4, 1);
    tmpdir_read(path.z, &before);
    store(path.z, 5, 0);
    tmpdir_read(path.z, &after);
    memcpy(after.ptr + SECOND_COPY, before.ptr + SECOND_COPY, SECOND_COPY);
    tmpdir_write(path.z, buf_str(&after));
    assert_ballot(path.z, 5, 0);
    /* The first copy is torn, so no other member knows of the change. */
    memcpy(after.ptr, before.ptr, 20);
    tmpdir_write(path.z, buf_str(&after));
    assert_ballot(path.z, 4, 1);
    buf_deinit(&before);
    buf_deinit(&after);
}

static void ballot__refuses_a_file_without_a_valid_copy(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "ballot");
    struct ballot b = {0};
    struct err err;
    int fd = -1;
    store(path.z, 9, 2);
    tmpdir_flip_bit(path.z, 16);
    tmpdir_flip_bit(path.z, SECOND_COPY + 16);
    assert_int_equal(ballot_open(path.z, &fd, &b, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "ballot"));
    tmpdir_write(path.z, STR(""));
    assert_int_equal(ballot_open(path.z, &fd, &b, &err), ERR_CORRUPT);
    tmpdir_write(path.z, STR("CORVOBAL"));
    assert_int_equal(ballot_open(path.z, &fd, &b, &err), ERR_CORRUPT);
    assert_int_equal(fd, -1);
}

static void ballot__keeps_the_old_one_when_the_disk_fails(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "ballot");
    struct ballot b = {0};
    struct err err;
    int fd = -1;
    store(path.z, 3, 1);
    assert_int_equal(ballot_open(path.z, &fd, &b, &err), ERR_OK);
    fault_arm(FAULT_DISK_META_WRITE, 1);
    b.term = 4;
    assert_int_equal(ballot_store(fd, &b, &err), ERR_IO);
    os_file_close(fd);
    fault_reset();
    assert_ballot(path.z, 3, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(ballot, TEST(ballot__is_all_zero_in_a_new_file), TEST(ballot__is_what_was_stored_last),
           TEST(ballot__survives_the_loss_of_either_copy),
           TEST(ballot__takes_the_newer_copy_after_a_crash_between_them),
           TEST(ballot__refuses_a_file_without_a_valid_copy),
           TEST(ballot__keeps_the_old_one_when_the_disk_fails));
