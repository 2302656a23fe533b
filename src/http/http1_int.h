/*
 * Http1: the HTTP/1 protocol on a connection: pipelined requests, answered in order.
 *
 * Requests are parsed and started as they arrive, up to a limit, and run in parallel. Only a GET
 * that follows an unanswered write waits for the answer, so that it sees the effect of the write;
 * later requests wait behind the GET. All requests are in the pipeline. The first one writes
 * directly to the connection; the others keep their responses until it is their turn.
 *
 * http1.c implements the protocol, http1_answer.c the pipeline and its responses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "http/http1_parser.h"
#include "http/http_exchange_int.h"

struct http_conn;

struct http1 {
    struct http_conn *conn;
    struct http1_parser parser;
    struct buf in; /* received and not parsed yet, from in_start on */
    size_t in_start;

    struct http_exchange *first, **last; /* the pipeline: unanswered requests, in order */
    unsigned count;
    struct http_exchange *receiving; /* whose body is arriving; NULL if no handler wants it */
    struct http_exchange *upgrading; /* requests an upgrade to h2c, with these settings */
    struct str upgrade_settings;
    struct http_exchange *waiting; /* the last request of the pipeline: a GET behind a write */

    size_t drained; /* bytes of a body that arrived after its answer */

    bool parsing;      /* inside http1_input, whose loop parses on by itself */
    bool in_body;      /* between the head and the end of a request */
    bool no_more;      /* no further request is accepted on this connection */
    bool broken;       /* the input is invalid; the rest is discarded */
    bool used;         /* a request has been received */
    bool partial;      /* part of a head has arrived */
    bool eof_due;      /* end of input, to be reported again for requests started later */
    uint64_t since_ms; /* start of the wait for the next head or its remainder */
};

/* Start HTTP/1 on the connection. */
void http1__open(struct http_conn *c);

/* The functions by which exchanges of a pipeline send their answers. */
extern const struct http_exchange_ops http1_answer__ops;

/* Append x to the pipeline. */
void http1_answer__add(struct http1 *h, struct http_exchange *x);

/* Remove the first exchange from the pipeline and release it. Its next member stays valid for
 * callers that walk the list. */
void http1_answer__pop(struct http1 *h);
