/*
 * Answers to repeated requests with the same idempotency key.
 */
#include "base/limits.h"
#include "fsm/machine_int.h"
#include "lib/golden.h"
#include "lib/machine_kit.h"

static struct command keyed(struct command_new *jobs, size_t count, const char *key)
{
    struct command c = kit_enqueue_command(jobs, count);
    c.enqueue.idempotency_key = str_from_z(key);
    return c;
}

static void repeat__gets_the_first_answer_and_makes_nothing(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new jobs[3];
    struct id ids[3];
    for (unsigned i = 0; i < COUNT_OF(jobs); i++) {
        jobs[i] = (struct command_new){.job = kit_template(queue, "{}")};
    }
    jobs[1].job.scheduled_at = wall_add_ms(k->now, 1000);
    jobs[2].job.unique_key = STR("a");
    struct command c = keyed(jobs, COUNT_OF(jobs), "first");
    c.enqueue.has_batch = true;
    const struct result *r = kit_apply(k, &c);
    struct id batch = r->id;
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = r->items[i].id;
    }
    uint64_t digest = kit_digest(k);
    static const enum result_status want[] = {RESULT_PENDING, RESULT_SCHEDULED, RESULT_PENDING};
    for (unsigned pass = 0; pass < 2; pass++) {
        r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(r->count, COUNT_OF(ids));
        assert_true(id_eq(r->id, batch));
        for (unsigned i = 0; i < COUNT_OF(ids); i++) {
            assert_true(id_eq(r->items[i].id, ids[i]));
            assert_int_equal(r->items[i].status, want[i]);
        }
        assert_int_equal(kit_digest(k), digest);
        kit_reopen(k); /* the answer is on disk */
    }
    /* The answer belongs to the key, whatever the repeated request contains. */
    struct command_new other = {.job = kit_template(kit_name(k), "{}")};
    struct command d = keyed(&other, 1, "first");
    assert_int_equal(kit_apply(k, &d)->count, COUNT_OF(ids));
    assert_int_equal(kit_digest(k), digest);
}

/* http-api.md 26: a key belongs to one body. The body of answers from earlier versions is unknown.
 */
static void key__with_another_body_is_refused(void **state)
{
    static const struct {
        const char *name;
        uint64_t first, second;
        enum err_code code;
    } rows[] = {
        {"the same", 5, 5, ERR_OK},
        {"another", 5, 6, ERR_KEY_REUSED},
        {"the first is not known", 0, 6, ERR_OK},
        {"the second is not known", 5, 0, ERR_OK},
    };
    struct kit *k = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct command_new new = {.job = kit_template(queue, "{}")};
        struct command c = keyed(&new, 1, rows[i].name);
        ROW(rows[i].name);
        c.enqueue.body_hash = rows[i].first;
        struct id id = kit_apply(k, &c)->items[0].id;
        uint64_t digest = kit_digest(k);
        c.enqueue.body_hash = rows[i].second;
        for (unsigned pass = 0; pass < 2; pass++) {
            const struct result *r = kit_apply(k, &c);
            assert_int_equal(r->code, rows[i].code);
            if (r->code == ERR_OK) {
                assert_true(id_eq(r->items[0].id, id));
            } else {
                expect_str(r->message, STR("the Idempotency-Key was used with another body"));
            }
            assert_int_equal(kit_digest(k), digest);
            kit_reopen(k); /* the answer is on disk */
        }
        kit_expect_count(k, queue, JOB_PENDING, 1);
    }
}

static void repeat__in_the_same_entry_is_one_too(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command both[] = {keyed(&new, 1, "twice"), keyed(&new, 1, "twice")};
    const struct result *r = kit_apply_all(k, both, 2);
    assert_true(id_eq(r[0].items[0].id, r[1].items[0].id));
    kit_expect_count(k, queue, JOB_PENDING, 1);
}

static void other_keys__and_none_make_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command a = keyed(&new, 1, "a");
    struct command b = keyed(&new, 1, "b");
    struct command none = keyed(&new, 1, "");
    (void)kit_apply(k, &a);
    (void)kit_apply(k, &b);
    (void)kit_apply(k, &none);
    (void)kit_apply(k, &none);
    kit_expect_count(k, queue, JOB_PENDING, 4);
}

/* Nothing was changed, so the next attempt may succeed. */
static void refusal__is_not_kept(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id missing = id_make(k->now, 7777777, 11);
    struct command_new new = {.job = kit_template(queue, "{}")};
    new.job.waits_for = str_from(&missing, ID_BYTES);
    struct command c = keyed(&new, 1, "refused");
    kit_refuses(k, &c, ERR_VALIDATION, "depends_on: job \"{id}\" not found", missing);
    new.job.waits_for = STR_EMPTY;
    c = keyed(&new, 1, "refused");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    kit_expect_count(k, queue, JOB_PENDING, 1);
}

static void answer__is_kept_for_a_day(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    int64_t day_ms = 24 * 3600 * 1000;
    struct buf value;
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command c = keyed(&new, 1, "day");
    struct id first = kit_apply(k, &c)->items[0].id;
    buf_init(&value, 1 << 16);
    kit_pass_ms(k, day_ms - 1);
    assert_true(id_eq(kit_apply(k, &c)->items[0].id, first));
    kit_pass_ms(k, 1);
    assert_false(id_eq(kit_apply(k, &c)->items[0].id, first)); /* even before a tick */
    kit_tick(k, day_ms - 1);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_REPLY, STR("day"), &value));
    kit_tick(k, 1);
    assert_false(store_get(machine_store(k->machine), STORE_KIND_REPLY, STR("day"), &value));
    buf_deinit(&value);
}

/* The jobs of the answer may be deleted by then. */
static void answer__outlives_its_jobs(void **state)
{
    struct kit *k = *state;
    struct command_new new = {.job = kit_template(kit_name(k), "{}")};
    struct command c = keyed(&new, 1, "gone");
    struct id id = kit_apply(k, &c)->items[0].id;
    (void)kit_do(k, COMMAND_JOB_DELETE, id);
    assert_true(id_eq(kit_apply(k, &c)->items[0].id, id));
    assert_false(kit_has(k, id));
}

/* Above the limit, the oldest answer is removed. Entries of earlier versions remove none. The usage
 * is simulated, because real answers would need a gigabyte. */
static void room__is_made_by_forgetting_the_oldest(void **state)
{
    struct kit *k = NULL;
    struct command_new new = {.job = kit_template("q", "{}")};
    struct command first = keyed(&new, 1, "first");
    struct command second = keyed(&new, 1, "second");
    struct command third = keyed(&new, 1, "third");
    (void)state;
    assert_int_equal(kit_setup((void **)&k), 0);
    struct id ids[2];
    ids[0] = kit_apply(k, &first)->items[0].id;
    kit_tick(k, 1);
    ids[1] = kit_apply(k, &second)->items[0].id;
    kit_tick(k, 1);
    uint64_t each = k->machine->reply_bytes / 2;
    uint64_t more = LIMIT_REPLY_BYTES - 2 * each - 10;
    k->machine->reply_bytes += more;
    k->entry_version = COMMAND_ENTRY_PUT;
    struct command old = keyed(&new, 1, "older");
    (void)kit_apply(k, &old);
    assert_true(k->machine->reply_bytes > LIMIT_REPLY_BYTES);
    k->entry_version = COMMAND_ENTRY_VERSION;
    (void)kit_apply(k, &third); /* two are removed: for the old entry's answer and for this one */
    assert_in_range(k->machine->reply_bytes, LIMIT_REPLY_BYTES - 2 * each, LIMIT_REPLY_BYTES);
    k->machine->reply_bytes -= more;
    assert_false(id_eq(kit_apply(k, &first)->items[0].id, ids[0]));
    assert_false(id_eq(kit_apply(k, &second)->items[0].id, ids[1]));
    kit_reopen(k);
    assert_in_range(k->machine->reply_bytes, 4 * each - 8, 4 * each + 8);
    kit_forget(k); /* the simulated usage is not in the log */
    assert_int_equal(kit_teardown((void **)&k), 0);
}

/* A record that an earlier version has written is still a valid answer. It is stored in a new
 * machine, whose first entry is always the same. */
static void expect_golden(const char *name, uint64_t body_hash)
{
    struct kit *k = NULL;
    struct buf present;
    struct buf file;
    struct err err;
    assert_int_equal(kit_setup((void **)&k), 0);
    struct command_new news[2] = {{.job = kit_template("q", "{}")},
                                  {.job = kit_template("q", "{}")}};
    news[1].job.scheduled_at = wall_add_ms(k->now, 1);
    struct command c = keyed(news, 2, "written");
    c.enqueue.has_batch = true;
    c.enqueue.body_hash = body_hash;
    const struct result *r = kit_apply(k, &c);
    struct id want[] = {r->id, r->items[0].id, r->items[1].id};
    buf_init(&present, 1 << 16);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_REPLY, STR("written"), &present));
    golden_read_present(name, &present, &file);

    struct store *s = machine_store(k->machine);
    store_put(s, STORE_KIND_REPLY, STR("read"), buf_str(&file));
    assert_int_equal(kv_commit(s->kv, s->batch, &err), ERR_OK);
    kit_reopen(k);
    c.enqueue.idempotency_key = STR("read");
    r = kit_apply(k, &c);
    assert_int_equal(r->count, 2);
    assert_true(id_eq(r->id, want[0]));
    assert_true(id_eq(r->items[0].id, want[1]));
    assert_true(id_eq(r->items[1].id, want[2]));
    assert_int_equal(r->items[0].status, RESULT_PENDING);
    assert_int_equal(r->items[1].status, RESULT_SCHEDULED);
    buf_deinit(&present);
    buf_deinit(&file);
    kit_forget(k); /* the record was stored directly and is not in the log */
    assert_int_equal(kit_teardown((void **)&k), 0);
}

static void golden__records_decode(void **state)
{
    (void)state;
    expect_golden("record-reply-1.bin", 0);
    expect_golden("record-reply-2.bin", 0x1122334455667788);
}

TEST_GROUP_FIXTURE(replies, kit_setup, kit_teardown,
                   cmocka_unit_test(repeat__gets_the_first_answer_and_makes_nothing),
                   cmocka_unit_test(key__with_another_body_is_refused),
                   cmocka_unit_test(repeat__in_the_same_entry_is_one_too),
                   cmocka_unit_test(other_keys__and_none_make_jobs),
                   cmocka_unit_test(refusal__is_not_kept),
                   cmocka_unit_test(answer__is_kept_for_a_day),
                   cmocka_unit_test(answer__outlives_its_jobs),
                   cmocka_unit_test(room__is_made_by_forgetting_the_oldest),
                   cmocka_unit_test(golden__records_decode));
