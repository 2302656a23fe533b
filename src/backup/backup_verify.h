/*
 * Backup_verify: checks that a backup is complete and unchanged.
 *
 * A backup is one JSON object (docs/operations.md). Its last member, meta, has the number of the
 * format and a checksum of every byte before the member, which detects a file that was cut off,
 * damaged or edited. Pure: no files, no server. The bytes may arrive in pieces (backup_reader.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backup/backup_reader.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum {
    BACKUP_VERIFY_FORMAT = 2,
    BACKUP_VERIFY_CHECKSUM_BYTES = 15,
    BACKUP_VERIFY_TEXT_BYTES = 128 << 20, /* one job with its rows, or another element */
    BACKUP_VERIFY_NAMESPACE_BYTES = 255   /* longer than any namespace */
};

struct backup_verify {
    int64_t format; /* 1 if the backup does not have it */
    bool has_checksum;
    bool checksum_fits;
    bool has_jobs;
    uint64_t jobs, queues, schedules, batches;
    size_t ns_len; /* without the quotes, not decoded; truncated */
    char ns[BACKUP_VERIFY_NAMESPACE_BYTES];
    uint64_t *counter; /* of the current list; NULL: not counted */
};

/* For input in pieces: begin, every event of the reader, end. ERR_PARSE if the text is not JSON,
 * ERR_VALIDATION if it is not a backup or has a later format, ERR_TOO_LARGE if an element is larger
 * than BACKUP_VERIFY_TEXT_BYTES. A wrong checksum is not an error here: see v->checksum_fits. */
void backup_verify_begin(struct backup_verify *v);
ATTR_NODISCARD enum err_code backup_verify_event(struct backup_verify *v,
                                                 const struct backup_reader *r,
                                                 enum backup_reader_event event, struct err *err);
ATTR_NODISCARD enum err_code backup_verify_end(const struct backup_verify *v,
                                               const struct backup_reader *r, struct err *err);

/* The same for a text that is complete in memory. */
ATTR_NODISCARD enum err_code backup_verify_text(struct str text, struct backup_verify *out,
                                                struct err *err);

static inline struct str backup_verify_namespace(const struct backup_verify *v)
{
    return str_from(v->ns, v->ns_len);
}

/* Format the checksum: "crc32c:" and eight digits. */
void backup_verify_checksum(uint32_t crc, char out[BACKUP_VERIFY_CHECKSUM_BYTES]);
