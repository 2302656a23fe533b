#include "sim/model_sim/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/machine.h"
#include "lib/tmpdir.h"
#include "sim/model_sim/compare.h"
#include "sim/model_sim/generate.h"
#include "sim/model_sim/model.h"
#include "sim/model_sim/trace.h"

enum {
    COMMANDS_MAX = 64,
    COMMAND_BYTES = 24 << 20,
    ENTRY_BYTES = 64 << 20,
    ARENA_BYTES = 64 << 20,
    RESTARTS = 4,           /* per seed, on average */
    WHOLE_COMPARISONS = 10, /* per seed */
    UPGRADED_EVERY = 3,
};

/* Bytes of an applied entry, for the replays. */
struct entry {
    uint64_t index;
    struct str bytes;
};

struct run {
    bool trace;
    struct tmpdir dir;
    struct model *model;
    struct machine *machine;
    struct machine_hooks hooks;
    struct arena *arena; /* of the entry's commands */
    struct arena *kept;  /* of all entries' bytes */
    struct generate generate;
    struct compare compare;

    struct command commands[COMMANDS_MAX];
    struct result wanted[COMMANDS_MAX];
    size_t count;
    uint8_t version; /* of the entry */
    struct buf command, entry;
    struct model_list entries;
    struct id *changed;
    size_t changed_count, changed_cap;

    struct model_list claimable; /* names of queues that had a claimable job before the entry */
    struct model_list ready;     /* names of queues that the machine reported as ready */

    uint64_t operations, operations_max, whole_after;
    uint64_t restarts;
    uint64_t cuts;             /* commands that did not fit into one entry */
    uint64_t checkpoint_index; /* 0: no checkpoint yet */
};

static bool has_name(const struct model_list *names, struct str name)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct str *s = names->at[i];
        if (str_eq(*s, name)) {
            return true;
        }
    }
    return false;
}

static void add_name(struct run *r, struct model_list *names, struct str name)
{
    if (has_name(names, name)) {
        return;
    }
    struct str *s = ARENA_NEW(r->arena, struct str);
    CHECK(s != NULL);
    *s = arena_str(r->arena, name);
    model_list_add(names, s);
}

static void on_changed(void *data, struct id job)
{
    struct run *r = data;
    if (r->changed_count == r->changed_cap) {
        r->changed_cap = r->changed_cap == 0 ? 64 : 2 * r->changed_cap;
        r->changed = realloc(r->changed, r->changed_cap * sizeof *r->changed);
        CHECK(r->changed != NULL);
    }
    r->changed[r->changed_count++] = job;
}

/* The name belongs to the machine and is valid only until the entry is applied. */
static void on_ready(void *data, struct str queue)
{
    struct run *r = data;
    add_name(r, &r->ready, queue);
}

static struct machine *open_machine(const struct run *r, const char *name,
                                    const struct machine_hooks *hooks)
{
    struct machine *m = NULL;
    struct err err;
    if (machine_open(tmpdir_path(&r->dir, name).z, hooks, &m, &err) != ERR_OK) {
        check_fatal("open a machine: %s", err.msg);
    }
    return m;
}

static struct run *run_new(uint64_t seed, const struct run_options *options)
{
    struct run *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->trace = options->trace;
    r->dir = tmpdir_new();
    r->model = model_new();
    r->hooks = (struct machine_hooks){
        .data = r, .ready = on_ready, .changed = on_changed, .slot_ns = NS_PER_S};
    r->machine = open_machine(r, "first", &r->hooks);
    r->arena = arena_new(ARENA_BYTES);
    r->kept = arena_new(SIZE_MAX / 2);
    r->generate = generate_new(seed, r->model, r->arena);
    r->compare = (struct compare){.seed = seed, .model = r->model, .machine = r->machine};
    r->operations_max = generate_operations(seed, options->operations);
    buf_init(&r->command, COMMAND_BYTES);
    buf_init(&r->entry, ENTRY_BYTES);
    return r;
}

static void run_free(struct run *r)
{
    machine_close(r->machine);
    model_free(r->model);
    arena_free(r->arena);
    arena_free(r->kept);
    buf_deinit(&r->command);
    buf_deinit(&r->entry);
    model_list_deinit(&r->entries);
    model_list_deinit(&r->claimable);
    model_list_deinit(&r->ready);
    free(r->changed);
    tmpdir_remove(&r->dir);
    free(r);
}

static void note_claimable(struct run *r)
{
    struct wall until;
    r->claimable.count = 0;
    for (size_t i = 0; i < r->model->queues.count; i++) {
        const struct model_queue *q = r->model->queues.at[i];
        if (model_claimable(r->model, q->name, r->model->now, &until)) {
            add_name(r, &r->claimable, q->name);
        }
    }
}

/* A queue that gets its first claimable job must be reported, because claims may wait for it. */
static void compare_ready(struct run *r)
{
    struct wall until;
    for (size_t i = 0; i < r->model->queues.count; i++) {
        const struct model_queue *q = r->model->queues.at[i];
        if (model_claimable(r->model, q->name, r->model->now, &until) &&
            !has_name(&r->claimable, q->name) && !has_name(&r->ready, q->name)) {
            compare_miss(&r->compare, "queue " STR_FMT ": has a job now, which was not told",
                         STR_ARG(q->name));
        }
    }
}

/* Some runs simulate an upgrade in the middle: entries are of the old version, later of the new
 * one. A few old ones follow, as a new leader writes before it knows the versions of the other
 * nodes. */
static uint8_t version_of_entry(struct run *r)
{
    bool upgraded = r->compare.seed % UPGRADED_EVERY == 1;
    bool late = r->operations > r->operations_max / 2;
    bool whole = upgraded && (!late || rng_below(&r->generate.rng, 8) == 0);
    return whole ? COMMAND_ENTRY_WHOLE : COMMAND_ENTRY_VERSION;
}

/* Documents with long texts that this entry has written are in two parts. Before the upgrade, only
 * those that were in two parts already. */
static void note_bodies(struct run *r)
{
    for (size_t i = 0; i < r->model->jobs.count; i++) {
        struct model_job *j = model_job_at(r->model, i);
        size_t bytes = j->doc.payload.len + j->doc.tags.len + j->doc.chain_config.len;
        if (j->touched) {
            j->has_body = bytes >= 1024 && (r->version >= COMMAND_ENTRY_SPLIT || j->has_body);
        }
    }
}

/* Make the next entry, command by command. Each is chosen with the effects of the previous ones
 * known. */
static void make_entry(struct run *r, uint64_t index)
{
    arena_reset(r->arena);
    struct wall stamp = generate_time(&r->generate);
    bool events = generate_events(&r->generate);
    buf_clear(&r->entry);
    r->version = version_of_entry(r);
    command_entry_begin(&r->entry, r->version, stamp, events);
    model_begin(r->model, index, r->version, stamp, events);
    note_claimable(r);
    r->count = generate_count(&r->generate);
    CHECK(r->count <= COMMANDS_MAX);
    for (size_t i = 0; i < r->count; i++) {
        generate_command(&r->generate, &r->commands[i]);
        if (!generate_is_large(&r->generate)) {
            model_apply(r->model, &r->commands[i], &r->wanted[i]);
            generate_answered(&r->generate, &r->commands[i], &r->wanted[i]);
        }
        buf_clear(&r->command);
        command_encode(&r->commands[i], &r->command);
        command_entry_add(&r->entry, buf_str(&r->command));
    }
    if (!generate_is_large(&r->generate)) {
        model_end(r->model);
    }
    command_entry_end(&r->entry, (uint32_t)r->count);

    struct entry *e = ARENA_NEW(r->kept, struct entry);
    CHECK(e != NULL);
    *e = (struct entry){.index = index, .bytes = arena_str(r->kept, buf_str(&r->entry))};
    model_list_add(&r->entries, e);
}

/* The entry may have been full: apply the command to the model as far as the machine did, and check
 * that the machine had a reason to stop. */
static void follow_machine(struct run *r)
{
    uint32_t count;
    const struct result *got = machine_results(r->machine, &count);
    struct model_reach reach = {
        .got = got,
        .changed = r->changed,
        .changed_count = r->changed_count,
        .purge_cursor = machine_store(r->machine)->meta.purge_cursor,
    };
    CHECK(count == 1 && r->count == 1);
    model_apply_some(r->model, &r->commands[0], &reach, &r->wanted[0]);
    generate_answered(&r->generate, &r->commands[0], &r->wanted[0]);
    model_end(r->model);
    bool cut = got->done > 0 || (got->more && r->commands[0].type == COMMAND_CLAIM);
    if (got->postponed || (cut && got->cost < LIMIT_STEP_BYTES)) {
        compare_miss(&r->compare, "a command stopped though its entry was not full");
    }
    if (got->cost > LIMIT_ENTRY_COST_BYTES) {
        compare_miss(&r->compare, "an entry of %" PRIu64 " bytes", got->cost);
    }
    bool full = got->more && got->cost >= LIMIT_STEP_BYTES;
    r->cuts += cut || full || r->model->owed.count > 0 ? 1 : 0;
}

static void compare_results(struct run *r)
{
    uint32_t count;
    const struct result *got = machine_results(r->machine, &count);
    if (count != r->count) {
        compare_miss(&r->compare, "%zu commands, %" PRIu32 " results", r->count, count);
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        compare_result(&r->compare, i, &r->wanted[i], &got[i]);
    }
}

/* Printed before the entry is applied, in case applying it crashes. */
static void trace_entry(const struct run *r)
{
    (void)printf("entry %" PRIu64 " at %" PRId64 "\n", r->compare.entry, r->model->now.ns);
    for (size_t i = 0; i < r->count; i++) {
        (void)printf("  %zu: ", i);
        trace_command(stdout, &r->commands[i]);
        (void)printf("\n");
    }
    (void)fflush(stdout);
}

static void trace_results(const struct run *r)
{
    uint32_t count;
    const struct result *got = machine_results(r->machine, &count);
    for (uint32_t i = 0; i < count; i++) {
        (void)printf("  %" PRIu32 " => ", i);
        trace_result(stdout, &got[i]);
        (void)printf("\n");
    }
}

/* Indexes have gaps, because not every entry of the log belongs to the machine. */
static void run_entry(struct run *r)
{
    uint64_t index = machine_applied_index(r->machine) + 1 + rng_below(&r->generate.rng, 2);
    make_entry(r, index);
    r->compare.entry = index;
    r->compare.commands = r->commands;
    r->compare.command_count = r->count;
    r->changed_count = 0;
    r->ready.count = 0;
    if (r->trace) {
        trace_entry(r);
    }
    machine_apply(r->machine, index, buf_str(&r->entry));
    if (r->trace) {
        trace_results(r);
    }
    if (generate_is_large(&r->generate)) {
        follow_machine(r);
    }
    note_bodies(r);
    compare_results(r);
    compare_entry(&r->compare, r->changed, r->changed_count);
    compare_ready(r);
    r->operations += r->count;
}

static void restart(struct run *r)
{
    uint64_t hash = machine_state_hash(r->machine);
    uint64_t digest = machine_digest(r->machine);
    machine_close(r->machine);
    r->machine = open_machine(r, "first", &r->hooks);
    r->compare.machine = r->machine;
    r->restarts++;
    if (machine_state_hash(r->machine) != hash || machine_digest(r->machine) != digest) {
        compare_miss(&r->compare, "the state is another after a restart");
    }
    compare_all(&r->compare);
}

/* Decide whether an event that occurs this many times per run occurs now. */
static bool now_and_then(struct run *r, uint64_t times)
{
    return rng_below(&r->generate.rng, r->operations_max) < times * r->count;
}

static void maybe_checkpoint(struct run *r)
{
    struct err err;
    if (r->checkpoint_index != 0 || !now_and_then(r, 2)) {
        return;
    }
    r->checkpoint_index = machine_applied_index(r->machine);
    if (machine_checkpoint(r->machine, tmpdir_path(&r->dir, "copy").z, &err) != ERR_OK) {
        check_fatal("checkpoint: %s", err.msg);
    }
}

/* Apply the entries above the applied index to the machine in that folder. The result must be
 * equal. */
static void replay(struct run *r, const char *name, const char *what)
{
    struct machine *m = open_machine(r, name, &(struct machine_hooks){.data = NULL});
    for (size_t i = 0; i < r->entries.count; i++) {
        const struct entry *e = r->entries.at[i];
        if (e->index > machine_applied_index(m)) {
            machine_apply(m, e->index, e->bytes);
        }
    }
    if (machine_applied_index(m) != machine_applied_index(r->machine)) {
        compare_miss(&r->compare, "%s: stands at another index", what);
    }
    if (machine_state_hash(m) != machine_state_hash(r->machine)) {
        compare_miss(&r->compare, "%s: has another state hash", what);
    }
    if (machine_digest(m) != machine_digest(r->machine)) {
        compare_miss(&r->compare, "%s: has another digest", what);
    }
    machine_close(m);
}

bool run_seed(uint64_t seed, const struct run_options *options, struct run_totals *totals)
{
    struct run *r = run_new(seed, options);
    const unsigned *mismatches = &r->compare.mismatches;
    while (r->operations < r->operations_max && *mismatches == 0) {
        run_entry(r);
        if (r->operations >= r->whole_after && *mismatches == 0) {
            compare_all(&r->compare);
            r->whole_after = r->operations + r->operations_max / WHOLE_COMPARISONS;
        }
        maybe_checkpoint(r);
        if (*mismatches == 0 && now_and_then(r, RESTARTS)) {
            restart(r);
        }
    }
    compare_all(&r->compare); /* after a mismatch this shows all other differences */
    if (*mismatches == 0) {
        replay(r, "second", "a replay of all entries");
    }
    if (*mismatches == 0 && r->checkpoint_index != 0) {
        replay(r, "copy", "a replay on a checkpoint");
    }
    totals->seeds++;
    totals->operations += r->operations;
    totals->restarts += r->restarts;
    totals->cuts += r->cuts;
    bool equal = *mismatches == 0;
    run_free(r);
    return equal;
}
