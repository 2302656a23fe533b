/*
 * The window of the newest commits must have no visible effect: whatever is written, a store with a
 * window of any size returns the same as a table in memory.
 */
#include "kv/kv_window.h"

#include "kv/kv.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

enum { FAMILIES = 3, KEYS = 26, ROUNDS = 4000, SEEDS = 6 };
static const char *const names[FAMILIES] = {"one", "two", "three"};

struct fixture {
    struct tmpdir dir;
    struct kv_config config;
    struct kv *kv;
    struct kv_batch *batch;
    struct rng rng;
    unsigned want[FAMILIES][KEYS]; /* the number under a key; 0: not found */
    unsigned last;                 /* the number written last */
};

static void open_store(struct fixture *f)
{
    struct err err;
    if (kv_open(tmpdir_path(&f->dir, "kv").z, &f->config, &f->kv, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    f->batch = kv_batch_new(f->kv);
}

static void close_store(struct fixture *f)
{
    kv_batch_free(f->batch);
    kv_close(f->kv);
}

static unsigned below(struct fixture *f, unsigned n)
{
    return (unsigned)rng_below(&f->rng, n);
}

static struct str key_of(const char *letter)
{
    return str_from(letter, 1);
}

static void write_one(struct fixture *f)
{
    unsigned family = below(f, FAMILIES);
    unsigned at = below(f, KEYS);
    unsigned *want = &f->want[family][at];
    char key = (char)('a' + at);
    char until = (char)(key + (int)below(f, 4));
    switch (below(f, 8)) {
    case 0:
        kv_delete_range(f->batch, family, key_of(&key), key_of(&until));
        for (; key < until && key <= 'z'; key++) {
            f->want[family][key - 'a'] = 0;
        }
        break;
    case 1:
    case 2:
    case 3:
        kv_delete(f->batch, family, key_of(&key));
        *want = 0;
        break;
    default: {
        struct str value = str_from(&f->last, sizeof f->last);
        f->last++;
        if (*want == 0) {
            kv_put_new(f->batch, family, key_of(&key), value);
        } else {
            kv_put(f->batch, family, key_of(&key), value);
        }
        *want = f->last;
        break;
    }
    }
}

static void commit(struct fixture *f)
{
    struct err err;
    unsigned writes = below(f, 5);
    for (unsigned i = 0; i < writes; i++) {
        write_one(f);
    }
    assert_int_equal(kv_commit(f->kv, f->batch, &err), ERR_OK);
}

static unsigned number_in(struct str value)
{
    unsigned n;
    assert_int_equal(value.len, sizeof n);
    memcpy(&n, value.ptr, sizeof n);
    return n;
}

static void expect_key(struct fixture *f, unsigned family, unsigned at)
{
    char key = (char)('a' + at);
    struct buf out;
    struct err err;
    bool found = false;
    buf_init(&out, 64);
    assert_int_equal(kv_get(f->kv, NULL, family, key_of(&key), &out, &found, &err), ERR_OK);
    assert_int_equal(found ? number_in(buf_str(&out)) : 0, f->want[family][at]);
    buf_deinit(&out);
}

/* Check a lookup in all families, if the key is in no more than one. */
static void expect_in_any(struct fixture *f, unsigned at)
{
    char key = (char)('a' + at);
    unsigned want = 0;
    struct buf out;
    struct err err;
    bool found = false;
    for (unsigned family = 0; family < FAMILIES; family++) {
        if (want != 0 && f->want[family][at] != 0) {
            return;
        }
        want += f->want[family][at];
    }
    buf_init(&out, 64);
    assert_int_equal(kv_get_any(f->kv, (1U << FAMILIES) - 1, key_of(&key), &out, &found, &err),
                     ERR_OK);
    assert_int_equal(found ? number_in(buf_str(&out)) : 0, want);
    buf_deinit(&out);
}

static void take_near(void *data, size_t i, struct str value)
{
    unsigned *got = data;
    assert_int_equal(got[i], 0);
    got[i] = number_in(value);
}

/* Look up every second key from a random one on, and then, out of order, the first key. */
static void expect_near(struct fixture *f, unsigned family)
{
    char letters[KEYS];
    struct str keys[KEYS];
    unsigned got[KEYS] = {0};
    size_t count = 0;
    struct err err;
    unsigned first = below(f, KEYS);
    for (unsigned at = first; at < KEYS; at += 2) {
        letters[count++] = (char)('a' + at);
    }
    if (first > 0) {
        letters[count++] = 'a';
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] = key_of(&letters[i]);
    }
    struct kv_visitor visitor = {.value = take_near, .data = got};
    assert_int_equal(kv_get_near(f->kv, family, keys, count, &visitor, &err), ERR_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got[i], f->want[family][letters[i] - 'a']);
        got[i] = 0;
    }
    kv_get_some(f->kv, family, keys, count, &visitor);
    for (size_t i = 0; i < count; i++) {
        assert_true(got[i] == 0 || got[i] == f->want[family][letters[i] - 'a']);
    }
}

/* Check that the iterator returns what the table contains from `at` on. */
static void expect_rest(struct fixture *f, struct kv_iter *it, unsigned family, unsigned at)
{
    for (; at < KEYS; at++) {
        if (f->want[family][at] != 0) {
            assert_true(kv_iter_valid(it));
            assert_int_equal(kv_iter_key(it).ptr[0], 'a' + at);
            assert_int_equal(number_in(kv_iter_value(it)), f->want[family][at]);
            kv_iter_next(it);
        }
    }
    assert_false(kv_iter_valid(it));
}

static void expect_walk(struct fixture *f, unsigned family)
{
    struct kv_iter *it = kv_iter_new(f->kv, NULL, family, STR_EMPTY);
    expect_rest(f, it, family, 0);
    kv_iter_free(it);
}

/* Check seeks in both directions, and iteration from there. Commits made meanwhile are not seen. */
static void expect_seeks(struct fixture *f, unsigned family)
{
    struct fixture then = *f; /* the table at this moment */
    struct kv_iter *it = kv_iter_new(f->kv, NULL, family, STR_EMPTY);
    commit(f);
    for (unsigned i = 0; i < 4; i++) {
        unsigned at = below(f, KEYS);
        char letter = (char)('a' + at);
        kv_iter_seek(it, key_of(&letter));
        expect_rest(&then, it, family, at);
        kv_iter_seek_back(it, key_of(&letter));
        while (at > 0 && then.want[family][at] == 0) {
            at--;
        }
        if (then.want[family][at] == 0) {
            assert_false(kv_iter_valid(it));
        } else {
            expect_rest(&then, it, family, at);
        }
    }
    kv_iter_free(it);
}

/* Check that iterators of several families see the same commit. */
static void expect_together(struct fixture *f)
{
    static const unsigned families[FAMILIES] = {0, 1, 2};
    struct kv_iter *its[FAMILIES];
    struct fixture then = *f;
    kv_iters_new(f->kv, families, FAMILIES, its);
    commit(f);
    for (unsigned family = 0; family < FAMILIES; family++) {
        expect_rest(&then, its[family], family, 0);
        kv_iter_free(its[family]);
    }
}

static void any_window__is_not_seen(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct fixture f = {.dir = tmpdir_new(),
                            .rng = rng_from(seed),
                            .config = {.families = names,
                                       .family_count = FAMILIES,
                                       .hinted_families = 1U << 1,
                                       .window_bytes = (size_t)64 << 2 * seed}};
        open_store(&f);
        for (unsigned i = 0; i < ROUNDS; i++) {
            commit(&f);
            expect_key(&f, below(&f, FAMILIES), below(&f, KEYS));
            expect_in_any(&f, below(&f, KEYS));
            expect_near(&f, below(&f, FAMILIES));
            if (below(&f, 64) == 0) {
                expect_walk(&f, below(&f, FAMILIES));
                expect_seeks(&f, below(&f, FAMILIES));
                expect_together(&f);
            }
            if (below(&f, 1000) == 0) {
                close_store(&f);
                open_store(&f);
            }
        }
        for (unsigned family = 0; family < FAMILIES; family++) {
            expect_walk(&f, family);
        }
        close_store(&f);
        tmpdir_remove(&f.dir);
    }
}

static void count(void *data, const struct kv_record *r)
{
    (void)r;
    ++*(unsigned *)data;
}

/* The number of records that remain after several writes of one key. */
static void writes_that_meet__leave_the_last_or_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *kinds; /* n: new, p: put, d: delete */
        unsigned left;
    } rows[] = {
        {"a new key", "n", 1},
        {"a new key that changes", "npp", 1},
        {"a new key that goes", "npd", 0},
        {"a key that was there and goes", "pd", 1},
        {"one that comes back", "dn", 1},
        {"one that comes back and goes", "dnpd", 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct kv_window w;
        struct buf records;
        unsigned left = 0;
        kv_window_init(&w);
        buf_init(&records, 1 << 10);
        for (const char *at = rows[i].kinds; *at != '\0'; at++) {
            struct kv_record r = {.kind = *at == 'n'   ? KV_RECORD_PUT_NEW
                                          : *at == 'p' ? KV_RECORD_PUT
                                                       : KV_RECORD_DELETE,
                                  .key = STR("k")};
            kv_record_add(&records, &r);
        }
        kv_window_add(&w, buf_str(&records));
        kv_window_each(&w, 1, 0, count, &left);
        assert_int_equal(left, rows[i].left);
        buf_deinit(&records);
        kv_window_deinit(&w);
    }
}

TEST_GROUP_ONE_THREAD(kv_window, NULL, NULL,
                      cmocka_unit_test(writes_that_meet__leave_the_last_or_nothing),
                      cmocka_unit_test(any_window__is_not_seen));
