/*
 * Engine_feed: changed jobs, for components that keep a copy of the documents.
 *
 * A feed is a set of ids of changed documents, in log order. The subscriber takes some of them and
 * reads the newest documents itself, off the core thread. A job is in the set once, however often
 * it changed.
 *
 * Nothing is dropped silently. If the set becomes too large, it is discarded as a whole, and the
 * next take reports that all documents must be compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "loop/mailbox.h"

struct engine;
struct engine_feed;

struct engine_take {
    /* set by the caller */
    uint32_t max;
    void (*done)(struct engine_take *t); /* on the loop of the feed's reply_to */
    void *data;
    /* result: lives until engine_take_deinit */
    struct id *ids; /* read their documents now; they are at least as new as index */
    uint32_t count;
    uint64_t index;      /* if behind is 0: everything taken makes the copy complete up to here */
    uint64_t behind;     /* ids still in the set */
    uint64_t complete;   /* everything taken makes the copy complete up to here in any case */
    uint64_t state_hash; /* of the state at index */
    bool replaced; /* the whole state was replaced by a snapshot: the feed can no longer be used */
    bool too_many; /* the set was discarded: compare all documents. No ids were taken */
    uint64_t jobs; /* after a replacement: number of documents of the new state */
    /* private */
    struct msg msg;
    struct engine_feed *feed;
    uint64_t wakes_heard;
};

/* woken is called on the loop of reply_to when the set is no longer empty. It is not called if a
 * take leaves ids behind: the subscriber must continue to take. The feed contains the changes after
 * this call. Any thread. */
struct engine_feed *engine_feed_open(struct engine *e, struct mailbox *reply_to,
                                     void (*woken)(void *data), void *data);
/* The last entry before the feed began, and the hash and the number of documents of the state at
 * that entry. */
void engine_feed_begin(const struct engine_feed *f, uint64_t *out_index, uint64_t *out_hash,
                       uint64_t *out_jobs);
/* The last entry that changed a job, or the one before the feed began. A copy that is complete up
 * to this entry contains everything that was acknowledged before the call. Any thread. */
uint64_t engine_feed_newest(const struct engine_feed *f);
/* Number of ids that are in the set, or that were taken but not reported as copied. Any thread. */
uint64_t engine_feed_waiting(const struct engine_feed *f);
/* Report that everything taken is in the copy. Only for engine_feed_waiting. From the thread of
 * reply_to. */
void engine_feed_copied(struct engine_feed *f);
/* Take ids. One take at a time; woken need not have been called. From the thread of reply_to. */
void engine_feed_take(struct engine_feed *f, struct engine_take *t);
void engine_take_deinit(struct engine_take *t);
/* Close the feed; no take may be in progress. Waits for the core thread; woken is not called after
 * this returns. From the thread of reply_to. */
void engine_feed_close(struct engine_feed *f);
