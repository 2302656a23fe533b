/*
 * Write jobs as rows, many at a time. Each changed job is compared with its old row: counters are
 * updated by the difference, and errors, usage and dependencies are written if they differ. The
 * rows themselves are replaced, by one statement for all of them (view_fed.c).
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "store/store_rows.h"
#include "view/view_errors.h"
#include "view/view_int.h"

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    FIND,
    DELETE_JOBS,
    REPLACE_JOBS,
    REPLACE_RARE_JOBS,
    DELETE_TEXTS,
    INSERT_GONE,
    INSERT_TEXTS,
    INSERT_ERROR,
    MOVE_ERRORS,
    KILL_ERRORS,
    TRIM_ERRORS,
    CUT_ERRORS,
    DELETE_ERRORS,
    INSERT_USAGE,
    DELETE_USAGE,
    INSERT_DEPENDS,
    DELETE_DEPENDS,
    INSERT_QUEUE,
    SET_MARK,
    STATEMENT_COUNT
};

#define NAME(name, kind, value) ", " #name
static const char *const statements[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [FIND] = "SELECT f.place, j.num, j.version, j.queue, j.errors, j.usages, j.depends, j.state,"
             " j.cell, j.completed_at, j.scheduled_at, j.expire_at,"
             " j.started_at, j.failed_at FROM fed f CROSS JOIN jobs j NOT INDEXED ON j.id = f.id",
    [DELETE_JOBS] = "DELETE FROM jobs WHERE id IN (SELECT id FROM fed)",
    [REPLACE_JOBS] = "REPLACE INTO jobs (id" VIEW_COLUMNS_COMMON(
        NAME) ") SELECT id" VIEW_COLUMNS_COMMON(NAME) " FROM fed",
    [REPLACE_RARE_JOBS] =
        "REPLACE INTO jobs (id" VIEW_COLUMNS(NAME) ") SELECT id" VIEW_COLUMNS(NAME) " FROM fed",
    [DELETE_TEXTS] = "DELETE FROM texts WHERE num IN (SELECT old_num FROM fed)",
    [INSERT_GONE] = "INSERT INTO gone (num) SELECT old_num FROM fed",
    [INSERT_TEXTS] = "INSERT INTO texts (num, id, bytes, plain, queue, payload, tags)"
                     " SELECT num, id, bytes, plain, queue_name, payload, tags FROM fed",
    [INSERT_ERROR] = "INSERT OR IGNORE INTO errors (job, row_num, error, at, mark, queue,"
                     " version, before, dead) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [MOVE_ERRORS] = "UPDATE errors SET queue = ?2 WHERE job = ?1",
    [KILL_ERRORS] = "UPDATE errors SET dead = ?2 WHERE job = ?1",
    [TRIM_ERRORS] = "DELETE FROM errors WHERE job = ? AND row_num < ?",
    [CUT_ERRORS] = "UPDATE errors SET before = -1 WHERE job = ?1 AND before >= 0 AND before < ?2",
    [DELETE_ERRORS] = "DELETE FROM errors WHERE job = ?",
    [INSERT_USAGE] = "INSERT OR IGNORE INTO usage (row_num, job, at, input, output, cache_creation,"
                     " cache_read, cost, model, provider) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DELETE_USAGE] = "DELETE FROM usage WHERE job = ?",
    [INSERT_DEPENDS] = "INSERT OR IGNORE INTO depends (on_job, job) VALUES (?, ?)",
    [DELETE_DEPENDS] = "DELETE FROM depends WHERE job = ?",
    [INSERT_QUEUE] = "INSERT INTO queues (num, name) VALUES (?, ?)",
    [SET_MARK] = "UPDATE mark SET complete = ?, hash = ?, words = ?, stale = ?",
};
#undef NAME

struct view_queue {
    struct map_node node;
    int64_t num;
    int64_t text_count, text_next; /* new texts of the current batch, and the next number */
    struct view_queue *text_queue; /* next queue that has any */
    char name[];
};

static void bind_i64(sqlite3_stmt *st, int at, int64_t v)
{
    int rc = sqlite3_bind_int64(st, at, v);
    CHECK(rc == SQLITE_OK);
}

/* Opening */

static struct view_queue *remember_queue(struct view_rows *r, struct str name, int64_t num)
{
    struct view_queue *q = calloc(1, sizeof *q + name.len + 1);
    CHECK(q != NULL);
    memcpy(q->name, name.ptr == NULL ? "" : name.ptr, name.len);
    q->num = num;
    q->node.key = str_from(q->name, name.len);
    map_add(&r->queues, &q->node);
    if (num >= r->next_queue) {
        r->next_queue = num + 1;
    }
    return q;
}

static enum err_code load_queues(struct view_rows *r, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    int64_t count = 0;
    r->next_queue = 1;
    if (view_sql__prepare(r->db, "SELECT num, name FROM queues", &st, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_sql__number(r->db, "SELECT count(*) FROM queues", &count, err);
    if (code == ERR_OK) {
        code = view_sql__step(r->db, st, &row, err);
    }
    while (code == ERR_OK && row) {
        int64_t num = sqlite3_column_int64(st, 0);
        /* Numbers begin at 1 and are permanent; arrays are as long as the largest number. */
        if (num < 1 || num > count || num > VIEW_QUEUES_MAX) {
            code = err_set(err, ERR_CORRUPT, "view: a queue has the number %lld", (long long)num);
            break;
        }
        (void)remember_queue(r, view_sql__text(st, 1), num);
        code = view_sql__step(r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

static enum err_code load_mark(struct view_rows *r, struct err *err)
{
    int64_t complete = 0;
    int64_t hash = 0;
    int64_t last = 0;
    if (view_sql__number(r->db, "SELECT complete FROM mark", &complete, err) != ERR_OK ||
        view_sql__number(r->db, "SELECT hash FROM mark", &hash, err) != ERR_OK ||
        view_sql__number(r->db, "SELECT words FROM mark", &r->mark.words, err) != ERR_OK ||
        view_sql__number(r->db, "SELECT stale FROM mark", &r->stale, err) != ERR_OK ||
        view_sql__number(r->db, "SELECT count(*) FROM gone", &r->gone_count, err) != ERR_OK ||
        view_sql__number(r->db, "SELECT max(num) FROM texts", &last, err) != ERR_OK) {
        return err->code;
    }
    r->mark.complete = (uint64_t)complete;
    r->mark.hash = (uint64_t)hash;
    r->next_num = (last > r->mark.words ? last : r->mark.words) + 1;
    return ERR_OK;
}

static enum err_code load_newest(struct view_rows *r, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(r->db, "SELECT id FROM jobs ORDER BY id DESC LIMIT 1", &st, err) !=
        ERR_OK) {
        return err->code;
    }
    enum err_code code = view_sql__step(r->db, st, &row, err);
    r->newest = code == ERR_OK && row ? view_sql__id(st, 0) : ID_NONE;
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_rows__open(struct view_rows *r, sqlite3 *db, struct store *store,
                              struct err *err)
{
    *r = (struct view_rows){.db = db, .store = store};
    map_init(&r->queues);
    r->st = calloc(STATEMENT_COUNT, sizeof(sqlite3_stmt *));
    r->depends = calloc(VIEW_DEPENDS_MAX, sizeof *r->depends);
    r->picked = calloc(VIEW_BATCH, sizeof(struct view_item *));
    CHECK(r->st != NULL && r->depends != NULL && r->picked != NULL);
    if (view_fed__open(db, &r->fed, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        if (view_sql__prepare(db, statements[i], &r->st[i], err) != ERR_OK) {
            return err->code;
        }
    }
    if (load_queues(r, err) != ERR_OK ||
        view_cells__load(&r->cells, db, r->next_queue - 1, err) != ERR_OK ||
        view_ranks__load(&r->ranks, db, r->next_queue - 1, err) != ERR_OK) {
        return err->code;
    }
    return load_newest(r, err) == ERR_OK ? load_mark(r, err) : err->code;
}

static void free_queue(struct map_node *node, void *data)
{
    struct map *queues = data;
    map_remove(queues, node);
    free(CONTAINER_OF(node, struct view_queue, node));
}

void view_rows__close(struct view_rows *r)
{
    if (r->st != NULL) {
        for (size_t i = 0; i < STATEMENT_COUNT; i++) {
            (void)sqlite3_finalize(r->st[i]);
        }
        free(r->st);
        free(r->depends);
        free(r->picked);
        map_each(&r->queues, free_queue, &r->queues);
        map_deinit(&r->queues);
        view_cells__deinit(&r->cells);
        view_ranks__deinit(&r->ranks);
    }
    *r = (struct view_rows){0};
}

/* Rows */

static enum err_code run(struct view_rows *r, enum statement which, struct err *err)
{
    return view_sql__run(r->db, r->st[which], err);
}

/* Run a statement over the picked items. */
static enum err_code run_picked(struct view_rows *r, enum statement which, size_t count,
                                struct err *err)
{
    if (count == 0) {
        return ERR_OK;
    }
    view_fed__show(r->fed, r->picked, count);
    enum err_code code = run(r, which, err);
    view_fed__show(r->fed, NULL, 0);
    return code;
}

static enum err_code read_old(struct view_rows *r, sqlite3_stmt *st, struct view_old *out,
                              const struct id *id, struct err *err)
{
    int64_t state = 0;
    int64_t cell = 0;
    int64_t *const values[] = {
        &out->num,
        &out->version,
        &out->queue,
        &out->errors,
        &out->usages,
        &out->depends,
        &state,
        &cell,
        &out->moments.at[VIEW_RANK_COMPLETED],
        &out->moments.at[VIEW_RANK_SCHEDULED],
        &out->moments.at[VIEW_RANK_EXPIRE],
        &out->moments.at[VIEW_RANK_STARTED],
        &out->moments.at[VIEW_RANK_FAILED],
    };
    for (int i = 0; i < (int)COUNT_OF(values); i++) {
        *values[i] = sqlite3_column_int64(st, i + 1);
    }
    out->found = true;
    out->cell = view_cells__of(cell);
    out->moments.queue = out->queue;
    out->moments.state = out->cell.state;
    out->moments.at[VIEW_RANK_CREATED] = id_ms(*id);
    if (out->queue < 1 || out->queue >= r->next_queue || state != out->cell.state ||
        state >= JOB_STATE_COUNT) {
        return err_set(err, ERR_CORRUPT, "view: a job of the queue %lld and the state %lld",
                       (long long)out->queue, (long long)state);
    }
    return ERR_OK;
}

/* Read the old rows. Most jobs are newer than all rows, and are not looked up. */
static enum err_code find_old(struct view_rows *r, struct view_item *items, size_t n,
                              struct err *err)
{
    sqlite3_stmt *st = r->st[FIND];
    struct id newest = r->newest;
    size_t picked = 0;
    bool row = false;
    for (size_t i = 0; i < n; i++) {
        if (id_cmp(items[i].job.id, r->newest) <= 0) {
            r->picked[picked++] = &items[i];
        } else if (id_cmp(items[i].job.id, newest) > 0) {
            newest = items[i].job.id;
        }
    }
    r->newest = newest;
    if (picked == 0) {
        return ERR_OK;
    }
    view_fed__show(r->fed, r->picked, picked);
    enum err_code code = view_sql__step(r->db, st, &row, err);
    while (code == ERR_OK && row) {
        struct view_item *item = r->picked[sqlite3_column_int64(st, 0)];
        code = read_old(r, st, &item->old, &item->job.id, err);
        if (code == ERR_OK) {
            code = view_sql__step(r->db, st, &row, err);
        }
    }
    (void)sqlite3_reset(st);
    view_fed__show(r->fed, NULL, 0);
    return code;
}

static enum err_code queue_of(struct view_rows *r, struct str name, struct view_queue **out,
                              struct err *err)
{
    struct map_node *node = map_find(&r->queues, name);
    if (node != NULL) {
        *out = CONTAINER_OF(node, struct view_queue, node);
        return ERR_OK;
    }
    bind_i64(r->st[INSERT_QUEUE], 1, r->next_queue);
    view_sql__bind_text(r->st[INSERT_QUEUE], 2, name);
    if (run(r, INSERT_QUEUE, err) != ERR_OK) {
        return err->code;
    }
    *out = remember_queue(r, name, r->next_queue);
    return ERR_OK;
}

/* Remove the old row from all counters and add the new one. j: NULL if the job was removed. */
static void count(struct view_rows *r, const struct view_old *old, const struct job *j,
                  int64_t queue)
{
    if (old->found) {
        view_cells__add(&r->cells, old->queue, old->cell, -1);
    }
    if (j == NULL) {
        view_ranks__move(&r->ranks, &old->moments, NULL);
        return;
    }
    view_cells__add(&r->cells, queue, view_cells__of_job(j), 1);
    struct view_moments to = {.queue = queue,
                              .state = (int64_t)j->state,
                              .at = {
                                  [VIEW_RANK_CREATED] = id_ms(j->id),
                                  [VIEW_RANK_COMPLETED] = j->completed_at.ns,
                                  [VIEW_RANK_SCHEDULED] = j->scheduled_at.ns,
                                  [VIEW_RANK_EXPIRE] = j->expire_at.ns,
                                  [VIEW_RANK_STARTED] = j->started_at.ns,
                                  [VIEW_RANK_FAILED] = j->failed_at.ns,
                              }};
    view_ranks__move(&r->ranks, old->found ? &old->moments : NULL, &to);
}

/* Rows that belong to a job: errors, usage, dependencies */

struct hanging {
    struct view_rows *r;
    const struct job *j;
    int64_t queue;
    struct err *err;
    enum err_code code;
    int64_t found;
    int64_t first; /* number of the oldest row seen; 0: none */
    int64_t first_at;
    struct {
        int64_t mark, at;
    } seen[LIMIT_JOB_ERRORS]; /* fingerprints, each with the time of its last error so far */
    size_t seen_count;
};

int64_t view_rows__errors(const struct job *j, int64_t found)
{
    int64_t kept = j->error_count < LIMIT_JOB_ERRORS ? j->error_count : LIMIT_JOB_ERRORS;
    return found < kept ? found : j->error_count;
}

int64_t view_rows__usages(const struct job *j, int64_t found)
{
    return found < j->usage_count ? found : j->usage_count;
}

/* Return the time of the previous error with this fingerprint, or -1, and record the time of this
 * one. */
static int64_t note_mark(struct hanging *h, int64_t mark, int64_t at)
{
    size_t i = 0;
    while (i < h->seen_count && h->seen[i].mark != mark) {
        i++;
    }
    int64_t before = i < h->seen_count ? h->seen[i].at : -1;
    if (i < LIMIT_JOB_ERRORS) {
        h->seen[i].mark = mark;
        h->seen[i].at = at;
        h->seen_count = i == h->seen_count ? i + 1 : h->seen_count;
    }
    return before;
}

static void write_error(void *data, const struct store_error *e)
{
    struct hanging *h = data;
    sqlite3_stmt *st = h->r->st[INSERT_ERROR];
    if (h->code != ERR_OK) {
        return;
    }
    h->found++;
    int64_t mark = view_errors_mark(e->error, NULL);
    view_sql__bind_id(st, 1, &h->j->id);
    bind_i64(st, 2, (int64_t)e->row);
    view_sql__bind_text(st, 3, e->error);
    bind_i64(st, 4, e->created_at.ns);
    bind_i64(st, 5, mark);
    bind_i64(st, 6, h->queue);
    view_sql__bind_text(st, 7, e->version);
    bind_i64(st, 8, note_mark(h, mark, e->created_at.ns));
    bind_i64(st, 9, h->j->state == JOB_DEAD);
    if (h->first == 0) {
        h->first = (int64_t)e->row;
        h->first_at = e->created_at.ns;
    }
    h->code = run(h->r, INSERT_ERROR, h->err);
}

/* Update the existing error rows of a job. */
static enum err_code set_errors(struct view_rows *r, enum statement which, const struct job *j,
                                int64_t value, struct err *err)
{
    view_sql__bind_id(r->st[which], 1, &j->id);
    bind_i64(r->st[which], 2, value);
    return run(r, which, err);
}

static enum err_code write_errors(struct view_rows *r, const struct job *j,
                                  struct view_extra *extra, struct err *err)
{
    struct hanging h = {.r = r, .j = j, .queue = extra->queue, .err = err};
    store_rows_each_error(r->store, j->id, write_error, &h);
    extra->errors = view_rows__errors(j, h.found);
    if (h.code == ERR_OK && h.first > 0 && !r->fresh) {
        view_sql__bind_id(r->st[TRIM_ERRORS], 1, &j->id);
        bind_i64(r->st[TRIM_ERRORS], 2, h.first);
        h.code = run(r, TRIM_ERRORS, err);
        if (h.code == ERR_OK && sqlite3_changes(r->db) > 0) {
            h.code = set_errors(r, CUT_ERRORS, j, h.first_at, err);
        }
    }
    return h.code;
}

static void write_one_usage(void *data, const struct store_usage *u)
{
    struct hanging *h = data;
    sqlite3_stmt *st = h->r->st[INSERT_USAGE];
    const struct store_tokens *t = &u->tokens;
    if (h->code != ERR_OK) {
        return;
    }
    h->found++;
    bind_i64(st, 1, (int64_t)u->row);
    view_sql__bind_id(st, 2, &h->j->id);
    bind_i64(st, 3, u->created_at.ns);
    bind_i64(st, 4, t->input);
    bind_i64(st, 5, t->output);
    bind_i64(st, 6, t->cache_creation);
    bind_i64(st, 7, t->cache_read);
    bind_i64(st, 8, t->cost_nusd);
    view_sql__bind_text(st, 9, t->model);
    view_sql__bind_text(st, 10, t->provider);
    h->code = run(h->r, INSERT_USAGE, h->err);
}

static enum err_code write_usage(struct view_rows *r, const struct job *j, struct view_extra *extra,
                                 struct err *err)
{
    struct hanging h = {.r = r, .j = j, .err = err};
    store_rows_each_usage(r->store, j->id, write_one_usage, &h);
    extra->usages = view_rows__usages(j, h.found);
    return h.code;
}

/* Write the dependencies of a job with its first row. They never change. */
static enum err_code write_depends(struct view_rows *r, const struct job *j, int64_t *out_count,
                                   struct err *err)
{
    size_t n = view_depends__of(j, r->depends);
    *out_count = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        view_sql__bind_id(r->st[INSERT_DEPENDS], 1, &r->depends[i]);
        view_sql__bind_id(r->st[INSERT_DEPENDS], 2, &j->id);
        if (run(r, INSERT_DEPENDS, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code delete_by_id(struct view_rows *r, enum statement which, const struct id *id,
                                  struct err *err)
{
    view_sql__bind_id(r->st[which], 1, id);
    return run(r, which, err);
}

static enum err_code remove_hanging(struct view_rows *r, const struct view_item *item,
                                    struct err *err)
{
    const struct {
        int64_t count;
        enum statement which;
    } rows[] = {{item->old.errors, DELETE_ERRORS},
                {item->old.usages, DELETE_USAGE},
                {item->old.depends, DELETE_DEPENDS}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].count > 0 && delete_by_id(r, rows[i].which, &item->job.id, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code write_hanging(struct view_rows *r, struct view_item *item, struct err *err)
{
    const struct view_old *old = &item->old;
    const struct job *j = &item->job;
    int64_t queue = item->extra.queue;
    item->extra.errors = old->errors;
    item->extra.usages = old->usages;
    item->extra.depends = old->depends;
    if (!old->found && write_depends(r, j, &item->extra.depends, err) != ERR_OK) {
        return err->code;
    }
    bool dead = j->state == JOB_DEAD;
    if (old->errors > 0 && old->queue != queue &&
        set_errors(r, MOVE_ERRORS, j, queue, err) != ERR_OK) {
        return err->code;
    }
    if (old->errors > 0 && (old->cell.state == JOB_DEAD) != dead &&
        set_errors(r, KILL_ERRORS, j, dead, err) != ERR_OK) {
        return err->code;
    }
    if (j->error_count != old->errors && write_errors(r, j, &item->extra, err) != ERR_OK) {
        return err->code;
    }
    return j->usage_count != old->usages ? write_usage(r, j, &item->extra, err) : ERR_OK;
}

/* Batches */

/* Is the row up to date: written by the same entry, with the same errors and usage reports? For a
 * removed job: is there no row? */
static bool is_same(const struct view_item *item)
{
    const struct view_old *old = &item->old;
    const struct job *j = &item->job;
    return item->gone ? !old->found
                      : old->found && old->version == (int64_t)j->version &&
                            old->errors == j->error_count && old->usages == j->usage_count;
}

static bool loses_row(const struct view_rows *r, const struct view_item *item)
{
    (void)r;
    return item->gone && item->old.found;
}

static bool has_rare(const struct view_item *item)
{
    const struct job *j = &item->job;
    const struct view_extra *r = &item->extra;
#define IS_INT(value)                ((value) != 0)
#define IS_TEXT(value)               ((value).len > 0)
#define IS_ID(value)                 (!id_is_none(value))
#define IS_STEP(value)               ((value)->has_chain_step)
#define OR_IS_SET(name, kind, value) || IS_##kind(value)
    return false VIEW_COLUMNS_RARE(OR_IS_SET);
#undef OR_IS_SET
#undef IS_STEP
#undef IS_ID
#undef IS_TEXT
#undef IS_INT
}

static bool has_new_row(const struct view_rows *r, const struct view_item *item)
{
    (void)r;
    return !item->gone && !is_same(item) && !has_rare(item);
}

static bool has_new_rare_row(const struct view_rows *r, const struct view_item *item)
{
    (void)r;
    return !item->gone && !is_same(item) && has_rare(item);
}

static bool has_new_text(const struct view_item *item)
{
    return !item->gone && (!item->old.found || item->old.queue != item->extra.queue);
}

/* Is the old text not used any more? The full-text index needs an indexed text once more to remove
 * it. */
static bool drops_text(const struct view_item *item)
{
    return item->old.found && (item->gone || has_new_text(item));
}

static bool drops_known_text(const struct view_rows *r, const struct view_item *item)
{
    return drops_text(item) && item->old.num <= r->mark.words;
}

static bool drops_unknown_text(const struct view_rows *r, const struct view_item *item)
{
    return drops_text(item) && item->old.num > r->mark.words;
}

/* Write queues, rows that belong to the jobs, and counters. */
static enum err_code write_around(struct view_rows *r, struct view_item *items, size_t n,
                                  struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct view_item *item = &items[i];
        struct view_queue *q = NULL;
        if (is_same(item)) {
            item->extra.queue = item->old.queue;
            continue;
        }
        if (!item->gone && queue_of(r, item->job.queue, &q, err) != ERR_OK) {
            return err->code;
        }
        item->queue = q;
        item->extra.queue = q == NULL ? 0 : q->num;
        enum err_code code =
            item->gone ? remove_hanging(r, item, err) : write_hanging(r, item, err);
        if (code != ERR_OK) {
            return code;
        }
        count(r, &item->old, item->gone ? NULL : &item->job, item->extra.queue);
        r->written++;
    }
    return ERR_OK;
}

/* Assign numbers to new texts, queue by queue, so that a search over all texts of a queue finds
 * many of them on each page. Picks the items in that order and returns their number. */
static size_t number_texts(struct view_rows *r, struct view_item *items, size_t n)
{
    struct view_queue *first = NULL;
    struct view_queue **last = &first;
    int64_t begin = r->next_num;
    for (size_t i = 0; i < n; i++) {
        struct view_queue *q = items[i].queue;
        items[i].extra.num = items[i].old.num;
        if (has_new_text(&items[i]) && q->text_count++ == 0) {
            q->text_queue = NULL;
            *last = q;
            last = &q->text_queue;
        }
    }
    for (struct view_queue *q = first; q != NULL; q = q->text_queue) {
        q->text_next = r->next_num;
        r->next_num += q->text_count;
        q->text_count = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (has_new_text(&items[i])) {
            items[i].extra.num = items[i].queue->text_next++;
            r->picked[items[i].extra.num - begin] = &items[i];
        }
    }
    return (size_t)(r->next_num - begin);
}

enum err_code view_rows__write(struct view_rows *r, struct view_item *items, size_t n,
                               struct err *err)
{
    static const struct {
        enum statement which;
        bool (*pick)(const struct view_rows *r, const struct view_item *item);
    } steps[] = {
        {DELETE_JOBS, loses_row},
        {REPLACE_JOBS, has_new_row},
        {REPLACE_RARE_JOBS, has_new_rare_row},
        {DELETE_TEXTS, drops_unknown_text},
        {INSERT_GONE, drops_known_text},
    };
    CHECK(n <= VIEW_BATCH);
    if (find_old(r, items, n, err) != ERR_OK || write_around(r, items, n, err) != ERR_OK ||
        run_picked(r, INSERT_TEXTS, number_texts(r, items, n), err) != ERR_OK) {
        return err->code;
    }
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        size_t picked = 0;
        for (size_t i = 0; i < n; i++) {
            if (steps[s].pick(r, &items[i])) {
                r->picked[picked++] = &items[i];
            }
        }
        if (run_picked(r, steps[s].which, picked, err) != ERR_OK) {
            return err->code;
        }
        r->gone_count += steps[s].which == INSERT_GONE ? (int64_t)picked : 0;
    }
    return ERR_OK;
}

enum err_code view_rows__write_batch(struct view_rows *r, struct view_batch *b, struct err *err)
{
    size_t n = 0;
    struct view_item *items = view_batch__take(b, &n);
    return view_rows__write(r, items, n, err);
}

/* Transactions */

enum err_code view_rows__begin(struct view_rows *r, struct err *err)
{
    return run(r, BEGIN, err);
}

enum err_code view_rows__commit(struct view_rows *r, const struct view_mark *mark, struct err *err)
{
    sqlite3_stmt *st = r->st[SET_MARK];
    bind_i64(st, 1, (int64_t)mark->complete);
    bind_i64(st, 2, (int64_t)mark->hash);
    bind_i64(st, 3, mark->words);
    bind_i64(st, 4, r->stale);
    if (view_cells__save(&r->cells, err) != ERR_OK ||
        (!r->fresh && view_ranks__save(&r->ranks, err) != ERR_OK) ||
        run(r, SET_MARK, err) != ERR_OK || run(r, COMMIT, err) != ERR_OK) {
        return err->code;
    }
    r->mark = *mark;
    return ERR_OK;
}

void view_rows__rollback(struct view_rows *r)
{
    struct err err;
    if (sqlite3_get_autocommit(r->db) == 0) {
        (void)run(r, ROLLBACK, &err); /* the original error has been reported */
    }
}
