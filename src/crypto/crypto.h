/*
 * Crypto: SHA-256 digests, HMAC-SHA256, and random secrets.
 *
 * The only module that uses OpenSSL for these. Public keys and signatures are in auth/auth_jwk.h;
 * TLS is handled by the modules that have connections.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { CRYPTO_HASH_BYTES = 32 };

void crypto_hash(struct str text, uint8_t out[CRYPTO_HASH_BYTES]);
/* The SHA-256 of the concatenation of a and b. */
void crypto_hash_two(struct str a, struct str b, uint8_t out[CRYPTO_HASH_BYTES]);

/* HMAC of the text. Any key is allowed, also an empty one. */
void crypto_hmac(struct str key, struct str text, uint8_t out[CRYPTO_HASH_BYTES]);

/* Compare in constant time. */
bool crypto_equal(const void *a, const void *b, size_t len);

/* crypto_random: cryptographically secure bytes. crypto_wipe: erase a secret that is no longer
 * needed. */
void crypto_random(void *out, size_t len);
void crypto_wipe(void *secret, size_t len);
