/*
 * Server_lobby: answers at the API addresses while the cluster is still forming.
 *
 * Probes get the response of a node that is alive but not ready, instead of a closed port
 * (scheduler.md 14.2). Other nodes see which nodes are waiting, and whether a node already belongs
 * to a cluster. The lobby knows nothing about jobs. The server takes over the addresses when the
 * node has become a member.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "discover/discover.h"
#include "http/http_server.h"

struct server_lobby;

struct server_lobby_config {
    struct http_server_config http; /* the functions in it are not used */
    struct str node_id;
    struct str raft_address;
    bool has_password; /* do not show the other nodes to anybody */
    bool open_access;  /* without a password, show them to everybody, not only to this machine */
    bool joined;       /* it already belongs to a cluster */
};

/* The texts must live as long as the lobby. */
ATTR_NODISCARD enum err_code server_lobby_open(const struct server_lobby_config *config,
                                               struct server_lobby **out, struct err *err);
void server_lobby_close(struct server_lobby *l); /* NULL is allowed, here and below */

/* What /health reports in addition to "forming": nothing; "founding", so that no other node creates
 * a cluster; or "joined", so that no node creates another one. */
enum server_lobby_state { SERVER_LOBBY_WAITS, SERVER_LOBBY_FOUNDS, SERVER_LOBBY_JOINED };
void server_lobby_set(struct server_lobby *l, enum server_lobby_state state);

/* Another node, as far as it is known. */
struct server_lobby_node {
    char id[DISCOVER_NAME_BYTES];
    char address[DISCOVER_NAME_BYTES]; /* Raft address */
};

/* The nodes that were seen last, for /debug/cluster; they are copied. */
void server_lobby_know(struct server_lobby *l, const struct server_lobby_node *nodes, size_t count);
