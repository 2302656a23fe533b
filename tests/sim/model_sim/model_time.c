/*
 * Effects of time (http-api.md 6.2, 6.6, 6.10, 6.12, 14).
 */
#include "base/limits.h"
#include "sim/model_sim/model_int.h"

#define DAY_MS INT64_C(86400000)

static struct wall earlier(struct wall a, struct wall b)
{
    return a.ns < b.ns ? a : b;
}

/* The next representable time after this one, unless it is the last. */
static struct wall just_after(struct wall at)
{
    return (struct wall){.ns = at.ns == INT64_MAX ? INT64_MAX : at.ns + 1};
}

static const struct wall never = {.ns = INT64_MAX};

static struct wall timeout_at(const struct job *j)
{
    return j->state == JOB_ACTIVE && j->agent.timeout_ms > 0
               ? wall_add_ms(j->started_at, j->agent.timeout_ms)
               : never;
}

/* The time at which a job is promoted, reclaimed or timed out. */
static struct wall due_at(const struct job *j)
{
    if (j->state == JOB_SCHEDULED || j->state == JOB_RETRYING) {
        return j->scheduled_at;
    }
    return j->state == JOB_ACTIVE ? earlier(just_after(j->lease_expires_at), timeout_at(j)) : never;
}

static struct wall expires_at(const struct job *j)
{
    return j->expire_at.ns != 0 && j->state != JOB_ACTIVE && !job_state_is_terminal(j->state)
               ? just_after(j->expire_at)
               : never;
}

/* The job with the earliest such time, the older of two, or NULL if none is due yet. */
static struct model_job *next_by(const struct model *m, struct wall (*moment)(const struct job *j))
{
    struct model_job *first = NULL;
    for (size_t i = 0; i < m->jobs.count; i++) {
        struct model_job *j = model_job_at(m, i);
        if (moment(&j->doc).ns <= m->now.ns &&
            (first == NULL || moment(&j->doc).ns < moment(&first->doc).ns)) {
            first = j;
        }
    }
    return first;
}

static void promote(struct model *m, struct model_job *j)
{
    j->doc.scheduled_at = (struct wall){0};
    model_job_to_state(m, j, JOB_PENDING);
    (void)model_event(m, STORE_EVENT_PROMOTED, &j->doc);
}

static void reclaim(struct model *m, struct model_job *j)
{
    model_job_clear_worker(j);
    model_job_to_state(m, j, JOB_PENDING);
    (void)model_event(m, STORE_EVENT_RECLAIMED, &j->doc);
}

static void fall_due(struct model *m, struct model_job *j)
{
    struct result ignored = {.code = ERR_OK};
    if (j->doc.state != JOB_ACTIVE) {
        promote(m, j);
    } else if (timeout_at(&j->doc).ns <= m->now.ns) {
        model_job_fail(m, j, STR("iteration timeout"), STR_EMPTY, &ignored);
    } else {
        reclaim(m, j);
    }
}

/* Remove expired locks and replies, and workers that were not seen for more than a day. */
static void clean_up(struct model *m)
{
    for (size_t i = m->locks.count; i-- > 0;) {
        struct model_lock *l = m->locks.at[i];
        if (l->expires_at.ns <= m->now.ns) {
            model_list_remove(&m->locks, l);
        }
    }
    for (size_t i = m->replies.count; i-- > 0;) {
        struct model_reply *r = m->replies.at[i];
        if (r->expires_at.ns <= m->now.ns) {
            model_list_remove(&m->replies, r);
        }
    }
    for (size_t i = m->workers.count; i-- > 0;) {
        struct model_worker *w = m->workers.at[i];
        if (wall_add_ms(w->record.last_heartbeat, DAY_MS).ns < m->now.ns) {
            model_list_remove(&m->workers, w);
        }
    }
}

/* Free: first the waiters of completed jobs are updated, then due jobs are processed in the order
 * of their times, then jobs expire. The number of jobs per tick is limited. */
void model_tick(struct model *m, struct result *out)
{
    struct model_job *j;
    uint32_t most = m->reach == NULL ? LIMIT_TICK_JOBS : m->reach->got->affected;
    out->affected = model_job_satisfy_owed(m);
    while (out->affected < most && (j = next_by(m, due_at)) != NULL) {
        fall_due(m, j);
        out->affected++;
    }
    while (out->affected < most && (j = next_by(m, expires_at)) != NULL) {
        model_job_expire(m, j);
        out->affected++;
    }
    clean_up(m);
    out->more = model_next_tick(m).ns <= m->now.ns;
}

struct wall model_next_tick(const struct model *m)
{
    struct wall next = m->owed.count > 0 ? (struct wall){0} : never;
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct job *j = &model_job_at(m, i)->doc;
        next = earlier(next, earlier(due_at(j), expires_at(j)));
    }
    for (size_t i = 0; i < m->locks.count; i++) {
        const struct model_lock *l = m->locks.at[i];
        next = earlier(next, l->expires_at);
    }
    for (size_t i = 0; i < m->replies.count; i++) {
        const struct model_reply *r = m->replies.at[i];
        next = earlier(next, r->expires_at);
    }
    for (size_t i = 0; i < m->workers.count; i++) {
        const struct model_worker *w = m->workers.at[i];
        next = earlier(next, just_after(wall_add_ms(w->record.last_heartbeat, DAY_MS)));
    }
    return next;
}

/* The time at which a finished job ended. */
static struct wall ended_at(const struct job *j)
{
    if (j->state == JOB_COMPLETED) {
        return j->completed_at;
    }
    if (j->state == JOB_CANCELLED) {
        return j->cancelled_at;
    }
    return j->failed_at.ns != 0 ? j->failed_at : j->created_at;
}

static void purge_batches(struct model *m, struct wall before, struct id until)
{
    for (size_t i = m->batches.count; i-- > 0;) {
        struct model_batch *b = m->batches.at[i];
        bool in_step = id_cmp(b->id, m->purge_cursor) >= 0 && id_cmp(b->id, until) < 0;
        if (in_step && b->record.finished_at.ns != 0 && b->record.finished_at.ns < before.ns) {
            model_list_remove(&m->batches, b);
            model_list_add(&m->purged_batches, b);
        }
    }
}

/* Free: jobs that ended in this entry are kept, and so are jobs that were created in the
 * millisecond of the limit. The number of jobs per command is limited, and the next command
 * continues where this one stopped. Finished batches are removed in the same range of ids. */
void model_purge(struct model *m, const struct command_purge *c, struct result *out)
{
    struct wall before = wall_add_ms(m->now, -c->retention_ms);
    struct id stop = id_make(before, 0, 0);
    struct id end = stop;
    struct model_list jobs = model_job_stored(m, MODEL_STORED_DONE);
    for (size_t i = 0; i < jobs.count && !out->more; i++) {
        struct model_job *j = jobs.at[i];
        if (id_cmp(j->doc.id, m->purge_cursor) < 0 || id_cmp(j->doc.id, stop) >= 0) {
            continue;
        }
        if (out->affected == LIMIT_TICK_JOBS ||
            (m->reach != NULL && id_eq(m->reach->purge_cursor, j->doc.id))) {
            end = j->doc.id;
            out->more = true;
        } else if (model_job_exists(m, j) && job_state_is_terminal(j->doc.state) &&
                   ended_at(&j->doc).ns < before.ns) {
            model_job_remove(m, j);
            out->affected++;
        }
    }
    model_list_deinit(&jobs);
    purge_batches(m, before, end);
    m->purge_cursor = out->more ? end : ID_NONE;
}
