/*
 * The settings of single sign-on (http-api.md 18.5).
 */
#include "base/limits.h"
#include "base/url.h"
#include "json/json_scan.h"
#include "rest/access/rest_access_int.h"
#include "rest/access/rest_sso_int.h"

enum {
    MAPPINGS_MAX = 256,
    URL_BYTES_MAX = 1024,
    SECRET_BYTES_MAX = 1024,
    MAPPING_BYTES = 48 << 10
};

enum { SET_SECRET = 1U << 3 }; /* bit of its row */

struct sso_in {
    struct str provider, oidc_issuer_url, oidc_client_id, oidc_client_secret, oidc_group_claim;
    struct str group_role_mappings;
    bool saml_enabled;
    uint64_t set;
};

static const struct json_field sso_rows[] = {
    JSON_STR(struct sso_in, provider, 0, LIMIT_NAME_BYTES, 0,
             "Provider type: oidc, saml, or empty to turn single sign-on off."),
    JSON_STR(struct sso_in, oidc_issuer_url, 0, URL_BYTES_MAX, JSON_NO_CONTROL,
             "Issuer URL of the provider, exactly as the provider reports it."),
    JSON_STR(struct sso_in, oidc_client_id, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL,
             "Client ID of this server at the provider. Tokens must have it as their audience."),
    JSON_STR(struct sso_in, oidc_client_secret, 0, SECRET_BYTES_MAX, JSON_NO_CONTROL,
             "Client secret, if the client has one. If left out, the secret of the same client is "
             "kept."),
    JSON_STR(struct sso_in, oidc_group_claim, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL,
             "Token claim that contains the user's groups. Default: groups."),
    JSON_RAW(struct sso_in, group_role_mappings, MAPPING_BYTES, JSON_ONLY_OBJECT, "Role by group.",
             .told_max = MAPPINGS_MAX),
    JSON_BOOL(struct sso_in, saml_enabled, 0,
              "With saml: whether the X-Corvo-SAML headers of trusted proxies are accepted."),
};
static const struct json_schema sso_schema =
    JSON_SCHEMA(struct sso_in, sso_rows, JSON_SET(struct sso_in, set));

/* Read the stored settings, or else those of the configuration. */
static void read_settings(struct rest_call *c, struct store_sso *out,
                          struct store_access_frame *frame)
{
    struct buf body;
    uint64_t version;
    *out = (struct store_sso){.provider = STORE_SSO_NONE};
    *frame = (struct store_access_frame){0};
    if (rest_access__read(c, STORE_ACCESS_SSO, STR_EMPTY, frame) &&
        store_access_decode_sso(frame->body, out)) {
        return;
    }
    buf_init(&body, LIMIT_ACCESS_BODY_BYTES);
    bool some = auth_table_sso_settings(c->rest->config.auth, &body, out, &version);
    struct str kept = rest_call__keep(c, &body); /* decoded texts point into it */
    if (!some || !store_access_decode_sso(kept, out)) {
        *out = (struct store_sso){.provider = STORE_SSO_NONE};
    }
}

/* Write a text even if it is empty. */
static void write_text(struct json_write *w, const char *key, struct str text)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, text);
}

static void handle_get(struct rest_call *c)
{
    struct store_sso s;
    struct store_access_frame frame;
    struct str group;
    struct str role;
    if (!rest_access__has_feature(c, "sso")) {
        return;
    }
    read_settings(c, &s, &frame);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    write_text(&w, "provider",
               s.provider == STORE_SSO_OIDC      ? STR("oidc")
               : s.provider == STORE_SSO_HEADERS ? STR("saml")
                                                 : STR_EMPTY);
    write_text(&w, "oidc_issuer_url", s.issuer);
    write_text(&w, "oidc_client_id", s.client_id);
    rest_document__bool(&w, "oidc_client_secret_set", s.client_secret.len > 0);
    rest_document__bool(&w, "saml_enabled", s.headers_enabled);
    rest_document__text(&w, "oidc_group_claim",
                        s.group_claim.len > 0 ? s.group_claim : STR("groups"));
    json_write_key(&w, STR("group_role_mappings"));
    json_write_object(&w);
    while (store_access_next_mapping(&s.mappings, &group, &role)) {
        json_write_key(&w, group);
        json_write_str(&w, role);
    }
    json_write_end(&w);
    rest_document__time(&w, "updated_at",
                        frame.updated_at.ns != 0 ? frame.updated_at : frame.created_at);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Changes */

static bool has_mapping(struct str mappings, struct str group)
{
    struct str name;
    struct str role;
    while (store_access_next_mapping(&mappings, &name, &role)) {
        if (str_eq(name, group)) {
            return true;
        }
    }
    return false;
}

/* False when the call has ended. */
static bool add_mapping(struct rest_call *c, struct json_value key, struct json_value value,
                        struct buf *out)
{
    struct err err;
    struct str group;
    struct str role = STR_EMPTY;
    if (json_value_text(key, c->arena, &group, &err) != ERR_OK ||
        (value.type == JSON_TYPE_STRING &&
         json_value_text(value, c->arena, &role, &err) != ERR_OK)) {
        rest_call__fail_err(c, &err);
        return false;
    }
    group = str_trim(group);
    role = str_trim(role);
    if (group.len == 0 || group.len > LIMIT_NAME_BYTES || role.len == 0 ||
        role.len > LIMIT_NAME_BYTES || str_has_control(role)) {
        rest_call__fail(c, ERR_VALIDATION,
                        "group_role_mappings: '" STR_FMT
                        "': group and role must have 1 to %d bytes",
                        STR_ARG(str_at_most(group, 64)), LIMIT_NAME_BYTES);
        return false;
    }
    if (has_mapping(buf_str(out), group)) {
        rest_call__fail(c, ERR_VALIDATION, "group_role_mappings: '" STR_FMT "' is listed twice",
                        STR_ARG(str_at_most(group, 64)));
        return false;
    }
    store_access_add_mapping(group, role, out);
    return true;
}

static bool read_mappings(struct rest_call *c, struct str object, struct buf *out)
{
    struct json_value key;
    struct json_value value;
    size_t count = 0;
    struct json_scan s = json_scan_from(object);
    if (object.len == 0 || !json_scan_enter_object(&s)) {
        return true;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (++count > MAPPINGS_MAX) {
            rest_call__fail(c, ERR_VALIDATION, "group_role_mappings: more than %d groups",
                            MAPPINGS_MAX);
            return false;
        }
        if (!add_mapping(c, key, value, out)) {
            return false;
        }
    }
    return true;
}

/* Check that the issuer is a URL without query and fragment. False if the call has ended. */
static bool check_issuer(struct rest_call *c, struct str issuer)
{
    struct url url;
    const char *why = NULL;
    if (issuer.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "oidc_issuer_url is required");
        return false;
    }
    if (!url_parse(issuer, &url, &why)) {
        rest_call__fail(c, ERR_VALIDATION, "oidc_issuer_url %s", why);
        return false;
    }
    if (memchr(issuer.ptr, '?', issuer.len) != NULL ||
        memchr(issuer.ptr, '#', issuer.len) != NULL) {
        rest_call__fail(c, ERR_VALIDATION, "oidc_issuer_url must not have a query or a fragment");
        return false;
    }
    return true;
}

static bool read_provider(struct rest_call *c, struct str word, char *out)
{
    if (word.len == 0) {
        *out = STORE_SSO_NONE;
    } else if (str_eq(word, STR("oidc"))) {
        *out = STORE_SSO_OIDC;
    } else if (str_eq(word, STR("saml"))) {
        *out = STORE_SSO_HEADERS;
    } else {
        rest_call__fail(c, ERR_VALIDATION,
                        "provider: '" STR_FMT
                        "' is not valid; expected oidc, saml, or empty to turn single sign-on off",
                        STR_ARG(word));
        return false;
    }
    return true;
}

/* False when the call has ended. */
static bool read_change(struct rest_call *c, struct store_sso *out)
{
    const struct sso_in *in = c->in;
    struct store_sso old;
    struct store_access_frame frame;
    struct buf mappings;
    *out = (struct store_sso){.headers_enabled = in->saml_enabled,
                              .issuer = str_trim(in->oidc_issuer_url),
                              .client_id = str_trim(in->oidc_client_id),
                              .client_secret = str_trim(in->oidc_client_secret),
                              .group_claim = str_trim(in->oidc_group_claim)};
    if (!read_provider(c, str_trim(in->provider), &out->provider)) {
        return false;
    }
    if ((out->provider == STORE_SSO_OIDC || out->issuer.len > 0) && !check_issuer(c, out->issuer)) {
        return false;
    }
    if (out->provider == STORE_SSO_OIDC && out->client_id.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "oidc_client_id is required");
        return false;
    }
    read_settings(c, &old, &frame);
    if ((in->set & SET_SECRET) == 0 && str_eq(old.issuer, out->issuer) &&
        str_eq(old.client_id, out->client_id)) {
        out->client_secret = old.client_secret;
    }
    out->group_claim = out->group_claim.len == 0 ? STR("groups") : out->group_claim;
    buf_init(&mappings, LIMIT_ACCESS_BODY_BYTES);
    if (!read_mappings(c, in->group_role_mappings, &mappings)) {
        buf_deinit(&mappings);
        return false;
    }
    out->mappings = rest_call__keep(c, &mappings);
    return true;
}

static void reply_saved(struct rest_call *c, struct str warning)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    rest_document__text(&w, "warning", warning);
    if (c->verdict == REST_OPEN && auth_table_is_closed(c->rest->config.auth)) {
        rest_document__text(&w, "note",
                            STR("this server was open; from now on every request needs single "
                                "sign-on, an API key or the admin password (--admin-password)"));
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void provider_asked(struct rest_call *c)
{
    struct sso_ask *ask = c->data;
    struct str warning = str_from_z(ask->err.code == ERR_OK ? "" : ask->err.msg);
    sso_release(ask);
    reply_saved(c, warning);
}

static void saved(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    char kind = auth_table_sso(c->rest->config.auth);
    if (kind == STORE_SSO_OIDC && c->rest->config.sso != NULL) {
        struct sso_ask *ask = REST_NEW(c, struct sso_ask);
        ask->question = SSO_PROVIDER;
        c->data = ask;
        rest_sso__ask(c, ask, provider_asked);
    } else if (kind == STORE_SSO_HEADERS && c->rest->config.trusted_proxies == NULL) {
        reply_saved(c, STR("no proxy is trusted: start the server with --trusted-proxies"));
    } else {
        reply_saved(c, STR_EMPTY);
    }
}

static void handle_post(struct rest_call *c)
{
    struct store_sso s;
    struct buf body;
    if (!rest_access__has_feature(c, "sso") || !read_change(c, &s)) {
        return;
    }
    struct command_access_item *item = rest_access__items(c, 1);
    rest_call__buf(c, &body);
    store_access_encode_sso(&s, &body);
    *item =
        (struct command_access_item){.kind = STORE_ACCESS_SSO, .body = rest_access__keep(c, &body)};
    rest_access__submit(c, item, 1, saved);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method    pattern                 roles       flags                                     in           handler      cost  answer                  doc */
    {HTTP_GET,  "/api/v1/settings/sso", ROLES_AOR,  0,                                        NULL,        handle_get,  NULL, "200 SSO settings",      "Return the single sign-on settings."},
    {HTTP_POST, "/api/v1/settings/sso", ROLE_ADMIN, ROUTE_ACCESS | ROUTE_BODY | ROUTE_SERVER, &sso_schema, handle_post, NULL, "200 {status, warning}", "Change the single sign-on settings on all nodes."},
};
/* clang-format on */

const struct rest_routes rest_sso_settings_routes = {.rows = rows, .count = COUNT_OF(rows)};
