/*
 * Commands of operators, timers and schedules.
 */
#include <string.h>

#include "base/check.h"
#include "sim/model_sim/generate_int.h"

enum { SCHEDULES_MAX = 6, BATCHES_OPEN_MAX = 4 };

/* The states in which the action usually applies. */
static unsigned fitting(enum command_job_action action)
{
    switch (action) {
    case COMMAND_JOB_RETRY:
        return 1U << JOB_DEAD | 1U << JOB_CANCELLED | 1U << JOB_COMPLETED | 1U << JOB_SCHEDULED;
    case COMMAND_JOB_REQUEUE:
        return 1U << JOB_DEAD;
    case COMMAND_JOB_APPROVE:
    case COMMAND_JOB_REJECT:
        return 1U << JOB_HELD;
    case COMMAND_JOB_CHANGE_PRIORITY:
        return 1U << JOB_PENDING | 1U << JOB_SCHEDULED;
    case COMMAND_JOB_CANCEL:
    case COMMAND_JOB_HOLD:
        return 1U << JOB_SCHEDULED | 1U << JOB_PENDING | 1U << JOB_ACTIVE | 1U << JOB_RETRYING;
    case COMMAND_JOB_MOVE:
    case COMMAND_JOB_DELETE:
        return GENERATE_ANY;
    }
    UNREACHABLE("an action has a number");
}

static void fill_ids(struct generate *g, struct command_jobs *c, unsigned states)
{
    c->ids = generate_pick_alloc(g, (c->count + 1) * sizeof *c->ids);
    for (size_t i = 0; i < c->count; i++) {
        c->ids[i] = generate_pick_id(g, states);
    }
}

/* A filter, mostly one that matches jobs to which the action applies. */
static struct job_fit pick_fit(struct generate *g, unsigned states)
{
    struct job_fit fit = {0};
    if (generate_pick_chance(g, 60)) {
        fit.states = generate_pick_chance(g, 70) ? states & ((1U << JOB_STATE_COUNT) - 1)
                                                 : 1U << generate_pick_below(g, JOB_STATE_COUNT);
    }
    if (generate_pick_chance(g, 20)) {
        fit.priorities = 1U << generate_pick_below(g, 3);
    }
    if (generate_pick_chance(g, 40)) {
        fit.queue = generate_pick_queue(g);
    }
    return fit;
}

void generate_manage_bulk(struct generate *g, struct command *out)
{
    const struct model_list *all = &g->model->bulks;
    const struct model_bulk *b =
        all->count == 0 ? NULL : all->at[all->count - 1 - generate_pick_below(g, all->count) / 4];
    if (b == NULL || generate_pick_chance(g, 20)) {
        out->type = COMMAND_BULK_PUT;
        struct command_bulk_put *c = &out->bulk_put;
        c->action = (enum command_job_action)(1 + generate_pick_below(g, COMMAND_JOB_ACTION_LAST));
        c->priority = (uint8_t)generate_pick_below(g, 3);
        c->queue = generate_pick_queue(g);
        c->filter = GENERATE_TEXT(g, STR_EMPTY, STR("{}"));
        c->count = c->filter.len > 0 ? 0 : generate_pick_below(g, 1200);
        c->ids = generate_pick_alloc(g, (c->count + 1) * sizeof *c->ids);
        c->total = c->count;
        if (c->filter.len > 0) {
            c->fit = pick_fit(g, fitting(c->action));
        }
        return;
    }
    if (generate_pick_chance(g, 5)) {
        out->type = COMMAND_BULK_END;
        out->bulk_end = (struct command_bulk_end){
            .id = b->id, .cancelled = generate_pick_chance(g, 50), .error = STR("enough")};
        return;
    }
    /* The machine does not read the lists: each step contains its ids. */
    struct command_jobs jobs = {.count = generate_pick_below(g, 1 + g->profile->items_max)};
    fill_ids(g, &jobs, fitting((enum command_job_action)b->record.action));
    out->type = COMMAND_BULK_STEP;
    out->bulk_step = (struct command_bulk_step){
        .id = generate_pick_chance(g, 3) ? generate_pick_id(g, GENERATE_ANY) : b->id,
        .step = b->record.steps - (generate_pick_chance(g, 10) ? 1 : 0),
        .last = generate_pick_chance(g, 20),
        .cursor = generate_pick_id(g, GENERATE_ANY),
        .ids = jobs.ids,
        .count = jobs.count};
}

void generate_manage_action(struct generate *g, struct command *out)
{
    if (generate_pick_chance(g, 20)) {
        generate_manage_bulk(g, out);
        return;
    }
    out->type = COMMAND_JOBS;
    struct command_jobs *c = &out->jobs;
    c->action = (enum command_job_action)(1 + generate_pick_below(g, COMMAND_JOB_ACTION_LAST));
    c->lenient = c->action == COMMAND_JOB_REQUEUE || c->action == COMMAND_JOB_CHANGE_PRIORITY ||
                 generate_pick_chance(g, 40);
    c->count = c->lenient ? 1 + generate_pick_below(g, g->profile->items_max) : 1;
    c->reset_attempts = generate_pick_chance(g, 20);
    c->priority = (uint8_t)generate_pick_below(g, 3);
    c->queue = c->action == COMMAND_JOB_MOVE ? generate_pick_queue(g) : STR_EMPTY;
    c->reason = GENERATE_TEXT(g, STR_EMPTY, STR("because"));
    fill_ids(g, c, fitting(c->action));
    if (c->lenient && generate_pick_chance(g, 40)) {
        c->fit = pick_fit(g, fitting(c->action));
    }
}

void generate_manage_replay(struct generate *g, struct command *out)
{
    out->type = COMMAND_REPLAY;
    out->replay.id = generate_pick_id(g, GENERATE_ANY);
    out->replay.from = GENERATE_NUMBER(g, 1, 1, 2, 3);
    for (size_t tries = 0; tries < 4; tries++) {
        const struct model_job *j = generate_pick_job(g, GENERATE_ANY);
        if (j != NULL && j->iterations != NULL) {
            out->replay.id = j->doc.id;
        }
    }
}

void generate_manage_queue(struct generate *g, struct command *out)
{
    out->type = COMMAND_QUEUE;
    struct command_queue *c = &out->queue;
    c->name = generate_pick_queue(g);
    c->action = (enum command_queue_action)GENERATE_NUMBER(
        g, COMMAND_QUEUE_PAUSE, COMMAND_QUEUE_RESUME, COMMAND_QUEUE_RESUME,
        COMMAND_QUEUE_CONCURRENCY, COMMAND_QUEUE_THROTTLE, COMMAND_QUEUE_UNTHROTTLE);
    c->max = (uint32_t)GENERATE_NUMBER(g, 0, 0, 1, 2, 5);
    c->rate = (uint32_t)GENERATE_NUMBER(g, 1, 2, 3, 5);
    c->window_ms = GENERATE_NUMBER(g, 1, 10, 1000, 5000, 60000);
}

/* The next step of a removal in progress, or a new removal. */
void generate_manage_empty(struct generate *g, struct command *out)
{
    out->type = COMMAND_QUEUE;
    struct command_queue *c = &out->queue;
    if (g->follow_ready > 0 && generate_pick_chance(g, 90)) {
        *c = g->follow[0];
        g->follow_ready--;
        g->follow_count--;
        memmove(&g->follow[0], &g->follow[1], g->follow_count * sizeof g->follow[0]);
        return;
    }
    c->name = generate_pick_chance(g, 95) ? generate_pick_queue(g) : STR("nobody");
    c->action = generate_pick_chance(g, 60) ? COMMAND_QUEUE_CLEAR : COMMAND_QUEUE_DELETE;
    if (generate_pick_chance(g, 40)) { /* a slow removal that began when this job was created */
        c->until = generate_pick_id(g, GENERATE_ANY);
    }
}

void generate_manage_tick(struct generate *g, struct command *out)
{
    (void)g;
    out->type = COMMAND_TICK;
}

void generate_manage_purge(struct generate *g, struct command *out)
{
    out->type = COMMAND_PURGE;
    out->purge.retention_ms = GENERATE_NUMBER(g, 0, 1000, 60000, 3600000);
}

void generate_manage_batch(struct generate *g, struct command *out)
{
    const struct model_list *batches = &g->model->batches;
    size_t open = 0;
    struct id last_open = ID_NONE;
    for (size_t i = 0; i < batches->count; i++) {
        const struct model_batch *b = batches->at[i];
        if (!b->record.sealed) {
            open++;
            last_open = generate_pick_chance(g, 50) || open == 1 ? b->id : last_open;
        }
    }
    if (open == 0 || (open < BATCHES_OPEN_MAX && generate_pick_chance(g, 50))) {
        out->type = COMMAND_BATCH_OPEN;
        out->batch_open.callback_queue =
            generate_pick_chance(g, 80) ? generate_pick_queue(g) : STR_EMPTY;
        out->batch_open.callback_payload = GENERATE_TEXT(g, STR_EMPTY, STR("{}"), STR("1"));
        out->batch_open.owner = generate_pick_owner(g);
        return;
    }
    out->type = COMMAND_BATCH_SEAL;
    out->batch_seal.id = last_open;
    if (generate_pick_chance(g, 10)) {
        const struct model_batch *b = batches->at[generate_pick_below(g, batches->count)];
        out->batch_seal.id =
            generate_pick_chance(g, 50) ? b->id : generate_pick_id(g, GENERATE_ANY);
    }
}

static const struct model_schedule *some_schedule(struct generate *g)
{
    const struct model_list *all = &g->model->schedules;
    return all->count == 0 ? NULL : all->at[generate_pick_below(g, all->count)];
}

static void put(struct generate *g, const struct model_schedule *old, struct command *out)
{
    out->type = COMMAND_SCHEDULE_PUT;
    struct command_schedule_put *c = &out->schedule_put;
    if (old != NULL) {
        c->id = old->id;
        c->expected_updated_at.ns =
            old->record.updated_at.ns - (generate_pick_chance(g, 10) ? 1 : 0);
    }
    bool enabled = generate_pick_chance(g, 80);
    c->schedule = (struct store_schedule){
        .name = GENERATE_TEXT(g, STR("s0"), STR("s1"), STR("s2"), STR("s3"), STR("s4"), STR("s5")),
        .queue = generate_pick_queue(g),
        .cron = GENERATE_TEXT(g, STR("@every 1s"), STR("@every 1s"), STR("@daily")),
        .timezone = GENERATE_TEXT(g, STR("UTC"), STR("UTC"), STR("Europe/Rome")),
        .payload = GENERATE_TEXT(g, STR("{}"), STR("{\"s\":1}")),
        .unique_key = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("k0"), STR("k9")),
        .tags = GENERATE_TEXT(g, STR_EMPTY, STR("{\"by\":\"cron\"}")),
        .max_retries = (uint32_t)GENERATE_NUMBER(g, 0, 3),
        .priority = (uint8_t)generate_pick_below(g, 3),
        .enabled = enabled,
        .next_run = enabled ? wall_add_ms(g->model->now, GENERATE_NUMBER(g, 1, 1000, 60000))
                            : (struct wall){0},
    };
}

void generate_manage_schedule(struct generate *g, struct command *out)
{
    const struct model_schedule *s = some_schedule(g);
    unsigned dice = (unsigned)generate_pick_below(g, 100);
    if (s == NULL || dice < 20) {
        bool create = g->model->schedules.count < SCHEDULES_MAX && generate_pick_chance(g, 60);
        put(g, create ? NULL : s, out);
        return;
    }
    struct id id = generate_pick_chance(g, 5) ? generate_pick_id(g, GENERATE_ANY) : s->id;
    if (dice < 25) {
        out->type = COMMAND_SCHEDULE_DELETE;
        out->schedule_delete.id = id;
        return;
    }
    out->type = COMMAND_SCHEDULE_FIRE;
    out->schedule_fire = (struct command_schedule_fire){
        .id = id,
        .manual = generate_pick_chance(g, 20),
        .expected_next.ns = s->record.next_run.ns - (generate_pick_chance(g, 10) ? 1 : 0),
        .next = wall_add_ms(g->model->now, GENERATE_NUMBER(g, 1, 1000, 60000)),
    };
}

void generate_manage_fewer(struct generate *g, struct command *out)
{
    if (generate_pick_chance(g, 8)) {
        out->type = COMMAND_PURGE;
        out->purge.retention_ms = 0;
        return;
    }
    if (generate_pick_chance(g, 4)) {
        generate_manage_empty(g, out);
        return;
    }
    out->type = COMMAND_JOBS;
    out->jobs.action = generate_pick_chance(g, 50) ? COMMAND_JOB_DELETE : COMMAND_JOB_CANCEL;
    out->jobs.lenient = true;
    out->jobs.count = 1 + generate_pick_below(g, 4 * g->profile->items_max);
    fill_ids(g, &out->jobs, GENERATE_ANY);
}
