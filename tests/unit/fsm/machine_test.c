/*
 * The machine as a whole: entries, time, hooks, queries.
 */
#include "fsm/machine.h"

#include <stdlib.h>

#include "base/fault.h"
#include "lib/machine_kit.h"

static void entries__may_have_no_commands(void **state)
{
    struct kit *k = *state;
    uint64_t digest = kit_digest(k);
    (void)kit_apply_all(k, NULL, 0);
    assert_int_equal(machine_applied_index(k->machine), k->index);
    assert_int_equal(kit_digest(k), digest);
}

static void entries__see_what_earlier_commands_did(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command commands[] = {
        kit_enqueue_command(&new, 1),
        {.type = COMMAND_CLAIM,
         .claim = {.queues = &name, .queue_count = 1, .lease_ms = 1000, .count = 5}},
        {.type = COMMAND_CLAIM,
         .claim = {.queues = &name, .queue_count = 1, .lease_ms = 1000, .count = 5}},
    };
    const struct result *r = kit_apply_all(k, commands, COUNT_OF(commands));
    assert_int_equal(r[1].count, 1);
    assert_true(id_eq(r[1].items[0].id, r[0].items[0].id));
    assert_int_equal(r[2].count, 0);
    /* A job is reported once per entry, however often it was written. */
    assert_int_equal(k->changed_count, 1);
    assert_true(id_eq(k->changed[0], r[0].items[0].id));
}

static void indexes__may_have_gaps(void **state)
{
    struct kit *k = *state;
    k->index += 100; /* barriers and membership changes have indexes, too */
    struct id id = kit_enqueue(k, kit_name(k), "{}");
    assert_int_equal(machine_applied_index(k->machine), k->index);
    assert_int_equal(kit_job(k, id).version, k->index);
}

/* The leader's clock may step back. The machine's time does not. */
static void time__never_runs_backwards(void **state)
{
    struct kit *k = *state;
    struct id first = kit_enqueue(k, kit_name(k), "{}");
    struct wall now = k->now;
    k->now.ns -= 3600 * NS_PER_S;
    struct id second = kit_enqueue(k, kit_name(k), "{}");
    assert_int_equal(kit_job(k, second).created_at.ns, now.ns);
    assert_true(id_cmp(first, second) < 0);
    kit_reopen(k);
    struct id third = kit_enqueue(k, kit_name(k), "{}");
    assert_int_equal(kit_job(k, third).created_at.ns, now.ns);
    k->now = now;
}

static void refusal__is_the_answer_of_one_command_only(void **state)
{
    struct kit *k = *state;
    struct id missing = id_make(k->now, 7777777, 10);
    struct command_new new = {.job = kit_template(kit_name(k), "{}")};
    struct command commands[] = {kit_action(COMMAND_JOB_RETRY, &missing),
                                 kit_enqueue_command(&new, 1)};
    const struct result *r = kit_apply_all(k, commands, 2);
    assert_int_equal(r[0].code, ERR_NOT_FOUND);
    assert_int_equal(r[1].code, ERR_OK);
    assert_true(kit_has(k, r[1].items[0].id));
}

static void changed__is_told_for_every_job_that_was_touched(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id parent = kit_enqueue(k, queue, "{}");
    struct job t = kit_template(kit_name(k), "{}");
    t.waits_for = str_from(&parent, ID_BYTES);
    struct id child = kit_enqueue_job(k, &t);
    (void)kit_claim(k, queue);
    assert_int_equal(k->changed_count, 1);
    (void)kit_ack(k, parent);
    assert_int_equal(k->changed_count, 2);
    assert_true(id_eq(k->changed[0], parent));
    assert_true(id_eq(k->changed[1], child));
    (void)kit_do(k, COMMAND_JOB_DELETE, child);
    assert_int_equal(k->changed_count, 1);
    assert_true(id_eq(k->changed[0], child));
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
    assert_int_equal(k->changed_count, 0);
    kit_reopen(k); /* loaded jobs are not reported */
}

/* Loading reads jobs in the order of their ids, but a revived job is at the end of the line. */
static void line__keeps_its_order_over_a_start(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id first = kit_enqueue(k, queue, "{}");
    struct id second = kit_enqueue(k, queue, "{}");
    struct id third = kit_enqueue(k, queue, "{}");
    (void)kit_do(k, COMMAND_JOB_CANCEL, second);
    (void)kit_do(k, COMMAND_JOB_RETRY, second);
    kit_reopen(k);
    assert_true(id_eq(kit_claim(k, queue), first));
    assert_true(id_eq(kit_claim(k, queue), third));
    assert_true(id_eq(kit_claim(k, queue), second));
}

static void claimable__says_what_a_claim_would_find(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct wall until;
    assert_false(machine_claimable(k->machine, name, k->now, &until));
    assert_int_equal(machine_claimable_count(k->machine, name, k->now), 0);
    for (unsigned i = 0; i < 5; i++) {
        (void)kit_enqueue(k, queue, "{}");
    }
    assert_true(machine_claimable(k->machine, name, k->now, &until));
    assert_int_equal(machine_claimable_count(k->machine, name, k->now), 5);
    struct command_queue limit = {.action = COMMAND_QUEUE_CONCURRENCY, .name = name, .max = 2};
    (void)kit_queue_with(k, &limit);
    assert_int_equal(machine_claimable_count(k->machine, name, k->now), 2);
    (void)kit_claim(k, queue);
    assert_int_equal(machine_claimable_count(k->machine, name, k->now), 1);
    (void)kit_claim(k, queue);
    assert_false(machine_claimable(k->machine, name, k->now, &until));
    assert_int_equal(until.ns, 0); /* waiting does not help */
    limit.max = 0;
    (void)kit_queue_with(k, &limit);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
    assert_int_equal(machine_claimable_count(k->machine, name, k->now), 0);
}

struct names {
    unsigned seen;
    struct str wanted;
};

static void note_queue(void *data, const struct machine_queue *q)
{
    struct names *n = data;
    n->seen += str_eq(q->name, n->wanted) ? 1 : 0;
}

static void each_queue__names_every_queue_once(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
    struct names n = {.wanted = str_from_z(queue)};
    machine_each_queue(k->machine, note_queue, &n);
    assert_int_equal(n.seen, 1);
    (void)kit_empty(k, COMMAND_QUEUE_DELETE, queue);
    n.seen = 0;
    machine_each_queue(k->machine, note_queue, &n);
    assert_int_equal(n.seen, 0);
}

static void memory__grows_with_live_jobs_and_is_known(void **state)
{
    struct kit *k = *state;
    uint64_t before = machine_live_count(k->machine);
    struct id id = kit_enqueue(k, kit_name(k), "{}");
    assert_int_equal(machine_live_count(k->machine), before + 1);
    assert_true(machine_index_bytes(k->machine) > 0);
    (void)kit_do(k, COMMAND_JOB_CANCEL, id);
    assert_int_equal(machine_live_count(k->machine), before);
}

/* An old job behind newer ones needs a place in the heap of its queue. */
static void memory__of_a_queue_is_counted_until_it_is_deleted(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id old = kit_enqueue(k, kit_name(k), "{}");
    (void)kit_enqueue(k, queue, "{}");
    uint64_t before = machine_index_bytes(k->machine);
    struct command move = kit_action(COMMAND_JOB_MOVE, &old);
    move.jobs.queue = str_from_z(queue);
    assert_int_equal(kit_apply(k, &move)->code, ERR_OK);
    assert_true(machine_index_bytes(k->machine) > before);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), 2);
    assert_int_equal(machine_index_bytes(k->machine), before);
}

static void checkpoint__opens_as_the_same_state(void **state)
{
    struct kit *k = *state;
    struct err err;
    struct machine *copy = NULL;
    const struct machine_hooks none = {0};
    struct os_file_path path = tmpdir_path(&k->dir, "copy");
    struct id id = kit_enqueue(k, kit_name(k), "{}");
    assert_int_equal(machine_checkpoint(k->machine, path.z, &err), ERR_OK);
    assert_int_equal(machine_open(path.z, &none, &copy, &err), ERR_OK);
    assert_int_equal(machine_applied_index(copy), k->index);
    assert_int_equal(machine_state_hash(copy), machine_state_hash(k->machine));
    assert_int_equal(machine_digest(copy), machine_digest(k->machine));
    assert_int_equal(machine_live_count(copy), machine_live_count(k->machine));
    machine_close(copy);
    assert_true(kit_has(k, id));
}

static void open__says_why_it_cannot(void **state)
{
    struct kit *k = *state;
    struct err err;
    struct machine *m = NULL;
    const struct machine_hooks none = {0};
    struct os_file_path path = tmpdir_path(&k->dir, "file");
    tmpdir_write(path.z, STR("x"));
    assert_int_not_equal(machine_open(path.z, &none, &m, &err), ERR_OK);
    assert_null(m);
    assert_non_null(strstr(err.msg, "open the state in "));
    machine_close(NULL);
}

/* Stored values that cannot be read are never skipped, because a job would be lost. */

static struct os_file_path damaged_path;

static void open_damaged(void)
{
    struct err err;
    struct machine *m = NULL;
    const struct machine_hooks none = {0};
    enum err_code code = machine_open(damaged_path.z, &none, &m, &err);
    (void)code;
}

/* Create a closed state with one valid job and this value. */
static struct kit *damaged_by(unsigned family, struct str key, struct str value)
{
    struct kit *k = NULL;
    struct err err;
    assert_int_equal(kit_setup((void **)&k), 0);
    (void)kit_enqueue(k, "q", "{}");
    struct store *s = machine_store(k->machine);
    kv_put(s->batch, family, key, value);
    assert_int_equal(kv_commit(s->kv, s->batch, &err), ERR_OK);
    machine_close(k->machine);
    k->machine = NULL;
    kit_forget(k);
    damaged_path = tmpdir_path(&k->dir, "state");
    return k;
}

static void open__stops_at_a_record_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned family;
        struct str key;
    } rows[] = {
        {"queue", STORE_META, {"qname", 5}},
        {"lock", STORE_META, {"lq\0key", 6}},
        {"batch", STORE_META, {"bid", 3}},
        {"schedule", STORE_META, {"sid", 3}},
        {"throttle", STORE_META, {"tq\0ring", 7}},
        {"worker", STORE_META, {"wid", 3}},
        {"reply", STORE_META, {"rkey", 4}},
        {"events", STORE_EVENTS, {"\0\0\0\0\0\0\0\0", 8}},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct kit *k = damaged_by(rows[i].family, rows[i].key, STR("nonsense"));
        expect_abort(open_damaged);
        assert_int_equal(kit_teardown((void **)&k), 0);
    }
}

static void open__refuses_a_job_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        struct str key;
        const char *message;
    } rows[] = {
        {{"0123456789abcdef", 16}, "a job document has the unknown version 110"},
        {{"short", 5}, "a live job has a key of 5 bytes"},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        struct machine *m = NULL;
        const struct machine_hooks none = {0};
        ROW(rows[i].message);
        struct kit *k = damaged_by(STORE_LIVE, rows[i].key, STR("nonsense"));
        assert_int_equal(machine_open(damaged_path.z, &none, &m, &err), ERR_CORRUPT);
        assert_null(m);
        assert_non_null(strstr(err.msg, rows[i].message));
        assert_int_equal(kit_teardown((void **)&k), 0);
    }
}

/* An entry that cannot be applied stops the process. Otherwise the state would differ from that of
 * other nodes. */

static struct kit *broken;
static struct str broken_entry;

static void apply_broken(void)
{
    machine_apply(broken->machine, broken->index + 1, broken_entry);
}

static void apply_again(void)
{
    machine_apply(broken->machine, broken->index, broken_entry);
}

static void entry__that_cannot_be_applied_stops_the_process(void **state)
{
    struct kit *k = *state;
    struct buf entry;
    broken = k;
    broken_entry = STR("\x02nonsense");
    expect_abort(apply_broken);
    buf_init(&entry, 1024);
    command_entry_begin(&entry, COMMAND_ENTRY_VERSION, k->now, true);
    command_entry_add(&entry, STR("\x7f\x01"));
    command_entry_end(&entry, 1);
    broken_entry = buf_str(&entry);
    expect_abort(apply_broken);
    /* Valid, but already applied. */
    buf_clear(&entry);
    command_entry_begin(&entry, COMMAND_ENTRY_VERSION, k->now, true);
    command_entry_end(&entry, 0);
    broken_entry = buf_str(&entry);
    expect_abort(apply_again);
    /* Valid, but the store fails. */
    fault_arm(FAULT_KV_COMMIT, 1);
    expect_abort(apply_broken);
    fault_reset();
    buf_deinit(&entry);
}

/* An iteration that fails while an entry is applied must not be mistaken for the end of the jobs.
 */
static void walk__that_fails_stops_the_process(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *name;
        struct command command;
    } rows[] = {
        {"purge", {.type = COMMAND_PURGE}},
        {"clear",
         {.type = COMMAND_QUEUE,
          .queue = {.action = COMMAND_QUEUE_CLEAR, .name = {"any.queue", 9}}}},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct buf bytes;
        struct buf entry;
        ROW(rows[i].name);
        buf_init(&bytes, 1024);
        buf_init(&entry, 1024);
        command_encode(&rows[i].command, &bytes);
        command_entry_begin(&entry, COMMAND_ENTRY_VERSION, k->now, true);
        command_entry_add(&entry, buf_str(&bytes));
        command_entry_end(&entry, 1);
        broken = k;
        broken_entry = buf_str(&entry);
        fault_arm(FAULT_KV_READ, 1);
        expect_abort(apply_broken);
        fault_reset();
        buf_deinit(&bytes);
        buf_deinit(&entry);
    }
}

/* A new leader requests few leases at a time, however many other jobs are due. */
static void ending_leases__are_found_behind_jobs_that_are_due(void **state)
{
    struct kit *k = *state;
    struct wall until = wall_add_ms(k->now, 2LL * JOB_LEASE_MS);
    struct job later = kit_template(kit_name(k), "{}");
    struct id out[2];
    bool more = false;
    for (unsigned i = 0; i < 20; i++) {
        later.scheduled_at = wall_add_ms(k->now, 1000 + i);
        (void)kit_enqueue_job(k, &later);
    }
    uint32_t others = machine_ending_leases(k->machine, until, out, 2, &more);
    assert_int_equal(others, 0); /* other tests have left no leases */
    assert_false(more);
    struct id one = kit_active(k, kit_name(k));
    assert_int_equal(machine_ending_leases(k->machine, until, out, 2, &more), 1);
    assert_true(id_eq(out[0], one));
    assert_false(more);
    (void)kit_active(k, kit_name(k));
    assert_int_equal(machine_ending_leases(k->machine, until, out, 2, &more), 2);
    assert_true(more);
    assert_int_equal(machine_ending_leases(k->machine, k->now, out, 2, &more), 0);
}

TEST_GROUP_FIXTURE(machine, kit_setup, kit_teardown,
                   cmocka_unit_test(ending_leases__are_found_behind_jobs_that_are_due),
                   cmocka_unit_test(entries__may_have_no_commands),
                   cmocka_unit_test(entries__see_what_earlier_commands_did),
                   cmocka_unit_test(indexes__may_have_gaps),
                   cmocka_unit_test(time__never_runs_backwards),
                   cmocka_unit_test(refusal__is_the_answer_of_one_command_only),
                   cmocka_unit_test(changed__is_told_for_every_job_that_was_touched),
                   cmocka_unit_test(line__keeps_its_order_over_a_start),
                   cmocka_unit_test(claimable__says_what_a_claim_would_find),
                   cmocka_unit_test(each_queue__names_every_queue_once),
                   cmocka_unit_test(memory__grows_with_live_jobs_and_is_known),
                   cmocka_unit_test(memory__of_a_queue_is_counted_until_it_is_deleted),
                   cmocka_unit_test(checkpoint__opens_as_the_same_state),
                   cmocka_unit_test(open__says_why_it_cannot),
                   cmocka_unit_test(open__stops_at_a_record_that_cannot_be_read),
                   cmocka_unit_test(open__refuses_a_job_that_cannot_be_read),
                   cmocka_unit_test(entry__that_cannot_be_applied_stops_the_process),
                   cmocka_unit_test(walk__that_fails_stops_the_process));
