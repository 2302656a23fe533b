/*
 * Browser sessions: a password or a key is exchanged for a cookie that scripts cannot read.
 *
 * The token is always generated here, which prevents session fixation. The record contains its hash
 * and a proof that ties the session to the credential: the session ends with the key, or when the
 * password changes.
 */
#include "base/limits.h"
#include "crypto/crypto.h"
#include "os/os_clock.h"
#include "rest/access/rest_access_int.h"
#include "rest/access/rest_sessions_int.h"
#include "rest/rest_page_int.h"

enum { EXPIRED_MAX = 100, AGENT_BYTES_MAX = 256, CREDENTIAL_MAX = 4096 };

struct sign_in {
    struct str credential;
};
static const struct json_field sign_rows[] = {
    JSON_STR(struct sign_in, credential, 0, CREDENTIAL_MAX, JSON_INSISTED,
             "An API key or the admin password."),
};
static const struct json_schema sign_schema = JSON_SCHEMA(struct sign_in, sign_rows);

bool rest_sessions__is_by_tls(const struct rest_call *c)
{
    struct str proto;
    return c->rest->config.secure ||
           (http_request_known(c->req, HTTP_KNOWN_X_FORWARDED_PROTO, &proto) &&
            str_eq_nocase(proto, STR("https")));
}

struct http_header rest_sessions__cookie(struct rest_call *c, struct str token, int age_s)
{
    struct buf text;
    rest_call__buf(c, &text);
    buf_printf(&text, STR_FMT "=" STR_FMT "; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s",
               STR_ARG(REST_SESSION_COOKIE), STR_ARG(token), age_s,
               rest_sessions__is_by_tls(c) ? "; Secure" : "");
    return (struct http_header){STR("Set-Cookie"), rest_call__keep(c, &text)};
}

static void reply_with_cookie(struct rest_call *c, struct str token, int age_s)
{
    struct http_header header = rest_sessions__cookie(c, token, age_s);
    struct buf json;
    rest_call__buf(c, &json);
    struct json_write w = json_write_to(&json);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    if (age_s > 0) {
        rest_document__time(&w, "expires_at", wall_add_ms(os_clock_wall(), (int64_t)age_s * 1000));
        rest_document__text(&w, "role", c->caller.role);
        rest_document__text(&w, "namespace", c->caller.ns.len > 0 ? c->caller.ns : STR("default"));
    }
    json_write_end(&w);
    json_write_finish(&w);
    buf_add_char(&json, '\n');
    rest_call__reply_headers(c, 200, STR("application/json"), rest_call__keep(c, &json), &header,
                             1);
}

static void signed_in(struct rest_call *c, const struct result *r)
{
    const char *token = c->data;
    if (!rest_call__refused(c, r)) {
        reply_with_cookie(c, str_from(token, AUTH_SECRET_BYTES), REST_SESSION_S);
    }
}

/* Expired sessions are deleted when a new one begins. */
struct old {
    struct command_access_item *items;
    size_t count;
    struct wall now;
};

static void find_old(void *data, struct str name, const struct store_access_frame *f)
{
    struct old *old = data;
    struct store_session s;
    if (old->count < EXPIRED_MAX && store_access_decode_session(f->body, &s) &&
        s.expires_at.ns <= old->now.ns) {
        old->items[old->count++] = (struct command_access_item){
            .kind = STORE_ACCESS_SESSION, .deletes = true, .name = name};
    }
}

void rest_sessions__begin(struct rest_call *c, const uint8_t *sso_proof,
                          void (*then)(struct rest_call *c, const struct result *r))
{
    char *token = rest_call__alloc(c, AUTH_SECRET_BYTES);
    uint8_t *hash = rest_call__alloc(c, AUTH_HASH_BYTES);
    uint8_t proof[AUTH_HASH_BYTES];
    struct str agent = STR_EMPTY;
    struct buf name;
    struct buf body;
    struct wall now = os_clock_wall();
    struct old old = {.items = rest_access__items(c, 1 + EXPIRED_MAX), .count = 1, .now = now};
    auth_new_secret(STR("ss_"), token);
    auth_hash(str_from(token, AUTH_SECRET_BYTES), hash);
    char how = STORE_SESSION_PASSWORD;
    if (sso_proof != NULL) {
        how = STORE_SESSION_SSO;
        memcpy(proof, sso_proof, AUTH_HASH_BYTES);
    } else if (c->caller.has_hash) {
        how = STORE_SESSION_KEY;
        memcpy(proof, c->caller.hash, AUTH_HASH_BYTES);
    } else {
        auth_hash_two(str_from(token, AUTH_SECRET_BYTES), c->rest->config.admin_password, proof);
    }
    if (!http_request_known(c->req, HTTP_KNOWN_USER_AGENT, &agent)) {
        agent = STR_EMPTY;
    }
    buf_init(&name, LIMIT_ACCESS_BODY_BYTES);
    rest_call__buf(c, &body);
    struct store_session s = {.how = how,
                              .proof = str_from(proof, AUTH_HASH_BYTES),
                              .name = rest_auth__principal(c, &name),
                              .ns = c->caller.ns,
                              .role = c->caller.role,
                              .roles = c->caller.roles,
                              .address = c->who.address,
                              .agent = str_at_most(agent, AGENT_BYTES_MAX),
                              .expires_at = wall_add_ms(now, (int64_t)REST_SESSION_S * 1000)};
    store_access_encode_session(&s, &body);
    buf_deinit(&name);
    old.items[0] = (struct command_access_item){.kind = STORE_ACCESS_SESSION,
                                                .rule = COMMAND_ACCESS_NEW,
                                                .name = str_from(hash, AUTH_HASH_BYTES),
                                                .body = rest_access__keep(c, &body)};
    rest_access__each(c, STORE_ACCESS_SESSION, STR_EMPTY, find_old, &old);
    c->data = token;
    rest_access__submit(c, old.items, old.count, then);
}

/* The route is open, because the caller has no credential yet; the checks of other routes are
 * repeated here. */
static void handle_sign_in(struct rest_call *c)
{
    const struct sign_in *in = c->in;
    struct str credential = str_trim(in->credential);
    if (rest_auth__is_cross_site(c)) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "the sign-in request must come from a page of this server");
        return;
    }
    if (c->verdict == REST_OPEN) {
        rest_call__fail(c, ERR_AUTH, "this server has no password and no API key to sign in with");
        return;
    }
    if (credential.len == 0) {
        rest_call__fail(c, ERR_AUTH, "credential is required");
        return;
    }
    if (!rest_limiter__may_try(c->rest->limiter, c->who.address, credential)) {
        rest_call__fail(c, ERR_RATE_LIMITED,
                        "too many invalid credentials from this address; retry later");
        return;
    }
    c->verdict = rest_auth__look_up(c, credential);
    if (c->verdict == REST_KNOWN) {
        rest_sessions__begin(c, NULL, signed_in);
        return;
    }
    rest_limiter__was_wrong(c->rest->limiter, c->who.address);
    rest_call__fail(c, ERR_UNAUTHORIZED,
                    c->verdict == REST_EXPIRED ? "expired API key" : "invalid API key or password");
}

static void signed_out(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        reply_with_cookie(c, STR_EMPTY, 0);
    }
}

static void handle_sign_out(struct rest_call *c)
{
    struct rest_credential shown = rest_credential__of(c->req);
    uint8_t *hash = rest_call__alloc(c, AUTH_HASH_BYTES);
    if (!c->caller.by_session) {
        reply_with_cookie(c, STR_EMPTY, 0);
        return;
    }
    auth_hash(shown.session, hash);
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){
        .kind = STORE_ACCESS_SESSION, .deletes = true, .name = str_from(hash, AUTH_HASH_BYTES)};
    rest_access__submit(c, item, 1, signed_out);
}

/* --- list --- */

struct row {
    struct str hash;
    struct store_access_frame frame;
    struct store_session rec;
};

static bool sees(const struct rest_call *c, const struct store_session *s)
{
    return c->ns.len == 0 || str_eq(c->ns, s->ns);
}

static void list_one(void *data, struct str name, const struct store_access_frame *f)
{
    struct rest_page *p = data;
    struct row *row = REST_NEW(p->call, struct row);
    row->hash = name;
    row->frame = *f;
    if (!store_access_decode_session(f->body, &row->rec) || !sees(p->call, &row->rec) ||
        !rest_auth__session_counts(p->call, &row->rec)) {
        return;
    }
    struct str key = rest_page__time_key(p->call, f->created_at, true, name);
    if (rest_page__wants(p, key)) {
        rest_page__add(p, key, row);
    }
}

/* Is it the session of this request? */
static bool is_current(const struct rest_call *c, struct str hash)
{
    uint8_t own[AUTH_HASH_BYTES];
    struct rest_credential shown = rest_credential__of(c->req);
    if (!c->caller.by_session || hash.len != sizeof own) {
        return false;
    }
    auth_hash(shown.session, own);
    return crypto_equal(own, hash.ptr, sizeof own);
}

static void handle_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    rest_access__each(c, STORE_ACCESS_SESSION, STR_EMPTY, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        const struct row *row = page.rows[i].data;
        json_write_object(&w);
        rest_document__text(&w, "id", rest_access__hex(c, row->hash));
        rest_document__text(&w, "principal", row->rec.name);
        rest_document__text(&w, "role", row->rec.role);
        rest_document__text(&w, "namespace", row->rec.ns.len > 0 ? row->rec.ns : STR("default"));
        rest_document__text(&w, "address", row->rec.address);
        rest_document__text(&w, "user_agent", row->rec.agent);
        rest_document__time(&w, "created_at", row->frame.created_at);
        rest_document__time(&w, "expires_at", row->rec.expires_at);
        rest_document__bool(&w, "current", is_current(c, row->hash));
        json_write_end(&w);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

static void handle_revoke(struct rest_call *c)
{
    uint8_t *hash = rest_call__alloc(c, AUTH_HASH_BYTES);
    struct store_access_frame frame;
    struct store_session s;
    if (!rest_access__unhex(c->param[0], hash) ||
        !rest_access__read(c, STORE_ACCESS_SESSION, str_from(hash, AUTH_HASH_BYTES), &frame) ||
        !store_access_decode_session(frame.body, &s) || !sees(c, &s)) {
        rest_call__fail(c, ERR_NOT_FOUND, "session not found");
        return;
    }
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){
        .kind = STORE_ACCESS_SESSION, .deletes = true, .name = str_from(hash, AUTH_HASH_BYTES)};
    rest_access__submit(c, item, 1, rest_access__reply_deleted);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                      roles       flags                                   in            handler          cost  answer                    doc */
    {HTTP_POST,   "/api/v1/auth/session",       ROLES_ALL,  ROUTE_OPEN | ROUTE_ACCESS | ROUTE_BODY, &sign_schema, handle_sign_in,  NULL, "200 {status, expires_at}", "Sign in with an API key or the admin password. Sets a session cookie."},
    {HTTP_DELETE, "/api/v1/auth/session",       ROLES_ALL,  ROUTE_ACCESS | ROUTE_OWN,               NULL,         handle_sign_out, NULL, "200 {status, expires_at}", "Sign out: end the session of the cookie."},
    {HTTP_GET,    "/api/v1/auth/sessions",      ROLE_ADMIN, 0,                                      NULL,         handle_list,     NULL, "200 [session]",            "List open sessions, newest first."},
    {HTTP_DELETE, "/api/v1/auth/sessions/{id}", ROLE_ADMIN, ROUTE_ACCESS,                           NULL,         handle_revoke,   NULL, "200 {status}",             "End a session."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/auth/sessions", &rest_page__schema}};

const struct rest_routes rest_sessions_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
