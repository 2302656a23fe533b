/*
 * A node: its machine, its state on disk, forming entries from commands, due times.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_reads.h"
#include "sim/whole_sim/kv_disk.h"
#include "sim/whole_sim/whole.h"

enum {
    DEPTH = 4,      /* entries in progress, as in cluster/node.c */
    ENTRY_OPS = 6,  /* commands per entry */
    RENEW_JOBS = 4, /* leases renewed by one command: few, so that several steps are needed */
    RENEW_STEPS = 100,
    LOOK_MS = 20,     /* interval of checks for due times */
    FLUSH_CHANCE = 8, /* percent of entries after which RocksDB flushes */
    MAX_JUMP_S = 60,
    HEARD_MS = 400, /* after a start, until the others have told which versions they read */
};

#define TIME_BASE_NS (1760000000LL * NS_PER_S)

/* ---- the state ---- */

static struct whole *whole_of(const struct sim_node *n)
{
    return n->sim->options.host_data;
}

static void open_state(struct whole_node *n)
{
    static const struct machine_hooks none = {0};
    struct err err;
    if (machine_open(n->path, &none, &n->machine, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
}

static void start(struct sim_node *s)
{
    struct whole *w = whole_of(s);
    struct whole_node *n = &w->node[s->index];
    if (s->host == NULL) {
        s->host = n;
        n->sim = s;
        (void)snprintf(n->path, sizeof n->path, "node%u", s->index + 1);
    }
    n->waiting = NULL;
    n->waiting_end = &n->waiting;
    n->now = (struct engine_now){.max_jump_ns = MAX_JUMP_S * NS_PER_S};
    n->under_way = 0;
    n->began = 0;
    n->restored = 0;
    n->started_at = s->sim->fixture.time;
    n->renewing = n->tick_busy = false;
    open_state(n);
    whole_truth_opened(w, n);
}

static void request_free(struct whole_request *r)
{
    buf_deinit(&r->command);
    free(r);
}

/* Commands that are not in the log have certainly not been executed. */
static void refuse_waiting(struct whole *w, struct whole_node *n)
{
    while (n->waiting != NULL) {
        struct whole_request *r = n->waiting;
        n->waiting = r->next;
        if (r->op != NULL) {
            whole_client_failed(w, r->op, true);
        }
        n->tick_busy = n->tick_busy && !r->is_tick;
        n->renewing = n->renewing && !r->is_renewal;
        n->renew_more = n->renew_more || r->is_renewal;
        request_free(r);
    }
    n->waiting_end = &n->waiting;
}

static void stop(struct sim_node *s)
{
    struct whole_node *n = s->host;
    refuse_waiting(whole_of(s), n);
    kv_disk_crash(n->path);
    machine_close(n->machine);
    n->machine = NULL;
}

static void apply(struct sim_node *s, raft_index index, const struct raft_buffer *buf)
{
    struct whole *w = whole_of(s);
    struct whole_node *n = s->host;
    struct str entry = str_from(buf->base, buf->len);
    if (index <= machine_applied_index(n->machine) && whole_on(w, WHOLE_APPLIED)) {
        return;
    }
    whole_truth_complete(w, n, index - 1);
    whole_truth_before(w, n, index, entry);
    machine_apply(n->machine, index, entry);
    whole_truth_after(w, n, index, entry);
    if (whole_chance(w, FLUSH_CHANCE)) {
        kv_disk_flush(n->path, whole_on(w, WHOLE_ATOMIC));
    }
}

static void checkpoint_path(uint64_t number, char out[32])
{
    (void)snprintf(out, 32, "checkpoint%" PRIu64, number);
}

static uint64_t checkpoint(struct sim_node *s)
{
    struct whole *w = whole_of(s);
    struct whole_node *n = s->host;
    struct err err;
    char path[32];
    uint64_t number = ++w->last_checkpoint;
    checkpoint_path(number, path);
    if (!whole_on(w, WHOLE_CHECKPOINT)) {
        kv_disk_stale_checkpoint(n->path, path);
    } else if (machine_checkpoint(n->machine, path, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    w->count.checkpoints++;
    return number;
}

/* Like node_state__restore: a snapshot older than the state changes nothing. */
static void restore(struct sim_node *s, raft_index index, uint64_t number)
{
    struct whole *w = whole_of(s);
    struct whole_node *n = s->host;
    struct err err;
    char from[32];
    uint64_t before = machine_applied_index(n->machine);
    if (index <= before || index == n->restored) {
        return;
    }
    checkpoint_path(number, from);
    (void)snprintf(n->path, sizeof n->path, "node%u.%u", s->index + 1, ++n->exchanges);
    CHECK(kv_disk_copy(from, n->path));
    if (machine_replace(n->machine, n->path, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    n->restored = index;
    w->count.restores++;
    sim_upset_trace(&w->story,
                    "node %u goes on from checkpoint %" PRIu64 ", which ends with %" PRIu64,
                    s->index + 1, number, machine_applied_index(n->machine));
    if (machine_applied_index(n->machine) < before) {
        sim_violation(w->sim, "node %u goes back from entry %" PRIu64 " to %" PRIu64, s->index + 1,
                      before, machine_applied_index(n->machine));
    }
    whole_truth_opened(w, n);
    whole_truth_complete(w, n, index);
}

const struct sim_host whole_node_host = {
    .start = start, .stop = stop, .apply = apply, .checkpoint = checkpoint, .restore = restore};

/* ---- time ---- */

static struct wall stamp(struct whole *w, struct whole_node *n)
{
    int64_t time_ns = (int64_t)w->sim->fixture.time * NS_PER_MS;
    struct wall clock = {.ns = TIME_BASE_NS + time_ns + n->clock_off_ns +
                               time_ns / 1000000 * n->clock_ppm};
    struct wall now =
        engine_now_next(&n->now, clock, (struct mono){.ns = time_ns}, machine_now(n->machine));
    return whole_on(w, WHOLE_STAMP) ? now : clock;
}

/* ---- entries ---- */

struct entry {
    struct whole_node *node;
    struct whole *whole;
    struct whole_request *requests;
};

static bool leads(const struct whole_node *n)
{
    return !n->sim->down && guard_ready(&n->sim->guard) && !transfer_is_on(&n->sim->transfer);
}

static void entry_done(void *data, bool committed, raft_index index)
{
    struct entry *e = data;
    struct whole *w = e->whole;
    struct whole_node *n = e->node;
    const struct whole_truth *t = &w->truth[index];
    n->under_way--;
    for (uint32_t i = 0; e->requests != NULL; i++) {
        struct whole_request *r = e->requests;
        e->requests = r->next;
        if (committed && t->seen && i >= t->count) {
            sim_violation(w->sim, "an entry of %u commands was answered for more", t->count);
        } else if (r->op != NULL && committed && t->seen) {
            whole_client_answer(w, r->op, n, r->front, &t->answer[i]);
        } else if (r->op != NULL) {
            whole_client_failed(w, r->op, false);
        }
        n->tick_busy = n->tick_busy && !r->is_tick;
        n->renewing = n->renewing && !r->is_renewal;
        n->renew_more = n->renew_more || (r->is_renewal && !committed);
        request_free(r);
    }
    free(e);
}

/* Put the requests of an entry that raft refused back to the front. */
static void put_back(struct whole_node *n, struct entry *e)
{
    struct whole_request **last = &e->requests;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = n->waiting;
    if (n->waiting == NULL) {
        n->waiting_end = last;
    }
    n->waiting = e->requests;
    free(e);
}

/* Like engine_cluster__entry_version: a leader that was just started writes entries that every
 * version reads. */
static uint8_t version_to_write(const struct whole *w, const struct whole_node *n)
{
    bool heard = w->sim->fixture.time >= n->started_at + HEARD_MS;
    return heard ? COMMAND_ENTRY_NAMED : ENGINE_READS_SILENT;
}

static void propose(struct whole *w, struct whole_node *n)
{
    struct entry *e = calloc(1, sizeof *e);
    struct whole_request **last = &e->requests;
    struct buf bytes;
    uint32_t count = 0;
    CHECK(e != NULL);
    e->node = n;
    e->whole = w;
    buf_init(&bytes, LIMIT_ENTRY_BYTES);
    command_entry_begin(&bytes, version_to_write(w, n), stamp(w, n), true);
    while (n->waiting != NULL && count < ENTRY_OPS) {
        struct whole_request *r = n->waiting;
        n->waiting = r->next;
        r->next = NULL;
        *last = r;
        last = &r->next;
        command_entry_add_named(&bytes, buf_str(&r->command), r->name,
                                r->op != NULL ? r->op->since : 0);
        count++;
    }
    if (n->waiting == NULL) {
        n->waiting_end = &n->waiting;
    }
    command_entry_end(&bytes, count);
    struct raft_buffer entry = {.len = bytes.len};
    entry.base = buf_take(&bytes);
    n->under_way++;
    if (!sim_propose(n->sim, entry, entry_done, e)) {
        n->under_way--;
        raft_free(entry.base);
        put_back(n, e);
        refuse_waiting(w, n);
    }
}

static struct whole_request *wait(struct whole_node *n, struct str command)
{
    struct whole_request *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    buf_init(&r->command, LIMIT_OP_BYTES);
    buf_add_str(&r->command, command);
    *n->waiting_end = r;
    n->waiting_end = &r->next;
    return r;
}

bool whole_node_submit(struct whole *w, struct whole_node *n, struct whole_op *op, unsigned front)
{
    bool frees = op->type == COMMAND_ACK || op->type == COMMAND_FAIL || op->type == COMMAND_JOBS;
    (void)w;
    if (!leads(n) || (n->sim->full && !frees)) {
        return false;
    }
    struct whole_request *r = wait(n, buf_str(&op->command));
    r->op = op;
    r->name = op->name;
    r->front = front;
    return true;
}

/* ---- timers ---- */

static struct whole_request *wait_own(struct whole_node *n, const struct command *c)
{
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    command_encode(c, &bytes);
    struct whole_request *r = wait(n, buf_str(&bytes));
    buf_deinit(&bytes);
    return r;
}

/* Like engine_renew.c: renew leases that end before their workers can contact the new leader, a few
 * at a time. */
static void renew(struct whole *w, struct whole_node *n, struct wall now)
{
    struct id ids[RENEW_JOBS];
    struct command_heartbeat_item items[RENEW_JOBS] = {0};
    uint32_t count = machine_ending_leases(n->machine, wall_add_ms(now, WHOLE_HEARD_MS), ids,
                                           RENEW_JOBS, &n->renew_more);
    if (count == 0) {
        return;
    }
    struct command c = {.type = COMMAND_HEARTBEAT};
    for (uint32_t i = 0; i < count; i++) {
        items[i].id = ids[i];
    }
    c.heartbeat.items = items;
    c.heartbeat.count = count;
    wait_own(n, &c)->is_renewal = true;
    n->renewing = true;
    w->count.renewals++;
}

static void run_due(struct whole *w, struct whole_node *n)
{
    struct wall now = stamp(w, n);
    if (n->began != n->sim->raft->current_term) {
        n->began = n->sim->raft->current_term;
        sim_upset_trace(&w->story, "node %u leads in term %llu", n->sim->index + 1, n->began);
        n->renew_more = whole_on(w, WHOLE_RENEW);
        n->renew_steps = 0;
        w->began_at[n->began] = now;
    }
    if (n->renewing || n->tick_busy) {
        return;
    }
    if (n->renew_more && n->renew_steps++ < RENEW_STEPS) {
        renew(w, n, now);
    }
    if (!n->renewing && machine_next_tick(n->machine).ns <= now.ns) {
        wait_own(n, &(struct command){.type = COMMAND_TICK})->is_tick = true;
        n->tick_busy = true;
        w->count.ticks++;
    }
}

void whole_node_look(struct whole *w, struct whole_node *n)
{
    if (n->sim->down) {
        return;
    }
    if (!leads(n)) {
        refuse_waiting(w, n);
        return;
    }
    raft_time now = w->sim->fixture.time;
    if (now >= n->looked_at + LOOK_MS || n->began != n->sim->raft->current_term) {
        n->looked_at = now;
        run_due(w, n);
    }
    while (n->waiting != NULL && n->under_way < DEPTH && leads(n)) {
        propose(w, n);
    }
}
