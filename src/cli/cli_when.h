/*
 * Cli_when: parses times as users type them.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/str.h"

/* A time (RFC 3339), a date, "now", "today", "yesterday" or "tomorrow", optionally with "HH:MM" in
 * the local time zone, "-1h", "+5m", or a bare duration, which means before now, or after now if
 * ahead is true. */
ATTR_NODISCARD bool cli_when_parse(struct str text, struct wall now, bool ahead, struct wall *out);
