/*
 * Sign-in to the web interface with an identity provider: the authorisation code flow of OpenID
 * Connect with PKCE, state and nonce (RFC 6749, 7636, 9700).
 *
 * The state of the flow is in a cookie for ten minutes. The browser may therefore return to any
 * node, abandoned flows need no cleanup, and a browser that another page sends to the callback has
 * no such cookie. The flow ends with a session, as a sign-in with a password does.
 */
#include "base/base64url.h"
#include "base/limits.h"
#include "base/url.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "rest/access/rest_access_int.h"
#include "rest/access/rest_sessions_int.h"
#include "rest/access/rest_sso_int.h"

#define FLOW_COOKIE STR("corvo_sso")
#define FLOW_PATH   "/api/v1/auth/sso"
#define CALLBACK    FLOW_PATH "/callback"

enum {
    FLOW_S = 600,
    RANDOM_BYTES = 32,
    RANDOM_TEXT = (RANDOM_BYTES * 4 + 2) / 3,
    RETURN_BYTES_MAX = 512,
    URL_BYTES_MAX = 1024,
    CODE_BYTES_MAX = 8192,
};

/* Content of the cookie, separated by dots; the last two in base64url. */
struct flow {
    struct str state, nonce, verifier;
    struct str redirect_url; /* the callback on this server */
    struct str return_to;    /* page of the interface to return to */
};

/* --- helpers --- */

static struct str new_random(struct rest_call *c)
{
    uint8_t bytes[RANDOM_BYTES];
    os_clock_random(bytes, sizeof bytes);
    return base64url_encode(str_from(bytes, sizeof bytes), rest_call__alloc(c, RANDOM_TEXT + 4));
}

static struct str encoded(struct rest_call *c, struct str text)
{
    return base64url_encode(text, rest_call__alloc(c, text.len / 3 * 4 + 4));
}

static bool decoded(struct rest_call *c, struct str text, struct str *out)
{
    size_t len;
    uint8_t *bytes = rest_call__alloc(c, base64url_room(text.len));
    if (!base64url_decode(text, bytes, &len)) {
        return false;
    }
    *out = str_from(bytes, len);
    return true;
}

/* Accept only pages of the interface, to prevent open redirects. */
static bool is_own_page(struct str path)
{
    static const char marks[] = "/-._~?=&%:+,@";
    if (path.len > RETURN_BYTES_MAX || !str_starts_with(path, STR("/ui/"))) {
        return false;
    }
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool dots = c == '.' && i > 0 && path.ptr[i - 1] == '.';
        bool slashes = c == '/' && i > 0 && path.ptr[i - 1] == '/';
        if (dots || slashes || (!letter && memchr(marks, c, sizeof marks - 1) == NULL)) {
            return false;
        }
    }
    return true;
}

/* Is it a host name or address with an optional port? */
static bool is_host(struct str host)
{
    static const char marks[] = "-._:[]";
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && memchr(marks, c, sizeof marks - 1) == NULL) {
            return false;
        }
    }
    return host.len > 0 && host.len <= LIMIT_NAME_BYTES;
}

static struct http_header flow_cookie(struct rest_call *c, struct str value, int age_s)
{
    struct buf text;
    rest_call__buf(c, &text);
    /* SameSite=Lax, because the browser returns from another site */
    buf_printf(
        &text, STR_FMT "=" STR_FMT "; Path=" FLOW_PATH "; HttpOnly; SameSite=Lax; Max-Age=%d%s",
        STR_ARG(FLOW_COOKIE), STR_ARG(value), age_s, rest_sessions__is_by_tls(c) ? "; Secure" : "");
    return (struct http_header){STR("Set-Cookie"), rest_call__keep(c, &text)};
}

static void redirect(struct rest_call *c, struct str to, const struct http_header *cookies,
                     size_t count)
{
    struct http_header headers[6] = {{STR("Location"), to},
                                     {STR("Cache-Control"), STR("no-store")},
                                     {STR("Referrer-Policy"), STR("no-referrer")}};
    for (size_t i = 0; i < count; i++) {
        headers[3 + i] = cookies[i];
    }
    rest_call__reply_headers(c, 302, STR_EMPTY, STR_EMPTY, headers, 3 + count);
}

/* Redirect to the interface, which shows the error. */
static void send_back(struct rest_call *c, const char *word)
{
    struct http_header gone = flow_cookie(c, STR_EMPTY, 0);
    struct buf to;
    rest_call__buf(c, &to);
    buf_printf(&to, "/ui/?sso=%s", word);
    redirect(c, rest_call__keep(c, &to), &gone, 1);
}

static void send_back_for(struct rest_call *c, const struct err *err)
{
    send_back(c, err->code == ERR_UNHEALTHY ? "unreachable" : "refused");
}

/* False, with the call ended, if single sign-on is off. */
static bool is_on(struct rest_call *c)
{
    if (!rest_access__has_feature(c, "sso")) {
        return false;
    }
    if (c->rest->config.sso == NULL || auth_table_sso(c->rest->config.auth) != STORE_SSO_OIDC) {
        rest_call__fail(c, ERR_NOT_FOUND,
                        "single sign-on with an identity provider is not configured");
        return false;
    }
    return true;
}

/* --- login --- */

struct login {
    struct sso_ask ask;
    struct flow flow;
};

struct login_in {
    struct str return_to;
};
static const struct json_field login_rows[] = {
    JSON_STR(struct login_in, return_to, 0, RETURN_BYTES_MAX, 0,
             "Page of the interface to return to."),
};
static const struct json_schema login_schema = JSON_SCHEMA(struct login_in, login_rows);

static void add_param(struct buf *url, const char *name, struct str value)
{
    bool first = memchr(url->ptr, '?', url->len) == NULL;
    buf_printf(url, "%c%s=", first ? '?' : '&', name);
    url_escape(url, value);
}

static struct str sign_in_url(struct rest_call *c, const struct login *l)
{
    uint8_t hash[AUTH_HASH_BYTES];
    struct buf url;
    auth_hash(l->flow.verifier, hash);
    rest_call__buf(c, &url);
    buf_add_str(&url, l->ask.sign_in_url);
    add_param(&url, "response_type", STR("code"));
    add_param(&url, "client_id", l->ask.client_id);
    add_param(&url, "redirect_uri", l->flow.redirect_url);
    add_param(&url, "scope", STR("openid profile email"));
    add_param(&url, "state", l->flow.state);
    add_param(&url, "nonce", l->flow.nonce);
    add_param(&url, "code_challenge", encoded(c, str_from(hash, sizeof hash)));
    add_param(&url, "code_challenge_method", STR("S256"));
    return rest_call__keep(c, &url);
}

static void provider_known(struct rest_call *c)
{
    struct login *l = c->data;
    struct buf value;
    if (l->ask.err.code != ERR_OK) {
        sso_release(&l->ask);
        send_back_for(c, &l->ask.err);
        return;
    }
    struct str to = sign_in_url(c, l);
    sso_release(&l->ask);
    rest_call__buf(c, &value);
    buf_printf(&value, STR_FMT "." STR_FMT "." STR_FMT "." STR_FMT "." STR_FMT,
               STR_ARG(l->flow.state), STR_ARG(l->flow.nonce), STR_ARG(l->flow.verifier),
               STR_ARG(encoded(c, l->flow.redirect_url)), STR_ARG(encoded(c, l->flow.return_to)));
    struct http_header cookie = flow_cookie(c, rest_call__keep(c, &value), FLOW_S);
    redirect(c, to, &cookie, 1);
}

static void handle_login(struct rest_call *c)
{
    const struct login_in *in = c->query;
    struct login *l = REST_NEW(c, struct login);
    struct str host;
    struct buf url;
    if (!is_on(c)) {
        return;
    }
    if (!http_request_known(c->req, HTTP_KNOWN_HOST, &host) || !is_host(host)) {
        rest_call__fail(c, ERR_VALIDATION, "Host: expected the host name of this server");
        return;
    }
    rest_call__buf(c, &url);
    buf_printf(&url, "%s://" STR_FMT CALLBACK, rest_sessions__is_by_tls(c) ? "https" : "http",
               STR_ARG(host));
    l->flow = (struct flow){.state = new_random(c),
                            .nonce = new_random(c),
                            .verifier = new_random(c),
                            .redirect_url = rest_call__keep(c, &url),
                            .return_to = is_own_page(in->return_to) ? in->return_to : STR("/ui/")};
    l->ask.question = SSO_PROVIDER;
    c->data = l;
    rest_sso__ask(c, &l->ask, provider_known);
}

/* --- callback --- */

struct callback_in {
    struct str code, state, error;
};
static const struct json_field callback_rows[] = {
    JSON_STR(struct callback_in, code, 0, CODE_BYTES_MAX, 0,
             "Authorization code from the provider."),
    JSON_STR(struct callback_in, state, 0, LIMIT_NAME_BYTES, 0,
             "State parameter of the sign-in request."),
    JSON_STR(struct callback_in, error, 0, URL_BYTES_MAX, 0, "Error code from the provider."),
};
static const struct json_schema callback_schema = JSON_SCHEMA(struct callback_in, callback_rows);

static bool read_flow(struct rest_call *c, struct flow *out)
{
    struct str rest = rest_credential__cookie(c->req, FLOW_COOKIE);
    out->state = str_cut(&rest, '.');
    out->nonce = str_cut(&rest, '.');
    out->verifier = str_cut(&rest, '.');
    struct str url = str_cut(&rest, '.');
    return out->state.len == RANDOM_TEXT && out->nonce.len == RANDOM_TEXT &&
           out->verifier.len == RANDOM_TEXT && decoded(c, url, &out->redirect_url) &&
           decoded(c, rest, &out->return_to) && is_own_page(out->return_to);
}

/* The session has begun; redirect to the page in the flow cookie. */
static void signed_in(struct rest_call *c, const struct result *r)
{
    struct flow flow;
    if (rest_call__refused(c, r)) {
        return;
    }
    struct str token = str_from(c->data, AUTH_SECRET_BYTES);
    struct http_header cookies[] = {rest_sessions__cookie(c, token, REST_SESSION_S),
                                    flow_cookie(c, STR_EMPTY, 0)};
    redirect(c, read_flow(c, &flow) ? flow.return_to : STR("/ui/"), cookies, COUNT_OF(cookies));
}

static void code_exchanged(struct rest_call *c)
{
    struct login *l = c->data;
    if (l->ask.err.code != ERR_OK) {
        sso_release(&l->ask);
        log_warn("single sign-on failed", LOG_Z("error", l->ask.err.msg));
        send_back_for(c, &l->ask.err);
        return;
    }
    struct auth_identity id = rest_sso__take(c, &l->ask);
    c->caller = auth_sso_caller(&id);
    c->ns = c->caller.ns;
    c->verdict = REST_KNOWN;
    rest_sessions__begin(c, l->ask.proof, signed_in);
}

static void handle_callback(struct rest_call *c)
{
    const struct callback_in *in = c->query;
    struct login *l = REST_NEW(c, struct login);
    c->verdict = REST_MISSING; /* ignore the previous caller */
    if (!is_on(c)) {
        return;
    }
    if (in->state.len == 0 || !read_flow(c, &l->flow) || !auth_same(in->state, l->flow.state)) {
        send_back(c, "expired");
        return;
    }
    if (in->error.len > 0 || in->code.len == 0) {
        send_back(c, "refused");
        return;
    }
    l->ask.question = SSO_CODE;
    l->ask.code = in->code;
    l->ask.verifier = l->flow.verifier;
    l->ask.nonce = l->flow.nonce;
    l->ask.redirect_url = l->flow.redirect_url;
    c->data = l;
    rest_sso__ask(c, &l->ask, code_exchanged);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern               roles      flags                      in    handler          cost  answer                      doc */
    {HTTP_GET, FLOW_PATH "/login",    ROLES_ALL, ROUTE_OPEN,                NULL, handle_login,    NULL, "302 to the provider",      "Sign in to the web interface with the identity provider."},
    {HTTP_GET, CALLBACK,              ROLES_ALL, ROUTE_OPEN | ROUTE_ACCESS | ROUTE_SIGN_IN, NULL, handle_callback, NULL, "302 to the web interface", "Receive the browser from the identity provider and complete the sign-in."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, FLOW_PATH "/login", &login_schema},
                                            {HTTP_GET, CALLBACK, &callback_schema}};

const struct rest_routes rest_sso_login_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
