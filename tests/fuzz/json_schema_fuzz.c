/*
 * Fuzz: decoding by a schema with a row of every kind. Accepted values are within the limits of
 * their rows, and every refusal has a message.
 */
#include "json/json_schema.h"

#include <stdint.h>

#include "base/check.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "json/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum word { WORD_A = 1, WORD_B = 2 };

struct inner {
    struct str queue;
    int64_t n;
};

struct outer {
    struct str queue;
    struct str cut;
    int64_t n;
    int64_t clamped;
    double f;
    bool b;
    struct str raw;
    struct str object;
    enum word word;
    enum word lax;
    int64_t duration_ms;
    struct wall time;
    struct str *names;
    size_t name_count;
    struct inner *one;
    struct inner *many;
    size_t many_count;
    uint64_t set;
};

static const struct json_word words[] = {{"a", WORD_A}, {"b", WORD_B}, {NULL, 0}};

static const struct json_field inner_rows[] = {
    JSON_STR(struct inner, queue, 1, 8, JSON_REQUIRED, "Text."),
    JSON_I64(struct inner, n, -5, 5, 0, "Number."),
};
static const struct json_schema inner_schema = JSON_SCHEMA(struct inner, inner_rows);

static const struct json_field outer_rows[] = {
    JSON_STR(struct outer, queue, 1, 8, JSON_REQUIRED | JSON_NO_CONTROL, "Text."),
    JSON_STR(struct outer, cut, 0, 8, JSON_CUT, "Text."),
    JSON_I64(struct outer, n, 0, 9, 0, "Number."),
    JSON_I64(struct outer, clamped, 0, 9, JSON_CLAMP, "Number."),
    JSON_F64(struct outer, f, 0, 9, 0, "Number."),
    JSON_BOOL(struct outer, b, 0, "Yes or no."),
    JSON_RAW(struct outer, raw, 64, JSON_KEEP_NULL, "Anything."),
    JSON_RAW(struct outer, object, 0, JSON_ONLY_OBJECT, "An object."),
    JSON_WORD(struct outer, word, words, 0, "A word."),
    JSON_WORD(struct outer, lax, words, JSON_LAX | JSON_OR_NUMBER, "A word."),
    JSON_DURATION(struct outer, duration_ms, "duration", duration_parse, 0, 1000, 0, "Duration."),
    JSON_TIME(struct outer, time, timestamp_parse, 0, "Time."),
    JSON_STRS(struct outer, names, name_count, 0, 9, 8, 0, "Texts."),
    JSON_OBJECT(struct outer, one, struct inner, &inner_schema, 0, "Object."),
    JSON_OBJECTS(struct outer, many, many_count, struct inner, &inner_schema, 0, 9, 0, "Objects."),
};
static const struct outer outer_init = {.word = WORD_A, .lax = WORD_B};
static const struct json_schema lax_schema =
    JSON_SCHEMA(struct outer, outer_rows, .init = &outer_init, JSON_SET(struct outer, set));
static const struct json_schema strict_schema =
    JSON_SCHEMA(struct outer, outer_rows, .init = &outer_init, .flags = JSON_STRICT);

static void check_text(struct str text, size_t max)
{
    CHECK(text.len <= max);
    CHECK(str_is_utf8(text));
}

static void check_inner(const struct inner *in)
{
    CHECK(in->queue.len > 0);
    check_text(in->queue, 8);
    CHECK(in->n >= -5 && in->n <= 5);
}

static void check_limits(const struct outer *out)
{
    struct err err;
    CHECK((out->set & 1) != 0);
    CHECK(out->queue.len > 0);
    check_text(out->queue, 8);
    CHECK(!str_has_control(out->queue));
    check_text(out->cut, 8);
    CHECK(out->n >= 0 && out->n <= 9);
    CHECK(out->clamped >= 0 && out->clamped <= 9);
    CHECK(out->f >= 0 && out->f <= 9);
    CHECK(out->raw.len <= 64);
    CHECK(out->raw.len == 0 || json_scan_check(out->raw, &err) == ERR_OK);
    CHECK(out->object.len == 0 || out->object.ptr[0] == '{');
    CHECK(out->word == WORD_A || out->word == WORD_B);
    CHECK(out->lax == WORD_A || out->lax == WORD_B);
    CHECK(out->duration_ms >= 0 && out->duration_ms <= 1000);
    CHECK(out->name_count <= 9);
    for (size_t i = 0; i < out->name_count; i++) {
        check_text(out->names[i], 8);
    }
    if (out->one != NULL) {
        check_inner(out->one);
    }
    CHECK(out->many_count <= 9);
    for (size_t i = 0; i < out->many_count; i++) {
        check_inner(&out->many[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_from(data, size);
    struct arena *arena = arena_new(4096);
    struct err err = {0};
    struct outer out;
    struct json_value value;

    enum err_code code = json_schema_decode(&lax_schema, text, arena, &out, &err);
    if (code == ERR_OK) {
        check_limits(&out);
        CHECK(json_scan_first(text, &value, &err) == ERR_OK);
        CHECK(value.type == JSON_TYPE_OBJECT);
    } else {
        CHECK(code == err.code);
        CHECK(code == ERR_PARSE || code == ERR_VALIDATION || code == ERR_TOO_LARGE);
        CHECK(err.msg[0] != '\0');
    }
    arena_reset(arena);
    if (json_schema_decode(&strict_schema, text, arena, &out, &err) == ERR_OK) {
        CHECK(code == ERR_OK);
        CHECK(json_scan_check(text, &err) == ERR_OK);
    }
    arena_free(arena);
    return 0;
}
