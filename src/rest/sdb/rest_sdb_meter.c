#include "rest/sdb/rest_sdb_meter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "discover/discover.h"
#include "os/os_clock.h"
#include "push/push.h"
#include "push/push_meter.h"
#include "rest/rest_numbers_int.h"
#include "rest/sdb/rest_sdb_int.h"

#define NAME(name) "scheduled_db_" name

/* The last one stands for all others. */
static const int codes[REST_SDB_CODES] = {200, 204, 400, 401, 403, 404, 409,
                                          429, 500, 502, 503, 507, 0};

static const struct meter_scale http_scale = {.count = 8,
                                              .bounds = {{1000, "0.001"},
                                                         {10000, "0.01"},
                                                         {100000, "0.1"},
                                                         {500000, "0.5"},
                                                         {1000000, "1"},
                                                         {5000000, "5"},
                                                         {10000000, "10"},
                                                         {30000000, "30"}}};

/* As http_scale without the last bound. */
static const struct meter_scale query_scale = {.count = 7,
                                               .bounds = {{1000, "0.001"},
                                                          {10000, "0.01"},
                                                          {100000, "0.1"},
                                                          {500000, "0.5"},
                                                          {1000000, "1"},
                                                          {5000000, "5"},
                                                          {10000000, "10"}}};

static const char *const types[PUSH_METER_TYPES] = {"job_type=\"unico\"",
                                                    "job_type=\"recurrente\""};

/* The routes of the API, by their position in its tables. */
static const struct rest_route *route_at(unsigned i)
{
    return i < rest_sdb_routes.count ? &rest_sdb_routes.rows[i]
                                     : &rest_sdb_health_routes.rows[i - rest_sdb_routes.count];
}

static unsigned route_count(void)
{
    unsigned count = (unsigned)(rest_sdb_routes.count + rest_sdb_health_routes.count);
    CHECK(count <= REST_SDB_ROUTES);
    return count;
}

/* The position of the call's route; route_count() if it is not part of the API. */
static unsigned place_of(const struct rest_call *c)
{
    bool face = c->route != NULL && (c->route->flags & ROUTE_SCHEDULER) != 0;
    unsigned i = face ? 0 : route_count();
    while (i < route_count() && route_at(i) != c->route) {
        i++;
    }
    return i;
}

void rest_sdb_meter__answered(struct rest_call *c, int status, int64_t took_ns)
{
    unsigned i = place_of(c);
    unsigned code = 0;
    if (i == route_count()) {
        return;
    }
    while (code < REST_SDB_CODES - 1 && codes[code] != status) {
        code++;
    }
    (void)atomic_fetch_add(&c->rest->sdb.routes[i].by_code[code], 1);
    meter_add(&c->rest->sdb.routes[i].took, &http_scale, took_ns / 1000);
}

void rest_sdb_meter__forwarded(struct rest_call *c)
{
    unsigned i = place_of(c);
    if (i < route_count()) {
        (void)atomic_fetch_add(&c->rest->sdb.routes[i].forwarded, 1);
    }
}

static void write_pair(struct buf *out, const char *name, const char *type, const char *help,
                       const char *const labels[2], const atomic_uint_fast64_t values[2])
{
    meter_write_head(out, name, type, help);
    for (unsigned i = 0; i < 2; i++) {
        meter_write_number(out, name, labels[i], atomic_load(&values[i]));
    }
}

static void write_one(struct buf *out, const char *name, const char *type, const char *help,
                      uint64_t value)
{
    meter_write_head(out, name, type, help);
    meter_write_number(out, name, "", value);
}

/* Write the responses of a route by status, from the given status on. */
static void write_codes(struct rest_call *c, struct buf *out, const char *name, unsigned route,
                        int from)
{
    char labels[256];
    for (unsigned code = 0; code < REST_SDB_CODES; code++) {
        uint64_t n = atomic_load(&c->rest->sdb.routes[route].by_code[code]);
        if (n > 0 && codes[code] >= from) {
            (void)snprintf(labels, sizeof labels,
                           "method=\"%s\",endpoint=\"%s\",status_code=\"%d\"",
                           rest_router__method(route_at(route)->method), route_at(route)->pattern,
                           codes[code]);
            meter_write_number(out, name, labels, n);
        }
    }
}

static void write_http(struct rest_call *c, struct buf *out)
{
    static const struct {
        const char *name;
        int from;
    } families[] = {{NAME("http_requests_total"), 0}, {NAME("http_errors_total"), 400}};
    char labels[256];
    for (size_t f = 0; f < COUNT_OF(families); f++) {
        meter_write_head(out, families[f].name, "counter", "Requests to the Scheduled-DB API.");
        for (unsigned i = 0; i < route_count(); i++) {
            write_codes(c, out, families[f].name, i, families[f].from);
        }
    }
    meter_write_head(out, NAME("http_request_duration_seconds"), "histogram",
                     "Duration of requests to the Scheduled-DB API.");
    for (unsigned i = 0; i < route_count(); i++) {
        (void)snprintf(labels, sizeof labels, "method=\"%s\",endpoint=\"%s\"",
                       rest_router__method(route_at(i)->method), route_at(i)->pattern);
        meter_write(out, NAME("http_request_duration_seconds"), labels,
                    &c->rest->sdb.routes[i].took, &http_scale);
    }
}

static void write_forwarded(struct rest_call *c, struct buf *out)
{
    char labels[256];
    meter_write_head(out, NAME("http_proxy_requests_total"), "counter",
                     "Requests to the Scheduled-DB API that were forwarded to the leader.");
    for (unsigned i = 0; i < route_count(); i++) {
        if ((route_at(i)->flags & ROUTE_LEADER) != 0) {
            (void)snprintf(labels, sizeof labels, "method=\"%s\",endpoint=\"%s\"",
                           rest_router__method(route_at(i)->method), route_at(i)->pattern);
            meter_write_number(out, NAME("http_proxy_requests_total"), labels,
                               atomic_load(&c->rest->sdb.routes[i].forwarded));
        }
    }
}

static void write_queries(struct rest_call *c, struct buf *out)
{
    static const struct {
        const char *pattern, *labels;
    } queries[] = {{"/jobs/{id}/status", "endpoint=\"get_job_status\""},
                   {"/jobs/{id}/executions", "endpoint=\"get_job_executions\""},
                   {"/jobs", "endpoint=\"list_jobs_by_status\""}};
    meter_write_head(out, NAME("status_query_duration_seconds"), "histogram",
                     "Duration of job status requests.");
    for (unsigned i = 0; i < route_count(); i++) {
        for (size_t q = 0; q < COUNT_OF(queries); q++) {
            if (route_at(i)->method == HTTP_GET &&
                strcmp(route_at(i)->pattern, queries[q].pattern) == 0) {
                meter_write(out, NAME("status_query_duration_seconds"), queries[q].labels,
                            &c->rest->sdb.routes[i].took, &query_scale);
            }
        }
    }
}

static void write_histogram(struct buf *out, const char *name, const char *help,
                            const struct meter *m, const struct meter_scale *scale)
{
    meter_write_head(out, name, "histogram", help);
    meter_write(out, name, "", m, scale);
}

/* Runs of jobs. */
static void write_runs(const struct push_meter *m, struct buf *out)
{
    char label[64];
    uint64_t failed = 0;
    write_pair(out, NAME("jobs_executed_total"), "counter", "Runs that succeeded.", types,
               m->executed);
    write_pair(out, NAME("jobs_failed_total"), "counter", "Runs that failed.", types, m->failed);
    meter_write_head(out, NAME("job_execution_duration_seconds"), "histogram", "Duration of runs.");
    for (unsigned i = 0; i < PUSH_METER_TYPES; i++) {
        meter_write(out, NAME("job_execution_duration_seconds"), types[i], &m->run[i],
                    &push_meter_run_scale);
        failed += atomic_load(&m->failed[i]);
    }
    meter_write_head(out, NAME("execution_failures_total"), "counter",
                     "Calls that failed or were aborted, by cause.");
    for (unsigned i = STORE_TRY_ERROR_TIMEOUT; i < STORE_TRY_ERROR_COUNT; i++) {
        (void)snprintf(label, sizeof label, "error_type=\"%s\"",
                       store_rows_try_word((enum store_try_error)i));
        meter_write_number(out, NAME("execution_failures_total"), label,
                           atomic_load(&m->errors[i]));
    }
    meter_write_head(out, NAME("worker_errors_total"), "counter", "Runs that failed.");
    meter_write_number(out, NAME("worker_errors_total"), "error_type=\"job_execution_failed\"",
                       failed);
    write_histogram(out, NAME("retry_count"), "Attempts after the first one of a run.", &m->retries,
                    &push_meter_retry_scale);
    write_histogram(out, NAME("job_start_delay_seconds"),
                    "Delay from the due time of a run to its call.", &m->delay,
                    &push_meter_delay_scale);
}

static void write_calls(const struct push_meter *m, struct buf *out)
{
    static const char *const ends[2] = {"status=\"success\"", "status=\"error\""};
    uint64_t calls[2] = {0, 0};
    meter_write_head(out, NAME("webhook_duration_seconds"), "histogram", "Duration of calls.");
    for (unsigned i = 0; i < 2; i++) {
        meter_write(out, NAME("webhook_duration_seconds"), ends[i], &m->call[i],
                    &push_meter_call_scale);
        for (unsigned b = 0; b <= push_meter_call_scale.count; b++) {
            calls[i] += atomic_load(&m->call[i].count[b]);
        }
    }
    meter_write_head(out, NAME("webhook_requests_total"), "counter", "Calls, by outcome.");
    for (unsigned i = 0; i < 2; i++) {
        meter_write_number(out, NAME("webhook_requests_total"), ends[i], calls[i]);
    }
    write_one(out, NAME("webhook_errors_total"), "counter", "Calls that failed.", calls[1]);
}

/* Jobs are in memory, ordered by due time. A slot exists while a job waits in it. */
static void write_slots(const struct push_meter *m, const struct machine_queue *q, struct buf *out)
{
#define NOT_COLD "Always 0: all slots are in memory, and there is no cold store."
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        {NAME("slots_total"), "gauge", "Slots (--slot-gap) in which jobs wait to be due.",
         q->slots},
        {NAME("slots_active"), "gauge", "Slots with waiting jobs: all of them.", q->slots},
        {NAME("slots_hot"), "gauge", "Slots in memory: all of them.", q->slots},
        {NAME("slots_cold"), "gauge", "Slots in the cold store. " NOT_COLD, 0},
        {NAME("slot_evictions_total"), "counter", "Slots moved to the cold store. " NOT_COLD, 0},
        {NAME("slot_promotions_total"), "counter", "Slots moved back to memory. " NOT_COLD, 0},
    };
#undef NOT_COLD
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_one(out, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
    }
    write_one(out, NAME("slots_processed_total"), "counter",
              "Slots (--slot-gap) with due jobs, counted each time that jobs of one are started.",
              atomic_load(&m->slots));
    write_histogram(out, NAME("slot_processing_duration_seconds"),
                    "Time to find and claim the due jobs of a slot.", &m->slot_took,
                    &push_meter_slot_scale);
    write_histogram(out, NAME("jobs_per_slot"), "Jobs of a slot that were started together.",
                    &m->slot_jobs, &push_meter_jobs_scale);
    write_histogram(out, NAME("worker_processing_time_seconds"),
                    "Time to find and claim due jobs, on the node that makes the calls.",
                    &m->working, &push_meter_work_scale);
    write_histogram(out, NAME("worker_idle_time_seconds"),
                    "Time between two searches for due jobs.", &m->idle, &push_meter_call_scale);
}

static void write_jobs(struct rest_call *c, const struct rest_numbers *v, struct buf *out)
{
    static const char *const reasons[2] = {"reason=\"memory\"", "reason=\"job_count\""};
    const struct rest_sdb_meter *m = &c->rest->sdb;
    const struct rest_sdb_config *sdb = &c->rest->config.sdb;
    const struct machine_queue *q = &v->scheduler->queue;
    uint64_t bytes_max = rest_sdb_numbers__times(sdb->memory_limit, v->scheduler->queues);
    uint64_t count_max = rest_sdb_numbers__times(sdb->job_limit, v->scheduler->queues);
    uint64_t by[REST_SDB_STATUS_COUNT];
    char label[64];
    uint64_t all = 0;
    rest_sdb_numbers__count(q, by);
    write_pair(out, NAME("jobs_total"), "counter", "Jobs created.", types, m->created);
    write_pair(out, NAME("jobs_deleted_total"), "counter", "Jobs deleted.", types, m->deleted);
    write_pair(out, NAME("jobs_cancelled_total"), "counter", "Jobs cancelled.", types,
               m->cancelled);
    write_pair(out, NAME("job_rejections_total"), "counter",
               "Jobs refused because the capacity was exhausted.", reasons, m->refused);
    meter_write_head(out, NAME("jobs_by_status"), "gauge", "Stored jobs, by status.");
    for (unsigned i = 0; i < REST_SDB_STATUS_COUNT; i++) {
        (void)snprintf(label, sizeof label, "status=\"%s\"",
                       rest_sdb_show__word((enum rest_sdb_status)i));
        meter_write_number(out, NAME("jobs_by_status"), label, by[i]);
        all += by[i];
    }
    write_one(out, NAME("jobs_active"), "gauge", "Stored jobs.", all);
    meter_write_head(out, NAME("jobs_by_type"), "gauge", "Stored jobs, by type.");
    meter_write_number(out, NAME("jobs_by_type"), types[PUSH_METER_ONCE], all - q->recurring);
    meter_write_number(out, NAME("jobs_by_type"), types[PUSH_METER_RECURRING], q->recurring);
    write_one(out, NAME("jobs_scheduled"), "gauge", "Jobs waiting for their due time.",
              q->count[JOB_SCHEDULED]);
    write_one(out, NAME("jobs_timed_out_total"), "counter",
              "Calls that were lost because their node failed.", q->lost_total);
    write_one(out, NAME("queue_memory_usage_bytes"), "gauge", "Capacity used.", q->named_bytes);
    write_one(out, NAME("queue_memory_limit_bytes"), "gauge", "Capacity.", bytes_max);
    meter_write_head(out, NAME("queue_memory_utilization_percent"), "gauge", "Capacity used.");
    buf_printf(out, NAME("queue_memory_utilization_percent") " %g\n",
               rest_sdb_numbers__percent(q->named_bytes, bytes_max));
    write_one(out, NAME("queue_job_count"), "gauge", "Jobs that have not finished.",
              q->named_count);
    write_one(out, NAME("queue_job_limit"), "gauge", "Maximum number of jobs.", count_max);
}

static unsigned voters(const struct engine_cluster_status *cluster)
{
    unsigned count = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        count += cluster->nodes[i].in_group && cluster->nodes[i].role == NODE_VOTER ? 1 : 0;
    }
    return count > 0 ? count : 1; /* a node that has never had peers has no record */
}

/* Members by name: each has joined once, and left if it was removed. A member that rejoined has
 * several adjacent records. */
static void write_members(const struct rest_numbers *v, struct buf *out)
{
    static const struct {
        const char *name, *help;
        bool left;
    } families[] = {{NAME("cluster_join_events_total"), "Nodes that joined.", false},
                    {NAME("cluster_leave_events_total"), "Nodes that left or were removed.", true}};
    const struct engine_cluster_status *cluster = v->cluster;
    char label[STORE_NODE_NAME_BYTES_MAX + 16];
    for (size_t f = 0; f < COUNT_OF(families); f++) {
        uint64_t events = 0;
        meter_write_head(out, families[f].name, "counter", families[f].help);
        for (size_t i = 0; i < cluster->count; i++) {
            const struct engine_cluster_node *n = &cluster->nodes[i];
            events += !families[f].left || n->state != STORE_NODE_MEMBER ? 1 : 0;
            if (i + 1 == cluster->count || strcmp(n->name, cluster->nodes[i + 1].name) != 0) {
                (void)snprintf(label, sizeof label, "node_id=\"%s\"", n->name);
                meter_write_number(out, families[f].name, label, events);
                events = 0;
            }
        }
        if (cluster->count == 0) { /* it has never had peers and has no record */
            (void)snprintf(label, sizeof label, "node_id=\"%s\"", v->node_id);
            meter_write_number(out, families[f].name, label, families[f].left ? 0 : 1);
        }
    }
}

/* The name of a node; empty if there is none. */
static const char *name_of(const struct rest_numbers *v, uint64_t id)
{
    const struct engine_cluster_status *cluster = v->cluster;
    for (size_t i = 0; id != 0 && i < cluster->count; i++) {
        if (cluster->nodes[i].id == id) {
            return cluster->nodes[i].name;
        }
    }
    return id != 0 && id == cluster->node_id ? v->node_id : "";
}

static bool is_between(const struct rest_numbers *v, const struct engine_cluster_change *change,
                       const char *from, const char *to)
{
    return strcmp(name_of(v, change->from), from) == 0 && strcmp(name_of(v, change->to), to) == 0;
}

/* By name, because a node that rejoins under its name has another id. */
static void write_changes(const struct rest_numbers *v, struct buf *out)
{
    const struct engine_cluster_status *cluster = v->cluster;
    char label[2 * STORE_NODE_NAME_BYTES_MAX + 48];
    meter_write_head(out, NAME("cluster_leader_changes_total"), "counter",
                     "Leader changes seen by this node since its start.");
    for (size_t i = 0; i < cluster->change_count; i++) {
        const char *from = name_of(v, cluster->changes[i].from);
        const char *to = name_of(v, cluster->changes[i].to);
        uint64_t count = 0;
        bool told = false;
        for (size_t k = 0; k < cluster->change_count; k++) {
            bool same = is_between(v, &cluster->changes[k], from, to);
            told |= same && k < i;
            count += same ? cluster->changes[k].count : 0;
        }
        if (!told) {
            (void)snprintf(label, sizeof label, "old_leader=\"%s\",new_leader=\"%s\"", from, to);
            meter_write_number(out, NAME("cluster_leader_changes_total"), label, count);
        }
    }
}

static void write_cluster(const struct rest_numbers *v, struct buf *out)
{
    write_one(out, NAME("cluster_nodes"), "gauge", "Voters.", voters(v->cluster));
    write_members(v, out);
    write_changes(v, out);
    write_one(out, NAME("cluster_split_brain_events_total"), "counter",
              "Stops in a minority partition. Always 0: a minority refuses writes instead.", 0);
}

/* Without a discovery strategy all values are 0. */
static void write_discovery(struct rest_call *c, struct buf *out)
{
    static const struct discover_meter none;
    const struct discover *d = atomic_load(&c->rest->discover);
    const struct discover_meter *m = d == NULL ? &none : discover_meter(d);
    const struct {
        const char *name, *labels, *help;
        uint64_t value;
    } rows[] = {
        {NAME("discovery_operations_total"), ",operation=\"find\",status=\"success\"",
         "Searches for other nodes.", atomic_load(&m->found_total)},
        {NAME("discovery_operations_total"), ",operation=\"find\",status=\"error\"", "",
         atomic_load(&m->failed_total)},
        {NAME("discovery_errors_total"), ",error_type=\"lookup\"",
         "Searches for other nodes that failed.", atomic_load(&m->failed_total)},
        {NAME("discovery_events_total"), ",event_type=\"node_joined\"",
         "Changes of the nodes found. node_failed is always 0: a node that fails is node_left.",
         atomic_load(&m->joined_total)},
        {NAME("discovery_events_total"), ",event_type=\"node_left\"", "",
         atomic_load(&m->left_total)},
        {NAME("discovery_events_total"), ",event_type=\"node_failed\"", "", 0},
        {NAME("nodes_discovered"), "", "Nodes found.", atomic_load(&m->known)},
    };
    char labels[128];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].help[0] != '\0') {
            meter_write_head(out, rows[i].name, i + 1 == COUNT_OF(rows) ? "gauge" : "counter",
                             rows[i].help);
        }
        (void)snprintf(labels, sizeof labels, "strategy=\"%s\"%s",
                       d == NULL ? "none" : discover_name(d), rows[i].labels);
        meter_write_number(out, rows[i].name, labels, rows[i].value);
    }
}

static void write_node(struct rest_call *c, const struct rest_numbers *v, struct buf *out)
{
    int64_t up_s = (os_clock_mono().ns - c->rest->started.ns) / NS_PER_S;
    write_one(out, NAME("worker_active"), "gauge", "1 on the node that makes the calls.",
              v->engine.node.leads ? 1 : 0);
    write_one(out, NAME("raft_leader_elections_total"), "counter", "Raft term.",
              v->engine.node.term);
    meter_write_head(out, NAME("raft_operations_total"), "counter", "Commands applied.");
    meter_write_number(out, NAME("raft_operations_total"), "operation=\"apply\",status=\"success\"",
                       v->engine.applied_ops);
    meter_write_head(out, NAME("raft_errors_total"), "counter", "Commands refused.");
    meter_write_number(out, NAME("raft_errors_total"), "operation=\"apply\"",
                       v->engine.overload_total + v->engine.tick_errors);
    write_one(out, NAME("system_start_time_seconds"), "gauge", "Start time of the process.",
              (uint64_t)(v->now.ns / NS_PER_S - up_s));
    write_one(out, NAME("system_uptime_seconds"), "gauge", "Uptime of the process.",
              (uint64_t)up_s);
}

void rest_sdb_meter__write(struct rest_call *c, const struct rest_numbers *v, struct buf *out)
{
    static const struct push_meter none;
    if (!c->rest->config.sdb.enabled) {
        return;
    }
    write_jobs(c, v, out);
    const struct push_meter *m = c->rest->push == NULL ? &none : push_meter(c->rest->push);
    write_runs(m, out);
    write_calls(m, out);
    write_slots(m, &v->scheduler->queue, out);
    write_http(c, out);
    write_forwarded(c, out);
    write_queries(c, out);
    write_cluster(v, out);
    write_discovery(c, out);
    write_node(c, v, out);
}
