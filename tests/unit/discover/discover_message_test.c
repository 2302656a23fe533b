/*
 * Gossip datagrams: encoding and decoding are inverse, and messages that were sent without the
 * secret or long ago are refused.
 */
#include "discover/discover_message.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"

enum { NOW = 1000000 };

static struct discover_member sample(unsigned n)
{
    struct discover_member m = {.started_ms = 1000 + n, .beats = 7 * n, .left = n % 2 == 1};
    (void)snprintf(m.node_id, sizeof m.node_id, "node-%u", n);
    (void)snprintf(m.url, sizeof m.url, "http://10.0.0.%u:8080", n);
    (void)snprintf(m.gossip, sizeof m.gossip, "10.0.0.%u:7946", n);
    return m;
}

static size_t write_two(const struct discover_message_key *key,
                        uint8_t out[static DISCOVER_MESSAGE_BYTES_MAX])
{
    const struct discover_member a = sample(1);
    const struct discover_member b = sample(2);
    const struct discover_member *const rows[] = {&a, &b};
    return discover_message_write(key, NOW, rows, 2, out);
}

static enum discover_message_fault judge(const struct discover_message_key *key, int64_t now,
                                         const uint8_t *bytes, size_t len)
{
    struct discover_member rows[8];
    size_t count;
    return discover_message_read(key, now, str_from(bytes, len), rows, COUNT_OF(rows), &count);
}

static void test_there_and_back(void **state)
{
    struct discover_message_key key = discover_message_key(STR("a secret of some length"));
    uint8_t bytes[DISCOVER_MESSAGE_BYTES_MAX];
    struct discover_member rows[8];
    size_t count = 0;
    (void)state;
    size_t len = write_two(&key, bytes);
    assert_int_equal(
        discover_message_read(&key, NOW, str_from(bytes, len), rows, COUNT_OF(rows), &count),
        DISCOVER_MESSAGE_FINE);
    assert_int_equal(count, 2);
    for (unsigned i = 0; i < 2; i++) {
        struct discover_member want = sample(i + 1);
        assert_string_equal(rows[i].node_id, want.node_id);
        assert_string_equal(rows[i].url, want.url);
        assert_string_equal(rows[i].gossip, want.gossip);
        assert_int_equal(rows[i].started_ms, want.started_ms);
        assert_int_equal(rows[i].beats, want.beats);
        assert_int_equal(rows[i].left, want.left);
    }
    assert_int_equal(discover_message_read(&key, NOW, str_from(bytes, len), rows, 1, &count),
                     DISCOVER_MESSAGE_DAMAGED); /* more members than there is room for */
}

static void test_every_byte_counts(void **state)
{
    struct discover_message_key key = discover_message_key(STR("a secret of some length"));
    struct discover_message_key other = discover_message_key(STR("a secret of same length"));
    uint8_t bytes[DISCOVER_MESSAGE_BYTES_MAX];
    (void)state;
    size_t len = write_two(&key, bytes);
    assert_int_equal(judge(&other, NOW, bytes, len), DISCOVER_MESSAGE_FOREIGN);
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 1;
        assert_int_equal(judge(&key, NOW, bytes, len), DISCOVER_MESSAGE_FOREIGN);
        bytes[i] ^= 1;
        assert_int_equal(judge(&key, NOW, bytes, i), DISCOVER_MESSAGE_FOREIGN); /* truncated */
    }
    assert_int_equal(judge(&key, NOW, bytes, len), DISCOVER_MESSAGE_FINE);
}

static void test_recordings_are_refused(void **state)
{
    struct discover_message_key key = discover_message_key(STR("a secret of some length"));
    uint8_t bytes[DISCOVER_MESSAGE_BYTES_MAX];
    (void)state;
    size_t len = write_two(&key, bytes);
    assert_int_equal(judge(&key, NOW + DISCOVER_MESSAGE_SKEW_MS, bytes, len),
                     DISCOVER_MESSAGE_FINE);
    assert_int_equal(judge(&key, NOW + DISCOVER_MESSAGE_SKEW_MS + 1, bytes, len),
                     DISCOVER_MESSAGE_OLD);
    assert_int_equal(judge(&key, NOW - DISCOVER_MESSAGE_SKEW_MS - 1, bytes, len),
                     DISCOVER_MESSAGE_OLD);
}

static void test_what_does_not_fit_is_left_out(void **state)
{
    struct discover_message_key key = discover_message_key(STR("a secret of some length"));
    static struct discover_member many[64];
    static const struct discover_member *rows[64];
    static struct discover_member found[64];
    uint8_t bytes[DISCOVER_MESSAGE_BYTES_MAX];
    size_t count = 0;
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        many[i] = sample(i + 1);
        rows[i] = &many[i];
    }
    size_t len = discover_message_write(&key, NOW, rows, 64, bytes);
    assert_true(len <= DISCOVER_MESSAGE_BYTES_MAX);
    assert_int_equal(
        discover_message_read(&key, NOW, str_from(bytes, len), found, COUNT_OF(found), &count),
        DISCOVER_MESSAGE_FINE);
    assert_true(count > 10 && count < 64);
    assert_string_equal(found[count - 1].node_id, many[count - 1].node_id);
}

TEST_GROUP(discover_message, cmocka_unit_test(test_there_and_back),
           cmocka_unit_test(test_every_byte_counts), cmocka_unit_test(test_recordings_are_refused),
           cmocka_unit_test(test_what_does_not_fit_is_left_out));
