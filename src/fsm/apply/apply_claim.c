/*
 * Claim: hand waiting jobs to a worker.
 *
 * Queues in the order given; inside a queue by priority, then first come, first served. All limits
 * are looked at here, inside the replicated operation, so they hold for the whole cluster.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

enum { FETCH_AHEAD = 16 }; /* documents: most claims want fewer */

static struct live_job *first_in_line(const struct machine *m, const struct queue *q)
{
    for (unsigned i = 0; i < q->priority_line_count; i++) {
        if (q->priority_lines[i].line.first != LIVE_NONE) {
            return live_index_at(&m->live_index, q->priority_lines[i].line.first);
        }
    }
    return NULL;
}

void apply_claim__hand_out(struct machine *m, struct queue *q, struct job *j,
                           const struct command_claim *cl, struct result_item *item)
{
    uint64_t order = j->order;
    bool moved = job_move_target(j->state, JOB_MOVE_CLAIM, &j->state);
    CHECK(moved);
    CHECK(j->state == JOB_ACTIVE);
    j->attempt++;
    j->lease_token = ++m->store.meta.lease_token;
    jobs__forget_end(j);
    j->worker_id = cl->worker_id;
    j->hostname = cl->hostname;
    j->started_at = m->now;
    history__waited(m, j);
    j->ready_at = WALL_NONE;
    j->lease_expires_at = wall_add_ms(m->now, cl->lease_ms);
    jobs__write(m, j, STORE_LIVE);
    queues__count_claim(m, q);
    jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_STARTED,
                                              .job = j->id,
                                              .queue = j->queue,
                                              .text = j->worker_id,
                                              .attempt = j->attempt});
    *item = (struct result_item){.id = j->id, .doc = jobs__doc(m, j->id), .order = order};
}

/* Bring the documents of a line that is too long for the cache into memory, some at a time, in the
 * order in which they stand. */
static void fetch_ahead(struct machine *m, const struct live_job *l)
{
    struct id ids[FETCH_AHEAD];
    size_t count = 0;
    ids[count++] = l->id;
    while (count < FETCH_AHEAD && l->next != LIVE_NONE) {
        l = live_index_at(&m->live_index, l->next);
        ids[count++] = l->id;
    }
    if (count > 1) {
        store_docs_fetch(m->store.docs, ids, count);
    }
}

/* Claim from one queue until it has no more to give or the count is reached. */
static void claim_from(struct machine *m, const struct command_claim *cl, struct queue *q,
                       struct result *r)
{
    struct wall until;
    unsigned expired = 0;
    while (r->count < cl->count && expired < LIMIT_TICK_JOBS && queues__open(q, m->now, &until)) {
        struct live_job *l = first_in_line(m, q);
        struct job j;
        if (l == NULL) {
            break;
        }
        if (entry__is_full(m)) {
            r->more = r->count == 0; /* some are an answer; none would be a wrong one */
            break;
        }
        if (!store_docs_has(m->store.docs, l->id)) {
            fetch_ahead(m, l);
        }
        bool found = store_docs_get(m->store.docs, STORE_LIVE, l->id, &j);
        CHECK(found);
        struct apply_budget_verdict v = apply_budget__of_candidate(m, &j);
        if (j.expire_at.ns != 0 && j.expire_at.ns < m->now.ns) {
            job_end__expired(m, &j, STORE_LIVE);
            expired++;
        } else if (v.exceeded && v.action == STORE_BUDGET_REJECT) {
            if (r->count == 0) {
                entry__refuse(m, r, ERR_BUDGET_EXCEEDED, STR_FMT, STR_ARG(v.reason));
            }
            break;
        } else if (v.exceeded && v.action == STORE_BUDGET_HOLD) {
            apply_budget__hold(m, &j, JOB_MOVE_HOLD, v.reason);
            expired++;
        } else {
            apply_claim__hand_out(m, q, &j, cl, &r->items[r->count]);
            r->count++;
        }
    }
}

/* A queue whose budget refuses fetches refuses the whole claim. */
static bool may_claim(struct machine *m, const struct command_claim *cl, struct result *r)
{
    for (size_t i = 0; i < cl->queue_count; i++) {
        struct apply_budget_verdict v = apply_budget__at_fetch(m, cl->queues[i]);
        if (v.exceeded && v.action == STORE_BUDGET_REJECT) {
            entry__refuse(m, r, ERR_BUDGET_EXCEEDED, "budget exceeded for queue \"" STR_FMT "\"",
                          STR_ARG(queue_name_visible(cl->ns, cl->queues[i])));
            return false;
        }
    }
    return true;
}

/* One that holds takes the oldest job out of the line, and the queue gives nothing. */
static bool is_held_back(struct machine *m, const struct queue *q)
{
    struct apply_budget_verdict v = apply_budget__at_fetch(m, q->node.key);
    struct job j;
    enum store_family family;
    if (!v.exceeded || v.action != STORE_BUDGET_HOLD) {
        return false;
    }
    struct id oldest = queues__oldest_pending(m, q);
    if (!id_is_none(oldest) && jobs__get(m, oldest, &j, &family)) {
        apply_budget__hold(m, &j, JOB_MOVE_HOLD, v.reason);
    }
    return true;
}

void apply_claim__take(struct machine *m, const struct command_claim *cl, struct result *r)
{
    if (!may_claim(m, cl, r)) {
        return;
    }
    r->items = ENTRY_ARRAY(m, struct result_item, cl->count);
    for (size_t i = 0; i < cl->queue_count && r->count < cl->count && !r->more && r->code == ERR_OK;
         i++) {
        struct queue *q = queues__find(m, cl->queues[i]);
        if (q != NULL && !is_held_back(m, q)) {
            claim_from(m, cl, q, r);
        }
    }
    workers__seen(m, cl);
}

void apply_claim(struct machine *m, const struct command *c, struct result *r)
{
    apply_claim__take(m, &c->claim, r);
}
