/*
 * Server_lobby: what answers at the address of the API while the cluster is still forming.
 *
 * Probes see a node that lives and is not ready, instead of a closed port, and other nodes are told
 * to ask again (scheduler.md 14.2). It knows nothing of jobs. The server proper takes the address
 * over when the node has become a member.
 */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "http/http_server.h"

struct server_lobby;

/* The member of the answer of /health that says so. */
#define SERVER_LOBBY_MARK "\"forming\":true"

/* Listens as config says, whose functions and headers are not used. node_id lives as long as the
 * lobby. */
ATTR_NODISCARD enum err_code server_lobby_open(const struct http_server_config *config,
                                               const char *node_id, struct server_lobby **out,
                                               struct err *err);
void server_lobby_close(struct server_lobby *l); /* NULL is fine */
