/*
 * Named commands: a repeated command gets the first result, and nothing is executed twice.
 */
#include "base/limits.h"
#include "lib/golden.h"
#include "lib/machine_kit.h"
#include "store/store_job.h"

static struct id name_of(uint8_t first, uint8_t second)
{
    return (struct id){.b = {0xc0, first, second, 1}};
}

static void enqueue__asked_again_makes_nothing(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new jobs[2] = {{.job = kit_template(queue, "{}")},
                                  {.job = kit_template(queue, "{}")}};
    struct command c = kit_enqueue_command(jobs, 2);
    const struct result *r = kit_apply_named(k, &c, name_of(1, 1), k->index);
    struct id first = r->items[0].id;
    struct id second = r->items[1].id;
    for (unsigned pass = 0; pass < 3; pass++) {
        r = kit_apply_named(k, &c, name_of(1, 1), 0);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(r->count, 2);
        assert_true(id_eq(r->items[0].id, first));
        assert_true(id_eq(r->items[1].id, second));
        kit_expect_count(k, queue, JOB_PENDING, 2);
        kit_reopen(k); /* the results are on disk */
    }
    r = kit_apply_named(k, &c, name_of(1, 2), k->index);
    assert_false(id_eq(r->items[0].id, first));
    kit_expect_count(k, queue, JOB_PENDING, 4);
}

static uint64_t token_of(const struct result_item *item)
{
    struct job j;
    struct err err;
    assert_int_equal(store_job_decode_head(item->id, item->doc, &j, &err), ERR_OK);
    return j.lease_token;
}

static void claim__asked_again_gives_the_same_lease(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str queues[] = {str_from_z(queue)};
    struct command c;
    command_init(&c, COMMAND_CLAIM);
    c.claim = (struct command_claim){
        .queues = queues, .queue_count = 1, .worker_id = STR("w"), .count = 1, .lease_ms = 60000};
    /* A claim without a job is not remembered. */
    assert_int_equal(kit_apply_named(k, &c, name_of(2, 1), k->index)->count, 0);
    (void)kit_enqueue(k, queue, "{}");
    (void)kit_enqueue(k, queue, "{}");
    const struct result *r = kit_apply_named(k, &c, name_of(2, 1), k->index);
    assert_int_equal(r->count, 1);
    struct id job = r->items[0].id;
    uint64_t token = token_of(&r->items[0]);
    kit_reopen(k);
    r = kit_apply_named(k, &c, name_of(2, 1), 0);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, job));
    assert_int_equal(token_of(&r->items[0]), token);
    kit_expect_count(k, queue, JOB_ACTIVE, 1);
    /* A job that the worker no longer holds is left out. */
    kit_tick(k, 61000);
    assert_int_equal(kit_apply_named(k, &c, name_of(2, 1), 0)->count, 0);
    kit_expect_count(k, queue, JOB_ACTIVE, 0);
}

/* The first result contains no document. The stored result must have the same bytes as in earlier
 * versions, because they are part of the state, so a repeated command returns the document. */
static void named_put__is_kept_as_it_always_was(void **state)
{
    struct kit *k = *state;
    struct command_new new = {.job = kit_template(kit_name(k), "{}")};
    new.job.push = STR("{\"url\":\"http://127.0.0.1/\"}");
    new.job.name = STR("named");
    new.job.counted_bytes = 200;
    struct command c = {.type = COMMAND_NAMED_PUT,
                        .named_put = {.job = &new, .bytes_max = 1000, .count_max = 10}};
    assert_int_equal(kit_apply_named(k, &c, name_of(9, 1), k->index)->items[0].doc.len, 0);
    kit_reopen(k);
    assert_int_not_equal(kit_apply_named(k, &c, name_of(9, 1), 0)->items[0].doc.len, 0);
}

static void refusal__is_decided_anew(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{}");
    struct command c;
    command_init(&c, COMMAND_FAIL);
    c.fail = (struct command_fail){.id = id, .error = STR("no")};
    assert_int_not_equal(kit_apply_named(k, &c, name_of(3, 1), k->index)->code, ERR_OK);
    assert_true(id_eq(kit_claim(k, queue), id));
    assert_int_equal(kit_apply_named(k, &c, name_of(3, 1), 0)->code, ERR_OK);
}

/* A name whose result is no longer kept cannot be distinguished from a new name. */
static void what_was_forgotten__is_refused(void **state)
{
    struct kit *k = *state;
    struct command_new job = {.job = kit_template(kit_name(k), "{}")};
    struct command c = kit_enqueue_command(&job, 1);
    uint64_t before = k->index;
    struct id first = kit_apply_named(k, &c, name_of(4, 1), before)->items[0].id;
    kit_pass_ms(k, LIMIT_OPERATIONS_KEPT_MS - 1);
    assert_true(id_eq(kit_apply_named(k, &c, name_of(4, 1), before)->items[0].id, first));
    kit_pass_ms(k, 2);
    for (unsigned i = 0; i < 2; i++) { /* the first one removes the expired results */
        (void)kit_apply_named(k, &c, name_of(4, (uint8_t)(2 + i)), k->index);
    }
    kit_reopen(k);
    uint64_t digest = kit_digest(k);
    assert_int_equal(kit_apply_named(k, &c, name_of(4, 1), before)->code, ERR_UNKNOWN_OUTCOME);
    assert_int_equal(kit_digest(k), digest);
    assert_int_equal(kit_apply_named(k, &c, name_of(4, 9), k->index)->code, ERR_OK);
}

/* Each result is found among those of many entries, in memory and on disk. */
static void many_entries__keep_their_answers(void **state)
{
    enum { ENTRIES = 150 };
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new job = {.job = kit_template(queue, "{}")};
    struct command c = kit_enqueue_command(&job, 1);
    struct id made[ENTRIES];
    for (unsigned i = 0; i < ENTRIES; i++) {
        made[i] = kit_apply_named(k, &c, name_of(5, (uint8_t)i), k->index)->items[0].id;
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < ENTRIES; i++) {
            const struct result *r = kit_apply_named(k, &c, name_of(5, (uint8_t)i), 0);
            assert_int_equal(r->count, 1);
            assert_true(id_eq(r->items[0].id, made[i]));
        }
        kit_reopen(k);
    }
    kit_expect_count(k, queue, JOB_PENDING, ENTRIES);
}

/* The format of the record on disk, both encoding and decoding. */
static void golden__record_decodes(void **state)
{
    static const char key[8] = {0, 0, 0, 0, 0, 0, 0, 1};
    static const struct id name = {.b = {0xe0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
    struct kit *k;
    void *fresh = NULL;
    struct buf present, file;
    (void)state;
    assert_int_equal(kit_setup(&fresh), 0);
    k = fresh;
    struct command_new job = {.job = kit_template("golden", "{}")};
    struct command c = kit_enqueue_command(&job, 1);
    (void)kit_apply_named(k, &c, name, 0);
    buf_init(&present, 4096);
    assert_true(
        store_get(machine_store(k->machine), STORE_KIND_OPERATION, str_from(key, 8), &present));
    golden_read_present("record-operation-1.bin", &present, &file);
    struct store *s = machine_store(k->machine);
    store_put(s, STORE_KIND_OPERATION, str_from(key, 8), buf_str(&file));
    store_commit(s);
    kit_reopen(k);
    struct id first = kit_apply_named(k, &c, name, 0)->items[0].id;
    assert_true(kit_has(k, first));
    kit_expect_count(k, "golden", JOB_PENDING, 1);
    buf_deinit(&present);
    buf_deinit(&file);
    kit_forget(k);
    assert_int_equal(kit_teardown(&fresh), 0);
}

TEST_GROUP_FIXTURE(operations, kit_setup, kit_teardown,
                   cmocka_unit_test(enqueue__asked_again_makes_nothing),
                   cmocka_unit_test(claim__asked_again_gives_the_same_lease),
                   cmocka_unit_test(named_put__is_kept_as_it_always_was),
                   cmocka_unit_test(refusal__is_decided_anew),
                   cmocka_unit_test(what_was_forgotten__is_refused),
                   cmocka_unit_test(many_entries__keep_their_answers),
                   cmocka_unit_test(golden__record_decodes));
