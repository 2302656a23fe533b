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
    CLI_DURATION, /* sent as it was given */
    CLI_TIME,     /* as in cli_when.h; what is RFC 3339 or a date is sent as it was given */
    CLI_LIST,     /* comma-separated, repeated, or both */
    CLI_PAIRS,    /* a list of key=value */
    CLI_JSON,     /* JSON text, or @file */
    CLI_BYTES,    /* text that need not be UTF-8: the name of a file, a command, a secret */
    CLI_KIND_COUNT
};

/* Flags of a flag. */
enum {
    CLI_REQUIRED = 1 << 0,
    CLI_POSITIVE = 1 << 1,     /* zero is not sent, less is refused */
    CLI_NOT_NEGATIVE = 1 << 2, /* -1 is not sent, less is refused */
    CLI_SEND_DEFAULT = 1 << 3, /* the default is sent too */
    CLI_INVERTED = 1 << 4,     /* a boolean is sent as its opposite */
    CLI_AHEAD = 1 << 5,        /* a bare duration is a time ahead of now, not before it */
};

struct cli_flag {
    const char *name; /* without the dashes */
    enum cli_kind kind;
    const char *value;    /* what its value is called in help: QUEUE; NULL for a boolean */
    const char *fallback; /* what it is when not given; NULL: nothing */
    const char *help;
    const char *field; /* of the request's body, "agent.max_cost_usd" for one inside; NULL: none */
    const char *words; /* the only values, with blanks between; NULL: any */
    const char *env;   /* where it comes from when not given; NULL: nowhere */
    const char *alias; /* another name for it */
    char letter;       /* -o; 0: none */
    unsigned options;
};

/* How a cell is shown. */
enum cli_show {
    CLI_SHOW_TEXT,     /* a string as it is, anything else as JSON */
    CLI_SHOW_TIME,     /* on a terminal how long ago or ahead, else as it came */
    CLI_SHOW_MINUTE,   /* on a terminal a time without seconds, else as it came */
    CLI_SHOW_YES,      /* "yes" or nothing */
    CLI_SHOW_STATE,    /* in the colour of the state */
    CLI_SHOW_ALIVE,    /* a time of a heartbeat as healthy, stale (a minute) or offline (five) */
    CLI_SHOW_MONEY,    /* six decimals */
    CLI_SHOW_LIST,     /* elements with commas; also of a string that holds a JSON array */
    CLI_SHOW_CUT,      /* at most 60 characters */
    CLI_SHOW_PRIORITY, /* a number as its word */
    CLI_SHOW_GRANTS,   /* permissions of a role: queues:read,queues:pause */
    CLI_SHOW_COUNT
};

/* When a column is shown, beside how. */
enum {
    CLI_SHOW_KIND = 0xff,
    CLI_SHOW_MINOR = 1 << 8, /* left out on a terminal where the table would not fit */
    CLI_SHOW_WIDE = 1 << 9,  /* only with -o wide */
    CLI_SHOW_ROOM = 1 << 10, /* with -o wide, and on a terminal where the table still fits */
};

struct cli_column {
    const char *head;
    const char *member; /* of each row; "a|b" takes the first that is there */
    unsigned show;      /* enum cli_show, and when it is shown */
};

enum { CLI_ARGS_MAX = 3 };

/* A command that is one request. In path, {0} is the first argument, percent-encoded. In text, {0}
 * is the argument and {name} a member of the answer. */
struct cli_call {
    const char *method;
    const char *path;                    /* below /api/v1 */
    const char *arg_field[CLI_ARGS_MAX]; /* fields of the body that take an argument */
    const char *query; /* the flag that is sent in the query although the method is not GET */
    const char *text;  /* what is said when it went well; NULL: a table */
    const char *rows;  /* the member with the table's rows; NULL: the answer */
    const struct cli_column *columns;
    size_t column_count;
    const char *note;  /* members that are said on standard error when they are there, with blanks
                          between; NULL: none */
    const char *empty; /* said instead of a table without rows; "": its head alone */
    const char
        *busy; /* "a|b": members of a row; on a terminal, rows where all are 0 are left out */
};

/* Flags of a command. */
enum {
    CLI_LOCAL = 1 << 0,   /* talks to no server */
    CLI_RAW = 1 << 1,     /* gets its arguments unparsed */
    CLI_HIDDEN = 1 << 2,  /* in no list */
    CLI_CONFIRM = 1 << 3, /* asks on a terminal; has --yes */
    CLI_FILES = 1 << 4,   /* its arguments are names of files, in any encoding */
};

struct cli_command {
    const char *name;     /* "budget set": words with a blank between */
    const char *args;     /* "<scope> <target>", "[target]"; "" for none */
    const char *summary;  /* one line without a full stop */
    const char *about;    /* further lines; NULL: none */
    const char *examples; /* lines; NULL: none */
    const struct cli_flag *flags;
    size_t flag_count;
    unsigned options;
    const char *confirm;         /* the question of CLI_CONFIRM, with {0} as in text */
    int (*run)(struct cli *cli); /* the exit code; NULL: call says it all */
    struct cli_call call;
};

/* A row of flags; what it does not say is none. */
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

/* All families in the order of the help; *out_count of them. */
const struct cli_family *const *cli_table_families(size_t *out_count);

/* The command of that name, the words separated by one blank; NULL when there is none. */
const struct cli_command *cli_table_find(struct str name);

/* Do commands begin with these words and a blank? */
bool cli_table_is_group(struct str name);

/* Whether the words of name begin with those of group and go on. */
bool cli_table_is_below(struct str name, struct str group);

/* What another spelling of a command stands for ("queue pause"); empty when it is none. */
struct str cli_table_alias(struct str name);

/* The nth other spelling, and the command that it stands for; NULL past the last. */
const struct cli_command *cli_table_alias_at(size_t index, const char **out_from);

/* The nth command of all, hidden ones included; NULL past the last. */
const struct cli_command *cli_table_at(size_t index);

/* The nth flag that the command takes: its own, then those of every client, then those of every
 * command; NULL past the last. An own flag hides a common one of its name. */
const struct cli_flag *cli_table_flag(const struct cli_command *command, size_t index);

/* The flag of that name or other name; NULL when the command has none. A NULL command stands for
 * the flags that may come before it. */
const struct cli_flag *cli_table_find_flag(const struct cli_command *command, struct str name);

/* How many arguments the command needs, and takes. */
size_t cli_table_args_min(const struct cli_command *command);
size_t cli_table_args_max(const struct cli_command *command);

/* Is value one of the words, which have blanks between? */
bool cli_table_is_word(const char *words, struct str value);

/* Stop the process if a row contradicts itself. For tests. */
void cli_table_check(void);
