#include "raftlog/manifest.h"

#include <string.h>

#include "base/crc32c.h"
#include "lib/exact.h"
#include "lib/test.h"

static const struct manifest_file sample_files[] = {
    {.name = {.ptr = "000007.sst", .len = 10}, .size = 4096, .crc = 0xdeadbeef},
    {.name = {.ptr = "CURRENT", .len = 7}, .size = 16, .crc = 1},
    {.name = {.ptr = "sub/file", .len = 8}, .size = 0, .crc = 0},
};

static const struct manifest sample = {
    .index = 12345,
    .term = 7,
    .checkpoint = {.ptr = "00000000000000012345-00ab", .len = 25},
    .members = {.ptr = "who", .len = 3},
    .members_index = 12,
    .file = sample_files,
    .file_count = COUNT_OF(sample_files),
};

static struct buf encode(const struct manifest *m)
{
    struct buf out;
    buf_init(&out, MANIFEST_BYTES_MAX);
    manifest_encode(m, &out);
    return out;
}

static void assert_manifest_equal(const struct manifest *a, const struct manifest *b)
{
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->term, b->term);
    assert_int_equal(a->members_index, b->members_index);
    assert_true(str_eq(a->checkpoint, b->checkpoint));
    assert_true(str_eq(a->members, b->members));
    assert_int_equal(a->file_count, b->file_count);
    for (size_t i = 0; i < a->file_count; i++) {
        assert_true(str_eq(a->file[i].name, b->file[i].name));
        assert_int_equal(a->file[i].size, b->file[i].size);
        assert_int_equal(a->file[i].crc, b->file[i].crc);
    }
}

static void manifest__decodes_what_was_encoded(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct buf bytes = encode(&sample);
    struct manifest m;
    struct err err;
    assert_int_equal(manifest_decode(buf_str(&bytes), arena, &m, &err), ERR_OK);
    assert_manifest_equal(&m, &sample);
    struct manifest empty = sample;
    empty.file_count = 0;
    buf_deinit(&bytes);
    bytes = encode(&empty);
    assert_int_equal(manifest_decode(buf_str(&bytes), arena, &m, &err), ERR_OK);
    assert_manifest_equal(&m, &empty);
    buf_deinit(&bytes);
    arena_free(arena);
}

static void manifest__refuses_every_flipped_bit_and_every_cut(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct buf bytes = encode(&sample);
    struct manifest m;
    struct err err;
    for (size_t bit = 0; bit < bytes.len * 8; bit++) {
        bytes.ptr[bit / 8] = (char)(bytes.ptr[bit / 8] ^ (1 << bit % 8));
        assert_int_equal(manifest_decode(buf_str(&bytes), arena, &m, &err), ERR_CORRUPT);
        bytes.ptr[bit / 8] = (char)(bytes.ptr[bit / 8] ^ (1 << bit % 8));
    }
    for (size_t len = 0; len < bytes.len; len++) {
        struct str cut = exact_copy(bytes.ptr, len);
        assert_int_equal(manifest_decode(cut, arena, &m, &err), ERR_CORRUPT);
        exact_free(cut);
    }
    buf_deinit(&bytes);
    arena_free(arena);
}

/* Decode a manifest with some bytes changed and the checksum corrected. */
static enum err_code decode_changed(const struct manifest *original, const char *from,
                                    const char *to, struct err *err)
{
    struct arena *arena = arena_new(1 << 16);
    struct buf bytes = encode(original);
    char *at = memmem(bytes.ptr, bytes.len, from, strlen(from));
    struct manifest m;
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    uint32_t crc = crc32c_update(0, bytes.ptr, bytes.len - 4);
    memcpy(bytes.ptr + bytes.len - 4, &crc, sizeof crc);
    enum err_code code = manifest_decode(buf_str(&bytes), arena, &m, err);
    buf_deinit(&bytes);
    arena_free(arena);
    return code;
}

static const struct {
    const char *name;
    const char *from, *to; /* of the same length */
    const char *message;
} bad_rows[] = {
    {"another kind of file", "CORVOMAN", "CORVOLOG", "not a manifest"},
    {"names out of order", "CURRENT", "tURRENT", "list of files"},
    {"an id that is a path", "12345-00ab", "12345/00ab", "impossible values"},
};

static void manifest__refuses_what_could_do_harm(void **state)
{
    (void)state;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bad_rows); i++) {
        ROW(bad_rows[i].name);
        assert_int_equal(decode_changed(&sample, bad_rows[i].from, bad_rows[i].to, &err),
                         ERR_CORRUPT);
        assert_non_null(strstr(err.msg, bad_rows[i].message));
    }
}

/* Each path is the only file of a manifest, so that it cannot be refused for its position. */
static void manifest__refuses_paths_that_leave_its_folder(void **state)
{
    static const struct {
        const char *path;
        bool fine;
    } rows[] = {
        {"..", false},   {"../a", false}, {"a/..", false}, {"a/../b", false}, {".", false},
        {"./a", false},  {"a/.", false},  {"/", false},    {"/a", false},     {"a/", false},
        {"a//b", false}, {"a\nb", false}, {"...", true},   {"..a", true},     {"a/b..", true},
        {"a../b", true}, {"a/..b", true}, {".a", true},    {"a/b/c", true},
    };
    static const char fill[] = "xxxxxxxx"; /* occurs nowhere else in the sample */
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t len = strlen(rows[i].path);
        struct err err = {0};
        ROW(rows[i].path);
        assert_true(len < sizeof fill);
        const char *name = fill + sizeof fill - 1 - len;
        struct manifest_file file = {.name = str_from_z(name)};
        struct manifest m = sample;
        m.file = &file;
        m.file_count = 1;
        enum err_code code = decode_changed(&m, name, rows[i].path, &err);
        assert_int_equal(code, rows[i].fine ? ERR_OK : ERR_CORRUPT);
        assert_true(rows[i].fine || strstr(err.msg, "list of files") != NULL);
    }
}

TEST_GROUP(manifest, cmocka_unit_test(manifest__decodes_what_was_encoded),
           cmocka_unit_test(manifest__refuses_every_flipped_bit_and_every_cut),
           cmocka_unit_test(manifest__refuses_what_could_do_harm),
           cmocka_unit_test(manifest__refuses_paths_that_leave_its_folder));
