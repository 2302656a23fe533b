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
    AUTH_JWT_SKEW_S = 60, /* how far the clocks of the provider and of this machine may differ */
};

/* Texts are in the token or in the arena. */
struct auth_jwt {
    enum auth_alg alg;
    struct str key_id;    /* empty: none is named */
    struct str claims;    /* JSON */
    struct str text;      /* that was signed */
    struct str signature; /* bytes */
    struct wall expires_at;
};

/* Does it have the shape of a token? Keys and passwords usually have not. */
bool auth_jwt_has_shape(struct str token);

/* ERR_UNAUTHORIZED says what is wrong with it. */
ATTR_NODISCARD enum err_code auth_jwt_parse(struct str token, struct arena *arena,
                                            struct auth_jwt *out, struct err *err);

/* Did a key of the set sign it? ERR_NOT_FOUND: the set has no such key, a newer one may have;
 * ERR_UNAUTHORIZED: the signature is wrong. */
ATTR_NODISCARD enum err_code auth_jwt_verify(const struct auth_jwt *t, const struct auth_jwks *keys,
                                             struct err *err);

struct auth_jwt_rule {
    struct str issuer;
    struct str audience;
    struct str nonce; /* empty: none is asked for */
    struct wall now;
};
/* Is it for us, and now? ERR_UNAUTHORIZED says why not. Fills in when it expires. */
ATTR_NODISCARD enum err_code auth_jwt_check(struct auth_jwt *t, const struct auth_jwt_rule *rule,
                                            struct err *err);
