/*
 * Settings_fallback: settings under their Scheduled-DB names (scheduler.md 15).
 *
 * Scheduled-DB's variables have the lowest priority, below all of ours. An empty variable counts as
 * not set. One with an invalid value is ignored with a warning, because manifests for that server
 * set variables that it ignores. Its flags are in the table of settings; where it has a separate
 * host and port, they are parts of our address.
 */
#pragma once

#include "base/arena.h"
#include "server/settings.h"

/* Read the variables that are set into out. Texts live in the environment or the arena. */
void settings_fallback_read(char **environment, struct arena *arena, struct settings *out);

/* Call it after each source: combine the parts that it contained into settings. */
void settings_fallback_merge(char **environment, struct arena *arena, struct settings *out);
