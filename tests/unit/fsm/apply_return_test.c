/*
 * Claims that are returned because their worker disconnected (http-api.md 8.1: never claim for a
 * closed connection).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_job.h"

/* Return the jobs of a claim. */
static const struct result *give_back(struct kit *k, const struct result *claimed)
{
    static struct command_return_item items[LIMIT_CLAIM_COUNT];
    struct command c = {.type = COMMAND_RETURN, .give_back = {.items = items}};
    for (uint32_t i = 0; i < claimed->count; i++) {
        struct job j;
        struct err err;
        assert_int_equal(
            store_job_decode_head(claimed->items[i].id, claimed->items[i].doc, &j, &err), ERR_OK);
        items[c.give_back.count++] = (struct command_return_item){.id = claimed->items[i].id,
                                                                  .lease_token = j.lease_token,
                                                                  .order = claimed->items[i].order};
    }
    return kit_apply(k, &c);
}

static const struct result *claim_some(struct kit *k, const char *queue, uint32_t count)
{
    struct str name = str_from_z(queue);
    return kit_claim_with(
        k, &(struct command_claim){
               .queues = &name, .queue_count = 1, .lease_ms = JOB_LEASE_MS, .count = count});
}

static void returned__jobs_stand_where_they_stood_and_no_attempt_counts(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[6];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue(k, queue, "{}");
    }
    struct result first = *claim_some(k, queue, 2);
    struct id one[] = {first.items[0].id, first.items[1].id};
    assert_true(id_eq(one[0], ids[0]));
    assert_int_equal(give_back(k, &first)->affected, 2);
    struct job j = kit_job(k, ids[0]);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.attempt, 0);
    assert_int_equal(j.lease_expires_at.ns, 0);
    expect_str(j.worker_id, STR_EMPTY);
    kit_expect_events(k, ids[0], "enqueued started reclaimed");
    assert_true(id_eq(kit_queue_info(k, queue).oldest_pending, ids[0]));
    kit_reopen(k);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        assert_true(id_eq(kit_claim(k, queue), ids[i]));
        assert_int_equal(kit_job(k, ids[i]).attempt, 1);
    }
    kit_expect_count(k, queue, JOB_PENDING, 0);
}

/* Claims can be returned in any order. */
static void returned__claims_of_several_workers_line_up_again(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[5];
    struct command_return_item items[3];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue(k, queue, "{}");
    }
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        const struct result *r = claim_some(k, queue, 1);
        items[i] = (struct command_return_item){.id = r->items[0].id, .order = r->items[0].order};
        items[i].lease_token = kit_job(k, items[i].id).lease_token;
    }
    static const size_t order[] = {1, 0, 2};
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        struct command c = {.type = COMMAND_RETURN,
                            .give_back = {.items = &items[order[i]], .count = 1}};
        assert_int_equal(kit_apply(k, &c)->affected, 1);
        assert_int_equal(kit_apply(k, &c)->affected, 0); /* only once */
    }
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        assert_true(id_eq(kit_claim(k, queue), ids[i]));
    }
}

static void returned__claim_that_is_another_by_now_is_left_alone(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{}");
    const struct result *r = claim_some(k, queue, 1);
    struct command_return_item item = {.id = id, .order = r->items[0].order};
    struct command c = {.type = COMMAND_RETURN, .give_back = {.items = &item, .count = 1}};
    item.lease_token = kit_job(k, id).lease_token;
    kit_tick(k, JOB_LEASE_MS + 1);
    assert_true(id_eq(kit_claim(k, queue), id));
    uint64_t digest = kit_digest(k);
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    item.id = id_make(k->now, 9999999, 1);
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    assert_int_equal(kit_digest(k), digest);
    kit_expect_state(k, id, JOB_ACTIVE);
}

/* An impossible place: the job goes to the end of the line. */
static void returned__place_that_nobody_had_is_the_last(void **state)
{
    struct kit *k = *state;
    static const uint64_t places[] = {0, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        const char *queue = kit_name(k);
        struct id id = kit_active(k, queue);
        struct command_return_item item = {
            .id = id, .lease_token = kit_job(k, id).lease_token, .order = places[i]};
        struct command c = {.type = COMMAND_RETURN, .give_back = {.items = &item, .count = 1}};
        struct id other = kit_enqueue(k, queue, "{}");
        assert_int_equal(kit_apply(k, &c)->affected, 1);
        kit_reopen(k);
        assert_true(id_eq(kit_claim(k, queue), other));
        assert_true(id_eq(kit_claim(k, queue), id));
    }
}

TEST_GROUP_FIXTURE(apply_return, kit_setup, kit_teardown,
                   cmocka_unit_test(returned__jobs_stand_where_they_stood_and_no_attempt_counts),
                   cmocka_unit_test(returned__claims_of_several_workers_line_up_again),
                   cmocka_unit_test(returned__claim_that_is_another_by_now_is_left_alone),
                   cmocka_unit_test(returned__place_that_nobody_had_is_the_last));
