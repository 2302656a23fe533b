/*
 * Cli_suggest: suggests what a mistyped word was probably meant to be.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "cli/cli_table.h"

/* How many single changes (a character more, less, other, or two swapped) lead from a to b. Words
 * of more than 32 bytes count as far apart. */
size_t cli_suggest_distance(struct str a, struct str b);

/* The last word of the command below group (empty: any) that is nearest to word, when it is near;
 * else NULL. */
struct str cli_suggest_command(struct str group, struct str word);

/* The same for a flag of the command, or of every command when it is NULL. */
struct str cli_suggest_flag(const struct cli_command *command, struct str name);
