#include "cli/top/cli_top_draw.h"

#include <stdio.h>

#include "base/attr.h"
#include "cli/top/cli_top_lists.h"

enum {
    WIDE = 140,      /* minimum width to show the workers beside the queues */
    SIDE_WIDTH = 62, /* minimum width of the workers there; a third of the screen if that is more */
    LABEL_WIDTH = 17, /* before a sparkline */
    HEAD_ROWS = 5,    /* title, totals, three sparklines */
    LINE_BYTES = 512,
};

/* The head */

/* "healthy  cluster Follower b, 3 nodes, a leads" */
static void add_cluster(struct buf *out, const struct cli_top_cluster *c)
{
    buf_printf(out, "%s  %s %s %s", c->status, c->mode, c->state, c->node);
    if (c->nodes > 1) {
        buf_printf(out, ", %zu nodes", c->nodes);
    }
    if (c->leader[0] != '\0' && strcmp(c->leader, c->node) != 0) {
        buf_printf(out, ", %s leads", c->leader);
    }
}

static void draw_title(struct cli_top_grid *g, const struct cli_top_frame *f)
{
    struct cli_top_at at = {0, 0, g->width};
    struct buf left;
    char right[LINE_BYTES] = "";
    char age[CLI_TOP_NUMBER_BYTES];
    buf_init(&left, LINE_BYTES);
    buf_printf(&left, " corvo top  %s  ", f->server);
    if (f->model->any) {
        add_cluster(&left, &f->model->now.cluster);
    }
    (void)cli_top_grid_put(g, at, CLI_TOP_BAR, buf_str(&left));
    buf_deinit(&left);
    cli_top_grid_paint(g, at, CLI_TOP_BAR);
    if (f->trouble != NULL) {
        (void)snprintf(right, sizeof right, " %s for %s ", f->refused ? "REFUSED" : "NO ANSWER",
                       cli_top_model_age(f->trouble_since, f->now, age));
    } else if (!f->still) {
        (void)snprintf(right, sizeof right, " %sopen %s ", f->ui->frozen ? "FROZEN  " : "",
                       cli_top_model_age(f->since, f->now, age));
    }
    cli_top_grid_right(g, at, CLI_TOP_BAR, str_from_z(right));
}

static void draw_totals(struct cli_top_grid *g, const struct cli_top_model *m)
{
    static const struct {
        const char *name;
        enum cli_top_style style; /* if the number is not 0 */
    } parts[CLI_TOP_STATE_COUNT] = {
        [CLI_TOP_PENDING] = {"pending", CLI_TOP_BOLD},
        [CLI_TOP_ACTIVE] = {"active", CLI_TOP_GOOD},
        [CLI_TOP_RETRYING] = {"retry", CLI_TOP_WARN},
        [CLI_TOP_SCHEDULED] = {"sched", CLI_TOP_BOLD},
        [CLI_TOP_HELD] = {"held", CLI_TOP_WARN},
        [CLI_TOP_DEAD] = {"dead", CLI_TOP_BAD},
        [CLI_TOP_COMPLETED] = {"done", CLI_TOP_BOLD},
    };
    int x = 0;
    for (int s = 0; s < CLI_TOP_STATE_COUNT; s++) {
        char number[CLI_TOP_NUMBER_BYTES];
        bool any = m->totals[s] > 0;
        x += cli_top_grid_printf(g, (struct cli_top_at){1, x, g->width - x}, CLI_TOP_FAINT, "%s ",
                                 parts[s].name);
        x += cli_top_grid_printf(g, (struct cli_top_at){1, x, g->width - x},
                                 any ? parts[s].style : CLI_TOP_FAINT, "%s",
                                 cli_top_model_number(m->any ? m->totals[s] : -1, number));
        x += 2;
    }
}

static void draw_flow(struct cli_top_grid *g, const struct cli_top_model *m, enum cli_top_flow flow)
{
    static const struct {
        const char *name;
        enum cli_top_style style;
    } parts[CLI_TOP_FLOW_COUNT] = {
        [CLI_TOP_ENQUEUED] = {"in", CLI_TOP_PLAIN},
        [CLI_TOP_DONE] = {"done", CLI_TOP_GOOD},
        [CLI_TOP_FAILED] = {"failed", CLI_TOP_BAD},
    };
    int64_t values[CLI_TOP_MINUTES];
    char number[CLI_TOP_NUMBER_BYTES];
    struct buf spark;
    int y = 2 + (int)flow;
    int room = g->width - LABEL_WIDTH;
    size_t n = m->now.minute_count;
    size_t skip = room < (int)n ? n - (size_t)(room < 0 ? 0 : room) : 0;
    for (size_t i = skip; i < n; i++) {
        values[i - skip] = m->now.minutes[i].counts[flow];
    }
    (void)cli_top_grid_printf(g, (struct cli_top_at){y, 0, LABEL_WIDTH}, CLI_TOP_PLAIN,
                              "%-6s %5s/min", parts[flow].name,
                              cli_top_model_number(cli_top_model_flow(m, flow), number));
    buf_init(&spark, LINE_BYTES);
    cli_top_model_spark(&spark, values, n - skip, g->unicode);
    (void)cli_top_grid_put(g, (struct cli_top_at){y, LABEL_WIDTH, room}, parts[flow].style,
                           buf_str(&spark));
    buf_deinit(&spark);
}

/* The write pipeline: one line on a narrow screen, three beside the sparklines on a wide one. */
static void draw_pipeline(struct cli_top_grid *g, const struct cli_top_model *m, bool wide)
{
    const struct cli_top_cluster *c = &m->now.cluster;
    char lines[3][LINE_BYTES];
    char n[6][CLI_TOP_NUMBER_BYTES];
    (void)snprintf(lines[0], sizeof lines[0], "writes %s/s  waiting %s of %s",
                   cli_top_model_number(cli_top_model_rate(&m->applied), n[0]),
                   cli_top_model_number(c->pending, n[1]),
                   cli_top_model_number(c->pending_max, n[2]));
    (void)snprintf(lines[1], sizeof lines[1], "wait p99 %s  flush+apply p50 %s p99 %s",
                   c->wait_p99[0] == '\0' ? "-" : c->wait_p99,
                   c->apply_p50[0] == '\0' ? "-" : c->apply_p50,
                   c->apply_p99[0] == '\0' ? "-" : c->apply_p99);
    (void)snprintf(lines[2], sizeof lines[2], "flushes %s/s  refused %s  fetches waiting %s",
                   cli_top_model_number(cli_top_model_rate(&m->flushes), n[3]),
                   cli_top_model_number(c->overload, n[4]), cli_top_model_number(c->waiting, n[5]));
    if (!wide) {
        (void)cli_top_grid_printf(g, (struct cli_top_at){HEAD_ROWS, 0, g->width}, CLI_TOP_PLAIN,
                                  "%s  %s", lines[0], lines[1]);
        return;
    }
    int x = LABEL_WIDTH + CLI_TOP_MINUTES + 3;
    for (int i = 0; i < 3; i++) {
        (void)cli_top_grid_put(g, (struct cli_top_at){2 + i, x, g->width - x}, CLI_TOP_PLAIN,
                               str_from_z(lines[i]));
    }
}

/* The foot */

static void draw_keys(struct cli_top_grid *g, const struct cli_top_frame *f, struct cli_top_at at)
{
    (void)cli_top_grid_printf(
        g, at, CLI_TOP_FAINT,
        "q quit  ? help  s sort: %s  / filter  P pause  Enter inspect  Tab failures",
        cli_top_input_sort_name(f->ui->sort));
}

static void draw_foot(struct cli_top_grid *g, const struct cli_top_frame *f)
{
    const struct cli_top_ui *ui = f->ui;
    struct cli_top_at at = {g->height - 1, 0, g->width};
    cli_top_grid_erase(g, at);
    switch (ui->mode) {
    case CLI_TOP_FILTER:
        (void)cli_top_grid_printf(g, at, CLI_TOP_BOLD, "Queues with: %s_", ui->typed);
        return;
    case CLI_TOP_JOB:
        (void)cli_top_grid_printf(g, at, CLI_TOP_BOLD, "Job: %s_", ui->typed);
        return;
    case CLI_TOP_CONFIRM:
        (void)cli_top_grid_printf(g, at, CLI_TOP_BOLD, "%s queue %s? [y/N]",
                                  ui->pauses ? "Pause" : "Resume", ui->target);
        return;
    case CLI_TOP_BROWSE:
    case CLI_TOP_HELP:
    case CLI_TOP_PAGE:
    default:
        break;
    }
    if (ui->message[0] != '\0') {
        (void)cli_top_grid_put(g, at, ui->message_bad ? CLI_TOP_BAD : CLI_TOP_GOOD,
                               str_from_z(ui->message));
    } else if (f->trouble != NULL) {
        (void)cli_top_grid_printf(g, at, CLI_TOP_BAD, "%s; trying again", f->trouble);
    } else {
        draw_keys(g, f, at);
    }
}

/* Overlays */

static struct cli_top_area draw_box(struct cli_top_grid *g, struct cli_top_area a, struct str title)
{
    for (int row = 0; row < a.height; row++) {
        cli_top_grid_erase(g, cli_top_grid_row(a, row, 0));
        bool edge = row == 0 || row == a.height - 1;
        for (int x = 0; x < a.width; x++) {
            bool side = x == 0 || x == a.width - 1;
            struct cli_top_at at = {a.y + row, a.x + x, 1};
            struct str mark = edge ? (side ? STR("+") : STR("-")) : side ? STR("|") : STR(" ");
            (void)cli_top_grid_put(g, at, CLI_TOP_FAINT, mark);
        }
    }
    (void)cli_top_grid_printf(g, (struct cli_top_at){a.y, a.x + 2, a.width - 4}, CLI_TOP_BOLD,
                              " " STR_FMT " ", STR_ARG(title));
    return (struct cli_top_area){a.y + 1, a.x + 2, a.width - 4, a.height - 2};
}

static void draw_help(struct cli_top_grid *g)
{
    enum { WIDTH = 66, KEY_WIDTH = 11 };
    const char *key;
    const char *text;
    int rows = 0;
    while (cli_top_input_help((size_t)rows, &key, &text)) {
        rows++;
    }
    struct cli_top_area a = {.width = g->width < WIDTH ? g->width : WIDTH,
                             .height = g->height < rows + 2 ? g->height : rows + 2};
    a.x = (g->width - a.width) / 2;
    a.y = (g->height - a.height) / 2;
    struct cli_top_area in = draw_box(g, a, STR("keys"));
    for (int i = 0; i < in.height && cli_top_input_help((size_t)i, &key, &text); i++) {
        (void)cli_top_grid_put(g, cli_top_grid_row(in, i, 0), CLI_TOP_BOLD, str_from_z(key));
        (void)cli_top_grid_put(g, cli_top_grid_row(in, i, KEY_WIDTH), CLI_TOP_PLAIN,
                               str_from_z(text));
    }
}

static struct str take_line(struct str *text)
{
    const char *end = text->len == 0 ? NULL : memchr(text->ptr, '\n', text->len);
    size_t len = end == NULL ? text->len : (size_t)(end - text->ptr);
    struct str line = str_from(text->ptr, len);
    *text = str_from_offset(*text, end == NULL ? len : len + 1);
    return line;
}

static void draw_page(struct cli_top_grid *g, const struct cli_top_ui *ui)
{
    struct str text = buf_str(&ui->page);
    struct cli_top_area a = {1, 0, g->width, g->height - 2};
    struct cli_top_area in = draw_box(g, a, take_line(&text));
    for (size_t i = 0; i < ui->page_line; i++) {
        (void)take_line(&text);
    }
    for (int row = 0; row < in.height && text.len > 0; row++) {
        (void)cli_top_grid_put(g, cli_top_grid_row(in, row, 0), CLI_TOP_PLAIN, take_line(&text));
    }
    cli_top_grid_right(g, (struct cli_top_at){a.y + a.height - 1, a.x + 2, a.width - 4},
                       CLI_TOP_FAINT,
                       text.len > 0 ? STR(" down: more, q: back ") : STR(" q: back "));
}

/* The whole */

struct layout {
    struct cli_top_area queues, workers, failures;
    bool wide;
};

/* The failures and, on a narrow screen, the workers get a quarter each, but no more than they need.
 * If the screen is too low, they are omitted. */
static struct layout lay_out(const struct cli_top_grid *g, const struct cli_top_frame *f)
{
    struct layout l = {.wide = g->width >= WIDE};
    int top = HEAD_ROWS + (l.wide ? 0 : 1);
    int rest = g->height - top - (f->still ? 0 : 1);
    int share = rest / 4;
    int failures = cli_top_lists_failures_height(f->model);
    int workers = cli_top_lists_workers_height(f->model);
    if (!f->still) {
        failures = failures < share ? failures : share;
        workers = l.wide || workers < share ? workers : share;
    }
    failures = failures < 2 ? 0 : failures;
    workers = !l.wide && workers < 2 ? 0 : workers;
    rest -= failures;
    l.failures = (struct cli_top_area){top + rest, 0, g->width, failures};
    if (l.wide) {
        int side = g->width / 3 > SIDE_WIDTH ? g->width / 3 : SIDE_WIDTH;
        int width = g->width - side - 2;
        l.queues = (struct cli_top_area){top, 0, width, rest};
        l.workers = (struct cli_top_area){top, width + 2, side, rest};
    } else {
        l.queues = (struct cli_top_area){top, 0, g->width, rest - workers};
        l.workers = (struct cli_top_area){top + rest - workers, 0, g->width, workers};
    }
    return l;
}

int cli_top_draw_height(const struct cli_top_model *m, int width)
{
    int workers = cli_top_lists_workers_height(m);
    int queues = cli_top_lists_queues_height(m);
    int middle = width < WIDE ? 1 + workers + queues : workers > queues ? workers : queues;
    return HEAD_ROWS + middle + cli_top_lists_failures_height(m);
}

void cli_top_draw(struct cli_top_grid *g, const struct cli_top_frame *f)
{
    struct layout l = lay_out(g, f);
    draw_title(g, f);
    draw_totals(g, f->model);
    for (int flow = 0; flow < CLI_TOP_FLOW_COUNT; flow++) {
        draw_flow(g, f->model, (enum cli_top_flow)flow);
    }
    draw_pipeline(g, f->model, l.wide);
    cli_top_lists_queues(g, l.queues, f);
    cli_top_lists_workers(g, l.workers, f);
    cli_top_lists_failures(g, l.failures, f);
    if (f->ui->mode == CLI_TOP_HELP) {
        draw_help(g);
    } else if (f->ui->mode == CLI_TOP_PAGE) {
        draw_page(g, f->ui);
    }
    if (!f->still) {
        draw_foot(g, f);
    }
}
