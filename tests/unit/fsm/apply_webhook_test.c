/*
 * Webhooks: their records, and positions that only increase (http-api.md 16).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_record.h"

static struct store_webhook some(void)
{
    return (struct store_webhook){.url = STR("http://localhost/hook"),
                                  .events = STR("*"),
                                  .secret = STR("first"),
                                  .retry_limit = 3,
                                  .enabled = true};
}

static struct command put_command(struct str id, const struct store_webhook *h)
{
    return (struct command){.type = COMMAND_WEBHOOK_PUT, .webhook_put = {.id = id, .webhook = *h}};
}

static struct id put(struct kit *k, struct str id, const struct store_webhook *h)
{
    struct command c = put_command(id, h);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    return r->id;
}

static bool has(struct kit *k, struct str id, struct store_webhook *out)
{
    struct buf value;
    buf_init(&value, 1 << 16);
    bool there = store_get(machine_store(k->machine), STORE_KIND_WEBHOOK, id, &value);
    struct str kept = arena_str(k->arena, buf_str(&value));
    buf_deinit(&value);
    if (there) {
        assert_true(store_record_decode_webhook(kept, out));
    }
    return there;
}

static struct store_webhook record(struct kit *k, struct str id)
{
    struct store_webhook rec;
    assert_true(has(k, id, &rec));
    return rec;
}

static uint64_t last_event(struct kit *k)
{
    return machine_store(k->machine)->meta.next_event - 1;
}

static void mark(struct kit *k, const struct command_webhook_mark_item *item)
{
    struct command_webhook_mark_item copy = *item;
    struct command c = {.type = COMMAND_WEBHOOK_MARK, .webhook_mark = {.items = &copy, .count = 1}};
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static void put__makes_an_id_in_the_namespace(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    char text[ID_TEXT_MAX];
    struct id id = put(k, STR_EMPTY, &h);
    (void)record(k, str_from(text, id_format(id, ID_WEBHOOK, text)));
    h.ns = STR("acme");
    id = put(k, STR_EMPTY, &h);
    size_t len = id_format(id, ID_WEBHOOK, text);
    struct str name = kit_text(k, "acme::%.*s", (int)len, text);
    expect_str(record(k, name).ns, STR("acme"));
}

static void put__begins_behind_the_newest_event(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    struct command_new job = {.job = kit_template(kit_name(k), "{}")};
    (void)kit_enqueue(k, kit_name(k), "{}");
    (void)put(k, STR("behind"), &h);
    assert_int_equal(record(k, STR("behind")).position, last_event(k));
    assert_int_equal(record(k, STR("behind")).created_at.ns, k->now.ns);

    /* Events of earlier commands in the same entry are before the position, too. */
    struct command both[] = {kit_enqueue_command(&job, 1), put_command(STR("same entry"), &h)};
    (void)kit_apply_all(k, both, 2);
    assert_int_equal(record(k, STR("same entry")).position, last_event(k));
}

static void put__replaces_all_but_the_past(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    (void)put(k, STR("replaced"), &h);
    struct store_webhook old = record(k, STR("replaced"));
    mark(k, &(struct command_webhook_mark_item){.id = STR("replaced"),
                                                .created_at = old.created_at,
                                                .position = old.position + 5,
                                                .attempted = true,
                                                .status = 500,
                                                .error = STR("http 500"),
                                                .at = k->now});
    kit_pass_ms(k, 10);
    h.url = STR("https://example.com/");
    h.secret = STR("second");
    (void)put(k, STR("replaced"), &h);
    struct store_webhook now = record(k, STR("replaced"));
    expect_str(now.url, STR("https://example.com/"));
    expect_str(now.secret, STR("second"));
    expect_str(now.last_error, STR("http 500"));
    assert_int_equal(now.position, old.position + 5);
    assert_int_equal(now.created_at.ns, old.created_at.ns);
    assert_int_equal(now.last_status, 500);
}

static void put__keeps_a_secret_that_is_there(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    struct command c = put_command(STR("secretive"), &h);
    c.webhook_put.keep_secret = true;
    kit_refuses(k, &c, ERR_WEBHOOK, "secret: the webhook has no secret to keep", ID_NONE);
    (void)put(k, STR("secretive"), &h);
    c.webhook_put.webhook.secret = STR("***");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    expect_str(record(k, STR("secretive")).secret, STR("first"));
    h.secret = STR_EMPTY;
    (void)put(k, STR("secretive"), &h);
    assert_int_equal(record(k, STR("secretive")).secret.len, 0);
}

static void put__keeps_a_scope_that_is_there(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    h.scope = STR("mail");
    (void)put(k, STR("scoped"), &h);
    h.scope = STR("news");
    struct command c = put_command(STR("scoped"), &h);
    kit_refuses(k, &c, ERR_FORBIDDEN,
                "webhook \"scoped\" belongs to a key that may use other queues", ID_NONE);
    h.scope = STR_EMPTY;
    (void)put(k, STR("scoped"), &h);
    expect_str(record(k, STR("scoped")).scope, STR("mail"));

    /* A key with a scope cannot replace a webhook without one, either. */
    (void)put(k, STR("open"), &h);
    h.scope = STR("mail");
    c = put_command(STR("open"), &h);
    kit_refuses(k, &c, ERR_FORBIDDEN, "webhook \"open\" belongs to a key that may use other queues",
                ID_NONE);
}

static void put__skips_what_happened_while_it_was_off(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    (void)put(k, STR("off and on"), &h);
    uint64_t begin = record(k, STR("off and on")).position;
    h.enabled = false;
    (void)put(k, STR("off and on"), &h);
    (void)kit_enqueue(k, kit_name(k), "{}");
    (void)put(k, STR("off and on"), &h);
    assert_int_equal(record(k, STR("off and on")).position, begin);
    h.enabled = true;
    (void)put(k, STR("off and on"), &h);
    assert_int_equal(record(k, STR("off and on")).position, last_event(k));
    assert_true(last_event(k) > begin);
}

static void delete__removes_it_once(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    struct store_webhook rec;
    struct command c = {.type = COMMAND_WEBHOOK_DELETE, .webhook_delete = {.id = STR("short")}};
    (void)put(k, STR("short"), &h);
    uint64_t changes = machine_webhook_changes(k->machine);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_false(has(k, STR("short"), &rec));
    assert_int_equal(machine_webhook_changes(k->machine), changes + 1);
    kit_refuses(k, &c, ERR_NOT_FOUND, "webhook \"short\" not found", ID_NONE);
}

static void mark__never_goes_back(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    (void)put(k, STR("marked"), &h);
    struct store_webhook rec = record(k, STR("marked"));
    uint64_t changes = machine_webhook_changes(k->machine);
    struct command_webhook_mark_item item = {.id = STR("marked"),
                                             .created_at = rec.created_at,
                                             .position = rec.position + 10,
                                             .attempted = true,
                                             .status = 204,
                                             .at = k->now};
    mark(k, &item);
    assert_int_equal(record(k, STR("marked")).position, rec.position + 10);
    assert_int_equal(record(k, STR("marked")).last_status, 204);
    item.position = rec.position + 4;
    item.attempted = false;
    item.status = 0;
    item.at = (struct wall){0};
    mark(k, &item);
    assert_int_equal(record(k, STR("marked")).position, rec.position + 10);
    assert_int_equal(record(k, STR("marked")).last_status, 204);
    assert_int_equal(machine_webhook_changes(k->machine), changes);
}

static void mark__leaves_another_of_the_same_id_alone(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    (void)put(k, STR("twice"), &h);
    struct store_webhook first = record(k, STR("twice"));
    struct command c = {.type = COMMAND_WEBHOOK_DELETE, .webhook_delete = {.id = STR("twice")}};
    struct command_webhook_mark_item item = {.id = STR("twice"),
                                             .created_at = first.created_at,
                                             .position = first.position + 1000,
                                             .attempted = true,
                                             .status = 404,
                                             .at = k->now};
    (void)kit_apply(k, &c);
    mark(k, &item); /* the webhook was deleted */
    kit_pass_ms(k, 1);
    (void)put(k, STR("twice"), &h);
    mark(k, &item);
    assert_int_equal(record(k, STR("twice")).last_status, 0);
    assert_int_equal(record(k, STR("twice")).position, last_event(k));
}

/* This must be the last test, because it creates the maximum number of webhooks. */
static void put__has_a_limit(void **state)
{
    struct kit *k = *state;
    struct store_webhook h = some();
    struct command c = put_command(STR_EMPTY, &h);
    unsigned made = 0;
    while (made <= LIMIT_WEBHOOKS && kit_apply(k, &c)->code == ERR_OK) {
        made++;
    }
    assert_in_range(made, 1, LIMIT_WEBHOOKS);
    kit_refuses(k, &c, ERR_WEBHOOK, "the server already has 256 webhooks, the maximum", ID_NONE);
    (void)put(k, STR("marked"), &h); /* existing webhooks can be changed */
}

TEST_GROUP_FIXTURE(apply_webhook, kit_setup, kit_teardown,
                   cmocka_unit_test(put__makes_an_id_in_the_namespace),
                   cmocka_unit_test(put__begins_behind_the_newest_event),
                   cmocka_unit_test(put__replaces_all_but_the_past),
                   cmocka_unit_test(put__keeps_a_secret_that_is_there),
                   cmocka_unit_test(put__keeps_a_scope_that_is_there),
                   cmocka_unit_test(put__skips_what_happened_while_it_was_off),
                   cmocka_unit_test(delete__removes_it_once),
                   cmocka_unit_test(mark__never_goes_back),
                   cmocka_unit_test(mark__leaves_another_of_the_same_id_alone),
                   cmocka_unit_test(put__has_a_limit));
