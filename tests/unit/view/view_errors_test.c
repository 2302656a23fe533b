#include "view/view_errors.h"

#include "base/buf.h"
#include "lib/expect.h"
#include "lib/test.h"

static void patterns__have_no_numbers_ids_addresses_and_paths(void **state)
{
    static const struct {
        const char *error, *pattern;
    } rows[] = {
        {"timeout after 30s", "timeout after #s"},
        {"timeout after 31.5s\n  at send (mail.js:42)", "timeout after #s"},
        {"user 4711 not found", "user # not found"},
        {"job job_01jcz0v5h8e9rk7w2n4m6p8q0s failed", "job <id> failed"},
        {"order 550e8400-e29b-41d4-a716-446655440000: gone", "order <id>: gone"},
        {"open /var/lib/app/7.db: no such file", "open <path>: no such file"},
        {"connect 10.0.0.7:5432: refused", "connect <address>: refused"},
        {"mailbox \"ada@example.org\" is full", "mailbox \"<address>\" is full"},
        {"GET https://api.example.org/v1/x?y=2: 502", "GET <url>?y=#: #"},
        {"feedback", "feedback"}, /* hexadecimal digits, but a word */
        {"deadbeef01", "<id>"},
        {"  \n", ""},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].error);
        buf_init(&b, VIEW_ERRORS_PATTERN_MAX);
        (void)view_errors_mark(str_from_z(rows[i].error), &b);
        expect_str(buf_str(&b), str_from_z(rows[i].pattern));
        buf_deinit(&b);
    }
}

static void fingerprints__are_those_of_the_patterns(void **state)
{
    char text[VIEW_ERRORS_MARK_TEXT];
    int64_t mark = view_errors_mark(STR("user 1 not found"), NULL);
    int64_t back = 0;
    (void)state;
    assert_true(mark == view_errors_mark(STR("user 22 not found"), NULL));
    assert_true(mark != view_errors_mark(STR("user 1 not here"), NULL));
    view_errors_format(mark, text);
    assert_true(view_errors_parse(str_from(text, sizeof text), &back));
    assert_true(back == mark);
    assert_false(view_errors_parse(STR("0123"), &back));
    assert_false(view_errors_parse(STR("0123456789abcdeg"), &back));
    /* A text that is longer than any pattern. */
    char *large = malloc(1 << 20);
    assert_non_null(large);
    memset(large, 'x', 1 << 20);
    (void)view_errors_mark(str_from(large, 1 << 20), NULL);
    free(large);
}

TEST_GROUP(view_errors, cmocka_unit_test(patterns__have_no_numbers_ids_addresses_and_paths),
           cmocka_unit_test(fingerprints__are_those_of_the_patterns));
