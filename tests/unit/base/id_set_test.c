/* A set of ids in the order of insertion: no duplicates, and lookup and removal work in any state
 * of the table. */
#include "base/id_set.h"

#include "base/clock.h"
#include "lib/test.h"

static struct id id_of(uint32_t n)
{
    return id_make((struct wall){.ns = NS_PER_MS}, n / 32 + 1, n % 32);
}

static void empty__has_nothing(void **state)
{
    struct id_set s = {0};
    struct id id;
    uint64_t number;
    (void)state;
    assert_int_equal(id_set_count(&s), 0);
    assert_false(id_set_find(&s, id_of(1), &number));
    assert_false(id_set_take(&s, &id));
    id_set_clear(&s);
}

static void each_once__keeps_its_first_number(void **state)
{
    struct id_set s = {0};
    uint64_t number = 0;
    (void)state;
    assert_true(id_set_add(&s, id_of(1), 7));
    assert_false(id_set_add(&s, id_of(1), 8));
    assert_int_equal(id_set_count(&s), 1);
    assert_true(id_set_find(&s, id_of(1), &number));
    assert_int_equal(number, 7);
    assert_int_equal(id_set_oldest(&s), 7);
    id_set_clear(&s);
    assert_int_equal(id_set_count(&s), 0);
}

/* The ring wraps around and the table grows while ids are added and removed. */
static void oldest_first__through_growth_and_gaps(void **state)
{
    enum { ROUNDS = 5000, IN = 3, OUT = 2 };
    struct id_set s = {0};
    uint32_t in = 0;
    uint32_t out = 0;
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < IN; i++, in++) {
            assert_true(id_set_add(&s, id_of(in), in));
        }
        for (uint32_t i = 0; i < OUT; i++, out++) {
            struct id id;
            assert_int_equal(id_set_oldest(&s), out);
            assert_true(id_set_take(&s, &id));
            assert_true(id_eq(id, id_of(out)));
        }
        uint64_t number = 0;
        assert_false(id_set_find(&s, id_of(out - 1), &number));
        assert_true(id_set_find(&s, id_of(out), &number));
        assert_int_equal(number, out);
        assert_true(id_set_find(&s, id_of((in + out) / 2), &number));
        assert_int_equal(number, (in + out) / 2);
    }
    assert_int_equal(id_set_count(&s), in - out);
    id_set_clear(&s);
}

TEST_GROUP(id_set, cmocka_unit_test(empty__has_nothing),
           cmocka_unit_test(each_once__keeps_its_first_number),
           cmocka_unit_test(oldest_first__through_growth_and_gaps));
