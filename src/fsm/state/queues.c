/*
 * Queues: finding them, and noting what the end of the entry must update.
 */
#include "base/check.h"
#include "fsm/apply/apply_int.h"

struct queue *queues__find(const struct machine *m, struct str name)
{
    if (m->queue_hint != NULL && str_eq(m->queue_hint->node.key, name)) {
        return m->queue_hint;
    }
    struct map_node *n = map_find(&m->queue_names, name);
    return n == NULL ? NULL : CONTAINER_OF(n, struct queue, node);
}

void queues__touch(struct machine *m, struct queue *q)
{
    CHECK(m->queues[q->number] == q);
    if (!q->dirty) {
        q->dirty = true;
        q->dirty_next = m->dirty_queues;
        m->dirty_queues = q;
    }
}

void queues__note_removal(struct machine *m, struct queue *q, struct id until)
{
    if (m->entry_version >= COMMAND_ENTRY_EXACT && id_cmp(until, q->rec.removal) > 0) {
        q->rec.removal = until;
        queues__touch(m, q);
    }
}

bool queues__is_before(const struct machine *m, struct id job, struct id began)
{
    return !id_is_none(began) && (id_cmp(job, began) < 0 || id_cmp(job, jobs__last_id(m)) > 0);
}

bool queues__may_remove(const struct machine *m, const struct queue *q, struct id job)
{
    return queues__is_before(m, job, q->rec.removal);
}

void queues__moved(struct machine *m, struct queue *q)
{
    CHECK(!q->moved);
    q->moved = true;
    q->moved_next = m->moved_queues;
    m->moved_queues = q;
}

/* Called once per entry, because most jobs are the oldest only for a short time. */
void queues__settle_oldest(struct machine *m)
{
    while (m->moved_queues != NULL) {
        struct queue *q = m->moved_queues;
        struct id id = queue_lines__oldest_pending(m, q);
        m->moved_queues = q->moved_next;
        q->moved = false;
        if (id_is_none(id)) {
            heap_remove(&m->oldest, &q->oldest);
        } else {
            heap_set(&m->oldest, &q->oldest, id_ms(id));
        }
    }
}

bool queues__oldest_ms(const struct machine *m, const struct queue *q, int64_t *out)
{
    const struct heap_node *n = q != NULL ? &q->oldest : heap_first(&m->oldest);
    CHECK(m->moved_queues == NULL);
    if (n == NULL || !heap_node_is_in(n)) {
        return false;
    }
    *out = heap_key(&m->oldest, n);
    return true;
}

void queues__ready(struct machine *m, struct queue *q)
{
    if (m->hooks.ready != NULL) {
        m->hooks.ready(m->hooks.data, q->node.key);
    }
    if (m->push_line_count > m->push_line_free) {
        queues__push_ready(m);
    }
}

void queues__push_ready(struct machine *m)
{
    if (m->hooks.push_ready != NULL) {
        m->hooks.push_ready(m->hooks.data);
    }
}
