/*
 * View_rows: jobs as rows of view.db: the columns, and how jobs are written. For the files of the
 * module.
 */
#pragma once

#include <sqlite3.h>

#include "base/map.h"
#include "core/job.h"
#include "engine/engine.h"
#include "store/store.h"
#include "view/view_cells_int.h"
#include "view/view_db_int.h"
#include "view/view_ranks_int.h"

/* The columns of jobs besides its id, with their values from a job `j` and from the view's
 * additions `r`. A new column is a row here and a new VIEW_DB_VERSION. Times are in nanoseconds; 0
 * means not set. Optional texts can be NULL. Rare columns are not set for most jobs. They are then
 * NULL, which is read as 0 and takes little space. */
enum { VIEW_DB_VERSION = 14 };
/* clang-format off */
#define VIEW_COLUMNS(X) VIEW_COLUMNS_COMMON(X) VIEW_COLUMNS_RARE(X)
#define VIEW_COLUMNS_COMMON(X) \
    /* name          kind  value */ \
    X(num,           INT,  r->num) \
    X(version,       INT,  (int64_t)j->version) \
    X(queue,         INT,  r->queue) \
    X(state,         INT,  (int64_t)j->state) \
    X(cell,          INT,  view_cells__number(view_cells__of_job(j))) \
    X(created_at,    INT,  j->created_at.ns) \
    X(scheduled_at,  INT,  j->scheduled_at.ns) \
    X(expire_at,     INT,  j->expire_at.ns) \
    X(started_at,    INT,  j->started_at.ns) \
    X(completed_at,  INT,  j->completed_at.ns) \
    X(failed_at,     INT,  j->failed_at.ns) \
    X(worker_id,     TEXT, j->worker_id)
#define VIEW_COLUMNS_RARE(X) \
    X(errors,        INT,  r->errors) \
    X(usages,        INT,  r->usages) \
    X(depends,       INT,  r->depends) \
    X(chain_step,    STEP, j) \
    X(unique_key,    TEXT, j->unique_key) \
    X(parent_id,     TEXT, j->parent_id) \
    X(chain_id,      TEXT, j->chain_id) \
    X(batch_id,      ID,   j->batch_id)
/* clang-format on */

/* The watermarks: the positions up to which the view is complete. */
struct view_mark {
    uint64_t complete; /* log index */
    uint64_t hash;     /* of the state at exactly that entry; 0: rows may be newer */
    int64_t words;     /* texts up to this number are in the full-text index */
};

/* view_depends.c */

enum { VIEW_DEPENDS_MAX = LIMIT_DEPENDS_ON };

/* The jobs that j depends on, sorted by id, without duplicates. Returns their number. */
size_t view_depends__of(const struct job *j, struct id out[VIEW_DEPENDS_MAX]);

/* view_rows.c: writes jobs through one connection */

struct view_batch;
struct view_fed;
struct view_item;
struct view_queue;

/* Maximum of jobs written at once. Several steps look at each of them, so they should fit into the
 * processor's cache: a kilobyte each. */
enum { VIEW_BATCH = 512 };

struct view_rows {
    sqlite3 *db;
    struct store *store;
    struct sqlite3_stmt **st;
    struct view_fed *fed;      /* owned by the connection */
    struct view_item **picked; /* space for the items of a statement */
    struct id *depends;        /* space for the dependencies of one job */
    struct view_cells cells;
    struct view_ranks ranks;
    struct map queues; /* struct view_queue, by name */
    struct id newest;  /* no row has a later id */
    int64_t next_queue;
    int64_t next_num;
    int64_t gone_count;    /* texts to be removed from the full-text index */
    int64_t stale;         /* texts that cannot be removed from the full-text index */
    struct view_mark mark; /* as committed */
    uint64_t written;
    bool fresh; /* the file is new: no old rows, and ranks wait for the indexes */
};

/* The caller keeps ownership of the connection. */
ATTR_NODISCARD enum err_code view_rows__open(struct view_rows *r, sqlite3 *db, struct store *store,
                                             struct err *err);
void view_rows__close(struct view_rows *r); /* allowed on zeros and after a failed open */

/* The old row of a job. */
struct view_old {
    bool found;
    int64_t num, version, queue, errors, usages, depends;
    struct view_cell cell;
    struct view_moments moments;
};

/* Columns that the view adds to a job; r in VIEW_COLUMNS. errors and usages are the counts in the
 * job's document if all stored rows were found, otherwise the number of rows found: while a job is
 * being restored, some rows are still missing. */
struct view_extra {
    int64_t num, queue, errors, usages, depends;
};

/* These counts, from the number of rows found. */
int64_t view_rows__errors(const struct job *j, int64_t found);
int64_t view_rows__usages(const struct job *j, int64_t found);

/* A job to be written. */
struct view_item {
    struct job job; /* only its id if… */
    bool gone;      /* …the job was removed */
    /* private */
    struct view_old old;
    struct view_extra extra;
    struct view_queue *queue; /* NULL: unknown, because nothing is written */
};

/* A transaction: begin, any number of writes, then commit or rollback. A write must not contain a
 * job twice. After a rollback, close the rows and open them again. */
ATTR_NODISCARD enum err_code view_rows__begin(struct view_rows *r, struct err *err);
ATTR_NODISCARD enum err_code view_rows__write(struct view_rows *r, struct view_item *items,
                                              size_t n, struct err *err);
ATTR_NODISCARD enum err_code view_rows__write_batch(struct view_rows *r, struct view_batch *b,
                                                    struct err *err); /* empties b */
ATTR_NODISCARD enum err_code view_rows__commit(struct view_rows *r, const struct view_mark *mark,
                                               struct err *err);
void view_rows__rollback(struct view_rows *r);

/* view_fed.c: the table "fed", which shows items to the statements of a connection */

/* The connection owns and frees it. */
ATTR_NODISCARD enum err_code view_fed__open(sqlite3 *db, struct view_fed **out, struct err *err);
void view_fed__show(struct view_fed *fed, struct view_item *const *items, size_t count);

/* view_payload.c: payloads that are not in the file */

/* Payloads of this size and more are only in the store. */
enum { VIEW_PAYLOAD_MAX = 1024 };
/* The payload of a row t of texts, on a connection prepared by view_payload__add. */
#define VIEW_PAYLOAD "ifnull(t.payload, view_payload(t.id))"
/* Payload and tags with decoded escapes, for the full-text index. */
#define VIEW_PLAIN_PAYLOAD "iif(t.plain, t.payload, view_plain(" VIEW_PAYLOAD "))"
#define VIEW_PLAIN_TAGS    "iif(t.plain, t.tags, view_plain(t.tags))"
ATTR_NODISCARD enum err_code view_payload__add(sqlite3 *db, struct engine *e, struct err *err);

/* view_batch.c: documents that are written together, each job once */

struct view_batch *view_batch__new(void);
void view_batch__free(struct view_batch *b); /* NULL is allowed */
size_t view_batch__count(const struct view_batch *b);
bool view_batch__is_full(const struct view_batch *b); /* write it before more is added */
void view_batch__put(struct view_batch *b, struct id id, struct str doc);
void view_batch__remove(struct view_batch *b, struct id id);
/* Add the newest documents of jobs, or the fact that they do not exist: at least one, if the batch
 * is not full. Returns the number of jobs added. */
size_t view_batch__read(struct view_batch *b, struct engine *e, const struct id *ids, size_t count);
/* Return the content, which is valid until something is added, and empty the batch. */
struct view_item *view_batch__take(struct view_batch *b, size_t *out_count);

/* view_words.c: the full-text index, updated after the rows */

enum { VIEW_WORDS_CHUNK = 4096 }; /* texts added at once */

/* Number of texts that must still be added to the index or removed from it. */
uint64_t view_words__lag(const struct view_rows *r);
/* Does most of the index belong to deleted jobs? Then restart it from an empty index. */
ATTR_NODISCARD enum err_code view_words__is_stale(struct view_rows *r, bool *out, struct err *err);
ATTR_NODISCARD enum err_code view_words__restart(struct view_rows *r, struct err *err);
/* Add and remove some texts, in a separate transaction. */
ATTR_NODISCARD enum err_code view_words__advance(struct view_rows *r, struct err *err);
