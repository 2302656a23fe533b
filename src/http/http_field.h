/*
 * Http_field: which bytes a header may contain, in requests and in responses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* How many bytes at the start of s are token characters (RFC 9110, 5.6.2). */
size_t http_field_token_len(struct str s);

/* How many bytes at the start of s may stand in a request's target: no control bytes, no blank, no
 * fragment. Bytes above ASCII are let through, because clients do send a path as it was typed. */
size_t http_field_target_len(struct str s);

/* How many bytes at the start of s may stand in a value: no control bytes except the tab. */
size_t http_field_value_len(struct str s);

/* Without the spaces and tabs at both ends. */
struct str http_field_trim(struct str s);

/* Is the name, a token, this one, in any case? The latter has small letters, digits and dashes. */
bool http_field_is(struct str name, struct str lower);

/* Does the comma-separated list have this word, in any case? */
bool http_field_list_has(struct str list, struct str word);

/* A header that belongs to the connection: only the server writes it, and HTTP/2 has none of it. */
bool http_field_is_connections(struct str name);

/* Copy a value to out, control bytes as spaces; out has room for value.len. */
void http_field_copy_value(char *out, struct str value);
