#include "core/queue_name.h"

#include "base/limits.h"
#include "lib/expect.h"
#include "lib/test.h"

static void queue_name__of_a_namespace_is_visible_to_it_and_to_the_default_one(void **state)
{
    (void)state;
    static const struct {
        struct str ns, internal, visible;
        bool is_visible;
    } rows[] = {
        {{"", 0}, {"mail", 4}, {"mail", 4}, true},
        {{"", 0}, {"acme::mail", 10}, {"acme::mail", 10}, true},
        {{"acme", 4}, {"acme::mail", 10}, {"mail", 4}, true},
        {{"acme", 4}, {"acme:mail", 9}, {"acme:mail", 9}, false},
        {{"acme", 4}, {"acm::mail", 9}, {"acm::mail", 9}, false},
        {{"acme", 4}, {"acme", 4}, {"acme", 4}, false},
        {{"acme", 4}, {"mail", 4}, {"mail", 4}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].internal.ptr);
        assert_int_equal(queue_name_is_visible(rows[i].ns, rows[i].internal), rows[i].is_visible);
        expect_str(queue_name_visible(rows[i].ns, rows[i].internal), rows[i].visible);
    }
}

static void queue_name__has_a_home(void **state)
{
    (void)state;
    static const struct {
        struct str internal, home;
    } rows[] = {
        {{"mail", 4}, {"", 0}},
        {{"acme::mail", 10}, {"acme", 4}},
        {{"acme::b::c", 10}, {"acme", 4}},
        {{"acme::", 6}, {"", 0}},
        {{"default::mail", 13}, {"", 0}},
        {{"UP::mail", 8}, {"", 0}},
        {{"::mail", 6}, {"", 0}},
        {{"", 0}, {"", 0}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].internal.ptr);
        expect_str(queue_name_home(rows[i].internal), rows[i].home);
    }
}

static void queue_name__internal_has_the_namespace_in_front(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 64);
    queue_name_add_internal(&b, STR_EMPTY, STR("mail"));
    expect_str(buf_str(&b), STR("mail"));
    assert_false(queue_name_has_mark(buf_str(&b)));
    buf_clear(&b);
    queue_name_add_internal(&b, STR("acme"), STR("mail"));
    expect_str(buf_str(&b), STR("acme::mail"));
    assert_true(queue_name_has_mark(buf_str(&b)));
    assert_false(queue_name_has_mark(STR_EMPTY));
    assert_false(queue_name_has_mark(STR("a:b:")));
    buf_deinit(&b);
}

static void namespace__has_letters_digits_and_inner_hyphens(void **state)
{
    (void)state;
    char longest[LIMIT_NAMESPACE_BYTES + 1];
    static const struct {
        const char *name;
        bool good;
    } rows[] = {
        {"a", true},     {"9", true},    {"team-7", true}, {"a--b", true},      {"", false},
        {"-a", false},   {"a-", false},  {"-", false},     {"Team", false},     {"a_b", false},
        {"a::b", false}, {"a.b", false}, {"a b", false},   {"\xc3\xa4", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(queue_name_is_namespace(str_from_z(rows[i].name)), rows[i].good);
    }
    memset(longest, 'a', sizeof longest);
    assert_true(queue_name_is_namespace(str_from(longest, LIMIT_NAMESPACE_BYTES)));
    assert_false(queue_name_is_namespace(str_from(longest, sizeof longest)));
}

TEST_GROUP(queue_name,
           cmocka_unit_test(queue_name__of_a_namespace_is_visible_to_it_and_to_the_default_one),
           cmocka_unit_test(queue_name__has_a_home),
           cmocka_unit_test(queue_name__internal_has_the_namespace_in_front),
           cmocka_unit_test(namespace__has_letters_digits_and_inner_hyphens));
