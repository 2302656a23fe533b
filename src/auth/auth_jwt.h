/*
 * Auth_jwt: a signed token of an identity provider (RFC 7519, OpenID Connect Core 3.1.3.7).
 *
 * A token is parsed first to find out which key it needs; then its signature and its claims are
 * checked. Only the algorithm and the key id of its header are used. Keys and key URLs inside a
 * token are ignored. Pure: the time is passed in.
 */
#pragma once

#include "auth/auth_jwk.h"
#include "base/arena.h"
#include "base/clock.h"

enum {
    AUTH_JWT_BYTES_MAX = 16 << 10,
    AUTH_JWT_SKEW_S = 60, /* allowed clock difference between the provider and this machine */
};

/* Texts are views of the token or in the arena. */
struct auth_jwt {
    enum auth_alg alg;
    struct str key_id;    /* empty: not given */
    struct str claims;    /* JSON */
    struct str text;      /* the signed part */
    struct str signature; /* decoded */
    struct wall expires_at;
};

/* Does it look like a token? Keys and passwords usually do not. */
bool auth_jwt_has_shape(struct str token);

/* ERR_UNAUTHORIZED explains what is wrong with the token. */
ATTR_NODISCARD enum err_code auth_jwt_parse(struct str token, struct arena *arena,
                                            struct auth_jwt *out, struct err *err);

/* Was it signed by a key of the set? ERR_NOT_FOUND: the set does not have the key, but a newer
 * set may; ERR_UNAUTHORIZED: the signature is wrong. */
ATTR_NODISCARD enum err_code auth_jwt_verify(const struct auth_jwt *t, const struct auth_jwks *keys,
                                             struct err *err);

struct auth_jwt_rule {
    struct str issuer;
    struct str audience;
    struct str nonce; /* empty: not checked */
    struct wall now;
};
/* Check that the token is intended for us and valid now; fills in its expiry. ERR_UNAUTHORIZED
 * gives the reason. */
ATTR_NODISCARD enum err_code auth_jwt_check(struct auth_jwt *t, const struct auth_jwt_rule *rule,
                                            struct err *err);
