#include "base/check.h"
#include "view/view_sql_int.h"

enum err_code view_sql__err(sqlite3 *db, const char *doing, struct err *err)
{
    int rc = db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
    enum err_code code = ERR_IO;
    switch (rc & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:    /* a missing table: the file is invalid */
    case SQLITE_CANTOPEN: /* removed while in use */
    case SQLITE_READONLY: /* a writer gets this for a file that was replaced or removed */
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        code = ERR_CORRUPT;
        break;
    case SQLITE_FULL:
        code = ERR_NO_SPACE;
        break;
    case SQLITE_INTERRUPT:
        return err_set(err, ERR_SEARCH, "search took too long");
    default:
        break;
    }
    (void)err_set(err, code, "view: %s: %s", doing, db == NULL ? "no memory" : sqlite3_errmsg(db));
    err->sys = rc;
    return code;
}

enum err_code view_sql__exec(sqlite3 *db, const char *sql, struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? ERR_OK
                                                                : view_sql__err(db, sql, err);
}

enum err_code view_sql__prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, struct err *err)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK
               ? ERR_OK
               : view_sql__err(db, "prepare", err);
}

enum err_code view_sql__step(sqlite3 *db, sqlite3_stmt *st, bool *out_row, struct err *err)
{
    int rc = sqlite3_step(st);
    *out_row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? ERR_OK : view_sql__err(db, "read", err);
}

enum err_code view_sql__run(sqlite3 *db, sqlite3_stmt *st, struct err *err)
{
    int rc = sqlite3_step(st);
    enum err_code code =
        rc == SQLITE_DONE || rc == SQLITE_ROW ? ERR_OK : view_sql__err(db, "write", err);
    (void)sqlite3_reset(st); /* returns the same error as step */
    return code;
}

enum err_code view_sql__number(sqlite3 *db, const char *sql, int64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_sql__step(db, st, &row, err);
    if (code == ERR_OK) {
        *out = row ? sqlite3_column_int64(st, 0) : 0;
    }
    (void)sqlite3_finalize(st);
    return code;
}

void view_sql__bind_text(sqlite3_stmt *st, int at, struct str text)
{
    int rc = sqlite3_bind_text64(st, at, text.len == 0 ? "" : text.ptr, text.len, SQLITE_STATIC,
                                 SQLITE_UTF8);
    CHECK(rc == SQLITE_OK);
}

void view_sql__bind_or_null(sqlite3_stmt *st, int at, struct str text)
{
    if (text.len > 0) {
        view_sql__bind_text(st, at, text);
    } else {
        int rc = sqlite3_bind_null(st, at);
        CHECK(rc == SQLITE_OK);
    }
}

void view_sql__bind_id(sqlite3_stmt *st, int at, const struct id *id)
{
    int rc = sqlite3_bind_blob(st, at, id->b, ID_BYTES, SQLITE_STATIC);
    CHECK(rc == SQLITE_OK);
}

struct str view_sql__text(sqlite3_stmt *st, int column)
{
    const unsigned char *text = sqlite3_column_text(st, column);
    return text == NULL ? STR_EMPTY : str_from(text, (size_t)sqlite3_column_bytes(st, column));
}

struct id view_sql__id(sqlite3_stmt *st, int column)
{
    struct id id = ID_NONE;
    const void *bytes = sqlite3_column_blob(st, column);
    if (bytes != NULL && sqlite3_column_bytes(st, column) == ID_BYTES) {
        id = id_from_bytes(bytes);
    }
    return id;
}
