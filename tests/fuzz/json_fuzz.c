/*
 * Fuzz: the scanner, the compactor and the object functions on any bytes.
 *
 * The checker accepts exactly what a walk through all containers accepts. Compact text is still
 * JSON and cannot become shorter. Objects that are built from it are JSON.
 */
#include <stdint.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/limits.h"
#include "json/json_compact.h"
#include "json/json_object.h"
#include "json/json_scan.h"
#include "json/json_write.h"

enum { INPUT_MAX = 1 << 18, BYTES_MAX = 8 * INPUT_MAX }; /* a byte becomes at most six */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_json(struct str text)
{
    struct err err = {0};
    bool ok = json_scan_check(text, &err) == ERR_OK;
    CHECK(ok == (err.msg[0] == '\0'));
    return ok;
}

/* A decoded string, encoded again, decodes to the same text. */
static void check_string(struct json_value value)
{
    struct arena *arena = arena_new(BYTES_MAX);
    struct buf decoded, written;
    struct str text, again;
    struct json_value back;
    struct err err;

    buf_init(&decoded, BYTES_MAX);
    buf_init(&written, BYTES_MAX);
    json_value_text_buf(value, &decoded);
    CHECK(json_value_text(value, arena, &text, &err) == ERR_OK);
    CHECK(str_eq(text, buf_str(&decoded)));
    CHECK(text.len == json_value_text_len(value));
    CHECK(str_is_utf8(text));
    CHECK(json_value_text_eq(value, text));
    struct json_write w = json_write_to(&written);
    json_write_str(&w, text);
    json_write_finish(&w);
    CHECK(json_scan_first(buf_str(&written), &back, &err) == ERR_OK);
    CHECK(back.text.len == written.len);
    CHECK(json_value_text(back, arena, &again, &err) == ERR_OK);
    CHECK(str_eq(again, text));
    buf_deinit(&written);
    buf_deinit(&decoded);
    arena_free(arena);
}

static void check_scalar(struct json_value value)
{
    double f;
    int64_t i;
    if (value.type == JSON_TYPE_STRING) {
        check_string(value);
    }
    if (json_value_i64(value, &i)) {
        CHECK(value.type == JSON_TYPE_NUMBER);
        CHECK(json_value_f64(value, &f) || value.text.len > 100);
    }
}

/* Enter the next container, or skip a scalar. */
static void step_in(struct json_scan *s, bool *is_object, unsigned *depth)
{
    struct json_value value;
    enum json_type type = json_scan_peek(s);
    bool object = type == JSON_TYPE_OBJECT;
    if (object || type == JSON_TYPE_ARRAY) {
        if (object ? json_scan_enter_object(s) : json_scan_enter_array(s)) {
            is_object[++*depth] = object;
        }
    } else if (json_scan_value(s, &value)) {
        CHECK(value.type == type);
        check_scalar(value);
    }
}

/* Enter all containers. True if the text is exactly one value. */
static bool walk(struct str text)
{
    bool is_object[LIMIT_JSON_DEPTH + 1];
    struct json_scan s = json_scan_from(text);
    struct json_value key;
    unsigned depth = 0;

    do {
        step_in(&s, is_object, &depth);
        bool more = false;
        while (!more && depth > 0 && s.problem == NULL) {
            more = is_object[depth] ? json_scan_next_key(&s, &key) : json_scan_next_element(&s);
            depth -= !more && s.problem == NULL ? 1 : 0;
        }
    } while (depth > 0 && s.problem == NULL);
    return json_scan_done(&s);
}

static void check_compact(struct str text)
{
    struct buf once, twice;
    buf_init(&once, BYTES_MAX);
    buf_init(&twice, BYTES_MAX);
    json_compact_add(&once, text);
    CHECK(once.len <= text.len);
    CHECK(is_json(buf_str(&once)));
    json_compact_add(&twice, buf_str(&once));
    CHECK(str_eq(buf_str(&once), buf_str(&twice)));
    buf_deinit(&twice);
    buf_deinit(&once);
}

static void check_object(struct str text)
{
    const struct json_object_pair pairs[] = {
        {.key = STR("a"), .value = STR("1")},
        {.key = STR("b"), .value = text},
    };
    struct json_value found;
    struct buf over, complete;
    buf_init(&over, BYTES_MAX);
    buf_init(&complete, BYTES_MAX);
    json_object_override(&over, pairs, COUNT_OF(pairs), text);
    json_object_complete(&complete, text, pairs, COUNT_OF(pairs));
    /* A value of the maximum depth is too deep inside another value. */
    if (is_json(buf_str(&over))) {
        CHECK(json_scan_member(buf_str(&over), STR("a"), &found));
        CHECK(json_scan_member(buf_str(&over), STR("b"), &found));
        CHECK(is_json(buf_str(&complete)));
        CHECK(json_scan_member(buf_str(&complete), STR("a"), &found));
        CHECK(json_scan_member(buf_str(&complete), STR("b"), &found));
    }
    buf_deinit(&complete);
    buf_deinit(&over);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_from(data, size);
    struct json_value first;
    struct err err;

    if (size > INPUT_MAX) {
        return 0;
    }
    bool ok = is_json(text);
    CHECK(walk(text) == ok);
    bool has_first = json_scan_first(text, &first, &err) == ERR_OK;
    CHECK(has_first || !ok);
    if (has_first) {
        CHECK(is_json(first.text));
        check_compact(first.text);
        check_object(first.text);
    }
    return 0;
}
