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
    RAFTNET_CONNECTIONS_MAX = 512, /* incoming connections */
    RAFTNET_SHAKE_MS = 5000,       /* time limit for the handshake */
    RAFTNET_STALL_MS = 5000,       /* a peer that reads nothing for this long counts as gone */
    RAFTNET_RETRY_MS_MIN = 50,     /* delay before a peer is dialled again; doubles each time… */
    RAFTNET_RETRY_MS_MAX = 2000,   /* …up to this */
};

struct raftnet_hooks {
    void *data;

    /* The peer has proved its identity: may it connect? If not, out_why and err are sent to it. */
    bool (*admit)(void *data, const struct raftnet_shake *s, enum raftnet_shake_refusal *out_why,
                  struct err *err);

    /* An admitted peer has just connected; from is what it reported about itself. */
    void (*met)(void *data, const struct raftnet_shake_node *from);

    /* A frame that does not belong to the handshake. */
    void (*received)(void *data, const struct raftnet_shake_node *from,
                     const struct raftnet_frame *f);

    /* A stream was requested and admitted. The callee owns the link. */
    void (*stream)(void *data, struct raftnet_link *link, const struct raftnet_shake_node *from);

    /* A node that we dialled refuses us. Repeated only after it has accepted, or for another
     * reason. */
    void (*refused)(void *data, uint64_t id, enum raftnet_shake_refusal why, const char *text);

    /* The other end closed a connection that we had dialled: its process may have ended. */
    void (*lost)(void *data, uint64_t id);
};

struct raftnet_config {
    uv_loop_t *loop;
    const char *bind; /* host:port; NULL: do not listen */
    struct str secret;
    struct raftnet_link_tls tls; /* members are NULL without TLS */
    struct raftnet_hooks hooks;
};

/* ERR_VALIDATION names the setting that is wrong. */
ATTR_NODISCARD enum err_code raftnet_open(const struct raftnet_config *config,
                                          struct raftnet **out_net, struct err *err);

/* Pending sends end with written = false; then closed(data) is called, from the loop. */
void raftnet_close(struct raftnet *net, void (*closed)(void *data), void *data);

/* The port of the listening socket; 0 if there is none. */
uint16_t raftnet_port(const struct raftnet *net);

/* Set how this node introduces itself. The texts are copied. Must be called before anything is
 * sent. Nodes that were dialled already are dialled again, so that they learn the change. */
void raftnet_set_self(struct raftnet *net, const struct raftnet_shake_node *self);
const struct raftnet_shake_node *raftnet_self(const struct raftnet *net);

/* Read the certificates again, for new connections. */
ATTR_NODISCARD enum err_code raftnet_reload_tls(struct raftnet *net, struct err *err);

/* Accept incoming connections, or close them on arrival. */
void raftnet_set_open(struct raftnet *net, bool open);

/* Sends one frame. The caller keeps it until done. */
struct raftnet_send {
    /* set by the caller */
    struct buf frame; /* a whole frame, from raftnet_frame_end; the caller owns it again in done */
    void (*done)(struct raftnet_send *s, bool written);
    void *data;
    /* private */
    struct raftnet_send *next;
    size_t at;
    bool written;
};

/* Send a frame to the node with this id at this address. False, without calling done, if the
 * node cannot be reached at the moment. */
ATTR_NODISCARD bool raftnet_send(struct raftnet *net, uint64_t id, const char *address,
                                 struct raftnet_send *s);

/* State of the connections to and from a node. */
struct raftnet_peer_stats {
    bool connected; /* our connection to it is up */
    uint64_t sent_bytes, received_bytes;
    uint64_t queued_bytes;
    uint64_t connects; /* successful connects to it */
    struct mono heard; /* last frame from it; 0: none */
    char error[160];   /* why the last connect failed; empty while connected */
};

void raftnet_peer_stats(const struct raftnet *net, uint64_t id, struct raftnet_peer_stats *out);

/* Connect and shake hands, on a thread that may block. */
struct raftnet_stream_target {
    const char *address;
    uint64_t id;
    struct raftnet_shake_node self;
    struct str secret;
    struct raftnet_link_tls tls;
    int timeout_ms; /* for connect and handshake, once the address is resolved */
};
ATTR_NODISCARD enum err_code raftnet_stream_dial(const struct raftnet_stream_target *target,
                                                 struct raftnet_link *out_link, struct err *err);

/* Invite the node with the target's name at the target's address; the target's id is 0. On
 * success the node belongs to our cluster. */
ATTR_NODISCARD enum err_code raftnet_stream_invite(const struct raftnet_stream_target *target,
                                                   struct str name, uint64_t *out_id,
                                                   bool *out_voter, struct err *err);

/* Read a frame from a blocking link into body, which is emptied first. */
ATTR_NODISCARD enum err_code raftnet_stream_read(struct raftnet_link *l, struct buf *body,
                                                 size_t body_max, struct raftnet_frame *out,
                                                 struct err *err);
