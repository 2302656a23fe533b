/*
 * Event_pages: the event log in pieces that many readers share.
 *
 * A page is the events of EVENT_PAGES_EVENTS consecutive numbers, read from the store and decoded
 * once, however many readers want it; so are its frames, for readers that see everything. A few
 * dozen pages are kept, by number; the newest one grows as the log does. The newest events are in
 * memory, and pages fetched for a reader that is far behind are reused by others.
 *
 * Belongs to one thread. Bounded in bytes: past the limit, pages other than the requested one are
 * freed.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "event/event_json.h"
#include "store/store_event.h"

enum { EVENT_PAGES_EVENTS = 128 };

struct event_pages;

struct event_page {
    /* public */
    uint64_t first; /* number of events[0]; the others follow without a gap */
    uint32_t count; /* at least 1 */
    struct store_event events[EVENT_PAGES_EVENTS];
    /* internal */
    uint64_t number;
    struct arena *arena; /* texts of the events */
    struct buf frames[EVENT_JSON_DIALECTS];
    uint32_t ends[EVENT_JSON_DIALECTS][EVENT_PAGES_EVENTS]; /* end of each frame in its buf */
    uint32_t framed[EVENT_JSON_DIALECTS];                   /* number of frames */
};

struct event_pages *event_pages_new(size_t limit_bytes);
void event_pages_free(struct event_pages *p); /* NULL is allowed */

/* The page that contains the event seq, complete up to next, the end of the log (exclusive); seq
 * must be below next. NULL if the log no longer has seq. Valid until the next call. */
struct event_page *event_pages_get(struct event_pages *p, struct store *s, uint64_t seq,
                                   uint64_t next);

/* The frame of events[i], with internal names of queues. Valid until the next call. */
struct str event_pages_frame(struct event_page *page, uint32_t i, enum event_json_dialect dialect);
