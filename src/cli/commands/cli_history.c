/*
 * Commands for the past: history, errors and markers.
 */
#include "base/attr.h"
#include "cli/cli_int.h"

/* clang-format off */
static const struct cli_column history_columns[] = {
    {"AT", "at", CLI_SHOW_MINUTE},                     {"ENQUEUED", "enqueued", CLI_SHOW_TEXT},
    {"STARTED", "started", CLI_SHOW_TEXT | CLI_SHOW_MINOR}, {"COMPLETED", "completed", CLI_SHOW_TEXT},
    {"FAILED", "failed", CLI_SHOW_TEXT},             {"DEAD", "dead", CLI_SHOW_TEXT},
    {"PENDING", "depth", CLI_SHOW_TEXT},             {"OLDEST MS", "oldest_ms", CLI_SHOW_TEXT | CLI_SHOW_ROOM},
    {"WAIT P50 MS", "wait.p50_ms", CLI_SHOW_TEXT | CLI_SHOW_WIDE},
    {"WAIT MS", "wait.p99_ms", CLI_SHOW_TEXT},       {"RUN P50 MS", "run.p50_ms", CLI_SHOW_TEXT | CLI_SHOW_WIDE},
    {"RUN MS", "run.p99_ms", CLI_SHOW_TEXT},
};

static const struct cli_column error_columns[] = {
    {"FINGERPRINT", "fingerprint", CLI_SHOW_TEXT},   {"COUNT", "count", CLI_SHOW_TEXT},
    {"JOBS", "jobs", CLI_SHOW_TEXT | CLI_SHOW_MINOR}, {"DEAD", "dead", CLI_SHOW_TEXT},
    {"LAST SEEN", "last_seen", CLI_SHOW_TIME},       {"EXAMPLE", "example.job_id", CLI_SHOW_TEXT | CLI_SHOW_WIDE},
    {"MESSAGE", "message", CLI_SHOW_CUT},
};

static const struct cli_flag history_flags[] = {
    CLI_FLAG("queue",  CLI_TEXT,     "QUEUE",    NULL, "only this queue; all queues if left out", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("since",  CLI_TIME,     "TIME",     "1h", "start of the range, for example 24h or \"yesterday 2:00\"",
             .field = "from", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("until",  CLI_TIME,     "TIME",     NULL, "end of the range; now if left out", .field = "to"),
    CLI_FLAG("step",   CLI_DURATION, "DURATION", NULL, "length of a step, in whole minutes", .field = "step"),
};

static const struct cli_flag errors_flags[] = {
    CLI_FLAG("queue",  CLI_TEXT,     "QUEUE",    NULL,  "only this queue; all queues if left out", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("since",  CLI_TIME,     "TIME",     "24h", "start of the range, for example 1h or yesterday",
             .field = "from", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("until",  CLI_TIME,     "TIME",     NULL,  "end of the range; now if left out", .field = "to"),
    CLI_FLAG("limit",  CLI_INT,      "N",        "50",  "print at most this many groups", .field = "limit"),
};

static const struct cli_column marker_columns[] = {
    {"AT", "at", CLI_SHOW_MINUTE},          {"KIND", "kind", CLI_SHOW_TEXT},
    {"TEXT", "text", CLI_SHOW_CUT},         {"QUEUE", "queue", CLI_SHOW_TEXT},
    {"BY", "by", CLI_SHOW_TEXT},            {"ID", "id", CLI_SHOW_TEXT | CLI_SHOW_ROOM},
};

static const struct cli_flag mark_flags[] = {
    CLI_FLAG("queue",  CLI_TEXT,     "QUEUE",    NULL,  "the queue that it is about; all queues if left out", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("at",     CLI_TIME,     "TIME",     NULL,  "when it happened, for example 10m; now if left out", .field = "at"),
};

static const struct cli_flag marks_flags[] = {
    CLI_FLAG("queue",  CLI_TEXT,     "QUEUE",    NULL,  "only markers of this queue, and those without a queue", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("since",  CLI_TIME,     "TIME",     "7d",  "start of the range, for example 1h or yesterday",
             .field = "from", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("until",  CLI_TIME,     "TIME",     NULL,  "end of the range; now if left out", .field = "to"),
};

static const struct cli_command commands[] = {
    {.name = "history", .args = "", .summary = "Show counts and latencies over time",
     .about = "Counts, pending jobs, and the 99th percentiles of wait and run time. On a terminal,\n"
              "steps without activity are left out. The server keeps minutes for 48 hours and hours\n"
              "for 90 days.",
     .examples = "corvo history --since 24h --step 1h\n"
                 "corvo history --queue emails.send --since \"yesterday 2:00\" --until \"yesterday 3:00\"\n"
                 "corvo history --since 7d -o csv > week.csv",
     CLI_FLAGS(history_flags),
     .call = {"GET", "/history", .rows = "points", CLI_COLUMNS(history_columns),
              .empty = "No activity in this range",
              .busy = "enqueued|started|completed|failed|dead|cancelled|expired"}},
    {.name = "errors", .args = "", .summary = "Group failures by error message",
     .about = "Messages that differ only in numbers, ids, addresses and paths are one group. Use the\n"
              "fingerprint to act on the jobs of a group.",
     .examples = "corvo errors --since 1h\n"
                 "corvo search --error-fingerprint 9f86d081884c7d65 --state dead | corvo bulk retry",
     CLI_FLAGS(errors_flags),
     .call = {"GET", "/errors", .rows = "groups", CLI_COLUMNS(error_columns), .empty = "No failures in this range"}},
    {.name = "mark", .args = "<text>", .summary = "Add a marker to the charts, for example for a deployment",
     .about = "The charts of the web interface show markers as dashed lines. The server adds a marker by\n"
              "itself when a new version of the server or of a worker is seen for the first time.",
     .examples = "corvo mark \"deployed 1.4.2\"\n"
                 "corvo mark \"new mail provider\" --queue emails.send --at 10m",
     CLI_FLAGS(mark_flags),
     .call = {"POST", "/markers", .arg_field = {"text"}, .text = "Marked {text} at {at}"}},
    {.name = "marks", .args = "", .summary = "List markers: deployments and new versions",
     CLI_FLAGS(marks_flags),
     .call = {"GET", "/markers", CLI_COLUMNS(marker_columns), .empty = "No markers in this range"}},
    {.name = "unmark", .args = "<id>", .summary = "Delete a marker",
     .call = {"DELETE", "/markers/{0}", .text = "Marker {0} deleted"}},
};
/* clang-format on */

const struct cli_family cli_history_family = {"What happened", commands, COUNT_OF(commands)};
