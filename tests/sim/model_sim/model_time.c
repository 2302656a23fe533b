/*
 * What time does (http-api.md 6.2, 6.10, 6.12).
 */
#include "sim/model_sim/model_int.h"

static bool is_due(const struct model *m, const struct model_job *j)
{
    return (j->doc.state == JOB_SCHEDULED || j->doc.state == JOB_RETRYING) &&
           j->doc.scheduled_at.ns <= m->now.ns;
}

static bool lease_passed(const struct model *m, const struct model_job *j)
{
    return j->doc.state == JOB_ACTIVE && j->doc.lease_expires_at.ns < m->now.ns;
}

static bool iteration_timed_out(const struct model *m, const struct model_job *j)
{
    return j->doc.state == JOB_ACTIVE && j->doc.is_agent && j->doc.agent.timeout_ms > 0 &&
           wall_add_ms(j->doc.started_at, j->doc.agent.timeout_ms).ns <= m->now.ns;
}

static bool must_expire(const struct model *m, const struct model_job *j)
{
    return model_job_expired(m, j) && j->doc.state != JOB_ACTIVE &&
           !job_state_is_terminal(j->doc.state);
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

static void time_out(struct model *m, struct model_job *j)
{
    struct result ignored;
    model_job_fail(m, j, STR("iteration timeout"), STR_EMPTY, &ignored);
}

void model_tick(struct model *m, struct result *out)
{
    for (size_t i = 0; i < m->jobs.count; i++) {
        struct model_job *j = model_job_at(m, i);
        if (must_expire(m, j)) {
            model_job_expire(m, j);
        } else if (is_due(m, j)) {
            promote(m, j);
        } else if (iteration_timed_out(m, j)) {
            time_out(m, j);
        } else if (lease_passed(m, j)) {
            reclaim(m, j);
        } else {
            continue;
        }
        out->affected++;
    }
}

/* When a job that is over ended. */
static struct wall ended_at(const struct job *j)
{
    switch ((int)j->state) {
    case JOB_COMPLETED:
        return j->completed_at;
    case JOB_DEAD:
        return j->failed_at.ns != 0 ? j->failed_at : j->created_at;
    default:
        return j->cancelled_at;
    }
}

void model_purge(struct model *m, const struct command_purge *c, struct result *out)
{
    struct wall before = wall_add_ms(m->now, -c->retention_ms);
    for (size_t i = 0; i < m->jobs.count;) {
        struct model_job *j = model_job_at(m, i);
        if (!job_state_is_terminal(j->doc.state) || ended_at(&j->doc).ns >= before.ns) {
            i++;
            continue;
        }
        model_job_remove(m, j);
        out->affected++;
    }
}

struct wall model_next_tick(const struct model *m)
{
    struct wall next = {.ns = INT64_MAX};
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct job *j = &model_job_at(m, i)->doc;
        struct wall at = {.ns = INT64_MAX};
        if (j->state == JOB_SCHEDULED || j->state == JOB_RETRYING) {
            at = j->scheduled_at;
        } else if (j->state == JOB_ACTIVE) {
            at.ns = j->lease_expires_at.ns + 1;
        }
        next = at.ns < next.ns ? at : next;
    }
    return next;
}
