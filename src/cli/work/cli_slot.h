/*
 * Cli_slot: one job in the hands of one program, from its claim until its end is reported.
 *
 *   FREE --> RUNNING --> REPORTING --> FREE
 *                 +-- cancelled --------^
 *                 +--> ACKING ----------^
 *                 |       +--> REPORTING, when the stream did not confirm it
 *                 +--> SAVING ---> REPORTING
 *
 * The worker (cli_work.c) owns the slots, waits for all of their descriptors at once and calls
 * cli_slot_turn after each wait. With the ack of a job the next one is fetched, which the owner
 * starts when the slot is free. Where the owner has a stream it acknowledges jobs itself, several
 * with one frame (ACKING); failures, and acks that have more to say, are reports. A failure has no
 * room for a checkpoint, so one that the server does not have yet is sent ahead, in a heartbeat for
 * this job alone (SAVING). A slot has an arena of its own that is emptied with each job, so that a
 * worker may run for years.
 */
#pragma once

#include "base/clock.h"
#include "cli/cli_int.h"
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
    enum cli_slot_state state;
    struct arena *arena;
    struct str job_id;
    int64_t lease_token; /* 0: the server gave none */
    struct os_child child;
    struct buf output;        /* its standard output */
    struct buf errors;        /* the end of its standard error */
    struct cli_report report; /* what it wrote to descriptor 3 */
    bool in_beat;             /* the heartbeat under way has this job */
    int exit_code;            /* SAVING: as os_child_end says */
    bool cancelled;
    bool stopped;        /* by the worker that stops: another attempt will follow */
    bool failed;         /* the job's end was reported as a failure */
    bool tells;          /* a failure is printed */
    struct mono kill_at; /* 0: nobody means to */
    int64_t kill_after_ms;
    bool acks_by_frame;  /* set by the owner before each turn */
    bool in_frame;       /* ACKING: in the frame that is under way */
    struct str result;   /* ACKING: as JSON; empty: none */
    struct str next;     /* set by the owner before each turn: what an ack fetches beside it, as
                            JSON; empty: nothing */
    bool asks;           /* the last ack did so */
    struct buf next_job; /* and got this job, for the owner to start; empty: none */
    struct outgoing_wait_call call; /* SAVING: the heartbeat; REPORTING: ack or fail */
    bool called;                    /* SAVING: it was begun */
    struct mono retry_at;           /* the call is made again then; 0: it is under way */
    int tries;
};

void cli_slot_init(struct cli_slot *s, struct cli *cli, int64_t kill_after_ms);
void cli_slot_deinit(struct cli_slot *s); /* kills what runs */

/* Run the command for the job, a fetched document. When it cannot be started the job is failed. */
void cli_slot_start(struct cli_slot *s, const char *command, struct str job);

/* Write the item of a frame's "acks" for a job whose ack waits for it. */
void cli_slot_write_ack(struct cli_slot *s, struct json_write *w);

/* The frame was answered and the ack confirmed: the slot is free. Otherwise report it. */
void cli_slot_acked(struct cli_slot *s);
void cli_slot_report_ack(struct cli_slot *s);

/* Ask the program to stop, and make it stop after a while; the job's end is not reported. */
void cli_slot_cancel(struct cli_slot *s);
/* The same of a job that was not cancelled: its last checkpoint is saved for the next attempt. */
void cli_slot_stop(struct cli_slot *s);

/* The descriptors to wait for, at most CLI_SLOT_FDS; how many. */
size_t cli_slot_fds(const struct cli_slot *s, struct pollfd *out);

/* Look at everything that may have happened. True when the slot became free by it. */
bool cli_slot_turn(struct cli_slot *s);

/* When the slot wants to be looked at without an event; 0: never. */
struct mono cli_slot_deadline(const struct cli_slot *s);

/* Has the program something to say with the next heartbeat? */
bool cli_slot_has_report(const struct cli_slot *s);

/* Write the slot's member of a heartbeat's "jobs"; with what the program reported, if it is wanted
 * and there is any: then true. */
bool cli_slot_write_beat(struct cli_slot *s, struct json_write *w, bool with_report);

/* The heartbeat is over. Call it for every slot, also those that were not in it. */
void cli_slot_beat_over(struct cli_slot *s, enum cli_report_fate fate);
