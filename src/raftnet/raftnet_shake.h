/*
 * Raftnet_shake: the handshake, in which two nodes check that they belong to the same cluster.
 * Pure, except for random numbers.
 *
 *   opens the connection                      accepts it
 *   HELLO  purpose, target, node, nonce  -->
 *                                         <-- CHALLENGE  node id, nonce, proof
 *   PROOF                                -->
 *                                         <-- ACCEPT, or REFUSE and the reason
 *
 * A proof is an HMAC-SHA256 with the cluster's secret over both nonces and everything sent before,
 * with a label for the side, so that a proof can be neither replayed nor reflected. Without a
 * secret, proofs are sent but prove nothing: such a port must be on loopback or use TLS. The
 * accepting node reveals only the ids of itself and its cluster before the other side has proved
 * its identity.
 *
 * An invitation ends after the response. It is sent to an address, because the inviting node does
 * not know the id of the other node, and contains the name of the node that it is meant for. HELLO
 * has the id of the cluster to join, CHALLENGE the id of the invited node.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "raftnet/raftnet_frame.h"

enum {
    RAFTNET_SHAKE_NONCE_BYTES = 32,
    RAFTNET_SHAKE_PROOF_BYTES = 32,
    RAFTNET_SHAKE_TEXT_BYTES_MAX = 1024,
};

/* The numbers are on the wire. */
enum raftnet_shake_purpose {
    RAFTNET_SHAKE_MESSAGES = 1,
    RAFTNET_SHAKE_STREAM = 2,
    RAFTNET_SHAKE_INVITE = 3, /* a node that waits for an invitation joins the cluster */
};

/* Why a node is refused. The numbers are on the wire; an unknown one counts as OTHER. */
enum raftnet_shake_refusal {
    RAFTNET_SHAKE_OTHER = 1,
    RAFTNET_SHAKE_SECRET = 2,  /* wrong proof */
    RAFTNET_SHAKE_CLUSTER = 3, /* the other side belongs to another cluster */
    RAFTNET_SHAKE_TARGET = 4,  /* another node has this address */
    RAFTNET_SHAKE_REMOVED = 5, /* the node was removed from the cluster */
};

/* What a node reports about itself. */
struct raftnet_shake_node {
    uint64_t cluster; /* 0: none yet */
    uint64_t id;
    struct str name, address, http_url, version;
    bool non_voter; /* replicates without a vote; sent when it accepts an invitation */
};

struct raftnet_shake {
    /* set by raftnet_shake_begin */
    bool dials;
    struct raftnet_shake_node self; /* the caller's; its texts are not copied */
    struct str secret;
    /* the dialler gets these from its caller, the accepting node from HELLO */
    enum raftnet_shake_purpose purpose;
    uint64_t target;    /* 0 in an invitation */
    struct str invited; /* in an invitation: the name of the wanted node */
    /* result: views into theirs */
    struct raftnet_shake_node other;
    enum raftnet_shake_refusal refusal; /* on failure: the reason received or sent */
    /* private */
    unsigned step;
    struct buf words; /* transcript of all messages */
    struct buf theirs;
    bool knows_other;
};

enum raftnet_shake_state {
    RAFTNET_SHAKE_GOES_ON,
    RAFTNET_SHAKE_ASKS, /* the other side has proved its identity: accept or refuse it */
    RAFTNET_SHAKE_DONE,
    RAFTNET_SHAKE_FAILED, /* err has the reason; write out before closing */
};

/* Begin. Whole frames to send are appended to out; the accepting side has none yet. */
void raftnet_shake_begin(struct raftnet_shake *s, bool dials, const struct raftnet_shake_node *self,
                         struct str secret, struct buf *out);
void raftnet_shake_deinit(struct raftnet_shake *s);

/* Process a received frame. */
enum raftnet_shake_state raftnet_shake_take(struct raftnet_shake *s, const struct raftnet_frame *f,
                                            struct buf *out, struct err *err);

/* After RAFTNET_SHAKE_ASKS: accept or refuse the other side. Both end the handshake. */
void raftnet_shake_accept(struct raftnet_shake *s, struct buf *out);
void raftnet_shake_refuse(struct raftnet_shake *s, enum raftnet_shake_refusal why, const char *text,
                          struct buf *out);
