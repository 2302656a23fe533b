#include "cluster/identity.h"

#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

static void expect_same(const struct identity *got, const struct identity *want)
{
    assert_int_equal(got->node, want->node);
    assert_int_equal(got->cluster, want->cluster);
    assert_int_equal(got->joined, want->joined);
    assert_false(got->assumed);
}

static void file__keeps_who_founded_and_who_joined(void **state)
{
    static const struct identity rows[] = {
        {.node = 7, .cluster = 0},
        {.node = 7, .cluster = 8},
        {.node = INT64_MAX, .cluster = 9, .joined = true},
    };
    struct tmpdir dir = tmpdir_new();
    struct identity got;
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(identity_store(dir.path, &rows[i], &err), ERR_OK);
        assert_int_equal(identity_open(dir.path, false, false, &got, &err), ERR_OK);
        expect_same(&got, &rows[i]);
        assert_int_equal(identity_has_cluster(dir.path), rows[i].cluster != 0);
    }
    /* A member of a cluster does not found a new one. */
    assert_int_equal(identity_open(dir.path, false, true, &got, &err), ERR_OK);
    expect_same(&got, &rows[2]);
    tmpdir_remove(&dir);
}

static void file__that_is_damaged_is_told(void **state)
{
    static const char *const rows[] = {
        "",
        "corvo identity 2\nnode 0000000000000007\ncluster 0000000000000008\n",
        "corvo identity 1\nnode 0000000000000000\ncluster 0000000000000008\n",
        "corvo identity 1\nnode 000000000000000\ncluster 0000000000000008\n",
        "corvo identity 1\nnode 0000000000000007\n",
        "corvo identity 1\nnode 0000000000000007\ncluster 0000000000000008\njoined",
        "corvo identity 1\nnode 0000000000000007\ncluster 0000000000000008\nfounded\n",
        "corvo identity 1\nnode 0000000000000007\ncluster 0000000000000008\njoined\njoined\n",
    };
    struct tmpdir dir = tmpdir_new();
    struct identity got;
    struct err err;
    (void)state;
    struct os_file_path path = tmpdir_path(&dir, "identity");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        assert_int_equal(os_file_replace(path.z, str_from_z(rows[i]), &err), ERR_OK);
        assert_int_equal(identity_open(dir.path, false, true, &got, &err), ERR_CORRUPT);
    }
    tmpdir_remove(&dir);
}

TEST_GROUP(identity, cmocka_unit_test(file__keeps_who_founded_and_who_joined),
           cmocka_unit_test(file__that_is_damaged_is_told));
