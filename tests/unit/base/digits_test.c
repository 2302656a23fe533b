#include "base/digits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "lib/test.h"

static const uint64_t numbers[] = {0,
                                   1,
                                   9,
                                   10,
                                   15,
                                   16,
                                   99,
                                   100,
                                   255,
                                   256,
                                   4294967295,
                                   4294967296,
                                   UINT64_C(1) << 60,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};

static void digits_put__writes_what_printf_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char expected[32];
        char room[DIGITS_MAX + 1] = "";
        (void)snprintf(expected, sizeof expected, "%" PRIu64, numbers[i]);
        *digits_put(room, numbers[i]) = '\0';
        assert_string_equal(room, expected);
        (void)snprintf(expected, sizeof expected, "%" PRIx64, numbers[i]);
        *digits_put_hex(room, numbers[i]) = '\0';
        assert_string_equal(room, expected);
    }
}

static void digits_put_padded__keeps_the_last_digits(void **state)
{
    (void)state;
    char room[DIGITS_MAX + 1] = "";
    *digits_put_padded(room, 1234567, 3) = '\0';
    assert_string_equal(room, "567");
    *digits_put_padded(room, 7, 3) = '\0';
    assert_string_equal(room, "007");
    *digits_put_padded(room, 1234567, 4) = '\0';
    assert_string_equal(room, "4567");
    *digits_put_padded(room, 90071, 1) = '\0';
    assert_string_equal(room, "1");
}

static void digits_put_hex_word__writes_all_eight(void **state)
{
    (void)state;
    char room[9] = "";
    digits_put_hex_word(room, 0x0ab);
    assert_string_equal(room, "000000ab");
    digits_put_hex_word(room, UINT32_MAX);
    assert_string_equal(room, "ffffffff");
}

TEST_GROUP(digits, cmocka_unit_test(digits_put__writes_what_printf_writes),
           cmocka_unit_test(digits_put_hex_word__writes_all_eight),
           cmocka_unit_test(digits_put_padded__keeps_the_last_digits));
