#include "json/json_object.h"

#include "lib/expect.h"
#include "lib/test.h"

static const struct json_object_pair pairs[] = {
    {.key = {"previous_job_id", 15}, .value = {"\"job_1\"", 7}},
    {.key = {"previous_result", 15}, .value = {"{ \"pages\": 3 }", 14}},
};

static void override__puts_the_values_of_the_object_in_place(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *object;
        const char *result;
    } rows[] = {
        {"no object", "", "{\"previous_job_id\":\"job_1\",\"previous_result\":{\"pages\":3}}"},
        {"not an object", "[1]",
         "{\"previous_job_id\":\"job_1\",\"previous_result\":{\"pages\":3}}"},
        {"empty object", " { } ",
         "{\"previous_job_id\":\"job_1\",\"previous_result\":{\"pages\":3}}"},
        {"new keys come behind, in order", "{\"z\": 1, \"a\": [ 2 ]}",
         "{\"previous_job_id\":\"job_1\",\"previous_result\":{\"pages\":3},\"z\":1,\"a\":[2]}"},
        {"a value is replaced in place", "{\"x\":1,\"previous_job_id\":null}",
         "{\"previous_job_id\":null,\"previous_result\":{\"pages\":3},\"x\":1}"},
        {"the last of a repeated key wins", "{\"previous_result\":1,\"previous_result\":2}",
         "{\"previous_job_id\":\"job_1\",\"previous_result\":2}"},
        {"keys are compared decoded", "{\"previous_job_i\\u0064\":0}",
         "{\"previous_job_id\":0,\"previous_result\":{\"pages\":3}}"},
        {"numbers and repeated new keys stay as they are", "{\"n\":1.50e1,\"n\":2}",
         "{\"previous_job_id\":\"job_1\",\"previous_result\":{\"pages\":3},\"n\":1.50e1,\"n\":2}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct buf b;
        buf_init(&b, 1024);
        json_object_override(&b, pairs, COUNT_OF(pairs), str_from_z(rows[i].object));
        expect_str(buf_str(&b), str_from_z(rows[i].result));
        buf_deinit(&b);
    }
}

static void override__without_pairs_is_the_object(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1024);
    json_object_override(&b, NULL, 0, STR("{ \"a\" : 1 }"));
    json_object_override(&b, NULL, 0, STR("null"));
    expect_str(buf_str(&b), STR("{\"a\":1}{}"));
    buf_deinit(&b);
}

static void override__escapes_the_keys_of_pairs(void **state)
{
    (void)state;
    static const struct json_object_pair odd[] = {{.key = {"a\"b", 3}, .value = {"1", 1}}};
    struct buf b;
    buf_init(&b, 1024);
    json_object_override(&b, odd, COUNT_OF(odd), STR_EMPTY);
    json_object_override(&b, odd, COUNT_OF(odd), STR("{\"a\\\"b\":2}"));
    expect_str(buf_str(&b), STR("{\"a\\\"b\":1}{\"a\\\"b\":2}"));
    buf_deinit(&b);
}

static void complete__adds_only_what_is_missing(void **state)
{
    (void)state;
    static const struct json_object_pair batch[] = {
        {.key = {"batch", 5}, .value = {"{\"total\":2}", 11}},
    };
    static const struct {
        const char *object;
        const char *result;
    } rows[] = {
        {"", "{\"batch\":{\"total\":2}}"},
        {"{}", "{\"batch\":{\"total\":2}}"},
        {"{ \"a\": 1 }", "{\"a\":1,\"batch\":{\"total\":2}}"},
        {"{\"batch\":7,\"a\":1}", "{\"batch\":7,\"a\":1}"},
        {"{\"batch\":null}", "{\"batch\":null}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].object);
        struct buf b;
        buf_init(&b, 1024);
        json_object_complete(&b, str_from_z(rows[i].object), batch, COUNT_OF(batch));
        expect_str(buf_str(&b), str_from_z(rows[i].result));
        buf_deinit(&b);
    }
}

static void overflow__is_remembered(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 10);
    json_object_override(&b, pairs, COUNT_OF(pairs), STR_EMPTY);
    assert_true(b.overflow);
    buf_deinit(&b);
}

TEST_GROUP(json_object, cmocka_unit_test(override__puts_the_values_of_the_object_in_place),
           cmocka_unit_test(override__without_pairs_is_the_object),
           cmocka_unit_test(override__escapes_the_keys_of_pairs),
           cmocka_unit_test(complete__adds_only_what_is_missing),
           cmocka_unit_test(overflow__is_remembered));
