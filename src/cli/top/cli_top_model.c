#include "cli/top/cli_top_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

enum { MS_PER_MINUTE = 60000, MS_PER_SECOND = 1000 };

void cli_top_model_init(struct cli_top_model *m)
{
    memset(m, 0, sizeof *m);
}

void cli_top_model_drop(struct cli_top_sample *sample)
{
    free(sample->queues);
    free(sample->workers);
    *sample = (struct cli_top_sample){.queues = NULL};
}

void cli_top_model_deinit(struct cli_top_model *m)
{
    cli_top_model_drop(&m->now);
    free(m->shown);
    memset(m, 0, sizeof *m);
}

/* Rates */

static void push(struct cli_top_trend *t, int64_t value)
{
    if (t->count == CLI_TOP_TREND) {
        memmove(t->values, t->values + 1, (CLI_TOP_TREND - 1) * sizeof t->values[0]);
        t->count--;
    }
    t->values[t->count++] = value;
}

/* The growth of a total per unit of time. A smaller value than before counts as none: jobs were
 * purged, or the server has restarted its counters. */
static int64_t growth(int64_t before, int64_t now, int64_t passed_ms, int64_t unit_ms)
{
    int64_t more = now > before ? now - before : 0;
    return (int64_t)((double)more * (double)unit_ms / (double)passed_ms + 0.5);
}

int64_t cli_top_model_rate(const struct cli_top_trend *trend)
{
    size_t n = trend->count < CLI_TOP_SMOOTH ? trend->count : CLI_TOP_SMOOTH;
    int64_t sum = 0;
    for (size_t i = trend->count - n; i < trend->count; i++) {
        sum += trend->values[i];
    }
    return n == 0 ? -1 : sum / (int64_t)n;
}

int64_t cli_top_model_flow(const struct cli_top_model *m, enum cli_top_flow flow)
{
    size_t n = m->now.minute_count;
    if (m->flow[flow].count > 0) {
        return cli_top_model_rate(&m->flow[flow]);
    }
    return n < 2 ? -1 : m->now.minutes[n - 2].counts[flow];
}

static int64_t ended(const struct cli_top_queue *q)
{
    return q->counts[CLI_TOP_COMPLETED] + q->counts[CLI_TOP_DEAD];
}

static int by_name(const void *a, const void *b)
{
    const struct cli_top_queue *x = a;
    const struct cli_top_queue *y = b;
    return strcmp(x->name, y->name);
}

static void take_queues(struct cli_top_model *m, struct cli_top_sample *next, int64_t passed_ms)
{
    for (size_t i = 0; i < next->queue_count; i++) {
        struct cli_top_queue *q = &next->queues[i];
        const struct cli_top_queue *old =
            m->now.queue_count == 0
                ? NULL
                : bsearch(q, m->now.queues, m->now.queue_count, sizeof *m->now.queues, by_name);
        if (old == NULL) {
            continue;
        }
        q->in = old->in;
        q->out = old->out;
        push(&q->in, growth(old->stored, q->stored, passed_ms, MS_PER_MINUTE));
        push(&q->out, growth(ended(old), ended(q), passed_ms, MS_PER_MINUTE));
    }
}

/* The growth since the last sample. A minute that the last sample had counts from its value there,
 * a new minute from 0. */
static int64_t minutes_growth(const struct cli_top_sample *old, const struct cli_top_sample *next,
                              enum cli_top_flow flow)
{
    int64_t more = 0;
    struct wall first = old->minute_count == 0 ? WALL_NONE : old->minutes[0].at;
    for (size_t i = 0; i < next->minute_count; i++) {
        int64_t before = next->minutes[i].at.ns < first.ns ? next->minutes[i].counts[flow] : 0;
        for (size_t k = 0; k < old->minute_count; k++) {
            if (old->minutes[k].at.ns == next->minutes[i].at.ns) {
                before = old->minutes[k].counts[flow];
            }
        }
        int64_t now = next->minutes[i].counts[flow];
        more += now > before ? now - before : 0;
    }
    return more;
}

static void take_rates(struct cli_top_model *m, const struct cli_top_sample *next,
                       int64_t passed_ms)
{
    const struct cli_top_cluster *old = &m->now.cluster;
    const struct cli_top_cluster *new = &next->cluster;
    for (int f = 0; f < CLI_TOP_FLOW_COUNT; f++) {
        int64_t more = minutes_growth(&m->now, next, (enum cli_top_flow)f);
        push(&m->flow[f], growth(0, more, passed_ms, MS_PER_MINUTE));
    }
    push(&m->applied, growth(old->applied, new->applied, passed_ms, MS_PER_SECOND));
    push(&m->flushes, growth(old->flushes, new->flushes, passed_ms, MS_PER_SECOND));
}

void cli_top_model_take(struct cli_top_model *m, struct cli_top_sample *sample, struct mono at)
{
    int64_t passed_ms = (at.ns - m->at.ns) / NS_PER_MS;
    if (sample->queue_count > 1) {
        qsort(sample->queues, sample->queue_count, sizeof *sample->queues, by_name);
    }
    if (m->any) {
        passed_ms = passed_ms < 1 ? 1 : passed_ms;
        take_queues(m, sample, passed_ms);
        take_rates(m, sample, passed_ms);
    }
    cli_top_model_drop(&m->now);
    m->now = *sample;
    *sample = (struct cli_top_sample){.queues = NULL};
    m->at = at;
    m->any = true;
    m->shown_count = 0;
    memset(m->totals, 0, sizeof m->totals);
    for (size_t i = 0; i < m->now.queue_count; i++) {
        for (int s = 0; s < CLI_TOP_STATE_COUNT; s++) {
            m->totals[s] += m->now.queues[i].counts[s];
        }
    }
}

/* Failures */

void cli_top_model_fail(struct cli_top_model *m, const struct cli_top_failure *failure)
{
    for (size_t i = 0; failure->dead && i < m->failure_count; i++) {
        struct cli_top_failure *f = &m->failures[i];
        if (strcmp(f->job, failure->job) == 0) {
            f->dead = true;
            return;
        }
    }
    if (m->failure_count < CLI_TOP_FAILURES_MAX) {
        m->failure_count++;
    }
    memmove(m->failures + 1, m->failures, (m->failure_count - 1) * sizeof m->failures[0]);
    m->failures[0] = *failure;
}

/* The view */

static bool has_part(const char *name, struct str part)
{
    size_t len = strlen(name);
    for (size_t at = 0; at + part.len <= len; at++) {
        if (part.len == 0 || str_eq_nocase(str_from(name + at, part.len), part)) {
            return true;
        }
    }
    return false;
}

static int64_t key_of(const struct cli_top_queue *q, enum cli_top_sort sort)
{
    switch (sort) {
    case CLI_TOP_BY_PENDING:
        return q->counts[CLI_TOP_PENDING];
    case CLI_TOP_BY_ACTIVE:
        return q->counts[CLI_TOP_ACTIVE];
    case CLI_TOP_BY_DEAD:
        return q->counts[CLI_TOP_DEAD];
    case CLI_TOP_BY_RATE:
        return cli_top_model_rate(&q->out);
    case CLI_TOP_BY_NAME:
    case CLI_TOP_SORT_COUNT:
    default:
        return 0;
    }
}

static int by_key(const void *a, const void *b, void *data)
{
    const struct cli_top_queue *x = *(const struct cli_top_queue *const *)a;
    const struct cli_top_queue *y = *(const struct cli_top_queue *const *)b;
    const enum cli_top_sort *sort = data;
    int64_t kx = key_of(x, *sort);
    int64_t ky = key_of(y, *sort);
    return kx != ky ? (kx < ky ? 1 : -1) : by_name(x, y);
}

void cli_top_model_arrange(struct cli_top_model *m, enum cli_top_sort sort, struct str filter)
{
    size_t count = m->now.queue_count;
    free(m->shown);
    m->shown = calloc(count + 1, sizeof(const struct cli_top_queue *));
    CHECK(m->shown != NULL);
    m->shown_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_part(m->now.queues[i].name, filter)) {
            m->shown[m->shown_count++] = &m->now.queues[i];
        }
    }
    qsort_r(m->shown, m->shown_count, sizeof(const struct cli_top_queue *), by_key, &sort);
}

size_t cli_top_model_find(const struct cli_top_model *m, const char *name)
{
    size_t i = 0;
    while (i < m->shown_count && strcmp(m->shown[i]->name, name) != 0) {
        i++;
    }
    return i;
}

const char *cli_top_model_health(const struct cli_top_worker *worker, struct wall now)
{
    int64_t s = (now.ns - worker->heartbeat.ns) / NS_PER_S;
    if (worker->heartbeat.ns == 0 || s > CLI_TOP_OFFLINE_S) {
        return "offline";
    }
    return s > CLI_TOP_STALE_S ? "stale" : "healthy";
}

/* Texts */

void cli_top_model_spark(struct buf *out, const int64_t *values, size_t count, bool unicode)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const marks[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    int64_t top = COUNT_OF(blocks) - 1;
    int64_t max = 0;
    for (size_t i = 0; i < count; i++) {
        max = values[i] > max ? values[i] : max;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t level = 0;
        if (values[i] > 0) {
            /* The lowest level is reserved for 0. */
            level = 1 + (int64_t)((double)values[i] * (double)(top - 1) / (double)max);
        }
        level = level > top ? top : level;
        buf_add_str(out, str_from_z(unicode ? blocks[level] : marks[level]));
    }
}

const char *cli_top_model_number(int64_t n, char out[CLI_TOP_NUMBER_BYTES])
{
    static const char units[] = " kMGTPE";
    double value = (double)n;
    size_t unit = 0;
    if (n < 0) {
        (void)snprintf(out, CLI_TOP_NUMBER_BYTES, "-");
        return out;
    }
    while (value >= 999.5 && units[unit + 1] != '\0') {
        value /= 1000;
        unit++;
    }
    if (unit == 0) {
        (void)snprintf(out, CLI_TOP_NUMBER_BYTES, "%lld", (long long)n);
    } else {
        (void)snprintf(out, CLI_TOP_NUMBER_BYTES, value < 9.95 ? "%.1f%c" : "%.0f%c", value,
                       units[unit]);
    }
    return out;
}

const char *cli_top_model_age(struct wall then, struct wall now, char out[CLI_TOP_NUMBER_BYTES])
{
    static const struct {
        int64_t s;
        char name;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t s = then.ns < now.ns ? (now.ns - then.ns) / NS_PER_S : 0;
    size_t i = 0;
    if (then.ns == 0) {
        (void)snprintf(out, CLI_TOP_NUMBER_BYTES, "-");
        return out;
    }
    while (i + 1 < COUNT_OF(units) && s < units[i].s) {
        i++;
    }
    (void)snprintf(out, CLI_TOP_NUMBER_BYTES, "%lld%c", (long long)(s / units[i].s), units[i].name);
    return out;
}

void cli_top_model_text(char *out, size_t size, struct str text)
{
    struct str cut = str_at_most(text, size - 1);
    if (cut.len > 0) {
        memcpy(out, cut.ptr, cut.len);
    }
    out[cut.len] = '\0';
}
