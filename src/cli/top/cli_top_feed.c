#include "cli/top/cli_top_feed.h"

#include "json/json_scan.h"
#include "os/os_clock.h"

enum {
    REQUEST_ARENA_BYTES = 1 << 20,
    ANSWER_BYTES_MAX = 64 << 20,
    PAGE_TEXT_BYTES_MAX = 4 << 20,
    MESSAGE_BYTES_MAX = 1024,
    REQUEST_TIMEOUT_MS = 10000,
    SILENCE_MS_MAX = 45000, /* the server sends a keep-alive every 15 seconds */
};

const char *cli_top_feed_path(enum cli_top_document document)
{
    static const char *const paths[CLI_TOP_DOC_COUNT] = {
        [CLI_TOP_DOC_QUEUES] = "/queues",
        [CLI_TOP_DOC_WORKERS] = "/workers",
        [CLI_TOP_DOC_CLUSTER] = "/cluster/status",
        [CLI_TOP_DOC_THROUGHPUT] = "/metrics/throughput",
    };
    return paths[document];
}

/* One request */

static void request_init(struct cli_top_request *r)
{
    *r = (struct cli_top_request){.arena = arena_new(REQUEST_ARENA_BYTES)};
}

static void request_end(struct cli_top_feed *f, struct cli_top_request *r)
{
    if (r->open) {
        outgoing_wait_cancel(f->cli->http, &r->call);
        outgoing_wait_clear(&r->call);
        r->open = false;
    }
}

static void request_deinit(struct cli_top_feed *f, struct cli_top_request *r)
{
    request_end(f, r);
    arena_free(r->arena);
}

static void request_make(struct cli_top_feed *f, struct cli_top_request *r, const char *method,
                         const char *pattern, const char *part)
{
    struct cli *cli = f->cli;
    struct arena *outer = cli->arena;
    request_end(f, r);
    arena_reset(r->arena);
    cli->arena = r->arena;
    r->call = cli_call_to(cli, method, CLI_URL(cli, pattern, str_from_z(part)), STR_EMPTY);
    cli->arena = outer;
    r->call.limit_bytes = ANSWER_BYTES_MAX;
    r->call.timeout_ms = r->call.timeout_ms > 0 ? r->call.timeout_ms : REQUEST_TIMEOUT_MS;
}

static void request_start(struct cli_top_feed *f, struct cli_top_request *r)
{
    r->open = true;
    outgoing_wait_start(f->cli->http, &r->call);
}

static void ask(struct cli_top_feed *f, struct cli_top_request *r, const char *method,
                const char *pattern, const char *part)
{
    request_make(f, r, method, pattern, part);
    request_start(f, r);
}

/* Has the request succeeded? If not, out gets the reason. */
static bool went_well(struct cli_top_feed *f, const struct cli_top_request *r, char *out,
                      size_t size)
{
    const struct outgoing_wait_call *call = &r->call;
    if (call->err.code != ERR_OK) {
        cli_top_model_text(out, size, str_from_z(call->err.msg));
        return false;
    }
    if (call->status < 200 || call->status >= 300) {
        struct arena *outer = cli_round_begin(f->cli);
        struct str text = cli_member_text(f->cli, buf_str(&call->answer), "error");
        if (text.len > 0) {
            cli_top_model_text(out, size, text);
        } else {
            (void)snprintf(out, size, "the server returned status %d", call->status);
        }
        cli_round_end(f->cli, outer);
        return false;
    }
    return true;
}

/* Samples */

static void start_sample(struct cli_top_feed *f, struct mono now)
{
    for (int d = 0; d < CLI_TOP_DOC_COUNT; d++) {
        const char *path = cli_top_feed_path((enum cli_top_document)d);
        ask(f, &f->documents[d], "GET", path, "");
    }
    f->sampling = true;
    f->sample_due = (struct mono){now.ns + f->interval_ms * NS_PER_MS};
}

static bool sample_is_there(const struct cli_top_feed *f)
{
    bool all = f->sampling;
    for (int d = 0; all && d < CLI_TOP_DOC_COUNT; d++) {
        all = f->documents[d].call.done;
    }
    return all;
}

static void take_sample(struct cli_top_feed *f, struct mono now, struct wall wall)
{
    struct str texts[CLI_TOP_DOC_COUNT];
    bool well = true;
    char trouble[CLI_TOP_TEXT_BYTES] = "";
    for (int d = 0; well && d < CLI_TOP_DOC_COUNT; d++) {
        well = went_well(f, &f->documents[d], trouble, sizeof trouble);
        f->refused = f->documents[d].call.err.code == ERR_OK;
        texts[d] = buf_str(&f->documents[d].call.answer);
    }
    if (well) {
        struct cli_top_sample sample;
        struct arena *outer = cli_round_begin(f->cli);
        cli_top_read_sample(f->cli, texts, &sample);
        cli_round_end(f->cli, outer);
        cli_top_model_take(f->model, &sample, now);
        cli_top_input_settle(f->ui, f->model);
    } else if (f->trouble[0] == '\0') {
        f->trouble_since = wall;
    }
    cli_top_model_text(f->trouble, sizeof f->trouble, str_from_z(trouble));
    for (int d = 0; d < CLI_TOP_DOC_COUNT; d++) {
        request_end(f, &f->documents[d]);
    }
    f->sampling = false;
    f->changed = true;
}

/* Failures */

static bool on_event(void *data, const struct cli_sse_event *event)
{
    struct cli_top_feed *f = data;
    struct cli_top_failure failure;
    struct arena *outer = cli_round_begin(f->cli);
    if (cli_top_read_event(f->cli, event->data, &failure)) {
        cli_top_model_fail(f->model, &failure);
        f->changed = true;
    }
    cli_round_end(f->cli, outer);
    return true;
}

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct cli_top_feed *f = call->data;
    f->heard = os_clock_mono();
    return cli_sse_feed(&f->sse, piece);
}

/* tail counts events of every type, so it is large. */
static void start_stream(struct cli_top_feed *f, struct mono now)
{
    bool again = f->sse.position[0] != '\0';
    request_make(f, &f->stream, "GET",
                 again ? "/events?types=failed,dead&last_event_id={0}"
                       : "/events?types=failed,dead&tail={0}",
                 again ? f->sse.position : "20000");
    f->stream.call.timeout_ms = 0;
    f->stream.call.on_piece = on_piece;
    f->stream.call.data = f;
    f->heard = now;
    cli_sse_restart(&f->sse);
    request_start(f, &f->stream);
}

/* The stream broke or was refused. It is reopened after the next sample, unless the server has
 * refused it with a status of 400 to 499. */
static void end_stream(struct cli_top_feed *f)
{
    int status = f->stream.call.status;
    if (!went_well(f, &f->stream, f->no_events, sizeof f->no_events)) {
        if (status < 400 || status >= 500) {
            f->no_events[0] = '\0';
        }
        f->changed = true;
    }
    request_end(f, &f->stream);
}

static void step_stream(struct cli_top_feed *f, struct mono now)
{
    bool silent = (now.ns - f->heard.ns) / NS_PER_MS > SILENCE_MS_MAX;
    if (f->stream.open && f->stream.call.done) {
        end_stream(f);
    } else if (f->stream.open && silent) {
        request_end(f, &f->stream);
    }
}

/* Requests triggered by keys */

/* Show a message that consists of two parts. */
static void say(struct cli_top_feed *f, bool bad, const char *about, const char *text)
{
    struct buf message;
    buf_init(&message, MESSAGE_BYTES_MAX);
    buf_printf(&message, "%s%s", about, text);
    cli_top_model_text(f->ui->message, sizeof f->ui->message, buf_str(&message));
    buf_deinit(&message);
    f->ui->message_bad = bad;
    f->changed = true;
}

static void end_action(struct cli_top_feed *f)
{
    char why[CLI_TOP_TEXT_BYTES];
    if (went_well(f, &f->action, why, sizeof why)) {
        say(f, false, f->switched, f->pauses ? " is paused" : " is resumed");
        f->sample_due = (struct mono){0};
    } else {
        say(f, true, f->pauses ? "Not paused: " : "Not resumed: ", why);
    }
    request_end(f, &f->action);
}

static void show_page(struct cli_top_feed *f, struct str json)
{
    struct buf text;
    struct err err;
    buf_init(&text, PAGE_TEXT_BYTES_MAX);
    buf_printf(&text, "%s %s\n", f->page_is_job ? "job" : "queue", f->looked_at);
    if (json_scan_check(json, &err) == ERR_OK) {
        cli_json_indent(&text, json);
        buf_add_char(&text, '\n');
    }
    f->ui->message[0] = '\0';
    cli_top_input_page(f->ui, buf_str(&text));
    buf_deinit(&text);
}

static void end_page(struct cli_top_feed *f)
{
    char why[CLI_TOP_TEXT_BYTES];
    if (!went_well(f, &f->page, why, sizeof why)) {
        say(f, true, "", why);
    } else if (f->ui->mode == CLI_TOP_BROWSE) { /* do not interrupt another mode */
        show_page(f, buf_str(&f->page.call.answer));
    }
    f->changed = true;
    request_end(f, &f->page);
}

void cli_top_feed_do(struct cli_top_feed *f, enum cli_top_action action)
{
    struct str target = str_from_z(f->ui->target);
    switch (action) {
    case CLI_TOP_REFRESH:
        f->sample_due = (struct mono){0};
        break;
    case CLI_TOP_SWITCH:
        f->pauses = f->ui->pauses;
        cli_top_model_text(f->switched, sizeof f->switched, target);
        say(f, false, f->pauses ? "Pausing " : "Resuming ", f->switched);
        ask(f, &f->action, "POST", f->pauses ? "/queues/{0}/pause" : "/queues/{0}/resume",
            f->switched);
        break;
    case CLI_TOP_SHOW_QUEUE:
    case CLI_TOP_SHOW_JOB:
        f->page_is_job = action == CLI_TOP_SHOW_JOB;
        cli_top_model_text(f->looked_at, sizeof f->looked_at, target);
        ask(f, &f->page, "GET", f->page_is_job ? "/jobs/{0}" : "/queues/{0}", f->looked_at);
        break;
    case CLI_TOP_NOTHING:
    case CLI_TOP_QUIT:
    default:
        break;
    }
}

/* The feed */

void cli_top_feed_init(struct cli_top_feed *f, struct cli *cli, struct cli_top_model *m,
                       struct cli_top_ui *ui, int64_t interval_ms)
{
    *f = (struct cli_top_feed){.cli = cli, .model = m, .ui = ui, .interval_ms = interval_ms};
    for (int d = 0; d < CLI_TOP_DOC_COUNT; d++) {
        request_init(&f->documents[d]);
    }
    request_init(&f->stream);
    request_init(&f->action);
    request_init(&f->page);
    cli_sse_init(&f->sse, on_event, f);
}

void cli_top_feed_deinit(struct cli_top_feed *f)
{
    for (int d = 0; d < CLI_TOP_DOC_COUNT; d++) {
        request_deinit(f, &f->documents[d]);
    }
    request_deinit(f, &f->stream);
    request_deinit(f, &f->action);
    request_deinit(f, &f->page);
    cli_sse_deinit(&f->sse);
}

void cli_top_feed_step(struct cli_top_feed *f, struct mono now, struct wall wall)
{
    bool frozen = f->ui->frozen;
    if (sample_is_there(f)) {
        take_sample(f, now, wall);
        if (f->trouble[0] == '\0' && !f->stream.open && !frozen && f->no_events[0] == '\0') {
            start_stream(f, now);
        }
    }
    step_stream(f, now);
    if (f->action.open && f->action.call.done) {
        end_action(f);
    }
    if (f->page.open && f->page.call.done) {
        end_page(f);
    }
    if (frozen) {
        request_end(f, &f->stream);
    } else if (!f->sampling && now.ns >= f->sample_due.ns) {
        start_sample(f, now);
    }
}

int64_t cli_top_feed_idle_ms(const struct cli_top_feed *f, struct mono now)
{
    if (f->sampling || f->ui->frozen) {
        return INT64_MAX;
    }
    int64_t ms = (f->sample_due.ns - now.ns + NS_PER_MS - 1) / NS_PER_MS;
    return ms < 0 ? 0 : ms;
}
