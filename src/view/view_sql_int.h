/*
 * View_sql: calls of SQLite, with errors and types of ours. For the files of the module.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"

/* The error of the last call on db. ERR_CORRUPT: the file cannot be used; ERR_SEARCH: timeout;
 * ERR_NO_SPACE and ERR_IO can be temporary. */
enum err_code view_sql__err(sqlite3 *db, const char *doing, struct err *err);
ATTR_NODISCARD enum err_code view_sql__exec(sqlite3 *db, const char *sql, struct err *err);
ATTR_NODISCARD enum err_code view_sql__prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out,
                                               struct err *err);
/* Run a statement without result rows, and reset it. */
ATTR_NODISCARD enum err_code view_sql__run(sqlite3 *db, sqlite3_stmt *st, struct err *err);
/* Step to the next row; *out_row is false if there is none. */
ATTR_NODISCARD enum err_code view_sql__step(sqlite3 *db, sqlite3_stmt *st, bool *out_row,
                                            struct err *err);
/* Read one number; 0 if there is no row. */
ATTR_NODISCARD enum err_code view_sql__number(sqlite3 *db, const char *sql, int64_t *out,
                                              struct err *err);

void view_sql__bind_text(sqlite3_stmt *st, int at, struct str text);    /* must live until reset */
void view_sql__bind_or_null(sqlite3_stmt *st, int at, struct str text); /* binds NULL if empty */
void view_sql__bind_id(sqlite3_stmt *st, int at, const struct id *id);  /* must live until reset */
struct str view_sql__text(sqlite3_stmt *st, int column); /* valid until the next step */
struct id view_sql__id(sqlite3_stmt *st, int column);
