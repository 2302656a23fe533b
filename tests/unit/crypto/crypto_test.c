#include "crypto/crypto.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"

static void hex(const uint8_t *bytes, char out[2 * CRYPTO_HASH_BYTES + 1])
{
    for (size_t i = 0; i < CRYPTO_HASH_BYTES; i++) {
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

/* The examples of FIPS 180-4. */
static void hash__is_sha256(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hash;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t hash[CRYPTO_HASH_BYTES];
        char text[2 * CRYPTO_HASH_BYTES + 1];
        crypto_hash(str_from_z(rows[i].text), hash);
        hex(hash, text);
        assert_string_equal(text, rows[i].hash);
    }
}

static void hash_two__is_the_hash_of_both(void **state)
{
    (void)state;
    uint8_t one[CRYPTO_HASH_BYTES];
    uint8_t two[CRYPTO_HASH_BYTES];
    crypto_hash(STR("abc"), one);
    crypto_hash_two(STR("a"), STR("bc"), two);
    assert_memory_equal(one, two, sizeof one);
    crypto_hash_two(STR("abc"), STR_EMPTY, two);
    assert_memory_equal(one, two, sizeof one);
    crypto_hash_two(STR("a"), STR("b"), two);
    assert_memory_not_equal(one, two, sizeof one);
}

/* Test cases 2 and 6 of RFC 4231, and one with empty values. */
static void hmac__is_that_of_the_rfc(void **state)
{
    (void)state;
    char long_key[131];
    memset(long_key, 0xaa, sizeof long_key);
    const struct {
        struct str key, text;
        const char *mac;
    } rows[] = {
        {STR("Jefe"), STR("what do ya want for nothing?"),
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {str_from(long_key, sizeof long_key),
         STR("Test Using Larger Than Block-Size Key - Hash Key First"),
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        {STR_EMPTY, STR_EMPTY, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t mac[CRYPTO_HASH_BYTES];
        char text[2 * CRYPTO_HASH_BYTES + 1];
        crypto_hmac(rows[i].key, rows[i].text, mac);
        hex(mac, text);
        assert_string_equal(text, rows[i].mac);
    }
}

static void equal__finds_a_difference_at_every_place(void **state)
{
    (void)state;
    uint8_t a[37];
    uint8_t b[37];
    memset(a, 7, sizeof a);
    for (size_t len = 0; len <= sizeof a; len++) {
        memset(b, 7, sizeof b);
        assert_true(crypto_equal(a, b, len));
        for (size_t at = 0; at < sizeof a; at++) {
            b[at] ^= 0x80;
            assert_int_equal(crypto_equal(a, b, len), at >= len);
            b[at] ^= 0x80;
        }
    }
}

static void random__differs_and_a_wiped_secret_is_gone(void **state)
{
    (void)state;
    uint8_t a[24];
    uint8_t b[24];
    static const uint8_t zeros[24];
    crypto_random(a, sizeof a);
    crypto_random(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    crypto_wipe(a, sizeof a);
    assert_memory_equal(a, zeros, sizeof a);
}

TEST_GROUP(crypto, cmocka_unit_test(hash__is_sha256),
           cmocka_unit_test(hash_two__is_the_hash_of_both),
           cmocka_unit_test(hmac__is_that_of_the_rfc),
           cmocka_unit_test(equal__finds_a_difference_at_every_place),
           cmocka_unit_test(random__differs_and_a_wiped_secret_is_gone));
