/*
 * Kubernetes_dns_srv: the SRV records of a headless service, with the names and ports of its pods.
 */
#include "discover/discover_int.h"

static enum err_code find(struct discover *d, struct discover_list *out, struct err *err)
{
    char name[DISCOVER_NAME_BYTES];
    discover_kubernetes_dns__name(d, name);
    return discover_dns__srv(d, name, out, err);
}

const struct discover_strategy discover_kubernetes_dns_srv__strategy = {
    .name = "kubernetes_dns_srv",
    .may_remove = true,
    .open = discover_kubernetes_dns__open,
    .find = find};
