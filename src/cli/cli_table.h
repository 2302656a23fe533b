/*
 * Cli_table: the tables of commands and flags.
 *
 * A command is a row. Many commands need nothing else: the row names the request to send and how to
 * print the response (struct cli_call), and cli_call.c does both. Others have a function. Flags of
 * a row that name a field of the request body are added to it by their kind.
 *
 * To add a command: add a row to the family's file (cli_jobs.c …), a function if it needs one, and
 * a test in tests/integration/cli. To add a family: add its table here and in cli_table.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct cli;

enum cli_kind {
    CLI_TEXT,
    CLI_INT,
    CLI_REAL,
    CLI_BOOL,
    CLI_DURATION, /* sent unchanged */
    CLI_TIME,     /* a time of cli_when.h; RFC 3339 and dates are sent unchanged */
    CLI_LIST,     /* comma-separated, repeated, or both */
    CLI_PAIRS,    /* a list of key=value */
    CLI_JSON,     /* JSON text, or @file */
    CLI_BYTES,    /* text that need not be UTF-8: a file name, a command, a secret */
    CLI_KIND_COUNT
};

/* Options of a flag. */
enum {
    CLI_REQUIRED = 1 << 0,
    CLI_POSITIVE = 1 << 1,     /* zero is not sent, negative values are refused */
    CLI_NOT_NEGATIVE = 1 << 2, /* -1 is not sent, smaller values are refused */
    CLI_SEND_DEFAULT = 1 << 3, /* the default is also sent */
    CLI_INVERTED = 1 << 4,     /* a boolean whose negation is sent */
    CLI_AHEAD = 1 << 5,        /* a bare duration means after now; "-1h" is refused */
    CLI_FUTURE = 1 << 6,       /* a time that has passed is refused */
    CLI_NOT_EMPTY = 1 << 7,    /* an empty text is refused */
};

struct cli_flag {
    const char *name; /* without leading dashes */
    enum cli_kind kind;
    const char *value; /* the placeholder of the value in help, such as QUEUE; NULL for a boolean */
    const char *fallback; /* the default; NULL: none */
    const char *help;
    const char *field; /* field of the request body; "agent.max_cost_usd": nested; NULL: none */
    const char *words; /* the allowed words, separated by blanks; NULL: any text */
    const char *env;   /* the environment variable that can set it; NULL: none */
    const char *alias; /* another name of the flag */
    char letter;       /* as in -o; 0: none */
    unsigned options;
};

/* How a cell is printed. */
enum cli_show {
    CLI_SHOW_TEXT,     /* a string unchanged, other values as JSON */
    CLI_SHOW_TIME,     /* a time; relative to now on a terminal */
    CLI_SHOW_MINUTE,   /* a time; without seconds on a terminal */
    CLI_SHOW_YES,      /* "yes" or empty */
    CLI_SHOW_STATE,    /* with the color of the state */
    CLI_SHOW_ALIVE,    /* the time of a heartbeat as healthy, stale (over a minute) or offline (over
                          five) */
    CLI_SHOW_MONEY,    /* six decimals */
    CLI_SHOW_LIST,     /* a list, separated by commas; also a string that contains a JSON array */
    CLI_SHOW_CUT,      /* at most 60 characters */
    CLI_SHOW_PRIORITY, /* a number as its name */
    CLI_SHOW_GRANTS,   /* permissions of a role: queues:read,queues:pause */
    CLI_SHOW_COUNT
};

/* When a column is shown; combined with its format. */
enum {
    CLI_SHOW_KIND = 0xff,
    CLI_SHOW_MINOR = 1 << 8, /* not on a terminal that is too narrow */
    CLI_SHOW_WIDE = 1 << 9,  /* only with -o wide */
    CLI_SHOW_ROOM = 1 << 10, /* with -o wide, and on a terminal that is wide enough */
};

struct cli_column {
    const char *head;
    const char *member; /* of each row; "a|b" is the first one that exists */
    unsigned show;      /* enum cli_show, and when it is shown */
};

enum { CLI_ARGS_MAX = 3 };

/* A command that consists of one request. In path, {0} is the first argument, percent-encoded. In
 * text, {0} is the argument and {name} a member of the response. */
struct cli_call {
    const char *method;
    const char *path;                    /* below /api/v1 */
    const char *arg_field[CLI_ARGS_MAX]; /* fields of the body that arguments set */
    const char *query; /* the flag that is sent in the query even if the method is not GET */
    const char *text;  /* printed on success; NULL: a table is printed */
    const char *rows;  /* the member with the rows of the table; NULL: the response itself */
    const struct cli_column *columns;
    size_t column_count;
    const char *note;  /* members that are printed to standard error if they exist, separated by
                          blanks; NULL: none */
    const char *empty; /* printed instead of a table without rows; "": print the header only */
    const char *busy;  /* "a|b": on a terminal, omit rows in which all these members are 0 */
};

/* Options of a command. */
enum {
    CLI_LOCAL = 1 << 0,   /* sends no requests */
    CLI_RAW = 1 << 1,     /* gets its arguments unparsed */
    CLI_HIDDEN = 1 << 2,  /* not listed */
    CLI_CONFIRM = 1 << 3, /* asks for confirmation on a terminal; has --yes */
    CLI_FILES = 1 << 4,   /* its arguments are file names, in any encoding */
    CLI_ROWS = 1 << 5,    /* its function prints a list, in every output format */
};

struct cli_command {
    const char *name;     /* words separated by blanks: "budget set" */
    const char *args;     /* "<scope> <target>", "[target]"; "" for none */
    const char *summary;  /* one line without a final full stop */
    const char *about;    /* further lines; NULL: none */
    const char *examples; /* lines; NULL: none */
    const struct cli_flag *flags;
    size_t flag_count;
    unsigned options;
    const char *confirm;         /* the question of CLI_CONFIRM; {0} as in text */
    int (*run)(struct cli *cli); /* returns the exit code; NULL: .call is complete */
    struct cli_call call;
};

/* A row of flags; members that are not given are empty. */
#define CLI_FLAG(flag, type, what, otherwise, text, ...)                                           \
    {                                                                                              \
        .name = (flag), .kind = (type), .value = (what), .fallback = (otherwise), .help = (text),  \
        ##__VA_ARGS__                                                                              \
    }

#define CLI_FLAGS(list)   .flags = (list), .flag_count = COUNT_OF(list)
#define CLI_COLUMNS(list) .columns = (list), .column_count = COUNT_OF(list)

struct cli_family {
    const char *title;
    const struct cli_command *commands;
    size_t count;
};

extern const struct cli_family cli_access_family;
extern const struct cli_family cli_admin_family;
extern const struct cli_family cli_backup_family;
extern const struct cli_family cli_bench_family;
extern const struct cli_family cli_bulk_family;
extern const struct cli_family cli_costs_family;
extern const struct cli_family cli_events_family;
extern const struct cli_family cli_history_family;
extern const struct cli_family cli_jobs_family;
extern const struct cli_family cli_queues_family;
extern const struct cli_family cli_schedules_family;
extern const struct cli_family cli_search_family;
extern const struct cli_family cli_seed_family;
extern const struct cli_family cli_self_family;
extern const struct cli_family cli_cluster_family;
extern const struct cli_family cli_status_family;
extern const struct cli_family cli_top_family;
extern const struct cli_family cli_work_family;

/* All families in the order of the help; *out_count is their number. */
const struct cli_family *const *cli_table_families(size_t *out_count);

/* The command with this name, whose words are separated by one blank; NULL if there is none. */
const struct cli_command *cli_table_find(struct str name);

/* True if commands begin with these words and a blank. */
bool cli_table_is_group(struct str name);

/* True if the words of name begin with those of group and continue. */
bool cli_table_is_below(struct str name, struct str group);

/* The command that an alias ("queue pause") stands for; empty if it is not an alias. */
struct str cli_table_alias(struct str name);

/* The nth alias, and its command; NULL after the last. */
const struct cli_command *cli_table_alias_at(size_t index, const char **out_from);

/* The nth of all commands, including hidden ones; NULL after the last. */
const struct cli_command *cli_table_at(size_t index);

/* The nth flag of the command: its own, then those of all commands that send requests, then those
 * of all commands; NULL after the last. A flag of the command hides a common one with the same
 * name. */
const struct cli_flag *cli_table_flag(const struct cli_command *command, size_t index);

/* The flag with this name or alias; NULL if the command has none. A NULL command stands for the
 * flags that may precede the command. */
const struct cli_flag *cli_table_find_flag(const struct cli_command *command, struct str name);

/* The minimum and maximum number of arguments of the command. */
size_t cli_table_args_min(const struct cli_command *command);
size_t cli_table_args_max(const struct cli_command *command);

/* True if value is one of the words, which are separated by blanks. */
bool cli_table_is_word(const char *words, struct str value);

/* Abort if a row contradicts itself. For tests. */
void cli_table_check(void);
