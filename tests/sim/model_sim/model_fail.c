/*
 * Fail (http-api.md 6.1, 8.5).
 */
#include "sim/model_sim/model_int.h"

void model_fail(struct model *m, const struct command_fail *c, struct result *out)
{
    struct model_job *j = model_find_job(m, c->id);
    if (j == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    /* A repeated request: the first answer was lost. The answer is repeated, whatever the
     * job's present state. */
    if (c->lease_token != 0 && c->lease_token == j->doc.lease_token &&
        j->doc.ended == JOB_ENDED_FAIL) {
        model_job_failure(&j->doc, j->doc.fail_ended_at, out);
        return;
    }
    if (j->doc.state != JOB_ACTIVE ||
        (c->lease_token != 0 && c->lease_token != j->doc.lease_token)) {
        model_refuse(out, ERR_FAIL);
        return;
    }
    j->doc.ended = JOB_ENDED_FAIL;
    j->doc.fail_ended_at = m->now;
    model_job_fail(m, j, c->error, c->backtrace, out);
}
