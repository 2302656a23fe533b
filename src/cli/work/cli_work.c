/*
 * corvo work: a worker for any program.
 *
 * One thread, one wait: for the fetch that is parked at the server, for the programs that run, for
 * the answers to what was reported, for signals and for the next heartbeat. After each wait
 * everything is looked at once.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/work/cli_slot.h"
#include "json/json_scan.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_signal.h"

enum {
    CONCURRENCY_MAX = 200,
    POLL_S = 30,
    POLL_IDLE_S = 1,
    POLL_SLACK_MS = 15000, /* how late an answer may be before the connection counts as lost */
    BEAT_MS_MIN = 500,     /* between heartbeats that a report asks for */
    EMPTY_MS = 50,         /* after a fetch that found nothing */
    BACKOFF_MS_MIN = 500,
    BACKOFF_MS_MAX = 30000,
    ARENA_BYTES = 256 << 20,
    HOST_BYTES_MAX = 256,
};

struct worker {
    struct cli *cli;
    const char *command;
    struct str id, host;
    struct cli_slot *slots;
    size_t slot_count, busy;
    int64_t claimed, jobs_max;

    struct outgoing_wait_call fetch;
    struct arena *fetch_arena;
    bool fetching;
    struct mono fetch_at; /* not before */
    int64_t backoff_ms;
    bool idle; /* the last fetch found nothing, and nothing has ended since */

    struct outgoing_wait_call beat;
    struct arena *beat_arena;
    bool beating;
    struct mono beat_at, beat_last;
    int64_t beat_ms;

    bool draining;
    int signals;
    struct mono drain_until; /* 0: as long as it takes */
    int code;
};

static struct mono in_ms(int64_t ms)
{
    return (struct mono){os_clock_mono().ns + ms * NS_PER_MS};
}

/* Fetching */

static struct str fetch_body(struct worker *w)
{
    struct cli *cli = w->cli;
    const struct cli_value *queues = cli_value(cli, "queue");
    bool leave = cli_bool(cli, "exit-when-idle");
    size_t room = w->slot_count - w->busy;
    struct buf b;
    if (w->jobs_max > 0 && (int64_t)room > w->jobs_max - w->claimed) {
        room = (size_t)(w->jobs_max - w->claimed);
    }
    buf_init(&b, (size_t)CLI_LINE_BYTES * 4);
    struct json_write list = json_write_to(&b);
    json_write_array(&list);
    for (size_t i = 0; i < queues->item_count; i++) {
        json_write_str(&list, queues->items[i]);
    }
    json_write_end(&list);
    struct str body = CLI_OBJECT(
        cli, CLI_SET_RAW("queues", arena_str(cli->arena, buf_str(&b))),
        CLI_SET_TEXT("worker_id", w->id), CLI_SET_TEXT("hostname", w->host),
        CLI_SET_INT("count", (int64_t)room), CLI_SET_INT("timeout", leave ? POLL_IDLE_S : POLL_S),
        CLI_SET_INT("lease_duration", (cli_int(cli, "lease") + 999) / 1000));
    buf_deinit(&b);
    return body;
}

static bool wants_more(const struct worker *w)
{
    bool leave = cli_bool(w->cli, "exit-when-idle") && w->idle && w->busy == 0;
    return !w->draining && !leave && (w->jobs_max == 0 || w->claimed < w->jobs_max);
}

static void start_fetch(struct worker *w)
{
    struct cli *cli = w->cli;
    struct arena *outer = cli->arena;
    arena_reset(w->fetch_arena);
    cli->arena = w->fetch_arena;
    w->fetch = cli_call_to(cli, "POST", cli_url_to(cli, "/fetch/batch"), fetch_body(w));
    w->fetch.timeout_ms = POLL_S * 1000 + POLL_SLACK_MS;
    cli->arena = outer;
    w->fetching = true;
    outgoing_wait_start(cli->http, &w->fetch);
}

static void back_off(struct worker *w, struct str why)
{
    log_warn("fetch failed", LOG_STR("error", why), LOG_I64("again_in_ms", w->backoff_ms));
    w->fetch_at = in_ms(w->backoff_ms);
    w->backoff_ms = w->backoff_ms * 2 > BACKOFF_MS_MAX ? BACKOFF_MS_MAX : w->backoff_ms * 2;
}

static struct cli_slot *free_slot(struct worker *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (w->slots[i].state == CLI_SLOT_FREE) {
            return &w->slots[i];
        }
    }
    UNREACHABLE("fewer slots are busy than there are");
}

/* A refusal that will not pass: the key, the role, the request itself. */
static bool is_final(int status)
{
    return status >= 400 && status < 500 && status != 429 && status != 408;
}

static void take_jobs(struct worker *w)
{
    struct cli *cli = w->cli;
    struct str *jobs = NULL;
    struct str answer = buf_str(&w->fetch.answer);
    w->fetching = false;
    if (w->fetch.err.code != ERR_OK) {
        back_off(w, str_from_z(w->fetch.err.msg));
        return;
    }
    if (is_final(w->fetch.status)) {
        w->code = cli_refused(cli, w->fetch.status, answer);
        w->draining = true;
        return;
    }
    if (w->fetch.status != 200) {
        back_off(w, cli_member_text(cli, answer, "error"));
        return;
    }
    w->backoff_ms = BACKOFF_MS_MIN;
    size_t before = w->busy;
    size_t count = cli_elements(cli, cli_member(answer, "jobs").text, &jobs);
    /* A server that hands out more than was asked for gets the rest back when the leases end. */
    for (size_t i = 0; i < count && w->busy < w->slot_count; i++) {
        if (cli_member_text(cli, jobs[i], "job_id").len > 0) {
            cli_slot_start(free_slot(w), w->command, jobs[i]);
            w->busy++;
            w->claimed++;
        }
    }
    w->idle = w->busy == before;
    if (w->idle) {
        w->fetch_at =
            in_ms(EMPTY_MS); /* whatever the server does not park is not asked in a loop */
    }
}

/* Heartbeats */

/* Is the job ours to keep? Also while its end is being reported, which may take several tries. */
static bool is_held(const struct cli_slot *s)
{
    return s->state != CLI_SLOT_FREE && !s->cancelled;
}

static void start_beat(struct worker *w)
{
    struct cli *cli = w->cli;
    struct arena *outer = cli->arena;
    struct buf b;
    arena_reset(w->beat_arena);
    cli->arena = w->beat_arena;
    buf_init(&b, ARENA_BYTES / 4);
    struct json_write jobs = json_write_to(&b);
    json_write_object(&jobs);
    for (size_t i = 0; i < w->slot_count; i++) {
        if (is_held(&w->slots[i])) {
            cli_slot_write_beat(&w->slots[i], &jobs);
        }
    }
    json_write_end(&jobs);
    struct str body = CLI_OBJECT(cli, CLI_SET_RAW("jobs", arena_str(cli->arena, buf_str(&b))));
    buf_deinit(&b);
    w->beat = cli_call_to(cli, "POST", cli_url_to(cli, "/heartbeat"), body);
    w->beat.timeout_ms = POLL_SLACK_MS;
    cli->arena = outer;
    w->beating = true;
    w->beat_last = os_clock_mono();
    w->beat_at = in_ms(w->beat_ms);
    outgoing_wait_start(cli->http, &w->beat);
}

static void take_beat(struct worker *w)
{
    struct cli *cli = w->cli;
    struct str answer = buf_str(&w->beat.answer);
    w->beating = false;
    if (w->beat.err.code != ERR_OK || w->beat.status != 200) {
        log_warn("heartbeat failed", LOG_I64("status", w->beat.status),
                 LOG_Z("error", w->beat.err.msg));
        w->beat_at = in_ms(w->beat_ms / 4);
        return;
    }
    struct str jobs = cli_member(answer, "jobs").text;
    for (size_t i = 0; i < w->slot_count; i++) {
        struct json_value entry;
        struct cli_slot *s = &w->slots[i];
        if (s->state == CLI_SLOT_RUNNING && json_scan_member(jobs, s->job_id, &entry) &&
            str_eq(cli_member_text(cli, entry.text, "status"), STR("cancel"))) {
            cli_slot_cancel(s);
        }
    }
}

/* When the next heartbeat goes out: by the clock, or soon when a program has reported something. */
static struct mono beat_due(const struct worker *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (cli_slot_has_report(&w->slots[i])) {
            struct mono soon = {.ns = w->beat_last.ns + BEAT_MS_MIN * NS_PER_MS};
            return soon.ns < w->beat_at.ns ? soon : w->beat_at;
        }
    }
    return w->beat_at;
}

static bool any_held(const struct worker *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (is_held(&w->slots[i])) {
            return true;
        }
    }
    return false;
}

/* Stopping */

static void begin_drain(struct worker *w)
{
    int64_t ms = cli_int(w->cli, "drain-timeout");
    w->draining = true;
    if (w->fetching) {
        outgoing_wait_cancel(w->cli->http, &w->fetch);
        w->fetching = false;
    }
    w->drain_until = ms > 0 ? in_ms(ms) : (struct mono){0};
}

static void cancel_all(struct worker *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        cli_slot_cancel(&w->slots[i]);
    }
}

static void take_signal(struct worker *w)
{
    int number = os_signal_read(w->cli->signal_fd);
    if (number == 0) {
        return;
    }
    w->signals++;
    if (w->signals == 1) {
        cli_note(w->cli, "Stopping: %zu jobs to finish; once more stops them\n", w->busy);
        begin_drain(w);
    } else {
        w->code = CLI_SIGNAL_BASE + number;
        cancel_all(w);
    }
}

/* The loop */

static int64_t sooner(int64_t a, struct mono b)
{
    return b.ns != 0 && b.ns < a ? b.ns : a;
}

static int wait_ms(const struct worker *w)
{
    int64_t now = os_clock_mono().ns;
    int64_t at = now + 60 * NS_PER_S;
    if (any_held(w) && !w->beating) {
        at = sooner(at, beat_due(w));
    }
    if (!w->fetching && wants_more(w) && w->busy < w->slot_count) {
        at = sooner(at, w->fetch_at);
    }
    at = sooner(at, w->drain_until);
    for (size_t i = 0; i < w->slot_count; i++) {
        at = sooner(at, cli_slot_deadline(&w->slots[i]));
    }
    int64_t ms = (at - now + NS_PER_MS - 1) / NS_PER_MS;
    return ms < 0 ? 0 : (int)ms;
}

static void start_what_is_due(struct worker *w)
{
    int64_t now = os_clock_mono().ns;
    if (!w->fetching && wants_more(w) && w->busy < w->slot_count && now >= w->fetch_at.ns) {
        start_fetch(w);
    }
    if (!w->beating && any_held(w) && now >= beat_due(w).ns) {
        start_beat(w);
    }
    if (w->drain_until.ns != 0 && now >= w->drain_until.ns) {
        w->drain_until = (struct mono){0};
        w->code = CLI_FAILED;
        cancel_all(w);
    }
}

static bool is_over(const struct worker *w)
{
    return w->busy == 0 && !w->fetching && !wants_more(w);
}

static void turn(struct worker *w)
{
    struct pollfd fds[CONCURRENCY_MAX * CLI_SLOT_FDS + 1];
    size_t count = 1;
    fds[0] = (struct pollfd){.fd = w->cli->signal_fd, .events = POLLIN};
    for (size_t i = 0; i < w->slot_count; i++) {
        count += cli_slot_fds(&w->slots[i], fds + count);
    }
    outgoing_wait_turn(w->cli->http, fds, count, wait_ms(w));
    /* Jobs before signals: what was handed out is worked on, not left to its lease. */
    if (w->fetching && w->fetch.done) {
        take_jobs(w);
        outgoing_wait_clear(&w->fetch);
    }
    take_signal(w);
    if (w->beating && w->beat.done) {
        take_beat(w);
        outgoing_wait_clear(&w->beat);
    }
    for (size_t i = 0; i < w->slot_count; i++) {
        if (cli_slot_turn(&w->slots[i])) {
            w->busy--;
            w->idle = false; /* what has ended may have left something to do */
        }
    }
}

static void open_worker(struct worker *w)
{
    struct cli *cli = w->cli;
    char host[HOST_BYTES_MAX] = "";
    (void)gethostname(host, sizeof host - 1);
    w->host = arena_str(cli->arena, str_from_z(host));
    w->id = cli_text(cli, "worker-id");
    if (w->id.len == 0) {
        w->id = cli_format(cli, "%s-%ld", host, (long)getpid());
    }
    w->command = arena_strz(cli->arena, cli_text(cli, "exec"));
    w->slot_count = (size_t)cli_int(cli, "concurrency");
    w->slots = calloc(w->slot_count, sizeof *w->slots);
    CHECK(w->command != NULL);
    CHECK(w->slots != NULL);
    w->jobs_max = cli_int(cli, "max-jobs");
    w->backoff_ms = BACKOFF_MS_MIN;
    w->beat_ms = cli_int(cli, "heartbeat");
    w->beat_at = in_ms(w->beat_ms);
    w->fetch_arena = arena_new(ARENA_BYTES);
    w->beat_arena = arena_new(ARENA_BYTES);
    cli->http = cli->http == NULL ? outgoing_wait_new() : cli->http;
    for (size_t i = 0; i < w->slot_count; i++) {
        cli_slot_init(&w->slots[i], cli, cli_int(cli, "kill-after"));
    }
}

static void close_worker(struct worker *w)
{
    outgoing_wait_cancel(w->cli->http, &w->fetch);
    outgoing_wait_cancel(w->cli->http, &w->beat);
    outgoing_wait_clear(&w->fetch);
    outgoing_wait_clear(&w->beat);
    for (size_t i = 0; i < w->slot_count; i++) {
        cli_slot_deinit(&w->slots[i]);
    }
    free(w->slots);
    arena_free(w->fetch_arena);
    arena_free(w->beat_arena);
}

static int run_work(struct cli *cli)
{
    struct worker w = {.cli = cli};
    int64_t slots = cli_int(cli, "concurrency");
    if (slots < 1 || slots > CONCURRENCY_MAX) {
        return cli_fail(cli, "--concurrency must be 1 to %d", CONCURRENCY_MAX);
    }
    if (cli_int(cli, "heartbeat") < BEAT_MS_MIN || cli_int(cli, "lease") < 1000) {
        return cli_fail(cli, "--heartbeat must be %dms or more, --lease 1s or more", BEAT_MS_MIN);
    }
    open_worker(&w);
    struct arena *outer = cli->arena;
    struct arena *round = arena_new(ARENA_BYTES);
    cli->arena = round;
    for (start_what_is_due(&w); !is_over(&w); start_what_is_due(&w)) {
        turn(&w);
        arena_reset(round);
    }
    cli->arena = outer;
    arena_free(round);
    close_worker(&w);
    return w.code;
}

/* clang-format off */
static const struct cli_flag flags[] = {
    CLI_FLAG("queue",          CLI_LIST,     "QUEUES",   NULL,    "queues to take jobs from, the first ones first",
             .options = CLI_REQUIRED),
    CLI_FLAG("exec",           CLI_BYTES,    "COMMAND",  NULL,    "what to run for each job, by /bin/sh -c",
             .options = CLI_REQUIRED),
    CLI_FLAG("concurrency",    CLI_INT,      "N",        "1",     "jobs at the same time"),
    CLI_FLAG("worker-id",      CLI_TEXT,     "ID",       NULL,    "name of the worker; by default the host's and the process's"),
    CLI_FLAG("lease",          CLI_DURATION, "DURATION", "60s",   "how long a claim holds without a heartbeat"),
    CLI_FLAG("heartbeat",      CLI_DURATION, "DURATION", "15s",   "how often to say that a job is worked on"),
    CLI_FLAG("kill-after",     CLI_DURATION, "DURATION", "10s",   "from SIGTERM to SIGKILL for a job that was cancelled"),
    CLI_FLAG("drain-timeout",  CLI_DURATION, "DURATION", "0s",    "how long running jobs may take when the worker stops; 0s: as long as they need"),
    CLI_FLAG("max-jobs",       CLI_INT,      "N",        "0",     "end after so many jobs; 0: never"),
    CLI_FLAG("exit-when-idle", CLI_BOOL,     NULL,       "false", "end when there is nothing to do"),
};

static const struct cli_command commands[] = {
    {.name = "work", .args = "", .summary = "Work on jobs with any program",
     .about = "For each job the command is run with the payload on standard input and these variables:\n"
              "CORVO_JOB_ID, CORVO_QUEUE, CORVO_ATTEMPT, CORVO_MAX_RETRIES, CORVO_LEASE_TOKEN, and\n"
              "CORVO_CHECKPOINT, CORVO_TAGS and CORVO_AGENT (JSON) where the job has them.\n\n"
              "Exit status 0 completes the job; its output is the result, as JSON if it is JSON, else\n"
              "as a string. Any other status fails it, with the end of its standard error. A line of\n"
              "JSON on descriptor 3, {\"progress\":…,\"checkpoint\":…}, goes out with a heartbeat.\n"
              "When the job is cancelled the program and all it started get SIGTERM, later SIGKILL.\n\n"
              "SIGTERM or SIGINT stops the worker once its jobs are done, with status 0; a second one\n"
              "stops the jobs too, which are then handed out again.",
     .examples = "corvo work --queue thumbnails --exec './resize.sh' --concurrency 4\n"
                 "corvo work --queue etl --exec 'python3 load.py' --exit-when-idle",
     CLI_FLAGS(flags), .run = run_work},
};
/* clang-format on */

const struct cli_family cli_work_family = {"Work", commands, COUNT_OF(commands)};
