/*
 * A filter becomes one statement: branches, one per queue and state that an index can walk in
 * order, each with all conditions; an order and a page. SQLite merges branches that come in order,
 * so a page of the newest jobs of a queue costs a page and not a queue. All pieces of text are
 * constants of this file; values are bound.
 */
#include "view/view_search.h"

#include "base/check.h"
#include "base/limits.h"
#include "view/view_int.h"
#include "view/view_jq.h"
#include "view/view_program_int.h"

enum {
    PARAMS_MAX = 2 * LIMIT_TAGS + 64,
    QUEUES_MAX = 16,   /* of a namespace, that become branches */
    BRANCHES_MAX = 64, /* SQLite allows 500; each takes some microseconds to prepare */
    SQL_BYTES_MAX = 1 << 20,
};

struct param {
    enum { PARAM_I64, PARAM_TEXT, PARAM_ID, PARAM_JQ } kind;
    union {
        int64_t number;
        struct str text;
        struct id id;
        struct view_jq *jq;
    };
};

struct query {
    struct view_reader *r;
    struct arena *arena;
    const struct view_filter *f;
    struct param params[PARAMS_MAX];
    int param_count;
    struct buf where; /* conditions on a row, each with " AND " in front */
    struct buf sql;
    bool nothing;       /* no job can match */
    bool texts;         /* a condition looks at texts */
    struct str program; /* of payload_jq, asked of all rows that the statement gives */
    bool plain;         /* only namespace, queue and state are asked for: the counters know */
    bool ranked;        /* only one span is asked for, and nothing else: the ranks know */
    enum view_rank rank;
    struct view_place from, until;
    bool has_from, has_until;
    const char *index; /* that the one branch walks; NULL: branches by queue and state */
    int64_t queues[QUEUES_MAX];
    unsigned queue_count; /* 0: all */
    unsigned states;      /* of the branches */
    const char *sort;     /* column; NULL: the id */
    bool ascending;
    int limit, offset; /* parameters; 0: none */
};

/* Values */

static int add_param(struct query *q, struct param p)
{
    CHECK(q->param_count < PARAMS_MAX);
    q->params[q->param_count] = p;
    return ++q->param_count;
}

static int add_i64(struct query *q, int64_t v)
{
    return add_param(q, (struct param){.kind = PARAM_I64, .number = v});
}

static int add_text(struct query *q, struct str v)
{
    return add_param(q, (struct param){.kind = PARAM_TEXT, .text = v});
}

static int add_id(struct query *q, struct id v)
{
    return add_param(q, (struct param){.kind = PARAM_ID, .id = v});
}

static void bind_all(const struct query *q, sqlite3_stmt *st)
{
    int count = sqlite3_bind_parameter_count(st);
    for (int i = 1; i <= q->param_count && i <= count; i++) {
        const struct param *p = &q->params[i - 1];
        int rc = SQLITE_OK;
        switch (p->kind) {
        case PARAM_I64:
            rc = sqlite3_bind_int64(st, i, p->number);
            break;
        case PARAM_TEXT:
            view_db__bind_text(st, i, p->text);
            break;
        case PARAM_ID:
            view_db__bind_id(st, i, &p->id);
            break;
        case PARAM_JQ:
            rc = sqlite3_bind_pointer(st, i, p->jq, VIEW_JQ_POINTER, NULL);
            break;
        }
        CHECK(rc == SQLITE_OK);
    }
}

/* Conditions */

static void where(struct query *q, const char *condition, int param)
{
    buf_printf(&q->where, " AND %s ?%d", condition, param);
    q->plain = false;
}

static void where_text(struct query *q, const char *condition, struct str value)
{
    if (value.len > 0) {
        where(q, condition, add_text(q, value));
    }
}

static bool is_set(struct view_span span)
{
    return span.after.ns != 0 || span.before.ns != 0;
}

/* column: one of ours. 0 is "not set" and never matches; said like this a partial index fits. */
static void where_span(struct query *q, const char *column, struct view_span span)
{
    char condition[64];
    if (is_set(span)) {
        buf_printf(&q->where, " AND %s > 0", column);
    }
    if (span.after.ns != 0) {
        (void)snprintf(condition, sizeof condition, "%s >", column);
        where(q, condition, add_i64(q, span.after.ns));
    }
    if (span.before.ns != 0) {
        (void)snprintf(condition, sizeof condition, "%s <", column);
        where(q, condition, add_i64(q, span.before.ns));
    }
}

/* Creation is in the id, to the millisecond, and later ids were not created earlier: a moment is a
 * place among the ids. It is found by a look at the jobs of its millisecond, and then no other row
 * has to be looked at. The first id from that millisecond on whose job was created at the moment or
 * later, or only later. */
static enum err_code place_of(struct query *q, struct wall at, bool later, struct id *out,
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

static enum err_code where_created(struct query *q, struct view_span span, struct err *err)
{
    struct id place;
    if (span.after.ns != 0) {
        if (place_of(q, span.after, true, &place, err) != ERR_OK) {
            return err->code;
        }
        where(q, "j.id >=", add_id(q, place));
        q->from.id = place;
    }
    if (span.before.ns != 0) {
        if (place_of(q, span.before, false, &place, err) != ERR_OK) {
            return err->code;
        }
        where(q, "j.id <", add_id(q, place));
        q->until.id = place;
    }
    return ERR_OK;
}

/* All spans; after all other conditions, so that plain says whether there are any. */
static enum err_code where_spans(struct query *q, struct err *err)
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
        if (!is_set(span)) {
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
static void where_prefix(struct query *q, struct str prefix)
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
    where(q, "j.id >=", add_id(q, first));
    where(q, "j.id <=", add_id(q, last));
}

static void where_tags(struct query *q)
{
    for (size_t i = 0; i < q->f->tag_count; i++) {
        int key = add_text(q, q->f->tags[i].key);
        int value = add_text(q, q->f->tags[i].value);
        buf_printf(&q->where, " AND view_tag(t.tags, ?%d, ?%d)", key, value);
        q->texts = true;
        q->plain = false;
    }
}

static enum err_code where_payload(struct query *q, struct err *err)
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
                       add_param(q, (struct param){.kind = PARAM_JQ, .jq = jq}));
            q->texts = true;
        }
    }
    q->plain = q->plain && !q->texts;
    return ERR_OK;
}

static void where_errors(struct query *q)
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

static void where_numbers(struct query *q)
{
    const struct view_filter *f = q->f;
    if (f->has_priority) {
        where(q, "j.priority =", add_i64(q, f->priority));
    }
    if (f->has_attempt_min) {
        where(q, "j.attempt >=", add_i64(q, f->attempt_min));
    }
    if (f->has_attempt_max) {
        where(q, "j.attempt <=", add_i64(q, f->attempt_max));
    }
    if (f->has_chain_step) {
        where(q, "j.chain_step =", add_i64(q, f->chain_step));
    }
}

static void where_origin(struct query *q)
{
    const struct view_filter *f = q->f;
    struct id batch;
    where_text(q, "j.unique_key =", f->unique_key);
    where_text(q, "j.worker_id =", f->worker_id);
    where_text(q, "j.parent_id =", f->parent_id);
    where_text(q, "j.chain_id =", f->chain_id);
    if (f->batch_id.len > 0) {
        if (id_parse(f->batch_id, ID_BATCH, &batch)) {
            where(q, "j.batch_id =", add_id(q, batch));
        } else {
            q->nothing = true;
        }
    }
}

static enum err_code make_conditions(struct query *q, struct err *err)
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

static enum err_code read_queues(struct query *q, const char *sql, unsigned *out_count,
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
    for (*out_count = 0; code == ERR_OK && row && *out_count < QUEUES_MAX; ++*out_count) {
        q->queues[*out_count] = sqlite3_column_int64(st, 0);
        code = view_db__step(db, st, &row, err);
    }
    if (row) {
        *out_count = QUEUES_MAX + 1; /* and more */
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Its bounds are the first two parameters. */
#define IN_NAMESPACE "SELECT num FROM queues WHERE name >= ?1 AND name < ?2"

static enum err_code find_queues(struct query *q, struct err *err)
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
    q->queue_count = count <= QUEUES_MAX ? count : 0;
    if (count > QUEUES_MAX) {
        buf_add_str(&q->where, STR(" AND j.queue IN (" IN_NAMESPACE ")"));
    }
    return ERR_OK;
}

/* Which index: the rarest property first. */
static const char *choose_index(const struct query *q)
{
    const struct view_filter *f = q->f;
    const struct {
        bool fits;
        const char *index;
    } rows[] = {
        {f->unique_key.len > 0, "INDEXED BY jobs_unique"},
        {f->batch_id.len > 0, "INDEXED BY jobs_batch"},
        {f->chain_id.len > 0, "INDEXED BY jobs_chain"},
        {f->parent_id.len > 0, "INDEXED BY jobs_parent"},
        {f->worker_id.len > 0, "INDEXED BY jobs_worker"},
        {f->job_id_prefix.len > ID_JOB.len, "NOT INDEXED"},
        {q->sort != NULL && strcmp(q->sort, "j.failed_at") == 0 && f->states == 1U << JOB_DEAD,
         "INDEXED BY jobs_dead"},
        {is_set(f->completed), "INDEXED BY jobs_completed"},
        {is_set(f->expire), "INDEXED BY jobs_expire"},
        {is_set(f->scheduled), "INDEXED BY jobs_scheduled"},
        {q->queue_count > 0, NULL},
        {(f->has_errors_set && f->has_errors) || f->error_contains.len > 0,
         "INDEXED BY jobs_failing"},
        {f->states != 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].fits) {
            return rows[i].index;
        }
    }
    return "NOT INDEXED";
}

enum { ALL_STATES = (1U << JOB_STATE_COUNT) - 1 };

/* Queue and state as conditions, where they do not make branches. */
static void write_place(struct query *q)
{
    const char *comma = "";
    if (q->queue_count > 0) {
        buf_add_str(&q->sql, STR(" AND j.queue IN ("));
        for (unsigned i = 0; i < q->queue_count; i++, comma = ", ") {
            buf_printf(&q->sql, "%s%lld", comma, (long long)q->queues[i]);
        }
        buf_add_char(&q->sql, ')');
    }
    if (q->f->states == 1U << JOB_DEAD) {
        buf_printf(&q->sql, " AND j.state = %d", JOB_DEAD); /* as the partial index says it */
    } else if (q->f->states != 0) {
        comma = "";
        buf_add_str(&q->sql, STR(" AND j.state IN ("));
        for (int s = 0; s < JOB_STATE_COUNT; s++) {
            if ((q->f->states & 1U << s) != 0) {
                buf_printf(&q->sql, "%s%d", comma, s);
                comma = ", ";
            }
        }
        buf_add_char(&q->sql, ')');
    }
}

static void write_branch(struct query *q, const char *what, const char *index)
{
    if (q->sql.len > 0 && q->sql.ptr[q->sql.len - 1] != '(') {
        buf_add_str(&q->sql, STR(" UNION ALL "));
    }
    buf_printf(&q->sql, "SELECT %s", what);
    buf_printf(&q->sql, " FROM jobs j %s", index);
    if (q->texts) {
        buf_add_str(&q->sql, STR(" CROSS JOIN texts t ON t.num = j.num"));
    }
    buf_add_str(&q->sql, STR(" WHERE 1"));
}

static void write_branches(struct query *q, const char *what)
{
    unsigned queues = q->queue_count == 0 ? 1 : q->queue_count;
    if (q->index != NULL || queues * JOB_STATE_COUNT > BRANCHES_MAX) {
        write_branch(q, what, q->index != NULL ? q->index : "");
        write_place(q);
        buf_add_str(&q->sql, buf_str(&q->where));
        return;
    }
    for (unsigned i = 0; i < queues; i++) {
        for (int s = 0; s < JOB_STATE_COUNT; s++) {
            if ((q->states & 1U << s) == 0) {
                continue;
            }
            write_branch(q, what,
                         q->queue_count > 0 ? "INDEXED BY jobs_line" : "INDEXED BY jobs_state");
            if (q->queue_count > 0) {
                buf_printf(&q->sql, " AND j.queue = %lld", (long long)q->queues[i]);
            }
            buf_printf(&q->sql, " AND j.state = %d", s);
            buf_add_str(&q->sql, buf_str(&q->where));
        }
    }
}

/* Statements */

static enum err_code begin_query(struct query *q, struct view_reader *r,
                                 const struct view_filter *f, struct arena *a, struct err *err)
{
    *q = (struct query){.r = r, .arena = a, .f = f};
    buf_init(&q->where, SQL_BYTES_MAX);
    buf_init(&q->sql, SQL_BYTES_MAX);
    if (f->tag_count > LIMIT_TAGS) {
        return err_set(err, ERR_VALIDATION, "tags: expected at most %d", LIMIT_TAGS);
    }
    if (find_queues(q, err) != ERR_OK) {
        return err->code;
    }
    bool nothing = q->nothing || (f->states != 0 && (f->states & ALL_STATES) == 0);
    enum err_code code = make_conditions(q, err);
    q->nothing = q->nothing || nothing;
    q->states = f->states == 0 ? ALL_STATES : f->states & ALL_STATES;
    return code;
}

static void end_query(struct query *q)
{
    buf_deinit(&q->where);
    buf_deinit(&q->sql);
}

static enum err_code prepare(struct query *q, sqlite3_stmt **out, struct err *err)
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

static enum err_code make_room(struct query *q, uint32_t max, struct id **out, struct err *err)
{
    *out = ARENA_ARRAY(q->arena, struct id, max == 0 ? 1 : max);
    return *out != NULL ? ERR_OK : err_set(err, ERR_TOO_LARGE, "there is no room for %u ids", max);
}

/* The matches in order: their id, what they are ordered by, and one more column. */
static void write_ordered(struct query *q, const char *column)
{
    char what[64];
    const char *way = q->ascending ? "" : " DESC";
    (void)snprintf(what, sizeof what, "j.id AS id, %s AS s%s", q->sort == NULL ? "0" : q->sort,
                   column);
    buf_clear(&q->sql);
    write_branches(q, what);
    buf_printf(&q->sql, " ORDER BY %s%s%s", q->sort == NULL ? "" : "s", q->sort == NULL ? "" : way,
               q->sort == NULL ? "" : ", ");
    buf_printf(&q->sql, "id%s", way);
}

/* Page and total of a search that has a program. */
static enum err_code ask_program(struct query *q, struct view_program *p, struct err *err)
{
    sqlite3_stmt *st = NULL;
    enum { NUM = 2 };
    p->text = q->program;
    if (make_room(q, p->max, &p->ids, err) != ERR_OK) {
        return err->code;
    }
    write_ordered(q, ", j.num AS num");
    enum err_code code = prepare(q, &st, err);
    if (code == ERR_OK) {
        code = view_program__select(q->r, p, st, NUM, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* The ids of the page into the arena. */
static enum err_code read_page(struct query *q, uint32_t max, struct id **out_ids,
                               size_t *out_count, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    struct id *ids = NULL;
    *out_count = 0;
    if (make_room(q, max, &ids, err) != ERR_OK) {
        return err->code;
    }
    write_ordered(q, "");
    buf_printf(&q->sql, " LIMIT ?%d", q->limit);
    if (q->offset > 0) {
        buf_printf(&q->sql, " OFFSET ?%d", q->offset);
    }
    *out_ids = ids;
    if (prepare(q, &st, err) != ERR_OK) {
        (void)sqlite3_finalize(st);
        return err->code;
    }
    enum err_code code = view_db__step(q->r->db, st, &row, err);
    while (code == ERR_OK && row && *out_count < max) {
        ids[(*out_count)++] = view_db__id(st, 0);
        code = view_db__step(q->r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

static void write_counters(struct query *q)
{
    buf_add_str(&q->sql, STR("SELECT sum(j.n) FROM counts j WHERE 1"));
    write_place(q);
    buf_add_str(&q->sql, buf_str(&q->where)); /* at most the namespace, which is a condition */
}

/* Jobs of the one span: those before its end without those before its beginning. */
static enum err_code read_ranks(struct query *q, uint64_t *out, struct err *err)
{
    sqlite3 *db = q->r->db;
    int64_t before = 0;
    int64_t all = 0;
    enum err_code code = q->has_until ? view_ranks__before(db, q->rank, q->until, &all, err)
                                      : view_ranks__all(db, q->rank, &all, err);
    if (code == ERR_OK && q->has_from) {
        code = view_ranks__before(db, q->rank, q->from, &before, err);
    }
    *out = all > before ? (uint64_t)(all - before) : 0;
    return code;
}

static enum err_code read_count(struct query *q, uint64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (q->ranked) {
        return read_ranks(q, out, err);
    }
    buf_clear(&q->sql);
    if (q->plain) {
        write_counters(q);
    } else {
        buf_add_str(&q->sql, STR("SELECT sum(n) FROM ("));
        write_branches(q, "count(*) AS n");
        buf_add_char(&q->sql, ')');
    }
    if (prepare(q, &st, err) != ERR_OK) {
        (void)sqlite3_finalize(st);
        return err->code;
    }
    enum err_code code = view_db__step(q->r->db, st, &row, err);
    if (code == ERR_OK) {
        *out = row ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* What is asked */

enum err_code view_search_check(const struct view_filter *f, struct err *err)
{
    struct view_jq jq;
    struct arena *a;
    if (f->tag_count > LIMIT_TAGS) {
        return err_set(err, ERR_VALIDATION, "tags: expected at most %d", LIMIT_TAGS);
    }
    if (f->payload_jq.len == 0) {
        return ERR_OK;
    }
    a = arena_new((size_t)VIEW_JQ_BYTES_MAX * 2);
    enum err_code code = view_jq_parse(f->payload_jq, a, &jq, err);
    arena_free(a);
    return code;
}

static const char *const sort_columns[] = {
    [VIEW_SORT_CREATED_AT] = NULL, /* ids are in that order */
    [VIEW_SORT_PRIORITY] = "j.priority",
    [VIEW_SORT_STARTED_AT] = "j.started_at",
    [VIEW_SORT_COMPLETED_AT] = "j.completed_at",
    [VIEW_SORT_ATTEMPT] = "j.attempt",
    [VIEW_SORT_SCHEDULED_AT] = "j.scheduled_at",
    [VIEW_SORT_FAILED_AT] = "j.failed_at",
};

static enum err_code run_statements(struct query *q, struct view_search *s, struct err *err)
{
    q->limit = add_i64(q, s->limit);
    q->offset = add_i64(q, s->offset > INT64_MAX ? INT64_MAX : (int64_t)s->offset);
    if (read_page(q, s->limit, &s->ids, &s->count, err) != ERR_OK) {
        return err->code;
    }
    if (s->count < s->limit && (s->count > 0 || s->offset == 0)) {
        s->total = s->offset + s->count; /* it was the last page */
        return ERR_OK;
    }
    return read_count(q, &s->total, err);
}

static enum err_code run_program(struct query *q, struct view_search *s, struct err *err)
{
    struct view_program p = {.skip = s->offset, .max = s->limit, .all = true};
    enum err_code code = ask_program(q, &p, err);
    s->ids = p.ids;
    s->count = p.count;
    s->total = p.total;
    return code;
}

enum err_code view_search_run(struct view_reader *r, struct view_search *s, struct arena *a,
                              struct err *err)
{
    struct query q;
    enum err_code code = begin_query(&q, r, s->filter, a, err);
    s->ids = NULL;
    s->count = 0;
    s->total = 0;
    if (code == ERR_OK && !q.nothing) {
        q.sort = sort_columns[s->sort];
        q.ascending = s->ascending;
        q.index = choose_index(&q);
        code = q.program.len > 0 ? run_program(&q, s, err) : run_statements(&q, s, err);
    }
    end_query(&q);
    return view__asked(r, code, err);
}

enum err_code view_search_count(struct view_reader *r, const struct view_filter *f, struct arena *a,
                                uint64_t *out, struct err *err)
{
    struct query q;
    enum err_code code = begin_query(&q, r, f, a, err);
    *out = 0;
    if (code == ERR_OK && !q.nothing) {
        struct view_program p = {.all = true};
        q.index = choose_index(&q);
        code = q.program.len > 0 ? ask_program(&q, &p, err) : read_count(&q, out, err);
        *out += p.total;
    }
    end_query(&q);
    return view__asked(r, code, err);
}

static enum err_code page_of_rows(struct query *q, struct view_page *p, struct err *err)
{
    q->limit = add_i64(q, p->max);
    return read_page(q, p->max, &p->ids, &p->count, err);
}

static enum err_code page_of_program(struct query *q, struct view_page *p, struct err *err)
{
    struct view_program program = {.max = p->max};
    enum err_code code = ask_program(q, &program, err);
    p->ids = program.ids;
    p->count = program.count;
    return code;
}

enum err_code view_search_page(struct view_reader *r, struct view_page *p, struct arena *a,
                               struct err *err)
{
    struct query q;
    enum err_code code = begin_query(&q, r, p->filter, a, err);
    p->ids = NULL;
    p->count = 0;
    if (code == ERR_OK && !q.nothing) {
        q.ascending = true;
        where(&q, "j.id >", add_id(&q, p->after));
        if (!id_is_none(p->until)) {
            where(&q, "j.id <", add_id(&q, p->until));
        }
        q.index = choose_index(&q);
        code = q.program.len > 0 ? page_of_program(&q, p, err) : page_of_rows(&q, p, err);
    }
    end_query(&q);
    return view__asked(r, code, err);
}
