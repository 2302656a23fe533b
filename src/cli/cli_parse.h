/*
 * Cli_parse: parses arguments into a command, its flags and its arguments.
 *
 * The words of a command come first; only global flags may precede or separate them. After them,
 * flags and arguments can be mixed. "--" ends the flags.
 */
#pragma once

#include "cli/cli_int.h"

/* The words of a command as far as they are understood. */
struct cli_parse_words {
    char text[96];
    size_t len;
};

/* Add the word if a command, a group or another spelling of one begins so; else false. */
ATTR_NODISCARD bool cli_parse_add_word(struct cli_parse_words *words, struct str word);

/* Fill command (or group, when the words name none), values and args of cli. argv has no program
 * name. ERR_VALIDATION says what is wrong, with a suggestion where there is one; command is then
 * set if it was understood, so that its usage can be shown. */
ATTR_NODISCARD enum err_code cli_parse(struct cli *cli, int argc, char **argv, struct err *err);
