#include "auth/auth_jwk.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

#include "base/base64url.h"
#include "base/check.h"
#include "base/limits.h"
#include "json/json_scan.h"

enum {
    ID_BYTES_MAX = 512,
    RSA_BITS_MIN = 2048,
    RSA_BITS_MAX = 8192,
    RSA_EXPONENT_BYTES_MAX = 8, /* larger exponents only cost time */
    NUMBER_BYTES_MAX = RSA_BITS_MAX / 8 + 8,
    HALF = 32, /* bytes of a coordinate of P-256, and of half a signature */
    ED25519_BYTES = 32,
};

struct key {
    EVP_PKEY *pkey;
    enum auth_alg alg;
    size_t id_len;
    char id[ID_BYTES_MAX];
};

struct auth_jwks {
    size_t count;
    struct key keys[AUTH_JWKS_MAX];
};

bool auth_alg_of(struct str word, enum auth_alg *out)
{
    static const char *const words[AUTH_ALG_COUNT] = {
        [AUTH_RS256] = "RS256", [AUTH_ES256] = "ES256", [AUTH_EDDSA] = "EdDSA"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (str_eq(word, str_from_z(words[i]))) {
            *out = (enum auth_alg)i;
            return true;
        }
    }
    return false;
}

/* Constructing keys from their numbers. NULL if they are invalid. */

static EVP_PKEY *from_params(const char *type, OSSL_PARAM_BLD *bld)
{
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(bld);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    CHECK(params != NULL && ctx != NULL);
    if (EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        pkey = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return pkey;
}

struct number {
    uint8_t bytes[NUMBER_BYTES_MAX];
    size_t len;
};

static EVP_PKEY *make_rsa(const struct number *n, const struct number *e)
{
    if (n->len * 8 < RSA_BITS_MIN || e->len == 0 || e->len > RSA_EXPONENT_BYTES_MAX) {
        return NULL;
    }
    OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = BN_bin2bn(n->bytes, (int)n->len, NULL);
    BIGNUM *exponent = BN_bin2bn(e->bytes, (int)e->len, NULL);
    CHECK(bld != NULL && modulus != NULL && exponent != NULL);
    EVP_PKEY *pkey = NULL;
    int bits = BN_num_bits(modulus);
    if (bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && BN_is_odd(modulus) && BN_is_odd(exponent) &&
        !BN_is_one(exponent) && OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, exponent) == 1) {
        pkey = from_params("RSA", bld);
    }
    BN_free(modulus);
    BN_free(exponent);
    OSSL_PARAM_BLD_free(bld);
    return pkey;
}

static EVP_PKEY *make_p256(const struct number *x, const struct number *y)
{
    uint8_t point[1 + 2 * HALF] = {POINT_CONVERSION_UNCOMPRESSED};
    if (x->len != HALF || y->len != HALF) {
        return NULL;
    }
    memcpy(point + 1, x->bytes, HALF);
    memcpy(point + 1 + HALF, y->bytes, HALF);
    OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
    CHECK(bld != NULL);
    EVP_PKEY *pkey = NULL;
    if (OSSL_PARAM_BLD_push_utf8_string(bld, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(bld, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1) {
        pkey = from_params("EC", bld); /* also checks that the point is on the curve */
    }
    OSSL_PARAM_BLD_free(bld);
    return pkey;
}

static EVP_PKEY *make_ed25519(const struct number *x)
{
    return x->len != ED25519_BYTES
               ? NULL
               : EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, x->bytes, x->len);
}

/* Parsing a set */

/* A string member without escapes; empty if it is anything else. */
static struct str plain(struct str object, struct str name)
{
    struct json_value v;
    if (!json_scan_member(object, name, &v) || v.type != JSON_TYPE_STRING || v.escaped) {
        return STR_EMPTY;
    }
    return str_from(v.text.ptr + 1, v.text.len - 2);
}

static struct number number(struct str object, struct str name)
{
    struct number n = {.len = 0};
    struct str text = plain(object, name);
    if (base64url_room(text.len) > sizeof n.bytes || !base64url_decode(text, n.bytes, &n.len)) {
        n.len = 0;
    }
    return n;
}

static EVP_PKEY *make_key(struct str jwk, enum auth_alg *out_alg)
{
    struct str type = plain(jwk, STR("kty"));
    struct str curve = plain(jwk, STR("crv"));
    struct number x = number(jwk, STR("x"));
    if (str_eq(type, STR("RSA"))) {
        struct number n = number(jwk, STR("n"));
        struct number e = number(jwk, STR("e"));
        *out_alg = AUTH_RS256;
        return make_rsa(&n, &e);
    }
    if (str_eq(type, STR("EC")) && str_eq(curve, STR("P-256"))) {
        struct number y = number(jwk, STR("y"));
        *out_alg = AUTH_ES256;
        return make_p256(&x, &y);
    }
    if (str_eq(type, STR("OKP")) && str_eq(curve, STR("Ed25519"))) {
        *out_alg = AUTH_EDDSA;
        return make_ed25519(&x);
    }
    return NULL;
}

static void add_key(struct auth_jwks *set, struct str jwk)
{
    struct str use = plain(jwk, STR("use"));
    struct str word = plain(jwk, STR("alg"));
    struct json_value id;
    enum auth_alg alg;
    enum auth_alg named;
    bool has_id = json_scan_member(jwk, STR("kid"), &id) && id.type == JSON_TYPE_STRING;
    if (set->count == AUTH_JWKS_MAX || (use.len > 0 && !str_eq(use, STR("sig"))) ||
        (has_id && json_value_text_len(id) > ID_BYTES_MAX)) {
        return;
    }
    EVP_PKEY *pkey = make_key(jwk, &alg);
    if (pkey == NULL || (word.len > 0 && (!auth_alg_of(word, &named) || named != alg))) {
        EVP_PKEY_free(pkey);
        return;
    }
    struct key *k = &set->keys[set->count++];
    *k = (struct key){.pkey = pkey, .alg = alg};
    if (has_id) {
        struct buf text;
        buf_init_room(&text, sizeof k->id, k->id, sizeof k->id);
        json_value_text_buf(id, &text);
        k->id_len = text.len;
    }
}

enum err_code auth_jwks_parse(struct str text, struct auth_jwks **out, struct err *err)
{
    struct json_value keys;
    struct json_value key;
    if (json_scan_check(text, err) != ERR_OK) {
        return err->code;
    }
    if (!json_scan_member(text, STR("keys"), &keys) || keys.type != JSON_TYPE_ARRAY) {
        return err_set(err, ERR_PARSE, "the key set must have an array named keys");
    }
    struct auth_jwks *set = calloc(1, sizeof *set);
    CHECK(set != NULL);
    struct json_scan s = json_scan_from(keys.text);
    if (json_scan_enter_array(&s)) {
        while (json_scan_next_element(&s) && json_scan_value(&s, &key)) {
            if (key.type == JSON_TYPE_OBJECT) {
                add_key(set, key.text);
            }
        }
    }
    *out = set;
    return ERR_OK;
}

void auth_jwks_free(struct auth_jwks *set)
{
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        EVP_PKEY_free(set->keys[i].pkey);
    }
    free(set);
}

size_t auth_jwks_count(const struct auth_jwks *set)
{
    return set->count;
}

/* Signatures */

static bool is_for(const struct key *k, enum auth_alg alg, struct str id)
{
    return k->alg == alg && (id.len == 0 || str_eq(id, str_from(k->id, k->id_len)));
}

bool auth_jwks_has(const struct auth_jwks *set, enum auth_alg alg, struct str id)
{
    for (size_t i = 0; i < set->count; i++) {
        if (is_for(&set->keys[i], alg, id)) {
            return true;
        }
    }
    return false;
}

static bool verify(EVP_PKEY *pkey, const EVP_MD *md, struct str text, const uint8_t *signature,
                   size_t len)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CHECK(ctx != NULL);
    bool right = EVP_DigestVerifyInit(ctx, NULL, md, NULL, pkey) == 1 &&
                 EVP_DigestVerify(ctx, signature, len, (const uint8_t *)text.ptr, text.len) == 1;
    EVP_MD_CTX_free(ctx);
    return right;
}

/* The token has both numbers concatenated; OpenSSL needs them as DER. */
static bool verify_p256(EVP_PKEY *pkey, struct str text, struct str signature)
{
    const uint8_t *bytes = (const uint8_t *)signature.ptr;
    uint8_t *der = NULL;
    if (signature.len != (size_t)2 * HALF) {
        return false;
    }
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, HALF, NULL);
    BIGNUM *s = BN_bin2bn(bytes + HALF, HALF, NULL);
    CHECK(sig != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(sig, r, s) == 1);
    int len = i2d_ECDSA_SIG(sig, &der);
    bool right = len > 0 && verify(pkey, EVP_sha256(), text, der, (size_t)len);
    OPENSSL_free(der);
    ECDSA_SIG_free(sig);
    return right;
}

static bool verify_with(const struct key *k, struct str text, struct str signature)
{
    switch (k->alg) {
    case AUTH_RS256:
        return verify(k->pkey, EVP_sha256(), text, (const uint8_t *)signature.ptr, signature.len);
    case AUTH_ES256:
        return verify_p256(k->pkey, text, signature);
    case AUTH_EDDSA:
        return verify(k->pkey, NULL, text, (const uint8_t *)signature.ptr, signature.len);
    case AUTH_ALG_COUNT:
    default:
        return false;
    }
}

bool auth_jwks_verify(const struct auth_jwks *set, enum auth_alg alg, struct str id,
                      struct str text, struct str signature)
{
    for (size_t i = 0; i < set->count; i++) {
        if (is_for(&set->keys[i], alg, id) && verify_with(&set->keys[i], text, signature)) {
            return true;
        }
    }
    return false;
}
