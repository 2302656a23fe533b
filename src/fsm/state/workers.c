/*
 * Workers: the workers that were seen recently.
 *
 * A fetch writes the worker's row at most once in WORKER_FRESH_MS, unless the worker's queues or
 * its version have changed, so that a busy worker does not cost a write each time. A heartbeat,
 * which causes a write anyway, always updates the row. Rows of workers that were not seen for more
 * than a day are removed.
 *
 * Clients choose the ids, so there are at most LIMIT_WORKERS rows: a new one replaces the one that
 * was not seen for the longest time. Claims of version 1 have neither namespaces nor limits.
 *
 * A row has one name: the id for a worker of the default namespace, "<namespace>::<id>" for others.
 * In the default namespace, an id that looks like one of another namespace is prefixed with "::".
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "json/json_write.h"

enum {
    WORKER_FRESH_MS = 5000,
    WORKER_PRUNE_MS = 24 * 3600 * 1000,
    NAME_BYTES_MAX = LIMIT_NAMESPACE_BYTES + 4 + LIMIT_WORKER_ID_BYTES,
    ESCAPED_MAX = 6, /* maximum bytes of JSON per byte of a name */
};

struct name {
    char bytes[NAME_BYTES_MAX];
    size_t len;
};

static void name_add(struct name *n, struct str s)
{
    if (s.len > 0 && s.len <= sizeof n->bytes - n->len) {
        memcpy(n->bytes + n->len, s.ptr, s.len);
        n->len += s.len;
    }
    CHECK(n->len <= sizeof n->bytes);
}

/* The name of a row. All names of checked commands fit; a part that does not fit is left out. */
static struct str name_of(struct str ns, struct str id, struct name *out)
{
    *out = (struct name){0};
    name_add(out, ns);
    if (ns.len > 0 || str_starts_with(id, QUEUE_NAME_MARK) || queue_name_namespace(id).len > 0) {
        name_add(out, QUEUE_NAME_MARK);
    }
    name_add(out, id);
    return str_from(out->bytes, out->len);
}

static struct worker *find(const struct machine *m, struct str name)
{
    struct map_node *n = map_find(&m->workers, name);
    return n == NULL ? NULL : CONTAINER_OF(n, struct worker, node);
}

static struct worker *worker_new(struct machine *m, struct str name)
{
    struct worker *w = calloc(1, sizeof *w + name.len);
    CHECK(w != NULL);
    memcpy(w->name, name.ptr, name.len);
    w->node.key = str_from(w->name, name.len);
    w->prune = heap_node_out();
    map_add(&m->workers, &w->node);
    return w;
}

static void worker_free(struct machine *m, struct worker *w)
{
    heap_remove(&m->worker_prune, &w->prune);
    map_remove(&m->workers, &w->node);
    CHECK(m->workers.count == m->worker_prune.count);
    free(w->texts);
    free(w);
}

static void set_texts(struct worker *w, struct str hostname, struct str queues, struct str version)
{
    struct str *texts[] = {&w->hostname, &w->queues, &w->version};
    char *old = w->texts;
    w->hostname = hostname;
    w->queues = queues;
    w->version = version;
    w->texts = entry__own_texts(texts, COUNT_OF(texts));
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
                               .version = w->version,
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

/* Bytes of one name in the array, including a comma. */
static size_t name_bytes(struct machine *m, struct str queue)
{
    buf_clear(&m->store.scratch);
    struct json_write w = json_write_to(&m->store.scratch);
    json_write_str(&w, queue);
    json_write_finish(&w);
    return m->store.scratch.len + 1;
}

/* The number of names that fit into a row. For most claims, the upper bound is enough to know. */
static size_t fitting(struct machine *m, const struct command_claim *c)
{
    size_t most = 1;
    size_t len = 1; /* brackets, minus the comma that the first name does not have */
    size_t i = 0;
    for (size_t k = 0; k < c->queue_count; k++) {
        most += c->queues[k].len * ESCAPED_MAX + 3;
    }
    if (most <= LIMIT_WORKER_QUEUES_BYTES) {
        return c->queue_count;
    }
    while (i < c->queue_count && len <= LIMIT_WORKER_QUEUES_BYTES) {
        len += name_bytes(m, c->queues[i++]);
    }
    return len <= LIMIT_WORKER_QUEUES_BYTES ? i : i - 1;
}

/* The names as a JSON array, as clients see them. Valid until the scratch buffer is used again. */
static struct str queues_json(struct machine *m, const struct str *queues, size_t count)
{
    buf_clear(&m->store.scratch);
    struct json_write w = json_write_to(&m->store.scratch);
    json_write_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_write_str(&w, queues[i]);
    }
    json_write_end(&w);
    json_write_finish(&w);
    return buf_str(&m->store.scratch);
}

static struct str kept_queues(struct machine *m, const struct command_claim *c)
{
    return queues_json(m, c->queues, fitting(m, c));
}

bool workers__is_stale(struct machine *m, const struct command_claim *c, struct wall now)
{
    struct name name;
    const struct worker *w = find(m, name_of(c->ns, c->worker_id, &name));
    return c->worker_id.len > 0 && (w == NULL || is_stale(w, now, WORKER_FRESH_MS) ||
                                    (c->version.len > 0 && !str_eq(w->version, c->version)) ||
                                    !str_eq(w->queues, kept_queues(m, c)));
}

static void remove_worker(struct machine *m, struct worker *w)
{
    store_delete(&m->store, STORE_KIND_WORKER, w->node.key);
    worker_free(m, w);
}

static void make_room(struct machine *m)
{
    const struct heap_node *first;
    for (unsigned i = 0; i < LIMIT_TICK_JOBS && m->workers.count >= LIMIT_WORKERS &&
                         (first = heap_first(&m->worker_prune)) != NULL;
         i++) {
        remove_worker(m, CONTAINER_OF(first, struct worker, prune));
    }
}

static void see(struct machine *m, struct worker *w, struct str name, const struct command_claim *c,
                struct str queues)
{
    if (w == NULL) {
        w = worker_new(m, name);
        w->started_at = m->now;
    }
    bool another = c->version.len > 0 && !str_eq(c->version, w->version);
    set_texts(w, c->hostname, queues, another ? c->version : w->version);
    seen_now(m, w, m->now);
    CHECK(m->workers.count == m->worker_prune.count);
    write_row(m, w);
    if (another) {
        markers__first_seen(m, STORE_MARKER_WORKER, c->ns, c->version);
    }
}

static void seen_1(struct machine *m, const struct command_claim *c)
{
    struct worker *w = find(m, c->worker_id);
    if (c->worker_id.len > 0 && (w == NULL || is_stale(w, m->now, WORKER_FRESH_MS))) {
        see(m, w, c->worker_id, c, queues_json(m, c->queues, c->queue_count));
    }
}

void workers__seen(struct machine *m, const struct command_claim *c)
{
    if (m->version < 2) {
        seen_1(m, c);
    } else if (workers__is_stale(m, c, m->now)) {
        struct name bytes;
        struct str name = name_of(c->ns, c->worker_id, &bytes);
        struct worker *w = find(m, name);
        if (w == NULL) {
            make_room(m);
        }
        see(m, w, name, c, kept_queues(m, c));
    }
}

struct str workers__version(const struct machine *m, struct str ns, struct str id)
{
    struct name name;
    const struct worker *w = id.len == 0 ? NULL : find(m, name_of(ns, id, &name));
    return w == NULL ? STR_EMPTY : w->version;
}

void workers__heartbeat(struct machine *m, struct str ns, struct str id)
{
    struct name name;
    struct worker *w = id.len == 0 ? NULL : find(m, m->version < 2 ? id : name_of(ns, id, &name));
    if (w != NULL) {
        seen_now(m, w, m->now);
        write_row(m, w);
    }
}

void workers__prune(struct machine *m, unsigned limit)
{
    struct heap_node *first;
    for (; limit > 0 && (first = heap_first_until(&m->worker_prune, m->now.ns - 1)) != NULL;
         limit--) {
        remove_worker(m, CONTAINER_OF(first, struct worker, prune));
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
    struct str ns = queue_name_namespace(n->key);
    bool marked = ns.len > 0 || str_starts_with(n->key, QUEUE_NAME_MARK);
    struct str id = marked ? str_from_offset(n->key, ns.len + QUEUE_NAME_MARK.len) : n->key;
    each->fn(each->data, &(struct machine_worker){.ns = ns,
                                                  .id = id,
                                                  .hostname = w->hostname,
                                                  .queues = w->queues,
                                                  .version = w->version,
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
    set_texts(w, rec.hostname, rec.queues, rec.version);
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
