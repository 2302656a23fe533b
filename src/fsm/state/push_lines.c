/*
 * Push lines: the jobs that wait for the server to deliver them, by queue, priority and target
 * host.
 *
 * Each host has its own line, so that jobs for a host that hangs or is down wait without blocking
 * others and without using up attempts. A line exists while it contains jobs.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "fsm/command/push_target.h"

/* Queue, NUL, priority, host. */
enum { KEY_BYTES_MAX = LIMIT_INTERNAL_NAME_BYTES + 2 + LIMIT_PUSH_HOST_BYTES };

static void key_of(struct str queue, uint8_t priority, struct str host, struct buf *out)
{
    buf_add_str(out, queue);
    buf_add_char(out, '\0');
    buf_add_char(out, (char)priority);
    buf_add_str(out, host);
}

struct push_line *push_lines__find(const struct machine *m, struct str queue, uint8_t priority,
                                   struct str host)
{
    struct buf key;
    buf_init(&key, KEY_BYTES_MAX);
    key_of(queue, priority, host, &key);
    struct map_node *n = key.overflow ? NULL : map_find(&m->push_line_names, buf_str(&key));
    buf_deinit(&key);
    return n == NULL ? NULL : CONTAINER_OF(n, struct push_line, node);
}

static uint32_t free_number(struct machine *m)
{
    if (m->push_line_free > 0) {
        uint32_t number = m->push_line_unused[--m->push_line_free];
        CHECK(m->push_lines[number] == NULL);
        return number;
    }
    if (m->push_line_count == m->push_line_cap) {
        m->push_line_cap = m->push_line_cap == 0 ? 64 : m->push_line_cap * 2;
        m->push_lines = realloc(m->push_lines, m->push_line_cap * sizeof(struct push_line *));
        m->push_line_unused = realloc(m->push_line_unused, m->push_line_cap * sizeof(uint32_t));
        CHECK(m->push_lines != NULL && m->push_line_unused != NULL);
    }
    CHECK(m->push_line_count < m->push_line_cap);
    return m->push_line_count++;
}

static struct push_line *need(struct machine *m, const struct queue *q, const struct job *j)
{
    struct buf host;
    struct buf key;
    buf_init(&host, LIMIT_PUSH_HOST_BYTES);
    buf_init(&key, KEY_BYTES_MAX);
    push_target_host(j->push, &host);
    key_of(q->node.key, j->priority, buf_str(&host), &key);
    CHECK(!key.overflow);
    struct map_node *known = map_find(&m->push_line_names, buf_str(&key));
    struct push_line *line = known == NULL ? NULL : CONTAINER_OF(known, struct push_line, node);
    if (line == NULL) {
        line = calloc(1, sizeof *line + key.len);
        CHECK(line != NULL);
        memcpy(line->key, key.ptr, key.len);
        line->node.key = str_from(line->key, key.len);
        line->host = str_from(line->key + key.len - host.len, host.len);
        line->queue = q->number;
        line->priority = j->priority;
        line->line = live_line_empty();
        line->number = free_number(m);
        m->push_lines[line->number] = line;
        map_add(&m->push_line_names, &line->node);
    }
    buf_deinit(&host);
    buf_deinit(&key);
    return line;
}

static void drop(struct machine *m, struct push_line *line)
{
    CHECK(line->line.count == 0);
    CHECK(m->push_lines[line->number] == line);
    CHECK(m->push_line_free < m->push_line_count);
    map_remove(&m->push_line_names, &line->node);
    m->push_lines[line->number] = NULL;
    m->push_line_unused[m->push_line_free++] = line->number;
    free(line);
}

void push_lines__choose(struct machine *m, const struct queue *q, struct live_job *l,
                        const struct job *j)
{
    CHECK(l->push_line == 0);
    l->push_line = need(m, q, j)->number + 1;
}

/* queue_lines__wait adds the job to those among which queue_lines__oldest_pending searches. */
void push_lines__stand(struct machine *m, struct queue *q, struct live_job *l)
{
    CHECK(l->push_line > 0);
    CHECK(l->push_line <= m->push_line_count);
    struct push_line *line = m->push_lines[l->push_line - 1];
    CHECK(line != NULL);
    CHECK(line->queue == q->number);
    CHECK(line->priority == l->priority);
    live_index_line_add(&m->live_index, &line->line, l);
    queue_lines__wait(m, q, l);
    queues__push_ready(m);
}

void push_lines__leave(struct machine *m, struct queue *q, struct live_job *l)
{
    CHECK(l->push_line > 0);
    CHECK(l->push_line <= m->push_line_count);
    struct push_line *line = m->push_lines[l->push_line - 1];
    CHECK(line != NULL);
    CHECK(line->queue == q->number);
    live_index_line_remove(&m->live_index, &line->line, l);
    heap_remove(&q->out_of_order, &l->due);
    l->push_line = 0;
    if (line->line.count == 0) {
        drop(m, line);
    }
}

void push_lines__each(struct machine *m, struct wall now, uint32_t first,
                      bool (*fn)(void *data, const struct machine_push_line *l), void *data)
{
    for (uint32_t i = first; i < m->push_line_count; i++) {
        const struct push_line *line = m->push_lines[i];
        if (line == NULL || line->line.count == 0) {
            continue;
        }
        const struct queue *q = m->queues[line->queue];
        CHECK(q != NULL);
        CHECK(line->number == i);
        if (!fn(data, &(struct machine_push_line){.queue = q->node.key,
                                                  .host = line->host,
                                                  .priority = line->priority,
                                                  .number = i,
                                                  .waiting = line->line.count,
                                                  .places = queue_limits__places(q, now)})) {
            return;
        }
    }
}

struct wall push_lines__throttled_until(const struct machine *m, struct wall now)
{
    struct wall first = WALL_NONE;
    for (uint32_t i = 0; i < m->push_line_count; i++) {
        const struct push_line *line = m->push_lines[i];
        if (line != NULL && line->line.count > 0) {
            struct wall until = queue_limits__throttled_until(m->queues[line->queue], now);
            first = until.ns != 0 && (first.ns == 0 || until.ns < first.ns) ? until : first;
        }
    }
    return first;
}

void push_lines__open(struct machine *m)
{
    map_init(&m->push_line_names);
}

void push_lines__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->push_line_count; i++) {
        free(m->push_lines[i]);
    }
    free(m->push_lines);
    free(m->push_line_unused);
    map_deinit(&m->push_line_names);
}
