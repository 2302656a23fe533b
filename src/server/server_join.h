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

/* All live until the last function has returned. */
struct server_join {
    const struct settings *settings;
    struct discover *discover;  /* NULL: nobody was named, it is invited */
    struct server_lobby *lobby; /* NULL: nobody can ask this node */
    const char *http_url;       /* of its own API */
    int stop_fd;                /* readable: give up with ERR_STOPPING */
};

/* Does this node begin the cluster, of those that are to begin it together (scheduler.md 14.2)?
 * Waits until as many as that have answered, itself included; the smallest node id begins, unless
 * one of them belongs to a cluster already. ERR_JOIN when they do not come in time. */
ATTR_NODISCARD enum err_code server_join_founds(const struct server_join *j, bool *out,
                                                struct err *err);

/* Join, and wait until this node has the state that the others have. Waits and asks again while
 * nobody answers; ERR_JOIN when a member refuses, or nobody answered for too long. For an
 * invitation it waits as long as it takes. */
ATTR_NODISCARD enum err_code server_join(const struct server_join *j, struct engine *e,
                                         struct err *err);
