#include "json/json_value.h"

#include "json/json_scan.h"
#include "lib/expect.h"
#include "lib/test.h"

static struct json_value value_of(const char *text)
{
    struct json_value value;
    struct err err;
    assert_int_equal(json_scan_first(str_from_z(text), &value, &err), ERR_OK);
    return value;
}

static const struct {
    const char *json;
    struct str text;
} texts[] = {
    {"\"\"", {"", 0}},
    {"\"plain\"", {"plain", 5}},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}},
    {"\"a\\u0000b\"", {"a\0b", 3}},
    {"\"\\u0041\\u00e9\\u65E5\"", {"A\u00e9\u65e5", 6}},
    {"\"\\ud83d\\uDE00!\"", {"\U0001f600!", 5}},
    {"\"x\\ud83d\"", {"x\ufffd", 4}},
    {"\"\\ude00\"", {"\ufffd", 3}},
    {"\"\\ud83dx\"", {"\ufffdx", 4}},
    {"\"\\ud83d\\n\"", {"\ufffd\n", 4}},
    {"\"\\ud83d\\ud83d\"", {"\ufffd\ufffd", 6}},
    {"\"\\ud83d\\ud83d\\ude00\"", {"\ufffd\U0001f600", 7}},
    {"\"\\ud83d\\u0041\"", {"\ufffdA", 4}},
};

static void text__is_decoded(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ROW(texts[i].json);
        struct json_value value = value_of(texts[i].json);
        struct str text;
        struct err err;
        struct buf b;
        buf_init(&b, 64);
        buf_add_str(&b, STR("before"));
        assert_int_equal(json_value_text(value, arena, &text, &err), ERR_OK);
        expect_str(text, texts[i].text);
        json_value_text_buf(value, &b);
        expect_str(str_from_offset(buf_str(&b), 6), texts[i].text);
        assert_int_equal(json_value_text_len(value), texts[i].text.len);
        buf_deinit(&b);
    }
    arena_free(arena);
}

static void text__without_escapes_is_a_view(void **state)
{
    (void)state;
    struct json_value value = value_of("\"plain\"");
    struct arena *arena = arena_new(0);
    struct str text;
    struct err err;
    assert_int_equal(json_value_text(value, arena, &text, &err), ERR_OK);
    assert_ptr_equal(text.ptr, value.text.ptr + 1);
    assert_int_equal(json_value_text(value_of("\"\\n\""), arena, &text, &err), ERR_TOO_LARGE);
    arena_free(arena);
}

static void text_eq__compares_what_is_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ROW(texts[i].json);
        struct json_value value = value_of(texts[i].json);
        assert_true(json_value_text_eq(value, texts[i].text));
        assert_false(json_value_text_eq(value, STR("something else")));
    }
    assert_false(json_value_text_eq(value_of("\"\\u0061b\""), STR("a")));
    assert_false(json_value_text_eq(value_of("\"\\u0061\""), STR("ab")));
}

static void i64__is_read_exactly_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool ok;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"12", true, 12},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"1\"", false, 0},
        {"true", false, 0},
        {"null", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].json);
        int64_t v = 77;
        assert_int_equal(json_value_i64(value_of(rows[i].json), &v), rows[i].ok);
        assert_true(v == (rows[i].ok ? rows[i].value : 77));
    }
}

static void f64__is_finite_or_not_read(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool ok;
        double value;
    } rows[] = {
        {"0", true, 0.0},
        {"1.5", true, 1.5},
        {"-2e3", true, -2000.0},
        {"1e308", true, 1e308},
        {"1e309", false, 0.0},
        {"-1e999", false, 0.0},
        {"1e-400", true, 0.0},
        {"\"1.5\"", false, 0.0},
        {"true", false, 0.0},
        {"0.1", true, 0.1},
        {"0."
         "0000000000000000000000000000000000000000000000000000000000000000"
         "000000000000000000000000000000000000000000000000000000000000001",
         false, 0.0}, /* 129 characters */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].json);
        double v = 77;
        assert_int_equal(json_value_f64(value_of(rows[i].json), &v), rows[i].ok);
        double want = rows[i].ok ? rows[i].value : 77;
        assert_memory_equal(&v, &want, sizeof v);
    }
}

static void bool__is_true_or_false(void **state)
{
    (void)state;
    bool v = false;
    assert_true(json_value_bool(value_of("true"), &v));
    assert_true(v);
    assert_true(json_value_bool(value_of("false"), &v));
    assert_false(v);
    assert_false(json_value_bool(value_of("0"), &v));
    assert_false(json_value_bool(value_of("null"), &v));
}

static void type_name__is_for_messages(void **state)
{
    (void)state;
    assert_string_equal(json_value_type_name(JSON_TYPE_NULL), "null");
    assert_string_equal(json_value_type_name(JSON_TYPE_OBJECT), "an object");
}

TEST_GROUP(json_value, cmocka_unit_test(text__is_decoded),
           cmocka_unit_test(text__without_escapes_is_a_view),
           cmocka_unit_test(text_eq__compares_what_is_meant),
           cmocka_unit_test(i64__is_read_exactly_or_not_at_all),
           cmocka_unit_test(f64__is_finite_or_not_read), cmocka_unit_test(bool__is_true_or_false),
           cmocka_unit_test(type_name__is_for_messages));
