#include "base/arena.h"

#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

static void alloc__gives_pieces_that_do_not_touch(void **state)
{
    (void)state;
    enum { PIECES = 2000 };
    static struct {
        unsigned char *ptr;
        size_t size;
    } pieces[PIECES];
    struct arena *a = arena_new(16 << 20);
    struct rng rng = rng_from(1);
    for (unsigned i = 0; i < PIECES; i++) {
        size_t align = (size_t)1 << rng_below(&rng, 7);
        size_t size = rng_below(&rng, i % 100 == 0 ? 40000 : 200);
        pieces[i].ptr = arena_alloc(a, size, align);
        pieces[i].size = size;
        assert_non_null(pieces[i].ptr);
        assert_int_equal((uintptr_t)pieces[i].ptr % align, 0);
        memset(pieces[i].ptr, (int)(i % 251), size);
    }
    for (unsigned i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < pieces[i].size; k++) {
            assert_true(pieces[i].ptr[k] == i % 251);
        }
    }
    arena_free(a);
}

static void limit__is_for_the_sum_of_what_was_asked(void **state)
{
    (void)state;
    struct arena *a = arena_new(100);
    assert_non_null(arena_alloc(a, 60, 1));
    assert_null(arena_alloc(a, 41, 1));
    assert_int_equal(arena_used_bytes(a), 60);
    assert_non_null(arena_alloc(a, 40, 1));
    assert_null(arena_alloc(a, 1, 1));
    assert_null(arena_alloc(a, SIZE_MAX, 1));
    assert_non_null(arena_alloc(a, 0, 1));
    assert_int_equal(arena_used_bytes(a), 100);
    arena_free(a);
}

static void reset__forgets_everything(void **state)
{
    (void)state;
    struct arena *a = arena_new(100000);
    for (unsigned round = 0; round < 10; round++) {
        assert_non_null(arena_alloc(a, 90000, 8));
        assert_non_null(arena_alloc(a, 100, 8));
        assert_null(arena_alloc(a, 90000, 8));
        arena_reset(a);
        assert_int_equal(arena_used_bytes(a), 0);
    }
    arena_freep(&a);
    assert_null(a);
    arena_free(NULL);
}

static void str__is_a_copy_or_empty(void **state)
{
    (void)state;
    struct arena *a = arena_new(10);
    char text[] = "abc";
    struct str copy = arena_str(a, str_from_z(text));
    char *z = arena_strz(a, str_from_z(text));
    text[0] = 'X';
    expect_str(copy, STR("abc"));
    assert_string_equal(z, "abc");
    assert_null(arena_str(a, STR("more than is left")).ptr);
    assert_null(arena_strz(a, STR("abc")));
    expect_str(arena_str(a, STR_EMPTY), STR_EMPTY);
    assert_string_equal(arena_strz(a, STR_EMPTY), "");
    arena_free(a);
}

static void macros__give_typed_memory(void **state)
{
    (void)state;
    struct arena *a = arena_new(1000);
    uint64_t *one = ARENA_NEW(a, uint64_t);
    uint32_t *many = ARENA_ARRAY(a, uint32_t, 10);
    *one = 1;
    many[9] = 2;
    assert_int_equal(arena_used_bytes(a), 48);
    arena_free(a);
}

TEST_GROUP(arena, cmocka_unit_test(alloc__gives_pieces_that_do_not_touch),
           cmocka_unit_test(limit__is_for_the_sum_of_what_was_asked),
           cmocka_unit_test(reset__forgets_everything), cmocka_unit_test(str__is_a_copy_or_empty),
           cmocka_unit_test(macros__give_typed_memory));
