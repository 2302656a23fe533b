/*
 * Wal: the log on disk.
 *
 * All operations submitted in one turn of the loop are written with one call and flushed once, at
 * the start of the next turn; then all of them are done. Batches therefore grow with the duration
 * of a flush, without a timer.
 *
 *   loop:  wal_submit(op) ... wal_submit(op) --> pwritev --> fdatasync --> op->done(op) ...
 *
 * The loop waits for the disk, and so does everything else on the loop. A separate thread for the
 * log would add up to four thread switches to every entry (docs/decisions/0010).
 *
 * Segments (segment.h) are filled with zeros when they are created, and reused when their entries
 * are no longer needed, so a flush writes data only. The next segment is prepared in libuv's thread
 * pool while the current one fills up; operations wait for it only if it is late.
 *
 * Guarantees: an operation that is done is on disk (if durable), and so are all earlier ones. A
 * failed write or flush stops the process, because the contents of the disk are then unknown. Only
 * "no space" is waited out, because it occurs before anything is acknowledged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <raft.h>
#include <uv.h>

#include "base/attr.h"
#include "base/err.h"

struct wal;

enum {
    WAL_SEGMENT_BYTES_MIN = 4096,
    WAL_SEGMENT_BYTES_MAX = 1 << 30,
    WAL_SPARES_MAX = 4, /* segments kept for later use */
};

struct wal_config {
    const char *dir;         /* must exist and contain nothing else */
    uint64_t segment_bytes;  /* a larger entry gets a larger segment; the first two are smaller */
    uint64_t free_bytes_min; /* low_space is set below this much free space */
    unsigned space_check_ms; /* interval of the space check while low_space is set */
    bool durable;            /* false: done means written, but not flushed */
};

/* The content found by wal_open. The array and each entry's bytes are from raft_malloc; the
 * caller owns them. */
struct wal_content {
    uint64_t first_index; /* of the first entry; without entries, of the next one */
    struct raft_entry *entry;
    size_t count;
    bool begun; /* a log existed, with or without entries */
};

void wal_content_clear(struct wal_content *c);

/* Open or create the log. Entries up to covered_index may be missing, because a snapshot has
 * them. Any other difference from what was written gives ERR_CORRUPT with the file and the
 * offset, except at the end of the last segment: what a crash left unfinished there was never
 * acknowledged and is removed. Without durable, a missing file of the newest segment is accepted
 * with a warning. */
ATTR_NODISCARD enum err_code wal_open(const struct wal_config *config, uint64_t covered_index,
                                      struct wal **out_wal, struct wal_content *out_content,
                                      struct err *err);

/* Read the log as wal_open does for a durable one, with the same errors, but change nothing in
 * dir: anything that a start would remove or rewrite stays as it is. */
ATTR_NODISCARD enum err_code wal_inspect(const char *dir, uint64_t covered_index,
                                         struct wal_content *out_content, struct err *err);

/* Call before wal_start, on the opener's thread; flushed on return. ERR_NO_SPACE is the only
 * error; after it the wal can only be freed. */
ATTR_NODISCARD enum err_code wal_append_now(struct wal *w, uint64_t index,
                                            const struct raft_entry *entry, unsigned count,
                                            struct err *err);
ATTR_NODISCARD enum err_code wal_reset_now(struct wal *w, uint64_t index, struct err *err);

struct wal_status {
    bool low_space;            /* new entries should be refused */
    bool full;                 /* the disk has no space for a write or a segment: entries wait */
    uint64_t flush_count;      /* since wal_start */
    uint64_t flush_ns;         /* total duration of these */
    uint64_t flush_longest_ns; /* since wal_take_longest */
    uint64_t log_bytes;        /* bytes of the records in the segments in use */
};

const struct wal_status *wal_status(const struct wal *w);

/* The longest flush since the last call, in ns. */
uint64_t wal_take_longest(struct wal *w);

/* Set the minimum of free space. Checked at once, and whenever a segment is made. */
void wal_need_space(struct wal *w, uint64_t free_bytes_min);

/* Operations may be submitted from now on, on the loop's thread. */
void wal_start(struct wal *w, uv_loop_t *loop);

enum wal_kind {
    WAL_APPEND,   /* append entries; index must follow the last one */
    WAL_TRUNCATE, /* remove the entries from index on */
    WAL_DROP,     /* entries up to index are no longer needed */
    WAL_RESET,    /* remove all entries; the next one has index */
};

/* One operation. The caller embeds it, and keeps it and the entries alive until done. */
struct wal_op {
    /* set by the caller */
    enum wal_kind kind;
    uint64_t index;
    const struct raft_entry *entry;
    unsigned count;
    void (*prepare)(struct wal_op *op); /* WAL_RESET only, may be NULL: called when all earlier
                                           operations are on disk, before the reset begins */
    void (*done)(struct wal_op *op);    /* from the loop, never from inside a call; op may be gone
                                           after this */
    /* private */
    struct wal_op *next;
};

/* Operations are executed in the order of submission. */
void wal_submit(struct wal *w, struct wal_op *op);

/* Finish the submitted operations, then call closed from the loop; the wal is gone by then. If
 * there is no space to finish, the remaining operations complete without being on disk. Call
 * this only when nobody relies on completions any more. */
void wal_close(struct wal *w, void (*closed)(void *data), void *data);

/* For a wal that was never started. NULL is allowed. */
void wal_free(struct wal *w);
