/*
 * Backup_verify: is this a whole backup, as it was written?
 *
 * A backup is one JSON object (docs/operations.md). Its last member, meta, has the number of the
 * format and a checksum over every byte in front of the member, so that a file that was cut,
 * damaged or edited is told from one that was not. Pure: no files, no server. The bytes may come in
 * pieces (backup_reader.h).
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
    BACKUP_VERIFY_TEXT_BYTES = 128 << 20, /* of one job with its rows, or of another element */
    BACKUP_VERIFY_NAMESPACE_BYTES = 255   /* more than one can have */
};

struct backup_verify {
    int64_t format; /* 1 when nothing is said */
    bool has_checksum;
    bool checksum_fits;
    bool has_jobs;
    uint64_t jobs, queues, schedules, batches;
    size_t ns_len; /* as it is written, without the quotes; cut */
    char ns[BACKUP_VERIFY_NAMESPACE_BYTES];
    uint64_t *counter; /* of the list at hand; NULL: none */
};

/* In pieces: begin, every event of the reader, the end. ERR_PARSE when the text is not JSON,
 * ERR_VALIDATION when it is not a backup or of a later format, ERR_TOO_LARGE when an element has
 * more than BACKUP_VERIFY_TEXT_BYTES. A checksum that does not fit is not an error here: v says so.
 */
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

/* "crc32c:" and eight digits. */
void backup_verify_checksum(uint32_t crc, char out[BACKUP_VERIFY_CHECKSUM_BYTES]);
