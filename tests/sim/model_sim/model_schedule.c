/*
 * Schedules of the model (http-api.md 13).
 */
#include "sim/model_sim/model_int.h"

static bool name_taken(const struct model *m, struct str name, struct id except)
{
    for (size_t i = 0; i < m->schedules.count; i++) {
        const struct model_schedule *s = m->schedules.at[i];
        if (str_eq(s->record.name, name) && !id_eq(s->id, except)) {
            return true;
        }
    }
    return false;
}

static void store(struct model *m, struct model_schedule *s, const struct store_schedule *given)
{
    const struct store_schedule old = s->record;
    bool runs_alike = old.enabled == given->enabled && str_eq(old.cron, given->cron) &&
                      str_eq(old.timezone, given->timezone);
    s->record = *given;
    s->record.name = model_keep(m, given->name);
    s->record.queue = model_keep(m, given->queue);
    s->record.cron = model_keep(m, given->cron);
    s->record.timezone = model_keep(m, given->timezone);
    s->record.payload = model_keep(m, given->payload);
    s->record.unique_key = model_keep(m, given->unique_key);
    s->record.tags = model_keep(m, given->tags);
    s->record.created_at = old.created_at;
    s->record.last_run = old.last_run;
    s->record.next_run = runs_alike ? old.next_run : given->next_run;
    /* Free: a change at the same time as the previous one is stored a nanosecond later, to
     * distinguish them. */
    s->record.updated_at.ns = m->now.ns > old.updated_at.ns ? m->now.ns : old.updated_at.ns + 1;
}

void model_schedule_put(struct model *m, const struct command_schedule_put *c, struct result *out)
{
    bool create = id_is_none(c->id);
    struct model_schedule *s = create ? NULL : model_find_schedule(m, c->id);
    if (!create && s == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    if (name_taken(m, c->schedule.name, c->id) ||
        (!create && s->record.updated_at.ns != c->expected_updated_at.ns)) {
        model_refuse(out, ERR_CONFLICT);
        return;
    }
    if (create) {
        s = model_alloc(m, sizeof *s);
        s->id = model_next_id(m);
        s->record.created_at = m->now;
        model_list_add(&m->schedules, s);
    }
    store(m, s, &c->schedule);
    out->id = s->id;
}

void model_schedule_delete(struct model *m, const struct command_schedule_delete *c,
                           struct result *out)
{
    struct model_schedule *s = model_find_schedule(m, c->id);
    if (s == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    model_list_remove(&m->schedules, s);
}

/* Enqueue one job of the schedule, unless its key is locked. */
static void run(struct model *m, const struct model_schedule *s, struct result *out)
{
    struct str key = s->record.unique_key;
    const struct model_lock *lock = key.len == 0 ? NULL : model_lock_find(m, s->record.queue, key);
    if (lock != NULL) {
        model_job_promise(m, lock->job);
        out->id = lock->job;
        return;
    }
    const struct model_job *j = model_job_create(m, &(struct job){
                                                        .queue = s->record.queue,
                                                        .payload = s->record.payload,
                                                        .unique_key = key,
                                                        .tags = s->record.tags,
                                                        .priority = s->record.priority,
                                                        .max_retries = s->record.max_retries,
                                                        .backoff = JOB_BACKOFF_EXPONENTIAL,
                                                        .retry_base_ms = 5000,
                                                        .retry_max_ms = 600000,
                                                        .schedule_id = s->id,
                                                    });
    out->id = j->doc.id;
    out->affected = 1;
}

void model_schedule_fire(struct model *m, const struct command_schedule_fire *c, struct result *out)
{
    struct model_schedule *s = model_find_schedule(m, c->id);
    if (s == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    if (!c->manual) {
        if (!s->record.enabled || s->record.next_run.ns != c->expected_next.ns) {
            return; /* already fired, or changed since */
        }
        s->record.last_run = c->expected_next;
        s->record.next_run = c->next;
    }
    run(m, s, out);
}
