/*
 * Cli_top_input: the functions of the keys in `corvo top`.
 *
 * A key changes the view (struct cli_top_ui), or returns an action that only the caller can
 * perform. Nothing here depends on the terminal or the server.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "cli/top/cli_top_model.h"

/* Keys that are not characters, above the range of Unicode. */
enum {
    CLI_TOP_KEY_UP = 0x110000,
    CLI_TOP_KEY_DOWN,
    CLI_TOP_KEY_PAGE_UP,
    CLI_TOP_KEY_PAGE_DOWN,
    CLI_TOP_KEY_HOME,
    CLI_TOP_KEY_END,
    CLI_TOP_KEY_ENTER,
    CLI_TOP_KEY_ESCAPE,
    CLI_TOP_KEY_BACKSPACE,
    CLI_TOP_KEY_NONE,
};

enum cli_top_mode {
    CLI_TOP_BROWSE,
    CLI_TOP_FILTER,  /* part of a queue's name is being typed */
    CLI_TOP_JOB,     /* a job's id is being typed */
    CLI_TOP_CONFIRM, /* a question is being asked */
    CLI_TOP_HELP,
    CLI_TOP_PAGE, /* a queue or a job, as JSON */
};

enum cli_top_pane { CLI_TOP_QUEUES, CLI_TOP_FAILURES };

enum cli_top_action {
    CLI_TOP_NOTHING,
    CLI_TOP_QUIT,
    CLI_TOP_REFRESH,
    CLI_TOP_SWITCH,     /* pause or resume ui->target, depending on ui->pauses */
    CLI_TOP_SHOW_QUEUE, /* details of the queue ui->target */
    CLI_TOP_SHOW_JOB,   /* details of the job ui->target */
};

struct cli_top_ui {
    enum cli_top_mode mode;
    enum cli_top_pane pane; /* the pane with the selection */
    enum cli_top_sort sort;
    bool frozen;
    char filter[CLI_TOP_TEXT_BYTES];
    char typed[CLI_TOP_TEXT_BYTES];
    char queue[CLI_TOP_NAME_BYTES];  /* selected queue */
    int64_t failure;                 /* number of the selected failure */
    char target[CLI_TOP_NAME_BYTES]; /* queue or job of an action */
    bool pauses;
    char message[CLI_TOP_TEXT_BYTES]; /* result of the last action; "": none */
    bool message_bad;
    struct buf page;  /* lines of text */
    size_t page_line; /* first line shown */
};

void cli_top_input_init(struct cli_top_ui *ui, struct str filter);
void cli_top_input_deinit(struct cli_top_ui *ui);

/* Handle a key. */
enum cli_top_action cli_top_input_key(struct cli_top_ui *ui, struct cli_top_model *m, int key);

/* After a sample: arrange the queues, and move the selection if its queue or failure no longer
 * exists. */
void cli_top_input_settle(struct cli_top_ui *ui, struct cli_top_model *m);

/* Show a text; its first line is the title. */
void cli_top_input_page(struct cli_top_ui *ui, struct str text);

/* The selected failure; the first one if none is selected. */
size_t cli_top_input_failure(const struct cli_top_ui *ui, const struct cli_top_model *m);

const char *cli_top_input_sort_name(enum cli_top_sort sort);

/* The keys and their functions, for the help; false after the last. */
bool cli_top_input_help(size_t index, const char **out_key, const char **out_text);
