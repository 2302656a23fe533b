/*
 * The state of one run of one command, and the functions that the files of cli/ share.
 *
 * A run has an arena for all its memory, which is freed at the end of the run. Functions that fail
 * have printed the reason on standard error ("Error: …") and return the exit code, which the caller
 * passes on. Not shared between threads.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "json/json_value.h"
#include "json/json_write.h"
#include "outgoing/outgoing_wait.h"

enum {
    CLI_FLAGS_MAX = 64,        /* of one command, including the common ones */
    CLI_ARENA_BYTES = 1 << 30, /* a limit, not an estimate */
    CLI_ANSWER_BYTES = 1 << 29,
    CLI_INPUT_BYTES = 1 << 28, /* standard input, and files */
    CLI_SILENCE_MS = 45000,    /* of an event stream; the server sends a keep-alive every 15 s */
    CLI_LINE_BYTES = 8 << 20,  /* one line, also for all arguments: systems limit these to 2 MiB */
    CLI_CHOICES_BYTES = 128,   /* the words of a flag, formatted by str_choices */
};

/* Exit codes (cli.md 1.5). */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_SIGNAL_BASE = 128 };

struct cli_value {
    const struct cli_flag *flag;
    bool given;        /* on the command line or in the environment */
    struct str text;   /* the last one that was given, else the default */
    struct str *items; /* of lists and of pairs; a pair is key=value */
    size_t item_count;
    int64_t number; /* numbers; also milliseconds, and 1 for true */
    double real;
};

struct cli {
    const struct cli_host *host;
    char **environment;
    struct arena *arena;
    struct arena *round; /* see cli_round_begin; NULL before the first */
    const struct cli_command *command;
    struct str group; /* the words that were understood, if they name no command */
    struct cli_value values[CLI_FLAGS_MAX];
    size_t value_count;
    struct str args[CLI_ARGS_MAX];
    size_t arg_count;
    int rest_argc; /* for CLI_RAW: the unparsed arguments */
    char **rest_argv;
    bool help;

    FILE *out;
    FILE *err;
    bool out_is_terminal, err_is_terminal, in_is_terminal;
    bool color;
    int signal_fd; /* readable after SIGINT or SIGTERM; -1: signals end the process */
    int signal;    /* the signal that was read from it; 0: none */
    struct outgoing_wait *http;
    struct mono deadline; /* end of --wait-timeout, also for requests; 0: none */
};

/* cli_values.c: values of flags */
const struct cli_value *cli_value(const struct cli *cli, const char *name);
bool cli_given(const struct cli *cli, const char *name);
struct str cli_text(const struct cli *cli, const char *name);
int64_t cli_int(const struct cli *cli, const char *name); /* also milliseconds */
bool cli_bool(const struct cli *cli, const char *name);
bool cli_is_json(const struct cli *cli); /* true for --output json and its older spelling */

/* Write the members of the body for all flags that name a field and were given. */
void cli_values_write(const struct cli *cli, struct json_write *w);

/* cli_print.c: output */
void cli_printf(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3); /* to standard output */
void cli_note(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3);   /* to standard error */
int cli_fail(struct cli *cli, const char *fmt, ...)
    ATTR_PRINTF(2, 3);                                 /* print "Error: …" and return 1 */
void cli_print_json(struct cli *cli, struct str json); /* indented; unchanged if it is not JSON */
ATTR_NODISCARD struct str cli_format(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* A copy without control characters. Names and payloads are untrusted and must not control the
 * terminal. */
struct str cli_harmless(struct cli *cli, struct str text);

/* Print the result of a command: the response with --output json, else the pattern, filled in from
 * the response by cli_print_pattern, and a line feed. Returns CLI_OK. */
int cli_show(struct cli *cli, struct str answer, const char *pattern);

/* Print pattern; {0} is the first argument, {name} a member of the object. */
void cli_print_pattern(struct cli *cli, FILE *to, const char *pattern, struct str object);

/* cli_client.c: requests to the server */
struct cli_answer {
    int status;
    struct str body; /* in the arena */
    struct str next; /* cursor of the next page of a list; empty: last page */
};

/* The base URL, "/api/v1" (not for the RPC service) and the pattern, in which {0}, {1} … are
 * replaced by the percent-encoded parts. */
const char *cli_url(struct cli *cli, const char *pattern, const struct str *parts, size_t count);
#define CLI_URL(cli, pattern, ...)                                                                 \
    cli_url((cli), (pattern), (const struct str[]){__VA_ARGS__},                                   \
            sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

const char *cli_url_to(struct cli *cli, const char *path); /* the same without parts */

/* The URL as shown in messages: without a user name and password. */
struct str cli_url_shown(struct cli *cli, struct str url);

/* Add ?name=value, or &name=value, to the URL. */
const char *cli_url_query(struct cli *cli, const char *url, const char *name, struct str value);

/* Prepare a call with the headers, timeout and limits from the flags and the deadline. The body
 * must stay valid. */
struct outgoing_wait_call cli_call_to(struct cli *cli, const char *method, const char *url,
                                      struct str body);

/* The same for an event stream, which never ends; a limit on silence applies instead. */
struct outgoing_wait_call cli_call_events(struct cli *cli, const char *url);

/* The same for a streaming method of the RPC service ("/corvo.v1.…"), over Connect with JSON. */
struct outgoing_wait_call cli_call_stream(struct cli *cli, const char *method);

/* Send the request and wait. Every status counts as a response. */
ATTR_NODISCARD int cli_ask(struct cli *cli, const char *method, const char *url, struct str body,
                           struct cli_answer *out);

/* The same, but a status other than 2xx and a response that is not a document are failures. A list
 * with several pages is fetched completely. */
ATTR_NODISCARD int cli_request(struct cli *cli, const char *method, const char *url,
                               struct str body, struct cli_answer *out);

/* Every valid response is a document: a complete object or array. cli_unreadable prints that one is
 * not, cli_refused the error of a finished call that failed. Both return the exit code. */
bool cli_is_document(struct str body);
int cli_unreadable(struct cli *cli);
int cli_refused(struct cli *cli, int status, struct str body);
int cli_unreachable(struct cli *cli, const struct err *err);

/* The exit code for the signal that ended the run. */
int cli_interrupted(struct cli *cli);

/* If --wait-timeout is given, requests of the command end with it. */
void cli_deadline_begin(struct cli *cli);
/* The time left until then; 0 if it is over, INT64_MAX if there is no limit. */
int64_t cli_deadline_left_ms(const struct cli *cli);

/* Wait for this long, or until a signal arrives; false after a signal. */
ATTR_NODISCARD bool cli_sleep(struct cli *cli, int64_t ms);

/* cli_json.c: reading responses */

/* The value at "a.b"; its type is JSON_TYPE_COUNT if there is none. */
struct json_value cli_member(struct str object, const char *path);

/* Its text: a string decoded, other values as JSON, empty for null and missing values. */
struct str cli_member_text(struct cli *cli, struct str object, const char *path);
int64_t cli_member_int(struct str object, const char *path);
double cli_member_real(struct str object, const char *path);
bool cli_member_true(struct str object, const char *path);
struct str cli_decode(struct cli *cli, struct json_value value);

/* The elements of an array, as JSON texts in the arena. 0 if it is not an array. */
size_t cli_elements(struct cli *cli, struct str array, struct str **out);

/* The object with this name in an array, as JSON text; empty if there is none. */
struct str cli_element_named(struct cli *cli, struct str array, struct str name);

/* An object with these pairs, in the arena. */
struct cli_pair {
    const char *key;
    enum { CLI_PAIR_TEXT, CLI_PAIR_INT, CLI_PAIR_REAL, CLI_PAIR_BOOL, CLI_PAIR_RAW } kind;
    struct str text; /* or raw JSON; an empty one is left out */
    int64_t number;  /* or 1 for true */
    double real;
};
struct str cli_object(struct cli *cli, const struct cli_pair *pairs, size_t count);

/* clang-format off */
#define CLI_OBJECT(cli, ...)                                                                       \
    cli_object((cli), (const struct cli_pair[]){__VA_ARGS__},                                      \
               sizeof((const struct cli_pair[]){__VA_ARGS__}) / sizeof(struct cli_pair))
#define CLI_SET_TEXT(k, v) {.key = (k), .kind = CLI_PAIR_TEXT, .text = (v)}
#define CLI_SET_INT(k, v)  {.key = (k), .kind = CLI_PAIR_INT, .number = (v)}
#define CLI_SET_REAL(k, v) {.key = (k), .kind = CLI_PAIR_REAL, .real = (v)}
#define CLI_SET_BOOL(k, v) {.key = (k), .kind = CLI_PAIR_BOOL, .number = (v)}
#define CLI_SET_RAW(k, v)  {.key = (k), .kind = CLI_PAIR_RAW, .text = (v)}
/* clang-format on */

/* Append the JSON to out, indented by two spaces per level. */
void cli_json_indent(struct buf *out, struct str json);
/* The same for a value at this level inside another one. */
void cli_json_indent_at(struct buf *out, struct str json, size_t depth);
/* The same JSON without white space between tokens, in the arena. */
struct str cli_json_compact(struct cli *cli, struct str json);

/* cli_input.c: files, standard input and the user */
ATTR_NODISCARD int cli_read_file(struct cli *cli, struct str path, struct str *out);
ATTR_NODISCARD int cli_read_stdin(struct cli *cli, struct str *out);
/* Copy all of it, however large, into an unnamed temporary file; the caller closes it. */
ATTR_NODISCARD int cli_spool_stdin(struct cli *cli, int *out_fd);

/* Check that a command can create or replace the file, before long work is done in vain. *out_path
 * is its path. Only regular files are replaced: *out_special is set for a device or a pipe. Refuses
 * a directory, and a parent directory that is missing or not writable. */
ATTR_NODISCARD int cli_target(struct cli *cli, struct str path, const char **out_path,
                              bool *out_special);

/* Write the bytes to the file, all or nothing; a device or a pipe is written directly. */
ATTR_NODISCARD int cli_write_file(struct cli *cli, struct str path, struct str bytes);

/* Ask for confirmation. True with --yes or if the user agrees on a terminal; without a terminal,
 * if_silent. If false, the reason has been printed and *out_code is the exit code. */
ATTR_NODISCARD bool cli_confirmed(struct cli *cli, bool if_silent, const char *question,
                                  int *out_code);

/* cli_call.c: commands that are one request, with this body */
int cli_call_run(struct cli *cli);
struct str cli_call_body(struct cli *cli);

/* Print a table of the rows, each the JSON text of an object. */
void cli_call_table(struct cli *cli, const struct cli_column *columns, size_t column_count,
                    const struct str *rows, size_t row_count);

/* cli_help.c */
void cli_help_command(FILE *to, const struct cli_command *c);
void cli_help_group(FILE *to, struct str group);            /* an empty group: all commands */
void cli_help_usage(FILE *to, const struct cli_command *c); /* in one line */

/* cli_run.c */

/* For commands that may run for a long time: memory taken between the two calls belongs to a round
 * and is reused by the next round. cli_round_end takes the result of cli_round_begin. */
ATTR_NODISCARD struct arena *cli_round_begin(struct cli *cli);
void cli_round_end(struct cli *cli, struct arena *outer);
