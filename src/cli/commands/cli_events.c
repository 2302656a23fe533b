/*
 * corvo events: follows the event stream.
 *
 * If the connection is lost, the command reconnects and continues after the last event it has
 * printed, or from the original position if it has printed none, so no event is lost or repeated.
 * If the server refuses the request (status 300 to 499), the command ends.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/cli_sse.h"

enum { BACKOFF_MS_MIN = 1000, BACKOFF_MS_MAX = 30000 };

struct following {
    struct cli *cli;
    struct cli_sse sse;
    bool any; /* an event has arrived on this connection */
    int64_t count;
};

static const char *event_color(struct str type)
{
    static const struct {
        const char *types;
        const char *color;
    } colors[] = {
        {"completed approved", "\033[32m"},
        {"dead failed rejected expired", "\033[31m"},
        {"held", "\033[33m"},
        {"retrying retried", "\033[35m"},
        {"started progress", "\033[36m"},
    };
    for (size_t i = 0; i < COUNT_OF(colors); i++) {
        if (cli_table_is_word(colors[i].types, type)) {
            return colors[i].color;
        }
    }
    return "";
}

static void print_event(struct cli *cli, struct str event)
{
    struct str type = cli_harmless(cli, cli_member_text(cli, event, "type"));
    struct str job = cli_harmless(cli, cli_member_text(cli, event, "job_id"));
    struct str queue = cli_harmless(cli, cli_member_text(cli, event, "queue"));
    struct str at = cli_harmless(cli, cli_member_text(cli, event, "created_at"));
    struct str data = cli_harmless(cli, cli_member_text(cli, event, "data"));
    const char *color = cli->color ? event_color(type) : "";
    cli_printf(cli, "%lld " STR_FMT " %s" STR_FMT "%s " STR_FMT " " STR_FMT "%s" STR_FMT "\n",
               (long long)cli_member_int(event, "seq"), STR_ARG(at), color, STR_ARG(type),
               color[0] != '\0' ? "\033[0m" : "", STR_ARG(job.len > 0 ? job : STR("-")),
               STR_ARG(queue.len > 0 ? queue : STR("-")), data.len > 0 ? " " : "", STR_ARG(data));
}

static bool on_event(void *data, const struct cli_sse_event *event)
{
    struct following *f = data;
    struct cli *cli = f->cli;
    int64_t limit = cli_int(cli, "count");
    f->any = true;
    if (cli_is_json(cli)) {
        cli_printf(cli, STR_FMT "\n", STR_ARG(event->data));
    } else {
        struct arena *outer = cli_round_begin(cli);
        print_event(cli, event->data);
        cli_round_end(cli, outer);
    }
    /* Flush for the reader of a pipe, and stop if the output cannot be written. */
    bool written = fflush(cli->out) == 0;
    f->count++;
    return written && (limit <= 0 || f->count < limit);
}

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct following *f = call->data;
    return cli_sse_feed(&f->sse, piece);
}

static const char *url_of(struct following *f)
{
    static const struct {
        const char *flag;
        const char *name;
    } lists[] = {{"queues", "queues"}, {"job-ids", "job_ids"}, {"types", "types"}};
    struct cli *cli = f->cli;
    const char *url = cli_url_to(cli, "/events");
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct buf b;
        const struct cli_value *v = cli_value(cli, lists[i].flag);
        buf_init(&b, CLI_LINE_BYTES);
        for (size_t k = 0; k < v->item_count; k++) {
            buf_add_str(&b, k > 0 ? STR(",") : STR_EMPTY);
            buf_add_str(&b, v->items[k]);
        }
        url = b.len > 0 ? cli_url_query(cli, url, lists[i].name, buf_str(&b)) : url;
        buf_deinit(&b);
    }
    if (f->sse.position[0] != '\0') {
        return cli_url_query(cli, url, "last_event_id", str_from_z(f->sse.position));
    }
    if (cli_given(cli, "after")) {
        return cli_url_query(cli, url, "last_event_id", cli_text(cli, "after"));
    }
    return cli_url_query(cli, url, "tail", cli_text(cli, "tail"));
}

/* Report why the stream has ended and will be reopened. */
static void note_end(struct following *f, const struct outgoing_wait_call *call)
{
    struct cli *cli = f->cli;
    struct arena *outer = cli_round_begin(cli);
    struct str why = STR("the server closed the stream");
    if (call->err.code != ERR_OK) {
        why = str_from_z(call->err.msg);
    } else if (call->status != 200) {
        struct str error = cli_harmless(cli, cli_member_text(cli, buf_str(&call->answer), "error"));
        why = cli_format(cli, "the server returned status %d%s" STR_FMT, call->status,
                         error.len > 0 ? ": " : "", STR_ARG(error));
    }
    cli_note(cli, "Disconnected: " STR_FMT "; reconnecting\n", STR_ARG(why));
    cli_round_end(cli, outer);
}

/* Follow one connection until it ends. */
static int follow_once(struct following *f, bool *out_over)
{
    struct cli *cli = f->cli;
    struct outgoing_wait_call call = cli_call_events(cli, url_of(f));
    int code = CLI_OK;
    call.on_piece = on_piece;
    call.data = f;
    f->any = false;
    cli_sse_restart(&f->sse);
    *out_over = true;
    if (!outgoing_wait_run(cli->http, &call, cli->signal_fd)) {
        code = cli_interrupted(cli);
    } else if (call.status >= 300 && call.status < 500) {
        code = cli_refused(cli, call.status, buf_str(&call.answer));
    } else {
        int64_t limit = cli_int(cli, "count");
        *out_over = (limit > 0 && f->count >= limit) || ferror(cli->out) != 0;
        if (!*out_over) {
            note_end(f, &call);
        }
    }
    outgoing_wait_clear(&call);
    return code;
}

static int run_events(struct cli *cli)
{
    struct following f = {.cli = cli};
    int64_t backoff_ms = BACKOFF_MS_MIN;
    bool over = false;
    int code = CLI_OK;
    cli_sse_init(&f.sse, on_event, &f);
    for (;;) {
        code = follow_once(&f, &over);
        if (over || code != CLI_OK) {
            break;
        }
        backoff_ms = f.any ? BACKOFF_MS_MIN : backoff_ms;
        if (!cli_sleep(cli, backoff_ms)) {
            code = cli_interrupted(cli);
            break;
        }
        backoff_ms = backoff_ms * 2 > BACKOFF_MS_MAX ? BACKOFF_MS_MAX : backoff_ms * 2;
    }
    cli_sse_deinit(&f.sse);
    return code;
}

/* clang-format off */
static const struct cli_flag flags[] = {
    CLI_FLAG("queues",  CLI_LIST, "QUEUES", NULL, "only events of these queues"),
    CLI_FLAG("job-ids", CLI_LIST, "IDS",    NULL, "only events of these jobs"),
    CLI_FLAG("types",   CLI_LIST, "TYPES",  NULL, "only events of these types: enqueued, started, completed, failed, dead …"),
    CLI_FLAG("after",   CLI_INT,  "SEQ",    NULL, "start after the event with this number"),
    CLI_FLAG("tail",    CLI_INT,  "N",      "10", "without --after: start with this many past events"),
    CLI_FLAG("count",   CLI_INT,  "N",      "0",  "exit after this many events; 0 never exits"),
};

static const struct cli_command commands[] = {
    {.name = "events", .args = "", .summary = "Follow the event stream",
     .about = "One line per event: number, time, type, job, queue and data; with --output json one\n"
              "object per line. If the connection is lost, reconnects and continues after the last event.",
     .examples = "corvo events --types dead,failed --output json | jq -r .job_id\ncorvo events --queues emails.send --tail 0",
     CLI_FLAGS(flags), .run = run_events},
};
/* clang-format on */

const struct cli_family cli_events_family = {"Events", commands, COUNT_OF(commands)};
