/*
 * What is done to queues (http-api.md 6.5, 12.2).
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

/* Remove the queue's jobs, or only those that wait. */
static void remove_jobs(struct model *m, const struct model_queue *q, bool all, struct result *out)
{
    for (size_t i = 0; i < m->jobs.count;) {
        struct model_job *j = model_job_at(m, i);
        if (!str_eq(j->doc.queue, q->name) ||
            (!all && j->doc.state != JOB_PENDING && j->doc.state != JOB_SCHEDULED)) {
            i++;
            continue;
        }
        model_job_remove(m, j);
        out->affected++;
    }
}

void model_queue_change(struct model *m, const struct command_queue *c, struct result *out)
{
    struct model_queue *q = c->action == COMMAND_QUEUE_DELETE ? model_find_queue(m, c->name)
                                                              : model_queue_of(m, c->name);
    switch (c->action) {
    case COMMAND_QUEUE_PAUSE:
        q->paused = true;
        model_event_queue(m, STORE_EVENT_QUEUE_PAUSED, c->name);
        break;
    case COMMAND_QUEUE_RESUME:
        q->paused = false;
        model_event_queue(m, STORE_EVENT_QUEUE_RESUMED, c->name);
        break;
    case COMMAND_QUEUE_CONCURRENCY:
        q->max_concurrency = c->max;
        break;
    case COMMAND_QUEUE_THROTTLE:
        q->rate = c->rate;
        q->window_ms = c->window_ms;
        break;
    case COMMAND_QUEUE_UNTHROTTLE:
        q->rate = 0;
        q->window_ms = 0;
        q->claim_count = 0;
        break;
    case COMMAND_QUEUE_CLEAR:
        remove_jobs(m, q, false, out);
        model_event_queue(m, STORE_EVENT_QUEUE_CLEARED, c->name);
        break;
    case COMMAND_QUEUE_DELETE:
        if (q != NULL) {
            remove_jobs(m, q, true, out);
            free(q->claims);
            q->claims = NULL;
            model_list_remove(&m->queues, q);
        }
        model_event_queue(m, STORE_EVENT_QUEUE_DELETED, c->name);
        break;
    }
}
