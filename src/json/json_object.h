/*
 * Json_object: new objects from old ones, for payloads that the server itself makes.
 *
 * Deterministic: the result depends on the bytes given and on nothing else. Objects are raw JSON
 * that json_scan has accepted; anything that is not an object, the empty text included, counts as
 * an object without members. The result is compact and goes behind what is in out, which may
 * overflow. Keys are compared decoded: "\u0061" is "a".
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct json_object_pair {
    struct str key;   /* plain text, in UTF-8 */
    struct str value; /* raw JSON */
};

/* The pairs in their order, each with the value that object has under its key, if it has one, else
 * with its own; then the other members of object in their order. */
void json_object_override(struct buf *out, const struct json_object_pair *pairs, size_t count,
                          struct str object);

/* The members of object in their order; then the pairs whose key it does not have. */
void json_object_complete(struct buf *out, struct str object, const struct json_object_pair *pairs,
                          size_t count);
