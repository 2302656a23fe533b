/*
 * Http_server: HTTP/1.1 and HTTP/2 on the same ports, and nothing above it.
 *
 * A few network threads, each with its own libuv loop; the first one accepts and hands each
 * connection to the thread that has fewest. A connection speaks HTTP/2 when its first bytes are the
 * HTTP/2 preface, when TLS has agreed on "h2", or after "Upgrade: h2c"; HTTP/1.x otherwise. What is
 * asked and answered is the business of one function, on_request (http_request.h).
 *
 * Whatever a client does, the server holds bounded memory for it and no thread waits for it: see
 * http_limits.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "http/http_addr.h"
#include "http/http_limits.h"
#include "http/http_request.h"

struct http_server;

struct http_listen {
    const char *address; /* ":8080", "127.0.0.1:0", "[::1]:8080", "localhost:8080" */
    bool tls;            /* needs the certificate and key below */
};

enum { HTTP_COMMON_HEADERS_MAX = 8, HTTP_COMMON_SETS = 2 };

struct http_server_config {
    const struct http_listen *listen;
    size_t listen_count;
    unsigned threads; /* network threads; 0: half of the processors, from 2 to 8; 1 on one */
    struct http_limits limits;
    struct budget *budget;     /* of all memory that requests can claim; NULL: without one */
    const char *tls_cert_file; /* PEM, the chain; NULL without TLS */
    const char *tls_key_file;

    /* Written with every answer: those of the first set, or of the one that the request's handler
     * chose (http_request.common). They live as long as the server. */
    struct {
        const struct http_header *headers;
        size_t count; /* at most HTTP_COMMON_HEADERS_MAX */
    } common[HTTP_COMMON_SETS];

    void *data; /* first argument of the functions below */

    /* On the connection's thread, for each request, when its headers are complete. */
    void (*on_request)(void *data, struct http_request *req);

    /* On each network thread before its first request and after its last; may be NULL. What a
     * handler put on the loop must be closed, or closing, when on_loop_stop returns. */
    void (*on_loop_start)(void *data, struct http_loop *loop);
    void (*on_loop_stop)(void *data, struct http_loop *loop);

    /* On each network thread when it has read all that there was to read, before it writes answers
     * and before it waits; may be NULL. Work that can be done for many requests at once is done
     * there. */
    void (*on_loop_turn)(void *data, struct http_loop *loop);

    /* Once, after http_server_stop, on the thread that ended last; http_server_free may follow, on
     * another thread. May be NULL. */
    void (*on_closed)(void *data);
};

/* Bind, start the threads, accept. The config is copied, the strings in it are not kept, except the
 * names of the TLS files. ERR_VALIDATION for an address that makes no sense, ERR_IO when it cannot
 * be had or a TLS file cannot be used. */
ATTR_NODISCARD enum err_code http_server_open(const struct http_server_config *config,
                                              struct http_server **out_server, struct err *err);

/* The port of the listen address with this index: the real one where 0 was asked for. */
uint16_t http_server_port(const struct http_server *server, size_t listen_index);
/* The whole address. Until the server is freed. */
const struct http_addr *http_server_addr(const struct http_server *server, size_t listen_index);

/* Read certificate and key again, for connections accepted from now on. From one thread at a time;
 * on failure the old ones stay. */
ATTR_NODISCARD enum err_code http_server_reload_tls(struct http_server *server, struct err *err);

/* From any thread, once: accept no more, close idle connections, call on->stopping of every
 * unfinished request, let them finish for timeout_ms, then cut what is left (on->gone). on_closed
 * follows when every request has been finished by its handler. */
void http_server_stop(struct http_server *server, uint32_t timeout_ms);

/* Wait for the threads to end, which http_server_stop has brought about; then release everything.
 * Not on a network thread. NULL is fine. */
void http_server_free(struct http_server *server);

/* Counters since the start, and gauges of now; each thread counts for itself. */
/* clang-format off */
#define HTTP_STATS_LIST(X) \
    X(requests)            /* begun, those refused for their form included */ \
    X(requests_in_flight)  /* gauge: not finished by their handler */ \
    X(requests_gone)       /* the client went first */ \
    X(bytes_read) \
    X(bytes_written) \
    X(connections)         /* accepted */ \
    X(connections_open)    /* gauge */ \
    X(connections_refused) /* over a limit on their number */ \
    X(connections_cut)     /* ended by us: slow reader, flood of resets */ \
    X(accept_pauses)       /* the process was out of file descriptors */ \
    X(protocol_errors)     /* requests and frames that were not well-formed, or over a limit */
/* clang-format on */

struct http_stats {
#define HTTP_STATS_MEMBER(name) uint64_t name;
    HTTP_STATS_LIST(HTTP_STATS_MEMBER)
#undef HTTP_STATS_MEMBER
};

/* From any thread. */
unsigned http_server_threads(const struct http_server *server);
void http_server_stats(const struct http_server *server, unsigned loop_index,
                       struct http_stats *out);
