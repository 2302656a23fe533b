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
    uint64_t size; /* size of the file */
    uint64_t used; /* bytes written to it */
    uint64_t last; /* highest index in it that still counts; 0: none */
    struct wal_file *next;
};

/* Files from the oldest to the newest. Owns them. */
struct wal_files {
    struct wal_file *first, *last;
    size_t count;
};

struct wal_file *wal_files__new(uint64_t generation, uint64_t size);
void wal_files__push(struct wal_files *files, struct wal_file *f);
struct wal_file *wal_files__pop(struct wal_files *files); /* pop the oldest; NULL if empty */
void wal_files__clear(struct wal_files *files);

#define WAL_FILES_LOG   "log-"
#define WAL_FILES_SPARE "spare-"

struct wal_name {
    char z[32];
};

struct wal_name wal_files__name(const char *prefix, uint64_t generation);

struct segment_id wal_files__id(const struct wal *w, const struct wal_file *f);

/* Upkeep: one piece of work for the thread pool. While it runs, the pool owns all members except
 * stop. */
struct wal_upkeep {
    uv_work_t work;
    atomic_bool stop; /* the segment is no longer needed: end with ERR_STOPPING */
    const char *dir;
    uint64_t segment_bytes;
    /* input */
    struct wal_files dropped; /* to be turned into spares or removed */
    size_t spares_max;
    uint64_t generation; /* of the segment to prepare; 0: none */
    /* input and output; refilled from dropped */
    struct wal_files spares;
    /* result */
    struct wal_file *ready; /* NULL if it failed; then err is set */
    int ready_fd;
    struct err err;
};

/* Blocks: runs in the pool, or on the opener's thread before wal_start. */
void wal_files__upkeep(struct wal_upkeep *u);

/* Enlarge a ready segment to this size. */
ATTR_NODISCARD enum err_code wal_files__grow(struct wal_file *f, int fd, uint64_t size,
                                             struct err *err);

struct wal {
    struct os_file_path dir;
    uint64_t segment_bytes, free_bytes_min;
    unsigned space_check_ms;
    size_t spares_max;
    bool durable;
    bool read_only; /* change no file: for wal_inspect */
    uint64_t key;

    struct wal_files used; /* the last one is being written */
    int fd;                /* of the last one; -1: none yet */
    uint32_t seed;         /* for the last one's checksums */
    uint64_t flushed;      /* offset in the last one up to which it is on disk */
    bool dirty;            /* bytes were written since the last flush */
    uint64_t next_index;
    uint64_t next_generation;
    struct segment_batch batch; /* taken, not written yet */
    struct wal_file *ready;     /* the next segment; NULL: not ready */
    int ready_fd;
    struct wal_files dropped; /* for the next upkeep */
    struct wal_upkeep upkeep;
    bool upkeep_running;
    bool write_refused, make_refused; /* no space for a batch; no space for a segment */
    bool retry;                       /* set by the timer: try again */
    struct wal_op *queue, **queue_end;
    unsigned progress;                 /* records of the queue's first operation that were taken */
    struct wal_op *taken, **taken_end; /* complete after the next flush */
    struct wal_status status;
    bool stopping, ended;

    /* State on the loop. */
    bool started;
    uv_loop_t *loop;
    uv_idle_t submitted; /* active while there is work; keeps the loop from blocking */
    uv_timer_t space_timer;
    unsigned handles; /* open handles */
    void (*closed)(void *data);
    void *closed_data;
};

enum wal_key_source {
    WAL_KEY_FILE,
    WAL_KEY_SEGMENT, /* the key file is damaged or missing, but segments have the key */
    WAL_KEY_NONE,    /* there is no log yet: the key is 0 */
};

/* Find the key of the log in a folder. ERR_CORRUPT if there are segments, but none has the key. */
ATTR_NODISCARD enum err_code wal_key__find(const char *dir, enum wal_key_source *out_source,
                                           uint64_t *out_key, struct err *err);

/* Find the key and store it in its file; a new key if there is no log. */
ATTR_NODISCARD enum err_code wal_key__load(const char *dir, uint64_t *out_key, struct err *err);

/* Fill w from the folder. */
ATTR_NODISCARD enum err_code wal_recover__run(struct wal *w, uint64_t covered_index,
                                              struct wal_content *out, struct err *err);

/* Execute one operation at once, flushed on return: before wal_start, and in tests. */
ATTR_NODISCARD enum err_code wal__do_now(struct wal *w, struct wal_op *op, struct err *err);

/* Put an operation into the batch and, whenever the batch is full, write it to the segment.
 * False if it must wait for a segment or for space; calling again continues. */
ATTR_NODISCARD bool wal_write__take(struct wal *w, struct wal_op *op);

/* Write the batch. False if the disk is full; the batch is then unchanged. */
ATTR_NODISCARD bool wal_write__batch(struct wal *w);

/* Flush everything written. The batch must be empty. */
void wal_write__flush(struct wal *w);

/* Drop the oldest segments in use that have no entry behind index. */
void wal_write__drop(struct wal *w, uint64_t index);

/* Called before and after an upkeep; begin fills in the work to do. */
bool wal_write__wants_segment(const struct wal *w);
void wal_write__upkeep_begin(struct wal *w);
void wal_write__upkeep_end(struct wal *w);
