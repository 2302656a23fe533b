/*
 * Auth_jwk: the public keys of an identity provider, from its JSON (RFC 7517, 8037).
 *
 * Only keys for one of three algorithms are kept: RSA of 2048 to 8192 bits for RS256, P-256 for
 * ES256, Ed25519 for EdDSA. The type of a key determines its algorithm, so a token cannot select
 * another one. All other keys of a set are ignored.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum auth_alg { AUTH_RS256, AUTH_ES256, AUTH_EDDSA, AUTH_ALG_COUNT };

/* The algorithm by its name, case-sensitive; false for any other. */
ATTR_NODISCARD bool auth_alg_of(struct str word, enum auth_alg *out);

enum { AUTH_JWKS_MAX = 64 };

struct auth_jwks;

/* ERR_PARSE if the text is not a set of keys. A set without usable keys is valid. */
ATTR_NODISCARD enum err_code auth_jwks_parse(struct str text, struct auth_jwks **out,
                                             struct err *err);
void auth_jwks_free(struct auth_jwks *set); /* NULL is allowed */
size_t auth_jwks_count(const struct auth_jwks *set);

/* Is there a key with this algorithm and id? With an empty id: any key with this algorithm. */
bool auth_jwks_has(const struct auth_jwks *set, enum auth_alg alg, struct str id);

/* Was the text signed by one of these keys? */
bool auth_jwks_verify(const struct auth_jwks *set, enum auth_alg alg, struct str id,
                      struct str text, struct str signature);
