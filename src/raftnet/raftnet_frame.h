/*
 * Raftnet_frame: encodes and decodes frames between nodes. Pure.
 *
 *   u32 magic · u8 version · u8 kind · u16 group · u32 bytes of the body · u32 crc · u64 cluster
 *
 * All numbers are little-endian; the body follows. The crc (crc32c) covers the header, with zeros
 * in place of the crc, and the body. The group allows several Raft groups over one connection.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    RAFTNET_FRAME_VERSION = 1,
    RAFTNET_FRAME_HEAD_BYTES = 24,
    RAFTNET_FRAME_SHAKE_BYTES_MAX = 4096,    /* of a body before both sides know each other */
    RAFTNET_FRAME_BODY_BYTES_MAX = 66 << 20, /* a manifest with 100,000 files is the longest */
};

/* The numbers are on the wire. An unknown one is passed over: a later version may send it. */
enum raftnet_frame_kind {
    RAFTNET_FRAME_HELLO = 1,     /* who dials, and for what */
    RAFTNET_FRAME_CHALLENGE = 2, /* who was dialled, and its proof */
    RAFTNET_FRAME_PROOF = 3,     /* that of who dials */
    RAFTNET_FRAME_ACCEPT = 4,
    RAFTNET_FRAME_REFUSE = 5,
    RAFTNET_FRAME_RAFT = 16, /* a message of Raft (cluster/wire.h) */
    RAFTNET_FRAME_HASH = 17, /* the hash of the state at an index */
    RAFTNET_FRAME_ASK = 18,  /* of a stream: a piece of a file is wanted */
    RAFTNET_FRAME_PIECE = 19,
    RAFTNET_FRAME_READS = 20, /* the newest version of an entry that the sender reads */
};

struct raftnet_frame {
    uint8_t kind;
    uint16_t group;
    uint64_t cluster;
    struct str body;
};

/* Begin a frame in out, which is empty; the body is added behind, then comes the end. */
void raftnet_frame_begin(struct buf *out);
void raftnet_frame_end(struct buf *out, uint8_t kind, uint16_t group, uint64_t cluster);

enum raftnet_frame_read {
    RAFTNET_FRAME_MORE,    /* the bytes do not have it all */
    RAFTNET_FRAME_WHOLE,   /* *out is set, its body a view */
    RAFTNET_FRAME_FOREIGN, /* no frame of ours, or of another version */
    RAFTNET_FRAME_LONG,    /* a body of more than body_max bytes */
    RAFTNET_FRAME_DAMAGED, /* the checksum is wrong */
};

/* The frame that the bytes begin with, and how long it is with its head; that is known, and set,
 * with RAFTNET_FRAME_MORE too as soon as the head is there, else 0. */
enum raftnet_frame_read raftnet_frame_read(struct str bytes, size_t body_max,
                                           struct raftnet_frame *out, size_t *out_bytes);
