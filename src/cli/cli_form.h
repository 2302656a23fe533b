/*
 * Cli_form: output formats for rows (-o).
 */
#pragma once

#include "cli/cli_int.h"

enum cli_form {
    CLI_FORM_TABLE, /* the columns that fit on the screen */
    CLI_FORM_WIDE,  /* every column, nothing is cut */
    CLI_FORM_JSON,
    CLI_FORM_JSONL, /* one row per line */
    CLI_FORM_CSV,
    CLI_FORM_ID, /* one id, or name, per line */
};

/* All formats, for the flag of a command that prints rows. */
#define CLI_FORM_WORDS "text table wide json jsonl csv id"

enum cli_form cli_form_of(const struct cli *cli);

/* True if the command can print the requested format; otherwise the error has been printed and
 * *out_code is the exit code. */
ATTR_NODISCARD bool cli_form_allowed(struct cli *cli, int *out_code);

/* Print the rows, each the JSON text of an object, as JSON lines, CSV or ids. */
void cli_form_lines(struct cli *cli, enum cli_form form, const struct cli_column *columns,
                    size_t column_count, const struct str *rows, size_t row_count);
