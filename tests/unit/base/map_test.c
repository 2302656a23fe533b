#include "base/map.h"

#include <stdio.h>

#include "lib/test.h"

enum { THINGS = 1000 };

struct thing {
    struct map_node node;
    char name[16];
    unsigned seen;
};

static struct thing things[THINGS];

static void fill(struct map *m)
{
    map_init(m);
    for (unsigned i = 0; i < THINGS; i++) {
        struct thing *t = &things[i];
        *t = (struct thing){.seen = 0};
        int len = snprintf(t->name, sizeof t->name, "thing-%u", i);
        t->node.key = str_from(t->name, (size_t)len);
        map_add(m, &t->node);
    }
}

static void find__finds_what_was_added_and_nothing_else(void **state)
{
    (void)state;
    struct map m;
    map_init(&m);
    assert_null(map_find(&m, STR("thing-1")));
    fill(&m);
    assert_int_equal(m.count, THINGS);
    for (unsigned i = 0; i < THINGS; i++) {
        assert_ptr_equal(map_find(&m, things[i].node.key), &things[i].node);
        assert_ptr_equal(map_find_hash(&m, map_hash(things[i].node.key)), &things[i].node);
    }
    assert_null(map_find(&m, STR("thing-1000")));
    assert_null(map_find_hash(&m, map_hash(STR("thing-1000"))));
    assert_null(map_find(&m, STR("")));
    map_deinit(&m);
}

static void remove__takes_out_one(void **state)
{
    (void)state;
    struct map m;
    fill(&m);
    for (unsigned i = 0; i < THINGS; i += 2) {
        map_remove(&m, &things[i].node);
    }
    assert_int_equal(m.count, THINGS / 2);
    for (unsigned i = 0; i < THINGS; i++) {
        struct map_node *found = map_find(&m, things[i].node.key);
        assert_ptr_equal(found, i % 2 == 0 ? NULL : &things[i].node);
    }
    map_add(&m, &things[0].node);
    assert_ptr_equal(map_find(&m, STR("thing-0")), &things[0].node);
    map_deinit(&m);
}

static void key__may_be_any_bytes(void **state)
{
    (void)state;
    struct map m;
    struct map_node empty = {.key = STR_EMPTY}, zero = {.key = STR("\0")},
                    zeros = {.key = STR("\0\0")};
    map_init(&m);
    map_add(&m, &empty);
    map_add(&m, &zero);
    map_add(&m, &zeros);
    assert_ptr_equal(map_find(&m, STR("")), &empty);
    assert_ptr_equal(map_find(&m, STR("\0")), &zero);
    assert_ptr_equal(map_find(&m, STR("\0\0")), &zeros);
    map_deinit(&m);
}

static void see(struct map_node *node, void *data)
{
    struct map *m = data;
    struct thing *t = CONTAINER_OF(node, struct thing, node);
    t->seen++;
    if (t->name[6] == '1') {
        map_remove(m, node);
    }
}

static void each__visits_all_and_may_remove_what_it_visits(void **state)
{
    (void)state;
    struct map m;
    fill(&m);
    map_each(&m, see, &m);
    for (unsigned i = 0; i < THINGS; i++) {
        assert_int_equal(things[i].seen, 1);
        assert_int_equal(map_find(&m, things[i].node.key) == NULL, things[i].name[6] == '1');
    }
    map_deinit(&m);
}

TEST_GROUP(map, cmocka_unit_test(find__finds_what_was_added_and_nothing_else),
           cmocka_unit_test(remove__takes_out_one), cmocka_unit_test(key__may_be_any_bytes),
           cmocka_unit_test(each__visits_all_and_may_remove_what_it_visits));
