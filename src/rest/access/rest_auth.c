/*
 * Authentication and authorisation (http-api.md 3): converts a request's credential to a caller of
 * auth/.
 *
 * The first credential found is used: a key or the password in a header, then in a cookie, then a
 * session cookie. It is looked up before the rate limiter, which counts valid credentials
 * separately and all other requests by address. The request is refused only after that.
 */
#include "audit/audit.h"
#include "core/queue_name.h"
#include "os/os_clock.h"
#include "rest/access/rest_auth_int.h"
#include "rest/access/rest_sso_int.h"

bool rest_auth__is_closed(const struct rest_call *c)
{
    struct auth_table *keys = c->rest->config.auth;
    return c->rest->config.admin_password.len > 0 || (keys != NULL && auth_table_is_closed(keys));
}

static struct auth_caller admin_named(struct str name)
{
    return (struct auth_caller){
        .name = name, .role = STR("admin"), .role_bit = ROLE_ADMIN, .chooses_ns = true};
}

static bool is_past(struct wall at)
{
    return at.ns != 0 && at.ns <= os_clock_wall().ns;
}

bool rest_auth__session_counts(struct rest_call *c, const struct store_session *s)
{
    struct auth_table *keys = c->rest->config.auth;
    struct auth_key key;
    if (is_past(s->expires_at) || s->proof.len != AUTH_HASH_BYTES) {
        return false;
    }
    const uint8_t *proof = (const uint8_t *)s->proof.ptr;
    if (s->how == STORE_SESSION_SSO) {
        return auth_table_sso_is(keys, proof);
    }
    if (s->how == STORE_SESSION_KEY) {
        return auth_table_key(keys, proof, os_clock_wall(), c->arena, &key) && key.enabled &&
               !is_past(key.expires_at);
    }
    return c->rest->config.admin_password.len > 0;
}

enum rest_verdict rest_auth__find_key(const struct rest_call *c,
                                      const uint8_t hash[AUTH_HASH_BYTES], struct arena *arena,
                                      struct auth_caller *out, struct wall *out_until)
{
    struct auth_key key;
    struct wall now = os_clock_wall();
    if (!auth_table_key(c->rest->config.auth, hash, now, arena, &key) || !key.enabled) {
        return REST_INVALID;
    }
    if (key.expires_at.ns != 0 && key.expires_at.ns <= now.ns) {
        return REST_EXPIRED;
    }
    bool any_ns = str_eq(key.ns, STR("*"));
    bool own_ns = !any_ns && !str_eq(key.ns, STR("default"));
    *out = (struct auth_caller){.role = key.role,
                                .role_bit = key.role_bit,
                                .roles = key.roles,
                                .scope = key.scope,
                                .ns = own_ns ? key.ns : STR_EMPTY,
                                .chooses_ns = any_ns,
                                .has_hash = true};
    memcpy(out->hash, hash, AUTH_HASH_BYTES);
    *out_until = key.expires_at;
    if (!key.used_lately && auth_table_used(c->rest->config.auth, hash, now)) {
        if (c->rest->config.audit != NULL) {
            audit_used(c->rest->config.audit, hash);
        }
    }
    return REST_KNOWN;
}

/* The earlier of two expiry times; 0 means none. */
static struct wall earlier(struct wall a, struct wall b)
{
    return b.ns == 0 || (a.ns != 0 && a.ns < b.ns) ? a : b;
}

enum rest_verdict rest_auth__find_session(const struct rest_call *c, struct str token,
                                          struct arena *arena, struct auth_caller *out,
                                          struct wall *out_until)
{
    uint8_t hash[AUTH_HASH_BYTES];
    uint8_t proof[AUTH_HASH_BYTES];
    struct auth_session s;
    auth_hash(token, hash);
    if (!auth_table_session(c->rest->config.auth, hash, arena, &s) || is_past(s.expires_at)) {
        return REST_SESSION_OVER;
    }
    *out_until = WALL_NONE;
    if (s.how == STORE_SESSION_SSO) {
        if (!auth_table_sso_is(c->rest->config.auth, s.proof)) {
            return REST_SESSION_OVER;
        }
        *out = auth_sso_caller(
            &(struct auth_identity){.name = s.name, .ns = s.ns, .role = s.role, .roles = s.roles});
    } else if (s.how == STORE_SESSION_KEY) {
        if (rest_auth__find_key(c, s.proof, arena, out, out_until) != REST_KNOWN) {
            return REST_SESSION_OVER;
        }
    } else {
        auth_hash_two(token, c->rest->config.admin_password, proof);
        if (c->rest->config.admin_password.len == 0 || memcmp(proof, s.proof, sizeof proof) != 0) {
            return REST_SESSION_OVER;
        }
        *out = admin_named(STR("admin"));
    }
    out->by_session = true;
    *out_until = earlier(s.expires_at, *out_until);
    return REST_KNOWN;
}

enum rest_verdict rest_auth__look_up(struct rest_call *c, struct str credential)
{
    uint8_t hash[AUTH_HASH_BYTES];
    struct wall until;
    if (c->rest->config.admin_password.len > 0 &&
        auth_matches(credential, c->rest->password_hash)) {
        c->caller = admin_named(STR("admin"));
        return REST_KNOWN;
    }
    auth_hash(credential, hash);
    return rest_auth__find_key(c, hash, c->arena, &c->caller, &until);
}

/* Use the rate limits of the caller's namespace, if it has any. */
static void set_limits(struct rest_call *c)
{
    struct store_namespace n;
    struct str ns = c->caller.ns.len > 0 ? c->caller.ns : STR("default");
    bool limited = c->caller.has_hash || !c->caller.chooses_ns;
    if (c->verdict == REST_KNOWN && limited && auth_table_limits(c->rest->config.auth, ns, &n)) {
        c->who.own = (struct rest_limiter_config){.read_rps = n.read_rps,
                                                  .read_burst = n.read_burst,
                                                  .write_rps = n.write_rps,
                                                  .write_burst = n.write_burst};
    }
}

bool rest_auth__identify(struct rest_call *c)
{
    struct rest_credential shown = rest_credential__of(c->req);
    struct str forwarded;
    c->credential = shown.text;
    c->by_cookie = shown.by_cookie;
    rest_forward__recognise(c);
    /* Any client can send X-Forwarded-For, so its address is used only if a trusted proxy sent it.
     * In any case a request with this header does not count as one from this machine. */
    bool proxied = http_request_known(c->req, HTTP_KNOWN_X_FORWARDED_FOR, &forwarded);
    if (proxied && rest_sso__is_by_proxy(c)) {
        c->who.client = rest_limiter__first_forwarded(forwarded);
    }
    c->who.shows_nothing = shown.text.len == 0 && shown.session.len == 0 && !proxied &&
                           !http_request_known(c->req, HTTP_KNOWN_AUTHORIZATION, &forwarded);
    if (!rest_auth__is_closed(c)) {
        c->verdict = REST_OPEN;
        c->caller = admin_named(STR("anonymous"));
        return true;
    }
    if (rest_sso__vouches(c)) {
        set_limits(c);
        return true;
    }
    if (shown.text.len == 0) {
        struct wall until;
        c->verdict = shown.session.len == 0
                         ? REST_MISSING
                         : rest_auth__find_session(c, shown.session, c->arena, &c->caller, &until);
        c->who.known = c->verdict == REST_KNOWN ? shown.session : STR_EMPTY;
        set_limits(c);
        return true;
    }
    if (!rest_limiter__may_try(c->rest->limiter, c->who.address, shown.text)) {
        rest_metrics__throttled(c->rest->metrics, rest_call__what(c));
        rest_call__fail(c, ERR_RATE_LIMITED,
                        "too many invalid credentials from this address; retry later");
        return false;
    }
    c->verdict = rest_auth__look_up(c, shown.text);
    if (c->verdict != REST_INVALID) {
        c->who.known = shown.text;
        memcpy(&c->who.mark, c->caller.hash, sizeof c->who.mark); /* 0 for the password */
    }
    set_limits(c);
    return true;
}

/* A browser sends cookies with requests of any page (CSRF). A change authenticated by a cookie must
 * therefore come from a page of this server, according to headers that a page cannot set. */
static bool is_forged(const struct rest_call *c)
{
    struct str ignored;
    if (c->req->method == HTTP_GET || (!c->caller.by_session && !c->by_cookie)) {
        return false;
    }
    bool told = http_request_known(c->req, HTTP_KNOWN_SEC_FETCH_SITE, &ignored) ||
                http_request_known(c->req, HTTP_KNOWN_ORIGIN, &ignored);
    return told ? rest_auth__is_cross_site(c) : c->caller.by_session;
}

bool rest_auth__is_cross_site(const struct rest_call *c)
{
    struct str site;
    struct str origin;
    struct str host;
    if (http_request_known(c->req, HTTP_KNOWN_SEC_FETCH_SITE, &site)) {
        return !str_eq(site, STR("same-origin")) && !str_eq(site, STR("none"));
    }
    if (!http_request_known(c->req, HTTP_KNOWN_ORIGIN, &origin)) {
        return false;
    }
    (void)str_cut(&origin, '/'); /* the scheme */
    if (origin.len == 0 || origin.ptr[0] != '/' ||
        !http_request_known(c->req, HTTP_KNOWN_HOST, &host)) {
        return true;
    }
    return !str_eq_nocase(str_from_offset(origin, 1), host);
}

/* Set the namespace of the call; false if the call has ended. */
static bool choose_namespace(struct rest_call *c)
{
    struct str ns;
    c->ns = c->caller.ns;
    if (!c->caller.chooses_ns) {
        return true;
    }
    if (!http_request_known(c->req, HTTP_KNOWN_X_CORVO_NAMESPACE, &ns)) {
        ns = rest_credential__cookie(c->req, STR("corvo_namespace")); /* a browser's event stream */
    }
    if (ns.len == 0 || str_eq(ns, STR("default"))) {
        return true;
    }
    if (!queue_name_is_namespace(ns)) {
        rest_call__fail(c, ERR_VALIDATION,
                        "X-Corvo-Namespace: '" STR_FMT "' is not a valid namespace name",
                        STR_ARG(ns));
        return false;
    }
    c->ns = ns;
    return true;
}

/* A node that joins has no API key and uses the cluster secret. */
static bool knows_cluster_secret(const struct rest_call *c)
{
    struct str secret = c->rest->config.cluster_secret;
    struct str given;
    if (secret.len == 0 || c->route == NULL || (c->route->flags & ROUTE_NODE) == 0 ||
        !http_request_known(c->req, HTTP_KNOWN_X_CORVO_CLUSTER_SECRET, &given)) {
        return false;
    }
    return rest_auth__is_right(c, given, secret);
}

bool rest_auth__is_right(const struct rest_call *c, struct str given, struct str secret)
{
    struct rest_limiter *l = c->rest->limiter;
    if (!rest_limiter__may_try(l, c->who.address, given)) {
        return false;
    }
    bool right = auth_same(given, secret);
    if (right) {
        rest_limiter__was_right(l, c->who.address, given);
    } else {
        rest_limiter__was_wrong(l, c->who.address);
    }
    return right;
}

const char *rest_auth__words(enum rest_verdict verdict)
{
    static const char *const words[] = {
        [REST_OPEN] = "",
        [REST_KNOWN] = "",
        [REST_MISSING] = "missing API key",
        [REST_INVALID] = "invalid API key",
        [REST_EXPIRED] = "expired API key",
        [REST_SESSION_OVER] = "the session has ended; sign in again",
    };
    return words[verdict];
}

bool rest_auth__admit(struct rest_call *c)
{
    if (knows_cluster_secret(c)) {
        c->caller = admin_named(STR("node"));
        return true;
    }
    switch (c->verdict) {
    case REST_OPEN:
        if (c->rest->config.cluster_secret.len > 0 && c->route != NULL &&
            (c->route->flags & ROUTE_NODE) != 0) {
            rest_call__fail(c, ERR_UNAUTHORIZED, "the cluster secret is missing or wrong");
            return false;
        }
        if (!c->rest->config.open_access && !rest_auth__is_local(c)) {
            return false;
        }
        break;
    case REST_INVALID:
        if (c->sso != NULL) {
            rest_sso__refuse(c);
            return false;
        }
        rest_limiter__was_wrong(c->rest->limiter, c->who.address);
        rest_call__fail(c, ERR_UNAUTHORIZED, "%s", rest_auth__words(c->verdict));
        return false;
    case REST_MISSING:
    case REST_SESSION_OVER:
    case REST_EXPIRED:
        rest_call__fail(c, ERR_UNAUTHORIZED, "%s", rest_auth__words(c->verdict));
        return false;
    case REST_KNOWN:
        break;
    }
    if (is_forged(c)) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "a change by cookie must come from a page of this server");
        return false;
    }
    return choose_namespace(c);
}

bool rest_auth__allows(struct rest_call *c, const struct auth_rule *rule)
{
    if (auth_allows(c->rest->config.auth, &c->caller, rule)) {
        return true;
    }
    rest_call__fail(c, ERR_FORBIDDEN, REST_AUTH_FORBIDDEN);
    return false;
}

/* Why a caller must not use routes with ROUTE_SERVER; NULL: it may. */
static const char *limit_of(const struct auth_caller *who)
{
    if (who->ns.len > 0) {
        return "this operation requires an admin of the default namespace";
    }
    return who->scope.len > 0 ? "this operation requires a key that is not limited to queues"
                              : NULL;
}

struct auth_rule rest_auth__rule(const struct rest_route *route)
{
    return auth_rule_of_route(route->roles, str_from_z(rest_router__method(route->method)),
                              str_from_z(route->pattern));
}

static bool role_may(const struct rest_call *c, const struct auth_caller *who,
                     const struct rest_route *route)
{
    if ((route->flags & (ROUTE_OPEN | ROUTE_OWN)) != 0 || (route->roles & who->role_bit) != 0) {
        return true; /* the common case, without building the rule */
    }
    struct auth_rule rule = rest_auth__rule(route);
    return auth_allows(c->rest->config.auth, who, &rule);
}

bool rest_auth__may(const struct rest_call *c, const struct rest_route *route)
{
    return ((route->flags & ROUTE_SERVER) == 0 || limit_of(&c->caller) == NULL) &&
           role_may(c, &c->caller, route);
}

bool rest_auth__allows_route(struct rest_call *c)
{
    if (rest_auth__may(c, c->route)) {
        return true;
    }
    bool is_role = !role_may(c, &c->caller, c->route);
    rest_call__fail(c, ERR_FORBIDDEN, "%s", is_role ? REST_AUTH_FORBIDDEN : limit_of(&c->caller));
    return false;
}

/* The rule for what a lifecycle stream does besides fetching. */
static struct auth_rule rule_for(const struct auth_rule *fetch, struct str resource)
{
    return (struct auth_rule){.roles = fetch->roles, .resource = resource, .action = fetch->action};
}

static bool is_lifecycle(const struct rest_call *c)
{
    return str_eq(rpc_method_name(&c->rpc), STR("StreamLifecycle"));
}

bool rest_auth__allows_rpc(struct rest_call *c)
{
    struct auth_rule rule;
    if (!auth_rule_of_rpc(rpc_method_name(&c->rpc), &rule)) {
        return true; /* no such method: the RPC service responds with the error */
    }
    c->may_enqueue = true;
    if (!is_lifecycle(c)) {
        return rest_auth__allows(c, &rule);
    }
    struct auth_rule ack = rule_for(&rule, STR("ack"));
    struct auth_rule enqueue = rule_for(&rule, STR("enqueue"));
    c->may_enqueue = auth_allows(c->rest->config.auth, &c->caller, &enqueue);
    return rest_auth__allows(c, &rule) && rest_auth__allows(c, &ack);
}

bool rest_auth__still_allows(const struct rest_call *c, const struct auth_caller *who)
{
    struct auth_table *auth = c->rest->config.auth;
    struct auth_rule rule;
    if (!c->is_rpc) {
        return role_may(c, who, c->route);
    }
    if (!auth_rule_of_rpc(rpc_method_name(&c->rpc), &rule) || !auth_allows(auth, who, &rule)) {
        return false;
    }
    if (!is_lifecycle(c)) {
        return true;
    }
    struct auth_rule ack = rule_for(&rule, STR("ack"));
    struct auth_rule enqueue = rule_for(&rule, STR("enqueue"));
    return auth_allows(auth, who, &ack) && (!c->may_enqueue || auth_allows(auth, who, &enqueue));
}

struct str rest_auth__principal(struct rest_call *c, struct buf *room)
{
    return audit_principal(c->rest->config.engine, &c->caller, room);
}
