/*
 * Str: a view of bytes. It does not own them, may contain NUL bytes and is passed by value.
 *
 * Everything that is parsed is a str; a NUL-terminated string exists only at system calls and
 * foreign interfaces.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/check.h"

struct str {
    const char *ptr; /* may be NULL only when len is 0 */
    size_t len;
};

#define STR(lit)   ((struct str){.ptr = "" lit, .len = sizeof(lit) - 1})
#define STR_EMPTY  ((struct str){.ptr = NULL, .len = 0})
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).len, (s).len > 0 ? (s).ptr : ""

/* Return a view of a NUL-terminated string from a trusted source; empty for NULL. */
static inline struct str str_from_z(const char *z)
{
    return z == NULL ? STR_EMPTY : (struct str){.ptr = z, .len = strlen(z)};
}

static inline struct str str_from(const void *ptr, size_t len)
{
    return (struct str){.ptr = ptr, .len = len};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Compare in byte order; a prefix is less than longer strings. */
int str_cmp(struct str a, struct str b);

bool str_starts_with(struct str s, struct str prefix);

/* Compare len bytes; only ASCII letters are compared without case. */
bool str_same_nocase(const char *a, const char *b, size_t len);

static inline bool str_eq_nocase(struct str a, struct str b)
{
    return a.len == b.len && str_same_nocase(a.ptr, b.ptr, a.len);
}

/* Remove ASCII white space at both ends. */
struct str str_trim(struct str s);

/* Return at most max bytes from the start, without splitting a UTF-8 character. */
struct str str_at_most(struct str s, size_t max);

/* Split at the first such character: returns the part before it, or all if there is none, and sets
 * *rest to the part after it. An empty list has no words, so: while (rest.len > 0) { …
 * str_cut(&rest, ',') … } */
struct str str_cut(struct str *rest, char at);

/* Write the words of a list separated by blanks, "a b c", as "a, b or c". A text that does not fit
 * is truncated. The result is zero-terminated. */
const char *str_choices(const char *words, char *out, size_t size);

/* Return the part of s from an offset on, which must be at most its length. */
static inline struct str str_from_offset(struct str s, size_t at)
{
    CHECK(at <= s.len);
    return s.len == 0 ? s : str_from(s.ptr + at, s.len - at);
}

/* Parse all of s as a decimal number: optional '-', digits, nothing else. False if it is
 * anything else or does not fit; *out is then unchanged. */
ATTR_NODISCARD bool str_to_i64(struct str s, int64_t *out);

/* Well-formed UTF-8 by RFC 3629: no surrogates, nothing overlong, nothing past U+10FFFF. */
bool str_is_utf8(struct str s);

/* Length of the first character of s in bytes; 0 if s is empty or not well-formed UTF-8 there. */
size_t str_utf8_len(struct str s);

/* Is any byte an ASCII control character (0 to 31, and 127)? */
bool str_has_control(struct str s);
