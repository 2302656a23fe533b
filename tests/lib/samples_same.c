#include "lib/expect.h"
#include "lib/samples.h"

static void same_id(struct id got, struct id want)
{
    assert_memory_equal(got.b, want.b, ID_BYTES);
}

static void same_tokens(const struct store_tokens *got, const struct store_tokens *want)
{
    assert_int_equal(got->input, want->input);
    assert_int_equal(got->output, want->output);
    assert_int_equal(got->cache_creation, want->cache_creation);
    assert_int_equal(got->cache_read, want->cache_read);
    assert_int_equal(got->cost_nusd, want->cost_nusd);
    expect_str(got->model, want->model);
    expect_str(got->provider, want->provider);
}

static void same_numbers(const struct job *got, const struct job *want)
{
    assert_int_equal(got->state, want->state);
    assert_int_equal(got->priority, want->priority);
    assert_int_equal(got->backoff, want->backoff);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->max_retries, want->max_retries);
    assert_int_equal(got->retry_base_ms, want->retry_base_ms);
    assert_int_equal(got->retry_max_ms, want->retry_max_ms);
    assert_int_equal(got->order, want->order);
    assert_int_equal(got->lease_token, want->lease_token);
    assert_int_equal(got->ended, want->ended);
    assert_int_equal(got->fail_ended_at.ns, want->fail_ended_at.ns);
    assert_int_equal(got->ready_at.ns, want->ready_at.ns);
    assert_int_equal(got->version, want->version);
    assert_int_equal(got->unique_period_s, want->unique_period_s);
    assert_int_equal(got->batch_counted, want->batch_counted);
    assert_int_equal(got->chain_step, want->chain_step);
    assert_int_equal(got->has_chain_step, want->has_chain_step);
    assert_int_equal(got->error_count, want->error_count);
    assert_int_equal(got->iteration_count, want->iteration_count);
    assert_int_equal(got->usage_count, want->usage_count);
    assert_int_equal(got->usage_summed, want->usage_summed);
    assert_int_equal(got->usage_nusd, want->usage_nusd);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    assert_int_equal(got->scheduled_at.ns, want->scheduled_at.ns);
    assert_int_equal(got->expire_at.ns, want->expire_at.ns);
    assert_int_equal(got->started_at.ns, want->started_at.ns);
    assert_int_equal(got->completed_at.ns, want->completed_at.ns);
    assert_int_equal(got->failed_at.ns, want->failed_at.ns);
    assert_int_equal(got->cancelled_at.ns, want->cancelled_at.ns);
    assert_int_equal(got->lease_expires_at.ns, want->lease_expires_at.ns);
    assert_int_equal(got->due_at.ns, want->due_at.ns);
    assert_int_equal(got->first_try_at.ns, want->first_try_at.ns);
    assert_int_equal(got->try_count, want->try_count);
    assert_int_equal(got->try_first, want->try_first);
    assert_int_equal(got->outcome, want->outcome);
    assert_int_equal(got->definition, want->definition);
    assert_int_equal(got->counted_bytes, want->counted_bytes);
    assert_int_equal(got->cron_until.ns, want->cron_until.ns);
}

static void same_agent(const struct job *got, const struct job *want)
{
    assert_int_equal(got->is_agent, want->is_agent);
    assert_int_equal(got->agent.max_iterations, want->agent.max_iterations);
    assert_int_equal(got->agent.max_cost_nusd, want->agent.max_cost_nusd);
    assert_int_equal(got->agent.timeout_ms, want->agent.timeout_ms);
    assert_int_equal(got->agent.iteration, want->agent.iteration);
    assert_int_equal(got->agent.total_cost_nusd, want->agent.total_cost_nusd);
    expect_str(got->agent.timeout, want->agent.timeout);
}

void samples_same_job(const struct job *got, const struct job *want)
{
    same_id(got->id, want->id);
    same_id(got->batch_id, want->batch_id);
    same_id(got->schedule_id, want->schedule_id);
    same_id(got->joined, want->joined);
    same_id(got->waits_since, want->waits_since);
    same_numbers(got, want);
    same_agent(got, want);
    expect_str(got->queue, want->queue);
    expect_str(got->payload, want->payload);
    expect_str(got->unique_key, want->unique_key);
    expect_str(got->worker_id, want->worker_id);
    expect_str(got->hostname, want->hostname);
    expect_str(got->tags, want->tags);
    expect_str(got->progress, want->progress);
    expect_str(got->checkpoint, want->checkpoint);
    expect_str(got->result, want->result);
    expect_str(got->parent_id, want->parent_id);
    expect_str(got->chain_id, want->chain_id);
    expect_str(got->chain_config, want->chain_config);
    expect_str(got->push, want->push);
    expect_str(got->cancel_reason, want->cancel_reason);
    expect_str(got->name, want->name);
    expect_str(got->cron, want->cron);
    expect_str(got->hold_reason, want->hold_reason);
    expect_str(got->waits_for, want->waits_for);
}

void samples_same_queue(const struct store_queue *got, const struct store_queue *want)
{
    assert_int_equal(got->paused, want->paused);
    assert_int_equal(got->max_concurrency, want->max_concurrency);
    assert_int_equal(got->throttle_rate, want->throttle_rate);
    assert_int_equal(got->throttle_window_ms, want->throttle_window_ms);
    assert_int_equal(got->throttle_claims, want->throttle_claims);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    assert_int_equal(got->completed, want->completed);
    assert_int_equal(got->dead, want->dead);
    assert_int_equal(got->cancelled, want->cancelled);
    assert_int_equal(got->failures, want->failures);
    assert_int_equal(got->timed_out, want->timed_out);
    assert_int_equal(got->last_ended_at.ns, want->last_ended_at.ns);
    assert_int_equal(got->lost_total, want->lost_total);
    assert_int_equal(got->recurring, want->recurring);
    same_id(got->removal, want->removal);
}

void samples_same_lock(const struct store_lock *got, const struct store_lock *want)
{
    same_id(got->job, want->job);
    assert_int_equal(got->expires_at.ns, want->expires_at.ns);
}

static void same_owner(const struct store_owner *got, const struct store_owner *want)
{
    assert_int_equal(got->known, want->known);
    expect_str(got->ns, want->ns);
    expect_str(got->scope, want->scope);
}

void samples_same_batch(const struct store_batch *got, const struct store_batch *want)
{
    assert_int_equal(got->total, want->total);
    assert_int_equal(got->pending, want->pending);
    assert_int_equal(got->succeeded, want->succeeded);
    assert_int_equal(got->failed, want->failed);
    expect_str(got->callback_queue, want->callback_queue);
    expect_str(got->callback_payload, want->callback_payload);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    assert_int_equal(got->finished_at.ns, want->finished_at.ns);
    assert_int_equal(got->sealed, want->sealed);
    same_owner(&got->owner, &want->owner);
    same_id(got->callback_job, want->callback_job);
}

void samples_same_schedule(const struct store_schedule *got, const struct store_schedule *want)
{
    expect_str(got->name, want->name);
    expect_str(got->queue, want->queue);
    expect_str(got->cron, want->cron);
    expect_str(got->timezone, want->timezone);
    expect_str(got->payload, want->payload);
    expect_str(got->unique_key, want->unique_key);
    expect_str(got->tags, want->tags);
    expect_str(got->push, want->push);
    assert_int_equal(got->max_retries, want->max_retries);
    assert_int_equal(got->priority, want->priority);
    assert_int_equal(got->enabled, want->enabled);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    assert_int_equal(got->updated_at.ns, want->updated_at.ns);
    assert_int_equal(got->last_run.ns, want->last_run.ns);
    assert_int_equal(got->next_run.ns, want->next_run.ns);
}

void samples_same_policy(const struct store_policy *got, const struct store_policy *want)
{
    expect_str(got->ns, want->ns);
    expect_str(got->name, want->name);
    expect_str(got->queue, want->queue);
    expect_str(got->tag_key, want->tag_key);
    expect_str(got->tag_value, want->tag_value);
    assert_int_equal(got->all, want->all);
    assert_int_equal(got->all_namespaces, want->all_namespaces);
    assert_int_equal(got->enabled, want->enabled);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
}

void samples_same_webhook(const struct store_webhook *got, const struct store_webhook *want)
{
    expect_str(got->ns, want->ns);
    expect_str(got->scope, want->scope);
    expect_str(got->url, want->url);
    expect_str(got->events, want->events);
    expect_str(got->secret, want->secret);
    expect_str(got->last_error, want->last_error);
    assert_int_equal(got->retry_limit, want->retry_limit);
    assert_int_equal(got->enabled, want->enabled);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    assert_int_equal(got->position, want->position);
    assert_int_equal(got->last_status, want->last_status);
    assert_int_equal(got->last_delivery_at.ns, want->last_delivery_at.ns);
}

void samples_same_worker(const struct store_worker *got, const struct store_worker *want)
{
    expect_str(got->hostname, want->hostname);
    expect_str(got->queues, want->queues);
    expect_str(got->version, want->version);
    assert_int_equal(got->started_at.ns, want->started_at.ns);
    assert_int_equal(got->last_heartbeat.ns, want->last_heartbeat.ns);
}

static void same_fit(const struct job_fit *got, const struct job_fit *want)
{
    assert_int_equal(got->states, want->states);
    assert_int_equal(got->priorities, want->priorities);
    expect_str(got->queue, want->queue);
}

void samples_same_bulk(const struct store_bulk *got, const struct store_bulk *want)
{
    assert_int_equal(got->status, want->status);
    assert_int_equal(got->action, want->action);
    assert_int_equal(got->reset_attempts, want->reset_attempts);
    assert_int_equal(got->priority, want->priority);
    assert_int_equal(got->lists, want->lists);
    assert_int_equal(got->steps, want->steps);
    assert_int_equal(got->parts, want->parts);
    assert_int_equal(got->total, want->total);
    assert_int_equal(got->processed, want->processed);
    assert_int_equal(got->affected, want->affected);
    assert_int_equal(got->errors, want->errors);
    same_id(got->cursor, want->cursor);
    same_id(got->until, want->until);
    assert_int_equal(got->in_done, want->in_done);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    assert_int_equal(got->updated_at.ns, want->updated_at.ns);
    assert_int_equal(got->finished_at.ns, want->finished_at.ns);
    expect_str(got->ns, want->ns);
    expect_str(got->scope, want->scope);
    expect_str(got->queue, want->queue);
    expect_str(got->reason, want->reason);
    expect_str(got->filter, want->filter);
    same_fit(&got->fit, &want->fit);
    expect_str(got->error, want->error);
}

void samples_same_error(const struct store_error *got, const struct store_error *want)
{
    assert_int_equal(got->row, want->row);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    expect_str(got->error, want->error);
    expect_str(got->backtrace, want->backtrace);
    expect_str(got->version, want->version);
}

void samples_same_usage(const struct store_usage *got, const struct store_usage *want)
{
    assert_int_equal(got->row, want->row);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->phase, want->phase);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    same_tokens(&got->tokens, &want->tokens);
}

void samples_same_iteration(const struct store_iteration *got, const struct store_iteration *want)
{
    assert_int_equal(got->row, want->row);
    assert_int_equal(got->iteration, want->iteration);
    assert_int_equal(got->status, want->status);
    assert_int_equal(got->created_at.ns, want->created_at.ns);
    expect_str(got->checkpoint, want->checkpoint);
    expect_str(got->hold_reason, want->hold_reason);
    expect_str(got->result, want->result);
    same_tokens(&got->tokens, &want->tokens);
}

void samples_same_event(const struct store_event *got, const struct store_event *want)
{
    assert_int_equal(got->seq, want->seq);
    assert_int_equal(got->at.ns, want->at.ns);
    assert_int_equal(got->type, want->type);
    same_id(got->job, want->job);
    expect_str(got->queue, want->queue);
    expect_str(got->text, want->text);
    expect_str(got->text2, want->text2);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->remaining, want->remaining);
    assert_int_equal(got->next_attempt_at.ns, want->next_attempt_at.ns);
}

/* Commands, one function each. */

static void same_enqueue(const struct command *got, const struct command *want)
{
    expect_str(got->enqueue.idempotency_key, want->enqueue.idempotency_key);
    assert_int_equal(got->enqueue.body_hash, want->enqueue.body_hash);
    assert_int_equal(got->enqueue.has_batch, want->enqueue.has_batch);
    expect_str(got->enqueue.callback_queue, want->enqueue.callback_queue);
    expect_str(got->enqueue.callback_payload, want->enqueue.callback_payload);
    same_owner(&got->enqueue.owner, &want->enqueue.owner);
    assert_int_equal(got->enqueue.count, want->enqueue.count);
    for (size_t i = 0; i < want->enqueue.count; i++) {
        const struct command_new *a = &got->enqueue.jobs[i];
        const struct command_new *b = &want->enqueue.jobs[i];
        assert_int_equal(a->expire_after_ms, b->expire_after_ms);
        assert_int_equal(a->starts_chain, b->starts_chain);
        samples_same_job(&a->job, &b->job);
    }
}

static void same_wanted(const struct command_claim *got, const struct command_claim *want)
{
    expect_str(got->worker_id, want->worker_id);
    expect_str(got->hostname, want->hostname);
    expect_str(got->ns, want->ns);
    expect_str(got->version, want->version);
    assert_int_equal(got->lease_ms, want->lease_ms);
    assert_int_equal(got->count, want->count);
    assert_int_equal(got->no_hold, want->no_hold);
    assert_int_equal(got->queue_count, want->queue_count);
    for (size_t i = 0; i < want->queue_count; i++) {
        expect_str(got->queues[i], want->queues[i]);
    }
}

static void same_claim(const struct command *got, const struct command *want)
{
    same_wanted(&got->claim, &want->claim);
}

static void same_ack(const struct command *got, const struct command *want)
{
    assert_int_equal(got->ack.lenient, want->ack.lenient);
    assert_int_equal(got->ack.any_cost, want->ack.any_cost);
    assert_int_equal(got->ack.count, want->ack.count);
    for (size_t i = 0; i < want->ack.count; i++) {
        const struct command_ack_item *a = &got->ack.items[i];
        const struct command_ack_item *b = &want->ack.items[i];
        same_id(a->id, b->id);
        assert_int_equal(a->lease_token, b->lease_token);
        assert_int_equal(a->has_result, b->has_result);
        expect_str(a->result, b->result);
        expect_str(a->checkpoint, b->checkpoint);
        same_tokens(&a->usage, &b->usage);
        assert_int_equal(a->agent_status, b->agent_status);
        assert_int_equal(a->step_status, b->step_status);
        expect_str(a->hold_reason, b->hold_reason);
        expect_str(a->exit_reason, b->exit_reason);
    }
    assert_int_equal(got->ack.next != NULL, want->ack.next != NULL);
    if (want->ack.next != NULL) {
        same_wanted(got->ack.next, want->ack.next);
    }
}

static void same_fail(const struct command *got, const struct command *want)
{
    same_id(got->fail.id, want->fail.id);
    assert_int_equal(got->fail.lease_token, want->fail.lease_token);
    expect_str(got->fail.error, want->fail.error);
    expect_str(got->fail.backtrace, want->fail.backtrace);
}

static void same_heartbeat(const struct command *got, const struct command *want)
{
    assert_int_equal(got->heartbeat.count, want->heartbeat.count);
    expect_str(got->heartbeat.ns, want->heartbeat.ns);
    for (size_t i = 0; i < want->heartbeat.count; i++) {
        const struct command_heartbeat_item *a = &got->heartbeat.items[i];
        const struct command_heartbeat_item *b = &want->heartbeat.items[i];
        same_id(a->id, b->id);
        assert_int_equal(a->lease_token, b->lease_token);
        expect_str(a->progress, b->progress);
        expect_str(a->checkpoint, b->checkpoint);
        same_tokens(&a->usage, &b->usage);
    }
}

static void same_jobs(const struct command *got, const struct command *want)
{
    assert_int_equal(got->jobs.action, want->jobs.action);
    assert_int_equal(got->jobs.lenient, want->jobs.lenient);
    assert_int_equal(got->jobs.reset_attempts, want->jobs.reset_attempts);
    assert_int_equal(got->jobs.priority, want->jobs.priority);
    expect_str(got->jobs.queue, want->jobs.queue);
    expect_str(got->jobs.reason, want->jobs.reason);
    same_fit(&got->jobs.fit, &want->jobs.fit);
    assert_int_equal(got->jobs.count, want->jobs.count);
    for (size_t i = 0; i < want->jobs.count; i++) {
        same_id(got->jobs.ids[i], want->jobs.ids[i]);
    }
}

static void same_once(const struct command_once *got, const struct command_once *want)
{
    expect_str(got->key, want->key);
    assert_int_equal(got->hash, want->hash);
}

static void same_replay(const struct command *got, const struct command *want)
{
    same_id(got->replay.id, want->replay.id);
    assert_int_equal(got->replay.from, want->replay.from);
    same_once(&got->replay.once, &want->replay.once);
}

static void same_queue(const struct command *got, const struct command *want)
{
    assert_int_equal(got->queue.action, want->queue.action);
    expect_str(got->queue.name, want->queue.name);
    assert_int_equal(got->queue.max, want->queue.max);
    assert_int_equal(got->queue.rate, want->queue.rate);
    assert_int_equal(got->queue.window_ms, want->queue.window_ms);
    same_id(got->queue.cursor, want->queue.cursor);
    same_id(got->queue.until, want->queue.until);
    assert_int_equal(got->queue.in_done, want->queue.in_done);
}

static void same_tick(const struct command *got, const struct command *want)
{
    (void)got;
    (void)want;
}

static void same_purge(const struct command *got, const struct command *want)
{
    assert_int_equal(got->purge.retention_ms, want->purge.retention_ms);
}

static void same_batch_open(const struct command *got, const struct command *want)
{
    expect_str(got->batch_open.callback_queue, want->batch_open.callback_queue);
    expect_str(got->batch_open.callback_payload, want->batch_open.callback_payload);
    same_owner(&got->batch_open.owner, &want->batch_open.owner);
    same_once(&got->batch_open.once, &want->batch_open.once);
}

static void same_batch_seal(const struct command *got, const struct command *want)
{
    same_id(got->batch_seal.id, want->batch_seal.id);
}

static void same_schedule_put(const struct command *got, const struct command *want)
{
    same_id(got->schedule_put.id, want->schedule_put.id);
    assert_int_equal(got->schedule_put.expected_updated_at.ns,
                     want->schedule_put.expected_updated_at.ns);
    samples_same_schedule(&got->schedule_put.schedule, &want->schedule_put.schedule);
}

static void same_schedule_delete(const struct command *got, const struct command *want)
{
    same_id(got->schedule_delete.id, want->schedule_delete.id);
}

static void same_schedule_fire(const struct command *got, const struct command *want)
{
    same_id(got->schedule_fire.id, want->schedule_fire.id);
    assert_int_equal(got->schedule_fire.manual, want->schedule_fire.manual);
    assert_int_equal(got->schedule_fire.expected_next.ns, want->schedule_fire.expected_next.ns);
    assert_int_equal(got->schedule_fire.next.ns, want->schedule_fire.next.ns);
    same_once(&got->schedule_fire.once, &want->schedule_fire.once);
}

static void same_webhook_put(const struct command *got, const struct command *want)
{
    expect_str(got->webhook_put.id, want->webhook_put.id);
    assert_int_equal(got->webhook_put.keep_secret, want->webhook_put.keep_secret);
    samples_same_webhook(&got->webhook_put.webhook, &want->webhook_put.webhook);
}

static void same_webhook_delete(const struct command *got, const struct command *want)
{
    expect_str(got->webhook_delete.id, want->webhook_delete.id);
}

static void same_webhook_mark(const struct command *got, const struct command *want)
{
    assert_int_equal(got->webhook_mark.count, want->webhook_mark.count);
    for (size_t i = 0; i < want->webhook_mark.count; i++) {
        const struct command_webhook_mark_item *a = &got->webhook_mark.items[i];
        const struct command_webhook_mark_item *b = &want->webhook_mark.items[i];
        expect_str(a->id, b->id);
        assert_int_equal(a->created_at.ns, b->created_at.ns);
        assert_int_equal(a->position, b->position);
        assert_int_equal(a->attempted, b->attempted);
        assert_int_equal(a->status, b->status);
        expect_str(a->error, b->error);
        assert_int_equal(a->at.ns, b->at.ns);
    }
}

static void same_ids(const struct id *got, size_t got_count, const struct id *want, size_t count)
{
    assert_int_equal(got_count, count);
    for (size_t i = 0; i < count; i++) {
        same_id(got[i], want[i]);
    }
}

static void same_bulk_put(const struct command *got, const struct command *want)
{
    const struct command_bulk_put *g = &got->bulk_put;
    const struct command_bulk_put *w = &want->bulk_put;
    assert_int_equal(g->action, w->action);
    assert_int_equal(g->reset_attempts, w->reset_attempts);
    assert_int_equal(g->priority, w->priority);
    expect_str(g->queue, w->queue);
    expect_str(g->reason, w->reason);
    expect_str(g->ns, w->ns);
    expect_str(g->scope, w->scope);
    expect_str(g->filter, w->filter);
    same_fit(&g->fit, &w->fit);
    assert_int_equal(g->total, w->total);
    assert_int_equal(g->errors, w->errors);
    same_ids(g->ids, g->count, w->ids, w->count);
}

static void same_bulk_step(const struct command *got, const struct command *want)
{
    const struct command_bulk_step *g = &got->bulk_step;
    const struct command_bulk_step *w = &want->bulk_step;
    same_id(g->id, w->id);
    assert_int_equal(g->step, w->step);
    assert_int_equal(g->last, w->last);
    same_id(g->cursor, w->cursor);
    same_ids(g->ids, g->count, w->ids, w->count);
}

static void same_bulk_end(const struct command *got, const struct command *want)
{
    same_id(got->bulk_end.id, want->bulk_end.id);
    assert_int_equal(got->bulk_end.cancelled, want->bulk_end.cancelled);
    expect_str(got->bulk_end.error, want->bulk_end.error);
}

static void same_bulk_queue(const struct command *got, const struct command *want)
{
    const struct command_bulk_queue *g = &got->bulk_queue;
    const struct command_bulk_queue *w = &want->bulk_queue;
    assert_int_equal(g->action, w->action);
    expect_str(g->name, w->name);
    expect_str(g->ns, w->ns);
    same_id(g->cursor, w->cursor);
    same_id(g->until, w->until);
    assert_int_equal(g->in_done, w->in_done);
}

static void same_policy_put(const struct command *got, const struct command *want)
{
    samples_same_policy(&got->policy_put.policy, &want->policy_put.policy);
}

static void same_return(const struct command *got, const struct command *want)
{
    assert_int_equal(got->give_back.count, want->give_back.count);
    for (size_t i = 0; i < want->give_back.count; i++) {
        same_id(got->give_back.items[i].id, want->give_back.items[i].id);
        assert_int_equal(got->give_back.items[i].lease_token, want->give_back.items[i].lease_token);
        assert_int_equal(got->give_back.items[i].order, want->give_back.items[i].order);
    }
}

void samples_same_try(const struct store_try *got, const struct store_try *want)
{
    assert_int_equal(got->row, want->row);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->outcome, want->outcome);
    assert_int_equal(got->error_type, want->error_type);
    assert_int_equal(got->http_status, want->http_status);
    assert_int_equal(got->answer_ms, want->answer_ms);
    assert_int_equal(got->due_at.ns, want->due_at.ns);
    assert_int_equal(got->started_at.ns, want->started_at.ns);
    assert_int_equal(got->ended_at.ns, want->ended_at.ns);
    expect_str(got->node, want->node);
    expect_str(got->error, want->error);
}

static void same_push_claim(const struct command *got, const struct command *want)
{
    const struct command_push_claim *g = &got->push_claim;
    const struct command_push_claim *w = &want->push_claim;
    expect_str(g->node, w->node);
    assert_int_equal(g->lease_ms, w->lease_ms);
    assert_int_equal(g->count, w->count);
    for (size_t i = 0; i < w->count; i++) {
        expect_str(g->lines[i].queue, w->lines[i].queue);
        expect_str(g->lines[i].host, w->lines[i].host);
        assert_int_equal(g->lines[i].priority, w->lines[i].priority);
        assert_int_equal(g->lines[i].count, w->lines[i].count);
    }
}

static void same_push_finish(const struct command *got, const struct command *want)
{
    assert_int_equal(got->push_finish.keep_ms, want->push_finish.keep_ms);
    assert_int_equal(got->push_finish.count, want->push_finish.count);
    for (size_t i = 0; i < want->push_finish.count; i++) {
        const struct command_push_end *g = &got->push_finish.items[i];
        const struct command_push_end *w = &want->push_finish.items[i];
        same_id(g->id, w->id);
        assert_int_equal(g->lease_token, w->lease_token);
        assert_int_equal(g->outcome, w->outcome);
        assert_int_equal(g->error_type, w->error_type);
        assert_int_equal(g->http_status, w->http_status);
        assert_int_equal(g->answer_ms, w->answer_ms);
        assert_int_equal(g->started_at.ns, w->started_at.ns);
        assert_int_equal(g->ended_at.ns, w->ended_at.ns);
        assert_int_equal(g->retry_after_ms, w->retry_after_ms);
        assert_int_equal(g->next.ns, w->next.ns);
        expect_str(g->error, w->error);
        expect_str(g->result, w->result);
    }
}

static void same_named_put(const struct command *got, const struct command *want)
{
    assert_int_equal(got->named_put.bytes_max, want->named_put.bytes_max);
    assert_int_equal(got->named_put.count_max, want->named_put.count_max);
    samples_same_job(&got->named_put.job->job, &want->named_put.job->job);
}

static void same_named_purge(const struct command *got, const struct command *want)
{
    assert_int_equal(got->named_purge.retention_ms, want->named_purge.retention_ms);
    same_id(got->named_purge.cursor, want->named_purge.cursor);
}

static void same_node_put(const struct command *got, const struct command *want)
{
    const struct store_node *g = &got->node_put.node;
    const struct store_node *w = &want->node_put.node;
    assert_int_equal(g->id, w->id);
    assert_int_equal(g->state, w->state);
    assert_int_equal(g->voter, w->voter);
    expect_str(g->name, w->name);
    expect_str(g->address, w->address);
    expect_str(g->http_url, w->http_url);
    expect_str(g->version, w->version);
}

static void same_node_state(const struct command *got, const struct command *want)
{
    assert_int_equal(got->node_state.id, want->node_state.id);
    assert_int_equal(got->node_state.state, want->node_state.state);
}

static void same_policy_delete(const struct command *got, const struct command *want)
{
    same_id(got->policy_delete.id, want->policy_delete.id);
}

static void same_restored(const struct command_restore_item *got,
                          const struct command_restore_item *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->any_id, want->any_id);
    assert_int_equal(got->summed, want->summed);
    same_id(got->id, want->id);
    expect_str(got->name, want->name);
    assert_int_equal(got->place, want->place);
    assert_int_equal(got->unique_until.ns, want->unique_until.ns);
    switch ((int)want->kind) {
    case COMMAND_RESTORE_QUEUE:
        samples_same_queue(&got->queue, &want->queue);
        break;
    case COMMAND_RESTORE_SCHEDULE:
        samples_same_schedule(&got->schedule, &want->schedule);
        break;
    case COMMAND_RESTORE_BATCH:
        samples_same_batch(&got->batch, &want->batch);
        break;
    case COMMAND_RESTORE_JOB:
        samples_same_job(&got->job, &want->job);
        break;
    case COMMAND_RESTORE_ERROR:
        samples_same_error(&got->error, &want->error);
        break;
    case COMMAND_RESTORE_ITERATION:
        samples_same_iteration(&got->iteration, &want->iteration);
        break;
    case COMMAND_RESTORE_WEBHOOK:
        samples_same_webhook(&got->webhook, &want->webhook);
        break;
    case COMMAND_RESTORE_POLICY:
        samples_same_policy(&got->policy, &want->policy);
        break;
    case COMMAND_RESTORE_TALLY:
        assert_memory_equal(&got->tally, &want->tally, sizeof want->tally);
        break;
    default:
        samples_same_usage(&got->usage, &want->usage);
    }
}

static void same_restore(const struct command *got, const struct command *want)
{
    assert_int_equal(got->restore.count, want->restore.count);
    for (size_t i = 0; i < want->restore.count; i++) {
        same_restored(&got->restore.items[i], &want->restore.items[i]);
    }
}

static void same_access(const struct command *got, const struct command *want)
{
    assert_int_equal(got->access.count, want->access.count);
    for (size_t i = 0; i < want->access.count; i++) {
        const struct command_access_item *g = &got->access.items[i];
        const struct command_access_item *w = &want->access.items[i];
        assert_int_equal(g->kind, w->kind);
        assert_int_equal(g->rule, w->rule);
        assert_int_equal(g->seen, w->seen);
        assert_int_equal(g->deletes, w->deletes);
        expect_str(g->name, w->name);
        expect_str(g->body, w->body);
    }
}

static void same_audit(const struct command *got, const struct command *want)
{
    assert_int_equal(got->audit.retention_ms, want->audit.retention_ms);
    assert_int_equal(got->audit.count, want->audit.count);
    for (size_t i = 0; i < want->audit.count; i++) {
        const struct store_audit *g = &got->audit.items[i];
        const struct store_audit *w = &want->audit.items[i];
        assert_int_equal(g->at.ns, w->at.ns);
        expect_str(g->ns, w->ns);
        expect_str(g->principal, w->principal);
        expect_str(g->role, w->role);
        expect_str(g->method, w->method);
        expect_str(g->path, w->path);
        expect_str(g->query, w->query);
        assert_int_equal(g->status, w->status);
        assert_int_equal(g->duration_ms, w->duration_ms);
        assert_int_equal(g->suppressed, w->suppressed);
    }
}

void samples_same_command(const struct command *got, const struct command *want)
{
    static void (*const same[])(const struct command *got, const struct command *want) = {
        [COMMAND_ENQUEUE] = same_enqueue,
        [COMMAND_CLAIM] = same_claim,
        [COMMAND_ACK] = same_ack,
        [COMMAND_FAIL] = same_fail,
        [COMMAND_HEARTBEAT] = same_heartbeat,
        [COMMAND_JOBS] = same_jobs,
        [COMMAND_REPLAY] = same_replay,
        [COMMAND_QUEUE] = same_queue,
        [COMMAND_TICK] = same_tick,
        [COMMAND_PURGE] = same_purge,
        [COMMAND_BATCH_OPEN] = same_batch_open,
        [COMMAND_BATCH_SEAL] = same_batch_seal,
        [COMMAND_SCHEDULE_PUT] = same_schedule_put,
        [COMMAND_SCHEDULE_DELETE] = same_schedule_delete,
        [COMMAND_SCHEDULE_FIRE] = same_schedule_fire,
        [COMMAND_WEBHOOK_PUT] = same_webhook_put,
        [COMMAND_WEBHOOK_DELETE] = same_webhook_delete,
        [COMMAND_WEBHOOK_MARK] = same_webhook_mark,
        [COMMAND_BULK_PUT] = same_bulk_put,
        [COMMAND_BULK_STEP] = same_bulk_step,
        [COMMAND_BULK_END] = same_bulk_end,
        [COMMAND_RESTORE] = same_restore,
        [COMMAND_POLICY_PUT] = same_policy_put,
        [COMMAND_POLICY_DELETE] = same_policy_delete,
        [COMMAND_BULK_QUEUE] = same_bulk_queue,
        [COMMAND_RETURN] = same_return,
        [COMMAND_NODE_PUT] = same_node_put,
        [COMMAND_NODE_STATE] = same_node_state,
        [COMMAND_ACCESS] = same_access,
        [COMMAND_AUDIT] = same_audit,
        [COMMAND_PUSH_CLAIM] = same_push_claim,
        [COMMAND_PUSH_FINISH] = same_push_finish,
        [COMMAND_NAMED_PUT] = same_named_put,
        [COMMAND_NAMED_PURGE] = same_named_purge,
    };
    _Static_assert(COUNT_OF(same) == COMMAND_TYPE_LAST + 1, "every command is compared");
    assert_int_equal(got->type, want->type);
    same[want->type](got, want);
}
