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
    struct http_server_config http; /* its functions are not used */
    struct str node_id;
    struct str raft_address;
    bool has_password; /* nobody is told about the other nodes */
    bool open_access;  /* without a password everybody is, not only this machine */
    bool joined;       /* it belongs to a cluster from the beginning */
};

/* Texts live as long as the lobby. */
ATTR_NODISCARD enum err_code server_lobby_open(const struct server_lobby_config *config,
                                               struct server_lobby **out, struct err *err);
void server_lobby_close(struct server_lobby *l); /* NULL is fine, here and below */

/* What /health says beside "forming": nothing; "founding", so that nobody else begins a cluster;
 * "joined", so that nobody begins another one. */
enum server_lobby_state { SERVER_LOBBY_WAITS, SERVER_LOBBY_FOUNDS, SERVER_LOBBY_JOINED };
void server_lobby_set(struct server_lobby *l, enum server_lobby_state state);

/* Another node, as far as it is known. */
struct server_lobby_node {
    char id[DISCOVER_NAME_BYTES];
    char address[DISCOVER_NAME_BYTES]; /* for nodes */
};

/* Those that were seen last, for /debug/cluster; copied. */
void server_lobby_know(struct server_lobby *l, const struct server_lobby_node *nodes, size_t count);
