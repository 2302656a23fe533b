#include "sim/model_sim/trace.h"

#include <inttypes.h>

void trace_id(FILE *out, struct id id)
{
    if (id_is_none(id)) {
        (void)fputc('-', out);
        return;
    }
    char text[ID_TEXT_MAX];
    size_t len = id_format(id, STR_EMPTY, text);
    (void)fprintf(out, "%.*s", (int)len, text);
}

static void trace_ids(FILE *out, struct str ids)
{
    for (size_t at = 0; at < ids.len; at += ID_BYTES) {
        struct id id;
        memcpy(id.b, ids.ptr + at, ID_BYTES);
        (void)fputc(' ', out);
        trace_id(out, id);
    }
}

static void trace_new(FILE *out, const struct command_new *n)
{
    const struct job *j = &n->job;
    (void)fprintf(out, "\n      job queue=" STR_FMT " priority=%u retries=%u backoff=%s",
                  STR_ARG(j->queue), j->priority, j->max_retries, job_backoff_name(j->backoff));
    if (j->unique_key.len > 0) {
        (void)fprintf(out, " key=" STR_FMT "/%" PRId64 "s", STR_ARG(j->unique_key),
                      j->unique_period_s);
    }
    if (j->scheduled_at.ns != 0) {
        (void)fprintf(out, " scheduled=%" PRId64, j->scheduled_at.ns);
    }
    if (n->expire_after_ms != 0) {
        (void)fprintf(out, " expires_after=%" PRId64, n->expire_after_ms);
    }
    if (j->is_agent) {
        (void)fprintf(out, " agent=%" PRId64 "/%" PRId64 "/%" PRId64, j->agent.max_iterations,
                      j->agent.max_cost_nusd, j->agent.timeout_ms);
    }
    if (n->starts_chain || j->chain_config.len > 0) {
        (void)fprintf(out, " %s step=%d config=" STR_FMT, n->starts_chain ? "chain" : "raw",
                      j->chain_step, STR_ARG(j->chain_config));
    }
    if (!id_is_none(j->batch_id)) {
        (void)fprintf(out, " batch=");
        trace_id(out, j->batch_id);
    }
    if (j->waits_for.len > 0) {
        (void)fprintf(out, " waits for");
        trace_ids(out, j->waits_for);
    }
}

static void trace_enqueue(FILE *out, const struct command_enqueue *c)
{
    if (c->has_batch) {
        (void)fprintf(out, " batch callback=" STR_FMT " payload=" STR_FMT,
                      STR_ARG(c->callback_queue), STR_ARG(c->callback_payload));
    }
    if (c->idempotency_key.len > 0) {
        (void)fprintf(out, " idempotent=" STR_FMT, STR_ARG(c->idempotency_key));
    }
    for (size_t i = 0; i < c->count; i++) {
        trace_new(out, &c->jobs[i]);
    }
}

static void trace_claim(FILE *out, const struct command_claim *c)
{
    (void)fprintf(out, " worker=" STR_FMT " lease=%" PRId64 " count=%u from", STR_ARG(c->worker_id),
                  c->lease_ms, c->count);
    for (size_t i = 0; i < c->queue_count; i++) {
        (void)fprintf(out, " " STR_FMT, STR_ARG(c->queues[i]));
    }
}

static void trace_ack(FILE *out, const struct command_ack *c)
{
    (void)fprintf(out, "%s%s", c->lenient ? " lenient" : "", c->any_cost ? " any_cost" : "");
    for (size_t i = 0; i < c->count; i++) {
        const struct command_ack_item *item = &c->items[i];
        (void)fprintf(out, "\n      ");
        trace_id(out, item->id);
        (void)fprintf(out,
                      " token=%" PRIu64 " result=" STR_FMT " agent=%d step=%d cost=%" PRId64
                      " checkpoint=" STR_FMT " reason=" STR_FMT,
                      item->lease_token, STR_ARG(item->result), (int)item->agent_status,
                      (int)item->step_status, item->usage.cost_nusd, STR_ARG(item->checkpoint),
                      STR_ARG(item->hold_reason));
    }
    if (c->next != NULL) {
        (void)fprintf(out, "\n      next");
        trace_claim(out, c->next);
    }
}

static void trace_heartbeat(FILE *out, const struct command_heartbeat *c)
{
    for (size_t i = 0; i < c->count; i++) {
        (void)fputc(' ', out);
        trace_id(out, c->items[i].id);
        (void)fprintf(out, " token=%" PRIu64 " progress=" STR_FMT, c->items[i].lease_token,
                      STR_ARG(c->items[i].progress));
    }
}

static void trace_fit(FILE *out, const struct job_fit *fit)
{
    (void)fprintf(out, " states=%x priorities=%x in=" STR_FMT, fit->states, fit->priorities,
                  STR_ARG(fit->queue));
}

static void trace_jobs(FILE *out, const struct command_jobs *c)
{
    static const char *const words[] = {
        [COMMAND_JOB_RETRY] = "retry",     [COMMAND_JOB_REQUEUE] = "requeue",
        [COMMAND_JOB_CANCEL] = "cancel",   [COMMAND_JOB_HOLD] = "hold",
        [COMMAND_JOB_APPROVE] = "approve", [COMMAND_JOB_REJECT] = "reject",
        [COMMAND_JOB_MOVE] = "move",       [COMMAND_JOB_CHANGE_PRIORITY] = "priority",
        [COMMAND_JOB_DELETE] = "delete",
    };
    (void)fprintf(out, " %s%s to=" STR_FMT " priority=%u reset=%d", words[c->action],
                  c->lenient ? " lenient" : "", STR_ARG(c->queue), c->priority,
                  c->reset_attempts ? 1 : 0);
    trace_fit(out, &c->fit);
    for (size_t i = 0; i < c->count; i++) {
        (void)fputc(' ', out);
        trace_id(out, c->ids[i]);
    }
}

static void trace_queue(FILE *out, const struct command_queue *c)
{
    static const char *const words[] = {
        [COMMAND_QUEUE_PAUSE] = "pause",
        [COMMAND_QUEUE_RESUME] = "resume",
        [COMMAND_QUEUE_CONCURRENCY] = "concurrency",
        [COMMAND_QUEUE_THROTTLE] = "throttle",
        [COMMAND_QUEUE_UNTHROTTLE] = "unthrottle",
        [COMMAND_QUEUE_CLEAR] = "clear",
        [COMMAND_QUEUE_DELETE] = "delete",
    };
    (void)fprintf(out,
                  " %s " STR_FMT " max=%u rate=%u window=%" PRId64 " cursor=", words[c->action],
                  STR_ARG(c->name), c->max, c->rate, c->window_ms);
    trace_id(out, c->cursor);
    (void)fprintf(out, " until=");
    trace_id(out, c->until);
    (void)fprintf(out, " in_done=%d", c->in_done ? 1 : 0);
}

static void trace_schedule(FILE *out, const struct command *c)
{
    if (c->type == COMMAND_SCHEDULE_PUT) {
        const struct command_schedule_put *p = &c->schedule_put;
        trace_id(out, p->id);
        (void)fprintf(out, " name=" STR_FMT " queue=" STR_FMT " key=" STR_FMT " enabled=%d",
                      STR_ARG(p->schedule.name), STR_ARG(p->schedule.queue),
                      STR_ARG(p->schedule.unique_key), p->schedule.enabled ? 1 : 0);
    } else if (c->type == COMMAND_SCHEDULE_DELETE) {
        trace_id(out, c->schedule_delete.id);
    } else {
        const struct command_schedule_fire *f = &c->schedule_fire;
        trace_id(out, f->id);
        (void)fprintf(out, " %s expected=%" PRId64 " next=%" PRId64, f->manual ? "manual" : "due",
                      f->expected_next.ns, f->next.ns);
    }
}

static void trace_webhook(FILE *out, const struct command *c)
{
    if (c->type == COMMAND_WEBHOOK_PUT) {
        const struct command_webhook_put *p = &c->webhook_put;
        (void)fprintf(out, "'" STR_FMT "' ns='" STR_FMT "' keep_secret=%d enabled=%d",
                      STR_ARG(p->id), STR_ARG(p->webhook.ns), p->keep_secret ? 1 : 0,
                      p->webhook.enabled ? 1 : 0);
    } else if (c->type == COMMAND_WEBHOOK_DELETE) {
        (void)fprintf(out, "'" STR_FMT "'", STR_ARG(c->webhook_delete.id));
    } else {
        for (size_t i = 0; i < c->webhook_mark.count; i++) {
            const struct command_webhook_mark_item *it = &c->webhook_mark.items[i];
            (void)fprintf(out, "'" STR_FMT "' created=%" PRId64 " position=%" PRIu64 " status=%u ",
                          STR_ARG(it->id), it->created_at.ns, it->position, it->status);
        }
    }
}

static void trace_bulk(FILE *out, const struct command *c)
{
    if (c->type == COMMAND_BULK_PUT) {
        const struct command_bulk_put *p = &c->bulk_put;
        (void)fprintf(out, " action=%d filter=" STR_FMT " ids=%zu", (int)p->action,
                      STR_ARG(p->filter), p->count);
        trace_fit(out, &p->fit);
    } else if (c->type == COMMAND_BULK_STEP) {
        const struct command_bulk_step *s = &c->bulk_step;
        trace_id(out, s->id);
        (void)fprintf(out, " step=%u last=%d", s->step, s->last ? 1 : 0);
        for (size_t i = 0; i < s->count; i++) {
            (void)fputc(' ', out);
            trace_id(out, s->ids[i]);
        }
    } else {
        trace_id(out, c->bulk_end.id);
        (void)fprintf(out, "%s", c->bulk_end.cancelled ? " cancelled" : " failed");
    }
}

void trace_command(FILE *out, const struct command *c)
{
    (void)fprintf(out, "%s ", command_word(c->type));
    switch (c->type) {
    case COMMAND_ENQUEUE:
        trace_enqueue(out, &c->enqueue);
        break;
    case COMMAND_CLAIM:
        trace_claim(out, &c->claim);
        break;
    case COMMAND_ACK:
        trace_ack(out, &c->ack);
        break;
    case COMMAND_FAIL:
        trace_id(out, c->fail.id);
        (void)fprintf(out, " token=%" PRIu64, c->fail.lease_token);
        break;
    case COMMAND_HEARTBEAT:
        trace_heartbeat(out, &c->heartbeat);
        break;
    case COMMAND_JOBS:
        trace_jobs(out, &c->jobs);
        break;
    case COMMAND_REPLAY:
        trace_id(out, c->replay.id);
        (void)fprintf(out, " from=%" PRId64, c->replay.from);
        break;
    case COMMAND_QUEUE:
        trace_queue(out, &c->queue);
        break;
    case COMMAND_PURGE:
        (void)fprintf(out, "retention=%" PRId64, c->purge.retention_ms);
        break;
    case COMMAND_BATCH_OPEN:
        (void)fprintf(out, "callback=" STR_FMT, STR_ARG(c->batch_open.callback_queue));
        break;
    case COMMAND_BATCH_SEAL:
        trace_id(out, c->batch_seal.id);
        break;
    case COMMAND_SCHEDULE_PUT:
    case COMMAND_SCHEDULE_DELETE:
    case COMMAND_SCHEDULE_FIRE:
        trace_schedule(out, c);
        break;
    case COMMAND_WEBHOOK_PUT:
    case COMMAND_WEBHOOK_DELETE:
    case COMMAND_WEBHOOK_MARK:
        trace_webhook(out, c);
        break;
    case COMMAND_BULK_PUT:
    case COMMAND_BULK_STEP:
    case COMMAND_BULK_END:
        trace_bulk(out, c);
        break;
    case COMMAND_POLICY_PUT:
        (void)fprintf(out, "'" STR_FMT "' queue=" STR_FMT " tag=" STR_FMT ":" STR_FMT " all=%d",
                      STR_ARG(c->policy_put.policy.name), STR_ARG(c->policy_put.policy.queue),
                      STR_ARG(c->policy_put.policy.tag_key),
                      STR_ARG(c->policy_put.policy.tag_value), c->policy_put.policy.all ? 1 : 0);
        break;
    case COMMAND_POLICY_DELETE:
        trace_id(out, c->policy_delete.id);
        break;
    case COMMAND_RETURN:
        for (size_t i = 0; i < c->give_back.count; i++) {
            trace_id(out, c->give_back.items[i].id);
            (void)fprintf(out, " token=%" PRIu64 " order=%" PRIu64 " ",
                          c->give_back.items[i].lease_token, c->give_back.items[i].order);
        }
        break;
    case COMMAND_TICK:
    case COMMAND_RESTORE:
    case COMMAND_BULK_QUEUE:
    case COMMAND_NODE_PUT:
    case COMMAND_NODE_STATE:
    case COMMAND_ACCESS:
    case COMMAND_AUDIT:
    case COMMAND_PUSH_CLAIM:
    case COMMAND_PUSH_FINISH:
    case COMMAND_NAMED_PUT:
    case COMMAND_NAMED_PURGE:
        break;
    }
}

void trace_result(FILE *out, const struct result *r)
{
    (void)fprintf(out, "%s id=", err_wire(r->code));
    trace_id(out, r->id);
    (void)fprintf(out, " affected=%u missing=%u state=%s attempt=%u remaining=%u at=%" PRId64,
                  r->affected, r->missing, job_state_name(r->state), r->attempt, r->remaining,
                  r->at.ns);
    (void)fprintf(out, " more=%d cursor=", r->more ? 1 : 0);
    trace_id(out, r->cursor);
    (void)fprintf(out, " until=");
    trace_id(out, r->until);
    (void)fprintf(out, " in_done=%d '" STR_FMT "'", r->in_done ? 1 : 0, STR_ARG(r->message));
    for (uint32_t i = 0; i < r->count; i++) {
        (void)fprintf(out, "\n      ");
        trace_id(out, r->items[i].id);
        (void)fprintf(out, " status=%d", (int)r->items[i].status);
    }
}
