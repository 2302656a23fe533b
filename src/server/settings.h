/*
 * Settings: all settings of the server, in one table.
 *
 * The value of a setting comes from the command line (--name value, --name=value), else from the
 * environment (CORVO_NAME), else from the file that --config names (lines of "name = value"; # at
 * the start of a line or after a blank starts a comment), else from its default. An unknown name or
 * an invalid value stops the start with an error that names the setting. `corvo server --help` is
 * printed from the same table.
 *
 * To add a setting: add a member here, its default and its row in settings_table.c, and the code
 * that reads it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { SETTINGS_ROWS_MAX = 148 };

struct settings {
    struct str bind;
    struct str data_dir;
    struct str raft_bind;
    struct str raft_advertise; /* by default derived from raft_bind */
    struct str http_advertise;
    struct str node_id;
    bool durable;
    struct str raft_store;
    int64_t raft_max_pending;
    int64_t snapshot_log_bytes;
    int64_t segment_bytes;
    int64_t free_space_min;
    int64_t shutdown_timeout_ms;
    int64_t retention_ms;
    int64_t retention_interval_ms;
    int64_t max_clock_jump_ms;
    int64_t max_payload_size;
    int64_t max_body_size;
    int64_t memory_limit; /* 0: a share of the machine's memory */
    bool rate_limit_enabled;
    bool rate_limit_loopback;
    double rate_limit_read_rps, rate_limit_read_burst;
    double rate_limit_write_rps, rate_limit_write_burst;
    struct str admin_password;
    bool open_access;
    int64_t audit_retention_ms;
    struct str features;
    int64_t stream_max_inflight, stream_max_open, stream_max_fps; /* of RPC streams */
    int64_t stream_acquire_ms;                                    /* 0: no limit */
    int64_t stream_strike_limit, stream_strike_ms;
    int64_t idle_fetch_sleep_ms;
    bool docs_enabled;
    bool lifecycle_events;
    struct str webhook_deny;
    struct str webhook_allow;
    struct str outgoing_allow; /* the same for all outgoing requests */
    /* deliveries, and the Scheduled-DB API */
    bool scheduler_enabled;
    struct str scheduler_bind;
    struct str metrics_bind;
    int64_t push_max_calls, push_max_host_calls;
    int64_t execution_timeout_ms, inprogress_timeout_ms;
    int64_t max_attempts;
    int64_t history_retention_ms;
    double health_failure_threshold;
    struct str health_ok_word;
    struct str queue_memory_limit; /* as given; empty: queue_memory_percent applies */
    int64_t queue_memory_percent;
    int64_t queue_job_limit;
    int64_t max_request_body_size;
    struct str scheduler_backoff;
    int64_t scheduler_retry_base_ms, scheduler_retry_max_ms;
    int64_t slot_gap_ms;
    int64_t shutdown_drain_ms;
    bool leave_on_shutdown;
    struct str auth_token;
    struct str webhook_bearer_token;
    bool sqlite_mirror_async;
    int64_t view_readers;
    int64_t view_wait_ms;
    int64_t view_timeout_ms;
    struct str tls_cert;
    struct str tls_key;
    int64_t http_threads;
    int64_t http_read_timeout_ms, http_header_timeout_ms;
    int64_t http_write_timeout_ms, http_idle_timeout_ms;
    struct str log_level;
    struct str log_format;
    struct str config; /* name of the configuration file */
    bool help;
    bool sample; /* print a sample configuration instead of running */
    bool bootstrap;
    bool bootstrap_given; /* set by any source, to any value */
    bool raft_bind_given;
    struct str join;
    struct str discover;
    struct str discover_name, discover_domain, discover_server;
    int64_t discover_remove_ms; /* 0: never */
    int64_t join_timeout_ms;
    struct str kubernetes_service, kubernetes_namespace, kubernetes_api, kubernetes_account;
    struct str gossip_bind, gossip_seeds, gossip_secret;
    /* about the pod, from its environment only */
    struct str pod, pod_ip, pod_namespace, kubernetes_host, kubernetes_port;
    int64_t bootstrap_expect;
    bool non_voter;
    struct str cluster_secret;
    struct str peer_tls_cert, peer_tls_key, peer_tls_ca;
    int64_t election_timeout_ms, heartbeat_interval_ms;
    int64_t peer_transfer_rate;
    struct str oidc_issuer_url, oidc_client_id;
    bool saml_header_auth;
    struct str trusted_proxies;
    bool otel_enabled;
    struct str otel_endpoint;
    /* Settings in the form of Scheduled-DB; settings_fallback_merge converts them. */
    struct settings_parts {
        struct str http_host, raft_host;
        int64_t http_port, raft_port; /* -1: not given */
        struct str peers, strategy;
    } parts;
    struct str advertise_host; /* the host of derived addresses */
    bool no_compression;
    struct str rpc_bind;
    /* Accepted for compatibility, without effect. The members with names are shown in the cluster
     * status. */
    struct settings_idle {
        struct str text;
        bool flag;
        int64_t number;
        int64_t raft_shards;
        int64_t snapshot_threshold, snapshot_interval_ms;
        int64_t batch_extend_at, fetch_inflight;
        int64_t batch_min_wait_ns, batch_window_ns;
    } idle;
    bool idle_given[SETTINGS_ROWS_MAX]; /* by row: a setting without effect has another value than
                                           its default */
};

/* Fill out from the arguments after "server" and the environment (a list like the third argument of
 * main). Texts live in the arena or in the arguments. ERR_VALIDATION names the setting. */
ATTR_NODISCARD enum err_code settings_read(int argc, char **argv, char **environment,
                                           struct arena *arena, struct settings *out,
                                           struct err *err);

/* Set one setting. */
ATTR_NODISCARD enum err_code settings_set(const char *name, struct str value, struct settings *out,
                                          struct err *err);

/* The nth setting of the table, for completion and the manual; false after the last. */
ATTR_NODISCARD bool settings_row(size_t index, const char **out_name, const char **out_shown,
                                 const char **out_help);

/* This node is to connect to other nodes, or they to it. */
bool settings_is_clustered(const struct settings *s);

/* The node joins a cluster, unless its data directory already belongs to one. */
static inline bool settings_joins(const struct settings *s)
{
    /* An explicit bootstrap takes precedence over join. Without it, join implies
     * bootstrap=false. */
    bool asks = s->join.len > 0 || s->discover.len > 0;
    return !s->bootstrap || (asks && !s->bootstrap_given);
}

/* Log the start of this version, with all settings; of a secret only whether it is set. Log a
 * warning for each setting that was given and has no effect. */
void settings_log(const struct settings *s);

/* The text of --help. */
void settings_help(struct buf *out);

/* A configuration file that changes nothing: every setting that has an effect, commented out. */
void settings_sample(struct buf *out);
