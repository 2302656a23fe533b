/*
 * Disk_io_int: shared by the files of disk_io. disk_io.c reads the directory and writes what must
 * be there before Raft starts; disk_serve.c serves Raft, disk_snapshot.c its snapshots;
 * disk_work.c is what both use.
 */
#pragma once

#include "base/buf.h"
#include "cluster/disk_io.h"
#include "os/os_file.h"
#include "raftlog/ballot.h"
#include "raftlog/snapshots.h"

/* A manifest and the memory that its members point to. */
struct disk_io_manifest {
    struct buf bytes;
    struct arena *arena;
    struct manifest m; /* valid if bytes is not empty */
};

/* The snapshot before the newest one; zeros if there is none. */
struct disk_io_older {
    uint64_t index;
    uint64_t bytes; /* size of its files */
};

struct disk_io {
    struct os_file_path dir, ballot_path, log_dir, snapshots_dir;
    int lock_fd, ballot_fd;
    struct ballot ballot;
    struct disk_io_manifest newest;
    struct disk_io_older older; /* the one before it, also kept */
    struct wal *wal;
    struct wal_content content; /* until Raft loads it */
    uint64_t next_index;        /* of the next entry that Raft appends */

    /* from attach on */
    struct disk_io_host host;
    struct raft_io *io;
    uv_timer_t tick_timer;
    raft_io_tick_cb tick;
    bool wal_started;
    bool timer_open, transport_open; /* must be closed */
    unsigned jobs;                   /* jobs on the pool and messages to itself */
    bool closing;
    raft_io_close_cb close_cb;
};

/* An operation ended: if it was the last one, complete the close. d may be freed by this. */
void disk_work__maybe_closed(struct disk_io *d);

/* Submit an operation on the log without waiting for its end. */
void disk_work__submit(struct disk_io *d, enum wal_kind kind, uint64_t index);

/* As the functions of struct raft_io. */
int disk_snapshot__put(struct raft_io *io, unsigned trailing, struct raft_io_snapshot_put *req,
                       const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb);
int disk_snapshot__get(struct raft_io *io, struct raft_io_snapshot_get *req,
                       raft_io_snapshot_get_cb cb);

/* A snapshot in the form that Raft expects. Raft owns it. */
struct raft_snapshot *disk_snapshot__make(const struct disk_io_manifest *from);

/* Decode m->bytes into m->m. */
ATTR_NODISCARD enum err_code disk_manifest__decode(struct disk_io_manifest *m, struct err *err);
void disk_manifest__clear(struct disk_io_manifest *m);

/* The data to keep about a manifest that is replaced by a newer one. */
struct disk_io_older disk_manifest__older(const struct disk_io_manifest *m);
