/*
 * Cli_suggest: suggests what a mistyped word was probably meant to be.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "cli/cli_table.h"

/* The number of edits (insert, delete or replace a character, or swap two) that turn a into b.
 * Words of more than 32 bytes count as very different. */
size_t cli_suggest_distance(struct str a, struct str b);

/* The last word of the command below group (empty: any) that is most similar to word, if it is
 * similar enough; else empty. */
struct str cli_suggest_command(struct str group, struct str word);

/* The same for a flag of the command, or of all commands if it is NULL. */
struct str cli_suggest_flag(const struct cli_command *command, struct str name);
