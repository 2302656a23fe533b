/*
 * Cli_progress: shows the progress of long operations on standard error.
 *
 * On a terminal, it is a bar that is redrawn in place. Elsewhere it is one line per step, so that a
 * log shows it too.
 */
#pragma once

#include "cli/cli_int.h"

struct cli_progress {
    struct cli *cli;
    const char *unit;
    int64_t shown; /* what was last shown; -1: nothing */
    bool open;     /* a bar stands on the line */
};

struct cli_progress cli_progress_begin(struct cli *cli, const char *unit);

/* A total of 0 is one that is not known. */
void cli_progress_show(struct cli_progress *p, int64_t done, int64_t total);

/* Take the bar away again. */
void cli_progress_end(struct cli_progress *p);

/* Milliseconds from one RFC 3339 time to another; 0 when either is none. */
int64_t cli_progress_ms_between(struct str from, struct str to);

/* The bar itself: width characters between the brackets. */
void cli_progress_bar(struct buf *out, int64_t done, int64_t total, size_t width);
