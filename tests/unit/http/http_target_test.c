#include "http/http_target.h"

#include "base/buf.h"
#include "lib/test.h"

static void http_target_split__takes_a_target_apart(void **state)
{
    (void)state;
    /* clang-format off */
    static const struct {
        const char *target;
        const char *path_raw, *path, *query; /* path_raw NULL: refused */
    } rows[] = {
        {"/",                       "/",         "/",        ""},
        {"/a/b",                    "/a/b",      "/a/b",     ""},
        {"/a?b=c",                  "/a",        "/a",       "b=c"},
        {"/a?",                     "/a",        "/a",       ""},
        {"/a?b?c",                  "/a",        "/a",       "b?c"},
        {"/a%2Fb%20c",              "/a%2Fb%20c", "/a/b c",  ""},
        {"/%e4%BD",                 "/%e4%BD",   "/\xe4\xbd", ""},
        {"/a%252F",                 "/a%252F",   "/a%2F",    ""}, /* decoded once */
        {"/a+b",                    "/a+b",      "/a+b",     ""},
        {"*",                       "*",         "*",        ""},
        {"http://h/p?q",            "/p",        "/p",       "q"},
        {"https://h:1",             "/",         "/",        ""},
        {"http://h?q",              "/",         "/",        "q"},
        {"HTTP://h/p",              "/p",        "/p",       ""},
        {"/a%",                     NULL, NULL, NULL},
        {"/a%2",                    NULL, NULL, NULL},
        {"/a%zz",                   NULL, NULL, NULL},
        {"/a%00b",                  NULL, NULL, NULL},
        {"",                        NULL, NULL, NULL},
        {"a",                       NULL, NULL, NULL},
        {"ftp://h/p",               NULL, NULL, NULL},
        {"http://",                 NULL, NULL, NULL},
        {"http:///p",               NULL, NULL, NULL},
        {"http://?q",               NULL, NULL, NULL},
    };
    /* clang-format on */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ATTR_CLEANUP(arena_freep) struct arena *arena = arena_new(1000);
        struct http_target got;
        struct str path;
        bool ok = http_target_split(str_from_z(rows[i].target), &got) &&
                  http_target_decode(arena, got.path_raw, &path);
        if (ok != (rows[i].path_raw != NULL) ||
            (ok && (!str_eq(got.path_raw, str_from_z(rows[i].path_raw)) ||
                    !str_eq(path, str_from_z(rows[i].path)) ||
                    !str_eq(got.query, str_from_z(rows[i].query))))) {
            ROW(rows[i].target);
            fail();
        }
    }
}

static void http_target_params__decodes_names_and_values(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        const char *said;
    } rows[] = {
        {"", ""},
        {"a=b", "[a=b]"},
        {"a", "[a=]"},
        {"a=&b", "[a=][b=]"},
        {"a=b=c", "[a=b=c]"},
        {"&&a=1&&b=2&", "[a=1][b=2]"},
        {"q=a+b%2Bc", "[q=a b+c]"},
        {"%61=%zz%", "[a=%zz%]"},
        {"a=1&a=2", "[a=1][a=2]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ATTR_CLEANUP(arena_freep) struct arena *arena = arena_new(100000);
        size_t count;
        const struct http_param *params =
            http_target_params(arena, str_from_z(rows[i].query), &count);
        struct buf said;
        buf_init(&said, 1000);
        for (size_t p = 0; p < count; p++) {
            buf_printf(&said, "[" STR_FMT "=" STR_FMT "]", STR_ARG(params[p].name),
                       STR_ARG(params[p].value));
        }
        if (!str_eq(buf_str(&said), str_from_z(rows[i].said))) {
            ROW(rows[i].query);
            fail();
        }
        buf_deinit(&said);
    }
}

static void http_target_params__stops_at_its_limit(void **state)
{
    (void)state;
    ATTR_CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
    struct buf query;
    buf_init(&query, 10000);
    for (unsigned i = 0; i < HTTP_TARGET_PARAMS_MAX + 10; i++) {
        buf_printf(&query, "a=%u&", i);
    }
    size_t count;
    (void)http_target_params(arena, buf_str(&query), &count);
    assert_int_equal(count, HTTP_TARGET_PARAMS_MAX);
    buf_deinit(&query);
}

static void http_target_params__says_nothing_when_the_arena_is_full(void **state)
{
    (void)state;
    ATTR_CLEANUP(arena_freep) struct arena *arena = arena_new(8);
    size_t count = 1;
    assert_null(http_target_params(arena, STR("a=b&c=d"), &count));
    assert_int_equal(count, 0);
}

TEST_GROUP(http_target, cmocka_unit_test(http_target_split__takes_a_target_apart),
           cmocka_unit_test(http_target_params__decodes_names_and_values),
           cmocka_unit_test(http_target_params__stops_at_its_limit),
           cmocka_unit_test(http_target_params__says_nothing_when_the_arena_is_full));
