/*
 * Shared by the files of sso: the thread's state, the provider, the cache of tokens.
 */
#pragma once

#include <pthread.h>

#include "auth/auth_jwt.h"
#include "base/map.h"
#include "outgoing/outgoing.h"
#include "sso/sso.h"

/* The description that a provider publishes. Texts are in `memory`. */
struct sso_provider {
    struct arena *memory;
    const char *sign_in_url, *token_url, *keys_url;
    bool secret_in_body; /* the client's secret must be in the body, not in a header */
};

/* The cache of valid tokens. Any thread, under its lock. */
struct sso_cache {
    pthread_rwlock_t lock;
    struct map map;
    struct sso_cached *oldest, *newest;
    size_t bytes;
    uint64_t version; /* version of the settings under which they are valid */
};

/* sso_cache.c */
void sso_cache__init(struct sso_cache *c);
void sso_cache__deinit(struct sso_cache *c);
/* Clear the cache; new tokens are for this version of the settings. */
void sso_cache__clear(struct sso_cache *c, uint64_t version);
void sso_cache__put(struct sso_cache *c, struct str token, const struct auth_identity *id,
                    struct wall expires_at);
ATTR_NODISCARD bool sso_cache__get(struct sso_cache *c, const uint8_t hash[AUTH_HASH_BYTES],
                                   uint64_t version, struct wall now, struct arena *arena,
                                   struct auth_identity *out);

/* sso_provider.c: the documents of a provider. Pure. */

/* ERR_UNHEALTHY has the reason. The memory belongs to the provider, and is freed by
 * sso_provider__clear. */
ATTR_NODISCARD enum err_code sso_provider__parse(struct str text, struct str issuer,
                                                 struct sso_provider *out, struct err *err);
void sso_provider__clear(struct sso_provider *p);
/* The URL of the provider's description. */
void sso_provider__url(struct str issuer, struct buf *out);
/* The body of the request that exchanges a code, and its Authorization header, if any. */
void sso_provider__exchange(const struct sso_provider *p, const struct store_sso *settings,
                            const struct sso_ask *ask, struct buf *body, struct buf *authorization);
/* Read the id_token from the response to the exchange. */
ATTR_NODISCARD enum err_code sso_provider__id_token(struct str answer, struct arena *arena,
                                                    struct str *out, struct err *err);
