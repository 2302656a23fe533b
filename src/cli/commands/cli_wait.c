/*
 * corvo wait. First opens the stream of the job's events, then reads the job, and reads it again
 * after each event: every change is seen in the job or causes an event. A stream may also be silent
 * because the server keeps no events, so the job is also read every few seconds. Without a stream,
 * the job is polled at growing intervals.
 *
 * After the first successful read, a server that does not answer is assumed to be restarting, and
 * the command waits for it.
 */
#include "cli/commands/cli_wait.h"

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_sse.h"
#include "os/os_clock.h"

enum {
    POLL_MS_MIN = 100,
    POLL_MS_MAX = 2000,
    POLL_MS_STREAMING = 3000,
    SETTLE_MS_MAX = 5000,
    LOOK_MS_MAX = 30000, /* without --timeout */
    STATE_BYTES = 32
};

struct waiting {
    struct cli *cli;
    struct cli_sse sse;
    struct outgoing_wait_call stream;
    bool changed;            /* an event has arrived */
    int64_t poll_ms;         /* delay until the next read without an event */
    bool lost;               /* the last read got no answer */
    struct str job;          /* last response; valid until the next read */
    char state[STATE_BYTES]; /* empty before the first read */
};

static bool on_event(void *data, const struct cli_sse_event *event)
{
    struct waiting *w = data;
    (void)event;
    w->changed = true;
    return true;
}

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct waiting *w = call->data;
    return cli_sse_feed(&w->sse, piece);
}

static void open_stream(struct waiting *w)
{
    struct cli *cli = w->cli;
    const char *url = cli_url_to(cli, "/events");
    url = cli_url_query(cli, url, "job_ids", cli->args[0]);
    url = cli_url_query(cli, url, "tail", STR("0"));
    outgoing_wait_clear(&w->stream);
    w->stream = cli_call_events(cli, url);
    w->stream.on_piece = on_piece;
    w->stream.data = w;
    cli_sse_restart(&w->sse);
    outgoing_wait_start(cli->http, &w->stream);
}

static bool is_streaming(const struct waiting *w)
{
    return !w->stream.done && w->stream.status == 200;
}

static bool is_wanted(const struct cli *cli, struct str state)
{
    const struct cli_value *states = cli_value(cli, "state");
    for (size_t i = 0; i < states->item_count; i++) {
        if (str_eq(states->items[i], state)) {
            return true;
        }
    }
    return false;
}

static bool is_final(struct str state)
{
    return cli_table_is_word("completed dead cancelled", state);
}

static int keep_job(struct waiting *w, struct str body)
{
    struct str state = cli_member_text(w->cli, body, "state");
    if (state.len == 0 || state.len >= sizeof w->state) {
        return cli_fail(w->cli, "request failed: the response has no job state");
    }
    w->lost = false;
    w->job = arena_str(w->cli->arena, body);
    memcpy(w->state, state.ptr, state.len);
    w->state[state.len] = '\0';
    return CLI_OK;
}

/* Can the error be temporary? */
static bool may_pass(const struct outgoing_wait_call *call)
{
    return call->err.code == ERR_IO || call->status >= 500 || call->status == 429;
}

/* Evaluate the response to a read. */
static int judge(struct waiting *w, const struct outgoing_wait_call *call)
{
    struct cli *cli = w->cli;
    if (w->state[0] != '\0' && may_pass(call)) {
        if (!w->lost) {
            cli_note(cli, "Waiting for the server: %s\n",
                     call->err.code != ERR_OK ? call->err.msg : "it cannot answer now");
        }
        w->lost = true;
        return CLI_OK;
    }
    if (call->err.code != ERR_OK) {
        return cli_unreachable(cli, &call->err);
    }
    if (call->status < 200 || call->status >= 300) {
        return cli_refused(cli, call->status, buf_str(&call->answer));
    }
    return keep_job(w, buf_str(&call->answer));
}

/* Read the job. */
static int look(struct waiting *w)
{
    struct cli *cli = w->cli;
    struct arena *outer = cli_round_begin(cli);
    struct outgoing_wait_call call =
        cli_call_to(cli, "GET", CLI_URL(cli, "/jobs/{0}", cli->args[0]), STR_EMPTY);
    bool seen = w->state[0] != '\0';
    w->changed = false; /* cleared before the read: an event during the read causes another one */
    bool patient = call.timeout_ms == 0 || call.timeout_ms > LOOK_MS_MAX;
    if (seen && patient && !cli_given(cli, "timeout")) {
        call.timeout_ms = LOOK_MS_MAX;
    }
    bool ended = outgoing_wait_run(cli->http, &call, cli->signal_fd);
    int code = ended ? judge(w, &call) : cli_interrupted(cli);
    outgoing_wait_clear(&call);
    cli_round_end(cli, outer);
    return code;
}

/* Wait until the job should be read again; false after a signal. */
static bool sleep_on(struct waiting *w)
{
    struct cli *cli = w->cli;
    struct pollfd wake = {.fd = cli->signal_fd, .events = POLLIN};
    struct mono from = os_clock_mono();
    for (;;) {
        /* A live stream reports changes, if the server keeps events. */
        int64_t passed = (os_clock_mono().ns - from.ns) / NS_PER_MS;
        int64_t ms = (is_streaming(w) ? POLL_MS_STREAMING : w->poll_ms) - passed;
        if (cli_deadline_left_ms(cli) < ms) {
            ms = cli_deadline_left_ms(cli);
        }
        if (w->changed || ms <= 0) {
            break;
        }
        outgoing_wait_turn(cli->http, &wake, cli->signal_fd >= 0 ? 1 : 0, (int)ms);
        if (wake.revents != 0) {
            return false;
        }
    }
    w->poll_ms = w->poll_ms * 2 > POLL_MS_MAX ? POLL_MS_MAX : w->poll_ms * 2;
    if (w->stream.done && (w->stream.err.code != ERR_OK || w->stream.status == 200)) {
        open_stream(w); /* it broke or was closed */
    }
    return true;
}

static int conclude(struct waiting *w)
{
    struct cli *cli = w->cli;
    bool reached = is_wanted(cli, str_from_z(w->state));
    if (cli_is_json(cli)) {
        cli_print_json(cli, w->job);
    } else {
        struct str state = cli_harmless(cli, str_from_z(w->state));
        cli_printf(cli, "Job " STR_FMT ": " STR_FMT "\n", STR_ARG(cli->args[0]), STR_ARG(state));
    }
    return reached ? CLI_OK : CLI_FAILED;
}

/* The maximum wait for the stream to begin. Part of the time must remain for the first read. */
static int64_t settle_ms(const struct cli *cli)
{
    int64_t timeout = cli_int(cli, "timeout");
    int64_t ms = timeout > 0 && timeout < SETTLE_MS_MAX ? timeout : SETTLE_MS_MAX;
    return cli_deadline_left_ms(cli) / 2 < ms ? cli_deadline_left_ms(cli) / 2 : ms;
}

/* Wait for the stream to begin, before the first read; false after a signal. */
static bool settle(struct waiting *w)
{
    struct cli *cli = w->cli;
    struct pollfd wake = {.fd = cli->signal_fd, .events = POLLIN};
    struct mono until = {os_clock_mono().ns + settle_ms(cli) * NS_PER_MS};
    while (!w->stream.done && w->stream.status == 0) {
        int64_t left = (until.ns - os_clock_mono().ns) / NS_PER_MS;
        if (left <= 0) {
            break;
        }
        outgoing_wait_turn(cli->http, &wake, cli->signal_fd >= 0 ? 1 : 0, (int)left);
        if (wake.revents != 0) {
            return false;
        }
    }
    return true;
}

static int give_up(struct waiting *w)
{
    return cli_fail(w->cli, "job " STR_FMT " %s %s%s", STR_ARG(w->cli->args[0]),
                    w->lost ? "was" : "is still", w->state,
                    w->lost ? "; since then the server has not answered" : "");
}

static int wait_for_state(struct waiting *w)
{
    struct cli *cli = w->cli;
    if (!settle(w)) {
        return cli_interrupted(cli);
    }
    for (;;) {
        int code = look(w);
        struct str state = str_from_z(w->state);
        if (code != CLI_OK) {
            return code;
        }
        if (!w->lost && (is_wanted(cli, state) || is_final(state))) {
            return conclude(w);
        }
        if (cli_deadline_left_ms(cli) == 0) {
            return give_up(w);
        }
        if (!sleep_on(w)) {
            return cli_interrupted(cli);
        }
    }
}

static int check_states(struct cli *cli)
{
    const struct cli_value *states = cli_value(cli, "state");
    for (size_t i = 0; i < states->item_count; i++) {
        if (!cli_table_is_word("pending active held completed retrying dead cancelled scheduled",
                               states->items[i])) {
            return cli_fail(cli, "--state: unknown state '" STR_FMT "'", STR_ARG(states->items[i]));
        }
    }
    return CLI_OK;
}

int cli_wait_run(struct cli *cli)
{
    struct waiting w = {.cli = cli, .poll_ms = POLL_MS_MIN};
    int code = check_states(cli);
    if (code != CLI_OK) {
        return code;
    }
    cli_deadline_begin(cli);
    cli_sse_init(&w.sse, on_event, &w);
    open_stream(&w);
    code = wait_for_state(&w);
    outgoing_wait_cancel(cli->http, &w.stream);
    outgoing_wait_clear(&w.stream);
    cli_sse_deinit(&w.sse);
    return code;
}
