#include "cli/cli_parse.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "cli/cli_suggest.h"
#include "cli/cli_when.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum { WORDS_MAX = 3 };

struct parse {
    struct cli *cli;
    int argc;
    char **argv;
    int word_at[WORDS_MAX]; /* indexes of the arguments that are the words of the command */
    int word_count;
};

/* The command */

static bool is_flag(struct str arg)
{
    return arg.len > 1 && arg.ptr[0] == '-';
}

/* The name in --name, --name=value or -x. */
static struct str flag_name(struct str arg)
{
    arg = str_from_offset(arg, str_starts_with(arg, STR("--")) ? 2 : 1);
    const char *equals = memchr(arg.ptr, '=', arg.len);
    return equals == NULL ? arg : str_from(arg.ptr, (size_t)(equals - arg.ptr));
}

static bool has_value(struct str arg)
{
    return memchr(arg.ptr, '=', arg.len) != NULL;
}

static enum err_code unknown_flag(const struct cli_command *c, struct str arg, struct err *err)
{
    struct str near = cli_suggest_flag(c, flag_name(arg));
    bool known = near.len > 0;
    return err_set(err, ERR_VALIDATION, "unknown flag '" STR_FMT "'%s%s%s" STR_FMT "%s",
                   STR_ARG(arg), c == NULL ? "" : " of corvo ", c == NULL ? "" : c->name,
                   known ? "; did you mean --" : "", STR_ARG(near), known ? "?" : "");
}

static enum err_code unknown_word(struct str group, struct str word, struct err *err)
{
    struct str near = cli_suggest_command(group, word);
    const char *blank = group.len > 0 ? " " : "";
    if (near.len > 0) {
        return err_set(err, ERR_VALIDATION,
                       "unknown command '" STR_FMT "%s" STR_FMT "'; did you mean '" STR_FMT
                       "%s" STR_FMT "'?",
                       STR_ARG(group), blank, STR_ARG(word), STR_ARG(group), blank, STR_ARG(near));
    }
    return err_set(err, ERR_VALIDATION, "unknown command '" STR_FMT "%s" STR_FMT "'",
                   STR_ARG(group), blank, STR_ARG(word));
}

/* The number of arguments that the flag at i takes, itself included; 0 if it is not a global flag.
 * "--" takes one: a command name may still follow it. */
static int skip_flag(const struct parse *p, int i)
{
    struct str arg = str_from_z(p->argv[i]);
    if (str_eq(arg, STR("--"))) {
        return 1;
    }
    const struct cli_flag *f = cli_table_find_flag(NULL, flag_name(arg));
    if (f == NULL) {
        return 0;
    }
    return f->kind == CLI_BOOL || has_value(arg) ? 1 : 2;
}

static bool is_known(struct str name)
{
    return cli_table_find(name) != NULL || cli_table_is_group(name) ||
           cli_table_alias(name).len > 0;
}

static struct str text_of(const struct cli_parse_words *words)
{
    return str_from(words->text, words->len);
}

bool cli_parse_add_word(struct cli_parse_words *words, struct str word)
{
    size_t at = words->len == 0 ? 0 : words->len + 1;
    if (at + word.len >= sizeof words->text) {
        return false;
    }
    if (at > 0) {
        words->text[words->len] = ' ';
    }
    memcpy(words->text + at, word.ptr, word.len);
    if (!is_known(str_from(words->text, at + word.len))) {
        return false;
    }
    words->len = at + word.len;
    return true;
}

/* True if an argument may follow these words; false if only another word of the group may. */
static bool takes_arguments(struct str name)
{
    const struct cli_command *c = cli_table_find(name);
    if (c == NULL) {
        return cli_table_alias(name).len > 0 && !cli_table_is_group(name);
    }
    return !cli_table_is_group(name) || cli_table_args_max(c) > 0;
}

static bool is_raw(struct str name)
{
    const struct cli_command *c = cli_table_find(name);
    return c != NULL && (c->options & CLI_RAW) != 0;
}

/* True if the argument at i, or one after it, may be another word of the command. */
static bool may_have_word(const struct parse *p, const struct cli_parse_words *words, int i)
{
    return i < p->argc && p->word_count < WORDS_MAX && !is_raw(text_of(words)) &&
           (words->len == 0 || strcmp(p->argv[i], "--") != 0);
}

/* Consume the words that name a command. */
static enum err_code find_words(struct parse *p, struct cli_parse_words *words, struct err *err)
{
    int i = 0;
    while (may_have_word(p, words, i)) {
        struct str arg = str_from_z(p->argv[i]);
        if (words->len == 0 && str_eq(arg, STR("--version"))) {
            bool added = cli_parse_add_word(words, STR("version"));
            CHECK(added);
            p->word_at[p->word_count++] = i++;
        } else if (is_flag(arg)) {
            int skip = skip_flag(p, i);
            if (skip == 0) { /* a flag of the command: no further words can follow */
                return words->len == 0 ? unknown_flag(NULL, arg, err) : ERR_OK;
            }
            i += skip;
        } else if (cli_parse_add_word(words, arg)) {
            p->word_at[p->word_count++] = i++;
        } else {
            return takes_arguments(text_of(words)) ? ERR_OK
                                                   : unknown_word(text_of(words), arg, err);
        }
    }
    return ERR_OK;
}

static enum err_code find_command(struct parse *p, struct err *err)
{
    struct cli_parse_words words = {.len = 0};
    enum err_code code = find_words(p, &words, err);
    struct str name = arena_str(p->cli->arena, text_of(&words));
    struct str alias = cli_table_alias(name);
    p->cli->group = name;
    p->cli->command = cli_table_find(alias.len > 0 ? alias : name);
    return code;
}

/* Values */

static enum err_code wrong(const struct cli_flag *f, struct str value, const char *expected,
                           struct err *err)
{
    return err_set(err, ERR_VALIDATION, "--%s: expected %s, got '" STR_FMT "'", f->name, expected,
                   STR_ARG(value));
}

static void add_item(struct cli *cli, struct cli_value *v, struct str item)
{
    /* The array is doubled when it is full: at 1, 2, 4, 8 … */
    if ((v->item_count & (v->item_count - 1)) == 0 || v->item_count == 0) {
        size_t room = v->item_count == 0 ? 1 : v->item_count * 2;
        struct str *items = ARENA_ARRAY(cli->arena, struct str, room);
        CHECK(items != NULL);
        if (v->item_count > 0) {
            memcpy(items, v->items, v->item_count * sizeof *items);
        }
        v->items = items;
    }
    v->items[v->item_count++] = item;
}

/* The end of the first item of a list. In a list of pairs, a comma separates two items only if
 * another pair follows it; otherwise it belongs to the value. */
static size_t item_end(enum cli_kind kind, struct str text)
{
    size_t end = text.len;
    for (size_t i = text.len; i-- > 0;) {
        if (text.ptr[i] == ',' &&
            (kind != CLI_PAIRS || memchr(text.ptr + i, '=', end - i) != NULL)) {
            end = i;
        }
    }
    return end;
}

static enum err_code add_items(struct cli *cli, struct cli_value *v, struct str text,
                               struct err *err)
{
    while (text.len > 0) {
        size_t len = item_end(v->flag->kind, text);
        struct str item = str_trim(str_from(text.ptr, len));
        const char *equals = item.len == 0 ? NULL : memchr(item.ptr, '=', item.len);
        if (v->flag->kind == CLI_PAIRS && item.len > 0 && (equals == NULL || equals == item.ptr)) {
            return err_set(err, ERR_VALIDATION, "%s must be key=value, got '" STR_FMT "'",
                           v->flag->name, STR_ARG(item));
        }
        if (item.len > 0) {
            add_item(cli, v, item);
        }
        text = str_from_offset(text, len == text.len ? len : len + 1);
    }
    return ERR_OK;
}

static enum err_code read_json(struct cli *cli, struct cli_value *v, struct err *err)
{
    struct err why;
    if (v->text.len > 0 && v->text.ptr[0] == '@') {
        struct buf bytes;
        const char *path = arena_strz(cli->arena, str_from_offset(v->text, 1));
        CHECK(path != NULL);
        buf_init(&bytes, CLI_INPUT_BYTES);
        enum err_code code = os_file_read(path, &bytes, &why);
        v->text = arena_str(cli->arena, buf_str(&bytes));
        buf_deinit(&bytes);
        if (code != ERR_OK) {
            return err_set(err, ERR_VALIDATION, "--%s: %s", v->flag->name, why.msg);
        }
    }
    if (json_scan_check(v->text, &why) != ERR_OK) {
        return err_set(err, ERR_VALIDATION, "invalid %s JSON: %s", v->flag->name, why.msg);
    }
    return ERR_OK;
}

static bool read_real(struct str text, double *out)
{
    char z[64];
    char *end = NULL;
    if (text.len == 0 || text.len >= sizeof z) {
        return false;
    }
    memcpy(z, text.ptr, text.len);
    z[text.len] = '\0';
    *out = strtod(z, &end);
    return *end == '\0' && isfinite(*out); /* JSON has no infinity and no NaN */
}

static bool read_bool(struct str text, int64_t *out)
{
    *out = str_eq(text, STR("true")) || str_eq(text, STR("1")) || str_eq(text, STR("yes"));
    return *out == 1 || str_eq(text, STR("false")) || str_eq(text, STR("0")) ||
           str_eq(text, STR("no"));
}

/* Read a time. One that the server does not understand, such as "1h" or "yesterday", is converted.
 */
static enum err_code read_time(struct cli *cli, struct cli_value *v, struct err *err)
{
    const struct cli_flag *f = v->flag;
    struct wall now = os_clock_wall();
    struct wall at;
    struct err why;
    char text[TIMESTAMP_TEXT_MAX];
    bool ahead = (f->options & CLI_AHEAD) != 0;
    bool exact = timestamp_parse(v->text, &at, &why) == ERR_OK;
    if (!exact && !cli_when_parse(v->text, now, ahead, &at)) {
        return wrong(f, v->text,
                     ahead
                         ? "a time such as 2026-02-11T10:00:00Z, 1h, tomorrow or \"tomorrow 9:00\""
                         : "a time such as 2026-02-11T10:00:00Z, 1h, yesterday or"
                           " \"yesterday 9:00\"",
                     err);
    }
    if ((f->options & CLI_FUTURE) != 0 && at.ns <= now.ns) {
        return wrong(f, v->text, "a time in the future", err);
    }
    /* A program may send an exact time that has just passed. "yesterday" is a mistake. */
    if (ahead && !exact && at.ns < now.ns) {
        return wrong(f, v->text, "a time that has not passed", err);
    }
    if (!exact) {
        v->text = arena_str(cli->arena, str_from(text, timestamp_format(at, text)));
    }
    return ERR_OK;
}

/* Read a duration. 0 often means "no limit", so what is rounded down to it is refused. */
static enum err_code read_duration(struct cli_value *v, struct err *err)
{
    int64_t ns = 0;
    struct err why;
    if (duration_parse_ns(v->text, &ns, &why) != ERR_OK) {
        return wrong(v->flag, v->text, "a duration like 500ms, 2s or 1h30m", err);
    }
    v->number = ns / NS_PER_MS;
    return ns == 0 || v->number > 0 ? ERR_OK
                                    : wrong(v->flag, v->text, "a duration of at least 1ms", err);
}

/* Set the value of a flag, from any source. */
static enum err_code set(struct cli *cli, struct cli_value *v, struct str text, struct err *err)
{
    const struct cli_flag *f = v->flag;
    v->text = text;
    if (f->kind != CLI_BYTES && !str_is_utf8(text)) {
        return err_set(err, ERR_VALIDATION, "--%s is not valid UTF-8", f->name);
    }
    if (f->words != NULL && !cli_table_is_word(f->words, text)) {
        char choices[CLI_CHOICES_BYTES];
        return wrong(f, text, str_choices(f->words, choices, sizeof choices), err);
    }
    switch (f->kind) {
    case CLI_TEXT:
    case CLI_BYTES:
        return ERR_OK;
    case CLI_INT:
        return str_to_i64(text, &v->number) ? ERR_OK : wrong(f, text, "a whole number", err);
    case CLI_REAL:
        return read_real(text, &v->real) ? ERR_OK : wrong(f, text, "a number", err);
    case CLI_BOOL:
        return read_bool(text, &v->number) ? ERR_OK : wrong(f, text, "true or false", err);
    case CLI_DURATION:
        return read_duration(v, err);
    case CLI_TIME:
        return read_time(cli, v, err);
    case CLI_LIST:
    case CLI_PAIRS:
        return add_items(cli, v, text, err);
    case CLI_JSON:
        return read_json(cli, v, err);
    case CLI_KIND_COUNT:
    default:
        UNREACHABLE("a flag has one of the kinds");
    }
}

static struct cli_value *value_of(struct cli *cli, const struct cli_flag *f)
{
    for (size_t i = 0; i < cli->value_count; i++) {
        if (cli->values[i].flag == f) {
            return &cli->values[i];
        }
    }
    UNREACHABLE("every flag of the command has a value");
}

static struct str from_environment(char **environment, const char *name)
{
    struct str wanted = str_from_z(name);
    for (char **e = environment; e != NULL && *e != NULL; e++) {
        struct str pair = str_from_z(*e);
        if (pair.len > wanted.len && str_starts_with(pair, wanted) && pair.ptr[wanted.len] == '=') {
            return str_from_offset(pair, wanted.len + 1);
        }
    }
    return STR_EMPTY;
}

static enum err_code set_defaults(struct cli *cli, struct err *err)
{
    const struct cli_flag *f;
    cli->value_count = 0;
    for (size_t i = 0; (f = cli_table_flag(cli->command, i)) != NULL; i++) {
        CHECK(cli->value_count < CLI_FLAGS_MAX);
        struct cli_value *v = &cli->values[cli->value_count++];
        *v = (struct cli_value){.flag = f};
        struct str env = f->env == NULL ? STR_EMPTY : from_environment(cli->environment, f->env);
        if (env.len > 0) {
            v->given = true;
            if (set(cli, v, env, err) != ERR_OK) {
                return err_wrap(err, "%s", f->env);
            }
        } else if (f->fallback != NULL && set(cli, v, str_from_z(f->fallback), err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* Parse the flag at *i and its value; *i is then the last argument that was used. */
static enum err_code read_flag(struct parse *p, int *i, struct err *err)
{
    struct cli *cli = p->cli;
    struct str arg = str_from_z(p->argv[*i]);
    struct str name = flag_name(arg);
    const struct cli_flag *f = cli_table_find_flag(cli->command, name);
    struct str text;
    if (f == NULL || (arg.ptr[1] != '-' && name.len != 1)) {
        return unknown_flag(cli->command, arg, err);
    }
    struct cli_value *v = value_of(cli, f);
    if (has_value(arg)) {
        text = str_from_offset(arg, (size_t)(name.ptr - arg.ptr) + name.len + 1);
    } else if (f->kind == CLI_BOOL) {
        text = STR("true");
    } else if (*i + 1 < p->argc) {
        text = str_from_z(p->argv[++*i]);
    } else {
        return err_set(err, ERR_VALIDATION, "flag --%s requires a value", f->name);
    }
    if (!v->given) {
        v->item_count = 0; /* a list that is given replaces the default */
    }
    v->given = true;
    return set(cli, v, text, err);
}

static enum err_code add_argument(struct cli *cli, struct str arg, struct err *err)
{
    size_t most = cli_table_args_max(cli->command);
    if (cli->arg_count >= most) {
        return err_set(err, ERR_VALIDATION, "unexpected argument '" STR_FMT "'", STR_ARG(arg));
    }
    /* An argument that is not UTF-8 would be sent as another text and name another queue or job. */
    if ((cli->command->options & (CLI_LOCAL | CLI_FILES)) == 0 && !str_is_utf8(arg)) {
        return err_set(err, ERR_VALIDATION, "argument '" STR_FMT "' is not valid UTF-8",
                       STR_ARG(arg));
    }
    cli->args[cli->arg_count++] = arg;
    return ERR_OK;
}

static bool is_command_word(const struct parse *p, int i)
{
    for (int k = 0; k < p->word_count; k++) {
        if (p->word_at[k] == i) {
            return true;
        }
    }
    return false;
}

static enum err_code read_rest(struct parse *p, struct err *err)
{
    bool flags = true;
    for (int i = 0; i < p->argc; i++) {
        struct str arg = str_from_z(p->argv[i]);
        enum err_code code = ERR_OK;
        if (is_command_word(p, i)) {
            continue;
        }
        if (flags && str_eq(arg, STR("--"))) {
            flags = false;
        } else if (flags && is_flag(arg)) {
            code = read_flag(p, &i, err);
        } else {
            code = add_argument(p->cli, arg, err);
        }
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK;
}

/* Refuse values that would be left out of the request: the command would then do something else
 * than the user asked for. */
static enum err_code check_value(const struct cli_value *v, struct err *err)
{
    const struct cli_flag *f = v->flag;
    double amount = f->kind == CLI_INT ? (double)v->number : v->real;
    if ((f->options & (CLI_NOT_EMPTY | CLI_REQUIRED)) != 0 && v->text.len == 0) {
        return err_set(err, ERR_VALIDATION, "--%s must not be empty", f->name);
    }
    if ((f->kind == CLI_LIST || f->kind == CLI_PAIRS) && v->item_count == 0) {
        return err_set(err, ERR_VALIDATION, "flag --%s requires at least one value", f->name);
    }
    if ((f->options & CLI_POSITIVE) != 0 && amount < 0) {
        return err_set(err, ERR_VALIDATION, "--%s must not be negative", f->name);
    }
    if ((f->options & CLI_NOT_NEGATIVE) != 0 && amount < -1) { /* -1 means: not given */
        return err_set(err, ERR_VALIDATION, "--%s must be at least -1", f->name);
    }
    return ERR_OK;
}

/* Refuse a second flag for the same field: only one of the two values would count. */
static enum err_code check_fields(const struct cli *cli, const struct cli_value *v, struct err *err)
{
    for (const struct cli_value *other = cli->values; other < v; other++) {
        if (other->given && other->flag->field != NULL && v->flag->field != NULL &&
            strcmp(other->flag->field, v->flag->field) == 0) {
            return err_set(err, ERR_VALIDATION, "use either --%s or --%s, not both",
                           other->flag->name, v->flag->name);
        }
    }
    return ERR_OK;
}

/* Refuse empty arguments: with an unset shell variable a path would name another resource. */
static enum err_code check_arguments(const struct cli *cli, struct err *err)
{
    const struct cli_command *c = cli->command;
    struct str names = str_from_z(c->args);
    size_t least = cli_table_args_min(c);
    if (cli->arg_count < least) {
        return err_set(err, ERR_VALIDATION, "corvo %s needs %s, got %zu argument%s", c->name,
                       c->args, cli->arg_count, cli->arg_count == 1 ? "" : "s");
    }
    for (size_t i = 0; i < least; i++) {
        struct str name = str_cut(&names, ' ');
        if (cli->args[i].len == 0) {
            return err_set(err, ERR_VALIDATION, STR_FMT " must not be empty", STR_ARG(name));
        }
    }
    return ERR_OK;
}

static enum err_code check_complete(struct cli *cli, struct err *err)
{
    if (check_arguments(cli, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < cli->value_count; i++) {
        const struct cli_value *v = &cli->values[i];
        if ((v->flag->options & CLI_REQUIRED) != 0 && !v->given) {
            return err_set(err, ERR_VALIDATION, "flag --%s is required", v->flag->name);
        }
        if (v->given && (check_value(v, err) != ERR_OK || check_fields(cli, v, err) != ERR_OK)) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* True if help is requested anywhere before "--". Then nothing else is checked. */
static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

/* Collect everything but the words of the command, for commands that parse it themselves. */
static void pass_on(struct parse *p)
{
    struct cli *cli = p->cli;
    cli->rest_argv = ARENA_ARRAY(cli->arena, char *, (size_t)p->argc + 1);
    CHECK(cli->rest_argv != NULL);
    for (int i = 0; i < p->argc; i++) {
        if (!is_command_word(p, i)) {
            cli->rest_argv[cli->rest_argc++] = p->argv[i];
        }
    }
    cli->rest_argv[cli->rest_argc] = NULL;
}

enum err_code cli_parse(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct parse p = {.cli = cli, .argc = argc, .argv = argv};
    enum err_code code = find_command(&p, err);
    if (code != ERR_OK) {
        return code;
    }
    if (cli->command != NULL && (cli->command->options & CLI_RAW) != 0) {
        pass_on(&p);
        return ERR_OK;
    }
    cli->help = wants_help(argc, argv);
    if (cli->help || cli->command == NULL) {
        return ERR_OK;
    }
    if (set_defaults(cli, err) != ERR_OK || read_rest(&p, err) != ERR_OK) {
        return err->code;
    }
    return check_complete(cli, err);
}
