/*
 * Ack: a worker has finished a job, or an iteration of an agent job.
 *
 * Since version 3, an ack can contain a claim for the worker's next jobs. It is applied in the same
 * entry, after all items, unless the ack is refused. An ack can also ignore the per-job limits of
 * budgets.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/agent.h"
#include "fsm/apply/apply_int.h"

/* The status that the worker sent. If it is "continue" and an approval policy matches, the job is
 * held instead. The reason is the worker's or, without one, the name of the policy. */
static enum command_agent_status status_of(struct machine *m, const struct job *j,
                                           const struct command_ack_item *it,
                                           struct str *out_reason)
{
    *out_reason = it->hold_reason;
    if (it->agent_status == COMMAND_AGENT_HOLD_ANY) {
        return COMMAND_AGENT_HOLD;
    }
    if (it->agent_status != COMMAND_AGENT_CONTINUE) {
        return it->agent_status;
    }
    struct str name = policies__match(m, j);
    if (name.len == 0) {
        return COMMAND_AGENT_CONTINUE;
    }
    if (it->hold_reason.len == 0) {
        struct buf reason;
        buf_init(&reason, (size_t)2 * LIMIT_NAME_BYTES);
        buf_add_str(&reason, STR("approval policy matched: "));
        buf_add_str(&reason, name);
        *out_reason = entry__keep(m, &reason);
    }
    return COMMAND_AGENT_HOLD;
}

/* End an iteration of an agent job: returns the move that its ack causes, and adds its row. Sets
 * the hold reason of j. */
static enum job_move end_iteration(struct machine *m, struct job *j,
                                   const struct command_ack_item *it)
{
    struct store_iteration row = {.iteration = j->agent.iteration,
                                  .created_at = m->now,
                                  .checkpoint = j->checkpoint,
                                  .result = it->result,
                                  .tokens = it->usage};
    enum job_move move = JOB_MOVE_COMPLETE;
    struct str asked;
    struct buf reason;
    enum command_agent_status status = status_of(m, j, it, &asked);

    buf_init(&reason, 256);
    j->hold_reason = STR_EMPTY;
    agent_add_cost(&j->agent, it->usage.cost_nusd);
    row.status = STORE_ITERATION_DONE;
    if (status == COMMAND_AGENT_HOLD) {
        move = JOB_MOVE_ACK_HOLD;
        j->hold_reason = asked;
    } else if (status == COMMAND_AGENT_CONTINUE) {
        agent_next_iteration(&j->agent, &reason);
        move = reason.len > 0 ? JOB_MOVE_ACK_HOLD : JOB_MOVE_CONTINUE;
        /* Retries count per iteration. For a held job, the next iteration begins with its
         * approval. */
        if (move == JOB_MOVE_CONTINUE || m->version < 2) {
            j->attempt = 0;
        }
    }
    if (reason.len > 0) {
        j->hold_reason = entry__keep(m, &reason);
    }
    buf_deinit(&reason);
    if (move == JOB_MOVE_ACK_HOLD) {
        row.status = STORE_ITERATION_HOLD;
        row.hold_reason = j->hold_reason;
    } else if (move == JOB_MOVE_CONTINUE) {
        row.status = STORE_ITERATION_CONTINUE;
    }
    store_rows_add_iteration(&m->store, j, &row);
    return move;
}

/* The move that the ack of any other job causes. */
static enum job_move end_run(struct job *j, const struct command_ack_item *it)
{
    bool hold = it->agent_status == COMMAND_AGENT_HOLD_ANY;
    j->hold_reason = hold ? it->hold_reason : STR_EMPTY;
    return hold ? JOB_MOVE_ACK_HOLD : JOB_MOVE_COMPLETE;
}

static bool is_for_agents(enum command_agent_status status)
{
    return status != COMMAND_AGENT_NONE && status != COMMAND_AGENT_HOLD_ANY;
}

static bool may_ack(struct machine *m, struct job *j, const struct command_ack_item *it,
                    bool any_cost, struct result *r)
{
    if (!jobs__may_move(m, j, JOB_MOVE_COMPLETE, ERR_ACK, r) ||
        !jobs__lease_holds(m, j, it->lease_token, ERR_ACK, r)) {
        return false;
    }
    if (j->push.len > 0) {
        entry__refuse(m, r, ERR_ACK, "job " STR_FMT " is delivered by the server",
                      STR_ARG(entry__id_text(m, j->id, ID_JOB)));
        return false;
    }
    if (is_for_agents(it->agent_status) && !j->is_agent) {
        entry__refuse(m, r, ERR_ACK, "job " STR_FMT " is not an agent job",
                      STR_ARG(entry__id_text(m, j->id, ID_JOB)));
        return false;
    }
    if (any_cost) {
        return true;
    }
    struct apply_budget_verdict v = apply_budget__of_job(m, j, &it->usage);
    if (v.exceeded && v.action == STORE_BUDGET_REJECT) {
        entry__refuse(m, r, ERR_BUDGET_EXCEEDED, STR_FMT, STR_ARG(v.reason));
        return false;
    }
    return true;
}

static void acknowledge(struct machine *m, struct job *j, const struct command_ack_item *it)
{
    apply_budget__report(m, j, STORE_PHASE_ACK, &it->usage);
    if (it->checkpoint.len > 0) {
        j->checkpoint = it->checkpoint;
    }
    if (it->has_result) {
        j->result = it->result;
    }
    enum job_move move = j->is_agent ? end_iteration(m, j, it) : end_run(j, it);
    bool moved = job_move_target(j->state, move, &j->state);
    CHECK(moved);
    jobs__clear_claim(j);
    if (m->version >= 2) {
        bool asked_on = it->agent_status == COMMAND_AGENT_CONTINUE && move == JOB_MOVE_ACK_HOLD;
        j->ended = asked_on ? JOB_ENDED_CONTINUE : JOB_ENDED_ACK;
    }
    if (move == JOB_MOVE_COMPLETE) {
        job_end__completed(m, j, STORE_LIVE,
                           &(struct job_end_ack){.has_result = it->has_result,
                                                 .result = it->result,
                                                 .exit = it->step_status == COMMAND_STEP_EXIT,
                                                 .exit_reason = it->exit_reason});
    } else if (move == JOB_MOVE_CONTINUE) {
        jobs__write(m, j, STORE_LIVE);
        jobs__emit(m, STORE_EVENT_CONTINUED, j);
    } else {
        jobs__write(m, j, STORE_LIVE);
        jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_HELD,
                                                  .job = j->id,
                                                  .queue = j->queue,
                                                  .text = j->hold_reason});
    }
}

/* Claim the worker's next jobs. If the entry is full, the next one does it; the worker counts as
 * seen in any case. */
static void take_next(struct machine *m, const struct command_ack *ack, struct result *r)
{
    struct result next = {0};
    if (entry__is_full(m)) {
        next.more = true;
        workers__seen(m, ack->next);
    } else {
        apply_claim__take(m, ack->next, &next);
    }
    r->items = next.items;
    r->count = next.count;
    r->next_code = next.code;
    r->message = next.message;
    r->more = next.more && next.affected == 0; /* repeating the claim would hold more jobs */
    r->done = r->more ? (uint32_t)ack->count : 0;
}

/* Was the job of the item counted for an earlier one? */
static bool was_counted(const bool *counted, const struct command_ack *ack, size_t item)
{
    for (size_t i = 0; i < item; i++) {
        if (counted[i] && id_eq(ack->items[i].id, ack->items[item].id)) {
            return true;
        }
    }
    return false;
}

void apply_ack(struct machine *m, const struct command *c, struct result *r)
{
    bool *counted = ENTRY_ARRAY(m, bool, c->ack.count); /* by item */
    for (size_t i = 0; i < c->ack.count; i++) {
        const struct command_ack_item *it = &c->ack.items[i];
        struct job j;
        enum store_family family;
        if (entry__is_full(m)) {
            r->more = true;
            r->done = (uint32_t)i;
            return;
        }
        bool there = job_read__need(m, it->id, &j, &family, r);
        counted[i] = false;
        if (there && jobs__was_ended(&j, it->lease_token, JOB_ENDED_ACK)) {
            /* A repeated request whose response was lost: same result. If the job was ended by this
             * request, it is counted already. */
            bool once = m->entry_version >= COMMAND_ENTRY_SOUND;
            counted[i] = !once || !was_counted(counted, &c->ack, i);
            r->affected += counted[i] ? 1 : 0;
        } else if (there && may_ack(m, &j, it, c->ack.any_cost, r)) {
            acknowledge(m, &j, it);
            counted[i] = true;
            r->affected++;
        } else if (!c->ack.lenient) {
            return;
        } else {
            r->code = ERR_OK; /* skipped */
        }
    }
    if (c->ack.next != NULL) {
        take_next(m, &c->ack, r);
    }
}
