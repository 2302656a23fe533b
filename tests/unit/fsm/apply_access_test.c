/*
 * Records of who may do what, the audit log, and budgets: what the machine keeps and tells.
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_access.h"

static struct command_access_item put(const char *name)
{
    static char body[32]; /* no limits of its own */
    return (struct command_access_item){.kind = STORE_ACCESS_NAMESPACE,
                                        .name = str_from_z(name),
                                        .body = str_from(body, sizeof body)};
}

static const struct result *apply(struct kit *k, struct command_access_item *items, size_t count)
{
    struct command c = {.type = COMMAND_ACCESS, .access = {.items = items, .count = count}};
    return kit_apply(k, &c);
}

static bool read_record(struct kit *k, const char *name, struct store_access_frame *out)
{
    static char kept[256];
    struct buf key;
    struct buf value;
    buf_init(&key, 256);
    buf_init(&value, sizeof kept);
    buf_add_char(&key, STORE_ACCESS_NAMESPACE);
    buf_add_str(&key, str_from_z(name));
    bool found = store_get(machine_store(k->machine), STORE_KIND_ACCESS, buf_str(&key), &value);
    if (found) {
        memcpy(kept, value.ptr, value.len);
        assert_true(store_access_decode_frame(str_from(kept, value.len), out));
    }
    buf_deinit(&key);
    buf_deinit(&value);
    return found;
}

static void record__keeps_when_it_was_made(void **state)
{
    struct kit *k = *state;
    struct store_access_frame first;
    struct store_access_frame second;
    struct command_access_item item = put("acme");
    assert_int_equal(apply(k, &item, 1)->code, ERR_OK);
    assert_true(read_record(k, "acme", &first));
    assert_int_equal(first.updated_at.ns, 0);
    kit_pass_ms(k, 1000);
    assert_int_equal(apply(k, &item, 1)->code, ERR_OK);
    assert_true(read_record(k, "acme", &second));
    assert_int_equal(second.created_at.ns, first.created_at.ns);
    assert_true(second.updated_at.ns > first.created_at.ns);
    item.deletes = true;
    assert_int_equal(apply(k, &item, 1)->code, ERR_OK);
    assert_false(read_record(k, "acme", &first));
}

/* A rule that is broken by one breaks all of them, by what the same command did not do too. */
static void rules__are_all_or_nothing(void **state)
{
    struct kit *k = *state;
    struct store_access_frame frame;
    struct command_access_item items[] = {put("one"), put("two")};
    items[0].rule = COMMAND_ACCESS_NEW;
    items[1].rule = COMMAND_ACCESS_THERE;
    assert_int_equal(apply(k, items, 2)->code, ERR_NOT_FOUND);
    assert_false(read_record(k, "one", &frame));
    assert_int_equal(apply(k, items, 1)->code, ERR_OK);
    assert_int_equal(apply(k, items, 1)->code, ERR_CONFLICT);
    items[0].rule = COMMAND_ACCESS_THERE;
    items[0].deletes = true;
    assert_int_equal(apply(k, items, 1)->code, ERR_OK);
    assert_int_equal(apply(k, items, 1)->code, ERR_NOT_FOUND);
}

static void audit__has_numbers_without_gaps_and_trims(void **state)
{
    struct kit *k = *state;
    struct store_audit e = {.method = STR("POST"), .path = STR("/x"), .status = 200};
    struct command c = {.type = COMMAND_AUDIT,
                        .audit = {.retention_ms = 1000, .items = &e, .count = 1}};
    struct buf value;
    char key[8] = {0, 0, 0, 0, 0, 0, 0, 1};
    buf_init(&value, 4096);
    (void)kit_apply(k, &c);
    (void)kit_apply(k, &c);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_AUDIT, str_from(key, 8), &value));
    struct store_audit read_back;
    assert_true(store_access_decode_audit(buf_str(&value), &read_back));
    assert_int_equal(read_back.at.ns, k->now.ns);
    kit_pass_ms(k, 5000);
    (void)kit_apply(k, &c);
    buf_clear(&value);
    assert_false(store_get(machine_store(k->machine), STORE_KIND_AUDIT, str_from(key, 8), &value));
    key[7] = 3;
    assert_true(store_get(machine_store(k->machine), STORE_KIND_AUDIT, str_from(key, 8), &value));
    buf_deinit(&value);
}

/* Budgets: the kit replays everything with restarts, so sums must come back from the store. */

static void set_budget(struct kit *k, const char *name, size_t name_len, struct store_budget rec)
{
    struct buf body;
    buf_init(&body, 4096);
    rec.id = STR("budget_1");
    store_access_encode_budget(&rec, &body);
    struct command_access_item item = {
        .kind = STORE_ACCESS_BUDGET, .name = str_from(name, name_len), .body = buf_str(&body)};
    assert_int_equal(apply(k, &item, 1)->code, ERR_OK);
    buf_deinit(&body);
}

static void ack_cost(struct kit *k, const char *queue, int64_t nusd)
{
    struct id id = kit_enqueue(k, queue, "{}");
    assert_true(id_eq(kit_claim(k, queue), id));
    struct command_ack_item item = {.id = id, .usage = {.input = 1, .cost_nusd = nusd}};
    assert_int_equal(kit_ack_item(k, item)->code, ERR_OK);
}

static void budget__holds_the_oldest_job_of_its_queue(void **state)
{
    struct kit *k = *state;
    static const char name[] = "q\0costly";
    set_budget(k, name, sizeof name - 1,
               (struct store_budget){
                   .has_daily = true, .daily_nusd = 100, .on_exceed = STORE_BUDGET_HOLD});
    ack_cost(k, "costly", 60);
    assert_false(machine_over_budget(k->machine, STR("costly")));
    ack_cost(k, "costly", 40);
    assert_true(machine_over_budget(k->machine, STR("costly")));
    struct id first = kit_enqueue(k, "costly", "{}");
    struct id second = kit_enqueue(k, "costly", "{}");
    assert_true(id_is_none(kit_claim(k, "costly")));
    assert_int_equal(kit_job(k, first).state, JOB_HELD);
    assert_int_equal(kit_job(k, second).state, JOB_PENDING);
    /* Another day, another sum. */
    kit_pass_ms(k, (int64_t)24 * 3600 * 1000);
    assert_true(id_eq(kit_claim(k, "costly"), second));
    assert_false(machine_over_budget(k->machine, STR("costly")));
}

/* What one job may cost refuses its ack, unless the ack says that it does not matter. */
static void budget_of_one_job__refuses_acks_that_ask_for_it(void **state)
{
    static const char name[] = "q\0dear";
    static const struct {
        const char *name;
        bool lenient, any_cost;
        enum err_code code;
        uint32_t affected;
    } rows[] = {
        {"one", false, false, ERR_BUDGET_EXCEEDED, 0},
        {"one of any cost", false, true, ERR_OK, 1},
        {"many", true, false, ERR_OK, 0},
        {"many of any cost", true, true, ERR_OK, 1},
    };
    struct kit *k = *state;
    struct id ids[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ids[i] = kit_active(k, "dear"); /* before the average of the queue is above the limit */
    }
    set_budget(k, name, sizeof name - 1,
               (struct store_budget){
                   .has_per_job = true, .per_job_nusd = 100, .on_exceed = STORE_BUDGET_REJECT});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct command_ack_item item = {.id = ids[i], .usage = {.input = 1, .cost_nusd = 101}};
        struct command c = {.type = COMMAND_ACK,
                            .ack = {.lenient = rows[i].lenient,
                                    .any_cost = rows[i].any_cost,
                                    .items = &item,
                                    .count = 1}};
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, rows[i].code);
        assert_int_equal(r->affected, rows[i].affected);
        kit_expect_state(k, ids[i], rows[i].affected == 1 ? JOB_COMPLETED : JOB_ACTIVE);
        assert_int_equal(kit_usages(k, ids[i]).count, rows[i].affected);
    }
}

TEST_GROUP_FIXTURE(apply_access, kit_setup, kit_teardown,
                   cmocka_unit_test(record__keeps_when_it_was_made),
                   cmocka_unit_test(rules__are_all_or_nothing),
                   cmocka_unit_test(audit__has_numbers_without_gaps_and_trims),
                   cmocka_unit_test(budget__holds_the_oldest_job_of_its_queue),
                   cmocka_unit_test(budget_of_one_job__refuses_acks_that_ask_for_it));
