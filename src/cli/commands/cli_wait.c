/*
 * The stream of the job's events is opened first and the job is looked at afterwards, and again
 * after each event: whatever happens is either seen in the job or comes as an event. Where the
 * server has no events, the job is looked at again and again, ever more slowly.
 */
#include "cli/commands/cli_wait.h"

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_sse.h"
#include "os/os_clock.h"

enum { POLL_MS_MIN = 100, POLL_MS_MAX = 2000, RETRY_MS = 1000 };

struct waiting {
    struct cli *cli;
    struct cli_sse sse;
    struct outgoing_wait_call stream;
    bool changed;    /* an event came */
    int64_t poll_ms; /* how long until the job is looked at without an event */
    struct mono deadline;
    struct str job; /* as it was last seen */
    struct str state;
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
    w->stream = cli_call_to(cli, "GET", url, STR_EMPTY);
    w->stream.timeout_ms = 0;
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

/* Look at the job. */
static int look(struct waiting *w)
{
    struct cli *cli = w->cli;
    struct cli_answer answer;
    struct arena *outer = cli_round_begin(cli);
    w->changed = false; /* before the look: an event that comes meanwhile leads to another */
    int code = cli_request(cli, "GET", CLI_URL(cli, "/jobs/{0}", cli->args[0]), STR_EMPTY, &answer);
    if (code == CLI_OK) {
        w->job = answer.body;
        w->state = cli_member_text(cli, answer.body, "state");
    }
    cli_round_end(cli, outer);
    return code;
}

static int64_t left_ms(const struct waiting *w)
{
    int64_t ms = (w->deadline.ns - os_clock_mono().ns) / NS_PER_MS;
    return ms < 0 ? 0 : ms;
}

/* Sleep until it is worth looking again; false for a signal. */
static bool sleep_on(struct waiting *w)
{
    struct cli *cli = w->cli;
    struct pollfd wake = {.fd = cli->signal_fd, .events = POLLIN};
    struct mono from = os_clock_mono();
    bool limited = w->deadline.ns != 0;
    for (;;) {
        /* A live stream says when something changes; without one it is looked at by the clock. */
        int64_t passed = (os_clock_mono().ns - from.ns) / NS_PER_MS;
        int64_t ms = is_streaming(w) ? INT32_MAX : w->poll_ms - passed;
        if (limited && left_ms(w) < ms) {
            ms = left_ms(w);
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
        open_stream(w); /* it broke or was closed; a server without events answers otherwise */
    }
    return true;
}

static int conclude(struct waiting *w)
{
    struct cli *cli = w->cli;
    bool reached = is_wanted(cli, w->state);
    if (cli_is_json(cli)) {
        cli_print_json(cli, w->job);
    } else {
        cli_printf(cli, "Job " STR_FMT ": " STR_FMT "\n", STR_ARG(cli->args[0]), STR_ARG(w->state));
    }
    return reached ? CLI_OK : CLI_FAILED;
}

/* Let the stream begin before the first look. */
static bool settle(struct waiting *w)
{
    struct pollfd wake = {.fd = w->cli->signal_fd, .events = POLLIN};
    while (!w->stream.done && w->stream.status == 0) {
        outgoing_wait_turn(w->cli->http, &wake, w->cli->signal_fd >= 0 ? 1 : 0, RETRY_MS);
        if (wake.revents != 0) {
            return false;
        }
        if (w->deadline.ns != 0 && left_ms(w) == 0) {
            break;
        }
    }
    return true;
}

static int wait_for_state(struct waiting *w)
{
    struct cli *cli = w->cli;
    if (!settle(w)) {
        return cli_interrupted(cli);
    }
    for (;;) {
        int code = look(w);
        if (code != CLI_OK) {
            return code;
        }
        if (is_wanted(cli, w->state) || is_final(w->state)) {
            return conclude(w);
        }
        if (w->deadline.ns != 0 && left_ms(w) == 0) {
            return cli_fail(cli, "job " STR_FMT " is still " STR_FMT, STR_ARG(cli->args[0]),
                            STR_ARG(w->state));
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
    if (cli_given(cli, "wait-timeout")) {
        w.deadline.ns = os_clock_mono().ns + cli_int(cli, "wait-timeout") * NS_PER_MS;
    }
    cli_sse_init(&w.sse, on_event, &w);
    open_stream(&w);
    code = wait_for_state(&w);
    outgoing_wait_cancel(cli->http, &w.stream);
    outgoing_wait_clear(&w.stream);
    cli_sse_deinit(&w.sse);
    return code;
}
