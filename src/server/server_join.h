/*
 * Server_join: becoming a member of a cluster that is there.
 *
 * A node that begins no cluster of its own asks the nodes that are found (discover/), one after the
 * other, over their HTTP API; they answer with the number of their cluster, and the leader gets in
 * touch over the peer port. A node whose data folder belongs to a cluster asks nobody.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "discover/discover.h"
#include "engine/engine.h"
#include "server/settings.h"

/* Does this node begin the cluster, of those that are to begin it together? The first of their
 * addresses does, unless another of them is a member already. */
bool server_join_founds(const struct settings *s, struct discover *d);

/* Join, and wait until this node has the state that the others have. Waits and asks again while
 * nobody answers; ERR_JOIN when a member refuses, or nobody answered for too long. */
ATTR_NODISCARD enum err_code server_join(const struct settings *s, struct engine *e,
                                         struct discover *d, const char *http_url, struct err *err);
