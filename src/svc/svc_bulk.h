/*
 * Svc_bulk: bulk operations that run in the background (http-api.md 11).
 *
 * The replicated state (fsm/apply/apply_bulk.c) records each operation and its progress. This is
 * the thread that advances them while this node leads. It takes the operations in turn, finds the
 * next chunk of ids, submits it as one command and waits for the result. One chunk is in progress
 * at a time, followed by a pause of the same length, so that other traffic gets at least half of
 * the time. After a crash or a change of leader, it continues from the recorded progress. The
 * engine notifies it of new operations and when this node becomes leader.
 *
 *   state --look--> next operation --(list | find | queue)--> step --> state; progress to watchers
 *
 * An operation that cannot continue is retried with growing delays, while the others take their
 * turns. If it still cannot continue, it fails, and its record has the reason.
 *
 * This module does not evaluate filters: the caller provides a finder.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/limits.h"
#include "engine/engine.h"
#include "loop/mailbox.h"
#include "store/store_record.h"

struct svc_bulk;

/* A request for the next ids that match a filter, in order. The finder calls svc_bulk_found once,
 * from any thread; the texts are valid until then. */
struct svc_bulk_page {
    struct str filter, ns, scope;
    struct id after, until;   /* range of ids, both excluded */
    struct mailbox *reply_to; /* mailbox of the requesting thread, for use by the finder */
    /* result */
    struct err err; /* client errors are final; ERR_OVERLOADED is always retried, others up to a
                       limit */
    struct id ids[LIMIT_BULK_CHUNK];
    size_t count; /* less than LIMIT_BULK_CHUNK: no more ids follow */
    void *finder; /* private data of the finder */
    /* private */
    struct msg msg;
    struct svc_bulk *bulk;
};

typedef void (*svc_bulk_find_fn)(void *data, struct svc_bulk_page *page);

struct svc_bulk_config {
    struct engine *engine;
    svc_bulk_find_fn find; /* NULL: operations by filter fail */
    void *find_data;
    int64_t keepalive_ms; /* interval of SVC_BULK_KEEPALIVE */
};

struct svc_bulk_config svc_bulk_config_default(void);

/* Starts the thread. */
struct svc_bulk *svc_bulk_open(const struct svc_bulk_config *config);
/* Call after all watches have ended and before the engine and the finder are closed. Waits for the
 * current step. NULL is allowed. */
void svc_bulk_close(struct svc_bulk *b);

/* Notify the watches of an operation that was cancelled. Any thread. */
void svc_bulk_changed(struct svc_bulk *b, struct id id);

/* Called by the finder when the page is complete. Any thread. */
void svc_bulk_found(struct svc_bulk_page *page);

/* Read the newest committed record; *out points into value. False if there is none. Any thread. */
ATTR_NODISCARD bool svc_bulk_read(struct engine *e, struct id id, struct buf *value,
                                  struct store_bulk *out);

enum svc_bulk_news_type {
    SVC_BULK_STARTED,
    SVC_BULK_PROGRESS,
    SVC_BULK_OVER, /* ended with the given status; the last news */
    SVC_BULK_KEEPALIVE
};

struct svc_bulk_watch;

struct svc_bulk_news {
    enum svc_bulk_news_type type;
    enum store_bulk_status status;
    uint64_t total, processed, affected, errors;
    struct wall at;
    char error[160]; /* truncated */
    /* private */
    struct msg msg;
    struct svc_bulk_watch *watch;
};

/* A watch receives the progress of an operation. The caller embeds it and keeps it until ended. */
struct svc_bulk_watch {
    /* set by the caller */
    struct id task;
    struct mailbox *reply_to;
    void (*told)(struct svc_bulk_watch *w, const struct svc_bulk_news *n); /* on its loop */
    void (*ended)(struct svc_bulk_watch *w); /* likewise, as the last call */
    /* private */
    struct svc_bulk *bulk;
    struct svc_bulk_watch *next;
    struct msg join_msg, leave_msg;
    atomic_uint under_way; /* news posted and not yet delivered */
};

/* Start a watch, on reply_to's thread. The first news is the current progress or the end of the
 * operation. For a queued operation, it is SVC_BULK_STARTED. */
void svc_bulk_watch(struct svc_bulk *b, struct svc_bulk_watch *w);
/* End a watch, once, on reply_to's thread. Calls ended later. */
void svc_bulk_unwatch(struct svc_bulk_watch *w);
