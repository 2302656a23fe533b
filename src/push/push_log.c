/*
 * Log lines about the calls of named jobs, as the contract requires, without URLs and responses.
 * Also periodic lines: the state of this node (debug) and, on the node that makes the calls, how
 * many runs succeeded and failed (scheduler.md 4, 14.5, 16).
 */
#include "engine/engine_cluster.h"
#include "engine/engine_leader.h"
#include "log/log.h"
#include "push/push_int.h"
#include "store/store_rows.h"

enum { STANDING_MS = 30 * 1000, RUNS_MS = 5 * 60 * 1000 };

static void look_run(struct engine_call *call, struct machine *m)
{
    struct push_sender *s = call->data;
    (void)m;
    engine_status_here(s->config.engine, &s->log.status);
    engine_cluster_status(s->config.engine, &s->log.cluster);
}

void push_log__known(struct push_sender *s)
{
    const struct node_status *node = &s->log.status.node;
    struct engine_leader leader;
    s->log.busy = false;
    log_debug("cluster", LOG_STR("node_id", s->config.node_id),
              LOG_Z("role", node->leads ? "leader" : "follower"),
              LOG_Z("leader", engine_leader(s->config.engine, &leader) ? leader.address : ""),
              LOG_Z("raft_state", node->role), LOG_U64("term", node->term),
              LOG_U64("members", s->log.cluster.count > 0 ? s->log.cluster.count : 1));
}

static uint64_t sum(const atomic_uint_fast64_t of[PUSH_METER_TYPES])
{
    return atomic_load(&of[PUSH_METER_ONCE]) + atomic_load(&of[PUSH_METER_RECURRING]);
}

static void write_runs(struct push_sender *s)
{
    uint64_t executed = sum(s->meter.executed);
    uint64_t failed = sum(s->meter.failed);
    if (executed != s->log.executed || failed != s->log.failed) {
        log_info("job_metrics", LOG_U64("executed", executed - s->log.executed),
                 LOG_U64("failed", failed - s->log.failed));
    }
    s->log.executed = executed;
    s->log.failed = failed;
}

static void log_exhausted(struct str name, uint32_t attempts)
{
    log_warn("exceeded max attempts", LOG_STR("job", name), LOG_U64("attempts", attempts));
}

void push_log__lost(struct str name, uint32_t attempt, bool last)
{
    log_warn("job timed out", LOG_STR("job", name), LOG_U64("attempt", attempt),
             LOG_Z("meaning", "the node that made the call was lost"));
    if (last) {
        log_exhausted(name, attempt);
    }
}

void push_log__ended(const struct push_call *c, const struct command_push_end *e)
{
    const struct job *j = &c->job;
    int64_t took_ms = (e->ended_at.ns - e->started_at.ns) / NS_PER_MS;
    if (j->name.len == 0 || e->outcome == JOB_OUTCOME_NONE) {
        return;
    }
    if (e->outcome == JOB_OUTCOME_COMPLETED) {
        log_info("job executed", LOG_STR("job", j->name), LOG_U64("attempt", j->attempt),
                 LOG_U64("http_status", e->http_status), LOG_I64("duration_ms", took_ms));
        return;
    }
    log_error("job failed", LOG_STR("job", j->name), LOG_U64("attempt", j->attempt),
              LOG_Z("error_type", store_rows_try_word(e->error_type)),
              LOG_U64("http_status", e->http_status), LOG_I64("duration_ms", took_ms));
    if (job_attempts_remaining(j) == 0) {
        log_exhausted(j->name, j->attempt);
    }
}

uint64_t push_log__due_ms(const struct push_sender *s)
{
    return s->log.standing_ms < s->log.runs_ms ? s->log.standing_ms : s->log.runs_ms;
}

void push_log__step(struct push_sender *s)
{
    uint64_t now_ms = uv_now(&s->loop);
    if (now_ms >= s->log.runs_ms) {
        s->log.runs_ms = now_ms + RUNS_MS;
        write_runs(s);
    }
    if (now_ms >= s->log.standing_ms) {
        s->log.standing_ms = now_ms + STANDING_MS;
        s->log.busy = s->log.busy || engine_run(s->config.engine, &s->log.look);
    }
}

void push_log__open(struct push_sender *s, void (*known)(struct engine_call *call))
{
    uint64_t now_ms = uv_now(&s->loop);
    s->log.runs_ms = now_ms + RUNS_MS;
    s->log.standing_ms = log_wants(LOG_DEBUG) ? now_ms + STANDING_MS : UINT64_MAX;
    s->log.look =
        (struct engine_call){.run = look_run, .done = known, .reply_to = &s->box, .data = s};
}
