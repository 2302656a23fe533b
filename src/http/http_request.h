/*
 * Http_request: one request, from its headers to the end of its answer.
 *
 * The server calls on_request when the headers are complete. From then on the request is the
 * handler's, which finishes it exactly once, at any later time: with http_request_answer (a whole
 * answer), http_request_end (after begin and writes), or http_request_drop. Until then the struct,
 * everything it points to and its arena stay; after the finishing call nothing of it may be
 * touched.
 *
 * Everything here runs on the request's own loop thread. Another thread that has something for a
 * request posts a message to the mailbox of req->loop (http_loop.h).
 *
 * The handler hears of the request through req->on, which it sets before on_request returns (unless
 * it has finished the request by then). Callbacks come from the loop, never from inside a call that
 * the handler makes. When the client has gone, on->gone is called once and nothing after it; the
 * request must still be finished, and an answer given to it goes nowhere.
 *
 *   on_request --> [collect | stream] --> answer                       whole
 *                                     \-> begin --> write ... --> end  streamed
 *                 any time:  gone, shut, stopping                      then finish
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"
#include "http/http_known.h"

struct http_loop;
struct http_request;

enum http_method {
    HTTP_GET, /* also HEAD: see http_request.head */
    HTTP_POST,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_PATCH,
    HTTP_METHOD_OTHER, /* see http_request.method_name */
    HTTP_METHOD_COUNT
};

enum http_protocol { HTTP_1_0, HTTP_1_1, HTTP_2, HTTP_PROTOCOL_COUNT };

struct http_header {
    struct str name;
    struct str value;
};

/* A query parameter, percent-decoded. */
struct http_param {
    struct str name;
    struct str value;
};

/* What a handler hears about a request that it has kept. */
struct http_handlers {
    /* The client has gone, or broke off or spoilt its body: nobody will see an answer. Once, and
     * the last callback of this request. Required; http_request_drop is enough where there is
     * nothing to release. */
    void (*gone)(struct http_request *req);

    /* The client sends no more: it has closed the connection, or has shut only its own side and
     * waits for the answer, which is still sent. Once: do not wait for anything any more, but
     * finish what is under way. NULL: it is taken for gone. */
    void (*shut)(struct http_request *req);

    /* The server is stopping: answer early. Once; may be NULL. */
    void (*stopping)(struct http_request *req);

    /* After http_request_stream: a piece of the body, valid during the call, and its end. */
    void (*body)(struct http_request *req, struct str bytes);
    void (*body_end)(struct http_request *req);

    /* After a write that said FULL: there is room again. May be NULL. */
    void (*writable)(struct http_request *req);
};

struct http_request {
    /* What came. */
    enum http_method method;
    enum http_protocol protocol;
    bool head;              /* HEAD: handled as GET, the server leaves the body out */
    bool tls;               /* came encrypted */
    struct str method_name; /* as sent */
    struct str target;      /* as sent: path and query */
    struct str path_raw;    /* as sent, begins with '/'; "*" for OPTIONS * */
    struct str path;        /* percent-decoded once, without NUL bytes */
    bool path_bad;          /* a '%' in it begins no byte, or a NUL: path is path_raw; answer 400 */
    struct str query;       /* as sent, without the '?' */
    struct str peer;        /* address of the other end as text, without the port */
    const struct http_header *headers;
    size_t header_count;
    struct http_known_slots known; /* where those of them are that the server looks for */
    int64_t content_length;        /* -1: not said; 0 when there is no body */
    struct str body;               /* set when collect says HTTP_BODY_COMPLETE */
    struct arena *arena;           /* the request's memory; the handler may use it too */
    struct http_loop *loop;

    /* The handler's. */
    const struct http_handlers *on;
    void *data;
    uint8_t common; /* which set of the server's common headers the answer has */
};

/* The value of the first header of this number; false when there is none. */
ATTR_NODISCARD static inline bool http_request_known(const struct http_request *req,
                                                     enum http_known known, struct str *out)
{
    uint16_t row = req->known.row[known];
    if (row > 0) {
        *out = req->headers[row - 1].value;
    }
    return row > 0;
}

/* The value of the first header of any name, in any case; false when there is none. */
ATTR_NODISCARD bool http_request_header(const struct http_request *req, struct str name,
                                        struct str *out);

/* The value of the first query parameter of this name, decoded; false when there is none. */
ATTR_NODISCARD bool http_request_param(struct http_request *req, struct str name, struct str *out);

/* All query parameters in order, decoded ('+' is a space; a '%' that begins no byte stays). */
const struct http_param *http_request_params(struct http_request *req, size_t *out_count);

/* ---- the body; a handler that answers without either of these leaves it unread ---- */

enum http_body_result {
    HTTP_BODY_COMPLETE,  /* req->body has it */
    HTTP_BODY_TOO_LARGE, /* more than the limit: answer 413 */
    HTTP_BODY_NO_ROOM,   /* too many bodies are held (loop_body_bytes, the budget): answer 503 */
};

typedef void (*http_body_fn)(struct http_request *req, enum http_body_result result);

/* Collect the body, up to limit_bytes; done is called once, unless the client goes first. Whoever
 * takes the request over from one that has collected it may do so again. */
void http_request_collect(struct http_request *req, size_t limit_bytes, http_body_fn done);

/* Hand the body over as it comes, to on->body and on->body_end. The server reads on only while less
 * than body_window_bytes of it is not consumed. */
void http_request_stream(struct http_request *req);

/* n more bytes of the streamed body are done with. */
void http_request_consume(struct http_request *req, size_t n);

/* ---- the answer ---- */

enum { HTTP_RESPONSE_HEADERS_MAX = 32 }; /* rows of one answer, and of its trailers */

/* The server itself writes Content-Length, Transfer-Encoding and Connection; rows of these names
 * are left out. Control bytes in a value are written as spaces: no value can break the framing. */
struct http_response {
    int status;              /* 200 to 599 */
    struct str content_type; /* empty: none */
    const struct http_header *headers;
    size_t header_count;
    struct str body;      /* http_request_answer only; copied during the call */
    bool body_static;     /* the body's bytes live as long as the process and are not copied */
    struct buf *body_buf; /* body is all of this buf, whose memory may be taken over; or NULL. Its
                           * budget is the server's */
    bool close;           /* HTTP/1: end the connection after this answer */
    const struct http_header *trailers; /* http_request_answer on HTTP/2 only; constants, with names
                                         * in small letters, which are neither checked nor copied */
    size_t trailer_count;
};

/* Asks the system whether the connection is known to have ended, before that was read: an answer
 * that cannot be taken back is better not given then. */
bool http_request_has_ended(const struct http_request *req);

/* Answer and finish. */
void http_request_answer(struct http_request *req, const struct http_response *response);

/* Begin a streamed answer; the headers leave at the end of this turn of the loop. */
void http_request_begin(struct http_request *req, const struct http_response *response);

enum http_write {
    HTTP_WRITE_OK,
    HTTP_WRITE_FULL, /* nothing was taken: stream_output_bytes are waiting; on->writable will come
                      */
    HTTP_WRITE_GONE, /* nothing was taken: there is no client any more */
};

/* One piece of a streamed answer: one HTTP/1 chunk, or one DATA frame as far as the client's frame
 * size and window allow. It leaves at the end of this turn of the loop. */
ATTR_NODISCARD enum http_write http_request_write(struct http_request *req, struct str bytes);

/* End a streamed answer and finish. Trailers, if any, are sent on HTTP/2 and in chunked answers. */
void http_request_end(struct http_request *req, const struct http_header *trailers,
                      size_t trailer_count);

/* Finish without an answer, or in the middle of one. The HTTP/2 stream is reset. The HTTP/1
 * connection ends: after the answers to earlier requests, or at once in the middle of this one, so
 * that the client does not take what it has for the whole. */
void http_request_drop(struct http_request *req);
