#include "cli/cli_man.h"

#include "base/build.h"
#include "base/check.h"

/* Escape text for roff: no line of it becomes a request, no character an escape. */
static void put(FILE *to, const char *text)
{
    bool start = true;
    for (const char *p = text; *p != '\0'; p++) {
        if (start && (*p == '.' || *p == '\'')) {
            (void)fputs("\\&", to);
        }
        if (*p == '\\') {
            (void)fputs("\\e", to);
        } else if (*p == '-') {
            (void)fputs("\\-", to);
        } else {
            (void)fputc(*p, to);
        }
        start = *p == '\n';
    }
}

/* The page is called "budget-set" for "budget set". */
static void put_page_name(FILE *to, const char *name)
{
    (void)fputs("corvo", to);
    for (const char *p = name; *p != '\0'; p++) {
        (void)fputs(p == name ? "\\-" : "", to);
        if (*p == ' ') {
            (void)fputs("\\-", to);
        } else {
            (void)fputc(*p, to);
        }
    }
}

static void put_head(FILE *to, const char *name, const char *summary)
{
    (void)fputs(".TH \"", to);
    put_page_name(to, name);
    (void)fprintf(to, "\" \"1\" \"%.10s\" \"corvo %s\" \"Corvo manual\"\n.SH NAME\n", build_date,
                  build_release);
    put_page_name(to, name);
    (void)fputs(" \\- ", to);
    put(to, summary);
    (void)fputc('\n', to);
}

static void put_flag(FILE *to, const struct cli_flag *f)
{
    (void)fputs(".TP\n", to);
    if (f->letter != 0) {
        (void)fprintf(to, "\\fB\\-%c\\fR, ", f->letter);
    }
    (void)fputs("\\fB\\-\\-", to);
    put(to, f->name);
    (void)fputs("\\fR", to);
    if (f->alias != NULL) {
        (void)fputs(", \\fB\\-\\-", to);
        put(to, f->alias);
        (void)fputs("\\fR", to);
    }
    if (f->value != NULL) {
        (void)fprintf(to, " \\fI%s\\fR", f->value);
    }
    (void)fputc('\n', to);
    put(to, f->help);
    if (f->words != NULL) {
        char choices[CLI_CHOICES_BYTES];
        (void)fputs(": ", to);
        put(to, str_choices(f->words, choices, sizeof choices));
    }
    (void)fputs(".\n", to);
    if (f->fallback != NULL && f->fallback[0] != '\0') {
        (void)fputs("Default: ", to);
        put(to, f->fallback);
        (void)fputs(".\n", to);
    }
    if (f->env != NULL) {
        (void)fprintf(to, "Environment: \\fB%s\\fR.\n", f->env);
    }
}

static void put_settings(struct cli *cli, FILE *to)
{
    struct cli_setting s;
    for (size_t i = 0; cli->host != NULL && cli->host->setting(i, &s); i++) {
        put_flag(to, &(struct cli_flag){
                         .name = s.name, .value = "VALUE", .fallback = s.shown, .help = s.help});
    }
}

static void put_example_lines(FILE *to, const char *text)
{
    (void)fputs(".SH EXAMPLES\n.nf\n", to);
    put(to, text);
    (void)fputs("\n.fi\n", to);
}

void cli_man_command(struct cli *cli, FILE *to, const struct cli_command *c)
{
    const struct cli_flag *f;
    put_head(to, c->name, c->summary);
    (void)fputs(".SH SYNOPSIS\n\\fBcorvo ", to);
    put(to, c->name);
    (void)fputs("\\fR ", to);
    put(to, c->args);
    (void)fputs(" [\\fIflags\\fR]\n", to);
    if (c->about != NULL) {
        (void)fputs(".SH DESCRIPTION\n", to);
        put(to, c->about);
        (void)fputc('\n', to);
    }
    (void)fputs(".SH OPTIONS\n", to);
    if ((c->options & CLI_RAW) != 0) {
        put_settings(cli, to);
    } else {
        for (size_t i = 0; (f = cli_table_flag(c, i)) != NULL; i++) {
            put_flag(to, f);
        }
    }
    if (c->examples != NULL) {
        put_example_lines(to, c->examples);
    }
    (void)fputs(".SH EXIT STATUS\n0 on success, 1 on error, 130 or 143 if"
                " interrupted.\n.SH SEE ALSO\n\\fBcorvo\\fR(1)\n",
                to);
}

void cli_man_index(FILE *to)
{
    size_t count = 0;
    const struct cli_family *const *families = cli_table_families(&count);
    put_head(to, "", "background-job server and command-line client");
    (void)fputs(".SH SYNOPSIS\n\\fBcorvo\\fR \\fIcommand\\fR [\\fIarguments\\fR]"
                " [\\fIflags\\fR]\n.SH COMMANDS\n",
                to);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(to, ".SS %s\n", families[i]->title);
        for (size_t k = 0; k < families[i]->count; k++) {
            const struct cli_command *c = &families[i]->commands[k];
            if ((c->options & CLI_HIDDEN) != 0) {
                continue;
            }
            (void)fputs(".TP\n\\fB", to);
            put_page_name(to, c->name);
            (void)fputs("\\fR(1)\n", to);
            put(to, c->summary);
            (void)fputs(".\n", to);
        }
    }
    (void)fputs(".SH OPTIONS\nEvery command that connects to a server accepts:\n", to);
    const struct cli_flag *f;
    for (size_t i = 0; (f = cli_table_flag(NULL, i)) != NULL; i++) {
        put_flag(to, f);
    }
    (void)fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf set, turns colors off.\n", to);
}
