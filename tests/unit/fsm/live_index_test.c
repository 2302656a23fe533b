#include "fsm/state/live_index.h"

#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/samples.h"
#include "lib/test.h"

/* The model: the record of each number, or NULL, and the line as an array. */
enum { JOBS = 2000, STEPS = 60000 };

struct model {
    struct live_job *live[JOBS];
    unsigned line[JOBS];
    unsigned line_count;
};

static void line_drop(struct model *m, unsigned n)
{
    unsigned at = 0;
    while (m->line[at] != n) {
        at++;
    }
    for (m->line_count--; at < m->line_count; at++) {
        m->line[at] = m->line[at + 1];
    }
}

static void expect_line(const struct live_index *t, const struct live_line *line,
                        const struct model *m)
{
    uint32_t at = line->first;
    uint32_t before = LIVE_NONE;
    assert_int_equal(line->count, m->line_count);
    for (unsigned i = 0; i < m->line_count; i++) {
        const struct live_job *l = live_index_at(t, at);
        assert_ptr_equal(l, m->live[m->line[i]]);
        assert_true(l->in_line);
        assert_int_equal(l->prev, before);
        before = at;
        at = l->next;
    }
    assert_int_equal(at, LIVE_NONE);
    assert_int_equal(line->last, before);
}

static void expect_table(const struct live_index *t, const struct model *m)
{
    uint32_t count = 0;
    for (unsigned n = 0; n < JOBS; n++) {
        struct live_job *found = live_index_find(t, samples_id(n));
        assert_ptr_equal(found, m->live[n]);
        if (found != NULL) {
            assert_true(id_eq(found->id, samples_id(n)));
            assert_ptr_equal(live_index_at(t, found->number), found);
            count++;
        }
    }
    assert_int_equal(t->count, count);
}

static void step(struct live_index *t, struct live_line *line, struct model *m, struct rng *rng)
{
    unsigned n = (unsigned)rng_below(rng, JOBS);
    struct live_job *l = m->live[n];
    uint64_t what = rng_below(rng, 4);
    if (l == NULL) {
        l = m->live[n] = live_index_add(t, samples_id(n));
        assert_false(l->in_line);
        assert_false(heap_node_is_in(&l->due));
        assert_false(heap_node_is_in(&l->expiry));
    } else if (what == 0) {
        if (l->in_line) {
            live_index_line_remove(t, line, l);
            line_drop(m, n);
        }
        live_index_remove(t, l);
        m->live[n] = NULL;
    } else if (what == 1 && l->in_line) {
        live_index_line_remove(t, line, l);
        line_drop(m, n);
    } else if (!l->in_line) {
        live_index_line_add(t, line, l);
        m->line[m->line_count++] = n;
    }
}

static void table__agrees_with_a_simple_model(void **state)
{
    (void)state;
    static struct model m;
    struct live_index t;
    struct live_line line = live_line_empty();
    struct rng rng = rng_from(41);
    live_index_init(&t);
    for (unsigned i = 0; i < STEPS; i++) {
        step(&t, &line, &m, &rng);
        if (i % 2000 == 0) {
            expect_table(&t, &m);
            expect_line(&t, &line, &m);
        }
    }
    expect_table(&t, &m);
    expect_line(&t, &line, &m);
    /* Records are reused: there were never more than JOBS at a time. */
    assert_true(t.used <= JOBS);
    assert_true(live_index_bytes(&t) >= t.count * sizeof(struct live_job));
    for (unsigned n = 0; n < JOBS; n++) {
        if (m.live[n] != NULL && m.live[n]->in_line) {
            live_index_line_remove(&t, &line, m.live[n]);
        }
        if (m.live[n] != NULL) {
            live_index_remove(&t, m.live[n]);
        }
    }
    assert_int_equal(t.count, 0);
    assert_int_equal(line.count, 0);
    assert_int_equal(line.first, LIVE_NONE);
    live_index_deinit(&t);
}

static void records__never_move(void **state)
{
    (void)state;
    enum { MANY = 40000 }; /* several chunks, and the slots grow many times */
    struct live_index t;
    live_index_init(&t);
    assert_null(live_index_find(&t, samples_id(1)));
    struct live_job *first = live_index_add(&t, samples_id(0));
    first->priority = 77;
    for (unsigned n = 1; n < MANY; n++) {
        (void)live_index_add(&t, samples_id(n));
    }
    assert_ptr_equal(live_index_find(&t, samples_id(0)), first);
    assert_int_equal(first->priority, 77);
    for (unsigned n = 0; n < MANY; n++) {
        assert_non_null(live_index_find(&t, samples_id(n)));
    }
    assert_null(live_index_find(&t, samples_id(MANY)));
    live_index_deinit(&t);
}

static void lines__are_first_come_first_served(void **state)
{
    (void)state;
    struct live_index t;
    struct live_line one = live_line_empty();
    struct live_line other = live_line_empty();
    live_index_init(&t);
    for (unsigned n = 0; n < 100; n++) {
        live_index_line_add(&t, n % 2 == 0 ? &one : &other, live_index_add(&t, samples_id(n)));
    }
    for (unsigned n = 0; n < 100; n++) {
        struct live_line *line = n % 2 == 0 ? &one : &other;
        struct live_job *l = live_index_at(&t, line->first);
        assert_true(id_eq(l->id, samples_id(n)));
        live_index_line_remove(&t, line, l);
    }
    live_index_deinit(&t);
}

static void heap_orders__are_by_id(void **state)
{
    (void)state;
    struct live_job a = {.id = samples_id(1)};
    struct live_job b = {.id = samples_id(2)};
    assert_true(live_index_due_before(&a.due, &b.due));
    assert_false(live_index_due_before(&b.due, &a.due));
    assert_true(live_index_expiry_before(&a.expiry, &b.expiry));
    assert_false(live_index_expiry_before(&b.expiry, &a.expiry));
}

static void add_twice(void)
{
    struct live_index t;
    live_index_init(&t);
    (void)live_index_add(&t, samples_id(1));
    (void)live_index_add(&t, samples_id(1));
}

static void remove_from_line(void)
{
    struct live_index t;
    struct live_line line = live_line_empty();
    live_index_init(&t);
    struct live_job *l = live_index_add(&t, samples_id(1));
    live_index_line_add(&t, &line, l);
    live_index_remove(&t, l);
}

static void misuse__stops_the_process(void **state)
{
    (void)state;
    expect_abort(add_twice);
    expect_abort(remove_from_line);
}

TEST_GROUP(live_index, cmocka_unit_test(table__agrees_with_a_simple_model),
           cmocka_unit_test(records__never_move),
           cmocka_unit_test(lines__are_first_come_first_served),
           cmocka_unit_test(heap_orders__are_by_id), cmocka_unit_test(misuse__stops_the_process));
