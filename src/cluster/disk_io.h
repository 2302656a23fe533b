/*
 * Disk_io: storage for Raft, as a struct raft_io.
 *
 * Combines the log (wal), the ballot and the snapshots: opens them, checks that they match, and
 * serves Raft's calls on the loop. It does not send messages: a transport can be added for that.
 * Without one, no peer is reachable, which is right for a group of one.
 *
 * In <dir>: lock, ballot, log/ (wal.h), snapshots/ (snapshots.h).
 *
 * Life cycle: disk_io_open reads everything and can fail; it also writes what must be on disk
 * before Raft starts. disk_serve_attach fills in the struct raft_io. After raft_start, a disk error
 * stops the process. Raft's close ends it, and disk_io_free frees it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <raft.h>
#include <uv.h>

#include "base/attr.h"
#include "base/err.h"
#include "loop/mailbox.h"
#include "raftlog/manifest.h"
#include "raftlog/wal.h"

struct disk_io;

enum { DISK_IO_DIR_BYTES_MAX = 512, DISK_IO_SPACE_CHECK_MS = 250 };

struct disk_io_config {
    const char *dir; /* created if missing */
    uint64_t segment_bytes;
    uint64_t free_bytes_min;
    bool durable;
    bool read_only; /* read everything as for a start, but write nothing except the lock */
};

/* Open or create the directory. ERR_CONFLICT if another process has it open; ERR_CORRUPT names the
 * damaged file. */
ATTR_NODISCARD enum err_code disk_io_open(const struct disk_io_config *config,
                                          struct disk_io **out_disk, struct err *err);

/* Call before disk_serve_attach, or after Raft has closed it. NULL is allowed. */
void disk_io_free(struct disk_io *d);

/* --- between open and raft_start --- */

/* True if nothing was ever stored: no members, no entry, no vote. */
bool disk_io_is_pristine(const struct disk_io *d);

/* The index of the last entry, in the log or in the newest snapshot. */
uint64_t disk_io_last_index(const struct disk_io *d);

/* The members according to the last membership entry; empty if there is none. The caller closes it
 * with raft_configuration_close. */
ATTR_NODISCARD enum err_code disk_io_members(const struct disk_io *d,
                                             struct raft_configuration *out, struct err *err);

/* Call fn for each entry of the log that is for the state machine, until fn fails. */
ATTR_NODISCARD enum err_code disk_io_each_command(const struct disk_io *d,
                                                  enum err_code (*fn)(void *data, uint64_t index,
                                                                      struct str entry,
                                                                      struct err *err),
                                                  void *data, struct err *err);

/* Store the first members in a pristine directory. */
ATTR_NODISCARD enum err_code
disk_io_bootstrap(struct disk_io *d, const struct raft_configuration *members, struct err *err);

/* Append these as the new members, regardless of the old ones. */
ATTR_NODISCARD enum err_code
disk_io_recover(struct disk_io *d, const struct raft_configuration *members, struct err *err);

/* If the log ends before index, append entries without effect up to index. */
ATTR_NODISCARD enum err_code disk_io_fill(struct disk_io *d, uint64_t index, struct err *err);

/* --- transport --- */

struct disk_io_transport {
    void *data;
    /* From now on, deliver messages of peers to recv(io, …), on the loop. */
    void (*start)(void *data, struct raft_io *io, raft_io_recv_cb recv);
    /* As send of raft_io: returns 0 and calls cb later from the loop, or returns an error and never
     * calls cb. */
    int (*send)(void *data, struct raft_io_send *req, const struct raft_message *message,
                raft_io_send_cb cb);
    /* Stop delivering; call closed from the loop after the last callback. Can be called without a
     * start. */
    void (*close)(void *data, void (*closed)(void *closed_data), void *closed_data);
};

struct disk_io_host {
    uv_loop_t *loop;
    struct mailbox *box;                       /* of that loop; closed after disk_io */
    const struct disk_io_transport *transport; /* NULL: no peers */
};

/* Serve Raft. Sets the functions of io, which must not move. */
void disk_serve_attach(struct disk_io *d, const struct disk_io_host *host, struct raft_io *io);

/* --- any time, on the loop --- */

/* The newest snapshot; NULL if there is none. Valid until a newer one is stored. */
const struct manifest *disk_io_manifest(const struct disk_io *d);

const char *disk_io_snapshots_dir(const struct disk_io *d);
const struct wal_status *disk_io_wal_status(const struct disk_io *d);
uint64_t disk_io_take_longest_flush(struct disk_io *d); /* as wal_take_longest */

/* As wal_need_space. */
void disk_io_need_space(struct disk_io *d, uint64_t free_bytes_min);

/* Size of the files of the largest snapshot that is kept. */
uint64_t disk_io_snapshot_bytes(const struct disk_io *d);
