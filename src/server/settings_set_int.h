/*
 * Settings_set: a value for one row of the table. For the files that read settings.
 */
#pragma once

#include "server/settings_table_int.h"

/* The row of a setting; NULL if there is none. */
const struct settings_table_row *settings_set__find(struct str name);

/* Parse the value, check it and store it. */
ATTR_NODISCARD enum err_code settings_set__row(const struct settings_table_row *s, struct str value,
                                               struct settings *out, struct err *err);

/* The setting is accepted for compatibility only. */
bool settings_set__is_idle(const struct settings_table_row *s);
