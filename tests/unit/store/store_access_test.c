/*
 * Access records that were added after the first ones. Their bytes are on disk.
 */
#include "store/store_access.h"

#include "lib/expect.h"
#include "lib/test.h"

static void sso__has_these_bytes(void **state)
{
    static const char want[] = "\x01o\x01\x01i\x02id\x01s\x06groups\x03"
                               "dev\x05"
                               "admin\x03ops\x06worker";
    struct buf mappings;
    struct buf body;
    struct store_sso found;
    struct str group;
    struct str role;
    (void)state;
    buf_init(&mappings, 4096);
    buf_init(&body, 4096);
    store_access_add_mapping(STR("dev"), STR("admin"), &mappings);
    store_access_add_mapping(STR("ops"), STR("worker"), &mappings);
    struct store_sso rec = {.provider = STORE_SSO_OIDC,
                            .headers_enabled = true,
                            .issuer = STR("i"),
                            .client_id = STR("id"),
                            .client_secret = STR("s"),
                            .group_claim = STR("groups"),
                            .mappings = buf_str(&mappings)};
    store_access_encode_sso(&rec, &body);
    expect_str(buf_str(&body), str_from(want, sizeof want - 1));
    assert_true(store_access_decode_sso(buf_str(&body), &found));
    assert_int_equal(found.provider, STORE_SSO_OIDC);
    assert_true(found.headers_enabled);
    expect_str(found.client_secret, STR("s"));
    assert_true(store_access_next_mapping(&found.mappings, &group, &role));
    expect_str(group, STR("dev"));
    expect_str(role, STR("admin"));
    assert_true(store_access_is_valid(STORE_ACCESS_SSO, STR_EMPTY, buf_str(&body)));
    assert_false(store_access_is_valid(STORE_ACCESS_SSO, STR("x"), buf_str(&body)));
    for (size_t len = 0; len < body.len; len++) { /* valid if cut between two mappings */
        bool whole = len == body.len - sizeof "\x03ops\x06worker" + 1 ||
                     len == body.len -
                                sizeof "\x03ops\x06worker\x03"
                                       "dev\x05"
                                       "admin" +
                                1;
        assert_int_equal(store_access_decode_sso(str_from(body.ptr, len), &found), whole);
    }
    body.ptr[0] = 2;
    assert_false(store_access_decode_sso(buf_str(&body), &found));
    body.ptr[0] = 1;
    body.ptr[1] = 'x';
    assert_false(store_access_decode_sso(buf_str(&body), &found));
    buf_deinit(&mappings);
    buf_deinit(&body);
}

/* Sessions begun with a password or a key have no roles, as before SSO sessions were added. */
static void session__has_roles_only_by_sso(void **state)
{
    static const uint8_t proof[STORE_ACCESS_HASH_BYTES] = {1};
    static const char hows[] = {STORE_SESSION_PASSWORD, STORE_SESSION_KEY, STORE_SESSION_SSO};
    struct store_session found;
    struct buf body;
    (void)state;
    buf_init(&body, 4096);
    for (size_t i = 0; i < sizeof hows; i++) {
        struct store_session rec = {.how = hows[i],
                                    .proof = str_from(proof, sizeof proof),
                                    .name = STR("n"),
                                    .roles = STR("a\nb")};
        bool sso = hows[i] == STORE_SESSION_SSO;
        buf_clear(&body);
        store_access_encode_session(&rec, &body);
        assert_int_equal(body.len, 1 + 8 + 33 + 2 + 4 + (sso ? 4 : 0));
        assert_true(store_access_decode_session(buf_str(&body), &found));
        expect_str(found.roles, sso ? STR("a\nb") : STR(""));
    }
    body.ptr[0] = 'z';
    assert_false(store_access_decode_session(buf_str(&body), &found));
    buf_deinit(&body);
}

TEST_GROUP(store_access, cmocka_unit_test(sso__has_these_bytes),
           cmocka_unit_test(session__has_roles_only_by_sso));
