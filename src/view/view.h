/*
 * View: a copy of all jobs in SQLite, for searches that the engine's indexes cannot answer.
 *
 * One writer thread subscribes to the engine's feed and writes changed jobs in log order. It writes
 * many jobs in one transaction, together with the watermark: the log index up to which the copy is
 * complete. A job that changed ten times since the last turn is written once. Nothing is dropped;
 * the view can only be late, and reports by how much. A few reader threads answer queries, each
 * with its own connection.
 *
 *   engine --feed--> [writer thread] --> view.db (WAL) <-- [reader threads] <-- view_ask
 *
 * The documents are authoritative, not the view. A file that is missing, damaged or of another
 * version is rebuilt from the documents, at start or by view_rebuild. Until that is complete, query
 * results are reported as late.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "engine/engine.h"
#include "loop/mailbox.h"

struct view;
struct view_reader; /* a connection for reading, inside view_ask.run */

struct view_config {
    struct engine *engine;
    const char *dir;    /* where view.db lives; made when missing */
    unsigned readers;   /* threads that answer questions; see view_kind */
    uint32_t asks_max;  /* waiting questions; more are refused with ERR_OVERLOADED */
    int64_t wait_ms;    /* how long a question waits for the watermark, at most */
    int64_t ask_ms;     /* how long one may run */
    uint64_t log_bytes; /* size of SQLite's log above which questions make room for its end */
    int64_t linger_ms;  /* how long a change waits for others, unless a question waits for it */
    uint64_t free_bytes_min; /* on the disk, for the file to grow; 0: whatever the engine says */
    int64_t shrink_ms;       /* how long after a change unused pages of the file are looked for */
    int64_t scan_max; /* entries that are rather all looked at than walked in order, when the walk
                         may meet as many that do not match before it has a page */
};

struct view_config view_config_default(void);

ATTR_NODISCARD enum err_code view_open(const struct view_config *config, struct view **out_view,
                                       struct err *err);
/* Before the engine is closed. Questions under way are finished, waiting ones refused. NULL is
 * fine. */
void view_close(struct view *v);

/* What a question costs. Those that look at the text of every job may take all the time they get,
 * and those with a program always can; so that they hold up none that are quick, they have a share:
 * at most half of the readers and of the places in the line answer questions of the last two kinds,
 * and at most a quarter those of the last, but at least one of each. */
enum view_kind { VIEW_KIND_ROWS, VIEW_KIND_TEXTS, VIEW_KIND_PROGRAM, VIEW_KIND_COUNT };
const char *view_kind_name(enum view_kind kind);

/* A question: run is called on a reader thread as soon as the view shows everything that the engine
 * had answered when it was asked, or wait_ms have passed. While jobs have changed faster than the
 * view follows for some time, it waits for a moment only (view_pace.c). Then done, on the loop of
 * reply_to. The caller keeps it alive until done, which comes exactly once. */
struct view_ask {
    /* set by the caller */
    void (*run)(struct view_ask *ask, struct view_reader *r);
    void (*done)(struct view_ask *ask);
    struct mailbox *reply_to;
    void *data;
    bool text;    /* wait for the full text too, which is filled behind the rows */
    bool patient; /* wait as long for the rows when jobs change all the time: something is done with
                     what is found */
    enum view_kind kind;
    /* result */
    struct err err; /* ERR_OK; ERR_OVERLOADED, ERR_STOPPING, ERR_UNHEALTHY (there is no file yet):
                       run was not called. What goes wrong inside run is run's to tell: its
                       functions say ERR_SEARCH when ask_ms were over or it was cut short */
    uint64_t index; /* the watermark that run saw */
    uint64_t lag;   /* changed jobs that it may not have seen; see view_status */
    /* private */
    struct msg msg;
    struct view *view;
    struct view_ask *next;
    uint64_t wait_index;
    int64_t deadline_ns;
    atomic_int_fast64_t until_ns; /* how long the answer is wanted */
};

/* From any thread. */
void view_ask(struct view *v, struct view_ask *ask);
/* Nobody wants the answer any more: a question that waits is refused, one that runs is cut short;
 * done comes as always. From any thread that knows that the ask is still there. */
void view_cancel(struct view_ask *ask);
/* Perhaps somebody wants the answer, but not for long: from now on it may run for so many ms. From
 * the same threads. */
void view_shorten(struct view_ask *ask, int64_t ms);

struct view_status {
    uint64_t index;    /* watermark of the rows */
    uint64_t lag;      /* changed jobs not yet written. While the copy is made or compared as a
                          whole, which of them have changed is not known: those not yet looked at
                          count, so that the number is never too small */
    uint64_t text_lag; /* written jobs that the full text does not know yet */
    uint64_t written;  /* rows since start */
    bool low_space;    /* nothing is written because the disk is nearly full */
    struct {
        uint32_t running, waiting;
        uint64_t refused; /* since start, because too many were waiting */
    } asks[VIEW_KIND_COUNT];
    bool rebuilding;
    bool rebuilt; /* at least once since start: the rest says how it went */
    int64_t rebuild_started_ms, rebuild_took_ms;
    bool rebuild_ok;
    char rebuild_error[160];
};

/* Any thread. */
void view_status(struct view *v, struct view_status *out);

/* Space on the disk is low: write nothing more, and let questions be answered late at once; or
 * there is enough again: go on. The view looks itself too (free_bytes_min), and hears from the
 * engine (engine_on_space). Any thread. */
void view_set_space(struct view *v, bool low);

/* Make the view anew while it serves; done on the loop of reply_to, with err. */
struct view_rebuild {
    void (*done)(struct view_rebuild *r);
    struct mailbox *reply_to;
    void *data;
    struct err err;
    int64_t took_ms;
    struct msg msg;
    struct view *view;
};
void view_rebuild(struct view *v, struct view_rebuild *r);
