/*
 * Commands for cost and approval: usage, budgets, approval policies.
 */
#include "base/check.h"
#include "cli/cli_form.h"
#include "cli/cli_int.h"

/* Usage */

static int get_usage(struct cli *cli, struct str period, struct str group_by,
                     struct cli_answer *out)
{
    const char *url = cli_url_to(cli, "/usage/summary");
    url = cli_url_query(cli, url, "period", period);
    if (group_by.len > 0) {
        url = cli_url_query(cli, url, "group_by", group_by);
    }
    return cli_request(cli, "GET", url, STR_EMPTY, out);
}

static void print_group(struct cli *cli, struct str group)
{
    struct str key = cli_harmless(cli, cli_member_text(cli, group, "key"));
    cli_printf(cli,
               "- " STR_FMT " rows=%lld in=%lld out=%lld cache_create=%lld cache_read=%lld "
               "cost=%.6f\n",
               STR_ARG(key.len > 0 ? key : STR("-")), (long long)cli_member_int(group, "count"),
               (long long)cli_member_int(group, "input_tokens"),
               (long long)cli_member_int(group, "output_tokens"),
               (long long)cli_member_int(group, "cache_creation_tokens"),
               (long long)cli_member_int(group, "cache_read_tokens"),
               cli_member_real(group, "cost_usd"));
}

static int run_usage(struct cli *cli)
{
    static const struct {
        const char *label;
        const char *member;
    } lines[] = {
        {"Total rows:", "totals.count"},
        {"Input tokens:", "totals.input_tokens"},
        {"Output tokens:", "totals.output_tokens"},
        {"Cache create tokens:", "totals.cache_creation_tokens"},
        {"Cache read tokens:", "totals.cache_read_tokens"},
    };
    struct cli_answer answer;
    struct str *groups = NULL;
    int code = get_usage(cli, cli_text(cli, "period"), cli_text(cli, "group-by"), &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    cli_print_pattern(cli, cli->out, "Usage summary ({period})\nWindow: {from} -> {to}\n",
                      answer.body);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        cli_printf(cli, "%s %lld\n", lines[i].label,
                   (long long)cli_member_int(answer.body, lines[i].member));
    }
    cli_printf(cli, "Total cost USD: %.6f\n", cli_member_real(answer.body, "totals.cost_usd"));
    size_t count = cli_elements(cli, cli_member(answer.body, "groups").text, &groups);
    cli_printf(cli, "%s", count > 0 ? "Groups:\n" : "");
    for (size_t i = 0; i < count; i++) {
        print_group(cli, groups[i]);
    }
    return CLI_OK;
}

static int run_cache_stats(struct cli *cli)
{
    struct cli_answer answer;
    int code = get_usage(cli, STR("24h"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    int64_t created = cli_member_int(answer.body, "totals.cache_creation_tokens");
    int64_t read = cli_member_int(answer.body, "totals.cache_read_tokens");
    double all = (double)read + (double)created;
    cli_printf(cli, "Cache create tokens: %lld\n", (long long)created);
    cli_printf(cli, "Cache read tokens:   %lld\n", (long long)read);
    cli_printf(cli, "Estimated hit rate:  %.1f%%\n", all > 0 ? 100.0 * (double)read / all : 0.0);
    return CLI_OK;
}

/* Budgets */

static int run_budget_set(struct cli *cli)
{
    if (!cli_table_is_word("queue tag global", cli->args[0])) {
        return cli_fail(cli, "<scope> must be queue, tag or global, not '" STR_FMT "'",
                        STR_ARG(cli->args[0]));
    }
    if (!cli_given(cli, "daily") && !cli_given(cli, "per-job")) {
        return cli_fail(cli, "set --daily, --per-job or both");
    }
    return cli_call_run(cli);
}

/* Approval policies */

static int run_policy_set(struct cli *cli)
{
    const struct cli_value *tag = cli_value(cli, "tag");
    struct cli_pair pairs[6] = {CLI_SET_TEXT("name", cli->args[0]),
                                CLI_SET_TEXT("mode", cli_text(cli, "mode")),
                                CLI_SET_BOOL("enabled", !cli_bool(cli, "disabled")),
                                CLI_SET_TEXT("queue", cli_text(cli, "queue"))};
    size_t count = 4;
    struct cli_answer answer;
    if (tag->item_count > 1) {
        return cli_fail(cli, "a policy has one tag");
    }
    if (tag->item_count == 1) {
        struct str pair = tag->items[0];
        size_t at = (size_t)((const char *)memchr(pair.ptr, '=', pair.len) - pair.ptr);
        pairs[count++] = (struct cli_pair)CLI_SET_TEXT("tag_key", str_from(pair.ptr, at));
        pairs[count++] = (struct cli_pair)CLI_SET_TEXT("tag_value", str_from_offset(pair, at + 1));
    }
    int code = cli_request(cli, "POST", cli_url_to(cli, "/approval-policies"),
                           cli_object(cli, pairs, count), &answer);
    return code == CLI_OK ? cli_show(cli, answer.body, "approval policy set: {0}") : code;
}

/* List the policies, with the key and value of the tag in one column. */
static int run_policy_list(struct cli *cli)
{
    static const struct cli_column columns[] = {
        {"ID", "id", CLI_SHOW_TEXT},       {"NAME", "name", CLI_SHOW_TEXT},
        {"MODE", "mode", CLI_SHOW_TEXT},   {"ENABLED", "enabled", CLI_SHOW_TEXT},
        {"QUEUE", "queue", CLI_SHOW_TEXT}, {"TAG", "tag", CLI_SHOW_TEXT},
    };
    struct cli_answer answer;
    struct str *rows = NULL;
    enum cli_form form = cli_form_of(cli);
    int code = cli_request(cli, "GET", cli_url_to(cli, "/approval-policies"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (form == CLI_FORM_JSON) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    size_t count = cli_elements(cli, answer.body, &rows);
    if (count == 0 && (form == CLI_FORM_TABLE || form == CLI_FORM_WIDE)) {
        cli_printf(cli, "No approval policies configured\n");
        return CLI_OK;
    }
    for (size_t i = 0; i < count && form != CLI_FORM_JSONL; i++) {
        struct str key = cli_member_text(cli, rows[i], "tag_key");
        struct str value = cli_member_text(cli, rows[i], "tag_value");
        struct str tag = key.len == 0
                             ? STR_EMPTY
                             : cli_format(cli, STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(value));
        rows[i] = CLI_OBJECT(cli, CLI_SET_RAW("id", cli_member(rows[i], "id").text),
                             CLI_SET_RAW("name", cli_member(rows[i], "name").text),
                             CLI_SET_RAW("mode", cli_member(rows[i], "mode").text),
                             CLI_SET_RAW("enabled", cli_member(rows[i], "enabled").text),
                             CLI_SET_RAW("queue", cli_member(rows[i], "queue").text),
                             CLI_SET_TEXT("tag", tag));
    }
    cli_call_table(cli, columns, COUNT_OF(columns), rows, count);
    return CLI_OK;
}

/* clang-format off */
static const struct cli_column budget_columns[] = {
    {"SCOPE", "scope", CLI_SHOW_TEXT},            {"TARGET", "target", CLI_SHOW_TEXT},
    {"DAILY_USD", "daily_usd", CLI_SHOW_TEXT},    {"PER_JOB_USD", "per_job_usd", CLI_SHOW_TEXT},
    {"ON_EXCEED", "on_exceed", CLI_SHOW_TEXT},
};

static const struct cli_flag usage_flags[] = {
    CLI_FLAG("period",   CLI_TEXT, "DURATION", "24h", "length of the period up to now, such as 24h, 7d or 2w"),
    CLI_FLAG("group-by", CLI_TEXT, "WORD",     NULL,  "group by queue, model or provider"),
};

static const struct cli_flag budget_flags[] = {
    CLI_FLAG("daily",     CLI_REAL, "USD",  NULL,   "limit per day", .field = "daily_usd"),
    CLI_FLAG("per-job",   CLI_REAL, "USD",  NULL,   "limit per job", .field = "per_job_usd"),
    CLI_FLAG("on-exceed", CLI_TEXT, "WORD", "hold", "what to do when the limit is exceeded",
             .field = "on_exceed", .words = "hold reject alert_only", .options = CLI_SEND_DEFAULT),
};

static const struct cli_flag policy_flags[] = {
    CLI_FLAG("mode",     CLI_TEXT,  "WORD",      "any",   "whether any or all conditions must match",
             .words = "any all"),
    CLI_FLAG("queue",    CLI_TEXT,  "QUEUE",     NULL,    "match jobs in this queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("tag",      CLI_PAIRS, "KEY=VALUE", NULL,    "match jobs with this tag"),
    CLI_FLAG("disabled", CLI_BOOL,  NULL,        "false", "save the policy without applying it"),
};

static const struct cli_command commands[] = {
    {.name = "usage", .args = "", .summary = "Show tokens and cost", .examples = "corvo usage --period 7d --group-by model",
     CLI_FLAGS(usage_flags), .run = run_usage},
    {.name = "cache stats", .args = "", .summary = "Show the prompt cache hit rate", .run = run_cache_stats},
    {.name = "budget list", .args = "", .summary = "List budgets",
     .call = {"GET", "/budgets", CLI_COLUMNS(budget_columns), .empty = "No budgets configured"}},
    {.name = "budget set", .args = "<scope> <target>", .summary = "Set a spending limit",
     .about = "The scope is queue, tag or global. The target is a queue, key=value, or * for global.",
     .examples = "corvo budget set queue agents.research --daily 25 --per-job 1.5\ncorvo budget set global '*' --daily 100 --on-exceed alert_only",
     CLI_FLAGS(budget_flags), .run = run_budget_set,
     .call = {"POST", "/budgets", .arg_field = {"scope", "target"}, .text = "Budget set for {0}:{1}"}},
    {.name = "budget delete", .args = "<scope> <target>", .summary = "Delete a budget",
     .call = {"DELETE", "/budgets/{0}/{1}", .text = "Budget deleted for {0}:{1}"}},
    {.name = "approval-policy list", .args = "", .summary = "List approval policies",
     .options = CLI_ROWS, .run = run_policy_list},
    {.name = "approval-policy set", .args = "<name>", .summary = "Hold matching agent jobs until someone approves them",
     .examples = "corvo approval-policy set big-mails --queue emails.send --tag size=big --mode all",
     CLI_FLAGS(policy_flags), .run = run_policy_set},
    {.name = "approval-policy delete", .args = "<id>", .summary = "Delete an approval policy",
     .call = {"DELETE", "/approval-policies/{0}", .text = "approval policy deleted: {0}"}},
};
/* clang-format on */

const struct cli_family cli_costs_family = {"Cost and approval", commands, COUNT_OF(commands)};
