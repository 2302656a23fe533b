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
 * before Raft starts. disk_io_attach fills in the struct raft_io. After raft_start, a disk error
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
    const char *dir; /* created when missing */
    uint64_t segment_bytes;
    uint64_t free_bytes_min;
    bool durable;
};

/* Open, or create. ERR_CONFLICT when another process has it open; ERR_CORRUPT names what is
 * damaged. */
ATTR_NODISCARD enum err_code disk_io_open(const struct disk_io_config *config,
                                          struct disk_io **out_disk, struct err *err);

/* Before disk_io_attach, or after Raft has closed it. NULL is fine. */
void disk_io_free(struct disk_io *d);

/* --- between open and raft_start --- */

/* Nothing was ever stored: no member list, no entry, no vote. */
bool disk_io_is_pristine(const struct disk_io *d);

/* The index of the last entry, in the log or in the newest snapshot. */
uint64_t disk_io_last_index(const struct disk_io *d);

/* Who is in the group by the last membership entry; nobody when there is none. The caller closes
 * it with raft_configuration_close. */
ATTR_NODISCARD enum err_code disk_io_members(const struct disk_io *d,
                                             struct raft_configuration *out, struct err *err);

/* Call fn for each entry of the log that is the state machine's, until it fails. */
ATTR_NODISCARD enum err_code disk_io_each_command(const struct disk_io *d,
                                                  enum err_code (*fn)(void *data, uint64_t index,
                                                                      struct str entry,
                                                                      struct err *err),
                                                  void *data, struct err *err);

/* Make these the first members, in a pristine folder. */
ATTR_NODISCARD enum err_code
disk_io_bootstrap(struct disk_io *d, const struct raft_configuration *members, struct err *err);

/* Append these as the new members, whatever the old ones were. */
ATTR_NODISCARD enum err_code
disk_io_recover(struct disk_io *d, const struct raft_configuration *members, struct err *err);

/* Append entries without effect until the log ends with index, if it does not reach that far. */
ATTR_NODISCARD enum err_code disk_io_fill(struct disk_io *d, uint64_t index, struct err *err);

/* --- the seam for the network --- */

struct disk_io_transport {
    void *data;
    /* Deliver what peers send to recv(io, …), on the loop, from now on. */
    void (*start)(void *data, struct raft_io *io, raft_io_recv_cb recv);
    /* As raft_io's send: 0 and cb later, from the loop, or an error and cb never. */
    int (*send)(void *data, struct raft_io_send *req, const struct raft_message *message,
                raft_io_send_cb cb);
    /* Deliver nothing more; call closed, from the loop, when no callback is left to come. May come
     * without a start. */
    void (*close)(void *data, void (*closed)(void *closed_data), void *closed_data);
};

struct disk_io_host {
    uv_loop_t *loop;
    struct mailbox *box;                       /* of that loop; closed after us */
    const struct disk_io_transport *transport; /* NULL: no peers */
};

/* Serve Raft. io is filled in and must stay where it is. */
void disk_io_attach(struct disk_io *d, const struct disk_io_host *host, struct raft_io *io);

/* --- any time, on the loop --- */

/* The newest snapshot; NULL when there is none. Good until a newer one is stored, which Raft does
 * one at a time. */
const struct manifest *disk_io_manifest(const struct disk_io *d);

const char *disk_io_snapshots_dir(const struct disk_io *d);
const struct wal_status *disk_io_wal_status(const struct disk_io *d);
uint64_t disk_io_take_longest_flush(struct disk_io *d); /* as wal_take_longest */

/* As wal_need_space. */
void disk_io_need_space(struct disk_io *d, uint64_t free_bytes_min);

/* Bytes of the files of the largest snapshot that is kept. */
uint64_t disk_io_snapshot_bytes(const struct disk_io *d);
