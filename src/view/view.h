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
 * version is rebuilt from the documents; until that is complete, questions get ERR_UNHEALTHY.
 * view_rebuild rebuilds a file while the old one answers.
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
struct view_reader; /* a read connection, for use inside view_ask.run */

struct view_config {
    struct engine *engine;
    const char *dir;    /* directory of view.db; created if missing */
    unsigned readers;   /* number of reader threads; see view_kind */
    uint32_t asks_max;  /* maximum of waiting questions; others get ERR_OVERLOADED */
    int64_t wait_ms;    /* maximum time that a question waits for the watermark */
    int64_t ask_ms;     /* maximum time that a question runs */
    uint64_t log_bytes; /* above this size of SQLite's log, questions make room for its restart */
    int64_t linger_ms;  /* how long changes are collected, unless a question waits for them */
    uint64_t free_bytes_min; /* free disk space needed to grow; 0: the engine decides */
    int64_t shrink_ms;       /* delay after a change until the file is checked for unused pages */
    int64_t scan_max; /* maximum of index entries in a scan that replaces a walk in sort order */
};

struct view_config view_config_default(void);

ATTR_NODISCARD enum err_code view_open(const struct view_config *config, struct view **out_view,
                                       struct err *err);
/* Call before the engine is closed. Running questions finish, waiting ones are refused. NULL is
 * allowed. */
void view_close(struct view *v);

/* The cost of a question. Questions that read the text of every job can be slow, those with a
 * program even more. So that they do not delay others, questions of the last two kinds use at most
 * half of the reader threads and waiting slots, and those of the last kind at most a quarter, but
 * at least one of each. */
enum view_kind { VIEW_KIND_ROWS, VIEW_KIND_TEXTS, VIEW_KIND_PROGRAM, VIEW_KIND_COUNT };
const char *view_kind_name(enum view_kind kind);

/* A question. run is called on a reader thread when the view contains everything that the engine
 * had acknowledged at the time of the question, or after wait_ms. If jobs have been changing faster
 * than the view can follow for some time, the question waits only a moment (view_pace.c). Then done
 * is called, exactly once, on the loop of reply_to. The caller keeps the question alive until
 * then. */
struct view_ask {
    /* set by the caller */
    void (*run)(struct view_ask *ask, struct view_reader *r);
    void (*done)(struct view_ask *ask);
    struct mailbox *reply_to;
    void *data;
    bool text;    /* also wait for the full text, which is updated after the rows */
    bool patient; /* always wait up to wait_ms, because the results are used for changes */
    enum view_kind kind;
    /* result */
    /* ERR_OVERLOADED, ERR_STOPPING, ERR_UNHEALTHY (no file yet): run was not called. Functions that
     * run calls return ERR_SEARCH after ask_ms or a cancel. */
    struct err err;
    uint64_t index; /* the watermark when run was called */
    uint64_t lag;   /* changed jobs that may be missing; see view_status */
    /* private */
    struct msg msg;
    struct view *view;
    struct view_ask *next;
    uint64_t wait_index;
    int64_t deadline_ns;
    atomic_int_fast64_t until_ns; /* how long the result is needed */
};

/* Ask a question. Any thread. */
void view_ask(struct view *v, struct view_ask *ask);
/* Cancel a question: if it waits it is refused, if it runs it is interrupted; done is called as
 * usual. Any thread, while the question still exists. */
void view_cancel(struct view_ask *ask);
/* Limit the remaining time of a question, whose result may soon be useless. The same threads. */
void view_shorten(struct view_ask *ask, int64_t ms);

struct view_status {
    uint64_t index; /* watermark of the rows */
    uint64_t lag;   /* changed jobs not written yet. While the view is built or compared, every job
                       not processed yet counts, so the number is never too small */
    uint64_t text_lag; /* written jobs that are not in the full text yet */
    uint64_t written;  /* rows written since the start */
    bool low_space;    /* nothing is written because the disk is nearly full */
    struct {
        uint32_t running, waiting;
        uint64_t refused; /* since the start, because too many were waiting */
    } asks[VIEW_KIND_COUNT];
    bool rebuilding;
    bool rebuilt; /* at least once since the start; the members below are set */
    int64_t rebuild_started_ms, rebuild_took_ms;
    bool rebuild_ok;
    char rebuild_error[160];
};

/* Any thread. */
void view_status(struct view *v, struct view_status *out);

/* Report whether disk space is low. While it is, nothing is written, and questions are answered
 * immediately with old data. The view also checks itself (free_bytes_min) and is notified by the
 * engine (engine_on_space). Any thread. */
void view_set_space(struct view *v, bool low);

/* Rebuild the view while it answers questions. done is called on the loop of reply_to; the outcome
 * is in err. */
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
