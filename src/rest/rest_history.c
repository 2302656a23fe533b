/*
 * History (http-api.md 20.10): counts and times by time step, of one queue or of all.
 *
 * The cells are read from the store in pieces, so that other requests of the thread get their turn.
 * The response contains every step of the range, including empty ones.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "os/os_clock.h"
#include "rest/rest_history_int.h"
#include "rest/rest_query_int.h"
#include "store/store_history.h"

enum {
    QUEUES_MAX = 100,
    POINTS_USUAL = 120,
    CELLS_PER_TURN = 240,
    TIME_BYTES_MAX = REST_HISTORY_TIME_BYTES
};

/* Series in addition to the counters, as further bits. */
enum {
    SERIES_DEPTH = STORE_HISTORY_COUNTS,
    SERIES_OLDEST,
    SERIES_WORKERS,
    SERIES_WAIT,
    SERIES_RUN,
    SERIES_COUNT
};

static const struct json_word series_words[] = {
#define SERIES_WORD(name, number, word) {word, number},
    STORE_HISTORY_LIST(SERIES_WORD)
#undef SERIES_WORD
        {"depth", SERIES_DEPTH},
    {"oldest", SERIES_OLDEST},
    {"workers", SERIES_WORKERS},
    {"wait", SERIES_WAIT},
    {"run", SERIES_RUN},
    {NULL, 0},
};

struct history_in {
    struct str queue, from, to, step, format;
    struct str *series;
    size_t series_count;
    struct str *queues; /* of /history/queues */
    size_t queues_count;
};

const struct json_word rest_history__formats[] = {{"json", 0}, {"csv", 1}, {NULL, 0}};

/* clang-format off */
static const struct json_field history_rows[] = {
    JSON_STR(struct history_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, 0, "Queue to report on. All queues if left out.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_STR(struct history_in, from, 0, TIME_BYTES_MAX, 0, "Start of the range: a time, or a duration before now such as 1h or 7d."),
    JSON_STR(struct history_in, to, 0, TIME_BYTES_MAX, 0, "End of the range, in the same form. Now if left out."),
    JSON_STR(struct history_in, step, 0, TIME_BYTES_MAX, 0, "Length of a step: whole minutes, such as 1m, 15m or 1d. Chosen to return about 120 points if left out."),
    JSON_STRS(struct history_in, series, series_count, 0, SERIES_COUNT, LIMIT_NAME_BYTES, REST_QUERY_COMMAS, "Series to return, comma-separated: enqueued, started, completed, failed, retried, dead, cancelled, expired, depth, oldest, workers, wait, run. All if left out."),
    JSON_STR(struct history_in, format, 0, LIMIT_NAME_BYTES, 0, "json, or csv for a table with one line per step.", .words = rest_history__formats),
};

static const struct json_field queues_rows[] = {
    JSON_STRS(struct history_in, queues, queues_count, 0, QUEUES_MAX, LIMIT_INTERNAL_NAME_BYTES, REST_QUERY_COMMAS | JSON_INSISTED, "Queues to report on, comma-separated, at most 100."),
    JSON_STR(struct history_in, from, 0, TIME_BYTES_MAX, 0, "Start of the range: a time, or a duration before now such as 1h or 7d."),
    JSON_STR(struct history_in, to, 0, TIME_BYTES_MAX, 0, "End of the range, in the same form. Now if left out."),
    JSON_STR(struct history_in, step, 0, TIME_BYTES_MAX, 0, "Length of a step: whole minutes, such as 1m, 15m or 1d. Chosen to return about 120 points if left out."),
    JSON_STRS(struct history_in, series, series_count, 0, 1, LIMIT_NAME_BYTES, REST_QUERY_COMMAS, "The series: one of those of /history. Of wait and run, the 99th percentile. Default: completed."),
};
/* clang-format on */
static const struct history_in history_init = {.from = {.ptr = "1h", .len = 2},
                                               .format = {.ptr = "json", .len = 4}};
static const struct json_schema history_schema =
    JSON_SCHEMA(struct history_in, history_rows, .init = &history_init);
static const struct json_schema queues_schema =
    JSON_SCHEMA(struct history_in, queues_rows, .init = &history_init);

struct reading {
    struct str name; /* internal name */
    enum store_history_step step;
    uint32_t per_point;   /* cells of one point */
    uint32_t first, last; /* cells, last excluded */
    uint32_t next;        /* next cell to read */
    uint32_t point;       /* first cell of the current point */
    unsigned series;      /* bits */
    struct wall now;
    bool csv;
    struct store_history_back back; /* position of the search for the last cell before the range */
    struct store_history sums, total;
    const struct history_in *many; /* several queues, each written as one array; NULL: one */
    struct str *names;             /* their internal names */
    size_t queue_at;
    struct json_write w;
    struct rest_call *call;
};

/* Writing */

static void write_times(struct json_write *w, const char *name, const struct store_history_times *t)
{
    static const struct {
        const char *name;
        unsigned thousandths;
    } quantiles[] = {{"p50_ms", 500}, {"p90_ms", 900}, {"p99_ms", 990}};
    rest_document__object(w, name);
    rest_document__i64(w, "count", (int64_t)t->count);
    rest_document__i64(w, "mean_ms", t->count == 0 ? 0 : (int64_t)(t->sum_ms / t->count));
    for (size_t i = 0; i < COUNT_OF(quantiles); i++) {
        rest_document__i64(w, quantiles[i].name,
                           (int64_t)store_history_quantile_ms(t, quantiles[i].thousandths));
    }
    rest_document__i64(w, "max_ms", (int64_t)t->max_ms);
    json_write_end(w);
}

static bool has(const struct reading *r, unsigned series)
{
    return (r->series >> series & 1) != 0;
}

static void write_members(struct reading *r, const struct store_history *h)
{
    struct json_write *w = &r->w;
    for (const struct json_word *word = series_words; word->word != NULL; word++) {
        unsigned series = (unsigned)word->value;
        if (!has(r, series)) {
            continue;
        }
        if (series < STORE_HISTORY_COUNTS) {
            rest_document__i64(w, word->word, (int64_t)h->count[series]);
        } else if (series == SERIES_DEPTH) {
            rest_document__i64(w, word->word, (int64_t)h->depth);
            rest_document__i64(w, "depth_max", (int64_t)h->depth_max);
        } else if (series == SERIES_OLDEST) {
            rest_document__i64(w, "oldest_ms", (int64_t)h->oldest_max_ms);
        } else if (series == SERIES_WORKERS) {
            rest_document__i64(w, word->word, (int64_t)h->workers);
        } else {
            write_times(w, word->word, series == SERIES_WAIT ? &h->wait : &h->run);
        }
    }
}

/* The value of the only requested series. */
static int64_t value_of(const struct reading *r, const struct store_history *h)
{
    unsigned series = (unsigned)__builtin_ctz(r->series);
    return series == SERIES_DEPTH     ? (int64_t)h->depth_max
           : series == SERIES_OLDEST  ? (int64_t)h->oldest_max_ms
           : series == SERIES_WORKERS ? (int64_t)h->workers
           : series == SERIES_WAIT    ? (int64_t)store_history_quantile_ms(&h->wait, 990)
           : series == SERIES_RUN     ? (int64_t)store_history_quantile_ms(&h->run, 990)
                                      : (int64_t)h->count[series];
}

static struct wall time_of(const struct reading *r, uint32_t cell)
{
    return (struct wall){.ns = cell * store_history_seconds(r->step) * NS_PER_S};
}

static void csv_times(struct buf *out, const struct store_history_times *t)
{
    buf_printf(out, ",%llu,%llu,%llu,%llu,%llu", (unsigned long long)t->count,
               (unsigned long long)store_history_quantile_ms(t, 500),
               (unsigned long long)store_history_quantile_ms(t, 900),
               (unsigned long long)store_history_quantile_ms(t, 990),
               (unsigned long long)t->max_ms);
}

static void csv_line(struct reading *r)
{
    struct buf *out = &r->call->answer;
    char text[TIMESTAMP_TEXT_MAX];
    const struct store_history *h = &r->sums;
    buf_add(out, text, timestamp_format(time_of(r, r->point), text));
    for (const struct json_word *word = series_words; word->word != NULL; word++) {
        unsigned series = (unsigned)word->value;
        if (!has(r, series)) {
            continue;
        }
        if (series == SERIES_WAIT || series == SERIES_RUN) {
            csv_times(out, series == SERIES_WAIT ? &h->wait : &h->run);
        } else if (series == SERIES_DEPTH) {
            buf_printf(out, ",%llu,%llu", (unsigned long long)h->depth,
                       (unsigned long long)h->depth_max);
        } else if (series == SERIES_OLDEST) {
            buf_printf(out, ",%llu", (unsigned long long)h->oldest_max_ms);
        } else {
            buf_printf(
                out, ",%llu",
                (unsigned long long)(series == SERIES_WORKERS ? h->workers : h->count[series]));
        }
    }
    buf_add_str(out, STR("\r\n"));
}

static void csv_head(struct reading *r)
{
    struct buf *out = &r->call->answer;
    buf_add_str(out, STR("at"));
    for (const struct json_word *word = series_words; word->word != NULL; word++) {
        unsigned series = (unsigned)word->value;
        const char *name = word->word;
        if (!has(r, series)) {
            continue;
        }
        if (series == SERIES_WAIT || series == SERIES_RUN) {
            buf_printf(out, ",%s_count,%s_p50_ms,%s_p90_ms,%s_p99_ms,%s_max_ms", name, name, name,
                       name, name);
        } else {
            buf_printf(out, ",%s%s", name,
                       series == SERIES_DEPTH    ? ",depth_max"
                       : series == SERIES_OLDEST ? "_ms"
                                                 : "");
        }
    }
    buf_add_str(out, STR("\r\n"));
}

/* The values that the next cell starts with. */
static struct store_history carried(const struct store_history *h)
{
    return (struct store_history){.depth = h->depth,
                                  .depth_max = h->depth,
                                  .workers = h->workers,
                                  .oldest_at_ms = h->oldest_at_ms};
}

/* Extend the age of the oldest job to the end of the point: it kept waiting after the last
 * change. */
static void add_age(struct reading *r)
{
    int64_t end_ns = time_of(r, r->point + r->per_point).ns;
    int64_t until_ms = (end_ns < r->now.ns ? end_ns : r->now.ns) / NS_PER_MS;
    uint64_t age = store_history_age_ms(&r->sums, until_ms);
    r->sums.oldest_max_ms = age > r->sums.oldest_max_ms ? age : r->sums.oldest_max_ms;
}

/* Write the current point and begin the next one with its final values. */
static void write_point(struct reading *r)
{
    add_age(r);
    if (r->csv) {
        csv_line(r);
    } else if (r->many != NULL) {
        json_write_i64(&r->w, value_of(r, &r->sums));
    } else {
        json_write_object(&r->w);
        rest_document__time(&r->w, "at", time_of(r, r->point));
        write_members(r, &r->sums);
        json_write_end(&r->w);
    }
    store_history_merge(&r->total, &r->sums);
    r->sums = carried(&r->sums);
    r->point += r->per_point;
}

static void add_cell(void *data, uint32_t number, const struct store_history *h)
{
    struct reading *r = data;
    while (number - r->point >= r->per_point) {
        write_point(r);
    }
    store_history_merge(&r->sums, h);
}

/* Reading */

static void begin_queue(struct rest_call *c);

static void finish_queues(struct reading *r)
{
    struct rest_call *c = r->call;
    json_write_end(&r->w);
    json_write_end(&r->w);
    if (++r->queue_at < r->many->queues_count) {
        rest_call__later(c, begin_queue);
        return;
    }
    json_write_end(&r->w);
    json_write_end(&r->w);
    rest_call__reply(c, 200, &r->w);
}

static void finish(struct reading *r)
{
    struct rest_call *c = r->call;
    while (r->point < r->last) {
        write_point(r);
    }
    if (r->many != NULL) {
        finish_queues(r);
        return;
    }
    if (r->csv) {
        rest_call__reply_written(c, STR("text/csv; charset=utf-8"));
        return;
    }
    json_write_end(&r->w);
    rest_document__object(&r->w, "totals");
    write_members(r, &r->total);
    json_write_end(&r->w);
    json_write_end(&r->w);
    rest_call__reply(c, 200, &r->w);
}

static void read_piece(struct rest_call *c)
{
    struct reading *r = c->data;
    uint32_t end = r->last - r->next > CELLS_PER_TURN ? r->next + CELLS_PER_TURN : r->last;
    store_history_each(engine_store(c->rest->config.engine), r->name,
                       (struct store_history_range){r->step, r->next, end}, add_cell, r);
    r->next = end;
    if (end < r->last) {
        rest_call__later(c, read_piece);
    } else {
        finish(r);
    }
}

static void look_back(struct rest_call *c)
{
    struct reading *r = c->data;
    struct store_history cell;
    bool ended =
        store_history_back_step(engine_store(c->rest->config.engine), r->name, &r->back, &cell);
    r->sums = carried(&cell);
    rest_call__later(c, ended ? read_piece : look_back);
}

/* Begin with the values from before the range, so that an idle queue has its depth. Their cell may
 * be far back. */
static void read_all(struct reading *r)
{
    static const unsigned lasting = 1U << SERIES_DEPTH | 1U << SERIES_OLDEST | 1U << SERIES_WORKERS;
    struct rest_call *c = r->call;
    uint32_t number = 0;
    struct store_history last;
    bool known =
        store_history_last(engine_store(c->rest->config.engine), r->name, r->step, &number, &last);
    r->sums = (struct store_history){0};
    r->back = store_history_back(r->step, r->first);
    if (known && number < r->first) {
        r->sums = carried(&last);
        read_piece(c);
    } else if ((r->series & lasting) != 0) {
        look_back(c);
    } else {
        read_piece(c);
    }
}

static void write_head(struct reading *r)
{
    r->w = rest_call__json(r->call);
    json_write_object(&r->w);
    if (r->many == NULL) {
        rest_document__text(&r->w, "queue", ((const struct history_in *)r->call->query)->queue);
    }
    rest_document__time(&r->w, "from", time_of(r, r->first));
    rest_document__time(&r->w, "to", time_of(r, r->last));
    rest_document__i64(&r->w, "step_seconds", r->per_point * store_history_seconds(r->step));
    rest_document__array(&r->w, r->many == NULL ? "points" : "queues");
}

static void begin(struct reading *r)
{
    struct rest_call *c = r->call;
    if (r->csv) {
        rest_call__buf(c, &c->answer);
        csv_head(r);
    } else {
        write_head(r);
    }
    c->data = r;
    read_all(r);
}

static void begin_queue(struct rest_call *c)
{
    struct reading *r = c->data;
    r->name = r->names[r->queue_at];
    r->next = r->first;
    r->point = r->first;
    json_write_object(&r->w);
    rest_document__text(&r->w, "queue", r->many->queues[r->queue_at]);
    rest_document__array(&r->w, "values");
    read_all(r);
}

/* The request */

/* The shortest common step with at most POINTS_USUAL points. */
static int64_t usual_step(int64_t seconds)
{
    static const int64_t steps[] = {60, 300, 900, 1800, 3600, 6L * 3600, 12L * 3600};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (seconds / steps[i] <= POINTS_USUAL) {
            return steps[i];
        }
    }
    return 24L * 3600;
}

static bool parse_step(struct rest_call *c, struct str text, int64_t range_s, int64_t *out)
{
    struct err err;
    int64_t ms = 0;
    *out = usual_step(range_s);
    if (text.len > 0) {
        if (duration_parse(text, &ms, &err) != ERR_OK || ms < 60000 || ms % 60000 != 0) {
            rest_call__fail(c, ERR_VALIDATION, "step: must be whole minutes, such as 1m or 1h");
            return false;
        }
        *out = ms / 1000;
    }
    if (range_s / *out > REST_HISTORY_POINTS_MAX) {
        rest_call__fail(c, ERR_VALIDATION,
                        "step: the range has %lld steps, more than %d; use a longer step",
                        (long long)(range_s / *out), REST_HISTORY_POINTS_MAX);
        return false;
    }
    return true;
}

static bool parse_series(struct rest_call *c, const struct history_in *in, unsigned *out)
{
    *out = in->series_count == 0 ? (1U << SERIES_COUNT) - 1 : 0;
    for (size_t i = 0; i < in->series_count; i++) {
        int series = 0;
        if (!rest_names__word(series_words, in->series[i], &series)) {
            rest_call__fail(c, ERR_VALIDATION, "series: unknown series \"" STR_FMT "\"",
                            STR_ARG(in->series[i]));
            return false;
        }
        *out |= 1U << series;
    }
    return true;
}

/* Choose the cells. Minutes if they exist for the whole range, or if the step is not in whole
 * hours; otherwise hours. */
static void plan(struct reading *r, struct wall from, struct wall to, struct wall now, int64_t step)
{
    struct wall oldest = wall_add_ms(now, -(int64_t)LIMIT_HISTORY_MINUTES * 60 * 1000);
    bool minutes = step % 3600 != 0 || from.ns >= oldest.ns;
    r->step = minutes ? STORE_HISTORY_MINUTE : STORE_HISTORY_HOUR;
    int64_t cell = store_history_seconds(r->step);
    r->per_point = (uint32_t)(step / cell);
    int64_t step_ns = step * NS_PER_S;
    r->first = (uint32_t)(from.ns / step_ns * r->per_point);
    r->last = (uint32_t)((to.ns / step_ns + (to.ns % step_ns > 0 ? 1 : 0)) * r->per_point);
    r->next = r->first;
    r->point = r->first;
}

bool rest_history__span(struct rest_call *c, struct str from, struct str to, struct str step,
                        struct rest_history_span *out)
{
    struct wall now = os_clock_wall();
    out->now = now;
    if (!rest_query__moment(from, now, &out->from) || !rest_query__moment(to, now, &out->to)) {
        rest_call__fail(c, ERR_VALIDATION, REST_QUERY_MOMENT_REFUSAL);
        return false;
    }
    if (out->from.ns < 0 || out->from.ns >= out->to.ns ||
        out->to.ns / NS_PER_S / 60 >= UINT32_MAX - REST_HISTORY_POINTS_MAX) {
        rest_call__fail(c, ERR_VALIDATION, "from: must be before to");
        return false;
    }
    return parse_step(c, step, (out->to.ns - out->from.ns) / NS_PER_S, &out->step_s);
}

/* Read the range, the step and the series; NULL if the call has ended. */
static struct reading *read_request(struct rest_call *c)
{
    const struct history_in *in = c->query;
    struct reading *r = REST_NEW(c, struct reading);
    struct rest_history_span span;
    if (!rest_call__has_memory(c)) {
        return NULL;
    }
    *r = (struct reading){.call = c};
    if (!rest_history__span(c, in->from, in->to, in->step, &span) ||
        !parse_series(c, in, &r->series)) {
        return NULL;
    }
    r->now = span.now;
    plan(r, span.from, span.to, span.now, span.step_s);
    return r;
}

static void handle_history(struct rest_call *c)
{
    const struct history_in *in = c->query;
    struct err err;
    int format = 0;
    if (!rest_names__word(rest_history__formats, in->format, &format)) {
        rest_call__fail(c, ERR_VALIDATION, "format: must be json or csv");
        return;
    }
    struct reading *r = read_request(c);
    if (r == NULL) {
        return;
    }
    if (in->queue.len > 0) {
        if (!rest_names__internal(c, "queue", in->queue, &r->name, &err)) {
            rest_call__fail_err(c, &err);
            return;
        }
    } else if (c->caller.scope.len > 0) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "queue is required: this key is limited to queues, and the history of all "
                        "queues would include others");
        return;
    } else if (c->ns.len > 0) {
        r->name = rest_names__prefix(c, STR_EMPTY);
    }
    r->csv = format == 1;
    begin(r);
}

/* Handle a request for one series of several queues. */
static void handle_queues(struct rest_call *c)
{
    const struct history_in *in = c->query;
    struct err err;
    if (in->queues_count == 0) {
        rest_call__fail(c, ERR_VALIDATION, "queues is required");
        return;
    }
    struct reading *r = read_request(c);
    if (r == NULL) {
        return;
    }
    if (in->series_count == 0) {
        r->series = 1U << STORE_HISTORY_COMPLETED;
    }
    r->many = in;
    r->names = REST_ARRAY(c, struct str, in->queues_count);
    if (!rest_call__has_memory(c)) {
        return;
    }
    for (size_t i = 0; i < in->queues_count; i++) {
        if (!rest_names__internal(c, "queues", in->queues[i], &r->names[i], &err)) {
            rest_call__fail_err(c, &err);
            return;
        }
    }
    write_head(r);
    c->data = r;
    begin_queue(c);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method  pattern            roles      flags in    handler         cost  answer                                   doc */
    {HTTP_GET, "/api/v1/history", ROLES_AOR, 0,    NULL, handle_history, NULL, "200 {queue, from, to, step_seconds, points} | text/csv", "Return history for a time range, step by step: counts, depth, wait and run times. Minutes are kept for 48 hours, hours for 90 days."},
    {HTTP_GET, "/api/v1/history/queues", ROLES_AOR, 0, NULL, handle_queues, NULL, "200 {from, to, step_seconds, queues}", "Return one series of several queues, step by step. Tables of queues use it for their small charts."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/history", &history_schema},
    {HTTP_GET, "/api/v1/history/queues", &queues_schema},
};

const struct rest_routes rest_history_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
