/*
 * corvo search. Its five ways to print are for people, for jq and for corvo bulk (cli.md 5.1).
 */
#include "base/check.h"
#include "cli/cli_int.h"

enum { BODY_BYTES_MAX = 1 << 20, PAGE_MAX = 1000 };

/* clang-format off */
static const struct cli_column columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},             {"QUEUE", "queue", CLI_SHOW_TEXT},
    {"STATE", "state", CLI_SHOW_STATE},      {"PRIORITY", "priority", CLI_SHOW_TEXT},
    {"ATTEMPT", "attempt", CLI_SHOW_TEXT},   {"CREATED", "created_at", CLI_SHOW_TIME},
    {"PAYLOAD", "payload", CLI_SHOW_CUT},
};
/* clang-format on */

struct searching {
    struct cli *cli;
    struct str *jobs; /* of all pages */
    size_t count, room;
    struct str last; /* the last page's answer */
};

static struct str body_of(struct cli *cli, struct str cursor)
{
    struct buf b;
    buf_init(&b, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    cli_values_write(cli, &w);
    if (cursor.len > 0) {
        json_write_key(&w, STR("cursor"));
        json_write_str(&w, cursor);
    }
    if (cli_bool(cli, "all") && !cli_given(cli, "limit")) {
        json_write_key(&w, STR("limit"));
        json_write_i64(&w, PAGE_MAX);
    } else {
        json_write_key(&w, STR("limit"));
        json_write_i64(&w, cli_int(cli, "limit"));
    }
    json_write_end(&w);
    json_write_finish(&w);
    struct str body = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return body;
}

static void keep(struct searching *s, const struct str *rows, size_t count)
{
    if (s->count + count > s->room) {
        size_t room = (s->count + count) * 2;
        struct str *jobs = ARENA_ARRAY(s->cli->arena, struct str, room);
        CHECK(jobs != NULL);
        if (s->count > 0) {
            memcpy(jobs, s->jobs, s->count * sizeof *jobs);
        }
        s->jobs = jobs;
        s->room = room;
    }
    if (count > 0) {
        memcpy(s->jobs + s->count, rows, count * sizeof *rows);
    }
    s->count += count;
}

/* One page, or with --all as many as there are. */
static int search(struct searching *s)
{
    struct cli *cli = s->cli;
    struct str cursor = cli_text(cli, "cursor");
    const char *url = cli_url_to(cli, "/jobs/search");
    for (;;) {
        struct cli_answer answer;
        struct str *rows = NULL;
        int code = cli_request(cli, "POST", url, body_of(cli, cursor), &answer);
        if (code != CLI_OK) {
            return code;
        }
        size_t count = cli_elements(cli, cli_member(answer.body, "jobs").text, &rows);
        keep(s, rows, count);
        s->last = answer.body;
        cursor = cli_member_text(cli, answer.body, "cursor");
        bool more = cli_member_true(answer.body, "has_more") && cursor.len > 0 && count > 0;
        if (!cli_bool(cli, "all") || !more) {
            return CLI_OK;
        }
    }
}

/* The forms */

static void print_ids(struct searching *s)
{
    for (size_t i = 0; i < s->count; i++) {
        cli_print_pattern(s->cli, s->cli->out, "{id}\n", s->jobs[i]);
    }
}

static void print_table(struct searching *s)
{
    cli_call_table(s->cli, columns, COUNT_OF(columns), s->jobs, s->count);
    cli_printf(s->cli, "%lld results (%lldms)\n", (long long)cli_member_int(s->last, "total"),
               (long long)cli_member_int(s->last, "duration_ms"));
}

static void write_jobs(struct searching *s, struct json_write *w)
{
    json_write_array(w);
    for (size_t i = 0; i < s->count; i++) {
        json_write_raw(w, s->jobs[i]);
    }
    json_write_end(w);
}

/* The array of jobs, or the whole answer with the jobs of all its pages. */
static void print_document(struct searching *s, bool whole)
{
    static const char *const others[] = {"total", "cursor", "has_more", "duration_ms"};
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    struct json_write w = json_write_to(&b);
    if (!whole) {
        write_jobs(s, &w);
    } else {
        json_write_object(&w);
        json_write_key(&w, STR("jobs"));
        write_jobs(s, &w);
        for (size_t i = 0; i < COUNT_OF(others); i++) {
            struct json_value value = cli_member(s->last, others[i]);
            if (value.type != JSON_TYPE_COUNT) {
                json_write_key(&w, str_from_z(others[i]));
                json_write_raw(&w, value.text);
            }
        }
        json_write_end(&w);
    }
    cli_print_json(s->cli, buf_str(&b));
    buf_deinit(&b);
}

static int run_search(struct cli *cli)
{
    struct searching s = {.cli = cli};
    struct str form = cli_text(cli, "output");
    int code = search(&s);
    if (code != CLI_OK) {
        return code;
    }
    if (str_eq(form, STR("ids")) || cli_bool(cli, "output-json")) {
        print_ids(&s);
    } else if (str_eq(form, STR("json"))) {
        print_document(&s, false);
    } else if (str_eq(form, STR("table")) || cli->out_is_terminal) {
        print_table(&s);
    } else {
        print_document(&s, true);
    }
    return CLI_OK;
}

/* clang-format off */
#define WHEN(flag, wire, what)                                                                      \
    CLI_FLAG(flag "-after", CLI_TIME, "TIME", NULL, what " after this time or date", .field = wire "_after"),   \
    CLI_FLAG(flag "-before", CLI_TIME, "TIME", NULL, what " before this time or date", .field = wire "_before")

static const struct cli_flag flags[] = {
    CLI_FLAG("queue",            CLI_TEXT,  "QUEUE",     NULL, "in this queue", .field = "queue"),
    CLI_FLAG("state",            CLI_LIST,  "STATES",    NULL, "in one of these states", .field = "state"),
    CLI_FLAG("priority",         CLI_TEXT,  "WORD",      NULL, "of this priority", .field = "priority"),
    CLI_FLAG("payload-contains", CLI_TEXT,  "TEXT",      NULL, "whose payload has this text",
             .field = "payload_contains"),
    CLI_FLAG("payload-jq",       CLI_TEXT,  "EXPR",      NULL, "whose payload fits, like .amount > 100",
             .field = "payload_jq"),
    CLI_FLAG("error-contains",   CLI_TEXT,  "TEXT",      NULL, "with this text in an error", .field = "error_contains"),
    CLI_FLAG("tag",              CLI_PAIRS, "KEY=VALUE", NULL, "with this tag; may be repeated", .field = "tags"),
    WHEN("created", "created", "created"),
    WHEN("scheduled", "scheduled", "due"),
    WHEN("started", "started", "begun"),
    WHEN("completed", "completed", "completed"),
    WHEN("expire", "expire", "expiring"),
    CLI_FLAG("worker-id",     CLI_TEXT, "ID",     NULL,         "claimed by this worker", .field = "worker_id"),
    CLI_FLAG("batch-id",      CLI_TEXT, "ID",     NULL,         "of this batch", .field = "batch_id"),
    CLI_FLAG("unique-key",    CLI_TEXT, "KEY",    NULL,         "with this unique key", .field = "unique_key"),
    CLI_FLAG("job-id-prefix", CLI_TEXT, "PREFIX", NULL,         "whose id begins so", .field = "job_id_prefix"),
    CLI_FLAG("parent-id",     CLI_TEXT, "ID",     NULL,         "belonging to this job", .field = "parent_id"),
    CLI_FLAG("chain-id",      CLI_TEXT, "ID",     NULL,         "of this chain", .field = "chain_id"),
    CLI_FLAG("has-errors",    CLI_BOOL, NULL,     NULL,         "with errors; =false: without", .field = "has_errors"),
    CLI_FLAG("attempt-min",   CLI_INT,  "N",      NULL,         "tried at least so often", .field = "attempt_min"),
    CLI_FLAG("attempt-max",   CLI_INT,  "N",      NULL,         "tried at most so often", .field = "attempt_max"),
    CLI_FLAG("limit",         CLI_INT,  "N",      "50",         "jobs at most; the server's limit is 1000"),
    CLI_FLAG("sort",          CLI_TEXT, "FIELD",  "created_at", "what to sort by",
             .field = "sort", .words = "created_at priority started_at completed_at attempt", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("order",         CLI_TEXT, "WORD",   "desc",       "direction",
             .field = "order", .words = "asc desc", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("cursor",        CLI_TEXT, "CURSOR", NULL,         "go on where a page ended"),
    CLI_FLAG("all",           CLI_BOOL, NULL,     "false",      "follow the cursors to the end"),
    CLI_FLAG("output",        CLI_TEXT, "FORMAT", "text",       "how to print the result",
             .words = "text json ids table"),
    CLI_FLAG("output-json",   CLI_BOOL, NULL,     "false",      "one id per line (the older form for pipes)"),
};
#undef WHEN

static const struct cli_command commands[] = {
    {.name = "search", .args = "", .summary = "Search jobs",
     .about = "On a terminal the result is a table; into a pipe it is the server's answer, which corvo bulk reads.\n"
              "--output json prints an array of jobs, --output ids one id per line.",
     .examples = "corvo search --queue emails.send --state dead\n"
                 "corvo search --payload-jq '.amount > 100' --tag tenant=acme --all --output json | jq length\n"
                 "corvo search --state dead --error-contains SMTP | corvo bulk retry",
     CLI_FLAGS(flags), .run = run_search},
};
/* clang-format on */

const struct cli_family cli_search_family = {"Search", commands, COUNT_OF(commands)};
