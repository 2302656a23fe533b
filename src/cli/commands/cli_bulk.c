/*
 * corvo bulk: applies an action to many jobs, given by ids from a pipe or by a filter.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_progress.h"
#include "cli/cli_sse.h"
#include "cli/commands/cli_ids.h"
#include "json/json_scan.h"

enum { BODY_BYTES_MAX = 1 << 29, POLL_MS_MIN = 100, POLL_MS_MAX = 2000 };

/* The actions and their targets. */
static const struct action {
    const char *name;
    const char *flag;  /* flag that can set the target instead of the argument */
    const char *what;  /* kind of target */
    const char *field; /* field of the body for the target */
    bool ends;         /* jobs do not run afterwards: all of them are never meant by accident */
} actions[] = {
    {"retry", NULL, NULL, NULL, false},
    {"delete", NULL, NULL, NULL, true},
    {"cancel", NULL, NULL, NULL, true},
    {"requeue", NULL, NULL, NULL, false},
    {"hold", NULL, NULL, NULL, false},
    {"approve", NULL, NULL, NULL, false},
    {"reject", NULL, NULL, NULL, true},
    {"move", "to", "queue", "move_to_queue", false},
    {"change_priority", "priority", "priority", "priority", false},
};

struct bulk {
    struct cli *cli;
    const struct action *action;
    struct str target;
    struct str filter; /* empty: use ids */
    struct cli_ids ids;
};

static const struct action *find_action(struct str name)
{
    if (str_eq(name, STR("change-priority"))) {
        name = STR("change_priority");
    }
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (str_eq(name, str_from_z(actions[i].name))) {
            return &actions[i];
        }
    }
    return NULL;
}

/* Refuse flags of other actions, and a second target. */
static int check_target(struct bulk *b)
{
    static const char *const flags[] = {"to", "priority"};
    struct cli *cli = b->cli;
    const char *own = b->action->flag;
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        if (cli_given(cli, flags[i]) && (own == NULL || strcmp(own, flags[i]) != 0)) {
            return cli_fail(cli, "bulk %s accepts no --%s", b->action->name, flags[i]);
        }
    }
    if (cli->arg_count > 1 && own == NULL) {
        return cli_fail(cli, "bulk %s accepts no target", b->action->name);
    }
    if (cli->arg_count > 1 && cli_given(cli, own)) {
        return cli_fail(cli, "use either <%s> or --%s, not both", b->action->what, own);
    }
    return CLI_OK;
}

static int read_action(struct bulk *b)
{
    struct cli *cli = b->cli;
    b->action = find_action(cli->args[0]);
    if (b->action == NULL) {
        return cli_fail(cli,
                        "unknown bulk action '" STR_FMT "'; expected retry, delete, cancel,"
                        " requeue, hold, approve, reject, move or change_priority",
                        STR_ARG(cli->args[0]));
    }
    int code = check_target(b);
    if (code != CLI_OK || b->action->flag == NULL) {
        return code;
    }
    b->target = cli->arg_count > 1 ? cli->args[1] : cli_text(cli, b->action->flag);
    if (b->target.len == 0) {
        return cli_fail(cli, "bulk %s requires a target: corvo bulk %s <%s>, or --%s",
                        b->action->name, b->action->name, b->action->what, b->action->flag);
    }
    return CLI_OK;
}

static int read_filter(struct bulk *b)
{
    struct err err;
    b->filter = str_trim(cli_text(b->cli, "filter"));
    if (json_scan_check(b->filter, &err) != ERR_OK) {
        return cli_fail(b->cli, "invalid filter JSON: %s", err.msg);
    }
    return b->filter.ptr[0] == '{' ? CLI_OK
                                   : cli_fail(b->cli, "invalid filter JSON: not an object");
}

static int read_ids(struct bulk *b)
{
    struct cli *cli = b->cli;
    struct str text = STR_EMPTY;
    struct err err;
    if (!cli->in_is_terminal) {
        int code = cli_read_stdin(cli, &text);
        if (code != CLI_OK) {
            return code;
        }
    }
    if (cli_ids_read(text, cli->arena, &b->ids, &err) != ERR_OK) {
        return cli_fail(cli, "%s", err.msg);
    }
    return b->ids.count > 0
               ? CLI_OK
               : cli_fail(cli, "no job IDs provided (pipe from search or use --filter)");
}

static struct str body_of(struct bulk *b)
{
    struct buf out;
    buf_init(&out, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&out);
    json_write_object(&w);
    json_write_key(&w, STR("action"));
    json_write_str(&w, str_from_z(b->action->name));
    if (b->action->field != NULL) {
        json_write_key(&w, str_from_z(b->action->field));
        json_write_str(&w, b->target);
    }
    if (b->filter.len > 0) {
        json_write_key(&w, STR("filter"));
        json_write_raw(&w, b->filter);
    } else {
        json_write_key(&w, STR("job_ids"));
        json_write_array(&w);
        for (size_t i = 0; i < b->ids.count; i++) {
            json_write_str(&w, b->ids.id[i]);
        }
        json_write_end(&w);
    }
    if (cli_bool(b->cli, "async")) {
        json_write_key(&w, STR("async"));
        json_write_bool(&w, true);
    }
    json_write_end(&w);
    json_write_finish(&w);
    struct str body = arena_str(b->cli->arena, buf_str(&out));
    buf_deinit(&out);
    return body;
}

static void print_summary(struct cli *cli, struct str answer, int64_t ms)
{
    int64_t errors = cli_member_int(answer, "errors");
    cli_printf(cli, "Affected: %lld jobs (%lldms)", (long long)cli_member_int(answer, "affected"),
               (long long)ms);
    if (errors > 0) {
        cli_printf(cli, ", %lld errors", (long long)errors);
    }
    cli_printf(cli, "\n");
}

/* --dry-run */

/* Count the ids that exist, with requests of at most PIECE ids, the server's limit. */
static int count_ids(struct bulk *b, int64_t *out)
{
    enum { PIECE = 1000 };
    struct cli *cli = b->cli;
    *out = 0;
    for (size_t from = 0; from < b->ids.count; from += PIECE) {
        struct bulk piece = *b;
        struct cli_answer answer;
        struct str *jobs = NULL;
        size_t left = b->ids.count - from;
        piece.ids = (struct cli_ids){b->ids.id + from, left < PIECE ? left : PIECE};
        struct str list = cli_member(body_of(&piece), "job_ids").text;
        int code = cli_request(cli, "POST", cli_url_to(cli, "/jobs/bulk-get"),
                               CLI_OBJECT(cli, CLI_SET_RAW("job_ids", list)), &answer);
        if (code != CLI_OK) {
            return code;
        }
        *out += (int64_t)cli_elements(cli, cli_member(answer.body, "jobs").text, &jobs);
    }
    return CLI_OK;
}

static int run_dry(struct bulk *b)
{
    struct cli *cli = b->cli;
    struct cli_answer answer;
    int64_t count = 0;
    int code;
    if (b->filter.len > 0) {
        code = cli_request(cli, "POST", cli_url_to(cli, "/jobs/search"), b->filter, &answer);
        count = code == CLI_OK ? cli_member_int(answer.body, "total") : 0;
    } else {
        code = count_ids(b, &count);
    }
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, CLI_OBJECT(cli, CLI_SET_BOOL("dry_run", 1),
                                       CLI_SET_TEXT("action", str_from_z(b->action->name)),
                                       CLI_SET_INT("matched", count)));
    } else {
        cli_printf(cli, "Would %s up to %lld jobs; nothing was changed\n", b->action->name,
                   (long long)count);
    }
    return CLI_OK;
}

/* Background operations */

struct following {
    struct cli *cli;
    struct cli_sse sse;
    struct cli_progress progress;
};

static bool on_event(void *data, const struct cli_sse_event *event)
{
    struct following *f = data;
    cli_progress_show(&f->progress, cli_member_int(event->data, "processed"),
                      cli_member_int(event->data, "total"));
    return !str_eq(event->type, STR("bulk.async.completed")) &&
           !str_eq(event->type, STR("bulk.async.failed"));
}

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct following *f = call->data;
    return cli_sse_feed(&f->sse, piece);
}

/* Show progress from the operation's event stream until the stream ends. */
static int watch(struct following *f, struct str id)
{
    struct cli *cli = f->cli;
    struct outgoing_wait_call call = cli_call_events(cli, CLI_URL(cli, "/bulk/{0}/progress", id));
    call.on_piece = on_piece;
    call.data = f;
    bool ended = outgoing_wait_run(cli->http, &call, cli->signal_fd);
    outgoing_wait_clear(&call);
    return ended ? CLI_OK : cli_interrupted(cli);
}

/* Follow the operation until the server reports its end. The stream is only used to show progress;
 * the result comes from polling. */
static int follow(struct following *f, struct str id, struct cli_answer *out)
{
    struct cli *cli = f->cli;
    int64_t sleep_ms = POLL_MS_MIN;
    int code = watch(f, id);
    while (code == CLI_OK) {
        code = cli_request(cli, "GET", CLI_URL(cli, "/bulk/{0}", id), STR_EMPTY, out);
        if (code != CLI_OK) {
            break;
        }
        struct str status = cli_member_text(cli, out->body, "status");
        cli_progress_show(&f->progress, cli_member_int(out->body, "processed"),
                          cli_member_int(out->body, "total"));
        if (cli_table_is_word("completed failed cancelled", status)) {
            break;
        }
        if (!cli_sleep(cli, sleep_ms)) {
            code = cli_interrupted(cli);
        }
        sleep_ms = sleep_ms * 2 > POLL_MS_MAX ? POLL_MS_MAX : sleep_ms * 2;
    }
    cli_progress_end(&f->progress);
    return code;
}

static int conclude(struct cli *cli, struct str task)
{
    struct str status = cli_harmless(cli, cli_member_text(cli, task, "status"));
    struct str why = cli_harmless(cli, cli_member_text(cli, task, "error"));
    if (cli_is_json(cli)) {
        cli_print_json(cli, task);
    } else {
        print_summary(cli, task,
                      cli_progress_ms_between(cli_member_text(cli, task, "created_at"),
                                              cli_member_text(cli, task, "finished_at")));
    }
    if (str_eq(status, STR("completed"))) {
        return CLI_OK;
    }
    return cli_fail(cli, "the bulk operation is " STR_FMT ": " STR_FMT, STR_ARG(status),
                    STR_ARG(why.len > 0 ? why : STR("no reason was given")));
}

static int in_background(struct cli *cli, struct str accepted)
{
    struct following f = {.cli = cli};
    struct cli_answer task;
    struct str id = cli_harmless(cli, cli_member_text(cli, accepted, "bulk_operation_id"));
    bool wait = cli_bool(cli, "wait");
    if (!cli_is_json(cli)) {
        cli_printf(cli, "Bulk operation " STR_FMT " started (%lld jobs)\n", STR_ARG(id),
                   (long long)cli_member_int(accepted, "estimated_total"));
        (void)fflush(cli->out);
    } else if (!wait) {
        cli_print_json(cli, accepted);
    }
    if (!wait) {
        return CLI_OK;
    }
    cli_sse_init(&f.sse, on_event, &f);
    f.progress = cli_progress_begin(cli, "jobs");
    int code = follow(&f, id, &task);
    cli_sse_deinit(&f.sse);
    return code == CLI_OK ? conclude(cli, task.body) : code;
}

/* Does the filter exclude any job? Empty members do not, nor do members that only sort or limit the
 * result. */
static bool narrows(struct str filter)
{
    static const char *const neutral = "sort order limit cursor";
    struct json_scan scan = json_scan_from(filter);
    struct json_value key;
    struct json_value value;
    bool found = false;
    if (!json_scan_enter_object(&scan)) {
        return false;
    }
    while (json_scan_next_key(&scan, &key) && json_scan_value(&scan, &value)) {
        struct str name = str_from(key.text.ptr + 1, key.text.len - 2);
        bool empty = value.type == JSON_TYPE_NULL || str_eq(value.text, STR("\"\"")) ||
                     ((value.type == JSON_TYPE_OBJECT || value.type == JSON_TYPE_ARRAY) &&
                      str_trim(str_from(value.text.ptr + 1, value.text.len - 2)).len == 0);
        found = found || (!empty && !cli_table_is_word(neutral, name));
    }
    return found;
}

/* Count the jobs that match the filter, and all jobs. */
static int count_matches(struct bulk *b, int64_t *out_matching, int64_t *out_all)
{
    struct cli_answer answer;
    const char *url = cli_url_to(b->cli, "/jobs/search");
    int code = cli_request(b->cli, "POST", url, b->filter, &answer);
    if (code != CLI_OK) {
        return code;
    }
    *out_matching = cli_member_int(answer.body, "total");
    code = cli_request(b->cli, "POST", url, STR("{\"limit\":1}"), &answer);
    *out_all = code == CLI_OK ? cli_member_int(answer.body, "total") : 0;
    return code;
}

/* Must the user confirm, and do they agree? Confirmation is required for a filter that matches
 * every job, in whatever form, and for every delete by filter. Without a terminal, two cases are
 * refused: a filter that excludes no job, and a delete, cancel or reject whose filter matches every
 * job but names no queue. */
static bool may_go_on(struct bulk *b, int *out_code)
{
    struct cli *cli = b->cli;
    bool deletes = strcmp(b->action->name, "delete") == 0;
    int64_t matching = 0;
    int64_t all = 0;
    if (b->filter.len == 0 || cli_bool(cli, "yes")) {
        return true;
    }
    bool everything = !narrows(b->filter);
    if (!everything && (b->action->ends || cli->in_is_terminal)) {
        *out_code = count_matches(b, &matching, &all);
        if (*out_code != CLI_OK) {
            return false;
        }
        bool named = cli_member_text(cli, b->filter, "queue").len > 0;
        everything = matching > 0 && matching == all && (cli->in_is_terminal || !named);
    }
    if (!everything && !deletes) {
        return true;
    }
    struct str question =
        everything
            ? cli_format(cli,
                         "The filter matches every job in every queue. bulk %s changes all of them"
                         " and cannot be undone.",
                         b->action->name)
            : cli_format(cli, "Delete %lld jobs that match the filter? This cannot be undone.",
                         (long long)matching);
    const char *text = arena_strz(cli->arena, question);
    CHECK(text != NULL);
    return cli_confirmed(cli, !everything, text, out_code);
}

static int carry_out(struct bulk *b)
{
    struct cli *cli = b->cli;
    struct cli_answer answer;
    int code = CLI_OK;
    if (cli_bool(cli, "dry-run")) {
        return run_dry(b);
    }
    if (!may_go_on(b, &code)) {
        return code;
    }
    code = cli_request(cli, "POST", cli_url_to(cli, "/jobs/bulk"), body_of(b), &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (answer.status == 202) {
        return in_background(cli, answer.body);
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
    } else {
        print_summary(cli, answer.body, cli_member_int(answer.body, "duration_ms"));
    }
    return CLI_OK;
}

static int run_bulk(struct cli *cli)
{
    struct bulk b = {.cli = cli};
    int code = read_action(&b);
    if (code == CLI_OK) {
        code = cli_given(cli, "filter") ? read_filter(&b) : read_ids(&b);
    }
    return code == CLI_OK ? carry_out(&b) : code;
}

/* Retry one job, like corvo retry, or all jobs in some states. */
static int run_retry(struct cli *cli)
{
    struct bulk b = {.cli = cli, .action = find_action(STR("retry"))};
    bool by_filter = cli_given(cli, "state") || cli_given(cli, "queue");
    struct buf filter;
    if (cli->arg_count > 0 && by_filter) {
        return cli_fail(cli, "use either a job id or --state, not both");
    }
    if (cli->arg_count > 0) {
        cli->command = cli_table_find(STR("retry"));
        return cli_call_run(cli);
    }
    if (!cli_given(cli, "state")) {
        return cli_fail(cli, "jobs retry requires a job id or --state");
    }
    buf_init(&filter, BODY_BYTES_MAX);
    struct json_write w = json_write_to(&filter);
    json_write_object(&w);
    cli_values_write(cli, &w);
    json_write_end(&w);
    json_write_finish(&w);
    b.filter = arena_str(cli->arena, buf_str(&filter));
    buf_deinit(&filter);
    return carry_out(&b);
}

/* clang-format off */
#define HOW_FLAGS \
    CLI_FLAG("async",    CLI_BOOL, NULL,    "false", "run in the background"), \
    CLI_FLAG("wait",     CLI_BOOL, NULL,    "true",  "wait until a background operation ends"), \
    CLI_FLAG("dry-run",  CLI_BOOL, NULL,    "false", "print how many jobs match and change nothing"), \
    CLI_FLAG("yes",      CLI_BOOL, NULL,    "false", "do not ask for confirmation", .letter = 'y')

static const struct cli_flag retry_flags[] = {
    CLI_FLAG("state",    CLI_LIST, "STATES", NULL,   "retry all jobs in these states, comma-separated", .field = "state"),
    CLI_FLAG("queue",    CLI_TEXT, "QUEUE",  NULL,   "only jobs in this queue", .field = "queue", .options = CLI_NOT_EMPTY),
    HOW_FLAGS,
};

static const struct cli_flag flags[] = {
    CLI_FLAG("filter",   CLI_TEXT, "JSON",  NULL,    "select jobs by a filter of the search API instead of ids from standard input"),
    CLI_FLAG("to",       CLI_TEXT, "QUEUE", NULL,    "destination queue of move"),
    CLI_FLAG("priority", CLI_TEXT, "WORD",  NULL,    "new priority of change_priority"),
    HOW_FLAGS,
};
#undef HOW_FLAGS

static const struct cli_command commands[] = {
    {.name = "bulk", .args = "<action> [target]", .summary = "Retry, cancel, move or delete many jobs",
     .about = "Actions: retry, delete, cancel, requeue, hold, approve, reject, move <queue>,\n"
              "change_priority <priority>. Jobs in a state that does not allow the action are skipped.\n\n"
              "Job ids come from standard input, in any form that corvo search prints, or from a\n"
              "filter that the server applies. On a terminal, the command asks before it applies a\n"
              "filter that matches every job, and before every delete by filter. A script needs\n"
              "--yes for a filter without conditions, and to delete, cancel or reject all jobs with a\n"
              "filter that names no queue.",
     .examples = "corvo search --queue emails.send --state dead | corvo bulk retry\n"
                 "corvo search --queue old.emails --output json | corvo bulk move emails.v2\n"
                 "corvo bulk retry --filter '{\"queue\":\"emails.send\",\"state\":[\"dead\"]}' --dry-run",
     CLI_FLAGS(flags), .run = run_bulk},
    {.name = "jobs retry", .args = "[job-id]", .summary = "Retry one job, or all jobs in a state",
     .about = "With a job id, the same as corvo retry. With --state, retries every matching job, the same as\n"
              "corvo bulk retry --filter.",
     .examples = "corvo jobs retry --state dead --queue emails.send",
     CLI_FLAGS(retry_flags), .run = run_retry},
};
/* clang-format on */

const struct cli_family cli_bulk_family = {"Many jobs at once", commands, COUNT_OF(commands)};
