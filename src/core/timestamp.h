/*
 * Timestamp: parses and formats points in time (http-api.md 2.2).
 *
 * Accepts RFC 3339 with a zone ("2026-02-11T10:00:00.5+01:00"), a date alone (midnight UTC) and a
 * date and time without a zone (UTC): "2026-02-11T10:00", seconds and fraction optional. Digits
 * past the nanosecond are dropped. Output is RFC 3339 in UTC without trailing zeros in the
 * fraction.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

/* ERR_VALIDATION if text has none of these forms or is not a valid date. A time outside the
 * range of struct wall becomes the nearest one in range: the first nanosecond after the epoch,
 * because 0 means "not set", or the last one of 2262. */
ATTR_NODISCARD enum err_code timestamp_parse(struct str text, struct wall *out, struct err *err);

/* The same for a time that is to be stored: a time after 2262 is refused. */
ATTR_NODISCARD enum err_code timestamp_parse_kept(struct str text, struct wall *out,
                                                  struct err *err);

/* Parse any calendar time to seconds since 1970, without the fraction. */
ATTR_NODISCARD enum err_code timestamp_parse_s(struct str text, int64_t *out_s, struct err *err);

enum { TIMESTAMP_TEXT_MAX = 32 };

/* Write to out, which has room for TIMESTAMP_TEXT_MAX bytes. Returns the length. */
size_t timestamp_format(struct wall at, char *out);
