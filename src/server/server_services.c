/*
 * Everything that uses the engine: the view, webhooks, pushes, RPC and the API.
 */
#include <stdio.h>

#include "base/build.h"
#include "engine/engine_schedule.h"
#include "log/log.h"
#include "os/os_process.h"
#include "server/server_int.h"
#include "server/server_trace.h"

static void open_services(struct server *s)
{
    struct svc_bulk_config bulk = svc_bulk_config_default();
    bulk.engine = s->engine;
    bulk.find = rest_bulk_filter_find;
    bulk.find_data = s->view;
    s->bulk = svc_bulk_open(&bulk);
}

enum err_code server__open_view(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct view_config config = view_config_default();
    config.engine = s->engine;
    config.dir = server__text(s, set->data_dir);
    config.readers = (unsigned)set->view_readers;
    config.wait_ms = set->view_wait_ms;
    config.ask_ms = set->view_timeout_ms;
    /* The search index stops growing before new jobs are refused. */
    config.free_bytes_min = (uint64_t)set->free_space_min + (uint64_t)set->free_space_min / 2;
    config.linger_ms = set->sqlite_mirror_async ? config.linger_ms : 0;
    return view_open(&config, &s->view, err);
}

enum err_code server__open_webhooks(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct buf allow;
    buf_init(&allow, SERVER_SETTINGS_BYTES_MAX);
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
    all = all == 0 ? SERVER_MEMORY_DEFAULT : all;
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
                                   .address = server__text(s, set->rpc_bind),
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
    s->front.node_id = server__text(s, set->node_id);
    s->front.key = front_peer_key_from(engine_cluster_id(s->engine), set->cluster_secret);
    s->front.ca_file = server__text_or_null(s, set->peer_tls_ca);
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
    rest.node_id = server__text(s, set->node_id);
    rest.cluster_secret = set->cluster_secret;
    rest.takes_nodes = settings_is_clustered(set);
    rest.raft_store = server__text(s, set->raft_store);
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

enum err_code server__open_http(struct server *s, struct err *err)
{
    struct http_listen listen[SERVER_LISTENERS_MAX];
    struct http_server_config http = server__http_config(s, listen);
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
    rest_set_server(s->rest, s->http, server__http_url(s));
    open_push(s); /* after all listeners were added to the guard */
    engine_cluster_announce(s->engine, server__http_url(s));
    if (s->discover != NULL) {
        rest_set_discover(s->rest, s->discover);
        s->watch = server_discover_start(&s->settings, s->engine, s->discover);
    }
    return ERR_OK;
}
