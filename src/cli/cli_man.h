/*
 * Cli_man: prints the manual pages, in roff, from the table of commands.
 */
#pragma once

#include "cli/cli_int.h"

/* corvo(1): the overview. */
void cli_man_index(FILE *to);

/* corvo-budget-set(1) for "budget set". */
void cli_man_command(struct cli *cli, FILE *to, const struct cli_command *c);
