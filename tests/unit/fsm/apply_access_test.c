/*
 * Access records and the audit log: what the machine stores.
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_access.h"

static struct command_access_item put(const char *name)
{
    static char body[32]; /* no limits */
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

/* If one item violates its rule, no item of the command is applied. */
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

/* Of two changes of the same record, the second one is refused. */
static void change__is_refused_if_its_author_read_another_record(void **state)
{
    struct kit *k = *state;
    struct command_access_item item = put("same");
    item.rule = COMMAND_ACCESS_SAME;
    item.seen = command_access_seen(item.body);
    assert_int_equal(apply(k, &item, 1)->code, ERR_NOT_FOUND);
    item.rule = COMMAND_ACCESS_ANY;
    assert_int_equal(apply(k, &item, 1)->code, ERR_OK);
    item.rule = COMMAND_ACCESS_SAME;
    assert_int_equal(apply(k, &item, 1)->code, ERR_OK);
    item.seen++;
    assert_int_equal(apply(k, &item, 1)->code, ERR_CONFLICT);
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

TEST_GROUP_FIXTURE(apply_access, kit_setup, kit_teardown,
                   cmocka_unit_test(record__keeps_when_it_was_made),
                   cmocka_unit_test(rules__are_all_or_nothing),
                   cmocka_unit_test(change__is_refused_if_its_author_read_another_record),
                   cmocka_unit_test(audit__has_numbers_without_gaps_and_trims));
