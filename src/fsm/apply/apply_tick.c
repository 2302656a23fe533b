/*
 * Tick: process everything that is due at the entry's time, in the order of due times.
 *
 * One tick changes a limited number of jobs, so that an entry stays short. It reports whether more
 * remain.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

static void promote(struct machine *m, struct job *j)
{
    bool moved = job_move_target(j->state, JOB_MOVE_PROMOTE, &j->state);
    CHECK(moved);
    j->scheduled_at = WALL_NONE;
    jobs__write(m, j, STORE_LIVE);
    jobs__emit(m, STORE_EVENT_PROMOTED, j);
}

static void reclaim(struct machine *m, struct job *j)
{
    bool moved = job_move_target(j->state, JOB_MOVE_RECLAIM, &j->state);
    CHECK(moved);
    jobs__clear_claim(j);
    jobs__write(m, j, STORE_LIVE);
    jobs__emit(m, STORE_EVENT_RECLAIMED, j);
    jobs__tell_taken(m, j);
}

static void job_due(struct machine *m, struct live_job *l)
{
    struct job j;
    bool found = store_docs_get(m->store.docs, STORE_LIVE, l->id, &j);
    CHECK(found);
    if (j.state != JOB_ACTIVE) {
        promote(m, &j);
    } else if (j.push.len > 0) {
        apply_push__lost(m, &j);
    } else if (j.agent.timeout_ms > 0 &&
               wall_add_ms(j.started_at, j.agent.timeout_ms).ns <= m->now.ns) {
        jobs__tell_taken(m, &j);
        job_end__failed(m, &j, STR("iteration timeout"), STR_EMPTY, NULL);
    } else {
        reclaim(m, &j);
    }
}

static void job_expired(struct machine *m, struct live_job *l)
{
    struct job j;
    bool found = store_docs_get(m->store.docs, STORE_LIVE, l->id, &j);
    CHECK(found);
    job_end__expired(m, &j, STORE_LIVE);
}

static bool has_room(const struct machine *m, const struct result *r)
{
    return r->affected < LIMIT_TICK_JOBS && !entry__is_full(m);
}

void apply_tick(struct machine *m, const struct command *c, struct result *r)
{
    struct heap_node *first;
    (void)c;
    /* Dependents of completed jobs come first, because the completion was already confirmed. */
    r->affected = releases__continue(m, LIMIT_TICK_JOBS);
    while (has_room(m, r) && (first = heap_first_until(&m->due, m->now.ns)) != NULL) {
        job_due(m, CONTAINER_OF(first, struct live_job, due));
        r->affected++;
    }
    /* A job may still be claimed at the exact time of its expiry. */
    while (has_room(m, r) && (first = heap_first_until(&m->expiry, m->now.ns - 1)) != NULL) {
        job_expired(m, CONTAINER_OF(first, struct live_job, expiry));
        r->affected++;
    }
    locks__expire(m, LIMIT_TICK_JOBS);
    replies__expire(m, LIMIT_TICK_JOBS);
    workers__prune(m, LIMIT_TICK_JOBS);
    r->more = machine_next_tick(m).ns <= m->now.ns;
}
