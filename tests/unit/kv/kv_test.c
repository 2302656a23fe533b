#include "kv/kv.h"

#include "base/fault.h"
#include "base/pack.h"
#include "base/unpack.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

enum { RED, BLUE, GREEN, FAMILY_COUNT };
static const char *const names[FAMILY_COUNT] = {"red", "blue", "green"};
static const struct kv_config config = {
    .families = names, .family_count = FAMILY_COUNT, .hinted_families = 1U << GREEN};

/* A store in a temporary folder, and a batch for it. */
struct fixture {
    struct tmpdir dir;
    struct kv *kv;
    struct kv_batch *batch;
};

static void open_store(struct fixture *f)
{
    struct err err;
    if (kv_open(tmpdir_path(&f->dir, "kv").z, &config, &f->kv, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    f->batch = kv_batch_new(f->kv);
}

static void close_store(struct fixture *f)
{
    kv_batch_free(f->batch);
    kv_close(f->kv);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->dir = tmpdir_new();
    open_store(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fault_reset();
    close_store(f);
    tmpdir_remove(&f->dir);
    free(f);
    return 0;
}

static void put(struct fixture *f, unsigned family, const char *key, const char *value)
{
    kv_put(f->batch, family, str_from_z(key), str_from_z(value));
}

static void commit(struct fixture *f)
{
    struct err err;
    if (kv_commit(f->kv, f->batch, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(kv_batch_count(f->batch), 0);
}

/* Expect the value of the key in the view. "-": not found. */
static void expect_key(struct fixture *f, const struct kv_view *view, unsigned family,
                       const char *key, const char *value)
{
    struct buf out;
    struct err err;
    bool found = false;
    buf_init(&out, 1 << 20);
    assert_int_equal(kv_get(f->kv, view, family, str_from_z(key), &out, &found, &err), ERR_OK);
    expect_str(found ? buf_str(&out) : STR("-"), str_from_z(value));
    buf_deinit(&out);
}

/* Expect all keys from `from` on, each followed by a space. */
static void expect_keys(struct fixture *f, const struct kv_view *view, const char *from,
                        const char *keys)
{
    struct buf got;
    struct err err;
    struct kv_iter *it = kv_iter_new(f->kv, view, RED, str_from_z(from));
    buf_init(&got, 1 << 20);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        buf_add_str(&got, kv_iter_key(it));
        buf_add_char(&got, ' ');
    }
    assert_int_equal(kv_iter_error(it, &err), ERR_OK);
    kv_iter_free(it);
    expect_str(buf_str(&got), str_from_z(keys));
    buf_deinit(&got);
}

static void get__finds_what_was_put_in_that_family(void **state)
{
    struct fixture *f = *state;
    put(f, RED, "a", "1");
    put(f, RED, "empty", "");
    put(f, BLUE, "b", "2");
    expect_key(f, NULL, RED, "a", "-"); /* not visible before the commit */
    commit(f);
    expect_key(f, NULL, RED, "a", "1");
    expect_key(f, NULL, RED, "empty", "");
    expect_key(f, NULL, BLUE, "a", "-");
    expect_key(f, NULL, BLUE, "b", "2");
    expect_key(f, NULL, RED, "", "-");
}

static void get__appends_and_says_when_there_is_no_room(void **state)
{
    struct fixture *f = *state;
    struct buf out;
    struct err err;
    bool found = false;
    put(f, RED, "a", "12345");
    commit(f);
    buf_init(&out, 8);
    buf_add_str(&out, STR("x"));
    assert_int_equal(kv_get(f->kv, NULL, RED, STR("a"), &out, &found, &err), ERR_OK);
    expect_str(buf_str(&out), STR("x12345"));
    assert_int_equal(kv_get(f->kv, NULL, RED, STR("a"), &out, &found, &err), ERR_TOO_LARGE);
    buf_deinit(&out);
}

static void batch__applies_writes_in_their_order(void **state)
{
    struct fixture *f = *state;
    put(f, RED, "a", "1");
    put(f, RED, "b", "1");
    commit(f);
    put(f, RED, "a", "2");
    put(f, RED, "a", "3");
    kv_delete(f->batch, RED, STR("b"));
    put(f, RED, "c", "1");
    kv_delete(f->batch, RED, STR("c"));
    assert_int_equal(kv_batch_count(f->batch), 5);
    commit(f);
    expect_keys(f, NULL, "", "a ");
    expect_key(f, NULL, RED, "a", "3");
}

static void delete_range__takes_the_first_and_not_the_last(void **state)
{
    struct fixture *f = *state;
    const char *keys[] = {"a", "b", "bb", "c", "d"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        put(f, RED, keys[i], "1");
        put(f, BLUE, keys[i], "1");
    }
    commit(f);
    kv_delete_range(f->batch, RED, STR("b"), STR("d"));
    put(f, RED, "bc", "2"); /* later writes of the batch stay */
    commit(f);
    expect_keys(f, NULL, "", "a bc d ");
    expect_key(f, NULL, BLUE, "b", "1");
}

static void batch_bytes__are_the_same_for_the_same_writes(void **state)
{
    struct fixture *f = *state;
    struct kv_batch *other = kv_batch_new(f->kv);
    struct kv_batch *batches[] = {f->batch, other};
    for (size_t i = 0; i < COUNT_OF(batches); i++) {
        kv_put(batches[i], RED, STR("a"), STR("1"));
        kv_delete(batches[i], BLUE, STR("b"));
        kv_delete_range(batches[i], BLUE, STR("b"), STR("c"));
    }
    expect_str(kv_batch_bytes(f->batch), kv_batch_bytes(other));
    kv_put(other, BLUE, STR("a"), STR("1"));
    assert_false(str_eq(kv_batch_bytes(f->batch), kv_batch_bytes(other)));
    kv_batch_free(other);
    /* The bytes of a batch contain nothing of the batches that were committed before. */
    commit(f);
    size_t empty_len = kv_batch_bytes(f->batch).len;
    put(f, RED, "z", "1");
    commit(f);
    assert_int_equal(kv_batch_bytes(f->batch).len, empty_len);
}

static void iter__walks_in_key_order_from_a_key(void **state)
{
    struct fixture *f = *state;
    const char *keys[] = {"m", "b", "zz", "a", "ab"};
    expect_keys(f, NULL, "", "");
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        put(f, RED, keys[i], keys[i]);
    }
    put(f, BLUE, "other", "");
    commit(f);
    expect_keys(f, NULL, "", "a ab b m zz ");
    expect_keys(f, NULL, "ab", "ab b m zz ");
    expect_keys(f, NULL, "ac", "b m zz ");
    expect_keys(f, NULL, "zzz", "");
}

static void iter__sorts_bytes_without_sign(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct buf key;
    buf_init(&key, 16);
    for (unsigned i = 0; i < 600; i += 7) {
        buf_clear(&key);
        pack_u32_be(&key, (i * 97) % 600);
        kv_put(f->batch, RED, buf_str(&key), STR("v"));
    }
    commit(f);
    buf_deinit(&key);
    struct kv_iter *it = kv_iter_new(f->kv, NULL, RED, STR_EMPTY);
    int64_t last = -1;
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct unpack u = unpack_from(kv_iter_key(it));
        uint32_t v = unpack_u32_be(&u);
        assert_true((int64_t)v > last);
        expect_str(kv_iter_value(it), STR("v"));
        last = v;
    }
    assert_int_equal(kv_iter_error(it, &err), ERR_OK);
    kv_iter_free(it);
}

static void seek_back__finds_the_last_key_at_or_before(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *key;
        const char *found; /* NULL: none */
    } rows[] = {{"a", NULL}, {"b", "b"}, {"c", "b"}, {"d", "d"}, {"dd", "d"}, {"z", "f"}};
    put(f, RED, "b", "1");
    put(f, RED, "d", "1");
    put(f, RED, "f", "1");
    commit(f);
    struct kv_iter *it = kv_iter_new(f->kv, NULL, RED, STR("d"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].key);
        kv_iter_seek_back(it, str_from_z(rows[i].key));
        assert_int_equal(kv_iter_valid(it), rows[i].found != NULL);
        if (rows[i].found != NULL) {
            expect_str(kv_iter_key(it), str_from_z(rows[i].found));
        }
    }
    /* The iterator continues forward from there. */
    kv_iter_seek_back(it, STR("c"));
    kv_iter_next(it);
    expect_str(kv_iter_key(it), STR("d"));
    kv_iter_free(it);
}

static void view__does_not_see_later_commits(void **state)
{
    struct fixture *f = *state;
    put(f, RED, "a", "1");
    put(f, RED, "b", "1");
    commit(f);
    struct kv_view *view = kv_view_new(f->kv);
    struct kv_iter *newest = kv_iter_new(f->kv, NULL, RED, STR_EMPTY);
    put(f, RED, "a", "2");
    put(f, RED, "c", "2");
    kv_delete_range(f->batch, RED, STR("b"), STR("c"));
    commit(f);
    expect_key(f, view, RED, "a", "1");
    expect_key(f, view, RED, "b", "1");
    expect_key(f, view, RED, "c", "-");
    expect_keys(f, view, "", "a b ");
    expect_keys(f, NULL, "", "a c ");
    /* An iterator does not see commits made after its creation, either. */
    kv_iter_next(newest);
    expect_str(kv_iter_key(newest), STR("b"));
    kv_iter_free(newest);
    kv_view_free(view);
    expect_key(f, NULL, RED, "a", "2");
}

static void walks_of_several_families__are_of_one_moment(void **state)
{
    struct fixture *f = *state;
    struct kv_iter *its[2];
    put(f, RED, "a", "1");
    put(f, BLUE, "b", "1");
    commit(f);
    kv_iters_new(f->kv, (const unsigned[]){RED, BLUE}, 2, its);
    kv_delete(f->batch, RED, STR("a"));
    put(f, BLUE, "a", "2");
    commit(f);
    expect_str(kv_iter_key(its[0]), STR("a"));
    expect_str(kv_iter_key(its[1]), STR("b"));
    for (size_t i = 0; i < 2; i++) {
        kv_iter_next(its[i]);
        assert_false(kv_iter_valid(its[i]));
        kv_iter_free(its[i]);
    }
}

/* The hint changes where a family places its keys, but not its contents, whatever is written and in
 * whatever order. */
static void hinted__family_holds_the_same_as_another(void **state)
{
    struct fixture *f = *state;
    struct rng rng = rng_from(53);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t at = rng_below(&rng, 4) == 0 ? rng_below(&rng, 2000) : i;
        char key[32];
        (void)snprintf(key, sizeof key, "%c%llu", 'a' + (int)rng_below(&rng, 3),
                       (unsigned long long)at);
        if (rng_below(&rng, 5) == 0) {
            kv_delete(f->batch, RED, str_from_z(key));
            kv_delete(f->batch, GREEN, str_from_z(key));
        } else {
            put(f, RED, key, key);
            put(f, GREEN, key, key);
        }
        if (i % 7 == 0) {
            commit(f);
        }
    }
    commit(f);
    struct kv_iter *red = kv_iter_new(f->kv, NULL, RED, STR_EMPTY);
    struct kv_iter *green = kv_iter_new(f->kv, NULL, GREEN, STR_EMPTY);
    for (; kv_iter_valid(red); kv_iter_next(red), kv_iter_next(green)) {
        assert_true(kv_iter_valid(green));
        expect_str(kv_iter_key(green), kv_iter_key(red));
        expect_str(kv_iter_value(green), kv_iter_value(red));
    }
    assert_false(kv_iter_valid(green));
    kv_iter_free(red);
    kv_iter_free(green);
}

static void put_from(struct fixture *f, unsigned family, unsigned from, unsigned until,
                     struct str value)
{
    char key[32];
    for (unsigned i = from; i < until; i++) {
        (void)snprintf(key, sizeof key, "k%03u", i);
        kv_put(f->batch, family, str_from_z(key), value);
    }
}

/* RocksDB mixes up the hints of keys and of deleted ranges. So the keys are deleted one by one,
 * also those that the same commit has put, whether it waits in the window or is too large for
 * it. */
static void hinted__family_deletes_ranges(void **state)
{
    enum { KEYS = 40, FROM = 10, UNTIL = 20, LARGE = 300 << 10 };
    static const size_t sizes[] = {1, LARGE};
    struct fixture *f = *state;
    char *value = malloc(LARGE);
    assert_non_null(value);
    memset(value, 'x', LARGE);
    for (size_t row = 0; row < COUNT_OF(sizes); row++) {
        struct str text = str_from(value, sizes[row]);
        put_from(f, RED, 0, KEYS / 2, text);
        put_from(f, GREEN, 0, KEYS / 2, text);
        commit(f);
        put_from(f, RED, KEYS / 4, KEYS, text);
        put_from(f, GREEN, KEYS / 4, KEYS, text);
        kv_delete_range(f->batch, RED, STR("k010"), STR("k020"));
        kv_delete_range(f->batch, GREEN, STR("k010"), STR("k020"));
        put_from(f, RED, FROM + 5, FROM + 6, STR("again"));
        put_from(f, GREEN, FROM + 5, FROM + 6, STR("again"));
        commit(f);
        struct kv_iter *red = kv_iter_new(f->kv, NULL, RED, STR_EMPTY);
        struct kv_iter *green = kv_iter_new(f->kv, NULL, GREEN, STR_EMPTY);
        unsigned count = 0;
        for (; kv_iter_valid(red); kv_iter_next(red), kv_iter_next(green)) {
            assert_true(kv_iter_valid(green));
            expect_str(kv_iter_key(green), kv_iter_key(red));
            expect_str(kv_iter_value(green), kv_iter_value(red));
            count++;
        }
        assert_false(kv_iter_valid(green));
        assert_int_equal(count, KEYS - (UNTIL - FROM) + 1);
        kv_iter_free(red);
        kv_iter_free(green);
    }
    free(value);
}

static void take_one(void *data, size_t i, struct str value)
{
    unsigned *seen = data;
    expect_str(value, STR("v"));
    *seen |= 1U << i;
}

/* Return which of four keys are found, as bits: two in a row, one that does not exist, and one
 * after it. */
static unsigned get_four(struct fixture *f)
{
    static const char *const wanted[] = {"00000000", "00000001", "00001000", "00002000"};
    struct str keys[COUNT_OF(wanted)];
    unsigned seen = 0;
    struct kv_visitor visitor = {.value = take_one, .data = &seen};
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        keys[i] = str_from_z(wanted[i]);
    }
    kv_get_some(f->kv, RED, keys, COUNT_OF(wanted), &visitor);
    return seen;
}

static void get_some__does_not_search_among_the_deleted(void **state)
{
    struct fixture *f = *state;
    char key[16];
    put(f, RED, "00000000", "v");
    put(f, RED, "00000001", "v");
    put(f, RED, "00002000", "v");
    commit(f);
    assert_int_equal(get_four(f), 0xb); /* from the window */
    kv_view_free(kv_view_new(f->kv));   /* a new view writes the window */
    assert_int_equal(get_four(f), 0xb);
    for (unsigned i = 1000; i < 2000; i++) {
        (void)snprintf(key, sizeof key, "%08u", i);
        put(f, RED, key, "gone");
    }
    commit(f);
    kv_view_free(kv_view_new(f->kv));
    for (unsigned i = 1000; i < 2000; i++) {
        (void)snprintf(key, sizeof key, "%08u", i);
        kv_delete(f->batch, RED, str_from_z(key));
    }
    commit(f);
    kv_view_free(kv_view_new(f->kv));
    assert_int_equal(get_four(f), 0x3);
}

static void close__keeps_everything(void **state)
{
    struct fixture *f = *state;
    put(f, RED, "a", "1");
    put(f, BLUE, "b", "2");
    commit(f);
    close_store(f);
    open_store(f);
    expect_key(f, NULL, RED, "a", "1");
    expect_key(f, NULL, BLUE, "b", "2");
}

static void checkpoint__is_a_store_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct fixture copy = {.dir = tmpdir_new()};
    struct err err;
    put(f, RED, "a", "1");
    put(f, BLUE, "b", "1");
    commit(f);
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&copy.dir, "kv").z, &err), ERR_OK);
    put(f, RED, "a", "2");
    commit(f);
    open_store(&copy);
    expect_key(&copy, NULL, RED, "a", "1");
    expect_key(&copy, NULL, BLUE, "b", "1");
    put(&copy, RED, "a", "3");
    commit(&copy);
    expect_key(f, NULL, RED, "a", "2");
    close_store(&copy);
    open_store(&copy);
    expect_key(&copy, NULL, RED, "a", "3");
    close_store(&copy);
    tmpdir_remove(&copy.dir);
}

static void checkpoint__into_a_folder_that_exists_fails(void **state)
{
    struct fixture *f = *state;
    struct err err;
    assert_int_equal(kv_checkpoint(f->kv, f->dir.path, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "checkpoint: "));
    put(f, RED, "a", "1");
    commit(f);
    expect_key(f, NULL, RED, "a", "1");
}

static void open__refuses_what_is_no_store(void **state)
{
    struct fixture *f = *state;
    struct kv *kv = NULL;
    struct err err;
    struct kv_config fewer = {.families = names, .family_count = 1};
    struct os_file_path file = tmpdir_path(&f->dir, "file");
    tmpdir_write(file.z, STR("x"));
    assert_int_equal(kv_open(file.z, &config, &kv, &err), ERR_IO);
    /* Refused, because two processes on one folder would destroy it. */
    assert_int_equal(kv_open(tmpdir_path(&f->dir, "kv").z, &config, &kv, &err), ERR_IO);
    /* Refused, because an unknown family was written by a later version. */
    close_store(f);
    assert_int_not_equal(kv_open(tmpdir_path(&f->dir, "kv").z, &fewer, &kv, &err), ERR_OK);
    assert_null(kv);
    assert_non_null(strstr(err.msg, "open the store: "));
    open_store(f);
}

static void open__says_that_the_store_is_damaged(void **state)
{
    struct fixture *f = *state;
    struct kv *kv = NULL;
    struct err err;
    struct os_file_path path = tmpdir_path(&f->dir, "kv");
    put(f, RED, "a", "1");
    commit(f);
    close_store(f);
    tmpdir_write(tmpdir_find(path.z, "CURRENT", 0).z, STR("nonsense"));
    assert_int_equal(kv_open(path.z, &config, &kv, &err), ERR_CORRUPT);
    tmpdir_remove(&f->dir);
    f->dir = tmpdir_new();
    open_store(f);
}

static void faults__are_errors_and_change_nothing(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct buf out;
    bool found = false;
    put(f, RED, "a", "1");
    fault_arm(FAULT_KV_COMMIT, 1);
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_IO);
    assert_string_equal(err.msg, "write to the store: injected fault");
    expect_key(f, NULL, RED, "a", "-");
    assert_int_equal(kv_batch_count(f->batch), 1);
    fault_reset();
    commit(f); /* the batch is unchanged */
    expect_key(f, NULL, RED, "a", "1");

    buf_init(&out, 16);
    fault_arm(FAULT_KV_READ, 1);
    assert_int_equal(kv_get(f->kv, NULL, RED, STR("a"), &out, &found, &err), ERR_IO);
    struct kv_iter *it = kv_iter_new(f->kv, NULL, RED, STR_EMPTY);
    assert_int_equal(kv_iter_error(it, &err), ERR_IO);
    kv_iter_free(it);
    buf_deinit(&out);

    fault_arm(FAULT_KV_CHECKPOINT, 1);
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&f->dir, "copy").z, &err), ERR_IO);
    fault_reset();
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&f->dir, "copy").z, &err), ERR_OK);
}

static void stats__grow_with_what_is_written(void **state)
{
    struct fixture *f = *state;
    struct kv_stats before;
    struct kv_stats after;
    struct err err;
    static char big[100000];
    kv_stats(f->kv, &before);
    kv_put(f->batch, RED, STR("big"), str_from(big, sizeof big));
    commit(f);
    kv_stats(f->kv, &after);
    assert_true(after.memtable_bytes >= before.memtable_bytes + sizeof big);
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&f->dir, "copy").z, &err), ERR_OK);
    kv_stats(f->kv, &after);
    assert_true(after.sst_bytes > before.sst_bytes);
}

#define KV_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void walk__does_not_write_the_window(void **state)
{
    struct fixture *f = *state;
    struct kv_stats before;
    struct kv_stats after;
    struct err err;
    put(f, RED, "a", "1");
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_OK);
    kv_stats(f->kv, &before);
    struct kv_iter *it = kv_iter_new(f->kv, NULL, RED, STR_EMPTY);
    assert_true(kv_iter_valid(it));
    kv_iter_free(it);
    kv_stats(f->kv, &after);
    assert_true(after.window_bytes > 0);
    assert_true(after.window_bytes == before.window_bytes);
}

/* Releasing disk space */

static uint64_t stored_bytes(struct fixture *f)
{
    struct kv_stats stats;
    kv_stats(f->kv, &stats);
    return stats.sst_bytes;
}

static void put_many(struct fixture *f, unsigned family, unsigned first, unsigned count)
{
    char value[4096];
    struct err err;
    struct rng rng = rng_from(first + 1);
    for (unsigned i = first; i < first + count; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%08u", i);
        for (size_t k = 0; k < sizeof value; k++) {
            value[k] = (char)rng_next(&rng);
        }
        kv_put(f->batch, family, str_from_z(key), str_from(value, sizeof value));
    }
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_OK);
}

/* Open a copy of the files: the store that a crash at this moment would leave. */
static struct kv *open_copy(struct fixture *f)
{
    struct os_file_path from = tmpdir_path(&f->dir, "kv");
    struct os_file_path to = tmpdir_path(&f->dir, "copy");
    struct os_file_names found = {0};
    struct kv *kv = NULL;
    struct err err;
    assert_int_equal(os_file_make_dirs(to.z, &err), ERR_OK);
    assert_int_equal(os_file_list(from.z, &found, &err), ERR_OK);
    for (size_t i = 0; i < found.count; i++) {
        struct buf bytes;
        buf_init(&bytes, SIZE_MAX);
        assert_int_equal(os_file_read(os_file_join(from.z, found.name[i]).z, &bytes, &err), ERR_OK);
        assert_int_equal(
            os_file_replace(os_file_join(to.z, found.name[i]).z, buf_str(&bytes), &err), ERR_OK);
        buf_deinit(&bytes);
    }
    os_file_names_clear(&found);
    assert_int_equal(kv_open(to.z, &config, &kv, &err), ERR_OK);
    return kv;
}

static void shrink__flushes_all_families_at_one_commit(void **state)
{
    struct fixture *f = *state;
    struct err err;
    enum { MANY = 500 };
    put_many(f, BLUE, 0, MANY);
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&f->dir, "full").z, &err), ERR_OK);
    for (unsigned i = 0; i < MANY; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%08u", i);
        kv_delete(f->batch, BLUE, str_from_z(key));
    }
    put(f, RED, "index", "2");
    put(f, GREEN, "index", "2");
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_OK);
    assert_true(kv_shrink(f->kv, true, UINT64_MAX));
    struct kv *copy = open_copy(f);
    static const unsigned families[] = {RED, GREEN};
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        struct buf value;
        bool found = false;
        buf_init(&value, 64);
        assert_int_equal(kv_get(copy, NULL, families[i], STR("index"), &value, &found, &err),
                         ERR_OK);
        assert_true(found);
        buf_deinit(&value);
    }
    kv_close(copy);
}

static void shrink__gives_the_space_of_what_was_deleted_back(void **state)
{
    struct fixture *f = *state;
    enum { MANY = 2000 };
    struct err err;
    put_many(f, BLUE, 0, MANY);
    put_many(f, RED, 0, MANY / 4);
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&f->dir, "full").z, &err), ERR_OK);
    uint64_t full = stored_bytes(f);
    assert_false(kv_shrink(f->kv, true, UINT64_MAX)); /* nothing was deleted */
    for (unsigned i = 0; i < MANY; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%08u", i);
        kv_delete(f->batch, BLUE, str_from_z(key));
    }
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_OK);
    assert_false(kv_shrink(f->kv, false, UINT64_MAX)); /* not worth it while there is space */
    assert_true(kv_shrink(f->kv, true, UINT64_MAX));
    assert_true(stored_bytes(f) < full / 3);
    assert_true(stored_bytes(f) > full / 6); /* the other family is unchanged */
}

/* Half of the family is deleted. The other half is rewritten before the old files are removed. */
static void shrink__needs_room_for_what_is_left(void **state)
{
    struct fixture *f = *state;
    enum { MANY = 2000 };
    struct err err;
    put_many(f, BLUE, 0, MANY);
    assert_int_equal(kv_checkpoint(f->kv, tmpdir_path(&f->dir, "full").z, &err), ERR_OK);
    for (unsigned i = 0; i < MANY / 2; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%08u", i);
        kv_delete(f->batch, BLUE, str_from_z(key));
    }
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_OK);
    assert_false(kv_shrink(f->kv, true, 4096));
    assert_true(kv_shrink(f->kv, true, UINT64_MAX));
}

static void compaction__can_be_paused_while_writing_goes_on(void **state)
{
    struct fixture *f = *state;
    kv_allow_compaction(f->kv, false);
    put_many(f, BLUE, 0, 100);
    kv_allow_compaction(f->kv, true);
    struct buf value;
    struct err err;
    bool found = false;
    buf_init(&value, 1 << 20);
    assert_int_equal(kv_get(f->kv, NULL, BLUE, STR("00000099"), &value, &found, &err), ERR_OK);
    assert_true(found);
    buf_deinit(&value);
}

TEST_GROUP(kv, KV_TEST(shrink__needs_room_for_what_is_left),
           KV_TEST(compaction__can_be_paused_while_writing_goes_on),
           KV_TEST(get__finds_what_was_put_in_that_family),
           KV_TEST(get__appends_and_says_when_there_is_no_room),
           KV_TEST(batch__applies_writes_in_their_order),
           KV_TEST(delete_range__takes_the_first_and_not_the_last),
           KV_TEST(batch_bytes__are_the_same_for_the_same_writes),
           KV_TEST(iter__walks_in_key_order_from_a_key), KV_TEST(iter__sorts_bytes_without_sign),
           KV_TEST(seek_back__finds_the_last_key_at_or_before),
           KV_TEST(view__does_not_see_later_commits),
           KV_TEST(walks_of_several_families__are_of_one_moment),
           KV_TEST(hinted__family_holds_the_same_as_another),
           KV_TEST(hinted__family_deletes_ranges),
           KV_TEST(get_some__does_not_search_among_the_deleted), KV_TEST(close__keeps_everything),
           KV_TEST(checkpoint__is_a_store_of_its_own),
           KV_TEST(checkpoint__into_a_folder_that_exists_fails),
           KV_TEST(open__refuses_what_is_no_store), KV_TEST(open__says_that_the_store_is_damaged),
           KV_TEST(faults__are_errors_and_change_nothing),
           KV_TEST(stats__grow_with_what_is_written), KV_TEST(walk__does_not_write_the_window),
           KV_TEST(shrink__gives_the_space_of_what_was_deleted_back),
           KV_TEST(shrink__flushes_all_families_at_one_commit));
