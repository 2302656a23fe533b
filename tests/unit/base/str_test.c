#include "base/str.h"

#include "lib/expect.h"
#include "lib/test.h"

static void cmp__orders_by_bytes_and_then_by_length(void **state)
{
    (void)state;
    static const struct {
        struct str a;
        struct str b;
        int order;
    } rows[] = {
        {{"", 0}, {NULL, 0}, 0},        {{"a", 1}, {"a", 1}, 0},    {{"a", 1}, {"b", 1}, -1},
        {{"a", 1}, {"ab", 2}, -1},      {{"", 0}, {"a", 1}, -1},    {{"\xff", 1}, {"a", 1}, 1},
        {{"a\0b", 3}, {"a\0c", 3}, -1}, {{"b", 1}, {"aaaa", 4}, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int order = str_cmp(rows[i].a, rows[i].b);
        int reverse = str_cmp(rows[i].b, rows[i].a);
        assert_int_equal((order > 0) - (order < 0), rows[i].order);
        assert_int_equal((reverse > 0) - (reverse < 0), -rows[i].order);
        assert_int_equal(str_eq(rows[i].a, rows[i].b), rows[i].order == 0);
    }
}

static void starts_with__takes_the_empty_prefix(void **state)
{
    (void)state;
    assert_true(str_starts_with(STR("abc"), STR("")));
    assert_true(str_starts_with(STR("abc"), STR("ab")));
    assert_true(str_starts_with(STR("abc"), STR("abc")));
    assert_false(str_starts_with(STR("abc"), STR("abcd")));
    assert_false(str_starts_with(STR("abc"), STR("b")));
    assert_true(str_starts_with(STR_EMPTY, STR_EMPTY));
    assert_false(str_starts_with(STR_EMPTY, STR("a")));
}

static void eq_nocase__folds_ascii_only(void **state)
{
    (void)state;
    assert_true(str_eq_nocase(STR("Content-Type"), STR("content-TYPE")));
    assert_false(str_eq_nocase(STR("a"), STR("ab")));
    assert_false(str_eq_nocase(STR("["), STR("{")));       /* 32 apart, but not letters */
    assert_false(str_eq_nocase(STR("\xc4"), STR("\xe4"))); /* letters in Latin-1 */
}

static void trim__takes_white_space_off_both_ends(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
    } rows[] = {
        {"", ""}, {"  \t\n\v\f\r", ""}, {"a", "a"}, {" a b\n", "a b"}, {"\ta", "a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_str(str_trim(str_from_z(rows[i].from)), str_from_z(rows[i].to));
    }
    expect_str(str_trim(STR_EMPTY), STR_EMPTY);
}

static void from_offset__gives_the_rest(void **state)
{
    (void)state;
    expect_str(str_from_offset(STR("abc"), 0), STR("abc"));
    expect_str(str_from_offset(STR("abc"), 2), STR("c"));
    expect_str(str_from_offset(STR("abc"), 3), STR_EMPTY);
    expect_str(str_from_offset(STR_EMPTY, 0), STR_EMPTY);
    expect_str(str_from_z(NULL), STR_EMPTY);
}

static void to_i64__reads_all_of_it_or_nothing(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        bool ok;
        int64_t value;
    } rows[] = {
        {{"0", 1}, true, 0},
        {{"-0", 2}, true, 0},
        {{"007", 3}, true, 7},
        {{"9223372036854775807", 19}, true, INT64_MAX},
        {{"-9223372036854775808", 20}, true, INT64_MIN},
        {{"9223372036854775808", 19}, false, 0},
        {{"-9223372036854775809", 20}, false, 0},
        {{"99999999999999999999", 20}, false, 0},
        {{"", 0}, false, 0},
        {{"-", 1}, false, 0},
        {{"+1", 2}, false, 0},
        {{" 1", 2}, false, 0},
        {{"1 ", 2}, false, 0},
        {{"1\0", 2}, false, 0},
        {{"1.0", 3}, false, 0},
        {{"--1", 3}, false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text.ptr);
        int64_t v = 77;
        assert_int_equal(str_to_i64(rows[i].text, &v), rows[i].ok);
        assert_true(v == (rows[i].ok ? rows[i].value : 77));
    }
}

static const struct {
    const char *name;
    struct str text;
    bool ok;
} utf8[] = {
    {"empty", {NULL, 0}, true},
    {"ASCII of more than a word", {"abcdefghijklmnop", 16}, true},
    {"a zero byte", {"\0", 1}, true},
    {"two bytes, lowest", {"\xc2\x80", 2}, true},
    {"two bytes, highest", {"\xdf\xbf", 2}, true},
    {"three bytes, lowest", {"\xe0\xa0\x80", 3}, true},
    {"before the surrogates", {"\xed\x9f\xbf", 3}, true},
    {"after the surrogates", {"\xee\x80\x80", 3}, true},
    {"four bytes, lowest", {"\xf0\x90\x80\x80", 4}, true},
    {"the last character", {"\xf4\x8f\xbf\xbf", 4}, true},
    {"behind a word", {"12345678\xc3\xa9", 10}, true},
    {"overlong, two bytes", {"\xc0\x80", 2}, false},
    {"overlong, two bytes, highest", {"\xc1\xbf", 2}, false},
    {"overlong, three bytes", {"\xe0\x9f\xbf", 3}, false},
    {"overlong, four bytes", {"\xf0\x8f\xbf\xbf", 4}, false},
    {"first surrogate", {"\xed\xa0\x80", 3}, false},
    {"last surrogate", {"\xed\xbf\xbf", 3}, false},
    {"past the last character", {"\xf4\x90\x80\x80", 4}, false},
    {"five bytes", {"\xf8\x88\x80\x80\x80", 5}, false},
    {"a continuation alone", {"\x80", 1}, false},
    {"cut after one of two", {"\xc3", 1}, false},
    {"cut after two of three", {"\xe2\x82", 2}, false},
    {"cut after three of four", {"\xf0\x9f\x98", 3}, false},
    {"no continuation", {"\xe2\x82x", 3}, false},
    {"0xff", {"\xff", 1}, false},
    {"bad behind a word", {"12345678\x80", 9}, false},
};

static void utf8__is_what_rfc_3629_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(utf8); i++) {
        ROW(utf8[i].name);
        assert_int_equal(str_is_utf8(utf8[i].text), utf8[i].ok);
    }
}

static void utf8_len__is_that_of_the_first_character(void **state)
{
    (void)state;
    assert_int_equal(str_utf8_len(STR_EMPTY), 0);
    assert_int_equal(str_utf8_len(STR("ab")), 1);
    assert_int_equal(str_utf8_len(STR("\0")), 1);
    assert_int_equal(str_utf8_len(STR("\u00e9x")), 2);
    assert_int_equal(str_utf8_len(STR("\u65e5x")), 3);
    assert_int_equal(str_utf8_len(STR("\U0001f600x")), 4);
    assert_int_equal(str_utf8_len(STR("\x80")), 0);
    assert_int_equal(str_utf8_len(STR("\xe2\x82")), 0);
}

static void control__is_below_space_or_delete(void **state)
{
    (void)state;
    assert_false(str_has_control(STR_EMPTY));
    assert_false(str_has_control(STR("a b~\u00e9")));
    assert_true(str_has_control(STR("a\nb")));
    assert_true(str_has_control(STR("\0")));
    assert_true(str_has_control(STR("a\x1f")));
    assert_true(str_has_control(STR("a\x7f")));
}

static void cut__gives_the_pieces_of_a_list(void **state)
{
    (void)state;
    static const struct {
        const char *list, *piece, *rest;
    } rows[] = {
        {"a,b,c", "a", "b,c"}, {"a", "a", ""}, {"a,", "a", ""}, {",a", "", "a"}, {"", "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].list);
        struct str rest = str_from_z(rows[i].list);
        expect_str(str_cut(&rest, ','), str_from_z(rows[i].piece));
        expect_str(rest, str_from_z(rows[i].rest));
    }
    struct str none = STR_EMPTY;
    expect_str(str_cut(&none, ','), STR_EMPTY);
}

static void at_most__does_not_cut_a_character(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } rows[] = {
        {"abc", 4, "abc"},
        {"abc", 3, "abc"},
        {"abc", 2, "ab"},
        {"abc", 0, ""},
        {"a\xc3\xa4", 3, "a\xc3\xa4"},
        {"a\xc3\xa4", 2, "a"},
        {"\xf0\x9f\x98\x80", 3, ""},
        {"\xe2\x82\xac!", 3, "\xe2\x82\xac"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        expect_str(str_at_most(str_from_z(rows[i].text), rows[i].max), str_from_z(rows[i].want));
    }
    expect_str(str_at_most(STR_EMPTY, 3), STR_EMPTY);
}

static void choices__are_written_as_in_a_sentence(void **state)
{
    (void)state;
    char text[16];
    assert_string_equal(str_choices("", text, sizeof text), "");
    assert_string_equal(str_choices("any", text, sizeof text), "any");
    assert_string_equal(str_choices("any all", text, sizeof text), "any or all");
    assert_string_equal(str_choices("a b c", text, sizeof text), "a, b or c");
    assert_string_equal(str_choices("critical high normal", text, sizeof text), "critical, high ");
}

TEST_GROUP(str, cmocka_unit_test(choices__are_written_as_in_a_sentence),
           cmocka_unit_test(cut__gives_the_pieces_of_a_list),
           cmocka_unit_test(cmp__orders_by_bytes_and_then_by_length),
           cmocka_unit_test(starts_with__takes_the_empty_prefix),
           cmocka_unit_test(eq_nocase__folds_ascii_only),
           cmocka_unit_test(trim__takes_white_space_off_both_ends),
           cmocka_unit_test(at_most__does_not_cut_a_character),
           cmocka_unit_test(from_offset__gives_the_rest),
           cmocka_unit_test(to_i64__reads_all_of_it_or_nothing),
           cmocka_unit_test(utf8__is_what_rfc_3629_says),
           cmocka_unit_test(utf8_len__is_that_of_the_first_character),
           cmocka_unit_test(control__is_below_space_or_delete));
