/*
 * Restore: add the objects of a backup to the state, with their ids, states, counters and times.
 *
 * Existing objects are not changed, except queues, which get the settings of the backup, and sums
 * of usage, which are raised. A job that was in line goes to the end of the line; a backup lists
 * such jobs in the order of the line. A restored id may be in the future; ids__new then skips it.
 * In old logs, items with such ids are skipped.
 */
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

/* May the item be restored with its id? */
static bool has_good_id(const struct machine *m, const struct command_restore_item *it)
{
    return it->any_id || id_cmp(it->id, id_make(m->now, m->index, 0)) < 0;
}

static void restore_queue(struct machine *m, const struct command_restore_item *it)
{
    const struct store_queue *given = &it->queue;
    struct queue *q = queue_records__need(m, it->name);
    if (given->created_at.ns != 0 && given->created_at.ns < q->rec.created_at.ns) {
        q->rec.created_at = given->created_at;
    }
    q->rec.failures = given->failures > q->rec.failures ? given->failures : q->rec.failures;
    q->rec.paused = given->paused;
    q->rec.max_concurrency = given->max_concurrency;
    (void)queue_limits__set_throttle(m, q, given->throttle_rate, given->throttle_window_ms);
    queues__touch(m, q);
    queues__ready(m, q);
}

static void restore_job(struct machine *m, const struct command_restore_item *it, struct result *r)
{
    struct job j = it->job;
    enum job_state existing;
    struct id missing;
    if (!has_good_id(m, it) || job_read__state(m, it->id, &existing)) {
        r->missing++;
        return;
    }
    if (!names__take(m, &j)) {
        r->missing++;
        return;
    }
    bool over = job_state_is_terminal(j.state);
    j.version = 0;
    j.joined = ID_NONE;
    j.waits_since = ID_NONE;
    jobs__join(m, &j);
    jobs__forget_end(&j);
    if (!over && j.waits_for.len > 0) {
        (void)dependencies__settle(m, &j, &missing); /* missing jobs may be restored later */
    }
    if (j.lease_token > m->store.meta.lease_token) {
        m->store.meta.lease_token = j.lease_token;
    }
    jobs__write(m, &j, STORE_FAMILY_COUNT);
    if (!over && j.waits_for.len > 0) {
        dependencies__add(m, &j);
    }
    if (j.unique_key.len > 0 && it->unique_until.ns > m->now.ns) {
        locks__restore(m, &j, it->unique_until);
    }
    r->affected++;
}

/* May the job have a row at this place? */
static bool has_place(const struct job *j, const struct command_restore_item *it)
{
    switch ((int)it->kind) {
    case COMMAND_RESTORE_ERROR:
        return it->place < j->error_count && j->error_count - it->place <= LIMIT_JOB_ERRORS;
    case COMMAND_RESTORE_ITERATION:
        return it->place < j->iteration_count;
    default:
        return it->place < j->usage_count;
    }
}

/* Count a usage report that did not exist here, as if its job had reported it then. Reports that
 * the sums of the backup contain, or that are from after counting began, are not counted. */
static void count_usage(struct machine *m, const struct command_restore_item *it)
{
    struct job j;
    enum store_family family;
    if (!it->summed && it->usage.created_at.ns < m->tallies.start.at.ns &&
        job_read__get(m, it->id, &j, &family)) {
        tallies__restored(m, &j, &it->usage);
    }
}

static void restore_row(struct machine *m, struct command_restore_item *it)
{
    struct job j;
    if (!job_read__glance(m, it->id, &j) || !has_place(&j, it)) {
        return;
    }
    jobs__note_rows(m, &j);
    if (it->kind == COMMAND_RESTORE_ERROR) {
        store_rows_restore_error(&m->store, it->id, it->place, &it->error);
    } else if (it->kind == COMMAND_RESTORE_ITERATION) {
        store_rows_restore_iteration(&m->store, it->id, it->place, &it->iteration);
    } else {
        bool counted = tallies__begin(m);
        if (store_rows_restore_usage(&m->store, it->id, it->place, &it->usage) && counted) {
            count_usage(m, it);
        }
    }
}

/* Count an item that was left out for lack of room. Entries of older versions do not report it. */
static void note(const struct machine *m, bool has_room, uint32_t *left_out)
{
    if (!has_room && m->entry_version >= COMMAND_ENTRY_STRICT) {
        ++*left_out;
    }
}

void apply_restore(struct machine *m, const struct command *c, struct result *r)
{
    for (size_t i = 0; i < c->restore.count; i++) {
        struct command_restore_item *it = &c->restore.items[i];
        if (it->any_id && id_cmp(it->id, m->newest_id) > 0) {
            m->newest_id = it->id;
        }
        switch (it->kind) {
        case COMMAND_RESTORE_QUEUE:
            restore_queue(m, it);
            break;
        case COMMAND_RESTORE_SCHEDULE:
            if (has_good_id(m, it)) {
                note(m, apply_schedule__restore(m, it->id, &it->schedule), &r->remaining);
            }
            break;
        case COMMAND_RESTORE_BATCH:
            if (has_good_id(m, it)) {
                batches__restore(m, it->id, &it->batch);
            }
            break;
        case COMMAND_RESTORE_JOB:
            restore_job(m, it, r);
            break;
        case COMMAND_RESTORE_ERROR:
        case COMMAND_RESTORE_ITERATION:
        case COMMAND_RESTORE_USAGE:
            restore_row(m, it);
            break;
        case COMMAND_RESTORE_WEBHOOK:
            note(m, apply_webhook__restore(m, it->name, &it->webhook), &r->attempt);
            break;
        case COMMAND_RESTORE_POLICY:
            if (has_good_id(m, it)) {
                note(m, apply_policy__restore(m, it->id, &it->policy), &r->attempt);
            }
            break;
        case COMMAND_RESTORE_BUDGET:
            note(m, apply_access__restore_budget(m, it->name, &it->budget), &r->attempt);
            break;
        case COMMAND_RESTORE_TALLY:
            tallies__restore(m, it->name, &it->tally);
            break;
        }
    }
}
