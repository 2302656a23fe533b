/*
 * Http1_encode: writes the bytes of an HTTP/1 response.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "http/http_out.h"
#include "http/http_request.h"

enum http1_framing {
    HTTP1_LENGTH,  /* Content-Length */
    HTTP1_CHUNKED, /* Transfer-Encoding: chunked */
    HTTP1_CLOSE,   /* to the end of the connection: streams to HTTP/1.0 clients */
    HTTP1_NO_BODY, /* 204 and 304 have none and say nothing of a length */
};

struct http1_answer {
    const struct http_response *response;
    enum http1_framing framing;
    uint64_t length;       /* for HTTP1_LENGTH */
    struct str connection; /* "close", "keep-alive"; empty: no such header */
    struct str date;
    struct str common; /* headers of every answer, from http1_encode_headers */
    struct str body;   /* put behind the head */
};

/* Headers as they are written, for answers that all have them. */
void http1_encode_headers(struct buf *out, const struct http_header *headers, size_t count);

/* The status line, the headers and the body, if it is given. */
void http1_encode_head(struct http_out *out, const struct http1_answer *answer);

/* One chunk; bytes is not empty. */
void http1_encode_chunk(struct http_out *out, struct str bytes);

/* The last chunk, with trailers. */
void http1_encode_last(struct http_out *out, const struct http_header *trailers, size_t count);
