#include "server/settings_fallback.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "log/log.h"
#include "server/settings_address.h"

enum { LIST_BYTES_MAX = 8192 };

/* Each variable, with the setting that it sets. */
static const struct {
    const char *variable;
    const char *setting;
} variables[] = {
    {"NODE_ID", "node-id"},
    {"DATA_DIR", "data-dir"},
    {"LOG_LEVEL", "log-level"},
    {"JOB_EXECUTION_TIMEOUT", "execution-timeout"},
    {"JOB_INPROGRESS_TIMEOUT", "inprogress-timeout"},
    {"MAX_EXECUTION_ATTEMPTS", "max-attempts"},
    {"EXECUTION_HISTORY_RETENTION", "history-retention"},
    {"HEALTH_FAILURE_THRESHOLD", "health-failure-threshold"},
    {"HEALTH_OK_WORD", "health-ok-word"},
    {"QUEUE_MEMORY_LIMIT", "queue-memory-limit"},
    {"QUEUE_MEMORY_PERCENT", "queue-memory-percent"},
    {"QUEUE_JOB_LIMIT", "queue-job-limit"},
    {"SLOT_GAP", "slot-gap"},
    {"MAX_REQUEST_BODY_SIZE", "max-request-body-size"},
    {"AUTH_TOKEN", "auth-token"},
    {"HTTP_READ_TIMEOUT", "http-read-timeout"},
    {"HTTP_READ_HEADER_TIMEOUT", "http-read-header-timeout"},
    {"HTTP_WRITE_TIMEOUT", "http-write-timeout"},
    {"HTTP_IDLE_TIMEOUT", "http-idle-timeout"},
    {"WEBHOOK_BEARER_TOKEN", "webhook-bearer-token"},
    {"WORKER_MAX_CONCURRENCY", "push-max-calls"},
    {"RETRY_BACKOFF", "retry-backoff"},
    {"RETRY_BASE_DELAY", "retry-base-delay"},
    {"RETRY_MAX_DELAY", "retry-max-delay"},
    {"SHUTDOWN_DRAIN", "shutdown-drain"},
    {"LEAVE_ON_SHUTDOWN", "leave-on-shutdown"},
    {"OUTGOING_ALLOW", "outgoing-allow"},
    {"BOOTSTRAP_EXPECT", "bootstrap-expect"},
    {"KUBERNETES_NAMESPACE", "kubernetes-namespace"},
    {"KUBERNETES_SERVICE_NAME", "kubernetes-service-name"},
    {"HTTP_HOST", "http-host"},
    {"HTTP_PORT", "http-port"},
    {"RAFT_HOST", "raft-host"},
    {"RAFT_PORT", "raft-port"},
    {"RAFT_ADVERTISE_HOST", "raft-advertise-host"},
    {"STATIC_PEERS", "peers"},
    {"PEERS", "peers"},
    {"DISCOVERY_STRATEGY", "discovery-strategy"},
    {"DNS_DOMAIN", "discover-dns-domain"},
    {"GOSSIP_SEEDS", "gossip-seeds"},
    {"GOSSIP_SECRET", "gossip-secret"},
    /* accepted, without effect; they still get a warning */
    {"ENABLE_COLD_SPILLING", "enable-cold-spilling"},
    {"COLD_SPILLING_HOT_WINDOW", "cold-spilling-hot-window"},
    {"COLD_SPILLING_CHECK_INTERVAL", "cold-spilling-check-interval"},
    {"HTW_LEVEL0_GRANULARITY", "htw-level0-granularity"},
    {"HTW_LEVEL1_GRANULARITY", "htw-level1-granularity"},
    {"HTW_LEVEL2_GRANULARITY", "htw-level2-granularity"},
    {"HTW_LEVEL0_BUCKETS", "htw-level0-buckets"},
    {"HTW_LEVEL1_BUCKETS", "htw-level1-buckets"},
    {"HTW_LEVEL2_BUCKETS", "htw-level2-buckets"},
    {"RAFT_APPLY_TIMEOUT", "apply-timeout"},
    {"RAFT_TRANSPORT_TIMEOUT", "apply-timeout"},
};

/* Variables that enable a missing feature, unless they have this value. The other variables of such
 * manifests (scheduler.md 15) have no effect in Scheduled-DB either. */
static const struct {
    const char *variable;
    const char *quiet;
    const char *why;
} absent[] = {
    {"SPLIT_BRAIN_EXIT", "false", "a minority refuses writes and keeps running"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT", "disabled", "metrics are read at /metrics"},
};

static struct str value_of(char **environment, const char *name)
{
    struct str wanted = str_from_z(name);
    for (char **e = environment; *e != NULL; e++) {
        struct str pair = str_from_z(*e);
        if (str_starts_with(pair, wanted) && pair.len > wanted.len && pair.ptr[wanted.len] == '=') {
            return str_trim(str_from_offset(pair, wanted.len + 1));
        }
    }
    return STR_EMPTY;
}

static void take(const char *variable, const char *setting, struct str value, struct settings *out)
{
    struct err err;
    if (value.len > 0 && settings_set(setting, value, out, &err) != ERR_OK) {
        log_warn("variable ignored", LOG_Z("variable", variable), LOG_Z("error", err.msg));
    }
}

/* Combine a host and a port into one address; a missing part is taken from the known address. */
static struct str address_of(struct str host, int64_t port, struct str known, struct arena *arena)
{
    struct buf b;
    struct str known_port = settings_address_port(known);
    const char *colon = known.len == 0 ? NULL : memrchr(known.ptr, ':', known.len);
    host = host.len > 0 || colon == NULL ? host : str_from(known.ptr, (size_t)(colon - known.ptr));
    buf_init(&b, LIST_BYTES_MAX);
    buf_add_str(&b, host);
    buf_add_char(&b, ':');
    if (port >= 0) {
        buf_printf(&b, "%" PRIi64, port);
    } else {
        buf_add_str(&b, known_port);
    }
    struct str address = arena_str(arena, buf_str(&b));
    buf_deinit(&b);
    return address;
}

/* The address of a host and a port variable; empty if neither is set. A missing part is taken from
 * known; if known is empty, the port must be set. */
static struct str given_address(char **environment, const char *host_name, const char *port_name,
                                struct str known, struct arena *arena)
{
    struct str host = value_of(environment, host_name);
    struct str text = value_of(environment, port_name);
    int64_t port = -1;
    if (text.len > 0 && (!str_to_i64(text, &port) || port < 0 || port > UINT16_MAX)) {
        log_warn("variable ignored", LOG_Z("variable", port_name),
                 LOG_Z("error", "expected 0 to 65535"));
        port = -1;
    }
    bool given = port >= 0 || (host.len > 0 && known.len > 0);
    return given ? address_of(host, port, known, arena) : STR_EMPTY;
}

/* Most strategies have the same name here; these differ. */
static struct str strategy_of(struct str name)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"none", ""}, {"dns_srv", "kubernetes_dns_srv"}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_eq(name, str_from_z(names[i].theirs))) {
            return str_from_z(names[i].ours);
        }
    }
    return name; /* the check of discover refuses an unknown name */
}

/* CLUSTER_NODE_1 to 10 are "raft_host:port,http_host:port" and give the API address of a peer. */
static struct str http_of(char **environment, struct str peer)
{
    enum { NODES = 10 };
    for (unsigned i = 1; i <= NODES; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "CLUSTER_NODE_%u", i);
        struct str http = value_of(environment, name);
        struct str raft = str_trim(str_cut(&http, ','));
        if (raft.len > 0 && str_eq(raft, peer) && str_trim(http).len > 0) {
            return str_trim(http);
        }
    }
    return peer;
}

/* Scheduled-DB lists peers by their Raft address; join needs the address of the API
 * (discover.h). */
static struct str join_of(char **environment, struct str list, struct arena *arena)
{
    struct buf b;
    buf_init(&b, LIST_BYTES_MAX);
    while (list.len > 0) {
        struct str peer = str_trim(str_cut(&list, ','));
        if (peer.len > 0) {
            buf_printf(&b, "%s" STR_FMT, b.len > 0 ? "," : "", STR_ARG(http_of(environment, peer)));
        }
    }
    struct str join = arena_str(arena, buf_str(&b));
    buf_deinit(&b);
    return join;
}

/* Read what Kubernetes or the manifest tells every pod. */
static void take_pod(char **environment, struct settings *out)
{
    out->pod = value_of(environment, "POD_NAME");
    out->pod = out->pod.len > 0 ? out->pod : value_of(environment, "HOSTNAME");
    out->pod_ip = value_of(environment, "POD_IP");
    out->pod_namespace = value_of(environment, "POD_NAMESPACE");
    out->pod_namespace =
        out->pod_namespace.len > 0 ? out->pod_namespace : value_of(environment, "NAMESPACE");
    out->kubernetes_host = value_of(environment, "KUBERNETES_SERVICE_HOST");
    out->kubernetes_port = value_of(environment, "KUBERNETES_SERVICE_PORT");
}

void settings_fallback_read(char **environment, struct arena *arena, struct settings *out)
{
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        take(variables[i].variable, variables[i].setting,
             value_of(environment, variables[i].variable), out);
    }
    for (size_t i = 0; i < COUNT_OF(absent); i++) {
        struct str value = value_of(environment, absent[i].variable);
        if (value.len > 0 && !str_eq_nocase(value, str_from_z(absent[i].quiet))) {
            log_warn("variable without effect", LOG_Z("variable", absent[i].variable),
                     LOG_Z("meaning", absent[i].why));
        }
    }
    take_pod(environment, out);
    take("METRICS_PORT", "metrics-bind",
         given_address(environment, "HTTP_HOST", "METRICS_PORT", STR_EMPTY, arena), out);
    take("GOSSIP_PORT", "gossip-bind",
         given_address(environment, "GOSSIP_BIND_ADDR", "GOSSIP_PORT", out->gossip_bind, arena),
         out);
    settings_fallback_merge(environment, arena, out);
    bool pods = str_starts_with(out->discover, STR("kubernetes"));
    if (pods && out->discover_domain.len == 0) {
        out->discover_domain = value_of(environment, "CLUSTER_DOMAIN");
    }
    if (str_eq(out->discover, STR("kubernetes")) && out->pod_ip.len > 0) {
        out->advertise_host = out->pod_ip; /* each pod advertises its own address */
    }
}

void settings_fallback_merge(char **environment, struct arena *arena, struct settings *out)
{
    const struct settings_parts p = out->parts;
    out->parts = (struct settings_parts){.http_port = -1, .raft_port = -1};
    if (p.http_host.len > 0 || p.http_port >= 0) {
        out->bind = address_of(p.http_host, p.http_port, out->bind, arena);
    }
    if (p.raft_host.len > 0 || p.raft_port >= 0) {
        out->raft_bind = address_of(p.raft_host, p.raft_port, out->raft_bind, arena);
        out->raft_bind_given = true;
    }
    if (p.peers.len > 0) {
        out->join = join_of(environment, p.peers, arena);
    }
    if (p.strategy.len > 0) {
        out->discover = strategy_of(p.strategy);
    }
    if (out->discover_name.len == 0 &&
        (str_eq(out->discover, STR("dns")) || str_eq(out->discover, STR("gossip")))) {
        out->discover_name = out->kubernetes_service;
    }
}
