/*
 * Single sign-on of requests (http-api.md 3.1 steps 1 and 2, 3.3). A token that was verified before
 * is looked up here. Any other is verified by the thread of sso/; the request waits without
 * blocking this thread.
 */
#include "auth/auth_jwt.h"
#include "os/os_networks.h"
#include "rest/access/rest_auth_int.h"
#include "rest/access/rest_sso_int.h"

static void answered(struct sso_ask *ask)
{
    struct rest_call *c = ask->data;
    if (c->client.gone) {
        sso_release(ask); /* the client disconnected: no other code releases it */
    }
    rest_call__wake(c);
}

void rest_sso__ask(struct rest_call *c, struct sso_ask *ask, void (*then)(struct rest_call *c))
{
    ask->done = answered;
    ask->reply_to = http_loop_mailbox(c->req->loop);
    ask->data = c;
    rest_call__wait(c, then);
    sso_ask(c->rest->config.sso, ask);
}

/* A request that waits for its token before it enters. */
struct token_wait {
    struct rest_sso result;
    void (*then)(struct rest_call *c);
};

static struct str copy(struct rest_call *c, struct str text)
{
    return text.len == 0
               ? STR_EMPTY
               : str_from(memcpy(rest_call__alloc(c, text.len), text.ptr, text.len), text.len);
}

struct auth_identity rest_sso__take(struct rest_call *c, struct sso_ask *ask)
{
    const struct auth_identity *id = &ask->identity;
    struct auth_identity taken = {.name = copy(c, id->name),
                                  .ns = copy(c, id->ns),
                                  .role = copy(c, id->role),
                                  .roles = copy(c, id->roles),
                                  .until = id->until};
    sso_release(ask);
    return taken;
}

static void looked_at(struct rest_call *c)
{
    struct token_wait *w = CONTAINER_OF(c->sso, struct token_wait, result);
    w->result.err = w->result.ask.err;
    w->result.identity = rest_sso__take(c, &w->result.ask);
    w->then(c);
}

/* The token of a request; empty if there is none. */
static struct str token_of(const struct rest_call *c)
{
    struct str v;
    if (!http_request_known(c->req, HTTP_KNOWN_AUTHORIZATION, &v)) {
        return STR_EMPTY;
    }
    struct str token = rest_credential__bearer(v);
    return auth_jwt_has_shape(token) ? token : STR_EMPTY;
}

bool rest_sso__waits(struct rest_call *c, void (*then)(struct rest_call *c))
{
    struct sso *sso = c->rest->config.sso;
    uint8_t hash[AUTH_HASH_BYTES];
    if (sso == NULL || auth_table_sso(c->rest->config.auth) != STORE_SSO_OIDC) {
        return false;
    }
    struct str token = token_of(c);
    if (token.len == 0) {
        return false;
    }
    struct token_wait *w = REST_NEW(c, struct token_wait);
    c->sso = &w->result;
    w->result.version = auth_table_sso_version(c->rest->config.auth);
    auth_hash(token, hash);
    if (sso_knows(sso, hash, c->arena, &w->result.identity)) {
        return false;
    }
    if (!rest_limiter__may_try(c->rest->limiter, c->who.address, token)) {
        c->sso = NULL; /* not verified: too many wrong credentials from this address */
        return false;
    }
    w->then = then;
    w->result.ask.question = SSO_TOKEN;
    w->result.ask.token = token;
    rest_sso__ask(c, &w->result.ask, looked_at);
    return true;
}

/* Headers of a proxy */

/* Read a header. False if it is present twice: one of the two is not from the proxy. */
static bool only_header(const struct rest_call *c, struct str name, struct str *out)
{
    size_t count = 0;
    *out = STR_EMPTY;
    for (size_t i = 0; i < c->req->header_count; i++) {
        if (str_eq_nocase(c->req->headers[i].name, name)) {
            *out = c->req->headers[i].value;
            count++;
        }
    }
    return count <= 1;
}

bool rest_sso__is_by_proxy(const struct rest_call *c)
{
    return c->rest->config.trusted_proxies != NULL &&
           os_networks_has_text(c->rest->config.trusted_proxies, c->who.address);
}

static bool by_headers(struct rest_call *c)
{
    struct auth_sso_headers h;
    struct rest_sso *sso = REST_NEW(c, struct rest_sso);
    enum err_code code = ERR_OK;
    if (!only_header(c, STR("x-corvo-saml-subject"), &h.subject) ||
        !only_header(c, STR("x-corvo-saml-role"), &h.role) ||
        !only_header(c, STR("x-corvo-saml-namespace"), &h.ns) ||
        !only_header(c, STR("x-corvo-saml-roles"), &h.roles)) {
        code = err_set(&sso->err, ERR_UNAUTHORIZED, "an X-Corvo-SAML header is present twice");
    } else if (str_trim(h.subject).len == 0) {
        return false;
    } else {
        code = auth_sso_from_headers(&h, c->arena, &sso->identity, &sso->err);
    }
    c->sso = sso;
    c->verdict = code == ERR_OK ? REST_KNOWN : REST_INVALID;
    sso->by_proxy = true;
    if (code == ERR_OK) {
        c->caller = auth_sso_caller(&sso->identity);
        c->by_cookie = true; /* the browser is signed in to the proxy by a cookie */
        c->who.known = sso->identity.name;
    }
    return true;
}

bool rest_sso__vouches(struct rest_call *c)
{
    if (c->sso != NULL && c->sso->err.code == ERR_OK) {
        c->caller = auth_sso_caller(&c->sso->identity);
        c->verdict = REST_KNOWN;
        c->by_cookie = false;
        c->who.known = token_of(c);
        return true;
    }
    return auth_table_sso(c->rest->config.auth) == STORE_SSO_HEADERS && rest_sso__is_by_proxy(c) &&
           by_headers(c);
}

bool rest_sso__still_vouches(const struct rest_call *c)
{
    struct auth_table *auth = c->rest->config.auth;
    if (c->sso->by_proxy) {
        return auth_table_sso(auth) == STORE_SSO_HEADERS;
    }
    return auth_table_sso(auth) == STORE_SSO_OIDC &&
           auth_table_sso_version(auth) == c->sso->version;
}

void rest_sso__refuse(struct rest_call *c)
{
    if (c->sso->err.code == ERR_UNHEALTHY) {
        rest_call__fail(c, ERR_UNHEALTHY, "the token cannot be checked: %s", c->sso->err.msg);
        return;
    }
    if (!c->sso->by_proxy) { /* a proxy's address is shared by all its users */
        rest_limiter__was_wrong(c->rest->limiter, c->who.address);
    }
    rest_call__fail(c, ERR_UNAUTHORIZED, "invalid %s: %s",
                    c->sso->by_proxy ? "X-Corvo-SAML headers" : "token", c->sso->err.msg);
}
