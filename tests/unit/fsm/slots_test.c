#include "fsm/state/slots.h"

#include "lib/test.h"

static void slots__counts_each_once(void **state)
{
    (void)state;
    struct slots s = {0};
    slots_add(&s, 7);
    slots_add(&s, 7);
    slots_add(&s, -3);
    assert_int_equal(s.count, 2);
    slots_remove(&s, 7);
    assert_int_equal(s.count, 2);
    slots_remove(&s, 7);
    assert_int_equal(s.count, 1);
    slots_remove(&s, -3);
    assert_int_equal(s.count, 0);
    slots_deinit(&s);
}

/* Removing slots moves other slots in the table. Every slot must still be found. */
static void slots__finds_all_of_many(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct slots s = {0};
    for (int64_t i = 0; i < MANY; i++) {
        slots_add(&s, i * 7);
    }
    assert_int_equal(s.count, MANY);
    for (int64_t i = 0; i < MANY; i += 2) {
        slots_remove(&s, i * 7);
    }
    for (int64_t i = 1; i < MANY; i += 2) {
        slots_add(&s, i * 7);
    }
    assert_int_equal(s.count, MANY / 2);
    for (int64_t i = 1; i < MANY; i += 2) {
        slots_remove(&s, i * 7);
        slots_remove(&s, i * 7);
    }
    assert_int_equal(s.count, 0);
    slots_deinit(&s);
    assert_int_equal(slots_bytes(&s), 0);
}

TEST_GROUP(slots, cmocka_unit_test(slots__counts_each_once),
           cmocka_unit_test(slots__finds_all_of_many));
