/*
 * Store_access: encode and decode the access records: API keys, roles, namespaces, sessions, the
 * organisation, budgets; and the entries of the audit log (docs/formats/documents.md).
 *
 * All except audit entries are of STORE_KIND_ACCESS; their key is the kind, one byte, and a name.
 * The machine adds the times in front of the record's body. Secrets are not stored, except the
 * client secret for an identity provider: a record is named by the SHA-256 of its secret.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/unpack.h"

enum { STORE_ACCESS_HASH_BYTES = 32 };

/* Kinds, with the name of a record of each. The bytes are on disk. */
enum {
    STORE_ACCESS_ASSIGNMENT = 'a', /* hash of a key, and a role: the key has the role */
    STORE_ACCESS_BUDGET = 'b',     /* scope, one byte, and target */
    STORE_ACCESS_ORG_KEY = 'g',    /* hash */
    STORE_ACCESS_SSO = 'i',        /* empty: there is only one */
    STORE_ACCESS_KEY = 'k',        /* hash */
    STORE_ACCESS_MEMBER = 'm',     /* id */
    STORE_ACCESS_NAMESPACE = 'n',  /* its name */
    STORE_ACCESS_ORG = 'o',        /* empty: there is only one */
    STORE_ACCESS_ROLE = 'r',       /* its name, in lower case */
    STORE_ACCESS_SESSION = 's',    /* hash of its token */
    STORE_ACCESS_SEEN = 'u',       /* hash of a used key; times of use are the record's times */
    STORE_ACCESS_MARKER = 'x',     /* source, one byte, and a unique suffix */
};

/* The frame of a record: its times, then the body. */
struct store_access_frame {
    struct wall created_at;
    struct wall updated_at; /* 0: never */
    struct str body;
};
void store_access_encode_frame(const struct store_access_frame *f, struct buf *out);
ATTR_NODISCARD bool store_access_decode_frame(struct str value, struct store_access_frame *out);

struct store_key {
    struct str name;
    struct str ns;   /* empty: default; "*": the caller chooses */
    struct str role; /* any word */
    struct str scope;
    struct wall expires_at; /* 0: never */
    bool enabled;
};

/* A marker for charts: something that happened at a certain time. */
enum store_marker_source {
    STORE_MARKER_DEPLOY = 'd', /* added by a client; the name continues with 16 digits of the time
                                  and random characters */
    STORE_MARKER_NODE = 'n',   /* first time of a server version; the name continues with it */
    STORE_MARKER_WORKER = 'w', /* the same for a worker; then its namespace, "::", version */
};

struct store_marker {
    struct wall at;   /* 0: the time of the record */
    struct str ns;    /* its namespace; empty: default */
    struct str queue; /* internal name; empty: all queues */
    struct str text;
    struct str by; /* its creator; empty: the server */
};

/* Stored permissions: each has a resource, a count, and that many actions. */
struct store_role {
    struct str name;        /* as sent by the client */
    struct str permissions; /* see store_access_next_permission */
};

enum { STORE_ACCESS_ACTIONS_MAX = 32 };
struct store_permission {
    struct str resource;
    struct str actions[STORE_ACCESS_ACTIONS_MAX];
    size_t action_count;
};
/* Append a permission. */
void store_access_add_permission(const struct store_permission *p, struct buf *out);
/* Read the first one and remove it; false at the end, or if it cannot be read. */
ATTR_NODISCARD bool store_access_next_permission(struct str *rest, struct store_permission *out);

/* The quota of a namespace; 0: no limit. */
struct store_quota {
    uint64_t max_jobs; /* unfinished jobs */
    uint64_t max_payload_bytes;
    uint64_t max_queues;
};
static inline bool store_access_has_quota(const struct store_quota *q)
{
    return q->max_jobs > 0 || q->max_payload_bytes > 0 || q->max_queues > 0;
}

/* Request limits of a namespace; 0: default. */
struct store_namespace {
    double read_rps, read_burst, write_rps, write_burst;
    struct store_quota quota;
};
/* The size of a record without a quota, as in versions without quotas. */
enum { STORE_NAMESPACE_BYTES_PLAIN = 32 };

struct store_session {
    char how;         /* STORE_SESSION_… */
    struct str proof; /* binds the session to the password; for a key: the key's hash */
    struct str name;  /* name of the principal */
    struct str ns;
    struct str role;
    struct str address; /* address at sign-in, for display */
    struct str agent;
    struct str roles; /* single sign-on only: additional roles, one per line */
    struct wall expires_at;
};
enum { STORE_SESSION_PASSWORD = 'p', STORE_SESSION_KEY = 'k', STORE_SESSION_SSO = 'i' };

/* The single sign-on settings. */
enum { STORE_SSO_NONE = 0, STORE_SSO_OIDC = 'o', STORE_SSO_HEADERS = 's' };
struct store_sso {
    char provider; /* STORE_SSO_… */
    bool headers_enabled;
    struct str issuer, client_id, client_secret, group_claim;
    struct str mappings; /* see store_access_next_mapping */
};
/* Append a group and its role. */
void store_access_add_mapping(struct str group, struct str role, struct buf *out);
/* Read the first one and remove it; false at the end, or if it cannot be read. */
ATTR_NODISCARD bool store_access_next_mapping(struct str *rest, struct str *out_group,
                                              struct str *out_role);

struct store_org {
    struct str name;
};

struct store_member {
    struct str name, email, role;
};

struct store_org_key {
    struct str id, name, prefix;
};

enum store_budget_scope {
    STORE_BUDGET_GLOBAL = 'g',
    STORE_BUDGET_QUEUE = 'q',
    STORE_BUDGET_TAG = 't'
};
enum store_budget_action { STORE_BUDGET_ALERT = 0, STORE_BUDGET_HOLD = 1, STORE_BUDGET_REJECT = 2 };

struct store_budget {
    struct str id; /* empty in a command: the machine assigns it */
    struct str ns;
    struct str target; /* as sent by the client; empty: as in the record's name */
    bool has_daily, has_per_job;
    int64_t daily_nusd, per_job_nusd;
    enum store_budget_action on_exceed;
};

void store_access_encode_key(const struct store_key *k, struct buf *out);
void store_access_encode_role(const struct store_role *r, struct buf *out);
void store_access_encode_namespace(const struct store_namespace *n, struct buf *out);
void store_access_encode_session(const struct store_session *s, struct buf *out);
void store_access_encode_sso(const struct store_sso *s, struct buf *out);
void store_access_encode_org(const struct store_org *o, struct buf *out);
void store_access_encode_marker(const struct store_marker *m, struct buf *out);
void store_access_encode_member(const struct store_member *m, struct buf *out);
void store_access_encode_org_key(const struct store_org_key *k, struct buf *out);
void store_access_encode_budget(const struct store_budget *b, struct buf *out);

ATTR_NODISCARD bool store_access_decode_key(struct str body, struct store_key *out);
ATTR_NODISCARD bool store_access_decode_role(struct str body, struct store_role *out);
ATTR_NODISCARD bool store_access_decode_namespace(struct str body, struct store_namespace *out);
ATTR_NODISCARD bool store_access_decode_session(struct str body, struct store_session *out);
ATTR_NODISCARD bool store_access_decode_sso(struct str body, struct store_sso *out);
ATTR_NODISCARD bool store_access_decode_org(struct str body, struct store_org *out);
ATTR_NODISCARD bool store_access_decode_marker(struct str body, struct store_marker *out);
ATTR_NODISCARD bool store_access_decode_member(struct str body, struct store_member *out);
ATTR_NODISCARD bool store_access_decode_org_key(struct str body, struct store_org_key *out);
ATTR_NODISCARD bool store_access_decode_budget(struct str body, struct store_budget *out);

/* Are name and body valid for a record of this kind? */
ATTR_NODISCARD bool store_access_is_valid(char kind, struct str name, struct str body);

/* An entry of the audit log (http-api.md 18.3). Its key is its number, big-endian. */
struct store_audit {
    struct wall at; /* set by the machine */
    struct str ns;  /* empty: default */
    struct str principal, role, method, path, query;
    uint32_t status;
    uint32_t duration_ms;
    uint32_t suppressed; /* refused attempts before this one that have no entry */
};
enum { STORE_ACCESS_AUDIT_BYTES_MIN = 8 + 6 + 12 };
void store_access_encode_audit(const struct store_audit *e, struct buf *out);
void store_access_unpack_audit(struct unpack *u, struct store_audit *out);
ATTR_NODISCARD bool store_access_decode_audit(struct str value, struct store_audit *out);
