/*
 * Numbers of the queue of the Scheduled-DB face, taken between two entries.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/machine_nodes.h"
#include "rest/sdb/rest_sdb_int.h"

struct taking {
    struct rest_sdb_numbers numbers;
    struct str queue;
    void (*then)(struct rest_call *c, const struct rest_sdb_numbers *n);
};

/* Who is a member, and does not leave. */
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

static void look(struct rest_call *c, struct machine *m)
{
    struct taking *t = c->data;
    struct machine_queue *q = &t->numbers.queue;
    engine_status_here(c->rest->config.engine, &t->numbers.engine);
    if (!machine_queue_find(m, t->queue, q)) {
        *q = (struct machine_queue){.paused = false};
    }
    q->name = STR_EMPTY;
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

double rest_sdb_numbers__percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part * 100 / (double)whole;
}

static void looked(struct rest_call *c)
{
    struct taking *t = c->data;
    rest_sdb_numbers__count(&t->numbers.queue, t->numbers.by_status);
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
    if (!rest_sdb_create__queue(c, &t->queue)) {
        return;
    }
    c->data = t;
    rest_call__on_core(c, look, looked);
}
