#include "discover/discover.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/digits.h"
#include "discover/discover_int.h"
#include "log/log.h"

static const struct discover_strategy *const strategies[] = {
    &discover_static__strategy,
    &discover_dns__strategy,
    &discover_kubernetes__strategy,
    &discover_kubernetes_dns__strategy,
    &discover_kubernetes_dns_srv__strategy,
    &discover_gossip__strategy,
};

const char *discover_strategy(size_t index)
{
    return index < COUNT_OF(strategies) ? strategies[index]->name : NULL;
}

static const struct discover_strategy *find_strategy(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(strategies); i++) {
        if (str_eq(name, str_from_z(strategies[i]->name))) {
            return strategies[i];
        }
    }
    return NULL;
}

/* Addresses */

bool discover__split(struct str text, struct str *out_host, uint16_t *out_port)
{
    bool bracket = text.len > 0 && text.ptr[0] == '[';
    const char *end = bracket ? memchr(text.ptr, ']', text.len) : NULL;
    const char *colon = memrchr(text.ptr, ':', text.len);
    int64_t port = 0;
    if (text.len == 0 || (bracket && end == NULL)) {
        return false;
    }
    bool several = !bracket && colon != NULL &&
                   memchr(text.ptr, ':', (size_t)(colon - text.ptr)) != NULL; /* bare IPv6 */
    bool has_port = colon != NULL && !several && (!bracket || colon == end + 1);
    *out_host = bracket    ? str_from(text.ptr + 1, (size_t)(end - text.ptr) - 1)
                : has_port ? str_from(text.ptr, (size_t)(colon - text.ptr))
                           : text;
    if (has_port && (!str_to_i64(str_from_offset(text, (size_t)(colon - text.ptr) + 1), &port) ||
                     port < 1 || port > UINT16_MAX)) {
        return false;
    }
    *out_port = (uint16_t)port;
    return out_host->len > 0 && out_host->len < DISCOVER_NAME_BYTES;
}

bool discover_is_address(struct str text)
{
    struct str host;
    uint16_t port;
    return !str_has_control(text) && memchr(text.ptr, ' ', text.len) == NULL &&
           discover__split(text, &host, &port) && memchr(host.ptr, '/', host.len) == NULL;
}

void discover__add_url(struct discover_list *out, struct str url, struct str node_id)
{
    while (url.len > 0 && url.ptr[url.len - 1] == '/') {
        url.len--;
    }
    if (url.len == 0 || url.len >= DISCOVER_URL_BYTES || node_id.len >= DISCOVER_NAME_BYTES ||
        memchr(url.ptr, '\0', url.len) != NULL || str_has_control(url)) {
        return;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (str_eq(url, str_from_z(out->peers[i].url))) {
            return;
        }
    }
    if (out->count == DISCOVER_PEERS_MAX) {
        return;
    }
    struct discover_peer *p = &out->peers[out->count++];
    (void)snprintf(p->url, sizeof p->url, STR_FMT, STR_ARG(url));
    (void)snprintf(p->node_id, sizeof p->node_id, STR_FMT, STR_ARG(node_id));
}

static const char *scheme(const struct discover *d)
{
    return d->config.tls ? "https" : "http";
}

/* The URL of the API at a host and port. If the port is 0 or our own peer port, use our own API
 * port. False if the URL is too long. */
static bool url_at(const struct discover *d, struct str host, uint16_t port,
                   char out[static DISCOVER_URL_BYTES])
{
    bool v6 = memchr(host.ptr, ':', host.len) != NULL;
    if (port == 0 || port == d->config.peer_port) {
        port = d->config.api_port;
    }
    int n = snprintf(out, DISCOVER_URL_BYTES, "%s://%s" STR_FMT "%s:%u", scheme(d), v6 ? "[" : "",
                     STR_ARG(host), v6 ? "]" : "", (unsigned)port);
    return n > 0 && n < DISCOVER_URL_BYTES;
}

void discover__add_host(const struct discover *d, struct discover_list *out, struct str host,
                        uint16_t port, struct str node_id)
{
    char url[DISCOVER_URL_BYTES];
    if (url_at(d, host, port, url)) {
        discover__add_url(out, str_from_z(url), node_id);
    }
}

/* Add the configured nodes. URLs are used unchanged. */
static void add_given(const struct discover *d, struct discover_list *out)
{
    struct str list = d->config.peers;
    while (list.len > 0) {
        struct str item = str_trim(str_cut(&list, ','));
        struct str host;
        uint16_t port;
        if (str_starts_with(item, STR("http://")) || str_starts_with(item, STR("https://"))) {
            discover__add_url(out, item, STR_EMPTY);
        } else if (discover__split(item, &host, &port)) {
            discover__add_host(d, out, host, port, STR_EMPTY);
        } else if (item.len > 0) {
            log_warn("address of a node ignored", LOG_STR("address", item));
        }
    }
}

/* Discovery */

enum err_code discover_open(const struct discover_config *config, struct discover **out,
                            struct err *err)
{
    const struct discover_strategy *strategy = find_strategy(config->strategy);
    if (strategy == NULL) {
        return err_set(err, ERR_VALIDATION, "unsupported discover mode \"" STR_FMT "\"",
                       STR_ARG(config->strategy));
    }
    struct discover *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    d->config = *config;
    d->strategy = strategy;
    if (strategy->open != NULL && strategy->open(d, err) != ERR_OK) {
        free(d);
        return err_wrap(err, "discover %s", strategy->name);
    }
    *out = d;
    return ERR_OK;
}

void discover_close(struct discover *d)
{
    if (d == NULL) {
        return;
    }
    if (d->strategy->close != NULL) {
        d->strategy->close(d);
    }
    free(d);
}

static int by_url(const void *a, const void *b)
{
    return strcmp(((const struct discover_peer *)a)->url, ((const struct discover_peer *)b)->url);
}

static bool has(const struct discover_list *list, const char *url)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->peers[i].url, url) == 0) {
            return true;
        }
    }
    return false;
}

static void note_changes(struct discover *d, const struct discover_list *now)
{
    for (size_t i = 0; i < now->count; i++) {
        if (!has(&d->last, now->peers[i].url)) {
            (void)atomic_fetch_add(&d->meter.joined_total, 1);
            log_info("node discovered", LOG_Z("strategy", d->strategy->name),
                     LOG_Z("url", now->peers[i].url));
        }
    }
    for (size_t i = 0; i < d->last.count; i++) {
        if (!has(now, d->last.peers[i].url)) {
            (void)atomic_fetch_add(&d->meter.left_total, 1);
            log_info("node no longer discovered", LOG_Z("strategy", d->strategy->name),
                     LOG_Z("url", d->last.peers[i].url));
        }
    }
    d->last = *now;
    atomic_store(&d->meter.known, now->count);
}

enum err_code discover_find(struct discover *d, struct discover_list *out, struct err *err)
{
    out->count = 0;
    add_given(d, out);
    enum err_code code = d->strategy->find == NULL ? ERR_OK : d->strategy->find(d, out, err);
    qsort(out->peers, out->count, sizeof out->peers[0], by_url);
    (void)atomic_fetch_add(code == ERR_OK ? &d->meter.found_total : &d->meter.failed_total, 1);
    if (code == ERR_OK) {
        note_changes(d, out);
    }
    return code == ERR_OK ? ERR_OK : err_wrap(err, "discover %s", d->strategy->name);
}

/* Recognizing this node */

/* Is the host of the URL one of this machine's addresses, with our API's port? */
static bool is_local_address(const struct discover *d, const char *url)
{
    struct ifaddrs *found = NULL;
    bool same = false;
    if (getifaddrs(&found) != 0) {
        return false;
    }
    for (const struct ifaddrs *a = found; a != NULL && !same; a = a->ifa_next) {
        char host[INET6_ADDRSTRLEN];
        char own[DISCOVER_URL_BYTES];
        bool v6 = a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET6;
        socklen_t len = v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
        if (a->ifa_addr == NULL || (!v6 && a->ifa_addr->sa_family != AF_INET) ||
            getnameinfo(a->ifa_addr, len, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0) {
            continue;
        }
        same = url_at(d, str_from_z(host), 0, own) && strcmp(own, url) == 0;
    }
    freeifaddrs(found);
    return same;
}

bool discover_is_own(const struct discover *d, const struct discover_peer *peer)
{
    const struct discover_config *c = &d->config;
    struct str bind_host;
    uint16_t ignored;
    char own[DISCOVER_URL_BYTES];
    if (peer->node_id[0] != '\0') {
        return str_eq(str_from_z(peer->node_id), c->node_id);
    }
    if (str_eq(str_from_z(peer->url), c->http_url)) {
        return true;
    }
    if (d->strategy == &discover_static__strategy) {
        return false; /* the configured list would have our own URL verbatim */
    }
    bool any = !discover__split(c->bind, &bind_host, &ignored) ||
               str_eq(bind_host, STR("0.0.0.0")) || str_eq(bind_host, STR("::"));
    if (any) {
        return is_local_address(d, peer->url);
    }
    return url_at(d, bind_host, 0, own) && strcmp(own, peer->url) == 0;
}

bool discover_may_remove(const struct discover *d)
{
    return d->strategy->may_remove;
}

const struct discover_meter *discover_meter(const struct discover *d)
{
    return &d->meter;
}

const char *discover_name(const struct discover *d)
{
    return d->strategy->name;
}
