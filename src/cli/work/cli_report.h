/*
 * Cli_report: keeps what a program has written about its job to descriptor 3 until the server has
 * it.
 *
 * Lines of {"progress":…,"checkpoint":…} are reduced to the newest progress and the newest
 * checkpoint. A heartbeat sends both. They are deleted when the heartbeat was answered, because it
 * may fail, and only if the program has not written newer ones meanwhile.
 *
 * A heartbeat is for all jobs of a worker, and the server refuses it as a whole. Therefore a value
 * that is larger than the server's limit is not kept; a warning is logged.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "json/json_write.h"

struct cli_report_part {
    struct buf text; /* JSON; empty: none */
    bool sent;       /* the current heartbeat contains this text */
    bool told;       /* a warning about a text that is too large was logged */
};

struct cli_report {
    struct buf line; /* an incomplete line */
    struct cli_report_part progress, checkpoint;
};

/* The outcome of a heartbeat. */
enum cli_report_fate {
    CLI_REPORT_SAVED,   /* the server has stored it */
    CLI_REPORT_UNSENT,  /* it failed and will be repeated */
    CLI_REPORT_REFUSED, /* the server refused its contents, which are not sent again */
};

void cli_report_init(struct cli_report *r);
void cli_report_deinit(struct cli_report *r);
void cli_report_clear(struct cli_report *r); /* before another job */

/* Process text that the program of this job has written. */
void cli_report_hear(struct cli_report *r, struct str job_id, struct str piece);

/* True if there is something to send. */
bool cli_report_any(const struct cli_report *r);

/* Write the members "progress" and "checkpoint" of a job in a heartbeat, if there are any. */
void cli_report_write(struct cli_report *r, struct json_write *w);

/* The heartbeat that contained the report has ended. */
void cli_report_over(struct cli_report *r, struct str job_id, enum cli_report_fate fate);
