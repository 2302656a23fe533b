/*
 * Http_server: an HTTP server for HTTP/1.1 and HTTP/2 on the same ports.
 *
 * A few network threads, each with its own libuv loop. The first one accepts connections and
 * assigns each to the thread with the fewest. A connection uses HTTP/2 if its first bytes are the
 * HTTP/2 preface, if TLS has negotiated "h2", or after "Upgrade: h2c"; otherwise HTTP/1.x. One
 * function, on_request (http_request.h), handles all requests.
 *
 * Whatever a client does, the memory used for it is bounded and no thread waits for it: see
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
    bool tls;            /* requires the certificate and key below */
};

enum { HTTP_COMMON_HEADERS_MAX = 8, HTTP_COMMON_SETS = 2 };

struct http_server_config {
    const struct http_listen *listen;
    size_t listen_count;
    unsigned threads; /* network threads; 0: half of the processors, from 2 to 8; 1 on one */
    struct http_limits limits;
    struct budget *budget;     /* for all memory of requests; NULL: no budget */
    const char *tls_cert_file; /* PEM, the whole chain; NULL without TLS */
    const char *tls_key_file;

    /* Headers added to every answer: the first set, or the one chosen by the request's handler
     * (http_request.common). They must live as long as the server. */
    struct {
        const struct http_header *headers;
        size_t count; /* at most HTTP_COMMON_HEADERS_MAX */
    } common[HTTP_COMMON_SETS];

    void *data; /* first argument of the functions below */

    /* On the connection's thread, for each request, when its headers are complete. */
    void (*on_request)(void *data, struct http_request *req);

    /* On each network thread, before its first request and after its last one; may be NULL. Handles
     * that a handler has added to the loop must be closed or closing when on_loop_stop returns. */
    void (*on_loop_start)(void *data, struct http_loop *loop);
    void (*on_loop_stop)(void *data, struct http_loop *loop);

    /* On each network thread, after all available input was read, before answers are written and
     * before the thread waits; may be NULL. For work that can be done for many requests at once. */
    void (*on_loop_turn)(void *data, struct http_loop *loop);

    /* Once, after http_server_stop, on the thread that ends last. http_server_free may then be
     * called on another thread. May be NULL. */
    void (*on_closed)(void *data);
};

/* Bind, start the threads and accept connections. The config is copied. Of its strings, only the
 * names of the TLS files are copied; the addresses are not used after the call. ERR_VALIDATION if
 * an address or limit is invalid; ERR_IO if an address cannot be bound or a TLS file cannot be
 * used. */
ATTR_NODISCARD enum err_code http_server_open(const struct http_server_config *config,
                                              struct http_server **out_server, struct err *err);

/* The port of the listen address with this index. If 0 was configured, the port that the system
 * chose. */
uint16_t http_server_port(const struct http_server *server, size_t listen_index);
/* The whole address; valid until the server is freed. */
const struct http_addr *http_server_addr(const struct http_server *server, size_t listen_index);

/* Reload certificate and key, for connections accepted from now on. Call from one thread at a time.
 * On failure the old ones stay in use. */
ATTR_NODISCARD enum err_code http_server_reload_tls(struct http_server *server, struct err *err);

/* From any thread, once: stop accepting, close idle connections, call on->stopping of every
 * unfinished request, and wait up to timeout_ms for them. Then close the remaining connections
 * (on->gone). on_closed is called when every handler has finished its request. */
void http_server_stop(struct http_server *server, uint32_t timeout_ms);

/* Wait for the threads to end after http_server_stop, then free everything. Not on a network
 * thread. NULL is allowed. */
void http_server_free(struct http_server *server);

/* Counters since the start, and gauges of the current state; one set per thread. */
/* clang-format off */
#define HTTP_STATS_LIST(X) \
    X(requests)            /* started, including those refused as malformed */ \
    X(requests_in_flight)  /* gauge: not yet finished by their handler */ \
    X(requests_gone)       /* the client disconnected before the answer */ \
    X(bytes_read) \
    X(bytes_written) \
    X(connections)         /* accepted */ \
    X(connections_open)    /* gauge */ \
    X(connections_refused) /* over a limit on their number */ \
    X(connections_cut)     /* closed by the server: slow reader, flood of resets */ \
    X(accept_pauses)       /* the process was out of file descriptors */ \
    X(protocol_errors)     /* malformed requests and frames, and those over a limit */
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
