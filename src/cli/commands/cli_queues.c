/*
 * Commands for queues.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "core/duration.h"

enum { POLL_MS_MIN = 50, POLL_MS_MAX = 1000 };

/* Drain */

static int active_jobs(struct cli *cli, int64_t *out)
{
    struct cli_answer answer;
    int code = cli_request(cli, "GET", cli_url_to(cli, "/queues"), STR_EMPTY, &answer);
    if (code == CLI_OK) {
        struct str queue = cli_element_named(cli, answer.body, cli->args[0]);
        *out = queue.len > 0 ? cli_member_int(queue, "active") : 0;
    }
    return code;
}

static int wait_drained(struct cli *cli)
{
    int64_t sleep_ms = POLL_MS_MIN;
    for (;;) {
        int64_t active = 0;
        struct arena *outer = cli_round_begin(cli);
        int code = active_jobs(cli, &active);
        cli_round_end(cli, outer);
        if (code != CLI_OK || active == 0) {
            return code;
        }
        if (cli_deadline_left_ms(cli) == 0) {
            return cli_fail(cli, "queue " STR_FMT " still has %lld active jobs",
                            STR_ARG(cli->args[0]), (long long)active);
        }
        if (!cli_sleep(cli, sleep_ms)) {
            return cli_interrupted(cli);
        }
        sleep_ms = sleep_ms * 2 > POLL_MS_MAX ? POLL_MS_MAX : sleep_ms * 2;
    }
}

static int run_drain(struct cli *cli)
{
    struct cli_answer answer;
    if (cli_given(cli, "wait-timeout") && !cli_bool(cli, "wait")) {
        return cli_fail(cli, "--wait-timeout requires --wait");
    }
    cli_deadline_begin(cli);
    int code = cli_request(cli, "POST", CLI_URL(cli, "/queues/{0}/drain", cli->args[0]), STR_EMPTY,
                           &answer);
    if (code != CLI_OK || !cli_bool(cli, "wait")) {
        return code == CLI_OK ? cli_show(cli, answer.body, "Queue {0} draining") : code;
    }
    if (!cli_is_json(cli)) {
        cli_printf(cli, "Queue " STR_FMT " draining\n", STR_ARG(cli->args[0]));
        (void)fflush(cli->out);
    }
    code = wait_drained(cli);
    return code == CLI_OK ? cli_show(cli, STR("{\"status\":\"drained\"}"), "Queue {0} drained")
                          : code;
}

/* Destroy */

static int run_destroy(struct cli *cli)
{
    struct cli_answer answer;
    if (!cli_bool(cli, "confirm") && !cli_bool(cli, "yes")) {
        return cli_fail(cli, "use --confirm to delete queue " STR_FMT " and all its jobs",
                        STR_ARG(cli->args[0]));
    }
    const char *url = CLI_URL(cli, "/queues/{0}?confirm=true", cli->args[0]);
    int code = cli_request(cli, "DELETE", url, STR_EMPTY, &answer);
    return code == CLI_OK ? cli_show(cli, answer.body, "Queue {0} destroyed") : code;
}

/* Limits */

static int run_concurrency(struct cli *cli)
{
    struct cli_answer answer;
    int64_t max = 0;
    if (!str_to_i64(cli->args[1], &max) || max < 0 || max > INT32_MAX) {
        return cli_fail(
            cli, "<max> must be a whole number from 1 to %d, or 0 for unlimited, not '" STR_FMT "'",
            INT32_MAX, STR_ARG(cli->args[1]));
    }
    const char *url = CLI_URL(cli, "/queues/{0}/concurrency", cli->args[0]);
    struct str body = CLI_OBJECT(cli, CLI_SET_INT("max", max));
    int code = cli_request(cli, "POST", url, body, &answer);
    if (code != CLI_OK) {
        return code;
    }
    return cli_show(cli, answer.body,
                    max == 0 ? "Queue {0} concurrency: unlimited" : "Queue {0} concurrency: {1}");
}

/* Parse "100/1m" into its two numbers. */
static bool read_rate(struct str text, int64_t *rate, int64_t *window_ms)
{
    struct err err;
    const char *slash = text.len == 0 ? NULL : memchr(text.ptr, '/', text.len);
    if (slash == NULL) {
        return false;
    }
    size_t at = (size_t)(slash - text.ptr);
    struct str window = str_from_offset(text, at + 1);
    /* "100/m" means "100/1m". */
    bool unit = window.len > 0 && (window.ptr[0] < '0' || window.ptr[0] > '9');
    char room[DURATION_TEXT_MAX];
    int n = snprintf(room, sizeof room, "%s" STR_FMT, unit ? "1" : "", STR_ARG(window));
    return str_to_i64(str_from(text.ptr, at), rate) && *rate > 0 && n > 0 &&
           (size_t)n < sizeof room &&
           duration_parse(str_from(room, (size_t)n), window_ms, &err) == ERR_OK && *window_ms > 0;
}

static int run_throttle(struct cli *cli)
{
    const char *url = CLI_URL(cli, "/queues/{0}/throttle", cli->args[0]);
    struct cli_answer answer;
    int64_t rate = 0;
    int64_t window_ms = 0;
    if (cli_bool(cli, "remove") && cli->arg_count > 1) {
        return cli_fail(cli, "use either a rate or --remove, not both");
    }
    if (cli_bool(cli, "remove")) {
        int code = cli_request(cli, "DELETE", url, STR_EMPTY, &answer);
        return code == CLI_OK ? cli_show(cli, answer.body, "Queue {0} throttle: none") : code;
    }
    if (cli->arg_count < 2 || !read_rate(cli->args[1], &rate, &window_ms)) {
        return cli_fail(cli, "specify a rate such as 100/1m, or --remove");
    }
    struct str body =
        CLI_OBJECT(cli, CLI_SET_INT("rate", rate), CLI_SET_INT("window_ms", window_ms));
    int code = cli_request(cli, "POST", url, body, &answer);
    return code == CLI_OK ? cli_show(cli, answer.body, "Queue {0} throttle: {1}") : code;
}

/* clang-format off */
static const struct cli_column queue_columns[] = {
    {"QUEUE", "name", CLI_SHOW_TEXT},           {"PENDING", "pending", CLI_SHOW_TEXT},
    {"ACTIVE", "active", CLI_SHOW_TEXT},        {"HELD", "held", CLI_SHOW_TEXT},
    {"COMPLETED", "completed", CLI_SHOW_TEXT},  {"DEAD", "dead", CLI_SHOW_TEXT},
    {"PAUSED", "paused", CLI_SHOW_YES},
    {"SCHEDULED", "scheduled", CLI_SHOW_TEXT | CLI_SHOW_ROOM}, {"RETRYING", "retrying", CLI_SHOW_TEXT | CLI_SHOW_ROOM},
};

static const struct cli_flag drain_flags[] = {
    CLI_FLAG("wait",         CLI_BOOL,     NULL,       "false", "wait until the queue has no active jobs"),
    CLI_FLAG("wait-timeout", CLI_DURATION, "DURATION", NULL,    "stop waiting after this long"),
};

static const struct cli_flag destroy_flags[] = {
    CLI_FLAG("confirm", CLI_BOOL, NULL, "false", "confirm deleting the queue and all its jobs"),
    CLI_FLAG("yes",     CLI_BOOL, NULL, "false", "same as --confirm", .letter = 'y'),
};

static const struct cli_flag throttle_flags[] = {
    CLI_FLAG("remove", CLI_BOOL, NULL, "false", "remove the limit"),
};

static const struct cli_command commands[] = {
    {.name = "queues", .args = "", .summary = "List queues",
     .call = {"GET", "/queues", CLI_COLUMNS(queue_columns), .empty = ""}},
    {.name = "pause", .args = "<queue>", .summary = "Pause a queue: workers get no more jobs from it",
     .call = {"POST", "/queues/{0}/pause", .text = "Queue {0} paused"}},
    {.name = "resume", .args = "<queue>", .summary = "Resume a paused queue",
     .call = {"POST", "/queues/{0}/resume", .text = "Queue {0} resumed"}},
    {.name = "clear", .args = "<queue>", .summary = "Delete the pending and scheduled jobs of a queue",
     .options = CLI_CONFIRM, .confirm = "Delete all pending and scheduled jobs of queue {0}? This cannot be undone.",
     .call = {"POST", "/queues/{0}/clear", .text = "Queue {0} cleared"}},
    {.name = "drain", .args = "<queue>", .summary = "Pause a queue and let its active jobs finish",
     .examples = "corvo drain emails.send --wait --wait-timeout 5m",
     CLI_FLAGS(drain_flags), .run = run_drain},
    {.name = "destroy", .args = "<queue>", .summary = "Delete a queue and all its jobs; this cannot be undone",
     CLI_FLAGS(destroy_flags), .run = run_destroy},
    {.name = "concurrency", .args = "<queue> <max>", .summary = "Limit the number of active jobs in a queue; 0 removes the limit", .run = run_concurrency},
    {.name = "throttle", .args = "<queue> [rate/window]", .summary = "Limit the rate at which a queue hands out jobs",
     .examples = "corvo throttle emails.send 100/1m\ncorvo throttle emails.send --remove",
     CLI_FLAGS(throttle_flags), .run = run_throttle},
};
/* clang-format on */

const struct cli_family cli_queues_family = {"Queues", commands, COUNT_OF(commands)};
