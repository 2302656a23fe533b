/*
 * Return: give back jobs that were claimed for a worker that disconnected. They get their previous
 * place in line, and the attempt does not count. A throttle has counted the claim.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

static bool give_back(struct machine *m, const struct command_return_item *it)
{
    struct job j;
    enum store_family family;
    if (!job_read__get(m, it->id, &j, &family) || j.state != JOB_ACTIVE || j.push.len > 0 ||
        j.lease_token != it->lease_token) {
        return false;
    }
    bool moved = job_move_target(j.state, JOB_MOVE_RECLAIM, &j.state);
    CHECK(moved);
    CHECK(j.state == JOB_PENDING);
    j.attempt -= j.attempt > 0 ? 1 : 0;
    jobs__clear_claim(&j);
    jobs__write_back(m, &j, it->order);
    jobs__emit(m, STORE_EVENT_RECLAIMED, &j);
    return true;
}

/* From the last item to the first, so that each job is inserted before those that were behind
 * it. */
void apply_return(struct machine *m, const struct command *c, struct result *r)
{
    for (size_t i = c->give_back.count; i > 0; i--) {
        if (entry__is_full(m)) {
            r->more = true;
            r->done = (uint32_t)(c->give_back.count - i);
            return;
        }
        r->affected += give_back(m, &c->give_back.items[i - 1]) ? 1 : 0;
    }
}
