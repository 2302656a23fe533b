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
    uint64_t next; /* the first event that it has not been given, or has passed over */
    /* How it is given events: as frames of an event stream, or one by one in its own dialect. FULL:
     * nothing was taken, and hub_writable comes. */
    bool named, message; /* the frames it wants of an event, in this order; at least one */
    enum http_write (*write)(struct hub_reader *r, struct str frame);
    /* Instead of frames: an event, or NULL to show that the stream is alive. */
    enum http_write (*give)(struct hub_reader *r, const struct store_event *e);
    /* It is behind for good; it has left the hub. */
    void (*cut)(struct hub_reader *r);
    /* May it still read? Asked before it is given anything. NULL: always. Else it leaves the hub,
     * and is refused. */
    bool (*may_read)(struct hub_reader *r);
    void (*refused)(struct hub_reader *r);
    /* private */
    struct hub_reader *newer, *older;
    bool blocked;          /* a write said FULL */
    uint64_t blocked_next; /* where the log ended then */
    bool named_sent;       /* of the event at next */
};

/* Of all hubs together; any thread reads. */
struct hub_counts {
    atomic_uint_fast64_t streams; /* begun */
    atomic_uint_fast64_t ended;
    atomic_uint_fast64_t cut;
    atomic_uint_fast64_t events; /* given to a reader */
};

/* On the thread of the loop, which mailbox belongs to. */
struct hub *hub_open(struct engine *e, uv_loop_t *loop, struct mailbox *mailbox,
                     struct hub_counts *counts);
/* Without readers. The memory goes when the loop has run closed handles. */
void hub_close(struct hub *h);

/* The number that the next event will get. */
uint64_t hub_end(const struct hub *h);
/* The oldest event at or after seq that is kept; seq when there is none. */
uint64_t hub_oldest(struct hub *h, uint64_t seq);

/* There are so many readers that another one may not join. */
bool hub_is_full(const struct hub *h);
/* What is there already is given from the loop, not from inside this call. */
void hub_join(struct hub *h, struct hub_reader *r);
void hub_leave(struct hub *h, struct hub_reader *r);
/* There is room again; may cut or refuse r. */
void hub_writable(struct hub *h, struct hub_reader *r);
