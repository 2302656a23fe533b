#include "crypto/crypto.h"

#include <stdatomic.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/check.h"

/* The algorithm is fetched once, because finding it by name takes longer than a short digest. */
static const EVP_MD *sha256(void)
{
    static EVP_MD *_Atomic fetched;
    EVP_MD *md = atomic_load_explicit(&fetched, memory_order_acquire);
    if (md == NULL) {
        EVP_MD *none = NULL;
        md = EVP_MD_fetch(NULL, "SHA256", NULL);
        CHECK(md != NULL);
        CHECK(EVP_MD_get_size(md) == CRYPTO_HASH_BYTES);
        if (!atomic_compare_exchange_strong(&fetched, &none, md)) {
            EVP_MD_free(md); /* another thread was faster */
            md = none;
        }
    }
    return md;
}

void crypto_hash(struct str text, uint8_t out[CRYPTO_HASH_BYTES])
{
    CHECK(EVP_Digest(text.ptr, text.len, out, NULL, sha256(), NULL) == 1);
}

void crypto_hash_two(struct str a, struct str b, uint8_t out[CRYPTO_HASH_BYTES])
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CHECK(ctx != NULL);
    CHECK(EVP_DigestInit_ex(ctx, sha256(), NULL) == 1);
    CHECK(EVP_DigestUpdate(ctx, a.ptr, a.len) == 1);
    CHECK(EVP_DigestUpdate(ctx, b.ptr, b.len) == 1);
    CHECK(EVP_DigestFinal_ex(ctx, out, NULL) == 1);
    EVP_MD_CTX_free(ctx);
}

void crypto_hmac(struct str key, struct str text, uint8_t out[CRYPTO_HASH_BYTES])
{
    unsigned len = 0;
    CHECK(key.len <= INT32_MAX);
    const uint8_t *made = HMAC(EVP_sha256(), key.len == 0 ? "" : key.ptr, (int)key.len,
                               (const uint8_t *)text.ptr, text.len, out, &len);
    CHECK(made != NULL);
    CHECK(len == CRYPTO_HASH_BYTES);
}

/* Compare block by block; the last block may overlap the one before. */
bool crypto_equal(const void *a, const void *b, size_t len)
{
    typedef uint64_t block __attribute__((vector_size(16)));
    const char *x = a;
    const char *y = b;
    block v = {0};
    block w = {0};
    if (len < sizeof v) {
        memcpy(&v, x, len);
        memcpy(&w, y, len);
        return ((v[0] ^ w[0]) | (v[1] ^ w[1])) == 0;
    }
    memcpy(&v, x + len - sizeof v, sizeof v);
    memcpy(&w, y + len - sizeof w, sizeof w);
    block differ = v ^ w;
    for (size_t i = 0; i + sizeof v < len; i += sizeof v) {
        memcpy(&v, x + i, sizeof v);
        memcpy(&w, y + i, sizeof w);
        differ |= v ^ w;
    }
    return (differ[0] | differ[1]) == 0;
}

void crypto_random(void *out, size_t len)
{
    CHECK(len <= INT32_MAX);
    CHECK(RAND_bytes(out, (int)len) == 1);
}

void crypto_wipe(void *secret, size_t len)
{
    OPENSSL_cleanse(secret, len);
}
