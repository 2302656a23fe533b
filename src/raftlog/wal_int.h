/*
 * Wal_int: shared by the files of the wal.
 *
 * wal.c has the queue, decides when to write, and reports the results; wal_write.c writes
 * operations into segments; wal_recover.c reads the directory when it is opened; wal_files.c
 * creates, reuses and removes segment files in libuv's thread pool; wal_key.c handles the key.
 *
 * Files in the directory: key; log-<generation> for a segment that is in use or ready, and
 * spare-<generation> for one that can be reused. Generations are 16 hexadecimal digits.
 */
#pragma once

#include <stdatomic.h>

#include <uv.h>

#include "os/os_file.h"
#include "raftlog/segment.h"
#include "raftlog/wal.h"

struct wal;

struct wal_file {
    uint64_t generation;
    uint64_t size; /* of the file */
    uint64_t used; /* bytes written to it */
    uint64_t last; /* the highest index in it that still counts; 0 when none does */
    struct wal_file *next;
};

/* Files from the oldest to the newest. Owns them. */
struct wal_files {
    struct wal_file *first, *last;
    size_t count;
};

struct wal_file *wal_files__new(uint64_t generation, uint64_t size);
void wal_files__push(struct wal_files *files, struct wal_file *f);
struct wal_file *wal_files__pop(struct wal_files *files); /* the oldest; NULL when there is none */
void wal_files__clear(struct wal_files *files);

#define WAL_FILES_LOG   "log-"
#define WAL_FILES_SPARE "spare-"

struct wal_name {
    char z[32];
};

struct wal_name wal_files__name(const char *prefix, uint64_t generation);

struct segment_id wal_files__id(const struct wal *w, const struct wal_file *f);

/* Upkeep: one piece of work for the pool. While it runs, everything in it is the pool's but stop.
 */
struct wal_upkeep {
    uv_work_t work;
    atomic_bool stop; /* nobody needs the segment any more: ERR_STOPPING instead */
    const char *dir;
    uint64_t segment_bytes;
    /* what to do */
    struct wal_files dropped; /* to become spares, or to be removed */
    size_t spares_max;
    uint64_t generation; /* of the segment to make ready; 0 for none */
    /* used, and refilled from dropped */
    struct wal_files spares;
    /* what came of it */
    struct wal_file *ready; /* NULL, and err says why, when it could not be made */
    int ready_fd;
    struct err err;
};

/* Blocks: on the pool, or on the opener's thread before wal_start. */
void wal_files__upkeep(struct wal_upkeep *u);

/* Make a ready segment as large as this. */
ATTR_NODISCARD enum err_code wal_files__grow(struct wal_file *f, int fd, uint64_t size,
                                             struct err *err);

struct wal {
    struct os_file_path dir;
    uint64_t segment_bytes, free_bytes_min;
    unsigned space_check_ms;
    size_t spares_max;
    bool durable;
    bool read_only; /* no file may change: for wal_inspect */
    uint64_t key;

    struct wal_files used; /* the last one is written to */
    int fd;                /* of the last one; -1 when there is none yet */
    uint32_t seed;         /* of the last one's checksums */
    uint64_t flushed;      /* how far the last one is on disk */
    bool dirty;            /* something was written since */
    uint64_t next_index;
    uint64_t next_generation;
    struct segment_batch batch; /* taken, but not written yet */
    struct wal_file *ready;     /* the next segment; NULL while it is being made */
    int ready_fd;
    struct wal_files dropped; /* for the next upkeep */
    struct wal_upkeep upkeep;
    bool upkeep_running;
    bool write_refused, make_refused; /* the disk had no space for a batch, for a segment */
    bool retry;                       /* the timer says: try again */
    struct wal_op *queue, **queue_end;
    unsigned progress;                 /* entries of the first in the queue that are taken */
    struct wal_op *taken, **taken_end; /* to be given back after the next flush */
    struct wal_status status;
    bool stopping, ended;

    /* The loop. */
    bool started;
    uv_loop_t *loop;
    uv_idle_t submitted; /* runs when there is something to do, and keeps the loop from waiting */
    uv_timer_t space_timer;
    unsigned handles; /* of these that are not closed yet */
    void (*closed)(void *data);
    void *closed_data;
};

enum wal_key_source {
    WAL_KEY_FILE,
    WAL_KEY_SEGMENT, /* its file is damaged or missing, but the segments know it too */
    WAL_KEY_NONE,    /* there is no log yet: the key is 0 */
};

/* The key of the log in a folder. ERR_CORRUPT when there are segments, and none knows it. */
ATTR_NODISCARD enum err_code wal_key__find(const char *dir, enum wal_key_source *out_source,
                                           uint64_t *out_key, struct err *err);

/* The same, in its file afterwards; a new one when there is none. */
ATTR_NODISCARD enum err_code wal_key__load(const char *dir, uint64_t *out_key, struct err *err);

/* Fill in w from the folder. */
ATTR_NODISCARD enum err_code wal_recover__run(struct wal *w, uint64_t covered_index,
                                              struct wal_content *out, struct err *err);

/* Do one operation here and now, flushed on return: before wal_start, and in tests. */
ATTR_NODISCARD enum err_code wal__do_now(struct wal *w, struct wal_op *op, struct err *err);

/* Take an operation into the batch and, as far as that is full, into the segment. False when it
 * must wait for a segment or for space; the same call then goes on with it. */
ATTR_NODISCARD bool wal_write__take(struct wal *w, struct wal_op *op);

/* Write what is in the batch. False when the disk is full: the batch stays as it is. */
ATTR_NODISCARD bool wal_write__batch(struct wal *w);

/* Everything written is on disk afterwards. The batch is empty. */
void wal_write__flush(struct wal *w);

/* Give up the oldest segments in use while no entry behind index is in them. */
void wal_write__drop(struct wal *w, uint64_t index);

/* Before and after an upkeep, which begin hands what there is to do. */
bool wal_write__wants_segment(const struct wal *w);
void wal_write__upkeep_begin(struct wal *w);
void wal_write__upkeep_end(struct wal *w);
