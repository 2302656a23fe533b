/*
 * Who should lead when the leader's disk is nearly full.
 */
#include "engine/engine_room.h"

#include "lib/test.h"

enum { NOW_MS = 100000 };

#define FINE ENGINE_SPACE_FINE
#define LOW  ENGINE_SPACE_LOW
#define FULL ENGINE_SPACE_FULL

/* This node is 1. */
static const struct node_member members[] = {
    {.id = 1, .role = NODE_VOTER, .self = true},
    {.id = 2, .role = NODE_VOTER, .match_index = 70, .net = {.connected = true}},
    {.id = 3, .role = NODE_VOTER, .match_index = 90, .net = {.connected = true}},
    {.id = 4, .role = NODE_STANDBY, .match_index = 99, .net = {.connected = true}},
    {.id = 5, .role = NODE_VOTER, .match_index = 99},
    {.id = 6,
     .role = NODE_VOTER,
     .match_index = 99,
     .installing = true,
     .net = {.connected = true}},
};

static uint64_t choose(const struct engine_told *r, enum engine_space_level own)
{
    return engine_room_choose(r, members, COUNT_OF(members), own, NOW_MS);
}

static void the_target__allows_more_than_the_leader(void **state)
{
    (void)state;
    static const struct {
        enum engine_space_level own;
        unsigned second, third; /* of nodes 2 and 3 */
        uint64_t chosen;
    } rows[] = {
        {FINE, FINE, FINE, 0}, {LOW, FINE, FINE, 3},  {LOW, FINE, LOW, 2}, {LOW, LOW, LOW, 0},
        {LOW, FULL, LOW, 0},   {LOW, FULL, FINE, 3},  {FULL, LOW, LOW, 3}, {FULL, FINE, LOW, 2},
        {FULL, FULL, LOW, 3},  {FULL, FULL, FULL, 0}, {LOW, 200, FULL, 0}, {FULL, LOW, 200, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_told r = {0};
        engine_room_heard(&r, 2, (uint8_t)rows[i].second, NOW_MS);
        engine_room_heard(&r, 3, (uint8_t)rows[i].third, NOW_MS);
        assert_int_equal(choose(&r, rows[i].own), rows[i].chosen);
    }
}

static void the_target__votes_and_is_reachable(void **state)
{
    (void)state;
    struct engine_told r = {0};
    for (uint64_t id = 1; id <= 6; id++) {
        if (id != 2 && id != 3) {
            engine_room_heard(&r, id, FINE, NOW_MS);
        }
    }
    assert_int_equal(choose(&r, FULL), 0);
    engine_room_heard(&r, 2, LOW, NOW_MS);
    assert_int_equal(choose(&r, FULL), 2);
}

static void what_was_told__counts_for_a_while(void **state)
{
    (void)state;
    struct engine_told r = {0};
    engine_room_heard(&r, 3, FINE, NOW_MS - ENGINE_ROOM_FRESH_MS - 1);
    assert_int_equal(choose(&r, LOW), 0);
    engine_room_heard(&r, 3, FINE, NOW_MS - ENGINE_ROOM_FRESH_MS);
    assert_int_equal(choose(&r, LOW), 3);
    engine_room_heard(&r, 3, LOW, NOW_MS);
    assert_int_equal(choose(&r, LOW), 0);
    assert_int_equal(r.count, 1);
    for (uint64_t id = 10; id < 11 + LIMIT_NODES; id++) {
        engine_room_heard(&r, id, FINE, NOW_MS);
    }
    assert_int_equal(r.count, LIMIT_NODES);
}

TEST_GROUP(engine_room, cmocka_unit_test(the_target__allows_more_than_the_leader),
           cmocka_unit_test(the_target__votes_and_is_reachable),
           cmocka_unit_test(what_was_told__counts_for_a_while));
