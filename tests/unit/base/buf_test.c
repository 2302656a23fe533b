#include "base/buf.h"

#include <stdlib.h>

#include "lib/expect.h"
#include "lib/test.h"

static void add__grows_and_keeps_what_was_there(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    for (unsigned i = 0; i < 10000; i++) {
        buf_printf(&b, "%u,", i);
    }
    assert_false(b.overflow);
    assert_int_equal(b.len, 48890);
    assert_true(str_starts_with(buf_str(&b), STR("0,1,2,3,4,5,6,7,8,9,10,")));
    expect_str(str_from_offset(buf_str(&b), b.len - 10), STR("9998,9999,"));
    buf_deinit(&b);
    assert_int_equal(b.len, 0);
    assert_null(b.ptr);
}

static void limit__refuses_whole_pieces_and_is_remembered(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 5);
    buf_add_str(&b, STR("abc"));
    buf_add_str(&b, STR("def"));
    assert_true(b.overflow);
    expect_str(buf_str(&b), STR("abc"));
    /* Nothing more is accepted, even if it would fit: half a record is useless. */
    buf_add_char(&b, 'x');
    assert_null(buf_reserve(&b, 1));
    expect_str(buf_str(&b), STR("abc"));

    buf_clear(&b);
    assert_false(b.overflow);
    buf_add_str(&b, STR("12345"));
    assert_false(b.overflow);
    expect_str(buf_str(&b), STR("12345"));
    buf_deinit(&b);
}

static void limit__of_zero_holds_nothing(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 0);
    buf_add(&b, NULL, 0);
    assert_false(b.overflow);
    buf_add_char(&b, 'x');
    assert_true(b.overflow);
    assert_null(buf_take(&b));
    buf_deinit(&b);
}

static void reserve__is_filled_by_the_caller(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1000);
    buf_add_str(&b, STR("ab"));
    char *room = buf_reserve(&b, 900);
    assert_non_null(room);
    memset(room, 'x', 900);
    b.len += 900;
    assert_int_equal(b.len, 902);
    assert_true(str_starts_with(buf_str(&b), STR("abxx")));
    buf_deinit(&b);
}

static void printf__takes_long_texts_too(void **state)
{
    (void)state;
    struct buf b;
    char long_text[1001];
    memset(long_text, 'y', 1000);
    long_text[1000] = '\0';
    buf_init(&b, 4096);
    buf_printf(&b, "<%s>", long_text);
    assert_int_equal(b.len, 1002);
    assert_int_equal(b.ptr[1001], '>');
    buf_deinit(&b);

    buf_init(&b, 500);
    buf_printf(&b, "<%s>", long_text);
    assert_true(b.overflow);
    assert_int_equal(b.len, 0);
    buf_deinit(&b);
}

static void take__hands_the_bytes_over(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 100);
    buf_add_str(&b, STR("abc"));
    char *bytes = buf_take(&b);
    assert_memory_equal(bytes, "abc", 3);
    free(bytes);
    assert_int_equal(b.len, 0);
    buf_add_char(&b, 'd');
    expect_str(buf_str(&b), STR("d"));
    buf_deinit(&b);
}

static void room__is_used_and_then_left(void **state)
{
    (void)state;
    char room[8];
    struct buf b;
    buf_init_room(&b, 100, room, sizeof room);
    buf_add_str(&b, STR("12345678"));
    assert_ptr_equal(b.ptr, room);
    expect_str(buf_str(&b), STR("12345678"));
    buf_add_char(&b, '9');
    assert_ptr_not_equal(b.ptr, room);
    expect_str(buf_str(&b), STR("123456789"));
    buf_deinit(&b);

    buf_init_room(&b, 4, room, sizeof room); /* the limit applies, not the size of the room */
    buf_add_str(&b, STR("12345"));
    assert_true(b.overflow);
    buf_deinit(&b);

    buf_init_room(&b, 100, room, sizeof room);
    buf_add_str(&b, STR("abc"));
    char *bytes = buf_take(&b); /* from malloc, even though the bytes were in the room */
    assert_ptr_not_equal(bytes, room);
    assert_memory_equal(bytes, "abc", 3);
    free(bytes);
    buf_deinit(&b);
}

static void add_utf8__replaces_what_is_not_a_character(void **state)
{
    (void)state;
    static const struct {
        const char *text, *added;
    } rows[] = {
        {"", ""},
        {"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff", "\xef\xbf\xbd"},
        {"a\xc3", "a\xef\xbf\xbd"},
        {"\x80z\xc0\xaf", "\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].added);
        buf_init(&b, 100);
        buf_add_utf8(&b, str_from_z(rows[i].text));
        expect_str(buf_str(&b), str_from_z(rows[i].added));
        buf_deinit(&b);
    }
}

TEST_GROUP(buf, cmocka_unit_test(room__is_used_and_then_left),
           cmocka_unit_test(add__grows_and_keeps_what_was_there),
           cmocka_unit_test(limit__refuses_whole_pieces_and_is_remembered),
           cmocka_unit_test(limit__of_zero_holds_nothing),
           cmocka_unit_test(reserve__is_filled_by_the_caller),
           cmocka_unit_test(printf__takes_long_texts_too),
           cmocka_unit_test(add_utf8__replaces_what_is_not_a_character),
           cmocka_unit_test(take__hands_the_bytes_over));
