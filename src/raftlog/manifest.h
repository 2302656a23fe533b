/*
 * Manifest: describes a Raft snapshot. It lists files but contains no data of them.
 *
 * The state itself is a checkpoint: a folder of files that the state machine wrote. The manifest
 * names the folder, lists the files with their sizes and checksums, and has the log index of the
 * snapshot. The same bytes are a file beside the checkpoint and what Raft sends to a member that is
 * too far behind. The bytes are described in docs/formats/manifest.md.
 *
 * Pure: encodes into memory, and decodes untrusted bytes.
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
    struct str name; /* path inside the checkpoint's folder, with "/" as separator */
    uint64_t size;
    uint32_t crc; /* crc32c of the file */
};

struct manifest {
    uint64_t index;         /* the checkpoint covers at least the entries up to this index */
    uint64_t term;          /* of the entry at index */
    struct str checkpoint;  /* its id, which is the name of its folder */
    struct str members;     /* members of the group at index (members.h) */
    uint64_t members_index; /* index of the entry that set these members */
    const struct manifest_file *file; /* sorted by name */
    size_t file_count;
};

/* Append the encoded manifest to out, which has a limit of MANIFEST_BYTES_MAX. The manifest must
 * be one that manifest_decode accepts. */
void manifest_encode(const struct manifest *m, struct buf *out);

/* Names are views of the bytes; the list of files is in the arena. ERR_CORRUPT for anything that
 * manifest_encode could not have written. */
ATTR_NODISCARD enum err_code manifest_decode(struct str bytes, struct arena *arena,
                                             struct manifest *out, struct err *err);

/* An id is the name of a folder: letters, digits and dashes. */
bool manifest_id_is_valid(struct str id);
