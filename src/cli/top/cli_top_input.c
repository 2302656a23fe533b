#include "cli/top/cli_top_input.h"

#include "base/attr.h"

enum { PAGE_BYTES_MAX = 8 << 20, PAGE_STEP = 10 };

void cli_top_input_init(struct cli_top_ui *ui, struct str filter)
{
    *ui = (struct cli_top_ui){.sort = CLI_TOP_BY_NAME};
    cli_top_model_text(ui->filter, sizeof ui->filter, filter);
    buf_init(&ui->page, PAGE_BYTES_MAX);
}

void cli_top_input_deinit(struct cli_top_ui *ui)
{
    buf_deinit(&ui->page);
}

void cli_top_input_settle(struct cli_top_ui *ui, struct cli_top_model *m)
{
    cli_top_model_arrange(m, ui->sort, str_from_z(ui->filter));
    if (m->shown_count > 0 && cli_top_model_find(m, ui->queue) == m->shown_count) {
        cli_top_model_text(ui->queue, sizeof ui->queue, str_from_z(m->shown[0]->name));
    }
    if (m->failure_count == 0) {
        ui->pane = CLI_TOP_QUEUES;
    }
}

size_t cli_top_input_failure(const struct cli_top_ui *ui, const struct cli_top_model *m)
{
    for (size_t i = 0; i < m->failure_count; i++) {
        if (m->failures[i].seq == ui->failure) {
            return i;
        }
    }
    return 0;
}

void cli_top_input_page(struct cli_top_ui *ui, struct str text)
{
    buf_clear(&ui->page);
    buf_add_str(&ui->page, text);
    ui->page_line = 0;
    ui->mode = CLI_TOP_PAGE;
}

const char *cli_top_input_sort_name(enum cli_top_sort sort)
{
    static const char *const names[CLI_TOP_SORT_COUNT] = {
        [CLI_TOP_BY_NAME] = "name",     [CLI_TOP_BY_PENDING] = "pending",
        [CLI_TOP_BY_ACTIVE] = "active", [CLI_TOP_BY_DEAD] = "dead",
        [CLI_TOP_BY_RATE] = "rate",
    };
    return names[sort];
}

/* The position after a move from `at` among count items. */
static size_t moved(size_t at, size_t count, int key)
{
    size_t last = count == 0 ? 0 : count - 1;
    at = at > last ? last : at;
    switch (key) {
    case CLI_TOP_KEY_UP:
        return at > 0 ? at - 1 : 0;
    case CLI_TOP_KEY_DOWN:
        return at < last ? at + 1 : last;
    case CLI_TOP_KEY_PAGE_UP:
        return at > PAGE_STEP ? at - PAGE_STEP : 0;
    case CLI_TOP_KEY_PAGE_DOWN:
        return last - at > PAGE_STEP ? at + PAGE_STEP : last;
    case CLI_TOP_KEY_HOME:
        return 0;
    case CLI_TOP_KEY_END:
    default:
        return last;
    }
}

/* Keys while browsing */

static enum cli_top_action quit(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)ui, (void)m, (void)key;
    return CLI_TOP_QUIT;
}

static enum cli_top_action help(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)m, (void)key;
    ui->mode = CLI_TOP_HELP;
    return CLI_TOP_NOTHING;
}

static enum cli_top_action freeze(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)m, (void)key;
    ui->frozen = !ui->frozen;
    return ui->frozen ? CLI_TOP_NOTHING : CLI_TOP_REFRESH;
}

static enum cli_top_action refresh(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)ui, (void)m, (void)key;
    return CLI_TOP_REFRESH;
}

static enum cli_top_action sort(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)key;
    ui->sort = (enum cli_top_sort)((ui->sort + 1) % CLI_TOP_SORT_COUNT);
    cli_top_input_settle(ui, m);
    return CLI_TOP_NOTHING;
}

static enum cli_top_action filter(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)m, (void)key;
    ui->mode = CLI_TOP_FILTER;
    cli_top_model_text(ui->typed, sizeof ui->typed, str_from_z(ui->filter));
    return CLI_TOP_NOTHING;
}

static enum cli_top_action unfilter(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)key;
    ui->filter[0] = '\0';
    cli_top_input_settle(ui, m);
    return CLI_TOP_NOTHING;
}

static enum cli_top_action ask_job(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)m, (void)key;
    ui->mode = CLI_TOP_JOB;
    ui->typed[0] = '\0';
    return CLI_TOP_NOTHING;
}

static enum cli_top_action move(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    if (ui->pane == CLI_TOP_FAILURES && m->failure_count > 0) {
        size_t to = moved(cli_top_input_failure(ui, m), m->failure_count, key);
        ui->failure = m->failures[to].seq;
    } else if (m->shown_count > 0) {
        size_t to = moved(cli_top_model_find(m, ui->queue), m->shown_count, key);
        cli_top_model_text(ui->queue, sizeof ui->queue, str_from_z(m->shown[to]->name));
    }
    return CLI_TOP_NOTHING;
}

static enum cli_top_action change_pane(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)key;
    bool to_failures = ui->pane == CLI_TOP_QUEUES && m->failure_count > 0;
    ui->pane = to_failures ? CLI_TOP_FAILURES : CLI_TOP_QUEUES;
    if (to_failures) {
        ui->failure = m->failures[cli_top_input_failure(ui, m)].seq;
    }
    return CLI_TOP_NOTHING;
}

static enum cli_top_action ask_switch(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)key;
    bool of_failure = ui->pane == CLI_TOP_FAILURES && m->failure_count > 0;
    const char *name = of_failure ? m->failures[cli_top_input_failure(ui, m)].queue : ui->queue;
    if (!of_failure && cli_top_model_find(m, name) == m->shown_count) {
        return CLI_TOP_NOTHING; /* the user cannot see the queue */
    }
    for (size_t i = 0; i < m->now.queue_count; i++) {
        if (strcmp(m->now.queues[i].name, name) == 0) {
            ui->pauses = !m->now.queues[i].paused;
            cli_top_model_text(ui->target, sizeof ui->target, str_from_z(name));
            ui->mode = CLI_TOP_CONFIRM;
        }
    }
    return CLI_TOP_NOTHING;
}

static enum cli_top_action inspect(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    (void)key;
    size_t at = cli_top_model_find(m, ui->queue);
    if (ui->pane == CLI_TOP_FAILURES && m->failure_count > 0) {
        const struct cli_top_failure *f = &m->failures[cli_top_input_failure(ui, m)];
        cli_top_model_text(ui->target, sizeof ui->target, str_from_z(f->job));
        return CLI_TOP_SHOW_JOB;
    }
    if (at == m->shown_count) {
        return CLI_TOP_NOTHING;
    }
    cli_top_model_text(ui->target, sizeof ui->target, str_from_z(ui->queue));
    return CLI_TOP_SHOW_QUEUE;
}

/* clang-format off */
/* Several keys may have the same function. Keys without a text are not in the help. */
static const struct {
    int key;
    const char *shown;
    const char *text;
    enum cli_top_action (*run)(struct cli_top_ui *ui, struct cli_top_model *m, int key);
} bindings[] = {
    {CLI_TOP_KEY_UP,        "up, down",  "select; also k and j, PgUp, PgDn, Home, End", move},
    {CLI_TOP_KEY_DOWN,      NULL, NULL, move},
    {CLI_TOP_KEY_PAGE_UP,   NULL, NULL, move},
    {CLI_TOP_KEY_PAGE_DOWN, NULL, NULL, move},
    {CLI_TOP_KEY_HOME,      NULL, NULL, move},
    {CLI_TOP_KEY_END,       NULL, NULL, move},
    {'\t',                  "Tab",       "switch to the failures, and back to the queues", change_pane},
    {CLI_TOP_KEY_ENTER,     "Enter",     "show details of the selected queue or job", inspect},
    {'i',                   "i",         "show a job by id", ask_job},
    {'s',                   "s",         "sort by name, pending, active, dead, rate", sort},
    {'/',                   "/",         "filter queues by name", filter},
    {CLI_TOP_KEY_ESCAPE,    "Esc",       "show all queues", unfilter},
    {'P',                   "P",         "pause or resume the selected queue; asks first", ask_switch},
    {'p',                   "p",         "freeze or resume the display", freeze},
    {'r',                   "r",         "refresh now", refresh},
    {'?',                   "?",         "show this help", help},
    {'h',                   NULL, NULL, help},
    {'q',                   "q, Ctrl-C", "quit", quit},
};
/* clang-format on */

bool cli_top_input_help(size_t index, const char **out_key, const char **out_text)
{
    for (size_t i = 0; i < COUNT_OF(bindings); i++) {
        if (bindings[i].shown != NULL && index-- == 0) {
            *out_key = bindings[i].shown;
            *out_text = bindings[i].text;
            return true;
        }
    }
    return false;
}

static enum cli_top_action browse(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    key = key == 'k' ? CLI_TOP_KEY_UP : key == 'j' ? CLI_TOP_KEY_DOWN : key;
    ui->message[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(bindings); i++) {
        if (bindings[i].key == key) {
            return bindings[i].run(ui, m, key);
        }
    }
    return CLI_TOP_NOTHING;
}

/* The other modes */

static bool type(char *text, size_t size, int key)
{
    size_t len = strlen(text);
    if (key == CLI_TOP_KEY_BACKSPACE && len > 0) {
        text[len - 1] = '\0';
    } else if (key > ' ' && key < 127 && len + 1 < size) {
        text[len] = (char)key;
        text[len + 1] = '\0';
    } else {
        return false;
    }
    return true;
}

static enum cli_top_action edit_filter(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    bool escaped = key == CLI_TOP_KEY_ESCAPE;
    if (escaped || key == CLI_TOP_KEY_ENTER) {
        ui->mode = CLI_TOP_BROWSE;
    } else if (!type(ui->typed, sizeof ui->typed, key)) {
        return CLI_TOP_NOTHING;
    }
    cli_top_model_text(ui->filter, sizeof ui->filter, str_from_z(escaped ? "" : ui->typed));
    cli_top_input_settle(ui, m);
    return CLI_TOP_NOTHING;
}

static enum cli_top_action edit_job(struct cli_top_ui *ui, int key)
{
    if (key == CLI_TOP_KEY_ENTER || key == CLI_TOP_KEY_ESCAPE) {
        bool any = key == CLI_TOP_KEY_ENTER && ui->typed[0] != '\0';
        ui->mode = CLI_TOP_BROWSE;
        cli_top_model_text(ui->target, sizeof ui->target, str_from_z(ui->typed));
        return any ? CLI_TOP_SHOW_JOB : CLI_TOP_NOTHING;
    }
    (void)type(ui->typed, sizeof ui->typed, key);
    return CLI_TOP_NOTHING;
}

static size_t line_count(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += text.ptr[i] == '\n' ? 1 : 0;
    }
    return n;
}

static enum cli_top_action turn_page(struct cli_top_ui *ui, int key)
{
    switch (key) {
    case 'j':
    case 'k':
        key = key == 'j' ? CLI_TOP_KEY_DOWN : CLI_TOP_KEY_UP;
        break;
    case 'q':
    case CLI_TOP_KEY_ESCAPE:
    case CLI_TOP_KEY_ENTER:
        ui->mode = CLI_TOP_BROWSE;
        return CLI_TOP_NOTHING;
    default:
        break;
    }
    if (key >= CLI_TOP_KEY_UP && key <= CLI_TOP_KEY_END) {
        /* The title is not a line to scroll to. */
        size_t lines = line_count(buf_str(&ui->page));
        ui->page_line = moved(ui->page_line, lines == 0 ? 0 : lines - 1, key);
    }
    return CLI_TOP_NOTHING;
}

enum cli_top_action cli_top_input_key(struct cli_top_ui *ui, struct cli_top_model *m, int key)
{
    switch (ui->mode) {
    case CLI_TOP_FILTER:
        return edit_filter(ui, m, key);
    case CLI_TOP_JOB:
        return edit_job(ui, key);
    case CLI_TOP_CONFIRM:
        ui->mode = CLI_TOP_BROWSE;
        return key == 'y' || key == 'Y' ? CLI_TOP_SWITCH : CLI_TOP_NOTHING;
    case CLI_TOP_HELP:
        ui->mode = CLI_TOP_BROWSE;
        return CLI_TOP_NOTHING;
    case CLI_TOP_PAGE:
        return turn_page(ui, key);
    case CLI_TOP_BROWSE:
    default:
        return browse(ui, m, key);
    }
}
