/*
 * Http_exchange: the internal side of a request, common to both protocols.
 *
 * An exchange has two owners: the handler, until it finishes the request, and the transport (an
 * HTTP/1 pipeline or an HTTP/2 stream), until the response is being sent or the client has
 * disconnected. When both have released it, it is recycled at the end of the loop's turn, so that
 * pointers to it stay valid within a turn.
 *
 * Only http_exchange__step calls the handler, apart from on_request and the pieces of a streamed
 * body. Functions that the handler calls only record the request and schedule a later step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/http_addr.h"
#include "http/http_out.h"
#include "http/http_request.h"
#include "http/http_status.h"

struct http_conn;
struct http_exchange;
struct http_loop;

/* The operations of a transport. Called only while the exchange is attached (conn is set) and the
 * transport has not refused it. */
struct http_exchange_ops {
    void (*answer)(struct http_exchange *x, const struct http_response *response);
    void (*begin)(struct http_exchange *x, const struct http_response *response);
    void (*write)(struct http_exchange *x, struct str bytes);
    size_t (*queued)(const struct http_exchange *x); /* unsent bytes of the answer */
    void (*end)(struct http_exchange *x, const struct http_header *trailers, size_t count);
    void (*drop)(struct http_exchange *x);

    /* The handler has called collect or stream. */
    void (*want_body)(struct http_exchange *x);
    /* The handler or the collecting code has consumed n bytes of the body. */
    void (*consumed)(struct http_exchange *x, size_t n);
    /* Answer with an error from the server itself. The handler, if there is one, gets gone. */
    void (*refuse)(struct http_exchange *x, struct http_problem problem);
};

enum http_body_mode {
    HTTP_MODE_UNDECIDED, /* neither collect nor stream was called */
    HTTP_MODE_COLLECT,
    HTTP_MODE_STREAM,
};

enum http_answer_state { HTTP_ANSWER_NONE, HTTP_ANSWER_STREAMING, HTTP_ANSWER_DONE };

/* The HTTP/1 side. */
struct http1_part {
    struct http_exchange *next; /* in the pipeline; stays set after leaving it */
    struct http_out held;       /* the answer, while earlier ones are not complete */
    bool keep_alive;            /* requested by the client */
    bool expect;                /* waits for "100 Continue" */
    bool close;                 /* the connection ends after this answer */
    bool chunked;
    bool bodyless; /* HEAD, 204, 304: no body follows the headers */
    bool complete; /* the whole answer is in held or has been passed on */
};

/* The HTTP/2 side. */
struct http2_part {
    struct http_exchange *prev, *next; /* in one of the session's lists */
    int32_t stream_id;
    struct http_header *headers; /* being received */
    size_t header_max;
    size_t header_bytes;
    unsigned cookies;
    struct http_problem problem; /* found while receiving the head */
    struct http_out pieces;      /* of the answer's body, not framed yet */
    const struct http_header *trailers;
    size_t trailer_count;
    bool trailers_constant; /* see http_response.trailers */
    uint64_t lingering_ms;  /* start of lingering */
    size_t lingering_bytes; /* bytes of body since then */
    bool expect;            /* waits for status 100 */
    bool waiting;           /* in the list of requests that start when the client has read enough */
    bool ended;             /* no more pieces follow */
    bool idle;              /* nghttp2 was told that there are no pieces; resume it for new ones */
    bool lingers;           /* the answer is sent, and the body is still arriving */
};

struct http_exchange {
    struct http_request req; /* the handler's side */

    struct http_loop *loop;
    struct http_conn *conn; /* NULL after the transport has released the exchange */
    const struct http_exchange_ops *ops;
    struct http_exchange *prev, *next; /* in the loop's list of all; next also in its other lists */
    struct http_exchange *later_next;

    /* the handler's side */
    bool started;  /* on_request was called */
    bool finished; /* the handler has released the exchange */
    bool later;    /* in the loop's list for http_exchange__step */
    bool gone;
    bool gone_told;
    bool shut;
    bool shut_told;
    bool stopping_told;
    bool refused; /* the server itself answers */

    /* the body */
    enum http_body_mode body_mode;
    bool body_complete;
    bool body_told; /* done or body_end has been called */
    enum http_body_result body_result;
    http_body_fn body_done;
    size_t body_limit;
    struct buf body;     /* collected bytes, or those that arrived before the handler decided */
    size_t unconsumed;   /* streamed and not yet consumed */
    uint64_t received;   /* bytes of the body so far */
    uint64_t collect_ms; /* start of collecting */
    bool too_slow;

    /* the answer */
    enum http_answer_state answer;
    bool full;         /* a write was refused: the handler waits for room */
    bool writable_due; /* there is room again, and writable is not called yet */

    /* query parameters, after their first use */
    const struct http_param *params;
    size_t param_count;
    bool params_known;

    union {
        struct http1_part h1;
        struct http2_part h2;
    };
    /* These must be the last members: recycling does not clear them, so nothing may read them
     * before they are set. */
    char peer_room[HTTP_ADDR_TEXT_MAX]; /* the request may outlive the connection */
    char body_room[512];                /* initial memory of body */
};

static inline struct http_exchange *http_exchange__of(struct http_request *req)
{
    return (struct http_exchange *)req; /* req is its first member */
}

/* Create an exchange, held by the transport only. */
struct http_exchange *http_exchange__new(struct http_conn *conn,
                                         const struct http_exchange_ops *ops);

/* Set method and target. False if the target is invalid or the arena is full. */
ATTR_NODISCARD bool http_exchange__set_target(struct http_exchange *x, struct str method_name,
                                              struct str target, struct http_problem *problem);

/* The refusal of a head for which the arena has no room. */
struct http_problem http_exchange__no_memory(const struct http_exchange *x);

/* The head is complete: call on_request, or refuse the request if too many are in progress. */
void http_exchange__start(struct http_exchange *x);

/* Process bytes of the body, and its end. */
void http_exchange__body(struct http_exchange *x, struct str bytes);
void http_exchange__body_end(struct http_exchange *x);

/* The client has gone: nobody can receive the answer. */
void http_exchange__gone(struct http_exchange *x);

/* The client sends no more; it may still receive the answer. */
void http_exchange__shut(struct http_exchange *x);

/* The server itself answers: the handler gets gone, and its answer is discarded. */
void http_exchange__take_over(struct http_exchange *x);

/* Release the transport's side. */
void http_exchange__detach(struct http_exchange *x);

/* Release the handler's side. */
void http_exchange__finish(struct http_exchange *x);

/* Is the exchange attached to a transport that accepts operations? */
static inline bool http_exchange__is_attached(const struct http_exchange *x)
{
    return x->conn != NULL && !x->refused;
}

/* Call the handler's pending callbacks now; later does so at the end of the turn. */
void http_exchange__step(struct http_exchange *x);
void http_exchange__later(struct http_exchange *x);

/* Check whether a collected body arrives too slowly. */
void http_exchange__expire(struct http_exchange *x, uint64_t now_ms);

/* At the end of the turn: prepare the exchange for reuse, or free it. */
void http_exchange__recycle(struct http_exchange *x);
void http_exchange__free(struct http_exchange *x);
