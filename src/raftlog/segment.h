/*
 * Segment: the bytes of one log file. Pure: it encodes into memory and reads memory.
 *
 * A segment is a header and then records, each on a multiple of 8 bytes and each with a checksum.
 * Files are used again and again, so behind the last record there may be records from an earlier
 * life of the same file. They cannot be mistaken: the checksum of every record starts from the
 * segment's generation, a number that no other segment of the log ever had or will have. It also
 * starts from the key of the log, which is random: payloads come from strangers, and what is left
 * of one behind the last record must not look like a record because somebody wrote it so.
 *
 * A segment is only ever appended to. What Raft takes back is taken back by a record too: TRUNCATE
 * removes the entries from an index on, RESET all of them. SEAL is the last record of a segment
 * that another one follows, and names it, so that the next one cannot be lost unnoticed.
 *
 * Every record also says how far the segment was known to be on disk when it was written. That
 * tells a torn tail, which nobody was promised, from damage to something that was: see
 * segment_find. The format is described in docs/formats/raft-log.md.
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
    SEGMENT_RECORD_BYTES = 32, /* in front of each payload */
    SEGMENT_SEAL_BYTES = SEGMENT_RECORD_BYTES,
    SEGMENT_ALIGN = 8,
    SEGMENT_VERSION = 1,
    SEGMENT_PAYLOAD_BYTES_MAX = 1 << 30,
};

/* The first three are Raft's own numbers, checked where both are known. */
enum segment_type {
    SEGMENT_COMMAND = 1,
    SEGMENT_BARRIER = 2,
    SEGMENT_CHANGE = 3,
    SEGMENT_TRUNCATE = 16, /* the entries from index on are void */
    SEGMENT_RESET = 17,    /* all entries are void; the next one has this index */
    SEGMENT_SEAL = 18,     /* the log goes on in the segment of this generation */
};

struct segment_record {
    enum segment_type type;
    uint64_t index; /* for SEAL, the generation */
    uint64_t term;  /* 0 for TRUNCATE, RESET and SEAL */
    struct str payload;
    uint64_t flushed; /* the segment was on disk up to this offset when the record was written */
};

/* What a record takes up in the file. */
static inline uint64_t segment_record_bytes(size_t payload_len)
{
    return SEGMENT_RECORD_BYTES +
           ((uint64_t)payload_len + SEGMENT_ALIGN - 1) / SEGMENT_ALIGN * SEGMENT_ALIGN;
}

/* Which segment it is. */
struct segment_id {
    uint64_t key; /* of the log */
    uint64_t generation;
};

/* Where the checksums of a segment start from. For one key it is another for each generation below
 * 2 to the 32. */
uint32_t segment_seed(struct segment_id id);

/*
 * A batch: records on their way into a file, as a list for one write. Payloads are not copied and
 * must stay where they are until the batch is cleared.
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

/* Begin a segment: its header, into an empty batch. first_index is what the next entry has;
 * file_bytes is the size of the file, which never gets smaller. */
void segment_batch_begin(struct segment_batch *b, struct segment_id id, uint64_t first_index,
                         uint64_t file_bytes);

/* Add a record to a batch that is not full. */
void segment_batch_add(struct segment_batch *b, uint32_t seed, const struct segment_record *r);

/* Why a scan went no further. */
enum segment_stop {
    SEGMENT_GOING,         /* it has not stopped */
    SEGMENT_NOT_BEGUN,     /* no header of this generation */
    SEGMENT_OTHER_VERSION, /* a header of this generation in a format that came later */
    SEGMENT_OTHER_LOG,     /* a header of this generation with another key */
    SEGMENT_FULL,          /* no room for another record */
    SEGMENT_CUT,           /* the same, in a file that was larger when the segment began */
    SEGMENT_BLANK,         /* zeros, as in a segment that was never full */
    SEGMENT_BAD_FIELDS,    /* what stands there is not a record's header */
    SEGMENT_BAD_CHECKSUM,  /* it looks like one, but the bytes are others */
    SEGMENT_STOP_COUNT,
};

const char *segment_stop_text(enum segment_stop stop);

struct segment_scan {
    struct str image;
    uint32_t seed;
    uint64_t first_index; /* of the header; 0 when not begun */
    uint64_t file_bytes;  /* of the header; 0 when it does not say */
    size_t at;            /* the end of what was valid so far */
    enum segment_stop stop;
    uint64_t find_bytes; /* how much segment_find may still look at */
};

/* Look at the image of a segment. False when it has not begun, which means that nothing, or only
 * something that was torn, was ever written to it in this generation; and when it has another
 * version or belongs to another log. s->stop says which. */
bool segment_scan_begin(struct segment_scan *s, struct str image, struct segment_id id);

/* The key in the header of a segment of any generation; false when there is no valid header. */
ATTR_NODISCARD bool segment_key(struct str image, uint64_t *out_key);

/* The next valid record; false at the end of them, and s->stop says why. The payload is a view. */
ATTR_NODISCARD bool segment_scan_next(struct segment_scan *s, struct segment_record *out);

/* The first valid record of this generation at or behind an offset, wherever it stands; the offset
 * moves behind it. To be asked from s->at on, when the scan is over: a record found there whose
 * flushed is greater than s->at proves that the bytes at s->at were once promised and are now
 * damaged. Any other one is a leftover of the write that was torn. A payload may be made of what
 * looks like records, so the work is bounded by a few times the size of the image. */
ATTR_NODISCARD bool segment_find(struct segment_scan *s, size_t *offset,
                                 struct segment_record *out);
