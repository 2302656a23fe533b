/*
 * Cli_beat: the heartbeats of a worker, for all of its slots together.
 *
 * One at a time. It renews the leases, carries what the programs have reported and learns which
 * jobs were cancelled. It goes out by the clock, and soon after a report. One that fails is made
 * again with what it carried. One that the server refuses because of what it carried renews no
 * lease at all; then the reports go one by one, until the one to blame is found and dropped.
 *
 * After each wait the owner calls cli_beat_turn, and cli_beat_start_due before the next.
 */
#pragma once

#include "base/clock.h"
#include "cli/cli_int.h"
#include "cli/work/cli_slot.h"

enum {
    CLI_BEAT_MS_MIN = 500
}; /* minimum time between heartbeats, for reports and for --heartbeat */

struct cli_beat {
    struct cli *cli;
    struct cli_slot *slots; /* belong to the owner */
    size_t slot_count;
    int64_t interval_ms;
    struct outgoing_wait_call call;
    struct arena *arena; /* used for the call */
    bool under_way;
    bool failed;     /* the last heartbeat failed: reports do not make the next one come sooner */
    bool one_report; /* send one report per heartbeat, because one of several was refused */
    size_t report_count; /* in the current heartbeat */
    size_t first;        /* slot with which the next heartbeat starts */
    struct mono at;      /* time of the next heartbeat if there are no reports */
    struct mono last;
};

/* --heartbeat sets the interval. */
void cli_beat_init(struct cli_beat *b, struct cli *cli, struct cli_slot *slots, size_t slot_count);
void cli_beat_deinit(struct cli_beat *b); /* call it before the slots are freed */

/* Check whether the heartbeat was answered. */
void cli_beat_turn(struct cli_beat *b);

/* Send a heartbeat if one is due. */
void cli_beat_start_due(struct cli_beat *b);

/* Time of the next heartbeat; 0: none is due until something else happens. */
struct mono cli_beat_deadline(const struct cli_beat *b);
