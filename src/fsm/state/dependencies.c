/*
 * Dependencies: jobs that wait for other jobs to complete.
 *
 * The document of a waiting job lists the jobs that it still waits for. The table in memory, which
 * is built from these lists, has the reverse: the waiters of each job. It may contain jobs that no
 * longer wait, because they were cancelled or removed. Those are skipped when the waiters are
 * released. When a list of waiters is full, jobs that cannot wait again are removed from it. So the
 * effect of an entry does not depend on when the table was built.
 *
 * A job that was cancelled or expired while it waited may be retried later. Its dependencies may
 * complete and be removed before that, so its list is updated like that of a waiting job: a record
 * marks such jobs, which keeps them in the table. Jobs that ended in entries before version 11 have
 * no such record. When a job is retried, the jobs on its list are looked up once more; without the
 * record, a dependency that completed and was removed cannot be distinguished from one that never
 * completed.
 */
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply/apply_int.h"
#include "store/store_job.h"

enum { WAITERS_FIRST_CAP = 4 };

struct idle_waiter {
    struct map_node node;
    struct id id;
};

static struct idle_waiter *find_idle(const struct machine *m, struct id id)
{
    struct map_node *n = map_find(&m->idle_waiters, str_from(id.b, ID_BYTES));
    return n == NULL ? NULL : CONTAINER_OF(n, struct idle_waiter, node);
}

static void remember_idle(struct machine *m, struct id id)
{
    struct idle_waiter *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->id = id;
    w->node.key = str_from(w->id.b, ID_BYTES);
    map_add(&m->idle_waiters, &w->node);
}

static void forget_idle(struct map_node *n, void *data)
{
    struct machine *m = data;
    map_remove(&m->idle_waiters, n);
    free(CONTAINER_OF(n, struct idle_waiter, node));
}

struct dependency *dependencies__need(struct machine *m, struct id id)
{
    struct dependency *d = dependencies__find(m, id);
    if (d == NULL) {
        d = calloc(1, sizeof *d);
        CHECK(d != NULL);
        d->id = id;
        d->release = heap_node_out();
        d->node.key = str_from(d->id.b, ID_BYTES);
        map_add(&m->dependencies, &d->node);
    }
    return d;
}

void dependencies__drop(struct machine *m, struct dependency *d)
{
    CHECK(d->count <= d->cap);
    heap_remove(&m->releases, &d->release);
    map_remove(&m->dependencies, &d->node);
    free(d->waiters);
    free(d);
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, ID_BYTES);
}

void dependencies__sort(struct dependency *d)
{
    uint32_t kept = 0;
    CHECK(d->first <= d->count);
    d->count -= d->first;
    memmove(d->waiters, d->waiters + d->first, d->count * sizeof(struct id));
    qsort(d->waiters, d->count, sizeof(struct id), compare_ids);
    for (uint32_t i = 0; i < d->count; i++) {
        if (kept == 0 || !id_eq(d->waiters[kept - 1], d->waiters[i])) {
            d->waiters[kept++] = d->waiters[i];
        }
    }
    d->first = 0;
    d->count = kept;
    d->sorted = true;
}

bool dependencies__may_wait(const struct machine *m, struct id id)
{
    return live_index_find(&m->live_index, id) != NULL || find_idle(m, id) != NULL;
}

/* Remove the waiters that cannot wait any more. Whether the others still wait is checked when they
 * are released. */
static void sweep(struct machine *m, struct dependency *d)
{
    uint32_t kept = 0;
    dependencies__sort(d);
    for (uint32_t i = 0; i < d->count; i++) {
        if (dependencies__may_wait(m, d->waiters[i])) {
            d->waiters[kept++] = d->waiters[i];
        }
    }
    d->count = kept;
}

static void add_waiter(struct machine *m, struct id on, struct id waiter)
{
    struct dependency *d = dependencies__need(m, on);
    if (d->count == d->cap) {
        if (d->cap > 0) {
            sweep(m, d);
        }
        if (d->count > d->cap / 2 || d->cap == 0) {
            d->cap = d->cap == 0 ? WAITERS_FIRST_CAP : d->cap * 2;
            d->waiters = realloc(d->waiters, d->cap * sizeof(struct id));
            CHECK(d->waiters != NULL);
        }
    }
    CHECK(d->count < d->cap);
    d->waiters[d->count++] = waiter;
    d->sorted = false;
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

void dependencies__written(struct machine *m, const struct job *j)
{
    bool waits = job_state_is_terminal(j->state) && j->waits_for.len > 0;
    if (!waits) {
        dependencies__removed(m, j->id);
    } else if (m->entry_version >= COMMAND_ENTRY_STRICT && find_idle(m, j->id) == NULL) {
        char version = PARTS_WAITER_VERSION;
        store_put(&m->store, STORE_KIND_WAITER, str_from(j->id.b, ID_BYTES), str_from(&version, 1));
        remember_idle(m, j->id);
        dependencies__add(m, j); /* the table may not have it, e.g. after a restore */
    }
}

void dependencies__removed(struct machine *m, struct id id)
{
    struct idle_waiter *w = m->idle_waiters.count == 0 ? NULL : find_idle(m, id);
    if (w != NULL) {
        store_delete(&m->store, STORE_KIND_WAITER, w->node.key);
        forget_idle(&w->node, m);
    }
}

bool dependencies__settle(struct machine *m, struct job *j, struct id *out_missing)
{
    char *left = entry__alloc(m, j->waits_for.len);
    size_t len = 0;
    bool complete = true;
    for (size_t i = 0; i < j->waits_for.len / ID_BYTES; i++) {
        struct id id = id_at(j->waits_for, i);
        enum job_state state;
        bool found = job_read__state(m, id, &state);
        if (!found && complete) {
            complete = false;
            *out_missing = id;
        }
        if (!found || state != JOB_COMPLETED) {
            memcpy(left + len, id.b, ID_BYTES);
            len += ID_BYTES;
        }
    }
    j->waits_for = str_from(left, len);
    return complete;
}

struct str dependencies__without(struct machine *m, struct str ids, struct id id)
{
    char *left = entry__alloc(m, ids.len);
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

/* Load an ended job that has dependencies. Its document is in STORE_DONE, which is not read at
 * start. */
static void load_waiter(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct buf doc;
    struct job j;
    struct err err;
    if (rest.len != ID_BYTES || value.len != 1 || value.ptr[0] != PARTS_WAITER_VERSION) {
        check_fatal("the record of a job that is over and has dependencies cannot be read");
    }
    struct id id = id_from_bytes(rest.ptr);
    buf_init(&doc, SIZE_MAX);
    if (!store_docs_read(&m->store, id, &doc) ||
        store_job_decode_head(id, buf_str(&doc), &j, &err) != ERR_OK) {
        check_fatal("a job that is over and has dependencies cannot be read");
    }
    remember_idle(m, id);
    dependencies__add(m, &j);
    buf_deinit(&doc);
}

void dependencies__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_WAITER, load_waiter, m);
}

static void free_each(struct map_node *n, void *data)
{
    dependencies__drop(data, CONTAINER_OF(n, struct dependency, node));
}

void dependencies__close(struct machine *m)
{
    map_each(&m->dependencies, free_each, m);
    map_deinit(&m->dependencies);
    map_each(&m->idle_waiters, forget_idle, m);
    map_deinit(&m->idle_waiters);
}
