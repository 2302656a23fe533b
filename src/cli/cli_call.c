/*
 * The commands that are one request: its body from the flags, its answer as a sentence or a table.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_time.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "os/os_clock.h"

enum {
    COLUMNS_MAX = 12,
    CUT_CHARACTERS = 60,
    BODY_BYTES_MAX = 64 << 20,
    STALE_S = 60,
    OFFLINE_S = 300
};

/* Cells */

static const char *state_color(struct str state)
{
    static const struct {
        const char *state;
        const char *color;
    } colors[] = {
        {"active", "\033[36m"},    {"completed", "\033[32m"}, {"dead", "\033[31m"},
        {"held", "\033[33m"},      {"retrying", "\033[35m"},  {"cancelled", "\033[90m"},
        {"scheduled", "\033[34m"}, {"healthy", "\033[32m"},   {"stale", "\033[33m"},
        {"offline", "\033[31m"},
    };
    for (size_t i = 0; i < COUNT_OF(colors); i++) {
        if (str_eq(state, str_from_z(colors[i].state))) {
            return colors[i].color;
        }
    }
    return "";
}

static size_t characters(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80 ? 1 : 0;
    }
    return n;
}

static struct str cut(struct str text, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80 ? 1 : 0;
        if (n > most) {
            return str_from(text.ptr, i);
        }
    }
    return text;
}

static struct str time_cell(struct cli *cli, struct str text)
{
    char room[CLI_TIME_TEXT_MAX];
    struct wall at;
    struct err err;
    if (!cli->out_is_terminal || timestamp_parse(text, &at, &err) != ERR_OK) {
        return text;
    }
    size_t len = cli_time_relative(at, os_clock_wall(), room);
    return arena_str(cli->arena, str_from(room, len));
}

static struct str alive_cell(struct str text)
{
    struct wall at;
    struct err err;
    if (timestamp_parse(text, &at, &err) != ERR_OK) {
        return STR("unknown");
    }
    int64_t age_s = (os_clock_wall().ns - at.ns) / NS_PER_S;
    return age_s > OFFLINE_S ? STR("offline") : age_s > STALE_S ? STR("stale") : STR("healthy");
}

static struct str list_cell(struct cli *cli, struct str text)
{
    struct str *items = NULL;
    size_t count = cli_elements(cli, text, &items);
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    for (size_t i = 0; i < count; i++) {
        struct json_value value;
        struct err err;
        if (json_scan_first(items[i], &value, &err) == ERR_OK) {
            buf_add_str(&b, i > 0 ? STR(",") : STR_EMPTY);
            buf_add_str(&b, cli_decode(cli, value));
        }
    }
    struct str joined = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return joined;
}

/* The member of the first name in "a|b" that is there. */
static struct json_value first_of(struct cli *cli, struct str row, const char *names)
{
    struct json_value value = {.type = JSON_TYPE_COUNT};
    struct str left = str_from_z(names);
    while (left.len > 0 && (value.type == JSON_TYPE_COUNT || value.type == JSON_TYPE_NULL)) {
        const char *path = arena_strz(cli->arena, str_cut(&left, '|'));
        CHECK(path != NULL);
        value = cli_member(row, path);
    }
    return value;
}

static struct str cell(struct cli *cli, struct str row, const struct cli_column *column)
{
    struct json_value value = first_of(cli, row, column->member);
    struct str text = cli_harmless(cli, cli_decode(cli, value));
    double real = 0;
    if (column->show == CLI_SHOW_YES) {
        return str_eq(text, STR("true")) ? STR("yes") : STR_EMPTY;
    }
    if (column->show == CLI_SHOW_LIST) {
        text = cli_harmless(cli, list_cell(cli, cli_decode(cli, value)));
    }
    if (column->show == CLI_SHOW_MONEY && value.type == JSON_TYPE_NUMBER &&
        json_value_f64(value, &real)) {
        return cli_format(cli, "%.6f", real);
    }
    if (column->show == CLI_SHOW_ALIVE) {
        return alive_cell(text);
    }
    if (text.len == 0) {
        return STR("-");
    }
    if (column->show == CLI_SHOW_TIME) {
        return time_cell(cli, text);
    }
    return column->show == CLI_SHOW_CUT ? cut(text, CUT_CHARACTERS) : text;
}

/* Tables */

static void print_cell(struct cli *cli, struct str text, size_t width, const char *color)
{
    bool colored = cli->color && color[0] != '\0';
    size_t wide = characters(text);
    cli_printf(cli, "%s" STR_FMT "%s", colored ? color : "", STR_ARG(text),
               colored ? "\033[0m" : "");
    for (; width > 0 && wide < width + 2; wide++) {
        cli_printf(cli, " ");
    }
}

void cli_call_table(struct cli *cli, const struct cli_column *columns, size_t column_count,
                    const struct str *rows, size_t row_count)
{
    size_t width[COLUMNS_MAX] = {0};
    struct str *cells = ARENA_ARRAY(cli->arena, struct str, row_count * column_count + 1);
    CHECK(column_count > 0);
    CHECK(column_count <= COLUMNS_MAX);
    CHECK(cells != NULL);
    for (size_t c = 0; c < column_count; c++) {
        width[c] = strlen(columns[c].head);
        for (size_t r = 0; r < row_count; r++) {
            struct str text = cell(cli, rows[r], &columns[c]);
            cells[r * column_count + c] = text;
            width[c] = characters(text) > width[c] ? characters(text) : width[c];
        }
    }
    width[column_count - 1] = 0; /* nothing is padded at the end of a line */
    for (size_t c = 0; c < column_count; c++) {
        print_cell(cli, str_from_z(columns[c].head), width[c], "\033[1m");
    }
    cli_printf(cli, "\n");
    for (size_t i = 0; i < row_count * column_count; i++) {
        size_t c = i % column_count;
        bool state = columns[c].show == CLI_SHOW_STATE || columns[c].show == CLI_SHOW_ALIVE;
        print_cell(cli, cells[i], width[c], state ? state_color(cells[i]) : "");
        cli_printf(cli, "%s", c + 1 == column_count ? "\n" : "");
    }
}

/* The request */

static bool has_body(const struct cli *cli)
{
    const struct cli_command *c = cli->command;
    for (size_t i = 0; i < CLI_ARGS_MAX; i++) {
        if (c->call.arg_field[i] != NULL) {
            return true;
        }
    }
    for (size_t i = 0; i < c->flag_count; i++) {
        if (c->flags[i].field != NULL) {
            return true;
        }
    }
    return false;
}

static struct str body_of(struct cli *cli)
{
    struct buf b;
    if (strcmp(cli->command->call.method, "GET") == 0 || !has_body(cli)) {
        return STR_EMPTY;
    }
    buf_init(&b, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    for (size_t i = 0; i < cli->arg_count; i++) {
        if (cli->command->call.arg_field[i] != NULL) {
            json_write_key(&w, str_from_z(cli->command->call.arg_field[i]));
            json_write_str(&w, cli->args[i]);
        }
    }
    cli_values_write(cli, &w);
    json_write_end(&w);
    json_write_finish(&w);
    struct str body = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return body;
}

/* A GET sends the flags that name a field as its query. */
static const char *url_of(struct cli *cli)
{
    const struct cli_call *call = &cli->command->call;
    const char *url = cli_url(cli, call->path, cli->args, cli->arg_count);
    if (strcmp(call->method, "GET") != 0) {
        return url;
    }
    for (size_t i = 0; i < cli->value_count; i++) {
        const struct cli_value *v = &cli->values[i];
        bool sent = v->given || (v->flag->options & CLI_SEND_DEFAULT) != 0;
        if (v->flag->field != NULL && sent && v->text.len > 0) {
            url = cli_url_query(cli, url, v->flag->field, v->text);
        }
    }
    return url;
}

int cli_call_run(struct cli *cli)
{
    const struct cli_call *call = &cli->command->call;
    struct cli_answer answer;
    struct str *rows = NULL;
    int code = CLI_FAILED;
    if (cli->command->confirm != NULL && !cli_confirmed(cli, true, cli->command->confirm, &code)) {
        return code;
    }
    code = cli_request(cli, call->method, url_of(cli), body_of(cli), &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (call->text != NULL || cli_is_json(cli)) {
        return cli_show(cli, answer.body, call->text);
    }
    struct str array = call->rows == NULL ? answer.body : cli_member(answer.body, call->rows).text;
    size_t count = cli_elements(cli, array, &rows);
    if (count == 0 && call->empty[0] != '\0') {
        cli_printf(cli, "%s\n", call->empty);
    } else {
        cli_call_table(cli, call->columns, call->column_count, rows, count);
    }
    return CLI_OK;
}
