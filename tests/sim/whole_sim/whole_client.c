/*
 * Clients, each of which is both producer and worker. A client has one request at a time. It
 * reaches the leader through any node, which forwards the request to the node that it considers the
 * leader. The client repeats the request under the same name until it has an answer or its time is
 * over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/command/command_check.h"
#include "sim/whole_sim/whole.h"

enum {
    QUEUES = 4,
    PATIENCE_MS = 12000,
    LOST_CHANCE = 4, /* percent of answers */
    TEXT = 24,
    YEAR_S = 365 * 86400,
};

/* Memory that a command refers to until it is encoded. */
struct made {
    struct command c;
    struct command_new jobs[WHOLE_ITEMS];
    struct command_ack_item ack;
    struct command_heartbeat_item beat;
    char payload[WHOLE_ITEMS][TEXT];
    char queue[TEXT], key[TEXT], worker[TEXT];
    struct str queue_names[1];
};

/* ---- requests ---- */

/* Format two texts with a number between them. */
static struct str text(char room[TEXT], const char *before, unsigned number, const char *after)
{
    int n = snprintf(room, TEXT, "%s%u%s", before, number, after);
    CHECK(n > 0 && n < TEXT);
    return str_from(room, (size_t)n);
}

static void make_job(struct whole *w, struct made *m, unsigned i, struct id batch)
{
    struct job *j = &m->jobs[i].job;
    unsigned number = whole_below(w, QUEUES);
    *j = (struct job){.queue = i == 0 ? text(m->queue, "q", number, "") : m->jobs[0].job.queue,
                      .payload = text(m->payload[i], "{\"m\":", (unsigned)++w->last_marker, "}"),
                      .priority = (uint8_t)whole_below(w, JOB_PRIORITY_NORMAL + 1),
                      .backoff = JOB_BACKOFF_FIXED,
                      .max_retries = 3,
                      .retry_base_ms = 200 + whole_below(w, 2000),
                      .retry_max_ms = 5000,
                      .batch_id = batch};
    m->jobs[i].payload_is_json = true;
    if (i == 0 && id_is_none(batch) && whole_chance(w, 25)) {
        /* Each key is used in one queue only, because keys are unique per queue. */
        j->unique_key = text(m->key, "u", number + QUEUES * whole_below(w, 2), "");
        j->unique_period_s = YEAR_S;
    }
    if (whole_chance(w, 25) && w->last_seen != 0) {
        struct wall now = {.ns = w->truth[w->last_seen].stamp_ns};
        j->scheduled_at = wall_add_ms(now, 100 + whole_below(w, 8000));
    }
}

static void make_enqueue(struct whole *w, struct whole_op *op, struct made *m, struct id batch)
{
    op->job_count = 1 + whole_below(w, WHOLE_ITEMS - 1);
    op->marker = w->last_marker + 1;
    for (unsigned i = 0; i < op->job_count; i++) {
        make_job(w, m, i, batch);
    }
    m->c.type = COMMAND_ENQUEUE;
    m->c.enqueue =
        (struct command_enqueue){.jobs = m->jobs, .count = op->job_count, .is_list = true};
}

static void make_claim(struct whole *w, const struct whole_op *op, struct made *m)
{
    m->queue_names[0] = text(m->queue, "q", whole_below(w, QUEUES), "");
    m->c.type = COMMAND_CLAIM;
    m->c.claim = (struct command_claim){.queues = m->queue_names,
                                        .queue_count = 1,
                                        .worker_id = text(m->worker, "w", op->client, ""),
                                        .hostname = STR("host"),
                                        .lease_ms = 2000 + whole_below(w, 8000),
                                        .count = 1 + whole_below(w, 3)};
}

/* An ack, fail or heartbeat of a job that the client holds. The client drops the job, except after
 * a heartbeat. */
static void make_end(struct whole *w, struct whole_client *c, struct whole_op *op, struct made *m)
{
    unsigned at = whole_below(w, c->held_count);
    struct whole_held held = c->held[at];
    unsigned chance = whole_below(w, 100);
    op->job = held.job;
    if (chance < 25) {
        m->beat = (struct command_heartbeat_item){.id = held.job, .lease_token = held.token};
        m->c.type = COMMAND_HEARTBEAT;
        m->c.heartbeat = (struct command_heartbeat){.items = &m->beat, .count = 1};
        return;
    }
    c->held[at] = c->held[--c->held_count];
    if (chance < 75) {
        m->ack = (struct command_ack_item){.id = held.job, .lease_token = held.token};
        m->c.type = COMMAND_ACK;
        m->c.ack = (struct command_ack){.items = &m->ack, .count = 1};
    } else {
        m->c.type = COMMAND_FAIL;
        m->c.fail = (struct command_fail){
            .id = held.job, .lease_token = held.token, .error = STR("it broke")};
    }
}

static void make_cancel(struct whole *w, struct whole_op *op, struct made *m)
{
    const struct whole_note *note = w->note_list;
    for (unsigned i = whole_below(w, w->note_count); i > 0; i--) {
        note = note->next;
    }
    op->job = note->id;
    m->c.type = COMMAND_JOBS;
    m->c.jobs = (struct command_jobs){.action = COMMAND_JOB_CANCEL, .ids = &op->job, .count = 1};
}

/* The next step of a batch: open, fill or seal it. */
static void make_batch(struct whole *w, struct whole_client *c, struct whole_op *op, struct made *m)
{
    if (id_is_none(c->batch)) {
        m->c.type = COMMAND_BATCH_OPEN;
        m->c.batch_open =
            (struct command_batch_open){.callback_queue = STR("q0"), .callback_payload = STR("{}")};
    } else if (whole_chance(w, 60)) {
        make_enqueue(w, op, m, c->batch);
    } else {
        m->c.type = COMMAND_BATCH_SEAL;
        m->c.batch_seal.id = c->batch;
        c->batch = ID_NONE;
    }
}

static void make(struct whole *w, struct whole_client *c, struct whole_op *op)
{
    static const struct command_limits limits = {0};
    struct made m = {.c = {.version = 0}};
    struct err err;
    bool ends = c->held_count > 0 && (whole_chance(w, 55) || c->held_count == WHOLE_HELD);
    unsigned chance = whole_below(w, 100);
    if (ends) {
        make_end(w, c, op, &m);
    } else if (chance < 10 && w->note_count > 0) {
        make_cancel(w, op, &m);
    } else if (chance < 22) {
        make_batch(w, c, op, &m);
    } else if (chance < 58) {
        make_enqueue(w, op, &m, ID_NONE);
    } else {
        make_claim(w, op, &m);
    }
    if (command_check(&m.c, &limits, &err) != ERR_OK) {
        check_fatal("a client asks for what is refused: %s", err.msg);
    }
    op->type = m.c.type;
    command_encode(&m.c, &op->command);
    CHECK(!op->command.overflow);
}

/* ---- sending ---- */

/* Like front_op.c: a prefix of the client and a number. Two bytes are reserved for steps. */
static struct id new_name(struct whole *w)
{
    struct id name = {.b = {0xc1}};
    uint64_t number = ++w->last_name;
    for (unsigned i = 0; i < 8; i++) {
        name.b[4 + i] = (uint8_t)(number >> (56 - 8 * i));
    }
    return name;
}

static bool is_cut(const struct whole *w, unsigned from, unsigned to)
{
    return from != to && raft_fixture_saturated((struct raft_fixture *)&w->sim->fixture, from, to);
}

/* The node that front considers the leader. NULL if front is down or knows no leader, or the leader
 * is down. */
static struct whole_node *leader_by(struct whole *w, const struct sim_node *front, bool *out_lost)
{
    raft_id id = 0;
    const char *address = NULL;
    *out_lost = false;
    if (front->down) {
        return NULL;
    }
    raft_leader(front->raft, &id, &address);
    if (id == 0 || id > w->story.nodes || w->sim->node[id - 1].down) {
        return NULL;
    }
    *out_lost = is_cut(w, front->index, (unsigned)(id - 1));
    return &w->node[id - 1];
}

static void ask(struct whole *w, struct whole_op *op)
{
    raft_time now = w->sim->fixture.time;
    struct sim_node *front = &w->sim->node[whole_below(w, w->story.nodes)];
    bool lost;
    struct whole_node *leader = leader_by(w, front, &lost);
    op->again_at = now + 10 + whole_below(w, 100);
    if (leader == NULL) {
        return;
    }
    if (id_is_none(op->name)) {
        op->name = new_name(w);
        op->since = machine_applied_index(whole_node_of(front)->machine);
    } else {
        w->count.asked_again++;
        op->name = whole_on(w, WHOLE_NAMES) ? op->name : new_name(w);
    }
    if (lost || whole_node_submit(w, leader, op, front->index)) {
        /* The request may still be in progress when it is repeated. */
        op->again_at = now + 100 + whole_below(w, 1500);
    }
}

static void give_up(struct whole *w, struct whole_op *op)
{
    struct whole_note *note = whole_ledger_note(w, op->job);
    op->over = true;
    w->client[op->client].op = NULL;
    w->count.unknown++;
    if (op->type == COMMAND_FAIL && note != NULL) {
        note->fails_maybe++;
    }
}

void whole_client_failed(struct whole *w, struct whole_op *op, bool certain)
{
    (void)certain; /* in both cases the request is repeated under the same name */
    if (!op->over) {
        op->again_at = w->sim->fixture.time + whole_below(w, 100);
    }
}

void whole_client_step(struct whole *w, struct whole_client *c)
{
    raft_time now = w->sim->fixture.time;
    struct whole_op *op = c->op;
    if (op == NULL && now >= c->next_at && !w->calm) {
        op = calloc(1, sizeof *op);
        CHECK(op != NULL);
        op->client = (unsigned)(c - w->client);
        buf_init(&op->command, LIMIT_OP_BYTES);
        make(w, c, op);
        op->until = now + PATIENCE_MS;
        op->next = w->ops;
        w->ops = op;
        w->count.ops++;
        c->op = op;
    }
    if (op == NULL) {
        return;
    }
    if (now >= op->until && !w->calm) {
        give_up(w, op);
    } else if (now >= op->again_at) {
        ask(w, op);
    }
}

/* ---- answers ---- */

static void take_claim(struct whole *w, struct whole_client *c, const struct whole_answer *a)
{
    for (uint32_t i = 0; i < a->count && c->held_count < WHOLE_HELD; i++) {
        whole_ledger_add(w, a->item[i].id, 0); /* its producer may not have an answer yet */
        c->held[c->held_count++] =
            (struct whole_held){.job = a->item[i].id, .token = a->item[i].token};
    }
}

static void take_enqueue(struct whole *w, const struct whole_op *op, const struct whole_answer *a)
{
    if (a->count != op->job_count) {
        sim_violation(w->sim, "%u jobs were asked for, %u were made", op->job_count, a->count);
    }
    for (uint32_t i = 0; i < a->count; i++) {
        whole_ledger_add(w, a->item[i].id,
                         a->item[i].status == RESULT_DUPLICATE ? 0 : op->marker + i);
    }
}

static void take(struct whole *w, struct whole_op *op, const struct whole_answer *a)
{
    struct whole_client *c = &w->client[op->client];
    struct whole_note *note = whole_ledger_note(w, op->job);
    if (a->code != ERR_OK) {
        w->count.refused++;
        return;
    }
    switch ((int)op->type) { /* only these types need more */
    case COMMAND_ENQUEUE:
        take_enqueue(w, op, a);
        break;
    case COMMAND_CLAIM:
        take_claim(w, c, a);
        break;
    case COMMAND_BATCH_OPEN:
        c->batch = a->id;
        break;
    case COMMAND_ACK:
        if (note != NULL) {
            note->completed = true;
        }
        break;
    case COMMAND_FAIL:
        if (note != NULL) {
            note->fails++;
        }
        break;
    case COMMAND_JOBS:
        if (note != NULL && a->affected > 0) {
            note->cancelled = true;
        }
        break;
    default:
        break;
    }
}

/* NOLINTNEXTLINE(readability-function-size): operation, leader, front node and answer */
void whole_client_answer(struct whole *w, struct whole_op *op, const struct whole_node *leader,
                         unsigned front, const struct whole_answer *a)
{
    struct whole_client *c = &w->client[op->client];
    bool lost = w->sim->node[front].down || is_cut(w, leader->sim->index, front) ||
                (!w->calm && whole_chance(w, LOST_CHANCE));
    if (op->over) {
        return;
    }
    if (a->type != op->type || (whole_on(w, WHOLE_NAMES) && !id_eq(a->name, op->name))) {
        sim_violation(w->sim, "a client hears the answer to another's request");
        return;
    }
    if (lost) {
        return; /* the client repeats the request after its timeout */
    }
    if (a->code == ERR_UNKNOWN_OUTCOME) {
        give_up(w, op); /* the name is older than the names that the machine remembers */
        return;
    }
    take(w, op, a);
    op->over = true;
    c->op = NULL;
    c->next_at = w->sim->fixture.time + whole_below(w, 60);
    w->count.answered++;
}

bool whole_client_any_open(const struct whole *w)
{
    bool any = false;
    for (unsigned i = 0; i < WHOLE_CLIENTS; i++) {
        any = any || w->client[i].op != NULL;
    }
    return any;
}

void whole_client_free(struct whole *w)
{
    while (w->ops != NULL) {
        struct whole_op *op = w->ops;
        w->ops = op->next;
        buf_deinit(&op->command);
        free(op);
    }
}
