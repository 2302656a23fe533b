/*
 * Cli_parse: parses arguments into a command, its flags and its arguments.
 *
 * The words of a command come first; only global flags may precede or separate them. After them,
 * flags and arguments can be mixed. "--" ends the flags.
 */
#pragma once

#include "cli/cli_int.h"

/* The words of a command that were recognized. */
struct cli_parse_words {
    char text[96];
    size_t len;
};

/* Add the word if the result is the beginning of a command, group or alias; else return false. */
ATTR_NODISCARD bool cli_parse_add_word(struct cli_parse_words *words, struct str word);

/* Set command (or group, if the words name no command), values and args of cli. argv does not
 * include the program name. ERR_VALIDATION describes the error, with a suggestion if there is one;
 * command is then set if it was recognized, so that its usage can be shown. */
ATTR_NODISCARD enum err_code cli_parse(struct cli *cli, int argc, char **argv, struct err *err);
