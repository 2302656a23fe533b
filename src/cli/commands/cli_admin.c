/*
 * Commands for administrators: namespaces, webhooks, the audit log.
 */
#include "base/check.h"
#include "cli/cli_int.h"

enum { LIMITS_MAX = 4 };

/* A limit of a namespace: the flag that sets it, and the member of the response that shows it. */
struct limit {
    const char *flag;
    const char *shown;
};

/* Merge the current limits with the given flags: a request replaces all limits. */
static struct str merged(struct cli *cli, const struct limit *limits, size_t count, struct str old)
{
    struct cli_pair pairs[LIMITS_MAX];
    CHECK(count <= LIMITS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct cli_value *v = cli_value(cli, limits[i].flag);
        struct cli_pair given = {.key = v->flag->field,
                                 .kind = v->flag->kind == CLI_INT ? CLI_PAIR_INT : CLI_PAIR_REAL,
                                 .number = v->number,
                                 .real = v->real};
        struct cli_pair kept =
            CLI_SET_RAW(v->flag->field, cli_member_text(cli, old, limits[i].shown));
        pairs[i] = v->given ? given : kept;
    }
    return cli_object(cli, pairs, count);
}

/* Set the limits that are given and keep the others; print the current limits if none is given. */
static int show_or_set(struct cli *cli, const struct limit *limits, size_t count)
{
    const struct cli_call *call = &cli->command->call;
    const char *url = CLI_URL(cli, call->path, cli->args[0]);
    struct cli_answer answer = {.body = STR_EMPTY};
    bool clear = cli_bool(cli, "clear");
    bool any = false;
    int code = CLI_OK;
    for (size_t i = 0; i < count; i++) {
        if (clear && cli_given(cli, limits[i].flag)) {
            return cli_fail(cli, "use either --clear or --%s, not both", limits[i].flag);
        }
        any = any || cli_given(cli, limits[i].flag);
    }
    if (!clear) {
        code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
    }
    if (code == CLI_OK && !clear && !any) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    struct str body = clear ? STR("{}") : merged(cli, limits, count, answer.body);
    if (code == CLI_OK) {
        code = cli_request(cli, call->method, url, body, &answer);
    }
    return code == CLI_OK ? cli_show(cli, answer.body, call->text) : code;
}

static int run_rate_limit(struct cli *cli)
{
    static const struct limit limits[] = {{"read-rps", "read_rps"},
                                          {"read-burst", "read_burst"},
                                          {"write-rps", "write_rps"},
                                          {"write-burst", "write_burst"}};
    return show_or_set(cli, limits, COUNT_OF(limits));
}

static int run_quota(struct cli *cli)
{
    static const struct limit limits[] = {{"max-jobs", "jobs.max"},
                                          {"max-payload-bytes", "payload_bytes.max"},
                                          {"max-queues", "queues.max"}};
    return show_or_set(cli, limits, COUNT_OF(limits));
}

/* Read the webhook with the id of the command. *out is empty if there is none. */
static int read_webhook(struct cli *cli, struct str *out)
{
    struct cli_answer answer;
    struct str *rows = NULL;
    *out = STR_EMPTY;
    if (cli->arg_count == 0) {
        return CLI_OK;
    }
    int code = cli_request(cli, "GET", cli_url_to(cli, "/webhooks"), STR_EMPTY, &answer);
    size_t count = code == CLI_OK ? cli_elements(cli, answer.body, &rows) : 0;
    for (size_t i = 0; i < count; i++) {
        if (str_eq(cli_member_text(cli, rows[i], "id"), cli->args[0])) {
            *out = rows[i];
        }
    }
    return code;
}

/* Create a webhook, or change one. A request replaces all of it, so what is not given is sent as it
 * is. For the secret that is the mask, which the server takes as "keep it". */
static int run_webhook_set(struct cli *cli)
{
    static const char *const flags[] = {"url", "events", "secret", "retry-limit", "disabled"};
    struct cli_pair pairs[COUNT_OF(flags) + 1];
    const struct cli_call *call = &cli->command->call;
    struct cli_answer answer;
    struct str old;
    struct str given = cli_call_body(cli);
    int code = read_webhook(cli, &old);
    if (code != CLI_OK) {
        return code;
    }
    if (old.len == 0 && !cli_given(cli, "url")) {
        return cli_fail(cli, "flag --url is required for a new webhook");
    }
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        const char *field = cli_value(cli, flags[i])->flag->field;
        struct str kept = cli_member(old, field).text;
        bool keep = !cli_given(cli, flags[i]) && kept.len > 0;
        pairs[i] = (struct cli_pair)CLI_SET_RAW(field, keep ? kept : cli_member(given, field).text);
    }
    pairs[COUNT_OF(flags)] =
        (struct cli_pair)CLI_SET_TEXT("id", cli->arg_count > 0 ? cli->args[0] : STR_EMPTY);
    struct str body = cli_object(cli, pairs, COUNT_OF(pairs));
    code = cli_request(cli, call->method, cli_url_to(cli, call->path), body, &answer);
    return code == CLI_OK ? cli_show(cli, answer.body, call->text) : code;
}

/* clang-format off */
static const struct cli_column namespace_columns[] = {
    {"NAME", "name", CLI_SHOW_TEXT},            {"CREATED", "created_at", CLI_SHOW_TIME},
    {"RATE LIMIT", "rate_limit", CLI_SHOW_TEXT},
};

static const struct cli_column webhook_columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},                {"URL", "url", CLI_SHOW_TEXT},
    {"EVENTS", "events", CLI_SHOW_LIST},        {"ENABLED", "enabled", CLI_SHOW_TEXT},
    {"LAST STATUS", "last_status_code", CLI_SHOW_TEXT}, {"LAST DELIVERY", "last_delivery_at", CLI_SHOW_TIME},
};

static const struct cli_column audit_columns[] = {
    {"TIME", "created_at", CLI_SHOW_TIME},      {"PRINCIPAL", "principal", CLI_SHOW_TEXT},
    {"ROLE", "role", CLI_SHOW_TEXT},            {"METHOD", "method", CLI_SHOW_TEXT},
    {"STATUS", "status_code", CLI_SHOW_TEXT},   {"PATH", "path", CLI_SHOW_TEXT},
};

static const struct cli_flag rate_flags[] = {
    CLI_FLAG("read-rps",    CLI_REAL, "N",  NULL,    "reads per second", .field = "read_rps"),
    CLI_FLAG("read-burst",  CLI_REAL, "N",  NULL,    "burst of reads", .field = "read_burst"),
    CLI_FLAG("write-rps",   CLI_REAL, "N",  NULL,    "writes per second", .field = "write_rps"),
    CLI_FLAG("write-burst", CLI_REAL, "N",  NULL,    "burst of writes", .field = "write_burst"),
    CLI_FLAG("clear",       CLI_BOOL, NULL, "false", "restore the defaults"),
};

static const struct cli_flag quota_flags[] = {
    CLI_FLAG("max-jobs",          CLI_INT,  "N",  NULL,    "unfinished jobs", .field = "max_jobs"),
    CLI_FLAG("max-payload-bytes", CLI_INT,  "N",  NULL,    "total payload bytes of those jobs", .field = "max_payload_bytes"),
    CLI_FLAG("max-queues",        CLI_INT,  "N",  NULL,    "queues", .field = "max_queues"),
    CLI_FLAG("clear",             CLI_BOOL, NULL, "false", "remove the quota"),
};

static const struct cli_flag webhook_flags[] = {
    CLI_FLAG("url",         CLI_TEXT, "URL",    NULL,    "URL to send events to; required for a new webhook",
             .field = "url", .options = CLI_NOT_EMPTY),
    CLI_FLAG("events",      CLI_LIST, "TYPES",  NULL,    "event types to send; all by default", .field = "events"),
    CLI_FLAG("secret",      CLI_TEXT, "SECRET", NULL,    "secret that signs each request", .field = "secret"),
    CLI_FLAG("retry-limit", CLI_INT,  "N",      "3",     "number of attempts",
             .field = "retry_limit", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("disabled",    CLI_BOOL, NULL,     "false", "save the webhook without sending events",
             .field = "enabled", .options = CLI_SEND_DEFAULT | CLI_INVERTED),
};

static const struct cli_flag audit_flags[] = {
    CLI_FLAG("principal",   CLI_TEXT, "NAME",   NULL,  "only requests by this principal", .field = "principal", .options = CLI_NOT_EMPTY),
    CLI_FLAG("method",      CLI_TEXT, "METHOD", NULL,  "only requests with this HTTP method", .field = "method", .options = CLI_NOT_EMPTY),
    CLI_FLAG("path-prefix", CLI_TEXT, "PATH",   NULL,  "only requests to paths with this prefix", .field = "path_prefix", .options = CLI_NOT_EMPTY),
    CLI_FLAG("since",       CLI_TIME, "TIME",   NULL,  "only requests after this time", .field = "since"),
    CLI_FLAG("until",       CLI_TIME, "TIME",   NULL,  "only requests before this time", .field = "until"),
    CLI_FLAG("limit",       CLI_INT,  "N",      "100", "print at most this many entries",
             .field = "limit", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("offset",      CLI_INT,  "N",      "0",   "entries to skip",
             .field = "offset", .options = CLI_SEND_DEFAULT),
};

static const struct cli_command commands[] = {
    {.name = "namespaces list", .args = "", .summary = "List namespaces",
     .call = {"GET", "/namespaces", CLI_COLUMNS(namespace_columns), .empty = "No namespaces"}},
    {.name = "namespaces create", .args = "<name>", .summary = "Create a namespace",
     .call = {"POST", "/namespaces", .arg_field = {"name"}, .text = "Namespace created: {0}"}},
    {.name = "namespaces delete", .args = "<name>", .summary = "Delete a namespace; its jobs are kept",
     .options = CLI_CONFIRM, .confirm = "Delete namespace {0}?",
     .call = {"DELETE", "/namespaces/{0}", .text = "Namespace deleted: {0}"}},
    {.name = "namespaces rate-limit", .args = "<name>", .summary = "Show or set the request limits of a namespace",
     .about = "Sets the limits that are given and keeps the others. --clear restores all defaults.",
     CLI_FLAGS(rate_flags), .run = run_rate_limit,
     .call = {"PUT", "/namespaces/{0}/rate-limit", .text = "Rate limit of {0} {status}"}},
    {.name = "namespaces quota", .args = "<name>", .summary = "Show or set the quota of a namespace",
     .about = "Sets the limits that are given and keeps the others; 0 removes one. --clear removes all.",
     .examples = "corvo namespaces quota acme --max-jobs 100000 --max-queues 50",
     CLI_FLAGS(quota_flags), .run = run_quota,
     .call = {"PUT", "/namespaces/{0}/quota", .text = "Quota of {0} {status}"}},
    {.name = "webhooks list", .args = "", .summary = "List webhooks",
     .call = {"GET", "/webhooks", CLI_COLUMNS(webhook_columns), .empty = "No webhooks"}},
    {.name = "webhooks set", .args = "[id]", .summary = "Create a webhook, or change the webhook with this id",
     .about = "With an id, sets what is given and keeps the rest, also the secret. --disabled=false enables it again.",
     .examples = "corvo webhooks set --url https://example.com/hook --events completed,dead --secret s3cret",
     CLI_FLAGS(webhook_flags), .run = run_webhook_set,
     .call = {"POST", "/webhooks", .text = "Webhook set: {id}"}},
    {.name = "webhooks delete", .args = "<id>", .summary = "Delete a webhook",
     .call = {"DELETE", "/webhooks/{0}", .text = "Webhook deleted: {0}"}},
    {.name = "audit", .args = "", .summary = "List entries of the audit log", CLI_FLAGS(audit_flags),
     .call = {"GET", "/audit-logs", .rows = "audit_logs", CLI_COLUMNS(audit_columns), .empty = "No audit log entries"}},
    {.name = "admin rebuild-sqlite", .args = "", .summary = "Rebuild the search index",
     .call = {"POST", "/admin/rebuild-sqlite", .text = "SQLite rebuilt in {duration_ms}ms"}},
    {.name = "admin accept-clock", .args = "", .summary = "Accept the system clock after it jumped ahead",
     .call = {"POST", "/admin/accept-clock", .text = "Server time is {time}; the clock was {ahead_ms}ms ahead"}},
};
/* clang-format on */

const struct cli_family cli_admin_family = {"Administration", commands, COUNT_OF(commands)};
