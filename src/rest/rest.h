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

/* Tuning settings as configured, shown in the cluster status; not used otherwise. */
struct rest_tuning {
    uint64_t snapshot_threshold;
    int64_t snapshot_interval_ns;
    uint64_t batch_extend_at, fetch_inflight;
    int64_t batch_min_wait_ns, batch_window_ns;
};

struct rest_config {
    struct engine *engine;
    struct rpc *rpc;                            /* the RPC service on the same port; NULL: none */
    struct front_shared *front;                 /* access to the other nodes; NULL: none */
    struct budget *budget;                      /* memory budget of all requests; NULL: none */
    struct svc_bulk *bulk;                      /* bulk operations in the background */
    struct view *view;                          /* NULL: searches are refused */
    const struct webhook_sender *webhooks;      /* for its metrics; NULL: none */
    const struct outgoing_guard *webhook_guard; /* blocked webhook targets; NULL: none */
    const char *version;                        /* shown in /api/v1/info */
    const char *node_id;                        /* shown in the cluster status */
    struct str cluster_secret;                  /* allows a node to join; empty: none */
    bool takes_nodes;                           /* other nodes can reach the peer port */
    const char *raft_store; /* shown in the cluster status: the configured name */
    bool mirror_async;      /* shown in the cluster status: the view may be updated later */
    struct rest_tuning tuning;
    struct str admin_password;                 /* empty: none */
    struct auth_table *auth;                   /* keys and roles; NULL: there are no keys */
    struct sso *sso;                           /* verifies tokens; NULL: single sign-on is off */
    const struct os_networks *trusted_proxies; /* their headers name the client; NULL: none */
    bool open_access;    /* without a password and keys, accept clients from other machines too */
    bool secure;         /* clients connect over TLS: cookies are Secure */
    struct audit *audit; /* audit log; NULL: none */
    struct trace *trace; /* for the spans of requests; NULL: none */
    struct str features; /* enabled features, comma-separated; empty: all */
    uint64_t max_body_bytes;
    bool docs_enabled;
    struct rest_limiter_config limiter;
    struct rest_sdb_config sdb; /* the Scheduled-DB API */
};

struct rest_config rest_config_default(void);

struct rest *rest_new(const struct rest_config *config);
void rest_free(struct rest *a); /* call after the HTTP server has stopped; NULL is allowed */

/* Configure an HTTP server for this rest: its data, its callbacks, and the headers of every
 * response (http-api.md 1.4). */
void rest_attach(struct rest *a, struct http_server_config *http);
/* Set only the headers, for a server that responds in its place. */
void rest_set_headers(struct http_server_config *http);

/* Call when the server is open: it provides the connection counters. url is the URL for other nodes
 * and must stay valid as long as the server. */
void rest_set_server(struct rest *a, const struct http_server *server, const char *url);

/* Set the sender of push jobs, for its numbers. It must outlive the last request. */
void rest_set_push(struct rest *a, struct push_sender *push);
/* Set the discovery of other nodes, for the metrics. It must outlive the last response. */
struct discover;
void rest_set_discover(struct rest *a, const struct discover *discover);

/* For credentials that other protocols check: may one from this address be checked, and was it
 * valid? All protocols share the limit on wrong credentials. Any thread. */
bool rest_may_try(void *rest, struct str address, struct str credential);
void rest_tried(void *rest, struct str address, struct str credential, bool right);

/* The finder of svc_bulk: finds the next jobs that match a filter. Its data is the view. */
void rest_bulk_filter_find(void *view, struct svc_bulk_page *page);
