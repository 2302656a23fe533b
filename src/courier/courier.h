/*
 * Courier: decides which outgoing call may start next.
 *
 * Calls to other machines share a limited number of slots. A host that hangs would take all of
 * them, each for the duration of a time-out. There are therefore two lanes:
 *
 *   fast   calls to hosts that respond
 *   slow   calls to other hosts, and calls that have taken a long time
 *
 * A host that is new, or whose last call timed out, gets few slots until it responds. When all of
 * them have lasted long, it gets one more at a time, as long as half of the slow lane is free for
 * others: one of the calls that wait may be answered although those before it are not. A call that
 * times out says nothing of a host that has answered another one meanwhile.
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
    uint32_t calls_max; /* under way at once, in both lanes */
    uint32_t fast_max, slow_max;
    uint32_t host_max; /* to one host; those that answer get so many */
    uint32_t new_max;  /* at first to one of which nothing is known, half as many of them younger
                          than slow_ms */
    uint32_t hung_max; /* at first to one that let a call's time pass, until it answers */
    uint64_t slow_ms;  /* a call that lasts longer is in the slow lane */
};

struct courier_config courier_config_default(void);

struct courier *courier_new(const struct courier_config *config);
void courier_free(struct courier *c); /* without lines */

struct courier_queue {
    struct courier_line *first, **last;
};

/* The caller's memory. */
struct courier_line {
    void (*ready)(struct courier_line *l); /* there may be a place. It may begin calls */
    /* private */
    struct courier *courier;
    struct courier_host *host;
    struct courier_queue *waits_in; /* NULL: it does not wait */
    struct courier_line *next;
    const struct courier_queue *turn_in; /* where it comes before others now; NULL: nowhere */
};

/* The line is of the host that the address names. */
void courier_line_init(struct courier_line *l, struct courier *c, struct str url,
                       void (*ready)(struct courier_line *l));
/* The address has changed, or not. Calls under way stay where they are. */
void courier_line_move(struct courier_line *l, struct str url);
void courier_line_deinit(struct courier_line *l); /* without calls; fine on zeros */

/* One call, the caller's memory, between begin and end. */
struct courier_call {
    struct courier *courier;
    struct courier_host *host;
    uint64_t begun_ms;
    uint64_t answers; /* of the host when it began */
    bool slow, old;
    struct courier_call *younger, *older;
};

/* Take a place. False: there is none, and the line waits. */
ATTR_NODISCARD bool courier_begin(struct courier_line *l, struct courier_call *call,
                                  uint64_t now_ms);

enum courier_end {
    COURIER_ANSWERED, /* or refused: it ended by itself */
    COURIER_HUNG,     /* its time was over */
    COURIER_BROKEN    /* off by us: says nothing of the host */
};
/* Give the place back. Lines that waited for it are told from inside. */
void courier_end(struct courier_call *call, enum courier_end how);

/* Time has passed: calls that have become old free their places in the fast lane. */
void courier_turn(struct courier *c, uint64_t now_ms);
/* When to call that next; UINT64_MAX: no need. */
uint64_t courier_due_ms(const struct courier *c);

struct courier_numbers {
    uint32_t calls; /* under way… */
    uint32_t slow;  /* …of them in the slow lane */
    uint32_t hosts_hung;
    uint32_t lines_waiting;
};
struct courier_numbers courier_numbers(const struct courier *c);
