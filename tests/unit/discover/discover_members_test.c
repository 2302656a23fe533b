/*
 * Which members are alive, according to reports, and that old reports do not revive a member.
 */
#include "discover/discover_members.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"

static struct discover_member report(const char *name, uint64_t started, uint64_t beats)
{
    struct discover_member m = {.started_ms = started, .beats = beats};
    (void)snprintf(m.node_id, sizeof m.node_id, "%s", name);
    return m;
}

static bool merge(struct discover_members *m, struct discover_member r, int64_t now)
{
    return discover_members_merge(m, &r, now);
}

static void test_only_news_count(void **state)
{
    static struct discover_members m;
    (void)state;
    m.count = 0;
    assert_true(merge(&m, report("a", 10, 5), 1000));
    assert_false(merge(&m, report("a", 10, 5), 9000)); /* the same report, over another path */
    assert_false(merge(&m, report("a", 10, 4), 9000));
    assert_false(merge(&m, report("a", 9, 99), 9000)); /* from an earlier start */
    assert_false(discover_members_is_alive(&m.rows[0], 9000));
    assert_true(merge(&m, report("a", 11, 1), 9000)); /* the node was restarted */
    assert_true(discover_members_is_alive(&m.rows[0], 9000));
    assert_int_equal(m.count, 1);
}

static void test_silence_and_forgetting(void **state)
{
    static struct discover_members m;
    (void)state;
    m.count = 0;
    assert_true(merge(&m, report("a", 1, 1), 0));
    assert_true(merge(&m, report("b", 1, 1), 40000));
    assert_true(discover_members_is_alive(&m.rows[0], DISCOVER_MEMBERS_SILENT_MS));
    assert_false(discover_members_is_alive(&m.rows[0], DISCOVER_MEMBERS_SILENT_MS + 1));
    discover_members_forget(&m, DISCOVER_MEMBERS_FORGET_MS);
    assert_int_equal(m.count, 2); /* so that an old report is still recognized */
    discover_members_forget(&m, DISCOVER_MEMBERS_FORGET_MS + 1);
    assert_int_equal(m.count, 1);
    assert_string_equal(m.rows[0].node_id, "b");
}

static void test_leaving(void **state)
{
    static struct discover_members m;
    struct discover_member gone = report("a", 1, 3);
    (void)state;
    m.count = 0;
    gone.left = true;
    assert_false(merge(&m, gone, 0)); /* the member is unknown */
    assert_true(merge(&m, report("a", 1, 2), 0));
    assert_true(merge(&m, gone, 1));
    assert_false(discover_members_is_alive(&m.rows[0], 1));
    assert_false(merge(&m, report("a", 1, 2), 2));
    assert_true(merge(&m, report("a", 2, 1), 3)); /* the node returns */
    assert_true(discover_members_is_alive(&m.rows[0], 3));
}

static void test_a_full_table(void **state)
{
    static struct discover_members m;
    char name[32];
    (void)state;
    m.count = 0;
    for (unsigned i = 0; i < DISCOVER_MEMBERS_MAX; i++) {
        (void)snprintf(name, sizeof name, "n%u", i);
        assert_true(merge(&m, report(name, 1, 1), 0));
    }
    assert_false(merge(&m, report("one more", 1, 1), 0));
    assert_true(merge(&m, report("n0", 1, 2), 1)); /* known members still count */
    assert_int_equal(m.count, DISCOVER_MEMBERS_MAX);
}

TEST_GROUP(discover_members, cmocka_unit_test(test_only_news_count),
           cmocka_unit_test(test_silence_and_forgetting), cmocka_unit_test(test_leaving),
           cmocka_unit_test(test_a_full_table));
