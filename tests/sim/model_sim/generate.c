#include "sim/model_sim/generate.h"

#include "base/check.h"
#include "sim/model_sim/generate_int.h"

/* clang-format off */
static const struct generate_profile profiles[] = {
    /*                                                                      enq cla ack fai hea act rep que emp tic pur bat sch web pol */
    {.name = "mixed, small entries",  .queues = 4, .jobs_max = 120,  .entry_max = 4,  .members_max = 6,   .items_max = 8, .share = 600,
     .weights =                                                           {  20, 20, 16,  6,  5, 14,  1,  4,  1,  8,  1,  2,  3,  2,  2}},
    {.name = "mixed, large entries",  .queues = 4, .jobs_max = 150,  .entry_max = 64, .members_max = 6,   .items_max = 8, .share = 1700,
     .weights =                                                           {  20, 20, 16,  6,  5, 14,  1,  4,  1,  8,  1,  2,  3,  2,  2}},
    {.name = "workers",               .queues = 2, .jobs_max = 60,   .entry_max = 64, .members_max = 4,   .items_max = 8, .share = 1700,
     .weights =                                                           {  18, 26, 22,  9,  9,  3,  2,  1,  0,  8,  1,  1,  0,  0,  3}},
    {.name = "batches and chains",    .queues = 3, .jobs_max = 120,  .entry_max = 32, .members_max = 8,   .items_max = 8, .share = 1200,
     .weights =                                                           {  18, 22, 20,  9,  2, 10,  0,  1,  1,  9,  1,  8,  0,  0,  0}},
    {.name = "queue limits",          .queues = 2, .jobs_max = 80,   .entry_max = 32, .members_max = 8,   .items_max = 8, .share = 1200,
     .weights =                                                           {  20, 26, 14,  3,  3,  6,  0, 18,  2,  6,  1,  1,  1,  0,  0}},
    {.name = "few jobs, many ends",   .queues = 1, .jobs_max = 8,    .entry_max = 16, .members_max = 2,   .items_max = 8, .share = 1000,
     .weights =                                                           {   4, 26, 10, 28,  4, 12,  1,  2,  0, 20,  0,  1,  0,  0,  0}},
    {.name = "crowd",                 .queues = 2, .jobs_max = 2500, .entry_max = 16, .members_max = 500, .items_max = 300, .share = 30,
     .weights =                                                           {  30, 14, 14,  3,  2,  8,  0,  2,  2,  8,  2,  2,  1,  1,  1}},
    {.name = "deadlines",             .queues = 3, .jobs_max = 100,  .entry_max = 8,  .members_max = 4,   .items_max = 8, .share = 500,
     .weights =                                                           {  22, 18, 12,  5,  5,  8,  0,  3,  1, 20,  1,  2,  6,  1,  1}},
    /* These profiles are used less often, with one command per entry, because an entry can be full.
     */
    {.name = "large documents",       .queues = 2, .jobs_max = 150,  .entry_max = 1,  .members_max = 60,  .items_max = 100, .payload_max = 255 * 1024, .fan_out = 40, .share = 18,
     .weights =                                                           {  40, 14, 10,  3,  4,  9,  1,  1,  1, 12,  1,  2,  2,  0,  0}},
    {.name = "thousands that wait",   .queues = 2, .jobs_max = 4000, .entry_max = 1,  .members_max = 60,  .items_max = 20, .fan_out = 2500, .share = 18,
     .weights =                                                           {  20, 30, 25,  3,  2,  6,  0,  0,  0, 20,  1,  1,  0,  0,  0}},
};
/* clang-format on */
enum { OFTEN = GENERATE_PROFILES - 2, SELDOM_EVERY = 16 };
_Static_assert(COUNT_OF(profiles) == GENERATE_PROFILES, "each profile has its seeds");

static const struct generate_profile *profile_of(uint64_t seed)
{
    return seed % SELDOM_EVERY == 0 ? &profiles[OFTEN + seed / SELDOM_EVERY % 2]
                                    : &profiles[seed % OFTEN];
}

static void (*const makers[])(struct generate *g, struct command *out) = {
    [GENERATE_ENQUEUE] = generate_jobs_enqueue,
    [GENERATE_CLAIM] = generate_work_claim,
    [GENERATE_ACK] = generate_work_ack,
    [GENERATE_FAIL] = generate_work_fail,
    [GENERATE_HEARTBEAT] = generate_work_heartbeat,
    [GENERATE_ACTION] = generate_manage_action,
    [GENERATE_REPLAY] = generate_manage_replay,
    [GENERATE_QUEUE] = generate_manage_queue,
    [GENERATE_EMPTY] = generate_manage_empty,
    [GENERATE_TICK] = generate_manage_tick,
    [GENERATE_PURGE] = generate_manage_purge,
    [GENERATE_BATCH] = generate_manage_batch,
    [GENERATE_SCHEDULE] = generate_manage_schedule,
    [GENERATE_WEBHOOK] = generate_webhook_any,
    [GENERATE_POLICY] = generate_policy_any,
};
_Static_assert(COUNT_OF(makers) == GENERATE_KIND_COUNT, "each kind has its maker");

struct generate generate_new(uint64_t seed, const struct model *model, struct arena *arena)
{
    return (struct generate){
        .rng = rng_from(seed),
        .profile = profile_of(seed),
        .model = model,
        .arena = arena,
        .clock = {.ns = 1700000000 * NS_PER_S},
    };
}

uint64_t generate_operations(uint64_t seed, uint64_t average)
{
    return 1 + average * profile_of(seed)->share / 1000;
}

bool generate_is_large(const struct generate *g)
{
    return g->profile->payload_max > 0 || g->profile->fan_out > 0;
}

size_t generate_count(struct generate *g)
{
    return generate_pick_chance(g, 15) ? 1 : 1 + generate_pick_below(g, g->profile->entry_max);
}

bool generate_events(struct generate *g)
{
    return generate_pick_chance(g, 95);
}

/* A time at which something in the model is due. 0 if nothing of the chosen kind exists. */
static struct wall due_time(struct generate *g)
{
    const struct model *m = g->model;
    const struct model_job *j = generate_pick_job(g, GENERATE_ANY);
    const struct model_lock *l =
        m->locks.count > 0 ? m->locks.at[generate_pick_below(g, m->locks.count)] : NULL;
    const struct model_queue *q =
        m->queues.count > 0 ? m->queues.at[generate_pick_below(g, m->queues.count)] : NULL;
    const struct wall none = {0};
    switch (generate_pick_below(g, 8)) {
    case 0:
        return j != NULL ? j->doc.scheduled_at : none;
    case 1:
        return j != NULL ? j->doc.lease_expires_at : none;
    case 2:
        return j != NULL ? j->doc.expire_at : none;
    case 3:
        return l != NULL ? l->expires_at : none;
    case 4:
        return q != NULL && q->claim_count > 0
                   ? wall_add_ms(q->claims[generate_pick_below(g, q->claim_count)], q->window_ms)
                   : none;
    case 5:
        return j != NULL && j->doc.agent.timeout_ms > 0
                   ? wall_add_ms(j->doc.started_at, j->doc.agent.timeout_ms)
                   : none;
    case 6:
        return wall_add_ms(m->now, 5000); /* a worker's row is written again */
    default:
        return model_next_tick(m);
    }
}

struct wall generate_time(struct generate *g)
{
    g->follow_ready = g->follow_count;
    unsigned dice = (unsigned)generate_pick_below(g, 1000);
    int64_t hour_ns = 3600 * NS_PER_S;
    if (dice < 150) {
        return g->clock;
    }
    if (dice < 350) {
        int64_t due = due_time(g).ns;
        if (due > g->clock.ns + 1 && due < g->clock.ns + hour_ns) {
            g->clock.ns = due + GENERATE_NUMBER(g, -1, 0, 1);
        }
        return g->clock;
    }
    if (dice < 420) { /* a new leader whose clock is behind */
        return (struct wall){.ns = g->clock.ns - (int64_t)rng_below(&g->rng, 10 * NS_PER_S)};
    }
    int64_t most = dice < 850   ? 20 * NS_PER_MS
                   : dice < 960 ? 2 * NS_PER_S
                   : dice < 990 ? 70 * NS_PER_S
                   : dice < 997 ? hour_ns
                                : 30 * hour_ns;
    g->clock.ns += 1 + (int64_t)rng_below(&g->rng, (uint64_t)most);
    return g->clock;
}

void generate_command(struct generate *g, struct command *out)
{
    *out = (struct command){.type = COMMAND_TICK};
    for (size_t i = 0; i < g->model->removed.count; i++) {
        const struct model_job *j = g->model->removed.at[i];
        g->gone[g->gone_count < COUNT_OF(g->gone) ? g->gone_count++
                                                  : generate_pick_below(g, COUNT_OF(g->gone))] =
            j->doc.id;
    }
    if (g->model->jobs.count > g->profile->jobs_max) {
        generate_manage_fewer(g, out);
        return;
    }
    unsigned total = 0;
    for (size_t kind = 0; kind < GENERATE_KIND_COUNT; kind++) {
        total += g->profile->weights[kind];
    }
    size_t dice = generate_pick_below(g, total);
    size_t kind = 0;
    while (dice >= g->profile->weights[kind]) {
        dice -= g->profile->weights[kind++];
    }
    makers[kind](g, out);
}

void generate_answered(struct generate *g, const struct command *c, const struct result *r)
{
    if (c->type != COMMAND_QUEUE || !r->more || g->follow_count == COUNT_OF(g->follow)) {
        return;
    }
    struct command_queue next = c->queue;
    next.cursor = r->cursor;
    next.until = r->until;
    next.in_done = r->in_done;
    g->follow[g->follow_count++] = next;
}
