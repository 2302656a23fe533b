/*
 * Crypto: digests, authentication codes and random secrets, all of SHA-256.
 *
 * The one place that asks OpenSSL for them. Public keys are read and signatures are checked in
 * auth/auth_jwk.h; TLS is the business of whoever has a connection.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { CRYPTO_HASH_BYTES = 32 };

void crypto_hash(struct str text, uint8_t out[CRYPTO_HASH_BYTES]);
/* Of both, one behind the other. */
void crypto_hash_two(struct str a, struct str b, uint8_t out[CRYPTO_HASH_BYTES]);

/* What only one who has the key can say of the text: HMAC. Any key will do, an empty one too. */
void crypto_hmac(struct str key, struct str text, uint8_t out[CRYPTO_HASH_BYTES]);

/* In a time that tells nothing of where they differ. */
bool crypto_equal(const void *a, const void *b, size_t len);

/* Random bytes that nobody can guess; and a secret that is no longer needed goes from memory. */
void crypto_random(void *out, size_t len);
void crypto_wipe(void *secret, size_t len);
