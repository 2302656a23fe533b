/*
 * Budgets (http-api.md 17.3): cost limits and the action when they are exceeded. The state machine
 * enforces them (fsm/apply/apply_budget.c).
 */
#include "base/limits.h"
#include "core/queue_name.h"
#include "rest/access/rest_access_int.h"
#include "rest/rest_budgets_int.h"
#include "rest/rest_page_int.h"

struct budget_in {
    struct str scope, target, on_exceed;
    double daily_usd, per_job_usd;
    uint64_t set;
};
enum { ROW_SCOPE, ROW_TARGET, ROW_DAILY, ROW_PER_JOB };

const struct json_word rest_budgets__scopes[] = {{"queue", STORE_BUDGET_QUEUE},
                                                 {"tag", STORE_BUDGET_TAG},
                                                 {"global", STORE_BUDGET_GLOBAL},
                                                 {NULL, 0}};
const struct json_word rest_budgets__actions[] = {{"hold", STORE_BUDGET_HOLD},
                                                  {"reject", STORE_BUDGET_REJECT},
                                                  {"alert_only", STORE_BUDGET_ALERT},
                                                  {NULL, 0}};

static const struct json_field budget_rows[] = {
    [ROW_SCOPE] = JSON_STR(struct budget_in, scope, 0, LIMIT_NAME_BYTES, JSON_INSISTED,
                           "What the budget applies to.", .words = rest_budgets__scopes),
    [ROW_TARGET] = JSON_STR(struct budget_in, target, 0, LIMIT_INTERNAL_NAME_BYTES, JSON_NO_CONTROL,
                            "Queue name, tag as key:value or key=value, or * for global.",
                            .told_max = LIMIT_NAME_BYTES),
    [ROW_DAILY] = JSON_F64(struct budget_in, daily_usd, INT64_MIN, (int64_t)REST_BUDGETS_USD_MAX, 0,
                           "Limit per day (from 00:00 UTC), in US dollars."),
    [ROW_PER_JOB] = JSON_F64(struct budget_in, per_job_usd, INT64_MIN,
                             (int64_t)REST_BUDGETS_USD_MAX, 0, "Limit per job, in US dollars."),
    JSON_STR(struct budget_in, on_exceed, 0, LIMIT_NAME_BYTES, 0,
             "Action when the limit is exceeded.", .words = rest_budgets__actions),
};
static const struct json_schema budget_schema =
    JSON_SCHEMA(struct budget_in, budget_rows, JSON_SET(struct budget_in, set));

static const char *word_of(const struct json_word *words, int value)
{
    while (words->word != NULL && words->value != value) {
        words++;
    }
    return words->word != NULL ? words->word : "";
}

int64_t rest_budgets__nusd(double usd)
{
    return (int64_t)(usd * 1e9 + 0.5);
}

static struct str visible_target(const struct rest_call *c, const struct rest_budgets_row *row)
{
    return row->scope == STORE_BUDGET_QUEUE ? rest_names__visible(c, row->target) : row->target;
}

void rest_budgets__write(struct json_write *w, const struct rest_call *c,
                         const struct rest_budgets_row *row)
{
    json_write_object(w);
    rest_document__text(w, "id", row->rec.id);
    rest_document__text(w, "scope", str_from_z(word_of(rest_budgets__scopes, row->scope)));
    rest_document__text(w, "target", visible_target(c, row));
    if (row->rec.ns.len > 0 && c->ns.len == 0) {
        rest_document__text(w, "namespace", row->rec.ns);
    }
    if (row->rec.has_daily) {
        rest_document__usd(w, "daily_usd", row->rec.daily_nusd);
    }
    if (row->rec.has_per_job) {
        rest_document__usd(w, "per_job_usd", row->rec.per_job_nusd);
    }
    rest_document__text(w, "on_exceed",
                        str_from_z(word_of(rest_budgets__actions, (int)row->rec.on_exceed)));
    rest_document__time(w, "created_at", row->created_at);
    json_write_end(w);
}

struct str rest_budgets__record_name(struct rest_call *c, char scope, struct str target)
{
    size_t len = 2 + c->ns.len + target.len;
    char *name = rest_call__alloc(c, len);
    name[0] = scope;
    if (c->ns.len > 0) {
        memcpy(name + 1, c->ns.ptr, c->ns.len);
    }
    if (target.len > 0) {
        memcpy(name + 2 + c->ns.len, target.ptr, target.len);
    }
    return str_from(name, len);
}

bool rest_budgets__read_row(struct str name, const struct store_access_frame *f,
                            struct rest_budgets_row *out)
{
    struct str rest = str_from_offset(name, 1);
    (void)str_cut(&rest, '\0');
    *out = (struct rest_budgets_row){
        .scope = name.ptr[0], .target = rest, .created_at = f->created_at};
    if (!store_access_decode_budget(f->body, &out->rec)) {
        return false;
    }
    if (out->rec.target.len > 0) {
        out->target = out->rec.target;
    }
    return true;
}

bool rest_budgets__sees(const struct rest_call *c, const struct rest_budgets_row *row)
{
    return (c->ns.len == 0 || str_eq(c->ns, row->rec.ns)) &&
           (row->scope != STORE_BUDGET_QUEUE || rest_names__is_visible(c, row->target));
}

static void list_one(void *data, struct str name, const struct store_access_frame *f)
{
    struct rest_page *p = data;
    struct rest_budgets_row *row = REST_NEW(p->call, struct rest_budgets_row);
    struct buf key;
    if (!rest_budgets__read_row(name, f, row) || !rest_budgets__sees(p->call, row) ||
        !str_starts_with(visible_target(p->call, row), p->prefix)) {
        return;
    }
    rest_call__buf(p->call, &key);
    buf_printf(&key, "%s " STR_FMT " " STR_FMT, word_of(rest_budgets__scopes, row->scope),
               STR_ARG(row->target), STR_ARG(row->rec.ns));
    struct str sorted = rest_call__keep(p->call, &key);
    if (rest_page__wants(p, sorted)) {
        rest_page__add(p, sorted, row);
    }
}

static void handle_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    rest_access__each(c, STORE_ACCESS_BUDGET, STR_EMPTY, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        rest_budgets__write(&w, c, page.rows[i].data);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

bool rest_budgets__tag(struct rest_call *c, struct str text, struct str *out)
{
    size_t key_len = 0;
    while (key_len < text.len && text.ptr[key_len] != ':' && text.ptr[key_len] != '=') {
        key_len++;
    }
    if (key_len == 0 || key_len == text.len || text.len > LIMIT_NAME_BYTES) {
        return false;
    }
    char *tag = rest_call__alloc(c, text.len);
    memcpy(tag, text.ptr, text.len);
    tag[key_len] = '=';
    *out = str_from(tag, text.len);
    return true;
}

/* Convert the caller's target to the stored form. */
static bool read_target(struct rest_call *c, struct str scope, struct str target, char *out_scope,
                        struct str *out)
{
    struct err err;
    int found = 0;
    *out = str_trim(target);
    if (scope.len == 0 || !rest_names__word(rest_budgets__scopes, str_trim(scope), &found)) {
        rest_call__fail(c, ERR_BUDGET, "scope: expected queue, tag or global, got '" STR_FMT "'",
                        STR_ARG(str_at_most(scope, 32)));
        return false;
    }
    *out_scope = (char)found;
    if (found != STORE_BUDGET_QUEUE && c->caller.scope.len > 0) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "scope: a key that is limited to queues can only change budgets of queues");
        return false;
    }
    if (found == STORE_BUDGET_GLOBAL) {
        bool all = out->len == 0 || str_eq(*out, STR("*"));
        *out = STR("*");
        if (!all) {
            rest_call__fail(c, ERR_BUDGET, "target: must be * for a global budget");
        }
        return all;
    }
    if (out->len == 0) {
        rest_call__fail(c, ERR_BUDGET, "target is required");
        return false;
    }
    if (found == STORE_BUDGET_QUEUE) {
        struct str visible = *out;
        if (!rest_names__internal(c, "queue", visible, out, &err)) {
            bool forbidden = err.code == ERR_FORBIDDEN;
            rest_call__fail(c, forbidden ? err.code : ERR_BUDGET, "%s%s",
                            forbidden ? "" : "target: ", err.msg);
            return false;
        }
        return true;
    }
    if (!rest_budgets__tag(c, *out, out)) {
        rest_call__fail(c, ERR_BUDGET,
                        "target: expected a tag as key:value or key=value, at most %d bytes",
                        LIMIT_NAME_BYTES);
        return false;
    }
    return true;
}

static void was_put(struct rest_call *c, const struct result *r)
{
    const struct command_access_item *item = c->data;
    struct store_access_frame frame;
    struct rest_budgets_row row;
    if (rest_call__refused(c, r)) {
        return;
    }
    if (!rest_access__read(c, STORE_ACCESS_BUDGET, item->name, &frame) ||
        !rest_budgets__read_row(item->name, &frame, &row)) {
        rest_call__fail(c, ERR_NOT_FOUND, "the budget was deleted in the meantime");
        return;
    }
    struct json_write w = rest_call__json(c);
    rest_budgets__write(&w, c, &row);
    rest_call__reply(c, 200, &w);
}

static bool read_limits(struct rest_call *c, const struct budget_in *in, struct store_budget *out)
{
    int action = 0;
    out->has_daily = (in->set >> ROW_DAILY & 1) != 0;
    out->has_per_job = (in->set >> ROW_PER_JOB & 1) != 0;
    out->on_exceed = STORE_BUDGET_HOLD;
    if (!out->has_daily && !out->has_per_job) {
        rest_call__fail(c, ERR_BUDGET, "daily_usd or per_job_usd is required");
        return false;
    }
    if (in->daily_usd < 0 || in->per_job_usd < 0) {
        rest_call__fail(c, ERR_BUDGET, "%s must not be negative",
                        in->daily_usd < 0 ? "daily_usd" : "per_job_usd");
        return false;
    }
    if (in->on_exceed.len > 0 && !rest_names__word(rest_budgets__actions, in->on_exceed, &action)) {
        rest_call__fail(c, ERR_BUDGET,
                        "on_exceed: expected hold, reject or alert_only, got '" STR_FMT "'",
                        STR_ARG(str_at_most(in->on_exceed, 32)));
        return false;
    }
    if (in->on_exceed.len > 0) {
        out->on_exceed = (enum store_budget_action)action;
    }
    out->daily_nusd = out->has_daily ? rest_budgets__nusd(in->daily_usd) : 0;
    out->per_job_nusd = out->has_per_job ? rest_budgets__nusd(in->per_job_usd) : 0;
    return true;
}

static void handle_put(struct rest_call *c)
{
    const struct budget_in *in = c->in;
    struct store_budget rec = {.ns = c->ns};
    struct str target;
    struct buf body;
    char scope = 0;
    if (!read_target(c, in->scope, in->target, &scope, &target) || !read_limits(c, in, &rec)) {
        return;
    }
    rec.target = scope == STORE_BUDGET_TAG ? str_trim(in->target) : STR_EMPTY;
    rest_call__buf(c, &body);
    store_access_encode_budget(&rec, &body);
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){.kind = STORE_ACCESS_BUDGET,
                                         .name = rest_budgets__record_name(c, scope, target),
                                         .body = rest_access__keep(c, &body)};
    c->data = item;
    rest_access__submit(c, item, 1, was_put);
}

static void handle_delete(struct rest_call *c)
{
    struct str target;
    char scope = 0;
    if (!read_target(c, c->param[0], c->param[1], &scope, &target)) {
        return;
    }
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){.kind = STORE_ACCESS_BUDGET,
                                         .deletes = true,
                                         .name = rest_budgets__record_name(c, scope, target)};
    rest_access__submit(c, item, 1, rest_access__reply_deleted);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                            roles      flags                      in              handler        cost  answer          doc */
    {HTTP_GET,    "/api/v1/budgets",                  ROLES_AOR, 0,                         NULL,           handle_list,   NULL, "200 [budget]", "List budgets, by scope and target."},
    {HTTP_POST,   "/api/v1/budgets",                  ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &budget_schema, handle_put,    NULL, "200 budget",   "Set a budget. Replaces the budget with the same scope and target."},
    {HTTP_DELETE, "/api/v1/budgets/{scope}/{target}", ROLES_AO,  ROUTE_LEADER,              NULL,           handle_delete, NULL, "200 {status}", "Delete a budget."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/budgets", &rest_page__schema}};

const struct rest_routes rest_budgets_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
