/*
 * The cluster status document (config-and-metrics.md 12).
 *
 * A single server is a cluster of one node and has the same document (rest_nodes.c).
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "core/duration.h"
#include "rest/rest_numbers_int.h"

enum { MIRROR_CAPACITY = 131072 };

/* Unlike rest_document__text, this one writes empty texts too. */
static void text(struct json_write *w, const char *key, const char *value)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, str_from_z(value));
}

static void number(struct json_write *w, const char *key, uint64_t value)
{
    json_write_key(w, str_from_z(key));
    json_write_u64(w, value);
}

/* Indexes are strings in this document. */
static void index_text(struct json_write *w, const char *key, uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    text(w, key, digits);
}

static void duration(struct json_write *w, const char *key, int64_t ns)
{
    char out[DURATION_TEXT_MAX];
    size_t len = duration_format(ns, out);
    json_write_key(w, str_from_z(key));
    json_write_str(w, str_from(out, len));
}

static void percentile(struct json_write *w, const char *key, const struct engine_times *t,
                       uint64_t percent)
{
    uint64_t n = engine_times_count(t);
    duration(w, key, engine_times_rank_ns(t, (n * percent + 99) / 100));
}

static void histogram(struct json_write *w, const char *key, const struct engine_times *t)
{
    uint64_t n = engine_times_count(t);
    rest_document__object(w, key);
    number(w, "count", n);
    if (n > 0) {
        duration(w, "avg", (int64_t)(t->sum_ns / n));
        percentile(w, "p50", t, 50);
        percentile(w, "p90", t, 90);
        percentile(w, "p99", t, 99);
        rest_document__array(w, "buckets");
        for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
            json_write_object(w);
            text(w, "le", engine_times_bound_text(i));
            number(w, "count", t->count[i]);
            json_write_end(w);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_raft(struct json_write *w, const struct rest_numbers *v)
{
    const struct node_status *n = &v->engine.node;
    text(w, "mode", "cluster");
    bool fine = n->leader_id != 0 && !v->cluster->quarantined && !v->cluster->removed;
    text(w, "status", fine ? "healthy" : "degraded");
    text(w, "state", n->role);
    text(w, "node_id", v->node_id);
    rest_nodes__write_leader(w, v);
    number(w, "term", n->term);
    index_text(w, "applied_index", n->applied_index);
    index_text(w, "commit_index", n->commit_index);
    text(w, "raft_store", v->raft_store);
    rest_document__bool(w, "durable", n->durable);
    rest_document__bool(w, "raft_nosync", !n->durable);
    /* the state is restored from the log, so it is not flushed separately */
    rest_document__bool(w, "pebble_nosync", true);
    rest_document__bool(w, "sqlite_mirror_async", v->has_mirror && v->mirror_async);
    rest_document__bool(w, "lifecycle_events", v->settings->lifecycle_events);
}

/* The settings for batching delays and snapshot thresholds have no effect and are shown as
 * configured: entries are filled without waiting, and snapshots depend on the size of the log. */
static void write_pipeline(struct json_write *w, const struct rest_numbers *v)
{
    const struct engine_status *e = &v->engine;
    number(w, "snapshot_threshold", v->tuning->snapshot_threshold);
    number(w, "snapshot_log_bytes", v->settings->node.snapshot_log_bytes);
    duration(w, "snapshot_interval", v->tuning->snapshot_interval_ns);
    number(w, "apply_batch_max", LIMIT_ENTRY_OPS);
    number(w, "apply_batch_extend_at", v->tuning->batch_extend_at);
    number(w, "apply_sub_batch_max", LIMIT_ENTRY_OPS);
    number(w, "apply_max_pending", v->settings->pending_ops_max);
    number(w, "apply_max_fetch_queue_inflight", v->tuning->fetch_inflight);
    duration(w, "apply_batch_min_wait", v->tuning->batch_min_wait_ns);
    duration(w, "apply_batch_window", v->tuning->batch_window_ns);
    number(w, "apply_pending_now", e->pending_ops);
    number(w, "overload_total", e->overload_total);
    number(w, "fetch_overload_total", 0);
    number(w, "applied_total", e->applied_ops);
    histogram(w, "queue_time_hist", &e->queue_times);
    histogram(w, "apply_time_hist", &e->apply_times);
}

static void write_snapshot(struct json_write *w, const struct node_status *n)
{
    rest_document__object(w, "snapshot");
    number(w, "count", n->snapshot_count);
    if (n->snapshot_count > 0) {
        number(w, "latest_index", n->snapshot_index);
        number(w, "latest_term", n->snapshot_term);
    }
    json_write_end(w);
}

static void write_space(struct json_write *w, const struct engine_space_status *s)
{
    static const char *const levels[] = {
        [ENGINE_SPACE_FINE] = "ok",
        [ENGINE_SPACE_LOW] = "low",
        [ENGINE_SPACE_FULL] = "full",
    };
    struct err err = {0};
    (void)engine_space_reason(s, &err);
    rest_document__object(w, "space");
    text(w, "level", levels[s->level]);
    text(w, "reason", err.msg);
    number(w, "free_bytes", s->seen.free_bytes);
    number(w, "needed_bytes", engine_space_low_mark(&s->seen));
    number(w, "reserve_bytes", s->reserve_bytes[ENGINE_SPACE_TO_RUN]);
    number(w, "log_memory_bytes", s->seen.log_bytes);
    number(w, "log_memory_max_bytes", s->seen.log_bytes_max);
    json_write_end(w);
}

/* Clients expect both objects. No update is ever dropped, and there is no queue of updates: the
 * pending jobs are a set. The capacity is the constant of the contract (config-and-metrics.md 5),
 * for clients that show a percentage. */
static void write_mirror(struct json_write *w, const struct rest_numbers *v)
{
    const struct view_status *m = &v->mirror;
    rest_document__object(w, "sqlite_mirror");
    rest_document__bool(w, "async", v->has_mirror && v->mirror_async);
    number(w, "queued", m->written + m->lag);
    number(w, "applied", m->written);
    number(w, "dropped", 0);
    number(w, "lag", m->lag);
    number(w, "queue_depth", m->lag);
    number(w, "queue_capacity", MIRROR_CAPACITY);
    rest_document__bool(w, "low_space", m->low_space);
    json_write_end(w);
    rest_document__object(w, "sqlite_rebuild");
    rest_document__bool(w, "ran", m->rebuilt);
    rest_document__bool(w, "running", m->rebuilding);
    if (m->rebuilt) {
        rest_document__time(w, "last_started_at",
                            wall_add_ms((struct wall){0}, m->rebuild_started_ms));
        rest_document__i64(w, "last_duration_ms", m->rebuild_took_ms);
        rest_document__bool(w, "last_success", m->rebuild_ok);
        rest_document__text(w, "last_error", str_from_z(m->rebuild_error));
    }
    json_write_end(w);
}

/* The same numbers, grouped for the UI. */
static void write_groups(struct json_write *w, const struct rest_numbers *v)
{
    const struct engine_status *e = &v->engine;
    rest_document__object(w, "pipeline_stats");
    number(w, "pending", e->pending_ops);
    number(w, "max_pending", v->settings->pending_ops_max);
    number(w, "applied_total", e->applied_ops);
    number(w, "entries_total", e->entries);
    number(w, "log_flushes_total", e->node.flush_count);
    number(w, "log_bytes", e->node.log_bytes);
    number(w, "live_jobs", e->live_jobs);
    number(w, "index_bytes", e->index_bytes);
    json_write_end(w);
    rest_document__object(w, "admission_stats");
    number(w, "fetches_waiting", e->parked_ops);
    number(w, "overload_total", e->overload_total);
    number(w, "fetch_overload_total", 0);
    number(w, "request_memory_limit_bytes", v->memory_limit);
    number(w, "request_memory_bytes", v->memory_used);
    number(w, "request_memory_refused_total", v->memory_refused);
    json_write_end(w);
}

void rest_status__write(struct json_write *w, const struct rest_numbers *v)
{
    json_write_object(w);
    write_raft(w, v);
    write_pipeline(w, v);
    write_snapshot(w, &v->engine.node);
    write_space(w, &v->engine.space);
    write_mirror(w, v);
    rest_nodes__write(w, v);
    rest_nodes__write_group(w, v);
    write_groups(w, v);
    json_write_end(w);
}
