/*
 * Cli_slot: one job that a program runs, from its claim until its end is reported.
 *
 *   FREE --> RUNNING --> REPORTING --> FREE
 *                 +-- cancelled --------^
 *                 +--> ACKING ----------^
 *                 |       +--> REPORTING, if the stream did not confirm the ack
 *                 +--> SAVING ---> REPORTING
 *
 * The worker (cli_work.c) owns the slots, waits for all their descriptors at once and calls
 * cli_slot_turn after each wait. The ack of a job also fetches the next one, which the owner starts
 * when the slot is free. If the owner has a stream, it acknowledges several jobs in one frame
 * (ACKING). Failures, and acks with a checkpoint, are separate requests. A failure request cannot
 * contain a checkpoint, so an unsent checkpoint is first sent in a heartbeat for this job alone
 * (SAVING). Each slot has its own arena, which is reset for each job, so a worker can run for
 * years.
 */
#pragma once

#include "base/clock.h"
#include "cli/cli_int.h"
#include "cli/work/cli_relay.h"
#include "cli/work/cli_report.h"
#include "os/os_child.h"

enum cli_slot_state {
    CLI_SLOT_FREE,
    CLI_SLOT_RUNNING,
    CLI_SLOT_ACKING,
    CLI_SLOT_SAVING,
    CLI_SLOT_REPORTING,
};

enum { CLI_SLOT_FDS = 4 };

struct cli_slot {
    struct cli *cli;
    struct cli_relay *relay; /* gets its standard error; belongs to the owner */
    enum cli_slot_state state;
    struct arena *arena;
    struct str job_id;
    int64_t lease_token; /* 0: the server gave none */
    struct os_child child;
    struct buf output;        /* its standard output */
    struct buf errors;        /* the end of its standard error */
    struct cli_report report; /* what it wrote to descriptor 3 */
    bool in_beat;             /* the current heartbeat contains this job */
    int exit_code;            /* SAVING: as returned by os_child_end */
    bool cancelled;
    bool stopped;        /* stopped by the worker: there will be another attempt */
    bool failed;         /* a failure was reported for the job */
    bool tells;          /* failures are printed */
    struct mono kill_at; /* 0: not planned */
    int64_t kill_after_ms;
    bool acks_by_frame; /* set by the owner before each turn */
    bool in_frame;      /* ACKING: in the current frame */
    struct str result;  /* ACKING: as JSON; empty: none */
    struct str
        next;  /* the fetch for an ack, as JSON, set by the owner before each turn; empty: none */
    bool asks; /* the last ack contained a fetch */
    bool unreadable;     /* its response is not a document, and may contain a job */
    struct buf next_job; /* the job that it fetched, to be started by the owner; empty: none */
    struct outgoing_wait_call call; /* SAVING: the heartbeat; REPORTING: ack or fail */
    bool called;                    /* SAVING: the call was started */
    struct mono retry_at;           /* time of the next try; 0: the call is in progress */
    struct mono leave_at;           /* time to give the report up; 0: after several tries */
    int tries;
};

void cli_slot_init(struct cli_slot *s, struct cli *cli, struct cli_relay *relay,
                   int64_t kill_after_ms);
void cli_slot_deinit(struct cli_slot *s); /* kills a running program */

/* Run the command for the job, which is a fetched document. If it cannot be started, the job
 * fails. */
void cli_slot_start(struct cli_slot *s, const char *command, struct str job);

/* Write the item of "acks" in a frame, for a job whose ack waits for it. */
void cli_slot_write_ack(struct cli_slot *s, struct json_write *w);

/* cli_slot_acked: the frame was answered and the ack is confirmed, so the slot is free.
 * cli_slot_report_ack: it is not; send a request. */
void cli_slot_acked(struct cli_slot *s);
void cli_slot_report_ack(struct cli_slot *s);

/* Stop the program with SIGTERM, and with SIGKILL after a while. The end of the job is not
 * reported. */
void cli_slot_cancel(struct cli_slot *s);
/* The same for a job that was not cancelled: its last checkpoint is saved for the next attempt. A
 * report in progress is given up after a few seconds. */
void cli_slot_stop(struct cli_slot *s);

/* The descriptors to wait for, at most CLI_SLOT_FDS. Returns their number. */
size_t cli_slot_fds(const struct cli_slot *s, struct pollfd *out);

/* Process everything that may have happened. True if the slot became free. */
bool cli_slot_turn(struct cli_slot *s);

/* When the next turn is due if no event arrives; 0: never. */
struct mono cli_slot_deadline(const struct cli_slot *s);

/* True if the program has a report for the next heartbeat. */
bool cli_slot_has_report(const struct cli_slot *s);

/* Write the member of "jobs" in a heartbeat for this slot, on request with the report of the
 * program. True if it contains a report. */
bool cli_slot_write_beat(struct cli_slot *s, struct json_write *w, bool with_report);

/* The heartbeat has ended. Call it for every slot, including those that were not in it. */
void cli_slot_beat_over(struct cli_slot *s, enum cli_report_fate fate);
