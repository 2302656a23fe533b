/*
 * Http_request: one request, from its headers to the end of its answer.
 *
 * The server calls on_request when the headers are complete. From then on the handler owns the
 * request and must finish it exactly once, at any later time: with http_request_answer (a whole
 * answer), http_request_end (after begin and writes), or http_request_drop. Until then the struct,
 * everything it points to and its arena are valid. After the finishing call the request must not be
 * used.
 *
 * All functions run on the request's own loop thread. Another thread that has a result for a
 * request posts a message to the mailbox of req->loop (http_loop.h).
 *
 * The callbacks are in req->on, which the handler sets before on_request returns (unless it has
 * finished the request by then). The loop calls them, never a function that the handler calls. When
 * the client has gone, on->gone is called once, as the last callback. The handler must still finish
 * the request; its answer is discarded.
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

/* The callbacks for an unfinished request. */
struct http_handlers {
    /* The client has disconnected, or its body was cut off or invalid: nobody can receive an
     * answer. Called once, as the last callback. Required; a handler with nothing to release can
     * just call http_request_drop. */
    void (*gone)(struct http_request *req);

    /* The client sends no more: it has closed the connection, or has shut down only its own side
     * and waits for the answer, which is still sent. Called once: stop waiting for events, but
     * finish the work in progress. NULL: gone is called instead. */
    void (*shut)(struct http_request *req);

    /* The server is stopping: answer early. Called once; may be NULL. */
    void (*stopping)(struct http_request *req);

    /* After http_request_stream: a piece of the body, valid during the call, and the end of the
     * body. */
    void (*body)(struct http_request *req, struct str bytes);
    void (*body_end)(struct http_request *req);

    /* After a write that returned FULL: there is room again. May be NULL. */
    void (*writable)(struct http_request *req);
};

struct http_request {
    /* The received request. */
    enum http_method method;
    enum http_protocol protocol;
    bool head;              /* HEAD: handled as GET; the server omits the body */
    bool tls;               /* received over TLS */
    struct str method_name; /* as sent */
    struct str target;      /* as sent: path and query */
    struct str path_raw;    /* as sent, begins with '/'; "*" for OPTIONS * */
    struct str path;        /* percent-decoded once, without NUL bytes */
    bool path_bad; /* path is not decodable: invalid '%' or an encoded NUL; path is path_raw; answer
                      400 */
    struct str query; /* as sent, without the '?' */
    struct str peer;  /* the client's address as text, without the port */
    const struct http_header *headers;
    size_t header_count;
    struct http_known_slots known; /* positions of the headers with a number */
    int64_t content_length;        /* -1: unknown; 0: no body */
    struct str body;               /* set by collect; empty unless it reports HTTP_BODY_COMPLETE */
    struct arena *arena;           /* memory of the request; the handler may also use it */
    struct http_loop *loop;

    /* Set by the handler. */
    const struct http_handlers *on;
    void *data;
    uint8_t common; /* the set of common headers for the answer */
};

/* Return the value of the first header with this number; false if there is none. */
ATTR_NODISCARD static inline bool http_request_known(const struct http_request *req,
                                                     enum http_known known, struct str *out)
{
    uint16_t row = req->known.row[known];
    if (row > 0) {
        *out = req->headers[row - 1].value;
    }
    return row > 0;
}

/* Return the value of the first header of any name, ignoring case; false if there is none. */
ATTR_NODISCARD bool http_request_header(const struct http_request *req, struct str name,
                                        struct str *out);

/* Return the decoded value of the first query parameter of this name; false if there is none. */
ATTR_NODISCARD bool http_request_param(struct http_request *req, struct str name, struct str *out);

/* Return all query parameters in order, decoded. '+' is a space; an invalid '%' is kept. */
const struct http_param *http_request_params(struct http_request *req, size_t *out_count);

/* ---- the body; it stays unread if a handler answers without calling collect or stream ---- */

enum http_body_result {
    HTTP_BODY_COMPLETE,  /* req->body is set */
    HTTP_BODY_TOO_LARGE, /* more than the limit: answer 413 */
    HTTP_BODY_NO_ROOM,   /* too many bodies in memory (loop_body_bytes, the budget): answer 503 */
};

typedef void (*http_body_fn)(struct http_request *req, enum http_body_result result);

/* Collect the body, up to limit_bytes. done is called once, unless the client disconnects first.
 * After that, a second handler of the same request may call this again. A body that was
 * too large stays so. */
void http_request_collect(struct http_request *req, size_t limit_bytes, http_body_fn done);

/* Pass the body to on->body and on->body_end as it arrives. The server stops reading while
 * body_window_bytes or more of it are not consumed. */
void http_request_stream(struct http_request *req);

/* n more bytes of the streamed body are processed. */
void http_request_consume(struct http_request *req, size_t n);

/* ---- the answer ---- */

enum { HTTP_RESPONSE_HEADERS_MAX = 32 }; /* for one answer, and for its trailers */

/* The server itself writes Content-Length, Transfer-Encoding and Connection; rows with these names
 * are omitted. Control bytes in a value become spaces, so that no value can break the framing. */
struct http_response {
    int status;              /* 200 to 599 */
    struct str content_type; /* empty: none */
    const struct http_header *headers;
    size_t header_count;
    struct str body;      /* http_request_answer only; copied during the call */
    bool body_static;     /* the body's bytes live as long as the process and are not copied */
    struct buf *body_buf; /* NULL, or the buf whose whole content is body; its memory may be taken
                             over. Must use the server's budget */
    bool close;           /* HTTP/1: close the connection after this answer */
    const struct http_header *trailers; /* http_request_answer on HTTP/2 only: constants with
                                           lower-case names, neither checked nor copied */
    size_t trailer_count;
};

/* Ask the system whether the connection has ended, even if that is not read yet. Check this before
 * an answer that cannot be undone. */
bool http_request_has_ended(const struct http_request *req);

/* Send the answer and finish the request. */
void http_request_answer(struct http_request *req, const struct http_response *response);

/* Begin a streamed answer; the headers are sent at the end of this turn of the loop. */
void http_request_begin(struct http_request *req, const struct http_response *response);

enum http_write {
    HTTP_WRITE_OK,
    HTTP_WRITE_FULL, /* not written: stream_output_bytes are queued, or less if the budget is
                        exhausted; on->writable follows */
    HTTP_WRITE_GONE, /* not written: the client has gone */
};

/* Write one piece of a streamed answer: one HTTP/1 chunk, or one DATA frame if the client's frame
 * size and window allow it. Sent at the end of this turn of the loop. */
ATTR_NODISCARD enum http_write http_request_write(struct http_request *req, struct str bytes);

/* End a streamed answer and finish the request. Trailers, if any, are sent on HTTP/2 and in chunked
 * answers. */
void http_request_end(struct http_request *req, const struct http_header *trailers,
                      size_t trailer_count);

/* Finish without an answer, or in the middle of one. The HTTP/2 stream is reset. The HTTP/1
 * connection is closed: after the answers to earlier requests, or at once if this answer has begun,
 * so that the client does not mistake a part for the whole. */
void http_request_drop(struct http_request *req);
