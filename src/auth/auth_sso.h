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
    struct str ns; /* empty: the default one */
    struct str role;
    struct str roles;  /* more of them, one per line; a role that is not built in is among them */
    struct wall until; /* when the token that says so expires; 0: there is none */
};

/* ERR_UNAUTHORIZED when it says things that cannot be, such as a namespace that is no name. Texts
 * are in the claims or in the arena. */
ATTR_NODISCARD enum err_code auth_sso_from_claims(struct str claims, const struct store_sso *s,
                                                  struct arena *arena, struct auth_identity *out,
                                                  struct err *err);

struct auth_sso_headers {
    struct str subject, role, ns;
    struct str roles; /* with commas between */
};
ATTR_NODISCARD enum err_code auth_sso_from_headers(const struct auth_sso_headers *h,
                                                   struct arena *arena, struct auth_identity *out,
                                                   struct err *err);

/* As a caller, who has the rights of all the roles. */
struct auth_caller auth_sso_caller(const struct auth_identity *id);

/* What ties a session to the provider that vouched for it. */
void auth_sso_proof(const struct store_sso *s, uint8_t out[AUTH_HASH_BYTES]);
