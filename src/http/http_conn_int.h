/*
 * Http_conn: one connection: its socket, TLS, pending output, and how it closes.
 *
 * Input goes to a protocol (HTTP/1 or HTTP/2, detected from the first bytes). What the protocol
 * adds to `out` is written once per turn of the loop, in one system call if the socket accepts it
 * all. Nothing here calls a handler.
 *
 *   OPEN --> FINISHING --> LINGERING --> CLOSED
 *     |          |             |           ^
 *     +----------+-------------+-- doomed -+
 *
 *   FINISHING: accepts no further request or response; closes when everything is written.
 *   LINGERING: our side is shut down, and input is discarded for a moment. If a socket is closed
 *              with unread input, the kernel sends a reset, which can destroy a response in
 *              transit.
 *   doomed:    a flag that takes effect at the end of the turn, so that a connection never ends
 *              while a function up the stack still uses it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/str.h"
#include "http/http_addr.h"
#include "http/http_out.h"
#include "http/http_tls.h"

struct http_conn;
struct http_loop;
struct http_slot;

/* A protocol on a connection. The connection calls these functions on its thread. */
struct http_proto {
    /* Process input, which is valid during the call only. If there is work for the end of the turn,
     * call http_conn__queue; often there is none. */
    void (*input)(struct http_conn *c, struct str bytes);
    /* The client sends no more. */
    void (*eof)(struct http_conn *c);
    /* At the end of the turn, while OPEN: continue waiting work and add output to c->out. True if
     * it stopped because output_bytes are unwritten and must be called again when there is room. */
    bool (*turn)(struct http_conn *c);
    /* Less than half of stream_output_bytes is unwritten. */
    void (*drained)(struct http_conn *c);
    /* Should the socket be read? */
    bool (*wants_input)(const struct http_conn *c);
    /* The server is stopping. */
    void (*stop)(struct http_conn *c);
    /* Check timeouts; called regularly. */
    void (*expire)(struct http_conn *c, uint64_t now_ms);
    /* The connection has ended: release all exchanges and the session. */
    void (*lost)(struct http_conn *c);
};

enum http_conn_state {
    HTTP_CONN_OPEN,
    HTTP_CONN_FINISHING,
    HTTP_CONN_LINGERING,
    HTTP_CONN_CLOSED,
};

struct http_conn {
    struct http_loop *loop;
    struct http_slot *slot; /* returned when the connection ends */
    struct http_conn *prev, *next;
    struct http_conn *turn_next;
    bool in_turn; /* in the loop's list for the end of the turn */

    uv_tcp_t tcp;
    uv_write_t write;
    uv_shutdown_t shutdown;

    enum http_conn_state state;
    bool doomed;
    bool linger;  /* after FINISHING */
    bool eof;     /* the client sends no more */
    bool reading; /* libuv is reading */
    bool writing; /* libuv is using write */
    size_t writing_bytes;
    size_t writing_left; /* unwritten part of writing_bytes at the last check */
    uint64_t opened_ms;
    uint64_t progress_ms; /* while writing: last time the client accepted bytes */
    uint64_t lingering_ms;

    const struct http_proto *proto; /* NULL until the first bytes are known */
    void *session;                  /* of the protocol */
    size_t preface_len;             /* first bytes that match the HTTP/2 preface so far */

    struct http_out out;  /* output of the protocol */
    struct http_out wire; /* with TLS: encrypted output */
    struct http_tls tls;  /* ssl is NULL without TLS */

    struct str peer;
    char peer_text[HTTP_ADDR_TEXT_MAX];
};

/* Open a connection for a slot and its socket. */
void http_conn__open(struct http_loop *loop, struct http_slot *slot);

/* Call the connection at the end of the turn. */
void http_conn__queue(struct http_conn *c);

/* Accept no further request and close when everything is written; linger first if requested. */
void http_conn__finish(struct http_conn *c, bool linger);

/* Close at the end of the turn, even with unwritten output. */
void http_conn__doom(struct http_conn *c);

/* The same, if the client violated a limit or the protocol. Counted in connections_cut. */
void http_conn__cut(struct http_conn *c);

/* Called by the loop. */
void http_conn__turn(struct http_conn *c);
void http_conn__stop(struct http_conn *c);
void http_conn__expire(struct http_conn *c, uint64_t now_ms);

/* Bytes that the client has not accepted yet. */
static inline size_t http_conn__unwritten(const struct http_conn *c)
{
    return c->out.bytes + c->wire.bytes;
}
