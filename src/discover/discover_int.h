/*
 * Shared by the strategies.
 */
#pragma once

#include "discover/discover.h"
#include "discover/discover_resolve.h"

struct discover {
    struct discover_config config;
    const struct discover_strategy *strategy;
    void *state; /* the strategy's own */
    struct discover_meter meter;
    struct discover_list last;            /* previous result, to count changes */
    struct discover_hosts targets, found; /* result of resolving names: too large for a stack */
};

struct discover_strategy {
    const char *name;
    bool may_remove; /* see discover_may_remove */
    /* May be NULL. */
    enum err_code (*open)(struct discover *d, struct err *err);
    enum err_code (*find)(struct discover *d, struct discover_list *out, struct err *err);
    void (*close)(struct discover *d);
};

extern const struct discover_strategy discover_static__strategy;
extern const struct discover_strategy discover_dns__strategy;
extern const struct discover_strategy discover_kubernetes__strategy;
extern const struct discover_strategy discover_kubernetes_dns__strategy;
extern const struct discover_strategy discover_kubernetes_dns_srv__strategy;
extern const struct discover_strategy discover_gossip__strategy;

/* Add the node at a URL, unless it is there already or the list is full. */
void discover__add_url(struct discover_list *out, struct str url, struct str node_id);
/* Add the node at a host (a name or a bare address) and port; 0: the port of our own API. */
void discover__add_host(const struct discover *d, struct discover_list *out, struct str host,
                        uint16_t port, struct str node_id);

/* Split "host:port", "[address]:port" or a host alone, whose port is then 0. False if invalid. */
ATTR_NODISCARD bool discover__split(struct str text, struct str *out_host, uint16_t *out_port);

/* discover_dns.c: the nodes of the SRV records, or of the A and AAAA records, of a name. */
ATTR_NODISCARD enum err_code discover_dns__srv(struct discover *d, const char *name,
                                               struct discover_list *out, struct err *err);
ATTR_NODISCARD enum err_code discover_dns__addresses(struct discover *d, const char *name,
                                                     struct discover_list *out, struct err *err);

/* discover_kubernetes_dns.c: checks that a service is configured; resolves
 * "<service>.<namespace>.svc.<domain>", or the name itself if it contains a dot. */
ATTR_NODISCARD enum err_code discover_kubernetes_dns__open(struct discover *d, struct err *err);
void discover_kubernetes_dns__name(const struct discover *d, char out[static DISCOVER_NAME_BYTES]);

/* discover_account.c: the path of a file of this pod's service account, and the namespace of the
 * pod (scheduler.md 14.3). */
enum { DISCOVER_PATH_BYTES = 512 };
void discover_account__file(const struct discover *d, const char *name,
                            char out[static DISCOVER_PATH_BYTES]);
void discover_account__namespace(const struct discover *d, char out[static DISCOVER_NAME_BYTES]);
