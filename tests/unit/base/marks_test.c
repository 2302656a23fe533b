#include "base/marks.h"

#include "base/hash.h"
#include "lib/rng.h"
#include "lib/test.h"

enum { THINGS = 20000 };

static uint64_t hash_of(unsigned i)
{
    return hash_bytes(0, &i, sizeof i);
}

static void has__never_denies_what_is_in(void **state)
{
    struct marks m;
    (void)state;
    marks_init(&m);
    assert_false(marks_has(&m, hash_of(1)));
    for (unsigned i = 0; i < THINGS; i++) {
        marks_add(&m, hash_of(i));
    }
    for (unsigned i = 0; i < THINGS; i++) {
        assert_true(marks_has(&m, hash_of(i)));
    }
    marks_deinit(&m);
}

static void has__is_nearly_always_right(void **state)
{
    struct marks m;
    unsigned wrong = 0;
    (void)state;
    marks_init(&m);
    for (unsigned i = 0; i < THINGS; i++) {
        marks_add(&m, hash_of(i));
    }
    for (unsigned i = THINGS; i < 2 * THINGS; i++) {
        wrong += marks_has(&m, hash_of(i)) ? 1 : 0;
    }
    assert_true(wrong <= 2);
    assert_true(marks_bytes(&m) <= (uint64_t)THINGS * 11);
    marks_deinit(&m);
}

static void remove__leaves_the_others(void **state)
{
    static unsigned in[THINGS];
    struct marks m;
    struct rng rng = rng_from(7);
    (void)state;
    marks_init(&m);
    for (unsigned round = 0; round < 4 * THINGS; round++) {
        unsigned i = (unsigned)rng_below(&rng, THINGS);
        if (in[i] > 0 && rng_below(&rng, 2) == 0) {
            marks_remove(&m, hash_of(i));
            in[i]--;
        } else {
            marks_add(&m, hash_of(i));
            in[i]++;
        }
    }
    unsigned stale = 0;
    for (unsigned i = 0; i < THINGS; i++) {
        if (in[i] > 0) {
            assert_true(marks_has(&m, hash_of(i)));
        } else {
            stale += marks_has(&m, hash_of(i)) ? 1 : 0;
        }
    }
    assert_true(stale <= 2);
    marks_deinit(&m);
}

/* If two things have the same hash, only one of them is removed. */
static void remove__takes_one_of_several(void **state)
{
    static const uint64_t hashes[] = {0, 1, 5, UINT64_MAX, (uint64_t)1 << 32};
    struct marks m;
    (void)state;
    marks_init(&m);
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        marks_add(&m, hashes[i]);
        marks_add(&m, hashes[i]);
    }
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        marks_remove(&m, hashes[i]);
        assert_true(marks_has(&m, hashes[i]));
    }
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        marks_remove(&m, hashes[i]);
    }
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        assert_false(marks_has(&m, hashes[i]));
    }
    marks_deinit(&m);
}

TEST_GROUP(marks, cmocka_unit_test(has__never_denies_what_is_in),
           cmocka_unit_test(has__is_nearly_always_right),
           cmocka_unit_test(remove__leaves_the_others),
           cmocka_unit_test(remove__takes_one_of_several));
