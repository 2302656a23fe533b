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

/* Begin a JSON response, and send it with a final newline. */
struct json_write rest_call__json(struct rest_call *c);
void rest_call__reply(struct rest_call *c, int status, const struct json_write *w);
/* Respond 200, with the cursor of the next page in a header; empty: there is no next page. */
void rest_call__reply_next(struct rest_call *c, const struct json_write *w, struct str next);
void rest_call__reply_type(struct rest_call *c, int status, struct str type, struct str body);
/* Respond 200 with the content of c->answer, or with an error if it overflowed. */
void rest_call__reply_written(struct rest_call *c, struct str type);
/* As reply_type with additional headers, at most REST_HEADERS_MAX. */
enum { REST_HEADERS_MAX = 8 };
void rest_call__reply_headers(struct rest_call *c, int status, struct str type, struct str body,
                              const struct http_header *headers, size_t count);
/* The same with a body that is valid as long as the process, and is not copied. */
void rest_call__reply_static(struct rest_call *c, int status, struct str type, struct str body,
                             const struct http_header *headers, size_t count);
void rest_call__reply_status(struct rest_call *c, const char *word); /* {"status":"…"} */
void rest_call__reply_empty(struct rest_call *c, int status);        /* without a body */
void rest_call__fail(struct rest_call *c, enum err_code code, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
void rest_call__fail_err(struct rest_call *c, const struct err *err);
/* retry_ms is used for ERR_OVERLOADED. allow lists the methods of the path for
 * ERR_METHOD_NOT_ALLOWED; else NULL. */
void rest_call__fail_with(struct rest_call *c, enum err_code code, struct str message,
                          uint32_t retry_ms, const char *allow);
/* Maximum size of the request body. */
size_t rest_call__body_max(const struct rest_call *c);
/* Is this a body that the route ignores, because it is too large? */
bool rest_call__may_ignore(const struct rest_call *c, enum http_body_result result);
/* End the call, because the body could not be collected. */
void rest_call__body_failed(struct rest_call *c, enum http_body_result result);
extern const struct http_handlers rest_call__handlers; /* of a request with the call as its data */
/* If the result is an error, end the call with it and return true. */
bool rest_call__refused(struct rest_call *c, const struct result *r);
void rest_call__dropped(struct rest_call *c); /* count a call that ends without a response */

/* rest_call.c: a streamed response with status 200. begin sets the handlers of the request;
 * req->data remains the call. Write with http_request_write. Then call end if the response is
 * complete; or drop if it is not, or the client disconnected. */
void rest_call__stream_begin(struct rest_call *c, struct str type,
                             const struct http_header *headers, size_t count,
                             const struct http_handlers *handlers);
/* The same for server-sent events, with headers that keep proxies from buffering or caching
 * them. */
void rest_call__stream_events(struct rest_call *c, const struct http_handlers *handlers);
void rest_call__stream_end(struct rest_call *c);
void rest_call__stream_drop(struct rest_call *c);

/* The call's data for the RPC service. */
struct rpc_peer rest_call__peer(struct rest_call *c);
/* What the metrics count the call as. */
struct rest_metrics_what rest_call__what(const struct rest_call *c);

/* The caller for svc. A call without a client, which has only a namespace, a scope and an arena,
 * has no engine. */
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

/* The outbox of the call's thread. */
struct engine_outbox *rest_call__outbox(struct rest_call *c);

/* Check, encode and submit a command; on_result receives its result. An error of the command itself
 * or of the engine ends the call. */
void rest_call__submit(struct rest_call *c, const struct command *command, int64_t park_ms,
                       void (*on_result)(struct rest_call *c, const struct result *r));

/* The same for a call that has already changed something: after an error, on_error writes the
 * response. */
void rest_call__submit_more(struct rest_call *c, const struct command *command, int64_t park_ms,
                            void (*on_result)(struct rest_call *c, const struct result *r),
                            void (*on_error)(struct rest_call *c, const struct err *err));

/* Call `look` on the core thread between two log entries, then `then` on this thread. */
void rest_call__on_core(struct rest_call *c, void (*look)(struct rest_call *c, struct machine *m),
                        void (*then)(struct rest_call *c));

/* Continue in a later turn of this network thread, so that other requests get theirs. `then` is not
 * called if the client disconnects. */
void rest_call__later(struct rest_call *c, void (*then)(struct rest_call *c));

/* Wait for an event of the handler, such as a message from another thread or a command outside
 * c->op. When it occurs, call rest_call__wake or rest_call__later. */
void rest_call__wait(struct rest_call *c, void (*then)(struct rest_call *c));
void rest_call__wake(struct rest_call *c);

/* Query the view: `ask` runs on a thread of the view, where it may use the call's arena, write into
 * c->answer, or set c->ask_err. Then `then` runs on this thread. Errors end the call. */
void rest_call__on_view(struct rest_call *c,
                        void (*ask)(struct rest_call *c, struct view_reader *r),
                        void (*then)(struct rest_call *c));
/* Respond 200 with c->answer and a header with the view's lag. */
void rest_call__reply_asked(struct rest_call *c);
/* Rebuild the view, then call `then`. */
void rest_call__rebuild(struct rest_call *c, void (*then)(struct rest_call *c));

/* Allocate zeroed memory from the call's arena; never NULL (base/arena.h: arena_need). The size
 * must be small, or at most that of the decoded request. If memory runs out, the call ends with an
 * error at its next step, before it changes anything or responds. A handler that changes something
 * without rest_call__submit must check rest_call__has_memory itself. */
void *rest_call__alloc(struct rest_call *c, size_t size);
/* False if memory ran out: the call has ended with 413 or 429. */
ATTR_NODISCARD bool rest_call__has_memory(struct rest_call *c);
/* End the call because memory ran out: ERR_TOO_LARGE, or ERR_OVERLOADED if a retry may succeed. */
void rest_call__fail_memory(struct rest_call *c, enum err_code code);
#define REST_ARRAY(c, type, n) ((type *)rest_call__alloc((c), sizeof(type) * ((n) == 0 ? 1 : (n))))
#define REST_NEW(c, type)      ((type *)rest_call__alloc((c), sizeof(type)))

/* Make room for one more element of a list in the call's arena. Returns the list, or a larger copy
 * with a new *cap. NULL if the arena is full; the list is then unchanged. */
ATTR_NODISCARD void *rest_call__grow(struct rest_call *c, void *list, size_t count, size_t *cap,
                                     size_t size);

/* Copy the buf's content into the call's arena and free the buf. If the buf or the arena
 * overflowed, the call is out of memory. */
struct str rest_call__keep(struct rest_call *c, struct buf *b);
/* Initialize a buf for a short text that rest_call__keep keeps: it begins in the call's arena. */
void rest_call__room(struct rest_call *c, struct buf *b, size_t limit_bytes);

/* Initialize a buf with the size limit of a response and memory from the budget. The caller frees
 * it with buf_deinit, and checks buf_error before using its content. */
void rest_call__buf(const struct rest_call *c, struct buf *b);

/* rest_enqueue.c: the response for one job: 201 if it was created, 200 for RESULT_DUPLICATE. An
 * empty queue means unknown. */
void rest_enqueue__reply(struct rest_call *c, struct id job, struct str queue,
                         enum result_status status);
/* The Idempotency-Key of the request, with what a repetition must have in common. */
struct svc_once rest_enqueue__once(const struct rest_call *c, enum svc_once_route route);
