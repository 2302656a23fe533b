/*
 * payload_jq: the grammar and the meaning of each form (http-api.md 10.4).
 */
#include "view/view_jq.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "lib/expect.h"
#include "lib/test.h"

static void answers_as_the_contract_says(void **state)
{
    static const struct {
        const char *expression, *payload;
        bool match;
    } rows[] = {
        /* numbers */
        {".n == 5", "{\"n\":5}", true},
        {".n == 5", "{\"n\":5.0}", true},
        {".n == 5", "{\"n\":\"5\"}", false},
        {".n == 5", "{\"n\":null}", false},
        {".n == 5", "{}", false},
        {".n != 5", "{\"n\":6}", true},
        {".n != 5", "{\"n\":\"5\"}", true},
        {".n != 5", "{\"n\":null}", true},
        {".n != 5", "{}", false},
        {".n > 5", "{\"n\":5}", false},
        {".n > 5", "{\"n\":5.5}", true},
        {".n >= 5", "{\"n\":5}", true},
        {".n < -1.5", "{\"n\":-2}", true},
        {".n <= 1e3", "{\"n\":1000}", true},
        {".n > 5", "{\"n\":\"6\"}", false},
        {".n > 5", "{\"n\":true}", false},
        {".n == 9007199254740993", "{\"n\":9007199254740993}", true},
        {".n == 9007199254740993", "{\"n\":9007199254740992}", false},
        {".n == 0", "{\"n\":-0}", true},
        /* text */
        {".s == \"a\"", "{\"s\":\"a\"}", true},
        {".s == \"a\"", "{\"s\":\"A\"}", false},
        {".s == \"5\"", "{\"s\":5}", true},
        {".s != \"a\"", "{\"s\":\"b\"}", true},
        {".s != \"a\"", "{\"s\":null}", false},
        {".s != \"a\"", "{}", false},
        {".s < \"b\"", "{\"s\":\"a\"}", true},
        {".s > \"b\"", "{\"s\":\"ba\"}", true},
        {".s == \"\\u00e9\"", "{\"s\":\"\xc3\xa9\"}", true},
        {".s == \"q\\\"q\"", "{\"s\":\"q\\\"q\"}", true},
        {".s == \"\"", "{\"s\":\"\"}", true},
        /* booleans */
        {".b == true", "{\"b\":true}", true},
        {".b == true", "{\"b\":1}", false},
        {".b != true", "{\"b\":false}", true},
        {".b != true", "{\"b\":1}", false},
        {".b == false", "{}", false},
        /* null */
        {".x == null", "{}", true},
        {".x == null", "{\"x\":null}", true},
        {".x == null", "{\"x\":0}", false},
        {".x != null", "{\"x\":0}", true},
        {".x != null", "{}", false},
        {".x.y == null", "{\"x\":7}", true},
        {".x == null", "7", true},
        /* startswith: exact, and no wildcards */
        {".s | startswith(\"ab\")", "{\"s\":\"abc\"}", true},
        {".s | startswith(\"AB\")", "{\"s\":\"abc\"}", false},
        {".s | startswith(\"a%\")", "{\"s\":\"abc\"}", false},
        {".s|startswith( \"\" )", "{\"s\":\"abc\"}", true},
        {".s | startswith(\"a\")", "{}", false},
        {".s | startswith(\"12\")", "{\"s\":123}", true},
        {".s | startswith(\"a\\n\")", "{\"s\":\"a\\\\n\"}", true},
        /* contains */
        {".a | contains(\"x\")", "{\"a\":[\"y\",\"x\"]}", true},
        {".a | contains(\"x\")", "{\"a\":[\"xy\"]}", false},
        {".a | contains(\"1\")", "{\"a\":[1]}", true},
        {".a | contains(\"x\")", "{\"a\":{\"k\":\"x\"}}", true},
        {".a | contains(\"k\")", "{\"a\":{\"k\":\"x\"}}", false},
        {".a | contains(\"el\")", "{\"a\":\"hello\"}", true},
        {".a | contains(\"el\")", "{\"a\":5}", false},
        {".a | contains(\"x\")", "{}", false},
        {".a | contains(\"\")", "{\"a\":\"\"}", true},
        {".a | contains(\"\xc3\xa9\")", "{\"a\":[\"\\u00e9\"]}", true},
        /* length */
        {".a | length == 2", "{\"a\":[1,2]}", true},
        {".a | length > 2", "{\"a\":[1,2]}", false},
        {".a | length == 0", "{}", true},
        {".a | length == 0", "{\"a\":7}", true},
        {".a | length == 2", "{\"a\":\"h\xc3\xa9\"}", true},
        {".a | length == 1", "{\"a\":{\"k\":[1,2,3]}}", true},
        {".a|length>=1", "{\"a\":[[]]}", true},
        {".a | length < 1", "{\"a\":null}", true},
        /* paths */
        {".user.name == \"x\"", "{\"user\":{\"name\":\"x\"}}", true},
        {".a.b.c == 1", "{\"a\":{\"b\":{\"c\":1}}}", true},
        {".a.b == 1", "{\"a\":[{\"b\":1}]}", false},
        {".0 == 1", "{\"0\":1}", true},
        {".a == 2", "{\"a\":1,\"a\":2}", true},
        {"  .n==5  ", "{\"n\":5}", true},
        {".n ==\t5", "{\"n\":5}", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *a = arena_new(1 << 16);
        struct view_jq jq;
        struct err err;
        if (view_jq_parse(str_from_z(rows[i].expression), a, &jq, &err) != ERR_OK) {
            fail_msg("%s: %s", rows[i].expression, err.msg);
        }
        if (view_jq_matches(&jq, str_from_z(rows[i].payload)) != rows[i].match) {
            fail_msg("%s of %s", rows[i].expression, rows[i].payload);
        }
        arena_free(a);
    }
}

static void refuses_what_cannot_be_asked(void **state)
{
    static const char *const rows[] = {
        "",          " ",          ".n > null",  ".n <= null",
        ".b > true", ".b < false", ".n == \xff", ".n | startswith(\"\xff\")",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *a = arena_new(1 << 16);
        struct view_jq jq;
        struct err err = {0};
        if (view_jq_parse(str_from_z(rows[i]), a, &jq, &err) == ERR_OK) {
            fail_msg("accepted: %s", rows[i]);
        }
        assert_int_equal(err.code, ERR_VALIDATION);
        assert_string_equal(err.msg, "unsupported payload_jq expression");
        arena_free(a);
    }
}

static void takes_everything_else_for_a_program(void **state)
{
    static const char *const rows[] = {
        ".",
        "n == 5",
        ".n",
        ".n = 5",
        ".n ==",
        ".n == 5 and .m == 6",
        ".n == 5 .m",
        ".n == five",
        ".n == 05",
        ".n == 1e999",
        ".n == [1]",
        ".n == {}",
        ".n == 'x'",
        ".n == \"x",
        "..n == 5",
        ".n. == 5",
        ".a[0] == 5",
        ".a-b == 5",
        ".\"a\" == 5",
        ".n | startswith(\"a\"",
        ".n | startswith(a)",
        ".n | startswith(\"a\") == true",
        ".n | startswith (\"a\")",
        ".n | endswith(\"a\")",
        ".n | contains(\"a\"b\")",
        ".n | length",
        ".n | length == -1",
        ".n | length == 1.5",
        ".n | length == x",
        ".n | length == 99999999999999999999",
        ".n | .m == 5",
        ".n == 5; DROP TABLE jobs",
        ".n == 5 -- x",
        "') OR 1=1 --",
        ".\xc3\xa9 == 1",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *a = arena_new(1 << 16);
        struct view_jq jq;
        struct err err = {0};
        ROW(rows[i]);
        assert_int_equal(view_jq_parse(str_from_z(rows[i]), a, &jq, &err), ERR_OK);
        assert_int_equal(jq.kind, VIEW_JQ_PROGRAM);
        expect_str(jq.text, str_from_z(rows[i]));
        arena_free(a);
    }
}

static void refuses_expressions_that_are_too_long(void **state)
{
    size_t len = VIEW_JQ_BYTES_MAX + 1;
    char *text = malloc(len);
    struct arena *a = arena_new(1 << 16);
    struct view_jq jq;
    struct err err;
    (void)state;
    CHECK(text != NULL);
    memset(text, 'a', len);
    memcpy(text, ".", 1);
    memcpy(text + len - 5, " == 1", 5);
    assert_int_equal(view_jq_parse(str_from(text, len), a, &jq, &err), ERR_VALIDATION);
    arena_free(a);
    free(text);
}

static void deep_payloads_are_only_walked(void **state)
{
    enum { DEPTH = 500 };
    char text[4 * DEPTH + 16];
    char *p = text;
    struct arena *a = arena_new(1 << 16);
    struct view_jq jq;
    struct err err;
    (void)state;
    memcpy(p, "{\"a\":", 5);
    p += 5;
    memset(p, '[', DEPTH);
    memset(p + DEPTH, ']', DEPTH);
    p += (size_t)DEPTH * 2;
    memcpy(p, "}", 1);
    assert_int_equal(view_jq_parse(STR(".a | length == 1"), a, &jq, &err), ERR_OK);
    assert_true(view_jq_matches(&jq, str_from(text, (size_t)(p + 1 - text))));
    arena_free(a);
}

TEST_GROUP(view_jq, cmocka_unit_test(answers_as_the_contract_says),
           cmocka_unit_test(refuses_what_cannot_be_asked),
           cmocka_unit_test(takes_everything_else_for_a_program),
           cmocka_unit_test(refuses_expressions_that_are_too_long),
           cmocka_unit_test(deep_payloads_are_only_walked));
