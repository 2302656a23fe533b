#include "store/store_docs.h"

#include "lib/rng.h"
#include "store/store_job.h"
#include "unit/store/store_fixture.h"

static struct job job_of(unsigned number, enum job_state s, const char *payload)
{
    return (struct job){
        .id = samples_id(number), .queue = STR("q"), .payload = str_from_z(payload), .state = s};
}

static void put(struct store_docs *d, unsigned number, enum job_state s, const char *payload,
                enum store_family was_in)
{
    struct job j = job_of(number, s, payload);
    store_docs_put(d, &j, was_in);
}

/* Expect the payload of the job in the family. "-": not found. */
static void expect_doc(struct store_docs *d, enum store_family family, unsigned number,
                       const char *payload)
{
    struct job j;
    bool found = store_docs_get(d, family, samples_id(number), &j);
    expect_str(found ? j.payload : STR("-"), str_from_z(payload));
}

static void take_some(void *data, size_t i, struct str doc)
{
    assert_int_equal(i, 0);
    buf_add_str(data, doc);
}

static void expect_some(struct store_fixture *f, unsigned number, struct str want)
{
    struct buf doc;
    struct id id = samples_id(number);
    buf_init(&doc, 1 << 20);
    struct kv_visitor visitor = {.value = take_some, .data = &doc};
    store_docs_read_some(&f->store, &id, 1, &visitor);
    expect_str(buf_str(&doc), want);
    buf_deinit(&doc);
}

static void expect_committed(struct store_fixture *f, unsigned number, const char *payload)
{
    struct buf doc;
    struct job j;
    struct err err;
    buf_init(&doc, 1 << 20);
    bool found = store_docs_read(&f->store, samples_id(number), &doc);
    expect_some(f, number, found ? buf_str(&doc) : STR_EMPTY);
    if (found) {
        assert_int_equal(store_job_decode(samples_id(number), buf_str(&doc), &j, &err), ERR_OK);
    }
    expect_str(found ? j.payload : STR("-"), str_from_z(payload));
    buf_deinit(&doc);
}

enum { SOME = 60 };

static void note_some(void *data, size_t i, struct str doc)
{
    struct str *payloads = data;
    struct job j;
    struct err err;
    assert_in_range(i, 0, SOME - 1);
    assert_int_equal(payloads[i].len, 0); /* each once */
    assert_int_equal(store_job_decode(samples_id((unsigned)i), doc, &j, &err), ERR_OK);
    payloads[i] = job_state_is_terminal(j.state) ? STR("done") : STR("live");
}

/* Live, done and absent jobs, each reported with its position in the request. */
static void read_some__finds_jobs_wherever_they_are(void **state)
{
    struct store_fixture *f = *state;
    struct id ids[SOME];
    struct str found[SOME] = {{0}};
    for (unsigned i = 0; i < SOME; i++) {
        ids[i] = samples_id(i);
        if (i % 3 < 2) {
            put(f->store.docs, i, JOB_PENDING, "{}", STORE_FAMILY_COUNT);
        }
    }
    store_fixture_commit(f);
    for (unsigned i = 1; i < SOME; i += 3) {
        put(f->store.docs, i, JOB_COMPLETED, "{}", STORE_LIVE);
    }
    store_fixture_commit(f);
    for (unsigned round = 0; round < 2; round++) { /* from the window, and from RocksDB */
        memset(found, 0, sizeof found);
        struct kv_visitor visitor = {.value = note_some, .data = found};
        store_docs_read_some(&f->store, ids, SOME, &visitor);
        for (unsigned i = 0; i < SOME; i++) {
            expect_str(found[i], i % 3 == 0 ? STR("live") : i % 3 == 1 ? STR("done") : STR_EMPTY);
        }
        store_fixture_reopen(f);
    }
}

static void get__sees_what_the_entry_has_written(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    put(d, 1, JOB_PENDING, "one", STORE_FAMILY_COUNT);
    expect_doc(d, STORE_LIVE, 1, "one");
    put(d, 1, JOB_ACTIVE, "two", STORE_LIVE);
    expect_doc(d, STORE_LIVE, 1, "two");
    expect_committed(f, 1, "-");
    store_fixture_commit(f);
    expect_doc(d, STORE_LIVE, 1, "two");
    expect_committed(f, 1, "two");
    store_docs_remove(d, STORE_LIVE, samples_id(1));
    expect_doc(d, STORE_LIVE, 1, "-");
    expect_doc(d, STORE_DONE, 1, "-");
    expect_committed(f, 1, "two");
    store_fixture_commit(f);
    expect_doc(d, STORE_LIVE, 1, "-");
    expect_committed(f, 1, "-");
}

static void put__moves_between_the_families_with_the_state(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    static const enum job_state done[] = {JOB_COMPLETED, JOB_DEAD, JOB_CANCELLED};
    for (unsigned i = 0; i < COUNT_OF(done); i++) {
        put(d, i, JOB_PENDING, "live", STORE_FAMILY_COUNT);
        store_fixture_commit(f);
        put(d, i, done[i], "done", STORE_LIVE);
        store_fixture_commit(f);
        store_fixture_reopen(f);
        d = f->store.docs;
        expect_doc(d, STORE_LIVE, i, "-");
        expect_doc(d, STORE_DONE, i, "done");
        expect_committed(f, i, "done");
        put(d, i, JOB_PENDING, "again", STORE_DONE);
        store_fixture_commit(f);
        store_fixture_reopen(f);
        d = f->store.docs;
        expect_doc(d, STORE_DONE, i, "-");
        expect_doc(d, STORE_LIVE, i, "again");
    }
}

static void put__to_and_fro_in_one_entry_leaves_one_document(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    put(d, 1, JOB_PENDING, "a", STORE_FAMILY_COUNT);
    put(d, 1, JOB_COMPLETED, "b", STORE_LIVE);
    put(d, 1, JOB_PENDING, "c", STORE_DONE);
    put(d, 1, JOB_CANCELLED, "d", STORE_LIVE);
    store_fixture_commit(f);
    store_fixture_reopen(f);
    expect_doc(f->store.docs, STORE_LIVE, 1, "-");
    expect_doc(f->store.docs, STORE_DONE, 1, "d");
}

/* Ids in any order, with gaps, and some that do not exist. */
static void fetch__brings_what_is_missing_and_nothing_older(void **state)
{
    struct store_fixture *f = *state;
    static const unsigned order[] = {1, 2, 3, 4, 5, 7, 8, 40, 30, 20, 21, 60, 6, 59, 99};
    struct id ids[COUNT_OF(order)];
    for (unsigned i = 1; i < 60; i++) {
        put(f->store.docs, i, JOB_PENDING, "stored", STORE_FAMILY_COUNT);
    }
    store_fixture_commit(f);
    store_fixture_reopen(f); /* none is in memory */
    struct store_docs *d = f->store.docs;
    put(d, 3, JOB_PENDING, "changed", STORE_LIVE);
    store_docs_remove(d, STORE_LIVE, samples_id(5));
    put(d, 7, JOB_COMPLETED, "done", STORE_LIVE);
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        ids[i] = samples_id(order[i]);
    }
    store_docs_fetch(d, ids, COUNT_OF(ids));
    assert_true(store_docs_has(d, samples_id(1)));
    assert_true(store_docs_has(d, samples_id(8)));
    assert_false(store_docs_has(d, samples_id(60)));
    for (unsigned commits = 0; commits < 2; commits++) {
        expect_doc(d, STORE_LIVE, 1, "stored");
        expect_doc(d, STORE_LIVE, 3, "changed");
        expect_doc(d, STORE_LIVE, 5, "-");
        expect_doc(d, STORE_DONE, 7, "done");
        expect_doc(d, STORE_LIVE, 20, "stored");
        expect_doc(d, STORE_LIVE, 60, "-");
        store_fixture_commit(f);
    }
}

static void bytes__stay_where_they_are_until_the_commit(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    struct job first;
    struct job second;
    put(d, 1, JOB_PENDING, "first", STORE_FAMILY_COUNT);
    store_fixture_commit(f);
    assert_true(store_docs_get(d, STORE_LIVE, samples_id(1), &first));
    put(d, 1, JOB_PENDING, "second", STORE_LIVE);
    assert_true(store_docs_get(d, STORE_LIVE, samples_id(1), &second));
    /* Enough other jobs to grow the table and to exceed the cache. */
    for (unsigned i = 2; i < 3000; i++) {
        put(d, i, JOB_PENDING, "other", STORE_FAMILY_COUNT);
    }
    store_docs_remove(d, STORE_LIVE, samples_id(1));
    expect_str(first.payload, STR("first"));
    expect_str(second.payload, STR("second"));
    assert_false(store_docs_has(d, samples_id(1)));
    store_fixture_commit(f);
}

static void bytes__are_those_of_the_newest_document(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    struct job j;
    struct err err;
    assert_false(store_docs_has(d, samples_id(1)));
    put(d, 1, JOB_PENDING, "a", STORE_FAMILY_COUNT);
    put(d, 1, JOB_ACTIVE, "b", STORE_LIVE);
    assert_int_equal(store_job_decode(samples_id(1), store_docs_head(d, samples_id(1)), &j, &err),
                     ERR_OK);
    expect_str(j.payload, STR("b"));
    store_fixture_commit(f);
    assert_true(store_docs_has(d, samples_id(1))); /* cached: it is live */
    put(d, 1, JOB_COMPLETED, "c", STORE_LIVE);
    assert_true(store_docs_has(d, samples_id(1)));
    store_fixture_commit(f);
    assert_false(store_docs_has(d, samples_id(1)));
}

/* The mark of the removal is in the table next to the new document. */
static void document__that_is_made_again_hides_its_removal(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = f->store.docs;
    put(d, 1, JOB_PENDING, "first", STORE_FAMILY_COUNT);
    store_fixture_commit(f);
    store_docs_remove(d, STORE_LIVE, samples_id(1));
    put(d, 1, JOB_PENDING, "second", STORE_FAMILY_COUNT);
    expect_doc(d, STORE_LIVE, 1, "second");
    for (unsigned i = 2; i < 1500; i++) { /* the table grows once */
        put(d, i, JOB_PENDING, "other", STORE_FAMILY_COUNT);
    }
    expect_doc(d, STORE_LIVE, 1, "second");
    store_fixture_commit(f);
    expect_doc(d, STORE_LIVE, 1, "second");
}

static void fetch__of_one_twice_is_of_one(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *d = NULL;
    const struct id ids[] = {samples_id(1), samples_id(2), samples_id(1)};
    struct job j;
    put(f->store.docs, 1, JOB_PENDING, "old", STORE_FAMILY_COUNT);
    put(f->store.docs, 2, JOB_PENDING, "other", STORE_FAMILY_COUNT);
    store_fixture_commit(f);
    store_fixture_reopen(f); /* nothing is in memory */
    d = f->store.docs;
    store_docs_fetch(d, ids, COUNT_OF(ids));
    put(d, 1, JOB_PENDING, "new", STORE_LIVE);
    put(d, 1, JOB_PENDING, "newer", STORE_LIVE);
    assert_true(store_docs_get(d, STORE_LIVE, samples_id(1), &j));
    expect_str(j.payload, STR("newer"));
    store_docs_remove(d, STORE_LIVE, samples_id(1));
    assert_false(store_docs_get(d, STORE_LIVE, samples_id(1), &j));
    store_fixture_commit(f);
    assert_false(store_docs_get(d, STORE_LIVE, samples_id(1), &j));
}

/* Documents that were added first are requested first. */
static void a_full_cache__keeps_those_that_were_there(void **state)
{
    struct store_fixture *f = *state;
    struct store_docs *large = f->store.docs;
    struct store_docs *d = store_docs_new(&f->store, 2048);
    struct job j;
    f->store.docs = d;
    for (unsigned i = 1; i < 100; i++) {
        put(d, i, JOB_PENDING, "one in line", STORE_FAMILY_COUNT);
        store_fixture_commit(f);
    }
    assert_true(store_docs_has(d, samples_id(1)));
    assert_false(store_docs_has(d, samples_id(99)));
    /* A document that is read enters the cache, instead of one that was never requested. */
    assert_true(store_docs_get(d, STORE_LIVE, samples_id(99), &j));
    store_fixture_commit(f);
    assert_true(store_docs_has(d, samples_id(99)));
    assert_false(store_docs_has(d, samples_id(1)));
    store_docs_free(d);
    f->store.docs = large;
}

/* With room for only a few documents, every result is the same as with room for all. */
static void eviction__changes_no_answer(void **state)
{
    struct store_fixture *f = *state;
    enum { JOBS = 60, ENTRIES = 300 };
    static const char *const payloads[] = {"a", "bb", "ccc", "dddd"};
    const char *want[JOBS];
    enum store_family in[JOBS];
    struct store_docs *d = store_docs_new(&f->store, 2048);
    struct store_docs *large = f->store.docs;
    struct rng rng = rng_from(11);
    f->store.docs = d;
    for (unsigned i = 0; i < JOBS; i++) {
        want[i] = "-";
        in[i] = STORE_FAMILY_COUNT;
    }
    for (unsigned entry = 0; entry < ENTRIES; entry++) {
        for (unsigned op = 0; op < 8; op++) {
            unsigned n = (unsigned)rng_below(&rng, JOBS);
            uint64_t what = rng_below(&rng, 5);
            if (what == 0 && in[n] != STORE_FAMILY_COUNT) {
                store_docs_remove(d, in[n], samples_id(n));
                want[n] = "-";
                in[n] = STORE_FAMILY_COUNT;
            } else if (what < 3) {
                bool done = rng_below(&rng, 4) == 0;
                want[n] = payloads[rng_below(&rng, COUNT_OF(payloads))];
                put(d, n, done ? JOB_DEAD : JOB_PENDING, want[n], in[n]);
                in[n] = done ? STORE_DONE : STORE_LIVE;
            }
            expect_doc(d, in[n] == STORE_FAMILY_COUNT ? STORE_LIVE : in[n], n, want[n]);
        }
        store_fixture_commit(f);
    }
    for (unsigned i = 0; i < JOBS; i++) {
        expect_doc(d, in[i] == STORE_FAMILY_COUNT ? STORE_DONE : in[i], i, want[i]);
        expect_committed(f, i, want[i]);
    }
    store_docs_free(d);
    f->store.docs = large;
}

static void expect_looked_at(struct store_docs *d, unsigned number, enum job_state want)
{
    enum job_state found;
    assert_true(store_docs_state(d, STORE_DONE, samples_id(number), &found));
    assert_int_equal(found, want);
}

/* A large document is read once per entry. Its bytes count each time, and changes by the entry are
 * seen. */
static void state__is_read_once_for_an_entry(void **state)
{
    struct store_fixture *f = *state;
    static char result[10000];
    memset(result, '1', sizeof result);
    struct job j = job_of(1, JOB_COMPLETED, "{}");
    j.result = str_from(result, sizeof result);
    store_docs_put(f->store.docs, &j, STORE_FAMILY_COUNT);
    store_fixture_commit(f);
    for (unsigned entry = 0; entry < 2; entry++) {
        store_fixture_reopen(f); /* removes it from memory */
        struct store_docs *d = f->store.docs;
        fault_arm(FAULT_KV_READ, 2); /* a second read would stop the process */
        expect_looked_at(d, 1, JOB_COMPLETED);
        uint64_t once = store_docs_read_bytes(d);
        assert_true(once > sizeof result);
        expect_looked_at(d, 1, JOB_COMPLETED);
        assert_int_equal(store_docs_read_bytes(d), 2 * once);
        fault_reset();
        if (entry == 0) {
            j.state = JOB_DEAD;
            store_docs_put(d, &j, STORE_DONE);
            expect_looked_at(d, 1, JOB_DEAD);
            j.state = JOB_COMPLETED;
            store_docs_put(d, &j, STORE_DONE);
            store_fixture_commit(f);
        }
    }
    enum job_state found;
    store_docs_remove(f->store.docs, STORE_DONE, samples_id(1));
    assert_false(store_docs_state(f->store.docs, STORE_DONE, samples_id(1), &found));
}

static struct store_fixture *damaged;

static void read_damaged(void)
{
    struct job j;
    bool found = store_docs_get(damaged->store.docs, STORE_LIVE, samples_id(1), &j);
    (void)found;
}

static void damage__stops_the_process(void **state)
{
    struct store_fixture *f = *state;
    struct id id = samples_id(1);
    kv_put(f->store.batch, STORE_LIVE, str_from(id.b, ID_BYTES), STR("\x01nonsense"));
    store_fixture_commit(f);
    damaged = f;
    expect_abort(read_damaged);
}

static void read_failure__stops_the_process(void **state)
{
    struct store_fixture *f = *state;
    fault_arm(FAULT_KV_READ, 1);
    damaged = f;
    expect_abort(read_damaged);
}

TEST_GROUP(store_docs, STORE_TEST(read_some__finds_jobs_wherever_they_are),
           STORE_TEST(get__sees_what_the_entry_has_written),
           STORE_TEST(put__moves_between_the_families_with_the_state),
           STORE_TEST(put__to_and_fro_in_one_entry_leaves_one_document),
           STORE_TEST(fetch__brings_what_is_missing_and_nothing_older),
           STORE_TEST(bytes__stay_where_they_are_until_the_commit),
           STORE_TEST(bytes__are_those_of_the_newest_document),
           STORE_TEST(document__that_is_made_again_hides_its_removal),
           STORE_TEST(fetch__of_one_twice_is_of_one),
           STORE_TEST(a_full_cache__keeps_those_that_were_there),
           STORE_TEST(eviction__changes_no_answer), STORE_TEST(state__is_read_once_for_an_entry),
           STORE_TEST(damage__stops_the_process), STORE_TEST(read_failure__stops_the_process));
