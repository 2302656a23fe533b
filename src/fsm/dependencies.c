/*
 * Dependencies: jobs that wait for others to complete.
 *
 * A waiting job's document lists what it still waits for; from there the table in memory is made,
 * the other way round. It may name jobs that wait no longer, because they were cancelled or
 * removed; those are passed over when the time comes and swept out when they are the most. A job
 * that is over is told nothing: should it come back, it looks at what it waited for itself. So what
 * happens does not depend on when the table was made.
 */
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply_int.h"

enum { WAITERS_FIRST_CAP = 4 };

static struct dependency *find(const struct machine *m, struct id id)
{
    struct map_node *n = map_find(&m->dependencies, str_from(id.b, ID_BYTES));
    return n == NULL ? NULL : CONTAINER_OF(n, struct dependency, node);
}

static struct dependency *need(struct machine *m, struct id id)
{
    struct dependency *d = find(m, id);
    if (d == NULL) {
        d = calloc(1, sizeof *d);
        CHECK(d != NULL);
        d->id = id;
        d->node.key = str_from(d->id.b, ID_BYTES);
        map_add(&m->dependencies, &d->node);
    }
    return d;
}

static void dependency_free(struct machine *m, struct dependency *d)
{
    map_remove(&m->dependencies, &d->node);
    free(d->waiters);
    free(d);
}

/* Keep the jobs that are still there. Whether they still wait is seen when it matters. */
static void sweep(struct machine *m, struct dependency *d)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        if (live_find(&m->live, d->waiters[i]) != NULL) {
            d->waiters[kept++] = d->waiters[i];
        }
    }
    d->count = kept;
}

static void add_waiter(struct machine *m, struct id on, struct id waiter)
{
    struct dependency *d = need(m, on);
    if (d->count == d->cap) {
        sweep(m, d);
        if (d->count > d->cap / 2 || d->cap == 0) {
            d->cap = d->cap == 0 ? WAITERS_FIRST_CAP : d->cap * 2;
            d->waiters = realloc(d->waiters, d->cap * sizeof(struct id));
            CHECK(d->waiters != NULL);
        }
    }
    d->waiters[d->count++] = waiter;
}

static struct id id_at(struct str ids, size_t i)
{
    return id_from_bytes(ids.ptr + i * ID_BYTES);
}

void dependencies__add(struct machine *m, const struct job *j)
{
    CHECK(j->waits_for.len % ID_BYTES == 0);
    for (size_t i = 0; i < j->waits_for.len / ID_BYTES; i++) {
        add_waiter(m, id_at(j->waits_for, i), j->id);
    }
}

bool dependencies__settle(struct machine *m, struct job *j, struct id *out_missing)
{
    char *left = machine__alloc(m, j->waits_for.len);
    size_t len = 0;
    bool complete = true;
    for (size_t i = 0; i < j->waits_for.len / ID_BYTES; i++) {
        struct id id = id_at(j->waits_for, i);
        struct job on;
        enum store_family family;
        bool found = jobs__get(m, id, &on, &family);
        if (!found && complete) {
            complete = false;
            *out_missing = id;
        }
        if (!found || on.state != JOB_COMPLETED) {
            memcpy(left + len, id.b, ID_BYTES);
            len += ID_BYTES;
        }
    }
    j->waits_for = str_from(left, len);
    return complete;
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, ID_BYTES);
}

/* The ids without one of them, in the entry's memory. */
static struct str without(struct machine *m, struct str ids, struct id id)
{
    char *left = machine__alloc(m, ids.len);
    size_t len = 0;
    for (size_t i = 0; i < ids.len / ID_BYTES; i++) {
        struct id other = id_at(ids, i);
        if (!id_eq(other, id)) {
            memcpy(left + len, other.b, ID_BYTES);
            len += ID_BYTES;
        }
    }
    return str_from(left, len);
}

void dependencies__met(struct machine *m, struct id done)
{
    struct dependency *d = find(m, done);
    if (d == NULL) {
        return;
    }
    /* The order in which they come into line must not depend on when this table was built. */
    qsort(d->waiters, d->count, sizeof(struct id), compare_ids);
    for (uint32_t i = 0; i < d->count; i++) {
        struct job j;
        enum store_family family;
        if (!jobs__get(m, d->waiters[i], &j, &family) || family != STORE_LIVE) {
            continue;
        }
        struct str left = without(m, j.waits_for, done);
        if (left.len < j.waits_for.len) {
            j.waits_for = left;
            jobs__write(m, &j, family);
        }
    }
    dependency_free(m, d);
}

static void free_each(struct map_node *n, void *data)
{
    dependency_free(data, CONTAINER_OF(n, struct dependency, node));
}

void dependencies__close(struct machine *m)
{
    map_each(&m->dependencies, free_each, m);
    map_deinit(&m->dependencies);
}
