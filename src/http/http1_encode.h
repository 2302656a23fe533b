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
    HTTP1_CLOSE,   /* the body ends with the connection: streams to HTTP/1.0 clients */
    HTTP1_NO_BODY, /* 204 and 304: no body and no Content-Length */
};

struct http1_answer {
    const struct http_response *response;
    enum http1_framing framing;
    uint64_t length;       /* for HTTP1_LENGTH */
    struct str connection; /* "close", "keep-alive"; empty: no Connection header */
    struct str date;
    struct str common; /* headers of every response, from http1_encode_headers */
    struct str body;   /* appended to the head */
};

/* Write headers that are added to every response, for http1_answer.common. */
void http1_encode_headers(struct buf *out, const struct http_header *headers, size_t count);

/* Write the status line, the headers and the body, if there is one. */
void http1_encode_head(struct http_out *out, const struct http1_answer *answer);

/* Write one chunk; bytes must not be empty. */
void http1_encode_chunk(struct http_out *out, struct str bytes);

/* Write the last chunk and the trailers. */
void http1_encode_last(struct http_out *out, const struct http_header *trailers, size_t count);
