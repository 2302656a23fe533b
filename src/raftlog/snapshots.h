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

/* The bytes of the newest manifest; empty if there is no manifest. ERR_CORRUPT if it is damaged:
 * an older one would not help, because the log was truncated for the newest. */
ATTR_NODISCARD enum err_code snapshots_load(const char *dir, struct buf *out, struct err *err);

/* The same for one of the kept manifests: 0 is the newest, SNAPSHOTS_KEPT - 1 the oldest. */
ATTR_NODISCARD enum err_code snapshots_load_nth(const char *dir, size_t nth, struct buf *out,
                                                struct err *err);

/* The id of the nth manifest, from the name of its file; empty if there is none. Works for a
 * damaged manifest, too. */
ATTR_NODISCARD enum err_code snapshots_id_nth(const char *dir, size_t nth, struct snapshots_id *out,
                                              struct err *err);

/* The index in an id; 0 if the id does not begin with one. */
uint64_t snapshots_id_index(const struct snapshots_id *id);

/* Total size of the files that a manifest lists. */
uint64_t snapshots_bytes(const struct manifest *m);

/* Store a manifest; durable on return. After a failure it is removed, but until the folder is
 * flushed a crash may bring it back. */
ATTR_NODISCARD enum err_code snapshots_store(const char *dir, struct str manifest, struct err *err);

/* Remove all but the newest two manifests, and checkpoints without a manifest. At start, remove
 * all such checkpoints; later only those older than the newest manifest, because a newer one may
 * be in progress. */
void snapshots_prune(const char *dir, bool at_start);

/* List the files of a finished checkpoint in m->file, allocated from the arena. Files that are
 * unchanged since the checkpoint of an earlier manifest, which may be NULL, are not read again. */
ATTR_NODISCARD enum err_code snapshots_describe(const char *dir, const struct manifest *earlier,
                                                struct arena *arena, struct manifest *m,
                                                struct err *err);

/* ERR_CORRUPT if a file of the checkpoint is missing or damaged. */
ATTR_NODISCARD enum err_code snapshots_verify(const char *dir, const struct manifest *m,
                                              struct err *err);

/* Progress of snapshots_check; zeros at first. */
struct snapshots_cursor {
    struct snapshots_id id;
    size_t file;     /* next file to verify */
    uint64_t rounds; /* completed passes without damage */
};

/* Verify about the given number of bytes of the newest snapshot, and start over behind its last
 * file. ERR_CORRUPT as snapshots_verify; the snapshot is then marked as damaged. ERR_OK if a
 * newer snapshot replaced it meanwhile. */
ATTR_NODISCARD enum err_code snapshots_check(const char *dir, struct snapshots_cursor *c,
                                             uint64_t bytes, struct err *err);

/* Is the snapshot marked as damaged? */
bool snapshots_is_damaged(const char *dir, struct str id);
