#include "rest/backup/rest_backup_push.h"

#include "fsm/command/push_target.h"
#include "json/json_scan.h"
#include "svc/svc_chain.h"

void rest_backup_push__write_target(struct json_write *w, struct str push, bool secrets)
{
    if (push.len == 0) {
        return;
    }
    json_write_key(w, STR("push"));
    if (secrets) {
        json_write_raw(w, push);
    } else {
        push_target_show(push, w);
    }
}

void rest_backup_push__write(struct json_write *w, const struct job *j, bool secrets)
{
    if (j->push.len == 0) {
        return;
    }
    if (secrets) {
        json_write_key(w, STR("push_target"));
        json_write_raw(w, j->push);
    }
    rest_document__i64_if_set(w, "definition", (int64_t)j->definition);
    rest_document__i64_if_set(w, "counted_bytes", j->counted_bytes);
    rest_document__time(w, "first_try_at", j->first_try_at);
}

static bool had_secrets(struct str push)
{
    struct json_value v;
    return json_scan_member(push, STR("auth"), &v) || json_scan_member(push, STR("headers"), &v);
}

static unsigned outcome_of(struct str word)
{
    for (unsigned i = JOB_OUTCOME_COMPLETED; i < JOB_OUTCOME_COUNT; i++) {
        if (str_eq(word, str_from_z(job_outcome_name(i)))) {
            return i;
        }
    }
    return JOB_OUTCOME_NONE;
}

static void hold(struct job *j)
{
    if (!job_state_is_terminal(j->state)) {
        j->state = JOB_HELD;
        j->scheduled_at = j->lease_expires_at = WALL_NONE;
        j->worker_id = STR_EMPTY;
        j->hold_reason = STR("restored from a backup that contains no credentials");
    }
}

void rest_backup_push__read(const struct rest_backup_push_job *in,
                            const struct rest_backup_push_in *rest, struct job *j)
{
    if (in->push.len == 0) {
        return;
    }
    bool whole = rest != NULL && rest->push_target.len > 0;
    j->push = whole ? rest->push_target : in->push;
    j->due_at = in->due_at;
    j->name = in->name;
    j->cron = in->cron;
    j->cron_until = in->cron_until;
    j->cancel_reason = in->cancel_reason;
    j->outcome = outcome_of(in->last_outcome);
    if (rest != NULL) {
        j->definition = (uint64_t)rest->definition;
        j->counted_bytes = (uint32_t)rest->counted_bytes;
        j->first_try_at = rest->first_try_at;
    }
    if (!whole && had_secrets(in->push)) {
        hold(j);
    }
}

void rest_backup_push__read_chain(struct str chain_config, struct job *j)
{
    if (chain_config.len > 0 && svc_chain_is_redacted(chain_config)) {
        hold(j);
    }
}
