#include "base/pack.h"

#include "lib/expect.h"
#include "lib/test.h"

static void pack__has_these_bytes_for_ever(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    pack_u8(&b, 0x01);
    pack_u16(&b, 0x0203);
    pack_u32(&b, 0x04050607);
    pack_u64(&b, 0x08090a0b0c0d0e0fU);
    pack_i64(&b, -2);
    pack_u32_be(&b, 0x04050607);
    pack_u64_be(&b, 0x08090a0b0c0d0e0fU);
    pack_varint(&b, 300);
    pack_text(&b, STR("hi"));
    expect_str(buf_str(&b), STR("\x01"
                                "\x03\x02"
                                "\x07\x06\x05\x04"
                                "\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08"
                                "\xfe\xff\xff\xff\xff\xff\xff\xff"
                                "\x04\x05\x06\x07"
                                "\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
                                "\xac\x02"
                                "\x02hi"));

    struct unpack u = unpack_from(buf_str(&b));
    assert_int_equal(unpack_u8(&u), 0x01);
    assert_int_equal(unpack_u16(&u), 0x0203);
    assert_int_equal(unpack_u32(&u), 0x04050607);
    assert_true(unpack_u64(&u) == 0x08090a0b0c0d0e0fU);
    assert_int_equal(unpack_i64(&u), -2);
    assert_int_equal(unpack_u32_be(&u), 0x04050607);
    assert_true(unpack_u64_be(&u) == 0x08090a0b0c0d0e0fU);
    assert_int_equal(unpack_varint(&u), 300);
    expect_str(unpack_text(&u), STR("hi"));
    assert_true(unpack_done(&u));
    buf_deinit(&b);
}

static void varint__has_one_form_per_number(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        struct str bytes;
    } rows[] = {
        {0, {"\x00", 1}},
        {1, {"\x01", 1}},
        {127, {"\x7f", 1}},
        {128, {"\x80\x01", 2}},
        {16383, {"\xff\x7f", 2}},
        {16384, {"\x80\x80\x01", 3}},
        {UINT64_MAX, {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}},
        {1ULL << 63, {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        buf_init(&b, 16);
        pack_varint(&b, rows[i].value);
        expect_str(buf_str(&b), rows[i].bytes);
        struct unpack u = unpack_from(rows[i].bytes);
        assert_true(unpack_varint(&u) == rows[i].value);
        assert_true(unpack_done(&u));
        buf_deinit(&b);
    }
}

static void varint__of_another_form_is_bad(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct str bytes;
    } rows[] = {
        {"nothing", {NULL, 0}},
        {"cut", {"\x80", 1}},
        {"zero in two bytes", {"\x80\x00", 2}},
        {"one in three bytes", {"\x81\x80\x00", 3}},
        {"more than 64 bits", {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10}},
        {"eleven bytes", {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct unpack u = unpack_from(rows[i].bytes);
        assert_int_equal(unpack_varint(&u), 0);
        assert_true(u.bad);
        assert_false(unpack_done(&u));
    }
}

static void unpack__stays_bad_and_gives_zeros(void **state)
{
    (void)state;
    struct unpack u = unpack_from(STR("\x01\x02\x03"));
    assert_int_equal(unpack_u32(&u), 0);
    assert_true(u.bad);
    assert_int_equal(unpack_u8(&u), 0); /* although a byte is left */
    assert_int_equal(unpack_u16(&u), 0);
    assert_int_equal(unpack_varint(&u), 0);
    expect_str(unpack_text(&u), STR_EMPTY);
    expect_str(unpack_bytes(&u, 0), STR_EMPTY);
    assert_false(unpack_done(&u));
}

static void text__longer_than_what_is_left_is_bad(void **state)
{
    (void)state;
    struct unpack u = unpack_from(STR("\x03hi"));
    expect_str(unpack_text(&u), STR_EMPTY);
    assert_true(u.bad);
    u = unpack_from(STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi"));
    expect_str(unpack_text(&u), STR_EMPTY);
    assert_true(u.bad);
    u = unpack_from(STR("\x00"));
    expect_str(unpack_text(&u), STR_EMPTY);
    assert_true(unpack_done(&u));
}

static void done__wants_nothing_left_over(void **state)
{
    (void)state;
    struct unpack u = unpack_from(STR("ab"));
    (void)unpack_u8(&u);
    assert_int_equal(unpack_left(&u), 1);
    assert_false(unpack_done(&u));
    expect_str(unpack_bytes(&u, 1), STR("b"));
    assert_true(unpack_done(&u));
    u = unpack_from(STR_EMPTY);
    assert_true(unpack_done(&u));
}

TEST_GROUP(pack, cmocka_unit_test(pack__has_these_bytes_for_ever),
           cmocka_unit_test(varint__has_one_form_per_number),
           cmocka_unit_test(varint__of_another_form_is_bad),
           cmocka_unit_test(unpack__stays_bad_and_gives_zeros),
           cmocka_unit_test(text__longer_than_what_is_left_is_bad),
           cmocka_unit_test(done__wants_nothing_left_over));
