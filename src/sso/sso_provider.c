/*
 * The documents of a provider: its description (OpenID Connect Discovery 3), and the exchange of a
 * code for a token (RFC 6749 4.1.3, RFC 7636).
 */
#include <stdio.h>

#include "base/base64url.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/url.h"
#include "json/json_scan.h"
#include "sso/sso_int.h"

enum { MEMORY_BYTES = 64 << 10, URL_BYTES_MAX = 4096, CREDENTIAL_BYTES_MAX = 8192 };

void sso_provider__url(struct str issuer, struct buf *out)
{
    while (issuer.len > 0 && issuer.ptr[issuer.len - 1] == '/') {
        issuer.len--;
    }
    buf_printf(out, STR_FMT "/.well-known/openid-configuration", STR_ARG(issuer));
}

/* Read a URL of the description; NULL if there is none. A provider that is reached by TLS must
 * not refer to URLs without TLS. */
static enum err_code read_url(struct str text, const char *name, bool tls, struct arena *arena,
                              const char **out, struct err *err)
{
    struct json_value v;
    struct str value;
    struct url url;
    const char *why = "is missing";
    *out = NULL;
    if (!json_scan_member(text, str_from_z(name), &v)) {
        return ERR_OK;
    }
    if (v.type != JSON_TYPE_STRING || json_value_text_len(v) > URL_BYTES_MAX ||
        json_value_text(v, arena, &value, err) != ERR_OK || !url_parse(value, &url, &why)) {
        return err_set(err, ERR_UNHEALTHY, "the provider's %s is not an http or https URL", name);
    }
    if (tls && !url.tls) {
        return err_set(err, ERR_UNHEALTHY, "the provider's %s does not use TLS", name);
    }
    *out = arena_strz(arena, value);
    return ERR_OK;
}

/* Does the array contain the word? */
static bool lists(struct str text, const char *name, struct str word)
{
    struct json_value v;
    struct json_value one;
    bool found = false;
    if (!json_scan_member(text, str_from_z(name), &v) || v.type != JSON_TYPE_ARRAY) {
        return false;
    }
    struct json_scan s = json_scan_from(v.text);
    if (json_scan_enter_array(&s)) {
        while (json_scan_next_element(&s) && json_scan_value(&s, &one)) {
            found |= one.type == JSON_TYPE_STRING && json_value_text_eq(one, word);
        }
    }
    return found;
}

enum err_code sso_provider__parse(struct str text, struct str issuer, struct sso_provider *out,
                                  struct err *err)
{
    struct json_value v;
    struct url url;
    const char *why = NULL;
    struct err bad;
    *out = (struct sso_provider){.memory = arena_new(MEMORY_BYTES)};
    if (json_scan_check(text, &bad) != ERR_OK || !json_scan_member(text, STR("issuer"), &v) ||
        v.type != JSON_TYPE_STRING) {
        return err_set(err, ERR_UNHEALTHY,
                       "the provider's configuration is not valid JSON or has no issuer");
    }
    if (!json_value_text_eq(v, issuer)) {
        return err_set(err, ERR_UNHEALTHY,
                       "the provider's configuration names another issuer: " STR_FMT,
                       STR_ARG(str_at_most(v.text, 150)));
    }
    bool tls = url_parse(issuer, &url, &why) && url.tls;
    if (read_url(text, "jwks_uri", tls, out->memory, &out->keys_url, err) != ERR_OK ||
        read_url(text, "authorization_endpoint", tls, out->memory, &out->sign_in_url, err) !=
            ERR_OK ||
        read_url(text, "token_endpoint", tls, out->memory, &out->token_url, err) != ERR_OK) {
        return err->code;
    }
    if (out->keys_url == NULL) {
        return err_set(err, ERR_UNHEALTHY, "the provider's configuration has no jwks_uri");
    }
    const char *methods = "token_endpoint_auth_methods_supported";
    out->secret_in_body = lists(text, methods, STR("client_secret_post")) &&
                          !lists(text, methods, STR("client_secret_basic"));
    return ERR_OK;
}

void sso_provider__clear(struct sso_provider *p)
{
    arena_free(p->memory);
    *p = (struct sso_provider){.memory = NULL};
}

static void add_field(struct buf *body, const char *name, struct str value)
{
    buf_printf(body, "%s%s=", body->len > 0 ? "&" : "", name);
    url_escape(body, value);
}

static void add_basic(const struct store_sso *settings, struct buf *out)
{
    struct buf pair;
    char encoded[CREDENTIAL_BYTES_MAX / 3 * 4 + 8];
    buf_init(&pair, CREDENTIAL_BYTES_MAX);
    url_escape(&pair, settings->client_id);
    buf_add_char(&pair, ':');
    url_escape(&pair, settings->client_secret);
    size_t len = base64url_encode(buf_str(&pair), encoded).len;
    for (size_t i = 0; i < len; i++) { /* as in RFC 7617: standard base64, padded */
        encoded[i] = (char)(encoded[i] == '-' ? '+' : encoded[i] == '_' ? '/' : encoded[i]);
    }
    buf_add_str(out, STR("Basic "));
    buf_add_str(out, str_from(encoded, len));
    buf_add_str(out, str_at_most(STR("=="), (4 - len % 4) % 4));
    buf_deinit(&pair);
}

void sso_provider__exchange(const struct sso_provider *p, const struct store_sso *settings,
                            const struct sso_ask *ask, struct buf *body, struct buf *authorization)
{
    add_field(body, "grant_type", STR("authorization_code"));
    add_field(body, "code", ask->code);
    add_field(body, "redirect_uri", ask->redirect_url);
    add_field(body, "code_verifier", ask->verifier);
    bool secret = settings->client_secret.len > 0;
    if (secret && !p->secret_in_body) {
        add_basic(settings, authorization);
        return;
    }
    add_field(body, "client_id", settings->client_id);
    if (secret) {
        add_field(body, "client_secret", settings->client_secret);
    }
}

enum err_code sso_provider__id_token(struct str answer, struct arena *arena, struct str *out,
                                     struct err *err)
{
    struct json_value v;
    struct err bad;
    if (json_scan_check(answer, &bad) != ERR_OK || !json_scan_member(answer, STR("id_token"), &v) ||
        v.type != JSON_TYPE_STRING || json_value_text(v, arena, out, err) != ERR_OK) {
        return err_set(err, ERR_UNHEALTHY, "the provider's response has no id_token");
    }
    *out = arena_str(arena, *out);
    return ERR_OK;
}
