/*
 * Large jobs: the body of a job is written once, is part of every result, and is removed with the
 * job. Entries of earlier versions write whole documents, as before.
 */
#include "lib/machine_kit.h"
#include "store/store_body.h"
#include "store/store_docs.h"
#include "store/store_job.h"

enum { PAYLOAD_BYTES = 40000, RETENTION_MS = 1000 };

static const char *payload(void)
{
    static char text[PAYLOAD_BYTES + 1];
    memset(text, 'x', PAYLOAD_BYTES);
    text[0] = text[PAYLOAD_BYTES - 1] = '"';
    return text;
}

/* Count the jobs with a body. */
static unsigned bodies(struct kit *k)
{
    unsigned count = 0;
    struct kv_iter *it = store_iter(machine_store(k->machine), STORE_ROWS, STR_EMPTY);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        count += kv_iter_key(it).ptr[ID_BYTES] == STORE_BODY_KIND ? 1 : 0;
    }
    store_end_walk(it);
    return count;
}

/* Check that the command changes the job at low cost, without changing its payload or body. */
static void expect_small(struct kit *k, const struct command *c, struct id id)
{
    unsigned before = bodies(k);
    const struct result *r = kit_apply(k, c);
    assert_int_equal(r->code, ERR_OK);
    /* The cost of reading, and less than half of it for writing. */
    assert_true(r->cost < PAYLOAD_BYTES + PAYLOAD_BYTES / 2);
    assert_int_equal(bodies(k), before);
    expect_str(kit_job(k, id).payload, str_from_z(payload()));
}

static struct command claim_of(struct str *queue)
{
    return (struct command){.type = COMMAND_CLAIM,
                            .claim = {.queues = queue,
                                      .queue_count = 1,
                                      .worker_id = STR("worker"),
                                      .hostname = STR("host"),
                                      .lease_ms = JOB_LEASE_MS,
                                      .count = 1}};
}

/* Check that a claim of the queue returns the whole job. */
static void expect_claim(struct kit *k, const char *queue, struct id id)
{
    struct str name = str_from_z(queue);
    struct command c = claim_of(&name);
    const struct result *r = kit_apply(k, &c);
    struct job j;
    struct err err;
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, id));
    assert_int_equal(store_job_decode(id, r->items[0].doc, &j, &err), ERR_OK);
    expect_str(j.payload, str_from_z(payload()));
    assert_true(r->cost < PAYLOAD_BYTES + PAYLOAD_BYTES / 2);
}

static void life__writes_the_body_once(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const char *other = kit_name(k);
    unsigned before = bodies(k);
    struct id id = kit_enqueue(k, queue, payload());
    assert_int_equal(bodies(k), before + 1);
    expect_claim(k, queue, id);
    struct command_heartbeat_item beat = {.id = id, .progress = STR("{\"done\":1}")};
    expect_small(
        k, &(struct command){.type = COMMAND_HEARTBEAT, .heartbeat = {.items = &beat, .count = 1}},
        id);
    kit_reopen(k);
    struct command fail = {.type = COMMAND_FAIL, .fail = {.id = id, .error = STR("oh")}};
    expect_small(k, &fail, id);
    kit_tick(k, 1000000);
    kit_expect_state(k, id, JOB_PENDING);
    struct command move = kit_action(COMMAND_JOB_MOVE, &id);
    move.jobs.queue = str_from_z(other);
    expect_small(k, &move, id);
    kit_reopen(k);
    expect_claim(k, other, id);
    struct command_ack_item item = {.id = id, .result = STR("{}")};
    expect_small(k, &(struct command){.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}},
                 id);
    kit_expect_state(k, id, JOB_COMPLETED);
    kit_reopen(k);
    struct command again = kit_action(COMMAND_JOB_RETRY, &id);
    expect_small(k, &again, id);
    expect_claim(k, other, id);
    (void)kit_ack(k, id);
    assert_int_equal(bodies(k), before + 1);
    kit_pass_ms(k, 10 * RETENTION_MS);
    (void)kit_apply(
        k, &(struct command){.type = COMMAND_PURGE, .purge = {.retention_ms = RETENTION_MS}});
    assert_false(kit_has(k, id));
    assert_int_equal(bodies(k), before);
}

static void body__goes_with_its_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    unsigned before = bodies(k);
    (void)kit_enqueue(k, queue, payload());
    struct id deleted = kit_enqueue(k, queue, payload());
    struct id over = kit_enqueue(k, queue, payload());
    assert_int_equal(bodies(k), before + 3);
    (void)kit_do(k, COMMAND_JOB_DELETE, deleted);
    assert_int_equal(bodies(k), before + 2);
    (void)kit_do(k, COMMAND_JOB_CANCEL, over);
    kit_reopen(k);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_CLEAR, queue), 1);
    assert_int_equal(bodies(k), before + 1);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), 1);
    assert_int_equal(bodies(k), before);
}

/* A repeated named claim returns the whole job, too. */
static void named_claim__is_answered_again_with_the_body(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    static const struct id name = {.b = {9, 8, 7}};
    struct str text = str_from_z(queue);
    struct command c = claim_of(&text);
    struct id id = kit_enqueue(k, queue, payload());
    for (unsigned i = 0; i < 3; i++) {
        struct job j;
        struct err err;
        const struct result *r = kit_apply_named(k, &c, name, k->index);
        assert_int_equal(r->count, 1);
        assert_true(id_eq(r->items[0].id, id));
        assert_int_equal(store_job_decode(id, r->items[0].doc, &j, &err), ERR_OK);
        expect_str(j.payload, str_from_z(payload()));
        kit_reopen(k);
    }
}

static void expect_stored(struct kit *k, struct id id, bool two)
{
    struct buf doc;
    struct store_job_body body;
    buf_init(&doc, 1 << 20);
    assert_true(store_docs_read(machine_store(k->machine), id, &doc));
    assert_int_equal(store_job_find_body(buf_str(&doc), &body), two);
    buf_deinit(&doc);
    expect_str(kit_job(k, id).payload, str_from_z(payload()));
}

static void old_entries__write_whole_documents(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    unsigned before = bodies(k);
    k->entry_version = COMMAND_ENTRY_WHOLE;
    struct id first = kit_enqueue(k, queue, payload());
    struct id second = kit_enqueue(k, queue, payload());
    assert_true(id_eq(kit_claim(k, queue), first));
    expect_stored(k, first, false);
    assert_int_equal(bodies(k), before);
    /* All members can read the new format: documents that are changed now are stored in two parts,
     * … */
    k->entry_version = COMMAND_ENTRY_VERSION;
    kit_reopen(k);
    assert_int_equal(kit_beat(k, first), RESULT_OK);
    expect_stored(k, first, true);
    expect_stored(k, second, false);
    assert_int_equal(bodies(k), before + 1);
    /* … even if an older entry follows. */
    k->entry_version = COMMAND_ENTRY_WHOLE;
    (void)kit_ack(k, first);
    expect_stored(k, first, true);
    assert_true(id_eq(kit_claim(k, queue), second));
    expect_stored(k, second, false);
    k->entry_version = COMMAND_ENTRY_VERSION;
    kit_reopen(k);
    (void)kit_ack(k, second);
    expect_stored(k, second, true);
    assert_int_equal(bodies(k), before + 2);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), 2);
    assert_int_equal(bodies(k), before);
}

static void version__of_an_entry_is_one_that_all_read(void **state)
{
    static const struct {
        uint8_t read;
        bool named;
        uint8_t want;
    } rows[] = {{3, false, 3},   {3, true, 3},   {4, false, 3},   {4, true, 4},    {5, false, 3},
                {5, true, 4},    {6, false, 5},  {6, true, 6},    {7, false, 5},   {7, true, 6},
                {8, false, 7},   {8, true, 8},   {9, false, 7},   {9, true, 8},    {10, false, 9},
                {10, true, 10},  {11, false, 9}, {12, false, 11}, {12, true, 12},  {13, false, 11},
                {14, false, 13}, {14, true, 14}, {15, true, 14},  {16, false, 15}, {17, true, 16},
                {18, false, 17}, {18, true, 18}, {200, true, 18}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(command_entry_version(rows[i].read, rows[i].named), rows[i].want);
        assert_int_equal(command_entry_has_names(rows[i].want), rows[i].want % 2 == 0);
    }
}

TEST_GROUP_FIXTURE(apply_body, kit_setup, kit_teardown,
                   cmocka_unit_test(life__writes_the_body_once),
                   cmocka_unit_test(body__goes_with_its_job),
                   cmocka_unit_test(named_claim__is_answered_again_with_the_body),
                   cmocka_unit_test(old_entries__write_whole_documents),
                   cmocka_unit_test(version__of_an_entry_is_one_that_all_read));
