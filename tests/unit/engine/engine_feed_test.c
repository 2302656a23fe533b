/*
 * The feed for copies of the documents: each changed job once, in order, no matter how often it
 * changed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/map.h"
#include "lib/engine_kit.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

static int setup(void **state)
{
    *state = engine_kit_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    engine_kit_close(*state);
    return 0;
}

/* A subscriber, on the client's thread. */
struct subscriber {
    struct engine_kit *kit;
    struct engine_feed *feed;
    unsigned woken_count;
    struct engine_take take;
    uv_sem_t done;
};

static void count_wake(void *data)
{
    struct subscriber *s = data;
    s->woken_count++;
}

static void open_feed(void *data)
{
    struct subscriber *s = data;
    s->feed = engine_feed_open(s->kit->engine, &s->kit->box, count_wake, s);
}

static void close_feed(void *data)
{
    struct subscriber *s = data;
    engine_feed_close(s->feed);
}

static void subscribe(struct subscriber *s, struct engine_kit *k)
{
    *s = (struct subscriber){.kit = k};
    CHECK(uv_sem_init(&s->done, 0) == 0);
    engine_kit_on_client(k, open_feed, s);
}

static void unsubscribe(struct subscriber *s)
{
    engine_kit_on_client(s->kit, close_feed, s);
    uv_sem_destroy(&s->done);
}

static void post_done(struct engine_take *t)
{
    struct subscriber *s = t->data;
    uv_sem_post(&s->done);
}

static void start_take(void *data)
{
    struct subscriber *s = data;
    s->take.done = post_done;
    s->take.data = s;
    engine_feed_take(s->feed, &s->take);
}

/* Take at most max ids. The result in s->take is valid until the next take. */
static const struct engine_take *take(struct subscriber *s, uint32_t max)
{
    engine_take_deinit(&s->take);
    s->take.max = max;
    engine_kit_on_client(s->kit, start_take, s);
    uv_sem_wait(&s->done);
    return &s->take;
}

static void read_wakes(void *data)
{
    (void)data; /* all earlier messages of the core thread have been delivered */
}

static unsigned wakes(struct subscriber *s)
{
    (void)engine_kit_status(s->kit);
    engine_kit_on_client(s->kit, read_wakes, NULL);
    return s->woken_count;
}

static void engine_feed__gives_each_job_once(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s;
    struct id ids[4];
    subscribe(&s, k);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = engine_kit_enqueue(k, "q");
    }
    assert_true(id_eq(engine_kit_claim(k, "q"), ids[0]));
    engine_kit_ack(k, ids[0]);
    engine_kit_job(k, COMMAND_JOB_CANCEL, ids[1]);
    engine_kit_job(k, COMMAND_JOB_DELETE, ids[2]);
    static const enum job_state want[] = {JOB_COMPLETED, JOB_CANCELLED, JOB_STATE_COUNT,
                                          JOB_PENDING};
    const struct engine_take *t = take(&s, 100);
    assert_int_equal(t->count, COUNT_OF(ids));
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        assert_true(id_eq(t->ids[i], ids[i]));
        assert_int_equal(engine_kit_state(k, t->ids[i]), want[i]);
    }
    assert_int_equal(t->behind, 0);
    assert_int_equal(t->index, engine_kit_status(k).node.applied_index);
    assert_int_equal(take(&s, 100)->count, 0);
    engine_take_deinit(&s.take);
    unsubscribe(&s);
}

static void engine_feed__is_taken_in_pieces(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s;
    struct id ids[5];
    subscribe(&s, k);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = engine_kit_enqueue(k, "q");
    }
    const struct engine_take *t = take(&s, 2);
    assert_int_equal(t->count, 2);
    assert_int_equal(t->behind, 3);
    assert_true(id_eq(t->ids[1], ids[1]));
    engine_kit_job(k, COMMAND_JOB_CANCEL,
                   ids[0]); /* changed again: returned again, after the others */
    engine_kit_job(k, COMMAND_JOB_CANCEL, ids[3]); /* not taken yet: returned once */
    t = take(&s, 2);
    assert_true(id_eq(t->ids[0], ids[2]));
    assert_true(id_eq(t->ids[1], ids[3]));
    assert_int_equal(engine_kit_state(k, t->ids[1]), JOB_CANCELLED);
    t = take(&s, 100);
    assert_int_equal(t->count, 2);
    assert_true(id_eq(t->ids[0], ids[4]));
    assert_true(id_eq(t->ids[1], ids[0]));
    assert_int_equal(t->behind, 0);
    engine_take_deinit(&s.take);
    unsubscribe(&s);
}

static void few_ids(struct engine_config *config)
{
    config->feed_ids_max = 1024;
}

static int setup_few_ids(void **state)
{
    *state = engine_kit_open(few_ids);
    return 0;
}

static void put_many(struct engine_kit *k, unsigned count)
{
    struct command_new *jobs = calloc(count, sizeof *jobs);
    assert_non_null(jobs);
    for (unsigned i = 0; i < count; i++) {
        jobs[i] = engine_kit_new_job("q");
    }
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = count}};
    engine_kit_do(k, &c);
    free(jobs);
}

static void engine_feed__gives_up_a_set_that_is_too_large_and_says_so(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s;
    subscribe(&s, k);
    put_many(k, 1024);
    const struct engine_take *t = take(&s, 24);
    assert_int_equal(t->count, 24);
    assert_false(t->too_many);
    put_many(k, 25); /* one more than the limit */
    assert_int_equal(engine_feed_waiting(s.feed), 24 + 1025);
    put_many(k, 5);
    t = take(&s, 100);
    assert_true(t->too_many);
    assert_int_equal(t->count, 0);
    assert_int_equal(t->behind, 0);
    assert_int_equal(t->complete, engine_kit_status(k).node.applied_index);
    assert_int_equal(engine_feed_waiting(s.feed), 1030);
    struct id id = engine_kit_enqueue(k, "q"); /* the feed continues with later changes */
    t = take(&s, 100);
    assert_false(t->too_many);
    assert_int_equal(t->count, 1);
    assert_true(id_eq(t->ids[0], id));
    engine_take_deinit(&s.take);
    unsubscribe(&s);
}

static void engine_feed__says_up_to_where_a_copy_is_complete(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s;
    struct id ids[3];
    uint64_t made_at[3];
    uint64_t begin;
    uint64_t hash;
    uint64_t jobs;
    (void)engine_kit_enqueue(k, "other");
    subscribe(&s, k);
    engine_feed_begin(s.feed, &begin, &hash, &jobs);
    assert_int_equal(jobs, 1);
    assert_int_equal(engine_feed_newest(s.feed), begin);
    assert_int_equal(engine_feed_waiting(s.feed), 0);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = engine_kit_enqueue(k, "q");
        made_at[i] = engine_feed_newest(s.feed);
        assert_true(made_at[i] > (i == 0 ? begin : made_at[i - 1]));
    }
    const struct engine_take *t = take(&s, 1);
    assert_int_equal(t->complete, made_at[1] - 1); /* the second change is not taken yet */
    assert_int_equal(engine_feed_waiting(s.feed), 3);
    engine_feed_copied(s.feed);
    assert_int_equal(engine_feed_waiting(s.feed), 2);
    engine_kit_job(k, COMMAND_JOB_CANCEL, ids[2]);
    assert_true(engine_feed_newest(s.feed) > made_at[2]);
    t = take(&s, 1);
    assert_int_equal(t->complete, made_at[2] - 1); /* counts from its first change, not its last */
    t = take(&s, 100);
    assert_int_equal(t->behind, 0);
    assert_int_equal(t->complete, t->index);
    assert_int_equal(t->state_hash, engine_kit_status(k).state_hash);
    assert_false(t->replaced);
    engine_kit_queue(k, COMMAND_QUEUE_PAUSE, "q", 0); /* changes no job */
    assert_true(engine_feed_newest(s.feed) <= t->index);
    engine_take_deinit(&s.take);
    unsubscribe(&s);
}

static void engine_feed__tells_once_until_something_is_taken(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s;
    subscribe(&s, k);
    assert_int_equal(wakes(&s), 0);
    (void)engine_kit_enqueue(k, "q");
    (void)engine_kit_enqueue(k, "q");
    assert_int_equal(wakes(&s), 1);
    (void)take(&s, 1); /* one id is left: no wake until it is taken */
    (void)engine_kit_enqueue(k, "q");
    assert_int_equal(wakes(&s), 1);
    (void)take(&s, 100);
    assert_int_equal(wakes(&s), 1);
    (void)engine_kit_enqueue(k, "q");
    assert_int_equal(wakes(&s), 2);
    engine_take_deinit(&s.take);
    unsubscribe(&s);
}

static void engine_feed__begins_when_it_is_opened(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber early;
    struct subscriber late;
    subscribe(&early, k);
    (void)engine_kit_enqueue(k, "q");
    subscribe(&late, k);
    struct id second = engine_kit_enqueue(k, "q");
    assert_int_equal(take(&early, 10)->count, 2);
    assert_int_equal(take(&late, 10)->count, 1);
    assert_true(id_eq(late.take.ids[0], second));
    engine_take_deinit(&early.take);
    engine_take_deinit(&late.take);
    (void)engine_kit_enqueue(k, "q"); /* taken by neither */
    unsubscribe(&early);
    unsubscribe(&late);
}

/* Traffic: random commands on a few queues and the jobs created so far. */
struct traffic {
    struct engine_kit *kit;
    struct rng rng;
    struct id ids[512];
    size_t id_count;
    struct engine_kit_op ops[32];
};

static struct id some_id(struct traffic *t)
{
    return t->id_count == 0 ? ID_NONE : t->ids[rng_below(&t->rng, t->id_count)];
}

static void start_some(struct traffic *t, struct engine_kit_op *o)
{
    static const char *const queues[] = {"a", "b", "c"};
    const char *queue = queues[rng_below(&t->rng, COUNT_OF(queues))];
    struct str name = str_from_z(queue);
    struct command_new jobs[4];
    struct command_ack_item ack = {.id = some_id(t)};
    struct id id = some_id(t);
    struct command c = {.type = COMMAND_ENQUEUE};
    switch (rng_below(&t->rng, 12)) {
    case 0:
        c = (struct command){.type = COMMAND_QUEUE,
                             .queue = {.action = rng_below(&t->rng, 8) == 0 ? COMMAND_QUEUE_DELETE
                                                                            : COMMAND_QUEUE_RESUME,
                                       .name = name}};
        break;
    case 1:
    case 2:
    case 3:
        c = engine_kit_claim_command(&name, 3);
        break;
    case 4:
    case 5:
        c = (struct command){.type = COMMAND_ACK, .ack = {.items = &ack, .count = 1}};
        break;
    case 6:
        c = (struct command){.type = COMMAND_FAIL, .fail = {.id = id, .error = STR("no")}};
        break;
    case 7:
        c = (struct command){.type = COMMAND_JOBS,
                             .jobs = {.action = COMMAND_JOB_CANCEL, .ids = &id, .count = 1}};
        break;
    case 8:
        c = (struct command){.type = COMMAND_JOBS,
                             .jobs = {.action = COMMAND_JOB_DELETE, .ids = &id, .count = 1}};
        break;
    default:
        c.enqueue.jobs = jobs;
        c.enqueue.count = 1 + rng_below(&t->rng, COUNT_OF(jobs));
        for (size_t i = 0; i < c.enqueue.count; i++) {
            jobs[i] = engine_kit_new_job(queue);
        }
        break;
    }
    engine_kit_start(o, &c, 0);
}

static void note_ids(struct traffic *t, const struct engine_kit_op *o)
{
    for (uint32_t i = 0; o->op.type == COMMAND_ENQUEUE && i < o->result.count; i++) {
        size_t at =
            t->id_count < COUNT_OF(t->ids) ? t->id_count++ : rng_below(&t->rng, COUNT_OF(t->ids));
        t->ids[at] = o->result.items[i].id;
    }
}

static void run_traffic(struct engine_kit *k, uint64_t seed, unsigned rounds)
{
    struct traffic *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->kit = k;
    t->rng = rng_from(seed);
    for (size_t i = 0; i < COUNT_OF(t->ops); i++) {
        engine_kit_op_init(&t->ops[i], k);
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < COUNT_OF(t->ops); i++) {
            start_some(t, &t->ops[i]);
        }
        for (size_t i = 0; i < COUNT_OF(t->ops); i++) {
            engine_kit_wait(&t->ops[i]);
            assert_int_equal(t->ops[i].op.err.code, ERR_OK);
            note_ids(t, &t->ops[i]);
        }
    }
    for (size_t i = 0; i < COUNT_OF(t->ops); i++) {
        engine_kit_op_deinit(&t->ops[i]);
    }
    free(t);
}

/* A copy of the documents, updated by continuous takes from the feed, without waiting for wakes. */
struct copy_doc {
    struct map_node node; /* by id */
    struct id id;
    struct buf doc;
};

struct copy {
    struct subscriber s; /* first member: the feed's callback receives a pointer to it */
    struct map docs;
    uint64_t takes;
    bool stop; /* guarded by the kit's lock */
    uv_sem_t ended;
};

static void forget_doc(struct map_node *n, void *data)
{
    struct copy *copy = data;
    struct copy_doc *d = CONTAINER_OF(n, struct copy_doc, node);
    map_remove(&copy->docs, n);
    buf_deinit(&d->doc);
    free(d);
}

static struct copy_doc *need_doc(struct copy *copy, struct id id)
{
    struct map_node *n = map_find(&copy->docs, str_from(id.b, ID_BYTES));
    if (n != NULL) {
        return CONTAINER_OF(n, struct copy_doc, node);
    }
    struct copy_doc *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    d->id = id;
    d->node.key = str_from(d->id.b, ID_BYTES);
    buf_init(&d->doc, SIZE_MAX);
    map_add(&copy->docs, &d->node);
    return d;
}

static void copy_job(struct copy *copy, struct id id)
{
    struct copy_doc *d = need_doc(copy, id);
    buf_clear(&d->doc);
    if (!engine_read_job(copy->s.kit->engine, id, &d->doc)) {
        forget_doc(&d->node, copy);
    }
}

static void copy_taken(struct engine_take *t);

static void copy_take(struct copy *copy)
{
    copy->s.take = (struct engine_take){.max = 7, .done = copy_taken, .data = copy};
    engine_feed_take(copy->s.feed, &copy->s.take);
}

static void copy_taken(struct engine_take *t)
{
    struct copy *copy = t->data;
    for (uint32_t i = 0; i < t->count; i++) {
        copy_job(copy, t->ids[i]);
    }
    copy->takes++;
    engine_take_deinit(t);
    uv_mutex_lock(&copy->s.kit->lock);
    bool over = copy->stop && t->behind == 0;
    uv_mutex_unlock(&copy->s.kit->lock);
    if (over) {
        uv_sem_post(&copy->ended);
    } else {
        copy_take(copy);
    }
}

static void copy_begin(void *data)
{
    copy_take(data);
}

static void compare_family(struct engine_kit *k, struct copy *copy, enum store_family family,
                           size_t *count)
{
    struct kv_iter *it = kv_iter_new(engine_store(k->engine)->kv, NULL, family, STR_EMPTY);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct map_node *n = map_find(&copy->docs, kv_iter_key(it));
        assert_non_null(n);
        expect_str(buf_str(&CONTAINER_OF(n, struct copy_doc, node)->doc), kv_iter_value(it));
        *count += 1;
    }
    store_end_walk(it);
}

static void engine_feed__a_copy_equals_the_store_after_any_traffic(void **state)
{
    struct engine_kit *k = *state;
    struct copy copy = {0};
    size_t count = 0;
    subscribe(&copy.s, k);
    map_init(&copy.docs);
    CHECK(uv_sem_init(&copy.ended, 0) == 0);
    engine_kit_on_client(k, copy_begin, &copy);
    run_traffic(k, 7, 100);
    uv_mutex_lock(&k->lock);
    copy.stop = true;
    uv_mutex_unlock(&k->lock);
    uv_sem_wait(&copy.ended);
    compare_family(k, &copy, STORE_LIVE, &count);
    compare_family(k, &copy, STORE_DONE, &count);
    assert_int_equal(count, copy.docs.count);
    assert_true(count > 0);
    assert_true(copy.takes > 1);
    map_each(&copy.docs, forget_doc, &copy);
    map_deinit(&copy.docs);
    uv_sem_destroy(&copy.ended);
    unsubscribe(&copy.s);
}

TEST_GROUP(engine_feed,
           cmocka_unit_test_setup_teardown(
               engine_feed__gives_up_a_set_that_is_too_large_and_says_so, setup_few_ids, teardown),
           cmocka_unit_test_setup_teardown(engine_feed__gives_each_job_once, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_feed__is_taken_in_pieces, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_feed__says_up_to_where_a_copy_is_complete, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine_feed__tells_once_until_something_is_taken, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine_feed__begins_when_it_is_opened, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_feed__a_copy_equals_the_store_after_any_traffic,
                                           setup, teardown));
