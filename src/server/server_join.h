/*
 * Server_join: becoming a member of a cluster that is there, or beginning it together.
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
#include "server/server_lobby.h"
#include "server/settings.h"

/* All live until the last function has returned. */
struct server_join {
    const struct settings *settings;
    struct discover *discover;  /* NULL: nobody was named */
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
 * nobody answers; ERR_JOIN when a member refuses, or nobody answered for too long. */
ATTR_NODISCARD enum err_code server_join(const struct server_join *j, struct engine *e,
                                         struct err *err);
