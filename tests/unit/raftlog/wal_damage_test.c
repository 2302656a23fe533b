/*
 * Damage to log files, by bad disks and by operators, one row each.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "lib/test.h"
#include "log/log.h"
#include "raftlog/segment.h"
#include "raftlog/wal_int.h"
#include "unit/raftlog/wal_rig.h"

/* 40 entries, each flushed separately, 12 and a seal per segment: 1-12, 13-24, 25-36, 37-40. */
enum {
    ENTRIES = 40,
    ENTRY_BYTES = 296,
    RECORD_BYTES = 328,
    PER_SEGMENT = 12,
    SEGMENTS = 4,
};

static uint64_t record_at(unsigned number)
{
    return SEGMENT_HEADER_BYTES + (uint64_t)number * RECORD_BYTES;
}

/* Damage the log in dir. */
typedef void (*damage_fn)(const char *dir);

static struct os_file_path segment(const char *dir, size_t number)
{
    return tmpdir_find(dir, "log-", number);
}

static void cut_file(const char *path, uint64_t bytes)
{
    CHECK(truncate(path, (off_t)bytes) == 0);
}

static void remove_segment(const char *dir, size_t number)
{
    struct os_file_path path = segment(dir, number);
    CHECK(unlink(path.z) == 0);
}

static void flip(const char *dir, size_t number, uint64_t offset)
{
    struct os_file_path path = segment(dir, number);
    tmpdir_flip_bit(path.z, offset);
}

static void nothing(const char *dir)
{
    (void)dir;
}

static void zero_end(const char *dir)
{
    struct os_file_path path = segment(dir, SEGMENTS - 1);
    struct buf bytes;
    tmpdir_read(path.z, &bytes);
    memset(bytes.ptr + record_at(3) + 100, 0, RECORD_BYTES - 100);
    tmpdir_write(path.z, buf_str(&bytes));
    buf_deinit(&bytes);
}

static void short_end(const char *dir)
{
    struct os_file_path path = segment(dir, SEGMENTS - 1);
    cut_file(path.z, record_at(3) + 31);
}

static void short_rest(const char *dir)
{
    struct os_file_path path = segment(dir, SEGMENTS - 1);
    cut_file(path.z, record_at(4));
}

static void short_all(const char *dir)
{
    struct os_file_path path = segment(dir, SEGMENTS - 1);
    cut_file(path.z, record_at(0));
}

static void flip_last_record(const char *dir)
{
    flip(dir, SEGMENTS - 1, record_at(3) + 40);
}

static void flip_last_payload_length(const char *dir)
{
    flip(dir, SEGMENTS - 1, record_at(3) + 4);
}

static void flip_earlier_record_of_last(const char *dir)
{
    flip(dir, SEGMENTS - 1, record_at(1) + 40);
}

static void flip_header_of_last(const char *dir)
{
    flip(dir, SEGMENTS - 1, 20);
}

static void flip_middle(const char *dir)
{
    flip(dir, 1, record_at(5) + 200);
}

static void flip_end_of_middle(const char *dir)
{
    flip(dir, 1, record_at(PER_SEGMENT - 1) + 8);
}

static void flip_header_of_middle(const char *dir)
{
    flip(dir, 1, 30);
}

static void flip_unused_end(const char *dir)
{
    flip(dir, 1, 4095); /* the rest, where no record fits */
}

static void cut_middle(const char *dir)
{
    struct os_file_path path = segment(dir, 1);
    cut_file(path.z, record_at(6));
}

static void empty_middle(const char *dir)
{
    struct os_file_path path = segment(dir, 1);
    cut_file(path.z, 0);
}

static void lose_first(const char *dir)
{
    remove_segment(dir, 0);
}

static void lose_middle(const char *dir)
{
    remove_segment(dir, 2);
}

static void lose_last(const char *dir)
{
    remove_segment(dir, SEGMENTS - 1);
}

static void rename_last(const char *dir)
{
    struct os_file_path path = segment(dir, SEGMENTS - 1);
    struct os_file_path other = os_file_join(dir, "log-0000000000000004.old");
    CHECK(rename(path.z, other.z) == 0);
}

static void empty_last(const char *dir)
{
    struct os_file_path path = segment(dir, SEGMENTS - 1);
    cut_file(path.z, 0);
}

/* Overwrite a part of a segment. */
static void write_at(const char *dir, size_t number, uint64_t offset, struct str bytes)
{
    struct os_file_path path = segment(dir, number);
    struct buf image;
    tmpdir_read(path.z, &image);
    CHECK(offset + bytes.len <= image.len);
    memcpy(image.ptr + offset, bytes.ptr, bytes.len);
    tmpdir_write(path.z, buf_str(&image));
    buf_deinit(&image);
}

/* Clear the newest segment: the result of a crash after the seal of the segment before it and
 * before its first record. */
static void blank_last(const char *dir)
{
    static const char zeros[WAL_SEGMENT_BYTES_MIN];
    write_at(dir, SEGMENTS - 1, 0, str_from(zeros, sizeof zeros));
}

static void flip_seal(const char *dir)
{
    flip(dir, 1, record_at(PER_SEGMENT) + 8);
}

/* Make the log one of a program without seals. */
static void lose_seals(const char *dir)
{
    static const char zeros[SEGMENT_SEAL_BYTES];
    for (size_t i = 0; i < SEGMENTS - 1; i++) {
        write_at(dir, i, record_at(PER_SEGMENT), str_from(zeros, sizeof zeros));
    }
}

static void lose_seals_and_middle(const char *dir)
{
    lose_seals(dir);
    lose_middle(dir);
}

static void lose_seals_and_last(const char *dir)
{
    lose_seals(dir);
    lose_last(dir);
}

static void swap_two(const char *dir)
{
    struct os_file_path a = segment(dir, 1);
    struct os_file_path b = segment(dir, 2);
    struct os_file_path c = os_file_join(dir, "other");
    CHECK(rename(a.z, c.z) == 0);
    CHECK(rename(b.z, a.z) == 0);
    CHECK(rename(c.z, b.z) == 0);
}

static void repeat_last_as_new(const char *dir)
{
    struct os_file_path last = segment(dir, SEGMENTS - 1);
    struct os_file_path copy = os_file_join(dir, "log-00000000000000ff");
    struct buf bytes;
    tmpdir_read(last.z, &bytes);
    tmpdir_write(copy.z, buf_str(&bytes));
    buf_deinit(&bytes);
}

static struct segment_id id_of(const char *dir, uint64_t generation)
{
    struct segment_id id = {.generation = generation};
    struct err err;
    CHECK(wal_key__load(dir, &id.key, &err) == ERR_OK);
    return id;
}

static struct buf batch_bytes(const struct segment_batch *b)
{
    struct buf bytes;
    buf_init(&bytes, WAL_SEGMENT_BYTES_MIN);
    for (unsigned i = 0; i < b->iov_count; i++) {
        buf_add(&bytes, b->iov[i].iov_base, b->iov[i].iov_len);
    }
    return bytes;
}

/* Write a segment that no wal would write, but that is valid by itself. */
static void forge(const char *dir, uint64_t first_index, uint64_t index)
{
    static struct segment_batch b;
    struct segment_record r = {.type = SEGMENT_COMMAND, .index = index, .term = 1};
    struct segment_id id = id_of(dir, 0x50);
    segment_batch_clear(&b);
    segment_batch_begin(&b, id, first_index, 0);
    segment_batch_add(&b, segment_seed(id), &r);
    struct buf bytes = batch_bytes(&b);
    struct os_file_path path = os_file_join(dir, "log-0000000000000050");
    tmpdir_write(path.z, buf_str(&bytes));
    buf_deinit(&bytes);
}

static void forge_behind_seal(const char *dir)
{
    static struct segment_batch b;
    struct segment_record r = {.type = SEGMENT_TRUNCATE, .index = 20};
    segment_batch_clear(&b);
    segment_batch_add(&b, segment_seed(id_of(dir, 2)), &r);
    struct buf bytes = batch_bytes(&b);
    write_at(dir, 1, record_at(PER_SEGMENT) + SEGMENT_SEAL_BYTES, buf_str(&bytes));
    buf_deinit(&bytes);
}

static void forge_gap(const char *dir)
{
    forge(dir, 45, 45);
}

static void forge_overlap(const char *dir)
{
    forge(dir, 30, 30);
}

static void forge_wrong_index(const char *dir)
{
    forge(dir, 41, 42);
}

static void lose_key(const char *dir)
{
    struct os_file_path path = os_file_join(dir, "key");
    CHECK(unlink(path.z) == 0);
}

static void flip_key(const char *dir)
{
    struct os_file_path path = os_file_join(dir, "key");
    tmpdir_flip_bit(path.z, 10);
}

/* Replace the key by the key of an unrelated log. */
static void swap_key(const char *dir)
{
    struct tmpdir other = tmpdir_new();
    struct os_file_path from = tmpdir_path(&other, "key");
    struct os_file_path to = os_file_join(dir, "key");
    struct buf bytes;
    struct err err;
    uint64_t key = 0;
    CHECK(wal_key__load(other.path, &key, &err) == ERR_OK);
    tmpdir_read(from.z, &bytes);
    tmpdir_write(to.z, buf_str(&bytes));
    buf_deinit(&bytes);
    tmpdir_remove(&other);
}

static void lose_key_and_headers(const char *dir)
{
    lose_key(dir);
    for (size_t i = 0; i < SEGMENTS; i++) {
        flip(dir, i, 25);
    }
}

static void strangers(const char *dir)
{
    static const char *const names[] = {"notes.txt", "log-12", "log-000000000000000g",
                                        "LOG-0000000000000001"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct os_file_path path = os_file_join(dir, names[i]);
        tmpdir_write(path.z, STR("not ours"));
    }
}

/* clang-format off */
static const struct {
    const char *name;
    damage_fn damage;
    uint64_t covered_index; /* by a snapshot */
    uint64_t first, last;   /* entries found; last 0: refused */
    const char *message;    /* part of the message */
} rows[] = {
    {"nothing",                                       nothing,                     0,  1, 40, NULL},
    {"zeros at the end of the last record",           zero_end,                    0,  1, 39, NULL},
    {"the file ends in the last record",              short_end,                   0,  1, 0,  "' is damaged at offset 1048: the end of the file, which was larger"},
    {"the file ends behind the last record",          short_rest,                  0,  1, 0,  "' is damaged at offset 1376: the end of the file, which was larger"},
    {"the file ends in front of what is promised",    short_all,                   0,  1, 0,  "' is damaged at offset 64: the end of the file, which was larger"},
    {"a bit in the last record",                      flip_last_record,            0,  1, 39, NULL},
    {"a bit in the last record's length",             flip_last_payload_length,    0,  1, 39, NULL},
    {"a bit behind the last record of a segment",     flip_unused_end,             0,  1, 40, NULL},
    {"files that are not ours",                       strangers,                   0,  1, 40, NULL},
    {"the key is missing",                            lose_key,                    0,  1, 40, NULL},
    {"the key is damaged",                            flip_key,                    0,  1, 40, NULL},
    {"the key of another log",                        swap_key,                    0,  1, 0,  "' is damaged at offset 0: the key of another log"},
    {"the key is missing and so are the headers",     lose_key_and_headers,        0,  1, 0,  "key' is damaged or missing"},
    {"an older record of the last segment",           flip_earlier_record_of_last, 0,  1, 0,  "' is damaged at offset 392: a record with a wrong checksum"},
    {"the header of the last segment",                flip_header_of_last,         0,  1, 0,  "' is damaged at offset 0: no valid header"},
    {"a record in an earlier segment",                flip_middle,                 0,  1, 0,  "' is damaged at offset 1704: a record with a wrong checksum"},
    {"the last record of an earlier segment",         flip_end_of_middle,          0,  1, 0,  "' is damaged at offset 3672: a record with a wrong checksum"},
    {"the header of an earlier segment",              flip_header_of_middle,       0,  1, 0,  "' is damaged at offset 0: no valid header"},
    {"an earlier segment is cut",                     cut_middle,                  0,  1, 0,  "has the end of the file, which was larger at offset 2032"},
    {"an earlier segment is empty",                   empty_middle,                0,  1, 0,  "' is damaged at offset 0: no valid header"},
    {"the first segment is missing",                  lose_first,                  0,  1, 0,  "begins with entry 13"},
    {"a middle segment is missing",                   lose_middle,                 0,  1, 0,  "'log-0000000000000003' is missing between 'log-0000000000000002' and 'log-0000000000000004': restore the file"},
    {"the newest segment is missing",                 lose_last,                   0,  1, 0,  "'log-0000000000000004' is missing: restore it to"},
    {"the newest segment has another name",           rename_last,                 0,  1, 0,  "'log-0000000000000004' is missing: restore it to"},
    {"the newest segment is missing behind 36",       lose_last,                  12,  1, 0,  "everything after entry 36"},
    {"the newest segment is missing, some is covered", lose_last,                 38,  1, 0,  "everything after entry 38"},
    {"the newest segment is empty",                   empty_last,                  0,  1, 0,  "'log-0000000000000004' is truncated: restore it to"},
    {"a crash in front of a segment's first record",  blank_last,                  0,  1, 36, NULL},
    {"a bit in a seal",                               flip_seal,                   0,  1, 40, NULL},
    {"a record behind a seal",                        forge_behind_seal,           0,  1, 0,  "' is damaged at offset 4032: a record after the seal"},
    {"no seals",                                      lose_seals,                  0,  1, 40, NULL},
    {"no seals, a middle segment is missing",         lose_seals_and_middle,       0,  1, 0,  "entry 25 is next"},
    {"no seals, the newest segment is missing",       lose_seals_and_last,         0,  1, 36, NULL},
    {"two segments have each other's name",           swap_two,                    0,  1, 0,  "' is damaged at offset 0"},
    {"an old segment under a new name",               repeat_last_as_new,          0,  1, 40, NULL},
    {"a segment that begins too late",                forge_gap,                   0,  1, 0,  "begins with entry 45, but entry 41 is next"},
    {"a segment that begins too early",               forge_overlap,               0,  1, 0,  "begins with entry 30, but entry 41 is next"},
    {"an entry with the wrong index",                 forge_wrong_index,           0,  1, 0,  "log-0000000000000050' is damaged at offset 64: an entry with the wrong index"},
    {"the first segment is missing, but covered",     lose_first,                 12, 13, 40, NULL},
    {"a middle segment is missing, but covered",      lose_middle,                36, 37, 40, NULL},
    {"a record goes bad, but is covered",             flip_middle,                24, 25, 40, NULL},
    {"a record goes bad, and not all is covered",     flip_middle,                23,  1, 0,  "offset 1704"},
};
/* clang-format on */

static void make_log(struct wal_rig *r)
{
    wal_rig_open(r);
    for (unsigned i = 0; i < ENTRIES; i++) {
        wal_rig_append(r, 1, ENTRY_BYTES);
        wal_rig_wait(r);
    }
    wal_rig_close(r);
    assert_true(tmpdir_count(r->dir.path, "log-") >= SEGMENTS);
    while (tmpdir_count(r->dir.path, "log-") > SEGMENTS) { /* created ahead */
        remove_segment(r->dir.path, SEGMENTS);
    }
}

static void damage__is_refused_unless_it_was_never_promised(void **state)
{
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct wal_rig r;
        struct err err = {0};
        wal_rig_init(&r);
        make_log(&r);
        rows[i].damage(r.dir.path);
        r.covered_index = rows[i].covered_index;
        enum err_code code = wal_rig_try(&r, &err);
        if (rows[i].last == 0) {
            assert_int_equal(code, ERR_CORRUPT);
            if (strstr(err.msg, rows[i].message) == NULL) {
                fail_msg("said '%s'", err.msg);
            }
            /* The refusal has changed nothing. */
            assert_int_equal(wal_rig_try(&r, &err), ERR_CORRUPT);
        } else {
            assert_int_equal(code, ERR_OK);
            wal_rig_assert_content(&r, rows[i].first, rows[i].last, 1);
            /* The log continues from there. */
            wal_rig_close(&r);
            wal_rig_open(&r);
            r.term = 1;
            wal_rig_append(&r, 2, ENTRY_BYTES);
            wal_rig_wait(&r);
            wal_rig_close(&r);
            wal_rig_open(&r);
            wal_rig_assert_content(&r, rows[i].first, rows[i].last + 2, 1);
        }
        wal_rig_deinit(&r);
    }
    log_configure(LOG_INFO, LOG_AUTO);
}

/* Add spare segments that a start would remove because of their size. */
static void add_spares(const char *dir)
{
    static const char *const names[] = {"spare-0000000000000100", "spare-0000000000000101"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct os_file_path path = os_file_join(dir, names[i]);
        tmpdir_write(path.z, STR("of another size"));
    }
}

static void an_inspection__finds_the_same_and_changes_nothing(void **state)
{
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct wal_rig r;
        struct wal_content found = {0};
        struct err inspected = {0};
        struct err opened = {0};
        wal_rig_init(&r);
        make_log(&r);
        rows[i].damage(r.dir.path);
        add_spares(r.dir.path);
        r.covered_index = rows[i].covered_index;
        uint32_t before = tmpdir_checksum(r.dir.path);
        enum err_code code = wal_inspect(r.dir.path, r.covered_index, &found, &inspected);
        assert_int_equal(tmpdir_checksum(r.dir.path), before);
        assert_int_equal(wal_rig_try(&r, &opened), code);
        if (code == ERR_OK) {
            assert_int_equal(found.first_index, r.content.first_index);
            assert_int_equal(found.count, r.content.count);
            assert_int_equal(found.begun, r.content.begun);
        } else {
            assert_string_equal(inspected.msg, opened.msg);
        }
        wal_content_clear(&found);
        wal_rig_deinit(&r);
    }
    log_configure(LOG_INFO, LOG_AUTO);
}

static void an_inspection__of_an_empty_folder_makes_no_log(void **state)
{
    (void)state;
    struct tmpdir dir = tmpdir_new();
    struct wal_content found = {0};
    struct err err = {0};
    assert_int_equal(wal_inspect(dir.path, 7, &found, &err), ERR_OK);
    assert_false(found.begun);
    assert_int_equal(found.first_index, 8);
    assert_int_equal(tmpdir_count(dir.path, ""), 0);
    tmpdir_remove(&dir);
}

static void append_now(struct wal_rig *r, unsigned count)
{
    struct raft_entry entry[3] = {0};
    struct err err;
    CHECK(count <= COUNT_OF(entry));
    for (unsigned i = 0; i < count; i++) {
        entry[i] = wal_rig_entry(r->next_index + i, r->term, ENTRY_BYTES);
    }
    assert_int_equal(wal_append_now(r->wal, r->next_index, entry, count, &err), ERR_OK);
    for (unsigned i = 0; i < count; i++) {
        raft_free(entry[i].buf.base);
    }
}

/* One write of three entries, of which only the first did not reach the disk. If another entry
 * takes exactly its place, the other two must not reappear after it. */
static void a_torn_write__leaves_nothing_that_comes_back(void **state)
{
    (void)state;
    struct wal_rig r;
    struct err err;
    log_configure(LOG_ERROR, LOG_TEXT);
    wal_rig_init(&r);
    assert_int_equal(wal_rig_try(&r, &err), ERR_OK);
    append_now(&r, 3);
    wal_rig_close(&r);
    flip(r.dir.path, 0, record_at(0) + 100);
    assert_int_equal(wal_rig_try(&r, &err), ERR_OK);
    wal_rig_assert_content(&r, 1, 0, 0);
    r.term = 2;
    append_now(&r, 1);
    wal_rig_close(&r);
    assert_int_equal(wal_rig_try(&r, &err), ERR_OK);
    wal_rig_assert_content(&r, 1, 1, 2);
    wal_rig_deinit(&r);
    log_configure(LOG_INFO, LOG_AUTO);
}

/* The last entry is in the page cache, but its flush failed, so the process stopped. The next flush
 * would report success, unless the entry is written again. The file's time shows that it is. */
static void an_entry_without_proof_of_its_flush__is_written_again(void **state)
{
    (void)state;
    static const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct wal_rig r;
    struct err err;
    struct stat st;
    wal_rig_init(&r);
    assert_int_equal(wal_rig_try(&r, &err), ERR_OK);
    append_now(&r, 1);
    wal_rig_close(&r);
    struct os_file_path path = segment(r.dir.path, 0);
    assert_int_equal(utimensat(AT_FDCWD, path.z, old, 0), 0);
    assert_int_equal(wal_rig_try(&r, &err), ERR_OK);
    wal_rig_assert_content(&r, 1, 1, 1);
    assert_int_equal(stat(path.z, &st), 0);
    assert_true(st.st_mtim.tv_sec > old[1].tv_sec);
    wal_rig_close(&r);
    assert_int_equal(wal_rig_try(&r, &err), ERR_OK);
    wal_rig_assert_content(&r, 1, 1, 1); /* with the same bytes */
    wal_rig_deinit(&r);
}

/* Entries were replaced by the same number of others, and the record of the truncation is damaged,
 * in a segment that is not the newest. The valid entries are missing, although no index is. */
static void a_lost_truncation__is_noticed(void **state)
{
    (void)state;
    struct wal_rig r;
    struct err err;
    log_configure(LOG_ERROR, LOG_TEXT);
    wal_rig_init(&r);
    wal_rig_open(&r);
    wal_rig_append(&r, 4, ENTRY_BYTES);
    wal_rig_truncate(&r, 3);
    r.term = 2;
    wal_rig_append(&r, 2, ENTRY_BYTES);
    wal_rig_append(&r, PER_SEGMENT, ENTRY_BYTES);
    wal_rig_wait(&r);
    wal_rig_close(&r);
    flip(r.dir.path, 0, record_at(4) + 8);
    assert_int_equal(wal_rig_try(&r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "offset 1376"));
    wal_rig_deinit(&r);
    log_configure(LOG_INFO, LOG_AUTO);
}

/* The same, but the truncation is in a separate segment, whose file is missing. */
static void a_lost_segment__is_noticed_although_no_index_is_missing(void **state)
{
    (void)state;
    struct wal_rig r;
    struct err err;
    log_configure(LOG_ERROR, LOG_TEXT);
    wal_rig_init(&r);
    wal_rig_open(&r);
    wal_rig_append(&r, PER_SEGMENT, ENTRY_BYTES);
    wal_rig_append(&r, 2, ENTRY_BYTES);
    wal_rig_truncate(&r, PER_SEGMENT - 7);
    r.term = 2;
    wal_rig_append(&r, 8, ENTRY_BYTES);
    wal_rig_append(&r, 1, 3 * ENTRY_BYTES); /* entry 13, which does not fit any more */
    wal_rig_wait(&r);
    wal_rig_close(&r);
    remove_segment(r.dir.path, 1);
    assert_int_equal(wal_rig_try(&r, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.msg, "'log-0000000000000002' is missing between"));
    wal_rig_deinit(&r);
    log_configure(LOG_INFO, LOG_AUTO);
}

static void the_newest_segment__is_fine_when_it_is_brought_back(void **state)
{
    (void)state;
    struct wal_rig r;
    struct err err;
    log_configure(LOG_ERROR, LOG_TEXT);
    wal_rig_init(&r);
    make_log(&r);
    struct os_file_path path = segment(r.dir.path, SEGMENTS - 1);
    struct os_file_path away = tmpdir_path(&r.dir, "away");
    CHECK(rename(path.z, away.z) == 0);
    assert_int_equal(wal_rig_try(&r, &err), ERR_CORRUPT);
    CHECK(rename(away.z, path.z) == 0);
    wal_rig_open(&r);
    wal_rig_assert_content(&r, 1, ENTRIES, 1);
    wal_rig_deinit(&r);
    log_configure(LOG_INFO, LOG_AUTO);
}

/* What one start has accepted stays accepted: later starts are durable again. */
static void a_start_without_durability__accepts_that_the_newest_segment_is_missing(void **state)
{
    (void)state;
    static const damage_fn damages[] = {lose_last, empty_last};
    log_configure(LOG_ERROR, LOG_TEXT);
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        struct wal_rig r;
        wal_rig_init(&r);
        make_log(&r);
        damages[i](r.dir.path);
        r.config.durable = false;
        wal_rig_open(&r);
        wal_rig_assert_content(&r, 1, ENTRIES - 4, 1);
        wal_rig_close(&r);
        r.config.durable = true;
        wal_rig_open(&r);
        wal_rig_append(&r, PER_SEGMENT, ENTRY_BYTES);
        wal_rig_wait(&r);
        wal_rig_close(&r);
        wal_rig_open(&r);
        wal_rig_assert_content(&r, 1, ENTRIES - 4 + PER_SEGMENT, 1);
        wal_rig_deinit(&r);
    }
    log_configure(LOG_INFO, LOG_AUTO);
}

/* Programs without seals left no room for one. */
static void a_segment_without_room_for_a_seal__is_followed_by_another(void **state)
{
    (void)state;
    enum { BYTES = 300, COUNT = 12 }; /* with headers, they fill the segment exactly */
    static struct segment_batch b;
    struct raft_entry entry[COUNT];
    struct wal_rig r;
    wal_rig_init(&r);
    struct segment_id id = id_of(r.dir.path, 1);
    segment_batch_clear(&b);
    segment_batch_begin(&b, id, 1, WAL_SEGMENT_BYTES_MIN);
    for (unsigned i = 0; i < COUNT; i++) {
        entry[i] = wal_rig_entry(i + 1, 1, BYTES);
        struct segment_record record = {.type = SEGMENT_COMMAND,
                                        .index = i + 1,
                                        .term = 1,
                                        .payload = str_from(entry[i].buf.base, BYTES)};
        segment_batch_add(&b, segment_seed(id), &record);
    }
    struct buf bytes = batch_bytes(&b);
    assert_int_equal(bytes.len, WAL_SEGMENT_BYTES_MIN);
    struct os_file_path path = tmpdir_path(&r.dir, "log-0000000000000001");
    tmpdir_write(path.z, buf_str(&bytes));
    buf_deinit(&bytes);
    for (unsigned i = 0; i < COUNT; i++) {
        raft_free(entry[i].buf.base);
    }
    wal_rig_open(&r);
    wal_rig_assert_content(&r, 1, COUNT, 1);
    wal_rig_append(&r, 2, BYTES);
    wal_rig_wait(&r);
    wal_rig_close(&r);
    wal_rig_open(&r);
    wal_rig_assert_content(&r, 1, COUNT + 2, 1);
    wal_rig_deinit(&r);
}

TEST_GROUP(wal_damage, cmocka_unit_test(a_lost_truncation__is_noticed),
           cmocka_unit_test(damage__is_refused_unless_it_was_never_promised),
           cmocka_unit_test(an_inspection__finds_the_same_and_changes_nothing),
           cmocka_unit_test(an_inspection__of_an_empty_folder_makes_no_log),
           cmocka_unit_test(a_lost_segment__is_noticed_although_no_index_is_missing),
           cmocka_unit_test(the_newest_segment__is_fine_when_it_is_brought_back),
           cmocka_unit_test(a_start_without_durability__accepts_that_the_newest_segment_is_missing),
           cmocka_unit_test(a_segment_without_room_for_a_seal__is_followed_by_another),
           cmocka_unit_test(an_entry_without_proof_of_its_flush__is_written_again),
           cmocka_unit_test(a_torn_write__leaves_nothing_that_comes_back));
