/*
 * Cli_form: output formats for rows (-o).
 */
#pragma once

#include "cli/cli_int.h"

enum cli_form {
    CLI_FORM_TABLE, /* what fits on the screen */
    CLI_FORM_WIDE,  /* every column, nothing cut */
    CLI_FORM_JSON,
    CLI_FORM_JSONL, /* one row per line */
    CLI_FORM_CSV,
    CLI_FORM_ID, /* one id, or name, per line */
};

/* All of them, for the flag of a command that prints rows. */
#define CLI_FORM_WORDS "text table wide json jsonl csv id"

enum cli_form cli_form_of(const struct cli *cli);

/* Whether the command can print in the form that was asked for; else it was said, and *out_code is
 * the exit code. */
ATTR_NODISCARD bool cli_form_allowed(struct cli *cli, int *out_code);

/* Print the rows, each the JSON text of an object, as lines of JSON, CSV or ids. */
void cli_form_lines(struct cli *cli, enum cli_form form, const struct cli_column *columns,
                    size_t column_count, const struct str *rows, size_t row_count);
