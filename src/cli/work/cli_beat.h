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

enum { CLI_BEAT_MS_MIN = 500 }; /* between heartbeats that a report asks for; also --heartbeat */

struct cli_beat {
    struct cli *cli;
    struct cli_slot *slots; /* the owner's */
    size_t slot_count;
    int64_t interval_ms;
    struct outgoing_wait_call call;
    struct arena *arena; /* of the call */
    bool under_way;
    bool failed;         /* the last one did: reports do not make the next one come sooner */
    bool one_report;     /* no more in one heartbeat: one of several was refused */
    size_t report_count; /* in the one under way */
    size_t first;        /* slot of the next one */
    struct mono at;      /* the next one, without reports */
    struct mono last;
};

/* The interval is that of the flag --heartbeat. */
void cli_beat_init(struct cli_beat *b, struct cli *cli, struct cli_slot *slots, size_t slot_count);
void cli_beat_deinit(struct cli_beat *b); /* before the slots */

/* Look whether it was answered. */
void cli_beat_turn(struct cli_beat *b);

/* Send one when it is time. */
void cli_beat_start_due(struct cli_beat *b);

/* When that is; 0: not before something else happens. */
struct mono cli_beat_deadline(const struct cli_beat *b);
