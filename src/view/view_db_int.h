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
#include "view/view_sql_int.h" /* IWYU pragma: export */

/* view_db.c */

enum view_db_use {
    VIEW_DB_WRITE, /* a complete file, with a log (WAL) */
    VIEW_DB_READ,
    VIEW_DB_BUILD, /* a new file that is not in use: no journal, no flushes */
};

ATTR_NODISCARD enum err_code view_db__open(const char *path, enum view_db_use use, sqlite3 **out,
                                           struct err *err);
void view_db__close(sqlite3 *db); /* NULL is allowed; finalize all statements first */

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
