/*
 * Notifiers: tell subscribers on other threads that something happened, with at most one message
 * per notifier in transit.
 */
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_int.h"

struct engine_notifier {
    struct engine_notifier *next;
    struct engine *engine;
    struct mailbox *reply_to;
    void (*told)(void *data);
    void *data;
    atomic_uint_fast64_t next_event;
    atomic_uint_fast64_t webhook_changes;
    uint64_t bulk_puts; /* core thread only */
    atomic_bool listens;
    atomic_bool wake_out; /* wake_msg is in transit; cleared before told is called */
    struct msg wake_msg;
    struct msg free_msg;
};

static void deliver_wake(struct msg *m)
{
    struct engine_notifier *n = CONTAINER_OF(m, struct engine_notifier, wake_msg);
    atomic_store(&n->wake_out, false);
    n->told(n->data);
}

static void wake(struct engine_notifier *n)
{
    if (!atomic_exchange(&n->wake_out, true)) {
        n->wake_msg.deliver = deliver_wake;
        bool posted = mailbox_post(n->reply_to, &n->wake_msg);
        CHECK(posted);
    }
}

static uint64_t next_event(struct engine *e)
{
    return machine_store(e->machine)->meta.next_event;
}

static void look(struct engine_notifier *n, uint64_t next, uint64_t changes, uint64_t puts)
{
    bool more = next > atomic_load(&n->next_event);
    bool changed = changes != atomic_load(&n->webhook_changes);
    bool put = puts != n->bulk_puts;
    if (more) {
        atomic_store(&n->next_event, next);
    }
    if (changed) {
        atomic_store(&n->webhook_changes, changes);
    }
    n->bulk_puts = puts;
    if (changed || put || (more && atomic_load(&n->listens))) {
        wake(n);
    }
}

void engine_notifier__look(struct engine *e)
{
    for (struct engine_notifier *n = e->notifiers; n != NULL; n = n->next) {
        look(n, next_event(e), machine_webhook_changes(e->machine), machine_bulk_puts(e->machine));
    }
}

void engine_notifier__leads(struct engine *e)
{
    for (struct engine_notifier *n = e->notifiers; n != NULL; n = n->next) {
        wake(n);
    }
}

/* A change after this call wakes the subscriber; it sees earlier ones if it reads the numbers
 * now. */
void engine_notifier_listen(struct engine_notifier *n, bool on)
{
    atomic_store(&n->listens, on);
}

uint64_t engine_notifier_next(const struct engine_notifier *n)
{
    return atomic_load(&n->next_event);
}

uint64_t engine_notifier_webhook_changes(const struct engine_notifier *n)
{
    return atomic_load(&n->webhook_changes);
}

/* Opening and closing: the caller waits for the core thread. */

static void begin(void *data)
{
    struct engine_notifier *n = data;
    atomic_store(&n->next_event, next_event(n->engine));
    atomic_store(&n->webhook_changes, machine_webhook_changes(n->engine->machine));
    n->bulk_puts = machine_bulk_puts(n->engine->machine);
    n->next = n->engine->notifiers;
    n->engine->notifiers = n;
}

static void end(void *data)
{
    struct engine_notifier *n = data;
    struct engine_notifier **at = &n->engine->notifiers;
    while (*at != n) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = n->next;
}

struct engine_notifier *engine_notifier_open(struct engine *e, struct mailbox *reply_to,
                                             void (*told)(void *data), void *data)
{
    struct engine_notifier *n = calloc(1, sizeof *n);
    CHECK(n != NULL);
    n->engine = e;
    n->reply_to = reply_to;
    n->told = told;
    n->data = data;
    engine__visit(e, begin, n);
    return n;
}

/* The core thread no longer uses the notifier, but a wake-up may still be in the subscriber's
 * mailbox. So a message behind it frees the memory. */
static void deliver_free(struct msg *m)
{
    struct engine_notifier *n = CONTAINER_OF(m, struct engine_notifier, free_msg);
    free(n);
}

static void told_no_more(void *data)
{
    (void)data;
}

void engine_notifier_close(struct engine_notifier *n)
{
    engine__visit(n->engine, end, n); /* notifiers are closed before the engine */
    n->told = told_no_more;
    n->free_msg.deliver = deliver_free;
    bool posted = mailbox_post(n->reply_to, &n->free_msg);
    CHECK(posted);
}
