/*
 * The commands about the program itself.
 */
#include <stdlib.h>

#include "base/build.h"
#include "base/check.h"
#include "cli/cli_complete.h"
#include "cli/cli_int.h"
#include "cli/cli_man.h"
#include "os/os_file.h"

static int run_server(struct cli *cli)
{
    return cli->host->server(cli->rest_argc, cli->rest_argv, cli->environment);
}

static int run_version(struct cli *cli)
{
    if (cli_is_json(cli)) {
        cli_print_json(cli,
                       cli_format(cli, "{\"version\":\"%s\",\"commit\":\"%s\",\"date\":\"%s\"}",
                                  build_release, build_commit, build_date));
        return CLI_OK;
    }
    cli_printf(cli, "corvo %s (commit: %s, built: %s)\n", build_release, build_commit, build_date);
    return CLI_OK;
}

/* Join the arguments to the name of a command or group, and resolve an alias. */
static struct str joined(struct cli *cli)
{
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    for (size_t i = 0; i < cli->arg_count; i++) {
        buf_add_str(&b, i > 0 ? STR(" ") : STR_EMPTY);
        buf_add_str(&b, cli->args[i]);
    }
    struct str name = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    struct str alias = cli_table_alias(name);
    return alias.len > 0 ? alias : name;
}

static int run_help(struct cli *cli)
{
    struct str name = joined(cli);
    const struct cli_command *c = cli_table_find(name);
    char help[] = "--help";
    char *argv[] = {help, NULL};
    if (c != NULL && strcmp(c->name, "server") == 0) {
        return cli->host->server(1, argv, cli->environment);
    }
    if (c != NULL) {
        cli_help_command(cli->out, c);
        return CLI_OK;
    }
    if (name.len > 0 && !cli_table_is_group(name)) {
        return cli_fail(cli, "unknown command '" STR_FMT "'", STR_ARG(name));
    }
    cli_help_group(cli->out, name);
    return CLI_OK;
}

static int run_completion(struct cli *cli)
{
    const char *script = cli_complete_script(cli->args[0]);
    if (script == NULL) {
        return cli_fail(cli, "unknown shell '" STR_FMT "'; expected bash, zsh, fish or powershell",
                        STR_ARG(cli->args[0]));
    }
    cli_printf(cli, "%s", script);
    return CLI_OK;
}

static int run_complete(struct cli *cli)
{
    cli_complete_words(cli, cli->rest_argc, cli->rest_argv);
    return CLI_OK;
}

/* Manual pages */

/* Write one page into dir; corvo(1) if c is NULL. */
static int write_page(struct cli *cli, const char *dir, const struct cli_command *c)
{
    char *text = NULL;
    size_t size = 0;
    struct err err;
    char name[128] = "corvo.1";
    if (c != NULL) {
        (void)snprintf(name, sizeof name, "corvo-%s.1", c->name);
        for (char *p = strchr(name, ' '); p != NULL; p = strchr(p, ' ')) {
            *p = '-';
        }
    }
    FILE *page = open_memstream(&text, &size);
    CHECK(page != NULL);
    if (c == NULL) {
        cli_man_index(page);
    } else {
        cli_man_command(cli, page, c);
    }
    CHECK(fclose(page) == 0);
    struct os_file_path path = os_file_join(dir, name);
    enum err_code code = os_file_replace(path.z, str_from(text, size), &err);
    free(text);
    return code == ERR_OK ? CLI_OK : cli_fail(cli, "%s", err.msg);
}

static int write_pages(struct cli *cli, struct str folder)
{
    struct err err;
    const char *dir = arena_strz(cli->arena, folder);
    const struct cli_command *c;
    CHECK(dir != NULL);
    if (folder.len > OS_FILE_PATH_MAX / 2) {
        return cli_fail(cli, "--dir is too long");
    }
    if (os_file_make_dirs(dir, &err) != ERR_OK) {
        return cli_fail(cli, "%s", err.msg);
    }
    int code = write_page(cli, dir, NULL);
    for (size_t i = 0; code == CLI_OK && (c = cli_table_at(i)) != NULL; i++) {
        if ((c->options & CLI_HIDDEN) == 0) {
            code = write_page(cli, dir, c);
        }
    }
    return code;
}

static int run_man(struct cli *cli)
{
    struct str name = joined(cli);
    const struct cli_command *c = cli_table_find(name);
    if (cli_given(cli, "dir")) {
        return write_pages(cli, cli_text(cli, "dir"));
    }
    if (name.len == 0) {
        cli_man_index(cli->out);
        return CLI_OK;
    }
    if (c == NULL) {
        return cli_fail(cli, "unknown command '" STR_FMT "'", STR_ARG(name));
    }
    cli_man_command(cli, cli->out, c);
    return CLI_OK;
}

/* clang-format off */
static const struct cli_flag version_flags[] = {
    CLI_FLAG("output", CLI_TEXT, "FORMAT", "text", "output format", .letter = 'o', .words = "text json"),
    CLI_FLAG("output-json", CLI_BOOL, NULL, "false", "same as --output json"),
};

static const struct cli_flag man_flags[] = {
    CLI_FLAG("dir", CLI_BYTES, "DIR", NULL, "write all pages as files to this directory"),
};

static const struct cli_command commands[] = {
    {.name = "server", .args = "[settings...]", .summary = "Run the server",
     .about = "\"corvo server --help\" lists the settings.", .options = CLI_LOCAL | CLI_RAW, .run = run_server},
    {.name = "version", .args = "", .summary = "Print the version",
     CLI_FLAGS(version_flags), .options = CLI_LOCAL, .run = run_version},
    {.name = "help", .args = "[command...]", .summary = "Show help for a command",
     .options = CLI_LOCAL, .run = run_help},
    {.name = "completion", .args = "<shell>", .summary = "Print the completion script for a shell",
     .about = "Shells: bash, zsh, fish, powershell.",
     .examples = "source <(corvo completion bash)\n"
                 "corvo completion zsh > \"${fpath[1]}/_corvo\"\n"
                 "corvo completion fish > ~/.config/fish/completions/corvo.fish\n"
                 "corvo completion powershell | Out-String | Invoke-Expression",
     .options = CLI_LOCAL, .run = run_completion},
    {.name = "man", .args = "[command...]", .summary = "Print a manual page",
     .examples = "corvo man search | man -l -\ncorvo man --dir /usr/local/share/man/man1",
     CLI_FLAGS(man_flags), .options = CLI_LOCAL, .run = run_man},
    {.name = "__complete", .args = "[words...]", .summary = "List completions for a command line",
     .options = CLI_LOCAL | CLI_RAW | CLI_HIDDEN, .run = run_complete},
};
/* clang-format on */

const struct cli_family cli_self_family = {"Server and program", commands, COUNT_OF(commands)};
