/*
 * Numbers of the queue of the Scheduled-DB API, read between two log entries.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/machine_nodes.h"
#include "rest/sdb/rest_sdb_int.h"

struct taking {
    struct rest_sdb_numbers numbers;
    void (*then)(struct rest_call *c, const struct rest_sdb_numbers *n);
};

/* Copy the members that are not leaving. */
static void look_at_servers(struct rest_sdb_numbers *n, const struct machine *m)
{
    for (uint32_t i = 0; i < machine_nodes_count(m) && n->server_count < LIMIT_NODES; i++) {
        const struct store_node *node = machine_nodes_at(m, i);
        if (node->state == STORE_NODE_MEMBER) {
            struct rest_sdb_server *s = &n->servers[n->server_count++];
            (void)snprintf(s->id, sizeof s->id, STR_FMT, STR_ARG(node->name));
            (void)snprintf(s->address, sizeof s->address, STR_FMT, STR_ARG(node->address));
        }
    }
}

static void add(void *data, const struct machine_queue *q)
{
    struct rest_sdb_total *t = data;
    struct machine_queue *sum = &t->queue;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        sum->count[s] += q->count[s];
    }
    sum->named_count += q->named_count;
    sum->named_bytes += q->named_bytes;
    sum->timed_out += q->timed_out;
    sum->timed_out_waiting += q->timed_out_waiting;
    sum->pending_again += q->pending_again;
    sum->recurring += q->recurring;
    sum->slots += q->slots;
    sum->lost_total += q->lost_total;
    if (q->last_ended_at.ns > sum->last_ended_at.ns) {
        sum->last_ended_at = q->last_ended_at;
    }
    t->fullest_bytes = q->named_bytes > t->fullest_bytes ? q->named_bytes : t->fullest_bytes;
    t->queues++;
}

void rest_sdb_numbers__look(struct machine *m, struct str ns, struct rest_sdb_total *out)
{
    struct machine_queue q;
    struct buf name;
    *out = (struct rest_sdb_total){.queues = 0};
    buf_init(&name, LIMIT_INTERNAL_NAME_BYTES);
    queue_name_add_internal(&name, ns, QUEUE_NAME_SCHEDULER);
    if (ns.len == 0) {
        machine_each_queue_called(m, QUEUE_NAME_SCHEDULER, add, out);
    } else if (machine_queue_find(m, buf_str(&name), &q)) {
        add(out, &q);
    }
    out->queues = out->queues == 0 ? 1 : out->queues;
    buf_deinit(&name);
}

static void look(struct rest_call *c, struct machine *m)
{
    struct taking *t = c->data;
    engine_status_here(c->rest->config.engine, &t->numbers.engine);
    rest_sdb_numbers__look(m, c->ns, &t->numbers.total);
    if (t->numbers.servers != NULL) {
        look_at_servers(&t->numbers, m);
    }
}

void rest_sdb_numbers__count(const struct machine_queue *q, uint64_t by[REST_SDB_STATUS_COUNT])
{
    by[REST_SDB_PENDING] =
        q->count[JOB_SCHEDULED] + q->count[JOB_PENDING] + q->count[JOB_HELD] - q->pending_again;
    by[REST_SDB_IN_PROGRESS] = q->count[JOB_ACTIVE];
    by[REST_SDB_COMPLETED] = q->count[JOB_COMPLETED];
    by[REST_SDB_CANCELLED] = q->count[JOB_CANCELLED];
    by[REST_SDB_TIMEOUT] = q->timed_out + q->timed_out_waiting;
    by[REST_SDB_FAILED] =
        q->count[JOB_RETRYING] + q->count[JOB_DEAD] + q->pending_again - by[REST_SDB_TIMEOUT];
}

uint64_t rest_sdb_numbers__times(uint64_t limit, uint64_t count)
{
    return limit > (uint64_t)INT64_MAX / count ? (uint64_t)INT64_MAX : limit * count;
}

double rest_sdb_numbers__percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part * 100 / (double)whole;
}

static void looked(struct rest_call *c)
{
    struct taking *t = c->data;
    rest_sdb_numbers__count(&t->numbers.total.queue, t->numbers.by_status);
    for (unsigned i = 0; i < REST_SDB_STATUS_COUNT; i++) {
        t->numbers.jobs += t->numbers.by_status[i];
    }
    t->then(c, &t->numbers);
}

void rest_sdb_numbers__take(struct rest_call *c, bool servers,
                            void (*then)(struct rest_call *c, const struct rest_sdb_numbers *n))
{
    struct taking *t = REST_NEW(c, struct taking);
    t->then = then;
    if (servers) {
        t->numbers.servers = rest_call__alloc(c, sizeof(struct rest_sdb_server) * LIMIT_NODES);
    }
    struct str queue;
    if (!rest_sdb_create__queue(c, &queue)) { /* the caller may not use the queue */
        return;
    }
    c->data = t;
    rest_call__on_core(c, look, looked);
}
