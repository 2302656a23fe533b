#include "os/os_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

static int setup(void **state)
{
    static struct tmpdir t;
    t = tmpdir_new();
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_remove(*state);
    fault_reset();
    return 0;
}

static void write_at__writes_more_parts_than_one_call_takes(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "parts");
    enum { PARTS = 2 * IOV_MAX + 7 };
    static char bytes[PARTS];
    static struct iovec iov[PARTS];
    struct err err;
    int fd = -1;
    for (size_t i = 0; i < PARTS; i++) {
        bytes[i] = (char)i;
        iov[i] = (struct iovec){.iov_base = &bytes[i], .iov_len = 1};
    }
    assert_int_equal(os_file_open(path.z, O_RDWR | O_CREAT, &fd, &err), ERR_OK);
    assert_int_equal(os_file_write_at(fd, iov, PARTS, 5, &err), ERR_OK);
    assert_int_equal(os_file_flush(fd, &err), ERR_OK);
    os_file_close(fd);
    struct buf found;
    tmpdir_read(path.z, &found);
    assert_int_equal(found.len, PARTS + 5);
    assert_memory_equal(found.ptr + 5, bytes, PARTS);
    buf_deinit(&found);
}

static void write_at__reports_what_the_system_said(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "read_only");
    char byte = 'x';
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct err err;
    int fd = -1;
    tmpdir_write(path.z, STR("abc"));
    assert_int_equal(os_file_open(path.z, O_RDONLY, &fd, &err), ERR_OK);
    assert_int_equal(os_file_write_at(fd, &iov, 1, 0, &err), ERR_IO);
    assert_int_equal(err.sys, EBADF);
    os_file_close(fd);
    assert_int_equal(os_file_open("/dev/full", O_WRONLY, &fd, &err), ERR_OK);
    assert_int_equal(os_file_write_at(fd, &iov, 1, 0, &err), ERR_NO_SPACE);
    os_file_close(fd);
}

static void zero__fills_a_range_and_nothing_else(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "zeros");
    struct err err;
    int fd = -1;
    tmpdir_write(path.z, STR("abcdefgh"));
    assert_int_equal(os_file_open(path.z, O_RDWR, &fd, &err), ERR_OK);
    assert_int_equal(os_file_zero(fd, 2, 5, &err), ERR_OK);
    assert_int_equal(os_file_zero(fd, 5, 5, &err), ERR_OK);
    os_file_close(fd);
    struct buf found;
    tmpdir_read(path.z, &found);
    assert_int_equal(found.len, 8);
    assert_memory_equal(found.ptr, "ab\0\0\0fgh", 8);
    buf_deinit(&found);
}

static void replace__leaves_the_new_bytes_and_no_temporary_file(void **state)
{
    struct tmpdir *t = *state;
    struct os_file_path path = tmpdir_path(t, "file");
    struct err err;
    assert_int_equal(os_file_replace(path.z, STR("first"), &err), ERR_OK);
    assert_int_equal(os_file_replace(path.z, STR("2nd"), &err), ERR_OK);
    struct buf found;
    tmpdir_read(path.z, &found);
    assert_true(str_eq(buf_str(&found), STR("2nd")));
    buf_deinit(&found);
    assert_int_equal(tmpdir_count(t->path, ""), 1);
}

static void replace__keeps_the_old_bytes_when_it_cannot_write(void **state)
{
    struct tmpdir *t = *state;
    struct os_file_path path = tmpdir_path(t, "none/file");
    struct err err;
    assert_int_equal(os_file_replace(path.z, STR("x"), &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.msg, "none/file"));
}

static void read__says_when_there_is_nothing_or_too_much(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "file");
    struct err err;
    struct buf out;
    buf_init(&out, 4);
    assert_int_equal(os_file_read(path.z, &out, &err), ERR_NOT_FOUND);
    tmpdir_write(path.z, STR("12345"));
    assert_int_equal(os_file_read(path.z, &out, &err), ERR_TOO_LARGE);
    buf_deinit(&out);
    buf_init(&out, 6);
    assert_int_equal(os_file_read(path.z, &out, &err), ERR_OK);
    assert_true(str_eq(buf_str(&out), STR("12345")));
    buf_deinit(&out);
}

static void checksum__is_crc32c_of_the_bytes(void **state)
{
    struct os_file_path path = tmpdir_path(*state, "file");
    struct err err;
    uint32_t crc = 0;
    uint64_t size = 0;
    tmpdir_write(path.z, STR("123456789"));
    assert_int_equal(os_file_checksum(path.z, &crc, &size, &err), ERR_OK);
    assert_int_equal(crc, 0xe3069283U); /* the check value of the Castagnoli polynomial */
    assert_int_equal(size, 9);
}

static void make_dirs__makes_all_of_them_and_is_fine_twice(void **state)
{
    struct tmpdir *t = *state;
    struct os_file_path path = tmpdir_path(t, "a/b/c");
    struct os_file_info info;
    struct err err;
    assert_int_equal(os_file_make_dirs(path.z, &err), ERR_OK);
    assert_int_equal(os_file_make_dirs(path.z, &err), ERR_OK);
    assert_int_equal(os_file_stat(path.z, &info, &err), ERR_OK);
    assert_true(info.is_dir);
    assert_false(info.is_regular);
    struct os_file_path file = tmpdir_path(t, "file");
    tmpdir_write(file.z, STR("x"));
    assert_int_equal(os_file_make_dirs("", &err), ERR_VALIDATION);
    assert_int_equal(os_file_make_dirs(file.z, &err), ERR_IO);
}

static void list__is_sorted_and_a_tree_has_relative_paths(void **state)
{
    struct tmpdir *t = *state;
    struct err err;
    struct os_file_path sub = tmpdir_path(t, "sub/deep");
    struct os_file_path empty = tmpdir_path(t, "void");
    assert_int_equal(os_file_make_dirs(sub.z, &err), ERR_OK);
    assert_int_equal(os_file_make_dirs(empty.z, &err), ERR_OK);
    static const char *const files[] = {"z", "a", "sub/m", "sub/deep/b"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct os_file_path path = tmpdir_path(t, files[i]);
        tmpdir_write(path.z, STR("x"));
    }
    struct os_file_names names = {0};
    assert_int_equal(os_file_list(t->path, &names, &err), ERR_OK);
    static const char *const flat[] = {"a", "sub", "void", "z"};
    assert_int_equal(names.count, COUNT_OF(flat));
    for (size_t i = 0; i < COUNT_OF(flat); i++) {
        assert_string_equal(names.name[i], flat[i]);
    }
    os_file_names_clear(&names);
    assert_int_equal(os_file_list_tree(t->path, &names, &err), ERR_OK);
    static const char *const tree[] = {"a", "sub/deep/b", "sub/m", "z"};
    assert_int_equal(names.count, COUNT_OF(tree));
    for (size_t i = 0; i < COUNT_OF(tree); i++) {
        assert_string_equal(names.name[i], tree[i]);
    }
    os_file_names_clear(&names);
    assert_int_equal(os_file_list("/nowhere/at/all", &names, &err), ERR_NOT_FOUND);
    assert_int_equal(os_file_list_tree("/nowhere/at/all", &names, &err), ERR_NOT_FOUND);
}

static void remove_tree__removes_everything_below_and_is_fine_on_nothing(void **state)
{
    struct tmpdir *t = *state;
    struct err err;
    struct os_file_path deep = tmpdir_path(t, "x/y/z");
    struct os_file_path top = tmpdir_path(t, "x");
    assert_int_equal(os_file_make_dirs(deep.z, &err), ERR_OK);
    struct os_file_path file = os_file_join(deep.z, "f");
    tmpdir_write(file.z, STR("x"));
    assert_int_equal(os_file_remove_tree(top.z, &err), ERR_OK);
    assert_int_equal(os_file_remove_tree(top.z, &err), ERR_OK);
    assert_int_equal(tmpdir_count(t->path, ""), 0);
}

static void remove_tree__does_not_follow_links(void **state)
{
    struct tmpdir *t = *state;
    struct err err;
    struct os_file_path kept = tmpdir_path(t, "kept");
    struct os_file_path dir = tmpdir_path(t, "dir");
    struct os_file_path link = tmpdir_path(t, "dir/link");
    assert_int_equal(os_file_make_dirs(kept.z, &err), ERR_OK);
    assert_int_equal(os_file_make_dirs(dir.z, &err), ERR_OK);
    assert_int_equal(symlink(kept.z, link.z), 0);
    assert_int_equal(os_file_remove_tree(dir.z, &err), ERR_OK);
    assert_int_equal(tmpdir_count(t->path, ""), 1);
}

static void free_bytes__can_be_made_to_run_out(void **state)
{
    struct tmpdir *t = *state;
    struct err err;
    uint64_t bytes = 0;
    assert_int_equal(os_file_free_bytes(t->path, &bytes, &err), ERR_OK);
    assert_true(bytes > 0);
    fault_arm(FAULT_DISK_SPACE_LOW, 1);
    assert_int_equal(os_file_free_bytes(t->path, &bytes, &err), ERR_OK);
    assert_int_equal(bytes, 0);
}

static void lock__is_held_by_one_at_a_time(void **state)
{
    const struct tmpdir *dir = *state;
    struct err err;
    int first = -1;
    int second = -1;
    assert_int_equal(os_file_lock_dir(dir->path, &first, &err), ERR_OK);
    assert_int_equal(os_file_lock_dir(dir->path, &second, &err), ERR_CONFLICT);
    os_file_close(first);
    assert_int_equal(os_file_lock_dir(dir->path, &second, &err), ERR_OK);
    os_file_close(second);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(os_file, TEST(write_at__writes_more_parts_than_one_call_takes),
           TEST(write_at__reports_what_the_system_said), TEST(zero__fills_a_range_and_nothing_else),
           TEST(replace__leaves_the_new_bytes_and_no_temporary_file),
           TEST(replace__keeps_the_old_bytes_when_it_cannot_write),
           TEST(read__says_when_there_is_nothing_or_too_much),
           TEST(checksum__is_crc32c_of_the_bytes),
           TEST(make_dirs__makes_all_of_them_and_is_fine_twice),
           TEST(list__is_sorted_and_a_tree_has_relative_paths),
           TEST(remove_tree__removes_everything_below_and_is_fine_on_nothing),
           TEST(remove_tree__does_not_follow_links), TEST(free_bytes__can_be_made_to_run_out),
           TEST(lock__is_held_by_one_at_a_time));
