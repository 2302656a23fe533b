/*
 * Ack (http-api.md 6.12, 6.13, 8.3, 8.4): the end of a job, or of one iteration of an agent job.
 */
#include <stdio.h>

#include "base/check.h"
#include "base/limits.h"
#include "sim/model_sim/model_int.h"

/* A repeated request: its token has already ended the job, and the first answer was lost. */
static bool is_repeated(const struct model_job *j, const struct command_ack_item *item)
{
    return item->lease_token != 0 && item->lease_token == j->doc.lease_token &&
           (j->doc.ended == JOB_ENDED_ACK || j->doc.ended == JOB_ENDED_CONTINUE);
}

static enum err_code check_item(const struct model *m, const struct command_ack_item *item)
{
    const struct model_job *j = model_find_job(m, item->id);
    if (j == NULL) {
        return ERR_NOT_FOUND;
    }
    if (is_repeated(j, item)) {
        return ERR_OK;
    }
    if (j->doc.state != JOB_ACTIVE) {
        return ERR_ACK;
    }
    if (item->lease_token != 0 && item->lease_token != j->doc.lease_token) {
        return ERR_ACK;
    }
    bool for_agents =
        item->agent_status != COMMAND_AGENT_NONE && item->agent_status != COMMAND_AGENT_HOLD_ANY;
    return for_agents && !j->doc.is_agent ? ERR_ACK : ERR_OK;
}

/* "12.3457": dollars with four decimals, rounded half up. */
static void dollars(char *out, size_t size, int64_t nusd)
{
    int64_t parts = (nusd + 50000) / 100000;
    (void)snprintf(out, size, "%lld.%04lld", (long long)(parts / 10000),
                   (long long)(parts % 10000));
}

/* Begin the next iteration. Returns the reason to hold the job, or empty. */
static struct str next_iteration(struct model *m, struct job_agent *a)
{
    char reason[160] = "";
    a->iteration++;
    if (a->max_iterations > 0 && a->iteration > a->max_iterations) {
        (void)snprintf(reason, sizeof reason, "max_iterations exceeded (%lld)",
                       (long long)a->max_iterations);
    } else if (a->max_cost_nusd > 0 && a->total_cost_nusd > a->max_cost_nusd) {
        char total[40], max[40];
        dollars(total, sizeof total, a->total_cost_nusd);
        dollars(max, sizeof max, a->max_cost_nusd);
        (void)snprintf(reason, sizeof reason, "max_cost_usd exceeded (%s > %s)", total, max);
    }
    return model_keep(m, str_from_z(reason));
}

static void complete(struct model *m, struct model_job *j, const struct command_ack_item *item)
{
    j->doc.completed_at = m->now;
    model_job_to_state(m, j, JOB_COMPLETED);
    model_lock_release(m, j);
    (void)model_event(m, STORE_EVENT_COMPLETED, &j->doc);
    model_batch_count_end(m, j, true);
    model_chain_advance(m, j, item);
    model_job_satisfy(m, j);
}

static void hold(struct model *m, struct model_job *j, struct str reason)
{
    j->doc.hold_reason = model_keep(m, reason);
    model_job_to_state(m, j, JOB_HELD);
    struct store_event *e = model_event(m, STORE_EVENT_HELD, &j->doc);
    if (e != NULL) {
        e->text = j->doc.hold_reason;
    }
}

static void go_on(struct model *m, struct model_job *j)
{
    model_job_to_state(m, j, JOB_PENDING);
    (void)model_event(m, STORE_EVENT_CONTINUED, &j->doc);
}

static struct str policy_reason(struct model *m, struct str policy)
{
    char reason[320];
    int len = snprintf(reason, sizeof reason, "approval policy matched: " STR_FMT, STR_ARG(policy));
    return model_keep(m, str_from(reason, (size_t)len));
}

static void iteration_ends(struct model *m, struct model_job *j,
                           const struct command_ack_item *item)
{
    struct store_iteration row = {
        .iteration = j->doc.agent.iteration,
        .status = STORE_ITERATION_DONE,
        .checkpoint = j->doc.checkpoint,
        .result = item->has_result ? item->result : STR_EMPTY,
        .tokens = item->usage,
    };
    struct str policy =
        item->agent_status == COMMAND_AGENT_CONTINUE ? model_policy_of(m, &j->doc) : STR_EMPTY;
    j->doc.agent.total_cost_nusd += item->usage.cost_nusd;
    if (item->agent_status == COMMAND_AGENT_HOLD || item->agent_status == COMMAND_AGENT_HOLD_ANY ||
        policy.len > 0) {
        row.hold_reason = item->hold_reason.len > 0 || policy.len == 0 ? item->hold_reason
                                                                       : policy_reason(m, policy);
        row.status = STORE_ITERATION_HOLD;
        hold(m, j, row.hold_reason);
        j->doc.ended =
            item->agent_status == COMMAND_AGENT_CONTINUE ? JOB_ENDED_CONTINUE : JOB_ENDED_ACK;
    } else if (item->agent_status == COMMAND_AGENT_CONTINUE) {
        row.hold_reason = next_iteration(m, &j->doc.agent);
        if (row.hold_reason.len > 0) {
            row.status = STORE_ITERATION_HOLD;
            hold(m, j, row.hold_reason);
            j->doc.ended = JOB_ENDED_CONTINUE;
        } else {
            row.status = STORE_ITERATION_CONTINUE;
            j->doc.attempt = 0;
            go_on(m, j);
        }
    } else {
        complete(m, j, item);
    }
    model_job_add_iteration(m, j, row);
}

static void ack_one(struct model *m, const struct command_ack_item *item)
{
    struct model_job *j = model_find_job(m, item->id);
    if (is_repeated(j, item)) {
        return;
    }
    j->doc.ended = JOB_ENDED_ACK;
    model_job_add_usage(m, j, STORE_PHASE_ACK, &item->usage);
    if (item->has_result) {
        j->doc.result = model_keep(m, item->result);
    }
    if (item->checkpoint.len > 0) {
        j->doc.checkpoint = model_keep(m, item->checkpoint);
    }
    j->doc.hold_reason = STR_EMPTY;
    model_job_clear_worker(j);
    if (j->doc.is_agent) {
        iteration_ends(m, j, item);
    } else if (item->agent_status == COMMAND_AGENT_HOLD_ANY) {
        hold(m, j, item->hold_reason);
    } else {
        complete(m, j, item);
    }
}

/* Is the job that the item acknowledges already counted? */
static bool is_counted(const struct command_ack *c, const bool *counted, size_t item)
{
    bool found = false;
    for (size_t i = 0; i < item; i++) {
        found = found || (counted[i] && id_eq(c->items[i].id, c->items[item].id));
    }
    return found;
}

void model_ack(struct model *m, const struct command_ack *c, struct result *out)
{
    bool counted[LIMIT_ACK_BATCH] = {false};
    for (size_t i = 0; i < c->count; i++) {
        enum err_code code = check_item(m, &c->items[i]);
        if (code == ERR_OK) {
            ack_one(m, &c->items[i]);
            counted[i] = m->version < COMMAND_ENTRY_SOUND || !is_counted(c, counted, i);
            out->affected += counted[i] ? 1 : 0;
        } else if (!c->lenient) {
            model_refuse(out, code);
            return;
        }
    }
    if (c->next != NULL) {
        model_claim(m, c->next, out);
    }
}
