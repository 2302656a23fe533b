/*
 * How many jobs match: by the counters or the ranks when they know, else by counting.
 */
#include "view/view_query_int.h"

static void write_counters(struct view_query *q)
{
    buf_add_str(&q->sql, STR("SELECT sum(j.n) FROM counts j WHERE 1"));
    view_plan__write_place(q);
    buf_add_str(&q->sql, buf_str(&q->where)); /* at most the namespace, which is a condition */
}

/* Jobs of the one span: those before its end without those before its beginning. */
static enum err_code read_ranks(struct view_query *q, uint64_t *out, struct err *err)
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

enum err_code view_total__read(struct view_query *q, uint64_t *out, struct err *err)
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
        view_plan__write_branches(q, "count(*) AS n");
        buf_add_char(&q->sql, ')');
    }
    if (view_query__prepare(q, &st, err) != ERR_OK) {
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
