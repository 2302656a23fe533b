/*
 * Shared by json_schema.c (iterates over the text), json_member.c (stores one value) and
 * json_frame.c (the object that is being filled).
 */
#pragma once

#include "json/json_scan.h"
#include "json/json_schema.h"

/* An object that is being filled. */
struct json_frame {
    const struct json_schema *schema;
    char *base;                     /* the struct */
    uint64_t seen;                  /* bit n: row n was present */
    size_t next;                    /* row that is expected next */
    const struct json_field *field; /* current member, or NULL */

    /* While the current member is an array: */
    bool list;
    char *items;
    size_t count;
    size_t cap;
};

struct json_decode {
    struct json_scan scan;
    struct arena *arena;
    struct err *err;
    struct json_frame frames[JSON_SCHEMA_DEPTH_MAX]; /* outermost first */
    unsigned depth;
};

static inline struct json_frame *json_frame__top(struct json_decode *d)
{
    return &d->frames[d->depth - 1];
}

struct json_frame_kind {
    const char *name;
    enum json_type type; /* JSON_TYPE_COUNT: depends on the row */
    size_t size;         /* of the member */
};
extern const struct json_frame_kind json_frame__kinds[JSON_KIND_COUNT];

static inline bool json_frame__is_list(const struct json_field *field)
{
    return field->kind == JSON_KIND_STRS || field->kind == JSON_KIND_OBJECTS;
}

/* Prepend the path of the current member to err: "jobs[3].priority: …". */
enum err_code json_frame__wrap(struct json_decode *d);

/* Fail with this message, after the path. */
enum err_code json_frame__refuse(struct json_decode *d, enum err_code code, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
enum err_code json_frame__refuse_type(struct json_decode *d, enum json_type expected,
                                      enum json_type got);
enum err_code json_frame__refuse_missing(struct json_decode *d);
enum err_code json_frame__refuse_large(struct json_decode *d, size_t bytes);

/* Fail because the row's limits are not met: "expected 1 to 9 bytes, got 12". */
enum err_code json_frame__refuse_size(struct json_decode *d, const char *unit, int64_t got);

/* Give bytes of the struct their defaults. */
void json_frame__set_default(struct json_frame *f, size_t offset, size_t size);

/* Treat the current member as absent. */
void json_frame__absent(struct json_decode *d);

/* Store the value, which is of the JSON type that the kind requires, in the current member. Not
 * for arrays and objects. */
ATTR_NODISCARD enum err_code json_member__store(struct json_decode *d, struct json_value value);

/* The text of a string. */
ATTR_NODISCARD enum err_code json_member__text(struct json_decode *d, struct json_value value,
                                               struct str *out);

enum { JSON_SHOWN_MAX = 32 }; /* maximum length of an invalid value in a message */
