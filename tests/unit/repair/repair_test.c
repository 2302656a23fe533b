/*
 * Repair: a folder is damaged in one way, and a repair either restores every job or reports that
 * only a backup helps. Unless it is told to apply the repair, it changes nothing.
 */
#include "repair/repair.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "cluster/identity.h"
#include "lib/engine_kit.h"
#include "lib/test.h"
#include "log/log.h"

enum { JOBS_MAX = 20000, REPORT_BYTES_MAX = 1 << 20 };

/* A folder that a server has left, and all acknowledged jobs. */
struct folder {
    struct engine_kit *kit;
    struct id job[JOBS_MAX];
    size_t count;
    struct os_file_path raft, log, snapshots, state;
};

static void small_files(struct engine_config *config)
{
    config->node.segment_bytes = 4096;
    config->node.snapshot_log_bytes = 8 << 10;
}

static void one_segment(struct engine_config *config)
{
    config->node.snapshot_log_bytes = 8 << 10;
}

static struct folder folder;

static void enqueue_until(struct folder *f, uint64_t snapshots)
{
    do {
        CHECK(f->count < JOBS_MAX);
        f->job[f->count++] = engine_kit_enqueue(f->kit, "q");
    } while (engine_kit_status(f->kit).node.snapshot_count < snapshots);
}

static struct folder *open_folder(void (*configure)(struct engine_config *config),
                                  uint64_t snapshots)
{
    struct folder *f = &folder;
    f->kit = engine_kit_open(configure);
    f->count = 0;
    f->raft = tmpdir_path(&f->kit->dir, "raft");
    f->log = os_file_join(f->raft.z, "log");
    f->snapshots = os_file_join(f->raft.z, "snapshots");
    f->state = tmpdir_path(&f->kit->dir, "state");
    enqueue_until(f, snapshots);
    engine_kit_stop_engine(f->kit);
    tmpdir_write(tmpdir_path(&f->kit->dir, "lock").z, STR_EMPTY); /* as a server leaves it */
    return f;
}

/* Two snapshots, and a log without the entries before them. */
static int setup(void **state)
{
    log_configure(LOG_ERROR, LOG_TEXT);
    *state = open_folder(small_files, 4);
    return 0;
}

/* One snapshot, and the whole log. */
static int setup_first(void **state)
{
    log_configure(LOG_ERROR, LOG_TEXT);
    *state = open_folder(one_segment, 1);
    return 0;
}

static int teardown(void **state)
{
    struct folder *f = *state;
    engine_kit_close(f->kit);
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

static enum repair_outcome repair(struct folder *f, bool apply, const char *says)
{
    const struct repair_ask ask = {.data_dir = f->kit->dir.path, .apply = apply};
    enum repair_outcome outcome = REPAIR_LOST;
    struct buf report;
    struct err err = {0};
    buf_init(&report, REPORT_BYTES_MAX);
    if (repair_run(&ask, &report, &outcome, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    buf_add(&report, "", 1);
    if (strstr(report.ptr, says) == NULL) {
        fail_msg("'%s' is not in:\n%s", says, (const char *)report.ptr);
    }
    buf_deinit(&report);
    return outcome;
}

static enum repair_outcome look(struct folder *f, const char *says)
{
    uint32_t before = tmpdir_checksum(f->kit->dir.path);
    enum repair_outcome outcome = repair(f, false, says);
    assert_int_equal(tmpdir_checksum(f->kit->dir.path), before);
    return outcome;
}

/* Start the engine and check that every job exists. */
static void assert_all_there(struct folder *f)
{
    engine_kit_start_engine(f->kit);
    for (size_t i = 0; i < f->count; i++) {
        assert_int_equal(engine_kit_state(f->kit, f->job[i]), JOB_PENDING);
    }
}

static void assert_mended(struct folder *f, const char *says)
{
    assert_int_equal(look(f, says), REPAIR_POSSIBLE);
    assert_int_equal(repair(f, true, says), REPAIR_MENDED);
    assert_int_equal(look(f, "Nothing is damaged"), REPAIR_SOUND);
    assert_all_there(f);
}

/* Damage a manifest. from_newest: 0 is the newest. The names are sorted, the newest last. */
static void spoil_manifest(struct folder *f, size_t from_newest)
{
    struct os_file_names names = {0};
    struct err err;
    CHECK(os_file_list(f->snapshots.z, &names, &err) == ERR_OK);
    for (size_t i = names.count; i > 0; i--) {
        if (strstr(names.name[i - 1], ".manifest") != NULL && from_newest-- == 0) {
            struct os_file_path path = os_file_join(f->snapshots.z, names.name[i - 1]);
            tmpdir_flip_bit(path.z, 40);
        }
    }
    os_file_names_clear(&names);
}

static void spoil_state(struct folder *f)
{
    struct os_file_path current = os_file_join(f->state.z, "CURRENT");
    tmpdir_write(current.z, STR_EMPTY);
}

static void nothing_damaged__is_said_and_nothing_is_changed(void **state)
{
    struct folder *f = *state;
    assert_int_equal(look(f, "Nothing is damaged"), REPAIR_SOUND);
    assert_all_there(f);
}

static void newest_manifest__is_moved_aside(void **state)
{
    struct folder *f = *state;
    spoil_manifest(f, 0);
    assert_mended(f, "move the damaged newest snapshot aside; the server takes a new snapshot");
}

static void newest_manifest_and_state__come_back_from_the_older_snapshot(void **state)
{
    struct folder *f = *state;
    spoil_manifest(f, 0);
    spoil_state(f);
    assert_mended(f, "move the damaged state and the newest snapshot aside; the next start "
                     "rebuilds the state from the older snapshot and the log");
}

static void older_manifest__is_not_needed(void **state)
{
    struct folder *f = *state;
    spoil_manifest(f, 1);
    assert_int_equal(look(f, "Nothing is damaged"), REPAIR_SOUND);
    assert_all_there(f);
}

static void both_manifests__need_a_backup_when_the_log_was_cut(void **state)
{
    struct folder *f = *state;
    spoil_manifest(f, 0);
    spoil_manifest(f, 1);
    assert_int_equal(look(f, "only a backup helps"), REPAIR_LOST);
}

static void only_manifest__is_not_needed_while_the_log_has_everything(void **state)
{
    struct folder *f = *state;
    spoil_manifest(f, 0);
    spoil_state(f);
    assert_mended(f, "move the damaged state and the newest snapshot aside; the next start "
                     "rebuilds the state from the log");
}

/* Without the log, an empty log folder must not count as a complete log. */
static void missing_log__needs_a_backup(void **state)
{
    struct folder *f = *state;
    struct err err;
    spoil_manifest(f, 0);
    assert_int_equal(os_file_remove_tree(f->log.z, &err), ERR_OK);
    assert_int_equal(os_file_make_dirs(f->log.z, &err), ERR_OK);
    assert_int_equal(look(f, "log: missing"), REPAIR_LOST);
}

/* A repair does not change what a start removes or writes again: spares of another size, a missing
 * key. */
static void log_files__stay_as_they_are(void **state)
{
    struct folder *f = *state;
    struct os_file_path spare = os_file_join(f->log.z, "spare-00000000000fffff");
    struct os_file_path key = os_file_join(f->log.z, "key");
    tmpdir_write(spare.z, STR("of another size"));
    assert_int_equal(unlink(key.z), 0);
    assert_int_equal(look(f, "Nothing is damaged"), REPAIR_SOUND);
    spoil_state(f);
    assert_int_equal(look(f, "move the damaged state aside"), REPAIR_POSSIBLE);
    uint32_t log = tmpdir_checksum(f->log.z);
    assert_int_equal(repair(f, true, "move the damaged state aside"), REPAIR_MENDED);
    assert_int_equal(tmpdir_checksum(f->log.z), log);
    assert_all_there(f);
}

/* The log loses its end in a way that looks like a crash, but the state has been stored since. */
static void log__that_ends_before_the_state_is_reported(void **state)
{
    struct folder *f = *state;
    struct os_file_path path = tmpdir_find(f->log.z, "log-", 0);
    struct buf bytes;
    struct err err;
    buf_init(&bytes, SIZE_MAX);
    assert_int_equal(os_file_read(path.z, &bytes, &err), ERR_OK);
    size_t used = bytes.len;
    while (used > 0 && bytes.ptr[used - 1] == 0) {
        used--;
    }
    memset(bytes.ptr + used - 200, 0, 200);
    tmpdir_write(path.z, buf_str(&bytes));
    buf_deinit(&bytes);
    assert_int_equal(look(f, "the end of the log is lost"), REPAIR_LOST);
}

/* Flip a bit in both copies, so that neither is valid. */
static void spoil_ballot(struct folder *f)
{
    struct os_file_path ballot = os_file_join(f->raft.z, "ballot");
    tmpdir_flip_bit(ballot.z, 20);
    tmpdir_flip_bit(ballot.z, 4096 + 20);
}

static void ballot__of_the_only_member_is_written_again(void **state)
{
    struct folder *f = *state;
    spoil_ballot(f);
    assert_mended(f, "Repair: write raft/ballot again");
    engine_kit_stop_engine(f->kit);
    struct os_file_path ballot = os_file_join(f->raft.z, "ballot");
    assert_int_equal(unlink(ballot.z), 0);
    assert_mended(f, "Repair: write raft/ballot again");
}

static void ballot_and_state__are_repaired_together(void **state)
{
    struct folder *f = *state;
    spoil_ballot(f);
    spoil_state(f);
    assert_mended(f, "move the damaged state aside");
}

static void identity__of_the_only_member_is_written_again(void **state)
{
    struct folder *f = *state;
    struct os_file_path identity = tmpdir_path(&f->kit->dir, "identity");
    tmpdir_write(identity.z, STR("corvo identity 1\n"));
    assert_mended(f, "Repair: write identity again");
    engine_kit_stop_engine(f->kit);
    assert_int_equal(unlink(identity.z), 0);
    assert_mended(f, "Repair: write identity again");
}

/* Each file is evidence for the other. */
static void identity_and_ballot__are_not_guessed(void **state)
{
    struct folder *f = *state;
    struct os_file_path identity = tmpdir_path(&f->kit->dir, "identity");
    tmpdir_write(identity.z, STR_EMPTY);
    spoil_ballot(f);
    assert_int_equal(look(f, "identity and raft/ballot cannot be made again"), REPAIR_LOST);
}

/* Another node's vote may depend on what was in the ballot. */
static void ballot__of_another_member_is_not_written(void **state)
{
    struct folder *f = *state;
    struct err err;
    struct identity other = {.node = 4711, .cluster = 1, .joined = true};
    assert_int_equal(identity_store(f->kit->dir.path, &other, &err), ERR_OK);
    spoil_ballot(f);
    assert_int_equal(look(f, "raft/ballot cannot be made again"), REPAIR_LOST);
}

#define REPAIR_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define FIRST_TEST(name)  cmocka_unit_test_setup_teardown(name, setup_first, teardown)
TEST_GROUP(repair, REPAIR_TEST(nothing_damaged__is_said_and_nothing_is_changed),
           REPAIR_TEST(newest_manifest__is_moved_aside),
           REPAIR_TEST(newest_manifest_and_state__come_back_from_the_older_snapshot),
           REPAIR_TEST(older_manifest__is_not_needed),
           REPAIR_TEST(both_manifests__need_a_backup_when_the_log_was_cut),
           FIRST_TEST(only_manifest__is_not_needed_while_the_log_has_everything),
           FIRST_TEST(missing_log__needs_a_backup), REPAIR_TEST(log_files__stay_as_they_are),
           FIRST_TEST(log__that_ends_before_the_state_is_reported),
           REPAIR_TEST(ballot__of_the_only_member_is_written_again),
           REPAIR_TEST(ballot_and_state__are_repaired_together),
           REPAIR_TEST(identity__of_the_only_member_is_written_again),
           REPAIR_TEST(identity_and_ballot__are_not_guessed),
           REPAIR_TEST(ballot__of_another_member_is_not_written));
