/*
 * Discover: finds the other nodes of the cluster (scheduler.md 14.3).
 *
 * A strategy produces the addresses of the nodes' HTTP APIs; membership is decided elsewhere. Each
 * strategy is one file with one row in the table of discover.c:
 *
 *   static               the configured list
 *   dns                  SRV records of a name, else its A and AAAA records
 *   kubernetes           running pods with a label, from the API server
 *   kubernetes_dns       addresses of a headless service
 *   kubernetes_dns_srv   SRV records of a headless service
 *   gossip               nodes that report themselves over UDP (discover_gossip.c)
 *
 * Addresses often carry the port for peers, because that is what other servers announce. A port
 * that is our own peer port therefore stands for our own API port.
 *
 * Every function except discover_meter_* blocks on the network, for a few seconds at most. One
 * thread at a time may use a struct discover.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum {
    DISCOVER_PEERS_MAX = 64,
    DISCOVER_URL_BYTES = 320,
    DISCOVER_NAME_BYTES = 256,
};

struct discover_peer {
    char url[DISCOVER_URL_BYTES];      /* of its API */
    char node_id[DISCOVER_NAME_BYTES]; /* empty: unknown */
};

struct discover_list {
    struct discover_peer peers[DISCOVER_PEERS_MAX];
    size_t count;
};

/* All strings must outlive the struct discover. Settings of other strategies may be empty. */
struct discover_config {
    struct str strategy;
    struct str peers; /* URLs or host:port, separated by commas; part of every result */
    bool tls;         /* the APIs of the nodes speak HTTPS */
    uint16_t api_port, peer_port;

    /* this node */
    struct str node_id;
    struct str bind;      /* of its API */
    struct str http_url;  /* advertised URL; empty: unknown yet */
    struct str peer_addr; /* advertised to peers */
    struct str pod;       /* empty: not in Kubernetes */
    struct str pod_ip, pod_ns;

    struct str name;           /* to resolve; with Kubernetes: the service */
    struct str domain;         /* empty: the name is complete, or cluster.local */
    struct str dns_server;     /* address or address:port; empty: the system's */
    struct str ns;             /* with Kubernetes; empty: the account's namespace */
    struct str kubernetes_api; /* URL; empty: from the two below, which every pod has */
    struct str kubernetes_host, kubernetes_port;
    struct str account_dir; /* with token, ca.crt and namespace */

    struct str gossip_bind; /* host:port */
    struct str gossip_seeds;
    struct str gossip_secret;
};

/* Statistics. Any thread may read them. */
struct discover_meter {
    atomic_uint_fast64_t found_total, failed_total; /* lookups */
    atomic_uint_fast64_t joined_total, left_total;  /* addresses that appeared, disappeared */
    atomic_uint_fast64_t known;                     /* addresses in the last result */
};

struct discover;

/* The nth strategy's name; NULL past the last. */
const char *discover_strategy(size_t index);

/* Whether the text is an address that can be looked up: host, or host:port. */
bool discover_is_address(struct str text);

/* Whether the text is an IPv4 address, or one with a port. */
bool discover_is_dns_server(struct str text);

/* ERR_VALIDATION if the strategy is unknown, or lacks a setting. ERR_IO if it cannot start. */
ATTR_NODISCARD enum err_code discover_open(const struct discover_config *config,
                                           struct discover **out, struct err *err);
void discover_close(struct discover *d); /* NULL is allowed */

/* The nodes that can be found now, sorted by URL, without duplicates; includes this node if the
 * strategy sees it. On failure the list still has the nodes found so far. */
ATTR_NODISCARD enum err_code discover_find(struct discover *d, struct discover_list *out,
                                           struct err *err);

/* Is the peer this node? */
bool discover_is_own(const struct discover *d, const struct discover_peer *peer);

/* Does a node that is no longer found count as gone? False for a configured list. */
bool discover_may_remove(const struct discover *d);

const struct discover_meter *discover_meter(const struct discover *d);
const char *discover_name(const struct discover *d);
