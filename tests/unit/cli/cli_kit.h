/*
 * Cli_kit: a run of the command line inside a test, with its output in memory.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "cli/cli_int.h"
#include "cli/cli_parse.h"
#include "lib/expect.h"
#include "outgoing/outgoing_wait.h"

enum { CLI_KIT_ARGS_MAX = 24, CLI_KIT_TEXT_MAX = 1024 };

struct cli_kit {
    struct cli cli;
    char text[CLI_KIT_TEXT_MAX];
    char *argv[CLI_KIT_ARGS_MAX];
    int argc;
    char *out;
    size_t out_size;
    struct err err;
};

static inline void cli_kit_open(struct cli_kit *k)
{
    static char *no_environment[] = {NULL};
    *k = (struct cli_kit){
        .cli = {.arena = arena_new(1 << 24), .environment = no_environment, .signal_fd = -1}};
    k->cli.out = k->cli.err = open_memstream(&k->out, &k->out_size);
}

static inline void cli_kit_close(struct cli_kit *k)
{
    (void)fclose(k->cli.out);
    free(k->out);
    outgoing_wait_free(k->cli.http);
    arena_free(k->cli.arena);
}

/* Parse a line whose words are separated by single spaces. '_' is a space inside a word. */
static inline enum err_code cli_kit_parse(struct cli_kit *k, const char *line)
{
    k->argc = 0;
    (void)snprintf(k->text, sizeof k->text, "%s", line);
    for (char *p = k->text; *p != '\0'; p++) {
        if (p == k->text || p[-1] == '\0') {
            k->argv[k->argc++] = p;
        }
        *p = (char)(*p == ' ' ? '\0' : *p == '_' ? ' ' : *p);
        if (*p == '\0' && p[1] == '\0') {
            break;
        }
    }
    return cli_parse(&k->cli, k->argc, k->argv, &k->err);
}

static inline struct str cli_kit_output(struct cli_kit *k)
{
    (void)fflush(k->cli.out);
    return str_from(k->out, k->out_size);
}

static inline struct str cli_kit_body(struct cli_kit *k, struct buf *b)
{
    buf_init(b, 1 << 20);
    struct json_write w = json_write_to(b);
    json_write_object(&w);
    cli_values_write(&k->cli, &w);
    json_write_end(&w);
    return buf_str(b);
}
