/*
 * Usage (http-api.md 17.1, 17.2): what workers reported of the models they used, summed up.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/duration.h"
#include "os/os_clock.h"
#include "rest/rest_int.h"
#include "view/view_usage.h"

#define TAG_PREFIX STR("tag:")

struct summary {
    struct str period;
    struct view_usage usage;
};

static void write_sum(struct json_write *w, const struct view_usage_sum *s)
{
    rest_document__i64(w, "input_tokens", s->input);
    rest_document__i64(w, "output_tokens", s->output);
    rest_document__i64(w, "cache_creation_tokens", s->cache_creation);
    rest_document__i64(w, "cache_read_tokens", s->cache_read);
    json_write_key(w, STR("cost_usd"));
    json_write_f64(w, (double)s->cost_nusd / (double)JOB_NUSD_PER_USD);
}

static void write_groups(struct json_write *w, const struct rest_call *c,
                         const struct view_usage *u)
{
    if (u->group_count == 0) {
        return;
    }
    rest_document__array(w, "groups");
    for (size_t i = 0; i < u->group_count; i++) {
        struct str key = u->groups[i].key;
        json_write_object(w);
        json_write_key(w, STR("key"));
        json_write_str(w, u->by == VIEW_USAGE_BY_QUEUE ? rest_names__visible(c, key) : key);
        write_sum(w, &u->groups[i]);
        rest_document__i64(w, "count", u->groups[i].reports);
        json_write_end(w);
    }
    json_write_end(w);
}

static void run_summary(struct rest_call *c, struct view_reader *r)
{
    struct summary *s = c->data;
    if (view_usage_sum(r, &s->usage, c->arena, &c->ask_err) != ERR_OK) {
        return;
    }
    struct json_write w = json_write_to(&c->answer);
    json_write_object(&w);
    rest_document__text(&w, "period", s->period);
    rest_document__time(&w, "from", s->usage.from);
    rest_document__time(&w, "to", s->usage.to);
    rest_document__object(&w, "totals");
    write_sum(&w, &s->usage.total);
    rest_document__i64(&w, "count", s->usage.total.reports);
    json_write_end(&w);
    write_groups(&w, c, &s->usage);
    json_write_end(&w);
    json_write_finish(&w);
}

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

/* Texts, and parsed below, because the refusals have a code and words of their own. */
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

static void run_billing(struct rest_call *c, struct view_reader *r)
{
    struct summary *s = c->data;
    if (view_usage_sum(r, &s->usage, c->arena, &c->ask_err) != ERR_OK) {
        return;
    }
    struct json_write w = json_write_to(&c->answer);
    json_write_object(&w);
    rest_document__text(&w, "period", s->period);
    rest_document__array(&w, "summary");
    for (size_t i = 0; i < s->usage.group_count; i++) {
        json_write_object(&w);
        json_write_key(&w, STR("namespace"));
        json_write_str(&w, s->usage.groups[i].key);
        rest_document__i64(&w, "rows", s->usage.groups[i].reports);
        write_sum(&w, &s->usage.groups[i]);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

/* The period of the query, which ends now; false when it is none. */
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
    s->usage.from = wall_add_ms(s->usage.to, -ms);
    if (s->usage.from.ns <= 0) {
        s->usage.from.ns = 1; /* 0 is no time */
    }
    return true;
}

static void handle_summary(struct rest_call *c)
{
    struct summary *s = REST_NEW(c, struct summary);
    const struct summary_in *in = c->query;
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
    c->data = s;
    rest_call__on_view(c, run_summary, rest_call__reply_asked);
}

static void handle_billing(struct rest_call *c)
{
    struct summary *s = REST_NEW(c, struct summary);
    if (!set_period(c, s)) {
        rest_call__fail(c, ERR_VALIDATION, "invalid period");
        return;
    }
    s->usage.by = VIEW_USAGE_BY_NAMESPACE;
    c->data = s;
    rest_call__on_view(c, run_billing, rest_call__reply_asked);
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
