#include "server/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/build.h"
#include "base/check.h"
#include "core/duration.h"
#include "log/log.h"
#include "os/os_file.h"

enum kind { KIND_TEXT, KIND_BOOL, KIND_NUMBER, KIND_REAL, KIND_DURATION };

enum { MEMORY_LIMIT_MIN = 32 << 20 }; /* twice the largest body */
enum { DATA_DIR_BYTES_MAX = 512 };    /* the longest path below it fits OS_FILE_PATH_MAX */
enum { CONFIG_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 64 };

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
    .raft_shards = 1,
    .bootstrap = true,
    .sqlite_mirror_async = true,
    .view_readers = 4,
    .view_wait_ms = 2000,
    .view_timeout_ms = 5000,
    .log_level = {"info", 4},
    .log_format = {"auto", 4},
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
    {"data-dir",               KIND_TEXT,     AT(data_dir),               0, 0,       NULL, "data",           "everything that the node keeps"},
    {"node-id",                KIND_TEXT,     AT(node_id),                0, 0,       NULL, "node-1",         "name of this node"},
    {"raft-advertise",         KIND_TEXT,     AT(raft_advertise),         0, 0,       NULL, "",               "address under which peers reach this node; raft-bind unless given, with 127.0.0.1 for a wildcard"},
    {"durable",                KIND_BOOL,     AT(durable),                0, 0,       NULL, "true",           "flush the log to disk before a write is acknowledged"},
    {"raft-store",             KIND_TEXT,     AT(raft_store),             0, 0,       "segment bolt badger pebble", "segment", "log store; the other names mean the same one"},
    {"raft-max-pending",       KIND_NUMBER,   AT(raft_max_pending),       -1e9, 1e9,  NULL, "16384",          "writes under way before further ones are refused with 429; 0 or less: the default"},
    {"snapshot-log-bytes",     KIND_NUMBER,   AT(snapshot_log_bytes),     1 << 16, 1e15, NULL, "268435456",   "growth of the log that makes a snapshot"},
    {"segment-bytes",          KIND_NUMBER,   AT(segment_bytes),          1 << 16, 1e12, NULL, "67108864",    "size of a log segment"},
    {"free-space-min",         KIND_NUMBER,   AT(free_space_min),         0, 1e18,    NULL, "536870912",      "free bytes on the disk below which new jobs are refused; a quarter of it (at most 128 MiB) is kept as a reserve"},
    {"shutdown-timeout",       KIND_DURATION, AT(shutdown_timeout_ms),    0, 1e9,     NULL, "500ms",          "how long requests under way may take when the server stops"},
    {"retention",              KIND_DURATION, AT(retention_ms),           0, 1e15,    NULL, "168h",           "how long finished jobs are kept; 0: for ever"},
    {"retention-interval",     KIND_DURATION, AT(retention_interval_ms),  1000, 1e12, NULL, "1h",             "how often old jobs are removed"},
    {"max-clock-jump",         KIND_DURATION, AT(max_clock_jump_ms),      0, 1e12,    NULL, "1h",             "a clock that leaps ahead by more is not believed until it has held for as long; 0: every clock is believed"},
    {"max-payload-size",       KIND_NUMBER,   AT(max_payload_size),       0, 16 << 20, NULL, "262144",        "bytes of a job's payload; 0: no limit of its own"},
    {"max-body-size",          KIND_NUMBER,   AT(max_body_size),          1024, 16 << 20, NULL, "16777216",   "bytes of a request's body"},
    {"memory-limit",           KIND_NUMBER,   AT(memory_limit),           0, 1e15,    NULL, "0",              "memory limit in bytes for requests, answers and streams together; 0: a quarter of the memory of the cgroup or the machine"},
    {"rate-limit-enabled",     KIND_BOOL,     AT(rate_limit_enabled),     0, 0,       NULL, "true",           "limit requests per client"},
    {"rate-limit-loopback",    KIND_BOOL,     AT(rate_limit_loopback),    0, 0,       NULL, "false",          "also limit callers on the loopback address that send no credential and no X-Forwarded-For header"},
    {"rate-limit-read-rps",    KIND_REAL,     AT(rate_limit_read_rps),    -1e9, 1e9,  NULL, "2000",           "reads per second and client; 0 or less: the default"},
    {"rate-limit-read-burst",  KIND_REAL,     AT(rate_limit_read_burst),  -1e9, 1e9,  NULL, "4000",           "reads at once; 0 or less: the default"},
    {"rate-limit-write-rps",   KIND_REAL,     AT(rate_limit_write_rps),   -1e9, 1e9,  NULL, "1000",           "writes per second and client; 0 or less: the default"},
    {"rate-limit-write-burst", KIND_REAL,     AT(rate_limit_write_burst), -1e9, 1e9,  NULL, "2000",           "writes at once; 0 or less: the default"},
    {"admin-password",         KIND_TEXT,     AT(admin_password),         0, 0,       NULL, "",               "credential that may do everything; without it everybody may"},
    {"docs-enabled",           KIND_BOOL,     AT(docs_enabled),           0, 0,       NULL, "true",           "serve /docs and /openapi.json"},
    {"lifecycle-events",       KIND_BOOL,     AT(lifecycle_events),       0, 0,       NULL, "true",           "keep the log of events"},
    {"webhook-deny",           KIND_TEXT,     AT(webhook_deny),           0, 0,       NULL, "",               "networks that webhooks may not call, besides link-local, multicast and reserved ones"},
    {"webhook-allow",          KIND_TEXT,     AT(webhook_allow),          0, 0,       NULL, "",               "networks that webhooks may call although they are refused otherwise"},
    {"sqlite-mirror-async",    KIND_BOOL,     AT(sqlite_mirror_async),    0, 0,       NULL, "true",           "let changes wait a tenth of a second for others before the view is written"},
    {"view-readers",           KIND_NUMBER,   AT(view_readers),           1, 64,      NULL, "4",              "threads that answer searches; half of them at most look into texts, a quarter runs jq programs"},
    {"view-wait",              KIND_DURATION, AT(view_wait_ms),           0, 1e9,     NULL, "2s",             "how long a search waits for the view to be up to date, before it is answered late"},
    {"view-timeout",           KIND_DURATION, AT(view_timeout_ms),        1, 1e9,     NULL, "5s",             "how long a search may take"},
    {"tls-cert",               KIND_TEXT,     AT(tls_cert),               0, 0,       NULL, "",               "PEM file with the certificate chain; serves HTTPS"},
    {"tls-key",                KIND_TEXT,     AT(tls_key),                0, 0,       NULL, "",               "PEM file with its key; both are read again on SIGHUP"},
    {"http-threads",           KIND_NUMBER,   AT(http_threads),           0, 64,      NULL, "0",              "network threads; 0: by the number of processors"},
    {"log-level",              KIND_TEXT,     AT(log_level),              0, 0,       NULL, "info",        "least level that is logged: debug, info, warn, error; anything else is info"},
    {"log-format",             KIND_TEXT,     AT(log_format),             0, 0,       "auto text json", "auto", "auto: text on a terminal, else JSON"},
    {"config",                 KIND_TEXT,     AT(config),                 0, 0,       NULL, "",               "file with lines of name = value"},
    /* Tuning of other servers of this API. Nothing here polls or waits for a window, so there is nothing to tune. */
    {"apply-multi-mode",        KIND_TEXT,     AT(ignored),                0, 0,       NULL, "grouped",        "accepted, without effect"},
    {"apply-timeout",           KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "10s",            "accepted, without effect"},
    {"apply-batch-max",         KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "1024",           "accepted, without effect"},
    {"apply-batch-window",      KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "8ms",            "accepted, without effect"},
    {"apply-batch-min-wait",    KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "100us",          "accepted, without effect"},
    {"apply-batch-extend-at",   KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "64",             "accepted, without effect"},
    {"apply-sub-batch-max",     KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "1024",           "accepted, without effect"},
    {"fetch-poll-interval",     KIND_DURATION, AT(ignored_number),         0, 1e9,     NULL, "100ms",          "accepted, without effect"},
    {"idle-fetch-sleep",        KIND_DURATION, AT(idle_fetch_sleep_ms),    0, 60000,   NULL, "100ms",          "how long the fetch of an RPC stream waits for a job"},
    {"no-compression",          KIND_BOOL,     AT(ignored_choice),         0, 0,       NULL, "true",           "accepted, without effect"},
    {"raft-max-fetch-inflight", KIND_NUMBER,   AT(ignored_number),         -1e9, 1e9,  NULL, "64",             "accepted, without effect: waiting fetches are no writes under way"},
    /* Of parts that are not there yet, with what a single node does anyway. */
    {"raft-bind",               KIND_TEXT,     AT(raft_bind),              0, 0,       NULL, ":9000",          "address for other nodes; nobody listens there on a single node"},
    {"raft-shards",             KIND_NUMBER,   AT(raft_shards),            -1e9, 1e9,     NULL, "1",              "groups that share the queues; there is one"},
    {"bootstrap",               KIND_BOOL,     AT(bootstrap),              0, 0,       NULL, "true",           "begin a new group when there is none on disk"},
    {"join",                    KIND_TEXT,     AT(join),                   0, 0,       NULL, "",               "HTTP address of a member to join; not supported yet"},
    {"discover",                KIND_TEXT,     AT(discover),               0, 0,       NULL, "",               "how to find members to join: dns; not supported yet"},
    {"discover-dns-name",       KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "name whose addresses are those of the members"},
    {"stream-max-inflight",     KIND_NUMBER,   AT(stream_max_inflight),    -1e9, 1e9,  NULL, "2048",           "frames of RPC streams worked on at once; 0 or less: 2048"},
    {"stream-max-open",         KIND_NUMBER,   AT(stream_max_open),        0, 1e9,     NULL, "4096",           "open RPC streams; 0: no limit"},
    {"stream-max-fps",          KIND_NUMBER,   AT(stream_max_fps),         -1e9, 1e9,  NULL, "500",            "frames per second of one RPC stream; 0: no limit, negative: 500"},
    {"http-advertise",         KIND_TEXT,     AT(http_advertise),         0, 0,       NULL, "",               "URL under which peers and clients reach the API; else that of bind"},
    {"otel-enabled",           KIND_BOOL,     AT(otel_enabled),           0, 0,       NULL, "false",          "send traces; there are none"},
    {"otel-endpoint",          KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "of traces; accepted, without effect"},
    {"saml-header-auth",       KIND_BOOL,     AT(saml_header_auth),       0, 0,       NULL, "false",          "trust headers of a proxy that signs users in; that cannot be done"},
    {"license-key",             KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "accepted, without effect: everything is free"},
    {"license-public-key",      KIND_TEXT,     AT(ignored),                0, 0,       NULL, "",               "accepted, without effect"},
    {"snapshot-threshold",      KIND_NUMBER,   AT(ignored_number),         0, 1e15,    NULL, "0",              "accepted, without effect: see snapshot-log-bytes"},
#undef AT
};
/* clang-format on */

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
    bool yes = str_eq(v, STR("true")) || str_eq(v, STR("1")) || str_eq(v, STR("yes"));
    bool no = str_eq(v, STR("false")) || str_eq(v, STR("0")) || str_eq(v, STR("no"));
    *out = yes;
    return yes || no;
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
    return err_set(err, ERR_VALIDATION, "%s: there is no setting '" STR_FMT "'", where,
                   STR_ARG(name));
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
        return err_set(err, ERR_VALIDATION, "config: '" STR_FMT "' is not name = value",
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
            return err_set(err, ERR_VALIDATION, "setting %s needs a value", s->name);
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

struct str settings_host(struct str bind)
{
    struct str host = str_from(bind.ptr, port_at(bind));
    bool any = host.len == 0 || str_eq(host, STR("0.0.0.0")) || str_eq(host, STR("[::]"));
    return any ? STR("127.0.0.1") : host;
}

/* The address that peers are told, where none was given. */
static void advertise(struct settings *out, struct arena *arena)
{
    struct str host = settings_host(out->raft_bind);
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

/* What only a cluster of several nodes could do. */
static enum err_code check_cluster(const struct settings *s, struct err *err)
{
    if (s->raft_shards < 1) {
        return err_set(err, ERR_VALIDATION, "raft-shards must be >= 1");
    }
    if (s->raft_shards > 1) {
        return err_set(err, ERR_VALIDATION, "setting raft-shards: only one is supported yet");
    }
    if (s->discover.len > 0 && !str_eq(s->discover, STR("dns"))) {
        return err_set(err, ERR_VALIDATION, "unsupported discover mode \"" STR_FMT "\"",
                       STR_ARG(s->discover));
    }
    /* An explicit bootstrap wins over a join; a join alone means that there is none. */
    bool joins = s->join.len > 0 || s->discover.len > 0;
    if (!s->bootstrap || (joins && !s->bootstrap_given)) {
        return err_set(err, ERR_VALIDATION,
                       "setting %s: a node that joins others is not supported yet",
                       s->join.len > 0       ? "join"
                       : s->discover.len > 0 ? "discover"
                                             : "bootstrap");
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
        {s->otel_enabled, "otel-enabled", "traces are not supported yet"},
        {s->saml_header_auth, "saml-header-auth", "signing in by a proxy is not supported yet"},
        {s->raft_advertise.len == 0, "raft-bind", "expected host:port"},
        {s->data_dir.len > DATA_DIR_BYTES_MAX, "data-dir", "expected at most 512 bytes"},
        {s->data_dir.len == 0, "data-dir", "expected the name of a directory"},
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
    if (named.config.len > 0 && read_file(named.config, arena, out, err) != ERR_OK) {
        return err->code;
    }
    if (read_environment(environment, out, err) != ERR_OK ||
        read_arguments(argc, argv, out, err) != ERR_OK) {
        return err->code;
    }
    if ((out->tls_cert.len > 0) != (out->tls_key.len > 0)) {
        return err_set(err, ERR_VALIDATION, "setting tls-cert and setting tls-key go together");
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

/* Some are accepted for compatibility alone. */
static bool has_effect(const struct setting *s)
{
    return s->offset != offsetof(struct settings, ignored) &&
           s->offset != offsetof(struct settings, ignored_choice) &&
           s->offset != offsetof(struct settings, ignored_number);
}

static struct log_value value_of(const struct setting *s, const struct settings *from,
                                 char room[static NAME_BYTES_MAX])
{
    const void *at = (const char *)from + s->offset;
    if (s->offset == offsetof(struct settings, admin_password)) {
        return LOG_BOOL(s->name, from->admin_password.len > 0);
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
    buf_printf(out, "corvo server: the job server, with everything in one process\n\n"
                    "usage: corvo server [--name value]...\n\n"
                    "Each setting may also be given as CORVO_NAME in the environment, or as\n"
                    "\"name = value\" in the file that --config names. The command line wins over\n"
                    "the environment, the environment over the file.\n\n");
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
    buf_printf(out, "# Settings of corvo server. A line that begins with \"# name =\" shows the\n"
                    "# default; remove the \"# \" to change it. CORVO_NAME in the environment and\n"
                    "# --name on the command line win over this file.\n");
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        const struct setting *s = &settings[i];
        if (has_effect(s) && s->offset != offsetof(struct settings, config)) {
            buf_printf(out, "\n# %s\n# %s =%s%s\n", s->help, s->name,
                       s->shown[0] != '\0' ? " " : "", s->shown);
        }
    }
}
