/*
 * Cli_beat: the heartbeats of a worker, for all its slots together.
 *
 * At most one heartbeat is in progress. It renews the leases, sends what the programs have
 * reported, and returns which jobs were cancelled. Heartbeats are sent at an interval, and soon
 * after a report. If one fails, the next one contains its reports again. If the server refuses a
 * heartbeat because of its reports, it renews no lease. The reports are then sent one per
 * heartbeat, until the refused one is found and dropped.
 *
 * After each wait the owner calls cli_beat_turn, and before the next wait cli_beat_start_due.
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
    bool failed;         /* the last heartbeat failed: reports do not bring the next one forward */
    bool one_report;     /* send one report per heartbeat, because one of several was refused */
    size_t report_count; /* in the current heartbeat */
    size_t first;        /* slot with which the next heartbeat starts */
    struct mono at;      /* time of the next heartbeat if there are no reports */
    struct mono last;
};

void cli_beat_init(struct cli_beat *b, struct cli *cli, int64_t interval_ms, struct cli_slot *slots,
                   size_t slot_count);
void cli_beat_deinit(struct cli_beat *b); /* call it before the slots are freed */

/* Check whether the heartbeat was answered. */
void cli_beat_turn(struct cli_beat *b);

/* Send a heartbeat if one is due. */
void cli_beat_start_due(struct cli_beat *b);

/* Time of the next heartbeat; 0: none is due until something else happens. */
struct mono cli_beat_deadline(const struct cli_beat *b);
