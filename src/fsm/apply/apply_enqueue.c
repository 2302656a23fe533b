/*
 * Enqueue: create one or more jobs, either all or none.
 */
#include "base/check.h"
#include "fsm/apply/apply_int.h"

static bool settle_dependencies(struct machine *m, struct job *j, struct result *r)
{
    struct id missing;
    if (dependencies__settle(m, j, &missing)) {
        return true;
    }
    entry__refuse(m, r, ERR_VALIDATION, "depends_on: job \"" STR_FMT "\" not found",
                  STR_ARG(entry__id_text(m, missing, ID_JOB)));
    return false;
}

static bool batch_is_open(struct machine *m, const struct job *j, struct result *r)
{
    if (id_is_none(j->batch_id)) {
        return true;
    }
    const struct batch *b = batches__find(m, j->batch_id);
    if (b == NULL || b->rec.sealed) {
        entry__refuse(m, r, ERR_VALIDATION, "batch_id: batch \"" STR_FMT "\" is not open",
                      STR_ARG(entry__id_text(m, j->batch_id, ID_BATCH)));
        return false;
    }
    return true;
}

/* May the job be created? A refusal of one job of several names it. */
static bool may_create(struct machine *m, const struct command_enqueue *e, size_t i,
                       struct result *r)
{
    struct job *j = &e->jobs[i].job;
    if (settle_dependencies(m, j, r) && batch_is_open(m, j, r)) {
        return true;
    }
    if (e->count > 1) {
        entry__refuse(m, r, r->code, "jobs[%zu]: " STR_FMT, i, STR_ARG(r->message));
    }
    return false;
}

static void create(struct machine *m, struct command_new *new, struct batch *batch,
                   struct result_item *item)
{
    struct job *j = &new->job;
    const struct lock *taken =
        j->unique_key.len == 0 ? NULL : locks__running(m, j->queue, j->unique_key);
    if (taken != NULL) {
        promises__make(m, taken->job, j->queue);
        *item = (struct result_item){.id = taken->job, .status = RESULT_DUPLICATE};
        return;
    }
    if (new->expire_after_ms > 0) {
        j->expire_at = wall_add_ms(m->now, new->expire_after_ms);
    }
    if (new->starts_chain) {
        j->chain_id = entry__id_text(m, ids__new(m), ID_CHAIN);
        j->chain_step = 0;
        j->has_chain_step = true;
    }
    if (j->is_agent) {
        j->agent.iteration = 1;
        j->agent.total_cost_nusd = 0;
    }
    if (batch == NULL && !id_is_none(j->batch_id)) {
        batch = batches__find(m, j->batch_id);
    }
    if (batch != NULL) {
        j->batch_id = batch->id;
        batches__join(m, batch);
    }
    jobs__create(m, j);
    if (j->unique_key.len > 0) {
        locks__take(m, j);
    }
    item->id = j->id;
    item->status = j->state == JOB_SCHEDULED ? RESULT_SCHEDULED : RESULT_PENDING;
}

void apply_enqueue(struct machine *m, const struct command *c, struct result *r)
{
    const struct command_enqueue *e = &c->enqueue;
    struct store_batch rec = {.callback_queue = e->callback_queue,
                              .callback_payload = e->callback_payload,
                              .owner = e->owner,
                              .sealed = true};
    if (replies__find(m, e->idempotency_key, e->body_hash, r)) {
        return;
    }
    for (size_t i = 0; i < e->count; i++) {
        if (!may_create(m, e, i, r)) {
            return;
        }
    }
    if (!spaces__have_room(m, e->jobs, e->count, r) ||
        (e->has_batch && !batches__have_room(m, &rec, r))) {
        return;
    }
    struct batch *batch = NULL;
    if (e->has_batch) {
        batch = batches__open(m, ids__new(m), &rec);
        r->id = batch->id;
    }
    r->items = ENTRY_ARRAY(m, struct result_item, e->count);
    r->count = (uint32_t)e->count;
    for (size_t i = 0; i < e->count; i++) {
        r->items[i] = (struct result_item){0};
        create(m, &e->jobs[i], batch, &r->items[i]);
    }
    replies__keep(m, e->idempotency_key, e->body_hash, r);
}
