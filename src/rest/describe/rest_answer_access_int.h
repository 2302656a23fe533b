/*
 * Responses of the routes for keys, roles, namespaces, sessions, the audit log and the
 * organisation. A part of rest_answer_table.c.
 */
#pragma once

#include "rest/describe/rest_answer_int.h"

/* clang-format off */
static const struct rest_answer_member auth_status[] = {
    {"admin_password_set", "boolean", "Whether an admin password is set."},
    {"open",               "boolean", "Whether the server has neither a password nor a key."},
    {"principal",          "string",  "Name of the authenticated caller."},
    {"role?",              "string",  "Role of the caller."},
    {"namespace",          "string",  "Namespace of the caller."},
    {"chooses_namespace",  "boolean", "Whether the caller can select another namespace with X-Corvo-Namespace."},
    {"by_session",         "boolean", "Whether the caller uses a session cookie."},
    {"queue_scope?",       "string",  "Queues that the caller may use."},
};

static const struct rest_answer_member refusal[] = {
    {"method",   "string",   "HTTP method."},
    {"path",     "string",   "Path, with its parameters in braces."},
    {"roles",    "[string]", "Built-in roles that may use the operation."},
    {"whole_server", "boolean", "Whether it also needs a caller of the default namespace that is not limited to queues."},
    {"resource", "string",   "Resource that a custom role must grant for it."},
    {"action",   "string",   "Action on the resource that a custom role must grant for it."},
};

static const struct rest_answer_member permissions[] = {
    {"role?",   "string",    "Role of the caller."},
    {"refused", "[Refusal]", "Operations that the caller may not use. Empty for an administrator."},
};

static const struct rest_answer_member key[] = {
    {"key_hash",      "string",  "SHA-256 of the secret, in hex. Identifies the key."},
    {"name",          "string",  "Name of the key."},
    {"namespace",     "string",  "Namespace of the key."},
    {"role",          "string",  "Role of the key."},
    {"enabled",       "boolean", "Whether the key is accepted."},
    {"queue_scope?",  "string",  "Queues that the key may use."},
    {"created_at",    "time",    "Time when the key was created."},
    {"last_used_at?", "time",    "Time of last use, accurate to a minute."},
    {"expires_at?",   "time",    "Time when the key expires."},
};

static const struct rest_answer_member key_made[] = {
    {"status",          "string", "ok"},
    {"api_key",         "string", "Secret of the key. It is shown only once."},
    {"key_hash",        "string", "SHA-256 of the secret, in hex. Identifies the key."},
    {"old_expires_at?", "time",   "Time until which the old key keeps working."},
    {"note?",           "string", "For the first key: how access to the server changes."},
};

static const struct rest_answer_member key_roles[] = {
    {"key_hash", "string",   "SHA-256 of the key's secret, in hex."},
    {"roles",    "[string]", "Custom roles of the key."},
};

static const struct rest_answer_member permission[] = {
    {"resource", "string",   "First path segment after /api/v1 that the permission covers."},
    {"actions",  "[string]", "Allowed actions."},
};

static const struct rest_answer_member role[] = {
    {"name",        "string",       "Name of the role."},
    {"permissions", "[Permission]", "Permissions of the role."},
    {"created_at",  "time",         "Time when the role was created."},
    {"updated_at?", "time",         "Time of the last change."},
};

static const struct rest_answer_member namespace_row[] = {
    {"name",        "string",   "Name of the namespace."},
    {"created_at?", "time",     "Time when the namespace was registered."},
    {"rate_limit?", "{number}", "Request limits that differ from the defaults."},
};

static const struct rest_answer_member quota_line[] = {
    {"used", "integer",  "Current use."},
    {"max?", "integer",  "Limit. Absent if there is none."},
};

static const struct rest_answer_member namespace_quota[] = {
    {"jobs",          "QuotaLine", "Unfinished jobs."},
    {"payload_bytes", "QuotaLine", "Payload bytes of those jobs."},
    {"queues",        "QuotaLine", "Queues."},
};

static const struct rest_answer_member namespace_made[] = {
    {"name",   "string", "Name of the namespace."},
    {"status", "string", "created"},
};

static const struct rest_answer_member namespace_limits[] = {
    {"using_defaults", "boolean", "Whether the namespace uses the default limits."},
    {"read_rps?",      "number",  "Reads per second and client."},
    {"read_burst?",    "number",  "Reads in a burst."},
    {"write_rps?",     "number",  "Writes per second and client."},
    {"write_burst?",   "number",  "Writes in a burst."},
};

static const struct rest_answer_member audit_entry[] = {
    {"id",          "integer", "Sequence number of the entry."},
    {"namespace",   "string",  "Namespace of the request."},
    {"principal",   "string?", "Caller of the request."},
    {"role",        "string?", "Role of the caller."},
    {"method",      "string",  "HTTP method."},
    {"path",        "string",  "Path of the request."},
    {"status_code", "integer", "Status of the response."},
    {"metadata",    "{any}",   "Duration, query string, and number of earlier refusals that were not recorded."},
    {"created_at",  "time",    "Time of the request."},
};

static const struct rest_answer_member audit_list[] = {
    {"audit_logs", "[AuditEntry]", "Entries, newest first."},
    {"total",      "integer",      "Number of matching entries."},
    {"limit",      "integer",      "Maximum number of entries per page."},
    {"offset",     "integer",      "Number of entries skipped."},
};

static const struct rest_answer_member session[] = {
    {"id",          "string", "Session ID. It is not the value of the cookie."},
    {"principal",   "string", "Who signed in."},
    {"role?",       "string", "Role of the session."},
    {"namespace",   "string", "Namespace of the session."},
    {"address?",    "string", "Client address."},
    {"user_agent?", "string", "User agent of the browser."},
    {"created_at",  "time",   "Time of the sign-in."},
    {"expires_at",  "time",   "Time when the session expires."},
    {"current",     "boolean", "Whether this request belongs to the session."},
};

static const struct rest_answer_member session_begun[] = {
    {"status",      "string", "ok"},
    {"expires_at?", "time",   "Time when the session expires."},
    {"role?",       "string", "Role of the session."},
    {"namespace?",  "string", "Namespace of the session."},
};

static const struct rest_answer_member organisation[] = {
    {"id",         "string", "org_default"},
    {"name",       "string", "Name of the organization."},
    {"created_at", "time",   "Time when the organization was created."},
};

static const struct rest_answer_member member[] = {
    {"id",         "string", "Member ID."},
    {"name",       "string", "Name of the member."},
    {"email?",     "string", "Email address."},
    {"role",       "string", "Role: owner, admin or member."},
    {"created_at", "time",   "Time when the member was added."},
};

#define ORG_KEY_MEMBERS                                     \
    {"id",         "string", "Key ID."},                                                           \
    {"name",       "string", "Name of the key."},                                                  \
    {"prefix",     "string", "First characters of the secret."},                                   \
    {"created_at", "time",   "Time when the key was created."}

static const struct rest_answer_member org_key[] = {ORG_KEY_MEMBERS};
static const struct rest_answer_member org_key_made[] = {
    ORG_KEY_MEMBERS,
    {"key",   "string", "Secret of the key. It is shown only once."},
    {"note?", "string", "For the first key: how access to the server changes."},
};

static const struct rest_answer_member sso[] = {
    {"provider",               "string",  "Provider type: oidc, saml, or empty if single sign-on is off."},
    {"oidc_issuer_url",        "string",  "Issuer URL of the identity provider."},
    {"oidc_client_id",         "string",  "Client ID of this server at the provider."},
    {"oidc_client_secret_set", "boolean", "Whether a client secret is stored. The secret is never shown."},
    {"saml_enabled",           "boolean", "Whether the X-Corvo-SAML headers of trusted proxies are accepted."},
    {"oidc_group_claim",       "string",  "Token claim that contains the user's groups."},
    {"group_role_mappings",    "{string}", "Role by group."},
    {"updated_at?",            "time",    "Time of the last change."},
};

static const struct rest_answer_member sso_saved[] = {
    {"status",   "string", "ok"},
    {"warning?", "string", "Why users cannot sign in yet. The settings are stored anyway."},
    {"note?",    "string", "How access changes if the server was open before."},
};

static const struct rest_answer_member budget[] = {
    {"id",           "string", "Budget ID. It changes whenever the budget is set."},
    {"scope",        "string", "Scope: queue, tag or global."},
    {"target",       "string", "Queue name, tag, or *."},
    {"namespace?",   "string", "Namespace of the budget. Absent for the default namespace."},
    {"daily_usd?",   "number", "Limit per day, in US dollars."},
    {"per_job_usd?", "number", "Limit per job, in US dollars."},
    {"on_exceed",    "string", "Action when the limit is exceeded: hold, reject or alert_only."},
    {"created_at",   "time",   "Time when the budget was first set."},
};

#define REST_ANSWER_ACCESS_ROWS                                                              \
    {"budget",                               "Budget",           MEMBERS(budget)},           \
    {"{admin_password_set}",                 "AuthStatus",       MEMBERS(auth_status)},      \
    {NULL,                                   "Refusal",          MEMBERS(refusal)},          \
    {"{role, refused}",                      "Permissions",      MEMBERS(permissions)},      \
    {"key",                                  "Key",              MEMBERS(key)},              \
    {"{status, api_key}",                    "KeyMade",          MEMBERS(key_made)},         \
    {"{key_hash, roles}",                    "KeyRoles",         MEMBERS(key_roles)},        \
    {NULL,                                   "Permission",       MEMBERS(permission)},       \
    {"role",                                 "Role",             MEMBERS(role)},             \
    {"namespace",                            "Namespace",        MEMBERS(namespace_row)},    \
    {"{name, status}",                       "NamespaceMade",    MEMBERS(namespace_made)},   \
    {"{using_defaults}",                     "NamespaceLimits",  MEMBERS(namespace_limits)}, \
    {NULL,                                   "QuotaLine",        MEMBERS(quota_line)},       \
    {"{jobs, payload_bytes, queues}",        "NamespaceQuota",   MEMBERS(namespace_quota)},  \
    {NULL,                                   "AuditEntry",       MEMBERS(audit_entry)},      \
    {"{audit_logs, total, limit, offset}",   "AuditLog",         MEMBERS(audit_list)},       \
    {"session",                              "Session",          MEMBERS(session)},          \
    {"{status, expires_at}",                 "SessionBegun",     MEMBERS(session_begun)},    \
    {"SSO settings",                         "SsoSettings",      MEMBERS(sso)},              \
    {"{status, warning}",                    "SsoSaved",         MEMBERS(sso_saved)},        \
    {"organisation",                         "Organisation",     MEMBERS(organisation)},     \
    {"member",                               "Member",           MEMBERS(member)},           \
    {"organisation key",                     "OrganisationKey",  MEMBERS(org_key)},          \
    {"organisation secret",                  "OrganisationSecret", MEMBERS(org_key_made)}
/* clang-format on */
