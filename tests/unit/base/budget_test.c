#include "base/budget.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "lib/expect.h"
#include "lib/test.h"

static void budget__refuses_past_its_limit_and_takes_back(void **state)
{
    (void)state;
    struct budget b;
    budget_init(&b, 100);
    assert_true(budget_take(&b, 60));
    assert_false(budget_take(&b, 41));
    assert_false(budget_take(&b, SIZE_MAX / 2));
    assert_int_equal(atomic_load(&b.used_bytes), 60);
    assert_int_equal(atomic_load(&b.refused), 2);
    assert_true(budget_take(&b, 40));
    assert_true(budget_is_spent(&b));
    budget_force(&b, 5);
    assert_int_equal(atomic_load(&b.used_bytes), 105);
    assert_false(budget_take(&b, 1));
    budget_give(&b, 104);
    assert_false(budget_is_spent(&b));
    assert_int_equal(budget_take_peak(&b), 105);
    assert_int_equal(budget_take_peak(&b), 1);
    budget_give(&b, 1);
}

static void budget__that_is_none_has_no_limit(void **state)
{
    (void)state;
    assert_true(budget_take(NULL, SIZE_MAX));
    budget_force(NULL, 1);
    budget_give(NULL, 1);
    assert_false(budget_is_spent(NULL));
}

static void arena__takes_its_blocks_from_a_budget(void **state)
{
    (void)state;
    struct budget b;
    budget_init(&b, 100000);
    struct arena *a = arena_new_budget(1 << 20, &b);
    assert_non_null(arena_alloc(a, 90000, 1));
    assert_true(atomic_load(&b.used_bytes) >= 90000);
    assert_int_equal(arena_error(a), ERR_OK);
    assert_null(arena_alloc(a, 50000, 1));
    assert_int_equal(arena_error(a), ERR_OVERLOADED);
    assert_null(arena_alloc(a, 2 << 20, 1));
    assert_int_equal(arena_error(a), ERR_OVERLOADED); /* the first error is kept */
    arena_reset(a);
    assert_int_equal(arena_error(a), ERR_OK);
    assert_non_null(arena_alloc(a, 50000, 1));
    arena_free(a);
    assert_int_equal(atomic_load(&b.used_bytes), 0);
}

static void arena__gives_what_is_needed_and_remembers(void **state)
{
    (void)state;
    struct budget b;
    budget_init(&b, 1 << 20);
    struct arena *a = arena_new_budget(100, &b);
    memset(arena_need(a, 100, 1), 1, 100);
    assert_int_equal(arena_error(a), ERR_OK);
    memset(arena_need(a, 1000, 8), 1, 1000);
    assert_int_equal(arena_error(a), ERR_TOO_LARGE);
    expect_str(arena_str(a, STR("more")), STR_EMPTY);
    arena_reset(a);
    assert_int_equal(arena_error(a), ERR_OK);
    /* Owed memory is granted beyond the limit, without an error. */
    arena_owe(a);
    assert_non_null(arena_alloc(a, 1 << 21, 1));
    expect_str(arena_str(a, STR("more")), STR("more"));
    assert_int_equal(arena_error(a), ERR_OK);
    arena_reset(a);
    assert_null(arena_alloc(a, 101, 1));
    arena_free(a);
    assert_int_equal(atomic_load(&b.used_bytes), 0);
}

static void buf__takes_its_memory_from_a_budget(void **state)
{
    (void)state;
    struct budget b;
    struct buf buf;
    char room[10];
    budget_init(&b, 1000);
    buf_init_room(&buf, 1 << 20, room, sizeof room);
    buf_set_budget(&buf, &b);
    buf_add_str(&buf, STR("0123456789"));
    assert_int_equal(atomic_load(&b.used_bytes), 0);
    buf_add_char(&buf, 'x');
    assert_int_equal(atomic_load(&b.used_bytes), buf.cap);
    assert_null(buf_reserve(&buf, 2000));
    assert_int_equal(buf_error(&buf), ERR_OVERLOADED);
    assert_int_equal(buf.len, 11);
    buf_clear(&buf);
    assert_int_equal(buf_error(&buf), ERR_OK);
    buf.owed = true;
    assert_non_null(buf_reserve(&buf, 2000));
    buf_deinit(&buf);
    assert_int_equal(atomic_load(&b.used_bytes), 0);
}

static void buf__hands_its_memory_over(void **state)
{
    (void)state;
    struct budget b;
    struct buf buf;
    char room[10];
    size_t cap;
    budget_init(&b, 1000);
    buf_init_room(&buf, 1 << 20, room, sizeof room);
    buf_set_budget(&buf, &b);
    assert_null(buf_hand_over(&buf, &cap));
    buf_add_str(&buf, STR("0123456789x"));
    char *taken = buf_hand_over(&buf, &cap);
    assert_int_equal(atomic_load(&b.used_bytes), cap);
    expect_str(str_from(taken, 11), STR("0123456789x"));
    assert_int_equal(buf.len, 0);
    budget_give(&b, cap);
    free(taken);
    buf_add_char(&buf, 'y');
    taken = buf_take(&buf);
    assert_int_equal(atomic_load(&b.used_bytes), 0);
    free(taken);
}

TEST_GROUP(budget, cmocka_unit_test(budget__refuses_past_its_limit_and_takes_back),
           cmocka_unit_test(budget__that_is_none_has_no_limit),
           cmocka_unit_test(arena__takes_its_blocks_from_a_budget),
           cmocka_unit_test(arena__gives_what_is_needed_and_remembers),
           cmocka_unit_test(buf__takes_its_memory_from_a_budget),
           cmocka_unit_test(buf__hands_its_memory_over));
