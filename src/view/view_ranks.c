/*
 * Ranks: the number of jobs of a state before a moment, without counting them.
 *
 * A line has the moments of one kind (created, completed, started, …) of all jobs of a state; for
 * creation, there is also a line for each queue and state. A line is cut into buckets, each with
 * its number of jobs. The total of a range adds up buckets, and counts jobs only in the two buckets
 * in which the range begins and ends. The writer updates the numbers in the transactions that
 * change the jobs. As time passes, a line gets new buckets at its end. A bucket that has grown
 * large elsewhere is split by a walk over an index, and small neighbours are merged. A moment that
 * many jobs share gets a separate bucket, so that no bound can fall into it.
 *
 * Moments have the unit of their kind: nanoseconds, but milliseconds for creation, which is in the
 * id.
 */
#include <stdlib.h>

#include "base/check.h"
#include "view/view_int.h"

enum {
    BUCKET = 1024,      /* jobs in a bucket when it is complete */
    LARGE = 2 * BUCKET, /* jobs in a bucket when it is split */
    BUCKETS_FIRST = 4,
};

/* Statements that walk the moments of a range of a line in order, or count them. ?1 and ?2 are the
 * range, ?3 is the queue and ?4 the state. The first column is the moment, or the id that contains
 * it. If an index has its ids cell by cell, the cells are read from counts. */
#define OF_CELLS(index, queue)                                                                     \
    " FROM counts c CROSS JOIN jobs j INDEXED BY " index " ON " queue " j.cell = " VIEW_CELL_OF(   \
        "c") " WHERE c.queue = ?3 AND c.state = ?4 AND j.id >= ?1 AND j.id < ?2"
/* Of two lower bounds SQLite uses the first one that it reads, so the condition for the partial
 * index is last. */
#define OF_MOMENTS(column, index)                                                                  \
    " FROM jobs j INDEXED BY " index " WHERE j.state = ?4 AND j." column " >= ?1 AND j." column    \
    " < ?2 AND j." column " > 0"
#define STATEMENTS(column, from)                                                                   \
    {                                                                                              \
        "SELECT j." column from " ORDER BY j." column, "SELECT count(*)" from                      \
    }
struct statements {
    const char *walk, *count;
};
static const struct statements of_queue =
    STATEMENTS("id", OF_CELLS("jobs_line", "j.queue = ?3 AND"));
static const struct statements of_all[VIEW_RANK_COUNT] = {
    [VIEW_RANK_CREATED] = STATEMENTS("id", OF_CELLS("jobs_cell", "")),
    [VIEW_RANK_COMPLETED] =
        STATEMENTS("completed_at", OF_MOMENTS("completed_at", "jobs_completed")),
    [VIEW_RANK_SCHEDULED] =
        STATEMENTS("scheduled_at", OF_MOMENTS("scheduled_at", "jobs_scheduled")),
    [VIEW_RANK_EXPIRE] = STATEMENTS("expire_at", OF_MOMENTS("expire_at", "jobs_expire")),
    [VIEW_RANK_STARTED] = STATEMENTS("started_at", OF_MOMENTS("started_at", "jobs_started")),
    [VIEW_RANK_FAILED] = STATEMENTS("failed_at", OF_MOMENTS("failed_at", "jobs_failed")),
};
#undef STATEMENTS
#undef OF_MOMENTS
#undef OF_CELLS

static struct statements statements_of(struct view_line line)
{
    return line.queue == 0 ? of_all[line.kind] : of_queue;
}

/* Moments and ids */

static struct id first_id(int64_t ms)
{
    return ms > INT64_MAX / NS_PER_MS ? (struct id){.b = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
                                      : id_make((struct wall){.ns = ms * NS_PER_MS}, 0, 0);
}

/* Bind a line and a range from one moment (included) to another (excluded). ids must live until the
 * statement is reset. */
static void bind_range(sqlite3_stmt *st, struct view_line line, const int64_t range[2],
                       struct id ids[2])
{
    enum { QUEUE = 3, STATE = 4 };
    for (int i = 0; i < 2; i++) {
        if (line.kind == VIEW_RANK_CREATED) {
            ids[i] = first_id(range[i]);
            view_sql__bind_id(st, i + 1, &ids[i]);
        } else {
            (void)sqlite3_bind_int64(st, i + 1, range[i]);
        }
    }
    (void)sqlite3_bind_int64(st, QUEUE, line.queue);
    (void)sqlite3_bind_int64(st, STATE, line.state);
}

/* Writer */

static void insert_bucket(struct view_rank_line *line, size_t at, struct view_bucket bucket)
{
    if (line->count == line->cap) {
        line->cap = line->cap == 0 ? BUCKETS_FIRST : line->cap * 2;
        line->buckets = realloc(line->buckets, line->cap * sizeof *line->buckets);
        CHECK(line->buckets != NULL);
    }
    memmove(line->buckets + at + 1, line->buckets + at, (line->count - at) * sizeof *line->buckets);
    line->buckets[at] = bucket;
    line->count++;
}

static void begin_line(struct view_rank_line *line, struct view_line what)
{
    *line = (struct view_rank_line){.kind = what.kind, .queue = what.queue, .state = what.state};
    insert_bucket(line, 0, (struct view_bucket){.first = 0, .cut_at = LARGE});
}

static struct view_rank_line *line_of(struct view_ranks *r, struct view_line what)
{
    if (what.queue == 0) {
        return &r->lines[what.kind][what.state];
    }
    if (what.queue >= r->queue_cap) {
        int64_t cap = what.queue < VIEW_QUEUES_FIRST ? VIEW_QUEUES_FIRST : what.queue * 2;
        r->queues = realloc(r->queues, (size_t)cap * sizeof(struct view_rank_line *));
        CHECK(r->queues != NULL);
        memset(r->queues + r->queue_cap, 0,
               (size_t)(cap - r->queue_cap) * sizeof(struct view_rank_line *));
        r->queue_cap = cap;
    }
    struct view_rank_line **lines = &r->queues[what.queue];
    if (*lines == NULL) {
        *lines = calloc(JOB_STATE_COUNT, sizeof **lines);
        CHECK(*lines != NULL);
        for (int64_t state = 0; state < JOB_STATE_COUNT; state++) {
            begin_line(&(*lines)[state], (struct view_line){what.kind, what.queue, state});
        }
    }
    return &(*lines)[what.state];
}

static bool is_line(struct view_line what, int64_t queue_max)
{
    return (unsigned)what.kind < VIEW_RANK_COUNT && what.state >= 0 &&
           what.state < JOB_STATE_COUNT && what.queue >= 0 && what.queue <= queue_max &&
           (what.queue == 0 || what.kind == VIEW_RANK_CREATED);
}

enum err_code view_ranks__load(struct view_ranks *r, sqlite3 *db, int64_t queue_max,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *r = (struct view_ranks){.db = db};
    for (enum view_rank kind = 0; kind < VIEW_RANK_COUNT; kind++) {
        for (int64_t state = 0; state < JOB_STATE_COUNT; state++) {
            begin_line(&r->lines[kind][state], (struct view_line){kind, 0, state});
        }
    }
    if (view_sql__prepare(db,
                          "SELECT kind, queue, state, first, n FROM ranks"
                          " ORDER BY kind, queue, state, first",
                          &st, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_sql__step(db, st, &row, err);
    while (code == ERR_OK && row) {
        struct view_line what = {(enum view_rank)sqlite3_column_int(st, 0),
                                 sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2)};
        struct view_bucket bucket = {.first = sqlite3_column_int64(st, 3),
                                     .n = sqlite3_column_int64(st, 4),
                                     .cut_at = LARGE};
        if (!is_line(what, queue_max)) {
            code = err_set(err, ERR_CORRUPT, "view: ranks of the kind %d", (int)what.kind);
            break;
        }
        struct view_rank_line *line = line_of(r, what);
        line->newest = INT64_MAX;
        if (bucket.first <= 0) {
            line->buckets[0].n = bucket.n;
        } else {
            insert_bucket(line, line->count, bucket);
        }
        code = view_sql__step(db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

void view_ranks__deinit(struct view_ranks *r)
{
    for (size_t kind = 0; kind < VIEW_RANK_COUNT; kind++) {
        for (size_t state = 0; state < JOB_STATE_COUNT; state++) {
            free(r->lines[kind][state].buckets);
        }
    }
    for (int64_t i = 0; i < r->queue_cap; i++) {
        for (size_t state = 0; r->queues[i] != NULL && state < JOB_STATE_COUNT; state++) {
            free(r->queues[i][state].buckets);
        }
        free(r->queues[i]);
    }
    free(r->queues);
    *r = (struct view_ranks){0};
}

/* Find the bucket that contains the moment. */
static size_t bucket_of(const struct view_rank_line *line, int64_t moment)
{
    size_t low = 0;
    size_t high = line->count; /* first of low <= moment < first of high */
    if (line->buckets[high - 1].first <= moment) {
        return high - 1; /* the usual case: new moments are the latest */
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (line->buckets[middle].first <= moment) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* If the moment is the latest and the last bucket is complete, begin a new bucket. */
static void begin_bucket(struct view_rank_line *line, int64_t moment)
{
    struct view_bucket *last = &line->buckets[line->count - 1];
    if (moment > line->newest) {
        if (last->n >= BUCKET) {
            insert_bucket(line, line->count,
                          (struct view_bucket){.first = moment, .cut_at = LARGE});
        }
        line->newest = moment;
    }
}

static void add(struct view_ranks *r, struct view_line what, int64_t moment, int64_t delta)
{
    if (moment <= 0 || !is_line(what, VIEW_QUEUES_MAX)) {
        return; /* not set, or from a damaged row */
    }
    struct view_rank_line *line = line_of(r, what);
    if (delta > 0) {
        begin_bucket(line, moment);
    }
    struct view_bucket *b = &line->buckets[bucket_of(line, moment)];
    b->n += delta;
    b->changed = true;
    if (!line->changed) {
        line->changed = true;
        line->changed_next = r->changed;
        r->changed = line;
    }
}

static bool is_same(const struct view_moments *a, const struct view_moments *b, size_t kind)
{
    return a->state == b->state && a->at[kind] == b->at[kind];
}

void view_ranks__move(struct view_ranks *r, const struct view_moments *from,
                      const struct view_moments *to)
{
    const struct {
        const struct view_moments *m;
        int64_t delta;
    } ends[] = {{from, -1}, {to, 1}};
    bool stays = from != NULL && to != NULL;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        const struct view_moments *m = ends[i].m;
        for (enum view_rank kind = 0; m != NULL && kind < VIEW_RANK_COUNT; kind++) {
            bool same = stays && is_same(from, to, kind);
            if (!same) {
                add(r, (struct view_line){kind, 0, m->state}, m->at[kind], ends[i].delta);
            }
            if (kind == VIEW_RANK_CREATED && m->queue > 0 && !(same && from->queue == to->queue)) {
                add(r, (struct view_line){kind, m->queue, m->state}, m->at[kind], ends[i].delta);
            }
        }
    }
}

/* Splits a bucket, moment by moment. */
struct cut {
    struct view_rank_line *line;
    size_t at;            /* bucket being filled */
    int64_t n;            /* jobs in it so far */
    int64_t last, same_n; /* the previous moment, and the number of jobs with it */
};

/* End the bucket before `first`. The last n of its jobs so far belong to the next bucket. */
static void end_bucket(struct cut *c, int64_t first, int64_t n)
{
    struct view_bucket *b = &c->line->buckets[c->at];
    b->n = c->n - n;
    b->changed = true;
    b->cut_at = b->n < BUCKET ? LARGE : b->n * 2; /* jobs of one moment: not checked again soon */
    if (b->first < first) {
        insert_bucket(c->line, ++c->at,
                      (struct view_bucket){.first = first, .changed = true, .cut_at = LARGE});
        c->n = n;
    }
}

static void cut_moment(struct cut *c, int64_t moment)
{
    bool same = moment == c->last;
    if (!same && c->same_n >= BUCKET) {
        end_bucket(c, c->last + 1, 0);
    } else if (!same && c->n >= BUCKET) {
        end_bucket(c, moment, 0);
    }
    c->n++;
    c->same_n = same ? c->same_n + 1 : 1;
    c->last = moment;
    if (c->same_n == BUCKET && c->n > c->same_n) {
        end_bucket(c, moment, c->same_n);
    }
}

static enum err_code cut_bucket(struct view_ranks *r, struct view_rank_line *line, size_t at,
                                struct err *err)
{
    const bool has_next = at + 1 < line->count;
    const int64_t range[2] = {line->buckets[at].first,
                              has_next ? line->buckets[at + 1].first : INT64_MAX};
    struct view_line what = {line->kind, line->queue, line->state};
    struct cut c = {.line = line, .at = at, .last = -1};
    struct id ids[2];
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(r->db, statements_of(what).walk, &st, err) != ERR_OK) {
        return err->code;
    }
    bind_range(st, what, range, ids);
    enum err_code code = view_sql__step(r->db, st, &row, err);
    while (code == ERR_OK && row) {
        cut_moment(&c, line->kind == VIEW_RANK_CREATED ? id_ms(view_sql__id(st, 0))
                                                       : sqlite3_column_int64(st, 0));
        code = view_sql__step(r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    if (code == ERR_OK) {
        end_bucket(&c, c.same_n >= BUCKET && c.last + 1 < range[1] ? c.last + 1 : 0, 0);
        line->newest = has_next ? line->newest : c.last;
    }
    return code;
}

/* Can the bucket be split? Not if all its jobs have the same moment. */
static bool has_cuts(const struct view_rank_line *line, size_t at)
{
    const struct view_bucket *b = &line->buckets[at];
    return at + 1 == line->count || b[1].first - b->first > 1;
}

enum use { SAVE, DROP, USE_COUNT };

static enum err_code write_bucket(struct view_ranks *r, const struct view_rank_line *line,
                                  const struct view_bucket *b, sqlite3_stmt *st, struct err *err)
{
    const int64_t values[] = {(int64_t)line->kind, line->queue, line->state, b->first, b->n};
    for (int i = 0; i < sqlite3_bind_parameter_count(st); i++) {
        (void)sqlite3_bind_int64(st, i + 1, values[i]);
    }
    return view_sql__run(r->db, st, err);
}

/* Merge neighbours that are small together. */
static enum err_code join_buckets(struct view_ranks *r, struct view_rank_line *line,
                                  sqlite3_stmt *drop, struct err *err)
{
    for (size_t i = line->count - 1; i > 0; i--) {
        struct view_bucket *b = &line->buckets[i];
        struct view_bucket *before = b - 1;
        if ((!b->changed && !before->changed) || b->n + before->n > BUCKET) {
            continue;
        }
        if (write_bucket(r, line, b, drop, err) != ERR_OK) {
            return err->code;
        }
        before->n += b->n;
        before->changed = true;
        memmove(b, b + 1, (line->count - i - 1) * sizeof *b);
        line->count--;
    }
    return ERR_OK;
}

static enum err_code save_line(struct view_ranks *r, struct view_rank_line *line,
                               sqlite3_stmt *const st[USE_COUNT], struct err *err)
{
    enum err_code code = ERR_OK;
    for (size_t i = 0; code == ERR_OK && i < line->count; i++) {
        if (line->buckets[i].n >= line->buckets[i].cut_at && has_cuts(line, i)) {
            code = cut_bucket(r, line, i, err);
        }
    }
    if (code == ERR_OK) {
        code = join_buckets(r, line, st[DROP], err);
    }
    for (size_t i = 0; code == ERR_OK && i < line->count; i++) {
        struct view_bucket *b = &line->buckets[i];
        if (b->changed) {
            b->changed = false;
            code = write_bucket(r, line, b, st[SAVE], err);
        }
    }
    line->changed = false;
    return code;
}

enum err_code view_ranks__save(struct view_ranks *r, struct err *err)
{
    static const char *const sql[USE_COUNT] = {
        [SAVE] = "INSERT OR REPLACE INTO ranks (kind, queue, state, first, n)"
                 " VALUES (?, ?, ?, ?, ?)",
        [DROP] = "DELETE FROM ranks WHERE kind = ? AND queue = ? AND state = ? AND first = ?",
    };
    sqlite3_stmt *st[USE_COUNT] = {0};
    enum err_code code = ERR_OK;
    for (size_t i = 0; code == ERR_OK && i < USE_COUNT; i++) {
        code = view_sql__prepare(r->db, sql[i], &st[i], err);
    }
    while (code == ERR_OK && r->changed != NULL) {
        struct view_rank_line *line = r->changed;
        r->changed = line->changed_next;
        code = save_line(r, line, st, err);
    }
    for (size_t i = 0; i < USE_COUNT; i++) {
        (void)sqlite3_finalize(st[i]);
    }
    return code;
}

/* Readers */

#define OF_LINE " FROM ranks WHERE kind = ?1 AND queue = ?2 AND state = ?3 AND first "

/* Read one number with a statement for a line and a moment. */
static enum err_code look_up(sqlite3 *db, const char *sql, struct view_line line, int64_t moment,
                             int64_t *out, struct err *err)
{
    const int64_t values[] = {(int64_t)line.kind, line.queue, line.state, moment};
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    for (int i = 0; i < (int)COUNT_OF(values); i++) {
        (void)sqlite3_bind_int64(st, i + 1, values[i]);
    }
    enum err_code code = view_sql__step(db, st, &row, err);
    *out = code == ERR_OK && row ? sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_ranks__before(sqlite3 *db, struct view_line line, struct view_place place,
                                 int64_t *out, struct err *err)
{
    int64_t moment = line.kind == VIEW_RANK_CREATED ? id_ms(place.id) : place.moment;
    int64_t first = 0;
    int64_t whole = 0;
    sqlite3_stmt *st = NULL;
    struct id ids[2];
    bool row = false;
    if (look_up(db, "SELECT max(first)" OF_LINE "<= ?4", line, moment, &first, err) != ERR_OK ||
        look_up(db, "SELECT sum(n)" OF_LINE "< ?4", line, first, &whole, err) != ERR_OK ||
        view_sql__prepare(db, statements_of(line).count, &st, err) != ERR_OK) {
        return err->code;
    }
    bind_range(st, line, (const int64_t[2]){first, moment}, ids);
    if (line.kind == VIEW_RANK_CREATED) {
        view_sql__bind_id(st, 2, &place.id);
    }
    enum err_code code = view_sql__step(db, st, &row, err);
    *out = code == ERR_OK && row ? whole + sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_ranks__all(sqlite3 *db, struct view_line line, int64_t *out, struct err *err)
{
    return look_up(db, "SELECT sum(n)" OF_LINE "< ?4", line, INT64_MAX, out, err);
}
