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
    RAFTNET_FRAME_SHAKE_BYTES_MAX = 4096,    /* limit of a body during the handshake */
    RAFTNET_FRAME_BODY_BYTES_MAX = 66 << 20, /* enough for a manifest with 100,000 files */
};

/* Numbers of the wire format. Unknown kinds are ignored: a later version may send them. */
enum raftnet_frame_kind {
    RAFTNET_FRAME_HELLO = 1,     /* from the dialler: identity and purpose */
    RAFTNET_FRAME_CHALLENGE = 2, /* from the accepting node: identity and proof */
    RAFTNET_FRAME_PROOF = 3,     /* the dialler's proof */
    RAFTNET_FRAME_ACCEPT = 4,
    RAFTNET_FRAME_REFUSE = 5,
    RAFTNET_FRAME_RAFT = 16, /* a Raft message (cluster/wire.h) */
    RAFTNET_FRAME_HASH = 17, /* hash of the state at an index */
    RAFTNET_FRAME_ASK = 18,  /* stream: request for a piece of a file */
    RAFTNET_FRAME_PIECE = 19,
    RAFTNET_FRAME_READS = 20, /* newest entry version that the sender can read */
    RAFTNET_FRAME_SPACE = 21, /* what the sender's disk space allows */
};

struct raftnet_frame {
    uint8_t kind;
    uint16_t group;
    uint64_t cluster;
    struct str body;
};

/* Begin a frame in out, which is empty. The caller appends the body, then calls
 * raftnet_frame_end. */
void raftnet_frame_begin(struct buf *out);
void raftnet_frame_end(struct buf *out, uint8_t kind, uint16_t group, uint64_t cluster);

enum raftnet_frame_read {
    RAFTNET_FRAME_MORE,    /* bytes ends before the frame does */
    RAFTNET_FRAME_WHOLE,   /* *out is set; its body is a view */
    RAFTNET_FRAME_FOREIGN, /* not our magic, or another version */
    RAFTNET_FRAME_LONG,    /* body longer than body_max */
    RAFTNET_FRAME_DAMAGED, /* the checksum is wrong */
};

/* Read the frame at the start of bytes. The length includes the header; it is also set with
 * RAFTNET_FRAME_MORE once the header is complete, and is 0 otherwise. */
enum raftnet_frame_read raftnet_frame_read(struct str bytes, size_t body_max,
                                           struct raftnet_frame *out, size_t *out_bytes);
