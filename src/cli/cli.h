/*
 * Cli: the command line, one table of commands and flags.
 *
 * Everything that knows which commands exist reads that table: parsing, --help at every level,
 * suggestions for what was mistyped, shell completion and the manual pages. Commands talk HTTP like
 * any client. The server itself is not known here; main hands it in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_setting {
    const char *name;
    const char *shown; /* the default, for people; "" for none */
    const char *help;
};

/* What main knows and the command line does not. */
struct cli_host {
    int (*server)(int argc, char **argv, char **environment);
    /* Examine a data folder, and repair it when apply says so; empty: for a backup. The exit code.
     */
    int (*repair)(const char *data_dir, bool empty, bool apply, FILE *out, FILE *err);
    /* Make the only survivor of a cluster one of its own, when apply says so. The exit code. */
    int (*recover)(const char *data_dir, bool apply, FILE *out, FILE *err);
    bool (*setting)(size_t index, struct cli_setting *out); /* false past the last */
};

/* Run what the arguments (main's, the program's name included) ask for; the exit code. */
int cli_main(int argc, char **argv, char **environment, const struct cli_host *host);
