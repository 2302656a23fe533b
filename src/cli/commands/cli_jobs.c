/*
 * Commands for single jobs.
 */
#include "base/attr.h"
#include "base/limits.h"
#include "cli/cli_form.h"
#include "cli/cli_int.h"
#include "cli/commands/cli_explain.h"
#include "cli/commands/cli_wait.h"
#include "json/json_object.h"
#include "json/json_scan.h"

enum { BODY_BYTES_MAX = 64 << 20 };

/* Enqueue */

static int payload_of(struct cli *cli, struct str *out)
{
    struct err err;
    *out = cli->args[1];
    if (str_eq(*out, STR("-"))) {
        int code = cli_read_stdin(cli, out);
        if (code != CLI_OK) {
            return code;
        }
    }
    *out = str_trim(*out);
    if (json_scan_check(*out, &err) != ERR_OK) {
        return cli_fail(cli, "invalid payload JSON: %s", err.msg);
    }
    return CLI_OK;
}

/* Write the pairs of --tag as an object. */
static struct str tag_object(struct cli *cli)
{
    const struct cli_value *pairs = cli_value(cli, "tag");
    struct buf b;
    buf_init(&b, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    for (size_t i = 0; i < pairs->item_count; i++) {
        struct str pair = pairs->items[i];
        size_t at = (size_t)((const char *)memchr(pair.ptr, '=', pair.len) - pair.ptr);
        json_write_key(&w, str_from(pair.ptr, at));
        json_write_str(&w, str_from_offset(pair, at + 1));
    }
    json_write_end(&w);
    struct str object = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return object;
}

/* Write the tags: those of --tags, overridden by each --tag. */
static int write_tags(struct cli *cli, struct json_write *w)
{
    struct json_object_pair pairs[LIMIT_TAGS];
    struct str object = str_trim(cli_text(cli, "tags"));
    struct json_value key;
    size_t count = 0;
    if (object.len > 0 && object.ptr[0] != '{') {
        return cli_fail(cli, "--tags must be a JSON object");
    }
    if (object.len == 0 && cli_value(cli, "tag")->item_count == 0) {
        return CLI_OK;
    }
    struct json_scan s = json_scan_from(object.len > 0 ? object : STR("{}"));
    if (json_scan_enter_object(&s)) {
        while (count < LIMIT_TAGS && json_scan_next_key(&s, &key)) {
            struct json_value value;
            if (json_scan_value(&s, &value)) {
                pairs[count++] = (struct json_object_pair){cli_decode(cli, key), value.text};
            }
        }
    }
    if (!json_scan_done(&s)) {
        return cli_fail(cli, "--tags has more than %d members", LIMIT_TAGS);
    }
    struct buf merged;
    buf_init(&merged, BODY_BYTES_MAX);
    json_object_override(&merged, pairs, count, tag_object(cli));
    json_write_key(w, STR("tags"));
    json_write_raw(w, arena_str(cli->arena, buf_str(&merged)));
    buf_deinit(&merged);
    return CLI_OK;
}

static int enqueue_body(struct cli *cli, struct str *out)
{
    struct str payload;
    struct buf b;
    int code = payload_of(cli, &payload);
    if (code != CLI_OK) {
        return code;
    }
    buf_init(&b, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    json_write_key(&w, STR("queue"));
    json_write_str(&w, cli->args[0]);
    json_write_key(&w, STR("payload"));
    json_write_raw(&w, payload);
    code = write_tags(cli, &w);
    if (code == CLI_OK) {
        cli_values_write(cli, &w);
        json_write_end(&w);
        json_write_finish(&w);
        *out = arena_str(cli->arena, buf_str(&b));
    }
    buf_deinit(&b);
    return code;
}

/* Build the object that describes the delivery: URL, method, timeout, authentication. */
static struct str push_object(struct cli *cli)
{
    struct str token = cli_text(cli, "token");
    struct str auth = STR_EMPTY;
    if (token.len > 0) {
        auth = CLI_OBJECT(cli, CLI_SET_TEXT("type", STR("bearer")), CLI_SET_TEXT("token", token));
    }
    return CLI_OBJECT(
        cli, CLI_SET_TEXT("url", cli->args[0]), CLI_SET_TEXT("method", cli_text(cli, "method")),
        CLI_SET_TEXT("timeout", cli_text(cli, "call-timeout")), CLI_SET_RAW("auth", auth));
}

static int push_body(struct cli *cli, struct str *out)
{
    struct str payload;
    struct buf b;
    int code = payload_of(cli, &payload);
    if (code != CLI_OK) {
        return code;
    }
    buf_init(&b, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    json_write_key(&w, STR("payload"));
    json_write_raw(&w, payload);
    json_write_key(&w, STR("push"));
    json_write_raw(&w, push_object(cli));
    if (!cli_given(cli, "queue")) {
        json_write_key(&w, STR("queue"));
        json_write_str(&w, STR("push"));
    }
    cli_values_write(cli, &w);
    json_write_end(&w);
    json_write_finish(&w);
    *out = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return CLI_OK;
}

static int enqueue(struct cli *cli, int (*write_body)(struct cli *cli, struct str *out))
{
    struct str body;
    struct cli_answer answer;
    int code = write_body(cli, &body);
    if (code != CLI_OK) {
        return code;
    }
    code = cli_request(cli, "POST", cli_url_to(cli, "/enqueue"), body, &answer);
    if (code == CLI_OK && cli_member_text(cli, answer.body, "job_id").len == 0) {
        return cli_fail(cli, "request failed: the response has no job id");
    }
    return code == CLI_OK ? cli_show(cli, answer.body, "Job enqueued: {job_id} (status: {status})")
                          : code;
}

static int run_enqueue(struct cli *cli)
{
    return enqueue(cli, enqueue_body);
}

static int run_push(struct cli *cli)
{
    return enqueue(cli, push_body);
}

/* Others */

static int run_inspect(struct cli *cli)
{
    struct cli_answer answer;
    int code = cli_request(cli, "GET", CLI_URL(cli, "/jobs/{0}", cli->args[0]), STR_EMPTY, &answer);
    if (code == CLI_OK) {
        cli_print_json(cli, answer.body);
    }
    return code;
}

static int run_replay(struct cli *cli)
{
    return cli_int(cli, "from") > 0 ? cli_call_run(cli) : cli_fail(cli, "--from must be > 0");
}

/* Print one line per element of a list in the response, or the whole response as JSON. */
static int print_rows(struct cli *cli, struct str body, const char *list, const char *none,
                      void (*print)(struct cli *cli, struct str row))
{
    struct str *rows = NULL;
    if (cli_is_json(cli)) {
        cli_print_json(cli, body);
        return CLI_OK;
    }
    size_t count = cli_elements(cli, cli_member(body, list).text, &rows);
    if (count == 0) {
        cli_printf(cli, "%s\n", none);
    }
    for (size_t i = 0; i < count; i++) {
        print(cli, rows[i]);
    }
    return CLI_OK;
}

static void print_iteration(struct cli *cli, struct str row)
{
    struct str status = cli_harmless(cli, cli_member_text(cli, row, "status"));
    struct str reason = cli_harmless(cli, cli_member_text(cli, row, "hold_reason"));
    cli_printf(cli, "%lld  " STR_FMT "  cost=%.6f%s" STR_FMT "\n",
               (long long)cli_member_int(row, "iteration"), STR_ARG(status),
               cli_member_real(row, "cost_usd"), reason.len > 0 ? "  hold=" : "", STR_ARG(reason));
}

static int run_iterations(struct cli *cli)
{
    struct cli_answer answer;
    int code = cli_request(cli, "GET", CLI_URL(cli, "/jobs/{0}/iterations", cli->args[0]),
                           STR_EMPTY, &answer);
    return code != CLI_OK
               ? code
               : print_rows(cli, answer.body, "iterations", "No iterations", print_iteration);
}

static void print_held(struct cli *cli, struct str row)
{
    cli_print_pattern(cli, cli->out, "{id}  {queue}  {state}\n", row);
}

static int run_held(struct cli *cli)
{
    struct cli_answer answer;
    struct str body =
        STR("{\"state\":[\"held\"],\"limit\":100,\"sort\":\"created_at\",\"order\":\"desc\"}");
    static const struct cli_column columns[] = {
        {"ID", "id", CLI_SHOW_TEXT},
        {"QUEUE", "queue", CLI_SHOW_TEXT},
        {"CREATED", "created_at", CLI_SHOW_TIME},
        {"REASON", "hold_reason", CLI_SHOW_CUT},
    };
    struct str *rows = NULL;
    enum cli_form form = cli_form_of(cli);
    bool people = form == CLI_FORM_TABLE || form == CLI_FORM_WIDE;
    bool lines = !cli->out_is_terminal && str_eq(cli_text(cli, "output"), STR("text"));
    int code = cli_request(cli, "POST", cli_url_to(cli, "/jobs/search"), body, &answer);
    if (code != CLI_OK || lines || form == CLI_FORM_JSON) {
        return code != CLI_OK ? code
                              : print_rows(cli, answer.body, "jobs", "No held jobs", print_held);
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "jobs").text, &rows);
    long long total = (long long)cli_member_int(answer.body, "total");
    if (count == 0 && people) {
        cli_printf(cli, "No held jobs\n");
        return CLI_OK;
    }
    cli_call_table(cli, columns, COUNT_OF(columns), rows, count);
    if ((long long)count < total) {
        (void)fprintf(people ? cli->out : cli->err,
                      "%zu of %lld held jobs; corvo search --state held --all lists every one\n",
                      count, total);
    }
    return CLI_OK;
}

/* clang-format off */
static const struct cli_flag enqueue_flags[] = {
    CLI_FLAG("priority",                CLI_TEXT,     "WORD",      NULL, "critical, high or normal",
             .field = "priority"),
    CLI_FLAG("unique-key",              CLI_TEXT,     "KEY",       NULL, "enqueue nothing if a job with this key exists",
             .field = "unique_key", .options = CLI_NOT_EMPTY),
    CLI_FLAG("unique-period",           CLI_INT,      "SECONDS",   NULL, "how long the key is held",
             .field = "unique_period"),
    CLI_FLAG("max-retries",             CLI_INT,      "N",         "-1", "number of attempts; -1 uses the server default",
             .field = "max_retries", .options = CLI_NOT_NEGATIVE),
    CLI_FLAG("scheduled-at",            CLI_TIME,     "TIME",      NULL, "run at this time, for example \"tomorrow 9:00\"",
             .field = "scheduled_at", .alias = "schedule", .options = CLI_AHEAD),
    CLI_FLAG("at",                      CLI_TIME,     "TIME",      NULL, "same as --scheduled-at",
             .field = "scheduled_at", .options = CLI_AHEAD),
    CLI_FLAG("delay",                   CLI_TIME,     "DURATION",  NULL, "run after this long, for example 5m",
             .field = "scheduled_at", .options = CLI_AHEAD),
    CLI_FLAG("tags",                    CLI_JSON,     "JSON",      NULL, "tags as a JSON object"),
    CLI_FLAG("tag",                     CLI_PAIRS,    "KEY=VALUE", NULL, "tag; repeat the flag for several tags"),
    CLI_FLAG("expire-after",            CLI_DURATION, "DURATION",  NULL, "expire the job if it has not started after this long",
             .field = "expire_after"),
    CLI_FLAG("retry-backoff",           CLI_TEXT,     "WORD",      NULL, "how the delay between attempts grows",
             .field = "retry_backoff", .words = "none fixed linear exponential"),
    CLI_FLAG("retry-base-delay",        CLI_DURATION, "DURATION",  NULL, "delay before the second attempt", .field = "retry_base_delay"),
    CLI_FLAG("retry-max-delay",         CLI_DURATION, "DURATION",  NULL, "maximum delay between attempts", .field = "retry_max_delay"),
    CLI_FLAG("depends-on",              CLI_LIST,     "JOB-ID",    NULL, "jobs that must complete first",
             .field = "depends_on"),
    CLI_FLAG("chain",                   CLI_JSON,     "JSON",      NULL, "following steps, as JSON or @file",
             .field = "chain"),
    CLI_FLAG("parent-id",               CLI_TEXT,     "JOB-ID",    NULL, "parent job",
             .field = "parent_id", .options = CLI_NOT_EMPTY),
    CLI_FLAG("agent-max-iterations",    CLI_INT,      "N",         "0",  "agent job: hold after this many iterations",
             .field = "agent.max_iterations", .options = CLI_POSITIVE),
    CLI_FLAG("agent-max-cost-usd",      CLI_REAL,     "USD",       "0",  "agent job: hold above this cost",
             .field = "agent.max_cost_usd", .options = CLI_POSITIVE),
    CLI_FLAG("agent-iteration-timeout", CLI_TEXT,     "DURATION",  NULL, "agent job: timeout of each iteration",
             .field = "agent.iteration_timeout"),
};

static const struct cli_flag reason_flags[] = {
    CLI_FLAG("reason", CLI_TEXT, "TEXT", NULL, "reason to record", .field = "reason"),
};

static const struct cli_flag approve_flags[] = {
    CLI_FLAG("comment", CLI_TEXT, "TEXT", NULL, "comment for the audit log, at most 300 bytes"),
};

static const struct cli_flag replay_flags[] = {
    CLI_FLAG("from", CLI_INT, "N", "0", "iteration to start from", .field = "from"),
};

static const struct cli_flag wait_flags[] = {
    CLI_FLAG("state",        CLI_LIST,     "STATES",   "completed", "wait for one of these states"),
    CLI_FLAG("wait-timeout", CLI_DURATION, "DURATION", NULL,        "stop waiting after this long"),
};

static const struct cli_flag push_flags[] = {
    CLI_FLAG("queue",        CLI_TEXT,     "QUEUE",    NULL, "queue of the job; push by default", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("method",       CLI_TEXT,     "METHOD",   NULL, "HTTP method of the request; POST by default"),
    CLI_FLAG("token",        CLI_TEXT,     "TOKEN",    NULL, "bearer token to send; it is never shown again", .options = CLI_NOT_EMPTY),
    CLI_FLAG("call-timeout", CLI_TEXT,     "DURATION", NULL, "timeout of one call; 5m by default"),
    CLI_FLAG("priority",     CLI_TEXT,     "WORD",     NULL, "critical, high or normal", .field = "priority"),
    CLI_FLAG("max-retries",  CLI_INT,      "N",        "-1", "number of attempts; -1 uses the server default",
             .field = "max_retries", .options = CLI_NOT_NEGATIVE),
    CLI_FLAG("scheduled-at", CLI_TIME,     "TIME",     NULL, "deliver at this time, for example \"tomorrow 9:00\"",
             .field = "scheduled_at", .options = CLI_AHEAD),
};

static const struct cli_column host_columns[] = {
    {"HOST", "host", CLI_SHOW_TEXT},                  {"BREAKER", "breaker", CLI_SHOW_TEXT},
    {"IN FLIGHT", "in_flight", CLI_SHOW_TEXT},        {"WAITING", "waiting", CLI_SHOW_TEXT},
    {"OK", "succeeded", CLI_SHOW_TEXT},               {"FAILED", "failed", CLI_SHOW_TEXT},
    {"LATENCY MS", "latency_ms", CLI_SHOW_TEXT},      {"NEXT PROBE", "next_probe_at", CLI_SHOW_TIME},
    {"LAST ERROR", "last_error", CLI_SHOW_CUT | CLI_SHOW_MINOR},
    {"LAST CALL", "last_call_at", CLI_SHOW_TIME | CLI_SHOW_WIDE},
    {"UNANSWERED", "unanswered", CLI_SHOW_TEXT | CLI_SHOW_WIDE},
};

static const struct cli_command commands[] = {
    {.name = "push", .args = "<url> <payload>", .summary = "Enqueue a job that the server delivers to a URL",
     .about = "The payload is JSON and becomes the request body; - reads it from standard input.",
     .examples = "corvo push https://example.com/hooks/report '{\"day\":\"2026-11-16\"}' --scheduled-at 1h",
     CLI_FLAGS(push_flags), .run = run_push},
    {.name = "push hosts", .args = "", .summary = "List the hosts that jobs are delivered to, with their circuit breakers",
     .about = "Counts calls since the leader started. A host with an open breaker is not called until NEXT PROBE.",
     .call = {"GET", "/push/hosts", CLI_COLUMNS(host_columns), .empty = "No deliveries yet"}},
    {.name = "enqueue", .args = "<queue> <payload>", .summary = "Enqueue a job",
     .about = "The payload is JSON; - reads it from standard input. Any --agent flag makes an agent job.",
     .examples = "corvo enqueue emails.send '{\"to\":\"a@example.com\"}' --priority high --tag tenant=acme\n"
                 "jq -c .order order.json | corvo enqueue orders.ship - --unique-key order-17",
     CLI_FLAGS(enqueue_flags), .run = run_enqueue},
    {.name = "inspect", .args = "<job-id>", .summary = "Show everything about a job", .run = run_inspect},
    {.name = "explain", .args = "<job-id|queue>", .summary = "Explain why a job, or the jobs of a queue, are not running", .run = cli_explain_run},
    {.name = "wait", .args = "<job-id>", .summary = "Wait until a job reaches a state",
     .about = "Exits 0 if the job reaches one of the states, 1 if it ends in another state.\n"
              "Follows the event stream of the server; polls if there is none.",
     .examples = "corvo wait job_… --state completed --wait-timeout 10m && echo shipped",
     CLI_FLAGS(wait_flags), .run = cli_wait_run},
    {.name = "retry", .args = "<job-id>", .summary = "Run a finished job again",
     .call = {"POST", "/jobs/{0}/retry", .text = "Job retried"}},
    {.name = "cancel", .args = "<job-id>", .summary = "Cancel a job",
     .call = {"POST", "/jobs/{0}/cancel", .text = "Job {0}: {status}"}},
    {.name = "move", .args = "<job-id> <target-queue>", .summary = "Move a job to another queue",
     .call = {"POST", "/jobs/{0}/move", .arg_field = {NULL, "queue"}, .text = "Job moved to {1}"}},
    {.name = "delete", .args = "<job-id>", .summary = "Delete a job; this cannot be undone",
     .call = {"DELETE", "/jobs/{0}", .text = "Job deleted"}},
    {.name = "hold", .args = "<job-id>", .summary = "Hold a job until someone approves or rejects it",
     CLI_FLAGS(reason_flags),
     .call = {"POST", "/jobs/{0}/hold", .text = "Job {0} held"}},
    {.name = "approve", .args = "<job-id>", .summary = "Approve a held job", CLI_FLAGS(approve_flags),
     .call = {"POST", "/jobs/{0}/approve", .text = "Job {0} approved", .query = "comment"}},
    {.name = "reject", .args = "<job-id>", .summary = "Reject a held job; it becomes dead", CLI_FLAGS(reason_flags),
     .call = {"POST", "/jobs/{0}/reject", .text = "Job {0} rejected"}},
    {.name = "held", .args = "", .summary = "List held jobs", .options = CLI_ROWS, .run = run_held},
    {.name = "replay", .args = "<job-id>", .summary = "Run an agent job again from one of its iterations",
     CLI_FLAGS(replay_flags), .run = run_replay,
     .call = {"POST", "/jobs/{0}/replay", .text = "Replay enqueued: {job_id} (status: {status})"}},
    {.name = "iterations", .args = "<job-id>", .summary = "List the iterations of an agent job", .run = run_iterations},
};
/* clang-format on */

const struct cli_family cli_jobs_family = {"Jobs", commands, COUNT_OF(commands)};
