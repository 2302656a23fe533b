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
void auth_table_free(struct auth_table *t); /* NULL is fine */

/* A record was put or, without a value, deleted. An empty key: all were, and come anew until the
 * next empty key; meanwhile whoever asks waits. As machine_hooks.access, which it is for, with the
 * table as data; one thread. */
void auth_table_change(void *table, struct str key, struct str value);

/* Another number with every change, never 0. While it is the same, what was found before is still
 * so, but for what expires. */
uint64_t auth_table_version(struct auth_table *t);

struct auth_key {
    bool is_org; /* a key of the organisation: an admin of the default namespace */
    bool enabled;
    bool used_lately;       /* a use would not be worth writing down */
    unsigned role_bit;      /* of a built-in role; 0: a custom one */
    struct wall expires_at; /* 0: never */
    struct str ns, role, scope;
    struct str roles; /* custom ones that were assigned, one per line */
};
/* The texts of the answer are put into the arena, whatever its limit says: a text that is missing
 * would let somebody into another namespace. */
ATTR_NODISCARD bool auth_table_key(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES],
                                   struct wall now, struct arena *arena, struct auth_key *out);

/* Is there any key that lets somebody in? Then nobody is let in without. */
bool auth_table_has_keys(struct auth_table *t);

/* A key was used at this moment: whether that is worth writing down, which is once in a minute. */
bool auth_table_used(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES], struct wall now);

struct auth_session {
    char how;
    uint8_t proof[AUTH_HASH_BYTES];
    struct wall expires_at;
    struct str name, ns, role, roles; /* of single sign-on: who it is; otherwise empty */
};
/* The texts are put into the arena, as those of a key. */
ATTR_NODISCARD bool auth_table_session(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES],
                                       struct arena *arena, struct auth_session *out);

/* Single sign-on. What is in force when no settings are stored, as the body of a record; empty:
 * none. Without `on` there is none whatever is stored. Before the first change. */
void auth_table_set_sso(struct auth_table *t, bool on, struct str fallback);
/* STORE_SSO_OIDC or STORE_SSO_HEADERS when that is in force, else STORE_SSO_NONE. */
char auth_table_sso(struct auth_table *t);
/* Another number with every change of the settings. */
uint64_t auth_table_sso_version(struct auth_table *t);
/* The settings in force and their number; body has the texts of out. False: there are none. */
ATTR_NODISCARD bool auth_table_sso_settings(struct auth_table *t, struct buf *body,
                                            struct store_sso *out, uint64_t *out_version);

/* Is a provider in force, and did it give this proof (auth_sso_proof)? */
bool auth_table_sso_is(struct auth_table *t, const uint8_t proof[AUTH_HASH_BYTES]);

/* Is there anything to sign in with, keys or single sign-on? */
bool auth_table_is_closed(struct auth_table *t);

/* Does one of the custom roles, one per line, grant the action on the resource? */
bool auth_table_grants(struct auth_table *t, struct str roles, struct str resource,
                       struct str action);

/* The request limits of a namespace; false when it has none of its own. */
ATTR_NODISCARD bool auth_table_limits(struct auth_table *t, struct str ns,
                                      struct store_namespace *out);

/* For tests and metrics. */
size_t auth_table_key_count(struct auth_table *t);
size_t auth_table_key_bytes(struct auth_table *t); /* of the index of keys */
size_t auth_table_text_count(struct auth_table *t);
