#include "cli/top/cli_top_lists.h"

#include <stdio.h>

#include "base/attr.h"

enum { MARGIN = 1, GAP = 1, NAME_WIDTH_MIN = 12, LINE_BYTES = 512, ROWS_MAX = 10000 };

static int rows_of(size_t count)
{
    return count < ROWS_MAX ? (int)count : ROWS_MAX;
}

/* The first row to show, so that row `at` is among the `room` visible ones. */
static size_t first_row(size_t at, size_t count, int room)
{
    return room <= 0 || at >= count || at < (size_t)room ? 0 : at - (size_t)room + 1;
}

/* Draw a heading over the whole width. */
static void draw_head(struct cli_top_grid *g, struct cli_top_area a, const char *text)
{
    struct cli_top_at at = cli_top_grid_row(a, 0, 0);
    (void)cli_top_grid_put(g, (struct cli_top_at){at.y, at.x + MARGIN, at.width - MARGIN},
                           CLI_TOP_HEAD, str_from_z(text));
    cli_top_grid_paint(g, at, CLI_TOP_HEAD);
}

static void draw_selection(struct cli_top_grid *g, struct cli_top_area a, int row)
{
    (void)cli_top_grid_put(g, cli_top_grid_row(a, row, 0), CLI_TOP_BAR, STR(">"));
    cli_top_grid_paint(g, cli_top_grid_row(a, row, 0), CLI_TOP_BAR);
}

/* Queues */

enum cell {
    CELL_STATE,
    CELL_OLDEST,
    CELL_IN,
    CELL_OUT,
    CELL_FAILED,
    CELL_TREND,
    CELL_COUNT, /* of jobs in .state */
};

/* clang-format off */
/* A column is shown if the list is at least `from` wide. */
static const struct {
    const char *head;
    int width;
    int from;
    enum cell cell;
    enum cli_top_state state;
    enum cli_top_sort sort; /* the order whose key this column is; BY_NAME: none */
    enum cli_top_style any; /* for numbers above 0 */
} columns[] = {
    {"STATE",        6,  60, CELL_STATE,  0,                   CLI_TOP_BY_NAME,    CLI_TOP_WARN},
    {"PENDING",      8,   0, CELL_COUNT,  CLI_TOP_PENDING,     CLI_TOP_BY_PENDING, CLI_TOP_PLAIN},
    {"ACTIVE",       7,   0, CELL_COUNT,  CLI_TOP_ACTIVE,      CLI_TOP_BY_ACTIVE,  CLI_TOP_GOOD},
    {"RETRY",        5,  50, CELL_COUNT,  CLI_TOP_RETRYING,    CLI_TOP_BY_NAME,    CLI_TOP_WARN},
    {"SCHED",        5, 100, CELL_COUNT,  CLI_TOP_SCHEDULED,   CLI_TOP_BY_NAME,    CLI_TOP_PLAIN},
    {"HELD",         5,  90, CELL_COUNT,  CLI_TOP_HELD,        CLI_TOP_BY_NAME,    CLI_TOP_WARN},
    {"DEAD",         5,   0, CELL_COUNT,  CLI_TOP_DEAD,        CLI_TOP_BY_DEAD,    CLI_TOP_BAD},
    {"DONE",         5, 100, CELL_COUNT,  CLI_TOP_COMPLETED,   CLI_TOP_BY_NAME,    CLI_TOP_PLAIN},
    {"FAILS",        5, 110, CELL_FAILED, 0,                   CLI_TOP_BY_NAME,    CLI_TOP_PLAIN},
    {"IN/MIN",       6,  70, CELL_IN,     0,                   CLI_TOP_BY_NAME,    CLI_TOP_PLAIN},
    {"OUT/MIN",      8,  50, CELL_OUT,    0,                   CLI_TOP_BY_RATE,    CLI_TOP_PLAIN},
    {"OLDEST",       6,  70, CELL_OLDEST, 0,                   CLI_TOP_BY_NAME,    CLI_TOP_PLAIN},
    {"OUT, LATELY", 20, 120, CELL_TREND,  0,                   CLI_TOP_BY_NAME,    CLI_TOP_GOOD},
};
/* clang-format on */

static int name_width(int width)
{
    int left = width - MARGIN;
    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        left -= columns[i].from <= width ? GAP + columns[i].width : 0;
    }
    return left < NAME_WIDTH_MIN ? NAME_WIDTH_MIN : left;
}

static void draw_trend(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                       const struct cli_top_trend *t)
{
    struct buf spark;
    size_t skip = t->count > (size_t)at.width ? t->count - (size_t)at.width : 0;
    buf_init(&spark, LINE_BYTES);
    cli_top_model_spark(&spark, t->values + skip, t->count - skip, g->unicode);
    cli_top_grid_right(g, at, style, buf_str(&spark));
    buf_deinit(&spark);
}

static int64_t number_of(const struct cli_top_queue *q, size_t column)
{
    switch (columns[column].cell) {
    case CELL_IN:
        return cli_top_model_rate(&q->in);
    case CELL_OUT:
        return cli_top_model_rate(&q->out);
    case CELL_FAILED:
        return q->failed;
    case CELL_STATE:
        return q->paused ? 1 : 0;
    case CELL_COUNT:
    case CELL_OLDEST:
    case CELL_TREND:
    default:
        return q->counts[columns[column].state];
    }
}

static void draw_cell(struct cli_top_grid *g, struct cli_top_at at, size_t column,
                      const struct cli_top_queue *q, struct wall now)
{
    char text[CLI_TOP_NUMBER_BYTES];
    int64_t n = number_of(q, column);
    enum cli_top_style style = n > 0 ? columns[column].any : CLI_TOP_PLAIN;
    const char *shown;
    switch (columns[column].cell) {
    case CELL_STATE:
        shown = q->paused ? "paused" : "";
        break;
    case CELL_OLDEST:
        shown = cli_top_model_age(q->oldest, now, text);
        break;
    case CELL_TREND:
        draw_trend(g, at, columns[column].any, &q->out);
        return;
    case CELL_IN:
    case CELL_OUT:
    case CELL_FAILED:
    case CELL_COUNT:
    default:
        shown = cli_top_model_number(n, text);
        break;
    }
    cli_top_grid_right(g, at, style, str_from_z(shown));
}

/* Draw one row: a queue, or the headings if q is NULL. */
static void draw_queue(struct cli_top_grid *g, struct cli_top_area a, int row,
                       const struct cli_top_queue *q, const struct cli_top_frame *f)
{
    int x = MARGIN + name_width(a.width);
    if (q != NULL) {
        struct cli_top_at at = cli_top_grid_row(a, row, MARGIN);
        at.width = at.width < x - MARGIN ? at.width : x - MARGIN;
        (void)cli_top_grid_put(g, at, CLI_TOP_PLAIN, str_from_z(q->name));
    }
    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        if (columns[i].from > a.width) {
            continue;
        }
        struct cli_top_at at = cli_top_grid_row(a, row, x + GAP);
        at.width = at.width < columns[i].width ? at.width : columns[i].width;
        if (q != NULL) {
            draw_cell(g, at, i, q, f->now);
        } else {
            bool key = columns[i].sort != CLI_TOP_BY_NAME && columns[i].sort == f->ui->sort;
            char head[CLI_TOP_WORD_BYTES];
            (void)snprintf(head, sizeof head, "%s%s", key ? "*" : "", columns[i].head);
            cli_top_grid_right(g, at, CLI_TOP_HEAD, str_from_z(head));
        }
        x += GAP + columns[i].width;
    }
}

static void draw_queues_head(struct cli_top_grid *g, struct cli_top_area a,
                             const struct cli_top_frame *f)
{
    const struct cli_top_model *m = f->model;
    char text[LINE_BYTES];
    bool all = f->ui->filter[0] == '\0';
    if (all) {
        (void)snprintf(text, sizeof text, "QUEUES %zu", m->now.queue_count);
    } else {
        (void)snprintf(text, sizeof text, "QUEUES %zu/%zu \"%s\"", m->shown_count,
                       m->now.queue_count, f->ui->filter);
    }
    struct cli_top_area name = {a.y, a.x, MARGIN + name_width(a.width), a.height};
    draw_head(g, a, "");
    draw_head(g, name, text);
    draw_queue(g, a, 0, NULL, f);
}

void cli_top_lists_queues(struct cli_top_grid *g, struct cli_top_area a,
                          const struct cli_top_frame *f)
{
    const struct cli_top_model *m = f->model;
    size_t selected = cli_top_model_find(m, f->ui->queue);
    size_t first = f->still ? 0 : first_row(selected, m->shown_count, a.height - 1);
    if (a.height <= 0) {
        return;
    }
    draw_queues_head(g, a, f);
    if (m->shown_count == 0) {
        (void)cli_top_grid_put(g, cli_top_grid_row(a, 1, MARGIN), CLI_TOP_FAINT,
                               !m->any              ? STR("no answer yet")
                               : m->now.queue_count ? STR("no queue name contains this text")
                                                    : STR("no queues"));
    }
    for (int row = 1; row < a.height && first + (size_t)row <= m->shown_count; row++) {
        size_t i = first + (size_t)row - 1;
        draw_queue(g, a, row, m->shown[i], f);
        if (!f->still && i == selected && f->ui->pane == CLI_TOP_QUEUES) {
            draw_selection(g, a, row);
        }
    }
}

/* Workers */

static enum cli_top_style health_style(const char *health)
{
    return health[0] == 'h' ? CLI_TOP_GOOD : health[0] == 's' ? CLI_TOP_WARN : CLI_TOP_BAD;
}

static void draw_worker(struct cli_top_grid *g, struct cli_top_at at,
                        const struct cli_top_worker *w, struct wall now)
{
    enum { HEALTH_WIDTH = 8, ID_WIDTH = 20 };
    char age[CLI_TOP_NUMBER_BYTES];
    char number[CLI_TOP_NUMBER_BYTES];
    const char *health = cli_top_model_health(w, now);
    (void)cli_top_grid_put(g, (struct cli_top_at){at.y, at.x, HEALTH_WIDTH}, health_style(health),
                           str_from_z(health));
    at.x += HEALTH_WIDTH;
    at.width -= HEALTH_WIDTH;
    (void)cli_top_grid_put(g, (struct cli_top_at){at.y, at.x, ID_WIDTH}, CLI_TOP_PLAIN,
                           str_from_z(w->id));
    at.x += ID_WIDTH + GAP;
    at.width -= ID_WIDTH + GAP;
    (void)cli_top_grid_printf(g, at, CLI_TOP_PLAIN, "%4s  %4s  %s%s%s",
                              cli_top_model_number(w->active, number),
                              cli_top_model_age(w->heartbeat, now, age), w->host,
                              w->host[0] == '\0' ? "" : "  ", w->queues);
}

void cli_top_lists_workers(struct cli_top_grid *g, struct cli_top_area a,
                           const struct cli_top_frame *f)
{
    const struct cli_top_sample *s = &f->model->now;
    char text[LINE_BYTES];
    if (a.height <= 0) {
        return;
    }
    (void)snprintf(text, sizeof text, "%-27s %5s  %4s  HOST, QUEUES", "WORKERS", "JOBS", "SEEN");
    draw_head(g, a, text);
    (void)cli_top_grid_printf(g, cli_top_grid_row(a, 0, MARGIN + 8), CLI_TOP_HEAD, "%zu",
                              s->worker_count);
    if (s->worker_count == 0) {
        (void)cli_top_grid_put(g, cli_top_grid_row(a, 1, MARGIN), CLI_TOP_FAINT, STR("no workers"));
    }
    for (int row = 1; row < a.height && (size_t)row <= s->worker_count; row++) {
        bool more = row == a.height - 1 && (size_t)row < s->worker_count;
        if (more) {
            (void)cli_top_grid_printf(g, cli_top_grid_row(a, row, MARGIN), CLI_TOP_FAINT,
                                      "and %zu more", s->worker_count - (size_t)row + 1);
        } else {
            draw_worker(g, cli_top_grid_row(a, row, MARGIN), &s->workers[row - 1], f->now);
        }
    }
}

/* Failures */

static void draw_failure(struct cli_top_grid *g, struct cli_top_at at,
                         const struct cli_top_failure *e, struct wall now)
{
    enum { AGE_WIDTH = 5, WORD_WIDTH = 7, QUEUE_WIDTH = 18, JOB_WIDTH = 30, JOB_FROM = 110 };
    char age[CLI_TOP_NUMBER_BYTES];
    bool with_job = at.width >= JOB_FROM;
    cli_top_grid_right(g, (struct cli_top_at){at.y, at.x, AGE_WIDTH - GAP}, CLI_TOP_PLAIN,
                       str_from_z(cli_top_model_age(e->at, now, age)));
    at.x += AGE_WIDTH;
    at.width -= AGE_WIDTH;
    (void)cli_top_grid_put(g, (struct cli_top_at){at.y, at.x, WORD_WIDTH - GAP},
                           e->dead ? CLI_TOP_BAD : CLI_TOP_WARN,
                           e->dead ? STR("dead") : STR("failed"));
    at.x += WORD_WIDTH;
    at.width -= WORD_WIDTH;
    (void)cli_top_grid_put(g, (struct cli_top_at){at.y, at.x, QUEUE_WIDTH - GAP}, CLI_TOP_PLAIN,
                           str_from_z(e->queue));
    at.x += QUEUE_WIDTH;
    at.width -= QUEUE_WIDTH;
    if (with_job) {
        (void)cli_top_grid_put(g, (struct cli_top_at){at.y, at.x, JOB_WIDTH}, CLI_TOP_PLAIN,
                               str_from_z(e->job));
        at.x += JOB_WIDTH + GAP;
        at.width -= JOB_WIDTH + GAP;
    }
    if (e->attempt > 0) { /* a job may become dead without an attempt */
        (void)cli_top_grid_printf(g, at, CLI_TOP_PLAIN, "attempt %lld  %s", (long long)e->attempt,
                                  e->error);
    }
}

void cli_top_lists_failures(struct cli_top_grid *g, struct cli_top_area a,
                            const struct cli_top_frame *f)
{
    const struct cli_top_model *m = f->model;
    size_t selected = cli_top_input_failure(f->ui, m);
    bool here = !f->still && f->ui->pane == CLI_TOP_FAILURES;
    size_t first = here ? first_row(selected, m->failure_count, a.height - 1) : 0;
    if (a.height <= 0) {
        return;
    }
    draw_head(g, a, "LAST FAILURES");
    if (m->failure_count == 0) {
        (void)cli_top_grid_put(g, cli_top_grid_row(a, 1, MARGIN), CLI_TOP_FAINT,
                               f->no_events != NULL ? str_from_z(f->no_events) : STR("none"));
    }
    for (int row = 1; row < a.height && first + (size_t)row <= m->failure_count; row++) {
        size_t i = first + (size_t)row - 1;
        draw_failure(g, cli_top_grid_row(a, row, MARGIN), &m->failures[i], f->now);
        if (here && i == selected) {
            draw_selection(g, a, row);
        }
    }
}

int cli_top_lists_queues_height(const struct cli_top_model *m)
{
    return 1 + (m->shown_count == 0 ? 1 : rows_of(m->shown_count));
}

int cli_top_lists_workers_height(const struct cli_top_model *m)
{
    return 1 + (m->now.worker_count == 0 ? 1 : rows_of(m->now.worker_count));
}

int cli_top_lists_failures_height(const struct cli_top_model *m)
{
    return 1 + (m->failure_count == 0 ? 1 : rows_of(m->failure_count));
}
