/*
 * The pipe: ops become entries, entries become results.
 *
 * Group commit without a timer: whatever has accumulated goes into the next entry as soon as the
 * log has room for one. While a flush runs, ops gather; the slower the disk, the larger the
 * entries.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_follow_int.h"
#include "engine/engine_int.h"
#include "engine/engine_op_int.h"
#include "engine/engine_taken_int.h"
#include "os/os_clock.h"

static void refuse_for_space(struct engine *e, struct engine_op *op)
{
    struct err why;
    (void)engine_space_reason(&e->space.status, &why);
    engine_op__fail(e, op, &why);
}

void engine_pipe__add(struct engine *e, struct engine_op *op)
{
    CHECK(!op->parked);
    CHECK(*e->pending_last == NULL);
    op->next = NULL;
    if (op->park_ms > 0 || op->begun) {
        op->waiting_since_ns = os_clock_mono().ns; /* its wait for an entry starts now */
    }
    *e->pending_last = op;
    e->pending_last = &op->next;
}

void engine_pipe__enqueue(struct engine *e, struct engine_op *op)
{
    if (e->stopping || e->given_up) {
        engine_op__refuse(e, op, ERR_STOPPING);
    } else if (!e->leads) {
        engine_op__refuse(e, op, ERR_LEADER_UNAVAILABLE);
    } else if (!engine_space_allows(e->space.status.level, op->use)) {
        refuse_for_space(e, op);
    } else if (op->park_ms == 0 || engine_park__admit(e, op)) {
        engine_pipe__add(e, op);
    }
}

void engine_pipe__submit_own(struct engine *e, struct engine_op *op, const struct command *c)
{
    struct err err;
    enum err_code code = engine_op_prepare(e, op, c, &err);
    CHECK(code == ERR_OK);
    op->engine = e;
    op->waiting_since_ns = os_clock_mono().ns;
    engine_pipe__enqueue(e, op);
}

/* Proposals and results */

static void entry_done(struct node_propose *p);

/* The operation id of a step: each step of a command gets its own. */
static struct id name_of_step(const struct engine_op *op)
{
    struct id name = op->operation;
    if (!id_is_none(name)) {
        name.b[ID_BYTES - 2] = (uint8_t)(op->step >> 8);
        name.b[ID_BYTES - 1] = (uint8_t)op->step;
    }
    return op->step > UINT16_MAX ? ID_NONE : name;
}

/* Put a list of ops before all pending ops, and so into the entry that is being made. */
static void put_first(struct engine *e, struct engine_op *list, int64_t now_ns)
{
    struct engine_op **last = &list;
    for (; *last != NULL; last = &(*last)->next) {
        (*last)->waiting_since_ns = now_ns;
    }
    if (list != NULL) {
        if (e->pending_first == NULL) {
            e->pending_last = last;
        }
        *last = e->pending_first;
        e->pending_first = list;
    }
}

/* Put as many pending ops as fit into an entry, at least one. The cost of an op is only an
 * estimate: the machine postpones ops that did not fit after all. */
static struct engine_entry *take_entry(struct engine *e)
{
    struct engine_entry *entry = calloc(1, sizeof *entry);
    struct engine_op **last = &entry->ops;
    struct buf bytes;
    uint32_t count = 0;
    uint64_t cost = 0;

    CHECK(entry != NULL);
    CHECK(e->pending_first != NULL);
    entry->engine = e;
    entry->proposed_ns = os_clock_mono().ns;
    buf_init(&bytes, LIMIT_OP_BYTES + 2 * LIMIT_ENTRY_BYTES);
    uint8_t version =
        command_entry_version(engine_cluster__entry_version(e), engine_ask_has_peers(e));
    bool named = command_entry_has_names(version);
    struct wall now = engine__now(e);
    command_entry_begin(&bytes, version, now, e->config.lifecycle_events);
    while (e->pending_first != NULL && count < LIMIT_ENTRY_OPS && cost < LIMIT_STEP_BYTES &&
           (count == 0 || bytes.len + e->pending_first->command.len <= LIMIT_ENTRY_BYTES)) {
        struct engine_op *op = e->pending_first;
        e->pending_first = op->next;
        op->next = NULL;
        engine_times_add(&e->queue_times, entry->proposed_ns - op->waiting_since_ns);
        if (named) {
            command_entry_add_named(&bytes, buf_str(&op->command), name_of_step(op), op->since);
        } else {
            command_entry_add(&bytes, buf_str(&op->command));
        }
        cost += e->costs[op->type];
        *last = op;
        last = &op->next;
        count++;
        if (e->park.count > 0 && !op->postponed) {
            put_first(e, engine_follow__behind(e, op, now), entry->proposed_ns);
        }
    }
    if (e->pending_first == NULL) {
        e->pending_last = &e->pending_first;
    }
    command_entry_end(&bytes, count);
    CHECK(count > 0);
    CHECK(!bytes.overflow);
    entry->propose.len = bytes.len;
    entry->propose.bytes = buf_take(&bytes);
    entry->propose.done = entry_done;
    entry->propose.frees = !engine_space_allows(e->space.status.level,
                                                ENGINE_SPACE_GOES_ON); /* the only kind admitted */
    return entry;
}

void engine_pipe__pump(struct engine *e)
{
    while (e->leads && e->pending_first != NULL && e->entry_count < node_depth(e->node)) {
        struct engine_entry *entry = take_entry(e);
        CHECK(*e->entries_last == NULL);
        *e->entries_last = entry;
        e->entries_last = &entry->next;
        e->entry_count++;
        e->entries_total++;
        node_propose(e->node, &entry->propose);
    }
}

/* Reduce a command to the part that has not been done yet. */
static void cut_command(struct command *c, const struct result *r)
{
    switch ((int)c->type) {
    case COMMAND_QUEUE:
        c->queue.cursor = r->cursor;
        c->queue.until = r->until;
        c->queue.in_done = r->in_done;
        break;
    case COMMAND_ACK:
        CHECK(r->done < c->ack.count);
        c->ack.items += r->done;
        c->ack.count -= r->done;
        break;
    case COMMAND_HEARTBEAT:
        CHECK(r->done < c->heartbeat.count);
        c->heartbeat.items += r->done;
        c->heartbeat.count -= r->done;
        break;
    case COMMAND_JOBS:
        CHECK(r->done < c->jobs.count);
        c->jobs.ids += r->done;
        c->jobs.count -= r->done;
        break;
    case COMMAND_PUSH_FINISH:
        CHECK(r->done < c->push_finish.count);
        c->push_finish.items += r->done;
        c->push_finish.count -= r->done;
        break;
    case COMMAND_RETURN: /* goes backwards from the last job */
        CHECK(r->done < c->give_back.count);
        c->give_back.count -= r->done;
        break;
    default:
        UNREACHABLE("no other command goes in steps");
    }
}

/* A command that needs more than one entry is done in steps: the same command again, from where
 * it stopped. It never grows, so it still fits. */
static void set_next_step(struct engine *e, struct engine_op *op, const struct result *r)
{
    struct command c;
    struct err err;
    struct arena *a = arena_new(SIZE_MAX);
    struct str old = arena_str(a, buf_str(&op->command)); /* texts are views of it */
    enum err_code code = command_decode(old, a, &c, &err);
    CHECK(code == ERR_OK);
    cut_command(&c, r);
    bool counted = op->arrived;
    engine_op__leave(e, op);
    buf_clear(&op->command);
    command_encode(&c, &op->command);
    CHECK(op->command.len <= old.len);
    if (counted) {
        engine_op__arrive(e, op);
    }
    op->begun = true;
    arena_free(a);
}

/* A fetch holds at most one job of a queue, however often it is retried (http-api.md 17.3). Only
 * entry versions that have the flag report held jobs. The claim is decoded again, because its
 * texts are views of the command. */
static void forbid_holding(struct engine *e, struct engine_op *op)
{
    struct command c;
    struct err err;
    struct arena *a = arena_new(SIZE_MAX);
    enum err_code code = command_decode(arena_str(a, buf_str(&op->command)), a, &c, &err);
    CHECK(code == ERR_OK);
    c.claim.no_hold = true;
    c.version = 0; /* choose the version that has the flag */
    bool counted = op->arrived;
    engine_op__leave(e, op);
    buf_clear(&op->command);
    command_encode(&c, &op->command);
    CHECK(!op->command.overflow);
    if (counted) {
        engine_op__arrive(e, op);
    }
    op->claim = c.claim;
    arena_freep(&op->claim_arena);
    op->claim_arena = a;
}

/* Add the result of a step to those of the earlier steps. */
static void add_result(struct engine_op *op, const struct result *step)
{
    if (op->result.len == 0 || step->code != ERR_OK) {
        buf_clear(&op->result);
        result_encode(step, &op->result);
        return;
    }
    struct arena *a = arena_new(SIZE_MAX);
    struct str old = arena_str(a, buf_str(&op->result));
    struct result sum;
    bool sound = result_decode(old, a, &sum);
    CHECK(sound);
    result_join(&sum, step, a);
    buf_clear(&op->result);
    result_encode(&sum, &op->result);
    arena_free(a);
}

/* Update the estimated cost of commands of this type. */
static void learn_cost(struct engine *e, enum command_type type, uint64_t cost)
{
    e->costs[type] = (7 * e->costs[type] + cost) / 8;
}

/* Must the command be proposed again, because it was postponed or has steps left? */
static bool goes_on(struct engine *e, struct engine_op *op, const struct result *r)
{
    if (r->postponed) {
        return true;
    }
    if (!r->more || op->steps_left == 1) {
        return false;
    }
    op->steps_left -= op->steps_left > 0 ? 1 : 0;
    op->step++;
    switch ((int)op->type) {
    case COMMAND_QUEUE:
    case COMMAND_ACK:
    case COMMAND_HEARTBEAT:
    case COMMAND_JOBS:
    case COMMAND_RETURN:
    case COMMAND_PUSH_FINISH:
        add_result(op, r);
        set_next_step(e, op, r);
        return true;
    case COMMAND_CLAIM: /* found only jobs that had expired, or that budgets hold */
        if (r->affected > 0) {
            forbid_holding(e, op);
        }
        return true;
    default:
        return false; /* the sender continues it */
    }
}

/* The machine has just applied an entry. If the entry is ours, copy the results to its ops now,
 * because the next entry overwrites them. */
void engine_pipe__applied(struct engine *e, uint64_t index)
{
    struct engine_entry *entry = e->entries_first;
    uint32_t count;
    const struct result *results = machine_results(e->machine, &count);
    atomic_fetch_add(&e->applied_ops, count);
    while (entry != NULL && entry->propose.index != index) {
        entry = entry->next;
    }
    if (entry == NULL) {
        return;
    }
    CHECK(!entry->applied);
    entry->applied = true;
    if (entry->given_up) {
        return;
    }
    struct engine_op *op = entry->ops;
    for (uint32_t i = 0; i < count; i++, op = op->next) {
        CHECK(op != NULL);
        op->index = index;
        op->goes_on = goes_on(e, op, &results[i]);
        op->postponed = results[i].postponed;
        learn_cost(e, op->type, results[i].cost);
        op->found_nothing = op->park_ms > 0 && results[i].code == ERR_OK && results[i].count == 0;
        if (op->found_nothing && !op->goes_on && results[i].affected > 0) {
            forbid_holding(e, op);
        }
        if (!op->goes_on) {
            add_result(op, &results[i]);
        }
    }
    CHECK(op == NULL);
}

/* The op was admitted once, so it is refused only when every command is. */
static bool may_go_on(struct engine *e, struct engine_op *op)
{
    if (e->stopping || e->given_up) {
        engine_op__refuse(e, op, ERR_STOPPING);
    } else if (!e->leads) {
        engine_op__refuse(e, op, ERR_LEADER_UNAVAILABLE);
    }
    return e->leads && !e->stopping && !e->given_up;
}

static void finish_ops(struct engine *e, struct engine_entry *entry)
{
    struct engine_op *next;
    struct engine_op *postponed = NULL;
    struct engine_op **postponed_last = &postponed;
    for (struct engine_op *op = entry->ops; op != NULL; op = next) {
        bool goes_on = op->goes_on;
        next = op->next;
        op->next = NULL;
        op->goes_on = false;
        if (op->park_ms > 0) {
            engine_park__returned(e, op);
        }
        if (!entry->applied) {
            engine_op__fail(e, op, &entry->propose.err);
        } else if (goes_on && may_go_on(e, op)) {
            if (op->postponed) {
                *postponed_last = op;
                postponed_last = &op->next;
            } else {
                engine_pipe__add(e, op); /* other ops may run between two steps */
            }
        } else if (!goes_on && (!op->found_nothing || !engine_park__again(e, op))) {
            engine_op__finish_together(e, op);
        }
    }
    if (postponed != NULL) {
        /* Postponed ops came before the pending ones. */
        *postponed_last = e->pending_first;
        if (e->pending_first == NULL) {
            e->pending_last = postponed_last;
        }
        e->pending_first = postponed;
    }
}

static void entry_done(struct node_propose *p)
{
    struct engine_entry *entry = CONTAINER_OF(p, struct engine_entry, propose);
    struct engine *e = entry->engine;
    struct engine_entry **at = &e->entries_first;
    while (*at != entry) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = entry->next;
    if (e->entries_last == &entry->next) {
        e->entries_last = at;
    }
    CHECK(e->entry_count > 0);
    e->entry_count--;
    CHECK((e->entry_count == 0) == (e->entries_first == NULL));
    CHECK(p->err.code != ERR_OK || entry->applied);
    if (p->err.code == ERR_NO_SPACE) {
        engine_space__look(e); /* or the timers would keep retrying until the next check */
    }
    if (entry->applied) {
        engine_times_add(&e->apply_times, os_clock_mono().ns - entry->proposed_ns);
    }
    finish_ops(e, entry);
    free(entry);
    engine_park__wake(e);
    engine_timers__look(e);
    engine_pipe__pump(e); /* propose first: the disk works while the answers are read */
    engine_op__post_replies(e);
    engine_taken__tell(e);
    engine__maybe_stopped(e);
}

void engine_pipe__refuse_all(struct engine *e, enum err_code code)
{
    while (e->pending_first != NULL) {
        struct engine_op *op = e->pending_first;
        e->pending_first = op->next;
        op->next = NULL;
        if (op->park_ms > 0) {
            engine_park__returned(e, op);
        }
        engine_op__refuse(e, op, code);
    }
    e->pending_last = &e->pending_first;
}

void engine_pipe__refuse_unfit(struct engine *e)
{
    struct engine_op **at = &e->pending_first;
    while (*at != NULL) {
        struct engine_op *op = *at;
        if (engine_space_allows(e->space.status.level, op->use)) {
            at = &op->next;
            continue;
        }
        *at = op->next;
        op->next = NULL;
        if (op->park_ms > 0) {
            engine_park__returned(e, op);
        }
        refuse_for_space(e, op);
    }
    e->pending_last = at;
}

void engine_pipe__give_up(struct engine *e)
{
    struct err why;
    (void)err_set(&why, ERR_UNKNOWN_OUTCOME,
                  "the server stopped before the operation was written to the log");
    for (struct engine_entry *entry = e->entries_first; entry != NULL; entry = entry->next) {
        struct engine_op *op = TAKE(entry->ops);
        entry->given_up = true;
        while (op != NULL) {
            struct engine_op *next = op->next;
            op->next = NULL;
            if (op->park_ms > 0) {
                engine_park__returned(e, op);
            }
            engine_op__fail(e, op, &why);
            op = next;
        }
    }
}
