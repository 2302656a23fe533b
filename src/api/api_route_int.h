/*
 * Routes: one row for each, in one table per resource, and the router that finds the row of a
 * request.
 *
 * A row is all that is known about a route: handling, authorisation, metrics and the description
 * of the API are made from it.
 */
#pragma once

#include "auth/auth.h" /* IWYU pragma: export */
#include "base/arena.h"
#include "http/http_request.h"
#include "json/json_schema.h"

enum {
    ROUTE_OPEN = 1,         /* no authentication; no rate limit outside of /api/v1 */
    ROUTE_LEADER = 2,       /* only the leader can do it */
    ROUTE_BODY = 4,         /* takes a body; with a schema it is decoded, else raw in req->body */
    ROUTE_BODY_EMPTY = 8,   /* an empty body, or null, is as good as {} */
    ROUTE_READ = 16,        /* a POST that changes nothing; the rate limiter counts it as a write */
    ROUTE_TAIL = 32,        /* the last parameter is the whole rest of the path, or nothing */
    ROUTE_STREAM = 64,      /* the handler reads the body; its table only describes it */
    ROUTE_KEY = 128,        /* takes an Idempotency-Key */
    ROUTE_GENERATION = 256, /* X-Corvo-Api changes what it means */
    ROUTE_SERVER = 512,     /* for callers of the default namespace whom no scope limits */
    ROUTE_SCHEDULER = 1024, /* of the Scheduled-DB face, which may be off */
    ROUTE_ANY_BODY = 2048,  /* one that is too large is handled as if it were none */
    ROUTE_NODE = 4096,      /* a node that knows the cluster's secret may, too */
    ROUTE_LOCAL = 8192,     /* about this node itself, or a stream of it: every node has its own */
    ROUTE_ALWAYS = 16384,   /* also of a node whose state is not that of the others */
    ROUTE_SIGN_IN = 32768,  /* a GET that signs somebody in: written down, without its query */
};

struct api_call;

struct api_route {
    enum http_method method;
    const char *pattern; /* "/api/v1/jobs/{id}" */
    unsigned roles;      /* who may (auth.h); only an open route has none */
    unsigned flags;
    const struct json_schema *in; /* NULL: no JSON body */
    void (*handle)(struct api_call *c);
    /* How many tokens of the rate limiter a decoded request costs; NULL: one. */
    uint64_t (*cost)(const struct api_call *c);
    const char *answer; /* status and shape of the answer, for the description */
    const char *doc;
};

/* The query parameters of a route, for the few that take some: the table from which they are
 * decoded (api_query_int.h) and described. */
struct api_query {
    enum http_method method;
    const char *pattern;
    const struct json_schema *schema;
};

struct api_routes {
    const struct api_route *rows;
    size_t count;
    const struct api_query *queries; /* of some of the rows */
    size_t query_count;
};

/* One table per resource; api_router.c lists them. */
extern const struct api_routes api_enqueue_routes;
extern const struct api_routes api_work_routes;
extern const struct api_routes api_jobs_routes;
extern const struct api_routes api_queues_routes;
extern const struct api_routes api_schedules_routes;
extern const struct api_routes api_events_routes;
extern const struct api_routes api_explain_routes;
extern const struct api_routes api_history_routes;
extern const struct api_routes api_guide_routes;
extern const struct api_routes api_errors_routes;
extern const struct api_routes api_bulk_routes;
extern const struct api_routes api_backup_routes;
extern const struct api_routes api_restore_routes;
extern const struct api_routes api_search_routes;
extern const struct api_routes api_webhooks_routes;
extern const struct api_routes api_policies_routes;
extern const struct api_routes api_push_routes;
extern const struct api_routes api_system_routes;
extern const struct api_routes api_cluster_routes;
extern const struct api_routes api_usage_routes;
extern const struct api_routes api_ui_routes;
extern const struct api_routes api_audit_routes;
extern const struct api_routes api_budgets_routes;
extern const struct api_routes api_keys_routes;
extern const struct api_routes api_roles_routes;
extern const struct api_routes api_namespaces_routes;
extern const struct api_routes api_org_routes;
extern const struct api_routes api_sessions_routes;
extern const struct api_routes api_sso_settings_routes;
extern const struct api_routes api_sso_login_routes;
extern const struct api_routes api_sdb_routes;
extern const struct api_routes api_sdb_health_routes;

enum { API_PARAMS_MAX = 2 };

struct api_match {
    const struct api_route *route;   /* NULL: none */
    const struct json_schema *query; /* NULL: it takes no parameters */
    bool path_known;                 /* the path exists, with another method */
    bool path_open;                  /* and with that one it is open to everybody */
    bool path_scheduler;             /* with whatever method: it is of the Scheduled-DB face */
    char allow[64];                  /* the methods of the path, for a 405 */
    struct str param[API_PARAMS_MAX];
};

/* api_router.c */
struct api_router *api_router__new(void);
void api_router__free(struct api_router *r);
void api_router__match(const struct api_router *r, enum http_method method, struct str path,
                       struct arena *arena, struct api_match *out);
size_t api_router__count(void);
const struct api_route *api_router__route(size_t i); /* all of them, for metrics and OpenAPI */
const struct json_schema *api_router__query(const struct api_route *route); /* NULL: none */
size_t api_router__query_count(void); /* how many rows for queries there are */
size_t api_router__index(const struct api_route *route);
const char *api_router__method(enum http_method method); /* "GET"; "" for others */
