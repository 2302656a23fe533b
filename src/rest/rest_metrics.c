/*
 * Metrics: counters of the API, and the page with all numbers of the node.
 *
 * Each route has a row of counters. Requests without a route have a row for each HTTP method. The
 * number of rows is therefore fixed, whatever clients request. HEAD has separate rows, although it
 * uses the routes of GET.
 *
 * Network threads count with relaxed atomics: no increment is lost, but their order is undefined.
 * Derived numbers are not counted: the number of requests is the sum of the buckets, and those in
 * flight are the begun ones minus the finished ones.
 *
 * To add a number without labels, add a row to NUMBERS.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/digits.h"
#include "rest/rest_numbers_int.h"

/* http-api.md 20.5 */
static const struct {
    int64_t ns;
    const char *text;
} bounds[] = {
    {1 * NS_PER_MS, "0.001"},  {5 * NS_PER_MS, "0.005"}, {10 * NS_PER_MS, "0.01"},
    {25 * NS_PER_MS, "0.025"}, {50 * NS_PER_MS, "0.05"}, {100 * NS_PER_MS, "0.1"},
    {250 * NS_PER_MS, "0.25"}, {500 * NS_PER_MS, "0.5"}, {1 * NS_PER_S, "1"},
    {2500 * NS_PER_MS, "2.5"}, {5 * NS_PER_S, "5"},      {10 * NS_PER_S, "10"},
    {INT64_MAX, "+Inf"},
};

enum { BUCKETS = COUNT_OF(bounds) };

struct row {
    atomic_uint_fast64_t bucket[BUCKETS];
    atomic_uint_fast64_t sum_ns;
    atomic_uint_fast64_t errors; /* status 400 and above */
    atomic_uint_fast64_t throttled;
};

struct rest_metrics {
    atomic_uint_fast64_t begun;
    size_t route_count;
    size_t rpc_count;
    size_t count;
    /* Rows: routes, methods of requests without a route, RPC methods; then for HEAD: requests
     * without a route, routes. */
    struct row rows[];
};

static size_t first_rpc(const struct rest_metrics *m)
{
    return m->route_count + HTTP_METHOD_COUNT;
}

static size_t first_head(const struct rest_metrics *m)
{
    return first_rpc(m) + m->rpc_count;
}

/* Counting */

struct rest_metrics *rest_metrics__new(void)
{
    size_t routes = rest_router__count();
    size_t rpc = rpc_method_count();
    size_t count = routes + HTTP_METHOD_COUNT + rpc + 1 + routes;
    struct rest_metrics *m = calloc(1, sizeof *m + count * sizeof(struct row));
    CHECK(m != NULL);
    m->count = count;
    m->route_count = routes;
    m->rpc_count = rpc;
    return m;
}

void rest_metrics__free(struct rest_metrics *m)
{
    free(m);
}

static void add(atomic_uint_fast64_t *counter, uint64_t n)
{
    (void)atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static struct row *row_of(struct rest_metrics *m, struct rest_metrics_what what)
{
    CHECK(what.method < HTTP_METHOD_COUNT);
    CHECK(what.rpc <= m->rpc_count);
    CHECK(what.route <= m->route_count);
    return &m->rows[what.head        ? first_head(m) + what.route
                    : what.route > 0 ? what.route - 1
                    : what.rpc > 0   ? first_rpc(m) + what.rpc - 1
                                     : m->route_count + what.method];
}

void rest_metrics__begin(struct rest_metrics *m)
{
    add(&m->begun, 1);
}

void rest_metrics__end(struct rest_metrics *m, struct rest_metrics_what what, int status,
                       int64_t took_ns)
{
    struct row *row = row_of(m, what);
    unsigned i = 0;
    while (took_ns > bounds[i].ns) {
        i++;
    }
    add(&row->sum_ns, took_ns > 0 ? (uint64_t)took_ns : 0);
    if (status >= 400) {
        add(&row->errors, 1);
    }
    add(&row->bucket[i], 1);
}

void rest_metrics__throttled(struct rest_metrics *m, struct rest_metrics_what what)
{
    add(&row_of(m, what)->throttled, 1);
}

static uint64_t finished(const struct row *row)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        n += get(&row->bucket[i]);
    }
    return n;
}

/* The text format */

static void family(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void number(struct buf *out, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    family(out, name, type, help);
    buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

/* Write name="value" with the escaping of the format. */
static void label(struct buf *out, const char *name, struct str value)
{
    buf_add_str(out, str_from_z(name));
    buf_add_str(out, STR("=\""));
    for (size_t i = 0; i < value.len; i++) {
        switch (value.ptr[i]) {
        case '\\':
            buf_add_str(out, STR("\\\\"));
            break;
        case '"':
            buf_add_str(out, STR("\\\""));
            break;
        case '\n':
            buf_add_str(out, STR("\\n"));
            break;
        default:
            buf_add_char(out, value.ptr[i]);
            break;
        }
    }
    buf_add_char(out, '"');
}

static void add_seconds(struct buf *out, uint64_t ns)
{
    buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / (uint64_t)NS_PER_S, ns % (uint64_t)NS_PER_S);
}

/* Numbers without labels */

static uint64_t state_number(const char *role)
{
    static const char *const roles[] = {"Follower", "Candidate", "Leader", "Shutdown"};
    for (unsigned i = 0; i < COUNT_OF(roles); i++) {
        if (str_eq(str_from_z(role), str_from_z(roles[i]))) {
            return i;
        }
    }
    return COUNT_OF(roles) - 1;
}

#define RAN(kind)   (v->throughput.of[THROUGHPUT_##kind].entries)
#define SUM(kind)   (v->throughput.of[THROUGHPUT_##kind].total)
#define SECONDS(at) ((uint64_t)((at).ns / NS_PER_S))

/* clang-format off */
#define NUMBERS(X) \
    X("corvo_throughput_enqueued_total",  "counter", SUM(ENQUEUED),  "Jobs enqueued in the cluster since this node started. Every node counts all jobs: do not sum over nodes.") \
    X("corvo_throughput_completed_total", "counter", SUM(COMPLETED), "Jobs completed in the cluster since this node started. Every node counts all jobs: do not sum over nodes.") \
    X("corvo_throughput_failed_total",    "counter", SUM(FAILED),    "Attempts that failed in the cluster since this node started. Every node counts all attempts: do not sum over nodes.") \
    \
    X("corvo_cluster_is_leader",          "gauge",   v->engine.node.leads,             "1 if this node is the leader.") \
    X("corvo_cluster_elections_total",    "counter", v->cluster->elections,            "Leader changes seen by this node.") \
    X("corvo_cluster_quarantined",        "gauge",   v->cluster->quarantined,          "1 if this node is quarantined because its data differs from the majority.") \
    X("corvo_cluster_removed",            "gauge",   v->cluster->removed,              "1 if this node was removed from the cluster.") \
    X("corvo_cluster_unreadable_total",   "counter", v->cluster->refused.total,        "Messages and checkpoints refused because this version cannot read them.") \
    X("corvo_state_hash_compared_total",  "counter", v->cluster->hash_compared_total,  "Comparisons of this node's state with another node's.") \
    X("corvo_state_hash_differed_total",  "counter", v->cluster->hash_differed_total,  "Comparisons that found a difference.") \
    X("corvo_checkpoint_fetches_total",   "counter", v->cluster->fetch.fetched_total,  "Checkpoints fetched from the leader.") \
    X("corvo_checkpoint_fetch_bytes",     "gauge",   v->cluster->fetch.running ? v->cluster->fetch.bytes_done : 0, "Bytes received of the checkpoint that is being fetched.") \
    X("corvo_durable",                    "gauge",   v->engine.node.durable,           "1 if the log is flushed before a write is acknowledged.") \
    X("corvo_disk_low",                   "gauge",   v->engine.space.level != ENGINE_SPACE_FINE, "1 while new jobs are refused because the disk is nearly full or snapshots fail.") \
    X("corvo_disk_full",                  "gauge",   v->engine.space.level == ENGINE_SPACE_FULL, "1 while only deletions are accepted.") \
    X("corvo_disk_free_bytes",            "gauge",   v->engine.space.seen.free_bytes,  "Free bytes on the disk of the data directory.") \
    X("corvo_disk_needed_bytes",          "gauge",   engine_space_low_mark(&v->engine.space.seen), "Free bytes below which new jobs are refused.") \
    X("corvo_disk_reserve_bytes",         "gauge",   v->engine.space.reserve_bytes[ENGINE_SPACE_TO_RUN], "Size of the reserve file. 0 after it was removed to free space.") \
    X("corvo_raft_log_memory_bytes",      "gauge",   v->engine.node.log_bytes_memory,  "Memory used by log entries since the last snapshot, in bytes.") \
    X("corvo_raft_log_memory_max_bytes",  "gauge",   v->engine.node.log_memory_max,    "Memory of log entries at which all writes are refused, in bytes.") \
    X("corvo_raft_snapshot_failures",     "gauge",   v->engine.node.snapshot_failures, "Snapshots that failed since the last successful one.") \
    X("corvo_raft_snapshot_damaged",      "gauge",   v->engine.snapshot_damaged,       "1 if a file of the newest snapshot is damaged.") \
    X("corvo_raft_snapshot_bytes",        "gauge",   v->engine.node.snapshot_bytes,    "Size of the largest snapshot kept, in bytes.") \
    X("corvo_clock_ahead_seconds",        "gauge",   (uint64_t)v->engine.clock_ahead_ms / 1000,  "How far the system clock is ahead of the server's time because it jumped and was not accepted. 0 if it is accepted.") \
    X("corvo_clock_behind_seconds",       "gauge",   (uint64_t)v->engine.clock_behind_ms / 1000,  "How far the system clock is behind the server's time.") \
    X("corvo_raft_state",                 "gauge",   state_number(v->engine.node.role), "0 follower, 1 candidate, 2 leader, 3 shutdown.") \
    X("corvo_raft_term",                  "gauge",   v->engine.node.term,              "Current term.") \
    X("corvo_raft_applied_index",         "gauge",   v->engine.node.applied_index,     "Last log entry applied.") \
    X("corvo_raft_commit_index",          "gauge",   v->engine.node.commit_index,      "Last log entry committed.") \
    X("corvo_raft_apply_pending",         "gauge",   v->engine.pending_ops,            "Operations in the write pipeline.") \
    X("corvo_raft_apply_max_pending",     "gauge",   v->settings->pending_ops_max,     "Maximum number of operations in the write pipeline.") \
    X("corvo_raft_apply_overload_total",  "counter", v->engine.overload_total,         "Operations refused because the write pipeline was full.") \
    X("corvo_raft_fetch_overload_total",  "counter", 0,                                "Always 0: fetches need no permit.") \
    X("corvo_raft_applied_total",         "counter", v->engine.applied_ops,            "Operations applied.") \
    X("corvo_raft_entries_total",         "counter", v->engine.entries,                "Log entries that contained operations.") \
    X("corvo_raft_log_flushes_total",     "counter", v->engine.node.flush_count,       "Flushes of the log.") \
    X("corvo_raft_log_bytes",             "gauge",   v->engine.node.log_bytes,         "Bytes in log segments.") \
    X("corvo_fetches_waiting",            "gauge",   v->engine.parked_ops,             "Fetches that are waiting for a job.") \
    X("corvo_forwarded_requests_total",   "counter", v->forwarded,                     "Requests that this node forwarded to the leader.") \
    X("corvo_forward_retries_total",      "counter", v->forward_retries,               "Requests that were sent again to another leader.") \
    X("corvo_forward_failures_total",     "counter", v->forward_failures,              "Requests that no leader answered in time.") \
    \
    X("corvo_lifecycle_streams_open",         "gauge",   v->rpc.streams_open,     "Open lifecycle streams.") \
    X("corvo_lifecycle_streams_max",          "gauge",   v->rpc.streams_max,      "Maximum number of open lifecycle streams. 0 means no limit.") \
    X("corvo_lifecycle_frames_inflight",      "gauge",   v->rpc.frames_under_way, "Lifecycle frames being processed. A fetch that waits for a job is not counted.") \
    X("corvo_lifecycle_frames_max_inflight",  "gauge",   v->rpc.frames_max,       "Maximum number of lifecycle frames processed at once.") \
    X("corvo_lifecycle_frames_total",         "counter", v->rpc.frames_total,     "Lifecycle frames processed, except empty ones.") \
    X("corvo_lifecycle_streams_total",        "counter", v->rpc.streams_total,    "Lifecycle streams accepted as leader.") \
    X("corvo_lifecycle_overload_total",       "counter", v->rpc.overloads,        "Lifecycle frames refused because no slot was free in time.") \
    X("corvo_lifecycle_idle_fetch_total",     "counter", v->rpc.idle_fetches,     "Fetches of lifecycle frames that waited for a job.") \
    \
    X("corvo_sqlite_mirror_lag_updates",      "gauge",   v->mirror.lag,           "Changed jobs that are not in the search index yet.") \
    X("corvo_sqlite_mirror_dropped_total",    "counter", 0,                       "Changes lost by the search index. Always 0.") \
    X("corvo_sqlite_mirror_written_total",    "counter", v->mirror.written,       "Jobs written to the search index.") \
    X("corvo_sqlite_mirror_applied_index",    "gauge",   v->mirror.index,         "Log index up to which the search index is complete.") \
    X("corvo_sqlite_mirror_text_lag",         "gauge",   v->mirror.text_lag,      "Jobs that are not in the full-text index yet.") \
    X("corvo_sqlite_mirror_low_space",        "gauge",   v->mirror.low_space,     "1 while the search index is not updated because the disk is nearly full.") \
    X("corvo_sqlite_mirror_rebuilding",       "gauge",   v->mirror.rebuilding,    "1 while the search index is being rebuilt.") \
    \
    X("corvo_jobs_live",                  "gauge",   v->engine.live_jobs,              "Jobs that have not finished.") \
    X("corvo_index_bytes",                "gauge",   v->engine.index_bytes,            "Memory of the index of live jobs, in bytes.") \
    X("corvo_workers_registered",         "gauge",   v->worker_count,                  "Workers seen in the last 24 hours.") \
    X("corvo_workers_active",             "gauge",   v->worker_active_count,           "Workers seen in the last five minutes.") \
    \
    X("corvo_process_goroutines",         "gauge",   v->process.threads,               "Threads.") \
    X("corvo_process_heap_inuse_bytes",   "gauge",   v->process.heap_bytes,            "Memory allocated, in bytes.") \
    X("corvo_process_stack_inuse_bytes",  "gauge",   v->process.stack_bytes,           "Stack memory, in bytes.") \
    X("corvo_process_gc_pause_ns",        "gauge",   0,                                "Always 0: there is no garbage collector.") \
    \
    X("corvo_scheduler_promote_total",         "counter", v->engine.ticks,        "Scheduler runs. A run starts when something is due and does all of it: promote, reclaim and expire share this counter.") \
    X("corvo_scheduler_promote_jobs_total",    "counter", SUM(PROMOTED),          "Jobs that became due and pending.") \
    X("corvo_scheduler_promote_errors_total",  "counter", v->engine.tick_errors,  "Scheduler runs that failed. Promote, reclaim and expire share this counter.") \
    X("corvo_scheduler_last_promote_seconds",  "gauge",   SECONDS(v->done_until), "Unix time up to which due jobs have been promoted.") \
    X("corvo_scheduler_reclaim_total",         "counter", v->engine.ticks,        "Scheduler runs. A run starts when something is due and does all of it: promote, reclaim and expire share this counter.") \
    X("corvo_scheduler_reclaim_jobs_total",    "counter", SUM(RECLAIMED),         "Jobs reclaimed because their lease had ended.") \
    X("corvo_scheduler_reclaim_errors_total",  "counter", v->engine.tick_errors,  "Scheduler runs that failed. Promote, reclaim and expire share this counter.") \
    X("corvo_scheduler_last_reclaim_seconds",  "gauge",   SECONDS(v->done_until), "Unix time up to which ended leases have been reclaimed.") \
    X("corvo_scheduler_expire_total",          "counter", v->engine.ticks,        "Scheduler runs. A run starts when something is due and does all of it: promote, reclaim and expire share this counter.") \
    X("corvo_scheduler_expire_jobs_total",     "counter", SUM(EXPIRED),           "Jobs that expired before they were started.") \
    X("corvo_scheduler_expire_errors_total",   "counter", v->engine.tick_errors,  "Scheduler runs that failed. Promote, reclaim and expire share this counter.") \
    X("corvo_scheduler_last_expire_seconds",   "gauge",   SECONDS(v->done_until), "Unix time up to which jobs have expired.") \
    X("corvo_scheduler_purge_total",           "counter", RAN(PURGED),            "Runs that purged finished jobs after their retention period.") \
    X("corvo_scheduler_purge_jobs_total",      "counter", SUM(PURGED),            "Jobs purged.")  \
    X("corvo_scheduler_purge_errors_total",    "counter", v->engine.purge_errors, "Purges that failed.") \
    X("corvo_scheduler_last_purge_seconds",    "gauge",   SECONDS(v->throughput.of[THROUGHPUT_PURGED].last), "Unix time of the last purge that removed jobs.") \
    \
    X("corvo_events_last_seq",                 "gauge",   v->engine.next_event - 1,   "Sequence number of the newest event. 0 before the first event.") \
    X("corvo_events_kept",                     "gauge",   v->engine.next_event - v->engine.oldest_event, "Events in the event log.") \
    X("corvo_event_streams_open",              "gauge",   v->streams_total - v->streams_ended, "Open event streams.") \
    X("corvo_event_streams_total",             "counter", v->streams_total,           "Event streams opened.") \
    X("corvo_event_streams_cut_total",         "counter", v->streams_cut,             "Event streams closed because the client read too slowly.") \
    X("corvo_event_stream_events_total",       "counter", v->stream_events,           "Events sent to event streams.") \
    \
    X("corvo_webhook_attempts_total",          "counter", v->webhooks.attempts,        "Requests sent to webhooks.") \
    X("corvo_webhook_delivered_total",         "counter", v->webhooks.delivered,       "Events delivered to webhooks.") \
    X("corvo_webhook_failed_total",            "counter", v->webhooks.failed,          "Events given up after the last attempt.") \
    X("corvo_webhook_skipped_total",           "counter", v->webhooks.skipped,         "Events removed from the log before they were delivered to a webhook.") \
    X("corvo_webhook_in_flight",               "gauge",   v->webhooks.in_flight,       "Webhook requests in progress.") \
    X("corvo_webhook_waiting",                 "gauge",   v->webhooks.waiting,         "Events read for webhooks but not yet delivered or given up.") \
    X("corvo_webhook_slow_in_flight",          "gauge",   v->webhooks.slow,            "Webhook requests in progress that are slow: longer than a second, or to a host that has not responded yet.") \
    X("corvo_webhook_hosts_hanging",           "gauge",   v->webhooks.hosts_hung,      "Webhook hosts whose last request timed out.") \
    X("corvo_webhook_held_back",               "gauge",   v->webhooks.held_back,       "Webhooks that wait because too many requests are in progress.") \
    \
    X("corvo_push_calls_total",                "counter", v->push.calls,              "Requests sent for push jobs.") \
    X("corvo_push_succeeded_total",            "counter", v->push.completed,          "Push attempts that succeeded.") \
    X("corvo_push_failed_total",               "counter", v->push.failed,             "Push attempts that failed.") \
    X("corvo_push_aborted_total",              "counter", v->push.aborted,            "Push requests aborted because their job was cancelled, held or deleted.") \
    X("corvo_push_in_flight",                  "gauge",   v->push.in_flight,          "Push requests in progress.") \
    X("corvo_push_slow_in_flight",             "gauge",   v->push.slow,               "Push requests in progress that are slow.") \
    X("corvo_push_hosts_breaker_open",         "gauge",   v->push.hosts_open,         "Push hosts whose circuit breaker is open or half-open.") \
    X("corvo_push_hosts_hanging",              "gauge",   v->push.hosts_hung,         "Push hosts whose last request timed out.") \
    \
    X("corvo_idempotency_bytes",               "gauge",   v->kept.reply_bytes,         "Size of the responses stored for Idempotency-Key, in bytes. At most 1 GiB.") \
    X("corvo_batches_open",                    "gauge",   v->kept.open_batches,        "Batches that are not sealed. At most 100000, half of them in one namespace.") \
    X("corvo_batch_callback_bytes",            "gauge",   v->kept.batch_bytes,         "Size of the callbacks of batches that have not ended, in bytes. At most 256 MiB, half of it for one namespace.") \
    \
    X("corvo_request_memory_limit_bytes",      "gauge",   v->memory_limit,             "Memory limit for requests, responses and streams, in bytes.") \
    X("corvo_request_memory_bytes",            "gauge",   v->memory_used,              "Memory used by requests, responses and streams, in bytes.") \
    X("corvo_request_memory_refused_total",    "counter", v->memory_refused,           "Allocations refused because the memory limit was reached.") \
    \
    X("corvo_http_connections_open",           "gauge",   v->http.connections_open,    "Open connections.") \
    X("corvo_http_connections_total",          "counter", v->http.connections,         "Connections accepted.") \
    X("corvo_http_connections_refused_total",  "counter", v->http.connections_refused, "Connections refused because there were too many.") \
    X("corvo_http_connections_cut_total",      "counter", v->http.connections_cut,     "Connections closed by the server: too slow, or too many resets.") \
    X("corvo_http_protocol_errors_total",      "counter", v->http.protocol_errors,     "Malformed requests and frames.") \
    X("corvo_http_read_bytes_total",           "counter", v->http.bytes_read,          "Bytes read from clients.") \
    X("corvo_http_written_bytes_total",        "counter", v->http.bytes_written,       "Bytes written to clients.")
/* clang-format on */

static void write_cpu(struct buf *out, const char *name, const char *help, int64_t ns)
{
    family(out, name, "counter", help);
    buf_printf(out, "%s ", name);
    add_seconds(out, (uint64_t)ns);
    buf_add_char(out, '\n');
}

static void write_numbers(struct buf *out, const struct rest_numbers *v)
{
#define NUMBER(name, type, value, help) number(out, name, type, help, value);
    NUMBERS(NUMBER)
#undef NUMBER
#undef NUMBERS
#undef SECONDS
#undef SUM
#undef RAN
    write_cpu(out, "corvo_process_cpu_user_seconds_total", "CPU time in user mode.",
              v->process.cpu_user_ns);
    write_cpu(out, "corvo_process_cpu_system_seconds_total", "CPU time in the kernel.",
              v->process.cpu_system_ns);
    if (v->engine.node.snapshot_count > 0) {
        family(out, "corvo_raft_snapshot_latest_index", "gauge", "Index of the newest snapshot.");
        buf_printf(out, "corvo_raft_snapshot_latest_index %" PRIu64 "\n",
                   v->engine.node.snapshot_index);
    }
}

static void write_times(struct buf *out, const char *name, const char *help,
                        const struct engine_times *t)
{
    uint64_t below = 0;
    family(out, name, "histogram", help);
    for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
        below += t->count[i];
        buf_printf(out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name, engine_times_bound_seconds(i),
                   below);
    }
    buf_printf(out, "%s_sum ", name);
    add_seconds(out, t->sum_ns);
    buf_printf(out, "\n%s_count %" PRIu64 "\n", name, below);
}

/* Queries of the view, by kind. */
static void write_questions(struct buf *out, const struct rest_numbers *v)
{
    static const struct {
        const char *name, *type, *help;
    } families[] = {
        {"corvo_searches_running", "gauge", "Searches in progress, by kind."},
        {"corvo_searches_waiting", "gauge",
         "Searches that wait for the search index or for a thread."},
        {"corvo_searches_refused_total", "counter",
         "Searches refused because too many were waiting."},
    };
    for (unsigned i = 0; i < COUNT_OF(families); i++) {
        family(out, families[i].name, families[i].type, families[i].help);
        for (unsigned k = 0; k < VIEW_KIND_COUNT; k++) {
            const uint64_t values[COUNT_OF(families)] = {
                v->mirror.asks[k].running, v->mirror.asks[k].waiting, v->mirror.asks[k].refused};
            buf_printf(out, "%s{kind=\"%s\"} %" PRIu64 "\n", families[i].name,
                       view_kind_name((enum view_kind)k), values[i]);
        }
    }
}

/* Queues */

/* The states in the contract, which does not include cancelled. */
static const enum job_state shown[] = {JOB_PENDING, JOB_ACTIVE,    JOB_HELD,    JOB_COMPLETED,
                                       JOB_DEAD,    JOB_SCHEDULED, JOB_RETRYING};

static void write_queue_jobs(struct buf *out, const struct rest_numbers *v)
{
    struct buf begin; /* labels of the current queue */
    char digits[DIGITS_MAX];
    buf_init(&begin, SIZE_MAX);
    family(out, "corvo_queue_jobs", "gauge", "Jobs by queue and state.");
    for (size_t i = 0; i < v->queue_count; i++) {
        buf_clear(&begin);
        buf_add_str(&begin, STR("corvo_queue_jobs{"));
        label(&begin, "queue", v->queues[i].name);
        buf_add_str(&begin, STR(",state=\""));
        for (unsigned s = 0; s < COUNT_OF(shown); s++) {
            const char *end = digits_put(digits, v->queues[i].count[shown[s]]);
            buf_add_str(out, buf_str(&begin));
            buf_add_str(out, str_from_z(job_state_name(shown[s])));
            buf_add_str(out, STR("\"} "));
            buf_add_str(out, str_from(digits, (size_t)(end - digits)));
            buf_add_char(out, '\n');
        }
    }
    buf_deinit(&begin);
}

static void write_jobs(struct buf *out, const struct rest_numbers *v)
{
    family(out, "corvo_jobs", "gauge", "Jobs by state.");
    for (unsigned s = 0; s < COUNT_OF(shown); s++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < v->queue_count; i++) {
            sum += v->queues[i].count[shown[s]];
        }
        buf_add_str(out, STR("corvo_jobs{"));
        label(out, "state", str_from_z(job_state_name(shown[s])));
        buf_printf(out, "} %" PRIu64 "\n", sum);
    }
}

/* Routes */

/* The pattern with ":id" for each parameter, as dashboards of this API expect. */
static void route_label(struct buf *out, struct str pattern)
{
    buf_add_str(out, STR("route=\""));
    for (size_t i = 0; i < pattern.len; i++) {
        const char *end =
            pattern.ptr[i] == '{' ? memchr(pattern.ptr + i, '}', pattern.len - i) : NULL;
        if (end == NULL) {
            buf_add_char(out, pattern.ptr[i]);
        } else {
            buf_add_str(out, STR(":id"));
            i = (size_t)(end - pattern.ptr);
        }
    }
    buf_add_char(out, '"');
}

/* The route of a row; NULL: the row counts requests without a route. */
static const struct rest_route *route_of(const struct rest_metrics *m, size_t i)
{
    if (i < m->route_count) {
        return rest_router__route(i);
    }
    return i > first_head(m) ? rest_router__route(i - first_head(m) - 1) : NULL;
}

static const char *method_of(const struct rest_metrics *m, size_t i)
{
    if (i >= first_head(m)) {
        return "HEAD";
    }
    const char *name =
        rest_router__method(i < m->route_count ? rest_router__route(i)->method
                                               : (enum http_method)(i - m->route_count));
    return name[0] == '\0' ? "OTHER" : name;
}

/* method="GET",route="/api/v1/jobs/:id" */
static void route_labels(struct buf *out, const struct rest_metrics *m, size_t i)
{
    if (i >= first_rpc(m) && i < first_head(m)) {
        buf_add_str(out, STR("method=\"POST\",route=\""));
        rpc_method_path(i - first_rpc(m) + 1, out);
        buf_add_char(out, '"');
        return;
    }
    const struct rest_route *route = route_of(m, i);
    label(out, "method", str_from_z(method_of(m, i)));
    buf_add_char(out, ',');
    route_label(out, route != NULL ? str_from_z(route->pattern) : STR("/unknown"));
}

struct exposition {
    const struct rest_metrics *m;
    const struct rest_route *asking;
    struct buf *out;
};

/* Omit unused rows, except that of the current request. */
static bool is_shown(const struct exposition *e, size_t i)
{
    return finished(&e->m->rows[i]) > 0 ||
           (i < e->m->route_count && rest_router__route(i) == e->asking);
}

static void write_sample(const struct exposition *e, const char *name, size_t i, uint64_t value)
{
    buf_printf(e->out, "%s{", name);
    route_labels(e->out, e->m, i);
    buf_printf(e->out, "} %" PRIu64 "\n", value);
}

static void write_durations(const struct exposition *e, size_t i)
{
    const struct row *row = &e->m->rows[i];
    uint64_t below = 0;
    for (unsigned b = 0; b < BUCKETS; b++) {
        below += get(&row->bucket[b]);
        buf_add_str(e->out, STR("corvo_http_request_duration_seconds_bucket{"));
        route_labels(e->out, e->m, i);
        buf_printf(e->out, ",le=\"%s\"} %" PRIu64 "\n", bounds[b].text, below);
    }
    buf_add_str(e->out, STR("corvo_http_request_duration_seconds_sum{"));
    route_labels(e->out, e->m, i);
    buf_add_str(e->out, STR("} "));
    add_seconds(e->out, get(&row->sum_ns));
    buf_add_char(e->out, '\n');
    write_sample(e, "corvo_http_request_duration_seconds_count", i, below);
}

static void write_routes(const struct exposition *e)
{
    size_t count = e->m->count;
    uint64_t ended = 0;
    family(e->out, "corvo_http_requests_total", "counter", "Requests answered.");
    for (size_t i = 0; i < count; i++) {
        ended += finished(&e->m->rows[i]);
        if (is_shown(e, i)) {
            write_sample(e, "corvo_http_requests_total", i, finished(&e->m->rows[i]));
        }
    }
    family(e->out, "corvo_http_request_errors_total", "counter",
           "Requests answered with status 400 or above.");
    for (size_t i = 0; i < count; i++) {
        if (is_shown(e, i)) {
            write_sample(e, "corvo_http_request_errors_total", i, get(&e->m->rows[i].errors));
        }
    }
    family(e->out, "corvo_http_request_duration_seconds", "histogram",
           "Time from the request headers to the response.");
    for (size_t i = 0; i < count; i++) {
        if (is_shown(e, i)) {
            write_durations(e, i);
        }
    }
    family(e->out, "corvo_rate_limit_throttled_total", "counter",
           "Requests refused by the rate limiter.");
    for (size_t i = 0; i < count; i++) {
        if (get(&e->m->rows[i].throttled) > 0) {
            write_sample(e, "corvo_rate_limit_throttled_total", i, get(&e->m->rows[i].throttled));
        }
    }
    /* The counters are unordered: an end may be visible before its beginning. */
    uint64_t begun = get(&e->m->begun);
    number(e->out, "corvo_http_requests_in_flight", "gauge", "Requests in progress.",
           begun > ended ? begun - ended : 0);
}

void rest_metrics__write(const struct rest_metrics *m, const struct rest_numbers *v,
                         const struct rest_route *asking, struct buf *out)
{
    write_numbers(out, v);
    write_times(out, "corvo_raft_queue_time_seconds",
                "Time until an operation is written to a log entry.", &v->engine.queue_times);
    write_times(out, "corvo_raft_apply_time_seconds",
                "Time until a log entry is committed and applied.", &v->engine.apply_times);
    rest_nodes__metrics(out, v);
    write_questions(out, v);
    write_routes(&(struct exposition){.m = m, .asking = asking, .out = out});
    if (v->cut) {
        number(out, "corvo_metrics_errors_total", "counter",
               "1 if there are more queues than this page can hold; the others are left out.", 1);
        return;
    }
    number(out, "corvo_queues_total", "gauge", "Number of queues.", v->queue_count);
    write_jobs(out, v);
    write_queue_jobs(out, v);
}
