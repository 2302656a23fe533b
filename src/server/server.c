#include "server/server.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "audit/audit.h"
#include "auth/auth_table.h"
#include "base/arena.h"
#include "base/build.h"
#include "base/check.h"
#include "binary/binary.h"
#include "engine/engine.h"
#include "engine/engine_schedule.h"
#include "front/front_forward.h"
#include "http/http_server.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "os/os_networks.h"
#include "os/os_process.h"
#include "outgoing/outgoing_guard.h"
#include "push/push.h"
#include "rest/rest.h"
#include "rpc/rpc.h"
#include "server/server_dir.h"
#include "server/server_discover.h"
#include "server/server_join.h"
#include "server/server_leave.h"
#include "server/server_lobby.h"
#include "server/server_signals.h"
#include "server/server_sso.h"
#include "server/server_trace.h"
#include "server/settings.h"
#include "server/settings_address.h"
#include "sso/sso.h"
#include "svc/svc_bulk.h"
#include "trace/trace.h"
#include "view/view.h"
#include "webhook/webhook.h"

enum {
    SETTINGS_BYTES_MAX = 4 << 20,
    TEXT_BYTES_MAX = 64 << 10,
    USER_AGENT_BYTES = 64,
    FILES_MIN = 1024,
    LISTENERS_MAX = 3,
    FILES_OWN = 640,  /* reserved for the server: the store's tables, the log, the view, webhooks */
    MEMORY_SHARE = 4, /* requests may use a quarter of the memory; the store, the view and waiting
                         jobs need the rest */
    TRIM_EVERY_MS = 5000,
    TRIM_BYTES = 32 << 20,        /* requests have freed this much: return it to the system */
    TRIM_GROWN_BYTES = 128 << 20, /* memory has grown by this much: trim it, */
    TRIM_GROWN_S = 60,            /* but at most once in this many seconds */
};

/* Used if the system does not report the size of its memory. */
#define MEMORY_LIMIT_DEFAULT ((uint64_t)512 << 20)
#define MEMORY_LIMIT_LEAST   ((uint64_t)64 << 20)

struct server {
    struct settings settings;
    struct arena *arena;
    uint64_t files;       /* limit of open files */
    int dir_lock;         /* of the data directory; -1: not taken */
    struct budget budget; /* for the memory of all requests */
    struct auth_table *auth;
    struct audit *audit;
    struct sso *sso;
    struct trace *trace;        /* NULL: tracing is off */
    struct os_networks proxies; /* trusted proxies */
    struct discover *discover;  /* NULL: discovery is not configured */
    struct server_discover *watch;
    struct server_lobby *lobby; /* NULL unless the cluster is forming */
    struct engine *engine;
    struct svc_bulk *bulk;
    struct view *view;
    struct outgoing_guard *webhook_guard;
    struct webhook_sender *webhooks;
    struct push_sender *push;
    char user_agent[USER_AGENT_BYTES];
    struct front_shared front; /* forwards requests to the other nodes */
    struct rpc *rpc;
    struct binary *binary;
    struct rest *rest;
    struct http_server *http;
    struct server_signals *signals;
    uv_loop_t loop;  /* of the main thread; runs once everything is open */
    uv_async_t wake; /* sent when a signal has arrived */
    uv_timer_t trim;
    uint64_t trimmed_bytes; /* resident memory after the last trim because of growth */
    int64_t trim_after_ns;  /* no check for growth before this time */
};

static enum log_format format_of(struct str word)
{
    return str_eq(word, STR("text")) ? LOG_TEXT : str_eq(word, STR("json")) ? LOG_JSON : LOG_AUTO;
}

static const char *zero_terminated(struct server *s, struct str text)
{
    char *z = arena_strz(s->arena, text);
    CHECK(z != NULL);
    return z;
}

static enum err_code check_files(struct server *s, struct err *err)
{
    return s->files >= FILES_MIN ? ERR_OK
                                 : err_set(err, ERR_VALIDATION,
                                           "the limit on open files is %" PRIu64
                                           ", but the server needs at least %d: raise the hard "
                                           "limit (ulimit -Hn, LimitNOFILE)",
                                           s->files, FILES_MIN);
}

static enum err_code take_dir(struct server *s, struct err *err)
{
    return server_dir_take(zero_terminated(s, s->settings.data_dir), &s->dir_lock, err);
}

static size_t memory_limit(const struct settings *set)
{
    if (set->memory_limit > 0) {
        return (size_t)set->memory_limit;
    }
    uint64_t share = os_process_memory() / MEMORY_SHARE;
    uint64_t limit = share == 0 ? MEMORY_LIMIT_DEFAULT : share;
    return (size_t)(limit < MEMORY_LIMIT_LEAST ? MEMORY_LIMIT_LEAST : limit);
}

/* Return freed memory to the system. The allocator would keep it: the buffers of large requests, of
 * the start, and of the log and the store lie between pieces of the index. */
static void trim_cb(uv_timer_t *timer)
{
    struct server *s = timer->data;
    int64_t now_ns = os_clock_mono().ns;
    size_t peak = budget_take_peak(&s->budget);
    bool freed = peak > atomic_load(&s->budget.used_bytes) + TRIM_BYTES;
    bool grown =
        now_ns >= s->trim_after_ns && os_process_resident() > s->trimmed_bytes + TRIM_GROWN_BYTES;
    if (freed || grown) {
        os_process_trim_heap();
    }
    if (grown) {
        s->trimmed_bytes = os_process_resident();
        s->trim_after_ns = now_ns + (int64_t)TRIM_GROWN_S * NS_PER_S;
    }
}

/* Limit the number of clients, so that their connections cannot use up the file descriptors that
 * the store needs. */
static struct http_limits http_limits(const struct server *s)
{
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    uint64_t left = s->files - FILES_OWN;
    limits.connections = left < limits.connections ? (unsigned)left : limits.connections;
    limits.body_timeout_ms = (uint32_t)s->settings.http_read_timeout_ms;
    limits.header_timeout_ms = (uint32_t)s->settings.http_header_timeout_ms;
    limits.write_timeout_ms = (uint32_t)s->settings.http_write_timeout_ms;
    limits.idle_timeout_ms = (uint32_t)s->settings.http_idle_timeout_ms;
    return limits;
}

/* The addresses to listen on, and the TLS files and limits. */
static struct http_server_config http_config(struct server *s,
                                             struct http_listen listen[static LISTENERS_MAX])
{
    const struct settings *set = &s->settings;
    bool tls = set->tls_cert.len > 0;
    const struct str addresses[LISTENERS_MAX] = {set->bind, set->scheduler_bind, set->metrics_bind};
    size_t count = 0;
    for (size_t i = 0; i < LISTENERS_MAX; i++) {
        if (addresses[i].len > 0) {
            listen[count++] =
                (struct http_listen){.address = zero_terminated(s, addresses[i]), .tls = tls};
        }
    }
    return (struct http_server_config){
        .listen = listen,
        .listen_count = count,
        .threads = (unsigned)set->http_threads,
        .limits = http_limits(s),
        .tls_cert_file = tls ? zero_terminated(s, set->tls_cert) : NULL,
        .tls_key_file = tls ? zero_terminated(s, set->tls_key) : NULL,
    };
}

/* The URL at which other nodes and clients reach the API on that port. */
static const char *url_at(struct server *s, struct str port)
{
    const struct settings *set = &s->settings;
    struct buf url;
    if (set->http_advertise.len > 0) {
        return zero_terminated(s, set->http_advertise);
    }
    buf_init(&url, 1024);
    struct str host =
        set->advertise_host.len > 0 ? set->advertise_host : settings_address_host(set->bind);
    buf_printf(&url, "%s://" STR_FMT ":" STR_FMT, set->tls_cert.len > 0 ? "https" : "http",
               STR_ARG(host), STR_ARG(port));
    const char *text = zero_terminated(s, buf_str(&url));
    buf_deinit(&url);
    return text;
}

static const char *http_url(struct server *s)
{
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)http_server_port(s->http, 0));
    return url_at(s, str_from_z(port));
}

/* The port of the bind setting; empty if the system is to choose it. */
static struct str given_port(const struct server *s)
{
    struct str port = settings_address_port(s->settings.bind);
    return str_eq(port, STR("0")) ? STR_EMPTY : port;
}

/* The same before the server listens; empty if the port is not known yet. */
static const char *expected_url(struct server *s)
{
    struct str port = given_port(s);
    return port.len == 0 && s->settings.http_advertise.len == 0 ? "" : url_at(s, port);
}

static const char *or_null(struct server *s, struct str text)
{
    return text.len == 0 ? NULL : zero_terminated(s, text);
}

/* The address for connections of other nodes: loopback only, unless peers must authenticate. */
static const char *peer_bind(struct server *s)
{
    const struct settings *set = &s->settings;
    bool guarded = set->cluster_secret.len > 0 || set->peer_tls_cert.len > 0;
    if (!settings_is_clustered(set)) {
        return NULL;
    }
    if (guarded) {
        return zero_terminated(s, set->raft_bind);
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
    const char *z = zero_terminated(s, buf_str(&text));
    buf_deinit(&text);
    return z;
}

/* Not opened if the system is to choose the port: no other node could find it. */
static enum err_code open_lobby(struct server *s, bool left, struct err *err)
{
    const struct settings *set = &s->settings;
    struct http_listen listen[LISTENERS_MAX];
    struct server_lobby_config config = {.http = http_config(s, listen),
                                         .node_id = set->node_id,
                                         .raft_address = set->raft_advertise,
                                         .has_password = set->admin_password.len > 0,
                                         .open_access = set->open_access,
                                         .joined = left};
    rest_set_headers(&config.http);
    return given_port(s).len == 0 ? ERR_OK : server_lobby_open(&config, &s->lobby, err);
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
    config->cluster.name = zero_terminated(s, set->node_id);
    config->cluster.version = build_release;
    config->cluster.http_url = expected_url(s);
    config->cluster.bind = peer_bind(s);
    config->cluster.secret = set->cluster_secret;
    config->cluster.tls = (struct raftnet_link_tls){.cert_file = or_null(s, set->peer_tls_cert),
                                                    .key_file = or_null(s, set->peer_tls_key),
                                                    .ca_file = or_null(s, set->peer_tls_ca)};
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

static enum err_code open_engine(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct engine_config config = engine_config_default();
    config.data_dir = zero_terminated(s, set->data_dir);
    config.node.address = zero_terminated(s, set->raft_advertise);
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

static void open_services(struct server *s)
{
    struct svc_bulk_config bulk = svc_bulk_config_default();
    bulk.engine = s->engine;
    bulk.find = rest_bulk_filter_find;
    bulk.find_data = s->view;
    s->bulk = svc_bulk_open(&bulk);
}

static enum err_code open_view(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct view_config config = view_config_default();
    config.engine = s->engine;
    config.dir = zero_terminated(s, set->data_dir);
    config.readers = (unsigned)set->view_readers;
    config.wait_ms = set->view_wait_ms;
    config.ask_ms = set->view_timeout_ms;
    /* The search index stops growing before new jobs are refused. */
    config.free_bytes_min = (uint64_t)set->free_space_min + (uint64_t)set->free_space_min / 2;
    config.linger_ms = set->sqlite_mirror_async ? config.linger_ms : 0;
    return view_open(&config, &s->view, err);
}

static enum err_code open_webhooks(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct buf allow;
    buf_init(&allow, SETTINGS_BYTES_MAX);
    buf_printf(&allow, STR_FMT "," STR_FMT, STR_ARG(set->webhook_allow),
               STR_ARG(set->outgoing_allow));
    enum err_code code =
        outgoing_guard_new(set->webhook_deny, buf_str(&allow), &s->webhook_guard, err);
    buf_deinit(&allow);
    if (code != ERR_OK) {
        return err_wrap(err, "webhook-deny, webhook-allow or outgoing-allow");
    }
    (void)snprintf(s->user_agent, sizeof s->user_agent, "corvo/%s", build_release);
    struct webhook_config config = {
        .engine = s->engine, .guard = s->webhook_guard, .user_agent = s->user_agent};
    s->webhooks = webhook_open(&config);
    struct sso_config sso = {
        .auth = s->auth, .guard = s->webhook_guard, .user_agent = s->user_agent};
    s->sso = sso_open(&sso);
    return ERR_OK;
}

/* The memory limit for the scheduler's jobs: queue-memory-limit if it is valid, else a percentage
 * of the memory of the machine. */
static uint64_t queue_memory(const struct settings *set)
{
    uint64_t bytes;
    if (set->queue_memory_limit.len > 0) {
        if (rest_sdb_config_bytes(set->queue_memory_limit, &bytes)) {
            return bytes;
        }
        log_warn("queue-memory-limit ignored", LOG_STR("value", set->queue_memory_limit));
    }
    uint64_t all = os_process_memory();
    all = all == 0 ? MEMORY_LIMIT_DEFAULT : all;
    return all / 100 * (uint64_t)set->queue_memory_percent;
}

static struct rest_sdb_config scheduler(const struct settings *set)
{
    struct rest_sdb_config sdb = rest_sdb_config_default();
    struct err err;
    if (engine_schedule_local(&err) != ERR_OK) {
        log_warn("variable ignored", LOG_Z("variable", "TZ"), LOG_Z("error", err.msg),
                 LOG_Z("meaning", "recurring jobs without a time zone run by UTC"));
    }
    sdb.enabled = set->scheduler_enabled;
    sdb.execution_timeout_ms = set->execution_timeout_ms;
    sdb.max_attempts = set->max_attempts;
    if (!job_backoff_parse(set->scheduler_backoff, &sdb.backoff)) {
        sdb.backoff = JOB_BACKOFF_EXPONENTIAL;
    }
    sdb.retry_base_ms = set->scheduler_retry_base_ms;
    sdb.retry_max_ms = set->scheduler_retry_max_ms;
    sdb.memory_limit = queue_memory(set);
    sdb.job_limit = (uint64_t)set->queue_job_limit;
    sdb.body_limit = (uint64_t)set->max_request_body_size;
    sdb.failure_threshold = set->health_failure_threshold;
    sdb.ok_word = set->health_ok_word;
    sdb.auth_token = set->auth_token;
    return sdb;
}

static void open_push(struct server *s)
{
    const struct settings *set = &s->settings;
    struct push_config config = push_config_default();
    config.engine = s->engine;
    config.guard = s->webhook_guard;
    config.user_agent = s->user_agent;
    config.node_id = set->node_id;
    config.bearer = set->webhook_bearer_token;
    config.lease_ms = set->inprogress_timeout_ms;
    config.keep_ms = set->history_retention_ms;
    config.calls_max = (uint32_t)set->push_max_calls;
    config.host_calls_max = (uint32_t)set->push_max_host_calls;
    config.drain_ms = set->shutdown_drain_ms;
    config.slot_ms = set->slot_gap_ms;
    s->push = push_open(&config);
    rest_set_push(s->rest, s->push);
}

static void open_rpc(struct server *s)
{
    const struct settings *set = &s->settings;
    struct rpc_config rpc = rpc_config_default();
    rpc.engine = s->engine;
    rpc.front = &s->front;
    rpc.budget = &s->budget;
    rpc.version = build_release;
    rpc.streams_max = (uint32_t)set->stream_max_open;
    rpc.stream_frames_max = (uint32_t)set->stream_max_inflight;
    rpc.stream_fps_max = (uint32_t)set->stream_max_fps;
    rpc.stream_acquire_ms = set->stream_acquire_ms;
    rpc.stream_strikes_max = (uint32_t)set->stream_strike_limit;
    rpc.stream_strike_ms = set->stream_strike_ms;
    rpc.compression = !set->no_compression;
    rpc.idle_fetch_ms = set->idle_fetch_sleep_ms;
    s->rpc = rpc_new(&rpc);
}

static enum err_code open_binary(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    if (set->rpc_bind.len == 0) {
        return ERR_OK;
    }
    struct binary_config config = {.engine = s->engine,
                                   .budget = &s->budget,
                                   .address = zero_terminated(s, set->rpc_bind),
                                   .auth = s->auth,
                                   .audit = s->audit,
                                   .password = set->admin_password,
                                   .open_access = set->open_access,
                                   .may_try = rest_may_try,
                                   .tried = rest_tried,
                                   .data = s->rest};
    if (binary_open(&config, &s->binary, err) != ERR_OK) {
        return err->code;
    }
    outgoing_guard_add_own(s->webhook_guard,
                           (const struct sockaddr *)&binary_addr(s->binary)->sockaddr);
    return ERR_OK;
}

/* Set up the forwarding of requests to the leader. */
static void set_front(struct server *s)
{
    const struct settings *set = &s->settings;
    s->front.engine = s->engine;
    s->front.node_id = zero_terminated(s, set->node_id);
    s->front.key = front_peer_key_from(engine_cluster_id(s->engine), set->cluster_secret);
    s->front.ca_file = or_null(s, set->peer_tls_ca);
}

static void open_api(struct server *s, bool tls)
{
    const struct settings *set = &s->settings;
    struct rest_config rest = rest_config_default();
    set_front(s);
    rest.engine = s->engine;
    rest.front = &s->front;
    rest.budget = &s->budget;
    rest.bulk = s->bulk;
    rest.view = s->view;
    rest.webhooks = s->webhooks;
    rest.webhook_guard = s->webhook_guard;
    rest.version = build_release;
    rest.node_id = zero_terminated(s, set->node_id);
    rest.cluster_secret = set->cluster_secret;
    rest.takes_nodes = settings_is_clustered(set);
    rest.raft_store = zero_terminated(s, set->raft_store);
    rest.mirror_async = set->sqlite_mirror_async;
    rest.tuning =
        (struct rest_tuning){.snapshot_threshold = (uint64_t)set->idle.snapshot_threshold,
                             .snapshot_interval_ns = set->idle.snapshot_interval_ms * NS_PER_MS,
                             .batch_extend_at = (uint64_t)set->idle.batch_extend_at,
                             .fetch_inflight = (uint64_t)set->idle.fetch_inflight,
                             .batch_min_wait_ns = set->idle.batch_min_wait_ns,
                             .batch_window_ns = set->idle.batch_window_ns};
    rest.admin_password = set->admin_password;
    rest.auth = s->auth;
    rest.sso = s->sso;
    rest.trusted_proxies = s->proxies.count > 0 ? &s->proxies : NULL;
    rest.open_access = set->open_access;
    rest.secure = tls;
    s->audit = audit_new(s->engine, set->audit_retention_ms);
    rest.audit = s->audit;
    rest.trace = s->trace;
    rest.features = set->features;
    rest.max_body_bytes = (uint64_t)set->max_body_size;
    rest.docs_enabled = set->docs_enabled;
    rest.limiter = (struct rest_limiter_config){.enabled = set->rate_limit_enabled,
                                                .loopback = set->rate_limit_loopback,
                                                .read_rps = set->rate_limit_read_rps,
                                                .read_burst = set->rate_limit_read_burst,
                                                .write_rps = set->rate_limit_write_rps,
                                                .write_burst = set->rate_limit_write_burst};
    rest.sdb = scheduler(set);
    open_rpc(s);
    rest.rpc = s->rpc;
    s->rest = rest_new(&rest);
}

static enum err_code open_http(struct server *s, struct err *err)
{
    struct http_listen listen[LISTENERS_MAX];
    struct http_server_config http = http_config(s, listen);
    s->trace = server_trace_open(&s->settings, s->arena, s->user_agent);
    open_services(s);
    open_api(s, http.tls_cert_file != NULL);
    if (open_binary(s, err) != ERR_OK) {
        return err->code;
    }
    server_lobby_close(s->lobby); /* the server is about to listen on its address */
    s->lobby = NULL;
    rest_attach(s->rest, &http);
    if (http_server_open(&http, &s->http, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < http.listen_count; i++) {
        outgoing_guard_add_own(
            s->webhook_guard,
            (const struct sockaddr *)&http_server_addr(s->http, (unsigned)i)->sockaddr);
    }
    rest_set_server(s->rest, s->http, http_url(s));
    open_push(s); /* after all listeners were added to the guard */
    engine_cluster_announce(s->engine, http_url(s));
    if (s->discover != NULL) {
        rest_set_discover(s->rest, s->discover);
        s->watch = server_discover_start(&s->settings, s->engine, s->discover);
    }
    return ERR_OK;
}

/* A signal has arrived, possibly during the start. */
static void on_wake(uv_async_t *handle)
{
    struct server *s = handle->data;
    struct err err;
    if (server_signals_stop(s->signals) != 0) {
        uv_stop(&s->loop);
    } else if (server_signals_take_reload(s->signals)) {
        if ((s->settings.tls_cert.len > 0 && http_server_reload_tls(s->http, &err) != ERR_OK) ||
            engine_cluster_reload_tls(s->engine, &err) != ERR_OK) {
            log_error("tls not reloaded", LOG_Z("error", err.msg));
        } else {
            log_info("reloaded");
        }
    }
}

static void open_loop(struct server *s)
{
    CHECK(uv_loop_init(&s->loop) == 0);
    CHECK(uv_async_init(&s->loop, &s->wake, on_wake) == 0);
    s->wake.data = s;
    CHECK(uv_timer_init(&s->loop, &s->trim) == 0);
    s->trim.data = s;
    CHECK(uv_timer_start(&s->trim, trim_cb, TRIM_EVERY_MS, TRIM_EVERY_MS) == 0);
    s->signals = server_signals_start(&s->wake);
}

static void close_loop(struct server *s)
{
    server_signals_end(s->signals);
    uv_close((uv_handle_t *)&s->wake, NULL);
    uv_close((uv_handle_t *)&s->trim, NULL);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&s->loop) == 0);
}

/* This is the last log line of a start, so a reader that waits for it has seen all others. */
static void log_ready(const struct server *s)
{
    const struct settings *set = &s->settings;
    if (!set->durable) {
        log_warn("not durable", LOG_Z("meaning", "acknowledged writes may be lost in a power cut"));
    }
    if (set->admin_password.len > 0) {
        log_info("admin password configured");
    } else if (auth_table_has_keys(s->auth)) {
        log_info("API key required");
    } else if (auth_table_is_closed(s->auth)) {
        log_info("single sign-on required");
    } else if (set->open_access) {
        log_warn("open access", LOG_Z("meaning", "every client that can connect has full access"));
    } else {
        log_warn("no admin password set",
                 LOG_Z("meaning",
                       "only clients on this machine are accepted; set --admin-password, "
                       "create an API key, or accept every client with --open-access"));
    }
    if ((set->join.len > 0 || set->discover.len > 0) && !settings_joins(set)) {
        log_warn("join skipped", LOG_Z("meaning", "bootstrap is set and takes precedence"));
    }
    log_info("corvo server ready", LOG_STR("bind", set->bind),
             LOG_U64("port", http_server_port(s->http, 0)), LOG_STR("data_dir", set->data_dir),
             LOG_STR("node_id", set->node_id), LOG_BOOL("durable", set->durable),
             LOG_BOOL("tls", set->tls_cert.len > 0));
}

/* Call this last, when nothing has the files of the node open. */
static void put_aside(struct server *s)
{
    struct err err;
    if (server_leave_put_aside(zero_terminated(s, s->settings.data_dir), &err) != ERR_OK) {
        log_error("data directory not moved aside", LOG_Z("error", err.msg),
                  LOG_Z("remedy", "empty it before the next start"));
    }
}

static void stop(struct server *s)
{
    bool left = false;
    sso_stop(s->sso);
    server_lobby_close(s->lobby);
    server_discover_stop(s->watch);
    push_stop(s->push); /* the results of running deliveries are still written to the log */
    if (s->engine != NULL) {
        left = s->http != NULL && server_leave(&s->settings, s->engine);
        engine_last_call(s->engine, (uint32_t)s->settings.shutdown_timeout_ms);
    }
    if (s->http != NULL) {
        http_server_stop(s->http, (uint32_t)s->settings.shutdown_timeout_ms);
        http_server_free(s->http);
    }
    binary_close(s->binary);
    push_free(s->push);
    webhook_close(s->webhooks);
    sso_free(s->sso);
    outgoing_guard_free(s->webhook_guard);
    rest_free(s->rest);
    audit_free(s->audit);
    trace_close(s->trace);
    rpc_free(s->rpc);
    svc_bulk_close(s->bulk);
    view_close(s->view);
    engine_close(s->engine);
    discover_close(s->discover);
    auth_table_free(s->auth);
    if (left) {
        put_aside(s);
    }
    os_file_close(s->dir_lock);
}

/* Returns ERR_STOPPING if a signal arrived before everything was open. */
static enum err_code start(struct server *s, struct err *err)
{
    static enum err_code (*const steps[])(struct server * s, struct err * err) = {
        check_files, take_dir, open_engine, open_view, open_webhooks, open_http};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (steps[i](s, err) != ERR_OK) {
            return err->code;
        }
        if (server_signals_stop(s->signals) != 0) {
            return err_set_default(err, ERR_STOPPING);
        }
    }
    return ERR_OK;
}

static int run(struct server *s)
{
    struct err err;
    open_loop(s);
    settings_log(&s->settings);
    enum err_code code = start(s, &err);
    if (code == ERR_OK) {
        log_ready(s);
        (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    }
    bool failed = code != ERR_OK && code != ERR_STOPPING;
    if (failed) {
        log_error("not started", LOG_Z("error", err.msg));
    } else {
        log_info("stopping", LOG_I64("signal", server_signals_stop(s->signals)));
    }
    stop(s);
    if (!failed) {
        log_info("stopped");
    }
    close_loop(s);
    return failed ? 1 : 0;
}

static int print(void (*write)(struct buf *out))
{
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    write(&text);
    bool ok = fwrite(text.ptr, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    buf_deinit(&text);
    return ok ? 0 : 1;
}

int server_main(int argc, char **argv, char **environment)
{
    struct server s = {.arena = arena_new(SETTINGS_BYTES_MAX), .dir_lock = -1};
    struct err err;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of a file's size fails instead */
    s.files = os_process_raise_files();
    os_process_keep_private();
    os_process_tune_heap();
    if (settings_read(argc, argv, environment, s.arena, &s.settings, &err) != ERR_OK) {
        (void)fprintf(stderr,
                      "Error: %s\nusage: corvo server [--name value]...; see corvo server --help\n",
                      err.msg);
        arena_free(s.arena);
        return 1;
    }
    if (s.settings.help || s.settings.sample) {
        int code = print(s.settings.help ? settings_help : settings_sample);
        arena_free(s.arena);
        return code;
    }
    s.settings.memory_limit = (int64_t)memory_limit(&s.settings);
    budget_init(&s.budget, (size_t)s.settings.memory_limit);
    log_configure(log_level_of(s.settings.log_level), format_of(s.settings.log_format));
    int status = run(&s);
    arena_free(s.arena);
    return status;
}
