/*
 * Cli_complete: completions for an unfinished command line.
 *
 * The shell scripts (corvo completion SHELL) are a few lines that call the program, so they always
 * match its version.
 */
#pragma once

#include "cli/cli_int.h"

/* Print a line for each completion of the last word, which may be empty: the word, a tab and its
 * meaning. Prints nothing where a file or free text is expected. */
void cli_complete_words(struct cli *cli, int count, char **words);

/* The script for the shell; NULL for an unknown shell. */
const char *cli_complete_script(struct str shell);
