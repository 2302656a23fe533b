/*
 * The description of a provider, the requests to it, and the cache of tokens.
 */
#include "lib/expect.h"
#include "lib/test.h"
#include "sso/sso_int.h"

static void description__must_be_that_of_the_issuer(void **state)
{
    static const struct {
        const char *issuer, *text, *why; /* NULL: valid */
    } rows[] = {
        {"https://id.example", "{\"issuer\":\"https://id.example\",\"jwks_uri\":\"https://k/\"}",
         NULL},
        {"http://id.example", "{\"issuer\":\"http://id.example\",\"jwks_uri\":\"http://k/\"}",
         NULL},
        {"https://id.example", "{\"issuer\":\"https://id.example/\",\"jwks_uri\":\"https://k/\"}",
         "another issuer"},
        {"https://id.example", "{\"issuer\":\"https://evil.example\",\"jwks_uri\":\"https://k/\"}",
         "another issuer"},
        {"https://id.example", "{\"jwks_uri\":\"https://k/\"}",
         "is not valid JSON or has no issuer"},
        {"https://id.example", "<html>", "is not valid JSON or has no issuer"},
        {"https://id.example", "", "is not valid JSON or has no issuer"},
        {"https://id.example", "{\"issuer\":\"https://id.example\"}", "jwks_uri"},
        {"https://id.example", "{\"issuer\":\"https://id.example\",\"jwks_uri\":7}", "jwks_uri"},
        {"https://id.example",
         "{\"issuer\":\"https://id.example\",\"jwks_uri\":\"file:///etc/passwd\"}", "jwks_uri"},
        {"https://id.example", "{\"issuer\":\"https://id.example\",\"jwks_uri\":\"http://k/\"}",
         "TLS"},
        {"https://id.example",
         "{\"issuer\":\"https://id.example\",\"jwks_uri\":\"https://k/"
         "\",\"token_endpoint\":\"http://t\"}",
         "TLS"},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct sso_provider p;
        struct err err = {.code = ERR_OK};
        ROW(rows[i].text);
        enum err_code code =
            sso_provider__parse(str_from_z(rows[i].text), str_from_z(rows[i].issuer), &p, &err);
        assert_int_equal(code, rows[i].why == NULL ? ERR_OK : ERR_UNHEALTHY);
        assert_true(rows[i].why == NULL || strstr(err.msg, rows[i].why) != NULL);
        sso_provider__clear(&p);
    }
}

static void description__is_below_the_issuer(void **state)
{
    struct buf url;
    (void)state;
    buf_init(&url, 4096);
    sso_provider__url(STR("https://id.example/realm//"), &url);
    expect_str(buf_str(&url), STR("https://id.example/realm/.well-known/openid-configuration"));
    buf_deinit(&url);
}

static void code__is_exchanged_with_the_secret_where_it_belongs(void **state)
{
#define COMMON                                                                                     \
    "grant_type=authorization_code&code=c%26d&redirect_uri=http%3A%2F%2Fh%2Fcb&code_verifier=v"
    static const struct {
        const char *secret;
        bool in_body;
        const char *body, *authorization;
    } rows[] = {
        {"", false, COMMON "&client_id=corvo%20x", ""},
        {"s:e", false, COMMON, "Basic Y29ydm8lMjB4OnMlM0Fl"},
        {"s:e", true, COMMON "&client_id=corvo%20x&client_secret=s%3Ae", ""},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct sso_provider p = {.secret_in_body = rows[i].in_body};
        struct store_sso settings = {.client_id = STR("corvo x"),
                                     .client_secret = str_from_z(rows[i].secret)};
        struct sso_ask ask = {
            .code = STR("c&d"), .verifier = STR("v"), .redirect_url = STR("http://h/cb")};
        struct buf body;
        struct buf authorization;
        buf_init(&body, 4096);
        buf_init(&authorization, 4096);
        ROW(rows[i].body);
        sso_provider__exchange(&p, &settings, &ask, &body, &authorization);
        expect_str(buf_str(&body), str_from_z(rows[i].body));
        expect_str(buf_str(&authorization), str_from_z(rows[i].authorization));
        buf_deinit(&body);
        buf_deinit(&authorization);
    }
}

static void answer__must_have_an_id_token(void **state)
{
    static const char *const bad[] = {"", "{}", "[]", "{\"id_token\":1}", "{\"id_token\":\"x\""};
    struct arena *arena = arena_new(4096);
    struct str token;
    struct err err;
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        ROW(bad[i]);
        assert_int_equal(sso_provider__id_token(str_from_z(bad[i]), arena, &token, &err),
                         ERR_UNHEALTHY);
    }
    assert_int_equal(sso_provider__id_token(STR("{\"id_token\":\"a.b.c\"}"), arena, &token, &err),
                     ERR_OK);
    expect_str(token, STR("a.b.c"));
    arena_free(arena);
}

static bool knows(struct sso_cache *c, struct str token, uint64_t version, int64_t now_ns,
                  struct auth_identity *out, struct arena *arena)
{
    uint8_t hash[AUTH_HASH_BYTES];
    auth_hash(token, hash);
    return sso_cache__get(c, hash, version, (struct wall){.ns = now_ns}, arena, out);
}

static void token__is_remembered_until_it_expires(void **state)
{
    struct sso_cache c = {.bytes = 0};
    struct arena *arena = arena_new(1 << 20);
    struct auth_identity id = {.name = STR("n"), .role = STR("r"), .roles = STR("a\nb")};
    struct auth_identity found;
    (void)state;
    sso_cache__init(&c);
    sso_cache__clear(&c, 7);
    sso_cache__put(&c, STR("t"), &id, (struct wall){.ns = 100});
    assert_true(knows(&c, STR("t"), 7, 99, &found, arena));
    expect_str(found.name, STR("n"));
    expect_str(found.roles, STR("a\nb"));
    assert_int_equal(found.until.ns, 100);
    assert_false(knows(&c, STR("t"), 7, 100, &found, arena));
    assert_false(knows(&c, STR("t"), 8, 99, &found, arena)); /* the settings changed */
    assert_false(knows(&c, STR("u"), 7, 99, &found, arena));
    sso_cache__clear(&c, 8);
    assert_false(knows(&c, STR("t"), 8, 99, &found, arena));
    sso_cache__deinit(&c);
    arena_free(arena);
}

static void tokens__are_bounded_in_bytes(void **state)
{
    enum { COUNT = 2000, ROLES_BYTES = 16000 };
    static char roles[ROLES_BYTES];
    struct sso_cache c = {.bytes = 0};
    struct arena *arena = arena_new(64 << 20);
    struct auth_identity found;
    (void)state;
    memset(roles, 'r', sizeof roles);
    struct auth_identity id = {.name = STR("n"), .roles = str_from(roles, sizeof roles)};
    sso_cache__init(&c);
    for (unsigned i = 0; i < COUNT; i++) {
        sso_cache__put(&c, str_from(&i, sizeof i), &id, (struct wall){.ns = 100});
    }
    unsigned first = 0;
    unsigned last = COUNT - 1;
    assert_true(c.bytes <= 8U << 20);
    assert_false(knows(&c, str_from(&first, sizeof first), 0, 1, &found, arena));
    assert_true(knows(&c, str_from(&last, sizeof last), 0, 1, &found, arena));
    sso_cache__deinit(&c);
    arena_free(arena);
}

TEST_GROUP(sso_provider, cmocka_unit_test(description__must_be_that_of_the_issuer),
           cmocka_unit_test(description__is_below_the_issuer),
           cmocka_unit_test(code__is_exchanged_with_the_secret_where_it_belongs),
           cmocka_unit_test(answer__must_have_an_id_token),
           cmocka_unit_test(token__is_remembered_until_it_expires),
           cmocka_unit_test(tokens__are_bounded_in_bytes));
