#include "json/json_compact.h"

#include <string.h>

#include "lib/expect.h"
#include "lib/test.h"

static void compact__drops_white_space_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
    } rows[] = {
        {"1", "1"},
        {" 1 ", "1"},
        {"{}", "{}"},
        {"{ }", "{}"},
        {"\n{\t\"a\" :\r 1 , \"b\":[ 1,\n2 ] }\n", "{\"a\":1,\"b\":[1,2]}"},
        {"\" a  b \"", "\" a  b \""},
        {"[ \"\\\" \\\\\" , \" \" ]", "[\"\\\" \\\\\",\" \"]"},
        {"{\"k k\": \"\\u0020 \u00e9 \"}", "{\"k k\":\"\\u0020 \u00e9 \"}"},
        {"[1.0, 10e2, 123456789012345678901234567890]",
         "[1.0,10e2,123456789012345678901234567890]"},
        {"{\"b\": 1, \"a\": 2, \"b\": 3}", "{\"b\":1,\"a\":2,\"b\":3}"},
    };
    struct arena *a = arena_new(1024);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].from);
        struct str from = str_from_z(rows[i].from);
        struct str to = json_compact_in(a, from);
        expect_str(to, str_from_z(rows[i].to));
        assert_int_equal(to.ptr == from.ptr, strcmp(rows[i].from, rows[i].to) == 0);
        struct buf b;
        buf_init(&b, 1024);
        json_compact_add(&b, str_from_z(rows[i].from));
        expect_str(buf_str(&b), str_from_z(rows[i].to));
        buf_deinit(&b);
    }
    arena_free(a);
}

static void compact__is_itself_or_a_copy_for_which_there_is_room(void **state)
{
    (void)state;
    struct arena *a = arena_new(5);
    assert_int_equal(json_compact_in(a, STR_EMPTY).len, 0);
    expect_str(json_compact_in(a, STR("[1,2,3]")), STR("[1,2,3]"));
    expect_str(json_compact_in(a, STR("[ 1 ]")), STR("[1]"));
    assert_int_equal(arena_error(a), ERR_OK);
    assert_int_equal(json_compact_in(a, STR("[ 1 ]")).len, 0);
    assert_int_equal(arena_error(a), ERR_TOO_LARGE);
    arena_free(a);
}

static void compact__goes_behind_what_is_there_and_may_overflow(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4);
    json_compact_add(&b, STR_EMPTY);
    assert_int_equal(b.len, 0);
    json_compact_add(&b, STR("12"));
    json_compact_add(&b, STR(" 34 "));
    expect_str(buf_str(&b), STR("1234"));
    assert_false(b.overflow);
    json_compact_add(&b, STR("5"));
    assert_true(b.overflow);
    buf_deinit(&b);
}

TEST_GROUP(json_compact, cmocka_unit_test(compact__drops_white_space_and_nothing_else),
           cmocka_unit_test(compact__is_itself_or_a_copy_for_which_there_is_room),
           cmocka_unit_test(compact__goes_behind_what_is_there_and_may_overflow));
