/*
 * Tokens: which are accepted, and the ways in which a token can be wrong (http-api.md 3.3).
 */
#include "auth/auth_jwt.h"

#include <stdio.h>
#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>

#include "base/base64url.h"
#include "base/buf.h"
#include "lib/expect.h"
#include "lib/test.h"

#define NOW_S  1700000000LL
#define ISSUER "https://id.example"

/* A signing key of the provider. */
struct signer {
    EVP_PKEY *pkey;
    enum auth_alg alg;
};

static const char *const alg_words[] = {"RS256", "ES256", "EdDSA"};

static struct signer signer_new(enum auth_alg alg)
{
    EVP_PKEY *pkey = alg == AUTH_RS256   ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048)
                     : alg == AUTH_ES256 ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256")
                                         : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    assert_non_null(pkey);
    return (struct signer){.pkey = pkey, .alg = alg};
}

static void add_encoded(struct buf *out, struct str bytes)
{
    char *text = malloc(bytes.len * 2 + 8);
    assert_non_null(text);
    buf_add_str(out, base64url_encode(bytes, text));
    free(text);
}

static void add_number(struct buf *out, const EVP_PKEY *pkey, const char *name, const char *param)
{
    BIGNUM *n = NULL;
    uint8_t bytes[1024];
    assert_int_equal(EVP_PKEY_get_bn_param(pkey, param, &n), 1);
    int len = BN_num_bytes(n);
    len = len < 32 && name[0] != 'e' ? 32 : len; /* coordinates are padded with zeros */
    assert_int_equal(BN_bn2binpad(n, bytes, len), len);
    buf_printf(out, ",\"%s\":\"", name);
    add_encoded(out, str_from(bytes, (size_t)len));
    buf_add_char(out, '"');
    BN_free(n);
}

/* Add {"kty":…,"kid":id} and additional members, such as ,"use":"enc". */
static void add_jwk(struct buf *out, const struct signer *s, const char *id, const char *more)
{
    static const char *const types[] = {"\"RSA\"", "\"EC\",\"crv\":\"P-256\"",
                                        "\"OKP\",\"crv\":\"Ed25519\""};
    buf_printf(out, "{\"kty\":%s,\"kid\":\"%s\"%s", types[s->alg], id, more);
    if (s->alg == AUTH_RS256) {
        add_number(out, s->pkey, "n", OSSL_PKEY_PARAM_RSA_N);
        add_number(out, s->pkey, "e", OSSL_PKEY_PARAM_RSA_E);
    } else if (s->alg == AUTH_ES256) {
        add_number(out, s->pkey, "x", OSSL_PKEY_PARAM_EC_PUB_X);
        add_number(out, s->pkey, "y", OSSL_PKEY_PARAM_EC_PUB_Y);
    } else {
        uint8_t raw[32];
        size_t len = sizeof raw;
        assert_int_equal(EVP_PKEY_get_raw_public_key(s->pkey, raw, &len), 1);
        buf_printf(out, ",\"x\":\"");
        add_encoded(out, str_from(raw, len));
        buf_add_char(out, '"');
    }
    buf_add_char(out, '}');
}

/* Append the signature of "header.claims". An ECDSA signature has the format of tokens, or DER. */
static void add_signature(struct buf *token, const struct signer *s, bool der)
{
    uint8_t sig[1024];
    uint8_t flat[64];
    size_t len = sizeof sig;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const EVP_MD *md = s->alg == AUTH_EDDSA ? NULL : EVP_sha256();
    assert_int_equal(EVP_DigestSignInit(ctx, NULL, md, NULL, s->pkey), 1);
    assert_int_equal(EVP_DigestSign(ctx, sig, &len, (const uint8_t *)token->ptr, token->len), 1);
    EVP_MD_CTX_free(ctx);
    buf_add_char(token, '.');
    if (s->alg != AUTH_ES256 || der) {
        add_encoded(token, str_from(sig, len));
        return;
    }
    const uint8_t *at = sig;
    ECDSA_SIG *two = d2i_ECDSA_SIG(NULL, &at, (long)len);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(two), flat, 32), 32);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(two), flat + 32, 32), 32);
    ECDSA_SIG_free(two);
    add_encoded(token, str_from(flat, sizeof flat));
}

static void make_token(struct buf *out, const struct signer *s, const char *header,
                       const char *claims)
{
    buf_clear(out);
    add_encoded(out, str_from_z(header));
    buf_add_char(out, '.');
    add_encoded(out, str_from_z(claims));
    add_signature(out, s, false);
}

/* Run all checks of a token, in order. */
static enum err_code judge(struct str token, const struct auth_jwks *keys, struct err *err)
{
    struct arena *arena = arena_new(256 << 10);
    struct auth_jwt t;
    struct auth_jwt_rule rule = {
        .issuer = STR(ISSUER), .audience = STR("corvo"), .now = {.ns = NOW_S * NS_PER_S}};
    enum err_code code = auth_jwt_parse(token, arena, &t, err);
    if (code == ERR_OK) {
        code = auth_jwt_verify(&t, keys, err);
    }
    if (code == ERR_OK) {
        code = auth_jwt_check(&t, &rule, err);
    }
    arena_free(arena);
    return code;
}

static struct auth_jwks *set_of(const struct signer *s, const char *id, const char *more)
{
    struct buf text;
    struct auth_jwks *keys = NULL;
    struct err err;
    buf_init(&text, 64 << 10);
    buf_printf(&text, "{\"keys\":[");
    add_jwk(&text, s, id, more);
    buf_printf(&text, "]}");
    assert_int_equal(auth_jwks_parse(buf_str(&text), &keys, &err), ERR_OK);
    buf_deinit(&text);
    return keys;
}

#define RIGHT "\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":1700000300"

static void token__of_each_algorithm_is_right(void **state)
{
    struct buf token;
    struct err err;
    char header[64];
    (void)state;
    buf_init(&token, 64 << 10);
    for (unsigned i = 0; i < AUTH_ALG_COUNT; i++) {
        struct signer s = signer_new((enum auth_alg)i);
        struct auth_jwks *keys = set_of(&s, "k", "");
        ROW(alg_words[i]);
        assert_int_equal(auth_jwks_count(keys), 1);
        (void)snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"k\"}", alg_words[i]);
        make_token(&token, &s, header, "{" RIGHT "}");
        assert_int_equal(judge(buf_str(&token), keys, &err), ERR_OK);
        (void)snprintf(header, sizeof header, "{\"alg\":\"%s\"}", alg_words[i]);
        make_token(&token, &s, header, "{" RIGHT "}"); /* no key id: any key of this type */
        assert_int_equal(judge(buf_str(&token), keys, &err), ERR_OK);
        for (unsigned j = 0; j < AUTH_ALG_COUNT; j++) { /* a key is valid for one algorithm */
            (void)snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"k\"}", alg_words[j]);
            make_token(&token, &s, header, "{" RIGHT "}");
            assert_int_equal(judge(buf_str(&token), keys, &err), i == j ? ERR_OK : ERR_NOT_FOUND);
        }
        auth_jwks_free(keys);
        EVP_PKEY_free(s.pkey);
    }
    buf_deinit(&token);
}

static void claims__are_for_us_and_now(void **state)
{
    static const struct {
        const char *claims;
        const char *why; /* NULL: accepted */
    } rows[] = {
        {"{" RIGHT "}", NULL},
        {"{" RIGHT ",\"nbf\":1700000000,\"iat\":1699999999}", NULL},
        {"{" RIGHT ",\"nbf\":1700000060}", NULL}, /* within the skew */
        {"{" RIGHT ",\"nbf\":1700000061}", "not valid yet"},
        {"{" RIGHT ",\"nbf\":\"soon\"}", "not valid yet"},
        {"{" RIGHT ",\"nbf\":-9223372036854775808}", NULL},
        {"{" RIGHT ",\"iat\":1700000061}", "not valid yet"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":1699999941}", NULL},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":1699999940}", "expired"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":1700000000.5}", NULL},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":9223372036854775807}", NULL},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":-9223372036854775808}", "expired"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":1e300}", "expiry"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\",\"exp\":\"1700000300\"}", "expiry"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo\"}", "expiry"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":[\"x\",\"corvo\"],\"exp\":1700000300}", NULL},
        {"{\"iss\":\"" ISSUER "\",\"aud\":[],\"exp\":1700000300}", "audience"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":[[\"corvo\"]],\"exp\":1700000300}", "audience"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":{\"corvo\":1},\"exp\":1700000300}", "audience"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"Corvo\",\"exp\":1700000300}", "audience"},
        {"{\"iss\":\"" ISSUER "\",\"aud\":\"corvo2\",\"exp\":1700000300}", "audience"},
        {"{\"iss\":\"" ISSUER "\",\"exp\":1700000300}", "audience"},
        {"{\"iss\":\"" ISSUER "/\",\"aud\":\"corvo\",\"exp\":1700000300}", "issuer"},
        {"{\"iss\":[\"" ISSUER "\"],\"aud\":\"corvo\",\"exp\":1700000300}", "issuer"},
        {"{\"aud\":\"corvo\",\"exp\":1700000300}", "issuer"},
    };
    struct signer s = signer_new(AUTH_EDDSA);
    struct auth_jwks *keys = set_of(&s, "k", "");
    struct buf token;
    (void)state;
    buf_init(&token, 64 << 10);
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {.code = ERR_OK};
        ROW(rows[i].claims);
        make_token(&token, &s, "{\"alg\":\"EdDSA\",\"kid\":\"k\"}", rows[i].claims);
        enum err_code code = judge(buf_str(&token), keys, &err);
        assert_int_equal(code, rows[i].why == NULL ? ERR_OK : ERR_UNAUTHORIZED);
        assert_true(rows[i].why == NULL || strstr(err.msg, rows[i].why) != NULL);
    }
    buf_deinit(&token);
    auth_jwks_free(keys);
    EVP_PKEY_free(s.pkey);
}

static void header__chooses_nothing_but_a_known_key(void **state)
{
    static const struct {
        const char *header;
        enum err_code code;
        const char *why;
    } rows[] = {
        {"{\"alg\":\"none\"}", ERR_UNAUTHORIZED, "algorithm"},
        {"{\"alg\":\"NONE\"}", ERR_UNAUTHORIZED, "algorithm"},
        {"{\"alg\":\"\"}", ERR_UNAUTHORIZED, "algorithm"},
        {"{}", ERR_UNAUTHORIZED, "algorithm"},
        {"{\"alg\":\"HS256\",\"kid\":\"k\"}", ERR_UNAUTHORIZED, "algorithm"},
        {"{\"alg\":\"rs256\",\"kid\":\"k\"}", ERR_UNAUTHORIZED, "algorithm"},
        {"{\"alg\":[\"RS256\"],\"kid\":\"k\"}", ERR_UNAUTHORIZED, "algorithm"},
        {"{\"alg\":\"RS256\",\"kid\":\"other\"}", ERR_NOT_FOUND, "key"},
        {"{\"alg\":\"RS256\",\"kid\":\"K\"}", ERR_NOT_FOUND, "key"},
        {"{\"alg\":\"RS256\",\"kid\":\"../../dev/null\"}", ERR_NOT_FOUND, "key"},
        {"{\"alg\":\"RS256\",\"kid\":\"k\\u0000\"}", ERR_NOT_FOUND, "key"},
        {"{\"alg\":\"RS256\",\"kid\":7}", ERR_UNAUTHORIZED, "key"},
        {"{\"alg\":\"RS256\",\"kid\":\"k\",\"crit\":[\"exp\"]}", ERR_UNAUTHORIZED, "extensions"},
        {"{\"alg\":\"RS256\",\"kid\":\"k\",\"jku\":\"https://evil.example\"}", ERR_OK, ""},
        {"{\"alg\":\"RS256\",\"kid\":\"\\u006b\"}", ERR_OK, ""},
        {"[\"RS256\"]", ERR_UNAUTHORIZED, "not a signed JWT"},
    };
    struct signer s = signer_new(AUTH_RS256);
    struct auth_jwks *keys = set_of(&s, "k", ",\"alg\":\"RS256\",\"use\":\"sig\"");
    struct buf token;
    (void)state;
    buf_init(&token, 64 << 10);
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {.code = ERR_OK};
        ROW(rows[i].header);
        make_token(&token, &s, rows[i].header, "{" RIGHT "}");
        assert_int_equal(judge(buf_str(&token), keys, &err), rows[i].code);
        assert_non_null(strstr(err.msg, rows[i].why));
    }
    buf_deinit(&token);
    auth_jwks_free(keys);
    EVP_PKEY_free(s.pkey);
}

static void signature__of_p256_has_one_form(void **state)
{
    struct signer s = signer_new(AUTH_ES256);
    struct signer other = signer_new(AUTH_ES256);
    struct auth_jwks *keys = set_of(&s, "k", "");
    struct buf token;
    struct err err;
    (void)state;
    buf_init(&token, 64 << 10);
    add_encoded(&token, STR("{\"alg\":\"ES256\",\"kid\":\"k\"}"));
    buf_add_char(&token, '.');
    add_encoded(&token, STR("{" RIGHT "}"));
    size_t text = token.len;
    add_signature(&token, &s, true); /* DER */
    assert_int_equal(judge(buf_str(&token), keys, &err), ERR_UNAUTHORIZED);
    token.len = text;
    add_signature(&token, &other, false); /* signature of another key */
    assert_int_equal(judge(buf_str(&token), keys, &err), ERR_UNAUTHORIZED);
    for (size_t len = 0; len <= 96; len += 32) { /* zeros, also of the correct length */
        static const uint8_t zeros[96] = {0};
        token.len = text;
        buf_add_char(&token, '.');
        add_encoded(&token, str_from(zeros, len));
        assert_int_equal(judge(buf_str(&token), keys, &err), ERR_UNAUTHORIZED);
    }
    token.len = text;
    add_signature(&token, &s, false);
    assert_int_equal(judge(buf_str(&token), keys, &err), ERR_OK);
    buf_deinit(&token);
    auth_jwks_free(keys);
    EVP_PKEY_free(s.pkey);
    EVP_PKEY_free(other.pkey);
}

static void token__changed_anywhere_is_wrong(void **state)
{
    struct signer s = signer_new(AUTH_EDDSA);
    struct auth_jwks *keys = set_of(&s, "k", "");
    struct buf token;
    struct err err;
    (void)state;
    buf_init(&token, 64 << 10);
    make_token(&token, &s, "{\"alg\":\"EdDSA\",\"kid\":\"k\"}", "{" RIGHT "}");
    assert_int_equal(judge(buf_str(&token), keys, &err), ERR_OK);
    for (size_t i = 0; i < token.len; i++) {
        static const char others[] = "Aw=. \n";
        char was = token.ptr[i];
        for (size_t j = 0; j < sizeof others; j++) { /* including the terminating NUL */
            if (others[j] != was) {
                token.ptr[i] = others[j];
                assert_int_not_equal(judge(buf_str(&token), keys, &err), ERR_OK);
            }
        }
        token.ptr[i] = was;
        assert_int_not_equal(judge(str_from(token.ptr, i), keys, &err), ERR_OK);
    }
    buf_deinit(&token);
    auth_jwks_free(keys);
    EVP_PKEY_free(s.pkey);
}

static void token__is_bounded(void **state)
{
    struct signer s = signer_new(AUTH_EDDSA);
    struct auth_jwks *keys = set_of(&s, "k", "");
    struct buf token;
    struct err err;
    (void)state;
    buf_init(&token, 1 << 20);
    buf_printf(&token, "eyJ.");
    for (size_t i = 0; i < AUTH_JWT_BYTES_MAX; i++) {
        buf_add_char(&token, 'A');
    }
    buf_printf(&token, ".A");
    assert_int_equal(judge(buf_str(&token), keys, &err), ERR_UNAUTHORIZED);
    assert_non_null(strstr(err.msg, "too large"));
    buf_deinit(&token);
    auth_jwks_free(keys);
    EVP_PKEY_free(s.pkey);
}

static void nonce__is_that_of_the_sign_in(void **state)
{
    static const struct {
        const char *claims;
        enum err_code code;
    } rows[] = {
        {"{" RIGHT ",\"nonce\":\"n\"}", ERR_OK},
        {"{" RIGHT ",\"nonce\":\"m\"}", ERR_UNAUTHORIZED},
        {"{" RIGHT "}", ERR_UNAUTHORIZED},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        struct auth_jwt t = {.claims = str_from_z(rows[i].claims)};
        struct auth_jwt_rule rule = {.issuer = STR(ISSUER),
                                     .audience = STR("corvo"),
                                     .nonce = STR("n"),
                                     .now = {.ns = NOW_S * NS_PER_S}};
        ROW(rows[i].claims);
        assert_int_equal(auth_jwt_check(&t, &rule, &err), rows[i].code);
    }
}

#define ZEROS "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" /* 32 zeros */

static void key__that_cannot_be_used_is_passed_over(void **state)
{
    struct signer s = signer_new(AUTH_RS256);
    struct auth_jwks *keys;
    struct err err;
    static const char *const not_ours[] = {",\"use\":\"enc\"", ",\"alg\":\"RS512\"",
                                           ",\"alg\":\"HS256\"", ",\"alg\":\"ES256\""};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(not_ours); i++) {
        ROW(not_ours[i]);
        keys = set_of(&s, "k", not_ours[i]);
        assert_int_equal(auth_jwks_count(keys), 0);
        auth_jwks_free(keys);
    }
    EVP_PKEY_free(s.pkey);
    static const char *const sets[] = {
        "{\"keys\":[]}",
        "{\"keys\":[1,null,[],{}]}",
        "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}", /* too short */
        "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"\",\"e\":\"\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" ZEROS "\",\"y\":\"" ZEROS
        "\"}]}", /* not on the curve */
        "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"AAAA\"}]}",
    };
    for (unsigned i = 0; i < COUNT_OF(sets); i++) {
        ROW(sets[i]);
        assert_int_equal(auth_jwks_parse(str_from_z(sets[i]), &keys, &err), ERR_OK);
        assert_int_equal(auth_jwks_count(keys), 0);
        auth_jwks_free(keys);
    }
    static const char *const none[] = {"", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[}"};
    for (unsigned i = 0; i < COUNT_OF(none); i++) {
        ROW(none[i]);
        assert_int_equal(auth_jwks_parse(str_from_z(none[i]), &keys, &err), ERR_PARSE);
    }
}

static void base64url__is_strict(void **state)
{
    static const struct {
        const char *text;
        const char *bytes; /* NULL: invalid */
    } rows[] = {
        {"", ""},
        {"Zg", "f"},
        {"Zm8", "fo"},
        {"Zm9v", "foo"},
        {"-_-_", "\xfb\xff\xbf"},
        {"Zg==", NULL},
        {"Zh", NULL},
        {"Z", NULL},
        {"Zm9v\n", NULL},
        {"+/+/", NULL},
        {"Zm9v Zm9v", NULL},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        uint8_t out[32];
        char back[64];
        size_t len;
        ROW(rows[i].text);
        bool right = base64url_decode(str_from_z(rows[i].text), out, &len);
        assert_int_equal(right, rows[i].bytes != NULL);
        if (right) {
            expect_str(str_from(out, len), str_from_z(rows[i].bytes));
            expect_str(base64url_encode(str_from(out, len), back), str_from_z(rows[i].text));
        }
    }
}

TEST_GROUP(auth_jwt, cmocka_unit_test(token__of_each_algorithm_is_right),
           cmocka_unit_test(claims__are_for_us_and_now),
           cmocka_unit_test(header__chooses_nothing_but_a_known_key),
           cmocka_unit_test(signature__of_p256_has_one_form),
           cmocka_unit_test(token__changed_anywhere_is_wrong), cmocka_unit_test(token__is_bounded),
           cmocka_unit_test(nonce__is_that_of_the_sign_in),
           cmocka_unit_test(key__that_cannot_be_used_is_passed_over),
           cmocka_unit_test(base64url__is_strict));
