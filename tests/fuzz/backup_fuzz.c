/*
 * Fuzz: backups from any bytes. An accepted backup has no more objects than bytes, and a known
 * format. A refusal has a message. A checksum that matches no longer matches if the first byte is
 * changed.
 */
#include <stdint.h>
#include <stdlib.h>

#include "backup/backup_verify.h"
#include "base/check.h"

enum { BYTES_MAX = 1 << 20 };

/* Verify the text in pieces. The result must not depend on their size. */
static enum err_code verify_in_pieces(struct str text, size_t piece, struct backup_verify *out)
{
    struct backup_reader r;
    struct err err = {0};
    enum err_code code = ERR_OK;
    backup_reader_init(&r, BACKUP_VERIFY_TEXT_BYTES);
    backup_verify_begin(out);
    while (text.len > 0 && code == ERR_OK) {
        struct str in = str_from(text.ptr, text.len < piece ? text.len : piece);
        text = str_from_offset(text, in.len);
        enum backup_reader_event event = BACKUP_READER_LIST;
        while (event != BACKUP_READER_MORE && code == ERR_OK) {
            event = backup_reader_next(&r, &in, &err);
            code = backup_verify_event(out, &r, event, &err);
        }
    }
    code = code == ERR_OK ? backup_verify_end(out, &r, &err) : code;
    backup_reader_deinit(&r);
    return code;
}

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
    struct backup_verify cut;
    enum err_code code = verify_in_pieces(str_from(text, size), 1 + data[0] % 7, &cut);
    CHECK(code == backup_verify_text(str_from(text, size), &v, &err));
    CHECK(code != ERR_OK || (v.jobs == cut.jobs && v.checksum_fits == cut.checksum_fits));
    if (backup_verify_text(str_from(text, size), &v, &err) != ERR_OK) {
        CHECK(err.code == ERR_PARSE || err.code == ERR_VALIDATION);
        CHECK(err.msg[0] != '\0');
    } else {
        CHECK(v.format >= 1 && v.format <= BACKUP_VERIFY_FORMAT);
        CHECK(v.jobs + v.queues + v.schedules + v.batches <= size);
        CHECK(v.has_checksum || !v.checksum_fits);
        if (v.checksum_fits) {
            text[0] = text[0] == ' ' ? '\t' : ' '; /* may still be JSON */
            CHECK(backup_verify_text(str_from(text, size), &v, &err) != ERR_OK || !v.checksum_fits);
        }
    }
    free(text);
    return 0;
}
