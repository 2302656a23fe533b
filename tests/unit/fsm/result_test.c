#include "fsm/command/result.h"

#include "lib/exact.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/samples.h"
#include "lib/test.h"

static struct result_item items[2];

static struct result full(void)
{
    items[0] = (struct result_item){
        .id = samples_id(1), .status = RESULT_DUPLICATE, .doc = STR("a document")};
    items[1] = (struct result_item){.id = samples_id(2), .status = RESULT_UNKNOWN};
    return (struct result){.code = ERR_OK,
                           .items = items,
                           .count = COUNT_OF(items),
                           .id = samples_id(3),
                           .affected = 300,
                           .missing = 4,
                           .state = JOB_CANCELLED,
                           .attempt = 5,
                           .remaining = 6,
                           .at = {.ns = -7},
                           .more = true,
                           .cursor = samples_id(8),
                           .until = samples_id(9),
                           .in_done = true};
}

static void expect_same(const struct result *got, const struct result *want)
{
    assert_int_equal(got->code, want->code);
    expect_str(got->message, want->message);
    assert_true(id_eq(got->id, want->id));
    assert_int_equal(got->affected, want->affected);
    assert_int_equal(got->missing, want->missing);
    assert_int_equal(got->state, want->state);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->remaining, want->remaining);
    assert_int_equal(got->at.ns, want->at.ns);
    assert_int_equal(got->more, want->more);
    assert_true(id_eq(got->cursor, want->cursor));
    assert_true(id_eq(got->until, want->until));
    assert_int_equal(got->in_done, want->in_done);
    assert_int_equal(got->count, want->count);
    for (uint32_t i = 0; i < want->count; i++) {
        assert_true(id_eq(got->items[i].id, want->items[i].id));
        assert_int_equal(got->items[i].status, want->items[i].status);
        expect_str(got->items[i].doc, want->items[i].doc);
    }
}

static void expect_round_trip(const struct result *r)
{
    struct arena *a = arena_new(1 << 20);
    struct result back;
    struct buf bytes;
    buf_init(&bytes, 1 << 16);
    result_encode(r, &bytes);
    assert_true(result_decode(buf_str(&bytes), a, &back));
    expect_same(&back, r);
    buf_deinit(&bytes);
    arena_free(a);
}

static void result__keeps_every_member(void **state)
{
    (void)state;
    struct result everything = full();
    struct result nothing = {0};
    struct result last = full();
    last.more = false;
    last.cursor = last.until = ID_NONE;
    last.in_done = false;
    expect_round_trip(&everything);
    expect_round_trip(&nothing);
    expect_round_trip(&last);
}

static void refusal__keeps_code_and_message_only(void **state)
{
    (void)state;
    for (unsigned code = ERR_OK + 1; code < ERR_CODE_COUNT; code++) {
        struct result r = {.code = (enum err_code)code, .message = STR("because")};
        expect_round_trip(&r);
    }
    struct result r = full();
    r.code = ERR_ACK;
    r.message = STR("no");
    struct result want = {.code = ERR_ACK, .message = STR("no")};
    struct arena *a = arena_new(1 << 20);
    struct result back;
    struct buf bytes;
    buf_init(&bytes, 1 << 16);
    result_encode(&r, &bytes);
    assert_true(result_decode(buf_str(&bytes), a, &back));
    expect_same(&back, &want);
    buf_deinit(&bytes);
    arena_free(a);
}

static void decode__refuses_what_is_no_result(void **state)
{
    (void)state;
    struct rng rng = rng_from(47);
    struct result r = full();
    struct buf bytes;
    buf_init(&bytes, 1 << 16);
    result_encode(&r, &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        struct arena *a = arena_new(1 << 20);
        struct result back;
        struct str cut = exact_copy(bytes.ptr, len);
        assert_false(result_decode(cut, a, &back));
        exact_free(cut);
        arena_free(a);
    }
    for (unsigned i = 0; i < 20000; i++) {
        struct arena *a = arena_new(1 << 20);
        struct result back;
        size_t at = rng_below(&rng, bytes.len);
        char old = bytes.ptr[at];
        bytes.ptr[at] = (char)(uint8_t)rng_next(&rng);
        if (result_decode(buf_str(&bytes), a, &back)) {
            assert_true(back.code < ERR_CODE_COUNT);
            assert_true(back.state < JOB_STATE_COUNT);
        }
        bytes.ptr[at] = old;
        arena_free(a);
    }
    bytes.ptr[0] = (char)ERR_CODE_COUNT;
    struct arena *a = arena_new(1 << 20);
    struct result back;
    assert_false(result_decode(buf_str(&bytes), a, &back));
    arena_free(a);
    buf_deinit(&bytes);
}

static void decode__minds_the_limit_of_its_memory(void **state)
{
    (void)state;
    struct arena *a = arena_new(16);
    struct result r = full();
    struct result back;
    struct buf bytes;
    buf_init(&bytes, 1 << 16);
    result_encode(&r, &bytes);
    assert_false(result_decode(buf_str(&bytes), a, &back));
    buf_deinit(&bytes);
    arena_free(a);
}

TEST_GROUP(result, cmocka_unit_test(result__keeps_every_member),
           cmocka_unit_test(refusal__keeps_code_and_message_only),
           cmocka_unit_test(decode__refuses_what_is_no_result),
           cmocka_unit_test(decode__minds_the_limit_of_its_memory));
