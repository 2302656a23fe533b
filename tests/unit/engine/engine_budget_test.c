/*
 * Fetches that budgets stop: which jobs they hold, and what wakes the fetches.
 */
#include "engine/engine_int.h"
#include "lib/engine_kit.h"
#include "lib/test.h"
#include "os/os_clock.h"
#include "store/store_access.h"

enum { LONG_MS = 600000, SHORT_MS = 300 };

static const int64_t DAY_NS = INT64_C(24) * 3600 * NS_PER_S;

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

/* Setting the engine's clock */

struct clock_set {
    struct engine *engine;
    struct wall to;
};

static void set_clock_here(void *data)
{
    const struct clock_set *set = data;
    set->engine->now.last = set->to;
    set->engine->now.at = os_clock_boot();
}

/* Set the engine's clock. It then runs on its own, because it is more than a day ahead of the
 * system's clock. */
static void set_clock(struct engine_kit *k, int64_t ns)
{
    struct clock_set set = {.engine = k->engine, .to = {.ns = ns}};
    engine__visit(k->engine, set_clock_here, &set);
}

static void set_budget(struct engine_kit *k, struct str name, int64_t daily_nusd)
{
    struct store_budget rec = {
        .has_daily = true, .daily_nusd = daily_nusd, .on_exceed = STORE_BUDGET_HOLD};
    struct buf body;
    buf_init(&body, 4096);
    store_access_encode_budget(&rec, &body);
    struct command_access_item item = {
        .kind = STORE_ACCESS_BUDGET, .name = name, .body = buf_str(&body)};
    struct command c = {.type = COMMAND_ACCESS, .access = {.items = &item, .count = 1}};
    assert_int_equal(engine_kit_do(k, &c)->code, ERR_OK);
    buf_deinit(&body);
}

static struct id enqueue_red(struct engine_kit *k, const char *queue)
{
    struct command_new job = engine_kit_new_job(queue);
    job.job.tags = STR("{\"team\":\"red\"}");
    return engine_kit_put(k, job);
}

static void spend(struct engine_kit *k, int64_t nusd)
{
    (void)engine_kit_enqueue(k, "q");
    struct command_ack_item item = {.id = engine_kit_claim(k, "q"),
                                    .usage = {.input = 1, .cost_nusd = nusd}};
    struct command c = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    assert_int_equal(engine_kit_do(k, &c)->code, ERR_OK);
}

static void start(struct engine_kit_op *o, struct engine_kit *k, struct str *queues, size_t count)
{
    struct command c = engine_kit_claim_command(queues, 1);
    c.claim.queue_count = count;
    engine_kit_op_init(o, k);
    engine_kit_start(o, &c, LONG_MS);
}

/* Wait until this many claims are parked. A claim is parked again only after its changes are
 * visible. */
static void wait_parked(struct engine_kit *k, uint64_t count)
{
    int64_t end = os_clock_mono().ns + LONG_MS * NS_PER_MS;
    while (engine_kit_parked(k) != count && os_clock_mono().ns < end) {
    }
    assert_int_equal(engine_kit_parked(k), count);
}

static void expect_claimed(struct engine_kit_op *o, struct id id)
{
    engine_kit_wait(o);
    assert_int_equal(o->op.err.code, ERR_OK);
    assert_int_equal(o->result.count, 1);
    assert_true(id_eq(o->result.items[0].id, id));
    engine_kit_op_deinit(o);
}

/* The day ends, and nothing else happens. The clock is set to shortly before midnight after the
 * fetch has begun to wait, so the test has enough time. The next enqueued job makes the park read
 * the clock. */
static void daily_budget__lets_who_waits_go_on_at_midnight(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct engine_kit_op o;
    int64_t midnight = (os_clock_wall().ns / DAY_NS + 4) * DAY_NS;
    set_clock(k, midnight - DAY_NS / 2);
    set_budget(k, STR("q\0q"), 100);
    spend(k, 100);
    struct id held = engine_kit_enqueue(k, "q");
    struct id next = engine_kit_enqueue(k, "q");
    start(&o, k, &queue, 1);
    engine_kit_wait_state(k, held, JOB_HELD);
    wait_parked(k, 1);
    set_clock(k, midnight - SHORT_MS * NS_PER_MS);
    (void)engine_kit_enqueue(k, "q");
    expect_claimed(&o, next);
}

/* The same for a job that is held by the budget of a tag. */
static void daily_budget_of_a_tag__lets_who_waits_go_on_at_midnight(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct engine_kit_op o;
    int64_t midnight = (os_clock_wall().ns / DAY_NS + 4) * DAY_NS;
    set_clock(k, midnight - DAY_NS / 2);
    set_budget(k, STR("t\0team=red"), 100);
    struct id first = enqueue_red(k, "q");
    assert_true(id_eq(engine_kit_claim(k, "q"), first));
    struct command_ack_item item = {.id = first, .usage = {.input = 1, .cost_nusd = 100}};
    struct command c = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    assert_int_equal(engine_kit_do(k, &c)->code, ERR_OK);
    struct id held = enqueue_red(k, "q");
    struct id next = enqueue_red(k, "q");
    start(&o, k, &queue, 1);
    engine_kit_wait_state(k, held, JOB_HELD);
    wait_parked(k, 1);
    set_clock(k, midnight - SHORT_MS * NS_PER_MS);
    (void)engine_kit_enqueue(k, "q");
    expect_claimed(&o, next);
}

/* A fetch that is retried, because another queue has a job, does not hold a second job. */
static void fetch__holds_one_job_of_a_queue_in_all(void **state)
{
    struct engine_kit *k = *state;
    struct str queues[] = {STR("dear"), STR("cheap"), STR("dear")};
    struct engine_kit_op o;
    set_budget(k, STR("q\0dear"), 0);
    struct id held = engine_kit_enqueue(k, "dear");
    struct id left = engine_kit_enqueue(k, "dear");
    start(&o, k, queues, COUNT_OF(queues));
    engine_kit_wait_state(k, held, JOB_HELD);
    wait_parked(k, 1);
    expect_claimed(&o, engine_kit_enqueue(k, "cheap"));
    assert_int_equal(engine_kit_state(k, left), JOB_PENDING);
}

/* Each fetch holds one job. Then the fetches wait without being retried, until there is a job that
 * no budget holds. */
static void budget_of_a_tag__holds_one_job_of_each_fetch(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct engine_kit_op o[2];
    struct id red[3];
    set_budget(k, STR("t\0team=red"), 0);
    for (size_t i = 0; i < COUNT_OF(red); i++) {
        red[i] = enqueue_red(k, "q");
    }
    struct id plain = engine_kit_enqueue(k, "q");
    for (size_t i = 0; i < COUNT_OF(o); i++) {
        start(&o[i], k, &queue, 1);
        engine_kit_wait_state(k, red[i], JOB_HELD);
        wait_parked(k, i + 1);
        assert_int_equal(engine_kit_state(k, red[i + 1]), JOB_PENDING);
    }
    uint64_t before = engine_kit_status(k).applied_ops;
    (void)engine_kit_enqueue(k, "other");
    assert_int_equal(engine_kit_status(k).applied_ops, before + 1);
    engine_kit_job(k, COMMAND_JOB_CANCEL, red[2]);
    expect_claimed(&o[0], plain);
    wait_parked(k, 1);
    /* A claim that was tried with a job that it may not hold is parked again. */
    struct id last = enqueue_red(k, "q");
    assert_int_equal(engine_kit_state(k, last), JOB_PENDING);
    wait_parked(k, 1);
    engine_kit_job(k, COMMAND_JOB_CANCEL, last);
    expect_claimed(&o[1], engine_kit_enqueue(k, "q"));
}

TEST_GROUP(engine_budget,
           cmocka_unit_test_setup_teardown(daily_budget__lets_who_waits_go_on_at_midnight, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(daily_budget_of_a_tag__lets_who_waits_go_on_at_midnight,
                                           setup, teardown),
           cmocka_unit_test_setup_teardown(fetch__holds_one_job_of_a_queue_in_all, setup, teardown),
           cmocka_unit_test_setup_teardown(budget_of_a_tag__holds_one_job_of_each_fetch, setup,
                                           teardown));
