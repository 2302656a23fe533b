#include "store/store_given.h"

#include "lib/expect.h"
#include "lib/golden.h"
#include "lib/rng.h"
#include "lib/test.h"

static void record__reads_back_what_was_written(void **state)
{
    struct rng rng = rng_from(1);
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t first = (uint32_t)rng_next(&rng) >> rng_below(&rng, 32);
        uint32_t span = (uint32_t)rng_below(&rng, 1 + (uint64_t)(UINT32_MAX - first));
        struct store_given want = {.first = first,
                                   .last = first + span,
                                   .left = 1 + (uint32_t)rng_below(&rng, span < 1 ? 1 : span)};
        struct store_given got;
        struct buf b;
        buf_init(&b, 64);
        store_given_encode(&want, &b);
        assert_true(store_given_decode(buf_str(&b), &got));
        assert_int_equal(got.first, want.first);
        assert_int_equal(got.last, want.last);
        assert_int_equal(got.left, want.left);
        for (size_t len = 0; len < b.len; len++) {
            assert_false(store_given_decode(str_from(b.ptr, len), &got));
        }
        buf_add_char(&b, '\0');
        assert_false(store_given_decode(buf_str(&b), &got));
        buf_deinit(&b);
    }
}

static void record__that_cannot_be_is_refused(void **state)
{
    static const struct store_given rows[] = {
        {.first = 1, .last = 0, .left = 1}, /* ends before it begins */
        {.first = 0, .last = 1, .left = 0}, /* none is left */
        {.first = 3, .last = 4, .left = 3}, /* more than there are numbers */
    };
    struct store_given got;
    struct buf b;
    (void)state;
    buf_init(&b, 64);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        buf_clear(&b);
        store_given_encode(&rows[i], &b);
        assert_false(store_given_decode(buf_str(&b), &got));
    }
    buf_clear(&b);
    store_given_encode(&(struct store_given){.first = 0, .last = 9, .left = 4}, &b);
    assert_true(store_given_decode(buf_str(&b), &got));
    b.ptr[0]++; /* of a later version */
    assert_false(store_given_decode(buf_str(&b), &got));
    buf_deinit(&b);
}

static void record__decodes(void **state)
{
    struct store_given got;
    struct buf present;
    struct buf file;
    (void)state;
    buf_init(&present, 64);
    store_given_encode(&(struct store_given){.first = 2, .last = 70001, .left = 513}, &present);
    golden_read_present("record-given-1.bin", &present, &file);
    assert_true(store_given_decode(buf_str(&file), &got));
    assert_int_equal(got.first, 2);
    assert_int_equal(got.last, 70001);
    assert_int_equal(got.left, 513);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void id__is_made_of_its_entry_and_number(void **state)
{
    static const uint32_t numbers[] = {0, 1, 255, 256, 1U << 24, UINT32_MAX};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct id id = id_make((struct wall){.ns = 5 * NS_PER_S}, 77, numbers[i]);
        assert_int_equal(store_given_number(id), numbers[i]);
        assert_true(id_eq(store_given_id(id.b, numbers[i]), id));
    }
}

TEST_GROUP(store_given, cmocka_unit_test(record__reads_back_what_was_written),
           cmocka_unit_test(record__that_cannot_be_is_refused), cmocka_unit_test(record__decodes),
           cmocka_unit_test(id__is_made_of_its_entry_and_number));
