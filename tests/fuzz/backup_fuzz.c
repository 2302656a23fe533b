/*
 * Backups on any bytes: what is taken for one has its lists counted within the text and a format
 * that is known; what is refused says why; and a checksum that fits no longer does when a byte in
 * front of it is another.
 */
#include <stdint.h>
#include <stdlib.h>

#include "backup/backup_verify.h"
#include "base/check.h"

enum { BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct backup_verify v;
    struct err err = {0};
    if (size == 0 || size > BYTES_MAX) {
        return 0;
    }
    char *text = malloc(size);
    CHECK(text != NULL);
    memcpy(text, data, size);
    if (backup_verify_text(str_from(text, size), &v, &err) != ERR_OK) {
        CHECK(err.code == ERR_PARSE || err.code == ERR_VALIDATION);
        CHECK(err.msg[0] != '\0');
    } else {
        CHECK(v.format >= 1 && v.format <= BACKUP_VERIFY_FORMAT);
        CHECK(v.jobs + v.queues + v.schedules + v.batches <= size);
        CHECK(v.has_checksum || !v.checksum_fits);
        if (v.checksum_fits) {
            text[0] = text[0] == ' ' ? '\t' : ' '; /* still JSON, perhaps */
            CHECK(backup_verify_text(str_from(text, size), &v, &err) != ERR_OK || !v.checksum_fits);
        }
    }
    free(text);
    return 0;
}
