#include "server/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/build.h"
#include "base/check.h"
#include "core/duration.h"
#include "discover/discover.h"
#include "log/log.h"
#include "os/os_file.h"
#include "server/settings_fallback.h"

enum kind { KIND_TEXT, KIND_BOOL, KIND_NUMBER, KIND_REAL, KIND_DURATION };

enum { MEMORY_LIMIT_MIN = 32 << 20 }; /* twice the largest body */
enum { DATA_DIR_BYTES_MAX = 512 };    /* the longest path below it fits OS_FILE_PATH_MAX */
enum { CONFIG_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 64 };
enum { SECRET_BYTES_MIN = 16 };

static const struct settings defaults = {
    .bind = {":8080", 5},
    .data_dir = {"data", 4},
    .raft_bind = {":9000", 5},
    .node_id = {"node-1", 6},
    .durable = true,
    .raft_store = {"segment", 7},
    .raft_max_pending = 16384,
    .snapshot_log_bytes = 256LL << 20,
    .segment_bytes = 64LL << 20,
    .free_space_min = 512LL << 20,
    .shutdown_timeout_ms = 500,
    .stream_max_inflight = 2048,
    .stream_max_open = 4096,
    .stream_max_fps = 500,
    .idle_fetch_sleep_ms = 100,
    .retention_ms = 168LL * 3600 * 1000,
    .audit_retention_ms = 2160LL * 3600 * 1000,
    .retention_interval_ms = 3600LL * 1000,
    .max_clock_jump_ms = 3600LL * 1000,
    .max_payload_size = 262144,
    .max_body_size = 16LL << 20,
    .rate_limit_enabled = true,
    .rate_limit_read_rps = 2000,
    .rate_limit_read_burst = 4000,
    .rate_limit_write_rps = 1000,
    .rate_limit_write_burst = 2000,
    .docs_enabled = true,
    .lifecycle_events = true,
    .scheduler_enabled = true,
    .push_max_calls = 2048,
    .push_max_host_calls = 256,
    .execution_timeout_ms = 300000,
    .inprogress_timeout_ms = 300000,
    .max_attempts = 3,
    .history_retention_ms = 720LL * 3600 * 1000,
    .health_failure_threshold = 0.1,
    .health_ok_word = {"healthy", 7},
    .queue_memory_percent = 50,
    .queue_job_limit = 100000,
    .max_request_body_size = 10 << 20,
    .scheduler_backoff = {"exponential", 11},
    .scheduler_retry_base_ms = 5000,
    .scheduler_retry_max_ms = 600000,
    .slot_gap_ms = 10000,
    .shutdown_drain_ms = 10000,
    .raft_shards = 1,
    .bootstrap = true,
    .join_timeout_ms = 300000,
    .gossip_bind = {":7946", 5},
    .sqlite_mirror_async = true,
    .no_compression = true,
    .view_readers = 4,
    .view_wait_ms = 2000,
    .view_timeout_ms = 5000,
    .election_timeout_ms = 1000,
    .heartbeat_interval_ms = 100,
    .peer_transfer_rate = 64LL << 20,
    .http_read_timeout_ms = 30000,
    .http_header_timeout_ms = 10000,
    .http_write_timeout_ms = 30000,
    .http_idle_timeout_ms = 180000,
    .log_level = {"info", 4},
    .log_format = {"auto", 4},
    .parts = {.http_port = -1, .raft_port = -1},
};

/* clang-format off */
static const struct setting {
    const char *name;
    enum kind kind;
    size_t offset;
    double min, max;     /* of numbers, and milliseconds of durations */
    const char *words;   /* of texts: the only ones allowed, with a blank between; NULL: any */
    const char *shown;   /* the default, for people */
    const char *help;
} settings[] = {
#define AT(member) offsetof(struct settings, member)
    {"bind",                   KIND_TEXT,     AT(bind),                   0, 0,       NULL, ":8080",          "address of the API, docs, metrics and health"},
    {"data-dir",               KIND_TEXT,     AT(data_dir),               0, 0,       NULL, "data",           "directory for all data of this node"},
    {"node-id",                KIND_TEXT,     AT(node_id),                0, 0,       NULL, "node-1",         "name of this node"},
    {"raft-advertise",         KIND_TEXT,     AT(raft_advertise),         0, 0,       NULL, "",               "address that peers use to reach this node; by default raft-bind, with 127.0.0.1 instead of a wildcard"},
    {"durable",                KIND_BOOL,     AT(durable),                0, 0,       NULL, "true",           "flush the log to disk before a write is acknowledged"},
    {"raft-store",             KIND_TEXT,     AT(raft_store),             0, 0,       "segment bolt badger pebble", "segment", "log store; other names are accepted and mean the same"},
    {"raft-max-pending",       KIND_NUMBER,   AT(raft_max_pending),       -1e9, 1e9,  NULL, "16384",          "maximum number of writes in progress; further writes get 429; 0 or less uses the default"},
    {"snapshot-log-bytes",     KIND_NUMBER,   AT(snapshot_log_bytes),     1 << 16, 1e15, NULL, "268435456",   "log growth in bytes that triggers a snapshot"},
    {"segment-bytes",          KIND_NUMBER,   AT(segment_bytes),          1 << 16, 1e12, NULL, "67108864",    "size of a log segment in bytes"},
    {"free-space-min",         KIND_NUMBER,   AT(free_space_min),         0, 1e18,    NULL, "536870912",      "minimum free disk space in bytes; below it new jobs are refused; a quarter of it, at most 128 MiB, is kept as a reserve"},
    {"shutdown-timeout",       KIND_DURATION, AT(shutdown_timeout_ms),    0, 1e9,     NULL, "500ms",          "how long to wait for open requests on shutdown"},
    {"retention",              KIND_DURATION, AT(retention_ms),           0, 1e15,    NULL, "168h",           "how long to keep finished jobs; 0 keeps them forever"},
    {"retention-interval",     KIND_DURATION, AT(retention_interval_ms),  1000, 1e12, NULL, "1h",             "interval between removals of old jobs"},
    {"max-clock-jump",         KIND_DURATION, AT(max_clock_jump_ms),      0, 1e12,    NULL, "1h",             "ignore a system clock that jumps ahead by more than this until it has been stable for as long; 0 accepts every jump"},
    {"max-payload-size",       KIND_NUMBER,   AT(max_payload_size),       0, 16 << 20, NULL, "262144",        "maximum size of a job payload in bytes; 0 for no separate limit"},
    {"max-body-size",          KIND_NUMBER,   AT(max_body_size),          1024, 16 << 20, NULL, "16777216",   "maximum size of a request body in bytes"},
    {"memory-limit",           KIND_NUMBER,   AT(memory_limit),           0, 1e15,    NULL, "0",              "memory limit in bytes for requests, responses and streams together; 0 uses a quarter of the cgroup's or machine's memory"},
    {"rate-limit-enabled",     KIND_BOOL,     AT(rate_limit_enabled),     0, 0,       NULL, "true",           "limit requests per client"},
    {"rate-limit-loopback",    KIND_BOOL,     AT(rate_limit_loopback),    0, 0,       NULL, "false",          "also limit callers on the loopback address that send no credential and no X-Forwarded-For header"},
    {"rate-limit-read-rps",    KIND_REAL,     AT(rate_limit_read_rps),    -1e9, 1e9,  NULL, "2000",           "reads per second per client; 0 or less uses the default"},
    {"rate-limit-read-burst",  KIND_REAL,     AT(rate_limit_read_burst),  -1e9, 1e9,  NULL, "4000",           "burst of reads per client; 0 or less uses the default"},
    {"rate-limit-write-rps",   KIND_REAL,     AT(rate_limit_write_rps),   -1e9, 1e9,  NULL, "1000",           "writes per second per client; 0 or less uses the default"},
    {"rate-limit-write-burst", KIND_REAL,     AT(rate_limit_write_burst), -1e9, 1e9,  NULL, "2000",           "burst of writes per client; 0 or less uses the default"},
    {"admin-password",         KIND_TEXT,     AT(admin_password),         0, 0,       NULL, "",               "password with full access"},
    {"open-access",            KIND_BOOL,     AT(open_access),            0, 0,       NULL, "false",          "serve clients on other machines even if no password and no keys are set"},
    {"audit-retention",        KIND_DURATION, AT(audit_retention_ms),     0, 1e13,    NULL, "2160h",          "how long to keep audit log entries, at most 100,000; 0 limits the number only"},
    {"features",               KIND_TEXT,     AT(features),               0, 0,       NULL, "",               "enabled enterprise features, comma-separated: audit, rbac, namespaces, sso; empty enables all"},
    {"docs-enabled",           KIND_BOOL,     AT(docs_enabled),           0, 0,       NULL, "true",           "serve /docs and /openapi.json"},
    {"lifecycle-events",       KIND_BOOL,     AT(lifecycle_events),       0, 0,       NULL, "true",           "keep the event log"},
    {"webhook-deny",           KIND_TEXT,     AT(webhook_deny),           0, 0,       NULL, "",               "networks that webhooks may not call, in addition to link-local, multicast and reserved networks"},
    {"webhook-allow",          KIND_TEXT,     AT(webhook_allow),          0, 0,       NULL, "",               "networks that webhooks may call even if they would be refused"},
    {"outgoing-allow",         KIND_TEXT,     AT(outgoing_allow),         0, 0,       NULL, "",               "networks that webhooks and deliveries may call even if they would be refused, such as private networks outside the default namespace"},
    {"push-max-calls",         KIND_NUMBER,   AT(push_max_calls),         1, 65536,   NULL, "2048",           "maximum number of concurrent deliveries"},
    {"push-max-host-calls",    KIND_NUMBER,   AT(push_max_host_calls),    1, 65536,   NULL, "256",            "maximum number of concurrent deliveries to one host"},
    {"inprogress-timeout",     KIND_DURATION, AT(inprogress_timeout_ms),  1000, 1e12, NULL, "5m",             "how long a delivery may run before it counts as lost"},
    {"shutdown-drain",         KIND_DURATION, AT(shutdown_drain_ms),      0, 1e9,     NULL, "10s",            "how long to wait for running deliveries on shutdown"},
    {"scheduler-enabled",      KIND_BOOL,     AT(scheduler_enabled),      0, 0,       NULL, "true",           "serve the Scheduled-DB API (/jobs, /health and others)"},
    {"scheduler-bind",         KIND_TEXT,     AT(scheduler_bind),         0, 0,       NULL, "",               "additional address for the API"},
    {"metrics-bind",           KIND_TEXT,     AT(metrics_bind),           0, 0,       NULL, "",               "additional address for the API, for metrics scrapers"},
    {"execution-timeout",      KIND_DURATION, AT(execution_timeout_ms),   1, 86400000, NULL, "5m",            "scheduler: timeout of one call"},
    {"max-attempts",           KIND_NUMBER,   AT(max_attempts),           1, 1e6,     NULL, "3",              "scheduler: maximum number of calls per run"},
    {"history-retention",      KIND_DURATION, AT(history_retention_ms),   0, 1e15,    NULL, "720h",           "scheduler: how long to keep finished jobs and attempts; 0 keeps them forever"},
    {"queue-memory-limit",     KIND_TEXT,     AT(queue_memory_limit),     0, 0,       NULL, "",               "scheduler: memory limit for waiting jobs, for example 2GB or 500MB; by default queue-memory-percent applies"},
    {"queue-memory-percent",   KIND_NUMBER,   AT(queue_memory_percent),   -1e9, 1e9,  NULL, "50",             "scheduler: memory limit for waiting jobs in percent of the cgroup's or machine's memory; values outside 1 to 100 mean 50"},
    {"queue-job-limit",        KIND_NUMBER,   AT(queue_job_limit),        -1e9, 1e12, NULL, "100000",         "scheduler: maximum number of unfinished jobs; 0 or less uses the default"},
    {"max-request-body-size",  KIND_NUMBER,   AT(max_request_body_size),  -1e9, 16 << 20, NULL, "10485760",   "scheduler: maximum size of a request body in bytes; 0 or less uses max-body-size"},
    {"retry-backoff",          KIND_TEXT,     AT(scheduler_backoff),      0, 0,       "none fixed linear exponential", "exponential", "scheduler: how the delay grows between attempts"},
    {"retry-base-delay",       KIND_DURATION, AT(scheduler_retry_base_ms), 0, 1e12,   NULL, "5s",             "scheduler: delay before the second attempt"},
    {"retry-max-delay",        KIND_DURATION, AT(scheduler_retry_max_ms), 0, 1e12,    NULL, "10m",            "scheduler: maximum delay between attempts"},
    {"slot-gap",               KIND_DURATION, AT(slot_gap_ms),            1000, 1e12, NULL, "10s",            "scheduler: slot length reported in the metrics; has no effect on timing"},
    {"health-failure-threshold", KIND_REAL,   AT(health_failure_threshold), 0, 1,     NULL, "0.1",            "scheduler: share of failed runs above which /health reports degraded"},
    {"health-ok-word",         KIND_TEXT,     AT(health_ok_word),         0, 0,       NULL, "healthy",        "scheduler: status word that /health reports when healthy"},
    {"auth-token",             KIND_TEXT,     AT(auth_token),             0, 0,       NULL, "",               "scheduler: token for /join; by default the server's credentials"},
    {"webhook-bearer-token",   KIND_TEXT,     AT(webhook_bearer_token),   0, 0,       NULL, "",               "scheduler: bearer token sent with calls of jobs that have no credentials"},
    {"sqlite-mirror-async",    KIND_BOOL,     AT(sqlite_mirror_async),    0, 0,       NULL, "true",           "collect changes for a tenth of a second before updating the search index"},
    {"view-readers",           KIND_NUMBER,   AT(view_readers),           1, 64,      NULL, "4",              "number of search threads; at most half of them run text searches and a quarter jq filters"},
    {"view-wait",              KIND_DURATION, AT(view_wait_ms),           0, 1e9,     NULL, "2s",             "how long a search waits for the search index to catch up; then it returns older results"},
    {"view-timeout",           KIND_DURATION, AT(view_timeout_ms),        1, 1e9,     NULL, "5s",             "timeout of a search"},
    {"rpc-bind",               KIND_TEXT,     AT(rpc_bind),               0, 0,       NULL, "",               "address for the binary worker protocol, for example :7438; off by default"},
    {"tls-cert",               KIND_TEXT,     AT(tls_cert),               0, 0,       NULL, "",               "PEM file with the certificate chain; serves HTTPS"},
    {"tls-key",                KIND_TEXT,     AT(tls_key),                0, 0,       NULL, "",               "PEM file with the private key; SIGHUP reloads both"},
    {"http-threads",           KIND_NUMBER,   AT(http_threads),           0, 64,      NULL, "0",              "number of network threads; 0 chooses by the number of processors"},
    {"http-read-timeout",      KIND_DURATION, AT(http_read_timeout_ms),   100, 1e9,   NULL, "30s",            "time after which a request body must arrive at 1 KiB per second or faster"},
    {"http-read-header-timeout", KIND_DURATION, AT(http_header_timeout_ms), 100, 1e9, NULL, "10s",            "timeout of request headers and of TLS handshakes"},
    {"http-write-timeout",     KIND_DURATION, AT(http_write_timeout_ms),  100, 1e9,   NULL, "30s",            "close a connection whose client reads nothing of a response for this long"},
    {"http-idle-timeout",      KIND_DURATION, AT(http_idle_timeout_ms),   100, 1e9,   NULL, "3m",             "how long to keep an idle connection open"},
    {"log-level",              KIND_TEXT,     AT(log_level),              0, 0,       NULL, "info",        "lowest level to log: debug, info, warn, error; anything else means info"},
    {"log-format",             KIND_TEXT,     AT(log_format),             0, 0,       "auto text json", "auto", "log format; auto writes text on a terminal and JSON otherwise"},
    {"config",                 KIND_TEXT,     AT(config),                 0, 0,       NULL, "",               "configuration file with lines of name = value"},
    /* Tuning of other servers of this API. Nothing here polls or waits for a window, so there is nothing to tune. */
    {"apply-multi-mode",        KIND_TEXT,     AT(ignored),                0, 0,       NULL, "grouped",        "accepted, without effect"},
    {"apply-timeout",           KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "10s",            "accepted, without effect"},
    {"apply-batch-max",         KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "1024",           "accepted, without effect"},
    {"apply-batch-window",      KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "8ms",            "accepted, without effect"},
    {"apply-batch-min-wait",    KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "100us",          "accepted, without effect"},
    {"apply-batch-extend-at",   KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "64",             "accepted, without effect"},
    {"apply-sub-batch-max",     KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "1024",           "accepted, without effect"},
    {"fetch-poll-interval",     KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "100ms",          "accepted, without effect"},
    {"idle-fetch-sleep",        KIND_DURATION, AT(idle_fetch_sleep_ms),    0, 60000,   NULL, "100ms",          "how long a fetch on an RPC stream waits for a job"},
    {"no-compression",          KIND_BOOL,     AT(no_compression),         0, 0,       NULL, "true",           "do not compress RPC messages; if false, gzip for clients that ask for it"},
    {"raft-max-fetch-inflight", KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "64",             "accepted, without effect"},
    /* The cluster. */
    {"raft-bind",               KIND_TEXT,     AT(raft_bind),              0, 0,       NULL, ":9000",          "address for other nodes; opened only if this or another cluster setting is given"},
    {"cluster-secret",          KIND_TEXT,     AT(cluster_secret),         0, 0,       NULL, "",               "shared secret of all cluster nodes, at least 16 characters; without it and without peer-tls-cert the peer port listens on loopback only"},
    {"peer-tls-cert",           KIND_TEXT,     AT(peer_tls_cert),          0, 0,       NULL, "",               "PEM file with this node's certificate for other nodes"},
    {"peer-tls-key",            KIND_TEXT,     AT(peer_tls_key),           0, 0,       NULL, "",               "PEM file with its private key; SIGHUP reloads all three files"},
    {"peer-tls-ca",             KIND_TEXT,     AT(peer_tls_ca),            0, 0,       NULL, "",               "CA bundle (PEM) that signs node certificates and nothing else"},
    {"bootstrap",               KIND_BOOL,     AT(bootstrap),              0, 0,       NULL, "true",           "start a new cluster if there is none on disk; false by default if join is given"},
    {"join",                    KIND_TEXT,     AT(join),                   0, 0,       NULL, "",               "comma-separated HTTP addresses of members; joins their cluster if there is none on disk"},
    {"bootstrap-expect",        KIND_NUMBER,   AT(bootstrap_expect),       0, 99,      NULL, "0",              "number of nodes that start a cluster together; list them in join or find them with discover"},
    {"non-voter",               KIND_BOOL,     AT(non_voter),              0, 0,       NULL, "false",          "receive all data, but do not vote"},
    {"discover",                 KIND_TEXT,     AT(discover),               0, 0,       NULL, "",               "how to find the other nodes: static, dns, kubernetes, kubernetes_dns, kubernetes_dns_srv or gossip; if empty, only join is used"},
    {"discover-dns-name",        KIND_TEXT,     AT(discover_name),          0, 0,       NULL, "",               "DNS name to look up: its SRV records, or else its addresses with the port of bind"},
    {"discover-dns-domain",      KIND_TEXT,     AT(discover_domain),        0, 0,       NULL, "",               "domain of discover-dns-name; with it, dns looks up _name._tcp.domain; for Kubernetes cluster.local by default"},
    {"discover-dns-server",      KIND_TEXT,     AT(discover_server),        0, 0,       NULL, "",               "IPv4 address, with or without a port, of the DNS server; by default that of the machine"},
    {"discover-remove-after",    KIND_DURATION, AT(discover_remove_ms),     0, 1e12,    NULL, "0",              "remove a member after it was neither discovered nor reachable for this long, if a majority of the others is alive; 0 never removes; a removed node can rejoin only with an empty data directory"},
    {"join-timeout",             KIND_DURATION, AT(join_timeout_ms),        1, 1e12,    NULL, "5m",             "how long a node tries to join, or waits for the nodes of bootstrap-expect, before it exits with an error"},
    {"kubernetes-service-name",  KIND_TEXT,     AT(kubernetes_service),     0, 0,       NULL, "",               "name of the service; the pods of the nodes have the label app with this value"},
    {"kubernetes-namespace",     KIND_TEXT,     AT(kubernetes_namespace),   0, 0,       NULL, "",               "namespace of the pods; by default that of this pod"},
    {"kubernetes-api",           KIND_TEXT,     AT(kubernetes_api),         0, 0,       NULL, "",               "URL of the Kubernetes API server; by default from the environment of the pod"},
    {"kubernetes-account-dir",   KIND_TEXT,     AT(kubernetes_account),     0, 0,       NULL, "",               "directory with token, ca.crt and namespace of the service account; by default where Kubernetes mounts it"},
    {"gossip-bind",              KIND_TEXT,     AT(gossip_bind),            0, 0,       NULL, ":7946",          "UDP address for gossip discovery"},
    {"gossip-seeds",             KIND_TEXT,     AT(gossip_seeds),           0, 0,       NULL, "",               "comma-separated addresses of the first nodes to contact; by default those of discover-dns-name"},
    {"gossip-secret",            KIND_TEXT,     AT(gossip_secret),          0, 0,       NULL, "",               "secret that authenticates gossip messages, at least 16 characters; by default cluster-secret"},
    {"leave-on-shutdown",       KIND_BOOL,     AT(leave_on_shutdown),      0, 0,       NULL, "false",          "a leader that shuts down leaves the cluster and joins it again on its next start; requires join or discover; if false, it transfers leadership and stays a member"},
    {"election-timeout",        KIND_DURATION, AT(election_timeout_ms),    50, 60000,  NULL, "1s",             "time without contact to the leader before a new leader is elected"},
    {"heartbeat-interval",      KIND_DURATION, AT(heartbeat_interval_ms),  5, 10000,   NULL, "100ms",          "interval between messages of the leader"},
    {"peer-transfer-rate",      KIND_NUMBER,   AT(peer_transfer_rate),     0, 1e12,    NULL, "67108864",       "maximum bytes per second for a checkpoint sent to another node; 0 for no limit"},
    {"raft-shards",             KIND_NUMBER,   AT(raft_shards),            -1e9, 1e9,     NULL, "1",              "number of shards; only 1 is supported"},
    {"stream-max-inflight",     KIND_NUMBER,   AT(stream_max_inflight),    -1e9, 1e9,  NULL, "2048",           "maximum number of RPC stream frames processed at once; 0 or less means 2048"},
    {"stream-max-open",         KIND_NUMBER,   AT(stream_max_open),        0, 1e9,     NULL, "4096",           "maximum number of open RPC streams; 0 for no limit"},
    {"stream-max-fps",          KIND_NUMBER,   AT(stream_max_fps),         -1e9, 1e9,  NULL, "500",            "maximum frames per second on one RPC stream; 0 for no limit, negative means 500"},
    {"http-advertise",         KIND_TEXT,     AT(http_advertise),         0, 0,       NULL, "",               "URL that peers and clients use to reach the API; by default derived from bind"},
    {"otel-enabled",           KIND_BOOL,     AT(otel_enabled),           0, 0,       NULL, "false",          "send traces (not supported)"},
    {"otel-endpoint",          KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "accepted, without effect"},
    {"oidc-issuer-url",        KIND_TEXT,     AT(oidc_issuer_url),        0, 0,       NULL, "",               "issuer URL of the OpenID Connect provider whose tokens are accepted; settings stored in the cluster take precedence"},
    {"oidc-client-id",         KIND_TEXT,     AT(oidc_client_id),         0, 0,       NULL, "",               "client id of this server at the provider; tokens must have it as their audience"},
    {"saml-header-auth",       KIND_BOOL,     AT(saml_header_auth),       0, 0,       NULL, "false",          "accept X-Corvo-SAML headers from trusted-proxies; settings stored in the cluster take precedence"},
    {"trusted-proxies",        KIND_TEXT,     AT(trusted_proxies),        0, 0,       NULL, "",               "networks of trusted proxies: their X-Corvo-SAML headers sign users in, and their X-Forwarded-For header names the client for rate limits; the headers are ignored from all other addresses"},
    /* Flags of Scheduled-DB for what we call otherwise, and for what is not there. */
    {"http-host",               KIND_TEXT,     AT(parts.http_host),        0, 0,       NULL, "",               "Scheduled-DB: host part of bind"},
    {"http-port",               KIND_NUMBER,   AT(parts.http_port),        0, 65535,   NULL, "",               "Scheduled-DB: port part of bind"},
    {"raft-host",               KIND_TEXT,     AT(parts.raft_host),        0, 0,       NULL, "",               "Scheduled-DB: host part of raft-bind"},
    {"raft-port",               KIND_NUMBER,   AT(parts.raft_port),        0, 65535,   NULL, "",               "Scheduled-DB: port part of raft-bind"},
    {"raft-advertise-host",     KIND_TEXT,     AT(advertise_host),         0, 0,       NULL, "",               "host of raft-advertise and http-advertise where these are not given"},
    {"peers",                   KIND_TEXT,     AT(parts.peers),            0, 0,       NULL, "",               "Scheduled-DB: like join, but with peer addresses; the variables CLUSTER_NODE_1 to CLUSTER_NODE_10 map them to HTTP addresses"},
    {"discovery-strategy",      KIND_TEXT,     AT(parts.strategy),         0, 0,       NULL, "",               "Scheduled-DB: like discover; also accepts none and dns_srv"},
    {"enable-cold-spilling",    KIND_BOOL,     AT(ignored_bool),           0, 0,       NULL, "false",          "accepted, without effect: jobs are on disk"},
    {"cold-spilling-hot-window", KIND_DURATION, AT(ignored_number),        0, 1e15,    NULL, "48h",            "accepted, without effect"},
    {"cold-spilling-check-interval", KIND_DURATION, AT(ignored_number),    0, 1e15,    NULL, "5m",             "accepted, without effect"},
    {"htw-level0-granularity",    KIND_DURATION, AT(ignored_number),         0, 1e15,    NULL, "0",              "accepted, without effect"},
    {"htw-level0-buckets",       KIND_NUMBER,   AT(ignored_number),         0, 1e9,     NULL, "360",            "accepted, without effect"},
    {"htw-level1-granularity",    KIND_DURATION, AT(ignored_number),         0, 1e15,    NULL, "0",              "accepted, without effect"},
    {"htw-level1-buckets",       KIND_NUMBER,   AT(ignored_number),         0, 1e9,     NULL, "24",            "accepted, without effect"},
    {"htw-level2-granularity",    KIND_DURATION, AT(ignored_number),         0, 1e15,    NULL, "0",              "accepted, without effect"},
    {"htw-level2-buckets",       KIND_NUMBER,   AT(ignored_number),         0, 1e9,     NULL, "365",            "accepted, without effect"},
    {"license-key",             KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "accepted, without effect: all features are free"},
    {"license-public-key",      KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "accepted, without effect"},
    {"snapshot-threshold",      KIND_NUMBER,   AT(ignored_number),         0, 1e15,    NULL, "0",              "accepted, without effect: see snapshot-log-bytes"},
#undef AT
};
/* clang-format on */

static const struct setting *find(struct str name);
static enum err_code set(const struct setting *s, struct str value, struct settings *out,
                         struct err *err);

enum err_code settings_set(const char *name, struct str value, struct settings *out,
                           struct err *err)
{
    const struct setting *s = find(str_from_z(name));
    CHECK(s != NULL);
    return set(s, value, out, err);
}

static const struct setting *find(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        if (str_eq(str_from_z(settings[i].name), name)) {
            return &settings[i];
        }
    }
    return NULL;
}

/* Values */

static enum err_code wrong(const struct setting *s, struct str value, const char *expected,
                           struct err *err)
{
    return err_set(err, ERR_VALIDATION, "setting %s: expected %s, got '" STR_FMT "'", s->name,
                   expected, STR_ARG(value));
}

static bool is_word(const char *words, struct str value)
{
    struct str left = str_from_z(words);
    while (left.len > 0) {
        size_t len = 0;
        while (len < left.len && left.ptr[len] != ' ') {
            len++;
        }
        if (str_eq(str_from(left.ptr, len), value)) {
            return true;
        }
        left = str_from_offset(left, len < left.len ? len + 1 : len);
    }
    return false;
}

static bool parse_bool(struct str v, bool *out)
{
    static const char *const words[] = {"true", "t", "1", "yes", "false", "f", "0", "no"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (str_eq_nocase(v, str_from_z(words[i]))) {
            *out = i < COUNT_OF(words) / 2;
            return true;
        }
    }
    return false;
}

static bool parse_real(struct str v, double *out)
{
    char text[64];
    char *end = NULL;
    if (v.len == 0 || v.len >= sizeof text) {
        return false;
    }
    memcpy(text, v.ptr, v.len);
    text[v.len] = '\0';
    *out = strtod(text, &end);
    return *end == '\0';
}

static enum err_code set_number(const struct setting *s, struct str value, double v, void *at,
                                struct err *err)
{
    if (!(v >= s->min && v <= s->max)) {
        return err_set(err, ERR_VALIDATION, "setting %s: expected %.0f to %.0f, got '" STR_FMT "'",
                       s->name, s->min, s->max, STR_ARG(value));
    }
    if (s->kind == KIND_REAL) {
        *(double *)at = v;
    } else {
        *(int64_t *)at = (int64_t)v;
    }
    return ERR_OK;
}

static enum err_code set(const struct setting *s, struct str value, struct settings *out,
                         struct err *err)
{
    void *at = (char *)out + s->offset;
    int64_t number = 0;
    double real = 0;
    struct err ignored;
    out->bootstrap_given |= s->offset == offsetof(struct settings, bootstrap);
    out->raft_bind_given |= s->offset == offsetof(struct settings, raft_bind);
    switch (s->kind) {
    case KIND_TEXT:
        if (s->words != NULL && !is_word(s->words, value)) {
            return wrong(s, value, s->words, err);
        }
        *(struct str *)at = value;
        return ERR_OK;
    case KIND_BOOL:
        return parse_bool(value, at) ? ERR_OK : wrong(s, value, "true or false", err);
    case KIND_NUMBER:
        return str_to_i64(value, &number) ? set_number(s, value, (double)number, at, err)
                                          : wrong(s, value, "a whole number", err);
    case KIND_REAL:
        return parse_real(value, &real) ? set_number(s, value, real, at, err)
                                        : wrong(s, value, "a number", err);
    case KIND_DURATION:
        return duration_parse(value, &number, &ignored) == ERR_OK
                   ? set_number(s, value, (double)number, at, err)
                   : wrong(s, value, "a duration", err);
    default:
        UNREACHABLE("a setting has one of the kinds");
    }
}

/* Sources, the weakest first */

static enum err_code unknown(struct str name, const char *where, struct err *err)
{
    return err_set(err, ERR_VALIDATION, "%s: unknown setting '" STR_FMT "'", where, STR_ARG(name));
}

/* A comment begins with a # at the beginning or behind a blank; passwords and URLs may have one. */
static struct str without_comment(struct str line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '#' && (i == 0 || line.ptr[i - 1] == ' ' || line.ptr[i - 1] == '\t')) {
            return str_from(line.ptr, i);
        }
    }
    return line;
}

static enum err_code read_line(struct str line, struct settings *out, struct err *err)
{
    line = str_trim(without_comment(line));
    if (line.len == 0) {
        return ERR_OK;
    }
    const char *equals = memchr(line.ptr, '=', line.len);
    if (equals == NULL) {
        return err_set(err, ERR_VALIDATION, "config: '" STR_FMT "' is not of the form name = value",
                       STR_ARG(line));
    }
    struct str name = str_trim(str_from(line.ptr, (size_t)(equals - line.ptr)));
    struct str value = str_trim(str_from_offset(line, (size_t)(equals - line.ptr) + 1));
    const struct setting *s = find(name);
    return s == NULL ? unknown(name, "config", err) : set(s, value, out, err);
}

static enum err_code read_file(struct str path, struct arena *arena, struct settings *out,
                               struct err *err)
{
    struct buf bytes;
    const char *path_z = arena_strz(arena, path);
    CHECK(path_z != NULL);
    buf_init(&bytes, CONFIG_BYTES_MAX);
    enum err_code code = os_file_read(path_z, &bytes, err);
    struct str text = arena_str(arena, buf_str(&bytes));
    buf_deinit(&bytes);
    if (code != ERR_OK) {
        return err_wrap(err, "setting config");
    }
    while (text.len > 0 && code == ERR_OK) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end == NULL ? text.len : (size_t)(end - text.ptr);
        code = read_line(str_from(text.ptr, len), out, err);
        text = str_from_offset(text, end == NULL ? len : len + 1);
    }
    return code;
}

/* CORVO_DATA_DIR for data-dir. */
static struct str environment_name(const struct setting *s, char room[static NAME_BYTES_MAX])
{
    static const char prefix[] = "CORVO_";
    struct str name = str_from_z(s->name);
    size_t len = 0;
    CHECK(name.len + sizeof prefix < NAME_BYTES_MAX);
    for (; prefix[len] != '\0'; len++) {
        room[len] = prefix[len];
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c >= 'a' && c <= 'z') {
            c = (char)(c - 'a' + 'A');
        } else if (c == '-') {
            c = '_';
        }
        room[len++] = c;
    }
    return str_from(room, len);
}

static enum err_code read_environment(char **environment, struct settings *out, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        char room[NAME_BYTES_MAX];
        struct str name = environment_name(&settings[i], room);
        for (char **e = environment; *e != NULL; e++) {
            struct str pair = str_from_z(*e);
            if (str_starts_with(pair, name) && pair.len > name.len && pair.ptr[name.len] == '=' &&
                set(&settings[i], str_from_offset(pair, name.len + 1), out, err) != ERR_OK) {
                return err->code;
            }
        }
    }
    return ERR_OK;
}

static enum err_code read_arguments(int argc, char **argv, struct settings *out, struct err *err)
{
    for (int i = 0; i < argc; i++) {
        struct str arg = str_from_z(argv[i]);
        if (str_eq(arg, STR("--help")) || str_eq(arg, STR("-h"))) {
            out->help = true;
            continue;
        }
        if (str_eq(arg, STR("--sample-config"))) {
            out->sample = true;
            continue;
        }
        if (!str_starts_with(arg, STR("--"))) {
            return err_set(err, ERR_VALIDATION, "unexpected argument '%s'", argv[i]);
        }
        arg = str_from_offset(arg, 2);
        const char *equals = memchr(arg.ptr, '=', arg.len);
        struct str name = equals == NULL ? arg : str_from(arg.ptr, (size_t)(equals - arg.ptr));
        const struct setting *s = find(name);
        struct str value;
        if (s == NULL) {
            return unknown(name, "command line", err);
        }
        if (equals != NULL) {
            value = str_from_offset(arg, name.len + 1);
        } else if (s->kind == KIND_BOOL) {
            value = STR("true");
        } else if (i + 1 < argc) {
            value = str_from_z(argv[++i]);
        } else {
            return err_set(err, ERR_VALIDATION, "setting %s requires a value", s->name);
        }
        if (set(s, value, out, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* Other servers of this API take 0 or less for the default here, so start lines have it. */
static void fall_back(struct settings *out)
{
    double *const reals[] = {&out->rate_limit_read_rps, &out->rate_limit_read_burst,
                             &out->rate_limit_write_rps, &out->rate_limit_write_burst};
    const double usual[] = {defaults.rate_limit_read_rps, defaults.rate_limit_read_burst,
                            defaults.rate_limit_write_rps, defaults.rate_limit_write_burst};
    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        *reals[i] = *reals[i] > 0 ? *reals[i] : usual[i];
    }
    if (out->raft_max_pending <= 0) {
        out->raft_max_pending = defaults.raft_max_pending;
    }
}

/* Where the ":port" of an address begins; its length when it has none. */
static size_t port_at(struct str address)
{
    size_t at = address.len;
    while (at > 0 && address.ptr[at - 1] != ':') {
        at--;
    }
    return at == 0 ? address.len : at - 1;
}

struct str settings_port(struct str address)
{
    size_t at = port_at(address);
    return str_from_offset(address, at < address.len ? at + 1 : at);
}

struct str settings_host(struct str bind)
{
    struct str host = str_from(bind.ptr, port_at(bind));
    bool any = host.len == 0 || str_eq(host, STR("0.0.0.0")) || str_eq(host, STR("[::]"));
    return any ? STR("127.0.0.1") : host;
}

/* The address that peers are told, where none was given. */
static void advertise(struct settings *out, struct arena *arena)
{
    struct str host =
        out->advertise_host.len > 0 ? out->advertise_host : settings_host(out->raft_bind);
    struct str port = str_from_offset(out->raft_bind, port_at(out->raft_bind));
    if (out->raft_advertise.len > 0 || port.len == 0) {
        return;
    }
    char *text = arena_alloc(arena, host.len + port.len, 1);
    CHECK(text != NULL);
    memcpy(text, host.ptr, host.len);
    memcpy(text + host.len, port.ptr, port.len);
    out->raft_advertise = str_from(text, host.len + port.len);
}

bool settings_joins(const struct settings *s)
{
    /* An explicit bootstrap wins over a join; a join alone means that there is none. */
    bool asks = s->join.len > 0 || s->discover.len > 0;
    return !s->bootstrap || (asks && !s->bootstrap_given);
}

bool settings_is_clustered(const struct settings *s)
{
    return s->raft_bind_given || s->cluster_secret.len > 0 || s->peer_tls_cert.len > 0 ||
           s->bootstrap_expect > 0 || settings_joins(s);
}

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

/* Settings of the cluster that do not go together. */
static enum err_code check_cluster(const struct settings *s, struct err *err)
{
    bool tls = s->peer_tls_cert.len > 0;
    if (s->raft_shards < 1) {
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
        {s->raft_shards > 1, "raft-shards: only 1 is supported"},
        {str_eq(s->discover, STR("dns")) && s->discover_name.len == 0,
         "discover: dns requires discover-dns-name"},
        {str_eq(s->discover, STR("static")) && s->join.len == 0, "discover: static requires join"},
        {settings_joins(s) && s->join.len == 0 && s->discover.len == 0,
         "bootstrap: if it is false, set join or discover"},
        {s->bootstrap_expect > 1 && s->join.len == 0 && s->discover.len == 0,
         "bootstrap-expect: list the nodes in join, or find them with discover"},
        {s->bootstrap_expect > 1 && (s->discover.len == 0 || str_eq(s->discover, STR("static"))) &&
             count_items(s->join) < s->bootstrap_expect,
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

/* What start lines of other servers may ask for and is not there. */
static enum err_code check_absent(const struct settings *s, struct err *err)
{
    const struct {
        bool asked;
        const char *name;
        const char *why;
    } rows[] = {
        {s->otel_enabled, "otel-enabled", "tracing is not supported"},
        {(s->oidc_issuer_url.len > 0) != (s->oidc_client_id.len > 0), "oidc-issuer-url",
         "set oidc-issuer-url and oidc-client-id together"},
        {s->oidc_issuer_url.len > 0 && s->saml_header_auth, "saml-header-auth",
         "cannot be combined with oidc-issuer-url"},
        {s->raft_advertise.len == 0, "raft-bind", "expected host:port"},
        {s->data_dir.len > DATA_DIR_BYTES_MAX, "data-dir", "expected at most 512 bytes"},
        {s->data_dir.len == 0, "data-dir", "expected the path of a directory"},
        {s->memory_limit > 0 && s->memory_limit < MEMORY_LIMIT_MIN, "memory-limit",
         "expected 0, or at least 33554432"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].asked) {
            return err_set(err, ERR_VALIDATION, "setting %s: %s", rows[i].name, rows[i].why);
        }
    }
    return ERR_OK;
}

enum err_code settings_read(int argc, char **argv, char **environment, struct arena *arena,
                            struct settings *out, struct err *err)
{
    struct settings named = defaults;
    *out = defaults;
    /* The file's name may itself come from the stronger sources, so they are read first for that
     * and once more to win over the file. */
    if (read_environment(environment, &named, err) != ERR_OK ||
        read_arguments(argc, argv, &named, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_read(environment, arena, out);
    if (named.config.len > 0 && read_file(named.config, arena, out, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_merge(environment, arena, out);
    if (read_environment(environment, out, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_merge(environment, arena, out);
    if (read_arguments(argc, argv, out, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_merge(environment, arena, out);
    if ((out->tls_cert.len > 0) != (out->tls_key.len > 0)) {
        return err_set(err, ERR_VALIDATION,
                       "setting tls-cert and setting tls-key must be set together");
    }
    fall_back(out);
    advertise(out, arena);
    return check_cluster(out, err) == ERR_OK ? check_absent(out, err) : err->code;
}

bool settings_row(size_t index, const char **out_name, const char **out_shown,
                  const char **out_help)
{
    if (index >= COUNT_OF(settings)) {
        return false;
    }
    *out_name = settings[index].name;
    *out_shown = settings[index].shown;
    *out_help = settings[index].help;
    return true;
}

/* Some are accepted for compatibility alone, or are parts of others. */
static bool has_effect(const struct setting *s)
{
    size_t parts = offsetof(struct settings, parts);
    return s->offset != offsetof(struct settings, ignored) &&
           s->offset != offsetof(struct settings, ignored_bool) &&
           s->offset != offsetof(struct settings, ignored_number) &&
           (s->offset < parts || s->offset >= parts + sizeof(struct settings_parts));
}

static struct log_value value_of(const struct setting *s, const struct settings *from,
                                 char room[static NAME_BYTES_MAX])
{
    const void *at = (const char *)from + s->offset;
    static const size_t secrets[] = {
        offsetof(struct settings, admin_password), offsetof(struct settings, cluster_secret),
        offsetof(struct settings, auth_token), offsetof(struct settings, webhook_bearer_token),
        offsetof(struct settings, gossip_secret)};
    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        if (s->offset == secrets[i]) {
            return LOG_BOOL(s->name, ((const struct str *)at)->len > 0);
        }
    }
    switch (s->kind) {
    case KIND_TEXT:
        return LOG_STR(s->name, *(const struct str *)at);
    case KIND_BOOL:
        return LOG_BOOL(s->name, *(const bool *)at);
    case KIND_REAL:
        (void)snprintf(room, NAME_BYTES_MAX, "%g", *(const double *)at);
        return LOG_Z(s->name, room);
    case KIND_DURATION:
        (void)snprintf(room, NAME_BYTES_MAX, "%lldms", (long long)*(const int64_t *)at);
        return LOG_Z(s->name, room);
    case KIND_NUMBER:
    default:
        return LOG_I64(s->name, *(const int64_t *)at);
    }
}

void settings_log(const struct settings *s)
{
    struct log_value values[3 + COUNT_OF(settings)] = {
        LOG_Z("version", build_release), LOG_Z("commit", build_commit), LOG_Z("date", build_date)};
    char rooms[COUNT_OF(settings)][NAME_BYTES_MAX];
    size_t count = 3;
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        if (has_effect(&settings[i])) {
            values[count] = value_of(&settings[i], s, rooms[i]);
            count++;
        }
    }
    log_event(LOG_INFO, "starting corvo server", values, count);
}

void settings_help(struct buf *out)
{
    buf_printf(
        out, "corvo server: run the job server\n\n"
             "usage: corvo server [--name value]...\n\n"
             "You can also set each of these as CORVO_NAME in the environment, or as\n"
             "\"name = value\" in the file given with --config. The command line takes precedence\n"
             "over the environment, and the environment over the file.\n\n");
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        const struct setting *s = &settings[i];
        buf_printf(out, "  --%-24s %s", s->name, s->help);
        if (s->shown[0] != '\0') {
            buf_printf(out, " (%s)", s->shown);
        }
        buf_add_char(out, '\n');
    }
    buf_printf(out, "\n  --%-24s %s\n", "sample-config",
               "print a configuration file with every setting and its default, and exit");
}

void settings_sample(struct buf *out)
{
    buf_printf(out,
               "# Settings of corvo server. Lines that start with \"# name =\" show the default;\n"
               "# remove the \"# \" to change it. CORVO_NAME in the environment and --name on the\n"
               "# command line take precedence over this file.\n");
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        const struct setting *s = &settings[i];
        if (has_effect(s) && s->offset != offsetof(struct settings, config)) {
            buf_printf(out, "\n# %s\n# %s =%s%s\n", s->help, s->name,
                       s->shown[0] != '\0' ? " " : "", s->shown);
        }
    }
}
