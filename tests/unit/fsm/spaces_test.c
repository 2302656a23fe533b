/*
 * Quotas of namespaces: what is counted and refused, and that a restart counts the same.
 */
#include <stdio.h>

#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_access.h"

static void set_quota(struct kit *k, const char *ns, struct store_quota quota)
{
    char bytes[64];
    struct buf body;
    struct store_namespace rec = {.read_rps = 5, .quota = quota};
    buf_init(&body, sizeof bytes);
    store_access_encode_namespace(&rec, &body);
    memcpy(bytes, body.ptr, body.len);
    struct command_access_item item = {
        .kind = STORE_ACCESS_NAMESPACE, .name = str_from_z(ns), .body = str_from(bytes, body.len)};
    struct command c = {.type = COMMAND_ACCESS, .access = {.items = &item, .count = 1}};
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    buf_deinit(&body);
}

static struct machine_space used(struct kit *k, const char *ns)
{
    struct machine_space s;
    machine_space(k->machine, str_from_z(ns), &s);
    return s;
}

static void expect_used(struct kit *k, const char *ns, uint64_t jobs, uint64_t bytes,
                        uint64_t queues)
{
    for (int i = 0; i < 2; i++) {
        struct machine_space s = used(k, ns);
        assert_int_equal(s.jobs, jobs);
        assert_int_equal(s.payload_bytes, bytes);
        assert_int_equal(s.queues, queues);
        kit_reopen(k);
    }
}

static struct command enqueue(struct command_new *jobs, size_t count, const char *const *queues,
                              const char *payload)
{
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct command_new){.job = kit_template(queues[i], payload)};
    }
    return kit_enqueue_command(jobs, count);
}

static void jobs__are_refused_beyond_the_quota(void **state)
{
    struct kit *k = *state;
    struct command_new jobs[3];
    const char *const queues[] = {"one::q", "one::q", "one::q"};
    set_quota(k, "one", (struct store_quota){.max_jobs = 3});
    struct id first = kit_enqueue(k, "one::q", "{}");
    struct command c = enqueue(jobs, 3, queues, "{}");
    kit_refuses(k, &c, ERR_QUOTA,
                "namespace \"one\" may have 3 jobs that have not ended, has 1, and the request "
                "needs 3 more",
                ID_NONE);
    c = enqueue(jobs, 2, queues, "{}");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    expect_used(k, "one", 3, 6, 1);
    c = enqueue(jobs, 1, queues, "{}");
    assert_int_equal(kit_apply(k, &c)->code, ERR_QUOTA);
    /* An active job counts, a finished one does not. */
    assert_true(id_eq(kit_claim(k, "one::q"), first));
    assert_int_equal(kit_apply(k, &c)->code, ERR_QUOTA);
    assert_int_equal(kit_ack(k, first)->code, ERR_OK);
    expect_used(k, "one", 2, 4, 1);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    /* Other namespaces, including the default one, are not affected. */
    (void)kit_enqueue(k, "two::q", "{}");
    (void)kit_enqueue(k, "q-without-namespace", "{}");
    set_quota(k, "one", (struct store_quota){0});
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static void bytes_and_queues__have_limits_too(void **state)
{
    struct kit *k = *state;
    struct command_new jobs[3];
    const char *const same[] = {"three::a", "three::a", "three::b"};
    const char *const more[] = {"three::c", "three::c", "three::c"};
    set_quota(k, "three", (struct store_quota){.max_payload_bytes = 20, .max_queues = 2});
    struct command c = enqueue(jobs, 3, same, "[1234]");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    expect_used(k, "three", 3, 18, 2);
    c = enqueue(jobs, 1, same, "[1]");
    kit_refuses(k, &c, ERR_QUOTA,
                "namespace \"three\" may have 20 bytes of payload, has 18, and the request needs 3 "
                "more",
                ID_NONE);
    c = enqueue(jobs, 1, more, "{}");
    kit_refuses(k, &c, ERR_QUOTA,
                "namespace \"three\" may have 2 queues, has 2, and the request needs 1 more",
                ID_NONE);
    (void)kit_empty(k, COMMAND_QUEUE_DELETE, "three::a");
    expect_used(k, "three", 1, 6, 1);
    /* A new queue counts once, however many of the jobs are for it. */
    c = enqueue(jobs, 3, more, "{}");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    expect_used(k, "three", 4, 12, 2);
}

/* A command for several namespaces is checked with its total for each of them. */
static void command__of_several_namespaces(void **state)
{
    struct kit *k = *state;
    struct command_new jobs[4];
    const char *const mixed[] = {"four::q", "five::q", "four::q", "five::q"};
    set_quota(k, "four", (struct store_quota){.max_jobs = 1});
    set_quota(k, "five", (struct store_quota){.max_jobs = 2});
    struct command c = enqueue(jobs, 4, mixed, "{}");
    assert_int_equal(kit_apply(k, &c)->code, ERR_QUOTA);
    expect_used(k, "four", 0, 0, 0);
    expect_used(k, "five", 0, 0, 0);
    c = enqueue(jobs, 2, mixed, "{}");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static void duplicates__take_no_room(void **state)
{
    struct kit *k = *state;
    struct job j = kit_template("six::q", "{}");
    j.unique_key = STR("key");
    j.unique_period_s = 60;
    set_quota(k, "six", (struct store_quota){.max_jobs = 1});
    struct id first = kit_enqueue_job(k, &j);
    assert_true(id_eq(kit_enqueue_job(k, &j), first));
}

/* The counts equal a recount after random operations. */
static void counts__equal_a_recount(void **state)
{
    struct kit *k = *state;
    struct rng rng = rng_from(7);
    const char *const queues[] = {"seven::a", "seven::b", "seven::c"};
    for (unsigned i = 0; i < 400; i++) {
        const char *queue = queues[rng_below(&rng, COUNT_OF(queues))];
        struct id id = ID_NONE;
        switch (rng_below(&rng, 6)) {
        case 0:
        case 1: {
            char payload[600] = "\"";
            size_t len = rng_below(&rng, sizeof payload - 3);
            memset(payload + 1, 'x', len);
            memcpy(payload + 1 + len, "\"", 2);
            (void)kit_enqueue(k, queue, payload);
            break;
        }
        case 2:
            id = kit_claim(k, queue);
            if (!id_is_none(id)) {
                (void)kit_ack(k, id);
            }
            break;
        case 3:
            id = kit_claim(k, queue);
            if (!id_is_none(id)) {
                (void)kit_fail(k, id, "no");
            }
            break;
        case 4:
            kit_tick(k, 5000);
            break;
        default:
            if (rng_below(&rng, 8) == 0) {
                (void)kit_empty(
                    k, rng_below(&rng, 2) == 0 ? COMMAND_QUEUE_CLEAR : COMMAND_QUEUE_DELETE, queue);
            }
        }
    }
    struct machine_space before = used(k, "seven");
    assert_true(before.jobs > 0);
    expect_used(k, "seven", before.jobs, before.payload_bytes, before.queues);
}

TEST_GROUP_FIXTURE(spaces, kit_setup, kit_teardown,
                   cmocka_unit_test(jobs__are_refused_beyond_the_quota),
                   cmocka_unit_test(bytes_and_queues__have_limits_too),
                   cmocka_unit_test(command__of_several_namespaces),
                   cmocka_unit_test(duplicates__take_no_room),
                   cmocka_unit_test(counts__equal_a_recount));
