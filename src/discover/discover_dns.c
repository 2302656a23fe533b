/*
 * Dns: SRV records, and where there are none, the addresses of the name (scheduler.md 14.3, X-17).
 *
 * With a domain the query is for _name._tcp.domain, without one for the name itself. An optional
 * TXT record _node-id.<target> names the node.
 */
#include <stdio.h>

#include "discover/discover_int.h"
#include "discover/discover_resolve.h"

static enum err_code open_dns(struct discover *d, struct err *err)
{
    return d->config.name.len > 0 ? ERR_OK
                                  : err_set(err, ERR_VALIDATION, "discover-dns-name is missing");
}

/* Add one target: with TLS its name, which is in the certificate; otherwise its first address. */
static enum err_code add_target(struct discover *d, const struct discover_host *target,
                                struct discover_list *out, struct err *err)
{
    char name[DISCOVER_NAME_BYTES + 16];
    char node_id[DISCOVER_NAME_BYTES];
    d->found.count = 0;
    (void)snprintf(name, sizeof name, "_node-id.%s", target->host);
    if (!discover_resolve_txt(d->config.dns_server, name, STR("node-id"), node_id,
                              sizeof node_id)) {
        node_id[0] = '\0';
    }
    if (d->config.tls) {
        discover__add_host(d, out, str_from_z(target->host), target->port, str_from_z(node_id));
        return ERR_OK;
    }
    if (discover_resolve_addresses(d->config.dns_server, target->host, &d->found, err) != ERR_OK) {
        return err->code;
    }
    discover__add_host(d, out, str_from_z(d->found.hosts[0].host), target->port,
                       str_from_z(node_id));
    return ERR_OK;
}

enum err_code discover_dns__srv(struct discover *d, const char *name, struct discover_list *out,
                                struct err *err)
{
    struct discover_hosts *targets = &d->targets;
    targets->count = 0;
    enum err_code code = discover_resolve_srv(d->config.dns_server, name, targets, err);
    for (size_t i = 0; i < targets->count; i++) {
        struct err one;
        if (add_target(d, &targets->hosts[i], out, &one) != ERR_OK) {
            *err = one;
            code = ERR_IO; /* a target that cannot be resolved: the result is incomplete */
        }
    }
    return code;
}

enum err_code discover_dns__addresses(struct discover *d, const char *name,
                                      struct discover_list *out, struct err *err)
{
    struct discover_hosts *found = &d->found;
    found->count = 0;
    enum err_code code = discover_resolve_addresses(d->config.dns_server, name, found, err);
    for (size_t i = 0; i < found->count; i++) {
        discover__add_host(d, out, str_from_z(found->hosts[i].host), 0, STR_EMPTY);
    }
    return code;
}

static enum err_code find(struct discover *d, struct discover_list *out, struct err *err)
{
    char name[DISCOVER_NAME_BYTES];
    char service[DISCOVER_NAME_BYTES];
    (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(d->config.name));
    if (d->config.domain.len > 0) {
        (void)snprintf(service, sizeof service, "_" STR_FMT "._tcp." STR_FMT,
                       STR_ARG(d->config.name), STR_ARG(d->config.domain));
    } else {
        (void)snprintf(service, sizeof service, "%s", name);
    }
    size_t given = out->count;
    enum err_code code = discover_dns__srv(d, service, out, err);
    bool none = code == ERR_NOT_FOUND || (code == ERR_IO && d->config.dns_server.len == 0);
    return none && out->count == given ? discover_dns__addresses(d, name, out, err) : code;
}

const struct discover_strategy discover_dns__strategy = {
    .name = "dns", .may_remove = true, .open = open_dns, .find = find};
