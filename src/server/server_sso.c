#include "server/server_sso.h"

#include "base/limits.h"
#include "base/url.h"
#include "log/log.h"

static bool has_feature(struct str features, struct str word)
{
    bool all = features.len == 0;
    while (features.len > 0) {
        all |= str_eq_nocase(str_trim(str_cut(&features, ',')), word);
    }
    return all;
}

enum err_code server_sso_set(const struct settings *set, struct auth_table *auth,
                             struct os_networks *proxies, struct err *err)
{
    struct url url;
    const char *why = NULL;
    bool asked = set->oidc_issuer_url.len > 0 || set->saml_header_auth;
    bool on = has_feature(set->features, STR("sso"));
    if (set->oidc_issuer_url.len > 0 && !url_parse(set->oidc_issuer_url, &url, &why)) {
        return err_set(err, ERR_VALIDATION, "setting oidc-issuer-url %s", why);
    }
    if (os_networks_parse(set->trusted_proxies, proxies, err) != ERR_OK) {
        return err_wrap(err, "setting trusted-proxies");
    }
    if (asked && !on) {
        log_warn("single sign-on is off",
                 LOG_Z("meaning", "the setting features does not include sso"));
    }
    if (set->saml_header_auth && proxies->count == 0) {
        log_warn("no trusted proxies",
                 LOG_Z("meaning", "saml-header-auth has no effect without trusted-proxies"));
    }
    struct buf body;
    buf_init(&body, LIMIT_ACCESS_BODY_BYTES);
    if (asked) {
        struct store_sso sso = {.provider =
                                    set->saml_header_auth ? STORE_SSO_HEADERS : STORE_SSO_OIDC,
                                .headers_enabled = set->saml_header_auth,
                                .issuer = set->oidc_issuer_url,
                                .client_id = set->oidc_client_id,
                                .group_claim = STR("groups")};
        store_access_encode_sso(&sso, &body);
    }
    auth_table_set_sso(auth, on, buf_str(&body));
    buf_deinit(&body);
    return ERR_OK;
}
