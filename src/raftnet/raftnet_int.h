/*
 * Raftnet_int: shared by the files of raftnet. raftnet.c has start and stop, the port and incoming
 * connections; raftnet_conn.c one connection; raftnet_peer.c outgoing connections; raftnet_stream.c
 * connections of threads that block.
 */
#pragma once

#include "raftnet/raftnet.h"

/* One connection on the loop, in either direction. */
struct raftnet_conn {
    struct raftnet *net;
    struct raftnet_conn *next, *prev; /* list of all connections */
    struct raftnet_peer *peer;        /* the peer it was dialled for; NULL: incoming */
    struct raftnet_link link;
    uv_poll_t poll;
    int events; /* polled events */
    bool connecting, up, closing;
    struct mono deadline; /* end of the handshake */
    struct mono moved;    /* when the socket last accepted our bytes, or had none to send */
    struct raftnet_shake shake;
    struct buf out; /* unwritten bytes of the handshake */
    size_t out_at;
    bool ends;          /* close once out is written */
    struct err refusal; /* why the peer refused the connection; ERR_OK: it did not */
    struct buf in;
    struct raftnet_send *first, **last; /* queued frames, in order */
};

/* A node that we send to or receive from. */
struct raftnet_peer {
    struct raftnet_peer *next;
    struct raftnet *net;
    uint64_t id;
    struct raftnet_conn *conn; /* NULL: not connected */
    bool resolving;
    bool lost; /* hooks.lost is due */
    uv_getaddrinfo_t resolve;
    struct raftnet_send *first, **last; /* frames waiting for the connection */
    struct mono retry_at;
    int retry_ms;
    enum raftnet_shake_refusal told; /* last refusal reported; 0: none */
    struct raftnet_peer_stats stats;
};

struct raftnet {
    uv_loop_t *loop;
    struct raftnet_hooks hooks;
    struct str secret;
    struct raftnet_link_tls tls;
    SSL_CTX *context; /* NULL without TLS */
    struct raftnet_shake_node self;
    char *self_texts;
    int listen_fd;
    uint16_t port;
    bool open; /* incoming connections are accepted */
    uv_poll_t listen_poll;
    uv_prepare_t prepare; /* reports completed sends and lost peers */
    uv_timer_t timer;     /* ends handshakes that time out */
    struct raftnet_conn *conns;
    unsigned incoming;
    struct raftnet_peer *peers;
    struct raftnet_send *over, **over_last;
    bool any_lost; /* some peer is lost */

    bool closing;
    unsigned handles; /* handles to close, plus pending lookups */
    void (*closed)(void *data);
    void *closed_data;
};

/* --- raftnet.c --- */

struct raftnet_peer *raftnet__peer(struct raftnet *net, uint64_t id);
/* A send has ended. Its done is called in the next turn of the loop. */
void raftnet__over(struct raftnet *net, struct raftnet_send *s, bool written);
/* A handle was closed. May free net. */
void raftnet__released(struct raftnet *net);

/* --- raftnet_conn.c --- */

/* Take over a link and start the handshake. */
struct raftnet_conn *raftnet_conn__new(struct raftnet *net, struct raftnet_link *link,
                                       struct raftnet_peer *peer);
void raftnet_conn__close(struct raftnet_conn *c, const char *why);
void raftnet_conn__send(struct raftnet_conn *c, struct raftnet_send *s);

/* --- raftnet_peer.c --- */

/* The other end closed the connection. Reported in the next turn of the loop. */
void raftnet_peer__lost(struct raftnet_peer *p);
/* The connection that was dialled for the peer is up, or is gone. */
void raftnet_peer__up(struct raftnet_peer *p);
void raftnet_peer__down(struct raftnet_peer *p, const struct raftnet_conn *c, const char *why);
/* The peer refuses us. */
void raftnet_peer__refused(struct raftnet_peer *p, enum raftnet_shake_refusal why,
                           const char *text);
void raftnet_peer__fail_waiting(struct raftnet_peer *p);
