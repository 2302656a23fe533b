/*
 * Live_index: the in-memory record of each job that has not ended.
 *
 * Records are small, found by id, and linked into their queue's line and into the heaps of due
 * times. They are rebuilt from the live documents at start and never written. Records never move,
 * and are numbered, so that a link takes 32 bits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/id.h"
#include "core/job.h"

#define LIVE_NONE UINT32_MAX

struct live_job {
    struct id id;
    uint32_t number;     /* of this record, for links */
    uint32_t queue;      /* number of its queue */
    uint32_t next, prev; /* in its line, LIVE_NONE at the ends */
    uint8_t state;       /* enum job_state */
    uint8_t priority;
    bool in_line : 1;   /* in the line of waiting jobs or of active jobs, by its state */
    bool timed_out : 1; /* waits to be retried because its last attempt was lost */
    bool again : 1;     /* pending after a failed attempt */
    bool recurring : 1;
    uint32_t push_line;      /* waiting for delivery: number of its push line + 1; else 0 */
    uint32_t payload_bytes;  /* counted for its namespace */
    uint32_t counted_bytes;  /* named job: bytes of its queue's capacity; else 0 */
    struct heap_node due;    /* when it is promoted, reclaimed or timed out */
    struct heap_node expiry; /* when it expires */
};

/* A slot of the hash table. It contains part of the hash, so that a search can skip the slots of
 * other ids without reading their records. */
struct live_slot {
    uint32_t number; /* LIVE_NONE: empty */
    uint32_t hash;   /* low half */
};

enum { LIVE_INDEX_BITS = 8, LIVE_INDEX_TABLES = 1 << LIVE_INDEX_BITS };

struct live_index {
    struct live_job **chunks;
    uint32_t chunk_count;
    uint32_t used;       /* numbers assigned so far */
    uint32_t free_first; /* list through next */
    uint32_t count;
    /* one table for each value of the top bits of the hash; each grows separately */
    struct live_slot *slots[LIVE_INDEX_TABLES];
    uint32_t slot_count[LIVE_INDEX_TABLES];
    uint32_t slot_used[LIVE_INDEX_TABLES];
};

void live_index_init(struct live_index *t);
void live_index_deinit(struct live_index *t);

/* NULL if there is none. */
struct live_job *live_index_find(const struct live_index *t, struct id id);

/* Add a record for an id that has none. Everything except the id and the number is zero. */
struct live_job *live_index_add(struct live_index *t, struct id id);

/* Remove a record. It must not be in any line or heap. */
void live_index_remove(struct live_index *t, struct live_job *l);

struct live_job *live_index_at(const struct live_index *t, uint32_t number);

/* Memory allocated for the index, used or not. */
uint64_t live_index_bytes(const struct live_index *t);

/* Order of two records by id, for heaps. */
bool live_index_due_before(const struct heap_node *a, const struct heap_node *b);
bool live_index_expiry_before(const struct heap_node *a, const struct heap_node *b);
uint64_t live_index_due_rank(const struct heap_node *n);
uint64_t live_index_expiry_rank(const struct heap_node *n);

/* A list of jobs. For waiting jobs the order is the order of service. */
struct live_line {
    uint32_t first, last;
    uint32_t count;
};

static inline struct live_line live_line_empty(void)
{
    return (struct live_line){.first = LIVE_NONE, .last = LIVE_NONE};
}

void live_index_line_add(const struct live_index *t, struct live_line *line, struct live_job *l);
/* Insert l before `next`, which is in the line. */
void live_index_line_insert(const struct live_index *t, struct live_line *line, struct live_job *l,
                            struct live_job *next);
void live_index_line_remove(const struct live_index *t, struct live_line *line, struct live_job *l);
