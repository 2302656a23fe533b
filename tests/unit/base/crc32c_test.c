#include "base/crc32c.h"

#include <string.h>

#include "lib/rng.h"
#include "lib/test.h"

static const struct {
    const char *name;
    uint32_t crc;
} rows[] = {
    {"nothing", 0},           {"123456789", 0xe3069283},
    {"32 zeros", 0x8a9136aa}, {"32 times 0xff", 0x62a8ab43},
    {"0 to 31", 0x46dd794e},  {"31 to 0", 0x113fdb5c},
};

/* Write the bytes of row n, which are the examples of RFC 3720, B.4. */
static size_t example(size_t n, uint8_t out[static 32])
{
    static const size_t sizes[] = {0, 9, 32, 32, 32, 32};
    for (size_t i = 0; i < sizes[n]; i++) {
        const uint8_t bytes[] = {0, (uint8_t)('1' + i), 0, 0xff, (uint8_t)i, (uint8_t)(31 - i)};
        out[i] = bytes[n];
    }
    return sizes[n];
}

static void crc__is_that_of_the_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        uint8_t bytes[32];
        size_t n = example(i, bytes);
        assert_int_equal(crc32c_update(0, bytes, n), rows[i].crc);
        assert_int_equal(crc32c_update_software(0, bytes, n), rows[i].crc);
    }
}

static void crc__is_the_same_in_pieces_and_without_the_instruction(void **state)
{
    (void)state;
    struct rng rng = rng_from(1);
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)rng_next(&rng);
    }
    for (unsigned i = 0; i < 500; i++) {
        size_t begin = rng_below(&rng, 16), n = rng_below(&rng, sizeof bytes - begin + 1);
        size_t cut = rng_below(&rng, n + 1);
        uint32_t whole = crc32c_update(0, bytes + begin, n);
        uint32_t pieces = crc32c_update(0, bytes + begin, cut);
        pieces = crc32c_update(pieces, bytes + begin + cut, n - cut);
        assert_int_equal(pieces, whole);
        assert_int_equal(crc32c_update_software(0, bytes + begin, n), whole);
    }
}

static void crc__finds_every_single_flipped_bit(void **state)
{
    (void)state;
    uint8_t bytes[32];
    size_t n = example(4, bytes);
    for (size_t bit = 0; bit < n * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_not_equal(crc32c_update(0, bytes, n), rows[4].crc);
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

TEST_GROUP(crc32c, cmocka_unit_test(crc__is_that_of_the_examples),
           cmocka_unit_test(crc__is_the_same_in_pieces_and_without_the_instruction),
           cmocka_unit_test(crc__finds_every_single_flipped_bit));
