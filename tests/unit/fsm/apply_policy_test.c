/*
 * Approval policies: which agents are held before their next iteration (http-api.md 17.4).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_record.h"

static struct id put(struct kit *k, struct store_policy policy)
{
    struct command c = {.type = COMMAND_POLICY_PUT, .policy_put = {.policy = policy}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_false(id_is_none(r->id));
    return r->id;
}

static struct command delete_command(struct id id)
{
    return (struct command){.type = COMMAND_POLICY_DELETE, .policy_delete = {.id = id}};
}

static void drop(struct kit *k, struct id id)
{
    struct command c = delete_command(id);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

/* Create a job of an agent in the queue and continue it. Returns whether it was held, and the job.
 */
static bool is_held(struct kit *k, const char *queue, const char *tags, struct job *out)
{
    struct job job = kit_template(queue, "{}");
    job.is_agent = true;
    job.tags = str_from_z(tags);
    struct id id = kit_enqueue_job(k, &job);
    assert_true(id_eq(kit_claim(k, queue), id));
    assert_int_equal(
        kit_ack_item(k, (struct command_ack_item){.id = id, .agent_status = COMMAND_AGENT_CONTINUE})
            ->code,
        ERR_OK);
    *out = kit_job(k, id);
    bool held = out->state == JOB_HELD;
    if (!held) {
        assert_int_equal(out->state, JOB_PENDING);
        assert_true(id_eq(kit_claim(k, queue), id)); /* remove it from the queue */
        (void)kit_ack(k, id);
    }
    return held;
}

static void checks__hold_as_the_mode_says(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *queue; /* of the policy; "own": the job's queue */
        const char *key, *value;
        bool all;
        const char *tags;
        bool held;
    } rows[] = {
        {"own", "", "", true, "", true},
        {"other", "", "", true, "", false},
        {"", "", "", false, "{\"a\":\"b\"}", false}, /* without conditions it never matches */
        {"", "", "", true, "{\"a\":\"b\"}", false},
        {"", "a", "b", false, "{\"a\":\"b\"}", true},
        {"", "a", "c", false, "{\"a\":\"b\"}", false},
        {"", "a", "", false, "", true}, /* a missing tag counts as empty */
        {"", "a", "c", false, "{\"a\":\"b\",\"\\u0061\":\"c\"}", true}, /* the last one counts */
        {"", "a", "b", false, "{\"a\":\"b\",\"a\":\"c\"}", false},
        {"", "a", "1", false, "{\"a\":1}", true},
        {"own", "a", "b", false, "{\"a\":\"x\"}", true},
        {"own", "a", "b", true, "{\"a\":\"x\"}", false},
        {"own", "a", "b", true, "{\"a\":\"b\"}", true},
        {"other", "a", "b", false, "{\"a\":\"b\"}", true},
        {"other", "a", "b", true, "{\"a\":\"b\"}", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct job j;
        struct str of = str_from_z(rows[i].queue);
        ROW(rows[i].queue);
        struct id id =
            put(k, (struct store_policy){.name = STR("look"),
                                         .queue = str_eq(of, STR("own")) ? str_from_z(queue) : of,
                                         .tag_key = str_from_z(rows[i].key),
                                         .tag_value = str_from_z(rows[i].value),
                                         .all = rows[i].all,
                                         .enabled = true});
        assert_int_equal(is_held(k, queue, rows[i].tags, &j), rows[i].held);
        if (rows[i].held) {
            expect_str(j.hold_reason, STR("approval policy matched: look"));
            assert_int_equal(j.agent.iteration, 1); /* as if the worker had held it */
            assert_int_equal(j.attempt, 1);
        }
        drop(k, id);
    }
}

static void newest__decides_and_others_are_passed_over(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct store_policy policy = {
        .name = STR("first"), .queue = str_from_z(queue), .enabled = true};
    struct job j;
    struct id ids[4];
    ids[0] = put(k, policy);
    policy.name = STR("second");
    ids[1] = put(k, policy);
    policy.name = STR("off");
    policy.enabled = false;
    ids[2] = put(k, policy);
    policy = (struct store_policy){
        .ns = STR("acme"), .name = STR("of others"), .tag_key = STR("none"), .enabled = true};
    ids[3] = put(k, policy);
    assert_true(is_held(k, queue, "", &j));
    expect_str(j.hold_reason, STR("approval policy matched: second"));
    kit_reopen(k);
    drop(k, ids[1]);
    assert_true(is_held(k, queue, "", &j));
    expect_str(j.hold_reason, STR("approval policy matched: first"));
    drop(k, ids[0]);
    assert_false(is_held(k, queue, "", &j));
    const char *own = kit_text(k, "acme::%s", queue).ptr;
    assert_true(is_held(k, own, "", &j));
    expect_str(j.hold_reason, STR("approval policy matched: of others"));
    drop(k, ids[2]);
    drop(k, ids[3]);
}

static void default_namespace__holds_its_own_unless_all_are_meant(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const char *other = kit_text(k, "acme::%s", queue).ptr;
    struct store_policy policy = {.name = STR("look"), .tag_key = STR("none"), .enabled = true};
    struct job j;
    struct id id = put(k, policy);
    assert_true(is_held(k, queue, "", &j));
    assert_false(is_held(k, other, "", &j));
    drop(k, id);
    policy.all_namespaces = true;
    id = put(k, policy);
    kit_reopen(k);
    assert_true(is_held(k, queue, "", &j));
    assert_true(is_held(k, other, "", &j));
    drop(k, id);
}

static void worker__may_give_the_reason_and_other_words_are_left_alone(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id policy = put(
        k, (struct store_policy){.name = STR("look"), .queue = str_from_z(queue), .enabled = true});
    struct job job = kit_template(queue, "{}");
    job.is_agent = true;
    struct id id = kit_enqueue_job(k, &job);
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .agent_status = COMMAND_AGENT_CONTINUE,
                                                    .hold_reason = STR("I am not sure"),
                                                    .usage = {.cost_nusd = 5}});
    expect_str(kit_job(k, id).hold_reason, STR("I am not sure"));
    assert_int_equal(kit_job(k, id).agent.total_cost_nusd, 5);
    id = kit_enqueue_job(k, &job);
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id, .agent_status = COMMAND_AGENT_DONE});
    assert_int_equal(kit_job(k, id).state, JOB_COMPLETED);
    drop(k, policy);
}

static void delete__removes_it_once(void **state)
{
    struct kit *k = *state;
    struct id id = put(k, (struct store_policy){.name = STR("gone")});
    struct command c = delete_command(id);
    char text[ID_TEXT_MAX];
    size_t len = id_format(id, ID_POLICY, text);
    drop(k, id);
    kit_refuses(k, &c, ERR_NOT_FOUND,
                kit_text(k, "approval policy \"%.*s\" not found", (int)len, text).ptr, ID_NONE);
}

static void put__has_a_limit(void **state)
{
    struct kit *k = *state;
    struct command c = {.type = COMMAND_POLICY_PUT, .policy_put.policy.name = STR("many")};
    unsigned made = 0;
    uint8_t present = k->entry_version;
    k->entry_version = 2;
    while (made <= LIMIT_OLD_POLICIES && kit_apply(k, &c)->code == ERR_OK) {
        made++;
    }
    kit_refuses(k, &c, ERR_POLICY, "the server already has 256 approval policies, the maximum",
                ID_NONE);
    k->entry_version = present;
    while (made <= LIMIT_POLICIES && kit_apply(k, &c)->code == ERR_OK) {
        made++;
    }
    assert_in_range(made, 1, LIMIT_POLICIES);
    kit_refuses(k, &c, ERR_POLICY, "the server already has 4096 approval policies, the maximum",
                ID_NONE);
}

TEST_GROUP_FIXTURE(apply_policy, kit_setup, kit_teardown,
                   cmocka_unit_test(checks__hold_as_the_mode_says),
                   cmocka_unit_test(newest__decides_and_others_are_passed_over),
                   cmocka_unit_test(default_namespace__holds_its_own_unless_all_are_meant),
                   cmocka_unit_test(worker__may_give_the_reason_and_other_words_are_left_alone),
                   cmocka_unit_test(delete__removes_it_once), cmocka_unit_test(put__has_a_limit));
