/*
 * Json_schema: one table per request, used to decode, validate and document it.
 *
 * A row names a member of a JSON object, the C struct member that stores it, its limits and a line
 * of documentation. Decoding fills the struct directly from the bytes, in one pass. The values of
 * absent members come from an initial struct.
 *
 *     struct enqueue_in { struct str queue; struct str payload; int64_t max_retries; };
 *
 *     static const struct json_field enqueue_rows[] = {
 *         JSON_STR(struct enqueue_in, queue, 1, 255, JSON_REQUIRED, "Queue to put the job into."),
 *         JSON_RAW(struct enqueue_in, payload, 0, JSON_KEEP_NULL, "Any JSON value."),
 *         JSON_I64(struct enqueue_in, max_retries, 0, 1000, 0, "Attempts in all."),
 *     };
 *     static const struct enqueue_in enqueue_init = {.max_retries = 3};
 *     static const struct json_schema enqueue_schema =
 *         JSON_SCHEMA(struct enqueue_in, enqueue_rows, .init = &enqueue_init);
 *
 * The rules of http-api.md 1.5: the first JSON value of the text is used; unknown members are
 * ignored; of a repeated key the last one is used, but each is checked; null means the same as
 * absent; a known member of the wrong JSON type is ERR_PARSE; a value outside of its limits, or a
 * required member that is missing or empty, is ERR_VALIDATION. Messages begin with the path:
 * "jobs[3].priority: expected 0 to 9, got 12". A raw value is at most LIMIT_JSON_VALUE_DEPTH deep.
 *
 * To add a kind: a value in enum json_kind, its macro below, its row in `kinds` in json_schema.c,
 * its function in json_member.c, lines in the tables of json_schema_test.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

enum json_kind {
    JSON_KIND_STR,      /* struct str; min and max are bytes */
    JSON_KIND_I64,      /* int64_t */
    JSON_KIND_F64,      /* double */
    JSON_KIND_BOOL,     /* bool */
    JSON_KIND_RAW,      /* struct str: any JSON value, as its text; max bytes, 0 for no limit */
    JSON_KIND_WORD,     /* an enum: one of some words */
    JSON_KIND_DURATION, /* int64_t, milliseconds; "" is absent */
    JSON_KIND_TIME,     /* struct wall */
    JSON_KIND_STRS,     /* struct str * and size_t: an array of strings; min and max are counts */
    JSON_KIND_OBJECT,   /* a pointer to another schema's struct, NULL when absent */
    JSON_KIND_OBJECTS,  /* the same and size_t: an array of objects; min and max are counts */
    JSON_KIND_COUNT
};

/* Flags of a row. */
enum {
    JSON_REQUIRED = 1 << 0,    /* such rows must be first */
    JSON_KEEP_NULL = 1 << 1,   /* raw: null is a value; object: null counts as present, as NULL */
    JSON_ONLY_OBJECT = 1 << 2, /* raw: must be an object */
    JSON_CUT = 1 << 3,         /* long text is truncated between characters, not refused */
    JSON_NO_CONTROL = 1 << 4,  /* text with control characters is refused */
    JSON_CLAMP = 1 << 5,       /* an integer above max counts as max */
    JSON_LAX = 1 << 6,         /* an integer out of range counts as absent */
    JSON_OR_NUMBER = 1 << 7,   /* a word may also be sent as its number */
    JSON_INSISTED = 1 << 8, /* documentation only: the handler refuses absent, empty or below 1 */
    JSON_NUMBER_APART = 1 << 9, /* a number is kept as JSON_NUMBER + n, for the handler to check */
    JSON_DEEP = 1 << 10, /* raw: with clients' values in it, so nested as deep as a document */
};

/* Flags of a schema. */
enum {
    JSON_STRICT = 1 << 0, /* unknown members, and text after the value, are refused */
};

struct json_word {
    const char *word; /* NULL ends a list of words */
    int value;
};

/* A number where a word is expected, 0 to JSON_NUMBER_MAX. */
enum { JSON_NUMBER = 1 << 16, JSON_NUMBER_MAX = JSON_NUMBER - 1 };

/* Append "critical, high or normal": the words, for messages. */
void json_schema_list_words(const struct json_word *words, struct buf *out);

/* Durations and times are parsed by core; a row names the function, which fails with
 * ERR_VALIDATION. */
typedef enum err_code (*json_duration_fn)(struct str text, int64_t *out_ms, struct err *err);
typedef enum err_code (*json_time_fn)(struct str text, struct wall *out, struct err *err);

struct json_schema;

struct json_field {
    const char *name;
    size_t name_len;
    const char *doc; /* one line, for openapi.json */
    enum json_kind kind;
    unsigned flags;
    size_t offset;
    int64_t min; /* value for numbers (INT64_MIN: none), bytes for text, count for arrays */
    int64_t max;
    size_t count_offset; /* arrays */
    int64_t item_max;    /* array of strings: bytes of each */
    union {
        const struct json_word *words; /* for text and raw: documentation only */
        json_duration_fn parse_duration;
        json_time_fn parse_time;
        const struct json_schema *schema;
    };
    /* For the documentation and messages, not checked by the decoder: limits that the handler
     * checks itself, because they depend on more, or its errors have other codes and messages. */
    int64_t told_min;         /* 0: min */
    int64_t told_max;         /* 0: max; of a raw object: number of members */
    const char *told_type;    /* raw: type in the documentation; NULL: any JSON */
    const char *told_pattern; /* text: its pattern, unless it is one of the words */
};

/* The limits that clients are told. */
int64_t json_field_least(const struct json_field *f);
int64_t json_field_most(const struct json_field *f);

enum { JSON_FIELDS_MAX = 64, JSON_SCHEMA_DEPTH_MAX = 8 };

struct json_schema {
    const struct json_field *fields;
    size_t count;     /* at most JSON_FIELDS_MAX */
    size_t size;      /* of the struct */
    const void *init; /* values of absent members, a struct of that size; NULL: zeros */
    unsigned flags;
    bool has_set;      /* the struct records which members were present, */
    size_t set_offset; /* as bits of a uint64_t: bit n for row n */
};

/* Decode the object that text begins with into *out, whose old content is ignored. Texts and raw
 * values are views of text where possible; everything else is in the arena; *out is valid as
 * long as both. On failure the content of *out is undefined. ERR_TOO_LARGE if the arena is full
 * or a raw value is too long. */
ATTR_NODISCARD enum err_code json_schema_decode(const struct json_schema *schema, struct str text,
                                                struct arena *arena, void *out, struct err *err);

/* After a failed decode of an object: begin the path with this member, whose value it is. Returns
 * the code of err. */
enum err_code json_schema_inside(const char *member, struct err *err);

/* Abort if a table contradicts itself: repeated names, rows without a doc or with impossible
 * limits, schemas nested too deep. For tests and for startup. */
void json_schema_check(const struct json_schema *schema);

/* "string", "integer" …: the contract's name of the kind. */
const char *json_schema_kind_name(enum json_kind kind);

/* clang-format off */

#define JSON_SCHEMA(type, rows, ...)                                                               \
    {.fields = (rows), .count = COUNT_OF(rows), .size = sizeof(type), ##__VA_ARGS__}

/* For JSON_SCHEMA: the member of the struct that records which members were present. */
#define JSON_SET(type, member)                                                                     \
    .has_set = true, .set_offset = JSON_OFFSET(type, member, uint64_t)

/* The rows. Each checks the type of its C member: a row with a member of another type does not
 * compile. Enums are checked only for their size. Further documentation may follow the text:
 * .told_max = 512. */
#define JSON_OFFSET(type, member, ctype)                                                           \
    (offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (ctype *)0))
#define JSON_OFFSET_ENUM(type, member)                                                             \
    (offsetof(type, member) + 0 * sizeof(char[sizeof(((type *)0)->member) == sizeof(int) ? 1 : -1]))

#define JSON_ROW(wire, text, what, bits)                                                           \
    .name = (wire), .name_len = sizeof(wire) - 1, .doc = (text), .kind = (what), .flags = (bits)
#define JSON_RANGE(lo, hi) .min = (lo), .max = (hi)

#define JSON_STR(type, member, lo, hi, bits, text, ...)                                            \
    {JSON_ROW(#member, text, JSON_KIND_STR, bits), JSON_RANGE(lo, hi),                             \
     .offset = JSON_OFFSET(type, member, struct str), ##__VA_ARGS__}

#define JSON_I64(type, member, lo, hi, bits, text, ...)                                            \
    {JSON_ROW(#member, text, JSON_KIND_I64, bits), JSON_RANGE(lo, hi),                             \
     .offset = JSON_OFFSET(type, member, int64_t), ##__VA_ARGS__}

#define JSON_F64(type, member, lo, hi, bits, text)                                                 \
    {JSON_ROW(#member, text, JSON_KIND_F64, bits), JSON_RANGE(lo, hi),                             \
     .offset = JSON_OFFSET(type, member, double)}

#define JSON_BOOL(type, member, bits, text)                                                        \
    {JSON_ROW(#member, text, JSON_KIND_BOOL, bits), .offset = JSON_OFFSET(type, member, bool)}

#define JSON_RAW(type, member, hi, bits, text, ...)                                                \
    {JSON_ROW(#member, text, JSON_KIND_RAW, bits), JSON_RANGE(0, hi),                              \
     .offset = JSON_OFFSET(type, member, struct str), ##__VA_ARGS__}

#define JSON_WORD(type, member, list, bits, text)                                                  \
    {JSON_ROW(#member, text, JSON_KIND_WORD, bits), .words = (list),                               \
     .offset = JSON_OFFSET_ENUM(type, member)}

/* The C member has its unit in its name, the JSON member does not; so both names are needed. */
#define JSON_DURATION(type, member, wire, parse, lo, hi, bits, text)                               \
    {JSON_ROW(wire, text, JSON_KIND_DURATION, bits), JSON_RANGE(lo, hi),                           \
     .parse_duration = (parse), .offset = JSON_OFFSET(type, member, int64_t)}

#define JSON_TIME(type, member, parse, bits, text)                                                 \
    {JSON_ROW(#member, text, JSON_KIND_TIME, bits), .parse_time = (parse),                         \
     .offset = JSON_OFFSET(type, member, struct wall)}

#define JSON_STRS(type, member, counter, lo, hi, item_hi, bits, text, ...)                         \
    {JSON_ROW(#member, text, JSON_KIND_STRS, bits), JSON_RANGE(lo, hi), .item_max = (item_hi),     \
     .offset = JSON_OFFSET(type, member, struct str *),                                            \
     .count_offset = JSON_OFFSET(type, counter, size_t), ##__VA_ARGS__}

#define JSON_OBJECT(type, member, inner, rows, bits, text)                                         \
    {JSON_ROW(#member, text, JSON_KIND_OBJECT, bits), .schema = (rows),                            \
     .offset = JSON_OFFSET(type, member, __typeof__(inner) *)}

#define JSON_OBJECTS(type, member, counter, inner, rows, lo, hi, bits, text, ...)                  \
    {JSON_ROW(#member, text, JSON_KIND_OBJECTS, bits), JSON_RANGE(lo, hi), .schema = (rows),       \
     .offset = JSON_OFFSET(type, member, __typeof__(inner) *),                                     \
     .count_offset = JSON_OFFSET(type, counter, size_t), ##__VA_ARGS__}

/* clang-format on */
