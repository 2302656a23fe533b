/*
 * Fail: a worker gives up on an attempt.
 */
#include "fsm/apply_int.h"

void apply_fail(struct machine *m, const struct command *c, struct result *r)
{
    struct job j;
    enum store_family family;
    if (jobs__need(m, c->fail.id, &j, &family, r) &&
        jobs__may_move(m, &j, JOB_MOVE_FAIL, ERR_FAIL, r) &&
        jobs__lease_holds(m, &j, c->fail.lease_token, ERR_FAIL, r)) {
        end__failed(m, &j, c->fail.error, c->fail.backtrace, r);
    }
}
