/*
 * Result: the result of a command.
 *
 * The machine creates one for each command while it applies an entry; it is valid until the next
 * entry. To reach another thread, it is encoded and decoded there. These bytes are never stored and
 * may change in any version. The stored results of named commands (operations.c) start with the
 * same numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/unpack.h"
#include "core/job.h"
#include "fsm/command/command.h"

enum result_status {
    RESULT_PENDING,   /* enqueue: in line */
    RESULT_SCHEDULED, /* enqueue: waits for its time */
    RESULT_DUPLICATE, /* enqueue: the id is that of the job that holds the key */
    RESULT_OK,        /* heartbeat: lease renewed */
    RESULT_CANCEL,    /* heartbeat: stop working on it */
    RESULT_UNKNOWN,   /* heartbeat: no such job; stop as well */
    RESULT_NO_BYTES,  /* named_put: it would be too much for its queue; order: what that holds */
    RESULT_NO_PLACE,  /* named_put: the same of the number of jobs */
    RESULT_STATUS_COUNT
};

struct result_item {
    struct id id;
    enum result_status status;
    struct str doc;       /* claim: the job's document */
    bool doc_left_out;    /* named_put: it made a document, which nobody needs. Not encoded */
    uint64_t order;       /* claim: where it stood before */
    bool budget_exceeded; /* heartbeat: by what was reported */
};

struct result {
    enum err_code code;
    struct str message; /* when code or next_code is not ERR_OK */

    struct result_item *items; /* enqueue, claim, heartbeat: in the order of the command; ack: what
                                  its next has claimed */
    uint32_t count;
    struct id id; /* enqueue: the batch; replay: the new job; schedule_fire: the new job, or the
                     one that holds its key; batch_seal: the callback's job, if it was made;
                     others: what was made */
    uint32_t affected;       /* ack, jobs, queue, tick, purge, schedule_fire: how many jobs changed;
                                claim: how many budgets made it hold */
    enum err_code next_code; /* ack: why nothing could be claimed, though it was acknowledged */
    uint32_t missing;        /* jobs: how many ids did not exist */
    enum job_state state;    /* fail: where it went; jobs, with one id: where it came from */
    uint32_t attempt;        /* fail; restore: webhooks, policies and budgets above their limits */
    uint32_t remaining;      /* fail; restore: schedules whose names others have */
    struct wall at; /* fail: when the next attempt is due; heartbeat: when the leases end */
    uint64_t cost;  /* bytes that it read and wrote. Not encoded */
    bool postponed; /* the entry had no room: nothing has happened, ask again. Not encoded */
    uint32_t done;  /* with more, of ack, heartbeat, jobs, return: so many of its items */
    bool more;      /* queue, tick, purge, claim, ack, heartbeat, jobs: not done, ask again with: */
    struct id cursor;
    struct id until;
    bool in_done;
};

/* What several steps of one command came to: the numbers and items of the step are added to those
 * of sum; everything else is the step's. */
void result_join(struct result *sum, const struct result *step, struct arena *a);

/* Everything but the code, the message and the items. The second is false when they are not sound.
 */
void result_pack_numbers(const struct result *r, struct buf *out);
ATTR_NODISCARD bool result_unpack_numbers(struct unpack *u, struct result *out);

void result_encode(const struct result *r, struct buf *out);
ATTR_NODISCARD bool result_decode(struct str bytes, struct arena *a, struct result *out);
