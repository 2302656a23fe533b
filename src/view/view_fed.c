/*
 * Fed: jobs in memory as a table for SQL.
 *
 * One statement over all jobs of a turn takes half the time of a statement for each job: tables and
 * indexes are opened once, and the position of a row that follows the previous one is known. The
 * table has only the rows of view_fed__show, and exists only on the writer's connection.
 */
#include <stdlib.h>

#include "base/check.h"
#include "view/view_int.h"

enum column {
    ID,
#define COLUMN(name, kind, value) OF_##name,
    VIEW_COLUMNS(COLUMN)
#undef COLUMN
        OLD_NUM,
    PLACE,
    BYTES,
    PLAIN,
    QUEUE_NAME,
    PAYLOAD,
    TAGS,
};

static const char declaration[] = "CREATE TABLE fed (id"
#define COLUMN(name, kind, value) ", " #name
    VIEW_COLUMNS(COLUMN)
#undef COLUMN
        ", old_num, place, bytes, plain, queue_name, payload, tags)";

struct view_fed {
    struct view_item *const *items;
    size_t count;
};

struct table {
    sqlite3_vtab base;
    const struct view_fed *fed;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct view_fed *fed;
    size_t at;
};

/* Column values */

static void give_text(sqlite3_context *ctx, struct str text)
{
    sqlite3_result_text64(ctx, text.len == 0 ? "" : text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void give_text_or_null(sqlite3_context *ctx, struct str text)
{
    if (text.len > 0) {
        give_text(ctx, text);
    }
}

static void give_id(sqlite3_context *ctx, const struct id *id)
{
    sqlite3_result_blob(ctx, id->b, ID_BYTES, SQLITE_STATIC);
}

static void give_id_or_null(sqlite3_context *ctx, const struct id *id)
{
    if (!id_is_none(*id)) {
        give_id(ctx, id);
    }
}

static void give_step(sqlite3_context *ctx, const struct job *j)
{
    if (j->has_chain_step) {
        sqlite3_result_int64(ctx, j->chain_step);
    }
}

static bool has_backslash(struct str text)
{
    return text.len > 0 && memchr(text.ptr, '\\', text.len) != NULL;
}

static bool is_plain(const struct job *j)
{
    return j->payload.len < VIEW_PAYLOAD_MAX && !has_backslash(j->payload) &&
           !has_backslash(j->tags);
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
    const struct cursor *c = (const struct cursor *)base;
    const struct view_item *item = c->fed->items[c->at];
    const struct job *j = &item->job;
    const struct view_extra *r = &item->extra;
    switch ((enum column)column) {
    case ID:
        give_id(ctx, &j->id);
        break;
#define GIVE_INT(value)  sqlite3_result_int64(ctx, (value))
#define GIVE_TEXT(value) give_text_or_null(ctx, (value))
#define GIVE_ID(value)   give_id_or_null(ctx, &(value))
#define GIVE_STEP(value) give_step(ctx, (value))
#define CELL(name, kind, value)                                                                    \
    case OF_##name:                                                                                \
        GIVE_##kind(value);                                                                        \
        break;
        VIEW_COLUMNS(CELL)
#undef CELL
#undef GIVE_STEP
#undef GIVE_ID
#undef GIVE_TEXT
#undef GIVE_INT
    case OLD_NUM:
        sqlite3_result_int64(ctx, item->old.num);
        break;
    case PLACE:
        sqlite3_result_int64(ctx, (int64_t)c->at);
        break;
    case BYTES:
        sqlite3_result_int64(ctx, (int64_t)(j->queue.len + j->payload.len + j->tags.len));
        break;
    case PLAIN:
        sqlite3_result_int(ctx, is_plain(j));
        break;
    case QUEUE_NAME:
        give_text(ctx, j->queue);
        break;
    case PAYLOAD:
        if (j->payload.len < VIEW_PAYLOAD_MAX) {
            give_text(ctx, j->payload);
        }
        break;
    case TAGS:
        give_text(ctx, j->tags);
        break;
    }
    return SQLITE_OK;
}

/* Scans */

static int begin(sqlite3_vtab_cursor *base, int plan, const char *name, int count,
                 sqlite3_value **values)
{
    (void)plan;
    (void)name;
    (void)count;
    (void)values;
    ((struct cursor *)base)->at = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int is_over(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = (const struct cursor *)base;
    return c->at >= c->fed->count;
}

static int read_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const struct cursor *)base)->at;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct cursor *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->fed = ((const struct table *)base)->fed;
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    free(base);
    return SQLITE_OK;
}

/* The only plan is a scan from the first to the last item. */
static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = VIEW_BATCH;
    info->estimatedRows = VIEW_BATCH;
    return SQLITE_OK;
}

static int connect_table(sqlite3 *db, void *data, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    (void)argc;
    (void)argv;
    (void)message;
    int rc = sqlite3_declare_vtab(db, declaration);
    if (rc == SQLITE_OK) {
        struct table *t = calloc(1, sizeof *t);
        CHECK(t != NULL);
        t->fed = data;
        *out = &t->base;
    }
    return rc;
}

static int disconnect_table(sqlite3_vtab *base)
{
    free(base);
    return SQLITE_OK;
}

enum err_code view_fed__open(sqlite3 *db, struct view_fed **out, struct err *err)
{
    /* Without xCreate, the table exists under the name of the module. */
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xBestIndex = plan,
        .xDisconnect = disconnect_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = begin,
        .xNext = next,
        .xEof = is_over,
        .xColumn = read_column,
        .xRowid = read_rowid,
    };
    struct view_fed *fed = calloc(1, sizeof *fed);
    CHECK(fed != NULL);
    *out = fed; /* freed by SQLite, even after an error */
    return sqlite3_create_module_v2(db, "fed", &module, fed, free) == SQLITE_OK
               ? ERR_OK
               : view_sql__err(db, "fed", err);
}

void view_fed__show(struct view_fed *fed, struct view_item *const *items, size_t count)
{
    fed->items = items;
    fed->count = count;
}
