/*
 * Manifest: what a Raft snapshot consists of. It names data, it never contains any.
 *
 * The state itself is a checkpoint: a folder of files that the state machine wrote. The manifest
 * says which folder, which files with which sizes and checksums, and where in the log it stands.
 * It is at once a file beside the checkpoint and the bytes that Raft sends to a member that is too
 * far behind. The bytes are described in docs/formats/manifest.md.
 *
 * Pure: it encodes into memory and reads memory, which may be anything.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    MANIFEST_VERSION = 1,
    MANIFEST_BYTES_MAX = 64 << 20,
    MANIFEST_FILES_MAX = 100000,
    MANIFEST_NAME_BYTES_MAX = 255,
    MANIFEST_ID_BYTES_MAX = 64,
};

struct manifest_file {
    struct str name; /* below the checkpoint's folder, with "/" between the parts */
    uint64_t size;
    uint32_t crc; /* crc32c of its bytes */
};

struct manifest {
    uint64_t index;                   /* the checkpoint has at least the entries up to here */
    uint64_t term;                    /* of the entry at index */
    struct str checkpoint;            /* its id, which is the name of its folder */
    struct str members;               /* who was in the group at index (members.h) */
    uint64_t members_index;           /* where in the log that was decided */
    const struct manifest_file *file; /* sorted by name */
    size_t file_count;
};

/* Add the encoded manifest to out, which has MANIFEST_BYTES_MAX. Everything in it must be what
 * manifest_decode accepts. */
void manifest_encode(const struct manifest *m, struct buf *out);

/* Names are views into the bytes, the list of files is in the arena. ERR_CORRUPT for anything that
 * manifest_encode could not have written. */
ATTR_NODISCARD enum err_code manifest_decode(struct str bytes, struct arena *arena,
                                             struct manifest *out, struct err *err);

/* An id is the name of a folder: letters, digits and dashes. */
bool manifest_id_is_valid(struct str id);
