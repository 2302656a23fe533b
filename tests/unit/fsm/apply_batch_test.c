/*
 * Batches and their callbacks (http-api.md 6.7, 7.2, 7.4).
 */
#include "base/limits.h"
#include "fsm/machine_int.h"
#include "lib/machine_kit.h"
#include "store/store_record.h"

struct group {
    struct id batch;
    struct id members[3];
    const char *queue;
    const char *callback;
};

/* Create a sealed batch of three jobs. The payload of its callback may be empty. */
static struct group make_group(struct kit *k, const char *callback_payload)
{
    struct group g = {.queue = kit_name(k), .callback = kit_name(k)};
    struct command_new news[3];
    for (unsigned i = 0; i < COUNT_OF(news); i++) {
        news[i] = (struct command_new){.job = kit_template(g.queue, "{}")};
        news[i].job.max_retries = 1;
    }
    struct command c = kit_enqueue_command(news, COUNT_OF(news));
    c.enqueue.has_batch = true;
    c.enqueue.callback_queue = str_from_z(g.callback);
    c.enqueue.callback_payload = str_from_z(callback_payload);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    g.batch = r->id;
    for (unsigned i = 0; i < COUNT_OF(news); i++) {
        g.members[i] = r->items[i].id;
    }
    return g;
}

static struct store_batch record_of(struct kit *k, struct id batch)
{
    struct store_batch rec;
    struct buf value;
    buf_init(&value, 1 << 16);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_BATCH, str_from(batch.b, ID_BYTES),
                          &value));
    struct str kept = arena_str(k->arena, buf_str(&value));
    buf_deinit(&value);
    assert_true(store_record_decode_batch(kept, &rec));
    return rec;
}

static void expect_counts(struct kit *k, struct id batch, uint64_t total, uint64_t pending,
                          uint64_t succeeded, uint64_t failed)
{
    struct store_batch rec = record_of(k, batch);
    assert_int_equal(rec.total, total);
    assert_int_equal(rec.pending, pending);
    assert_int_equal(rec.succeeded, succeeded);
    assert_int_equal(rec.failed, failed);
}

/* Number of callbacks so far. */
static uint64_t callbacks(struct kit *k, const struct group *g)
{
    struct machine_queue q;
    return machine_queue_find(k->machine, str_from_z(g->callback), &q) ? q.count[JOB_PENDING] : 0;
}

static void finish(struct kit *k, const struct group *g, unsigned member, bool well)
{
    assert_true(id_eq(kit_claim(k, g->queue), g->members[member]));
    if (well) {
        (void)kit_ack(k, g->members[member]);
    } else {
        (void)kit_fail(k, g->members[member], "x");
    }
}

static void members__know_their_batch_and_are_counted(void **state)
{
    struct kit *k = *state;
    struct group g = make_group(k, "");
    assert_true(id_eq(kit_job(k, g.members[1]).batch_id, g.batch));
    expect_counts(k, g.batch, 3, 3, 0, 0);
    assert_true(record_of(k, g.batch).sealed);
    finish(k, &g, 0, true);
    expect_counts(k, g.batch, 3, 2, 1, 0);
    finish(k, &g, 1, false);
    expect_counts(k, g.batch, 3, 1, 1, 1);
    assert_int_equal(callbacks(k, &g), 0);
    kit_reopen(k);
    kit_pass_ms(k, 4);
    finish(k, &g, 2, true);
    expect_counts(k, g.batch, 3, 0, 2, 1);
    assert_int_equal(record_of(k, g.batch).finished_at.ns, k->now.ns);
    assert_int_equal(callbacks(k, &g), 1);
}

static void callback__is_a_job_with_the_defaults(void **state)
{
    struct kit *k = *state;
    struct group g = make_group(k, "{\"x\": [1, 2]}");
    for (unsigned i = 0; i < 3; i++) {
        finish(k, &g, i, i != 2);
    }
    struct id id = kit_claim(k, g.callback);
    struct job j = kit_job(k, id);
    assert_int_equal(j.priority, JOB_PRIORITY_NORMAL);
    assert_int_equal(j.max_retries, 3);
    assert_int_equal(j.backoff, JOB_BACKOFF_EXPONENTIAL);
    assert_int_equal(j.retry_base_ms, 5000);
    assert_int_equal(j.retry_max_ms, 600000);
    assert_true(id_is_none(j.batch_id));
    expect_str(j.payload, kit_text(k,
                                   "{\"x\":[1,2],\"batch\":{\"batch_id\":\"" STR_FMT
                                   "\",\"total\":3,\"succeeded\":2,\"failed\":1}}",
                                   STR_ARG(kit_id_text(k, g.batch, ID_BATCH))));
    kit_expect_events(k, id, "enqueued started");
    /* It was created by the entry in which the last member ended. */
    assert_int_equal(j.created_at.ns, kit_job(k, g.members[2]).failed_at.ns);
}

static void callback__payload_gains_the_numbers(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *given;
        const char *format; /* %s is replaced by the numbers */
    } rows[] = {
        {"", "{\"batch\":%s}"},
        {"{}", "{\"batch\":%s}"},
        {"{\"a\":1}", "{\"a\":1,\"batch\":%s}"},
        {"{\"batch\":\"mine\"}", "{\"batch\":\"mine\"}"},
        {"[1,2]", "{\"callback_payload\":[1,2],\"batch\":%s}"},
        {"null", "{\"callback_payload\":null,\"batch\":%s}"},
        {"\"text\"", "{\"callback_payload\":\"text\",\"batch\":%s}"},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct group g = make_group(k, rows[i].given);
        char want[512];
        ROW(rows[i].given);
        for (unsigned n = 0; n < 3; n++) {
            finish(k, &g, n, true);
        }
        struct str numbers =
            kit_text(k, "{\"batch_id\":\"" STR_FMT "\",\"total\":3,\"succeeded\":3,\"failed\":0}",
                     STR_ARG(kit_id_text(k, g.batch, ID_BATCH)));
        const char *gap = strstr(rows[i].format, "%s");
        int before = gap == NULL ? (int)strlen(rows[i].format) : (int)(gap - rows[i].format);
        (void)snprintf(want, sizeof want, "%.*s%s%s", before, rows[i].format,
                       gap == NULL ? "" : numbers.ptr, gap == NULL ? "" : gap + 2);
        expect_str(kit_job(k, kit_claim(k, g.callback)).payload, str_from_z(want));
    }
}

static void failed__are_all_ends_that_are_no_success(void **state)
{
    struct kit *k = *state;
    struct group g = make_group(k, "");
    (void)kit_do(k, COMMAND_JOB_HOLD, g.members[0]);
    (void)kit_do(k, COMMAND_JOB_REJECT, g.members[0]);
    (void)kit_do(k, COMMAND_JOB_CANCEL, g.members[1]);
    expect_counts(k, g.batch, 3, 1, 0, 2);
    (void)kit_do(k, COMMAND_JOB_DELETE, g.members[2]);
    expect_counts(k, g.batch, 3, 0, 0, 3);
    assert_int_equal(callbacks(k, &g), 1);

    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{}"), .expire_after_ms = 10};
    struct command c = kit_enqueue_command(&new, 1);
    c.enqueue.has_batch = true;
    struct id batch = kit_apply(k, &c)->id;
    kit_tick(k, 11);
    expect_counts(k, batch, 1, 0, 0, 1);
}

static void member__that_ends_twice_is_counted_once(void **state)
{
    struct kit *k = *state;
    struct group g = make_group(k, "");
    finish(k, &g, 0, false);
    expect_counts(k, g.batch, 3, 2, 0, 1);
    (void)kit_do(k, COMMAND_JOB_RETRY, g.members[0]);
    (void)kit_do(k, COMMAND_JOB_CANCEL, g.members[0]);
    (void)kit_do(k, COMMAND_JOB_DELETE, g.members[0]);
    expect_counts(k, g.batch, 3, 2, 0, 1);
    finish(k, &g, 1, true);
    finish(k, &g, 2, true);
    assert_int_equal(callbacks(k, &g), 1);
    /* There is one callback per batch, whatever happens to a member later. */
    (void)kit_do(k, COMMAND_JOB_RETRY, g.members[1]);
    finish(k, &g, 1, true);
    (void)kit_do(k, COMMAND_JOB_DELETE, g.members[2]);
    assert_int_equal(callbacks(k, &g), 1);
    expect_counts(k, g.batch, 3, 0, 2, 1);
}

static void members__acked_in_one_command_are_counted_exactly(void **state)
{
    struct kit *k = *state;
    struct group g = make_group(k, "");
    struct command_ack_item items[3];
    for (unsigned i = 0; i < 3; i++) {
        (void)kit_claim(k, g.queue);
        items[i] = (struct command_ack_item){.id = g.members[i]};
    }
    struct command c = {.type = COMMAND_ACK, .ack = {.lenient = true, .items = items, .count = 3}};
    assert_int_equal(kit_apply(k, &c)->affected, 3);
    expect_counts(k, g.batch, 3, 0, 3, 0);
    assert_int_equal(callbacks(k, &g), 1);
}

static void duplicates__do_not_count(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new news[2] = {{.job = kit_template(queue, "{}")},
                                  {.job = kit_template(queue, "{}")}};
    news[0].job.unique_key = news[1].job.unique_key = STR("a");
    struct command c = kit_enqueue_command(news, 2);
    c.enqueue.has_batch = true;
    expect_counts(k, kit_apply(k, &c)->id, 1, 1, 0, 0);
}

static void batch__without_a_callback_only_groups(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command c = kit_enqueue_command(&new, 1);
    c.enqueue.has_batch = true;
    struct id batch = kit_apply(k, &c)->id;
    uint64_t before = machine_live_count(k->machine);
    (void)kit_ack(k, kit_claim(k, queue));
    assert_int_equal(machine_live_count(k->machine), before - 1);
    assert_true(record_of(k, batch).finished_at.ns != 0);
}

/* Open batches */

static struct id open_batch(struct kit *k, const char *callback)
{
    struct command c = {.type = COMMAND_BATCH_OPEN,
                        .batch_open = {.callback_queue = str_from_z(callback)}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    return r->id;
}

static struct id join(struct kit *k, const char *queue, struct id batch)
{
    struct job t = kit_template(queue, "{}");
    t.batch_id = batch;
    return kit_enqueue_job(k, &t);
}

static void seal(struct kit *k, struct id batch)
{
    struct command c = {.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = batch}};
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static void open__batch_finishes_when_it_is_sealed_and_empty(void **state)
{
    struct kit *k = *state;
    struct group g = {.queue = kit_name(k), .callback = kit_name(k)};
    g.batch = open_batch(k, g.callback);
    g.members[0] = join(k, g.queue, g.batch);
    finish(k, &g, 0, true);
    expect_counts(k, g.batch, 1, 0, 1, 0);
    assert_int_equal(callbacks(k, &g), 0); /* other jobs may still join */
    kit_reopen(k);
    g.members[1] = join(k, g.queue, g.batch);
    seal(k, g.batch);
    assert_true(record_of(k, g.batch).sealed);
    assert_int_equal(callbacks(k, &g), 0);
    finish(k, &g, 1, true);
    assert_int_equal(callbacks(k, &g), 1);
    seal(k, g.batch); /* sealing a finished batch again has no effect */
    assert_int_equal(callbacks(k, &g), 1);
}

static void seal__of_an_empty_batch_finishes_it(void **state)
{
    struct kit *k = *state;
    struct group g = {.callback = kit_name(k)};
    g.batch = open_batch(k, g.callback);
    seal(k, g.batch);
    assert_int_equal(callbacks(k, &g), 1);
    expect_counts(k, g.batch, 0, 0, 0, 0);
}

/* A seal returns the job of the callback, if there is one. */
static void seal__says_which_job_tells_of_the_end(void **state)
{
    struct kit *k = *state;
    struct group g = {.queue = kit_name(k), .callback = kit_name(k)};
    g.batch = open_batch(k, g.callback);
    struct command c = {.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = g.batch}};
    struct id made = kit_apply(k, &c)->id;
    assert_false(id_is_none(made));
    assert_true(id_eq(kit_claim(k, g.callback), made));
    for (unsigned pass = 0; pass < 2; pass++) {
        uint64_t digest = kit_digest(k);
        assert_true(id_eq(kit_apply(k, &c)->id, made)); /* repeated: the answer was lost */
        assert_int_equal(kit_digest(k), digest);
        kit_reopen(k);
    }
    g.batch = open_batch(k, g.callback);
    g.members[0] = join(k, g.queue, g.batch);
    c.batch_seal.id = g.batch;
    assert_true(id_is_none(kit_apply(k, &c)->id)); /* the batch has not ended */
    assert_true(id_is_none(kit_apply(k, &c)->id));
    (void)kit_ack(k, kit_claim(k, g.queue));
    made = kit_claim(k, g.callback);
    assert_true(id_eq(kit_apply(k, &c)->id, made));
    assert_true(id_eq(record_of(k, g.batch).callback_job, made));
    g.batch = open_batch(k, "");
    c.batch_seal.id = g.batch;
    assert_true(id_is_none(kit_apply(k, &c)->id)); /* the seal returns no job */
}

static void seal__twice_in_an_entry_is_told_twice(void **state)
{
    struct kit *k = *state;
    const char *callback = kit_name(k);
    struct command c = {.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = open_batch(k, callback)}};
    struct command both[] = {c, c};
    const struct result *r = kit_apply_all(k, both, 2);
    struct id made = r[0].id;
    assert_true(id_eq(r[1].id, made));
    assert_true(id_eq(kit_claim(k, callback), made));
}

/* The result of a named command is stored before the job of the callback is created. */
static void seal__with_a_name_is_told_again(void **state)
{
    static const struct id name = {.b = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    struct kit *k = *state;
    const char *callback = kit_name(k);
    struct command c = {.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = open_batch(k, callback)}};
    uint64_t since = k->index;
    struct id made = kit_apply_named(k, &c, name, since)->id;
    assert_true(id_eq(kit_claim(k, callback), made));
    for (unsigned pass = 0; pass < 2; pass++) {
        assert_true(id_eq(kit_apply_named(k, &c, name, since)->id, made));
        kit_reopen(k);
    }
    kit_expect_count(k, callback, JOB_ACTIVE, 1);
}

/* Entries of earlier versions did not store this id, so that all nodes write the same bytes. */
static void seal__of_an_old_entry_is_not_told_again(void **state)
{
    struct kit *k = *state;
    uint8_t present = k->entry_version;
    struct command c = {.type = COMMAND_BATCH_SEAL,
                        .batch_seal = {.id = open_batch(k, kit_name(k))}};
    k->entry_version = COMMAND_ENTRY_PUT;
    assert_false(id_is_none(kit_apply(k, &c)->id));
    assert_true(id_is_none(kit_apply(k, &c)->id));
    k->entry_version = present;
    assert_true(id_is_none(kit_apply(k, &c)->id));
    assert_true(id_is_none(record_of(k, c.batch_seal.id).callback_job));
}

static void seal__of_an_unknown_batch_is_not_found(void **state)
{
    struct kit *k = *state;
    struct id unknown = id_make(k->now, 7777777, 9);
    struct command c = {.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = unknown}};
    struct str text = kit_id_text(k, unknown, ID_BATCH);
    kit_refuses(k, &c, ERR_NOT_FOUND,
                kit_text(k, "batch \"" STR_FMT "\" not found", STR_ARG(text)).ptr, unknown);
}

/* A batch without a callback queue has an owner until it is removed. Batches of earlier command
 * versions have none. */
static void owner__stays_with_the_batch(void **state)
{
    struct kit *k = *state;
    struct store_owner acme = {.known = true, .ns = STR("acme"), .scope = STR("a.*")};
    struct command_new new = {.job = kit_template(kit_name(k), "{}")};
    struct command open = {.type = COMMAND_BATCH_OPEN, .batch_open.owner = acme};
    struct command group = kit_enqueue_command(&new, 1);
    group.enqueue.has_batch = true;
    group.enqueue.owner = acme;
    struct id ids[] = {kit_apply(k, &open)->id, kit_apply(k, &group)->id};
    open.version = 1;
    group.version = 2;
    struct id old[] = {kit_apply(k, &open)->id, kit_apply(k, &group)->id};
    kit_reopen(k);
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        struct command seal = {.type = COMMAND_BATCH_SEAL, .batch_seal.id = ids[i]};
        assert_int_equal(kit_apply(k, &seal)->code, ERR_OK);
        struct store_batch rec = record_of(k, ids[i]);
        assert_true(rec.owner.known);
        expect_str(rec.owner.ns, STR("acme"));
        expect_str(rec.owner.scope, STR("a.*"));
        assert_false(record_of(k, old[i]).owner.known);
    }
}

static struct command open_of(const char *ns)
{
    return (struct command){
        .type = COMMAND_BATCH_OPEN,
        .batch_open.owner = {.known = true, .ns = str_from_z(ns)},
    };
}

static void open__has_a_limit_for_a_namespace(void **state)
{
    enum { AT_ONCE = 1000, MOST = LIMIT_BATCHES_OPEN / 2 };
    static struct command many[AT_ONCE];
    struct kit *k = NULL;
    struct command c = open_of("acme");
    struct command other = open_of("other");
    struct command queued = {.type = COMMAND_BATCH_OPEN,
                             .batch_open.callback_queue = STR("acme::done")};
    const char *message = "namespace \"acme\" may have 50000 open batches, has 50000, and the "
                          "request needs 1 more; seal some of them first";
    (void)state;
    assert_int_equal(kit_setup((void **)&k), 0);
    for (unsigned i = 0; i < AT_ONCE; i++) {
        many[i] = i % 2 == 0 ? c : queued; /* the queue also determines the owner */
    }
    struct id last = ID_NONE;
    for (unsigned i = 0; i < MOST; i += AT_ONCE) {
        const struct result *r = kit_apply_all(k, many, AT_ONCE);
        last = r[AT_ONCE - 1].id;
        assert_int_equal(r[AT_ONCE - 1].code, ERR_OK);
    }
    kit_refuses(k, &c, ERR_QUOTA, message, ID_NONE);
    kit_reopen(k);
    kit_refuses(k, &queued, ERR_QUOTA, message, ID_NONE);
    assert_int_equal(kit_apply(k, &other)->code, ERR_OK);
    /* Sealing a batch makes room, but only once. A batch that is created sealed needs no room. */
    struct command seal = {.type = COMMAND_BATCH_SEAL, .batch_seal.id = last};
    assert_int_equal(kit_apply(k, &seal)->code, ERR_OK);
    assert_int_equal(kit_apply(k, &seal)->code, ERR_OK);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_int_equal(kit_apply(k, &c)->code, ERR_QUOTA);
    struct command_new new = {.job = kit_template("acme::q", "{}")};
    struct command group = kit_enqueue_command(&new, 1);
    group.enqueue.has_batch = true;
    group.enqueue.owner = c.batch_open.owner;
    assert_int_equal(kit_apply(k, &group)->code, ERR_OK);
    k->entry_version = COMMAND_ENTRY_PUT; /* earlier versions had no limit */
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_int_equal(kit_teardown((void **)&k), 0);
}

/* The limits are tested without actual payloads, which would need as much memory. */
static void callbacks__have_a_limit_in_bytes(void **state)
{
    struct kit *k = NULL;
    struct command c = open_of("acme");
    struct command_new new = {.job = kit_template("acme::q", "{}")};
    struct command group = kit_enqueue_command(&new, 1);
    (void)state;
    assert_int_equal(kit_setup((void **)&k), 0);
    struct shares *bytes = &k->machine->batch_shares;
    struct shares *open = &k->machine->open_batch_shares;
    c.batch_open.callback_payload = STR("\"12345678\"");
    group.enqueue.has_batch = true;
    group.enqueue.callback_queue = STR("acme::done");
    shares__take(bytes, STR("acme"), LIMIT_BATCH_BYTES / 2 - 10);
    kit_refuses(k, &c, ERR_QUOTA,
                "namespace \"acme\" may have 134217728 bytes of callbacks of batches that have not "
                "ended, has 134217718, and the request needs 14 more; try again when some batches "
                "have ended",
                ID_NONE);
    assert_int_equal(kit_apply(k, &group)->code, ERR_OK); /* it fits exactly */
    assert_int_equal(kit_apply(k, &group)->code, ERR_QUOTA);
    kit_expect_count(k, "acme::q", JOB_PENDING, 1);
    /* The end of the last member releases the bytes. */
    (void)kit_ack(k, kit_claim(k, "acme::q"));
    assert_int_equal(bytes->used, LIMIT_BATCH_BYTES / 2 - 10);
    shares__give_back(bytes, STR("acme"), LIMIT_BATCH_BYTES / 2 - 10);
    shares__take(open, STR("others"), LIMIT_BATCHES_OPEN);
    kit_refuses(
        k, &c, ERR_QUOTA,
        "the server may have 100000 open batches, has 100000, and the request needs 1 more; "
        "seal some of them first",
        ID_NONE);
    shares__give_back(open, STR("others"), LIMIT_BATCHES_OPEN);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    kit_forget(k); /* the simulated usage is not in the log */
    assert_int_equal(kit_teardown((void **)&k), 0);
}

TEST_GROUP_FIXTURE(apply_batch, kit_setup, kit_teardown,
                   cmocka_unit_test(members__know_their_batch_and_are_counted),
                   cmocka_unit_test(callback__is_a_job_with_the_defaults),
                   cmocka_unit_test(callback__payload_gains_the_numbers),
                   cmocka_unit_test(failed__are_all_ends_that_are_no_success),
                   cmocka_unit_test(member__that_ends_twice_is_counted_once),
                   cmocka_unit_test(members__acked_in_one_command_are_counted_exactly),
                   cmocka_unit_test(duplicates__do_not_count),
                   cmocka_unit_test(batch__without_a_callback_only_groups),
                   cmocka_unit_test(open__batch_finishes_when_it_is_sealed_and_empty),
                   cmocka_unit_test(seal__of_an_empty_batch_finishes_it),
                   cmocka_unit_test(seal__says_which_job_tells_of_the_end),
                   cmocka_unit_test(seal__twice_in_an_entry_is_told_twice),
                   cmocka_unit_test(seal__with_a_name_is_told_again),
                   cmocka_unit_test(seal__of_an_old_entry_is_not_told_again),
                   cmocka_unit_test(seal__of_an_unknown_batch_is_not_found),
                   cmocka_unit_test(owner__stays_with_the_batch),
                   cmocka_unit_test(open__has_a_limit_for_a_namespace),
                   cmocka_unit_test(callbacks__have_a_limit_in_bytes));
