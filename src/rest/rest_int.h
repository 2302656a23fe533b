/*
 * Rest_int: the functions of a call, shared by all handlers: what a call can do, and how it ends.
 *
 * A call is one request in progress. It is in the request's arena and ends with exactly one of
 * rest_call__reply, rest_call__fail and rest_call__stream_…; do not touch it afterwards. If the
 * client disconnects while a command is in progress, the call ends by itself when the command
 * returns, and the handler's result function is not called.
 */
#pragma once

#include "rest/rest_call_int.h"     /* IWYU pragma: export */
#include "rest/rest_document_int.h" /* IWYU pragma: export */
#include "rest/rest_forward_int.h"  /* IWYU pragma: export */
#include "rest/rest_limiter_int.h"  /* IWYU pragma: export */
#include "rest/rest_metrics_int.h"  /* IWYU pragma: export */
#include "rest/rest_names_int.h"    /* IWYU pragma: export */
#include "rest/rest_route_int.h"    /* IWYU pragma: export */

/* rest_call.c: the ends of a call */

/* The answer is JSON: where it is written, and its end, with a newline behind it. */
struct json_write rest_call__json(struct rest_call *c);
void rest_call__reply(struct rest_call *c, int status, const struct json_write *w);
/* 200, and where the next page of a list begins, in a header; empty: there is none. */
void rest_call__reply_next(struct rest_call *c, const struct json_write *w, struct str next);
void rest_call__reply_type(struct rest_call *c, int status, struct str type, struct str body);
/* 200 with what was written into c->answer, or the error that it ran out of room. */
void rest_call__reply_written(struct rest_call *c, struct str type);
/* The same as reply_type with headers of its own, at most REST_HEADERS_MAX. */
enum { REST_HEADERS_MAX = 8 };
void rest_call__reply_headers(struct rest_call *c, int status, struct str type, struct str body,
                              const struct http_header *headers, size_t count);
/* The same with a body whose bytes live as long as the process: it is not copied. */
void rest_call__reply_static(struct rest_call *c, int status, struct str type, struct str body,
                             const struct http_header *headers, size_t count);
void rest_call__reply_status(struct rest_call *c, const char *word); /* {"status":"…"} */
void rest_call__reply_empty(struct rest_call *c, int status);        /* without a body */
void rest_call__fail(struct rest_call *c, enum err_code code, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
void rest_call__fail_err(struct rest_call *c, const struct err *err);
/* With when to come back, for ERR_OVERLOADED; or the methods there are, NULL for other errors. */
void rest_call__fail_with(struct rest_call *c, enum err_code code, struct str message,
                          uint32_t retry_ms, const char *allow);
/* How large its body may be. */
size_t rest_call__body_max(const struct rest_call *c);
/* For a body that cannot be had. */
void rest_call__body_failed(struct rest_call *c, enum http_body_result result);
extern const struct http_handlers rest_call__handlers; /* of a request whose call is its data */
/* The result's refusal, when it is one: true. */
bool rest_call__refused(struct rest_call *c, const struct result *r);

/* rest_call.c: a streamed answer, status 200. From begin on the handlers are told of the request,
 * and its req->data is the call, which end (the answer is whole) or drop (it is not, or nobody
 * hears it) ends. What is written in between goes to http_request_write. */
void rest_call__stream_begin(struct rest_call *c, struct str type,
                             const struct http_header *headers, size_t count,
                             const struct http_handlers *handlers);
/* The same for server-sent events, which nobody on the way may keep back. */
void rest_call__stream_events(struct rest_call *c, const struct http_handlers *handlers);
void rest_call__stream_end(struct rest_call *c);
void rest_call__stream_drop(struct rest_call *c);

/* The call as the RPC service sees it: what is known of its request. */
struct rpc_peer rest_call__peer(struct rest_call *c);
/* What it is counted as. */
struct rest_metrics_what rest_call__what(const struct rest_call *c);

/* For whom svc works. A call of nobody, which only has a namespace and an arena, has no engine. */
static inline struct svc_caller rest_call__caller(const struct rest_call *c)
{
    return (struct svc_caller){.engine = c->rest != NULL ? c->rest->config.engine : NULL,
                               .ns = c->ns,
                               .scope = c->caller.scope,
                               .urgencies = rest_names__is_second(c),
                               .restores = c->restores,
                               .arena = c->arena};
}

/* rest_call.c: ways to the engine */

/* What the call's thread sends its commands by. */
struct engine_outbox *rest_call__outbox(struct rest_call *c);

/* Check, encode and submit; on_result is called with an answer that is not a refusal of the engine
 * itself. An error of the command or the engine ends the call. */
void rest_call__submit(struct rest_call *c, const struct command *command, int64_t park_ms,
                       void (*on_result)(struct rest_call *c, const struct result *r));

/* The same for a call that has changed something already, which is not undone by an error of this
 * command or of the engine: on_error answers. */
void rest_call__submit_more(struct rest_call *c, const struct command *command, int64_t park_ms,
                            void (*on_result)(struct rest_call *c, const struct result *r),
                            void (*on_error)(struct rest_call *c, const struct err *err));

/* Look at the machine between two entries, on the core thread; then go on here. */
void rest_call__on_core(struct rest_call *c, void (*look)(struct rest_call *c, struct machine *m),
                        void (*then)(struct rest_call *c));

/* Go on in another turn of this network thread, so that other requests have theirs. Not called
 * when the client goes. */
void rest_call__later(struct rest_call *c, void (*then)(struct rest_call *c));

/* Go on when something of its own is over, a message from another thread or commands besides c->op:
 * from inside that, rest_call__wake, or rest_call__later. */
void rest_call__wait(struct rest_call *c, void (*then)(struct rest_call *c));
void rest_call__wake(struct rest_call *c);

/* Ask the view: `ask` runs on a thread of the view, where it may use the call's arena, write its
 * answer into c->answer, or set c->ask_err; then go on here. Errors end the call. */
void rest_call__on_view(struct rest_call *c,
                        void (*ask)(struct rest_call *c, struct view_reader *r),
                        void (*then)(struct rest_call *c));
/* 200 with c->answer, and a header that says what the answer did not see. */
void rest_call__reply_asked(struct rest_call *c);
/* Make the view anew, and go on when that is done. */
void rest_call__rebuild(struct rest_call *c, void (*then)(struct rest_call *c));

/* Memory of the call, all zeros; never NULL (base/arena.h: arena_need). What is asked for must be
 * small, or no larger than what was decoded. A call that has run out ends with an error at its next
 * step, before anything is changed or answered: a handler that goes other ways to change something
 * than rest_call__submit asks rest_call__has_memory itself. */
void *rest_call__alloc(struct rest_call *c, size_t size);
/* False when memory ran out: the call has ended, with 413 or 429. */
ATTR_NODISCARD bool rest_call__has_memory(struct rest_call *c);
/* End the call for want of memory: ERR_TOO_LARGE, or ERR_OVERLOADED when one may try again. */
void rest_call__fail_memory(struct rest_call *c, enum err_code code);
#define REST_ARRAY(c, type, n) ((type *)rest_call__alloc((c), sizeof(type) * ((n) == 0 ? 1 : (n))))
#define REST_NEW(c, type)      ((type *)rest_call__alloc((c), sizeof(type)))

/* Room for one more element behind the count that a list has, in the call's arena: the list, or a
 * larger copy of it, and its new *cap. NULL when the arena is full: the list is as it was. */
ATTR_NODISCARD void *rest_call__grow(struct rest_call *c, void *list, size_t count, size_t *cap,
                                     size_t size);

/* What was written into the buf, in the call's memory; the buf is freed. What did not fit into
 * either is memory that ran out. */
struct str rest_call__keep(struct rest_call *c, struct buf *b);
/* A buf for something small that is kept afterwards: it begins in the call's memory. */
void rest_call__room(struct rest_call *c, struct buf *b, size_t limit_bytes);

/* A buf bounded by what an answer may be, with memory from the budget; freed with buf_deinit by the
 * caller. Whoever puts something of it elsewhere looks at buf_error. */
void rest_call__buf(const struct rest_call *c, struct buf *b);

/* rest_enqueue.c: the answer of whatever has made one job, or found that there is one: 201, and 200
 * for RESULT_DUPLICATE. An empty queue: it is not known. */
void rest_enqueue__reply(struct rest_call *c, struct id job, struct str queue,
                         enum result_status status);
/* The Idempotency-Key of the request, and what it stands for. */
struct svc_once rest_enqueue__once(const struct rest_call *c, enum svc_once_route route);
