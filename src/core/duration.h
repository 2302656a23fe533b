/*
 * Duration: lengths of time as text, "1h30m" or "250ms" (http-api.md 2.3).
 *
 *     [+-]? ( digits [. digits] unit )+    with unit ns us µs ms s m h d w;    or 0
 *
 * The maximum is a signed 64-bit count of nanoseconds, 292 years, as for struct wall.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

/* Parse to milliseconds, rounded down. ERR_VALIDATION if text is invalid, negative or too long.
 * The empty text is invalid; if it means "not set", the caller must check that. */
ATTR_NODISCARD enum err_code duration_parse(struct str text, int64_t *out_ms, struct err *err);

/* The same in nanoseconds. */
ATTR_NODISCARD enum err_code duration_parse_ns(struct str text, int64_t *out_ns, struct err *err);

enum { DURATION_TEXT_MAX = 32 };

/* Write ns as Go does ("1m0s", "1.5ms", "100µs", "0s") to out, which has room for DURATION_TEXT_MAX
 * bytes. Returns the length. */
size_t duration_format(int64_t ns, char *out);
