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
    int64_t shown; /* the value last shown; -1: none */
    bool open;     /* a bar is on the current line */
};

struct cli_progress cli_progress_begin(struct cli *cli, const char *unit);

/* A total of 0 means that it is unknown. */
void cli_progress_show(struct cli_progress *p, int64_t done, int64_t total);

/* Erase the bar. */
void cli_progress_end(struct cli_progress *p);

/* Milliseconds between two RFC 3339 times; 0 if either is invalid. */
int64_t cli_progress_ms_between(struct str from, struct str to);

/* Format the bar: width characters between the brackets. */
void cli_progress_bar(struct buf *out, int64_t done, int64_t total, size_t width);
