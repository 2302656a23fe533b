/*
 * Rest_call: a call, which is one request in progress, and the dialect that it belongs to.
 */
#pragma once

#include <stdatomic.h>

#include "base/clock.h"
#include "core/job.h"
#include "front/front_forward.h"
#include "front/front_op.h"
#include "fsm/command/result.h"
#include "http/http_loop.h"
#include "http/http_request.h"
#include "json/json_schema.h"
#include "json/json_write.h"
#include "rest/rest.h"
#include "rest/rest_document_int.h" /* IWYU pragma: export */
#include "rest/rest_forward_int.h"  /* IWYU pragma: export */
#include "rest/rest_limiter_int.h"  /* IWYU pragma: export */
#include "rest/rest_metrics_int.h"  /* IWYU pragma: export */
#include "rest/rest_names_int.h"    /* IWYU pragma: export */
#include "rest/rest_route_int.h"    /* IWYU pragma: export */
#include "rest/sdb/rest_sdb_meter.h"
#include "rpc/rpc.h"
#include "rpc/rpc_relayed.h"
#include "svc/svc_caller.h"
#include "svc/svc_enqueue.h"

/* Result of checking the credential of a call. */
enum rest_verdict {
    REST_OPEN, /* no credentials are configured: every client on this machine may do everything */
    REST_KNOWN,
    REST_MISSING,
    REST_INVALID,
    REST_EXPIRED,
    REST_SESSION_OVER,
};

/* Functions of higher layers that rest_call.c calls; set by rest.c. */
struct rest_steps {
    void (*ended)(struct rest_call *c, int status, int64_t took_ns); /* the call is over */
    /* Leadership was lost during the call. True if the call now waits for the next leader. */
    bool (*asks_again)(struct rest_call *c, enum err_code code);
    /* The same for a call that the RPC service handled. */
    void (*from_rpc)(void *call, const struct front_client *client);
    void (*go_on_here)(struct rest_call *c); /* handle the call on this node */
};

struct rest_call {
    struct rest *rest;
    struct http_request *req;
    const struct rest_route *route; /* NULL until matched */
    size_t route_number;            /* 0 until matched (rest_match) */
    struct str param[REST_PARAMS_MAX];
    struct arena *arena;
    void *in;    /* the decoded body */
    void *query; /* the decoded query, if the route has a table for it */
    void *data;  /* private data of the handler */
    struct rest_limiter_caller who;
    struct str credential; /* the credential sent, valid or not */
    struct str ns;         /* namespace; empty for the default one */
    enum rest_verdict verdict;
    struct auth_caller caller; /* with REST_OPEN and REST_KNOWN */
    uint64_t auth_version;  /* version of the table at the last recheck of the caller; 0: never */
    struct wall auth_until; /* expiry of the credential; 0: never, or unknown */
    struct rest_sso *sso;   /* its token, if that was verified; else NULL */
    bool by_cookie;         /* the credential was in a cookie */
    bool is_rpc;            /* errors have the form of the RPC protocol */
    bool relayed;           /* another node handled the call */
    bool local_read;        /* a read of this node's own state, which may be behind the leader's */
    bool may_enqueue;       /* an RPC caller that may also enqueue in a lifecycle stream */
    struct rpc_target rpc;  /* of an RPC */
    struct rpc_relayed passed; /* the response of another node to it */
    struct mono started;
    struct front_forward *forward; /* NULL: never forwarded */
    struct buf answer;             /* the body written so far, here or by the view's thread */

    bool memory_told; /* a memory error was reported */
    bool restores;    /* names come from a backup (svc_caller.h) */

    /* commands, one at a time in op */
    struct front_client client;
    void (*on_result)(struct rest_call *c, const struct result *r);
    void (*on_error)(struct rest_call *c, const struct err *err); /* NULL: it ends the call */

    /* access to the machine in progress, in look */
    bool look_busy;
    void (*on_look)(struct rest_call *c, struct machine *m); /* core thread */
    void (*on_looked)(struct rest_call *c);

    bool proof_busy; /* waiting for proof that this node leads */

    /* work in pieces: the next one waits for a later turn of the loop */
    struct msg later;
    bool later_busy;
    void (*on_later)(struct rest_call *c);

    /* a query of the view or its rebuild in progress */
    bool ask_busy;
    /* Options of the next query: it uses the full-text index; its result is used for changes; its
     * cost. */
    bool ask_text, ask_patient;
    enum view_kind ask_kind;
    bool rebuild_busy;
    void (*on_ask)(struct rest_call *c, struct view_reader *r); /* the view's thread */
    void (*on_asked)(struct rest_call *c);

    /* the last members: large, and not zeroed before use */
    size_t request_id_len;
    char request_id[64];
    struct trace_span span; /* if the request is traced: client.span */
    struct engine_call look;
    struct view_ask ask;
    struct err ask_err;
    struct view_rebuild rebuild;
    struct front_op op;
};

struct hub;
struct hub_counts;
enum { REST_LOOPS_MAX = 64 }; /* network threads; a setting cannot ask for more */

struct rest {
    struct rest_config config;
    const struct rest_steps *steps;
    uint8_t password_hash[AUTH_HASH_BYTES];   /* of the admin password, if there is one */
    const struct http_server *_Atomic server; /* NULL until the server is open */
    const char *url;                          /* URL for other nodes; set before server */
    struct rest_router *router;
    struct rest_limiter *limiter;
    struct rest_metrics *metrics;
    struct rest_openapi *openapi;
    struct mono started;
    struct hub *hubs[REST_LOOPS_MAX]; /* readers of events, by network thread */
    struct engine_outbox outboxes[REST_LOOPS_MAX];
    struct front_gate *gates[REST_LOOPS_MAX]; /* connections to other nodes */
    struct hub_counts *hub_counts;
    atomic_bool restoring; /* a restore is in progress */
    struct rest_sdb_meter sdb;
    struct push_sender *_Atomic push;        /* NULL until it is open, or if there is none */
    const struct discover *_Atomic discover; /* NULL: discovery is off */
};
