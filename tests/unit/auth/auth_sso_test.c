/*
 * The identity of a user who signed in at a provider: claims, groups and headers (http-api.md 3.3).
 */
#include "auth/auth_sso.h"

#include <stdio.h>

#include "lib/expect.h"
#include "lib/test.h"

static struct store_sso settings_with(struct buf *mappings)
{
    buf_init(mappings, 4096);
    store_access_add_mapping(STR("dev"), STR("operator"), mappings);
    store_access_add_mapping(STR("ops"), STR("admin"), mappings);
    store_access_add_mapping(STR("billing"), STR("accountant"), mappings);
    return (struct store_sso){.provider = STORE_SSO_OIDC,
                              .issuer = STR("https://id.example"),
                              .client_id = STR("corvo"),
                              .group_claim = STR("groups"),
                              .mappings = buf_str(mappings)};
}

static void claims__say_who_it_is(void **state)
{
    static const struct {
        const char *claims, *name, *ns, *role, *roles;
        unsigned bits;
    } rows[] = {
        {"{}", "oidc-user", "", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\"}", "s", "", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"preferred_username\":\"p\"}", "p", "", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"preferred_username\":\"p\",\"email\":\"e\"}", "e", "", "readonly", "",
         ROLE_READONLY},
        {"{\"sub\":\"s\",\"email\":\" \",\"preferred_username\":7}", "s", "", "readonly", "",
         ROLE_READONLY},
        {"{\"sub\":\"s\",\"namespace\":\"acme\"}", "s", "acme", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"namespace\":\"acme\",\"corvo_namespace\":\"own\"}", "s", "own",
         "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"namespace\":\"default\"}", "s", "", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"role\":\"worker\"}", "s", "", "worker", "", ROLE_WORKER},
        {"{\"sub\":\"s\",\"role\":\"worker\",\"corvo_role\":\"Admin\"}", "s", "", "Admin", "",
         ROLE_ADMIN},
        {"{\"sub\":\"s\",\"role\":\"auditor\"}", "s", "", "auditor", "auditor", 0},
        /* groups */
        {"{\"sub\":\"s\",\"groups\":[\"dev\"]}", "s", "", "operator", "operator", ROLE_OPERATOR},
        {"{\"sub\":\"s\",\"groups\":\"dev\"}", "s", "", "operator", "operator", ROLE_OPERATOR},
        {"{\"sub\":\"s\",\"groups\":[\"none\",\"billing\",\"ops\"]}", "s", "", "accountant",
         "accountant\nadmin", ROLE_ADMIN},
        {"{\"sub\":\"s\",\"groups\":[\"DEV\",1,null,[\"ops\"]]}", "s", "", "readonly", "",
         ROLE_READONLY},
        {"{\"sub\":\"s\",\"groups\":{\"dev\":true}}", "s", "", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"groups\":[\"ops\"],\"role\":\"worker\"}", "s", "", "worker", "",
         ROLE_WORKER}, /* an explicit role replaces the groups */
        {"{\"sub\":\"s\",\"role\":\"\",\"groups\":[\"dev\"]}", "s", "", "operator", "operator",
         ROLE_OPERATOR},
        /* more roles */
        {"{\"sub\":\"s\",\"role\":\"worker\",\"corvo_roles\":[\"a\",\"b\",\"A\"]}", "s", "",
         "worker", "a\nb", ROLE_WORKER},
        {"{\"sub\":\"s\",\"role\":\"worker\",\"corvo_roles\":\"[\\\"a\\\", \\\"readonly\\\"]\"}",
         "s", "", "worker", "a\nreadonly", ROLE_WORKER | ROLE_READONLY},
        {"{\"sub\":\"s\",\"corvo_roles\":\"admin\"}", "s", "", "readonly", "", ROLE_READONLY},
        {"{\"sub\":\"s\",\"corvo_roles\":[\"a\\nadmin\",\"\",7]}", "s", "", "readonly", "",
         ROLE_READONLY}, /* a line break would add another role */
    };
    struct buf mappings;
    struct store_sso settings = settings_with(&mappings);
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_new(64 << 10);
        struct auth_identity id;
        struct err err;
        ROW(rows[i].claims);
        assert_int_equal(
            auth_sso_from_claims(str_from_z(rows[i].claims), &settings, arena, &id, &err), ERR_OK);
        expect_str(id.name, str_from_z(rows[i].name));
        expect_str(id.ns, str_from_z(rows[i].ns));
        expect_str(id.role, str_from_z(rows[i].role));
        expect_str(id.roles, str_from_z(rows[i].roles));
        assert_int_equal(auth_sso_caller(&id).role_bit, rows[i].bits);
        assert_false(auth_sso_caller(&id).chooses_ns);
        arena_free(arena);
    }
    buf_deinit(&mappings);
}

static void claims__that_cannot_be_are_refused(void **state)
{
    static const char *const rows[] = {
        "{\"sub\":\"s\",\"namespace\":\"*\"}",
        "{\"sub\":\"s\",\"namespace\":\"No Name\"}",
        "{\"sub\":\"s\",\"namespace\":\"a::b\"}",
        "{\"sub\":\"s\",\"role\":\"a\\nadmin\"}",
        "{\"sub\":\"a\\u0000b\"}",
    };
    struct buf mappings;
    struct store_sso settings = settings_with(&mappings);
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_new(64 << 10);
        struct auth_identity id;
        struct err err;
        ROW(rows[i]);
        assert_int_equal(auth_sso_from_claims(str_from_z(rows[i]), &settings, arena, &id, &err),
                         ERR_UNAUTHORIZED);
        arena_free(arena);
    }
    buf_deinit(&mappings);
}

static void claims__with_too_many_roles_are_refused(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct store_sso none = {.provider = STORE_SSO_OIDC};
    struct auth_identity id;
    struct buf claims;
    struct err err;
    (void)state;
    buf_init(&claims, 1 << 20);
    buf_printf(&claims, "{\"corvo_roles\":[\"first\"");
    for (unsigned i = 0; i < 200; i++) {
        buf_printf(&claims, ",\"%0200u\"", i);
    }
    buf_printf(&claims, "]}");
    assert_int_equal(auth_sso_from_claims(buf_str(&claims), &none, arena, &id, &err),
                     ERR_UNAUTHORIZED);
    buf_deinit(&claims);
    arena_free(arena);
}

static void headers__say_who_it_is(void **state)
{
    struct arena *arena = arena_new(64 << 10);
    struct auth_identity id;
    struct err err;
    struct auth_sso_headers h = {
        .subject = STR(" alice "), .role = STR("auditor"), .roles = STR("worker,, auditor , x")};
    (void)state;
    assert_int_equal(auth_sso_from_headers(&h, arena, &id, &err), ERR_OK);
    expect_str(id.name, STR("alice"));
    expect_str(id.role, STR("auditor"));
    expect_str(id.roles, STR("worker\nauditor\nx"));
    assert_int_equal(auth_sso_caller(&id).role_bit, ROLE_WORKER);
    h = (struct auth_sso_headers){.subject = STR("bob"), .ns = STR("default")};
    assert_int_equal(auth_sso_from_headers(&h, arena, &id, &err), ERR_OK);
    expect_str(id.role, STR("readonly"));
    expect_str(id.ns, STR(""));
    h.ns = STR("Not A Name");
    assert_int_equal(auth_sso_from_headers(&h, arena, &id, &err), ERR_UNAUTHORIZED);
    arena_free(arena);
}

static void proof__is_of_the_provider_and_the_client(void **state)
{
    static const struct store_sso rows[] = {
        {.issuer = {"ab", 2}, .client_id = {"c", 1}},
        {.issuer = {"a", 1}, .client_id = {"bc", 2}},
        {.issuer = {"ab", 2}, .client_id = {"d", 1}},
    };
    uint8_t proofs[COUNT_OF(rows)][AUTH_HASH_BYTES];
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        auth_sso_proof(&rows[i], proofs[i]);
        for (unsigned j = 0; j < i; j++) {
            assert_memory_not_equal(proofs[i], proofs[j], AUTH_HASH_BYTES);
        }
    }
}

TEST_GROUP(auth_sso, cmocka_unit_test(claims__say_who_it_is),
           cmocka_unit_test(claims__that_cannot_be_are_refused),
           cmocka_unit_test(claims__with_too_many_roles_are_refused),
           cmocka_unit_test(headers__say_who_it_is),
           cmocka_unit_test(proof__is_of_the_provider_and_the_client));
