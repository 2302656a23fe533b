#include "json/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/json_scan.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

static void write__puts_commas_and_colons(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    json_write_key(&w, STR("a"));
    json_write_i64(&w, -1);
    json_write_key(&w, STR("b"));
    json_write_array(&w);
    json_write_u64(&w, UINT64_MAX);
    json_write_bool(&w, true);
    json_write_bool(&w, false);
    json_write_null(&w);
    json_write_array(&w);
    json_write_end(&w);
    json_write_object(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_key(&w, STR("c"));
    json_write_raw(&w, STR("{\"x\":1.0}"));
    json_write_key(&w, STR("d"));
    json_write_str(&w, STR("text"));
    json_write_end(&w);
    json_write_finish(&w);
    expect_str(buf_str(&b), STR("{\"a\":-1,\"b\":[18446744073709551615,true,false,null,[],{}],"
                                "\"c\":{\"x\":1.0},\"d\":\"text\"}"));
    buf_deinit(&b);
}

static void write__escapes_what_must_be_and_mends_what_is_not_utf8(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        const char *json;
    } rows[] = {
        {{"", 0}, "\"\""},
        {{NULL, 0}, "\"\""},
        {{"plain text of more than eight bytes", 35}, "\"plain text of more than eight bytes\""},
        {{"\"\\/\b\f\n\r\t", 8}, "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {{"\0\x01\x1f\x7f", 4}, "\"\\u0000\\u0001\\u001f\x7f\""},
        {{"caf\u00e9 \U0001f600", 10}, "\"caf\u00e9 \U0001f600\""},
        {{"a\xff\xfe", 3}, "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {{"\xe2\x82", 2}, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].json);
        struct buf b;
        struct err err;
        buf_init(&b, 1024);
        struct json_write w = json_write_to(&b);
        json_write_str(&w, rows[i].text);
        json_write_finish(&w);
        expect_str(buf_str(&b), str_from_z(rows[i].json));
        assert_int_equal(json_scan_check(buf_str(&b), &err), ERR_OK);
        buf_deinit(&b);
    }
}

static void string__is_escaped_wherever_that_is_needed_at_every_length(void **state)
{
    (void)state;
    static const struct {
        char byte;
        const char *json;
    } rows[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\x1f', "\\u001f"}, {'\xff', "\xef\xbf\xbd"}};
    enum { LEN_MAX = 20 };
    for (size_t len = 1; len <= LEN_MAX; len++) {
        for (size_t i = 0; i < len * COUNT_OF(rows); i++) {
            const size_t at = i % len, row = i / len;
            char text[LEN_MAX];
            char want[LEN_MAX + 8];
            memset(text, 'x', len);
            text[at] = rows[row].byte;
            int n = snprintf(want, sizeof want, "\"%.*s%s%.*s\"", (int)at, text, rows[row].json,
                             (int)(len - at - 1), text + at + 1);
            struct buf b;
            buf_init(&b, sizeof want);
            struct json_write w = json_write_to(&b);
            json_write_str(&w, str_from(text, len));
            json_write_finish(&w);
            expect_str(buf_str(&b), str_from(want, (size_t)n));
            buf_deinit(&b);
        }
    }
}

static void i64__is_written_at_both_ends(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    struct json_write w = json_write_to(&b);
    json_write_array(&w);
    json_write_i64(&w, INT64_MIN);
    json_write_i64(&w, INT64_MAX);
    json_write_i64(&w, 0);
    json_write_u64(&w, 0);
    json_write_end(&w);
    expect_str(buf_str(&b), STR("[-9223372036854775808,9223372036854775807,0,0]"));
    buf_deinit(&b);
}

static void write_f64(struct buf *b, double v)
{
    buf_clear(b);
    struct json_write w = json_write_to(b);
    json_write_f64(&w, v);
    json_write_finish(&w);
}

static void f64__has_the_fewest_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *json;
    } rows[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {100.0, "100"},
        {123456.789, "123456.789"},
        {9007199254740993.0, "9007199254740992"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {1.5e300, "1.5e+300"},
        {0.000001, "0.000001"},
        {0.0000001, "1e-7"},
        {1.25e-9, "1.25e-9"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {HUGE_VAL, "null"},
        {-HUGE_VAL, "null"},
        {(double)NAN, "null"},
    };
    struct buf b;
    buf_init(&b, 1024);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].json);
        write_f64(&b, rows[i].value);
        expect_str(buf_str(&b), str_from_z(rows[i].json));
    }
    buf_deinit(&b);
}

static void f64__reads_back_as_it_was(void **state)
{
    (void)state;
    struct rng rng = rng_from(1);
    struct buf b;
    buf_init(&b, 1024);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&rng);
        double v, back;
        struct json_value value;
        struct err err;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v)) {
            continue;
        }
        write_f64(&b, v);
        assert_int_equal(json_scan_check(buf_str(&b), &err), ERR_OK);
        assert_int_equal(json_scan_first(buf_str(&b), &value, &err), ERR_OK);
        assert_true(json_value_f64(value, &back));
        assert_memory_equal(&v, &back, sizeof v);
    }
    buf_deinit(&b);
}

static void overflow__is_remembered(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 8);
    struct json_write w = json_write_to(&b);
    json_write_array(&w);
    for (unsigned i = 0; i < 100; i++) {
        json_write_i64(&w, i);
    }
    json_write_end(&w);
    json_write_finish(&w);
    assert_true(b.overflow);
    buf_deinit(&b);
}

static struct json_write broken(void)
{
    static struct buf b;
    buf_init(&b, 1024);
    return json_write_to(&b);
}

static void key_outside_of_an_object(void)
{
    struct json_write w = broken();
    json_write_array(&w);
    json_write_key(&w, STR("a"));
}

static void value_without_a_key(void)
{
    struct json_write w = broken();
    json_write_object(&w);
    json_write_null(&w);
}

static void two_keys(void)
{
    struct json_write w = broken();
    json_write_object(&w);
    json_write_key(&w, STR("a"));
    json_write_key(&w, STR("b"));
}

static void key_without_a_value(void)
{
    struct json_write w = broken();
    json_write_object(&w);
    json_write_key(&w, STR("a"));
    json_write_end(&w);
}

static void end_without_a_begin(void)
{
    struct json_write w = broken();
    json_write_end(&w);
}

static void two_values(void)
{
    struct json_write w = broken();
    json_write_null(&w);
    json_write_null(&w);
}

static void finish_too_early(void)
{
    struct json_write w = broken();
    json_write_array(&w);
    json_write_finish(&w);
}

static void nothing_raw(void)
{
    struct json_write w = broken();
    json_write_raw(&w, STR_EMPTY);
}

static void too_deep(void)
{
    struct json_write w = broken();
    for (unsigned i = 0; i <= JSON_WRITE_DEPTH_MAX; i++) {
        json_write_array(&w);
    }
}

static void misuse__stops_the_process(void **state)
{
    (void)state;
    static void (*const rows[])(void) = {
        key_outside_of_an_object, value_without_a_key, two_keys,
        key_without_a_value,      end_without_a_begin, two_values,
        finish_too_early,         nothing_raw,         too_deep,
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_abort(rows[i]);
    }
}

TEST_GROUP(json_write, cmocka_unit_test(write__puts_commas_and_colons),
           cmocka_unit_test(write__escapes_what_must_be_and_mends_what_is_not_utf8),
           cmocka_unit_test(string__is_escaped_wherever_that_is_needed_at_every_length),
           cmocka_unit_test(i64__is_written_at_both_ends),
           cmocka_unit_test(f64__has_the_fewest_digits),
           cmocka_unit_test(f64__reads_back_as_it_was), cmocka_unit_test(overflow__is_remembered),
           cmocka_unit_test(misuse__stops_the_process));
