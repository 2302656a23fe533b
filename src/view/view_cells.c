#include <assert.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/job.h"
#include "view/view_cells_int.h"
#include "view/view_int.h"

enum { CELLS_FIRST = 8 };

struct count {
    int64_t cell; /* number of the cell */
    int64_t n;
    bool changed;
};

struct view_cell_queue {
    struct count *counts; /* ordered by cell */
    size_t count, cap;
    bool changed;
    int64_t changed_next;
};

/* Values that can be large are in the high bits, so that most numbers are small. VIEW_CELL_OF is
 * the same in SQL. */
enum { STATE_BITS = 3, FAILING_BITS = 1, PRIORITY_BITS = 8 };
static_assert(JOB_STATE_COUNT <= 1 << STATE_BITS, "a state has its bits");

static bool is_possible(struct view_cell cell)
{
    return cell.state >= 0 && cell.state < JOB_STATE_COUNT && cell.priority >= 0 &&
           cell.priority < 1 << PRIORITY_BITS && cell.attempt >= 0 && cell.attempt <= UINT32_MAX &&
           (cell.failing == 0 || cell.failing == 1);
}

int64_t view_cells__number(struct view_cell cell)
{
    int64_t number = cell.attempt << PRIORITY_BITS | cell.priority;
    return (number << FAILING_BITS | cell.failing) << STATE_BITS | cell.state;
}

static int64_t bits(int64_t number, int from, int count)
{
    return number >> from & (((int64_t)1 << count) - 1);
}

struct view_cell view_cells__of_job(const struct job *j)
{
    return (struct view_cell){.state = (int64_t)j->state,
                              .priority = j->priority,
                              .attempt = j->attempt,
                              .failing = j->error_count > 0};
}

struct view_cell view_cells__of(int64_t number)
{
    return (struct view_cell){
        .state = bits(number, 0, STATE_BITS),
        .failing = bits(number, STATE_BITS, FAILING_BITS),
        .priority = bits(number, STATE_BITS + FAILING_BITS, PRIORITY_BITS),
        .attempt = number >> (STATE_BITS + FAILING_BITS + PRIORITY_BITS),
    };
}

static struct view_cell_queue *queue_of(struct view_cells *c, int64_t queue)
{
    if (queue >= c->queue_cap) {
        int64_t cap = queue < VIEW_QUEUES_FIRST ? VIEW_QUEUES_FIRST : queue * 2;
        c->queues = realloc(c->queues, (size_t)cap * sizeof *c->queues);
        CHECK(c->queues != NULL);
        memset(c->queues + c->queue_cap, 0, (size_t)(cap - c->queue_cap) * sizeof *c->queues);
        c->queue_cap = cap;
    }
    return &c->queues[queue];
}

/* Find the counter of a cell, or insert it. */
static struct count *count_of(struct view_cell_queue *q, int64_t cell)
{
    size_t low = 0;
    size_t high = q->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (q->counts[middle].cell < cell) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < q->count && q->counts[low].cell == cell) {
        return &q->counts[low];
    }
    if (q->count == q->cap) {
        q->cap = q->cap == 0 ? CELLS_FIRST : q->cap * 2;
        q->counts = realloc(q->counts, q->cap * sizeof *q->counts);
        CHECK(q->counts != NULL);
    }
    memmove(q->counts + low + 1, q->counts + low, (q->count - low) * sizeof *q->counts);
    q->count++;
    q->counts[low] = (struct count){.cell = cell};
    return &q->counts[low];
}

enum err_code view_cells__load(struct view_cells *c, sqlite3 *db, int64_t queue_max,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *c = (struct view_cells){.db = db, .changed = -1};
    if (view_sql__prepare(db, "SELECT queue, state, priority, attempt, failing, n FROM counts", &st,
                          err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_sql__step(db, st, &row, err);
    while (code == ERR_OK && row) {
        int64_t queue = sqlite3_column_int64(st, 0);
        struct view_cell cell = {.state = sqlite3_column_int64(st, 1),
                                 .priority = sqlite3_column_int64(st, 2),
                                 .attempt = sqlite3_column_int64(st, 3),
                                 .failing = sqlite3_column_int64(st, 4)};
        if (queue < 0 || queue > queue_max || !is_possible(cell)) {
            code = err_set(err, ERR_CORRUPT, "view: a count of the queue %lld and the state %lld",
                           (long long)queue, (long long)cell.state);
            break;
        }
        count_of(queue_of(c, queue), view_cells__number(cell))->n = sqlite3_column_int64(st, 5);
        code = view_sql__step(db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

void view_cells__deinit(struct view_cells *c)
{
    for (int64_t i = 0; i < c->queue_cap; i++) {
        free(c->queues[i].counts);
    }
    free(c->queues);
    *c = (struct view_cells){0};
}

static void add(struct view_cells *c, int64_t queue, int64_t cell, int64_t delta)
{
    struct view_cell_queue *q = queue_of(c, queue);
    struct count *count = count_of(q, cell);
    count->n += delta;
    count->changed = true;
    if (!q->changed) {
        q->changed = true;
        q->changed_next = c->changed;
        c->changed = queue;
    }
}

void view_cells__add(struct view_cells *c, int64_t queue, struct view_cell cell, int64_t delta)
{
    if (queue > 0 && queue <= VIEW_QUEUES_MAX && is_possible(cell)) {
        add(c, queue, view_cells__number(cell), delta);
        add(c, 0, view_cells__number(cell), delta);
    }
}

/* Write a counter. A cell without jobs has no row. */
static enum err_code save_count(struct view_cells *c, sqlite3_stmt *st[2], int64_t queue,
                                const struct count *count, struct err *err)
{
    sqlite3_stmt *use = st[count->n == 0];
    struct view_cell cell = view_cells__of(count->cell);
    const int64_t values[] = {queue,        cell.state,   cell.priority,
                              cell.attempt, cell.failing, count->n};
    for (int i = 0; i < sqlite3_bind_parameter_count(use); i++) {
        (void)sqlite3_bind_int64(use, i + 1, values[i]);
    }
    return view_sql__run(c->db, use, err);
}

static enum err_code save_queue(struct view_cells *c, sqlite3_stmt *st[2], int64_t queue,
                                struct err *err)
{
    struct view_cell_queue *q = &c->queues[queue];
    size_t kept = 0;
    for (size_t i = 0; i < q->count; i++) {
        struct count *count = &q->counts[i];
        if (count->changed && save_count(c, st, queue, count, err) != ERR_OK) {
            return err->code;
        }
        count->changed = false;
        if (count->n != 0) {
            q->counts[kept++] = *count;
        }
    }
    q->count = kept;
    q->changed = false;
    return ERR_OK;
}

enum err_code view_cells__save(struct view_cells *c, struct err *err)
{
    sqlite3_stmt *st[2] = {NULL, NULL};
    if (c->changed < 0) {
        return ERR_OK;
    }
    enum err_code code = view_sql__prepare(
        c->db, "INSERT OR REPLACE INTO counts VALUES (?1, ?2, ?3, ?4, ?5, ?6)", &st[0], err);
    if (code == ERR_OK) {
        code = view_sql__prepare(c->db,
                                 "DELETE FROM counts WHERE queue = ?1 AND state = ?2"
                                 " AND priority = ?3 AND attempt = ?4 AND failing = ?5",
                                 &st[1], err);
    }
    while (code == ERR_OK && c->changed >= 0) {
        int64_t queue = c->changed;
        c->changed = c->queues[queue].changed_next;
        code = save_queue(c, st, queue, err);
    }
    (void)sqlite3_finalize(st[0]);
    (void)sqlite3_finalize(st[1]);
    return code;
}
