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

/* view_copy.c: builds or compares the whole view */

/* Both end early if the view stops or space is low. */

/* Build a new file at v->new_path from all documents. mark: a watermark that they have reached. */
ATTR_NODISCARD enum err_code view_copy__build(struct view *v, const struct view_mark *mark,
                                              struct err *err);
/* Compare the rows of the file with the documents and correct them. *out_changed: number of
 * corrected rows. v->unread is reduced as rows are verified, but not below 1 until the end. */
ATTR_NODISCARD enum err_code view_copy__compare(struct view *v, struct view_rows *r,
                                                const struct view_mark *mark, uint64_t *out_changed,
                                                struct err *err);

/* A read connection; see view_ask. */
struct view_reader {
    struct view *view;
    sqlite3 *db; /* NULL: not open. Closed by the writer while no question runs */
    uv_thread_t thread;
    const struct view_ask *ask; /* the question that it answers; NULL: none */
    int64_t deadline_ns;
    unsigned looks_left; /* checks of the clock left before the current attempt ends; 0: no limit */
    struct jqbox *box;   /* of the last search with a program, for its next page */
    int64_t box_until_ns;
};

struct view_writer;

/* view_space.c: disk space. For the writer's thread, except told_low. */
struct view_space {
    atomic_bool told_low;
    bool is_short, was_low;
    int64_t next_look_ns;
};

/* A message to the writer: a reader has found the file damaged. Set by the writer. */
struct view_damage {
    struct mailbox *box;
    struct msg msg;
    atomic_bool out;
};

struct view {
    struct view_config config;
    struct os_file_path path, new_path;
    struct view_writer *writer;
    struct engine_feed *feed; /* for the writer's thread, except its counters */
    struct view_reader *readers;
    atomic_bool stop;
    atomic_uint_fast64_t unread; /* while the view is built or compared: jobs not processed yet */

    struct view_space space;
    struct view_damage damage;

    uv_mutex_t lock; /* protects the members below */
    uv_cond_t moved; /* one of them changed */
    struct view_ask *first, **last;
    struct {
        uint32_t waiting, running;
        uint64_t refused;
    } asks[VIEW_KIND_COUNT];
    uint32_t running; /* questions that use the file now */
    bool swapping;    /* no question may start */
    bool stopping;
    bool usable; /* there is a file that can answer questions */
    uint64_t complete, words_complete;
    struct view_flood flood;
    struct view_status status;
};

/* view_shared.c: for the writer: set the watermarks and the numbers of the status. */
void view__publish(struct view *v, const struct view_status *status, uint64_t complete,
                   uint64_t words_complete);
/* Wait until no question is running, close the readers' connections, and let no question start. */
void view__shut(struct view *v);
/* Let questions start again, if usable. */
void view__reopen(struct view *v, bool usable);

/* view_shared.c: the error that a question reports. If the file is damaged, the writer is notified
 * and the caller gets ERR_SEARCH. */
enum err_code view__asked(struct view_reader *r, enum err_code code, struct err *err);

/* view_writer.c: the thread that writes */
void view_writer__start(struct view *v); /* returns after the feed is open */
void view_writer__stop(struct view *v);
void view_writer__rebuild(struct view *v, struct view_rebuild *r);
void view_writer__hurry(struct view *v, bool words); /* a question waits for a watermark */
void view_writer__space(struct view *v);             /* space->told_low has changed */

/* view_space.c: from the writer's thread */

/* Is space low, so that nothing may grow? Checks the disk from time to time and logs changes. */
bool view_space__is_low(struct view *v);
/* May a long operation continue? Otherwise ERR_STOPPING or ERR_NO_SPACE. */
ATTR_NODISCARD enum err_code view_space__go_on(struct view *v, struct err *err);
enum view_shrink {
    VIEW_SHRINK_DONE,  /* done */
    VIEW_SHRINK_MORE,  /* call it again */
    VIEW_SHRINK_LATER, /* a reader uses the log: repeat the last step later */
};
/* Return some unused pages to the system, if there are many. *shrink: result of the last step. */
ATTR_NODISCARD enum err_code view_space__shrink(sqlite3 *db, enum view_shrink *shrink,
                                                struct err *err);
