/*
 * Hub: the readers of the event log on one network thread.
 *
 * Each network thread has one. It is notified once per turn that the log has grown, and then gives
 * every reader the new events. Pages of the log and their frames are created once for all readers
 * (event_pages.h). A reader is a position: nothing is queued for it beyond what its connection
 * accepts. A reader whose connection is full stays at its position and continues when there is
 * room. It is disconnected if it accepts nothing while the log grows by LIMIT_STREAM_BEHIND, or if
 * its next event has been removed. It can then reconnect with its position, and no other reader
 * waits for it.
 *
 * A reader that is far behind gets a slice per turn, and all readers together get a limited number
 * of events, so that they do not delay the requests of the thread.
 */
#pragma once

#include <stdatomic.h>

#include <uv.h>

#include "engine/engine.h"
#include "event/event_match.h"
#include "http/http_request.h"
#include "loop/mailbox.h"

struct hub;

struct hub_reader {
    /* set by the caller */
    struct event_match match;
    uint64_t next; /* first event neither given nor skipped */
    /* How events are given to it: as frames of an event stream, or by a function of its own. On
     * FULL nothing was accepted, and hub_writable follows. */
    bool named, message; /* the frames of each event, in this order; at least one */
    enum http_write (*write)(struct hub_reader *r, struct str frame);
    /* Instead of frames: called with an event, or with NULL as a keep-alive. */
    enum http_write (*give)(struct hub_reader *r, const struct store_event *e);
    /* The reader fell too far behind and has left the hub. */
    void (*cut)(struct hub_reader *r);
    /* Is the reader still permitted to read? Called before events are given. NULL: always. If it
     * returns false, the reader leaves the hub, and refused is called. */
    bool (*may_read)(struct hub_reader *r);
    void (*refused)(struct hub_reader *r);
    /* private */
    struct hub_reader *newer, *older;
    bool blocked;          /* the last write returned FULL */
    uint64_t blocked_next; /* end of the log at that time */
    bool named_sent;       /* the first frame of the event at next was sent */
};

/* Sums of all hubs; any thread may read them. */
struct hub_counts {
    atomic_uint_fast64_t streams; /* opened */
    atomic_uint_fast64_t ended;
    atomic_uint_fast64_t cut;
    atomic_uint_fast64_t events; /* given to readers */
};

/* Call on the thread of the loop; mailbox must belong to this loop. */
struct hub *hub_open(struct engine *e, uv_loop_t *loop, struct mailbox *mailbox,
                     struct hub_counts *counts);
/* Call without readers. The memory is freed when the loop has processed the closed handles. */
void hub_close(struct hub *h);

/* The number of the next event. */
uint64_t hub_end(const struct hub *h);
/* The oldest kept event at or after seq; seq if there is none. */
uint64_t hub_oldest(struct hub *h, uint64_t seq);

/* True if the limit of readers is reached. */
bool hub_is_full(const struct hub *h);
/* Events are given from the loop, never inside this call. */
void hub_join(struct hub *h, struct hub_reader *r);
void hub_leave(struct hub *h, struct hub_reader *r);
/* The reader has room again. May cut or refuse r. */
void hub_writable(struct hub *h, struct hub_reader *r);
