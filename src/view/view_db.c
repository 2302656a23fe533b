/*
 * The file: how it is opened, and its schema.
 *
 * WAL mode lets questions and the writer work without waiting for each other. synchronous=OFF: the
 * view can be rebuilt, and is rebuilt after a power failure (view_file.c). If the end of the file
 * is lost, the watermark reveals it.
 *
 * jobs has the id as its key (WITHOUT ROWID): ids are in the order of creation, so the default
 * sort, ranges of created_at and prefixes of ids are ranges of the table. Every other index ends
 * with the id, so ties are in order too.
 */
#include "base/check.h"
#include "view/view_int.h"

enum { APPLICATION_ID = 0x636f7276 /* "corv" */ };

static const char *const tables[] = {
    "CREATE TABLE mark (one INTEGER PRIMARY KEY, complete INTEGER NOT NULL, hash INTEGER NOT NULL,"
    " words INTEGER NOT NULL, stale INTEGER NOT NULL)",
    "INSERT INTO mark VALUES (1, 0, 0, 0, 0)",
    "CREATE TABLE queues (num INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE counts (queue INTEGER NOT NULL, state INTEGER NOT NULL,"
    " priority INTEGER NOT NULL, attempt INTEGER NOT NULL, failing INTEGER NOT NULL,"
    " n INTEGER NOT NULL, PRIMARY KEY (queue, state, priority, attempt, failing)) WITHOUT ROWID",
    "CREATE TABLE ranks (kind INTEGER NOT NULL, queue INTEGER NOT NULL, state INTEGER NOT NULL,"
    " first INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (kind, queue, state, first))"
    " WITHOUT ROWID",
    /* The columns have no types, so that values are not converted when they are written. A
     * comparison with a typed column cannot use an index on them. */
    "CREATE TABLE jobs (id BLOB NOT NULL PRIMARY KEY"
#define COLUMN(name, kind, value) ", " #name
    VIEW_COLUMNS(COLUMN)
#undef COLUMN
        ") WITHOUT ROWID",
    /* plain: the payload is in this row, and neither payload nor tags contain escapes. */
    "CREATE TABLE texts (num INTEGER PRIMARY KEY, id BLOB NOT NULL, bytes INTEGER NOT NULL,"
    " plain INTEGER NOT NULL, queue TEXT NOT NULL, payload TEXT, tags TEXT NOT NULL)",
    "CREATE TABLE gone (num INTEGER PRIMARY KEY)",
    /* before: time of the job's previous error with the same fingerprint; -1: none. dead: the job
     * is dead. With these two, jobs are counted without reading them (view_errors.c). */
    "CREATE TABLE errors (job BLOB NOT NULL, row_num INTEGER NOT NULL, error TEXT NOT NULL,"
    " at INTEGER NOT NULL, mark INTEGER NOT NULL, queue INTEGER NOT NULL,"
    " version TEXT NOT NULL, before INTEGER NOT NULL, dead INTEGER NOT NULL,"
    " PRIMARY KEY (job, row_num)) WITHOUT ROWID",
    "CREATE TABLE depends (on_job BLOB NOT NULL, job BLOB NOT NULL, PRIMARY KEY (on_job, job))"
    " WITHOUT ROWID",
    "CREATE TABLE usage (row_num INTEGER PRIMARY KEY, job BLOB NOT NULL, at INTEGER NOT NULL,"
    " input INTEGER NOT NULL, output INTEGER NOT NULL, cache_creation INTEGER NOT NULL,"
    " cache_read INTEGER NOT NULL, cost INTEGER NOT NULL, model TEXT NOT NULL,"
    " provider TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE words USING fts5(queue, payload, tags, content='texts',"
    " content_rowid='num')",
    /* Memory for the words of a chunk: it becomes one segment, which leaves less to merge. */
    "INSERT INTO words (words, rank) VALUES ('hashsize', 16777216)",
    /* Merging is most of the cost of full text, so segments wait for more of the same size than by
     * default. A search reads each segment. */
    "INSERT INTO words (words, rank) VALUES ('automerge', 16), ('crisismerge', 64)",
};

#define MOMENTS ", scheduled_at, expire_at, started_at, completed_at, failed_at"
#define BY_MOMENT(index, column, others)                                                           \
    ("CREATE INDEX " index " ON jobs (state, " column ", id, queue, num, cell, " others            \
     ") WHERE " column " > 0")
static const char *const indexes[] = {
    /* Cells of a queue, and of all queues together, each by id: see view_cells_int.h. num leads to
     * the texts. The moments are included so that filters and sorts by them do not read the
     * rows. */
    ("CREATE INDEX jobs_line ON jobs (queue, cell, id, num" MOMENTS ")"),
    ("CREATE INDEX jobs_cell ON jobs (cell, id, num, queue" MOMENTS ")"),
    /* Moments of a state, in order. A job without the moment has no entry. */
    BY_MOMENT("jobs_completed", "completed_at", "started_at, scheduled_at, expire_at, failed_at"),
    BY_MOMENT("jobs_scheduled", "scheduled_at", "started_at, completed_at, expire_at, failed_at"),
    BY_MOMENT("jobs_expire", "expire_at", "started_at, completed_at, scheduled_at, failed_at"),
    BY_MOMENT("jobs_started", "started_at", "completed_at, scheduled_at, expire_at, failed_at"),
    BY_MOMENT("jobs_failed", "failed_at", "started_at, completed_at, scheduled_at, expire_at"),
    "CREATE INDEX jobs_unique ON jobs (unique_key, id) WHERE unique_key IS NOT NULL",
    "CREATE INDEX jobs_worker ON jobs (worker_id, id) WHERE worker_id IS NOT NULL",
    "CREATE INDEX jobs_parent ON jobs (parent_id, id) WHERE parent_id IS NOT NULL",
    "CREATE INDEX jobs_chain ON jobs (chain_id, id) WHERE chain_id IS NOT NULL",
    "CREATE INDEX jobs_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL",
    "CREATE INDEX errors_at ON errors (at, mark, queue, before, dead)",
    "CREATE INDEX errors_mark ON errors (mark, at, job, queue)",
    "CREATE INDEX errors_version ON errors (mark, version, at, queue) WHERE version <> ''",
    "CREATE INDEX depends_job ON depends (job)",
    "CREATE INDEX usage_job ON usage (job)",
    "CREATE INDEX usage_at ON usage (at)",
};
#undef BY_MOMENT
#undef MOMENTS

void view_db__close(sqlite3 *db)
{
    if (db != NULL) {
        int rc = sqlite3_close(db);
        CHECK(rc == SQLITE_OK);
    }
}

static struct str name_bound(struct arena *a, struct str ns, char last)
{
    char *p = arena_need(a, ns.len + 2, 1);
    memcpy(p, ns.ptr, ns.len);
    p[ns.len] = ':';
    p[ns.len + 1] = last;
    return str_from(p, ns.len + 2);
}

struct view_names view_db__names_of(struct arena *a, struct str ns)
{
    struct view_names names = {STR_EMPTY, STR_EMPTY};
    if (ns.len > 0) {
        names.low = name_bound(a, ns, ':');
        names.high = name_bound(a, ns, ';'); /* the character after ':' */
    }
    return names;
}

enum err_code view_db__create(sqlite3 *db, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        if (view_sql__exec(db, tables[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

enum err_code view_db__create_indexes(sqlite3 *db, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(indexes); i++) {
        if (view_sql__exec(db, indexes[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

enum err_code view_db__set_version(sqlite3 *db, struct err *err)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                   APPLICATION_ID, VIEW_DB_VERSION);
    return view_sql__exec(db, sql, err);
}

enum err_code view_db__check_version(sqlite3 *db, struct err *err)
{
    int64_t version = 0;
    int64_t application = 0;
    if (view_sql__number(db, "PRAGMA user_version", &version, err) != ERR_OK ||
        view_sql__number(db, "PRAGMA application_id", &application, err) != ERR_OK) {
        return err->code;
    }
    if (version != VIEW_DB_VERSION || application != APPLICATION_ID) {
        return err_set(err, ERR_CORRUPT, "view: the file has version %lld, not %d",
                       (long long)version, VIEW_DB_VERSION);
    }
    return ERR_OK;
}

enum err_code view_db__open(const char *path, enum view_db_use use, sqlite3 **out, struct err *err)
{
    static const char *const pragmas[] = {
        [VIEW_DB_WRITE] = ("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                           "PRAGMA wal_autocheckpoint = 1024; PRAGMA journal_size_limit = 67108864;"
                           "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
                           "PRAGMA secure_delete = OFF"),
        /* A sort that is larger than the cache uses a temporary file. */
        [VIEW_DB_READ] = "PRAGMA query_only = ON; PRAGMA cache_size = -32768",
        /* Unused pages can be returned in steps. This must be set before the first table is
         * created. */
        [VIEW_DB_BUILD] = ("PRAGMA page_size = 8192;"
                           "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF; PRAGMA "
                           "synchronous = OFF; PRAGMA secure_delete = OFF;"
                           "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -131072"),
    };
    enum { BUSY_MS = 5000 };
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE |
                (use == VIEW_DB_BUILD ? SQLITE_OPEN_CREATE : 0);
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(db, BUSY_MS) != SQLITE_OK) {
        (void)view_sql__err(db, "open", err);
    } else if (view_sql__exec(db, pragmas[use], err) == ERR_OK &&
               view_functions__add(db, err) == ERR_OK) {
        *out = db;
        return ERR_OK;
    }
    (void)sqlite3_close(db);
    return err->code;
}
