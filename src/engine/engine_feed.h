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
    struct id *ids; /* whose documents, or the lack of one, are at least those at index */
    uint32_t count;
    uint64_t index;    /* with what was taken so far, the copy is complete up to here… */
    uint64_t behind;   /* …when nothing is left: ids still in the set */
    uint64_t complete; /* with what was taken so far, the copy is complete up to here in any case */
    uint64_t state_hash; /* of the state at index */
    bool replaced; /* the state was exchanged as a whole (a snapshot came): of no use any more */
    bool too_many; /* the set was given up: compare everything. Nothing else was taken */
    uint64_t jobs; /* after an exchange: documents of the new state */
    /* private */
    struct msg msg;
    struct engine_feed *feed;
    uint64_t wakes_heard;
};

/* woken is called on reply_to's loop when the set stops being empty; after a take that left some
 * behind, it is not: the subscriber goes on taking. From any thread; the feed begins with changes
 * after the call is handled, which is before it returns. */
struct engine_feed *engine_feed_open(struct engine *e, struct mailbox *reply_to,
                                     void (*woken)(void *data), void *data);
/* The last entry before the feed began, and of the state then its hash and how many documents it
 * had. */
void engine_feed_begin(const struct engine_feed *f, uint64_t *out_index, uint64_t *out_hash,
                       uint64_t *out_jobs);
/* The last entry that changed a job, or the one before the feed began: a copy that is complete up
 * to there shows everything that was answered before the call. Any thread. */
uint64_t engine_feed_newest(const struct engine_feed *f);
/* How many ids are in the set, or were taken and are not said to be in the copy. Any thread. */
uint64_t engine_feed_waiting(const struct engine_feed *f);
/* From the thread of reply_to: what was taken is in the copy. For the number above only. */
void engine_feed_copied(struct engine_feed *f);
/* From the thread of reply_to, told or not; one at a time. */
void engine_feed_take(struct engine_feed *f, struct engine_take *t);
void engine_take_deinit(struct engine_take *t);
/* From the thread of reply_to, with no take under way. Waits for the core thread; woken does not
 * come after it returned. */
void engine_feed_close(struct engine_feed *f);
