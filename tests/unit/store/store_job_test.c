#include "store/store_job.h"

#include <string.h>

#include "lib/exact.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/samples.h"
#include "lib/test.h"

/* Offsets in a document, as in docs/formats/documents.md. */
enum {
    AT_VERSION = 0,
    AT_STATE = 1,
    AT_BACKOFF = 3,
    AT_FLAGS = 4,
    AT_MASK = 5,
    HEAD_BYTES = 89, /* up to the queue's name */
};

static void encode(const struct job *j, struct buf *out)
{
    buf_init(out, 1 << 20);
    store_job_encode(j, out);
    assert_false(out->overflow);
}

static void expect_round_trip(const struct job *j)
{
    struct buf doc;
    struct buf again;
    struct job back;
    struct err err;
    encode(j, &doc);
    assert_int_equal(store_job_decode(j->id, buf_str(&doc), &back, &err), ERR_OK);
    samples_same_job(&back, j);
    encode(&back, &again);
    assert_true(str_eq(buf_str(&again), buf_str(&doc)));
    buf_deinit(&doc);
    buf_deinit(&again);
}

static void expect_corrupt(struct str doc)
{
    struct job j;
    struct err err = {0};
    assert_int_equal(store_job_decode(ID_NONE, doc, &j, &err), ERR_CORRUPT);
    assert_true(err.msg[0] != '\0');
}

static void document__keeps_every_member(void **state)
{
    (void)state;
    struct job full = samples_job_full();
    struct job minimal = samples_job_minimal();
    struct job empty = {0};
    expect_round_trip(&full);
    expect_round_trip(&minimal);
    expect_round_trip(&empty);
}

/* One member at a time, so that none depends on another. */
static void document__keeps_each_member_alone(void **state)
{
    (void)state;
    const struct job full = samples_job_full();
    static const struct {
        const char *name;
        size_t offset, size;
    } rows[] = {
#define MEMBER(name) {#name, offsetof(struct job, name), sizeof(((struct job *)0)->name)}
        MEMBER(started_at),      MEMBER(completed_at),    MEMBER(failed_at),
        MEMBER(cancelled_at),    MEMBER(waits_for),       MEMBER(agent),
        MEMBER(unique_period_s), MEMBER(unique_key),      MEMBER(batch_id),
        MEMBER(worker_id),       MEMBER(hostname),        MEMBER(tags),
        MEMBER(progress),        MEMBER(checkpoint),      MEMBER(result),
        MEMBER(parent_id),       MEMBER(chain_id),        MEMBER(chain_step),
        MEMBER(chain_config),    MEMBER(hold_reason),     MEMBER(schedule_id),
        MEMBER(error_count),     MEMBER(iteration_count), MEMBER(usage_count),
        MEMBER(is_agent),        MEMBER(batch_counted),   MEMBER(has_chain_step),
        MEMBER(scheduled_at),    MEMBER(expire_at),       MEMBER(lease_expires_at),
#undef MEMBER
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct job j = samples_job_minimal();
        ROW(rows[i].name);
        memcpy((char *)&j + rows[i].offset, (const char *)&full + rows[i].offset, rows[i].size);
        expect_round_trip(&j);
    }
}

static void document__keeps_every_state_and_backoff(void **state)
{
    (void)state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        for (unsigned b = JOB_BACKOFF_NONE; b <= JOB_BACKOFF_EXPONENTIAL; b++) {
            struct job j = samples_job_minimal();
            j.state = (enum job_state)s;
            j.backoff = (enum job_backoff)b;
            j.priority = (uint8_t)(200 + b);
            expect_round_trip(&j);
        }
    }
}

static void document__keeps_numbers_at_their_ends(void **state)
{
    (void)state;
    struct job j = samples_job_full();
    j.attempt = j.max_retries = j.error_count = UINT32_MAX;
    j.order = j.lease_token = j.version = UINT64_MAX;
    j.retry_base_ms = j.retry_max_ms = INT64_MAX;
    j.created_at.ns = j.scheduled_at.ns = INT64_MIN;
    j.unique_period_s = INT64_MIN;
    j.chain_step = INT32_MIN;
    expect_round_trip(&j);
}

static void document__may_hold_any_bytes(void **state)
{
    (void)state;
    struct job j = samples_job_minimal();
    char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(uint8_t)i;
    }
    j.payload = j.result = str_from(bytes, sizeof bytes);
    expect_round_trip(&j);
}

static void head__has_what_a_start_needs(void **state)
{
    (void)state;
    const struct job full = samples_job_full();
    struct job want = full;
    struct job got;
    struct buf doc;
    struct err err;
    encode(&full, &doc);
    assert_int_equal(store_job_decode_head(full.id, buf_str(&doc), &got, &err), ERR_OK);
    /* All other members are unset. */
    want.payload = want.unique_key = want.worker_id = want.hostname = want.tags = STR_EMPTY;
    want.progress = want.checkpoint = want.result = want.parent_id = STR_EMPTY;
    want.chain_id = want.chain_config = want.hold_reason = STR_EMPTY;
    want.batch_id = want.schedule_id = ID_NONE;
    want.unique_period_s = 0;
    want.chain_step = 0;
    want.agent = (struct job_agent){.timeout_ms = full.agent.timeout_ms};
    want.error_count = want.iteration_count = want.usage_count = 0;
    samples_same_job(&got, &want);
    buf_deinit(&doc);
}

static void truncation__is_always_found(void **state)
{
    (void)state;
    const struct job jobs[] = {samples_job_full(), samples_job_minimal()};
    for (size_t k = 0; k < COUNT_OF(jobs); k++) {
        struct buf doc;
        encode(&jobs[k], &doc);
        for (size_t len = 0; len < doc.len; len++) {
            struct str cut = exact_copy(doc.ptr, len);
            expect_corrupt(cut);
            exact_free(cut);
        }
        buf_add_char(&doc, '\0');
        expect_corrupt(buf_str(&doc));
        buf_deinit(&doc);
    }
}

static void damage__of_the_head_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t at;
        uint8_t value;
    } rows[] = {
        {"version 0", AT_VERSION, 0},
        {"a later version", AT_VERSION, 2},
        {"a state that is none", AT_STATE, JOB_STATE_COUNT},
        {"a back-off that is none", AT_BACKOFF, JOB_BACKOFF_EXPONENTIAL + 1},
        {"a flag that is none", AT_FLAGS, 32},
        {"a member that is none", AT_MASK + 3, 0x40},
    };
    const struct job j = samples_job_minimal();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf doc;
        ROW(rows[i].name);
        encode(&j, &doc);
        doc.ptr[rows[i].at] = (char)rows[i].value;
        expect_corrupt(buf_str(&doc));
        buf_deinit(&doc);
    }
}

static void version__that_is_unknown_is_named(void **state)
{
    (void)state;
    struct job j;
    struct err err;
    assert_int_equal(store_job_decode(ID_NONE, STR("\x07"), &j, &err), ERR_CORRUPT);
    assert_string_equal(err.msg, "a job document has the unknown version 7");
    assert_int_equal(store_job_decode_head(ID_NONE, STR("\x07"), &j, &err), ERR_CORRUPT);
}

/* A member that is announced but empty, which the encoder never writes. */
static void member__that_says_nothing_is_found(void **state)
{
    (void)state;
    const struct job j = samples_job_minimal();
    static const struct {
        unsigned bit;
        size_t zeros;
    } rows[] = {{0, 8}, {4, 1}, {7, 1}, {8, ID_BYTES}, {17, 4}, {26, 4}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf doc;
        struct buf with;
        size_t queue_end = HEAD_BYTES + 1 + j.queue.len;
        encode(&j, &doc);
        buf_init(&with, 1 << 16);
        buf_add(&with, doc.ptr, queue_end);
        for (size_t z = 0; z < rows[i].zeros; z++) {
            buf_add_char(&with, '\0');
        }
        buf_add(&with, doc.ptr + queue_end, doc.len - queue_end);
        with.ptr[AT_MASK + rows[i].bit / 8] = (char)(1U << rows[i].bit % 8);
        expect_corrupt(buf_str(&with));
        buf_deinit(&doc);
        buf_deinit(&with);
    }
}

static void corruption__is_found_or_makes_another_document(void **state)
{
    (void)state;
    struct rng rng = rng_from(5);
    const struct job full = samples_job_full();
    struct buf doc;
    encode(&full, &doc);
    for (unsigned i = 0; i < 20000; i++) {
        struct job j;
        struct err err;
        struct buf again;
        size_t at = rng_below(&rng, doc.len);
        char old = doc.ptr[at];
        doc.ptr[at] = (char)(uint8_t)rng_next(&rng);
        if (store_job_decode(full.id, buf_str(&doc), &j, &err) == ERR_OK) {
            encode(&j, &again);
            assert_true(str_eq(buf_str(&again), buf_str(&doc)));
            buf_deinit(&again);
        }
        doc.ptr[at] = old;
    }
    buf_deinit(&doc);
}

TEST_GROUP(store_job, cmocka_unit_test(document__keeps_every_member),
           cmocka_unit_test(document__keeps_each_member_alone),
           cmocka_unit_test(document__keeps_every_state_and_backoff),
           cmocka_unit_test(document__keeps_numbers_at_their_ends),
           cmocka_unit_test(document__may_hold_any_bytes),
           cmocka_unit_test(head__has_what_a_start_needs),
           cmocka_unit_test(truncation__is_always_found),
           cmocka_unit_test(damage__of_the_head_is_found),
           cmocka_unit_test(version__that_is_unknown_is_named),
           cmocka_unit_test(member__that_says_nothing_is_found),
           cmocka_unit_test(corruption__is_found_or_makes_another_document));
