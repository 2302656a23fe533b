/*
 * The headers that the server needs have numbers, which are found by name in any letter case.
 */
#include "http/http_known.h"

#include <ctype.h>
#include <string.h>

#include "lib/expect.h"
#include "lib/test.h"

static void known__every_one_is_found_in_any_case(void **state)
{
    (void)state;
    for (unsigned i = HTTP_KNOWN_NONE + 1; i < HTTP_KNOWN_COUNT; i++) {
        struct str name = http_known_name((enum http_known)i);
        char other[64];
        ROW(name.ptr);
        assert_int_equal(http_known_of(name), i);
        for (size_t k = 0; k < name.len; k++) {
            other[k] = (char)(k % 2 == 0 ? toupper(name.ptr[k]) : name.ptr[k]);
        }
        assert_int_equal(http_known_of(str_from(other, name.len)), i);
    }
}

static void known__nothing_else_is(void **state)
{
    (void)state;
    for (unsigned i = HTTP_KNOWN_NONE + 1; i < HTTP_KNOWN_COUNT; i++) {
        struct str name = http_known_name((enum http_known)i);
        char other[64];
        ROW(name.ptr);
        for (size_t k = 0; k < name.len; k++) {
            memcpy(other, name.ptr, name.len);
            other[k] = '!';
            assert_int_equal(http_known_of(str_from(other, name.len)), HTTP_KNOWN_NONE);
        }
        memcpy(other, name.ptr, name.len);
        other[name.len] = 's';
        assert_int_equal(http_known_of(str_from(other, name.len + 1)), HTTP_KNOWN_NONE);
        assert_int_equal(http_known_of(str_from(name.ptr, name.len - 1)), HTTP_KNOWN_NONE);
    }
    assert_int_equal(http_known_of(STR("")), HTTP_KNOWN_NONE);
    assert_int_equal(http_known_of(STR("x")), HTTP_KNOWN_NONE);
}

static void slots__have_the_first_row(void **state)
{
    (void)state;
    struct http_known_slots slots = {0};
    http_known_note(&slots, HTTP_KNOWN_COOKIE, 3);
    http_known_note(&slots, HTTP_KNOWN_COOKIE, 5);
    http_known_note(&slots, HTTP_KNOWN_HOST, 0);
    assert_int_equal(slots.row[HTTP_KNOWN_COOKIE], 4);
    assert_int_equal(slots.row[HTTP_KNOWN_HOST], 1);
    assert_int_equal(slots.row[HTTP_KNOWN_ORIGIN], 0);
}

TEST_GROUP(http_known, cmocka_unit_test(known__every_one_is_found_in_any_case),
           cmocka_unit_test(known__nothing_else_is), cmocka_unit_test(slots__have_the_first_row));
