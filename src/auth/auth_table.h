/*
 * Auth_table: the access records in memory, readable from every thread.
 *
 * The core thread adds every change before it answers the command, so later reads see it. A
 * read-write lock guards the table and is held for one lookup. A key takes 64 bytes: its hash and
 * numbers. Its texts (namespace, role, scope, custom roles) are shared by all keys with the same
 * texts and freed with the last of them. Answers contain copies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "store/store_access.h"

enum { AUTH_HASH_BYTES = STORE_ACCESS_HASH_BYTES };

struct auth_table;

struct auth_table *auth_table_new(void);
void auth_table_free(struct auth_table *t); /* NULL is allowed */

/* A record was stored or, without a value, deleted. With an empty key: all records are reloaded
 * until the next empty key; readers wait meanwhile. To be used as machine_hooks.access, with the
 * table as data; always on the same thread. */
void auth_table_change(void *table, struct str key, struct str value);

/* Differs after every change, never 0. While it is unchanged, earlier lookups are still valid,
 * except for expiry. */
uint64_t auth_table_version(struct auth_table *t);

struct auth_key {
    bool is_org; /* key of the organization: an admin of the default namespace */
    bool enabled;
    bool used_lately;       /* recorded recently: no need to record a use again */
    unsigned role_bit;      /* of the built-in role; 0: a custom role */
    struct wall expires_at; /* 0: never */
    struct str ns, role, scope;
    struct str roles; /* assigned custom roles, one per line */
};
/* Texts are copied to the arena even beyond its limit: with a missing text, a caller would get
 * into another namespace. */
ATTR_NODISCARD bool auth_table_key(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES],
                                   struct wall now, struct arena *arena, struct auth_key *out);

/* Does any key grant access? If so, callers need a key. */
bool auth_table_has_keys(struct auth_table *t);

/* A key was used at this time. Returns whether the use should be recorded, which is once a
 * minute. */
bool auth_table_used(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES], struct wall now);

struct auth_session {
    char how;
    uint8_t proof[AUTH_HASH_BYTES];
    struct wall expires_at;
    struct str name, ns, role, roles; /* identity from single sign-on; otherwise empty */
};
/* Texts are copied to the arena as in auth_table_key. */
ATTR_NODISCARD bool auth_table_session(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES],
                                       struct arena *arena, struct auth_session *out);

/* Set the single sign-on settings that apply if none are stored, as the body of a record; empty:
 * none. Without `on`, single sign-on is off whatever is stored. Call before the first change. */
void auth_table_set_sso(struct auth_table *t, bool on, struct str fallback);
/* The current kind: STORE_SSO_OIDC, STORE_SSO_HEADERS or STORE_SSO_NONE. */
char auth_table_sso(struct auth_table *t);
/* Differs after every change of the settings. */
uint64_t auth_table_sso_version(struct auth_table *t);
/* The current settings and their version; the texts of *out are in body. False if there are
 * none. */
ATTR_NODISCARD bool auth_table_sso_settings(struct auth_table *t, struct buf *body,
                                            struct store_sso *out, uint64_t *out_version);

/* Is this proof (auth_sso_proof) the one of the current provider? */
bool auth_table_sso_is(struct auth_table *t, const uint8_t proof[AUTH_HASH_BYTES]);

/* Is authentication configured, by keys or single sign-on? */
bool auth_table_is_closed(struct auth_table *t);

/* Does one of the custom roles, one per line, grant the action on the resource? */
bool auth_table_grants(struct auth_table *t, struct str roles, struct str resource,
                       struct str action);

/* The request limits of a namespace; false if it has no limits of its own. */
ATTR_NODISCARD bool auth_table_limits(struct auth_table *t, struct str ns,
                                      struct store_namespace *out);

/* For tests and metrics. */
size_t auth_table_key_count(struct auth_table *t);
size_t auth_table_key_bytes(struct auth_table *t); /* memory of the index of keys */
size_t auth_table_text_count(struct auth_table *t);
