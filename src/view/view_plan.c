/*
 * Translate a query into statements. There are two kinds:
 *
 * A walk in order has a branch per wanted cell, or per state and moment. An index has each branch
 * in order and SQLite merges them, so the cost of a page does not depend on the number of matches.
 *
 * A scan reads everything that can match, in any order, from the smallest set available: the jobs
 * of a key, of a span of moments, or of the wanted cells. The sizes of these sets are known.
 */
#include "base/check.h"
#include "view/view_query_int.h"

enum { BRANCHES_MAX = 128 }; /* SQLite allows 500; preparing each takes some microseconds */

/* The index of each moment. Creation is in the id and needs none. */
static const char *const moment_indexes[VIEW_RANK_COUNT] = {
    [VIEW_RANK_STARTED] = "INDEXED BY jobs_started",
    [VIEW_RANK_COMPLETED] = "INDEXED BY jobs_completed",
    [VIEW_RANK_SCHEDULED] = "INDEXED BY jobs_scheduled",
    [VIEW_RANK_EXPIRE] = "INDEXED BY jobs_expire",
    [VIEW_RANK_FAILED] = "INDEXED BY jobs_failed",
};

static const struct {
    const char *column;  /* NULL: the id, which is in order of creation */
    const char *of_cell; /* the same if all rows are from one cell c; NULL: no difference */
    enum view_rank kind; /* VIEW_RANK_CREATED: not a moment with an index */
} sorts[] = {
    [VIEW_SORT_CREATED_AT] = {NULL, NULL, VIEW_RANK_CREATED},
    [VIEW_SORT_PRIORITY] = {VIEW_CELL_PRIORITY("j"), "c.priority", VIEW_RANK_CREATED},
    [VIEW_SORT_ATTEMPT] = {VIEW_CELL_ATTEMPT("j"), "c.attempt", VIEW_RANK_CREATED},
    [VIEW_SORT_STARTED_AT] = {"j.started_at", NULL, VIEW_RANK_STARTED},
    [VIEW_SORT_COMPLETED_AT] = {"j.completed_at", NULL, VIEW_RANK_COMPLETED},
    [VIEW_SORT_SCHEDULED_AT] = {"j.scheduled_at", NULL, VIEW_RANK_SCHEDULED},
    [VIEW_SORT_FAILED_AT] = {"j.failed_at", NULL, VIEW_RANK_FAILED},
};

const char *view_plan__sort_column(const struct view_query *q)
{
    return sorts[q->sort].column == NULL ? "0" : sorts[q->sort].column;
}

/* Parts of statements */

/* Return the states of the wanted cells, as bits. */
static unsigned wanted_states(const struct view_query *q)
{
    unsigned states = 0;
    for (size_t i = 0; i < q->cell_count; i++) {
        states |= q->cells[i].wanted ? 1U << q->cells[i].cell.state : 0;
    }
    return states;
}

/* Walk a table by id. A plus before a column prevents SQLite from using an index on it. */
#define BY_ID "NOT INDEXED"

static void write_states(struct view_query *q, unsigned states, const char *plus)
{
    const char *comma = "";
    buf_printf(&q->sql, " AND %sj.state IN (", plus);
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        if ((states & 1U << s) != 0) {
            buf_printf(&q->sql, "%s%d", comma, s);
            comma = ", ";
        }
    }
    buf_add_char(&q->sql, ')');
}

/* Write the conditions of the cells, except the state. */
static void write_place(struct view_query *q, const char *plus)
{
    const struct view_filter *f = q->f;
    const char *comma = "";
    if (q->queue_count > 0) {
        buf_printf(&q->sql, " AND %sj.queue IN (", plus);
        for (unsigned i = 0; i < q->queue_count; i++, comma = ", ") {
            buf_printf(&q->sql, "%s%lld", comma, (long long)q->queues[i]);
        }
        buf_add_char(&q->sql, ')');
    }
    if (f->has_priority) {
        buf_printf(&q->sql, " AND " VIEW_CELL_PRIORITY("j") " = %d", f->priority);
    }
    if (f->has_attempt_min) {
        buf_printf(&q->sql, " AND " VIEW_CELL_ATTEMPT("j") " >= %lld", (long long)f->attempt_min);
    }
    if (f->has_attempt_max) {
        buf_printf(&q->sql, " AND " VIEW_CELL_ATTEMPT("j") " <= %lld", (long long)f->attempt_max);
    }
    if (f->has_errors_set) {
        buf_printf(&q->sql, " AND " VIEW_CELL_FAILING("j") " = %d", f->has_errors);
    }
    if (f->error_contains.len > 0 || f->error_fingerprint.len > 0) {
        buf_add_str(&q->sql, STR(" AND " VIEW_CELL_FAILING("j") " = 1"));
    }
}

/* Begin a branch. tables: joined before jobs. */
static void write_branch(struct view_query *q, const char *what, const char *tables,
                         const char *index)
{
    if (q->sql.len > 0) {
        buf_add_str(&q->sql, STR(" UNION ALL "));
    }
    buf_printf(&q->sql, "SELECT %s", what);
    buf_printf(&q->sql, " FROM %sjobs j %s", tables, index);
    if (q->texts) {
        buf_add_str(&q->sql, STR(" CROSS JOIN texts t ON t.num = j.num"));
    }
    buf_add_str(&q->sql, STR(" WHERE 1"));
}

/* Write all cells as one branch that uses the index. */
static void write_single(struct view_query *q, const char *what, const char *index)
{
    const char *plus = strcmp(index, BY_ID) == 0 ? "+" : "";
    write_branch(q, what, "", index);
    write_states(q, wanted_states(q), plus);
    write_place(q, plus);
    buf_add_str(&q->sql, buf_str(&q->where));
}

/* Select the cell's row of counts. SQLite then knows that c.priority and c.attempt are the same in
 * all rows of the branch, so it does not sort them. */
static void write_count(struct view_query *q, const struct view_query_cell *c)
{
    buf_printf(&q->sql, " AND c.queue = %lld", (long long)c->queue);
    buf_printf(&q->sql, " AND c.state = %d", (int)c->cell.state);
    buf_printf(&q->sql, " AND c.priority = %d", (int)c->cell.priority);
    buf_printf(&q->sql, " AND c.attempt = %lld", (long long)c->cell.attempt);
    buf_printf(&q->sql, " AND c.failing = %d", (int)c->cell.failing);
}

static void write_cell(struct view_query *q, const char *what, const struct view_query_cell *c)
{
    bool counted = sorts[q->sort].of_cell != NULL;
    write_branch(q, what, counted ? "counts c CROSS JOIN " : "",
                 c->queue > 0 ? "INDEXED BY jobs_line" : "INDEXED BY jobs_cell");
    if (counted) {
        write_count(q, c);
    }
    if (c->queue > 0) {
        buf_printf(&q->sql, " AND j.queue = %lld", (long long)c->queue);
    }
    buf_printf(&q->sql, " AND j.cell = %lld", (long long)view_cells__number(c->cell));
    buf_add_str(&q->sql, buf_str(&q->where));
}

/* Scans */

bool view_plan__write_cells(struct view_query *q, const char *what, struct view_plan_cells *cells)
{
    unsigned branches = 0;
    unsigned most = cells->by_id ? 1 : BRANCHES_MAX;
    buf_clear(&q->sql);
    for (; cells->at < cells->end && branches < most; cells->at++) {
        const struct view_query_cell *c = &q->cells[cells->at];
        if (c->wanted == cells->wanted) {
            write_cell(q, what, c);
            branches++;
        }
    }
    if (cells->by_id && branches > 0) {
        buf_printf(&q->sql, " ORDER BY j.id%s", q->ascending ? "" : " DESC");
    }
    return branches > 0;
}

bool view_plan__write_scan(struct view_query *q, const char *what, struct view_plan_cells *cells)
{
    if (q->index == NULL) {
        return view_plan__write_cells(q, what, cells);
    }
    if (cells->at == cells->end) {
        return false;
    }
    cells->at = cells->end;
    buf_clear(&q->sql);
    write_single(q, what, q->index);
    return true;
}

/* Return the index of a key in the filter. Few jobs have the same key. NULL if there is none. */
static const char *key_index(const struct view_filter *f)
{
    const struct {
        bool fits;
        const char *index;
    } rows[] = {
        {f->unique_key.len > 0, "INDEXED BY jobs_unique"},
        {f->batch_id.len > 0, "INDEXED BY jobs_batch"},
        {f->chain_id.len > 0, "INDEXED BY jobs_chain"},
        {f->parent_id.len > 0, "INDEXED BY jobs_parent"},
        {f->depends_on.len > 0, BY_ID},
        {f->worker_id.len > 0, "INDEXED BY jobs_worker"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].fits) {
            return rows[i].index;
        }
    }
    return NULL;
}

/* Is this cell wanted, and the first wanted one of its queue and state? */
static bool is_first_wanted(const struct view_query *q, size_t at)
{
    const struct view_query_cell *c = &q->cells[at];
    for (size_t i = at; c->wanted && i-- > 0;) {
        const struct view_query_cell *before = &q->cells[i];
        if (before->queue != c->queue || before->cell.state != c->cell.state) {
            break;
        }
        if (before->wanted) {
            return false;
        }
    }
    return c->wanted;
}

/* Count the index entries for the wanted ids. */
static enum err_code size_of_ids(struct view_query *q, int64_t *out, struct err *err)
{
    *out = 0;
    for (size_t i = 0; i < q->cell_count; i++) {
        struct view_line line = {VIEW_RANK_CREATED, q->cells[i].queue, q->cells[i].cell.state};
        int64_t n = 0;
        if (is_first_wanted(q, i) && view_query__in_range(q, line, &q->ids, &n, err) != ERR_OK) {
            return err->code;
        }
        *out += n;
    }
    return ERR_OK;
}

static enum err_code size_of_span(struct view_query *q, const struct view_query_range *span,
                                  int64_t *out, struct err *err)
{
    unsigned states = wanted_states(q);
    *out = 0;
    for (int64_t s = 0; s < JOB_STATE_COUNT; s++) {
        struct view_line line = {span->kind, 0, s};
        int64_t n = 0;
        if ((states & 1U << s) != 0 && view_query__in_range(q, line, span, &n, err) != ERR_OK) {
            return err->code;
        }
        *out += n;
    }
    return ERR_OK;
}

enum err_code view_plan__choose(struct view_query *q, struct err *err)
{
    int64_t n = 0;
    q->scan_n = q->wanted_n;
    if (q->wanted_n == 0) {
        return ERR_OK;
    }
    q->index = key_index(q->f);
    if (q->index != NULL) {
        q->scan_n = INT64_MAX;
        return ERR_OK;
    }
    if (q->ids.has_from || q->ids.has_until) {
        if (size_of_ids(q, &n, err) != ERR_OK) {
            return err->code;
        }
        q->scan_n = n < q->scan_n ? n : q->scan_n;
    }
    for (unsigned i = 0; i < q->span_count; i++) {
        if (size_of_span(q, &q->spans[i], &n, err) != ERR_OK) {
            return err->code;
        }
        if (n < q->scan_n) {
            q->scan_n = n;
            q->index = moment_indexes[q->spans[i].kind];
        }
    }
    return ERR_OK;
}

/* Walks in order */

/* Are all cells wanted, or (of_states) all cells of the wanted states? False if queues are
 * selected. */
static bool is_all(const struct view_query *q, bool of_states)
{
    unsigned states = of_states ? wanted_states(q) : VIEW_QUERY_ALL_STATES;
    for (size_t i = 0; i < q->cell_count; i++) {
        if (!q->cells[i].wanted && (states & 1U << q->cells[i].cell.state) != 0) {
            return false;
        }
    }
    return q->queue_count == 0 && !q->many_queues;
}

static size_t count_wanted(const struct view_query *q)
{
    size_t n = 0;
    for (size_t i = 0; i < q->cell_count; i++) {
        n += q->cells[i].wanted;
    }
    return n;
}

static bool is_by_moment(const struct view_query *q)
{
    return moment_indexes[sorts[q->sort].kind] != NULL;
}

/* In id order, all cells together are the table itself. */
static bool is_table(const struct view_query *q)
{
    return q->sort == VIEW_SORT_CREATED_AT && is_all(q, false);
}

bool view_plan__is_straight(const struct view_query *q)
{
    if (q->rest || q->many_queues) {
        return false;
    }
    if (is_by_moment(q)) {
        return is_all(q, true) && !q->ids.has_from && !q->ids.has_until &&
               (q->span_count == 0 ||
                (q->span_count == 1 && q->spans[0].kind == sorts[q->sort].kind));
    }
    return q->span_count == 0 && (is_table(q) || count_wanted(q) <= BRANCHES_MAX);
}

static bool has_span(const struct view_query *q, enum view_rank kind)
{
    for (unsigned i = 0; i < q->span_count; i++) {
        if (q->spans[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* Write the jobs of a state in order of a moment: those with the moment by its index, the others by
 * id. */
static enum err_code write_moments(struct view_query *q, const char *what, int state,
                                   struct err *err)
{
    enum view_rank kind = sorts[q->sort].kind;
    int64_t set = 0;
    int64_t all = 0;
    if (view_ranks__all(q->r->db, (struct view_line){kind, 0, state}, &set, err) != ERR_OK ||
        view_ranks__all(q->r->db, (struct view_line){VIEW_RANK_CREATED, 0, state}, &all, err) !=
            ERR_OK) {
        return err->code;
    }
    if (set > 0) {
        write_branch(q, what, "", moment_indexes[kind]);
        buf_printf(&q->sql, " AND j.state = %d", state);
        write_place(q, "");
        buf_add_str(&q->sql, buf_str(&q->where));
        buf_printf(&q->sql, " AND %s > 0", sorts[q->sort].column);
    }
    if (set == all || has_span(q, kind)) {
        return ERR_OK;
    }
    for (size_t i = 0; i < q->cell_count; i++) {
        if (q->cells[i].wanted && q->cells[i].cell.state == state) {
            write_cell(q, what, &q->cells[i]);
            buf_printf(&q->sql, " AND %s = 0", sorts[q->sort].column);
        }
    }
    return ERR_OK;
}

static void write_none(struct view_query *q, const char *what)
{
    write_branch(q, what, "", "");
    buf_add_str(&q->sql, STR(" AND 0"));
}

enum { WHAT_BYTES = 80 };

/* The columns of a walk: id, sort column, and one more. */
static void name_columns(const struct view_query *q, bool of_cell, const char *column,
                         char out[WHAT_BYTES])
{
    const char *sort = of_cell ? sorts[q->sort].of_cell : NULL;
    (void)snprintf(out, WHAT_BYTES, "j.id AS id, %s AS s%s",
                   sort == NULL ? view_plan__sort_column(q) : sort, column);
}

static enum err_code write_walk(struct view_query *q, const char *column, struct err *err)
{
    unsigned states = wanted_states(q);
    char what[WHAT_BYTES];
    char of_cell[WHAT_BYTES];
    name_columns(q, false, column, what);
    name_columns(q, true, column, of_cell);
    if (q->scan_n == 0) {
        write_none(q, what);
    } else if (q->index != NULL && q->scan_n == INT64_MAX) {
        write_single(q, what, q->index); /* the jobs of a key */
    } else if (is_table(q)) {
        write_branch(q, what, "", BY_ID);
        buf_add_str(&q->sql, buf_str(&q->where));
    } else if (count_wanted(q) > BRANCHES_MAX) {
        write_single(q, what, BY_ID);
    } else if (is_by_moment(q)) {
        for (int s = 0; s < JOB_STATE_COUNT; s++) {
            if ((states & 1U << s) != 0 && write_moments(q, what, s, err) != ERR_OK) {
                return err->code;
            }
        }
        if (q->sql.len == 0) { /* a span of this moment, which no job of these states has */
            write_none(q, what);
        }
    } else {
        struct view_plan_cells cells = {.end = q->cell_count, .wanted = true};
        if (!view_plan__write_cells(q, of_cell, &cells)) {
            write_none(q, what); /* the counters of a damaged file are inconsistent */
        }
    }
    return ERR_OK;
}

enum err_code view_plan__write_ordered(struct view_query *q, const char *column, struct err *err)
{
    const char *way = q->ascending ? "" : " DESC";
    bool by_id = sorts[q->sort].column == NULL;
    buf_clear(&q->sql);
    if (write_walk(q, column, err) != ERR_OK) {
        return err->code;
    }
    buf_printf(&q->sql, " ORDER BY %s%s%s", by_id ? "" : "s", by_id ? "" : way, by_id ? "" : ", ");
    buf_printf(&q->sql, "id%s", way);
    return ERR_OK;
}
