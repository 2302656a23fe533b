/*
 * Settings: what the server can be told, as one table.
 *
 * A setting comes from the command line (--name value, --name=value), else from the environment
 * (CORVO_NAME), else from the file that --config names (lines of "name = value", # at the beginning
 * or behind a blank begins a comment), else from its default. A name that is not in the table, or a
 * value that does not fit, stops the start with the setting's name. `corvo server --help` is
 * printed from the same table.
 *
 * To add a setting: a member here, its default and its row in settings.c, and whoever reads it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct settings {
    struct str bind;
    struct str data_dir;
    struct str raft_bind;
    struct str raft_advertise; /* when not given, from raft_bind */
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
    int64_t memory_limit; /* 0: a share of what there is */
    bool rate_limit_enabled;
    bool rate_limit_loopback;
    double rate_limit_read_rps, rate_limit_read_burst;
    double rate_limit_write_rps, rate_limit_write_burst;
    struct str admin_password;
    int64_t stream_max_inflight, stream_max_open, stream_max_fps; /* of RPC streams */
    int64_t idle_fetch_sleep_ms;
    bool docs_enabled;
    bool lifecycle_events;
    struct str webhook_deny;
    struct str webhook_allow;
    bool sqlite_mirror_async;
    int64_t view_readers;
    int64_t view_wait_ms;
    int64_t view_timeout_ms;
    struct str tls_cert;
    struct str tls_key;
    int64_t http_threads;
    struct str log_level;
    struct str log_format;
    struct str config; /* the file */
    bool help;
    bool sample; /* print a sample configuration instead of running */
    int64_t raft_shards;
    bool bootstrap;
    bool bootstrap_given; /* by any source, whatever its value */
    struct str join;
    struct str discover;
    bool otel_enabled;
    bool saml_header_auth;
    struct str ignored; /* accepted for compatibility, without effect */
    bool ignored_choice;
    int64_t ignored_number;
};

/* Fill out from the arguments behind "server" and the environment, a list like main's third
 * argument. Texts live in the arena or in the arguments. ERR_VALIDATION names the setting. */
ATTR_NODISCARD enum err_code settings_read(int argc, char **argv, char **environment,
                                           struct arena *arena, struct settings *out,
                                           struct err *err);

/* The host that others reach a bind address at: its own, or 127.0.0.1 for all interfaces. */
struct str settings_host(struct str bind);

/* The nth setting of the table, for completion and the manual; false past the last. */
ATTR_NODISCARD bool settings_row(size_t index, const char **out_name, const char **out_shown,
                                 const char **out_help);

/* Log that this version starts and what is in force, one value each; of a secret only whether there
 * is one. */
void settings_log(const struct settings *s);

/* The text of --help. */
void settings_help(struct buf *out);

/* A configuration file that changes nothing: every setting that has an effect, as a comment. */
void settings_sample(struct buf *out);
