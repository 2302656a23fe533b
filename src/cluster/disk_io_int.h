/*
 * Disk_io_int: what the two files of disk_io share. disk_io.c reads the folder and writes what must
 * be there before Raft starts; disk_serve.c serves Raft.
 */
#pragma once

#include "base/buf.h"
#include "cluster/ballot.h"
#include "cluster/disk_io.h"
#include "cluster/snapshots.h"
#include "os/os_file.h"

/* A manifest and what its members point into. */
struct disk_io_manifest {
    struct buf bytes;
    struct arena *arena;
    struct manifest m; /* valid when bytes has any */
};

struct disk_io {
    struct os_file_path dir, ballot_path, log_dir, snapshots_dir;
    int lock_fd;
    struct ballot ballot;
    struct disk_io_manifest newest;
    struct wal *wal;
    struct wal_content content; /* until Raft loads it */
    uint64_t next_index;        /* of the next entry that Raft appends */

    /* from attach on */
    struct disk_io_host host;
    struct raft_io *io;
    uv_timer_t tick_timer;
    raft_io_tick_cb tick;
    raft_io_recv_cb recv;
    bool wal_started;
    bool timer_open, transport_open; /* to be closed */
    unsigned jobs;                   /* on the pool, or messages to ourselves */
    bool closing;
    raft_io_close_cb close_cb;
};

void disk_serve__attach(struct disk_io *d, struct raft_io *io);

/* Decode the bytes that were put into the manifest. */
ATTR_NODISCARD enum err_code disk_io__manifest_decode(struct disk_io_manifest *m, struct err *err);
void disk_io__manifest_clear(struct disk_io_manifest *m);
