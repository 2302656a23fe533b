/*
 * Rest_query: query parameters, decoded with the same kind of table as a body.
 *
 * A route with parameters has a row in its resource's `queries`, which names the table. The
 * parameters are converted to a JSON object with the types of the rows, and that object is decoded.
 * Limits, defaults and the description in openapi.json therefore work as for bodies. An empty value
 * counts as absent, except that of a boolean. If a name is repeated, the first one is used. Unknown
 * names are ignored.
 *
 * A table for a query can contain: text, integers, booleans (true, false, 1 or 0), words,
 * durations, times, and arrays of texts. With JSON_LAX, an integer that is not a number or out of
 * range counts as absent.
 */
#pragma once

#include "rest/rest_int.h"

/* A flag of a row, in addition to those of json_schema.h: the array is one comma-separated value;
 * blanks around its parts and empty parts are ignored. Without the flag the parameter may
 * repeat. */
enum { REST_QUERY_COMMAS = 1 << 16 };

/* Maximum number of values of one parameter in a request. */
enum { REST_QUERY_VALUES_MAX = 32 * 1024 };

/* Decode into c->query. False, with the call ended by "invalid <name>: …", if a value is
 * invalid. */
ATTR_NODISCARD bool rest_query__read(struct rest_call *c, const struct json_schema *schema);

/* Parse an end of a time range: a time, or a duration before now; empty means now. */
ATTR_NODISCARD bool rest_query__moment(struct str text, struct wall now, struct wall *out);
#define REST_QUERY_MOMENT_REFUSAL                                                                  \
    "from, to: must be a time such as 2026-02-11T10:00:00Z or a duration before now such as 1h"
