#include "store/store_walk.h"

#include "lib/rng.h"
#include "unit/store/store_fixture.h"

static void put(struct store_fixture *f, unsigned number, enum job_state s,
                enum store_family was_in)
{
    struct job j = {.id = samples_id(number), .queue = STR("q"), .payload = STR("{}"), .state = s};
    store_docs_put(f->store.docs, &j, was_in);
}

static void gives_live_and_finished_jobs_in_one_order(void **state)
{
    struct store_fixture *f = *state;
    enum { JOBS = 200 };
    struct rng rng = rng_from(5);
    for (unsigned i = 0; i < JOBS; i++) {
        put(f, i, rng_below(&rng, 2) == 0 ? JOB_PENDING : JOB_COMPLETED, STORE_FAMILY_COUNT);
    }
    store_fixture_commit(f);
    struct store_walk *w = store_walk_new(&f->store);
    struct id before = ID_NONE;
    struct id id;
    struct str doc;
    unsigned count = 0;
    while (store_walk_next(w, &id, &doc)) {
        assert_true(id_cmp(before, id) < 0);
        assert_true(doc.len > 0);
        before = id;
        count++;
    }
    assert_false(store_walk_next(w, &id, &doc));
    store_walk_free(w);
    assert_int_equal(count, JOBS);
}

static void shows_the_moment_at_which_it_began(void **state)
{
    struct store_fixture *f = *state;
    put(f, 1, JOB_PENDING, STORE_FAMILY_COUNT);
    put(f, 2, JOB_PENDING, STORE_FAMILY_COUNT);
    store_fixture_commit(f);
    struct store_walk *w = store_walk_new(&f->store);
    put(f, 1, JOB_COMPLETED, STORE_LIVE); /* moves to the other family during the walk */
    put(f, 3, JOB_PENDING, STORE_FAMILY_COUNT);
    store_docs_remove(f->store.docs, STORE_LIVE, samples_id(2));
    store_fixture_commit(f);
    struct id id;
    struct str doc;
    for (unsigned number = 1; number <= 2; number++) {
        assert_true(store_walk_next(w, &id, &doc));
        assert_true(id_eq(id, samples_id(number)));
    }
    assert_false(store_walk_next(w, &id, &doc));
    store_walk_free(w);
}

static void an_empty_store_has_nothing(void **state)
{
    struct store_fixture *f = *state;
    struct store_walk *w = store_walk_new(&f->store);
    struct id id;
    struct str doc;
    assert_false(store_walk_next(w, &id, &doc));
    store_walk_free(w);
    store_walk_free(NULL);
}

TEST_GROUP(store_walk, STORE_TEST(gives_live_and_finished_jobs_in_one_order),
           STORE_TEST(shows_the_moment_at_which_it_began), STORE_TEST(an_empty_store_has_nothing));
