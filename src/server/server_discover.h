/*
 * Server_discover: what the server does with the nodes that discover/ finds while it runs.
 *
 * A thread repeats the lookup, for the metrics and for the seeds of gossip. With --discover-remove-
 * after, the leader also removes members that disappeared: a member that was not found for that
 * long and whose API does not respond, provided that a majority of the remaining members is alive
 * (scheduler.md 14.3). A lookup that fails does not count against any member.
 */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "discover/discover.h"
#include "engine/engine.h"
#include "server/settings.h"

/* *out is NULL if discovery is not configured. */
ATTR_NODISCARD enum err_code server_discover_open(const struct settings *s, const char *http_url,
                                                  struct discover **out, struct err *err);

struct server_discover;

/* Runs until it is stopped, and uses discover exclusively until then. */
struct server_discover *server_discover_start(const struct settings *s, struct engine *e,
                                              struct discover *d);
void server_discover_stop(struct server_discover *w); /* NULL is allowed */
