#include "cli/work/cli_stream.h"

#include "base/check.h"
#include "json/json_scan.h"
#include "os/os_clock.h"

enum {
    HEAD_BYTES = 5,
    FLAG_END = 2,
    OPEN_MS = 10000,   /* the response headers arrive at once, before any frame is answered */
    ANSWER_MS = 15000, /* delay of a response after which the connection counts as lost */
    FINISH_MS = 500,
    WAIT_MS = 60000, /* longest time for which a server holds a fetch (--idle-fetch-sleep) */
    ARENA_BYTES = 1 << 20,
};

static const char method[] = "/corvo.v1.WorkerService/StreamLifecycle";

void cli_stream_init(struct cli_stream *s, struct cli *cli)
{
    *s = (struct cli_stream){.cli = cli, .arena = arena_new(ARENA_BYTES)};
    buf_init(&s->in, CLI_ANSWER_BYTES);
}

void cli_stream_close(struct cli_stream *s)
{
    outgoing_wait_cancel(s->cli->http, &s->call);
    s->open = s->asked = false;
}

void cli_stream_deinit(struct cli_stream *s)
{
    if (s->open) {
        cli_stream_close(s);
    }
    outgoing_wait_clear(&s->call);
    buf_deinit(&s->in);
    arena_free(s->arena);
}

void cli_stream_finish(struct cli_stream *s)
{
    int64_t until = os_clock_mono().ns + (int64_t)FINISH_MS * NS_PER_MS;
    if (!s->open || s->asked) {
        return;
    }
    outgoing_wait_say_end(&s->call);
    while (!s->call.done && os_clock_mono().ns < until) {
        outgoing_wait_turn(s->cli->http, NULL, 0, FINISH_MS);
    }
}

/* Sending */

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct buf *in = call->data;
    buf_add_str(in, piece);
    return !in->overflow;
}

static void open_stream(struct cli_stream *s)
{
    struct arena *outer = s->cli->arena;
    outgoing_wait_clear(&s->call);
    arena_reset(s->arena);
    buf_clear(&s->in);
    s->answered = 0;
    s->cli->arena = s->arena;
    s->call = cli_call_stream(s->cli, method);
    s->call.on_piece = on_piece;
    s->call.data = &s->in;
    s->cli->arena = outer;
    s->open = true;
    s->accepted = false;
    outgoing_wait_start(s->cli->http, &s->call);
}

void cli_stream_send(struct cli_stream *s, struct str frame, bool may_wait)
{
    bool first = !s->open;
    char head[HEAD_BYTES] = {0};
    CHECK(!s->asked);
    for (int i = 0; i < 4; i++) {
        head[1 + i] = (char)(frame.len >> (24 - 8 * i));
    }
    if (first) {
        open_stream(s);
    }
    outgoing_wait_say(&s->call, str_from(head, sizeof head));
    outgoing_wait_say(&s->call, frame);
    int64_t ms = first ? OPEN_MS : ANSWER_MS + (may_wait ? WAIT_MS : 0);
    s->answer_by = (struct mono){os_clock_mono().ns + ms * NS_PER_MS};
    s->asked = true;
}

/* Receiving */

/* A complete envelope at the start of the input. */
static bool take_envelope(struct cli_stream *s, int *out_flags, struct str *out)
{
    size_t len = 0;
    if (s->answered > 0) {
        s->in.len -= s->answered;
        memmove(s->in.ptr, s->in.ptr + s->answered, s->in.len);
        s->answered = 0;
    }
    if (s->in.len < HEAD_BYTES) {
        return false;
    }
    for (int i = 1; i < HEAD_BYTES; i++) {
        len = len << 8 | (unsigned char)s->in.ptr[i];
    }
    if (s->in.len - HEAD_BYTES < len) {
        return false;
    }
    *out_flags = (unsigned char)s->in.ptr[0];
    *out = str_from(s->in.ptr + HEAD_BYTES, len);
    s->answered = HEAD_BYTES + len;
    return true;
}

static bool is_among(const char *const *words, size_t count, struct str word)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(word, str_from_z(words[i]))) {
            return true;
        }
    }
    return false;
}

/* The server ended the stream with an error. Some errors are temporary; with the others, this
 * server offers no streams. */
static enum cli_stream_news end_news(struct cli_stream *s, struct str end, struct str *out_text)
{
    static const char *const moment[] = {"", "unavailable", "aborted", "canceled",
                                         "deadline_exceeded"};
    struct str code = cli_member_text(s->cli, end, "error.code");
    struct str message = cli_member_text(s->cli, end, "error.message");
    *out_text = message.len > 0 ? message : code.len > 0 ? code : STR("the server ended it");
    bool again = s->proven || is_among(moment, COUNT_OF(moment), code);
    return again ? CLI_STREAM_LOST : CLI_STREAM_NONE;
}

/* The call ended without such a message: no response, or one with another status. */
static enum cli_stream_news call_news(const struct cli_stream *s, struct str *out_text)
{
    const struct outgoing_wait_call *call = &s->call;
    int status = call->status;
    bool busy = status == 429 || status == 502 || status == 503 || status == 504;
    if (call->err.code != ERR_OK) {
        *out_text = str_from_z(call->err.msg);
        return s->proven || call->unreached ? CLI_STREAM_LOST : CLI_STREAM_NONE;
    }
    *out_text = cli_format(s->cli, "status %d", status);
    return busy || (s->proven && status == 200) ? CLI_STREAM_LOST : CLI_STREAM_NONE;
}

static enum cli_stream_news over(struct cli_stream *s, enum cli_stream_news news)
{
    cli_stream_close(s);
    return news;
}

enum cli_stream_news cli_stream_turn(struct cli_stream *s, struct str *out_text)
{
    int flags = 0;
    if (!s->open) {
        return CLI_STREAM_NOTHING;
    }
    if (take_envelope(s, &flags, out_text)) {
        if (flags == 0) {
            s->asked = false;
            s->proven = true;
            return CLI_STREAM_ANSWER;
        }
        return over(s, end_news(s, *out_text, out_text));
    }
    if (s->call.done) {
        return over(s, call_news(s, out_text));
    }
    if (!s->asked) {
        return CLI_STREAM_NOTHING;
    }
    if (s->call.status == 200 && !s->accepted) {
        s->accepted = true;
        s->answer_by.ns += (int64_t)WAIT_MS * NS_PER_MS; /* from now on the limit of every frame */
    }
    if (os_clock_mono().ns >= s->answer_by.ns) {
        *out_text = STR("no answer");
        return over(s, s->accepted ? CLI_STREAM_LOST : CLI_STREAM_NONE);
    }
    return CLI_STREAM_NOTHING;
}

struct mono cli_stream_deadline(const struct cli_stream *s)
{
    return s->asked ? s->answer_by : (struct mono){0};
}

/* Jobs */

static struct str agent_of(struct cli *cli, struct str job)
{
    struct str agent = cli_member(job, "agent").text;
    if (agent.len == 0) {
        return STR_EMPTY;
    }
    return CLI_OBJECT(cli, CLI_SET_RAW("max_iterations", cli_member(agent, "maxIterations").text),
                      CLI_SET_RAW("max_cost_usd", cli_member(agent, "maxCostUsd").text),
                      CLI_SET_RAW("iteration_timeout", cli_member(agent, "iterationTimeout").text),
                      CLI_SET_RAW("iteration", cli_member(agent, "iteration").text),
                      CLI_SET_RAW("total_cost_usd", cli_member(agent, "totalCostUsd").text));
}

/* A member that is a string with JSON in it; empty if there is none. */
static struct str json_of(struct cli *cli, struct str job, const char *member)
{
    struct str text = cli_member_text(cli, job, member);
    struct err err;
    return text.len > 0 && json_scan_check(text, &err) == ERR_OK ? text : STR_EMPTY;
}

struct str cli_stream_job(struct cli *cli, struct str job)
{
    return CLI_OBJECT(cli, CLI_SET_TEXT("job_id", cli_member_text(cli, job, "jobId")),
                      CLI_SET_TEXT("queue", cli_member_text(cli, job, "queue")),
                      CLI_SET_RAW("payload", json_of(cli, job, "payloadJson")),
                      CLI_SET_INT("attempt", cli_member_int(job, "attempt")),
                      CLI_SET_INT("max_retries", cli_member_int(job, "maxRetries")),
                      /* a string of digits, because it has 64 bits */
                      CLI_SET_RAW("lease_token", json_of(cli, job, "leaseToken")),
                      CLI_SET_RAW("checkpoint", json_of(cli, job, "checkpointJson")),
                      CLI_SET_RAW("tags", json_of(cli, job, "tagsJson")),
                      CLI_SET_RAW("agent", agent_of(cli, job)));
}
