/*
 * Heartbeat: a worker is still running its jobs. Renews leases and reports which jobs to stop.
 */
#include "base/check.h"
#include "fsm/apply/apply_int.h"

/* Stop a job whose last report exceeded a budget, unless the budget only alerts. The report is
 * already recorded. */
static enum result_status stop(struct machine *m, struct job *j, enum store_family family,
                               const struct apply_budget_verdict *v)
{
    if (v->action == STORE_BUDGET_HOLD) {
        apply_budget__hold(m, j, JOB_MOVE_HOLD, v->reason);
        return RESULT_CANCEL;
    }
    if (v->action == STORE_BUDGET_REJECT) {
        bool moved = job_move_target(j->state, JOB_MOVE_CANCEL, &j->state);
        CHECK(moved);
        job_end__cancelled(m, j, family);
        return RESULT_CANCEL;
    }
    jobs__write(m, j, family);
    return RESULT_OK;
}

static enum result_status beat(struct machine *m, const struct command_heartbeat_item *it,
                               struct str *worker, bool *out_exceeded)
{
    struct job j;
    enum store_family family;
    if (!job_read__get(m, it->id, &j, &family)) {
        return RESULT_UNKNOWN;
    }
    /* The heartbeat arrived after the end of its own claim: no reason to stop. */
    if (jobs__was_ended(&j, it->lease_token, JOB_ENDED_ACK) ||
        jobs__was_ended(&j, it->lease_token, JOB_ENDED_FAIL)) {
        return RESULT_OK;
    }
    if (j.state != JOB_ACTIVE || j.push.len > 0 ||
        (it->lease_token != 0 && it->lease_token != j.lease_token)) {
        return RESULT_CANCEL;
    }
    if (worker->len == 0) {
        *worker = arena_str(m->arena, j.worker_id);
    }
    j.lease_expires_at = wall_add_ms(m->now, JOB_LEASE_MS);
    if (it->progress.len > 0) {
        j.progress = it->progress;
        jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_PROGRESS,
                                                  .job = j.id,
                                                  .queue = j.queue,
                                                  .text = it->progress});
    }
    if (it->checkpoint.len > 0) {
        j.checkpoint = it->checkpoint;
    }
    struct apply_budget_verdict v = apply_budget__of_job(m, &j, &it->usage);
    apply_budget__report(m, &j, STORE_PHASE_HEARTBEAT, &it->usage);
    *out_exceeded = v.exceeded;
    if (v.exceeded) {
        return stop(m, &j, family, &v);
    }
    jobs__write(m, &j, family);
    return RESULT_OK;
}

void apply_heartbeat(struct machine *m, const struct command *c, struct result *r)
{
    struct str worker = STR_EMPTY;
    r->items = ENTRY_ARRAY(m, struct result_item, c->heartbeat.count);
    while (r->count < c->heartbeat.count) {
        const struct command_heartbeat_item *it = &c->heartbeat.items[r->count];
        if (entry__is_full(m)) {
            r->more = true;
            r->done = r->count;
            break;
        }
        struct result_item *item = &r->items[r->count++];
        *item = (struct result_item){.id = it->id};
        item->status = beat(m, it, &worker, &item->budget_exceeded);
    }
    r->at = wall_add_ms(m->now, JOB_LEASE_MS);
    workers__heartbeat(m, c->heartbeat.ns, worker);
}
