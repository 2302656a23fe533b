#include "http/http_field.h"

#include <stdint.h>

#include "lib/expect.h"
#include "lib/test.h"

static bool may_stand_in_a_value(unsigned byte)
{
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

static bool may_stand_in_a_token(unsigned byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') ||
           (byte != 0 && strchr("!#$%&'*+-.^_`|~", (int)byte) != NULL);
}

static bool may_stand_in_a_target(unsigned byte)
{
    return byte > 0x20 && byte != 0x7f && byte != '#';
}

enum { TEXT_MAX = 18 };

/* Call fn with every byte at every position of texts of every length, because the tested functions
 * read eight bytes at a time. */
static void with_every_byte_everywhere(void (*fn)(struct str text, size_t at))
{
    for (size_t len = 1; len <= TEXT_MAX; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
                char text[TEXT_MAX];
                memset(text, 'x', len);
                text[at] = (char)byte;
                fn(str_from(text, len), at);
            }
        }
    }
}

static void expect_lengths(struct str text, size_t at)
{
    static const struct {
        size_t (*len)(struct str s);
        bool (*may_stand)(unsigned byte);
    } rows[] = {
        {http_field_value_len, may_stand_in_a_value},
        {http_field_token_len, may_stand_in_a_token},
        {http_field_target_len, may_stand_in_a_target},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool whole = rows[i].may_stand((unsigned char)text.ptr[at]);
        assert_int_equal(rows[i].len(text), whole ? text.len : at);
        assert_int_equal(rows[i].len(STR_EMPTY), 0);
    }
}

static void lengths__end_before_the_first_byte_of_another_kind(void **state)
{
    (void)state;
    with_every_byte_everywhere(expect_lengths);
}

static void copy__has_spaces_for_control_bytes(void **state)
{
    (void)state;
    static const struct {
        struct str value;
        const char *copy;
    } rows[] = {
        {{NULL, 0}, ""},
        {{"a", 1}, "a"},
        {{"text/plain; charset=utf-8", 25}, "text/plain; charset=utf-8"},
        {{"a\r\nb: c", 7}, "a  b: c"},
        {{"\0ten bytes\x7f", 11}, " ten bytes "},
        {{"tabs\tstay\tas they are", 21}, "tabs\tstay\tas they are"},
        {{"caf\xc3\xa9 \x01 and more", 16}, "caf\xc3\xa9   and more"},
        {{"\n", 1}, " "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].copy);
        char out[32];
        memset(out, '!', sizeof out);
        http_field_copy_value(out, rows[i].value);
        expect_str(str_from(out, rows[i].value.len), str_from_z(rows[i].copy));
        assert_int_equal(out[rows[i].value.len], '!');
    }
}

static void expect_copy(struct str text, size_t at)
{
    char want[TEXT_MAX], out[TEXT_MAX];
    memcpy(want, text.ptr, text.len);
    if (!may_stand_in_a_value((unsigned char)text.ptr[at])) {
        want[at] = ' ';
    }
    http_field_copy_value(out, text);
    assert_memory_equal(out, want, text.len);
}

static void copy__changes_control_bytes_wherever_they_stand(void **state)
{
    (void)state;
    with_every_byte_everywhere(expect_copy);
}

static void name__is_known_in_any_case_and_at_any_length(void **state)
{
    (void)state;
    static const struct str lower = {"http2-settings-and-more", 23};
    for (size_t len = 1; len <= lower.len; len++) {
        char name[32];
        for (size_t i = 0; i < len; i++) {
            bool letter = lower.ptr[i] >= 'a';
            name[i] = (char)(letter && i % 2 == 0 ? lower.ptr[i] - 'a' + 'A' : lower.ptr[i]);
        }
        assert_true(http_field_is(str_from(name, len), str_from(lower.ptr, len)));
        assert_false(http_field_is(str_from(name, len), str_from(lower.ptr, len - 1)));
        for (size_t at = 0; at < len; at++) {
            char was = name[at];
            name[at] = '!';
            assert_false(http_field_is(str_from(name, len), str_from(lower.ptr, len)));
            name[at] = was;
        }
    }
}

static void list__is_searched_word_by_word_without_case(void **state)
{
    (void)state;
    assert_true(http_field_list_has(STR("Keep-Alive, CLOSE"), STR("close")));
    assert_true(http_field_list_has(STR("close"), STR("close")));
    assert_false(http_field_list_has(STR("closed, clos, c lose"), STR("close")));
    assert_false(http_field_list_has(STR_EMPTY, STR("close")));
    /* They differ only in the bit that distinguishes lower case, but are not letters. */
    assert_false(http_field_list_has(STR("a@b"), STR("a`b")));
}

TEST_GROUP(http_field, cmocka_unit_test(lengths__end_before_the_first_byte_of_another_kind),
           cmocka_unit_test(copy__has_spaces_for_control_bytes),
           cmocka_unit_test(copy__changes_control_bytes_wherever_they_stand),
           cmocka_unit_test(name__is_known_in_any_case_and_at_any_length),
           cmocka_unit_test(list__is_searched_word_by_word_without_case));
