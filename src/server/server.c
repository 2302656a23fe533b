#include "server/server.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include "api/api.h"
#include "base/arena.h"
#include "base/build.h"
#include "base/check.h"
#include "engine/engine.h"
#include "http/http_server.h"
#include "log/log.h"
#include "os/os_process.h"
#include "outgoing/outgoing_guard.h"
#include "rpc/rpc.h"
#include "server/settings.h"
#include "svc/svc_bulk.h"
#include "view/view.h"
#include "webhook/webhook.h"

enum {
    SETTINGS_BYTES_MAX = 4 << 20,
    TEXT_BYTES_MAX = 64 << 10,
    USER_AGENT_BYTES = 64,
    FILES_MIN = 1024,
    FILES_OWN = 640,  /* not for clients: the store's tables, the log, the view, webhooks */
    MEMORY_SHARE = 4, /* requests may have a quarter of it; the store, the view and jobs that wait
                       * need the rest */
    TRIM_EVERY_MS = 5000,
    TRIM_BYTES = 32 << 20, /* freed by requests: worth to give back */
};

/* Where the system does not say how much there is. */
#define MEMORY_LIMIT_DEFAULT ((uint64_t)512 << 20)
#define MEMORY_LIMIT_LEAST   ((uint64_t)64 << 20)

struct server {
    struct settings settings;
    struct arena *arena;
    uint64_t files;       /* how many may be open */
    struct budget budget; /* of all memory that requests can claim */
    struct engine *engine;
    struct svc_bulk *bulk;
    struct view *view;
    struct outgoing_guard *webhook_guard;
    struct webhook_sender *webhooks;
    char user_agent[USER_AGENT_BYTES];
    struct rpc *rpc;
    struct api *api;
    struct http_server *http;
    uv_loop_t loop; /* the main thread's: signals */
    uv_signal_t signals[3];
    uv_timer_t trim;
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

static enum err_code check_files(const struct server *s, struct err *err)
{
    return s->files >= FILES_MIN
               ? ERR_OK
               : err_set(err, ERR_VALIDATION,
                         "the process may have %" PRIu64 " open files and needs %d: raise the hard "
                         "limit (ulimit -Hn, LimitNOFILE)",
                         s->files, FILES_MIN);
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

/* What large requests have freed would stay with the allocator for ever. */
static void trim_cb(uv_timer_t *timer)
{
    struct server *s = timer->data;
    size_t peak = budget_take_peak(&s->budget);
    if (peak > atomic_load(&s->budget.used_bytes) + TRIM_BYTES) {
        os_process_trim_heap();
    }
}

/* Clients that come in any number must not take the files that jobs are stored with. */
static struct http_limits http_limits(const struct server *s)
{
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    uint64_t left = s->files - FILES_OWN;
    limits.connections = left < limits.connections ? (unsigned)left : limits.connections;
    return limits;
}

/* The address of the API for others. */
static const char *http_url(struct server *s)
{
    const struct settings *set = &s->settings;
    struct buf url;
    if (set->http_advertise.len > 0) {
        return zero_terminated(s, set->http_advertise);
    }
    buf_init(&url, 1024);
    buf_printf(&url, "%s://" STR_FMT ":%u", set->tls_cert.len > 0 ? "https" : "http",
               STR_ARG(settings_host(set->bind)), (unsigned)http_server_port(s->http, 0));
    const char *text = zero_terminated(s, buf_str(&url));
    buf_deinit(&url);
    return text;
}

static enum err_code open_engine(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct engine_config config = engine_config_default();
    config.data_dir = zero_terminated(s, set->data_dir);
    config.node.address = zero_terminated(s, set->raft_advertise);
    config.node.durable = set->durable;
    config.node.segment_bytes = (uint64_t)set->segment_bytes;
    config.node.snapshot_log_bytes = (uint64_t)set->snapshot_log_bytes;
    config.free_bytes_min = (uint64_t)set->free_space_min;
    config.limits.payload_bytes = (size_t)set->max_payload_size;
    config.pending_ops_max = (uint32_t)set->raft_max_pending;
    config.lifecycle_events = set->lifecycle_events;
    config.retention_ms = set->retention_ms;
    config.retention_interval_ms = set->retention_interval_ms;
    config.max_clock_jump_ms = set->max_clock_jump_ms;
    return engine_open(&config, &s->engine, err);
}

static void open_services(struct server *s)
{
    struct svc_bulk_config bulk = svc_bulk_config_default();
    bulk.engine = s->engine;
    bulk.find = api_bulk_filter_find;
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
    /* The copy stops growing before new jobs are refused. */
    config.free_bytes_min = (uint64_t)set->free_space_min + (uint64_t)set->free_space_min / 2;
    config.linger_ms = set->sqlite_mirror_async ? config.linger_ms : 0;
    return view_open(&config, &s->view, err);
}

static enum err_code open_webhooks(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    if (outgoing_guard_new(set->webhook_deny, set->webhook_allow, &s->webhook_guard, err) !=
        ERR_OK) {
        return err_wrap(err, "webhook-deny or webhook-allow");
    }
    (void)snprintf(s->user_agent, sizeof s->user_agent, "corvo/%s", build_release);
    struct webhook_config config = {
        .engine = s->engine, .guard = s->webhook_guard, .user_agent = s->user_agent};
    s->webhooks = webhook_open(&config);
    return ERR_OK;
}

static void open_rpc(struct server *s)
{
    const struct settings *set = &s->settings;
    struct rpc_config rpc = rpc_config_default();
    rpc.engine = s->engine;
    rpc.budget = &s->budget;
    rpc.version = build_release;
    rpc.streams_max = (uint32_t)set->stream_max_open;
    if (set->stream_max_inflight > 0) {
        rpc.stream_frames_max = (uint32_t)set->stream_max_inflight;
    }
    if (set->stream_max_fps >= 0) {
        rpc.stream_fps_max = (uint32_t)set->stream_max_fps;
    }
    rpc.idle_fetch_ms = set->idle_fetch_sleep_ms;
    s->rpc = rpc_new(&rpc);
}

static enum err_code open_http(struct server *s, struct err *err)
{
    const struct settings *set = &s->settings;
    struct api_config api = api_config_default();
    bool tls = set->tls_cert.len > 0;
    struct http_listen listen = {.address = zero_terminated(s, set->bind), .tls = tls};
    open_services(s);
    api.engine = s->engine;
    api.budget = &s->budget;
    api.bulk = s->bulk;
    api.view = s->view;
    api.webhooks = s->webhooks;
    api.webhook_guard = s->webhook_guard;
    api.version = build_release;
    api.node_id = zero_terminated(s, set->node_id);
    api.raft_store = zero_terminated(s, set->raft_store);
    api.mirror_async = set->sqlite_mirror_async;
    api.admin_password = set->admin_password;
    api.max_body_bytes = (uint64_t)set->max_body_size;
    api.docs_enabled = set->docs_enabled;
    api.limiter = (struct api_limiter_config){.enabled = set->rate_limit_enabled,
                                              .loopback = set->rate_limit_loopback,
                                              .read_rps = set->rate_limit_read_rps,
                                              .read_burst = set->rate_limit_read_burst,
                                              .write_rps = set->rate_limit_write_rps,
                                              .write_burst = set->rate_limit_write_burst};
    open_rpc(s);
    api.rpc = s->rpc;
    s->api = api_new(&api);
    struct http_server_config http = {
        .listen = &listen,
        .listen_count = 1,
        .threads = (unsigned)set->http_threads,
        .limits = http_limits(s),
        .tls_cert_file = tls ? zero_terminated(s, set->tls_cert) : NULL,
        .tls_key_file = tls ? zero_terminated(s, set->tls_key) : NULL,
    };
    api_attach(s->api, &http);
    if (http_server_open(&http, &s->http, err) != ERR_OK) {
        return err->code;
    }
    outgoing_guard_add_own(s->webhook_guard,
                           (const struct sockaddr *)&http_server_addr(s->http, 0)->sockaddr);
    api_set_server(s->api, s->http, http_url(s));
    return ERR_OK;
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct server *s = handle->data;
    struct err err;
    if (number == SIGHUP) {
        if (s->settings.tls_cert.len > 0 && http_server_reload_tls(s->http, &err) != ERR_OK) {
            log_error("tls not reloaded", LOG_Z("error", err.msg));
        } else {
            log_info("reloaded");
        }
        return;
    }
    log_info("stopping", LOG_I64("signal", number));
    uv_stop(&s->loop);
}

static void watch_signals(struct server *s)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    CHECK(uv_loop_init(&s->loop) == 0);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        CHECK(uv_signal_init(&s->loop, &s->signals[i]) == 0);
        s->signals[i].data = s;
        CHECK(uv_signal_start(&s->signals[i], on_signal, numbers[i]) == 0);
    }
    CHECK(uv_timer_init(&s->loop, &s->trim) == 0);
    s->trim.data = s;
    CHECK(uv_timer_start(&s->trim, trim_cb, TRIM_EVERY_MS, TRIM_EVERY_MS) == 0);
}

/* From here on a signal does what it does to any process: it ends it. */
static void unwatch_signals(struct server *s)
{
    for (size_t i = 0; i < COUNT_OF(s->signals); i++) {
        uv_close((uv_handle_t *)&s->signals[i], NULL);
    }
    uv_close((uv_handle_t *)&s->trim, NULL);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&s->loop) == 0);
}

/* That it is ready is the last that is said of a start: whoever waits for it has read the rest. */
static void log_ready(const struct server *s)
{
    const struct settings *set = &s->settings;
    if (!set->durable) {
        log_warn("not durable", LOG_Z("meaning", "acknowledged writes may be lost in a power cut"));
    }
    if (set->admin_password.len > 0) {
        log_info("admin password configured");
    } else {
        log_warn("no admin password set",
                 LOG_Z("meaning", "everybody who can connect may do everything"));
    }
    if (set->join.len > 0 || set->discover.len > 0) {
        log_warn("join skipped", LOG_Z("meaning", "bootstrap was asked for and wins"));
    }
    log_info("corvo server ready", LOG_STR("bind", set->bind),
             LOG_U64("port", http_server_port(s->http, 0)), LOG_STR("data_dir", set->data_dir),
             LOG_STR("node_id", set->node_id), LOG_BOOL("durable", set->durable),
             LOG_BOOL("tls", set->tls_cert.len > 0));
}

static void stop(struct server *s)
{
    if (s->engine != NULL) {
        engine_last_call(s->engine, (uint32_t)s->settings.shutdown_timeout_ms);
    }
    if (s->http != NULL) {
        http_server_stop(s->http, (uint32_t)s->settings.shutdown_timeout_ms);
        http_server_free(s->http);
    }
    webhook_close(s->webhooks);
    outgoing_guard_free(s->webhook_guard);
    api_free(s->api);
    rpc_free(s->rpc);
    svc_bulk_close(s->bulk);
    view_close(s->view);
    engine_close(s->engine);
    arena_free(s->arena);
}

static int run(struct server *s)
{
    struct err err;
    settings_log(&s->settings);
    if (check_files(s, &err) != ERR_OK || open_engine(s, &err) != ERR_OK ||
        open_view(s, &err) != ERR_OK || open_webhooks(s, &err) != ERR_OK ||
        open_http(s, &err) != ERR_OK) {
        log_error("not started", LOG_Z("error", err.msg));
        stop(s);
        return 1;
    }
    watch_signals(s);
    log_ready(s);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    unwatch_signals(s);
    stop(s);
    log_info("stopped");
    return 0;
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
    struct server s = {.arena = arena_new(SETTINGS_BYTES_MAX)};
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
    return run(&s);
}
