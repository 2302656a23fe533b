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
    struct raftnet_conn *next, *prev; /* among all */
    struct raftnet_peer *peer;        /* that it was dialled for; NULL: it came to us */
    struct raftnet_link link;
    uv_poll_t poll;
    int events; /* what is polled for */
    bool connecting, up, closing;
    struct mono deadline; /* for the handshake */
    struct mono moved;    /* when the socket last took bytes of ours, or had none to take */
    struct raftnet_shake shake;
    struct buf out; /* of the handshake */
    size_t out_at;
    bool ends; /* when that is written */
    struct buf in;
    struct raftnet_send *first, **last; /* frames, in order */
};

/* A node that we send to, or hear from. */
struct raftnet_peer {
    struct raftnet_peer *next;
    struct raftnet *net;
    uint64_t id;
    struct raftnet_conn *conn; /* NULL: none at the moment */
    bool resolving;
    bool lost; /* to be told */
    uv_getaddrinfo_t resolve;
    struct raftnet_send *first, **last; /* wait for the connection */
    struct mono retry_at;
    int retry_ms;
    enum raftnet_shake_refusal told; /* 0: nothing */
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
    bool open; /* what comes in is taken */
    uv_poll_t listen_poll;
    uv_prepare_t prepare; /* tells of what is over */
    uv_timer_t timer;     /* ends handshakes that take too long */
    struct raftnet_conn *conns;
    unsigned incoming;
    struct raftnet_peer *peers;
    struct raftnet_send *over, **over_last;
    bool any_lost; /* among the peers */

    bool closing;
    unsigned handles; /* to be closed, and lookups under way */
    void (*closed)(void *data);
    void *closed_data;
};

/* --- raftnet.c --- */

struct raftnet_peer *raftnet__peer(struct raftnet *net, uint64_t id);
/* A frame is written, or is not and never will be: its sender hears of it in the next turn. */
void raftnet__over(struct raftnet *net, struct raftnet_send *s, bool written);
/* A handle is closed; net may be gone afterwards. */
void raftnet__released(struct raftnet *net);

/* --- raftnet_conn.c --- */

/* Take over a link and shake hands. */
struct raftnet_conn *raftnet_conn__new(struct raftnet *net, struct raftnet_link *link,
                                       struct raftnet_peer *peer);
void raftnet_conn__close(struct raftnet_conn *c, const char *why);
void raftnet_conn__send(struct raftnet_conn *c, struct raftnet_send *s);

/* --- raftnet_peer.c --- */

/* The other end has closed the connection: told in the next turn. */
void raftnet_peer__lost(struct raftnet_peer *p);
/* A connection that was dialled for it is up, or is gone. */
void raftnet_peer__up(struct raftnet_peer *p);
void raftnet_peer__down(struct raftnet_peer *p, const struct raftnet_conn *c, const char *why);
/* It does not want us. */
void raftnet_peer__refused(struct raftnet_peer *p, enum raftnet_shake_refusal why,
                           const char *text);
void raftnet_peer__fail_waiting(struct raftnet_peer *p);
