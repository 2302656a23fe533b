/*
 * Changes of queues in the model (http-api.md 6.5, 12.2).
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "sim/model_sim/model_int.h"

void model_queue_remember_claim(struct model *m, struct model_queue *q)
{
    if (q->claim_count == q->claim_cap) {
        q->claim_cap = q->claim_cap == 0 ? 16 : 2 * q->claim_cap;
        q->claims = realloc(q->claims, q->claim_cap * sizeof *q->claims);
        CHECK(q->claims != NULL);
    }
    q->claims[q->claim_count++] = m->now;
}

/* Free: pausing a paused queue, or resuming an active one, is no event. */
static void set_paused(struct model *m, struct model_queue *q, bool paused)
{
    if (q->paused != paused) {
        q->paused = paused;
        model_event_queue(m, paused ? STORE_EVENT_QUEUE_PAUSED : STORE_EVENT_QUEUE_RESUMED,
                          q->name);
    }
}

/* Free: setting the same throttle changes nothing. A different throttle starts without claims. */
static void throttle(struct model_queue *q, uint32_t rate, int64_t window_ms)
{
    if (q->rate != rate || q->window_ms != window_ms) {
        q->rate = rate;
        q->window_ms = window_ms;
        q->claim_count = 0;
    }
}

static bool is_meant(const struct model *m, const struct model_job *j,
                     const struct command_queue *c)
{
    if (!model_job_exists(m, j) || !str_eq(j->doc.queue, c->name)) {
        return false;
    }
    if (c->in_done) {
        return job_state_is_terminal(j->doc.state) && str_eq(j->stored_queue, c->name);
    }
    return j->doc.state == JOB_PENDING || j->doc.state == JOB_SCHEDULED ||
           (c->action == COMMAND_QUEUE_DELETE && !job_state_is_terminal(j->doc.state));
}

/* Was the job brought into the queue or, for a clear, back into line after the first step, or was a
 * request answered with it since? */
static bool is_later(const struct model_job *j, const struct command_queue *c, struct id until)
{
    return id_cmp(j->doc.joined, until) > 0 || id_cmp(j->promised, until) > 0 ||
           (c->action == COMMAND_QUEUE_CLEAR && id_cmp(j->doc.waits_since, until) > 0);
}

/* Free: jobs are removed in steps, in the order of their ids, unfinished jobs first. A job is
 * skipped if, in the entry of the step, it was created, revived or (if finished) moved to another
 * queue. True if no jobs of this kind are left. */
static bool remove_some(struct model *m, const struct command_queue *c, struct result *out)
{
    struct model_list jobs =
        model_job_stored(m, c->in_done ? MODEL_STORED_DONE : MODEL_STORED_LIVE);
    bool end = true;
    for (size_t i = 0; i < jobs.count && end; i++) {
        struct model_job *j = jobs.at[i];
        if (id_cmp(j->doc.id, c->cursor) < 0 || id_cmp(j->doc.id, out->until) >= 0) {
            continue;
        }
        if (out->affected == LIMIT_TICK_JOBS ||
            (m->reach != NULL && id_eq(m->reach->got->cursor, j->doc.id))) {
            out->cursor = j->doc.id;
            end = false;
        } else if (is_meant(m, j, c) && !is_later(j, c, out->until)) {
            model_job_delete(m, j);
            out->affected++;
        }
    }
    model_list_deinit(&jobs);
    return end;
}

static void note_removal(const struct model *m, struct model_queue *q, struct id until)
{
    if (m->version >= COMMAND_ENTRY_EXACT && id_cmp(until, q->removal) > 0) {
        q->removal = until;
    }
}

static void clear_queue(struct model *m, struct model_queue *q, const struct command_queue *c,
                        struct result *out)
{
    out->more = !remove_some(m, c, out);
    if (out->more) {
        note_removal(m, q, out->until);
    } else {
        model_event_queue(m, STORE_EVENT_QUEUE_CLEARED, c->name);
    }
}

static bool is_empty(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->jobs.count; i++) {
        if (str_eq(model_job_at(m, i)->doc.queue, name)) {
            return false;
        }
    }
    return true;
}

/* Free: the queue and its settings are removed with the last step, unless jobs were added
 * meanwhile. Before version 11 the settings were removed with the first step. */
static void delete_queue(struct model *m, struct model_queue *q, const struct command_queue *c,
                         struct result *out)
{
    if (id_is_none(c->until) && m->version < COMMAND_ENTRY_STRICT) {
        q->paused = false;
        q->max_concurrency = 0;
        throttle(q, 0, 0);
    }
    out->in_done = c->in_done;
    out->more = !remove_some(m, c, out);
    if (!out->more && !c->in_done) {
        out->more = true;
        out->in_done = true;
    }
    if (out->more) {
        note_removal(m, q, out->until);
        return;
    }
    model_event_queue(m, STORE_EVENT_QUEUE_DELETED, c->name);
    if (is_empty(m, c->name)) {
        free(q->claims);
        model_list_remove(&m->queues, q);
    }
}

/* The bound of the removal: jobs that existed before the entry of the first step. */
static struct id bound(const struct model *m, const struct command_queue *c)
{
    return id_is_none(c->until) ? id_make(m->now, m->index, 0) : c->until;
}

void model_queue_change(struct model *m, const struct command_queue *c, struct result *out)
{
    if (c->action == COMMAND_QUEUE_DELETE && model_find_queue(m, c->name) == NULL) {
        return;
    }
    struct model_queue *q = model_queue_of(m, c->name);
    switch (c->action) {
    case COMMAND_QUEUE_PAUSE:
    case COMMAND_QUEUE_RESUME:
        set_paused(m, q, c->action == COMMAND_QUEUE_PAUSE);
        break;
    case COMMAND_QUEUE_CONCURRENCY:
        q->max_concurrency = c->max;
        break;
    case COMMAND_QUEUE_THROTTLE:
        throttle(q, c->rate, c->window_ms);
        break;
    case COMMAND_QUEUE_UNTHROTTLE:
        throttle(q, 0, 0);
        break;
    case COMMAND_QUEUE_CLEAR:
        out->until = bound(m, c);
        clear_queue(m, q, c, out);
        break;
    case COMMAND_QUEUE_DELETE:
        out->until = bound(m, c);
        delete_queue(m, q, c, out);
        break;
    }
}
