/*
 * Settings_fallback: the names that Scheduled-DB has for settings (scheduler.md 15).
 *
 * Its variables are below everything that is ours. An empty variable is not set; one that makes no
 * sense is left out, with a warning, because the manifests of that server set what it ignores. Its
 * flags are in the table of settings: where it has a host and a port, and we an address, they are
 * parts of it.
 */
#pragma once

#include "base/arena.h"
#include "server/settings.h"

/* Put the values of variables that are set into out. Texts live in the environment or the arena. */
void settings_fallback_read(char **environment, struct arena *arena, struct settings *out);

/* After each source: make settings of ours of the parts that it had. */
void settings_fallback_merge(char **environment, struct arena *arena, struct settings *out);
