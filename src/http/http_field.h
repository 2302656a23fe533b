/*
 * Http_field: which bytes a header may contain, in requests and in responses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Count the token characters at the start of s (RFC 9110, 5.6.2). */
size_t http_field_token_len(struct str s);

/* Count the bytes at the start of s that are allowed in a request target: no control bytes, blanks
 * or fragment. Bytes above ASCII are allowed, because some clients send a path as it was typed. */
size_t http_field_target_len(struct str s);

/* Count the bytes at the start of s that are allowed in a value: no control bytes except tab. */
size_t http_field_value_len(struct str s);

/* Remove spaces and tabs at both ends. */
struct str http_field_trim(struct str s);

/* Is the name, a token, equal to lower, ignoring case? lower has lower-case letters, digits and
 * dashes only. */
bool http_field_is(struct str name, struct str lower);

/* Does the comma-separated list contain the word, ignoring case? */
bool http_field_list_has(struct str list, struct str word);

/* Is it a header of the connection? Only the server writes these, and HTTP/2 has none of them. */
bool http_field_is_connections(struct str name);

/* Copy a value to out, which has room for value.len bytes. Control bytes other than tab become
 * spaces. */
void http_field_copy_value(char *out, struct str value);
