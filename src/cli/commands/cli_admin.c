/*
 * Commands for administrators: keys, namespaces, webhooks, the audit log.
 */
#include "base/check.h"
#include "cli/cli_int.h"

static int run_rate_limit(struct cli *cli)
{
    const char *url = CLI_URL(cli, "/namespaces/{0}/rate-limit", cli->args[0]);
    static const char *const names[] = {"read-rps", "read-burst", "write-rps", "write-burst"};
    struct cli_answer answer;
    bool any = cli_bool(cli, "clear");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        any = any || cli_given(cli, names[i]);
    }
    if (any) {
        return cli_call_run(cli);
    }
    int code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
    if (code == CLI_OK) {
        cli_print_json(cli, answer.body);
    }
    return code;
}

/* clang-format off */
static const struct cli_column key_columns[] = {
    {"NAME", "name", CLI_SHOW_TEXT},            {"NAMESPACE", "namespace", CLI_SHOW_TEXT},
    {"ROLE", "role", CLI_SHOW_TEXT},            {"ENABLED", "enabled", CLI_SHOW_TEXT},
    {"SCOPE", "queue_scope", CLI_SHOW_TEXT},    {"LAST USED", "last_used_at", CLI_SHOW_TIME},
    {"EXPIRES", "expires_at", CLI_SHOW_TIME},   {"KEY HASH", "key_hash", CLI_SHOW_TEXT},
};

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

static const struct cli_flag key_flags[] = {
    CLI_FLAG("name",        CLI_TEXT, "NAME",    NULL,       "what the key is for",
             .field = "name", .options = CLI_REQUIRED),
    CLI_FLAG("namespace",   CLI_TEXT, "NAME",    "default",  "the namespace it works in",
             .field = "namespace", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("role",        CLI_TEXT, "ROLE",    "readonly", "admin, operator, worker, readonly or a role of your own",
             .field = "role", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("queue-scope", CLI_TEXT, "PATTERN", NULL,       "queues it may touch", .field = "queue_scope"),
    CLI_FLAG("expires-at",  CLI_TIME, "TIME",    NULL,       "when it ends", .field = "expires_at"),
};

static const struct cli_flag rate_flags[] = {
    CLI_FLAG("read-rps",    CLI_REAL, "N",  NULL,    "reads per second", .field = "read_rps"),
    CLI_FLAG("read-burst",  CLI_REAL, "N",  NULL,    "reads at once", .field = "read_burst"),
    CLI_FLAG("write-rps",   CLI_REAL, "N",  NULL,    "writes per second", .field = "write_rps"),
    CLI_FLAG("write-burst", CLI_REAL, "N",  NULL,    "writes at once", .field = "write_burst"),
    CLI_FLAG("clear",       CLI_BOOL, NULL, "false", "back to the defaults"),
};

static const struct cli_flag webhook_flags[] = {
    CLI_FLAG("url",         CLI_TEXT, "URL",    NULL,    "where to send events",
             .field = "url", .options = CLI_REQUIRED),
    CLI_FLAG("events",      CLI_LIST, "TYPES",  NULL,    "which events; all when not given", .field = "events"),
    CLI_FLAG("secret",      CLI_TEXT, "SECRET", NULL,    "signs what is sent", .field = "secret"),
    CLI_FLAG("retry-limit", CLI_INT,  "N",      "3",     "attempts in all",
             .field = "retry_limit", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("disabled",    CLI_BOOL, NULL,     "false", "keep it without sending",
             .field = "enabled", .options = CLI_SEND_DEFAULT | CLI_INVERTED),
};

static const struct cli_flag audit_flags[] = {
    CLI_FLAG("principal",   CLI_TEXT, "NAME",   NULL,  "done by", .field = "principal"),
    CLI_FLAG("method",      CLI_TEXT, "METHOD", NULL,  "with this method", .field = "method"),
    CLI_FLAG("path-prefix", CLI_TEXT, "PATH",   NULL,  "on paths that begin so", .field = "path_prefix"),
    CLI_FLAG("since",       CLI_TIME, "TIME",   NULL,  "not before", .field = "since"),
    CLI_FLAG("until",       CLI_TIME, "TIME",   NULL,  "not after", .field = "until"),
    CLI_FLAG("limit",       CLI_INT,  "N",      "100", "entries at most",
             .field = "limit", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("offset",      CLI_INT,  "N",      "0",   "entries to skip",
             .field = "offset", .options = CLI_SEND_DEFAULT),
};

static const struct cli_command commands[] = {
    {.name = "keys list", .args = "", .summary = "List the API keys",
     .call = {"GET", "/auth/keys", CLI_COLUMNS(key_columns), .empty = "No API keys"}},
    {.name = "keys create", .args = "", .summary = "Make an API key and print its secret, once",
     .about = "The first key closes the server to everybody who has none.",
     .examples = "export CORVO_API_KEY=$(corvo keys create --name ops --role admin)", CLI_FLAGS(key_flags),
     .call = {"POST", "/auth/keys", .text = "{api_key}"}},
    {.name = "keys delete", .args = "<key-hash>", .summary = "Delete an API key",
     .options = CLI_CONFIRM, .confirm = "Delete the API key with hash {0}?",
     .call = {"DELETE", "/auth/keys", .arg_field = {"key_hash"}, .text = "Key deleted: {0}"}},
    {.name = "namespaces list", .args = "", .summary = "List the namespaces",
     .call = {"GET", "/namespaces", CLI_COLUMNS(namespace_columns), .empty = "No namespaces"}},
    {.name = "namespaces create", .args = "<name>", .summary = "Make a namespace",
     .call = {"POST", "/namespaces", .arg_field = {"name"}, .text = "Namespace created: {0}"}},
    {.name = "namespaces delete", .args = "<name>", .summary = "Delete a namespace; its jobs stay",
     .options = CLI_CONFIRM, .confirm = "Delete namespace {0}?",
     .call = {"DELETE", "/namespaces/{0}", .text = "Namespace deleted: {0}"}},
    {.name = "namespaces rate-limit", .args = "<name>", .summary = "Show or set the request limits of a namespace",
     CLI_FLAGS(rate_flags), .run = run_rate_limit,
     .call = {"PUT", "/namespaces/{0}/rate-limit", .text = "Rate limit of {0} {status}"}},
    {.name = "webhooks list", .args = "", .summary = "List the webhooks",
     .call = {"GET", "/webhooks", CLI_COLUMNS(webhook_columns), .empty = "No webhooks"}},
    {.name = "webhooks set", .args = "[id]", .summary = "Make a webhook, or change the one with this id",
     .examples = "corvo webhooks set --url https://example.com/hook --events completed,dead --secret s3cret",
     CLI_FLAGS(webhook_flags),
     .call = {"POST", "/webhooks", .arg_field = {"id"}, .text = "Webhook set: {id}"}},
    {.name = "webhooks delete", .args = "<id>", .summary = "Delete a webhook",
     .call = {"DELETE", "/webhooks/{0}", .text = "Webhook deleted: {0}"}},
    {.name = "audit", .args = "", .summary = "List who did what", CLI_FLAGS(audit_flags),
     .call = {"GET", "/audit-logs", .rows = "audit_logs", CLI_COLUMNS(audit_columns), .empty = "No audit log entries"}},
    {.name = "admin rebuild-sqlite", .args = "", .summary = "Build the query view again from the source of truth",
     .call = {"POST", "/admin/rebuild-sqlite", .text = "SQLite rebuilt in {duration_ms}ms"}},
    {.name = "admin accept-clock", .args = "", .summary = "Follow the server's clock although it jumped ahead",
     .call = {"POST", "/admin/accept-clock", .text = "The time is {time}; the clock was {ahead_ms}ms ahead"}},
};
/* clang-format on */

const struct cli_family cli_admin_family = {"Administration", commands, COUNT_OF(commands)};
