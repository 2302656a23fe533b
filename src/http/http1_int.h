/*
 * Http1: the HTTP/1 protocol on a connection: pipelined requests, answered in order.
 *
 * Requests are parsed and started as they arrive, up to a limit, so that they are worked on in
 * parallel. Only a GET behind a write waits until that is answered, so that it sees its effect, and
 * what comes after waits behind it. Each has a place in the pipeline. The first one writes directly
 * to the connection; the others keep their responses until it is their turn.
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
    struct buf in; /* read and not parsed yet, from in_start on */
    size_t in_start;

    struct http_exchange *first, **last; /* the pipeline: answers owed, in order */
    unsigned count;
    struct http_exchange *receiving; /* whose body is coming, while somebody wants it */
    struct http_exchange *upgrading; /* asked for h2c, with these settings */
    struct str upgrade_settings;
    struct http_exchange *waiting; /* the last of the pipeline: a GET behind a write */

    size_t drained; /* bytes of a body that came after its answer */

    bool parsing;      /* inside http1_input, which goes on by itself when it can */
    bool in_body;      /* between the head and the end of a request */
    bool no_more;      /* no further request is taken from this connection */
    bool broken;       /* the input makes no sense and is thrown away */
    bool used;         /* there has been a request */
    bool partial;      /* a part of a head has come */
    bool eof_due;      /* the client sends no more; said again of what is started after that */
    uint64_t since_ms; /* when waiting for the next head, or for the rest of it, began */
};

/* Let the connection speak HTTP/1. */
void http1__open(struct http_conn *c);

/* How exchanges of a pipeline answer. */
extern const struct http_exchange_ops http1_answer__ops;

/* Put x at the end of the pipeline. */
void http1_answer__add(struct http1 *h, struct http_exchange *x);

/* Take the first off the pipeline and let go of it. Its next stays set, for whoever is walking. */
void http1_answer__pop(struct http1 *h);
