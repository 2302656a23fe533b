/*
 * Segment: the bytes of one log file. Pure: encodes into and decodes from memory.
 *
 * A segment is a header and then records, each on a multiple of 8 bytes and each with a checksum.
 * Files are reused, so old records of the same file may follow the last record. They cannot be
 * mistaken for new ones: the checksum of every record starts from the segment's generation, a
 * number that no other segment of the log ever had or will have. It also starts from the key of the
 * log, which is random: payloads are user input, and the remains of one behind the last record must
 * not pass for a record that somebody forged.
 *
 * A segment is only ever appended to. Raft removes entries by appending a record, too: TRUNCATE
 * removes the entries from an index on, RESET all of them. SEAL is the last record of a segment
 * that is followed by another; it names the next segment, whose loss is then noticed.
 *
 * Every record also has the offset up to which the segment was known to be on disk when the record
 * was written. This distinguishes a torn tail, which was never acknowledged, from damage to
 * acknowledged records: see segment_find. The format is described in docs/formats/raft-log.md.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/attr.h"
#include "base/str.h"

enum {
    SEGMENT_HEADER_BYTES = 64,
    SEGMENT_RECORD_BYTES = 32, /* before each payload */
    SEGMENT_SEAL_BYTES = SEGMENT_RECORD_BYTES,
    SEGMENT_ALIGN = 8,
    SEGMENT_VERSION = 1,
    SEGMENT_PAYLOAD_BYTES_MAX = 1 << 30,
};

/* The first three are libraft's entry types; wal_write.c asserts that the numbers are equal. */
enum segment_type {
    SEGMENT_COMMAND = 1,
    SEGMENT_BARRIER = 2,
    SEGMENT_CHANGE = 3,
    SEGMENT_TRUNCATE = 16, /* removes the entries from index on */
    SEGMENT_RESET = 17,    /* removes all entries; the next entry has this index */
    SEGMENT_SEAL = 18,     /* the log continues in the segment of this generation */
};

struct segment_record {
    enum segment_type type;
    uint64_t index; /* for SEAL, the generation */
    uint64_t term;  /* 0 for TRUNCATE, RESET and SEAL */
    struct str payload;
    uint64_t flushed; /* the segment was on disk up to this offset when the record was written */
};

/* The size of a record in the file. */
static inline uint64_t segment_record_bytes(size_t payload_len)
{
    return SEGMENT_RECORD_BYTES +
           ((uint64_t)payload_len + SEGMENT_ALIGN - 1) / SEGMENT_ALIGN * SEGMENT_ALIGN;
}

/* Identifies a segment. */
struct segment_id {
    uint64_t key; /* of the log */
    uint64_t generation;
};

/* The start value of a segment's checksums. With one key, it is unique for each generation below
 * 2 to the 32. */
uint32_t segment_seed(struct segment_id id);

/*
 * A batch: records to be written with one call. Payloads are not copied and must stay valid until
 * the batch is cleared.
 */
enum { SEGMENT_BATCH_IOV = 1024, SEGMENT_BATCH_RECORDS = 340 };

static_assert(SEGMENT_BATCH_RECORDS * 3 + 1 <= SEGMENT_BATCH_IOV,
              "a record is its header, its payload and what fills it up");

struct segment_batch {
    uint8_t header[SEGMENT_HEADER_BYTES];
    uint8_t record[SEGMENT_BATCH_RECORDS][SEGMENT_RECORD_BYTES];
    unsigned record_count;
    struct iovec iov[SEGMENT_BATCH_IOV];
    unsigned iov_count;
    uint64_t bytes;
};

void segment_batch_clear(struct segment_batch *b);

static inline bool segment_batch_full(const struct segment_batch *b)
{
    return b->record_count == SEGMENT_BATCH_RECORDS;
}

/* Begin a segment: put its header into an empty batch. first_index is the index of the next
 * entry; file_bytes is the size of the file, which never shrinks. */
void segment_batch_begin(struct segment_batch *b, struct segment_id id, uint64_t first_index,
                         uint64_t file_bytes);

/* Add a record to a batch that is not full. */
void segment_batch_add(struct segment_batch *b, uint32_t seed, const struct segment_record *r);

/* Why a scan stopped. */
enum segment_stop {
    SEGMENT_GOING,         /* not stopped */
    SEGMENT_NOT_BEGUN,     /* no header of this generation */
    SEGMENT_OTHER_VERSION, /* a header of this generation in a later format */
    SEGMENT_OTHER_LOG,     /* a header of this generation with another key */
    SEGMENT_FULL,          /* no room for another record */
    SEGMENT_CUT,           /* same as FULL, but the file was larger when the segment began */
    SEGMENT_BLANK,         /* zeros, as in a segment that was never filled */
    SEGMENT_BAD_FIELDS,    /* invalid record header */
    SEGMENT_BAD_CHECKSUM,  /* plausible record header, wrong checksum */
    SEGMENT_STOP_COUNT,
};

const char *segment_stop_text(enum segment_stop stop);

struct segment_scan {
    struct str image;
    uint32_t seed;
    uint64_t first_index; /* from the header; 0 when not begun */
    uint64_t file_bytes;  /* from the header; 0 when unknown */
    size_t at;            /* end of the valid records so far */
    enum segment_stop stop;
    uint64_t find_bytes; /* bytes that segment_find may still read */
};

/* Scan the image of a segment. False, with the reason in s->stop, if it has another version,
 * belongs to another log, or has not begun. Not begun means that nothing, or only a torn write,
 * was ever written to it in this generation. */
bool segment_scan_begin(struct segment_scan *s, struct str image, struct segment_id id);

/* Read the key from the header of a segment of any generation; false if there is no valid
 * header. */
ATTR_NODISCARD bool segment_key(struct str image, uint64_t *out_key);

/* The next valid record; false at the end, with the reason in s->stop. The payload is a view. */
ATTR_NODISCARD bool segment_scan_next(struct segment_scan *s, struct segment_record *out);

/* The first valid record of this generation at or behind *offset, wherever it stands; the offset
 * moves behind it. Call it after the scan, starting at s->at: a record whose flushed is greater
 * than s->at proves that the bytes at s->at were once acknowledged and are now damaged. Any
 * other record is a leftover of a torn write. A payload may be made of bytes that look like
 * records, so the work is bounded by a few times the size of the image. */
ATTR_NODISCARD bool segment_find(struct segment_scan *s, size_t *offset,
                                 struct segment_record *out);
