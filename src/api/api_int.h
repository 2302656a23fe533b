/*
 * What the files of the api share: a route, a call, and how a call ends.
 *
 * A call is one request on its way through. It lives in the request's arena and ends with exactly
 * one of api_call__reply, api_call__fail and api_call__stream_…; after that nothing of it may be
 * touched. While a command is under way the client may go: the call then ends by itself when the
 * command is back, and the handler's function for results is not called.
 */
#pragma once

#include "api/api.h"
#include "api/api_limiter_int.h" /* IWYU pragma: export */
#include "api/api_metrics_int.h" /* IWYU pragma: export */
#include "base/clock.h"
#include "core/job.h"
#include "fsm/result.h"
#include "http/http_loop.h"
#include "http/http_request.h"
#include "json/json_schema.h"
#include "json/json_write.h"

/* Who may use a route: built-in roles, as bits. */
enum {
    ROLE_ADMIN = 1,
    ROLE_OPERATOR = 2,
    ROLE_WORKER = 4,
    ROLE_READONLY = 8,
    ROLES_AO = ROLE_ADMIN | ROLE_OPERATOR,
    ROLES_AOW = ROLES_AO | ROLE_WORKER,
    ROLES_AOR = ROLES_AO | ROLE_READONLY,
    ROLES_ALL = ROLES_AO | ROLE_WORKER | ROLE_READONLY,
};

enum {
    ROUTE_OPEN = 1,       /* no authentication; no rate limit outside of /api/v1 */
    ROUTE_LEADER = 2,     /* only the leader can do it */
    ROUTE_BODY = 4,       /* takes a body; with a schema it is decoded, else raw in req->body */
    ROUTE_BODY_EMPTY = 8, /* an empty body, or null, is as good as {} */
    ROUTE_READ = 16,      /* counts as a read although it is a POST */
    ROUTE_TAIL = 256,     /* the last parameter is the whole rest of the path, or nothing */
};

struct api_call;

struct api_route {
    enum http_method method;
    const char *pattern; /* "/api/v1/jobs/{id}" */
    unsigned roles;
    unsigned flags;
    const struct json_schema *in; /* NULL: no JSON body */
    void (*handle)(struct api_call *c);
    /* How many tokens of the rate limiter a decoded request costs; NULL: one. */
    uint64_t (*cost)(const struct api_call *c);
    const char *answer; /* status and shape of the answer, for the description */
    const char *doc;
};

struct api_routes {
    const struct api_route *rows;
    size_t count;
};

/* One table per resource; api_router.c lists them. */
extern const struct api_routes api_enqueue_routes;
extern const struct api_routes api_work_routes;
extern const struct api_routes api_jobs_routes;
extern const struct api_routes api_queues_routes;
extern const struct api_routes api_schedules_routes;
extern const struct api_routes api_events_routes;
extern const struct api_routes api_explain_routes;
extern const struct api_routes api_bulk_routes;
extern const struct api_routes api_backup_routes;
extern const struct api_routes api_restore_routes;
extern const struct api_routes api_search_routes;
extern const struct api_routes api_webhooks_routes;
extern const struct api_routes api_policies_routes;
extern const struct api_routes api_system_routes;
extern const struct api_routes api_cluster_routes;
extern const struct api_routes api_usage_routes;
extern const struct api_routes api_ui_routes;

enum { API_PARAMS_MAX = 2 };

struct api_match {
    const struct api_route *route; /* NULL: none */
    bool path_known;               /* the path exists, with another method */
    char allow[64];                /* the methods of the path, for a 405 */
    struct str param[API_PARAMS_MAX];
};

/* api_router.c */
struct api_router *api_router__new(void);
void api_router__free(struct api_router *r);
void api_router__match(const struct api_router *r, enum http_method method, struct str path,
                       struct arena *arena, struct api_match *out);
size_t api_router__count(void);
const struct api_route *api_router__route(size_t i); /* all of them, for metrics and OpenAPI */
size_t api_router__index(const struct api_route *route);
const char *api_router__method(enum http_method method); /* "GET"; "" for others */

struct api_call {
    struct api *api;
    struct http_request *req;
    const struct api_route *route; /* NULL until matched */
    struct str param[API_PARAMS_MAX];
    struct arena *arena;
    void *in;      /* the decoded body */
    void *data;    /* the handler's own */
    struct str ns; /* namespace; empty for the default one */
    unsigned role; /* one bit */
    struct mono started;
    char request_id[64];
    size_t request_id_len;

    /* a command under way */
    struct engine_op op;
    bool op_busy;
    bool op_used;
    bool gone; /* the client is */
    void (*on_result)(struct api_call *c, const struct result *r);

    /* a look at the machine under way */
    struct engine_call look;
    bool look_busy;
    void (*on_look)(struct api_call *c, struct machine *m); /* core thread */
    void (*on_looked)(struct api_call *c);

    /* a question to the view, or its being made anew, under way */
    struct view_ask ask;
    struct view_rebuild rebuild;
    bool ask_busy;
    struct buf asked; /* the answer, written by the view's thread */
    struct err ask_err;
    void (*on_ask)(struct api_call *c, struct view_reader *r); /* the view's thread */
    void (*on_asked)(struct api_call *c);
};

struct api_hub;
struct api_hub_counts;
enum { API_LOOPS_MAX = 64 }; /* network threads; a setting cannot ask for more */

struct api {
    struct api_config config;
    const struct http_server *_Atomic server; /* NULL until it is open */
    const char *url;                          /* where others reach it; set before server is */
    struct api_router *router;
    struct api_limiter *limiter;
    struct api_metrics *metrics;
    struct buf openapi; /* the description of the routes, which does not change */
    struct mono started;
    struct api_hub *hubs[API_LOOPS_MAX]; /* readers of events, by network thread */
    struct api_hub_counts *hub_counts;
};

/* api_call.c: the ends of a call */

/* A JSON answer. The text is copied; a newline is added. */
void api_call__reply(struct api_call *c, int status, struct str json);
void api_call__reply_type(struct api_call *c, int status, struct str type, struct str body);
/* The same with headers of its own, at most API_HEADERS_MAX. */
enum { API_HEADERS_MAX = 8 };
void api_call__reply_headers(struct api_call *c, int status, struct str type, struct str body,
                             const struct http_header *headers, size_t count);
/* The same with a body whose bytes live as long as the process: it is not copied. */
void api_call__reply_static(struct api_call *c, int status, struct str type, struct str body,
                            const struct http_header *headers, size_t count);
void api_call__reply_status(struct api_call *c, const char *word); /* {"status":"…"} */
void api_call__reply_empty(struct api_call *c, int status);        /* without a body */
void api_call__fail(struct api_call *c, enum err_code code, const char *fmt, ...) ATTR_PRINTF(3, 4);
void api_call__fail_err(struct api_call *c, const struct err *err);
/* The result's refusal, when it is one: true. */
bool api_call__refused(struct api_call *c, const struct result *r);

/* api_call.c: a streamed answer, status 200. From begin on the watch is told of the request, and
 * its req->data is the call, which end (the answer is whole) or drop (it is not, or nobody hears
 * it) ends. What is written in between goes to http_request_write. */
void api_call__stream_begin(struct api_call *c, struct str type, const struct http_header *headers,
                            size_t count, const struct http_watch *watch);
void api_call__stream_end(struct api_call *c);
void api_call__stream_drop(struct api_call *c);

/* api_call.c: ways to the engine */

/* Check, encode and submit; on_result is called with an answer that is not a refusal of the engine
 * itself. An error of the command or the engine ends the call. */
void api_call__submit(struct api_call *c, const struct command *command, int64_t park_ms,
                      void (*on_result)(struct api_call *c, const struct result *r));

/* Look at the machine between two entries, on the core thread; then go on here. */
void api_call__look(struct api_call *c, void (*look)(struct api_call *c, struct machine *m),
                    void (*then)(struct api_call *c));

/* Ask the view: `ask` runs on a thread of the view, where it may use the call's arena, write its
 * answer into c->asked, or set c->ask_err; then go on here. Errors end the call. */
void api_call__ask(struct api_call *c, void (*ask)(struct api_call *c, struct view_reader *r),
                   void (*then)(struct api_call *c));
/* 200 with c->asked, and a header that says what the answer did not see. */
void api_call__reply_asked(struct api_call *c);
/* Make the view anew, and go on when that is done. */
void api_call__rebuild(struct api_call *c, void (*then)(struct api_call *c));

void *api_call__alloc(struct api_call *c, size_t size);
#define API_ARRAY(c, type, n) ((type *)api_call__alloc((c), sizeof(type) * ((n) == 0 ? 1 : (n))))
#define API_NEW(c, type)      ((type *)api_call__alloc((c), sizeof(type)))

/* A buf for an answer, bounded by what an answer may be; freed with buf_deinit by the caller. */
void api_call__buf(struct buf *b);

/* api_names.c: namespaces and ids */

/* The internal name of a queue as the caller names it; false, with err, when it may not. */
ATTR_NODISCARD bool api_names__internal(struct api_call *c, struct str visible, struct str *out,
                                        struct err *err);
/* The name as the caller sees it. */
struct str api_names__visible(const struct api_call *c, struct str internal);
bool api_names__is_visible(const struct api_call *c, struct str internal);

/* The document of a job that exists and that the caller may see, put into doc, which *out points
 * into; false when there is none. */
ATTR_NODISCARD bool api_names__read_job(struct api_call *c, struct str text, struct buf *doc,
                                        struct job *out);
/* The same; the call ends with 404 when there is none. */
ATTR_NODISCARD bool api_names__job(struct api_call *c, struct str text, struct buf *doc,
                                   struct job *out);
/* Whether it is an id that the caller may name. In the default namespace that is every id, whether
 * there is such a job or not; in others only that of a job of theirs. */
ATTR_NODISCARD bool api_names__may_name(struct api_call *c, struct str text, struct id *out);
/* The same; the call ends with 404 when it is not. */
ATTR_NODISCARD bool api_names__job_id(struct api_call *c, struct str text, struct id *out);

/* api_document.c: documents as JSON */
void api_document__job(struct json_write *w, const struct api_call *c, const struct job *j,
                       struct store *store);
/* The members of a job's document but for its errors, inside an object. */
void api_document__job_members(struct json_write *w, const struct api_call *c, const struct job *j);
void api_document__summary(struct json_write *w, const struct api_call *c, const struct job *j,
                           struct store *store);
void api_document__fetched(struct json_write *w, const struct api_call *c, const struct job *j);
void api_document__time(struct json_write *w, const char *key, struct wall at);  /* left out at 0 */
void api_document__text(struct json_write *w, const char *key, struct str text); /* … when empty */
void api_document__raw(struct json_write *w, const char *key, struct str json);
void api_document__id(struct json_write *w, const char *key, struct id id, struct str prefix);
void api_document__i64(struct json_write *w, const char *key, int64_t v);
void api_document__bool(struct json_write *w, const char *key, bool v);
void api_document__usd(struct json_write *w, const char *key, int64_t nusd);
void api_document__tokens(struct json_write *w, const struct store_tokens *t);

/* api_openapi.c: the description of all routes (http-api.md 20.7), with a newline. */
void api_openapi__write(const char *version, struct buf *out);
