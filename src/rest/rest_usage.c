/*
 * Usage (http-api.md 17.1, 17.2): sums of the usage of models that workers reported.
 *
 * The store has sums by the hour, and for the last day by five minutes. They are read in pieces, so
 * that other requests of the thread get their turn. Reports from before the server kept sums
 * (fsm/state/tallies.c) are added from the view, if the period may contain any.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "core/duration.h"
#include "core/queue_name.h"
#include "os/os_clock.h"
#include "rest/rest_int.h"
#include "store/store_tally.h"
#include "view/view_usage.h"

#define TAG_PREFIX STR("tag:")

enum {
    GROUPS_MAX = VIEW_USAGE_GROUPS_MAX, /* groups in a response; the total includes all */
    GROUP_SLOTS = 1024,
    MS_PER_HOUR = 3600 * 1000
};

struct group {
    struct group *next; /* in the same slot */
    struct str key;
    struct store_tally sums;
};

/* A summary in progress. */
struct summary {
    struct str period;
    struct view_usage usage; /* the query, and the result of the view */
    bool asked;              /* the view was queried */
    void (*write)(struct rest_call *c, struct summary *s);
    struct store_tally_walk walk;
    uint32_t first_hour; /* the walk over parts of hours ends here */
    struct store_tally total, tagged;
    struct group *slots[GROUP_SLOTS];
    struct group **groups;
    size_t group_count, group_cap;
};

/* --- groups --- */

static struct group *need_group(struct rest_call *c, struct summary *s, struct str key)
{
    struct group **slot = &s->slots[map_hash(key) % GROUP_SLOTS];
    struct group *g = *slot;
    while (g != NULL && !str_eq(g->key, key)) {
        g = g->next;
    }
    if (g == NULL) {
        struct group **groups =
            rest_call__grow(c, s->groups, s->group_count, &s->group_cap, sizeof(struct group *));
        g = REST_NEW(c, struct group);
        g->key = arena_str(c->arena, key);
        if (groups == NULL || g->key.len != key.len) {
            return NULL; /* reported by the arena's error */
        }
        g->next = *slot;
        *slot = g;
        s->groups = groups;
        s->groups[s->group_count++] = g;
    }
    return g;
}

static void add_to_group(struct rest_call *c, struct summary *s, struct str key,
                         const struct store_tally *sums)
{
    struct group *g = need_group(c, s, key);
    if (g != NULL) {
        store_tally_add(&g->sums, sums);
    }
}

static struct str namespace_of(struct str queue)
{
    struct str ns = queue_name_namespace(queue);
    return ns.len == 0 ? STR("default") : ns;
}

/* Usage for which an hour had no room left is stored under its namespace only. Returns an empty
 * name for it. */
static struct str known_queue(struct str queue)
{
    struct str mark = QUEUE_NAME_MARK;
    bool none = queue.len >= mark.len && str_eq(str_from_offset(queue, queue.len - mark.len), mark);
    return none ? STR_EMPTY : queue;
}

struct reading {
    struct rest_call *call;
    struct summary *summary;
};

/* Add a cell if its queue is visible to the caller. */
static void add_cell(void *data, bool is_tag, const struct store_tally_name *name,
                     const struct store_tally *sums)
{
    struct reading *r = data;
    struct summary *s = r->summary;
    if (!rest_names__is_visible(r->call, name->queue) ||
        (is_tag && !str_eq(name->first, s->usage.tag))) {
        return;
    }
    if (is_tag) {
        store_tally_add(&s->tagged, sums);
        add_to_group(r->call, s, name->second, sums);
        return;
    }
    store_tally_add(&s->total, sums);
    switch (s->usage.by) {
    case VIEW_USAGE_BY_QUEUE:
        add_to_group(r->call, s, known_queue(name->queue), sums);
        break;
    case VIEW_USAGE_BY_MODEL:
        add_to_group(r->call, s, name->first, sums);
        break;
    case VIEW_USAGE_BY_PROVIDER:
        add_to_group(r->call, s, name->second, sums);
        break;
    case VIEW_USAGE_BY_NAMESPACE:
        add_to_group(r->call, s, namespace_of(name->queue), sums);
        break;
    case VIEW_USAGE_ALL:
    case VIEW_USAGE_BY_TAG:
        break;
    }
}

static int64_t left_of(int64_t all, int64_t some)
{
    return all > some ? all - some : 0;
}

/* Add a group for usage without this tag, or for which an hour had no room left. */
static void add_untagged(struct rest_call *c, struct summary *s)
{
    const struct store_tally *all = &s->total;
    const struct store_tally *some = &s->tagged;
    struct store_tally rest = {.input = left_of(all->input, some->input),
                               .output = left_of(all->output, some->output),
                               .cache_creation = left_of(all->cache_creation, some->cache_creation),
                               .cache_read = left_of(all->cache_read, some->cache_read),
                               .cost_nusd = left_of(all->cost_nusd, some->cost_nusd),
                               .reports = left_of(all->reports, some->reports)};
    if (rest.reports > 0) {
        add_to_group(c, s, STR_EMPTY, &rest);
    }
}

static struct store_tally tally_of(const struct view_usage_sum *v)
{
    return (struct store_tally){.input = v->input,
                                .output = v->output,
                                .cache_creation = v->cache_creation,
                                .cache_read = v->cache_read,
                                .cost_nusd = v->cost_nusd,
                                .reports = v->reports};
}

static void add_view(struct rest_call *c, struct summary *s)
{
    struct store_tally sums = tally_of(&s->usage.total);
    store_tally_add(&s->total, &sums);
    for (size_t i = 0; i < s->usage.group_count; i++) {
        sums = tally_of(&s->usage.groups[i]);
        add_to_group(c, s, s->usage.groups[i].key, &sums);
    }
}

/* --- response --- */

/* Highest cost first. */
static int compare_costs(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a;
    const struct group *y = *(struct group *const *)b;
    return x->sums.cost_nusd != y->sums.cost_nusd ? (x->sums.cost_nusd < y->sums.cost_nusd ? 1 : -1)
                                                  : str_cmp(x->key, y->key);
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp((*(struct group *const *)a)->key, (*(struct group *const *)b)->key);
}

static void sort_groups(struct summary *s, int (*compare)(const void *a, const void *b))
{
    if (s->group_count > 1) {
        qsort(s->groups, s->group_count, sizeof(struct group *), compare);
    }
    s->group_count = s->group_count < GROUPS_MAX ? s->group_count : GROUPS_MAX;
}

static void write_sums(struct json_write *w, const struct store_tally *t)
{
    rest_document__i64(w, "input_tokens", t->input);
    rest_document__i64(w, "output_tokens", t->output);
    rest_document__i64(w, "cache_creation_tokens", t->cache_creation);
    rest_document__i64(w, "cache_read_tokens", t->cache_read);
    json_write_key(w, STR("cost_usd"));
    json_write_f64(w, (double)t->cost_nusd / (double)JOB_NUSD_PER_USD);
}

static void write_groups(struct json_write *w, const struct rest_call *c, struct summary *s)
{
    if (s->group_count == 0) {
        return;
    }
    sort_groups(s, compare_costs);
    rest_document__array(w, "groups");
    for (size_t i = 0; i < s->group_count; i++) {
        struct str key = s->groups[i]->key;
        json_write_object(w);
        json_write_key(w, STR("key"));
        json_write_str(w, s->usage.by == VIEW_USAGE_BY_QUEUE ? rest_names__visible(c, key) : key);
        write_sums(w, &s->groups[i]->sums);
        rest_document__i64(w, "count", s->groups[i]->sums.reports);
        json_write_end(w);
    }
    json_write_end(w);
}

static void reply(struct rest_call *c, const struct summary *s, const struct json_write *w)
{
    if (s->asked) {
        json_write_finish(w);
        rest_call__reply_asked(c);
    } else {
        rest_call__reply(c, 200, w);
    }
}

static void write_summary(struct rest_call *c, struct summary *s)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "period", s->period);
    rest_document__time(&w, "from", s->usage.from);
    rest_document__time(&w, "to", s->usage.to);
    rest_document__object(&w, "totals");
    write_sums(&w, &s->total);
    rest_document__i64(&w, "count", s->total.reports);
    json_write_end(&w);
    write_groups(&w, c, s);
    json_write_end(&w);
    reply(c, s, &w);
}

static void write_billing(struct rest_call *c, struct summary *s)
{
    struct json_write w = rest_call__json(c);
    sort_groups(s, compare_keys);
    json_write_object(&w);
    rest_document__text(&w, "period", s->period);
    rest_document__array(&w, "summary");
    for (size_t i = 0; i < s->group_count; i++) {
        json_write_object(&w);
        json_write_key(&w, STR("namespace"));
        json_write_str(&w, s->groups[i]->key);
        rest_document__i64(&w, "rows", s->groups[i]->sums.reports);
        write_sums(&w, &s->groups[i]->sums);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    reply(c, s, &w);
}

/* --- reading --- */

static void finish(struct rest_call *c)
{
    struct summary *s = c->data;
    if (s->usage.by == VIEW_USAGE_BY_TAG) {
        add_untagged(c, s);
    }
    if (s->asked) {
        add_view(c, s);
    }
    if (rest_call__has_memory(c)) {
        s->write(c, s);
    }
}

static void read_cells(struct rest_call *c)
{
    struct summary *s = c->data;
    struct reading r = {c, s};
    bool more = store_tally_each(engine_store(c->rest->config.engine), &s->walk, add_cell, &r);
    if (!more && !s->walk.hours) {
        s->walk.hours = true;
        s->walk.next = s->first_hour;
        s->walk.before = UINT32_MAX;
        more = true;
    }
    if (more) {
        rest_call__later(c, read_cells);
    } else {
        finish(c);
    }
}

static void ask_view(struct rest_call *c, struct view_reader *r)
{
    struct summary *s = c->data;
    (void)(view_usage_sum(r, &s->usage, c->arena, &c->ask_err) == ERR_OK);
}

/* If the store has no sums yet, the view has all. A job with old reports that is removed between
 * the two reads may be missing or counted twice in this response. */
static void add_to_view(struct rest_call *c)
{
    struct summary *s = c->data;
    s->asked = true;
    if (s->usage.rows_before == INT64_MAX) {
        finish(c);
    } else {
        read_cells(c);
    }
}

static void begin(struct rest_call *c, struct summary *s)
{
    struct store_tally_start start = store_tally_start_get(engine_store(c->rest->config.engine));
    s->walk.tags = s->usage.by == VIEW_USAGE_BY_TAG;
    s->usage.rows_before = start.known ? (int64_t)start.row : INT64_MAX;
    c->data = s;
    if (!start.known || s->usage.from.ns <= start.at.ns) {
        rest_call__on_view(c, ask_view, add_to_view);
    } else {
        read_cells(c);
    }
}

/* --- request --- */

static const struct json_word group_words[] = {
    {"none", VIEW_USAGE_ALL},
    {"queue", VIEW_USAGE_BY_QUEUE},
    {"model", VIEW_USAGE_BY_MODEL},
    {"provider", VIEW_USAGE_BY_PROVIDER},
    {NULL, 0},
};

static bool parse_group(struct str word, struct view_usage *out)
{
    for (const struct json_word *w = group_words; w->word != NULL; w++) {
        if (str_eq(word, str_from_z(w->word))) {
            out->by = (enum view_usage_by)w->value;
            return true;
        }
    }
    out->by = VIEW_USAGE_BY_TAG;
    out->tag =
        str_starts_with(word, TAG_PREFIX) ? str_from_offset(word, TAG_PREFIX.len) : STR_EMPTY;
    return out->tag.len > 0 && str_is_utf8(out->tag);
}

/* Strings that are parsed below, because their errors have a special code and text. */
struct summary_in {
    struct str period, group_by;
};

#define PERIOD_ROW                                                                                 \
    JSON_STR(struct summary_in, period, 0, LIMIT_NAME_BYTES, 0,                                    \
             "Length of the period up to now, as a duration such as 90m or 7d.")

static const struct json_field summary_rows[] = {
    PERIOD_ROW,
    JSON_STR(struct summary_in, group_by, 0, LIMIT_NAME_BYTES, 0,
             "Grouping. tag:<key> groups by the values of that tag.", .words = group_words,
             .told_pattern = "^tag:."),
};
static const struct summary_in summary_init = {.period = {.ptr = "24h", .len = 3},
                                               .group_by = {.ptr = "none", .len = 4}};
static const struct json_schema summary_schema =
    JSON_SCHEMA(struct summary_in, summary_rows, .init = &summary_init);

static const struct json_field billing_rows[] = {PERIOD_ROW};
#undef PERIOD_ROW
static const struct json_schema billing_schema =
    JSON_SCHEMA(struct summary_in, billing_rows, .init = &summary_init);

/* Choose the cells from this time on: parts of the first hour, if they exist, then whole hours. The
 * start is moved back to the beginning of the first cell. */
static void plan(struct summary *s, struct wall from, struct wall now)
{
    struct wall oldest = wall_add_ms(now, -(int64_t)LIMIT_TALLY_HOURS * MS_PER_HOUR);
    struct wall parts =
        wall_add_ms(now, -((int64_t)LIMIT_TALLY_PARTS * LIMIT_TALLY_PART_S * 1000 - MS_PER_HOUR));
    from = from.ns < oldest.ns ? oldest : from;
    from.ns = from.ns < 0 ? 0 : from.ns;
    bool fine = from.ns >= parts.ns;
    int64_t hour = store_tally_number(STORE_TALLY_HOURS, from);
    int64_t part = store_tally_number(STORE_TALLY_PARTS, from);
    int64_t parts_per_hour = 3600 / LIMIT_TALLY_PART_S;
    fine = fine && part % parts_per_hour != 0;
    s->first_hour = (uint32_t)(fine ? hour + 1 : hour);
    s->walk = (struct store_tally_walk){.hours = !fine,
                                        .tags = s->usage.by == VIEW_USAGE_BY_TAG,
                                        .next = fine ? (uint32_t)part : s->first_hour,
                                        .before = fine ? (uint32_t)(s->first_hour * parts_per_hour)
                                                       : UINT32_MAX};
    s->usage.from.ns = (fine ? part * LIMIT_TALLY_PART_S : hour * 3600) * NS_PER_S;
    if (s->usage.from.ns == 0) {
        s->usage.from.ns = 1; /* 0 means no time */
    }
}

/* Set the period of the query, which ends now. False if it is invalid. */
static bool set_period(struct rest_call *c, struct summary *s)
{
    const struct summary_in *in = c->query;
    struct err err;
    int64_t ms = 0;
    s->period = in->period;
    if (duration_parse(s->period, &ms, &err) != ERR_OK || ms <= 0) {
        return false;
    }
    s->usage.ns = c->ns;
    s->usage.scope = c->caller.scope;
    s->usage.to = os_clock_wall();
    plan(s, wall_add_ms(s->usage.to, -ms), s->usage.to);
    return true;
}

static void handle_summary(struct rest_call *c)
{
    struct summary *s = REST_NEW(c, struct summary);
    const struct summary_in *in = c->query;
    if (!rest_call__has_memory(c)) {
        return;
    }
    if (!set_period(c, s)) {
        rest_call__fail(c, ERR_USAGE_SUMMARY, "invalid period: \"" STR_FMT "\"",
                        STR_ARG(s->period));
        return;
    }
    if (!parse_group(in->group_by, &s->usage)) {
        rest_call__fail(c, ERR_USAGE_SUMMARY, "unsupported group_by: \"" STR_FMT "\"",
                        STR_ARG(in->group_by));
        return;
    }
    s->write = write_summary;
    begin(c, s);
}

static void handle_billing(struct rest_call *c)
{
    struct summary *s = REST_NEW(c, struct summary);
    if (!rest_call__has_memory(c)) {
        return;
    }
    s->usage.by = VIEW_USAGE_BY_NAMESPACE;
    if (!set_period(c, s)) {
        rest_call__fail(c, ERR_VALIDATION, "invalid period");
        return;
    }
    s->write = write_billing;
    begin(c, s);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern                  roles      flags in    handler         cost  answer                                 doc */
    {HTTP_GET, "/api/v1/usage/summary",  ROLES_AOR, 0,    NULL, handle_summary, NULL, "200 {period, from, to, totals, groups}", "Return tokens and cost of a period, by queue, model, provider or tag."},
    {HTTP_GET, "/api/v1/billing/summary", ROLES_AOR, 0,   NULL, handle_billing, NULL, "200 {period, summary}",               "Return tokens and cost of a period, by namespace."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/usage/summary", &summary_schema},
    {HTTP_GET, "/api/v1/billing/summary", &billing_schema},
};

const struct rest_routes rest_usage_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
