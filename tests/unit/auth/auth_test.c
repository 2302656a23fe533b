/*
 * Decisions: which role may what, by rule and by custom role (http-api.md 3.2, 3.6).
 */
#include "auth/auth.h"

#include "lib/expect.h"
#include "lib/test.h"

static void role__is_known_in_any_case(void **state)
{
    (void)state;
    assert_int_equal(auth_role(STR("admin")), ROLE_ADMIN);
    assert_int_equal(auth_role(STR(" OPERATOR ")), ROLE_OPERATOR);
    assert_int_equal(auth_role(STR("worker")), ROLE_WORKER);
    assert_int_equal(auth_role(STR("readonly")), ROLE_READONLY);
    assert_int_equal(auth_role(STR("")), 0);
    assert_int_equal(auth_role(STR("admins")), 0);
    assert_int_equal(auth_role(STR("adm")), 0);
}

static void rule__is_made_of_method_and_pattern(void **state)
{
    static const struct {
        const char *method, *pattern, *resource, *action;
    } rows[] = {
        {"GET", "/api/v1/queues", "queues", "read"},
        {"POST", "/api/v1/queues/{name}/pause", "queues", "pause"},
        {"POST", "/api/v1/queues/{name}/throttle", "queues", "write"},
        {"DELETE", "/api/v1/queues/{name}/throttle", "queues", "delete"},
        {"POST", "/api/v1/enqueue", "enqueue", "write"},
        {"POST", "/api/v1/enqueue/batch", "enqueue", "write"},
        {"POST", "/api/v1/jobs/{id}/retry", "jobs", "retry"},
        {"PUT", "/api/v1/org", "org", "write"},
        {"POST", "/api/v1/retry", "retry", "write"},
        {"POST", "/jobs/{id}/cancel", "jobs", "cancel"},
        {"GET", "/jobs", "jobs", "read"},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct auth_rule r =
            auth_rule_of_route(0, str_from_z(rows[i].method), str_from_z(rows[i].pattern));
        ROW(rows[i].pattern);
        expect_str(r.resource, str_from_z(rows[i].resource));
        expect_str(r.action, str_from_z(rows[i].action));
    }
}

static void permission__grants_as_written(void **state)
{
    static const struct {
        const char *resource, *action; /* of the permission */
        const char *asked, *for_what;
        bool granted;
    } rows[] = {
        {"*", "*", "queues", "read", true},
        {"queues", "read", "queues", "read", true},
        {"Queues", "READ", "queues", "read", true},
        {"queues", "read", "queues", "write", false},
        {"queues", "write", "queues", "pause", true},
        {"queues", "write", "queues", "delete", true},
        {"queues", "write", "queues", "read", false},
        {"queues", "pause", "queues", "resume", false},
        {"queues/*", "read", "queues", "read", true},
        {"que*", "read", "queues", "read", true},
        {"queue", "read", "queues", "read", false},
        {"queues2", "read", "queues", "read", false},
        {"", "read", "queues", "read", false},
        {"queues", "", "queues", "read", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct store_permission p = {.resource = str_from_z(rows[i].resource),
                                     .actions = {str_from_z(rows[i].action)},
                                     .action_count = 1};
        ROW(rows[i].resource);
        assert_int_equal(auth_permits(&p, str_from_z(rows[i].asked), str_from_z(rows[i].for_what)),
                         rows[i].granted);
    }
}

static void secret__is_long_and_never_the_same(void **state)
{
    char a[AUTH_SECRET_BYTES];
    char b[AUTH_SECRET_BYTES];
    (void)state;
    auth_new_secret(STR("sk_"), a);
    auth_new_secret(STR("sk_"), b);
    assert_memory_equal(a, "sk_", 3);
    assert_memory_not_equal(a, b, AUTH_SECRET_BYTES);
    assert_true(auth_same(str_from(a, AUTH_SECRET_BYTES), str_from(a, AUTH_SECRET_BYTES)));
    assert_false(auth_same(str_from(a, AUTH_SECRET_BYTES), str_from(b, AUTH_SECRET_BYTES)));
    assert_false(auth_same(STR("a"), STR("")));
}

static void hash__is_sha_256(void **state)
{
    static const uint8_t want[] = {0xba, 0x78, 0x16, 0xbf};
    uint8_t hash[AUTH_HASH_BYTES];
    uint8_t two[AUTH_HASH_BYTES];
    (void)state;
    auth_hash(STR("abc"), hash);
    assert_memory_equal(hash, want, sizeof want);
    auth_hash_two(STR("a"), STR("bc"), two);
    assert_memory_equal(hash, two, sizeof hash);
}

/* Secrets that differ in one byte anywhere, of all lengths, asked for again and again. */
static void hash__is_that_of_the_secret_whatever_came_before(void **state)
{
    char secret[200];
    uint8_t hash[AUTH_HASH_BYTES];
    uint8_t want[AUTH_HASH_BYTES];
    (void)state;
    memset(secret, 'x', sizeof secret);
    for (size_t i = 0; i < 4 * sizeof secret; i++) {
        size_t len = i % (sizeof secret + 1);
        size_t at = len == 0 ? 0 : i * 7 % len;
        for (unsigned again = 0; again < 3; again++) {
            secret[at] = again == 1 ? 'y' : 'x';
            auth_hash(str_from(secret, len), hash);
            auth_hash_two(str_from(secret, len), STR_EMPTY, want);
            assert_memory_equal(hash, want, sizeof hash);
        }
    }
}

TEST_GROUP(auth, cmocka_unit_test(role__is_known_in_any_case),
           cmocka_unit_test(rule__is_made_of_method_and_pattern),
           cmocka_unit_test(permission__grants_as_written),
           cmocka_unit_test(secret__is_long_and_never_the_same), cmocka_unit_test(hash__is_sha_256),
           cmocka_unit_test(hash__is_that_of_the_secret_whatever_came_before));
