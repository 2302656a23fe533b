/*
 * Json_write: JSON text, written piece by piece into a buf.
 *
 * The writer adds the commas and colons and tracks the open containers; using it wrongly (a value
 * without a key, an end without a begin) is a bug and stops the process. The text is compact. The
 * buf's limit is the text's limit: past it nothing more is written, and the caller checks
 * buf.overflow once, at the end.
 *
 *     struct json_write w = json_write_to(&out);
 *     json_write_object(&w);
 *     json_write_key(&w, STR("id"));
 *     json_write_str(&w, id);
 *     json_write_end(&w);
 *     json_write_finish(&w);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum { JSON_WRITE_DEPTH_MAX = 32 }; /* of the server's documents; raw values may nest deeper */

/* Open so that it can live on the stack; the members are private. */
struct json_write {
    struct buf *out;
    uint32_t objects; /* one bit per open container, the outermost lowest; set for objects */
    unsigned depth;
    bool comma; /* a comma is due before the next key or element */
    bool keyed; /* a key was written, its value is due */
    bool done;  /* the outermost value is complete */
};

/* Append one value to out, which the caller owns. */
struct json_write json_write_to(struct buf *out);

void json_write_object(struct json_write *w);
void json_write_array(struct json_write *w);
void json_write_end(struct json_write *w); /* end the innermost object or array */

void json_write_key(struct json_write *w, struct str key);

/* Bytes that are not UTF-8 become U+FFFD, so that the output is always valid JSON. */
void json_write_str(struct json_write *w, struct str text);
void json_write_i64(struct json_write *w, int64_t v);
void json_write_u64(struct json_write *w, uint64_t v);
void json_write_bool(struct json_write *w, bool v);
void json_write_null(struct json_write *w);

/* The fewest digits that read back as v (subnormal numbers may get more), without an exponent
 * from 1e-6 up to 1e21. Infinities and NaN become null. */
void json_write_f64(struct json_write *w, double v);

/* Write a value that is already JSON. */
void json_write_raw(struct json_write *w, struct str value);

/* Check that everything has ended and one value was written. */
void json_write_finish(const struct json_write *w);
