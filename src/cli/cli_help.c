/*
 * Prints help at every level, from the table.
 */
#include "base/check.h"
#include "cli/cli_int.h"

enum { NAME_COLUMN = 26, FLAG_COLUMN = 38 };

void cli_help_usage(FILE *to, const struct cli_command *c)
{
    (void)fprintf(to, "corvo %s%s%s%s", c->name, c->args[0] == '\0' ? "" : " ", c->args,
                  (c->options & CLI_RAW) != 0 && c->args[0] != '\0' ? "\n" : " [flags]\n");
}

static void print_flag(FILE *to, const struct cli_flag *f)
{
    char left[64];
    char letter[8] = "    ";
    if (f->letter != 0) {
        (void)snprintf(letter, sizeof letter, "-%c, ", f->letter);
    }
    (void)snprintf(left, sizeof left, "%s--%s%s%s", letter, f->name, f->value == NULL ? "" : " ",
                   f->value == NULL ? "" : f->value);
    (void)fprintf(to, "  %-*s %s", FLAG_COLUMN, left, f->help);
    if (f->words != NULL) {
        char choices[CLI_CHOICES_BYTES];
        (void)fprintf(to, ": %s", str_choices(f->words, choices, sizeof choices));
    }
    if (f->fallback != NULL && f->kind != CLI_BOOL) {
        (void)fprintf(to, " (%s)", f->fallback);
    }
    if (f->kind == CLI_BOOL && f->fallback != NULL && strcmp(f->fallback, "true") == 0) {
        (void)fprintf(to, " (true; --%s=false turns it off)", f->name);
    }
    if (f->env != NULL) {
        (void)fprintf(to, " [%s]", f->env);
    }
    if (f->alias != NULL) {
        (void)fprintf(to, "; also --%s", f->alias);
    }
    (void)fprintf(to, "%s\n", (f->options & CLI_REQUIRED) != 0 ? " (required)" : "");
}

static void print_flags(FILE *to, const struct cli_command *c)
{
    const struct cli_flag *f;
    for (size_t i = 0; (f = cli_table_flag(c, i)) != NULL; i++) {
        if (i == 0 && c->flag_count > 0) {
            (void)fprintf(to, "\nFlags:\n");
        } else if (i == c->flag_count) {
            (void)fprintf(to, "\nGlobal flags:\n");
        }
        print_flag(to, f);
    }
}

/* Print the lines of a text, indented. */
static void print_lines(FILE *to, const char *text)
{
    bool start = true;
    for (const char *p = text; *p != '\0'; p++) {
        if (start) {
            (void)fputs("  ", to);
        }
        (void)fputc(*p, to);
        start = *p == '\n';
    }
    (void)fputc('\n', to);
}

static void print_row(FILE *to, const char *name, const struct cli_command *c)
{
    char left[96];
    (void)snprintf(left, sizeof left, "%s%s%s", name, c->args[0] == '\0' ? "" : " ", c->args);
    (void)fprintf(to, "  %-*s %s\n", NAME_COLUMN + 8, left, c->summary);
}

static bool is_in_group(const char *full, const struct cli_command *c, struct str group)
{
    struct str name = str_from_z(full);
    return (c->options & CLI_HIDDEN) == 0 &&
           (str_eq(name, group) || cli_table_is_below(name, group));
}

/* The group whose commands the help of a command lists: its name, or the alias above it, which for
 * "keys list" is "keys". */
static struct str group_of(const struct cli_command *c)
{
    const char *alias = NULL;
    const struct cli_command *target;
    for (size_t i = 0; (target = cli_table_alias_at(i, &alias)) != NULL; i++) {
        if (target == c && cli_table_is_below(str_from_z(c->name), str_from_z(alias))) {
            return str_from_z(alias);
        }
    }
    return str_from_z(c->name);
}

void cli_help_command(FILE *to, const struct cli_command *c)
{
    struct str group = group_of(c);
    (void)fprintf(to, "usage: ");
    cli_help_usage(to, c);
    (void)fprintf(to, "\n%s.\n", c->summary);
    if (c->about != NULL) {
        (void)fprintf(to, "\n%s\n", c->about);
    }
    const struct cli_command *other;
    bool any = false; /* a command may have aliases only, and no subcommands */
    for (size_t i = 0; (other = cli_table_at(i)) != NULL; i++) {
        if (other != c && is_in_group(other->name, other, group)) {
            (void)fputs(any ? "" : "\nCommands:\n", to);
            print_row(to, other->name, other);
            any = true;
        }
    }
    if ((c->options & CLI_RAW) == 0) {
        print_flags(to, c);
    }
    if (c->examples != NULL) {
        (void)fprintf(to, "\nExamples:\n");
        print_lines(to, c->examples);
    }
}

static void print_family(FILE *to, const struct cli_family *family)
{
    (void)fprintf(to, "\n%s:\n", family->title);
    for (size_t i = 0; i < family->count; i++) {
        if ((family->commands[i].options & CLI_HIDDEN) == 0) {
            print_row(to, family->commands[i].name, &family->commands[i]);
        }
    }
}

void cli_help_group(FILE *to, struct str group)
{
    const struct cli_command *c;
    size_t count = 0;
    if (group.len > 0) {
        (void)fprintf(to, "usage: corvo " STR_FMT " <command> [flags]\n\nCommands:\n",
                      STR_ARG(group));
        for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
            if (is_in_group(c->name, c, group)) {
                print_row(to, c->name, c);
            }
        }
        const char *alias = NULL;
        for (size_t i = 0; (c = cli_table_alias_at(i, &alias)) != NULL; i++) {
            if (is_in_group(alias, c, group)) {
                print_row(to, alias, c);
            }
        }
        return;
    }
    (void)fprintf(to, "corvo: background-job server and command-line client\n\n"
                      "usage: corvo <command> [arguments] [flags]\n");
    const struct cli_family *const *families = cli_table_families(&count);
    for (size_t i = 0; i < count; i++) {
        print_family(to, families[i]);
    }
    (void)fprintf(to, "\nGlobal flags:\n");
    const struct cli_flag *f;
    for (size_t i = 0; (f = cli_table_flag(NULL, i)) != NULL; i++) {
        print_flag(to, f);
    }
    (void)fprintf(
        to, "\nRun \"corvo help <command>\" for details and \"corvo man <command>\" for the manual"
            " page.\n");
}
