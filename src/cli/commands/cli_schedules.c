/*
 * Commands for recurring jobs.
 */
#include "base/attr.h"
#include "cli/cli_int.h"

/* clang-format off */
static const struct cli_column columns[] = {
    {"NAME", "name", CLI_SHOW_TEXT},         {"QUEUE", "queue", CLI_SHOW_TEXT},
    {"CRON", "cron", CLI_SHOW_TEXT},         {"TIMEZONE", "timezone", CLI_SHOW_TEXT | CLI_SHOW_MINOR},
    {"NEXT RUN", "next_run", CLI_SHOW_TIME}, {"LAST RUN", "last_run", CLI_SHOW_TIME | CLI_SHOW_MINOR},
    {"ID", "id", CLI_SHOW_TEXT | CLI_SHOW_ROOM},
};

static const struct cli_column upcoming_columns[] = {
    {"NAME", "name", CLI_SHOW_TEXT}, {"QUEUE", "queue", CLI_SHOW_TEXT},
    {"CRON", "cron", CLI_SHOW_TEXT}, {"TIMEZONE", "timezone", CLI_SHOW_TEXT},
    {"RUNS", "runs", CLI_SHOW_LIST}, {"ID", "id", CLI_SHOW_TEXT | CLI_SHOW_WIDE},
};

#define REST                                                                                             \
    CLI_FLAG("unique-key", CLI_TEXT, "KEY", NULL, "unique key of each run", .field = "unique_key"),                           \
    CLI_FLAG("enabled", CLI_BOOL, NULL, NULL, "whether the schedule is active; use =false to disable it", .field = "enabled")

static const struct cli_flag create_flags[] = {
    CLI_FLAG("queue",       CLI_TEXT, "QUEUE", NULL,  "queue for each run",
             .field = "queue", .options = CLI_NOT_EMPTY | CLI_REQUIRED),
    CLI_FLAG("cron",        CLI_TEXT, "EXPR",  NULL,  "cron expression with five fields, @daily, or @every 5m",
             .field = "cron", .options = CLI_REQUIRED),
    CLI_FLAG("timezone",    CLI_TEXT, "ZONE",  "UTC", "time zone of the cron expression",
             .field = "timezone", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("payload",     CLI_JSON, "JSON",  "{}",  "payload of each run, as JSON or @file",
             .field = "payload", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("max-retries", CLI_INT,  "N",     "3",   "attempts of each run",
             .field = "max_retries", .options = CLI_SEND_DEFAULT),
    REST,
};

static const struct cli_flag update_flags[] = {
    CLI_FLAG("name",        CLI_TEXT, "NAME",  NULL, "new name", .field = "name"),
    CLI_FLAG("queue",       CLI_TEXT, "QUEUE", NULL, "queue for each run", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("cron",        CLI_TEXT, "EXPR",  NULL, "cron expression with five fields, @daily, or @every 5m", .field = "cron"),
    CLI_FLAG("timezone",    CLI_TEXT, "ZONE",  NULL, "time zone of the cron expression", .field = "timezone"),
    CLI_FLAG("payload",     CLI_JSON, "JSON",  NULL, "payload of each run, as JSON or @file", .field = "payload"),
    CLI_FLAG("max-retries", CLI_INT,  "N",     NULL, "attempts of each run", .field = "max_retries"),
    REST,
};
#undef REST

#define LIST_CALL {"GET", "/schedules", CLI_COLUMNS(columns), .empty = "No schedules"}

static const struct cli_command commands[] = {
    {.name = "schedules", .args = "", .summary = "List schedules", .call = LIST_CALL},
    {.name = "schedules list", .args = "", .summary = "List schedules", .call = LIST_CALL},
    {.name = "schedules upcoming", .args = "", .summary = "List the runs of the next 24 hours",
     .about = "Shows when the cron expression of each active schedule runs next, at most 48 times.",
     .call = {"GET", "/upcoming", CLI_COLUMNS(upcoming_columns), .empty = "No schedules"}},
    {.name = "schedules create", .args = "<name>", .summary = "Create a schedule that enqueues a job on each run",
     .examples = "corvo schedules create daily-report --queue reports --cron '0 9 * * *' --timezone Europe/Berlin",
     CLI_FLAGS(create_flags),
     .call = {"POST", "/schedules", .arg_field = {"name"}, .text = "Schedule created: {id}"}},
    {.name = "schedules update", .args = "<id>", .summary = "Change a schedule; fields you leave out keep their values",
     CLI_FLAGS(update_flags),
     .call = {"PUT", "/schedules/{0}", .text = "Schedule updated: {id}"}},
    {.name = "schedules delete", .args = "<id>", .summary = "Delete a schedule; jobs it already enqueued are kept",
     .call = {"DELETE", "/schedules/{0}", .text = "Schedule deleted: {0}"}},
    {.name = "schedules run", .args = "<id>", .summary = "Run a schedule now, without changing its next run",
     .call = {"POST", "/schedules/{0}/run", .text = "Job enqueued: {job_id} (status: {status})"}},
};
#undef LIST_CALL
/* clang-format on */

const struct cli_family cli_schedules_family = {"Recurring jobs", commands, COUNT_OF(commands)};
