/*
 * Promises: jobs that were returned to a request instead of a new one, because they hold its unique
 * key or its name, while a clear or delete of their queue, or a bulk operation with a filter that
 * ends jobs, may be about to reach them.
 *
 * Such an operation began before the request and must leave these jobs, because the client will not
 * repeat its request. Each of them has a record with the time of the answer, which is kept as long
 * as the job. A job that was created after the last such operation needs no record.
 */
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply/apply_int.h"

struct promise {
    struct map_node node;
    struct id job;
    struct id since; /* the time of the answer, as an id */
};

static struct promise *find(const struct machine *m, struct id job)
{
    struct map_node *n =
        m->promises.count == 0 ? NULL : map_find(&m->promises, str_from(job.b, ID_BYTES));
    return n == NULL ? NULL : CONTAINER_OF(n, struct promise, node);
}

static struct promise *add(struct machine *m, struct id job)
{
    struct promise *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    p->job = job;
    p->node.key = str_from(p->job.b, ID_BYTES);
    map_add(&m->promises, &p->node);
    return p;
}

/* May an operation in progress end the job? */
static bool is_threatened(const struct machine *m, struct id job, const struct queue *q)
{
    return queues__may_remove(m, q, job) || (m->entry_version >= COMMAND_ENTRY_SPARING &&
                                             queues__is_before(m, job, m->newest_ending));
}

void promises__make(struct machine *m, struct id job, struct str queue)
{
    const struct queue *q = queues__find(m, queue);
    if (m->entry_version < COMMAND_ENTRY_EXACT || q == NULL || !is_threatened(m, job, q)) {
        return;
    }
    struct promise *p = find(m, job);
    if (p == NULL) {
        p = add(m, job);
    }
    p->since = jobs__last_id(m);
    store_put(&m->store, STORE_KIND_PROMISE, p->node.key, str_from(p->since.b, ID_BYTES));
}

struct id promises__since(const struct machine *m, struct id job)
{
    const struct promise *p = find(m, job);
    return p == NULL ? ID_NONE : p->since;
}

static void forget(struct map_node *n, void *data)
{
    struct machine *m = data;
    map_remove(&m->promises, n);
    free(CONTAINER_OF(n, struct promise, node));
}

void promises__removed(struct machine *m, struct id job)
{
    struct promise *p = find(m, job);
    if (p != NULL) {
        store_delete(&m->store, STORE_KIND_PROMISE, p->node.key);
        forget(&p->node, m);
    }
}

static void load_one(void *data, struct str rest, struct str value)
{
    if (rest.len != ID_BYTES || value.len != ID_BYTES) {
        check_fatal("the record of a promised job cannot be read");
    }
    add(data, id_from_bytes(rest.ptr))->since = id_from_bytes(value.ptr);
}

void promises__load(struct machine *m)
{
    map_init(&m->promises);
    store_each(&m->store, STORE_KIND_PROMISE, load_one, m);
}

void promises__close(struct machine *m)
{
    map_each(&m->promises, forget, m);
    map_deinit(&m->promises);
}
