/*
 * Backup_verify: is this text a whole backup, as it was written?
 *
 * A backup is one JSON object (docs/operations.md). Its last member, meta, has the number of the
 * format and a checksum over every byte in front of the member, so that a file that was cut,
 * damaged or edited is told from one that was not. Pure: no files, no server.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { BACKUP_VERIFY_FORMAT = 2, BACKUP_VERIFY_CHECKSUM_BYTES = 15 };

struct backup_verify {
    int64_t format; /* 1 when nothing is said */
    bool has_checksum;
    bool checksum_fits;
    uint64_t jobs, queues, schedules, batches;
    struct str ns; /* as it is written, without the quotes; a view of the text */
};

/* ERR_PARSE when the text is not JSON, ERR_VALIDATION when it is not a backup or of a later format.
 * A checksum that does not fit is not an error here: out says so. */
ATTR_NODISCARD enum err_code backup_verify_text(struct str text, struct backup_verify *out,
                                                struct err *err);

/* "crc32c:" and eight digits. */
void backup_verify_checksum(uint32_t crc, char out[BACKUP_VERIFY_CHECKSUM_BYTES]);
