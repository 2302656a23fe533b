/*
 * View_db: the file of the view, and the functions that its SQL can call. For the files of the
 * module.
 */
#pragma once

#include <sqlite3.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"

/* view_db.c */

enum view_db_use {
    VIEW_DB_WRITE, /* a complete file, with a log (WAL) */
    VIEW_DB_READ,
    VIEW_DB_BUILD, /* a new file that is not in use: no journal, no flushes */
};

ATTR_NODISCARD enum err_code view_db__open(const char *path, enum view_db_use use, sqlite3 **out,
                                           struct err *err);
void view_db__close(sqlite3 *db); /* NULL is allowed; finalize all statements first */

/* The error of the last call on db. ERR_CORRUPT: the file cannot be used; ERR_SEARCH: timeout;
 * ERR_NO_SPACE and ERR_IO can be temporary. */
enum err_code view_db__err(sqlite3 *db, const char *doing, struct err *err);
ATTR_NODISCARD enum err_code view_db__exec(sqlite3 *db, const char *sql, struct err *err);
ATTR_NODISCARD enum err_code view_db__prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out,
                                              struct err *err);
/* Run a statement without result rows, and reset it. */
ATTR_NODISCARD enum err_code view_db__run(sqlite3 *db, sqlite3_stmt *st, struct err *err);
/* Step to the next row; *out_row is false if there is none. */
ATTR_NODISCARD enum err_code view_db__step(sqlite3 *db, sqlite3_stmt *st, bool *out_row,
                                           struct err *err);
/* Read one number; 0 if there is no row. */
ATTR_NODISCARD enum err_code view_db__number(sqlite3 *db, const char *sql, int64_t *out,
                                             struct err *err);

void view_db__bind_text(sqlite3_stmt *st, int at, struct str text);    /* must live until reset */
void view_db__bind_or_null(sqlite3_stmt *st, int at, struct str text); /* binds NULL if empty */
void view_db__bind_id(sqlite3_stmt *st, int at, const struct id *id);  /* must live until reset */
struct str view_db__text(sqlite3_stmt *st, int column); /* valid until the next step */
struct id view_db__id(sqlite3_stmt *st, int column);

/* The range of the internal queue names of a namespace: low (included) to high (excluded). Both are
 * empty for the default namespace, which sees all queues. */
struct view_names {
    struct str low, high;
};
struct view_names view_db__names_of(struct arena *a, struct str ns);

/* Create a file in three steps: the tables; the indexes; and last the version, which marks it as
 * complete. */
ATTR_NODISCARD enum err_code view_db__create(sqlite3 *db, struct err *err);
ATTR_NODISCARD enum err_code view_db__create_indexes(sqlite3 *db, struct err *err);
ATTR_NODISCARD enum err_code view_db__set_version(sqlite3 *db, struct err *err);
/* Is it a complete file of this version? */
ATTR_NODISCARD enum err_code view_db__check_version(sqlite3 *db, struct err *err);

/* view_functions.c: SQL functions for substrings, tags and payload_jq */
ATTR_NODISCARD enum err_code view_functions__add(sqlite3 *db, struct err *err);
#define VIEW_JQ_POINTER "view_jq"
/* A copy with ASCII letters in lower case, as view_contains expects its search text. */
struct str view_functions__lower(struct arena *a, struct str s);
