#include "event/event_pages.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"

enum { SLOTS = 64 };

struct event_pages {
    size_t limit_bytes;
    struct event_page *slots[SLOTS]; /* page n is in slots[n % SLOTS] */
};

struct event_pages *event_pages_new(size_t limit_bytes)
{
    struct event_pages *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    p->limit_bytes = limit_bytes;
    return p;
}

static struct event_page *page_new(uint64_t number)
{
    struct event_page *page = calloc(1, sizeof *page);
    CHECK(page != NULL);
    page->number = number;
    page->arena = arena_new(SIZE_MAX); /* 128 events, each of bounded size */
    for (unsigned d = 0; d < EVENT_JSON_DIALECTS; d++) {
        buf_init(&page->frames[d], UINT32_MAX);
    }
    return page;
}

static void page_free(struct event_page *page)
{
    if (page != NULL) {
        for (unsigned d = 0; d < EVENT_JSON_DIALECTS; d++) {
            buf_deinit(&page->frames[d]);
        }
        arena_free(page->arena);
        free(page);
    }
}

void event_pages_free(struct event_pages *p)
{
    if (p != NULL) {
        for (unsigned i = 0; i < SLOTS; i++) {
            page_free(p->slots[i]);
        }
        free(p);
    }
}

static void page_clear(struct event_page *page)
{
    for (unsigned d = 0; d < EVENT_JSON_DIALECTS; d++) {
        buf_clear(&page->frames[d]);
        page->framed[d] = 0;
    }
    arena_reset(page->arena);
    page->count = 0;
}

static size_t page_bytes(const struct event_page *page)
{
    size_t bytes = sizeof *page + arena_used_bytes(page->arena);
    for (unsigned d = 0; d < EVENT_JSON_DIALECTS; d++) {
        bytes += page->frames[d].cap;
    }
    return bytes;
}

/* Free pages to stay within the limit, but never the wanted page. */
static void shrink(struct event_pages *p, const struct event_page *wanted)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        bytes += p->slots[i] == NULL ? 0 : page_bytes(p->slots[i]);
    }
    for (unsigned i = 0; i < SLOTS && bytes > p->limit_bytes; i++) {
        if (p->slots[i] != NULL && p->slots[i] != wanted) {
            bytes -= page_bytes(p->slots[i]);
            page_free(TAKE(p->slots[i]));
        }
    }
}

static struct str keep(struct event_page *page, struct str text)
{
    struct str kept = arena_str(page->arena, text);
    CHECK(kept.len == text.len);
    return kept;
}

/* Adjacent events often have the same queue: share its name. */
static struct str keep_queue(struct event_page *page, struct str queue)
{
    if (page->count > 0 && str_eq(page->events[page->count - 1].queue, queue)) {
        return page->events[page->count - 1].queue;
    }
    return keep(page, queue);
}

static bool take_event(void *data, const struct store_event *e)
{
    struct event_page *page = data;
    if (e->seq / EVENT_PAGES_EVENTS != page->number) {
        return false;
    }
    if (page->count > 0 && e->seq != page->first + page->count) {
        page_clear(page); /* the events before it were removed from the log meanwhile */
    }
    if (page->count == 0) {
        page->first = e->seq;
    }
    struct store_event *at = &page->events[page->count];
    *at = *e;
    at->queue = keep_queue(page, e->queue);
    at->text = keep(page, e->text);
    at->text2 = keep(page, e->text2);
    page->count++;
    return page->count < EVENT_PAGES_EVENTS;
}

/* Read the events that the page does not have yet. */
static void fill(struct event_page *page, struct store *s)
{
    uint64_t begin = page->number * EVENT_PAGES_EVENTS;
    uint64_t from = page->count == 0 ? begin : page->first + page->count;
    store_event_read(s, from == 0 ? 0 : from - 1, take_event, page);
}

struct event_page *event_pages_get(struct event_pages *p, struct store *s, uint64_t seq,
                                   uint64_t next)
{
    CHECK(seq < next);
    uint64_t number = seq / EVENT_PAGES_EVENTS;
    uint64_t end = (number + 1) * EVENT_PAGES_EVENTS;
    struct event_page **slot = &p->slots[number % SLOTS];
    if (*slot != NULL && (*slot)->number != number) {
        page_free(TAKE(*slot));
    }
    if (*slot == NULL) {
        *slot = page_new(number);
    }
    struct event_page *page = *slot;
    if (page->count == 0 || page->first + page->count < (next < end ? next : end)) {
        fill(page, s);
        shrink(p, page);
    }
    bool has = page->count > 0 && seq >= page->first && seq < page->first + page->count;
    if (!has && page->count == 0) {
        page_free(TAKE(*slot));
    }
    return has ? page : NULL;
}

struct str event_pages_frame(struct event_page *page, uint32_t i, enum event_json_dialect dialect)
{
    struct buf *frames = &page->frames[dialect];
    uint32_t *ends = page->ends[dialect];
    CHECK(i < page->count);
    for (uint32_t n = page->framed[dialect]; n < page->count; n++) {
        event_json_frame(frames, &page->events[n], STR_EMPTY, dialect);
        CHECK(!frames->overflow);
        ends[n] = (uint32_t)frames->len;
    }
    page->framed[dialect] = page->count;
    uint32_t from = i == 0 ? 0 : ends[i - 1];
    return str_from(frames->ptr + from, ends[i] - from);
}
