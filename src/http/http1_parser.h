/*
 * Http1_parser: finds where the parts of an HTTP/1 request stream begin and end.
 *
 * Pure. The caller passes the bytes it has, receives one event, and drops the bytes that were
 * consumed. The events depend only on the bytes, not on how reads split them (the fuzz target
 * checks this). A head is returned as a whole, so that it can be copied once and parsed in place. A
 * body is returned in place, without copying.
 *
 *   HEAD --> http1_parser_body --> BODY* --> END --> HEAD …          ERROR ends it
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "http/http_limits.h"
#include "http/http_status.h"

enum http1_event {
    HTTP1_MORE,  /* no further event; unused bytes are passed again, followed by more */
    HTTP1_HEAD,  /* span is a complete head; call http1_parser_body next */
    HTTP1_BODY,  /* span is a part of the body, not empty */
    HTTP1_END,   /* the request is complete */
    HTTP1_ERROR, /* problem has the reason; parsing cannot continue */
};

enum http1_state {
    HTTP1_AT_HEAD,
    HTTP1_AT_FRAMING, /* a head was returned */
    HTTP1_AT_LENGTH,  /* left bytes of the body to come */
    HTTP1_AT_CHUNK_SIZE,
    HTTP1_AT_CHUNK_DATA, /* left bytes of the chunk to come */
    HTTP1_AT_CHUNK_END,
    HTTP1_AT_TRAILER,
    HTTP1_AT_FAILURE,
};

struct http1_parser {
    /* of the last event; views of the input */
    struct str span;
    size_t header_count; /* header lines of the head, not counting the request line */
    struct http_problem problem;

    /* private */
    const struct http_limits *limits;
    enum http1_state state;
    size_t scanned;         /* bytes of the head already searched for line ends */
    size_t line;            /* start of the current line */
    size_t lines;           /* complete lines of the head or trailer */
    unsigned skipped;       /* empty lines skipped before the head */
    uint64_t left;          /* of the body or chunk */
    size_t extension_bytes; /* of this request's chunks */
    size_t trailer_bytes;
};

/* The limits must outlive the parser. */
void http1_parser_init(struct http1_parser *p, const struct http_limits *limits);

ATTR_NODISCARD enum http1_event http1_parser_next(struct http1_parser *p, struct str in,
                                                  size_t *out_used);

/* After HTTP1_HEAD: set the length of the body; -1 if it is chunked. */
void http1_parser_body(struct http1_parser *p, int64_t content_length);

/* True between requests, also after a part of a head has arrived. */
static inline bool http1_parser_at_head(const struct http1_parser *p)
{
    return p->state == HTTP1_AT_HEAD;
}

/* Bytes of the body that are certain to follow; for a chunked body, those of the current chunk.
 * UINT64_MAX if the body is invalid. */
uint64_t http1_parser_left(const struct http1_parser *p);
