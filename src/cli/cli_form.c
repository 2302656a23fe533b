#include "cli/cli_form.h"

#include "base/check.h"

enum cli_form cli_form_of(const struct cli *cli)
{
    static const struct {
        const char *word;
        enum cli_form form;
    } rows[] = {
        {"wide", CLI_FORM_WIDE}, {"json", CLI_FORM_JSON}, {"jsonl", CLI_FORM_JSONL},
        {"csv", CLI_FORM_CSV},   {"id", CLI_FORM_ID},
    };
    struct str word = cli_is_json(cli) ? STR("json") : cli_text(cli, "output");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (str_eq(word, str_from_z(rows[i].word))) {
            return rows[i].form;
        }
    }
    return CLI_FORM_TABLE;
}

bool cli_form_allowed(struct cli *cli, int *out_code)
{
    const struct cli_command *c = cli->command;
    struct str word;
    for (size_t i = 0; i < c->flag_count; i++) {
        if (strcmp(c->flags[i].name, "output") == 0) {
            return true; /* the command has its own --output */
        }
    }
    if (cli_table_find_flag(c, STR("output")) == NULL) {
        return true;
    }
    word = cli_text(cli, "output");
    bool rows = (c->options & CLI_ROWS) != 0 || (c->run == NULL && c->call.text == NULL);
    if (rows || cli_table_is_word("text json", word) ||
        (str_eq(word, STR("table")) && c->call.text == NULL)) {
        return true;
    }
    *out_code = cli_fail(cli, "corvo %s prints text or json, not " STR_FMT, c->name, STR_ARG(word));
    return false;
}

/* Lines */

static void csv_cell(struct cli *cli, struct buf *out, struct str text)
{
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        quoted = quoted || strchr(",\"\r\n", text.ptr[i]) != NULL;
    }
    (void)cli;
    /* Spreadsheets treat a text with this first character as a formula and run it. */
    bool formula = text.len > 1 && strchr("=+@\t", text.ptr[0]) != NULL;
    buf_add_str(out, quoted ? STR("\"") : STR_EMPTY);
    buf_add_str(out, formula ? STR("'") : STR_EMPTY);
    for (size_t i = 0; i < text.len; i++) {
        buf_add_str(out, text.ptr[i] == '"' ? STR("\"") : STR_EMPTY);
        buf_add_char(out, text.ptr[i]);
    }
    buf_add_str(out, quoted ? STR("\"") : STR_EMPTY);
}

/* The complete value of the first member of "a|b" that exists. */
static struct str value_of(struct cli *cli, struct str row, const char *names)
{
    struct str left = str_from_z(names);
    struct str text = STR_EMPTY;
    while (left.len > 0 && text.len == 0) {
        const char *path = arena_strz(cli->arena, str_cut(&left, '|'));
        CHECK(path != NULL);
        text = cli_member_text(cli, row, path);
    }
    return text;
}

static void csv_row(struct cli *cli, struct buf *out, const struct cli_column *columns,
                    size_t column_count, const struct str *row)
{
    for (size_t c = 0; c < column_count; c++) {
        struct str first = str_from_z(columns[c].member);
        first = str_cut(&first, '|');
        buf_add_str(out, c > 0 ? STR(",") : STR_EMPTY);
        csv_cell(cli, out, row == NULL ? first : value_of(cli, *row, columns[c].member));
    }
    buf_add_str(out, STR("\r\n"));
}

void cli_form_lines(struct cli *cli, enum cli_form form, const struct cli_column *columns,
                    size_t column_count, const struct str *rows, size_t row_count)
{
    struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    if (form == CLI_FORM_CSV) {
        csv_row(cli, &out, columns, column_count, NULL);
    }
    for (size_t i = 0; i < row_count; i++) {
        if (form == CLI_FORM_CSV) {
            csv_row(cli, &out, columns, column_count, &rows[i]);
            continue;
        }
        struct str id = value_of(cli, rows[i], "id|key_hash|name");
        buf_add_str(&out, form == CLI_FORM_JSONL ? cli_json_compact(cli, rows[i])
                          : id.len > 0           ? cli_harmless(cli, id)
                                                 : value_of(cli, rows[i], columns[0].member));
        buf_add_char(&out, '\n');
    }
    (void)fwrite(out.ptr == NULL ? "" : out.ptr, 1, out.len, cli->out);
    buf_deinit(&out);
}
