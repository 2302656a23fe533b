/*
 * The answer is put together from what the API says of the job, its queue, the jobs it depends on
 * and the workers; each finding is a code for programs and a sentence for people.
 */
#include "cli/cli_explain.h"

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_time.h"
#include "core/timestamp.h"
#include "os/os_clock.h"

enum { BODY_BYTES_MAX = 1 << 20, WORKER_STALE_S = 300 };

struct explaining {
    struct cli *cli;
    struct str job;
    struct str id, queue, state;
    struct buf found; /* [{"code":…,"message":…}…] */
    struct json_write w;
    size_t count;
};

static void find(struct explaining *e, const char *code, struct str message)
{
    json_write_object(&e->w);
    json_write_key(&e->w, STR("code"));
    json_write_str(&e->w, str_from_z(code));
    json_write_key(&e->w, STR("message"));
    json_write_str(&e->w, message);
    json_write_end(&e->w);
    e->count++;
}

/* "2026-02-20T10:00:00Z (in 5m)". */
static struct str moment(struct explaining *e, struct str object, const char *member)
{
    char room[CLI_TIME_TEXT_MAX];
    struct wall at;
    struct err err;
    struct str text = cli_member_text(e->cli, object, member);
    if (timestamp_parse(text, &at, &err) != ERR_OK) {
        return text.len > 0 ? text : STR("an unknown time");
    }
    size_t len = cli_time_relative(at, os_clock_wall(), room);
    return cli_format(e->cli, STR_FMT " (%.*s)", STR_ARG(text), (int)len, room);
}

static bool is_past(struct cli *cli, struct str object, const char *member, int64_t age_s)
{
    struct wall at;
    struct err err;
    return timestamp_parse(cli_member_text(cli, object, member), &at, &err) == ERR_OK &&
           os_clock_wall().ns - at.ns > age_s * NS_PER_S;
}

static struct str last_error(struct explaining *e)
{
    struct str *errors = NULL;
    size_t count = cli_elements(e->cli, cli_member(e->job, "errors").text, &errors);
    return count == 0 ? STR_EMPTY : cli_member_text(e->cli, errors[count - 1], "error");
}

/* What keeps a pending job */

static void explain_queue(struct explaining *e, struct str queue)
{
    int64_t active = cli_member_int(queue, "active");
    int64_t max = cli_member_int(queue, "max_concurrency");
    int64_t rate = cli_member_int(queue, "rate_limit");
    if (cli_member_true(queue, "paused")) {
        find(e, "queue_paused",
             cli_format(e->cli, "the queue is paused; corvo resume " STR_FMT " lets it go on",
                        STR_ARG(e->queue)));
    }
    if (max > 0 && active >= max) {
        find(e, "concurrency_limit",
             cli_format(e->cli, "%lld jobs of the queue are active, its limit is %lld",
                        (long long)active, (long long)max));
    }
    if (rate > 0) {
        find(e, "throttle",
             cli_format(e->cli, "the queue hands out at most %lld jobs per %lld ms",
                        (long long)rate, (long long)cli_member_int(queue, "rate_window_ms")));
    }
}

static int look_at_queue(struct explaining *e)
{
    struct cli_answer answer;
    struct str *queues = NULL;
    int code = cli_request(e->cli, "GET", cli_url_to(e->cli, "/queues"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    size_t count = cli_elements(e->cli, answer.body, &queues);
    for (size_t i = 0; i < count; i++) {
        if (str_eq(cli_member_text(e->cli, queues[i], "name"), e->queue)) {
            explain_queue(e, queues[i]);
        }
    }
    return CLI_OK;
}

static int look_at_dependencies(struct explaining *e)
{
    struct cli *cli = e->cli;
    struct cli_answer answer;
    struct str list = cli_member(e->job, "chain_config.depends_on").text;
    struct str *ids = NULL;
    struct str *jobs = NULL;
    size_t wanted = cli_elements(cli, list, &ids);
    if (wanted == 0) {
        return CLI_OK;
    }
    struct str body = CLI_OBJECT(cli, CLI_SET_RAW("job_ids", list));
    int code = cli_request(cli, "POST", cli_url_to(cli, "/jobs/bulk-get"), body, &answer);
    if (code != CLI_OK) {
        return code;
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "jobs").text, &jobs);
    for (size_t i = 0; i < count; i++) {
        struct str state = cli_member_text(cli, jobs[i], "state");
        struct str id = cli_member_text(cli, jobs[i], "id");
        if (!str_eq(state, STR("completed"))) {
            find(e, "dependency",
                 cli_format(cli, "it depends on " STR_FMT ", which is " STR_FMT "%s", STR_ARG(id),
                            STR_ARG(state),
                            cli_table_is_word("dead cancelled", state) ? " and blocks it" : ""));
        }
    }
    return CLI_OK;
}

static bool listens(struct cli *cli, struct str worker, struct str queue)
{
    struct str *names = NULL;
    size_t count = cli_elements(cli, cli_member_text(cli, worker, "queues"), &names);
    for (size_t i = 0; i < count; i++) {
        /* Elements are JSON strings; a queue's name without escapes is the text in quotes. */
        struct str quoted = cli_format(cli, "\"" STR_FMT "\"", STR_ARG(queue));
        if (str_eq(names[i], quoted)) {
            return true;
        }
    }
    return false;
}

static int look_at_workers(struct explaining *e)
{
    struct cli *cli = e->cli;
    struct cli_answer answer;
    struct str *workers = NULL;
    size_t listening = 0;
    int code = cli_request(cli, "GET", cli_url_to(cli, "/workers"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    size_t count = cli_elements(cli, answer.body, &workers);
    for (size_t i = 0; i < count; i++) {
        bool alive = !is_past(cli, workers[i], "last_heartbeat", WORKER_STALE_S);
        listening += alive && listens(cli, workers[i], e->queue) ? 1 : 0;
    }
    if (listening == 0) {
        find(e, "no_worker",
             cli_format(cli, "no worker has asked queue " STR_FMT " for jobs within %d minutes",
                        STR_ARG(e->queue), WORKER_STALE_S / 60));
    }
    return CLI_OK;
}

static int explain_pending(struct explaining *e)
{
    int code = look_at_dependencies(e);
    if (code == CLI_OK) {
        code = look_at_queue(e);
    }
    if (code == CLI_OK) {
        code = look_at_workers(e);
    }
    if (code == CLI_OK && e->count == 0) {
        find(e, "waiting", STR("nothing blocks it; it waits for its turn"));
    }
    return code;
}

/* The other states */

static int explain_scheduled(struct explaining *e)
{
    struct str at = moment(e, e->job, "scheduled_at");
    find(e, "scheduled", cli_format(e->cli, "it is due at " STR_FMT, STR_ARG(at)));
    return CLI_OK;
}

static int explain_retrying(struct explaining *e)
{
    struct str at = moment(e, e->job, "scheduled_at");
    struct str why = last_error(e);
    find(e, "retrying",
         cli_format(e->cli, "attempt %lld of %lld failed: " STR_FMT "; the next one is at " STR_FMT,
                    (long long)cli_member_int(e->job, "attempt"),
                    (long long)cli_member_int(e->job, "max_retries"), STR_ARG(why), STR_ARG(at)));
    return CLI_OK;
}

static int explain_active(struct explaining *e)
{
    struct str worker = cli_member_text(e->cli, e->job, "worker_id");
    struct str since = moment(e, e->job, "started_at");
    struct str until = moment(e, e->job, "lease_expires_at");
    find(e, "active",
         cli_format(e->cli, "worker '" STR_FMT "' has had it since " STR_FMT, STR_ARG(worker),
                    STR_ARG(since)));
    find(e, "lease",
         cli_format(e->cli, "without a heartbeat it goes back to the queue at " STR_FMT,
                    STR_ARG(until)));
    return CLI_OK;
}

static int explain_held(struct explaining *e)
{
    struct str why = cli_member_text(e->cli, e->job, "hold_reason");
    find(e, "held",
         cli_format(e->cli, "it is held: " STR_FMT,
                    STR_ARG(why.len > 0 ? why : STR("no reason was given"))));
    find(e, "next",
         cli_format(e->cli, "corvo approve " STR_FMT " lets it run, corvo reject lets it die",
                    STR_ARG(e->id)));
    return CLI_OK;
}

static int explain_dead(struct explaining *e)
{
    struct str why = last_error(e);
    struct str at = moment(e, e->job, "failed_at");
    find(e, "dead",
         cli_format(e->cli, "it died at " STR_FMT " after attempt %lld of %lld: " STR_FMT,
                    STR_ARG(at), (long long)cli_member_int(e->job, "attempt"),
                    (long long)cli_member_int(e->job, "max_retries"),
                    STR_ARG(why.len > 0 ? why : STR("no error was given"))));
    find(e, "next", cli_format(e->cli, "corvo retry " STR_FMT " runs it again", STR_ARG(e->id)));
    return CLI_OK;
}

static int explain_completed(struct explaining *e)
{
    struct str at = moment(e, e->job, "completed_at");
    find(e, "completed", cli_format(e->cli, "it was completed at " STR_FMT, STR_ARG(at)));
    return CLI_OK;
}

static int explain_cancelled(struct explaining *e)
{
    struct str at = moment(e, e->job, "cancelled_at");
    find(e, "cancelled", cli_format(e->cli, "it was cancelled at " STR_FMT, STR_ARG(at)));
    return CLI_OK;
}

static const struct {
    const char *state;
    int (*explain)(struct explaining *e);
} states[] = {
    {"pending", explain_pending},     {"scheduled", explain_scheduled},
    {"retrying", explain_retrying},   {"active", explain_active},
    {"held", explain_held},           {"dead", explain_dead},
    {"completed", explain_completed}, {"cancelled", explain_cancelled},
};

static int explain(struct explaining *e)
{
    for (size_t i = 0; i < COUNT_OF(states); i++) {
        if (str_eq(e->state, str_from_z(states[i].state))) {
            return states[i].explain(e);
        }
    }
    return CLI_OK;
}

static void show(struct explaining *e)
{
    struct cli *cli = e->cli;
    struct str *found = NULL;
    struct str list = arena_str(cli->arena, buf_str(&e->found));
    if (cli_is_json(cli)) {
        cli_print_json(
            cli, CLI_OBJECT(cli, CLI_SET_TEXT("job_id", e->id), CLI_SET_TEXT("queue", e->queue),
                            CLI_SET_TEXT("state", e->state), CLI_SET_RAW("reasons", list)));
        return;
    }
    cli_printf(cli, "Job " STR_FMT " in queue " STR_FMT " is " STR_FMT ".\n", STR_ARG(e->id),
               STR_ARG(e->queue), STR_ARG(e->state));
    size_t count = cli_elements(cli, list, &found);
    for (size_t i = 0; i < count; i++) {
        struct str message = cli_harmless(cli, cli_member_text(cli, found[i], "message"));
        cli_printf(cli, "- " STR_FMT "\n", STR_ARG(message));
    }
}

int cli_explain_run(struct cli *cli)
{
    struct explaining e = {.cli = cli};
    struct cli_answer answer;
    int code = cli_request(cli, "GET", CLI_URL(cli, "/jobs/{0}", cli->args[0]), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    e.job = answer.body;
    e.id = cli_member_text(cli, e.job, "id");
    e.queue = cli_member_text(cli, e.job, "queue");
    e.state = cli_member_text(cli, e.job, "state");
    buf_init(&e.found, BODY_BYTES_MAX);
    e.w = json_write_to(&e.found);
    json_write_array(&e.w);
    code = explain(&e);
    json_write_end(&e.w);
    if (code == CLI_OK) {
        show(&e);
    }
    buf_deinit(&e.found);
    return code;
}
