#include "base/id.h"

#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

static struct str text_of(struct id id, struct str prefix, char out[static ID_TEXT_MAX])
{
    return str_from(out, id_format(id, prefix, out));
}

static void format__has_these_characters_for_ever(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        uint64_t index;
        uint32_t number;
        const char *text;
    } rows[] = {
        {0, 0, 0, "job_00000000000000000000000000"},
        {0, 0, 1, "job_00000000000000000000000001"},
        {0, 0, 31, "job_0000000000000000000000000z"},
        {0, 0, 32, "job_00000000000000000000000010"},
        {1, 0, 0, "job_00000000010000000000000000"},
        {1770804000123, 4096, 7, "job_01kh629dbv0000000g00000007"},
        {(1LL << 43) - 1, (1ULL << 48) - 1, UINT32_MAX, "job_07zzzzzzzzzzzzzzzzzzzzzzzz"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        char out[ID_TEXT_MAX];
        struct wall at = {.ns = rows[i].ms * NS_PER_MS};
        struct id id = id_make(at, rows[i].index, rows[i].number);
        expect_str(text_of(id, ID_JOB, out), str_from_z(rows[i].text));
    }
}

static void parse__reads_back_what_format_wrote(void **state)
{
    (void)state;
    const struct str prefixes[] = {ID_JOB, ID_BATCH, ID_CHAIN, ID_SCHEDULE};
    struct rng rng = rng_from(1);
    for (unsigned i = 0; i < 2000; i++) {
        struct wall at = {.ns = (int64_t)(rng_next(&rng) >> 1)};
        struct id id = id_make(at, rng_next(&rng) >> 16, (uint32_t)rng_next(&rng));
        assert_int_equal(id_ms(id), at.ns / NS_PER_MS);
        struct str prefix = prefixes[i % COUNT_OF(prefixes)];
        char out[ID_TEXT_MAX];
        struct id back;
        assert_true(id_parse(text_of(id, prefix, out), prefix, &back));
        assert_true(id_eq(id, back));
        assert_true(id_hash(id) == id_hash(back));
    }
}

static void order__is_time_then_index_then_number(void **state)
{
    (void)state;
    struct rng rng = rng_from(2);
    for (unsigned i = 0; i < 2000; i++) {
        /* Few different values, to produce many equal parts. */
        int64_t ms[2] = {(int64_t)rng_below(&rng, 3), (int64_t)rng_below(&rng, 3)};
        uint64_t index[2] = {254 + rng_below(&rng, 3), 254 + rng_below(&rng, 3)};
        uint32_t number[2] = {(uint32_t)rng_below(&rng, 3), (uint32_t)rng_below(&rng, 3)};
        struct id id[2];
        char out[2][ID_TEXT_MAX];
        struct str text[2];
        for (unsigned k = 0; k < 2; k++) {
            struct wall at = {.ns = (1000 + ms[k]) * NS_PER_MS};
            id[k] = id_make(at, index[k], number[k]);
            text[k] = text_of(id[k], ID_JOB, out[k]);
        }
        int want = (ms[0] > ms[1]) - (ms[0] < ms[1]);
        want = want != 0 ? want : (index[0] > index[1]) - (index[0] < index[1]);
        want = want != 0 ? want : (number[0] > number[1]) - (number[0] < number[1]);
        int by_id = id_cmp(id[0], id[1]), by_text = str_cmp(text[0], text[1]);
        assert_int_equal((by_id > 0) - (by_id < 0), want);
        assert_int_equal((by_text > 0) - (by_text < 0), want);
        if (index[0] != index[1]) { /* all ids of an index have the same time */
            assert_true((id_rank(id[0]) > id_rank(id[1])) == (index[0] > index[1]));
        }
    }
}

static void parse__refuses_what_format_never_writes(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "job_",
        "job_0000000000000000000000000",   /* one character too short */
        "job_000000000000000000000000000", /* one character too long */
        "jab_00000000000000000000000000",
        "00000000000000000000000000",
        "job_0000000000000000000000000i",
        "job_0000000000000000000000000l",
        "job_0000000000000000000000000o",
        "job_0000000000000000000000000u",
        "job_0000000000000000000000000A",
        "job_0000000000000000000000000-",
        "job_80000000000000000000000000", /* more than 128 bits */
        "job_zzzzzzzzzzzzzzzzzzzzzzzzzz",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        struct id id = ID_NONE;
        assert_false(id_parse(str_from_z(rows[i]), ID_JOB, &id));
        assert_true(id_is_none(id));
    }
    struct id id;
    assert_false(id_parse(STR("job_0000000000000000000000000\0"), ID_JOB, &id));
    assert_true(id_parse(STR("job_7zzzzzzzzzzzzzzzzzzzzzzzzz"), ID_JOB, &id));
}

static void hash__puts_neighbours_side_by_side(void **state)
{
    (void)state;
    struct wall at = {.ns = 1770804000123 * NS_PER_MS};
    for (uint32_t group = 0; group < 1000; group++) {
        unsigned seen = 0;
        uint64_t first = id_hash(id_make(at, 7, group * 8));
        for (uint32_t i = 0; i < 8; i++) {
            uint64_t hash = id_hash(id_make(at, 7, group * 8 + i));
            assert_true(hash >> 3 == first >> 3);
            seen |= 1U << (hash & 7);
        }
        assert_int_equal(seen, 0xff);
    }
}

/* One id per entry, as from a client that waits for each answer, must be spread over all slots. */
static void hash__spreads_ids_that_are_alone(void **state)
{
    enum { SLOTS = 1024, PER_SLOT = 64 };
    (void)state;
    unsigned count[SLOTS] = {0};
    for (uint64_t index = 0; index < (uint64_t)SLOTS * PER_SLOT; index++) {
        struct wall at = {.ns = (1770804000123 + (int64_t)index / 3) * NS_PER_MS};
        count[id_hash(id_make(at, index, 0)) % SLOTS]++;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_in_range(count[i], PER_SLOT / 4, PER_SLOT * 2);
    }
}

TEST_GROUP(id, cmocka_unit_test(hash__puts_neighbours_side_by_side),
           cmocka_unit_test(hash__spreads_ids_that_are_alone),
           cmocka_unit_test(format__has_these_characters_for_ever),
           cmocka_unit_test(parse__reads_back_what_format_wrote),
           cmocka_unit_test(order__is_time_then_index_then_number),
           cmocka_unit_test(parse__refuses_what_format_never_writes));
