/*
 * Snapshots: the directory with checkpoints and their manifests.
 *
 *   <id>/            a checkpoint: files of the state machine
 *   <id>.manifest    its manifest (manifest.h), written when the checkpoint is complete and on disk
 *   <id>.damaged     empty: a file of the checkpoint was found to be damaged later
 *
 * An id starts with the index in twenty digits, so that names sort by age. The rest is random, so
 * that two nodes never use the same id. The two newest manifests are kept. A checkpoint without a
 * manifest was interrupted by a crash and is incomplete.
 *
 * All functions block. Any thread may call them, one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "os/os_file.h"
#include "raftlog/manifest.h"

enum { SNAPSHOTS_KEPT = 2 };

struct snapshots_id {
    char z[MANIFEST_ID_BYTES_MAX + 1];
};

struct snapshots_id snapshots_new_id(uint64_t index);

/* The folder of a checkpoint. */
struct os_file_path snapshots_path(const char *dir, struct str id);

/* The newest manifest's bytes; none when there is no manifest. ERR_CORRUPT when it is damaged:
 * an older one would not help, since the log was cut for the newest. */
ATTR_NODISCARD enum err_code snapshots_load(const char *dir, struct buf *out, struct err *err);

/* The same of one that is kept: 0 is the newest, SNAPSHOTS_KEPT - 1 the oldest. */
ATTR_NODISCARD enum err_code snapshots_load_nth(const char *dir, size_t nth, struct buf *out,
                                                struct err *err);

/* The id of the same, from the name of its manifest's file; empty when there is none. A damaged
 * manifest does not hide it. */
ATTR_NODISCARD enum err_code snapshots_id_nth(const char *dir, size_t nth, struct snapshots_id *out,
                                              struct err *err);

/* The index that an id begins with; 0 when it begins with none. */
uint64_t snapshots_id_index(const struct snapshots_id *id);

/* Bytes of the files that a manifest lists. */
uint64_t snapshots_bytes(const struct manifest *m);

/* Store a manifest, durable on return. After a failure there is none, but until the folder is
 * flushed a crash may bring it back. */
ATTR_NODISCARD enum err_code snapshots_store(const char *dir, struct str manifest, struct err *err);

/* Remove the manifests before the newest two, and checkpoints that have none: at start all of
 * them, later only those older than the newest manifest, as a newer one may be under way. */
void snapshots_prune(const char *dir, bool at_start);

/* List a finished checkpoint in m->file, allocated from the arena. Files that are the same as in
 * the checkpoint of an earlier manifest, which may be NULL, are not read again. */
ATTR_NODISCARD enum err_code snapshots_describe(const char *dir, const struct manifest *earlier,
                                                struct arena *arena, struct manifest *m,
                                                struct err *err);

/* ERR_CORRUPT when a file of the checkpoint is missing or is not as it was written. */
ATTR_NODISCARD enum err_code snapshots_verify(const char *dir, const struct manifest *m,
                                              struct err *err);

/* How far the newest snapshot was looked at; zeros at first. */
struct snapshots_cursor {
    struct snapshots_id id;
    size_t file;     /* the next one */
    uint64_t rounds; /* how often one was looked at as a whole, and found good */
};

/* Verify some more files of the newest snapshot, about so many bytes of them; its first again
 * behind its last. ERR_CORRUPT as snapshots_verify, and the snapshot is marked as damaged. ERR_OK
 * when a newer one took its place meanwhile. */
ATTR_NODISCARD enum err_code snapshots_check(const char *dir, struct snapshots_cursor *c,
                                             uint64_t bytes, struct err *err);

/* Was it marked? */
bool snapshots_is_damaged(const char *dir, struct str id);
