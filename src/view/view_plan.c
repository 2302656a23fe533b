/*
 * Conditions become branches, one per queue and state that an index can walk in order, each with
 * all conditions. SQLite merges branches that come in order, so a page of the newest jobs of a
 * queue costs a page and not a queue.
 */
#include "view/view_query_int.h"

enum {
    BRANCHES_MAX = 64, /* SQLite allows 500; each takes some microseconds to prepare */
};

/* Which index: the rarest property first. */
static const char *choose_index(const struct view_query *q)
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
        {view_query__is_set(f->completed), "INDEXED BY jobs_completed"},
        {view_query__is_set(f->expire), "INDEXED BY jobs_expire"},
        {view_query__is_set(f->scheduled), "INDEXED BY jobs_scheduled"},
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

void view_plan__choose(struct view_query *q)
{
    q->index = choose_index(q);
}

/* Queue and state as conditions, where they do not make branches. */
void view_plan__write_place(struct view_query *q)
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

static void write_branch(struct view_query *q, const char *what, const char *index)
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

void view_plan__write_branches(struct view_query *q, const char *what)
{
    unsigned queues = q->queue_count == 0 ? 1 : q->queue_count;
    if (q->index != NULL || queues * JOB_STATE_COUNT > BRANCHES_MAX) {
        write_branch(q, what, q->index != NULL ? q->index : "");
        view_plan__write_place(q);
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

void view_plan__write_ordered(struct view_query *q, const char *column)
{
    char what[64];
    const char *way = q->ascending ? "" : " DESC";
    (void)snprintf(what, sizeof what, "j.id AS id, %s AS s%s", q->sort == NULL ? "0" : q->sort,
                   column);
    buf_clear(&q->sql);
    view_plan__write_branches(q, what);
    buf_printf(&q->sql, " ORDER BY %s%s%s", q->sort == NULL ? "" : "s", q->sort == NULL ? "" : way,
               q->sort == NULL ? "" : ", ");
    buf_printf(&q->sql, "id%s", way);
}
