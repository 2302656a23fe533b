/*
 * Tries: the recorded calls of jobs that the server delivers.
 */
#include "fsm/apply/apply_int.h"

static struct str node_of(const struct job *j)
{
    struct str worker = j->worker_id;
    return str_starts_with(worker, STR("push:")) ? str_from_offset(worker, 5) : worker;
}

void tries__ended(struct machine *m, struct job *j, const struct command_push_end *it,
                  struct wall keep_from)
{
    store_rows_add_try(&m->store, j,
                       &(struct store_try){.attempt = j->attempt,
                                           .outcome = it->outcome,
                                           .error_type = it->error_type,
                                           .http_status = it->http_status,
                                           .answer_ms = it->answer_ms,
                                           .due_at = j->due_at,
                                           .started_at = it->started_at,
                                           .ended_at = it->ended_at,
                                           .node = node_of(j),
                                           .error = it->error},
                       keep_from);
    j->outcome = it->outcome;
}

void tries__abandoned(struct machine *m, struct job *j, enum job_outcome outcome, struct str error)
{
    if (j->push.len == 0) {
        return;
    }
    store_rows_add_try(&m->store, j,
                       &(struct store_try){.attempt = j->attempt,
                                           .outcome = outcome,
                                           .error_type = outcome == JOB_OUTCOME_TIMEOUT
                                                             ? STORE_TRY_ERROR_TIMEOUT
                                                             : STORE_TRY_ERROR_CANCELLED,
                                           .due_at = j->due_at,
                                           .started_at = j->started_at,
                                           .ended_at = m->now,
                                           .node = node_of(j),
                                           .error = error},
                       WALL_NONE);
    j->outcome = outcome;
    if (m->hooks.push_gone != NULL) {
        m->hooks.push_gone(m->hooks.data, j->id);
    }
}
