/*
 * Ranks: how many jobs there are before a moment, without counting them.
 *
 * The moments of a kind (created, completed, scheduled, expiring) are cut into buckets, each with
 * its number of jobs; a total of a range adds up buckets and counts only inside the two in which
 * the range begins and ends. The writer keeps the numbers in the transactions that change the jobs,
 * and cuts a bucket that has become large by a walk over an index. A moment that thousands of jobs
 * share gets a bucket of its own, so that no bound can fall into it.
 *
 * Moments are what a kind counts in: nanoseconds, but milliseconds for creation, which is in the
 * id.
 */
#include <stdlib.h>

#include "base/check.h"
#include "view/view_int.h"

enum {
    BUCKET = 4096,      /* jobs of a bucket when it is cut off */
    LARGE = 2 * BUCKET, /* and when it is cut itself */
    BUCKETS_FIRST = 64,
};

/* Walks over the moments of a range, in order, and counts of one. Moments: the integer of column 0,
 * or the milliseconds of the id in it. */
static const struct {
    bool ids;
    const char *walk, *count;
} kinds[VIEW_RANK_COUNT] = {
    [VIEW_RANK_CREATED] = {true,
                           "SELECT id FROM jobs NOT INDEXED WHERE id >= ?1 AND id < ?2 ORDER BY id",
                           "SELECT count(*) FROM jobs NOT INDEXED WHERE id >= ?1 AND id < ?2"},
#define BY(column, index)                                                                          \
    {                                                                                              \
        false,                                                                                     \
            "SELECT " column " FROM jobs INDEXED BY " index " WHERE " column " > 0 AND " column    \
            " >= ?1 AND " column " < ?2 ORDER BY " column,                                         \
            "SELECT count(*) FROM jobs INDEXED BY " index " WHERE " column " > 0 AND " column      \
            " >= ?1 AND " column " < ?2"                                                           \
    }
    [VIEW_RANK_COMPLETED] = BY("completed_at", "jobs_completed"),
    [VIEW_RANK_SCHEDULED] = BY("scheduled_at", "jobs_scheduled"),
    [VIEW_RANK_EXPIRE] = BY("expire_at", "jobs_expire"),
#undef BY
};

/* Moments and ids */

int64_t view_ranks__of_id(struct id id)
{
    int64_t ms = 0;
    for (size_t i = 0; i < 6; i++) {
        ms = ms << 8 | id.b[i];
    }
    return ms;
}

static struct id first_id(int64_t ms)
{
    return ms > INT64_MAX / NS_PER_MS ? (struct id){.b = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
                                      : id_make((struct wall){.ns = ms * NS_PER_MS}, 0, 0);
}

/* Bind the range from one moment to below another; ids must live until the statement is reset. */
static void bind_range(sqlite3_stmt *st, enum view_rank kind, const int64_t range[2],
                       struct id ids[2])
{
    for (int i = 0; i < 2; i++) {
        if (kinds[kind].ids) {
            ids[i] = first_id(range[i]);
            view_db__bind_id(st, i + 1, &ids[i]);
        } else {
            (void)sqlite3_bind_int64(st, i + 1, range[i]);
        }
    }
}

/* The writer's side */

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

enum err_code view_ranks__load(struct view_ranks *r, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *r = (struct view_ranks){.db = db};
    for (size_t i = 0; i < VIEW_RANK_COUNT; i++) {
        insert_bucket(&r->lines[i], 0, (struct view_bucket){.first = 0, .cut_at = LARGE});
    }
    if (view_db__prepare(db, "SELECT kind, first, n FROM ranks ORDER BY kind, first", &st, err) !=
        ERR_OK) {
        return err->code;
    }
    enum err_code code = view_db__step(db, st, &row, err);
    while (code == ERR_OK && row) {
        int64_t kind = sqlite3_column_int64(st, 0);
        struct view_bucket bucket = {.first = sqlite3_column_int64(st, 1),
                                     .n = sqlite3_column_int64(st, 2),
                                     .cut_at = LARGE};
        if (kind < 0 || kind >= VIEW_RANK_COUNT) {
            code = err_set(err, ERR_CORRUPT, "view: ranks of the kind %lld", (long long)kind);
            break;
        }
        struct view_rank_line *line = &r->lines[kind];
        if (bucket.first <= 0) {
            line->buckets[0].n = bucket.n;
        } else {
            insert_bucket(line, line->count, bucket);
        }
        code = view_db__step(db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

void view_ranks__deinit(struct view_ranks *r)
{
    for (size_t i = 0; i < VIEW_RANK_COUNT; i++) {
        free(r->lines[i].buckets);
    }
    *r = (struct view_ranks){0};
}

/* The bucket that a moment falls into. */
static size_t bucket_of(const struct view_rank_line *line, int64_t moment)
{
    size_t low = 0;
    size_t high = line->count; /* first of low <= moment < first of high */
    if (line->buckets[high - 1].first <= moment) {
        return high - 1; /* nearly always: time goes on */
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

static void add(struct view_rank_line *line, int64_t moment, int64_t delta)
{
    if (moment > 0) {
        struct view_bucket *b = &line->buckets[bucket_of(line, moment)];
        b->n += delta;
        b->changed = true;
        line->changed = true;
    }
}

void view_ranks__move(struct view_ranks *r, enum view_rank kind, int64_t from, int64_t to)
{
    if (from != to) {
        add(&r->lines[kind], from, -1);
        add(&r->lines[kind], to, 1);
    }
}

/* A cut through a bucket, moment by moment. */
struct cut {
    struct view_rank_line *line;
    size_t at;            /* bucket that is being filled */
    int64_t n;            /* jobs in it so far */
    int64_t last, same_n; /* the moment before, and how many had it in a row */
};

/* The bucket ends before `first`; jobs of it that come behind are in n. */
static void end_bucket(struct cut *c, int64_t first, int64_t n)
{
    struct view_bucket *b = &c->line->buckets[c->at];
    b->n = c->n - n;
    b->changed = true;
    b->cut_at = b->n < BUCKET ? LARGE : b->n * 2; /* of one moment: not looked at again soon */
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

static enum err_code cut_bucket(struct view_ranks *r, enum view_rank kind, size_t at,
                                struct err *err)
{
    struct view_rank_line *line = &r->lines[kind];
    const bool has_next = at + 1 < line->count;
    const int64_t range[2] = {line->buckets[at].first,
                              has_next ? line->buckets[at + 1].first : INT64_MAX};
    struct cut c = {.line = line, .at = at, .last = -1};
    struct id ids[2];
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_db__prepare(r->db, kinds[kind].walk, &st, err) != ERR_OK) {
        return err->code;
    }
    bind_range(st, kind, range, ids);
    enum err_code code = view_db__step(r->db, st, &row, err);
    while (code == ERR_OK && row) {
        cut_moment(&c, kinds[kind].ids ? view_ranks__of_id(view_db__id(st, 0))
                                       : sqlite3_column_int64(st, 0));
        code = view_db__step(r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    if (code == ERR_OK) {
        end_bucket(&c, c.same_n >= BUCKET && c.last + 1 < range[1] ? c.last + 1 : 0, 0);
    }
    return code;
}

static enum err_code save_line(struct view_ranks *r, enum view_rank kind, sqlite3_stmt *st,
                               struct err *err)
{
    struct view_rank_line *line = &r->lines[kind];
    enum err_code code = ERR_OK;
    for (size_t i = 0; code == ERR_OK && i < line->count; i++) {
        struct view_bucket *b = &line->buckets[i];
        if (b->changed) {
            (void)sqlite3_bind_int64(st, 1, (int64_t)kind);
            (void)sqlite3_bind_int64(st, 2, b->first);
            (void)sqlite3_bind_int64(st, 3, b->n);
            b->changed = false;
            code = view_db__run(r->db, st, err);
        }
    }
    line->changed = false;
    return code;
}

enum err_code view_ranks__save(struct view_ranks *r, bool cut, struct err *err)
{
    sqlite3_stmt *st = NULL;
    enum err_code code = view_db__prepare(
        r->db, "INSERT OR REPLACE INTO ranks (kind, first, n) VALUES (?, ?, ?)", &st, err);
    for (enum view_rank kind = 0; code == ERR_OK && kind < VIEW_RANK_COUNT; kind++) {
        struct view_rank_line *line = &r->lines[kind];
        for (size_t i = 0; cut && code == ERR_OK && i < line->count; i++) {
            if (line->buckets[i].n >= line->buckets[i].cut_at) {
                line->changed = true;
                code = cut_bucket(r, kind, i, err);
            }
        }
        if (code == ERR_OK && line->changed) {
            code = save_line(r, kind, st, err);
        }
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* The readers' side */

/* One number of a statement with a kind and a moment. */
static enum err_code look_up(sqlite3 *db, const char *sql, enum view_rank kind, int64_t moment,
                             int64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_db__prepare(db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    (void)sqlite3_bind_int64(st, 1, (int64_t)kind);
    (void)sqlite3_bind_int64(st, 2, moment);
    enum err_code code = view_db__step(db, st, &row, err);
    *out = code == ERR_OK && row ? sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_ranks__before(sqlite3 *db, enum view_rank kind, struct view_place place,
                                 int64_t *out, struct err *err)
{
    int64_t moment = kinds[kind].ids ? view_ranks__of_id(place.id) : place.moment;
    int64_t first = 0;
    int64_t whole = 0;
    sqlite3_stmt *st = NULL;
    struct id ids[2];
    bool row = false;
    if (look_up(db, "SELECT max(first) FROM ranks WHERE kind = ?1 AND first <= ?2", kind, moment,
                &first, err) != ERR_OK ||
        look_up(db, "SELECT sum(n) FROM ranks WHERE kind = ?1 AND first < ?2", kind, first, &whole,
                err) != ERR_OK ||
        view_db__prepare(db, kinds[kind].count, &st, err) != ERR_OK) {
        return err->code;
    }
    bind_range(st, kind, (const int64_t[2]){first, moment}, ids);
    if (kinds[kind].ids) {
        view_db__bind_id(st, 2, &place.id);
    }
    enum err_code code = view_db__step(db, st, &row, err);
    *out = code == ERR_OK && row ? whole + sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_ranks__all(sqlite3 *db, enum view_rank kind, int64_t *out, struct err *err)
{
    return look_up(db, "SELECT sum(n) FROM ranks WHERE kind = ?1 AND first < ?2", kind, INT64_MAX,
                   out, err);
}
