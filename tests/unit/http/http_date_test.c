#include "http/http_date.h"

#include "lib/expect.h"
#include "lib/test.h"

static void format__is_that_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } rows[] = {
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {1798761599, "Thu, 31 Dec 2026 23:59:59 GMT"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        char text[HTTP_DATE_LEN];
        http_date_format(rows[i].seconds, text);
        expect_str(str_from(text, sizeof text), str_from_z(rows[i].text));
    }
}

/* The text is rewritten when its second is over, and not before. */
static void now__is_written_once_a_second(void **state)
{
    (void)state;
    struct http_date d = {0};
    struct str text = http_date_now(&d, 5000);
    assert_in_range(d.until_ms, 5001, 6000);
    d.text[0] = 'x';
    (void)http_date_now(&d, d.until_ms - 1);
    assert_int_equal(text.ptr[0], 'x');
    (void)http_date_now(&d, d.until_ms);
    assert_int_not_equal(text.ptr[0], 'x');
}

TEST_GROUP(http_date, cmocka_unit_test(format__is_that_of_the_rfc),
           cmocka_unit_test(now__is_written_once_a_second));
