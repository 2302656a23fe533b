#include "server/server.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "os/os_process.h"
#include "server/server_dir.h"
#include "server/server_int.h"
#include "server/server_leave.h"

enum {
    TEXT_BYTES_MAX = 64 << 10,
    FILES_MIN = 1024,
    MEMORY_SHARE = 4, /* requests may use a quarter of the memory; the store, the view and waiting
                         jobs need the rest */
    TRIM_EVERY_MS = 5000,
    TRIM_BYTES = 32 << 20,        /* requests have freed this much: return it to the system */
    TRIM_GROWN_BYTES = 128 << 20, /* memory has grown by this much: trim it, */
    TRIM_GROWN_S = 60,            /* but at most once in this many seconds */
};

#define MEMORY_LIMIT_LEAST ((uint64_t)64 << 20)

static enum log_format format_of(struct str word)
{
    return str_eq(word, STR("text")) ? LOG_TEXT : str_eq(word, STR("json")) ? LOG_JSON : LOG_AUTO;
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
    return server_dir_take(server__text(s, s->settings.data_dir), &s->dir_lock, err);
}

static size_t memory_limit(const struct settings *set)
{
    if (set->memory_limit > 0) {
        return (size_t)set->memory_limit;
    }
    uint64_t share = os_process_memory() / MEMORY_SHARE;
    uint64_t limit = share == 0 ? SERVER_MEMORY_DEFAULT : share;
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
    if (server_leave_put_aside(server__text(s, s->settings.data_dir), &err) != ERR_OK) {
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
        check_files,           take_dir,         server__open_engine, server__open_view,
        server__open_webhooks, server__open_http};
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
    struct server s = {.arena = arena_new(SERVER_SETTINGS_BYTES_MAX), .dir_lock = -1};
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
