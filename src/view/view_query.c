/*
 * A filter as conditions and values. All pieces of text are constants of this file; values are
 * bound.
 */
#include "base/check.h"
#include "view/view_jq.h"
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
            view_db__bind_text(st, i, p->text);
            break;
        case VIEW_PARAM_ID:
            view_db__bind_id(st, i, &p->id);
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
    q->plain = false;
}

static void where_text(struct view_query *q, const char *condition, struct str value)
{
    if (value.len > 0) {
        view_query__where(q, condition, add_text(q, value));
    }
}

bool view_query__is_set(struct view_span span)
{
    return span.after.ns != 0 || span.before.ns != 0;
}

/* column: one of ours. 0 is "not set" and never matches; said like this a partial index fits. */
static void where_span(struct view_query *q, const char *column, struct view_span span)
{
    char condition[64];
    if (view_query__is_set(span)) {
        buf_printf(&q->where, " AND %s > 0", column);
    }
    if (span.after.ns != 0) {
        (void)snprintf(condition, sizeof condition, "%s >", column);
        view_query__where(q, condition, view_query__add_i64(q, span.after.ns));
    }
    if (span.before.ns != 0) {
        (void)snprintf(condition, sizeof condition, "%s <", column);
        view_query__where(q, condition, view_query__add_i64(q, span.before.ns));
    }
}

/* Creation is in the id, to the millisecond, and later ids were not created earlier: a moment is a
 * place among the ids. It is found by a look at the jobs of its millisecond, and then no other row
 * has to be looked at. The first id from that millisecond on whose job was created at the moment or
 * later, or only later. */
static enum err_code place_of(struct view_query *q, struct wall at, bool later, struct id *out,
                              struct err *err)
{
    sqlite3 *db = q->r->db;
    sqlite3_stmt *st = NULL;
    bool row = false;
    struct id first = id_make(at, 0, 0);
    *out = id_make(wall_add_ms(at, 1), 0, 0);
    if (view_db__prepare(db,
                         "SELECT id FROM jobs NOT INDEXED WHERE id >= ?1 AND id < ?2"
                         " AND created_at >= ?3 ORDER BY id LIMIT 1",
                         &st, err) != ERR_OK) {
        return err->code;
    }
    view_db__bind_id(st, 1, &first);
    view_db__bind_id(st, 2, out);
    (void)sqlite3_bind_int64(st, 3, later && at.ns < INT64_MAX ? at.ns + 1 : at.ns);
    enum err_code code = view_db__step(db, st, &row, err);
    struct id found = code == ERR_OK && row ? view_db__id(st, 0) : *out;
    (void)sqlite3_finalize(st);
    *out = found;
    return code;
}

static enum err_code where_created(struct view_query *q, struct view_span span, struct err *err)
{
    struct id place;
    if (span.after.ns != 0) {
        if (place_of(q, span.after, true, &place, err) != ERR_OK) {
            return err->code;
        }
        view_query__where(q, "j.id >=", view_query__add_id(q, place));
        q->from.id = place;
    }
    if (span.before.ns != 0) {
        if (place_of(q, span.before, false, &place, err) != ERR_OK) {
            return err->code;
        }
        view_query__where(q, "j.id <", view_query__add_id(q, place));
        q->until.id = place;
    }
    return ERR_OK;
}

/* All spans; after all other conditions, so that plain says whether there are any. */
static enum err_code where_spans(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    const struct {
        struct view_span span;
        const char *column;
        enum view_rank rank; /* VIEW_RANK_COUNT: it has none */
    } rows[] = {
        {f->created, NULL, VIEW_RANK_CREATED},
        {f->scheduled, "j.scheduled_at", VIEW_RANK_SCHEDULED},
        {f->started, "j.started_at", VIEW_RANK_COUNT},
        {f->completed, "j.completed_at", VIEW_RANK_COMPLETED},
        {f->expire, "j.expire_at", VIEW_RANK_EXPIRE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct view_span span = rows[i].span;
        if (!view_query__is_set(span)) {
            continue;
        }
        q->ranked = q->plain && rows[i].rank != VIEW_RANK_COUNT && f->states == 0 &&
                    f->queue.len == 0 && f->ns.len == 0;
        q->rank = rows[i].rank;
        q->has_from = span.after.ns != 0;
        q->has_until = span.before.ns != 0;
        q->from.moment = span.after.ns < INT64_MAX ? span.after.ns + 1 : INT64_MAX;
        q->until.moment = span.before.ns;
        if (rows[i].column != NULL) {
            where_span(q, rows[i].column, span);
        } else if (where_created(q, span, err) != ERR_OK) {
            return err->code;
        }
        q->plain = false;
    }
    return ERR_OK;
}

/* Ids whose text begins like this: from the one that goes on with zeros to the one with z. */
static void where_prefix(struct view_query *q, struct str prefix)
{
    char low[ID_TEXT_MAX];
    char high[ID_TEXT_MAX];
    struct id first;
    struct id last;
    size_t len = ID_JOB.len + ID_TEXT_LEN;
    if (prefix.len == 0 || str_starts_with(ID_JOB, prefix)) {
        q->plain = q->plain && prefix.len == 0;
        return;
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
    view_query__where(q, "j.id >=", view_query__add_id(q, first));
    view_query__where(q, "j.id <=", view_query__add_id(q, last));
}

static void where_tags(struct view_query *q)
{
    for (size_t i = 0; i < q->f->tag_count; i++) {
        int key = add_text(q, q->f->tags[i].key);
        int value = add_text(q, q->f->tags[i].value);
        buf_printf(&q->where, " AND view_tag(t.tags, ?%d, ?%d)", key, value);
        q->texts = true;
        q->plain = false;
    }
}

static enum err_code where_payload(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    if (f->payload_contains.len > 0) {
        buf_printf(&q->where, " AND view_contains(t.payload, ?%d)",
                   add_text(q, view_functions__lower(q->arena, f->payload_contains)));
        q->texts = true;
    }
    if (f->payload_jq.len > 0) {
        struct view_jq *jq = ARENA_NEW(q->arena, struct view_jq);
        CHECK(jq != NULL);
        if (view_jq_parse(f->payload_jq, q->arena, jq, err) != ERR_OK) {
            return err->code;
        }
        q->plain = false;
        if (jq->kind == VIEW_JQ_PROGRAM) {
            q->program = jq->text;
        } else {
            buf_printf(&q->where, " AND view_jq(t.payload, ?%d)",
                       add_param(q, (struct view_param){.kind = VIEW_PARAM_JQ, .jq = jq}));
            q->texts = true;
        }
    }
    q->plain = q->plain && !q->texts;
    return ERR_OK;
}

static void where_errors(struct view_query *q)
{
    const struct view_filter *f = q->f;
    if (f->has_errors_set) {
        buf_add_str(&q->where, f->has_errors ? STR(" AND j.errors > 0") : STR(" AND j.errors = 0"));
        q->plain = false;
    }
    if (f->error_contains.len > 0) {
        buf_printf(&q->where,
                   " AND j.errors > 0 AND EXISTS (SELECT 1 FROM errors e WHERE e.job = j.id"
                   " AND view_contains(e.error, ?%d))",
                   add_text(q, view_functions__lower(q->arena, f->error_contains)));
        q->plain = false;
    }
}

static void where_numbers(struct view_query *q)
{
    const struct view_filter *f = q->f;
    if (f->has_priority) {
        view_query__where(q, "j.priority =", view_query__add_i64(q, f->priority));
    }
    if (f->has_attempt_min) {
        view_query__where(q, "j.attempt >=", view_query__add_i64(q, f->attempt_min));
    }
    if (f->has_attempt_max) {
        view_query__where(q, "j.attempt <=", view_query__add_i64(q, f->attempt_max));
    }
    if (f->has_chain_step) {
        view_query__where(q, "j.chain_step =", view_query__add_i64(q, f->chain_step));
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
    if (f->batch_id.len > 0) {
        if (id_parse(f->batch_id, ID_BATCH, &batch)) {
            view_query__where(q, "j.batch_id =", view_query__add_id(q, batch));
        } else {
            q->nothing = true;
        }
    }
}

static enum err_code make_conditions(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    q->plain = true;
    where_numbers(q);
    where_origin(q);
    where_prefix(q, f->job_id_prefix);
    where_errors(q);
    where_tags(q);
    return where_payload(q, err) == ERR_OK ? where_spans(q, err) : err->code;
}

/* Queues: as numbers when they are few, else as a condition. */

static enum err_code read_queues(struct view_query *q, const char *sql, unsigned *out_count,
                                 struct err *err)
{
    sqlite3 *db = q->r->db;
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_db__prepare(db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    bind_all(q, st);
    enum err_code code = view_db__step(db, st, &row, err);
    for (*out_count = 0; code == ERR_OK && row && *out_count < VIEW_QUERY_QUEUES_MAX;
         ++*out_count) {
        q->queues[*out_count] = sqlite3_column_int64(st, 0);
        code = view_db__step(db, st, &row, err);
    }
    if (row) {
        *out_count = VIEW_QUERY_QUEUES_MAX + 1; /* and more */
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Its bounds are the first two parameters. */
#define IN_NAMESPACE "SELECT num FROM queues WHERE name >= ?1 AND name < ?2"

static enum err_code find_queues(struct view_query *q, struct err *err)
{
    const struct view_filter *f = q->f;
    struct view_names names = view_db__names_of(q->arena, f->ns);
    unsigned count = 0;
    if (!str_starts_with(f->queue, f->queue.len > 0 ? names.low : STR_EMPTY)) {
        q->nothing = true; /* a queue of somebody else */
        return ERR_OK;
    }
    if (f->queue.len > 0) {
        (void)add_text(q, f->queue);
        if (read_queues(q, "SELECT num FROM queues WHERE name = ?1", &count, err) != ERR_OK) {
            return err->code;
        }
    } else if (f->ns.len > 0) {
        (void)add_text(q, names.low);
        (void)add_text(q, names.high);
        if (read_queues(q, IN_NAMESPACE, &count, err) != ERR_OK) {
            return err->code;
        }
    } else {
        return ERR_OK;
    }
    q->nothing = count == 0;
    q->queue_count = count <= VIEW_QUERY_QUEUES_MAX ? count : 0;
    if (count > VIEW_QUERY_QUEUES_MAX) {
        buf_add_str(&q->where, STR(" AND j.queue IN (" IN_NAMESPACE ")"));
    }
    return ERR_OK;
}
enum err_code view_query__begin(struct view_query *q, struct view_reader *r,
                                const struct view_filter *f, struct arena *a, struct err *err)
{
    *q = (struct view_query){.r = r, .arena = a, .f = f};
    buf_init(&q->where, SQL_BYTES_MAX);
    buf_init(&q->sql, SQL_BYTES_MAX);
    if (f->tag_count > LIMIT_TAGS) {
        return err_set(err, ERR_VALIDATION, "tags: expected at most %d", LIMIT_TAGS);
    }
    if (find_queues(q, err) != ERR_OK) {
        return err->code;
    }
    bool nothing = q->nothing || (f->states != 0 && (f->states & VIEW_QUERY_ALL_STATES) == 0);
    enum err_code code = make_conditions(q, err);
    q->nothing = q->nothing || nothing;
    q->states = f->states == 0 ? VIEW_QUERY_ALL_STATES : f->states & VIEW_QUERY_ALL_STATES;
    return code;
}

void view_query__end(struct view_query *q)
{
    buf_deinit(&q->where);
    buf_deinit(&q->sql);
}

enum err_code view_query__prepare(struct view_query *q, sqlite3_stmt **out, struct err *err)
{
    buf_add_char(&q->sql, '\0');
    if (q->sql.overflow || q->where.overflow) {
        return err_set(err, ERR_VALIDATION, "the filter is too large");
    }
    if (view_db__prepare(q->r->db, q->sql.ptr, out, err) != ERR_OK) {
        return err->code;
    }
    bind_all(q, *out);
    return ERR_OK;
}
