/*
 * Cli: the command line, one table of commands and flags.
 *
 * Everything that knows which commands exist reads that table: parsing, --help at every level,
 * suggestions for typing errors, shell completion and the manual pages. Commands talk HTTP like
 * any client. They do not depend on the server; main passes its functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_setting {
    const char *name;
    const char *shown; /* the default, as shown in help; "" for none */
    const char *help;
};

/* Functions of the server that main passes to the command line. */
struct cli_host {
    int (*server)(int argc, char **argv, char **environment);
    /* Examine a data directory; repair it if apply is true. empty: all data is moved aside, to
     * restore a backup. Returns the exit code. */
    int (*repair)(const char *data_dir, bool empty, bool apply, FILE *out, FILE *err);
    /* Turn the only survivor of a cluster into a new cluster, if apply is true. Returns the exit
     * code. */
    int (*recover)(const char *data_dir, bool apply, FILE *out, FILE *err);
    bool (*setting)(size_t index, struct cli_setting *out); /* false after the last */
};

/* Run the command in the arguments (those of main, including the program name). Returns the exit
 * code. */
int cli_main(int argc, char **argv, char **environment, const struct cli_host *host);
