#include "base/hex.h"

#include <stdint.h>

#include "lib/test.h"

static void write__is_read_back(void **state)
{
    (void)state;
    uint8_t bytes[256], read[256];
    char text[2 * sizeof bytes];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    assert_ptr_equal(hex_write(text, bytes, sizeof bytes), text + sizeof text);
    assert_true(hex_read(str_from(text, sizeof text), read, sizeof read));
    assert_memory_equal(read, bytes, sizeof bytes);
    assert_memory_equal(text + (size_t)2 * 0xab, "abacad", 6);
}

static void read__takes_pairs_of_lower_case_digits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"00ff", true},
        {"", false},
        {"00f", false},
        {"00ff0", false},
        {"00ff00", false},
        {"00FF", false},
        {"00fg", false},
        {"00f/", false},
        {"00f:", false},
        {"00f`", false},
        {" 0ff", false},
        {"0x0f", false},
        {"ffff", true},
        {"\xff"
         "0ff",
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t out[2];
        ROW(rows[i].text);
        assert_int_equal(hex_read(str_from_z(rows[i].text), out, sizeof out), rows[i].valid);
    }
    assert_true(hex_read(STR_EMPTY, NULL, 0));
}

TEST_GROUP(hex, cmocka_unit_test(write__is_read_back),
           cmocka_unit_test(read__takes_pairs_of_lower_case_digits));
