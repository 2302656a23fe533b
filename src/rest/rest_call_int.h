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
#include "svc/svc_caller.h"
#include "svc/svc_enqueue.h"

/* What the credential of a call is worth. */
enum rest_verdict {
    REST_OPEN, /* nobody has any: everybody on this machine may do everything */
    REST_KNOWN,
    REST_MISSING,
    REST_INVALID,
    REST_EXPIRED,
    REST_SESSION_OVER,
};

/* Steps of a call that others take, above it: rest.c has the table. */
struct rest_steps {
    void (*ended)(struct rest_call *c, int status, int64_t took_ns); /* it has an answer */
    /* Leadership was lost under it: true when it waits for the next leader. */
    bool (*asks_again)(struct rest_call *c, enum err_code code);
    /* The same for one that the RPC service had. */
    void (*from_rpc)(void *call, const struct front_client *client);
    void (*go_on_here)(struct rest_call *c); /* this node does it */
};

struct rest_call {
    struct rest *rest;
    struct http_request *req;
    const struct rest_route *route; /* NULL until matched */
    size_t route_number;            /* 0 until then (rest_match) */
    struct str param[REST_PARAMS_MAX];
    struct arena *arena;
    void *in;    /* the decoded body */
    void *query; /* the decoded query, when the route has a table for it */
    void *data;  /* the handler's own */
    struct rest_limiter_caller who;
    struct str credential; /* what it shows, right or wrong */
    struct str ns;         /* namespace; empty for the default one */
    enum rest_verdict verdict;
    struct auth_caller caller; /* with REST_OPEN and REST_KNOWN */
    uint64_t auth_version;     /* of the table when the caller was looked up again; 0: never */
    struct wall auth_until;    /* when its credential expires; 0: never, or not known */
    struct rest_sso *sso;      /* the token that it shows, when that was looked at; else NULL */
    bool by_cookie;            /* the credential was in one */
    bool is_rpc;               /* errors are told in the words of its protocol */
    bool relayed;              /* another node did it */
    bool local_read;           /* of this node's own state, which may be behind the leader's */
    bool may_enqueue;          /* an RPC caller, in a lifecycle stream too */
    struct rpc_target rpc;     /* of an RPC */
    struct mono started;
    struct front_forward *forward; /* NULL: it was never sent elsewhere */
    struct buf answer;             /* as far as it is written, here or by the view's thread */

    bool memory_told; /* that it ran out */
    bool restores;    /* names are those of a backup (svc_caller.h) */

    /* commands, one at a time in op */
    struct front_client client;
    void (*on_result)(struct rest_call *c, const struct result *r);
    void (*on_error)(struct rest_call *c, const struct err *err); /* NULL: it ends the call */

    /* a look at the machine under way, in look */
    bool look_busy;
    void (*on_look)(struct rest_call *c, struct machine *m); /* core thread */
    void (*on_looked)(struct rest_call *c);

    bool proof_busy; /* until it is sure that this node leads */

    /* work in pieces: the next one waits for its turn */
    struct msg later;
    bool later_busy;
    void (*on_later)(struct rest_call *c);

    /* a question to the view, or its being made anew, under way */
    bool ask_busy;
    /* Set before it is asked: about the full text; its answer is used for changes; its cost. */
    bool ask_text, ask_patient;
    enum view_kind ask_kind;
    bool rebuild_busy;
    void (*on_ask)(struct rest_call *c, struct view_reader *r); /* the view's thread */
    void (*on_asked)(struct rest_call *c);

    /* the last members: large, and not even zero before they are used */
    size_t request_id_len;
    char request_id[64];
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
    uint8_t password_hash[AUTH_HASH_BYTES];   /* of the admin's, if there is one */
    const struct http_server *_Atomic server; /* NULL until it is open */
    const char *url;                          /* where others reach it; set before server is */
    struct rest_router *router;
    struct rest_limiter *limiter;
    struct rest_metrics *metrics;
    struct buf openapi; /* the description of the routes, which does not change */
    struct mono started;
    struct hub *hubs[REST_LOOPS_MAX]; /* readers of events, by network thread */
    struct engine_outbox outboxes[REST_LOOPS_MAX];
    struct front_gate *gates[REST_LOOPS_MAX]; /* to other nodes */
    struct hub_counts *hub_counts;
    atomic_bool restoring; /* a restore is under way */
    struct rest_sdb_meter sdb;
    struct push_sender *_Atomic push;        /* NULL until it is open, and without one */
    const struct discover *_Atomic discover; /* NULL: there are no other nodes to find */
};
