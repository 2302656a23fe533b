#include <stdlib.h>

#include "base/check.h"
#include "hub/hub.h"
#include "rest/rest_numbers_int.h"
#include "rest/sdb/rest_sdb_int.h"

/* Copying, on the core thread */

/* Make room for one more element of the list. If memory runs out, returns NULL and sets v->cut. */
static void *grow(struct rest_numbers *v, void *list, size_t count, size_t size)
{
    void *larger = v->cut ? NULL : rest_call__grow(v->call, list, count, &v->cap, size);
    v->cut = larger == NULL;
    return larger;
}

static struct str copy(struct rest_numbers *v, struct str text)
{
    struct str kept = arena_str(v->call->arena, text);
    v->cut = v->cut || kept.len != text.len;
    return kept;
}

static void add_queue(void *data, const struct machine_queue *q)
{
    struct rest_numbers *v = data;
    if (!rest_names__is_visible(v->call, q->name)) {
        return;
    }
    struct rest_numbers_queue *list = grow(v, v->queues, v->queue_count, sizeof *list);
    if (list == NULL) {
        return;
    }
    struct rest_numbers_queue *row = &list[v->queue_count];
    row->name = copy(v, rest_names__visible(v->call, q->name));
    memcpy(row->count, q->count, sizeof row->count);
    v->queues = list;
    v->queue_count++;
}

static void count_worker(void *data, const struct machine_worker *w)
{
    struct rest_numbers *v = data;
    v->worker_count++;
    v->worker_active_count += wall_add_ms(w->last_heartbeat, REST_NUMBERS_ACTIVE_MS).ns > v->now.ns;
}

static void look(struct rest_call *c, struct machine *m)
{
    struct rest_numbers *v = c->data;
    v->now = engine_time(c->rest->config.engine);
    engine_status_here(c->rest->config.engine, &v->engine);
    engine_cluster_status(c->rest->config.engine, v->cluster);
    v->throughput = *machine_throughput(m);
    v->done_until = machine_next_tick(m);
    if (v->done_until.ns > v->now.ns) {
        v->done_until = v->now;
    }
    if ((v->parts & REST_NUMBERS_COUNTS) != 0) {
        machine_each_worker(m, count_worker, v);
        v->kept = machine_kept(m);
        rest_sdb_numbers__look(m, c->ns, v->scheduler);
    }
    if ((v->parts & REST_NUMBERS_QUEUES) != 0) {
        v->cap = 0;
        machine_each_queue(m, add_queue, v);
    }
}

/* Numbers that do not need the core thread, on the call's thread */

static int compare_queues(const void *a, const void *b)
{
    return str_cmp(((const struct rest_numbers_queue *)a)->name,
                   ((const struct rest_numbers_queue *)b)->name);
}

static void sum_http(const struct rest *a, struct http_stats *out)
{
    const struct http_server *server = a->server;
    for (unsigned i = 0; server != NULL && i < http_server_threads(server); i++) {
        struct http_stats one;
        http_server_stats(server, i, &one);
#define ADD(name) out->name += one.name;
        HTTP_STATS_LIST(ADD)
#undef ADD
    }
}

/* Read the ended ones first, so that they never exceed the total. */
static void look_at_streams(const struct rest *a, struct rest_numbers *v)
{
    v->streams_ended = atomic_load(&a->hub_counts->ended);
    v->streams_total = atomic_load(&a->hub_counts->streams);
    v->streams_cut = atomic_load(&a->hub_counts->cut);
    v->stream_events = atomic_load(&a->hub_counts->events);
}

static void looked(struct rest_call *c)
{
    struct rest_numbers *v = c->data;
    if (v->queue_count > 0) {
        qsort(v->queues, v->queue_count, sizeof *v->queues, compare_queues);
    }
    if (c->rest->config.front != NULL) {
        v->forwarded = atomic_load(&c->rest->config.front->forwarded_total);
        v->forward_retries = atomic_load(&c->rest->config.front->retried_total);
        v->forward_failures = atomic_load(&c->rest->config.front->failed_total);
    }
    if ((v->parts & REST_NUMBERS_COUNTS) != 0) {
        os_process_usage(&v->process);
        sum_http(c->rest, &v->http);
        look_at_streams(c->rest, v);
        if (c->rest->config.webhooks != NULL) {
            webhook_stats(c->rest->config.webhooks, &v->webhooks);
        }
        if (c->rest->push != NULL) {
            push_stats(c->rest->push, &v->push);
        }
        if (c->rest->config.rpc != NULL) {
            rpc_numbers(c->rest->config.rpc, &v->rpc);
        }
    }
    v->then(c, v);
}

static void look_at_memory(struct budget *b, struct rest_numbers *v)
{
    if (b != NULL) {
        v->memory_limit = b->limit_bytes;
        v->memory_used = atomic_load(&b->used_bytes);
        v->memory_refused = atomic_load(&b->refused);
    }
}

void rest_numbers__take(struct rest_call *c, unsigned parts,
                        void (*then)(struct rest_call *c, const struct rest_numbers *v))
{
    struct rest_numbers *v = REST_NEW(c, struct rest_numbers);
    v->call = c;
    v->cluster = REST_NEW(c, struct engine_cluster_status);
    v->scheduler = REST_NEW(c, struct rest_sdb_total);
    v->parts = parts;
    v->then = then;
    v->node_id = c->rest->config.node_id;
    v->raft_store = c->rest->config.raft_store;
    v->http_url = c->rest->server != NULL ? c->rest->url : "";
    v->mirror_async = c->rest->config.mirror_async;
    v->tuning = &c->rest->config.tuning;
    v->settings = engine_settings(c->rest->config.engine);
    look_at_memory(c->rest->config.budget, v);
    v->has_mirror = c->rest->config.view != NULL;
    if (v->has_mirror) {
        view_status(c->rest->config.view, &v->mirror);
    }
    c->data = v;
    rest_call__on_core(c, look, looked);
}
