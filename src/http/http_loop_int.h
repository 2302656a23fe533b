/*
 * Http_loop, internal: what the connections and requests of one network thread share.
 *
 * Work is collected during a turn of the loop and done once at its end: connections with output to
 * write or input to continue with, and exchanges with news for their handler. The responses to
 * everything that arrived in one turn therefore leave in one write per connection.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "http/http_conn_int.h"
#include "http/http_date.h"
#include "http/http_exchange_int.h"
#include "http/http_loop.h"
#include "http/http_server.h"
#include "loop/mailbox.h"

struct http2_shared;
struct http_listener;

/* Written by the loop's thread only, read by any thread. */
struct http_counters {
#define HTTP_COUNTERS_MEMBER(name) _Atomic uint64_t name;
    HTTP_STATS_LIST(HTTP_COUNTERS_MEMBER)
#undef HTTP_COUNTERS_MEMBER
};

struct http_loop {
    /* set before the thread starts */
    const struct http_server_config *config; /* the server's copy */
    const struct http_limits *limits;
    struct str common[HTTP_COMMON_SETS]; /* headers of every answer in the form of HTTP/1 */
    unsigned index;
    struct http_listener *listener;        /* on the first loop only */
    void (*ended)(struct http_loop *loop); /* the last call on the thread */
    struct http_server *server;

    uv_thread_t thread;
    uv_thread_t self; /* as reported on the thread itself */
    uv_loop_t uv;
    struct mailbox mailbox;
    uv_prepare_t end_of_turn;
    uv_idle_t again; /* active if a turn has left work for the next one */
    uv_timer_t tick;
    char *read_room;  /* input buffer of libuv; connections copy what they keep */
    char *plain_room; /* buffer for decrypted input */
    SSL_CTX *tls;     /* for new connections; NULL without TLS */
    struct http2_shared *h2;

    struct http_conn *conns;
    size_t conn_count;
    struct http_conn *turn_first, **turn_last;

    struct http_exchange *exchanges; /* all that the handler or the transport holds */
    size_t exchange_count;
    struct http_exchange *later_first, **later_last;
    struct http_exchange *ended_exchanges; /* released by both, until the end of the turn */
    struct http_exchange *spare;           /* ready for reuse */
    size_t spare_count;
    size_t body_bytes; /* total of all bodies in memory */
    struct http_block_cache blocks;
    struct http_date date;

    bool stopping;
    bool closed;
    uint64_t stop_ms; /* when remaining connections are closed */

    struct http_counters counters;
};

enum { HTTP_LOOP_READ_BYTES = 64 * 1024 };

/* Only one thread writes the counters, so no atomic addition is needed. */
#define HTTP_LOOP_COUNT(loop, name, n)                                                             \
    atomic_store_explicit(&(loop)->counters.name,                                                  \
                          atomic_load_explicit(&(loop)->counters.name, memory_order_relaxed) +     \
                              (uint64_t)(n),                                                       \
                          memory_order_relaxed)

/* Before the thread starts: create the loop, its mailbox and timers. */
void http_loop__init(struct http_loop *loop);

/* Start the thread. */
void http_loop__start(struct http_loop *loop);

/* From any thread, once per loop: start the graceful shutdown. */
void http_loop__stop(struct http_loop *loop, uint32_t timeout_ms);

/* From any thread: set the TLS context for new connections. Takes ownership of one reference. */
void http_loop__set_tls(struct http_loop *loop, SSL_CTX *context);

/* Wait for the thread, if it was started, and free everything. */
void http_loop__deinit(struct http_loop *loop, bool started);

/* Is the caller the loop's thread? */
static inline bool http_loop__is_mine(const struct http_loop *loop)
{
    uv_thread_t caller = uv_thread_self();
    return uv_thread_equal(&caller, &loop->self) != 0;
}

static inline uint64_t http_loop__now_ms(const struct http_loop *loop)
{
    return uv_now(&loop->uv);
}

/* The value of the Date header. */
static inline struct str http_loop__date(struct http_loop *loop)
{
    return http_date_now(&loop->date, http_loop__now_ms(loop));
}
