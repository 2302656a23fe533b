/*
 * Server_join: joins an existing cluster, or forms a new one with other nodes.
 *
 * A node that does not start its own cluster asks the nodes that discover/ found, one after the
 * other, over their HTTP API. They respond with the id of their cluster, and the leader then
 * connects to the peer port of the new node. If nobody is named whom it could ask, the node waits
 * until the leader of a cluster invites it (engine_invite.h). A node whose data folder already
 * belongs to a cluster asks nobody.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "discover/discover.h"
#include "engine/engine.h"
#include "server/server_lobby.h"
#include "server/settings.h"

/* Everything here must live until the last function has returned. */
struct server_join {
    const struct settings *settings;
    struct discover *discover;  /* NULL: no nodes are configured, so it waits for an invitation */
    struct server_lobby *lobby; /* NULL: other nodes cannot query this node */
    const char *http_url;       /* URL of its own API */
    int stop_fd;                /* when readable: stop with ERR_STOPPING */
};

/* Decide whether this node creates the cluster that several nodes form together (scheduler.md
 * 14.2). Waits until the expected number of nodes, itself included, has responded. The node with
 * the smallest id creates the cluster, unless one of them already belongs to one. Returns ERR_JOIN
 * if too few nodes respond in time. */
ATTR_NODISCARD enum err_code server_join_founds(const struct server_join *j, bool *out,
                                                struct err *err);

/* Join the cluster, and wait until this node has its state. Repeats the requests while nobody
 * responds. Returns ERR_JOIN if a member refuses, or if nobody responds for too long. Waits for an
 * invitation without a limit. */
ATTR_NODISCARD enum err_code server_join(const struct server_join *j, struct engine *e,
                                         struct err *err);
