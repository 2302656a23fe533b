/*
 * Simulation: random commands of the kinds that the model does not know (model_sim), mixed with the
 * others: restores, returns, deliveries, named jobs, budgets, quotas and bulk operations.
 *
 *   mixed_sim                             the seeds that are always run
 *   mixed_sim --from A --count N          other seeds
 *
 * Nothing predicts the results. Instead, the numbers that the machine keeps are compared with the
 * documents, before and after the machine is opened again, and the kit applies all entries once
 * more with other restarts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "fsm/command/command_check.h"
#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_access.h"
#include "store/store_job.h"
#include "store/store_walk.h"

enum {
    SEEDS = 6,
    ENTRIES = 1500,
    IDS = 48,
    CLAIMS = 16,
    BULKS = 4,
    QUEUES = 5,
    CHECK_EVERY = 150,
    TWICE_PERCENT = 8,
    ARENA_BYTES = 64 << 20
};

struct claimed {
    struct id id;
    uint64_t token, order;
};

struct mix {
    struct kit *k;
    struct rng rng;
    struct id ids[IDS]; /* of jobs, most of which exist */
    size_t id_count;
    struct claimed claims[CLAIMS];
    size_t claim_count;
    struct id bulks[BULKS];
    uint32_t bulk_steps[BULKS];
    size_t bulk_count;
    struct id batch;
    unsigned together; /* of a hundred commands, those that are followed by another in the entry */
};

static const char *const queue_names[QUEUES] = {"a", "b", "n::a", "n::b", "named"};
static const char *const hosts[] = {"h1.example:80", "h2.example:80"};
static const char *const targets[] = {"{\"url\":\"http://h1.example/x\",\"timeout_ms\":1000}",
                                      "{\"url\":\"http://h2.example/x\",\"timeout_ms\":1000}"};

static uint64_t below(struct mix *x, uint64_t n)
{
    return rng_below(&x->rng, n);
}

static bool chance(struct mix *x, unsigned percent)
{
    return below(x, 100) < percent;
}

static const char *queue_of(struct mix *x)
{
    return queue_names[below(x, QUEUES)];
}

static struct id pick(struct mix *x)
{
    return x->id_count == 0 || chance(x, 2) ? id_make(x->k->now, 7, (uint32_t)below(x, 1000))
                                            : x->ids[below(x, x->id_count)];
}

static void remember(struct mix *x, struct id id)
{
    if (id_is_none(id)) {
        return;
    }
    x->ids[x->id_count < IDS ? x->id_count++ : below(x, IDS)] = id;
}

static void remember_claim(struct mix *x, const struct result_item *it)
{
    struct job j;
    struct err err;
    CHECK(store_job_decode(it->id, it->doc, &j, &err) == ERR_OK);
    x->claims[x->claim_count < CLAIMS ? x->claim_count++ : below(x, CLAIMS)] =
        (struct claimed){.id = it->id, .token = j.lease_token, .order = it->order};
}

/* Remember what a command has made, for later commands. */
static void learn(struct mix *x, const struct command *c, const struct result *r)
{
    for (uint32_t i = 0; r->code == ERR_OK && i < r->count; i++) {
        if (c->type == COMMAND_ENQUEUE || c->type == COMMAND_NAMED_PUT) {
            remember(x, r->items[i].id);
        } else if (c->type == COMMAND_CLAIM || c->type == COMMAND_PUSH_CLAIM) {
            remember_claim(x, &r->items[i]);
        }
    }
    if (r->code == ERR_OK && c->type == COMMAND_REPLAY) {
        remember(x, r->id);
    } else if (r->code == ERR_OK && c->type == COMMAND_BATCH_OPEN) {
        x->batch = r->id;
    } else if (r->code == ERR_OK && c->type == COMMAND_BULK_PUT && x->bulk_count < BULKS) {
        x->bulk_steps[x->bulk_count] = 0;
        x->bulks[x->bulk_count++] = r->id;
    } else if (r->affected > 0 && c->type == COMMAND_RESTORE) {
        const struct command_restore_item *it = &c->restore.items[0];
        remember(x, it->id);
        if (it->job.state == JOB_ACTIVE && x->claim_count < CLAIMS) {
            x->claims[x->claim_count++] =
                (struct claimed){.id = it->id, .token = it->job.lease_token};
        }
    }
}

/* Apply the gathered commands as one entry. */
static void apply_gathered(struct mix *x)
{
    struct command_entry e;
    struct str bytes;
    struct err err;
    if (x->k->gathered_count == 0) {
        return;
    }
    const struct result *results = kit_apply_gathered(x->k);
    const struct kit_entry *last = &x->k->log[x->k->log_count - 1];
    CHECK(command_entry_decode(str_from(last->bytes, last->len), &e, &err) == ERR_OK);
    for (uint32_t i = 0; command_entry_next(&e, &bytes); i++) {
        struct arena *arena = arena_new(ARENA_BYTES);
        struct command c;
        CHECK(command_decode(bytes, arena, &c, &err) == ERR_OK);
        learn(x, &c, &results[i]);
        arena_free(arena);
    }
}

static void fail_at(const struct mix *x, const struct command *c, const char *what)
{
    printf("\nentry %" PRIu64 ", %s: %s\n", x->k->index, command_word(c->type), what);
    (void)fflush(stdout);
    abort();
}

/* A hash of what the sender is told. Whether a seal has made the callback's job is known at the end
 * of its entry, so a repetition does not say it. */
static uint64_t print_of(const struct command *c, const struct result *r)
{
    struct id made = c->type == COMMAND_BATCH_SEAL ? ID_NONE : r->id;
    uint64_t print = hash_bytes(r->code, made.b, ID_BYTES);
    print = hash_u64(print + r->affected) + r->count;
    for (uint32_t i = 0; i < r->count; i++) {
        print = hash_bytes(print + r->items[i].status, r->items[i].id.b, ID_BYTES);
    }
    return print;
}

/* Apply a command under a name, and once more. A refused command changes nothing, and a repeated
 * one neither: its answer is the first one. */
static void apply_twice(struct mix *x, const struct command *c)
{
    struct id name = id_make(x->k->now, below(x, 1U << 30), (uint32_t)below(x, UINT32_MAX));
    uint64_t since = x->k->index;
    uint64_t before = kit_digest(x->k);
    const struct result *r = kit_apply_named(x->k, c, name, since);
    bool refused = r->code != ERR_OK;
    bool is_kept = !refused && !(c->type == COMMAND_CLAIM && r->count == 0);
    uint64_t print = print_of(c, r);
    learn(x, c, r);
    uint64_t after = kit_digest(x->k);
    if (refused && before != after) {
        fail_at(x, c, "it was refused, and has changed something");
    }
    if (is_kept) {
        bool same = print_of(c, kit_apply_named(x->k, c, name, since)) == print;
        if (!same || kit_digest(x->k) != after) {
            fail_at(x, c, same ? "it has happened twice" : "its repetition has another answer");
        }
    }
}

static void apply(struct mix *x, struct command *c)
{
    static const struct command_limits limits = {0};
    struct err err;
    if (command_check(c, &limits, &err) != ERR_OK) {
        return; /* some are not valid, and a server would not propose them */
    }
    if (x->k->gathered_count == 0 && chance(x, TWICE_PERCENT)) {
        apply_twice(x, c);
        return;
    }
    kit_gather(x->k, c);
    if (!chance(x, x->together)) {
        apply_gathered(x);
    }
}

/* --- commands --- */

static struct job make_job(struct mix *x)
{
    struct job j =
        kit_template(queue_of(x), chance(x, 5) ? kit_text(x->k, "\"%01500d\"", 1).ptr : "{}");
    j.priority = (uint8_t)below(x, 4);
    j.max_retries = (uint32_t)below(x, 4);
    j.retry_base_ms = (int64_t)below(x, 5000);
    if (chance(x, 30)) {
        j.push = str_from_z(targets[below(x, 2)]);
    }
    if (chance(x, 20)) {
        j.unique_key = kit_text(x->k, "u%d", (int)below(x, 4));
        j.unique_period_s = 1 + (int64_t)below(x, 100);
    }
    if (chance(x, 20)) {
        j.scheduled_at = wall_add_ms(x->k->now, (int64_t)below(x, 20000));
    }
    if (chance(x, 30)) {
        j.tags = chance(x, 50) ? STR("{\"t\":\"1\"}") : STR("{\"t\":\"2\"}");
    }
    if (chance(x, 10) && j.push.len == 0) {
        j.is_agent = true;
        j.agent.max_iterations = 1 + (int64_t)below(x, 3);
    }
    if (chance(x, 10) && x->id_count > 1) {
        struct id on[2] = {pick(x), pick(x)};
        j.waits_for = arena_str(x->k->arena, str_from((char *)on, sizeof on));
    }
    return j;
}

static void enqueue(struct mix *x)
{
    struct command_new jobs[4];
    size_t count = 1 + below(x, COUNT_OF(jobs));
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct command_new){
            .job = make_job(x), .expire_after_ms = chance(x, 15) ? (int64_t)below(x, 30000) : 0};
        if (chance(x, 10)) {
            jobs[i].job.batch_id = x->batch;
        }
    }
    struct command c = kit_enqueue_command(jobs, count);
    if (chance(x, 10)) {
        c.enqueue.has_batch = true;
        c.enqueue.callback_queue = str_from_z(queue_of(x));
        c.enqueue.callback_payload = STR("{}");
        for (size_t i = 0; i < count; i++) {
            jobs[i].job.batch_id = ID_NONE;
        }
    }
    apply(x, &c);
}

static void claim(struct mix *x)
{
    struct str names[2] = {str_from_z(queue_of(x)), str_from_z(queue_of(x))};
    struct command c = {.type = COMMAND_CLAIM,
                        .claim = {.queues = names,
                                  .queue_count = 1 + below(x, 2),
                                  .worker_id = STR("w"),
                                  .hostname = STR("h"),
                                  .lease_ms = 1000 + (int64_t)below(x, 20000),
                                  .count = 1 + (uint32_t)below(x, 3),
                                  .no_hold = chance(x, 20)}};
    apply(x, &c);
}

static void give_back(struct mix *x)
{
    struct command_return_item items[3];
    size_t count = 0;
    while (count < COUNT_OF(items) && count < x->claim_count) {
        const struct claimed *cl = &x->claims[below(x, x->claim_count)];
        items[count++] = (struct command_return_item){
            .id = cl->id, .lease_token = cl->token, .order = cl->order};
    }
    struct command c = {.type = COMMAND_RETURN, .give_back = {.items = items, .count = count}};
    if (count > 0) {
        apply(x, &c);
    }
}

static void end_claimed(struct mix *x)
{
    if (x->claim_count == 0) {
        return;
    }
    size_t at = below(x, x->claim_count);
    struct claimed cl = x->claims[at];
    if (chance(x, 90)) {
        x->claims[at] = x->claims[--x->claim_count];
    }
    uint64_t token = chance(x, 80) ? cl.token : 0;
    struct store_tokens usage = {.input = (int64_t)below(x, 9), .cost_nusd = (int64_t)below(x, 40)};
    if (chance(x, 55)) {
        struct command_ack_item it = {.id = cl.id,
                                      .lease_token = token,
                                      .usage = usage,
                                      .agent_status = chance(x, 70)
                                                          ? COMMAND_AGENT_NONE
                                                          : (enum command_agent_status)below(x, 5)};
        struct command c = {.type = COMMAND_ACK, .ack = {.items = &it, .count = 1}};
        apply(x, &c);
    } else if (chance(x, 60)) {
        struct command c = {.type = COMMAND_FAIL,
                            .fail = {.id = cl.id, .lease_token = token, .error = STR("no")}};
        apply(x, &c);
    } else {
        struct command_heartbeat_item it = {.id = cl.id, .lease_token = token, .usage = usage};
        struct command c = {.type = COMMAND_HEARTBEAT, .heartbeat = {.items = &it, .count = 1}};
        apply(x, &c);
    }
}

static void action(struct mix *x)
{
    struct id ids[3] = {pick(x), pick(x), pick(x)};
    struct command c = {
        .type = COMMAND_JOBS,
        .jobs = {.action = (enum command_job_action)(1 + below(x, COMMAND_JOB_ACTION_LAST)),
                 .lenient = true,
                 .reset_attempts = chance(x, 50),
                 .priority = (uint8_t)below(x, 4),
                 .ids = ids,
                 .count = 1 + below(x, 3)}};
    if (c.jobs.action == COMMAND_JOB_MOVE) {
        c.jobs.queue = str_from_z(queue_of(x));
    }
    apply(x, &c);
}

static void change_queue(struct mix *x)
{
    struct command c = {
        .type = COMMAND_QUEUE,
        .queue = {.action = (enum command_queue_action)(1 + below(x, COMMAND_QUEUE_UNTHROTTLE)),
                  .name = str_from_z(queue_of(x)),
                  .max = (uint32_t)below(x, 4),
                  .rate = 1 + (uint32_t)below(x, 4),
                  .window_ms = 1 + (int64_t)below(x, 4000)}};
    if (c.queue.action == COMMAND_QUEUE_PAUSE && chance(x, 70)) {
        c.queue.action = COMMAND_QUEUE_RESUME;
    }
    if (chance(x, 10)) {
        c.queue.action = chance(x, 50) ? COMMAND_QUEUE_CLEAR : COMMAND_QUEUE_DELETE;
    }
    apply(x, &c);
}

static void push_claim(struct mix *x)
{
    struct command_push_line lines[2];
    for (size_t i = 0; i < 2; i++) {
        lines[i] = (struct command_push_line){.queue = str_from_z(queue_of(x)),
                                              .host = str_from_z(hosts[below(x, 2)]),
                                              .priority = (uint8_t)below(x, 4),
                                              .count = 1 + (uint32_t)below(x, 3)};
    }
    struct command c = {
        .type = COMMAND_PUSH_CLAIM,
        .push_claim = {.node = STR("push:n1"), .lease_ms = 5000, .lines = lines, .count = 2}};
    apply(x, &c);
}

static void push_finish(struct mix *x)
{
    if (x->claim_count == 0) {
        return;
    }
    const struct claimed *cl = &x->claims[below(x, x->claim_count)];
    struct command_push_end end = {
        .id = cl->id,
        .lease_token = cl->token,
        .outcome = (enum job_outcome)below(x, 4),
        .started_at = x->k->now,
        .ended_at = x->k->now,
        .error = STR("e"),
        .next = chance(x, 70) ? wall_add_ms(x->k->now, 1 + (int64_t)below(x, 5000)) : WALL_NONE};
    struct command c = {.type = COMMAND_PUSH_FINISH,
                        .push_finish = {.keep_ms = 10000, .items = &end, .count = 1}};
    apply(x, &c);
}

static void named(struct mix *x)
{
    if (chance(x, 15)) {
        struct command c = {.type = COMMAND_NAMED_PURGE,
                            .named_purge = {.retention_ms = (int64_t)below(x, 60000)}};
        apply(x, &c);
        return;
    }
    struct command_new new = {.job = kit_template("named", "{}")};
    new.job.push = str_from_z(targets[below(x, 2)]);
    new.job.name = chance(x, 60) ? kit_text(x->k, "name%d", (int)below(x, 6)) : STR_EMPTY;
    new.job.definition = 1 + below(x, 2);
    new.job.counted_bytes = 200;
    new.job.scheduled_at = wall_add_ms(x->k->now, 1 + (int64_t)below(x, 5000));
    if (chance(x, 40)) {
        new.job.cron = STR("* * * * *");
        new.job.cron_until = chance(x, 50) ? wall_add_ms(x->k->now, 100000) : WALL_NONE;
    }
    struct command c = {.type = COMMAND_NAMED_PUT,
                        .named_put = {.job = &new, .bytes_max = 4000, .count_max = 15}};
    apply(x, &c);
}

static void restore(struct mix *x)
{
    struct job j = make_job(x);
    struct command_restore_item it = {.kind = COMMAND_RESTORE_JOB, .any_id = chance(x, 70)};
    it.id = chance(x, 50) ? pick(x)
                          : id_make(wall_add_ms(x->k->now, (int64_t)below(x, 100000) - 50000),
                                    below(x, 100000), (uint32_t)below(x, 9));
    j.id = it.id;
    j.state = (enum job_state)below(x, JOB_STATE_COUNT);
    j.created_at = x->k->now;
    j.attempt = (uint32_t)below(x, 4);
    if (j.state == JOB_SCHEDULED || j.state == JOB_RETRYING) {
        j.scheduled_at = wall_add_ms(x->k->now, (int64_t)below(x, 5000));
    }
    if (j.state == JOB_ACTIVE) {
        j.started_at = x->k->now;
        j.lease_expires_at = wall_add_ms(x->k->now, (int64_t)below(x, 5000));
        j.lease_token = below(x, 3000);
    }
    if (chance(x, 20)) {
        j.batch_id = x->batch;
        j.batch_counted = chance(x, 50);
    }
    if (chance(x, 15)) {
        j.queue = STR("named");
        j.push = str_from_z(targets[below(x, 2)]);
        j.name = kit_text(x->k, "name%d", (int)below(x, 6));
        j.definition = 1;
        j.counted_bytes = chance(x, 70) ? 200 : 0;
        j.cron = chance(x, 50) ? STR("* * * * *") : STR_EMPTY;
        j.outcome = (uint32_t)below(x, 4);
    }
    if (j.unique_key.len > 0) {
        it.unique_until = wall_add_ms(x->k->now, (int64_t)below(x, 20000) - 5000);
    }
    it.job = j;
    struct command c = {.type = COMMAND_RESTORE, .restore = {.items = &it, .count = 1}};
    apply(x, &c);
}

static void budget_or_quota(struct mix *x)
{
    struct buf body;
    static const char *const names[] = {"q\0a", "tn\0t=1", "t\0t=1", "g\0*"};
    static const size_t lengths[] = {3, 6, 5, 3};
    size_t at = below(x, COUNT_OF(names));
    struct command_access_item it = {.kind = STORE_ACCESS_BUDGET,
                                     .name = str_from(names[at], lengths[at]),
                                     .deletes = chance(x, 40)};
    buf_init(&body, 4096);
    if (chance(x, 40)) {
        struct store_namespace rec = {
            .read_rps = 5, .quota = {.max_jobs = below(x, 40), .max_queues = below(x, 4)}};
        store_access_encode_namespace(&rec, &body);
        it = (struct command_access_item){.kind = STORE_ACCESS_NAMESPACE, .name = STR("n")};
    } else {
        store_access_encode_budget(
            &(struct store_budget){.has_daily = chance(x, 60),
                                   .daily_nusd = (int64_t)below(x, 300),
                                   .has_per_job = chance(x, 50),
                                   .per_job_nusd = (int64_t)below(x, 80),
                                   .on_exceed = (enum store_budget_action)below(x, 3)},
            &body);
    }
    it.body = it.deletes ? STR_EMPTY : buf_str(&body);
    struct command c = {.type = COMMAND_ACCESS, .access = {.items = &it, .count = 1}};
    apply(x, &c);
    buf_deinit(&body);
}

static void bulk(struct mix *x)
{
    struct id ids[8];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = pick(x);
    }
    if (x->bulk_count < BULKS && chance(x, 40)) {
        struct command c = {
            .type = COMMAND_BULK_PUT,
            .bulk_put = {.action = (enum command_job_action)(1 + below(x, COMMAND_JOB_ACTION_LAST)),
                         .priority = (uint8_t)below(x, 4),
                         .filter = STR("{}"),
                         .total = 8}};
        if (c.bulk_put.action == COMMAND_JOB_MOVE) {
            c.bulk_put.queue = str_from_z(queue_of(x));
        }
        apply(x, &c);
        return;
    }
    if (x->bulk_count == 0) {
        return;
    }
    size_t at = below(x, x->bulk_count);
    bool last = chance(x, 20);
    struct command c = {.type = COMMAND_BULK_STEP,
                        .bulk_step = {.id = x->bulks[at],
                                      .step = x->bulk_steps[at]++,
                                      .last = last,
                                      .cursor = ids[0],
                                      .ids = ids,
                                      .count = COUNT_OF(ids)}};
    if (chance(x, 10)) {
        c = (struct command){.type = COMMAND_BULK_END,
                             .bulk_end = {.id = x->bulks[at], .cancelled = chance(x, 50)}};
        last = true;
    }
    apply(x, &c);
    if (last) {
        x->bulk_count--;
        x->bulks[at] = x->bulks[x->bulk_count];
        x->bulk_steps[at] = x->bulk_steps[x->bulk_count];
    }
}

static void batch(struct mix *x)
{
    struct command c = {
        .type = COMMAND_BATCH_OPEN,
        .batch_open = {.callback_queue = str_from_z(queue_of(x)), .callback_payload = STR("{}")}};
    if (!id_is_none(x->batch) && chance(x, 60)) {
        c = (struct command){.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = x->batch}};
        apply(x, &c);
        x->batch = ID_NONE;
        return;
    }
    x->batch = ID_NONE;
    apply(x, &c);
}

static void others(struct mix *x)
{
    if (chance(x, 30)) {
        struct command c = {.type = COMMAND_PURGE,
                            .purge = {.retention_ms = (int64_t)below(x, 90000)}};
        apply(x, &c);
    } else {
        struct command c = {.type = COMMAND_REPLAY,
                            .replay = {.id = pick(x), .from = 1 + (int64_t)below(x, 2)}};
        apply(x, &c);
    }
}

static void tick(struct mix *x)
{
    struct command c = {.type = COMMAND_TICK};
    kit_pass_ms(x->k, (int64_t)below(x, chance(x, 2) ? 90000000 : 1500));
    apply(x, &c);
}

/* --- checks --- */

struct counts {
    uint64_t state[JOB_STATE_COUNT];
    uint64_t named_count, named_bytes, recurring;
};

static void differ(const char *what, const char *queue, uint64_t want, uint64_t got)
{
    printf("\n%s of %s: %" PRIu64 " in the documents, %" PRIu64 " in the machine\n", what, queue,
           want, got);
    (void)fflush(stdout);
    abort();
}

static void equal(const char *what, const char *queue, uint64_t want, uint64_t got)
{
    if (want != got) {
        differ(what, queue, want, got);
    }
}

static size_t number_of(struct str queue)
{
    size_t at = 0;
    while (at < QUEUES && !str_eq(queue, str_from_z(queue_names[at]))) {
        at++;
    }
    CHECK(at < QUEUES);
    return at;
}

static void compare_documents(struct mix *x)
{
    struct counts all[QUEUES] = {0};
    struct store_walk *w = store_walk_new(machine_store(x->k->machine));
    struct id id;
    struct str doc;
    uint64_t space_jobs = 0;
    while (store_walk_next(w, &id, &doc)) {
        struct job j;
        struct err err;
        if (store_job_decode_head(id, doc, &j, &err) != ERR_OK) {
            check_fatal("%s", err.msg);
        }
        size_t at = number_of(j.queue);
        bool over = job_state_is_terminal(j.state);
        all[at].state[j.state]++;
        all[at].named_count += !over && j.counted_bytes > 0 ? 1 : 0;
        all[at].named_bytes += over ? 0 : j.counted_bytes;
        all[at].recurring += j.cron.len > 0 ? 1 : 0;
        space_jobs += !over && str_starts_with(j.queue, STR("n::")) ? 1 : 0;
    }
    store_walk_free(w);
    for (size_t i = 0; i < QUEUES; i++) {
        struct machine_queue q = {0};
        bool found = machine_queue_find(x->k->machine, str_from_z(queue_names[i]), &q);
        for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
            equal(job_state_name((enum job_state)s), queue_names[i], all[i].state[s],
                  found ? q.count[s] : 0);
        }
        equal("named jobs", queue_names[i], all[i].named_count, q.named_count);
        equal("named bytes", queue_names[i], all[i].named_bytes, q.named_bytes);
        equal("recurring", queue_names[i], all[i].recurring, q.recurring);
    }
    struct machine_space s;
    machine_space(x->k->machine, STR("n"), &s);
    equal("space jobs", "n", space_jobs, s.jobs);
}

/* What the machine answers from memory, as one number per question. */
struct answers {
    uint64_t number[16 * QUEUES + 8];
    size_t count;
};

static void ask(struct mix *x, struct answers *a)
{
    struct machine *m = x->k->machine;
    *a = (struct answers){.count = 0};
    for (size_t i = 0; i < QUEUES; i++) {
        struct str name = str_from_z(queue_names[i]);
        struct machine_queue q = {0};
        struct wall until = {0};
        (void)machine_queue_find(m, name, &q);
        const uint64_t numbers[] = {q.timed_out,
                                    q.timed_out_waiting,
                                    q.pending_again,
                                    q.slots,
                                    q.lost_total,
                                    q.failures,
                                    (uint64_t)q.last_ended_at.ns,
                                    hash_bytes(0, q.oldest_pending.b, ID_BYTES),
                                    machine_claimable(m, name, x->k->now, &until),
                                    (uint64_t)until.ns,
                                    machine_claimable_count(m, name, x->k->now),
                                    machine_places(m, name, x->k->now, true),
                                    machine_in_line(m, name),
                                    machine_over_budget(m, name, x->k->now)};
        memcpy(a->number + a->count, numbers, sizeof numbers);
        a->count += COUNT_OF(numbers);
    }
    struct machine_space s;
    struct machine_kept kept = machine_kept(m);
    machine_space(m, STR("n"), &s);
    const uint64_t numbers[] = {(uint64_t)machine_next_tick(m).ns,
                                s.payload_bytes,
                                s.queues,
                                kept.reply_bytes,
                                kept.open_batches,
                                kept.batch_bytes,
                                machine_live_count(m)};
    memcpy(a->number + a->count, numbers, sizeof numbers);
    a->count += COUNT_OF(numbers);
}

static void check(struct mix *x)
{
    struct answers before, after;
    apply_gathered(x);
    compare_documents(x);
    ask(x, &before);
    kit_reopen(x->k);
    compare_documents(x);
    ask(x, &after);
    for (size_t i = 0; i < before.count; i++) {
        if (before.number[i] != after.number[i]) {
            printf("queue %s number %zu: before %" PRIu64 " after %" PRIu64 "\n",
                   i / 14 < QUEUES ? queue_names[i / 14] : "-", i % 14, before.number[i],
                   after.number[i]);
            (void)fflush(stdout);
            abort();
        }
    }
}

/* Versions rise with an upgrade. They also fall, for a while: a leader that has just been started
 * has not heard which versions the others read, and a new member has not told it. */
static void change_version(struct mix *x)
{
    if (!chance(x, 1)) {
        return;
    }
    uint8_t version = x->k->entry_version;
    uint8_t newest = COMMAND_ENTRY_VERSION;
    unsigned oldest = COMMAND_ENTRY_WHOLE;
    x->k->entry_version =
        version == newest || chance(x, 50) ? (uint8_t)(oldest + 2 * below(x, 8)) : newest;
}

static void run(uint64_t seed)
{
    static void (*const makers[])(struct mix * x) = {
        enqueue,     enqueue,     enqueue, claim,     claim,        claim,      end_claimed,
        end_claimed, action,      action,  give_back, change_queue, push_claim, push_claim,
        push_finish, push_finish, named,   named,     restore,      restore,    budget_or_quota,
        bulk,        batch,       others,  tick,      tick,         tick};
    void *state;
    CHECK(kit_setup(&state) == 0);
    struct mix x = {.k = state, .rng = rng_from(seed)};
    printf("%" PRIu64 " ", seed);
    (void)fflush(stdout);
    x.together = (unsigned)(seed % 4 * 30);
    x.k->entry_version = (uint8_t)(COMMAND_ENTRY_VERSION - (chance(&x, 50) ? 2 * below(&x, 5) : 0));
    for (unsigned i = 0; i < ENTRIES; i++) {
        change_version(&x);
        if (chance(&x, 30)) {
            kit_pass_ms(x.k, (int64_t)below(&x, 500));
        }
        makers[below(&x, COUNT_OF(makers))](&x);
        if (i % CHECK_EVERY == CHECK_EVERY - 1) {
            check(&x);
        }
    }
    apply_gathered(&x);
    CHECK(kit_teardown(&state) == 0);
}

int main(int argc, char **argv)
{
    uint64_t from = argc == 5 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t count = argc == 5 ? strtoull(argv[4], NULL, 10) : SEEDS;
    for (uint64_t seed = from; seed < from + count; seed++) {
        run(seed);
    }
    printf("\n");
    return 0;
}
