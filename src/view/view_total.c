/*
 * The number of matches: from counters and ranks if possible, otherwise by counting.
 */
#include "view/view_query_int.h"

/* Add all numbers that the statement returns to *sum. */
static enum err_code add_up(struct view_query *q, int64_t *sum, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    enum err_code code = view_query__prepare(q, &st, err);
    if (code == ERR_OK) {
        code = view_sql__step(q->r->db, st, &row, err);
    }
    while (code == ERR_OK && row) {
        *sum += sqlite3_column_int64(st, 0);
        code = view_sql__step(q->r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

static enum err_code count_cells(struct view_query *q, struct view_plan_cells cells, int64_t *out,
                                 struct err *err)
{
    *out = 0;
    while (view_plan__write_cells(q, "count(*)", &cells)) {
        if (add_up(q, out, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* Count the matches in the cells of one queue and state, with the ranks of that line. Either the
 * wanted cells are counted, or the others are counted and subtracted, whichever have fewer jobs. */
static enum err_code count_line(struct view_query *q, struct view_plan_cells cells,
                                const struct view_query_range *range, int64_t *out, struct err *err)
{
    struct view_line line = {range->kind, q->cells[cells.at].queue, q->cells[cells.at].cell.state};
    int64_t wanted_n = 0;
    int64_t other_n = 0;
    int64_t others = 0;
    for (size_t i = cells.at; i < cells.end; i++) {
        wanted_n += q->cells[i].wanted ? q->cells[i].n : 0;
        other_n += q->cells[i].wanted ? 0 : q->cells[i].n;
    }
    *out = 0;
    if (wanted_n <= other_n) {
        cells.wanted = true;
        return wanted_n == 0 ? ERR_OK : count_cells(q, cells, out, err);
    }
    if (view_query__in_range(q, line, range, out, err) != ERR_OK) {
        return err->code;
    }
    if (other_n > 0 && count_cells(q, cells, &others, err) != ERR_OK) {
        return err->code;
    }
    *out -= others;
    return ERR_OK;
}

enum err_code view_total__known(struct view_query *q, bool *out_known, uint64_t *out,
                                struct err *err)
{
    bool has_ids = q->ids.has_from || q->ids.has_until;
    const struct view_query_range *range = has_ids ? &q->ids : &q->spans[0];
    *out = 0;
    if (!q->rest && !has_ids && q->span_count == 0) {
        *out_known = true;
        *out = (uint64_t)q->wanted_n;
        return ERR_OK;
    }
    /* Only one range, of a kind that has ranks for these queues. */
    *out_known = !q->rest && !q->many_queues && q->span_count + has_ids == 1 &&
                 (has_ids || q->queue_count == 0);
    struct view_plan_cells cells = {0};
    for (; *out_known && cells.at < q->cell_count; cells.at = cells.end) {
        const struct view_query_cell *first = &q->cells[cells.at];
        int64_t n = 0;
        for (cells.end = cells.at; cells.end < q->cell_count; cells.end++) {
            if (q->cells[cells.end].queue != first->queue ||
                q->cells[cells.end].cell.state != first->cell.state) {
                break;
            }
        }
        if (count_line(q, cells, range, &n, err) != ERR_OK) {
            return err->code;
        }
        *out += (uint64_t)n;
    }
    return ERR_OK;
}

enum err_code view_total__count(struct view_query *q, uint64_t *out, struct err *err)
{
    struct view_plan_cells cells = {.end = q->cell_count, .wanted = true};
    int64_t n = 0;
    while (view_plan__write_scan(q, "count(*)", &cells)) {
        if (add_up(q, &n, err) != ERR_OK) {
            return err->code;
        }
    }
    *out = (uint64_t)n;
    return ERR_OK;
}
