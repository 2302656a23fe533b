#include "store/store.h"

#include "store/store_event.h"
#include "unit/store/store_fixture.h"

static struct store_meta some_meta(void)
{
    return (struct store_meta){.applied_index = 101,
                               .now = {.ns = 102},
                               .next_order = 103,
                               .lease_token = 104,
                               .next_event = 105,
                               .oldest_event = 106,
                               .next_row = 107,
                               .state_hash = 108,
                               .purge_cursor = samples_id(9)};
}

static void expect_meta(const struct store_meta *got, const struct store_meta *want)
{
    assert_int_equal(got->applied_index, want->applied_index);
    assert_int_equal(got->now.ns, want->now.ns);
    assert_int_equal(got->next_order, want->next_order);
    assert_int_equal(got->lease_token, want->lease_token);
    assert_int_equal(got->next_event, want->next_event);
    assert_int_equal(got->oldest_event, want->oldest_event);
    assert_int_equal(got->next_row, want->next_row);
    assert_int_equal(got->state_hash, want->state_hash);
    assert_true(id_eq(got->purge_cursor, want->purge_cursor));
}

static void open__begins_with_numbers_from_one(void **state)
{
    struct store_fixture *f = *state;
    const struct store_meta fresh = {
        .next_order = 1, .next_event = 1, .oldest_event = 1, .next_row = 1};
    expect_meta(&f->store.meta, &fresh);
}

static void meta__comes_back_whole(void **state)
{
    struct store_fixture *f = *state;
    f->store.meta = some_meta();
    store_commit(&f->store);
    struct store_meta written = f->store.meta; /* with the new hash */
    assert_int_not_equal(written.state_hash, 108);
    store_fixture_reopen(f);
    expect_meta(&f->store.meta, &written);
}

/* The record and the rest of the entry are one write: neither exists without the other. */
static void commit__writes_the_record_with_the_entry(void **state)
{
    struct store_fixture *f = *state;
    struct buf out;
    buf_init(&out, 1024);
    store_put(&f->store, STORE_KIND_QUEUE, STR("q"), STR("v"));
    f->store.meta.applied_index = 7;
    assert_false(store_get(&f->store, STORE_KIND_QUEUE, STR("q"), &out));
    assert_false(store_get(&f->store, STORE_KIND_MACHINE, STR_EMPTY, &out));
    store_commit(&f->store);
    assert_true(store_get(&f->store, STORE_KIND_QUEUE, STR("q"), &out));
    expect_str(buf_str(&out), STR("v"));
    assert_true(store_get(&f->store, STORE_KIND_MACHINE, STR_EMPTY, &out));
    buf_deinit(&out);
}

struct names {
    char text[256];
    size_t len;
};

static void note_name(void *data, struct str rest, struct str value)
{
    struct names *n = data;
    n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len, STR_FMT "=" STR_FMT " ",
                               STR_ARG(rest), STR_ARG(value));
}

static void expect_names(struct store_fixture *f, char kind, const char *want)
{
    struct names n = {0};
    store_each(&f->store, kind, note_name, &n);
    assert_string_equal(n.text, want);
}

static void each__walks_one_kind_in_key_order(void **state)
{
    struct store_fixture *f = *state;
    store_put(&f->store, STORE_KIND_QUEUE, STR("b"), STR("1"));
    store_put(&f->store, STORE_KIND_QUEUE, STR("a"), STR("2"));
    store_put(&f->store, STORE_KIND_QUEUE, STR("ab"), STR("3"));
    store_put(&f->store, STORE_KIND_WORKER, STR("a"), STR("4"));
    store_put(&f->store, STORE_KIND_LOCK, STR("a"), STR("5"));
    expect_names(f, STORE_KIND_QUEUE, ""); /* committed values only */
    store_fixture_commit(f);
    expect_names(f, STORE_KIND_QUEUE, "a=2 ab=3 b=1 ");
    expect_names(f, STORE_KIND_WORKER, "a=4 ");
    expect_names(f, STORE_KIND_BATCH, "");
    store_delete(&f->store, STORE_KIND_QUEUE, STR("ab"));
    store_fixture_commit(f);
    expect_names(f, STORE_KIND_QUEUE, "a=2 b=1 ");
}

/* Two stores reach the same content in different ways. */
static void digest__is_equal_for_equal_content(void **state)
{
    struct store_fixture *a = *state;
    struct store_fixture *b = NULL;
    assert_int_equal(store_fixture_setup((void **)&b), 0);
    assert_int_equal(store_digest(&a->store), store_digest(&b->store));

    store_put(&a->store, STORE_KIND_QUEUE, STR("q"), STR("1"));
    store_put(&a->store, STORE_KIND_QUEUE, STR("r"), STR("2"));
    store_fixture_commit(a);
    store_put(&b->store, STORE_KIND_QUEUE, STR("r"), STR("0"));
    store_put(&b->store, STORE_KIND_QUEUE, STR("r"), STR("2"));
    store_put(&b->store, STORE_KIND_QUEUE, STR("q"), STR("1"));
    store_fixture_commit(b);
    /* The state hash depends on the way, so make the records the same. */
    assert_int_not_equal(a->store.meta.state_hash, b->store.meta.state_hash);
    a->store.meta.state_hash = b->store.meta.state_hash = 0;
    store_commit(&a->store);
    store_commit(&b->store);
    assert_int_equal(store_digest(&a->store), store_digest(&b->store));
    store_fixture_reopen(a);
    assert_int_equal(store_digest(&a->store), store_digest(&b->store));

    store_put(&a->store, STORE_KIND_WORKER, STR("q"), STR("1"));
    store_commit(&a->store);
    assert_int_not_equal(store_digest(&a->store), store_digest(&b->store));
    (void)store_fixture_teardown((void **)&b);
}

static void digest__sees_every_family(void **state)
{
    struct store_fixture *f = *state;
    uint64_t seen[STORE_FAMILY_COUNT + 1];
    for (unsigned family = 0; family <= STORE_FAMILY_COUNT; family++) {
        seen[family] = store_digest(&f->store);
        for (unsigned i = 0; i < family; i++) {
            assert_int_not_equal(seen[i], seen[family]);
        }
        if (family < STORE_FAMILY_COUNT) {
            struct err err;
            kv_put(f->store.batch, family, STR("key"), STR("value"));
            assert_int_equal(kv_commit(f->store.kv, f->store.batch, &err), ERR_OK);
        }
    }
}

static void state_hash__rolls_over_what_is_written(void **state)
{
    struct store_fixture *a = *state;
    struct store_fixture *b = NULL;
    assert_int_equal(store_fixture_setup((void **)&b), 0);
    for (unsigned i = 0; i < 5; i++) {
        store_put(&a->store, STORE_KIND_QUEUE, STR("q"), STR("1"));
        store_put(&b->store, STORE_KIND_QUEUE, STR("q"), STR("1"));
        store_fixture_commit(a);
        store_fixture_commit(b);
        assert_int_equal(a->store.meta.state_hash, b->store.meta.state_hash);
        store_fixture_reopen(b);
    }
    store_put(&a->store, STORE_KIND_QUEUE, STR("q"), STR("2"));
    store_put(&b->store, STORE_KIND_QUEUE, STR("q"), STR("3"));
    store_fixture_commit(a);
    store_fixture_commit(b);
    assert_int_not_equal(a->store.meta.state_hash, b->store.meta.state_hash);
    /* The hashes never become equal again. */
    store_put(&a->store, STORE_KIND_QUEUE, STR("q"), STR("4"));
    store_put(&b->store, STORE_KIND_QUEUE, STR("q"), STR("4"));
    store_fixture_commit(a);
    store_fixture_commit(b);
    assert_int_not_equal(a->store.meta.state_hash, b->store.meta.state_hash);
    (void)store_fixture_teardown((void **)&b);
}

static void open__refuses_a_record_that_it_does_not_know(void **state)
{
    struct store_fixture *f = *state;
    static const struct {
        struct str record;
        const char *message;
    } rows[] = {
        {{"\x02", 1}, "the machine's record has the unknown version 2"},
        {{"\x01", 1}, "the machine's record is truncated"},
        {{"", 0}, "the machine's record has the unknown version 0"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        ROW(rows[i].message);
        store_put(&f->store, STORE_KIND_MACHINE, STR_EMPTY, rows[i].record);
        assert_int_equal(kv_commit(f->store.kv, f->store.batch, &err), ERR_OK);
        store_close(&f->store);
        assert_int_equal(store_open(&f->store, tmpdir_path(&f->dir, "state").z, &err), ERR_CORRUPT);
        assert_string_equal(err.msg, rows[i].message);
        store_close(&f->store); /* allowed after a failure */
        tmpdir_remove(&f->dir);
        f->dir = tmpdir_new_in_memory();
        store_fixture_open(f);
    }
}

static struct store_fixture *failing;

static void commit_failing(void)
{
    store_commit(&failing->store);
}

static void get_failing(void)
{
    struct buf out;
    buf_init(&out, 16);
    (void)store_get(&failing->store, STORE_KIND_QUEUE, STR("q"), &out);
}

static void each_failing(void)
{
    struct names n = {0};
    store_each(&failing->store, STORE_KIND_QUEUE, note_name, &n);
}

static void digest_failing(void)
{
    (void)store_digest(&failing->store);
}

static void failures__stop_the_process(void **state)
{
    failing = *state;
    fault_arm(FAULT_KV_COMMIT, 1);
    expect_abort(commit_failing);
    fault_reset();
    fault_arm(FAULT_KV_READ, 1);
    expect_abort(get_failing);
    expect_abort(each_failing);
    expect_abort(digest_failing);
}

TEST_GROUP(store, STORE_TEST(open__begins_with_numbers_from_one),
           STORE_TEST(meta__comes_back_whole), STORE_TEST(commit__writes_the_record_with_the_entry),
           STORE_TEST(each__walks_one_kind_in_key_order),
           STORE_TEST(digest__is_equal_for_equal_content), STORE_TEST(digest__sees_every_family),
           STORE_TEST(state_hash__rolls_over_what_is_written),
           STORE_TEST(open__refuses_a_record_that_it_does_not_know),
           STORE_TEST(failures__stop_the_process));
