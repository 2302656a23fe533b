/*
 * What the files of the view share.
 *
 * view.db has a small row per job (jobs), what is searched for words and parts of words apart from
 * it (texts, errors), usage reports, counters (counts, ranks), and one row that says up to where
 * all of that is complete (mark). The schema and why each index exists are in view_db.c.
 *
 * A job's texts never change except when it moves to another queue. It then gets new texts under a
 * new number, so that a number stands for the same words for ever: the full text (words) is filled
 * behind the rows, in order of numbers, up to a watermark of its own, and numbers whose job is gone
 * wait in a table until the words have forgotten them too.
 */
#pragma once

#include <stdatomic.h>

#include <sqlite3.h>
#include <uv.h>

#include "base/arena.h"
#include "base/map.h"
#include "core/job.h"
#include "jqbox/jqbox.h"
#include "os/os_file.h"
#include "store/store.h"
#include "view/view.h"
#include "view/view_cells_int.h"
#include "view/view_db_int.h"
#include "view/view_ranks_int.h"

/* The columns of jobs besides its id: how each is made from a job `j` and from `r`, what the view
 * adds. A new column is a row here and a new VIEW_DB_VERSION. Times are nanoseconds and 0 when not
 * set; optional texts are NULL. num must stay first. */
enum { VIEW_DB_VERSION = 7 };
/* clang-format off */
#define VIEW_COLUMNS(X) \
    /* name          kind  value */ \
    X(num,           INT,  r->num) \
    VIEW_REST(X)

/* The same without num. */
#define VIEW_REST(X) \
    X(version,       INT,  (int64_t)j->version) \
    X(queue,         INT,  r->queue) \
    X(state,         INT,  (int64_t)j->state) \
    X(priority,      INT,  j->priority) \
    X(attempt,       INT,  j->attempt) \
    X(failing,       INT,  j->error_count > 0) \
    X(errors,        INT,  j->error_count) \
    X(usages,        INT,  j->usage_count) \
    X(depends,       INT,  r->depends) \
    X(created_at,    INT,  j->created_at.ns) \
    X(scheduled_at,  INT,  j->scheduled_at.ns) \
    X(expire_at,     INT,  j->expire_at.ns) \
    X(started_at,    INT,  j->started_at.ns) \
    X(completed_at,  INT,  j->completed_at.ns) \
    X(failed_at,     INT,  j->failed_at.ns) \
    X(chain_step,    STEP, j) \
    X(unique_key,    TEXT, j->unique_key) \
    X(worker_id,     TEXT, j->worker_id) \
    X(parent_id,     TEXT, j->parent_id) \
    X(chain_id,      TEXT, j->chain_id) \
    X(batch_id,      ID,   j->batch_id)
/* clang-format on */

/* Up to where the copy is complete. */
struct view_mark {
    uint64_t complete; /* log index */
    uint64_t hash;     /* of the state at exactly that entry; 0: the rows may be newer than it */
    int64_t words;     /* texts up to this number are in the full text */
};

/* view_depends.c */

enum { VIEW_DEPENDS_MAX = LIMIT_DEPENDS_ON };

/* The jobs that j depends on, by id and each once. Returns how many. */
size_t view_depends__of(const struct job *j, struct id out[VIEW_DEPENDS_MAX]);

/* view_rows.c: writing jobs through one connection */

struct view_fed;
struct view_item;
struct view_queue;

enum { VIEW_BATCH = 4096 }; /* jobs that are written at once, at most */

struct view_rows {
    sqlite3 *db;
    struct store *store;
    struct sqlite3_stmt **st;
    struct view_fed *fed;      /* of the connection */
    struct view_item **picked; /* room for those that a statement is about */
    struct id *depends;        /* room for those of one job */
    struct view_cells cells;
    struct view_ranks ranks;
    struct map queues; /* struct view_queue, by name */
    int64_t next_queue;
    int64_t next_num;
    int64_t gone_count;    /* texts that wait for the words to forget them */
    struct view_mark mark; /* as committed */
    uint64_t written;
    bool fresh; /* nothing in the file has been there before: no look for old rows, and the ranks
                   wait for the indexes */
};

/* The connection stays the caller's. */
ATTR_NODISCARD enum err_code view_rows__open(struct view_rows *r, sqlite3 *db, struct store *store,
                                             struct err *err);
void view_rows__close(struct view_rows *r); /* fine on zeros, and on one that failed to open */

/* What the row of a job was. */
struct view_old {
    bool found;
    int64_t num, version, queue, errors, usages, depends;
    struct view_cell cell;
    struct view_moments moments;
};

/* What the view adds to a job; VIEW_COLUMNS calls it r. */
struct view_extra {
    int64_t num, queue, depends;
};

/* A job whose row is to be what the job is. */
struct view_item {
    struct job job; /* its id alone, when… */
    bool gone;      /* …there is no document any more */
    /* private */
    struct view_old old;
    struct view_extra extra;
    struct view_queue *queue; /* NULL: not known, as nothing is written */
};

/* A transaction: begin, any number of writes, then commit or rollback. A write is of jobs of which
 * each is there once. After a rollback the rows must be closed and opened again. */
ATTR_NODISCARD enum err_code view_rows__begin(struct view_rows *r, struct err *err);
ATTR_NODISCARD enum err_code view_rows__write(struct view_rows *r, struct view_item *items,
                                              size_t n, struct err *err);
ATTR_NODISCARD enum err_code view_rows__commit(struct view_rows *r, const struct view_mark *mark,
                                               struct err *err);
void view_rows__rollback(struct view_rows *r);

/* view_fed.c: the table "fed", which shows items to the statements of a connection */

/* It belongs to the connection, which frees it. */
ATTR_NODISCARD enum err_code view_fed__open(sqlite3 *db, struct view_fed **out, struct err *err);
void view_fed__show(struct view_fed *fed, struct view_item *const *items, size_t count);

/* view_batch.c: documents that are written together, each job once */

struct view_batch;

struct view_batch *view_batch__new(void);
void view_batch__free(struct view_batch *b); /* NULL is fine */
size_t view_batch__count(const struct view_batch *b);
bool view_batch__is_full(const struct view_batch *b); /* write it before more is added */
void view_batch__put(struct view_batch *b, struct id id, struct str doc);
void view_batch__remove(struct view_batch *b, struct id id);
/* The newest document of a job, or its absence. */
void view_batch__read(struct view_batch *b, struct engine *e, struct id id);
/* Inside a transaction; the batch is empty afterwards. */
ATTR_NODISCARD enum err_code view_batch__write(struct view_batch *b, struct view_rows *r,
                                               struct err *err);

/* view_words.c: the full text behind the rows */

enum { VIEW_WORDS_CHUNK = 4096 }; /* texts that are added at once */

/* How many texts the words do not know yet, or still know and should not. */
uint64_t view_words__lag(const struct view_rows *r);
/* Add and remove some, in a transaction of its own. */
ATTR_NODISCARD enum err_code view_words__advance(struct view_rows *r, struct err *err);

/* view_copy.c: the whole copy */

/* Both end early when the view stops or space is low. */

/* Make a new file at v->new_path from all documents. mark: a watermark that the store has passed.
 */
ATTR_NODISCARD enum err_code view_copy__build(struct view *v, const struct view_mark *mark,
                                              struct err *err);
/* Make the rows, which are of v's file, equal to the documents. *out_changed: rows. v->unread goes
 * down by what is known to be right in the file, to 1 at least while it goes on. */
ATTR_NODISCARD enum err_code view_copy__compare(struct view *v, struct view_rows *r,
                                                const struct view_mark *mark, uint64_t *out_changed,
                                                struct err *err);

/* A connection for reading; see view_ask. */
struct view_reader {
    struct view *view;
    sqlite3 *db; /* NULL: to be opened. Closed by the writer while nobody runs */
    uv_thread_t thread;
    const struct view_ask *ask; /* that it answers; NULL: none */
    int64_t deadline_ns;
    unsigned looks_left; /* at the clock, until what runs has been tried enough; 0: no such bound */
    struct jqbox *box;   /* of the last search that had a program: the next page wants it again */
    int64_t box_until_ns;
};

struct view_writer;

/* view_space.c: space on the disk. Of the writer's thread, but for told_low. */
struct view_space {
    atomic_bool told_low;
    bool is_short, was_low;
    int64_t next_look_ns;
};

struct view {
    struct view_config config;
    struct os_file_path path, new_path;
    struct view_writer *writer;
    struct engine_feed *feed; /* of the writer's thread, but for its counters */
    struct view_reader *readers;
    atomic_bool stop;
    atomic_uint_fast64_t unread; /* jobs that are in no feed and of which the copy may know nothing:
                                    while it is made or compared as a whole */

    struct view_space space;

    uv_mutex_t lock; /* guards what follows */
    uv_cond_t moved; /* something in it changed */
    struct view_ask *first, **last;
    struct {
        uint32_t waiting, running;
        uint64_t refused;
    } asks[VIEW_KIND_COUNT];
    uint32_t running; /* questions that use the file */
    bool swapping;    /* none may begin */
    bool stopping;
    bool usable; /* there is a file that can be asked */
    uint64_t complete, words_complete;
    struct view_status status;
};

/* view.c: for the writer. What is complete, and the numbers of the status. */
void view__publish(struct view *v, const struct view_status *status, uint64_t complete,
                   uint64_t words_complete);
/* Wait until no question is under way, close the readers' connections, and keep new ones out. */
void view__shut(struct view *v);
/* The file is there again; it can be asked if usable. */
void view__reopen(struct view *v, bool usable);

/* view.c: the end of what a question asked. When the file was found damaged the writer is told, and
 * the asker hears ERR_SEARCH. */
enum err_code view__asked(struct view_reader *r, enum err_code code, struct err *err);

/* view_writer.c: the thread that writes */
void view_writer__start(struct view *v); /* returns when the feed is open */
void view_writer__stop(struct view *v);
void view_writer__rebuild(struct view *v, struct view_rebuild *r);
void view_writer__hurry(struct view *v, bool words); /* somebody waits for a watermark */
void view_writer__damaged(struct view *v);           /* a reader found the file broken */
void view_writer__space(struct view *v);             /* space->told_low has changed */

/* view_space.c: from the writer's thread */

/* May nothing grow? Looks at the disk now and then; a change is said in the log. */
bool view_space__is_low(struct view *v);
/* May something long go on? ERR_STOPPING, ERR_NO_SPACE. */
ATTR_NODISCARD enum err_code view_space__go_on(struct view *v, struct err *err);
enum view_shrink {
    VIEW_SHRINK_DONE,  /* nothing is left to do */
    VIEW_SHRINK_MORE,  /* there is another step to take */
    VIEW_SHRINK_LATER, /* a reader holds the log: the last step is to be taken again */
};
/* One step of giving unused pages back, if there are many. *shrink: from the last step. */
ATTR_NODISCARD enum err_code view_space__shrink(sqlite3 *db, enum view_shrink *shrink,
                                                struct err *err);
