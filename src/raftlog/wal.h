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
    const char *dir;         /* exists; nothing else is in it */
    uint64_t segment_bytes;  /* a larger entry gets a larger segment */
    uint64_t free_bytes_min; /* below this much free space the status says low_space */
    unsigned space_check_ms; /* how often to look again while it is low */
    bool durable;            /* false: done means written, not flushed */
};

/* What was found. The array and each entry's bytes are from raft_malloc, the caller's. */
struct wal_content {
    uint64_t first_index; /* of the first entry, or of the next one when there is none */
    struct raft_entry *entry;
    size_t count;
    bool begun; /* there was a log, with entries or without */
};

void wal_content_clear(struct wal_content *c);

/* Open, or create, the log. Entries up to covered_index may be missing, because a snapshot has
 * them; everything else that is not as it was written gives ERR_CORRUPT with the file and the
 * offset, except the end of the last segment: what a crash left unfinished there was never promised
 * and is removed. Without durable, a newest segment whose file is missing is accepted with a
 * warning. */
ATTR_NODISCARD enum err_code wal_open(const struct wal_config *config, uint64_t covered_index,
                                      struct wal **out_wal, struct wal_content *out_content,
                                      struct err *err);

/* Read the log as wal_open does for a durable one, with the same errors, and change nothing in dir:
 * what a start would remove or write again stays as it is. */
ATTR_NODISCARD enum err_code wal_inspect(const char *dir, uint64_t covered_index,
                                         struct wal_content *out_content, struct err *err);

/* Before wal_start, on the opener's thread; flushed on return. ERR_NO_SPACE is the only error, and
 * after it the wal can only be freed. */
ATTR_NODISCARD enum err_code wal_append_now(struct wal *w, uint64_t index,
                                            const struct raft_entry *entry, unsigned count,
                                            struct err *err);
ATTR_NODISCARD enum err_code wal_reset_now(struct wal *w, uint64_t index, struct err *err);

struct wal_status {
    bool low_space;            /* new entries should be refused */
    bool full;                 /* the disk has refused a write or a segment: entries wait */
    uint64_t flush_count;      /* since wal_start */
    uint64_t flush_ns;         /* that they took together */
    uint64_t flush_longest_ns; /* since wal_take_longest */
    uint64_t log_bytes;        /* records in the segments in use */
};

const struct wal_status *wal_status(const struct wal *w);

/* The longest flush since the last call, in ns. */
uint64_t wal_take_longest(struct wal *w);

/* So much must be free from now on; looks at once, and again when a segment is made. */
void wal_need_space(struct wal *w, uint64_t free_bytes_min);

/* From now on operations may be submitted, on the thread that runs the loop. */
void wal_start(struct wal *w, uv_loop_t *loop);

enum wal_kind {
    WAL_APPEND,   /* entries that begin with index, which is the one after the last */
    WAL_TRUNCATE, /* remove the entries from index on */
    WAL_DROP,     /* entries up to index are not needed any more */
    WAL_RESET,    /* remove all; the next entry has index */
};

/* One operation. The caller embeds it and keeps it, and the entries, alive until done. */
struct wal_op {
    /* set by the caller */
    enum wal_kind kind;
    uint64_t index;
    const struct raft_entry *entry;
    unsigned count;
    void (*prepare)(struct wal_op *op); /* WAL_RESET, may be NULL: when all before it is on disk
                                           and nothing of it has happened */
    void (*done)(struct wal_op *op);    /* from the loop, never from inside a call; op may be gone
                                           after this */
    /* private */
    struct wal_op *next;
};

/* Operations happen in the order of submission. */
void wal_submit(struct wal *w, struct wal_op *op);

/* Finish what was submitted, then call closed from the loop; the wal is gone. When
 * there is no space to finish, what is left is given back as done without being on disk: to be
 * called when nobody draws conclusions from it any more. */
void wal_close(struct wal *w, void (*closed)(void *data), void *data);

/* For a wal that was never started. NULL is fine. */
void wal_free(struct wal *w);
