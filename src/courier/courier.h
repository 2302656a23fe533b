/*
 * Courier: decides which outgoing call may start next.
 *
 * Calls to other machines share a limited number of slots. A host that hangs would take all of
 * them, each for the duration of a timeout. There are therefore two lanes:
 *
 *   fast   calls to hosts that respond
 *   slow   calls to other hosts, and calls that have taken a long time
 *
 * A host that is new, or whose last call timed out, gets few slots until it responds. When all its
 * calls have become slow, it gets one more at a time, as long as half of the slow lane is free: a
 * later call may be answered although the earlier ones hang. A timeout is not counted against a
 * host that has answered another call since that call began.
 *
 * A line (one user of a host, with its own calls to make) that finds no slot waits, first come,
 * first served, and is notified when there may be one.
 *
 * Nothing here sends, sleeps or reads a clock: times are passed in. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

struct courier;
struct courier_host;
struct courier_line;

struct courier_config {
    uint32_t calls_max; /* concurrent calls, in both lanes */
    uint32_t fast_max, slow_max;
    uint32_t host_max; /* to one host that responds */
    uint32_t new_max;  /* initially to a new host; half of them to calls younger than slow_ms */
    uint32_t hung_max; /* initially to a host whose last call timed out, until it responds */
    uint64_t slow_ms;  /* calls that last longer are in the slow lane */
};

struct courier_config courier_config_default(void);

struct courier *courier_new(const struct courier_config *config);
void courier_free(struct courier *c); /* call without lines */

struct courier_queue {
    struct courier_line *first, **last;
};

/* Owned by the caller. */
struct courier_line {
    void (*ready)(struct courier_line *l); /* there may be a slot: l may begin calls */
    /* private */
    struct courier *courier;
    struct courier_host *host;
    struct courier_queue *waits_in; /* NULL: not waiting */
    struct courier_line *next;
    const struct courier_queue *turn_in; /* during ready: the queue it may bypass */
};

/* Initialize a line for the host of the URL. */
void courier_line_init(struct courier_line *l, struct courier *c, struct str url,
                       void (*ready)(struct courier_line *l));
/* Switch to the host of the URL, if it differs. Calls in progress still count for the old host. */
void courier_line_move(struct courier_line *l, struct str url);
/* Call without calls in progress. Zeros are allowed. */
void courier_line_deinit(struct courier_line *l);

/* One call. Owned by the caller; must remain valid from courier_begin to courier_end. */
struct courier_call {
    struct courier *courier;
    struct courier_host *host;
    uint64_t begun_ms;
    uint64_t answers; /* the host's answer_count when it began */
    bool slow, old;
    struct courier_call *younger, *older;
};

/* Take a slot. False: there is none, and the line waits. */
ATTR_NODISCARD bool courier_begin(struct courier_line *l, struct courier_call *call,
                                  uint64_t now_ms);

enum courier_end {
    COURIER_ANSWERED, /* a response, or an error before the timeout */
    COURIER_HUNG,     /* timed out */
    COURIER_BROKEN    /* aborted by the caller: says nothing about the host */
};
/* Release the slot. Calls ready of lines that waited for it. */
void courier_end(struct courier_call *call, enum courier_end how);

/* Move the calls that have become slow to the slow lane, which frees slots in the fast lane. */
void courier_turn(struct courier *c, uint64_t now_ms);
/* When to call courier_turn next; UINT64_MAX: not needed. */
uint64_t courier_due_ms(const struct courier *c);

struct courier_numbers {
    uint32_t calls; /* in progress… */
    uint32_t slow;  /* …of them in the slow lane */
    uint32_t hosts_hung;
    uint32_t lines_waiting;
};
struct courier_numbers courier_numbers(const struct courier *c);
