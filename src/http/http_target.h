/*
 * Http_target: the target of a request (path and query), split and decoded once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/str.h"
#include "http/http_request.h"

struct http_target {
    struct str path_raw; /* views of the target */
    struct str query;
};

/* Split "/path?query", "*" or "http://host/path?query". False for any other form. */
ATTR_NODISCARD bool http_target_split(struct str target, struct http_target *out);

/* Percent-decode s, a path or part of one. The result is in the arena if anything was encoded.
 * False if s has a '%' without two hex digits or an encoded NUL, or the arena is full. */
ATTR_NODISCARD bool http_target_decode(struct arena *arena, struct str s, struct str *out);

enum { HTTP_TARGET_PARAMS_MAX = 256 }; /* further query parameters are ignored */

/* Decode the parameters of a query string, in order, into the arena. '+' is a space; an invalid '%'
 * is kept. *out_count is 0 if the arena is full. */
const struct http_param *http_target_params(struct arena *arena, struct str query,
                                            size_t *out_count);
