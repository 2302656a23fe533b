#include "engine/engine_ask.h"

#include "base/check.h"
#include "engine/engine_int.h"
#include "fsm/machine_nodes.h"

bool engine_ask_has_peers(const struct engine *e)
{
    return atomic_load_explicit(&e->ask.has_peers, memory_order_relaxed);
}

uint64_t engine_ask_applied(const struct engine *e)
{
    return atomic_load_explicit(&e->ask.applied, memory_order_acquire);
}

/* Proof of leadership: an empty entry goes through the log, which only the real leader can do.
 * Requests that arrive while one is being committed share the next. */

static void deliver_done(struct msg *m)
{
    struct engine_proof *p = CONTAINER_OF(m, struct engine_proof, msg);
    p->done(p, p->leads);
}

static void answer_all(struct engine_proof *p, bool leads)
{
    while (p != NULL) {
        struct engine_proof *next = p->next;
        p->leads = leads;
        p->msg.deliver = deliver_done;
        bool posted = mailbox_post(p->reply_to, &p->msg);
        CHECK(posted);
        p = next;
    }
}

static void propose(struct engine *e);

static void proposed(struct node_propose *entry)
{
    struct engine *e = entry->data;
    e->ask.busy = false;
    answer_all(TAKE(e->ask.under_way), entry->err.code == ERR_OK);
    if (e->ask.waiting != NULL) {
        propose(e);
    }
}

static void propose(struct engine *e)
{
    struct buf bytes;
    if (!e->leads || e->stopping || e->node == NULL) {
        answer_all(TAKE(e->ask.waiting), false);
        return;
    }
    buf_init(&bytes, 64);
    command_entry_begin(&bytes, COMMAND_ENTRY_WHOLE, engine__now(e), e->config.lifecycle_events);
    command_entry_end(&bytes, 0);
    e->ask.entry = (struct node_propose){.len = bytes.len, .done = proposed, .data = e};
    e->ask.entry.bytes = buf_take(&bytes);
    e->ask.under_way = TAKE(e->ask.waiting);
    e->ask.busy = true;
    node_propose(e->node, &e->ask.entry);
}

static void deliver_prove(struct msg *m)
{
    struct engine_proof *p = CONTAINER_OF(m, struct engine_proof, msg);
    struct engine *e = p->engine;
    p->next = NULL;
    if (e->leads && !engine_ask_has_peers(e)) {
        answer_all(p, true); /* a group of one needs no proof */
        return;
    }
    p->next = e->ask.waiting;
    e->ask.waiting = p;
    if (!e->ask.busy) {
        propose(e);
    }
}

bool engine_ask_prove(struct engine *e, struct engine_proof *p)
{
    p->engine = e;
    p->msg.deliver = deliver_prove;
    return mailbox_post(&e->box, &p->msg);
}

void engine_ask__applied(struct engine *e)
{
    atomic_store_explicit(&e->ask.applied, machine_applied_index(e->machine), memory_order_release);
    if (e->node != NULL) {
        bool many = node_depth(e->node) > 1 || machine_nodes_count(e->machine) > 1;
        atomic_store_explicit(&e->ask.has_peers, many, memory_order_relaxed);
    }
}

void engine_ask__close(struct engine *e)
{
    CHECK(!e->ask.busy);
    answer_all(TAKE(e->ask.waiting), false);
}
