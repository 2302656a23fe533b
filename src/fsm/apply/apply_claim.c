/*
 * Claim: assign waiting jobs to a worker.
 *
 * Queues are used in the given order. Within a queue, priority decides, then first come, first
 * served. All limits are checked here, in the replicated operation, so they hold for the whole
 * cluster.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

enum { FETCH_AHEAD = 16 }; /* documents: most claims need fewer */

/* The next job in line, or the first one of the next priority that has any. */
static struct live_job *next_in_line(const struct machine *m, const struct queue *q,
                                     const struct live_job *l)
{
    return l->next != LIVE_NONE ? live_index_at(&m->live_index, l->next)
                                : queue_lines__first_of_priority(m, q, l->priority + 1U);
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
    queue_limits__count_claim(m, q);
    jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_STARTED,
                                              .job = j->id,
                                              .queue = j->queue,
                                              .text = j->worker_id,
                                              .attempt = j->attempt});
    *item = (struct result_item){.id = j->id, .doc = job_read__doc(m, j->id), .order = order};
}

/* Read the next documents of a line that is too long for the cache, several at a time, in the order
 * of the line. */
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

/* A claim that is being applied. */
struct pass {
    const struct command_claim *cl;
    struct result *r;
    unsigned moved;      /* jobs that were held or expired instead of claimed */
    unsigned moved_here; /* the same, in the current queue */
    bool may_hold;       /* may hold a job of the current queue */
};

/* Since entries of version 11, a claim holds at most one job per queue, and a refused claim has
 * changed nothing. */
static bool is_strict(const struct machine *m)
{
    return m->entry_version >= COMMAND_ENTRY_STRICT;
}

/* Is the entry full, so that the claim must stop? No command starts in a full entry. So if it was
 * filled before the first job, it was by the look-ahead (may_begin), which would fill the next
 * entry, too. The documents that it has read are not read again. */
static bool must_stop(const struct machine *m, const struct pass *p)
{
    return entry__is_full(m) && (!is_strict(m) || p->r->count + p->moved > 0);
}

static void hold(struct machine *m, struct pass *p, struct job *j, struct str reason)
{
    apply_budget__hold(m, j, JOB_MOVE_HOLD, reason);
    p->moved++;
    p->moved_here++;
    p->may_hold = !is_strict(m);
    p->r->affected += is_strict(m) ? 1 : 0;
}

static bool is_expired(const struct machine *m, const struct live_job *l)
{
    return heap_node_is_in(&l->expiry) && heap_key(&m->expiry, &l->expiry) < m->now.ns;
}

static void read_candidate(struct machine *m, const struct live_job *l, struct job *out)
{
    if (!store_docs_has(m->store.docs, l->id)) {
        fetch_ahead(m, l);
    }
    bool found = store_docs_get(m->store.docs, STORE_LIVE, l->id, out);
    CHECK(found);
}

/* The budget of a tag does not allow the first job in line. Does the claim continue with the next
 * job of the queue? */
static bool pass_over(struct machine *m, struct pass *p, struct job *j,
                      const struct apply_budget_verdict *v)
{
    if (v->action == STORE_BUDGET_HOLD && p->may_hold) {
        hold(m, p, j, v->reason);
        return true;
    }
    /* A strict claim has already checked this. */
    if (v->action == STORE_BUDGET_REJECT && p->r->count == 0 && !is_strict(m)) {
        entry__refuse(m, p->r, ERR_BUDGET_EXCEEDED, STR_FMT, STR_ARG(v->reason));
    }
    return false;
}

/* Claim from one queue until no job can be claimed or the count is reached. */
static void claim_from(struct machine *m, struct pass *p, struct queue *q)
{
    struct result *r = p->r;
    struct wall until;
    p->moved_here = 0;
    p->may_hold = !p->cl->no_hold;
    while (r->count < p->cl->count && p->moved_here < LIMIT_TICK_JOBS &&
           queue_limits__open(q, m->now, &until)) {
        const struct live_job *l = queue_lines__first(m, q);
        struct job j;
        if (l == NULL) {
            break;
        }
        if (must_stop(m, p)) {
            r->more = r->count == 0; /* some jobs are a valid result, none are not */
            break;
        }
        read_candidate(m, l, &j);
        struct apply_budget_verdict v = apply_budget__of_candidate(m, &j);
        if (j.expire_at.ns != 0 && j.expire_at.ns < m->now.ns) {
            job_end__expired(m, &j, STORE_LIVE);
            p->moved++;
            p->moved_here++;
        } else if (!v.exceeded || v.action == STORE_BUDGET_ALERT) {
            apply_claim__hand_out(m, q, &j, p->cl, &r->items[r->count]);
            r->count++;
        } else if (!pass_over(m, p, &j, &v)) {
            break;
        }
    }
}

/* Refuse the whole claim if the budget of one of its queues rejects fetches. */
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

static bool holds_at_fetch(struct machine *m, struct str queue, struct apply_budget_verdict *out)
{
    *out = apply_budget__at_fetch(m, queue);
    return out->exceeded && out->action == STORE_BUDGET_HOLD;
}

/* Does a budget hold the queue? Then its oldest pending job is held, and the queue returns no
 * jobs. */
static bool is_held_back(struct machine *m, struct pass *p, const struct queue *q)
{
    struct apply_budget_verdict v;
    struct job j;
    enum store_family family;
    if (!holds_at_fetch(m, q->node.key, &v)) {
        return false;
    }
    struct id oldest = p->cl->no_hold ? ID_NONE : queue_lines__oldest_pending(m, q);
    if (!id_is_none(oldest) && job_read__get(m, oldest, &j, &family)) {
        hold(m, p, &j, v.reason);
    }
    return true;
}

/* Was the queue listed before? It is used once. */
static bool is_listed_before(const struct command_claim *cl, size_t i)
{
    size_t at = 0;
    while (at < i && !str_eq(cl->queues[at], cl->queues[i])) {
        at++;
    }
    return at < i;
}

/* The result of looking ahead into one queue. */
enum ahead { AHEAD_NOTHING, AHEAD_JOB, AHEAD_REFUSAL };

/* What would claim_from do first, apart from holding and expiring jobs? */
static enum ahead look_into(struct machine *m, const struct command_claim *cl,
                            const struct queue *q, struct apply_budget_verdict *out)
{
    struct wall until;
    unsigned passed = 0;
    bool may_hold = !cl->no_hold;
    if (holds_at_fetch(m, q->node.key, out) || !queue_limits__open(q, m->now, &until)) {
        return AHEAD_NOTHING;
    }
    for (const struct live_job *l = queue_lines__first(m, q); l != NULL && passed < LIMIT_TICK_JOBS;
         l = next_in_line(m, q, l), passed++) {
        struct job j;
        if (is_expired(m, l)) {
            continue;
        }
        read_candidate(m, l, &j);
        *out = apply_budget__of_candidate(m, &j);
        if (!out->exceeded || out->action == STORE_BUDGET_ALERT) {
            return AHEAD_JOB;
        }
        if (out->action == STORE_BUDGET_REJECT) {
            return AHEAD_REFUSAL;
        }
        if (!may_hold) {
            return AHEAD_NOTHING;
        }
        may_hold = false;
    }
    return AHEAD_NOTHING;
}

/* Refuse the claim if the budget of a tag rejects it. This can only be seen in the documents of
 * jobs, and must be known before anything is changed. A claim that gets a job first is not refused.
 * If the look-ahead alone fills an entry with jobs that are all over their budgets, the claim is
 * refused. If other commands have filled the entry, the next entry decides. */
static bool may_begin(struct machine *m, const struct command_claim *cl, struct result *r)
{
    enum ahead ahead = AHEAD_NOTHING;
    struct apply_budget_verdict v = {.exceeded = false};
    uint64_t before = entry__cost(m);
    if (!is_strict(m) || m->tag_budgets == 0) {
        return true;
    }
    for (size_t i = 0; i < cl->queue_count && ahead == AHEAD_NOTHING; i++) {
        const struct queue *q = queues__find(m, cl->queues[i]);
        if (q != NULL && !is_listed_before(cl, i)) {
            ahead = look_into(m, cl, q, &v);
        }
        if (ahead == AHEAD_NOTHING && entry__is_full(m)) {
            r->more = entry__cost(m) - before < LIMIT_STEP_BYTES;
            ahead = AHEAD_REFUSAL;
        }
    }
    if (ahead == AHEAD_REFUSAL && !r->more) {
        entry__refuse(m, r, ERR_BUDGET_EXCEEDED, STR_FMT, STR_ARG(v.reason));
    }
    return ahead != AHEAD_REFUSAL;
}

void apply_claim__take(struct machine *m, const struct command_claim *cl, struct result *r)
{
    struct pass p = {.cl = cl, .r = r};
    if (!may_claim(m, cl, r) || !may_begin(m, cl, r)) {
        return;
    }
    r->items = ENTRY_ARRAY(m, struct result_item, cl->count);
    for (size_t i = 0; i < cl->queue_count && r->count < cl->count && !r->more && r->code == ERR_OK;
         i++) {
        struct queue *q = queues__find(m, cl->queues[i]);
        bool again = is_strict(m) && is_listed_before(cl, i);
        if (q != NULL && !again && !is_held_back(m, &p, q)) {
            claim_from(m, &p, q);
        }
    }
    workers__seen(m, cl);
}

void apply_claim(struct machine *m, const struct command *c, struct result *r)
{
    apply_claim__take(m, &c->claim, r);
}
