/*
 * corvo work: a worker for any program.
 *
 * One thread waits at one place: for the fetch that is waiting at the server, for running programs,
 * for the responses to reports, for signals and for the next heartbeat. After each wait it checks
 * all of them once.
 *
 * If the server has lifecycle streams, acks and the fetches that follow them are sent in frames
 * over one stream. When a frame returns no job, a separate fetch request waits at the server, and
 * frames continue in parallel. If the stream is lost or the server refuses a frame, requests take
 * over: they are always available, are repeated, and get an error that explains the refusal.
 */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/work/cli_beat.h"
#include "cli/work/cli_relay.h"
#include "cli/work/cli_slot.h"
#include "cli/work/cli_stream.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_signal.h"

enum {
    CONCURRENCY_MAX = 200,
    POLL_S = 30,
    POLL_IDLE_S = 1,
    POLL_SLACK_MS = 15000, /* delay of a response after which the connection counts as lost */
    EMPTY_MS = 50,         /* pause after a fetch that returned no job */
    BACKOFF_MS_MIN = 500,
    BACKOFF_MS_MAX = 30000,
    STREAM_MS = 1000,      /* pause after a stream was lost */
    FRAME_BYTES = 4 << 20, /* no further acks are added to a frame of this size */
    ARENA_BYTES = 256 << 20,
    HOST_BYTES_MAX = 256,
    BEATS_PER_LEASE = 3, /* of the default --heartbeat: one may fail */
    LAST_WORDS_MS = 1000 /* after a signal, wait this long for the reader of standard error */
};

struct worker {
    struct cli *cli;
    const char *command;
    struct str id, host;
    struct str next; /* the fetch in an ack */
    /* At most this many jobs run at once. There are twice as many slots: while the acks of some
     * jobs are repeated, other jobs may run. If all slots are in use, no more jobs are fetched.
     * Busy slots and jobs that were requested never exceed the number of slots. */
    size_t concurrency;
    struct cli_slot *slots;
    size_t slot_count, busy;
    int64_t claimed, jobs_max; /* jobs claimed or requested */
    int64_t completed, failed, cancelled;
    bool tells; /* print what happens: on a terminal, or with -v */

    struct outgoing_wait_call fetch;
    struct arena *fetch_arena;
    bool fetching;
    size_t fetch_count;   /* number of jobs requested */
    struct mono fetch_at; /* no fetch before this time */
    int64_t backoff_ms;
    bool idle; /* the last fetch returned no job, and no job has ended since */

    bool streams, must_stream; /* from --protocol, and from what the server supports */
    struct cli_stream stream;
    struct mono stream_at;          /* no new stream before this time */
    size_t frame_acks, frame_count; /* of the current frame: acks, and jobs to fetch */
    bool quiet; /* the last frame returned too few jobs: wait with a separate fetch */
    bool told;  /* the start was printed */

    struct cli_beat beat;
    struct cli_relay relay;

    bool draining;
    bool stopping; /* running jobs are stopped, no other job is started */
    int signals;
    struct mono drain_until; /* 0: no limit */
    int code;
};

static struct mono in_ms(int64_t ms)
{
    return (struct mono){os_clock_mono().ns + ms * NS_PER_MS};
}

/* Fetching */

static struct str queues_json(struct cli *cli)
{
    const struct cli_value *queues = cli_value(cli, "queue");
    struct buf b;
    buf_init(&b, (size_t)CLI_LINE_BYTES * 4);
    struct json_write list = json_write_to(&b);
    json_write_array(&list);
    for (size_t i = 0; i < queues->item_count; i++) {
        json_write_str(&list, queues->items[i]);
    }
    json_write_end(&list);
    struct str json = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return json;
}

/* The common members of fetches and acks. */
#define WANTED(w)                                                                                  \
    CLI_SET_RAW("queues", queues_json((w)->cli)), CLI_SET_TEXT("worker_id", (w)->id),              \
        CLI_SET_TEXT("hostname", (w)->host),                                                       \
        CLI_SET_TEXT("version", cli_text((w)->cli, "app-version")),                                \
        CLI_SET_INT("lease_duration", lease_s((w)->cli))

static int64_t lease_s(struct cli *cli)
{
    return (cli_int(cli, "lease") + 999) / 1000;
}

/* Number of jobs that could run in addition to those that run or were requested. */
static size_t room(const struct worker *w)
{
    size_t coming = w->frame_count > w->frame_acks ? w->frame_count - w->frame_acks : 0;
    size_t taken = w->busy + coming + (w->fetching ? w->fetch_count : 0);
    return taken < w->concurrency ? w->concurrency - taken : 0;
}

/* Number of slots for further requested jobs. A slot with an ack is not free until the ack is
 * confirmed, which may take many tries. */
static size_t spare_slots(const struct worker *w)
{
    size_t taken = w->busy + w->frame_count + (w->fetching ? w->fetch_count : 0);
    return taken < w->slot_count ? w->slot_count - taken : 0;
}

/* Limit the count to the spare slots, and to --max-jobs. */
static size_t at_most(const struct worker *w, size_t count)
{
    size_t spare = spare_slots(w);
    count = count < spare ? count : spare;
    bool limited = w->jobs_max > 0 && (int64_t)count > w->jobs_max - w->claimed;
    return limited ? (size_t)(w->jobs_max - w->claimed) : count;
}

static struct str fetch_body(struct worker *w)
{
    bool leave = cli_bool(w->cli, "exit-when-idle");
    return CLI_OBJECT(w->cli, WANTED(w), CLI_SET_INT("count", (int64_t)w->fetch_count),
                      CLI_SET_INT("timeout", leave ? POLL_IDLE_S : POLL_S));
}

static bool may_claim(const struct worker *w)
{
    return !w->draining && (w->jobs_max == 0 || w->claimed < w->jobs_max);
}

static bool wants_more(const struct worker *w)
{
    bool leave = cli_bool(w->cli, "exit-when-idle") && w->idle && w->busy == 0;
    return !leave && may_claim(w);
}

static void start_fetch(struct worker *w)
{
    struct cli *cli = w->cli;
    struct arena *outer = cli->arena;
    arena_reset(w->fetch_arena);
    cli->arena = w->fetch_arena;
    w->fetch_count = at_most(w, room(w));
    w->claimed += (int64_t)w->fetch_count;
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

/* NULL: there is none. */
static struct cli_slot *free_slot(struct worker *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (w->slots[i].state == CLI_SLOT_FREE) {
            return &w->slots[i];
        }
    }
    return NULL;
}

/* A refusal that is permanent: because of the key, the role, or the request itself, or a redirect.
 */
static bool is_final(int status)
{
    return status >= 300 && status < 500 && status != 429 && status != 408;
}

/* Run the program for each job. Returns the number of jobs. If a server returns more than
 * requested, the others are handed out again when their leases end. */
static size_t start_jobs(struct worker *w, struct str jobs, size_t limit, bool by_frame)
{
    struct cli *cli = w->cli;
    struct str *items = NULL;
    size_t count = cli_elements(cli, jobs, &items);
    size_t started = 0;
    for (size_t i = 0; i < count && started < limit; i++) {
        struct str job = by_frame ? cli_stream_job(cli, items[i]) : items[i];
        struct cli_slot *slot = free_slot(w);
        if (slot != NULL && cli_member_text(cli, job, "job_id").len > 0) {
            cli_slot_start(slot, w->command, job);
            w->busy++;
            started++;
        }
    }
    return started;
}

/* The server may have handed out jobs in a response that cannot be read: fetch no more. Nobody
 * works on those jobs until their leases end. */
static void give_up(struct worker *w)
{
    w->code = cli_unreadable(w->cli);
    w->draining = true;
}

static void take_jobs(struct worker *w)
{
    struct cli *cli = w->cli;
    struct str answer = buf_str(&w->fetch.answer);
    w->fetching = false;
    w->claimed -= (int64_t)w->fetch_count;
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
        struct str why = cli_member_text(cli, answer, "error");
        back_off(w, why.len > 0
                        ? why
                        : cli_format(cli, "the server returned status %d", w->fetch.status));
        return;
    }
    if (!cli_is_document(answer)) {
        give_up(w);
        return;
    }
    w->backoff_ms = BACKOFF_MS_MIN;
    size_t started = start_jobs(w, cli_member(answer, "jobs").text, w->fetch_count, false);
    w->claimed += (int64_t)started;
    w->idle = started == 0;
    w->quiet = w->quiet && w->idle;
    if (w->idle) {
        w->fetch_at = in_ms(EMPTY_MS); /* do not fetch in a loop if the server returns at once */
    }
}

/* The slot is free: start the job that its ack fetched. The job was counted when it was
 * requested. */
static void start_next(struct worker *w, struct cli_slot *s)
{
    if (!s->asks) {
        return;
    }
    s->asks = false;
    if (s->unreadable) {
        s->unreadable = false;
        give_up(w);
    }
    if (s->next_job.len > 0 && !w->stopping) {
        cli_slot_start(s, w->command, buf_str(&s->next_job));
        w->busy++;
    } else {
        w->claimed--;
    }
}

/* The slot became free: count how its job ended, and start the next one. */
static void count_end(struct worker *w, struct cli_slot *s)
{
    w->busy--;
    w->cancelled += s->cancelled ? 1 : 0;
    w->failed += !s->cancelled && s->failed ? 1 : 0;
    w->completed += !s->cancelled && !s->failed ? 1 : 0;
    w->idle = false; /* the job may have enqueued others */
    w->quiet = false;
    start_next(w, s);
}

/* Frames */

static void tell(struct worker *w, const char *how, struct str why)
{
    if (w->tells && !w->told) {
        cli_relay_note(&w->relay,
                       "Worker " STR_FMT " started: queue " STR_FMT
                       ", up to %zu %s at once, over %s%s" STR_FMT "\n",
                       STR_ARG(w->id), STR_ARG(cli_text(w->cli, "queue")), w->concurrency,
                       w->concurrency == 1 ? "job" : "jobs", how, why.len > 0 ? ": " : "",
                       STR_ARG(cli_harmless(w->cli, why)));
    }
    w->told = true;
}

static bool may_stream(const struct worker *w)
{
    return w->streams && (w->stream.open || os_clock_mono().ns >= w->stream_at.ns);
}

/* Send the acks that wait for a frame as requests; with in_frame also those of the current
 * frame. */
static void report_acks(struct worker *w, bool in_frame)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        struct cli_slot *s = &w->slots[i];
        if (s->state == CLI_SLOT_ACKING && (in_frame || !s->in_frame)) {
            cli_slot_report_ack(s);
        }
    }
}

static size_t write_acks(struct worker *w, struct json_write *out, const struct buf *b)
{
    size_t count = 0;
    json_write_array(out);
    for (size_t i = 0; i < w->slot_count && b->len < FRAME_BYTES; i++) {
        if (w->slots[i].state == CLI_SLOT_ACKING) {
            cli_slot_write_ack(&w->slots[i], out);
            count++;
        }
    }
    json_write_end(out);
    return count;
}

static void send_frame(struct worker *w)
{
    struct cli *cli = w->cli;
    struct buf b;
    buf_init(&b, ARENA_BYTES / 4);
    struct json_write acks = json_write_to(&b);
    w->frame_acks = write_acks(w, &acks, &b);
    w->frame_count = 0; /* room() must not count the previous frame */
    if (may_claim(w)) {
        w->frame_count = at_most(w, w->frame_acks + room(w));
    }
    w->claimed += (int64_t)w->frame_count;
    struct str frame = CLI_OBJECT(
        cli, CLI_SET_RAW("queues", queues_json(cli)), CLI_SET_TEXT("workerId", w->id),
        CLI_SET_TEXT("hostname", w->host), CLI_SET_INT("leaseDuration", lease_s(cli)),
        CLI_SET_INT("fetchCount", (int64_t)w->frame_count), CLI_SET_RAW("acks", buf_str(&b)));
    buf_deinit(&b);
    cli_stream_send(&w->stream, frame, w->frame_acks == 0);
}

/* The frame has ended, with or without a response. */
static void end_frame(struct worker *w, size_t started)
{
    w->claimed -= (int64_t)(w->frame_count - started);
    w->quiet = w->frame_count > started || (w->quiet && w->frame_count == 0);
    w->frame_acks = w->frame_count = 0;
}

/* A response has the number of confirmed acks, but does not name them. */
static void take_acks(struct worker *w, struct str answer)
{
    bool all = cli_member_int(answer, "acked") == (int64_t)w->frame_acks &&
               cli_member(answer, "error").text.len == 0;
    for (size_t i = 0; i < w->slot_count; i++) {
        struct cli_slot *s = &w->slots[i];
        if (s->in_frame && all) {
            cli_slot_acked(s);
            count_end(w, s);
        } else if (s->in_frame) {
            cli_slot_report_ack(s);
        }
    }
}

static void take_frame(struct worker *w, struct str answer)
{
    struct str error = cli_member_text(w->cli, answer, "error");
    if (error.len > 0) {
        log_debug("frame refused", LOG_STR("error", error));
    }
    tell(w, "a stream", STR_EMPTY);
    take_acks(w, answer);
    size_t started = 0;
    if (!w->stopping) {
        started = start_jobs(w, cli_member(answer, "jobs").text, w->frame_count, true);
    }
    end_frame(w, started);
}

static void lose_stream(struct worker *w, struct str why, int64_t again_ms)
{
    log_debug("stream lost", LOG_STR("error", why));
    w->stream_at = in_ms(again_ms);
    report_acks(w, true);
    end_frame(w, 0);
}

static void turn_stream(struct worker *w)
{
    struct str text = STR_EMPTY;
    switch (cli_stream_turn(&w->stream, &text)) {
    case CLI_STREAM_NOTHING:
        break;
    case CLI_STREAM_ANSWER:
        take_frame(w, text);
        break;
    case CLI_STREAM_LOST:
        lose_stream(w, text, STREAM_MS);
        break;
    case CLI_STREAM_NONE:
        lose_stream(w, text, STREAM_MS);
        w->streams = false;
        if (w->must_stream) {
            w->code = cli_fail(w->cli, "no lifecycle stream: " STR_FMT,
                               STR_ARG(cli_harmless(w->cli, text)));
            w->draining = true;
        } else {
            tell(w, "HTTP, without a stream", text);
        }
        break;
    }
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
    w->stopping = true;
    if (w->stream.asked) { /* nothing waits for it any more */
        cli_stream_close(&w->stream);
        lose_stream(w, STR("stopped"), STREAM_MS);
    }
    w->streams = false; /* requests have a limit of time */
    report_acks(w, true);
    for (size_t i = 0; i < w->slot_count; i++) {
        cli_slot_stop(&w->slots[i]);
    }
}

static void take_signal(struct worker *w)
{
    int number = os_signal_read(w->cli->signal_fd);
    /* A terminal that is closed may send SIGHUP several times. */
    if (number == 0 || (number == SIGHUP && w->signals > 0)) {
        return;
    }
    w->signals++;
    if (w->signals == 1) {
        if (w->busy > 0) {
            cli_relay_note(&w->relay,
                           "Waiting for %zu running %s to finish. Press Ctrl-C again to stop %s"
                           " now.\n",
                           w->busy, w->busy == 1 ? "job" : "jobs", w->busy == 1 ? "it" : "them");
        }
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

/* True if a fetch should be sent as a request, as soon as its time has come. */
static bool parks(const struct worker *w)
{
    bool by_frame = may_stream(w) && !w->quiet;
    return !w->fetching && !by_frame && wants_more(w) && room(w) > 0;
}

static bool has_frame(const struct worker *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (w->slots[i].state == CLI_SLOT_ACKING) {
            return true;
        }
    }
    return !w->quiet && !w->fetching && wants_more(w) && room(w) > 0;
}

static int wait_ms(const struct worker *w)
{
    int64_t now = os_clock_mono().ns;
    int64_t at = now + 60 * NS_PER_S;
    at = sooner(at, cli_beat_deadline(&w->beat));
    if (parks(w)) {
        at = sooner(at, w->fetch_at);
    }
    at = sooner(at, cli_stream_deadline(&w->stream));
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
    if (!may_stream(w)) {
        report_acks(w, false);
    } else if (!w->stream.asked && has_frame(w)) {
        send_frame(w);
    }
    if (parks(w) && now >= w->fetch_at.ns) {
        start_fetch(w);
    }
    cli_beat_start_due(&w->beat);
    if (w->drain_until.ns != 0 && now >= w->drain_until.ns) {
        w->drain_until = (struct mono){0};
        w->code = CLI_FAILED;
        cancel_all(w);
    }
}

static bool is_over(const struct worker *w)
{
    return w->busy == 0 && !w->fetching && !w->stream.asked && !wants_more(w);
}

static void turn_slot(struct worker *w, struct cli_slot *s)
{
    bool asked = s->asks;
    s->next = may_claim(w) ? w->next : STR_EMPTY;
    s->acks_by_frame = may_stream(w);
    bool freed = cli_slot_turn(s);
    w->claimed += s->asks && !asked ? 1 : 0;
    if (freed) {
        count_end(w, s);
    }
}

static void turn(struct worker *w)
{
    struct pollfd fds[CONCURRENCY_MAX * CLI_SLOT_FDS + 2];
    size_t count = 1;
    fds[0] = (struct pollfd){.fd = w->cli->signal_fd, .events = POLLIN};
    if (cli_relay_any(&w->relay)) {
        fds[count++] = (struct pollfd){.fd = w->relay.fd, .events = POLLOUT};
    }
    for (size_t i = 0; i < w->slot_count; i++) {
        count += cli_slot_fds(&w->slots[i], fds + count);
    }
    outgoing_wait_turn(w->cli->http, fds, count, wait_ms(w));
    cli_relay_turn(&w->relay);
    /* Handle jobs before signals, so that jobs that were handed out are run, not left to their
     * leases. */
    if (w->fetching && w->fetch.done) {
        take_jobs(w);
        outgoing_wait_clear(&w->fetch);
    }
    turn_stream(w);
    take_signal(w);
    cli_beat_turn(&w->beat);
    for (size_t i = 0; i < w->slot_count; i++) {
        turn_slot(w, &w->slots[i]);
    }
}

/* --heartbeat; by default shorter if the lease is short. */
static int64_t beat_ms(const struct cli *cli)
{
    int64_t ms = cli_int(cli, "heartbeat");
    int64_t most = cli_int(cli, "lease") / BEATS_PER_LEASE;
    if (cli_given(cli, "heartbeat") || ms <= most) {
        return ms;
    }
    return most > CLI_BEAT_MS_MIN ? most : CLI_BEAT_MS_MIN;
}

/* A worker also drains when its terminal is closed: its programs, which are not in its process
 * group, would run on without leases. It continues without a reader of its standard error. */
static void open_signals(struct cli *cli)
{
    (void)close(cli->signal_fd);
    cli->signal_fd = os_signal_open(OS_SIGNAL_HANGUP);
    os_signal_ignore_pipe();
}

static void open_worker(struct worker *w)
{
    struct cli *cli = w->cli;
    open_signals(cli);
    cli_relay_init(&w->relay, fileno(cli->err), cli->err_is_terminal);
    char host[HOST_BYTES_MAX] = "";
    (void)gethostname(host, sizeof host - 1);
    w->host = arena_str(cli->arena, str_from_z(host));
    w->id = cli_text(cli, "worker-id");
    if (w->id.len == 0) {
        w->id = cli_format(cli, "%s-%ld", host, (long)getpid());
    }
    w->next = CLI_OBJECT(cli, WANTED(w));
    w->command = arena_strz(cli->arena, cli_text(cli, "exec"));
    w->concurrency = (size_t)cli_int(cli, "concurrency");
    w->slot_count = w->concurrency * 2;
    w->slots = calloc(w->slot_count, sizeof *w->slots);
    CHECK(w->command != NULL);
    CHECK(w->slots != NULL);
    w->jobs_max = cli_int(cli, "max-jobs");
    w->backoff_ms = BACKOFF_MS_MIN;
    w->fetch_arena = arena_new(ARENA_BYTES);
    cli->http = cli->http == NULL ? outgoing_wait_new() : cli->http;
    for (size_t i = 0; i < w->slot_count; i++) {
        cli_slot_init(&w->slots[i], cli, &w->relay, cli_int(cli, "kill-after"));
        w->slots[i].tells = w->tells;
    }
    cli_beat_init(&w->beat, cli, beat_ms(cli), w->slots, w->slot_count);
    cli_stream_init(&w->stream, cli);
    w->must_stream = str_eq(cli_text(cli, "protocol"), STR("stream"));
    w->streams = !str_eq(cli_text(cli, "protocol"), STR("http"));
    if (!w->streams) {
        tell(w, "HTTP", STR_EMPTY);
    }
}

static void close_worker(struct worker *w)
{
    outgoing_wait_cancel(w->cli->http, &w->fetch);
    outgoing_wait_clear(&w->fetch);
    cli_beat_deinit(&w->beat);
    for (size_t i = 0; i < w->slot_count; i++) {
        cli_slot_deinit(&w->slots[i]);
    }
    cli_stream_finish(&w->stream);
    cli_stream_deinit(&w->stream);
    if (w->tells) {
        cli_relay_note(&w->relay, "Worker stopped: %lld completed, %lld failed, %lld cancelled\n",
                       (long long)w->completed, (long long)w->failed, (long long)w->cancelled);
    }
    cli_relay_finish(&w->relay, w->cli->signal_fd,
                     w->signals > 0 ? LAST_WORDS_MS : (int64_t)INT_MAX);
    cli_relay_deinit(&w->relay);
    free(w->slots);
    arena_free(w->fetch_arena);
}

static int run_work(struct cli *cli)
{
    struct worker w = {.cli = cli, .tells = cli->err_is_terminal || cli_bool(cli, "verbose")};
    int64_t slots = cli_int(cli, "concurrency");
    if (slots < 1 || slots > CONCURRENCY_MAX) {
        return cli_fail(cli, "--concurrency must be 1 to %d", CONCURRENCY_MAX);
    }
    if (cli_int(cli, "heartbeat") < CLI_BEAT_MS_MIN || cli_int(cli, "lease") < 1000) {
        return cli_fail(cli, "--heartbeat must be %dms or more, --lease 1s or more",
                        CLI_BEAT_MS_MIN);
    }
    if (beat_ms(cli) >= cli_int(cli, "lease")) {
        return cli_fail(cli, "--heartbeat must be shorter than --lease, which it renews");
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
    CLI_FLAG("queue",          CLI_LIST,     "QUEUES",   NULL,    "queues to fetch from, in order of preference",
             .options = CLI_REQUIRED),
    CLI_FLAG("exec",           CLI_BYTES,    "COMMAND",  NULL,    "command to run for each job, with /bin/sh -c",
             .options = CLI_REQUIRED),
    CLI_FLAG("concurrency",    CLI_INT,      "N",        "1",     "number of jobs to run at once"),
    CLI_FLAG("worker-id",      CLI_TEXT,     "ID",       NULL,    "worker id; host name and process id by default"),
    CLI_FLAG("app-version",    CLI_TEXT,     "VERSION",  NULL,    "version of the program that runs the jobs; shown with workers and errors"),
    CLI_FLAG("lease",          CLI_DURATION, "DURATION", "60s",   "lease of a fetched job; heartbeats renew it"),
    CLI_FLAG("heartbeat",      CLI_DURATION, "DURATION", "15s",   "interval between heartbeats; by default at most a third of --lease"),
    CLI_FLAG("kill-after",     CLI_DURATION, "DURATION", "10s",   "time from SIGTERM to SIGKILL for a cancelled job"),
    CLI_FLAG("drain-timeout",  CLI_DURATION, "DURATION", "0s",    "how long to wait for running jobs on shutdown; 0s waits until they finish"),
    CLI_FLAG("protocol",       CLI_TEXT,     "NAME",     "auto",  "how to fetch and ack; auto uses a stream if the server has one", .words = "auto http stream"),
    CLI_FLAG("max-jobs",       CLI_INT,      "N",        "0",     "exit after this many jobs; 0 never exits", .options = CLI_POSITIVE),
    CLI_FLAG("exit-when-idle", CLI_BOOL,     NULL,       "false", "exit when the queues are empty"),
    CLI_FLAG("verbose",        CLI_BOOL,     NULL,       "false", "print start, failures and a summary even if standard error is not a terminal", .letter = 'v'),
};

static const struct cli_command commands[] = {
    {.name = "work", .args = "", .summary = "Run a program for each job",
     .about = "The command runs once per job, with the payload on standard input and these variables:\n"
              "CORVO_JOB_ID, CORVO_QUEUE, CORVO_ATTEMPT, CORVO_MAX_RETRIES, CORVO_LEASE_TOKEN, and\n"
              "CORVO_CHECKPOINT, CORVO_TAGS and CORVO_AGENT (JSON) if the job has them. A checkpoint that is a\n"
              "string has no quotes. CORVO_URL and CORVO_NAMESPACE are those of the worker.\n\n"
              "Exit status 0 completes the job. The output becomes the result: as JSON if it is valid JSON,\n"
              "otherwise as a string. Any other status fails the job, with the end of standard error as the\n"
              "message. A line of JSON on file descriptor 3, {\"progress\":…,\"checkpoint\":…}, reports progress.\n"
              "If the job is cancelled, the command and its children get SIGTERM, and later SIGKILL.\n\n"
              "Jobs are fetched and acknowledged over a lifecycle stream (HTTP/2) if the server supports it,\n"
              "otherwise over HTTP requests. Over a stream, a command without output gives the result {}.\n\n"
              "SIGTERM, SIGINT or SIGHUP stops the worker when its jobs are done, with exit status 0. A second\n"
              "SIGTERM or SIGINT stops the jobs too; other workers get them, with their last checkpoints, when\n"
              "their leases end.",
     .examples = "corvo work --queue thumbnails --exec './resize.sh' --concurrency 4\n"
                 "corvo work --queue etl --exec 'python3 load.py' --exit-when-idle",
     CLI_FLAGS(flags), .run = run_work},
};
/* clang-format on */

const struct cli_family cli_work_family = {"Work", commands, COUNT_OF(commands)};
