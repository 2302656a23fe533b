/*
 * corvo top: shows live what the server is doing.
 *
 * cli_top_feed.c makes the requests, cli_top_model.c computes the data, cli_top_input.c handles
 * keys, cli_top_draw.c draws, and cli_top_screen.c controls the terminal. This file combines them
 * in two ways: as a loop, and for a single snapshot (--once).
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_int.h"
#include "cli/top/cli_top_draw.h"
#include "cli/top/cli_top_feed.h"
#include "cli/top/cli_top_screen.h"
#include "os/os_clock.h"
#include "os/os_signal.h"

enum {
    INTERVAL_MS_MIN = 100,
    INTERVAL_MS_MAX = 24 * 3600 * 1000,
    TICK_MS = 1000,      /* ages are shown in seconds */
    DRAW_PAUSE_MS = 50,  /* events may arrive faster than a screen needs to be drawn */
    EMPTY_READS_MAX = 3, /* reads without a key although the input is readable */
    ONCE_WIDTH = 110,    /* without a terminal */
    ONCE_FAILURES = 5,
    TEXT_BYTES_MAX = 16 << 20,
};

struct top {
    struct cli *cli;
    struct cli_top_model model;
    struct cli_top_ui ui;
    struct cli_top_grid grid;
    struct cli_top_feed feed;
    struct cli_top_screen *screen;
    const char *server;
    bool unicode;
    struct wall since;
    struct wall frozen_at;
    struct mono drawn;
    unsigned empty_reads;
    bool lost; /* the terminal has gone */
    bool over;
    int code;
};

static struct top *top_new(struct cli *cli)
{
    struct top *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    t->cli = cli;
    t->since = os_clock_wall();
    t->server = arena_strz(cli->arena, cli_url_shown(cli, cli_text(cli, "server")));
    CHECK(t->server != NULL);
    t->unicode = cli_top_screen_unicode(cli->environment) && !cli_bool(cli, "ascii");
    cli_top_model_init(&t->model);
    cli_top_input_init(&t->ui, cli_text(cli, "queue"));
    return t;
}

static void top_free(struct top *t)
{
    cli_top_grid_deinit(&t->grid);
    cli_top_input_deinit(&t->ui);
    cli_top_model_deinit(&t->model);
    free(t);
}

/* Once */

/* Return the newest dead jobs. Empty if the search fails; the snapshot is then shown without
 * them. */
static struct str search_dead(struct cli *cli)
{
    struct cli_answer answer;
    struct str body = CLI_OBJECT(
        cli, CLI_SET_RAW("state", STR("[\"dead\"]")), CLI_SET_TEXT("sort", STR("failed_at")),
        CLI_SET_TEXT("order", STR("desc")), CLI_SET_INT("limit", ONCE_FAILURES));
    const char *url = CLI_URL(cli, "/jobs/search", STR_EMPTY);
    bool well = cli_ask(cli, "POST", url, body, &answer) == CLI_OK && answer.status < 400;
    return well ? cli_member(answer.body, "jobs").text : STR_EMPTY;
}

static void print_json(struct cli *cli, const struct str *documents, struct str dead)
{
    cli_print_json(
        cli, CLI_OBJECT(cli, CLI_SET_RAW("cluster", str_trim(documents[CLI_TOP_DOC_CLUSTER])),
                        CLI_SET_RAW("queues", str_trim(documents[CLI_TOP_DOC_QUEUES])),
                        CLI_SET_RAW("workers", str_trim(documents[CLI_TOP_DOC_WORKERS])),
                        CLI_SET_RAW("throughput", str_trim(documents[CLI_TOP_DOC_THROUGHPUT])),
                        CLI_SET_RAW("recent_dead", dead.len > 0 ? dead : STR("[]"))));
}

static void print_text(struct top *t, const struct str *documents, struct str dead)
{
    struct cli *cli = t->cli;
    struct cli_top_sample sample;
    struct str *jobs = NULL;
    struct buf text;
    int width = ONCE_WIDTH;
    int height = 0;
    cli_top_read_sample(cli, documents, &sample);
    cli_top_model_take(&t->model, &sample, os_clock_mono());
    for (size_t i = cli_elements(cli, dead, &jobs); i > 0; i--) {
        struct cli_top_failure failure;
        cli_top_read_dead(cli, jobs[i - 1], &failure);
        cli_top_model_fail(&t->model, &failure);
    }
    cli_top_input_settle(&t->ui, &t->model);
    cli_top_screen_size(&width, &height);
    cli_top_grid_init(&t->grid, width, cli_top_draw_height(&t->model, width), t->unicode);
    struct cli_top_frame frame = {.model = &t->model,
                                  .ui = &t->ui,
                                  .server = t->server,
                                  .no_events =
                                      dead.len > 0 ? NULL : "the server has no search index",
                                  .now = os_clock_wall(),
                                  .still = true};
    cli_top_draw(&t->grid, &frame);
    buf_init(&text, TEXT_BYTES_MAX);
    cli_top_grid_text(&t->grid, &text);
    (void)fwrite(text.ptr, 1, text.len, cli->out);
    buf_deinit(&text);
}

static int run_once(struct top *t)
{
    struct cli *cli = t->cli;
    struct str documents[CLI_TOP_DOC_COUNT];
    for (int d = 0; d < CLI_TOP_DOC_COUNT; d++) {
        struct cli_answer answer;
        const char *url = CLI_URL(cli, cli_top_feed_path((enum cli_top_document)d), STR_EMPTY);
        int code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
        if (code != CLI_OK) {
            return code;
        }
        documents[d] = answer.body;
    }
    struct str dead = search_dead(cli);
    if (cli_is_json(cli)) {
        print_json(cli, documents, dead);
    } else {
        print_text(t, documents, dead);
    }
    return CLI_OK;
}

/* Live */

static void draw(struct top *t, struct mono now)
{
    struct cli_top_frame frame = {
        .model = &t->model,
        .ui = &t->ui,
        .server = t->server,
        .trouble = t->feed.trouble[0] != '\0' ? t->feed.trouble : NULL,
        .refused = t->feed.refused,
        .no_events = t->feed.no_events[0] != '\0' ? t->feed.no_events : NULL,
        .trouble_since = t->feed.trouble_since,
        .since = t->since,
        .now = t->ui.frozen ? t->frozen_at : os_clock_wall(),
    };
    cli_top_grid_init(&t->grid, t->grid.width, t->grid.height, t->unicode);
    cli_top_draw(&t->grid, &frame);
    cli_top_screen_show(t->screen, &t->grid);
    t->feed.changed = false;
    t->drawn = now;
}

static void read_signals(struct top *t)
{
    for (int number = 0; (number = os_signal_read(t->cli->signal_fd)) != 0;) {
        if (number == SIGWINCH) {
            cli_top_screen_fit(t->screen, &t->grid, t->unicode);
        } else {
            t->cli->signal = number;
            t->code = cli_interrupted(t->cli);
            t->over = true;
        }
    }
}

static void read_keys(struct top *t)
{
    int key = cli_top_screen_key(t->screen);
    /* After a terminal has disconnected, its input is always readable. */
    t->empty_reads = key == CLI_TOP_KEY_NONE ? t->empty_reads + 1 : 0;
    t->lost = t->empty_reads >= EMPTY_READS_MAX;
    t->over = t->over || t->lost;
    for (; key != CLI_TOP_KEY_NONE && !t->over; key = cli_top_screen_key(t->screen)) {
        enum cli_top_action action = cli_top_input_key(&t->ui, &t->model, key);
        if (!t->ui.frozen) {
            t->frozen_at = os_clock_wall();
        }
        t->over = action == CLI_TOP_QUIT;
        cli_top_feed_do(&t->feed, action);
    }
}

/* The time until a request is due or the screen must be drawn. */
static int pause_ms(const struct top *t, struct mono now)
{
    int64_t since_ms = (now.ns - t->drawn.ns) / NS_PER_MS;
    int64_t idle_ms = cli_top_feed_idle_ms(&t->feed, now);
    int64_t draw_ms = (t->feed.changed ? DRAW_PAUSE_MS : TICK_MS) - since_ms;
    int64_t ms = idle_ms < draw_ms ? idle_ms : draw_ms;
    return ms < 0 ? 0 : (int)ms;
}

static void turn(struct top *t)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = t->cli->signal_fd, .events = POLLIN}};
    size_t count = t->cli->signal_fd >= 0 ? COUNT_OF(fds) : 1;
    outgoing_wait_turn(t->cli->http, fds, count, pause_ms(t, os_clock_mono()));
    if (fds[1].revents != 0) {
        read_signals(t);
    }
    if (fds[0].revents != 0 && !t->over) {
        read_keys(t);
    }
    struct mono now = os_clock_mono();
    cli_top_feed_step(&t->feed, now, os_clock_wall());
    int64_t since_ms = (now.ns - t->drawn.ns) / NS_PER_MS;
    bool due = since_ms >= (t->feed.changed ? DRAW_PAUSE_MS : TICK_MS);
    if (!t->over && (due || fds[0].revents != 0 || fds[1].revents != 0)) {
        draw(t, now);
    }
}

static int run_live(struct top *t)
{
    struct cli *cli = t->cli;
    struct err err;
    (void)close(cli->signal_fd);
    cli->signal_fd = os_signal_open(OS_SIGNAL_WINDOW);
    if (cli_top_screen_open(cli->color, &t->screen, &err) != ERR_OK) {
        return cli_fail(cli, "%s", err.msg);
    }
    cli_top_feed_init(&t->feed, cli, &t->model, &t->ui, cli_int(cli, "interval"));
    cli_top_screen_fit(t->screen, &t->grid, t->unicode);
    cli_top_feed_step(&t->feed, os_clock_mono(), os_clock_wall());
    while (!t->over) {
        turn(t);
    }
    cli_top_feed_deinit(&t->feed);
    cli_top_screen_close(t->screen);
    return t->lost ? cli_fail(cli, "the terminal was closed") : t->code;
}

static int run_top(struct cli *cli)
{
    int64_t interval_ms = cli_int(cli, "interval");
    if (interval_ms < INTERVAL_MS_MIN || interval_ms > INTERVAL_MS_MAX) {
        return cli_fail(cli, "--interval must be between 100ms and 24h");
    }
    struct top *t = top_new(cli);
    bool live =
        cli->out_is_terminal && cli->in_is_terminal && !cli_bool(cli, "once") && !cli_is_json(cli);
    int code = live ? run_live(t) : run_once(t);
    top_free(t);
    return code;
}

/* clang-format off */
static const struct cli_flag flags[] = {
    CLI_FLAG("interval", CLI_DURATION, "DURATION", "2s", "refresh interval"),
    CLI_FLAG("once", CLI_BOOL, NULL, "false", "print once and exit; the default without a terminal"),
    CLI_FLAG("queue", CLI_TEXT, "TEXT", NULL, "only queues whose name contains this text", .options = CLI_NOT_EMPTY),
    CLI_FLAG("ascii", CLI_BOOL, NULL, "false", "draw with plain characters only"),
};

static const struct cli_command commands[] = {
    {.name = "top", .args = "", .summary = "Watch queues, workers and failures on the terminal",
     .about = "Keys: s sorts, / filters, Enter inspects a queue or a failed job, P pauses or resumes a\n"
              "queue, p freezes the display, ? shows help, q quits. Rates are per minute, over the last five samples.",
     .examples = "corvo top --interval 500ms\ncorvo top --once --output json | jq '.queues[] | select(.dead > 0)'",
     CLI_FLAGS(flags), .run = run_top},
};
/* clang-format on */

const struct cli_family cli_top_family = {"Watching", commands, COUNT_OF(commands)};
