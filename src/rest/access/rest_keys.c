/*
 * API keys and the roles that are assigned to them (http-api.md 18.1, 18.2).
 *
 * A key is identified by the SHA-256 hash of its secret. The secret is returned when the key is
 * created and is not stored. Rotating a key creates a second key with the same rights and lets the
 * first expire after a while; both are valid meanwhile.
 *
 * An admin of a namespace manages the keys of that namespace; an admin of the default namespace
 * manages all.
 */
#include "base/limits.h"
#include "core/duration.h"
#include "core/queue_name.h"
#include "core/timestamp.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "rest/access/rest_access_int.h"
#include "rest/rest_page_int.h"

enum { SECRET_BYTES_SHORT = 8, SECRET_BYTES_MAX = 512, OVERLAP_H = 24 };

/* Maximum number of roles of a key that rotation copies. */
enum { ROLES_MAX = 64 };

/* --- status and list --- */

static void handle_status(struct rest_call *c)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__bool(&w, "admin_password_set", c->rest->config.admin_password.len > 0);
    rest_document__bool(&w, "open", c->verdict == REST_OPEN);
    rest_document__text(&w, "principal", c->caller.name.len > 0 ? c->caller.name : STR("key"));
    rest_document__text(&w, "role", c->caller.role);
    rest_document__text(&w, "namespace", c->ns.len > 0 ? c->ns : STR("default"));
    rest_document__bool(&w, "chooses_namespace", c->caller.chooses_ns);
    rest_document__bool(&w, "by_session", c->caller.by_session);
    rest_document__text(&w, "queue_scope", c->caller.scope);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

struct row {
    struct str hash;
    struct store_access_frame frame;
    struct store_key key;
};

static bool sees(const struct rest_call *c, const struct store_key *key)
{
    return c->ns.len == 0 || str_eq(c->ns, rest_access__ns(key->ns));
}

static void list_one(void *data, struct str name, const struct store_access_frame *f)
{
    struct rest_page *p = data;
    struct row *row = REST_NEW(p->call, struct row);
    row->hash = name;
    row->frame = *f;
    if (!store_access_decode_key(f->body, &row->key) || !sees(p->call, &row->key) ||
        !str_starts_with(row->key.name, p->prefix)) {
        return;
    }
    struct str key = rest_page__time_key(p->call, f->created_at, true, name);
    if (rest_page__wants(p, key)) {
        rest_page__add(p, key, row);
    }
}

static struct wall last_used(struct rest_call *c, struct str hash)
{
    struct store_access_frame seen;
    if (!rest_access__read(c, STORE_ACCESS_SEEN, hash, &seen)) {
        return (struct wall){0};
    }
    return seen.updated_at.ns != 0 ? seen.updated_at : seen.created_at;
}

static void write_key(struct json_write *w, struct rest_call *c, const struct row *row)
{
    json_write_object(w);
    rest_document__text(w, "key_hash", rest_access__hex(c, row->hash));
    rest_document__text(w, "name", row->key.name);
    rest_document__text(w, "namespace", row->key.ns.len > 0 ? row->key.ns : STR("default"));
    rest_document__text(w, "role", row->key.role);
    rest_document__bool(w, "enabled", row->key.enabled);
    rest_document__text(w, "queue_scope", row->key.scope);
    rest_document__time(w, "created_at", row->frame.created_at);
    rest_document__time(w, "last_used_at", last_used(c, row->hash));
    rest_document__time(w, "expires_at", row->key.expires_at);
    json_write_end(w);
}

static void handle_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    rest_access__each(c, STORE_ACCESS_KEY, STR_EMPTY, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        write_key(&w, c, page.rows[i].data);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

/* --- creation --- */

struct key_in {
    struct str name, key, ns, role, queue_scope, expires_at;
    bool enabled;
};

static const struct json_field key_rows[] = {
    JSON_STR(struct key_in, name, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Name of the key."),
    JSON_STR(struct key_in, key, 0, SECRET_BYTES_MAX, JSON_NO_CONTROL,
             "Secret of your choice; generated if left out. The secret of an existing key changes "
             "that key."),
    {JSON_ROW("namespace", "Namespace of the key. With *, the caller chooses the namespace.",
              JSON_KIND_STR, 0),
     JSON_RANGE(0, LIMIT_NAMESPACE_BYTES), .offset = JSON_OFFSET(struct key_in, ns, struct str)},
    JSON_STR(struct key_in, role, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL,
             "Role: admin, operator, worker, readonly, or the name of a custom role."),
    JSON_STR(struct key_in, queue_scope, 0, LIMIT_QUEUE_SCOPE_BYTES, JSON_NO_CONTROL,
             "Comma-separated patterns of queues that the key may use. Empty: all queues."),
    JSON_STR(struct key_in, expires_at, 0, LIMIT_NAME_BYTES, 0,
             "Expiry time. Left out: the key never expires."),
    JSON_BOOL(struct key_in, enabled, 0, "Whether the key is accepted."),
};
static const struct key_in key_init = {.role = {"readonly", sizeof "readonly" - 1},
                                       .enabled = true};
static const struct json_schema key_schema =
    JSON_SCHEMA(struct key_in, key_rows, .init = &key_init);

struct making {
    struct str secret;
    uint8_t hash[AUTH_HASH_BYTES];
    struct store_key key;
    bool closes; /* the first key: the server needed no credentials before */
    bool weak;   /* a new key with a short secret */
    struct wall old_until;
};

static struct str new_secret(struct rest_call *c)
{
    char *secret = rest_call__alloc(c, AUTH_SECRET_BYTES);
    auth_new_secret(STR("sk_"), secret);
    return str_from(secret, AUTH_SECRET_BYTES);
}

static bool may_name_namespace(struct rest_call *c, struct str ns)
{
    if (ns.len > 0 && !str_eq(ns, STR("*")) && !queue_name_is_namespace(ns)) {
        rest_call__fail(c, ERR_AUTH, "namespace: '" STR_FMT "' is not a valid namespace name",
                        STR_ARG(ns));
        return false;
    }
    if (c->ns.len > 0 && !str_eq(ns, c->ns)) {
        rest_call__fail(
            c, ERR_FORBIDDEN,
            "only an admin of the default namespace may create keys for another namespace");
        return false;
    }
    return true;
}

static bool read_key(struct rest_call *c, const struct key_in *in, struct making *m)
{
    struct err err;
    struct str ns = rest_access__ns(in->ns);
    m->key = (struct store_key){.name = str_trim(in->name),
                                .ns = ns.len == 0 && in->ns.len == 0 ? c->ns : ns,
                                .role = str_trim(in->role),
                                .scope = str_trim(in->queue_scope),
                                .enabled = in->enabled};
    if (m->key.name.len == 0) {
        rest_call__fail(c, ERR_AUTH, "name is required");
        return false;
    }
    if (m->key.role.len == 0) {
        m->key.role = STR("readonly");
    }
    if (in->expires_at.len > 0 &&
        timestamp_parse(in->expires_at, &m->key.expires_at, &err) != ERR_OK) {
        rest_call__fail(c, ERR_AUTH, "expires_at: %s", err.msg);
        return false;
    }
    return may_name_namespace(c, m->key.ns);
}

static void made(struct rest_call *c, const struct result *r)
{
    const struct making *m = c->data;
    if (rest_call__refused(c, r)) {
        return;
    }
    if (m->weak) {
        log_warn("short API key", LOG_STR("name", m->key.name), LOG_U64("bytes", m->secret.len),
                 LOG_Z("meaning", "a secret this short can be guessed; rotate the key"));
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    rest_document__text(&w, "api_key", m->secret);
    rest_document__text(&w, "key_hash", rest_access__hex(c, str_from(m->hash, AUTH_HASH_BYTES)));
    rest_document__time(&w, "old_expires_at", m->old_until);
    if (m->closes && auth_role(m->key.role) == ROLE_ADMIN) {
        rest_document__text(&w, "note", STR(REST_ACCESS_FIRST_KEY_NOTE));
    } else if (m->closes) {
        rest_document__text(&w, "note",
                            STR(REST_ACCESS_CLOSED_NOTE
                                ". This key is not an admin key: to create more keys, restart the "
                                "server with --admin-password"));
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void put_key(struct rest_call *c, struct command_access_item *item, struct str hash,
                    const struct store_key *key)
{
    struct buf body;
    rest_call__buf(c, &body);
    store_access_encode_key(key, &body);
    *item = (struct command_access_item){
        .kind = STORE_ACCESS_KEY, .name = hash, .body = rest_access__keep(c, &body)};
}

/* Is the key in another namespace, and therefore invisible to the caller? */
static bool is_elsewhere(struct rest_call *c, struct str hash)
{
    struct store_access_frame frame;
    struct store_key key;
    return rest_access__read(c, STORE_ACCESS_KEY, hash, &frame) &&
           store_access_decode_key(frame.body, &key) && !sees(c, &key);
}

/* A caller must not change a key of another namespace, even if it knows the secret. A key that is
 * limited to queues must not change other keys, because it could remove its own limits that way. */
static bool may_change(struct rest_call *c, struct str hash)
{
    if (c->caller.scope.len > 0 && !str_eq(hash, str_from(c->caller.hash, AUTH_HASH_BYTES))) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "a key that is limited to queues cannot change other keys");
        return false;
    }
    if (is_elsewhere(c, hash)) {
        rest_call__fail(c, ERR_FORBIDDEN, "the key belongs to another namespace");
        return false;
    }
    return true;
}

static void handle_create(struct rest_call *c)
{
    const struct key_in *in = c->in;
    struct making *m = REST_NEW(c, struct making);
    struct str given = str_trim(in->key);
    c->data = m;
    if (c->caller.scope.len > 0) {
        rest_call__fail(c, ERR_FORBIDDEN, "a key that is limited to queues cannot create keys");
        return;
    }
    if (!read_key(c, in, m)) {
        return;
    }
    m->secret = given.len > 0 ? given : new_secret(c);
    auth_hash(m->secret, m->hash);
    if (!may_change(c, str_from(m->hash, AUTH_HASH_BYTES))) {
        return;
    }
    struct store_access_frame old;
    m->closes = c->verdict == REST_OPEN && m->key.enabled;
    /* Accepted with a warning, because existing clients have such keys. */
    m->weak = m->secret.len < SECRET_BYTES_SHORT &&
              !rest_access__read(c, STORE_ACCESS_KEY, str_from(m->hash, AUTH_HASH_BYTES), &old);
    struct command_access_item *item = rest_access__items(c, 1);
    put_key(c, item, str_from(m->hash, AUTH_HASH_BYTES), &m->key);
    rest_access__submit(c, item, 1, made);
}

/* --- deleting and rotating --- */

struct hash_in {
    struct str key_hash;
};
static const struct json_field hash_rows[] = {
    JSON_STR(struct hash_in, key_hash, 0, LIMIT_NAME_BYTES, JSON_INSISTED,
             "SHA-256 of the secret, in hex."),
};
static const struct json_schema hash_schema = JSON_SCHEMA(struct hash_in, hash_rows);

static void delete_roles(void *data, struct str name, const struct store_access_frame *f);

struct roles {
    struct rest_call *call;
    struct str names[ROLES_MAX]; /* names of assignments: hash and role */
    size_t count;
};

static void delete_roles(void *data, struct str name, const struct store_access_frame *f)
{
    struct roles *roles = data;
    (void)f;
    if (roles->count < ROLES_MAX) {
        roles->names[roles->count++] = name;
    }
}

static struct roles *roles_of(struct rest_call *c, struct str hash)
{
    struct roles *roles = REST_NEW(c, struct roles);
    roles->call = c;
    rest_access__each(c, STORE_ACCESS_ASSIGNMENT, hash, delete_roles, roles);
    return roles;
}

static void handle_delete(struct rest_call *c)
{
    const struct hash_in *in = c->in;
    uint8_t *hash = rest_call__alloc(c, AUTH_HASH_BYTES);
    if (in->key_hash.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "key_hash is required");
        return;
    }
    if (!rest_access__unhex(str_trim(in->key_hash), hash)) {
        rest_call__reply_status(c, "deleted"); /* not a hash, so there is no such key */
        return;
    }
    struct str name = str_from(hash, AUTH_HASH_BYTES);
    if (!may_change(c, name)) {
        return;
    }
    const struct roles *roles = roles_of(c, name);
    struct command_access_item *items = rest_access__items(c, 2 + roles->count);
    items[0] =
        (struct command_access_item){.kind = STORE_ACCESS_KEY, .deletes = true, .name = name};
    items[1] =
        (struct command_access_item){.kind = STORE_ACCESS_SEEN, .deletes = true, .name = name};
    for (size_t i = 0; i < roles->count; i++) {
        items[2 + i] = (struct command_access_item){
            .kind = STORE_ACCESS_ASSIGNMENT, .deletes = true, .name = roles->names[i]};
    }
    rest_access__submit(c, items, 2 + roles->count, rest_access__reply_deleted);
}

/* Find the key in the path, if the caller may change it. False if the call has ended. */
static bool find_key(struct rest_call *c, uint8_t hash[AUTH_HASH_BYTES],
                     struct store_access_frame *frame, struct store_key *out)
{
    if (rest_access__unhex(c->param[0], hash) &&
        rest_access__read(c, STORE_ACCESS_KEY, str_from(hash, AUTH_HASH_BYTES), frame) &&
        store_access_decode_key(frame->body, out) && sees(c, out)) {
        return true;
    }
    rest_call__fail(c, ERR_NOT_FOUND, "key \"" STR_FMT "\" not found", STR_ARG(c->param[0]));
    return false;
}

struct rotate_in {
    int64_t overlap_ms;
};
static const struct json_field rotate_rows[] = {
    JSON_DURATION(struct rotate_in, overlap_ms, "overlap", duration_parse, 0,
                  (int64_t)366 * 24 * 3600 * 1000, 0, "How long the old secret keeps working."),
};
static const struct rotate_in rotate_init = {.overlap_ms = (int64_t)OVERLAP_H * 3600 * 1000};
static const struct json_schema rotate_schema =
    JSON_SCHEMA(struct rotate_in, rotate_rows, .init = &rotate_init);

/* A change of the key in the meantime must not be undone: a disabled key stays disabled. */
static void rotated(struct rest_call *c, const struct result *r)
{
    if (!rest_access__again(c, r)) {
        made(c, r);
    }
}

static void handle_rotate(struct rest_call *c)
{
    const struct rotate_in *in = c->in;
    struct making *m = REST_NEW(c, struct making);
    uint8_t *old_hash = rest_call__alloc(c, AUTH_HASH_BYTES);
    struct store_access_frame frame;
    struct store_key old;
    c->data = m;
    if (!find_key(c, old_hash, &frame, &old)) {
        return;
    }
    if (c->caller.scope.len > 0 && memcmp(old_hash, c->caller.hash, AUTH_HASH_BYTES) != 0) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "a key that is limited to queues cannot rotate other keys");
        return;
    }
    struct str old_name = str_from(old_hash, AUTH_HASH_BYTES);
    const struct roles *roles = roles_of(c, old_name);
    struct command_access_item *items = rest_access__items(c, 2 + roles->count);
    m->key = old;
    m->secret = new_secret(c);
    m->old_until = wall_add_ms(os_clock_wall(), in->overlap_ms);
    auth_hash(m->secret, m->hash);
    struct str name = str_from(m->hash, AUTH_HASH_BYTES);
    put_key(c, &items[0], name, &m->key);
    if (old.expires_at.ns == 0 || old.expires_at.ns > m->old_until.ns) {
        old.expires_at = m->old_until;
    } else {
        m->old_until = old.expires_at;
    }
    put_key(c, &items[1], old_name, &old);
    rest_access__expect(c, &items[1], &frame);
    for (size_t i = 0; i < roles->count; i++) {
        char *assigned = rest_call__alloc(c, roles->names[i].len);
        memcpy(assigned, roles->names[i].ptr, roles->names[i].len);
        memcpy(assigned, m->hash, AUTH_HASH_BYTES);
        items[2 + i] = (struct command_access_item){
            .kind = STORE_ACCESS_ASSIGNMENT, .name = str_from(assigned, roles->names[i].len)};
    }
    rest_access__submit(c, items, 2 + roles->count, rotated);
}

/* --- roles of a key --- */

static void handle_roles(struct rest_call *c)
{
    uint8_t hash[AUTH_HASH_BYTES];
    if (!rest_access__has_feature(c, "rbac")) {
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "key_hash", c->param[0]);
    rest_document__array(&w, "roles");
    if (rest_access__unhex(c->param[0], hash) &&
        !is_elsewhere(c, str_from(hash, AUTH_HASH_BYTES))) {
        const struct roles *roles = roles_of(c, str_from(hash, AUTH_HASH_BYTES));
        for (size_t i = 0; i < roles->count; i++) {
            json_write_str(&w, str_from_offset(roles->names[i], AUTH_HASH_BYTES));
        }
    }
    json_write_end(&w);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

struct assign_in {
    struct str role;
};
static const struct json_field assign_rows[] = {
    JSON_STR(struct assign_in, role, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Name of a custom role. It does not have to exist yet."),
};
static const struct json_schema assign_schema = JSON_SCHEMA(struct assign_in, assign_rows);

/* The name of an assignment; empty if the call has ended. */
static struct str assignment(struct rest_call *c, struct str role)
{
    uint8_t hash[AUTH_HASH_BYTES];
    struct str lower = rest_access__lower(c, str_trim(role));
    char *name = rest_call__alloc(c, AUTH_HASH_BYTES + lower.len);
    if (!rest_access__unhex(c->param[0], hash)) {
        rest_call__fail(c, ERR_VALIDATION, "key_hash: expected 64 hex digits");
        return STR_EMPTY;
    }
    if (lower.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "role is required");
        return STR_EMPTY;
    }
    if (!may_change(c, str_from(hash, AUTH_HASH_BYTES))) {
        return STR_EMPTY;
    }
    memcpy(name, hash, AUTH_HASH_BYTES);
    memcpy(name + AUTH_HASH_BYTES, lower.ptr, lower.len);
    return str_from(name, AUTH_HASH_BYTES + lower.len);
}

static void change_assignment(struct rest_call *c, struct str role, bool deletes)
{
    if (!rest_access__has_feature(c, "rbac")) {
        return;
    }
    struct str name = assignment(c, role);
    if (name.len == 0) {
        return;
    }
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){
        .kind = STORE_ACCESS_ASSIGNMENT, .deletes = deletes, .name = name};
    rest_access__submit(c, item, 1, deletes ? rest_access__reply_deleted : rest_access__reply_ok);
}

static void handle_assign(struct rest_call *c)
{
    const struct assign_in *in = c->in;
    change_assignment(c, in->role, false);
}

static void handle_unassign(struct rest_call *c)
{
    change_assignment(c, c->param[1], true);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                                   roles       flags                                         in               handler          cost  answer                       doc */
    {HTTP_GET,    "/api/v1/auth/status",                      ROLES_AOR,  0,                                            NULL,            handle_status,   NULL, "200 {admin_password_set}",  "Return the caller's identity, and whether an admin password is set."},
    {HTTP_GET,    "/api/v1/auth/keys",                        ROLES_AOR,  0,                                            NULL,            handle_list,     NULL, "200 [key]",                 "List API keys, newest first."},
    {HTTP_POST,   "/api/v1/auth/keys",                        ROLE_ADMIN, ROUTE_ACCESS | ROUTE_BODY,                    &key_schema,     handle_create,   NULL, "200 {status, api_key}",     "Create an API key, or change the key that has the given secret. The secret is shown only in this response."},
    {HTTP_DELETE, "/api/v1/auth/keys",                        ROLE_ADMIN, ROUTE_ACCESS | ROUTE_BODY,                    &hash_schema,    handle_delete,   NULL, "200 {status}",              "Delete an API key."},
    {HTTP_POST,   "/api/v1/auth/keys/{key_hash}/rotate",      ROLE_ADMIN, ROUTE_ACCESS | ROUTE_BODY | ROUTE_BODY_EMPTY, &rotate_schema,  handle_rotate,   NULL, "200 {status, api_key}",     "Rotate an API key: create a second key like it. The first one keeps working for a while."},
    {HTTP_GET,    "/api/v1/auth/keys/{key_hash}/roles",       ROLES_AOR,  0,                                            NULL,            handle_roles,    NULL, "200 {key_hash, roles}",     "List the custom roles of a key."},
    {HTTP_POST,   "/api/v1/auth/keys/{key_hash}/roles",       ROLE_ADMIN, ROUTE_ACCESS | ROUTE_BODY,                    &assign_schema,  handle_assign,   NULL, "200 {status}",              "Assign a custom role to a key."},
    {HTTP_DELETE, "/api/v1/auth/keys/{key_hash}/roles/{role}", ROLE_ADMIN, ROUTE_ACCESS,                                NULL,            handle_unassign, NULL, "200 {status}",              "Remove a custom role from a key."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/auth/keys", &rest_page__schema}};

const struct rest_routes rest_keys_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
