#include <stdlib.h>

#include "api/api_numbers_int.h"
#include "api/sdb/api_sdb_int.h"
#include "base/check.h"
#include "hub/hub.h"

/* On the core thread: copying */

/* Room for one more element of the list; NULL, and the numbers are cut, when the call has no
 * memory. */
static void *grow(struct api_numbers *v, void *list, size_t count, size_t size)
{
    void *larger = v->cut ? NULL : api_call__grow(v->call, list, count, &v->cap, size);
    v->cut = larger == NULL;
    return larger;
}

static struct str copy(struct api_numbers *v, struct str text)
{
    struct str kept = arena_str(v->call->arena, text);
    v->cut = v->cut || kept.len != text.len;
    return kept;
}

static void add_queue(void *data, const struct machine_queue *q)
{
    struct api_numbers *v = data;
    if (!api_names__is_visible(v->call, q->name)) {
        return;
    }
    struct api_numbers_queue *list = grow(v, v->queues, v->queue_count, sizeof *list);
    if (list == NULL) {
        return;
    }
    struct api_numbers_queue *row = &list[v->queue_count];
    row->name = copy(v, api_names__visible(v->call, q->name));
    memcpy(row->count, q->count, sizeof row->count);
    v->queues = list;
    v->queue_count++;
}

static void count_worker(void *data, const struct machine_worker *w)
{
    struct api_numbers *v = data;
    v->worker_count++;
    v->worker_active_count += wall_add_ms(w->last_heartbeat, API_NUMBERS_ACTIVE_MS).ns > v->now.ns;
}

static void look(struct api_call *c, struct machine *m)
{
    struct api_numbers *v = c->data;
    v->now = engine_time(c->api->config.engine);
    engine_status_here(c->api->config.engine, &v->engine);
    engine_cluster_status(c->api->config.engine, v->cluster);
    v->throughput = *machine_throughput(m);
    v->done_until = machine_next_tick(m);
    if (v->done_until.ns > v->now.ns) {
        v->done_until = v->now;
    }
    if ((v->parts & API_NUMBERS_COUNTS) != 0) {
        machine_each_worker(m, count_worker, v);
        if (!machine_queue_find(m, v->scheduler_queue, &v->scheduler)) {
            v->scheduler = (struct machine_queue){.paused = false};
        }
        v->scheduler.name = STR_EMPTY;
    }
    if ((v->parts & API_NUMBERS_QUEUES) != 0) {
        v->cap = 0;
        machine_each_queue(m, add_queue, v);
    }
}

/* Back on the call's thread: what needs no core thread */

static int compare_queues(const void *a, const void *b)
{
    return str_cmp(((const struct api_numbers_queue *)a)->name,
                   ((const struct api_numbers_queue *)b)->name);
}

static void sum_http(const struct api *a, struct http_stats *out)
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

/* Ends before beginnings, so that there are never more of them. */
static void look_at_streams(const struct api *a, struct api_numbers *v)
{
    v->streams_ended = atomic_load(&a->hub_counts->ended);
    v->streams_total = atomic_load(&a->hub_counts->streams);
    v->streams_cut = atomic_load(&a->hub_counts->cut);
    v->stream_events = atomic_load(&a->hub_counts->events);
}

static void looked(struct api_call *c)
{
    struct api_numbers *v = c->data;
    if (v->queue_count > 0) {
        qsort(v->queues, v->queue_count, sizeof *v->queues, compare_queues);
    }
    if (c->api->config.front != NULL) {
        v->forwarded = atomic_load(&c->api->config.front->forwarded_total);
        v->forward_retries = atomic_load(&c->api->config.front->retried_total);
        v->forward_failures = atomic_load(&c->api->config.front->failed_total);
    }
    if ((v->parts & API_NUMBERS_COUNTS) != 0) {
        os_process_usage(&v->process);
        sum_http(c->api, &v->http);
        look_at_streams(c->api, v);
        if (c->api->config.webhooks != NULL) {
            webhook_stats(c->api->config.webhooks, &v->webhooks);
        }
        if (c->api->push != NULL) {
            push_stats(c->api->push, &v->push);
        }
        if (c->api->config.rpc != NULL) {
            rpc_numbers(c->api->config.rpc, &v->rpc);
        }
    }
    v->then(c, v);
}

static void look_at_memory(struct budget *b, struct api_numbers *v)
{
    if (b != NULL) {
        v->memory_limit = b->limit_bytes;
        v->memory_used = atomic_load(&b->used_bytes);
        v->memory_refused = atomic_load(&b->refused);
    }
}

void api_numbers__take(struct api_call *c, unsigned parts,
                       void (*then)(struct api_call *c, const struct api_numbers *v))
{
    struct api_numbers *v = API_NEW(c, struct api_numbers);
    v->call = c;
    v->cluster = API_NEW(c, struct engine_cluster_status);
    v->parts = parts;
    v->then = then;
    v->node_id = c->api->config.node_id;
    v->raft_store = c->api->config.raft_store;
    v->http_url = c->api->server != NULL ? c->api->url : "";
    v->mirror_async = c->api->config.mirror_async;
    v->tuning = &c->api->config.tuning;
    v->settings = engine_settings(c->api->config.engine);
    look_at_memory(c->api->config.budget, v);
    v->has_mirror = c->api->config.view != NULL;
    if (v->has_mirror) {
        view_status(c->api->config.view, &v->mirror);
    }
    struct err ignored;
    if (!api_names__internal(c, "queue", API_SDB_QUEUE, &v->scheduler_queue, &ignored)) {
        v->scheduler_queue = STR_EMPTY;
    }
    c->data = v;
    api_call__look(c, look, looked);
}
