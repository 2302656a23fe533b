/*
 * Raftnet: frames between the nodes of a cluster, over TCP.
 *
 * Each node listens on one port and connects to every node that it sends to. A connection carries
 * frames in one direction only, from the node that opened it. A node can therefore receive from a
 * node that it cannot reach. Before the first frame, both sides prove their identity
 * (raftnet_shake.h). A broken connection is reopened when there is something to send, with growing
 * delays.
 *
 * A frame is either written to the socket or lost, and the sender is told which. Nothing is kept
 * for an unreachable node. The sender limits the frames that wait for a slow node (the guard counts
 * the bytes of each peer).
 *
 * A node can open a stream instead: the connection then leaves the loop and belongs to the thread
 * that uses it.
 *
 * Everything belongs to the thread of the loop. No callback runs inside a call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "raftnet/raftnet_frame.h"
#include "raftnet/raftnet_link.h"
#include "raftnet/raftnet_shake.h"

struct raftnet;

enum {
    RAFTNET_CONNECTIONS_MAX = 512, /* that came to us */
    RAFTNET_SHAKE_MS = 5000,       /* to prove oneself in */
    RAFTNET_STALL_MS = 5000,       /* a node that reads nothing for so long is gone */
    RAFTNET_RETRY_MS_MIN = 50,     /* before a node is dialled again, twice as long each time… */
    RAFTNET_RETRY_MS_MAX = 2000,   /* …up to this */
};

struct raftnet_hooks {
    void *data;

    /* A node has proved itself: may it talk to us? When not, why and err go to it. */
    bool (*admit)(void *data, const struct raftnet_shake *s, enum raftnet_shake_refusal *out_why,
                  struct err *err);

    /* It may, and has just connected: what it says of itself. */
    void (*met)(void *data, const struct raftnet_shake_node *from);

    /* A frame that is none of the handshake. */
    void (*received)(void *data, const struct raftnet_shake_node *from,
                     const struct raftnet_frame *f);

    /* A stream was asked for, and admitted. The link is the callee's. */
    void (*stream)(void *data, struct raftnet_link *link, const struct raftnet_shake_node *from);

    /* A node that we dialled does not want us. Told once, until it does or says something else. */
    void (*refused)(void *data, uint64_t id, enum raftnet_shake_refusal why, const char *text);

    /* The other end closed a connection that we had dialed: its process may be gone. */
    void (*lost)(void *data, uint64_t id);
};

struct raftnet_config {
    uv_loop_t *loop;
    const char *bind; /* host:port; NULL: nobody listens */
    struct str secret;
    struct raftnet_link_tls tls; /* members are NULL without TLS */
    struct raftnet_hooks hooks;
};

/* ERR_VALIDATION names the setting that is wrong. */
ATTR_NODISCARD enum err_code raftnet_open(const struct raftnet_config *config,
                                          struct raftnet **out_net, struct err *err);

/* Sends that are under way end with false; then closed(data) is called, from the loop. */
void raftnet_close(struct raftnet *net, void (*closed)(void *data), void *data);

/* Where it listens; 0 when nobody does. */
uint16_t raftnet_port(const struct raftnet *net);

/* Who we are from now on. The texts are copied. Before anything is sent. Whom we have dialled is
 * dialled again, and so learns what is new. */
void raftnet_set_self(struct raftnet *net, const struct raftnet_shake_node *self);
const struct raftnet_shake_node *raftnet_self(const struct raftnet *net);

/* Read the certificates again: for connections from now on. */
ATTR_NODISCARD enum err_code raftnet_reload_tls(struct raftnet *net, struct err *err);

/* Take what comes in, or do not: while not, connections are closed as they come. */
void raftnet_set_open(struct raftnet *net, bool open);

/* One frame. Kept by the caller until done. */
struct raftnet_send {
    /* set by the caller */
    struct buf frame; /* whole, from raftnet_frame_end; the caller's again in done */
    void (*done)(struct raftnet_send *s, bool written);
    void *data;
    /* private */
    struct raftnet_send *next;
    size_t at;
    bool written;
};

/* Send a frame to the node with this id, which is reached there. False, and done never, when it is
 * out of reach at the moment. */
ATTR_NODISCARD bool raftnet_send(struct raftnet *net, uint64_t id, const char *address,
                                 struct raftnet_send *s);

/* What is known of the way to a node, and from it. */
struct raftnet_peer_stats {
    bool connected; /* to it */
    uint64_t sent_bytes, received_bytes;
    uint64_t queued_bytes;
    uint64_t connects; /* how often it was dialled with success */
    struct mono heard; /* the last frame from it; 0: none */
    char error[160];   /* why it was not reached last; empty when it is */
};

void raftnet_peer_stats(const struct raftnet *net, uint64_t id, struct raftnet_peer_stats *out);

/* Connect and prove ourselves, on a thread that may wait. */
struct raftnet_stream_target {
    const char *address;
    uint64_t id;
    struct raftnet_shake_node self;
    struct str secret;
    struct raftnet_link_tls tls;
    int timeout_ms; /* for all of that, once the address is known */
};
ATTR_NODISCARD enum err_code raftnet_stream_dial(const struct raftnet_stream_target *target,
                                                 struct raftnet_link *out_link, struct err *err);

/* Invite the node at the target's address, whose id is 0: the one with this name. On success it
 * belongs to our cluster. */
ATTR_NODISCARD enum err_code raftnet_stream_invite(const struct raftnet_stream_target *target,
                                                   struct str name, uint64_t *out_id,
                                                   bool *out_voter, struct err *err);

/* A frame from a link that waits, into body, which is emptied before. */
ATTR_NODISCARD enum err_code raftnet_stream_read(struct raftnet_link *l, struct buf *body,
                                                 size_t body_max, struct raftnet_frame *out,
                                                 struct err *err);
