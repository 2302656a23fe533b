/*
 * Releases: a job completed, and the jobs that waited for it continue.
 *
 * Thousands of jobs may wait for one job. If the entry in which it completes has no room for all of
 * them, ticks release the others, in the order of their ids. Until then, a record lists the
 * completed job.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

/* Read the waiter, with `done` removed from its list. False if it does not wait for `done`. In that
 * case the read does not count as cost of the entry, because only some nodes have the waiter in
 * their table. */
static bool find_waiting(struct machine *m, struct id waiter, struct id done, struct job *out,
                         enum store_family *out_family)
{
    uint64_t read = store_docs_read_bytes(m->store.docs);
    if (!dependencies__may_wait(m, waiter) || !job_read__get(m, waiter, out, out_family)) {
        return false;
    }
    struct str left = dependencies__without(m, out->waits_for, done);
    if (left.len == out->waits_for.len) {
        m->extra_bytes -= store_docs_read_bytes(m->store.docs) - read;
        return false;
    }
    out->waits_for = left;
    return true;
}

/* Release waiters, up to the limit and as far as the entry has room. True if none are left. */
static bool let_go(struct machine *m, struct dependency *d, uint32_t limit, uint32_t *count)
{
    if (!d->sorted) {
        dependencies__sort(d);
    }
    CHECK(d->first <= d->count);
    for (; d->first < d->count; d->first++) {
        bool stop = *count == limit || entry__is_full(m);
        struct job j;
        enum store_family family;
        if (!find_waiting(m, d->waiters[d->first], d->id, &j, &family)) {
            continue;
        }
        if (stop) {
            return false;
        }
        jobs__write(m, &j, family);
        (*count)++;
    }
    CHECK(d->first == d->count);
    return true;
}

static void remove_record(struct machine *m, struct dependency *d)
{
    if (heap_node_is_in(&d->release)) {
        store_delete(&m->store, STORE_KIND_RELEASE, d->node.key);
        heap_remove(&m->releases, &d->release);
    }
}

void releases__completed(struct machine *m, struct id done)
{
    struct dependency *d = dependencies__find(m, done);
    uint32_t count = 0;
    if (d == NULL) {
        return;
    }
    if (let_go(m, d, m->entry_version < 2 ? UINT32_MAX : LIMIT_TICK_JOBS, &count)) {
        dependencies__drop(m, d);
        return;
    }
    char version = PARTS_RELEASE_VERSION;
    store_put(&m->store, STORE_KIND_RELEASE, d->node.key, str_from(&version, 1));
    heap_set(&m->releases, &d->release, 0);
    CHECK(d->first < d->count); /* waiters are left */
}

uint32_t releases__continue(struct machine *m, uint32_t limit)
{
    struct heap_node *first;
    uint32_t count = 0;
    while ((first = heap_first(&m->releases)) != NULL) {
        struct dependency *d = CONTAINER_OF(first, struct dependency, release);
        if (!let_go(m, d, limit, &count)) {
            break;
        }
        remove_record(m, d);
        CHECK(!heap_node_is_in(&d->release));
        dependencies__drop(m, d);
    }
    CHECK(count <= limit);
    return count;
}

void releases__undo(struct machine *m, struct id id)
{
    struct dependency *d = dependencies__find(m, id);
    if (d != NULL) {
        remove_record(m, d);
    }
}

static void load_release(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    if (rest.len != ID_BYTES || value.len != 1 || value.ptr[0] != PARTS_RELEASE_VERSION) {
        check_fatal("the record of a completed dependency cannot be read");
    }
    heap_set(&m->releases, &dependencies__need(m, id_from_bytes(rest.ptr))->release, 0);
}

static bool release_before(const struct heap_node *a, const struct heap_node *b)
{
    return id_cmp(CONTAINER_OF(a, const struct dependency, release)->id,
                  CONTAINER_OF(b, const struct dependency, release)->id) < 0;
}

void releases__load(struct machine *m)
{
    heap_init(&m->releases, release_before);
    store_each(&m->store, STORE_KIND_RELEASE, load_release, m);
}

void releases__close(struct machine *m)
{
    heap_deinit(&m->releases);
}
