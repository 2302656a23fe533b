#include "raftlog/snapshots.h"

#include <stdio.h>
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
    return 0;
}

/* Create a checkpoint of two files. The second file is the same for every index. */
static struct snapshots_id make_checkpoint(const char *dir, uint64_t index)
{
    struct snapshots_id id = snapshots_new_id(index);
    struct os_file_path path = snapshots_path(dir, str_from_z(id.z));
    struct os_file_path sub = os_file_join(path.z, "sub");
    struct os_file_path a = os_file_join(path.z, "a");
    struct os_file_path b = os_file_join(sub.z, "b");
    struct err err;
    assert_int_equal(os_file_make_dirs(sub.z, &err), ERR_OK);
    tmpdir_write(a.z, str_from(&index, sizeof index));
    tmpdir_write(b.z, STR("the same"));
    return id;
}

static enum err_code try_store(const char *dir, uint64_t index, const struct snapshots_id *id)
{
    struct arena *arena = arena_new(1 << 16);
    struct manifest m = {
        .index = index, .term = 1, .checkpoint = str_from_z(id->z), .members = STR("m")};
    struct buf bytes;
    struct err err;
    buf_init(&bytes, MANIFEST_BYTES_MAX);
    assert_int_equal(snapshots_describe(dir, NULL, arena, &m, &err), ERR_OK);
    assert_int_equal(m.file_count, 2);
    manifest_encode(&m, &bytes);
    enum err_code code = snapshots_store(dir, buf_str(&bytes), &err);
    buf_deinit(&bytes);
    arena_free(arena);
    return code;
}

static struct snapshots_id take(const char *dir, uint64_t index)
{
    struct snapshots_id id = make_checkpoint(dir, index);
    assert_int_equal(try_store(dir, index, &id), ERR_OK);
    return id;
}

/* Load the newest manifest. It uses bytes and arena, which the caller frees. */
static struct manifest load(const char *dir, struct buf *bytes, struct arena *arena)
{
    struct manifest m = {0};
    struct err err;
    buf_init(bytes, MANIFEST_BYTES_MAX);
    assert_int_equal(snapshots_load(dir, bytes, &err), ERR_OK);
    if (bytes->len > 0) {
        assert_int_equal(manifest_decode(buf_str(bytes), arena, &m, &err), ERR_OK);
    }
    return m;
}

static void load__finds_the_newest_manifest(void **state)
{
    struct tmpdir *t = *state;
    struct arena *arena = arena_new(1 << 16);
    struct buf bytes;
    assert_int_equal(load(t->path, &bytes, arena).index, 0);
    buf_deinit(&bytes);
    static const uint64_t order[] = {9, 100, 11};
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        (void)take(t->path, order[i]);
    }
    assert_int_equal(load(t->path, &bytes, arena).index, 100);
    buf_deinit(&bytes);
    arena_free(arena);
}

/* The caller removes the checkpoint, so a start must not find the manifest. */
static void store__leaves_no_manifest_when_it_fails(void **state)
{
    struct tmpdir *t = *state;
    struct arena *arena = arena_new(1 << 16);
    struct buf bytes;
    (void)take(t->path, 5);
    struct snapshots_id newer = make_checkpoint(t->path, 6);
    fault_arm(FAULT_DISK_FLUSH_DIR, 1); /* after the rename */
    assert_int_equal(try_store(t->path, 6, &newer), ERR_IO);
    fault_reset();
    assert_int_equal(load(t->path, &bytes, arena).index, 5);
    buf_deinit(&bytes);
    arena_free(arena);
}

static void load__refuses_a_damaged_manifest_by_name(void **state)
{
    struct tmpdir *t = *state;
    (void)take(t->path, 5);
    struct snapshots_id newest = take(t->path, 6);
    char name[128];
    (void)snprintf(name, sizeof name, "%s.manifest", newest.z);
    struct os_file_path path = tmpdir_path(t, name);
    struct buf bytes;
    struct err err;
    tmpdir_flip_bit(path.z, 30);
    buf_init(&bytes, MANIFEST_BYTES_MAX);
    assert_int_equal(snapshots_load(t->path, &bytes, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, newest.z));
    buf_deinit(&bytes);
}

static void id__is_known_without_the_manifest(void **state)
{
    struct tmpdir *t = *state;
    struct snapshots_id older = take(t->path, 5);
    struct snapshots_id newest = take(t->path, 123456789);
    struct snapshots_id id;
    struct err err;
    struct os_file_path path = tmpdir_find(t->path, newest.z, 1); /* number 0 is the checkpoint */
    tmpdir_flip_bit(path.z, 30);
    assert_int_equal(snapshots_id_nth(t->path, 0, &id, &err), ERR_OK);
    assert_string_equal(id.z, newest.z);
    assert_true(snapshots_id_index(&id) == 123456789);
    assert_int_equal(snapshots_id_nth(t->path, 1, &id, &err), ERR_OK);
    assert_string_equal(id.z, older.z);
    assert_true(snapshots_id_index(&id) == 5);
    assert_int_equal(snapshots_id_nth(t->path, 2, &id, &err), ERR_OK);
    assert_string_equal(id.z, "");
    assert_true(snapshots_id_index(&id) == 0);
    assert_true(snapshots_id_index(&(struct snapshots_id){"99999999999999999999-0"}) == 0);
}

static void load__refuses_a_manifest_of_another_checkpoint(void **state)
{
    struct tmpdir *t = *state;
    struct snapshots_id id = take(t->path, 5);
    char name[128];
    (void)snprintf(name, sizeof name, "%s.manifest", id.z);
    struct os_file_path from = tmpdir_path(t, name);
    struct os_file_path to = tmpdir_path(t, "00000000000000000006-00.manifest");
    struct buf bytes;
    struct err err;
    assert_int_equal(rename(from.z, to.z), 0);
    buf_init(&bytes, MANIFEST_BYTES_MAX);
    assert_int_equal(snapshots_load(t->path, &bytes, &err), ERR_CORRUPT);
    buf_deinit(&bytes);
}

static bool exists(const struct tmpdir *t, const struct snapshots_id *id, const char *suffix)
{
    char name[128];
    struct os_file_info info;
    struct err err;
    (void)snprintf(name, sizeof name, "%s%s", id->z, suffix);
    struct os_file_path path = tmpdir_path(t, name);
    return os_file_stat(path.z, &info, &err) == ERR_OK;
}

static void prune__keeps_the_newest_two_and_what_may_be_under_way(void **state)
{
    struct tmpdir *t = *state;
    struct snapshots_id id[5];
    for (uint64_t i = 0; i < 4; i++) {
        id[i] = take(t->path, 10 * (i + 1));
    }
    struct snapshots_id orphan = make_checkpoint(t->path, 15);
    id[4] = make_checkpoint(t->path, 50); /* in progress */
    struct os_file_path rest = tmpdir_path(t, "00000000000000000020-00.manifest.tmp");
    tmpdir_write(rest.z, STR("half"));
    snapshots_prune(t->path, false);
    for (size_t i = 0; i < 4; i++) {
        assert_true(exists(t, &id[i], "") == (i >= 2));
        assert_true(exists(t, &id[i], ".manifest") == (i >= 2));
    }
    assert_false(exists(t, &orphan, ""));
    assert_true(exists(t, &id[4], ""));
    assert_int_equal(tmpdir_count(t->path, ""), 5);
    snapshots_prune(t->path, true); /* at a start, nothing is in progress */
    assert_false(exists(t, &id[4], ""));
    assert_int_equal(tmpdir_count(t->path, ""), 4);
}

static void describe__reads_only_files_that_are_new(void **state)
{
    struct tmpdir *t = *state;
    struct arena *arena = arena_new(1 << 16);
    struct buf bytes;
    struct err err;
    struct snapshots_id first = take(t->path, 1);
    struct snapshots_id second = make_checkpoint(t->path, 2);
    struct os_file_path old_dir = snapshots_path(t->path, str_from_z(first.z));
    struct os_file_path new_dir = snapshots_path(t->path, str_from_z(second.z));
    struct os_file_path old_b = os_file_join(old_dir.z, "sub/b");
    struct os_file_path new_b = os_file_join(new_dir.z, "sub/b");
    assert_int_equal(unlink(new_b.z), 0);
    assert_int_equal(link(old_b.z, new_b.z), 0);
    struct manifest earlier = load(t->path, &bytes, arena);
    /* Change the shared file after the manifest was written. Its old checksum shows that it was not
     * read. */
    tmpdir_write(old_b.z, STR("THE SAME"));
    struct manifest m = {.index = 2, .term = 1, .checkpoint = str_from_z(second.z)};
    assert_int_equal(snapshots_describe(t->path, &earlier, arena, &m, &err), ERR_OK);
    assert_int_equal(m.file_count, 2);
    assert_true(str_eq(m.file[1].name, STR("sub/b")));
    assert_int_equal(m.file[1].crc, earlier.file[1].crc);
    assert_int_not_equal(m.file[0].crc, earlier.file[0].crc);
    assert_int_equal(snapshots_verify(t->path, &m, &err), ERR_CORRUPT);
    buf_deinit(&bytes);
    arena_free(arena);
}

static const struct {
    const char *name;
    const char *file;
    const char *bytes; /* NULL: remove it */
    const char *message;
} verify_rows[] = {
    {"other bytes", "sub/b", "THE SAME", "is damaged"},
    {"fewer bytes", "sub/b", "the", "is damaged"},
    {"no file", "a", NULL, "is missing"},
};

static void verify__finds_files_that_are_not_as_they_were(void **state)
{
    struct tmpdir *t = *state;
    struct arena *arena = arena_new(1 << 16);
    for (size_t i = 0; i < COUNT_OF(verify_rows); i++) {
        ROW(verify_rows[i].name);
        struct snapshots_id id = take(t->path, i + 1);
        struct os_file_path dir = snapshots_path(t->path, str_from_z(id.z));
        struct os_file_path path = os_file_join(dir.z, verify_rows[i].file);
        struct buf bytes;
        struct err err;
        struct manifest m = load(t->path, &bytes, arena);
        assert_int_equal(snapshots_verify(t->path, &m, &err), ERR_OK);
        if (verify_rows[i].bytes == NULL) {
            assert_int_equal(unlink(path.z), 0);
        } else {
            tmpdir_write(path.z, str_from_z(verify_rows[i].bytes));
        }
        assert_int_equal(snapshots_verify(t->path, &m, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.msg, verify_rows[i].message));
        assert_non_null(strstr(err.msg, verify_rows[i].file));
        buf_deinit(&bytes);
    }
    arena_free(arena);
}

static void check__looks_at_some_files_each_time_and_marks_the_damaged(void **state)
{
    struct tmpdir *t = *state;
    struct snapshots_cursor c = {0};
    struct err err;
    assert_int_equal(snapshots_check(t->path, &c, 1, &err), ERR_OK); /* no snapshot */
    struct snapshots_id first = take(t->path, 1);
    assert_int_equal(snapshots_check(t->path, &c, 1, &err), ERR_OK);
    assert_int_equal(c.file, 1); /* it stopped after one file */
    assert_true(c.rounds == 0);
    assert_int_equal(snapshots_check(t->path, &c, 1, &err), ERR_OK);
    assert_true(c.rounds == 1);
    struct snapshots_id second = take(t->path, 2);
    struct os_file_path dir = snapshots_path(t->path, str_from_z(second.z));
    tmpdir_write(os_file_join(dir.z, "sub/b").z, STR("THE SAME"));
    assert_int_equal(snapshots_check(t->path, &c, 1, &err), ERR_OK);
    assert_true(c.rounds == 0); /* it begins again with the new snapshot */
    assert_int_equal(snapshots_check(t->path, &c, 1, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "sub/b"));
    assert_true(snapshots_is_damaged(t->path, str_from_z(second.z)));
    assert_false(snapshots_is_damaged(t->path, str_from_z(first.z)));
    snapshots_prune(t->path, true);
    assert_true(snapshots_is_damaged(t->path, str_from_z(second.z))); /* a start keeps the mark */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(snapshots, TEST(load__finds_the_newest_manifest),
           TEST(store__leaves_no_manifest_when_it_fails),
           TEST(load__refuses_a_damaged_manifest_by_name), TEST(id__is_known_without_the_manifest),
           TEST(load__refuses_a_manifest_of_another_checkpoint),
           TEST(prune__keeps_the_newest_two_and_what_may_be_under_way),
           TEST(describe__reads_only_files_that_are_new),
           TEST(verify__finds_files_that_are_not_as_they_were),
           TEST(check__looks_at_some_files_each_time_and_marks_the_damaged));
