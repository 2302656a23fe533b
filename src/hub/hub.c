#include "hub/hub.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "event/event_pages.h"

enum {
    PAGES_BYTES = 16 << 20,
    SLICE = 8 * EVENT_PAGES_EVENTS, /* events given to or skipped by one reader per turn */
    TURN = 8 * SLICE,               /* the same for all readers: some milliseconds */
    KEEPALIVE_MS = 15000,           /* contract */
};

struct hub {
    struct engine *engine;
    struct engine_notifier *notifier;
    struct hub_counts *counts;
    struct event_pages *pages;
    struct hub_reader *readers; /* newest first */
    unsigned reader_count;
    struct hub_reader *walk; /* next reader of the current walk; a reader may leave meanwhile */
    struct hub_reader *rest; /* where the last turn stopped; NULL: at the end */
    struct buf scratch;      /* frame for a single reader */
    uv_timer_t keepalive;
    uv_idle_t more; /* active while a reader has events left */
    unsigned open_handles;
};

uint64_t hub_end(const struct hub *h)
{
    return engine_notifier_next(h->notifier);
}

uint64_t hub_oldest(struct hub *h, uint64_t seq)
{
    return store_event_first(engine_store(h->engine), seq, seq);
}

/* Joining and leaving */

void hub_leave(struct hub *h, struct hub_reader *r)
{
    if (h->walk == r) {
        h->walk = r->older;
    }
    if (h->rest == r) {
        h->rest = r->older;
    }
    if (r->newer != NULL) {
        r->newer->older = r->older;
    } else {
        h->readers = r->older;
    }
    if (r->older != NULL) {
        r->older->newer = r->newer;
    }
    h->reader_count--;
    (void)atomic_fetch_add_explicit(&h->counts->ended, 1, memory_order_relaxed);
    engine_notifier_listen(h->notifier, h->readers != NULL);
}

static void cut(struct hub *h, struct hub_reader *r)
{
    (void)atomic_fetch_add_explicit(&h->counts->cut, 1, memory_order_relaxed);
    hub_leave(h, r);
    r->cut(r);
}

/* True if the reader has left the hub. */
static bool refuse(struct hub *h, struct hub_reader *r)
{
    if (r->may_read == NULL || r->may_read(r)) {
        return false;
    }
    hub_leave(h, r);
    r->refused(r);
    return true;
}

/* Giving events */

static void block(struct hub *h, struct hub_reader *r)
{
    r->blocked = true;
    r->blocked_next = hub_end(h);
}

/* Readers that see all names unchanged share the frame; the others get their own. */
static struct str frame_for(struct hub *h, const struct hub_reader *r, struct event_page *page,
                            uint32_t i, enum event_json_dialect dialect)
{
    if (r->match.ns.len == 0) {
        return event_pages_frame(page, i, dialect);
    }
    buf_clear(&h->scratch);
    event_json_frame(&h->scratch, &page->events[i], r->match.ns, dialect);
    return buf_str(&h->scratch);
}

static bool give(struct hub *h, struct hub_reader *r, struct event_page *page, uint32_t i)
{
    if (r->give != NULL) {
        return r->give(r, &page->events[i]) == HTTP_WRITE_OK;
    }
    if (r->named && !r->named_sent) {
        if (r->write(r, frame_for(h, r, page, i, EVENT_JSON_NAMED)) != HTTP_WRITE_OK) {
            return false;
        }
        r->named_sent = r->message;
    }
    if (r->message) {
        if (r->write(r, frame_for(h, r, page, i, EVENT_JSON_MESSAGE)) != HTTP_WRITE_OK) {
            return false;
        }
        r->named_sent = false;
    }
    return true;
}

/* Give r the rest of the page from its position; returns the number of events that it advances. */
static uint32_t give_page(struct hub *h, struct hub_reader *r, struct event_page *page)
{
    uint32_t from = (uint32_t)(r->next - page->first);
    bool open = event_match_is_open(&r->match);
    uint32_t given = 0;
    uint32_t i = from;
    for (; i < page->count; i++) {
        if (open || event_match_fits(&r->match, &page->events[i])) {
            if (!give(h, r, page, i)) {
                block(h, r);
                break;
            }
            given++;
        }
    }
    (void)atomic_fetch_add_explicit(&h->counts->events, given, memory_order_relaxed);
    r->next = page->first + i;
    return i - from;
}

/* Give r a slice of what is left of the turn. True if there is more for it. May cut or refuse r. */
static bool pump(struct hub *h, struct hub_reader *r, uint32_t *left)
{
    uint64_t end = hub_end(h);
    uint32_t budget = *left < SLICE ? *left : SLICE;
    if (r->next < end && refuse(h, r)) {
        return false;
    }
    while (!r->blocked && r->next < end && budget > 0) {
        struct event_page *page = event_pages_get(h->pages, engine_store(h->engine), r->next, end);
        if (page == NULL) {
            cut(h, r);
            return false;
        }
        uint32_t passed = give_page(h, r, page);
        budget -= passed < budget ? passed : budget;
        *left -= passed < *left ? passed : *left;
    }
    return !r->blocked && r->next < end;
}

static void more_cb(uv_idle_t *idle);

static void pump_all(struct hub *h)
{
    uint64_t end = hub_end(h);
    uint32_t left = TURN;
    bool more = h->rest != NULL; /* earlier readers have not had their turn */
    h->walk = h->rest != NULL ? h->rest : h->readers;
    while (h->walk != NULL && left > 0) {
        struct hub_reader *r = h->walk;
        h->walk = r->older;
        if (r->blocked && end - r->blocked_next > LIMIT_STREAM_BEHIND) {
            cut(h, r);
        } else if (!r->blocked && pump(h, r, &left)) {
            more = true;
        }
    }
    h->rest = h->walk;
    h->walk = NULL;
    more = more || h->rest != NULL;
    CHECK((more ? uv_idle_start(&h->more, more_cb) : uv_idle_stop(&h->more)) == 0);
}

static void more_cb(uv_idle_t *idle)
{
    pump_all(idle->data);
}

static void told(void *data)
{
    pump_all(data);
}

bool hub_is_full(const struct hub *h)
{
    return h->reader_count >= LIMIT_STREAMS;
}

void hub_join(struct hub *h, struct hub_reader *r)
{
    CHECK(r->give != NULL || r->named || r->message);
    r->newer = NULL;
    r->older = h->readers;
    r->blocked = r->named_sent = false;
    if (h->readers != NULL) {
        h->readers->newer = r;
    }
    h->readers = r;
    h->reader_count++;
    engine_notifier_listen(h->notifier, true);
    (void)atomic_fetch_add_explicit(&h->counts->streams, 1, memory_order_relaxed);
    CHECK(uv_idle_start(&h->more, more_cb) == 0);
}

void hub_writable(struct hub *h, struct hub_reader *r)
{
    uint32_t left = SLICE;
    r->blocked = false;
    if (pump(h, r, &left)) {
        CHECK(uv_idle_start(&h->more, more_cb) == 0);
    }
}

/* Opening and closing */

static enum http_write show_alive(struct hub_reader *r)
{
    return r->give != NULL ? r->give(r, NULL) : r->write(r, STR(":keepalive\n\n"));
}

static void keepalive_cb(uv_timer_t *timer)
{
    struct hub *h = timer->data;
    for (h->walk = h->readers; h->walk != NULL;) {
        struct hub_reader *r = h->walk;
        h->walk = r->older;
        if (!refuse(h, r) && !r->blocked && show_alive(r) != HTTP_WRITE_OK) {
            block(h, r);
        }
    }
}

struct hub *hub_open(struct engine *e, uv_loop_t *loop, struct mailbox *mailbox,
                     struct hub_counts *counts)
{
    struct hub *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    h->engine = e;
    h->counts = counts;
    h->pages = event_pages_new(PAGES_BYTES);
    buf_init(&h->scratch, SIZE_MAX);
    CHECK(uv_timer_init(loop, &h->keepalive) == 0);
    CHECK(uv_idle_init(loop, &h->more) == 0);
    h->keepalive.data = h->more.data = h;
    h->open_handles = 2;
    CHECK(uv_timer_start(&h->keepalive, keepalive_cb, KEEPALIVE_MS, KEEPALIVE_MS) == 0);
    h->notifier = engine_notifier_open(e, mailbox, told, h);
    return h;
}

static void closed_cb(uv_handle_t *handle)
{
    struct hub *h = handle->data;
    if (--h->open_handles == 0) {
        event_pages_free(h->pages);
        buf_deinit(&h->scratch);
        free(h);
    }
}

void hub_close(struct hub *h)
{
    CHECK(h->readers == NULL);
    engine_notifier_close(h->notifier);
    uv_close((uv_handle_t *)&h->keepalive, closed_cb);
    uv_close((uv_handle_t *)&h->more, closed_cb);
}
