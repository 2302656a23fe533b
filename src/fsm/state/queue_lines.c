/*
 * Queue_lines: the waiting jobs of a queue: one line for each priority, and the oldest job of all.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

static struct priority_line *need_priority_line(struct queue *q, uint8_t priority)
{
    unsigned at = 0;
    while (at < q->priority_line_count && q->priority_lines[at].priority < priority) {
        at++;
    }
    if (at == q->priority_line_count || q->priority_lines[at].priority != priority) {
        q->priority_lines =
            realloc(q->priority_lines, (q->priority_line_count + 1) * sizeof(struct priority_line));
        CHECK(q->priority_lines != NULL);
        memmove(q->priority_lines + at + 1, q->priority_lines + at,
                (q->priority_line_count - at) * sizeof(struct priority_line));
        q->priority_lines[at] = (struct priority_line){
            .priority = priority, .line = live_line_empty(), .oldest = LIVE_NONE};
        q->priority_line_count++;
        CHECK(at == 0 || q->priority_lines[at - 1].priority < priority);
        CHECK(at + 1 == q->priority_line_count || q->priority_lines[at + 1].priority > priority);
    }
    CHECK(q->priority_lines[at].priority == priority);
    return &q->priority_lines[at];
}

/* The oldest pending job is needed often, but the line is not in the order of ids, because jobs
 * that come back go to its end. Of the jobs that came in the order of their ids, only the first
 * must be known. The others, usually few, are also in a heap. It uses the node for due times, which
 * is free because a pending job is not due. */
void queue_lines__stand(struct machine *m, struct queue *q, struct live_job *l)
{
    struct priority_line *priority_line = need_priority_line(q, l->priority);
    CHECK(l->queue == q->number);
    CHECK(!heap_node_is_in(&l->due)); /* the node is free for the heap of jobs out of order */
    live_index_line_add(&m->live_index, &priority_line->line, l);
    if (priority_line->oldest == LIVE_NONE) {
        priority_line->oldest = priority_line->line.last;
        priority_line->newest = l->id;
    } else if (id_cmp(l->id, priority_line->newest) > 0) {
        priority_line->newest = l->id;
    } else {
        queue_lines__wait(m, q, l);
    }
    CHECK(priority_line->oldest != LIVE_NONE);
    CHECK(priority_line->line.count > 0);
}

/* Claims remove jobs from the front of the line, so only jobs that were also returned can be before
 * this one. It counts as out of order, whatever its id is. */
bool queue_lines__stand_back(struct machine *m, struct queue *q, struct live_job *l, uint64_t order)
{
    struct priority_line *priority_line = need_priority_line(q, l->priority);
    uint32_t at = priority_line->line.first;
    for (unsigned passed = 0; at != LIVE_NONE; passed++) {
        struct job j;
        bool found =
            store_docs_get(m->store.docs, STORE_LIVE, live_index_at(&m->live_index, at)->id, &j);
        CHECK(found);
        if (j.order > order) {
            break;
        }
        if (passed == LIMIT_CLAIM_COUNT) {
            return false;
        }
        at = live_index_at(&m->live_index, at)->next;
    }
    CHECK(l->queue == q->number);
    if (at == LIVE_NONE) {
        live_index_line_add(&m->live_index, &priority_line->line, l);
    } else {
        live_index_line_insert(&m->live_index, &priority_line->line, l,
                               live_index_at(&m->live_index, at));
    }
    queue_lines__wait(m, q, l);
    CHECK(l->in_line);
    return true;
}

void queue_lines__wait(struct machine *m, struct queue *q, struct live_job *l)
{
    heap_set(&q->out_of_order, &l->due, 0);
    queue_lines__note_bytes(m, q);
}

void queue_lines__note_bytes(struct machine *m, struct queue *q)
{
    uint64_t bytes = q->out_of_order.cap * sizeof(struct heap_item) + slots_bytes(&q->slots);
    m->queue_bytes += bytes - q->bytes;
    q->bytes = bytes;
}

void queue_lines__leave(struct machine *m, struct queue *q, struct live_job *l)
{
    if (l->in_line) {
        struct priority_line *priority_line = need_priority_line(q, l->priority);
        if (priority_line->oldest != LIVE_NONE &&
            live_index_at(&m->live_index, priority_line->oldest) == l) {
            priority_line->oldest = l->next;
            while (priority_line->oldest != LIVE_NONE &&
                   heap_node_is_in(&live_index_at(&m->live_index, priority_line->oldest)->due)) {
                priority_line->oldest = live_index_at(&m->live_index, priority_line->oldest)->next;
            }
        }
        live_index_line_remove(&m->live_index, &priority_line->line, l);
        CHECK(priority_line->oldest == LIVE_NONE || priority_line->line.count > 0);
    }
    heap_remove(&q->out_of_order, &l->due);
    CHECK(!l->in_line);
    CHECK(!heap_node_is_in(&l->due));
}

struct live_job *queue_lines__first_of_priority(const struct machine *m, const struct queue *q,
                                                unsigned priority)
{
    for (unsigned i = 0; i < q->priority_line_count; i++) {
        const struct priority_line *p = &q->priority_lines[i];
        if (p->priority >= priority && p->line.first != LIVE_NONE) {
            return live_index_at(&m->live_index, p->line.first);
        }
    }
    return NULL;
}

struct live_job *queue_lines__first(const struct machine *m, const struct queue *q)
{
    return queue_lines__first_of_priority(m, q, 0);
}

struct id queue_lines__oldest_pending(const struct machine *m, const struct queue *q)
{
    const struct heap_node *out_of_order = heap_first(&q->out_of_order);
    struct id oldest =
        out_of_order == NULL ? ID_NONE : CONTAINER_OF(out_of_order, const struct live_job, due)->id;
    for (unsigned i = 0; i < q->priority_line_count; i++) {
        if (q->priority_lines[i].oldest != LIVE_NONE) {
            struct id id = live_index_at(&m->live_index, q->priority_lines[i].oldest)->id;
            oldest = id_is_none(oldest) || id_cmp(id, oldest) < 0 ? id : oldest;
        }
    }
    return oldest;
}
