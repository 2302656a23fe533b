#include "base/id_uuid.h"

#include <stdlib.h>

#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

static struct id id_of(int64_t ms, uint64_t index, uint32_t number)
{
    return id_make((struct wall){.ns = ms * NS_PER_MS}, index, number);
}

static struct str name_of(struct id id, char out[static ID_UUID_LEN])
{
    assert_true(id_uuid_put(id, out));
    return str_from(out, ID_UUID_LEN);
}

/* Clients store these names, so they must never change. */
static void put__has_these_characters_for_ever(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        uint64_t index;
        uint32_t number;
        const char *text;
    } rows[] = {
        {0, 0, 0, "b8b16108-268b-44d8-91c4-89175b5d5b0d"},
        {0, 0, 1, "9cb9f29e-96bf-4639-829f-9822111b1072"},
        {1770804000123, 4096, 7, "0a693e9f-fd3b-48dc-a694-be450b37b211"},
        {1770804000123, 4096, 8, "00734565-4fbd-4485-8076-f6accaab67ed"},
        {1770804000123, 4097, 7, "2fe6adfa-a761-4a3b-af83-ffab6b001f86"},
        {(1LL << 43) - 1, (1ULL << 48) - 1, (1U << ID_UUID_NUMBER_BITS) - 1,
         "33d93046-4375-4307-8e2b-3b9463da4faa"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[ID_UUID_LEN];
        ROW(rows[i].text);
        struct id id = id_of(rows[i].ms, rows[i].index, rows[i].number);
        expect_str(name_of(id, out), str_from_z(rows[i].text));
    }
}

static struct id any_id(struct rng *rng)
{
    /* of every bit length */
    uint64_t ms = rng_next(rng) >> (21 + rng_below(rng, 43));
    uint64_t index = rng_next(rng) >> (16 + rng_below(rng, 48));
    uint64_t number = rng_next(rng) >> (64 - ID_UUID_NUMBER_BITS + rng_below(rng, 26));
    return id_of((int64_t)ms, index, (uint32_t)number);
}

static void parse__reads_back_what_put_wrote(void **state)
{
    struct rng rng = rng_from(1);
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        struct id id = any_id(&rng);
        struct id back;
        char out[ID_UUID_LEN];
        struct str name = name_of(id, out);
        assert_int_equal(name.ptr[14], '4');
        assert_non_null(strchr("89ab", name.ptr[19]));
        assert_true(id_uuid_parse(name, &back));
        assert_true(id_eq(id, back));
        assert_true(id_uuid_is(name, id));
        back.b[ID_BYTES - 1] ^= 1;
        assert_false(id_uuid_is(name, back));
    }
}

/* Every UUID of version 4 is the name of exactly one id. */
static void put__writes_back_what_parse_read(void **state)
{
    struct rng rng = rng_from(2);
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        char uuid[ID_UUID_LEN];
        char again[ID_UUID_LEN];
        struct id id;
        id_uuid_format(rng_next(&rng), rng_next(&rng), uuid);
        assert_true(id_uuid_parse(str_from(uuid, sizeof uuid), &id));
        expect_str(name_of(id, again), str_from(uuid, sizeof uuid));
    }
}

static void put__refuses_a_number_that_is_too_large(void **state)
{
    static const uint32_t numbers[] = {1U << ID_UUID_NUMBER_BITS, UINT32_MAX};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char out[ID_UUID_LEN];
        assert_false(id_uuid_put(id_of(1, 1, numbers[i]), out));
        assert_false(
            id_uuid_is(STR("00000000-0000-4000-8000-000000000000"), id_of(1, 1, numbers[i])));
    }
}

static void parse__takes_the_canonical_form_only(void **state)
{
    static const char *const rows[] = {
        "",
        "7d1f0d7c-8f59-4c7b-9b0a-0b7d8c0a1b2",   /* short */
        "7d1f0d7c-8f59-4c7b-9b0a-0b7d8c0a1b2c3", /* long */
        "7D1f0d7c-8f59-4c7b-9b0a-0b7d8c0a1b2c",  /* upper case */
        "7d1f0d7c-8f59-4c7b-9b0a-0b7d8c0a1b2g",  /* not a digit */
        "7d1f0d7c08f59-4c7b-9b0a-0b7d8c0a1b2c",  /* no dash */
        "7d1f0d7-c8f59-4c7b-9b0a-0b7d8c0a1b2c",  /* a dash at the wrong position */
        "7d1f0d7c-8f59-1c7b-9b0a-0b7d8c0a1b2c",  /* version 1 */
        "7d1f0d7c-8f59-7c7b-9b0a-0b7d8c0a1b2c",  /* version 7 */
        "7d1f0d7c-8f59-4c7b-1b0a-0b7d8c0a1b2c",  /* other variants */
        "7d1f0d7c-8f59-4c7b-cb0a-0b7d8c0a1b2c",
        "{7d1f0d7c-8f59-4c7b-9b0a-0b7d8c0a1b2}",
    };
    struct id id;
    (void)state;
    assert_true(id_uuid_parse(STR("7d1f0d7c-8f59-4c7b-9b0a-0b7d8c0a1b2c"), &id));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        assert_false(id_uuid_parse(str_from_z(rows[i]), &id));
    }
}

/* Names of consecutive jobs look random: in each digit, every value is about equally frequent. */
static void names__are_spread(void **state)
{
    enum { NAMES = 4096 };
    unsigned seen[ID_UUID_LEN][16] = {{0}};
    (void)state;
    for (unsigned i = 0; i < NAMES; i++) {
        char out[ID_UUID_LEN];
        struct str name = name_of(id_of(1770804000123 + i / 512, 4096 + i / 64, i % 64), out);
        for (size_t at = 0; at < name.len; at++) {
            if (name.ptr[at] != '-') {
                char digit[2] = {name.ptr[at], '\0'};
                seen[at][strtoul(digit, NULL, 16)]++;
            }
        }
    }
    for (size_t at = 0; at < ID_UUID_LEN; at++) {
        bool fixed = at == 8 || at == 13 || at == 14 || at == 18 || at == 19 || at == 23;
        for (unsigned digit = 0; digit < 16 && !fixed; digit++) {
            assert_in_range(seen[at][digit], NAMES / 16 - 90, NAMES / 16 + 90);
        }
    }
}

TEST_GROUP(id_uuid, cmocka_unit_test(put__has_these_characters_for_ever),
           cmocka_unit_test(parse__reads_back_what_put_wrote),
           cmocka_unit_test(put__writes_back_what_parse_read),
           cmocka_unit_test(put__refuses_a_number_that_is_too_large),
           cmocka_unit_test(parse__takes_the_canonical_form_only),
           cmocka_unit_test(names__are_spread));
