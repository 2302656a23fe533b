/*
 * What the files of cli/ share: one run of one command.
 *
 * A run has an arena that lives as long as it does: nothing taken from it is given back, and a
 * command ends soon. Functions that fail have said why on standard error ("Error: …") and return
 * the exit code; the caller passes it on.
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
    CLI_FLAGS_MAX = 64,        /* of one command, the common ones included */
    CLI_ARENA_BYTES = 1 << 30, /* answers are kept in it: a bound, not a plan */
    CLI_ANSWER_BYTES = 1 << 29,
    CLI_INPUT_BYTES = 1 << 28, /* standard input, and files that are read */
    CLI_SILENCE_MS = 45000,    /* of an event stream, which shows every 15 s that it is alive */
    CLI_LINE_BYTES = 8 << 20,  /* one line, also of all arguments: a system takes 2 MiB of them */
};

/* Exit codes (cli.md 1.5). */
enum { CLI_CHOICES_BYTES = 128 }; /* the words of a flag, as str_choices writes them */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_SIGNAL_BASE = 128 };

struct cli_value {
    const struct cli_flag *flag;
    bool given;        /* on the command line or by the environment */
    struct str text;   /* the last one given, else the default */
    struct str *items; /* of lists, and of pairs: each as key=value */
    size_t item_count;
    int64_t number; /* also milliseconds, and 1 for true */
    double real;
};

struct cli {
    const struct cli_host *host;
    char **environment;
    struct arena *arena;
    struct arena *round; /* see cli_round_begin; NULL before the first */
    const struct cli_command *command;
    struct str group; /* when there is no command: the words that were understood */
    struct cli_value values[CLI_FLAGS_MAX];
    size_t value_count;
    struct str args[CLI_ARGS_MAX];
    size_t arg_count;
    int rest_argc; /* of CLI_RAW: the arguments as they came */
    char **rest_argv;
    bool help;

    FILE *out;
    FILE *err;
    bool out_is_terminal, err_is_terminal, in_is_terminal;
    bool color;
    int signal_fd; /* readable when the user has had enough; -1: nobody looks */
    int signal;    /* that was read; 0: none */
    struct outgoing_wait *http;
    struct mono deadline; /* of --wait-timeout: requests end with it; 0: there is none */
};

/* cli_values.c: what was given */
const struct cli_value *cli_value(const struct cli *cli, const char *name);
bool cli_given(const struct cli *cli, const char *name);
struct str cli_text(const struct cli *cli, const char *name);
int64_t cli_int(const struct cli *cli, const char *name); /* also milliseconds */
bool cli_bool(const struct cli *cli, const char *name);
bool cli_is_json(const struct cli *cli); /* --output json or its older spelling */

/* Write the body's members for every flag that names a field and was given. */
void cli_values_write(const struct cli *cli, struct json_write *w);

/* cli_print.c: saying something */
void cli_printf(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3); /* on standard output */
void cli_note(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3);   /* on standard error */
int cli_fail(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3);    /* "Error: …"; 1 */
void cli_print_json(struct cli *cli, struct str json); /* indented; as it is when not JSON */
ATTR_NODISCARD struct str cli_format(struct cli *cli, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* A copy without control characters: names and payloads come from strangers, and nothing of theirs
 * may move the cursor. */
struct str cli_harmless(struct cli *cli, struct str text);

/* What a command has to say at its end: the answer with --output json, else the pattern, filled
 * from it as by cli_print_pattern, and a line feed. CLI_OK, for return. */
int cli_show(struct cli *cli, struct str answer, const char *pattern);

/* Print pattern with {0} as the first argument and {name} as that member of the object. */
void cli_print_pattern(struct cli *cli, FILE *to, const char *pattern, struct str object);

/* cli_client.c: asking the server */
struct cli_answer {
    int status;
    struct str body; /* in the arena */
    struct str next; /* of a page of a list: where the next one begins; empty: it is the last */
};

/* base + "/api/v1" (not for the RPC service) + pattern with {0}, {1} … replaced by the parts,
 * percent-encoded. */
const char *cli_url(struct cli *cli, const char *pattern, const struct str *parts, size_t count);
#define CLI_URL(cli, pattern, ...)                                                                 \
    cli_url((cli), (pattern), (const struct str[]){__VA_ARGS__},                                   \
            sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* The same without parts. */
const char *cli_url_to(struct cli *cli, const char *path);

/* The URL for messages: without the user and password that it may contain. */
struct str cli_url_shown(struct cli *cli, struct str url);

/* Add ?name=value, or &name=value, to the URL. */
const char *cli_url_query(struct cli *cli, const char *url, const char *name, struct str value);

/* Ready to be started: headers, timeout, limits as the flags and the deadline say. The body must
 * stay. */
struct outgoing_wait_call cli_call_to(struct cli *cli, const char *method, const char *url,
                                      struct str body);

/* The same for a stream of events, which has no end but must not be silent. */
struct outgoing_wait_call cli_call_events(struct cli *cli, const char *url);

/* The same for a method of the RPC service ("/corvo.v1.…") that is a stream, of Connect with JSON.
 */
struct outgoing_wait_call cli_call_stream(struct cli *cli, const char *method);

/* Make the request and wait. Any status is an answer. */
ATTR_NODISCARD int cli_ask(struct cli *cli, const char *method, const char *url, struct str body,
                           struct cli_answer *out);

/* The same, where every status but the two hundreds has failed, and every answer that is no
 * document. A list that comes in pages is put together. */
ATTR_NODISCARD int cli_request(struct cli *cli, const char *method, const char *url,
                               struct str body, struct cli_answer *out);

/* Say what a finished call that did not go well was about; the exit code. */
int cli_refused(struct cli *cli, int status, struct str body);
int cli_unreachable(struct cli *cli, const struct err *err);

/* The signal that ended the run as an exit code. */
int cli_interrupted(struct cli *cli);

/* Let the command's requests end when --wait-timeout is over, if it is given. */
void cli_deadline_begin(struct cli *cli);
/* How long that is; 0 when it is over, INT64_MAX when there is none. */
int64_t cli_deadline_left_ms(const struct cli *cli);

/* Wait so long, or until a signal; false for the latter. */
ATTR_NODISCARD bool cli_sleep(struct cli *cli, int64_t ms);

/* cli_json.c: reading answers */

/* The value under "a.b"; of type JSON_TYPE_COUNT when there is none. */
struct json_value cli_member(struct str object, const char *path);

/* Its text: a string decoded, anything else as JSON, nothing for null and absence. */
struct str cli_member_text(struct cli *cli, struct str object, const char *path);
int64_t cli_member_int(struct str object, const char *path);
double cli_member_real(struct str object, const char *path);
bool cli_member_true(struct str object, const char *path);
struct str cli_decode(struct cli *cli, struct json_value value);

/* The elements of an array, as their JSON texts, in the arena. 0 when it is none. */
size_t cli_elements(struct cli *cli, struct str array, struct str **out);

/* The object of an array that has this name, as its JSON text; empty when none has. */
struct str cli_element_named(struct cli *cli, struct str array, struct str name);

/* An object of these pairs, in the arena. */
struct cli_pair {
    const char *key;
    enum { CLI_PAIR_TEXT, CLI_PAIR_INT, CLI_PAIR_REAL, CLI_PAIR_BOOL, CLI_PAIR_RAW } kind;
    struct str text; /* also raw JSON; an empty one is left out */
    int64_t number;  /* also 1 for true */
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

/* Put the JSON behind what is in out, two spaces per level. */
void cli_json_indent(struct buf *out, struct str json);
/* The same for a value that stands so deep in another. */
void cli_json_indent_at(struct buf *out, struct str json, size_t depth);

/* The same JSON without white space between its parts, in the arena. */
struct str cli_json_compact(struct cli *cli, struct str json);

/* cli_input.c: files, standard input and the user */
ATTR_NODISCARD int cli_read_file(struct cli *cli, struct str path, struct str *out);
ATTR_NODISCARD int cli_read_stdin(struct cli *cli, struct str *out);
/* All of it, however much, into a file that has no name; the caller closes it. */
ATTR_NODISCARD int cli_spool_stdin(struct cli *cli, int *out_fd);

/* The path of a file that a command may make or replace, in *out_path. Nothing is replaced that is
 * no file: then *out_special is set for a device or a pipe, and a folder is refused. So is a folder
 * around it that is not there or cannot be written to, before a long work is done for nothing. */
ATTR_NODISCARD int cli_target(struct cli *cli, struct str path, const char **out_path,
                              bool *out_special);

/* Put the bytes into the file, all or nothing; a device or a pipe is written to. */
ATTR_NODISCARD int cli_write_file(struct cli *cli, struct str path, struct str bytes);

/* May it be done? Yes with --yes; on a terminal the user is asked; otherwise as if_silent. When
 * not, it was said why, and *out_code is the exit code. */
ATTR_NODISCARD bool cli_confirmed(struct cli *cli, bool if_silent, const char *question,
                                  int *out_code);

/* cli_call.c: the commands that are one request */
int cli_call_run(struct cli *cli);

/* A table of the rows, each the JSON text of an object. */
void cli_call_table(struct cli *cli, const struct cli_column *columns, size_t column_count,
                    const struct str *rows, size_t row_count);

/* cli_help.c */
void cli_help_command(FILE *to, const struct cli_command *c);
void cli_help_group(FILE *to, struct str group);            /* empty: everything */
void cli_help_usage(FILE *to, const struct cli_command *c); /* one line */

/* cli_self.c */

/* cli_run.c */

/* For what may go on for long: between the two calls the run's memory is that of a round, which
 * the next begin takes back. Returns what end wants. */
ATTR_NODISCARD struct arena *cli_round_begin(struct cli *cli);
void cli_round_end(struct cli *cli, struct arena *outer);
