/*
 * Ship: transfers checkpoints from one member to another.
 *
 * Each transfer uses its own stream (raftnet.h). The receiver requests the files one by one, each
 * from the offset it has reached, so an interrupted transfer continues where it stopped, even after
 * a restart. Each file is compared with the size and checksum in the manifest before the next one
 * is requested. A complete checkpoint is flushed and moved into the directory of snapshots; Raft
 * stores its manifest.
 *
 * The sender keeps the files with hard links, so that a newer snapshot can replace the old one
 * during the transfer. It limits its rate, so that clients are not affected.
 *
 *   <dir>/inbound/<id>/     a checkpoint that is being fetched
 *   <dir>/outbound/<id>.N/  links to one that is being sent
 *
 * Both sides run on threads that may block.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "raftnet/raftnet.h"

enum { SHIP_PIECE_BYTES = 256 << 10, SHIP_TIMEOUT_MS = 10000, SHIP_SENDERS_MAX = 4 };

struct ship_progress {
    bool running;
    uint64_t from; /* the member */
    uint64_t bytes_total, bytes_done;
    uint64_t fetched_total; /* checkpoints, since the start */
    char error[160];        /* of the last fetch; empty: success */
};

/* Remove files left by an earlier process, except those with which a fetch can continue. */
void ship_clean(const char *dir);

/* Send the requested files until the other side closes the connection. Takes ownership of link. */
void ship_serve(struct raftnet_link *link, const char *dir, uint64_t cluster, uint64_t rate_bytes,
                const atomic_bool *stop);

struct ship_fetch {
    const char *dir;
    struct str manifest; /* bytes */
    struct raftnet_stream_target target;
    const atomic_bool *stop;
    atomic_uint_fast64_t *done_bytes;
};

/* Fetch all files of the manifest's checkpoint into the directory of snapshots; durable on return.
 */
ATTR_NODISCARD enum err_code ship_fetch(const struct ship_fetch *f, struct err *err);
