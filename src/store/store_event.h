/*
 * Store_event: the event log, in order, with increasing event numbers.
 *
 * All events of one log entry form one block under the number of the first event, so an event costs
 * a few bytes instead of a key. The oldest blocks are removed when there are too many events or
 * they are too old. Numbers are never reused.
 */
#pragma once

#include "base/buf.h"
#include "core/job.h"
#include "store/store.h"

/* The numbers are on disk; the words are part of the contract (http-api.md 5.4). */
#define STORE_EVENT_LIST(X)                                                                        \
    X(ENQUEUED, 1, "enqueued")                                                                     \
    X(STARTED, 2, "started")                                                                       \
    X(COMPLETED, 3, "completed")                                                                   \
    X(CONTINUED, 4, "continued")                                                                   \
    X(HELD, 5, "held")                                                                             \
    X(FAILED, 6, "failed")                                                                         \
    X(RETRYING, 7, "retrying")                                                                     \
    X(DEAD, 8, "dead")                                                                             \
    X(PROGRESS, 9, "progress")                                                                     \
    X(APPROVED, 10, "approved")                                                                    \
    X(REJECTED, 11, "rejected")                                                                    \
    X(RETRIED, 12, "retried")                                                                      \
    X(CANCELLED, 13, "cancelled")                                                                  \
    X(MOVED, 14, "moved")                                                                          \
    X(DELETED, 15, "deleted")                                                                      \
    X(PRIORITY_CHANGED, 16, "priority_changed")                                                    \
    X(PROMOTED, 17, "promoted")                                                                    \
    X(RECLAIMED, 18, "reclaimed")                                                                  \
    X(EXPIRED, 19, "expired")                                                                      \
    X(QUEUE_PAUSED, 20, "queue.paused")                                                            \
    X(QUEUE_RESUMED, 21, "queue.resumed")                                                          \
    X(QUEUE_CLEARED, 22, "queue.cleared")                                                          \
    X(QUEUE_DELETED, 23, "queue.deleted")                                                          \
    X(BUDGET_EXCEEDED, 24, "budget.exceeded")

enum store_event_type {
#define STORE_EVENT_ENUM(name, number, word) STORE_EVENT_##name = (number),
    STORE_EVENT_LIST(STORE_EVENT_ENUM)
#undef STORE_EVENT_ENUM
        STORE_EVENT_TYPE_LAST = STORE_EVENT_BUDGET_EXCEEDED
};

/* One event. Which of the details are set depends on the type:
 *   started: text = worker id, attempt       failed: text = error, attempt, remaining, at
 *   held, budget.exceeded: text = reason     moved: text = from, text2 = to
 *   progress: text = JSON                    others: none */
struct store_event {
    uint64_t seq;
    struct wall at;
    enum store_event_type type;
    struct id job; /* none for events of a queue */
    struct str queue;
    struct str text, text2;
    uint32_t attempt, remaining;
    struct wall next_attempt_at;
};

const char *store_event_word(enum store_event_type type);

/* Collect the events of one entry. */
struct store_event_block {
    struct buf bytes;
    uint32_t count;
};

void store_event_block_init(struct store_event_block *b);
void store_event_block_deinit(struct store_event_block *b);
void store_event_add(struct store_event_block *b, const struct store_event *e);

/* Append the bytes of the block (docs/formats/documents.md). `at` is the time of all its events. */
void store_event_encode(const struct store_event_block *b, struct wall at, struct buf *out);

/* Write the collected events with the entry, if there are any, and empty the block. Removes the
 * oldest blocks if there are too many events. */
void store_event_write(struct store *s, struct store_event_block *b);

/* Remove committed blocks older than `before`. Returns the time of the oldest remaining block; 0 if
 * there is none. */
struct wall store_event_trim(struct store *s, struct wall before);

/* The time of the oldest committed block; 0 if there is none. */
struct wall store_event_oldest_at(struct store *s);

/* Return the number of the first committed event at or after seq, or `none`. Any thread. */
uint64_t store_event_first(struct store *s, uint64_t seq, uint64_t none);

/* Decode a block: fn is called for each event in order, until it returns false. False if the bytes
 * are not a block. */
ATTR_NODISCARD bool store_event_each(uint64_t first_seq, struct str block,
                                     bool (*fn)(void *data, const struct store_event *e),
                                     void *data);

/* Call fn for the committed events with a number above `after`, in order, until it returns false.
 * Any thread. */
void store_event_read(struct store *s, uint64_t after,
                      bool (*fn)(void *data, const struct store_event *e), void *data);
