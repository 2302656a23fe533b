/*
 * Jobs to enqueue.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "sim/model_sim/generate_int.h"
#include "sim/model_sim/model_chain.h"

enum { DEPENDENCIES_MAX = 3, PLAIN_FROM = 20 };

/* Up to three different jobs, in any state. */
static struct str dependencies(struct generate *g)
{
    char *ids = generate_pick_alloc(g, (size_t)DEPENDENCIES_MAX * ID_BYTES);
    size_t len = 0;
    size_t count = 1 + generate_pick_below(g, DEPENDENCIES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct id id = generate_pick_id(g, 1U << JOB_PENDING | 1U << JOB_ACTIVE | 1U << JOB_DEAD |
                                               1U << JOB_COMPLETED);
        bool twice = false;
        for (size_t at = 0; at < len; at += ID_BYTES) {
            twice = twice || memcmp(ids + at, id.b, ID_BYTES) == 0;
        }
        if (!twice) {
            memcpy(ids + len, id.b, ID_BYTES);
            len += ID_BYTES;
        }
    }
    return str_from(ids, len);
}

static void chain(struct generate *g, struct command_new *n)
{
    const struct model_chain *c = &model_chain_table[generate_pick_below(g, model_chain_count)];
    if (generate_pick_chance(g, 75)) {
        n->starts_chain = true;
        n->job.queue = c->steps[0].queue;
        n->job.chain_config = c->config;
        return;
    }
    /* Raw values, as of a step of a chain that an external system manages. */
    n->job.chain_id = STR("elsewhere");
    n->job.chain_config = GENERATE_TEXT(g, c->config, c->config, STR_EMPTY, STR("{\"a\":1}"));
    n->job.has_chain_step = generate_pick_chance(g, 80);
    if (n->job.has_chain_step) {
        n->job.chain_step = (int32_t)GENERATE_NUMBER(g, 0, 1, 2, -1, -2, INT32_MAX);
    }
}

/* Add dependencies, and a "depends_on" to the configuration. */
static void depend(struct generate *g, struct command_new *n)
{
    n->job.waits_for = dependencies(g);
    struct str config = n->job.chain_config;
    bool steps = config.len > 2;
    if (!steps) {
        config = STR("{}");
    }
    const char *more = "\"depends_on\":[\"job_x\"]}";
    size_t len = config.len + strlen(more) + 1;
    char *text = generate_pick_alloc(g, len + 1);
    (void)snprintf(text, len + 1, "%.*s%s%s", (int)config.len - 1, config.ptr, steps ? "," : "",
                   more);
    n->job.chain_config = str_from_z(text);
}

static void agent(struct generate *g, struct job *j)
{
    j->is_agent = true;
    j->agent.max_iterations = GENERATE_NUMBER(g, 0, 0, 1, 2, 3, 10);
    j->agent.max_cost_nusd = GENERATE_NUMBER(g, 0, 0, 10000000, 500000000, 1234567890);
    if (generate_pick_chance(g, 30)) {
        j->agent.timeout = STR("1s");
        j->agent.timeout_ms = 1000;
    }
}

static struct wall around_now(struct generate *g)
{
    return wall_add_ms(g->model->now,
                       GENERATE_NUMBER(g, -1000, 0, 1, 20, 1000, 5000, 60000, 3600000));
}

/* Usually an open batch. */
static struct id some_batch(struct generate *g)
{
    const struct model_list *batches = &g->model->batches;
    if (batches->count == 0 || generate_pick_chance(g, 2)) {
        return generate_pick_id(g, GENERATE_ANY);
    }
    size_t start = generate_pick_below(g, batches->count);
    for (size_t i = 0; i < batches->count; i++) {
        const struct model_batch *b = batches->at[(start + i) % batches->count];
        if (!b->record.sealed) {
            return b->id;
        }
    }
    const struct model_batch *b = batches->at[start];
    return generate_pick_chance(g, 10) ? b->id : ID_NONE;
}

static void options(struct generate *g, struct command_new *n, bool in_batch)
{
    struct job *j = &n->job;
    if (generate_pick_chance(g, 35)) {
        j->unique_key = GENERATE_TEXT(g, STR("k0"), STR("k1"), STR("k2"));
        j->unique_period_s = GENERATE_NUMBER(g, 0, -5, 1, 10, 60, 3600, INT64_MAX);
    }
    if (generate_pick_chance(g, 15)) {
        j->scheduled_at = around_now(g);
    }
    if (generate_pick_chance(g, 20)) {
        n->expire_after_ms = GENERATE_NUMBER(g, 1, 20, 1000, 10000, 60000, INT64_MAX);
    }
    if (generate_pick_chance(g, 20)) {
        agent(g, j);
    }
    if (generate_pick_chance(g, 15)) {
        chain(g, n);
    }
    if (generate_pick_chance(g, 15)) {
        depend(g, n);
    }
    if (!in_batch && generate_pick_chance(g, 15)) {
        j->batch_id = some_batch(g);
    }
    if (generate_pick_chance(g, 20)) {
        j->tags = STR("{\"t\":\"v\"}");
        j->parent_id = GENERATE_TEXT(g, STR_EMPTY, STR("job_parent"));
        j->checkpoint = GENERATE_TEXT(g, STR_EMPTY, STR("{\"at\":0}"), STR("null"));
    }
}

/* From two bytes to the maximum. Each order of magnitude is about equally likely. */
static struct str large_payload(struct generate *g)
{
    size_t len = 2;
    while (len < g->profile->payload_max && generate_pick_chance(g, 93)) {
        len = 2 * len + generate_pick_below(g, 2);
    }
    len = len < g->profile->payload_max ? len : g->profile->payload_max;
    char *text = generate_pick_alloc(g, len);
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    return str_from(text, len);
}

/* Lengths around the limit at which a document is stored in two parts, and one far above. */
static struct str long_payload(struct generate *g)
{
    size_t len = (size_t)GENERATE_NUMBER(g, 1010, 1014, 1015, 1022, 1023, 1024, 1025, 3000);
    char *text = generate_pick_alloc(g, len);
    memset(text, 'y', len);
    text[0] = text[len - 1] = '"';
    return str_from(text, len);
}

static void member(struct generate *g, struct command_new *n)
{
    n->job = (struct job){
        .queue = generate_pick_queue(g),
        .payload = g->profile->payload_max > 0 ? large_payload(g)
                   : generate_pick_chance(g, 15)
                       ? long_payload(g)
                       : GENERATE_TEXT(g, STR("{}"), STR("{\"n\":1}"), STR("null"), STR("[1, 2]")),
        .priority = (uint8_t)GENERATE_NUMBER(g, 0, 1, 2, 2, 2),
        .backoff = (enum job_backoff)GENERATE_NUMBER(g, JOB_BACKOFF_NONE, JOB_BACKOFF_FIXED,
                                                     JOB_BACKOFF_LINEAR, JOB_BACKOFF_EXPONENTIAL),
        .max_retries = (uint32_t)GENERATE_NUMBER(g, 0, 1, 2, 3, 4, 250),
        .retry_base_ms = GENERATE_NUMBER(g, 0, 1, 7, 1000, 5000, INT64_MAX / 3),
        .retry_max_ms = GENERATE_NUMBER(g, 0, 10, 3000, 600000),
    };
}

/* Make all jobs wait for the same active job, which will end soon. */
static void fan_out(struct generate *g, struct command_enqueue *c)
{
    const struct model_job *on = generate_pick_job(g, 1U << JOB_ACTIVE);
    if (on == NULL) {
        return;
    }
    c->count = g->profile->fan_out / 2 + generate_pick_below(g, g->profile->fan_out / 2);
    c->jobs = generate_pick_alloc(g, c->count * sizeof *c->jobs);
    for (size_t i = 0; i < c->count; i++) {
        member(g, &c->jobs[i]);
        c->jobs[i].job.waits_for = str_from(on->doc.id.b, ID_BYTES);
    }
}

void generate_jobs_enqueue(struct generate *g, struct command *out)
{
    out->type = COMMAND_ENQUEUE;
    struct command_enqueue *c = &out->enqueue;
    c->count =
        generate_pick_chance(g, 70) ? 1 : 1 + generate_pick_below(g, g->profile->members_max);
    c->has_batch = generate_pick_chance(g, 12);
    if (c->has_batch) {
        c->callback_queue = generate_pick_chance(g, 70) ? generate_pick_queue(g) : STR_EMPTY;
        c->callback_payload =
            GENERATE_TEXT(g, STR_EMPTY, STR("{\"a\": 1}"), STR("5"), STR("{\"batch\":0}"),
                          STR("null"), STR("[]"), STR("\"text\""));
        c->owner = generate_pick_owner(g);
    }
    if (generate_pick_chance(g, 8)) {
        c->idempotency_key = GENERATE_TEXT(g, STR("i0"), STR("i1"), STR("i2"), STR("i3"));
        c->body_hash = generate_pick_below(g, 3); /* in old logs it is unknown */
    }
    c->jobs = generate_pick_alloc(g, c->count * sizeof *c->jobs);
    for (size_t i = 0; i < c->count; i++) {
        member(g, &c->jobs[i]);
        /* A refused job makes the whole command fail, so most jobs of a large command are plain. */
        if (c->count <= PLAIN_FROM || generate_pick_chance(g, 3)) {
            options(g, &c->jobs[i], c->has_batch);
        }
    }
    if (g->profile->fan_out > 0 && generate_pick_chance(g, 20)) {
        fan_out(g, c);
    }
}
