/*
 * Auth: decides whether a caller may do something (http-api.md 3, rpc.md 8.1).
 *
 * All dialects use the same decision. It combines a rule, which lists the allowed roles, with a
 * caller, whose roles are in the access table (auth_table.h). Pure: no clock, no network, no
 * request.
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

/* The bit of a role by its word, without case; 0 for any other word. */
unsigned auth_role(struct str word);

/* The word of a built-in role; empty when the bit is of none. */
struct str auth_role_word(unsigned bit);

/* Who calls. The texts live as long as the table, or the request. */
struct auth_caller {
    struct str name; /* for the audit log; empty: it is read when it is needed */
    struct str role; /* the word */
    unsigned role_bit;
    struct str roles; /* custom ones, one per line */
    struct str ns;    /* empty: the default one */
    struct str scope; /* queues; empty: all */
    bool chooses_ns;  /* X-Corvo-Namespace counts */
    bool by_session;  /* by the cookie of a session: a browser sends it by itself */
    bool has_hash;    /* of the key that was shown */
    uint8_t hash[AUTH_HASH_BYTES];
};

/* Who may: one of these built-in roles, or whoever has a custom role that grants the action on the
 * resource (http-api.md 3.6). */
struct auth_rule {
    unsigned roles;
    struct str resource;
    struct str action;
};

bool auth_allows(struct auth_table *t, const struct auth_caller *who, const struct auth_rule *rule);

/* The rule of a REST route by its method and pattern, beside the roles that are allowed. */
struct auth_rule auth_rule_of_route(unsigned allowed, struct str method, struct str pattern);

/* The rule of an RPC method by its name; false when there is none, which nobody may call. For
 * StreamLifecycle it is that of fetching; it needs acks as well. */
bool auth_rule_of_rpc(struct str method, struct auth_rule *out);

/* Whether one permission grants the action on the resource. */
bool auth_permits(const struct store_permission *p, struct str resource, struct str action);

/* SHA-256 of a secret that a caller shows: the same few come with every request, and the last ones
 * are remembered. */
void auth_hash(struct str secret, uint8_t out[AUTH_HASH_BYTES]);
/* The same of one that is ours: made each time. */
void auth_digest(struct str secret, uint8_t out[AUTH_HASH_BYTES]);
/* Of both, one behind the other. */
void auth_hash_two(struct str a, struct str b, uint8_t out[AUTH_HASH_BYTES]);

/* Is what a caller shows the secret, which is ours, or the one that has this hash? In a time that
 * does not depend on where they differ; nor does the secret pass where callers' own are kept, so
 * that no guess can push it out. */
bool auth_same(struct str shown, struct str secret);
bool auth_matches(struct str shown, const uint8_t hash[AUTH_HASH_BYTES]);

/* A new secret: the prefix and 192 random bits in hex. */
enum { AUTH_SECRET_BYTES = 3 + 48 };
void auth_new_secret(struct str prefix, char out[AUTH_SECRET_BYTES]);
