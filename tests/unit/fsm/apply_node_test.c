/*
 * The records of the cluster's members: which nodes may become members, and which were members.
 */
#include <stdio.h>

#include "base/limits.h"
#include "fsm/machine_nodes.h"
#include "lib/machine_kit.h"

static struct command put_command(uint64_t id, const char *name, const char *address)
{
    return (struct command){.type = COMMAND_NODE_PUT,
                            .node_put.node = {.id = id,
                                              .voter = true,
                                              .name = str_from_z(name),
                                              .address = str_from_z(address),
                                              .http_url = STR("http://x:1")}};
}

static struct command state_command(uint64_t id, enum store_node_state state)
{
    return (struct command){.type = COMMAND_NODE_STATE, .node_state = {.id = id, .state = state}};
}

static void put(struct kit *k, uint64_t id, const char *name, const char *address)
{
    struct command c = put_command(id, name, address);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static void set(struct kit *k, uint64_t id, enum store_node_state state)
{
    struct command c = state_command(id, state);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static void member__is_known_and_changes(void **state)
{
    struct kit *k = *state;
    put(k, 7, "seven", "a:7");
    struct command c = put_command(7, "seven", "b:7");
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 0); /* no new record */
    const struct store_node *n = machine_nodes_find(k->machine, 7);
    assert_non_null(n);
    assert_true(str_eq(n->address, STR("b:7")));
    set(k, 7, STORE_NODE_LEAVING);
    set(k, 7, STORE_NODE_REMOVED);
}

/* A node that lost its folder has a new id, but its old name. */
static void name_and_address__belong_to_one(void **state)
{
    struct kit *k = *state;
    put(k, 11, "eleven", "a:11");
    struct command name = put_command(12, "eleven", "a:12");
    struct command address = put_command(13, "thirteen", "a:11");
    assert_int_equal(kit_apply(k, &name)->code, ERR_CONFLICT);
    assert_int_equal(kit_apply(k, &address)->code, ERR_CONFLICT);
    set(k, 11, STORE_NODE_LEAVING);
    assert_int_equal(kit_apply(k, &name)->code, ERR_UNHEALTHY); /* until it has left */
    assert_int_equal(kit_apply(k, &address)->code, ERR_UNHEALTHY);
    set(k, 11, STORE_NODE_REMOVED);
    put(k, 12, "eleven", "a:11");
    set(k, 12, STORE_NODE_REMOVED);
}

static void removed__does_not_come_back(void **state)
{
    struct kit *k = *state;
    put(k, 21, "twentyone", "a:21");
    set(k, 21, STORE_NODE_REMOVED);
    set(k, 21, STORE_NODE_LEAVING); /* a removed node stays removed */
    assert_int_equal(machine_nodes_find(k->machine, 21)->state, STORE_NODE_REMOVED);
    struct command again = put_command(21, "twentyone", "a:21");
    assert_int_equal(kit_apply(k, &again)->code, ERR_CONFLICT);
    struct command unknown = state_command(9999, STORE_NODE_LEAVING);
    assert_int_equal(kit_apply(k, &unknown)->code, ERR_NOT_FOUND);
}

static void many__forget_the_removed_first(void **state)
{
    struct kit *k = *state;
    char name[32];
    char address[32];
    uint32_t before = machine_nodes_count(k->machine);
    unsigned made = 0;
    enum err_code code = ERR_OK;
    for (uint64_t id = 1000; code == ERR_OK && made <= 2 * LIMIT_NODES; id++) {
        (void)snprintf(name, sizeof name, "n%u", (unsigned)id);
        (void)snprintf(address, sizeof address, "h:%u", (unsigned)id);
        struct command c = put_command(id, name, address);
        code = kit_apply(k, &c)->code;
        made += code == ERR_OK ? 1 : 0;
    }
    assert_int_equal(code, ERR_CONFLICT);
    assert_int_equal(made, LIMIT_NODES); /* all earlier ones had been removed */
    assert_true(before > 0);
    assert_int_equal(machine_nodes_count(k->machine), LIMIT_NODES);
}

TEST_GROUP_FIXTURE(apply_node, kit_setup, kit_teardown,
                   cmocka_unit_test(member__is_known_and_changes),
                   cmocka_unit_test(name_and_address__belong_to_one),
                   cmocka_unit_test(removed__does_not_come_back),
                   cmocka_unit_test(many__forget_the_removed_first));
