/*
 * Watches: word of what happened to those who follow it on threads of their own, at most one
 * message per watch under way.
 */
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_int.h"

struct engine_watch {
    struct engine_watch *next;
    struct engine *engine;
    struct mailbox *reply_to;
    void (*told)(void *data);
    void *data;
    atomic_uint_fast64_t next_event;
    atomic_uint_fast64_t webhook_changes;
    uint64_t bulk_puts; /* the core thread's */
    atomic_bool listens;
    atomic_bool wake_out; /* wake_msg is on its way; put back before the subscriber looks */
    struct msg wake_msg;
    struct msg free_msg;
};

static void deliver_wake(struct msg *m)
{
    struct engine_watch *w = CONTAINER_OF(m, struct engine_watch, wake_msg);
    atomic_store(&w->wake_out, false);
    w->told(w->data);
}

static void wake(struct engine_watch *w)
{
    if (!atomic_exchange(&w->wake_out, true)) {
        w->wake_msg.deliver = deliver_wake;
        bool posted = mailbox_post(w->reply_to, &w->wake_msg);
        CHECK(posted);
    }
}

static uint64_t next_event(struct engine *e)
{
    return machine_store(e->machine)->meta.next_event;
}

static void look(struct engine_watch *w, uint64_t next, uint64_t changes, uint64_t puts)
{
    bool more = next > atomic_load(&w->next_event);
    bool changed = changes != atomic_load(&w->webhook_changes);
    bool put = puts != w->bulk_puts;
    if (more) {
        atomic_store(&w->next_event, next);
    }
    if (changed) {
        atomic_store(&w->webhook_changes, changes);
    }
    w->bulk_puts = puts;
    if (changed || put || (more && atomic_load(&w->listens))) {
        wake(w);
    }
}

void engine_watch__look(struct engine *e)
{
    for (struct engine_watch *w = e->watches; w != NULL; w = w->next) {
        look(w, next_event(e), machine_webhook_changes(e->machine), machine_bulk_puts(e->machine));
    }
}

void engine_watch__leads(struct engine *e)
{
    for (struct engine_watch *w = e->watches; w != NULL; w = w->next) {
        wake(w);
    }
}

/* Whoever looks at the number after this has seen it, or will be told. */
void engine_watch_listen(struct engine_watch *w, bool on)
{
    atomic_store(&w->listens, on);
}

uint64_t engine_watch_next(const struct engine_watch *w)
{
    return atomic_load(&w->next_event);
}

uint64_t engine_watch_webhook_changes(const struct engine_watch *w)
{
    return atomic_load(&w->webhook_changes);
}

/* Opening and closing: the caller waits for the core thread. */

static void begin(void *data)
{
    struct engine_watch *w = data;
    atomic_store(&w->next_event, next_event(w->engine));
    atomic_store(&w->webhook_changes, machine_webhook_changes(w->engine->machine));
    w->bulk_puts = machine_bulk_puts(w->engine->machine);
    w->next = w->engine->watches;
    w->engine->watches = w;
}

static void end(void *data)
{
    struct engine_watch *w = data;
    struct engine_watch **at = &w->engine->watches;
    while (*at != w) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = w->next;
}

struct engine_watch *engine_watch_open(struct engine *e, struct mailbox *reply_to,
                                       void (*told)(void *data), void *data)
{
    struct engine_watch *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->engine = e;
    w->reply_to = reply_to;
    w->told = told;
    w->data = data;
    engine__visit(e, begin, w);
    return w;
}

/* The core thread knows the watch no more; a wake-up may still be in the subscriber's mailbox. The
 * memory goes behind it, by the same way. */
static void deliver_free(struct msg *m)
{
    struct engine_watch *w = CONTAINER_OF(m, struct engine_watch, free_msg);
    free(w);
}

static void told_no_more(void *data)
{
    (void)data;
}

void engine_watch_close(struct engine_watch *w)
{
    engine__visit(w->engine, end, w); /* it is closed before the engine */
    w->told = told_no_more;
    w->free_msg.deliver = deliver_free;
    bool posted = mailbox_post(w->reply_to, &w->free_msg);
    CHECK(posted);
}
