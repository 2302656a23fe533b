/*
 * Commands of workers.
 */
#include <string.h>

#include "sim/model_sim/generate_int.h"

enum { CLAIM_QUEUES_MAX = 3 };

static void wanted(struct generate *g, struct command_claim *c)
{
    c->queue_count = 1 + generate_pick_below(g, CLAIM_QUEUES_MAX);
    c->queues = generate_pick_alloc(g, c->queue_count * sizeof *c->queues);
    for (size_t i = 0; i < c->queue_count; i++) {
        c->queues[i] = generate_pick_chance(g, 98) ? generate_pick_queue(g) : STR("nobody");
    }
    c->worker_id = GENERATE_TEXT(g, STR("w0"), STR("w1"), STR("acme::w0"), STR_EMPTY);
    c->ns = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("acme"));
    c->hostname = GENERATE_TEXT(g, STR("here"), STR("there"), STR_EMPTY);
    c->lease_ms = GENERATE_NUMBER(g, 1000, 1000, 5000, 60000, 60000, 86400000);
    c->count = generate_pick_chance(g, 60)
                   ? 1
                   : (uint32_t)(1 + generate_pick_below(g, g->profile->members_max));
}

void generate_work_claim(struct generate *g, struct command *out)
{
    out->type = COMMAND_CLAIM;
    wanted(g, &out->claim);
}

static void ack_item(struct generate *g, struct command_ack_item *item)
{
    item->id = generate_pick_id(g, 1U << JOB_ACTIVE);
    item->lease_token = generate_pick_token(g, item->id);
    item->has_result = generate_pick_chance(g, 50);
    if (item->has_result) {
        item->result = GENERATE_TEXT(g, STR("null"), STR("{\"r\": 1}"), STR("5"), STR("\"\""));
    }
    if (generate_pick_chance(g, 25)) {
        item->checkpoint = GENERATE_TEXT(g, STR("{\"at\":1}"), STR("[2]"));
    }
    item->usage = generate_pick_usage(g);
    const struct model_job *j = model_find_job(g->model, item->id);
    if ((j != NULL && j->doc.is_agent) || generate_pick_chance(g, 3)) {
        item->agent_status = (enum command_agent_status)GENERATE_NUMBER(
            g, COMMAND_AGENT_NONE, COMMAND_AGENT_DONE, COMMAND_AGENT_CONTINUE,
            COMMAND_AGENT_CONTINUE, COMMAND_AGENT_CONTINUE, COMMAND_AGENT_HOLD,
            COMMAND_AGENT_HOLD_ANY);
        item->hold_reason = GENERATE_TEXT(g, STR_EMPTY, STR("look at it"));
    } else if (generate_pick_chance(g, 3)) {
        item->agent_status = COMMAND_AGENT_HOLD_ANY;
        item->hold_reason = GENERATE_TEXT(g, STR_EMPTY, STR("look at it"));
    }
    if (generate_pick_chance(g, 30)) {
        item->step_status =
            (enum command_step_status)GENERATE_NUMBER(g, COMMAND_STEP_CONTINUE, COMMAND_STEP_EXIT);
        item->exit_reason = GENERATE_TEXT(g, STR_EMPTY, STR("enough \"said\""));
    }
}

void generate_work_ack(struct generate *g, struct command *out)
{
    out->type = COMMAND_ACK;
    struct command_ack *c = &out->ack;
    c->lenient = generate_pick_chance(g, 40);
    c->any_cost = generate_pick_chance(g, 20);
    c->count = c->lenient ? 1 + generate_pick_below(g, g->profile->items_max) : 1;
    c->items = generate_pick_alloc(g, c->count * sizeof *c->items);
    for (size_t i = 0; i < c->count; i++) {
        ack_item(g, &c->items[i]);
    }
    if (generate_pick_chance(g, 40)) {
        struct command_claim *next = generate_pick_alloc(g, sizeof *next);
        wanted(g, next);
        c->next = next;
    }
}

/* An error that is longer than an event allows. The limit may be in the middle of a character. */
static struct str long_error(struct generate *g)
{
    enum { BYTES = 1500 };
    static const char euro[3] = {'\xe2', '\x82', '\xac'};
    char *text = generate_pick_alloc(g, BYTES);
    memset(text, 'e', BYTES);
    size_t at = 1015 + generate_pick_below(g, 10);
    memcpy(text + at, euro, sizeof euro);
    return str_from(text, BYTES);
}

void generate_work_fail(struct generate *g, struct command *out)
{
    out->type = COMMAND_FAIL;
    struct command_fail *c = &out->fail;
    c->id = generate_pick_id(g, 1U << JOB_ACTIVE);
    c->lease_token = generate_pick_token(g, c->id);
    c->error = generate_pick_chance(g, 3)
                   ? long_error(g)
                   : GENERATE_TEXT(g, STR("boom"), STR(""), STR("a \"quote\"\n\xc3\xa9"));
    c->backtrace = GENERATE_TEXT(g, STR_EMPTY, STR("at line 1"));
}

/* Return jobs whose worker disconnected before it received them. */
static void give_back(struct generate *g, struct command *out)
{
    struct command_return *c = &out->give_back;
    out->type = COMMAND_RETURN;
    c->count = 1 + generate_pick_below(g, g->profile->items_max);
    c->items = generate_pick_alloc(g, c->count * sizeof *c->items);
    for (size_t i = 0; i < c->count; i++) {
        const struct model_job *j = generate_pick_job(g, 1U << JOB_ACTIVE);
        if (j == NULL) {
            c->items[i].id = generate_pick_id(g, GENERATE_ANY);
            continue;
        }
        c->items[i] = (struct command_return_item){
            .id = j->doc.id,
            .lease_token = generate_pick_chance(g, 90) ? j->doc.lease_token : 1,
            .order = generate_pick_chance(g, 95) ? j->claimed_from : 0,
        };
    }
}

void generate_work_heartbeat(struct generate *g, struct command *out)
{
    if (generate_pick_chance(g, 25)) {
        give_back(g, out);
        return;
    }
    out->type = COMMAND_HEARTBEAT;
    struct command_heartbeat *c = &out->heartbeat;
    c->ns = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("acme"));
    c->count = generate_pick_below(g, g->profile->items_max);
    c->items = generate_pick_alloc(g, c->count * sizeof *c->items);
    for (size_t i = 0; i < c->count; i++) {
        struct command_heartbeat_item *item = &c->items[i];
        item->id = generate_pick_id(g, 1U << JOB_ACTIVE);
        item->lease_token = generate_pick_token(g, item->id);
        item->progress = GENERATE_TEXT(g, STR_EMPTY, STR("50"), STR("{\"current\":1}"));
        item->checkpoint = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("{\"at\":3}"));
        item->usage = generate_pick_usage(g);
    }
}
