/*
 * The thread that executes bulk operations: from lists and with a finder, with temporary and
 * permanent failures, watched and cancelled.
 */
#include "svc/svc_bulk.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fault.h"
#include "lib/engine_kit.h"
#include "lib/expect.h"
#include "lib/test.h"

enum { JOBS = 1203 };

struct fixture {
    struct engine_kit *kit;
    struct svc_bulk *bulk;
    struct id ids[JOBS];
    /* the finder */
    atomic_uint asked;
    unsigned failures_left;
    enum err_code failure;
    bool hold;                  /* the next page is answered later */
    struct svc_bulk_page *held; /* that page */
    uv_sem_t holds;
    /* the watch; belongs to the client's thread */
    struct svc_bulk_watch watch;
    uv_sem_t over, ended, kept_alive, news;
    unsigned told;
    struct svc_bulk_news first, last;
};

/* Return the jobs of the fixture in order, as a search would. Called on the bulk's thread. */
static void find(void *data, struct svc_bulk_page *p)
{
    struct fixture *f = data;
    atomic_fetch_add(&f->asked, 1);
    if (f->hold) {
        f->hold = false;
        f->held = p;
        uv_sem_post(&f->holds);
        return;
    }
    if (f->failures_left > 0) {
        f->failures_left--;
        (void)err_set(&p->err, f->failure, "the finder cannot");
        svc_bulk_found(p);
        return;
    }
    assert_true(str_eq(p->filter, STR("{\"all\":true}")));
    for (size_t i = 0; i < JOBS && p->count < LIMIT_BULK_CHUNK; i++) {
        if (id_cmp(f->ids[i], p->after) > 0 && id_cmp(f->ids[i], p->until) < 0) {
            p->ids[p->count++] = f->ids[i];
        }
    }
    svc_bulk_found(p);
}

static void told(struct svc_bulk_watch *w, const struct svc_bulk_news *n)
{
    struct fixture *f = CONTAINER_OF(w, struct fixture, watch);
    if (n->type == SVC_BULK_KEEPALIVE) {
        uv_sem_post(&f->kept_alive);
        return;
    }
    assert_true(n->processed >= f->last.processed);
    f->first = f->told++ == 0 ? *n : f->first;
    f->last = *n;
    uv_sem_post(&f->news);
    if (n->type == SVC_BULK_OVER) {
        uv_sem_post(&f->over);
    }
}

static void ended(struct svc_bulk_watch *w)
{
    uv_sem_post(&CONTAINER_OF(w, struct fixture, watch)->ended);
}

static void join(void *data)
{
    struct fixture *f = data;
    svc_bulk_watch(f->bulk, &f->watch);
}

static void leave(void *data)
{
    struct fixture *f = data;
    svc_bulk_unwatch(&f->watch);
}

static void begin_watch(struct fixture *f, struct id id)
{
    f->watch =
        (struct svc_bulk_watch){.task = id, .reply_to = &f->kit->box, .told = told, .ended = ended};
    f->told = 0;
    f->last = (struct svc_bulk_news){0};
    engine_kit_on_client(f->kit, join, f);
}

static void end_watch(struct fixture *f)
{
    engine_kit_on_client(f->kit, leave, f);
    uv_sem_wait(&f->ended);
}

/* Watch the operation until it is over. */
static void wait_over(struct fixture *f, struct id id)
{
    begin_watch(f, id);
    uv_sem_wait(&f->over);
    end_watch(f);
}

static const struct result *run(struct fixture *f, const struct command *c)
{
    const struct result *r = engine_kit_do(f->kit, c);
    assert_int_equal(r->code, ERR_OK);
    return r;
}

static void open_bulk(struct fixture *f, int64_t keepalive_ms)
{
    struct svc_bulk_config config = svc_bulk_config_default();
    config.keepalive_ms = keepalive_ms;
    config.engine = f->kit->engine;
    config.find = find;
    config.find_data = f;
    f->bulk = svc_bulk_open(&config);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    static struct command_new jobs[JOBS];
    f->kit = engine_kit_open(NULL);
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i].job = (struct job){.queue = STR("q"), .payload = STR("{}")};
    }
    const struct result *r = run(
        f, &(struct command){.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = JOBS}});
    for (size_t i = 0; i < JOBS; i++) {
        f->ids[i] = r->items[i].id;
    }
    assert_int_equal(uv_sem_init(&f->over, 0), 0);
    assert_int_equal(uv_sem_init(&f->ended, 0), 0);
    assert_int_equal(uv_sem_init(&f->kept_alive, 0), 0);
    assert_int_equal(uv_sem_init(&f->news, 0), 0);
    assert_int_equal(uv_sem_init(&f->holds, 0), 0);
    open_bulk(f, 15000);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    svc_bulk_close(f->bulk);
    engine_kit_close(f->kit);
    uv_sem_destroy(&f->over);
    uv_sem_destroy(&f->ended);
    uv_sem_destroy(&f->kept_alive);
    uv_sem_destroy(&f->news);
    uv_sem_destroy(&f->holds);
    free(f);
    return 0;
}

static struct id put_filter(struct fixture *f, enum command_job_action action)
{
    struct id id = run(f, &(struct command){.type = COMMAND_BULK_PUT,
                                            .bulk_put = {.action = action,
                                                         .filter = STR("{\"all\":true}"),
                                                         .total = JOBS}})
                       ->id;
    return id;
}

static struct store_bulk record(struct fixture *f, struct id id)
{
    struct store_bulk rec;
    struct buf value;
    buf_init(&value, 1 << 16);
    assert_true(svc_bulk_read(f->kit->engine, id, &value, &rec));
    buf_deinit(&value);
    rec.filter = rec.error = rec.ns = rec.queue = rec.reason = STR_EMPTY;
    return rec;
}

static void filter__is_followed_page_by_page(void **state)
{
    struct fixture *f = *state;
    struct id id = put_filter(f, COMMAND_JOB_HOLD);
    wait_over(f, id);
    assert_int_equal(f->last.status, STORE_BULK_COMPLETED);
    assert_int_equal(f->last.affected, JOBS);
    assert_int_equal(record(f, id).steps, 3);
    assert_int_equal(atomic_load(&f->asked), 3);
}

static void lists__are_worked_off(void **state)
{
    struct fixture *f = *state;
    struct id id = run(f, &(struct command){.type = COMMAND_BULK_PUT,
                                            .bulk_put = {.action = COMMAND_JOB_CANCEL,
                                                         .ids = f->ids,
                                                         .count = JOBS,
                                                         .total = JOBS}})
                       ->id;
    wait_over(f, id);
    assert_int_equal(f->last.affected, JOBS);
    assert_int_equal(atomic_load(&f->asked), 0);
}

static void failures__that_pass_are_passed(void **state)
{
    struct fixture *f = *state;
    f->failures_left = 3;
    f->failure = ERR_OVERLOADED;
    wait_over(f, put_filter(f, COMMAND_JOB_HOLD));
    assert_int_equal(f->last.status, STORE_BULK_COMPLETED);
    assert_int_equal(f->last.affected, JOBS);
    assert_int_equal(atomic_load(&f->asked), 6);
}

static void failures__of_the_caller_end_it(void **state)
{
    struct fixture *f = *state;
    f->failures_left = 1;
    f->failure = ERR_VALIDATION;
    struct id id = put_filter(f, COMMAND_JOB_HOLD);
    wait_over(f, id);
    assert_int_equal(f->last.status, STORE_BULK_FAILED);
    assert_string_equal(f->last.error, "the finder cannot");
    assert_int_equal(record(f, id).affected, 0);
}

static void over__is_told_to_the_late_once(void **state)
{
    struct fixture *f = *state;
    struct id id = put_filter(f, COMMAND_JOB_HOLD);
    wait_over(f, id);
    wait_over(f, id);
    assert_int_equal(f->told, 1);
    assert_int_equal(f->last.type, SVC_BULK_OVER);
    assert_int_equal(f->last.processed, JOBS);
}

static void restart__goes_on_without_a_word(void **state)
{
    struct fixture *f = *state;
    svc_bulk_close(f->bulk);
    struct id id = run(f, &(struct command){.type = COMMAND_BULK_PUT,
                                            .bulk_put = {.action = COMMAND_JOB_HOLD,
                                                         .filter = STR("{\"all\":true}")}})
                       ->id;
    engine_kit_stop_engine(f->kit);
    engine_kit_start_engine(f->kit);
    open_bulk(f, 15000); /* nothing wakes it */
    wait_over(f, id);
    assert_int_equal(f->last.affected, JOBS);
}

static void cancel__is_told_to_those_who_watch(void **state)
{
    struct fixture *f = *state;
    f->failures_left = UINT_MAX;
    f->failure = ERR_OVERLOADED; /* no page is found */
    struct id id = put_filter(f, COMMAND_JOB_HOLD);
    (void)run(
        f, &(struct command){.type = COMMAND_BULK_END, .bulk_end = {.id = id, .cancelled = true}});
    svc_bulk_changed(f->bulk, id);
    wait_over(f, id);
    assert_int_equal(f->last.status, STORE_BULK_CANCELLED);
    assert_int_equal(record(f, id).processed, 0);
}

static void silence__is_broken_now_and_then(void **state)
{
    struct fixture *f = *state;
    svc_bulk_close(f->bulk);
    open_bulk(f, 5);
    f->failures_left = UINT_MAX;
    f->failure = ERR_OVERLOADED;
    struct id id = put_filter(f, COMMAND_JOB_HOLD);
    begin_watch(f, id);
    for (unsigned i = 0; i < 3; i++) {
        uv_sem_wait(&f->kept_alive);
    }
    end_watch(f);
    assert_int_equal(f->last.processed, 0);
}

/* A command that can never be proposed is tried a few times, and the record contains the reason. */
static void refusals__end_it_after_a_few_tries(void **state)
{
    struct fixture *f = *state;
    fault_arm(FAULT_BULK_STEP, 1);
    struct id id = put_filter(f, COMMAND_JOB_CANCEL);
    wait_over(f, id);
    fault_reset();
    assert_int_equal(f->last.status, STORE_BULK_FAILED);
    assert_non_null(strstr(f->last.error, "made to fail"));
    assert_int_equal(f->last.processed, 0);
    assert_true(atomic_load(&f->asked) <= 6);
}

/* An operation that cannot continue for now does not hold up the others. */
static void failures__hold_nobody_else_up(void **state)
{
    struct fixture *f = *state;
    f->failures_left = UINT_MAX;
    f->failure = ERR_OVERLOADED;
    struct id held = put_filter(f, COMMAND_JOB_CANCEL);
    struct id id = run(f, &(struct command){.type = COMMAND_BULK_PUT,
                                            .bulk_put = {.action = COMMAND_JOB_HOLD,
                                                         .total = JOBS,
                                                         .ids = f->ids,
                                                         .count = JOBS}})
                       ->id;
    wait_over(f, id);
    assert_int_equal(f->last.status, STORE_BULK_COMPLETED);
    assert_int_equal(f->last.affected, JOBS);
    (void)run(f, &(struct command){.type = COMMAND_BULK_END,
                                   .bulk_end = {.id = held, .cancelled = true}});
}

/* A queue is deleted in steps. A job that arrives meanwhile stays. */
static void queues__are_deleted_in_steps(void **state)
{
    struct fixture *f = *state;
    struct command c = {.type = COMMAND_BULK_QUEUE,
                        .bulk_queue = {.action = COMMAND_QUEUE_DELETE, .name = STR("q")}};
    const struct result *r = run(f, &c);
    struct id id = r->id;
    assert_int_equal(r->affected, JOBS);
    struct command_new later = {.job = {.queue = STR("q"), .payload = STR("{}")}};
    (void)run(f,
              &(struct command){.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &later, .count = 1}});
    wait_over(f, id);
    assert_int_equal(f->last.status, STORE_BULK_COMPLETED);
    assert_int_equal(f->last.affected, JOBS);
    assert_int_equal(f->last.total, JOBS);
}

/* An operation that waits for its turn has not begun, so its first news is SVC_BULK_STARTED. */
static void beginning__is_told_when_it_comes(void **state)
{
    struct fixture *f = *state;
    f->hold = true;
    struct id first = put_filter(f, COMMAND_JOB_HOLD);
    uv_sem_wait(&f->holds);
    struct id second = put_filter(f, COMMAND_JOB_APPROVE);
    begin_watch(f, first);
    uv_sem_wait(&f->news);
    end_watch(f);
    assert_int_equal(f->first.type, SVC_BULK_STARTED);
    assert_int_equal(f->first.status, STORE_BULK_RUNNING);
    begin_watch(f, second);
    find(f, f->held); /* after the watch began */
    uv_sem_wait(&f->over);
    end_watch(f);
    assert_int_equal(f->first.type, SVC_BULK_STARTED);
    assert_int_equal(f->first.status, STORE_BULK_RUNNING);
    assert_int_equal(f->last.status, STORE_BULK_COMPLETED);
}

#define SVC_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
TEST_GROUP(svc_bulk, SVC_TEST(filter__is_followed_page_by_page), SVC_TEST(lists__are_worked_off),
           SVC_TEST(failures__that_pass_are_passed), SVC_TEST(failures__of_the_caller_end_it),
           SVC_TEST(over__is_told_to_the_late_once), SVC_TEST(restart__goes_on_without_a_word),
           SVC_TEST(cancel__is_told_to_those_who_watch), SVC_TEST(silence__is_broken_now_and_then),
           SVC_TEST(refusals__end_it_after_a_few_tries), SVC_TEST(failures__hold_nobody_else_up),
           SVC_TEST(queues__are_deleted_in_steps), SVC_TEST(beginning__is_told_when_it_comes));
