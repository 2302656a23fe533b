#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

#include "lib/test.h"

/* Nodes of different versions compare these, so they never change. */
static void hash__is_fixed_for_ever(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        const char *bytes;
        uint64_t hash;
    } rows[] = {
        {0, "", 0x3da4588b8c08334fU},
        {1, "", 0x98a68d189a999cb7U},
        {0, "a", 0xceac2042a9436088U},
        {0, "12345678", 0x75e4576fa3f41cbfU},
        {0, "123456789", 0x8a2f46e68a9ad354U},
        {7, "the quick brown fox jumps over the lazy dog", 0xd1723a81698ebb3fU},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].bytes);
        uint64_t hash = hash_bytes(rows[i].seed, rows[i].bytes, strlen(rows[i].bytes));
        if (hash != rows[i].hash) {
            fail_msg("got 0x%016" PRIx64, hash);
        }
    }
}

/* Each length has a different code path for the last bytes. */
static void hash__is_fixed_for_every_length(void **state)
{
    (void)state;
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 37 + 11);
    }
    uint64_t hash = 0;
    for (size_t n = 0; n <= sizeof bytes; n++) {
        hash = hash_bytes(hash, bytes + sizeof bytes - n, n);
    }
    assert_true(hash == 0x9e3f25fdd2db2ea0U);
}

static void hash__tells_lengths_and_zero_bytes_apart(void **state)
{
    (void)state;
    static const char zeros[64];
    for (size_t a = 0; a < sizeof zeros; a++) {
        for (size_t b = 0; b < a; b++) {
            assert_true(hash_bytes(0, zeros, a) != hash_bytes(0, zeros, b));
        }
    }
}

static void hash__depends_on_every_bit_and_on_the_seed(void **state)
{
    (void)state;
    uint8_t bytes[21] = {0};
    uint64_t before = hash_bytes(0, bytes, sizeof bytes);
    assert_true(before != hash_bytes(1, bytes, sizeof bytes));
    for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_true(hash_bytes(0, bytes, sizeof bytes) != before);
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

static void u64__spreads_neighbours(void **state)
{
    (void)state;
    unsigned slots[256] = {0};
    for (uint64_t v = 0; v < 16384; v++) {
        slots[hash_u64(v) & 255]++;
    }
    for (size_t i = 0; i < COUNT_OF(slots); i++) {
        assert_true(slots[i] > 24 && slots[i] < 128);
    }
}

TEST_GROUP(hash, cmocka_unit_test(hash__is_fixed_for_ever),
           cmocka_unit_test(hash__is_fixed_for_every_length),
           cmocka_unit_test(hash__tells_lengths_and_zero_bytes_apart),
           cmocka_unit_test(hash__depends_on_every_bit_and_on_the_seed),
           cmocka_unit_test(u64__spreads_neighbours));
