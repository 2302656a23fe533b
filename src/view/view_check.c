#include "view/view_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "store/store_job.h"
#include "store/store_rows.h"
#include "store/store_walk.h"
#include "view/view_int.h"

struct checking {
    sqlite3 *db;
    struct store *store;
    struct view_check *out;
    sqlite3_stmt *row, *text, *errors, *usage, *depends;
    uint64_t errors_seen, usages_seen, depends_seen;
    struct id *ids;   /* dependencies of the current job */
    struct id id;     /* id of the current job */
    struct str queue; /* queue of the current job */
    bool dead;
    int64_t errors_found, usages_found;
};

static void ATTR_PRINTF(3, 4) differs(struct checking *c, const struct id *id, const char *fmt, ...)
{
    char text[ID_TEXT_MAX + 1] = "";
    char what[120];
    va_list args;
    if (c->out->differences++ > 0) {
        return;
    }
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (id != NULL) {
        text[id_format(*id, ID_JOB, text)] = '\0';
    }
    (void)snprintf(c->out->first, sizeof c->out->first, "%s: %s", text, what);
}

/* One job */

static bool same_step(sqlite3_stmt *st, int at, const struct job *j)
{
    bool null = sqlite3_column_type(st, at) == SQLITE_NULL;
    return j->has_chain_step ? !null && sqlite3_column_int64(st, at) == j->chain_step : null;
}

static bool same_id(sqlite3_stmt *st, int at, struct id id)
{
    return id_is_none(id) ? sqlite3_column_type(st, at) == SQLITE_NULL
                          : id_eq(view_sql__id(st, at), id);
}

static bool same_text(sqlite3_stmt *st, int at, struct str text)
{
    return (text.len == 0) == (sqlite3_column_type(st, at) == SQLITE_NULL) &&
           str_eq(view_sql__text(st, at), text);
}

static void compare_columns(struct checking *c, const struct job *j)
{
    sqlite3_stmt *st = c->row;
    int at = 0;
    /* The view assigns num and queue; compare_text checks them. */
    const struct view_extra own = {.num = sqlite3_column_int64(st, 1),
                                   .queue = sqlite3_column_int64(st, 3),
                                   .errors = view_rows__errors(j, c->errors_found),
                                   .usages = view_rows__usages(j, c->usages_found),
                                   .depends = (int64_t)view_depends__of(j, c->ids)};
    const struct view_extra *r = &own;
#define SAME_INT(value)  (sqlite3_column_int64(st, at) == (value))
#define SAME_TEXT(value) same_text(st, at, (value))
#define SAME_ID(value)   same_id(st, at, (value))
#define SAME_STEP(value) same_step(st, at, (value))
#define COMPARE(name, kind, value)                                                                 \
    at++;                                                                                          \
    if (!SAME_##kind(value)) {                                                                     \
        differs(c, &j->id, "%s is not what it should be", #name);                                  \
    }
    VIEW_COLUMNS(COMPARE)
#undef COMPARE
#undef SAME_STEP
#undef SAME_ID
#undef SAME_TEXT
#undef SAME_INT
}

static enum err_code compare_text(struct checking *c, const struct job *j, struct err *err)
{
    sqlite3_stmt *st = c->text;
    struct str payload = j->payload.len < VIEW_PAYLOAD_MAX ? j->payload : STR_EMPTY;
    bool row = false;
    (void)sqlite3_bind_int64(st, 1, sqlite3_column_int64(c->row, 1));
    (void)sqlite3_bind_int64(st, 2, sqlite3_column_int64(c->row, 3));
    enum err_code code = view_sql__step(c->db, st, &row, err);
    if (code == ERR_OK && !row) {
        differs(c, &j->id, "it has no texts, or its queue has no name");
    } else if (code == ERR_OK &&
               !(id_eq(view_sql__id(st, 0), j->id) && str_eq(view_sql__text(st, 1), j->queue) &&
                 str_eq(view_sql__text(st, 2), payload) && str_eq(view_sql__text(st, 3), j->tags) &&
                 str_eq(view_sql__text(st, 4), j->queue))) {
        differs(c, &j->id, "its texts are not what they should be");
    }
    (void)sqlite3_reset(st);
    return code;
}

static void compare_error(void *data, const struct store_error *e)
{
    struct checking *c = data;
    c->errors_seen++;
    c->errors_found++;
    if (sqlite3_step(c->errors) != SQLITE_ROW ||
        sqlite3_column_int64(c->errors, 0) != (int64_t)e->row ||
        !str_eq(view_sql__text(c->errors, 1), e->error) ||
        !str_eq(view_sql__text(c->errors, 2), c->queue) ||
        !str_eq(view_sql__text(c->errors, 3), e->version) ||
        sqlite3_column_int64(c->errors, 4) != c->dead) {
        differs(c, &c->id, "error %llu", (unsigned long long)e->row);
    }
}

static void compare_usage(void *data, const struct store_usage *u)
{
    struct checking *c = data;
    const struct store_tokens *t = &u->tokens;
    sqlite3_stmt *st = c->usage;
    c->usages_seen++;
    c->usages_found++;
    if (sqlite3_step(st) != SQLITE_ROW || sqlite3_column_int64(st, 0) != (int64_t)u->row ||
        sqlite3_column_int64(st, 1) != u->created_at.ns ||
        sqlite3_column_int64(st, 2) != t->input || sqlite3_column_int64(st, 3) != t->output ||
        sqlite3_column_int64(st, 4) != t->cache_creation ||
        sqlite3_column_int64(st, 5) != t->cache_read ||
        sqlite3_column_int64(st, 6) != t->cost_nusd || !str_eq(view_sql__text(st, 7), t->model) ||
        !str_eq(view_sql__text(st, 8), t->provider)) {
        differs(c, &c->id, "usage %llu", (unsigned long long)u->row);
    }
}

static void compare_depends(struct checking *c, const struct job *j)
{
    size_t n = view_depends__of(j, c->ids);
    c->depends_seen += n;
    for (size_t i = 0; i < n; i++) {
        view_sql__bind_id(c->depends, 1, &c->ids[i]);
        view_sql__bind_id(c->depends, 2, &j->id);
        if (sqlite3_step(c->depends) != SQLITE_ROW) {
            differs(c, &j->id, "dependency %zu is missing", i);
        }
        (void)sqlite3_reset(c->depends);
    }
}

static enum err_code compare_job(struct checking *c, const struct job *j, struct err *err)
{
    bool row = false;
    c->id = j->id;
    c->queue = j->queue;
    c->dead = j->state == JOB_DEAD;
    c->errors_found = 0;
    c->usages_found = 0;
    view_sql__bind_id(c->row, 1, &c->id);
    view_sql__bind_id(c->errors, 1, &c->id);
    view_sql__bind_id(c->usage, 1, &c->id);
    store_rows_each_error(c->store, j->id, compare_error, c);
    store_rows_each_usage(c->store, j->id, compare_usage, c);
    enum err_code code = view_sql__step(c->db, c->row, &row, err);
    if (code == ERR_OK && !row) {
        differs(c, &j->id, "it has no row");
    } else if (code == ERR_OK) {
        compare_columns(c, j);
        code = compare_text(c, j, err);
    }
    (void)sqlite3_reset(c->row);
    compare_depends(c, j);
    (void)sqlite3_reset(c->errors);
    (void)sqlite3_reset(c->usage);
    return code;
}

/* Totals */

static enum err_code compare_total(struct checking *c, const char *sql, uint64_t wanted,
                                   struct err *err)
{
    int64_t got = 0;
    if (view_sql__number(c->db, sql, &got, err) != ERR_OK) {
        return err->code;
    }
    if ((uint64_t)got != wanted) {
        differs(c, NULL, "%s: %lld, not %llu", sql, (long long)got, (unsigned long long)wanted);
    }
    return ERR_OK;
}

/* Count the buckets whose number differs from the jobs between their first moment and that of the
 * next bucket, and the states in which the sum of all buckets differs from the jobs. */
#define WRONG_BUCKETS(kind, column)                                                                \
    "SELECT count(*) FROM (SELECT queue, state, first, n, lead(first, 1, 9223372036854775807) "    \
    "OVER"                                                                                         \
    " (PARTITION BY queue, state ORDER BY first) AS next FROM ranks WHERE kind = " #kind ") r"     \
    " WHERE n <> (SELECT count(*) FROM jobs j WHERE (r.queue = 0 OR j.queue = r.queue)"            \
    " AND j.state = r.state AND " column " > 0 AND " column " >= first AND " column " < next)"
#define WRONG_LINES(kind, column)                                                                  \
    "SELECT count(*) FROM (SELECT state, count(*) FROM jobs WHERE " column " > 0 GROUP BY state"   \
    " EXCEPT SELECT state, sum(n) FROM ranks WHERE kind = " #kind " AND queue = 0 GROUP BY state)"

static enum err_code compare_ranks(struct checking *c, struct err *err)
{
#define WRONG(kind, column)                                                                        \
    {                                                                                              \
        WRONG_BUCKETS(kind, column), WRONG_LINES(kind, column)                                     \
    }
    static const char *const wrong[VIEW_RANK_COUNT][2] = {
        [VIEW_RANK_CREATED] = WRONG(0, "created_at / 1000000"),
        [VIEW_RANK_COMPLETED] = WRONG(1, "completed_at"),
        [VIEW_RANK_SCHEDULED] = WRONG(2, "scheduled_at"),
        [VIEW_RANK_EXPIRE] = WRONG(3, "expire_at"),
        [VIEW_RANK_STARTED] = WRONG(4, "started_at"),
        [VIEW_RANK_FAILED] = WRONG(5, "failed_at"),
    };
#undef WRONG
    static const char queues[] =
        "SELECT count(*) FROM (SELECT queue, state, count(*) FROM jobs GROUP BY queue, state"
        " EXCEPT SELECT queue, state, sum(n) FROM ranks WHERE kind = 0 AND queue > 0"
        " GROUP BY queue, state)";
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (compare_total(c, wrong[i][0], 0, err) != ERR_OK ||
            compare_total(c, wrong[i][1], 0, err) != ERR_OK) {
            return err->code;
        }
    }
    return compare_total(c, queues, 0, err);
}

/* Count the cells that one side has and the other does not have with the same number. */
#define CELL    "state, priority, attempt, failing"
#define COUNTED "SELECT queue, " CELL ", n FROM counts"
#define OF_JOBS                                                                                    \
    "(SELECT queue, state, " VIEW_CELL_PRIORITY("j") " AS priority, " VIEW_CELL_ATTEMPT(           \
        "j") " AS attempt, " VIEW_CELL_FAILING("j") " AS failing FROM jobs j)"
#define OF_QUEUES     "SELECT queue, " CELL ", count(*) FROM " OF_JOBS " GROUP BY queue, " CELL
#define OF_ALL        "SELECT 0, " CELL ", count(*) FROM " OF_JOBS " GROUP BY " CELL
#define MISSING(a, b) "SELECT count(*) FROM (" a " EXCEPT " b ")"

static enum err_code compare_cells(struct checking *c, struct err *err)
{
    static const char *const wrong[] = {
        MISSING(COUNTED " WHERE queue > 0", OF_QUEUES),
        MISSING(OF_QUEUES, COUNTED),
        MISSING(COUNTED " WHERE queue = 0", OF_ALL),
        MISSING(OF_ALL, COUNTED),
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (compare_total(c, wrong[i], 0, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

#define WRONG_BEFORE                                                                               \
    "SELECT count(*) FROM errors e WHERE e.before <> ifnull((SELECT max(o.at) FROM errors o"       \
    " WHERE o.job = e.job AND o.mark = e.mark AND o.row_num < e.row_num), -1)"

static enum err_code compare_totals(struct checking *c, struct err *err)
{
    if (compare_total(c, "SELECT count(*) FROM jobs", c->out->jobs, err) != ERR_OK ||
        compare_total(c, "SELECT count(*) - (SELECT count(*) FROM gone) FROM texts", c->out->jobs,
                      err) != ERR_OK ||
        compare_total(c, "SELECT count(*) FROM errors", c->errors_seen, err) != ERR_OK ||
        compare_total(c, WRONG_BEFORE, 0, err) != ERR_OK ||
        compare_total(c, "SELECT count(*) FROM usage", c->usages_seen, err) != ERR_OK ||
        compare_total(c, "SELECT count(*) FROM depends", c->depends_seen, err) != ERR_OK) {
        return err->code;
    }
    return compare_cells(c, err) == ERR_OK ? compare_ranks(c, err) : err->code;
}

static enum err_code compare_all(struct checking *c, struct err *err)
{
    struct store_walk *walk = store_walk_new(c->store);
    enum err_code code = ERR_OK;
    struct str doc;
    struct id id;
    struct job j;
    while (code == ERR_OK && store_walk_next(walk, &id, &doc)) {
        c->out->jobs++;
        code = store_job_decode(id, doc, &j, err);
        if (code == ERR_OK) {
            code = compare_job(c, &j, err);
        }
    }
    store_walk_free(walk);
    return code == ERR_OK ? compare_totals(c, err) : code;
}

enum err_code view_check_run(struct view_reader *r, struct store *store, struct view_check *out,
                             struct err *err)
{
    struct checking c = {.db = r->db, .store = store, .out = out};
    *out = (struct view_check){0};
#define NAME(name, kind, value) ", " #name
    const struct {
        const char *sql;
        sqlite3_stmt **st;
    } statements[] = {
        {"SELECT id" VIEW_COLUMNS(NAME) " FROM jobs WHERE id = ?", &c.row},
        {"SELECT t.id, t.queue, t.payload, t.tags, q.name FROM texts t, queues q"
         " WHERE t.num = ? AND q.num = ?",
         &c.text},
        {"SELECT row_num, error, name, errors.version, dead FROM errors JOIN queues ON num = queue"
         " WHERE job = ? ORDER BY row_num",
         &c.errors},
        {"SELECT row_num, at, input, output, cache_creation, cache_read, cost, model, provider"
         " FROM usage WHERE job = ? ORDER BY row_num",
         &c.usage},
        {"SELECT 1 FROM depends WHERE on_job = ? AND job = ?", &c.depends},
    };
#undef NAME
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < COUNT_OF(statements) && code == ERR_OK; i++) {
        code = view_sql__prepare(c.db, statements[i].sql, statements[i].st, err);
    }
    c.ids = calloc(VIEW_DEPENDS_MAX, sizeof *c.ids);
    CHECK(c.ids != NULL);
    if (code == ERR_OK) {
        code = compare_all(&c, err);
    }
    free(c.ids);
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        (void)sqlite3_finalize(*statements[i].st);
    }
    return code;
}
