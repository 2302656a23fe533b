/*
 * Timestamp: moments as text (http-api.md 2.2).
 *
 * Read are RFC 3339 with a zone ("2026-02-11T10:00:00.5+01:00"), a date alone (midnight UTC) and a
 * date and time without a zone (UTC): "2026-02-11T10:00", seconds and fraction optional. Digits
 * past the nanosecond are dropped. Written is RFC 3339 in UTC without zeros at the end of the
 * fraction.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

/* ERR_VALIDATION when text is none of these forms or no day of the calendar. A moment that struct
 * wall cannot hold becomes the nearest that it can: the first nanosecond after the epoch, because 0
 * means "not set", or the last one of 2262. */
ATTR_NODISCARD enum err_code timestamp_parse(struct str text, struct wall *out, struct err *err);

/* The same for a moment that is to be kept: one after 2262 is refused, not moved. */
ATTR_NODISCARD enum err_code timestamp_parse_kept(struct str text, struct wall *out,
                                                  struct err *err);

/* The seconds from 1970 to any moment of the calendar, without its fraction. */
ATTR_NODISCARD enum err_code timestamp_parse_s(struct str text, int64_t *out_s, struct err *err);

enum { TIMESTAMP_TEXT_MAX = 32 };

/* Write a moment into out, which has room for TIMESTAMP_TEXT_MAX; returns the length. */
size_t timestamp_format(struct wall at, char *out);
