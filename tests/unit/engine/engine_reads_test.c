/*
 * The version of new entries: all members must be able to read it.
 */
#include "engine/engine_reads.h"

#include "lib/test.h"

static uint8_t least(const struct engine_told *r, const uint64_t *ids, size_t count)
{
    uint8_t version = 9; /* newest version that this node can read */
    for (size_t i = 0; i < count; i++) {
        version = engine_reads_least(r, ids[i], version);
    }
    return version;
}

static void who_says_nothing__reads_the_first(void **state)
{
    (void)state;
    struct engine_told r = {0};
    const uint64_t ids[] = {11, 12};
    assert_int_equal(least(&r, ids, 0), 9);
    assert_int_equal(least(&r, ids, 2), ENGINE_READS_SILENT);
    engine_reads_heard(&r, 11, 9);
    assert_int_equal(least(&r, ids, 1), 9);
    assert_int_equal(least(&r, ids, 2), ENGINE_READS_SILENT);
}

static void the_oldest__decides(void **state)
{
    (void)state;
    struct engine_told r = {0};
    const uint64_t ids[] = {11, 12, 13};
    engine_reads_heard(&r, 11, 9);
    engine_reads_heard(&r, 12, 7);
    engine_reads_heard(&r, 13, 12); /* newer than this node */
    assert_int_equal(least(&r, ids, 3), 7);
    engine_reads_heard(&r, 12, 8); /* the node was upgraded */
    assert_int_equal(least(&r, ids, 3), 8);
    engine_reads_heard(&r, 12, 3); /* and downgraded */
    assert_int_equal(least(&r, ids, 3), 3);
    engine_reads_heard(&r, 12, 9);
    assert_int_equal(least(&r, ids, 3), 9);
    assert_int_equal(r.count, 3);
}

static void more_nodes_than_there_can_be__say_nothing(void **state)
{
    (void)state;
    struct engine_told r = {0};
    for (uint64_t id = 1; id <= LIMIT_NODES + 1; id++) {
        engine_reads_heard(&r, id, 9);
    }
    assert_int_equal(r.count, LIMIT_NODES);
    const uint64_t last[] = {LIMIT_NODES, LIMIT_NODES + 1};
    assert_int_equal(least(&r, last, 1), 9);
    assert_int_equal(least(&r, last, 2), ENGINE_READS_SILENT);
}

TEST_GROUP(engine_reads, cmocka_unit_test(who_says_nothing__reads_the_first),
           cmocka_unit_test(the_oldest__decides),
           cmocka_unit_test(more_nodes_than_there_can_be__say_nothing));
