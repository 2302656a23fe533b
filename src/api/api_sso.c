/*
 * Who calls, when somebody else vouches for it (http-api.md 3.1 steps 1 and 2, 3.3).
 *
 * A token that was seen before is looked up here; any other is looked at by the thread of sso/, and
 * the request waits for it without holding this one up.
 */
#include "api/api_auth_int.h"
#include "api/api_sso_int.h"
#include "auth/auth_jwt.h"
#include "os/os_networks.h"

static void answered(struct sso_ask *ask)
{
    struct api_call *c = ask->data;
    if (c->client.gone) {
        sso_release(ask); /* nobody else will */
    }
    api_call__wake(c);
}

void api_sso__ask(struct api_call *c, struct sso_ask *ask, void (*then)(struct api_call *c))
{
    ask->done = answered;
    ask->reply_to = http_loop_mailbox(c->req->loop);
    ask->data = c;
    api_call__wait(c, then);
    sso_ask(c->api->config.sso, ask);
}

/* What waits is between the request's beginning and its way in. */
struct token_wait {
    struct api_sso result;
    void (*then)(struct api_call *c);
};

static struct str copy(struct api_call *c, struct str text)
{
    return text.len == 0
               ? STR_EMPTY
               : str_from(memcpy(api_call__alloc(c, text.len), text.ptr, text.len), text.len);
}

struct auth_identity api_sso__take(struct api_call *c, struct sso_ask *ask)
{
    const struct auth_identity *id = &ask->identity;
    struct auth_identity taken = {.name = copy(c, id->name),
                                  .ns = copy(c, id->ns),
                                  .role = copy(c, id->role),
                                  .roles = copy(c, id->roles)};
    sso_release(ask);
    return taken;
}

static void looked_at(struct api_call *c)
{
    struct token_wait *w = CONTAINER_OF(c->sso, struct token_wait, result);
    w->result.err = w->result.ask.err;
    w->result.identity = api_sso__take(c, &w->result.ask);
    w->then(c);
}

/* The token of a request; empty when it shows none. */
static struct str token_of(const struct api_call *c)
{
    struct str v;
    if (!http_request_known(c->req, HTTP_KNOWN_AUTHORIZATION, &v)) {
        return STR_EMPTY;
    }
    struct str token = api_credential__bearer(v);
    return auth_jwt_has_shape(token) ? token : STR_EMPTY;
}

bool api_sso__waits(struct api_call *c, void (*then)(struct api_call *c))
{
    struct sso *sso = c->api->config.sso;
    uint8_t hash[AUTH_HASH_BYTES];
    if (sso == NULL || auth_table_sso(c->api->config.auth) != STORE_SSO_OIDC) {
        return false;
    }
    struct str token = token_of(c);
    if (token.len == 0) {
        return false;
    }
    struct token_wait *w = API_NEW(c, struct token_wait);
    c->sso = &w->result;
    auth_hash(token, hash);
    if (sso_knows(sso, hash, c->arena, &w->result.identity)) {
        return false;
    }
    if (!api_limiter__may_try(c->api->limiter, c->who.address, token)) {
        c->sso = NULL; /* it is not even looked at, as any other credential from there */
        return false;
    }
    w->then = then;
    w->result.ask.question = SSO_TOKEN;
    w->result.ask.token = token;
    api_sso__ask(c, &w->result.ask, looked_at);
    return true;
}

/* Headers of a proxy */

/* The header of that name. False when it came twice: one of them is not the proxy's. */
static bool only_header(const struct api_call *c, struct str name, struct str *out)
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

bool api_sso__is_by_proxy(const struct api_call *c)
{
    return c->api->config.trusted_proxies != NULL &&
           os_networks_has_text(c->api->config.trusted_proxies, c->who.address);
}

static bool by_headers(struct api_call *c)
{
    struct auth_sso_headers h;
    struct api_sso *sso = API_NEW(c, struct api_sso);
    enum err_code code = ERR_OK;
    if (!only_header(c, STR("x-corvo-saml-subject"), &h.subject) ||
        !only_header(c, STR("x-corvo-saml-role"), &h.role) ||
        !only_header(c, STR("x-corvo-saml-namespace"), &h.ns) ||
        !only_header(c, STR("x-corvo-saml-roles"), &h.roles)) {
        code = err_set(&sso->err, ERR_UNAUTHORIZED, "a header is present twice");
    } else if (str_trim(h.subject).len == 0) {
        return false;
    } else {
        code = auth_sso_from_headers(&h, c->arena, &sso->identity, &sso->err);
    }
    c->sso = sso;
    c->verdict = code == ERR_OK ? API_KNOWN : API_INVALID;
    sso->by_proxy = true;
    if (code == ERR_OK) {
        c->caller = auth_sso_caller(&sso->identity);
        c->by_cookie = true; /* a browser is signed in to the proxy by one */
        c->who.known = sso->identity.name;
    }
    return true;
}

bool api_sso__vouches(struct api_call *c)
{
    if (c->sso != NULL && c->sso->err.code == ERR_OK) {
        c->caller = auth_sso_caller(&c->sso->identity);
        c->verdict = API_KNOWN;
        c->by_cookie = false;
        c->who.known = token_of(c);
        return true;
    }
    return auth_table_sso(c->api->config.auth) == STORE_SSO_HEADERS && api_sso__is_by_proxy(c) &&
           by_headers(c);
}

void api_sso__refuse(struct api_call *c)
{
    if (c->sso->err.code == ERR_UNHEALTHY) {
        api_call__fail(c, ERR_UNHEALTHY, "the token cannot be checked: %s", c->sso->err.msg);
        return;
    }
    if (!c->sso->by_proxy) { /* whose address is that of all its users */
        api_limiter__was_wrong(c->api->limiter, c->who.address);
    }
    api_call__fail(c, ERR_UNAUTHORIZED, "invalid %s: %s",
                   c->sso->by_proxy ? "X-Corvo-SAML headers" : "token", c->sso->err.msg);
}
