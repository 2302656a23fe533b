/*
 * corvo search, with output formats for users, for jq and for corvo bulk (cli.md 5.1).
 *
 * In a pipe, all matching jobs are printed, page by page as they arrive: a program that acts on the
 * result must not get only a part of it without notice. Only the table format keeps its rows in
 * memory, to determine the column widths.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_progress.h"

enum { BODY_BYTES_MAX = 1 << 20, CURSOR_BYTES_MAX = 1 << 16, PAGE_MAX = 1000 };

/* clang-format off */
static const struct cli_column columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},             {"QUEUE", "queue", CLI_SHOW_TEXT},
    {"STATE", "state", CLI_SHOW_STATE},      {"PRIORITY", "priority", CLI_SHOW_PRIORITY | CLI_SHOW_MINOR},
    {"ATTEMPT", "attempt", CLI_SHOW_TEXT | CLI_SHOW_MINOR},   {"CREATED", "created_at", CLI_SHOW_TIME},
    {"PAYLOAD", "payload", CLI_SHOW_CUT},
};

/* For failed jobs, the error is more important than the payload. */
static const struct cli_column failed_columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},             {"QUEUE", "queue", CLI_SHOW_TEXT},
    {"STATE", "state", CLI_SHOW_STATE | CLI_SHOW_MINOR},
    {"PRIORITY", "priority", CLI_SHOW_PRIORITY | CLI_SHOW_MINOR},
    {"ATTEMPT", "attempt", CLI_SHOW_TEXT | CLI_SHOW_MINOR}, {"CREATED", "created_at", CLI_SHOW_TIME},
    {"PAYLOAD", "payload", CLI_SHOW_CUT | CLI_SHOW_MINOR},  {"ERROR", "last_error", CLI_SHOW_CUT},
};
/* clang-format on */

enum form { FORM_TABLE, FORM_ANSWER, FORM_ARRAY, FORM_LINES, FORM_IDS };

struct searching {
    struct cli *cli;
    enum form form;
    int64_t limit; /* maximum number of jobs; 0: all */
    int64_t count; /* jobs so far */
    int64_t total; /* number of matches */
    bool begun;    /* output has begun */
    struct buf cursor;
    struct buf rest;  /* last response without its jobs */
    struct str *jobs; /* rows of the table, in the run's arena */
    size_t kept, room;
};

static int64_t page_of(const struct searching *s)
{
    int64_t left = s->limit == 0 ? PAGE_MAX : s->limit - s->count;
    /* With both --all and --limit, --limit is the page size. */
    if (s->limit == 0 && cli_given(s->cli, "limit") && cli_int(s->cli, "limit") < left) {
        left = cli_int(s->cli, "limit");
    }
    return left > PAGE_MAX ? PAGE_MAX : left;
}

static struct str body_of(struct searching *s)
{
    struct cli *cli = s->cli;
    struct buf b;
    buf_init(&b, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    cli_values_write(cli, &w);
    if (s->cursor.len > 0) {
        json_write_key(&w, STR("cursor"));
        json_write_str(&w, buf_str(&s->cursor));
    }
    json_write_key(&w, STR("limit"));
    json_write_i64(&w, page_of(s));
    json_write_end(&w);
    json_write_finish(&w);
    struct str body = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return body;
}

/* Rows of a table */

static void keep(struct searching *s, struct arena *outer, const struct str *rows, size_t count)
{
    if (s->kept + count > s->room) {
        size_t room = (s->kept + count) * 2;
        struct str *jobs = ARENA_ARRAY(outer, struct str, room);
        CHECK(jobs != NULL);
        if (s->kept > 0) {
            memcpy(jobs, s->jobs, s->kept * sizeof *jobs);
        }
        s->jobs = jobs;
        s->room = room;
    }
    for (size_t i = 0; i < count; i++) {
        s->jobs[s->kept++] = arena_str(outer, rows[i]);
    }
}

/* Pages */

static void print_rows(struct searching *s, const struct str *rows, size_t count)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        if (s->form == FORM_IDS) {
            cli_print_pattern(s->cli, s->cli->out, "{id}\n", rows[i]);
        } else if (s->form == FORM_LINES) {
            buf_add_str(&b, cli_json_compact(s->cli, rows[i]));
            buf_add_char(&b, '\n');
        } else {
            size_t depth = s->form == FORM_ANSWER ? 2 : 1;
            buf_printf(&b, "%s\n%*s", s->count + (int64_t)i > 0 ? "," : "", 2 * (int)depth, "");
            cli_json_indent_at(&b, rows[i], depth);
        }
    }
    (void)fwrite(b.ptr == NULL ? "" : b.ptr, 1, b.len, s->cli->out);
    buf_deinit(&b);
}

static void note_rest(struct searching *s, struct str answer)
{
    static const char *const others[] = {"total", "cursor", "has_more", "duration_ms"};
    buf_clear(&s->rest);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct json_value value = cli_member(answer, others[i]);
        if (value.type != JSON_TYPE_COUNT) {
            buf_printf(&s->rest, ",\n  \"%s\": " STR_FMT, others[i], STR_ARG(value.text));
        }
    }
    s->total = cli_member_int(answer, "total");
}

/* Fetch one page and print or keep its jobs. *out_more is set if another page follows. */
static int page(struct searching *s, struct arena *outer, bool *out_more)
{
    struct cli *cli = s->cli;
    struct cli_answer answer;
    struct str *rows = NULL;
    int code = cli_request(cli, "POST", cli_url_to(cli, "/jobs/search"), body_of(s), &answer);
    if (code != CLI_OK) {
        return code;
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "jobs").text, &rows);
    if (!s->begun && (s->form == FORM_ANSWER || s->form == FORM_ARRAY)) {
        cli_printf(cli, "%s", s->form == FORM_ANSWER ? "{\n  \"jobs\": [" : "[");
    }
    s->begun = true;
    if (s->form == FORM_TABLE) {
        keep(s, outer, rows, count);
    } else {
        print_rows(s, rows, count);
    }
    s->count += (int64_t)count;
    note_rest(s, answer.body);
    struct str cursor = cli_member_text(cli, answer.body, "cursor");
    bool wanted = s->limit == 0 || s->count < s->limit;
    *out_more = wanted && cli_member_true(answer.body, "has_more") && cursor.len > 0 && count > 0;
    if (*out_more && str_eq(cursor, buf_str(&s->cursor))) {
        return cli_fail(cli, "the server returned the same page twice: the list is not complete");
    }
    buf_clear(&s->cursor);
    buf_add_str(&s->cursor, cursor);
    return CLI_OK;
}

static int search(struct searching *s)
{
    struct cli *cli = s->cli;
    struct cli_progress progress = cli_progress_begin(cli, "jobs");
    bool more = true;
    int code = CLI_OK;
    while (code == CLI_OK && more) {
        struct arena *outer = cli_round_begin(cli);
        code = page(s, outer, &more);
        cli_round_end(cli, outer);
        if (more && cli->err_is_terminal && !cli->out_is_terminal) {
            cli_progress_show(&progress, s->count,
                              s->limit != 0 && s->limit < s->total ? s->limit : s->total);
        }
    }
    cli_progress_end(&progress);
    return code;
}

/* Formats */

static enum form form_of(const struct cli *cli)
{
    struct str word = cli_text(cli, "output");
    if (cli_table_is_word("id ids", word) || cli_bool(cli, "output-json")) {
        return FORM_IDS;
    }
    if (str_eq(word, STR("json"))) {
        return FORM_ARRAY;
    }
    if (str_eq(word, STR("jsonl"))) {
        return FORM_LINES;
    }
    return cli_table_is_word("table wide csv", word) || cli->out_is_terminal ? FORM_TABLE
                                                                             : FORM_ANSWER;
}

/* A table is for users and has one page by default; other formats are for programs and contain
 * everything. */
static int64_t limit_of(const struct cli *cli, enum form form)
{
    bool table = form == FORM_TABLE && !str_eq(cli_text(cli, "output"), STR("csv"));
    bool all = cli_bool(cli, "all") || (!cli_given(cli, "limit") && !table);
    return all ? 0 : cli_int(cli, "limit");
}

static void print_table(struct searching *s)
{
    struct cli *cli = s->cli;
    long long total = (long long)s->total;
    long long ms = (long long)cli_member_int(
        cli_format(cli, "{\"_\":0" STR_FMT "}", STR_ARG(buf_str(&s->rest))), "duration_ms");
    struct str state = cli_text(cli, "state");
    bool failed = state.len > 0 && cli_table_is_word("dead retrying", state);
    cli_call_table(cli, failed ? failed_columns : columns,
                   failed ? COUNT_OF(failed_columns) : COUNT_OF(columns), s->jobs, s->kept);
    if (str_eq(cli_text(cli, "output"), STR("csv"))) {
        return;
    }
    if (s->count < s->total) {
        cli_printf(cli, "%lld of %lld results (%lldms); --all prints every one\n",
                   (long long)s->count, total, ms);
    } else {
        cli_printf(cli, "%lld results (%lldms)\n", total, ms);
    }
}

static int run_search(struct cli *cli)
{
    enum form form = form_of(cli);
    struct searching s = {.cli = cli, .form = form, .limit = limit_of(cli, form)};
    if (s.limit < 0 || (s.limit == 0 && cli_given(cli, "limit") && cli_int(cli, "limit") < 1)) {
        return cli_fail(cli, "--limit must be at least 1");
    }
    buf_init(&s.cursor, CURSOR_BYTES_MAX);
    buf_init(&s.rest, CURSOR_BYTES_MAX);
    buf_add_str(&s.cursor, cli_text(cli, "cursor"));
    int code = search(&s);
    if (code == CLI_OK && form == FORM_TABLE) {
        print_table(&s);
    } else if (code == CLI_OK && (form == FORM_ANSWER || form == FORM_ARRAY)) {
        const char *line = s.count == 0 ? "" : form == FORM_ANSWER ? "\n  " : "\n";
        cli_printf(cli, "%s]" STR_FMT "\n", line,
                   STR_ARG(form == FORM_ANSWER ? buf_str(&s.rest) : STR_EMPTY));
        cli_printf(cli, "%s", form == FORM_ANSWER ? "}\n" : "");
    }
    if (code == CLI_OK && form != FORM_TABLE && s.limit != 0 && s.count < s.total) {
        cli_note(
            cli,
            "Printed %lld of %lld matching jobs: --limit %lld. Leave --limit out to print all.\n",
            (long long)s.count, (long long)s.total, (long long)s.limit);
    } else if (code == CLI_OK && form != FORM_TABLE && cli->err_is_terminal) {
        cli_note(cli, "%lld jobs\n", (long long)s.count);
    }
    buf_deinit(&s.cursor);
    buf_deinit(&s.rest);
    return code;
}

/* clang-format off */
#define WHEN(flag, wire, what)                                                                      \
    CLI_FLAG(flag "-after", CLI_TIME, "TIME", NULL, "only jobs " what " after this time", .field = wire "_after"),   \
    CLI_FLAG(flag "-before", CLI_TIME, "TIME", NULL, "only jobs " what " before this time", .field = wire "_before")

static const struct cli_flag flags[] = {
    CLI_FLAG("queue",            CLI_TEXT,  "QUEUE",     NULL, "only jobs in this queue", .field = "queue", .options = CLI_NOT_EMPTY),
    CLI_FLAG("state",            CLI_LIST,  "STATES",    NULL, "only jobs in these states, comma-separated", .field = "state"),
    CLI_FLAG("priority",         CLI_TEXT,  "WORD",      NULL, "only jobs with this priority: critical, high or normal", .field = "priority", .options = CLI_NOT_EMPTY),
    CLI_FLAG("payload-contains", CLI_TEXT,  "TEXT",      NULL, "only jobs whose payload contains this text",
             .field = "payload_contains", .options = CLI_NOT_EMPTY),
    CLI_FLAG("payload-jq",       CLI_TEXT,  "EXPR",      NULL, "only jobs whose payload matches this jq expression, for example .amount > 100",
             .field = "payload_jq", .options = CLI_NOT_EMPTY),
    CLI_FLAG("error-contains",   CLI_TEXT,  "TEXT",      NULL, "only jobs with this text in an error message", .field = "error_contains", .options = CLI_NOT_EMPTY),
    CLI_FLAG("tag",              CLI_PAIRS, "KEY=VALUE", NULL, "only jobs with this tag; repeat the flag for several tags", .field = "tags"),
    CLI_FLAG("since",            CLI_TIME,  "TIME",      NULL, "only jobs created since this time, for example 1h or yesterday",
             .field = "created_after"),
    CLI_FLAG("error-fingerprint", CLI_TEXT, "HEX",       NULL, "only jobs with an error of this group of corvo errors",
             .field = "error_fingerprint", .options = CLI_NOT_EMPTY),
    WHEN("created", "created", "created"),
    WHEN("scheduled", "scheduled", "due"),
    WHEN("started", "started", "started"),
    WHEN("completed", "completed", "completed"),
    WHEN("expire", "expire", "expiring"),
    CLI_FLAG("worker-id",     CLI_TEXT, "ID",     NULL,         "only jobs claimed by this worker", .field = "worker_id", .options = CLI_NOT_EMPTY),
    CLI_FLAG("batch-id",      CLI_TEXT, "ID",     NULL,         "only jobs in this batch", .field = "batch_id", .options = CLI_NOT_EMPTY),
    CLI_FLAG("unique-key",    CLI_TEXT, "KEY",    NULL,         "only jobs with this unique key", .field = "unique_key", .options = CLI_NOT_EMPTY),
    CLI_FLAG("job-id-prefix", CLI_TEXT, "PREFIX", NULL,         "only jobs whose id starts with this prefix", .field = "job_id_prefix", .options = CLI_NOT_EMPTY),
    CLI_FLAG("parent-id",     CLI_TEXT, "ID",     NULL,         "only children of this job", .field = "parent_id", .options = CLI_NOT_EMPTY),
    CLI_FLAG("chain-id",      CLI_TEXT, "ID",     NULL,         "only jobs in this chain", .field = "chain_id", .options = CLI_NOT_EMPTY),
    CLI_FLAG("depends-on",    CLI_TEXT, "ID",     NULL,         "only jobs that depend on this job", .field = "depends_on", .options = CLI_NOT_EMPTY),
    CLI_FLAG("has-errors",    CLI_BOOL, NULL,     NULL,         "only jobs with errors; =false: only jobs without", .field = "has_errors"),
    CLI_FLAG("attempt-min",   CLI_INT,  "N",      NULL,         "only jobs with at least this many attempts", .field = "attempt_min"),
    CLI_FLAG("attempt-max",   CLI_INT,  "N",      NULL,         "only jobs with at most this many attempts", .field = "attempt_max"),
    CLI_FLAG("limit",         CLI_INT,  "N",      "50",         "print at most this many jobs; a table has 50, a pipe gets all"),
    CLI_FLAG("sort",          CLI_TEXT, "FIELD",  "created_at", "sort by this field",
             .field = "sort", .words = "created_at priority started_at completed_at attempt", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("order",         CLI_TEXT, "WORD",   "desc",       "sort direction",
             .field = "order", .words = "asc desc", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("cursor",        CLI_TEXT, "CURSOR", NULL,         "continue after the page that returned this cursor"),
    CLI_FLAG("all",           CLI_BOOL, NULL,     "false",      "print every matching job in a table as well"),
    CLI_FLAG("output",        CLI_TEXT, "FORMAT", "text",       "how to print the result",
             .letter = 'o', .words = "text table wide json jsonl csv id ids"),
    CLI_FLAG("output-json",   CLI_BOOL, NULL,     "false",      "print one id per line (older name of -o id)"),
};
#undef WHEN

static const struct cli_command commands[] = {
    {.name = "search", .args = "", .summary = "Search jobs",
     .about = "On a terminal, prints a table of the first 50 jobs. In a pipe, prints every matching job as JSON,\n"
              "which corvo bulk reads. Use -o json for an array of jobs, -o jsonl for one job per line and\n"
              "-o id for one id per line. If --limit cuts the list, a note on standard error says so.",
     .examples = "corvo search --queue emails.send --state dead\n"
                 "corvo search --payload-jq '.amount > 100' --tag tenant=acme --all --output json | jq length\n"
                 "corvo search --state dead --error-contains SMTP | corvo bulk retry",
     CLI_FLAGS(flags), .run = run_search},
};
/* clang-format on */

const struct cli_family cli_search_family = {"Search", commands, COUNT_OF(commands)};
