#include "store/store_rows.h"

#include "base/limits.h"
#include "lib/rng.h"
#include "unit/store/store_fixture.h"

/* The row numbers that a walk reported, in order. */
struct rows {
    uint64_t row[256];
    size_t count;
};

static void note(struct rows *r, uint64_t row)
{
    assert_true(r->count < COUNT_OF(r->row));
    r->row[r->count++] = row;
}

static void note_error(void *data, const struct store_error *e)
{
    note(data, e->row);
}

static void note_usage(void *data, const struct store_usage *u)
{
    note(data, u->row);
}

static void note_iteration(void *data, const struct store_iteration *it)
{
    note(data, it->row);
}

static struct rows errors_of(struct store_fixture *f, unsigned job)
{
    struct rows r = {0};
    store_rows_each_error(&f->store, samples_id(job), note_error, &r);
    return r;
}

static struct rows usages_of(struct store_fixture *f, unsigned job)
{
    struct rows r = {0};
    store_rows_each_usage(&f->store, samples_id(job), note_usage, &r);
    return r;
}

static struct rows iterations_of(struct store_fixture *f, unsigned job)
{
    struct rows r = {0};
    store_rows_each_iteration(&f->store, samples_id(job), note_iteration, &r);
    return r;
}

static size_t count_of(struct store_fixture *f, unsigned job)
{
    struct rows r = {0};
    store_rows_each_error(&f->store, samples_id(job), note_error, &r);
    store_rows_each_usage(&f->store, samples_id(job), note_usage, &r);
    store_rows_each_iteration(&f->store, samples_id(job), note_iteration, &r);
    return r.count;
}

static void add_error(struct store_fixture *f, struct job *j)
{
    struct store_error e = samples_error();
    store_rows_add_error(&f->store, j, &e);
}

static void add_usage(struct store_fixture *f, struct job *j)
{
    struct store_usage u = samples_usage();
    store_rows_add_usage(&f->store, j, &u);
}

static void add_iteration(struct store_fixture *f, struct job *j)
{
    struct store_iteration it = samples_iteration();
    store_rows_add_iteration(&f->store, j, &it);
}

static void add__numbers_rows_over_all_jobs_and_kinds(void **state)
{
    struct store_fixture *f = *state;
    struct job a = {.id = samples_id(1)};
    struct job b = {.id = samples_id(2)};
    add_error(f, &a);
    add_usage(f, &b);
    add_iteration(f, &a);
    add_error(f, &a);
    add_usage(f, &a);
    assert_int_equal(errors_of(f, 1).count, 0); /* not visible before the commit */
    store_fixture_commit(f);
    store_fixture_reopen(f);
    struct rows errors = errors_of(f, 1);
    assert_int_equal(errors.count, 2);
    assert_int_equal(errors.row[0], 1);
    assert_int_equal(errors.row[1], 4);
    assert_int_equal(usages_of(f, 2).row[0], 2);
    assert_int_equal(iterations_of(f, 1).row[0], 3);
    assert_int_equal(usages_of(f, 1).row[0], 5);
    assert_int_equal(errors_of(f, 2).count, 0);
    assert_int_equal(a.error_count, 2);
    assert_int_equal(a.iteration_count, 1);
    assert_int_equal(a.usage_count, 1);
    assert_int_equal(b.usage_count, 1);
    assert_int_equal(f->store.meta.next_row, 6);
}

/* Iterations increase from row to row. An iteration that was held has several rows. */
static void find_iteration__finds_the_newest_row_of_it(void **state)
{
    struct store_fixture *f = *state;
    static const int64_t iterations[] = {2, 3, 3, 3, 4, 6, 6, 7};
    struct job j = {.id = samples_id(1)};
    struct store_iteration it = samples_iteration();
    struct buf room;
    buf_init(&room, 1 << 16);
    assert_false(store_rows_find_iteration(&f->store, &j, 1, &room, &it));
    for (size_t i = 0; i < COUNT_OF(iterations); i++) {
        it = samples_iteration();
        it.iteration = iterations[i];
        store_rows_add_iteration(&f->store, &j, &it);
        if (i == COUNT_OF(iterations) - 2) {
            store_fixture_commit(f); /* the last row is not committed */
        }
    }
    for (int64_t wanted = 0; wanted < 9; wanted++) {
        uint64_t row = 0; /* from 1 */
        for (size_t i = 0; i < COUNT_OF(iterations) - 1; i++) {
            row = iterations[i] == wanted ? i + 1 : row;
        }
        assert_int_equal(store_rows_find_iteration(&f->store, &j, wanted, &room, &it), row > 0);
        if (row > 0) {
            assert_int_equal(it.row, row);
        }
    }
    buf_deinit(&room);
}

static void expect_whole_error(void *data, const struct store_error *e)
{
    samples_same_error(e, data);
}

static void expect_whole_usage(void *data, const struct store_usage *u)
{
    samples_same_usage(u, data);
}

static void expect_whole_iteration(void *data, const struct store_iteration *it)
{
    samples_same_iteration(it, data);
}

static void rows__keep_every_member(void **state)
{
    struct store_fixture *f = *state;
    struct job j = {.id = samples_id(1)};
    struct store_error e = samples_error();
    struct store_usage u = samples_usage();
    struct store_iteration it = samples_iteration();
    f->store.meta.next_row = 70;
    store_rows_add_error(&f->store, &j, &e);
    store_rows_add_usage(&f->store, &j, &u);
    store_rows_add_iteration(&f->store, &j, &it);
    assert_int_equal(e.row, 70); /* filled in */
    assert_int_equal(u.row, 71);
    assert_int_equal(it.row, 72);
    store_fixture_commit(f);
    store_rows_each_error(&f->store, j.id, expect_whole_error, &e);
    store_rows_each_usage(&f->store, j.id, expect_whole_usage, &u);
    store_rows_each_iteration(&f->store, j.id, expect_whole_iteration, &it);
}

static void errors__beyond_the_limit_go_from_the_oldest(void **state)
{
    struct store_fixture *f = *state;
    struct job j = {.id = samples_id(1)};
    for (unsigned i = 0; i < LIMIT_JOB_ERRORS + 7; i++) {
        add_error(f, &j);
        if (i % 3 == 0) {
            store_fixture_commit(f);
        }
    }
    store_fixture_commit(f);
    struct rows errors = errors_of(f, 1);
    assert_int_equal(j.error_count, LIMIT_JOB_ERRORS + 7);
    assert_int_equal(errors.count, LIMIT_JOB_ERRORS);
    for (size_t i = 0; i < errors.count; i++) {
        assert_int_equal(errors.row[i], 8 + i);
    }
}

static void remove__takes_all_rows_of_one_job(void **state)
{
    struct store_fixture *f = *state;
    struct job jobs[] = {{.id = samples_id(1)}, {.id = samples_id(2)}, {.id = samples_id(3)}};
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < COUNT_OF(jobs); i++) {
            add_error(f, &jobs[i]);
            add_usage(f, &jobs[i]);
            add_iteration(f, &jobs[i]);
        }
    }
    for (unsigned i = 0; i < LIMIT_JOB_ERRORS; i++) {
        add_error(f, &jobs[1]);
    }
    store_fixture_commit(f);
    store_rows_remove(&f->store, &jobs[1]);
    store_fixture_commit(f);
    assert_int_equal(count_of(f, 2), 0);
    assert_int_equal(count_of(f, 1), 15);
    assert_int_equal(count_of(f, 3), 15);
    store_rows_remove(&f->store, &jobs[0]);
    store_rows_remove(&f->store, &jobs[2]);
    store_fixture_commit(f);
    struct kv_iter *it = kv_iter_new(f->store.kv, NULL, STORE_ROWS, STR_EMPTY);
    assert_false(kv_iter_valid(it));
    kv_iter_free(it);
}

static void tokens_any__sees_each_member(void **state)
{
    (void)state;
    const struct store_tokens some[] = {
        {.input = 1},     {.output = 1},       {.cache_creation = 1},  {.cache_read = 1},
        {.cost_nusd = 1}, {.model = STR("m")}, {.provider = STR("p")},
    };
    const struct store_tokens none = {0};
    assert_false(store_rows_tokens_any(&none));
    for (size_t i = 0; i < COUNT_OF(some); i++) {
        assert_true(store_rows_tokens_any(&some[i]));
    }
}

/* For each of the three kinds: decode, and encode again if that succeeds. */
static bool error_again(struct str value, struct buf *out)
{
    struct store_error e;
    bool ok = store_rows_decode_error(value, &e);
    if (ok) {
        store_rows_encode_error(&e, out);
    }
    return ok;
}

static bool usage_again(struct str value, struct buf *out)
{
    struct store_usage u;
    bool ok = store_rows_decode_usage(value, &u);
    if (ok) {
        store_rows_encode_usage(&u, out);
    }
    return ok;
}

static bool iteration_again(struct str value, struct buf *out)
{
    struct store_iteration it;
    bool ok = store_rows_decode_iteration(value, &it);
    if (ok) {
        store_rows_encode_iteration(&it, out);
    }
    return ok;
}

static void encode_sample(unsigned kind, struct buf *out)
{
    struct store_error e = samples_error();
    struct store_usage u = samples_usage();
    struct store_iteration it = samples_iteration();
    buf_init(out, 1 << 16);
    if (kind == 0) {
        store_rows_encode_error(&e, out);
    } else if (kind == 1) {
        store_rows_encode_usage(&u, out);
    } else {
        store_rows_encode_iteration(&it, out);
    }
}

static void decode__refuses_what_was_never_written(void **state)
{
    (void)state;
    bool (*const again[])(struct str value, struct buf * out) = {error_again, usage_again,
                                                                 iteration_again};
    struct rng rng = rng_from(23);
    for (unsigned kind = 0; kind < COUNT_OF(again); kind++) {
        struct buf row;
        struct buf back;
        encode_sample(kind, &row);
        buf_init(&back, 1 << 16);
        for (size_t len = 0; len < row.len; len++) {
            assert_false(again[kind](str_from(row.ptr, len), &back));
        }
        for (unsigned i = 0; i < 5000; i++) {
            size_t at = rng_below(&rng, row.len);
            char old = row.ptr[at];
            row.ptr[at] = (char)(uint8_t)rng_next(&rng);
            buf_clear(&back);
            if (again[kind](buf_str(&row), &back)) {
                assert_true(str_eq(buf_str(&back), buf_str(&row)));
            }
            row.ptr[at] = old;
        }
        row.ptr[0] = 2; /* another version */
        assert_false(again[kind](buf_str(&row), &back));
        row.ptr[0] = 1;
        buf_add_char(&row, '\0');
        assert_false(again[kind](buf_str(&row), &back));
        buf_deinit(&row);
        buf_deinit(&back);
    }
}

static struct store_fixture *damaged;

static void walk_damaged(void)
{
    (void)errors_of(damaged, 1);
}

static void damage_and_read_failures__stop_the_process(void **state)
{
    struct store_fixture *f = *state;
    damaged = f;
    fault_arm(FAULT_KV_READ, 1);
    expect_abort(walk_damaged);
    fault_reset();
    struct job j = {.id = samples_id(1)};
    struct buf key;
    add_error(f, &j);
    buf_init(&key, 64);
    buf_add(&key, j.id.b, ID_BYTES);
    buf_add_str(&key, STR("e\0\0\0\1"));
    kv_put(f->store.batch, STORE_ROWS, buf_str(&key), STR("nonsense"));
    store_fixture_commit(f);
    expect_abort(walk_damaged);
    buf_deinit(&key);
}

TEST_GROUP(store_rows, STORE_TEST(add__numbers_rows_over_all_jobs_and_kinds),
           STORE_TEST(rows__keep_every_member),
           STORE_TEST(errors__beyond_the_limit_go_from_the_oldest),
           STORE_TEST(remove__takes_all_rows_of_one_job),
           STORE_TEST(find_iteration__finds_the_newest_row_of_it),
           cmocka_unit_test(tokens_any__sees_each_member),
           cmocka_unit_test(decode__refuses_what_was_never_written),
           STORE_TEST(damage_and_read_failures__stop_the_process));
