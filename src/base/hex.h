/*
 * Hex: bytes as lower-case hexadecimal digits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/str.h"

/* Write n bytes as 2n digits; returns their end. */
char *hex_write(char *out, const void *bytes, size_t n);

/* Read 2n digits as n bytes. False if there are more or fewer, or another character, also an
 * upper-case digit; out may be partly written then. */
ATTR_NODISCARD bool hex_read(struct str text, void *out, size_t n);
