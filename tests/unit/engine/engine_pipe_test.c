/*
 * The pipeline, from submission to the log and back: results, refusals, overload, commands in
 * steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/limits.h"
#include "lib/engine_kit.h"
#include "lib/test.h"
#include "log/log.h"

static int setup(void **state)
{
    *state = engine_kit_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    engine_kit_close(*state);
    return 0;
}

static struct engine_kit_op *ops_new(struct engine_kit *k, size_t count)
{
    struct engine_kit_op *ops = calloc(count, sizeof *ops);
    assert_non_null(ops);
    for (size_t i = 0; i < count; i++) {
        engine_kit_op_init(&ops[i], k);
    }
    return ops;
}

static void ops_free(struct engine_kit_op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ops[i].done_count, 1);
        engine_kit_op_deinit(&ops[i]);
    }
    free(ops);
}

static void start_enqueue(struct engine_kit_op *o, const char *queue)
{
    struct command_new job = engine_kit_new_job(queue);
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    engine_kit_start(o, &c, 0);
}

/* Put count jobs into a queue with a single command. */
static void fill(struct engine_kit *k, const char *queue, size_t count)
{
    struct command_new *jobs = calloc(count, sizeof *jobs);
    assert_non_null(jobs);
    for (size_t i = 0; i < count; i++) {
        jobs[i] = engine_kit_new_job(queue);
    }
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = count}};
    assert_int_equal(engine_kit_do(k, &c)->count, count);
    free(jobs);
}

static void engine_pipe__answers_with_the_machines_result(void **state)
{
    struct engine_kit *k = *state;
    struct id id = engine_kit_enqueue(k, "mail");
    assert_int_equal(engine_kit_state(k, id), JOB_PENDING);
    struct id claimed = engine_kit_claim(k, "mail");
    assert_true(id_eq(claimed, id));
    assert_int_equal(engine_kit_state(k, id), JOB_ACTIVE);
    engine_kit_ack(k, id);
    assert_int_equal(engine_kit_state(k, id), JOB_COMPLETED);
    assert_true(id_is_none(engine_kit_claim(k, "mail")));
}

static void stop_at_once(struct engine_config *config)
{
    config->stop_wait_ms = 1;
}

static int setup_impatient(void **state)
{
    log_configure(LOG_LEVEL_COUNT, LOG_TEXT);
    *state = engine_kit_open(stop_at_once);
    return 0;
}

static int teardown_impatient(void **state)
{
    engine_kit_close(*state);
    fault_reset();
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

/* Without a last call, a client that must have its ops back before it closes would wait for space
 * forever. */
static void engine_pipe__a_last_call_gives_back_what_a_full_disk_holds_up(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = 4 };
    struct engine_kit_op *ops = ops_new(k, COUNT);
    struct id before = engine_kit_enqueue(k, "mail");
    fault_arm(FAULT_DISK_WRITE_FULL, 1);
    start_enqueue(&ops[0], "mail"); /* in progress */
    start_enqueue(&ops[1], "mail"); /* in progress or waiting */
    struct str empty = STR("empty");
    struct command c = engine_kit_claim_command(&empty, 1);
    engine_kit_start(&ops[2], &c, 60000);
    engine_last_call(k->engine, 1);
    engine_kit_wait(&ops[0]);
    engine_kit_wait(&ops[1]);
    engine_kit_wait(&ops[2]);
    assert_int_equal(ops[0].op.err.code, ERR_UNKNOWN_OUTCOME);
    assert_true(ops[1].op.err.code == ERR_UNKNOWN_OUTCOME || ops[1].op.err.code == ERR_STOPPING);
    start_enqueue(&ops[3], "mail"); /* too late */
    engine_kit_wait(&ops[3]);
    assert_int_equal(ops[3].op.err.code, ERR_STOPPING);
    ops_free(ops, COUNT);
    fault_reset(); /* the entry may still be applied, without a result */
    engine_kit_stop_engine(k);
    engine_kit_start_engine(k);
    assert_int_equal(engine_kit_state(k, before), JOB_PENDING);
}

static void engine_pipe__a_refusal_of_the_machine_is_an_answer(void **state)
{
    struct engine_kit *k = *state;
    struct id nobody = id_make((struct wall){.ns = 1}, 1, 1);
    struct command_ack_item item = {.id = nobody};
    struct command c = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    const struct result *r = engine_kit_do(k, &c);
    assert_int_equal(r->code, ERR_NOT_FOUND);
    assert_true(r->message.len > 0);
    assert_int_equal(engine_kit_status(k).live_jobs, 0);
}

static void engine_pipe__what_cannot_be_replicated_is_not_prepared(void **state)
{
    struct engine_kit *k = *state;
    struct command_new job = engine_kit_new_job("mail");
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    struct engine_op op;
    struct err err = {0};
    engine_op_init(&op);
    job.job.queue = STR("no\ncontrols");
    assert_int_equal(engine_op_prepare(k->engine, &op, &c, &err), ERR_VALIDATION);
    assert_true(strlen(err.msg) > 0);
    job.job.queue = STR("mail");
    assert_int_equal(engine_op_prepare(k->engine, &op, &c, &err), ERR_OK);
    engine_op_deinit(&op);
}

static void engine_pipe__commands_that_arrive_together_share_an_entry(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = 100 };
    struct engine_kit_op *ops = ops_new(k, COUNT);
    uint64_t before = engine_kit_status(k).entries;
    engine_kit_hold(k);
    for (size_t i = 0; i < COUNT; i++) {
        start_enqueue(&ops[i], "mail");
    }
    engine_kit_release(k);
    for (size_t i = 0; i < COUNT; i++) {
        engine_kit_wait(&ops[i]);
        assert_int_equal(ops[i].op.err.code, ERR_OK);
        assert_int_equal(ops[i].op.index, ops[0].op.index);
        assert_int_equal(ops[i].done_place, ops[0].done_place + i);
    }
    assert_int_equal(engine_kit_status(k).entries, before + 1);
    ops_free(ops, COUNT);
}

/* More clients than the engine can collect results for at a time. */
enum { BOXES = 12 };

struct boxes {
    struct engine_kit *kit;
    struct mailbox box[BOXES];
};

static void open_boxes(void *data)
{
    struct boxes *b = data;
    for (size_t i = 0; i < BOXES; i++) {
        mailbox_open(&b->box[i], &b->kit->loop);
    }
}

static void close_boxes(void *data)
{
    struct boxes *b = data;
    for (size_t i = 0; i < BOXES; i++) {
        mailbox_close(&b->box[i]);
    }
}

static void nothing(void *data)
{
    (void)data;
}

static void engine_pipe__answers_go_to_each_clients_own_mailbox(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = 5 * BOXES };
    struct boxes b = {.kit = k};
    struct engine_kit_op *ops = ops_new(k, COUNT);
    engine_kit_on_client(k, open_boxes, &b);
    engine_kit_hold(k);
    for (size_t i = 0; i < COUNT; i++) {
        ops[i].reply_to = &b.box[i % BOXES];
        start_enqueue(&ops[i], "mail");
    }
    engine_kit_release(k);
    for (size_t i = 0; i < COUNT; i++) {
        engine_kit_wait(&ops[i]);
        assert_int_equal(ops[i].op.err.code, ERR_OK);
        assert_int_equal(ops[i].op.index, ops[0].op.index);
        if (i >= BOXES) { /* the previous op of the same mailbox */
            assert_true(ops[i].done_place > ops[i - BOXES].done_place);
        }
    }
    engine_kit_on_client(k, close_boxes, &b);
    engine_kit_on_client(k, nothing, NULL); /* the loop closes the handles in another turn */
    for (size_t i = 0; i < BOXES; i++) {
        mailbox_deinit(&b.box[i]);
    }
    ops_free(ops, COUNT);
}

static void engine_pipe__an_entry_has_a_bounded_number_of_commands(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = LIMIT_ENTRY_OPS + 10 };
    struct engine_kit_op *ops = ops_new(k, COUNT);
    engine_kit_hold(k);
    for (size_t i = 0; i < COUNT; i++) {
        start_enqueue(&ops[i], "mail");
    }
    engine_kit_release(k);
    for (size_t i = 0; i < COUNT; i++) {
        engine_kit_wait(&ops[i]);
    }
    assert_int_equal(ops[LIMIT_ENTRY_OPS - 1].op.index, ops[0].op.index);
    assert_int_equal(ops[LIMIT_ENTRY_OPS].op.index, ops[0].op.index + 1);
    ops_free(ops, COUNT);
}

static void engine_pipe__reads_see_what_was_answered(void **state)
{
    struct engine_kit *k = *state;
    struct id ids[200];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = engine_kit_enqueue(k, "mail");
        assert_int_equal(engine_kit_state(k, ids[i]), JOB_PENDING);
    }
    engine_kit_job(k, COMMAND_JOB_DELETE, ids[7]);
    assert_int_equal(engine_kit_state(k, ids[7]), JOB_STATE_COUNT);
    engine_kit_job(k, COMMAND_JOB_CANCEL, ids[8]);
    assert_int_equal(engine_kit_state(k, ids[8]), JOB_CANCELLED);
}

/* Overload */

static void few_pending(struct engine_config *config)
{
    config->pending_ops_max = 8;
}

static int setup_few_pending(void **state)
{
    *state = engine_kit_open(few_pending);
    return 0;
}

static void engine_pipe__refuses_at_once_when_it_is_full(void **state)
{
    struct engine_kit *k = *state;
    enum { FITS = 8, COUNT = 40 };
    struct engine_kit_op *ops = ops_new(k, COUNT);
    struct err err = {0};
    uint32_t retry_ms = 0;
    engine_kit_hold(k);
    assert_true(engine_admits(k->engine, NULL, &retry_ms, &err));
    for (size_t i = 0; i < COUNT; i++) {
        start_enqueue(&ops[i], "mail");
    }
    assert_false(engine_admits(k->engine, NULL, &retry_ms, &err));
    assert_int_equal(err.code, ERR_OVERLOADED);
    assert_in_range(retry_ms, 5, 7);
    for (size_t i = FITS; i < COUNT; i++) {
        engine_kit_wait(&ops[i]); /* although the core thread is blocked */
        assert_int_equal(ops[i].op.err.code, ERR_OVERLOADED);
        assert_in_range(ops[i].op.retry_after_ms, 5, 7);
    }
    engine_kit_release(k);
    for (size_t i = 0; i < FITS; i++) {
        engine_kit_wait(&ops[i]);
        assert_int_equal(ops[i].op.err.code, ERR_OK);
    }
    struct engine_status status = engine_kit_status(k);
    assert_int_equal(status.live_jobs, FITS);
    assert_int_equal(status.overload_total, COUNT - FITS + 1); /* and the call of engine_admits */
    assert_int_equal(status.pending_ops, 0);
    ops_free(ops, COUNT);
    (void)engine_kit_enqueue(k, "mail"); /* there is room again */
}

static void engine_pipe__parked_claims_do_not_fill_it(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = 20 };
    struct engine_kit_op *ops = ops_new(k, COUNT);
    struct str queue = STR("mail");
    struct command c = engine_kit_claim_command(&queue, 1);
    for (size_t i = 0; i < COUNT; i++) {
        engine_kit_start(&ops[i], &c, 60000);
        assert_int_equal(engine_kit_parked(k), i + 1);
    }
    (void)engine_kit_enqueue(k, "other");
    for (size_t i = 0; i < COUNT; i++) {
        engine_kit_cancel(&ops[i]);
        engine_kit_wait(&ops[i]);
        assert_int_equal(ops[i].op.err.code, ERR_OK);
        assert_int_equal(ops[i].result.count, 0);
    }
    ops_free(ops, COUNT);
}

/* Commands in steps */

static void start_queue_action(struct engine_kit_op *o, enum command_queue_action action,
                               const char *queue)
{
    struct command c = {.type = COMMAND_QUEUE,
                        .queue = {.action = action, .name = str_from_z(queue)}};
    engine_kit_start(o, &c, 0);
}

static void engine_pipe__clearing_and_deleting_let_others_pass(void **state)
{
    static const struct {
        const char *name;
        enum command_queue_action action;
        bool keeps_active;
    } rows[] = {
        {"clear", COMMAND_QUEUE_CLEAR, true},
        {"delete", COMMAND_QUEUE_DELETE, false},
    };
    struct engine_kit *k = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        enum { JOBS = 4 * LIMIT_TICK_JOBS };
        struct engine_kit_op *ops = ops_new(k, 3);
        struct id active = engine_kit_enqueue(k, "big");
        assert_true(id_eq(engine_kit_claim(k, "big"), active));
        fill(k, "big", JOBS);
        engine_kit_hold(k);
        start_queue_action(&ops[0], rows[i].action, "big");
        start_enqueue(&ops[1], "small");
        start_enqueue(&ops[2], "big"); /* newer than the command, so it stays */
        engine_kit_release(k);
        for (size_t n = 0; n < 3; n++) {
            engine_kit_wait(&ops[n]);
            assert_int_equal(ops[n].op.err.code, ERR_OK);
            assert_int_equal(ops[n].result.code, ERR_OK);
        }
        assert_true(ops[1].done_place < ops[0].done_place);
        assert_true(ops[0].op.index >= ops[1].op.index + JOBS / LIMIT_TICK_JOBS - 1);
        assert_int_equal(engine_kit_state(k, active),
                         rows[i].keeps_active ? JOB_ACTIVE : JOB_STATE_COUNT);
        struct id left = ops[2].result.items[0].id;
        assert_true(id_eq(engine_kit_claim(k, "big"), left));
        assert_true(id_is_none(engine_kit_claim(k, "big")));
        engine_kit_job(k, COMMAND_JOB_DELETE, left);
        if (rows[i].keeps_active) {
            engine_kit_job(k, COMMAND_JOB_DELETE, active);
        }
        ops_free(ops, 3);
    }
    assert_int_equal(engine_kit_status(k).live_jobs, COUNT_OF(rows)); /* the jobs in "small" */
}

static void engine_pipe__a_stop_between_steps_says_that_something_happened(void **state)
{
    struct engine_kit *k = *state;
    enum { JOBS = 4 * LIMIT_TICK_JOBS };
    struct engine_kit_op o;
    engine_kit_op_init(&o, k);
    fill(k, "big", JOBS);
    start_queue_action(&o, COMMAND_QUEUE_CLEAR, "big");
    engine_kit_stop_engine(k); /* before the first step, in between, or after the last */
    engine_kit_wait(&o);
    engine_kit_start_engine(k);
    uint64_t left = engine_kit_status(k).live_jobs;
    if (o.op.err.code == ERR_UNKNOWN_OUTCOME) {
        assert_in_range(left, 1, JOBS - 1);
    } else {
        assert_int_equal(o.op.err.code, left == 0 ? ERR_OK : ERR_STOPPING);
        assert_true(left == 0 || left == JOBS);
    }
    engine_kit_op_deinit(&o);
}

/* Jobs whose documents are so large that a few of them fill an entry. */
enum { LARGE_JOBS = 200 };

static char *large_payload(void)
{
    enum { BYTES = 255 * 1024 };
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    memset(text, '1', BYTES);
    text[BYTES] = '\0';
    return text;
}

static void fill_large(struct engine_kit *k, const char *queue, struct id *parent, struct id *ids)
{
    char *payload = large_payload();
    for (size_t i = 0; i < LARGE_JOBS; i++) {
        struct command_new job = engine_kit_new_job(queue);
        job.job.payload = str_from_z(payload);
        job.payload_is_json = true;
        if (parent != NULL) {
            job.job.waits_for = str_from(parent->b, ID_BYTES);
        }
        ids[i] = engine_kit_put(k, job);
    }
    free(payload);
}

static void engine_pipe__an_answer_is_that_of_all_steps(void **state)
{
    struct engine_kit *k = *state;
    static struct id ids[LARGE_JOBS + 1];
    static struct command_heartbeat_item beats[LARGE_JOBS];
    fill_large(k, "q", NULL, ids);
    ids[LARGE_JOBS] = id_make((struct wall){.ns = NS_PER_S}, 1, 1);
    struct engine_kit_op *ops = ops_new(k, 2);
    struct command move = {.type = COMMAND_JOBS,
                           .jobs = {.action = COMMAND_JOB_MOVE,
                                    .lenient = true,
                                    .queue = STR("r"),
                                    .ids = ids,
                                    .count = LARGE_JOBS + 1}};
    engine_kit_hold(k);
    engine_kit_start(&ops[0], &move, 0);
    start_enqueue(&ops[1], "small");
    engine_kit_release(k);
    engine_kit_wait(&ops[0]);
    engine_kit_wait(&ops[1]);
    assert_int_equal(ops[0].result.affected, LARGE_JOBS);
    assert_int_equal(ops[0].result.missing, 1);
    assert_true(ops[0].op.index > ops[1].op.index); /* the enqueue did not wait for the last step */
    ops_free(ops, 2);

    /* With claims that arrive together, each job goes to one claim. */
    enum { CLAIMS = 12 };
    struct str queue = STR("r");
    struct command claim = engine_kit_claim_command(&queue, LIMIT_CLAIM_COUNT);
    uint32_t claimed = 0;
    ops = ops_new(k, CLAIMS);
    engine_kit_hold(k);
    for (size_t i = 0; i < CLAIMS; i++) {
        engine_kit_start(&ops[i], &claim, 0);
    }
    engine_kit_release(k);
    for (size_t i = 0; i < CLAIMS; i++) {
        engine_kit_wait(&ops[i]);
        assert_int_equal(ops[i].op.err.code, ERR_OK);
        assert_in_range(ops[i].result.count, 0, LARGE_JOBS / 2);
        claimed += ops[i].result.count;
    }
    assert_int_equal(claimed, LARGE_JOBS);
    ops_free(ops, CLAIMS);

    for (size_t i = 0; i < LARGE_JOBS; i++) {
        beats[i] = (struct command_heartbeat_item){.id = ids[i]};
    }
    const struct result *r =
        engine_kit_do(k, &(struct command){.type = COMMAND_HEARTBEAT,
                                           .heartbeat = {.items = beats, .count = LARGE_JOBS}});
    assert_int_equal(r->count, LARGE_JOBS);
    for (size_t i = 0; i < LARGE_JOBS; i++) {
        assert_true(id_eq(r->items[i].id, ids[i]));
        assert_int_equal(r->items[i].status, RESULT_OK);
    }
}

/* Dependents that do not fit into the entry of the ack are updated later without a request, even
 * after a restart. */
static void engine_pipe__many_dependents_follow_their_job(void **state)
{
    struct engine_kit *k = *state;
    static struct id ids[LARGE_JOBS];
    struct id parent = engine_kit_enqueue(k, "parents");
    fill_large(k, "children", &parent, ids);
    assert_true(id_eq(engine_kit_claim(k, "parents"), parent));
    engine_kit_ack(k, parent);
    engine_kit_stop_engine(k);
    engine_kit_start_engine(k);
    struct str queue = STR("children");
    struct command claim = engine_kit_claim_command(&queue, LIMIT_CLAIM_COUNT);
    uint32_t claimed = 0;
    while (claimed < LARGE_JOBS) {
        struct engine_kit_op o;
        engine_kit_op_init(&o, k);
        engine_kit_start(&o, &claim, 60000);
        engine_kit_wait(&o);
        assert_int_equal(o.op.err.code, ERR_OK);
        for (uint32_t i = 0; i < o.result.count; i++) {
            assert_true(id_eq(o.result.items[i].id, ids[claimed + i]));
        }
        claimed += o.result.count;
        engine_kit_op_deinit(&o);
    }
}

/* Lanes */

static void engine_pipe__an_outbox_goes_over_when_the_turn_ends(void **state)
{
    struct engine_kit *k = *state;
    struct engine_outbox outbox = {.engine = k->engine};
    struct engine_kit_op *ops = ops_new(k, 2);
    for (size_t i = 0; i < 2; i++) {
        ops[i].op.outbox = &outbox;
        start_enqueue(&ops[i], "mail");
    }
    engine_kit_enqueue(k, "mail"); /* it overtakes the ops in the outbox */
    assert_int_equal(engine_kit_status(k).live_jobs, 1);
    engine_outbox_flush(&outbox);
    engine_outbox_flush(&outbox); /* an empty outbox */
    engine_kit_wait(&ops[0]);
    engine_kit_wait(&ops[1]);
    assert_true(ops[0].op.index == ops[1].op.index);
    ops_free(ops, 2);
}

static void engine_pipe__half_of_the_clients_do_not_wait(void **state)
{
    static const struct {
        size_t clients, enough;
    } rows[] = {{0, ENGINE_OUTBOX_OPS_MIN},
                {2 * ENGINE_OUTBOX_OPS_MIN + 20, ENGINE_OUTBOX_OPS_MIN + 10},
                {100000, ENGINE_OUTBOX_OPS_MAX}};
    struct engine_kit *k = *state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct engine_outbox outbox = {.engine = k->engine, .clients = rows[r].clients};
        size_t count = rows[r].enough;
        struct engine_kit_op *ops = ops_new(k, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(outbox.count, i);
            ops[i].op.outbox = &outbox;
            start_enqueue(&ops[i], "mail");
        }
        assert_int_equal(outbox.count, 0);
        for (size_t i = 0; i < count; i++) {
            engine_kit_wait(&ops[i]);
        }
        ops_free(ops, count);
    }
}

static void claim_and_cancel(void *data)
{
    struct engine_kit_op *o = data;
    struct str queue = STR("mail");
    struct command c = engine_kit_claim_command(&queue, 1);
    engine_kit_start(o, &c, 3600000);
    engine_cancel(o->kit->engine, &o->op);
}

static void engine_pipe__a_cancel_does_not_overtake_what_is_in_the_outbox(void **state)
{
    struct engine_kit *k = *state;
    struct engine_outbox outbox = {.engine = k->engine};
    struct engine_kit_op *o = ops_new(k, 1);
    o->op.outbox = &outbox;
    engine_kit_on_client(k, claim_and_cancel, o);
    engine_kit_wait(o);
    ops_free(o, 1);
}

TEST_GROUP(
    engine_pipe,
    cmocka_unit_test_setup_teardown(engine_pipe__a_last_call_gives_back_what_a_full_disk_holds_up,
                                    setup_impatient, teardown_impatient),
    cmocka_unit_test_setup_teardown(engine_pipe__an_outbox_goes_over_when_the_turn_ends, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__half_of_the_clients_do_not_wait, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__a_cancel_does_not_overtake_what_is_in_the_outbox,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__answers_with_the_machines_result, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__a_refusal_of_the_machine_is_an_answer, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__what_cannot_be_replicated_is_not_prepared, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__commands_that_arrive_together_share_an_entry,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__answers_go_to_each_clients_own_mailbox, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__an_entry_has_a_bounded_number_of_commands, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__reads_see_what_was_answered, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__refuses_at_once_when_it_is_full, setup_few_pending,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__parked_claims_do_not_fill_it, setup_few_pending,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__clearing_and_deleting_let_others_pass, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__an_answer_is_that_of_all_steps, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__many_dependents_follow_their_job, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_pipe__a_stop_between_steps_says_that_something_happened,
                                    setup, teardown));
