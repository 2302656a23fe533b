/*
 * Data that earlier versions have stored still decodes to the same values. Where the format version
 * is still current, the same bytes are written today. tests/lib/golden.h describes how to add
 * files.
 */
#include "base/unpack.h"
#include "lib/golden.h"
#include "store/store_event.h"
#include "store/store_history.h"
#include "store/store_job.h"
#include "store/store_record.h"
#include "store/store_rows.h"
#include "store/store_tally.h"
#include "unit/store/store_fixture.h"

static void expect_document(const char *name, const struct job *want)
{
    struct buf present;
    struct buf file;
    struct job got;
    struct err err;
    buf_init(&present, 1 << 16);
    store_job_encode(want, &present);
    golden_read_present(name, &present, &file);
    assert_int_equal(store_job_decode(want->id, buf_str(&file), &got, &err), ERR_OK);
    samples_same_job(&got, want);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void documents__decode(void **state)
{
    (void)state;
    struct job full = samples_job_full();
    struct job minimal = samples_job_minimal();
    expect_document("document-full-1.bin", &full);
    expect_document("document-minimal-1.bin", &minimal);
    /* Added: how and when a worker has ended its claim. */
    full.ended = JOB_ENDED_FAIL;
    full.fail_ended_at.ns = 1700000000123456789;
    expect_document("document-ended-1.bin", &full);
    /* Added: the time at which a job came into line. */
    full.ready_at.ns = 1700000000223456789;
    expect_document("document-ready-2.bin", &full);
    /* Added: the cost of a job. */
    full.usage_summed = 3;
    full.usage_nusd = 1234567890123;
    expect_document("document-summed-2.bin", &full);
    /* Added when operators could bring jobs into a queue while it is cleared. */
    full.joined = samples_id(77);
    expect_document("document-joined-2.bin", &full);
    /* Added when a clear began to leave the jobs that wait again. */
    full.waits_since = samples_id(78);
    expect_document("document-waits-2.bin", &full);
    /* Added: jobs that the server delivers. */
    struct job push = samples_job_push();
    expect_document("document-push-2.bin", &push);
}

/* Head and body in two files, and joined to one document. */
static void document_in_two_parts__decodes(void **state)
{
    (void)state;
    struct job want = samples_job_full();
    struct job got;
    struct err err;
    struct buf head, body, head_file, body_file;
    want.ready_at.ns = 1700000000223456789;
    buf_init(&head, 1 << 16);
    buf_init(&body, 1 << 16);
    store_job_encode_body(&want, 77, &body);
    struct store_job_body known = {
        .version = 77, .bytes = (uint32_t)body.len, .payload_bytes = (uint32_t)want.payload.len};
    store_job_encode_head(&want, &known, &head);
    golden_read_present("document-head-3.bin", &head, &head_file);
    golden_read_present("document-body-1.bin", &body, &body_file);
    assert_int_equal(
        store_job_decode_parts(want.id, buf_str(&head_file), buf_str(&body_file), &got, &err),
        ERR_OK);
    samples_same_job(&got, &want);
    buf_add_str(&head_file, buf_str(&body_file));
    assert_int_equal(store_job_decode(want.id, buf_str(&head_file), &got, &err), ERR_OK);
    samples_same_job(&got, &want);
    buf_deinit(&head);
    buf_deinit(&body);
    buf_deinit(&head_file);
    buf_deinit(&body_file);
}

/* Define the test of a small record: its file, its encoder and decoder, and its sample. */
#define GOLDEN(thing, module, file_name)                                                           \
    static void thing##__decodes(void **state)                                                     \
    {                                                                                              \
        (void)state;                                                                               \
        struct store_##thing want = samples_##thing();                                             \
        struct store_##thing got;                                                                  \
        struct buf present;                                                                        \
        struct buf file;                                                                           \
        buf_init(&present, 1 << 16);                                                               \
        module##_encode_##thing(&want, &present);                                                  \
        golden_read_present(file_name, &present, &file);                                           \
        assert_true(module##_decode_##thing(buf_str(&file), &got));                                \
        samples_same_##thing(&got, &want);                                                         \
        buf_deinit(&present);                                                                      \
        buf_deinit(&file);                                                                         \
    }
GOLDEN(queue, store_record, "record-queue-1.bin")
GOLDEN(lock, store_record, "record-lock-1.bin")
GOLDEN(batch, store_record, "record-batch-1.bin")
GOLDEN(schedule, store_record, "record-schedule-1.bin")
GOLDEN(worker, store_record, "record-worker-1.bin")
GOLDEN(webhook, store_record, "record-webhook-1.bin")
GOLDEN(policy, store_record, "record-policy-1.bin")
GOLDEN(bulk, store_record, "record-bulk-1.bin")
GOLDEN(error, store_rows, "row-error-1.bin")
GOLDEN(usage, store_rows, "row-usage-1.bin")
GOLDEN(iteration, store_rows, "row-iteration-1.bin")
GOLDEN(try, store_rows, "row-try-1.bin")
#undef GOLDEN

/* The meaning of a policy of the default namespace depends on the version of its record. */
static void policy__of_the_default_namespace_decodes(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 2; version++) {
        struct store_policy want = samples_policy();
        struct store_policy got;
        struct buf present;
        struct buf file;
        want.ns = STR_EMPTY;
        want.all_namespaces = version == 1;
        buf_init(&present, 1 << 16);
        store_record_encode_policy(&want, &present);
        golden_read_present(version == 1 ? "record-policy-all-1.bin" : "record-policy-2.bin",
                            &present, &file);
        assert_int_equal(file.ptr[0], version);
        assert_true(store_record_decode_policy(buf_str(&file), &got));
        samples_same_policy(&got, &want);
        buf_deinit(&present);
        buf_deinit(&file);
    }
}

/* The members that were added with jobs that the server delivers are only in version 2. */
static void queue_with_names__decodes(void **state)
{
    (void)state;
    struct store_queue want = samples_queue();
    struct store_queue got;
    struct buf present;
    struct buf file;
    want.timed_out = 3;
    want.last_ended_at.ns = 1700000000123456789;
    want.lost_total = 9;
    want.recurring = 4;
    buf_init(&present, 1 << 16);
    store_record_encode_queue(&want, &present);
    golden_read_present("record-queue-2.bin", &present, &file);
    assert_true(store_record_decode_queue(buf_str(&file), &got));
    samples_same_queue(&got, &want);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void queue_with_removal__decodes(void **state)
{
    (void)state;
    struct store_queue want = samples_queue();
    struct store_queue got;
    struct buf present;
    struct buf file;
    want.recurring = 4;
    want.removal = samples_id(78);
    buf_init(&present, 1 << 16);
    store_record_encode_queue(&want, &present);
    golden_read_present("record-queue-3.bin", &present, &file);
    assert_true(store_record_decode_queue(buf_str(&file), &got));
    samples_same_queue(&got, &want);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void schedule_with_push__decodes(void **state)
{
    (void)state;
    struct store_schedule want = samples_schedule();
    struct store_schedule got;
    struct buf present;
    struct buf file;
    want.push = STR("{\"url\":\"https://example.com/\"}");
    buf_init(&present, 1 << 16);
    store_record_encode_schedule(&want, &present);
    golden_read_present("record-schedule-2.bin", &present, &file);
    assert_true(store_record_decode_schedule(buf_str(&file), &got));
    samples_same_schedule(&got, &want);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void bulk_with_parts__decodes(void **state)
{
    (void)state;
    struct store_bulk want = samples_bulk();
    struct store_bulk got;
    struct buf present;
    struct buf file;
    want.parts = 60;
    buf_init(&present, 1 << 16);
    store_record_encode_bulk(&want, &present);
    golden_read_present("record-bulk-2.bin", &present, &file);
    assert_true(store_record_decode_bulk(buf_str(&file), &got));
    samples_same_bulk(&got, &want);
    assert_int_equal(store_bulk_next_list(&got), 3);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void bulk_with_a_scope__decodes(void **state)
{
    (void)state;
    struct store_bulk want = samples_bulk();
    struct store_bulk got;
    struct buf present;
    struct buf file;
    want.scope = STR("mail.*, news");
    buf_init(&present, 1 << 16);
    store_record_encode_bulk(&want, &present);
    golden_read_present("record-bulk-4.bin", &present, &file);
    assert_true(store_record_decode_bulk(buf_str(&file), &got));
    samples_same_bulk(&got, &want);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void batch_with_an_owner__decodes(void **state)
{
    (void)state;
    struct store_batch want = samples_batch();
    struct store_batch got;
    struct buf present;
    struct buf file;
    want.callback_queue = STR_EMPTY;
    want.owner = samples_owner();
    buf_init(&present, 1 << 16);
    store_record_encode_batch(&want, &present);
    golden_read_present("record-batch-2.bin", &present, &file);
    assert_true(store_record_decode_batch(buf_str(&file), &got));
    samples_same_batch(&got, &want);
    /* A version 1 record with an owner is refused. */
    file.ptr[0] = 1;
    assert_false(store_record_decode_batch(buf_str(&file), &got));
    buf_deinit(&present);
    buf_deinit(&file);
}

static void bulk_with_a_fit__decodes(void **state)
{
    (void)state;
    struct store_bulk want = samples_bulk();
    struct store_bulk got;
    struct buf present;
    struct buf file;
    want.fit = (struct job_fit){.states = 1U << JOB_DEAD | 1U << JOB_CANCELLED,
                                .priorities = 1U << JOB_PRIORITY_HIGH,
                                .queue = STR("acme::mail.out")};
    buf_init(&present, 1 << 16);
    store_record_encode_bulk(&want, &present);
    golden_read_present("record-bulk-5.bin", &present, &file);
    assert_true(store_record_decode_bulk(buf_str(&file), &got));
    samples_same_bulk(&got, &want);
    /* The same, of a caller with a scope. */
    want.scope = STR("mail.*, news");
    want.parts = 60;
    buf_clear(&present);
    store_record_encode_bulk(&want, &present);
    assert_true(store_record_decode_bulk(buf_str(&present), &got));
    samples_same_bulk(&got, &want);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void batch_with_its_callback__decodes(void **state)
{
    (void)state;
    struct store_batch want = samples_batch();
    struct buf present;
    want.callback_job = samples_id(61);
    for (unsigned pass = 0; pass < 2; pass++) {
        struct store_batch got;
        struct buf file;
        buf_init(&present, 1 << 16);
        store_record_encode_batch(&want, &present);
        golden_read_present(pass == 0 ? "record-batch-3.bin" : "record-batch-owned-3.bin", &present,
                            &file);
        assert_true(store_record_decode_batch(buf_str(&file), &got));
        samples_same_batch(&got, &want);
        memset(file.ptr + file.len - ID_BYTES, 0, ID_BYTES); /* the version requires one */
        assert_false(store_record_decode_batch(buf_str(&file), &got));
        buf_deinit(&present);
        buf_deinit(&file);
        want.owner = samples_owner();
    }
}

static void webhook_with_a_scope__decodes(void **state)
{
    (void)state;
    struct store_webhook want = samples_webhook();
    struct store_webhook got;
    struct buf present;
    struct buf file;
    want.scope = STR("mail.*, news");
    buf_init(&present, 1 << 16);
    store_record_encode_webhook(&want, &present);
    golden_read_present("record-webhook-2.bin", &present, &file);
    assert_true(store_record_decode_webhook(buf_str(&file), &got));
    samples_same_webhook(&got, &want);
    /* A version 1 record with a scope is refused. */
    file.ptr[0] = 1;
    assert_false(store_record_decode_webhook(buf_str(&file), &got));
    buf_deinit(&present);
    buf_deinit(&file);
}

static void worker_with_a_version__decodes(void **state)
{
    (void)state;
    struct store_worker want = samples_worker();
    struct store_worker got;
    struct buf present;
    struct buf file;
    want.version = STR("1.4.2");
    buf_init(&present, 1 << 16);
    store_record_encode_worker(&want, &present);
    golden_read_present("record-worker-2.bin", &present, &file);
    assert_true(store_record_decode_worker(buf_str(&file), &got));
    samples_same_worker(&got, &want);
    file.ptr[0] = 1; /* in version 1 there is none */
    assert_false(store_record_decode_worker(buf_str(&file), &got));
    buf_deinit(&present);
    buf_deinit(&file);
}

static void error_with_a_version__decodes(void **state)
{
    (void)state;
    struct store_error want = samples_error();
    struct store_error got;
    struct buf present;
    struct buf file;
    want.version = STR("1.4.2");
    buf_init(&present, 1 << 16);
    store_rows_encode_error(&want, &present);
    golden_read_present("row-error-2.bin", &present, &file);
    assert_true(store_rows_decode_error(buf_str(&file), &got));
    samples_same_error(&got, &want);
    file.ptr[0] = 1;
    assert_false(store_rows_decode_error(buf_str(&file), &got));
    buf_deinit(&present);
    buf_deinit(&file);
}

static void history_cell__decodes(void **state)
{
    (void)state;
    struct store_history want = {.depth = 3, .depth_max = 7, .workers = 2};
    struct store_history got;
    struct buf present;
    struct buf file;
    want.count[STORE_HISTORY_COMPLETED] = 300;
    want.oldest_at_ms = 1700000000123;
    want.oldest_max_ms = 4500;
    store_history_time_add(&want.wait, 250);
    store_history_time_add(&want.run, 3);
    buf_init(&present, 1 << 16);
    store_history_encode(&want, true, &present);
    golden_read_present("record-history-2.bin", &present, &file);
    assert_true(store_history_decode(buf_str(&file), &got));
    assert_memory_equal(&got, &want, sizeof got);
    buf_deinit(&file);
    buf_clear(&present);
    want.oldest_at_ms = want.oldest_max_ms = 0;
    store_history_encode(&want, false, &present);
    golden_read_present("record-history-1.bin", &present, &file);
    assert_true(store_history_decode(buf_str(&file), &got));
    assert_memory_equal(&got, &want, sizeof got);
    buf_deinit(&present);
    buf_deinit(&file);
}

static void tally__decodes(void **state)
{
    (void)state;
    const struct store_tally want = {.input = 1500,
                                     .output = 300,
                                     .cache_creation = 7,
                                     .cache_read = INT64_MAX,
                                     .cost_nusd = 250000000,
                                     .reports = 3};
    const struct store_tally_name name = {STR("space::mail"), STR("model"), STR("provider")};
    struct store_tally got;
    struct store_tally_name got_name;
    enum store_tally_series series;
    uint32_t number;
    struct buf present;
    struct buf file;
    buf_init(&present, 1 << 16);
    store_tally_encode(&want, &present);
    golden_read_present("record-tally-1.bin", &present, &file);
    assert_true(store_tally_decode(buf_str(&file), &got));
    assert_memory_equal(&got, &want, sizeof got);
    assert_false(store_tally_decode(str_from(file.ptr, file.len - 1), &got));
    buf_deinit(&file);
    buf_clear(&present);
    store_tally_key(STORE_TALLY_TAG_HOURS, 472222, &name, &present);
    golden_read_present("record-tally-key-1.bin", &present, &file);
    assert_true(store_tally_decode_key(buf_str(&file), &series, &number, &got_name));
    assert_int_equal(series, STORE_TALLY_TAG_HOURS);
    assert_int_equal(number, 472222);
    assert_true(str_eq(got_name.queue, name.queue) && str_eq(got_name.first, name.first) &&
                str_eq(got_name.second, name.second));
    file.ptr[0] = 'x';
    assert_false(store_tally_decode_key(buf_str(&file), &series, &number, &got_name));
    buf_deinit(&present);
    buf_deinit(&file);
}

static void tally_start__decodes(void **state)
{
    (void)state;
    struct store_tally_start got;
    struct buf present;
    struct buf file;
    buf_init(&present, 64);
    store_tally_encode_start(&(struct store_tally_start){true, {.ns = 1700000000123456789}, 77},
                             &present);
    golden_read_present("record-tally-start-1.bin", &present, &file);
    assert_true(store_tally_decode_start(STR("s"), buf_str(&file), &got));
    assert_true(got.known && got.at.ns == 1700000000123456789 && got.row == 77);
    assert_false(store_tally_decode_start(STR("t"), buf_str(&file), &got));
    file.ptr[0] = 2;
    assert_false(store_tally_decode_start(STR("s"), buf_str(&file), &got));
    buf_deinit(&present);
    buf_deinit(&file);
}

static void bulk_of_a_queue__decodes(void **state)
{
    (void)state;
    struct store_bulk want = samples_bulk();
    struct store_bulk got;
    struct buf present;
    struct buf file;
    want.action = STORE_BULK_DELETE_QUEUE;
    want.until = samples_id(68);
    want.in_done = true;
    buf_init(&present, 1 << 16);
    store_record_encode_bulk(&want, &present);
    golden_read_present("record-bulk-3.bin", &present, &file);
    assert_true(store_record_decode_bulk(buf_str(&file), &got));
    samples_same_bulk(&got, &want);
    /* A version 1 record with this action is refused. */
    file.ptr[0] = 1;
    assert_false(store_record_decode_bulk(buf_str(&file), &got));
    buf_deinit(&present);
    buf_deinit(&file);
}

struct walk {
    unsigned next;
    struct wall at;
};

static bool expect_sample(void *data, const struct store_event *e)
{
    struct walk *w = data;
    struct store_event want = samples_event(w->next++, 500, w->at);
    samples_same_event(e, &want);
    return true;
}

static void expect_events(const char *name, unsigned count)
{
    struct walk w = {.at = {.ns = 1700000001 * NS_PER_S}};
    struct store_event_block block;
    struct buf present;
    struct buf file;
    buf_init(&present, 1 << 16);
    store_event_block_init(&block);
    for (unsigned i = 0; i < count; i++) {
        struct store_event e = samples_event(i, 500, w.at);
        store_event_add(&block, &e);
    }
    store_event_encode(&block, w.at, &present);
    store_event_block_deinit(&block);
    golden_read_present(name, &present, &file);
    assert_true(store_event_each(500, buf_str(&file), expect_sample, &w));
    assert_int_equal(w.next, count);
    buf_deinit(&present);
    buf_deinit(&file);
}

/* Types were added. A block of the older types has the same bytes. */
static void events__decode(void **state)
{
    (void)state;
    expect_events("events-1.bin", STORE_EVENT_QUEUE_DELETED);
    expect_events("events-2.bin", SAMPLES_EVENTS);
}

/* The machine's record has no functions to encode and decode it, so it is tested by opening a
 * store. Its state hash depends on the writes of the entry, so the hash of the file is expected. */
static void machine_record__decodes(void **state)
{
    struct store_fixture *f = *state;
    enum { AT_STATE_HASH = 57 };
    const struct store_meta want = {.applied_index = 101,
                                    .now = {.ns = 102},
                                    .next_order = 103,
                                    .lease_token = 104,
                                    .next_event = 105,
                                    .oldest_event = 106,
                                    .next_row = 107,
                                    .purge_cursor = samples_id(9)};
    struct buf present;
    struct buf file;
    struct err err;
    buf_init(&present, 1 << 16);
    f->store.meta = want;
    store_commit(&f->store);
    assert_true(store_get(&f->store, STORE_KIND_MACHINE, STR_EMPTY, &present));
    golden_read("record-machine-1.bin", buf_str(&present), &file);

    store_put(&f->store, STORE_KIND_MACHINE, STR_EMPTY, buf_str(&file));
    assert_int_equal(kv_commit(f->store.kv, f->store.batch, &err), ERR_OK);
    store_fixture_reopen(f);
    assert_int_equal(f->store.meta.applied_index, want.applied_index);
    assert_int_equal(f->store.meta.now.ns, want.now.ns);
    assert_int_equal(f->store.meta.next_order, want.next_order);
    assert_int_equal(f->store.meta.lease_token, want.lease_token);
    assert_int_equal(f->store.meta.next_event, want.next_event);
    assert_int_equal(f->store.meta.oldest_event, want.oldest_event);
    assert_int_equal(f->store.meta.next_row, want.next_row);
    struct unpack hash = unpack_from(str_from_offset(buf_str(&file), AT_STATE_HASH));
    assert_int_equal(f->store.meta.state_hash, unpack_u64(&hash));
    assert_true(id_eq(f->store.meta.purge_cursor, want.purge_cursor));
    buf_deinit(&present);
    buf_deinit(&file);
}

TEST_GROUP(store_golden, cmocka_unit_test(documents__decode),
           cmocka_unit_test(document_in_two_parts__decodes), cmocka_unit_test(queue__decodes),
           cmocka_unit_test(lock__decodes), cmocka_unit_test(batch__decodes),
           cmocka_unit_test(schedule__decodes), cmocka_unit_test(worker__decodes),
           cmocka_unit_test(bulk__decodes), cmocka_unit_test(bulk_with_parts__decodes),
           cmocka_unit_test(bulk_of_a_queue__decodes), cmocka_unit_test(bulk_with_a_scope__decodes),
           cmocka_unit_test(batch_with_an_owner__decodes),
           cmocka_unit_test(batch_with_its_callback__decodes),
           cmocka_unit_test(bulk_with_a_fit__decodes),
           cmocka_unit_test(webhook_with_a_scope__decodes), cmocka_unit_test(webhook__decodes),
           cmocka_unit_test(worker_with_a_version__decodes),
           cmocka_unit_test(error_with_a_version__decodes), cmocka_unit_test(history_cell__decodes),
           cmocka_unit_test(tally__decodes), cmocka_unit_test(tally_start__decodes),
           cmocka_unit_test(policy__decodes),
           cmocka_unit_test(policy__of_the_default_namespace_decodes),
           cmocka_unit_test(error__decodes), cmocka_unit_test(usage__decodes),
           cmocka_unit_test(iteration__decodes), cmocka_unit_test(try__decodes),
           cmocka_unit_test(queue_with_names__decodes),
           cmocka_unit_test(queue_with_removal__decodes),
           cmocka_unit_test(schedule_with_push__decodes), cmocka_unit_test(events__decode),
           STORE_TEST(machine_record__decodes));
