/*
 * Sim_torn: what a crash leaves of a write, byte by byte.
 *
 * The simulated disk stores entries. Here they are encoded as a segment by the code of raftlog/,
 * and only some sectors of it reach the disk. The scan of raftlog/ then decides which entries are
 * left.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "lib/sim_disk.h"
#include "raftlog/segment.h"

enum { SECTOR = 512 };

static const struct segment_id id = {.key = 0x5eed, .generation = 7};

/* Append the batch to the image, as one write does, and clear it. */
static void write_batch(struct segment_batch *b, char *image, size_t *at)
{
    for (unsigned i = 0; i < b->iov_count; i++) {
        if (b->iov[i].iov_len > 0) {
            memcpy(image + *at, b->iov[i].iov_base, b->iov[i].iov_len);
            *at += b->iov[i].iov_len;
        }
    }
    segment_batch_clear(b);
}

/* The segment as if all writes had been complete. */
static char *image_new(raft_index first, const struct raft_entry *entries, unsigned n, size_t *out)
{
    struct segment_batch *b = malloc(sizeof *b);
    size_t len = SEGMENT_HEADER_BYTES;
    for (unsigned i = 0; i < n; i++) {
        len += segment_record_bytes(entries[i].buf.len);
    }
    char *image = malloc(len);
    size_t at = 0;
    CHECK(b != NULL && image != NULL);
    segment_batch_clear(b);
    segment_batch_begin(b, id, first, len);
    for (unsigned i = 0; i < n; i++) {
        const struct segment_record r = {.type = (enum segment_type)entries[i].type,
                                         .index = first + i,
                                         .term = entries[i].term,
                                         .payload =
                                             str_from(entries[i].buf.base, entries[i].buf.len),
                                         .flushed = SEGMENT_HEADER_BYTES};
        if (segment_batch_full(b)) {
            write_batch(b, image, &at);
        }
        segment_batch_add(b, segment_seed(id), &r);
    }
    write_batch(b, image, &at);
    CHECK(at == len);
    free(b);
    *out = len;
    return image;
}

/* Tear the image. The file contained zeros, and the header was written before. Sectors can be
 * written in any order. */
static void tear(struct rng *rng, char *image, size_t len)
{
    size_t cut = SEGMENT_HEADER_BYTES + (size_t)rng_below(rng, len - SEGMENT_HEADER_BYTES + 1);
    bool in_order = rng_below(rng, 2) == 0;
    for (size_t at = cut; at < len; at = (at / SECTOR + 1) * SECTOR) {
        size_t end = (at / SECTOR + 1) * SECTOR < len ? (at / SECTOR + 1) * SECTOR : len;
        if (in_order || at == cut || rng_below(rng, 2) == 0) {
            memset(image + at, 0, end - at);
        }
    }
}

unsigned sim_torn(struct rng *rng, raft_index first, const struct raft_entry *entries, unsigned n,
                  struct raft_entry *damaged)
{
    struct segment_scan scan;
    struct segment_record r;
    size_t len = 0;
    unsigned kept = 0;
    char *image = image_new(first, entries, n, &len);
    tear(rng, image, len);
    CHECK(segment_scan_begin(&scan, str_from(image, len), id));
    while (segment_scan_next(&scan, &r)) {
        CHECK(r.index == first + kept && r.term == entries[kept].term);
        CHECK(str_eq(r.payload, str_from(entries[kept].buf.base, entries[kept].buf.len)));
        kept++;
    }
    if (damaged != NULL && kept < n && entries[kept].type == RAFT_COMMAND) {
        *damaged = entries[kept];
        damaged->buf.base = raft_malloc(damaged->buf.len + 1);
        CHECK(damaged->buf.base != NULL);
        memcpy(damaged->buf.base, image + scan.at + SEGMENT_RECORD_BYTES, damaged->buf.len);
    }
    free(image);
    return kept;
}
