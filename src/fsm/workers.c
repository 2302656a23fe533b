/*
 * Workers: who has asked for work lately.
 *
 * A fetch writes a row at most once in WORKER_FRESH_MS, so that a busy worker does not cost a write
 * each time; a heartbeat, which writes anyway, always does. Rows without a sign of life for more
 * than a day go.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply_int.h"
#include "json/json_write.h"

enum { WORKER_FRESH_MS = 5000, WORKER_PRUNE_MS = 24 * 3600 * 1000 };

static struct worker *find(const struct machine *m, struct str id)
{
    struct map_node *n = map_find(&m->workers, id);
    return n == NULL ? NULL : CONTAINER_OF(n, struct worker, node);
}

static struct worker *worker_new(struct machine *m, struct str id)
{
    struct worker *w = calloc(1, sizeof *w + id.len);
    CHECK(w != NULL);
    memcpy(w->id, id.ptr, id.len);
    w->node.key = str_from(w->id, id.len);
    w->prune = heap_node_out();
    map_add(&m->workers, &w->node);
    return w;
}

static void worker_free(struct machine *m, struct worker *w)
{
    heap_remove(&m->worker_prune, &w->prune);
    map_remove(&m->workers, &w->node);
    free(w->texts);
    free(w);
}

static void set_texts(struct worker *w, struct str hostname, struct str queues)
{
    struct str *texts[] = {&w->hostname, &w->queues};
    char *old = w->texts;
    w->hostname = hostname;
    w->queues = queues;
    w->texts = machine__own_texts(texts, COUNT_OF(texts));
    free(old);
}

static void seen_now(struct machine *m, struct worker *w, struct wall now)
{
    w->last_heartbeat = now;
    heap_set(&m->worker_prune, &w->prune, wall_add_ms(now, WORKER_PRUNE_MS).ns);
}

static void write_row(struct machine *m, const struct worker *w)
{
    struct store_worker rec = {.hostname = w->hostname,
                               .queues = w->queues,
                               .started_at = w->started_at,
                               .last_heartbeat = w->last_heartbeat};
    buf_clear(&m->store.scratch);
    store_record_encode_worker(&rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_WORKER, w->node.key, buf_str(&m->store.scratch));
}

static bool is_stale(const struct worker *w, struct wall now, int64_t age_ms)
{
    return wall_add_ms(w->last_heartbeat, age_ms).ns <= now.ns;
}

bool workers__is_stale(const struct machine *m, struct str id, struct wall now)
{
    const struct worker *w = find(m, id);
    return w == NULL || is_stale(w, now, WORKER_FRESH_MS);
}

/* The names as a JSON array, which is how clients see them. */
static struct str queues_json(struct machine *m, const struct str *queues, size_t count)
{
    struct buf out;
    buf_init(&out, LIMIT_OP_BYTES);
    struct json_write w = json_write_to(&out);
    json_write_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_write_str(&w, queues[i]);
    }
    json_write_end(&w);
    json_write_finish(&w);
    return machine__keep(m, &out);
}

void workers__seen(struct machine *m, struct str id, struct str hostname, const struct str *queues,
                   size_t queue_count)
{
    if (id.len == 0) {
        return;
    }
    struct worker *w = find(m, id);
    if (w != NULL && !is_stale(w, m->now, WORKER_FRESH_MS)) {
        return;
    }
    if (w == NULL) {
        w = worker_new(m, id);
        w->started_at = m->now;
    }
    set_texts(w, hostname, queues_json(m, queues, queue_count));
    seen_now(m, w, m->now);
    write_row(m, w);
}

void workers__heartbeat(struct machine *m, struct str id)
{
    struct worker *w = id.len == 0 ? NULL : find(m, id);
    if (w != NULL) {
        seen_now(m, w, m->now);
        write_row(m, w);
    }
}

void workers__prune(struct machine *m, unsigned limit)
{
    struct heap_node *first;
    for (; limit > 0 && (first = heap_first(&m->worker_prune)) != NULL && first->key < m->now.ns;
         limit--) {
        struct worker *w = CONTAINER_OF(first, struct worker, prune);
        store_delete(&m->store, STORE_KIND_WORKER, w->node.key);
        worker_free(m, w);
    }
}

struct each_worker {
    void (*fn)(void *data, const struct machine_worker *w);
    void *data;
};

static void describe_worker(struct map_node *n, void *data)
{
    const struct each_worker *each = data;
    const struct worker *w = CONTAINER_OF(n, struct worker, node);
    each->fn(each->data, &(struct machine_worker){.id = w->node.key,
                                                  .hostname = w->hostname,
                                                  .queues = w->queues,
                                                  .started_at = w->started_at,
                                                  .last_heartbeat = w->last_heartbeat});
}

void workers__each(struct machine *m, void (*fn)(void *data, const struct machine_worker *w),
                   void *data)
{
    map_each(&m->workers, describe_worker, &(struct each_worker){.fn = fn, .data = data});
}

static bool prune_before(const struct heap_node *a, const struct heap_node *b)
{
    return str_cmp(CONTAINER_OF(a, const struct worker, prune)->node.key,
                   CONTAINER_OF(b, const struct worker, prune)->node.key) < 0;
}

static void load_worker(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_worker rec;
    if (!store_record_decode_worker(value, &rec)) {
        check_fatal("the record of worker '" STR_FMT "' cannot be read", STR_ARG(rest));
    }
    struct worker *w = worker_new(m, rest);
    set_texts(w, rec.hostname, rec.queues);
    w->started_at = rec.started_at;
    seen_now(m, w, rec.last_heartbeat);
}

void workers__load(struct machine *m)
{
    heap_init(&m->worker_prune, prune_before);
    store_each(&m->store, STORE_KIND_WORKER, load_worker, m);
}

void workers__close(struct machine *m)
{
    while (heap_first(&m->worker_prune) != NULL) {
        worker_free(m, CONTAINER_OF(heap_first(&m->worker_prune), struct worker, prune));
    }
    heap_deinit(&m->worker_prune);
    map_deinit(&m->workers);
}
