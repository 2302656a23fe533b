/*
 * What the files of the api share: a call, and how a call ends.
 *
 * A call is one request on its way through. It lives in the request's arena and ends with exactly
 * one of api_call__reply, api_call__fail and api_call__stream_…; after that nothing of it may be
 * touched. While a command is under way the client may go: the call then ends by itself when the
 * command is back, and the handler's function for results is not called.
 */
#pragma once

#include <stdatomic.h>

#include "api/api.h"
#include "api/api_document_int.h" /* IWYU pragma: export */
#include "api/api_forward_int.h"  /* IWYU pragma: export */
#include "api/api_limiter_int.h"  /* IWYU pragma: export */
#include "api/api_metrics_int.h"  /* IWYU pragma: export */
#include "api/api_names_int.h"    /* IWYU pragma: export */
#include "api/api_route_int.h"    /* IWYU pragma: export */
#include "api/sdb/api_sdb_meter.h"
#include "base/clock.h"
#include "core/job.h"
#include "front/front_forward.h"
#include "front/front_op.h"
#include "fsm/command/result.h"
#include "http/http_loop.h"
#include "http/http_request.h"
#include "json/json_schema.h"
#include "json/json_write.h"
#include "rpc/rpc.h"
#include "svc/svc_caller.h"
#include "svc/svc_enqueue.h"

/* What the credential of a call is worth. */
enum api_verdict {
    API_OPEN, /* nobody has any: everybody on this machine may do everything */
    API_KNOWN,
    API_MISSING,
    API_INVALID,
    API_EXPIRED,
    API_SESSION_OVER,
};

struct api_call {
    struct api *api;
    struct http_request *req;
    const struct api_route *route; /* NULL until matched */
    struct str param[API_PARAMS_MAX];
    struct arena *arena;
    void *in;    /* the decoded body */
    void *query; /* the decoded query, when the route has a table for it */
    void *data;  /* the handler's own */
    struct api_limiter_caller who;
    struct str credential; /* what it shows, right or wrong */
    struct str ns;         /* namespace; empty for the default one */
    enum api_verdict verdict;
    struct auth_caller caller; /* with API_OPEN and API_KNOWN */
    struct api_sso *sso;       /* the token that it shows, when that was looked at; else NULL */
    bool by_cookie;            /* the credential was in one */
    bool is_rpc;               /* errors are told in the words of its protocol */
    bool relayed;              /* another node did it */
    bool may_enqueue;          /* an RPC caller, in a lifecycle stream too */
    struct rpc_target rpc;     /* of an RPC */
    struct mono started;
    struct front_forward *forward; /* NULL: it was never sent elsewhere */
    struct buf answer;             /* as far as it is written, here or by the view's thread */

    bool memory_told; /* that it ran out */

    /* commands, one at a time in op */
    struct front_client client;
    void (*on_result)(struct api_call *c, const struct result *r);
    void (*on_error)(struct api_call *c, const struct err *err); /* NULL: it ends the call */

    /* a look at the machine under way, in look */
    bool look_busy;
    void (*on_look)(struct api_call *c, struct machine *m); /* core thread */
    void (*on_looked)(struct api_call *c);

    bool proof_busy; /* until it is sure that this node leads */

    /* work in pieces: the next one waits for its turn */
    struct msg later;
    bool later_busy;
    void (*on_later)(struct api_call *c);

    /* a question to the view, or its being made anew, under way */
    bool ask_busy;
    bool ask_text; /* it is about the full text; this and what it costs are said before it is asked
                    */
    enum view_kind ask_kind;
    bool rebuild_busy;
    void (*on_ask)(struct api_call *c, struct view_reader *r); /* the view's thread */
    void (*on_asked)(struct api_call *c);

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
enum { API_LOOPS_MAX = 64 }; /* network threads; a setting cannot ask for more */

struct api {
    struct api_config config;
    uint8_t password_hash[AUTH_HASH_BYTES];   /* of the admin's, if there is one */
    const struct http_server *_Atomic server; /* NULL until it is open */
    const char *url;                          /* where others reach it; set before server is */
    struct api_router *router;
    struct api_limiter *limiter;
    struct api_audit *audit; /* NULL: nothing is written down */
    struct api_metrics *metrics;
    struct buf openapi; /* the description of the routes, which does not change */
    struct mono started;
    struct hub *hubs[API_LOOPS_MAX]; /* readers of events, by network thread */
    struct engine_outbox outboxes[API_LOOPS_MAX];
    struct front_gate *gates[API_LOOPS_MAX]; /* to other nodes */
    struct hub_counts *hub_counts;
    atomic_bool restoring; /* a restore is under way */
    struct api_sdb_meter sdb;
    struct push_sender *_Atomic push;        /* NULL until it is open, and without one */
    const struct discover *_Atomic discover; /* NULL: there are no other nodes to find */
};

/* api_call.c: the ends of a call */

/* The answer is JSON: where it is written, and its end, with a newline behind it. */
struct json_write api_call__json(struct api_call *c);
void api_call__reply(struct api_call *c, int status, const struct json_write *w);
/* 200, and where the next page of a list begins, in a header; empty: there is none. */
void api_call__reply_next(struct api_call *c, const struct json_write *w, struct str next);
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
/* With when to come back, for ERR_OVERLOADED; or the methods there are, NULL for other errors. */
void api_call__fail_with(struct api_call *c, enum err_code code, struct str message,
                         uint32_t retry_ms, const char *allow);
extern const struct http_handlers api_call__handlers; /* of a request whose call is its data */
/* The result's refusal, when it is one: true. */
bool api_call__refused(struct api_call *c, const struct result *r);

/* api_call.c: a streamed answer, status 200. From begin on the handlers are told of the request,
 * and its req->data is the call, which end (the answer is whole) or drop (it is not, or nobody
 * hears it) ends. What is written in between goes to http_request_write. */
void api_call__stream_begin(struct api_call *c, struct str type, const struct http_header *headers,
                            size_t count, const struct http_handlers *handlers);
/* The same for server-sent events, which nobody on the way may keep back. */
void api_call__stream_events(struct api_call *c, const struct http_handlers *handlers);
void api_call__stream_end(struct api_call *c);
void api_call__stream_drop(struct api_call *c);

/* The call as the RPC service sees it: what is known of its request. */
struct rpc_peer api_call__peer(struct api_call *c);
/* What it is counted as. */
struct api_metrics_what api_call__what(const struct api_call *c);

/* For whom svc works. A call of nobody, which only has a namespace and an arena, has no engine. */
static inline struct svc_caller api_call__caller(const struct api_call *c)
{
    return (struct svc_caller){.engine = c->api != NULL ? c->api->config.engine : NULL,
                               .ns = c->ns,
                               .scope = c->caller.scope,
                               .urgencies = api_names__is_second(c),
                               .arena = c->arena};
}

/* api_call.c: ways to the engine */

/* What the call's thread sends its commands by. */
struct engine_outbox *api_call__outbox(struct api_call *c);

/* Check, encode and submit; on_result is called with an answer that is not a refusal of the engine
 * itself. An error of the command or the engine ends the call. */
void api_call__submit(struct api_call *c, const struct command *command, int64_t park_ms,
                      void (*on_result)(struct api_call *c, const struct result *r));

/* The same for a call that has changed something already, which is not undone by an error of this
 * command or of the engine: on_error answers. */
void api_call__submit_more(struct api_call *c, const struct command *command, int64_t park_ms,
                           void (*on_result)(struct api_call *c, const struct result *r),
                           void (*on_error)(struct api_call *c, const struct err *err));

/* Look at the machine between two entries, on the core thread; then go on here. */
void api_call__look(struct api_call *c, void (*look)(struct api_call *c, struct machine *m),
                    void (*then)(struct api_call *c));

/* Go on in another turn of this network thread, so that other requests have theirs. Not called
 * when the client goes. */
void api_call__later(struct api_call *c, void (*then)(struct api_call *c));

/* Go on when something of its own is over, a message from another thread or commands besides c->op:
 * from inside that, api_call__wake, or api_call__later. */
void api_call__wait(struct api_call *c, void (*then)(struct api_call *c));
void api_call__wake(struct api_call *c);

/* Ask the view: `ask` runs on a thread of the view, where it may use the call's arena, write its
 * answer into c->answer, or set c->ask_err; then go on here. Errors end the call. */
void api_call__ask(struct api_call *c, void (*ask)(struct api_call *c, struct view_reader *r),
                   void (*then)(struct api_call *c));
/* 200 with c->answer, and a header that says what the answer did not see. */
void api_call__reply_asked(struct api_call *c);
/* Make the view anew, and go on when that is done. */
void api_call__rebuild(struct api_call *c, void (*then)(struct api_call *c));

/* Memory of the call, all zeros; never NULL (base/arena.h: arena_need). What is asked for must be
 * small, or no larger than what was decoded. A call that has run out ends with an error at its next
 * step, before anything is changed or answered: a handler that goes other ways to change something
 * than api_call__submit asks api_call__has_memory itself. */
void *api_call__alloc(struct api_call *c, size_t size);
/* False when memory ran out: the call has ended, with 413 or 429. */
ATTR_NODISCARD bool api_call__has_memory(struct api_call *c);
/* End the call for want of memory: ERR_TOO_LARGE, or ERR_OVERLOADED when one may try again. */
void api_call__fail_memory(struct api_call *c, enum err_code code);
#define API_ARRAY(c, type, n) ((type *)api_call__alloc((c), sizeof(type) * ((n) == 0 ? 1 : (n))))
#define API_NEW(c, type)      ((type *)api_call__alloc((c), sizeof(type)))

/* Room for one more element behind the count that a list has, in the call's arena: the list, or a
 * larger copy of it, and its new *cap. NULL when the arena is full: the list is as it was. */
ATTR_NODISCARD void *api_call__grow(struct api_call *c, void *list, size_t count, size_t *cap,
                                    size_t size);

/* What was written into the buf, in the call's memory; the buf is freed. What did not fit into
 * either is memory that ran out. */
struct str api_call__keep(struct api_call *c, struct buf *b);

/* A buf bounded by what an answer may be, with memory from the budget; freed with buf_deinit by the
 * caller. Whoever puts something of it elsewhere looks at buf_error. */
void api_call__buf(const struct api_call *c, struct buf *b);

/* api_enqueue.c: the answer of whatever has made one job, or found that there is one: 201, and 200
 * for RESULT_DUPLICATE. An empty queue: it is not known. */
void api_enqueue__reply(struct api_call *c, struct id job, struct str queue,
                        enum result_status status);
/* The Idempotency-Key of the request, and what it stands for. */
struct svc_once api_enqueue__once(const struct api_call *c, enum svc_once_route route);
