/*
 * Fuzz: log segments from any bytes. The scan stays inside the image and stops for a reason. Every
 * record that it finds encodes to the same bytes.
 *
 * The checksums would stop the fuzzer, so the image is scanned twice: unchanged, and with valid
 * checksums. The corpus is tests/golden/segment-1.bin, complete, truncated and modified, and
 * segment-1-seal.bin.
 */
#include "raftlog/segment.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/crc32c.h"

enum { HEADER_CRC_AT = 12, GENERATION_AT = 16, KEY_AT = 32, LENGTH_AT = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check that the record encodes to the bytes at the offset. */
static void check_record(const struct segment_scan *s, size_t at, const struct segment_record *r)
{
    static struct segment_batch batch;
    segment_batch_clear(&batch);
    segment_batch_add(&batch, s->seed, r);
    CHECK(at + batch.bytes <= s->image.len);
    size_t covered = SEGMENT_RECORD_BYTES + r->payload.len; /* the padding may be anything */
    for (unsigned i = 0; i < batch.iov_count && covered > 0; i++) {
        size_t n = batch.iov[i].iov_len < covered ? batch.iov[i].iov_len : covered;
        CHECK(memcmp(batch.iov[i].iov_base, s->image.ptr + at, n) == 0);
        at += n;
        covered -= n;
    }
}

static void scan(const uint8_t *data, size_t size, struct segment_id id)
{
    struct segment_scan s;
    struct segment_record r;
    bool begun = segment_scan_begin(&s, str_from(data, size), id);
    CHECK(begun == (s.stop == SEGMENT_GOING));
    size_t at = s.at;
    while (segment_scan_next(&s, &r)) {
        CHECK(at % SEGMENT_ALIGN == 0);
        CHECK(s.at > at);
        CHECK(r.flushed <= at);
        check_record(&s, at, &r);
        at = s.at;
    }
    CHECK(s.stop != SEGMENT_GOING);
    CHECK(s.at == at);
    CHECK(s.at <= size);
    CHECK(segment_stop_text(s.stop) != NULL);
    size_t offset = s.at;
    while (segment_find(&s, &offset, &r)) {
        CHECK(offset <= size);
    }
}

/* Write valid checksums, as far as the lengths lead from one record to the next. */
static void seal(uint8_t *image, size_t size, struct segment_id id)
{
    uint32_t seed = segment_seed(id);
    uint32_t crc = 0;
    memcpy(image + HEADER_CRC_AT, &crc, sizeof crc);
    crc = htole32(crc32c_update(0, image, SEGMENT_HEADER_BYTES));
    memcpy(image + HEADER_CRC_AT, &crc, sizeof crc);
    size_t at = SEGMENT_HEADER_BYTES;
    while (size - at >= SEGMENT_RECORD_BYTES) {
        uint32_t length;
        memcpy(&length, image + at + LENGTH_AT, sizeof length);
        length = le32toh(length);
        if (segment_record_bytes(length) > size - at) {
            return;
        }
        size_t covered = SEGMENT_RECORD_BYTES - sizeof crc + length;
        crc = htole32(crc32c_update(seed, image + at + sizeof crc, covered));
        memcpy(image + at, &crc, sizeof crc);
        at += (size_t)segment_record_bytes(length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct segment_id id = {.generation = 1};
    if (size >= SEGMENT_HEADER_BYTES) {
        memcpy(&id.generation, data + GENERATION_AT, sizeof id.generation);
        memcpy(&id.key, data + KEY_AT, sizeof id.key);
        id.generation = le64toh(id.generation);
        id.key = le64toh(id.key);
    }
    scan(data, size, id);
    if (size >= SEGMENT_HEADER_BYTES) {
        uint8_t *image = malloc(size);
        CHECK(image != NULL);
        memcpy(image, data, size);
        seal(image, size, id);
        scan(image, size, id);
        free(image);
    }
    return 0;
}
