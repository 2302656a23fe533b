/*
 * Translate a filter into cells, ranges, conditions and values. All parts of the SQL text are
 * constants of this module; values are bound.
 */
#include <stdlib.h>

#include "base/check.h"
#include "view/view_errors.h"
#include "view/view_jq.h"
#include "view/view_program_int.h"
#include "view/view_query_int.h"

enum { SQL_BYTES_MAX = 1 << 20 };

/* Values */

static int add_param(struct view_query *q, struct view_param p)
{
    CHECK(q->param_count < VIEW_QUERY_PARAMS_MAX);
    q->params[q->param_count] = p;
    return ++q->param_count;
}

int view_query__add_i64(struct view_query *q, int64_t v)
{
    return add_param(q, (struct view_param){.kind = VIEW_PARAM_I64, .number = v});
}

static int add_text(struct view_query *q, struct str v)
{
    return add_param(q, (struct view_param){.kind = VIEW_PARAM_TEXT, .text = v});
}

int view_query__add_id(struct view_query *q, struct id v)
{
    return add_param(q, (struct view_param){.kind = VIEW_PARAM_ID, .id = v});
}

static void bind_all(const struct view_query *q, sqlite3_stmt *st)
{
    int count = sqlite3_bind_parameter_count(st);
    for (int i = 1; i <= q->param_count && i <= count; i++) {
        const struct view_param *p = &q->params[i - 1];
        int rc = SQLITE_OK;
        switch (p->kind) {
        case VIEW_PARAM_I64:
            rc = sqlite3_bind_int64(st, i, p->number);
            break;
        case VIEW_PARAM_TEXT:
            view_sql__bind_text(st, i, p->text);
            break;
        case VIEW_PARAM_ID:
            view_sql__bind_id(st, i, &p->id);
            break;
        case VIEW_PARAM_JQ:
            rc = sqlite3_bind_pointer(st, i, p->jq, VIEW_JQ_POINTER, NULL);
            break;
        }
        CHECK(rc == SQLITE_OK);
    }
}

/* Conditions */

void view_query__where(struct view_query *q, const char *condition, int param)
{
    buf_printf(&q->where, " AND %s ?%d", condition, param);
}

static void where_text(struct view_query *q, const char *condition, struct str value)
{
    if (value.len > 0) {
        view_query__where(q, condition, add_text(q, value));
        q->rest = true;
    }
}

static bool is_set(struct view_span span)
{
    return span.after.ns != 0 || span.before.ns != 0;
}

/* column is a constant of this module. 0 means "not set" and never matches. The condition "> 0"
 * allows a partial index. It is last, because of two lower bounds SQLite uses the first one that it
 * reads. */
static void where_span(struct view_query *q, const char *column, struct view_span span)
{
    char condition[64];
    if (span.after.ns != 0) {
        (void)snprintf(condition, sizeof condition, "%s >", column);
        view_query__where(q, condition, view_query__add_i64(q, span.after.ns));
    }
    if (span.before.ns != 0) {
        (void)snprintf(condition, sizeof condition, "%s <", column);
        view_query__where(q, condition, view_query__add_i64(q, span.before.ns));
    }
    buf_printf(&q->where, " AND %s > 0", column);
}

/* Restrict ids to those at or above, or below, an id. Does not widen existing bounds. */
static void ids_from(struct view_query *q, struct id id)
{
    if (!q->ids.has_from || id_cmp(id, q->ids.from.id) > 0) {
        q->ids.has_from = true;
        q->ids.from.id = id;
    }
}

static void ids_until(struct view_query *q, struct id id)
{
    if (!q->ids.has_until || id_cmp(id, q->ids.until.id) < 0) {
        q->ids.has_until = true;
        q->ids.until.id = id;
    }
}

static void where_ids(struct view_query *q)
{
    if (q->ids.has_from) {
        view_query__where(q, "j.id >=", view_query__add_id(q, q->ids.from.id));
    }
    if (q->ids.has_until) {
        view_query__where(q, "j.id <", view_query__add_id(q, q->ids.until.id));
    }
}

/* Find the first id whose job was created at the time or later (`later`: only after it). An id
 * contains the time of creation in milliseconds, and later ids were not created earlier, so a time
 * is a position among the ids. It is found by reading the jobs of its millisecond; no other rows
 * need to be read. */
static enum err_code place_of(struct view_query *q, struct wall at, bool later, struct id *out,
                              struct err *err)
{
    sqlite3 *db = q->r->db;
    sqlite3_stmt *st = NULL;
    bool row = false;
    struct id first = id_make(at, 0, 0);
    *out = id_make(wall_add_ms(at, 1), 0, 0);
    if (view_sql__prepare(db,
                          "SELECT id FROM jobs NOT INDEXED WHERE id >= ?1 AND id < ?2"
                          " AND created_at >= ?3 ORDER BY id LIMIT 1",
                          &st, err) != ERR_OK) {
        return err->code;
    }
    view_sql__bind_id(st, 1, &first);
    view_sql__bind_id(st, 2, out);
    (void)sqlite3_bind_int64(st, 3, later && at.ns < INT64_MAX ? at.ns + 1 : at.ns);
    enum err_code code = view_sql__step(db, st, &row, err);
    struct id found = code == ERR_OK && row ? view_sql__id(st, 0) : *out;
    (void)sqlite3_finalize(st);
    *out = found;
    return code;
}

static enum err_code ids_created(struct view_query *q, struct view_span span, struct err *err)
{
    struct id place;
    if (span.after.ns != 0) {
        if (place_of(q, span.after, true, &place, err) != ERR_OK) {
            return err->code;
        }
        ids_from(q, place);
    }
    if (span.before.ns != 0) {
        if (place_of(q, span.before, false, &place, err) != ERR_OK) {
            return err->code;
        }
        ids_until(q, place);
    }
    return ERR_OK;
}

static void where_spans(struct view_query *q)
{
    const struct view_filter *f = q->f;
    const struct {
        struct view_span span;
        const char *column;
        enum view_rank kind;
    } rows[] = {
        {f->scheduled, "j.scheduled_at", VIEW_RANK_SCHEDULED},
        {f->started, "j.started_at", VIEW_RANK_STARTED},
        {f->completed, "j.completed_at", VIEW_RANK_COMPLETED},
        {f->expire, "j.expire_at", VIEW_RANK_EXPIRE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct view_span span = rows[i].span;
        if (is_set(span)) {
            where_span(q, rows[i].column, span);
            q->spans[q->span_count++] = (struct view_query_range){
                .kind = rows[i].kind,
                .has_from = span.after.ns != 0,
                .from.moment = span.after.ns < INT64_MAX ? span.after.ns + 1 : INT64_MAX,
                .has_until = span.before.ns != 0,
                .until.moment = span.before.ns,
            };
        }
    }
}

/* Return the next id; none after the last one. */
static struct id id_behind(struct id id)
{
    for (size_t i = ID_BYTES; i-- > 0 && ++id.b[i] == 0;) {
    }
    return id;
}

/* Restrict ids to those with the prefix: from the prefix with zeros to the prefix with z. */
static void ids_prefix(struct view_query *q, struct str prefix)
{
    char low[ID_TEXT_MAX];
    char high[ID_TEXT_MAX];
    struct id first;
    struct id last;
    size_t len = ID_JOB.len + ID_TEXT_LEN;
    if (str_starts_with(ID_JOB, prefix)) {
        return; /* all ids */
    }
    if (prefix.len > len) {
        q->nothing = true;
        return;
    }
    memset(low, '0', len);
    memset(high, 'z', len);
    memcpy(low, prefix.ptr, prefix.len);
    memcpy(high, prefix.ptr, prefix.len);
    if (!id_parse(str_from(low, len), ID_JOB, &first) ||
        !id_parse(str_from(high, len), ID_JOB, &last)) {
        q->nothing = true;
        return;
    }
    last = id_behind(last);
    ids_from(q, first);
    if (!id_is_none(last)) {
        ids_until(q, last);
    }
}

static void where_tags(struct view_query *q)
{
    for (size_t i = 0; i < q->f->tag_count; i++) {
        int key = add_text(q, q->f->tags[i].key);
        int value = add_text(q, q->f->tags[i].value);
        buf_printf(&q->where, " AND view_tag(t.tags, ?%d, ?%d)", key, value);
        q->texts = q->rest = true;
    }
}

static enum err_code where_payload(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    if (f->payload_contains.len > 0) {
        buf_printf(&q->where, " AND view_contains(" VIEW_PAYLOAD ", ?%d)",
                   add_text(q, view_functions__lower(q->arena, f->payload_contains)));
        q->texts = q->rest = true;
    }
    if (f->payload_jq.len > 0) {
        struct view_jq *jq = arena_need(q->arena, sizeof *jq, _Alignof(struct view_jq));
        if (view_jq_parse(f->payload_jq, q->arena, jq, err) != ERR_OK) {
            return err->code;
        }
        q->rest = true;
        if (jq->kind == VIEW_JQ_PROGRAM) {
            q->program = jq->text;
        } else {
            buf_printf(&q->where, " AND view_jq(" VIEW_PAYLOAD ", ?%d)",
                       add_param(q, (struct view_param){.kind = VIEW_PARAM_JQ, .jq = jq}));
            q->texts = true;
        }
    }
    return ERR_OK;
}

static void where_errors(struct view_query *q)
{
    const struct view_filter *f = q->f;
    if (f->error_contains.len > 0) {
        buf_printf(&q->where,
                   " AND EXISTS (SELECT 1 FROM errors e WHERE e.job = j.id"
                   " AND view_contains(e.error, ?%d))",
                   add_text(q, view_functions__lower(q->arena, f->error_contains)));
        q->rest = true;
    }
    if (f->error_fingerprint.len > 0) {
        int64_t mark = 0;
        q->nothing = q->nothing || !view_errors_parse(f->error_fingerprint, &mark);
        buf_printf(&q->where,
                   " AND EXISTS (SELECT 1 FROM errors e WHERE e.job = j.id AND e.mark = ?%d)",
                   view_query__add_i64(q, mark));
        q->rest = true;
    }
}

static void where_origin(struct view_query *q)
{
    const struct view_filter *f = q->f;
    struct id batch;
    where_text(q, "j.unique_key =", f->unique_key);
    where_text(q, "j.worker_id =", f->worker_id);
    where_text(q, "j.parent_id =", f->parent_id);
    where_text(q, "j.chain_id =", f->chain_id);
    if (f->depends_on.len > 0) {
        struct id on = {0};
        q->nothing = q->nothing || !id_parse(f->depends_on, ID_JOB, &on);
        buf_printf(&q->where, " AND j.id IN (SELECT d.job FROM depends d WHERE d.on_job = ?%d)",
                   view_query__add_id(q, on));
        q->rest = true;
    }
    if (f->batch_id.len > 0) {
        if (id_parse(f->batch_id, ID_BATCH, &batch)) {
            view_query__where(q, "j.batch_id =", view_query__add_id(q, batch));
            q->rest = true;
        } else {
            q->nothing = true;
        }
    }
}

static enum err_code make_conditions(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    if (f->has_chain_step) {
        view_query__where(q, "j.chain_step =", view_query__add_i64(q, f->chain_step));
        q->rest = true;
    }
    where_origin(q);
    where_errors(q);
    where_tags(q);
    ids_prefix(q, f->job_id_prefix);
    if (!id_is_none(f->above)) {
        struct id next = id_behind(f->above);
        q->nothing = q->nothing || id_is_none(next);
        ids_from(q, next);
    }
    if (!id_is_none(f->below)) {
        ids_until(q, f->below);
    }
    if (where_payload(q, err) != ERR_OK || ids_created(q, f->created, err) != ERR_OK) {
        return err->code;
    }
    where_spans(q);
    where_ids(q);
    return ERR_OK;
}

/* Queues: as numbers if they are few, otherwise as a condition. */

static enum err_code read_queues(struct view_query *q, const char *sql, unsigned *out_count,
                                 struct err *err)
{
    sqlite3 *db = q->r->db;
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    bind_all(q, st);
    enum err_code code = view_sql__step(db, st, &row, err);
    for (*out_count = 0; code == ERR_OK && row && *out_count < VIEW_QUERY_QUEUES_MAX;
         ++*out_count) {
        q->queues[*out_count] = sqlite3_column_int64(st, 0);
        code = view_sql__step(db, st, &row, err);
    }
    if (row) {
        *out_count = VIEW_QUERY_QUEUES_MAX + 1; /* more than the maximum */
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Queues of a namespace. Its bounds are the first two parameters. */
#define IN_NAMESPACE "SELECT num FROM queues WHERE name >= ?1 AND name < ?2"
/* The same with a queue scope, the third parameter; for any namespace. */
#define IN_SCOPE                                                                                   \
    "SELECT num FROM queues WHERE name >= ?1 AND (?2 = '' OR name < ?2)"                           \
    " AND view_in_scope(substr(name, length(?1) + 1), ?3)"

static const char *among(const struct view_query *q)
{
    return q->f->scope.len > 0 ? IN_SCOPE : IN_NAMESPACE;
}

static enum err_code find_queues(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    struct view_names names = view_db__names_of(q->arena, f->ns);
    unsigned count = 0;
    if (!str_starts_with(f->queue, f->queue.len > 0 ? names.low : STR_EMPTY)) {
        q->nothing = true; /* a queue of another namespace */
        return ERR_OK;
    }
    if (f->queue.len > 0) {
        (void)add_text(q, f->queue);
        if (read_queues(q, "SELECT num FROM queues WHERE name = ?1", &count, err) != ERR_OK) {
            return err->code;
        }
    } else if (f->ns.len > 0 || f->scope.len > 0) {
        (void)add_text(q, names.low);
        (void)add_text(q, names.high);
        if (f->scope.len > 0) {
            (void)add_text(q, f->scope);
        }
        if (read_queues(q, among(q), &count, err) != ERR_OK) {
            return err->code;
        }
    } else {
        return ERR_OK;
    }
    q->nothing = count == 0;
    q->queue_count = count <= VIEW_QUERY_QUEUES_MAX ? count : 0;
    q->many_queues = count > VIEW_QUERY_QUEUES_MAX;
    if (q->many_queues) {
        buf_printf(&q->where, " AND j.queue IN (%s)", among(q));
    }
    return ERR_OK;
}

/* Cells */

static bool is_wanted(const struct view_query *q, struct view_cell cell)
{
    const struct view_filter *f = q->f;
    return (q->states & 1U << cell.state) != 0 &&
           (!f->has_priority || cell.priority == f->priority) &&
           (!f->has_attempt_min || cell.attempt >= f->attempt_min) &&
           (!f->has_attempt_max || cell.attempt <= f->attempt_max) &&
           (!f->has_errors_set || cell.failing == (int64_t)f->has_errors) &&
           ((f->error_contains.len == 0 && f->error_fingerprint.len == 0) || cell.failing == 1);
}

static void keep_cell(struct view_query *q, sqlite3_stmt *st, size_t *cap)
{
    struct view_query_cell c = {.queue = sqlite3_column_int64(st, 0),
                                .cell = {.state = sqlite3_column_int64(st, 1),
                                         .priority = sqlite3_column_int64(st, 2),
                                         .attempt = sqlite3_column_int64(st, 3),
                                         .failing = sqlite3_column_int64(st, 4)},
                                .n = sqlite3_column_int64(st, 5)};
    if (c.cell.state < 0 || c.cell.state >= JOB_STATE_COUNT) {
        return; /* from a damaged file */
    }
    c.wanted = is_wanted(q, c.cell);
    q->wanted_n += c.wanted ? c.n : 0;
    if (q->cell_count == *cap) {
        *cap = *cap == 0 ? 64 : *cap * 2;
        q->cells = realloc(q->cells, *cap * sizeof *q->cells);
        CHECK(q->cells != NULL);
    }
    q->cells[q->cell_count++] = c;
}

#define CELL "state, priority, attempt, failing"

static enum err_code read_cells(struct view_query *q, struct err *err)
{
    sqlite3_stmt *st = NULL;
    size_t cap = 0;
    bool row = false;
    buf_clear(&q->sql);
    if (q->many_queues) {
        buf_printf(&q->sql,
                   "SELECT 0, " CELL ", sum(n) FROM counts WHERE queue IN (%s) GROUP BY " CELL
                   " ORDER BY " CELL,
                   among(q));
    } else {
        buf_add_str(&q->sql, STR("SELECT queue, " CELL ", n FROM counts WHERE queue IN ("));
        for (unsigned i = 0; i < q->queue_count; i++) {
            buf_printf(&q->sql, "%s%lld", i == 0 ? "" : ", ", (long long)q->queues[i]);
        }
        buf_add_str(&q->sql, q->queue_count == 0 ? STR("0") : STR_EMPTY);
        buf_add_str(&q->sql, STR(") ORDER BY queue, " CELL));
    }
    enum err_code code = view_query__prepare(q, &st, err);
    if (code == ERR_OK) {
        code = view_sql__step(q->r->db, st, &row, err);
    }
    while (code == ERR_OK && row) {
        keep_cell(q, st, &cap);
        code = view_sql__step(q->r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_query__begin(struct view_query *q, struct view_reader *r,
                                const struct view_filter *f, struct arena *a, struct err *err)
{
    *q = (struct view_query){.r = r, .arena = a, .f = f, .ids.kind = VIEW_RANK_CREATED};
    buf_init(&q->where, SQL_BYTES_MAX);
    buf_init(&q->sql, SQL_BYTES_MAX);
    q->states = f->states == 0 ? VIEW_QUERY_ALL_STATES : f->states & VIEW_QUERY_ALL_STATES;
    if (f->tag_count > LIMIT_TAGS) {
        return err_set(err, ERR_VALIDATION, "tags: expected at most %d", LIMIT_TAGS);
    }
    if (find_queues(q, err) != ERR_OK) {
        return err->code;
    }
    /* Report an invalid filter even if nothing can match. */
    bool nothing = q->nothing;
    enum err_code code = make_conditions(q, err);
    q->nothing = q->nothing || nothing;
    if (code == ERR_OK && q->nothing && q->program.len > 0) {
        code = view_program__check(r, q->program, err);
    }
    return code == ERR_OK && !q->nothing ? read_cells(q, err) : code;
}

void view_query__end(struct view_query *q)
{
    free(q->cells);
    buf_deinit(&q->where);
    buf_deinit(&q->sql);
}

enum err_code view_query__prepare(struct view_query *q, sqlite3_stmt **out, struct err *err)
{
    buf_add_char(&q->sql, '\0');
    if (q->sql.overflow || q->where.overflow) {
        return err_set(err, ERR_VALIDATION, "the filter is too large");
    }
    if (view_sql__prepare(q->r->db, q->sql.ptr, out, err) != ERR_OK) {
        return err->code;
    }
    bind_all(q, *out);
    return ERR_OK;
}

enum err_code view_query__in_range(struct view_query *q, struct view_line line,
                                   const struct view_query_range *range, int64_t *out,
                                   struct err *err)
{
    sqlite3 *db = q->r->db;
    int64_t before = 0;
    int64_t all = 0;
    enum err_code code = range->has_until ? view_ranks__before(db, line, range->until, &all, err)
                                          : view_ranks__all(db, line, &all, err);
    if (code == ERR_OK && range->has_from) {
        code = view_ranks__before(db, line, range->from, &before, err);
    }
    *out = all > before ? all - before : 0;
    return code;
}
