/*
 * Settings_check: values that have the right type and still make no sense: texts without the form
 * that they must have, and settings that do not go together. Each is refused at the start, by
 * name, instead of failing whoever meets it later.
 */
#pragma once

#include "server/settings.h"

/* Check each text by itself, as it was given. */
ATTR_NODISCARD enum err_code settings_check_texts(const struct settings *s, struct err *err);

/* Check all settings together, after the addresses that were not given have been derived. */
ATTR_NODISCARD enum err_code settings_check_together(const struct settings *s, struct err *err);
