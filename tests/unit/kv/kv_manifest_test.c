#include "kv/kv_manifest.h"

#include <endian.h>

#include "base/crc32c.h"
#include "kv/kv.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

enum { SECTOR = 512, HEADER = 7, FILE_BYTES_MAX = 256 << 10 };

/* --- what is read as torn: a file made here --- */

/* Append one part of a record with len bytes of content. */
static void add_part(struct buf *file, uint8_t kind, size_t len)
{
    uint32_t crc = 0;
    uint16_t stored_len = htole16((uint16_t)len);
    size_t at = file->len;
    buf_add(file, &crc, sizeof crc);
    buf_add(file, &stored_len, sizeof stored_len);
    buf_add_char(file, (char)kind);
    for (size_t i = 0; i < len; i++) {
        buf_add_char(file, 'x');
    }
    crc = crc32c_update(0, file->ptr + at + 6, len + 1);
    crc = htole32(((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8));
    memcpy(file->ptr + at, &crc, sizeof crc);
}

static enum kv_manifest_found read_all(const struct buf *file, uint64_t *out_at)
{
    struct kv_manifest_walk walk = {0};
    enum kv_manifest_found found = KV_MANIFEST_SOUND;
    for (size_t at = 0; at < file->len && found == KV_MANIFEST_SOUND;
         at += KV_MANIFEST_BLOCK_BYTES) {
        size_t left = file->len - at;
        found = kv_manifest__read(&walk, str_from(file->ptr + at, left < KV_MANIFEST_BLOCK_BYTES
                                                                      ? left
                                                                      : KV_MANIFEST_BLOCK_BYTES));
    }
    *out_at = walk.start;
    return found;
}

/* The file: whole records of 100 bytes up to offset 963, one of 600 bytes up to 1570, one more of
 * 100 bytes. */
enum { LONG_AT = 9 * 107, LAST_AT = LONG_AT + 607, END = LAST_AT + 107 };

static void sectors__that_are_missing_make_a_record_torn(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t from, until; /* bytes that become zeros, or one that is changed */
        size_t size;
        bool flip;
        enum kv_manifest_found found;
        uint64_t at;
    } rows[] = {
        {"nothing", 0, 0, END, false, KV_MANIFEST_SOUND, 0},
        {"the end of the file", 0, 0, LAST_AT + 50, false, KV_MANIFEST_DAMAGED, 0},
        {"the end of the file in a header", 0, 0, LAST_AT + 5, false, KV_MANIFEST_SOUND, 0},
        {"the first piece of the long record", LONG_AT, 1024, END, false, KV_MANIFEST_TORN,
         LONG_AT},
        {"its middle sector", 1024, 1536, END, false, KV_MANIFEST_TORN, LONG_AT},
        {"its last piece", 1536, END, END, false, KV_MANIFEST_TORN, LONG_AT},
        {"all from there on", LONG_AT, END, END, false, KV_MANIFEST_TORN, LONG_AT},
        {"the rest of a sector behind the last flush", LAST_AT, END, END, false, KV_MANIFEST_TORN,
         LAST_AT},
        {"zeros behind the last record", END, END, END + 2000, false, KV_MANIFEST_TORN, END},
        {"one bit", LONG_AT + 50, 0, END, true, KV_MANIFEST_DAMAGED, 0},
        {"one bit of a length", LONG_AT + 4, 0, END, true, KV_MANIFEST_DAMAGED, 0},
        {"a few bytes", LONG_AT + 50, LONG_AT + 60, END, false, KV_MANIFEST_DAMAGED, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf file;
        uint64_t at;
        buf_init(&file, FILE_BYTES_MAX);
        for (size_t n = 0; n < 9; n++) {
            add_part(&file, 1, 100);
        }
        add_part(&file, 1, 600);
        add_part(&file, 1, 100);
        while (file.len < rows[i].size) {
            buf_add_char(&file, '\0');
        }
        file.len = rows[i].size;
        if (rows[i].flip) {
            file.ptr[rows[i].from] ^= 1;
        } else {
            memset(file.ptr + rows[i].from, 0, rows[i].until - rows[i].from);
        }
        enum kv_manifest_found found = read_all(&file, &at);
        if (found != rows[i].found || (found == KV_MANIFEST_TORN && at != rows[i].at)) {
            fail_msg("%s: %d at %llu", rows[i].what, found, (unsigned long long)at);
        }
        buf_deinit(&file);
    }
}

/* A record of several blocks is torn as a whole, also where a block has no room for a header. */
static void record__of_several_blocks_is_torn_from_its_begin(void **state)
{
    (void)state;
    enum { FIRST = KV_MANIFEST_BLOCK_BYTES - 3 - 107 - HEADER };
    struct buf file;
    uint64_t at;
    buf_init(&file, FILE_BYTES_MAX);
    add_part(&file, 1, 100);
    add_part(&file, 2, FIRST);
    buf_add(&file, "\0\0\0", 3);
    add_part(&file, 3, KV_MANIFEST_BLOCK_BYTES - HEADER);
    add_part(&file, 4, 1000);
    add_part(&file, 1, 20);
    assert_int_equal(read_all(&file, &at), KV_MANIFEST_SOUND);
    size_t sector = 2 * KV_MANIFEST_BLOCK_BYTES + SECTOR;
    memset(file.ptr + sector, 0, SECTOR);
    assert_int_equal(read_all(&file, &at), KV_MANIFEST_TORN);
    assert_int_equal(at, 107);
    buf_deinit(&file);
}

/* --- what RocksDB makes of it: a store --- */

static const char *const names[] = {"one", "two"};
static const struct kv_config config = {.families = names, .family_count = 2};

static struct kv *open_store(const char *path)
{
    struct kv *kv = NULL;
    struct err err;
    if (kv_open(path, &config, &kv, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    return kv;
}

static void commit_number(struct kv *kv, uint8_t n)
{
    struct kv_batch *batch = kv_batch_new(kv);
    struct err err;
    for (unsigned family = 0; family < 2; family++) {
        kv_put(batch, family, STR("n"), str_from(&n, 1));
    }
    assert_int_equal(kv_commit(kv, batch, &err), ERR_OK);
    kv_batch_free(batch);
}

static void expect_number(struct kv *kv, uint8_t n)
{
    for (unsigned family = 0; family < 2; family++) {
        struct buf value;
        struct err err;
        bool found = false;
        buf_init(&value, 16);
        assert_int_equal(kv_get(kv, NULL, family, STR("n"), &value, &found, &err), ERR_OK);
        assert_true(found);
        expect_str(buf_str(&value), str_from(&n, 1));
        buf_deinit(&value);
    }
}

/* Make a store with the number n, flushed, and then n + 1. Returns the size of its list before the
 * flush of n + 1, which is the last thing written. */
static size_t make_store(const struct tmpdir *dir, const char *path, uint8_t n,
                         struct buf *out_list)
{
    struct err err;
    struct kv *kv = open_store(path);
    struct os_file_info info;
    char copy[32];
    kv_allow_compaction(kv, false); /* it would write to the list, too */
    for (uint8_t i = 0; i <= n; i++) {
        (void)snprintf(copy, sizeof copy, "copy-%u", i);
        commit_number(kv, i);
        assert_int_equal(kv_checkpoint(kv, tmpdir_path(dir, copy).z, &err), ERR_OK);
    }
    struct os_file_path list = tmpdir_find(path, "MANIFEST-", 0);
    assert_int_equal(os_file_stat(list.z, &info, &err), ERR_OK);
    commit_number(kv, n + 1);
    kv_close(kv); /* flushes */
    tmpdir_read(list.z, out_list);
    return (size_t)info.size;
}

/* A flush that crosses the end of a sector, of which the second one is lost, was not made. */
static void store__opens_as_it_was_before_a_torn_flush(void **state)
{
    (void)state;
    unsigned torn = 0;
    for (uint8_t n = 0; n < 12; n++) {
        struct tmpdir dir = tmpdir_new_in_memory();
        struct os_file_path path = tmpdir_path(&dir, "kv");
        struct buf list;
        size_t flushed = make_store(&dir, path.z, n, &list);
        size_t sector = flushed - flushed % SECTOR + SECTOR;
        bool crosses = sector < list.len;
        if (crosses) {
            torn++;
            memset(list.ptr + sector, 0, list.len - sector);
            tmpdir_write(tmpdir_find(path.z, "MANIFEST-", 0).z, buf_str(&list));
        }
        struct kv *kv = open_store(path.z);
        expect_number(kv, crosses ? n : n + 1);
        commit_number(kv, n + 2);
        kv_close(kv);
        kv = open_store(path.z);
        expect_number(kv, n + 2);
        kv_close(kv);
        buf_deinit(&list);
        tmpdir_remove(&dir);
    }
    assert_in_range(torn, 2, 12);
}

TEST_GROUP(kv_manifest, cmocka_unit_test(sectors__that_are_missing_make_a_record_torn),
           cmocka_unit_test(record__of_several_blocks_is_torn_from_its_begin),
           cmocka_unit_test(store__opens_as_it_was_before_a_torn_flush));
