#include "base/heap.h"

#include <stdlib.h>

#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

struct thing {
    unsigned name;
    int64_t key; /* key that it was put with */
    struct heap_node node;
};

static void put(struct heap *h, struct thing *t, int64_t key)
{
    t->key = key;
    heap_set(h, &t->node, key);
}

static const struct thing *thing_of(const struct heap_node *n)
{
    return CONTAINER_OF(n, const struct thing, node);
}

static bool name_before(const struct heap_node *a, const struct heap_node *b)
{
    return thing_of(a)->name < thing_of(b)->name;
}

/* The expected order: a sorted array of the things in the heap. */
struct sorted {
    const struct thing *at[512];
    size_t count;
};

static int compare(const void *a, const void *b)
{
    const struct thing *x = *(const struct thing *const *)a;
    const struct thing *y = *(const struct thing *const *)b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->name < y->name ? -1 : x->name > y->name;
}

static void sort_things(const struct thing *things, size_t count, struct sorted *out)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (heap_node_is_in(&things[i].node)) {
            out->at[out->count++] = &things[i];
        }
    }
    qsort(out->at, out->count, sizeof out->at[0], compare);
}

static void make_things(struct thing *things, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        things[i] = (struct thing){.name = i, .node = heap_node_out()};
    }
}

/* A rank that agrees with the order of names, with ties. */
static uint64_t name_rank(const struct heap_node *n)
{
    return thing_of(n)->name / 7;
}

static void agrees_with_a_sorted_array(uint64_t (*rank)(const struct heap_node *n))
{
    enum { THINGS = 400, STEPS = 6000 };
    static struct thing things[THINGS];
    struct rng rng = rng_from(17);
    struct sorted sorted;
    struct heap h;
    heap_init_ranked(&h, name_before, rank);
    make_things(things, THINGS);
    for (unsigned step = 0; step < STEPS; step++) {
        struct thing *t = &things[rng_below(&rng, THINGS)];
        /* Few different keys, to produce many ties. */
        if (rng_below(&rng, 3) > 0) {
            put(&h, t, (int64_t)rng_below(&rng, 50) - 25);
            assert_true(heap_node_is_in(&t->node));
        } else {
            heap_remove(&h, &t->node);
            assert_false(heap_node_is_in(&t->node));
        }
        if (step % 50 == 0) {
            sort_things(things, THINGS, &sorted);
            assert_int_equal(h.count, sorted.count);
            assert_ptr_equal(heap_first(&h), sorted.count == 0 ? NULL : &sorted.at[0]->node);
        }
    }
    sort_things(things, THINGS, &sorted);
    assert_int_equal(h.count, sorted.count);
    for (size_t i = 0; i < sorted.count; i++) {
        assert_ptr_equal(heap_first(&h), &sorted.at[i]->node);
        heap_remove(&h, heap_first(&h));
    }
    assert_null(heap_first(&h));
    heap_deinit(&h);
}

static void first__agrees_with_a_sorted_array(void **state)
{
    (void)state;
    agrees_with_a_sorted_array(NULL);
    agrees_with_a_sorted_array(name_rank);
}

/* Replicas add things in different orders, and must remove them in the same order. */
static void ties__come_by_name_whatever_the_order_of_putting_in(void **state)
{
    (void)state;
    enum { THINGS = 100 };
    struct thing things[THINGS];
    unsigned order[THINGS];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rng rng = rng_from(seed);
        struct heap h;
        heap_init(&h, name_before);
        make_things(things, THINGS);
        for (unsigned i = 0; i < THINGS; i++) {
            unsigned other = (unsigned)rng_below(&rng, i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        for (unsigned i = 0; i < THINGS; i++) {
            put(&h, &things[order[i]], order[i] % 3);
        }
        for (unsigned i = 0; i < THINGS; i++) {
            struct heap_node *first = heap_first(&h);
            unsigned per_key = (THINGS + 2) / 3;
            unsigned key = i < per_key ? 0 : i < per_key + THINGS / 3 ? 1 : 2;
            unsigned before = key == 0 ? 0 : key == 1 ? per_key : per_key + THINGS / 3;
            assert_int_equal(thing_of(first)->name, key + 3 * (i - before));
            heap_remove(&h, first);
        }
        heap_deinit(&h);
    }
}

static void set__moves_what_is_in_to_another_key(void **state)
{
    (void)state;
    struct thing things[3];
    struct heap h;
    heap_init(&h, name_before);
    make_things(things, 3);
    for (unsigned i = 0; i < 3; i++) {
        put(&h, &things[i], i);
    }
    put(&h, &things[0], INT64_MAX);
    assert_ptr_equal(heap_first(&h), &things[1].node);
    put(&h, &things[2], INT64_MIN);
    assert_ptr_equal(heap_first(&h), &things[2].node);
    assert_int_equal(h.count, 3);
    heap_deinit(&h);
}

static void remove__of_what_is_in_no_heap_does_nothing(void **state)
{
    (void)state;
    struct thing t = {.node = heap_node_out()};
    struct heap h;
    heap_init(&h, name_before);
    heap_remove(&h, &t.node);
    put(&h, &t, 1);
    heap_remove(&h, &t.node);
    heap_remove(&h, &t.node);
    assert_int_equal(h.count, 0);
    heap_deinit(&h);
}

enum { COUNT = 300 };

struct visits {
    struct heap_node *found[COUNT];
    uint32_t count, max;
};

static bool visit(void *data, struct heap_node *node)
{
    struct visits *v = data;
    v->found[v->count++] = node;
    return v->count < v->max;
}

static void until__finds_all_up_to_a_key(void **state)
{
    (void)state;
    static struct thing things[COUNT];
    struct heap_node *found[COUNT];
    struct rng rng = rng_from(7);
    struct heap h;
    heap_init(&h, name_before);
    make_things(things, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        put(&h, &things[i], (int64_t)rng_below(&rng, 50));
    }
    for (int64_t key = -1; key <= 50; key++) {
        uint32_t want = 0;
        for (unsigned i = 0; i < COUNT; i++) {
            want += things[i].key <= key ? 1 : 0;
        }
        uint32_t count = heap_until(&h, key, found, COUNT);
        assert_int_equal(count, want);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(heap_key(&h, found[i]) <= key);
            for (uint32_t k = 0; k < i; k++) {
                assert_ptr_not_equal(found[i], found[k]);
            }
        }
        assert_int_equal(heap_until(&h, key, found, 10), want < 10 ? want : 10);
        assert_true(want == 0 || found[0] == heap_first(&h));
        struct visits all = {.max = COUNT + 1};
        heap_each_until(&h, key, visit, &all);
        assert_int_equal(all.count, want);
        for (uint32_t i = 0; i < all.count; i++) {
            assert_true(heap_key(&h, all.found[i]) <= key);
            for (uint32_t k = 0; k < i; k++) {
                assert_ptr_not_equal(all.found[i], all.found[k]);
            }
        }
        struct visits some = {.max = 10};
        heap_each_until(&h, key, visit, &some);
        assert_int_equal(some.count, want < 10 ? want : 10);
    }
    heap_deinit(&h);
}

static void remove_from_another_heap(void)
{
    struct thing a = {.node = heap_node_out()};
    struct thing b = {.node = heap_node_out()};
    struct heap one;
    struct heap other;
    heap_init(&one, name_before);
    heap_init(&other, name_before);
    put(&one, &a, 1);
    put(&other, &b, 1);
    heap_remove(&other, &a.node);
}

static void remove__from_another_heap_is_a_bug(void **state)
{
    (void)state;
    expect_abort(remove_from_another_heap);
}

TEST_GROUP(heap, cmocka_unit_test(first__agrees_with_a_sorted_array),
           cmocka_unit_test(ties__come_by_name_whatever_the_order_of_putting_in),
           cmocka_unit_test(set__moves_what_is_in_to_another_key),
           cmocka_unit_test(until__finds_all_up_to_a_key),
           cmocka_unit_test(remove__of_what_is_in_no_heap_does_nothing),
           cmocka_unit_test(remove__from_another_heap_is_a_bug));
