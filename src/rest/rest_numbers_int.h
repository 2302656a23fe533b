/*
 * Rest_numbers: the numbers of the node at one moment, for status and metrics.
 *
 * They are read on the core thread between two entries and copied into the call's memory. They are
 * therefore consistent, and writing them does not block the core thread.
 */
#pragma once

#include "engine/engine_cluster.h"
#include "fsm/state/throughput.h"
#include "os/os_process.h"
#include "push/push.h"
#include "rest/rest_int.h"

/* Contract: a worker is active if its last request was within this time. */
enum { REST_NUMBERS_ACTIVE_MS = 5 * 60 * 1000 };

struct rest_numbers_queue {
    struct str name; /* the caller's name of the queue */
    uint64_t count[JOB_STATE_COUNT];
};

struct rest_numbers {
    struct wall now;
    const char *node_id;
    const char *raft_store;
    const char *http_url; /* empty while unknown */
    const struct engine_config *settings;
    struct engine_status engine;
    struct engine_cluster_status *cluster;
    struct throughput throughput;
    bool has_mirror;
    bool mirror_async;
    const struct rest_tuning *tuning;
    struct view_status mirror; /* of the SQLite view; zeros without one */
    struct wall done_until;    /* all work that was due before this time has been done */

    uint64_t forwarded, forward_retries, forward_failures; /* requests to the leader */
    uint64_t memory_limit, memory_used, memory_refused; /* bytes of requests; refused allocations */

    /* REST_NUMBERS_COUNTS */
    uint64_t worker_count;
    uint64_t worker_active_count;
    struct machine_kept kept;
    struct os_process_usage process;
    uint64_t streams_total, streams_ended, streams_cut, stream_events; /* event streams */
    struct webhook_stats webhooks;
    struct push_stats push;
    struct rpc_numbers rpc;
    struct rest_sdb_total *scheduler; /* the queue of the Scheduled-DB API */
    struct http_stats http;           /* sum over all network threads; zeros without a server */

    /* REST_NUMBERS_QUEUES: those visible to the caller */
    struct rest_numbers_queue *queues; /* sorted by name */
    size_t queue_count;
    bool cut; /* incomplete, because the call's memory ran out */

    /* private */
    struct rest_call *call;
    unsigned parts;
    size_t cap;
    void (*then)(struct rest_call *c, const struct rest_numbers *v);
};

enum { REST_NUMBERS_COUNTS = 1, REST_NUMBERS_QUEUES = 2 };

/* Collect the numbers, including the optional parts in `parts`, then call `then` on the call's
 * thread. */
void rest_numbers__take(struct rest_call *c, unsigned parts,
                        void (*then)(struct rest_call *c, const struct rest_numbers *v));

/* rest_metrics.c: write all metrics in the Prometheus text format (http-api.md 20.5). The row of
 * the requesting route is included even for its first request. */
void rest_metrics__write(const struct rest_metrics *m, const struct rest_numbers *v,
                         const struct rest_route *asking, struct buf *out);

/* rest_status.c: write the cluster status document (config-and-metrics.md 12). */
void rest_status__write(struct json_write *w, const struct rest_numbers *v);

/* rest_nodes.c: write the cluster members, for the status and for the metrics. */
void rest_nodes__write(struct json_write *w, const struct rest_numbers *v);
void rest_nodes__write_leader(struct json_write *w, const struct rest_numbers *v);
void rest_nodes__write_group(struct json_write *w, const struct rest_numbers *v);
void rest_nodes__metrics(struct buf *out, const struct rest_numbers *v);
