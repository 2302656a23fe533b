/*
 * Settings_table: one row for each setting of the server.
 */
#pragma once

#include <stddef.h>

#include "server/settings.h"

enum settings_kind {
    KIND_TEXT,
    KIND_BOOL,
    KIND_NUMBER,
    KIND_REAL,
    KIND_DURATION,
    KIND_NANOSECONDS, /* a duration that may be shorter than a millisecond */
};

struct settings_table_row {
    const char *name;
    enum settings_kind kind;
    size_t offset;
    double min, max;   /* for numbers, and milliseconds (or nanoseconds) of durations */
    const char *words; /* for texts: the allowed words, separated by blanks; NULL: any text */
    const char *shown; /* the default, as shown in help */
    const char *help;
};

extern const struct settings_table_row settings_table__rows[];
extern const size_t settings_table__count;
extern const struct settings settings_table__defaults;
