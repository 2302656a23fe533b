/*
 * Bulk operations (http-api.md 11): steps are applied once and in order, and records are kept.
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_record.h"

static struct store_bulk bulk(struct kit *k, struct id id)
{
    char key[STORE_BULK_KEY_BYTES];
    struct store_bulk rec;
    struct buf value;
    store_record_bulk_key(id, 0, key);
    buf_init(&value, 1 << 20);
    assert_true(
        store_get(machine_store(k->machine), STORE_KIND_BULK, str_from(key, sizeof key), &value));
    struct str kept = arena_str(k->arena, buf_str(&value));
    buf_deinit(&value);
    assert_true(store_record_decode_bulk(kept, &rec));
    return rec;
}

/* The number of ids in a list, or -1 if there is no such list. */
static int list_len(struct kit *k, struct id id, uint32_t part)
{
    char key[STORE_BULK_KEY_BYTES];
    struct buf value;
    store_record_bulk_key(id, part, key);
    buf_init(&value, 1 << 20);
    bool found =
        store_get(machine_store(k->machine), STORE_KIND_BULK, str_from(key, sizeof key), &value);
    int len = found ? (int)(value.len / ID_BYTES) : -1;
    buf_deinit(&value);
    return len;
}

static struct id put(struct kit *k, const struct command_bulk_put *c)
{
    const struct result *r =
        kit_apply(k, &(struct command){.type = COMMAND_BULK_PUT, .bulk_put = *c});
    assert_int_equal(r->code, ERR_OK);
    return r->id;
}

static struct command step(struct id id, uint32_t number, struct id *ids, size_t count)
{
    return (struct command){.type = COMMAND_BULK_STEP,
                            .bulk_step = {.id = id, .step = number, .ids = ids, .count = count}};
}

static void ids__go_in_lists_that_leave_with_their_steps(void **state)
{
    struct kit *k = *state;
    static struct id ids[LIMIT_BULK_CHUNK + 2];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = id_make(k->now, 900000, (uint32_t)i);
    }
    ids[0] = kit_job_in(k, JOB_PENDING);
    ids[LIMIT_BULK_CHUNK] = kit_job_in(k, JOB_SCHEDULED);
    ids[LIMIT_BULK_CHUNK + 1] = kit_job_in(k, JOB_DEAD);
    struct id id = put(k, &(struct command_bulk_put){.action = COMMAND_JOB_CANCEL,
                                                     .total = COUNT_OF(ids) + 3,
                                                     .errors = 3,
                                                     .ids = ids,
                                                     .count = COUNT_OF(ids)});
    assert_int_equal(bulk(k, id).status, STORE_BULK_QUEUED);
    assert_int_equal(bulk(k, id).lists, 2);
    assert_int_equal(bulk(k, id).processed, 3);
    assert_int_equal(list_len(k, id, 1), LIMIT_BULK_CHUNK);
    assert_int_equal(list_len(k, id, 2), 2);
    kit_reopen(k);

    struct command c = step(id, 0, ids, LIMIT_BULK_CHUNK);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->missing, LIMIT_BULK_CHUNK - 1);
    assert_true(r->more);
    assert_int_equal(bulk(k, id).status, STORE_BULK_RUNNING);
    assert_int_equal(list_len(k, id, 1), -1);
    kit_expect_state(k, ids[0], JOB_CANCELLED);
    kit_expect_state(k, ids[LIMIT_BULK_CHUNK], JOB_SCHEDULED);
    kit_reopen(k);

    c = step(id, 1, ids + LIMIT_BULK_CHUNK, 2);
    r = kit_apply(k, &c);
    assert_int_equal(r->affected, 1); /* the dead job is skipped */
    assert_int_equal(r->missing, 0);
    assert_false(r->more);
    assert_int_equal(list_len(k, id, 2), -1);
    struct store_bulk rec = bulk(k, id);
    assert_int_equal(rec.status, STORE_BULK_COMPLETED);
    assert_int_equal(rec.affected, 2);
    assert_int_equal(rec.errors, LIMIT_BULK_CHUNK - 1 + 3);
    assert_int_equal(rec.processed, COUNT_OF(ids) + 3);
    assert_int_equal(rec.total, rec.processed);
    assert_int_equal(rec.finished_at.ns, k->now.ns);
}

static void step__that_is_not_the_next_changes_nothing(void **state)
{
    struct kit *k = *state;
    struct id job = kit_job_in(k, JOB_PENDING);
    struct id id =
        put(k, &(struct command_bulk_put){.action = COMMAND_JOB_CANCEL, .filter = STR("{}")});
    struct command early = step(id, 1, &job, 1);
    kit_refuses(k, &early, ERR_CONFLICT,
                kit_text(k, "bulk operation " STR_FMT " is at step 0, not 1",
                         STR_ARG(kit_id_text(k, id, ID_BULK)))
                    .ptr,
                id);
    struct command first = step(id, 0, &job, 1);
    assert_int_equal(kit_apply(k, &first)->affected, 1);
    /* The same step again, as after a change of leader. */
    struct command again = step(id, 0, &job, 1);
    kit_refuses(k, &again, ERR_CONFLICT,
                kit_text(k, "bulk operation " STR_FMT " is at step 1, not 0",
                         STR_ARG(kit_id_text(k, id, ID_BULK)))
                    .ptr,
                id);
    assert_int_equal(bulk(k, id).processed, 1);
}

static void filter__goes_on_to_the_last_step(void **state)
{
    struct kit *k = *state;
    struct id jobs[] = {kit_job_in(k, JOB_DEAD), kit_job_in(k, JOB_DEAD)};
    struct id id = put(k, &(struct command_bulk_put){.action = COMMAND_JOB_RETRY,
                                                     .filter = STR("{\"state\":[\"dead\"]}"),
                                                     .total = 7});
    assert_true(id_cmp(jobs[1], id) < 0); /* the filter excludes later jobs */
    struct command c = step(id, 0, jobs, 2);
    c.bulk_step.cursor = jobs[1];
    assert_true(kit_apply(k, &c)->more);
    kit_reopen(k);
    struct machine_bulk next;
    assert_true(machine_next_bulk(k->machine, ID_NONE, &next));
    struct store_bulk rec = bulk(k, id);
    assert_true(id_eq(rec.cursor, jobs[1]));
    expect_str(rec.filter, STR("{\"state\":[\"dead\"]}"));
    assert_int_equal(rec.total, 7);
    c = step(id, 1, NULL, 0);
    c.bulk_step.last = true;
    assert_false(kit_apply(k, &c)->more);
    assert_int_equal(bulk(k, id).status, STORE_BULK_COMPLETED);
    assert_int_equal(bulk(k, id).total, 2);
    assert_int_equal(bulk(k, id).affected, 2);
}

static void filter__is_looked_at_once_more_by_every_step(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id jobs[4];
    for (unsigned i = 0; i < COUNT_OF(jobs); i++) {
        jobs[i] = kit_enqueue(k, queue, "{}");
    }
    struct id id =
        put(k, &(struct command_bulk_put){.action = COMMAND_JOB_CANCEL,
                                          .filter = STR("{\"state\":[\"pending\"]}"),
                                          .fit = {.states = 1U << JOB_PENDING,
                                                  .priorities = 1U << JOB_PRIORITY_NORMAL,
                                                  .queue = str_from_z(queue)},
                                          .total = COUNT_OF(jobs)});
    kit_reopen(k);
    assert_true(id_eq(kit_claim(k, queue), jobs[0])); /* a worker has claimed it */
    struct command c = step(id, 0, jobs, 2);
    c.bulk_step.cursor = jobs[1];
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->missing, 0);
    kit_expect_state(k, jobs[0], JOB_ACTIVE);
    kit_expect_state(k, jobs[1], JOB_CANCELLED);

    struct command move = kit_action(COMMAND_JOB_MOVE, &jobs[2]);
    move.jobs.queue = str_from_z(kit_name(k));
    (void)kit_apply(k, &move);
    kit_reopen(k);
    c = step(id, 1, jobs + 2, 2);
    c.bulk_step.last = true;
    (void)kit_apply(k, &c);
    kit_expect_state(k, jobs[2], JOB_PENDING);
    kit_expect_state(k, jobs[3], JOB_CANCELLED);
    struct store_bulk rec = bulk(k, id);
    assert_int_equal(rec.status, STORE_BULK_COMPLETED);
    assert_int_equal(rec.processed, 4);
    assert_int_equal(rec.affected, 2);
    assert_int_equal(rec.errors, 0);
    expect_str(rec.fit.queue, str_from_z(queue));
}

static void namespace__keeps_others_out(void **state)
{
    struct kit *k = *state;
    struct id own = kit_enqueue(k, "acme::q", "{}");
    struct id other = kit_enqueue(k, "acmes::q", "{}");
    struct id ids[] = {own, other};
    struct id id = put(
        k,
        &(struct command_bulk_put){
            .action = COMMAND_JOB_DELETE, .ns = STR("acme"), .ids = ids, .count = 2, .total = 2});
    struct command c = step(id, 0, ids, 2);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->missing, 1);
    assert_false(kit_has(k, own));
    assert_true(kit_has(k, other));
}

static void end__stops_it_and_takes_its_lists(void **state)
{
    struct kit *k = *state;
    for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
        struct id job = kit_job_in(k, JOB_PENDING);
        struct id id = put(k, &(struct command_bulk_put){
                                  .action = COMMAND_JOB_HOLD, .ids = &job, .count = 1, .total = 1});
        struct command end = {
            .type = COMMAND_BULK_END,
            .bulk_end = {.id = id, .cancelled = cancelled == 1, .error = STR("no more")}};
        assert_int_equal(kit_apply(k, &end)->code, ERR_OK);
        assert_int_equal(bulk(k, id).status,
                         cancelled == 1 ? STORE_BULK_CANCELLED : STORE_BULK_FAILED);
        expect_str(bulk(k, id).error, STR("no more"));
        assert_int_equal(list_len(k, id, 1), -1);
        assert_int_equal(bulk(k, id).total, 1);
        struct command late = step(id, 0, &job, 1);
        kit_refuses(k, &late, ERR_CONFLICT,
                    kit_text(k, "bulk operation " STR_FMT " has already ended",
                             STR_ARG(kit_id_text(k, id, ID_BULK)))
                        .ptr,
                    id);
        kit_expect_state(k, job, JOB_PENDING);
    }
    struct command unknown = step(id_make(k->now, 7777777, 9), 0, NULL, 0);
    kit_refuses(k, &unknown, ERR_NOT_FOUND, "bulk operation not found", ID_NONE);
}

static void nothing__is_over_at_once(void **state)
{
    struct kit *k = *state;
    struct id id =
        put(k, &(struct command_bulk_put){.action = COMMAND_JOB_RETRY, .total = 2, .errors = 2});
    assert_int_equal(bulk(k, id).status, STORE_BULK_COMPLETED);
    assert_int_equal(bulk(k, id).errors, 2);
    assert_int_equal(bulk(k, id).processed, 2);
}

static void turn__goes_round(void **state)
{
    struct kit *k = *state;
    struct machine_bulk next;
    /* End the operations of other tests first. */
    while (machine_next_bulk(k->machine, ID_NONE, &next)) {
        (void)kit_apply(k,
                        &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = next.id}});
    }
    struct command_bulk_put c = {.action = COMMAND_JOB_RETRY, .filter = STR("{}")};
    struct id first = put(k, &c);
    struct id second = put(k, &c);
    assert_true(machine_next_bulk(k->machine, ID_NONE, &next) && id_eq(next.id, first));
    assert_true(machine_next_bulk(k->machine, first, &next) && id_eq(next.id, second));
    assert_true(machine_next_bulk(k->machine, second, &next) && id_eq(next.id, first));
}

static void count__is_bounded_and_old_ones_are_forgotten(void **state)
{
    struct kit *k = *state;
    struct command_bulk_put c = {.action = COMMAND_JOB_RETRY, .filter = STR("{}")};
    struct command full = {.type = COMMAND_BULK_PUT, .bulk_put = c};
    struct machine_bulk next;
    while (machine_next_bulk(k->machine, ID_NONE, &next)) {
        (void)kit_apply(k,
                        &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = next.id}});
    }
    struct id first = put(k, &c);
    for (unsigned i = 1; i < LIMIT_BULK_OPEN; i++) {
        (void)put(k, &c);
    }
    kit_refuses(k, &full, ERR_BULK, "too many bulk operations are in progress or stored", ID_NONE);
    struct command end = {.type = COMMAND_BULK_END, .bulk_end = {.id = first, .cancelled = true}};
    (void)kit_apply(k, &end);
    kit_pass_ms(k, LIMIT_BULK_KEPT_MS);
    (void)put(k, &c);
    assert_int_equal(bulk(k, first).status, STORE_BULK_CANCELLED); /* still kept: exactly an hour */
    kit_refuses(k, &full, ERR_BULK, "too many bulk operations are in progress or stored", ID_NONE);
    assert_true(machine_next_bulk(k->machine, ID_NONE, &next));
    (void)kit_apply(k, &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = next.id}});
    kit_pass_ms(k, 1);
    (void)put(k, &c);
    assert_int_equal(list_len(k, first, 0), -1);
}

static void place__is_made_by_the_one_that_ended_first(void **state)
{
    struct kit *k = *state;
    struct command_bulk_put c = {.action = COMMAND_JOB_RETRY, .filter = STR("{}")};
    struct command_bulk_put over = {.action = COMMAND_JOB_RETRY, .total = 1, .errors = 1};
    struct machine_bulk next;
    while (machine_next_bulk(k->machine, ID_NONE, &next)) {
        (void)kit_apply(k,
                        &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = next.id}});
    }
    kit_pass_ms(k, LIMIT_BULK_KEPT_MS + 1); /* operations of other tests have expired */
    struct id open = put(k, &c);
    struct id late = put(k, &c);
    struct id first = put(k, &over);
    struct id second = put(k, &over);
    kit_pass_ms(k, 1);
    (void)kit_apply(k, &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = late}});
    for (unsigned i = 4; i < LIMIT_BULK_KEPT; i++) {
        (void)put(k, &over);
    }
    struct command full = {.type = COMMAND_BULK_PUT, .bulk_put = over};
    k->entry_version = COMMAND_ENTRY_PUT;
    kit_refuses(k, &full, ERR_BULK, "too many bulk operations are in progress or stored", ID_NONE);
    k->entry_version = COMMAND_ENTRY_VERSION;
    (void)put(k, &over);
    assert_int_equal(list_len(k, first, 0), -1);
    assert_int_equal(bulk(k, second).status, STORE_BULK_COMPLETED);
    (void)put(k, &over);
    assert_int_equal(list_len(k, second, 0), -1);
    assert_int_equal(bulk(k, late).status, STORE_BULK_FAILED);
    assert_int_equal(bulk(k, open).status, STORE_BULK_QUEUED);
    kit_pass_ms(k, LIMIT_BULK_KEPT_MS + 1);
    (void)kit_apply(k, &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = open}});
}

static struct id put_queue(struct kit *k, const struct command_bulk_queue *c)
{
    const struct result *r =
        kit_apply(k, &(struct command){.type = COMMAND_BULK_QUEUE, .bulk_queue = *c});
    assert_int_equal(r->code, ERR_OK);
    return r->id;
}

/* Apply steps until the operation is finished. Returns their number. */
static unsigned run_queue(struct kit *k, struct id id)
{
    unsigned steps = 0;
    while (!store_bulk_is_over(&(struct store_bulk){.status = bulk(k, id).status})) {
        struct command c = step(id, steps++, NULL, 0);
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        assert_true(r->affected <= LIMIT_BULK_QUEUE_JOBS);
    }
    return steps;
}

static void queue__is_deleted_in_small_steps(void **state)
{
    struct kit *k = *state;
    enum { COUNT = 2 * LIMIT_BULK_QUEUE_JOBS + 7 };
    const char *name = kit_name(k);
    struct id other = kit_enqueue(k, kit_name(k), "{}");
    for (unsigned i = 0; i < COUNT; i++) {
        (void)kit_enqueue(k, name, "{}");
    }
    struct id done = kit_claim(k, name);
    (void)kit_ack_item(k, (struct command_ack_item){.id = done});
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, name);
    struct id id = put_queue(
        k, &(struct command_bulk_queue){.action = COMMAND_QUEUE_DELETE, .name = str_from_z(name)});
    assert_int_equal(bulk(k, id).total, COUNT);
    assert_true(kit_queue_info(k, name).paused); /* its remaining jobs are not claimed */
    kit_reopen(k);
    struct command first = step(id, 0, NULL, 0);
    assert_int_equal(kit_apply(k, &first)->affected, LIMIT_BULK_QUEUE_JOBS);
    /* A job that is added meanwhile is kept, and so is the queue. */
    struct id later = kit_enqueue(k, name, "{}");
    kit_refuses(k, &first, ERR_CONFLICT,
                kit_text(k, "bulk operation " STR_FMT " is at step 1, not 0",
                         STR_ARG(kit_id_text(k, id, ID_BULK)))
                    .ptr,
                id);
    for (unsigned steps = 1; bulk(k, id).status == STORE_BULK_RUNNING; steps++) {
        struct command c = step(id, steps, NULL, 0);
        assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
        kit_reopen(k);
    }
    struct store_bulk rec = bulk(k, id);
    assert_int_equal(rec.status, STORE_BULK_COMPLETED);
    assert_int_equal(rec.affected, COUNT);
    assert_int_equal(rec.processed, COUNT);
    assert_int_equal(rec.total, COUNT);
    kit_expect_count(k, name, JOB_PENDING, 1);
    kit_expect_count(k, name, JOB_COMPLETED, 0);
    assert_false(kit_has(k, done));
    kit_expect_state(k, later, JOB_PENDING);
    kit_expect_state(k, other, JOB_PENDING);
}

static void queue__is_cleared_of_what_waits(void **state)
{
    struct kit *k = *state;
    const char *name = kit_name(k);
    struct id active = kit_active(k, name);
    struct id pending = kit_enqueue(k, name, "{}");
    struct id id = put_queue(
        k, &(struct command_bulk_queue){.action = COMMAND_QUEUE_CLEAR, .name = str_from_z(name)});
    assert_int_equal(bulk(k, id).total, 1);
    assert_int_equal(run_queue(k, id), 1);
    assert_false(kit_has(k, pending));
    kit_expect_state(k, active, JOB_ACTIVE);
}

static void queue__that_is_not_there_is_done_at_once(void **state)
{
    struct kit *k = *state;
    struct id id = put_queue(
        k, &(struct command_bulk_queue){.action = COMMAND_QUEUE_DELETE, .name = STR("nowhere")});
    assert_int_equal(bulk(k, id).status, STORE_BULK_COMPLETED);
    /* The same for a queue that is deleted meanwhile. */
    const char *name = kit_name(k);
    (void)kit_enqueue(k, name, "{}");
    id = put_queue(
        k, &(struct command_bulk_queue){.action = COMMAND_QUEUE_DELETE, .name = str_from_z(name)});
    struct command_queue c = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(name)};
    while (true) {
        const struct result *r = kit_queue_with(k, &c);
        if (!r->more) {
            break;
        }
        c.cursor = r->cursor;
        c.until = r->until;
        c.in_done = r->in_done;
    }
    assert_int_equal(run_queue(k, id), 1);
    assert_int_equal(bulk(k, id).affected, 0);
}

/* Start a bulk operation on the queue. */
static struct id begin_queue(struct kit *k, enum command_queue_action action, const char *name)
{
    return put_queue(k, &(struct command_bulk_queue){.action = action, .name = str_from_z(name)});
}

static void move(struct kit *k, struct id id, const char *queue)
{
    struct command c = kit_action(COMMAND_JOB_MOVE, &id);
    c.jobs.queue = str_from_z(queue);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static struct id dead_job(struct kit *k, const char *queue)
{
    struct job j = kit_template(queue, "{}");
    j.max_retries = 1;
    struct id id = kit_enqueue_job(k, &j);
    assert_true(id_eq(kit_claim(k, queue), id));
    assert_int_equal(kit_fail(k, id, "no")->code, ERR_OK);
    kit_expect_state(k, id, JOB_DEAD);
    return id;
}

static void queue__keeps_what_came_to_it_after_the_beginning(void **state)
{
    struct kit *k = *state;
    static const enum command_queue_action actions[] = {COMMAND_QUEUE_CLEAR, COMMAND_QUEUE_DELETE};
    for (unsigned i = 0; i < COUNT_OF(actions); i++) {
        const char *name = kit_name(k);
        struct id dead = dead_job(k, name);
        struct id completed = kit_active(k, name);
        (void)kit_ack(k, completed);
        struct id held = kit_enqueue(k, name, "{}");
        (void)kit_do(k, COMMAND_JOB_HOLD, held);
        struct id elsewhere = kit_job_in(k, JOB_SCHEDULED);
        struct id early = kit_job_in(k, JOB_PENDING);
        struct id old = kit_enqueue(k, name, "{}");
        move(k, early, name);
        struct id id = begin_queue(k, actions[i], name);
        move(k, elsewhere, name);
        (void)kit_do(k, COMMAND_JOB_RETRY, dead);
        (void)kit_do(k, COMMAND_JOB_RETRY, completed);
        (void)kit_do(k, COMMAND_JOB_APPROVE, held);
        kit_reopen(k);
        (void)run_queue(k, id);
        assert_false(kit_has(k, old));
        assert_false(kit_has(k, early));
        kit_expect_state(k, elsewhere, JOB_SCHEDULED);
        kit_expect_state(k, dead, JOB_PENDING);
        kit_expect_state(k, completed, JOB_PENDING);
        kit_expect_state(k, held, JOB_PENDING);
        /* The next operation removes them. */
        (void)run_queue(k, begin_queue(k, actions[i], name));
        assert_false(kit_has(k, elsewhere));
        assert_false(kit_has(k, dead));
    }
}

/* The steps of a queue command, and a finished job that is moved in from another queue. */
static void queue__keeps_what_is_over_and_came_later(void **state)
{
    struct kit *k = *state;
    const char *name = kit_name(k);
    struct id own = dead_job(k, name);
    struct id other = dead_job(k, kit_name(k));
    struct command_queue c = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(name)};
    const struct result *r = kit_queue_with(k, &c);
    assert_true(r->more);
    c.cursor = r->cursor;
    c.until = r->until;
    c.in_done = r->in_done;
    move(k, other, name);
    assert_false(kit_queue_with(k, &c)->more);
    assert_false(kit_has(k, own));
    kit_expect_state(k, other, JOB_DEAD);
}

static struct result_item enqueue_unique(struct kit *k, const char *queue, int64_t period_s)
{
    struct command_new new = {.job = kit_template(queue, "{}")};
    new.job.unique_key = STR("key");
    new.job.unique_period_s = period_s;
    struct command c = kit_enqueue_command(&new, 1);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    return r->items[0];
}

/* An enqueue was answered with the job that holds the key, and will not be repeated with another
 * job. */
static void queue__keeps_the_job_that_an_enqueue_was_told_of(void **state)
{
    struct kit *k = *state;
    static const enum command_queue_action actions[] = {COMMAND_QUEUE_CLEAR, COMMAND_QUEUE_DELETE};
    for (unsigned i = 0; i < COUNT_OF(actions); i++) {
        const char *name = kit_name(k);
        struct id holder = enqueue_unique(k, name, 1).id;
        struct id other = kit_enqueue(k, name, "{}");
        struct id id = begin_queue(k, actions[i], name);
        struct result_item told = enqueue_unique(k, name, 1);
        assert_int_equal(told.status, RESULT_DUPLICATE);
        assert_true(id_eq(told.id, holder));
        kit_tick(k, 2000); /* the lock has expired */
        kit_reopen(k);
        (void)run_queue(k, id);
        assert_false(kit_has(k, other));
        kit_expect_state(k, holder, JOB_PENDING);
        (void)run_queue(k, begin_queue(k, actions[i], name));
        assert_false(kit_has(k, holder));
    }
}

/* Entries of earlier versions keep their effect. */
static void queue__took_what_came_to_it_before(void **state)
{
    struct kit *k = *state;
    k->entry_version = COMMAND_ENTRY_STRICT;
    const char *name = kit_name(k);
    struct id elsewhere = kit_job_in(k, JOB_SCHEDULED);
    struct id holder = enqueue_unique(k, name, 60).id;
    struct id id = begin_queue(k, COMMAND_QUEUE_CLEAR, name);
    move(k, elsewhere, name);
    assert_int_equal(enqueue_unique(k, name, 60).status, RESULT_DUPLICATE);
    (void)run_queue(k, id);
    assert_false(kit_has(k, elsewhere));
    assert_false(kit_has(k, holder));
    k->entry_version = COMMAND_ENTRY_VERSION;
}

static void filter__passes_over_what_came_later(void **state)
{
    struct kit *k = *state;
    const char *name = kit_name(k);
    struct id jobs[] = {kit_job_in(k, JOB_PENDING), kit_enqueue(k, name, "{}")};
    struct id id = put(k, &(struct command_bulk_put){.action = COMMAND_JOB_DELETE,
                                                     .filter = STR("{}"),
                                                     .fit = {.queue = str_from_z(name)},
                                                     .total = 1});
    move(k, jobs[0], name);
    struct command c = step(id, 0, jobs, 2);
    c.bulk_step.last = true;
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    kit_expect_state(k, jobs[0], JOB_PENDING);
    assert_false(kit_has(k, jobs[1]));
    assert_int_equal(bulk(k, id).errors, 0);
}

/* A clear does not remove jobs that were neither pending nor scheduled when it began, even if they
 * are pending when it reaches them. */
static void queue__keeps_what_waits_again_since_the_beginning(void **state)
{
    struct kit *k = *state;
    const char *name = kit_name(k);
    struct job j = kit_template(name, "{}");
    j.max_retries = 3;
    j.retry_base_ms = 1000;
    j.backoff = JOB_BACKOFF_FIXED;
    struct id failed = kit_enqueue_job(k, &j);
    assert_true(id_eq(kit_claim(k, name), failed));
    assert_int_equal(kit_fail(k, failed, "no")->code, ERR_OK);
    kit_expect_state(k, failed, JOB_RETRYING);
    struct id lost = kit_active(k, name);
    struct id returned = kit_active(k, name);
    j.scheduled_at = wall_add_ms(k->now, 500);
    struct id scheduled = kit_enqueue_job(k, &j);
    struct id waits = kit_enqueue(k, name, "{}");
    struct id id = begin_queue(k, COMMAND_QUEUE_CLEAR, name);
    struct command_return_item back = {.id = returned};
    back.lease_token = kit_job(k, returned).lease_token;
    assert_int_equal(kit_apply(k, &(struct command){.type = COMMAND_RETURN,
                                                    .give_back = {.items = &back, .count = 1}})
                         ->affected,
                     1);
    kit_tick(k, 3600 * 1000);
    kit_expect_state(k, failed, JOB_PENDING);
    kit_expect_state(k, lost, JOB_PENDING);
    kit_expect_state(k, scheduled, JOB_PENDING);
    kit_reopen(k);
    (void)run_queue(k, id);
    assert_false(kit_has(k, waits));
    assert_false(kit_has(k, scheduled)); /* it was scheduled when the clear began */
    kit_expect_state(k, failed, JOB_PENDING);
    kit_expect_state(k, lost, JOB_PENDING);
    kit_expect_state(k, returned, JOB_PENDING);
    /* The next clear removes them. */
    (void)run_queue(k, begin_queue(k, COMMAND_QUEUE_CLEAR, name));
    assert_false(kit_has(k, failed));
    assert_false(kit_has(k, lost));
    assert_false(kit_has(k, returned));
}

/* A delete removes all jobs of the queue, whatever their state. */
static void queue__is_deleted_with_what_waits_again(void **state)
{
    struct kit *k = *state;
    const char *name = kit_name(k);
    struct id lost = kit_active(k, name);
    struct id id = begin_queue(k, COMMAND_QUEUE_DELETE, name);
    kit_tick(k, 3600 * 1000);
    kit_expect_state(k, lost, JOB_PENDING);
    (void)run_queue(k, id);
    assert_false(kit_has(k, lost));
}

/* An operation by filter does not end a job with which a request was answered. Other actions apply
 * to it. */
static void filter__does_not_end_the_job_that_an_enqueue_was_told_of(void **state)
{
    struct kit *k = *state;
    static const struct row {
        enum command_job_action action;
        enum job_state after;
        bool before; /* the request was answered before the operation began */
        bool by_ids;
    } rows[] = {
        {COMMAND_JOB_DELETE, JOB_PENDING, false, false},
        {COMMAND_JOB_CANCEL, JOB_PENDING, false, false},
        {COMMAND_JOB_CANCEL, JOB_CANCELLED, true, false},
        {COMMAND_JOB_CANCEL, JOB_CANCELLED, false, true}, /* the operation names the job */
        {COMMAND_JOB_HOLD, JOB_HELD, false, false},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *name = kit_name(k);
        struct id jobs[] = {enqueue_unique(k, name, 60).id, kit_enqueue(k, name, "{}")};
        if (rows[i].before) {
            assert_true(id_eq(enqueue_unique(k, name, 60).id, jobs[0]));
        }
        struct command_bulk_put c = {.action = rows[i].action, .total = 2};
        if (rows[i].by_ids) {
            c.ids = jobs;
            c.count = 2;
        } else {
            c.filter = STR("{}");
        }
        struct id id = put(k, &c);
        kit_reopen(k);
        if (!rows[i].before) {
            assert_true(id_eq(enqueue_unique(k, name, 60).id, jobs[0]));
        }
        kit_reopen(k);
        struct command next = step(id, 0, jobs, 2);
        next.bulk_step.last = !rows[i].by_ids;
        assert_int_equal(kit_apply(k, &next)->affected, rows[i].after == JOB_PENDING ? 1 : 2);
        kit_expect_state(k, jobs[0], rows[i].after);
        assert_int_equal(bulk(k, id).errors, 0);
        assert_int_equal(bulk(k, id).status, STORE_BULK_COMPLETED);
    }
}

/* The machine knows all operations in progress, not only the newest. */
static void filter__that_is_older_than_one_that_ended_keeps_its_word(void **state)
{
    struct kit *k = *state;
    struct command_bulk_put c = {.action = COMMAND_JOB_DELETE, .filter = STR("{}"), .total = 1};
    const char *name = kit_name(k);
    struct id job = enqueue_unique(k, name, 60).id;
    struct id first = put(k, &c);
    struct id second = put(k, &c);
    (void)kit_apply(k, &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = second}});
    assert_true(id_eq(enqueue_unique(k, name, 60).id, job));
    struct command next = step(first, 0, &job, 1);
    next.bulk_step.last = true;
    assert_int_equal(kit_apply(k, &next)->affected, 0);
    kit_expect_state(k, job, JOB_PENDING);
}

/* Entries of version 13 keep their effect. */
static void later_jobs__were_taken_before(void **state)
{
    struct kit *k = *state;
    k->entry_version = COMMAND_ENTRY_EXACT;
    const char *name = kit_name(k);
    struct id lost = kit_active(k, name);
    struct id id = begin_queue(k, COMMAND_QUEUE_CLEAR, name);
    kit_tick(k, 3600 * 1000);
    (void)run_queue(k, id);
    assert_false(kit_has(k, lost));
    struct id holder = enqueue_unique(k, name, 60).id;
    id = put(k, &(struct command_bulk_put){
                    .action = COMMAND_JOB_DELETE, .filter = STR("{}"), .total = 1});
    assert_true(id_eq(enqueue_unique(k, name, 60).id, holder));
    struct command next = step(id, 0, &holder, 1);
    next.bulk_step.last = true;
    (void)kit_apply(k, &next);
    assert_false(kit_has(k, holder));
    k->entry_version = COMMAND_ENTRY_VERSION;
}

TEST_GROUP_FIXTURE(apply_bulk, kit_setup, kit_teardown,
                   cmocka_unit_test(ids__go_in_lists_that_leave_with_their_steps),
                   cmocka_unit_test(step__that_is_not_the_next_changes_nothing),
                   cmocka_unit_test(filter__goes_on_to_the_last_step),
                   cmocka_unit_test(filter__is_looked_at_once_more_by_every_step),
                   cmocka_unit_test(namespace__keeps_others_out),
                   cmocka_unit_test(end__stops_it_and_takes_its_lists),
                   cmocka_unit_test(nothing__is_over_at_once), cmocka_unit_test(turn__goes_round),
                   cmocka_unit_test(queue__is_deleted_in_small_steps),
                   cmocka_unit_test(queue__is_cleared_of_what_waits),
                   cmocka_unit_test(queue__that_is_not_there_is_done_at_once),
                   cmocka_unit_test(queue__keeps_what_came_to_it_after_the_beginning),
                   cmocka_unit_test(queue__keeps_what_is_over_and_came_later),
                   cmocka_unit_test(queue__keeps_the_job_that_an_enqueue_was_told_of),
                   cmocka_unit_test(queue__took_what_came_to_it_before),
                   cmocka_unit_test(queue__keeps_what_waits_again_since_the_beginning),
                   cmocka_unit_test(queue__is_deleted_with_what_waits_again),
                   cmocka_unit_test(filter__passes_over_what_came_later),
                   cmocka_unit_test(filter__does_not_end_the_job_that_an_enqueue_was_told_of),
                   cmocka_unit_test(filter__that_is_older_than_one_that_ended_keeps_its_word),
                   cmocka_unit_test(later_jobs__were_taken_before),
                   cmocka_unit_test(count__is_bounded_and_old_ones_are_forgotten),
                   cmocka_unit_test(place__is_made_by_the_one_that_ended_first));
