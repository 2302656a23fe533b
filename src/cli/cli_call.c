/*
 * Commands that are one request: the body comes from the flags; the response is printed as a
 * sentence or a table.
 */
#include <sys/ioctl.h>

#include "base/check.h"
#include "cli/cli_form.h"
#include "cli/cli_time.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "os/os_clock.h"

enum {
    COLUMNS_MAX = 12,
    WIDTH_MIN = 20, /* used if a terminal does not report its width */
    LAST_MIN = 12,  /* minimum width of the last column */
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

/* "resource:action" for each action of each permission. */
static struct str grants_cell(struct cli *cli, struct str text)
{
    struct str *items = NULL;
    size_t count = cli_elements(cli, text, &items);
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    for (size_t i = 0; i < count; i++) {
        struct str resource = cli_member_text(cli, items[i], "resource");
        struct str actions = list_cell(cli, cli_member(items[i], "actions").text);
        while (actions.len > 0) {
            struct str action = str_cut(&actions, ',');
            buf_printf(&b, "%s" STR_FMT ":" STR_FMT, b.len > 0 ? "," : "", STR_ARG(resource),
                       STR_ARG(action));
        }
    }
    struct str joined = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return joined;
}

/* Write 2026-11-17T10:29:00Z as 2026-11-17 10:29Z. */
static struct str minute_cell(struct cli *cli, struct str text)
{
    enum { MINUTE_CHARACTERS = 16, DATE_CHARACTERS = 10 };
    if (!cli->out_is_terminal || text.len < MINUTE_CHARACTERS) {
        return text;
    }
    return cli_format(cli, "%.*s %.*sZ", DATE_CHARACTERS, text.ptr,
                      MINUTE_CHARACTERS - DATE_CHARACTERS - 1, text.ptr + DATE_CHARACTERS + 1);
}

/* The first member of "a|b" that exists. */
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
    unsigned show = column->show & CLI_SHOW_KIND;
    struct json_value value = first_of(cli, row, column->member);
    struct str text = cli_harmless(cli, cli_decode(cli, value));
    double real = 0;
    if (show == CLI_SHOW_YES) {
        return str_eq(text, STR("true")) ? STR("yes") : STR_EMPTY;
    }
    if (show == CLI_SHOW_LIST) {
        text = cli_harmless(cli, list_cell(cli, cli_decode(cli, value)));
    }
    if (show == CLI_SHOW_GRANTS) {
        text = cli_harmless(cli, grants_cell(cli, value.text));
    }
    if (show == CLI_SHOW_MONEY && value.type == JSON_TYPE_NUMBER && json_value_f64(value, &real)) {
        return cli_format(cli, "%.6f", real);
    }
    if (show == CLI_SHOW_ALIVE) {
        return alive_cell(text);
    }
    if (text.len == 0) {
        return STR("-");
    }
    if (show == CLI_SHOW_TIME) {
        return time_cell(cli, text);
    }
    if (show == CLI_SHOW_MINUTE) {
        return minute_cell(cli, text);
    }
    if (show == CLI_SHOW_PRIORITY) {
        static const char *const words[] = {"critical", "high", "normal"};
        int64_t number = 0;
        return str_to_i64(text, &number) && number >= 0 && number < (int64_t)COUNT_OF(words)
                   ? str_from_z(words[number])
                   : text;
    }
    bool whole = cli_form_of(cli) == CLI_FORM_WIDE;
    return show == CLI_SHOW_CUT && !whole ? cut(text, CUT_CHARACTERS) : text;
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

/* Maximum number of characters per line; SIZE_MAX unless the output is a terminal. */
static size_t line_width(const struct cli *cli)
{
    struct winsize size = {0};
    if (!cli->out_is_terminal || cli_form_of(cli) == CLI_FORM_WIDE ||
        ioctl(fileno(cli->out), TIOCGWINSZ, &size) != 0 || size.ws_col < WIDTH_MIN) {
        return SIZE_MAX;
    }
    return size.ws_col;
}

static size_t sum_of(const size_t *width, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += width[i] + (i + 1 < count ? 2 : 0);
    }
    return sum;
}

struct table {
    const struct cli_column *columns[COLUMNS_MAX];
    size_t width[COLUMNS_MAX];
    size_t count;      /* number of columns */
    struct str *cells; /* COLUMNS_MAX for each row */
    size_t row_count;
};

/* The width of a line without the columns that have one of these marks. */
static size_t width_without(const struct table *t, unsigned marks)
{
    size_t width[COLUMNS_MAX];
    size_t count = 0;
    for (size_t c = 0; c < t->count; c++) {
        if ((t->columns[c]->show & marks) == 0) {
            width[count++] = t->width[c];
        }
    }
    return sum_of(width, count);
}

/* The marks of the columns to leave out, so that the others fit. */
static unsigned marks_to_drop(const struct table *t, size_t room)
{
    static const unsigned choices[] = {0, CLI_SHOW_MINOR, CLI_SHOW_ROOM};
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        if (width_without(t, choices[i]) <= room) {
            return choices[i];
        }
    }
    return CLI_SHOW_MINOR | CLI_SHOW_ROOM;
}

/* Make the table fit: leave out optional columns, then cut the last one. */
static void fit(struct table *t, size_t room)
{
    size_t left = 0;
    unsigned dropped = marks_to_drop(t, room);
    for (size_t c = 0; c < t->count; c++) {
        if ((t->columns[c]->show & dropped) != 0) {
            continue;
        }
        for (size_t r = 0; r < t->row_count; r++) {
            t->cells[r * COLUMNS_MAX + left] = t->cells[r * COLUMNS_MAX + c];
        }
        t->width[left] = t->width[c];
        t->columns[left++] = t->columns[c];
    }
    t->count = left;
    size_t sum = sum_of(t->width, left);
    if (sum > room && left > 0) {
        size_t last = left - 1;
        size_t over = sum - room;
        size_t most = t->width[last] > over + LAST_MIN ? t->width[last] - over : LAST_MIN;
        for (size_t r = 0; r < t->row_count; r++) {
            t->cells[r * COLUMNS_MAX + last] = cut(t->cells[r * COLUMNS_MAX + last], most);
        }
    }
}

/* The marks of the columns that this format does not show. */
static unsigned hidden_columns(enum cli_form form, size_t room)
{
    if (form == CLI_FORM_WIDE) {
        return 0;
    }
    return room == SIZE_MAX ? CLI_SHOW_WIDE | CLI_SHOW_ROOM : CLI_SHOW_WIDE;
}

static void choose_columns(struct table *t, const struct cli_column *columns, size_t count,
                           unsigned hidden)
{
    for (size_t i = 0; i < count; i++) {
        if ((columns[i].show & hidden) == 0) {
            t->columns[t->count++] = &columns[i];
        }
    }
}

void cli_call_table(struct cli *cli, const struct cli_column *columns, size_t column_count,
                    const struct str *rows, size_t row_count)
{
    struct table t = {.row_count = row_count};
    enum cli_form form = cli_form_of(cli);
    if (form != CLI_FORM_TABLE && form != CLI_FORM_WIDE) {
        cli_form_lines(cli, form, columns, column_count, rows, row_count);
        return;
    }
    CHECK(column_count > 0);
    CHECK(column_count <= COLUMNS_MAX);
    size_t room = line_width(cli);
    t.cells = ARENA_ARRAY(cli->arena, struct str, row_count * COLUMNS_MAX + 1);
    CHECK(t.cells != NULL);
    choose_columns(&t, columns, column_count, hidden_columns(form, room));
    for (size_t c = 0; c < t.count; c++) {
        t.width[c] = strlen(t.columns[c]->head);
        for (size_t r = 0; r < row_count; r++) {
            struct str text = cell(cli, rows[r], t.columns[c]);
            t.cells[r * COLUMNS_MAX + c] = text;
            t.width[c] = characters(text) > t.width[c] ? characters(text) : t.width[c];
        }
    }
    fit(&t, room);
    t.width[t.count - 1] = 0; /* no padding at the end of a line */
    for (size_t c = 0; c < t.count; c++) {
        print_cell(cli, str_from_z(t.columns[c]->head), t.width[c], "\033[1m");
    }
    cli_printf(cli, "\n");
    for (size_t r = 0; r < row_count; r++) {
        for (size_t c = 0; c < t.count; c++) {
            struct str text = t.cells[r * COLUMNS_MAX + c];
            unsigned show = t.columns[c]->show & CLI_SHOW_KIND;
            bool state = show == CLI_SHOW_STATE || show == CLI_SHOW_ALIVE;
            print_cell(cli, text, t.width[c], state ? state_color(text) : "");
        }
        cli_printf(cli, "\n");
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

struct str cli_call_body(struct cli *cli)
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

/* For GET, flags that name a field become the query; for other methods only the flag in .query
 * does. */
static const char *url_of(struct cli *cli)
{
    const struct cli_call *call = &cli->command->call;
    const char *url = cli_url(cli, call->path, cli->args, cli->arg_count);
    if (call->query != NULL && cli_text(cli, call->query).len > 0) {
        url = cli_url_query(cli, url, call->query, cli_text(cli, call->query));
    }
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

static void say_notes(struct cli *cli, struct str answer)
{
    struct str names = str_from_z(cli->command->call.note);
    while (names.len > 0) {
        const char *name = arena_strz(cli->arena, str_cut(&names, ' '));
        struct str note = name == NULL ? STR_EMPTY : cli_member_text(cli, answer, name);
        if (note.len > 0) {
            note = cli_harmless(cli, note);
            cli_note(cli, "Note: " STR_FMT "\n", STR_ARG(note));
        }
    }
}

/* True if any of the members "a|b" is a number other than 0. */
static bool is_busy(struct cli *cli, struct str row, const char *names)
{
    struct str left = str_from_z(names);
    while (left.len > 0) {
        const char *path = arena_strz(cli->arena, str_cut(&left, '|'));
        CHECK(path != NULL);
        struct json_value value = cli_member(row, path);
        if (value.type == JSON_TYPE_NUMBER && !str_eq(value.text, STR("0"))) {
            return true;
        }
    }
    return false;
}

/* On a terminal, only the rows in which something happened. */
static size_t busy_rows(struct cli *cli, struct str *rows, size_t count)
{
    size_t kept = 0;
    if (cli->command->call.busy == NULL || !cli->out_is_terminal) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_busy(cli, rows[i], cli->command->call.busy)) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

/* The first member that the pattern prints and the response lacks; NULL if it has all. */
static const char *missing(struct cli *cli, const char *pattern, struct str answer)
{
    for (const char *p = strchr(pattern, '{'); p != NULL; p = strchr(p + 1, '{')) {
        const char *close = strchr(p, '}');
        bool argument = p[1] >= '0' && p[1] <= '9';
        CHECK(close != NULL);
        const char *name = arena_strz(cli->arena, str_from(p + 1, (size_t)(close - p) - 1));
        CHECK(name != NULL);
        if (!argument && cli_member(answer, name).type == JSON_TYPE_COUNT) {
            return name;
        }
    }
    return NULL;
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
    code = cli_request(cli, call->method, url_of(cli), cli_call_body(cli), &answer);
    if (code != CLI_OK) {
        return code;
    }
    say_notes(cli, answer.body);
    const char *gap =
        call->text == NULL || cli_is_json(cli) ? NULL : missing(cli, call->text, answer.body);
    if (gap != NULL) {
        return cli_fail(cli, "request failed: the response has no %s", gap);
    }
    if (call->text != NULL || cli_is_json(cli)) {
        return cli_show(cli, answer.body, call->text);
    }
    struct str array = call->rows == NULL ? answer.body : cli_member(answer.body, call->rows).text;
    size_t count = cli_elements(cli, array, &rows);
    enum cli_form form = cli_form_of(cli);
    bool people = form == CLI_FORM_TABLE || form == CLI_FORM_WIDE;
    count = people ? busy_rows(cli, rows, count) : count;
    if (count == 0 && people && call->empty[0] != '\0') {
        cli_printf(cli, "%s\n", call->empty);
    } else {
        cli_call_table(cli, call->columns, call->column_count, rows, count);
    }
    return CLI_OK;
}
