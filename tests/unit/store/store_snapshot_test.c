#include "store/store_snapshot.h"

#include "unit/store/store_fixture.h"

static struct job job_with(unsigned number, enum job_state state)
{
    struct job j = samples_job_minimal();
    j.id = samples_id(number);
    j.state = state;
    return j;
}

static void put(struct store_fixture *f, unsigned number, enum job_state state)
{
    struct job j = job_with(number, state);
    store_docs_put(f->store.docs, &j, STORE_FAMILY_COUNT);
}

/* Expect the numbers of these samples in the family, in the order of the walk. */
static void expect_walk(struct store_snapshot *sn, enum store_family family, const char *numbers)
{
    struct buf text;
    struct id id;
    struct str doc;
    buf_init(&text, 256);
    while (store_snapshot_next(sn, family, &id, &doc)) {
        for (unsigned n = 0; n < 20; n++) {
            if (id_eq(id, samples_id(n))) {
                buf_printf(&text, "%u ", n);
            }
        }
        assert_true(doc.len > 0);
    }
    expect_str(buf_str(&text), str_from_z(numbers));
    assert_false(store_snapshot_next(sn, family, &id, &doc)); /* the walk stays at the end */
    buf_deinit(&text);
}

static void snapshot__stays_as_it_was(void **state)
{
    struct store_fixture *f = *state;
    struct id id;
    struct str value;
    put(f, 3, JOB_PENDING);
    put(f, 1, JOB_HELD);
    put(f, 2, JOB_DEAD);
    store_put(&f->store, STORE_KIND_QUEUE, STR("q"), STR("1"));
    store_fixture_commit(f);
    struct store_snapshot *sn = store_snapshot_new(&f->store);

    put(f, 4, JOB_PENDING);
    store_docs_remove(f->store.docs, STORE_LIVE, samples_id(1));
    store_put(&f->store, STORE_KIND_QUEUE, STR("q"), STR("2"));
    store_put(&f->store, STORE_KIND_QUEUE, STR("r"), STR("3"));
    store_fixture_commit(f);

    expect_walk(sn, STORE_LIVE, "1 3 ");
    expect_walk(sn, STORE_DONE, "2 ");
    expect_walk(sn, STORE_LIVE, "1 3 "); /* after another family: from the beginning */
    assert_true(store_snapshot_get(sn, STORE_LIVE, samples_id(1), &value));
    assert_false(store_snapshot_get(sn, STORE_LIVE, samples_id(4), &value));
    assert_true(store_snapshot_record(sn, STORE_KIND_QUEUE, STR("q"), &value));
    expect_str(value, STR("1"));
    assert_false(store_snapshot_record(sn, STORE_KIND_QUEUE, STR("r"), &value));
    /* Free the snapshot in the middle of a walk. */
    assert_true(store_snapshot_next(sn, STORE_DONE, &id, &value));
    store_snapshot_free(sn);
    store_snapshot_free(NULL);
}

static void note_record(void *data, struct str rest, struct str value)
{
    struct buf *out = data;
    buf_printf(out, STR_FMT "=" STR_FMT " ", STR_ARG(rest), STR_ARG(value));
}

static void records__come_in_key_order(void **state)
{
    struct store_fixture *f = *state;
    struct buf text;
    store_put(&f->store, STORE_KIND_QUEUE, STR("b"), STR("1"));
    store_put(&f->store, STORE_KIND_QUEUE, STR("a"), STR("2"));
    store_put(&f->store, STORE_KIND_REPLY, STR("a"), STR("3"));
    store_fixture_commit(f);
    struct store_snapshot *sn = store_snapshot_new(&f->store);
    buf_init(&text, 256);
    store_snapshot_each(sn, STORE_KIND_QUEUE, note_record, &text);
    expect_str(buf_str(&text), STR("a=2 b=1 "));
    buf_deinit(&text);
    store_snapshot_free(sn);
}

static void note_error(void *data, const struct store_error *e)
{
    buf_printf(data, "e%u ", e->attempt);
}

static void note_iteration(void *data, const struct store_iteration *it)
{
    buf_printf(data, "i%lld ", (long long)it->iteration);
}

static void note_usage(void *data, const struct store_usage *u)
{
    buf_printf(data, "u%u ", u->attempt);
}

static void rows__are_those_of_the_job_and_of_the_moment(void **state)
{
    struct store_fixture *f = *state;
    struct buf text;
    struct store_rows_visitor all = {
        .data = &text, .error = note_error, .iteration = note_iteration, .usage = note_usage};
    struct store_rows_visitor some = {.data = &text, .iteration = note_iteration};
    struct job j = job_with(1, JOB_HELD);
    struct job other = job_with(2, JOB_HELD);
    for (uint32_t i = 1; i <= 2; i++) {
        store_rows_add_usage(&f->store, &j,
                             &(struct store_usage){.attempt = i, .phase = STORE_PHASE_ACK});
        store_rows_add_error(&f->store, &j, &(struct store_error){.attempt = i});
        store_rows_add_iteration(
            &f->store, &j,
            &(struct store_iteration){.iteration = i, .status = STORE_ITERATION_DONE});
    }
    store_rows_add_error(&f->store, &other, &(struct store_error){.attempt = 9});
    store_fixture_commit(f);
    struct store_snapshot *sn = store_snapshot_new(&f->store);
    store_rows_add_error(&f->store, &j, &(struct store_error){.attempt = 3});
    store_fixture_commit(f);
    buf_init(&text, 256);
    store_snapshot_each_row(sn, j.id, &all);
    expect_str(buf_str(&text), STR("e1 e2 i1 i2 u1 u2 "));
    buf_clear(&text);
    store_snapshot_each_row(sn, j.id, &some);
    expect_str(buf_str(&text), STR("i1 i2 "));
    buf_deinit(&text);
    store_snapshot_free(sn);
}

/* A restored row does not replace another row, and has a new number. */
static void restored__rows_do_not_replace(void **state)
{
    struct store_fixture *f = *state;
    struct buf text;
    struct store_rows_visitor all = {.data = &text, .error = note_error};
    struct job j = job_with(1, JOB_HELD);
    struct store_error first = {.attempt = 1};
    struct store_error late = {.attempt = 7, .row = 1};
    struct store_error second = {.attempt = 2, .row = 1};
    store_rows_add_error(&f->store, &j, &first);
    store_fixture_commit(f);
    store_rows_restore_error(&f->store, j.id, 0, &late);
    store_rows_restore_error(&f->store, j.id, 1, &second);
    store_fixture_commit(f);
    assert_true(second.row > first.row);
    struct store_snapshot *sn = store_snapshot_new(&f->store);
    buf_init(&text, 256);
    store_snapshot_each_row(sn, j.id, &all);
    expect_str(buf_str(&text), STR("e1 e2 "));
    buf_deinit(&text);
    store_snapshot_free(sn);
}

TEST_GROUP(store_snapshot, STORE_TEST(snapshot__stays_as_it_was),
           STORE_TEST(records__come_in_key_order),
           STORE_TEST(rows__are_those_of_the_job_and_of_the_moment),
           STORE_TEST(restored__rows_do_not_replace));
