#include "store/store_record.h"

#include "lib/exact.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/samples.h"
#include "lib/test.h"

/* The functions of one kind of record: encode the sample; and decode, compare with the sample if
 * is_sample, and encode again. The second returns false if decoding fails. */
struct kind {
    const char *name;
    void (*encode)(struct buf *out);
    bool (*again)(struct str value, bool is_sample, struct buf *out);
};

#define KIND(name)                                                                                 \
    static void name##_encode(struct buf *out)                                                     \
    {                                                                                              \
        struct store_##name r = samples_##name();                                                  \
        store_record_encode_##name(&r, out);                                                       \
    }                                                                                              \
    static bool name##_again(struct str value, bool is_sample, struct buf *out)                    \
    {                                                                                              \
        struct store_##name r;                                                                     \
        struct store_##name sample = samples_##name();                                             \
        if (!store_record_decode_##name(value, &r)) {                                              \
            return false;                                                                          \
        }                                                                                          \
        if (is_sample) {                                                                           \
            samples_same_##name(&r, &sample);                                                      \
        }                                                                                          \
        store_record_encode_##name(&r, out);                                                       \
        return true;                                                                               \
    }
KIND(queue)
KIND(lock)
KIND(batch)
KIND(schedule)
KIND(worker)
KIND(webhook)
KIND(policy)
#undef KIND

static const struct kind kinds[] = {
#define KIND(name)                                                                                 \
    {                                                                                              \
#name, name##_encode, name##_again                                                         \
    }
    KIND(queue), KIND(lock), KIND(batch), KIND(schedule), KIND(worker), KIND(webhook), KIND(policy),
#undef KIND
};

static void record__keeps_every_member(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct buf bytes;
        struct buf again;
        ROW(kinds[k].name);
        buf_init(&bytes, 1 << 16);
        buf_init(&again, 1 << 16);
        kinds[k].encode(&bytes);
        assert_true(kinds[k].again(buf_str(&bytes), true, &again));
        assert_true(str_eq(buf_str(&again), buf_str(&bytes)));
        buf_deinit(&bytes);
        buf_deinit(&again);
    }
}

static void decode__refuses_what_was_never_written(void **state)
{
    (void)state;
    struct rng rng = rng_from(29);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct buf bytes;
        struct buf again;
        ROW(kinds[k].name);
        buf_init(&bytes, 1 << 16);
        buf_init(&again, 1 << 16);
        kinds[k].encode(&bytes);
        for (size_t len = 0; len < bytes.len; len++) {
            struct str cut = exact_copy(bytes.ptr, len);
            assert_false(kinds[k].again(cut, false, &again));
            exact_free(cut);
        }
        for (unsigned i = 0; i < 5000; i++) {
            size_t at = rng_below(&rng, bytes.len);
            char old = bytes.ptr[at];
            bytes.ptr[at] = (char)(uint8_t)rng_next(&rng);
            buf_clear(&again);
            if (kinds[k].again(buf_str(&bytes), false, &again)) {
                assert_true(str_eq(buf_str(&again), buf_str(&bytes)));
            }
            bytes.ptr[at] = old;
        }
        bytes.ptr[0] = 2; /* another version */
        assert_false(kinds[k].again(buf_str(&bytes), false, &again));
        bytes.ptr[0] = 1;
        buf_add_char(&bytes, '\0');
        assert_false(kinds[k].again(buf_str(&bytes), false, &again));
        buf_deinit(&bytes);
        buf_deinit(&again);
    }
}

static void empty__records_are_records_too(void **state)
{
    (void)state;
    struct store_queue q = {0};
    struct store_batch b = {0};
    struct store_schedule s = {0};
    struct store_worker w = {0};
    struct store_webhook h = {0};
    struct store_webhook h2 = samples_webhook();
    struct store_queue q2 = samples_queue();
    struct store_batch b2 = samples_batch();
    struct store_schedule s2 = samples_schedule();
    struct store_worker w2 = samples_worker();
    struct buf bytes;
    buf_init(&bytes, 1 << 16);
    store_record_encode_queue(&q, &bytes);
    assert_true(store_record_decode_queue(buf_str(&bytes), &q2));
    samples_same_queue(&q2, &q);
    buf_clear(&bytes);
    store_record_encode_batch(&b, &bytes);
    assert_true(store_record_decode_batch(buf_str(&bytes), &b2));
    samples_same_batch(&b2, &b);
    buf_clear(&bytes);
    store_record_encode_schedule(&s, &bytes);
    assert_true(store_record_decode_schedule(buf_str(&bytes), &s2));
    samples_same_schedule(&s2, &s);
    buf_clear(&bytes);
    store_record_encode_worker(&w, &bytes);
    assert_true(store_record_decode_worker(buf_str(&bytes), &w2));
    samples_same_worker(&w2, &w);
    buf_clear(&bytes);
    store_record_encode_webhook(&h, &bytes);
    assert_true(store_record_decode_webhook(buf_str(&bytes), &h2));
    samples_same_webhook(&h2, &h);
    buf_deinit(&bytes);
}

TEST_GROUP(store_record, cmocka_unit_test(record__keeps_every_member),
           cmocka_unit_test(decode__refuses_what_was_never_written),
           cmocka_unit_test(empty__records_are_records_too));
