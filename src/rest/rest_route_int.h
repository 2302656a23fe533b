/*
 * Routes: one row for each, in one table per resource, and the router that finds the row of a
 * request.
 *
 * Handling, authorisation, metrics and the description of the API all use the same row.
 */
#pragma once

#include "auth/auth.h" /* IWYU pragma: export */
#include "base/arena.h"
#include "http/http_request.h"
#include "json/json_schema.h"

enum {
    ROUTE_OPEN = 1,         /* no authentication; no rate limit outside of /api/v1 */
    ROUTE_LEADER = 2,       /* only the leader can handle it */
    ROUTE_BODY = 4,         /* takes a body; with a schema it is decoded, else raw in req->body */
    ROUTE_BODY_EMPTY = 8,   /* an empty body or null means {} */
    ROUTE_READ = 16,        /* a POST that changes nothing; the rate limiter counts it as a write */
    ROUTE_TAIL = 32,        /* the last parameter is the rest of the path, possibly empty */
    ROUTE_STREAM = 64,      /* the handler reads the body; its table only describes it */
    ROUTE_KEY = 128,        /* accepts an Idempotency-Key */
    ROUTE_GENERATION = 256, /* its meaning depends on X-Corvo-Api */
    ROUTE_SERVER = 512,     /* only for callers in the default namespace without a scope */
    ROUTE_SCHEDULER = 1024, /* part of the Scheduled-DB API, which may be disabled */
    ROUTE_ANY_BODY = 2048,  /* a body that is too large is ignored */
    ROUTE_NODE = 4096,      /* also allowed to nodes with the cluster secret */
    ROUTE_LOCAL = 8192,     /* about this node itself, or a stream of it: never forwarded */
    ROUTE_ALWAYS = 16384,   /* also on a quarantined node */
    ROUTE_SIGN_IN = 32768,  /* a GET that signs a user in: in the audit log, without its query */
    /* As ROUTE_LEADER, and changes access rights. A node that forwards it responds only after it
     * has applied the change itself: it then accepts a new key, and refuses a deleted one. */
    ROUTE_ACCESS = 65536 | ROUTE_LEADER,
    ROUTE_OWN =
        131072, /* about the caller itself: allowed to every authenticated caller of any role */
};

struct rest_call;

struct rest_route {
    enum http_method method;
    const char *pattern; /* "/api/v1/jobs/{id}" */
    unsigned roles;      /* allowed roles (auth.h); 0 only for an open route */
    unsigned flags;
    const struct json_schema *in; /* NULL: no JSON body */
    void (*handle)(struct rest_call *c);
    /* Cost of a decoded request in rate limiter tokens; NULL: one. */
    uint64_t (*cost)(const struct rest_call *c);
    const char *answer; /* status and form of the response, for the API description */
    const char *doc;
};

/* The query parameters of a route: the table from which they are decoded (rest_query_int.h) and
 * described. */
struct rest_query {
    enum http_method method;
    const char *pattern;
    const struct json_schema *schema;
};

struct rest_routes {
    const struct rest_route *rows;
    size_t count;
    const struct rest_query *queries; /* of some of the rows */
    size_t query_count;
};

/* One table per resource; rest_router.c lists them. */
extern const struct rest_routes rest_enqueue_routes;
extern const struct rest_routes rest_work_routes;
extern const struct rest_routes rest_jobs_routes;
extern const struct rest_routes rest_queues_routes;
extern const struct rest_routes rest_schedules_routes;
extern const struct rest_routes rest_events_routes;
extern const struct rest_routes rest_explain_routes;
extern const struct rest_routes rest_history_routes;
extern const struct rest_routes rest_markers_routes;
extern const struct rest_routes rest_node_history_routes;
extern const struct rest_routes rest_guide_routes;
extern const struct rest_routes rest_errors_routes;
extern const struct rest_routes rest_bulk_routes;
extern const struct rest_routes rest_backup_routes;
extern const struct rest_routes rest_restore_routes;
extern const struct rest_routes rest_search_routes;
extern const struct rest_routes rest_webhooks_routes;
extern const struct rest_routes rest_policies_routes;
extern const struct rest_routes rest_push_routes;
extern const struct rest_routes rest_system_routes;
extern const struct rest_routes rest_cluster_routes;
extern const struct rest_routes rest_usage_routes;
extern const struct rest_routes rest_ui_routes;
extern const struct rest_routes rest_audit_routes;
extern const struct rest_routes rest_budgets_routes;
extern const struct rest_routes rest_keys_routes;
extern const struct rest_routes rest_roles_routes;
extern const struct rest_routes rest_permissions_routes;
extern const struct rest_routes rest_namespaces_routes;
extern const struct rest_routes rest_org_routes;
extern const struct rest_routes rest_sessions_routes;
extern const struct rest_routes rest_sso_settings_routes;
extern const struct rest_routes rest_sso_login_routes;
extern const struct rest_routes rest_sdb_routes;
extern const struct rest_routes rest_sdb_health_routes;

enum { REST_PARAMS_MAX = 2 };

struct rest_match {
    const struct rest_route *route;  /* NULL: none */
    size_t number;                   /* number of the route (rest_router__route), from 1; 0: none */
    const struct json_schema *query; /* NULL: no parameters */
    bool path_known;                 /* the path exists, with another method */
    bool path_open;                  /* and that method's route is open */
    bool path_scheduler;             /* the path belongs to the Scheduled-DB API, with any method */
    char allow[64];                  /* the methods of the path, for a 405 response */
    struct str param[REST_PARAMS_MAX];
};

/* rest_router.c */
struct rest_router *rest_router__new(void);
void rest_router__free(struct rest_router *r);
void rest_router__match(const struct rest_router *r, enum http_method method, struct str path,
                        struct arena *arena, struct rest_match *out);
size_t rest_router__count(void);
const struct rest_route *rest_router__route(size_t i); /* for metrics and OpenAPI */
const struct json_schema *rest_router__query(const struct rest_route *route); /* NULL: none */
size_t rest_router__query_count(void);                    /* number of rows for queries */
const char *rest_router__method(enum http_method method); /* "GET"; "" for others */
