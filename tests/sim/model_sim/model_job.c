/*
 * A job of the model: its creation, its rows and its end (http-api.md 4, 5.3, 6.1, 6.9, 6.10).
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "sim/model_sim/model_int.h"

/* An id after all ids of the entry. */
static struct id last_id(const struct model *m)
{
    return id_make(m->now, m->index, UINT32_MAX);
}

void model_job_join(const struct model *m, struct model_job *j)
{
    if (m->version >= COMMAND_ENTRY_EXACT) {
        j->doc.joined = last_id(m);
    }
}

void model_job_promise(struct model *m, struct id id)
{
    struct model_job *j = model_find_job(m, id);
    const struct model_queue *q = j == NULL ? NULL : model_find_queue(m, j->doc.queue);
    if (q != NULL && m->version >= COMMAND_ENTRY_EXACT &&
        (id_cmp(id, q->removal) < 0 || model_bulk_may_end(m, id))) {
        j->promised = last_id(m);
    }
}

/* Create a job with the request members of like. All other members have their initial values. */
struct model_job *model_job_create(struct model *m, const struct job *like)
{
    struct model_job *j = model_alloc(m, sizeof *j);
    j->doc = (struct job){
        .id = model_next_id(m),
        .queue = model_keep(m, like->queue),
        .payload = model_keep(m, like->payload),
        .priority = like->priority,
        .backoff = like->backoff,
        .max_retries = like->max_retries,
        .retry_base_ms = like->retry_base_ms,
        .retry_max_ms = like->retry_max_ms,
        .created_at = m->now,
        .scheduled_at = like->scheduled_at,
        .expire_at = like->expire_at,
        .unique_period_s = like->unique_period_s,
        .unique_key = model_keep(m, like->unique_key),
        .batch_id = like->batch_id,
        .tags = model_keep(m, like->tags),
        .checkpoint = model_keep(m, like->checkpoint),
        .parent_id = model_keep(m, like->parent_id),
        .chain_id = model_keep(m, like->chain_id),
        .chain_step = like->chain_step,
        .has_chain_step = like->has_chain_step,
        .chain_config = model_keep(m, like->chain_config),
        .schedule_id = like->schedule_id,
        .is_agent = like->is_agent,
        .waits_for = model_keep(m, like->waits_for),
    };
    if (like->is_agent) {
        j->doc.agent = (struct job_agent){
            .max_iterations = like->agent.max_iterations,
            .max_cost_nusd = like->agent.max_cost_nusd,
            .timeout_ms = like->agent.timeout_ms,
            .timeout = model_keep(m, like->agent.timeout),
            .iteration = 1,
        };
    }
    model_list_add(&m->jobs, j);
    (void)model_queue_of(m, like->queue);
    if (j->doc.unique_key.len > 0) {
        model_lock_set(m, j);
    }
    model_job_to_state(m, j, like->scheduled_at.ns != 0 ? JOB_SCHEDULED : JOB_PENDING);
    (void)model_event(m, STORE_EVENT_ENQUEUED, &j->doc);
    return j;
}

void model_job_touch(struct model *m, struct model_job *j)
{
    bool waits = job_state_is_terminal(j->doc.state) && j->doc.waits_for.len > 0;
    j->doc.version = m->index;
    j->touched = true;
    j->hears = waits && (j->hears || m->version >= COMMAND_ENTRY_STRICT);
}

static bool is_waiting(enum job_state state)
{
    return state == JOB_PENDING || state == JOB_SCHEDULED;
}

/* Free: waits_since is kept only for waiting jobs that a running clear or delete of their queue
 * might still remove. */
static void note_wait(struct model *m, struct model_job *j, enum job_state to)
{
    const struct model_queue *q = model_find_queue(m, j->doc.queue);
    if (!is_waiting(to)) {
        j->doc.waits_since = ID_NONE;
    } else if (!is_waiting(j->doc.state) && m->version >= COMMAND_ENTRY_SPARING && q != NULL &&
               id_cmp(j->doc.id, q->removal) < 0) {
        j->doc.waits_since = last_id(m);
    }
}

/* A job that becomes pending moves to the end of the line of its priority. Free: a job with
 * dependencies gets its place when it no longer waits for them, not when it became pending. */
void model_job_to_state(struct model *m, struct model_job *j, enum job_state state)
{
    note_wait(m, j, state);
    j->doc.state = state;
    j->doc.order = state == JOB_PENDING && j->doc.waits_for.len == 0 ? m->next_order++ : 0;
    model_job_touch(m, j);
}

void model_job_clear_worker(struct model_job *j)
{
    j->doc.worker_id = STR_EMPTY;
    j->doc.hostname = STR_EMPTY;
    j->doc.lease_expires_at = (struct wall){0};
}

/* Remove the job with its rows and its lock. */
void model_job_remove(struct model *m, struct model_job *j)
{
    model_lock_release(m, j);
    model_tally_settle(m, j);
    model_list_remove(&m->jobs, j);
    model_list_add(&m->removed, j);
}

/* Delete the job. A batch counts a deleted member as failed. */
void model_job_delete(struct model *m, struct model_job *j)
{
    model_batch_count_end(m, j, false);
    model_job_remove(m, j);
    (void)model_event(m, STORE_EVENT_DELETED, &j->doc);
}

bool model_job_exists(const struct model *m, const struct model_job *j)
{
    return model_find_job(m, j->doc.id) == j;
}

static int by_id(const void *a, const void *b)
{
    const struct model_job *const *x = a;
    const struct model_job *const *y = b;
    return id_cmp((*x)->doc.id, (*y)->doc.id);
}

struct model_list model_job_stored(struct model *m, enum model_stored stored)
{
    struct model_list out = {.at = NULL};
    const struct model_list *lists[] = {&m->jobs, &m->removed};
    for (size_t l = 0; l < COUNT_OF(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            struct model_job *j = lists[l]->at[i];
            if (j->stored == stored) {
                model_list_add(&out, j);
            }
        }
    }
    if (out.count > 0) {
        qsort(out.at, out.count, sizeof *out.at, by_id);
    }
    return out;
}

void model_job_add_error(struct model *m, struct model_job *j, struct str error,
                         struct str backtrace)
{
    struct model_error *e = model_alloc(m, sizeof *e);
    e->row = (struct store_error){
        .row = m->next_row++,
        .attempt = j->doc.attempt,
        .created_at = m->now,
        .error = model_keep(m, error),
        .backtrace = model_keep(m, backtrace),
    };
    struct model_error **at = &j->errors;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = e;
    j->doc.error_count++;
    if (j->doc.error_count > LIMIT_JOB_ERRORS) {
        j->errors = j->errors->next;
    }
}

/* Add a report, unless it is empty. */
void model_job_add_usage(struct model *m, struct model_job *j, enum store_phase phase,
                         const struct store_tokens *tokens)
{
    if (tokens->input == 0 && tokens->output == 0 && tokens->cache_creation == 0 &&
        tokens->cache_read == 0 && tokens->cost_nusd == 0 && tokens->model.len == 0 &&
        tokens->provider.len == 0) {
        return;
    }
    model_tally_report(m, j, tokens);
    struct model_usage *u = model_alloc(m, sizeof *u);
    u->row = (struct store_usage){
        .row = m->next_row++,
        .attempt = j->doc.attempt,
        .phase = phase,
        .created_at = m->now,
        .tokens = *tokens,
    };
    u->row.tokens.model = model_keep(m, tokens->model);
    u->row.tokens.provider = model_keep(m, tokens->provider);
    struct model_usage **at = &j->usages;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = u;
    j->doc.usage_count++;
    if (m->version >= COMMAND_ENTRY_STRICT) {
        j->doc.usage_summed = j->doc.usage_count;
        j->doc.usage_nusd = 0;
        for (u = j->usages; u != NULL; u = u->next) {
            j->doc.usage_nusd += u->row.tokens.cost_nusd;
        }
    }
}

void model_job_add_iteration(struct model *m, struct model_job *j, struct store_iteration row)
{
    struct model_iteration *it = model_alloc(m, sizeof *it);
    it->row = row;
    it->index = m->index;
    it->row.row = m->next_row++;
    it->row.created_at = m->now;
    it->row.checkpoint = model_keep(m, row.checkpoint);
    it->row.hold_reason = model_keep(m, row.hold_reason);
    it->row.result = model_keep(m, row.result);
    it->row.tokens.model = model_keep(m, row.tokens.model);
    it->row.tokens.provider = model_keep(m, row.tokens.provider);
    struct model_iteration **at = &j->iterations;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = it;
    j->doc.iteration_count++;
}

bool model_job_expired(const struct model *m, const struct model_job *j)
{
    return j->doc.expire_at.ns != 0 && j->doc.expire_at.ns < m->now.ns;
}

/* The job's lock remains until it expires. */
void model_job_die(struct model *m, struct model_job *j, struct str error)
{
    j->doc.failed_at = m->now;
    j->doc.scheduled_at = (struct wall){0};
    model_job_clear_worker(j);
    model_job_to_state(m, j, JOB_DEAD);
    (void)model_event(m, STORE_EVENT_DEAD, &j->doc);
    model_batch_count_end(m, j, false);
    model_chain_step_died(m, j, error);
}

void model_job_expire(struct model *m, struct model_job *j)
{
    j->doc.hold_reason = STR_EMPTY;
    model_job_add_error(m, j, STR("job expired"), STR_EMPTY);
    (void)model_event(m, STORE_EVENT_EXPIRED, &j->doc);
    model_job_die(m, j, STR("job expired"));
}

/* With base b, attempt a and maximum m: b, b·a or b·2^(a−1), at most m if m is set. */
static int64_t backoff_ms(const struct job *j)
{
    int64_t delay = 0;
    bool past = false; /* overflow */
    switch (j->backoff) {
    case JOB_BACKOFF_NONE:
        return 0;
    case JOB_BACKOFF_FIXED:
        delay = j->retry_base_ms;
        break;
    case JOB_BACKOFF_LINEAR:
        past = __builtin_mul_overflow(j->retry_base_ms, (int64_t)j->attempt, &delay);
        break;
    case JOB_BACKOFF_EXPONENTIAL:
        delay = j->retry_base_ms;
        for (uint32_t a = 1; a < j->attempt && !past; a++) {
            past = __builtin_mul_overflow(delay, INT64_C(2), &delay);
        }
        break;
    }
    if (past) {
        delay = INT64_MAX;
    }
    return j->retry_max_ms > 0 && delay > j->retry_max_ms ? j->retry_max_ms : delay;
}

/* At most 1 KiB, without cutting a character. */
static struct str shortened(struct str error)
{
    struct str left = error;
    while (left.len > LIMIT_EVENT_ERROR_BYTES || !str_is_utf8(left)) {
        left.len--;
    }
    return left;
}

void model_job_failure(const struct job *doc, struct wall at, struct result *out)
{
    out->attempt = doc->attempt;
    out->remaining = doc->max_retries > doc->attempt ? doc->max_retries - doc->attempt : 0;
    if (doc->expire_at.ns != 0 && doc->expire_at.ns < at.ns) {
        out->remaining = 0;
    }
    out->state = out->remaining > 0 ? JOB_RETRYING : JOB_DEAD;
    if (out->state == JOB_RETRYING) {
        out->at = wall_add_ms(at, backoff_ms(doc));
    }
}

void model_job_fail(struct model *m, struct model_job *j, struct str error, struct str backtrace,
                    struct result *out)
{
    struct job *doc = &j->doc;
    model_job_failure(doc, m->now, out);
    model_queue_of(m, doc->queue)->failures++;
    model_job_add_error(m, j, error, backtrace);
    struct store_event *e = model_event(m, STORE_EVENT_FAILED, doc);
    if (e != NULL) {
        e->text = model_keep(m, shortened(error));
        e->attempt = out->attempt;
        e->remaining = out->remaining;
        e->next_attempt_at = out->at;
    }
    doc->hold_reason = STR_EMPTY;
    if (out->state == JOB_DEAD) {
        model_job_die(m, j, error);
        return;
    }
    doc->failed_at = m->now;
    doc->scheduled_at = out->at;
    model_job_clear_worker(j);
    model_job_to_state(m, j, JOB_RETRYING);
    (void)model_event(m, STORE_EVENT_RETRYING, doc);
}

/* The list without this id. */
static struct str without(struct model *m, struct str ids, struct id gone)
{
    char *kept = model_alloc(m, ids.len);
    size_t len = 0;
    for (size_t at = 0; at < ids.len; at += ID_BYTES) {
        if (memcmp(ids.ptr + at, gone.b, ID_BYTES) != 0) {
            memcpy(kept + len, ids.ptr + at, ID_BYTES);
            len += ID_BYTES;
        }
    }
    return str_from(kept, len);
}

/* Update the jobs that wait for the completed job, by id. False if not all were updated.
 *
 * Free: the number of jobs per entry is limited. A finished job that ended in an entry before
 * version 11 is not updated. It checks its dependencies when it is revived. */
static bool let_go(struct model *m, struct id done, uint32_t *count)
{
    for (size_t i = 0; i < m->jobs.count; i++) {
        struct model_job *other = model_job_at(m, i);
        if (job_state_is_terminal(other->doc.state) && !other->hears) {
            continue;
        }
        struct str left = without(m, other->doc.waits_for, done);
        if (left.len == other->doc.waits_for.len) {
            continue;
        }
        if (*count == LIMIT_TICK_JOBS || !model_reaches(m, other->doc.id)) {
            return false;
        }
        other->doc.waits_for = left;
        model_job_to_state(m, other, other->doc.state);
        (*count)++;
    }
    return true;
}

void model_job_satisfy(struct model *m, const struct model_job *j)
{
    uint32_t count = 0;
    if (let_go(m, j->doc.id, &count)) {
        return;
    }
    struct id *owes = model_alloc(m, sizeof *owes);
    *owes = j->doc.id;
    model_list_add(&m->owed, owes);
    for (size_t i = m->owed.count - 1; i > 0 && id_cmp(*(struct id *)m->owed.at[i - 1], *owes) > 0;
         i--) {
        m->owed.at[i] = m->owed.at[i - 1];
        m->owed.at[i - 1] = owes;
    }
}

uint32_t model_job_satisfy_owed(struct model *m)
{
    uint32_t count = 0;
    while (m->owed.count > 0 && let_go(m, *(struct id *)m->owed.at[0], &count)) {
        model_list_remove(&m->owed, m->owed.at[0]);
    }
    return count;
}

void model_job_owes_nothing(struct model *m, struct id id)
{
    for (size_t i = m->owed.count; i-- > 0;) {
        if (id_eq(*(struct id *)m->owed.at[i], id)) {
            model_list_remove(&m->owed, m->owed.at[i]);
        }
    }
}
