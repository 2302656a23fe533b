/*
 * Proto_json_encode: encodes a message as JSON, by the mapping of proto3.
 *
 * Names are lowerCamelCase, defaults are omitted, 64-bit integers are decimal strings, non-finite
 * doubles are "NaN", "Infinity" and "-Infinity", times are RFC 3339 in UTC with 0, 3, 6 or 9 digits
 * of fraction.
 */
#pragma once

#include "json/json_write.h"
#include "proto/proto.h"

/* Write message, a struct of the given type, as one value. */
void proto_json_encode(const struct proto_message *type, const void *message, struct json_write *w);
