/*
 * Files that earlier versions have written still decode to the same values. Where the format
 * version is still current, the same bytes are written today. tests/lib/golden.h describes how to
 * add files.
 */
#include "lib/golden.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "raftlog/ballot.h"
#include "raftlog/manifest.h"
#include "raftlog/members.h"
#include "raftlog/wal_int.h"

enum { FIRST_INDEX = 41 };

static const struct segment_id id = {.key = 0x0123456789abcdef, .generation = 0x1234};

static const struct segment_record records[] = {
    {.type = SEGMENT_CHANGE, .index = 41, .term = 3, .payload = {.ptr = "members!", .len = 8}},
    {.type = SEGMENT_COMMAND, .index = 42, .term = 3, .payload = {.ptr = "a command", .len = 9}},
    {.type = SEGMENT_BARRIER, .index = 43, .term = 4, .flushed = 104},
    {.type = SEGMENT_TRUNCATE, .index = 43, .flushed = 184},
    {.type = SEGMENT_COMMAND, .index = 43, .term = 5, .payload = {.ptr = "other", .len = 5}},
    {.type = SEGMENT_RESET, .index = 1000, .flushed = 216},
    {.type = SEGMENT_SEAL, .index = 0x1235, .flushed = 288},
};

static void check_segment(const char *name, uint64_t file_bytes, size_t count)
{
    static struct segment_batch batch;
    struct segment_scan scan;
    struct segment_record got;
    struct buf present;
    struct buf file;
    buf_init(&present, 4096);
    segment_batch_clear(&batch);
    segment_batch_begin(&batch, id, FIRST_INDEX, file_bytes);
    for (size_t i = 0; i < count; i++) {
        segment_batch_add(&batch, segment_seed(id), &records[i]);
    }
    for (unsigned i = 0; i < batch.iov_count; i++) {
        buf_add(&present, batch.iov[i].iov_base, batch.iov[i].iov_len);
    }
    golden_read(name, buf_str(&present), &file);
    assert_true(str_eq(buf_str(&file), buf_str(&present)));
    assert_true(segment_scan_begin(&scan, buf_str(&file), id));
    assert_int_equal(scan.first_index, FIRST_INDEX);
    assert_int_equal(scan.file_bytes, file_bytes);
    for (size_t i = 0; i < count; i++) {
        assert_true(segment_scan_next(&scan, &got));
        assert_int_equal(got.type, records[i].type);
        assert_int_equal(got.index, records[i].index);
        assert_int_equal(got.term, records[i].term);
        assert_int_equal(got.flushed, records[i].flushed);
        assert_true(str_eq(got.payload, records[i].payload));
    }
    assert_false(segment_scan_next(&scan, &got));
    assert_int_equal(scan.stop, file_bytes > file.len ? SEGMENT_CUT : SEGMENT_FULL);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void segment_1__decodes(void **state)
{
    (void)state;
    check_segment("segment-1.bin", 0, COUNT_OF(records) - 1);
    check_segment("segment-1-size.bin", WAL_SEGMENT_BYTES_MIN, COUNT_OF(records) - 1);
    check_segment("segment-1-seal.bin", WAL_SEGMENT_BYTES_MIN, COUNT_OF(records));
}

static void log_key_1__decodes(void **state)
{
    (void)state;
    static const uint8_t present[24] = {'C',  'O',  'R',  'V',  'O',  'K',  'E',  'Y',  0xef, 0xcd,
                                        0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x67, 0xf9, 0x48, 0xc6};
    struct tmpdir t = tmpdir_new();
    struct os_file_path path = tmpdir_path(&t, "key");
    struct buf file;
    struct err err;
    uint64_t key = 0;
    golden_read("log-key-1.bin", str_from(present, sizeof present), &file);
    tmpdir_write(path.z, buf_str(&file));
    assert_int_equal(wal_key__load(t.path, &key, &err), ERR_OK);
    assert_int_equal(key, 0x0123456789abcdef);
    buf_deinit(&file);
    tmpdir_remove(&t);
}

static void ballot_1__decodes(void **state)
{
    (void)state;
    struct tmpdir t = tmpdir_new();
    struct os_file_path path = tmpdir_path(&t, "ballot");
    struct ballot b = {0};
    struct ballot got = {0};
    int fd = -1;
    struct buf present;
    struct buf file;
    struct err err;
    assert_int_equal(ballot_open(path.z, &fd, &b, &err), ERR_OK);
    b = (struct ballot){.version = 6, .term = 17, .vote = 3};
    assert_int_equal(ballot_store(fd, &b, &err), ERR_OK);
    os_file_close(fd);
    tmpdir_read(path.z, &present);
    golden_read("ballot-1.bin", buf_str(&present), &file);
    assert_true(str_eq(buf_str(&file), buf_str(&present)));
    tmpdir_write(path.z, buf_str(&file));
    assert_int_equal(ballot_open(path.z, &fd, &got, &err), ERR_OK);
    os_file_close(fd);
    assert_int_equal(got.version, 7);
    assert_int_equal(got.term, 17);
    assert_int_equal(got.vote, 3);
    buf_deinit(&present);
    buf_deinit(&file);
    tmpdir_remove(&t);
}

static void manifest_1__decodes(void **state)
{
    (void)state;
    static const struct manifest_file files[] = {
        {.name = {.ptr = "000012.sst", .len = 10}, .size = 1 << 20, .crc = 0x12345678},
        {.name = {.ptr = "CURRENT", .len = 7}, .size = 16, .crc = 0x9abcdef0},
    };
    struct raft_configuration members;
    raft_configuration_init(&members);
    assert_int_equal(raft_configuration_add(&members, 1, "10.0.0.1:9401", RAFT_VOTER), 0);
    assert_int_equal(raft_configuration_add(&members, 2, "10.0.0.2:9401", RAFT_STANDBY), 0);
    struct buf member_bytes;
    buf_init(&member_bytes, MEMBERS_BYTES_MAX);
    members_encode(&members, &member_bytes);
    struct manifest m = {.index = 4096,
                         .term = 17,
                         .checkpoint = STR("00000000000000004096-0123456789abcdef"),
                         .members = buf_str(&member_bytes),
                         .members_index = 12,
                         .file = files,
                         .file_count = COUNT_OF(files)};
    struct arena *arena = arena_new(1 << 16);
    struct raft_configuration got_members;
    struct manifest got;
    struct buf present;
    struct buf file;
    struct err err;
    buf_init(&present, MANIFEST_BYTES_MAX);
    manifest_encode(&m, &present);
    golden_read("manifest-1.bin", buf_str(&present), &file);
    assert_true(str_eq(buf_str(&file), buf_str(&present)));
    assert_int_equal(manifest_decode(buf_str(&file), arena, &got, &err), ERR_OK);
    assert_int_equal(got.index, 4096);
    assert_int_equal(got.term, 17);
    assert_int_equal(got.members_index, 12);
    assert_true(str_eq(got.checkpoint, m.checkpoint));
    assert_int_equal(got.file_count, 2);
    assert_true(str_eq(got.file[1].name, STR("CURRENT")));
    assert_int_equal(got.file[0].crc, 0x12345678);
    assert_int_equal(members_decode(got.members, &got_members, &err), ERR_OK);
    assert_int_equal(got_members.n, 2);
    assert_string_equal(got_members.servers[1].address, "10.0.0.2:9401");
    raft_configuration_close(&got_members);
    raft_configuration_close(&members);
    buf_deinit(&member_bytes);
    buf_deinit(&present);
    buf_deinit(&file);
    arena_free(arena);
}

TEST_GROUP(storage_golden, cmocka_unit_test(segment_1__decodes),
           cmocka_unit_test(log_key_1__decodes), cmocka_unit_test(ballot_1__decodes),
           cmocka_unit_test(manifest_1__decodes));
