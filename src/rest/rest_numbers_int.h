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

/* Contract: a worker counts as active when it was heard of within this time. */
enum { REST_NUMBERS_ACTIVE_MS = 5 * 60 * 1000 };

struct rest_numbers_queue {
    struct str name; /* as the caller sees it */
    uint64_t count[JOB_STATE_COUNT];
};

struct rest_numbers {
    struct wall now;
    const char *node_id;
    const char *raft_store;
    const char *http_url; /* empty while it is not known */
    const struct engine_config *settings;
    struct engine_status engine;
    struct engine_cluster_status *cluster;
    struct throughput throughput;
    bool has_mirror;
    bool mirror_async;
    const struct rest_tuning *tuning;
    struct view_status mirror; /* of the SQLite view; zeros without one */
    struct wall done_until;    /* everything that was due before this moment has been done */

    uint64_t forwarded, forward_retries, forward_failures; /* requests to the leader */
    uint64_t memory_limit, memory_used, memory_refused; /* bytes of requests, and how often not */

    /* REST_NUMBERS_COUNTS */
    uint64_t worker_count;
    uint64_t worker_active_count;
    struct machine_kept kept;
    struct os_process_usage process;
    uint64_t streams_total, streams_ended, streams_cut, stream_events; /* of events */
    struct webhook_stats webhooks;
    struct push_stats push;
    struct rpc_numbers rpc;
    struct rest_sdb_total *scheduler; /* the queue of the Scheduled-DB face */
    struct http_stats http; /* of all network threads together; zeros when there is no server */

    /* REST_NUMBERS_QUEUES: those that the caller's namespace may see */
    struct rest_numbers_queue *queues; /* by name */
    size_t queue_count;
    bool cut; /* the call's memory was too small for them */

    /* private */
    struct rest_call *call;
    unsigned parts;
    size_t cap;
    void (*then)(struct rest_call *c, const struct rest_numbers *v);
};

enum { REST_NUMBERS_COUNTS = 1, REST_NUMBERS_QUEUES = 2 };

/* Take one, with the parts that are named besides the rest, and go on with it on the call's own
 * thread. */
void rest_numbers__take(struct rest_call *c, unsigned parts,
                        void (*then)(struct rest_call *c, const struct rest_numbers *v));

/* rest_metrics.c: the whole exposition of the metrics (http-api.md 20.5), in Prometheus' text
 * format. The row of the route that asks is there even if it is the first request. */
void rest_metrics__write(const struct rest_metrics *m, const struct rest_numbers *v,
                         const struct rest_route *asking, struct buf *out);

/* rest_status.c: the document of cluster status (config-and-metrics.md 12). */
void rest_status__write(struct json_write *w, const struct rest_numbers *v);

/* rest_nodes.c: the members, in both. */
void rest_nodes__write(struct json_write *w, const struct rest_numbers *v);
void rest_nodes__write_leader(struct json_write *w, const struct rest_numbers *v);
void rest_nodes__write_group(struct json_write *w, const struct rest_numbers *v);
void rest_nodes__metrics(struct buf *out, const struct rest_numbers *v);
