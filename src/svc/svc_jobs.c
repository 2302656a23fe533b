#include "svc/svc_jobs.h"

#include "base/check.h"
#include "base/limits.h"
#include "svc/svc_names.h"

enum err_code svc_jobs_act(const struct svc_caller *who, const struct svc_jobs_action *in,
                           struct id *room, struct command *out, struct err *err)
{
    command_init(out, COMMAND_JOBS);
    out->jobs = (struct command_jobs){.action = in->action,
                                      .ids = room,
                                      .count = 1,
                                      .reason = str_at_most(in->reason, LIMIT_REASON_BYTES),
                                      .reset_attempts = in->reset_attempts};
    if (svc_names_target(who, "queue", in->queue, &out->jobs.queue, err) != ERR_OK) {
        return err->code;
    }
    return svc_names_job_id(who, in->job_id, room, err);
}

const char *svc_jobs_acted(enum command_job_action action, const struct result *r)
{
    static const char *const words[] = {
        [COMMAND_JOB_RETRY] = "retried",    [COMMAND_JOB_REQUEUE] = "requeued",
        [COMMAND_JOB_CANCEL] = "cancelled", [COMMAND_JOB_HOLD] = "held",
        [COMMAND_JOB_APPROVE] = "pending",  [COMMAND_JOB_REJECT] = "dead",
        [COMMAND_JOB_MOVE] = "moved",       [COMMAND_JOB_CHANGE_PRIORITY] = "changed",
        [COMMAND_JOB_DELETE] = "deleted",
    };
    CHECK(action <= COMMAND_JOB_ACTION_LAST);
    /* the worker is notified at its next heartbeat */
    return action == COMMAND_JOB_CANCEL && r->state == JOB_ACTIVE ? "cancelling" : words[action];
}

enum err_code svc_jobs_replay(const struct svc_caller *who, struct str job_id, int64_t from,
                              struct command *out, struct err *err)
{
    *out = (struct command){.type = COMMAND_REPLAY, .replay = {.from = from}};
    return svc_names_job_id(who, job_id, &out->replay.id, err);
}
