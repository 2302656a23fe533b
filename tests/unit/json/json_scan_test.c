#include "json/json_scan.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "lib/expect.h"
#include "lib/test.h"

static void check__accepts_what_rfc_8259_accepts(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "12",
        "-12.50",
        "1e3",
        "1E+3",
        "0.1e-7",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\"",
        "\"a longer text than eight bytes\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0041\\uD83D\\uDE00\"",
        "\"\\ud800\"", /* half a surrogate pair is valid JSON */
        "\"caf\u00e9 \u65e5\u672c \U0001f600\"",
        "\"\x7f\"",
        "[]",
        "[ ]",
        "[1,2,[3,[4]],{}]",
        "{}",
        "{ \t\r\n}",
        "{\"a\":1}",
        "{\"a\":1,\"a\":2}",
        "{\"\":{\"\":[{}]}}",
        " \n\t\r { \"a\" : [ 1 , 2 ] , \"b\" : null } \n",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        struct err err;
        assert_int_equal(json_scan_check(str_from_z(rows[i]), &err), ERR_OK);
    }
}

static void check__says_what_is_wrong_and_where(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"", "invalid JSON at byte 0: unexpected end of the text"},
        {"  ", "invalid JSON at byte 2: unexpected end of the text"},
        {"nul", "invalid JSON at byte 0: expected a value"},
        {"True", "invalid JSON at byte 0: expected a value"},
        {"'a'", "invalid JSON at byte 0: expected a value"},
        {"\xef\xbb\xbf{}", "invalid JSON at byte 0: expected a value"},
        {"1 2", "invalid JSON at byte 2: unexpected text after the value"},
        {"{}x", "invalid JSON at byte 2: unexpected text after the value"},
        {"01", "invalid JSON at byte 1: unexpected text after the value"},
        {"-", "invalid JSON at byte 1: unexpected end of the text"},
        {"+1", "invalid JSON at byte 0: expected a value"},
        {"1.", "invalid JSON at byte 2: unexpected end of the text"},
        {"1.e3", "invalid JSON at byte 2: expected a digit"},
        {".5", "invalid JSON at byte 0: expected a value"},
        {"1e+", "invalid JSON at byte 3: unexpected end of the text"},
        {"NaN", "invalid JSON at byte 0: expected a value"},
        {"\"abc", "invalid JSON at byte 4: unexpected end of the text"},
        {"\"abcdefghijklmn", "invalid JSON at byte 15: unexpected end of the text"},
        {"\"a\nb\"", "invalid JSON at byte 2: unescaped control character in a string"},
        {"\"12345678\tb\"", "invalid JSON at byte 9: unescaped control character in a string"},
        {"\"\\x\"", "invalid JSON at byte 1: invalid escape sequence"},
        {"\"\\u12g4\"", "invalid JSON at byte 1: invalid escape sequence"},
        {"\"\\u123", "invalid JSON at byte 1: invalid escape sequence"},
        {"\"\\", "invalid JSON at byte 1: invalid escape sequence"},
        {"\"\xff\"", "invalid JSON at byte 1: not UTF-8"},
        {"\"\xc0\x80\"", "invalid JSON at byte 1: not UTF-8"},
        {"\"\xed\xa0\x80\"", "invalid JSON at byte 1: not UTF-8"},
        {"\"\xe2\x82\"", "invalid JSON at byte 1: not UTF-8"},
        {"[1,]", "invalid JSON at byte 3: expected a value"},
        {"[,1]", "invalid JSON at byte 1: expected a value"},
        {"[1 2]", "invalid JSON at byte 3: ',' or ']' expected"},
        {"[1}", "invalid JSON at byte 2: ',' or ']' expected"},
        {"[", "invalid JSON at byte 1: unexpected end of the text"},
        {"[1", "invalid JSON at byte 2: unexpected end of the text"},
        {"{\"a\"}", "invalid JSON at byte 4: ':' expected"},
        {"{\"a\":}", "invalid JSON at byte 5: expected a value"},
        {"{\"a\":1,}", "invalid JSON at byte 7: expected a key"},
        {"{a:1}", "invalid JSON at byte 1: expected a key"},
        {"{\"a\":1]", "invalid JSON at byte 6: ',' or '}' expected"},
        {"{\"a\":1 \"b\":2}", "invalid JSON at byte 7: ',' or '}' expected"},
        {"]", "invalid JSON at byte 0: expected a value"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        struct err err = {0};
        assert_int_equal(json_scan_check(str_from_z(rows[i].text), &err), ERR_PARSE);
        assert_string_equal(err.msg, rows[i].message);
    }
}

static void check__takes_a_zero_byte_for_neither_end_nor_space(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(json_scan_check(STR("1\0"), &err), ERR_PARSE);
    assert_int_equal(json_scan_check(STR("\0"), &err), ERR_PARSE);
    assert_int_equal(json_scan_check(STR("[1\0]"), &err), ERR_PARSE);
    assert_int_equal(json_scan_check(STR("\"a\0b\""), &err), ERR_PARSE);
}

/* Append count nested arrays or objects, with a 1 in the innermost. */
static void nest(struct buf *out, unsigned count, bool object)
{
    for (unsigned i = 0; i < count; i++) {
        buf_add_str(out, object ? STR("{\"a\":") : STR("["));
    }
    buf_add_str(out, STR("1"));
    for (unsigned i = 0; i < count; i++) {
        buf_add_char(out, object ? '}' : ']');
    }
}

static void check__limits_the_depth(void **state)
{
    (void)state;
    struct buf b;
    struct err err;
    buf_init(&b, 1 << 20);
    for (unsigned object = 0; object < 2; object++) {
        buf_clear(&b);
        nest(&b, LIMIT_JSON_DEPTH, object);
        assert_int_equal(json_scan_check(buf_str(&b), &err), ERR_OK);
        buf_clear(&b);
        nest(&b, LIMIT_JSON_DEPTH + 1, object);
        assert_int_equal(json_scan_check(buf_str(&b), &err), ERR_PARSE);
        assert_non_null(strstr(err.msg, "nested too deeply"));
    }
    buf_deinit(&b);
}

static void check_value__has_a_lower_limit(void **state)
{
    (void)state;
    struct buf b;
    struct err err;
    buf_init(&b, 1 << 20);
    for (unsigned object = 0; object < 2; object++) {
        buf_clear(&b);
        nest(&b, LIMIT_JSON_VALUE_DEPTH, object);
        assert_int_equal(json_scan_check_value(buf_str(&b), &err), ERR_OK);
        buf_clear(&b);
        nest(&b, LIMIT_JSON_VALUE_DEPTH + 1, object);
        assert_int_equal(json_scan_check_value(buf_str(&b), &err), ERR_VALIDATION);
        assert_string_equal(err.msg, "nested more than 512 deep");
        assert_int_equal(json_scan_check(buf_str(&b), &err), ERR_OK);
    }
    assert_int_equal(json_scan_check_value(STR("[1"), &err), ERR_PARSE);
    assert_int_equal(json_scan_check_value(STR("1 2"), &err), ERR_PARSE);
    buf_deinit(&b);
}

static void depth__counts_what_was_entered_too(void **state)
{
    (void)state;
    struct buf b;
    struct json_value value;
    buf_init(&b, 1 << 20);
    nest(&b, LIMIT_JSON_DEPTH, false);
    struct json_scan s = json_scan_from(buf_str(&b));
    assert_true(json_scan_enter_array(&s));
    assert_true(json_scan_next_element(&s));
    assert_true(json_scan_value(&s, &value));
    assert_false(json_scan_next_element(&s));
    assert_true(json_scan_done(&s));

    buf_clear(&b);
    nest(&b, LIMIT_JSON_DEPTH + 1, false);
    s = json_scan_from(buf_str(&b));
    assert_true(json_scan_enter_array(&s));
    assert_true(json_scan_next_element(&s));
    assert_false(json_scan_value(&s, &value));
    buf_deinit(&b);
}

/* Strings are scanned eight bytes at a time, so test every length and every position of a special
 * sequence. */
static void string__ends_where_it_ends_at_every_length(void **state)
{
    (void)state;
    static const char *const special[] = {"\\n", "\u00e9", "\\u0041", "\U0001f600"};
    struct err err;
    for (size_t len = 0; len < 40; len++) {
        for (size_t at = 0; at <= len; at++) {
            for (size_t k = 0; k < COUNT_OF(special); k++) {
                struct str one = str_from_z(special[k]);
                size_t size = len + one.len + 2;
                char *text = malloc(size); /* exact size, to detect reads past the end */
                assert_non_null(text);
                memset(text, 'x', size);
                text[0] = '"';
                memcpy(text + 1 + at, one.ptr, one.len);
                text[size - 1] = '"';
                assert_int_equal(json_scan_check(str_from(text, size), &err), ERR_OK);
                assert_int_equal(json_scan_check(str_from(text, size - 1), &err), ERR_PARSE);
                text[1 + at] = '\x01';
                assert_int_equal(json_scan_check(str_from(text, size), &err), ERR_PARSE);
                free(text);
            }
        }
    }
}

static void first__ignores_what_stands_behind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum json_type type;
        const char *first;
    } rows[] = {
        {"{\"a\":1} trailing", JSON_TYPE_OBJECT, "{\"a\":1}"},
        {" [1]]]]", JSON_TYPE_ARRAY, "[1]"},
        {"12abc", JSON_TYPE_NUMBER, "12"},
        {"\"x\"\"y\"", JSON_TYPE_STRING, "\"x\""},
        {"true false", JSON_TYPE_BOOL, "true"},
        {"null", JSON_TYPE_NULL, "null"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        struct json_value value;
        struct err err;
        assert_int_equal(json_scan_first(str_from_z(rows[i].text), &value, &err), ERR_OK);
        assert_int_equal(value.type, rows[i].type);
        expect_str(value.text, str_from_z(rows[i].first));
    }
}

static void walk__goes_through_members_and_elements(void **state)
{
    (void)state;
    struct json_scan s =
        json_scan_from(STR(" { \"a\" : 1 , \"b\" : [ true , \"x\" ] , \"c\" : { } } "));
    struct json_value key, value;

    assert_true(json_scan_enter_object(&s));
    assert_true(json_scan_next_key(&s, &key));
    expect_str(key.text, STR("\"a\""));
    assert_true(json_scan_value(&s, &value));
    expect_str(value.text, STR("1"));

    assert_true(json_scan_next_key(&s, &key));
    expect_str(key.text, STR("\"b\""));
    assert_int_equal(json_scan_peek(&s), JSON_TYPE_ARRAY);
    assert_true(json_scan_enter_array(&s));
    assert_true(json_scan_next_element(&s));
    assert_true(json_scan_value(&s, &value));
    assert_int_equal(value.type, JSON_TYPE_BOOL);
    assert_true(json_scan_next_element(&s));
    assert_true(json_scan_value(&s, &value));
    assert_int_equal(value.type, JSON_TYPE_STRING);
    assert_false(json_scan_next_element(&s));

    assert_true(json_scan_next_key(&s, &key));
    assert_true(json_scan_enter_object(&s));
    assert_false(json_scan_next_key(&s, &key));
    assert_false(json_scan_next_key(&s, &key));
    assert_true(json_scan_done(&s));
}

static void walk__keeps_the_first_problem(void **state)
{
    (void)state;
    struct json_scan s = json_scan_from(STR("{\"a\":1 \"b\":2}"));
    struct json_value key, value;
    struct err err;

    assert_true(json_scan_enter_object(&s));
    assert_true(json_scan_next_key(&s, &key));
    assert_true(json_scan_value(&s, &value));
    assert_false(json_scan_next_key(&s, &key));
    assert_false(json_scan_next_key(&s, &key));
    assert_false(json_scan_next_element(&s));
    assert_false(json_scan_value(&s, &value));
    assert_false(json_scan_enter_array(&s));
    assert_int_equal(json_scan_peek(&s), JSON_TYPE_COUNT);
    assert_false(json_scan_done(&s));
    assert_int_equal(json_scan_err(&s, &err), ERR_PARSE);
    assert_string_equal(err.msg, "invalid JSON at byte 7: ',' or '}' expected");
}

static void walk__refuses_what_is_not_a_container_or_not_ended(void **state)
{
    (void)state;
    struct json_value value;
    struct json_scan s = json_scan_from(STR("[1"));
    assert_false(json_scan_enter_object(&s));

    s = json_scan_from(STR("[1"));
    assert_true(json_scan_enter_array(&s));
    assert_true(json_scan_next_element(&s));
    assert_true(json_scan_value(&s, &value));
    assert_false(json_scan_done(&s));

    s = json_scan_from(STR_EMPTY);
    assert_false(json_scan_enter_array(&s));
}

static void member__is_the_last_of_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *object;
        const char *name;
        const char *value; /* NULL: not found */
    } rows[] = {
        {"{\"a\":1,\"b\":2}", "b", "2"},
        {"{\"a\":1,\"a\":[2]}", "a", "[2]"},
        {"{\"a\":1,\"a\":null}", "a", "null"},
        {"{\"\\u0061\":3}", "a", "3"},
        {"{\"a\":{\"b\":1}}", "b", NULL},
        {"{\"ab\":1}", "a", NULL},
        {"{}", "a", NULL},
        {"[]", "a", NULL},
        {"7", "a", NULL},
        {"", "a", NULL},
        {"{\"a\":1", "a", NULL},
        {"{\"\":1}", "", "1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].object);
        struct json_value value;
        bool found = json_scan_member(str_from_z(rows[i].object), str_from_z(rows[i].name), &value);
        assert_int_equal(found, rows[i].value != NULL);
        if (found) {
            expect_str(value.text, str_from_z(rows[i].value));
        }
    }
}

static void members__are_found_in_one_pass(void **state)
{
    static const struct str names[] = {
        {.ptr = "a", .len = 1}, {.ptr = "b", .len = 1}, {.ptr = "c", .len = 1}};
    static const struct {
        const char *object;
        bool good, whole;
        const char *texts[COUNT_OF(names)];
    } rows[] = {
        {"{}", true, true, {"null", "null", "null"}},
        {"{\"b\":1,\"x\":{\"a\":2},\"a\":\"y\"}", true, true, {"\"y\"", "1", "null"}},
        {"{\"a\":1,\"a\":[2],\"c\":null} ", true, true, {"[2]", "null", "null"}},
        {"{\"\\u0063\":true}", true, true, {"null", "null", "true"}},
        {"{\"ab\":1,\"\":2}", true, true, {"null", "null", "null"}},
        {"{\"b\":1} x", true, false, {"null", "1", "null"}},
        {"{\"a\":1,", false, false, {NULL}},
        {"[]", false, false, {NULL}},
        {"", false, false, {NULL}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_value found[COUNT_OF(names)];
        ROW(rows[i].object);
        assert_int_equal(
            json_scan_members(str_from_z(rows[i].object), names, COUNT_OF(names), found),
            rows[i].good);
        for (size_t k = 0; k < COUNT_OF(names) && rows[i].good; k++) {
            expect_str(found[k].text, str_from_z(rows[i].texts[k]));
        }
        assert_int_equal(
            json_scan_whole_members(str_from_z(rows[i].object), names, COUNT_OF(names), found),
            rows[i].whole);
        for (size_t k = 0; k < COUNT_OF(names) && rows[i].whole; k++) {
            expect_str(found[k].text, str_from_z(rows[i].texts[k]));
        }
    }
}

TEST_GROUP(json_scan, cmocka_unit_test(check__accepts_what_rfc_8259_accepts),
           cmocka_unit_test(check__says_what_is_wrong_and_where),
           cmocka_unit_test(check__takes_a_zero_byte_for_neither_end_nor_space),
           cmocka_unit_test(check__limits_the_depth),
           cmocka_unit_test(check_value__has_a_lower_limit),
           cmocka_unit_test(depth__counts_what_was_entered_too),
           cmocka_unit_test(string__ends_where_it_ends_at_every_length),
           cmocka_unit_test(first__ignores_what_stands_behind),
           cmocka_unit_test(walk__goes_through_members_and_elements),
           cmocka_unit_test(walk__keeps_the_first_problem),
           cmocka_unit_test(walk__refuses_what_is_not_a_container_or_not_ended),
           cmocka_unit_test(member__is_the_last_of_its_name),
           cmocka_unit_test(members__are_found_in_one_pass));
