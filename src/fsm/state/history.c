/*
 * History: counts events in the open cells of their queue, of its namespace and of all queues. When
 * the minute of a cell is over, the next event first moves the cell to the series.
 *
 * Open cells are kept in memory as a cache of their records; what is written does not depend on
 * which cells are cached. An entry writes each cell at most once, however many jobs it has.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

/* Entries before this version are not counted: they keep their old effect when a log is applied. */
enum { FIRST_ENTRY_VERSION = 3 };

/* Cells in memory. If there are more, all of them are dropped at the end of an entry. */
enum { CELLS_MAX = 4096 };

/* What a cell may add to the cost of an entry: it is written as an open cell, as a minute and as
 * part of an hour. */
enum { CELL_COST_BYTES = 3 * 512 };

struct history_cell {
    struct map_node node; /* by name */
    uint32_t minute;
    bool dirty;
    bool gone; /* its queue was deleted; the cell is closed at the end of this entry */
    struct history_cell *dirty_next;
    struct store_history sums;
    uint64_t hour_index; /* entry that wrote `hour`; unreadable until it is committed */
    uint32_t hour_number;
    size_t hour_bytes;
    struct store_history hour;
    char name[];
};

static uint32_t minute_of(struct wall at)
{
    return (uint32_t)(at.ns / (60 * NS_PER_S));
}

static bool is_counted(const struct machine *m)
{
    return m->entry_version >= FIRST_ENTRY_VERSION;
}

static struct history_cell *cell_new(struct machine *m, struct str name)
{
    struct history_cell *c = calloc(1, sizeof *c + name.len + 1);
    CHECK(c != NULL);
    if (name.len > 0) {
        memcpy(c->name, name.ptr, name.len);
    }
    c->node.key = str_from(c->name, name.len);
    map_add(&m->history, &c->node);
    if (!store_history_open_get(&m->store, name, &c->minute, &c->sums)) {
        c->minute = minute_of(m->now);
    }
    return c;
}

static bool is_empty(const struct store_history *h)
{
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        if (h->count[i] != 0) {
            return false;
        }
    }
    return h->depth_max == 0;
}

/* Add the cell to a bucket of a series, and update the size of the series. */
static void add_to(struct machine *m, enum store_history_step step, uint32_t number,
                   struct history_cell *c, struct store_history *sums, size_t *bytes)
{
    uint64_t *all = &m->history_bytes[step];
    store_history_merge(sums, &c->sums);
    CHECK(*all >= *bytes);
    *all -= *bytes;
    *bytes = store_history_put(&m->store, step, number, c->node.key, sums);
    *all += *bytes;
    m->history_oldest[step] = number < m->history_oldest[step] ? number : m->history_oldest[step];
}

/* Close the cell, because its minute is over or its queue was deleted: add it to both series. */
static void close_cell(struct machine *m, struct history_cell *c)
{
    struct store_history minute = {0};
    uint32_t hour = c->minute / 60;
    size_t bytes = 0;
    if (!is_empty(&c->sums)) {
        (void)store_history_get(&m->store, STORE_HISTORY_MINUTE, c->minute, c->node.key, &minute,
                                &bytes);
        add_to(m, STORE_HISTORY_MINUTE, c->minute, c, &minute, &bytes);
        if (c->hour_index != m->index || c->hour_number != hour) {
            c->hour = (struct store_history){0};
            c->hour_bytes = 0;
            (void)store_history_get(&m->store, STORE_HISTORY_HOUR, hour, c->node.key, &c->hour,
                                    &c->hour_bytes);
        }
        add_to(m, STORE_HISTORY_HOUR, hour, c, &c->hour, &c->hour_bytes);
        c->hour_index = m->index;
        c->hour_number = hour;
        m->history_closed++;
    }
    c->sums = (struct store_history){
        .depth = c->sums.depth, .depth_max = c->sums.depth, .oldest_at_ms = c->sums.oldest_at_ms};
    c->minute = minute_of(m->now);
}

/* Update the maximum age of the oldest job, before or after a change. */
static void note_age(const struct machine *m, struct history_cell *c)
{
    struct store_history *h = &c->sums;
    uint64_t age = store_history_age_ms(h, m->now.ns / NS_PER_MS);
    h->oldest_max_ms = age > h->oldest_max_ms ? age : h->oldest_max_ms;
}

static struct history_cell *need_cell(struct machine *m, struct str name)
{
    struct map_node *n = map_find(&m->history, name);
    struct history_cell *c =
        n != NULL ? CONTAINER_OF(n, struct history_cell, node) : cell_new(m, name);
    if (!c->dirty) {
        if (c->minute != minute_of(m->now)) {
            close_cell(m, c);
        }
        note_age(m, c);
        c->dirty = true;
        c->dirty_next = m->history_dirty;
        m->history_dirty = c;
        m->extra_bytes += CELL_COST_BYTES;
    }
    return c;
}

/* The prefix "<namespace>::" of an internal name; empty in the default namespace. */
static struct str namespace_of(struct str queue)
{
    for (size_t i = 0; i + 2 < queue.len && i <= LIMIT_NAMESPACE_BYTES; i++) {
        if (queue.ptr[i] == ':' && queue.ptr[i + 1] == ':') {
            return str_from(queue.ptr, i + 2);
        }
    }
    return STR_EMPTY;
}

/* Return the cells that count an event of this queue. Those of the last event are cached. */
static const struct history_cells *cells_of(struct machine *m, struct str queue)
{
    struct history_cells *cells = &m->history_cells;
    if (cells->count > 0 && str_eq(cells->cell[0]->node.key, queue)) {
        return cells;
    }
    struct str ns = namespace_of(queue);
    struct history_cell *all = cells->count > 0 ? cells->cell[1] : need_cell(m, STR_EMPTY);
    *cells = (struct history_cells){{need_cell(m, queue), all, NULL}, 2};
    if (ns.len > 0) {
        cells->cell[cells->count++] = need_cell(m, ns);
    }
    return cells;
}

/* The counter of a type of event. STORE_HISTORY_COUNTS if it has none: only the depth may have
 * changed. */
static enum store_history_count counter_of(enum store_event_type type)
{
    switch ((int)type) {
    case STORE_EVENT_ENQUEUED:
        return STORE_HISTORY_ENQUEUED;
    case STORE_EVENT_STARTED:
        return STORE_HISTORY_STARTED;
    case STORE_EVENT_COMPLETED:
        return STORE_HISTORY_COMPLETED;
    case STORE_EVENT_FAILED:
        return STORE_HISTORY_FAILED;
    case STORE_EVENT_RETRYING:
        return STORE_HISTORY_RETRIED;
    case STORE_EVENT_DEAD:
        return STORE_HISTORY_DEAD;
    case STORE_EVENT_CANCELLED:
        return STORE_HISTORY_CANCELLED;
    case STORE_EVENT_EXPIRED:
        return STORE_HISTORY_EXPIRED;
    default:
        return STORE_HISTORY_COUNTS;
    }
}

void history__event(struct machine *m, enum store_event_type type, struct str queue)
{
    enum store_history_count counter = counter_of(type);
    if (type == STORE_EVENT_PROGRESS || !is_counted(m)) {
        return;
    }
    const struct history_cells *cells = cells_of(m, queue);
    for (unsigned i = 0; i < cells->count && counter < STORE_HISTORY_COUNTS; i++) {
        cells->cell[i]->sums.count[counter]++;
    }
}

void history__moved(struct machine *m, struct str queue)
{
    if (m->entry_version >= COMMAND_ENTRY_STRICT) {
        (void)cells_of(m, queue); /* the end of the entry updates its depth */
    }
}

static int64_t ms_between(struct wall from, struct wall to)
{
    return (to.ns - from.ns) / NS_PER_MS;
}

void history__waited(struct machine *m, const struct job *j)
{
    if (is_counted(m)) {
        const struct history_cells *cells = cells_of(m, j->queue);
        struct wall since = j->ready_at.ns != 0 ? j->ready_at : j->created_at;
        for (unsigned i = 0; i < cells->count; i++) {
            store_history_time_add(&cells->cell[i]->sums.wait, ms_between(since, m->now));
        }
    }
}

void history__ran(struct machine *m, const struct job *j)
{
    if (is_counted(m) && j->started_at.ns != 0) {
        const struct history_cells *cells = cells_of(m, j->queue);
        for (unsigned i = 0; i < cells->count; i++) {
            store_history_time_add(&cells->cell[i]->sums.run, ms_between(j->started_at, m->now));
        }
    }
}

void history__line_up(const struct machine *m, struct job *j)
{
    if (is_counted(m) && j->order == 0) {
        j->ready_at = j->created_at.ns == m->now.ns ? WALL_NONE : m->now;
    }
}

/* The end of an entry */

/* Creation time of the oldest pending job in ms: of the queue, or of all queues if q is NULL. 0: no
 * job is pending. */
static uint64_t oldest_at(const struct machine *m, const struct queue *q)
{
    int64_t ms = 0;
    return !queues__oldest_ms(m, q, &ms) ? 0 : ms > 0 ? (uint64_t)ms : 1;
}

/* Update the oldest job. An entry that does not write it does not keep it in memory either, because
 * a restart would lose it. */
static void note_oldest(const struct machine *m, struct history_cell *c, const struct queue *q)
{
    c->sums.oldest_at_ms = m->store.oldest ? oldest_at(m, q) : 0;
    if (!m->store.oldest) {
        c->sums.oldest_max_ms = 0;
    }
    note_age(m, c);
}

/* Update the number of pending jobs. It is not counted for a namespace. */
static void note_depth(const struct machine *m, struct history_cell *c)
{
    struct store_history *h = &c->sums;
    if (c->node.key.len == 0) {
        h->depth = m->pending_count;
        h->workers = m->workers.count;
        note_oldest(m, c, NULL);
    } else {
        const struct queue *q = queues__find(m, c->node.key);
        h->depth = q == NULL ? 0 : q->live_count[JOB_PENDING];
        if (q != NULL) {
            note_oldest(m, c, q);
        }
    }
    h->depth_max = h->depth > h->depth_max ? h->depth : h->depth_max;
}

/* Delete old cells, at most two for each new one: enough to shrink a series that is too large. */
static void trim(struct machine *m)
{
    static const uint32_t kept[STORE_HISTORY_STEPS] = {LIMIT_HISTORY_MINUTES, LIMIT_HISTORY_HOURS};
    for (unsigned i = 0; i < STORE_HISTORY_STEPS; i++) {
        int64_t number = m->now.ns / NS_PER_S / store_history_seconds(i);
        uint32_t keep_from = number < kept[i] ? 0 : (uint32_t)number - kept[i];
        struct store_history_bounds bounds = {
            .keep_from = keep_from, .bytes_max = LIMIT_HISTORY_BYTES, .max = 2 * m->history_closed};
        m->history_bytes[i] -=
            store_history_trim(&m->store, i, &m->history_from[i], m->history_bytes[i], bounds);
        /* The cells written by this entry are not committed, so the trim did not see them. */
        if (m->history_oldest[i] < m->history_from[i]) {
            m->history_from[i] = m->history_oldest[i];
        }
        m->history_oldest[i] = UINT32_MAX;
    }
}

static void forget(struct map_node *n, void *data)
{
    struct machine *m = data;
    map_remove(&m->history, n);
    free(CONTAINER_OF(n, struct history_cell, node));
}

void history__drop(struct machine *m, struct str queue)
{
    if (is_counted(m)) {
        need_cell(m, queue)->gone = true;
    }
}

void history__write(struct machine *m)
{
    while (m->history_dirty != NULL) {
        struct history_cell *c = m->history_dirty;
        m->history_dirty = c->dirty_next;
        c->dirty = false;
        if (c->gone) {
            if (m->entry_version >= COMMAND_ENTRY_STRICT) {
                c->sums.depth = 0;
                c->sums.oldest_at_ms = 0;
            }
            close_cell(m, c);
            store_history_open_delete(&m->store, c->node.key);
            forget(&c->node, m);
            continue;
        }
        note_depth(m, c);
        store_history_open_put(&m->store, c->node.key, c->minute, &c->sums);
    }
    m->history_cells.count = 0;
    if (m->history_closed > 0) {
        trim(m);
        store_history_sizes_put(&m->store, m->history_bytes);
        m->history_closed = 0;
    }
    if (m->history.count > CELLS_MAX) {
        map_each(&m->history, forget, m);
    }
}

void history__load(struct machine *m)
{
    store_history_sizes_get(&m->store, m->history_bytes);
    for (unsigned i = 0; i < STORE_HISTORY_STEPS; i++) {
        m->history_oldest[i] = UINT32_MAX;
    }
}

void history__close(struct machine *m)
{
    map_each(&m->history, forget, m);
    map_deinit(&m->history);
}
