#include "cli/work/cli_slot.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "json/json_scan.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum {
    ARENA_BYTES = 256 << 20,
    ERRORS_KEPT = 32 * 1024, /* end of standard error to keep, for the backtrace */
    TEXT_RESULT_BYTES =
        128 << 10, /* of output that is not JSON; escaping can make it six times as long */
    ENV_BYTES_MAX = 96 << 10, /* of one variable; the system allows 128 KiB */
    BEAT_BYTES =
        LIMIT_RESULT_BYTES + LIMIT_PROGRESS_BYTES + 4096, /* for one job, including the names */
    CHUNK_BYTES = 8 * 1024,
    CHUNKS_PER_TURN =
        64, /* more than a pipe holds, so that all output is read when a program ends */
    TRIES_MAX = 12,
    TRIES_STOPPED = 3, /* for a worker that is stopping */
    RETRY_MS_MIN = 250,
    RETRY_MS_MAX = 10000,
    SAVE_MS = 15000,   /* the timeout of other heartbeats */
    REPORT_MS = 30000, /* without --timeout: delay of a response after which a report is repeated */
    HURRY_MS = 3000,   /* how long a worker that is stopping waits for its reports */
};

void cli_slot_init(struct cli_slot *s, struct cli *cli, struct cli_relay *relay,
                   int64_t kill_after_ms)
{
    *s = (struct cli_slot){.cli = cli,
                           .relay = relay,
                           .arena = arena_new(ARENA_BYTES),
                           .kill_after_ms = kill_after_ms};
    buf_init(&s->output, LIMIT_RESULT_BYTES);
    buf_init(&s->errors, (size_t)ERRORS_KEPT * 2 + CHUNK_BYTES);
    cli_report_init(&s->report);
    buf_init(&s->next_job, ARENA_BYTES);
}

static void free_slot(struct cli_slot *s)
{
    outgoing_wait_clear(&s->call);
    s->call = (struct outgoing_wait_call){0};
    buf_clear(&s->output);
    buf_clear(&s->errors);
    cli_report_clear(&s->report);
    arena_reset(s->arena);
    s->job_id = s->result = STR_EMPTY;
    s->in_frame = s->in_beat = s->called = false;
    s->kill_at = s->retry_at = s->leave_at = (struct mono){0};
    s->tries = 0;
    s->state = CLI_SLOT_FREE;
}

void cli_slot_deinit(struct cli_slot *s)
{
    if (s->state == CLI_SLOT_RUNNING) {
        os_child_signal(&s->child, SIGKILL);
        (void)os_child_end(&s->child);
    }
    if (s->cli->http != NULL) {
        outgoing_wait_cancel(s->cli->http, &s->call);
    }
    free_slot(s);
    buf_deinit(&s->output);
    buf_deinit(&s->errors);
    cli_report_deinit(&s->report);
    buf_deinit(&s->next_job);
    arena_free(s->arena);
}

/* Reporting the end of a job */

static void send_call(struct cli_slot *s)
{
    s->retry_at = (struct mono){0};
    s->tries++;
    outgoing_wait_start(s->cli->http, &s->call);
}

static void report(struct cli_slot *s, const char *path, struct str body)
{
    struct cli *cli = s->cli;
    s->state = CLI_SLOT_REPORTING;
    s->call = cli_call_to(cli, "POST", CLI_URL(cli, path, s->job_id), body);
    s->call.timeout_ms = s->call.timeout_ms > 0 ? s->call.timeout_ms : REPORT_MS;
    send_call(s);
}

/* Write the member of "jobs" in a heartbeat. */
static void write_job(struct cli_slot *s, struct json_write *w, bool with_report)
{
    json_write_key(w, s->job_id);
    json_write_object(w);
    if (s->lease_token != 0) {
        json_write_key(w, STR("lease_token"));
        json_write_i64(w, s->lease_token);
    }
    if (with_report) {
        cli_report_write(&s->report, w);
    }
    json_write_end(w);
}

static struct cli_pair token(const struct cli_slot *s)
{
    /* If the server sent no lease token, the value is empty and is left out. */
    struct cli_pair none = CLI_SET_RAW("lease_token", STR_EMPTY);
    struct cli_pair some = CLI_SET_INT("lease_token", s->lease_token);
    return s->lease_token == 0 ? none : some;
}

/* The result is the output: as JSON if it is valid JSON, otherwise as a string; none if there is no
 * output. */
static struct str result_of(struct cli_slot *s)
{
    struct str text = str_trim(buf_str(&s->output));
    struct err err;
    struct buf b;
    if (text.len == 0) {
        return STR_EMPTY;
    }
    if (!s->output.overflow && json_scan_check_value(text, &err) == ERR_OK) {
        return arena_str(s->arena, text);
    }
    if (s->output.overflow || text.len > TEXT_RESULT_BYTES) {
        log_warn("result cut: too much output", LOG_STR("job_id", s->job_id),
                 LOG_U64("kept_bytes", TEXT_RESULT_BYTES),
                 LOG_U64("json_limit_bytes", LIMIT_RESULT_BYTES));
    }
    text.len = text.len < TEXT_RESULT_BYTES ? text.len : TEXT_RESULT_BYTES;
    buf_init(&b, LIMIT_RESULT_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_str(&w, text);
    struct str result = arena_str(s->arena, buf_str(&b));
    buf_deinit(&b);
    return result;
}

static struct str last_line(struct str text)
{
    text = str_trim(text);
    size_t from = text.len;
    while (from > 0 && text.ptr[from - 1] != '\n') {
        from--;
    }
    text = str_from_offset(text, from);
    text.len = text.len < LIMIT_EVENT_ERROR_BYTES ? text.len : LIMIT_EVENT_ERROR_BYTES;
    return text;
}

static void report_failure(struct cli_slot *s)
{
    struct cli *cli = s->cli;
    int code = s->exit_code;
    struct str errors = buf_str(&s->errors);
    struct str line = last_line(errors);
    struct str error =
        cli_format(cli, "%s %d%s" STR_FMT, code < 0 ? "killed by signal" : "exit status",
                   code < 0 ? -code : code, line.len > 0 ? ": " : "", STR_ARG(line));
    if (s->tells) {
        cli_relay_note(s->relay, STR_FMT " failed: " STR_FMT "\n", STR_ARG(s->job_id),
                       STR_ARG(cli_harmless(cli, error)));
    }
    s->failed = true;
    report(
        s, "/fail/{0}",
        CLI_OBJECT(cli, CLI_SET_TEXT("error", error), CLI_SET_TEXT("backtrace", errors), token(s)));
}

static void report_success(struct cli_slot *s, struct str next)
{
    struct cli *cli = s->cli;
    struct str checkpoint =
        buf_str(&s->report.checkpoint.text); /* if no heartbeat has sent it yet */
    s->asks = next.len > 0;
    report(s, "/ack/{0}",
           CLI_OBJECT(cli, CLI_SET_RAW("result", s->result), CLI_SET_RAW("checkpoint", checkpoint),
                      CLI_SET_RAW("next", next), token(s)));
}

/* Acks in a frame */

static void end_well(struct cli_slot *s)
{
    s->result = result_of(s);
    if (s->acks_by_frame && s->report.checkpoint.text.len == 0) { /* a frame has no field for it */
        s->state = CLI_SLOT_ACKING;
    } else {
        report_success(s, s->next);
    }
}

void cli_slot_write_ack(struct cli_slot *s, struct json_write *w)
{
    CHECK(s->state == CLI_SLOT_ACKING);
    s->in_frame = true;
    json_write_object(w);
    json_write_key(w, STR("jobId"));
    json_write_str(w, s->job_id);
    if (s->result.len > 0) {
        json_write_key(w, STR("resultJson"));
        json_write_str(w, s->result);
    }
    if (s->lease_token != 0) {
        json_write_key(w, STR("leaseToken"));
        json_write_i64(w, s->lease_token);
    }
    json_write_end(w);
}

void cli_slot_acked(struct cli_slot *s)
{
    CHECK(s->state == CLI_SLOT_ACKING);
    free_slot(s);
}

void cli_slot_report_ack(struct cli_slot *s)
{
    struct arena *outer = s->cli->arena;
    CHECK(s->state == CLI_SLOT_ACKING);
    s->in_frame = false;
    s->cli->arena = s->arena;
    report_success(s, STR_EMPTY);
    s->cli->arena = outer;
}

/* The response to a call. If the server is unreachable or busy, the call is repeated. This is safe:
 * a report that has already arrived gets the same response. */

static bool is_busy(const struct cli_slot *s)
{
    return s->call.err.code != ERR_OK || s->call.status == 429 || s->call.status >= 500;
}

/* Schedule another try, if there may be one. True if so. */
static bool try_again(struct cli_slot *s)
{
    bool stopping = s->stopped || s->leave_at.ns != 0;
    if (!is_busy(s) || s->tries >= (stopping ? TRIES_STOPPED : TRIES_MAX)) {
        return false;
    }
    int64_t ms = (int64_t)RETRY_MS_MIN << (s->tries < 6 ? s->tries : 6);
    ms = ms > RETRY_MS_MAX ? RETRY_MS_MAX : ms;
    s->retry_at = (struct mono){os_clock_mono().ns + ms * NS_PER_MS};
    return true;
}

static const char handed_out_again[] = "the job is handed out again when its lease ends";

static void warn(struct cli_slot *s, const char *event, const char *meaning)
{
    struct str why = cli_member_text(s->cli, buf_str(&s->call.answer), "error");
    log_warn(event, LOG_STR("job_id", s->job_id), LOG_I64("status", s->call.status),
             LOG_STR("error", why.len > 0 ? why : str_from_z(s->call.err.msg)),
             LOG_Z("meaning", meaning));
}

/* If the server refuses a report, this worker no longer holds the job. */
static bool take_answer(struct cli_slot *s)
{
    struct cli *cli = s->cli;
    if (try_again(s)) {
        return false;
    }
    if (is_busy(s)) {
        warn(s, "report given up", handed_out_again);
    } else if (s->call.status >= 400) {
        warn(s, "report refused", "this worker no longer holds the job");
    } else if (s->asks && !cli_is_document(buf_str(&s->call.answer))) {
        s->unreadable = true;
    } else if (s->asks) {
        struct str next = cli_member(buf_str(&s->call.answer), "next").text;
        if (cli_member_text(cli, next, "job_id").len > 0) { /* otherwise it is null or missing */
            buf_add_str(&s->next_job, next);
        }
    }
    free_slot(s);
    return true;
}

/* Saving a checkpoint before a failure is reported, or before the worker stops */

static void start_saving(struct cli_slot *s)
{
    struct buf b;
    buf_init(&b, BEAT_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    write_job(s, &w, true);
    json_write_end(&w);
    struct str jobs = arena_str(s->arena, buf_str(&b));
    buf_deinit(&b);
    s->called = true;
    s->call = cli_call_to(s->cli, "POST", cli_url_to(s->cli, "/heartbeat"),
                          CLI_OBJECT(s->cli, CLI_SET_RAW("jobs", jobs)));
    s->call.timeout_ms = SAVE_MS;
    send_call(s);
}

/* The checkpoint was saved or will not be; the failure must be reported in both cases. True if the
 * slot is free because there is no failure to report. */
static bool end_saving(struct cli_slot *s)
{
    if (s->called && (is_busy(s) || s->call.status >= 400)) {
        warn(s, "checkpoint refused", "the next attempt gets the previous checkpoint");
    }
    if (!s->called || !is_busy(s)) {
        s->tries = 0; /* otherwise the failure gets no further tries either */
    }
    outgoing_wait_clear(&s->call);
    s->called = false;
    if (s->stopped) {
        free_slot(s);
        return true;
    }
    report_failure(s);
    return false;
}

/* Wait for a current heartbeat of the worker first: it may contain the checkpoint, or an older one
 * that must not arrive later. */
static bool turn_saving(struct cli_slot *s)
{
    if (s->called) {
        return s->call.done && !try_again(s) && end_saving(s);
    }
    if (s->report.checkpoint.text.len == 0) {
        return end_saving(s);
    }
    if (!s->in_beat) {
        start_saving(s);
    }
    return false;
}

/* Starting a program */

static char *variable(struct cli *cli, const char *name, struct str value)
{
    struct buf b;
    buf_init(&b, ENV_BYTES_MAX + 256);
    buf_printf(&b, "%s=", name);
    buf_add_str(&b, value);
    char *z = arena_strz(cli->arena, buf_str(&b));
    buf_deinit(&b);
    CHECK(z != NULL);
    return z;
}

/* The variables that a program gets: from a member of the job, from a flag of the worker, or with a
 * fixed value. */
static const struct {
    const char *name;
    const char *member;
    const char *flag;
    const char *value;
} added[] = {
    {"CORVO_JOB_ID", .member = "job_id"},
    {"CORVO_QUEUE", .member = "queue"},
    {"CORVO_ATTEMPT", .member = "attempt"},
    {"CORVO_MAX_RETRIES", .member = "max_retries"},
    {"CORVO_LEASE_TOKEN", .member = "lease_token"},
    {"CORVO_CHECKPOINT", .member = "checkpoint"},
    {"CORVO_TAGS", .member = "tags"},
    {"CORVO_AGENT", .member = "agent"},
    {"CORVO_URL", .flag = "server"},
    {"CORVO_NAMESPACE", .flag = "namespace"},
    {"CORVO_REPORT_FD", .value = "3"},
};

static bool is_added(const char *pair)
{
    for (size_t i = 0; i < COUNT_OF(added); i++) {
        size_t len = strlen(added[i].name);
        if (strncmp(pair, added[i].name, len) == 0 && pair[len] == '=') {
            return true;
        }
    }
    return false;
}

static struct str value_of(struct cli *cli, struct str job, size_t index)
{
    if (added[index].member != NULL) {
        return cli_member_text(cli, job, added[index].member);
    }
    return added[index].flag != NULL ? cli_text(cli, added[index].flag)
                                     : str_from_z(added[index].value);
}

/* The environment of the worker, and the variables of the job. The worker may itself be part of a
 * job of another worker: the variables of that job are left out. */
static char **environment_of(struct cli *cli, struct str job)
{
    size_t all = 0;
    size_t count = 0;
    while (cli->environment[all] != NULL) {
        all++;
    }
    char **out = ARENA_ARRAY(cli->arena, char *, all + COUNT_OF(added) + 1);
    CHECK(out != NULL);
    for (size_t i = 0; i < all; i++) {
        if (!is_added(cli->environment[i])) {
            out[count++] = cli->environment[i];
        }
    }
    for (size_t i = 0; i < COUNT_OF(added); i++) {
        struct str value = value_of(cli, job, i);
        if (value.len > 0 && value.len < ENV_BYTES_MAX) {
            out[count++] = variable(cli, added[i].name, value);
        }
    }
    out[count] = NULL;
    return out;
}

void cli_slot_start(struct cli_slot *s, const char *command, struct str job)
{
    struct cli *cli = s->cli;
    struct arena *outer = cli->arena;
    struct err err;
    CHECK(s->state == CLI_SLOT_FREE);
    cli->arena = s->arena;
    job = arena_str(s->arena, job);
    s->asks = false;
    s->cancelled = s->stopped = s->failed =
        false; /* these still describe the end of the previous job */
    buf_clear(&s->next_job);
    s->job_id = cli_member_text(cli, job, "job_id");
    s->lease_token = cli_member_int(job, "lease_token");
    struct str payload = cli_member(job, "payload").text;
    if (os_child_start(command, payload, environment_of(cli, job), &s->child, &err) == ERR_OK) {
        s->state = CLI_SLOT_RUNNING;
        log_debug("job started", LOG_STR("job_id", s->job_id), LOG_I64("pid", s->child.pid));
    } else {
        struct str why = cli_format(cli, "the program could not be started: %s", err.msg);
        s->failed = true;
        report(s, "/fail/{0}", CLI_OBJECT(cli, CLI_SET_TEXT("error", why), token(s)));
    }
    cli->arena = outer;
}

void cli_slot_cancel(struct cli_slot *s)
{
    if (s->state != CLI_SLOT_RUNNING || s->cancelled) {
        return;
    }
    log_info("job cancelled", LOG_STR("job_id", s->job_id));
    s->cancelled = true;
    s->kill_at = (struct mono){os_clock_mono().ns + s->kill_after_ms * NS_PER_MS};
    os_child_signal(&s->child, SIGTERM);
}

/* From now on, report only for a short time. The next try is made at once. */
static void hurry(struct cli_slot *s)
{
    struct mono now = os_clock_mono();
    if (s->leave_at.ns == 0) {
        s->leave_at = (struct mono){now.ns + HURRY_MS * NS_PER_MS};
    }
    if (s->retry_at.ns != 0) {
        s->retry_at = now;
    }
}

void cli_slot_stop(struct cli_slot *s)
{
    s->stopped = s->stopped || (s->state == CLI_SLOT_RUNNING && !s->cancelled);
    cli_slot_cancel(s);
    if (s->state == CLI_SLOT_SAVING || s->state == CLI_SLOT_REPORTING) {
        hurry(s);
    }
}

/* The worker is stopping and the server has not answered in time. */
static void leave(struct cli_slot *s)
{
    log_warn("report given up", LOG_STR("job_id", s->job_id), LOG_Z("error", "no answer"),
             LOG_Z("meaning", handed_out_again));
    outgoing_wait_cancel(s->cli->http, &s->call);
    free_slot(s);
}

/* Reading the output of the program */

static void keep_output(struct cli_slot *s, struct str piece)
{
    buf_add_str(&s->output, piece); /* output above the limit is not kept, but overflow is set */
}

static void keep_errors(struct cli_slot *s, struct str piece)
{
    cli_relay_add(s->relay, piece);
    buf_add_str(&s->errors, piece);
    if (s->errors.len > (size_t)ERRORS_KEPT * 2) {
        memmove(s->errors.ptr, s->errors.ptr + s->errors.len - ERRORS_KEPT, ERRORS_KEPT);
        s->errors.len = ERRORS_KEPT;
    }
}

static void keep_reports(struct cli_slot *s, struct str piece)
{
    cli_report_hear(&s->report, s->job_id, piece);
}

/* Read what is available, up to a limit, so that a program that writes without end does not block
 * the others. Close the descriptor at its end. */
static void listen(struct cli_slot *s, int *fd, void (*keep)(struct cli_slot *, struct str))
{
    char room[CHUNK_BYTES];
    for (int i = 0; *fd >= 0 && i < CHUNKS_PER_TURN; i++) {
        ssize_t n = read(*fd, room, sizeof room);
        if (n > 0) {
            keep(s, str_from(room, (size_t)n));
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            os_file_close(*fd);
            *fd = -1;
        }
    }
}

static bool has_ended(const struct cli_slot *s)
{
    struct pollfd exit = {.fd = s->child.exit_fd, .events = POLLIN};
    return poll(&exit, 1, 0) == 1;
}

static bool turn_running(struct cli_slot *s)
{
    bool ended =
        has_ended(s); /* check this before the last read, so that no later output is missed */
    listen(s, &s->child.stdout_fd, keep_output);
    if (ended || !cli_relay_is_full(s->relay)) {
        listen(s, &s->child.stderr_fd, keep_errors);
    }
    listen(s, &s->child.report_fd, keep_reports);
    if (!ended) {
        if (s->kill_at.ns != 0 && os_clock_mono().ns >= s->kill_at.ns) {
            os_child_signal(&s->child, SIGKILL);
            s->kill_at = (struct mono){0};
        }
        return false;
    }
    s->exit_code = os_child_end(&s->child);
    log_debug("job ended", LOG_STR("job_id", s->job_id), LOG_I64("code", s->exit_code));
    if (s->cancelled && !s->stopped) {
        free_slot(s);
        return true;
    }
    if (s->exit_code == 0 && !s->stopped) {
        end_well(s);
        return false;
    }
    s->state = CLI_SLOT_SAVING;
    if (s->stopped) {
        hurry(s);
    }
    return turn_saving(s);
}

bool cli_slot_turn(struct cli_slot *s)
{
    struct arena *outer = s->cli->arena;
    bool freed = false;
    s->cli->arena = s->arena;
    if (s->state == CLI_SLOT_RUNNING) {
        freed = turn_running(s);
    } else if (s->leave_at.ns != 0 && os_clock_mono().ns >= s->leave_at.ns) {
        leave(s);
        freed = true;
    } else if (s->retry_at.ns != 0) {
        if (os_clock_mono().ns >= s->retry_at.ns) {
            send_call(s);
        }
    } else if (s->state == CLI_SLOT_SAVING) {
        freed = turn_saving(s);
    } else if (s->state == CLI_SLOT_REPORTING && s->call.done) {
        freed = take_answer(s);
    }
    s->cli->arena = outer;
    return freed;
}

size_t cli_slot_fds(const struct cli_slot *s, struct pollfd *out)
{
    size_t count = 0;
    if (s->state != CLI_SLOT_RUNNING) {
        return 0;
    }
    const int fds[CLI_SLOT_FDS] = {s->child.exit_fd, s->child.stdout_fd,
                                   cli_relay_is_full(s->relay) ? -1 : s->child.stderr_fd,
                                   s->child.report_fd};
    for (size_t i = 0; i < CLI_SLOT_FDS; i++) {
        if (fds[i] >= 0) {
            out[count++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        }
    }
    return count;
}

struct mono cli_slot_deadline(const struct cli_slot *s)
{
    bool leaves_first =
        s->leave_at.ns != 0 && (s->retry_at.ns == 0 || s->leave_at.ns < s->retry_at.ns);
    if (s->state == CLI_SLOT_RUNNING) {
        return s->kill_at;
    }
    return leaves_first ? s->leave_at : s->retry_at;
}

bool cli_slot_has_report(const struct cli_slot *s)
{
    return s->state == CLI_SLOT_RUNNING && !s->cancelled && cli_report_any(&s->report);
}

bool cli_slot_write_beat(struct cli_slot *s, struct json_write *w, bool with_report)
{
    bool carries = with_report && cli_slot_has_report(s);
    s->in_beat = true;
    write_job(s, w, carries);
    return carries;
}

void cli_slot_beat_over(struct cli_slot *s, enum cli_report_fate fate)
{
    if (s->in_beat) { /* otherwise the slot has another job by now */
        cli_report_over(&s->report, s->job_id, fate);
    }
    s->in_beat = false;
}
