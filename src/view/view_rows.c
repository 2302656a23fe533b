/*
 * Jobs as rows. Every change of a job is looked at from what its row was before: only what differs
 * is written, and the counters are kept by adding differences.
 */
#include <stdlib.h>

#include "base/check.h"
#include "store/store_rows.h"
#include "view/view_errors.h"
#include "view/view_int.h"

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    FIND,
    INSERT_JOB,
    UPDATE_JOB,
    DELETE_JOB,
    INSERT_TEXT,
    DELETE_TEXT,
    INSERT_GONE,
    INSERT_ERROR,
    MOVE_ERRORS,
    TRIM_ERRORS,
    DELETE_ERRORS,
    INSERT_USAGE,
    DELETE_USAGE,
    INSERT_DEPENDS,
    DELETE_DEPENDS,
    INSERT_QUEUE,
    SET_MARK,
    STATEMENT_COUNT
};

#define NAME(name, kind, value)     ", " #name
#define QUESTION(name, kind, value) ", ?"
static const char *const statements[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [FIND] =
        "SELECT num, version, queue, errors, usages, depends, state, priority, attempt, failing,"
        " completed_at, scheduled_at, expire_at, started_at, failed_at FROM jobs WHERE id = ?",
    [INSERT_JOB] =
        "INSERT INTO jobs (id" VIEW_COLUMNS(NAME) ") VALUES (?" VIEW_COLUMNS(QUESTION) ")",
    /* The id is the first parameter of both. */
    [UPDATE_JOB] =
        "UPDATE jobs SET (num" VIEW_REST(NAME) ") = (?2" VIEW_REST(QUESTION) ") WHERE id = ?1",
    [DELETE_JOB] = "DELETE FROM jobs WHERE id = ?",
    [INSERT_TEXT] = "INSERT INTO texts (num, id, bytes, queue, payload, tags)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
    [DELETE_TEXT] = "DELETE FROM texts WHERE num = ?",
    [INSERT_GONE] = "INSERT INTO gone (num) VALUES (?)",
    [INSERT_ERROR] = "INSERT OR IGNORE INTO errors (job, row_num, error, at, mark, queue,"
                     " version) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [MOVE_ERRORS] = "UPDATE errors SET queue = ?2 WHERE job = ?1",
    [TRIM_ERRORS] = "DELETE FROM errors WHERE job = ? AND row_num < ?",
    [DELETE_ERRORS] = "DELETE FROM errors WHERE job = ?",
    [INSERT_USAGE] = "INSERT OR IGNORE INTO usage (row_num, job, at, input, output, cache_creation,"
                     " cache_read, cost, model, provider) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DELETE_USAGE] = "DELETE FROM usage WHERE job = ?",
    [INSERT_DEPENDS] = "INSERT OR IGNORE INTO depends (on_job, job) VALUES (?, ?)",
    [DELETE_DEPENDS] = "DELETE FROM depends WHERE job = ?",
    [INSERT_QUEUE] = "INSERT INTO queues (num, name) VALUES (?, ?)",
    [SET_MARK] = "UPDATE mark SET complete = ?, hash = ?, words = ?",
};
#undef NAME
#undef QUESTION

struct view_queue {
    struct map_node node;
    int64_t num;
    size_t line_first, line_last, line_count; /* of view_rows__put_new, while it runs */
    struct view_queue *line_next;
    char name[];
};

/* What the row of a job was. */
struct old_row {
    bool found;
    int64_t num, version, queue, errors, usages, depends;
    struct view_cell cell;
    struct view_moments moments;
};

/* What the view adds to a job; the name that VIEW_COLUMNS uses is r. */
struct extra {
    int64_t num, queue, depends;
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
    if (view_db__prepare(r->db, "SELECT num, name FROM queues", &st, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_db__number(r->db, "SELECT count(*) FROM queues", &count, err);
    if (code == ERR_OK) {
        code = view_db__step(r->db, st, &row, err);
    }
    while (code == ERR_OK && row) {
        int64_t num = sqlite3_column_int64(st, 0);
        /* They are numbered from 1 on and stay for ever; tables are as long as the largest. */
        if (num < 1 || num > count || num > VIEW_QUEUES_MAX) {
            code = err_set(err, ERR_CORRUPT, "view: a queue has the number %lld", (long long)num);
            break;
        }
        (void)remember_queue(r, view_db__text(st, 1), num);
        code = view_db__step(r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

static enum err_code load_mark(struct view_rows *r, struct err *err)
{
    int64_t complete = 0;
    int64_t hash = 0;
    int64_t last = 0;
    if (view_db__number(r->db, "SELECT complete FROM mark", &complete, err) != ERR_OK ||
        view_db__number(r->db, "SELECT hash FROM mark", &hash, err) != ERR_OK ||
        view_db__number(r->db, "SELECT words FROM mark", &r->mark.words, err) != ERR_OK ||
        view_db__number(r->db, "SELECT count(*) FROM gone", &r->gone_count, err) != ERR_OK ||
        view_db__number(r->db, "SELECT max(num) FROM texts", &last, err) != ERR_OK) {
        return err->code;
    }
    r->mark.complete = (uint64_t)complete;
    r->mark.hash = (uint64_t)hash;
    r->next_num = (last > r->mark.words ? last : r->mark.words) + 1;
    return ERR_OK;
}

enum err_code view_rows__open(struct view_rows *r, sqlite3 *db, struct store *store,
                              struct err *err)
{
    *r = (struct view_rows){.db = db, .store = store};
    map_init(&r->queues);
    r->st = calloc(STATEMENT_COUNT, sizeof(sqlite3_stmt *));
    r->depends = calloc(VIEW_DEPENDS_MAX, sizeof *r->depends);
    CHECK(r->st != NULL && r->depends != NULL);
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        if (view_db__prepare(db, statements[i], &r->st[i], err) != ERR_OK) {
            return err->code;
        }
    }
    if (load_queues(r, err) != ERR_OK ||
        view_cells__load(&r->cells, db, r->next_queue - 1, err) != ERR_OK ||
        view_ranks__load(&r->ranks, db, r->next_queue - 1, err) != ERR_OK) {
        return err->code;
    }
    return load_mark(r, err);
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
        map_each(&r->queues, free_queue, &r->queues);
        map_deinit(&r->queues);
        view_cells__deinit(&r->cells);
        view_ranks__deinit(&r->ranks);
    }
    *r = (struct view_rows){0};
}

/* One job */

static enum err_code run(struct view_rows *r, enum statement which, struct err *err)
{
    return view_db__run(r->db, r->st[which], err);
}

static enum err_code find_old(struct view_rows *r, const struct id *id, struct old_row *out,
                              struct err *err)
{
    sqlite3_stmt *st = r->st[FIND];
    *out = (struct old_row){0};
    view_db__bind_id(st, 1, id);
    enum err_code code = view_db__step(r->db, st, &out->found, err);
    if (code == ERR_OK && out->found) {
        int64_t *const values[] = {
            &out->num,
            &out->version,
            &out->queue,
            &out->errors,
            &out->usages,
            &out->depends,
            &out->cell.state,
            &out->cell.priority,
            &out->cell.attempt,
            &out->cell.failing,
            &out->moments.at[VIEW_RANK_COMPLETED],
            &out->moments.at[VIEW_RANK_SCHEDULED],
            &out->moments.at[VIEW_RANK_EXPIRE],
            &out->moments.at[VIEW_RANK_STARTED],
            &out->moments.at[VIEW_RANK_FAILED],
        };
        for (int i = 0; i < (int)COUNT_OF(values); i++) {
            *values[i] = sqlite3_column_int64(st, i);
        }
        out->moments.queue = out->queue;
        out->moments.state = out->cell.state;
        out->moments.at[VIEW_RANK_CREATED] = id_ms(*id);
        if (out->queue < 1 || out->queue >= r->next_queue || out->cell.state < 0 ||
            out->cell.state >= JOB_STATE_COUNT) {
            code = err_set(err, ERR_CORRUPT, "view: a job of the queue %lld and the state %lld",
                           (long long)out->queue, (long long)out->cell.state);
        }
    }
    (void)sqlite3_reset(st);
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
    view_db__bind_text(r->st[INSERT_QUEUE], 2, name);
    if (run(r, INSERT_QUEUE, err) != ERR_OK) {
        return err->code;
    }
    *out = remember_queue(r, name, r->next_queue);
    return ERR_OK;
}

/* Out of all counters as it was, into them as it is. j: NULL when the job goes. */
static void count(struct view_rows *r, const struct old_row *old, const struct job *j,
                  int64_t queue)
{
    if (old->found) {
        view_cells__add(&r->cells, old->queue, old->cell, -1);
    }
    if (j == NULL) {
        view_ranks__move(&r->ranks, &old->moments, NULL);
        return;
    }
    view_cells__add(&r->cells, queue,
                    (struct view_cell){.state = (int64_t)j->state,
                                       .priority = j->priority,
                                       .attempt = j->attempt,
                                       .failing = j->error_count > 0},
                    1);
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

static void bind_job(sqlite3_stmt *st, const struct job *j, const struct extra *r)
{
    int at = 1;
    view_db__bind_id(st, at, &j->id);
#define BIND_INT(value)  bind_i64(st, ++at, (value));
#define BIND_TEXT(value) view_db__bind_or_null(st, ++at, (value));
#define BIND_ID(value)                                                                             \
    if (id_is_none(value)) {                                                                       \
        view_db__bind_or_null(st, ++at, STR_EMPTY);                                                \
    } else {                                                                                       \
        view_db__bind_id(st, ++at, &(value));                                                      \
    }
#define BIND_STEP(value)                                                                           \
    if ((value)->has_chain_step) {                                                                 \
        bind_i64(st, ++at, (value)->chain_step);                                                   \
    } else {                                                                                       \
        view_db__bind_or_null(st, ++at, STR_EMPTY);                                                \
    }
#define BIND(name, kind, value) BIND_##kind(value)
    VIEW_COLUMNS(BIND)
#undef BIND
#undef BIND_STEP
#undef BIND_ID
#undef BIND_TEXT
#undef BIND_INT
}

static enum err_code drop_text(struct view_rows *r, int64_t num, struct err *err)
{
    /* Words that know it need its text once more to forget it. */
    enum statement which = num > r->mark.words ? DELETE_TEXT : INSERT_GONE;
    r->gone_count += which == INSERT_GONE;
    bind_i64(r->st[which], 1, num);
    return run(r, which, err);
}

static enum err_code add_text(struct view_rows *r, const struct job *j, int64_t num,
                              struct err *err)
{
    sqlite3_stmt *st = r->st[INSERT_TEXT];
    bind_i64(st, 1, num);
    view_db__bind_id(st, 2, &j->id);
    bind_i64(st, 3, (int64_t)(j->queue.len + j->payload.len + j->tags.len));
    view_db__bind_text(st, 4, j->queue);
    view_db__bind_text(st, 5, j->payload);
    view_db__bind_text(st, 6, j->tags);
    return run(r, INSERT_TEXT, err);
}

/* What hangs on a job */

struct hanging {
    struct view_rows *r;
    const struct job *j;
    int64_t queue;
    struct err *err;
    enum err_code code;
    int64_t first; /* number of the oldest row seen; 0: none */
};

static void write_error(void *data, const struct store_error *e)
{
    struct hanging *h = data;
    sqlite3_stmt *st = h->r->st[INSERT_ERROR];
    if (h->code != ERR_OK) {
        return;
    }
    view_db__bind_id(st, 1, &h->j->id);
    bind_i64(st, 2, (int64_t)e->row);
    view_db__bind_text(st, 3, e->error);
    bind_i64(st, 4, e->created_at.ns);
    bind_i64(st, 5, view_errors_mark(e->error, NULL));
    bind_i64(st, 6, h->queue);
    view_db__bind_text(st, 7, e->version);
    h->first = h->first == 0 ? (int64_t)e->row : h->first;
    h->code = run(h->r, INSERT_ERROR, h->err);
}

static enum err_code write_errors(struct view_rows *r, const struct job *j, int64_t queue,
                                  struct err *err)
{
    struct hanging h = {.r = r, .j = j, .queue = queue, .err = err};
    store_rows_each_error(r->store, j->id, write_error, &h);
    if (h.code == ERR_OK && h.first > 0 && !r->fresh) {
        view_db__bind_id(r->st[TRIM_ERRORS], 1, &j->id);
        bind_i64(r->st[TRIM_ERRORS], 2, h.first);
        h.code = run(r, TRIM_ERRORS, err);
    }
    return h.code;
}

/* Of a job that is in another queue now. */
static enum err_code move_errors(struct view_rows *r, const struct job *j, int64_t queue,
                                 struct err *err)
{
    view_db__bind_id(r->st[MOVE_ERRORS], 1, &j->id);
    bind_i64(r->st[MOVE_ERRORS], 2, queue);
    return run(r, MOVE_ERRORS, err);
}

static void write_one_usage(void *data, const struct store_usage *u)
{
    struct hanging *h = data;
    sqlite3_stmt *st = h->r->st[INSERT_USAGE];
    const struct store_tokens *t = &u->tokens;
    if (h->code != ERR_OK) {
        return;
    }
    bind_i64(st, 1, (int64_t)u->row);
    view_db__bind_id(st, 2, &h->j->id);
    bind_i64(st, 3, u->created_at.ns);
    bind_i64(st, 4, t->input);
    bind_i64(st, 5, t->output);
    bind_i64(st, 6, t->cache_creation);
    bind_i64(st, 7, t->cache_read);
    bind_i64(st, 8, t->cost_nusd);
    view_db__bind_text(st, 9, t->model);
    view_db__bind_text(st, 10, t->provider);
    h->code = run(h->r, INSERT_USAGE, h->err);
}

static enum err_code write_usage(struct view_rows *r, const struct job *j, struct err *err)
{
    struct hanging h = {.r = r, .j = j, .err = err};
    store_rows_each_usage(r->store, j->id, write_one_usage, &h);
    return h.code;
}

/* What a job depends on is the same for ever: it is written with the first row of the job. */
static enum err_code write_depends(struct view_rows *r, const struct job *j, struct extra *extra,
                                   struct err *err)
{
    size_t n = view_depends__of(j, r->depends);
    extra->depends = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        view_db__bind_id(r->st[INSERT_DEPENDS], 1, &r->depends[i]);
        view_db__bind_id(r->st[INSERT_DEPENDS], 2, &j->id);
        if (run(r, INSERT_DEPENDS, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code write_row(struct view_rows *r, const struct job *j, enum statement which,
                               const struct extra *extra, struct err *err)
{
    bind_job(r->st[which], j, extra);
    return run(r, which, err);
}

static enum err_code write_job(struct view_rows *r, const struct job *j, const struct old_row *old,
                               const struct view_queue *q, struct err *err)
{
    struct extra extra = {.num = old->num, .queue = q->num, .depends = old->depends};
    if (!old->found || old->queue != q->num) {
        extra.num = r->next_num++;
        if ((old->found && drop_text(r, old->num, err) != ERR_OK) ||
            add_text(r, j, extra.num, err) != ERR_OK) {
            return err->code;
        }
    }
    if (!old->found && write_depends(r, j, &extra, err) != ERR_OK) {
        return err->code;
    }
    return write_row(r, j, old->found ? UPDATE_JOB : INSERT_JOB, &extra, err);
}

/* What belongs to a job besides its row, and the counters. */
static enum err_code write_rest(struct view_rows *r, const struct job *j, const struct old_row *old,
                                const struct view_queue *q, struct err *err)
{
    count(r, old, j, q->num);
    if (old->errors > 0 && old->queue != q->num && move_errors(r, j, q->num, err) != ERR_OK) {
        return err->code;
    }
    if (j->error_count != old->errors && write_errors(r, j, q->num, err) != ERR_OK) {
        return err->code;
    }
    if (j->usage_count != old->usages && write_usage(r, j, err) != ERR_OK) {
        return err->code;
    }
    r->written++;
    return ERR_OK;
}

enum err_code view_rows__put(struct view_rows *r, const struct job *j, struct err *err)
{
    struct old_row old = {0};
    struct view_queue *q = NULL;
    if (!r->fresh && find_old(r, &j->id, &old, err) != ERR_OK) {
        return err->code;
    }
    if (old.found && old.version == (int64_t)j->version) {
        return ERR_OK; /* the entry that wrote the document is in the row already */
    }
    if (queue_of(r, j->queue, &q, err) != ERR_OK) {
        return err->code;
    }
    CHECK(q != NULL);
    return write_job(r, j, &old, q, err) == ERR_OK ? write_rest(r, j, &old, q, err) : err->code;
}

/* Many new ones */

/* Lines per queue through the list: heads and tails by queue, and who is next. */
static enum err_code line_up(struct view_rows *r, const struct job *jobs, struct view_new *news,
                             size_t n, struct err *err)
{
    struct view_queue *first = NULL;
    struct view_queue **last = &first;
    for (size_t i = 0; i < n; i++) {
        struct view_queue *q = NULL;
        if (queue_of(r, jobs[i].queue, &q, err) != ERR_OK) {
            return err->code;
        }
        CHECK(q != NULL);
        news[i].queue = q;
        news[i].next = SIZE_MAX;
        if (q->line_count++ == 0) {
            q->line_first = i;
            q->line_next = NULL;
            *last = q;
            last = &q->line_next;
        } else {
            news[q->line_last].next = i;
        }
        q->line_last = i;
    }
    size_t rank = 0;
    for (struct view_queue *q = first; q != NULL; q = q->line_next) {
        for (size_t i = q->line_first; i != SIZE_MAX; i = news[i].next) {
            news[rank].by_queue = i;
            news[i].num = r->next_num + (int64_t)rank++;
        }
        q->line_count = 0;
    }
    CHECK(rank == n);
    return ERR_OK;
}

enum err_code view_rows__put_new(struct view_rows *r, const struct job *jobs, struct view_new *news,
                                 size_t n, struct err *err)
{
    static const struct old_row none = {0};
    enum err_code code = line_up(r, jobs, news, n, err);
    for (size_t i = 0; code == ERR_OK && i < n; i++) {
        struct extra extra = {.num = news[i].num, .queue = news[i].queue->num};
        code = write_depends(r, &jobs[i], &extra, err);
        if (code == ERR_OK) {
            code = write_row(r, &jobs[i], INSERT_JOB, &extra, err);
        }
        if (code == ERR_OK) {
            code = write_rest(r, &jobs[i], &none, news[i].queue, err);
        }
    }
    for (size_t i = 0; code == ERR_OK && i < n; i++) {
        size_t at = news[i].by_queue;
        code = add_text(r, &jobs[at], news[at].num, err);
    }
    r->next_num += (int64_t)n;
    return code;
}

static enum err_code delete_by_id(struct view_rows *r, enum statement which, const struct id *id,
                                  struct err *err)
{
    view_db__bind_id(r->st[which], 1, id);
    return run(r, which, err);
}

enum err_code view_rows__remove(struct view_rows *r, struct id id, struct err *err)
{
    struct old_row old;
    if (find_old(r, &id, &old, err) != ERR_OK) {
        return err->code;
    }
    if (!old.found) {
        return ERR_OK;
    }
    count(r, &old, NULL, 0);
    if (delete_by_id(r, DELETE_JOB, &id, err) != ERR_OK || drop_text(r, old.num, err) != ERR_OK ||
        (old.errors > 0 && delete_by_id(r, DELETE_ERRORS, &id, err) != ERR_OK) ||
        (old.usages > 0 && delete_by_id(r, DELETE_USAGE, &id, err) != ERR_OK) ||
        (old.depends > 0 && delete_by_id(r, DELETE_DEPENDS, &id, err) != ERR_OK)) {
        return err->code;
    }
    r->written++;
    return ERR_OK;
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
        (void)run(r, ROLLBACK, &err); /* what failed before has been told */
    }
}
