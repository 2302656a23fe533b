/*
 * Queue_records: queues and their records: created when a job or a setting needs them, written at
 * the end of the entry that changed them, or removed there.
 */
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply/apply_int.h"

static struct queue *queue_new(struct machine *m, struct str name)
{
    struct queue *q = calloc(1, sizeof *q + name.len);
    CHECK(q != NULL);
    CHECK(name.len > 0);
    memcpy(q->name, name.ptr, name.len);
    q->node.key = str_from(q->name, name.len);
    q->active = live_line_empty();
    q->oldest = heap_node_out();
    /* Not ordered by rank: a restored id is from another log, and its rank is unrelated to its
     * time. */
    heap_init(&q->out_of_order, live_index_due_before);
    map_add(&m->queue_names, &q->node);
    /* Numbers of deleted queues are not used again: no live record refers to them, and they are
     * few. */
    CHECK(m->queue_count < UINT32_MAX);
    q->number = m->queue_count++;
    m->queues = realloc(m->queues, m->queue_count * sizeof(struct queue *));
    CHECK(m->queues != NULL);
    m->queues[q->number] = q;
    spaces__enter(m, q);
    return q;
}

static void queue_free(struct machine *m, struct queue *q)
{
    m->queue_bytes -= q->bytes;
    CHECK((q->claims == NULL) == (q->rec.throttle_rate == 0));
    heap_deinit(&q->out_of_order);
    slots_deinit(&q->slots);
    free(q->priority_lines);
    free(q->claims);
    free(q);
}

struct queue *queue_records__need(struct machine *m, struct str name)
{
    struct queue *q = queues__find(m, name);
    if (q == NULL) {
        q = queue_new(m, name);
        q->rec.created_at = m->now;
        queues__touch(m, q);
        spends__queue_made(m, name);
    }
    /* It was deleted in this entry and is used again. */
    if (q->gone) {
        q->gone = false;
        q->rec = (struct store_queue){.created_at = m->now};
        queues__touch(m, q);
        spends__queue_made(m, name);
    }
    m->queue_hint = q;
    return q;
}

void queue_records__write(struct machine *m)
{
    queues__settle_oldest(m);
    while (m->dirty_queues != NULL) {
        struct queue *q = m->dirty_queues;
        m->dirty_queues = q->dirty_next;
        CHECK(q->dirty);
        q->dirty = false;
        if (q->gone) {
            CHECK(machine__in_line(q) == 0);
            CHECK(q->active.count == 0);
            CHECK(q->out_of_order.count == 0);
            CHECK(!heap_node_is_in(&q->oldest));
            store_delete(&m->store, STORE_KIND_QUEUE, q->node.key);
            history__drop(m, q->node.key);
            map_remove(&m->queue_names, &q->node);
            m->queues[q->number] = NULL;
            m->queue_hint = NULL;
            spaces__leave(m, q);
            queue_free(m, q);
            continue;
        }
        buf_clear(&m->store.scratch);
        store_record_encode_queue(&q->rec, &m->store.scratch);
        store_put(&m->store, STORE_KIND_QUEUE, q->node.key, buf_str(&m->store.scratch));
    }
}

static void load_queue(void *data, struct str name, struct str value)
{
    struct machine *m = data;
    struct queue *q = queue_new(m, name);
    if (!store_record_decode_queue(value, &q->rec)) {
        check_fatal("the record of queue '" STR_FMT "' cannot be read", STR_ARG(name));
    }
}

/* Any order is correct: of queues with equally old jobs, only the time is used. */
static bool oldest_before(const struct heap_node *a, const struct heap_node *b)
{
    return CONTAINER_OF(a, const struct queue, oldest)->number <
           CONTAINER_OF(b, const struct queue, oldest)->number;
}

void queue_records__load(struct machine *m)
{
    heap_init(&m->oldest, oldest_before);
    store_each(&m->store, STORE_KIND_QUEUE, load_queue, m);
    queue_limits__load(m);
}

void queue_records__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->queue_count; i++) {
        if (m->queues[i] != NULL) {
            queue_free(m, m->queues[i]);
        }
    }
    heap_deinit(&m->oldest);
    free(m->queues);
    map_deinit(&m->queue_names);
    m->queue_hint = NULL;
}
