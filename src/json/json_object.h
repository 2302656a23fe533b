/*
 * Json_object: merges objects, for payloads that the server itself creates.
 *
 * Deterministic: the result depends on the bytes given and on nothing else. Objects are raw JSON
 * that json_scan has accepted; anything that is not an object, the empty text included, counts as
 * an object without members. The result is compact and is appended to out, which may overflow. Keys
 * are compared decoded: "\u0061" is "a".
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct json_object_pair {
    struct str key;   /* plain text, in UTF-8 */
    struct str value; /* raw JSON */
};

/* Append the pairs in their order, each with the value that object has for its key, otherwise with
 * the pair's value; then the other members of object in their order. */
void json_object_override(struct buf *out, const struct json_object_pair *pairs, size_t count,
                          struct str object);

/* Append the members of object in their order; then the pairs whose keys object does not have. */
void json_object_complete(struct buf *out, struct str object, const struct json_object_pair *pairs,
                          size_t count);
