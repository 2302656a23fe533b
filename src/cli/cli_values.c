/*
 * Values of flags: read by name, or written to the body of a request.
 */
#include "base/check.h"
#include "cli/cli_int.h"

const struct cli_value *cli_value(const struct cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->value_count; i++) {
        if (strcmp(cli->values[i].flag->name, name) == 0) {
            return &cli->values[i];
        }
    }
    UNREACHABLE("a command asks for its own flags only");
}

bool cli_given(const struct cli *cli, const char *name)
{
    return cli_value(cli, name)->given;
}

struct str cli_text(const struct cli *cli, const char *name)
{
    return cli_value(cli, name)->text;
}

int64_t cli_int(const struct cli *cli, const char *name)
{
    return cli_value(cli, name)->number;
}

bool cli_bool(const struct cli *cli, const char *name)
{
    return cli_value(cli, name)->number != 0;
}

bool cli_is_json(const struct cli *cli)
{
    return cli_table_find_flag(cli->command, STR("output-json")) != NULL &&
           (str_eq(cli_text(cli, "output"), STR("json")) || cli_bool(cli, "output-json"));
}

/* The body */

static bool is_sent(const struct cli_value *v)
{
    const struct cli_flag *f = v->flag;
    bool number = f->kind == CLI_INT;
    double amount = number ? (double)v->number : v->real;
    if (f->field == NULL || (!v->given && (f->options & CLI_SEND_DEFAULT) == 0)) {
        return false;
    }
    if ((f->options & CLI_POSITIVE) != 0) {
        return amount > 0;
    }
    return (f->options & CLI_NOT_NEGATIVE) == 0 || amount >= 0;
}

static void write_list(struct json_write *w, const struct cli_value *v)
{
    json_write_array(w);
    for (size_t i = 0; i < v->item_count; i++) {
        json_write_str(w, v->items[i]);
    }
    json_write_end(w);
}

static void write_pairs(struct json_write *w, const struct cli_value *v)
{
    json_write_object(w);
    for (size_t i = 0; i < v->item_count; i++) {
        struct str pair = v->items[i];
        const char *equals = memchr(pair.ptr, '=', pair.len);
        size_t at = (size_t)(equals - pair.ptr);
        json_write_key(w, str_from(pair.ptr, at));
        json_write_str(w, str_from_offset(pair, at + 1));
    }
    json_write_end(w);
}

static void write_value(struct json_write *w, const struct cli_value *v)
{
    switch (v->flag->kind) {
    case CLI_INT:
        json_write_i64(w, v->number);
        break;
    case CLI_REAL:
        json_write_f64(w, v->real);
        break;
    case CLI_BOOL:
        json_write_bool(w, (v->number != 0) != ((v->flag->options & CLI_INVERTED) != 0));
        break;
    case CLI_LIST:
        write_list(w, v);
        break;
    case CLI_PAIRS:
        write_pairs(w, v);
        break;
    case CLI_JSON:
        json_write_raw(w, str_trim(v->text));
        break;
    case CLI_TEXT:
    case CLI_DURATION:
    case CLI_TIME:
    case CLI_BYTES:
    case CLI_KIND_COUNT:
    default:
        json_write_str(w, v->text);
        break;
    }
}

/* "agent" of "agent.max_iterations"; empty for a field that is not inside another one. */
static struct str outer(const char *field)
{
    const char *dot = strchr(field, '.');
    return dot == NULL ? STR_EMPTY : str_from(field, (size_t)(dot - field));
}

void cli_values_write(const struct cli *cli, struct json_write *w)
{
    struct str open = STR_EMPTY; /* the flags of one outer field are adjacent in the table */
    for (size_t i = 0; i < cli->value_count; i++) {
        const struct cli_value *v = &cli->values[i];
        if (!is_sent(v)) {
            continue;
        }
        struct str field = str_from_z(v->flag->field);
        struct str around = outer(v->flag->field);
        if (open.len > 0 && !str_eq(open, around)) {
            json_write_end(w);
            open = STR_EMPTY;
        }
        if (around.len > 0 && open.len == 0) {
            json_write_key(w, around);
            json_write_object(w);
            open = around;
        }
        json_write_key(w, around.len > 0 ? str_from_offset(field, around.len + 1) : field);
        write_value(w, v);
    }
    if (open.len > 0) {
        json_write_end(w);
    }
}
