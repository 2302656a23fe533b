/*
 * Kubernetes_dns: the addresses of a headless service.
 */
#include <stdio.h>

#include "discover/discover_int.h"

enum err_code discover_kubernetes_dns__open(struct discover *d, struct err *err)
{
    return d->config.name.len > 0
               ? ERR_OK
               : err_set(err, ERR_VALIDATION, "kubernetes-service-name is missing");
}

void discover_kubernetes_dns__name(const struct discover *d, char out[static DISCOVER_NAME_BYTES])
{
    char ns[DISCOVER_NAME_BYTES];
    const struct discover_config *c = &d->config;
    if (memchr(c->name.ptr, '.', c->name.len) != NULL) {
        (void)snprintf(out, DISCOVER_NAME_BYTES, STR_FMT, STR_ARG(c->name));
        return;
    }
    discover_account__namespace(d, ns);
    (void)snprintf(out, DISCOVER_NAME_BYTES, STR_FMT ".%.63s.svc." STR_FMT, STR_ARG(c->name), ns,
                   STR_ARG(c->domain.len > 0 ? c->domain : STR("cluster.local")));
}

static enum err_code find(struct discover *d, struct discover_list *out, struct err *err)
{
    char name[DISCOVER_NAME_BYTES];
    discover_kubernetes_dns__name(d, name);
    return discover_dns__addresses(d, name, out, err);
}

const struct discover_strategy discover_kubernetes_dns__strategy = {
    .name = "kubernetes_dns",
    .may_remove = true,
    .open = discover_kubernetes_dns__open,
    .find = find};
