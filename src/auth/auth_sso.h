/*
 * Auth_sso: the identity of a user who signed in with an identity provider (http-api.md 3.3).
 *
 * Derives a name, a namespace and roles from the claims of a token whose signature was checked, or
 * from the headers of a trusted proxy. Pure.
 */
#pragma once

#include "auth/auth.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct auth_identity {
    struct str name;
    struct str ns; /* empty: the default namespace */
    struct str role;
    struct str roles;  /* further roles, one per line; custom roles are listed here */
    struct wall until; /* when the token expires; 0: no token */
};

/* ERR_UNAUTHORIZED for invalid values, such as an invalid namespace. Texts are views of the
 * claims or in the arena. */
ATTR_NODISCARD enum err_code auth_sso_from_claims(struct str claims, const struct store_sso *s,
                                                  struct arena *arena, struct auth_identity *out,
                                                  struct err *err);

struct auth_sso_headers {
    struct str subject, role, ns;
    struct str roles; /* separated by commas */
};
ATTR_NODISCARD enum err_code auth_sso_from_headers(const struct auth_sso_headers *h,
                                                   struct arena *arena, struct auth_identity *out,
                                                   struct err *err);

/* The identity as a caller with the rights of all its roles. */
struct auth_caller auth_sso_caller(const struct auth_identity *id);

/* A hash of the provider's settings, which binds a session to that provider. */
void auth_sso_proof(const struct store_sso *s, uint8_t out[AUTH_HASH_BYTES]);
