/*
 * The codecs against tables of bytes and texts, and against each other.
 */
#include "proto/proto.h"

#include <math.h>
#include <stdlib.h>

#include "lib/expect.h"
#include "lib/rng.h"
#include "proto/proto_decode.h"
#include "proto/proto_encode.h"
#include "proto/proto_json_decode.h"
#include "proto/proto_json_encode.h"
#include "unit/proto/proto_sample.h"

enum { TEXT_MAX = 1 << 20 };

static void hex(struct str bytes, struct buf *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        buf_printf(out, "%02x", (unsigned char)bytes.ptr[i]);
    }
}

static struct str unhex(const char *text, struct arena *arena)
{
    size_t len = strlen(text) / 2;
    char *bytes = arena_alloc(arena, len + 1, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};
        bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    return str_from(bytes, len);
}

static void write_json(const struct sample *s, struct buf *out)
{
    struct json_write w = json_write_to(out);
    proto_json_encode(&proto_sample, s, &w);
    json_write_finish(&w);
}

/* The same message in both encodings. */
static const struct {
    const char *hex, *json;
} same[] = {
    {"", "{}"},
    {"0a026869", "{\"text\":\"hi\"}"},
    {"1001", "{\"smallNumber\":1}"},
    {"10ffffffffffffffffff01", "{\"smallNumber\":-1}"},
    {"18ffffffffffffffffff01", "{\"number\":\"-1\"}"},
    {"1880808080808080808001", "{\"number\":\"-9223372036854775808\"}"},
    {"20ffffffffffffffffff01", "{\"bigNumber\":\"18446744073709551615\"}"},
    {"29000000000000f83f", "{\"ratio\":1.5}"},
    {"29000000000000f07f", "{\"ratio\":\"Infinity\"}"},
    {"29000000000000f0ff", "{\"ratio\":\"-Infinity\"}"},
    {"3001", "{\"flag\":true}"},
    {"3a060880abfa9f06", "{\"at\":\"2023-03-01T00:00:00Z\"}"},
    {"3a0b0880abfa9f061080ade204", "{\"at\":\"2023-03-01T00:00:00.010Z\"}"},
    {"3a080880abfa9f061001", "{\"at\":\"2023-03-01T00:00:00.000000001Z\"}"},
    {"4200", "{\"inner\":{}}"},
    {"42050a01781005", "{\"inner\":{\"name\":\"x\",\"count\":\"5\"}}"},
    {"4a01614a004a0162", "{\"words\":[\"a\",\"\",\"b\"]}"},
    {"52030a017852020000", NULL}, /* a field number of 0 */
    {"52030a01785200", "{\"items\":[{\"name\":\"x\"},{}]}"},
    {"c20c070a016b12021005", "{\"byName\":{\"k\":{\"count\":\"5\"}}}"},
    {"c20c050a016b1200", "{\"byName\":{\"k\":{}}}"},
};

static void test_both_encodings_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct arena *arena = arena_new(TEXT_MAX);
        struct buf json, bytes;
        struct sample s;
        struct err err;
        buf_init(&json, TEXT_MAX);
        buf_init(&bytes, TEXT_MAX);
        ROW(same[i].hex);
        enum err_code code =
            proto_decode(&proto_sample, unhex(same[i].hex, arena), arena, &s, &err);
        assert_int_equal(code, same[i].json == NULL ? ERR_PARSE : ERR_OK);
        if (same[i].json != NULL) {
            write_json(&s, &json);
            expect_str(buf_str(&json), str_from_z(same[i].json));
            code = proto_json_decode(&proto_sample, str_from_z(same[i].json), arena, &s, &err);
            assert_int_equal(code, ERR_OK);
            buf_clear(&json);
            proto_encode(&proto_sample, &s, &bytes);
            hex(buf_str(&bytes), &json);
            expect_str(buf_str(&json), str_from_z(same[i].hex));
        }
        buf_deinit(&json);
        buf_deinit(&bytes);
        arena_free(arena);
    }
}

/* Bytes that our encoder never writes, and what they mean. NULL: refused. */
static const struct {
    const char *hex, *json;
} read_only[] = {
    {"0a01610a0162", "{\"text\":\"b\"}"},                                   /* the last one wins */
    {"42030a017842021005", "{\"inner\":{\"name\":\"x\",\"count\":\"5\"}}"}, /* they are merged */
    {"188100", "{\"number\":\"1\"}"}, /* a longer varint than needed */
    {"1881808080808080808000", "{\"number\":\"1\"}"},
    {"188180808080808080808000", NULL}, /* eleven bytes */
    {"3002", "{\"flag\":true}"},
    {"108080808010", "{}"},         /* an int32 of 2^32 is cut to 0 */
    {"0801", "{}"},                 /* the wrong wire type: unknown */
    {"f8070a", "{}"},               /* unknown: a varint */
    {"f9070000000000000000", "{}"}, /* unknown: 64 bits */
    {"fd0700000000", "{}"},         /* unknown: 32 bits */
    {"fa07036162", NULL},           /* unknown: incomplete bytes */
    {"fb07fc07", "{}"},             /* unknown: a group */
    {"fb07fb07fc07fc07", "{}"},     /* unknown: a nested group */
    {"fb070801fc07", "{}"},         /* unknown: a group with a field */
    {"fb0784080a", NULL},           /* a group with another's end */
    {"fb07", NULL},                 /* a group without an end */
    {"fc07", NULL},                 /* an end without a group */
    {"0e", NULL},                   /* wire type 6 */
    {"0a", NULL},                   /* no length */
    {"0a05616263", NULL},           /* fewer bytes than announced */
    {"0a02c328", NULL},             /* not UTF-8 */
    {"4a02c328", NULL},
    {"2900", NULL},
    {"3a0b08ffffffffffffffffff01", "{\"at\":\"1969-12-31T23:59:59Z\"}"},
    {"3a06108094ebdc03", NULL}, /* a whole second of nanoseconds */
};

static void test_what_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(read_only); i++) {
        struct arena *arena = arena_new(TEXT_MAX);
        struct buf json;
        struct sample s;
        struct err err;
        buf_init(&json, TEXT_MAX);
        ROW(read_only[i].hex);
        enum err_code code =
            proto_decode(&proto_sample, unhex(read_only[i].hex, arena), arena, &s, &err);
        assert_int_equal(code, read_only[i].json == NULL ? ERR_PARSE : ERR_OK);
        if (code == ERR_OK) {
            write_json(&s, &json);
            expect_str(buf_str(&json), str_from_z(read_only[i].json));
        }
        buf_deinit(&json);
        arena_free(arena);
    }
}

/* JSON that our encoder never writes, and what it means. NULL: refused. */
static const struct {
    const char *in, *out;
} json_rows[] = {
    {" { } ", "{}"},
    {"{\"small_number\":3,\"big_number\":7}", "{\"smallNumber\":3,\"bigNumber\":\"7\"}"},
    {"{\"text\":null,\"words\":null,\"inner\":null}", "{}"},
    {"{\"smallNumber\":\"12\"}", "{\"smallNumber\":12}"},
    {"{\"smallNumber\":1.0}", "{\"smallNumber\":1}"},
    {"{\"smallNumber\":1e3}", "{\"smallNumber\":1000}"},
    {"{\"smallNumber\":1.5}", NULL},
    {"{\"smallNumber\":2147483648}", NULL},
    {"{\"smallNumber\":-2147483648}", "{\"smallNumber\":-2147483648}"},
    {"{\"smallNumber\":\"\"}", NULL},
    {"{\"smallNumber\":\" 1\"}", NULL},
    {"{\"smallNumber\":\"0x10\"}", NULL},
    {"{\"smallNumber\":true}", NULL},
    {"{\"number\":9007199254740993}", "{\"number\":\"9007199254740993\"}"},
    {"{\"number\":9223372036854775808}", NULL},
    {"{\"bigNumber\":-1}", NULL},
    {"{\"bigNumber\":18446744073709551616}", NULL},
    {"{\"ratio\":\"1.5\"}", "{\"ratio\":1.5}"},
    {"{\"ratio\":\"NaN\"}", "{\"ratio\":\"NaN\"}"},
    {"{\"ratio\":\"nan\"}", NULL},
    {"{\"ratio\":1e999}", NULL},
    {"{\"flag\":\"true\"}", NULL},
    {"{\"text\":5}", NULL},
    {"{\"text\":\"\\u00e9\"}", "{\"text\":\"\xc3\xa9\"}"},
    {"{\"at\":\"2023-03-01T01:00:00+01:00\"}", "{\"at\":\"2023-03-01T00:00:00Z\"}"},
    {"{\"at\":\"tomorrow\"}", NULL},
    {"{\"at\":5}", NULL},
    {"{\"inner\":[]}", NULL},
    {"{\"words\":{}}", NULL},
    {"{\"words\":[1]}", NULL},
    {"{\"items\":[null]}", NULL},
    {"{\"byName\":[]}", NULL},
    {"{\"unknown\":{\"deep\":[1,{\"x\":null}]}}", "{}"},
    {"", NULL},
    {"[]", NULL},
    {"{", NULL},
    {"{}x", NULL},
    {"{\"text\":\"a\",}", NULL},
};

static void test_json_that_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(json_rows); i++) {
        struct arena *arena = arena_new(TEXT_MAX);
        struct buf json;
        struct sample s;
        struct err err;
        buf_init(&json, TEXT_MAX);
        ROW(json_rows[i].in);
        enum err_code code =
            proto_json_decode(&proto_sample, str_from_z(json_rows[i].in), arena, &s, &err);
        assert_int_equal(code, json_rows[i].out == NULL ? ERR_PARSE : ERR_OK);
        if (code == ERR_OK) {
            write_json(&s, &json);
            expect_str(buf_str(&json), str_from_z(json_rows[i].out));
        }
        buf_deinit(&json);
        arena_free(arena);
    }
}

/* Errors name the place of the value. */
static const struct {
    const char *in, *error;
} refused_rows[] = {
    {"{\"smallNumber\":1.5}", "small_number: expected a 32-bit integer"},
    {"{\"words\":5}", "words: expected an array"},
    {"{\"words\":[\"a\",5]}", "words[1]: expected a string"},
    {"{\"inner\":[]}", "inner: expected an object"},
    {"{\"inner\":{\"count\":\"x\"}}", "inner.count: expected a 64-bit integer"},
    {"{\"items\":[{},{},null]}", "items[2]: expected an object"},
    {"{\"items\":[{},{\"name\":{}}]}", "items[1].name: expected a string"},
    {"{\"byName\":[]}", "by_name: expected an object"},
    {"{\"byName\":{\"a\":{},\"b\\u0021\":null}}", "by_name.b!: expected an object"},
    {"{\"byName\":{\"a\":{\"name\":1}}}", "by_name.a.name: expected a string"},
    {"{\"items\":[{}],\"flag\":1}", "flag: expected true or false"},
};

static void test_refused_json_names_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused_rows); i++) {
        struct arena *arena = arena_new(TEXT_MAX);
        struct sample s;
        struct err err;
        ROW(refused_rows[i].in);
        assert_int_equal(
            proto_json_decode(&proto_sample, str_from_z(refused_rows[i].in), arena, &s, &err),
            ERR_PARSE);
        assert_string_equal(err.msg, refused_rows[i].error);
        arena_free(arena);
    }
}

/* Random messages are encoded to the same bytes again after a round trip through either codec. */

static struct str random_text(struct rng *rng, struct arena *arena, size_t max)
{
    size_t len = rng_below(rng, max + 1);
    char *text = arena_alloc(arena, len + 1, 1);
    assert_non_null(text);
    for (size_t i = 0; i < len; i++) {
        text[i] = (char)rng_below(rng, 128);
    }
    return str_from(text, len);
}

static struct sample_inner *random_inner(struct rng *rng, struct arena *arena)
{
    struct sample_inner *inner = ARENA_NEW(arena, struct sample_inner);
    assert_non_null(inner);
    *inner = (struct sample_inner){.name = random_text(rng, arena, 9),
                                   .count = (int64_t)(rng_next(rng) >> rng_below(rng, 64))};
    return inner;
}

static void random_sample(struct rng *rng, struct arena *arena, struct sample *s)
{
    size_t many = rng_below(rng, 10) == 0 ? 2000 : 5; /* small and large messages */
    *s = (struct sample){
        .text = random_text(rng, arena, many == 5 ? 20 : 60000),
        .small_number = (int32_t)rng_next(rng),
        .number = (int64_t)(rng_next(rng) >> rng_below(rng, 64)),
        .big_number = rng_next(rng) >> rng_below(rng, 64),
        .ratio = (double)(int64_t)rng_next(rng) / 3.0,
        .flag = rng_below(rng, 2) == 1,
        .at = {.ns = (int64_t)(rng_next(rng) >> 2)},
        .inner = rng_below(rng, 2) == 1 ? random_inner(rng, arena) : NULL,
        .word_count = rng_below(rng, many),
        .item_count = rng_below(rng, many),
        .by_name_count = rng_below(rng, many),
    };
    s->words = ARENA_ARRAY(arena, struct str, s->word_count + 1);
    s->items = ARENA_ARRAY(arena, struct sample_inner, s->item_count + 1);
    s->by_name = ARENA_ARRAY(arena, struct sample_entry, s->by_name_count + 1);
    assert_true(s->words != NULL && s->items != NULL && s->by_name != NULL);
    for (size_t i = 0; i < s->word_count; i++) {
        s->words[i] = random_text(rng, arena, 9);
    }
    for (size_t i = 0; i < s->item_count; i++) {
        s->items[i] = *random_inner(rng, arena);
    }
    for (size_t i = 0; i < s->by_name_count; i++) {
        s->by_name[i] = (struct sample_entry){random_text(rng, arena, 9), random_inner(rng, arena)};
    }
}

static void test_round_trips(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng = rng_from(seed);
        struct arena *arena = arena_new(64 << 20);
        struct sample s, again;
        struct err err;
        struct buf first, second, json;
        buf_init(&first, 16 << 20);
        buf_init(&second, 16 << 20);
        buf_init(&json, 64 << 20);
        random_sample(&rng, arena, &s);

        proto_encode(&proto_sample, &s, &first);
        assert_int_equal(proto_decode(&proto_sample, buf_str(&first), arena, &again, &err), ERR_OK);
        proto_encode(&proto_sample, &again, &second);
        expect_str(buf_str(&second), buf_str(&first));

        write_json(&again, &json);
        assert_int_equal(proto_json_decode(&proto_sample, buf_str(&json), arena, &again, &err),
                         ERR_OK);
        buf_clear(&second);
        proto_encode(&proto_sample, &again, &second);
        expect_str(buf_str(&second), buf_str(&first));

        buf_deinit(&first);
        buf_deinit(&second);
        buf_deinit(&json);
        arena_free(arena);
    }
}

/* Whatever the arena's limit, a decoder returns ERR_OK or ERR_TOO_LARGE. */
static void test_a_full_arena_is_an_answer(void **state)
{
    (void)state;
    struct rng rng = rng_from(7);
    struct arena *arena = arena_new(64 << 20);
    struct sample s, again;
    struct err err;
    struct buf bytes, json;
    buf_init(&bytes, 16 << 20);
    buf_init(&json, 64 << 20);
    random_sample(&rng, arena, &s);
    proto_encode(&proto_sample, &s, &bytes);
    write_json(&s, &json);
    bool binary = false, text = false;
    for (size_t limit = 1; limit < 1 << 20 && !(binary && text); limit = limit * 5 / 4 + 1) {
        struct arena *small = arena_new(limit);
        enum err_code code = proto_decode(&proto_sample, buf_str(&bytes), small, &again, &err);
        assert_true(code == ERR_OK || code == ERR_TOO_LARGE);
        binary = code == ERR_OK;
        arena_reset(small);
        code = proto_json_decode(&proto_sample, buf_str(&json), small, &again, &err);
        assert_true(code == ERR_OK || code == ERR_TOO_LARGE);
        text = code == ERR_OK;
        arena_free(small);
    }
    assert_true(binary && text);
    buf_deinit(&bytes);
    buf_deinit(&json);
    arena_free(arena);
}

static void test_the_tables_are_sound(void **state)
{
    (void)state;
    proto_check(&proto_sample);
}

TEST_GROUP(proto, cmocka_unit_test(test_the_tables_are_sound),
           cmocka_unit_test(test_both_encodings_agree), cmocka_unit_test(test_what_is_read),
           cmocka_unit_test(test_json_that_is_read),
           cmocka_unit_test(test_refused_json_names_its_place), cmocka_unit_test(test_round_trips),
           cmocka_unit_test(test_a_full_arena_is_an_answer));
