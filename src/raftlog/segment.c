#include "raftlog/segment.h"

#include <endian.h>
#include <string.h>

#include "base/check.h"
#include "base/crc32c.h"

/* Little-endian on disk. */
struct header {
    uint64_t magic;
    uint32_t version;
    uint32_t crc; /* over the whole header with this member zero */
    uint64_t generation;
    uint64_t first_index;
    uint64_t key;
    uint64_t file_bytes;  /* 0: unknown, as in older segments */
    uint64_t reserved[2]; /* zero */
};

struct record_header {
    uint32_t crc; /* of the rest of the header and the payload, starting from the segment's seed */
    uint32_t length;
    uint64_t index;
    uint64_t term;
    uint32_t flushed; /* in units of 8 bytes */
    uint8_t type;
    uint8_t reserved[3]; /* zero */
};

static_assert(sizeof(struct header) == SEGMENT_HEADER_BYTES, "the header is on disk");
static_assert(offsetof(struct header, crc) == 12, "the header is on disk");
static_assert(offsetof(struct header, generation) == 16, "the header is on disk");
static_assert(offsetof(struct header, first_index) == 24, "the header is on disk");
static_assert(offsetof(struct header, key) == 32, "the header is on disk");
static_assert(offsetof(struct header, file_bytes) == 40, "the header is on disk");
static_assert(sizeof(struct record_header) == SEGMENT_RECORD_BYTES, "the record is on disk");
static_assert(offsetof(struct record_header, index) == 8, "the record is on disk");
static_assert(offsetof(struct record_header, term) == 16, "the record is on disk");
static_assert(offsetof(struct record_header, flushed) == 24, "the record is on disk");
static_assert(offsetof(struct record_header, type) == 28, "the record is on disk");
static_assert(SEGMENT_HEADER_BYTES % SEGMENT_ALIGN == 0, "records are aligned");

static const char magic_text[8] = {'C', 'O', 'R', 'V', 'O', 'L', 'O', 'G'};

enum {
    CRC_BYTES = sizeof(uint32_t), /* the checksum precedes the bytes that it covers */
    BLANK_BYTES = 4096,           /* block size in which zeros are skipped */
    FIND_TIMES = 4, /* one search reads at most this many times the size of the image */
};

static uint64_t magic(void)
{
    uint64_t word;
    memcpy(&word, magic_text, sizeof word);
    return word;
}

uint32_t segment_seed(struct segment_id id)
{
    const uint64_t le[] = {htole64(id.key), htole64(id.generation)};
    return crc32c_update(0, le, sizeof le);
}

static uint32_t header_crc(struct header h)
{
    h.crc = 0;
    return crc32c_update(0, &h, sizeof h);
}

void segment_batch_clear(struct segment_batch *b)
{
    b->record_count = 0;
    b->iov_count = 0;
    b->bytes = 0;
}

static void batch_push(struct segment_batch *b, const void *bytes, size_t n)
{
    CHECK(b->iov_count < SEGMENT_BATCH_IOV);
    /* writev does not modify the bytes, but struct iovec has no const. */
    void *base = (void *)(uintptr_t)bytes;
    b->iov[b->iov_count++] = (struct iovec){.iov_base = base, .iov_len = n};
    b->bytes += n;
}

void segment_batch_begin(struct segment_batch *b, struct segment_id id, uint64_t first_index,
                         uint64_t file_bytes)
{
    CHECK(b->iov_count == 0);
    CHECK(id.generation > 0);
    CHECK(first_index > 0);
    struct header h = {.magic = magic(),
                       .version = htole32(SEGMENT_VERSION),
                       .generation = htole64(id.generation),
                       .first_index = htole64(first_index),
                       .key = htole64(id.key),
                       .file_bytes = htole64(file_bytes)};
    h.crc = htole32(header_crc(h));
    memcpy(b->header, &h, sizeof h);
    batch_push(b, b->header, sizeof h);
}

static bool type_is_entry(uint8_t type)
{
    return type >= SEGMENT_COMMAND && type <= SEGMENT_CHANGE;
}

static bool type_is_mark(uint8_t type)
{
    return type >= SEGMENT_TRUNCATE && type <= SEGMENT_SEAL;
}

void segment_batch_add(struct segment_batch *b, uint32_t seed, const struct segment_record *r)
{
    static const char zeros[SEGMENT_ALIGN];
    CHECK(!segment_batch_full(b));
    CHECK(type_is_entry((uint8_t)r->type) || type_is_mark((uint8_t)r->type));
    CHECK(r->index > 0);
    CHECK(r->payload.len <= SEGMENT_PAYLOAD_BYTES_MAX);
    CHECK(r->flushed % SEGMENT_ALIGN == 0);
    CHECK(r->flushed / SEGMENT_ALIGN <= UINT32_MAX);
    struct record_header h = {.length = htole32((uint32_t)r->payload.len),
                              .index = htole64(r->index),
                              .term = htole64(r->term),
                              .flushed = htole32((uint32_t)(r->flushed / SEGMENT_ALIGN)),
                              .type = (uint8_t)r->type};
    uint32_t crc = crc32c_update(seed, (const char *)&h + CRC_BYTES, sizeof h - CRC_BYTES);
    h.crc = htole32(crc32c_update(crc, r->payload.ptr, r->payload.len));

    uint8_t *slot = b->record[b->record_count++];
    memcpy(slot, &h, sizeof h);
    batch_push(b, slot, sizeof h);
    if (r->payload.len > 0) {
        batch_push(b, r->payload.ptr, r->payload.len);
    }
    size_t rest = (SEGMENT_ALIGN - r->payload.len % SEGMENT_ALIGN) % SEGMENT_ALIGN;
    if (rest > 0) {
        batch_push(b, zeros, rest);
    }
}

const char *segment_stop_text(enum segment_stop stop)
{
    static const char *const text[SEGMENT_STOP_COUNT] = {
        [SEGMENT_GOING] = "no damage",
        [SEGMENT_NOT_BEGUN] = "no valid header",
        [SEGMENT_OTHER_VERSION] = "a format that this program does not know",
        [SEGMENT_OTHER_LOG] = "the key of another log",
        [SEGMENT_FULL] = "the end of the file",
        [SEGMENT_CUT] = "the end of the file, which was larger",
        [SEGMENT_BLANK] = "zeros",
        [SEGMENT_BAD_FIELDS] = "no valid record",
        [SEGMENT_BAD_CHECKSUM] = "a record with a wrong checksum",
    };
    CHECK(stop < SEGMENT_STOP_COUNT);
    return text[stop];
}

static bool read_header(struct str image, struct header *out)
{
    if (image.len < sizeof *out) {
        return false;
    }
    memcpy(out, image.ptr, sizeof *out);
    return out->magic == magic() && le32toh(out->crc) == header_crc(*out) && out->first_index != 0;
}

bool segment_key(struct str image, uint64_t *out_key)
{
    struct header h;
    if (!read_header(image, &h)) {
        return false;
    }
    *out_key = le64toh(h.key);
    return true;
}

bool segment_scan_begin(struct segment_scan *s, struct str image, struct segment_id id)
{
    *s = (struct segment_scan){.image = image,
                               .seed = segment_seed(id),
                               .stop = SEGMENT_NOT_BEGUN,
                               .find_bytes = (uint64_t)image.len * FIND_TIMES};
    struct header h;
    if (!read_header(image, &h) || le64toh(h.generation) != id.generation) {
        return false;
    }
    if (le32toh(h.version) != SEGMENT_VERSION) {
        s->stop = SEGMENT_OTHER_VERSION;
        return false;
    }
    if (le64toh(h.key) != id.key) {
        s->stop = SEGMENT_OTHER_LOG;
        return false;
    }
    s->first_index = le64toh(h.first_index);
    s->file_bytes = le64toh(h.file_bytes);
    s->at = sizeof h;
    s->stop = SEGMENT_GOING;
    return true;
}

static bool fields_are_sane(const struct record_header *h, size_t at, size_t room)
{
    uint32_t length = le32toh(h->length);
    if (length > SEGMENT_PAYLOAD_BYTES_MAX || segment_record_bytes(length) > room ||
        h->index == 0 || (uint64_t)le32toh(h->flushed) * SEGMENT_ALIGN > at) {
        return false;
    }
    if (h->reserved[0] != 0 || h->reserved[1] != 0 || h->reserved[2] != 0) {
        return false;
    }
    return type_is_entry(h->type) || (type_is_mark(h->type) && length == 0 && h->term == 0);
}

/* Read the record at an offset; the result says why there is none. */
static enum segment_stop read_record(const struct segment_scan *s, size_t at,
                                     struct segment_record *out)
{
    static const struct record_header blank;
    struct record_header h;
    size_t room = s->image.len - at;
    if (room < sizeof h) {
        return SEGMENT_FULL;
    }
    const char *p = s->image.ptr + at;
    memcpy(&h, p, sizeof h);
    if (memcmp(&h, &blank, sizeof h) == 0) {
        return SEGMENT_BLANK;
    }
    if (!fields_are_sane(&h, at, room)) {
        return SEGMENT_BAD_FIELDS;
    }
    uint32_t length = le32toh(h.length);
    if (crc32c_update(s->seed, p + CRC_BYTES, sizeof h - CRC_BYTES + length) != le32toh(h.crc)) {
        return SEGMENT_BAD_CHECKSUM;
    }
    *out = (struct segment_record){.type = (enum segment_type)h.type,
                                   .index = le64toh(h.index),
                                   .term = le64toh(h.term),
                                   .payload = str_from(p + sizeof h, length),
                                   .flushed = (uint64_t)le32toh(h.flushed) * SEGMENT_ALIGN};
    return SEGMENT_GOING;
}

bool segment_scan_next(struct segment_scan *s, struct segment_record *out)
{
    if (s->stop != SEGMENT_GOING) {
        return false;
    }
    s->stop = read_record(s, s->at, out);
    if (s->stop != SEGMENT_GOING) {
        s->stop = s->image.len < s->file_bytes ? SEGMENT_CUT : s->stop;
        return false;
    }
    s->at += (size_t)segment_record_bytes(out->payload.len);
    return true;
}

static bool is_blank(const char *p, size_t n)
{
    return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Skip blocks of zeros, of which most of a searched file consists. Ends at the last offset whose
 * record header would be all zeros: a record may begin behind it. */
static size_t skip_blank(struct str image, size_t at)
{
    while (image.len - at >= BLANK_BYTES && is_blank(image.ptr + at, BLANK_BYTES)) {
        at += BLANK_BYTES - SEGMENT_RECORD_BYTES;
    }
    return at;
}

bool segment_find(struct segment_scan *s, size_t *offset, struct segment_record *out)
{
    size_t at = (*offset + SEGMENT_ALIGN - 1) / SEGMENT_ALIGN * SEGMENT_ALIGN;
    for (; at + SEGMENT_RECORD_BYTES <= s->image.len; at += SEGMENT_ALIGN) {
        enum segment_stop stop = read_record(s, at, out);
        if (stop == SEGMENT_GOING) {
            *offset = at + (size_t)segment_record_bytes(out->payload.len);
            return true;
        }
        if (stop == SEGMENT_BAD_CHECKSUM) {
            uint32_t length; /* payload length of a rejected record */
            memcpy(&length, s->image.ptr + at + offsetof(struct record_header, length),
                   sizeof length);
            uint64_t cost = SEGMENT_RECORD_BYTES + (uint64_t)le32toh(length);
            if (cost > s->find_bytes) {
                return false;
            }
            s->find_bytes -= cost;
        } else if (stop == SEGMENT_BLANK) {
            at = skip_blank(s->image, at);
        }
    }
    return false;
}
