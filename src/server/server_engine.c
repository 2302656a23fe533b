/*
 * The engine, and how this node becomes part of a cluster before it is opened.
 */
#include "base/build.h"
#include "log/log.h"
#include "server/server_int.h"
#include "server/server_join.h"
#include "server/server_leave.h"
#include "server/server_sso.h"
#include "server/settings_address.h"

/* The address for connections of other nodes: loopback only, unless peers must authenticate. */
static const char *peer_bind(struct server *s)
{
    const struct settings *set = &s->settings;
    bool guarded = set->cluster_secret.len > 0 || set->peer_tls_cert.len > 0;
    if (!settings_is_clustered(set)) {
        return NULL;
    }
    if (guarded) {
        return server__text(s, set->raft_bind);
    }
    log_warn("peer port on loopback only",
             LOG_Z("meaning", "nodes on other machines cannot connect; set cluster-secret or "
                              "peer-tls-cert to allow it"));
    struct buf text;
    buf_init(&text, 128);
    struct str host = settings_address_host(set->raft_bind);
    buf_printf(&text, STR_FMT ":" STR_FMT,
               STR_ARG(settings_address_is_loopback(host) ? host : STR("127.0.0.1")),
               STR_ARG(settings_address_port(set->raft_bind)));
    const char *z = server__text(s, buf_str(&text));
    buf_deinit(&text);
    return z;
}

/* Not opened if the system is to choose the port: no other node could find it. */
static enum err_code open_lobby(struct server *s, bool left, struct err *err)
{
    const struct settings *set = &s->settings;
    struct http_listen listen[SERVER_LISTENERS_MAX];
    struct server_lobby_config config = {.http = server__http_config(s, listen),
                                         .node_id = set->node_id,
                                         .raft_address = set->raft_advertise,
                                         .has_password = set->admin_password.len > 0,
                                         .open_access = set->open_access,
                                         .joined = left};
    rest_set_headers(&config.http);
    return server__given_port(s).len == 0 ? ERR_OK : server_lobby_open(&config, &s->lobby, err);
}

static struct server_join joining(struct server *s, const char *url)
{
    return (struct server_join){.settings = &s->settings,
                                .discover = s->discover,
                                .lobby = s->lobby,
                                .http_url = url,
                                .stop_fd = server_signals_stop_fd(s->signals)};
}

static enum err_code set_cluster(struct server *s, struct engine_config *config, struct err *err)
{
    const struct settings *set = &s->settings;
    config->node.election_ms = (unsigned)set->election_timeout_ms;
    config->node.heartbeat_ms = (unsigned)set->heartbeat_interval_ms;
    config->cluster.name = server__text(s, set->node_id);
    config->cluster.version = build_release;
    config->cluster.http_url = server__expected_url(s);
    config->cluster.bind = peer_bind(s);
    config->cluster.secret = set->cluster_secret;
    config->cluster.tls =
        (struct raftnet_link_tls){.cert_file = server__text_or_null(s, set->peer_tls_cert),
                                  .key_file = server__text_or_null(s, set->peer_tls_key),
                                  .ca_file = server__text_or_null(s, set->peer_tls_ca)};
    config->cluster.rate_bytes = (uint64_t)set->peer_transfer_rate;
    config->cluster.non_voter = set->non_voter;
    config->node.bootstrap = !settings_joins(set);
    if (server_discover_open(set, config->cluster.http_url, &s->discover, err) != ERR_OK) {
        return err->code;
    }
    bool left;
    if (server_leave_resume(config->data_dir, &left, err) != ERR_OK) {
        return err->code;
    }
    if (engine_cluster_has_begun(config->data_dir)) {
        return ERR_OK; /* a member rejoins its cluster, whatever other nodes exist */
    }
    if (left && s->discover == NULL) {
        return err_set(err, ERR_JOIN,
                       "this node left its cluster when it was stopped: set join or discover, or "
                       "remove \"left\" from its data directory to start a new cluster");
    }
    config->node.bootstrap &= !left;
    config->cluster.invitable = !config->node.bootstrap && s->discover == NULL;
    bool waits = s->discover != NULL || config->cluster.invitable;
    if (waits && open_lobby(s, left, err) != ERR_OK) {
        return err->code;
    }
    if (config->node.bootstrap || left || set->bootstrap_expect == 0 || s->discover == NULL) {
        return ERR_OK;
    }
    const struct server_join j = joining(s, config->cluster.http_url);
    return server_join_founds(&j, &config->node.bootstrap, err);
}

enum err_code server__open_engine(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct engine_config config = engine_config_default();
    config.data_dir = server__text(s, set->data_dir);
    config.node.address = server__text(s, set->raft_advertise);
    config.node.durable = set->durable;
    if (set_cluster(s, &config, err) != ERR_OK) {
        return err->code;
    }
    config.node.segment_bytes = (uint64_t)set->segment_bytes;
    config.node.snapshot_log_bytes = (uint64_t)set->snapshot_log_bytes;
    config.free_bytes_min = (uint64_t)set->free_space_min;
    config.limits.payload_bytes = (size_t)set->max_payload_size;
    config.pending_ops_max = (uint32_t)set->raft_max_pending;
    config.lifecycle_events = set->lifecycle_events;
    config.retention_ms = set->retention_ms;
    config.retention_interval_ms = set->retention_interval_ms;
    config.max_clock_jump_ms = set->max_clock_jump_ms;
    s->auth = auth_table_new();
    if (server_sso_set(set, s->auth, &s->proxies, err) != ERR_OK) {
        return err->code;
    }
    config.hooks = (struct machine_hooks){
        .data = s->auth, .access = auth_table_change, .slot_ns = set->slot_gap_ms * NS_PER_MS};
    if (engine_open(&config, &s->engine, err) != ERR_OK) {
        return err->code;
    }
    const struct server_join j = joining(s, config.cluster.http_url);
    if (!config.node.bootstrap && server_join(&j, s->engine, err) != ERR_OK) {
        return err->code;
    }
    server_leave_forget(config.data_dir);
    return ERR_OK;
}
