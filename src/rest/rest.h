/*
 * Rest: the HTTP/JSON API (http-api.md) on top of the engine.
 *
 * Every route is a row of a table: method, pattern, allowed roles, input, handler, and a one-line
 * description. Before the handler runs, the server matches the row, authenticates the caller,
 * checks the rate limit, and reads and decodes the body. A handler turns a decoded request into a
 * command or a read, and the result into JSON. It runs on the network threads of the HTTP server. A
 * struct rest belongs to none of them and does not change while the server runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "engine/engine.h"
#include "front/front_forward.h"
#include "http/http_server.h"
#include "rest/rest_limiter.h"
#include "rest/sdb/rest_sdb.h"
#include "view/view.h"
#include "webhook/webhook.h"

struct rest;
struct auth_table;
struct svc_bulk;
struct rpc;
struct svc_bulk_page;
struct push_sender;
struct audit;
struct sso;
struct os_networks;

/* What was asked for, for the cluster status: nothing here is tuned by it. */
struct rest_tuning {
    uint64_t snapshot_threshold;
    int64_t snapshot_interval_ns;
    uint64_t batch_extend_at, fetch_inflight;
    int64_t batch_min_wait_ns, batch_window_ns;
};

struct rest_config {
    struct engine *engine;
    struct rpc *rpc;                       /* the same port for RPC clients; NULL: none */
    struct front_shared *front;            /* the other nodes; NULL: none */
    struct budget *budget;                 /* of all memory that requests can claim; NULL: none */
    struct svc_bulk *bulk;                 /* what goes on in the background */
    struct view *view;                     /* NULL: searches are refused */
    const struct webhook_sender *webhooks; /* for its numbers; NULL: none */
    const struct outgoing_guard *webhook_guard; /* who webhooks may not be aimed at; NULL: nobody */
    const char *version;                        /* what /api/v1/info says */
    const char *node_id;                        /* what cluster status says */
    struct str cluster_secret;                  /* a node that knows it may join; empty: none */
    bool takes_nodes;                           /* others can reach its peer port */
    const char *raft_store;                     /* the same: the name that was asked for */
    bool mirror_async;                          /* the same: whether the view may wait a while */
    struct rest_tuning tuning;
    struct str admin_password;                 /* empty: none */
    struct auth_table *auth;                   /* who may do what; NULL: nobody has a key */
    struct sso *sso;                           /* who looks at tokens; NULL: nobody */
    const struct os_networks *trusted_proxies; /* whose headers say who calls; NULL: none */
    bool open_access;    /* without password and keys let others than this machine in */
    bool secure;         /* clients come by TLS: cookies say so */
    struct audit *audit; /* who changed what; NULL: nothing is written down */
    struct str features; /* that are on, with commas between; empty: all */
    uint64_t max_body_bytes;
    bool docs_enabled;
    struct rest_limiter_config limiter;
    struct rest_sdb_config sdb; /* the Scheduled-DB face */
};

struct rest_config rest_config_default(void);

struct rest *rest_new(const struct rest_config *config);
void rest_free(struct rest *a); /* after the HTTP server has stopped; NULL is fine */

/* Make the server one of this rest: its data, what it calls, and the headers of every answer
 * (http-api.md 1.4). */
void rest_attach(struct rest *a, struct http_server_config *http);
/* Only the headers, for one that answers in its place. */
void rest_set_headers(struct http_server_config *http);

/* Where to ask for connection counters, once the server is open, and the URL that others are told,
 * which must live as long as it. */
void rest_set_server(struct rest *a, const struct http_server *server, const char *url);

/* Who delivers jobs, for its numbers, once it is there. Outlives the last request. */
void rest_set_push(struct rest *a, struct push_sender *push);
/* How other nodes are found, for the metrics; it outlives the server's last answer. */
struct discover;
void rest_set_discover(struct rest *a, const struct discover *discover);

/* Credentials that are shown elsewhere than to REST: may one be looked at for this address, and
 * what it turned out to be. All doors have the same buckets for guesses. Any thread. */
bool rest_may_try(void *rest, struct str address, struct str credential);
void rest_tried(void *rest, struct str address, struct str credential, bool right);

/* For svc_bulk: the next jobs that a filter means, by the view that is given as data. */
void rest_bulk_filter_find(void *view, struct svc_bulk_page *page);
