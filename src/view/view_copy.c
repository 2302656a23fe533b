/*
 * The complete copy: built from the documents, or compared with them.
 *
 * Both walk all documents in id order. A new file is filled without indexes and without a journal;
 * the indexes are created when all rows are written. A comparison walks the rows along with the
 * documents. A document contains the log entry that wrote it. A row with the same entry is up to
 * date if all errors and usage reports of the job were found when it was written.
 */
#include "base/check.h"
#include "log/log.h"
#include "store/store_job.h"
#include "store/store_walk.h"
#include "view/view_int.h"

enum { LOOK_EVERY = 1024 }; /* documents between two checks whether to continue */

static enum err_code fill(struct view *v, struct view_rows *r, struct err *err)
{
    struct store_walk *walk = store_walk_new(r->store);
    struct view_batch *batch = view_batch__new();
    struct id id;
    struct str doc;
    enum err_code code = ERR_OK;
    uint64_t n = 0;
    while (code == ERR_OK && store_walk_next(walk, &id, &doc)) {
        code = ++n % LOOK_EVERY == 0 ? view_space__go_on(v, err) : ERR_OK;
        if (code == ERR_OK && view_batch__is_full(batch)) {
            code = view_rows__write_batch(r, batch, err);
        }
        if (code == ERR_OK) {
            view_batch__put(batch, id, doc);
        }
    }
    if (code == ERR_OK) {
        code = view_rows__write_batch(r, batch, err);
    }
    view_batch__free(batch);
    store_walk_free(walk);
    return code;
}

static enum err_code build(struct view *v, sqlite3 *db, const struct view_mark *mark,
                           struct err *err)
{
    struct view_rows r = {0};
    enum err_code code = view_db__create(db, err);
    if (code == ERR_OK) {
        code = view_rows__open(&r, db, engine_store(v->config.engine), err);
    }
    r.fresh = true;
    if (code == ERR_OK) {
        code = view_rows__begin(&r, err);
    }
    if (code == ERR_OK) {
        code = fill(v, &r, err);
    }
    if (code == ERR_OK) {
        code = view_rows__commit(&r, mark, err);
    }
    if (code == ERR_OK) {
        code = view_db__create_indexes(db, err);
    }
    if (code == ERR_OK) {
        code = view_rows__begin(&r, err);
    }
    r.fresh = false; /* the indexes exist now; splitting ranks needs them */
    if (code == ERR_OK) {
        code = view_rows__commit(&r, mark, err);
    }
    if (r.st != NULL) {
        view_rows__rollback(&r);
    }
    view_rows__close(&r);
    return code == ERR_OK ? view_db__set_version(db, err) : code;
}

enum err_code view_copy__build(struct view *v, const struct view_mark *mark, struct err *err)
{
    const char *path = v->new_path.z;
    sqlite3 *db = NULL;
    int fd = -1;
    if (view_db__open(path, VIEW_DB_BUILD, &db, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = build(v, db, mark, err);
    view_db__close(db);
    /* SQLite has not flushed anything. */
    if (code == ERR_OK) {
        code = os_file_open(path, 0, &fd, err);
    }
    if (code == ERR_OK) {
        code = os_file_flush(fd, err);
        os_file_close(fd);
    }
    return code;
}

/* Comparing */

struct comparison {
    struct view_rows *r;
    sqlite3 *db; /* reads the rows as of the start */
    sqlite3_stmt *st;
    bool has_row;
    struct id row_id;
    int64_t row_version, row_errors, row_usages;
    struct view_batch *batch; /* the differences */
    uint64_t changed;
    uint64_t looked_at; /* documents, and rows without one, since v->unread was last reduced */
    struct view *view;
};

static enum err_code next_row(struct comparison *c, struct err *err)
{
    if (view_sql__step(c->db, c->st, &c->has_row, err) != ERR_OK) {
        return err->code;
    }
    if (c->has_row) {
        c->row_id = view_sql__id(c->st, 0);
        c->row_version = sqlite3_column_int64(c->st, 1);
        c->row_errors = sqlite3_column_int64(c->st, 2);
        c->row_usages = sqlite3_column_int64(c->st, 3);
    }
    return ERR_OK;
}

/* Does the row have the entry that wrote the document, and the numbers of its errors and usage
 * reports? */
static bool is_up_to_date(const struct comparison *c, struct id id, struct str doc)
{
    struct job j;
    struct err err;
    if (store_job_decode_head(id, doc, &j, &err) != ERR_OK) {
        check_fatal("a document cannot be read: %s", err.msg);
    }
    return c->row_version == (int64_t)j.version && c->row_errors == j.error_count &&
           c->row_usages == j.usage_count;
}

/* Reduce v->unread by the jobs that were compared: they are in the file. */
static void tell_progress(struct comparison *c)
{
    uint64_t left = atomic_load(&c->view->unread);
    if (left > 1) {
        atomic_store(&c->view->unread, left - 1 > c->looked_at ? left - c->looked_at : 1);
    }
    c->looked_at = 0;
}

/* Write the differences in a separate transaction. */
static enum err_code write_batch(struct comparison *c, const struct view_mark *mark,
                                 struct err *err)
{
    c->changed += view_batch__count(c->batch);
    if (view_rows__begin(c->r, err) != ERR_OK ||
        view_rows__write_batch(c->r, c->batch, err) != ERR_OK ||
        view_rows__commit(c->r, mark, err) != ERR_OK) {
        return err->code;
    }
    tell_progress(c);
    return ERR_OK;
}

/* Count a document or row that was compared. If it differs, it is in the batch. */
static enum err_code looked(struct comparison *c, struct err *err)
{
    c->looked_at++;
    if (view_batch__is_full(c->batch)) {
        return write_batch(c, &c->r->mark, err);
    }
    if (view_batch__count(c->batch) == 0 && c->looked_at >= LOOK_EVERY) {
        tell_progress(c);
    }
    return ERR_OK;
}

/* Remove rows below the document's id, which have no document. NULL: all remaining rows. */
static enum err_code remove_below(struct comparison *c, const struct id *id, struct err *err)
{
    enum err_code code = ERR_OK;
    while (code == ERR_OK && c->has_row && (id == NULL || id_cmp(c->row_id, *id) < 0)) {
        view_batch__remove(c->batch, c->row_id);
        code = looked(c, err);
        if (code == ERR_OK) {
            code = next_row(c, err);
        }
    }
    return code;
}

static enum err_code compare_one(struct comparison *c, struct id id, struct str doc,
                                 struct err *err)
{
    enum err_code code = remove_below(c, &id, err);
    if (code != ERR_OK) {
        return code;
    }
    bool there = c->has_row && id_eq(c->row_id, id);
    if (!there || !is_up_to_date(c, id, doc)) {
        view_batch__put(c->batch, id, doc);
    }
    code = looked(c, err);
    return code == ERR_OK && there ? next_row(c, err) : code;
}

static enum err_code compare_all(struct comparison *c, struct err *err)
{
    struct store_walk *walk = store_walk_new(c->r->store);
    struct id id;
    struct str doc;
    uint64_t n = 0;
    enum err_code code = next_row(c, err);
    while (code == ERR_OK && store_walk_next(walk, &id, &doc)) {
        code = ++n % LOOK_EVERY == 0 ? view_space__go_on(c->view, err) : ERR_OK;
        if (code == ERR_OK) {
            code = compare_one(c, id, doc, err);
        }
    }
    store_walk_free(walk);
    return code == ERR_OK ? remove_below(c, NULL, err) : code;
}

enum err_code view_copy__compare(struct view *v, struct view_rows *r, const struct view_mark *mark,
                                 uint64_t *out_changed, struct err *err)
{
    struct comparison c = {.r = r, .view = v, .batch = view_batch__new()};
    struct view_mark reached = *mark;
    enum err_code code = view_db__open(v->path.z, VIEW_DB_READ, &c.db, err);
    if (code == ERR_OK) {
        code = view_sql__prepare(c.db, "SELECT id, version, errors, usages FROM jobs ORDER BY id",
                                 &c.st, err);
    }
    if (code == ERR_OK) {
        code = compare_all(&c, err);
    }
    (void)sqlite3_finalize(c.st);
    view_db__close(c.db);
    if (code == ERR_OK) {
        reached.words = r->mark.words;
        code = write_batch(&c, &reached, err);
    }
    view_batch__free(c.batch);
    if (code != ERR_OK) {
        view_rows__rollback(r);
        return code;
    }
    *out_changed = c.changed;
    return ERR_OK;
}
