/*
 * The history agrees with the event log: by minute and by hour, for each queue and for all queues.
 * The kit applies every entry again on a second machine with restarts, which detects cells that
 * depend on lost memory.
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_history.h"

enum { MINUTES_MAX = 400 };

/* Counts recomputed from the events of one queue, or of all queues. */
struct recount {
    struct str queue;    /* empty: all */
    uint32_t first_hour; /* minutes are counted from the beginning of this hour */
    uint64_t count[MINUTES_MAX][STORE_HISTORY_COUNTS];
    bool any[MINUTES_MAX];
};

static int counter_of(enum store_event_type type)
{
    static const struct {
        enum store_event_type type;
        enum store_history_count counter;
    } rows[] = {
        {STORE_EVENT_ENQUEUED, STORE_HISTORY_ENQUEUED},
        {STORE_EVENT_STARTED, STORE_HISTORY_STARTED},
        {STORE_EVENT_COMPLETED, STORE_HISTORY_COMPLETED},
        {STORE_EVENT_FAILED, STORE_HISTORY_FAILED},
        {STORE_EVENT_RETRYING, STORE_HISTORY_RETRIED},
        {STORE_EVENT_DEAD, STORE_HISTORY_DEAD},
        {STORE_EVENT_CANCELLED, STORE_HISTORY_CANCELLED},
        {STORE_EVENT_EXPIRED, STORE_HISTORY_EXPIRED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].type == type) {
            return (int)rows[i].counter;
        }
    }
    return -1;
}

static bool recount_event(void *data, const struct store_event *e)
{
    struct recount *r = data;
    int counter = counter_of(e->type);
    uint32_t minute = (uint32_t)(e->at.ns / NS_PER_S / 60) - r->first_hour * 60;
    if (counter >= 0 && (r->queue.len == 0 || str_eq(e->queue, r->queue))) {
        assert_true(minute < MINUTES_MAX);
        r->count[minute][counter]++;
        r->any[minute] = true;
    }
    return true;
}

static void compare_minute(void *data, uint32_t number, const struct store_history *h)
{
    struct recount *r = data;
    uint32_t minute = number - r->first_hour * 60;
    assert_true(minute < MINUTES_MAX);
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        assert_int_equal(h->count[i], r->count[minute][i]);
    }
    r->any[minute] = false; /* compared */
    assert_int_equal(h->wait.count, h->count[STORE_HISTORY_STARTED]);
}

static void compare_hour(void *data, uint32_t number, const struct store_history *h)
{
    const struct recount *r = data;
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        uint64_t want = 0;
        for (uint32_t minute = 0; minute < 60; minute++) {
            want += r->count[(number - r->first_hour) * 60 + minute][i];
        }
        assert_int_equal(h->count[i], want);
    }
}

static void expect_recounted(struct kit *k, const char *queue, struct wall since)
{
    static struct recount r;
    struct store *s = machine_store(k->machine);
    memset(&r, 0, sizeof r);
    r.queue = str_from_z(queue);
    r.first_hour = (uint32_t)(since.ns / NS_PER_S / 3600);
    store_event_read(s, 0, recount_event, &r);
    store_history_each(s, r.queue, (struct store_history_range){STORE_HISTORY_HOUR, 0, UINT32_MAX},
                       compare_hour, &r);
    store_history_each(s, r.queue,
                       (struct store_history_range){STORE_HISTORY_MINUTE, 0, UINT32_MAX},
                       compare_minute, &r);
    for (unsigned i = 0; i < MINUTES_MAX; i++) {
        assert_false(r.any[i]); /* an event without a cell */
    }
}

static void move(struct kit *k, struct id id, const char *to)
{
    struct command c = kit_action(COMMAND_JOB_MOVE, &id);
    c.jobs.queue = str_from_z(to);
    assert_int_equal(kit_apply(k, &c)->affected, 1);
}

static void work_at_random(struct kit *k, struct rng *r, const char *const *queues, size_t count)
{
    const char *queue = queues[rng_below(r, count)];
    struct id id = ID_NONE;
    switch (rng_below(r, 7)) {
    case 0:
    case 1:
        id = kit_enqueue(k, queue, "{}");
        if (rng_below(r, 4) == 0) {
            (void)kit_do(k, COMMAND_JOB_CANCEL, id);
        }
        break;
    case 2: {
        struct job j = kit_template(queue, "{}");
        j.scheduled_at = wall_add_ms(k->now, (int64_t)rng_below(r, 120000));
        j.expire_at = rng_below(r, 2) == 0 ? wall_add_ms(k->now, 60000) : WALL_NONE;
        (void)kit_enqueue_job(k, &j);
        break;
    }
    case 3:
    case 4:
        id = kit_claim(k, queue);
        if (!id_is_none(id)) {
            kit_pass_ms(k, (int64_t)rng_below(r, 5000));
            (void)(rng_below(r, 3) == 0 ? kit_fail(k, id, "boom") : kit_ack(k, id));
        }
        break;
    case 5:
        kit_tick(k, (int64_t)rng_below(r, 30000));
        break;
    default:
        id = kit_enqueue(k, queue, "{}");
        if (rng_below(r, 2) == 0) {
            move(k, id, queues[rng_below(r, count)]);
        }
        if (rng_below(r, 20) == 0) {
            (void)kit_empty(k, COMMAND_QUEUE_DELETE, queue);
        }
        break;
    }
}

/* The sum of the cells of a name. */
struct total {
    unsigned cells;
    struct store_history sum;
};

static void add_up(void *data, uint32_t number, const struct store_history *h)
{
    struct total *t = data;
    (void)number;
    t->cells++;
    store_history_merge(&t->sum, h);
}

static struct total total_of(struct kit *k, enum store_history_step step, const char *name)
{
    struct total t = {0};
    store_history_each(machine_store(k->machine), str_from_z(name),
                       (struct store_history_range){step, 0, UINT32_MAX}, add_up, &t);
    return t;
}

static void namespaces__have_a_sum_of_their_own(void **state)
{
    struct kit *k = *state;
    (void)kit_enqueue(k, "summed::one", "{}");
    (void)kit_enqueue(k, "summed::two", "{}");
    (void)kit_enqueue(k, kit_name(k), "{}");
    struct total t = total_of(k, STORE_HISTORY_MINUTE, "summed::");
    assert_int_equal(t.sum.count[STORE_HISTORY_ENQUEUED], 2);
}

static void waits__begin_when_a_job_comes_into_line(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = kit_template(queue, "{}");
    j.scheduled_at = wall_add_ms(k->now, 40000);
    struct id id = kit_enqueue_job(k, &j);
    kit_tick(k, 40000);
    kit_pass_ms(k, 700);
    assert_true(id_eq(kit_claim(k, queue), id));
    assert_int_equal(kit_job(k, id).ready_at.ns, 0);
    kit_pass_ms(k, 250);
    (void)kit_ack(k, id);
    struct total t = total_of(k, STORE_HISTORY_HOUR, queue);
    assert_int_equal(t.sum.wait.max_ms, 700);
    assert_int_equal(t.sum.run.max_ms, 250);
    assert_int_equal(t.sum.depth, 0);
    assert_int_equal(t.sum.depth_max, 1);
}

static uint64_t depth_of(struct kit *k, const char *queue)
{
    uint64_t depth = total_of(k, STORE_HISTORY_MINUTE, queue).sum.depth;
    assert_int_equal(total_of(k, STORE_HISTORY_HOUR, queue).sum.depth, depth);
    return depth;
}

static void history__is_what_the_event_log_says(void **state)
{
    struct kit *k = *state;
    struct wall since = k->now;
    struct rng r = rng_from(3);
    const char *queues[] = {kit_name(k), "a-namespace::one", kit_name(k), "a-namespace::two"};
    for (unsigned i = 0; i < 1500; i++) {
        work_at_random(k, &r, queues, COUNT_OF(queues));
        if (i % 300 == 299) {
            kit_reopen(k);
        }
    }
    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        expect_recounted(k, queues[i], since);
        assert_int_equal(depth_of(k, queues[i]), kit_queue_info(k, queues[i]).count[JOB_PENDING]);
    }
    expect_recounted(k, "", since);
}

static void restore_pending(struct kit *k, const char *queue)
{
    struct job j = kit_template(queue, "{}");
    j.state = JOB_PENDING;
    j.id = id_make((struct wall){.ns = 1500000000 * NS_PER_S}, 5, (unsigned)k->index);
    j.created_at = (struct wall){.ns = 1500000000 * NS_PER_S};
    struct command_restore_item it = {.kind = COMMAND_RESTORE_JOB, .id = j.id, .job = j};
    struct command c = {.type = COMMAND_RESTORE, .restore = {.items = &it, .count = 1}};
    assert_int_equal(kit_apply(k, &c)->affected, 1);
}

/* Both steps of a delete in one entry. */
static void delete_at_once(struct kit *k, const char *queue)
{
    struct command steps[2] = {{.type = COMMAND_QUEUE}, {.type = COMMAND_QUEUE}};
    steps[0].queue =
        (struct command_queue){.action = COMMAND_QUEUE_DELETE, .name = str_from_z(queue)};
    steps[1].queue = steps[0].queue;
    steps[1].queue.until = id_make(k->now, k->index, 0);
    steps[1].queue.in_done = true;
    (void)kit_apply_all(k, steps, COUNT_OF(steps));
    assert_false(machine_queue_find(k->machine, str_from_z(queue), &(struct machine_queue){0}));
}

/* Two jobs are added to the first queue. Minutes later one of them is moved to the second. */
static void move_later(struct kit *k, const char *from, const char *to)
{
    struct id id = kit_enqueue(k, from, "{}");
    (void)kit_enqueue(k, from, "{}");
    kit_pass_ms(k, 120000);
    move(k, id, to);
}

static void depth__is_the_line_whatever_changes_it(void **state)
{
    struct kit *k = *state;
    char from[64];
    char to[64];
    (void)snprintf(from, sizeof from, "%s", kit_name(k));
    (void)snprintf(to, sizeof to, "%s", kit_name(k));
    move_later(k, from, to);
    assert_int_equal(depth_of(k, from), 1);
    assert_int_equal(depth_of(k, to), 1);
    uint64_t all = depth_of(k, "");
    kit_pass_ms(k, 120000);
    kit_reopen(k); /* loading is no change: the second machine of the kit is not reopened here */
    restore_pending(k, to);
    assert_int_equal(depth_of(k, to), 2);
    assert_int_equal(depth_of(k, ""), all + 1);
    (void)kit_empty(k, COMMAND_QUEUE_CLEAR, to);
    assert_int_equal(depth_of(k, to), 0);
    assert_int_equal(depth_of(k, ""), all - 1);
    kit_pass_ms(k, 120000);
    delete_at_once(k, from);
    assert_int_equal(depth_of(k, from), 0);
    assert_int_equal(total_of(k, STORE_HISTORY_HOUR, from).sum.oldest_at_ms, 0);
    assert_int_equal(depth_of(k, ""), all - 2);
}

/* Entries of earlier versions change the depth only by events, and only in the queue of the event.
 */
static void depth__of_entries_of_before_stays(void **state)
{
    struct kit *k = *state;
    char from[64];
    char to[64];
    (void)snprintf(from, sizeof from, "%s", kit_name(k));
    (void)snprintf(to, sizeof to, "%s", kit_name(k));
    k->entry_version = COMMAND_ENTRY_PUT;
    move_later(k, from, to);
    restore_pending(k, to);
    assert_int_equal(depth_of(k, from), 2);
    assert_int_equal(depth_of(k, to), 1);
    kit_pass_ms(k, 120000);
    delete_at_once(k, from);
    assert_int_equal(depth_of(k, from), 2);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

/* The depth in the last cell of the queue before this time, or 0 if there is none. */
static uint64_t depth_before(struct kit *k, const char *queue, enum store_history_step step,
                             struct wall at)
{
    struct store_history_back back =
        store_history_back(step, (uint32_t)(at.ns / NS_PER_S / store_history_seconds(step)));
    struct store_history h;
    unsigned pieces = 1;
    while (!store_history_back_step(machine_store(k->machine), str_from_z(queue), &back, &h)) {
        assert_true(pieces++ < 20);
    }
    return h.depth;
}

/* The last depth is found after any time without changes, even if its minute is no longer kept. */
static void depth__before_a_moment_is_that_of_the_last_change(void **state)
{
    static const int64_t minutes[] = {1, 59, 61, 239, 241, 600, 5000, 80L * 24 * 60};
    struct kit *k = *state;
    for (size_t i = 0; i < COUNT_OF(minutes); i++) {
        const char *queue = kit_name(k);
        kit_pass_ms(k, 7L * 60000);
        struct wall begin = k->now;
        (void)kit_enqueue(k, queue, "{}");
        (void)kit_enqueue(k, queue, "{}");
        kit_pass_ms(k, minutes[i] * 60000);
        (void)kit_claim(k, queue);
        for (unsigned step = 0; step < STORE_HISTORY_STEPS; step++) {
            bool same = k->now.ns / NS_PER_S / store_history_seconds(step) ==
                        begin.ns / NS_PER_S / store_history_seconds(step);
            assert_int_equal(depth_before(k, queue, step, k->now), same ? 0 : 2);
            assert_int_equal(depth_before(k, queue, step, begin), 0);
        }
    }
    assert_int_equal(depth_before(k, kit_name(k), STORE_HISTORY_MINUTE, k->now), 0);
    assert_int_equal(depth_before(k, kit_name(k), STORE_HISTORY_HOUR, (struct wall){.ns = 1}), 0);
}

/* The age increases while nothing happens. For all queues, the oldest job counts. */
static void oldest__is_the_greatest_age_of_a_pending_job(void **state)
{
    struct kit *k = *state;
    char first[64];
    char second[64];
    (void)snprintf(first, sizeof first, "%s.a", kit_name(k));
    (void)snprintf(second, sizeof second, "%s.b", kit_name(k));
    int64_t begin_ms = k->now.ns / NS_PER_MS;
    (void)kit_enqueue(k, first, "{}");
    kit_pass_ms(k, 90000);
    (void)kit_enqueue(k, second, "{}");
    /* Other tests have left older jobs. */
    struct total all = total_of(k, STORE_HISTORY_HOUR, "");
    assert_in_range(all.sum.oldest_at_ms, 1, begin_ms);
    assert_true(all.sum.oldest_max_ms >= 90000);
    assert_int_equal(total_of(k, STORE_HISTORY_HOUR, second).sum.oldest_max_ms, 0);
    kit_pass_ms(k, 5000);
    (void)kit_claim(k, first);
    struct total t = total_of(k, STORE_HISTORY_HOUR, first);
    assert_int_equal(t.sum.oldest_at_ms, 0);
    assert_int_equal(t.sum.oldest_max_ms, 95000);
    /* Entries of earlier versions do not store it. */
    k->entry_version = COMMAND_ENTRY_SPLIT;
    (void)kit_enqueue(k, first, "{}");
    assert_int_equal(total_of(k, STORE_HISTORY_MINUTE, first).sum.oldest_at_ms, 0);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

static void minutes__are_kept_for_two_days_and_hours_longer(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    (void)kit_enqueue(k, queue, "{}");
    kit_pass_ms(k, 60000);
    (void)kit_enqueue(k, queue, "{}");
    assert_int_equal(total_of(k, STORE_HISTORY_MINUTE, queue).cells, 2);
    /* Activity in other queues removes the old minutes. */
    kit_pass_ms(k, (int64_t)LIMIT_HISTORY_MINUTES * 60000);
    for (unsigned i = 0; i < 3000; i++) {
        kit_pass_ms(k, 60000);
        (void)kit_claim(k, kit_name(k));
        (void)kit_enqueue(k, "history.others", "{}");
    }
    kit_reopen(k);
    (void)kit_enqueue(k, queue, "{}");
    struct total minutes = total_of(k, STORE_HISTORY_MINUTE, queue);
    struct total hours = total_of(k, STORE_HISTORY_HOUR, queue);
    assert_int_equal(minutes.sum.count[STORE_HISTORY_ENQUEUED], 2); /* the last and the open one */
    assert_int_equal(hours.sum.count[STORE_HISTORY_ENQUEUED], 3);
    assert_true(total_of(k, STORE_HISTORY_MINUTE, "history.others").cells <=
                LIMIT_HISTORY_MINUTES + 2);
    assert_int_equal(
        total_of(k, STORE_HISTORY_HOUR, "history.others").sum.count[STORE_HISTORY_ENQUEUED], 3000);
}

/* Entries from before the history existed keep their effect. */
static void entries__of_before_are_not_counted(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    k->entry_version = 2;
    struct job j = kit_template(queue, "{}");
    j.scheduled_at = wall_add_ms(k->now, 1000);
    struct id id = kit_enqueue_job(k, &j);
    kit_tick(k, 1000);
    assert_int_equal(kit_job(k, id).ready_at.ns, 0);
    k->entry_version = COMMAND_ENTRY_VERSION;
    assert_int_equal(total_of(k, STORE_HISTORY_MINUTE, queue).cells, 0);
}

TEST_GROUP_FIXTURE(history, kit_setup, kit_teardown,
                   cmocka_unit_test(history__is_what_the_event_log_says),
                   cmocka_unit_test(namespaces__have_a_sum_of_their_own),
                   cmocka_unit_test(waits__begin_when_a_job_comes_into_line),
                   cmocka_unit_test(entries__of_before_are_not_counted),
                   cmocka_unit_test(depth__is_the_line_whatever_changes_it),
                   cmocka_unit_test(depth__of_entries_of_before_stays),
                   cmocka_unit_test(depth__before_a_moment_is_that_of_the_last_change),
                   cmocka_unit_test(oldest__is_the_greatest_age_of_a_pending_job),
                   cmocka_unit_test(minutes__are_kept_for_two_days_and_hours_longer));
