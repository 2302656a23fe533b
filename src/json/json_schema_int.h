/*
 * What json_schema.c (the walk over the text) and json_member.c (what one value means to its row)
 * share.
 */
#pragma once

#include "json/json_scan.h"
#include "json/json_schema.h"

/* One object that is being filled. */
struct json_frame {
    const struct json_schema *schema;
    char *base;                     /* the struct */
    uint64_t seen;                  /* bit n: row n was present */
    size_t next;                    /* the row that is likely to come next */
    const struct json_field *field; /* the member at hand, or NULL */

    /* While the member at hand is an array: */
    bool list;
    char *items;
    size_t count;
    size_t cap;
};

struct json_decode {
    struct json_scan scan;
    struct arena *arena;
    struct err *err;
    struct json_frame frames[JSON_SCHEMA_DEPTH_MAX]; /* the outermost first */
    unsigned depth;
};

static inline struct json_frame *json_schema__top(struct json_decode *d)
{
    return &d->frames[d->depth - 1];
}

/* Put the path of the member at hand before what is in err: "jobs[3].priority: …". */
enum err_code json_schema__wrap(struct json_decode *d);

/* Fail with what is said, behind the path. */
enum err_code json_schema__refuse(struct json_decode *d, enum err_code code, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
enum err_code json_schema__refuse_type(struct json_decode *d, enum json_type expected,
                                       enum json_type got);
enum err_code json_schema__refuse_missing(struct json_decode *d);
enum err_code json_schema__refuse_large(struct json_decode *d, size_t bytes);

/* The row's limits are not met: "expected 1 to 9 bytes, got 12". */
enum err_code json_schema__refuse_size(struct json_decode *d, const char *unit, int64_t got);

/* The member at hand is as if it had not been there. */
void json_schema__absent(struct json_decode *d);

/* Put the value, which is of the JSON type that the kind wants, into the member at hand. Not for
 * arrays and objects. */
ATTR_NODISCARD enum err_code json_member__store(struct json_decode *d, struct json_value value);

/* The text of a string. */
ATTR_NODISCARD enum err_code json_member__text(struct json_decode *d, struct json_value value,
                                               struct str *out);

enum { JSON_SHOWN_MAX = 32 }; /* how much of a wrong value a message repeats */
