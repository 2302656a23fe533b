/*
 * The owners of batches without a callback queue (http-api.md 3.4, 3.5, 7.4).
 */
#include "svc/svc_batch.h"

#include "lib/test.h"

static void owner__says_who_sees_it(void **state)
{
    static const struct {
        const char *name;
        const char *ns, *scope;
        struct store_owner owner;
        bool seen;
    } rows[] = {
        {"its own", "acme", "", {.known = true, .ns = STR("acme")}, true},
        {"another's", "acme", "", {.known = true, .ns = STR("other")}, false},
        {"the default one's", "acme", "", {.known = true}, false},
        {"default sees all", "", "", {.known = true, .ns = STR("acme")}, true},
        {"with any scope", "acme", "", {true, STR("acme"), STR("a.*")}, true},
        {"with its scope", "acme", "a.*", {true, STR("acme"), STR("a.*")}, true},
        {"with another scope", "acme", "a.*", {true, STR("acme"), STR("b.*")}, false},
        {"without a scope", "acme", "a.*", {true, STR("acme"), STR("")}, false},
        {"default with a scope", "", "a.*", {true, STR("acme"), STR("a.*")}, false},
        {"older than owners", "acme", "a.*", {0}, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct svc_caller who = {.ns = str_from_z(rows[i].ns), .scope = str_from_z(rows[i].scope)};
        ROW(rows[i].name);
        assert_int_equal(svc_batch_is_of(&who, &rows[i].owner), rows[i].seen);
    }
}

/* The callback queue determines the owner, so that members of any version can read the batch. */
static void owner__is_not_said_with_a_callback_queue(void **state)
{
    struct svc_caller who = {.ns = STR("acme"), .scope = STR("a.*")};
    (void)state;
    assert_false(svc_batch_owner(&who, STR("done")).known);
}

TEST_GROUP(svc_batch, cmocka_unit_test(owner__says_who_sees_it),
           cmocka_unit_test(owner__is_not_said_with_a_callback_queue));
