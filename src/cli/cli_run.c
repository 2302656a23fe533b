/*
 * Runs a command, from its arguments to its exit code.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_form.h"
#include "cli/cli_int.h"
#include "cli/cli_parse.h"
#include "log/log.h"
#include "os/os_signal.h"

struct arena *cli_round_begin(struct cli *cli)
{
    struct arena *outer = cli->arena;
    if (cli->round == NULL) {
        cli->round = arena_new(CLI_ARENA_BYTES);
    }
    arena_reset(cli->round);
    cli->arena = cli->round;
    return outer;
}

void cli_round_end(struct cli *cli, struct arena *outer)
{
    cli->arena = outer;
}

static bool has_environment(char **environment, const char *name)
{
    struct str wanted = str_from_z(name);
    for (char **e = environment; e != NULL && *e != NULL; e++) {
        struct str pair = str_from_z(*e);
        if (str_starts_with(pair, wanted) && pair.len > wanted.len + 1 &&
            pair.ptr[wanted.len] == '=') {
            return true;
        }
    }
    return false;
}

/* Print the error, and how the command is used. */
static int misused(struct cli *cli, const struct err *err)
{
    int code = cli_fail(cli, "%s", err->msg);
    if (cli->command != NULL) {
        (void)fputs("usage: ", cli->err);
        cli_help_usage(cli->err, cli->command);
    } else if (cli->group.len > 0) {
        cli_help_group(cli->err, cli->group);
    } else {
        (void)fputs("usage: corvo <command> [arguments] [flags]; see corvo --help\n", cli->err);
    }
    return code;
}

static int dispatch(struct cli *cli)
{
    const struct cli_command *c = cli->command;
    if (c == NULL) {
        bool asked = cli->help || cli->group.len == 0;
        if (!asked) {
            (void)cli_fail(cli, "corvo " STR_FMT " requires a command", STR_ARG(cli->group));
        }
        cli_help_group(asked ? cli->out : cli->err, cli->group);
        return asked ? CLI_OK : CLI_FAILED;
    }
    if (cli->help) {
        cli_help_command(cli->out, c);
        return CLI_OK;
    }
    if ((c->options & CLI_RAW) == 0) {
        log_configure(log_level_of(cli_text(cli, "log-level")), LOG_AUTO);
    }
    if ((c->options & (CLI_RAW | CLI_LOCAL)) == 0) {
        int code = CLI_FAILED;
        cli->signal_fd = os_signal_open(
            OS_SIGNAL_NO_MORE); /* other commands never wait: signals end them directly */
        if (!cli_form_allowed(cli, &code)) {
            return code;
        }
    }
    return c->run != NULL ? c->run(cli) : cli_call_run(cli);
}

/* Flush the output. If it cannot be written, for example because the disk is full, the command has
 * failed. */
static int finish(struct cli *cli, int code)
{
    bool lost = fflush(cli->out) != 0 || ferror(cli->out) != 0;
    if (lost && code == CLI_OK) {
        code = cli_fail(cli, "the output could not be written");
    }
    (void)fflush(cli->err);
    return code;
}

int cli_main(int argc, char **argv, char **environment, const struct cli_host *host)
{
    struct cli *cli = calloc(1, sizeof *cli);
    struct err err;
    CHECK(cli != NULL);
    *cli = (struct cli){.host = host,
                        .environment = environment,
                        .arena = arena_new(CLI_ARENA_BYTES),
                        .out = stdout,
                        .err = stderr,
                        .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                        .err_is_terminal = isatty(STDERR_FILENO) == 1,
                        .in_is_terminal = isatty(STDIN_FILENO) == 1,
                        .signal_fd = -1};
    cli->color = cli->out_is_terminal && !has_environment(environment, "NO_COLOR");
    int code = cli_parse(cli, argc > 0 ? argc - 1 : 0, argv + 1, &err) == ERR_OK
                   ? dispatch(cli)
                   : misused(cli, &err);
    code = finish(cli, code);
    outgoing_wait_free(cli->http);
    arena_free(cli->round);
    arena_free(cli->arena);
    free(cli);
    return code;
}
