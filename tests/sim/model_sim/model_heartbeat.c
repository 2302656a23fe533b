/*
 * Heartbeat (http-api.md 6.3, 8.6).
 */
#include "sim/model_sim/model_int.h"

static enum result_status beat(struct model *m, const struct command_heartbeat_item *item)
{
    struct model_job *j = model_find_job(m, item->id);
    if (j == NULL) {
        return RESULT_UNKNOWN;
    }
    if (item->lease_token != 0 && item->lease_token == j->doc.lease_token &&
        j->doc.ended != JOB_ENDED_NOT) {
        return RESULT_OK;
    }
    if (j->doc.state != JOB_ACTIVE ||
        (item->lease_token != 0 && item->lease_token != j->doc.lease_token)) {
        return RESULT_CANCEL;
    }
    j->doc.lease_expires_at = wall_add_ms(m->now, 60000);
    if (item->checkpoint.len > 0) {
        j->doc.checkpoint = model_keep(m, item->checkpoint);
    }
    model_job_add_usage(m, j, STORE_PHASE_HEARTBEAT, &item->usage);
    if (item->progress.len > 0) {
        j->doc.progress = model_keep(m, item->progress);
        struct store_event *e = model_event(m, STORE_EVENT_PROGRESS, &j->doc);
        if (e != NULL) {
            e->text = j->doc.progress;
        }
    }
    model_job_touch(m, j);
    return RESULT_OK;
}

void model_heartbeat(struct model *m, const struct command_heartbeat *c, struct result *out)
{
    out->items = model_alloc(m, c->count * sizeof *out->items);
    out->count = (uint32_t)c->count;
    struct str worker = STR_EMPTY; /* of the first active job that has one */
    for (size_t i = 0; i < c->count; i++) {
        enum result_status status = beat(m, &c->items[i]);
        out->items[i] = (struct result_item){.id = c->items[i].id, .status = status};
        if (status == RESULT_OK && worker.len == 0) { /* a job that has ended has no worker */
            worker = model_find_job(m, c->items[i].id)->doc.worker_id;
        }
    }
    out->at = wall_add_ms(m->now, 60000);
    model_worker_beat(m, c->ns, worker);
}
