/*
 * Server_discover: what the server does with the nodes that discover/ finds while it runs.
 *
 * A thread of its own looks again and again, for the metrics and for gossip's seeds. With
 * --discover-remove-after the leader also takes members out that have vanished: a member that was
 * not found for that long, does not answer at its API, and without which a majority of the rest is
 * alive (scheduler.md 14.3). A lookup that fails says nothing about anybody.
 */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "discover/discover.h"
#include "engine/engine.h"
#include "server/settings.h"

/* NULL in *out where nothing is to be found: no other node was named. */
ATTR_NODISCARD enum err_code server_discover_open(const struct settings *s, const char *http_url,
                                                  struct discover **out, struct err *err);

struct server_discover;

/* Looks until it is stopped; discover is its own meanwhile. */
struct server_discover *server_discover_start(const struct settings *s, struct engine *e,
                                              struct discover *d);
void server_discover_stop(struct server_discover *w); /* NULL is fine */
