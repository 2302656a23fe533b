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
    RESULT_SCHEDULED, /* enqueue: not due yet */
    RESULT_DUPLICATE, /* enqueue: the id is that of the job that holds the unique key */
    RESULT_OK,        /* heartbeat: lease renewed */
    RESULT_CANCEL,    /* heartbeat: the worker should stop the job */
    RESULT_UNKNOWN,   /* heartbeat: no such job; the worker should stop it too */
    RESULT_NO_BYTES,  /* named_put: the queue has too many bytes; order: its bytes */
    RESULT_NO_PLACE,  /* named_put: the queue has too many jobs; order: their number */
    RESULT_STATUS_COUNT
};

struct result_item {
    struct id id;
    enum result_status status;
    struct str doc;       /* claim: the job's document */
    bool doc_left_out;    /* named_put: the document is not returned. Not encoded */
    uint64_t order;       /* claim: previous place in line */
    bool budget_exceeded; /* heartbeat: the report exceeded a budget */
};

struct result {
    enum err_code code;
    struct str message; /* set if code or next_code is not ERR_OK */

    struct result_item *items; /* enqueue, claim, heartbeat: in the order of the command; ack: jobs
                                  claimed by next */
    uint32_t count;
    struct id id; /* enqueue: the batch; replay: the new job; schedule_fire: the new job, or the job
                     that holds its key; batch_seal: the callback job, if it exists; others: what
                     was created */
    uint32_t affected; /* ack, jobs, queue, tick, purge, schedule_fire: number of jobs changed;
                          claim: number of jobs held because of budgets */
    enum err_code next_code; /* ack: why next could claim nothing, though the ack succeeded */
    uint32_t missing;        /* jobs: number of ids that do not exist */
    enum job_state state;    /* fail: new state; jobs with one id: previous state */
    uint32_t attempt;        /* fail; restore: webhooks, policies, budgets above limits */
    uint32_t remaining;      /* fail; restore: number of schedules whose names are taken */
    struct wall at; /* fail: when the next attempt is due; heartbeat: when the leases end */
    uint64_t cost;  /* bytes read and written. Not encoded */
    bool postponed; /* the entry was full: nothing was done, submit again. Not encoded */
    uint32_t done;  /* if more: number of completed items of ack, heartbeat, jobs, return */
    bool more; /* queue, tick, purge, claim, ack, heartbeat, jobs: not complete, continue with: */
    struct id cursor;
    struct id until;
    bool in_done;
};

/* Combine the results of the steps of one command: the numbers and items of step are added to sum,
 * everything else is taken from step. */
void result_join(struct result *sum, const struct result *step, struct arena *a);

/* Everything except the code, the message and the items. Unpacking returns false if the bytes are
 * damaged. */
void result_pack_numbers(const struct result *r, struct buf *out);
ATTR_NODISCARD bool result_unpack_numbers(struct unpack *u, struct result *out);

void result_encode(const struct result *r, struct buf *out);
ATTR_NODISCARD bool result_decode(struct str bytes, struct arena *a, struct result *out);
