#include "server/settings_check.h"

#include "base/url.h"
#include "discover/discover.h"
#include "os/os_networks.h"
#include "server/settings_address.h"
#include "store/store_node.h"

enum { MEMORY_LIMIT_MIN = 32 << 20 }; /* twice the largest request body */
enum { DATA_DIR_BYTES_MAX = 512 };    /* paths in the directory then fit into OS_FILE_PATH_MAX */
enum { SECRET_BYTES_MIN = 16 };
enum { WORD_BYTES = 8 }; /* of a log segment */

/* Texts */

/* False for a secret that no client could send: HTTP removes blanks at the ends of a header, and a
 * header contains no line breaks. */
static bool is_showable(struct str v)
{
    return str_trim(v).len == v.len && !str_has_control(v);
}

/* The name is used in URLs, log lines and tables. The cluster accepts no other names
 * (command_node.c). */
static bool is_node_name(struct str v)
{
    for (size_t i = 0; i < v.len; i++) {
        if (v.ptr[i] <= ' ' || v.ptr[i] > '~' || v.ptr[i] == '/') {
            return false;
        }
    }
    return v.len > 0 && v.len <= STORE_NODE_NAME_BYTES_MAX;
}

static bool is_feature(struct str v)
{
    static const struct str known[] = {STR("audit"), STR("rbac"), STR("namespaces"), STR("sso")};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_eq_nocase(v, known[i])) {
            return true;
        }
    }
    return false;
}

/* Other nodes append a path to it, so it must not have one. */
static bool is_url(struct str v)
{
    struct url url;
    const char *why;
    if (v.len > STORE_NODE_URL_BYTES_MAX || !url_parse(v, &url, &why)) {
        return false;
    }
    v = str_from_offset(v, url.tls ? sizeof "https://" - 1 : sizeof "http://" - 1);
    for (size_t i = 0; i < v.len; i++) {
        if (v.ptr[i] == '/' || v.ptr[i] == '?' || v.ptr[i] == '#' || v.ptr[i] == '@') {
            return false;
        }
    }
    return true;
}

/* host:port */
static bool is_address(struct str v)
{
    return settings_address_port(v).len > 0 && v.len <= STORE_NODE_ADDRESS_BYTES_MAX &&
           discover_is_address(v);
}

/* host:port to listen on. Without a host: all interfaces. Port 0: any free port. */
static bool is_bind(struct str v)
{
    int64_t port;
    struct str text = settings_address_port(v);
    return text.len > 0 && text.ptr[0] >= '0' && text.ptr[0] <= '9' && str_to_i64(text, &port) &&
           port <= UINT16_MAX && !str_has_control(v) && memchr(v.ptr, ' ', v.len) == NULL;
}

static bool is_networks(struct str v)
{
    struct os_networks networks = {.count = 0};
    struct err ignored;
    return os_networks_parse(v, &networks, &ignored) == ERR_OK;
}

static bool is_host(struct str v)
{
    return discover_is_address(v) && (settings_address_port(v).len == 0 || v.ptr[0] == '[');
}

/* The address of the API of a node. */
static bool is_node(struct str v)
{
    while (v.len > 0 && v.ptr[v.len - 1] == '/') {
        v.len--;
    }
    bool url = str_starts_with(v, STR("http://")) || str_starts_with(v, STR("https://"));
    return url ? is_url(v) : discover_is_address(v);
}

/* host:port of a collector, which may be written as a URL without a path. */
static bool is_collector(struct str v)
{
    bool url = str_starts_with(v, STR("http://"));
    return is_address(url ? str_from_offset(v, sizeof "http://" - 1) : v);
}

/* The form that the text of a setting must have. */
struct form {
    const char *name;
    size_t offset;
    bool (*fits)(struct str v);
    bool list;    /* the form of each item of a comma-separated list */
    bool secret;  /* the value is not shown in errors */
    bool insists; /* the value must not be empty */
    const char *expected;
};

/* clang-format off */
static const char secret_form[] = "no blanks at its ends, and no line breaks or other control characters";
static const char bind_form[] = "an address such as :8080 or 127.0.0.1:8080";
static const char networks_form[] = "a comma-separated list of networks such as 10.0.0.0/8";
static const char networks_most[] = "at most 256 networks";
static const struct form forms[] = {
#define AT(member) offsetof(struct settings, member)
    {"admin-password",       AT(admin_password),       is_showable,  false, true,  false, secret_form},
    {"cluster-secret",       AT(cluster_secret),       is_showable,  false, true,  false, secret_form},
    {"gossip-secret",        AT(gossip_secret),        is_showable,  false, true,  false, secret_form},
    {"auth-token",           AT(auth_token),           is_showable,  false, true,  false, secret_form},
    {"webhook-bearer-token", AT(webhook_bearer_token), is_showable,  false, true,  false, secret_form},
    {"node-id",              AT(node_id),              is_node_name, false, false, true,  "1 to 64 visible ASCII characters and no slash"},
    {"bind",                 AT(bind),                 is_bind,      false, false, true,  bind_form},
    {"raft-bind",            AT(raft_bind),            is_bind,      false, false, true,  "an address such as :9000 or 10.0.0.1:9000"},
    {"scheduler-bind",       AT(scheduler_bind),       is_bind,      false, false, false, bind_form},
    {"metrics-bind",         AT(metrics_bind),         is_bind,      false, false, false, bind_form},
    {"rpc-bind",             AT(rpc_bind),             is_bind,      false, false, false, bind_form},
    {"features",             AT(features),             is_feature,   true,  false, false, "a comma-separated list of audit, rbac, namespaces and sso"},
    {"http-advertise",       AT(http_advertise),       is_url,       false, false, false, "a URL such as http://10.0.0.1:8080, without a path"},
    {"raft-advertise",       AT(raft_advertise),       is_address,   false, false, false, "an address such as 10.0.0.1:9000"},
    {"raft-advertise-host",  AT(advertise_host),       is_host,      false, false, false, "a host name or address without a port"},
    {"join",                 AT(join),                 is_node,      true,  false, false, "a comma-separated list of addresses such as 10.0.0.1:8080"},
    {"otel-endpoint",        AT(otel_endpoint),        is_collector, false, false, false, "an address such as 127.0.0.1:4318"},
    {"discover-dns-server",  AT(discover_server),      discover_is_dns_server, false, false, false, "an IPv4 address such as 10.0.0.53 or 10.0.0.53:53"},
    {"kubernetes-api",       AT(kubernetes_api),       is_url,       false, false, false, "a URL such as https://10.0.0.1:6443, without a path"},
    {"webhook-deny",         AT(webhook_deny),         is_networks,  true,  false, false, networks_form},
    {"webhook-allow",        AT(webhook_allow),        is_networks,  true,  false, false, networks_form},
    {"outgoing-allow",       AT(outgoing_allow),       is_networks,  true,  false, false, networks_form},
    {"trusted-proxies",      AT(trusted_proxies),      is_networks,  true,  false, false, networks_form},
    /* Each network is one. There may be too many of them. */
    {"webhook-deny",         AT(webhook_deny),         is_networks,  false, false, false, networks_most},
    {"webhook-allow",        AT(webhook_allow),        is_networks,  false, false, false, networks_most},
    {"outgoing-allow",       AT(outgoing_allow),       is_networks,  false, false, false, networks_most},
    {"trusted-proxies",      AT(trusted_proxies),      is_networks,  false, false, false, networks_most},
#undef AT
};
/* clang-format on */

/* True if the value does not have the form. *out is the item that does not; the whole value unless
 * it is a list. */
static bool find_misfit(const struct form *f, struct str value, struct str *out)
{
    *out = value;
    if (value.len == 0) {
        return f->insists;
    }
    if (!f->list) {
        return !f->fits(value);
    }
    while (value.len > 0) {
        *out = str_trim(str_cut(&value, ','));
        if (out->len > 0 && !f->fits(*out)) {
            return true;
        }
    }
    return false;
}

enum err_code settings_check_texts(const struct settings *s, struct err *err)
{
    enum { SHOWN_BYTES = 64 };
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const struct form *f = &forms[i];
        const void *at = (const char *)s + f->offset;
        struct str misfit;
        if (!find_misfit(f, *(const struct str *)at, &misfit)) {
            continue;
        }
        return f->secret
                   ? err_set(err, ERR_VALIDATION, "setting %s: expected %s", f->name, f->expected)
                   : err_set(err, ERR_VALIDATION, "setting %s: expected %s, got '" STR_FMT "'",
                             f->name, f->expected, STR_ARG(str_at_most(misfit, SHOWN_BYTES)));
    }
    return ERR_OK;
}

/* Settings that contradict each other */

static int64_t count_items(struct str list)
{
    int64_t count = 0;
    while (list.len > 0) {
        count += str_trim(str_cut(&list, ',')).len > 0 ? 1 : 0;
    }
    return count;
}

static bool is_strategy(struct str name)
{
    const char *known;
    for (size_t i = 0; (known = discover_strategy(i)) != NULL; i++) {
        if (str_eq(name, str_from_z(known))) {
            return true;
        }
    }
    return false;
}

/* Cluster settings that contradict each other. */
static enum err_code check_cluster(const struct settings *s, struct err *err)
{
    bool tls = s->peer_tls_cert.len > 0;
    if (s->idle.raft_shards < 1) {
        return err_set(err, ERR_VALIDATION, "raft-shards must be >= 1");
    }
    if (s->discover.len > 0 && !is_strategy(s->discover)) {
        return err_set(err, ERR_VALIDATION, "unsupported discover mode \"" STR_FMT "\"",
                       STR_ARG(s->discover));
    }
    const struct {
        bool wrong;
        const char *what;
    } rows[] = {
        {str_eq(s->discover, STR("dns")) && s->discover_name.len == 0,
         "discover: dns requires discover-dns-name"},
        {str_eq(s->discover, STR("static")) && s->join.len == 0, "discover: static requires join"},
        {settings_joins(s) && s->join.len == 0 && s->discover.len == 0 &&
             s->cluster_secret.len == 0 && !tls, /* anybody could invite this node */
         "bootstrap: if it is false, set join or discover, or set cluster-secret or peer-tls-cert "
         "and add the node with /join"},
        {s->bootstrap_expect > 1 && s->join.len == 0 && s->discover.len == 0,
         "bootstrap-expect: list the nodes in join, or find them with discover"},
        {s->bootstrap_expect > 1 && (s->discover.len == 0 || str_eq(s->discover, STR("static"))) &&
             count_items(s->join) + 1 < s->bootstrap_expect, /* this node need not be listed */
         "bootstrap-expect: join lists fewer nodes than bootstrap-expect"},
        {s->cluster_secret.len > 0 && s->cluster_secret.len < SECRET_BYTES_MIN,
         "cluster-secret: expected at least 16 characters"},
        {tls != (s->peer_tls_key.len > 0) || tls != (s->peer_tls_ca.len > 0),
         "peer-tls-cert: set peer-tls-cert, peer-tls-key and peer-tls-ca together"},
        {s->election_timeout_ms < 2 * s->heartbeat_interval_ms,
         "election-timeout: expected at least twice heartbeat-interval"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].wrong) {
            return err_set(err, ERR_VALIDATION, "setting %s", rows[i].what);
        }
    }
    return ERR_OK;
}

/* Other settings that contradict each other, or whose value makes no sense. */
static enum err_code check_rest(const struct settings *s, struct err *err)
{
    const struct {
        bool wrong;
        const char *name;
        const char *why;
    } rows[] = {
        {(s->tls_cert.len > 0) != (s->tls_key.len > 0), "tls-cert",
         "set tls-cert and tls-key together"},
        {(s->oidc_issuer_url.len > 0) != (s->oidc_client_id.len > 0), "oidc-issuer-url",
         "set oidc-issuer-url and oidc-client-id together"},
        {s->oidc_issuer_url.len > 0 && s->saml_header_auth, "saml-header-auth",
         "cannot be combined with oidc-issuer-url"},
        {s->data_dir.len > DATA_DIR_BYTES_MAX, "data-dir", "expected at most 512 bytes"},
        {s->segment_bytes % WORD_BYTES != 0, "segment-bytes", "expected a multiple of 8"},
        {s->data_dir.len == 0, "data-dir", "expected the path of a directory"},
        {s->memory_limit > 0 && s->memory_limit < MEMORY_LIMIT_MIN, "memory-limit",
         "expected 0, or at least 33554432"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].wrong) {
            return err_set(err, ERR_VALIDATION, "setting %s: %s", rows[i].name, rows[i].why);
        }
    }
    return ERR_OK;
}

enum err_code settings_check_together(const struct settings *s, struct err *err)
{
    return check_cluster(s, err) == ERR_OK ? check_rest(s, err) : err->code;
}
