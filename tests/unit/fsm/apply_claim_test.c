/*
 * Claims: order, limits of queues, and changes of jobs and workers (http-api.md 5.3, 6.3 to 6.5,
 * 8.1, 14).
 */
#include <stdio.h>

#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_job.h"
#include "store/store_record.h"
#include "store/store_rows.h"

/* Claim up to count jobs from the queues, in this order. */
static const struct result *claim(struct kit *k, const char *const *queues, size_t queue_count,
                                  uint32_t count)
{
    struct str names[8];
    for (size_t i = 0; i < queue_count; i++) {
        names[i] = str_from_z(queues[i]);
    }
    return kit_claim_with(k, &(struct command_claim){.queues = names,
                                                     .queue_count = queue_count,
                                                     .worker_id = STR("w"),
                                                     .hostname = STR("h"),
                                                     .lease_ms = 30000,
                                                     .count = count});
}

static void expect_claims(struct kit *k, const char *queue, const struct id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(id_eq(kit_claim(k, queue), ids[i]));
    }
    assert_true(id_is_none(kit_claim(k, queue)));
}

static struct id enqueue_with(struct kit *k, const char *queue, uint8_t priority)
{
    struct job j = kit_template(queue, "{}");
    j.priority = priority;
    return kit_enqueue_job(k, &j);
}

static void claim__takes_the_job_and_says_who_has_it(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{\"x\":1}");
    struct job before = kit_job(k, id);
    struct job doc;
    struct err err;
    kit_pass_ms(k, 5);
    const struct result *r = claim(k, &queue, 1, 1);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, id));
    /* The result contains the changed document. */
    assert_int_equal(store_job_decode(id, r->items[0].doc, &doc, &err), ERR_OK);
    expect_str(doc.payload, STR("{\"x\":1}"));
    assert_int_equal(doc.attempt, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_ACTIVE);
    assert_int_equal(j.attempt, 1);
    assert_int_equal(j.order, 0);
    assert_true(j.lease_token > before.lease_token);
    assert_int_equal(j.lease_token, doc.lease_token);
    assert_int_equal(j.started_at.ns, k->now.ns);
    assert_int_equal(j.lease_expires_at.ns, k->now.ns + 30000 * NS_PER_MS);
    expect_str(j.worker_id, STR("w"));
    expect_str(j.hostname, STR("h"));
    kit_expect_events(k, id, "enqueued started");
    struct store_event e = kit_last_event(k, id);
    expect_str(e.text, STR("w"));
    assert_int_equal(e.attempt, 1);
    kit_expect_count(k, queue, JOB_PENDING, 0);
    kit_expect_count(k, queue, JOB_ACTIVE, 1);
    /* Only one claim gets the job. */
    assert_true(id_is_none(kit_claim(k, queue)));
}

static void claim__counts_attempts_and_never_repeats_a_token(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{}");
    uint64_t token = 0;
    for (uint32_t attempt = 1; attempt <= 3; attempt++) {
        (void)kit_claim(k, queue);
        struct job j = kit_job(k, id);
        assert_int_equal(j.attempt, attempt);
        assert_true(j.lease_token > token);
        token = j.lease_token;
        kit_tick(k, JOB_LEASE_MS + 1); /* reclaimed */
    }
}

static void order__is_by_priority_then_by_arrival(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id normal1 = enqueue_with(k, queue, JOB_PRIORITY_NORMAL);
    struct id high1 = enqueue_with(k, queue, JOB_PRIORITY_HIGH);
    struct id critical = enqueue_with(k, queue, JOB_PRIORITY_CRITICAL);
    struct id normal2 = enqueue_with(k, queue, JOB_PRIORITY_NORMAL);
    struct id high2 = enqueue_with(k, queue, JOB_PRIORITY_HIGH);
    const struct id want[] = {critical, high1, high2, normal1, normal2};
    expect_claims(k, queue, want, COUNT_OF(want));
}

/* The first job is the one that became pending first, not the one that was created first, also
 * after a restart. */
static void order__is_by_the_time_of_becoming_pending(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job later = kit_template(queue, "{}");
    later.scheduled_at = wall_add_ms(k->now, 1000);
    struct id scheduled = kit_enqueue_job(k, &later);
    struct id retried = kit_enqueue(k, queue, "{}");
    struct id approved = kit_enqueue(k, queue, "{}");
    struct id first = kit_enqueue(k, queue, "{}");
    (void)kit_do(k, COMMAND_JOB_CANCEL, retried);
    (void)kit_do(k, COMMAND_JOB_HOLD, approved);
    kit_tick(k, 1000);
    (void)kit_do(k, COMMAND_JOB_APPROVE, approved);
    (void)kit_do(k, COMMAND_JOB_RETRY, retried);
    struct id last = kit_enqueue(k, queue, "{}");
    kit_reopen(k);
    const struct id want[] = {first, scheduled, approved, retried, last};
    expect_claims(k, queue, want, COUNT_OF(want));
}

static void queues__are_tried_in_the_order_given(void **state)
{
    struct kit *k = *state;
    const char *queues[] = {kit_name(k), kit_name(k), kit_name(k), "no.such.queue"};
    struct id second = enqueue_with(k, queues[1], JOB_PRIORITY_NORMAL);
    struct id third = enqueue_with(k, queues[2], JOB_PRIORITY_CRITICAL);
    struct id second2 = enqueue_with(k, queues[1], JOB_PRIORITY_NORMAL);
    const struct result *r = claim(k, queues, 4, 1);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, second)); /* list order comes before priority */
    r = claim(k, queues, 4, 1);
    assert_true(id_eq(r->items[0].id, second2));
    r = claim(k, queues, 4, 1);
    assert_true(id_eq(r->items[0].id, third));
    assert_int_equal(claim(k, queues, 4, 1)->count, 0);
    struct machine_queue q;
    assert_false(machine_queue_find(k->machine, STR("no.such.queue"), &q));
}

static void batch_claim__fills_from_queue_to_queue(void **state)
{
    struct kit *k = *state;
    const char *queues[] = {kit_name(k), kit_name(k)};
    struct id ids[5];
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue(k, queues[i < 2 ? 0 : 1], "{}");
    }
    const struct result *r = claim(k, queues, 2, 4);
    assert_int_equal(r->count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(id_eq(r->items[i].id, ids[i]));
    }
    r = claim(k, queues, 2, 4); /* fewer than requested */
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, ids[4]));
}

static void pause__stops_claims_and_nothing_else(void **state)
{
    struct kit *k = *state;
    const char *queues[] = {kit_name(k), kit_name(k)};
    struct id active = kit_enqueue(k, queues[0], "{}");
    (void)kit_claim(k, queues[0]);
    struct id waiting = kit_enqueue(k, queues[0], "{}");
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queues[0]);
    struct id other = kit_enqueue(k, queues[1], "{}");
    struct id late = kit_enqueue(k, queues[0], "{}"); /* enqueue still works */
    assert_true(id_eq(claim(k, queues, 2, 1)->items[0].id, other));
    assert_int_equal(claim(k, queues, 2, 1)->count, 0);
    (void)kit_ack(k, active);
    kit_reopen(k);
    assert_true(id_is_none(kit_claim(k, queues[0])));
    (void)kit_queue(k, COMMAND_QUEUE_RESUME, queues[0]);
    expect_str(buf_str(&k->ready), kit_text(k, "%s ", queues[0]));
    const struct id want[] = {waiting, late};
    expect_claims(k, queues[0], want, COUNT_OF(want));
}

static void concurrency__bounds_the_active_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[6];
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue(k, queue, "{}");
    }
    struct command_queue limit = {
        .action = COMMAND_QUEUE_CONCURRENCY, .name = str_from_z(queue), .max = 2};
    (void)kit_queue_with(k, &limit);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 2);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
    kit_reopen(k);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
    (void)kit_ack(k, ids[0]);
    expect_str(buf_str(&k->ready), kit_text(k, "%s ", queue)); /* room for one more active job */
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
    (void)kit_fail(k, ids[1], "x");
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
    (void)kit_do(k, COMMAND_JOB_CANCEL, ids[2]);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
    /* A lower limit does not end active jobs. 0 removes the limit. */
    limit.max = 1;
    (void)kit_queue_with(k, &limit);
    kit_expect_count(k, queue, JOB_ACTIVE, 2);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
    limit.max = 0;
    (void)kit_queue_with(k, &limit);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
}

static void set_throttle(struct kit *k, const char *queue, uint32_t rate, int64_t window_ms)
{
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_THROTTLE,
                                                    .name = str_from_z(queue),
                                                    .rate = rate,
                                                    .window_ms = window_ms});
}

static void throttle__bounds_the_claims_of_a_sliding_window(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct wall until;
    struct wall start = k->now;
    for (unsigned i = 0; i < 12; i++) {
        (void)kit_enqueue(k, queue, "{}");
    }
    assert_int_equal(claim(k, &queue, 1, 1)->count, 1); /* before the throttle: not counted */
    set_throttle(k, queue, 3, 10000);
    assert_int_equal(claim(k, &queue, 1, 2)->count, 2); /* each job of a claim counts */
    kit_pass_ms(k, 4000);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
    assert_false(machine_claimable(k->machine, str_from_z(queue), k->now, &until));
    assert_int_equal(until.ns, wall_add_ms(start, 10000).ns);
    kit_pass_ms(k, 5999);
    kit_reopen(k); /* the window is stored on disk */
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
    kit_pass_ms(k, 1);
    assert_true(machine_claimable(k->machine, str_from_z(queue), k->now, &until));
    assert_int_equal(machine_claimable_count(k->machine, str_from_z(queue), k->now), 2);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 2); /* two left the window, one is in it */
    kit_pass_ms(k, 4000);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
}

static void throttle__forgets_its_window_when_it_is_removed_or_changed(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    for (unsigned i = 0; i < 12; i++) {
        (void)kit_enqueue(k, queue, "{}");
    }
    set_throttle(k, queue, 1, 60000);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
    set_throttle(k, queue, 1, 60000); /* the same throttle again changes nothing */
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
    set_throttle(k, queue, 2, 60000);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 2);
    (void)kit_queue(k, COMMAND_QUEUE_UNTHROTTLE, queue);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 5);
    set_throttle(k, queue, 1, 60000);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 1);
    kit_reopen(k);
    assert_int_equal(claim(k, &queue, 1, 5)->count, 0);
}

static void limits__send_the_claim_to_the_next_queue(void **state)
{
    struct kit *k = *state;
    const char *queues[] = {kit_name(k), kit_name(k), kit_name(k)};
    for (unsigned i = 0; i < 3; i++) {
        (void)kit_enqueue(k, queues[i], "{}");
        (void)kit_enqueue(k, queues[i], "{}");
    }
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_CONCURRENCY,
                                                    .name = str_from_z(queues[0]),
                                                    .max = 1});
    set_throttle(k, queues[1], 1, 1000);
    assert_int_equal(claim(k, queues, 3, 6)->count, 4);
    kit_expect_count(k, queues[0], JOB_ACTIVE, 1);
    kit_expect_count(k, queues[1], JOB_ACTIVE, 1);
    kit_expect_count(k, queues[2], JOB_ACTIVE, 2);
}

static void expired__jobs_are_never_claimed(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new news[2] = {
        {.job = kit_template(queue, "{}"), .expire_after_ms = 100},
        {.job = kit_template(queue, "{}"), .expire_after_ms = 300},
    };
    struct command c = kit_enqueue_command(news, 2);
    const struct result *r = kit_apply(k, &c);
    struct id first = r->items[0].id;
    struct id second = r->items[1].id;
    struct id third = kit_enqueue(k, queue, "{}");
    kit_pass_ms(k, 300);
    assert_true(id_eq(kit_claim(k, queue), second)); /* it expires only after its expiry time */
    kit_expect_state(k, first, JOB_DEAD);
    kit_expect_events(k, first, "enqueued expired dead");
    kit_expect_errors(k, first, "job expired");
    assert_int_equal(kit_job(k, first).attempt, 0);
    assert_true(id_eq(kit_claim(k, queue), third));
}

/* Workers */

static bool worker_row(struct kit *k, const char *id, struct store_worker *out)
{
    struct buf value;
    buf_init(&value, 1 << 16);
    bool found = store_get(machine_store(k->machine), STORE_KIND_WORKER, str_from_z(id), &value);
    struct str kept = arena_str(k->arena, buf_str(&value));
    buf_deinit(&value);
    if (found) {
        assert_true(store_record_decode_worker(kept, out));
    }
    return found;
}

static struct str worker_queues[] = {{"a", 1}, {"b\"c", 3}};

static struct command_claim claim_of(const char *worker, const char *hostname)
{
    return (struct command_claim){.queues = worker_queues,
                                  .queue_count = COUNT_OF(worker_queues),
                                  .worker_id = str_from_z(worker),
                                  .hostname = str_from_z(hostname),
                                  .lease_ms = 1000,
                                  .count = 1};
}

/* A worker's row contains the last version that the worker has sent. So do the errors of its jobs.
 */
static void note_version(void *data, const struct store_error *e)
{
    expect_str(e->version, *(const struct str *)data);
}

static void workers__have_the_version_that_they_named_last(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str queues[] = {str_from_z(queue)};
    struct command_claim c = claim_of("versioned", "host");
    struct store_worker w;
    c.queues = queues;
    c.queue_count = 1;
    c.version = STR("1.4.2");
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_claim_with(k, &c);
    assert_true(worker_row(k, "versioned", &w));
    expect_str(w.version, STR("1.4.2"));
    (void)kit_fail(k, id, "it broke");
    struct str want = STR("1.4.2");
    store_rows_each_error(machine_store(k->machine), id, note_version, &want);
    c.version = STR_EMPTY; /* the version of the previous claim is kept */
    kit_pass_ms(k, 6000);
    (void)kit_claim_with(k, &c);
    assert_true(worker_row(k, "versioned", &w));
    expect_str(w.version, STR("1.4.2"));
    c.version = STR("1.5.0"); /* a new version is written at once */
    (void)kit_claim_with(k, &c);
    assert_true(worker_row(k, "versioned", &w));
    expect_str(w.version, STR("1.5.0"));
}

static bool count_marker(void *data, struct str rest, struct str value)
{
    (void)rest;
    (void)value;
    ++*(unsigned *)data;
    return true;
}

static unsigned count_markers(struct kit *k)
{
    unsigned count = 0;
    struct str prefix = STR("xw");
    store_each_from(machine_store(k->machine), STORE_KIND_ACCESS, prefix, prefix, count_marker,
                    &count);
    return count;
}

/* A worker that sends a different version with every claim creates few markers per entry, and the
 * total is limited. */
static void markers__of_versions_are_bounded(void **state)
{
    enum { AT_ONCE = 50, MADE_MAX = 16 };
    struct kit *k = *state;
    struct command commands[AT_ONCE];
    char versions[AT_ONCE][16];
    struct str queues[] = {str_from_z(kit_name(k))};
    unsigned before = count_markers(k);
    unsigned made = MADE_MAX;
    for (unsigned n = 0; count_markers(k) < LIMIT_MARKERS || n % 4 != 0; n++) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            (void)snprintf(versions[i], sizeof versions[i], "%u.%u", n, i);
            command_init(&commands[i], COMMAND_CLAIM);
            commands[i].claim = claim_of("restless", "host");
            commands[i].claim.queues = queues;
            commands[i].claim.queue_count = 1;
            commands[i].claim.version = str_from_z(versions[i]);
        }
        (void)kit_apply_all(k, commands, AT_ONCE);
        made = count_markers(k) - before;
        assert_true(made <= MADE_MAX);
        before += made;
    }
    assert_int_equal(count_markers(k), LIMIT_MARKERS);
    assert_int_equal(made, 0); /* one was added, and one was removed */
}

static void claim_as(struct kit *k, const char *worker, const char *hostname)
{
    struct command_claim c = claim_of(worker, hostname);
    (void)kit_claim_with(k, &c);
}

static bool is_stale(struct kit *k, const char *worker)
{
    struct command_claim c = claim_of(worker, "");
    return machine_worker_is_stale(k->machine, &c, k->now);
}

static void worker__is_registered_by_every_claim(void **state)
{
    struct kit *k = *state;
    struct store_worker w;
    struct wall first = k->now;
    assert_true(is_stale(k, "worker.1"));
    claim_as(k, "worker.1", "one"); /* there is no job, but the row is written */
    assert_true(worker_row(k, "worker.1", &w));
    expect_str(w.hostname, STR("one"));
    expect_str(w.queues, STR("[\"a\",\"b\\\"c\"]"));
    assert_int_equal(w.started_at.ns, first.ns);
    assert_int_equal(w.last_heartbeat.ns, first.ns);
    /* At most one write in five seconds. */
    kit_pass_ms(k, 4999);
    assert_false(is_stale(k, "worker.1"));
    claim_as(k, "worker.1", "two");
    assert_true(worker_row(k, "worker.1", &w));
    assert_int_equal(w.last_heartbeat.ns, first.ns);
    kit_pass_ms(k, 1);
    assert_true(is_stale(k, "worker.1"));
    claim_as(k, "worker.1", "two");
    assert_true(worker_row(k, "worker.1", &w));
    assert_int_equal(w.last_heartbeat.ns, k->now.ns);
    assert_int_equal(w.started_at.ns, first.ns);
    expect_str(w.hostname, STR("two"));
    /* A claim without a worker id has no row. */
    claim_as(k, "", "three");
    assert_false(is_stale(k, ""));
}

static void note_worker(void *data, const struct machine_worker *w)
{
    struct machine_worker *found = data;
    if (str_eq(w->id, STR("worker.3"))) {
        assert_int_equal(found->id.len, 0); /* each worker is reported once */
        *found = *w;
    }
}

static void each_worker__tells_what_is_known(void **state)
{
    struct kit *k = *state;
    claim_as(k, "worker.3", "host.3");
    for (unsigned pass = 0; pass < 2; pass++) {
        struct machine_worker w = {0};
        machine_each_worker(k->machine, note_worker, &w);
        expect_str(w.hostname, STR("host.3"));
        expect_str(w.queues, STR("[\"a\",\"b\\\"c\"]"));
        assert_int_equal(w.started_at.ns, k->now.ns);
        assert_int_equal(w.last_heartbeat.ns, k->now.ns);
        kit_reopen(k);
    }
}

static void worker__goes_after_a_day_without_a_sign(void **state)
{
    struct kit *k = *state;
    struct store_worker w;
    int64_t day_ms = 24 * 3600 * 1000;
    claim_as(k, "worker.2", "h");
    kit_tick(k, day_ms);
    assert_true(worker_row(k, "worker.2", &w));
    kit_reopen(k);
    kit_tick(k, 1);
    assert_false(worker_row(k, "worker.2", &w));
}

/* One row per namespace and id, whatever the ids contain. */
static void worker__of_each_namespace_has_a_row_of_its_own(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *ns, *id, *stored;
    } rows[] = {
        {"", "nsw", "nsw"},
        {"acme", "nsw", "acme::nsw"},
        {"", "acme::nsw", "::acme::nsw"},
        {"", "::nsw", "::::nsw"},
        {"acme", "::nsw", "acme::::nsw"},
        {"", "A b::c", "A b::c"}, /* not a valid namespace */
    };
    struct store_worker w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command_claim c = claim_of(rows[i].id, rows[i].stored);
        ROW(rows[i].stored);
        c.ns = str_from_z(rows[i].ns);
        assert_true(machine_worker_is_stale(k->machine, &c, k->now));
        (void)kit_claim_with(k, &c);
        assert_false(machine_worker_is_stale(k->machine, &c, k->now));
        assert_true(worker_row(k, rows[i].stored, &w));
        expect_str(w.hostname, str_from_z(rows[i].stored));
    }
}

struct told {
    unsigned plain, acme;
};

static void note_told(void *data, const struct machine_worker *w)
{
    struct told *told = data;
    if (str_eq(w->id, STR("told"))) {
        told->plain += w->ns.len == 0;
        told->acme += str_eq(w->ns, STR("acme"));
    }
}

static void each_worker__tells_namespace_and_id(void **state)
{
    struct kit *k = *state;
    struct command_claim c = claim_of("told", "");
    struct told told = {0};
    (void)kit_claim_with(k, &c);
    c.ns = STR("acme");
    (void)kit_claim_with(k, &c);
    machine_each_worker(k->machine, note_told, &told);
    assert_int_equal(told.plain, 1);
    assert_int_equal(told.acme, 1);
}

static void worker__that_looks_into_other_queues_is_written_at_once(void **state)
{
    struct kit *k = *state;
    struct store_worker w;
    struct command_claim c = claim_of("changing", "h");
    (void)kit_claim_with(k, &c);
    uint64_t digest = kit_digest(k);
    for (unsigned i = 0; i < 50; i++) { /* a worker with a steady loop writes nothing */
        kit_pass_ms(k, 99);
        assert_false(machine_worker_is_stale(k->machine, &c, k->now));
        (void)kit_claim_with(k, &c);
        assert_int_equal(kit_digest(k), digest);
    }
    c.queue_count = 1;
    assert_true(machine_worker_is_stale(k->machine, &c, k->now));
    (void)kit_claim_with(k, &c);
    assert_true(worker_row(k, "changing", &w));
    expect_str(w.queues, STR("[\"a\"]"));
    assert_int_equal(w.last_heartbeat.ns, k->now.ns);
    assert_false(machine_worker_is_stale(k->machine, &c, k->now));
}

static void worker__with_long_lists_keeps_the_names_that_fit(void **state)
{
    struct kit *k = *state;
    struct store_worker w;
    struct str names[LIMIT_CLAIM_QUEUES];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        names[i] = kit_text(k, "%0255zu", i);
    }
    struct command_claim c = claim_of("wide", "h");
    c.queues = names;
    c.queue_count = COUNT_OF(names);
    (void)kit_claim_with(k, &c);
    assert_true(worker_row(k, "wide", &w));
    assert_int_equal(w.queues.len, 1 + 15 * 258); /* another name would need 4,129 bytes */
    assert_true(w.queues.len <= LIMIT_WORKER_QUEUES_BYTES);
    assert_false(machine_worker_is_stale(k->machine, &c, k->now));
    kit_reopen(k);
    assert_false(machine_worker_is_stale(k->machine, &c, k->now));
}

static void count_one(void *data, const struct machine_worker *w)
{
    (void)w;
    (*(unsigned *)data)++;
}

/* Clients choose the ids. New workers replace those that were not seen for the longest time. */
static void workers__are_bounded(void **state)
{
    struct kit *k = *state;
    struct store_worker w;
    enum { PER_ENTRY = 500 };
    static struct command commands[PER_ENTRY];
    unsigned count = 0;
    claim_as(k, "crowd.old", "h");
    kit_pass_ms(k, 1);
    claim_as(k, "crowd.kept", "h");
    for (unsigned i = 0; i < LIMIT_WORKERS - 1; i += PER_ENTRY) {
        for (unsigned n = 0; n < PER_ENTRY; n++) {
            commands[n] = (struct command){
                .type = COMMAND_CLAIM, .claim = claim_of(kit_text(k, "crowd.%u", i + n).ptr, "h")};
        }
        kit_pass_ms(k, 4000);
        (void)kit_apply_all(k, commands, PER_ENTRY);
        kit_pass_ms(k, 4000);
        claim_as(k, "crowd.kept", "h");
    }
    machine_each_worker(k->machine, count_one, &count);
    assert_int_equal(count, LIMIT_WORKERS);
    assert_false(worker_row(k, "crowd.old", &w));
    assert_true(worker_row(k, "crowd.kept", &w));
    assert_true(worker_row(k, "crowd.9999", &w));
}

TEST_GROUP_FIXTURE(apply_claim, kit_setup, kit_teardown,
                   cmocka_unit_test(workers__have_the_version_that_they_named_last),
                   cmocka_unit_test(markers__of_versions_are_bounded),
                   cmocka_unit_test(worker__of_each_namespace_has_a_row_of_its_own),
                   cmocka_unit_test(each_worker__tells_namespace_and_id),
                   cmocka_unit_test(worker__that_looks_into_other_queues_is_written_at_once),
                   cmocka_unit_test(worker__with_long_lists_keeps_the_names_that_fit),
                   cmocka_unit_test(workers__are_bounded),
                   cmocka_unit_test(claim__takes_the_job_and_says_who_has_it),
                   cmocka_unit_test(claim__counts_attempts_and_never_repeats_a_token),
                   cmocka_unit_test(order__is_by_priority_then_by_arrival),
                   cmocka_unit_test(order__is_by_the_time_of_becoming_pending),
                   cmocka_unit_test(queues__are_tried_in_the_order_given),
                   cmocka_unit_test(batch_claim__fills_from_queue_to_queue),
                   cmocka_unit_test(pause__stops_claims_and_nothing_else),
                   cmocka_unit_test(concurrency__bounds_the_active_jobs),
                   cmocka_unit_test(throttle__bounds_the_claims_of_a_sliding_window),
                   cmocka_unit_test(throttle__forgets_its_window_when_it_is_removed_or_changed),
                   cmocka_unit_test(limits__send_the_claim_to_the_next_queue),
                   cmocka_unit_test(expired__jobs_are_never_claimed),
                   cmocka_unit_test(worker__is_registered_by_every_claim),
                   cmocka_unit_test(each_worker__tells_what_is_known),
                   cmocka_unit_test(worker__goes_after_a_day_without_a_sign));
