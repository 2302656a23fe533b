/*
 * Json_value: a value in JSON text, and its conversion to C types.
 *
 * A value is created by json_scan, which has checked its text; it owns nothing. Numbers stay text
 * until they are converted, so that none passes through a double unnecessarily.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum json_type {
    JSON_TYPE_NULL,
    JSON_TYPE_BOOL,
    JSON_TYPE_NUMBER,
    JSON_TYPE_STRING,
    JSON_TYPE_ARRAY,
    JSON_TYPE_OBJECT,
    JSON_TYPE_COUNT
};

/* A scanned value: a view of its source, valid as long as that is. */
struct json_value {
    enum json_type type;
    bool escaped;    /* a string that contains a backslash */
    struct str text; /* without the white space around it; a string with its quotes */
};

/* The text of a string: a view of its source if it has no escapes, else decoded into the arena.
 * Half a surrogate pair, which clients send when they truncate text, becomes U+FFFD.
 * ERR_TOO_LARGE if the arena is full. */
ATTR_NODISCARD enum err_code json_value_text(struct json_value value, struct arena *arena,
                                             struct str *out, struct err *err);

/* The same, appended to out, which may overflow. */
void json_value_text_buf(struct json_value value, struct buf *out);

/* The length of the decoded string in bytes. */
size_t json_value_text_len(struct json_value value);

/* Does the string, decoded, equal text? */
bool json_value_text_eq(struct json_value value, struct str text);

/* A number written as an integer ("-12", not "1.0" nor "1e3") that fits. False for anything
 * else; *out is then unchanged. */
ATTR_NODISCARD bool json_value_i64(struct json_value value, int64_t *out);

/* A number of at most 128 characters that is finite as a double. False for anything else. */
ATTR_NODISCARD bool json_value_f64(struct json_value value, double *out);

ATTR_NODISCARD bool json_value_bool(struct json_value value, bool *out);

/* "null", "a boolean", "a number" …, for messages. */
const char *json_value_type_name(enum json_type type);
