/*
 * Fail: a worker reports that an attempt has failed.
 *
 * Since version 2, the document records this, so that a worker whose response was lost gets the
 * same result again.
 */
#include "fsm/apply/apply_int.h"

void apply_fail(struct machine *m, const struct command *c, struct result *r)
{
    struct job j;
    enum store_family family;
    if (!job_read__need(m, c->fail.id, &j, &family, r)) {
        return;
    }
    if (jobs__was_ended(&j, c->fail.lease_token, JOB_ENDED_FAIL)) {
        job_end__failed_again(&j, r);
        return;
    }
    if (j.push.len > 0) {
        entry__refuse(m, r, ERR_FAIL, "job " STR_FMT " is delivered by the server",
                      STR_ARG(entry__id_text(m, j.id, ID_JOB)));
        return;
    }
    if (jobs__may_move(m, &j, JOB_MOVE_FAIL, ERR_FAIL, r) &&
        jobs__lease_holds(m, &j, c->fail.lease_token, ERR_FAIL, r)) {
        if (m->version >= 2) {
            j.ended = JOB_ENDED_FAIL;
            j.fail_ended_at = m->now;
        }
        job_end__failed(m, &j, c->fail.error, c->fail.backtrace, r);
    }
}
