/*
 * Auth: decides whether a caller may do something (http-api.md 3, rpc.md 8.1).
 *
 * All APIs use the same decision. It combines a rule, which lists the allowed roles, with a caller,
 * whose roles are in the access table (auth_table.h). Pure: no clock, no network, no request.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "auth/auth_table.h"
#include "base/str.h"

/* Built-in roles, as bits (http-api.md 3.2). */
enum {
    ROLE_ADMIN = 1,
    ROLE_OPERATOR = 2,
    ROLE_WORKER = 4,
    ROLE_READONLY = 8,
    ROLES_AO = ROLE_ADMIN | ROLE_OPERATOR,
    ROLES_AOW = ROLES_AO | ROLE_WORKER,
    ROLES_AOR = ROLES_AO | ROLE_READONLY,
    ROLES_ALL = ROLES_AO | ROLE_WORKER | ROLE_READONLY,
};

/* The bit of a role by its name, ignoring case; 0 for any other name. */
unsigned auth_role(struct str word);

/* The name of a built-in role; empty if the bit is not of one. */
struct str auth_role_word(unsigned bit);

/* The caller. Its texts live as long as the table, or the request. */
struct auth_caller {
    struct str name; /* for the audit log; empty: looked up when needed */
    struct str role; /* its name */
    unsigned role_bit;
    struct str roles; /* custom roles, one per line */
    struct str ns;    /* empty: the default namespace */
    struct str scope; /* queues; empty: all */
    bool chooses_ns;  /* X-Corvo-Namespace is respected */
    bool by_session;  /* authenticated by a session cookie, which browsers send automatically */
    bool has_hash;    /* hash is set: that of the presented key */
    uint8_t hash[AUTH_HASH_BYTES];
};

/* Who is allowed: callers with one of these built-in roles, or with a custom role that grants
 * the action on the resource (http-api.md 3.6). */
struct auth_rule {
    unsigned roles;
    struct str resource;
    struct str action;
};

bool auth_allows(struct auth_table *t, const struct auth_caller *who, const struct auth_rule *rule);

/* The rule of a REST route, from its method, its pattern and the allowed built-in roles. */
struct auth_rule auth_rule_of_route(unsigned allowed, struct str method, struct str pattern);

/* The rule of an RPC method by its name; false if there is none: then nobody may call it.
 * StreamLifecycle has the rule of fetching, and requires that of acks as well. */
bool auth_rule_of_rpc(struct str method, struct auth_rule *out);

/* Is it an action that a permission can name? Ignores case and blanks, as auth_permits. */
bool auth_knows_action(struct str word);

/* Does a permission grant the action on the resource? */
bool auth_permits(const struct store_permission *p, struct str resource, struct str action);

/* The SHA-256 of a secret that a caller presents. The latest hashes are cached, because the same
 * few secrets come with every request. */
void auth_hash(struct str secret, uint8_t out[AUTH_HASH_BYTES]);
/* The same for a secret of the server, without the cache. */
void auth_digest(struct str secret, uint8_t out[AUTH_HASH_BYTES]);
/* The SHA-256 of the concatenation of both. */
void auth_hash_two(struct str a, struct str b, uint8_t out[AUTH_HASH_BYTES]);

/* Does the presented secret equal the server's secret, or have this hash? Runs in constant time.
 * The server's secret does not use the cache, so that guesses cannot evict it. */
bool auth_same(struct str shown, struct str secret);
bool auth_matches(struct str shown, const uint8_t hash[AUTH_HASH_BYTES]);

/* A new secret: the prefix, and 192 random bits in hex. */
enum { AUTH_SECRET_BYTES = 3 + 48 };
void auth_new_secret(struct str prefix, char out[AUTH_SECRET_BYTES]);
