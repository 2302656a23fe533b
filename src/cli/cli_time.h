/*
 * Cli_time: prints times in a form that is easy to read.
 */
#pragma once

#include <stddef.h>

#include "base/clock.h"

enum { CLI_TIME_TEXT_MAX = 32 };

/* Format a time relative to now, "now", "12s ago", "5m ago", "in 3h" or "4d ago", in the largest
 * unit that fits, into out, which has room for CLI_TIME_TEXT_MAX. Returns the length. */
size_t cli_time_relative(struct wall at, struct wall now, char *out);
