#include "cli/work/cli_beat.h"

#include "json/json_scan.h"
#include "log/log.h"
#include "os/os_clock.h"

enum {
    TIMEOUT_MS = 15000,
    REPORT_BYTES = 4 << 20, /* no further reports are added to a heartbeat of this size */
    BODY_BYTES = 64 << 20,
    ARENA_BYTES = 256 << 20,
};

static struct mono in_ms(int64_t ms)
{
    return (struct mono){os_clock_mono().ns + ms * NS_PER_MS};
}

void cli_beat_init(struct cli_beat *b, struct cli *cli, int64_t interval_ms, struct cli_slot *slots,
                   size_t slot_count)
{
    *b = (struct cli_beat){.cli = cli,
                           .slots = slots,
                           .slot_count = slot_count,
                           .interval_ms = interval_ms,
                           .arena = arena_new(ARENA_BYTES),
                           .at = in_ms(interval_ms)};
}

void cli_beat_deinit(struct cli_beat *b)
{
    outgoing_wait_cancel(b->cli->http, &b->call);
    outgoing_wait_clear(&b->call);
    arena_free(b->arena);
}

/* True if the worker still holds the job. This includes the time in which the end of the job is
 * being reported, which may take several tries. */
static bool is_held(const struct cli_slot *s)
{
    return s->state != CLI_SLOT_FREE && !s->cancelled;
}

static bool any(const struct cli_beat *b, bool (*is)(const struct cli_slot *s))
{
    for (size_t i = 0; i < b->slot_count; i++) {
        if (is(&b->slots[i])) {
            return true;
        }
    }
    return false;
}

/* Sending */

/* Include every job that is held, but not every report, because the server limits the size of the
 * body. The next heartbeat starts with another slot, so that each gets its turn. */
static struct str write_jobs(struct cli_beat *b)
{
    struct buf out;
    buf_init(&out, BODY_BYTES);
    struct json_write w = json_write_to(&out);
    json_write_object(&w);
    b->report_count = 0;
    for (size_t i = 0; i < b->slot_count; i++) {
        struct cli_slot *s = &b->slots[(b->first + i) % b->slot_count];
        bool room = b->one_report ? b->report_count == 0 : out.len < REPORT_BYTES;
        if (is_held(s) && cli_slot_write_beat(s, &w, room)) {
            b->report_count++;
        }
    }
    json_write_end(&w);
    b->first = b->first + 1 < b->slot_count ? b->first + 1 : 0;
    struct str jobs = arena_str(b->arena, buf_str(&out));
    buf_deinit(&out);
    return jobs;
}

static void start(struct cli_beat *b)
{
    struct cli *cli = b->cli;
    struct arena *outer = cli->arena;
    arena_reset(b->arena);
    cli->arena = b->arena;
    b->call = cli_call_to(cli, "POST", cli_url_to(cli, "/heartbeat"),
                          CLI_OBJECT(cli, CLI_SET_RAW("jobs", write_jobs(b))));
    b->call.timeout_ms = TIMEOUT_MS;
    cli->arena = outer;
    b->under_way = true;
    b->last = os_clock_mono();
    b->at = in_ms(b->interval_ms);
    outgoing_wait_start(cli->http, &b->call);
}

struct mono cli_beat_deadline(const struct cli_beat *b)
{
    struct mono soon = {.ns = b->last.ns + CLI_BEAT_MS_MIN * NS_PER_MS};
    if (b->under_way || !any(b, is_held)) {
        return (struct mono){0};
    }
    return soon.ns < b->at.ns && !b->failed && any(b, cli_slot_has_report) ? soon : b->at;
}

void cli_beat_start_due(struct cli_beat *b)
{
    struct mono due = cli_beat_deadline(b);
    if (due.ns != 0 && os_clock_mono().ns >= due.ns) {
        start(b);
    }
}

/* Answers */

static void cancel_jobs(struct cli_beat *b, struct str jobs)
{
    for (size_t i = 0; i < b->slot_count; i++) {
        struct json_value entry;
        struct cli_slot *s = &b->slots[i];
        if (s->in_beat && json_scan_member(jobs, s->job_id, &entry) &&
            str_eq(cli_member_text(b->cli, entry.text, "status"), STR("cancel"))) {
            cli_slot_cancel(s);
        }
    }
}

static enum cli_report_fate lose(struct cli_beat *b)
{
    struct str why = cli_member_text(b->cli, buf_str(&b->call.answer), "error");
    bool refused = b->report_count > 0 && b->call.err.code == ERR_OK &&
                   (b->call.status == 400 || b->call.status == 413);
    bool found = refused && b->report_count == 1;
    log_warn("heartbeat failed", LOG_I64("status", b->call.status),
             LOG_STR("error", why.len > 0 ? why : str_from_z(b->call.err.msg)));
    b->failed = !refused;
    b->one_report = !found && (refused || b->one_report);
    b->at = in_ms(refused ? CLI_BEAT_MS_MIN : b->interval_ms / 4);
    return found ? CLI_REPORT_REFUSED : CLI_REPORT_UNSENT;
}

static void take_answer(struct cli_beat *b)
{
    enum cli_report_fate fate = CLI_REPORT_SAVED;
    if (b->call.err.code == ERR_OK && b->call.status == 200) {
        b->failed = false;
        cancel_jobs(b, cli_member(buf_str(&b->call.answer), "jobs").text);
    } else {
        fate = lose(b);
    }
    for (size_t i = 0; i < b->slot_count; i++) {
        cli_slot_beat_over(&b->slots[i], fate);
    }
    b->one_report = b->one_report && any(b, cli_slot_has_report);
}

void cli_beat_turn(struct cli_beat *b)
{
    if (b->under_way && b->call.done) {
        b->under_way = false;
        take_answer(b);
        outgoing_wait_clear(&b->call);
    }
}
