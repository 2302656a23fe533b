/*
 * View_int: shared by the files of the view.
 *
 * view.db has a small row per job (jobs), separate tables with searchable texts (texts, errors),
 * usage reports, counters (counts, ranks), and one row with the watermarks (mark). view_db.c has
 * the schema and the reason for each index.
 *
 * A payload of 1 KiB or more is not in texts but read from the store (view_payload.c).
 *
 * The texts of a job change only when it moves to another queue. It then gets new texts under a new
 * number, so a number always stands for the same words. The full text index (words) is filled after
 * the rows, in the order of the numbers, up to its own watermark. Numbers of deleted jobs wait in a
 * table until they are removed from the index too.
 */
#pragma once

#include <stdatomic.h>

#include <sqlite3.h>
#include <uv.h>

#include "jqbox/jqbox.h"
#include "os/os_file.h"
#include "view/view.h"
#include "view/view_pace_int.h"
#include "view/view_rows_int.h"

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
    struct view_flood flood;
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
