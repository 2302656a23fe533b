/*
 * Server_trace: tracing as the settings have it.
 */
#pragma once

#include "base/arena.h"
#include "server/settings.h"
#include "trace/trace.h"

/* NULL if tracing is off. Texts are in the arena, which outlives it. */
struct trace *server_trace_open(const struct settings *set, struct arena *arena,
                                const char *user_agent);
