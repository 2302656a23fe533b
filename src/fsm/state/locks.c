/*
 * Unique locks: while a job holds the lock on a key of its queue, the queue accepts no other job
 * with that key.
 */
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply/apply_int.h"

static struct lock *find_by(const struct machine *m, struct str composed)
{
    struct map_node *n = map_find(&m->locks, composed);
    return n == NULL ? NULL : CONTAINER_OF(n, struct lock, node);
}

static struct lock *find(const struct machine *m, struct str queue, struct str key)
{
    struct buf composed;
    buf_init(&composed, STORE_LOCK_KEY_BYTES_MAX);
    struct lock *l = find_by(m, store_record_lock_key(queue, key, &composed));
    buf_deinit(&composed);
    return l;
}

const struct lock *locks__running(const struct machine *m, struct str queue, struct str key)
{
    const struct lock *l = find(m, queue, key);
    return l != NULL && heap_key(&m->lock_expiry, &l->expiry) > m->now.ns ? l : NULL;
}

static bool expires_before(const struct heap_node *a, const struct heap_node *b)
{
    return str_cmp(CONTAINER_OF(a, const struct lock, expiry)->node.key,
                   CONTAINER_OF(b, const struct lock, expiry)->node.key) < 0;
}

static struct lock *lock_new(struct machine *m, struct str composed)
{
    struct lock *l = calloc(1, sizeof *l + composed.len);
    CHECK(l != NULL);
    CHECK(composed.ptr != NULL);
    memcpy(l->key, composed.ptr, composed.len);
    l->node.key = str_from(l->key, composed.len);
    l->expiry = heap_node_out();
    map_add(&m->locks, &l->node);
    return l;
}

static void lock_free(struct machine *m, struct lock *l)
{
    heap_remove(&m->lock_expiry, &l->expiry);
    map_remove(&m->locks, &l->node);
    CHECK(m->locks.count == m->lock_expiry.count);
    free(l);
}

static void write_lock(struct machine *m, struct lock *l)
{
    CHECK(heap_node_is_in(&l->expiry));
    struct store_lock rec = {.job = l->job,
                             .expires_at = {.ns = heap_key(&m->lock_expiry, &l->expiry)}};
    buf_clear(&m->store.scratch);
    store_record_encode_lock(&rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_LOCK, l->node.key, buf_str(&m->store.scratch));
}

static void take(struct machine *m, struct str queue, const struct job *j, struct wall expires_at)
{
    struct buf composed;
    buf_init(&composed, STORE_LOCK_KEY_BYTES_MAX);
    struct str key = store_record_lock_key(queue, j->unique_key, &composed);
    struct lock *l = find_by(m, key);
    if (l == NULL) {
        l = lock_new(m, key);
    }
    l->job = j->id;
    heap_set(&m->lock_expiry, &l->expiry, expires_at.ns);
    write_lock(m, l);
    CHECK(m->locks.count == m->lock_expiry.count);
    buf_deinit(&composed);
}

void locks__take(struct machine *m, const struct job *j)
{
    int64_t period_s = j->unique_period_s > 0 ? j->unique_period_s : JOB_UNIQUE_PERIOD_S;
    int64_t ms;
    if (__builtin_mul_overflow(period_s, 1000, &ms)) {
        ms = INT64_MAX;
    }
    take(m, j->queue, j, wall_add_ms(m->now, ms));
}

/* The lock that j holds; NULL if it holds none. */
static struct lock *held_by(const struct machine *m, const struct job *j)
{
    struct lock *l = j->unique_key.len == 0 ? NULL : find(m, j->queue, j->unique_key);
    return l != NULL && id_eq(l->job, j->id) ? l : NULL;
}

void locks__release(struct machine *m, const struct job *j)
{
    struct lock *l = held_by(m, j);
    if (l != NULL) {
        store_delete(&m->store, STORE_KIND_LOCK, l->node.key);
        lock_free(m, l);
    }
}

void locks__move(struct machine *m, const struct job *j, struct str to_queue)
{
    struct lock *l = held_by(m, j);
    if (l == NULL || str_eq(to_queue, j->queue)) {
        return;
    }
    struct wall expires_at = {.ns = heap_key(&m->lock_expiry, &l->expiry)};
    locks__release(m, j);
    DCHECK(held_by(m, j) == NULL);
    /* If another job holds the key in that queue, it keeps it. */
    if (locks__running(m, to_queue, j->unique_key) == NULL) {
        take(m, to_queue, j, expires_at);
    }
}

void locks__restore(struct machine *m, const struct job *j, struct wall until)
{
    if (locks__running(m, j->queue, j->unique_key) == NULL) {
        take(m, j->queue, j, until);
    }
}

void locks__expire(struct machine *m, unsigned limit)
{
    struct heap_node *first;
    for (; limit > 0 && (first = heap_first_until(&m->lock_expiry, m->now.ns)) != NULL; limit--) {
        struct lock *l = CONTAINER_OF(first, struct lock, expiry);
        store_delete(&m->store, STORE_KIND_LOCK, l->node.key);
        lock_free(m, l);
    }
}

static void load_lock(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_lock rec;
    if (!store_record_decode_lock(value, &rec)) {
        check_fatal("the record of a unique lock cannot be read");
    }
    struct lock *l = lock_new(m, rest);
    l->job = rec.job;
    heap_set(&m->lock_expiry, &l->expiry, rec.expires_at.ns);
}

void locks__load(struct machine *m)
{
    heap_init(&m->lock_expiry, expires_before);
    store_each(&m->store, STORE_KIND_LOCK, load_lock, m);
}

void locks__close(struct machine *m)
{
    while (heap_first(&m->lock_expiry) != NULL) {
        lock_free(m, CONTAINER_OF(heap_first(&m->lock_expiry), struct lock, expiry));
    }
    heap_deinit(&m->lock_expiry);
    map_deinit(&m->locks);
}
